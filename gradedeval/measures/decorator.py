"""Decorators that make measures of functions, from the class that lists their keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, cast, overload

from gradedeval.errors import did_you_mean
from gradedeval.measures.properties import Properties

if TYPE_CHECKING:
    from gradedeval.measures.definition import Measure

Keywords = ParamSpec("Keywords")


class Decorator(Protocol[Keywords]):
    """What makes a measure of a function: `@measure`, or `@measure(...)` with keywords."""

    @overload
    def __call__(
        self, function: None = None, /, *_: Keywords.args, **keywords: Keywords.kwargs
    ) -> Callable[[Callable[..., Any]], Measure]: ...
    @overload
    def __call__(self, function: Callable[..., Any], /) -> Measure: ...


def decorator(properties: Callable[Keywords, Properties]) -> Callable[[Callable[..., Measure]], Decorator[Keywords]]:
    """Make a decorator of what defines a measure by a function and keywords: those of the class `properties`.

    An editor completes them, mypy checks them, `help` shows them, and the decorator raises TypeError for any other.
    """
    keywords = inspect.signature(properties).parameters

    def of(define: Callable[..., Measure]) -> Decorator[Keywords]:
        name = define.__name__

        @wraps(define)
        def decorate(function: Callable[..., Any] | None = None, /, **given: Any) -> Any:
            unknown = [keyword for keyword in given if keyword not in keywords]
            if unknown:
                hint = did_you_mean(unknown[0], keywords) or f"it takes {', '.join(keywords)}"
                raise TypeError(f"@{name} has no keyword '{unknown[0]}'; {hint}")
            if function is None:
                return partial(decorate, **given)
            if not callable(function):
                raise TypeError(f"@{name} makes a measure of a function, not of {function!r}")
            return define(function, **given)

        first = inspect.Parameter("function", inspect.Parameter.POSITIONAL_ONLY, default=None)
        documented: Any = decorate
        documented.__signature__ = inspect.Signature([first, *keywords.values()])
        classes = inspect.getmro(cast(type, properties))[-2::-1]  # all but `object`, from the general to the special
        documented.__doc__ = "\n\n".join(inspect.cleandoc(part.__doc__ or "") for part in (define, *classes))
        return cast(Decorator[Keywords], documented)

    return of
