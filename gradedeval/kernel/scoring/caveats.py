"""Notes on valid scores that may mislead: influential ties, truncated lists, few topics."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import Note, either, flag, plural, shorten
from gradedeval.kernel.measures.definition import Measure, Reading
from gradedeval.kernel.measures.gains import scores_of
from gradedeval.kernel.measures.notation import LAST_CUTOFF
from gradedeval.kernel.rankings.batch import Batch
from gradedeval.kernel.trec.lines import encode

if TYPE_CHECKING:
    from gradedeval.kernel.options import Options
    from gradedeval.kernel.scoring.scorer import BatchScores, Scorer
    from gradedeval.kernel.scoring.scores import RunScores
    from gradedeval.kernel.scoring.tasks import GradedRun


TIED, RANGE = 0.1, 0.01 + 1e-9
"""Ties get a note if their share of the scored documents is above TIED, and the means of the best and the worst order
differ by more than RANGE: by more than 0.01, up to the rounding error of sums."""

KEPT = 1 << 17
"""Maximum topics × ranks of a batch whose orders of ties are scored late, only if many documents are tied."""

SHORT, FEW_FOR_MEANS = 100, 10
"""Lists of fewer documents may be truncated; means over fewer topics say little."""

NAMED = 3
"""Number of runs that a note on several names."""

SILENCE = "silence"
"""The measure of topics without relevant documents."""

MOST = 3
"""Maximum notes of KINDS per run; `lint` lists all."""

KINDS = ("rising-scores", "missing-topics", "empty-topics", "ties", "short-lists", "few-topics")
"""Kinds of caveats, in order of output."""


def different_topics_notes(
    averaged: Mapping[str, Iterable[Hashable]], options: Options | None, named: bool = False
) -> list[Note]:
    """Return a note if the means of several runs are over different topics.

    averaged  measure -> the averaged topics of each run
    options   options of the evaluation; None for saved scores, and for measures that skip topics
    named     whether to name the measures even if it holds for all
    """
    labels = [label for label, topics in averaged.items() if len(set(topics)) > 1]
    if not labels:
        return []
    of = f"{', '.join(labels)}: " if named or len(labels) < len(averaged) else ""
    hint = ""
    if options is not None and options.topics != "qrels":
        hint = f"use {flag.topics:qrels} to average over the same ones"
    elif options is not None and options.max_residual is not None:
        hint = f"leave out {flag.max_residual} to average over the same ones"
    return [Note(f"{of}the means are over different topics for different runs", hint, kind="different-topics")]


def no_relevant_text(
    place: str, topics: Sequence[str], counted: int, measures: Sequence[str] = (), then: str = "score 0"
) -> str:
    """Return the text of a note on topics without relevant documents among `counted` topics, for some measures or all.
    `then`: the consequence, with a plural verb."""
    verb, rest = then.split(" ", 1)
    have, follows = ("has", f"{verb}s") if len(topics) == 1 else ("have", verb)
    of = f" for {', '.join(measures)}" if measures else ""
    text = f"{len(topics)} of {counted} {plural(counted, 'topic')} {have} no relevant documents{of}"
    return f"{place and f'{place}: '}{text} ({shorten(topics)}) and {follows} {rest}"


def no_relevant_hint(topics: Sequence[str], measures: Sequence[Measure]) -> str:
    """Return the hint of a note on topics without relevant documents: how to leave them out, and what scores them."""
    them = "it" if len(topics) == 1 else "them"
    scored = any(measure.name == SILENCE for measure in measures)
    exclude = f"exclude {them} with {flag.topics:relevant}"
    return exclude if scored else f"{exclude}, or score {them} with {flag.measures:{SILENCE}}"


def add_tie_ranges(scorer: Scorer, batch: Batch, scored: BatchScores, *, score_now: bool = False) -> BatchScores:
    """Add the range of scores over orders of tied documents to the scores of a batch: `ties` and `tied_batch`,
    unless the order is fixed. `score_now`: score all orders now."""
    ties = batch.ties
    if ties is None or batch.type_index is not None:
        return scored
    result = np.empty((4, *scored.values[0].shape))
    result[:2] = scored.values[0]
    for column, measure in enumerate(scorer.measures):
        result[2, :, column] = np.count_nonzero(ties.tied[:, : measure.last_rank], axis=1)
        result[3, :, column] = np.minimum(batch.retrieved, measure.last_rank or LAST_CUTOFF)
    if not len(ties.rows):
        return replace(scored, ties=result)
    tied_topics = replace(
        batch,
        topics=[batch.topics[row] for row in ties.rows.tolist()],
        codes=ties.codes[0],
        retrieved=batch.retrieved[ties.rows],
        pool=batch.pool.select(ties.rows),
        docnos=None,
        unjudged_below=None if batch.unjudged_below is None else batch.unjudged_below[ties.rows],
        highest=None if batch.highest is None else batch.highest[ties.rows],
        ties=replace(ties, tied=ties.tied[:0]),
    )
    if batch.codes.size <= KEPT and not score_now:
        return replace(scored, ties=result, tied_batch=tied_topics)
    result[:2, ties.rows] = _lowest_and_highest(scorer, tied_topics, range(len(scorer.measures)))
    return replace(scored, ties=result)


def _lowest_and_highest(scorer: Scorer, batch: Batch, columns: Sequence[int]) -> Floats:
    """Return 2 × topics × measures: the lowest and the highest score over orders of ties; nan outside `columns`."""
    scores = np.full((2, len(batch.topics), len(scorer.measures)), np.nan)
    orders = zip(batch.ties.codes, batch.ties.counts, strict=True) if batch.ties else ()
    for order, (codes, counts) in enumerate(orders):
        gains_of = scorer.gains_cache(replace(batch, codes=codes, retrieved=counts, ties=None))
        for column in columns:
            measure = scorer.measures[column]
            scores[order, :, column] = scores_of(measure, gains_of(scorer.tables[column], measure))
    # Of some measures lower is better; a topic may be scored in one order only.
    return np.stack([np.fmin.reduce(scores, axis=0), np.fmax.reduce(scores, axis=0)])


def notes_of_run(
    run: GradedRun[Any],
    scorer: Scorer,
    scores: RunScores | None = None,
    names: Sequence[str] | None = None,
    more: Iterable[str] = (),
) -> list[str]:
    """Return the notes on a run, including caveats.

    scores  scores of the run; None if its batches are unscored: they are scored here if documents are tied
    names   names of the measures; labels by default
    more    further notes on the scores
    """
    notes = [*run.notes, *more]
    if any(batch.ties is not None for batch in run.batches):
        if scores is None:
            plain = copy(scorer)  # no residuals and bounds, which notes do not need
            plain.options = replace(scorer.options, residuals=None, bounds=False, max_residual=None)
            run = run.with_batches([plain.score_with_ties(batch) for batch in run.batches])
            scores, scorer = plain.merge(run.place, run.batches, run.topics, run.missing), plain
        notes += tie_notes(run, scores, scorer, names)
    return limit_caveats([*notes, *_short_list_notes(run.place, run.batches, scorer, names)])


def limit_caveats(notes: Iterable[str]) -> list[str]:
    """Return the notes on a run with at most MOST caveats."""
    kept, caveats = list[str](), 0
    for note in notes:
        is_caveat = isinstance(note, Note) and note.kind in KINDS
        caveats += is_caveat
        if not is_caveat or caveats <= MOST:
            kept.append(note)
    return kept


def tie_notes(
    run: GradedRun[BatchScores], scores: RunScores, scorer: Scorer, names: Sequence[str] | None = None
) -> list[Note]:
    """Return a note if the order of tied documents matters to a mean. `names` of the measures: labels by default."""
    rows, tied, documents = _tied_documents(run.batches, scores, scorer)
    columns = np.flatnonzero(tied > TIED * documents).tolist()
    if not columns:
        return []
    limits = np.stack([scores.score, scores.score])
    for batch, index in zip(run.batches, rows, strict=True):
        counted = index >= 0
        limits[:, index[counted]] = scores.score[index[counted]]
        if batch.ties is not None:
            ends, unscored = batch.ties[:2].copy(), batch.tied_batch
            if unscored is not None and unscored.ties is not None:
                ends[:, unscored.ties.rows] = _lowest_and_highest(scorer, unscored, columns)
            limits[:, index[counted]] = ends[:, counted]
    ranges = []
    for column in columns:
        measure = scorer.measures[column]
        ends = np.ascontiguousarray(limits[:, scores.included[:, column], column])
        weights = None if scores.weights is None else scores.weights[scores.included[:, column]]
        low, high = Reading(measure.definition.summary).summarize(ends, weights).tolist()
        if high - low > RANGE:
            ranges.append(f"{names[column] if names else measure.label} between {low:.4f} and {high:.4f}")
    if not ranges:
        return []
    text = f"many documents have equal scores: {shorten(ranges, 3)}, by the order of ties"
    hint = f"break the ties in the run, or choose an order with {either('--ties', 'ties=…')}"
    common = "many documents have equal scores, and means depend on their order"
    return [Note(text, hint, place=run.place, kind="ties", common=common)]


def _tied_documents(
    batches: Sequence[BatchScores], scores: RunScores, scorer: Scorer
) -> tuple[list[Ints], Floats, Floats]:
    """Return for each batch the row of each topic in `scores`, -1 if it is not counted; and the number of tied
    documents and of all documents, down to the cutoff of each measure."""
    row_of = scorer.qrels.row_of
    if scores.topics is not scorer.topics:
        row_of = {encode(topic): row for row, topic in enumerate(scores.topics)}
    rows, counts = list[Ints](), np.zeros((2, *scores.score.shape))
    for batch in batches:  # the last batch of a topic counts
        index = np.array([row_of.get(topic, -1) for topic in batch.topics], dtype=np.int64)
        rows.append(index)
        counted = index >= 0
        if batch.ties is not None:
            counts[:, index[counted]] = batch.ties[2:, counted]
            continue
        counts[0, index[counted]] = 0
        for column, measure in enumerate(scorer.measures):
            documents = np.minimum(batch.retrieved[counted], measure.last_rank or LAST_CUTOFF)
            counts[1, index[counted], column] = documents
    tied, documents = np.where(scores.included, counts, 0).sum(axis=1)
    return rows, tied, documents


def _short_list_notes(
    place: str, batches: Sequence[BatchScores | Batch], scorer: Scorer, names: Sequence[str] | None
) -> list[Note]:
    """Return a note if the lists of all topics have the same short length and a measure has no cutoff."""
    if not any(batch.retrieved.min(initial=SHORT) < SHORT for batch in batches):
        return []
    if scorer.options.depth is not None or scorer.options.judged_only:
        return []
    length_of = {  # the last batch of a topic counts
        topic: length for batch in batches for topic, length in zip(batch.topics, batch.retrieved.tolist(), strict=True)
    }
    lengths = list(filter(None, length_of.values()))
    if len(lengths) < FEW_FOR_MEANS or lengths[0] >= SHORT or len(set(lengths)) > 1:
        return []
    uncut, cuttable = [], []
    for column, measure in enumerate(scorer.measures):
        definition = measure.definition
        if measure.cutoff is None and definition.summary != "total" and measure.name != "silence":  # no rank matters
            uncut.append(names[column] if names else measure.label)
            cuttable += uncut[-1:] if definition.cutoff != "none" else []
    example = cuttable[0] if cuttable else ""
    return [_short_list_note(place, lengths[0], lengths[0], uncut, example)] if uncut else []


def _short_list_note(place: str, shortest: int, longest: int, uncut: Sequence[str], example: str) -> Note:
    """Return the note on lists of these lengths and on measures without a cutoff, of which `example` takes one."""
    length = f"{shortest} to {longest} documents"
    if shortest == longest:
        length = f"{shortest} {plural(shortest, 'document')}"
    look = "looks" if len(uncut) == 1 else "look"
    cut = f", or cut the {plural(len(uncut), 'measure')}, as in {example.partition('@')[0]}@10" if example else ""
    hint = f"give longer lists{cut}"
    text = f"each topic has {length}, and {', '.join(uncut)} {look} at all ranks"
    return Note(text, hint, place=place, kind="short-lists", about=(str(shortest), example, *uncut))


def merge_run_notes(notes: Iterable[str], count: int) -> list[str]:
    """Merge the notes of one kind on `count` runs: the notes of runs have a place and a kind."""
    merged, groups = list[str](), dict[tuple[Hashable, ...], list[Note]]()
    for note in notes:
        key = _group(note)
        if isinstance(note, Note) and key:
            groups.setdefault(key, []).append(note)
            if len(groups[key]) > 1:
                continue
        merged.append(note)
    short_lists = list[str]()
    for (kind, *_), group in groups.items():
        position = merged.index(group[0])
        if kind == "short-lists":
            del merged[position]
            lengths, runs = [int(note.about[0]) for note in group], shorten([note.place for note in group], NAMED)
            place = runs if len(group) == 1 else f"{len(group)} runs ({runs})"
            _, example, *uncut = group[0].about
            short_lists.append(_short_list_note(place, min(lengths), max(lengths), uncut, example))
        elif len(group) > 1:
            merged[position] = _merged(group, count)
    return merged + short_lists


def _group(note: str) -> tuple[Hashable, ...]:
    """Return a key that notes to be merged share, beginning with their kind; () for other notes."""
    if not isinstance(note, Note) or not (note.kind and note.place):
        return ()
    if note.kind == "rising-scores":
        return (note.kind,)
    return note.kind, *(note.about[1:] if note.kind == "short-lists" else (note.common, note.raw[1]))


def _merged(notes: Sequence[Note], count: int) -> Note:
    """Merge notes of one kind on several of `count` runs."""
    first, places = notes[0], [note.place for note in notes]
    statements = {note.statement for note in notes}
    text = first.statement if len(statements) == 1 else first.common
    hint = min((note.raw[1] for note in notes), key=len)  # the shortest is valid for all runs
    runs = f"{count} runs" if len(notes) == count else f"{len(notes)} of {count} runs"
    place = f"{runs} ({shorten(places, NAMED)})"
    return Note(text, hint, place=place, kind=first.kind, about=places, common=first.common)


def few_topics_notes(most: int) -> list[Note]:
    """Return a note if means are over few topics: `most` is the largest number of topics of a mean."""
    if not 0 < most < FEW_FOR_MEANS:
        return []
    text = f"the means are over {most} topics" if most > 1 else "there is one topic"
    return [Note(text, "too few to tell systems apart", kind="few-topics")]
