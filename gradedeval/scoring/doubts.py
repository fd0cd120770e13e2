"""What makes a score mislead though nothing is wrong with a file: ties that decide it, lists cut short, few topics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.errors import InputError, Note, plural, shorten
from gradedeval.measures.applied import last_rank, scores_of
from gradedeval.measures.definition import Measure
from gradedeval.options import Options
from gradedeval.rankings.batch import Batch
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import Run, read_run, run_of_lines
from gradedeval.scoring.run_scores import summarize
from gradedeval.trec.file_formats import WholeFile
from gradedeval.trec.lines import HEAD, MSMARCO, MSMARCO_RANKS, QRELS, RUN, encode, looks_like
from gradedeval.trec.recognition import format_of
from gradedeval.trec.stream import Source, Stream, first_bytes, is_file, is_named, is_path

if TYPE_CHECKING:
    from gradedeval.scoring.run_scores import RunScores
    from gradedeval.scoring.scorer import BatchScores, Scorer
    from gradedeval.scoring.tasks import GradedRun


TIED, RANGE = 0.1, 0.01
"""Ties are worth a note where they hold more than this share of the documents that a measure looks at, and the means of
the best and the worst order are further apart than that."""

TOLERANCE = 1e-9
"""Rounding of sums: a range of exactly RANGE is not above it."""

KEPT = 1 << 17
"""Topics × ranks of a batch up to which orders of ties wait until it is known whether many documents are tied."""

SHORT, FEW_TOPICS = 100, 10
"""Lists of fewer documents may have been cut short; means over fewer topics say little."""

MOST = 3
"""Notes of these kinds that a run gets; what else there is `lint` says."""

KINDS = ("rising-scores", "missing-topics", "ties", "short-lists", "few-topics")
"""What a run may mislead by, in the order in which it is said."""


def with_ties(scorer: Scorer, batch: Batch, scored: BatchScores) -> BatchScores:
    """The scores of a batch with what the order of tied documents leaves open of them.

    ties   4 × topics × measures: the score in the worst order of tied documents, and in the best; how many documents
           that the measure looks at are tied, and of how many. None where no order was left open
    later  the topics in which the order matters, where the orders are not scored yet
    """
    ties = batch.ties
    if ties is None or batch.kinds is not None:
        return scored
    score = scored.values[0]
    found = np.empty((4, *score.shape))
    found[:2] = score
    for column, measure in enumerate(scorer.measures):
        rank = last_rank(measure)
        found[2, :, column] = np.count_nonzero(ties.tied[:, :rank], axis=1)
        found[3, :, column] = _looked_at(batch.retrieved, measure)
    if not len(ties.rows):
        return replace(scored, ties=found)
    some = replace(
        batch,
        topics=[batch.topics[row] for row in ties.rows.tolist()],
        codes=ties.codes[0],
        retrieved=batch.retrieved[ties.rows],
        pool=batch.pool.select(ties.rows),
        docnos={},
        below=None if batch.below is None else batch.below[ties.rows],
        ties=replace(ties, tied=ties.tied[:0]),
    )
    if batch.codes.size <= KEPT:
        return replace(scored, ties=found, later=some)
    found[:2, ties.rows] = _ends(scorer, some, range(len(scorer.measures)))
    return replace(scored, ties=found)


def _many(found: Floats) -> Bools:
    """measures: whether there are more tied documents than `TIED`; of 4 × topics × measures, as `with_ties` says."""
    tied, of = found[2:].sum(axis=1)
    many: Bools = tied > TIED * of
    return many


def _ends(scorer: Scorer, some: Batch, columns: Sequence[int]) -> Floats:
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


def doubts(
    run: GradedRun[BatchScores], scores: RunScores, scorer: Scorer, names: Sequence[str] | None = None
) -> list[Note]:
    """What is said of a run whose scores may mislead, once.

    names  what the measures are called; without it by their labels
    """
    names = names or [measure.label for measure in scorer.measures]
    return [*ties_notes(run, scores, scorer, names), *_of_short_lists(run.place, run.batches, scorer, names)]


def doubts_of(run: GradedRun[Batch], scorer: Scorer) -> list[Note]:
    """The same of a run whose documents are known and whose scores are not."""
    if all(batch.ties is None for batch in run.batches):
        return _of_short_lists(run.place, run.batches, scorer, [measure.label for measure in scorer.measures])
    plain = copy(scorer)  # gives the same scores, and nothing beside them
    plain.options = replace(scorer.options, residuals=None, bounds=False, max_residual=None)
    scored = run.with_batches([plain.score_with_ties(batch) for batch in run.batches])
    return doubts(scored, plain.merge(run.place, scored.batches, run.topics, run.missing), plain)


def not_too_many(notes: Iterable[str]) -> list[str]:
    """The notes on a run, of which no more than `MOST` say that it may mislead."""
    kept, said = list[str](), 0
    for note in notes:
        doubt = isinstance(note, Note) and note.kind in KINDS
        said += doubt
        if not doubt or said <= MOST:
            kept.append(note)
    return kept


def ties_notes(run: GradedRun[BatchScores], scores: RunScores, scorer: Scorer, names: Sequence[str]) -> list[Note]:
    """A note where the order of ties decides a score."""
    if all(batch.ties is None for batch in run.batches):
        return []
    if scores.topics is scorer.topics:  # which are known by their bytes already
        row_of = scorer.qrels._row
    else:
        row_of = {encode(topic): row for row, topic in enumerate(scores.topics)}
    found = np.zeros((4, *scores.score.shape))
    found[:2] = scores.score
    rows = [np.array([row_of.get(topic, -1) for topic in batch.topics], dtype=np.int64) for batch in run.batches]
    for batch, own in zip(run.batches, rows, strict=True):  # of a topic in several of them the last counts
        there = own >= 0
        for column, measure in enumerate(scorer.measures):
            found[3, own[there], column] = _looked_at(batch.retrieved[there], measure)
        found[2, own[there]] = 0 if batch.ties is None else batch.ties[2, there]
    columns = np.flatnonzero(_many(np.where(scores.included, found, 0))).tolist()
    if not columns:
        return []
    for batch, own in zip(run.batches, rows, strict=True):
        there = own >= 0
        found[:2, own[there]] = scores.score[own[there]]
        if batch.ties is not None:
            ends = batch.ties[:2].copy()
            if batch.later is not None:
                at = {topic: row for row, topic in enumerate(batch.topics)}
                ends[:, [at[topic] for topic in batch.later.topics]] = _ends(scorer, batch.later, columns)
            found[:2, own[there]] = ends[:, there]
    ranges = []
    for column in columns:
        measure = scorer.measures[column]
        worst, best = found[:2, scores.included[:, column], column]
        low, high = (float(summarize(values, measure.definition.summary)) for values in (worst, best))
        if high - low > RANGE + TOLERANCE:
            ranges.append(f"{names[column]} between {low:.4f} and {high:.4f}")
    if not ranges:
        return []
    what = f"{run.place}: many documents have equal scores: {shorten(ranges, 3)}, by the order of ties"
    return [Note(what, "break the ties in the run, or choose an order with --ties", kind="ties")]


def _looked_at(retrieved: Ints, measure: Measure) -> Ints:
    """topics: how many documents a measure looks at."""
    rank = last_rank(measure)
    return retrieved if rank is None else np.minimum(retrieved, rank)


def _of_short_lists(
    place: str, batches: Sequence[BatchScores | Batch], scorer: Scorer, names: Sequence[str]
) -> list[Note]:
    """A note where all topics are cut at the same length, and a measure looks further."""
    if all((batch.retrieved >= SHORT).all() for batch in batches):
        return []
    length_of = {  # of a topic in several batches the last counts
        topic: length for batch in batches for topic, length in zip(batch.topics, batch.retrieved.tolist(), strict=True)
    }
    lengths = list(filter(None, length_of.values()))
    if len(lengths) < FEW_TOPICS or lengths[0] >= SHORT or len(set(lengths)) > 1:
        return []
    if scorer.options.depth is not None or scorer.options.judged_only:
        return []
    uncut = [
        name
        for name, one in zip(names, scorer.measures, strict=True)
        if last_rank(one) is None and one.definition.summary != "total"
    ]
    if not uncut:
        return []
    what = f"{place}: each topic has {lengths[0]} {plural(lengths[0], 'document')}, and {', '.join(uncut)} "
    hint = f"give longer lists, or cut the {plural(len(uncut), 'measure')}, as in {uncut[0].partition('@')[0]}@10"
    return [Note(f"{what}{'looks' if len(uncut) == 1 else 'look'} at all ranks", hint, kind="short-lists")]


_SHORT = r"(?s)(?P<place>.*): each topic has (?P<length>\d+) documents?(?P<what>.*)"


def united(notes: Iterable[str]) -> list[str]:
    """The notes on several runs; what is said of lists cut short is said once."""
    kept = list[str]()
    alike: dict[tuple[str, str], list[re.Match[str]]] = {}
    for note in notes:
        if isinstance(note, Note) and note.kind == "short-lists" and (found := re.fullmatch(_SHORT, note.text)):
            alike.setdefault((found["what"], note.hint), []).append(found)
        else:
            kept.append(note)
    for (what, hint), several in alike.items():
        low, high = (end(int(found["length"]) for found in several) for end in (min, max))
        runs = shorten([found["place"] for found in several], 2)
        named = runs if len(several) == 1 else f"{len(several)} runs ({runs})"
        length = f"{low} {plural(low, 'document')}" if low == high else f"{low} to {high} documents"
        kept.append(Note(f"{named}: each topic has {length}{what}", hint, kind="short-lists"))
    return kept


def few_topics_of(runs: Sequence[RunScores], measures: int) -> list[Note]:
    """The same of the means of runs by so many measures; these may be over different topics."""
    return few_topics(max((run.count(column) for run in runs for column in range(measures)), default=0))


def few_topics(most: int) -> list[Note]:
    """A note where means are over few topics.

    most  over how many any of them is
    """
    if not 0 < most < FEW_TOPICS:
        return []
    what = f"the means are over {most} {plural(most, 'topic')}" if most > 1 else "there is one topic"
    return [Note(what, "too few to tell systems apart", kind="few-topics")]


# A run in the place of the qrels, and the qrels in that of the run: an error, where the content says so.


FEW_GRADES = 10
"""Distinct grades that qrels have at most: the run's values, to be taken for grades."""

