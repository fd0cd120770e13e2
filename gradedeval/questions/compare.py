"""`compare`: differences of runs by each measure, their significance, and bounds under further judging."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from operator import itemgetter
from string import ascii_letters
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import difference_bounds, pairs, replicates, reversals, score_matrix, significance, tables
from gradedeval.analysis.tables import DisplayColumns, Row, ScoredFrame, frame_document, plain_columns, total_formatter
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, np
from gradedeval.errors import InputError, emit_notes, flag, plural, public, shorten, visible
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, OptionKwargs, Setting, Table, shares_work
from gradedeval.questions.shared import Alpha, Correction, Draws, Rope, Seed, Test, baseline_setting, texts_unused

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.reversals import RereadRuns
    from gradedeval.analysis.score_matrix import AnyScores, Matrix, Paired
    from gradedeval.analysis.significance import TestSettings


Baseline = Annotated["AnyScores | None", baseline_setting("the first run")]
AllPairs = Annotated[bool, Setting("Compare all pairs of runs, each run with the runs before it, instead of each run "
    "with the baseline.", short="Compare all pairs of runs.")]  # fmt: skip


# Letters: one row for each run; runs that do not differ share a letter.


@dataclass(frozen=True, eq=False, repr=False)
class Letters(ScoredFrame):
    """A letter display of runs: `frame`, the scores of the runs, and the settings of the test.

    `frame` has a row for each measure and run, the best run first. Its columns: measure, run, topics, mean (as from
    `evaluate`), same_as, best_rank, worst_rank, rank_low, rank_high.

    `same_as` has letters: two runs share a letter if and only if they do not differ significantly. `best_rank` is 1 +
    the number of significantly better runs, `worst_rank` the number of runs − the number of significantly worse runs.
    `rank_low` and `rank_high` are the ends of a bootstrap interval of the rank, over samples of topics. Ranks are blank
    if neither higher nor lower scores are better.
    """

    scores: Matrix
    settings: TestSettings

    @property
    def settings_text(self) -> str:
        """The line under the table: tests, intervals, and the direction of measures."""
        settings, pair_count = self.settings, comb(len(self.scores.runs), 2)
        measures = list(dict.fromkeys(self.frame["measure"]))
        tests = dict.fromkeys(settings.describe(self.scores.paired(measure), pair_count) for measure in measures)
        parts = [
            f"runs that share a letter do not differ significantly at {settings.alpha:g}",
            *tests,
            f"{settings.level} of ranks: bootstrap of topics, {settings.draws} draws, seed {settings.seed}",
            *tables.describe_readings(self.scores, measures, tested=False),
        ]
        return " | ".join(parts)

    def document(self, layout: Layout) -> Document:
        """Return a table with a row for each measure and run."""
        columns: DisplayColumns = {
            **plain_columns(Column("measure"), Column("run")),
            Column("mean", "score"): total_formatter(self.scores, "mean"),
            Column("same as"): itemgetter("same_as"),
            Column("ranks", "figures"): _format_ranks("best_rank", "worst_rank"),
            Column(f"{self.settings.level} of ranks", "figures"): _format_ranks("rank_low", "rank_high"),
        }
        signature = tables.signature_lines(self.settings_text, self.signature)
        return frame_document(self.frame, layout, columns, signature, signed=True)


def _format_ranks(first: str, last: str) -> Callable[[Row], str | None]:
    """Return a function that formats the ranks in columns `first` and `last` of a row as a range."""

    def format_row(row: Row) -> str | None:
        if row[first] is None:
            return None
        return f"{row[first]}" if row[first] == row[last] else f"{row[first]}–{row[last]}"

    return format_row


@kernel.takes_options("reading")
@public
@shares_work
def letters(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    test: Test = "tukey-hsd",
    correction: Correction = None,
    draws: Draws = 10_000,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Letters:
    """Test all pairs of runs by each measure and give the same letter to runs that do not differ.

    runs            as for `gradedeval.evaluate`; without `qrels`: results of `evaluate` or saved scores, one or a list
    qrels           as for `evaluate`, as well as `measures`, `like`, `jobs`, `progress` and `keywords`
    test            as for `gradedeval.compare`, except bayes; the randomized Tukey HSD test compares all pairs at once
    correction      over all pairs of a measure, for tests of single pairs: holm (default), bonferroni, bh or none
    draws, seed     number of permutations, and of bootstrap samples for the interval of ranks; seed of the generator
    alpha           significance level; the interval of ranks has level 1 − alpha

    Returns `Letters`. Raises InputError as `gradedeval.compare` does. If the difference of two runs is the same on all
    topics, there is no p: they count as not different, with a warning.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-bm25-rm3.run", "qrels_samples/rivers-neural.run"]
    >>> result = gradedeval.letters(runs, "qrels_samples/rivers.qrels", "err@20", draws=1000)
    >>> result.frame[["run", "mean", "same_as"]].round(3)
                       run   mean same_as
    0    rivers-neural.run  0.718       a
    1  rivers-bm25-rm3.run  0.381       b
    2      rivers-bm25.run  0.289       b
    """
    settings = significance.TestSettings(test, correction, draws, alpha, seed)
    if test == "bayes":
        raise InputError("--test", "bayes gives no p, which letters need", "choose another test", usage=True)
    scores = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords, omits=True)
    matrix = score_matrix.comparable_matrix(scores)
    score_matrix.require_single_runs("a letter display", matrix)
    score_matrix.require_two_runs("compare", len(matrix.runs))
    by_measure = [score_matrix.shared_topics(matrix, measure) for measure in matrix.comparable_measures()]
    frame = kernel.results.joined([_letter_rows(paired, settings) for paired in by_measure])
    notes = significance.unattainable_notes(by_measure, comb(len(matrix.runs), 2), settings)
    emit_notes([*matrix.omission_notes(), *notes])
    return Letters(frame, matrix, settings)


def _letter_rows(paired: Paired, settings: TestSettings) -> pd.DataFrame:
    """Return the rows of one measure, the best run first; runs with equal means keep their order."""
    reading, means = paired.reading, paired.summaries
    differ = significance.significant_differences(paired, settings)
    order = np.argsort(-reading.sign * means, kind="stable").tolist()
    best, worst = significance_ranks(means, differ, reading)
    low, high = rank_interval(paired.values, reading.sign, settings.draws, settings.seed, settings.alpha)
    ranks: dict[str, Ints] = {"best_rank": best, "worst_rank": worst, "rank_low": low, "rank_high": high}
    frame = kernel.results.to_frame({
        "measure": paired.measure, "run": [paired.runs[run] for run in order], "topics": len(paired.topics),
        "mean": means[order], "same_as": shared_letters(differ[np.ix_(order, order)]),
        **{name: values[order] for name, values in ranks.items()},
    })  # fmt: skip
    if reading.better == "neither":
        frame[list(ranks)] = np.nan
    return frame.astype(dict.fromkeys(ranks, "Int64"))


# A compact letter display by insertion and absorption: Piepho, An algorithm for a letter-based representation of
# all-pairwise comparisons, Journal of Computational and Graphical Statistics, 2004.


def shared_letters(differ: Bools) -> list[str]:
    """Return the letters of each run: two runs share a letter if and only if they do not differ significantly.

    differ  runs × runs, symmetric: whether two runs differ significantly

    Letters are given in the order of the runs: the first run has "a".
    """
    count = len(differ)
    groups = [frozenset(range(count))]
    for first, second in zip(*np.nonzero(np.triu(differ, 1)), strict=True):
        with_both = [group for group in groups if first in group and second in group]
        if with_both:
            intact = [group for group in groups if group not in with_both]
            halves = [group - {run} for run in (first, second) for group in with_both]
            groups = _maximal([*intact, *halves])
    groups = sorted(_without_redundant(groups), key=sorted)
    separator = "" if len(groups) <= len(ascii_letters) else " "
    names = [ascii_letters[n] if n < len(ascii_letters) else f"{n + 1}" for n in range(len(groups))]
    return [
        separator.join(name for name, group in zip(names, groups, strict=True) if run in group) for run in range(count)
    ]


def _maximal(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Return the groups that are not subsets of another group."""
    maximal: list[frozenset[int]] = []
    for group in sorted(dict.fromkeys(groups), key=len, reverse=True):
        if not any(group <= larger for larger in maximal):
            maximal.append(group)
    return maximal


