"""Functions of users as measures: of a batch of gains, or of each topic of a batch."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import TRACE, InputError, safe_repr, user_code_error
from gradedeval.kernel.trec.lines import decode

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import Definition, Measure
    from gradedeval.kernel.measures.gains import Gains


def code_of(function: Callable[..., Any]) -> str:
    """Return six digits of the checksum of the file of a function, because it may call other functions there; without a
    file, as in a notebook, of its source, or else of its compiled code."""
    from gradedeval.kernel.trec.digests import digest_of  # few measures are functions of users

    try:
        path = inspect.getfile(function)
        if os.path.isfile(path):
            return digest_of(path).sha256[:6]
        text = inspect.getsource(function).encode(errors="surrogatepass")
    except (OSError, TypeError, InputError):
        compiled = getattr(function, "__code__", None)
        constants = [constant for constant in getattr(compiled, "co_consts", ()) if not hasattr(constant, "co_code")]
        text = repr((getattr(compiled, "co_code", b""), getattr(compiled, "co_names", ()), constants)).encode()
    return hashlib.sha256(text).hexdigest()[:6]


DEFAULTS = {"gain": "grade", "cutoff": "renormalizes"}
"""Default properties of a per-topic measure: it reads grades, and a cutoff truncates both rankings."""


def apply_per_topic(function: Callable[..., Any]) -> Callable[..., Floats]:
    """Return a function of a batch that calls `function` for each topic, with the gains of the ranking and, if it takes
    two arguments, of the ideal ranking, both down to the cutoff. Its failures are InputErrors with the topic."""
    rankings = len(_positional(function)) or 2
    if rankings > 2:
        name, extra = function.__name__, _positional(function)[2:]
        problem = f"takes {rankings} positional arguments, but gets two: the grades of the ranking and of the ideal"
        hint = f"put parameters after *: def {name}(grades, ideal, *, {', '.join(extra)})"
        raise InputError(f"measure '{name}'", problem, hint, usage=True)

    @wraps(function)
    def scores(g: Gains, **arguments: Any) -> Floats:
        values = np.empty(len(g.gain))
        for row, length in enumerate(g.retrieved.tolist()):
            gain, ideal = g.gain[row, :length], g.ideal[row]
            ideal = ideal[: np.count_nonzero(ideal)][: g.k]
            try:
                value = function(*(gain.copy(), ideal.copy())[:rankings], **arguments)
            except InputError:
                raise
            except (Exception, SystemExit) as error:
                hint = f"fix its function; {TRACE}"
                raise user_code_error(error, _place(function, g, row), "failed", hint) from error
            values[row] = _number(value, function, g, row)
        return values

    return scores


def _positional(function: Callable[..., Any]) -> list[str]:
    """Return the positional parameters of a function; none if it takes any number of them."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions written in C have no signature
        return []
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return []
    return [
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]


def _number(value: Any, function: Callable[..., Any], g: Gains, row: int) -> float:
    try:
        number = float(value) if np.ndim(value) == 0 and not isinstance(value, str | bytes) else np.nan
    except (TypeError, ValueError):
        number = np.nan
    if number != number:
        text = f"an array of shape {np.shape(value)}" if np.ndim(value) else safe_repr(value)
        raise InputError(_place(function, g, row), f"returned {text[:80]}", "return one number for each topic")
    return number


def _place(function: Callable[..., Any], g: Gains, row: int) -> str:
    topics = g.memo.get("topics")
    name = f"topic {decode(topics[row])}" if topics else f"topic number {row + 1}"
    return f"measure '{function.__name__}', {name}"


def run_user_measure(measure: Measure, gains: Gains) -> Floats:
    """Return the result of a user's function for a batch. Its errors become messages, not tracebacks."""
    try:
        scores = np.asarray(measure.score(gains), dtype=np.float64)
    except InputError as error:
        raise error if error.place else error.replace(place=f"measure '{measure}'") from None
    except (Exception, SystemExit) as error:
        hint = f"fix its function; {TRACE}"
        if _is_of_topic(measure.definition, error):
            hint = "a function of one topic's grades needs @gradedeval.measure(per_topic=True)"
        raise user_code_error(error, f"measure '{measure}'", "failed", hint) from error
    if scores.shape != (len(gains.gain),):
        hint = f"expected one score per topic, ({len(gains.gain)},)"
        raise InputError(f"measure '{measure}'", f"returned shape {scores.shape}", hint)
    return scores


def _is_of_topic(definition: Definition, error: BaseException) -> bool:
    """Return whether a failed function was written for the grades of one topic: `Gains` are one argument, no array."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    arguments = inspect.signature(definition.function).parameters.values()
    takes_several = sum(argument.kind in positional for argument in arguments) > 1
    reads_array = isinstance(error, TypeError) and "'Gains' object" in str(error)
    return not definition.per_topic and (takes_several or reads_array)
