"""The C/W/L family by plain loops, by cwl_eval, and on one topic of given gains."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradedeval import Gains, Measure, parse_measures


def gains(values: list[float], tail: float = 0.0, k: int | None = None) -> Gains:
    """Return one topic whose documents have these gains; all ranks after them have the gain `tail`."""
    gain = np.array([values], dtype=np.float64).reshape(1, len(values))
    ideal = -np.sort(-gain, axis=1)
    number = np.array([len(values)])
    return Gains(gain, gain >= 0, ideal, number, number, np.unique(gain[gain > 0]), k, tail)


def score(measure: str | Measure, values: list[float], tail: float = 0.0) -> float:
    (parsed,) = parse_measures(measure)
    last = parsed.cutoff if parsed.definition.cutoff == "required" else None
    return float(parsed.score(gains(values[:last], tail, parsed.cutoff))[0])


def their_class(name: str) -> Callable[..., Any]:
    measures = pytest.importorskip("cwl.ruler.cwl_ruler")
    for module in ("cwl_dcg", "cwl_set", "cwl_npv", "cwl_nerr"):
        more = pytest.importorskip(f"cwl.ruler.measures.{module}")
        if hasattr(more, name):
            return getattr(more, name)  # type: ignore[no-any-return]
    return getattr(measures, name)  # type: ignore[no-any-return]


History = Sequence[float]
"""r_1 … r_i, or c_1 … c_i."""


def bejeweled(i: int, r: History, c: History, *, T: float, K: float, hb: float, hc: float, mid: float) -> float:
    surplus = sum(gain - mid for gain in r[:-1])
    return float(sum(r) < T + hb * surplus and sum(c) < K + hc * surplus)


def by_loop(chance: Callable[[int, History, History], float], r: History, c: History) -> dict[str, float]:
    """Return the five quantities of a walk that ends at the last of these ranks."""
    here, depth, utility, cost, gained, spent = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(1, len(r) + 1):
        go_on = chance(i, r[:i], c[:i])
        depth += here
        utility += here * r[i - 1]
        cost += here * c[i - 1]
        gained += here * (1 - go_on) * sum(r[:i])
        spent += here * (1 - go_on) * sum(c[:i])
        here *= go_on
        if not here:
            break
    return {"eu": utility / depth, "etu": gained, "ec": cost / depth, "etc": spent, "ed": depth}
