"""`fit`: the parameter of a measure for the best agreement with another measure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Unpack, get_args

from gradedeval import kernel
from gradedeval.analysis import pictures, score_matrix
from gradedeval.analysis.tables import DisplayColumns, Row, format_range, frame_document, plain_columns, signature_lines
from gradedeval.arrays import Bools, Floats, Ints, chunks, np
from gradedeval.errors import InputError, Note, check_choice, emit_notes, flag, plural, public, shorten
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, Measure, OptionKwargs, Options, Setting, ranges
from gradedeval.questions import weights as weighing
from gradedeval.questions.correlate import BY_TOPIC, KINDS, NAMES, Kind, scores_agreement_with

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.analysis.pictures import Panel
    from gradedeval.analysis.score_matrix import Matrix
    from gradedeval.kernel import Qrels, Scorer


# Measures with an open parameter, as in `nerr10(phi=0.05..0.95)` or `nerr9@1..40`: the search for its best value.


_NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_RANGE = re.compile(rf"(?P<low>{_NUMBER})\.\.(?P<high>{_NUMBER})(?:\.\.(?P<step>{_NUMBER}))?")
NEARLY = 0.001
"""Largest difference from the best agreement that counts as near best."""

MIN_STEPS, ENOUGH_STEPS, MAX_STEPS = 50, 1000, 10_000
"""Default grids have from 50 to 1,000 steps of 1, 2 or 5 times a power of ten; no grid has more than 10,000."""


@dataclass(frozen=True)
class MeasureRange:
    """A measure with one open parameter.

    text       the measure as written
    prefix     the text before the range, and `suffix` the text after it
    parameter  its name; k for the cutoff
    low, high  the ends of its range
    step       of the grid over the whole range, as given or 1 for whole numbers; None: by the precision
    whole      whether it takes whole numbers only
    """

    text: str
    prefix: str
    suffix: str
    parameter: str
    low: float
    high: float
    step: float | None
    whole: bool
    table: Mapping[str, Measure] | None = None

    @property
    def label(self) -> str:
        """How messages call it, as `Measure.label`."""
        return self.text

    def at(self, value: float) -> Measure:
        """Return the measure with a value in place of the range."""
        word = kernel.notation.write_value(int(value) if self.whole else round(value, 10))
        return kernel.parse_measures(f"{self.prefix}{word}{self.suffix}", self.table)[0]

    def end(self, value: float) -> str:
        """Return a note if the best value is an end of the range and the measure takes values beyond it."""
        step = self.step or _nice((self.high - self.low) / MIN_STEPS)
        beyond = {self.low: self.low - step, self.high: self.high + step}
        if value not in beyond or not _takes(self, beyond[value]):
            return ""
        return f"the best value {value:g} is at the end of the range; widen the range"

    def resolution(self, precision: float) -> float:
        """Return the step of the grid over the whole range: as given; else the precision, or more if the grid would
        have more than a thousand values. Optima narrower than a step can be missed."""
        width = self.high - self.low
        return self.step or min(max(precision, 1 / _nice(ENOUGH_STEPS / width)), _nice(width / MIN_STEPS))

    def grid(self, step: float) -> list[float]:
        """Return the values of a grid over the whole range, both ends included."""
        count = math.floor((self.high - self.low) / step + 1e-9)
        values = [round(self.low + index * step, 10) for index in range(count + 1)]
        return values if values[-1] >= self.high - 1e-9 else [*values, self.high]

    def around(self, value: float, step: float, finer: float) -> list[float]:
        """Return the values of a finer grid within one step of a value."""
        count = math.ceil(step / finer - 1e-9)
        near = (round(value + index * finer, 10) for index in range(-count, count + 1))
        return [value for value in near if self.low <= value <= self.high]


def read_ranges(
    measures: str | Sequence[str] | Sequence[MeasureRange] | None,
    table: Mapping[str, Measure] | None = None,
    cutoff: int | None = None,
) -> list[MeasureRange]:
    """Return the measures with a range; one text may have several, separated by spaces.

    Raises InputError (usage) without measures, for a measure with no range or two, and for an invalid end of a range.
    """
    texts = [measures] if isinstance(measures, str) else measures or ()
    if parsed := [measure for measure in texts if isinstance(measure, MeasureRange)]:
        return parsed
    words = [word for text in texts for word in kernel.notation.split_words(str(text))]
    if not words:
        hint = f"for example {flag.measures:'rbp(p=0.1..0.95)'} or {flag.measures:ndcg@1..40}"
        raise InputError("", "no measure with a range", hint, usage=True)
    cut = [word if cutoff is None or "@" in word else f"{word}@{cutoff}" for word in words]
    return [_read_range(word, table) for word in dict.fromkeys(cut)]


USUAL_RANGES = {"p": "0.05..0.95", "phi": "0.05..0.95", "T": "0.5..5"}
"""Parameter -> its range if none is given."""
USUAL_CUTOFFS = "1..40"


def _with_usual_range(text: str, table: Mapping[str, Measure] | None) -> str:
    """Return a measure without a range, parameters or a cutoff with the usual range, and a note."""
    definition = (kernel.MEASURES if table is None else table).get(text)
    if definition is None:
        return text
    parameter = next((name for name in definition.definition.parameters if name in USUAL_RANGES), None)
    if parameter is None and definition.definition.cutoff == "none":
        return text
    whole = f"{text}@{USUAL_CUTOFFS}" if parameter is None else f"{text}({parameter}={USUAL_RANGES[parameter]})"
    emit_notes([f"{text} has no range; trying {whole}"])
    return whole


def _read_range(text: str, table: Mapping[str, Measure] | None) -> MeasureRange:
    text = _with_usual_range(text, table)
    matches = list(_RANGE.finditer(text))
    if len(matches) != 1:
        problem = f"has {len(matches)} ranges" if matches else "has no range"
        bare = not matches and re.fullmatch(r"\w+(@\d+)?", text)
        example = f"{text.partition('@')[0]}@1..40" if bare and not text.startswith("rbp") else "rbp(p=0.1..0.95)"
        raise InputError(repr(text), problem, f"write one, for example '{example}'", usage=True)
    match = matches[0]
    low, high, step = (None if match[name] is None else float(match[name]) for name in ("low", "high", "step"))
    prefix, suffix = text[: match.start()], text[match.end() :]
    key = re.search(r"(\w+)=$", prefix)
    if low is None or high is None or not low < high < math.inf or step == 0:
        raise InputError(repr(text), f"invalid range {match[0]}", "write LOW..HIGH, for example 0.05..0.95", usage=True)
    draft = MeasureRange(text, prefix, suffix, key[1] if key else "k", low, high, step, False, table)
    whole = low.is_integer() and high.is_integer() and (prefix.endswith("@") or not _takes(draft, low + 0.5))
    step = 1.0 if step is None and whole else step
    if step is not None and (high - low) / step > MAX_STEPS:
        problem = f"{match[0]} makes more than {MAX_STEPS} values"
        raise InputError(repr(text), problem, "use larger steps, for example 1..1000..10", usage=True)
    range_ = MeasureRange(text, prefix, suffix, draft.parameter, low, high, step, whole, table)
    for end in (low, high):
        range_.at(end)
    return range_


def _takes(range_: MeasureRange, value: float) -> bool:
    try:
        range_.at(value)
    except InputError:
        return False
    return True


def _nice(step: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is at most `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= step * (1 + 1e-9))


Values = dict[float, float]
"""Goodness by parameter."""
Search = Callable[[list[tuple[MeasureRange, list[float]]]], list[list[list[float]]]]
"""Function of measures with values to try: goodness by measure, value and criterion."""


def resolution(measure_ranges: Sequence[MeasureRange], precision: float) -> str:
    """Describe the resolution of the search; tables have the steps."""
    finer = any(not range_.whole and range_.resolution(precision) > precision * (1 + 1e-9) for range_ in measure_ranges)
    return "every step tried" + (f", then to {precision:g} around the best" if finer else "")


def search(
    measure_ranges: Sequence[MeasureRange], goodness: Search, criteria: int, precision: float
) -> list[list[Values]]:
    """Try the whole grid of every measure, then, if its step exceeds `precision`, finer grids around the best value.

    Returns, for each measure and criterion, the values tried and their goodness. Runs are read once for each grid.
    """
    precision = ranges.PRECISION.check(precision)
    results: list[list[Values]] = [[{} for _ in range(criteria)] for _ in measure_ranges]
    steps = [range_.resolution(precision) for range_ in measure_ranges]
    todo: list[list[float]] = [range_.grid(step) for range_, step in zip(measure_ranges, steps, strict=True)]
    while any(todo):
        trying = [index for index, values in enumerate(todo) if values]
        goods = goodness([(measure_ranges[index], todo[index]) for index in trying])
        for index, by_value in zip(trying, goods, strict=True):
            for value, by_criterion in zip(todo[index], by_value, strict=True):
                for values, good in zip(results[index], by_criterion, strict=True):
                    values[value] = good
        todo = [_finer(range_, results[index], steps, index, precision) for index, range_ in enumerate(measure_ranges)]
    return results


def _finer(
    range_: MeasureRange, results: list[Values], steps: list[float], index: int, precision: float
) -> list[float]:
    """Return the values to try next; none if the step is fine enough."""
    step = steps[index]
    if range_.whole or step <= precision * (1 + 1e-9):
        return []
    steps[index] = finer = max(step / 10, precision)
    near = {value for values in results for value in range_.around(best(values), step, finer)}
    return sorted(near - results[0].keys())


def best(values: Values) -> float:
    """Return the best value; the smallest of equally good ones."""
    return min(values, key=lambda value: (-values[value] if values[value] == values[value] else math.inf, value))


def near_best_range(values: Values, within: float) -> tuple[float, float]:
    """Return the ends of the range around the best value that is nearly as good."""
    ordered = sorted(values)
    top = best(values)
    low = high = ordered.index(top)
    while low > 0 and values[ordered[low - 1]] >= values[top] - within:
        low -= 1
    while high + 1 < len(ordered) and values[ordered[high + 1]] >= values[top] - within:
        high += 1
    return ordered[low], ordered[high]


class Best(NamedTuple):
    """The best value, its goodness, the ends of the range nearly as good, and a note; nan if goodness is undefined."""

    value: float
    good: float
    low: float
    high: float
    note: str


def best_of(range_: MeasureRange, values: Values) -> Best:
    """Return the best of the values tried."""
    value = best(values)
    if math.isnan(values[value]):
        nothing = math.nan
        return Best(nothing, nothing, nothing, nothing, "no agreement is defined: the scores are all the same")
    low, high = near_best_range(values, NEARLY)
    if near_best_range(values, 1e-12) == (range_.low, range_.high):
        return Best(value, values[value], low, high, "all values agree equally well")
    return Best(value, values[value], low, high, range_.end(value))


# The result, and settings of both kinds of fits.


@dataclass(frozen=True, eq=False)
class FitResult(kernel.results.InNotebook):
    """The result of a fit.

    frame      a row for each measure and kind of agreement: measure, parameter, by, value (the best), agreement, low,
               high (the range around it with an agreement within 0.001), pairs; with validation also agreement_there
               (of the same value on the other topics), value_there (the best value there), best_there (its agreement);
               step (of the grid over the whole range)
    curve      measure, parameter, by, value, agreement[, agreement_there]: all values tried
    settings   of the fit
    signature  of the scores
    notes      for the user, for example on best values at the end of their range
    """

    frame: pd.DataFrame
    curve: pd.DataFrame
    settings: str
    signature: str
    notes: list[str]

    @property
    def settings_text(self) -> str:
        """The settings of the fit."""
        return self.settings

    @property
    def remarks(self) -> list[str]:
        """The notes."""
        return self.notes

    def document(self, layout: Layout) -> Document:
        """Return the table of the columns that the frame has."""
        parts: dict[str, DisplayColumns] = {
            "measure": plain_columns(Column("measure")),
            "by": plain_columns(Column("by")),
            "parameter": plain_columns(Column("parameter")),
            "value": {Column("best", "number"): itemgetter("value")},
            "agreement": plain_columns(Column("agreement", "score")),
            "divergence": {Column("KL (nats)", "score"): itemgetter("divergence")},
            "low": {Column("within 0.001", "figures"): format_range},
            "step": {Column("step", "number"): itemgetter("step")},
            "covered": plain_columns(Column("covered", "score")),
            "pairs": plain_columns(Column("pairs", "count")),
            "agreement_there": {Column("validation agreement", "score"): itemgetter("agreement_there")},
            "best_there": {Column("best validation agreement", "figures"): _best_there},
        }
        columns = {
            column: value for name, part in parts.items() if name in self.frame for column, value in part.items()
        }
        return frame_document(self.frame, layout, columns, signature_lines(self.settings, self.signature))


def _best_there(row: Row) -> str | None:
    return None if row["best_there"] is None else f"{row['best_there']:.4f} at {row['value_there']:.6g}"


Ranges = Annotated["str | Sequence[str] | Sequence[MeasureRange]", Setting("Measure with a range of parameter values, "
    "such as nerr9@1..40. Repeat -m, or separate measures by spaces.", metavar="MEASURE", section="Measures and gains",
    spelled=("-m", "--measure"), measure=read_ranges, short="Measure with a range, such as nerr9@1..40.")]  # fmt: skip
Precision = Annotated[float, Setting("Precision of the fitted value.", ranges.PRECISION, "X")]


# `fit --to-weights`: the parameter for rank weights nearest to a given distribution.


Vector = Annotated["Floats | Sequence[float] | str | Path", Setting("Instead of runs: fit to weights of ranks, given "
    "as lines of rank,weight, by Kullback-Leibler divergence.", metavar="FILE.csv", spelled=("--to-weights",),
    reads=True, short="Fit to weights of ranks instead of to runs.")]  # fmt: skip
Ranks = Annotated[
    int | None, Setting("Use only the first N ranks of --to-weights.", ranges.WEIGHED_RANKS, "N", default_text="all")
]
Normalize = Literal["none", "sum"]
NORMALIZE: tuple[str, ...] = get_args(Normalize)
Scaled = Annotated[Normalize, Setting("'sum': scale the weights of measures over those ranks to sum to 1 too; 'none': "
    "compare them as they are.", short="Scale the weights of measures to sum to 1.")]  # fmt: skip


def read_vector(path: str | Path) -> Floats:
    """Read the weights of ranks 1, 2, … from a file of rank,weight lines.

    Raises InputError with the line of an invalid weight, for missing ranks, and if all weights are 0.
    """
    weights = kernel.rank_weights(path)
    if not weights.any():
        raise InputError(str(path), "no weight above 0", "expected lines of rank,weight")
    return weights


def divergence(reference: Floats, weights: Floats) -> float:
    """Return the Kullback–Leibler divergence from a reference distribution, in nats: Σ v ln(v / w), 0 if v is 0."""
    seen = reference > 0
    with np.errstate(divide="ignore"):
        return float((reference[seen] * (np.log(reference[seen]) - np.log(weights[seen]))).sum())


@public
def fit_weights(
    weights: Vector, measures: Ranges, *, ranks: Ranks = None, normalize: Scaled = "none", precision: Precision = 0.001
) -> FitResult:
    """Fit the parameter of each static measure to a vector of rank weights, by Kullback–Leibler divergence.

    weights    of ranks 1, 2, …: numbers, or a file of rank,weight lines. They are scaled to sum 1 down to `ranks`
    measures   with a range, such as "rbp(p=0.05..0.99)"
    ranks      number of ranks to compare; None: all ranks of the vector
    normalize  `sum`: scale the weights of the measure to sum 1 down to `ranks` too; `none`: compare them as they are,
               so that the share of a geometric distribution below `ranks` counts against it
    precision  of the value

    The columns of `frame` are measure, parameter, value, divergence (nats), low, high (the range around it within 0.001
    nats), depth, covered (sum of the weights of the measure down to `ranks`), renormalized, step (of the grid over the
    whole range); the columns of `curve` are measure, parameter, value, divergence. Zhang et al., Information Retrieval
    2010, section 5.2. Raises InputError if the vector is too short, a measure has no fixed rank weights, or its weights
    sum to more than 1.

    >>> fitted = gradedeval.fit_weights([0.5, 0.25, 0.15, 0.1], "rbp(p=0.1..0.9)", normalize="sum", precision=0.01)
    >>> fitted.frame[["measure", "value", "divergence"]].round(4)
               measure  value  divergence
    0  rbp(p=0.1..0.9)   0.57      0.0022
    """
    check_choice(normalize, NORMALIZE, flag.normalize)
    reference, scale = _reference(weights, ranks), normalize == "sum"
    measure_ranges, depth = read_ranges(measures), len(reference)
    for range_ in measure_ranges:
        weighing.static_weights(range_.at(range_.low), depth)  # raises for measures without fixed weights
    closeness = partial(_closeness, reference, scale)
    rows, curve, notes = [], [], []
    for range_, (values,) in zip(measure_ranges, search(measure_ranges, closeness, 1, precision), strict=True):
        value, good, low, high, note = best_of(range_, values)
        head: dict[str, Any] = {"measure": range_.text, "parameter": range_.parameter}
        covered = float(weighing.static_weights(range_.at(value), depth).sum())
        best_values = {"value": value, "divergence": -good, "low": low, "high": high}
        scaled = {"depth": depth, "covered": covered, "renormalized": scale}
        rows.append({**head, **best_values, **scaled, "step": range_.resolution(precision)})
        curve += [{**head, "value": tried, "divergence": -values[tried]} for tried in sorted(values)]
        notes += [f"{range_.text}: {note}"] if note else []
    scaling = "the measures' scaled to 1 too" if scale else "the measures' as they are"
    settings = f"{depth} ranks | the vector scaled to sum 1, {scaling} | {resolution(measure_ranges, precision)}"
    return FitResult(kernel.results.to_frame(rows), kernel.results.to_frame(curve), settings, "", notes)


def _reference(weights: Floats | Sequence[float] | str | Path, depth: int | None) -> Floats:
    """Return the vector down to a depth, scaled to sum 1."""
    vector = read_vector(weights) if isinstance(weights, str | Path) else np.asarray(weights, np.float64)
    depth = len(vector) if depth is None else ranges.WEIGHED_RANKS.check(depth)
    if depth > len(vector) or depth < 1:
        problem = f"{depth} is out of range for {len(vector)} weights"
        raise InputError(flag.ranks, problem, f"give 1 to {len(vector)}", usage=True)
    if not vector[:depth].any():
        raise InputError(flag.ranks, f"all weights down to rank {depth} are 0", "use more ranks", usage=True)
    return np.asarray(vector[:depth] / vector[:depth].sum())


def _scaled(measure: Measure, depth: int, scale: bool) -> Floats:
    weights = weighing.static_weights(measure, depth, tried=True)
    total = float(weights.sum())
    if scale and total > 0:
        return weights / total
    check_total(measure, total)
    return weights


def _closeness(
    reference: Floats, scale: bool, grids: list[tuple[MeasureRange, list[float]]]
) -> list[list[list[float]]]:
    """Return for each value of each range how close the weights are to the reference: the negative divergence."""
    depth = len(reference)
    return [
        [[-divergence(reference, _scaled(range_.at(value), depth, scale))] for value in grid] for range_, grid in grids
    ]


def check_total(measure: Measure, total: float) -> None:
    """Raise InputError (usage) if weights sum to more than 1, which makes their divergence meaningless."""
    if total > 1 + 1e-6:
        problem = f"the weights of '{measure}' sum to {total:.4g}, more than 1"
        raise InputError("", problem, f"add {flag.normalize:sum}", usage=True)


# `fit`: the parameter for the best agreement with another measure.


@dataclass(frozen=True, eq=False)
class Collection:
    """Runs by name, their judgments, and the options of scores."""

    runs: dict[str, Any]
    qrels: Qrels
    options: Options

    @classmethod
    def read(cls, runs: Any, qrels: Any, options: Options) -> Collection:
        """Return runs with qrels read. Raises InputError for unreadable input."""
        sources = kernel.named_runs(runs)
        return cls(sources, kernel.qrels_for(sources, qrels, options), options)

    def scores(self, measures: Sequence[Measure], residuals: bool = False) -> Matrix:
        """Return the scores by some measures; `max_residual` applies only with `residuals`."""
        options = replace(self.options, may_be_unused=self.options.given)  # a fit has other measures, too
        options = options if residuals else replace(options, residuals=None, max_residual=None)
        workers = kernel.Workers.current()
        return score_matrix.to_matrix(kernel.evaluate_runs(self.runs, self.qrels, measures, options, workers=workers))


MIN_TOGETHER = 4
"""Minimum number of measures with fixed weights to score together."""


def has_fixed_weights(measure: Measure, options: Options) -> bool:
    """Return whether a score is a sum of gains with weights that depend on the length of the ranking alone."""
    builtin, sums = kernel.MEASURES.get(measure.name), measure.rank_sum
    if builtin is None or builtin.definition is not measure.definition or sums is None or measure.by_intent:
        return False
    if options.ties == "average" or measure.types or measure.judged_only:
        return False
    definition = measure.definition
    return definition.cwl is not None or (
        (sums.of, sums.over, sums.pool) == ("gain", None, "") and definition.scale == "unit" and definition.ceiling == 1
    )


@dataclass(frozen=True, eq=False)
class GainedLists:
    """Documents with a gain in the rankings of all runs.

    row, column  run and topic of each ranking
    retrieved    number of documents of each ranking
    at, gain     indices (from 0) and gains of the documents with a gain, of each ranking
    """

    row: list[int]
    column: list[int]
    retrieved: list[int]
    at: list[Ints]
    gain: list[Floats]

    def add(self, row: int, columns: Sequence[int], gains: kernel.gains.Gains) -> None:
        """Add the rankings of a batch of a run."""
        for column, retrieved, gain in zip(columns, gains.retrieved.tolist(), gains.gain, strict=True):
            index = np.flatnonzero(gain)
            self.row.append(row)
            self.column.append(column)
            self.retrieved.append(retrieved)
            self.at.append(index)
            self.gain.append(gain[index])

    def scores(self, measures: Sequence[Measure]) -> Floats:
        """Return scores, measures × rankings, to the last bit as by each measure alone: added from rank 1 on."""
        width = 1 + max((int(positions[-1]) for positions in self.at if len(positions)), default=0)
        ends, end = np.unique(self.retrieved, return_inverse=True)
        weights = np.empty((width, max(2, len(measures))))  # one column alone numpy would add up in another order
        weights[:, len(measures) :] = 0
        depth = np.ones((len(measures), len(ends)))
        for column, measure in enumerate(measures):
            weights[:, column], depth[column] = fixed_weights(measure, width, ends)
        scores = np.zeros((len(self.at), len(measures)))
        for index, (positions, gain) in enumerate(zip(self.at, self.gain, strict=True)):
            if len(positions):
                scores[index] = np.add.reduce(weights[positions] * gain[:, None], axis=0)[: len(measures)]
        by_measure: Floats = scores.T / depth[:, end]
        ceiling = np.array([measure.definition.ceiling for measure in measures])[:, None]
        return np.where((by_measure > ceiling) & (by_measure < ceiling + 1e-12), ceiling, by_measure)


def fixed_weights(measure: Measure, width: int, ends: Ints) -> tuple[Floats, Floats]:
    """Return the weights of the ranks down to `width`, and the divisors of their sum for rankings of some lengths."""
    definition, k = measure.definition, measure.cutoff
    weights = measure.details(_without_gain((width,), width, k))["W" if definition.cwl is None else "V"]
    weights = weights[0, :width].copy()
    weights[width if k is None else k :] = 0
    if definition.cwl is None:
        return weights, np.ones(len(ends))
    depth = measure(of="ed")
    if definition.cutoff != "required":  # there the cutoff would end the sum
        depth, ends, k = replace(depth, cutoff=None), np.maximum(ends, k or 0), None
    return weights, depth.score(_without_gain(tuple(ends.tolist()), int(ends.max(initial=0)), k))


@lru_cache(maxsize=4)
def _without_gain(ends: tuple[int, ...], width: int, k: int | None) -> kernel.gains.Gains:
    """Return rankings without gains, cached with the intermediate results in their memo for the next value."""
    none, no = np.zeros((len(ends), width)), np.zeros((len(ends), width), dtype=bool)
    lengths = np.array(ends, dtype=np.int64)
    return kernel.gains.Gains(none, no, none[:, :0], lengths, np.zeros(len(ends), dtype=np.int64), np.zeros(0), k)


@dataclass(frozen=True, eq=False)
class Target:
    """Scores of a collection by the measure that other measures are fitted to."""

    collection: Collection
    matrix: Matrix
    _agreements: dict[Kind, Callable[[Floats, kernel.definition.Reading], float]] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def of(cls, collection: Collection, target: Measure) -> Target:
        """Score a collection by the target. Raises InputError if `max_residual` leaves no pair."""
        matrix = collection.scores([target], residuals=True)
        if not matrix.included.any():
            raise InputError(flag.max_residual, f"no (run, topic) pair is left by {matrix.measures[0]}", "raise it")
        return cls(collection, matrix)

    @property
    def included(self) -> Bools:
        """Mask of pairs: runs × topics."""
        return self.matrix.included[:, :, 0]

    def agreements(self, measures: Sequence[Measure], kinds: Sequence[Kind]) -> list[list[float]]:
        """Return the agreement of each kind of each measure."""
        by_name: dict[str, list[float]] = {}
        labels: dict[Measure, str] = {}  # two notations may mean the same measure as applied
        applied = [kernel.scores.with_defaults(measure, self.collection.options) for measure in measures]
        for measure in applied:
            labels.setdefault(measure, measure.label)
        fixed = [measure for measure in labels if has_fixed_weights(measure, self.collection.options)]
        fixed = fixed if len(fixed) >= MIN_TOGETHER else []
        for chunk in chunks(len(fixed), self.included.size):
            for measure, scores in self.fixed_scores(fixed[chunk]):
                by_name[labels[measure]] = [self._agreement(kind)(scores, measure.reading) for kind in kinds]
        other_measures = [
            notation for notation, measure in zip(measures, applied, strict=True) if labels[measure] not in by_name
        ]
        for chunk in chunks(len(other_measures), self.included.size):
            matrix = self.collection.scores(other_measures[chunk])
            for column, name in enumerate(matrix.measures):
                scores, reading = matrix.score[:, :, column], matrix.reading(column)
                by_name[name] = [self._agreement(kind)(scores, reading) for kind in kinds]
        return [by_name[labels[measure]] for measure in applied]

    def _agreement(self, kind: Kind) -> Callable[[Floats, kernel.definition.Reading], float]:
        """Return a function of scores by a measure: their agreement with the target, prepared once."""
        if kind not in self._agreements:
            reading, score = self.matrix.reading(0), self.matrix.score[:, :, 0]
            self._agreements[kind], _ = scores_agreement_with(kind, score, self.included, reading)
        return self._agreements[kind]

    def fixed_scores(self, measures: Sequence[Measure]) -> Iterator[tuple[Measure, Floats]]:
        """Yield measures of fixed weights with scores, runs × topics, nan if not scored; runs are read once for all."""
        options = replace(self.collection.options, residuals=None, max_residual=None, bounds=False)
        scorer = kernel.Scorer(self.collection.qrels, measures, options, kernel.Workers.current().limits)
        by_table: dict[bytes, list[int]] = {}
        for column, table in enumerate(scorer.tables):
            by_table.setdefault(table.key, []).append(column)
        firsts = [columns[0] for columns in by_table.values()]
        for columns, lists in zip(by_table.values(), self._gained(scorer, firsts), strict=True):
            same_gains = [scorer.measures[column] for column in columns]
            for measure, scores in zip(same_gains, lists.scores(same_gains), strict=True):
                by_topic = np.full(self.included.shape, np.nan)
                by_topic[lists.row, lists.column] = scores
                yield measure, by_topic

    def _gained(self, scorer: Scorer, columns: Sequence[int]) -> list[GainedLists]:
        """Return the gains of all rankings for some measures of a scorer."""
        grader, share = replace(scorer.grader, last_rank=None), kernel.Workers.current()
        column_of = {topic: column for column, topic in enumerate(self.matrix.topics)}
        lists = [GainedLists([], [], [], [], []) for _ in columns]
        for row, (name, source) in share.progress(list(enumerate(self.collection.runs.items()))):
            graded = kernel.tasks.grade_run(source, grader, share.silent(), name)
            for batch in graded.settled():
                gains_of = scorer.gains_cache(batch)
                topic_columns = [column_of[kernel.decode(topic)] for topic in batch.topics]
                for column, gained in zip(columns, lists, strict=True):
                    measure = replace(scorer.measures[column], cutoff=None)
                    gained.add(row, topic_columns, gains_of(scorer.tables[column], measure))
        return lists

    def search(
        self, measure_ranges: Sequence[MeasureRange], kinds: Sequence[Kind], precision: float
    ) -> list[list[Values]]:
        """Return, for each measure and kind of agreement, the values tried and their agreement."""

        def agreements_of(grids: list[tuple[MeasureRange, list[float]]]) -> list[list[list[float]]]:
            measures = [range_.at(value) for range_, grid in grids for value in grid]
            agreements = iter(self.agreements(measures, kinds))
            return [list(islice(agreements, len(grid))) for _, grid in grids]

        return search(measure_ranges, agreements_of, len(kinds), precision)


To = Annotated["AnyMeasure", Setting("Measure to agree with. --max-residual leaves out the (run, topic) pairs where "
    "its residual is larger.", metavar="MEASURE", measure="one")]  # fmt: skip
Coefficient = Annotated[Kind | Sequence[Kind], Setting("Coefficient to maximize; if repeated, each is fitted "
    "separately.", repeats=True, default_text="pearson and spearman", short="Coefficient to maximize.")]  # fmt: skip
OtherTopics = Annotated[Any, Setting("Evaluate the fitted values on the topics listed in FILE.", metavar="FILE",
    reads=True, short="Evaluate the fit on the topics in FILE.")]  # fmt: skip


@kernel.takes_options("reading", "residual_depth", "max_residual")
@public
@kernel.shares_work
def fit(
    runs: Any,
    qrels: Any,
    measures: Ranges,
    to: To,
    *,
    coefficient: Coefficient = ("pearson", "spearman"),
    precision: Precision = 0.001,
    validate: OtherTopics = None,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> FitResult:
    """Fit the parameter of each measure for the best agreement with the measure `to`.

    runs          as for `gradedeval.evaluate`, several
    qrels         as for `gradedeval.evaluate`
    measures      with a range, such as "nerr10(phi=0.05..0.95)", "nerr9@1..40" or "rbp(p=0.1..0.9..0.1)" with its step
    to            the measure to agree with; with `max_residual`, (run, topic) pairs with a larger residual are left out
    coefficient   kinds of agreement; see `gradedeval.correlate`
    precision     of the value, tried over the whole range; a range of more than a thousand such values has larger steps
                  (the column `step`), and finer steps around the best value
    validate      other topics of the same collection for validation of the values: ids, or a file
    options       as for `gradedeval.evaluate`

    Raises InputError as `evaluate` does, and (usage) for an invalid range or kind. Azzopardi et al., ICTIR 2021,
    section 4.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> fitted = gradedeval.fit(runs, "qrels_samples/rivers.qrels", "rbp(p=0.1..0.9)", "err@20", precision=0.1)
    >>> fitted.frame[["by", "value", "low", "high"]]
             by  value   low  high
    0   pearson    0.2  0.15  0.26
    1  spearman    0.1  0.10  0.24
    """
    options = kernel.resolve_options(like, **keywords)
    collection = Collection.read(runs, qrels, options)
    there = None
    if validate is not None:
        topics = kernel.resolve_options(topics_from=validate).topics_from
        there = replace(collection, options=replace(options, topics_from=topics))
    (target,) = kernel.parse_measures(to)
    kinds = [coefficient] if isinstance(coefficient, str) else list(coefficient)
    return fit_ranges(collection, read_ranges(measures), target, kinds, precision, there)


def fit_ranges(
    collection: Collection,
    measure_ranges: Sequence[MeasureRange],
    target: Measure,
    kinds: Sequence[Kind],
    precision: float,
    there: Collection | None,
) -> FitResult:
    """Fit as `fit` does, from parsed arguments and collections already read."""
    for kind in kinds:
        check_choice(kind, KINDS, flag.coefficient)
    here = Target.of(collection, target)
    if len(collection.runs) < 2 and not set(kinds) <= set(BY_TOPIC):
        hint = f"add a run, or use {flag.coefficient:spearman}"
        raise InputError(flag.coefficient, "rank correlation needs at least two runs", hint, usage=True)
    second = None if there is None else Target.of(there, target)
    values_of = here.search(measure_ranges, kinds, precision)
    elsewhere = second and second.search(measure_ranges, kinds, precision)
    all_measures = [target, *(range_.at(range_.low) for range_ in measure_ranges)]
    tried = kernel.Scorer(collection.qrels, all_measures, collection.options)
    rows, curve, notes = [], [], [*tried.unused_notes, *here.matrix.notes, *_overlap_notes(here, second)]
    for index, range_ in enumerate(measure_ranges):
        for criterion, kind in enumerate(kinds):
            values, values_there = values_of[index][criterion], elsewhere[index][criterion] if elsewhere else None
            value, agreement, low, high, note = best_of(range_, values)
            pairs = int(here.included.sum()) if kind in BY_TOPIC else len(here.included)
            head = {"measure": range_.text, "parameter": range_.parameter, "by": kind}
            best_values = {"value": value, "agreement": agreement, "low": low, "high": high}
            row = {**head, "step": range_.resolution(precision), **best_values, "pairs": pairs}
            if second is not None and values_there is not None:
                row |= _validation(range_, kind, best(values), values_there, second)
            rows.append(row)
            notes += [f"{range_.text} by {kind}: {note}"] if note else []
            curve += _curve(head, values, values_there)
    signature = here.matrix.signature + (f"\nvalidated on {second.matrix.signature}" if second else "")
    count = f"{int(here.included.sum())} of {here.included.size} (run, topic) pairs"
    settings = f"agreement with {here.matrix.measures[0]}, {count} | {resolution(measure_ranges, precision)}"
    return FitResult(kernel.results.to_frame(rows), kernel.results.to_frame(curve), settings, signature, notes)


def _validation(range_: MeasureRange, kind: Kind, value: float, values: Values, there: Target) -> dict[str, float]:
    """Return the agreement of the best value on the other topics, and the best value there."""
    same = values[value] if value in values else there.agreements([range_.at(value)], [kind])[0][0]
    best_there = best_of(range_, values)
    return {"agreement_there": same, "value_there": best_there.value, "best_there": best_there.good}


def _overlap_notes(here: Target, there: Target | None) -> list[str]:
    """Return a note if validation topics were also used for fitting."""
    if there is None:
        return []
    fitted, validated = (
        {topic for topic, of_runs in zip(target.matrix.topics, target.included.T, strict=True) if of_runs.any()}
        for target in (here, there)
    )
    overlap = len(fitted & validated)
    share = f"{overlap} of {len(validated)} {plural(len(validated), 'topic')}"
    problem = f"{flag.validate}: {share} {'was' if overlap == 1 else 'were'} also used for fitting"
    return [Note(problem, f"use {flag.topics_from:FILE} to fit on others")] if overlap else []


def _curve(head: dict[str, Any], values: Values, there: Values | None) -> list[dict[str, Any]]:
    rows = []
    for value in sorted(values.keys() | (there or {}).keys()):
        row = {**head, "value": value, "agreement": values.get(value, np.nan)}
        rows.append(row if there is None else {**row, "agreement_there": there.get(value, np.nan)})
    return rows


# Picture: agreement over a parameter, the best value, and the range that is nearly as good.


NEEDED = ("measure", "parameter", "value")
SOURCE = "what gradedeval.fit or gradedeval.fit_weights returns"


@public
def plot_fit(result: Any, measure: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the agreement of measures over their parameter: a line for each measure and kind of agreement, a point at
    the best value, and a thick line within 0.001 of it.

    result   the result of `gradedeval.fit` or `gradedeval.fit_weights`
    measure  draw only this measure, written with its range; None: all
    ax       matplotlib axes to draw on; None: the current axes

    Returns the axes. Raises `gradedeval.InputError` (usage) for another result, and for measures with different
    parameters unless `measure` names one.

    >>> fitted = gradedeval.fit_weights([0.5, 0.25, 0.15, 0.1], "rbp(p=0.1..0.9)", normalize="sum", precision=0.01)
    >>> axes = gradedeval.plot.fit(fitted)
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('p of rbp(p=0.1..0.9)', 'Kullback–Leibler divergence (nats)')
    """
    best = pictures.require_frame(result, (*NEEDED, "low", "high"), "fit", SOURCE, "frame")
    curve = pictures.require_frame(result, NEEDED, "fit", SOURCE, "curve")
    if measure is not None:
        best, curve = (frame[frame["measure"] == str(measure)] for frame in (best, curve))
        pictures.require_frame(curve, NEEDED, "fit", f"one of {shorten(dict.fromkeys(result.frame['measure']))}")
    parameters = list(dict.fromkeys(curve["parameter"]))
    if len(parameters) > 1:
        problem = f"the measures differ in their parameters ({shorten(parameters)})"
        raise InputError("plot.fit", problem, f"name one, as in measure='{curve['measure'].iloc[0]}'", usage=True)
    return pictures.draw_on(partial(draw_fit, best=best, curve=curve), ax)


