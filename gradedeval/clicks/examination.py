"""Whether a user examined a rank, given what was clicked: the E-step of the click models in which users go down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradedeval.arrays import Bools, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Examined:
    """What the clicks say of a user who goes down the list. Arrays are (ranks + 1) × columns, but `chance`.

    before  the probability that the rank is examined, given the clicks above it
    chance  ranks × columns: the probability of a click, given the clicks above it
    given   the probability that the rank is examined, given all clicks
    """

    before: Floats
    chance: Floats
    given: Floats


def examined_before(click: Bools, attracts: Floats, after_click: Floats, after_skip: Floats) -> tuple[Floats, Floats]:
    """`Examined.before` and `Examined.chance`: rank by rank, all sessions at once.

    click        ranks × columns: whether the rank was clicked
    attracts     ranks × columns: the probability of a click where it is examined
    after_click  ranks × columns: the probability of going on after a click, and `after_skip` without
    """
    before, chance = np.ones((len(click) + 1, click.shape[1])), np.empty(click.shape)
    for rank, (clicked, a) in enumerate(zip(click, attracts, strict=True)):
        chance[rank] = a * before[rank]
        skipped = 1 - chance[rank]
        on = before[rank] * (1 - a) * after_skip[rank] / np.where(skipped > 0, skipped, 1)
        before[rank + 1] = np.where(clicked, after_click[rank], on)
    return before, chance


def examined(click: Bools, attracts: Floats, after_click: Floats, after_skip: Floats) -> Examined:
    """What the clicks above and below say; parameters as in `examined_before`."""
    before, chance = examined_before(click, attracts, after_click, after_skip)
    given = before.copy()
    # The probability of the clicks from here on, where this rank is examined and where it is not, up to a factor.
    here, not_here = np.ones((2, click.shape[1]))
    for rank in range(len(click) - 1, -1, -1):
        clicked = click[rank]
        on = np.where(clicked, after_click[rank], after_skip[rank])
        below = on * here + (1 - on) * not_here
        here = np.where(clicked, attracts[rank], 1 - attracts[rank]) * below
        not_here = np.where(clicked, 0.0, not_here)
        largest = np.maximum(here, not_here)
        scale = np.where(largest > 0, largest, 1)
        here, not_here = here / scale, not_here / scale
        both = before[rank] * here + (1 - before[rank]) * not_here
        given[rank] = np.where(both > 0, before[rank] * here / np.where(both > 0, both, 1), before[rank])
    return Examined(before, chance, given)
