"""Parameters in a measure's parentheses: their names, valid values, and files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, update_wrapper
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import Guess, InputError, hint_of, safe_repr
from gradedeval.kernel.measures.notation import SCHEMES, Value, is_pairs, plain_value, read_value, write_value
from gradedeval.kernel.trec.stream import Source, Stream, is_named, is_url

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import Check, Measure
    from gradedeval.kernel.measures.gains import Grades


@dataclass(eq=False, repr=False)
class Parameters:
    """The parameters accepted in the parentheses of a measure.

    place     the measure, quoted, for messages
    defaults  the parameters of the measure's function, and their default values
    gain      the names of the parameters that determine gains
    checks    the check of each of these
    others    the check of a parameter with any other name; None: no other is accepted
    """

    place: str
    defaults: Mapping[str, Any]
    gain: tuple[str, ...]
    checks: Mapping[str, Check]
    others: Check | None

    @property
    def names(self) -> list[str]:
        return [*self.defaults, *self.gain]

    def check(self, name: str) -> Check:
        """Return the check of a parameter."""
        return self.checks[name] if name in self.checks or self.others is None else self.others

    def read(self, name: str, value: Value) -> Value:
        """Return the value as the measure takes it. Raises InputError (usage) for an unknown name or a wrong value."""
        value = plain_value(value)
        if not isinstance(value, str | int | float | tuple | os.PathLike):
            problem = f"{name}={safe_repr(value)} is not a word, a number or a list of numbers"
            raise InputError(self.place, problem, f"as in {name}=1", usage=True)
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
            value = value.removeprefix("@")  # as in gain=@FILE
        try:
            passes = check.test(value)
        except TypeError:
            passes = False
        if not passes:
            raise self._wrong(name, value, check.expected)
        return value

    def _other(self, name: str, value: Value) -> Value:
        """Return the value of a parameter that the measure does not name."""
        if not self.others:
            takes = f"it takes {', '.join(self.names)}" if self.names else "it takes none"
            hint = hint_of("parameters", name, self.names) or takes
            if isinstance(hint, Guess) and hint.meant.startswith("--"):
                hint = Guess(f"{name}={write_value(value)}", f"{hint.meant} {write_value(value)}", text=str(hint))
            raise InputError(self.place, f"unknown parameter '{name}'", hint, usage=True)
        if not isinstance(value, int | float):
            problem = f"{name}={write_value(value)} is not a number"
            raise InputError(self.place, problem, f"as in {name}=0.5", usage=True)
        return value

    def _wrong(self, name: str, value: Value, expected: str) -> InputError:
        default = self.defaults.get(name, "1:1:2" if name == "g" else 1)
        example = self.check(name).example if default is None else write_value(default)
        problem = f"{name}={write_value(value)} is not {expected}"
        return InputError(self.place, problem, f"as in {name}={example}", usage=True)


def read_flag(measure: str, name: str, value: Any) -> bool:
    """Return whether a parameter of every measure is on. Raises InputError (usage) for anything but True or False."""
    flag = {"true": True, "false": False}.get(str(value).lower())
    if flag is None:
        hint = f"write {name}=True, or leave it out"
        raise InputError(f"'{measure}'", f"{name}={value} is not True or False", hint, usage=True)
    return flag


def needs_file(name: str, content: str, example: str) -> Callable[[Mapping[str, Value], int | None], None]:
    """Return a check of a measure's parameters that raises InputError (usage) without `file`."""

    def check(arguments: Mapping[str, Value], cutoff: int | None) -> None:
        if not arguments.get("file"):
            raise InputError(f"'{name}'", f"needs a file with {content}", f"as in {name}(file={example})", usage=True)

    return check


Content = TypeVar("Content")


Lines = tuple[tuple[int, bytes], ...]
"""The numbers and texts of the lines of a file that are not blank."""


def cached_reader(read: Callable[[str, Lines], Content]) -> Callable[[str], Content]:
    """Turn a function of a file's name and lines into a function of its name. The file is read each time the measure
    needs it, because it may be edited; only the result for its lines is cached."""
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
    from gradedeval.kernel.trec.line_reader import numbered_lines  # few parameters name files

    with closing(Stream(Source(name))) as stream:
        return tuple(numbered_lines(stream))


_far_lines = lru_cache(_lines)
"""The lines of a URL, which is fetched once."""


@cached_reader
def read_utilities(name: str, lines: Lines) -> Floats:
    """Return φ(1), φ(2), …: the numbers of a file, one per line; 0 after the last."""
    from gradedeval.kernel.trec.small_tables import SmallTable  # few parameters name files

    hint = "expected one number per line, for ranks 1, 2, …, in non-increasing order"
    table = SmallTable.read(name, ("phi",), ("rank", "phi"), hint=hint, usage=True, pieces=lines)
    width = len(table.rows[0].cells) if table.rows else 1
    for row in table.rows:
        if len(row.cells) != width:
            table.problems.add(row.line, f"the number of fields is not {width}, as on the first line", hint)
    table.check()
    if width == 2:
        phi = np.array(table.by_rank("phi"))
    else:
        phi = np.array([table.number(row, "phi", 0) for row in table.rows])
        table.check()
    if (np.diff(phi) > 0).any():
        raise InputError(name, "not a valid utility file: a number is larger than the previous one", hint, usage=True)
    return phi


