"""How many examples a test takes: a few, one in eight of them in the profile `ci`, and all in the profile `full`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import example, settings

# Percent of the number in a test.
settings.register_profile("default", max_examples=4)
settings.register_profile("ci", max_examples=12)
settings.register_profile("full", max_examples=100)

LEAST = 2


def drawn(count: int, *, steady: bool = True) -> settings:
    """Set the number of examples in the profile `full`; `steady`: the same ones in every run."""
    share = settings.default.max_examples if settings.default else 100
    return settings(deadline=None, derandomize=steady, max_examples=max(min(LEAST, count), count * share // 100))


def also(**given: Any) -> Callable[[Any], Any]:
    """Add `@example(**given)` in the profiles `ci` and `full`: one more of a kind that is always tried."""
    return example(**given) if drawn(100).max_examples > 6 else lambda test: test


def sampled(values: Iterable[Any], step: int, first: int = 0) -> list[Any]:
    """Parametrize a test with every `step`th value from `first` on, and with the others in the exhaustive run."""
    parameters = [value if isinstance(value, tuple) else (value,) for value in values]
    return [
        pytest.param(*strategies, marks=() if place % step == first else pytest.mark.exhaustive)
        for place, strategies in enumerate(parameters)
    ]
