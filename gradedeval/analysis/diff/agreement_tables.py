"""Agreement of rankings -> tables: topics of a pair, a matrix of many runs, an experiment beside its original."""

from __future__ import annotations

import math
from typing import Any

from gradedeval.analysis.diff.agreement import Agreement
from gradedeval.analysis.diff.reproduce import Reproduction
from gradedeval.errors import plural, visible
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table

TOPICS = 10

SHOWN = ("rbo", "residual", "overlap", "tau", "common")


def agreement_document(
    found: Agreement, layout: Layout, *, top: int | None = None, topic: str | None = None
) -> Document:
    """The agreement of runs: of two by topic, those that agree least first, and in the mean; of more as a matrix.

    top    how many topics of two runs a table shows; None: 10
    topic  the only one
    """
    frame = found.frame if topic is None else found.frame[found.frame["topic"] == topic]
    if layout == "long":
        return Document([frame_table(frame if top is None else frame.groupby(["run", "other"]).head(top))],
                        str(found.settings))  # fmt: skip
    if len(found.runs) > 2:
        of = "means over topics" if topic is None else f"topic {visible(topic)}"
        return Document([_matrix(found)], f"above the diagonal: rbo, below it: tau; {of}\n{found.settings}")
    numbers = [Column(name, "count" if name == "common" else "score") for name in SHOWN]
    rows = [[row["topic"], *(row[name] for name in SHOWN)] for row in frame_rows(frame)]
    some = rows[: TOPICS if top is None else top]
    means = [(row["topics"], [row[name] for name in SHOWN]) for row in frame_rows(found.means)]
    blocks: list[Table | str] = [f"{visible(found.runs[0])} and {visible(found.runs[1])}"]
    if topic is None:
        ((topics, values),) = means
        some.append([f"mean of {topics}", *(None if name == "common" else value
                                             for name, value in zip(SHOWN, values, strict=True))])  # fmt: skip
    blocks.append(Table([Column("topic"), *numbers], some))
    left_out = len(rows) - len(some) + (topic is None)
    if left_out > 0:
        blocks.append(f"{left_out} more {plural(left_out, 'topic')}: --top N")
    return Document(blocks, str(found.settings))


def _matrix(found: Agreement) -> Table:
    values: dict[tuple[str, str], Any] = {}
    for row in frame_rows(found.means):
        values[row["run"], row["other"]], values[row["other"], row["run"]] = row["rbo"], row["tau"]
    columns = [Column(""), *(Column(name, "score", digits=3) for name in found.runs)]
    return Table(columns, [[run, *(values.get((run, other), "—") for other in found.runs)] for run in found.runs])


def reproduction_document(found: Reproduction, layout: Layout) -> Document:
    """An experiment beside its original: a row for each run, and one for each improvement."""
    signature = "\n".join(part for part in (_words(found), found.signature) if part)
    if layout == "long":
        return Document([frame_table(found.frame)], signature)
    rows = frame_rows(found.frame)
    measures = list(dict.fromkeys(row["measure"] for row in rows if row["measure"] is not None))
    cells = {(row["what"], row["run"], row["original"], row["measure"]): row["value"] for row in rows}
    pairs = dict.fromkeys((row["run"], row["original"]) for row in rows if row["what"] == "ktu")
    columns = [Column("run"), Column("original"), Column("KTU", "score"), Column("RBO", "score")]
    columns += [Column(f"RMSE {name}", "score") for name in measures]
    table = [
        [
            *pair,
            cells["ktu", *pair, None],
            cells["rbo", *pair, None],
            *(cells["rmse", *pair, name] for name in measures),
        ]
        for pair in pairs
    ]
    blocks: list[Table | str] = [Table(columns, table)]
    if measures:
        effects = [row for row in rows if row["what"] == "er"]
        shown = [[row["measure"], row["value"], cells["delta_ri", row["run"], row["original"], row["measure"]]]
                 for row in effects]  # fmt: skip
        blocks.append(Table([Column("measure"), Column("effect ratio", "score"), Column("ΔRI", "signed")], shown))
    return Document(blocks, signature)


def _words(found: Reproduction) -> str:
    at_best = "as the original: KTU, RBO and effect ratio 1, RMSE and ΔRI 0"
    blank = any(math.isnan(value) for value in found.frame["value"])
    ktu, rbo = "ktu: union by docno", f"rbo: extrapolated, p {found.settings.p:g}, ties {found.settings.ties}"
    return " | ".join([at_best, ktu, rbo, *(["blank: not defined"] if blank else [])])
