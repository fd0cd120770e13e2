"""V, the probability of viewing each rank, and the five quantities that are sums over it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.measures.cwl_family.user_state import UserState, checked
from gradedeval.measures.gains import Gains, row_sums, safe_divide, with_remainder

TOTALS = ("etu", "etc")


@dataclass(frozen=True, eq=False, repr=False)
class Viewing:
    """V and its sums.

    continuation  topics × ranks: C(i)
    probability   topics × ranks: V(i), 0 past the end
    at_tail       topics: V of the first rank past the end
    rest          topics: how many ranks a user who reaches that rank will view, that one included
    converges     whether V tends to 0 even where that is infinite
    """

    state: UserState
    continuation: Floats
    probability: Floats
    at_tail: Floats
    rest: Floats
    converges: bool

    @cached_property
    def stopping(self) -> Floats:
        """topics × ranks: L(i), the probability that i is the last rank viewed."""
        return self.probability * (1 - self.continuation)

    @cached_property
    def past_end(self) -> Floats:
        """topics: the expected number of ranks viewed past the end; 0 where nobody gets there, even if `rest` is
        infinite."""
        reached = self.at_tail > 0
        return np.where(reached, self.at_tail * np.where(reached, self.rest, 0), 0)

    @cached_property
    def depth(self) -> Floats:
        """topics: ΣV, the expected number of ranks viewed."""
        return row_sums(self.probability) + self.past_end

    @property
    def forever(self) -> Floats:
        """topics: the probability of never stopping."""
        return np.where(np.isinf(self.rest) & (not self.converges), self.at_tail, 0)

    def so_far(self, of: str) -> Floats:
        """topics × ranks: what a total is of: the cumulative gain (etu) or cost (etc)."""
        return self.state.cumulative_gain if of == "etu" else self.state.cumulative_cost


def view_probabilities(state: UserState, continuation: Any, rest: Floats | float, converges: bool) -> Viewing:
    """V of every rank, from C; `rest` and `converges` as in `Viewing`."""
    shape = state.gain.shape
    c = checked(continuation, state)
    alike = c.strides[0] == 0  # all topics have one C: one product for all of them
    products = np.broadcast_to(np.cumprod(c[:1], axis=1), shape) if alike else np.cumprod(c, axis=1)
    v = np.ones(shape)
    v[:, 1:] = products[:, :-1]
    within: Bools = np.arange(shape[1]) < state.end[:, None]
    at_tail = state.at_end(products, before=1.0)
    ranks_past_end = np.broadcast_to(np.asarray(rest, dtype=np.float64), at_tail.shape)
    return Viewing(state, c, v * within, at_tail, ranks_past_end, converges)


def quantity(viewing: Viewing, of: str, cutoff: int | None) -> Floats:
    """topics: one of the five quantities. `cutoff` ends its sum at that rank, W and V are those of the full depth."""
    state, v = viewing.state, viewing.probability
    past_end, depth = viewing.past_end, viewing.depth
    if cutoff is not None:
        return _down_to(viewing, of, cutoff)
    if state.has_horizon and of in TOTALS:
        # A user who is still going on at the horizon has not stopped.
        return row_sums(viewing.stopping * viewing.so_far(of))
    if of == "ed":
        return depth
    if of in ("ec", "etc"):
        cost = row_sums(v * state.cost) + past_end if state.has_costs else depth
        return cost if of == "etc" else _rate(cost, depth, 1.0)
    gain = row_sums(v * state.gain) + (state.tail * past_end if state.tail else 0)
    if of == "eu":
        return _rate(gain, depth, state.tail)
    # Whoever never stops gains nothing in all: the sum is over those who stop.
    left = viewing.forever * state.at_end(state.cumulative_gain) if state.tail == 0 else 0
    return gain - left


def _down_to(viewing: Viewing, of: str, cutoff: int) -> Floats:
    """The sum of a quantity down to a rank: ΣWr, ΣLΓ, ΣWc, ΣLK or ΣV."""
    state = viewing.state
    if of in TOTALS:
        return row_sums((viewing.stopping * viewing.so_far(of))[:, :cutoff])
    values = {"eu": state.gain, "ec": state.cost}.get(of)
    seen = row_sums((viewing.probability if values is None else viewing.probability * values)[:, :cutoff])
    return seen if of == "ed" else safe_divide(seen, viewing.depth)


def _rate(part: Floats, depth: Floats, limit: float) -> Floats:
    """part / depth; the limit where the depth is infinite."""
    endless = np.isinf(depth)
    return np.where(endless, limit, safe_divide(np.where(endless, 0, part), np.where(endless, 1, depth)))


def quantity_details(viewing: Viewing, g: Gains, of: str, cutoff: int | None) -> dict[str, Floats]:
    """The details at the ranks of `g`, and in sum after them: C, V, W, the contribution; the cost if costs are given;
    for a total, the probability of stopping (L) and the gain or cost so far.

    See `quantity` for the parameters. Contributions sum to the quantity: W·r for eu, L·Γ for etu, W·c for ec, L·K for
    etc, V for ed.
    """
    state, v, past_end, ranks = viewing.state, viewing.probability, viewing.past_end, g.gain.shape[1]
    depth = viewing.depth
    more: dict[str, Floats] = {}
    w, w_past_end = safe_divide(v, depth[:, None]), np.where(np.isinf(depth), 1.0, safe_divide(past_end, depth))
    if of in ("eu", "ec"):
        terms = w * (state.gain if of == "eu" else state.cost)
        rest = w_past_end * (state.tail if of == "eu" else 1.0)
    elif of == "ed":
        terms, rest = v, past_end
    else:
        so_far = viewing.so_far(of)
        terms = viewing.stopping * so_far
        # Who gets past the end takes along what there was, and stops some time; at a horizon that is not a stop.
        rest = (viewing.at_tail - viewing.forever) * state.at_end(so_far) * (not state.has_horizon)
        rest = rest + (past_end if of == "etc" else state.tail * past_end if state.tail else 0)
        more = {"L": viewing.stopping, "gained" if of == "etu" else "spent": so_far}
    if cutoff is not None:
        terms, rest = terms * (state.rank <= cutoff), np.zeros(len(depth))
    columns = {
        "C": _without_remainder(viewing.continuation, ranks),
        "V": _with_past_end(v, ranks, past_end),
        "W": _with_past_end(w, ranks, w_past_end),
        **{name: _without_remainder(values, ranks) for name, values in more.items()},
        "contribution": _with_past_end(terms, ranks, rest),
    }
    return columns if g.cost is None else {"cost": g.cost, **columns}


def _without_remainder(values: Floats, ranks: int) -> Floats:
    """topics × ranks: the values, cut or padded to so many ranks."""
    return with_remainder(values, ranks)[:, :-1]


def _with_past_end(values: Floats, ranks: int, past_end: Floats) -> Floats:
    """topics × (ranks + 1): the values, and then the sum of those below these ranks and past the end."""
    columns = with_remainder(values, ranks)
    columns[:, -1] += past_end
    return columns
