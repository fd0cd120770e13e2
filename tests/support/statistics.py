"""Statistics as plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats


def by_hand(runs: list[dict[str, float]], others: list[dict[str, float]]) -> dict[str, float]:
    """The comparison of two systems, each of some runs by topic, as plain loops over the expected mean squares."""
    topics = list(runs[0])
    n, groups = len(topics), [group for group in (runs, others) if len(group) > 1]
    mean = {id(group): {t: sum(run[t] for run in group) / len(group) for t in topics} for group in (runs, others)}
    d = [mean[id(runs)][t] - mean[id(others)][t] for t in topics]
    difference = sum(d) / n
    s = sum((one - difference) ** 2 for one in d) / (n - 1)
    within = error = 0.0
    for group in groups:
        whole = sum(mean[id(group)].values()) / n
        for run in group:
            own = sum(run.values()) / n
            within += n * (own - whole) ** 2
            error += sum((run[t] - own - mean[id(group)][t] + whole) ** 2 for t in topics)
    df = sum(len(group) - 1 for group in groups)
    share = sum(1 / len(group) for group in groups)
    within, error = share * within / df, share * error / (df * (n - 1))
    terms = [(s, n - 1), (within, df), (-error, df * (n - 1))]
    if within <= error:
        terms = [(s, n - 1)]
    variance = sum(square for square, _ in terms)
    freedom = variance**2 / sum(square**2 / own for square, own in terms)
    se = math.sqrt(variance / n)
    reach = float(stats.t.isf(0.025, freedom)) * se
    p = float(2 * stats.t.sf(abs(difference) / se, freedom))
    return {"difference": difference, "se": se, "df": freedom, "p": p, "low": difference - reach,
            "high": difference + reach}  # fmt: skip


def holm(p: list[float]) -> list[float]:
    """Holm's correction."""
    largest, found = 0.0, {}
    for number, at in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        found[at] = largest = max(largest, min(1.0, p[at] * (len(p) - number)))
    return [found[at] for at in range(len(p))]


def saved(score: Any) -> pd.DataFrame:
    """Scores of runs × topics as saved scores."""
    rows = [(f"r{run}", f"t{topic}", "ap", value) for (run, topic), value in np.ndenumerate(score)]
    return pd.DataFrame(rows, columns=["run", "topic", "measure", "score"])
