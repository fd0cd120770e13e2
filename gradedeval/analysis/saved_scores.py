"""Saved scores: the long table that `gradedeval -q -f csv` writes, read back with every fault at its line."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradedeval.errors import InputError, ProblemList
from gradedeval.measures.parse import parse_measures
from gradedeval.scoring.scores import ALL
from gradedeval.trec.lines import decode
from gradedeval.trec.source import Source, name_of

if TYPE_CHECKING:
    import pandas as pd


NEEDED = ("run", "topic", "measure", "score")
CURE = "save scores with `gradedeval RUN... QRELS -q -f csv -o scores.csv`"


@dataclass(frozen=True)
class SavedScore:
    """A row of the long table; `residual` and `unjudged` are nan where it has none."""

    KEY: ClassVar[tuple[str, str, str]] = ("run", "topic", "measure")

    run: str
    topic: str
    measure: str
    score: float
    residual: float = np.nan
    unjudged: float = np.nan


def holds_scores(path: str) -> bool:
    """Whether a file holds saved scores and no run: by its name, or by how it begins."""
    if name_of(path).lower().endswith((".csv", ".tsv")):
        return True
    if not os.path.isfile(path):
        return False
    with Path(path).open("rb") as file:
        return file.read(10).replace(b"\t", b",").startswith(b"run,topic,")


def read_saved(source: pd.DataFrame | str | Path) -> tuple[str, list[SavedScore]]:
    """Where they come from, and the scores by topic, of a csv or tsv file (compressed or not) or of a DataFrame.

    The means are left out. Raises InputError where columns are missing, a number is none, a score is there twice, or
    nothing but means is left.
    """
    if isinstance(source, str | Path):
        place = Source(source).place
        header, lines = _lines(decode(Source(source).read()), place)
    else:
        place, header = "<frame>", [str(name) for name in source.columns]
        lines = list(enumerate(source.astype(object).values.tolist(), 1))
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise InputError(f"{place}:1", f"no column '{missing[0]}'", CURE)
    found = _by_topic(_rows(header, lines, place), place)
    if not found:
        raise InputError(place, "holds no scores by topic", CURE)
    return place, found


def _lines(content: str, place: str) -> tuple[list[str], list[tuple[int, list[Any]]]]:
    first = content.partition("\n")[0]
    reader = csv.reader(
        io.StringIO(content.removeprefix("\ufeff"), newline=""), delimiter="\t" if "\t" in first else ","
    )
    try:
        header = next(reader, [])
        return header, [(reader.line_num, line) for line in reader if line]
    except csv.Error as error:
        raise InputError(f"{place}:{reader.line_num}", f"is no csv ({error})", CURE) from None


def _rows(header: list[str], lines: Iterable[tuple[int, list[Any]]], place: str) -> list[tuple[int, SavedScore]]:
    found, errors, names = [], ProblemList(place), dict[str, str]()
    for number, line in lines:
        if len(line) != len(header):
            errors.add(number, f"{len(line)} cells, expected {len(header)}", CURE)
            continue
        cells = dict(zip(header, line, strict=True))
        try:
            values = {name: _number(cells.get(name)) for name in ("score", "residual", "unjudged")}
        except ValueError as error:
            errors.add(number, str(error), "numbers as gradedeval writes them")
            continue
        if np.isnan(values["score"]) and cells["topic"] != ALL:
            errors.add(number, "no score", "each row of a topic has one")
        written = str(cells["measure"])
        if written not in names:
            names[written] = _measure(written)
        found.append((number, SavedScore(str(cells["run"]), str(cells["topic"]), names[written], **values)))
    errors.check()
    return found


def _number(cell: Any) -> float:
    if cell is None or cell == "":
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise ValueError(f"'{cell}' is not a number") from None


def _measure(written: str) -> str:
    """The measure's name as it is written here; a user's own measure keeps its name."""
    try:
        (found,) = parse_measures(written)
    except (InputError, ValueError):
        return written
    return str(found)


def _by_topic(rows: list[tuple[int, SavedScore]], place: str) -> list[SavedScore]:
    """The rows without the means: of each run and measure the last one of the topic `all`."""
    summary = {(row.run, row.measure): number for number, row in rows if row.topic == ALL}
    found: dict[tuple[str, str, str], tuple[int, SavedScore]] = {}
    for number, row in rows:
        if summary.get((row.run, row.measure)) == number:
            continue
        key = (row.run, row.topic, row.measure)
        if key in found:
            what = f"{row.measure} of topic {row.topic} of '{row.run}' again, as on line {found[key][0]}"
            raise InputError(f"{place}:{number}", what, "keep one of the two")
        found[key] = (number, row)
    return [row for _, row in found.values()]
