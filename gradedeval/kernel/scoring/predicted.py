"""`--predicted`: estimate means over all topics from the judgments of people and of a machine.

With scores h by people and m by a machine, the estimate is the mean of h − λ (m − M), with M the mean of m over topics
that people did not judge. If the judged topics are a random sample, it is unbiased whatever the machine's errors; λ is
high if the machine helps. The interval is by Student's t: too narrow if a machine is grossly wrong on a few topics that
the sample mostly misses.
Angelopoulos et al., Science 382 (2023); Angelopoulos, Duchi & Zrnic, PPI++ (2023), for λ.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints, chunks
from gradedeval.errors import InputError, Note, flag, plural, shorten
from gradedeval.kernel.measures.definition import Measure, Reading
from gradedeval.kernel.measures.notation import write_value
from gradedeval.kernel.options import exact
from gradedeval.kernel.options.metadata import unmatched_notes
from gradedeval.kernel.rankings.labels import UNUSED_LABELS, unused_labels
from gradedeval.kernel.rankings.run import check_not_run
from gradedeval.kernel.trec.lines import decode, encode, is_stratified
from gradedeval.kernel.trec.stream import Source, is_file

if TYPE_CHECKING:
    from gradedeval.kernel.options import Options
    from gradedeval.kernel.rankings.qrels import Qrels
    from gradedeval.kernel.scoring.scores import RunScores, Scores


PREDICTED = "prediction-powered, λ of the other judged topics, Student's t"
"""The method of estimates from two kinds of judgments, in a signature."""

# Prediction-powered inference.

LEAST, FEW = 5, 15
"""Judged topics that an estimate needs, and below which its interval is only a rough guide."""
HEAVY = 0.5
"""If one topic carries a larger share of the variance, the interval depends on whether it was judged."""
CHOSEN = 0.01
"""Judged topics are not a random sample if p is smaller."""
DRAWS, SEED = 10_000, 0
"""The permutations of that test."""


class Estimates(NamedTuple):
    """Estimates of means, an array each.

    mean, error  the estimate and its standard error
    low, high    the ends of its interval
    p            two-sided, that the mean is 0; nan if nothing varies and the mean is not 0
    power        λ, the mean over the judged topics
    share        share of the variance of h − λ m due to the judged topic farthest from the mean; nan without variance
    farthest     the index of that topic
    """

    mean: Floats
    error: Floats
    low: Floats
    high: Floats
    p: Floats
    power: Floats
    share: Floats
    farthest: Ints


def powers(human: Floats, machine: Floats, others: float) -> Floats:
    """Estimate λ for each judged topic from all other judged topics, cut to 0..1: rows × judged topics.

    human    rows × judged topics: scores by people
    machine  the same by the machine
    others   number of topics that the machine alone judged; infinite: arbitrarily many

    λ = cov(h, m) / ((1 + n/N) var(m)), with n judged topics and N others; covariance and variance leave out the topic.
    λ is 0 if the variance is 0. It does not depend on the machine's scores of the topic and of the others, which it
    multiplies.
    """
    judged, rows = human.shape[1], np.arange(len(human))
    h, m = human - human.mean(1, keepdims=True), machine - machine.mean(1, keepdims=True)
    # Sums of deviations without one topic: less n / (n − 1) times its own.
    factor = judged / (judged - 1)
    products, squares = ((row * m).sum(1, keepdims=True) - factor * row * m for row in (h, m))
    scale = np.broadcast_to(np.abs(machine).max(1, keepdims=True), machine.shape).copy()
    # Without the farthest topic such a difference may lose all its digits: sum over the other topics instead.
    farthest = np.abs(m).argmax(1)
    rest = np.arange(judged) != farthest[:, None]
    h, m = (scores[rest].reshape(-1, judged - 1) for scores in (human, machine))
    scale[rows, farthest] = np.abs(m).max(1)
    h, m = h - h.mean(1, keepdims=True), m - m.mean(1, keepdims=True)
    products[rows, farthest], squares[rows, farthest] = (h * m).sum(1), (m**2).sum(1)
    varies = squares > judged * (1e-12 * scale) ** 2
    ratio = products / np.where(varies, (1 + judged / others) * squares, 1)
    return np.asarray(np.where(varies, ratio, 0).clip(0, 1))


def estimate(human: Floats, machine: Floats, others: Floats, alpha: float, power: float | None = None) -> Estimates:
    """Estimate the mean of each row over the population of topics, and its interval at level 1 − alpha.

    human, machine, others  as in `powers`: at least five judged topics and two others
    power                   λ of all topics; None: for each topic estimated from the others, without which intervals are
                            too narrow

    The interval is by Student's t with n − 1 degrees of freedom.
    """
    judged, count = human.shape[1], others.shape[1]
    weight = powers(human, machine, count) if power is None else np.full(human.shape, power)
    apart = machine - others.mean(1, keepdims=True)
    rectified = human - weight * apart
    mean, mean_weight = rectified.mean(1), weight.mean(1)
    variance = mean_weight**2 * others.var(1, ddof=1) / count + rectified.var(1, ddof=1) / judged
    return Estimates(*_with_t(mean, np.sqrt(variance), judged - 1, alpha), mean_weight, *_farthest(rectified))


def by_people(human: Floats, alpha: float) -> Estimates:
    """Estimate the mean of each row from people's judgments alone: λ is 0."""
    judged = human.shape[1]
    error = human.std(1, ddof=1) / np.sqrt(judged)
    return Estimates(*_with_t(human.mean(1), error, judged - 1, alpha), np.zeros(len(human)), *_farthest(human))


