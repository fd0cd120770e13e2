"""The measures by name, their table, and the parser of measure names. Its modules are internal."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradedeval.kernel.measures.definition import MEASURES, QUANTITIES, Measure, measure
from gradedeval.kernel.measures.parse import CWL_DEFAULT, DEFAULT, parse_measures

if TYPE_CHECKING:
    from gradedeval.kernel.measures.diversity import intent_aware as intent_aware
    from gradedeval.kernel.measures.spellings import ALIASES as ALIASES
    from gradedeval.kernel.measures.user_measures import ENTRY_POINTS as ENTRY_POINTS
    from gradedeval.kernel.measures.user_measures import load_measures as load_measures

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

_LATE = {
    "ALIASES": "spellings",
    "ENTRY_POINTS": "user_measures",
    "intent_aware": "diversity",
    "load_measures": "user_measures",
}
"""Names that a plain evaluation does not need, and their modules."""


def __getattr__(name: str) -> Any:
    """Return a measure by its name, as in `from gradedeval.measures import err`; `set_` if Python reserves the name;
    also by names of ir_measures and others, such as nDCG."""
    if name in _LATE:
        return getattr(import_module(f"gradedeval.kernel.measures.{_LATE[name]}"), name)
    named: Measure = import_module("gradedeval.kernel.measures.parse").python_attribute(name)
    return named


def __dir__() -> list[str]:
    return [*__all__, *MEASURES]
