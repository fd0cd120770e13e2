"""Assertions for tests of a search system, under pytest or any other runner.

def test_search():
    assert_scores("new.run", "qrels.txt", {"ndcg@10": 0.5}, baseline="main.run", max_drop="2%")
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import saved_scores, score_matrix
from gradedeval.errors import InputError, emit_notes, flag, public
from gradedeval.kernel import OptionKwargs, Options, parse_measures
from gradedeval.questions.check import Checked, check, summary
from gradedeval.questions.limits import COMPARED, Bound, BoundSpec, Kind, Undecided, margins, resolve_bounds

__all__ = ["assert_no_worse", "assert_scores"]

BASELINE = "baseline"
"""What the run that another is compared with is called."""


@public
def assert_scores(
    run: Any,
    qrels: Any,
    expected: Mapping[str, float] | Iterable[Bound],
    *,
    baseline: Any = None,
    max_drop: float | str = 0.0,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Checked:
    """Raise AssertionError where a run breaks a bound, with the verdicts of `check` and the topics to look at first.

    run       a run, or several, as of `evaluate`, and so are qrels
    expected  measure -> the lowest mean allowed, or the highest where lower is better, as in {"ndcg@10": 0.5}; or any
              `Bound`s
    baseline  a run, or saved scores of one: with a dict, no mean may drop from the baseline's by more than max_drop
    max_drop  a difference of means, or a share of the baseline's mean as text, as in "2%"
    like      a preset; keywords: options, as of `evaluate`, such as queries, whose texts stand beside the topics

    Returns what `check` returns. Raises InputError as `evaluate` and `check` do: data are bad, and nothing was tested.

    >>> run, qrels = {"q1": {"d1": 2.0}}, {"q1": {"d1": 1, "d2": 1}}
    >>> gradedeval.testing.assert_scores(run, qrels, {"ap": 0.5}).passed
    True
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    options = score_matrix.options_with_residuals(like, **keywords)
    limits, measures = _bounds(expected, baseline is not None, max_drop, options)
    return _assert_holds(run, qrels, limits, baseline, measures, options)


@public
def assert_no_worse(
    run: Any,
    qrels: Any,
    no_worse: Any,
    *,
    baseline: Any,
    undecided: Undecided = "fail",
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Checked:
    """Raise AssertionError where a run is worse than its baseline, or the topics cannot tell, with the verdicts of
    `check`.

    run        a run, or several, as of `evaluate`, and so are qrels
    no_worse   measure -> the drop that is still no worse: a share of the baseline's mean, as in {"ndcg@10": "5%"}, or a
               difference of means; or words such as "ndcg@10=5%"
    baseline   a run, or saved scores of one
    undecided  "pass": a run on which the topics cannot tell passes, too, with a warning
    like       a preset; keywords: options, as of `evaluate`

    Returns what `check` returns. Raises InputError as `evaluate` and `check` do: nothing was tested.

    >>> run, qrels = {"q1": {"d1": 2.0}}, {"q1": {"d1": 1, "d2": 1}}
    >>> gradedeval.testing.assert_no_worse(run, qrels, {"ap": "5%"}, baseline=run).passed
    True
    """
    __tracebackhide__ = True
    options = score_matrix.options_with_residuals(like, **keywords)
    limits = margins(no_worse, ())
    measures = [measure for bound in limits for measure in parse_measures(bound.measure)]
    return _assert_holds(run, qrels, limits, baseline, measures, options, undecided)


def _assert_holds(
    run: Any,
    qrels: Any,
    limits: list[Bound],
    baseline: Any,
    measures: list[Any],
    options: Options,
    undecided: Undecided | None = None,
) -> Checked:
    """Check a run, and raise AssertionError if a bound fails."""
    __tracebackhide__ = True
    runs = dict(kernel.named_runs(run, qrels))
    saved = baseline
    if (baseline_run := _run_of(baseline)) is not None:
        if BASELINE in runs:
            raise InputError("run", f"a run is called '{BASELINE}'", "give it another name", usage=True)
        runs[BASELINE], saved = baseline_run, BASELINE
    scores = kernel.evaluate_runs(runs, qrels, kernel.parse.without_duplicates(measures), options)
    emit_notes(scores.notes)
    result = check(scores, limits, saved, undecided=undecided)
    if result.failed:
        lines = [verdict.line for verdict in result.failed]
        raise AssertionError("\n".join([summary(result.verdicts), *lines, result.signature]))
    return result


def _bounds(
    expected: Mapping[str, float] | Iterable[Bound], compared: bool, max_drop: float | str, options: Options
) -> tuple[list[Bound], list[Any]]:
    """Return the bounds and the measures that they need. Raises InputError (usage) without bounds."""
    bounds = expected if isinstance(expected, Mapping) else list(expected)
    if not bounds:
        raise InputError("expected", "has no bounds", "for example {'ndcg@10': 0.5}", usage=True)
    if not isinstance(bounds, Mapping):
        limits = bounds
        measures = [measure for bound in limits for measure in parse_measures(bound.measure)]
    else:
        specs = []
        for name, value in bounds.items():
            (measure,) = parse_measures(name)
            kind: Kind = "max" if measure.definition.better == "lower" else "min"
            specs.append(BoundSpec(kind, name, value, f"expected: {name}"))
            specs += [BoundSpec("max-drop", name, max_drop, "max_drop")] if compared else []
        limits, measures = resolve_bounds(specs, [], options)
    if compared and not any(bound.kind in COMPARED for bound in limits):
        raise InputError(flag.baseline, "no bound compares with it", "add a Bound('max-drop', …)", usage=True)
    return limits, measures


def _run_of(baseline: Any) -> Any:
    """Return the baseline if it is a run; None for saved scores or no baseline."""
    if isinstance(baseline, str | os.PathLike):
        return baseline if score_matrix.Baseline.read(os.fspath(baseline), ()).saved is None else None
    if isinstance(baseline, kernel.Scores) or set(saved_scores.REQUIRED_COLUMNS) <= set(
        getattr(baseline, "columns", ())
    ):
        return None
    return baseline