def fit_panels(result: Any) -> list[Panel]:
    """Return a picture for each parameter."""
    names = dict.fromkeys(result.curve["parameter"])
    parts = [[frame[frame["parameter"] == name] for frame in (result.frame, result.curve)] for name in names]
    return [pictures.Panel(partial(draw_fit, best=best, curve=curve), 2.1) for best, curve in parts]


def draw_fit(ax: Axes, best: pd.DataFrame, curve: pd.DataFrame) -> None:
    """Draw the curves of one parameter."""
    goodness = "agreement" if "agreement" in curve else "divergence"
    curve = curve.assign(by=curve.get("by", ""))
    keys = list(dict.fromkeys(zip(curve["measure"], curve["by"], strict=True)))
    many = len({measure for measure, _ in keys}) > 1
    for (measure, by), look in zip(keys, pictures.line_styles(len(keys)), strict=True):
        points, kind = curve[(curve["measure"] == measure) & (curve["by"] == by)], NAMES.get(by, "divergence")
        label = pictures.label_text(measure)
        name = f"{label}, {kind}" if many and by else label if many else kind
        ax.plot(points["value"], points[goodness], label=name, **look)
        row = best[(best["measure"] == measure) & (best.get("by", by) == by)]
        near = points[points["value"].between(row["low"].iloc[0], row["high"].iloc[0])]
        ax.plot(near["value"], near[goodness], color=look["color"], linewidth=4, alpha=0.3, solid_capstyle="butt")
        ax.plot(row["value"], row[goodness], "o", color=look["color"], markersize=4)
    ax.plot([], [], color=pictures.GREY, linewidth=4, alpha=0.4, label=f"within {NEARLY:g} of the best")
    ax.grid(color=pictures.LIGHT, linewidth=0.4)
    only = keys[0][0]
    parameter = str(curve["parameter"].iloc[0])
    unit = "k (ranks)" if parameter == "k" else parameter
    ax.set_xlabel(unit if many else f"{unit} of {pictures.label_text(only)}")
    ax.set_ylabel("Kullback–Leibler divergence (nats)" if goodness == "divergence" else "agreement")
    pictures.legend(ax)
