"""A measure of one's own as a plain function of one topic: it is called for each topic of a batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from gradedeval.arrays import Floats, np
from gradedeval.errors import TRACE, InputError, failure, shown
from gradedeval.kernel.measures.gains import Gains
from gradedeval.kernel.trec.lines import decode

DEFAULTS = {"gain": "grade", "cutoff": "renormalizes"}
"""The properties of such a measure unless others are given: it sees grades, and with a cutoff both rankings cut."""


def of_batch(function: Callable[..., Any]) -> Callable[..., Floats]:
    """The function of a batch that calls a function of one topic for each of them: of the gains of the ranking, and of
    those of the ideal ranking where it takes them, both down to the cutoff.

    Raises InputError, which names the topic, where the function fails, or returns what is not a number.
    """

    rankings = 1 if _takes_one(function) else 2

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
                raise failure(error, _place(function, g, row), "failed", hint) from error
            found[row] = _number(value, function, g, row)
        return found

    return scores


def _takes_one(function: Callable[..., Any]) -> bool:
    """Whether a function has one parameter for rankings."""
    import inspect  # few measures are functions of one topic

    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of some functions written in C nothing is known
        return False
    kinds = [one.kind for one in parameters]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in positional for kind in kinds) == 1 and inspect.Parameter.VAR_POSITIONAL not in kinds


def _number(value: Any, function: Callable[..., Any], g: Gains, row: int) -> float:
    try:
        number = float(value) if np.ndim(value) == 0 and not isinstance(value, str | bytes) else np.nan
    except (TypeError, ValueError):
        number = np.nan
    if number != number:
        what = f"an array of shape {np.shape(value)}" if np.ndim(value) else shown(value)
        raise InputError(_place(function, g, row), f"returned {what[:80]}", "return one number for each topic")
    return number


def _place(function: Callable[..., Any], g: Gains, row: int) -> str:
    topics = g.memo.get("topics")
    name = f"topic {decode(topics[row])}" if topics else f"topic number {row + 1}"
    return f"measure '{function.__name__}', {name}"
