"""`agreement`: agreement of two judgments of the same documents, and of the orders of runs by each."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import pairs
from gradedeval.analysis.tables import display_table
from gradedeval.arrays import Floats, Ints, np
from gradedeval.errors import InputError, emit_notes, flag, plural, public
from gradedeval.kernel import Column, Document, Layout, Measure, OptionKwargs, Options, Table
from gradedeval.questions.leave_one_out import agreements, standing
from gradedeval.questions.shared import Measures

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.kernel import Qrels

SAVED = ("narrower", "times")
OF_ORDERS = ["measure", "runs", "tau", "tau_ap", "topics", "others", *SAVED, *(f"{name}_differences" for name in SAVED)]
SAVES = "prediction-powered inference: savings if the second judgments covered further topics"


@dataclass(frozen=True, eq=False)
class Agreement(kernel.results.InNotebook):
    """Agreement of two qrels on the documents judged in both.

    documents  number of documents judged in both, in `topics`; `only_first` and `only_second` are judged in one only
    confusion  a frame of numbers of documents: a row for each grade of the first, a column for each grade of the second
    same       share of documents with the same grade
    kappa      Cohen's κ (1960), and `weighted_kappa` with linear weights by the position of a grade on the scale (1968)
    alpha      Krippendorff's α for ordinal data
    orders     a frame with a row for each measure: measure, runs; tau and tau_ap of the orders of runs by the second
               and the first qrels; topics of both, others of the second alone; narrower and times, medians over runs of
               these columns of `runs`; narrower_differences and times_differences, medians over pairs of runs for
               differences
    runs       a frame with a row for each run and measure: measure, run, score, other_score, rank, other_rank; narrower
               and times (prediction-powered inference): the share by which very many topics judged in the second alone
               would narrow the interval of the mean, and the factor of topics that would save; nan with fewer than five
               topics
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
        """Return the confusion of grades, the coefficients, and the orders of runs by both qrels."""
        first, second = str(self.confusion.index.name), str(self.confusion.columns.name)
        numbers = {name: getattr(self, name) for name in ("documents", "topics", "only_first", "only_second")}
        numbers |= {name: getattr(self, name) for name in ("same", "kappa", "weighted_kappa", "alpha")}
        if layout == "long":
            rows: list[list[Any]] = [[name, None, None, None, value] for name, value in numbers.items()]
            for grade, counts in self.confusion.iterrows():
                rows += [["confusion", None, grade, second_grade, int(count)] for second_grade, count in counts.items()]
            for row in kernel.results.to_rows(self.orders) if len(self.orders) else []:
                rows += [[column, row["measure"], None, None, row[column]] for column in OF_ORDERS[2:]]
            for row in kernel.results.to_rows(self.runs) if len(self.runs) else []:
                columns_of_runs = ("score", "other_score", *SAVED)
                rows += [[column, row["measure"], row["run"], None, row[column]] for column in columns_of_runs]
            names_of_columns = ("what", "measure", "name", "other", "value")
            return Document([Table([*map(Column, names_of_columns)], rows)], self.signature)
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
        coefficients = [Column("same grade", "share"),
                 *(Column(title, "score") for title in ("kappa", "linear kappa", "alpha (ordinal)"))]  # fmt: skip
        blank = [None if value != value else value for value in values]
        blocks.append(Table(coefficients, [blank]))
        if len(self.orders):
            blocks.append(
                display_table(self.orders, measure=("measure", "text"), runs=("runs", "count"), tau=("tau", "score"),
                      tau_ap=("tau-ap", "score"))
            )  # fmt: skip
            savings = _savings(self.orders)
            saving_blocks: list[Table | str] = [f"{SAVES}; medians over runs, and over pairs of runs", savings]
            blocks += saving_blocks if savings.rows else [_why_unknown(self.orders)]
            blocks.append(
                display_table(self.runs, measure=("measure", "text"), run=("run", "text"), score=(first, "score"),
                      other_score=(second, "score"), rank=("rank", "count"), other_rank=("rank there", "count"))
            )  # fmt: skip
        return Document(blocks, self.signature)


def _savings(orders: pd.DataFrame) -> Table:
    """Return a row for each interval, of means and of differences, with the second judgments of more topics."""
    rows: list[list[Any]] = []
    for row in kernel.results.to_rows(orders):
        for quantity, suffix in (("means", ""), ("differences", "_differences")):
            for others in (row["others"], math.inf):
                narrower = row[f"narrower{suffix}"]
                if narrower is not None and others:
                    # N further topics save N / (n + N) of the variance that very many save.
                    share = 1.0 if others == math.inf else others / (row["topics"] + others)
                    width = (1 - (1 - (1 - narrower) ** 2) * share) ** 0.5
                    count = "very many" if others == math.inf else f"{others}"
                    rows.append([row["measure"], quantity, count, 1 - width, f"×{1 / width**2:.1f}"])
    names = map(Column, ("measure", "interval of", "other topics"))
    return Table([*names, Column("narrower", "share"), Column("topics saved")], rows)


def _why_unknown(orders: pd.DataFrame) -> str:
    """Explain why savings by the second judgments are unknown."""
    topics, problem = int(orders["topics"].max()), "savings by the second judgments are unknown"
    if topics < pairs.LEAST:
        judged_in_both = f"{topics} {'topic is' if topics == 1 else 'topics are'} judged in both"
        return f"{problem}: {judged_in_both}, and prediction-powered inference needs {pairs.LEAST}"
    return f"{problem}: scores by both are the same, or do not vary over topics"


