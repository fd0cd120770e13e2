"""Background weights: the mean weight that a measure such as ap or bpref gives each rank over a set of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gradedeval.analysis.contributions import check_by_rank
from gradedeval.arrays import Floats
from gradedeval.errors import plural, shorten
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Gains
from gradedeval.measures.properties import RankingWeights
from gradedeval.options import OPTIONS, Options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import Batch
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.run_parts import GradedRun, grade_run
from gradedeval.scoring.scorer import Scorer
from gradedeval.trec.lines import decode


def weights_in_rankings(measure: Measure, g: Gains) -> Floats:
    """topics × ranks: the weights W(i) of the ranks of each ranking, where Σ_i W(i) [gain_i > 0] is its score.

    ap     Σ_{j≤i} r_j / (i R)
    sp     Σ_{j≤i} r_j / i
    q      (Σ_{j≤i} r_j + β cg(i)) / ((i + β cg*(i)) R), which is 2 Σ_{j≤i} r_j / ((i + min(i, R)) R) for gains 0 and 1
           and β = 1
    bpref  1/R − min(k + R, J_i − Σ_{j≤i} r_j) / (min(k + R, N) R), J_i: how many of the first i are judged
    rr     1/i at the first relevant document, 0 elsewhere

    With norm=k, R is no more than the cutoff where it divides all. Zhang et al., Information Retrieval 2010, section
    3.3. Past the end of a ranking the formulas are taken literally: nothing more is relevant or judged there, and the
    sums stay as they are. Where R is 0 so is W.
    """
    weighting = _weighting(measure)
    weights = weighting.function(g, **measure.arguments)
    if weighting.over is None:
        return weights
    whole = np.reshape(weighting.over(g, **measure.arguments), (-1, 1))
    return np.where(whole > 0, weights / np.maximum(whole, 1), 0.0)


def _weighting(measure: Measure) -> RankingWeights:
    weighting = measure.definition.weights_in_ranking
    if weighting is None:
        raise TypeError(f"the weights of {measure} do not depend on the ranking")
    return weighting


class Background(NamedTuple):
    """The mean weights of ranks over the rankings of a set of runs.

    weights  ranks × measures
    shares   of each measure's weight past the last rank: 0 where there is none, nan where its sum is unknown
    counts   for each run on how many topics it is scored, and how many of those it lacks
    formats  what the files of the runs were read as
    notes    on what was skipped or assumed
    """

    weights: Floats
    shares: Floats
    counts: list[tuple[int, int]]
    formats: list[str]
    notes: list[str]


def background(
    runs: Mapping[str, Any], qrels: Qrels, measures: Sequence[Measure], options: Options, depth: int, workers: Workers
) -> Background:
    """The mean weights at ranks 1..depth, over the rankings of a set of runs by name, of measures such as ap and bpref.

    The mean is over all pairs of a run and a topic: the 1/(s·t) of the source where all runs have the same topics. The
    options say which topics count; a topic that a run lacks is a ranking without documents.

    Zhang et al., Information Retrieval 2010, section 3.4. Raises InputError as `evaluate` does.
    """
    if options.ties == "average":
        raise OPTIONS["ties"].error("weights in a ranking need one order", "choose an order")
    for measure in measures:
        check_by_rank(measure)
    scorer = Scorer(qrels, measures, options, workers.limits)
    grader = replace(scorer.grader, last_rank=None)
    summed = _Sums(scorer, depth)
    counts: list[tuple[int, int]] = []
    formats: list[str] = []
    notes, topics = list(scorer.notes), set()
    for _, source in workers.progress(list(runs.items())):
        run = grade_run(source, grader, workers.silent())
        for batch in settled_batches(run):
            summed.add(batch)
        counts.append((len(run.topics), run.missing))
        formats.append(run.format)
        topics.add(frozenset(run.topics))
        notes += run.notes
    if len(topics) > 1:
        notes.append("the runs count in different topics; --topics qrels counts the same for all")
    notes += _without_relevant(summed.barren)
    values = summed.weights / sum(count for count, _ in counts)
    return Background(values, summed.beyond(), counts, formats, notes)


class _Sums:
    """The weights of many rankings, added up."""

    def __init__(self, scorer: Scorer, depth: int) -> None:
        self.scorer = scorer
        self.weights = np.zeros((depth, len(scorer.measures)))
        self.barren: dict[Measure, set[bytes]] = {
            measure: set() for measure in scorer.measures if _weighting(measure).over is not None
        }
        # Weights that have an end, as those of rr: all that a ranking has is its score.
        self.scores = {column: 0.0 for column, measure in enumerate(scorer.measures) if _weighting(measure).finite}

    def add(self, batch: Batch) -> None:
        if self.scores:
            gains_of = self.scorer.gains_cache(batch)
            for column in self.scores:
                measure = self.scorer.measures[column]
                self.scores[column] += float(measure.score(gains_of(self.scorer.tables[column], measure)).sum())
        for part in _to_depth(batch, len(self.weights), self.scorer.grader.limits.cells):
            gains_of = self.scorer.gains_cache(part)
            for column, (measure, table) in enumerate(zip(self.scorer.measures, self.scorer.tables, strict=True)):
                g = gains_of(table, measure)
                weights = weights_in_rankings(measure, g)
                self.weights[: weights.shape[1], column] += weights.sum(0)
                if measure in self.barren:
                    self.barren[measure].update(
                        part.topics[row] for row in np.flatnonzero(g.num_relevant == 0).tolist()
                    )

    def beyond(self) -> Floats:
        """measures: the share of the weight that lies past the last rank."""
        depth = len(self.weights)
        ends = [measure.cutoff is not None and measure.cutoff <= depth for measure in self.scorer.measures]
        shares = np.where(ends, 0.0, np.nan)
        for column, score in self.scores.items():
            shares[column] = share_past(float(self.weights[:, column].sum()), score)
        return shares


def share_past(inside: float, whole: float) -> float:
    """The share of the whole weight that is not inside; 0 where the two sums differ by rounding only."""
    return 1 - inside / whole if whole - inside > 1e-12 * whole else 0.0


def settled_batches(run: GradedRun[Batch]) -> Iterator[Batch]:
    """The topics of a run that count, each once."""
    batches = run.batches
    last = {topic: number for number, batch in enumerate(batches) for topic in batch.topics}
    counted = set(run.topics)
    for number, batch in enumerate(batches):
        rows = [row for row, topic in enumerate(batch.topics) if last[topic] == number and topic in counted]
        if rows:
            yield only(batch, rows)


def only(batch: Batch, rows: Sequence[int]) -> Batch:
    """Some topics of a batch."""
    topics = [batch.topics[row] for row in rows]
    return Batch(topics, batch.codes[rows], batch.retrieved[rows], batch.pool[rows])


def _to_depth(batch: Batch, depth: int, cells: int) -> Iterator[Batch]:
    """The batch with so many ranks, in parts of bounded size."""
    every = range(len(batch.topics))
    step = max(1, cells // depth)
    for begin in every[::step]:
        part = only(batch, every[begin : begin + step])
        codes = np.full((len(part.topics), depth), batch.beyond, dtype=batch.codes.dtype)
        codes[:, : part.codes.shape[1]] = part.codes[:, :depth]
        yield replace(part, codes=codes, retrieved=np.minimum(part.retrieved, depth))


def _without_relevant(barren: Mapping[Measure, set[bytes]]) -> list[str]:
    """A note for the measures that have the same topics with R = 0."""
    alike: dict[frozenset[bytes], list[str]] = {}
    for measure, topics in barren.items():
        alike.setdefault(frozenset(topics), []).append(measure.label)
    return [
        f"{', '.join(names)}: {len(topics)} {plural(len(topics), 'topic')} without relevant documents "
        f"({shorten([decode(topic) for topic in sorted(topics)])}); all weights are 0 there"
        for topics, names in alike.items()
        if topics
    ]
