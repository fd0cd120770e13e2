"""Scores -> tables: a column a measure for people, a row a score for programs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from operator import attrgetter
from typing import Any, Literal, cast

from gradedeval.errors import InputError, flag, plural, shorten
from gradedeval.kernel import formats
from gradedeval.kernel.formats import PAGE, Column, Document, Kind, Layout, Mark, Marked, Table, View
from gradedeval.kernel.measures.definition import MEASURES, QUANTITIES, Measure
from gradedeval.kernel.options import PRESETS
from gradedeval.kernel.scoring.scores import ALL, BOUNDS, ESTIMATED, IN_HOLES, INTERVAL, Row, Scores, row_signatures
from gradedeval.kernel.scoring.signature import SIGNATURES

PARTS = (*INTERVAL, *ESTIMATED, IN_HOLES, "residual", "unjudged", "beyond")


_OF_WIDTHS = ("lambda_", "narrower", "times")
"""What no scale of scores changes."""


@dataclass(eq=False, repr=False)
class Style:
    """How a table of summaries for people looks beyond its layout.

    best     mark the best of each column and the second best, as printed: equal numbers share a mark
    percent  scores between 0 and 1, and what stands beside them, times 100
    signs    (run, measure) -> signs of what is significant
    letters  run -> by which signs refer to it
    same     (run, measure) -> letters that it shares with runs that do not differ: a column beside each measure
    legend   what the signs mean
    caption  of the table, `label` by which LaTeX refers to it
    """

    best: bool = False
    percent: bool = False
    signs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)
    same: Mapping[tuple[str, str], str] = field(default_factory=dict)
    legend: Marked = ()
    caption: str = ""
    label: str = ""


PLAIN = Style()


def render_scores(
    scores: Scores,
    form: str,
    *,
    by_topic: bool = False,
    digits: int | None = None,
    cwl: bool = False,
    signed: Literal["short", "full"] | None = "short",
    style: Style | None = None,
    crossed: bool = False,
    view: View = PAGE,
) -> str:
    """The scores as text; `digits`, `view` and what it raises as in `formats.render`, `signed` how tables for people
    are, the rest as in `document`. Topics have their texts."""

    make = partial(scores.tables, by_topic=by_topic, cwl=cwl, style=style or PLAIN, digits=digits,
                   crossed=crossed)  # fmt: skip
    return formats.render(make, form, digits, SIGNATURES[signed], view)


def document(
    scores: Scores,
    layout: Layout,
    *,
    by_topic: bool = False,
    cwl: bool = False,
    style: Style = PLAIN,
    digits: int | None = None,
    crossed: bool = False,
) -> Document:
    """The scores as a table.

    by_topic  a row for each topic as well
    cwl       the five quantities of each measure as columns; the measures are those of `all_quantities`
    digits    that are printed; None: those of the preset
    crossed   for programs a row for each topic and a column for each measure, in place of a row for each score

    Where there are replicates it is a table of systems; with `by_topic` or `crossed` of runs and topics all the same.
    """
    if scores.options.replicates is not None and not (by_topic or cwl or crossed):
        from gradedeval.kernel.scoring import systems  # few evaluations have any

        return systems.document(scores, layout, preset_digits(scores.options.like))
    if layout == "trec":
        tables = [_trec(scores, by_topic)]
    elif cwl:
        tables = [_quantities(scores, layout, by_topic)]
    elif layout == "long" and crossed:
        return _crossed(scores, by_topic)
    elif layout == "long":
        rows = list(_rows(scores, by_topic, sliced=True))
        return Document([_long(scores, rows)], scores.signature, row_signatures=row_signatures(scores, rows))
    elif _is_stacked(scores):
        tables = _stacked(scores, by_topic, style, digits)
    else:
        wide = by_topic or scores.is_multi_run
        table = _wide(scores, by_topic, style, digits) if wide else _tall(scores, style.percent)
        sliced = () if scores.options.slices is None else scores.by_slice
        tables = [table, *[_sliced(scores, column, style.percent) for column in sliced]] if sliced else [table]
    signed = _quantity_signatures(scores, by_topic) if cwl and layout == "long" else []
    legend = _legend(scores, style) if layout == "wide" and style is not PLAIN else ()
    around = Document(tables, caption=style.caption, label=style.label, legend=legend)
    signature = f"{scores.signature} | {PERCENT}" if style.percent and layout == "wide" else scores.signature
    return replace(around, signature=signature, row_signatures=signed)


def _is_stacked(scores: Scores) -> bool:
    """Whether tables for people have a row for each measure: estimates, and filled holes by several measures, have more
    columns for each than fit beside each other."""
    return scores.machine is not None or (scores.holes is not None and len(scores.measures) > 1)


PERCENT = "percent"
"""The part of a signature that says that scores between 0 and 1 are times 100."""


def preset_digits(like: str | None) -> int:
    """The digits in tables: 4, or those of the preset."""
    return PRESETS[like].digits if like else 4


def _column(scores: Scores, name: str, percent: bool = False) -> Column:
    digits = preset_digits(scores.options.like)
    return Column(name, "score", max(digits - 2, 0) if percent else digits)


def _rows(scores: Scores, by_topic: bool, percent: bool = False, sliced: bool = False) -> Iterator[Row]:
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
    known = {name: value for name in ("score", IN_HOLES) if (value := getattr(row, name)) is not None}
    return row._replace(**{name: cast(Any, int(value)) for name, value in known.items()})


def is_share(measure: Measure) -> bool:
    """Whether scores by a measure lie between 0 and 1, so that they may be given in percent."""
    definition = measure.definition
    return definition.floor >= 0 and definition.ceiling <= 1 and measure.arguments.get("of", "eu") == "eu"


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
                (" of each measure" if _is_stacked(scores) else " of each column", Mark()),
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
    values = [[getattr(row, name) for name in columns] for row in rows]
    if not scores.ranks:
        return Table([*map(Column, columns)], values)
    rank = _ranks(scores)
    ranked = [
        [*of_row, None if row.topics is None else rank[row.run]] for row, of_row in zip(rows, values, strict=True)
    ]
    return Table([*map(Column, (*columns, "rank"))], ranked)


def _crossed(scores: Scores, by_topic: bool) -> Document:
    """A row for each run and topic, or slice, and the summary; a column for each measure and part of its residual."""
    parts, rank = _parts(scores), _ranks(scores)
    sliced = scores.options.slices is not None
    keys = ["run", "topic", *(["slice"] if sliced else []), *(["rank"] if rank else [])]
    lines: dict[tuple[str, str, bool, str | None], dict[str, Row]] = {}
    for row in _rows(scores, by_topic, sliced=True):
        lines.setdefault((row.run, row.topic, row.topics is not None, row.slice), {})[row.measure] = row
    rows, signatures = list[list[Any]](), list[str | None]()
    for (run, topic, whole, part), by_measure in lines.items():
        cells = {"run": run, "topic": topic, "slice": part, "rank": rank.get(run) if whole else None}
        values = [_values(by_measure.get(name, Row(run, topic, name, None)), parts) for name in scores.labels]
        rows.append([*(cells[key] for key in keys), *(value for own in values for value in own)])
        signatures.append(scores.signature if whole and part is None else None)
    names = [name for label in scores.labels for name in (label, *(f"{label}.{part}" for part in parts))]
    return Document([Table([*map(Column, (*keys, *names))], rows)], scores.signature, row_signatures=signatures)


def _ranks(scores: Scores) -> dict[str, int]:
    """The rank of each run, where there are ranks to show."""
    return dict(zip((run.run for run in scores.runs), scores.ranks, strict=False))


Place = tuple[str, str, bool]
"""Run, topic, and whether it is the summary: a topic may be called `all` too."""


def _by_place(scores: Scores, by_topic: bool, percent: bool = False) -> dict[Place, dict[str, Row]]:
    """The rows of each run, topic by topic and the summary last, by measure."""
    rows: dict[Place, dict[str, Row]] = {}
    for run in scores.runs:
        rows |= {(run.run, topic, False): {} for topic in (run.topics if by_topic else [])}
        rows[run.run, ALL, True] = {}
    for row in _rows(scores, by_topic, percent):
        rows[row.run, row.topic, row.topics is not None][row.measure] = row
    return rows


def _trec(scores: Scores, by_topic: bool) -> Table:
    """Three columns, measure, topic and score, as trec_eval; topic by topic, the summary last."""
    parts, before = _parts(scores), None
    lines: list[tuple[str, str, Any]] = []
    for (run, topic, _), by_measure in _by_place(scores, by_topic).items():
        if scores.is_multi_run and run != before:
            lines.append(("runid", ALL, run))
        before = run
        lines += [line for row in by_measure.values() for line in _trec_lines(row, topic, parts)]
        if not by_topic or topic == ALL:
            own = (row for row in _rows(scores, False, sliced=True) if row.slice is not None and row.run == run)
            lines += [line for row in own for line in _trec_lines(row, str(row.slice), parts)]
    return Table([Column("measure"), Column("topic"), _column(scores, "value")], lines)


def _trec_lines(row: Row, topic: str, parts: Sequence[str]) -> list[tuple[str, str, Any]]:
    values = {row.measure: row.score} | {f"{row.measure}.{part}": getattr(row, part) for part in parts}
    return [(name, topic, value) for name, value in values.items() if value is not None]


def _parts(scores: Scores) -> list[str]:
    """The columns beside the score."""
    return [name for name in scores.columns if name in (*PARTS, "topics")]


def _values(row: Row, parts: Sequence[str]) -> list[float | None]:
    """The score and the columns beside it."""
    return [getattr(row, name) for name in ("score", *parts)]


def _keys(scores: Scores, by_topic: bool) -> list[str]:
    """The columns that say which run and topic a row is of, where there are several, and the rank of the run."""
    wanted = {"rank": bool(scores.ranks), "run": scores.is_multi_run, "topic": by_topic}
    return [key for key, shown in wanted.items() if shown]


def _key(name: str) -> Column:
    return Column(name, "count" if name == "rank" else "text")


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


def _quantities(scores: Scores, layout: Layout, by_topic: bool) -> Table:
    """A row for each measure, a column for each of its C/W/L quantities and for what their residuals are: topic by
    topic, the means last; for programs with run and topic always."""
    sources = {of: (number, "score") for number, of in enumerate(QUANTITIES)}  # column -> quantity, and what of it
    if scores.options.residuals == "difference":
        sources |= {f"{of}.residual": (number, "residual") for number, of in enumerate(QUANTITIES)}
        sources |= {end: (0, end) for end in BOUNDS if scores.options.bounds}
    else:  # only expected utility has a residual that is a bound
        sources |= {part: (0, part) for part in PARTS if part in scores.columns}
    keys = ["run", "topic"] if layout == "long" else _keys(scores, by_topic)
    rows: list[list[Any]] = []
    for run in scores.runs:
        by_measure = []
        for first in range(0, len(scores.measures), len(QUANTITIES)):
            each = [scores.column(run, first + of, by_topic) for of in range(len(QUANTITIES))]
            values = zip(*(each[of][part] for of, part in sources.values()), strict=True)
            by_measure.append([(scores.measures[first].label, *row) for row in values])
        for topic, *of_topic in zip(each[0]["topic"], *by_measure, strict=True):
            cells = {"rank": _ranks(scores).get(run.run), "run": run.run, "topic": topic}
            rows += [[*(cells[key] for key in keys), *row] for row in of_topic]
    columns = [*map(_key, (*keys, "measure")), *(_column(scores, name) for name in sources)]
    return Table(columns, rows, pipeline=True)


def _quantity_signatures(scores: Scores, by_topic: bool) -> list[str | None]:
    """What the rows of `_quantities` depend on: said of the means, the last of each run."""
    signed: list[str | None] = []
    for run in scores.runs:
        of_means = [scores.signatures[run.run, measure.label] for measure in scores.measures[:: len(QUANTITIES)]]
        signed += [*([None] * (len(of_means) * len(run.topics) if by_topic else 0)), *of_means]
    return signed


def _tall(scores: Scores, percent: bool) -> Table:
    """One run: a row for each measure."""
    names = ("score", *_parts(scores))
    columns = [Column("measure"), *[_column(scores, name, percent) for name in names]]
    return Table(columns, list(map(attrgetter("measure", *names), _rows(scores, by_topic=False, percent=percent))))


def _wide(scores: Scores, by_topic: bool, style: Style, digits: int | None) -> Table:
    """Several runs, or topic by topic: a column for each measure, and one for each part of its residual."""
    parts, keys = _parts(scores), _keys(scores, by_topic)
    rows, rank = [], _ranks(scores)
    for (run, topic, _), by_measure in _by_place(scores, by_topic, style.percent).items():
        line: list[Any] = [{"rank": rank.get(run), "run": run, "topic": topic}[key] for key in keys]
        for measure in scores.labels:
            line += _values(by_measure.get(measure, Row(run, topic, measure, None)), parts)
            line += [style.same.get((run, measure))] if style.same else []
        rows.append(line)
    numbers: list[Column] = []
    for scored in scores.measures:
        share = style.percent and is_share(scored)
        numbers += [_column(scores, name, share) for name in (scored.label, *parts)]
        numbers += [Column("same as")] if style.same else []
    table = Table([*map(_key, keys), *numbers], rows, pipeline=True, together=len(numbers) // len(scores.measures))
    return replace(table, marks=_marks(scores, table, style, digits)) if style is not PLAIN and not by_topic else table


def _stacked(scores: Scores, by_topic: bool, style: Style, digits: int | None) -> list[Table]:
    """What has many numbers for each measure: a row for each measure and run, topic by topic where wanted; and a table
    of the same for each column of slices."""
    order = {label: number for number, label in enumerate(scores.labels)}
    rows = sorted(_rows(scores, by_topic, style.percent), key=lambda row: order[row.measure])
    shown = {"measure": True, "rank": bool(scores.ranks), "run": scores.is_multi_run, "topic": by_topic}
    table = _stack(scores, rows, shown, style, digits)
    tables = [replace(table, marks=_stacked_marks(scores, table, digits)) if style.best and not by_topic else table]
    shown |= {"rank": False, "topic": False}
    for name, parts in scores.by_slice.items():
        labelled = [(label, row) for label, part in parts.items() for row in _rows(part, False, style.percent)]
        table = _stack(scores, [row for _, row in labelled], shown, style, digits)
        cells = [[label, *line] for (label, _), line in zip(labelled, table.rows, strict=True)]
        tables.append(replace(table, columns=[Column(name), *table.columns], rows=cells))
    return tables


def _stack(scores: Scores, rows: Sequence[Row], shown: Mapping[str, bool], style: Style, digits: int | None) -> Table:
    """The rows with what says which they are of, where it is shown, and their numbers."""
    rank, keys = _ranks(scores), [name for name, is_shown in shown.items() if is_shown]
    kinds: dict[str, Kind] = {"rank": "count", "run": "run"}
    lines: list[list[Any]] = []
    for row in rows:
        place = rank.get(row.run) if row.topics is not None else None
        known = {"measure": row.measure, "rank": place, "run": row.run, "topic": row.topic}
        estimated = scores.machine is not None
        numbers = _estimated(scores, row, style, digits) if estimated else _values(row, _parts(scores))
        lines.append([*(known[key] for key in keys), *numbers])
    columns = [Column(key, kinds.get(key, "text")) for key in keys]
    return Table([*columns, *_stacked_columns(scores, style)], lines, pipeline=True)


def _stacked_columns(scores: Scores, style: Style) -> list[Column]:
    """The columns of numbers."""
    if scores.machine is None:
        return [_column(scores, name, style.percent) for name in ("score", *_parts(scores))]
    column, margin = _column(scores, "score", style.percent), Column("±", "figures")
    alone = [replace(column, name="people"), replace(margin, name="± people"), replace(column, name="machine")]
    return [column, margin, *alone, Column("λ", "score", 2), Column("saves", "figures")]


def _estimated(scores: Scores, row: Row, style: Style, digits: int | None) -> list[Any]:
    """An estimate and its margin, what people alone say and the machine alone, λ, and what it saves. The estimate is of
    the mean: a topic has the scores by people and by the machine alone."""
    column = _column(scores, "score", style.percent)
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
    from gradedeval.kernel.scoring.predicted import saved_words  # few evaluations have predictions

    return None if row.narrower is None or row.times is None else saved_words(row.narrower, row.times)


def _sliced(scores: Scores, column: str, percent: bool) -> Table:
    """The summaries of the slices of one column: a row for each slice and run."""
    parts, several = _parts(scores), scores.is_multi_run
    counts = "topics" not in parts  # else each measure has its own
    rows: list[list[Any]] = []
    for label, part in scores.by_slice[column].items():
        by_place = _by_place(part, by_topic=False, percent=percent)
        for run in part.runs:
            by_measure = by_place[run.run, ALL, True]
            values = [_values(by_measure[name], parts) for name in scores.labels]
            key = [label, *([run.run] if several else []), *([run.most(len(scores.measures))] if counts else [])]
            rows.append([*key, *(value for of_measure in values for value in of_measure)])
    numbers = [
        _column(scores, name, percent and is_share(measure))
        for measure in scores.measures
        for name in (measure.label, *parts)
    ]
    keys = [Column(column), *([Column("run")] if several else []), *([Column("topics", "count")] if counts else [])]
    return Table([*keys, *numbers], rows, pipeline=True, together=1 + len(parts))


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
