"""How fast each strategy of `pool --to-judge` brings the order of runs to the true one: judgments are taken from real
qrels in batches, as if assessors made them; τ_AP of the order by what is judged so far with the order by all.

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
    """τ_AP after each budget. Only documents that the real qrels judge can be asked for; where a strategy asks for no
    more, it stays with what it has."""
    measure: Measure = scorer.measures[0]
    true = summaries(ranked.scores(scorer)[0, :, :, 0], measure)
    unjudged, known = len(scorer.qrels.labels), np.zeros(len(ranked), dtype=bool)
    for budget in BUDGETS:
        while True:
            code = np.where(known, ranked.code, unjudged)
            pool = GradeCounts.of(ranked.topic[known], ranked.code[known], len(ranked.topics), unjudged)
            so_far = replace(ranked, code=code)
            so_far.__dict__["pool"] = pool
            settings = JudgingSettings(strategy, max(1, min(BATCH, budget - int(known.sum()))))
            candidates = np.flatnonzero(ranked.judged & ~known)
            new = choose(so_far, without_ideals(scorer), candidates, settings)[0] if known.sum() < budget else []
            if not len(new):
                break
            known[new] = True
        yield tau_ap(true, summaries(so_far.scores(scorer, code, pool)[0, :, :, 0], measure))


def draws(qrels: str, runs: list[str]) -> dict[Strategy, list[list[float]]]:
    """strategy -> draws × (measures × budgets)."""
    judged, named, draw = Qrels(qrels), named_runs(runs), np.random.default_rng(17)
    found: dict[Strategy, list[list[float]]] = {strategy: [] for strategy in STRATEGIES}
    for _ in range(DRAWS):
        chosen = draw.permutation(len(judged.topics))[: 2 * len(judged.topics) // 3]
        options = Options(residuals="total", topics_from=frozenset(judged.topics[row] for row in chosen.tolist()))
        scorers = [Scorer(judged, parse_measures(measure), options) for measure in MEASURES]
        ranked = [rank_runs(named, scorer.grader) for scorer in scorers]
        for strategy, rows in found.items():
            rows.append([tau for one in zip(ranked, scorers, strict=True) for tau in simulate(*one, strategy)])
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = {strategy: np.array(values) for strategy, values in draws(sys.argv[1], sys.argv[2:]).items()}
    best = np.max([values.mean(1) for values in found.values()], axis=0)
    for strategy, values in found.items():
        means = values.mean(1)
        cells = [*(f"{value:.3f}" for value in values.mean(0)), f"{means.mean():.3f} ± {means.std(ddof=1):.3f}"]
        print("|", " | ".join([f"`{strategy}`", *cells, f"{(means == best).sum()} of {DRAWS}"]), "|")
