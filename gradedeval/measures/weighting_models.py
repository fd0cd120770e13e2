"""Weighting models: fixed distributions of attention over the ranks."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gradedeval.arrays import Floats, distinct
from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure, measure
from gradedeval.measures.gains import Gains, row_sums
from gradedeval.measures.parameters import POSITIVE, Check, needs_file, read_parameter_file
from gradedeval.measures.properties import Arguments, Cutoff
from gradedeval.trec.small_tables import small_table


def weighting(cutoff: Cutoff, **more: Any) -> Callable[[Callable[..., Floats]], Measure]:
    """`@measure` as all of them use it: gains in [0, 1], and weights of sum 1 that go on past the end of the run."""
    return measure(gain="linear", scale="unit", residual="beyond_run", ceiling=1, cutoff=cutoff, **more)


# From this rank on sums over ranks are integrals with corrections.
FAR = 64


def expected_gain(g: Gains, weight: Callable[[Floats], Floats], beyond: Callable[[int], float]) -> Floats:
    """topics: Σ w_i r_i.

    weight  ranks -> w
    beyond  n -> the sum of w over the ranks after n, down to the cutoff
    """
    score = row_sums(g.gain * weight(g.rank))
    if g.tail:
        lengths, topic = distinct(g.retrieved)
        score += g.tail * np.array([beyond(length) for length in lengths.tolist()])[topic]
    return score


def _by_rank(g: Gains, weights: Floats) -> Floats:
    """topics: Σ w_i r_i, with the weights of the first ranks and 0 after them.

    What is missing to 1 lies past them: where a distribution was truncated is unknown.
    """
    last = int(min(g.last_rank, len(weights)))
    cut_off = max(0.0, 1 - math.fsum(weights)) if g.k is None else 0.0
    return expected_gain(g, lambda rank: _first(weights, len(rank)), lambda n: float(weights[n:last].sum()) + cut_off)


def _first(weights: Floats, ranks: int) -> Floats:
    """The weights of the first ranks, 0 after the last weight."""
    padded: Floats = np.append(weights, np.zeros(max(0, ranks - len(weights))))[:ranks]
    return padded


def _weights_column(g: Gains, weight: Floats) -> dict[str, Floats]:
    return {"W": np.broadcast_to(weight, g.gain.shape)}


def powers(beta: float, after: int, last: float) -> float:
    """Σ i^−β over the ranks after `after`, down to `last`, which may be infinite for β > 1; by Euler–Maclaurin."""
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
    """Σ 1 / ln i over the ranks after `after` ≥ 1 down to `last`; by Euler–Maclaurin."""
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
    """li(x), x > 1, up to Euler's constant: ln ln x + Σ_{m≥1} (ln x)^m / (m · m!)."""
    log = math.log(x)
    total, term, m = math.log(log), 1.0, 0
    while m < log or term > 1e-17 * total:
        m += 1
        term *= log / m
        total += term / m
    return total


@weighting(
    cutoff="required",
    details=lambda g: _weights_column(g, np.full(len(g.rank), 1 / g.last_rank)),
)
def uniform(g: Gains) -> Floats:
    """Uniform weights: everybody views k documents, with equal weights.

    w_i = 1/k for i ≤ k

    Zhang et al., Information Retrieval 2010, section 3.2.1.
    """
    k = int(g.last_rank)
    return expected_gain(g, lambda rank: np.full(len(rank), 1 / k), lambda n: (k - n) / k)


def _zipf_converges(arguments: Arguments, cutoff: int | None) -> None:
    beta = float(str(arguments.get("beta", 1)))
    if cutoff is None and beta <= 1:
        raise InputError("'zipf'", f"with beta={beta:g} the weights have no finite sum", "write zipf@100", usage=True)


@weighting(
    cutoff="renormalizes",
    checks={"beta": POSITIVE},
    validate=_zipf_converges,
    details=lambda g, *, beta=1.0: _weights_column(g, g.rank**-beta / powers(beta, 0, g.last_rank)),
)
def zipf(g: Gains, *, beta: float = 1.0) -> Floats:
    """Zipf weights: a power law, down to rank k; without a cutoff for beta > 1 only.

    w_i = i^−β / Σ_{j≤k} j^−β

    Zhang et al., Information Retrieval 2010, section 3.2.2.
    """
    whole = powers(beta, 0, g.last_rank)
    return expected_gain(g, lambda rank: rank**-beta / whole, lambda n: powers(beta, n, g.last_rank) / whole)


