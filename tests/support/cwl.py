"""The C/W/L family by cwl_eval, and on one topic of given gains."""

from collections.abc import Callable
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
