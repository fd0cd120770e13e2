"""The speed at which each strategy of `pool --to-judge` brings the order of runs to the true one. Judgments are taken
from real qrels in batches, as if assessors made them; τ_AP compares the order by these with the order by all.

On several drawn sets of two thirds of the topics, the same for each strategy. Prints the rows of the table in
`judging.md`: means over the draws; the mean over all columns, with the standard deviation of the draws;
and in how many draws that is the highest.

    python tests/benchmarks/judging.py QRELS RUN...
"""

import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gradedeval.analysis.ranked_runs import RankedRuns, rank_runs, without_ideals
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.options import Options
from gradedeval.kernel.rankings.batch import GradeCounts
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring.evaluate import named_runs
from gradedeval.kernel.scoring.scorer import Scorer
from gradedeval.questions.correlate import tau_ap
from gradedeval.questions.leave_one_out import summaries
from gradedeval.questions.to_judge import STRATEGIES, JudgingSettings, Strategy, choose

BUDGETS, BATCH, MEASURES, DRAWS = (100, 300, 1000), 50, ("ndcg@10", "ap@30"), 10


def simulate(ranked: RankedRuns, scorer: Scorer, strategy: Strategy) -> Iterator[float]:
    """Return τ_AP after each budget. Only documents judged in the real qrels can be asked for; a strategy that asks
    for no more keeps its order."""
    measure: Measure = scorer.measures[0]
    true = summaries(ranked.scores(scorer)[0, :, :, 0], measure)
    unjudged, is_judged = len(scorer.qrels.labels), np.zeros(len(ranked), dtype=bool)
    for budget in BUDGETS:
        while True:
            code = np.where(is_judged, ranked.code, unjudged)
            pool = GradeCounts.of(ranked.topic[is_judged], ranked.code[is_judged], len(ranked.topics), unjudged)
            so_far = replace(ranked, code=code)
            so_far.__dict__["pool"] = pool
            settings = JudgingSettings(strategy, max(1, min(BATCH, budget - int(is_judged.sum()))))
            candidates = np.flatnonzero(ranked.judged & ~is_judged)
            new = choose(so_far, without_ideals(scorer), candidates, settings)[0] if is_judged.sum() < budget else []
            if not len(new):
                break
            is_judged[new] = True
        yield tau_ap(true, summaries(so_far.scores(scorer, code, pool)[0, :, :, 0], measure))


def draws(qrels: str, runs: list[str]) -> dict[Strategy, list[list[float]]]:
    """Return strategy -> draws × (measures × budgets)."""
    judged, named, draw = Qrels(qrels), named_runs(runs), np.random.default_rng(17)
    taus: dict[Strategy, list[list[float]]] = {strategy: [] for strategy in STRATEGIES}
    for _ in range(DRAWS):
        chosen = draw.permutation(len(judged.topics))[: 2 * len(judged.topics) // 3]
        options = Options(residuals="total", topics_from=frozenset(judged.topics[row] for row in chosen.tolist()))
        scorers = [Scorer(judged, parse_measures(measure), options) for measure in MEASURES]
        ranked = [rank_runs(named, scorer.grader) for scorer in scorers]
        for strategy, rows in taus.items():
            rows.append([tau for pair in zip(ranked, scorers, strict=True) for tau in simulate(*pair, strategy)])
    return taus


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    means_of_strategy = {strategy: np.array(values) for strategy, values in draws(sys.argv[1], sys.argv[2:]).items()}
    best = np.max([values.mean(1) for values in means_of_strategy.values()], axis=0)
    for strategy, values in means_of_strategy.items():
        means = values.mean(1)
        cells = [*(f"{value:.3f}" for value in values.mean(0)), f"{means.mean():.3f} ± {means.std(ddof=1):.3f}"]
        print("|", " | ".join([f"`{strategy}`", *cells, f"{(means == best).sum()} of {DRAWS}"]), "|")