@lru_cache
def _poisson(alpha: float) -> Floats:
    """w of the ranks 1, 2, …, as long as a double holds it: ratios from the largest weight on, which is exact."""
    mode, last = int(alpha), int(alpha + 40 * math.sqrt(alpha) + 60)
    rising = np.cumprod(np.arange(mode, 0, -1.0) / alpha)[::-1]
    falling = np.cumprod(alpha / np.arange(mode + 1.0, last))
    weights = np.concatenate([rising, [1.0], falling])
    return np.asarray(weights / math.fsum(weights))


@weighting(
    cutoff="truncates",
    monotone=lambda arguments: bool(np.less_equal(arguments.get("alpha", 1), 1)),
    checks={"alpha": ("a number above 0, up to a million", lambda alpha: 0 < alpha <= 1e6)},
    details=lambda g, *, alpha=1.0: _weights_column(g, _first(_poisson(float(alpha)), len(g.rank))),
)
def poisson(g: Gains, *, alpha: float = 1.0) -> Floats:
    """Poisson weights; the first two ranks weigh the same for alpha = 1, and weights rise before they fall above that.

    w_i = α^(i−1) e^−α / (i−1)!

    Zhang et al., Information Retrieval 2010, section 3.2.3.
    """
    return _by_rank(g, _poisson(float(alpha)))


def _logharmonic(rank: Floats, b: float, whole: float) -> Floats:
    """The weights, scaled to sum to 1 where they were `whole`."""
    weights: Floats = 1 / (whole * np.maximum(np.log(np.maximum(rank, b)) / math.log(b), 1))
    return weights


def _unscaled_sum(n: int, b: float) -> float:
    """The sum of the weights down to rank n before they are scaled."""
    return min(n, b) + math.log(b) * inverse_logarithms(int(b), n)


@weighting(
    cutoff="required",
    checks={"b": ("a whole number from 2", lambda b: b >= 2 and b == int(b))},
    details=lambda g, *, b=2: _weights_column(g, _logharmonic(g.rank, b, _unscaled_sum(int(g.last_rank), b))),
)
def logharmonic(g: Gains, *, b: float = 2) -> Floats:
    """Log-harmonic weights: the discount of Järvelin & Kekäläinen's DCG, scaled to sum to 1 down to rank k.

    w_i = 1/S for i ≤ b, 1/(S log_b i) for b < i ≤ k, S their sum

    Zhang et al., Information Retrieval 2010, eq. 2.
    """
    k, whole = int(g.last_rank), _unscaled_sum(int(g.last_rank), b)
    return expected_gain(
        g,
        lambda rank: _logharmonic(rank, b, whole),
        lambda n: (min(k, b) - min(n, b) + math.log(b) * inverse_logarithms(max(int(b), n), k)) / whole,
    )


def read_weights(name: str) -> Floats:
    """The weights of a file with lines of rank,weight.

    Raises InputError (usage) where it cannot be read, or is not a distribution.
    """
    return _weights(name, read_parameter_file(name))


@lru_cache
def _weights(name: str, data: bytes) -> Floats:
    weights = rank_weights(name, usage=True, data=data)
    if not 0 < weights.sum() <= 1 + 1e-9:
        what, hint = f"the weights sum to {weights.sum():g}", "they must sum to 1, or less if the list was cut"
        raise InputError(name, what, hint, usage=True)
    return weights


def rank_weights(path: str | os.PathLike[str], *, usage: bool = False, data: bytes | None = None) -> Floats:
    """The weights of ranks 1, 2, … in a file with lines of rank,weight, as numbers from 0.

    Raises InputError where it cannot be read, or a rank has no weight, or two.
    """
    hint = "expected lines of rank,weight"
    return np.array(small_table(path, ("rank", "weight"), hint=hint, usage=usage, data=data).by_rank("weight"))


@weighting(
    cutoff="truncates",
    monotone=lambda arguments: bool((np.diff(read_weights(str(arguments["file"]))) <= 0).all()),
    checks={"file": Check("a file", lambda name: len(read_weights(name)) > 0, names_file=True)},
    validate=needs_file("wp", "lines of rank,weight", "weights.csv"),
    details=lambda g, *, file: _weights_column(g, _first(read_weights(str(file)), len(g.rank))),
)
def wp(g: Gains, *, file: str | None = None) -> Floats:
    """Weighted precision with the weights of a file: one a rank, 0 after the last, as `gradedeval weights` writes.

    Σ w_i r_i

    Zhang et al., Information Retrieval 2010, eq. 1.
    """
    return _by_rank(g, read_weights(str(file)))
