"""What makes a score mislead though nothing is wrong with a file: ties that decide it, lists cut short, few topics."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import Note, either, flag, plural, shorten
from gradedeval.kernel.measures.definition import Measure, Reading
from gradedeval.kernel.measures.gains import scores_of
from gradedeval.kernel.rankings.batch import Batch
from gradedeval.kernel.rankings.grade import RISING, RISING_AS_LISTED
from gradedeval.kernel.trec.lines import encode

if TYPE_CHECKING:
    from gradedeval.kernel.options import Options
    from gradedeval.kernel.scoring.scorer import BatchScores, Scorer
    from gradedeval.kernel.scoring.scores import RunScores
    from gradedeval.kernel.scoring.tasks import GradedRun


TIED, RANGE = 0.1, 0.01
"""Ties are worth a note where they hold more than this share of the documents that a measure looks at, and the means of
the best and the worst order are further apart than that."""

TOLERANCE = 1e-9
"""Rounding of sums: a range of exactly RANGE is not above it."""

KEPT = 1 << 17
"""Topics × ranks of a batch up to which orders of ties wait until it is known whether many documents are tied."""

SHORT, FEW_FOR_MEANS = 100, 10
"""Lists of fewer documents may have been cut short; means over fewer topics say little."""

MOST = 3
"""How many notes of these kinds a run gets at most; `lint` has all of them."""

KINDS = ("rising-scores", "missing-topics", "ties", "short-lists", "few-topics")
"""The kinds of notes on why a run may mislead, in the order in which they are given."""


def different_topics_notes(averaged: Mapping[str, Iterable[Hashable]], options: Options | None) -> list[Note]:
    """Return a note where the means of several runs are over different topics.

    averaged  measure -> for each run, the topics that its mean is over
    options   those of the evaluation; None of saved scores
    """
    labels = [label for label, topics in averaged.items() if len(set(topics)) > 1]
    if not labels:
        return []
    of = "" if len(labels) == len(averaged) else f"{', '.join(labels)}: "
    hint = ""
    if options is not None and options.topics != "qrels":
        hint = f"use {flag.topics:qrels} to average over the same ones"
    elif options is not None and options.max_residual is not None:
        hint = f"leave out {flag.max_residual} to average over the same ones"
    return [Note(f"{of}the means are over different topics for different runs", hint, kind="different-topics")]


def no_relevant_text(
    place: str, topics: Sequence[str], counted: int, measures: Sequence[str] = (), then: str = "score 0"
) -> str:
    """The note on topics without relevant documents for some measures, or for all of them where none is named.

    counted  how many topics there are
    then     what follows from it, with a verb in the plural
    """
    verb, rest = then.split(" ", 1)
    have, follows = ("has", f"{verb}s") if len(topics) == 1 else ("have", verb)
    of = f" for {', '.join(measures)}" if measures else ""
    said = f"{len(topics)} of {counted} {plural(counted, 'topic')} {have} no relevant documents{of}"
    return f"{place and f'{place}: '}{said} ({shorten(topics)}) and {follows} {rest}"


def add_tie_ranges(scorer: Scorer, batch: Batch, scored: BatchScores, *, at_once: bool = False) -> BatchScores:
    """The scores of a batch with what the order of tied documents leaves open of them.

    at_once  score all orders now

    ties           4 × topics × measures: the score in the worst order of tied documents, and in the best; how many
                   documents that the measure looks at are tied, and of how many. None where no order was left open
    unscored_ties  the topics in which the order matters, where the orders are not scored yet
    """
    ties = batch.ties
    if ties is None or batch.kinds is not None:
        return scored
    found = np.empty((4, *scored.values[0].shape))
    found[:2] = scored.values[0]
    for column, measure in enumerate(scorer.measures):
        found[2, :, column] = np.count_nonzero(ties.tied[:, : measure.last_rank], axis=1)
        found[3, :, column] = _documents_to_cutoff(batch.retrieved, measure)
    if not len(ties.rows):
        return replace(scored, ties=found)
    some = replace(
        batch,
        topics=[batch.topics[row] for row in ties.rows.tolist()],
        codes=ties.codes[0],
        retrieved=batch.retrieved[ties.rows],
        pool=batch.pool.select(ties.rows),
        docnos=None,
        below=None if batch.below is None else batch.below[ties.rows],
        ties=replace(ties, tied=ties.tied[:0]),
    )
    if batch.codes.size <= KEPT and not at_once:
        return replace(scored, ties=found, unscored_ties=some)
    found[:2, ties.rows] = _lowest_and_highest(scorer, some, range(len(scorer.measures)))
    return replace(scored, ties=found)


def many_tied(tied: Any, documents: Any) -> Any:
    """Whether the tied documents are so large a part of all that they are worth a note."""
    return tied > TIED * documents


def far_apart(low: float, high: float) -> bool:
    """Whether two means in different orders of ties are worth a note."""
    return high - low > RANGE + TOLERANCE


def _lowest_and_highest(scorer: Scorer, some: Batch, columns: Sequence[int]) -> Floats:
    """2 × topics × measures: the lowest and the highest score by some measures, in topics whose ties leave the order
    open; nan by others."""
    ends = np.full((2, len(some.topics), len(scorer.measures)), np.nan)
    orders = zip(some.ties.codes, some.ties.counts, strict=True) if some.ties else ()
    for at, (codes, counts) in enumerate(orders):
        gains_of = scorer.gains_cache(replace(some, codes=codes, retrieved=counts, ties=None))
        for column in columns:
            measure = scorer.measures[column]
            ends[at, :, column] = scores_of(measure, gains_of(scorer.tables[column], measure))
    return np.stack([ends.min(axis=0), ends.max(axis=0)])  # of some measures lower is better


def notes_of_run(
    run: GradedRun[Any],
    scorer: Scorer,
    scores: RunScores | None = None,
    names: Sequence[str] | None = None,
    more: Iterable[str] = (),
) -> list[str]:
    """The notes on a run, and those on why its scores may mislead.

    scores  those of its batches; None: the batches are the documents, and are scored where ties may matter
    names   what the measures are called; without it by their labels
    more    notes on its scores
    """
    said = [*run.notes, *more]
    if any(batch.ties is not None for batch in run.batches):
        if scores is None:
            plain = copy(scorer)  # gives the same scores, and nothing beside them
            plain.options = replace(scorer.options, residuals=None, bounds=False, max_residual=None)
            run = run.with_batches([plain.score_and_note_ties(batch) for batch in run.batches])
            scores, scorer = plain.merge(run.place, run.batches, run.topics, run.missing), plain
        said += tie_notes(run, scores, scorer, names)
    return limit_caveats([*said, *_of_short_lists(run.place, run.batches, scorer, names)])


def limit_caveats(notes: Iterable[str]) -> list[str]:
    """The notes on a run, of which no more than `MOST` say that it may mislead."""
    kept, said = list[str](), 0
    for note in notes:
        doubt = isinstance(note, Note) and note.kind in KINDS
        said += doubt
        if not doubt or said <= MOST:
            kept.append(note)
    return kept


def tie_notes(
    run: GradedRun[BatchScores], scores: RunScores, scorer: Scorer, names: Sequence[str] | None = None
) -> list[Note]:
    """A note where the order of ties decides a score.

    names  what the measures are called; without it by their labels
    """
    if scores.topics is scorer.topics:  # which are known by their bytes already
        row_of = scorer.qrels.row_of
    else:
        row_of = {encode(topic): row for row, topic in enumerate(scores.topics)}
    found = np.zeros((4, *scores.score.shape))
    found[:2] = scores.score
    rows = [np.array([row_of.get(topic, -1) for topic in batch.topics], dtype=np.int64) for batch in run.batches]
    for batch, own in zip(run.batches, rows, strict=True):  # of a topic in several of them the last counts
        there = own >= 0
        if batch.ties is not None:
            found[2:, own[there]] = batch.ties[2:, there]
            continue
        found[2, own[there]] = 0
        for column, measure in enumerate(scorer.measures):
            found[3, own[there], column] = _documents_to_cutoff(batch.retrieved[there], measure)
    tied, of = np.where(scores.included, found[2:], 0).sum(axis=1)
    columns = np.flatnonzero(many_tied(tied, of)).tolist()
    if not columns:
        return []
    for batch, own in zip(run.batches, rows, strict=True):
        there = own >= 0
        found[:2, own[there]] = scores.score[own[there]]
        if batch.ties is not None:
            ends = batch.ties[:2].copy()
            if (unscored := batch.unscored_ties) is not None:
                at = {topic: row for row, topic in enumerate(batch.topics)}
                ends[:, [at[topic] for topic in unscored.topics]] = _lowest_and_highest(scorer, unscored, columns)
            found[:2, own[there]] = ends[:, there]
    ranges = []
    for column in columns:
        measure = scorer.measures[column]
        ends = np.ascontiguousarray(found[:2, scores.included[:, column], column])
        low, high = Reading(measure.definition.summary).summarize(ends).tolist()
        if far_apart(low, high):
            ranges.append(f"{names[column] if names else measure.label} between {low:.4f} and {high:.4f}")
    if not ranges:
        return []
    what = f"{run.place}: many documents have equal scores: {shorten(ranges, 3)}, by the order of ties"
    return [Note(what, f"break the ties in the run, or choose an order with {either('--ties', 'ties=…')}", kind="ties")]


def _documents_to_cutoff(retrieved: Ints, measure: Measure) -> Ints:
    """topics: how many documents a measure looks at."""
    rank = measure.last_rank
    return retrieved if rank is None else np.minimum(retrieved, rank)


def _of_short_lists(
    place: str, batches: Sequence[BatchScores | Batch], scorer: Scorer, names: Sequence[str] | None
) -> list[Note]:
    """A note where all topics are cut at the same length, and a measure looks further."""
    if not any(batch.retrieved.min(initial=SHORT) < SHORT for batch in batches):
        return []
    if scorer.options.depth is not None or scorer.options.judged_only:
        return []
    length_of = {  # of a topic in several batches the last counts
        topic: length for batch in batches for topic, length in zip(batch.topics, batch.retrieved.tolist(), strict=True)
    }
    lengths = list(filter(None, length_of.values()))
    if len(lengths) < FEW_FOR_MEANS or lengths[0] >= SHORT or len(set(lengths)) > 1:
        return []
    uncut = [
        names[column] if names else one.label
        for column, one in enumerate(scorer.measures)
        if one.cutoff is None and one.definition.summary != "total"
    ]
    if not uncut:
        return []
    what = f"{place}: each topic has {lengths[0]} {plural(lengths[0], 'document')}, and {', '.join(uncut)} "
    hint = f"give longer lists, or cut the {plural(len(uncut), 'measure')}, as in {uncut[0].partition('@')[0]}@10"
    return [Note(f"{what}{'looks' if len(uncut) == 1 else 'look'} at all ranks", hint, kind="short-lists")]


_ALIKE = {
    "topics-without-relevant": r"(?s)(?P<place>.*): (?P<what>\d+ topics? without relevant documents)",
    "missing-topics": r"(?s)(?P<place>.*): (?P<what>\d+ of \d+ judged topics? (?:is|are) missing from the run .*)",
}
"""Kinds of notes that are the same for several runs where nothing but the run differs, and what they say."""

_SHORT = r"(?s)(?P<place>.*): each topic has (?P<length>\d+) documents?(?P<what>.*)"


def merge_run_notes(notes: Iterable[str], count: int) -> list[str]:
    """The notes on `count` runs; what is said of several, of lists cut short, and of scores that rise, is said once."""
    kept, said = list[str](), [*notes]
    if not said:
        return said
    alike: dict[tuple[str, str], list[re.Match[str]]] = {}
    for note in _alike_once(_rising_once(said, count), count):
        if isinstance(note, Note) and note.kind == "short-lists" and (found := re.fullmatch(_SHORT, note.text)):
            alike.setdefault((found["what"], note.raw[1]), []).append(found)
        else:
            kept.append(note)
    for (what, hint), several in alike.items():
        low, high = (end(int(found["length"]) for found in several) for end in (min, max))
        runs = shorten([found["place"] for found in several], 2)
        named = runs if len(several) == 1 else f"{len(several)} runs ({runs})"
        length = f"{low} {plural(low, 'document')}" if low == high else f"{low} to {high} documents"
        kept.append(Note(f"{named}: each topic has {length}{what}", hint, kind="short-lists"))
    return kept


def _rising_once(notes: list[str], runs: int) -> list[str]:
    """The notes, with one for all those of the runs whose scores rise; runs: how many runs there are."""
    rising = [note for note in notes if isinstance(note, Note) and note.kind == "rising-scores"]
    if len(rising) < 2:
        return notes
    said = RISING if any(note.text.endswith(RISING) for note in rising) else RISING_AS_LISTED
    at = notes.index(rising[0])
    places = [note.text.removesuffix(f": {RISING}").removesuffix(f": {RISING_AS_LISTED}") for note in rising]
    hint = min((note.raw[1] for note in rising), key=len)  # that of runs which are not listed by rank holds for all
    merged = Note(f"{_some_of_all(len(rising), runs)} ({shorten(places, 2)}): {said}", hint, kind="rising-scores")
    return [*notes[:at], merged, *(note for note in notes[at:] if note not in rising)]


def _alike_once(notes: list[str], runs: int) -> list[str]:
    """The notes, with one in the place of the first where those of several of all the runs say the same."""
    places: dict[tuple[str, str, str], list[str]] = {}
    at: list[tuple[str, str, str] | None] = []
    for note in notes:
        found = re.fullmatch(_ALIKE.get(note.kind, ""), note.text) if isinstance(note, Note) else None
        at.append((note.kind, found["what"], note.raw[1]) if isinstance(note, Note) and found else None)
        if found and at[-1]:
            places.setdefault(at[-1], []).append(found["place"])
    kept, said = list[str](), set[tuple[str, str, str]]()
    for note, key in zip(notes, at, strict=True):
        if key is None or len(places[key]) == 1:
            kept.append(note)
        elif key not in said:
            said.add(key)
            kind, what, hint = key
            what = what.replace(" missing from the run ", " missing from each ", 1)
            kept.append(
                Note(f"{_some_of_all(len(places[key]), runs)} ({shorten(places[key], 2)}): {what}", hint, kind=kind)
            )
    return kept


def _some_of_all(some: int, runs: int) -> str:
    return f"{runs} runs" if some == runs else f"{some} of {runs} runs"


def few_topics_notes(most: int) -> list[Note]:
    """A note where means are over few topics.

    most  over how many any of them is
    """
    if not 0 < most < FEW_FOR_MEANS:
        return []
    what = f"the means are over {most} {plural(most, 'topic')}" if most > 1 else "there is one topic"
    return [Note(what, "too few to tell systems apart", kind="few-topics")]
