"""Tables of scores with many numbers for each measure, in a row for each: estimates from two kinds of judgments, and
the quantities of C/W/L measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradedeval.kernel.formats import Column, Layout, Mark, Table
from gradedeval.kernel.measures.definition import QUANTITIES
from gradedeval.kernel.scoring.score_rows import (
    BOUNDS,
    PARTS,
    Row,
    best_two,
    key_names,
    number_column,
    printed_rows,
)

if TYPE_CHECKING:
    from gradedeval.kernel.scoring.score_tables import Style
    from gradedeval.kernel.scoring.scores import Scores


def quantities(scores: Scores, layout: Layout, by_topic: bool) -> Table:
    """A row for each measure, a column for each of its C/W/L quantities and for what their residuals are: topic by
    topic, the means last; for programs with run and topic always."""
    sources = {of: (number, "score") for number, of in enumerate(QUANTITIES)}  # column -> quantity, and what of it
    if scores.options.residuals == "difference":
        sources |= {f"{of}.residual": (number, "residual") for number, of in enumerate(QUANTITIES)}
        sources |= {end: (0, end) for end in BOUNDS if scores.options.bounds}
    else:  # only expected utility has a residual that is a bound
        sources |= {part: (0, part) for part in PARTS if part in scores.columns}
    keys = ["run", "topic"] if layout == "long" else key_names(scores, by_topic)
    rows: list[list[Any]] = []
    for run in scores.runs:
        by_measure = []
        for first in range(0, len(scores.measures), len(QUANTITIES)):
            each = [scores.column(run, first + of, by_topic) for of in range(len(QUANTITIES))]
            values = zip(*(each[of][part] for of, part in sources.values()), strict=True)
            by_measure.append([(scores.measures[first].label, *row) for row in values])
        for topic, *of_topic in zip(each[0]["topic"], *by_measure, strict=True):
            cells = {"run": run.run, "topic": topic}
            rows += [[*(cells[key] for key in keys), *row] for row in of_topic]
    columns = [*map(Column, (*keys, "measure")), *(number_column(scores, name) for name in sources)]
    return Table(columns, rows, pipeline=True)


def quantity_signatures(scores: Scores, by_topic: bool) -> list[str | None]:
    """What the rows of `quantities` depend on: said of the means, the last of each run."""
    signed: list[str | None] = []
    for run in scores.runs:
        of_means = [scores.signatures[run.run, measure.label] for measure in scores.measures[:: len(QUANTITIES)]]
        signed += [*([None] * (len(of_means) * len(run.topics) if by_topic else 0)), *of_means]
    return signed


def stacked(scores: Scores, by_topic: bool, style: Style, digits: int | None) -> list[Table]:
    """What has many numbers for each measure: a row for each measure and run, topic by topic where wanted; and a table
    of the same for each column of slices."""
    order = {label: number for number, label in enumerate(scores.labels)}
    rows = sorted(printed_rows(scores, by_topic, style.percent), key=lambda row: order[row.measure])
    shown = {"measure": True, "run": scores.is_multi_run, "topic": by_topic}
    table = _stack(scores, rows, shown, style, digits)
    tables = [replace(table, marks=_stacked_marks(scores, table, digits)) if style.best and not by_topic else table]
    shown["topic"] = False
    for name, parts in scores.by_slice.items():
        labelled = [(label, row) for label, part in parts.items() for row in printed_rows(part, False, style.percent)]
        table = _stack(scores, [row for _, row in labelled], shown, style, digits)
        cells = [[label, *line] for (label, _), line in zip(labelled, table.rows, strict=True)]
        tables.append(replace(table, columns=[Column(name), *table.columns], rows=cells))
    return tables


def _stack(scores: Scores, rows: Sequence[Row], shown: Mapping[str, bool], style: Style, digits: int | None) -> Table:
    """The rows with what says which they are of, where it is shown, and their numbers."""
    keys = [name for name, is_shown in shown.items() if is_shown]
    lines: list[list[Any]] = []
    for row in rows:
        known = {"measure": row.measure, "run": row.run, "topic": row.topic}
        lines.append([*(known[key] for key in keys), *_estimated(scores, row, style, digits)])
    columns = [Column(key, "run" if key == "run" else "text") for key in keys]
    column, margin = number_column(scores, "score", style.percent), Column("±", "figures")
    alone = [replace(column, name="people"), replace(margin, name="± people"), replace(column, name="machine")]
    columns += [column, margin, *alone, Column("λ", "score", 2), Column("saves", "figures")]
    return Table(columns, lines, pipeline=True)


def _estimated(scores: Scores, row: Row, style: Style, digits: int | None) -> list[Any]:
    """An estimate and its margin, what people alone say and the machine alone, λ, and what it saves. The estimate is of
    the mean: a topic has the scores by people and by the machine alone."""
    column = number_column(scores, "score", style.percent)
    geometric = [measure.label for measure in scores.measures if measure.reading.summary == "geometric"]
    ends = (row.score, row.low, row.high), (row.people, row.people_low, row.people_high)
    margin, alone = (_margin(*found, column, digits, factor=row.measure in geometric) for found in ends)
    score = row.score if row.topics is not None else None
    return [score, margin, row.people, alone, row.machine, row.lambda_, _saved(row)]


def _stacked_marks(scores: Scores, table: Table, digits: int | None) -> dict[tuple[int, int], Mark]:
    """The marks of the best runs by each measure."""
    marks, at, column = dict[tuple[int, int], Mark](), table.names.index("measure"), table.names.index("score")
    for measure in scores.measures:
        mine = [number for number, row in enumerate(table.rows) if row[at] == measure.label]
        if measure.reading.better != "neither":
            printed = table.columns[column].cells([table.rows[number][column] for number in mine], digits)
            places = best_two(printed, measure.reading.sign)
            marks |= {(number, column): Mark(place) for number, place in zip(mine, places, strict=True)}
    return marks


def _margin(
    middle: float | None,
    low: float | None,
    high: float | None,
    column: Column,
    digits: int | None,
    *,
    factor: bool = False,
) -> str | None:
    """How far an interval reaches to either side before it is cut at the ends of the scale; of a geometric mean by
    which factor."""
    if middle is None or low is None or high is None:
        return None
    if factor:
        return f"×{max(high / middle, middle / low):.2f}" if low > 0 else None
    return column.cells([max(middle - low, high - middle)], digits)[0]


def _saved(row: Row) -> str | None:
    from gradedeval.kernel.scoring.predicted import saved_words  # of the quantities nothing is predicted

    return None if row.narrower is None or row.times is None else saved_words(row.narrower, row.times)
