"""Scores of topics -> one number: the mean, the total or the geometric mean, and the scale on which it is tested."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.properties import Summary

LEAST = 0.00001
"""What a lower score counts as in a geometric mean, as in trec_eval: a topic at 0 would leave nothing of the rest."""


def summarize(scores: Floats, summary: Summary) -> Floats:
    """The summary of scores over topics, the last axis; nan where there are none."""
    if not scores.shape[-1]:
        return np.full(scores.shape[:-1], np.nan)
    if summary == "total":
        return np.asarray(scores.sum(-1))
    topics = scores.shape[-1]
    return of_mean(np.add.reduce(tested(scores, summary), axis=-1) / topics, topics, summary)


def summarize_rises(scores: Floats, rises: Floats, summary: Summary) -> Floats:
    """How far the summary would rise if each topic rose by so much: a residual, or a part of it."""
    if summary == "geometric":
        return summarize(scores + rises, summary) - summarize(scores, summary)
    return summarize(rises, summary)


def tested(scores: Floats, summary: Summary) -> Floats:
    """The values of topics whose mean is tested: logarithms for a geometric mean, else the scores.

    A difference of mean logarithms is the logarithm of the ratio of the geometric means.
    """
    return np.log(np.maximum(scores, LEAST)) if summary == "geometric" else scores


def of_mean(mean: Floats, topics: int, summary: Summary) -> Floats:
    """What a mean of `tested` values is as a summary; of a mean difference: the difference, or the ratio of geometric
    means."""
    return mean * topics if summary == "total" else np.exp(mean) if summary == "geometric" else mean
