"""`risk`: how much runs lose on some topics for what they gain on others, against a baseline and among each other."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis.score_matrix import Matrix, Paired, comparable, shared_topics
from gradedeval.analysis.significance import TOLERANCE, effect_size
from gradedeval.arrays import Floats
from gradedeval.errors import EvaluationWarning, InputError
from gradedeval.scoring.scores import Scores
from gradedeval.scoring.summaries import summarize

if TYPE_CHECKING:
    import pandas as pd

ALPHA: float = 5
"""The weight of losses in the TREC 2014 Web track."""
MEAN_OF_RUNS = "(mean of runs)"


def risk(
    scores: Scores | Matrix | pd.DataFrame | str | Path,
    baseline: str | None = None,
    *,
    alpha: float = ALPHA,
    allow_mismatch: bool = False,
) -> pd.DataFrame:
    """How risky runs are, by every measure, on the topics that all runs are scored on: a loss counts 1 + alpha times.

    scores          what `gradedeval.evaluate` returns, or saved scores
    baseline        the run that others are compared with; None: the mean of all runs on each topic
    alpha           how much more a loss weighs than a win of the same size, 0 or more
    allow_mismatch  compare saved scores of different qrels or options all the same, with a warning

    Returns a frame with the columns measure, run, baseline, topics, mean, baseline_mean (or totals, or geometric
    means), wins, ties, losses (topics; where lower is better, a lower score wins; blank where neither is), u_risk
    (URisk, the mean of wins and weighted losses: Wang et al., SIGIR 2012), t_risk (TRisk, URisk / its standard error,
    below −2 a significant risk: Dinçer et al., SIGIR 2014), z_risk and geo_risk (ZRisk and GeoRisk against what is
    expected from all runs: Dinçer et al., SIGIR 2016). The baseline is among the runs. z_risk and geo_risk are blank,
    with a warning of the class `gradedeval.EvaluationWarning`, for scores below 0, or where lower is better. Raises
    InputError (usage) for fewer than two runs or an invalid alpha, and InputError for a measure with a single topic.
    """
    frame, notes = risk_matrix(comparable(scores, allow_mismatch), baseline, alpha)
    for note in notes:
        warnings.warn(note, EvaluationWarning, stacklevel=2)
    return frame


def risk_matrix(matrix: Matrix, baseline: str | None, alpha: float) -> tuple[pd.DataFrame, list[str]]:
    """As `risk`: the frame, and notes for the user."""
    if not 0 <= alpha < math.inf:
        raise InputError("--alpha", f"{alpha:g} cannot weigh losses", "give 0 or more, such as 5", usage=True)
    if len(matrix.runs) < 2:
        raise InputError("", "risk needs at least two runs", "add a run or --baseline", usage=True)
    of = None if baseline is None else matrix.run_index(baseline)
    import pandas as pd  # not before it is needed

    measures = [shared_topics(matrix, name) for name in matrix.comparable_measures()]
    frame = pd.concat([pd.DataFrame(_columns(paired, of, alpha)) for paired in measures], ignore_index=True)
    lower = [paired.measure for paired in measures if paired.reading.better == "lower"]
    below = [paired.measure for paired in measures if (paired.score < 0).any() and paired.measure not in lower]
    causes = {"some scores are below 0": below, "lower is better": lower}
    notes = [f"{', '.join(names)}: {cause}, so there is no GeoRisk" for cause, names in causes.items() if names]
    return frame.astype({"wins": "Int64", "losses": "Int64"}), notes


def _columns(paired: Paired, baseline: int | None, alpha: float) -> dict[str, Any]:
    base = paired.score.mean(0) if baseline is None else paired.score[baseline]
    differences = paired.score - base
    differences[np.abs(differences) <= TOLERANCE] = 0
    weighted = weigh_losses(paired.reading.sign * differences, alpha)
    z_risk, geo_risk = np.full((2, len(paired.runs)), np.nan)
    if paired.reading.better != "lower":
        z_risk, geo_risk = geometric_risk(paired.score, alpha)
    return {
        "measure": paired.measure,
        "run": np.array(paired.runs, dtype=object),
        "baseline": MEAN_OF_RUNS if baseline is None else paired.runs[baseline],
        "topics": len(paired.topics),
        "mean": paired.summaries,
        "baseline_mean": float(summarize(base, paired.reading.summary)),
        **paired.wins(differences),
        "u_risk": weighted.mean(1),
        "t_risk": effect_size(weighted) * math.sqrt(len(paired.topics)),
        "z_risk": z_risk,
        "geo_risk": geo_risk,
    }


def weigh_losses(differences: Floats, alpha: float) -> Floats:
    """The differences, those below 0 times 1 + alpha."""
    return np.where(differences < 0, (1 + alpha) * differences, differences)


def geometric_risk(score: Floats, alpha: float) -> tuple[Floats, Floats]:
    """ZRisk and GeoRisk of each run; nan where a score is below 0.

    score  runs × topics

    Expected of a run on a topic is e = sum of the run · sum of the topic / sum of all, as in a χ² table, and
    z = (score − e) / √e, losses weighted. ZRisk is the sum of z, GeoRisk √(mean score · Φ(ZRisk / topics)), Φ the
    normal distribution. Dinçer, Macdonald & Ounis, SIGIR 2016.
    """
    if (score < 0).any():
        return np.full(len(score), np.nan), np.full(len(score), np.nan)
    total = score.sum()
    expected = np.outer(score.sum(1), score.sum(0)) / (total or 1)
    z = (score - expected) / np.sqrt(np.where(expected > 0, expected, 1))
    z_risk = weigh_losses(z, alpha).sum(1)
    normal = np.array([0.5 * math.erfc(-mean / math.sqrt(2)) for mean in (z_risk / score.shape[1]).tolist()])
    return z_risk, np.sqrt(score.mean(1) * normal)
