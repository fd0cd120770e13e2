"""Scores -> trec_eval's three columns: measure, topic, value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.formats import trec_line
from gradedeval.interop.trec_eval.output_lines import Line
from gradedeval.interop.trec_eval.score import ScoredRun
from gradedeval.scoring.scores import ALL
from gradedeval.scoring.summaries import LEAST
from gradedeval.trec.small_tables import small_table

MISSING = -1000000.0
"""The z score where mean and deviation are unknown."""

Norms = Mapping[tuple[str, str], tuple[float, float]]
"""(topic, measure) -> mean and standard deviation."""


@dataclass(frozen=True)
class PrintOptions:
    """What is printed: lines of topics, the summary, z scores instead of scores, topics that the run lacks."""

    by_topic: bool = False
    summary: bool = True
    norms: Norms | None = None
    empty_topics: bool = True


def format_run(scored: ScoredRun, lines: list[Line], printing: PrintOptions) -> str:
    """The lines of one run."""
    if not printing.empty_topics:
        scored = _without_empty(scored, lines)
    values = scored.values if printing.norms is None else _z_scores(scored, lines, printing.norms)
    topics = _topics(scored, lines, values, printing) if printing.by_topic else ()
    summary = _summary(scored, lines, values, printing) if printing.summary else ()
    return "".join([*topics, *summary])


def _without_empty(scored: ScoredRun, lines: list[Line]) -> ScoredRun:
    """As version 9: a topic that the run lacks has the number of its relevant documents, and 0 for all else."""
    counted = np.array([line.name == "num_rel" for line in lines])
    empty = np.array(scored.empty, dtype=bool)
    return replace(scored, values=np.where(empty[:, None] & ~counted, 0.0, scored.values))


def _topics(scored: ScoredRun, lines: list[Line], values: Floats, printing: PrintOptions) -> Iterator[str]:
    for topic, row, empty in zip(scored.topics, values.tolist(), scored.empty, strict=True):
        if empty and not printing.empty_topics:
            continue
        for line, value in zip(lines, row, strict=True):
            if line.length:
                yield trec_line(line.name, topic, f"'{scored.strings.get(topic, '')[: line.length]}'")
            elif line.by_topic:
                yield _number(line, topic, value, printing)


def _summary(scored: ScoredRun, lines: list[Line], values: Floats, printing: PrintOptions) -> Iterator[str]:
    for line, column in zip(lines, values.T, strict=True):
        if not line.summary:
            continue
        if line.name == "runid":
            yield trec_line("runid", ALL, scored.tag)
        elif line.summed is None:  # num_q
            yield _number(line, ALL, len(scored.topics), printing)
        else:
            yield _number(line, ALL, _summed(line, column, printing), printing)


def _summed(line: Line, values: Floats, printing: PrintOptions) -> float:
    """Aggregated topic by topic, as trec_eval does: the last bit of a sum can change the last digit printed."""
    if line.summed == "geometric":
        logs = values if printing.norms is not None else np.log(np.maximum(values, LEAST))
        return float(np.exp(logs.cumsum()[-1] / len(values)))
    total = float(values.cumsum()[-1])
    return total if line.summed == "total" else total / len(values)


def _number(line: Line, topic: str, value: float, printing: PrintOptions) -> str:
    if printing.norms is not None:
        return "Z" + trec_line(line.name, topic, f"{value:6.4f}")
    whole = line.summed in ("total", None)
    return trec_line(line.name, topic, str(int(value)) if whole else f"{value:6.4f}")


def _z_scores(scored: ScoredRun, lines: list[Line], norms: Norms) -> Floats:
    values = scored.values.copy()
    for column, line in enumerate(lines):
        if line.summed is None:
            continue
        if line.summed == "geometric":
            values[:, column] = np.log(np.maximum(values[:, column], LEAST))
        for row, topic in enumerate(scored.topics):
            mean, deviation = norms.get((topic, line.name), (np.nan, np.nan))
            if np.isnan(mean):
                values[row, column] = MISSING
            else:
                values[row, column] = (values[row, column] - mean) / deviation if deviation else 0.0
    return values


def read_norms(path: str) -> Norms:
    """The file of -Z. Raises InputError where a line is not a topic, a measure, a mean and a standard deviation."""
    columns = ("topic", "measure", "mean", "deviation")
    table = small_table(path, columns, hint=f"-Z takes lines of '{' '.join(columns)}'", words=True)
    keys = [(row.cells["topic"], row.cells["measure"]) for row in table.rows]
    norms = [(table.number(row, "mean"), table.number(row, "deviation")) for row in table.rows]
    table.check(keys, ("measure", "topic"))
    return dict(zip(keys, norms, strict=True))
