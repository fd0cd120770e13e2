"""`check`: whether runs keep the bounds that are set for them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import quoteattr

from gradedeval import analysis, kernel
from gradedeval.analysis import difference_bounds, replicates, reversals, score_matrix, significance
from gradedeval.analysis.tables import topic_text
from gradedeval.arrays import TOLERANCE, Bools, Floats, np
from gradedeval.errors import (
    Flag,
    InputError,
    Note,
    did_you_mean,
    either,
    emit_notes,
    flag,
    plural,
    public,
    shorten,
    visible,
)
from gradedeval.kernel import Column, Document, Layout, Table
from gradedeval.questions.limits import COMPARED, Bound

if TYPE_CHECKING:
    from gradedeval.analysis.reversals import RereadRuns
    from gradedeval.analysis.score_matrix import AnyScores, Matrix, Paired
    from gradedeval.analysis.significance import TestSettings


# The verdict of a check on one run and one bound, in numbers and in words.


LOWEST, HIGHEST, FELL, ROSE = "with the lowest scores", "with the highest scores", "that fell most", "that rose most"
ALONE, OPEN = (LOWEST, HIGHEST), "that could gain most"


@dataclass(frozen=True)
class Verdict:
    """Whether one run satisfies one bound.

    value     what is bounded: the summary (mean, total or geometric mean), its drop, the largest drop of a topic, p, or
              what unjudged documents could add to the summary. A drop is a rise where lower is better. nan without p
    passed    whether the bound holds
    sentence  the verdict in words
    worst     the topics to look at first, with their scores, changes or what they could gain
    which     what these topics are: "that fell most"
    topics    how many topics the value is over
    counts    whether the scores are whole numbers
    texts     the texts of the worst topics, where they are known
    same_order   of a drop of the summary that breaks a bound: whether it is one whatever the unjudged documents of both
              runs turn out to be; else None, also where that is not known
    """

    run: str
    bound: Bound
    value: float
    passed: bool
    sentence: str
    worst: tuple[tuple[str, float], ...]
    which: str
    topics: int
    counts: bool = False
    same_order: bool | None = None
    texts: tuple[str, ...] = ()

    @property
    def worst_words(self) -> str:
        """The worst topics in words."""
        form = ("" if self.which in ALONE else "+") + (".0f" if self.counts else ".4f")
        texts = [f" ({topic_text(text, LONGEST)})" if text else "" for text in self.texts] or [""] * len(self.worst)
        shown = zip(self.worst, texts, strict=True)
        topics = ", ".join(f"{topic}{text} {value:{form}}" for (topic, value), text in shown)
        return topics and f"{plural(len(self.worst), 'topic')} {self.which}: {topics}"

    @property
    def worst_topics(self) -> list[dict[str, Any]]:
        """The worst topics for programs, with their texts where these are known."""
        texts = self.texts or ("",) * len(self.worst)
        return [
            {"topic": topic, **({"query": text} if text else {}), "value": value}
            for (topic, value), text in zip(self.worst, texts, strict=True)
        ]

    @property
    def row(self) -> dict[str, Any]:
        """The columns of the frame that `check` returns."""
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
        }

    @property
    def line(self) -> str:
        """All of it in one line."""
        return visible("; ".join(part for part in (f"{self.run}: {self.sentence}", self.worst_words) if part))


# `check`: runs against bounds, for a CI job that fails when search gets worse.


SHOWN = 5
"""Topics listed of a broken bound."""
LONGEST = 50
"""Characters of the text of a topic that a line shows."""


class Tests(NamedTuple):
    """(run, measure, slice) -> p of its `significant` bound, corrected; and the test in words."""

    p: dict[tuple[str, str, str], float]
    method: str


@public
def check(
    scores: AnyScores,
    bounds: Iterable[Bound],
    baseline: AnyScores | None = None,
    *,
    test: analysis.Test = "randomization",
    draws: int = 10_000,
    seed: int = 0,
) -> Checked:
    """Hold every run against every bound; bounds on a drop look at the topics that the run and
    the baseline are both scored on. By a measure of which lower is better a rise is what they bound.

    scores          what `gradedeval.evaluate` returns, with residuals="total" for `max-unjudged`
    bounds          as in `Bound("min", "err@20", 0.25)`
    baseline        what the others are compared with, and is not checked itself: the name of one of the runs, or saved
                    scores of a run, as a file, a DataFrame or `Scores`; None: the first of several runs, if a bound
                    compares
    test            of `significant` bounds, two-sided; Holm's correction over all of them. Only a drop breaks them; one
                    that is the same on all topics has no p by t and bootstrap, and is an InputError

    Returns `Checked`, whose `.frame` has a row for each run and bound: run, bound, measure, limit, relative, value,
    passed, verdict, worst (the topics to look at first, as text), topics (how many the value is over), same_order (of a
    drop of the mean that breaks a bound: if it is one however the unjudged documents of both runs are judged; else
    None, also where that is not known). A `min` of a measure of which lower is better, or a `max` of another, is
    reported in a warning of the class `gradedeval.EvaluationWarning`. Raises InputError (usage) if a bound needs a
    baseline and there is none, or a residual that its measure does not have, or if no drop could be significant at its
    level.
    """
    settings, bounds = significance.TestSettings(test, draws=draws, seed=seed), list(bounds)
    matrix, name = score_matrix.with_baseline(scores, baseline)
    name = baseline_of(matrix, bounds, name)
    return Checked(verdicts(matrix, bounds, name, settings), matrix.signature)


def baseline_of(matrix: Matrix, bounds: Iterable[Bound], baseline: str | None) -> str | None:
    """The baseline; the first run where none is named, if a bound needs one and there is another run to check."""
    needed = len(matrix.runs) > 1 and any(bound.kind in COMPARED for bound in bounds)
    return matrix.runs[0] if needed and baseline is None else baseline


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
    what = f"baseline '{baseline}' has scores of {count} of {of} {plural(of, 'topic')}: drops elsewhere go unnoticed"
    return [
        Note(
            what,
            f"{either(f'--min-topics {of}', f'a bound min-topics of {of}')} makes that an error",
            kind="baseline-topics",
        )
    ]


def verdicts(matrix: Matrix, bounds: Sequence[Bound], baseline: str | None, settings: TestSettings) -> list[Verdict]:
    """As `check`: the verdicts, run by run, in the order of the bounds."""
    for bound in bounds:
        if bound.kind in COMPARED and baseline is None:
            place = "" if bound.place.startswith("--") else bound.place  # that of a settings file
            hint = f"add {flag.baseline:RUN} or {flag.baseline:SCORES.csv}"
            raise InputError(place, f"--{bound.kind} needs a baseline", hint, usage=True)
    runs = [run for run in matrix.runs if run != baseline]
    if not runs:
        raise InputError("", "the baseline is the only run", "add the run to check", usage=True)
    tests = _tests(matrix, runs, bounds, baseline, settings)
    reread = reversals.RereadRuns.of(matrix.scores)
    found = [_verdict(matrix, run, bound, baseline, tests) for run in runs for bound in bounds]
    if baseline is not None:
        found = [_with_settled(matrix, verdict, baseline, reread) for verdict in found]
    emit_notes(unequal_topics(matrix, runs, bounds, baseline))
    emit_notes([*baseline_notes(matrix, baseline), *direction_notes(matrix, bounds), *judging_notes(matrix, found)])
    return found


def judging_notes(matrix: Matrix, found: Iterable[Verdict]) -> list[Note]:
    """What is taken for granted where a verdict says whether judging could reverse a drop."""
    measures = dict.fromkeys(verdict.bound.measure for verdict in found if verdict.same_order is not None)
    notations = [(name, matrix.notations[matrix.measure_index(name)]) for name in measures]
    return difference_bounds.unseen_notes(notations, matrix.scores.options if matrix.scores else None)


def unequal_topics(matrix: Matrix, runs: Sequence[str], bounds: Iterable[Bound], baseline: str | None) -> list[Note]:
    """Return a note where a bound holds the means of runs to a limit, and these are over different topics: those that a
    run and the baseline have, or, of a bound that does not compare, its own."""
    averaged: dict[str, list[Hashable]] = {}
    for bound in bounds:
        if matrix.machine is None and bound.kind in ("min", "max", "max-unjudged", "max-drop", "significant"):
            beside = [baseline] if baseline is not None and bound.kind in COMPARED else []
            part = _of_bound(matrix, bound)
            each: list[Hashable] = [part.select(runs=[run, *beside]).shared(bound.measure).tobytes() for run in runs]
            known = averaged.setdefault(bound.measure, each)
            averaged[bound.measure] = known if len(set(known)) > 1 else each
    return matrix.unequal_topics(averaged)


def direction_notes(matrix: Matrix, bounds: Iterable[Bound]) -> list[str]:
    """A note for each bound that holds a measure to its bad side: at least so high where lower is better, or the other
    way round."""
    notes = []
    for bound in bounds:
        better = matrix.reading(matrix.measure_index(bound.measure)).better
        if (bound.kind, better) in (("min", "lower"), ("max", "higher")):
            what = f"{better} is better by {bound.measure}, so this bound passes worse runs"
            other = Flag("--max", "max") if bound.kind == "min" else Flag("--min", "min")
            notes.append(f"{bound.place or f'{bound.kind} {bound.measure}'}: {what}; use {other} to refuse it")
    return notes


def slice_notes(matrix: Matrix, bounds: Sequence[Bound]) -> list[Note]:
    """A note where topics have slices and no bound is of one, with how such a bound is written."""
    known = _slice_names(matrix)
    if not known or not bounds or any(bound.slice for bound in bounds):
        return []
    first = bounds[0]
    example = shlex.quote(f"{next(iter(known))}: {first.measure}={first.allowed}")
    return [Note(f"{flag.slices} is used by no bound", f"write --{first.kind} {example}", kind="slices-unused")]


def _tests(
    matrix: Matrix, runs: Sequence[str], bounds: Sequence[Bound], baseline: str | None, settings: TestSettings
) -> Tests:
    """The tests of all runs with a `significant` bound."""
    asked = [bound for bound in bounds if bound.kind == "significant"]
    wanted = [(run, bound) for run in runs for bound in asked]
    if not wanted or baseline is None:
        return Tests({}, "")
    if settings.test not in significance.PAIR_TESTS:
        raise InputError(
            flag.test, f"{settings.test} {significance.NOT_BY_PAIR[settings.test]}", "choose another test", usage=True
        )
    test, draws, seed = settings.test, settings.draws, settings.seed
    if matrix.seeds is not None:
        replicates.check_test(test)
        for run, one in wanted:
            replicates.check_seeds(matrix, [baseline, run], one.place or f"significant {one.measure}")
        alone = [replicates.pair_p_value(_of_bound(matrix, one), baseline, run, one.measure) for run, one in wanted]
        methods = {replicates.MODEL: None}
    else:
        pairs = [_of_bound(matrix, one).select(runs=[baseline, run]).paired(one.measure) for run, one in wanted]
        _check_reach(pairs, [bound for _, bound in wanted], settings)
        alone = [significance.p_values(_changes(both.values)[None], test, draws, seed)[0] for both in pairs]
        methods = dict.fromkeys(significance.describe_test(test, len(both.topics), draws, seed) for both in pairs)
    p = significance.correct_p_values(np.array(alone), "holm").tolist()
    family = f", holm over {len(p)}" if len(p) > 1 else ""
    names = [(run, bound.measure, bound.slice) for run, bound in wanted]
    return Tests(dict(zip(names, p, strict=True)), "; ".join(methods) + family)


def _check_reach(pairs: Sequence[Paired], bounds: Sequence[Bound], settings: TestSettings) -> None:
    """Raise InputError (usage) for a bound that no drop could break: such a check would always pass."""
    test, draws = settings.test, settings.draws
    smallest = np.array([significance.min_p(test, len(both.topics), draws) for both in pairs])
    corrected = significance.correct_p_values(smallest, "holm").tolist()
    for both, bound, p in zip(pairs, bounds, corrected, strict=True):
        cause = significance.explain_unattainable(bound.limit, p, test, len(both.topics), draws, len(pairs), "holm")
        if cause:
            raise InputError(bound.place or f"significant {bound.measure}", *cause, usage=True)


def _changes(values: Floats) -> Floats:
    """topics: value of the run − value of the baseline."""
    changes: Floats = score_matrix.topic_differences(values, np.array([0]), np.array([1]))[0]
    return changes


def _drop(both: Paired) -> float:
    """How much worse the run is than the baseline, in its summary."""
    before, after = both.summaries.tolist()
    return float(both.reading.sign * (before - after))


def _of_bound(matrix: Matrix, bound: Bound) -> Matrix:
    """The scores on the topics that a bound is of. Raises InputError (usage) where there is no such slice."""
    if not bound.slice:
        return matrix
    known = _slice_names(matrix)
    if bound.slice not in known:
        hint = did_you_mean(bound.slice, known) or (
            f"slices: {shorten(known)}" if known else f"add {flag.slices}, which gives topics labels"
        )
        raise InputError(bound.place, f"no slice '{bound.slice}'", hint, usage=True)
    return matrix.of_topics(known[bound.slice])


def _slice_names(matrix: Matrix) -> dict[str, Bools]:
    """What bounds call each slice, as in `intent=tail` -> which topics it has."""
    return {f"{column}={label}": kept for column, members in matrix.labelled.items() for label, kept in members.items()}


def _verdict(matrix: Matrix, run: str, bound: Bound, baseline: str | None, tests: Tests) -> Verdict:
    matrix = _of_bound(matrix, bound)
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
        value, passed, sentence = _of_test(both, bound, tests.p[run, bound.measure, bound.slice], tests.method)
    if used < (every := int(matrix.judged.sum())) and bound.kind != "min-topics":
        sentence += f", on {used} of {every} topics"
    badness = -shown if which in (HIGHEST, ROSE, OPEN) else shown
    first = [] if passed or bound.kind == "min-topics" else np.argsort(badness, kind="stable")[:SHOWN].tolist()
    worst = tuple((topics[index], float(shown[index])) for index in first if which in ALONE or badness[index] < 0)
    counts = alone.reading.summary == "total" and all(score.is_integer() for _, score in worst)
    texts = () if matrix.queries is None else tuple(matrix.queries.texts.get(topic, "") for topic, _ in worst)
    sentence = f"{bound.slice}: {sentence}" if bound.slice else sentence
    return Verdict(run, bound, value, passed, sentence, worst, which, used, counts, texts=texts)


def _with_settled(matrix: Matrix, verdict: Verdict, baseline: str, reread: RereadRuns | None) -> Verdict:
    """Of a drop of the summary that breaks a bound: whether it is one whatever the unjudged documents of both runs turn
    out to be."""
    if verdict.passed or verdict.bound.kind not in ("max-drop", "significant"):
        return verdict
    both = _of_bound(matrix, verdict.bound).select(runs=[baseline, verdict.run]).paired(verdict.bound.measure)
    same_order = difference_bounds.drop_keeps_order(both, reread) if _drop(both) > TOLERANCE else None
    if same_order is None:
        return verdict
    could = f"judging the unjudged documents {'could not' if same_order else 'could'} reverse it"
    # Judging may bring in others, which nothing is known of.
    these = " on these topics" if matrix.scores and matrix.scores.options.topics_judged_later else ""
    return replace(verdict, sentence=f"{verdict.sentence}; {could}{these}", same_order=same_order)


def _unanswered(matrix: Matrix, runs: Sequence[str]) -> set[str]:
    """Topics for which one of these runs retrieved nothing, where the scores are not saved ones: they count as 0."""
    return {topic for run in (matrix.scores.runs if matrix.scores else ()) if run.run in runs for topic in run.empty}


def _of_count(topics: int, bound: Bound, fewer: bool) -> tuple[float, bool, str]:
    passed, found = topics >= bound.limit, f"{topics} {plural(topics, 'topic')}{' with documents' * fewer}"
    return topics, passed, f"{bound.measure} is over {found}, {'at least' if passed else 'fewer than'} {bound.limit:g}"


def _beside(value: float, bound: Bound) -> tuple[bool, str]:
    """Whether a lowest or highest value allowed holds, and where the value lies."""
    if bound.kind == "min":
        return (True, "at least") if value >= bound.limit - TOLERANCE else (False, "below")
    return (True, "at most") if value <= bound.limit + TOLERANCE else (False, "above")


def _of_summary(alone: Paired, bound: Bound) -> tuple[float, bool, str]:
    value = float(alone.summaries[0])
    passed, words = _beside(value, bound)
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


def _as_limited(drop: float, before: float, bound: Bound) -> float:
    """A drop as its bound limits it: as it is, or as a share of what was there before."""
    if not bound.relative or abs(drop) <= TOLERANCE:
        return drop
    return drop / abs(before) if before else math.copysign(math.inf, drop)


def _of_drop(both: Paired, bound: Bound) -> tuple[float, bool, str]:
    drop = _as_limited(_drop(both), float(both.summaries[0]), bound)
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
        what = f"{bound.measure} of '{both.runs[1]}' differs equally on all topics, so there is no variance"
        raise InputError(bound.place, what, f"use {flag.test:randomization}")
    if math.isnan(p):
        return p, True, f"{_moved(both)} alike on all topics, so that {method} gives no p"
    significant = "not significant" if p > bound.limit else "significant"
    passed = _drop(both) <= 0 or p > bound.limit
    return p, passed, f"{_moved(both)}, p {significance.p_value(p)} ({method}), {significant} at {bound.limit:g}"


def _of_unjudged(alone: Paired, unjudged: Floats, bound: Bound) -> tuple[float, bool, str]:
    if np.isnan(unjudged).any():
        hint = f"set a minimum share of judged documents instead: {either('--min judged@10=0.8', 'min judged@10')}"
        raise InputError(bound.place, f"{bound.measure} has no residual", hint, usage=True)
    rise = float(alone.reading.summarize_rises(alone.score[0], unjudged))
    passed = rise <= bound.limit + TOLERANCE
    sentence = f"unjudged documents could lift {bound.measure} by {_shown(rise, alone)}"
    return (
        rise,
        passed,
        sentence + (_allowed(bound) if passed else f", more than {bound.limit:g}: too few documents are judged"),
    )


# Verdicts of a check -> text: lines for a terminal, annotations, a JUnit report, or a table.


@dataclass(frozen=True, eq=False, repr=False)
class Checked(kernel.results.FrameResult):
    """The verdicts on runs, in their order, and what the scores depend on."""

    verdicts: Sequence[Verdict]
    signature: str

    @property
    def broken(self) -> list[Verdict]:
        """Those of bounds that do not hold."""
        return [verdict for verdict in self.verdicts if not verdict.passed]

    def document(self, layout: Layout) -> Document:
        """The verdicts as a table."""
        if layout == "long":
            rows = [verdict.row for verdict in self.verdicts]
            names = list(dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row))
            bounds = [{**row, "worst": verdict.worst_topics} for row, verdict in zip(rows, self.verdicts, strict=True)]
            nested = {
                "signature": self.signature,
                "passed": all(verdict.passed for verdict in self.verdicts),
                "bounds": bounds,
            }
            table = Table([*map(Column, names)], [[row.get(name) for name in names] for row in rows])
            return Document([table], self.signature, nested=nested)
        columns = [*map(Column, ("", "run", "bound")), Column("allowed", "figures"), *map(Column, ("verdict", "worst"))]
        cells = [
            (
                "✅" if verdict.passed else "❌",
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
    def passed(self) -> bool:
        """Whether all bounds hold."""
        return not self.broken

    @property
    def passed_by_run(self) -> dict[str, bool]:
        """Whether each run satisfies its bounds."""
        runs = dict.fromkeys((verdict.run for verdict in self.verdicts), True)
        return runs | dict.fromkeys((verdict.run for verdict in self.broken), False)


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many bounds are broken."""
    broken = sum(not verdict.passed for verdict in verdicts)
    if not broken:
        words = {1: "the bound holds", 2: "both bounds hold"}
        return words.get(len(verdicts), f"all {len(verdicts)} bounds hold")
    if broken == len(verdicts):
        return {1: "the bound failed", 2: "both bounds failed"}.get(broken, f"all {broken} bounds failed")
    return f"{broken} of {len(verdicts)} bounds failed"


