"""The least p that a test can come to: where it is above the level, nothing is ever significant."""

from __future__ import annotations

import math

from gradedeval.errors import plural
from gradedeval.experiments.resampling import is_exact
from gradedeval.experiments.significance import DRAWN, Correction, Test


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
