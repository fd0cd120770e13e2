"""p values, corrections and effect sizes of paired differences, for many pairs of runs at once."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal, get_args

import numpy as np

from gradedeval.analysis.resampling import is_exact, randomization
from gradedeval.arrays import Floats
from gradedeval.errors import InputError, did_you_mean, plural
from gradedeval.parallel.progress import Progress, no_progress

Test = Literal["randomization", "t", "wilcoxon", "sign", "tukey-hsd"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
TESTS: tuple[str, ...] = get_args(Test)
CORRECTIONS: tuple[str, ...] = get_args(Correction)
DRAWN = ("randomization", "tukey-hsd")

NOTHING = 1e-12
"""Scores that differ by no more than this are equal: it is the last bits of two sums."""


def scipy_stats() -> Any:
    """scipy.stats. Raises InputError (usage) where scipy is not installed."""
    try:
        from scipy import stats
    except ImportError:
        raise InputError("", "scipy is not installed", "pip install 'gradedeval[stats]'", usage=True) from None
    return stats


def check_choice(value: str, choices: tuple[str, ...], option: str) -> None:
    """Raises InputError (usage) where `value` is none of the choices."""
    if value not in choices:
        raise InputError(
            option, f"no choice '{value}'", did_you_mean(value, choices) or f"one of {', '.join(choices)}", usage=True
        )


def check_draws(draws: int, alpha: float, seed: int = 0) -> None:
    """Raises InputError (usage) where there is nothing to draw, the level is none, or the seed is below 0."""
    if draws < 1:
        raise InputError("--draws", f"{draws} draws are too few", "as in 10000", usage=True)
    if not 0 < alpha < 1:
        raise InputError("--alpha", f"{alpha:g} is no level", "between 0 and 1, as in 0.05", usage=True)
    if seed < 0:
        raise InputError("--seed", f"{seed} is below 0", "0 or more", usage=True)


def p_values(differences: Floats, test: Test, draws: int, seed: int, progress: Progress = no_progress) -> Floats:
    """Two-sided p of each pair; 1 where no topic differs.

    differences  pairs × topics
    test         `t` (Student 1908), `wilcoxon` (1945; zeros left out), `sign` (ties left out) or `randomization`

    Raises InputError (usage) where a test needs scipy and it is not installed.
    """
    same = ~differences.any(1)
    p = np.ones(len(differences))
    others = differences[~same]
    if test == "randomization":
        p[~same] = randomization(others, draws, seed, progress)
    elif test == "t":
        p[~same] = _t_test(others)
    elif test == "wilcoxon":
        p[~same] = _wilcoxon(others)
    else:
        p[~same] = _sign(others)
    return p


def _t_test(differences: Floats) -> Floats:
    stats = scipy_stats()
    if differences.shape[1] < 2:
        return np.ones(len(differences))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all topics may differ alike: then t is infinite, and p is 0
        found: Floats = stats.ttest_1samp(differences, 0.0, axis=1).pvalue
    return found


def _wilcoxon(differences: Floats) -> Floats:
    """As scipy chooses between the exact and the normal distribution, but for every pair on its own: over an array it
    would choose one for all. Differences that are equal but for their last bits share a rank."""
    stats = scipy_stats()
    differences = np.array([_ranked(own) for own in differences]).reshape(differences.shape)
    ranked = np.sort(np.abs(differences), axis=1)
    plain = (ranked[:, 0] > 0) & (np.diff(ranked, axis=1) > 0).all(1)
    p = np.ones(len(differences))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns of few topics beside giving its answer
        if plain.any():
            p[plain] = stats.wilcoxon(differences[plain], axis=1).pvalue
        for row in np.flatnonzero(~plain).tolist():
            p[row] = stats.wilcoxon(differences[row]).pvalue
    return p


def _ranked(differences: Floats) -> Floats:
    """Each difference's sign times the level of its size: 1 for the smallest, 2 for the next."""
    sizes = np.abs(differences)
    levels = tied(np.append(sizes, 0.0), 1e-9 * float(sizes.max()))
    found: Floats = np.sign(differences) * np.unique(levels, return_inverse=True)[1][:-1]
    return found


