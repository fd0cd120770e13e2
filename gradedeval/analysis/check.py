"""`check`: runs against bounds, for a CI job that fails when search gets worse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis.bounds import COMPARED, Bound
from gradedeval.analysis.compare import TestSettings, topic_differences
from gradedeval.analysis.score_matrix import Matrix, Paired, to_matrix
from gradedeval.analysis.significance import (
    TOLERANCE,
    Test,
    correct_p_values,
    describe_test,
    min_p,
    p_values,
    unattainable,
)
from gradedeval.arrays import Floats
from gradedeval.errors import InputError, plural
from gradedeval.scoring.scores import Scores

if TYPE_CHECKING:
    import pandas as pd


SHOWN = 5
"""Topics listed of a broken bound."""


@dataclass(frozen=True)
class Verdict:
    """Whether one run satisfies one bound.

    found   what is bounded: the mean score, the drop, the largest drop of a topic, p, or what unjudged documents could
            add to the mean
    passed  whether the bound holds
    says    the verdict as a sentence
    worst   the topics to look at first, with their scores, drops or what they could gain
    """

    run: str
    bound: Bound
    found: float
    passed: bool
    says: str
    worst: tuple[tuple[str, float], ...]

    @property
    def topics(self) -> str:
        """The worst topics in words."""
        return ", ".join(f"{topic} {value:+.4f}" for topic, value in self.worst)

    @property
    def row(self) -> dict[str, Any]:
        """The columns of the frame that `check` returns."""
        return {
            "run": self.run,
            "bound": self.bound.kind,
            "measure": self.bound.measure,
            "limit": self.bound.limit,
            "relative": self.bound.relative,
            "found": self.found,
            "passed": self.passed,
            "says": self.says,
            "worst": self.topics,
        }

    @property
    def line(self) -> str:
        """All of it in one line."""
        worst = f"; worst {plural(len(self.worst), 'topic')}: {self.topics}" if self.worst else ""
        return f"{self.run}: {self.says}{worst}"


def check(
    scores: Scores | Matrix | pd.DataFrame | str | Path,
    bounds: Iterable[Bound],
    baseline: str | None = None,
    *,
    test: Test = "randomization",
    draws: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Hold every run against every bound; bounds on a drop look at the topics that the run and
    the baseline are both scored on.

    scores    what `gradedeval.evaluate` returns, with residuals="total" for `max-unjudged`
    bounds    as in `Bound("min", "err@20", 0.25)`
    baseline  the run that the others are compared with; it is not checked itself
    test      of `significant` bounds, two-sided; Holm's correction over all of them. only a drop breaks them

    Returns a frame with a row for each run and bound: run, bound, measure, limit, relative, found, passed, says, worst
    (the topics to look at first, as text). Raises InputError (usage) if a bound needs a baseline and there is none,
    or a residual that its measure does not have, or if no drop could be significant at its level.
    """
    import pandas as pd  # not before it is needed

    return pd.DataFrame(
        [verdict.row for verdict in verdicts(scores, bounds, baseline, test=test, draws=draws, seed=seed)]
    )


def verdicts(
    scores: Scores | Matrix | pd.DataFrame | str | Path,
    bounds: Iterable[Bound],
    baseline: str | None = None,
    *,
    test: Test = "randomization",
    draws: int = 10_000,
    seed: int = 0,
) -> list[Verdict]:
    """As `check`: the verdicts, run by run, in the order of the bounds."""
    matrix, bounds = to_matrix(scores), list(bounds)
    settings = TestSettings(test, draws=draws, seed=seed)
    for bound in bounds:
        if bound.kind in COMPARED and baseline is None:
            raise _needs_baseline(bound)
    runs = [run for run in matrix.runs if run != baseline]
    if not runs:
        raise InputError("", "the baseline is the only run", "add the run to check", usage=True)
    levels = _levels(matrix, runs, bounds, baseline, settings)
    return [_verdict(matrix, run, bound, baseline, levels) for run in runs for bound in bounds]


def _needs_baseline(bound: Bound) -> InputError:
    place = "" if bound.place.startswith("--") else bound.place  # that of a settings file
    what = f"--{bound.kind} needs a baseline"
    return InputError(place, what, "add --baseline RUN or --baseline SCORES.csv", usage=True)


@dataclass(frozen=True)
class _Levels:
    """p of each (run, measure) with a `significant` bound, and the test in words."""

    p: dict[tuple[str, str], float]
    method: str = ""


def _levels(
    matrix: Matrix, runs: Sequence[str], bounds: Sequence[Bound], baseline: str | None, settings: TestSettings
) -> _Levels:
    wanted = [(run, bound) for run in runs for bound in bounds if bound.kind == "significant"]
    if not wanted or baseline is None:
        return _Levels({})
    if settings.test == "tukey-hsd":
        raise InputError("--test", "tukey-hsd compares all pairs of runs", "choose another test", usage=True)
    pairs = [matrix.select(runs=[baseline, run]).paired(bound.measure) for run, bound in wanted]
    _check_reach(pairs, [bound for _, bound in wanted], settings)
    uncorrected, methods = [], dict[str, None]()
    for both in pairs:
        uncorrected.append(p_values(_differences(both)[None], settings.test, settings.draws, settings.seed)[0])
        methods[describe_test(settings.test, len(both.topics), settings.draws, settings.seed)] = None
    p = correct_p_values(np.array(uncorrected), "holm").tolist()
    family = f", holm over {len(p)}" if len(p) > 1 else ""
    names = [(run, bound.measure) for run, bound in wanted]
    return _Levels(dict(zip(names, p, strict=True)), "; ".join(methods) + family)


