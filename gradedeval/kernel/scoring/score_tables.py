"""Scores -> tables: a column a measure for people, a row a score for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from gradedeval.errors import InputError, flag, plural, shorten
from gradedeval.kernel import formats
from gradedeval.kernel.formats import PAGE, Column, Document, Layout, Mark, Marked, Table, View
from gradedeval.kernel.measures.definition import MEASURES, QUANTITIES, Measure
from gradedeval.kernel.options import preset_digits
from gradedeval.kernel.scoring.score_rows import (
    ALL,
    Row,
    best_two,
    is_share,
    key_names,
    number_column,
    parts_beside,
    printed_rows,
    row_signatures,
    values_of,
)
from gradedeval.kernel.scoring.signature import SIGNATURES

if TYPE_CHECKING:
    from gradedeval.kernel.scoring.scores import Scores


@dataclass(eq=False, repr=False)
class Style:
    """How a table of summaries for people looks beyond its layout.

    best     mark the best of each column and the second best, as printed: equal numbers share a mark
    percent  scores between 0 and 1, and what stands beside them, times 100
    signs    (run, measure) -> signs of what is significant
    letters  run -> by which signs refer to it
    legend   what the signs mean
    caption  of the table
    """

    best: bool = False
    percent: bool = False
    signs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)
    legend: Marked = ()
    caption: str = ""


PLAIN_STYLE = Style()


def render_scores(
    scores: Scores,
    form: str,
    *,
    by_topic: bool = False,
    digits: int | None = None,
    cwl: bool = False,
    signed: Literal["short", "full"] | None = "short",
    style: Style | None = None,
    view: View = PAGE,
) -> str:
    """The scores as text; `digits`, `view` and what it raises as in `formats.render`, `signed` how tables for people
    are, the rest as in `document`. Topics have their texts."""
    how: dict[str, Any] = {
        "by_topic": by_topic,
        "cwl": cwl,
        "style": style or PLAIN_STYLE,
        "digits": digits,
    }
    make = partial(scores.tables if scores.options.queries else partial(document, scores), **how)
    return formats.render(make, form, digits, SIGNATURES[signed], view)


def document(
    scores: Scores,
    layout: Layout,
    *,
    by_topic: bool = False,
    cwl: bool = False,
    style: Style = PLAIN_STYLE,
    digits: int | None = None,
) -> Document:
    """The scores as a table.

    by_topic  a row for each topic as well
    cwl       the five quantities of each measure as columns; the measures are those of `all_quantities`
    digits    that are printed; None: those of the preset

    Where there are replicates it is a table of systems; with `by_topic` of runs and topics all the same.
    """
    if scores.options.replicates is not None and not (by_topic or cwl):
        from gradedeval.kernel.scoring import systems  # few evaluations have any

        return systems.document(scores, layout, preset_digits(scores.options.like))
    signed = list[str | None]()
    if layout == "trec":
        tables = [_trec(scores, by_topic)]
    elif cwl:
        from gradedeval.kernel.scoring import tables_by_measure  # few evaluations ask for them

        tables = [tables_by_measure.quantities(scores, layout, by_topic)]
        signed = tables_by_measure.quantity_signatures(scores, by_topic) if layout == "long" else signed
    elif layout == "long":
        rows = list(printed_rows(scores, by_topic, sliced=True))
        return Document([_long(scores, rows)], scores.signature, row_signatures=row_signatures(scores, rows))
    elif scores.machine is not None:  # estimates have more columns than fit beside each other
        from gradedeval.kernel.scoring import tables_by_measure  # few evaluations have predictions

        tables = tables_by_measure.stacked(scores, by_topic, style, digits)
    else:
        wide = by_topic or scores.is_multi_run
        table = _wide(scores, by_topic, style, digits) if wide else _tall(scores, style.percent)
        sliced = () if scores.options.slices is None else scores.by_slice
        tables = [table, *[_sliced(scores, column, style.percent) for column in sliced]] if sliced else [table]
    legend = _legend(scores, style) if layout == "wide" and style is not PLAIN_STYLE else ()
    around = Document(tables, caption=style.caption, legend=legend)
    signature = f"{scores.signature} | {PERCENT}" if style.percent and layout == "wide" else scores.signature
    return replace(around, signature=signature, row_signatures=signed)


PERCENT = "percent"
"""The part of a signature that says that scores between 0 and 1 are times 100."""


def _legend(scores: Scores, style: Style) -> Marked:
    """What the marks of a table mean, and which numbers are percent."""
    parts: list[Marked] = []
    if style.percent:
        others = [measure.label for measure in scores.measures if not is_share(measure)]
        parts.append([("scores in percent" + (f" (not of {', '.join(others)})" if others else ""), Mark())])
    if style.best:
        parts.append(
            [
                ("best", Mark(1)),
                (" and ", Mark()),
                ("second best", Mark(2)),
                (" of each column" if scores.machine is None else " of each measure", Mark()),
            ]
        )
        for better, words in (("lower", "lower is better"), ("neither", "no preferred direction")):
            named = [measure.label for measure in scores.measures if measure.reading.better == better]
            parts += [[(f"{', '.join(named)}: {words}", Mark())]] if named else []
    parts += [style.legend] if style.legend else []
    if parts or style.caption:
        counts = sorted({run.most(len(scores.measures)) for run in scores.runs})
        many = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0] if counts else 0}"
        kind = "topic" if scores.machine is None else "judged topic"
        parts.append([(f"{many} {plural(counts[-1] if counts else 0, kind)}", Mark())])
    return [piece for part in parts for piece in [("; ", Mark()), *part]][1:]


def _long(scores: Scores, rows: Sequence[Row]) -> Table:
    """A row for each run, topic and measure."""
    columns = scores.columns
    return Table([*map(Column, columns)], [[getattr(row, name) for name in columns] for row in rows])


Place = tuple[str, str, bool]
"""Run, topic, and whether it is the summary: a topic may be called `all` too."""


def _by_place(scores: Scores, by_topic: bool, percent: bool = False) -> dict[Place, dict[str, Row]]:
    """The rows of each run, topic by topic and the summary last, by measure."""
    rows: dict[Place, dict[str, Row]] = {}
    for run in scores.runs:
        rows |= {(run.run, topic, False): {} for topic in (run.topics if by_topic else [])}
        rows[run.run, ALL, True] = {}
    for row in printed_rows(scores, by_topic, percent):
        rows[row.run, row.topic, row.topics is not None][row.measure] = row
    return rows


def _trec(scores: Scores, by_topic: bool) -> Table:
    """Three columns, measure, topic and score, as trec_eval; topic by topic, the summary last."""
    parts, before = parts_beside(scores), None
    lines: list[tuple[str, str, Any]] = []
    for (run, topic, _), by_measure in _by_place(scores, by_topic).items():
        if scores.is_multi_run and run != before:
            lines.append(("runid", ALL, run))
        before = run
        lines += [line for row in by_measure.values() for line in _trec_lines(row, topic, parts)]
        if not by_topic or topic == ALL:
            own = (row for row in printed_rows(scores, False, sliced=True) if row.slice is not None and row.run == run)
            lines += [line for row in own for line in _trec_lines(row, str(row.slice), parts)]
    return Table([Column("measure"), Column("topic"), number_column(scores, "value")], lines)


def _trec_lines(row: Row, topic: str, parts: Sequence[str]) -> list[tuple[str, str, Any]]:
    values = {row.measure: row.score} | {f"{row.measure}.{part}": getattr(row, part) for part in parts}
    return [(name, topic, value) for name, value in values.items() if value is not None]


def all_quantities(measures: Iterable[Measure]) -> list[Measure]:
    """Each C/W/L measure as expected utility, total utility, cost, total cost and depth.

    Raises InputError (usage) for one that is not a C/W/L measure, or says which quantity it is.
    """
    quantities: list[Measure] = []
    for measure in measures:
        if not measure.definition.cwl:
            family = [name for name, known in MEASURES.items() if known.definition.cwl]
            what, hint = f"{measure} is not a C/W/L measure", f"those are {shorten(family, 30)}"
            raise InputError(flag.cwl, what, hint, usage=True)
        if "of" in measure.arguments:
            what = f"'{measure}' asks for one quantity"
            raise InputError(flag.cwl, what, f"{flag.cwl} prints all five; leave out of=", usage=True)
        quantities += [measure if of == "eu" else measure(of=of) for of in QUANTITIES]
    return quantities


def _tall(scores: Scores, percent: bool) -> Table:
    """One run: a row for each measure."""
    names = ("score", *parts_beside(scores))
    columns = [Column("measure"), *[number_column(scores, name, percent) for name in names]]
    return Table(
        columns, list(map(attrgetter("measure", *names), printed_rows(scores, by_topic=False, percent=percent)))
    )


def _wide(scores: Scores, by_topic: bool, style: Style, digits: int | None) -> Table:
    """Several runs, or topic by topic: a column for each measure, and one for each part of its residual."""
    parts, keys = parts_beside(scores), key_names(scores, by_topic)
    rows = list[list[Any]]()
    for (run, topic, _), by_measure in _by_place(scores, by_topic, style.percent).items():
        line: list[Any] = [{"run": run, "topic": topic}[key] for key in keys]
        for measure in scores.labels:
            line += values_of(by_measure.get(measure, Row(run, topic, measure, None)), parts)
        rows.append(line)
    numbers = _number_columns(scores, parts, style.percent)
    table = Table([*map(Column, keys), *numbers], rows, pipeline=True, together=1 + len(parts))
    return (
        replace(table, marks=_marks(scores, table, style, digits))
        if style is not PLAIN_STYLE and not by_topic
        else table
    )


def _sliced(scores: Scores, column: str, percent: bool) -> Table:
    """The summaries of the slices of one column: a row for each slice and run."""
    parts, several = parts_beside(scores), scores.is_multi_run
    counts = "topics" not in parts  # else each measure has its own
    rows: list[list[Any]] = []
    for label, part in scores.by_slice[column].items():
        by_place = _by_place(part, by_topic=False, percent=percent)
        for run in part.runs:
            by_measure = by_place[run.run, ALL, True]
            values = [values_of(by_measure[name], parts) for name in scores.labels]
            key = [label, *([run.run] if several else []), *([run.most(len(scores.measures))] if counts else [])]
            rows.append([*key, *(value for of_measure in values for value in of_measure)])
    numbers = _number_columns(scores, parts, percent)
    keys = [Column(column), *([Column("run")] if several else []), *([Column("topics", "count")] if counts else [])]
    return Table([*keys, *numbers], rows, pipeline=True, together=1 + len(parts))


def _number_columns(scores: Scores, parts: Sequence[str], percent: bool) -> list[Column]:
    """A column for each measure, and one for each part beside it."""
    return [
        number_column(scores, name, percent and is_share(measure))
        for measure in scores.measures
        for name in (measure.label, *parts)
    ]


def _marks(scores: Scores, table: Table, style: Style, digits: int | None) -> dict[tuple[int, int], Mark]:
    """The marks of a table with a row for each run."""
    names, marks = [run.run for run in scores.runs], {}
    at = table.names.index("run")
    for row, name in enumerate(names):
        if name in style.letters:
            marks[row, at] = Mark(signs=style.letters[name])
    width = (len(table.columns) - at - 1) // len(scores.measures)
    for number, measure in enumerate(scores.measures):
        column = at + 1 + number * width
        values = [row[column] for row in table.rows]
        reading = measure.reading
        known = style.best and reading.better != "neither"
        places = best_two(table.columns[column].cells(values, digits), reading.sign) if known else [0] * len(names)
        for row, (name, place) in enumerate(zip(names, places, strict=True)):
            marks[row, column] = Mark(place, style.signs.get((name, measure.label), ""))
    return marks