def _text(found: Checked, sign: Callable[[str], str]) -> str:
    lines = [f"{'ok  ' if verdict.passed else 'FAIL'}  {verdict.line}" for verdict in found.verdicts]
    signed = [line for line in [sign(found.signature)] if line]
    return "\n".join([*lines, "", summary(found.verdicts), *signed]) + "\n"


def _github(found: Checked, sign: Callable[[str], str]) -> str:
    """Workflow commands, which GitHub shows beside the job."""
    lines = [f"::error title={_escape(verdict.bound.name, ':,')}::{_escape(verdict.line)}" for verdict in found.broken]
    topics = sorted({verdict.topics for verdict in found.verdicts})
    said = f"{summary(found.verdicts)}, over {' to '.join(map(str, dict.fromkeys([topics[0], topics[-1]])))} topics"
    return "\n".join([*lines, f"::notice title=gradedeval check::{_escape(said)}"]) + "\n"


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _junit(found: Checked, sign: Callable[[str], str]) -> str:
    cases = []
    for verdict in found.verdicts:
        name = f"{verdict.bound.name} {verdict.bound.allowed}"
        topics = f'<properties><property name="topics" value="{verdict.topics}"/></properties>'
        failure = "" if verdict.passed else f"<failure message={_quote(verdict.line)}/>"
        cases.append(f"  <testcase classname={_quote(verdict.run)} name={_quote(name)}>{topics}{failure}</testcase>")
    head = f'  <properties><property name="signature" value={_quote(found.signature)}/></properties>'
    return _suite([head, *cases], len(found.verdicts), failures=len(found.broken))


