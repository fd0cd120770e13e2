"""How fast each strategy of `pool --to-judge` brings the order of runs to the true one: judgments are taken from real
qrels in batches, as if assessors made them; τ_AP of the order by what is judged so far with the order by all.

    python tests/benchmarks/judging.py QRELS RUN...
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace

import numpy as np

from gradedeval.analysis.correlate import tau_ap
from gradedeval.analysis.pool.order import summaries
from gradedeval.analysis.pool.to_judge import STRATEGIES, JudgingSettings, choose
from gradedeval.analysis.ranked_runs import of_another_pool, rank_runs
from gradedeval.measures.parse import parse_measures
from gradedeval.options import Options
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.scorer import Scorer

BUDGETS, BATCH = (100, 300, 1000), 50


def simulate(qrels: str, runs: list[str], measure: str) -> dict[str, list[float]]:
    """strategy -> τ_AP after each budget. Only documents that the real qrels judge can be asked for."""
    scorer = Scorer(Qrels(qrels), parse_measures(measure), Options(residuals="total"))
    ranked = rank_runs(named_runs(runs), scorer.grader)
    (applied,) = scorer.measures
    true = summaries(ranked.scores(scorer)[0, :, :, 0], applied)
    unjudged, found = len(scorer.qrels.labels), {}
    for strategy in STRATEGIES:
        known, values = np.zeros(len(ranked), dtype=bool), []
        while len(values) < len(BUDGETS):
            code = np.where(known, ranked.code, unjudged)
            pool = np.zeros_like(ranked.pool)
            np.add.at(pool, (ranked.topic[known], ranked.code[known]), 1)
            so_far = replace(ranked, code=code)
            so_far.__dict__["pool"] = pool
            if known.sum() >= BUDGETS[len(values)]:
                scores = so_far.scores(scorer, code, pool)[0, :, :, 0]
                values.append(tau_ap(true, summaries(scores, applied)))
                continue
            candidates = np.flatnonzero(ranked.judged & ~known)
            settings = JudgingSettings(strategy, min(BATCH, BUDGETS[len(values)] - int(known.sum())))
            known[choose(so_far, of_another_pool(scorer), candidates, settings)[0]] = True
        found[strategy] = values
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for measure in ("ndcg@10", "ap@30"):
        print(measure, *(f"{budget:>6}" for budget in BUDGETS))
        for strategy, values in simulate(sys.argv[1], sys.argv[2:], measure).items():
            print(f"{strategy:<10}", *(f"{value:6.3f}" for value in values), flush=True)
