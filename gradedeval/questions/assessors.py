"""`pool --agreement`: how far two judgments of the same documents agree, and what that does to the order of runs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import pairs
from gradedeval.analysis.tables import display_table
from gradedeval.arrays import Floats, Ints, np
from gradedeval.errors import InputError, emit_notes, flag, plural, public
from gradedeval.kernel import (
    Column,
    Document,
    Layout,
    Measure,
    OptionKwargs,
    Options,
    Setting,
    Table,
    parse_measures,
    resolve_options,
    takes_options,
)
from gradedeval.questions.leave_one_out import Measured, agreements, standing

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.kernel import Qrels

Other = Annotated[Any, Setting("Compare the judgments with a second qrels file: confusion of grades, kappa, alpha, and "
    "the order of runs.", metavar="QRELS2", spelled=("--agreement",), reads=True)]  # fmt: skip

SAVED = ("narrower", "times")
OF_ORDERS = ["measure", "runs", "tau", "tau_ap", "topics", "others", *SAVED, *(f"{name}_differences" for name in SAVED)]
SAVES = "prediction-powered inference: what the second judgments would save if they were of so many other topics"


@dataclass(frozen=True, eq=False)
class AssessorAgreement(kernel.results.InNotebook):
    """How far two qrels agree on the documents that both judge.

    documents  how many both judge, in how many `topics`; `only_first` and `only_second` are judged by one alone
    confusion  a frame: a row for each grade of the first, a column for each of the second, and how many documents; of
               all grades in either
    same       the share of documents with the same grade
    kappa      Cohen's κ (1960), and `weighted_kappa` with linear weights by the place of a grade on the scale (1968)
    alpha      Krippendorff's α for ordinal data
    orders     a frame with a row for each measure: measure, runs, tau, tau_ap of the order of runs by the second qrels
               with that by the first; topics of both, others of the second alone; narrower and times, the medians over
               runs of what `runs` has, and narrower_differences and times_differences, over pairs of runs and for
               their differences
    runs       a frame with a row for each run and measure: measure, run, score, other_score, rank, other_rank; narrower
               and times: if the second judgments were of very many other topics, by what share the interval of its
               mean would be narrower with them, and how many times the topics would have to be judged for that
               (prediction-powered inference); nan with fewer than five topics
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

    def document(self, layout: Layout) -> Document:
        """The confusion of grades, the coefficients, and the order of runs by either."""
        first, second = str(self.confusion.index.name), str(self.confusion.columns.name)
        numbers = {name: getattr(self, name) for name in ("documents", "topics", "only_first", "only_second")}
        numbers |= {name: getattr(self, name) for name in ("same", "kappa", "weighted_kappa", "alpha")}
        if layout == "long":
            rows: list[list[Any]] = [[name, None, None, None, value] for name, value in numbers.items()]
            for grade, counts in self.confusion.iterrows():
                rows += [["confusion", None, grade, other, int(count)] for other, count in counts.items()]
            for row in kernel.results.to_rows(self.orders) if len(self.orders) else []:
                rows += [[what, row["measure"], None, None, row[what]] for what in OF_ORDERS[2:]]
            for row in kernel.results.to_rows(self.runs) if len(self.runs) else []:
                whats = ("score", "other_score", *SAVED)
                rows += [[what, row["measure"], row["run"], None, row[what]] for what in whats]
            return Document(
                [Table([*map(Column, ("what", "measure", "name", "other", "value"))], rows)], self.signature
            )
        # Of two paths the folders would fill the headings of columns.
        names = os.path.basename(first), os.path.basename(second)
        first, second = names if names[0] != names[1] else (first, second)
        blocks: list[Table | str] = [
            f"{self.documents} documents of {self.topics} {plural(self.topics, 'topic')} judged in both;"
            f" {self.only_first} in {first} alone, {self.only_second} in {second} alone"
        ]
        columns = [Column(f"{first} \\ {second}"), *(Column(str(name), "count") for name in self.confusion.columns)]
        blocks.append(Table(columns, [[grade, *map(int, counts)] for grade, counts in self.confusion.iterrows()]))
        values = [self.same, self.kappa, self.weighted_kappa, self.alpha]
        named = [Column("same grade", "share"),
                 *(Column(title, "score") for title in ("kappa", "linear kappa", "alpha (ordinal)"))]  # fmt: skip
        blank = [None if value != value else value for value in values]
        blocks.append(Table(named, [blank]))
        if len(self.orders):
            blocks.append(
                display_table(self.orders, measure=("measure", "text"), runs=("runs", "count"), tau=("tau", "score"),
                      tau_ap=("tau-ap", "score"))
            )  # fmt: skip
            worth = _worth(self.orders)
            saves: list[Table | str] = [f"{SAVES}; medians over runs, and over pairs of runs", worth]
            blocks += saves if worth.rows else [_why_nothing(self.orders)]
            blocks.append(
                display_table(self.runs, measure=("measure", "text"), run=("run", "text"), score=(first, "score"),
                      other_score=(second, "score"), rank=("rank", "count"), other_rank=("rank there", "count"))
            )  # fmt: skip
        return Document(blocks, self.signature)


def _worth(orders: pd.DataFrame) -> Table:
    """What the second judgments are worth: a row for the means of runs and one for differences; with the other topics
    that it judged, where there are any, and with very many."""
    rows: list[list[Any]] = []
    for row in kernel.results.to_rows(orders):
        for of, end in (("means", ""), ("differences", "_differences")):
            for others in (row["others"], math.inf):
                narrower = row[f"narrower{end}"]
                if narrower is not None and others:
                    width = width_with(narrower, row["topics"], others)
                    count = "very many" if others == math.inf else f"{others}"
                    rows.append([row["measure"], of, count, 1 - width, f"×{1 / width**2:.1f}"])
    columns = [
        *map(Column, ("measure", "interval of", "other topics")),
        Column("narrower", "share"),
        Column("topics saved"),
    ]
    return Table(columns, rows)


