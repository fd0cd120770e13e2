"""`compare`: pairs of runs by every measure: means, differences, significance, and whether the order is known."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis.resampling import bootstrap_interval, tukey_hsd
from gradedeval.analysis.score_matrix import Matrix, Paired, matrix_of
from gradedeval.analysis.significance import (
    CORRECTIONS,
    NOTHING,
    TESTS,
    Correction,
    Test,
    beyond_reach,
    check_choice,
    check_draws,
    corrected,
    drawn,
    effect_size,
    is_drawn,
    least_p,
    p_values,
)
from gradedeval.arrays import Floats, Ints
from gradedeval.errors import EvaluationWarning, InputError
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.scoring.scores import Scores

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Trial:
    """How differences are tested. Raises InputError (usage) where a value is no choice, or two exclude each other.

    test        see `p_values`; `tukey-hsd` is the randomized range test, which corrects for all pairs itself
    correction  see `corrected`; None: holm, and none for tukey-hsd
    draws       permutations, and bootstrap samples of the interval
    alpha       the interval covers 1 − alpha
    seed        of the draws
    """

    test: Test = "randomization"
    correction: Correction | None = None
    draws: int = 10_000
    alpha: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice(self.test, TESTS, "--test")
        if self.correction is not None:
            check_choice(self.correction, CORRECTIONS, "--correction")
        check_draws(self.draws, self.alpha, self.seed)
        if self.test == "tukey-hsd" and self.correction not in (None, "none"):
            what = "tukey-hsd holds for all pairs together as it is"
            raise InputError("--correction", what, "leave out --correction, or take another test", usage=True)

    @property
    def applied(self) -> Correction:
        """The correction that is made."""
        return self.correction or ("none" if self.test == "tukey-hsd" else "holm")

    def described(self, paired: Paired, pairs: int) -> str:
        """What p depends on, for the line under a table."""
        test = drawn(self.test, len(paired.topics), self.draws, self.seed, len(paired.runs))
        family = f"{self.applied} over {pairs} pairs of each measure" if self.applied != "none" and pairs > 1 else ""
        return " | ".join(part for part in (test, family) if part)


def compare(
    scores: Scores | Matrix | pd.DataFrame | str | Path,
    baseline: str | None = None,
    *,
    test: Test = "randomization",
    correction: Correction | None = None,
    draws: int = 10_000,
    alpha: float = 0.05,
    seed: int = 0,
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """Compare runs pair by pair, by every measure, on the topics that all runs keep.

    scores      what `gradedeval.evaluate` returns, with residuals="total" to learn what is not known; or saved scores
    baseline    the run that the others are compared with; None: all pairs, each with the run listed before it
    test        randomization, t, wilcoxon, sign or tukey-hsd; see `p_values` and `tukey_hsd`
    correction  over the pairs of a measure: holm (default), bonferroni, bh or none
    draws       permutations, and bootstrap samples
    alpha       the interval covers 1 − alpha
    seed        of the draws

    Returns a frame with the columns measure, run, baseline, topics, mean, baseline_mean, difference (run − baseline),
    relative (difference / baseline_mean, blank for a mean of 0), wins, ties, losses (topics, of the run), effect (mean
    difference / deviation), low, high (paired bootstrap), p, p_corrected, known. `known` is False where the difference
    of means is no larger than the mean residual of the run behind: what is unjudged could turn the order; blank where
    the measure has no residual. Where no p can come down to alpha a warning of the class `gradedeval.EvaluationWarning`
    says so. Raises InputError where there is nothing to compare, or a measure has one topic alone.
    """
    frame, notes = compared(matrix_of(scores), baseline, Trial(test, correction, draws, alpha, seed), progress)
    for note in notes:
        warnings.warn(note, EvaluationWarning, stacklevel=2)
    return frame


def compared(
    matrix: Matrix, baseline: str | None, trial: Trial, progress: Progress = no_progress
) -> tuple[pd.DataFrame, list[str]]:
    """As `compare`: the frame, and what is to be said of it."""
    if len(matrix.runs) < 2:
        raise InputError("", "two runs or more are compared", "give another run, or --baseline", usage=True)
    first, second = pairs_of(len(matrix.runs), None if baseline is None else matrix.row(baseline))
    import pandas as pd  # not before it is needed

    measures = [tested(matrix, name) for name in matrix.comparable()]
    frames = [pd.DataFrame(_columns(paired, first, second, trial, progress)) for paired in measures]
    return pd.concat(frames, ignore_index=True).astype({"known": "boolean"}), _never(measures, len(first), trial)


def tested(matrix: Matrix, measure: str) -> Paired:
    """The topics that every run keeps by one measure. Raises InputError where they are fewer than two."""
    paired = matrix.of(measure)
    if len(paired.topics) < 2:
        what = f"one topic ({paired.topics[0]}) that all {len(paired.runs)} runs keep, and a test needs two"
        raise InputError(f"measure '{measure}'", what, "take runs with more topics in common")
    return paired


def _never(measures: list[Paired], pairs: int, trial: Trial) -> list[str]:
    """For measures by which no difference, however large, could be significant for want of draws: why, and the cure."""
    causes: dict[tuple[str, str], list[str]] = {}
    for paired in measures:
        topics, runs = len(paired.topics), len(paired.runs)
        if not is_drawn(trial.test, topics, trial.draws, runs):
            continue
        least = np.full(pairs, least_p(trial.test, topics, trial.draws, runs))
        p = float(corrected(least, trial.applied)[0])
        cause = beyond_reach(trial.alpha, p, trial.test, topics, trial.draws, pairs, trial.applied, runs)
        if cause:
            causes.setdefault(cause, []).append(paired.measure)
    return [f"{', '.join(names)}: {what}; {hint}" for (what, hint), names in causes.items()]


def pairs_of(runs: int, baseline: int | None) -> tuple[Ints, Ints]:
    """The baseline and the run of each pair, by their places."""
    if baseline is None:
        first, second = np.triu_indices(runs, 1)
        return first, second
    others = np.array([at for at in range(runs) if at != baseline])
    return np.full(len(others), baseline), others


def differences_of(paired: Paired, first: Ints, second: Ints) -> Floats:
    """pairs × topics: score of the second run − score of the first, 0 where only the last bits differ."""
    differences: Floats = paired.score[second] - paired.score[first]
    differences[np.abs(differences) <= NOTHING] = 0
    return differences


def _columns(paired: Paired, first: Ints, second: Ints, trial: Trial, progress: Progress) -> dict[str, Any]:
    differences = differences_of(paired, first, second)
    means, difference = paired.means, differences.mean(1)
    if trial.test == "tukey-hsd":
        p = tukey_hsd(paired.score, trial.draws, trial.seed, progress)(difference)
    else:
        p = p_values(differences, trial.test, trial.draws, trial.seed, progress)
    low, high = bootstrap_interval(differences, trial.draws, trial.seed, trial.alpha, progress)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(means[first] == 0, np.nan, difference / means[first])
    names = np.array(paired.runs, dtype=object)
    return {
        "measure": paired.measure,
        "run": names[second],
        "baseline": names[first],
        "topics": len(paired.topics),
        "mean": means[second],
        "baseline_mean": means[first],
        "difference": difference,
        "relative": relative,
        "wins": (differences > 0).sum(1),
        "ties": (differences == 0).sum(1),
        "losses": (differences < 0).sum(1),
        "effect": effect_size(differences),
        "low": low,
        "high": high,
        "p": p,
        "p_corrected": corrected(p, trial.applied),
        "known": _known(difference, paired.doubt[first], paired.doubt[second]),
    }


def _known(difference: Floats, first: Floats, second: Floats) -> list[bool | None]:
    """Whether the order of two means is beyond doubt; None where the doubt itself is not known.

    first, second  mean residuals. Where the means are equal either may be behind.
    """
    behind = np.where(difference > 0, first, np.where(difference < 0, second, np.maximum(first, second)))
    known = (np.abs(difference) > behind) | ((difference == 0) & (behind == 0))
    return [None if np.isnan(doubt) else bool(sure) for doubt, sure in zip(behind, known, strict=True)]
