"""Saved scores: the long table that `gradedeval -q` writes for programs, read back with every fault at its line."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradedeval.analysis.signatures import Signature
from gradedeval.arrays import as_float
from gradedeval.errors import InputError, ProblemList, flag, shown
from gradedeval.kernel.formats import FORM
from gradedeval.kernel.measures.parse import canonical
from gradedeval.kernel.options import TIES_BY_GRADE
from gradedeval.kernel.scoring.scores import ALL
from gradedeval.kernel.trec.documents import Rows, json_rows
from gradedeval.kernel.trec.line_reader import duplicate, settle_duplicates, whole_lines
from gradedeval.kernel.trec.lines import BYTE_ORDER_MARKS, decimal, decode, encode
from gradedeval.kernel.trec.small_tables import SmallTable
from gradedeval.kernel.trec.stream import Source, Stream, first_bytes, is_named

if TYPE_CHECKING:
    import pandas as pd

NEEDED = ("run", "topic", "measure", "score")
FRAME = "<frame>"
HINT = "save scores with `gradedeval RUN... QRELS -q -f csv -o scores.csv`"
HEAD = 1 << 16
"""First bytes, which are enough to know a file of saved scores: its signature is long where there are many measures."""


@dataclass(frozen=True)
class SavedScore:
    """A row of the long table; `measure` is the notation of gradedeval, however it was written; `residual` and
    `unjudged` are nan if it has none."""

    KEY: ClassVar[tuple[str, str, str]] = ("run", "topic", "measure")

    run: str
    topic: str
    measure: str
    score: float
    residual: float = np.nan
    unjudged: float = np.nan


@dataclass(frozen=True)
class SavedScores:
    """What a file or a frame holds.

    place       its name
    rows        the scores by topic
    labels      measure -> what it is called, as it was written first
    signatures  (run, measure) -> what they depend on, where that was saved with them
    cut         whether it is a file that has a place for signatures, and lacks one: rows of means were taken out
    """

    place: str
    rows: list[SavedScore]
    labels: dict[str, str]
    signatures: dict[tuple[str, str], Signature] = field(default_factory=dict)
    cut: bool = False


def holds_scores(path: str) -> bool:
    """Whether a file holds saved scores, not a run: its header has their columns, or its first bytes their JSON keys,
    whatever it is called. Raises InputError where it cannot be read."""
    if not is_named(path):
        return False
    head = first_bytes(Source(path), HEAD).removeprefix(BYTE_ORDER_MARKS[0])
    if head.lstrip().startswith((b"{", b"[")):
        return all(re.search(rb'"%b"\s*:' % name.encode(), head) for name in NEEDED)
    lines = (line.strip() for line in head.split(b"\n"))
    header = next((line for line in lines if line and not line.startswith(b"#")), b"")
    cells = header.split(next((mark for mark in (b"\t", b",") if mark in header), None))
    return {name.encode() for name in NEEDED} <= {cell.strip(b' \t\r"') for cell in cells}


def read_saved(source: pd.DataFrame | str | Path) -> SavedScores:
    """The scores by topic of a csv, tsv, json or jsonl file (compressed or not), or of a DataFrame.

    The means are left out. Raises InputError for missing columns, invalid numbers, duplicate scores, and if there is
    nothing but means.
    """
    if isinstance(source, str | Path):
        place, problems, rows, joint = _of_file(Source(source))
    else:
        place, problems, joint = FRAME, ProblemList(FRAME), ""
        header = [str(name) for name in source.columns]
        if missing := [name for name in NEEDED if name not in header]:
            raise InputError(f"{place}:1", f"no column '{missing[0]}'", HINT)
        values = source.astype(object).values.tolist()
        rows = [(number, dict(zip(header, row, strict=True))) for number, row in enumerate(values, 1)]
    scores, labels = _scores(rows, problems)
    summaries = {(row.run, row.measure): line for line, row in scores if row.topic == ALL}
    by_topic = _by_topic(scores, summaries, place)
    if not by_topic:
        raise InputError(place, "no scores by topic", HINT)
    cells = dict(rows)
    signed = {key: Signature.read(str(cells[line].get("signature") or joint)) for key, line in summaries.items()}
    known = {key: signature for key, signature in signed.items() if signature}
    moved = {key for key, signature in known.items() if signature.settings.get("ties") in TIES_BY_GRADE}
    by_topic = [
        replace(row, residual=np.nan, unjudged=np.nan) if (row.run, row.measure) in moved else row for row in by_topic
    ]
    signs = place != FRAME and any("signature" in row for row in cells.values())
    return SavedScores(
        place, by_topic, labels, known, signs and any((row.run, row.measure) not in known for row in by_topic)
    )


def _of_file(file: Source) -> tuple[str, ProblemList, Rows, str]:
    """The name of a file, a list for its problems, its rows, and the signature of all of them, if it has one."""
    with closing(Stream(file)) as stream:
        if stream.peek(HEAD).removeprefix(BYTE_ORDER_MARKS[0]).lstrip()[:1] in (b"{", b"["):
            data = stream.whole().removeprefix(BYTE_ORDER_MARKS[0])
            head, rows = json_rows(decode(data), file.place, NEEDED, HINT)
            if (form := head.get("form", FORM)) != FORM:
                what = f"is of form {shown(form)} of saved scores, and this reads form {FORM}"
                raise InputError(file.place, what, "update gradedeval, or save the scores again")
            return file.place, ProblemList(file.place), rows, str(head.get("signature"))
        table = SmallTable.headed(file.target, NEEDED, HINT, whole_lines(stream))
    return table.place, table.problems, [(row.line, row.cells) for row in table.rows], ""


def _scores(rows: Rows, problems: ProblemList) -> tuple[list[tuple[int, SavedScore]], dict[str, str]]:
    """The scores with their lines; and measure -> how it was written first."""
    scores, names, labels = [], dict[str, str](), dict[str, str]()
    for line, cells in rows:
        if "lambda_" in cells:
            what = f"holds estimates by {flag.predicted}, which cannot be compared once they are saved"
            raise InputError(problems.place, what, f"give the runs, and {flag.predicted}")
        if cells.get("slice"):  # a summary of some topics, which can be made of their scores
            continue
        try:
            values = {name: _number(cells.get(name)) for name in ("score", "residual", "unjudged")}
        except ValueError as error:
            problems.add(line, str(error), "expected a number such as 0.25")
            continue
        if np.isnan(values["score"]) and cells["topic"] != ALL:
            problems.add(line, "no score", "each row of a topic has one; JSON has none where it is infinite, CSV has")
        written = str(cells["measure"])
        if written not in names:
            names[written] = canonical(written)
            labels.setdefault(names[written], written)
        scores.append((line, SavedScore(str(cells["run"]), str(cells["topic"]), names[written], **values)))
    problems.check()
    return scores, labels


def _number(cell: Any) -> float:
    if cell is None or cell == "":
        return float("nan")
    value = as_float(cell) if isinstance(cell, Real) or cell in ("inf", "-inf") else decimal(encode(str(cell)))
    if np.isnan(value) and not isinstance(cell, Real):
        raise ValueError(f"'{cell}' is not a number")
    return value


def _by_topic(
    rows: list[tuple[int, SavedScore]], summaries: dict[tuple[str, str], int], place: str
) -> list[SavedScore]:
    """The rows without the means: the last row with the topic `all` of each run and measure."""
    rows = [(line, row) for line, row in rows if summaries.get((row.run, row.measure)) != line]
    problems = ProblemList(place)

    def repeated(position: int, first: int) -> None:
        line, row = rows[position]
        what = duplicate(f"{row.measure} of topic {row.topic} of '{row.run}'", rows[first][0])
        problems.add(line, what, "keep one of the two")

    settle_duplicates([(row.run, row.topic, row.measure) for _, row in rows], "error", repeated)
    problems.check()
    return [row for _, row in rows]
