"""Scores as a tidy table: rows, columns, means and signature."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from gradedeval.arrays import Bools, Floats, merge_close
from gradedeval.errors import InputError, Note, flag, plural, public
from gradedeval.kernel.measures.definition import ALL, AnyMeasure, Measure, Reading, Summary
from gradedeval.kernel.measures.notation import Value
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.options import PRESETS, Options
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring.caveats import different_topics_notes
from gradedeval.kernel.scoring.results import InNotebook
from gradedeval.kernel.scoring.signature import of_files, signature

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.kernel.formats import Document, Layout
    from gradedeval.kernel.scoring.predicted import Estimated
    from gradedeval.kernel.trec.digests import InputDigests

# The rows of the tidy table.

BOUNDS = ("low", "high")
"""The columns of --bounds, which excludes --interval: the lowest and the highest score."""
INTERVAL = ("se", "low", "high")
"""The columns of --interval: standard error of a summary, ends of its interval."""
ESTIMATED = ("people", "people_low", "people_high", "machine", "lambda_", "narrower", "times")
"""The columns of --predicted: the summary by people alone and its interval, the summary of all topics by the machine
alone, λ, the share by which the interval of both is narrower, and the factor of topics that people would have to judge
for it."""


class Row(NamedTuple):
    """A line of the tidy table; None if blank.

    A summary has the topic `all`, the number of `topics`, and a standard error with an interval, or bounds. The summary
    of a slice names it, as in `intent=head`.
    """

    run: str
    topic: str
    measure: str
    score: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    residual: float | None = None
    unjudged: float | None = None
    beyond: float | None = None
    topics: int | None = None
    people: float | None = None
    people_low: float | None = None
    people_high: float | None = None
    machine: float | None = None
    lambda_: float | None = None
    narrower: float | None = None
    times: float | None = None
    slice: str | None = None


# The scores of one run: topics × measures, and their summaries.


@dataclass(eq=False, repr=False)
class RunScores:
    """The scores of one run: topics × measures, nan if blank.

    missing   number of topics that the run lacks; they are scored as empty rankings
    score     the score
    unjudged  the residual of unjudged documents of the run
    residual  the total residual
    included  whether the measure scores the topic, and the residual is within `max_residual`
    format    format of the file; empty for objects in memory
    empty     topics without documents
    bounds    2 × topics × measures: the lowest and the highest score, if requested
    weights   the weight of each topic in means, if they differ
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
    weights: Floats | None = None

    def summary(self, part: str, column: int, summary: Summary) -> float:
        """Summarize the score, a residual or a bound of one measure over the included topics; nan without topics."""
        kept = self.included[:, column]
        score = self.score[:, column][kept]
        weights = None if self.weights is None else self.weights[kept]
        if part == "score":
            return float(Reading(summary).summarize(score, weights))
        values = self.part(part)[:, column][kept]
        reading = Reading(summary)
        rises = partial(reading.summarize_rises, score)
        return float((reading.summarize if part in BOUNDS else rises)(values, weights))

    def part(self, name: str) -> Floats:
        """Return topics × measures: the score, a residual or a bound; nan if blank."""
        if name not in BOUNDS:
            return np.asarray(getattr(self, name))
        return np.full(self.score.shape, np.nan) if self.bounds is None else self.bounds[BOUNDS.index(name)]

    def restricted_to(self, topics: Collection[str]) -> RunScores:
        """Return the scores with only some topics included."""
        among = np.array([[topic in topics] for topic in self.topics], dtype=bool)
        return replace(self, included=self.included & among)

    @cached_property
    def counts(self) -> Sequence[int]:
        """measures: the number of topics included by each."""
        return cast(list[int], np.count_nonzero(self.included, axis=0).tolist())

    def most(self, measures: int) -> int:
        """Return the largest number of topics included for any of the first `measures` measures."""
        return max(self.counts[:measures], default=0)

    def kept(self, column: int) -> frozenset[str]:
        """Return the topics included for one measure."""
        return frozenset(compress(self.topics, self.included[:, column].tolist()))

    def same_as(self, other: RunScores) -> bool:
        """Return whether the name, the topics and all numbers are equal; blanks are equal."""
        arrays = ("score", "unjudged", "residual", "included", "bounds", "weights")
        pairs = ((getattr(self, name), getattr(other, name)) for name in arrays)
        return (self.run, self.topics) == (other.run, other.topics) and all(
            mine is theirs or np.array_equal(mine, theirs, equal_nan=True) for mine, theirs in pairs
        )

    def is_zero(self, topics: Sequence[str], column: int) -> bool:
        """Return whether all scores of these topics are 0."""
        among = set(topics)
        return not self.score[[row for row, topic in enumerate(self.topics) if topic in among], column].any()


