"""Functions of users that measures are made of: of a batch of gains, or of one topic, called for each of a batch."""

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
from gradedeval.kernel.trec.stream import Source

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import Definition, Measure
    from gradedeval.kernel.measures.gains import Gains


def code_of(function: Callable[..., Any]) -> str:
    """Six digits of the checksum of the file that a function stands in, for it may call others there; where there is no
    file, as in a notebook, of its source, or else of what it was compiled to."""
    try:
        path = inspect.getfile(function)
        if os.path.isfile(path):
            return Source(path).digest()[:6]
        text = inspect.getsource(function).encode(errors="surrogatepass")
    except (OSError, TypeError, InputError):
        compiled = getattr(function, "__code__", None)
        constants = [one for one in getattr(compiled, "co_consts", ()) if not hasattr(one, "co_code")]
        text = repr((getattr(compiled, "co_code", b""), getattr(compiled, "co_names", ()), constants)).encode()
    return hashlib.sha256(text).hexdigest()[:6]


DEFAULTS = {"gain": "grade", "cutoff": "renormalizes"}
"""The properties of such a measure unless others are given: it sees grades, and with a cutoff both rankings cut."""


def of_batch(function: Callable[..., Any]) -> Callable[..., Floats]:
    """The function of a batch that calls a function of one topic for each of them: of the gains of the ranking, and of
    those of the ideal ranking where it takes them, both down to the cutoff.

    Raises InputError (usage) where it takes more than these by position; and when it is called InputError, which names
    the topic, where the function fails, or returns what is not a number.
    """
    rankings = len(_positional(function)) or 2
    if rankings > 2:
        name, extra = function.__name__, _positional(function)[2:]
        what = f"takes {rankings} arguments by position, and gets two: the grades of the ranking and of the ideal one"
        hint = f"parameters stand after *: def {name}(grades, ideal, *, {', '.join(extra)})"
        raise InputError(f"measure '{name}'", what, hint, usage=True)

    @wraps(function)
    def scores(g: Gains, **arguments: Any) -> Floats:
        found = np.empty(len(g.gain))
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
            found[row] = _number(value, function, g, row)
        return found

    return scores


def _positional(function: Callable[..., Any]) -> list[str]:
    """The parameters of a function that take arguments by position; none where it takes any number of them."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of some functions written in C nothing is known
        return []
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return []
    return [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]


def _number(value: Any, function: Callable[..., Any], g: Gains, row: int) -> float:
    try:
        number = float(value) if np.ndim(value) == 0 and not isinstance(value, str | bytes) else np.nan
    except (TypeError, ValueError):
        number = np.nan
    if number != number:
        what = f"an array of shape {np.shape(value)}" if np.ndim(value) else safe_repr(value)
        raise InputError(_place(function, g, row), f"returned {what[:80]}", "return one number for each topic")
    return number


def _place(function: Callable[..., Any], g: Gains, row: int) -> str:
    topics = g.memo.get("topics")
    name = f"topic {decode(topics[row])}" if topics else f"topic number {row + 1}"
    return f"measure '{function.__name__}', {name}"


def run_own(measure: Measure, gains: Gains) -> Floats:
    """What the function of a user's measure returns for a batch. Its errors are messages, not our tracebacks."""
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
        what = f"returned shape {scores.shape}"
        raise InputError(f"measure '{measure}'", what, f"expected one score per topic, ({len(gains.gain)},)")
    return scores


def _is_of_topic(definition: Definition, error: BaseException) -> bool:
    """Whether a function that failed was written for the grades of one topic: `Gains` are one argument, no array."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    arguments = inspect.signature(definition.function).parameters.values()
    several = sum(one.kind in positional for one in arguments) > 1
    return not definition.per_topic and (several or (isinstance(error, TypeError) and "'Gains' object" in str(error)))
