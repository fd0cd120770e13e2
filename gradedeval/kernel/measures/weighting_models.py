"""Weighting models: fixed distributions of attention over the ranks."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from typing import Any, NamedTuple

import numpy as np

from gradedeval.arrays import Floats, distinct
from gradedeval.errors import InputError
from gradedeval.kernel.measures.definition import POSITIVE, Arguments, Check, Measure, RankSum, measure
from gradedeval.kernel.measures.gains import Gains, row_sums
from gradedeval.kernel.measures.parameters import Lines, cached_reader, needs_file
from gradedeval.kernel.trec.small_tables import SmallTable


class Weights(NamedTuple):
    """The weights of a model at ranks, and from n on the sum of those beyond, down to the cutoff."""

    at_ranks: Callable[[Floats], Floats]
    beyond: Callable[[int], float]


def weighting(**properties: Any) -> Callable[[Callable[..., Weights]], Measure]:
    """Make a measure of the weights, a function of the last rank and the parameters: Σ w_i r_i, with gains in [0, 1].
    The weights sum to 1, and go on past the end of the run."""

    def define(model: Callable[..., Weights]) -> Measure:
        def function(g: Gains, **parameters: Any) -> Floats:
            weights = model(g.last_rank, **parameters)
            score = row_sums(g.gain * weights.at_ranks(g.rank))
            if g.tail:
                lengths, topic = distinct(g.retrieved)
                score += g.tail * np.array([weights.beyond(length) for length in lengths.tolist()])[topic]
            return score

        def at_ranks(g: Gains, **parameters: Any) -> Floats:
            return model(g.last_rank, **parameters).at_ranks(g.rank)

        def details(g: Gains, **parameters: Any) -> dict[str, Floats]:
            return {"W": np.broadcast_to(at_ranks(g, **parameters), g.gain.shape)}

        update_wrapper(function, model)
        unit: Any = {
            "gain": "linear",
            "scale": "unit",
            "residual": "beyond_run",
            "bounds": "rises",
            "ceiling": 1,
            "over_ties": True,
        }
        return measure(**unit, **properties, details=details, rank_sum=RankSum("gain", at_ranks))(function)

    return define


# From this rank on sums over ranks are integrals with corrections.
FAR = 64


def _listed(weights: Floats, last: float) -> Weights:
    """Return the weights of the first ranks, and 0 after them. The difference to 1 lies past them: the rank at which a
    distribution was truncated is unknown."""
    cut_off = max(0.0, 1 - math.fsum(weights)) if math.isinf(last) else 0.0
    down_to_last = weights[: int(min(last, len(weights)))]

    def at(rank: Floats) -> Floats:
        return np.append(weights, np.zeros(max(0, len(rank) - len(weights))))[: len(rank)]

    return Weights(at, lambda n: float(down_to_last[n:].sum()) + cut_off)


def powers(beta: float, after: int, last: float) -> float:
    """Return Σ i^−β over the ranks after `after` down to `last`, infinite if β > 1 allows; by Euler–Maclaurin."""
    if last <= after:
        return 0.0
    near = np.arange(after + 1.0, min(last, max(after, FAR)) + 1)
    begin = max(after, FAR) + 1.0
    return float((near**-beta).sum()) + (_far_powers(beta, begin, last) if last >= begin else 0.0)


def _far_powers(beta: float, begin: float, last: float) -> float:
    if math.isinf(last):
        between = math.pow(begin, 1 - beta) / (beta - 1)
    elif beta == 1:
        between = math.log(last / begin)
    else:
        between = math.pow(begin, 1 - beta) * math.expm1((1 - beta) * math.log(last / begin)) / (1 - beta)
    signs = [(begin, 1.0)] if math.isinf(last) else [(begin, 1.0), (last, -1.0)]
    first = sum(sign * beta * math.pow(x, -beta - 1) for x, sign in signs)
    third = sum(sign * beta * (beta + 1) * (beta + 2) * math.pow(x, -beta - 3) for x, sign in signs)
    return between + math.fsum(math.pow(x, -beta) for x, _ in signs) / 2 + first / 12 - third / 720


def inverse_logarithms(after: int, last: int) -> float:
    """Return Σ 1 / ln i over the ranks after `after` ≥ 1 down to `last`; by Euler–Maclaurin."""
    if last <= after:
        return 0.0
    near = np.arange(after + 1.0, min(last, max(after, FAR * FAR)) + 1)
    total = float((1 / np.log(near)).sum())
    begin = max(after, FAR * FAR) + 1
    if last < begin:
        return total
    ends = 1 / math.log(begin) + 1 / math.log(last)
    slopes = 1 / (begin * math.log(begin) ** 2) - 1 / (last * math.log(last) ** 2)
    return total + _logarithmic_integral(last) - _logarithmic_integral(begin) + ends / 2 + slopes / 12


def _logarithmic_integral(x: float) -> float:
    """Return li(x), x > 1, up to Euler's constant: ln ln x + Σ_{m≥1} (ln x)^m / (m · m!)."""
    log = math.log(x)
    total, term, m = math.log(log), 1.0, 0
    while m < log or term > 1e-17 * total:
        m += 1
        term *= log / m
        total += term / m
    return total


