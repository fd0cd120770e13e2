"""`check`: runs against bounds, for a CI job that fails when search gets worse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradedeval.analysis import significance
from gradedeval.analysis.baseline import with_baseline
from gradedeval.analysis.bounds import COMPARED, Bound
from gradedeval.analysis.completions.differences import drop_is_settled
from gradedeval.analysis.completions.reread import Reread
from gradedeval.analysis.score_matrix import AnyScores, Matrix, Paired, topic_differences
from gradedeval.analysis.significance import NOT_BY_PAIR, PAIR_TESTS, Test, TestSettings, p_value
from gradedeval.analysis.unseen import unseen_notes
from gradedeval.analysis.verdict import ALONE, FELL, HIGHEST, LOWEST, OPEN, ROSE, Verdict
from gradedeval.arrays import TOLERANCE, Bools, Floats
from gradedeval.errors import InputError, Note, plural, warn_caller
from gradedeval.formats.frames import to_frame
from gradedeval.scoring.summaries import summarize_rises

if TYPE_CHECKING:
    import pandas as pd


SHOWN = 5
"""Topics listed of a broken bound."""


class Tests(NamedTuple):
    """(run, measure) -> p of its `significant` bound, corrected, and the test in words."""

    p: dict[tuple[str, str], float]
    method: str


def check(
    scores: AnyScores,
    bounds: Iterable[Bound],
    baseline: AnyScores | None = None,
    *,
    test: Test = "randomization",
    draws: int = 10_000,
    seed: int = 0,
    allow_mismatch: bool = False,
) -> pd.DataFrame:
    """Hold every run against every bound; bounds on a drop look at the topics that the run and
    the baseline are both scored on. By a measure of which lower is better a rise is what they bound.

    scores          what `gradedeval.evaluate` returns, with residuals="total" for `max-unjudged`
    bounds          as in `Bound("min", "err@20", 0.25)`
    baseline        what the others are compared with, and is not checked itself: the name of one of the runs, or saved
                    scores of a run, as a file, a DataFrame or `Scores`
    test            of `significant` bounds, two-sided; Holm's correction over all of them. Only a drop breaks them; one
                    that is the same on all topics has no p by t and bootstrap, and is an InputError
    allow_mismatch  compare saved scores of different qrels or options all the same, with a warning

    Returns a frame with a row for each run and bound: run, bound, measure, limit, relative, value, passed, verdict,
    worst (the topics to look at first, as text), topics (how many the value is over), settled (of a drop of the mean
    that breaks a bound: if it is one whatever the unjudged documents of both runs turn out to be; else None, also where
    that is not known). A `min` of a measure of which lower is better, or a `max` of another, is told in a warning of
    the class `gradedeval.EvaluationWarning`. Raises InputError (usage) if a bound needs a baseline and there is none,
    or a residual that its measure does not have, or if no drop could be significant at its level.
    """
    settings, bounds = TestSettings(test, draws=draws, seed=seed), list(bounds)
    matrix, name = with_baseline(scores, baseline, allow_mismatch)
    warn_caller([*baseline_notes(matrix, name), *direction_notes(matrix, bounds)])
    found = verdicts(matrix, bounds, name, settings)
    warn_caller(judging_notes(matrix, found))
    return to_frame([verdict.row for verdict in found])


def baseline_notes(matrix: Matrix, baseline: str | None) -> list[str]:
    """A note where the baseline lacks topics that a run is scored on: no drop is seen there."""
    if baseline is None:
        return []
    known: Bools = np.logical_or.reduce(~np.isnan(matrix.score), axis=2)
    has = known[matrix.run_index(baseline)]
    scored = np.delete(known, matrix.run_index(baseline), 0).any(0)
    count, of = int((scored & has).sum()), int(scored.sum())
    if count == of:
        return []
    what = f"baseline '{baseline}' has scores of {count} of {of} {plural(of, 'topic')}: no drop is seen on the others"
    return [Note(what, f"--min-topics {of} makes that an error", kind="baseline-topics")]


def verdicts(matrix: Matrix, bounds: Sequence[Bound], baseline: str | None, settings: TestSettings) -> list[Verdict]:
    """As `check`: the verdicts, run by run, in the order of the bounds."""
    for bound in bounds:
        if bound.kind in COMPARED and baseline is None:
            place = "" if bound.place.startswith("--") else bound.place  # that of a settings file
            hint = "add --baseline RUN or --baseline SCORES.csv"
            raise InputError(place, f"--{bound.kind} needs a baseline", hint, usage=True)
    runs = [run for run in matrix.runs if run != baseline]
    if not runs:
        raise InputError("", "the baseline is the only run", "add the run to check", usage=True)
    tests, reread = _tests(matrix, runs, bounds, baseline, settings), Reread.of(matrix.scores)
    found = [_verdict(matrix, run, bound, baseline, tests) for run in runs for bound in bounds]
    return found if baseline is None else [_with_settled(matrix, verdict, baseline, reread) for verdict in found]


def judging_notes(matrix: Matrix, found: Iterable[Verdict]) -> list[Note]:
    """What is taken for granted where a verdict says whether judging could reverse a drop."""
    measures = dict.fromkeys(verdict.bound.measure for verdict in found if verdict.settled is not None)
    notations = [(name, matrix.notations[matrix.measure_index(name)]) for name in measures]
    return unseen_notes(notations, matrix.scores.options if matrix.scores else None)


def direction_notes(matrix: Matrix, bounds: Iterable[Bound]) -> list[str]:
    """A note for each bound that holds a measure to its bad side: at least so high where lower is better, or the other
    way round."""
    notes = []
    for bound in bounds:
        better = matrix.reading(matrix.measure_index(bound.measure)).better
        if (bound.kind, better) in (("min", "lower"), ("max", "higher")):
            what = f"{better} is better by {bound.measure}, so this bound lets through what is worse"
            other = "--max" if bound.kind == "min" else "--min"
            notes.append(f"{bound.place or f'{bound.kind} {bound.measure}'}: {what}; use {other} to refuse it")
    return notes


def _tests(
    matrix: Matrix, runs: Sequence[str], bounds: Sequence[Bound], baseline: str | None, settings: TestSettings
) -> Tests:
    """The tests of all runs with a `significant` bound."""
    wanted = [(run, bound) for run in runs for bound in bounds if bound.kind == "significant"]
    if not wanted or baseline is None:
        return Tests({}, "")
    if settings.test not in PAIR_TESTS:
        raise InputError("--test", f"{settings.test} {NOT_BY_PAIR[settings.test]}", "choose another test", usage=True)
    pairs = [matrix.select(runs=[baseline, run]).paired(bound.measure) for run, bound in wanted]
    _check_reach(pairs, [bound for _, bound in wanted], settings)
    test, draws, seed = settings.test, settings.draws, settings.seed
    alone = [significance.p_values(_changes(both.values)[None], test, draws, seed)[0] for both in pairs]
    p = significance.correct_p_values(np.array(alone), "holm").tolist()
    methods = dict.fromkeys(significance.describe_test(test, len(both.topics), draws, seed) for both in pairs)
    family = f", holm over {len(p)}" if len(p) > 1 else ""
    names = [(run, bound.measure) for run, bound in wanted]
    return Tests(dict(zip(names, p, strict=True)), "; ".join(methods) + family)


def _check_reach(pairs: Sequence[Paired], bounds: Sequence[Bound], settings: TestSettings) -> None:
    """Raise InputError (usage) for a bound that no drop could break: such a check would always pass."""
    test, draws = settings.test, settings.draws
    smallest = np.array([significance.min_p(test, len(both.topics), draws) for both in pairs])
    corrected = significance.correct_p_values(smallest, "holm").tolist()
    for both, bound, p in zip(pairs, bounds, corrected, strict=True):
        cause = significance.unattainable(bound.limit, p, test, len(both.topics), draws, len(pairs), "holm")
        if cause:
            raise InputError(bound.place or f"significant {bound.measure}", *cause, usage=True)


def _changes(values: Floats) -> Floats:
    """topics: value of the run − value of the baseline."""
    changes: Floats = topic_differences(values, np.array([0]), np.array([1]))[0]
    return changes


def _drop(both: Paired) -> float:
    """How much worse the run is than the baseline, in its summary."""
    before, after = both.summaries.tolist()
    return float(both.reading.sign * (before - after))


def _verdict(matrix: Matrix, run: str, bound: Bound, baseline: str | None, tests: Tests) -> Verdict:
    alone = matrix.select(runs=[run]).paired(bound.measure)
    which, topics, shown, used = LOWEST, alone.topics, alone.score[0], len(alone.topics)
    if baseline is not None:
        both = matrix.select(runs=[baseline, run]).paired(bound.measure)
        which, topics, shown = FELL, both.topics, _changes(both.score)
        used = len(both.topics) if bound.kind in COMPARED else used
        if both.reading.better == "lower" and bound.kind in COMPARED:
            which = ROSE
    if bound.kind == "min-topics":
        used = len(set(topics) - _unanswered(matrix, [run, str(baseline)]))
        value, passed, sentence = _of_count(used, bound, used < len(topics))
    elif bound.kind in ("min", "max"):
        value, passed, sentence = _of_summary(alone, bound)
        if bound.kind == "max":
            which = HIGHEST if baseline is None else ROSE
    elif bound.kind == "max-unjudged":
        column, row = matrix.measure_index(bound.measure), matrix.run_index(run)
        kept = matrix.included[row, :, column]
        unjudged, residual = (part[row, kept, column] for part in (matrix.unjudged, matrix.residual))
        unjudged = np.where(np.isnan(unjudged), residual, unjudged)  # blank where the residual comes from the bounds
        value, passed, sentence = _of_unjudged(alone, unjudged, bound)
        which, topics, shown = OPEN, alone.topics, unjudged
    elif bound.kind == "max-drop":
        value, passed, sentence = _of_drop(both, bound)
    elif bound.kind == "max-topic-drop":
        value, passed, sentence = _of_topics(both, bound)
    else:
        value, passed, sentence = _of_test(both, bound, tests.p[run, bound.measure], tests.method)
    if used < len(matrix.topics) and bound.kind != "min-topics":
        sentence += f", on {used} of {len(matrix.topics)} topics"
    badness = -shown if which in (HIGHEST, ROSE, OPEN) else shown
    first = [] if passed or bound.kind == "min-topics" else np.argsort(badness, kind="stable")[:SHOWN].tolist()
    worst = tuple((topics[index], float(shown[index])) for index in first if which in ALONE or badness[index] < 0)
    counts = alone.reading.summary == "total" and all(score.is_integer() for _, score in worst)
    return Verdict(run, bound, value, passed, sentence, worst, which, used, counts)


def _with_settled(matrix: Matrix, verdict: Verdict, baseline: str, reread: Reread | None) -> Verdict:
    """Of a drop of the summary that breaks a bound: whether it is one whatever the unjudged documents of both runs turn
    out to be."""
    if verdict.passed or verdict.bound.kind not in ("max-drop", "significant"):
        return verdict
    both = matrix.select(runs=[baseline, verdict.run]).paired(verdict.bound.measure)
    settled = drop_is_settled(both, reread) if _drop(both) > TOLERANCE else None
    if settled is None:
        return verdict
    could = "no judging of unjudged documents reverses it" if settled else "judging unjudged documents could reverse it"
    # Judging may bring in others, which nothing is known of.
    these = " on these topics" if matrix.scores and matrix.scores.options.topics_judged_later else ""
    return replace(verdict, sentence=f"{verdict.sentence}; {could}{these}", settled=settled)


def _unanswered(matrix: Matrix, runs: Sequence[str]) -> set[str]:
    """Topics for which one of these runs retrieved nothing, where the scores are not saved ones: they count as 0."""
    return {topic for run in (matrix.scores.runs if matrix.scores else ()) if run.run in runs for topic in run.empty}


def _of_count(topics: int, bound: Bound, fewer: bool) -> tuple[float, bool, str]:
    passed, found = topics >= bound.limit, f"{topics} {plural(topics, 'topic')}{' with documents' * fewer}"
    return topics, passed, f"{bound.measure} is over {found}, {'at least' if passed else 'fewer than'} {bound.limit:g}"


def _of_summary(alone: Paired, bound: Bound) -> tuple[float, bool, str]:
    value = float(alone.summaries[0])
    if bound.kind == "min":
        passed, least = value >= bound.limit - TOLERANCE, ("at least", "below")
    else:
        passed, least = value <= bound.limit + TOLERANCE, ("at most", "above")
    words = least[0] if passed else least[1]
    return value, passed, f"{bound.measure} {_shown(value, alone)} is {words} {bound.limit:g}"


def _shown(value: float, paired: Paired) -> str:
    """A summary or a change of one: totals of counts are whole numbers."""
    return f"{value:.0f}" if paired.reading.summary == "total" and value == round(value) else f"{value:.4f}"


def _moved(both: Paired) -> str:
    before, after = both.summaries.tolist()
    share = f" ({abs((after - before) / before):.1%})" if before else ""
    if abs(after - before) <= TOLERANCE:
        return f"{both.measure} unchanged at {_shown(after, both)}"
    what = f"{'fell' if after < before else 'rose'} by {_shown(abs(after - before), both)}"
    return f"{both.measure} {what}{share}, from {_shown(before, both)} to {_shown(after, both)}"


def _of_drop(both: Paired, bound: Bound) -> tuple[float, bool, str]:
    drop, before = _drop(both), abs(float(both.summaries[0]))
    if bound.relative and abs(drop) > TOLERANCE:
        drop = drop / before if before else math.copysign(math.inf, drop)
    passed = drop <= bound.limit + TOLERANCE
    return drop, passed, _moved(both) + (_allowed(bound) if passed else f", more than {bound.allowed}")


def _allowed(bound: Bound) -> str:
    return f" (allowed: {bound.allowed})"


def _of_topics(both: Paired, bound: Bound) -> tuple[float, bool, str]:
    drops = -both.reading.sign * _changes(both.score)
    verb = "rose" if both.reading.better == "lower" else "fell"
    count = int((drops > bound.limit + TOLERANCE).sum())
    largest = max(0.0, float(drops.max()))
    if not count:
        return largest, True, f"{bound.measure} {verb} by {_shown(largest, both)} at most in a topic{_allowed(bound)}"
    what = f"{bound.measure} {verb} by more than {bound.limit:g} in {count} {plural(count, 'topic')}"
    return largest, False, f"{what} of {len(drops)}"


def _of_test(both: Paired, bound: Bound, p: float, method: str) -> tuple[float, bool, str]:
    if math.isnan(p) and _drop(both) > 0:
        what = f"{bound.measure} of '{both.runs[1]}' differs alike on all topics, so that there is no variance"
        raise InputError(bound.place, what, "use --test randomization")
    if math.isnan(p):
        return p, True, f"{_moved(both)} alike on all topics, so that {method} gives no p"
    significant = "not significant" if p > bound.limit else "significant"
    passed = _drop(both) <= 0 or p > bound.limit
    return p, passed, f"{_moved(both)}, p {p_value(p)} ({method}), {significant} at {bound.limit:g}"


def _of_unjudged(alone: Paired, unjudged: Floats, bound: Bound) -> tuple[float, bool, str]:
    if np.isnan(unjudged).any():
        hint = "bound the share of judged documents instead: --min judged@10=0.8"
        raise InputError(bound.place, f"{bound.measure} has no residual", hint, usage=True)
    rise = float(summarize_rises(alone.score[0], unjudged, alone.reading.summary))
    passed = rise <= bound.limit + TOLERANCE
    sentence = f"unjudged documents could lift {bound.measure} by {_shown(rise, alone)}"
    return (
        rise,
        passed,
        sentence + (_allowed(bound) if passed else f", more than {bound.limit:g}: too few documents are judged"),
    )
