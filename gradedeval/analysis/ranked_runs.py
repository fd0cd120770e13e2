"""Several runs by document: a document of a topic has one number in all of them, and what became of it is a lookup."""

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
from gradedeval.kernel.measures.diversity import Intents
from gradedeval.kernel.measures.gains import Gains, scores_of
from gradedeval.kernel.options import OPTIONS, Options
from gradedeval.kernel.options.metadata import seeds_in_words
from gradedeval.kernel.parallel import Workers
from gradedeval.kernel.rankings.batch import Batch, Codes, Documents, GradeCounts, coalesce
from gradedeval.kernel.rankings.docnos import EVERY_TOPIC, Docnos, DocumentNumbers
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

    place     what messages call it
    document  the numbers of its documents
    counts    topics: how many of them
    first     the rank, from 0, at which the documents tied with each one begin; None where ties were not asked for
    listed    topics: whether it counts for this run
    missing   how many topics it lacks
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
        """Of each of its documents, from 1."""
        return ranks(self.counts) + 1

    @cached_property
    def begin(self) -> Ints:
        """topics: where their documents begin."""
        begin: Ints = np.cumsum(self.counts) - self.counts
        return begin

    def of_topic(self, topic: int) -> Ints:
        """The documents of one topic, the best first."""
        return self.document[self.begin[topic] : self.begin[topic] + self.counts[topic]]

    def ranks_of(self, documents: int) -> Ints:
        """document: its rank, `NOWHERE` where this run did not retrieve it."""
        found = np.full(documents, NOWHERE, dtype=np.int64)
        found[self.document] = self.rank
        return found


class BatchRows(NamedTuple):
    """Rankings of several runs in one batch, and of each the number of its run and of its topic."""

    batch: Batch
    run: Ints
    topic: Ints


@dataclass(frozen=True, eq=False, repr=False)
class RankedRuns:
    """Runs joined with one qrels.

    topics  the ids: in the order of the qrels, those that are not judged last
    code    documents: the code of its grade
    topic   documents: its topic's row
    numbers what their docnos are
    notes   what is said of topics and lines left out
    """

    runs: list[RankedRun]
    topics: list[bytes]
    code: Codes
    topic: Ints
    grader: Grader
    numbers: DocumentNumbers
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self.code)

    def docnos(self, documents: Ints) -> Any:
        """The docnos of documents, as text."""
        docnos = np.empty(len(documents), dtype=object)
        docnos[:] = list(map(decode, self.numbers.names(documents)))
        return docnos

    @property
    def names(self) -> list[str]:
        """The topics as text."""
        return [decode(topic) for topic in self.topics]

    @cached_property
    def judged(self) -> Bools:
        """documents: whether it is judged."""
        judged: Bools = self.grader.judged[self.code]
        return judged

    @cached_property
    def pool(self) -> GradeCounts:
        """How many judged documents of each topic have each label."""
        return self.grader.qrels.counts_for(self.topics)

    @cached_property
    def retrieved_by(self) -> Ints:
        """documents: how many runs retrieved it."""
        by: Ints = np.bincount(np.concatenate([run.document for run in self.runs]), minlength=len(self))
        return by

    @cached_property
    def best_rank(self) -> Ints:
        """documents: the best rank in any run."""
        best: Ints = np.full(len(self), NOWHERE, dtype=np.int64)
        for run in self.runs:
            np.minimum.at(best, run.document, run.rank)
        return best

    def grades(self, documents: Ints) -> Floats:
        """The grades of documents, nan where they have none."""
        labels = np.append(self.grader.qrels.labels, np.nan)
        grades: Floats = labels[np.minimum(self.code[documents], len(labels) - 1)]
        return grades

    def batches(
        self, run: RankedRun, grader: Grader, code: Codes | None = None, pool: GradeCounts | None = None
    ) -> Iterator[Batch]:
        """The batches of a run, as measures take them; with other grades of documents and another pool where given."""
        codes = (self.code if code is None else code)[run.document]
        row = {topic: number for number, topic in enumerate(self.topics)}
        counted = self.pool if pool is None else pool
        for batch in grader.batches(
            Documents(self.topics, run.counts, codes, None, None, lambda rows: Docnos.of([b""] * len(rows)))
        ):
            yield replace(batch, pool=counted.select(np.array([row[topic] for topic in batch.topics], dtype=np.int64)))

    def rows(self, grader: Grader) -> list[BatchRows]:
        """All that is listed of all runs, in few batches."""
        row, found = {topic: number for number, topic in enumerate(self.topics)}, list[BatchRows]()
        batches, owners = list[Batch](), list[int]()
        for number, run in enumerate(self.runs):
            for batch in self.batches(run, grader):
                batches.append(batch)
                owners += [number] * len(batch.topics)
        begin, listed = 0, np.array([run.listed for run in self.runs])
        for batch in coalesce(batches, grader.limits.cells, grader.least_width):
            owner = np.array(owners[begin : begin + len(batch.topics)], dtype=np.int64)
            topic = np.array([row[name] for name in batch.topics], dtype=np.int64)
            begin += len(topic)
            kept = np.flatnonzero(listed[owner, topic])
            found.append(BatchRows(batch.select(kept), owner[kept], topic[kept]))
        return found

    def of_topics(self, topics: Ints) -> RankedRuns:
        """The same documents, in some of the topics alone. Documents keep their numbers."""
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
        """3 × runs × topics × measures: score, residual by the unjudged and residual in all, as `Scorer.score_batch`;
        nan where a topic does not count for a run."""
        scorer = scorer if pool is None else without_ideals(scorer)
        values = np.full((3, len(self.runs), len(self.topics), len(scorer.measures)), np.nan)
        row = {topic: number for number, topic in enumerate(self.topics)}
        for number, run in enumerate(self.runs):
            for batch in self.batches(run, scorer.grader, code, pool):
                values[:, number, [row[topic] for topic in batch.topics]] = scorer.score_batch(batch).values
            values[:, number, ~run.listed] = np.nan
        return values


