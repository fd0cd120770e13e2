"""Small tables that a user gives a measure in a file: CSV rows, read anew each time so that an edited file counts."""

from __future__ import annotations

import csv
from pathlib import Path

from gradedeval.errors import Fault, reason

Rows = tuple[tuple[str, ...], ...]


def rows_of(name: str, role: str, expected: str) -> Rows:
    """The rows of a file; blank lines and those that begin with `#` are skipped.

    Raises Fault (usage) where it cannot be read; `role` and `expected` say as what, and what it should hold.
    """
    try:
        found = csv.reader(Path(name).read_text("utf-8").splitlines())
        return tuple(tuple(row) for row in found if row and not row[0].startswith("#"))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Fault(name, f"cannot be read as {role} ({reason(error)})", expected, usage=True) from None
