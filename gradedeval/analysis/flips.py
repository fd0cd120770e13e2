"""How many unjudged documents of the run behind would have to be relevant for the order of two runs to turn round."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradedeval.analysis.score_matrix import Paired
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints
from gradedeval.errors import InputError
from gradedeval.measures.applied import scores_of
from gradedeval.measures.definition import Measure
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import Batch
from gradedeval.scoring.batch_gains import GainsCache
from gradedeval.scoring.run_parts import grade_run
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.scores import Scores
from gradedeval.scoring.summaries import tested
from gradedeval.trec.lines import decode
from gradedeval.trec.source import Source, is_file

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("flip", "unjudged", "flip_share", "flip_rank")
EXACT = 50
"""Down to so many unjudged documents of a topic each number is tried, below that every fifth part more."""


class Flip(NamedTuple):
    """What turns an order round: so many `documents`, the first unjudged ones of some topics down to some `rank`, of
    all `unjudged` ones that the measure looks at; nan where not even all of them do."""

    documents: float
    unjudged: int
    rank: float


@dataclass(frozen=True, eq=False)
class Ladder:
    """What judging would do to the scores of a run by one measure.

    row     topic -> its row
    counts  topics × steps: so many unjudged documents, the first ones of the ranking, are taken as relevant; 0 at first
    value   topics × steps: the score then, on the scale on which means are tested
    ranks   topics × steps: the rank of the last of them
    """

    row: Mapping[str, int]
    counts: Ints
    value: Floats
    ranks: Ints

    @cached_property
    def edges(self) -> Ints:
        """edges × (topic, first step, last step): the upper hull of each topic, the largest rise by document first."""
        edges: list[tuple[float, int, int, int, int]] = []
        for topic, (documents, value) in enumerate(zip(self.counts, self.value, strict=True)):
            begin, last, before = 0, int(np.searchsorted(documents, documents[-1])), np.inf
            while begin < last:
                steps = slice(begin + 1, last + 1)
                slopes = (value[steps] - value[begin]) / (documents[steps] - documents[begin])
                end = begin + 1 + int(slopes.argmax())
                before = min(before, float(slopes[end - begin - 1]))  # but for its last bits it is no larger
                if before <= 0:
                    break
                edges.append((-before, int(documents[end] - documents[begin]), topic, begin, end))
                begin = end
        return np.array([edge[2:] for edge in sorted(edges)], dtype=np.int64).reshape(-1, 3)

    def flip(self, topics: list[str], needed: float) -> Flip:
        """The fewest documents found that raise the sum over topics by more than is needed.

        Where documents add to a score independently, and the less the lower they stand, no fewer can do: the largest
        rises are taken first. Elsewhere it is a number that suffices: of each topic the steps that raise its score most
        by document.
        """
        counted = np.zeros(len(self.counts), dtype=bool)
        counted[[self.row[topic] for topic in topics]] = True
        unjudged = int(self.counts[counted, -1].sum())
        topic, begin, end = self.edges[counted[self.edges[:, 0]]].T
        rises = np.cumsum(self.value[topic, end] - self.value[topic, begin])
        enough = np.flatnonzero(rises > needed)
        if not len(enough):
            return Flip(np.nan, unjudged, np.nan)
        whole = int(enough[0])
        last, first = int(topic[whole]), int(begin[whole])
        left = needed - (float(rises[whole - 1]) if whole else 0.0)
        steps = self.value[last, first + 1 : int(end[whole]) + 1] - self.value[last, first] > left
        final = first + 1 + int(np.flatnonzero(steps)[0]) if steps.any() else int(end[whole])
        documents = self.counts[topic[:whole], end[:whole]] - self.counts[topic[:whole], begin[:whole]]
        deepest = max(int(self.ranks[topic[:whole], end[:whole]].max(initial=0)), int(self.ranks[last, final]))
        return Flip(int(documents.sum() + self.counts[last, final] - self.counts[last, first]), unjudged, deepest)


class Judging:
    """The runs of an evaluation, read again one by one, to see what judging their documents could do."""

    def __init__(self, scores: Scores) -> None:
        self.scorer, self.sources = Scorer(scores.qrels, scores.measures, scores.options), scores.sources
        self.column = {label: column for column, label in enumerate(scores.labels)}
        self.ladders: dict[str, Ladder] = {}
        self.batches: list[Batch] | None = None
        self.run = ""

    def flip(self, run: str, paired: Paired, needed: float) -> Flip | None:
        """What turns the order round, of the run behind; None where it cannot be read again as it was scored."""
        try:
            ladder = self._ladder(run, paired.measure)
        except InputError:
            return None
        rows = [ladder.row.get(topic, -1) for topic in paired.topics]
        scored = paired.values[paired.runs.index(run)]
        if min(rows) < 0 or not np.allclose(ladder.value[rows, 0], scored, rtol=1e-9, atol=1e-9):
            return None
        return ladder.flip(paired.topics, needed)

    def _ladder(self, run: str, measure: str) -> Ladder:
        """Raises InputError where the run cannot be read again."""
        if run != self.run:
            self.run, self.ladders, self.batches = run, {}, None
            source = self.sources[run]
            if not (is_file(source) and Source(source).is_read_once):
                self.batches = grade_run(source, self.scorer.grader, Workers()).batches
        if self.batches is None:
            raise InputError(run, "cannot be read a second time")
        if measure not in self.ladders:
            self.ladders[measure] = _ladder(self.scorer, self.batches, self.column[measure])
        return self.ladders[measure]


def flip_columns(frame: pd.DataFrame, measures: Mapping[str, Paired], scores: Scores | None) -> dict[str, Any]:
    """The columns flip, unjudged, flip_share and flip_rank of a comparison, None where blank: what would turn round the
    order of the pairs that are not conclusive.

    measures  name -> the scores that are compared
    scores    those of the evaluation, where they are of one
    """
    columns: dict[str, list[Any]] = {name: [None] * len(frame) for name in COLUMNS}
    if scores is None or not _can_flip(scores):
        return columns
    judging = Judging(scores)
    for run, row in sorted(_behind(frame, scores)):
        measure, difference = frame["measure"][row], frame["difference"][row]
        paired = measures[measure]
        pair = [paired.runs.index(frame[name][row]) for name in ("run", "baseline")]
        values = paired.values[pair]
        needed = 0.0 if difference == 0 else abs(float((values[0] - values[1]).sum()))
        found = judging.flip(run, paired, needed + TOLERANCE * len(paired.topics))
        if found is None or (columns["flip"][row] or math.inf) <= found.documents:
            continue
        columns["unjudged"][row] = found.unjudged
        if not math.isnan(found.documents):
            columns["flip"][row], columns["flip_rank"][row] = found.documents, found.rank
            columns["flip_share"][row] = found.documents / found.unjudged
    return columns


def _can_flip(scores: Scores) -> bool:
    """Whether judging would change the scores as it is told here: not where they were standardized since, nor where the
    best case is that of the full ranking."""
    options = scores.options
    bounded = options.wants_residuals and options.residuals != "difference" and options.residual_depth == "cutoff"
    return bounded and not scores.transformations and bool(scores.sources)


def _behind(frame: pd.DataFrame, scores: Scores) -> Iterator[tuple[str, int]]:
    """The run behind and the row of each pair whose order may turn round; both runs where they are equal."""
    for row in np.flatnonzero(frame["conclusive"].eq(False)).tolist():
        difference = frame["difference"][row]
        for name, behind in (("run", difference <= 0), ("baseline", difference >= 0)):
            if behind and frame[name][row] in scores.sources:
                yield frame[name][row], row


def _ladder(scorer: Scorer, batches: list[Batch], column: int) -> Ladder:
    """The ladder of a run."""
    measure = scorer.measures[column]
    steps = [_steps_of(scorer, batch, measure, column) for batch in batches]
    width = max(counts.shape[1] for counts, _, _ in steps)
    # A topic that is in several batches is complete in the last.
    row = {decode(topic): number for number, topic in enumerate(topic for batch in batches for topic in batch.topics)}
    columns = [np.minimum(np.arange(width), counts.shape[1] - 1) for counts, _, _ in steps]
    counts, value, ranks = (
        np.concatenate([part[:, of] for part, of in zip(parts, columns, strict=True)])
        for parts in zip(*steps, strict=True)
    )
    return Ladder(row, counts, value, ranks)


def _steps_of(scorer: Scorer, batch: Batch, measure: Measure, column: int) -> tuple[Ints, Floats, Ints]:
    """As in `Ladder`: the counts, values and ranks of one batch."""
    ranks = np.arange(1, batch.codes.shape[1] + 1)
    unjudged = ~scorer.grader.judged[batch.codes] & (ranks <= batch.retrieved[:, None])
    seen = unjudged & (ranks <= (np.inf if measure.cutoff is None else measure.cutoff))
    number = np.where(seen, seen.cumsum(1), 0)
    most = number.max(1, initial=0)
    tried = _tried(int(most.max(initial=0)))
    taken = (_with_relevant(batch, unjudged & ~(seen & (number <= count))) for count in tried)
    values = [_value(scorer, relevant, measure, column) for relevant in taken]
    counts = np.minimum(tried, most[:, None])
    # The rank of each by its number; all others go to number 0, where no document is.
    rank_of = np.zeros((len(most), int(most.max(initial=0)) + 1), dtype=np.int64)
    np.put_along_axis(rank_of, number, np.where(seen, ranks, 0), 1)
    return counts, np.stack(values, axis=1), np.take_along_axis(rank_of, counts, 1)


def _tried(most: int) -> Ints:
    """0, 1, 2, … to EXACT, then a fifth more each time, to the most there are."""
    tried = [*range(min(most, EXACT) + 1)]
    while tried[-1] < most:
        tried.append(min(most, tried[-1] * 6 // 5))
    return np.array(tried)


def _with_relevant(batch: Batch, others: Bools) -> Batch:
    """The batch where the unjudged documents but `others` are yet to be judged: those gain nothing, as what lies beyond
    the end."""
    codes = batch.codes.copy()
    codes[others] = batch.beyond
    return replace(batch, codes=codes)


def _value(scorer: Scorer, batch: Batch, measure: Measure, column: int) -> Floats:
    """The scores of topics with all unjudged documents at the top gain, as they are tested."""
    table, definition = scorer.tables[column], measure.definition
    gains = GainsCache(batch, scorer.grader, scorer.by_intent)(table, measure, unjudged=table.top)
    return tested(np.minimum(scores_of(measure, gains), definition.ceiling), definition.summary)