def _farthest(values: Floats) -> tuple[Floats, Ints]:
    """Return for each row the share of its variance due to the topic farthest from the mean, and this topic."""
    squares = (values - values.mean(1, keepdims=True)) ** 2
    total, scale = squares.sum(1), np.abs(values).max(1)
    varies = total > values.shape[1] * (1e-12 * scale) ** 2
    return np.where(varies, squares.max(1) / np.where(varies, total, 1), np.nan), squares.argmax(1)


def _with_t(mean: Floats, error: Floats, freedom: int, alpha: float) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return mean, error, the ends of the interval and p, by Student's t."""
    from scipy.special import stdtr, stdtrit  # few evaluations have predictions

    error = np.where(error <= 1e-12 * np.abs(mean), 0, error)
    margin = stdtrit(freedom, 1 - alpha / 2) * error
    steps = np.where(error == 0, 1, error)
    p = np.where(error == 0, np.where(mean == 0, 1, np.nan), 2 * stdtr(freedom, -np.abs(mean / steps)))
    return mean, error, mean - margin, mean + margin, p


def saved(people: Estimates, both: Estimates) -> tuple[Floats, Floats]:
    """Return the share by which the combined interval is narrower than people's, and the factor of topics that people
    would have to judge for it; nan if an interval has no width."""
    return _saved(people.high - people.low, both.high - both.low, 0)


def _saved(wide: Floats, narrow: Floats, least: float) -> tuple[Floats, Floats]:
    varies = (wide > least) & (narrow > least)
    share = np.where(varies, narrow, np.nan) / np.where(varies, wide, 1)
    return 1 - share, 1 / share**2


def could_save(human: Floats, machine: Floats) -> tuple[Floats, Floats]:
    """Return `saved` for each row if the machine judged arbitrarily many other topics, from five topics or more."""
    rectified = human - powers(human, machine, math.inf) * (machine - machine.mean(1, keepdims=True))
    return _saved(human.std(1, ddof=1), rectified.std(1, ddof=1), 1e-12)


def chosen_p(machine: Floats, others: Floats, draws: int = DRAWS, seed: int = SEED) -> float:
    """Return p of a two-sided permutation test that the machine's mean scores of the judged topics and of the others
    differ; a small p says that the judged topics are not a random sample."""
    values = np.concatenate([machine, others])
    values = values - values.mean()
    observed = abs(values[: len(machine)].sum())
    rng, beyond = np.random.default_rng(seed), 0
    slack = 1e-12 * np.abs(values).sum()
    for part in chunks(draws, 2 * len(values)):
        drawn = rng.permuted(np.broadcast_to(values, (part.stop - part.start, len(values))), axis=1)
        beyond += int(np.count_nonzero(np.abs(drawn[:, : len(machine)].sum(1)) >= observed - slack))
    return (beyond + 1) / (draws + 1)