def rank_runs(
    runs: Mapping[str, Any], grader: Grader, workers: Workers | None = None, scorer: Scorer | None = None
) -> RankedRuns:
    """Read runs, and number their documents. Raises InputError where one cannot be read, or has no topic of the
    qrels.

    scorer  whose scores are shown: what may mislead in them is among the notes
    """
    if grader.options.ties == "average":
        raise OPTIONS["ties"].error("an average over orders has no ranks", "choose an order")
    ranking = Ranking(runs, grader, workers or Workers.current())
    return ranking.of(list(runs), scorer)


class Ranking:
    """Runs that are read once, with all ranks: `graded`, which can be scored, and ranked beside each other."""

    def __init__(self, runs: Mapping[str, Any], grader: Grader, workers: Workers) -> None:
        """Raises InputError as `rank_runs`."""
        self.grader = replace(grader, keep_docnos_for=EVERY_TOPIC, last_rank=None, types=False)
        self.graded: dict[str, GradedRun[Batch]] = {}
        self._numbers = DocumentNumbers()
        self._columns: dict[str, _Columns] = {}
        for name, source in workers.progress(iter(runs.items()), len(runs)):
            run = grade_run(source, self.grader, workers.silent(), name)
            self._columns[name] = _number_documents(run, self._numbers, self.grader.keep_ties)
            self.graded[name] = run.with_batches([replace(batch, docnos=None) for batch in run.batches])

    def of(self, names: Sequence[str], scorer: Scorer | None = None) -> RankedRuns:
        """The runs in an order.

        scorer  as in `rank_runs`
        """
        grader, runs = self.grader, [self.graded[name] for name in names]
        known = dict.fromkeys(topic for run in runs for topic in run.topics)
        topics = [topic for topic in grader.qrels.topics if topic in known]
        topics += [topic for topic in known if topic not in grader.qrels.row_of]
        place = np.empty(len(topics), dtype=np.int64)
        place[[self._numbers.topic_numbers[topic] for topic in topics]] = np.arange(len(topics))
        code, topic_of = np.zeros((2, len(self._numbers)), dtype=np.int64)
        ranked = []
        for name, run in zip(names, runs, strict=True):
            columns = self._columns[name]
            own = columns.in_order(place, len(topics))
            code[own.document], topic_of[own.document] = own.code, np.repeat(np.arange(len(topics)), own.counts)
            listed = np.zeros(len(topics), dtype=bool)
            listed[place[columns.topic]] = True
            ranked.append(RankedRun(name, run.place, own.document, own.counts, own.first, listed, run.missing))
        said = [notes_of_run(run, scorer) if scorer else limit_caveats(run.notes) for run in runs]
        notes = merge_run_notes(dict.fromkeys(chain.from_iterable(said)), len(runs))
        return RankedRuns(ranked, topics, code, topic_of, grader, self._numbers, notes)


