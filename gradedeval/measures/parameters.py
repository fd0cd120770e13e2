"""The parameters in a measure's parentheses: which it takes, and what they may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.errors import InputError, did_you_mean
from gradedeval.measures.gain_schemes import read_scheme
from gradedeval.measures.notation import Value, read_value, write_value

if TYPE_CHECKING:
    pass


Valid = tuple[str, Callable[[Any], bool]]
"""What a parameter must be, in words and as a test."""

POSITIVE: Valid = ("a number above 0", lambda value: isinstance(value, int | float) and value > 0)
SHARE: Valid = ("in [0, 1)", lambda value: 0 <= value < 1)
NUMBER: Valid = ("a number", lambda value: isinstance(value, int | float))
NOT_BELOW_0: Valid = ("0 or more", lambda value: value >= 0)
_REL: Valid = ("a grade above 0", lambda value: isinstance(value, int | float) and value > 0)


def checked(definition: Any, key: str, value: Value) -> Value:
    """The value as the measure takes it. Raises InputError (usage) for a key or value that it does not take."""
    place = f"'{definition.name}'"
    example = f"as in {key}={_example(definition, key)}"
    if isinstance(value, list):
        value = tuple(float(part) for part in value)
    if key == "g" and isinstance(value, int | float):
        value = (float(value),)
    if isinstance(value, float | tuple) and not np.isfinite(value).all():
        raise InputError(place, f"{key}={write_value(value)} is not finite", example, usage=True)
    if key not in definition.keys and definition.open:
        if not isinstance(value, int | float):
            raise InputError(place, f"{key}={write_value(value)} is not a number", f"as in {key}=0.5", usage=True)
        return value
    if key not in definition.keys:
        takes = f"it takes {', '.join(definition.keys)}" if definition.keys else "it takes none"
        raise InputError(place, f"no parameter '{key}'", did_you_mean(key, definition.keys) or takes, usage=True)
    if key == "gain":
        return read_scheme(read_value(value) if isinstance(value, str) else value, place)
    what, valid = definition.valid.get(key, _REL if key == "rel" else _kind(definition.parameters[key]))
    if isinstance(definition.parameters.get(key), str):
        value = value if isinstance(value, str) else write_value(value)
    try:
        good = valid(value)
    except TypeError:
        good = False
    if not good:
        raise InputError(place, f"{key}={write_value(value)} is not {what}", example, usage=True)
    return value


def _kind(default: Any) -> Valid:
    if isinstance(default, str):
        return "a word", lambda value: isinstance(value, str)
    return "a number", lambda value: isinstance(value, int | float)


def _example(definition: Any, key: str) -> str:
    default = definition.parameters.get(key, 1)
    return "1:1:2" if default is None and key == "g" else "2" if default is None else write_value(default)
