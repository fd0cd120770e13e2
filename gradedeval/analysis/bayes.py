"""The Bayesian comparison of two runs: how probable it is that one is better, or that they are practically equal."""

from __future__ import annotations

import numpy as np

from gradedeval.analysis.significance import deviations, scipy_stats
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
    P(|μ| ≤ rope) and worse P(μ < −rope). Where all topics differ alike μ is certain. Raises InputError (usage) without
    scipy. Benavoli et al., JMLR 2017, section 3 (ρ = 0: topics are independent); Carterette, ICTIR 2015.
    """
    stats = scipy_stats()
    topics = differences.shape[1]
    mean, scale = differences.mean(1), deviations(differences) / np.sqrt(topics)
    around = stats.t(topics - 1)
    certain = scale == 0
    steps = np.where(certain, 1.0, scale)
    with np.errstate(over="ignore"):
        better = np.where(certain, mean > rope, around.sf((rope - mean) / steps))
        worse = np.where(certain, mean < -rope, around.sf((rope + mean) / steps))
    margin = around.isf(alpha / 2) * scale
    return {
        "low": mean - margin,
        "high": mean + margin,
        "better": better,
        "equivalent": np.maximum(1 - better - worse, 0),
        "worse": worse,
    }
