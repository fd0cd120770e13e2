"""A random case, its possible problem, and the smallest case with the same problem."""

import random
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """One input.

    files     file name -> content; they are written into an empty folder
    measures  their notation
    options   options as keywords of Python
    more      what else the check wants to know; it is never made smaller
    """

    files: Mapping[str, bytes]
    measures: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        for name, content in self.files.items():
            (folder / name).write_bytes(content)

    @property
    def words(self) -> list[str]:
        """Return the measures and options as words of the command line."""
        words = [word for measure in self.measures for word in ("-m", measure)]
        for name, value in self.options.items():
            option = "--" + name.replace("_", "-")
            if value is True:
                words.append(option)
            elif isinstance(value, tuple):
                words += [option, ":".join(f"{part:g}" for part in value)]
            elif value is not False and value is not None:
                words += [option, str(value)]
        return words

    @property
    def line(self) -> list[str]:
        """Return the words of the command line; `command` in `more` is a command with its files, whose options are
        words."""
        if "command" in self.more:
            return [*self.more["command"], *(word for words in self.options.values() for word in words)]
        return ["run", "qrels", *self.words, *map(str, self.more.get("words", ()))]

    @property
    def command(self) -> str:
        return shlex.join(["gradedeval", *self.line])


Check = Callable[[Case, Path], str | None]
"""Returns the problem of a case; None if there is none. The folder is empty."""


@dataclass(frozen=True)
class Kind:
    """A kind of cases.

    draw    a random case
    check   what is wrong with it
    count   how many numbers or outcomes a case compares, for the statistics
    weight  how often its turn comes
    """

    draw: Callable[[random.Random], Case]
    check: Check
    count: Callable[[Case], int] = lambda case: 1
    weight: float = 1.0


def label(problem: str) -> str:
    """Return the kind of a finding: a smaller case must be wrong in the same way."""
    return problem.partition(":")[0]


def smallest(case: Case, wrong: Callable[[Case], str | None], attempts: int = 400) -> Case:
    """Return the case with all taken out that can be taken out while it stays wrong in the same way."""
    first = label(wrong(case) or "")
    improved = True
    while improved and attempts > 0:
        improved = False
        for smaller in _smaller(case):
            attempts -= 1
            if attempts <= 0:
                break
            if label(wrong(smaller) or "") == first:
                case, improved = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for part in _without_parts(case.measures):
        if part:
            yield replace(case, measures=tuple(part))
    for name, content in case.files.items():
        for lines in _without_parts(content.splitlines(keepends=True)):
            yield replace(case, files={**case.files, name: b"".join(lines)})
    for name in case.options:
        yield replace(case, options={key: value for key, value in case.options.items() if key != name})


def _without_parts(items: Any) -> Iterator[Any]:
    """Yield the items without one half, one quarter and so on, down to one item."""
    size = len(items) // 2
    while size:
        for begin in range(0, len(items), size):
            yield [*items[:begin], *items[begin + size :]]
        size //= 2
