"""The faults that are planted to try the tests still have a place."""

import pytest

from support.mutations import MUTATIONS, place


@pytest.mark.parametrize("old", [old for old, _ in MUTATIONS])
def test_a_fault_has_its_place(old: str) -> None:
    assert place(old)