def _without_redundant(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Remove redundant groups, the smallest first. A group is redundant if each of its pairs of runs, or its only run,
    is in another group."""
    remaining = list(groups)
    for group in sorted(groups, key=lambda runs: (len(runs), [-run for run in sorted(runs)])):
        others = [candidate for candidate in remaining if candidate is not group]
        pairs_in_group = [{first, second} for first in group for second in group]
        if all(any(pair <= candidate for candidate in others) for pair in pairs_in_group):
            remaining = others
    return remaining


def significance_ranks(scores: Floats, differ: Bools, reading: kernel.definition.Reading) -> tuple[Ints, Ints]:
    """Return, for each run, the best and the worst rank that the test allows: 1 + the number of significantly
    better runs, and the number of runs − the number of significantly worse runs.

    scores  the score of each run
    differ  runs × runs: whether two runs differ significantly
    """
    oriented = reading.sign * scores  # higher is better
    better = differ & (oriented[None] > oriented[:, None])
    worse = differ & (oriented[None] < oriented[:, None])
    return 1 + better.sum(1), len(scores) - worse.sum(1)


def rank_interval(values: Floats, sign: int, draws: int, seed: int, alpha: float) -> tuple[Ints, Ints]:
    """Return the percentile bootstrap interval of the rank of each run, over samples of topics. Equal means share the
    better rank.

    values  runs × topics: scores; in each sample, runs are ranked by their means
    sign    −1 if lower values are better, else 1
    """
    runs, topics = values.shape
    rng = np.random.default_rng(seed)
    sampled_ranks = np.empty((draws, runs), dtype=np.int64)
    for start in range(0, draws, 256):
        batch = sampled_ranks[start : start + 256]
        drawn_counts = rng.multinomial(topics, np.full(topics, 1 / topics), size=len(batch))
        means = sign * (drawn_counts @ values.T) / topics
        batch[:] = 1 + (means[:, None] > means[:, :, None] + TOLERANCE).sum(2)
    ends = np.quantile(sampled_ranks, [alpha / 2, 1 - alpha / 2], axis=0, method="inverted_cdf")
    return ends[0].astype(np.int64), ends[1].astype(np.int64)


# Comparisons as tables.


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoredFrame):
    """Differences between runs, pair by pair: `frame`, the scores of the runs, and the settings of the test.

    Columns of `frame`: measure, run, baseline, topics, mean (as from `evaluate`), baseline_mean, difference (run −
    baseline), relative (difference / |baseline_mean|), wins, ties, losses (numbers of topics), effect (mean difference
    / standard deviation), low, high (interval, by inverting the test), p, p_corrected, lowest, highest, same_order,
    reversing, unjudged, reversing_share, reversing_rank, tested.

    `tested` names the tested quantity: `difference`, or `ratio` for geometric means: effect and p are then computed
    from differences of logarithms, and low and high bound the ratio. With test="bayes", better, equivalent and worse
    replace p: the posterior probabilities of a true difference above rope, within ±rope and below −rope (better and
    worse are exchanged if lower is better); low and high are the ends of a credible interval.

    `lowest` and `highest` bound the difference after all documents are judged; `same_order` is True if no judging can
    reverse the order. There are `reversing` of the `unjudged` documents of the trailing run that reverse the order if
    all of them are relevant. No fewer do if the contribution of a document depends on its own grade and rank alone; for
    other measures fewer may suffice. `reversing_share` is reversing / unjudged, `reversing_rank` the deepest rank of
    these documents. The four columns from `reversing` to `reversing_rank` are blank if judging cannot reverse the
    order, or if runs cannot be read again.

    With replicates, `run` and `baseline` are systems; seeds, sd, baseline_seeds, baseline_sd, se and df precede
    `tested`, and the columns on judging are absent. p and interval come from a mixed model with random topics and
    seeds. p is nan unless both systems have at least five seeds. The interval of a system with fewer than three seeds
    holds for these seeds alone.

    With predictions, each difference is an estimate from judgments of people and of a machine. The columns about
    estimates of `Scores.frame` precede `low`, for the difference: people, people_low, people_high, machine, lambda_,
    narrower, times and se. `others`, after `topics`, is the number of topics judged by the machine alone. An estimate
    is computed from the differences by topic, and may deviate from the difference of the two estimated means. Wins and
    effect cover the topics judged by people.

    `slices` has a row for each pair, measure and slice, without columns on judging; None without slices.
    """

    scores: Matrix
    settings: TestSettings
    _reread: RereadRuns | None = None
    _judging: bool = False
    slices: pd.DataFrame | None = None

    @property
    def settings_text(self) -> str:
        """The lines under the table: the baseline, tests, intervals, and slices."""
        frame, alpha = self.frame, self.settings.alpha
        tests, measures = pairs.describe_tests(frame, self.scores, self.settings), list(dict.fromkeys(frame["measure"]))
        mark = f"* probability ≥ {1 - alpha:.10g}" if self.settings.test == "bayes" else f"* p ≤ {alpha:g}"
        interval, *more_lines = pairs.describe_intervals(frame, self.settings)
        baseline = [] if self._baselines_vary else [visible(f"baseline {frame['baseline'].iloc[0]}")]
        line = " | ".join([*baseline, *tests, mark, interval, *tables.describe_readings(self.scores, measures)])
        return "\n".join([line, *more_lines, *self.slice_settings])

    @property
    def remarks(self) -> list[str]:
        """Notes on unused texts of topics and on documents that no run retrieved."""
        unused = texts_unused(self.scores, "rows are of all topics", "`gradedeval diff` shows topics")
        shows_judging = self._judging and not self._has_replicates_or_estimates
        return [*unused, *(pairs.unseen_notes(self.frame, self.scores) if shows_judging else [])]

    @property
    def slice_settings(self) -> list[str]:
        """The line on the tests of slices and between slices, and on untested slices."""
        slices, settings = self.slices, self.settings
        if slices is None:
            return []
        all_topics = dict(zip(self.frame["measure"], _topic_counts(self.frame), strict=True))
        small = slices[slices["topics"] < pairs.LEAST_LABELLED]["slice"].unique().tolist()
        whole = slices[_topic_counts(slices) == slices["measure"].map(all_topics)]["slice"].unique().tolist()
        tested = slices[replicates.are_tested(slices)] if "df" in slices else slices
        count = len({*tested["slice"]} - {*small, *whole})
        parts = []
        if count and settings.test in significance.SIMULTANEOUS:
            parts.append(f"slices: p times {count}, the number of slices; an interval is of its slice alone")
        elif count and settings.test != "bayes" and (family := _correction_family(tested, count, "slice", settings)):
            parts.append(f"slices: {family}; an interval is of its slice and pair alone")
        between_slices = slices[slices["p_between"].notna()]
        if len(between_slices):
            family = _correction_family(slices, between_slices["column"].nunique(), "column", settings)
            method = f"between slices: labels permuted over topics, {settings.draws} draws, seed {settings.seed}"
            parts.append(f"{method}, {family}" if family else method)
        if small:
            parts.append(f"{shorten(small)}: fewer than {pairs.LEAST_LABELLED} topics, not tested")
        if whole:
            parts.append(f"{shorten(whole)}: all topics, tested above")
        return [" | ".join(parts)] if parts else []

    @property
    def _baselines_vary(self) -> bool:
        """Whether rows have different baselines."""
        return len(kernel.results.distinct(self.frame, "baseline")) > 1

    @property
    def _has_replicates_or_estimates(self) -> bool:
        """Whether runs are replicates, or scores are estimates from predictions."""
        return self.scores.seeds is not None or self.scores.machine is not None

    def document(self, layout: Layout, *, judging: bool = False) -> Document:
        """Return a table with a row for each pair and measure; with anova, also the analysis of variance.

        judging  add a table that says of each pair whether judging could reverse it; always added with `unseen`
        """
        frame, matrix = self.frame, self.scores
        if layout == "long" and self.slices is not None:
            frame = kernel.results.joined([frame, self.slices])
            frame.insert(3, "slice", frame.pop("slice"))
        columns, signature = self._columns(), tables.signature_lines(self.settings_text, matrix.common_signature)
        document = frame_document(frame, layout, columns, signature, signed=True)
        has_anova = self.settings.test == "anova"
        anova = [frame_document(significance.anova(matrix).frame, layout, ANOVA, "").table] if has_anova else []
        if layout == "long":
            rows = [dict(zip(table.names, row, strict=True)) for table in anova for row in table.rows]
            return replace(document, head={"anova": rows}) if anova else document
        table = document.table if self._baselines_vary else _insert_baseline(document.table, frame, matrix)
        blocks: list[Table | str] = [table]
        if self.slices is not None:
            blocks += slice_tables(self.slices, columns, self.settings)
        if judging or (matrix.scores is not None and matrix.scores.options.unseen is not None):
            legend = judging_legend(frame, matrix)
            blocks += [judging_table(frame, matrix, self._reread), *([legend] if legend else [])]
        return replace(document, blocks=[*blocks, *anova])

    def _columns(self) -> DisplayColumns:
        """Return the columns of the displayed table."""
        frame, matrix, settings = self.frame, self.scores, self.settings
        tested_rows = len(frame) if matrix.seeds is None else int(replicates.are_tested(frame).sum())
        corrected = settings.corrects(tested_rows // frame["measure"].nunique())
        p_title = f"p ({settings.correction_applied})" if corrected else "p"
        crowded = settings.test == "bayes" or self._has_replicates_or_estimates
        suffix = "" if matrix.machine is None else BY_PEOPLE
        format_row_interval = partial(format_interval, settings.alpha)
        interval: DisplayColumns = {Column(f"{settings.level} interval", "figures"): format_row_interval}
        seeds, deviations = ({}, {}) if matrix.seeds is None else (SEEDS, DEVIATIONS)
        return {
            **plain_columns(Column("measure"), Column("run"), *([Column("baseline")] if self._baselines_vary else [])),
            **seeds,
            Column("mean", "score"): total_formatter(matrix, "mean"),
            **deviations,
            Column("difference", "signed"): total_formatter(matrix, "difference", "+"),
            Column("%", "percent", wide=crowded): itemgetter("relative"),
            **_significance_columns(settings, p_title, NOT_TESTED if self._has_replicates_or_estimates else None),
            **(interval if matrix.machine is None else pairs.estimate_columns(matrix, interval)),
            replace(WINS, name=WINS.name + suffix, wide=crowded): format_wins,
            **({Column("baseline mean", "score", wide=True): total_formatter(matrix, "baseline_mean")}
               if self._baselines_vary else {}),
            Column("effect" + suffix, "signed", digits=2, wide=True): itemgetter("effect"),
        }  # fmt: skip


SEEDS: DisplayColumns = {Column("seeds", "count"): itemgetter("seeds")}
"""Column before the mean in a table of replicates."""
DEVIATIONS: DisplayColumns = {
    Column("± sd", "score"): itemgetter("sd"),
    Column("df", "score", digits=1, wide=True): itemgetter("df"),
}
"""Columns after the mean in a table of replicates."""
WINS = Column("won/tied/lost", "figures")
NOT_TESTED = "—"
"""Cell in place of p for an estimate, or for a system of few seeds."""
BY_PEOPLE = " (people)"
"""Suffix of the columns that cover only topics judged by people, in a table of estimates."""
ANOVA: DisplayColumns = {
    **plain_columns(Column("measure"), Column("source")),
    Column("sum of squares", "score"): itemgetter("squares"),
    **plain_columns(Column("df", "count")),
    Column("mean square", "number"): itemgetter("mean_square"),
    Column("F", "score", digits=2): itemgetter("f"),
    Column("p", "figures"): lambda row: None if row["p"] is None else significance.p_value(row["p"]),
}
"""Columns of the analysis of variance."""


def _wide_table(frame: pd.DataFrame, columns: DisplayColumns) -> Table:
    """Return the displayed table of a frame, without the line under it."""
    return frame_document(frame, "wide", columns, "").table


def _significance_columns(settings: TestSettings, title: str, missing: str | None) -> DisplayColumns:
    """Return the column of p-values, with `missing` in place of none; with bayes, the columns of posterior
    probabilities. An asterisk marks significance."""
    alpha = settings.alpha
    if settings.test != "bayes":
        return {Column(title, "figures"): partial(_format_p, "p_corrected", alpha, missing=missing)}

    def probability(name: str) -> Callable[[Row], str | None]:
        return lambda row: None if row[name] is None else f"{row[name]:.4f}" + ("*" if row[name] >= 1 - alpha else " ")

    return {Column(f"P({name})", "figures"): probability(name) for name in ("better", "equivalent", "worse")}


def _format_p(name: str, alpha: float, row: Row, missing: str | None = None) -> str | None:
    """Format the p in column `name` of a row, with an asterisk if it is at most alpha."""
    p = row[name]
    return missing if p is None else significance.p_value(p) + ("*" if p <= alpha else " ")


def format_interval(alpha: float, row: Row) -> str | None:
    """Format the interval of a difference or ratio. If p ≤ alpha, an end of 0 (1 for a ratio) is excluded: >0 or <0."""
    if row["low"] is None:
        return None
    format_number, null_value = (tables.format_ratio, 1) if row["tested"] == "ratio" else ("{:+.4f}".format, 0)
    p = row.get("p", 1)
    rejected = p is not None and p <= alpha
    low, high = (
        f"{sign}{format_number(null_value).lstrip('+')}"
        if rejected and row[end] == null_value
        else format_number(row[end])
        for end, sign in (("low", ">"), ("high", "<"))
    )
    return f"{low} to {high}"


def format_wins(row: Row) -> str:
    """Format the topics won, tied and lost; for a measure without a preferred direction only the ties."""
    wins, ties, losses = (row[name] for name in ("wins", "ties", "losses"))
    return f"–/{ties}/–" if wins is None else f"{wins}/{ties}/{losses}"


def _insert_baseline(table: Table, frame: pd.DataFrame, matrix: Matrix) -> Table:
    """Return the table with the mean of the baseline as the first row of each measure."""
    rows, mean = list[Sequence[Any]](), total_formatter(matrix, "baseline_mean")
    for cells, row in zip(table.rows, kernel.results.to_rows(frame), strict=True):
        if not rows or rows[-1][0] != row["measure"]:
            baseline = {"measure": row["measure"], "run": row["baseline"], "mean": mean(row)}
            baseline |= {"seeds": row["baseline_seeds"], "± sd": row["baseline_sd"]} if "df" in row else {}
            rows.append([baseline.get(name, "—") for name in table.names])
        rows.append(cells)
    return replace(table, rows=rows)


# Slices: the same comparisons on the topics of each label.


def _topic_counts(frame: pd.DataFrame) -> pd.Series[int]:
    """Return the number of topics of each row, including topics judged by the machine alone."""
    return frame["topics"] + frame["others"] if "others" in frame else frame["topics"]


def _correction_family(frame: pd.DataFrame, count: int, noun: str, settings: TestSettings) -> str:
    """Describe the family of tests for which p is corrected; "" without correction, or for a single test."""
    pair_count = len(frame.drop_duplicates(["run", "baseline"]))
    if settings.correction_applied == "none" or count * pair_count == 1:
        return ""
    family = f"{count} {plural(count, noun)} × {pair_count} {plural(pair_count, 'pair')} of each measure"
    return f"{settings.correction_applied} over {family}"


def slice_tables(slices: pd.DataFrame, columns: DisplayColumns, settings: TestSettings) -> list[Table]:
    """Return a table for each column of labels, and one of the tests for differences between slices."""
    p_title = "p (× slices)" if settings.test in significance.SIMULTANEOUS else _p_title(slices, settings)
    by_column = list[Table]()
    for label_column in kernel.results.distinct(slices, "column"):
        slice_columns = dict[Column, Callable[[Row], Any]]()
        for column, format_cell in columns.items():
            name = p_title if column.name.partition(" ")[0] == "p" else column.name
            wide = column.wide or column.name.startswith((WINS.name, "people", "λ"))
            slice_columns[replace(column, name=name, wide=wide)] = format_cell
            if column.name == "run":
                slice_columns[Column(label_column)] = itemgetter("label")
                slice_columns[Column("topics", "count")] = itemgetter("topics")
        by_column.append(_wide_table(slices[slices["column"] == label_column], slice_columns))
    between_slices = slices[slices["p_between"].notna()].drop_duplicates(["measure", "column", "run", "baseline"])
    if not len(between_slices):
        return by_column
    format_p = partial(_format_p, "p_between_corrected", settings.alpha)
    columns_between: DisplayColumns = {
        **plain_columns(Column("measure"), Column("run"), Column("baseline")),
        Column("differs between"): itemgetter("column"),
        Column(_p_title(between_slices, settings), "figures"): format_p,
    }
    return [*by_column, _wide_table(between_slices, columns_between)]


def _p_title(tests: pd.DataFrame, settings: TestSettings) -> str:
    """Return the title of the column of p, with the correction if a measure has several tests."""
    correction = settings.correction_applied
    return f"p ({correction})" if correction != "none" and len(tests) > tests["measure"].nunique() else "p"


# Further judging: whether it could reverse the order of two runs.


def judging_table(frame: pd.DataFrame, matrix: Matrix, reread: RereadRuns | None) -> Table:
    """Return a table of the bounds of each difference, and whether further judging could reverse the order."""
    reversible = pairs.reversible_pairs(frame, matrix, reread)
    columns: DisplayColumns = {
        **plain_columns(Column("measure"), Column("run"), Column("baseline")),
        Column("difference", "signed"): total_formatter(matrix, "difference", "+"),
        Column("lowest", "signed"): total_formatter(matrix, "lowest", "+"),
        Column("highest", "signed"): total_formatter(matrix, "highest", "+"),
        Column(difference_bounds.IF_JUDGED): partial(describe_reversal, reversible=reversible),
    }
    return _wide_table(frame, columns)


def describe_reversal(row: Row, reversible: frozenset[pairs.Pair] = frozenset()) -> str:
    """Describe whether judging could reverse the order of two runs, and by how many relevant documents, if known."""
    if row["reversing"] is None:
        return pairs.describe_prospect(row, reversible)
    noun, verb = plural(row["unjudged"], "doc"), "is" if row["reversing"] == 1 else "are"
    return f"reversed if {row['reversing']:,} of {row['unjudged']:,} unjudged {noun} {verb} relevant"


def judging_legend(frame: pd.DataFrame, matrix: Matrix) -> str:
    """Return the assumptions of `reversing`, for the line under the table; "" if `reversing` is blank in all rows."""
    measures = list(dict.fromkeys(frame["measure"][frame["reversing"].notna()]))
    if not measures:
        return ""
    notations = {measure: matrix.notations[matrix.measure_index(measure)] for measure in measures}
    ideal_fixed = [measure for measure in measures if difference_bounds.depends_on_unseen(notations[measure])]
    exception = f"; for {', '.join(ideal_fixed)}, R and the ideal ranking stay as judged" if ideal_fixed else ""
    assumption = "a reversal assumes that unjudged documents of the trailing run get the top grade"
    return f"{difference_bounds.IF_JUDGED}: {assumption}{exception}"


# `compare`


EVALUATION_OPTIONS = ("unseen", "queries", "slices", "replicates", "predicted")
"""Options of `evaluate` that `compare` also accepts, besides those of reading."""


@kernel.takes_options("reading", *EVALUATION_OPTIONS)
@public
@shares_work
def compare(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    baseline: Baseline = None,
    all_pairs: AllPairs = False,
    test: Test = "randomization",
    correction: Correction = None,
    draws: Draws = 10_000,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    rope: Rope = None,
    judging: bool = True,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Comparison:
    """Compare runs pair by pair, by each measure, on the topics that all runs are scored on.

    runs            as for `gradedeval.evaluate`; without `qrels`: results of `evaluate` or saved scores, one or a list
    qrels           as for `evaluate`, as well as `measures`, `like`, `jobs`, `progress` and `keywords`
    baseline        the run to compare the others with: the name of a run (None: the first), or saved scores of a run
    all_pairs       compare all pairs instead, each run with the runs before it
    test            randomization, bootstrap (studentized), t, wilcoxon, sign, tukey-hsd, anova or bayes
    correction      over the pairs of a measure: holm (default), bonferroni, bh or none
    draws, seed     number of permutations or bootstrap samples, and the seed of the generator
    alpha, rope     significance level; with bayes, the largest difference that is practically zero (None: 0.01)
    judging         read runs a second time for the columns on judging; False: bounds from residuals, or blank

    Returns `Comparison`, whose docstring explains the columns of `.frame`. `.frame.attrs` has `test` (with its
    correction), `interval`, `alpha`, `signature`, and `if_fully_judged`: assumptions of the columns on judging. Other
    assumptions, and topics or measures left out, are warnings, `gradedeval.EvaluationWarning`. Raises InputError for
    fewer than two runs or two topics.

    An interval excludes 0 if p is at most alpha. If the difference of two runs is the same on all topics, bootstrap, t,
    anova and bayes give neither p nor interval, with a warning.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> comparison = gradedeval.compare(runs, "qrels_samples/rivers.qrels", "err@20", test="t")
    >>> comparison.frame[["run", "difference", "low", "high"]].round(4)
                     run  difference     low    high
    0  rivers-neural.run       0.429  0.3286  0.5293
    """
    settings = significance.TestSettings(test, correction, draws, alpha, seed, rope)
    check_settings(baseline, all_pairs, settings, keywords.get("replicates"), keywords.get("predicted"))
    scores = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords, judging, predicts=True, omits=True)
    matrix, name = score_matrix.with_baseline(scores, baseline)
    return compare_scores(matrix, name, all_pairs, settings, judging)


def check_runs(count: int) -> None:
    """Raise InputError (usage) for fewer than two runs."""
    score_matrix.require_two_runs("compare", count, f"add a run or {flag.baseline}")


def check_settings(baseline: Any, all_pairs: bool, settings: TestSettings, replicates: Any, predicted: Any) -> None:
    """Raise InputError (usage) for a baseline with all pairs, and for a test of single runs with replicates or
    predictions."""
    _check_test(replicates is not None, predicted is not None, settings)
    if all_pairs and baseline is not None:
        problem = f"cannot be combined with {flag.baseline}"
        raise InputError(flag.all_pairs, problem, "leave one of them out", usage=True)


def check_judging(replicates: Any, predicted: Any) -> None:
    """Raise InputError (usage) for replicates or predictions: effects of further judging on them are unknown."""
    hint = f"leave out {flag.judging} and {flag.unseen}"
    if predicted is not None:
        raise InputError(flag.predicted, "effects of judging on estimates are unknown", hint, usage=True)
    if replicates is not None:
        raise InputError(flag.replicates, "effects of judging on means over seeds are unknown", hint, usage=True)


def _check_test(has_replicates: bool, has_predictions: bool, settings: TestSettings) -> None:
    """Raise InputError (usage) for a test that does not apply to replicates or predictions."""
    if has_predictions:
        pairs.check_estimates_test(settings.test)
    if has_replicates:
        replicates.check_test(settings.test)


def compare_scores(
    matrix: Matrix,
    baseline: str | None,
    all_pairs: bool,
    settings: TestSettings,
    judging: bool,
    keep_documents: bool = False,
) -> Comparison:
    """Compare runs with the baseline, by default the first, or all pairs; the rest is as for `compare_pairs`."""
    check_runs(len(matrix.runs))
    _check_test(matrix.seeds is not None, matrix.machine is not None, settings)
    return compare_pairs(
        matrix, None if all_pairs else baseline or matrix.runs[0], settings, judging, keep_documents=keep_documents
    )


def compare_pairs(
    matrix: Matrix,
    baseline: str | None,
    settings: TestSettings,
    judging: bool,
    reread: RereadRuns | None = None,
    keep_documents: bool = False,
) -> Comparison:
    """Compare all runs with the baseline, or all pairs if it is None, and emit the notes.

    judging  whether to read runs a second time for the columns on judging; ignored for replicates and estimates
    reread   the documents of the runs; None: read them now
    keep_documents  keep the documents of the runs in the result
    """
    reread = (reread or reversals.RereadRuns.of(matrix.scores)) if judging and matrix.machine is None else None
    baselines = [] if baseline is None else [matrix.run_index(baseline)]
    first, second = score_matrix.run_pairs(len(matrix.runs), baselines)
    by_measure = [score_matrix.shared_topics(matrix, measure) for measure in matrix.comparable_measures()]
    by_measure_with_progress = kernel.parallel.progress("measures")(by_measure)
    compare_measure = partial(pairs.comparison_frame, first=first, second=second, settings=settings)
    if matrix.seeds is not None or matrix.machine is not None:
        compare_measure = partial(compare_measure, reread=None, judging=False, seeds=matrix.seeds)
        frame = kernel.results.joined([compare_measure(paired) for paired in by_measure_with_progress])
        count_columns = ("wins", "losses", *(("seeds", "baseline_seeds") if matrix.seeds is not None else ()))
        frame = frame.astype(dict.fromkeys(count_columns, "Int64"))
        notes = pairs.no_variance_notes(frame)
        if matrix.seeds is not None:
            notes += replicates.untested_notes(frame)
        else:
            notes += pairs.heavy_difference_notes(by_measure, first, second, settings.alpha)
    else:
        frame = kernel.results.joined([compare_measure(paired, reread=reread) for paired in by_measure_with_progress])
        paired_scores = {paired.measure: paired for paired in by_measure}
        frame = frame.assign(**reversals.reversal_columns(frame, paired_scores, reread))
        count_columns = ("wins", "losses", "reversing", "unjudged", "reversing_rank")
        frame = frame.astype({"same_order": "boolean", **dict.fromkeys(count_columns, "Int64")})
        notes = significance.unattainable_notes(by_measure, len(first), settings)
        notes = [*notes, *pairs.interval_notes(frame, by_measure, settings)]
        notes += pairs.later_judged_topic_notes(frame, matrix) if judging else []
    frame["tested"] = frame.pop("tested")  # the last column
    frame.attrs = _frame_attributes(frame, matrix, settings)
    emit_notes([*matrix.omission_notes(), *notes])
    slices = pairs.sliced_frame(matrix, first, second, settings)
    return Comparison(frame, matrix, settings, reread if keep_documents else None, judging, slices)


def _frame_attributes(frame: pd.DataFrame, matrix: Matrix, settings: TestSettings) -> dict[Any, Any]:
    """Return `frame.attrs`; `compare` explains the keys."""
    return {
        "test": "; ".join(pairs.describe_tests(frame, matrix, settings)),
        "interval": " | ".join(pairs.describe_intervals(frame, settings)),
        "if_fully_judged": "; ".join(note.in_python() for note in pairs.unseen_notes(frame, matrix)),
        "alpha": settings.alpha,
        "signature": matrix.common_signature,
    }
