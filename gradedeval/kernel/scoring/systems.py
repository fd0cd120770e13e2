"""Systems of several seeds: the mean and the deviation of the summaries of their runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradedeval.kernel.formats import Column, Document, Layout, Table
from gradedeval.kernel.measures.definition import LEAST
from gradedeval.kernel.scoring.scores import ALL, Scores

COLUMNS = ("system", "seeds", "measure", "mean", "sd")


class SystemRow(NamedTuple):
    """A system by one measure: over the summaries of its seeds the mean (of geometric means the geometric one), and
    the standard deviation, None of a single run. Both are None where a seed has no score."""

    system: str
    seeds: int
    slice: str | None
    measure: str
    mean: float | None
    sd: float | None
    signature: str


def rows(scores: Scores) -> Iterator[SystemRow]:
    """System by system the rows of all measures, then those of each slice."""
    run_of = {run.run: run for run in scores.runs}
    for system, names in scores.systems_of.items():
        alone = replace(scores, runs=[run_of[name] for name in names])
        sliced = [(f"{column}={label}", part) for column, of in alone.by_slice.items() for label, part in of.items()]
        for name, part in [(None, alone), *sliced]:
            yield from _of_part(system, name, part)


def _of_part(system: str, name: str | None, scores: Scores) -> Iterator[SystemRow]:
    for column, measure in enumerate(scores.measures):
        values = np.array([scores.summary(run, column) for run in scores.runs])
        with np.errstate(invalid="ignore"):
            geometric = measure.definition.summary == "geometric"
            mean = float(np.exp(np.log(np.maximum(values, LEAST)).mean()) if geometric else values.mean())
            sd = float(values.std(ddof=1)) if len(values) > 1 else np.nan
        signature = scores._signature([measure], scores.runs)
        known = [None if value != value else value for value in (mean, sd)]
        yield SystemRow(system, len(values), name, measure.label, known[0], known[1], signature)


def columns(scores: Scores) -> list[str]:
    """The columns of the tidy table of systems."""
    return [*COLUMNS[:2], *(["slice"] if scores.options.slices is not None else []), *COLUMNS[2:]]


def document(scores: Scores, layout: Layout, digits: int) -> Document:
    """A row for each system: by each measure the mean over its seeds and their deviation; for programs a row for each
    measure.

    digits  of a score, where the user asks for no others
    """
    found = list(rows(scores))
    if layout == "long":
        names = columns(scores)
        table = Table([*map(Column, names)], [[getattr(row, name) for name in names] for row in found])
        return Document([table], scores.signature, row_signatures=[row.signature for row in found])
    if layout == "trec":
        return Document([_lines(found)], scores.signature)
    blocks = [_wide([row for row in found if row.slice is None], scores, digits)]
    for column, of in scores.by_slice.items():
        labels = {f"{column}={label}": label for label in of}
        blocks.append(_wide([row for row in found if row.slice in labels], scores, digits, column, labels))
    return Document(blocks, scores.signature)


def _lines(found: list[SystemRow]) -> Table:
    """Measure, topic and value, as trec_eval has them for each run."""
    lines, before = list[tuple[str, str, object]](), None
    for row in found:
        topic = row.slice or ALL
        if row.system != before:
            lines += [("runid", ALL, row.system), ("seeds", ALL, row.seeds)]
        before = row.system
        values = {row.measure: row.mean, f"{row.measure}.sd": row.sd}
        lines += [(name, topic, value) for name, value in values.items() if value is not None]
    return Table([Column("measure"), Column("topic"), Column("value", "score")], lines)


def _wide(
    found: list[SystemRow], scores: Scores, digits: int, column: str = "", names: dict[str, str] | None = None
) -> Table:
    cells: dict[tuple[str | None, str], list[object]] = {}
    for row in found:
        key = [names[str(row.slice)]] if names else []
        cells.setdefault((row.slice, row.system), [*key, row.system, row.seeds]).extend((row.mean, row.sd))
    numbers = [Column(name, "score", digits) for label in scores.labels for name in (label, "± sd")]
    keys = [*([Column(column)] if names else []), Column("system"), Column("seeds", "count")]
    order = sorted(cells, key=lambda key: list(names).index(str(key[0]))) if names else list(cells)
    return Table([*keys, *numbers], [cells[key] for key in order], pipeline=True, together=2)