@dataclass(frozen=True, eq=False, repr=False)
class _Columns:
    """The topics of a run by number, how many documents each has, and topic after topic, in rank order, the numbers of
    the documents, the codes of their grades, and where their ties begin; None where ties were not asked for."""

    topic: Ints
    counts: Ints
    document: Ints
    code: Codes
    first: Ints | None

    def in_order(self, place: Ints, topics: int) -> _Columns:
        """The same with all topics, each in its place."""
        row = place[self.topic]
        counts = np.zeros(topics, dtype=np.int64)
        counts[row] = self.counts
        if (row[1:] > row[:-1]).all():
            return replace(self, topic=np.arange(topics), counts=counts)
        at = positions_of(self.counts, np.argsort(row))
        first = None if self.first is None else self.first[at]
        return _Columns(np.arange(topics), counts, self.document[at], self.code[at], first)


def _number_documents(run: GradedRun[Batch], numbers: DocumentNumbers, keep_ties: bool) -> _Columns:
    """The documents of a run with their numbers; topics that are met for the first time get the next ones."""
    row_of = {topic: row for row, topic in enumerate(topic for batch in run.batches for topic in batch.topics)}
    rows = np.array([row_of[topic] for topic in run.topics], dtype=np.int64)
    retrieved = np.concatenate([batch.retrieved for batch in run.batches])
    at, counts = positions_of(retrieved, rows), retrieved[rows]
    docnos = Docnos.joined([batch.docnos for batch in run.batches if batch.docnos is not None])
    of_each = numbers.topics(run.topics, counts)
    topic = np.array([numbers.topic_numbers[topic] for topic in run.topics], dtype=np.int64)
    there = [np.arange(batch.codes.shape[1]) < batch.retrieved[:, None] for batch in run.batches]
    code = np.concatenate([batch.codes[inside] for batch, inside in zip(run.batches, there, strict=True)])[at]
    first = None
    if keep_ties:
        begins = [
            ranks(batch.retrieved) if batch.first is None else batch.first[inside]
            for batch, inside in zip(run.batches, there, strict=True)
        ]
        first = np.concatenate(begins)[at]
    return _Columns(topic, counts, numbers.numbers(of_each, docnos[at]), code, first)


def scored_and_ranked(
    runs: Mapping[str, Any], qrels: Any, measures: Sequence[Measure], options: Options, workers: Workers
) -> tuple[Scores, Ranking]:
    """The scores of runs and their rankings, each file read once. Raises InputError as `evaluate_runs` and `rank_runs`
    do; no measure looks at the types of documents."""
    scorer = scorer_of(runs, qrels, measures, options, workers)
    ranking = Ranking(runs, scorer.grader, workers)
    scores = evaluate_runs(ranking.graded, scorer.qrels, measures, options)
    return replace(scores, sources=dict(runs) if scores.sources else {}), ranking


def without_ideals(scorer: Scorer) -> Scorer:
    """The scorer without the ideal rankings that it knows: those of another pool differ."""
    other = copy(scorer)
    other.grader = replace(scorer.grader, ideals={})
    return other


def name_two_runs(baseline: Any, run: Any) -> dict[str, Any]:
    """Two runs by different names."""
    named = [named_runs(one) for one in (baseline, run)]
    if all(len(names) == 1 and isinstance(one, str) for names, one in zip(named, (baseline, run), strict=True)):
        return named_runs([baseline, run]) if baseline != run else {f"{baseline} (A)": baseline, f"{run} (B)": run}
    (first, source), (second, other) = (next(iter(names.items())) for names in named)
    return {first: source, second: other} if first != second else {f"{first} (A)": source, f"{second} (B)": other}


def check_maskable(scorer: Scorer, options: Options, what: str) -> None:
    """Raise InputError (usage) where scores with other judgments cannot be had from grade codes alone."""
    if options.subtopics or scorer.by_intent:
        raise InputError(flag.subtopics, f"{what} takes no judgments by intent", "leave it out", usage=True)
    if scorer.grader.types:
        raise InputError(flag.costs, f"{what} does not read the types of documents", "leave it out", usage=True)


# What each document adds to the score of one topic, and what it could still add: for any measure at all.


