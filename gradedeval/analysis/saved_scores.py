"""Saved scores: the long table that `gradedeval -q -f csv` writes, read back with every fault at its line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradedeval.errors import InputError, ProblemList
from gradedeval.measures.parse import parse_measures
from gradedeval.scoring.scores import ALL
from gradedeval.trec.duplicates import duplicate, settle_duplicates
from gradedeval.trec.lines import decimal, encode
from gradedeval.trec.small_tables import headed_table
from gradedeval.trec.source import without_suffix

if TYPE_CHECKING:
    import pandas as pd


NEEDED = ("run", "topic", "measure", "score")
HINT = "save scores with `gradedeval RUN... QRELS -q -f csv -o scores.csv`"


@dataclass(frozen=True)
class SavedScore:
    """A row of the long table; `residual` and `unjudged` are nan if it has none."""

    KEY: ClassVar[tuple[str, str, str]] = ("run", "topic", "measure")

    run: str
    topic: str
    measure: str
    score: float
    residual: float = np.nan
    unjudged: float = np.nan


def holds_scores(path: str) -> bool:
    """Whether a file holds saved scores, not a run: judged by its name, or its first bytes."""
    if without_suffix(path).lower().endswith((".csv", ".tsv")):
        return True
    if not os.path.isfile(path):
        return False
    with Path(path).open("rb") as file:
        return file.read(10).replace(b"\t", b",").startswith(b"run,topic,")


def read_saved(source: pd.DataFrame | str | Path) -> tuple[str, list[SavedScore]]:
    """The name of the source, and the scores by topic, of a csv or tsv file (compressed or not) or of a DataFrame.

    The means are left out. Raises InputError for missing columns, invalid numbers, duplicate scores, and if there is
    nothing but means.
    """
    if isinstance(source, str | Path):
        table = headed_table(source, NEEDED, HINT)
        place, problems = table.place, table.problems
        rows: list[tuple[int, Mapping[str, Any]]] = [(row.line, row.cells) for row in table.rows]
    else:
        place, problems = "<frame>", ProblemList("<frame>")
        header = [str(name) for name in source.columns]
        if missing := [name for name in NEEDED if name not in header]:
            raise InputError(f"{place}:1", f"no column '{missing[0]}'", HINT)
        values = source.astype(object).values.tolist()
        rows = [(number, dict(zip(header, row, strict=True))) for number, row in enumerate(values, 1)]
    scores = _by_topic(_scores(rows, problems), place)
    if not scores:
        raise InputError(place, "no scores by topic", HINT)
    return place, scores


def _scores(rows: Iterable[tuple[int, Mapping[str, Any]]], problems: ProblemList) -> list[tuple[int, SavedScore]]:
    scores, names = [], dict[str, str]()
    for line, cells in rows:
        try:
            values = {name: _number(cells.get(name)) for name in ("score", "residual", "unjudged")}
        except ValueError as error:
            problems.add(line, str(error), "expected a number such as 0.25")
            continue
        if np.isnan(values["score"]) and cells["topic"] != ALL:
            problems.add(line, "no score", "each row of a topic has one")
        written = str(cells["measure"])
        if written not in names:
            names[written] = _measure(written)
        scores.append((line, SavedScore(str(cells["run"]), str(cells["topic"]), names[written], **values)))
    problems.check()
    return scores


def _number(cell: Any) -> float:
    if cell is None or cell == "":
        return float("nan")
    value = float(cell) if isinstance(cell, Real) or cell in ("inf", "-inf") else decimal(encode(str(cell)))
    if np.isnan(value) and not isinstance(cell, Real):
        raise ValueError(f"'{cell}' is not a number")
    return value


def _measure(written: str) -> str:
    """The notation of the measure as gradedeval writes it; an unknown measure, such as a user's, keeps its name."""
    try:
        (measure,) = parse_measures(written)
    except (InputError, ValueError):
        return written
    return str(measure)


def _by_topic(rows: list[tuple[int, SavedScore]], place: str) -> list[SavedScore]:
    """The rows without the means: the last row with the topic `all` of each run and measure."""
    summary = {(row.run, row.measure): line for line, row in rows if row.topic == ALL}
    rows = [(line, row) for line, row in rows if summary.get((row.run, row.measure)) != line]
    problems = ProblemList(place)

    def repeated(position: int, first: int) -> None:
        line, row = rows[position]
        what = duplicate(f"{row.measure} of topic {row.topic} of '{row.run}'", rows[first][0])
        problems.add(line, what, "keep one of the two")

    settle_duplicates([(row.run, row.topic, row.measure) for _, row in rows], "error", repeated)
    problems.check()
    return [row for _, row in rows]
