"""Scores as a tidy table: rows, columns, means and signature."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gradedeval.arrays import Bools, Floats, merge_close
from gradedeval.errors import InputError, Note, flag, plural, public
from gradedeval.kernel.measures.definition import ALL, AnyMeasure, Measure, Reading, Summary
from gradedeval.kernel.measures.notation import Value
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.options import PRESETS, Options
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring import score_tables
from gradedeval.kernel.scoring.caveats import different_topics_notes
from gradedeval.kernel.scoring.results import InNotebook
from gradedeval.kernel.scoring.signature import signature

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.kernel.formats import Document, Layout
    from gradedeval.kernel.scoring.predicted import Estimated
    from gradedeval.kernel.scoring.score_tables import Row as Row


# The scores of one run: topics × measures, and what sums them up.


@dataclass(eq=False, repr=False)
class RunScores:
    """One run's scores: topics × measures, nan where blank.

    missing   how many of the topics the run lacks; they score 0 rankings
    score     the score
    unjudged  how far it could rise by the unjudged documents of the run
    residual  how far it could rise in all
    included  whether the pair is certain enough for `max_residual`
    format    what its file was read as; empty for objects in memory
    empty     the topics for which it retrieved nothing
    bounds    2 × topics × measures: the lowest and the highest score, where asked for
    """

    run: str
    topics: list[str]
    missing: int
    score: Floats
    unjudged: Floats
    residual: Floats
    included: Bools
    format: str = ""
    empty: frozenset[str] = frozenset()
    bounds: Floats | None = None

    def summary(self, part: str, column: int, summary: Summary) -> float:
        """The summary of one measure over the topics kept, of a part of its residual, or of a bound; nan where there
        are none."""
        kept = self.included[:, column]
        score = self.score[:, column][kept]
        if part == "score":
            return float(Reading(summary).summarize(score))
        values = self.part(part)[:, column][kept]
        reading = Reading(summary)
        return float(
            reading.summarize(values) if part in score_tables.BOUNDS else reading.summarize_rises(score, values)
        )

    def part(self, name: str) -> Floats:
        """topics × measures: the score, a residual or a bound; nan where it is blank."""
        if name not in score_tables.BOUNDS:
            return np.asarray(getattr(self, name))
        return (
            np.full(self.score.shape, np.nan) if self.bounds is None else self.bounds[score_tables.BOUNDS.index(name)]
        )

    def restricted_to(self, topics: Collection[str]) -> RunScores:
        """The same scores, of which those on some topics count."""
        among = np.array([[topic in topics] for topic in self.topics], dtype=bool)
        return replace(self, included=self.included & among)

    @cached_property
    def counts(self) -> Sequence[int]:
        """measures: how many topics are kept by each."""
        return cast(list[int], np.count_nonzero(self.included, axis=0).tolist())

    def count(self, column: int) -> int:
        """How many topics are kept by one measure."""
        return self.counts[column]

    def most(self, measures: int) -> int:
        """Over how many topics any of that many measures is, at most."""
        return max(self.counts[:measures], default=0)

    def kept(self, column: int) -> frozenset[str]:
        """The topics that the summary of one measure is over."""
        return frozenset(compress(self.topics, self.included[:, column].tolist()))

    def is_zero(self, topics: Sequence[str], column: int) -> bool:
        """Whether all of some topics score 0, as far as they count."""
        among = set(topics)
        return not self.score[[row for row, topic in enumerate(self.topics) if topic in among], column].any()


# What is left of a run's scores where nobody asks for topics: of ten thousand runs far away little has to travel.


@dataclass(eq=False, repr=False)
class RunSummary(RunScores):
    """A run's scores without those of topics.

    summaries  "score", or a part of the residual, or a bound -> the summary by each measure
    counts     how many topics each measure's is over
    zero       the measures by which the topics without anything relevant all score 0
    """

    summaries: Mapping[str, Sequence[float]] = field(default_factory=dict)
    counts: Sequence[int] = ()
    zero: frozenset[int] = frozenset()

    def summary(self, part: str, column: int, summary: Summary) -> float:
        return self.summaries[part][column]

    def is_zero(self, topics: Sequence[str], column: int) -> bool:
        return column in self.zero


# Scores as a tidy table: rows, columns, means and signature.


# Results by measure: found under any name of a measure, and by the measure itself.


class ByMeasure(dict[str, Any]):
    """measure -> value, in the order and under the names that were asked for.

    `found["map"]`, `found["AP"]` and `found[ap]` are the same, whichever of them was asked for. Raises KeyError for a
    measure that is not there.
    """

    def __init__(self, measures: Sequence[Measure], options: Options, values: Iterable[Any]) -> None:
        super().__init__(zip((measure.label for measure in measures), values, strict=True))
        self._measures, self._options = measures, options

    def __missing__(self, name: AnyMeasure) -> Any:
        label = self._measures[index_of(name, self._measures, self._options)].label
        if label == name:  # it was taken out
            raise KeyError(name)
        return self[label]

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def get(self, name: Any, default: Any = None) -> Any:
        """The value of a measure, or `default` where it is not there."""
        try:
            return self[name]
        except KeyError:
            return default


def index_of(name: AnyMeasure, measures: Sequence[Measure], options: Options) -> int:
    """Where a measure stands among those that were scored. Raises KeyError where it does not."""
    labels = [measure.label for measure in measures]
    if name in labels:
        return labels.index(str(name))
    try:
        (measure,) = parse_measures(name)
        return list(measures).index(with_defaults(measure, options))
    except (InputError, ValueError):  # a user's own measure is not a name that can be read
        if str(name) in map(str, measures):
            return [*map(str, measures)].index(str(name))
    raise KeyError(f"no measure {name} among {', '.join(labels)}")


def with_defaults(measure: Measure, options: Options) -> Measure:
    """The measure with the gain scheme and relevance level that the options give it where it names none itself.

    It is called as it was asked for.
    What is written in the measure wins, then what is given for all measures, then the preset's own for this one.
    """
    preset = {} if options.like is None else _preset(measure, options.like)
    wanted: dict[str, Value] = {name: getattr(options, name) for name in filter(None, [gain_option(measure, options)])}
    settled = dict(measure.parameters).keys() | wanted.keys()
    if {"gain", "rel"} & settled:
        settled |= {"gain", "rel"}
    wanted |= {key: value for key, value in preset.items() if key not in settled} if preset else {}
    if not wanted:
        return measure
    # What is a measure's default anyway stays unsaid.
    applied = measure(**{key: value for key, value in wanted.items() if value != _default(measure, key)})
    return replace(applied, spellings=measure.spellings)


def gain_option(measure: Measure, options: Options) -> str:
    """The option that says what grades are worth to a measure: `gain` or `rel`; empty where it names that itself, or
    neither is given."""
    definition = measure.definition
    if dict(measure.parameters).keys() & set(definition.gain_parameters):
        return ""
    if options.gain is not None and definition.scale:
        return "gain"
    if options.rel is None:
        return ""
    takes = definition.gain == "binary" or (options.like is not None and "rel" in _preset(measure, options.like))
    return "rel" if takes else ""


def _preset(measure: Measure, like: str) -> dict[str, Value]:
    """The parameters that a preset gives a measure."""
    preset = PRESETS[like]
    shared = {key: value for key, value in preset.shared.items() if key in measure.definition.parameters}
    cut = preset.cut.get(measure.name, {}) if measure.cutoff is not None else {}
    return {**shared, **preset.parameters.get(measure.name, {}), **cut}


def _default(measure: Measure, key: str) -> Any:
    if key == "gain":
        return measure.definition.gain
    return 1 if key == "rel" and measure.definition.gain == "binary" else measure.definition.parameters.get(key)


@dataclass(eq=False, repr=False)
class Scores(InNotebook):
    """What an evaluation found.

    runs             in the order given
    measures         with their defaults filled in
    notes            warnings to the user
    transformations  what was done to the scores since, as in the signature
    errors           why other runs have no scores, where errors were collected
    sources          run -> what it was read from, where residuals were asked for: it is read again to find what judging
                     could do
    machine          the scores of the same runs by a machine's judgments, where they are estimated from both
    """

    runs: list[RunScores]
    measures: list[Measure]
    qrels: Qrels
    options: Options
    notes: list[str] = field(default_factory=list)
    transformations: tuple[str, ...] = ()
    errors: list[InputError] = field(default_factory=list)
    sources: Mapping[str, Any] = field(default_factory=dict)
    machine: Scores | None = None

    def __repr__(self) -> str:
        runs = self.runs[0].run if len(self.runs) == 1 else f"{len(self.runs)} runs"
        return f"<Scores of {runs}: {', '.join(self.labels)}; {self.signature}>"

    def document(self, layout: Layout, **how: Any) -> Document:
        """The scores as a table, as the keywords of `score_tables.document` say."""
        return score_tables.document(self, layout, **how)

    @property
    def texts(self) -> Mapping[str, str]:
        return self.options.texts

    def unequal_topics(self) -> list[Note]:
        """Return a note where the means of runs are over different topics."""
        whole = {id(run.topics): frozenset(run.topics) for run in self.runs}  # thousands of runs share one list
        averaged = {measure.label: list(whole.values()) for measure in self.measures}
        if self.options.max_residual is not None:
            averaged = {label: [run.kept(column) for run in self.runs] for column, label in enumerate(averaged)}
        return different_topics_notes(averaged, self.options)

    @property
    def systems_of(self) -> dict[str, list[str]]:
        """system -> its runs; each run by itself where there are no replicates."""
        names, replicates = [run.run for run in self.runs], self.options.replicates
        return {name: [name] for name in names} if replicates is None else replicates.systems(names)

    @property
    def systems(self) -> pd.DataFrame:
        """A row for each system and measure, over its seeds: system, seeds[, slice], measure, mean, sd[, low, high],
        signature. Runs in no system are systems of one run, without a deviation. Low and high are the ends of the
        interval of a mean that is estimated from a machine's judgments, too."""
        from gradedeval.kernel.scoring import systems
        from gradedeval.kernel.scoring.results import to_frame  # few evaluations come here

        rows = list(systems.rows(self))
        names = (*systems.columns(self), "signature")
        return to_frame({name: [getattr(row, name) for row in rows] for name in names})

    @public
    def rows(self, by_topic: bool = True, sliced: bool = False) -> Iterator[Row]:
        """The tidy table, run by run: with `by_topic` a row for each topic and measure; then the summary, and where
        wanted that of each slice."""
        for number, run in enumerate(self.runs):
            for column, measure in enumerate(self.measures):
                known: dict[str, Iterable[Any]] = {**self._filled(run, column, by_topic)}
                known |= {"run": repeat(run.run), "measure": repeat(measure.label)}
                of_row = (known.get(name, repeat(None)) for name in score_tables.Row._fields)
                yield from map(score_tables.Row._make, zip(*of_row, strict=False))
            for name, part in self._slices if sliced and self.options.slices is not None else ():
                of_run = replace(part, runs=[part.runs[number]])
                yield from (row._replace(slice=name) for row in of_run.rows(by_topic=False))

    @cached_property
    def by_slice(self) -> dict[str, dict[str, Scores]]:
        """column -> label -> the same scores on the topics that have the label; empty where there are no slices. A
        label of no topic that is scored is left out."""
        if self.options.slices is None:
            return {}
        scored = {topic for run in self.runs for topic in run.topics}
        return {
            column: {label: self._of_topics(column, label, own) for label, own in labels.items() if own & scored}
            for column, labels in self.options.slices.topics.items()
        }

    @property
    def _slices(self) -> list[tuple[str, Scores]]:
        """The scores of each slice, by its name."""
        return [(f"{column}={label}", part) for column, parts in self.by_slice.items() for label, part in parts.items()]

    def _of_topics(self, column: str, label: str, topics: Collection[str]) -> Scores:
        """The scores on the topics of a slice; six digits of its name tell it from others."""
        from hashlib import sha256  # few evaluations have slices

        runs = [run.restricted_to(topics) for run in self.runs]
        machine = self.machine and replace(self.machine, runs=[run.restricted_to(topics) for run in self.machine.runs])
        count = max((run.most(len(self.measures)) for run in runs), default=0)
        digest = sha256("\n".join(sorted(topics)).encode("utf-8", "surrogateescape")).hexdigest()[:6]
        what = f"slice {column}={label} of {count} {plural(count, 'topic')} {digest}"
        options = replace(self.options, slices=None)
        done = (*self.transformations, what)
        return replace(self, runs=runs, options=options, transformations=done, machine=machine)

    @public
    def column(self, run: RunScores, column: int, by_topic: bool = True) -> dict[str, list[Any]]:
        """The rows of one run and measure, column by column: from `topic` on, those of `Row`."""
        found = self._filled(run, column, by_topic)
        blank = [None] * len(found["topic"])
        beside = {"run", "measure", "slice", *score_tables.ESTIMATED}
        return {
            name: found.get(name, blank) for name in score_tables.Row._fields if name in found or name not in beside
        }

    def _filled(self, run: RunScores, column: int, by_topic: bool) -> dict[str, list[Any]]:
        """The same without columns that are blank."""
        kept = run.included[:, column]
        topics = list(compress(run.topics, kept)) if by_topic else []
        score = run.score[kept, column].tolist() if by_topic else []
        summary = self.measures[column].definition.summary
        mean = run.summary("score", column, summary) if self.machine is None else self.summary(run, column)
        found: dict[str, list[Any]] = {
            "topic": [*topics, ALL],
            "score": [None if value != value else value for value in (*score, mean)],
            "topics": [None] * len(topics) + [run.counts[column]],
        }
        if self.options.interval is not None or self.machine is not None:
            ends = zip(score_tables.INTERVAL, _blanked(self.intervals[self.runs.index(run), column]), strict=True)
            found |= {name: [*repeat(None, len(topics)), end] for name, end in ends}
        if self.options.wants_residuals or self.options.bounds:
            found |= self._unknown(run, column, by_topic)
        if self.machine is not None and self._estimated is not None:
            found = self._estimated.with_machine(found, run.run, column, by_topic)
        return found

    def _unknown(self, run: RunScores, column: int, by_topic: bool) -> dict[str, list[Any]]:
        """The residuals and bounds of one run by a measure, as far as they are asked for."""
        summary, kept = self.measures[column].definition.summary, run.included[:, column]
        names = ("residual", "unjudged") if self.options.wants_residuals else ()
        parts: dict[str, Floats] = {}
        for name in (*names, *(score_tables.BOUNDS if self.options.bounds else ())):
            own = run.part(name)[kept, column] if by_topic else np.empty(0)
            parts[name] = np.append(own, run.summary(name, column, summary))
        if names:
            with np.errstate(invalid="ignore"):  # infinite costs have no difference
                parts["beyond"] = parts["residual"] - parts["unjudged"]
        return {name: _blanked(values) for name, values in parts.items()}

    @public
    def summary(self, run: RunScores, column: int) -> float:
        """The summary of one run by one measure, estimated where there are a machine's judgments too; nan where it is
        blank."""
        if self.machine is not None and self._estimated is not None:
            return self._estimated.score(run.run, column)
        return run.summary("score", column, self.measures[column].definition.summary)

    @public
    def saved_by(self, machine: Scores, column: int) -> tuple[Floats, Floats]:
        """What judgments by a machine are worth by one measure, if these are the scores by people, `machine` those of
        the same runs by it, and it judged many more topics: runs × 2, and pairs of runs × 2 for their differences. By
        what share an interval is narrower, and how many times the topics people would have to judge for it; nan with
        fewer than five topics."""
        from gradedeval.kernel.scoring.predicted import could_be_saved  # few evaluations have predictions

        return could_be_saved(self, machine, column)

    @cached_property
    def _estimated(self) -> Estimated | None:
        """What is estimated from people's judgments and a machine's; None where these are not given."""
        if self.machine is None:
            return None
        from gradedeval.kernel.scoring.predicted import Estimated  # few evaluations have predictions

        return Estimated(self.runs, self.by_machine, self.measures, self.options.interval)

    @property
    def by_machine(self) -> list[RunScores]:
        """The scores of the same runs, in the same order, by a machine's judgments; none where these are not given."""
        known = {} if self.machine is None else {run.run: run for run in self.machine.runs}
        return [known[run.run] for run in self.runs if known]

    @cached_property
    def intervals(self) -> Floats:
        """runs × measures × 3: the standard error of each summary and the ends of its interval, nan where blank."""
        level = self.options.interval
        if self._estimated is not None:
            return self._estimated.intervals()
        if level is None:
            return np.full((len(self.runs), len(self.measures), 3), np.nan)
        from gradedeval.kernel.scoring.intervals import summary_intervals  # few evaluations need it

        cells = [(run.score, run.included) for run in self.runs]
        return summary_intervals(cells, self.measures, 1 - level)

    @public
    def sorted_by(self, measure: Measure) -> Scores:
        """The same with the runs from the best to the worst by a measure; those equal to 1e-12 by name.
        Where no preferred direction the highest is the first.

        Raises InputError (usage) where it is not among the measures.
        """
        measure = with_defaults(measure, self.options)
        if measure not in self.measures:
            what = f"'{measure.label}' is not among the measures ({', '.join(self.labels)})"
            raise InputError(flag.sort, what, f"add {flag.measures:'{measure.label}'}", usage=True)
        column, reading = self.measures.index(measure), measure.reading
        means = np.array([reading.sign * self.summary(run, column) for run in self.runs])
        with np.errstate(invalid="ignore"):  # infinite costs have no difference
            level = merge_close(np.where(np.isnan(means), np.inf, -means))
        order = sorted(zip(level.tolist(), self.runs, strict=True), key=lambda pair: (pair[0], pair[1].run))
        if self.options.replicates is not None:  # a system stands where its mean does
            first = {run: number for number, names in enumerate(self._systems_by(measure)) for run in names}
            order.sort(key=lambda pair: first[pair[1].run])
        return replace(self, runs=[run for _, run in order])

    def _systems_by(self, measure: Measure) -> list[list[str]]:
        """The runs of each system, the best systems by a measure first."""
        from gradedeval.kernel.scoring import systems  # few evaluations have any

        of_all = (row for row in systems.rows(self) if row.slice is None and row.measure == measure.label)
        levels = {row.system: measure.reading.sign * (np.nan if row.mean is None else row.mean) for row in of_all}
        ordered = sorted(levels, key=lambda system: (-levels[system], system))
        return [self.systems_of[system] for system in ordered]

    @property
    def is_multi_run(self) -> bool:
        """Whether several runs were asked for: then it must be said which one a score is of."""
        return len(self.runs) + len(self.errors) > 1

    @property
    def unscored(self) -> str:
        """How many runs have no scores, in words."""
        count = len(self.errors)
        return f"{count} of {count + len(self.runs)} runs {'is' if count == 1 else 'are'} not scored"

    @property
    def columns(self) -> list[str]:
        """The columns of the tidy table, which depend on the options."""
        columns = [
            "run",
            "topic",
            *(["slice"] if self.options.slices is not None else []),
            "measure",
            "score",
            *(score_tables.INTERVAL if self.options.interval is not None or self.machine is not None else ()),
            *(score_tables.ESTIMATED if self.machine is not None else ()),
        ]
        columns += score_tables.BOUNDS if self.options.bounds else ()
        columns += ["residual"] if self.options.wants_residuals else []
        columns += ["unjudged", "beyond"] if self.options.residuals == "split" else []
        return columns + (["topics"] if self.options.max_residual is not None else [])

    @property
    def frame(self) -> pd.DataFrame:
        """The tidy table as a DataFrame: run, topic[, query][, slice], measure, score[, se, low, high][, low, high]
        [, people, people_low, people_high, machine, lambda_, narrower, times][, residual][, unjudged, beyond]
        [, topics], signature (of the summaries; None elsewhere)."""
        from gradedeval.kernel.scoring.results import to_frame  # few evaluations come here

        rows = list(self.rows(sliced=True))
        columns = {name: [getattr(row, name) for row in rows] for name in self.columns}
        if self.texts:
            from gradedeval.kernel.formats import QUERY

            at = list(columns).index("topic") + 1
            texts = {QUERY: [self.texts.get(row.topic) if row.topics is None else None for row in rows]}
            columns = dict([*list(columns.items())[:at], *texts.items(), *list(columns.items())[at:]])
        return to_frame({**columns, "signature": score_tables.row_signatures(self, rows)})

    @property
    def labels(self) -> list[str]:
        """What the measures are called: as they were asked for."""
        return [measure.label for measure in self.measures]

    @property
    def means(self) -> ByMeasure:
        """measure -> mean (or total, of a count) of the only run; None where blank.

        Under the names that were asked for; any other name of a measure finds it too, and so does the measure itself.
        Raises InputError (usage) where there are several runs: see `means_by_run`.
        """
        return self.means_by_run[self._only_run("means", "use .means_by_run: run -> measure -> mean")]

    @property
    def means_by_run(self) -> dict[str, ByMeasure]:
        """run -> measure -> mean, however many runs there are."""
        return self._summaries("score")

    @property
    def residuals(self) -> ByMeasure:
        """The mean residuals, as `means`; None where the measure has none or they were not asked for."""
        return self.residuals_by_run[self._only_run("residuals", "use .residuals_by_run: run -> measure -> residual")]

    @property
    def residuals_by_run(self) -> dict[str, ByMeasure]:
        """run -> measure -> mean residual, however many runs there are."""
        return self._summaries("residual")

    @property
    def bounds(self) -> ByMeasure:
        """The lowest and the highest mean, a pair for each measure, as `means`; None where it has no bounds or they
        were not asked for. All topics at their bounds bound the mean."""
        return self.bounds_by_run[self._only_run("bounds", "use .bounds_by_run: run -> measure -> (low, high)")]

    @property
    def bounds_by_run(self) -> dict[str, ByMeasure]:
        """run -> measure -> (low, high), however many runs there are."""
        low, high = (self._summaries(end) for end in score_tables.BOUNDS)
        return {
            run: ByMeasure(
                self.measures,
                self.options,
                [
                    None if least is None else (least, most)
                    for least, most in zip(low[run].values(), high[run].values(), strict=True)
                ],
            )
            for run in low
        }

    def __getitem__(self, measure: AnyMeasure) -> float | None:
        """The mean of the only run by a measure, as in `scores["map"]`. Raises as `means`, and KeyError for no such
        measure."""
        mean: float | None = self.means[measure]  # type: ignore[index]
        return mean

    def __contains__(self, measure: object) -> bool:
        """Whether there are scores by a measure, under any of its names."""
        try:
            index_of(measure, self.measures, self.options)  # type: ignore[arg-type]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        """What the measures are called: `dict(scores.means)` has the same keys."""
        return iter(self.labels)

    def _only_run(self, wanted: str, hint: str) -> str:
        if len(self.runs) > 1:
            raise InputError(f"Scores.{wanted}", f"there are {len(self.runs)} runs", hint, usage=True)
        return self.runs[0].run

    def _summaries(self, part: str) -> dict[str, ByMeasure]:
        summaries = {}
        for run in self.runs:
            values = [
                self.summary(run, i) if part == "score" else run.summary(part, i, measure.definition.summary)
                for i, measure in enumerate(self.measures)
            ]
            blanked = [None if value != value else float(value) for value in values]
            summaries[run.run] = ByMeasure(self.measures, self.options, blanked)
        return summaries

    @public
    def by_topic(self, measure: AnyMeasure, run: str | None = None) -> dict[str, float]:
        """topic -> score by one measure, under any of its names. `run` names the run where there are several.

        Raises KeyError where there is no such measure or run, InputError (usage) where there are several runs and none
        is named.
        """
        column = index_of(measure, self.measures, self.options)
        if run is None:
            run = self._only_run("by_topic", "name one, as in by_topic(measure, run)")
        scores = {known.run: known for known in self.runs}[run]
        kept = scores.included[:, column]
        return dict(zip(compress(scores.topics, kept), scores.score[kept, column].tolist(), strict=True))

    @cached_property
    def signature(self) -> str:
        """All that the numbers depend on, in one line."""
        return self._signature(self.measures, self.runs)

    @cached_property
    def signatures(self) -> dict[tuple[str, str], str]:
        """(run, measure) -> all that this one score depends on."""
        alike = {(len(run.topics), run.missing, run.format): run for run in self.runs}
        texts = {
            key: {measure.label: self._signature([measure], [run]) for measure in self.measures}
            for key, run in alike.items()
        }
        return {
            (run.run, measure): text
            for run in self.runs
            for measure, text in texts[len(run.topics), run.missing, run.format].items()
        }

    def _signature(self, measures: list[Measure], runs: list[RunScores]) -> str:
        counts, formats = [(len(run.topics), run.missing) for run in runs], [run.format for run in runs]
        options = self.options if self.machine is None else replace(self.options, interval=None)
        text = signature(self.qrels, options, measures, counts, formats)
        predicted = [] if self.machine is None or self._estimated is None else self._estimated.words(self.machine.qrels)
        return " | ".join([text, *predicted, *self.transformations])


def _blanked(values: Floats) -> list[float | None]:
    """The values, None where they are blank."""
    return [None if value != value else value for value in values.tolist()]
