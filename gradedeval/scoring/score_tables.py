"""Scores -> text: every output format, as a table for people or in the long form for programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradedeval.errors import InputError, did_you_mean
from gradedeval.formats import TABLES, json_document, json_lines, laid_out, rounded, separated, signed
from gradedeval.measures.definition import Measure
from gradedeval.scoring.cwl_quantities import records
from gradedeval.scoring.scores import ALL, Row, RunScores, Scores

FORMATS = ("table", "trec", "csv", "tsv", "json", "jsonl", "markdown", "latex", "html")
DISPLAYED = (*TABLES, "trec")  # formats that round to 4 digits unless told otherwise
EXTENSIONS = {
    "": "table",
    ".txt": "table",
    ".trec": "trec",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
}
PARTS = ("residual", "unjudged", "beyond")


def render(scores: Scores, form: str, *, by_topic: bool = False, digits: int | None = None, cwl: bool = False) -> str:
    """The scores as text. `digits` rounds; without it tables have 4 (or the preset's) and long forms full precision.

    cwl     the five quantities of each measure as columns; the measures are those of `all_quantities`

    Raises InputError (usage) for an unknown format.
    """
    if form in TABLES:
        return _table(scores, form, by_topic, 4 if digits is None else digits, cwl)
    if form == "trec":
        return _trec(scores, by_topic, 4 if digits is None else digits)
    if form in _LONG:
        if cwl:
            return _LONG[form](scores, [rounded(row, digits) for row in records(scores, by_topic)])
        rows = [{name: getattr(row, name) for name in scores.columns} for row in scores.rows(by_topic)]
        counts = {str(one) for one in scores.measures if one.definition.summary == "total"}
        return _LONG[form](scores, [_numbers(row, counts, digits) for row in rows])
    raise InputError(
        "--format", f"no format '{form}'", did_you_mean(form, FORMATS) or f"one of {', '.join(FORMATS)}", usage=True
    )


def _numbers(row: dict[str, Any], counts: set[str], digits: int | None) -> dict[str, Any]:
    """The row with counts as integers, and the other numbers rounded where digits are asked for."""
    for name in ("score", *PARTS):
        value = row.get(name)
        if isinstance(value, float):
            whole = name == "score" and row["measure"] in counts
            row[name] = int(value) if whole else value if digits is None else round(value, digits)
    return row


def _columns(scores: Scores, rows: list[dict[str, Any]]) -> list[str]:
    return list(rows[0]) if rows else scores.columns


_LONG: dict[str, Callable[[Scores, list[dict[str, Any]]], str]] = {
    "csv": lambda scores, rows: separated(_columns(scores, rows), rows, "csv"),
    "tsv": lambda scores, rows: separated(_columns(scores, rows), rows, "tsv"),
    "json": lambda scores, rows: json_document({"signature": scores.signature}, rows),
    "jsonl": lambda scores, rows: json_lines(rows),
}


def _trec(scores: Scores, by_topic: bool, digits: int) -> str:
    """Three columns, measure, topic and score, as trec_eval; topic by topic, the summary last."""
    measures = {str(measure): measure for measure in scores.measures}
    parts = [part for part in (*PARTS, "topics") if part in scores.columns]
    lines = []
    for run in scores.runs:
        if scores.is_multi_run:
            lines.append(("runid", ALL, run.run))
        of_topic: dict[Place, list[Row]] = {place: [] for place in _places(run, by_topic)}
        for row in scores.rows_of(run, by_topic):
            of_topic[_place(row)].append(row)
        for row in (row for rows in of_topic.values() for row in rows):
            if row.score is not None:
                lines.append((row.measure, row.topic, _number(row.score, measures[row.measure], digits)))
            lines += [
                (f"{row.measure}.{part}", row.topic, _part(row, part, digits))
                for part in parts
                if getattr(row, part) is not None
            ]
    return "".join(f"{name:<22}\t{topic}\t{value}\n" for name, topic, value in lines)


Place = tuple[str, str, bool]
"""Run, topic, and whether it is the summary: a topic may be called `all` too."""


def _place(row: Row) -> Place:
    return row.run, row.topic, row.topics is not None


def _places(run: RunScores, by_topic: bool) -> list[Place]:
    """Where the rows of a run go, the summary last."""
    return [*((run.run, topic, False) for topic in (run.topics if by_topic else [])), (run.run, ALL, True)]


def _number(value: float | None, measure: Measure | None, digits: int) -> str:
    if value is None:
        return ""
    count = measure is not None and measure.definition.summary == "total"
    return str(int(value)) if count else f"{value:.{digits}f}"


def _part(row: Row, part: str, digits: int) -> str:
    value = getattr(row, part)
    return ("" if value is None else str(value)) if part == "topics" else _number(value, None, digits)


def _table(scores: Scores, form: str, by_topic: bool, digits: int, cwl: bool) -> str:
    if cwl:
        header, body = _five(scores, by_topic, digits)
    elif by_topic or scores.is_multi_run:
        header, body = _wide(scores, by_topic, digits)
    else:
        header, body = _tall(scores, digits)
    return signed(laid_out(header, body, form, ("run", "topic", "measure")), form, scores.signature)


def _five(scores: Scores, by_topic: bool, digits: int) -> tuple[list[str], list[list[str]]]:
    """A row for each measure, a column for each of its quantities."""
    rows = list(records(scores, by_topic))
    keys = [key for key, wanted in (("run", scores.is_multi_run), ("topic", by_topic), ("measure", True)) if wanted]
    numbers = [name for name in rows[0] if name not in ("run", "topic", "measure")]
    cell = f"{{:.{digits}f}}".format
    body = [
        [row[key] for key in keys] + ["" if row[name] is None else cell(row[name]) for name in numbers] for row in rows
    ]
    return keys + numbers, body


def _tall(scores: Scores, digits: int) -> tuple[list[str], list[list[str]]]:
    """One run: a row for each measure."""
    parts = [name for name in scores.columns if name in (*PARTS, "topics")]
    body = [
        [row.measure, _number(row.score, measure, digits), *(_part(row, part, digits) for part in parts)]
        for row, measure in zip(scores.rows(by_topic=False), scores.measures, strict=True)
    ]
    return ["measure", "score", *parts], body


def _wide(scores: Scores, by_topic: bool, digits: int) -> tuple[list[str], list[list[str]]]:
    """Several runs, or topic by topic: a column for each measure, and one for each part of its residual."""
    parts = [name for name in scores.columns if name in (*PARTS, "topics")]
    keys = [key for key, wanted in (("run", scores.is_multi_run), ("topic", by_topic)) if wanted]
    header = keys + [title for one in scores.measures for title in (str(one), *parts)]
    cells: dict[Place, dict[str, Row]] = {place: {} for run in scores.runs for place in _places(run, by_topic)}
    for row in scores.rows(by_topic):
        cells[_place(row)][row.measure] = row
    body = []
    for (run, topic, _), found in cells.items():
        line = [name for key, name in (("run", run), ("topic", topic)) if key in keys]
        for measure in scores.measures:
            row = found.get(str(measure), Row(run, topic, str(measure), None))
            line.append(_number(row.score, measure, digits))
            line += [_part(row, part, digits) for part in parts]
        body.append(line)
    return header, body
