"""`check`: runs against bounds."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args
from xml.sax.saxutils import quoteattr

from gradedeval import analysis, errors, kernel
from gradedeval.analysis import difference_bounds, no_worse, replicates, reversals, score_matrix, significance
from gradedeval.analysis.tables import topic_text
from gradedeval.arrays import TOLERANCE, Bools, Floats, np
from gradedeval.errors import Flag, InputError, Note, either, emit_notes, flag, plural, public
from gradedeval.kernel import Column, Document, Layout, Table
from gradedeval.questions.limits import COMPARED, Bound, Undecided, margins

if TYPE_CHECKING:
    from gradedeval.analysis.reversals import RereadRuns
    from gradedeval.analysis.score_matrix import AnyScores, Matrix, Paired
    from gradedeval.analysis.significance import TestSettings


# The verdict on one run by one bound, in numbers and in words.


LOWEST, HIGHEST, FELL, ROSE = "with the lowest scores", "with the highest scores", "that fell most", "that rose most"
ALONE, OPEN = (LOWEST, HIGHEST), "that could gain most"


@dataclass(frozen=True)
class Verdict:
    """Verdict on one run by one bound.

    value     the bounded value: the summary (mean, total or geometric mean), its drop, the largest drop of a topic, p,
              or the possible rise of the summary by unjudged documents. A drop is a rise if lower is better. nan
              without p
    passed    whether the bound holds; None if the topics cannot tell
    sentence  the verdict in words
    worst     the topics to look at first, with their scores, changes or possible rises
    which     description of these topics: "that fell most"
    topics    number of topics of the value
    counts    whether the scores are whole numbers
    texts     the known texts of the worst topics
    comparison   of `no-worse`: the answer and what the topics can show
    same_order   for a drop of the summary that breaks a bound: whether it remains a drop however the unjudged documents
                 of both runs are judged; None for other verdicts, and if unknown
    """

    run: str
    bound: Bound
    value: float
    passed: bool | None
    sentence: str
    worst: tuple[tuple[str, float], ...]
    which: str
    topics: int
    counts: bool = False
    same_order: bool | None = None
    texts: tuple[str, ...] = ()
    comparison: no_worse.Comparison | None = None

    @property
    def is_open(self) -> bool:
        """Whether the topics cannot tell, even if `undecided` counts that as passed or failed."""
        return self.comparison is not None and self.comparison.answer == no_worse.CANNOT_TELL

    @property
    def mark(self) -> str:
        """The first word of its line."""
        return {True: "ok  ", False: "FAIL", None: "?   "}[self.passed]

    @property
    def worst_words(self) -> str:
        """The worst topics as text."""
        form = ("" if self.which in ALONE else "+") + (".0f" if self.counts else ".4f")
        texts = [f" ({topic_text(text, LONGEST)})" if text else "" for text in self.texts] or [""] * len(self.worst)
        topic_values = zip(self.worst, texts, strict=True)
        topics = ", ".join(f"{_in_list(topic)}{text} {value:{form}}" for (topic, value), text in topic_values)
        return topics and f"{plural(len(self.worst), 'topic')} {self.which}: {topics}"

    @property
    def worst_topics(self) -> list[dict[str, Any]]:
        """The worst topics for programs, with known texts."""
        texts = self.texts or ("",) * len(self.worst)
        return [
            {"topic": topic, **({"query": text} if text else {}), "value": value}
            for (topic, value), text in zip(self.worst, texts, strict=True)
        ]

    @property
    def row(self) -> dict[str, Any]:
        """The row of the frame of `check`."""
        return {
            "run": self.run,
            "bound": self.bound.kind,
            **({"slice": self.bound.slice} if self.bound.slice else {}),
            "measure": self.bound.measure,
            "limit": self.bound.limit,
            "relative": self.bound.relative,
            "value": None if math.isnan(self.value) else self.value,
            "passed": self.passed,
            "verdict": self.sentence,
            "worst": self.worst_words,
            "topics": self.topics,
            "same_order": self.same_order,
            **(_numbers_of(self.comparison) if self.comparison else {}),
        }

    @property
    def line(self) -> str:
        """The verdict and the worst topics in one line."""
        return errors.visible("; ".join(part for part in (f"{self.run}: {self.sentence}", self.worst_words) if part))


def _in_list(topic: str) -> str:
    """Return a topic as it stands in a list between commas, before its value."""
    return f"'{topic}'" if re.search(r"[\s,;']", topic) else topic


def _numbers_of(comparison: no_worse.Comparison) -> dict[str, Any]:
    """Return what only rows of `no-worse` have."""
    names = ("answer", "change", "low", "high", "smallest_drop", "topics_needed", "could_differ")
    numbers = {name: getattr(comparison, name) for name in names}
    return {name: None if isinstance(value, float) and math.isinf(value) else value for name, value in numbers.items()}


# `check`: runs against bounds, for a CI job that fails when search gets worse.


AVERAGED = ("min", "max", "max-unjudged", "max-drop", "no-worse", "significant")
"""Bounds on summaries over topics."""
SHOWN = 5
"""Topics listed for a failed bound."""
LONGEST = 50
"""Maximum characters of the text of a topic in a line."""


class Tests(NamedTuple):
    """Corrected p of `significant` and comparisons of `no-worse` bounds by (run, measure, slice); the test in words."""

    p: dict[tuple[str, str, str], float]
    method: str
    comparisons: dict[tuple[str, str, str], no_worse.Comparison]


@public
def check(
    scores: AnyScores,
    bounds: Iterable[Bound] = (),
    baseline: AnyScores | None = None,
    *,
    no_worse: Any = (),
    undecided: Undecided | None = None,
    test: analysis.Test = "randomization",
    draws: int = 10_000,
    seed: int = 0,
) -> Checked:
    """Check every run against every bound.

    Bounds on a drop use the topics that both the run and the baseline are scored on. If lower is better by a measure,
    they bound a rise.

    scores          the result of `gradedeval.evaluate`, with residuals="total" for `max-unjudged`
    bounds          such as `Bound("min", "err@20", 0.25)`
    baseline        the run to compare the others with, which is not checked itself: the name of one of the runs, or
                    saved scores of a run, as a file, a DataFrame or `Scores` (without topics only `max-drop`
                    compares with it); None: the first of several runs, if a bound compares
    no_worse        margins: {"ndcg@10": "5%"} (of the baseline's mean) or {"ndcg@10": 0.01}, words such as
                    "ndcg@10=5%", or one margin for every measure. The run is `no worse` if the topics rule out a drop
                    by the margin, `worse` if they show a drop (one-sided, at 0.05); else they `cannot tell`
    undecided       "pass" or "fail": what `cannot tell` counts as; None: neither, so `passed` is None
    test            of `significant` bounds, two-sided, with Holm's correction over all of them. Only a drop breaks
                    them; a drop that is the same on all topics has no p by t and bootstrap, and is an InputError

    Returns `Checked`, with a `.frame` with a row for each run and bound: run, bound, measure, limit, relative, value,
    passed, verdict, worst (the topics to look at first, as text), topics (number of topics of the value), same_order
    (of a drop of the mean that breaks a bound: whether it remains a drop however the unjudged documents of both runs
    are judged; else, and if unknown, None). Margins add: answer (no worse, worse, cannot tell), change, low and high
    (its interval; of relative margins as a share of the baseline's mean), smallest_drop (that would be called worse in
    8 of 10 such evaluations), topics_needed (to pass an equal run in 8 of 10) and could_differ (of equal scores: the
    share of topics that may still differ). A `min` of a measure if lower is better, or a `max` if higher is better, is
    a warning of the class `gradedeval.EvaluationWarning`. Raises InputError (usage) if a bound needs a baseline and
    there is none, or a residual that its measure does not have, or if no drop could be significant at its level.

    >>> scores = gradedeval.evaluate({"q1": {"d1": 1.2}}, {"q1": {"d1": 2, "d2": 1}}, "ap")
    >>> result = gradedeval.check(scores, [gradedeval.Bound("min", "ap", 0.6)])
    >>> result.passed, result.failed[0].line
    (False, 'run: ap 0.5000 is below 0.6; topic with the lowest scores: q1 0.5000')
    """
    settings = significance.TestSettings(test, draws=draws, seed=seed)
    if undecided is not None:
        errors.check_choice(undecided, get_args(Undecided), "undecided")
    matrix, name = score_matrix.with_baseline(scores, baseline, means_suffice=True)
    bounds = [*bounds, *margins(no_worse, matrix.measures)]
    name = baseline_of(matrix, bounds, name)
    return Checked(verdicts(matrix, bounds, name, settings, undecided), matrix.signature)


def baseline_of(matrix: Matrix, bounds: Iterable[Bound], baseline: str | None) -> str | None:
    """Return the baseline; if it is None and a bound needs a baseline, the first of several runs."""
    needed = len(matrix.runs) > 1 and any(bound.kind in COMPARED for bound in bounds)
    return matrix.runs[0] if needed and baseline is None else baseline


def baseline_notes(matrix: Matrix, baseline: str | None) -> list[str]:
    """Return a note if the baseline lacks topics of a run: drops on them go unnoticed."""
    if baseline is None:
        return []
    is_scored: Bools = np.logical_or.reduce(~np.isnan(matrix.score), axis=2)
    baseline_topics = is_scored[matrix.run_index(baseline)]
    scored = np.delete(is_scored, matrix.run_index(baseline), 0).any(0)
    count, total = int((scored & baseline_topics).sum()), int(scored.sum())
    if count == total:
        return []
    problem = f"baseline '{baseline}' has scores of {count} of {total} {plural(total, 'topic')}"
    hint = f"{either(f'--min-topics {total}', f'a bound min-topics of {total}')} makes that an error"
    return [Note(f"{problem}: drops elsewhere go unnoticed", hint, kind="baseline-topics")]


def verdicts(
    matrix: Matrix,
    bounds: Sequence[Bound],
    baseline: str | None,
    settings: TestSettings,
    undecided: Undecided | None = None,
) -> list[Verdict]:
    """Return the verdicts as `check` does: run by run, in the order of the bounds."""
    for bound in bounds:
        if bound.kind in COMPARED and baseline is None:
            place = "" if bound.place.startswith("--") else bound.place  # that of a settings file
            hint = f"add {flag.baseline:RUN} or {flag.baseline:SCORES.csv}"
            raise InputError(place, f"--{bound.kind} needs a baseline", hint, usage=True)
    runs = [run for run in matrix.runs if run != baseline]
    if not runs:
        raise InputError("", "the baseline is the only run", "add the run to check, which is another file", usage=True)
    if matrix.baseline is not None:
        emit_notes([_means_note(matrix.baseline, bounds)])
        baseline = None  # nothing by topic is compared with it
    tests = _tests(matrix, runs, bounds, baseline, settings)
    reread = reversals.RereadRuns.of(matrix.scores)
    results = [_verdict(matrix, run, bound, baseline, tests) for run in runs for bound in bounds]
    emit_notes(undecided_notes(results))
    if undecided is not None:
        results = [
            replace(verdict, passed=undecided == "pass") if verdict.passed is None else verdict for verdict in results
        ]
    if baseline is not None:
        results = [_add_reversal(matrix, verdict, baseline, reread) for verdict in results]
    emit_notes(unequal_topics(matrix, runs, bounds, baseline))
    emit_notes([*baseline_notes(matrix, baseline), *direction_notes(matrix, bounds), *judging_notes(matrix, results)])
    return results


def _means_note(baseline: Matrix, bounds: Iterable[Bound]) -> Note:
    """Return a note on a baseline without topics. Raises InputError for a bound that needs them."""
    place = baseline.origin[0, 0].place
    only = f"only {Flag('--max-drop', 'max-drop')} works with a baseline without topics"
    hint = "save it with `gradedeval RUN QRELS -q`, which adds the topics"
    for bound in bounds:
        of_slice = bound.kind == "max-drop" and bound.slice
        if of_slice or bound.kind == "min-topics" or (bound.kind in COMPARED and bound.kind != "max-drop"):
            problem = f"{place} has no scores by topic, and {only}" + ", and not on a slice" * bool(of_slice)
            raise InputError(bound.place or bound.name, problem, hint)
    return Note(f"{place} has no scores by topic: {only}", hint, kind="baseline-means")


def undecided_notes(results: Iterable[Verdict]) -> list[Note]:
    """Return a note on how to plan if the topics cannot tell."""
    first = next((verdict.bound for verdict in results if verdict.passed is None), None)
    if first is None:
        return []
    command = f"`gradedeval power --plan A B QRELS --no-worse {first.measure}={first.allowed}`"
    hint = f"{command} says how many topics a margin takes"
    return [Note("these topics cannot tell", f"add topics, or allow a larger margin: {hint}", kind="cannot-tell")]


def judging_notes(matrix: Matrix, results: Iterable[Verdict]) -> list[Note]:
    """Return the assumptions behind verdicts on whether judging could reverse a drop."""
    measures = dict.fromkeys(verdict.bound.measure for verdict in results if verdict.same_order is not None)
    notations = [(name, matrix.notations[matrix.measure_index(name)]) for name in measures]
    return difference_bounds.unseen_notes(notations, matrix.scores.options if matrix.scores else None)


def unequal_topics(matrix: Matrix, runs: Sequence[str], bounds: Iterable[Bound], baseline: str | None) -> list[Note]:
    """Return a note if a bound limits means of runs over different topics."""
    averaged: dict[str, list[Hashable]] = {}
    for bound in bounds:
        if matrix.machine is None and bound.kind in AVERAGED:
            compared = [baseline] if baseline is not None and bound.kind in COMPARED else []
            sliced = _select_slice(matrix, bound)
            topic_sets: list[Hashable] = [
                sliced.select(runs=[run, *compared]).shared(bound.measure).tobytes() for run in runs
            ]
            earlier = averaged.setdefault(bound.measure, topic_sets)
            averaged[bound.measure] = earlier if len(set(earlier)) > 1 else topic_sets
    return matrix.unequal_topics(averaged)


def direction_notes(matrix: Matrix, bounds: Iterable[Bound]) -> list[str]:
    """Return a note for each minimum of a measure if lower is better, and each maximum if higher is."""
    notes = []
    for bound in bounds:
        better = matrix.reading(matrix.measure_index(bound.measure)).better
        if (bound.kind, better) in (("min", "lower"), ("max", "higher")):
            problem = f"{better} is better by {bound.measure}, so this bound passes worse runs"
            right_bound = Flag("--max", "max") if bound.kind == "min" else Flag("--min", "min")
            notes.append(f"{bound.place or f'{bound.kind} {bound.measure}'}: {problem}; use {right_bound} to refuse it")
    return notes


def slice_notes(matrix: Matrix, bounds: Sequence[Bound]) -> list[Note]:
    """Return a note with an example if topics have slices, but no bound is of a slice."""
    slice_names = _slice_names(matrix)
    if not slice_names or not bounds or any(bound.slice for bound in bounds):
        return []
    first = bounds[0]
    example = shlex.quote(f"{next(iter(slice_names))}: {first.measure}={first.allowed}")
    return [Note(f"{flag.slices} is used by no bound", f"write --{first.kind} {example}", kind="slices-unused")]


def _tests(
    matrix: Matrix, runs: Sequence[str], bounds: Sequence[Bound], baseline: str | None, settings: TestSettings
) -> Tests:
    """Test all runs with a `significant` or a `no-worse` bound."""
    if baseline is None:
        return Tests({}, "", {})
    comparisons = {
        (run, *key): comparison for run in runs for key, comparison in _compare(matrix, run, bounds, baseline).items()
    }
    significant = [bound for bound in bounds if bound.kind == "significant"]
    tasks = [(run, bound) for run in runs for bound in significant]
    if not tasks:
        return Tests({}, "", comparisons)
    if settings.test not in significance.PAIR_TESTS:
        problem = f"{settings.test} {significance.SIMULTANEOUS[settings.test]}"
        raise InputError(flag.test, problem, "choose another test", usage=True)
    test, draws, seed = settings.test, settings.draws, settings.seed
    if matrix.seeds is not None:
        replicates.check_test(test)
        for run, bound in tasks:
            replicates.check_seeds(matrix, [baseline, run], bound.place or f"significant {bound.measure}")
        uncorrected = [
            replicates.pair_p_value(_select_slice(matrix, bound), baseline, run, bound.measure) for run, bound in tasks
        ]
        methods = {replicates.MODEL: None}
    else:
        pairs = [
            _select_slice(matrix, bound).select(runs=[baseline, run]).paired(bound.measure) for run, bound in tasks
        ]
        _check_reach(pairs, [bound for _, bound in tasks], settings)
        uncorrected = [significance.p_values(_changes(pair.values)[None], test, draws, seed)[0] for pair in pairs]
        methods = dict.fromkeys(significance.describe_test(test, len(pair.topics), draws, seed) for pair in pairs)
    p = significance.correct_p_values(np.array(uncorrected), "holm").tolist()
    family = f", holm over {len(p)}" if len(p) > 1 else ""
    names = [(run, bound.measure, bound.slice) for run, bound in tasks]
    return Tests(dict(zip(names, p, strict=True)), "; ".join(methods) + family, comparisons)


def _compare(
    matrix: Matrix, run: str, bounds: Sequence[Bound], baseline: str
) -> dict[tuple[str, str], no_worse.Comparison]:
    """Compare a run with the baseline by its `no-worse` bounds: (measure, slice) -> result."""
    some = [bound for bound in bounds if bound.kind == "no-worse"]
    if not some:
        return {}
    if matrix.seeds is not None or matrix.machine is not None:
        reason = "seeds" if matrix.seeds is not None else "estimates"
        problem = f"does not know how much the {reason} of a mean vary"
        raise InputError(some[0].place, problem, "use --significant, or single runs", usage=True)
    pairs = [_select_slice(matrix, bound).select(runs=[baseline, run]).paired(bound.measure) for bound in some]
    for pair, bound in zip(pairs, some, strict=True):
        margin = no_worse.Margin(bound.limit, bound.relative, pair.reading.sign)
        no_worse.check_scores(pair, margin, bound.place or f"no-worse {bound.measure}")
    results = no_worse.compare(pairs, [(bound.limit, bound.relative) for bound in some])
    return {(bound.measure, bound.slice): result for bound, result in zip(some, results, strict=True)}


def _check_reach(pairs: Sequence[Paired], bounds: Sequence[Bound], settings: TestSettings) -> None:
    """Raise InputError (usage) for a bound that no drop could break: it would always pass."""
    test, draws = settings.test, settings.draws
    smallest = np.array([significance.min_p(test, len(paired.topics), draws) for paired in pairs])
    corrected = significance.correct_p_values(smallest, "holm").tolist()
    for paired, bound, p in zip(pairs, bounds, corrected, strict=True):
        cause = significance.explain_unattainable(bound.limit, p, test, len(paired.topics), draws, len(pairs), "holm")
        if cause:
            raise InputError(bound.place or f"significant {bound.measure}", *cause, usage=True)


def _changes(values: Floats) -> Floats:
    """Return the value of the run − the value of the baseline, by topic."""
    return np.asarray(score_matrix.topic_differences(values, np.array([0]), np.array([1]))[0])


class _Summaries(NamedTuple):
    """The summaries of the baseline and of a run by a measure."""

    run_scores: Paired
    old: float
    new: float

    @classmethod
    def of(cls, paired: Paired) -> _Summaries:
        return cls(paired, *paired.summaries.tolist())

    @property
    def drop(self) -> float:
        """By how much the run is worse."""
        return self.run_scores.reading.sign * (self.old - self.new)

    @property
    def change(self) -> str:
        """The change in words."""
        measure, old, new = self.run_scores.measure, self.old, self.new
        share = f" ({abs((new - old) / old):.1%})" if old else ""
        size, first, last = (_format_score(value, self.run_scores) for value in (abs(new - old), old, new))
        if abs(new - old) <= TOLERANCE:
            return f"{measure} unchanged at {last}"
        return f"{measure} {'fell' if new < old else 'rose'} by {size}{share}, from {first} to {last}"


def _select_slice(matrix: Matrix, bound: Bound) -> Matrix:
    """Return the scores on the topics of a bound. Raises InputError (usage) for an unknown slice."""
    if not bound.slice:
        return matrix
    slice_topics = _slice_names(matrix)
    if bound.slice not in slice_topics:
        listed = f"slices: {errors.shorten(slice_topics)}" if slice_topics else ""
        hint = (
            errors.did_you_mean(bound.slice, slice_topics) or listed or f"add {flag.slices}, which gives topics labels"
        )
        raise InputError(bound.place, f"no slice '{bound.slice}'", hint, usage=True)
    return matrix.of_topics(slice_topics[bound.slice])


def _slice_names(matrix: Matrix) -> dict[str, Bools]:
    """Return name of slice, such as `intent=tail` -> mask of topics."""
    return {f"{column}={label}": kept for column, members in matrix.labelled.items() for label, kept in members.items()}


def _verdict(matrix: Matrix, run: str, bound: Bound, baseline: str | None, tests: Tests) -> Verdict:
    matrix, comparison = _select_slice(matrix, bound), None
    passed: bool | None
    run_scores = matrix.select(runs=[run]).paired(bound.measure)
    which, topics, values, used = LOWEST, run_scores.topics, run_scores.score[0], len(run_scores.topics)
    if baseline is not None:
        pair = matrix.select(runs=[baseline, run]).paired(bound.measure)
        which, topics, values = FELL, pair.topics, _changes(pair.score)
        used = len(pair.topics) if bound.kind in COMPARED else used
        if pair.reading.better == "lower" and bound.kind in COMPARED:
            which = ROSE
    if bound.kind == "min-topics":
        used = len(set(topics) - _empty_topics(matrix, [run, str(baseline)]))
        value, passed, sentence = _check_count(used, bound, used < len(topics))
    elif bound.kind in ("min", "max"):
        value, passed, sentence = _check_summary(run_scores, bound)
        if bound.kind == "max":
            which = HIGHEST if baseline is None else ROSE
    elif bound.kind == "max-unjudged":
        column, row = matrix.measure_index(bound.measure), matrix.run_index(run)
        kept = matrix.included[row, :, column]
        unjudged, residual = (part[row, kept, column] for part in (matrix.unjudged, matrix.residual))
        unjudged = np.where(np.isnan(unjudged), residual, unjudged)  # nan if the residual comes from bounds
        value, passed, sentence = _check_unjudged(run_scores, unjudged, bound)
        which, topics, values = OPEN, run_scores.topics, unjudged
    elif bound.kind == "max-drop":
        topics, values = (topics, values) if baseline else ([], values[:0])
        summaries = _Summaries.of(pair) if baseline else _beside_mean(matrix.baseline, run_scores)
        value, passed, sentence = _check_drop(summaries, bound)
    elif bound.kind == "no-worse":
        comparison = tests.comparisons[run, bound.measure, bound.slice]
        value, sentence = -comparison.margin.sign * comparison.change, comparison.sentence(bound.measure)
        passed = {no_worse.NO_WORSE: True, no_worse.WORSE: False, no_worse.CANNOT_TELL: None}[comparison.answer]
    elif bound.kind == "max-topic-drop":
        value, passed, sentence = _check_topics(pair, bound)
    else:
        p = tests.p[run, bound.measure, bound.slice]
        value, passed, sentence = _check_significance(pair, bound, p, tests.method)
    if used < (every := int(matrix.judged.sum())) and bound.kind != "min-topics":
        sentence += f", on {used} of {every} topics"
    is_total = run_scores.reading.summary == "total"
    sign = -1 if which in (HIGHEST, ROSE, OPEN) else 1
    limit = 0.0 if which not in ALONE else math.inf if is_total else sign * bound.limit
    has_worst = passed is False and bound.kind != "min-topics"
    worst = _worst_topics(topics, values, sign, limit) if has_worst else ()
    counts = is_total and all(score.is_integer() for _, score in worst)
    texts = () if matrix.queries is None else tuple(matrix.queries.texts.get(topic, "") for topic, _ in worst)
    sentence = f"{bound.slice}: {sentence}" if bound.slice else sentence
    return Verdict(run, bound, value, passed, sentence, worst, which, used, counts, texts=texts, comparison=comparison)


def _worst_topics(topics: Sequence[str], values: Floats, sign: int, limit: float) -> tuple[tuple[str, float], ...]:
    """Return the first topics to look at, with their values: topics that meet the limit themselves are not at fault.

    sign   1 if lower values are worse, −1 if higher ones are
    limit  the least value, times `sign`, of a topic that meets it
    """
    badness = sign * values
    first = np.argsort(badness, kind="stable")[:SHOWN].tolist()
    return tuple((topics[index], float(values[index])) for index in first if badness[index] < limit)


def _add_reversal(matrix: Matrix, verdict: Verdict, baseline: str, reread: RereadRuns | None) -> Verdict:
    """Add to a drop of the summary that breaks a bound whether judging the unjudged documents could reverse it."""
    if verdict.passed is not False or verdict.bound.kind not in ("max-drop", "no-worse", "significant"):
        return verdict
    pair = _select_slice(matrix, verdict.bound).select(runs=[baseline, verdict.run]).paired(verdict.bound.measure)
    same_order = difference_bounds.drop_keeps_order(pair, reread) if _Summaries.of(pair).drop > TOLERANCE else None
    if same_order is None:
        return verdict
    reversal = f"judging the unjudged documents {'could not' if same_order else 'could'} reverse it"
    # Judging may bring in further topics.
    scope = " on these topics" if matrix.scores and matrix.scores.options.topics_judged_later else ""
    return replace(verdict, sentence=f"{verdict.sentence}; {reversal}{scope}", same_order=same_order)


def _empty_topics(matrix: Matrix, runs: Sequence[str]) -> set[str]:
    """Return the topics without retrieved documents, which count as 0, of these runs; none for saved scores."""
    return {topic for run in (matrix.scores.runs if matrix.scores else ()) if run.run in runs for topic in run.empty}


def _check_count(topics: int, bound: Bound, fewer: bool) -> tuple[float, bool, str]:
    passed, count = topics >= bound.limit, f"{topics} {plural(topics, 'topic')}{' with documents' * fewer}"
    return topics, passed, f"{bound.measure} is over {count}, {'at least' if passed else 'fewer than'} {bound.limit:g}"


def _check_summary(run_scores: Paired, bound: Bound) -> tuple[float, bool, str]:
    value, is_min = float(run_scores.summaries[0]), bound.kind == "min"
    passed = value >= bound.limit - TOLERANCE if is_min else value <= bound.limit + TOLERANCE
    words = f"at {'least' if is_min else 'most'}" if passed else "below" if is_min else "above"
    return value, passed, f"{bound.measure} {_format_score(value, run_scores)} is {words} {bound.limit:g}"


def _format_score(value: float, paired: Paired) -> str:
    """Format a summary or a change; totals of counts are whole numbers."""
    return f"{value:.0f}" if paired.reading.summary == "total" and value == round(value) else f"{value:.4f}"


def _beside_mean(baseline: Matrix | None, run_scores: Paired) -> _Summaries:
    """Return the summaries of a run and of a baseline without topics."""
    assert baseline is not None
    assert baseline.means is not None
    mean = float(baseline.means[0, baseline.measure_index(run_scores.measure)])
    if not math.isfinite(mean):
        problem = f"no finite score by '{run_scores.measure}'"
        raise InputError(baseline.origin[0, 0].place, problem, "save the scores again")
    return _Summaries(run_scores, mean, float(run_scores.summaries[0]))


def _check_drop(summaries: _Summaries, bound: Bound) -> tuple[float, bool, str]:
    """Compare a drop, absolute or as a share of the baseline, with its limit."""
    drop, old = summaries.drop, summaries.old
    if bound.relative and abs(drop) > TOLERANCE:
        drop = drop / abs(old) if old else math.copysign(math.inf, drop)
    passed = drop <= bound.limit + TOLERANCE
    return drop, passed, summaries.change + (_allowed(bound) if passed else f", more than {bound.allowed}")


def _allowed(bound: Bound) -> str:
    return f" (allowed: {bound.allowed})"


def _check_topics(paired: Paired, bound: Bound) -> tuple[float, bool, str]:
    drops = -paired.reading.sign * _changes(paired.score)
    verb = "rose" if paired.reading.better == "lower" else "fell"
    count = int((drops > bound.limit + TOLERANCE).sum())
    largest = max(0.0, float(drops.max()))
    if not count:
        sentence = f"{bound.measure} {verb} by {_format_score(largest, paired)} at most in a topic{_allowed(bound)}"
        return largest, True, sentence
    problem = f"{bound.measure} {verb} by more than {bound.limit:g} in {count} {plural(count, 'topic')}"
    return largest, False, f"{problem} of {len(drops)}"


def _check_significance(paired: Paired, bound: Bound, p: float, method: str) -> tuple[float, bool, str]:
    summaries = _Summaries.of(paired)
    if math.isnan(p) and summaries.drop > 0:
        problem = f"{bound.measure} of '{paired.runs[1]}' differs equally on all topics, so there is no variance"
        raise InputError(bound.place, problem, f"use {flag.test:randomization}")
    if math.isnan(p):
        return p, True, f"{summaries.change} alike on all topics, so that {method} gives no p"
    significant = "not significant" if p > bound.limit else "significant"
    passed = summaries.drop <= 0 or p > bound.limit
    return (p, passed, f"{summaries.change}, p {significance.p_value(p)} ({method}), {significant} at {bound.limit:g}")


def _check_unjudged(run_scores: Paired, unjudged: Floats, bound: Bound) -> tuple[float, bool, str]:
    if np.isnan(unjudged).any():
        hint = f"set a minimum share of judged documents instead: {either('--min judged@10=0.8', 'min judged@10')}"
        raise InputError(bound.place, f"{bound.measure} has no residual", hint, usage=True)
    rise = float(run_scores.reading.summarize_rises(run_scores.score[0], unjudged))
    passed = rise <= bound.limit + TOLERANCE
    sentence = f"unjudged documents could lift {bound.measure} by {_format_score(rise, run_scores)}"
    excess = f", more than {bound.limit:g}: too few documents are judged"
    return rise, passed, sentence + (_allowed(bound) if passed else excess)


# Verdicts of a check -> text: lines for a terminal, annotations, a JUnit report, or a table.


@dataclass(frozen=True, eq=False, repr=False)
class Checked(kernel.results.FrameResult):
    """Verdicts on runs, in their order, and the signature of the scores."""

    verdicts: Sequence[Verdict]
    signature: str

    @property
    def failed(self) -> list[Verdict]:
        """Verdicts of bounds that do not hold."""
        return [verdict for verdict in self.verdicts if verdict.passed is False]

    @property
    def undecided(self) -> list[Verdict]:
        """Verdicts of bounds on which the topics cannot tell, and which count neither as passed nor as failed."""
        return [verdict for verdict in self.verdicts if verdict.passed is None]

    def document(self, layout: Layout) -> Document:
        """Return the verdicts as a table."""
        if layout == "long":
            rows = [verdict.row for verdict in self.verdicts]
            names = list(dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row))
            bounds = [{**row, "worst": verdict.worst_topics} for row, verdict in zip(rows, self.verdicts, strict=True)]
            nested = {"signature": self.signature, "passed": self.passed, "bounds": bounds}
            table = Table([*map(Column, names)], [[row.get(name) for name in names] for row in rows])
            return Document([table], self.signature, nested=nested)
        columns = [*map(Column, ("", "run", "bound")), Column("allowed", "figures"), *map(Column, ("verdict", "worst"))]
        cells = [
            (
                {True: "✅", False: "❌", None: "❔"}[verdict.passed],
                verdict.run,
                verdict.bound.name,
                verdict.bound.allowed,
                verdict.sentence,
                verdict.worst_words,
            )
            for verdict in self.verdicts
        ]
        return Document([Table(columns, cells)], self.signature, title=f"gradedeval check: {summary(self.verdicts)}")

    @property
    def passed(self) -> bool | None:
        """Whether all bounds hold; None if none fails, but the topics cannot tell on some."""
        return False if self.failed else None if self.undecided else True

    @property
    def passed_by_run(self) -> dict[str, bool | None]:
        """Whether each run satisfies its bounds, as `passed`."""
        runs: dict[str, bool | None] = dict.fromkeys((verdict.run for verdict in self.verdicts), True)
        runs |= dict.fromkeys((verdict.run for verdict in self.undecided), None)
        return runs | dict.fromkeys((verdict.run for verdict in self.failed), False)

    @property
    def answers(self) -> dict[tuple[str, str], no_worse.Answer]:
        """The answers of margins on all topics: (run, measure) -> no worse, worse or cannot tell."""
        return {
            (verdict.run, verdict.bound.measure): verdict.comparison.answer
            for verdict in self.verdicts
            if verdict.comparison is not None and not verdict.bound.slice
        }


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return the numbers of failed and of undecided bounds in words."""
    is_open = [verdict for verdict in verdicts if verdict.is_open]
    failed = sum(verdict.passed is False and not verdict.is_open for verdict in verdicts)
    if not failed and not is_open:
        words = {1: "the bound holds", 2: "both bounds hold"}
        return words.get(len(verdicts), f"all {len(verdicts)} bounds hold")
    parts = [f"{failed} of {len(verdicts)} bounds failed"] if failed else []
    if is_open:
        effect = {None: "", True: ", which passes", False: ", which fails"}[is_open[0].passed]
        parts.append(f"cannot tell for {len(is_open)} of {len(verdicts)} bounds{effect}")
    return "; ".join(parts)


def _text(result: Checked, sign: Callable[[str], str]) -> str:
    lines = [f"{verdict.mark}  {verdict.line}" for verdict in result.verdicts]
    signed = [line for line in [sign(result.signature)] if line]
    return "\n".join([*lines, "", summary(result.verdicts), *signed]) + "\n"


def _github(result: Checked, sign: Callable[[str], str]) -> str:
    """Return workflow commands, which GitHub shows as annotations."""
    lines = [
        f"::{'error' if verdict.passed is False else 'warning'} title={_escape(verdict.bound.name, ':,')}::"
        + _escape(verdict.line)
        for verdict in result.verdicts
        if verdict.passed is False or verdict.is_open
    ]
    topics = sorted({verdict.topics for verdict in result.verdicts})
    message = f"{summary(result.verdicts)}, over {' to '.join(map(str, dict.fromkeys([topics[0], topics[-1]])))} topics"
    return "\n".join([*lines, f"::notice title=gradedeval check::{_escape(message)}"]) + "\n"


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _junit(result: Checked, sign: Callable[[str], str]) -> str:
    cases = []
    for verdict in result.verdicts:
        name = f"{verdict.bound.name} {verdict.bound.allowed}"
        topics = f'<properties><property name="topics" value="{verdict.topics}"/></properties>'
        element = "failure" if verdict.passed is False else "skipped" if verdict.is_open else ""
        failure = element and f"<{element} message={_quote(verdict.line)}/>"
        cases.append(f"  <testcase classname={_quote(verdict.run)} name={_quote(name)}>{topics}{failure}</testcase>")
    head = f'  <properties><property name="signature" value={_quote(result.signature)}/></properties>'
    skipped = sum(verdict.is_open and verdict.passed is not False for verdict in result.verdicts)
    return _suite([head, *cases], len(result.verdicts), failures=len(result.failed), skipped=skipped)


def _suite(lines: Sequence[str], tests: int, *, failures: int = 0, errors: int = 0, skipped: int = 0) -> str:
    counts = f'tests="{tests}" failures="{failures}" errors="{errors}"' + f' skipped="{skipped}"' * bool(skipped)
    begin = ['<?xml version="1.0" encoding="utf-8"?>', f'<testsuite name="gradedeval check" {counts}>']
    return "\n".join([*begin, *lines, "</testsuite>\n"])


def _junit_fault(error: InputError) -> str:
    """Return a report with one error; a failed bound is a failure."""
    case = '  <testcase classname="gradedeval check" name="data">'
    return _suite([f"{case}<error message={_quote(error.cli_text)}/></testcase>"], 1, errors=1)


def _github_fault(error: InputError) -> str:
    return f"::error title=gradedeval check%3A nothing was checked::{_escape(error.cli_text)}\n"


def _json_fault(error: InputError) -> str:
    nested = {"passed": False, "error": error.cli_text, "bounds": []}
    return kernel.formats.render(lambda _: Document([], nested=nested), "json")


def _quote(text: str) -> str:
    """Quote the value of an attribute; characters that XML cannot contain become question marks."""
    legal = (
        character if character in "\t\n" or (character >= " " and not "\ud800" <= character <= "\udfff") else "?"
        for character in kernel.formats.in_utf8(text)
    )
    return quoteattr("".join(legal), {"\n": "&#10;"})


REPORTS: dict[str, Callable[[Checked, Callable[[str], str]], str]] = {
    "text": _text, "github": _github, "junit": _junit,
}  # fmt: skip
"""Formats of a check alone: functions of the result and of a function that shortens signatures."""
ERROR_REPORTS: dict[str, Callable[[InputError], str]] = {
    "junit": _junit_fault,
    "github": _github_fault,
    "json": _json_fault,
}
"""Format -> function that reports the error for which nothing could be checked."""


def check_order(matrix: Matrix) -> None:
    """Raise InputError for a run with scores that rise with the rank: a check of it guards nothing."""
    for note in matrix.notes:
        if isinstance(note, Note) and note.kind == "rising-scores":
            raise InputError(note.place, note.statement, note.raw[1], kind=note.kind)
