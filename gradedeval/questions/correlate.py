"""`correlate`: agreement of measures, by scores of topics or orderings of runs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack, get_args

from gradedeval import kernel
from gradedeval.analysis import pictures, score_matrix, significance
from gradedeval.analysis.tables import ScoredFrame, signature_lines
from gradedeval.arrays import TOLERANCE, Bools, Floats, merge_close, np
from gradedeval.errors import InputError, check_choice, flag, plural, public
from gradedeval.kernel import AnyMeasure, OptionKwargs, Setting, shares_work, takes_options

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.analysis.pictures import Panel
    from gradedeval.analysis.score_matrix import AnyScores, Matrix
    from gradedeval.kernel import Document, Layout


Kind = Literal["pearson", "spearman", "tau", "weighted-tau", "tau-ap"]
KINDS: tuple[Kind, ...] = get_args(Kind)
BY_TOPIC = ("pearson", "spearman")
"""Kinds that compare scores of (run, topic) pairs; the other kinds compare orderings of runs, the best first."""
NAMES = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "tau": "Kendall's τ",
    "weighted-tau": "τ weighted by 1/rank",
    "tau-ap": "τ_AP of the column against the row",
}
Coefficients = Annotated[Kind | Sequence[Kind], Setting("Coefficient above the diagonal; a second one is below it. "
    "pearson and spearman correlate the scores of all topics, the others the rankings of runs; tau-ap takes the row as "
    "the true ranking.", repeats=True, default_text="tau and weighted-tau",
    short="Coefficient; a second one below the diagonal.")]  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Correlation(ScoredFrame):
    """Agreement of measures: `frame`, and the scores of the runs."""

    scores: Matrix

    @property
    def signature(self) -> str:
        """The settings and files that the scores depend on; only orders of runs are over the same topics."""
        return self.scores.signature if set(self.frame["kind"]) <= set(BY_TOPIC) else self.scores.common_signature

    @property
    def settings_text(self) -> str:
        """The line under the table: coefficients above and below the diagonal, and numbers of pairs or runs."""
        counts: dict[str, list[int]] = {}
        for row in kernel.results.to_rows(self.frame):
            counts.setdefault(row["kind"], []).append(row["n"])
        # The first row stands above the diagonal.
        places = ("above", "below") if len(counts) > 1 else ("off",)
        units = {kind: "(run, topic) pairs" if kind in BY_TOPIC else "runs" for kind in counts}
        return " | ".join(
            f"{place} the diagonal: {NAMES[kind]}, {_extent(numbers)} {units[kind]}"
            for place, (kind, numbers) in zip(places, counts.items(), strict=True)
        )

    def document(self, layout: Layout) -> Document:
        """Return the agreement of measures; for people as a matrix."""
        signature = signature_lines(self.settings_text, self.signature)
        if layout == "long":
            return kernel.Document([kernel.results.to_table(self.frame)], signature)
        cells = {(row["measure"], row["other"]): row["agreement"] for row in kernel.results.to_rows(self.frame)}
        measures = self.scores.measures
        columns = [kernel.Column(""), *(kernel.Column(name, "score", digits=3) for name in measures)]
        rows = [[name, *(cells.get((name, second), "—") for second in measures)] for name in measures]
        return kernel.Document([kernel.Table(columns, rows)], signature)


def _extent(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def check_two_measures(scores: Matrix) -> None:
    """Raise InputError (usage) unless the scores are by two measures."""
    if len(scores.measures) != 2:
        problem = f"{len(scores.measures)} {plural(len(scores.measures), 'measure')} given"
        hint = f"give two, such as {flag.measures:err@20} {flag.measures:ndcg@10}"
        raise InputError(flag.scatter, problem, hint, usage=True)


def above_and_below(coefficient: Kind | Sequence[Kind]) -> tuple[Kind, Kind]:
    """Return the coefficients above and below the diagonal. Raises InputError (usage) unless one or two are given."""
    kinds: Sequence[Kind] = [coefficient] if isinstance(coefficient, str) else list(coefficient)
    for kind in kinds:
        check_choice(kind, KINDS, flag.coefficient)
    if len(kinds) not in (1, 2):
        raise InputError(flag.coefficient, f"{len(kinds)} coefficients given", "give one or two", usage=True)
    return kinds[0], kinds[-1]


def check_runs(runs: int, coefficient: Kind | Sequence[Kind]) -> None:
    """Raise InputError (usage) for the orderings of a single run."""
    if runs < 2 and not set(above_and_below(coefficient)) <= set(BY_TOPIC):
        hint = f"add a run, or use {flag.coefficient:spearman}"
        raise InputError("", "rank correlation needs at least two runs", hint, usage=True)


@takes_options("reading", "residual_depth", "max_residual", "replicates")
@public
@shares_work
def correlate(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    coefficient: Coefficients = ("tau", "weighted-tau"),
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Correlation:
    """Measure the agreement of measures, pair by pair.

    runs            as for `gradedeval.evaluate`; without `qrels` results of `evaluate` or saved scores: one or a list
    qrels           as for `evaluate`, like `measures`, `like`, `jobs`, `progress` and `keywords`
    coefficient     kind of agreement, or two kinds: above and below the diagonal of the matrix of measures

    `pearson` and `spearman` compare scores of the (run, topic) pairs of both measures; `tau`, `weighted-tau` and
    `tau-ap` compare orderings of runs, the best first, by their means (or totals, or geometric means) over the topics
    that all runs have by both measures; if lower is better, the lowest is first. Returns `Correlation`, with the
    columns of `.frame` measure (row of the matrix; the truth of tau-ap), other (its column), kind, agreement (blank if
    scores are all the same), n (pairs or runs). Raises InputError (usage) for a single measure, or the ordering of a
    single run; InputError if no agreement is defined for any two measures.

    >>> runs = [f"qrels_samples/rivers-{name}.run" for name in ("bm25", "bm25-rm3", "neural", "manual")]
    >>> correlation = gradedeval.correlate(runs, "qrels_samples/rivers.qrels", "err@20 p@10", coefficient="tau")
    >>> correlation.frame
      measure   other kind  agreement  n
    0  err@20    p@10  tau        1.0  4
    1    p@10  err@20  tau        1.0  4
    """
    above, below = above_and_below(coefficient)
    scores = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords, bounded=False)
    matrix = score_matrix.comparable_matrix(scores)
    if len(matrix.measures) < 2:
        raise InputError("", "correlate needs at least two measures", f"add another {flag.measure}", usage=True)
    check_runs(len(matrix.runs), coefficient)
    rows = []
    for row, measure in enumerate(matrix.measures):
        for column, second in enumerate(matrix.measures):
            if row != column:
                kind = above if row < column else below
                included = matrix.included[:, :, row] & matrix.included[:, :, column]
                truth, judged = matrix.score[:, :, row], matrix.score[:, :, column]
                readings = matrix.reading(row), matrix.reading(column)
                rows.append((measure, second, kind, *scores_agreement(kind, truth, judged, included, readings)))
    frame = kernel.results.to_frame(rows, columns=["measure", "other", "kind", "agreement", "n"])
    if frame["agreement"].isna().all():
        raise _undefined_error(matrix, {above, below})
    return Correlation(frame, matrix)


def _undefined_error(matrix: Matrix, kinds: set[Kind]) -> InputError:
    """Return an error with the reason that no agreement is defined."""
    if matrix.included.sum(2).max(initial=0) < 2:
        return InputError("", "no (run, topic) pair that two measures have", matrix.hint)
    if not kinds & set(BY_TOPIC) and matrix.included.all(0).sum(1).max(initial=0) < 2:
        return InputError("", f"no topic that {score_matrix.all_runs(matrix.runs)} have by two measures", matrix.hint)
    problem = "scores are all the same, or infinite, so no agreement is defined"
    return InputError("", problem, "use runs that differ, or other measures")


def agreement(kind: Kind, truth: Floats, scores: Floats) -> float:
    """Return the agreement of `scores` with `truth`, from −1 to 1; nan if either is constant or infinite.

    `pearson` (1895); `spearman` (1904); `tau` (Kendall 1945, τ_b); `weighted-tau` (Vigna, WWW 2015: an exchange of two
    items has the weight 1/rank of the first + 1/rank of the second; the mean over the ranks in either list); `tau-ap`
    (see `tau_ap`).
    """
    if not (_varies(truth) and _varies(scores)):
        return float("nan")
    if kind == "tau-ap":
        return tau_ap(truth, scores)
    stats = significance.scipy_stats()
    coefficients = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "tau": stats.kendalltau,
        "weighted-tau": stats.weightedtau,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lists may be nearly constant
        return float(coefficients[kind](truth, scores).statistic)


def _varies(values: Floats) -> bool:
    """Return whether the values are finite and not all the same."""
    return len(values) > 1 and bool(np.isfinite(values).all()) and bool(np.ptp(values) != 0)


def tau_ap(truth: Floats, scores: Floats) -> float:
    """Return the AP correlation 2/(n−1) Σ_{i≥2} C(i)/(i−1) − 1; C(i): number of items above rank i of `scores` that
    belong there.

    Errors at the top of the ordering by `scores` weigh more. With ties in `scores` it is the mean over all orders of
    tied items; a tie in `truth` is half right. Yilmaz et al., SIGIR 2008; ties as τ_AP,a of Urbano & Marrero, ICTIR
    2017.
    """
    right = (np.sign(truth[:, None] - truth) + 1) / 2  # [i, j]: whether i belongs above j
    above = scores[:, None] > scores
    tied_with = (scores[:, None] == scores) & ~np.eye(len(scores), dtype=bool)
    total = 0.0
    for item in range(len(scores)):
        higher, tied = int(above[:, item].sum()), int(tied_with[:, item].sum())
        correct_above, correct_tied = right[above[:, item], item].sum(), right[tied_with[:, item], item].sum()
        # All positions among tied items are equally likely; at position m, m − 1 of them are above.
        tied_above = np.arange(tied + 1)
        ahead = higher + tied_above
        share = (correct_above + tied_above / max(1, tied) * correct_tied) / np.maximum(1, ahead)
        total += float(share[ahead > 0].sum()) / (tied + 1)
    return 2 * total / (len(scores) - 1) - 1


def scores_agreement(
    kind: Kind,
    truth: Floats,
    scores: Floats,
    included: Bools,
    readings: tuple[kernel.definition.Reading, kernel.definition.Reading] = (
        kernel.definition.Reading(),
        kernel.definition.Reading(),
    ),
) -> tuple[float, int]:
    """Return the agreement of the scores by two measures, runs × topics, and the number of pairs or runs compared.

    included  runs × topics: mask of pairs; orderings use the topics that are included for all runs
    readings  of the two measures, for the order of runs
    """
    agreement_of, count = scores_agreement_with(kind, truth, included, readings[0])
    return agreement_of(scores, readings[1]), count


def scores_agreement_with(
    kind: Kind, truth: Floats, included: Bools, reading: kernel.definition.Reading
) -> tuple[Callable[[Floats, kernel.definition.Reading], float], int]:
    """Return `scores_agreement` as a function of the second measure's scores and reading, and the number compared."""
    if kind in BY_TOPIC:
        with_truth = partial(agreement, kind, truth[included])
        return lambda scores, _: with_truth(scores[included]), int(included.sum())
    shared = np.logical_and.reduce(included, axis=0)
    if not shared.any():
        return lambda scores, _: float("nan"), len(truth)
    with_order = partial(agreement, kind, _order_means(truth[:, shared], reading))
    return lambda scores, second_reading: with_order(_order_means(scores[:, shared], second_reading)), len(truth)


