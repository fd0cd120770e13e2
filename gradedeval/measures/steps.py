"""The steps of a C/W/L walk: C, V, W and what each rank adds to one of the five quantities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradedeval.gains import Floats, Gains, share, with_rest

if TYPE_CHECKING:
    from gradedeval.measures.paths import Paths


def steps(paths: Paths, g: Gains, of: str, cut: int | None, fades: bool) -> dict[str, Floats]:
    """The workings of the ranks of `g`, and of all after them: C, V, W, the contribution, the cost if there is one, and
    for a total the chance of stopping, L, and what there is by then.

    See `quantity` for the parameters. What the ranks add sums to it: W·r for eu, L·Γ for etu, W·c for ec, L·K for etc,
    V for ed.
    """
    walk, viewed, after, ranks = paths.walk, paths.viewed, paths.after, g.gain.shape[1]
    depth = paths.depth
    own: dict[str, Floats] = {}
    weight, weight_after = share(viewed, depth[:, None]), np.where(np.isinf(depth), 1.0, share(after, depth))
    if of in ("eu", "ec"):
        terms = weight * (walk.gain if of == "eu" else walk.cost)
        rest = weight_after * (walk.tail if of == "eu" else 1.0)
    elif of == "ed":
        terms, rest = viewed, after
    else:
        so_far = walk.gained if of == "etu" else walk.spent
        terms = paths.stopping * so_far
        # Who gets past the end takes along what there was, and stops some time; at a horizon that is no stop.
        rest = (paths.onward - paths.forever(fades)) * walk.at_end(so_far) * (not walk.closed)
        rest = rest + (after if of == "etc" else walk.tail * after if walk.tail else 0)
        own = {"L": paths.stopping, "gained" if of == "etu" else "spent": so_far}
    if cut is not None:
        terms, rest = terms * (walk.rank <= cut), np.zeros(len(depth))
    columns = {
        "C": _only(paths.continuation, ranks),
        "V": _beyond(viewed, ranks, after),
        "W": _beyond(weight, ranks, weight_after),
        **{name: _only(values, ranks) for name, values in own.items()},
        "contribution": _beyond(terms, ranks, rest),
    }
    return columns if g.cost is None else {"cost": g.cost, **columns}


def _only(values: Floats, ranks: int) -> Floats:
    """topics × ranks: the values, cut or padded to so many ranks."""
    return with_rest(values, ranks)[:, :-1]


def _beyond(values: Floats, ranks: int, after: Floats) -> Floats:
    """topics × (ranks + 1): the values, and the sum of those that no rank has, with what comes after all of them."""
    found = with_rest(values, ranks)
    found[:, -1] += after
    return found