HIGHEST = 100
"""A run's values beyond this are not grades."""

MANY = 10
"""More distinct values than these are taken for scores, where the run has few and whole ones."""


def check_files_swapped(run: Any, qrels: Any) -> None:
    """Raise InputError where two files have the fields of each other."""
    if all(is_path(source) and is_named(source) for source in (run, qrels)):
        check_fields_swapped(Source(run), Source(qrels))


def check_fields_swapped(run: Source, qrels: Source) -> None:
    """Raise InputError where the run has the fields of qrels, and the qrels those of a run."""
    if not looks_like(first_bytes(qrels, HEAD), RUN) or _is_document(qrels):
        return
    what = f"looks like a run ({RUN.width} fields per line)"
    head = first_bytes(run, HEAD)
    if looks_like(head, RUN):
        raise InputError(qrels.place, f"{what}, as does {run.place}", "the qrels file comes last")
    if looks_like(head, QRELS):
        what += f", and {run.place} like qrels ({QRELS.width} fields per line)"
        raise InputError(qrels.place, what, "swap them: the order is RUN... QRELS")


def _is_document(source: Source) -> bool:
    """Whether a file is of a format such as LETOR, whose lines may have any number of fields."""
    with closing(Stream(source)) as stream:
        try:
            return isinstance(format_of(stream, "qrels"), WholeFile)
        except InputError:
            return False


