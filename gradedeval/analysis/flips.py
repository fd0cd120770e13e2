"""How many unjudged documents of the run behind would have to be relevant for the order of two runs to turn round."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradedeval.analysis.score_matrix import Paired
from gradedeval.analysis.unjudged import Judged, Numbering, Part, judge, parts_of
from gradedeval.arrays import TOLERANCE, Floats, Ints
from gradedeval.errors import InputError
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import EVERY_TOPIC, Batch
from gradedeval.scoring.run_parts import grade_run
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.scores import Scores
from gradedeval.trec.source import Source, is_file

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("flip", "unjudged", "flip_share", "flip_rank")
TRIES = 2
"""How many smaller numbers are tried where one has been found that suffices."""


class Flip(NamedTuple):
    """What turns an order round: so many `documents` of all `unjudged` ones that the measure looks at, down to some
    `rank`; nan where not even all of them do."""

    documents: float
    unjudged: int
    rank: float


class Judging:
    """The runs of an evaluation, read again, to see what judging their documents could do."""

    def __init__(self, scores: Scores) -> None:
        self.scorer, self.sources = Scorer(scores.qrels, scores.measures, scores.options), scores.sources
        self.column = {label: column for column, label in enumerate(scores.labels)}
        self.numbering = Numbering()
        self.batches: dict[str, list[Batch]] = {}
        self.parts: dict[tuple[str, tuple[str, ...]], list[Part]] = {}
        self.judged: dict[tuple[str, str], Judged | None] = {}
        self.by_rank: dict[str, dict[bytes, Floats]] = {}

    def flip(self, run: str, ahead: str, paired: Paired, needed: float) -> Flip | None:
        """What turns the order of two runs round, by documents of the run behind; None where one of them cannot be read
        again as it was scored, or where nothing was found."""
        behind, other = self._judged(run, paired), self._judged(ahead, paired)
        return None if behind is None or other is None else _flip(behind, other, needed, self.numbering.size)

    def _judged(self, run: str, paired: Paired) -> Judged | None:
        key = (run, paired.measure)
        if key not in self.judged:
            try:
                self.judged[key] = self._judge(run, paired)
            except InputError:
                self.judged[key] = None
        return self.judged[key]

    def _judge(self, run: str, paired: Paired) -> Judged | None:
        """Raises InputError where the run cannot be read again."""
        if run not in self.batches:
            source = self.sources.get(run)
            if source is None or (is_file(source) and Source(source).is_read_once):
                raise InputError(run, "cannot be read a second time")
            grader = replace(self.scorer.grader, keep_docnos_for=EVERY_TOPIC)
            self.batches[run] = grade_run(source, grader, Workers()).batches
        topics = tuple(paired.topics)  # most measures share them
        if (run, topics) not in self.parts:
            self.parts[run, topics] = parts_of(self.batches[run], topics, self.scorer.grader.judged, self.numbering)
        parts = self.parts[run, topics]
        row = {name: row for row, name in enumerate(name for part in parts for name in part.names)}
        if set(row) != set(paired.topics):
            return None
        by_rank = self.by_rank.setdefault(paired.measure, {})
        judged = judge(self.scorer, self.column[paired.measure], parts, by_rank)
        scored = paired.values[paired.runs.index(run)]
        same = np.allclose(judged.base[[row[topic] for topic in paired.topics]], scored, rtol=1e-9, atol=1e-9)
        return judged if same else None


def _flip(behind: Judged, ahead: Judged, needed: float, documents: int) -> Flip | None:
    """The documents that raise the run behind most and the run ahead least are taken until the order turns round.

    Where what a document adds depends on its rank alone, that is the fewest. Elsewhere both runs are scored again with
    the documents, and more are taken until it really turns round.
    """
    unjudged = len(behind.number)
    if float((behind.most - behind.base).sum()) <= needed:
        return Flip(np.nan, unjudged, np.nan)

    def rise(chosen: Ints) -> float:
        relevant = np.zeros(documents, dtype=bool)
        relevant[behind.number[chosen]] = True
        return behind.rise(relevant) - ahead.rise(relevant)

    def found(chosen: Ints) -> Flip:
        return Flip(len(chosen), unjudged, int(behind.rank[chosen].max()))

    if behind.fixed is not None and ahead.fixed is not None:
        order, rises = _best(behind, ahead, behind.fixed, ahead.fixed, documents)
        chosen = order[: int(np.searchsorted(rises, needed, side="right")) + 1]
        bounded = behind.bounded or ahead.bounded
        if len(chosen) and rises[len(chosen) - 1] > needed and (not bounded or rise(chosen) > needed):
            return found(chosen)
        if not bounded:
            return Flip(np.nan, unjudged, np.nan)
    order, rises = _best(behind, ahead, behind.weight, ahead.weight, documents)
    many = _enough(lambda many: rise(order[:many]), rises, needed)
    return found(order[:many]) if many else None


def _best(behind: Judged, ahead: Judged, weight: Floats, of_ahead: Floats, documents: int) -> tuple[Ints, Floats]:
    """The documents that lift the run behind above the run ahead, the best first, and the sums of what they do."""
    other = np.zeros(documents)
    other[ahead.number] = of_ahead
    net = weight - other[behind.number]
    lifting = np.flatnonzero(net > 0)  # by topic and rank
    order = lifting[np.argsort(-net[lifting], kind="stable")]
    return order, np.cumsum(net[order])


def _enough(rise: Callable[[int], float], rises: Floats, needed: float) -> int:
    """So many documents that suffice, from what is expected of them; 0 where not even all do."""
    few, many, target = 0, 0, needed
    while few < len(rises):
        many = min(len(rises), max(few + 1, int(np.searchsorted(rises, target, side="right")) + 1))
        reached = rise(many)
        if reached > needed:
            break
        few, target = many, float(rises[many - 1]) + 1.2 * (needed - reached)
    else:
        return 0
    for _ in range(TRIES):
        less = int(np.searchsorted(rises, rises[many - 1] - 0.9 * (reached - needed)))
        less = min(less, many - 1)
        if less <= few:
            break
        reached_then = rise(less)
        if reached_then <= needed:
            break
        many, reached = less, reached_then
    return many


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
        ahead = frame["baseline" if frame["run"][row] == run else "run"][row]
        found = judging.flip(run, ahead, paired, needed + TOLERANCE * len(paired.topics))
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