# The scores of both kinds of judgments, joined.

OF_BOTH = ("unjudged-topics", "missing-topics", "few-topics")
"""Kinds of notes on the topics of a run, which are replaced with two kinds of judgments."""
LEFT_OUT_BY_TOPICS = ("missing-topics", "no-relevant")
"""Kinds of notes that advise to leave topics out."""
LEVEL = 0.95
"""The level of intervals without --interval."""


def by_both(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: Sequence[Measure],
    options: Options,
    read_qrels: Callable[[Any, Options], Qrels],
    score: Callable[[Mapping[str, Any], Qrels, Sequence[Measure], Options], Scores],
) -> Scores:
    """Join the scores by people and by a machine to estimates. `read_qrels` reads qrels by options, `score` scores runs
    as `evaluate_runs`. Raises InputError if the two kinds of judgments cannot be joined."""
    of_both: dict[str, Any] = dict.fromkeys(("interval", "queries", "slices"))
    scoring_options = replace(options, predicted=None, **of_both)
    runs, again = _twice(runs)
    people = read_qrels(qrels, scoring_options)
    machine = _machine_qrels(options.predicted and options.predicted.source, scoring_options, read_qrels)
    check_judgments(people, machine, measures, options)
    judged = score(runs, people, measures, scoring_options)
    scoring_options = replace(scoring_options, top_grade=scoring_options.top_of(float(people.labels[-1])))
    return joined(judged, score(again, machine, measures, scoring_options), options)


def _machine_qrels(source: Any, options: Options, read_qrels: Callable[[Any, Options], Qrels]) -> Qrels:
    """Read a machine's judgments; objects in memory are named `predicted`, as the keyword."""
    options = options if is_stratified(options.qrels_format) else replace(options, qrels_format=None)
    if is_file(source):
        check_not_run(source, f"{flag.predicted} takes judgments, in any form of qrels")
        return read_qrels(source, options)
    try:
        qrels = copy(read_qrels(source, options))
    except InputError as error:
        raise error.replace(place=re.sub("^qrels", "predicted", error.place)) from None
    qrels.place = re.sub("^qrels$", "predicted", qrels.place)
    return qrels


class _Bytes(io.BytesIO):
    """The content of a pipe, and its name."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def _twice(runs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the runs by name, to be read, and again: the content of pipes, open files and iterators is kept."""
    first, second = dict[str, Any](), dict[str, Any]()
    for name, run in runs.items():
        if is_file(run) and (source := Source(run)).is_read_once:
            content, place = source.stored(), source.place
            first[name], second[name] = _Bytes(content, place), _Bytes(content, place)
        else:
            first[name] = second[name] = list(run) if isinstance(run, Iterator) else run
    return first, second


def check_judgments(people: Qrels, machine: Qrels, measures: Sequence[Measure], options: Options) -> None:
    """Raise InputError if judgments by people and by a machine cannot be joined: too few topics have both, the machine
    judged no further topics, or their scales differ."""
    chosen = options.topics_from
    judged, by_machine = (
        {topic for topic in qrels.topics if chosen is None or topic in chosen} for qrels in (people, machine)
    )
    both, others = len(judged & by_machine), len(by_machine - judged)
    if not both:
        problem = f"has none of the {len(judged)} topics of {people.place}"
        raise InputError(machine.place, problem, f"{flag.predicted} needs topics that both have judged")
    if both < LEAST:
        problem = f"{both} {plural(both, 'topic')} of {people.place}, too few for an interval"
        raise InputError(machine.place, f"has {problem}", f"have people judge {LEAST} or more; {FEW} make a good one")
    if others < 2:
        raise _too_few_others(people, machine, others, len(judged - by_machine))
    check_grades(people, machine, measures, options)


def _too_few_others(people: Qrels, machine: Qrels, others: int, by_people: int) -> InputError:
    """Return the error of a machine with fewer than two other topics; people alone judged `by_people` topics."""
    has = f"has {'only one' if others else 'no'} other topic than {people.place}"
    if machine.digest == people.digest:
        problem, hint = f"holds the same judgments as {people.place}", f"{flag.predicted} takes those of a machine"
    elif by_people > max(others, 1):
        problem = f"{has}, which has {by_people} more"
        hint = f"swap them if {machine.place} is by people: {flag.predicted} takes the machine's judgments"
    elif others:
        problem, hint = has, "have the machine judge two more topics or more"
    else:
        problem, hint = has, f"leave out {flag.predicted}: people have judged all of its topics"
    return InputError(machine.place, problem, hint)