@dataclass(frozen=True, eq=False)
class ScoreParts:
    """The parts of a score: that of an empty ranking, one term per rank, and what lies beyond the end of the run.

    details  the columns of the measure: name -> one value per rank; where there is one more, it is that of all ranks
             beyond the end
    """

    before: float
    terms: Floats
    beyond: float
    details: dict[str, Floats]


def check_by_rank(measure: Measure) -> None:
    """Raise InputError (usage) for a measure whose ranks are not those of the run."""
    if measure.judged_only:
        what = "uses a condensed list, whose ranks are not those of the run"
        raise InputError(f"'{measure}'", what, f"leave out judged_only, and give {flag.judged_only:True}", usage=True)


def trim_to_retrieved(gains: Gains) -> Gains:
    """The gains of one topic, with a column for each document retrieved and no more."""
    return _cut(gains, int(gains.retrieved[0]))


def score_parts(measure: Measure, gains: Gains) -> ScoreParts:
    """The parts that sum to the score of one topic. Raises InputError where a user-defined measure fails."""
    if measure.prior is not None and gains.intents is not None:
        return _intent_mean_parts(replace(measure, prior=None), gains.intents)
    width = gains.gain.shape[1]
    shown = {name: column[0] for name, column in _details(measure, gains).items()}
    if "contribution" in shown:
        terms = np.append(shown.pop("contribution"), 0.0)
        return ScoreParts(0.0, terms[:width], float(terms[width]), shown)
    (scores,) = _scores_by_cutoff(measure, gains, width)
    with np.errstate(invalid="ignore"):
        steps = np.diff(scores)
    return ScoreParts(float(scores[0]), np.where(np.isnan(steps), 0.0, steps), 0.0, shown)


def score_terms(measure: Measure, gains: Gains, last: int | None) -> tuple[Floats, Floats]:
    """The parts of the scores of all topics of a batch: topics × ranks, one term for each document retrieved, 0 below
    them; and topics: that of an empty ranking and of what lies beyond the end. Raises InputError as `parts_of`.

    last  down to this rank alone: the documents below it are part of what else there is
    """
    intents, whole = gains.intents, gains.gain.shape[1]
    width = whole if last is None else min(last, whole)
    if measure.prior is not None and intents is not None:
        shares = intents.weight / intents.weight.sum(0)
        each = [score_terms(replace(measure, prior=None), intent, last) for intent in intents.each]
        pairs = list(zip(shares, each, strict=True))
        # An intent that nobody has may have no score.
        means = (np.where(share[:, None] > 0, share[:, None] * term, 0) for share, (term, _) in pairs)
        others = (np.where(share > 0, share * rest, 0) for share, (_, rest) in pairs)
        return np.sum(list(means), axis=0), np.sum(list(others), axis=0)
    terms, rest = _details(measure, gains).get("contribution"), np.zeros(len(gains.gain))
    if terms is not None:
        rest, terms = terms[:, width:].sum(1), terms[:, :width]
    else:
        scores = _scores_by_cutoff(measure, gains, width)
        with np.errstate(invalid="ignore"):
            steps = np.diff(scores)
        rest, terms = scores[:, 0], np.where(np.isnan(steps), 0.0, steps)
        if width < whole:
            rest = rest + scores_of(measure, gains) - scores[:, -1]
    retrieved = np.arange(width) < gains.retrieved[:, None]
    return np.where(retrieved, terms, 0.0), rest + np.where(retrieved, 0.0, terms).sum(1)


def _cut(gains: Gains, rank: int) -> Gains:
    """The rankings of a batch, each ended after a rank."""
    parts: dict[str, Any] = {name: values[:, :rank] for name, values in _rank_arrays(gains).items()}
    sample = _sample(gains, np.arange(len(gains.gain)), np.ones((len(gains.gain), rank), dtype=bool))
    cut = replace(gains, retrieved=np.minimum(gains.retrieved, rank), sample=sample, **parts)
    return (
        cut
        if gains.intents is None
        else replace(cut, intents=replace(gains.intents, each=[_cut(intent, rank) for intent in gains.intents.each]))
    )


def _sample(gains: Gains, rows: Ints, inside: Bools) -> Sample | None:
    """The strata of the documents of a batch, of the topics at these rows, at the ranks that are kept.

    inside  rows × ranks: whether a rank is within its ranking
    """
    if gains.sample is None:
        return None
    ranks = inside.shape[1]
    stratum, sampled, weight = (getattr(gains.sample, name)[rows, :ranks] for name in ("stratum", "sampled", "weight"))
    return replace(
        gains.sample,
        stratum=np.where(inside, stratum, -1),
        sampled=sampled & inside,
        weight=weight * inside,
        estimated=gains.sample.estimated[rows],
    )