@dataclass(eq=False, repr=False)
class RunSummary(RunScores):
    """The summaries of a run without the scores of topics, which are costly to send between processes.

    summaries  "score", a residual or a bound -> the summary by each measure
    counts     number of topics of each measure
    zero       measures by which all topics without relevant documents score 0
    """

    summaries: Mapping[str, Sequence[float]] = field(default_factory=dict)
    counts: Sequence[int] = ()
    zero: frozenset[int] = frozenset()

    def summary(self, part: str, column: int, summary: Summary) -> float:
        return self.summaries[part][column]

    def is_zero(self, topics: Sequence[str], column: int) -> bool:
        return column in self.zero


# Results by measure: under any name of a measure, and by the measure itself.


class ByMeasure(dict[str, Any]):
    """measure -> value, in the order and under the names requested.

    `result["map"]`, `result["AP"]` and `result[ap]` are the same, whichever was requested. Raises KeyError for a
    missing measure.
    """

    def __init__(self, measures: Sequence[Measure], options: Options, values: Iterable[Any]) -> None:
        super().__init__(zip((measure.label for measure in measures), values, strict=True))
        self._measures, self._options = measures, options

    def __missing__(self, name: AnyMeasure) -> Any:
        label = self._measures[index_of(name, self._measures, self._options)].label
        if label == name:  # removed from the dict
            raise KeyError(name)
        return self[label]

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def get(self, name: Any, default: Any = None) -> Any:
        """Return the value of a measure, or `default` if it is missing."""
        try:
            return self[name]
        except KeyError:
            return default


def index_of(name: AnyMeasure, measures: Sequence[Measure], options: Options) -> int:
    """Return the index of a measure among scored measures. Raises KeyError if it is missing."""
    labels = [measure.label for measure in measures]
    if name in labels:
        return labels.index(str(name))
    try:
        (measure,) = parse_measures(name)
        return list(measures).index(with_defaults(measure, options))
    except (InputError, ValueError):  # the name of a user's measure may not parse
        if str(name) in map(str, measures):
            return [*map(str, measures)].index(str(name))
    raise KeyError(f"no measure {name} among {', '.join(labels)}")


def with_defaults(measure: Measure, options: Options) -> Measure:
    """Return the measure with the gain scheme and the relevance level of the options, unless it states its own.

    Its label stays as requested. Parameters of the measure precede options, and options precede a preset.
    """
    preset = {} if options.like is None else _preset(measure, options.like)
    option = gain_option(measure, options)
    settings: dict[str, Value] = {option: getattr(options, option)} if option else {}
    settled = dict(measure.parameters).keys() | settings.keys()
    if {"gain", "rel"} & settled:
        settled |= {"gain", "rel"}
    settings |= {key: value for key, value in preset.items() if key not in settled} if preset else {}
    if not settings:
        return measure
    # Defaults of the measure stay out of its notation.
    applied = measure(**{key: value for key, value in settings.items() if value != _default(measure, key)})
    return replace(applied, spellings=measure.spellings)