def _suite(lines: Sequence[str], tests: int, *, failures: int = 0, errors: int = 0) -> str:
    counts = f'tests="{tests}" failures="{failures}" errors="{errors}"'
    begin = ['<?xml version="1.0" encoding="utf-8"?>', f'<testsuite name="gradedeval check" {counts}>']
    return "\n".join([*begin, *lines, "</testsuite>\n"])


def _junit_fault(error: InputError) -> str:
    """One case that could not be run: an error, where a broken bound is a failure."""
    case = '  <testcase classname="gradedeval check" name="data">'
    return _suite([f"{case}<error message={_quote(error.cli_text)}/></testcase>"], 1, errors=1)


def _github_fault(error: InputError) -> str:
    return f"::error title=gradedeval check%3A nothing was checked::{_escape(error.cli_text)}\n"


def _json_fault(error: InputError) -> str:
    return kernel.formats.render(
        lambda _: Document([], nested={"passed": False, "error": error.cli_text, "bounds": []}), "json"
    )


def _quote(text: str) -> str:
    """An attribute's value; a character that XML cannot hold becomes a question mark."""
    legal = (
        character if character in "\t\n" or (character >= " " and not "\ud800" <= character <= "\udfff") else "?"
        for character in kernel.formats.in_utf8(text)
    )
    return quoteattr("".join(legal), {"\n": "&#10;"})


REPORTS: dict[str, Callable[[Checked, Callable[[str], str]], str]] = {
    "text": _text, "github": _github, "junit": _junit,
}  # fmt: skip
"""The formats of a check alone, which no other result has: from the result and a function that shortens signatures."""
FAULTS: dict[str, Callable[[InputError], str]] = {"junit": _junit_fault, "github": _github_fault, "json": _json_fault}
"""The formats in which a program is told that nothing could be checked."""


def check_order(matrix: Matrix) -> None:
    """Raise InputError for a run whose scores rise with the rank: a gate that lets it pass guards nothing."""
    for note in matrix.notes:
        if isinstance(note, Note) and note.kind == "rising-scores":
            raise InputError(note.place, note.statement, note.raw[1], kind=note.kind)