def _details(measure: Measure, gains: Gains) -> dict[str, Floats]:
    """The columns of a measure. Raises InputError where a user-defined measure fails."""
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
            what, hint = f"`details` has '{name}' of shape {shape}", f"expected topics × ranks, ({topics}, {width})"
            raise InputError(f"measure '{measure}'", what, hint)
    return columns


def _intent_mean_parts(measure: Measure, intents: Intents) -> ScoreParts:
    """The parts of a mean over intents: the means of the parts."""
    weight = intents.weight[:, 0]
    counted = [(share, gains) for share, gains in zip(weight, intents.each, strict=True) if share > 0]
    each = [(share / weight.sum(), score_parts(measure, gains)) for share, gains in counted]
    return ScoreParts(
        float(sum(share * parts.before for share, parts in each)),
        np.sum([np.zeros(intents.each[0].gain.shape[1]), *(share * parts.terms for share, parts in each)], axis=0),
        float(sum(share * parts.beyond for share, parts in each)),
        {},
    )


def topic_rises(measure: Measure, gains: Gains, best: Gains) -> Floats:
    """ranks: how much the score of one topic would rise if the document there alone had the top gain; nan where it is
    judged. By measures whose residual comes from the bounds it is one more document of the pool then."""
    added = np.full(gains.gain.shape[1], np.nan)
    ranks, joins = np.flatnonzero(~gains.judged[0]), _enlarges_pool(measure)
    score = np.minimum(scores_of(measure, gains), measure.definition.ceiling)
    added[ranks] = np.maximum(
        scores_if_relevant(measure, gains, best, np.zeros_like(ranks), ranks, joins=joins) - score, 0
    )
    return added


def _enlarges_pool(measure: Measure) -> bool:
    return measure.residual == "from_bounds" and not measure.by_intent


def scores_if_relevant(
    measure: Measure, gains: Gains, best: Gains, rows: Ints, ranks: Ints, *, joins: bool = False
) -> Floats:
    """The score of the topic at each of the rows if the document at the rank beside it, from 0, had the top gain; no
    more than the largest score there is.

    best   the same batch with every unjudged document at the top gain
    joins  whether the document is one more of the pool then, which otherwise stays as it is
    """
    places = _chunks(np.arange(len(ranks)), gains)
    scores = [scores_of(measure, _fill_relevant(gains, best, rows[some], ranks[some], joins=joins)) for some in places]
    found: Floats = np.minimum(np.concatenate([np.empty(0), *scores]), measure.definition.ceiling)
    return found


def _fill_relevant(gains: Gains, best: Gains, rows: Ints, ranks: Ints, *, joins: bool = False) -> Gains:
    """The topics at these rows, with the document at the rank beside each as in the best case."""
    gain, top = gains.gain[rows], best.gain[rows, ranks]
    gain[np.arange(len(ranks)), ranks] = top
    filled = replace(_select_rows(gains, rows), gain=gain, intents=best.intents)
    if joins:
        filled = replace(filled, ideal=np.column_stack([top, filled.ideal]), pool=filled.pool + 1)
    pairs = zip(_intents(gains), _intents(best), strict=True)
    return _with_intents(filled, [_fill_relevant(intent, other, rows, ranks) for intent, other in pairs], rows)


def rises_of_batch(measure: Measure, gains: Gains, best: Gains, last: int | None) -> Floats:
    """topics × ranks: as `topic_rises`, for all topics of a batch, down to a rank."""
    score = np.minimum(scores_of(measure, gains), measure.definition.ceiling)
    unjudged = ~gains.judged[:, :last]
    unjudged &= np.arange(unjudged.shape[1]) < gains.retrieved[:, None]
    rows, ranks = unjudged.nonzero()
    added = np.full(unjudged.shape, np.nan)
    filled = scores_if_relevant(measure, gains, best, rows, ranks, joins=_enlarges_pool(measure))
    added[rows, ranks] = np.maximum(filled - score[rows], 0)
    return added