def _order_means(scores: Floats, reading: kernel.definition.Reading) -> Floats:
    """Return the mean of each run, more is better; equal up to last bits, which depend on the order of topics."""
    if not np.isfinite(scores).all():
        return np.full(len(scores), np.inf)
    values = reading.sign * reading.tested(scores)
    return merge_close(np.array([math.fsum(row) / len(row) for row in values.tolist()]), TOLERANCE)


# Pictures: a heat map of agreement, and a scatter plot of two measures.


COLUMNS = ("measure", "other", "kind", "agreement")


@public
def plot_correlate(agreement: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the agreement of measures as a heat map with the numbers.

    agreement  the result of `gradedeval.correlate`; or scores, as for `correlate`
    ax         matplotlib axes to draw on; None: the current axes

    Returns the axes. Raises `gradedeval.InputError` as `gradedeval.correlate` does, and (usage) for another frame.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> scores = gradedeval.evaluate(runs, "qrels_samples/rivers.qrels", "err@20 p@10")
    >>> axes = gradedeval.plot.correlate(scores)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['err@20', 'p@10']
    """
    correlated = isinstance(agreement, Correlation) or "agreement" in getattr(agreement, "columns", ())
    result = agreement if correlated else correlate(agreement)
    frame = pictures.require_frame(result, COLUMNS, "correlate", "the frame of correlate")
    return pictures.draw_on(partial(draw_agreement, frame=frame), ax)


def agreement_panel(frame: pd.DataFrame) -> Panel:
    """Return the heat map, as high as wide."""
    return pictures.Panel(partial(draw_agreement, frame=frame), 0.9 + 0.36 * max(4, frame["measure"].nunique()))


def scatter_panel(matrix: Matrix) -> Panel:
    """Return the scatter of two measures. Raises InputError (usage) for more or fewer."""
    check_two_measures(matrix)
    return pictures.Panel(partial(draw_scatter, matrix=matrix, columns=_scatter_columns(matrix, None, None)), 3.0)


def draw_agreement(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw the matrix of measures."""
    names = list(dict.fromkeys([*frame["measure"], *frame["other"]]))
    cells = np.full((len(names), len(names)), np.nan)
    for measure, second, value in zip(frame["measure"], frame["other"], frame["agreement"], strict=True):
        cells[names.index(measure), names.index(second)] = value
    # Colors start at the lowest agreement, so that cells differ; with disagreement, white is 0.
    lowest = float(np.min(cells[np.isfinite(cells)], initial=1))
    low = -1.0 if lowest < 0 else min(lowest, 0.95)
    ax.imshow(cells, cmap="RdBu" if lowest < 0 else "Blues", vmin=low, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(cells):
        depth = abs(value) if lowest < 0 else (value - low) / (1 - low)
        text = "—" if np.isnan(value) else f"{value:.2f}"
        size = "medium" if len(names) <= 8 else "x-small"
        color = "white" if depth > 0.6 else "black"
        ax.text(column, row, text, ha="center", va="center", color=color, fontsize=size)
    labels = [pictures.label_text(name) for name in names]
    ax.set_xticks(range(len(names)), labels, rotation=90 if max(map(len, labels)) * len(names) > 36 else 0)
    ax.set_yticks(range(len(names)), pictures.side_labels(ax, names))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    kinds = list(dict.fromkeys(frame["kind"]))
    label = NAMES.get(kinds[0], kinds[0])
    if len(kinds) > 1:
        label = f"above the diagonal: {label}\nbelow: {NAMES.get(kinds[1], kinds[1])}"
    falling = [pictures.label_text(name) for name in names if pictures.lower_is_better(name)]
    directions = f"\nof {', '.join(falling)} the lower score is the better one" if falling else ""
    ax.set_xlabel(f"{label}{directions}")
    ax.set_ylabel("measure")


@public
def scatter(scores: AnyScores, x: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw a scatter plot of two measures: a point for each run and topic scored by both.

    scores  the result of `gradedeval.evaluate`, or saved scores
    x, y    the measures; None: the first and the second
    ax      matplotlib axes to draw on; None: the current axes

    Returns the axes. Raises `gradedeval.InputError` (usage) for fewer than two measures, and without a common point.

    >>> scores = gradedeval.evaluate("qrels_samples/rivers-bm25.run", "qrels_samples/rivers.qrels", "err@20 p@10")
    >>> axes = gradedeval.plot.scatter(scores)
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('err@20, by run and topic', 'p@10, by run and topic')
    """
    matrix = score_matrix.comparable_matrix(scores)
    return pictures.draw_on(partial(draw_scatter, matrix=matrix, columns=_scatter_columns(matrix, x, y)), ax)


def _scatter_columns(matrix: Matrix, x: Any, y: Any) -> tuple[int, int]:
    """Return the columns of two measures. Raises InputError (usage) without a common point."""
    if len(matrix.measures) < 2:
        raise InputError("plot.scatter", "needs two measures", "evaluate by another too", usage=True)
    columns = (0 if x is None else matrix.measure_index(str(x)), 1 if y is None else matrix.measure_index(str(y)))
    if not _points(matrix, columns).any():
        names = " and ".join(matrix.measures[column] for column in columns)
        raise InputError("plot.scatter", f"no run and topic is scored by both {names}", matrix.hint, usage=True)
    return columns


def _points(matrix: Matrix, columns: tuple[int, int]) -> Any:
    """Return the mask, runs × topics, of points scored by both measures."""
    return matrix.included[:, :, columns].all(2) & np.isfinite(matrix.score[:, :, columns]).all(2)


def draw_scatter(ax: Axes, matrix: Matrix, columns: tuple[int, int]) -> None:
    """Draw the points; of few runs each run in its color."""
    points = _points(matrix, columns)
    few, labels = len(matrix.runs) <= 7, pictures.run_labels(matrix.runs)
    for row, (run, look) in enumerate(zip(matrix.runs, pictures.line_styles(len(matrix.runs)), strict=True)):
        x, y = matrix.score[row, points[row]][:, columns].T
        color = look["color"] if few else pictures.GREY
        ax.scatter(x, y, s=7, marker="osD^vP*"[row % 7] if few else "o", facecolors="none", edgecolors=color,
                   linewidths=0.6, label=labels[run] if few else None)  # fmt: skip
    ax.grid(color=pictures.LIGHT, linewidth=0.4)
    lower = [pictures.LOWER if matrix.reading(column).sign < 0 else "" for column in columns]
    labels_of_axes = [f"{pictures.label_text(matrix.measures[column])}, by run and topic" for column in columns]
    ax.set_xlabel(labels_of_axes[0] + lower[0])
    ax.set_ylabel(labels_of_axes[1] + lower[1])
    if few:
        pictures.legend(ax, runs=matrix.runs)
