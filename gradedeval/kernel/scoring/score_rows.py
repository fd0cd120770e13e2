"""The tidy table of scores: a row of it, what its columns are called, and how tables for people show them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gradedeval.kernel.options import preset_digits

if TYPE_CHECKING:
    from gradedeval.kernel.formats import Column
    from gradedeval.kernel.measures.definition import Measure
    from gradedeval.kernel.scoring.scores import Scores

ALL = "all"

BOUNDS = ("low", "high")
"""The columns of --bounds, which --interval excludes: the lowest and the highest score."""
INTERVAL = ("se", "low", "high")
"""The columns of --interval: standard error of a summary, ends of its interval."""
ESTIMATED = ("people", "people_low", "people_high", "machine", "lambda_", "narrower", "times")
"""The columns of --predicted: the summary by people alone and its interval, that by the machine alone of all topics,
how much the machine helps, by what share the interval of both is narrower, and how many times the topics people would
have to judge for it."""


class Row(NamedTuple):
    """A line of the tidy table: blank parts are None; a summary has the topic `all`, a standard error, the ends of its
    interval or its bounds, and counts its `topics`; that of a slice says which, as in `intent=head`."""

    run: str
    topic: str
    measure: str
    score: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    residual: float | None = None
    unjudged: float | None = None
    beyond: float | None = None
    topics: int | None = None
    people: float | None = None
    people_low: float | None = None
    people_high: float | None = None
    machine: float | None = None
    lambda_: float | None = None
    narrower: float | None = None
    times: float | None = None
    slice: str | None = None


def row_signatures(scores: Scores, rows: Iterable[Row]) -> list[str | None]:
    """What the summaries among these rows depend on, of all topics or of a slice; None for the rows of topics."""
    known = {name: part.signatures for name, part in scores._slices} | {None: scores.signatures}
    return [None if row.topics is None else known[row.slice][row.run, row.measure] for row in rows]


# Rows and columns as tables for people have them.

PARTS = (*INTERVAL, *ESTIMATED, "residual", "unjudged", "beyond")

_OF_WIDTHS = ("lambda_", "narrower", "times")
"""What no scale of scores changes."""


def number_column(scores: Scores, name: str, percent: bool = False) -> Column:
    """A column of scores, with the digits of the preset; in percent two fewer."""
    from gradedeval.kernel.formats import Column  # not before there is a table

    digits = preset_digits(scores.options.like)
    return Column(name, "score", max(digits - 2, 0) if percent else digits)


def printed_rows(scores: Scores, by_topic: bool, percent: bool = False, sliced: bool = False) -> Iterator[Row]:
    """The rows of the tidy table, with those of slices where wanted; counts are whole numbers. Of shares percent, where
    that is wanted."""
    rows = scores.rows(by_topic, sliced)
    if percent:
        rows = map(_in_percent, rows, repeat({measure.label for measure in scores.measures if is_share(measure)}))
    counts = {measure.label for measure in scores.measures if measure.definition.summary == "total"}
    if counts and scores.machine is None:  # an estimate is not whole
        rows = map(_in_whole_numbers, rows, repeat(counts))
    return rows


def _in_percent(row: Row, shares: Collection[str]) -> Row:
    """The row times 100 where it is of a measure whose scores are shares."""
    if row.measure not in shares:
        return row
    values = {name: getattr(row, name) for name in ("score", *PARTS) if name not in _OF_WIDTHS}
    return row._replace(**{name: value * 100 for name, value in values.items() if value is not None})


def _in_whole_numbers(row: Row, counts: Collection[str]) -> Row:
    """The row in whole numbers where it is of a measure that counts."""
    if row.measure not in counts:
        return row
    return row if row.score is None else row._replace(score=cast(Any, int(row.score)))


def is_share(measure: Measure) -> bool:
    """Whether scores by a measure lie between 0 and 1, so that they may be given in percent."""
    definition = measure.definition
    return definition.floor >= 0 and definition.ceiling <= 1 and measure.arguments.get("of", "eu") == "eu"


def parts_beside(scores: Scores) -> list[str]:
    """The columns beside the score."""
    return [name for name in scores.columns if name in (*PARTS, "topics")]


def values_of(row: Row, parts: Sequence[str]) -> list[float | None]:
    """The score and the columns beside it."""
    return [getattr(row, name) for name in ("score", *parts)]


def key_names(scores: Scores, by_topic: bool) -> list[str]:
    """The columns that say which run and topic a row is of, where there are several."""
    wanted = {"run": scores.is_multi_run, "topic": by_topic}
    return [key for key, shown in wanted.items() if shown]


def best_two(printed: Sequence[str], sign: int) -> list[int]:
    """1 for the best of several numbers, 2 for the second best, 0 for the others and where there is none. Numbers that
    are printed alike are equal: a reader cannot tell which one is better. Of one number nothing is the best.

    sign  what a number is multiplied by so that more is better
    """
    read = [sign * float(text or "nan") for text in printed]
    numbers = [None if math.isnan(number) else number for number in read]
    levels = sorted({number for number in numbers if number is not None}, reverse=True)[:2]
    if sum(number is not None for number in numbers) < 2:
        return [0] * len(numbers)
    return [levels.index(number) + 1 if number in levels else 0 for number in numbers]
