"""Systems of several seeds: the mean and the deviation of the summaries of their runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradedeval.kernel.formats import Column, Document, Layout, Table
from gradedeval.kernel.measures.definition import ALL, LEAST

if TYPE_CHECKING:
    from gradedeval.kernel.formats.tables import Kind
    from gradedeval.kernel.measures.definition import Measure
    from gradedeval.kernel.scoring.predicted import Estimated
    from gradedeval.kernel.scoring.scores import RunScores, Scores

COLUMNS = ("system", "seeds", "measure", "mean", "sd")


class SystemRow(NamedTuple):
    """A system by one measure: the mean and the standard deviation of the summaries of its seeds.

    The mean of geometric means is geometric. The deviation of a single run is None; both are None if a seed has no
    score. With a machine's judgments the mean, with an interval from low to high, is estimated from each topic's mean
    over the seeds: it may differ from the mean of the estimates of seeds, to which sd belongs.
    """

    system: str
    seeds: int
    slice: str | None
    measure: str
    mean: float | None
    sd: float | None
    signature: str
    low: float | None = None
    high: float | None = None
    factor: bool = False

    @property
    def margin(self) -> float | str | None:
        """The margin of the interval."""
        from gradedeval.kernel.scoring.predicted import margin_of  # few evaluations have predictions

        return margin_of(self.mean, self.low, self.high, self.factor)


def rows(scores: Scores) -> Iterator[SystemRow]:
    """Yield the rows of all measures, system by system, then the rows of each slice."""
    run_of = {run.run: run for run in scores.runs}
    for system, names in scores.systems_of.items():
        alone = replace(scores, runs=[run_of[name] for name in names])
        sliced = [(f"{column}={label}", part) for column, of in alone.by_slice.items() for label, part in of.items()]
        for name, part in [(None, alone), *sliced]:
            yield from _of_part(system, name, part)


def _of_part(system: str, name: str | None, scores: Scores) -> Iterator[SystemRow]:
    estimated = estimates(scores)
    for column, measure in enumerate(scores.measures):
        values = np.array([scores.summary(run, column) for run in scores.runs])
        with np.errstate(invalid="ignore"):
            geometric = measure.definition.summary == "geometric"
            mean = float(np.exp(np.log(np.maximum(values, LEAST)).mean()) if geometric else values.mean())
            sd = float(values.std(ddof=1)) if len(values) > 1 else np.nan
        low, high = np.nan, np.nan
        if estimated is not None:
            mean, (low, high) = estimated.score(ALL, column), estimated.intervals()[0, column, 1:].tolist()
        signature = scores._signature([measure], scores.runs)
        cells = [None if value != value else value for value in (mean, sd, low, high)]
        ends = dict(zip(("mean", "sd", "low", "high"), cells, strict=True))
        yield SystemRow(system, len(values), name, measure.label, signature=signature, factor=geometric, **ends)


def estimates(scores: Scores) -> Estimated | None:
    """Return the estimates of a system from each topic's mean over its seeds; None without a machine's judgments."""
    if scores.machine is None:
        return None
    from gradedeval.kernel.scoring.predicted import Estimated  # few evaluations have predictions

    people, machine = (_over_seeds(runs, scores.measures) for runs in (scores.runs, scores.by_machine))
    return Estimated([people], [machine], scores.measures, scores.options.interval)


def _over_seeds(runs: Sequence[RunScores], measures: Sequence[Measure]) -> RunScores:
    """Return the mean scores of runs on each topic that all are scored on; geometric for geometric means."""
    topics = [topic for topic in runs[0].topics if all(topic in run.topics for run in runs[1:])]
    rows = [[run.topics.index(topic) for topic in topics] for run in runs]
    values = np.array([run.score[row] for run, row in zip(runs, rows, strict=True)])
    included = np.array([run.included[row] for run, row in zip(runs, rows, strict=True)]).all(0)
    score = values.mean(0)
    for column, measure in enumerate(measures):
        if measure.reading.summary == "geometric":
            score[:, column] = np.exp(measure.reading.tested(values[:, :, column]).mean(0))
    blank = np.full(score.shape, np.nan)
    parts: dict[str, Any] = {"score": score, "unjudged": blank, "residual": blank, "included": included}
    return replace(runs[0], run=ALL, topics=topics, bounds=None, **parts)


def columns(scores: Scores) -> list[str]:
    """Return the columns of the tidy table of systems."""
    ends = ["low", "high"] if scores.machine is not None else []
    return [*COLUMNS[:2], *(["slice"] if scores.options.slices is not None else []), *COLUMNS[2:], *ends]


def document(scores: Scores, layout: Layout, digits: int) -> Document:
    """Return a row for each system with the mean and the deviation of its seeds; for programs one for each measure."""
    result = list(rows(scores))
    if layout == "long":
        names = columns(scores)
        table = Table([*map(Column, names)], [[getattr(row, name) for name in names] for row in result])
        return Document([table], scores.signature, row_signatures=[row.signature for row in result])
    if layout == "trec":
        return Document([_lines(result)], scores.signature)
    blocks = [_wide([row for row in result if row.slice is None], scores, digits)]
    for column, of in scores.by_slice.items():
        labels = {f"{column}={label}": label for label in of}
        blocks.append(_wide([row for row in result if row.slice in labels], scores, digits, column, labels))
    return Document(blocks, scores.signature)


def _lines(rows: list[SystemRow]) -> Table:
    """Return measure, topic and value, as trec_eval prints them for each run."""
    lines, previous = list[tuple[str, str, object]](), None
    for row in rows:
        topic = row.slice or ALL
        if row.system != previous:
            lines += [("runid", ALL, row.system), ("seeds", ALL, row.seeds)]
        previous = row.system
        values = {row.measure: row.mean, f"{row.measure}.sd": row.sd}
        values |= {f"{row.measure}.low": row.low, f"{row.measure}.high": row.high}
        lines += [(name, topic, value) for name, value in values.items() if value is not None]
    return Table([Column("measure"), Column("topic"), Column("value", "score")], lines)


def _wide(
    rows: list[SystemRow], scores: Scores, digits: int, column: str = "", names: dict[str, str] | None = None
) -> Table:
    cells: dict[tuple[str | None, str], list[object]] = {}
    for row in rows:
        key = [names[str(row.slice)]] if names else []
        margin = [] if scores.machine is None else [row.margin]
        cells.setdefault((row.slice, row.system), [*key, row.system, row.seeds]).extend([row.mean, *margin, row.sd])
    numbers = list[Column]()
    for measure in scores.measures:
        kind: Kind = "figures" if measure.definition.summary == "geometric" else "score"
        margins = [Column("±", kind, digits)] if scores.machine is not None else []
        numbers += [Column(measure.label, "score", digits), *margins, Column("± sd", "score", digits)]
    keys = [*([Column(column)] if names else []), Column("system"), Column("seeds", "count")]
    order = sorted(cells, key=lambda key: list(names).index(str(key[0]))) if names else list(cells)
    together = len(numbers) // len(scores.measures)
    return Table([*keys, *numbers], [cells[key] for key in order], pipeline=True, together=together)
