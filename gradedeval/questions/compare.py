"""`compare`: pairs of runs by every measure: differences, significance, and whether judging could reverse them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from string import ascii_letters
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import difference_bounds, pairs, replicates, reversals, score_matrix, significance
from gradedeval.analysis.tables import (
    OfScores,
    Row,
    Shown,
    frame_document,
    ratio,
    readings,
    same,
    signature_lines,
    whole,
)
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, np
from gradedeval.errors import InputError, emit_notes, flag, plural, public, shorten, visible
from gradedeval.kernel import (
    AnyMeasure,
    Column,
    Document,
    Layout,
    OptionKwargs,
    Setting,
    Table,
    shares_work,
    takes_options,
)
from gradedeval.questions.shared import Alpha, Correction, Draws, Rope, Seed, Test, against, texts_unused

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.reversals import Reread
    from gradedeval.analysis.score_matrix import AnyScores, Matrix, Paired
    from gradedeval.analysis.significance import TestSettings


Baseline = Annotated["AnyScores | None", against("the first run")]
AllPairs = Annotated[
    bool, Setting("Compare all pairs of runs, each run with those before it, instead of all with a baseline.")
]


# Comparisons and risks -> tables: which columns people see, and how the numbers were made.


@dataclass(frozen=True, eq=False, repr=False)
class Letters(OfScores):
    """Runs by each measure, the best first: the frame of `letters`, the scores that it is of, and how they were tested.

    The columns are measure, run, topics, mean (what `evaluate` gives), same_as (letters: two runs share one if and only
    if no significant difference separates them), best_rank and worst_rank (1 and the number of runs that are
    significantly better; all runs but those that are significantly worse), rank_low and rank_high (the bootstrap
    interval of the rank over samples of topics). Ranks are blank where no direction is preferred.
    """

    scores: Matrix
    tested: TestSettings

    @property
    def aside(self) -> str:
        """How runs were tested, and what letters and ranks are."""
        pairs = len(self.scores.runs) * (len(self.scores.runs) - 1) // 2
        measures = list(dict.fromkeys(self.frame["measure"]))
        tests = dict.fromkeys(self.tested.describe(self.scores.paired(name), pairs) for name in measures)
        settings = self.tested
        said = [
            f"runs that share a letter do not differ significantly at {settings.alpha:g}",
            *tests,
            f"{settings.level} of ranks: bootstrap of topics, {settings.draws} draws, seed {settings.seed}",
            *readings(self.scores, measures, tested=False),
        ]
        return " | ".join(said)

    def document(self, layout: Layout) -> Document:
        """A row for each run and measure."""
        shown: Shown = {
            **same(Column("measure"), Column("run")),
            Column("mean", "score"): whole(self.scores, "mean"),
            Column("same as"): itemgetter("same_as"),
            Column("ranks", "figures"): _ranks("best_rank", "worst_rank"),
            Column(f"{self.tested.level} of ranks", "figures"): _ranks("rank_low", "rank_high"),
        }
        under = signature_lines(self.aside, self.signature)
        return frame_document(self.frame, layout, shown, under, signed=True)


def _ranks(first: str, last: str) -> Any:
    """A range of ranks as text."""

    def shown(row: Row) -> str | None:
        if row[first] is None:
            return None
        return f"{row[first]}" if row[first] == row[last] else f"{row[first]}–{row[last]}"

    return shown


@takes_options("reading")
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
    """Which runs do not differ, by each measure: all pairs are tested, and runs that do not differ share a letter.

    runs            as for `gradedeval.evaluate`; or without `qrels` what that returns, or saved scores
    qrels           as there, and so are `measures`, `like`, `jobs`, `progress` and `keywords`
    test            as of `gradedeval.compare`, bayes aside: the randomized Tukey HSD test compares all pairs at once
    correction      over all pairs of a measure, of tests that do not: holm (default), bonferroni, bh or none
    draws, seed     permutations, and bootstrap samples of topics for the interval of ranks
    alpha           significance level; 1 − alpha is that of the interval of ranks

    Returns `Letters`. Raises InputError as `gradedeval.compare` does. A pair without p, of which the difference is the
    same on all topics, counts as not different; it is reported.
    """
    settings = significance.TestSettings(test, correction, draws, alpha, seed)
    if test == "bayes":
        raise InputError("--test", "bayes gives no p, by which letters go", "choose another test", usage=True)
    matrix, _ = score_matrix.with_baseline(score_matrix.scores_of(runs, qrels, measures, like, keywords), None)
    score_matrix.two_or_more("compare", len(score_matrix.without_seeds("a letter display", matrix).runs))
    measures_paired = [score_matrix.shared_topics(matrix, name) for name in matrix.comparable_measures()]
    found = [_of_measure(paired, settings) for paired in measures_paired]
    pairs = len(matrix.runs) * (len(matrix.runs) - 1) // 2
    emit_notes([*matrix.omission_notes(), *significance.unattainable_notes(measures_paired, pairs, settings)])
    return Letters(kernel.results.joined(found), matrix, settings)


def _of_measure(paired: Paired, settings: TestSettings) -> pd.DataFrame:
    """The rows of one measure, the best run first; equal ones in their order. The best have the first letters."""
    reading, summaries = paired.reading, paired.summaries
    differ = significance.differing(paired, settings)
    order = np.argsort(-reading.sign * summaries, kind="stable").tolist()
    best, worst = ranks(summaries, differ, reading)
    low, high = rank_interval(paired.values, reading.sign, settings.draws, settings.seed, settings.alpha)
    columns: dict[str, Ints] = {"best_rank": best, "worst_rank": worst, "rank_low": low, "rank_high": high}
    frame = kernel.results.to_frame({
        "measure": paired.measure, "run": [paired.runs[run] for run in order], "topics": len(paired.topics),
        "mean": summaries[order], "same_as": shared_letters(differ[np.ix_(order, order)]),
        **{name: values[order] for name, values in columns.items()},
    })  # fmt: skip
    if reading.better == "neither":
        frame[list(columns)] = np.nan
    return frame.astype(dict.fromkeys(columns, "Int64"))


# A compact letter display by insertion and absorption: Piepho, An algorithm for a letter-based representation of
# all-pairwise comparisons, Journal of Computational and Graphical Statistics, 2004.


def shared_letters(differ: Bools) -> list[str]:
    """The letters of each run: two share one if and only if they do not differ. Those of the first runs come first.

    differ  runs × runs, symmetric: whether the difference of two is significant
    """
    runs = len(differ)
    groups = [frozenset(range(runs))]
    for one, other in zip(*np.nonzero(np.triu(differ, 1)), strict=True):
        parted = [group for group in groups if one in group and other in group]
        if parted:
            kept = [group for group in groups if group not in parted]
            groups = _largest([*kept, *(group - {one} for group in parted), *(group - {other} for group in parted)])
    groups = sorted(_needed(groups), key=sorted)
    names = [ascii_letters[number] if number < len(ascii_letters) else f"{number + 1}" for number in range(len(groups))]
    between = " " if len(groups) > len(ascii_letters) else ""
    return [
        between.join(name for name, group in zip(names, groups, strict=True) if run in group) for run in range(runs)
    ]


def _largest(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """The groups that are not within another one."""
    kept: list[frozenset[int]] = []
    for group in sorted(dict.fromkeys(groups), key=len, reverse=True):
        if not any(group <= other for other in kept):
            kept.append(group)
    return kept


def _needed(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """The groups without those of which every pair, or the only run, is in another one too: the smallest go first."""
    kept = list(groups)
    for group in sorted(groups, key=lambda one: (len(one), [-run for run in sorted(one)])):
        others = [other for other in kept if other is not group]
        pairs = [{one, other} for one in group for other in group]
        if all(any(pair <= other for other in others) for pair in pairs):
            kept = others
    return kept


# The ranks that a run can have.


def ranks(score: Floats, differ: Bools, reading: kernel.definition.Reading) -> tuple[Ints, Ints]:
    """The best and the worst rank that each run can have: 1 and the number of runs that are significantly better, and
    all but those that are significantly worse.

    score  of each run
    """
    gains = reading.sign * score
    better = differ & (gains[None] > gains[:, None])
    worse = differ & (gains[None] < gains[:, None])
    return 1 + better.sum(1), len(score) - worse.sum(1)


def rank_interval(values: Floats, sign: int, draws: int, seed: int, alpha: float) -> tuple[Ints, Ints]:
    """The percentile bootstrap interval of the rank of each run, over samples of topics; equal means share the better
    rank.

    values  runs × topics, whose means order the runs
    sign    what they are multiplied by so that more is better
    """
    runs, topics = values.shape
    rng, found, done = np.random.default_rng(seed), np.empty((draws, runs), dtype=np.int64), 0
    while done < draws:
        several = min(256, draws - done)
        times = rng.multinomial(topics, np.full(topics, 1 / topics), size=several)
        means = sign * (times @ values.T) / topics
        found[done : done + several] = 1 + (means[:, None] > means[:, :, None] + TOLERANCE).sum(2)
        done += several
    ends = np.quantile(found, [alpha / 2, 1 - alpha / 2], axis=0, method="inverted_cdf")
    return ends[0].astype(np.int64), ends[1].astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(OfScores):
    """Runs compared pair by pair: the frame of `compare`, the scores that it is of, and how they were tested.

    The columns are measure, run, baseline,
    topics, mean (what `evaluate` gives), baseline_mean, difference (run − baseline), relative (to |baseline_mean|),
    wins, ties, losses (topics), effect (mean difference / deviation), low, high (the interval, obtained by
    inverting the test), p, p_corrected, lowest, highest, same_order, reversing, unjudged,
    reversing_share, reversing_rank, tested.
    `tested` is `difference`, or `ratio` for geometric means: effect and p are then of differences of logarithms, low
    and high are ratios. With bayes, better, equivalent and worse stand in place of p: the probabilities that the true
    difference is above rope, within ±rope, below −rope, or the other way round where lower is better; low and high are
    a credible interval. `lowest` and `highest` are the ends of the difference once all is judged; `same_order`:
    they do not reverse the order. `reversing` is how many `unjudged` documents of the lower run would have to be
    relevant to do so:
    the fewest where what a document adds depends on its rank alone, else a number that suffices; `reversing_share`
    is their share, `reversing_rank` the lowest rank among them. Blank where the order stays the same or runs cannot be
    read again.

    Where runs have replicates `run` and `baseline` are systems, and seeds, sd, baseline_seeds, baseline_sd, se and df
    stand before `tested`, without what judging could do: p and interval are of the mixed model with random topics and
    seeds. p is nan unless both systems have five seeds or more. A system of fewer than three seeds is compared as it
    is: the interval is of its very runs.

    With predictions people, people_low, people_high, machine, lambda_, narrower, times and se stand before low, as in
    `evaluate`, of differences, and others, how many topics the machine alone judged, behind topics. The difference is
    estimated from those by topic, and may be another than that of the two means, which are estimated each by itself.
    Wins and effect are of the topics that people judged.

    `slices` is a frame of the same on the topics of each slice, without what judging could do: see `sliced_frame`. None
    where there are no slices.
    """

    scores: Matrix
    tested: TestSettings
    _reread: Reread | None = None
    slices: pd.DataFrame | None = None

    @property
    def aside(self) -> str:
        """What differences are from, how they were tested, and what the interval is."""
        frame, alpha = self.frame, self.tested.alpha
        tests, measures = pairs.tests_of(frame, self.scores, self.tested), list(dict.fromkeys(frame["measure"]))
        mark = f"* probability ≥ {1 - alpha:.10g}" if self.tested.test == "bayes" else f"* p ≤ {alpha:g}"
        interval, *counted = pairs.interval_words(frame, self.tested)
        against = (
            []
            if len(kernel.results.distinct(frame, "baseline")) > 1
            else [visible(f"baseline {frame['baseline'].iloc[0]}")]
        )
        told = [
            " | ".join([*against, *tests, mark, interval, *readings(self.scores, measures)]),
            *counted,
            *self.slice_words,
        ]
        return "\n".join(told)

    @property
    def remarks(self) -> list[str]:
        """Notes that texts of topics are not shown, and on documents that no run retrieved."""
        unused = texts_unused(self.scores, "rows are of all topics", "`gradedeval diff` shows topics")
        return [*unused, *(pairs.unseen_in(self.frame, self.scores) if "same_order" in self.frame else [])]

    @property
    def slice_words(self) -> list[str]:
        """How slices were tested, and which of them were not."""
        if self.slices is None:
            return []
        topics = dict(zip(self.frame["measure"], _sizes(self.frame), strict=True))
        return _how_sliced(self.slices, self.tested, topics)

    def document(self, layout: Layout, *, judging: bool = False) -> Document:
        """A row for each pair and measure; with anova the analysis of variance too.

        judging  whether people see what more judging could do to the order of each pair, as they do with --unseen
        """
        frame, matrix, count = self.frame, self.scores, len(self.frame) // self.frame["measure"].nunique()
        if matrix.seeds is not None:
            count = int(replicates.are_tested(frame).sum()) // frame["measure"].nunique()
        title = f"p ({self.tested.correction_applied})" if self.tested.corrects(count) else "p"
        pairwise = len(kernel.results.distinct(frame, "baseline")) > 1
        against = [Column("baseline")] if pairwise else []
        more = (matrix.seeds, matrix.machine)  # whose columns stand beside it
        crowded = self.tested.test == "bayes" or any(one is not None for one in more)
        seeds: Shown = SEEDS if matrix.seeds is not None else {}
        of_people = "" if matrix.machine is None else BY_PEOPLE
        interval: Shown = {
            Column(f"{self.tested.level} interval", "figures"): partial(_interval, alpha=self.tested.alpha)
        }
        shown: Shown = {
            **same(Column("measure"), Column("run"), *against),
            **{column: value for column, value in seeds.items() if column.name == "seeds"},
            Column("mean", "score"): whole(matrix, "mean"),
            **{column: value for column, value in seeds.items() if column.name != "seeds"},
            Column("difference", "signed"): whole(matrix, "difference", "+"),
            Column("%", "percent", wide=crowded): itemgetter("relative"),
            **_verdict(self.tested, title, NOT_TESTED if any(one is not None for one in more) else None),
            **(interval if matrix.machine is None else pairs.estimate_columns(matrix, interval)),
            replace(WON, name=WON.name + of_people, wide=crowded): won,
            **({Column("baseline mean", "score", wide=True): whole(matrix, "baseline_mean")} if pairwise else {}),
            Column("effect" + of_people, "signed", digits=2, wide=True): itemgetter("effect"),
        }
        under = signature_lines(self.aside, matrix.signature)
        if layout == "long" and self.slices is not None:
            frame = kernel.results.joined([frame, self.slices])
            frame.insert(3, "slice", frame.pop("slice"))
        document = replace(frame_document(frame, layout, shown, under, signed=True), runs=matrix.runs)
        if layout == "wide" and not pairwise:
            document = replace(document, blocks=[_with_baseline(document.table, frame, matrix)])
        if layout == "wide" and self.slices is not None:
            document = replace(document, blocks=[*document.blocks, *slice_tables(self.slices, shown, self.tested)])
        unseen = None if matrix.scores is None else matrix.scores.options.unseen
        if layout == "wide" and (judging or unseen is not None):
            words = [said] if (said := judging_words(frame, matrix)) else []
            document = replace(document, blocks=[*document.blocks, judging_table(frame, matrix, self._reread), *words])
        if self.tested.test != "anova":
            return document
        variances = frame_document(significance.anova(matrix).frame, layout, ANOVA, "").table
        if layout == "long":
            rows = [dict(zip(variances.names, row, strict=True)) for row in variances.rows]
            return replace(document, head={"anova": rows})
        return replace(document, blocks=[*document.blocks, variances])


SEEDS: Shown = {Column("seeds", "count"): itemgetter("seeds"), Column("± sd", "score"): itemgetter("sd"),
    Column("df", "score", digits=1, wide=True): itemgetter("df")}  # fmt: skip
"""What people see of the seeds of a system."""


def _sizes(frame: pd.DataFrame) -> pd.Series[int]:
    """How many topics each row is of, with those that a machine alone judged."""
    return frame["topics"] + frame["others"] if "others" in frame else frame["topics"]


def _how_sliced(frame: pd.DataFrame, settings: TestSettings, topics: Mapping[str, int]) -> list[str]:
    """How slices were tested, and which of them were not.

    topics  measure -> how many topics are compared by it
    """
    few = frame[frame["topics"] < pairs.LEAST_LABELLED]["slice"].unique().tolist()
    every = frame[_sizes(frame) == frame["measure"].map(topics)]["slice"].unique().tolist()
    kept = frame[replicates.are_tested(frame)] if "df" in frame else frame
    tested = kept["slice"].nunique() - len({*few, *every} & {*kept["slice"]})
    said = []
    if tested and settings.test in significance.NOT_BY_PAIR:
        said.append(f"slices: p times {tested}, the number of slices; an interval is of its slice alone")
    elif tested and settings.test != "bayes" and (over := _over(kept, tested, "slice", settings)):
        said.append(f"slices: {over}; an interval is of its slice and pair alone")
    is_between = frame["p_between"].notna()
    if is_between.any():
        over = _over(frame, frame[is_between]["column"].nunique(), "column", settings)
        drawn = f"between slices: labels permuted over topics, {settings.draws} draws, seed {settings.seed}"
        said.append(f"{drawn}, {over}" if over else drawn)
    if few:
        said.append(f"{shorten(few)}: fewer than {pairs.LEAST_LABELLED} topics, not tested")
    if every:
        said.append(f"{shorten(every)}: all topics, tested above")
    return [" | ".join(said)] if said else []


def _over(frame: pd.DataFrame, count: int, noun: str, settings: TestSettings) -> str:
    """The family that p is corrected over; nothing where there is one test of each measure, or no correction."""
    of_runs = len(frame.drop_duplicates(["run", "baseline"]))
    if settings.correction_applied == "none" or count * of_runs == 1:
        return ""
    over = f"{count} {plural(count, noun)} × {of_runs} {plural(of_runs, 'pair')} of each measure"
    return f"{settings.correction_applied} over {over}"


def slice_tables(found: pd.DataFrame, shown: Shown, tested: TestSettings) -> list[Table]:
    """A table of each column of labels, and one of whether differences depend on the labels.

    shown  the columns of the table of all topics
    """
    tables = list[Table]()
    for column in kernel.results.distinct(found, "column"):
        own, columns = found[found["column"] == column], dict[Column, Callable[[Row], Any]]()
        for one, value in shown.items():
            name = _title(found, tested) if one.name.partition(" ")[0] == "p" else one.name
            columns[replace(one, name=name, wide=one.wide or one.name.startswith((WON.name, "people", "λ")))] = value
            if one.name == "run":
                columns |= {Column(column): itemgetter("label"), Column("topics", "count"): itemgetter("topics")}
        tables.append(_only_table(own, columns))
    known = found[found["p_between"].notna()].drop_duplicates(["measure", "column", "run", "baseline"])
    if not len(known):
        return tables
    correction = tested.correction_applied
    title = f"p ({correction})" if correction != "none" and len(known) > known["measure"].nunique() else "p"
    differ: Shown = {
        **same(Column("measure"), Column("run"), Column("baseline")),
        Column("differs between"): itemgetter("column"),
        Column(title, "figures"): partial(_starred, "p_between_corrected", tested.alpha),
    }
    return [*tables, _only_table(known, differ)]


def _title(frame: pd.DataFrame, settings: TestSettings) -> str:
    """What the column of p of slices is called."""
    if settings.test in significance.NOT_BY_PAIR:
        return "p (× slices)"
    several = len(frame) > frame["measure"].nunique()
    return f"p ({settings.correction_applied})" if several and settings.correction_applied != "none" else "p"


def _only_table(frame: pd.DataFrame, shown: Shown) -> Table:
    return frame_document(frame, "wide", shown, "").table


def _starred(name: str, alpha: float, row: Row, without: str | None = None) -> str | None:
    """p with an asterisk where it reaches the level; what stands there without one."""
    p = row[name]
    return without if p is None else significance.p_value(p) + ("*" if p <= alpha else " ")


def _with_baseline(table: Table, frame: pd.DataFrame, matrix: Matrix) -> Table:
    """The table with the mean of the baseline as the first row of each measure."""
    rows, mean = list[Sequence[Any]](), whole(matrix, "baseline_mean")
    for cells, row in zip(table.rows, kernel.results.to_rows(frame), strict=True):
        if not rows or rows[-1][0] != row["measure"]:
            own = {"measure": row["measure"], "run": row["baseline"], "mean": mean(row)}
            own |= {"seeds": row["baseline_seeds"], "± sd": row["baseline_sd"]} if "df" in row else {}
            rows.append([own.get(name, "—") for name in table.names])
        rows.append(cells)
    return replace(table, rows=rows)


def judging_words(frame: pd.DataFrame, matrix: Matrix) -> str:
    """What is meant by documents that would reverse an order, where some would."""
    reversing = list(dict.fromkeys(frame["measure"][frame["reversing"].notna()]))
    kept = [
        measure
        for measure in reversing
        if difference_bounds.depends_on_unseen(matrix.notations[matrix.measure_index(measure)])
    ]
    what = "reversals judge documents of the run behind, with the top grade"
    said = f"{difference_bounds.IF_JUDGED}: {what}"
    of = f"; of {', '.join(kept)} with R and the ideal ranking as judged" if kept else ""
    return f"{said}{of}" if reversing else ""


def _interval(row: Row, alpha: float) -> str | None:
    """Of a ratio of geometric means, or of a difference; an end of no difference is open where the test rejects it."""
    if row["low"] is None:
        return None
    number, equal = (ratio, 1) if row["tested"] == "ratio" else ("{:+.4f}".format, 0)
    p = row.get("p", 1)
    rejected = p is not None and p <= alpha
    low, high = (
        f"{sign}{number(equal).lstrip('+')}" if rejected and row[end] == equal else number(row[end])
        for end, sign in (("low", ">"), ("high", "<"))
    )
    return f"{low} to {high}"


def won(row: Row) -> str:
    """Only ties where neither score is better."""
    wins, ties, losses = (row[name] for name in ("wins", "ties", "losses"))
    return f"–/{ties}/–" if wins is None else f"{wins}/{ties}/{losses}"


def judging_table(frame: pd.DataFrame, matrix: Matrix, reread: Reread | None) -> Table:
    """Whether more judging could reverse the order of each pair: how low and how high its difference could come."""
    reversible = pairs.reversible_pairs(frame, matrix, reread)
    shown: Shown = {
        **same(Column("measure"), Column("run"), Column("baseline")),
        Column("difference", "signed"): whole(matrix, "difference", "+"),
        Column("lowest", "signed"): whole(matrix, "lowest", "+"),
        Column("highest", "signed"): whole(matrix, "highest", "+"),
        Column(difference_bounds.IF_JUDGED): partial(if_fully_judged, reversible=reversible),
    }
    return _only_table(frame, shown)


def if_fully_judged(row: Row, reversible: frozenset[pairs.Pair] = frozenset()) -> str:
    """Whether judging could reverse the order of two runs, and what it takes.

    reversible  the pairs whose order some judgments reverse
    """
    if row["reversing"] is None:
        return pairs.prospect(row, reversible)
    are = "doc is" if row["reversing"] == row["unjudged"] == 1 else "docs are" if row["reversing"] > 1 else "docs is"
    return f"reverses if {row['reversing']:,} of {row['unjudged']:,} unjudged {are} relevant"


ANOVA: Shown = {
    **same(Column("measure"), Column("source")),
    Column("sum of squares", "score"): itemgetter("squares"),
    **same(Column("df", "count")),
    Column("mean square", "number"): itemgetter("mean_square"),
    Column("F", "score", digits=2): itemgetter("f"),
    Column("p", "figures"): lambda row: None if row["p"] is None else significance.p_value(row["p"]),
}
"""The analysis of variance for people."""


WON = Column("won/tied/lost", "figures")
NOT_TESTED = "—"
"""In place of p, between an estimate or a difference of systems and its interval."""
BY_PEOPLE = " (people)"
"""What follows the name of a column that is of the topics that people judged, beside estimates."""


def _verdict(settings: TestSettings, title: str, without: str | None) -> Shown:
    """p, or the posterior probabilities, with an asterisk where they reach the level; what stands there without p."""
    alpha = settings.alpha
    if settings.test != "bayes":
        return {Column(title, "figures"): partial(_starred, "p_corrected", alpha, without=without)}

    def probability(name: str) -> Callable[[Row], str | None]:
        return lambda row: None if row[name] is None else f"{row[name]:.4f}" + ("*" if row[name] >= 1 - alpha else " ")

    return {Column(f"P({name})", "figures"): probability(name) for name in ("better", "equivalent", "worse")}


# `compare -q`: topics × runs of each measure, with the median, best and worst of all runs.


ACROSS = ("median", "best", "worst")


@dataclass(frozen=True, eq=False, repr=False)
class TopicTable(OfScores):
    """The scores of runs by topic: the frame of `topic_table`, and the scores that it is of."""

    scores: Matrix

    def document(self, layout: Layout) -> Document:
        """A table of topics × runs for each measure."""
        matrix = self.scores
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], matrix.signature)
        blocks: list[Table | str] = []
        for name in matrix.measures:
            own = self.frame[self.frame["measure"] == name]
            scores = own["score"].to_numpy().reshape(-1, len(matrix.runs)).tolist()
            across = own[list(ACROSS)].to_numpy()[:: len(matrix.runs)].tolist()
            topics = own["topic"].tolist()[:: len(matrix.runs)]
            columns = [Column(name), *(Column(run, "score", of_run=True) for run in matrix.runs)]
            columns += [Column(title, "score") for title in ACROSS]
            rows = [[topic, *row, *more] for topic, row, more in zip(topics, scores, across, strict=True)]
            blocks.append(Table(columns, rows))
        return Document(blocks, matrix.signature)


@takes_options("reading", "queries", "replicates")
@public
@shares_work
def topic_table(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> TopicTable:
    """The scores of runs by topic, as in the appendices of TREC, with what all runs reach on each.

    runs            as for `gradedeval.evaluate`; or without `qrels` what that returns, or saved scores
    qrels           as there, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are computed

    Returns `TopicTable`, with a row for each measure, topic and run: measure, topic, run, score, median, best, worst.
    Where lower is better the best is the lowest; the topic `all` has the means (or totals, or geometric means) of each
    column.
    """
    given = score_matrix.scores_of(runs, qrels, measures, like, keywords)
    matrix = score_matrix.comparable(given)
    frames = []
    for column, name in enumerate(matrix.measures):
        paired, reading = matrix.paired(name), matrix.reading(column)
        by_topic = paired.score  # runs × topics
        best, worst = (by_topic.max(0), by_topic.min(0)) if reading.sign > 0 else (by_topic.min(0), by_topic.max(0))
        rows = np.vstack([by_topic, np.median(by_topic, axis=0), best, worst])
        whole = np.column_stack([rows, [float(reading.summarize(row)) for row in rows]])
        topics = [*paired.topics, "all"]
        frames.append(
            kernel.results.to_frame(
                {
                    "measure": name,
                    "topic": np.repeat(topics, len(matrix.runs)),
                    "run": np.tile(matrix.runs, len(topics)),
                    "score": whole[: len(matrix.runs)].T.ravel(),
                    **{
                        part: np.repeat(whole[len(matrix.runs) + at], len(matrix.runs))
                        for at, part in enumerate(ACROSS)
                    },
                }
            )
        )
    return TopicTable(kernel.results.joined(frames), matrix)


# `compare`: pairs of runs by every measure: means, differences, significance, and whether judging could reverse it.


USED = ("unseen", "queries", "slices", "replicates", "predicted")
"""The options of an evaluation that a comparison takes, too."""


def check_runs(runs: int) -> None:
    """Raise InputError (usage) for fewer than two runs."""
    score_matrix.two_or_more("compare", runs, f"add a run or {flag.baseline}")


@takes_options("reading", *USED)
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
    """Compare runs pair by pair, by every measure, on the topics that all runs are scored on.

    runs            as for `gradedeval.evaluate`; or without `qrels` what that returns, or saved scores
    qrels           as there, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are computed
    baseline        what the others are compared with: one of the runs (None: the first), or saved scores of a run
    all_pairs       compare all pairs in its place, each run with those listed before it
    test            randomization, bootstrap (studentized), t, wilcoxon, sign, tukey-hsd, anova or bayes
    correction      over the pairs of a measure: holm (default), bonferroni, bh or none
    draws, seed     permutations, or bootstrap samples, and the seed that they are drawn by
    alpha, rope     significance level; of bayes: means that differ by no more are practically equal; None: 0.01
    judging         without it no run is read again, and what judging could do is blank or rough

    Returns `Comparison`, which lists the columns of its `.frame` and has the `.signature`.
    `.frame.attrs` has the `test` with its correction, `alpha`, the `signature`, and as `if_fully_judged` what these
    columns assume. What is assumed or left out is a warning, `gradedeval.EvaluationWarning`. Raises InputError for
    fewer than two runs, and one topic.

    An interval leaves out 0 where p is no more than alpha; `.frame.attrs["interval"]` says what it is of. Where all
    topics differ alike bootstrap, t, anova and bayes have neither p nor interval, which is reported too.
    """
    settings = significance.TestSettings(test, correction, draws, alpha, seed, rope)
    check_settings(baseline, all_pairs, settings, keywords.get("replicates"), keywords.get("predicted"))
    given = score_matrix.scores_of(runs, qrels, measures, like, keywords, judging, predicts=True)
    matrix, name = score_matrix.with_baseline(given, baseline)
    return compare_scores(matrix, name, all_pairs, settings, judging)


def compare_scores(
    matrix: Matrix, baseline: str | None, all_pairs: bool, settings: TestSettings, judging: bool, keep: bool = False
) -> Comparison:
    """Return the comparison of runs with the baseline, the first if none is named, or of all pairs.

    judging  whether runs are read again, to see what judging could do
    keep     whether the result keeps the runs that are read, for the table of `--judging`
    """
    check_runs(len(matrix.runs))
    _check_test(matrix.seeds, matrix.machine, settings)
    first = None if all_pairs else baseline or matrix.runs[0]
    return compared_pairs(matrix, first, settings, judging, keep=keep)


def check_settings(baseline: Any, all_pairs: bool, settings: TestSettings, replicates: Any, predicted: Any) -> None:
    """Raise InputError (usage) where a baseline is named and all pairs are asked for, and for a test of runs where
    systems of several seeds or estimates are compared."""
    _check_test(replicates, predicted, settings)
    if all_pairs and baseline is not None:
        raise InputError(
            flag.all_pairs, f"cannot be combined with {flag.baseline}", "leave one of them out", usage=True
        )


def check_judging(replicates: Any, predicted: Any) -> None:
    """Raise InputError (usage) for systems of several seeds, or estimates: it is not known what judging could do."""
    hint = f"leave out {flag.judging} and {flag.unseen}"
    if predicted is not None:
        raise InputError(flag.predicted, "what judging could do to estimates is not known", hint, usage=True)
    if replicates is not None:
        raise InputError(flag.replicates, "what judging could do to means over seeds is not known", hint, usage=True)


def _check_test(seeds: Any, machine: Any, settings: TestSettings) -> None:
    """Raise InputError (usage) where systems of several seeds, or estimates, are to be compared by a test of pairs of
    runs."""
    if machine is not None:
        pairs.check_estimates_test(settings.test)
    if seeds is not None:
        replicates.check_test(settings.test)


def compared_pairs(
    matrix: Matrix,
    baseline: str | None,
    settings: TestSettings,
    judging: bool,
    reread: Reread | None = None,
    keep: bool = False,
) -> Comparison:
    """What `compare` finds, of all runs with the baseline, or of all pairs; its notes are told.

    judging  whether it is asked what judging could do: of systems of several seeds that is not known
    reread   the runs, where they have been read for that; None: they are read again
    keep     whether the result keeps them
    """
    reread = (reread or reversals.Reread.of(matrix.scores)) if judging and matrix.machine is None else None
    baselines = [] if baseline is None else [matrix.run_index(baseline)]
    first, second = score_matrix.run_pairs(len(matrix.runs), baselines)
    measures = [score_matrix.shared_topics(matrix, measure) for measure in matrix.comparable_measures()]
    watched = kernel.parallel.progress("measures")(measures)
    compared = partial(pairs.compared, first=first, second=second, settings=settings)
    modelled = matrix.seeds is not None or matrix.machine is not None
    if modelled:
        compared = partial(compared, settles=False, seeds=matrix.seeds)
        frame = kernel.results.joined([compared(paired, reread=None) for paired in watched])
        counts = ("wins", "losses", *(("seeds", "baseline_seeds") if matrix.seeds is not None else ()))
        frame = frame.astype(dict.fromkeys(counts, "Int64"))
    else:
        frame = kernel.results.joined([compared(paired, reread=reread) for paired in watched])
        scored = {paired.measure: paired for paired in measures}
        frame = frame.assign(**reversals.reversal_columns(frame, scored, reread))
        counts = ("wins", "losses", "reversing", "unjudged", "reversing_rank")
        frame = frame.astype({"same_order": "boolean", **dict.fromkeys(counts, "Int64")})
    frame["tested"] = frame.pop("tested")  # the last column
    frame.attrs = _attributes(frame, matrix, settings)
    notes = matrix.omission_notes()
    if modelled:
        notes += pairs.same_notes(frame)
        if matrix.seeds is not None:
            notes += replicates.untested_notes(frame)
        else:
            notes += pairs.heavy_difference_notes(measures, first, second, settings.alpha)
    else:
        notes += [
            *significance.unattainable_notes(measures, len(first), settings),
            *pairs.interval_notes(frame, measures, settings),
        ]
    if judging and not modelled:
        notes += pairs.later_topics(frame, matrix)
    emit_notes(notes)
    sliced = pairs.sliced_frame(matrix, first, second, settings)
    return Comparison(frame, matrix, settings, reread if keep else None, sliced)


def _attributes(frame: pd.DataFrame, matrix: Matrix, settings: TestSettings) -> dict[Any, Any]:
    return {
        "test": "; ".join(pairs.tests_of(frame, matrix, settings)),
        "interval": " | ".join(pairs.interval_words(frame, settings)),
        "if_fully_judged": "; ".join(note.in_python() for note in pairs.unseen_in(frame, matrix)),
        "alpha": settings.alpha,
        "signature": matrix.signature,
    }
