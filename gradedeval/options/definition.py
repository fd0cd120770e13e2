"""What an option is: all that the command line, Python, TOML files, the signature and the documentation say of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from gradedeval.errors import InputError, did_you_mean, shown
from gradedeval.options.numbers import Number

Commands = Literal["none", "eval", "scoring", "measuring", "reading", "all"]
"""Which commands take an option: none, `eval` alone, all that score whole runs, all that compute a measure,
all that read runs and qrels, or all."""

READING, GAINS, RESIDUALS, OUTPUT = "Reading and ranking", "Measures and gains", "Residuals", "Output"
"""Sections of a help page."""


def name_and_value(name: str, value: Any) -> str:
    """`depth 100`: how most options stand in the signature."""
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"


def name_only(name: str, value: Any) -> str:
    """`judged only`: how flags stand in the signature."""
    return name


def elsewhere(name: str, value: Any) -> str:
    """Nothing: another part of the signature shows it, or no score depends on it."""
    return ""


@dataclass(frozen=True, eq=False, repr=False)
class Option:
    """One option. Name, type and default are those of the field of `Options` that it describes.

    help            what it does, in sentences
    section         where it stands on a help page
    commands        which commands take it; `none`: code alone sets it
    metavar         what its value is called on a help page; None: its choices
    default_text    what the default is, where None does not say it
    minimum, above  the lowest number allowed, and a number that it must exceed
    below           a number that it must not reach
    accepts         what a value may be, for a message; None: its choices, or a number
    read            what a user gives (a file name, text, a list) -> the value
    optional_value  it may stand on the command line without a value
    names_file      its text names a file
    needs_ids       it is about what arrays of grades and scores lack: ids, lines, words
    within          makes a context of a value, in which a command runs that has it
    signature       name and value -> text in the signature, where the value is not the default
    """

    help: str
    section: str = READING
    commands: Commands = "reading"
    metavar: str | None = None
    default_text: str | None = None
    minimum: float | None = None
    above: float | None = None
    below: float | None = None
    accepts: str = "True or False"
    read: Callable[[Any], Any] = lambda value: value
    optional_value: bool = False
    names_file: bool = False
    needs_ids: bool = False
    within: Callable[[Any], AbstractContextManager[None]] | None = None
    signature: Callable[[str, Any], str] = name_and_value
    name: str = ""
    type: Any = None
    default: Any = None

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return "--" + self.name.replace("_", "-")

    @cached_property
    def types(self) -> tuple[Any, ...]:
        """The types of its values, but None."""
        members = get_args(self.type)
        return tuple(kind for kind in members if kind is not NoneType) if NoneType in members else (self.type,)

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The words that it takes, where it takes no others."""
        return get_args(self.types[0]) if get_origin(self.types[0]) is Literal else ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words that it takes, `True` among them where it may stand alone on the command line."""
        return (*self.choices, "True") if self.is_flag or self.optional_value else self.choices

    @property
    def is_flag(self) -> bool:
        """Whether it is only on or off."""
        return self.type is bool

    @cached_property
    def number(self) -> Number | None:
        """The numbers that it takes; None where it takes none."""
        if self.types not in ((int,), (float,)):
            return None
        return Number(self.flag, self.types == (int,), minimum=self.minimum, above=self.above, below=self.below)

    @property
    def text(self) -> str:
        """Its help, with the default and the limits of a number."""
        default = self.default_text if self.default in (None, False) else self.default
        text = self.help if default is None else f"{self.help} Default: {default}."
        return f"{text} {self.number.limits}".rstrip() if self.number else text

    def is_of(self, commands: Commands) -> bool:
        """Whether such commands take it; those that take more take what others do, too."""
        levels = get_args(Commands)
        return self.commands != "none" and levels.index(commands) <= levels.index(self.commands)

    def takes(self, word: str) -> bool:
        """Whether a word that may be the value of an option without one is its value."""
        return word in self.choices or (self.number is not None and re.fullmatch(r"[\d.]+", word) is not None)

    def parse(self, text: Any) -> Any:
        """The number that a text on the command line means; anything else as it is."""
        return text if self.number is None or not isinstance(text, str) else self.number.read(text)

    def check(self, value: Any) -> Any:
        """The value, a number of NumPy as one of Python. Raises InputError (usage) where the option cannot have it."""
        if value is None and self.default is None:
            return value
        if self.choices:
            if value not in self.choices:
                hint = did_you_mean(str(value), self.choices) or f"choose from {', '.join(self.choices)}"
                raise self.error(f"invalid value '{value}'", hint)
        elif self.number is not None:
            return self.number.check(value)
        elif not isinstance(value, tuple(get_origin(kind) or kind for kind in self.types)):
            raise self.error(f"{shown(value)} is not {self.accepts}")
        return value

    def error(self, problem: str, hint: str = "") -> InputError:
        """What is wrong with the value that a user gave."""
        return InputError(self.flag, problem, hint, usage=True)


def option(default: Any, help: str, **settings: Any) -> Any:
    """A field of `Options`, and what `Option` says of it."""
    return field(default=default, metadata={"option": Option(help, **settings)})
