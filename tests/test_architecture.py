"""docs/architecture.md names what there is, and lists the rooms in their order."""

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


def found(name: str) -> Any:
    """What a dotted name below the package stands for: the longest part that is a module, and attributes of it."""
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
    at = ORDER.index("kernel")
    assert tuple(reversed(ROOMS)) == (*ORDER[:at], *KERNEL, *ORDER[at:])


def test_many_names_are_checked() -> None:
    assert len(NAMES) > 30


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_names_exists(name: str) -> None:
    value = found(name)
    assert callable(value) or isinstance(value, property), name
