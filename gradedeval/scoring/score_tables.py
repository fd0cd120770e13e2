"""Scores -> tables: a column a measure for people, a row a score for programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from gradedeval import formats
from gradedeval.formats import Column, Document, Layout, Table, formats_for
from gradedeval.measures.definition import Measure
from gradedeval.options import Options
from gradedeval.options.presets import PRESETS
from gradedeval.scoring.cwl_quantities import records
from gradedeval.scoring.scores import ALL, Row, RunScores, Scores

FORMATS = formats_for("wide", "trec", "long")
PARTS = ("residual", "unjudged", "beyond")


def render(scores: Scores, form: str, *, by_topic: bool = False, digits: int | None = None, cwl: bool = False) -> str:
    """The scores as text; `digits` and what it raises as in `formats.render`, `by_topic` and `cwl` as in `document`."""
    return formats.render(partial(document, scores, by_topic=by_topic, cwl=cwl), form, digits)


def document(scores: Scores, layout: Layout, *, by_topic: bool = False, cwl: bool = False) -> Document:
    """The scores as a table.

    by_topic  a row for each topic as well
    cwl       the five quantities of each measure as columns; the measures are those of `all_quantities`
    """
    if layout == "wide" and not cwl:
        table = _wide(scores, by_topic) if by_topic or scores.is_multi_run else _tall(scores)
    elif cwl and layout != "trec":
        table = _quantities(scores, layout, by_topic)
    else:
        table = _trec(scores, by_topic) if layout == "trec" else _long(scores, by_topic)
    return Document([table], scores.signature)


def preset_digits(options: Options) -> int:
    """The digits in tables: 4, or those of the preset."""
    return PRESETS[options.like].digits if options.like else 4


def _column(scores: Scores, name: str) -> Column:
    return Column(name, "score", preset_digits(scores.options))


def _value(score: float | None, measure: Measure) -> float | None:
    """The score; a count as a whole number."""
    return int(score) if score is not None and measure.definition.summary == "total" else score


def _long(scores: Scores, by_topic: bool) -> Table:
    """A row for each run, topic and measure."""
    names = scores.columns
    counts = {str(measure) for measure in scores.measures if measure.definition.summary == "total"}
    rows = []
    for row in scores.rows(by_topic):
        values = [getattr(row, name) for name in names]
        if row.measure in counts and row.score is not None:
            values[names.index("score")] = int(row.score)
        rows.append(values)
    return Table([Column(name) for name in names], rows)


def _trec(scores: Scores, by_topic: bool) -> Table:
    """Three columns, measure, topic and score, as trec_eval; topic by topic, the summary last."""
    measures = {str(measure): measure for measure in scores.measures}
    parts = _parts(scores)
    lines: list[tuple[str, str, Any]] = []
    for run in scores.runs:
        if scores.is_multi_run:
            lines.append(("runid", ALL, run.run))
        of_topic: dict[Place, list[Row]] = {place: [] for place in _places(run, by_topic)}
        for row in scores.rows_of(run, by_topic):
            of_topic[_place(row)].append(row)
        for row in (row for rows in of_topic.values() for row in rows):
            if row.score is not None:
                lines.append((row.measure, row.topic, _value(row.score, measures[row.measure])))
            lines += [
                (f"{row.measure}.{part}", row.topic, value)
                for part in parts
                if (value := getattr(row, part)) is not None
            ]
    return Table([Column("measure"), Column("topic"), _column(scores, "value")], lines)


Place = tuple[str, str, bool]
"""Run, topic, and whether it is the summary: a topic may be called `all` too."""


def _place(row: Row) -> Place:
    return row.run, row.topic, row.topics is not None


def _places(run: RunScores, by_topic: bool) -> list[Place]:
    """Where the rows of a run go, the summary last."""
    return [*((run.run, topic, False) for topic in (run.topics if by_topic else [])), (run.run, ALL, True)]


def _parts(scores: Scores) -> list[str]:
    """The columns beside the score."""
    return [name for name in scores.columns if name in (*PARTS, "topics")]


def _values(row: Row, measure: Measure, parts: Sequence[str]) -> list[float | None]:
    """The score and the columns beside it."""
    return [_value(row.score, measure), *(getattr(row, part) for part in parts)]


def _keys(scores: Scores, by_topic: bool) -> list[str]:
    """The columns that say which run and topic a row is of, where there are several."""
    return [key for key, wanted in (("run", scores.is_multi_run), ("topic", by_topic)) if wanted]


def _quantities(scores: Scores, layout: Layout, by_topic: bool) -> Table:
    """A row for each measure, a column for each of its C/W/L quantities; for programs with run and topic always."""
    rows = list(records(scores, by_topic))
    keys = ["run", "topic", "measure"]
    shown = keys if layout == "long" else [*_keys(scores, by_topic), "measure"]
    numbers = [name for name in (rows[0] if rows else ()) if name not in keys]
    columns = [*map(Column, shown), *(_column(scores, name) for name in numbers)]
    return Table(columns, [[row[column.name] for column in columns] for row in rows])


def _tall(scores: Scores) -> Table:
    """One run: a row for each measure."""
    parts = _parts(scores)
    rows = zip(scores.rows(by_topic=False), scores.measures, strict=True)
    return Table(
        [Column("measure"), *(_column(scores, name) for name in ("score", *parts))],
        [[row.measure, *_values(row, measure, parts)] for row, measure in rows],
    )


def _wide(scores: Scores, by_topic: bool) -> Table:
    """Several runs, or topic by topic: a column for each measure, and one for each part of its residual."""
    parts, keys = _parts(scores), _keys(scores, by_topic)
    numbers = [name for measure in scores.measures for name in (str(measure), *parts)]
    rows: dict[Place, dict[str, Row]] = {place: {} for run in scores.runs for place in _places(run, by_topic)}
    for row in scores.rows(by_topic):
        rows[_place(row)][row.measure] = row
    body = []
    for (run, topic, _), by_measure in rows.items():
        line: list[Any] = [{"run": run, "topic": topic}[key] for key in keys]
        for measure in scores.measures:
            line += _values(by_measure.get(str(measure), Row(run, topic, str(measure), None)), measure, parts)
        body.append(line)
    return Table([*map(Column, keys), *(_column(scores, name) for name in numbers)], body)
