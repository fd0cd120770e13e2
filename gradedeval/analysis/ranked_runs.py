"""Runs by document: a document of a topic has one number in all runs, so that its fate is a lookup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, positions_of, ranks
from gradedeval.errors import TRACE, InputError, flag, plural, shorten, user_code_error
from gradedeval.kernel import parallel
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.gains import Gains, scores_of
from gradedeval.kernel.options import OPTIONS, Options
from gradedeval.kernel.options.metadata import seeds_in_words
from gradedeval.kernel.parallel import Workers
from gradedeval.kernel.rankings.batch import Batch, Codes, Documents, GradeCounts, coalesce
from gradedeval.kernel.rankings.docnos import Docnos
from gradedeval.kernel.rankings.document_numbers import EVERY_TOPIC, DocumentNumbers
from gradedeval.kernel.rankings.grade import Grader, no_common_topics
from gradedeval.kernel.scoring.caveats import limit_caveats, merge_run_notes, notes_of_run
from gradedeval.kernel.scoring.evaluate import evaluate_runs, named_runs, scorer_of
from gradedeval.kernel.scoring.scorer import Scorer
from gradedeval.kernel.scoring.scores import RunScores, Scores
from gradedeval.kernel.scoring.tasks import GradedRun, grade_run
from gradedeval.kernel.trec.lines import decode, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gradedeval.kernel.measures.sampled import Sample
    from gradedeval.kernel.options.metadata import Replicates


NOWHERE = np.iinfo(np.int32).max
"""The rank of a document that a run did not retrieve: below all others."""


@dataclass(frozen=True, eq=False, repr=False)
class RankedRun:
    """One run as columns, topic after topic, each in rank order.

    place     its name in messages
    document  the numbers of its documents
    counts    topics: the numbers of documents
    first     the rank, from 0, of the first document tied with each one; None if ties were not requested
    listed    topics: whether it counts for this run
    missing   the number of topics that it lacks
    """

    name: str
    place: str
    document: Ints
    counts: Ints
    first: Ints | None
    listed: Bools
    missing: int

    @cached_property
    def rank(self) -> Ints:
        """The rank of each document, from 1."""
        return ranks(self.counts) + 1

    @cached_property
    def begin(self) -> Ints:
        """The index of the first document of each topic."""
        begin: Ints = np.cumsum(self.counts) - self.counts
        return begin

    def of_topic(self, topic: int) -> Ints:
        """Return the documents of one topic, the best first."""
        return self.document[self.begin[topic] : self.begin[topic] + self.counts[topic]]

    def ranks_of(self, documents: int) -> Ints:
        """Return the rank of each document, `NOWHERE` if this run did not retrieve it."""
        rank_of = np.full(documents, NOWHERE, dtype=np.int64)
        rank_of[self.document] = self.rank
        return rank_of


class BatchRows(NamedTuple):
    """Rankings of runs in one batch, with the numbers of the run and the topic of each."""

    batch: Batch
    run: Ints
    topic: Ints


@dataclass(frozen=True, eq=False, repr=False)
class RankedRuns:
    """Runs joined with one qrels.

    topics  the ids: in the order of the qrels, unjudged topics last
    code    documents: the code of the grade
    topic   documents: the row of the topic
    numbers the docnos of documents
    notes   notes on topics and lines left out
    """

    runs: list[RankedRun]
    topics: list[bytes]
    code: Codes
    topic: Ints
    grader: Grader
    numbers: DocumentNumbers
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.code)

    def docnos(self, documents: Ints) -> Any:
        """Return the docnos of documents, as text."""
        docnos = np.empty(len(documents), dtype=object)
        docnos[:] = list(map(decode, self.numbers.names(documents)))
        return docnos

    @property
    def names(self) -> list[str]:
        """The topics as text."""
        return [decode(topic) for topic in self.topics]

    @cached_property
    def judged(self) -> Bools:
        """Mask of judged documents."""
        judged: Bools = self.grader.judged[self.code]
        return judged

    @cached_property
    def pool(self) -> GradeCounts:
        """The number of judged documents of each topic with each label."""
        return self.grader.qrels.counts_for(self.topics)

    @cached_property
    def retrieved_by(self) -> Ints:
        """The number of runs that retrieved each document."""
        by: Ints = np.bincount(np.concatenate([run.document for run in self.runs]), minlength=len(self))
        return by

    @cached_property
    def best_rank(self) -> Ints:
        """The best rank of each document in any run."""
        best: Ints = np.full(len(self), NOWHERE, dtype=np.int64)
        for run in self.runs:
            np.minimum.at(best, run.document, run.rank)
        return best

    def grades(self, documents: Ints) -> Floats:
        """Return the grades of documents, nan for none."""
        labels = np.append(self.grader.qrels.labels, np.nan)
        grades: Floats = labels[np.minimum(self.code[documents], len(labels) - 1)]
        return grades

    def batches(
        self, run: RankedRun, grader: Grader, code: Codes | None = None, pool: GradeCounts | None = None
    ) -> Iterator[Batch]:
        """Yield the batches of a run; optionally with other grades of documents and another pool."""
        codes = (self.code if code is None else code)[run.document]
        counted = self.pool if pool is None else pool
        for batch in grader.batches(
            Documents(self.topics, run.counts, codes, None, None, lambda rows: Docnos.of([b""] * len(rows)))
        ):
            yield replace(batch, pool=counted.select(self.rows_of(batch)))

    def rows_of(self, batch: Batch) -> Ints:
        """Return the row of each topic of a batch."""
        return np.array([self.row_of[topic] for topic in batch.topics], dtype=np.int64)

    @cached_property
    def row_of(self) -> dict[bytes, int]:
        """The row of each topic."""
        return {topic: row for row, topic in enumerate(self.topics)}

    def rows(self, grader: Grader) -> list[BatchRows]:
        """Return all listed rankings of all runs, in few batches."""
        batches, owners, batch_rows = list[Batch](), list[int](), list[BatchRows]()
        for number, run in enumerate(self.runs):
            for batch in self.batches(run, grader):
                batches.append(batch)
                owners += [number] * len(batch.topics)
        begin, listed = 0, np.array([run.listed for run in self.runs])
        for batch in coalesce(batches, grader.limits.cells, grader.least_width):
            owner = np.array(owners[begin : begin + len(batch.topics)], dtype=np.int64)
            topic = self.rows_of(batch)
            begin += len(topic)
            kept = np.flatnonzero(listed[owner, topic])
            batch_rows.append(BatchRows(batch.select(kept), owner[kept], topic[kept]))
        return batch_rows

    def of_topics(self, topics: Ints) -> RankedRuns:
        """Select topics. Documents keep their numbers."""
        runs = []
        for run in self.runs:
            chosen = positions_of(run.counts, topics)
            first = None if run.first is None else run.first[chosen]
            document, counts = run.document[chosen], run.counts[topics]
            runs.append(replace(run, document=document, counts=counts, first=first, listed=run.listed[topics]))
        row = np.full(len(self.topics), -1)
        row[topics] = np.arange(len(topics))
        named = [self.topics[topic] for topic in topics.tolist()]
        return replace(self, runs=runs, topics=named, topic=row[self.topic])

    def scores(self, scorer: Scorer, code: Codes | None = None, pool: GradeCounts | None = None) -> Floats:
        """Return `Scorer.score_batch` of all runs: 3 × runs × topics × measures, nan for topics that do not count."""
        scorer = scorer if pool is None else without_ideals(scorer)
        values = np.full((3, len(self.runs), len(self.topics), len(scorer.measures)), np.nan)
        for number, run in enumerate(self.runs):
            for batch in self.batches(run, scorer.grader, code, pool):
                values[:, number, self.rows_of(batch)] = scorer.score_batch(batch).values
            values[:, number, ~run.listed] = np.nan
        return values


def rank_runs(
    runs: Mapping[str, Any], grader: Grader, workers: Workers | None = None, scorer: Scorer | None = None
) -> RankedRuns:
    """Read runs, and number their documents. Raises InputError if one cannot be read, or has no topic of the qrels.

    scorer  the scorer of shown scores: the notes then include caveats on these
    """
    if grader.options.ties == "average":
        raise OPTIONS["ties"].error("an average over orders has no ranks", "choose an order")
    ranking = Ranking(runs, grader, workers or Workers.current())
    return ranking.of(list(runs), scorer)


class Ranking:
    """Runs that are read once, with all ranks: `graded`, which can be scored, and ranked beside each other."""

    def __init__(self, runs: Mapping[str, Any], grader: Grader, workers: Workers) -> None:
        """Read the runs. Raises InputError as `rank_runs`."""
        self.grader = replace(grader, keep_docnos_for=EVERY_TOPIC, last_rank=None, reads_types=False)
        self.graded: dict[str, GradedRun[Batch]] = {}
        self._numbers = DocumentNumbers()
        self._columns: dict[str, _Columns] = {}
        for name, source in workers.progress(iter(runs.items()), len(runs)):
            run = grade_run(source, self.grader, workers.silent(), name)
            self._columns[name] = _number_documents(run, self._numbers, self.grader.keep_ties)
            self.graded[name] = run.with_batches([replace(batch, docnos=None) for batch in run.batches])

    def of(self, names: Sequence[str], scorer: Scorer | None = None) -> RankedRuns:
        """Return the runs in an order; `scorer` is as in `rank_runs`."""
        grader, runs = self.grader, [self.graded[name] for name in names]
        listed_topics = dict.fromkeys(topic for run in runs for topic in run.topics)
        topics = [topic for topic in grader.qrels.topics if topic in listed_topics]
        topics += [topic for topic in listed_topics if topic not in grader.qrels.row_of]
        place = np.empty(len(topics), dtype=np.int64)
        place[[self._numbers.topic_numbers[topic] for topic in topics]] = np.arange(len(topics))
        code, topic_of = np.zeros((2, len(self._numbers)), dtype=np.int64)
        ranked = []
        for name, run in zip(names, runs, strict=True):
            columns = self._columns[name]
            ordered = columns.in_order(place, len(topics))
            documents, counts = ordered.document, ordered.counts
            code[documents], topic_of[documents] = ordered.code, np.repeat(np.arange(len(topics)), counts)
            listed = np.zeros(len(topics), dtype=bool)
            listed[place[columns.topic]] = True
            ranked.append(RankedRun(name, run.place, documents, counts, ordered.first, listed, run.missing))
        notes_by_run = [notes_of_run(run, scorer) if scorer else limit_caveats(run.notes) for run in runs]
        notes = merge_run_notes(dict.fromkeys(chain.from_iterable(notes_by_run)), len(runs))
        return RankedRuns(ranked, topics, code, topic_of, grader, self._numbers, notes)


@dataclass(frozen=True, eq=False, repr=False)
class _Columns:
    """The topics of a run by number, and the numbers of documents of each; then columns of documents, topic after topic
    in rank order: their numbers, the codes of their grades, and the begins of their ties, None if ties were not
    requested."""

    topic: Ints
    counts: Ints
    document: Ints
    code: Codes
    first: Ints | None

    def in_order(self, place: Ints, topics: int) -> _Columns:
        """Return the columns with all topics, each in its place."""
        row = place[self.topic]
        counts = np.zeros(topics, dtype=np.int64)
        counts[row] = self.counts
        if (row[1:] > row[:-1]).all():
            return replace(self, topic=np.arange(topics), counts=counts)
        positions = positions_of(self.counts, np.argsort(row))
        first = None if self.first is None else self.first[positions]
        return _Columns(np.arange(topics), counts, self.document[positions], self.code[positions], first)


def _number_documents(run: GradedRun[Batch], numbers: DocumentNumbers, keep_ties: bool) -> _Columns:
    """Number the documents of a run; new topics get the next numbers."""
    row_of = {topic: row for row, topic in enumerate(topic for batch in run.batches for topic in batch.topics)}
    rows = np.array([row_of[topic] for topic in run.topics], dtype=np.int64)
    retrieved = np.concatenate([batch.retrieved for batch in run.batches])
    positions, counts = positions_of(retrieved, rows), retrieved[rows]
    docnos = Docnos.joined([batch.docnos for batch in run.batches if batch.docnos is not None])
    of_each = numbers.topics(run.topics, counts)
    topic = np.array([numbers.topic_numbers[topic] for topic in run.topics], dtype=np.int64)
    present = [np.arange(batch.codes.shape[1]) < batch.retrieved[:, None] for batch in run.batches]
    code = np.concatenate([batch.codes[inside] for batch, inside in zip(run.batches, present, strict=True)])[positions]
    first = None
    if keep_ties:
        begins = [
            ranks(batch.retrieved) if batch.first is None else batch.first[inside]
            for batch, inside in zip(run.batches, present, strict=True)
        ]
        first = np.concatenate(begins)[positions]
    return _Columns(topic, counts, numbers.numbers(of_each, docnos[positions]), code, first)


def scored_and_ranked(
    runs: Mapping[str, Any], qrels: Any, measures: Sequence[Measure], options: Options, workers: Workers
) -> tuple[Scores, Ranking]:
    """Score and rank runs, reading each file once; no measure may use the types of documents."""
    scorer = scorer_of(runs, qrels, measures, options, workers)
    ranking = Ranking(runs, scorer.grader, workers)
    scores = evaluate_runs(ranking.graded, scorer.qrels, measures, options)
    return replace(scores, sources=dict(runs) if scores.sources else {}), ranking


def without_ideals(scorer: Scorer) -> Scorer:
    """Return the scorer without its cached ideal rankings: another pool has others."""
    copied = copy(scorer)
    copied.grader = replace(scorer.grader, ideals={})
    return copied


def name_two_runs(baseline: Any, run: Any) -> dict[str, Any]:
    """Return two runs under different names."""
    named = [named_runs(baseline), named_runs(run)]
    if isinstance(baseline, str) and isinstance(run, str) and [*map(len, named)] == [1, 1]:
        return named_runs([baseline, run]) if baseline != run else {f"{baseline} (A)": baseline, f"{run} (B)": run}
    (first, source), (second, second_source) = (next(iter(names.items())) for names in named)
    first, second = (first, second) if first != second else (f"{first} (A)", f"{second} (B)")
    return {first: source, second: second_source}


def check_maskable(scorer: Scorer, options: Options, command: str) -> None:
    """Raise InputError (usage) if scores with other judgments need more than grade codes."""
    if options.subtopics or scorer.by_intent:
        raise InputError(flag.subtopics, f"{command} takes no judgments by intent", "leave it out", usage=True)
    if scorer.grader.reads_types:
        raise InputError(flag.costs, f"{command} does not read the types of documents", "leave it out", usage=True)


# Contributions of documents to the score of one topic, and possible ones: for any measure.


@dataclass(frozen=True, eq=False)
class ScoreParts:
    """The parts of a score: the score of an empty ranking, one term per rank, and the part beyond the end of the run.

    details  the columns of the measure: name -> one value per rank; an additional value is the total of all ranks
             beyond the end
    """

    before: float
    terms: Floats
    beyond: float
    details: dict[str, Floats]


def check_by_rank(measure: Measure) -> None:
    """Raise InputError (usage) for a measure with other ranks than the run, or without a score of some rankings."""
    if measure.definition.may_skip:
        problem = "has no score of some rankings, so there is no part of it for each rank"
        raise InputError(f"'{measure}'", problem, "leave it out", usage=True)
    if measure.judged_only:
        problem = "uses a condensed list, whose ranks are not those of the run"
        hint = f"leave out judged_only, and give {flag.judged_only:True}"
        raise InputError(f"'{measure}'", problem, hint, usage=True)


def trim_to_retrieved(gains: Gains) -> Gains:
    """Return the gains of one topic, with a column for each document retrieved and no more."""
    return _cut(gains, int(gains.retrieved[0]))


def score_parts(measure: Measure, gains: Gains) -> ScoreParts:
    """Return the parts that sum to the score of one topic. Raises InputError if a user-defined measure fails."""
    (before,), (terms,), (beyond,) = _split_scores(measure, gains, None)
    by_intent = measure.prior is not None and gains.intents is not None
    details = {} if by_intent else _details(measure, gains)
    columns = {name: column[0] for name, column in details.items() if name != "contribution"}
    return ScoreParts(float(before), terms, float(beyond), columns)


def score_terms(measure: Measure, gains: Gains, last: int | None) -> tuple[Floats, Floats]:
    """Return the parts of the scores of all topics of a batch.

    These are one term for each document retrieved, 0 below them, topics × ranks; and per topic the score of an empty
    ranking plus the part beyond the end. Raises InputError as `score_parts`.

    last  the last rank with a term: documents below it count in the rest
    """
    before, terms, beyond = _split_scores(measure, gains, last)
    retrieved = np.arange(terms.shape[1]) < gains.retrieved[:, None]
    return np.where(retrieved, terms, 0.0), before + beyond + np.where(retrieved, 0.0, terms).sum(1)


def _split_scores(measure: Measure, gains: Gains, last: int | None) -> tuple[Floats, Floats, Floats]:
    """Return for each topic the score of an empty ranking, a term for each rank down to `last`, and the rest."""
    intents, whole = gains.intents, gains.gain.shape[1]
    if measure.prior is not None and intents is not None:
        each = zip(*(_split_scores(replace(measure, prior=None), intent, last) for intent in intents.each), strict=True)
        shares = intents.weight / intents.weight.sum(0)
        before, terms, beyond = (_mean_over_intents(shares, parts) for parts in each)
        return before, terms, beyond
    width = whole if last is None else min(last, whole)
    contribution, none = _details(measure, gains).get("contribution"), np.zeros(len(gains.gain))
    if contribution is not None:
        return none, contribution[:, :width], contribution[:, width:].sum(1)
    scores = _scores_by_cutoff(measure, gains, width)
    with np.errstate(invalid="ignore"):
        steps = np.diff(scores)
    rest = scores_of(measure, gains) - scores[:, -1] if width < whole else none
    return scores[:, 0], np.where(np.isnan(steps), 0.0, steps), rest


def _mean_over_intents(shares: Floats, parts: Sequence[Floats]) -> Floats:
    """Return the mean of a part of scores; an intent that nobody has may have no score."""
    weighed = (np.where(share > 0, (share * part.T), 0).T for share, part in zip(shares, parts, strict=True))
    return np.asarray(np.sum(list(weighed), axis=0))


def _cut(gains: Gains, rank: int) -> Gains:
    """Cut each ranking of a batch after a rank."""
    parts: dict[str, Any] = {name: values[:, :rank] for name, values in _rank_arrays(gains).items()}
    sample = _sample(gains, np.arange(len(gains.gain)), np.ones((len(gains.gain), rank), dtype=bool))
    cut = replace(gains, retrieved=np.minimum(gains.retrieved, rank), sample=sample, **parts)
    if gains.intents is None:
        return cut
    return replace(cut, intents=replace(gains.intents, each=[_cut(intent, rank) for intent in gains.intents.each]))


def _sample(gains: Gains, rows: Ints, inside: Bools) -> Sample | None:
    """Return the strata of documents, for topics at these rows and the ranks `inside` their rankings, rows × ranks."""
    if gains.sample is None:
        return None
    ranks = inside.shape[1]
    stratum, sampled, weight = (getattr(gains.sample, name)[rows, :ranks] for name in ("stratum", "sampled", "weight"))
    stratum, estimated = np.where(inside, stratum, -1), gains.sample.estimated[rows]
    return replace(gains.sample, stratum=stratum, sampled=sampled & inside, weight=weight * inside, estimated=estimated)


def _details(measure: Measure, gains: Gains) -> dict[str, Floats]:
    """Return the columns of a measure. Raises InputError if a user-defined measure fails."""
    topics, width = gains.gain.shape
    try:
        columns = {name: np.asarray(column, dtype=np.float64) for name, column in measure.details(gains).items()}
        shapes = {name: column.shape for name, column in columns.items()}
    except InputError:
        raise
    except Exception as error:  # as in `scoring`
        hint = f"fix it; {TRACE}"
        raise user_code_error(error, f"measure '{measure}'", "`details` failed", hint) from error
    for name, shape in shapes.items():
        if shape not in ((topics, width), (topics, width + 1)):
            problem, hint = f"`details` has '{name}' of shape {shape}", f"expected topics × ranks, ({topics}, {width})"
            raise InputError(f"measure '{measure}'", problem, hint)
    return columns


def scores_if_relevant(
    measure: Measure, gains: Gains, best: Gains, rows: Ints, ranks: Ints, *, joins: bool = False
) -> Floats:
    """Return the score of the topic at each row if the document at the rank beside it, from 0, had the top gain.

    Scores are capped at the largest possible one.

    best   the same batch with every unjudged document at the top gain
    joins  whether the document then joins the pool, which otherwise stays as it is
    """
    at_once = max(parallel.LIMITS.cells // max(gains.gain.shape[1], gains.ideal.shape[1], 1), 1)
    parts = (slice(begin, begin + at_once) for begin in range(0, len(ranks), at_once))
    scores = [scores_of(measure, _fill_relevant(gains, best, rows[some], ranks[some], joins=joins)) for some in parts]
    capped: Floats = np.minimum(np.concatenate([np.empty(0), *scores]), measure.definition.ceiling)
    return capped


def _fill_relevant(gains: Gains, best: Gains, rows: Ints, ranks: Ints, *, joins: bool = False) -> Gains:
    """Return the topics at these rows, with the document at the rank beside each as in the best case."""
    gain, top = gains.gain[rows], best.gain[rows, ranks]
    gain[np.arange(len(ranks)), ranks] = top
    filled = replace(_select_rows(gains, rows), gain=gain, intents=best.intents)
    if joins:
        filled = replace(filled, ideal=np.column_stack([top, filled.ideal]), pool=filled.pool + 1)
    pairs = zip(_intents(gains), _intents(best), strict=True)
    each = [_fill_relevant(intent, best_intent, rows, ranks) for intent, best_intent in pairs]
    return _with_intents(filled, each, rows)


def rises_of_batch(measure: Measure, gains: Gains, best: Gains, last: int | None = None) -> Floats:
    """Return the rise of the score of each topic if the document at each rank alone had the top gain; nan if judged.

    By measures with residuals from bounds it then also joins the pool. Returns topics × ranks, down to the rank `last`.
    """
    score = np.minimum(scores_of(measure, gains), measure.definition.ceiling)
    unjudged = ~gains.judged[:, :last]
    unjudged &= np.arange(unjudged.shape[1]) < gains.retrieved[:, None]
    rows, ranks = unjudged.nonzero()
    added = np.full(unjudged.shape, np.nan)
    joins = measure.residual == "from_bounds" and not measure.by_intent
    filled = scores_if_relevant(measure, gains, best, rows, ranks, joins=joins)
    added[rows, ranks] = np.maximum(filled - score[rows], 0)
    return added


def _scores_by_cutoff(measure: Measure, gains: Gains, last: int) -> Floats:
    """Return the scores of the rankings of a batch, each cut after rank 0, 1, 2, … to `last`: topics × (1 + last)."""
    topics = np.arange(len(gains.gain))
    scores = np.empty((len(topics), last + 1))
    at_once = max(parallel.LIMITS.cells // max(len(topics) * max(last, gains.ideal.shape[1]), 1), 1)
    for begin in range(0, last + 1, at_once):
        lengths = np.arange(begin, min(begin + at_once, last + 1))
        ended = _cut(gains, int(lengths[-1]))
        if len(lengths) > 1:
            ended = _cut_rows(ended, np.repeat(topics, len(lengths)), np.tile(lengths, len(topics)))
        scores[:, lengths] = scores_of(measure, ended).reshape(len(topics), -1)
    return scores


def _cut_rows(gains: Gains, rows: Ints, lengths: Ints) -> Gains:
    """Return the topics at these rows, each cut after that many ranks."""
    inside = np.arange(gains.gain.shape[1]) < lengths[:, None]
    repeated = _select_rows(gains, rows)
    ended = {name: values * inside for name, values in _rank_arrays(repeated).items()}
    retrieved, sample = np.minimum(repeated.retrieved, lengths), _sample(gains, rows, inside)
    whole = replace(repeated, retrieved=retrieved, sample=sample, **ended)
    return _with_intents(whole, [_cut_rows(intent, rows, lengths) for intent in _intents(gains)], rows)


def _select_rows(gains: Gains, rows: Ints) -> Gains:
    """Return the topics at these rows, which may repeat."""
    arrays: dict[str, Any] = gains.by_topic()
    if len(gains.gain) == 1:  # without a copy
        arrays = {name: np.broadcast_to(row, (len(rows), *row.shape[1:])) for name, row in arrays.items()}
    else:
        arrays = {name: values[rows] for name, values in arrays.items()}
    return replace(gains, **arrays)


def _intents(gains: Gains) -> Sequence[Gains]:
    return gains.intents.each if gains.intents is not None else []


def _with_intents(gains: Gains, each: Sequence[Gains], rows: Ints) -> Gains:
    """Return the gains with their batch by intent, for the topics at these rows."""
    intents = gains.intents
    if intents is None:
        return gains
    pool = intents.pool
    arrays: dict[str, Any] = {name: getattr(intents, name)[:, rows] for name in ("weight", "listed", "open")}
    return replace(gains, intents=replace(intents, each=each, pool=lambda row: pool(int(rows[row])), **arrays))


def _rank_arrays(gains: Gains) -> dict[str, Any]:
    """Return the arrays with a column for each rank: all two-dimensional ones but the ideal ranking's."""
    return {name: values for name, values in gains.by_topic().items() if values.ndim > 1 and name != "ideal"}


