"""LOG, QRELS and their options: how a click log is read, and the judgments beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from gradedeval.cli.arguments import usage
from gradedeval.cli.options import one_registered, option
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.read import CLICKS_AS, read_log
from gradedeval.errors import InputError
from gradedeval.options import OPTIONS
from gradedeval.options.definition import READING
from gradedeval.options.presets import resolve_options
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.evaluate import qrels_for

LOG_OPTIONS = [
    option("--clicks-as", section=READING, type=click.Choice(CLICKS_AS), default="rank", help="What the column clicks "
           "holds: ranks from 1, or docnos of the shown list. Default: rank."),
    option("--depth", section=READING, type=click.IntRange(1), metavar="N", help="Cut the shown lists to N documents, "
           "and ignore clicks below."),
    option("--idle", section=READING, metavar="TIME", help="Unite lines of one user, topic and list that follow within "
           "TIME, such as 60m, 1h or 90s, by the column time. Default: each line is a session."),
    option("--lenient", section=READING, is_flag=True, help="Skip bad lines of the log; a message counts them."),
]  # fmt: skip
QRELS_READ_BY = ("qrels_format", "labels")
QRELS_OPTIONS = [one_registered(name) for name in QRELS_READ_BY]


def one_file(files: Sequence[str]) -> str:
    """The only argument. Raises InputError (usage) unless there is one."""
    if len(files) != 1:
        what = "expected a click log" if not files else f"{len(files)} files, expected a click log"
        raise InputError("", what, usage(), usage=True)
    return files[0]


def log_from(file: str, keywords: dict[str, Any], columns: Sequence[str] = ()) -> ClickLog:
    """The log, read as its options say, which are taken out of the others."""
    taken = {name: keywords.pop(name) for name in ("clicks_as", "depth", "idle", "lenient")}
    return read_log(file, columns=columns, **taken)


def qrels_from(files: Sequence[str], keywords: dict[str, Any]) -> Qrels | None:
    """The judgments, of a file if there is one, read as their options say, which are taken out of the others. Raises
    InputError (usage) for such an option without a file."""
    taken = {name: keywords.pop(name) for name in QRELS_READ_BY}
    if files:
        return qrels_for({}, files[0], resolve_options(**taken))
    for name, value in taken.items():
        if value is not None:
            raise OPTIONS[name].error("says how QRELS are read", "add them")
    return None