@weighting(cutoff="required")
def uniform(last: float) -> Weights:
    """Uniform weights: every user views k documents, with equal weights.

    w_i = 1/k for i ≤ k

    Zhang et al., Information Retrieval 2010, section 3.2.1.
    """
    return Weights(lambda rank: np.full(len(rank), 1 / last), lambda n: (last - n) / last)


def _zipf_converges(arguments: Arguments, cutoff: int | None) -> None:
    beta = float(str(arguments.get("beta", 1)))
    if cutoff is None and beta <= 1:
        raise InputError("'zipf'", f"with beta={beta:g} the weights have no finite sum", "write zipf@100", usage=True)


@weighting(cutoff="renormalizes", checks={"beta": POSITIVE}, validate=_zipf_converges)
def zipf(last: float, *, beta: float = 1.0) -> Weights:
    """Zipf weights: a power law, down to rank k; without a cutoff for beta > 1 only.

    w_i = i^−β / Σ_{j≤k} j^−β

    Zhang et al., Information Retrieval 2010, section 3.2.2, always down to a rank k.

    beta  the exponent: the larger, the more the first ranks weigh
    """
    whole = powers(beta, 0, last)
    return Weights(lambda rank: rank**-beta / whole, lambda n: powers(beta, n, last) / whole)


@lru_cache
def _poisson(alpha: float) -> Floats:
    """Return w of the ranks 1, 2, … that a double can represent: exact ratios from the largest weight on."""
    mode, last = int(alpha), int(alpha + 40 * math.sqrt(alpha) + 60)
    rising = np.cumprod(np.arange(mode, 0, -1.0) / alpha)[::-1]
    falling = np.cumprod(alpha / np.arange(mode + 1.0, last))
    weights = np.concatenate([rising, [1.0], falling])
    return np.asarray(weights / math.fsum(weights))


@weighting(
    cutoff="truncates",
    monotone=lambda arguments: bool(np.less_equal(arguments.get("alpha", 1), 1)),
    checks={"alpha": ("a number above 0, up to a million", lambda alpha: 0 < alpha <= 1e6)},
)
def poisson(last: float, *, alpha: float = 1.0) -> Weights:
    """Poisson weights; the first two ranks weigh the same for alpha = 1, and weights rise before they fall above that.

    w_i = α^(i−1) e^−α / (i−1)!

    Zhang et al., Information Retrieval 2010, section 3.2.3.

    alpha  the mean of i − 1: the larger, the deeper the weights reach
    """
    return _listed(_poisson(float(alpha)), last)


@weighting(cutoff="required", checks={"b": ("a whole number from 2", lambda b: b >= 2 and b == int(b))})
def logharmonic(last: float, *, b: float = 2) -> Weights:
    """Log-harmonic weights: the discount of Järvelin & Kekäläinen's DCG, scaled to sum to 1 down to rank k.

    w_i = 1/S for i ≤ b, 1/(S log_b i) for b < i ≤ k, S their sum

    Zhang et al., Information Retrieval 2010, eq. 2.

    b  the base of the logarithm
    """
    k = int(last)
    whole = min(k, b) + math.log(b) * inverse_logarithms(int(b), k)
    return Weights(
        lambda rank: 1 / (whole * np.maximum(np.log(np.maximum(rank, b)) / math.log(b), 1)),
        lambda n: (min(k, b) - min(n, b) + math.log(b) * inverse_logarithms(max(int(b), n), k)) / whole,
    )


@cached_reader
def read_weights(name: str, lines: Lines) -> Floats:
    """Return the weights of a file with lines of rank,weight. Raises InputError (usage) if they are no distribution."""
    weights = rank_weights(name, usage=True, lines=lines)
    if not 0 < weights.sum() <= 1 + 1e-9:
        hint = "they must sum to 1, or less if the list was cut"
        raise InputError(name, f"the weights sum to {weights.sum():g}", hint, usage=True)
    return weights


def rank_weights(path: str | os.PathLike[str], *, usage: bool = False, lines: Lines | None = None) -> Floats:
    """Return the weights of ranks 1, 2, … in a file with lines of rank,weight; index 0 is rank 1."""
    hint = "expected lines of rank,weight"
    return np.array(SmallTable.read(path, ("rank", "weight"), hint=hint, usage=usage, pieces=lines).by_rank("weight"))


@weighting(
    cutoff="truncates",
    monotone=lambda arguments: bool((np.diff(read_weights(str(arguments["file"]))) <= 0).all()),
    checks={"file": Check("a file", lambda name: len(read_weights(name)) > 0, names_file=True)},
    validate=needs_file("wp", "lines of rank,weight", "weights.csv"),
)
def wp(last: float, *, file: str | None = None) -> Weights:
    """Weighted precision with the weights of a file, 0 after the last rank in it; `gradedeval weights` writes such
    files.

    Σ w_i r_i

    Zhang et al., Information Retrieval 2010, eq. 1.

    file  a file with lines of rank,weight
    """
    return _listed(read_weights(str(file)), last)
