"""The measures by name, the table of them, and how text becomes measures. Its modules are internal."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradedeval.kernel.measures.definition import QUANTITIES, Measure, intent_aware, measure
from gradedeval.kernel.measures.parse import CWL_DEFAULT, DEFAULT, ENTRY_POINTS, load_measures, parse_measures
from gradedeval.kernel.measures.table import MEASURES

if TYPE_CHECKING:
    from gradedeval.kernel.measures.spellings import ALIASES as ALIASES

__all__ = [
    "ALIASES",
    "CWL_DEFAULT",
    "DEFAULT",
    "ENTRY_POINTS",
    "MEASURES",
    "QUANTITIES",
    "Measure",
    "intent_aware",
    "load_measures",
    "measure",
    "parse_measures",
]


def __getattr__(name: str) -> Any:
    """Each measure by its name, as in `from gradedeval.measures import err`; `set_` where Python needs the name, and
    names of ir_measures and others, such as nDCG."""
    if name == "ALIASES":
        return import_module("gradedeval.kernel.measures.spellings").ALIASES  # not for a plain evaluation
    found: Measure = import_module("gradedeval.kernel.measures.parse").called(name)
    return found


def __dir__() -> list[str]:
    return [*__all__, *MEASURES]
