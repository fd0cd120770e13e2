"""Scores -> tables: a column a measure for people, a row a score for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, cast

from gradedeval.errors import InputError, emit_notes, flag, plural, shorten
from gradedeval.kernel import formats
from gradedeval.kernel.formats import PAGE, Column, Document, Layout, Mark, Marked, Table, View
from gradedeval.kernel.measures.definition import ALL, MEASURES, QUANTITIES, Measure
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.options import preset_digits
from gradedeval.kernel.scoring.signature import SIGNATURES

if TYPE_CHECKING:
    from gradedeval.kernel.scoring.scores import Row, Scores

ON_SCALE = ("score", "se", "low", "high", "people", "people_low", "people_high", "machine",
            "residual", "unjudged", "beyond")  # fmt: skip
"""Columns on the scale of scores."""


def number_column(scores: Scores, name: str, percent: bool = False) -> Column:
    """Return a column of scores with the digits of the preset; two fewer for percentages."""
    digits = preset_digits(scores.options.like)
    return Column(name, "score", max(digits - 2, 0) if percent else digits)


def printed_rows(scores: Scores, by_topic: bool, percent: bool = False, sliced: bool = False) -> Iterator[Row]:
    """Yield the rows of the tidy table for printing, with slices and percentages if requested; counts are whole."""
    shares = {measure.label for measure in scores.measures if percent and is_share(measure)}
    counts = {measure.label for measure in scores.measures if measure.definition.summary == "total"}
    for row in scores.rows(by_topic, sliced):
        if row.measure in shares:
            values = {name: getattr(row, name) for name in ON_SCALE}
            row = row._replace(**{name: value * 100 for name, value in values.items() if value is not None})
        if row.measure in counts and row.score is not None and scores.machine is None:  # an estimate is not whole
            row = row._replace(score=cast(Any, int(row.score)))
        yield row


def is_share(measure: Measure) -> bool:
    """Return whether scores of a measure lie between 0 and 1."""
    definition = measure.definition
    return definition.floor >= 0 and definition.ceiling <= 1 and measure.arguments.get("of", "eu") == "eu"


def further_columns(scores: Scores) -> list[str]:
    """Return the columns after the score."""
    return scores.columns[scores.columns.index("score") + 1 :]


def values_of(row: Row | None, parts: Sequence[str]) -> list[float | None]:
    """Return the score and the further columns of a row; None for all without a row."""
    return [getattr(row, name, None) for name in ("score", *parts)]


def key_names(scores: Scores, by_topic: bool) -> list[str]:
    """Return the columns that identify the run and the topic of a row, if there are several."""
    columns = {"run": scores.is_multi_run, "topic": by_topic}
    return [key for key, named in columns.items() if named]


def best_two(printed: Sequence[str], sign: int) -> list[int]:
    """Return for each number 1 if it is the best, 2 if it is the second best, else 0; 0 for a single number. More is
    better if `sign` is 1. Numbers that are printed alike are equal: a reader cannot tell them apart."""
    values = [sign * float(text or "nan") for text in printed]
    numbers = [None if math.isnan(number) else number for number in values]
    levels = sorted({number for number in numbers if number is not None}, reverse=True)[:2]
    if sum(number is not None for number in numbers) < 2:
        return [0] * len(numbers)
    return [levels.index(number) + 1 if number in levels else 0 for number in numbers]


@dataclass(eq=False, repr=False)
class Style:
    """The style of a table of summaries for people.

    best     mark the best and the second best of each column, as printed: equal numbers share a mark
    percent  multiply scores between 0 and 1, their intervals and residuals by 100
    signs    (run, measure) -> signs of significant differences
    letters  run -> the signs that refer to it
    legend   the meaning of the signs
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
    """Render the scores as text; `digits`, `view` and errors as in `formats.render`, `signed` is the style for people,
    further keywords as in `document`."""
    tables = partial(scores.tables, by_topic=by_topic, cwl=cwl, style=style or PLAIN_STYLE, digits=digits)
    return formats.render(tables, form, digits, SIGNATURES[signed], view)


