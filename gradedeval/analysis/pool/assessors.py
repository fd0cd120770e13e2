"""Two judgments of the same documents: how far assessors agree, and what that does to the order of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gradedeval.analysis.explain import DEFAULT
from gradedeval.analysis.pool.order import agreements, standing
from gradedeval.analysis.tables import shown
from gradedeval.arrays import Ints
from gradedeval.errors import InputError, plural, warn_caller
from gradedeval.formats import Column, Document, Kind, Layout, Table
from gradedeval.formats.frames import frame_rows, to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.topics import no_common_topics
from gradedeval.scoring.evaluate import evaluate_runs, qrels_for
from gradedeval.scoring.run_names import named_runs

if TYPE_CHECKING:
    import pandas as pd

    pass


@dataclass(frozen=True, eq=False)
class AssessorAgreement(InNotebook, document="analysis.pool.assessors.assessors_document"):
    """How far two qrels agree on the documents that both judge.

    documents  how many both judge, in how many `topics`; `only_first` and `only_second` are judged by one alone
    confusion  a frame: a row for each grade of the first, a column for each of the second, and how many documents; of
               all grades in either
    same       the share of documents with the same grade
    kappa      Cohen's κ (1960), and `weighted_kappa` with linear weights by the place of a grade on the scale (1968)
    alpha      Krippendorff's α for ordinal data
    orders     a frame with a row for each measure: measure, runs, tau, tau_ap of the order of runs by the second qrels
               with that by the first
    runs       a frame with a row for each run and measure: measure, run, score, other_score, rank, other_rank
    """

    documents: int
    topics: int
    only_first: int
    only_second: int
    confusion: pd.DataFrame
    same: float
    kappa: float
    weighted_kappa: float
    alpha: float
    orders: pd.DataFrame
    runs: pd.DataFrame
    signature: str = ""
    notes: list[str] = field(default_factory=list)


def assessor_agreement(
    qrels: Any,
    other: Any,
    runs: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT,
    *,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> AssessorAgreement:
    """How far two qrels agree on the documents that both judge, and what it does to the order of runs.

    qrels, other  as `evaluate` takes them
    runs          as there; None: the judgments alone

    The other arguments are those of `evaluate`. Returns `AssessorAgreement`. Raises `gradedeval.InputError` as
    `evaluate` does, and where no document is judged in both.
    """
    options = resolve_options(like, **keywords)
    named = {} if runs is None else named_runs(runs)
    found = assessors(named, qrels, other, parse_measures(measures), options)
    warn_caller(found.notes)
    return found


def assessors(
    runs: Mapping[str, Any],
    qrels: Any,
    other: Any,
    measures: Iterable[Measure],
    options: Options,
    workers: Workers | None = None,
) -> AssessorAgreement:
    """As `assessor_agreement`, for runs by name."""
    if options.subtopics or options.strata:
        flag = "--subtopics" if options.subtopics else "--strata"
        raise InputError(flag, "--agreement compares one grade of a document", "leave it out", usage=True)
    first, second = (qrels_for(runs, one, options) for one in (qrels, other))
    pairs, topics = _both(first, second)
    if not pairs:
        if not topics:
            raise no_common_topics(second.place, second.topics, first.place, first.topics)
        raise InputError(second.place, f"judges no document that {first.place} judges", "are they of one collection?")
    scale = np.union1d(first.labels, second.labels)
    codes = np.searchsorted(scale, np.array(pairs, dtype=np.float64))
    table: Ints = np.bincount(codes[:, 0] * len(scale) + codes[:, 1], minlength=len(scale) ** 2).reshape(len(scale), -1)
    names = [f"{grade:g}" for grade in scale]
    orders, by_run, signature, notes = _orders(runs, first, second, list(measures), options, workers)
    sizes = [int(one.pool.sum()) - len(pairs) for one in (first, second)]
    return AssessorAgreement(
        len(pairs),
        topics,
        sizes[0],
        sizes[1],
        to_frame(table, names).set_axis(names).rename_axis(index=first.place, columns=second.place),
        float(np.trace(table) / table.sum()),
        cohen_kappa(table),
        cohen_kappa(table, linear=True),
        ordinal_alpha(table),
        orders,
        by_run,
        signature,
        notes,
    )


def _both(first: Qrels, second: Qrels) -> tuple[list[tuple[float, float]], int]:
    """The grades of the documents that both judge, and in how many topics they judge some."""
    pairs, topics = [], 0
    mine, theirs = first.labels.tolist(), second.labels.tolist()
    for topic, documents in first.codes.items():
        others = second.codes.get(topic)
        topics += others is not None
        if others:
            pairs += [(mine[code], theirs[others[docno]]) for docno, code in documents.items() if docno in others]
    return pairs, topics


def cohen_kappa(table: Ints, linear: bool = False) -> float:
    """Cohen's κ of a table of counts, grades × grades; with linear weights by the distance of grades on the scale. nan
    where all grades are the same.

    Cohen, Educational and Psychological Measurement 1960; Psychological Bulletin 1968.
    """
    grade = np.arange(len(table))
    weight = np.abs(grade[:, None] - grade) if linear else (grade[:, None] != grade).astype(np.int64)
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    chance = float((weight * expected).sum())
    return 1 - float((weight * table).sum()) / chance if chance else float("nan")


def ordinal_alpha(table: Ints) -> float:
    """Krippendorff's α for ordinal data, of two judgments of each document, as a table of counts, grades × grades. nan
    where all grades are the same.

    The distance of two grades is the square of how many judgments lie from the one to the other, half of each end's.
    Krippendorff, Content Analysis, 2004, chapter 11.
    """
    coincidences = (table + table.T).astype(np.float64)
    counts = coincidences.sum(1)
    between = np.cumsum(counts) - counts / 2
    distance = (between[:, None] - between) ** 2
    expected = np.outer(counts, counts)
    np.fill_diagonal(expected, counts * (counts - 1))
    chance = float((distance * expected).sum()) / (counts.sum() - 1)
    return 1 - float((distance * coincidences).sum()) / chance if chance else float("nan")


def _orders(
    runs: Mapping[str, Any],
    first: Qrels,
    second: Qrels,
    measures: list[Measure],
    options: Options,
    workers: Workers | None,
) -> tuple[pd.DataFrame, pd.DataFrame, str, list[str]]:
    """The order of runs by either qrels, on the topics of both."""
    of_orders = ["measure", "runs", "tau", "tau_ap"]
    of_runs = ["measure", "run", "score", "other_score", "rank", "other_rank"]
    orders: list[tuple[Any, ...]] = []
    rows: list[tuple[Any, ...]] = []
    if not runs:
        return to_frame([], of_orders), to_frame([], of_runs), "", []
    shared = frozenset(topic for topic in first.topics if topic in second._row)
    notes = []
    left_out = len(first) + len(second) - 2 * len(shared)
    if left_out:
        notes.append(f"{left_out} {plural(left_out, 'topic')} left out of the order of runs: not in both qrels")
    chosen = shared if options.topics_from is None else shared & options.topics_from
    options = replace(options, topics_from=chosen)
    mine, theirs = (evaluate_runs(runs, one, measures, options, workers=workers) for one in (first, second))
    for column, measure in enumerate(mine.measures):
        before, after = (
            np.array([run.summary("score", column, measure.reading.summary) for run in scores.runs])
            for scores in (mine, theirs)
        )
        orders.append((measure.label, len(runs), *agreements(before, after, measure)))
        places = standing(before, measure).tolist(), standing(after, measure).tolist()
        rows += zip([measure.label] * len(runs), runs, before.tolist(), after.tolist(), *places, strict=True)
    signature = f"{mine.signature}\n{theirs.signature}"
    notes += [*mine.notes, *(note for note in theirs.notes if note not in mine.notes)]
    return to_frame(orders, columns=of_orders), to_frame(rows, columns=of_runs), signature, notes


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
