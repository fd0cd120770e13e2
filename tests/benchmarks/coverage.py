"""Coverage of 95% intervals of a mean difference, and errors of tests at 0.05 of a difference of 0.

Prints the two tables of coverage.md. Of each kind of differences sets of 6, 10, 25 and 50 topics are
drawn, and each is tested as `compare` does, with 10,000 draws. With QRELS and runs also differences as retrieval has
them: those of a pair of runs at random, less their mean, drawn with replacement. It is not part of the tests.

    nice python tests/benchmarks/coverage.py QRELS RUN...
"""

import argparse
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import gradedeval
from gradedeval.analysis.score_matrix import run_pairs, to_matrix, topic_differences
from gradedeval.analysis.significance import PAIR_TESTS, Test, with_interval

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Floats]
"""sets × topics, of a generator and both numbers."""
SIZES, DRAWS, ALPHA, PART = (6, 10, 25, 50), 10_000, 0.05, 500
MEASURES = ("err", "ndcg@10", "ap", "rr")
COMPARED: tuple[Test, ...] = ("randomization", "bootstrap")


class Kind(NamedTuple):
    """One kind of differences, with their true mean."""

    name: str
    draw: Draw
    mean: float


def zeros(others: Draw) -> Draw:
    """Return differences of which 80 % are 0."""
    return lambda dice, sets, topics: others(dice, sets, topics) * (dice.random((sets, topics)) < 0.2)


def exponential(dice: np.random.Generator, sets: int, topics: int) -> Floats:
    return dice.exponential(1, (sets, topics))


def normal(dice: np.random.Generator, sets: int, topics: int) -> Floats:
    return dice.normal(0, 1, (sets, topics))


def skewed(dice: np.random.Generator, sets: int, topics: int) -> Floats:
    return dice.beta(0.3, 2, (sets, topics))


def successes(first: float, second: float) -> Draw:
    """Return differences of scores that are 0 or 1, by the shares of 1."""
    return lambda dice, sets, topics: (
        (dice.random((sets, topics)) < first) - (dice.random((sets, topics)) < second).astype(float)
    )


DRAWN = [
    Kind("normal", normal, 0),
    Kind("of two skewed scores", lambda *drawn: skewed(*drawn) - skewed(*drawn), 0),
    Kind("skewed: beta(0.3, 2)", skewed, 0.3 / 2.3),
    Kind("skewed: exponential", exponential, 1),
    Kind("very skewed: lognormal", lambda dice, sets, topics: dice.lognormal(0, 1, (sets, topics)), float(np.exp(0.5))),
    Kind("80% zeros, others normal", zeros(normal), 0),
    Kind("80% zeros, others exponential", zeros(exponential), 0.2),
    Kind("0 or 1: .5 and .3 are 1", successes(0.5, 0.3), 0.2),
    Kind("0 or 1: .15 and .05 are 1", successes(0.15, 0.05), 0.1),
]


def of_runs(qrels: str, runs: list[str]) -> list[Kind]:
    """Return the centred differences of pairs of runs that differ, by each measure."""
    scores = to_matrix(gradedeval.evaluate(runs, qrels, list(MEASURES)))
    kinds = []
    for column, measure in enumerate(MEASURES):
        differences = topic_differences(scores.score[:, :, column], *run_pairs(len(runs))).frame
        differences = differences[differences.any(1)]
        kinds.append(Kind(measure, resampled(differences - differences.mean(1, keepdims=True)), 0))
    return kinds


def resampled(centred: Floats) -> Draw:
    """Return topics of one pair at random for each set."""

    def draw(dice: np.random.Generator, sets: int, topics: int) -> Floats:
        pairs, places = dice.integers(0, len(centred), (sets, 1)), dice.integers(0, centred.shape[1], (sets, topics))
        return centred[pairs, places]

    return draw


@cache
def outcomes(kind: Kind, topics: int, sets: int, test: Test, signs: bool) -> tuple[Floats, Floats, Floats]:
    """Return p and the ends of the intervals of `sets` sets; each part of them has draws of its own."""
    results = []
    for part in range(sets // PART):
        dice = np.random.default_rng((topics, part))
        differences = kind.draw(dice, PART, topics)
        if signs:
            differences = differences * (1 - 2.0 * dice.integers(0, 2, differences.shape))
        results.append(with_interval(differences, test, DRAWS, part, ALPHA))
    p, low, high = (np.concatenate(values) for values in zip(*results, strict=True))
    return p, low, high


def coverage_row(kind: Kind, test: Test, sets: int) -> list[str]:
    """Return the shares of intervals that hold the mean, lie below it, lie above it and are infinite, and their
    median width."""
    columns: list[list[str]] = [[] for _ in range(5)]
    for topics in SIZES:
        _, low, high = outcomes(kind, topics, sets, test, False)
        below, above = high < kind.mean - 1e-9, low > kind.mean + 1e-9
        width = np.where(np.isnan(low), np.inf, high - low)  # without variance there is no interval
        shares = [~(below | above), below, above, np.isinf(width)]
        cells = [*(share(values.mean()) for values in shares), f"{np.median(width):.2f}".replace("inf", "∞")]
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
    return [kind.name, test, *(" ".join(column) for column in columns)]


def share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def error_row(kind: Kind, sets: int, signs: bool) -> list[str]:
    """Return the share of sets in which each test rejects a difference of 0."""
    cells = []
    for test in PAIR_TESTS:
        p_values = [outcomes(kind, topics, sets, test, signs)[0] for topics in SIZES]  # type: ignore[arg-type]
        cells.append(" ".join(share(float((p <= ALPHA).mean())) for p in p_values))
    return [kind.name, "signs at random" if signs else "centred", *cells]


def show(row: list[str]) -> None:
    print("|", " | ".join(row), "|", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--sets", type=int, default=5000, help=f"of topics, a multiple of {PART}")
    parser.add_argument("files", nargs="*", metavar="QRELS RUN...")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    kinds = [*DRAWN, *(of_runs(arguments.files[0], arguments.files[1:]) if arguments.files else [])]
    show(["differences", "test", "covers", "lies below", "lies above", "no end", "median width"])
    show(["---"] * 7)
    for kind in kinds:
        for test in COMPARED:
            show(coverage_row(kind, test, arguments.sets))
    print()
    show(["differences", "0 is the true mean", *PAIR_TESTS])
    show(["---"] * (2 + len(PAIR_TESTS)))
    for kind in [DRAWN[0], *kinds[len(DRAWN) :]]:
        for signs in (False, True):
            show(error_row(kind, arguments.sets, signs))


if __name__ == "__main__":
    sys.exit(main())
