"""What a judgment tells by the ranks of a document: the best of them, or by rank-biased precision.

Moffat, Webber & Zobel, SIGIR 2007.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradedeval.analysis.ranked_runs import RankedRuns
from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.scoring.scorer import Scorer


def depth_weights(ranked: RankedRuns) -> Floats:
    """documents: −(best rank), and a fraction for the share of runs that have it there."""
    best, there = ranked.best_rank, np.zeros(len(ranked))
    for run in ranked.runs:
        there[run.document] += run.rank == best[run.document]
    weights: Floats = there / (len(ranked.runs) + 1) - best
    return weights


def rbp_weights(ranked: RankedRuns, p: float) -> Floats:
    """documents: (1 − p) p^(rank − 1), summed over runs: method A."""
    weights = np.zeros(len(ranked))
    for run in ranked.runs:
        weights[run.document] += (1 - p) * p ** (run.rank - 1)
    return weights


def choose_by_residual(
    ranked: RankedRuns, scorer: Scorer, candidates: Ints, budget: int, p: float, *, cubed: bool
) -> tuple[Ints, Floats]:
    """Methods B and, `cubed`, C: the heaviest document, after which the residuals of the runs that have it are smaller.
    Returns which of the candidates, as positions, and their weights."""
    topics = len(ranked.topics)
    worth = np.append(scorer.tables[0].worth, [0.0, 0.0])
    top = scorer.tables[0].top or 1.0
    entries = [np.flatnonzero(np.isin(run.document, candidates)) for run in ranked.runs]
    base, residual = np.zeros((2, len(ranked.runs), topics))
    for number, run in enumerate(ranked.runs):
        share = (1 - p) * p ** (run.rank - 1)
        gained = np.where(ranked.judged[run.document], worth[ranked.code[run.document]] / top, 0.0)
        base[number] = np.bincount(ranked.topic[run.document], weights=share * gained, minlength=topics)
        unjudged = share * ~ranked.judged[run.document]
        residual[number] = np.bincount(ranked.topic[run.document], weights=unjudged, minlength=topics)
        residual[number] += p**run.counts
    number_of = np.full(len(ranked), -1)
    number_of[candidates] = np.arange(len(candidates))
    who = np.concatenate([np.full(len(entry), number) for number, entry in enumerate(entries)])
    at = number_of[np.concatenate([run.document[entry] for run, entry in zip(ranked.runs, entries, strict=True)])]
    share = np.concatenate(
        [(1 - p) * p ** (run.rank[entry] - 1) for run, entry in zip(ranked.runs, entries, strict=True)]
    )
    topic = ranked.topic[candidates]

    def importance(of: Any) -> Any:
        return residual[of] * ((base[of] + residual[of] / 2) ** 3 if cubed else 1)

    weights = np.bincount(at, weights=share * importance((who, topic[at])), minlength=len(candidates))
    by_topic = np.argsort(topic[at], kind="stable")
    begin = np.searchsorted(topic[at][by_topic], np.arange(topics + 1))
    open_: Bools = np.ones(len(candidates), dtype=bool)
    chosen, found = [], []
    for _ in range(min(budget, len(candidates))):
        number = int(np.argmax(np.where(open_, weights, -1.0)))
        chosen.append(number)
        found.append(weights[number])
        open_[number] = False
        same = by_topic[begin[topic[number]] : begin[topic[number] + 1]]
        mine = same[at[same] == number]
        residual[who[mine], topic[number]] -= share[mine]
        touched = np.unique(at[same])
        weights[touched] = np.bincount(
            at[same], weights=share[same] * importance((who[same], topic[at[same]])), minlength=len(candidates)
        )[touched]
    return np.array(chosen, dtype=np.int64), np.array(found)