def document(
    scores: Scores,
    layout: Layout,
    *,
    by_topic: bool = False,
    cwl: bool = False,
    style: Style = PLAIN_STYLE,
    digits: int | None = None,
) -> Document:
    """Return the scores as a table.

    by_topic  include a row for each topic
    cwl       the five quantities of each measure as columns; the measures come from `all_quantities`
    digits    printed digits; None: of the preset

    With replicates it is a table of systems, unless `by_topic` or `cwl` is set.
    """
    if scores.options.replicates is not None and not (by_topic or cwl):
        from gradedeval.kernel.scoring import systems  # few evaluations have any

        return systems.document(scores, layout, preset_digits(scores.options.like))
    signed = list[str | None]()
    if layout == "trec":
        tables = [_trec(scores, by_topic)]
    elif cwl:
        tables = [quantities(scores, layout, by_topic)]
        signed = quantity_signatures(scores, by_topic) if layout == "long" else signed
    elif layout == "long":
        rows = list(printed_rows(scores, by_topic, sliced=True))
        columns = scores.columns
        table = Table([*map(Column, columns)], [[getattr(row, name) for name in columns] for row in rows])
        return Document([table], scores.signature, row_signatures=scores.row_signatures(rows))
    elif scores.machine is not None:  # estimates have more columns than fit beside each other
        tables = stacked(scores, by_topic, style, digits)
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
"""The part of a signature on percentages: scores between 0 and 1 times 100."""


def _legend(scores: Scores, style: Style) -> Marked:
    """Return the meaning of the marks of a table, and a note on percentages."""
    parts: list[Marked] = []
    if style.percent:
        others = [measure.label for measure in scores.measures if not is_share(measure)]
        parts.append([("scores in percent" + (f" (not of {', '.join(others)})" if others else ""), Mark())])
    if style.best:
        of_each = " of each column" if scores.machine is None else " of each measure"
        parts.append([("best", Mark(1)), (" and ", Mark()), ("second best", Mark(2)), (of_each, Mark())])
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


Place = tuple[str, str, bool]
"""Run, topic, and whether it is the summary: a topic may be called `all` too."""


def _by_place(scores: Scores, by_topic: bool, percent: bool = False) -> dict[Place, dict[str, Row]]:
    """Return the rows of each run by measure, topic by topic and the summary last."""
    rows: dict[Place, dict[str, Row]] = {}
    for run in scores.runs:
        rows |= {(run.run, topic, False): {} for topic in (run.topics if by_topic else [])}
        rows[run.run, ALL, True] = {}
    for row in printed_rows(scores, by_topic, percent):
        rows[row.run, row.topic, row.topics is not None][row.measure] = row
    return rows


def _trec(scores: Scores, by_topic: bool) -> Table:
    """Return three columns, measure, topic and score, as trec_eval; topic by topic, the summary last."""
    parts, previous = further_columns(scores), None
    lines: list[tuple[str, str, Any]] = []
    for (run, topic, _), by_measure in _by_place(scores, by_topic).items():
        if scores.is_multi_run and run != previous:
            lines.append(("runid", ALL, run))
        previous = run
        lines += [line for row in by_measure.values() for line in _trec_lines(row, topic, parts)]
        if not by_topic or topic == ALL:
            rows = (row for row in printed_rows(scores, False, sliced=True) if row.slice is not None and row.run == run)
            lines += [line for row in rows for line in _trec_lines(row, str(row.slice), parts)]
    return Table([Column("measure"), Column("topic"), number_column(scores, "value")], lines)


def _trec_lines(row: Row, topic: str, parts: Sequence[str]) -> list[tuple[str, str, Any]]:
    values = {row.measure: row.score} | {f"{row.measure}.{part}": getattr(row, part) for part in parts}
    return [(name, topic, value) for name, value in values.items() if value is not None]


def all_quantities(measures: Iterable[Measure]) -> list[Measure]:
    """Return each C/W/L measure as expected utility, total utility, cost, total cost and depth. p, rr and ap become
    their C/W/L forms, with a note. Raises InputError (usage) for others, and for one that states its quantity."""
    quantities: list[Measure] = []
    given = list(measures)
    in_cwl = [
        parse_measures(str(measure).replace(measure.name, CWL_FORMS[measure.name], 1))[0]
        if measure.name in CWL_FORMS
        else measure
        for measure in given
    ]
    if renamed := [f"{measure} as {form}" for measure, form in zip(given, in_cwl, strict=True) if form is not measure]:
        emit_notes([f"{flag.cwl} takes {', '.join(renamed)}"])
    for measure in in_cwl:
        if not measure.definition.cwl:
            family = [name for name, candidate in MEASURES.items() if candidate.definition.cwl]
            problem, hint = f"{measure} is not a C/W/L measure", f"those are {shorten(family, 30)}"
            raise InputError(flag.cwl, problem, hint, usage=True)
        if "of" in measure.arguments:
            problem = f"'{measure}' asks for one quantity"
            raise InputError(flag.cwl, problem, f"{flag.cwl} prints all five; leave out of=", usage=True)
        quantities += [measure if of == "eu" else measure(of=of) for of in QUANTITIES]
    return quantities


