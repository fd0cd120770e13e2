"""The verbs of `gradedeval clicks`, a module each, and what they share: how LOG [QRELS] are read."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.arguments import usage
from gradedeval.cli.options import registry_option
from gradedeval.errors import InputError
from gradedeval.kernel.options import OPTIONS, resolve_options

QRELS_READ_BY = [*map(registry_option, ("qrels_format", "labels"))]


def check_count(files: tuple[str, ...], expected: str, minimum: int, maximum: int) -> None:
    """Raise InputError (usage) unless the number of files is from `minimum` to `maximum`.

    expected  a description of the files
    """
    if not minimum <= len(files) <= maximum:
        count = f"{len(files)} files, " if files and maximum == 1 else ""
        raise InputError("", f"{count}expected {expected}", usage(), usage=True)


def read_qrels(files: tuple[str, ...], options: dict[str, Any]) -> Any:
    """Return the judgments of the file after the log; None without one.
    Raises InputError (usage) for options of reading judgments without a file."""
    from gradedeval.kernel.scoring.evaluate import qrels_for  # not for a help page

    if files:
        return qrels_for({}, files[0], resolve_options(**options))
    for name, value in options.items():
        if value is not None:
            raise OPTIONS[name].error("says how QRELS are read", "add them")
    return None
