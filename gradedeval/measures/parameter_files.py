"""Files that a user gives a measure as a parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gradedeval.errors import InputError
from gradedeval.measures.notation import Value
from gradedeval.trec.source import Source


def needs_file(name: str, role: str, example: str) -> Callable[[Mapping[str, Value], int | None], None]:
    """A check of a measure's parameters that raises InputError (usage) where `file` is not among them."""

    def check(arguments: Mapping[str, Value], cutoff: int | None) -> None:
        if not arguments.get("file"):
            raise InputError(f"'{name}'", f"needs a file of {role}", example, usage=True)

    return check


def read_parameter_file(name: str) -> bytes:
    """The bytes of a file. Raises InputError (usage) where it cannot be read.

    It is read each time the measure needs it, so that an edited file counts: what is made of it is cached by its bytes.
    """
    if name == "-":
        raise InputError(name, "a measure's file cannot be standard input", "give a file", usage=True)
    try:
        return Source(name).read()
    except InputError as error:
        raise error.replace(usage=True) from None