def _scores_by_cutoff(measure: Measure, gains: Gains, last: int) -> Floats:
    """topics × (1 + last): the scores of the rankings of a batch, each ended after rank 0, 1, 2, … to the last."""
    topics = np.arange(len(gains.gain))
    found = np.empty((len(topics), last + 1))
    at_once = max(parallel.LIMITS.cells // max(len(topics) * max(last, gains.ideal.shape[1]), 1), 1)
    for begin in range(0, last + 1, at_once):
        lengths = np.arange(begin, min(begin + at_once, last + 1))
        ended = _cut(gains, int(lengths[-1]))
        if len(lengths) > 1:
            ended = _cut_rows(ended, np.repeat(topics, len(lengths)), np.tile(lengths, len(topics)))
        found[:, lengths] = scores_of(measure, ended).reshape(len(topics), -1)
    return found


def _cut_rows(gains: Gains, rows: Ints, lengths: Ints) -> Gains:
    """The topics at these rows, each ended after that many ranks."""
    inside = np.arange(gains.gain.shape[1]) < lengths[:, None]
    several = _select_rows(gains, rows)
    ended = {name: values * inside for name, values in _rank_arrays(several).items()}
    retrieved, sample = np.minimum(several.retrieved, lengths), _sample(gains, rows, inside)
    whole = replace(several, retrieved=retrieved, sample=sample, **ended)
    return _with_intents(whole, [_cut_rows(intent, rows, lengths) for intent in _intents(gains)], rows)


def _select_rows(gains: Gains, rows: Ints) -> Gains:
    """The topics at these rows, of which one may come several times."""
    arrays: dict[str, Any] = gains.by_topic()
    if len(gains.gain) == 1:  # without a copy
        arrays = {name: np.broadcast_to(row, (len(rows), *row.shape[1:])) for name, row in arrays.items()}
    else:
        arrays = {name: values[rows] for name, values in arrays.items()}
    return replace(gains, **arrays)


def _intents(gains: Gains) -> Sequence[Gains]:
    return gains.intents.each if gains.intents is not None else []


def _with_intents(gains: Gains, each: Sequence[Gains], rows: Ints) -> Gains:
    """The gains with their batch by intent, of the topics at these rows."""
    intents = gains.intents
    if intents is None:
        return gains
    pool = intents.pool
    arrays: dict[str, Any] = {name: getattr(intents, name)[:, rows] for name in ("weight", "listed", "open")}
    return replace(gains, intents=replace(intents, each=each, pool=lambda row: pool(int(rows[row])), **arrays))


def _rank_arrays(gains: Gains) -> dict[str, Any]:
    """The arrays with a column for each rank: all two-dimensional ones but the ideal ranking's."""
    return {name: values for name, values in gains.by_topic().items() if values.ndim > 1 and name != "ideal"}


def _chunks(numbers: Ints, gains: Gains) -> Iterator[Ints]:
    """The numbers in chunks of as many as a batch may have topics of this width."""
    at_once = max(parallel.LIMITS.cells // max(gains.gain.shape[1], gains.ideal.shape[1], 1), 1)
    for begin in range(0, len(numbers), at_once):
        yield numbers[begin : begin + at_once]


# What each document of several runs adds to their scores, and what it could add: all topics of a run at once.


@dataclass(frozen=True, eq=False, repr=False)
class RankedTerms:
    """The scores of ranked runs, and what they are made of.

    scores     3 × runs × topics × measures, as `RankedRuns.scores`
    added      measures, runs: what each document of the run, down to the last rank, adds to the score of its topic
    could_add  the same: how much the score would rise if the document alone had the top gain; nan where it is judged.
               Empty unless it was asked for
    rest       measures × runs × topics: what else the score is made of
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
    known: Mapping[str, RunScores] | None = None,
) -> RankedTerms:
    """The terms of all documents of the runs, or of those down to the rank `last`. Raises InputError where a
    user-defined measure fails.

    known  the scores of the runs, where they have been scored
    """
    for measure in scorer.measures:
        check_by_rank(measure)
    row = {topic: number for number, topic in enumerate(ranked.topics)}
    shape = (len(ranked.runs), len(ranked.topics))
    values = np.full((3, *shape, len(scorer.measures)), np.nan)
    rest = np.zeros((len(scorer.measures), *shape))
    counts = [run.counts if last is None else np.minimum(run.counts, last) for run in ranked.runs]
    added = [[np.zeros(int(count.sum())) for count in counts] for _ in scorer.measures]
    rises = [[np.full(len(one), np.nan) for one in of_runs] for of_runs in (added if could_add else [])]
    for number, run in enumerate(ranked.runs):
        begin = np.cumsum(counts[number]) - counts[number]
        for batch in ranked.batches(run, scorer.grader):
            topics = [row[topic] for topic in batch.topics]
            if known is None:
                values[:, number, topics] = scorer.score_batch(batch).values
            gains_of = scorer.gains_cache(batch)
            for column, (measure, table) in enumerate(zip(scorer.measures, scorer.tables, strict=True)):
                gains = gains_of(table, measure)
                terms, rest[column, number, topics] = score_terms(measure, gains, last)
                there = np.arange(terms.shape[1]) < gains.retrieved[:, None]
                which = (begin[topics][:, None] + np.arange(terms.shape[1]))[there]
                added[column][number][which] = terms[there]
                if could_add and measure.residual != "none" and scorer.options.wants_residuals:
                    best = gains_of(table, measure, unjudged=table.top)
                    rises[column][number][which] = rises_of_batch(measure, gains, best, last)[there]
        if known is not None:
            scores = known[run.name]
            own = [row[encode(topic)] for topic in scores.topics]
            values[:, number, own] = scores.score, scores.unjudged, scores.residual
        values[:, number, ~run.listed] = np.nan
    return RankedTerms(values, added, rises, rest)


# What became of the documents between two runs, or between two systems of several seeds: ranks and contributions.


ENTERED, LEFT, ROSE, FELL, STAYED = "entered", "left", "rose", "fell", "stayed"


# The two sides of a difference: a run each, or the seeds of a system each.


def two_systems(names: Sequence[str], replicates: Replicates) -> dict[str, list[str]]:
    """The runs of each of two systems. Raises InputError (usage) for another number, and as `Replicates.systems`."""
    systems = replicates.systems(names)
    if len(systems) != 2:
        what = f"{len(systems)} {plural(len(systems), 'system')} given ({shorten(list(systems))})"
        hint = "name the other one" if len(systems) < 2 else "leave the runs of others out, or put them in a system"
        raise InputError(flag.replicates, what, f"with qrels diff compares two: {hint}", usage=True)
    return systems


@dataclass(frozen=True, eq=False, repr=False)
class Sides:
    """The two sides of a difference.

    names     what they are called
    runs      of each: the rows of its runs among those of `ranked`
    of_seeds  whether they are systems, and the runs their seeds
    """

    ranked: RankedRuns
    names: tuple[str, str]
    runs: tuple[Ints, Ints]
    of_seeds: bool

    @classmethod
    def of(cls, ranked: RankedRuns, members: Mapping[str, Sequence[str]], of_seeds: bool) -> Sides:
        """Those of two systems, or of two runs: name -> its runs."""
        row = {run.name: row for row, run in enumerate(ranked.runs)}
        (one, first), (other, second) = members.items()
        rows = np.array([row[run] for run in first]), np.array([row[run] for run in second])
        return cls(ranked, (one, other), rows, of_seeds)

    @property
    def counts(self) -> tuple[int, int]:
        """How many runs each has."""
        return len(self.runs[0]), len(self.runs[1])

    @property
    def in_words(self) -> str:
        """How many runs they have, for a signature."""
        return seeds_in_words({name: self.runs[side].tolist() for side, name in enumerate(self.names)})

    def means(self, values: NDArray[Any]) -> Floats:
        """2 × …: the mean over the runs of each.

        values  runs × …
        """
        return np.array([values[own].mean(0) for own in self.runs])

    @cached_property
    def shared(self) -> Ints:
        """The topics that all runs are scored on. Raises InputError where there are none."""
        first, *others = (self.ranked.runs[run] for run in (*self.runs[0], *self.runs[1]))
        listed = first.listed
        for run in others:
            listed = listed & run.listed
            if not listed.any():
                raise no_common_topics(run.place, self.ranked.topics, first.place, self.ranked.topics)
        return np.flatnonzero(listed)

    @cached_property
    def retrieved(self) -> Ints:
        """2 × documents: how many of its runs retrieved it."""
        ranked, size = self.ranked, len(self.ranked)
        return np.array(
            [
                np.bincount(np.concatenate([ranked.runs[run].document for run in own]), minlength=size)
                for own in self.runs
            ]
        )

    @cached_property
    def middle(self) -> Floats:
        """2 × documents: the median rank over its runs; a run that did not retrieve it counts as below all, and
        `NOWHERE` is where the median is there."""
        found = np.empty((2, len(self.ranked)))
        for side, own in enumerate(self.runs):
            ranks = np.array([self.ranked.runs[run].ranks_of(len(self.ranked)) for run in own], dtype=np.float64)
            ranks[ranks == NOWHERE] = np.inf
            found[side] = np.median(ranks, axis=0) if len(own) > 1 else ranks[0]
        found[np.isinf(found)] = NOWHERE
        return found

    def contributions(self, added: Sequence[Floats]) -> Floats:
        """2 × documents: the mean over its runs of what each document adds, nothing where a run did not retrieve it.

        added  runs: what each of their documents adds
        """
        found = np.zeros((2, len(self.ranked)))
        for side, own in enumerate(self.runs):
            for run in own.tolist():
                found[side, self.ranked.runs[run].document] += added[run]
            found[side] /= len(own)
        return found

    def alike(self, topics: Ints, last: int) -> Bools:
        """topics: whether both sides are the same rankings down to a rank, each as often as a share of all."""
        found = np.zeros(len(topics), dtype=bool)
        for at, topic in enumerate(topics.tolist()):
            one, other = (
                Counter(self.ranked.runs[run].of_topic(topic)[:last].tobytes() for run in own) for own in self.runs
            )
            sizes = self.counts
            found[at] = {ranking: count * sizes[1] for ranking, count in one.items()} == {
                ranking: count * sizes[0] for ranking, count in other.items()
            }
        return found


# What became of documents by one measure.


@dataclass(frozen=True, eq=False)
class DocumentChanges:
    """What became of documents by one measure.

    terms    2 × documents: what each adds to the score of its topic, on each side
    rest     2 × topics: what else does
    last     the last rank that the measure looks at
    measure  what the measure is called
    """

    sides: Sides
    terms: Floats
    rest: Floats
    last: int
    measure: str

    @classmethod
    def of(cls, sides: Sides, terms: RankedTerms, column: int, last: int, measure: str) -> DocumentChanges:
        """What became of them by the measure of this column."""
        return cls(sides, sides.contributions(terms.added[column]), sides.means(terms.rest[column]), last, measure)

    @property
    def ranked(self) -> RankedRuns:
        return self.sides.ranked

    @property
    def shared(self) -> Ints:
        """The topics that all runs are scored on."""
        return self.sides.shared

    @cached_property
    def explains(self) -> Floats:
        """documents: what each adds to the difference; 0 where both sides are the same but for the last bits of their
        means."""
        explains: Floats = self.terms[1] - self.terms[0]
        explains[np.abs(explains) <= TOLERANCE * np.abs(self.terms).max(0)] = 0
        return explains

    @cached_property
    def chosen(self) -> Ints:
        """The documents whose change is told: of those that a run has among the ranks that count the ones that count
        otherwise, or whose ranks or runs are others."""
        counts = np.zeros(len(self.ranked.topics), dtype=bool)
        counts[self.shared] = True
        (old, new), shares = self.sides.middle, self.shares
        changed = (old != new) | (shares[0] != shares[1]) | (np.abs(self.explains) > TOLERANCE)
        seen = self.ranked.best_rank <= self.last
        return np.flatnonzero(seen & changed & counts[self.ranked.topic])

    @cached_property
    def shares(self) -> Floats:
        """2 × documents: the share of the runs that retrieved it."""
        shares: Floats = self.sides.retrieved / np.array(self.sides.counts)[:, None]
        return shares

    @property
    def kinds(self) -> NDArray[Any]:
        """Of the documents chosen: what became of each. It entered or left where no run of the other side retrieved it;
        it rose or fell as the median of its ranks did, and where that is below all ranks on both sides as the share of
        runs that retrieved it did; otherwise it stayed."""
        (old, new), (before, after) = (both[:, self.chosen] for both in (self.sides.middle, self.shares))
        nowhere = (old == new) & (old == NOWHERE)
        rose = (new < old) | (nowhere & (after > before))
        fell = (new > old) | (nowhere & (after < before))
        return np.select([before == 0, after == 0, rose, fell], [ENTERED, LEFT, ROSE, FELL], STAYED).astype(object)

    def passed_by_unjudged(self, relevant: Bools) -> Ints:
        """Of the documents chosen: the relevant document that an unjudged one moved above, −1 where there is none; of
        several the one that lost or counts most. The unjudged one stands now, and the other stood, at a rank that
        counts; ranks are medians where there are several.
        """
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
