"""What unjudged documents could change of a score: residuals and bounds, and what is taken for granted of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gradedeval.arrays import TOLERANCE, Floats, Ints
from gradedeval.errors import Note, flag, shorten
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.gains import GainTable, run_measure, scores_of, thresholds
from gradedeval.kernel.rankings.batch import Batch

if TYPE_CHECKING:
    from gradedeval.kernel.scoring.scorer import GainsCache, Scorer


def unknown(
    scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats
) -> tuple[Floats, Floats]:
    """By one measure, as far as it is asked for: 2 × topics, the residual by the unjudged documents and that in all;
    and 2 × topics, the lowest and the highest score. Both are nan where blank, as they are
    without a grade above 0."""
    options = scorer.options
    residuals = bounds = np.full((2, len(score)), np.nan)
    if scorer.grades_of(measure).top <= 0:
        return residuals, bounds
    if options.residuals == "difference":
        residuals = np.broadcast_to(_difference(measure, table, gains_of, score), bounds.shape)
    elif options.wants_residuals and measure.residual != "none":
        residuals = _residuals(scorer, measure, table, gains_of, score)
    if options.bounds and measure.bounds != "none":
        bounds = _bounds(scorer, measure, table, gains_of, score)
    return residuals, bounds


def _residuals(scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats) -> Floats:
    """2 × topics: how far the unjudged documents could lift the score, and all that is unknown. Where the highest
    score is that of the bounds the first is blank."""
    found = np.full((2, len(score)), np.nan)
    if measure.residual == "from_bounds" and not measure.by_intent:
        whole = scorer.options.residual_depth == "full" and measure.only_truncates
        found[1] = _bounds(scorer, replace(measure, cutoff=None) if whole else measure, table, gains_of, score)[1]
    if np.isnan(found[1]).all():
        found[:] = _best(scorer, measure, table, gains_of)
    # The last bits of two sums may differ where nothing is unknown.
    return np.where(np.abs(found - score) <= TOLERANCE, 0.0, np.maximum(found - score, 0))


def _difference(measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats) -> Floats:
    """The best case less the score, signed, of a C/W/L measure; nan for others, and where both are infinite."""
    if not measure.definition.cwl or measure.by_intent or measure.judged_only:
        return np.full(len(score), np.nan)
    best = run_measure(measure, gains_of(table, measure, unjudged=table.top, tail=table.top))
    with np.errstate(invalid="ignore"):
        return best - score


def bounds_beside(scorer: Scorer, batch: Batch, column: int, missed: Ints) -> Floats:
    """3 × topics: the lowest score by one measure, the score, and the highest; nan where the ends are not known.

    missed  topics: how many documents that the run did not retrieve may be relevant, beside `Options.unseen`
    """
    gains_of = scorer.gains_cache(batch, missed)
    return _ends(scorer, scorer.measures[column], scorer.tables[column], gains_of)


def _ends(scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache) -> Floats:
    score = scores_of(measure, gains_of(table, measure))
    if measure.bounds == "none" or scorer.grades_of(measure).top <= 0:
        low = high = np.full(len(score), np.nan)
    else:
        low, high = _bounds(scorer, measure, table, gains_of, score)
    return np.array([low, score, high])


def bounds_beside_any(scorer: Scorer, batch: Batch, column: int, rows: Ints, missed: Ints) -> Floats | None:
    """3 × rows: the same of some topics of a batch, one of which may stand in many rows, from what is worked out of
    each topic once; None where it has to be asked for each row."""
    from gradedeval.kernel.measures.bounds import lowest_beside  # as below

    measure, table = scorer.measures[column], scorer.tables[column]
    if measure.bounds == "none" or table.top <= 0 or measure.judged_only:
        return None
    gains_of = scorer.gains_cache(batch, np.zeros(len(batch.topics), dtype=np.int64))
    lowest = lowest_beside(measure, gains_of(table, measure), rows, missed)
    if lowest is None:
        return None
    _, score, high = _ends(scorer, measure, table, gains_of)[:, rows]
    return np.array([np.minimum(lowest, score), score, high])


def _bounds(scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats) -> Floats:
    """2 × topics: the lowest and the highest score, down to the cutoff."""
    if table.top <= 0:  # whatever grade a document turns out to have, it gains nothing
        return np.array([score, score])
    from gradedeval.kernel.measures.bounds import bounds_of  # residuals alone do without

    seen = replace(measure, cutoff=None) if scorer.options.ties == "average" else measure
    plain, best = gains_of(table, seen), partial(gains_of, table, measure, unjudged=table.top)
    highest, grades = partial(_best, scorer, measure, table, gains_of), scorer.grades_of(measure)
    return bounds_of(measure, score, grades, plain, best, lambda: highest(to_cutoff=True)[1])


def _best(
    scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache, to_cutoff: bool = False
) -> tuple[Floats, Floats]:
    """The best cases: every unjudged document at the top gain; and every rank beyond the end as well."""
    definition, residual = measure.definition, measure.residual
    if scorer.options.residual_depth == "full" and measure.only_truncates and not to_cutoff:
        measure = replace(measure, cutoff=None)
    inside = np.minimum(run_measure(measure, gains_of(table, measure, unjudged=table.top)), definition.ceiling)
    if residual != "beyond_run":
        return inside, inside
    both = gains_of(table, measure, unjudged=table.top, tail=table.top)
    return inside, np.minimum(run_measure(measure, both), definition.ceiling)


# What is said of them.


def unseen_note(measures: str, which: str) -> Note:
    """What is taken for granted of unjudged documents and that were not retrieved.

    measures  of which it is said, as the note begins
    which     these documents are, as in `neither run retrieved`
    """
    what = f"{measures}: unjudged documents that {which} are taken as not relevant"
    return Note(what, f"use {flag.unseen:N} to assume that some are relevant", kind="unseen")


def bounds_notes(scorer: Scorer) -> list[str]:
    """Which measures have no bounds or may not reach them, and what the bounds take for granted."""
    from gradedeval.kernel.measures.bounds import depends_on_scale, falls, kept  # as above

    averaged = scorer.options.ties == "average"
    labels: dict[str, list[str]] = {"exact": [], "safe": [], "none": []}
    for measure in scorer.measures:
        if measure.definition.gain is None:  # no grade counts, so that none would change its score
            continue
        labels[kept(measure, over_ties=averaged)].append(measure.label)
    notes = list[str]()
    if without := labels["none"]:
        over = f" with {flag.ties:average}" if averaged else ""
        notes.append(Note(f"{flag.bounds}: low and high are blank{over} for {', '.join(without)}"))
    if labels["safe"]:
        notes.append(
            Note(f"{flag.bounds}: low and high of {', '.join(labels['safe'])} are safe, but may be wider than need be")
        )
    falling = [measure.label for measure in scorer.measures if falls(measure) and measure.label not in without]
    if falling and scorer.options.unseen is None:
        notes.append(unseen_note(f"{flag.bounds}: {', '.join(falling)}", "the run did not retrieve"))
    known = thresholds(scorer.grades)
    if not isinstance(known, range) and (apart := [one.label for one in scorer.measures if depends_on_scale(one)]):
        occurring = shorten([f"{grade:g}" for grade in known])
        what = (
            f"{flag.bounds}: {', '.join(apart)}: a document judged later has grade 0 or one that occurs ({occurring})"
        )
        notes.append(Note(what, "another grade with a fraction could lead past low or high"))
    if scorer.options.fill is not None:
        notes.append(Note(f"{flag.bounds}: the gains of {flag.fill} count as known"))
    if chosen := scorer.options.topics_judged_later:
        notes.append(Note(f"{flag.bounds}: means are over the {chosen}"))
    return notes