def check_grades(people: Qrels, machine: Qrels, measures: Sequence[Measure], options: Options) -> None:
    """Raise InputError if people and a machine use different grade scales, or a measure cannot use the grades."""
    _check_scales(people, machine, options)
    binary = [measure.label for measure in measures if measure.definition.gain == "binary"]
    if binary and (machine.labels % 1).any() and not (people.labels % 1).any():
        grade = exact(float(machine.labels[machine.labels % 1 != 0][-1]))
        knows = "knows" if len(binary) == 1 else "know"
        problem = f"has grades such as {grade}, and {', '.join(binary)} {knows} only relevant or not"
        raise InputError(machine.place, problem, "take graded measures, such as ndcg or err, or round the grades")


def _check_scales(people: Qrels, machine: Qrels, options: Options) -> None:
    """Raise InputError if scales of grades differ; expected grades, or with a set top all, may stay below the top."""
    human_top, machine_top = float(people.labels[-1]), float(machine.labels[-1])
    fractional = bool((machine.labels % 1).any())
    top = max(human_top, options.top_grade or 0)
    alike = machine_top <= top if fractional or options.top_grade is not None else machine_top == human_top
    if not alike:
        problem = f"has grades up to {exact(machine_top)}, and {people.place} up to {exact(human_top)}"
        advice = f"give both one scale, as {flag.labels:yes={exact(human_top)},no=0} does for words"
        common = exact(math.ceil(max(human_top, machine_top)))
        hint = f"{advice}; {flag.top_grade:{common}} says that they have it already"
        raise InputError(machine.place, problem, hint)


def joined(people: Scores, machine: Scores, options: Options) -> Scores:
    """Return the scores by people with the machine's scores to estimate from, and notes on the topics."""
    by_name = {run.run: run for run in machine.runs}
    by_machine = {decode(topic) for topic in machine.qrels.topics}
    judged = {decode(topic) for topic in people.qrels.topics}
    runs = [run.restricted_to(by_machine) for run in people.runs if run.run in by_name]
    machine = replace(machine, runs=[by_name[run.run] for run in runs])
    result = replace(people, runs=runs, options=options, machine=machine)
    place = machine.qrels.place
    # The machine is there for topics that people did not judge.
    notes = [note for note in people.notes if getattr(note, "kind", "") not in OF_BOTH]
    notes += [note for note in machine.notes if getattr(note, "kind", "") == "missing-topics"]
    notes += topics_of_neither(machine.notes, judged, (people.qrels.place, place))
    notes += [note for note in machine.qrels.notes if note not in notes]
    notes = [without_topics(note) for note in labels_of_neither(notes, people.qrels, machine.qrels)]
    chosen = options.topics_from
    scored = [topic for topic in sorted(judged | by_machine) if chosen is None or encode(topic) in chosen]
    notes += unmatched_notes(options.queries, options.slices, scored)
    if runs:
        notes += _topic_notes(result, [topic for topic in runs[0].topics if topic not in by_machine], place)
        notes += _chosen_notes(result, judged)
        notes += result._estimated.notes() if result._estimated is not None else []
    return replace(result, notes=notes)


def without_topics(note: str) -> str:
    """Return the note without the hint to leave topics out, which would change the estimate."""
    return note.with_hint("") if isinstance(note, Note) and note.kind in LEFT_OUT_BY_TOPICS else note


def topics_of_neither(notes: Sequence[str], judged: Collection[str], places: tuple[str, str]) -> Iterator[Note]:
    """Yield notes on topics of runs that neither kind of judgments has. `judged`: topics of the second kind."""
    for note in notes:
        if not isinstance(note, Note) or note.kind != "unjudged-topics":
            continue
        if others := [topic for topic in note.about if topic not in judged]:
            count, verb = f"{len(others)} {plural(len(others), 'topic')}", "is" if len(others) == 1 else "are"
            text = f"{count} {verb} in neither {' nor '.join(places)} ({shorten(others)})"
            yield Note(text, "ignored", place=note.place, kind=note.kind, about=others)