# Contributions of documents to the scores of runs, and possible ones: all topics of a run at once.


@dataclass(frozen=True, eq=False, repr=False)
class RankedTerms:
    """The scores of ranked runs, and their terms.

    scores     3 × runs × topics × measures, as `RankedRuns.scores`
    added      measures, runs: the contribution of each document of the run, down to the last rank, to its topic
    could_add  the same: the rise of the score if the document alone had the top gain; nan if it is judged. Empty unless
               requested
    rest       measures × runs × topics: the rest of the score
    """

    scores: Floats
    added: Sequence[Sequence[Floats]]
    could_add: Sequence[Sequence[Floats]]
    rest: Floats


def terms_by_run(
    ranked: RankedRuns,
    scorer: Scorer,
    last: int | None = None,
    could_add: bool = False,
    scored: Mapping[str, RunScores] | None = None,
) -> RankedTerms:
    """Return the terms of all documents of the runs, or of documents down to the rank `last`.

    known  the scores of the runs, if already computed

    Raises InputError if a user-defined measure fails.
    """
    for measure in scorer.measures:
        check_by_rank(measure)
    shape = (len(ranked.runs), len(ranked.topics))
    values = np.full((3, *shape, len(scorer.measures)), np.nan)
    rest = np.zeros((len(scorer.measures), *shape))
    counts = [run.counts if last is None else np.minimum(run.counts, last) for run in ranked.runs]
    added = [[np.zeros(int(count.sum())) for count in counts] for _ in scorer.measures]
    rises = [[np.full(len(of_run), np.nan) for of_run in of_runs] for of_runs in (added if could_add else [])]
    for number, run in enumerate(ranked.runs):
        begin = np.cumsum(counts[number]) - counts[number]
        for batch in ranked.batches(run, scorer.grader):
            topics = ranked.rows_of(batch)
            if scored is None:
                values[:, number, topics] = scorer.score_batch(batch).values
            gains_of = scorer.gains_cache(batch)
            for column, (measure, table) in enumerate(zip(scorer.measures, scorer.tables, strict=True)):
                gains = gains_of(table, measure)
                terms, rest[column, number, topics] = score_terms(measure, gains, last)
                present = np.arange(terms.shape[1]) < gains.retrieved[:, None]
                cells = (begin[topics][:, None] + np.arange(terms.shape[1]))[present]
                added[column][number][cells] = terms[present]
                if could_add and measure.residual != "none" and scorer.options.wants_residuals:
                    best = gains_of(table, measure, unjudged=table.top)
                    rises[column][number][cells] = rises_of_batch(measure, gains, best, last)[present]
        if scored is not None:
            scores = scored[run.name]
            scored_rows = [ranked.row_of[encode(topic)] for topic in scores.topics]
            values[:, number, scored_rows] = scores.score, scores.unjudged, scores.residual
        values[:, number, ~run.listed] = np.nan
    return RankedTerms(values, added, rises, rest)


