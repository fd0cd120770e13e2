"""Statistics as plain loops."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats


def by_hand(runs: list[dict[str, float]], others: list[dict[str, float]]) -> dict[str, float]:
    """Return the comparison of two systems, each of some runs by topic, as plain loops over the expected mean
    squares; one of fewer than three runs is taken as it is, and p needs five of both."""
    topics = list(runs[0])
    n, groups = len(topics), [group for group in (runs, others) if len(group) > 2]
    mean = {id(group): {t: sum(run[t] for run in group) / len(group) for t in topics} for group in (runs, others)}
    d = [mean[id(runs)][t] - mean[id(others)][t] for t in topics]
    difference = sum(d) / n
    s = sum((difference_of_topic - difference) ** 2 for difference_of_topic in d) / (n - 1)
    of_topics, of_seeds, terms = s, 0.0, [(s, n - 1)]
    for group in groups:
        r, whole, within, error = len(group), sum(mean[id(group)].values()) / n, 0.0, 0.0
        for run in group:
            mean_of_system = sum(run.values()) / n
            within += n * (mean_of_system - whole) ** 2 / (r - 1)
            error += sum((run[t] - mean_of_system - mean[id(group)][t] + whole) ** 2 for t in topics) / (
                (r - 1) * (n - 1)
            )
        of_topics -= error / r
        of_seeds += within / r
        terms += [(2.5 * within / r, r - 1), (error / r, (r - 1) * (n - 1))]
    if of_topics <= 0:
        of_topics, terms = 0.0, terms[1::2]
    freedom = (of_topics + 2.5 * of_seeds) ** 2 / sum(
        square**2 / (mean_of_system + 1) for square, mean_of_system in terms
    ) - 1
    freedom = min(max(freedom, min((len(group) for group in groups), default=n) - 1), n - 1) if groups else n - 1
    se = math.sqrt((of_topics + of_seeds) / n)
    reach = float(stats.t.isf(0.025, freedom)) * se
    p = float(2 * stats.t.sf(abs(difference) / se, freedom)) if min(len(runs), len(others)) >= 5 else math.nan
    return {"difference": difference, "se": se, "df": freedom, "p": p, "low": difference - reach,
            "high": difference + reach}  # fmt: skip


def holm(p: list[float]) -> list[float]:
    """Return p-values with Holm's correction."""
    largest, adjusted = 0.0, {}
    for number, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        adjusted[index] = largest = max(largest, min(1.0, p[index] * (len(p) - number)))
    return [adjusted[index] for index in range(len(p))]


def saved(score: Any) -> pd.DataFrame:
    """Scores of runs × topics as saved scores."""
    rows = [(f"r{run}", f"t{topic}", "ap", value) for (run, topic), value in np.ndenumerate(score)]
    return pd.DataFrame(rows, columns=["run", "topic", "measure", "score"])
