"""`compare`: pairs of runs by every measure: means, differences, significance, and whether judging could reverse it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis import significance
from gradedeval.analysis.anova import tukey
from gradedeval.analysis.baseline import with_baseline
from gradedeval.analysis.bayes import posterior
from gradedeval.analysis.comparison_notes import (
    interval_notes,
    interval_words,
    later_topics,
    unattainable_notes,
    unseen_in,
)
from gradedeval.analysis.completions.differences import difference_bounds, never_falls
from gradedeval.analysis.completions.reread import Reread
from gradedeval.analysis.completions.settled import settled
from gradedeval.analysis.flips import flip_columns
from gradedeval.analysis.inversion import Tested, agreed, with_interval
from gradedeval.analysis.resampling import tukey_hsd
from gradedeval.analysis.score_matrix import AnyScores, Matrix, Paired, run_pairs, shared_topics, topic_differences
from gradedeval.analysis.significance import NOT_BY_PAIR, Correction, Test, TestSettings
from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError, in_python, warn_caller
from gradedeval.formats.frames import joined, to_frame
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.scoring.summaries import of_mean, summarize

if TYPE_CHECKING:
    import pandas as pd


def compare(
    scores: AnyScores,
    baseline: AnyScores | None = None,
    *,
    test: Test = "randomization",
    correction: Correction | None = None,
    draws: int = 10_000,
    alpha: float = 0.05,
    seed: int = 0,
    rope: float | None = None,
    allow_mismatch: bool = False,
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """Compare runs pair by pair, by every measure, on the topics that all runs are scored on.

    scores          what `gradedeval.evaluate` returns, with residuals="total" to get `conclusive`; or saved scores
    baseline        what the others are compared with: one of the runs, or saved scores of a run, as a file, a DataFrame
                    or `Scores`; None: all pairs, each with the run listed before it
    test            randomization, bootstrap (studentized), t, wilcoxon, sign, tukey-hsd, anova or bayes
    correction      over the pairs of a measure: holm (default), bonferroni, bh or none
    draws, seed     permutations, or bootstrap samples, and the seed that they are drawn by
    alpha           significance level; the level of intervals is 1 − alpha
    rope            of bayes: means that differ by no more are practically equal; None: 0.01
    allow_mismatch  compare saved scores of different qrels or options all the same, with a warning

    Returns a frame with the columns measure, run, baseline, topics, mean (what `evaluate` gives), baseline_mean,
    difference (run − baseline), relative (to |baseline_mean|), wins, ties, losses (topics), effect (mean difference /
    deviation), low, high (the interval: differences that the test does not reject), p, p_corrected, lowest, highest,
    conclusive, flip, unjudged, flip_share, flip_rank, tested. `tested` is `difference`, or `ratio` for geometric means:
    effect and p are then of differences of logarithms, low and high are ratios. With bayes, better, equivalent and
    worse stand in place of p: the probabilities that the true difference is above rope, within ±rope, below −rope, or
    the other way round where lower is better; low and high are a credible interval. `lowest` and `highest` are the ends
    of the difference once all is judged; `conclusive`: they do not reverse the order. `flip` is how many `unjudged`
    documents of the lower run would have to be relevant to do so: the fewest where what a document adds depends on its
    rank alone, else a number that suffices; `flip_share` is their share, `flip_rank` the lowest rank among them. Blank
    where the order is conclusive or runs cannot be read again. `.attrs` has the `test` with its correction, `alpha`,
    the `signature`, and as `if_fully_judged` what these columns assume. What is assumed or left out is a warning,
    `gradedeval.EvaluationWarning`. Raises InputError for fewer than two runs, and one topic.

    An interval leaves out 0 where p is no more than alpha; `.attrs["interval"]` says what it is of. Where all topics
    differ alike bootstrap, t, anova and bayes have neither p nor interval, which is told too.
    """
    settings = TestSettings(test, correction, draws, alpha, seed, rope)
    matrix, name = with_baseline(scores, baseline, allow_mismatch)
    frame, notes = compare_matrix(matrix, name, settings, progress)
    frame.attrs = _attributes(frame, matrix, settings)
    warn_caller([*matrix.omission_notes(), *notes, *later_topics(frame, matrix)])
    return frame


def _attributes(frame: pd.DataFrame, matrix: Matrix, settings: TestSettings) -> dict[Any, Any]:
    return {
        "test": "; ".join(tests_of(frame, matrix, settings)),
        "interval": " | ".join(interval_words(frame, settings)),
        "if_fully_judged": in_python("; ".join(unseen_in(frame, matrix))),
        "alpha": settings.alpha,
        "signature": matrix.signature,
    }


def tests_of(frame: pd.DataFrame, matrix: Matrix, settings: TestSettings) -> list[str]:
    """The tests of all measures in words, each once: those of the number of pairs that a frame has of each."""
    measures = frame["measure"].unique().tolist()
    pairs = len(frame) // len(measures)
    return list(dict.fromkeys(settings.describe(matrix.paired(name), pairs) for name in measures))


def compare_matrix(
    matrix: Matrix,
    baseline: str | None,
    settings: TestSettings,
    progress: Progress = no_progress,
    *,
    judging: bool = True,
) -> tuple[pd.DataFrame, list[str]]:
    """As `compare`: the frame, and notes for the user. Without `judging` its columns of that are blank or rough."""
    if len(matrix.runs) < 2:
        raise InputError("", "compare needs at least two runs", "add a run or --baseline", usage=True)
    first, second = run_pairs(len(matrix.runs), [] if baseline is None else [matrix.run_index(baseline)])
    measures = [shared_topics(matrix, name) for name in matrix.comparable_measures()]
    reread = Reread.of(matrix.scores) if judging else None
    frames = [to_frame(_columns(paired, first, second, settings, reread, progress)) for paired in measures]
    frame = joined(frames)
    frame = frame.assign(**flip_columns(frame, {paired.measure: paired for paired in measures}, reread))
    frame["tested"] = frame.pop("tested")  # the last column
    whole = ("wins", "losses", "flip", "unjudged", "flip_rank")
    frame = frame.astype({"conclusive": "boolean", **dict.fromkeys(whole, "Int64")})
    notes = [*unattainable_notes(measures, len(first), settings), *interval_notes(frame, measures, settings)]
    return frame, notes


def significance_matrix(
    matrix: Matrix, baselines: Sequence[str], settings: TestSettings, progress: Progress = no_progress
) -> tuple[pd.DataFrame, list[str]]:
    """The p values of `compare` alone, of all runs with one baseline or several: a frame with the columns measure, run,
    baseline, topics, p, p_corrected, each pair once; and notes for the user. Corrected over all pairs of a measure.

    Raises InputError as `compare` does. The test is none that gives no p.
    """
    first, second = run_pairs(len(matrix.runs), [matrix.run_index(name) for name in baselines])
    measures = [shared_topics(matrix, name) for name in matrix.comparable_measures()]
    names, frames = np.array(matrix.runs, dtype=object), []
    for paired in measures:
        p = _p_values(paired, topic_differences(paired.values, first, second), settings, progress)
        own = {"measure": paired.measure, "run": names[second], "baseline": names[first], "topics": len(paired.topics)}
        frames.append(to_frame({**own, **p}))
    return joined(frames), unattainable_notes(measures, len(first), settings)


def _columns(
    paired: Paired, first: Ints, second: Ints, settings: TestSettings, reread: Reread | None, progress: Progress
) -> dict[str, Any]:
    summary, summaries = paired.reading.summary, paired.summaries
    differences = topic_differences(paired.values, first, second)
    difference = summarize(differences, summary)
    if summary == "geometric":
        difference = np.where(differences.any(1), summaries[second] - summaries[first], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(summaries[first] == 0, np.nan, difference / np.abs(summaries[first]))
    names = np.array(paired.runs, dtype=object)
    return {
        "measure": paired.measure,
        "run": names[second],
        "baseline": names[first],
        "topics": len(paired.topics),
        "mean": summaries[second],
        "baseline_mean": summaries[first],
        "difference": difference,
        "relative": relative,
        **paired.wins(topic_differences(paired.score, first, second)),
        "effect": significance.effect_size(differences),
        **_inference(paired, differences, settings, progress),
        **_settled(paired, difference, first, second, reread),
        "tested": paired.tested,
    }


def _inference(paired: Paired, differences: Floats, settings: TestSettings, progress: Progress) -> dict[str, Floats]:
    """The interval of each pair, and its p or posterior probabilities."""
    if settings.test == "bayes":
        found = _posterior(paired, differences, settings)
    else:
        p, low, high = _tested(paired, differences, settings, progress)
        corrected = significance.correct_p_values(p, settings.correction_applied)
        found = {"low": low, "high": high, "p": p, "p_corrected": corrected}
    ends = {end: of_mean(found[end], len(paired.topics), paired.reading.summary) for end in ("low", "high")}
    return {**found, **ends}


def _tested(paired: Paired, differences: Floats, settings: TestSettings, progress: Progress) -> Tested:
    """p of each pair and the interval of its mean difference of values."""
    test, draws, seed, alpha = settings.test, settings.draws, settings.seed, settings.alpha
    if test not in NOT_BY_PAIR:
        return with_interval(differences, test, draws, seed, alpha, progress)
    difference = differences.mean(1)
    p, margin = _of_all(paired, difference, settings, progress)
    return agreed(p, difference - margin, difference + margin, differences, alpha)


def _of_all(paired: Paired, difference: Floats, settings: TestSettings, progress: Progress) -> tuple[Floats, float]:
    """p of each pair by a test of all pairs together, and how far their intervals reach to both sides."""
    if settings.test == "anova":
        return tukey(paired.values, difference, settings.alpha)
    return tukey_hsd(paired.values, difference, settings.draws, settings.seed, settings.alpha, progress)


def _p_values(paired: Paired, differences: Floats, settings: TestSettings, progress: Progress) -> dict[str, Floats]:
    """p of each pair, and p corrected for all of them."""
    if settings.test in NOT_BY_PAIR:
        p = _of_all(paired, differences.mean(1), settings, progress)[0]
    else:
        p = significance.p_values(differences, settings.test, settings.draws, settings.seed, progress)
    return {"p": p, "p_corrected": significance.correct_p_values(p, settings.correction_applied)}


def _posterior(paired: Paired, differences: Floats, settings: TestSettings) -> dict[str, Floats]:
    """The rope of totals is for the total, that of a geometric mean a difference of logarithms."""
    rope = settings.rope_applied / (len(paired.topics) if paired.reading.summary == "total" else 1)
    found = posterior(differences, rope, settings.alpha)
    if paired.reading.better == "lower":
        found |= {"better": found["worse"], "worse": found["better"]}
    if paired.reading.better == "neither":
        found |= dict.fromkeys(("better", "worse"), np.full(len(differences), np.nan))
    return found


def _settled(
    paired: Paired, difference: Floats, first: Ints, second: Ints, reread: Reread | None
) -> dict[str, Floats | list[bool | None]]:
    """How low and how high the differences could come, and whether their order is conclusive."""
    lowest, highest = difference_bounds(paired, first, second, reread)
    residuals, rises = paired.residuals, never_falls(paired.measure, reread)
    conclusive = settled(difference, (residuals[first], residuals[second]), (lowest, highest), rises)
    return {"lowest": lowest, "highest": highest, "conclusive": conclusive}