# Changes of documents between two runs, or between two systems with seeds: ranks and contributions.


ENTERED, LEFT, ROSE, FELL, STAYED = "entered", "left", "rose", "fell", "stayed"


# The two sides of a difference: a run each, or the seeds of a system each.


def two_systems(names: Sequence[str], replicates: Replicates) -> dict[str, list[str]]:
    """Return the runs of each of two systems. Raises InputError (usage) for another number."""
    systems = replicates.systems(names)
    if len(systems) != 2:
        problem = f"{len(systems)} {plural(len(systems), 'system')} given ({shorten(list(systems))})"
        hint = "name the other one" if len(systems) < 2 else "leave the runs of others out, or put them in a system"
        raise InputError(flag.replicates, problem, f"with qrels diff compares two: {hint}", usage=True)
    return systems


@dataclass(frozen=True, eq=False, repr=False)
class Sides:
    """The two sides of a difference.

    names     their names
    runs      per side: the rows of its runs in `ranked`
    of_seeds  whether they are systems, and the runs their seeds
    """

    ranked: RankedRuns
    names: tuple[str, str]
    runs: tuple[Ints, Ints]
    of_seeds: bool

    @classmethod
    def of(cls, ranked: RankedRuns, members: Mapping[str, Sequence[str]], of_seeds: bool) -> Sides:
        """Build the sides of two systems, or of two runs: name -> its runs."""
        row = {run.name: row for row, run in enumerate(ranked.runs)}
        (first_name, first), (second_name, second) = members.items()
        rows = np.array([row[run] for run in first]), np.array([row[run] for run in second])
        return cls(ranked, (first_name, second_name), rows, of_seeds)

    @property
    def counts(self) -> tuple[int, int]:
        """The number of runs of each."""
        return len(self.runs[0]), len(self.runs[1])

    @property
    def in_words(self) -> str:
        """The numbers of runs, for a signature."""
        return seeds_in_words({name: self.runs[side].tolist() for side, name in enumerate(self.names)})

    def means(self, values: NDArray[Any]) -> Floats:
        """Return the mean of values of runs over each side, 2 × …"""
        return np.array([values[rows].mean(0) for rows in self.runs])

    @cached_property
    def shared(self) -> Ints:
        """The topics that all runs are scored on. Raises InputError if there are none."""
        first, *others = (self.ranked.runs[run] for run in (*self.runs[0], *self.runs[1]))
        listed = first.listed
        for run in others:
            listed = listed & run.listed
            if not listed.any():
                raise no_common_topics(run.place, self.ranked.topics, first.place, self.ranked.topics)
        return np.flatnonzero(listed)

    @cached_property
    def retrieved(self) -> Ints:
        """The number of runs of each side that retrieved each document, 2 × documents."""
        ranked, size = self.ranked, len(self.ranked)
        documents = ([ranked.runs[run].document for run in rows] for rows in self.runs)
        return np.array([np.bincount(np.concatenate(of_side), minlength=size) for of_side in documents])

    @cached_property
    def middle(self) -> Floats:
        """The median rank of each document on each side, 2 × documents; `NOWHERE` if most runs lack it."""
        medians = np.empty((2, len(self.ranked)))
        for side, rows in enumerate(self.runs):
            ranks = np.array([self.ranked.runs[run].ranks_of(len(self.ranked)) for run in rows], dtype=np.float64)
            ranks[ranks == NOWHERE] = np.inf
            medians[side] = np.median(ranks, axis=0) if len(rows) > 1 else ranks[0]
        medians[np.isinf(medians)] = NOWHERE
        return medians

    def contributions(self, added: Sequence[Floats]) -> Floats:
        """Return the mean contribution of each document on each side, 2 × documents: 0 where it is not retrieved."""
        means = np.zeros((2, len(self.ranked)))
        for side, rows in enumerate(self.runs):
            for run in rows.tolist():
                means[side, self.ranked.runs[run].document] += added[run]
            means[side] /= len(rows)
        return means

    def alike(self, topics: Ints, last: int) -> Bools:
        """Return for each topic whether both sides have the same rankings down to a rank, in the same shares."""
        is_alike = np.zeros(len(topics), dtype=bool)
        for i, topic in enumerate(topics.tolist()):
            rankings = ((self.ranked.runs[run].of_topic(topic)[:last].tobytes() for run in rows) for rows in self.runs)
            first, second = (
                {ranking: count * size for ranking, count in Counter(of_side).items()}
                for of_side, size in zip(rankings, self.counts[::-1], strict=True)
            )
            is_alike[i] = first == second
        return is_alike


