"""Judged lists of different lengths, and learning to rank from them in slow loops."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradedeval import EvaluationWarning, Measure, evaluate_arrays, parse_measures

TOP = 3


@dataclass(frozen=True)
class Lists:
    """Labels and scores of documents, list after list; some scores are tied."""

    labels: Any
    scores: Any
    sizes: list[int]

    @property
    def qid(self) -> Any:
        return np.repeat(np.arange(len(self.sizes)) + 7, self.sizes)

    def each(self) -> list[tuple[Any, Any]]:
        """Return the labels and scores of each list."""
        ends = np.cumsum(self.sizes)[:-1]
        return list(zip(np.split(self.labels, ends), np.split(self.scores, ends), strict=True))


def drawn(seed: int, sizes: tuple[int, ...] = (6, 1, 9, 2, 6, 5, 12)) -> Lists:
    """Lists at random: one without a relevant document, one with a single grade."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, TOP + 1, sum(sizes)).astype(float)
    labels[: sizes[0]] = 0
    labels[-sizes[-1]] = TOP
    return Lists(labels, np.round(draw.normal(size=sum(sizes)), 1), list(sizes))


def one(text: str) -> Measure:
    (measure,) = parse_measures(text)
    return measure


def swapped(measure: Measure, grades: Any) -> Any:
    """ranks × ranks: by how much the score changes when two documents of a ranking change places, by scoring it."""
    count = len(grades)
    places = [(a, b) for a in range(count) for b in range(a + 1, count)]
    rankings = np.array([grades] * (len(places) + 1), dtype=float)
    for row, (a, b) in enumerate(places):
        rankings[row, [a, b]] = rankings[row, [b, a]]
    falling = -np.arange(count, dtype=float)
    falling = np.broadcast_to(falling, rankings.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        found = evaluate_arrays(rankings, falling, measure, ties="file", top_grade=TOP)
    scores = found.runs[0].score[:, 0]
    changes = np.zeros((count, count))
    for row, (a, b) in enumerate(places):
        changes[a, b] = changes[b, a] = scores[row] - scores[-1]
    return changes


def lambda_gradients(
    measure: Measure, lists: Lists, sigma: float, truncation: int | None, norm: bool
) -> tuple[Any, Any]:
    """Return the gradients of LambdaRank, pair after pair."""
    gradients, hessians = [], []
    for labels, scores in lists.each():
        gradient, hessian, total = np.zeros(len(labels)), np.zeros(len(labels)), 0.0
        order = sorted(range(len(labels)), key=lambda i: -scores[i])
        changes = swapped(measure, labels[order]) if len(set(labels)) > 1 and labels.max() > 0 else None
        for a in range(min(len(labels), truncation or len(labels))):
            for b in range(a + 1, len(labels)):
                i, j = order[a], order[b]
                if changes is None or labels[i] == labels[j]:
                    continue
                better, worse = (i, j) if labels[i] > labels[j] else (j, i)
                pull = abs(changes[a, b])
                if norm and scores.max() != scores.min():
                    pull /= 0.01 + abs(scores[i] - scores[j])
                chance = 1 / (1 + math.exp(sigma * (scores[better] - scores[worse])))
                gradient[better] -= sigma * pull * chance
                gradient[worse] += sigma * pull * chance
                hessian[[i, j]] += sigma**2 * pull * chance * (1 - chance)
                total += 2 * sigma * pull * chance
        factor = math.log2(1 + total) / total if norm and total else 1.0
        gradients.append(gradient * factor)
        hessians.append(np.maximum(hessian * factor, 1e-12))
    return np.concatenate(gradients), np.concatenate(hessians)
