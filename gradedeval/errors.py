"""One error class: place, fault, cure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

SHOWN = 10


class InputError(ValueError):
    """What is wrong with the user's files or words, in one line: `place: fault; cure`.

    `usage` marks faults of the words (exit code 2) as against faults of the data (exit code 1).
    `also` holds further faults of the same kind; the text shows the first ten of all and counts the rest.
    """

    def __init__(
        self,
        place: str,
        problem: str,
        hint: str = "",
        *,
        usage: bool = False,
        also: Iterable[InputError] = (),
        beyond: int = 0,
    ) -> None:
        self.place, self.problem, self.hint = place, problem, hint
        self.usage = usage
        self.also = tuple(also)
        self.beyond = beyond
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _fault, (self.place, self.problem, self.hint, self.usage, self.also, self.beyond)

    @property
    def exit_code(self) -> int:
        return 2 if self.usage else 1

    @property
    def line(self) -> str:
        head = f"{self.place}: {self.problem}" if self.place else self.problem
        return f"{head}; {self.hint}" if self.hint else head

    def __str__(self) -> str:
        lines = [self.line, *(other.line for other in self.also)]
        if self.beyond:
            lines.append(f"{self.place.split(':')[0]}: {self.beyond} more such {plural(self.beyond, 'line')}")
        return "\n".join(lines)


def _fault(place: str, error: str, hint: str, usage: bool, also: tuple[InputError, ...], beyond: int) -> InputError:
    """A fault as it was: what another process sends."""
    return InputError(place, error, hint, usage=usage, also=also, beyond=beyond)


class EvaluationWarning(UserWarning):
    """Something counted, skipped or assumed: no fault, but the user is told."""


class ProblemList:
    """Collects the faults of one file: the first ten are kept, all are counted."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.errors: list[InputError] = []
        self.count = 0

    def add(self, line: int, error: str, hint: str = "") -> None:
        self.count += 1
        if len(self.errors) < SHOWN:
            self.errors.append(InputError(f"{self.place}:{line}", error, hint))

    def check(self) -> None:
        """Raise what was found, if anything was."""
        if self.errors:
            first, *others = sorted(self.errors, key=lambda error: int(error.place.rpartition(":")[2]))
            raise InputError(
                first.place, first.problem, first.hint, also=others, beyond=self.count - len(self.errors)
            ) from None


def plural(count: int, noun: str) -> str:
    """`noun` in the number that `count` asks for."""
    return noun if count == 1 else f"{noun}s"


def reason(error: Exception) -> str:
    """Why something failed, in the words of the system."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def shorten(words: Iterable[str], most: int = 5) -> str:
    """The first few of many words, for a message: `51, 52, …`."""
    words = list(words)
    return ", ".join(words[:most]) + (", …" if len(words) > most else "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The cure for a misspelt word: `did you mean 'rbp'?`, or nothing when no known word is near."""
    import difflib  # nothing is misspelt, mostly

    near = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.5)
    return f"did you mean '{near[0]}'?" if near else ""
