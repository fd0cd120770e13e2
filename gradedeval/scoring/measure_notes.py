"""What is said of the measures of an evaluation: their names, what grades are worth to them, and their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradedeval.errors import Note, redacted, shorten
from gradedeval.measures.gain_schemes import thresholds

if TYPE_CHECKING:
    from gradedeval.scoring.scorer import Scorer


def name_notes(scorer: Scorer) -> list[str]:
    """Which names are of the same measure, and which other tools have another number under."""
    notes = [
        f"{', '.join(map(redacted, measure.asked))}: the same measure, shown as {measure.label}"
        for measure in scorer.measures
        if len(measure.asked) > 1
    ]
    foreign = [measure.label for measure in scorer.measures if measure.label != str(measure)]
    if not foreign:
        return notes
    # For which most evaluations need not wait.
    from gradedeval.measures.spellings import note_of, note_of_cwl_eval

    notes += filter(None, [note_of_cwl_eval(scorer.measures)])
    lowest = float(scorer.qrels.labels[0]) if scorer.options.negative == "judged" else 0.0
    return notes + list(filter(None, (note_of(label, lowest, scorer.grades.top) for label in foreign)))


def worth_notes(scorer: Scorer) -> list[str]:
    """What grade 1 is worth as the top grade, where nobody said that there are no others: with exp gains ½."""
    shares: dict[float, list[str]] = {}
    for measure, table in zip(scorer.measures, scorer.tables, strict=True):
        if measure.definition.scale == "unit" and measure.gain in ("exp", "ntcir") and measure.rel is None:
            shares.setdefault(float(table.worth[-1]), []).append(measure.label)
    if scorer.options.top_grade is not None or scorer.grades.top != 1:
        return []
    what = f"{scorer.qrels.place}: no grade above 1, so a relevant document is worth"
    hint = "use --top-grade if the scale goes on, or rel=1 in a measure to make it 1"
    return [Note(f"{what} {share:g} to {', '.join(names)}", hint) for share, names in shares.items()]


def unseen_note(measures: str, which: str) -> Note:
    """What is taken for granted of documents that nobody judged and that were not retrieved.

    measures  of which it is said, as the note begins
    which     these documents are, as in `neither run retrieved`
    """
    what = f"{measures}: unjudged documents that {which} are taken as not relevant"
    return Note(what, "use --unseen N, or inf, to let some be relevant", kind="unseen")


def bounds_notes(scorer: Scorer) -> list[str]:
    """Which measures have no bounds or may not reach them, and what the bounds take for granted."""
    from gradedeval.measures.bounds.of_measure import depends_on_scale, falls, kept  # few evaluations ask for bounds

    averaged = scorer.options.ties == "average"
    labels: dict[str, list[str]] = {"exact": [], "safe": [], "none": []}
    for measure in scorer.measures:
        labels[kept(measure, over_ties=averaged)].append(measure.label)
    notes = []
    if without := labels["none"]:
        over = " with --ties average" if averaged else ""
        notes.append(f"--bounds: low and high are blank{over} for {', '.join(without)}")
    if labels["safe"]:
        notes.append(f"--bounds: low and high of {', '.join(labels['safe'])} are safe, but may be wider than need be")
    falling = [measure.label for measure in scorer.measures if falls(measure) and measure.label not in without]
    if falling and scorer.options.unseen is None:
        notes.append(unseen_note(f"--bounds: {', '.join(falling)}", "the run did not retrieve"))
    known = thresholds(scorer.grades)
    if not isinstance(known, range) and (apart := [one.label for one in scorer.measures if depends_on_scale(one)]):
        occurring = shorten([f"{grade:g}" for grade in known])
        what = f"--bounds: {', '.join(apart)}: a document judged later has grade 0 or one that occurs ({occurring})"
        notes.append(f"{what}; another grade with a fraction could lead past low or high")
    if scorer.options.fill is not None:
        notes.append("--bounds: the gains of --fill count as known")
    if chosen := scorer.options.topics_judged_later:
        notes.append(f"--bounds: means are over the {chosen}")
    return notes
