"""Names and order of rooms in docs/architecture.md."""

import importlib
import re
from typing import Any

import pytest

from support.paths import ROOT
from support.rooms import KERNEL, ORDER

TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS = re.findall(r"^\| `(\w+)` \|", TEXT, flags=re.MULTILINE)
NAMES = sorted(
    {name for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", TEXT) if name.partition(".")[0] in ORDER + KERNEL}
)


def part_of(name: str) -> Any:
    """Return the module of a dotted name, the longest that exists, and its attributes."""
    inside = name.partition(".")[0] in KERNEL
    parts = f"gradedeval.{'kernel.' if inside else ''}{name}".split(".")
    for end in range(len(parts), 1, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            value = getattr(value, attribute)
        return value
    raise ModuleNotFoundError(name)


def test_the_rooms_are_listed_from_the_top_in_the_order_of_imports() -> None:
    position = ORDER.index("kernel")
    assert tuple(reversed(ROOMS)) == (*ORDER[:position], *KERNEL, *ORDER[position:])


def test_many_names_are_checked() -> None:
    assert len(NAMES) > 30


@pytest.mark.parametrize("name", NAMES)
def test_names_of_the_page_exist(name: str) -> None:
    value = part_of(name)
    assert callable(value) or isinstance(value, property), name
