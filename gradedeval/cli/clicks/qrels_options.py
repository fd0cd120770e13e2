"""QRELS beside a click log, and the options that say how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradedeval.cli.options import one_registered
from gradedeval.options import OPTIONS
from gradedeval.options.presets import resolve_options
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.evaluate import qrels_for

READ_BY = ("qrels_format", "labels")
QRELS_OPTIONS = [one_registered(name) for name in READ_BY]


def qrels_from(files: Sequence[str], keywords: dict[str, Any]) -> Qrels | None:
    """The judgments, of a file if there is one, read as their options say, which are taken out of the others. Raises
    InputError (usage) for such an option without a file."""
    taken = {name: keywords.pop(name) for name in READ_BY}
    if files:
        return qrels_for({}, files[0], resolve_options(**taken))
    for name, value in taken.items():
        if value is not None:
            raise OPTIONS[name].error("says how QRELS are read", "add them")
    return None
