"""LOG and its options: how a click log is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from gradedeval.cli.arguments import usage
from gradedeval.cli.options import option
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.read import CLICKS_AS, read_log
from gradedeval.errors import InputError
from gradedeval.options import numbers
from gradedeval.options.definition import READING

LOG_OPTIONS = [
    option("--clicks-as", section=READING, type=click.Choice(CLICKS_AS), default="rank", help="What the column clicks "
           "holds: ranks from 1, or docnos of the shown list. Default: rank."),
    option(numbers.DEPTH, section=READING, metavar="N", help="Cut the shown lists to N documents, "
           "and ignore clicks below."),
    option("--idle", section=READING, metavar="TIME", help="Unite lines of one user, topic and list that follow within "
           "TIME, such as 60m, 1h or 90s, by the column time. Default: each line is a session."),
    option("--lenient", section=READING, is_flag=True, help="Skip bad lines of the log; a message counts them."),
]  # fmt: skip


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
