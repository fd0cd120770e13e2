"""Score and residual of every topic -> tidy columns; means and signature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.errors import Fault
from gradedeval.gains import Bools, Floats, Gains, GainTable, Grades, binary_table, graded_table, threshold_table
from gradedeval.graded import Batch, GradedRun, judged_codes
from gradedeval.measures import MEASURES, Measure
from gradedeval.rules import LIKE, Rules
from gradedeval.trec.lines import text
from gradedeval.trec.qrels import Qrels

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"


@dataclass(frozen=True)
class Row:
    """A line of the tidy table: blank parts are None; a summary has the topic `all` and counts its `topics`."""

    run: str
    topic: str
    measure: str
    score: float | None
    residual: float | None = None
    unjudged: float | None = None
    beyond: float | None = None
    topics: int | None = None


@dataclass(frozen=True, eq=False)
class RunScores:
    """One run's scores: topics × measures, nan where blank.

    missing   how many of the topics the run lacks; they score 0
    score     the score
    unjudged  how far it could rise by the unjudged documents of the run
    residual  how far it could rise in all
    kept      whether the pair is certain enough for `max_residual`
    """

    run: str
    topics: list[str]
    missing: int
    score: Floats
    unjudged: Floats
    residual: Floats
    kept: Bools

    def mean(self, values: Floats, column: int, total: bool) -> float:
        """The summary of one measure's column of `values` over the topics kept; nan where there are none."""
        own = values[self.kept[:, column], column]
        return float(own.sum() if total else own.mean()) if len(own) else np.nan


def applied(measure: Measure, rules: Rules) -> Measure:
    """The measure with the gain scheme and relevance level that the rules give it where it names none itself."""
    given = dict(measure.parameters)
    preset = LIKE[rules.like].parameters.get(measure.name, {}) if rules.like else {}
    if rules.gain is not None and measure.definition.scale and not {"gain", "rel", "g"} & given.keys():
        measure = measure if rules.gain == measure.gain else measure(gain=rules.gain)
    elif rules.rel is not None and measure.definition.gain == "binary" and "rel" not in given:
        measure = measure(rel=rules.rel)
    settled = set(dict(measure.parameters))
    if {"gain", "rel"} & settled:
        settled |= {"gain", "rel"}
    missing = {key: value for key, value in preset.items() if key not in settled}
    if "rel" in missing and rules.rel is not None:
        missing["rel"] = rules.rel
    # What is a measure's default anyway stays unsaid.
    return measure(**{key: value for key, value in missing.items() if value != _default(measure, key)})


def _default(measure: Measure, key: str) -> Any:
    return measure.definition.gain if key == "gain" else measure.definition.parameters.get(key)


class Scorer:
    """Scores runs against one qrels by one list of measures and one set of rules."""

    def __init__(self, qrels: Qrels, measures: Sequence[Measure], rules: Rules) -> None:
        self.qrels, self.rules = qrels, rules
        self.measures = list(dict.fromkeys(applied(measure, rules) for measure in measures))
        self.grades = _grades(qrels, rules)
        self.tables = [_table(measure, self.grades) for measure in self.measures]
        self.judged = judged_codes(qrels.labels, rules)

    @property
    def notes(self) -> list[str]:
        """What was assumed for all runs."""
        notes = list(self.qrels.notes)
        if self.grades.top <= 0:
            cure = "--top-grade N says what the top grade is"
            notes.append(f"{self.qrels.place}: no grade above 0: all gains are 0 and residuals blank; {cure}")
        if self.rules.max_residual is not None:
            unbounded = [str(one) for one in self.measures if one.definition.residual == "none"]
            if unbounded:
                notes.append(f"--max-residual: {', '.join(unbounded)} has no residual; all topics count there")
        return notes

    def score(self, run: GradedRun, name: str) -> RunScores:
        """The scores of one run, under the name that it goes by."""
        topics: list[bytes] = []
        parts: list[Floats] = []
        for batch in run:
            topics += batch.topics
            parts.append(self._score_batch(batch))
        row = {topic: at for at, topic in enumerate(topics)}
        score, unjudged, residual = np.concatenate(parts, axis=1)[:, [row[topic] for topic in run.topics]]
        kept = np.ones(score.shape, dtype=bool)
        if self.rules.max_residual is not None:
            kept = ~(residual > self.rules.max_residual)
        return RunScores(name, [text(topic) for topic in run.topics], run.missing, score, unjudged, residual, kept)

    def _score_batch(self, batch: Batch) -> Floats:
        """3 × topics × measures: score, residual by the unjudged documents, residual in all; nan where blank."""
        found = np.full((3, len(batch.topics), len(self.measures)), np.nan)
        views = _Views(batch, self.judged)
        for column, (measure, table) in enumerate(zip(self.measures, self.tables, strict=True)):
            score = found[0, :, column] = _run_measure(measure, views(table, measure.cutoff))
            if self.rules.wants_residuals and measure.definition.residual != "none" and table.top > 0:
                # The last bits of two sums may differ where nothing is unknown.
                found[1:, :, column] = np.maximum(np.array(self._best(measure, table, views)) - score, 0)
        return found

    def _best(self, measure: Measure, table: GainTable, views: _Views) -> tuple[Floats, Floats]:
        """The best cases: every unjudged document at the top gain; and every rank beyond the end as well."""
        definition = measure.definition
        deeper = self.rules.residual_depth == "full" and definition.cutoff == "stops"
        cutoff = None if deeper else measure.cutoff
        inside = np.minimum(_run_measure(measure, views(table, cutoff, unjudged=table.top)), definition.ceiling)
        if definition.residual == "retrieved":
            return inside, inside
        both = views(table, cutoff, unjudged=table.top, tail=table.top)
        return inside, np.minimum(_run_measure(measure, both), definition.ceiling)


