"""The Bayesian comparison of two runs: how probable it is that one is better, or that they are practically equal."""

from __future__ import annotations

import numpy as np

from gradedeval.analysis.significance import deviations, no_variance, scipy_stats
from gradedeval.arrays import Floats

ROPE = 0.01
"""Means that differ by no more are practically equal, where the user says nothing else."""


def posterior(differences: Floats, rope: float, alpha: float) -> dict[str, Floats]:
    """What the topics tell about the difference μ of two means: the Bayesian t test of each pair.

    differences  pairs × topics
    rope         the region of practical equivalence is −rope to rope, in units of the score
    alpha        the credible interval, with equal tails, has the probability 1 − alpha

    With the prior 1/σ, which favours nothing, μ has Student's t distribution with n − 1 degrees of freedom around the
    mean difference, scaled by deviation / √n. Returns low and high (the interval), better P(μ > rope), equivalent
    P(|μ| ≤ rope) and worse P(μ < −rope). Where no topic differs μ is 0; where all differ alike they tell nothing of the
    variance, and all is nan. Raises InputError (usage) without scipy. Benavoli et al., JMLR 2017, section 3 (ρ = 0:
    topics are independent); Carterette, ICTIR 2015.
    """
    stats = scipy_stats()
    topics = differences.shape[1]
    mean, scale = differences.mean(1), deviations(differences) / np.sqrt(topics)
    around = stats.t(topics - 1)
    steps = np.where(scale == 0, 1.0, scale)
    with np.errstate(over="ignore"):
        better = np.where(scale == 0, 0, around.sf((rope - mean) / steps))
        worse = np.where(scale == 0, 0, around.sf((rope + mean) / steps))
    margin = around.isf(alpha / 2) * scale
    found = {
        "low": mean - margin,
        "high": mean + margin,
        "better": better,
        "equivalent": np.maximum(1 - better - worse, 0),
        "worse": worse,
    }
    blank = no_variance(differences)
    return {name: np.where(blank, np.nan, values) for name, values in found.items()}