def _why_nothing(orders: pd.DataFrame) -> str:
    """Why nothing is known of what the second judgments would save."""
    topics, unknown = int(orders["topics"].max()), "what the second judgments would save is not known"
    if topics < pairs.LEAST:
        both = f"{topics} {'topic is' if topics == 1 else 'topics are'} judged in both"
        return f"{unknown}: {both}, and prediction-powered inference needs {pairs.LEAST}"
    return f"{unknown}: scores by both are the same, or do not vary over topics"


def width_with(narrower: float, topics: int, others: float) -> float:
    """The width of an interval, as a share of that by the first judgments alone, if the second are of `others` other
    topics; `narrower` as with very many. Of the variance that these save N others save N / (n + N)."""
    share = 1.0 if others == math.inf else others / (topics + others)
    return float((1 - (1 - (1 - narrower) ** 2) * share) ** 0.5)


@takes_options("reading")
@public
def assessor_agreement(
    qrels: Any,
    other: Other,
    runs: Any = None,
    measures: Measured = ("err@20",),
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
    options, chosen = resolve_options(like, **keywords), parse_measures(measures)
    named = {} if runs is None else kernel.named_runs(runs)
    first, second = (kernel.qrels_for(named, one, options) for one in (qrels, other))
    if options.subtopics or first.strata is not None:
        option = flag.subtopics if options.subtopics else flag.qrels_format
        raise InputError(option, f"{flag.agreement} compares one grade of a document", "leave it out", usage=True)
    pairs, topics = _both(first, second)
    if not pairs:
        if not topics:
            raise kernel.grade.no_common_topics(second.place, second.topics, first.place, first.topics)
        raise InputError(second.place, f"judges no document of {first.place}", "are both for the same collection?")
    scale = np.union1d(first.labels, second.labels)
    codes = np.searchsorted(scale, np.array(pairs, dtype=np.float64))
    table: Ints = np.bincount(codes[:, 0] * len(scale) + codes[:, 1], minlength=len(scale) ** 2).reshape(len(scale), -1)
    names = [f"{grade:g}" for grade in scale]
    orders, by_run, signature, notes = _orders_by_either(named, first, second, chosen, options)
    sizes = [int(one.counts.count.sum()) - len(pairs) for one in (first, second)]
    return AssessorAgreement(
        len(pairs),
        topics,
        sizes[0],
        sizes[1],
        kernel.results.to_frame(table, names).set_axis(names).rename_axis(index=first.place, columns=second.place),
        float(np.trace(table) / table.sum()),
        cohen_kappa(table),
        cohen_kappa(table, linear=True),
        ordinal_alpha(table),
        orders,
        by_run,
        signature,
        emit_notes(notes),
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


def _orders_by_either(
    runs: Mapping[str, Any],
    first: Qrels,
    second: Qrels,
    measures: list[Measure],
    options: Options,
) -> tuple[pd.DataFrame, pd.DataFrame, str, list[str]]:
    """The order of runs by either qrels, on the topics of both."""
    of_runs = ["measure", "run", "score", "other_score", "rank", "other_rank", *SAVED]
    orders: list[tuple[Any, ...]] = []
    rows: list[tuple[Any, ...]] = []
    if not runs:
        return kernel.results.to_frame([], OF_ORDERS), kernel.results.to_frame([], of_runs), "", []
    shared = frozenset(topic for topic in first.topics if topic in second.row_of)
    notes = []
    left_out = len(first) + len(second) - 2 * len(shared)
    if left_out:
        notes.append(f"{left_out} {plural(left_out, 'topic')} left out of the order of runs: not in both qrels")
    chosen = shared if options.topics_from is None else shared & options.topics_from
    options = replace(options, topics_from=chosen)
    mine, theirs = (
        kernel.evaluate_runs(runs, one, measures, options, workers=kernel.Workers.current()) for one in (first, second)
    )
    for column, measure in enumerate(mine.measures):
        before, after = (
            np.array([run.summary("score", column, measure.reading.summary) for run in scores.runs])
            for scores in (mine, theirs)
        )
        saved, of_pairs = mine.saved_by(theirs, column)
        medians = [value for of in (saved, of_pairs) for value in _medians(of)]
        counts = len(chosen), len(second) - len(shared)
        orders.append((measure.label, len(runs), *agreements(before, after, measure), *counts, *medians))
        places = standing(before, measure).tolist(), standing(after, measure).tolist()
        columns = before.tolist(), after.tolist(), *places, *saved.T.tolist()
        rows += zip([measure.label] * len(runs), runs, *columns, strict=True)
    signature = f"{mine.signature}\n{theirs.signature}"
    notes += [*mine.notes, *mine.unequal_topics(), *(note for note in theirs.notes if note not in mine.notes)]
    return (
        kernel.results.to_frame(orders, columns=OF_ORDERS),
        kernel.results.to_frame(rows, columns=of_runs),
        signature,
        notes,
    )


def _medians(saved: Floats) -> list[float]:
    """The medians of both columns; nan without any row."""
    known = saved[~np.isnan(saved).any(1)]
    return np.median(known, axis=0).tolist() if len(known) else [float("nan")] * 2
