"""Small tables that a user gives a measure in a file: CSV rows, read anew each time so that an edited file counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gradedeval.errors import InputError, reason
from gradedeval.measures.notation import Value

Rows = tuple[tuple[str, ...], ...]


def needs_file(name: str, role: str, example: str) -> Callable[[Mapping[str, Value], int | None], None]:
    """A check of a measure's parameters that raises InputError (usage) where `file` is not among them."""

    def check(own: Mapping[str, Value], cutoff: int | None) -> None:
        if not own.get("file"):
            raise InputError(f"'{name}'", f"needs a file of {role}", example, usage=True)

    return check


def rows_of(name: str, role: str, expected: str) -> Rows:
    """The rows of a file; blank lines and those that begin with `#` are skipped.

    Raises InputError (usage) where it cannot be read; `role` and `expected` say as what, and what it should hold.
    """
    import csv  # a measure rarely needs a file
    from pathlib import Path

    try:
        lines = Path(name).read_text("utf-8").splitlines()
        found = tuple(tuple(row) for row in csv.reader(lines) if row and not row[0].startswith("#"))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(name, f"cannot be read as {role} ({reason(error)})", expected, usage=True) from None
    if lines and lines[0].startswith("\ufeff"):
        raise InputError(f"{name}:1", "begins with a byte order mark", "save the file as UTF-8 without one", usage=True)
    if not found:
        raise InputError(name, "is empty", expected, usage=True)
    return found


def is_header(row: tuple[str, ...]) -> bool:
    """Whether no cell of the row is a number."""
    return not any(_is_number(cell) for cell in row)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