@kernel.takes_options("reading")
@public
def agreement(
    qrels: Any,
    other: Any,
    runs: Any = None,
    measures: Measures = ("err@20",),
    *,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Agreement:
    """Compare two qrels on the documents judged in both, and the orders of runs by each.

    qrels, other  as for `evaluate`
    runs          as for `evaluate`; None: compare judgments only

    The other arguments are as for `evaluate`. Returns `Agreement`. Raises `gradedeval.InputError` as
    `evaluate` does, and if no document is judged in both.

    >>> first, second = {"q1": {"d1": 2, "d2": 0, "d3": 1}}, {"q1": {"d1": 2, "d2": 1, "d3": 1}}
    >>> gradedeval.agreement(first, second).kappa
    0.5
    """
    options, chosen = kernel.resolve_options(like, **keywords), kernel.parse_measures(measures)
    sources = {} if runs is None else kernel.named_runs(runs)
    first, second = (kernel.qrels_for(sources, judgments, options) for judgments in (qrels, other))
    if options.subtopics or first.strata is not None:
        option = flag.subtopics if options.subtopics else flag.qrels_format
        raise InputError(option, "agreement compares one grade of a document", "leave it out", usage=True)
    pairs, topics = _common_judgments(first, second)
    if not pairs:
        if not topics:
            raise kernel.grade.no_common_topics(second.place, second.topics, first.place, first.topics)
        raise InputError(second.place, f"judges no document of {first.place}", "are both for the same collection?")
    table, names = _confusion(first, second, pairs)
    orders, by_run, signature, notes = _orders_by_either(sources, first, second, chosen, options)
    sizes = [int(judgments.counts.count.sum()) - len(pairs) for judgments in (first, second)]
    return Agreement(
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


def _common_judgments(first: Qrels, second: Qrels) -> tuple[list[tuple[float, float]], int]:
    """Return the two grades of each document judged in both, and the number of topics in both."""
    pairs, topics = [], 0
    first_grades, second_grades = first.labels.tolist(), second.labels.tolist()
    for topic, documents in first.codes.items():
        judged_second = second.codes.get(topic)
        topics += judged_second is not None
        if judged_second:
            pairs += [
                (first_grades[code], second_grades[judged_second[docno]])
                for docno, code in documents.items()
                if docno in judged_second
            ]
    return pairs, topics


def _confusion(first: kernel.Qrels, second: kernel.Qrels, pairs: list[tuple[float, float]]) -> tuple[Ints, list[str]]:
    """Return the number of documents by their grades in the first and the second qrels, and the grades."""
    scale = np.union1d(first.labels, second.labels)
    codes = np.searchsorted(scale, np.array(pairs, dtype=np.float64))
    table: Ints = np.bincount(codes[:, 0] * len(scale) + codes[:, 1], minlength=len(scale) ** 2).reshape(len(scale), -1)
    return table, [f"{grade:g}" for grade in scale]


def cohen_kappa(table: Ints, linear: bool = False) -> float:
    """Return Cohen's κ of a table of counts, grades × grades; with linear weights by the distance of grades on the
    scale. nan if all grades are the same.

    Cohen, Educational and Psychological Measurement 1960; Psychological Bulletin 1968.
    """
    grade = np.arange(len(table))
    weight = np.abs(grade[:, None] - grade) if linear else (grade[:, None] != grade).astype(np.int64)
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    chance = float((weight * expected).sum())
    return 1 - float((weight * table).sum()) / chance if chance else float("nan")


def ordinal_alpha(table: Ints) -> float:
    """Return Krippendorff's α for ordinal data of two judgments of each document, from a table of counts, grades ×
    grades. nan if all grades are the same.

    The distance of two grades is the squared number of judgments between them, with half of the judgments at each end.
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
    runs: Mapping[str, Any], first: Qrels, second: Qrels, measures: list[Measure], options: Options
) -> tuple[pd.DataFrame, pd.DataFrame, str, list[str]]:
    """Return the orders of runs by each qrels, on the topics of both."""
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
    first_scores, second_scores = (
        kernel.evaluate_runs(runs, judgments, measures, options, workers=kernel.Workers.current())
        for judgments in (first, second)
    )
    for column, measure in enumerate(first_scores.measures):
        first_means, second_means = (
            np.array([run.summary("score", column, measure.reading.summary) for run in scores.runs])
            for scores in (first_scores, second_scores)
        )
        saved_for_means, saved_for_differences = first_scores.saved_by(second_scores, column)
        medians = [value for savings in (saved_for_means, saved_for_differences) for value in _medians(savings)]
        counts = len(chosen), len(second) - len(shared)
        orders.append((measure.label, len(runs), *agreements(first_means, second_means, measure), *counts, *medians))
        places = standing(first_means, measure).tolist(), standing(second_means, measure).tolist()
        columns = first_means.tolist(), second_means.tolist(), *places, *saved_for_means.T.tolist()
        rows += zip([measure.label] * len(runs), runs, *columns, strict=True)
    signature = f"{first_scores.signature}\n{second_scores.signature}"
    notes += [*first_scores.notes, *first_scores.unequal_topics()]
    notes += [note for note in second_scores.notes if note not in first_scores.notes]
    frames = kernel.results.to_frame(orders, columns=OF_ORDERS), kernel.results.to_frame(rows, columns=of_runs)
    return *frames, signature, notes


def _medians(saved: Floats) -> list[float]:
    """Return the medians of both columns; nan without rows."""
    defined = saved[~np.isnan(saved).any(1)]
    return np.median(defined, axis=0).tolist() if len(defined) else [float("nan")] * 2