def labels_of_neither(notes: Sequence[str], people: Qrels, machine: Qrels) -> list[str]:
    """Return the notes, with a single note on labels that both kinds of judgments lack in place of the notes on unused
    labels: people and the machine may use different labels."""
    lacking = [[label for note in of.notes for label in _labels_in(note)] for of in (people, machine)]
    kept = [note for note in notes if not _labels_in(note)]
    return kept + unused_labels(f"{people.place} and {machine.place}", set(lacking[0]) & set(lacking[1]))


def _labels_in(note: str) -> tuple[str, ...]:
    return note.about if isinstance(note, Note) and note.kind == UNUSED_LABELS else ()


def _topic_notes(scores: Scores, unknown: Sequence[str], place: str) -> list[str]:
    notes: list[str] = []
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        text = f"{len(unknown)} of {len(scores.runs[0].topics)} topics of {scores.qrels.place} {verb} not in it"
        notes.append(f"{place}: {text}, and left out ({shorten(unknown)})")
    columns = len(scores.measures)
    cure = f"have {FEW} or more judged"
    count = scores.runs[0].most(columns)
    if count < FEW:
        notes.append(Note(f"{count} topics that people judged: intervals are only rough guides", cure))
    counts = {name: part.runs[0].most(columns) for name, part in scores._slices if part.runs}
    rough = [name for name, judged in counts.items() if LEAST <= judged < FEW]
    if rough and count >= FEW:
        text = f"{shorten(rough)}: fewer than {FEW} topics that people judged: intervals are only rough guides"
        notes.append(Note(text, cure))
    small = [name for name, judged in counts.items() if judged < LEAST]
    if small:
        notes.append(f"{shorten(small)}: fewer than {LEAST} topics that people judged, so nothing is estimated")
    return notes


def _chosen_notes(scores: Scores, judged: set[str]) -> list[str]:
    """Return a note if judged topics are no random sample, by the first measure whose scores differ."""
    assert scores.machine is not None
    topics = np.array([topic in judged for topic in scores.machine.runs[0].topics], dtype=bool)
    means = np.array([run.score for run in scores.machine.runs]).mean(0)
    columns = [column for column, values in enumerate(means.T) if np.isfinite(values).all() and np.ptp(values) > 0]
    if topics.all() or not columns:
        return []
    values = means[:, columns[0]]
    if (p := chosen_p(values[topics], values[~topics])) >= CHOSEN:
        return []
    label = scores.labels[columns[0]]
    words = f"{label} is {values[topics].mean():.4f} by the machine, others {values[~topics].mean():.4f}"
    text = f"topics that people judged are no random sample: their {words} (p = {p:.4f})"
    return [Note(text, "estimates are biased unless drawn at random")]


def could_be_saved(people: Scores, machine: Scores, column: int) -> tuple[Floats, Floats]:
    """Return the possible savings by one measure, from the topics that both score: runs × 2, and pairs of runs × 2 for
    their differences, as `could_save`; nan with fewer than five topics."""
    reading, by_name = people.measures[column].reading, {run.run: run for run in machine.runs}
    runs = [(run, by_name[run.run]) for run in people.runs if run.run in by_name]
    kept = [set(compress(run.topics, run.included[:, column])) for pair in runs for run in pair]
    topics = sorted(set.intersection(*kept)) if kept else []
    pairs = np.triu_indices(len(runs), 1)
    scores = np.array([[_on(run, topics, column) for run in kind] for kind in zip(*runs, strict=True)])
    if len(topics) < LEAST or not np.isfinite(scores).all():
        return np.full((len(runs), 2), np.nan), np.full((len(pairs[0]), 2), np.nan)
    h, m = (np.array([reading.tested(values) for values in kind]) for kind in scores)
    of_pairs = ((values[pairs[0]] - values[pairs[1]]) for values in (h, m))
    return np.transpose(could_save(h, m)), np.transpose(could_save(*of_pairs))


def _on(run: RunScores, topics: Sequence[str], column: int) -> Floats:
    position = {topic: row for row, topic in enumerate(run.topics)}
    return np.asarray(run.score[[position[topic] for topic in topics], column])