def gain_option(measure: Measure, options: Options) -> str:
    """Return the option that sets the gains of a measure, `gain` or `rel`; "" if it states its own or none is given."""
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
    """Return the parameters of a measure in a preset."""
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
    """The result of an evaluation.

    runs             scores of each run, in order
    measures         measures with their defaults
    notes            warnings to the user
    transformations  changes to the scores since, as in the signature
    errors           errors of runs without scores, if errors were collected
    sources          run -> its source, if residuals were requested: further analyses read it again
    machine          the scores of the same runs by a machine's judgments, if means are estimated from both
    paths            run -> its path, if it is a file
    digests          the digests of the files of qrels and runs, if they were requested

    A pickle has neither the judgments nor the runs, so that a copy, which is equal, cannot read runs again.
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
    paths: Mapping[str, str] = field(default_factory=dict)
    digests: InputDigests | None = None

    def __repr__(self) -> str:
        runs = self.runs[0].run if len(self.runs) == 1 else f"{len(self.runs)} runs"
        return f"<Scores of {runs}: {', '.join(self.labels)}; {self.signature}>"

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same scores of the same runs, with the same signature."""
        if not isinstance(other, Scores):
            return NotImplemented
        return (
            (self.signature, self.measures, len(self.runs)) == (other.signature, other.measures, len(other.runs))
            and all(mine.same_as(theirs) for mine, theirs in zip(self.runs, other.runs, strict=True))
            and self.machine == other.machine
        )

    def __hash__(self) -> int:
        return hash(self.signature)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the judgments and the runs, which may be a hundred times as large: a copy cannot
        read runs again."""
        state = {described.name: getattr(self, described.name) for described in fields(self)}
        return state | {"qrels": self.qrels._without_judgments(), "sources": {}}

    def document(self, layout: Layout, **keywords: Any) -> Document:
        """Return the scores as a table; keywords as in `score_tables.document`."""
        from gradedeval.kernel.scoring.score_tables import document  # only for tables

        shown = document(self, layout, **keywords)
        return shown if self.digests is None else replace(shown, head={"inputs": self.digests.described})

    @property
    def texts(self) -> Mapping[str, str]:
        return self.options.texts

    def unequal_topics(self) -> list[Note]:
        """Return a note if the means of runs are over different topics."""
        if len(self.runs) < 2:
            return []
        whole = {id(run.topics): frozenset(run.topics) for run in self.runs}  # thousands of runs share one list
        averaged = {measure.label: list(whole.values()) for measure in self.measures}
        skips = [measure.definition.may_skip for measure in self.measures]
        for column, label in enumerate(averaged):
            if self.options.max_residual is not None or skips[column]:
                averaged[label] = [run.kept(column) for run in self.runs]
        labels = list(averaged)
        by_options = {label: averaged[label] for label, may_skip in zip(labels, skips, strict=True) if not may_skip}
        of_measures = {label: averaged[label] for label, may_skip in zip(labels, skips, strict=True) if may_skip}
        return [
            *different_topics_notes(by_options, self.options, named=any(skips)),
            *different_topics_notes(of_measures, None, named=True),
        ]

    @property
    def systems_of(self) -> dict[str, list[str]]:
        """system -> its runs; without replicates each run is a system."""
        names, replicates = [run.run for run in self.runs], self.options.replicates
        return {name: [name] for name in names} if replicates is None else replicates.systems(names)

    @property
    def systems(self) -> pd.DataFrame:
        """A row for each system and measure, over its seeds: system, seeds[, slice], measure, mean, sd[, low, high],
        signature. Other runs are systems of one run, without a deviation. Low and high are the ends of the interval of
        a mean that is estimated with a machine's judgments."""
        from gradedeval.kernel.scoring import systems
        from gradedeval.kernel.scoring.results import to_frame  # few evaluations come here

        rows = list(systems.rows(self))
        names = (*systems.columns(self), "signature")
        return to_frame({name: [getattr(row, name) for row in rows] for name in names})

    @public
    def rows(self, by_topic: bool = True, sliced: bool = False) -> Iterator[Row]:
        """Yield the tidy table, run by run: a row for each topic and measure if `by_topic`, the summary, and the
        summary of each slice if `sliced`."""
        for number, run in enumerate(self.runs):
            for column, measure in enumerate(self.measures):
                columns: dict[str, Iterable[Any]] = dict.fromkeys(Row._fields, repeat(None))
                columns |= {"run": repeat(run.run), "measure": repeat(measure.label)}
                columns |= self._filled(run, column, by_topic)
                yield from map(Row._make, zip(*columns.values(), strict=False))
            for name, part in self._slices if sliced and self.options.slices is not None else ():
                of_run = replace(part, runs=[part.runs[number]])
                yield from (row._replace(slice=name) for row in of_run.rows(by_topic=False))

    @cached_property
    def by_slice(self) -> dict[str, dict[str, Scores]]:
        """column -> label -> the scores on the topics with the label; empty without slices. Labels without scored
        topics are omitted."""
        if self.options.slices is None:
            return {}
        scored = {topic for run in self.runs for topic in run.topics}
        return {
            column: {
                label: self._of_topics(column, label, members) for label, members in labels.items() if members & scored
            }
            for column, labels in self.options.slices.topics.items()
        }

    @property
    def _slices(self) -> list[tuple[str, Scores]]:
        """The scores of each slice, by name."""
        return [(f"{column}={label}", part) for column, parts in self.by_slice.items() for label, part in parts.items()]

    def _of_topics(self, column: str, label: str, topics: Collection[str]) -> Scores:
        """Return the scores on the topics of a slice, with a digest of its name in the signature."""
        from hashlib import sha256  # few evaluations have slices

        runs = [run.restricted_to(topics) for run in self.runs]
        machine = self.machine and replace(self.machine, runs=[run.restricted_to(topics) for run in self.machine.runs])
        count = max((run.most(len(self.measures)) for run in runs), default=0)
        digest = sha256("\n".join(sorted(topics)).encode("utf-8", "surrogateescape")).hexdigest()[:6]
        restriction = f"slice {column}={label} of {count} {plural(count, 'topic')} {digest}"
        options = replace(self.options, slices=None)
        done = (*self.transformations, restriction)
        return replace(self, runs=runs, options=options, transformations=done, machine=machine)

    @public
    def column(self, run: RunScores, column: int, by_topic: bool = True) -> dict[str, list[Any]]:
        """Return the rows of one run and measure, column by column: the fields of `Row` from `topic` on."""
        columns = self._filled(run, column, by_topic)
        blank = [None] * len(columns["topic"])
        optional = {"run", "measure", "slice", *ESTIMATED}
        return {name: columns.get(name, blank) for name in Row._fields if name in columns or name not in optional}

    def _filled(self, run: RunScores, column: int, by_topic: bool) -> dict[str, list[Any]]:
        """Return the columns of `column` that are not blank."""
        kept = run.included[:, column]
        topics = list(compress(run.topics, kept)) if by_topic else []
        score = run.score[kept, column] if by_topic else np.empty(0)
        summary = self.measures[column].definition.summary
        mean = run.summary("score", column, summary) if self.machine is None else self.summary(run, column)
        columns: dict[str, list[Any]] = {
            "topic": [*topics, ALL],
            "score": _blanked(np.append(score, mean)),
            "topics": [None] * len(topics) + [run.counts[column]],
        }
        if self.options.interval is not None or self.machine is not None:
            ends = zip(INTERVAL, _blanked(self.intervals[self.runs.index(run), column]), strict=True)
            columns |= {name: [*repeat(None, len(topics)), end] for name, end in ends}
        if self.options.wants_residuals or self.options.bounds:
            columns |= self._unknown(run, column, by_topic)
        if self.machine is not None and self._estimated is not None:
            columns = self._estimated.with_machine(columns, run.run, column, by_topic)
        return columns

    def _unknown(self, run: RunScores, column: int, by_topic: bool) -> dict[str, list[Any]]:
        """Return the residuals and bounds of one run by a measure, if requested."""
        summary, kept = self.measures[column].definition.summary, run.included[:, column]
        names = ("residual", "unjudged") if self.options.wants_residuals else ()
        parts: dict[str, Floats] = {}
        for name in (*names, *(BOUNDS if self.options.bounds else ())):
            topic_values = run.part(name)[kept, column] if by_topic else np.empty(0)
            parts[name] = np.append(topic_values, run.summary(name, column, summary))
        if names:
            with np.errstate(invalid="ignore"):  # infinite costs have no difference
                parts["beyond"] = parts["residual"] - parts["unjudged"]
        return {name: _blanked(values) for name, values in parts.items()}

    @public
    def summary(self, run: RunScores, column: int) -> float:
        """Return the summary of one run by one measure, estimated if there are a machine's judgments too; nan if
        blank."""
        if self.machine is not None and self._estimated is not None:
            return self._estimated.score(run.run, column)
        return run.summary("score", column, self.measures[column].definition.summary)

    @public
    def saved_by(self, machine: Scores, column: int) -> tuple[Floats, Floats]:
        """Return how much judgments by a machine would save for one measure, if it judged many more topics.

        machine  scores of the same runs by the machine

        Returns runs × 2, and pairs of runs × 2 for their differences: the share by which an interval is narrower, and
        the factor of topics that people would have to judge for it; nan with fewer than five topics.
        """
        from gradedeval.kernel.scoring.predicted import could_be_saved  # few evaluations have predictions

        return could_be_saved(self, machine, column)

    @cached_property
    def _estimated(self) -> Estimated | None:
        """Estimates from the judgments of people and a machine; None without a machine."""
        if self.machine is None:
            return None
        from gradedeval.kernel.scoring.predicted import Estimated  # few evaluations have predictions

        return Estimated(self.runs, self.by_machine, self.measures, self.options.interval)

    @property
    def by_machine(self) -> list[RunScores]:
        """The scores of the same runs, in the same order, by a machine's judgments; empty without a machine."""
        run_scores = {} if self.machine is None else {run.run: run for run in self.machine.runs}
        return [run_scores[run.run] for run in self.runs if run_scores]

    @cached_property
    def intervals(self) -> Floats:
        """runs × measures × 3: the standard error of each summary and the ends of its interval, nan if blank."""
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
        """Return the scores with the runs ordered from best to worst by a measure; ties within 1e-12 by name.

        Without a preferred direction the highest run is first. Raises InputError (usage) if the measure is not scored.
        """
        measure = with_defaults(measure, self.options)
        if measure not in self.measures:
            problem = f"'{measure.label}' is not among the measures ({', '.join(self.labels)})"
            raise InputError(flag.sort, problem, f"add {flag.measures:'{measure.label}'}", usage=True)
        column, reading = self.measures.index(measure), measure.reading
        means = np.array([reading.sign * self.summary(run, column) for run in self.runs])
        with np.errstate(invalid="ignore"):  # infinite costs have no difference
            level = merge_close(np.where(np.isnan(means), np.inf, -means))
        order = sorted(zip(level.tolist(), self.runs, strict=True), key=lambda pair: (pair[0], pair[1].run))
        if self.options.replicates is not None:  # a system is sorted by its mean
            first = {run: number for number, names in enumerate(self._systems_by(measure)) for run in names}
            order.sort(key=lambda pair: first[pair[1].run])
        return replace(self, runs=[run for _, run in order])

    def _systems_by(self, measure: Measure) -> list[list[str]]:
        """Return the runs of each system, the best systems by a measure first."""
        from gradedeval.kernel.scoring import systems  # few evaluations have any

        of_all = (row for row in systems.rows(self) if row.slice is None and row.measure == measure.label)
        levels = {row.system: measure.reading.sign * (np.nan if row.mean is None else row.mean) for row in of_all}
        ordered = sorted(levels, key=lambda system: (-levels[system], system))
        return [self.systems_of[system] for system in ordered]

    @property
    def is_multi_run(self) -> bool:
        """Whether several runs were evaluated, so that tables must name them."""
        return len(self.runs) + len(self.errors) > 1

    @property
    def unscored_text(self) -> str:
        """A text on the number of runs without scores."""
        count = len(self.errors)
        return f"{count} of {count + len(self.runs)} runs {'is' if count == 1 else 'are'} not scored"

    @property
    def columns(self) -> list[str]:
        """Columns of the tidy table, which depend on the options."""
        columns = ["run", "topic", *(["slice"] if self.options.slices is not None else []), "measure", "score"]
        columns += INTERVAL if self.options.interval is not None or self.machine is not None else ()
        columns += ESTIMATED if self.machine is not None else ()
        columns += BOUNDS if self.options.bounds else ()
        columns += ["residual"] if self.options.wants_residuals else []
        columns += ["unjudged", "beyond"] if self.options.residuals == "split" else []
        skips = any(measure.definition.may_skip for measure in self.measures)
        return columns + (["topics"] if skips or self.options.max_residual is not None else [])

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

            position = list(columns).index("topic") + 1
            texts = {QUERY: [self.texts.get(row.topic) if row.topics is None else None for row in rows]}
            columns = dict([*list(columns.items())[:position], *texts.items(), *list(columns.items())[position:]])
        return to_frame({**columns, "signature": self.row_signatures(rows)})

    @property
    def topics(self) -> pd.DataFrame:
        """The scores of topics as a DataFrame of topics × measures, nan if blank; of several runs, (run, topic) ×
        measures, so that `topics.loc["A"]` is that of run A."""
        from gradedeval.kernel.scoring.results import to_frame  # few evaluations come here

        rows = [(run, topic) for run in self.runs for topic in run.topics]
        keys = {"run": [run.run for run, _ in rows], "topic": [topic for _, topic in rows]}
        kept = np.concatenate([np.where(run.included, run.score, np.nan) for run in self.runs])
        index = ["run", "topic"] if self.is_multi_run else ["topic"]
        return to_frame({**keys, **dict(zip(self.labels, kept.T, strict=True))}).set_index(index)[self.labels]

    @property
    def labels(self) -> list[str]:
        """Labels of the measures, as requested."""
        return [measure.label for measure in self.measures]

    @property
    def means(self) -> ByMeasure:
        """measure -> mean (or total, of a count) of the only run; None if blank.

        Keys are the requested names; any other name of a measure and the measure itself work too. Raises InputError
        (usage) for several runs: see `means_by_run`.
        """
        return self.means_by_run[self._only_run("means", "use .means_by_run: run -> measure -> mean")]

    @property
    def means_by_run(self) -> dict[str, ByMeasure]:
        """run -> measure -> mean."""
        return self._summaries("score")

    @property
    def residuals(self) -> ByMeasure:
        """The mean residuals, as `means`; None if the measure has none or they were not requested."""
        return self.residuals_by_run[self._only_run("residuals", "use .residuals_by_run: run -> measure -> residual")]

    @property
    def residuals_by_run(self) -> dict[str, ByMeasure]:
        """run -> measure -> mean residual."""
        return self._summaries("residual")

    @property
    def bounds(self) -> ByMeasure:
        """The lowest and the highest mean of each measure, as `means`; None if it has no bounds or they were not
        requested. All topics at their bounds bound the mean."""
        return self.bounds_by_run[self._only_run("bounds", "use .bounds_by_run: run -> measure -> (low, high)")]

    @property
    def bounds_by_run(self) -> dict[str, ByMeasure]:
        """run -> measure -> (low, high)."""
        low, high = (self._summaries(end) for end in BOUNDS)
        bounds = {}
        for run, least in low.items():
            pairs = zip(least.values(), high[run].values(), strict=True)
            ends = [None if lowest is None else (lowest, highest) for lowest, highest in pairs]
            bounds[run] = ByMeasure(self.measures, self.options, ends)
        return bounds

    def __getitem__(self, measure: AnyMeasure) -> float | None:
        """Return the mean of the only run by a measure, as in `scores["map"]`. Raises as `means`, and KeyError for
        unknown measures."""
        mean: float | None = self.means[measure]  # type: ignore[index]
        return mean

    def __contains__(self, measure: object) -> bool:
        """Return whether a measure is scored, under any of its names."""
        try:
            index_of(measure, self.measures, self.options)  # type: ignore[arg-type]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        """Iterate over the labels of the measures, the keys of `dict(scores.means)`."""
        return iter(self.labels)

    def _only_run(self, attribute: str, hint: str) -> str:
        if len(self.runs) > 1:
            raise InputError(f"Scores.{attribute}", f"there are {len(self.runs)} runs", hint, usage=True)
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
        """Return topic -> score by one measure, under any of its names; `run` names one of several runs.

        Raises KeyError for an unknown measure or run, and InputError (usage) if several runs need a name.
        """
        column = index_of(measure, self.measures, self.options)
        if run is None:
            run = self._only_run("by_topic", "name one, as in by_topic(measure, run)")
        scores = {candidate.run: candidate for candidate in self.runs}[run]
        kept = scores.included[:, column]
        return dict(zip(compress(scores.topics, kept), scores.score[kept, column].tolist(), strict=True))

    @cached_property
    def signature(self) -> str:
        """All settings that the numbers depend on, in one line."""
        return self._signature(self.measures, self.runs)

    @cached_property
    def signatures(self) -> dict[tuple[str, str], str]:
        """(run, measure) -> all settings that this score depends on."""

        def settings(run: RunScores) -> tuple[Any, ...]:
            return len(run.topics), run.missing, run.format, run.run if self.digests is not None else ""

        texts = {
            key: {measure.label: self._signature([measure], [run]) for measure in self.measures}
            for key, run in {settings(run): run for run in self.runs}.items()
        }
        return {(run.run, measure): text for run in self.runs for measure, text in texts[settings(run)].items()}

    def row_signatures(self, rows: Iterable[Row]) -> list[str | None]:
        """Return the signature of each summary row, of all topics or of a slice; None for rows of topics."""
        cache = {name: part.signatures for name, part in self._slices} | {None: self.signatures}
        return [None if row.topics is None else cache[row.slice][row.run, row.measure] for row in rows]

    def _signature(self, measures: list[Measure], runs: list[RunScores]) -> str:
        counts, formats = [(len(run.topics), run.missing) for run in runs], [run.format for run in runs]
        options = self.options if self.machine is None else replace(self.options, interval=None)
        text = signature(self.qrels, options, measures, counts, formats)
        predicted = [] if self.machine is None or self._estimated is None else self._estimated.words(self.machine.qrels)
        files = [] if self.digests is None else [of_files(self.digests, [run.run for run in runs])]
        return " | ".join([text, *predicted, *self.transformations, *files])


def _blanked(values: Floats) -> list[float | None]:
    """Return the values with None for nan."""
    return [None if value != value else value for value in values.tolist()]