class _Views:
    """A batch as measures see it; what several measures look at is looked up once."""

    def __init__(self, batch: Batch, judged: Bools) -> None:
        self.batch = batch
        self.judged_code = judged
        self.pool = batch.pool @ judged[: batch.unjudged].astype(np.int64)
        self.gains: dict[tuple[bytes, float, int | None], Floats] = {}
        self.judged: dict[int | None, Bools] = {}
        self.ideals: dict[bytes, Floats] = {}

    def __call__(self, table: GainTable, k: int | None, unjudged: float = 0.0, tail: float = 0.0) -> Gains:
        gain, ideal = self._gain(table, unjudged, k), self._ideal(table)
        retrieved = self.batch.retrieved if k is None else np.minimum(self.batch.retrieved, k)
        if k not in self.judged:
            self.judged[k] = self.judged_code[self.batch.codes[:, :k]]
        return Gains(gain, self.judged[k], ideal, retrieved, self.pool, table.levels, k, tail)

    def _gain(self, table: GainTable, unjudged: float, k: int | None) -> Floats:
        """The gains down to rank k alone: most rankings go on far below the cutoff."""
        worths = table.worth.tobytes()
        whole, key = (worths, unjudged, None), (worths, unjudged, k)
        if whole in self.gains:
            return self.gains[whole][:, :k]
        if key not in self.gains:
            worth = np.append(table.worth, [0.0, 0.0])
            worth[~self.judged_code] = unjudged
            worth[self.batch.beyond] = 0
            self.gains[key] = worth[self.batch.codes[:, :k]]
        return self.gains[key]

    def _ideal(self, table: GainTable) -> Floats:
        """topics × …: the gains above 0 of the pool, descending, padded with zeros."""
        key = table.worth.tobytes()
        if key not in self.ideals:
            order = np.argsort(-table.worth, kind="stable")[: np.count_nonzero(table.worth)]
            counts = self.batch.pool[:, order]
            each = counts.sum(1)
            ideal = np.zeros((len(counts), int(each.max(initial=0))))
            ideal[np.arange(ideal.shape[1]) < each[:, None]] = np.repeat(
                np.tile(table.worth[order], len(counts)), counts.ravel()
            )
            self.ideals[key] = ideal
        return self.ideals[key]


def _run_measure(measure: Measure, gains: Gains) -> Floats:
    if measure.definition is MEASURES.get(measure.name, measure).definition and measure.name in MEASURES:
        return measure.score(gains)
    try:
        scores = np.asarray(measure.score(gains), dtype=np.float64)
    except Exception as error:  # a user's own measure: its errors are messages, not our tracebacks
        raise Fault(f"measure '{measure}'", f"failed ({type(error).__name__}: {error})", "mend its function") from error
    if scores.shape != (len(gains.gain),):
        raise Fault(f"measure '{measure}'", f"gave shape {scores.shape}", f"one score a topic: ({len(gains.gain)},)")
    return scores


def _grades(qrels: Qrels, rules: Rules) -> Grades:
    highest = float(qrels.labels[-1])
    if rules.top_grade is not None and highest > rules.top_grade:
        given = "--top-grade" if rules.like is None else f"top grade {rules.top_grade:g}"
        raise Fault(
            qrels.place,
            f"grade {highest:g} is above the top grade {rules.top_grade:g}",
            f"raise {given} or mend the grade",
        )
    return Grades(qrels.labels, highest if rules.top_grade is None else rules.top_grade, rules.max_gain)


def _table(measure: Measure, grades: Grades) -> GainTable:
    place = f"'{measure}'"
    if measure.rel is not None:
        return binary_table(measure.rel, grades)
    if measure.definition.scale is None or measure.gain is None:
        return GainTable(np.zeros(len(grades.labels)), 0.0)
    steps = measure.own.get("g") if measure.definition.scale == "thresholds" else None
    if isinstance(steps, tuple) and grades.top > 0:
        return threshold_table(steps, grades, place)
    return graded_table(measure.gain, measure.definition.scale, grades, place)