def tied(values: Floats, apart: float) -> Floats:
    """The values, with each that lies no further than `apart` above the next lower one made equal to it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.append(True, np.diff(ordered) > apart)
    found = np.empty_like(values)
    found[order] = ordered[first][np.cumsum(first) - 1]
    return found


def _sign(differences: Floats) -> Floats:
    stats = scipy_stats()
    wins, losses = (differences > 0).sum(1).tolist(), (differences < 0).sum(1).tolist()
    counts = list(zip(wins, losses, strict=True))
    known = {(won, lost): stats.binomtest(won, won + lost).pvalue for won, lost in set(counts)}
    return np.array([known[count] for count in counts])


def corrected(p: Floats, correction: Correction) -> Floats:
    """p values of one family, so that comparing each with α holds for all of them together.

    `holm` (1979) and `bonferroni` bound the chance of a single false alarm, `bh` (Benjamini & Hochberg 1995) the share
    of false alarms; `none` leaves them.
    """
    count = len(p)
    if correction == "bonferroni":
        return np.minimum(p * count, 1)
    found = p.copy()
    if correction == "holm":
        order = np.argsort(p, kind="stable")
        found[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(count, 0, -1)), 1)
    elif correction == "bh":
        order = np.argsort(-p, kind="stable")
        found[order] = np.minimum(np.minimum.accumulate(p[order] * (count / np.arange(count, 0, -1))), 1)
    return found


def effect_size(differences: Floats) -> Floats:
    """Standardized mean difference of each pair (Cohen's d for paired data): mean / sample deviation of differences.

    0 where no topic differs, infinite where all differ alike. Sakai, SIGIR Forum 2014.
    """
    mean = differences.mean(1)
    deviation = differences.std(1, ddof=1) if differences.shape[1] > 1 else np.zeros(len(differences))
    deviation = np.where(deviation <= NOTHING * np.abs(mean), 0.0, deviation)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect: Floats = mean / deviation
    return np.where(mean == 0, 0.0, effect)


def drawn(test: str, topics: int, draws: int, seed: int, runs: int = 2) -> str:
    """The test and what it drew, for the line under a table."""
    if test not in DRAWN:
        return test
    exact = is_exact(topics, draws, runs if test == "tukey-hsd" else 2)
    return f"{test}, all permutations" if exact else f"{test}, {draws} draws, seed {seed}"


def is_drawn(test: Test, topics: int, draws: int, runs: int = 2) -> bool:
    """Whether a test rests on random draws; by few topics all permutations are listed."""
    return test in DRAWN and not is_exact(topics, draws, runs if test == "tukey-hsd" else 2)


def least_p(test: Test, topics: int, draws: int, runs: int = 2) -> float:
    """The p of the largest difference that there can be; 0 where the test has no bound that is known beforehand.

    runs  whose labels tukey-hsd shuffles
    """
    if topics < 2:
        return 1.0
    if is_drawn(test, topics, draws, runs):
        return 1 / (1 + draws)
    labels = runs if test == "tukey-hsd" else 2
    # The difference turns round as often as all topics can be relabelled alike.
    return float(math.factorial(labels) ** (1 - topics)) if test in (*DRAWN, "sign") else 0.0


def beyond_reach(
    level: float, p: float, test: Test, topics: int, draws: int, count: int, correction: Correction, runs: int = 2
) -> tuple[str, str] | None:
    """What stands against any p at or below the level, and the cure; None where nothing does.

    p      the least one can come to by `least_p`, as corrected
    count  how many p values the correction is over
    """
    if p <= level:
        return None
    least = least_p(test, topics, draws, runs)
    drawn = is_drawn(test, topics, draws, runs)
    by = f"{draws} draws" if drawn else f"{topics} {plural(topics, 'topic')}"
    factor = count if correction in ("holm", "bonferroni") else 1  # bh corrects nothing where all p are as small
    family = f", {p:.4g} by {correction} over {count}" if factor > 1 else ""
    what = f"with {by} p is {least:.2g} at least{family}, and so never significant at {level:g}"
    needed = math.ceil(factor / level) - 1
    needed += least_p(test, topics, needed, runs) * factor > level  # the last bit of a product
    enough = drawn and least_p(test, topics, needed, runs) * factor <= level
    return what, (f"--draws {needed} or more" if enough else "more topics") + (", or --test t" if topics > 1 else "")