CWL_FORMS = {"p": "cwlp", "rr": "cwlrr", "ap": "cwlap"}
"""Measure -> the same measure as a model of a C/W/L user."""


def _tall(scores: Scores, percent: bool) -> Table:
    """Return a table of one run: a row for each measure."""
    names = ("score", *further_columns(scores))
    columns = [Column("measure"), *[number_column(scores, name, percent) for name in names]]
    rows = printed_rows(scores, by_topic=False, percent=percent)
    return Table(columns, list(map(attrgetter("measure", *names), rows)))


def _wide(scores: Scores, by_topic: bool, style: Style, digits: int | None) -> Table:
    """Return a table of several runs or of topics: a column for each measure and each part of its residual."""
    parts, keys = further_columns(scores), key_names(scores, by_topic)
    rows = list[list[Any]]()
    for (run, topic, _), by_measure in _by_place(scores, by_topic, style.percent).items():
        line: list[Any] = [{"run": run, "topic": topic}[key] for key in keys]
        for measure in scores.labels:
            line += values_of(by_measure.get(measure), parts)
        rows.append(line)
    numbers = _number_columns(scores, parts, style.percent)
    table = Table([*map(Column, keys), *numbers], rows, pipeline=True, together=1 + len(parts))
    if style is PLAIN_STYLE or by_topic:
        return table
    return replace(table, marks=_marks(scores, table, style, digits))


def _sliced(scores: Scores, column: str, percent: bool) -> Table:
    """Return the summaries of the slices of one column: a row for each slice and run."""
    parts, many_runs = further_columns(scores), scores.is_multi_run
    counts = "topics" not in parts  # else each measure has its own
    rows: list[list[Any]] = []
    for label, part in scores.by_slice[column].items():
        by_place = _by_place(part, by_topic=False, percent=percent)
        for run in part.runs:
            by_measure = by_place[run.run, ALL, True]
            values = [values_of(by_measure[name], parts) for name in scores.labels]
            key = [label, *([run.run] if many_runs else []), *([run.most(len(scores.measures))] if counts else [])]
            rows.append([*key, *(value for of_measure in values for value in of_measure)])
    numbers = _number_columns(scores, parts, percent)
    keys = [Column(column), *([Column("run")] if many_runs else []), *([Column("topics", "count")] if counts else [])]
    return Table([*keys, *numbers], rows, pipeline=True, together=1 + len(parts))


def _number_columns(scores: Scores, parts: Sequence[str], percent: bool) -> list[Column]:
    """Return a column for each measure, and one for each further part."""
    return [
        number_column(scores, name, percent and is_share(measure))
        for measure in scores.measures
        for name in (measure.label, *parts)
    ]


def _marks(scores: Scores, table: Table, style: Style, digits: int | None) -> dict[tuple[int, int], Mark]:
    """Return the marks of a table with a row for each run."""
    names, marks = [run.run for run in scores.runs], {}
    position = table.names.index("run")
    for row, name in enumerate(names):
        if name in style.letters:
            marks[row, position] = Mark(signs=style.letters[name])
    width = (len(table.columns) - position - 1) // len(scores.measures)
    for number, measure in enumerate(scores.measures):
        column = position + 1 + number * width
        values = [row[column] for row in table.rows]
        reading = measure.reading
        is_marked = style.best and reading.better != "neither"
        places = best_two(table.columns[column].cells(values, digits), reading.sign) if is_marked else [0] * len(names)
        for row, (name, place) in enumerate(zip(names, places, strict=True)):
            marks[row, column] = Mark(place, style.signs.get((name, measure.label), ""))
    return marks