@dataclass(frozen=True, eq=False)
class DocumentChanges:
    """Changes of documents by one measure.

    terms    2 × documents: the contribution of each to the score of its topic, on each side
    rest     2 × topics: the rest of the score
    last     the last rank that the measure looks at
    measure  its label
    """

    sides: Sides
    terms: Floats
    rest: Floats
    last: int
    measure: str

    @classmethod
    def of(cls, sides: Sides, terms: RankedTerms, column: int, last: int, measure: str) -> DocumentChanges:
        """Build for the measure of this column."""
        return cls(sides, sides.contributions(terms.added[column]), sides.means(terms.rest[column]), last, measure)

    @property
    def ranked(self) -> RankedRuns:
        return self.sides.ranked

    @cached_property
    def explains(self) -> Floats:
        """The contribution of each document to the difference; 0 if both sides differ only in their last bits."""
        explains: Floats = self.terms[1] - self.terms[0]
        explains[np.abs(explains) <= TOLERANCE * np.abs(self.terms).max(0)] = 0
        return explains

    @cached_property
    def chosen(self) -> Ints:
        """The documents whose change is reported: they differ, and a run has them among the ranks that count."""
        counts = np.zeros(len(self.ranked.topics), dtype=bool)
        counts[self.sides.shared] = True
        (old, new), shares = self.sides.middle, self.shares
        changed = (old != new) | (shares[0] != shares[1]) | (np.abs(self.explains) > TOLERANCE)
        seen = self.ranked.best_rank <= self.last
        return np.flatnonzero(seen & changed & counts[self.ranked.topic])

    @cached_property
    def shares(self) -> Floats:
        """The share of the runs of each side that retrieved each document, 2 × documents."""
        shares: Floats = self.sides.retrieved / np.array(self.sides.counts)[:, None]
        return shares

    @property
    def kinds(self) -> NDArray[Any]:
        """The change of each chosen document. It entered or left if no run of the opposite side retrieved it. It rose
        or fell with the median of its ranks or, if that is below all ranks on both sides, with the share of runs that
        retrieved it. Otherwise it stayed."""
        (old, new), (old_share, new_share) = (both[:, self.chosen] for both in (self.sides.middle, self.shares))
        nowhere = (old == new) & (old == NOWHERE)
        rose = (new < old) | (nowhere & (new_share > old_share))
        fell = (new > old) | (nowhere & (new_share < old_share))
        cases = [old_share == 0, new_share == 0, rose, fell]
        return np.select(cases, [ENTERED, LEFT, ROSE, FELL], STAYED).astype(object)

    def passed_by_unjudged(self, relevant: Bools) -> Ints:
        """Return for each chosen document the relevant one that it moved above while unjudged; −1 for none. Among more
        than one, it is the document that lost or counts most. The unjudged one stands now, and the relevant one stood,
        at a rank that counts; ranks are medians over the runs of a side."""
        ranked, chosen, (old, new), last = self.ranked, self.chosen, self.sides.middle, self.last
        above = np.full(len(chosen), -1)
        rising = np.flatnonzero(~ranked.judged[chosen] & (new[chosen] < old[chosen]) & (new[chosen] <= last))
        candidates = np.flatnonzero(relevant & (old <= last))
        candidates = candidates[np.lexsort((old[candidates], self.explains[candidates], ranked.topic[candidates]))]
        begin = np.searchsorted(ranked.topic[candidates], np.arange(len(ranked.topics) + 1))
        for position in rising.tolist():
            document = chosen[position]
            topic = ranked.topic[document]
            others = candidates[begin[topic] : begin[topic + 1]]
            passed = others[(old[others] < old[document]) & (new[others] > new[document])]
            if len(passed):
                above[position] = passed[0]
        return above
