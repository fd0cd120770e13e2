"""Fixed weights: those of a measure that is Σ_i w(i) gain_i, whatever the ranking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradedeval.analysis.background_weights import share_past
from gradedeval.analysis.contributions import check_by_rank
from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError
from gradedeval.measures.applied import last_rank, scores_of
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Gains
from gradedeval.measures.table import MEASURES
from gradedeval.options.numbers import Number
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.parallel.workers import Limits

DEEPEST = 100_000
"""The work of fixed weights grows with the square of the depth."""
RANKS = Number("--ranks", whole=True, minimum=1, maximum=DEEPEST)
"""Ranks whose fixed weights may be asked for."""


def static_weights(measure: Measure, depth: int, progress: Progress = no_progress, tried: bool = False) -> Floats:
    """ranks: the fixed weight of a gain at each rank: the score of the ranking whose only gain is 1 at that rank.

    That these are the measure's weights is tried on other rankings, which differ in length, gains, judgments and pool,
    unless that was `tried` with another value of a parameter. Raises InputError (usage) where it has no fixed weights.
    """
    if depth > DEEPEST + 1:  # one more than is asked for tells whether users go on from the last
        RANKS.check(depth)
    check_by_rank(measure)
    if measure.types:
        what = "its weights depend on the types of the documents"
        raise InputError(f"'{measure}'", what, "give it a file without types", usage=True)
    levels = _levels(measure)
    weights = _shown(measure, depth, levels)
    if weights is None:
        horizon: Any = measure.arguments.get("horizon")
        step = max(1, Limits.cells // max(depth, measure.cutoff or 0, horizon or 0))
        weights = np.zeros(depth)
        for _, begin in progress([(measure.label, begin) for begin in range(0, depth, step)]):
            end = min(begin + step, depth)
            weights[begin:end] = _scores(measure, np.eye(end - begin, end, k=begin), levels)
    if not tried:
        _checkfixed_weights(measure, weights, levels)
    return weights


def _shown(measure: Measure, depth: int, levels: Floats) -> Floats | None:
    """ranks: what the measure itself shows that each rank adds where every gain is 1; None where it shows nothing, or
    a document alone at a rank scores otherwise: then its weights have to be found one by one, which is slower."""
    shown = measure.details(_rankings(measure, np.ones((1, depth)), levels))
    column = shown.get("contribution", shown.get("W"))
    if column is None:
        return None
    weights = np.zeros(depth)
    shown_ranks = slice(min(depth, len(column[0]), measure.cutoff or depth))
    weights[shown_ranks] = column[0, shown_ranks]
    ranks = np.unique(np.geomspace(1, depth, 16).astype(np.int64))
    alone = np.zeros((len(ranks), depth))
    alone[np.arange(len(ranks)), ranks - 1] = 1
    return weights if np.allclose(_scores(measure, alone, levels), weights[ranks - 1], rtol=1e-12, atol=0) else None


def fixed_weights(measure: Measure, depth: int, progress: Progress) -> tuple[Floats, float]:
    """Fixed weights, and the share that lies past them."""
    if measure.definition.weights_in_ranking:
        hint = "give RUN... QRELS to average them"
        raise InputError(f"'{measure}'", "its weights depend on the ranking", hint, usage=True)
    weights = static_weights(measure, depth, progress)
    return weights, _share_beyond(measure, weights)


def _levels(measure: Measure) -> Floats:
    """Gains to try a measure with."""
    return np.array([1.0]) if measure.rel is not None else np.array([0.25, 0.5, 0.75, 1.0])


def _scores(
    measure: Measure, gain: Floats, levels: Floats, judged: Bools | None = None, missed: Floats | None = None
) -> Floats:
    """topics: the scores of `_rankings`."""
    return scores_of(measure, _rankings(measure, gain, levels, judged, missed))


def _rankings(
    measure: Measure, gain: Floats, levels: Floats, judged: Bools | None = None, missed: Floats | None = None
) -> Gains:
    """Rankings with these gains, topics × ranks, as the measure sees them.

    judged  topics × ranks: what is judged, beside all that has a gain; None: every document
    missed  topics × …: the gains of relevant documents that the rankings lack
    """
    judged = np.ones(gain.shape, dtype=bool) if judged is None else judged | (gain > 0)
    missed = np.zeros((len(gain), 1)) if missed is None else missed
    ideal = -np.sort(-np.concatenate([gain, missed], axis=1), axis=1)
    pool = judged.sum(1) + np.count_nonzero(missed, axis=1)
    retrieved = np.full(len(gain), gain.shape[1])
    return _cut(measure, Gains(gain, judged, ideal, retrieved, pool, levels))


def _cut(measure: Measure, g: Gains) -> Gains:
    """The rankings down to the measure's cutoff."""
    if (k := last_rank(measure)) is None:
        return replace(g, k=measure.cutoff)
    return replace(g, gain=g.gain[:, :k], judged=g.judged[:, :k], retrieved=np.minimum(g.retrieved, k), k=k)


def _checkfixed_weights(measure: Measure, weights: Floats, levels: Floats) -> None:
    """Raise InputError where the weights do not give what the first ranks add to the scores of random rankings."""
    depth = len(weights)
    draw = np.random.default_rng(2010)
    for trial, further in enumerate((0, 1, 2, 3, 7, 40, 300, 1000) * 2, 1):
        filled = (0.05, 0.3, 1.0)[trial % 3]
        gain = np.zeros((2, depth + further))
        gain[:] = draw.choice(levels, depth + further) * (draw.random(depth + further) < filled)
        gain[1, :depth] = 0
        judged = draw.random(gain.shape) < 0.5
        with_them, without = _scores(measure, gain, levels, judged, draw.choice(levels, (2, trial))).tolist()
        added = float(weights @ gain[0, :depth])
        # Where nothing else is retrieved, nothing else may count.
        others = without if further else 0.0
        if not abs(with_them - others - added) <= 1e-9 * max(1.0, abs(with_them)):
            by_ranking = [name for name, measure in MEASURES.items() if measure.definition.weights_in_ranking]
            hint = f"as p@10, rbp and dcg are; given RUN... QRELS, {', '.join(by_ranking)} have weights too"
            raise InputError(f"'{measure}'", "is not a sum of gains with fixed weights", hint, usage=True)


def _share_beyond(measure: Measure, weights: Floats) -> float:
    """The share of all weight that lies past these; nan where there is some, and no sum of it that is known."""
    depth, k, inside = len(weights), measure.cutoff, float(weights.sum())
    if measure.definition.residual == "beyond_run":
        ones = np.ones((1, depth))
        endless = Gains(ones, ones > 0, ones, np.array([depth]), np.array([depth]), np.array([1.0]), tail=1.0)
        whole = float(scores_of(measure, _cut(measure, endless))[0])
    else:
        # Such a measure does not say what ranks past the end of a run are worth; a longer run does, if it is enough.
        enough = 2 * depth + 1000 if k is None or k > Limits.cells else k
        whole, longer = (
            float(_scores(measure, np.ones((1, length)), np.array([1.0]))[0])
            for length in (max(depth, enough), 2 * max(depth, enough))
        )
        if longer - whole > 1e-12 * longer:
            return float("nan")
    if not np.isfinite(whole):
        return float("nan")
    return share_past(inside, whole)
