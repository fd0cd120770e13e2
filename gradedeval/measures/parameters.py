"""The parameters in a measure's parentheses: which there are, and what they may be."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, update_wrapper
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gradedeval.errors import InputError, did_you_mean, shown
from gradedeval.measures.gain_schemes import read_scheme
from gradedeval.measures.notation import Value, plain_value, read_value, write_value
from gradedeval.trec.source import Source, is_url
from gradedeval.trec.stream import Stream
from gradedeval.trec.whole_lines import numbered_lines


class Check(NamedTuple):
    """What a parameter must be.

    expected    in words that complete "is not …"
    test        whether a value is that
    names_file  whether a value may name a file, on whose content scores then depend
    example     a value, where the parameter has no default
    """

    expected: str
    test: Callable[[Any], bool]
    names_file: bool = False
    example: str = "2"


Checks = Mapping[str, Check | tuple[str, Callable[[Any], bool]]]

NUMBER = Check("a number", lambda value: isinstance(value, int | float))
POSITIVE = Check("a number above 0", lambda value: value > 0)
NOT_NEGATIVE = Check("0 or more", lambda value: value >= 0)
BELOW_1 = Check("in [0, 1)", lambda value: 0 <= value < 1)
UP_TO_1 = Check("in (0, 1]", lambda value: 0 < value <= 1)
SHARE = Check("in [0, 1]", lambda value: 0 <= value <= 1)
WORD = Check("a word", lambda value: isinstance(value, str))
BY_CUTOFF = {"norm": Check("k", lambda value: value == "k", example="k")}

# The parameters that say what grades are worth: every measure that reads gains takes some of them.
GAIN_CHECKS = {
    "g": Check(
        "a list of shares from 0 up, as in 1:1:2", lambda g: isinstance(g, tuple) and min(g) >= 0 and sum(g) > 0
    ),
    "gain": Check("a gain scheme", lambda value: True),  # read by `read_scheme`, which knows better what is wrong
    "rel": Check("a grade above 0", POSITIVE.test),
}


@dataclass(frozen=True, eq=False, repr=False)
class Parameters:
    """What may stand in the parentheses of a measure.

    place     the measure, quoted, for messages
    defaults  the parameters of the measure's function, and their default values
    gain      the names of those that say what grades are worth
    checks    what the former must be; a parameter without a check is a number, or a word as its default is
    others    whether numbers under any other name are taken as well
    """

    place: str
    defaults: Mapping[str, Any]
    gain: tuple[str, ...]
    checks: Checks
    others: bool

    @property
    def names(self) -> list[str]:
        return [*self.defaults, *self.gain]

    def check(self, name: str) -> Check:
        """What the value of a parameter must be."""
        if name in self.gain:
            return GAIN_CHECKS[name]
        return Check(*self.checks.get(name, WORD if isinstance(self.defaults.get(name), str) else NUMBER))

    def read(self, name: str, value: Value) -> Value:
        """The value as the measure takes it. Raises InputError (usage) for an unknown name or a wrong value."""
        value = plain_value(value)
        if not isinstance(value, str | int | float | tuple | os.PathLike):
            what = f"{name}={shown(value)} is not a word, a number or a list of numbers"
            raise InputError(self.place, what, f"as in {name}=1", usage=True)
        if name == "g" and isinstance(value, int | float):
            value = (float(value),)
        if isinstance(value, float | tuple) and not np.isfinite(value).all():
            raise self._wrong(name, value, "finite")
        if name not in self.names:
            return self._other(name, value)
        if name == "gain":
            return read_scheme(read_value(value) if isinstance(value, str) else value, self.place)
        check = self.check(name)
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if check.names_file or isinstance(self.defaults.get(name), str):
            value = value if isinstance(value, str) else write_value(value)
        if check.names_file and isinstance(value, str) and not os.path.exists(value):
            value = value.removeprefix("@")  # as gain=@FILE has it
        try:
            passes = check.test(value)
        except TypeError:
            passes = False
        if not passes:
            raise self._wrong(name, value, check.expected)
        return value

    def _other(self, name: str, value: Value) -> Value:
        """The value of a parameter that the measure does not name."""
        if not self.others:
            takes = f"it takes {', '.join(self.names)}" if self.names else "it takes none"
            hint = did_you_mean(name, self.names) or takes
            raise InputError(self.place, f"unknown parameter '{name}'", hint, usage=True)
        if not isinstance(value, int | float):
            what = f"{name}={write_value(value)} is not a number"
            raise InputError(self.place, what, f"as in {name}=0.5", usage=True)
        return value

    def _wrong(self, name: str, value: Value, expected: str) -> InputError:
        default = self.defaults.get(name, "1:1:2" if name == "g" else 1)
        example = self.check(name).example if default is None else write_value(default)
        what = f"{name}={write_value(value)} is not {expected}"
        return InputError(self.place, what, f"as in {name}={example}", usage=True)


def read_flag(measure: str, name: str, value: Any) -> bool:
    """Whether a parameter that every measure takes is on. Raises InputError (usage) for anything but True or False."""
    flag = {"true": True, "false": False}.get(str(value).lower())
    if flag is None:
        hint = f"write {name}=True, or leave it out"
        raise InputError(f"'{measure}'", f"{name}={value} is not True or False", hint, usage=True)
    return flag


def needs_file(name: str, content: str, example: str) -> Callable[[Mapping[str, Value], int | None], None]:
    """A check of a measure's parameters that raises InputError (usage) where `file` is not among them."""

    def check(arguments: Mapping[str, Value], cutoff: int | None) -> None:
        if not arguments.get("file"):
            raise InputError(f"'{name}'", f"needs a file with {content}", f"as in {name}(file={example})", usage=True)

    return check


def needs_cutoff(name: str) -> Callable[[Mapping[str, Value], int | None], None]:
    """A check of a measure's parameters that raises InputError (usage) where it is divided by a cutoff and has none."""

    def check(arguments: Mapping[str, Value], cutoff: int | None) -> None:
        if arguments.get("norm") == "k" and cutoff is None:
            what = "norm=k needs a cutoff: it is divided by the smaller of R and k"
            raise InputError(f"'{name}'", what, f"as in {name}(norm=k)@10", usage=True)

    return check


Content = TypeVar("Content")


Lines = tuple[tuple[int, bytes], ...]
"""The lines of a file that are not blank, and their numbers."""


def of_file(read: Callable[[str, Lines], Content]) -> Callable[[str], Content]:
    """Make a function of a file's name of one of its name and lines. It raises InputError (usage) for no such file.

    The file is read each time the measure needs it, so that an edited one counts: what is made of its lines is cached.
    """
    cached = lru_cache(read)

    def read_file(name: str) -> Content:
        if name == "-":
            raise InputError(name, "a measure's file cannot be standard input", "give a file", usage=True)
        try:
            return cached(name, _far_lines(name) if is_url(name) else _lines(name))
        except InputError as error:
            raise error.replace(usage=True) from None

    return update_wrapper(read_file, read)


def _lines(name: str) -> Lines:
    with closing(Stream(Source(name))) as stream:
        return tuple(numbered_lines(stream))


@lru_cache
def _far_lines(url: str) -> Lines:
    """What a URL names, which is fetched once."""
    return _lines(url)
