"""`compare --letters`: a row for each run: which runs it does not differ from, and the ranks that it can have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from string import ascii_letters
from typing import TYPE_CHECKING, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import score_matrix, significance
from gradedeval.analysis.tables import OfScores, Row, Shown, frame_document, readings, same, signature_lines, whole
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, np
from gradedeval.errors import InputError, public, tell
from gradedeval.kernel import Column, Document, Layout, OptionKwargs, Question, Setting, shares_work
from gradedeval.questions.shared import Alpha, Correction, Draws, Seed, Test

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gradedeval.analysis.score_matrix import Matrix, Paired
    from gradedeval.analysis.significance import TestSettings
    from gradedeval.kernel import AnyMeasure


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
    tell([*matrix.omission_notes(), *significance.unattainable_notes(measures_paired, pairs, settings)])
    return Letters(kernel.frames.joined(found), matrix, settings)


def _of_measure(paired: Paired, settings: TestSettings) -> pd.DataFrame:
    """The rows of one measure, the best run first; equal ones in their order. The best have the first letters."""
    reading, summaries = paired.reading, paired.summaries
    differ = significance.differing(paired, settings)
    order = np.argsort(-reading.sign * summaries, kind="stable").tolist()
    best, worst = ranks(summaries, differ, reading)
    low, high = rank_interval(paired.values, reading.sign, settings.draws, settings.seed, settings.alpha)
    columns: dict[str, Ints] = {"best_rank": best, "worst_rank": worst, "rank_low": low, "rank_high": high}
    frame = kernel.frames.to_frame({
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


LETTERS = Question("compare", letters, "matrix", mode=Setting("Print a row for each run: which runs it does not differ "
    "from, as letters that they share, and the ranks that it can have. By Tukey's HSD unless --test names another.",
    name="letters", type=bool), shows=Letters.document)  # fmt: skip
"""The mode of `compare` that asks it."""