@dataclass(eq=False)
class Estimated:
    """Summaries of runs, estimated from people's scores of some topics and a machine's of all, with intervals at
    `level`."""

    people: Sequence[RunScores]
    machine: Sequence[RunScores]
    measures: Sequence[Measure]
    level: float | None

    def score(self, run: str, column: int) -> float:
        """Return the estimated summary of a run by a measure; nan with too few topics."""
        return self._summaries[run, column]["score"]

    def intervals(self) -> Floats:
        """Return runs × measures × 3: the standard error of each estimate and the ends of its interval."""
        cells = [[estimates[name] for name in ("se", "low", "high")] for estimates in self._summaries.values()]
        return np.array(cells).reshape(len(self.people), len(self.measures), 3)

    def with_machine(self, filled: Mapping[str, list[Any]], run: str, column: int, by_topic: bool) -> dict[str, Any]:
        """Return the rows of a run and a measure with estimates, and topics that the machine alone judged."""
        machine_run = next(candidate for candidate in self.machine if candidate.run == run)
        kept = machine_run.included[:, column]
        scores = np.where(kept, machine_run.score[:, column], np.nan).tolist()
        by_machine = dict(zip(machine_run.topics, scores, strict=True))
        by_people = set(next(candidate for candidate in self.people if candidate.run == run).topics)
        more = [topic for topic in compress(machine_run.topics, kept) if topic not in by_people] if by_topic else []
        topics = [*filled["topic"][:-1], *more]
        rows = {name: [*values[:-1], *[None] * len(more), values[-1]] for name, values in filled.items()}
        rows["topic"] = [*topics, filled["topic"][-1]]
        estimates = self._summaries[run, column]
        for name in ("people", "people_low", "people_high", "lambda_", "narrower", "times"):
            rows[name] = [None] * len(topics) + [_blank(estimates[name])]
        rows["people"] = [*rows["score"][:-1], rows["people"][-1]]
        rows["machine"] = [*(_blank(by_machine.get(topic, np.nan)) for topic in topics), _blank(estimates["machine"])]
        return rows

    def notes(self) -> list[Note]:
        """Return a note on the estimates whose variance is mostly due to a single topic."""
        heavy = list[tuple[str, float, str]]()
        for people, machine in zip(self.people, self.machine, strict=True):
            for column in range(len(self.measures)):
                estimates = self._summaries[people.run, column]
                if estimates["share"] > HEAVY:
                    judged = list(compress(machine.topics, self._topics(people, machine, column)[0]))
                    label = f"{self.measures[column].label} of {people.run}"
                    heavy.append((judged[int(estimates["farthest"])], estimates["share"], label))
        return heavy_notes(heavy)

    def words(self, qrels: Qrels) -> list[str]:
        """Return the parts of the signature on estimates."""
        counts = [self._topics(people, machine, 0) for people, machine in zip(self.people, self.machine, strict=True)]
        judged, others = (int(max((mask.sum() for mask in masks), default=0)) for masks in zip(*counts, strict=True))
        level = f"{100 * (self.level or LEVEL):.10g}% interval: {PREDICTED}"
        name = f"predicted {write_value(qrels.place)} {qrels.digest}"
        return [f"{name}, {judged} judged and {others} other topics", level]

    @cached_property
    def _summaries(self) -> dict[tuple[str, int], dict[str, float]]:
        """(run, column) -> the estimates by column name; nan if blank."""
        return {
            (people.run, column): self._summary(people, machine, column)
            for people, machine in zip(self.people, self.machine, strict=True)
            for column in range(len(self.measures))
        }

    def _topics(self, people: RunScores, machine: RunScores, column: int) -> tuple[Bools, Bools]:
        """Return masks of the machine's topics: judged by people too, and not judged by people."""
        judged = {topic for topic, kept in zip(people.topics, people.included[:, column], strict=True) if kept}
        by_people, scored = set(people.topics), machine.included[:, column]
        both = np.array([topic in judged for topic in machine.topics], dtype=bool) & scored
        return both, ~np.array([topic in by_people for topic in machine.topics], dtype=bool) & scored

    def _summary(self, people: RunScores, machine: RunScores, column: int) -> dict[str, float]:
        """Return the estimates of one run by one measure, by column name."""
        measure, blank = self.measures[column], float("nan")
        both, others = self._topics(people, machine, column)
        position = {topic: row for row, topic in enumerate(people.topics)}
        rows = [position[topic] for topic, kept in zip(machine.topics, both, strict=True) if kept]
        reading, count = Reading(measure.definition.summary), int((both | others).sum())
        human, machine_scores = people.score[rows, column], machine.score[:, column]
        estimates = dict.fromkeys(("score", "se", "low", "high", *_ALONE, "machine", *_OTHERS), blank)
        if count:
            estimates["machine"] = float(reading.summarize(machine_scores[both | others]))
        if not np.isfinite(np.concatenate([human, machine_scores[both | others]])).all():
            return estimates
        h, m, more = (reading.tested(scores)[None] for scores in (human, machine_scores[both], machine_scores[others]))
        summaries = summarized(h, m, more, reading, 1 - (self.level or LEVEL))
        summaries = within(summaries, limits_of(measure), reading, count)
        if reading.summary == "geometric":
            summaries["se"] = summaries["se"] * summaries["score"]
        return {name: float(summaries[name][0]) if name in summaries else value for name, value in estimates.items()}


