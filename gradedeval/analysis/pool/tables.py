"""Pools -> tables: statistics, what to judge, runs left out, assessors beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradedeval.analysis.pool.assessors import AssessorAgreement
from gradedeval.analysis.pool.leave_one_out import LeftOut
from gradedeval.analysis.pool.statistics import Pool
from gradedeval.analysis.pool.to_judge import BY_MEASURE, ToJudge
from gradedeval.errors import plural
from gradedeval.formats import Column, Document, Kind, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table

if TYPE_CHECKING:
    import pandas as pd

FEW_RUNS, WANTED = 8, 3
"""Runs up to which the overlap of each pair is shown, and how many of those that want a document are named."""


GROUP: dict[str, tuple[str, Kind]] = {"group": ("group", "text")}


def shown(frame: pd.DataFrame, **columns: tuple[str, Kind]) -> Table:
    """Some columns of a frame for people: name -> title and kind; those without a value are left out."""
    rows = frame_rows(frame)
    kept = {name: column for name, column in columns.items() if any(row[name] is not None for row in rows)}
    titles = [Column(title, kind) for title, kind in kept.values()]
    return Table(titles, [[row[name] for name in kept] for row in rows])


def pool_document(found: Pool, layout: Layout) -> Document:
    """The statistics: runs, groups, overlaps, depths and topics; for programs one number a row."""
    if layout == "long":
        return Document([_long(found)], found.signature)
    grouped = len(found.groups) < len(found.runs)
    runs = shown(
        found.runs,
        run=("run", "text"),
        **(GROUP if grouped else {}),
        judged_depth=("judged depth", "number"),
        least_judged_depth=("least", "count"),
        judged=(f"judged@{found.at}", "score"),
        unique=("unique", "count"),
        unique_judged=("judged", "count"),
        unique_relevant=("relevant", "count"),
        overlap=(f"overlap@{found.at}", "score"),
    )
    blocks: list[Table | str] = [runs]
    if grouped:
        blocks.append(
            shown(
                found.groups,
                group=("group", "text"),
                runs=("runs", "count"),
                unique=("unique", "count"),
                unique_judged=("judged", "count"),
                unique_relevant=("relevant", "count"),
            )
        )
    if 2 < len(found.runs) <= FEW_RUNS:
        blocks.append(_overlaps(found))
    blocks.append(
        shown(found.depths, depth=("depth", "count"), documents=("documents", "count"), judged=("judged", "count"))
    )
    if len(found.topics):
        columns: dict[str, tuple[str, Kind]] = {"topic": ("topic", "text")}
        columns |= {name: (name, "count") for name in found.topics.columns if name != "topic"}
        blocks.append(shown(found.topics, **columns))
    words = "judged depth: median over topics of the rank down to which all is judged; least: the lowest of any topic"
    unique = "unique: documents that no other run has" + (", or no other group" if grouped else "")
    signature = "\n".join(
        part for part in (f"{words} | {unique}" if len(found.topics) else unique, found.signature) if part
    )
    return Document(blocks, signature)


def _overlaps(found: Pool) -> Table:
    values: dict[tuple[str, str], Any] = {}
    for row in frame_rows(found.overlap):
        values[row["run"], row["other"]] = values[row["other"], row["run"]] = row["overlap"]
    names = found.runs["run"].tolist()
    columns = [Column(f"overlap@{found.at}"), *(Column(name, "score") for name in names)]
    return Table(columns, [[run, *(values.get((run, other), "—") for other in names)] for run in names])


def _long(found: Pool) -> Table:
    """of (run, group, topic, pair, depth), name, other, what, value."""
    rows: list[list[Any]] = []
    parts: dict[str, tuple[pd.DataFrame, str]] = {
        "run": (found.runs, "run"),
        "group": (found.groups, "group"),
        "pair": (found.overlap, "run"),
        "depth": (found.depths, "depth"),
        "topic": (found.topics, "topic"),
    }
    for kind, (frame, name) in parts.items():
        for row in frame_rows(frame) if len(frame) else []:
            other = row.get("other") if kind == "pair" else row.get("group") if kind == "run" else None
            numbers = {key: value for key, value in row.items() if key not in (name, "other", "group")}
            rows += [[kind, str(row[name]), other, what, value] for what, value in numbers.items() if value is not None]
    return Table([Column(name) for name in ("of", "name", "other", "what", "value")], rows)


def to_judge_document(found: ToJudge, layout: Layout) -> Document:
    """What to judge: a row for each document."""
    frame = found.frame
    signature = found.settings.words(found.measure)
    if layout == "long":
        return Document([frame_table(frame)], signature)
    table = shown(
        frame,
        topic=("topic", "text"),
        docno=("docno", "text"),
        weight=("weight", "number"),
        runs=("runs", "count"),
        best_rank=("best rank", "count"),
        wanted_by=("wanted by", "text"),
    )
    texts = [" ".join(one[:WANTED]) + (" …" if len(one) > WANTED else "") for one in found.wanted]
    table = Table(table.columns, [[*row[:-1], text] for row, text in zip(table.rows, texts, strict=True)])
    count = len(frame)
    line = f"{count} {plural(count, 'document')} to judge, {found.left} more unjudged"
    if found.settings.strategy in BY_MEASURE and found.left and count < found.settings.budget:
        what = "the order of two runs by " if found.settings.strategy == "pairs" else ""
        line += f", none of which could change {what}{found.measure.label}"
    return Document([line, table] if count else [line], signature)


def qrels_lines(found: ToJudge) -> str:
    """What to judge as lines of a qrels file that lack the grade."""
    return "".join(f"{row['topic']} 0 {row['docno']}\n" for row in frame_rows(found.frame))


def left_out_document(found: LeftOut, layout: Layout) -> Document:
    """Each run with and without what it alone gave, and what becomes of the order."""
    if layout == "long":
        return Document([frame_table(found.frame)], found.signature)
    blocks: list[Table | str] = []
    for measure in found.measures:
        frame = found.frame[found.frame["measure"] == measure.label].sort_values("rank", kind="stable")
        grouped = (frame["run"] != frame["group"]).any()
        blocks.append(
            shown(
                frame,
                run=("run", "text"),
                **(GROUP if grouped else {}),
                unique=("unique", "count"),
                unique_relevant=("relevant", "count"),
                score=(measure.label, "score"),
                score_without=("without", "score"),
                change=("change", "signed"),
                relative=("%", "percent"),
                rank=("rank", "count"),
                rank_without=("without ", "count"),
                tau_ap=("tau-ap", "score"),
            )
        )
    blocks.append(
        shown(
            found.orders,
            measure=("measure", "text"),
            runs=("runs", "count"),
            mean_change=("mean change", "share"),
            largest_change=("largest", "share"),
            largest_drop=("largest drop", "count"),
            tau=("tau", "score"),
            tau_ap=("tau-ap", "score"),
        )
    )
    words = "each run is scored without the judgments of documents that it, or its group, alone gave; tau-ap: of the"
    return Document(blocks, f"{words} order of all runs without them with the full one\n{found.signature}")


def assessors_document(found: AssessorAgreement, layout: Layout) -> Document:
    """The confusion of grades, the coefficients, and the order of runs by either."""
    first, second = str(found.confusion.index.name), str(found.confusion.columns.name)
    numbers = {name: getattr(found, name) for name in ("documents", "topics", "only_first", "only_second")}
    numbers |= {name: getattr(found, name) for name in ("same", "kappa", "weighted_kappa", "alpha")}
    if layout == "long":
        rows: list[list[Any]] = [[name, None, None, None, value] for name, value in numbers.items()]
        for grade, counts in found.confusion.iterrows():
            rows += [["confusion", None, grade, other, int(count)] for other, count in counts.items()]
        for row in frame_rows(found.orders) if len(found.orders) else []:
            rows += [[what, row["measure"], None, None, row[what]] for what in ("tau", "tau_ap")]
        for row in frame_rows(found.runs) if len(found.runs) else []:
            rows += [[what, row["measure"], row["run"], None, row[what]] for what in ("score", "other_score")]
        return Document([Table([*map(Column, ("what", "measure", "name", "other", "value"))], rows)], found.signature)
    blocks: list[Table | str] = [
        f"{found.documents} documents of {found.topics} {plural(found.topics, 'topic')} judged in both;"
        f" {found.only_first} in {first} alone, {found.only_second} in {second} alone"
    ]
    columns = [Column(f"{first} \\ {second}"), *(Column(str(name), "count") for name in found.confusion.columns)]
    blocks.append(Table(columns, [[grade, *map(int, counts)] for grade, counts in found.confusion.iterrows()]))
    values = [found.same, found.kappa, found.weighted_kappa, found.alpha]
    named: list[tuple[str, Kind]] = [("same grade", "share"), ("kappa", "score"), ("linear kappa", "score"),
                                     ("alpha (ordinal)", "score")]  # fmt: skip
    blank = [None if value != value else value for value in values]
    blocks.append(Table([Column(title, kind) for title, kind in named], [blank]))
    if len(found.orders):
        blocks.append(
            shown(found.orders, measure=("measure", "text"), runs=("runs", "count"), tau=("tau", "score"),
                  tau_ap=("tau-ap", "score"))
        )  # fmt: skip
        blocks.append(
            shown(found.runs, measure=("measure", "text"), run=("run", "text"), score=(first, "score"),
                  other_score=(second, "score"), rank=("rank", "count"), other_rank=("rank there", "count"))
        )  # fmt: skip
    return Document(blocks, found.signature)
