"""How many examples hypothesis draws: all of them in the profile `ci`, a quarter in the one used otherwise."""

from __future__ import annotations

from hypothesis import settings

# In per cent of what a test asks for.
settings.register_profile("default", max_examples=25)
settings.register_profile("ci", max_examples=100)

LEAST = 5


def drawn(count: int, *, steady: bool = True) -> settings:
    """So many examples in the profile `ci`; `steady`: the same ones in every run."""
    share = settings.default.max_examples if settings.default else 100
    return settings(deadline=None, derandomize=steady, max_examples=max(min(LEAST, count), count * share // 100))