Limits: TypeAlias = tuple[float, float]
"""The lowest and the highest score of a measure on a topic."""


def limits_of(measure: Measure) -> Limits:
    """Return the limits of a measure."""
    return measure.definition.floor, measure.definition.ceiling


def within(summaries: Mapping[str, Floats], limits: Limits, reading: Reading, count: int) -> dict[str, Floats]:
    """Return summaries over `count` topics by column name, with intervals cut to the limits of the measure."""
    low, high = (end * count if reading.summary == "total" else end for end in limits)
    ends = ("low", "high")
    return {name: value.clip(low, high) if name.endswith(ends) else value for name, value in summaries.items()}


def summarized(human: Floats, machine: Floats, others: Floats, reading: Reading, alpha: float) -> dict[str, Floats]:
    """Estimate the means of values, or of the differences of two runs, by column name, including people's alone, and p;
    nan with too few topics. The error of a geometric mean is the error of its logarithm."""
    judged, count = human.shape[1], human.shape[1] + others.shape[1]
    names = ("score", "se", "low", "high", "p", *_ALONE, *_OTHERS)
    if judged < LEAST or others.shape[1] < 2:
        return {name: np.full(len(human), np.nan) for name in names}
    joint, alone = estimate(human, machine, others, alpha), by_people(human, alpha)
    parts = (joint.mean, joint.low, joint.high, alone.mean, alone.low, alone.high)
    ends = [reading.of_mean(part, count) for part in parts]
    error = joint.error * (count if reading.summary == "total" else 1)
    estimates = (ends[0], error, *ends[1:3], joint.p, *ends[3:], joint.power, *saved(alone, joint))
    estimates = (*estimates, joint.share, joint.farthest)
    return dict(zip(names, estimates, strict=True))


def heavy_notes(estimates: Iterable[tuple[str, float, str]]) -> list[Note]:
    """Return a note on estimates whose variance is mostly due to one topic: topic, its share, and the label."""
    named = [f"topic {topic} has {100 * share:.0f}% of that of {label}" for topic, share, label in estimates]
    if not named:
        return []
    problem = f"one judged topic has over half of the variance of an interval: {shorten(named)}"
    cure = "check its judgments, and take the interval as a rough guide"
    return [Note(problem, cure, kind="heavy-topic")]


def margin_of(middle: float | None, low: float | None, high: float | None, factor: bool) -> float | str | None:
    """Return the margin of an interval before it is cut at the ends of the scale; a factor for a geometric mean."""
    if middle is None or low is None or high is None:
        return None
    if factor:
        return f"×{max(high / middle, middle / low):.2f}" if low > 0 else None
    return max(middle - low, high - middle)


def saved_words(narrower: float, times: float) -> str:
    """Return a text on the narrower interval and the factor of topics that people would have to judge for it."""
    return f"{100 * narrower:z.0f}%, ×{times:.1f}"


_ALONE = ("people", "people_low", "people_high")
_OTHERS = ("lambda_", "narrower", "times", "share", "farthest")


def _blank(value: float) -> float | None:
    return None if value != value else value