def check_values_swapped(run: Any, qrels: Qrels, options: Options) -> None:
    """Raise InputError where the numbers of the qrels are such as scores are, and those of the run such as grades are;
    of few numbers, a note of the qrels.

    Only of what looks the same as a run and as qrels: dicts, JSON, columns called `score`. Grades may be fractions, and
    scores whole: both together are suspect, unless the run counts down in each topic as ranks do.
    """
    fractions = bool((qrels.labels % 1).any())
    if not qrels.could_be_run or not (fractions or len(qrels.labels) > MANY):
        return
    if options.qrels_format or options.labels or options.subtopics or options.strata:
        return
    found = _values(run)
    if not found:
        return
    distinct = np.unique(np.concatenate(found))
    count = sum(map(len, found))
    counts = all(len(set(values.tolist())) == len(values) == np.ptp(values) + 1 for values in found)
    if fractions and not counts and not (distinct % 1).any():
        what = f"{qrels.place}: grades are fractions, and the run's scores whole numbers"
        qrels.notes.append(Note(what, "are the two swapped? the run comes first", kind="swapped"))
    if len(qrels.labels) <= MANY:
        return
    if np.abs(distinct).max() > HIGHEST or count < max(MANY, 2 * len(distinct)):
        return  # too large, or too few of each, to be grades
    if (distinct % 1).any() or len(distinct) > min(FEW_GRADES, len(qrels.labels)) or counts:
        return
    low, high = f"{qrels.labels[0]:g}", f"{qrels.labels[-1]:g}"
    what = f"looks like a run ({len(qrels.labels)} different grades from {low} to {high}), and the run like qrels"
    hint = "swap them: the run comes first; if they are right, "
    hint += f"add --qrels-format {qrels.format}" if qrels.format else "give Qrels(...) of the qrels"
    raise InputError(qrels.place, f"{what} (whole numbers, {len(distinct)} different)", hint, usage=True)


def _values(run: Any) -> list[np.ndarray[Any, Any]]:
    """The scores of each topic of a run that has no form of its own; none of any other, or of a broken one."""
    if not (is_file(run) or isinstance(run, Mapping) or hasattr(run, "columns")):
        return []  # an iterator is read once
    try:
        read = _of_file(Source(run)) if is_file(run) else read_run(run, Options())
    except InputError:
        return []  # it is reported where it is scored
    if read is None:
        return []
    if read.listed is not None:
        ends = np.cumsum([len(docnos) for docnos in read.listed.docnos])[:-1]
        topics = np.split(np.asarray(read.listed.values), ends)
    else:
        topics = [np.asarray(results.scores) for results in read.topics.values()]
    return [values for values in topics if len(values)]


def _of_file(source: Source) -> Run | None:
    if source.is_read_once:
        return None
    with closing(Stream(source)) as stream:
        form = format_of(stream, "run")
        if isinstance(form, WholeFile):
            from gradedeval.trec.documents import read_document

            return read_run(read_document(form.format, stream)[1], Options())
        if form in (RUN, MSMARCO, MSMARCO_RANKS) or form.by_rank:
            return None
        return run_of_lines(stream, Options(), layout=form)