def _check_reach(pairs: Sequence[Paired], bounds: Sequence[Bound], settings: TestSettings) -> None:
    """Raise InputError (usage) for a bound that no drop could break: such a check would always pass."""
    smallest = np.array([min_p(settings.test, len(both.topics), settings.draws) for both in pairs])
    for both, bound, p in zip(pairs, bounds, correct_p_values(smallest, "holm").tolist(), strict=True):
        cause = unattainable(bound.limit, p, settings.test, len(both.topics), settings.draws, len(pairs), "holm")
        if cause:
            what, hint = cause
            raise InputError(bound.place or f"significant {bound.measure}", what, hint, usage=True)


def _differences(both: Paired) -> Floats:
    """topics: score of the run − score of the baseline."""
    differences: Floats = topic_differences(both, np.array([0]), np.array([1]))[0]
    return differences


def _verdict(matrix: Matrix, run: str, bound: Bound, baseline: str | None, levels: _Levels) -> Verdict:
    alone = matrix.select(runs=[run]).paired(bound.measure)
    both = None if baseline is None else matrix.select(runs=[baseline, run]).paired(bound.measure)
    if bound.kind == "min":
        found, passed, says = _of_mean(alone, bound)
    elif bound.kind == "max-unjudged":
        column = matrix.measure_index(bound.measure)
        row = matrix.run_index(run)
        return _of_unjudged(run, bound, alone.topics, matrix.unjudged[row, matrix.included[row, :, column], column])
    elif both is None:
        raise _needs_baseline(bound)
    elif bound.kind == "max-drop":
        found, passed, says = _of_drop(both, bound)
    elif bound.kind == "max-topic-drop":
        found, passed, says = _of_topics(both, bound)
    else:
        found, passed, says = _of_test(both, bound, levels.p[run, bound.measure], levels.method)
    worst = _lowest(alone.topics, alone.score[0]) if both is None else _lowest(both.topics, _differences(both), below=0)
    return Verdict(run, bound, found, passed, says, () if passed else worst)


def _lowest(topics: Sequence[str], values: Floats, below: float = np.inf) -> tuple[tuple[str, float], ...]:
    order = np.argsort(values, kind="stable")[:SHOWN].tolist()
    return tuple((topics[index], float(values[index])) for index in order if values[index] < below)


def _of_mean(alone: Paired, bound: Bound) -> tuple[float, bool, str]:
    mean = float(alone.means[0])
    passed = mean >= bound.limit - TOLERANCE
    return mean, passed, f"{bound.measure} {mean:.4f} is {'at least' if passed else 'below'} {bound.limit:g}"


def _moved(both: Paired) -> str:
    before, after = both.means.tolist()
    share = f" ({abs(after - before) / before:.1%})" if before > 0 else ""
    if abs(after - before) <= TOLERANCE:
        return f"{both.measure} unchanged at {after:.4f}"
    what = f"fell by {before - after:.4f}" if after < before else f"rose by {after - before:.4f}"
    return f"{both.measure} {what}{share}, from {before:.4f} to {after:.4f}"


def _of_drop(both: Paired, bound: Bound) -> tuple[float, bool, str]:
    before, after = both.means.tolist()
    drop = before - after
    if bound.relative:
        drop = drop / before if before > 0 else 0.0
    passed = drop <= bound.limit + TOLERANCE
    return drop, passed, _moved(both) + ("" if passed else f", more than {bound.allowed}")


def _of_topics(both: Paired, bound: Bound) -> tuple[float, bool, str]:
    drops = -_differences(both)
    count = int((drops > bound.limit + TOLERANCE).sum())
    largest = max(0.0, float(drops.max()))
    if not count:
        return largest, True, f"{bound.measure} fell by {largest:.4f} at most in a topic"
    what = f"{bound.measure} fell by more than {bound.limit:g} in {count} {plural(count, 'topic')}"
    return largest, False, f"{what} of {len(drops)}"


def _of_test(both: Paired, bound: Bound, p: float, method: str) -> tuple[float, bool, str]:
    before, after = both.means.tolist()
    passed = after >= before or p > bound.limit
    what = "" if passed else f", significant at {bound.limit:g}"
    return p, passed, f"{_moved(both)}, p {p:.4f} ({method}){what}"


def _of_unjudged(run: str, bound: Bound, topics: Sequence[str], unjudged: Floats) -> Verdict:
    if np.isnan(unjudged).any():
        what = f"{bound.measure} has no residual"
        raise InputError(
            bound.place, what, "bound the share of judged documents instead: --min judged@10=0.8", usage=True
        )
    mean = float(unjudged.mean())
    passed = mean <= bound.limit + TOLERANCE
    says = f"unjudged documents could lift {bound.measure} by {mean:.4f}"
    says += "" if passed else f", more than {bound.limit:g}: too few documents are judged"
    largest = tuple((topic, -value) for topic, value in _lowest(topics, -unjudged, below=0))
    return Verdict(run, bound, mean, passed, says, () if passed else largest)