def quantities(scores: Scores, layout: Layout, by_topic: bool) -> Table:
    """Return a row for each measure and a column for each C/W/L quantity and residual: topic by topic, the means last.
    The table for programs always has run and topic."""
    sources = {of: (number, "score") for number, of in enumerate(QUANTITIES)}  # column -> quantity, part
    if scores.options.residuals == "difference":
        sources |= {f"{of}.residual": (number, "residual") for number, of in enumerate(QUANTITIES)}
        sources |= {end: (0, end) for end in ("low", "high") if scores.options.bounds}
    else:  # only expected utility has a residual that is a bound
        sources |= {part: (0, part) for part in further_columns(scores) if part != "topics"}
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
    """Return the signature of each row of `quantities`: of the means, the last rows of each run; None for topics."""
    signed: list[str | None] = []
    for run in scores.runs:
        of_means = [scores.signatures[run.run, measure.label] for measure in scores.measures[:: len(QUANTITIES)]]
        signed += [*([None] * (len(of_means) * len(run.topics) if by_topic else 0)), *of_means]
    return signed


def stacked(scores: Scores, by_topic: bool, style: Style, digits: int | None) -> list[Table]:
    """Return tables with a row for each measure and run, and for each topic if `by_topic`: one of all topics and one
    for each column of slices. For estimates, which have many numbers each."""
    order = {label: number for number, label in enumerate(scores.labels)}
    rows = sorted(printed_rows(scores, by_topic, style.percent), key=lambda row: order[row.measure])
    keys_shown = {"measure": True, "run": scores.is_multi_run, "topic": by_topic}
    table = _stack(scores, rows, keys_shown, style, digits)
    tables = [replace(table, marks=_stacked_marks(scores, table, digits)) if style.best and not by_topic else table]
    keys_shown["topic"] = False
    for name, parts in scores.by_slice.items():
        labelled = [(label, row) for label, part in parts.items() for row in printed_rows(part, False, style.percent)]
        table = _stack(scores, [row for _, row in labelled], keys_shown, style, digits)
        cells = [[label, *line] for (label, _), line in zip(labelled, table.rows, strict=True)]
        tables.append(replace(table, columns=[Column(name), *table.columns], rows=cells))
    return tables


def _stack(
    scores: Scores, rows: Sequence[Row], keys_shown: Mapping[str, bool], style: Style, digits: int | None
) -> Table:
    """Return a table of the rows: the shown keys, then the numbers of `_estimated`."""
    keys = [name for name, is_shown in keys_shown.items() if is_shown]
    lines: list[list[Any]] = []
    for row in rows:
        names = {"measure": row.measure, "run": row.run, "topic": row.topic}
        lines.append([*(names[key] for key in keys), *_estimated(scores, row, style, digits)])
    columns = [Column(key, "run" if key == "run" else "text") for key in keys]
    column, margin = number_column(scores, "score", style.percent), Column("±", "figures")
    alone = [replace(column, name="people"), replace(margin, name="± people"), replace(column, name="machine")]
    columns += [column, margin, *alone, Column("λ", "score", 2), Column("saves", "figures")]
    return Table(columns, lines, pipeline=True)


def _estimated(scores: Scores, row: Row, style: Style, digits: int | None) -> list[Any]:
    """Return the estimate and its margin, the mean by people and its margin, the mean by the machine, λ and the
    savings. Topics have no estimate: only the scores by people and by the machine."""
    from gradedeval.kernel.scoring.predicted import margin_of, saved_words  # few tables have estimates

    column = number_column(scores, "score", style.percent)
    geometric = [measure.label for measure in scores.measures if measure.reading.summary == "geometric"]
    ends = (row.score, row.low, row.high), (row.people, row.people_low, row.people_high)
    margins = (margin_of(*limits, row.measure in geometric) for limits in ends)
    both, alone = (
        margin if isinstance(margin, str | None) else column.cells([margin], digits)[0] for margin in margins
    )
    score = row.score if row.topics is not None else None
    saves = None if row.narrower is None or row.times is None else saved_words(row.narrower, row.times)
    return [score, both, row.people, alone, row.machine, row.lambda_, saves]


def _stacked_marks(scores: Scores, table: Table, digits: int | None) -> dict[tuple[int, int], Mark]:
    """Return the marks of the best runs by each measure."""
    marks, position, column = dict[tuple[int, int], Mark](), table.names.index("measure"), table.names.index("score")
    for measure in scores.measures:
        mine = [number for number, row in enumerate(table.rows) if row[position] == measure.label]
        if measure.reading.better != "neither":
            printed = table.columns[column].cells([table.rows[number][column] for number in mine], digits)
            places = best_two(printed, measure.reading.sign)
            marks |= {(number, column): Mark(place) for number, place in zip(mine, places, strict=True)}
    return marks
