"""V, the chance of viewing each rank, and the five quantities that are sums over it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.measures.cwl_family.walk import Walk, checked
from gradedeval.measures.gains import Gains, row_sums, safe_divide, with_rest


@dataclass(frozen=True, eq=False)
class Paths:
    """V and its sums: viewed topics × ranks, V(i), zero past the end; `onward` topics: V of the rank after the end."""

    walk: Walk
    continuation: Floats
    viewed: Floats
    onward: Floats
    rest: Floats

    @cached_property
    def stopping(self) -> Floats:
        """topics × ranks: L(i), the chance that i is the last rank viewed."""
        return self.viewed * (1 - self.continuation)

    @cached_property
    def after(self) -> Floats:
        """topics: how many ranks are viewed past the end; none by nobody, however long they would go on."""
        somebody = self.onward > 0
        found: Floats = np.where(somebody, self.onward * np.where(somebody, self.rest, 0), 0)
        return found

    @cached_property
    def depth(self) -> Floats:
        """topics: ΣV, how many ranks are viewed."""
        return row_sums(self.viewed) + self.after

    def forever(self, fades: bool) -> Floats:
        """topics: the chance of never stopping; `fades` says that V tends to 0."""
        return np.where(np.isinf(self.rest) & (not fades), self.onward, 0)


def paths(walk: Walk, continuation: Any, rest: Floats | float) -> Paths:
    """V of every rank. `rest`: how many ranks someone at the first rank past the end will view, that one included."""
    shape = walk.gain.shape
    c = checked(continuation, walk)
    alike = c.strides[0] == 0  # all topics have one C: one product for all of them
    products = np.broadcast_to(np.cumprod(c[:1], axis=1), shape) if alike else np.cumprod(c, axis=1)
    viewed = np.ones(shape)
    viewed[:, 1:] = products[:, :-1]
    within: Bools = np.arange(shape[1]) < walk.end[:, None]
    onward = walk.at_end(products, before=1.0)
    return Paths(walk, c, viewed * within, onward, np.broadcast_to(np.asarray(rest, dtype=np.float64), onward.shape))


def quantity(paths: Paths, of: str, cut: int | None, fades: bool) -> Floats:
    """One of the five quantities of every topic; `cut` ends its sum at that rank, W and V are those of the full depth;
    `fades` says that V tends to 0."""
    walk, viewed = paths.walk, paths.viewed
    after, depth = paths.after, paths.depth
    if cut is not None:
        return _down_to(paths, of, cut)
    if of == "ed":
        return depth
    if of in ("ec", "etc"):
        spent = row_sums(viewed * walk.cost) + after if walk.priced else depth
        return spent if of == "etc" else _rate(spent, depth, 1.0)
    gained = row_sums(viewed * walk.gain) + (walk.tail * after if walk.tail else 0)
    if of == "eu":
        return _rate(gained, depth, walk.tail)
    # Whoever never stops gains nothing in all: the sum is over those who stop.
    left = paths.forever(fades) * walk.at_end(walk.gained) if walk.tail == 0 else 0
    return gained - left


def _down_to(paths: Paths, of: str, cut: int) -> Floats:
    """The sum of a quantity down to a rank: ΣWr, ΣLΓ, ΣWc, ΣLK or ΣV."""
    walk = paths.walk
    if of in ("etu", "etc"):
        so_far = walk.gained if of == "etu" else walk.spent
        return row_sums((paths.stopping * so_far)[:, :cut])
    each = {"eu": walk.gain, "ec": walk.cost}.get(of)
    seen = row_sums((paths.viewed if each is None else paths.viewed * each)[:, :cut])
    return seen if of == "ed" else safe_divide(seen, paths.depth)


def _rate(part: Floats, depth: Floats, limit: float) -> Floats:
    """part / depth; where the walk never ends, the limit."""
    endless = np.isinf(depth)
    return np.where(endless, limit, safe_divide(np.where(endless, 0, part), np.where(endless, 1, depth)))


def at_horizon(paths: Paths, of: str, cut: int | None) -> Floats:
    """As `quantity` where everything stops at the last rank: whoever is still on the way has not stopped."""
    walk = paths.walk
    if of not in ("etu", "etc") or cut is not None:
        return quantity(paths, of, cut, fades=True)
    so_far = walk.gained if of == "etu" else walk.spent
    return row_sums(paths.stopping * so_far)


def steps(paths: Paths, g: Gains, of: str, cut: int | None, fades: bool) -> dict[str, Floats]:
    """The workings of the ranks of `g`, and of all after them: C, V, W, the contribution, the cost if there is one, and
    for a total the chance of stopping, L, and what there is by then.

    See `quantity` for the parameters. What the ranks add sums to it: W·r for eu, L·Γ for etu, W·c for ec, L·K for etc,
    V for ed.
    """
    walk, viewed, after, ranks = paths.walk, paths.viewed, paths.after, g.gain.shape[1]
    depth = paths.depth
    own: dict[str, Floats] = {}
    weight, weight_after = (
        safe_divide(viewed, depth[:, None]),
        np.where(np.isinf(depth), 1.0, safe_divide(after, depth)),
    )
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
