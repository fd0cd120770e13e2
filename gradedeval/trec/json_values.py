"""JSON of a user's file -> values; what Python cannot read is told as what is not JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gradedeval.errors import InputError

TOO_DEEP, TOO_LONG = "nested too deeply", "a number has too many digits"
"""The messages about JSON that is valid, and beyond what is read: hundreds of brackets within each other, and thousands
of digits."""

# Where one of these is first passed is where a text is wrong. Python may be told to read less than its default.
_NESTED, _DIGITS = 100, 640
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*+"?|(?P<bracket>[][{}])|(?P<digits>[0-9]++)(?P<fraction>[.eE][0-9.eE+-]*+)?', re.DOTALL
)


def read_json(text: str, of_pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The value of a text.

    of_pairs  makes a value of the names and values of an object, and may raise InputError

    Raises json.JSONDecodeError, with `msg` and `lineno`, for what is not JSON, is `TOO_DEEP` or is `TOO_LONG`.
    """
    import json  # not before it is needed

    try:
        return json.loads(text, object_pairs_hook=of_pairs)
    except (json.JSONDecodeError, InputError):
        raise
    except RecursionError:
        raise json.JSONDecodeError(TOO_DEEP, text, _deep(text)) from None
    except ValueError:  # of int()
        raise json.JSONDecodeError(TOO_LONG, text, _long(text)) from None


def _deep(text: str) -> int:
    """Where the brackets of a text are too deep."""
    depth = 0
    for found in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found["bracket"], 0)
        if depth > _NESTED:
            return found.start()
    return 0


def _long(text: str) -> int:
    """Where the first integer of too many digits stands."""
    digits = (found for found in _TOKEN.finditer(text) if found["digits"] and not found["fraction"])
    return next((found.start() for found in digits if len(found["digits"]) > _DIGITS), 0)