# Gain schemes that name the gains of grades.


def read_scheme(value: Value, place: str) -> Value:
    """Return `value`, a gain scheme; the name of a file as `@FILE`. Raises InputError (usage) for anything else."""
    if isinstance(value, str) and value not in SCHEMES and not is_pairs(value) and os.path.isfile(value):
        value = f"@{value}"
    if not (value in SCHEMES or isinstance(value, tuple) or is_pairs(value) or str(value).startswith("@")):
        forms = 'values as in 0:0.5:1, some as in "1=3,2=9", or a file of grade,gain lines as in @gains.csv'
        formula = re.fullmatch(r"\(?2(\^|\*\*)[^\d].*", str(value))
        hint = "for 2^grade − 1 write exp" if formula else f"choose from {', '.join(SCHEMES)}, {forms}"
        text = write_value(value).strip('"')
        raise InputError(place, f"unknown gain scheme '{text}'", hint, usage=True)
    values = value if isinstance(value, tuple) else list(read_pairs(str(value)).values()) if is_pairs(value) else [0]
    if min(values) < 0:
        raise InputError(place, f"gain {write_value(min(values))} is negative", "gains must be 0 or more", usage=True)
    if isinstance(value, str) and value.startswith("@") and not is_named(value[1:]):
        raise InputError(place, f"no file '{value[1:]}'", "gain=@FILE reads lines of grade,gain", usage=True)
    return value


def read_pairs(value: str) -> dict[float, float]:
    """Return grade -> gain for a list of pairs."""
    return {float(grade): float(gain) for grade, gain in (pair.split("=") for pair in value.split(","))}


def read_gains(name: str) -> dict[float, float]:
    """Return grade -> gain from a file. Raises InputError if it is empty, or a line is not a pair."""
    from gradedeval.kernel.trec.small_tables import SmallTable  # few parameters name files

    table = SmallTable.read(name, ("grade", "gain"), hint="expected lines of grade,gain")
    grades = [table.number(row, "grade") for row in table.rows]
    gains = [table.number(row, "gain", 0) for row in table.rows]
    table.check(grades, ("grade",))
    return dict(zip(grades, gains, strict=True))


def listed_gains(measure: Measure, grades: Grades) -> tuple[Floats, float]:
    """Return the gain of each label by a scheme that lists gains, of all grades or of some; and the largest. Raises
    InputError if a gain is missing, or if the measure needs rising gains and they do not rise."""
    scheme, scale, place = measure.gain, measure.definition.scale, f"'{measure}'"
    labels, at_zero = grades.labels, 0.0
    if isinstance(scheme, str) and is_pairs(scheme):  # other grades have the gains of gain=linear
        unit = grades.top if scale == "unit" else 1.0
        gains, top = _replaced(np.maximum(labels, 0) / unit, grades.top / unit, read_pairs(scheme), grades)
    else:
        listed: dict[float, float] = {}
        listed.update(read_gains(scheme[1:]) if isinstance(scheme, str) else enumerate(cast(tuple[float, ...], scheme)))
        gains, top = _looked_up(listed, scheme, grades, place)
        at_zero = listed.get(0, 0.0)
        top = listed[grades.top] if scale == "thresholds" else top
    if scale == "thresholds" and (at_zero or (np.diff(np.where(labels < 0, 0.0, gains)) < 0).any()):
        problem = f"{measure.name} needs gain 0 for grade 0 and gains that rise with the grade"
        raise InputError(place, problem, "change the gains, or give g=…")
    return gains, top


def _looked_up(
    gain_of_grade: dict[float, float], scheme: Value | None, grades: Grades, place: str
) -> tuple[Floats, float]:
    """Return the gains of a scheme with a gain for each grade, and the largest of them."""
    needed = [*grades.labels[grades.labels >= 0].tolist(), grades.top]
    missing = [grade for grade in needed if grade not in gain_of_grade]
    if missing and isinstance(scheme, str):
        hint = "add a line for each grade, including the top grade"
        raise InputError(scheme[1:], f"no gain for grade {missing[0]:g}", hint)
    if missing:
        problem = f"gains {write_value(cast(Value, scheme))} have no value for grade {missing[0]:g}"
        raise InputError(place, problem, "give one for each grade from 0, or a file: gain=@gains.csv")
    top = max(gain for grade, gain in gain_of_grade.items() if grade >= 0)
    return np.array([gain_of_grade.get(label, 0.0) for label in grades.labels.tolist()]), top


def _replaced(defaults: Floats, top: float, replacements: dict[float, float], grades: Grades) -> tuple[Floats, float]:
    """Return the gains with some grades' gains replaced, and the largest of them."""
    pairs = zip(grades.labels.tolist(), defaults.tolist(), strict=True)
    gains = np.array([replacements.get(label, gain) for label, gain in pairs])
    return gains, max(replacements.get(grades.top, top), *gains[grades.labels >= 0].tolist(), 0.0)