@dataclass(frozen=True, eq=False)
class Scores:
    """What an evaluation found. `runs` in the order given; `measures` as applied; `notes`: what was said on the way."""

    runs: list[RunScores]
    measures: list[Measure]
    qrels: Qrels
    rules: Rules
    notes: list[str] = field(default_factory=list)

    def rows(self, by_topic: bool = True) -> Iterator[Row]:
        """The tidy table, run by run: with `by_topic` a row for each topic and measure; then the summary."""
        for run in self.runs:
            yield from self.rows_of(run, by_topic)

    def rows_of(self, run: RunScores, by_topic: bool = True) -> Iterator[Row]:
        """The rows of one run."""
        for column, measure in enumerate(self.measures):
            name = str(measure)
            if by_topic:
                for at in np.flatnonzero(run.kept[:, column]).tolist():
                    parts = [values[at, column] for values in (run.score, run.residual, run.unjudged)]
                    yield _row(run.run, run.topics[at], name, parts)
            total = measure.definition.summary == "total"
            parts = [run.mean(values, column, total) for values in (run.score, run.residual, run.unjudged)]
            yield _row(run.run, ALL, name, parts, int(run.kept[:, column].sum()))

    def sorted_by(self, measure: Measure) -> Scores:
        """The same with the runs from the best to the worst by one of the measures; equal runs stay in order.

        Raises Fault (usage) where it is not among the measures.
        """
        wanted = applied(measure, self.rules)
        if wanted not in self.measures:
            known = ", ".join(map(str, self.measures))
            raise Fault("--sort", f"'{wanted}' is not among the measures ({known})", f"add -m '{wanted}'", usage=True)
        column, total = self.measures.index(wanted), wanted.definition.summary == "total"
        means = [run.mean(run.score, column, total) for run in self.runs]
        order = sorted(range(len(means)), key=lambda at: (np.isnan(means[at]), -means[at]))
        return replace(self, runs=[self.runs[at] for at in order])

    @property
    def columns(self) -> list[str]:
        """The columns of the tidy table that these rules fill."""
        columns = ["run", "topic", "measure", "score"]
        columns += ["residual"] if self.rules.wants_residuals else []
        columns += ["unjudged", "beyond"] if self.rules.residuals == "split" else []
        return columns + (["topics"] if self.rules.max_residual is not None else [])

    @property
    def frame(self) -> pd.DataFrame:
        """The tidy table as a DataFrame: run, topic, measure, score[, residual][, unjudged, beyond][, topics]."""
        import pandas as pd  # not for a plain evaluation: it takes longer to import than a run takes to score

        rows = list(self.rows())
        return pd.DataFrame({name: [getattr(row, name) for row in rows] for name in self.columns})

    @property
    def means(self) -> dict[str, Any]:
        """measure -> mean (or total, of a count) for one run; run -> measure -> mean for several. None where blank."""
        return self._summary("score")

    @property
    def residuals(self) -> dict[str, Any]:
        """The mean residuals, shaped like `means`; None where the measure has none or they were not asked for."""
        return self._summary("residual")

    def _summary(self, part: str) -> dict[str, Any]:
        names = [str(measure) for measure in self.measures]
        totals = [measure.definition.summary == "total" for measure in self.measures]
        found = {
            run.run: {
                name: _blank(run.mean(getattr(run, part), column, total))
                for column, (name, total) in enumerate(zip(names, totals, strict=True))
            }
            for run in self.runs
        }
        return found if len(self.runs) > 1 else found[self.runs[0].run]

    def by_topic(self, measure: str | Measure, run: str | None = None) -> dict[str, float]:
        """topic -> score by one measure. `run` names the run where there are several.

        Raises KeyError where there is no such measure or run.
        """
        names = [str(one) for one in self.measures]
        runs: Mapping[str, RunScores] = {one.run: one for one in self.runs}
        if str(measure) not in names:
            raise KeyError(f"no measure {measure} among {', '.join(names)}")
        own = runs[run] if run is not None else self.runs[0]
        column = names.index(str(measure))
        return {own.topics[at]: float(own.score[at, column]) for at in np.flatnonzero(own.kept[:, column]).tolist()}

    @cached_property
    def signature(self) -> str:
        """All that the numbers depend on, in one line."""
        from gradedeval.signature import signature

        counts = [(len(run.topics), run.missing) for run in self.runs]
        return signature(self.qrels, self.rules, self.measures, counts)


def _row(run: str, topic: str, measure: str, parts: list[float], topics: int | None = None) -> Row:
    score, residual, unjudged = parts
    beyond = residual - unjudged
    return Row(run, topic, measure, _blank(score), _blank(residual), _blank(unjudged), _blank(beyond), topics)


def _blank(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
