"""Lowest and highest scores over all judgments, for measures that are ratios: gains retrieved over ideal gains.

Gains count in layers: a gain is the sum of the steps up to it, and a score is Σ_j step_j gained_j / Σ_j step_j ideal_j.
Layer j depends only on whether each gain reaches its level. The score as a function of the gain of one document has its
minimum at gain 0 or the top gain, and a document at the top gain lifts the score less the further down it is. So in the
lowest score the deepest unjudged documents have the top gain and the others none; only their number is open. In the
highest score the first unjudged documents reach each level; their number per level is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb
from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gradedeval.arrays import Floats, Ints, distinct, shared
from gradedeval.errors import InputError
from gradedeval.kernel.measures.cascade_models import expected_utility
from gradedeval.kernel.measures.cumulated_gain import q
from gradedeval.kernel.measures.definition import Bounds, Measure, Rule
from gradedeval.kernel.measures.gains import (
    Gains,
    Grades,
    divisor,
    gain_table,
    mean_gains,
    row_sums,
    run_measure,
    safe_divide,
    thresholds,
    tied_sums,
)
from gradedeval.kernel.measures.precision import INTERPOLATED
from gradedeval.kernel.measures.precision import interpolated as interpolated_precision

MOST_ROUNDS = 100
"""Maximum rounds of Dinkelbach's iteration, which needs two to four."""


def at_ranks(g: Gains, weight: Floats) -> Floats:
    """Return the weights of documents at each rank: topics × ranks, or ranks alone without ties. Over ties a weight is
    the mean over the ranks of the tie, with weight 0 below the cutoff."""
    if g.first is None:
        return weight
    return mean_gains(np.broadcast_to(np.where(g.rank <= g.last_rank, weight, 0.0), g.first.shape), g.first)


class Layer(NamedTuple):
    """A score's numerator and denominator for one step of gain: what is added to each, topics × candidates, by the
    number of unjudged documents that reach the level."""

    step: float
    gained: Floats
    ideal: Floats | Ints


class Step(NamedTuple):
    """A level of gain, the rise up to it, R_j, the number of documents of the pool of each topic that reach it, and
    whether the same documents reach the level below."""

    rise: float
    level: float
    relevant: Ints
    alike: bool


def steps(g: Gains) -> Iterator[Step]:
    """Yield the levels of gain, from the lowest."""
    rises = np.diff(g.levels, prepend=0.0).tolist()
    above = np.searchsorted(g.levels, np.append(g.gain.ravel(), g.ideal.ravel()), side="right")
    alike = np.bincount(above, minlength=len(rises) + 1)[: len(rises)] == 0
    alike[:1] = False
    relevant = np.zeros(len(g.gain), dtype=np.int64)
    for rise, level, same in zip(rises, g.levels.tolist(), alike.tolist(), strict=True):
        relevant = relevant if same else np.count_nonzero(g.ideal >= level, axis=1)
        yield Step(rise, level, relevant, same)


def from_below(values: Floats) -> Floats:
    """Return the sum of the values from each rank on, topics × (ranks + 1); 0 last."""
    summed = np.zeros((len(values), values.shape[1] + 1), values.dtype)
    values[:, ::-1].cumsum(1, out=summed[:, -2::-1])
    return summed


def from_above(values: Floats) -> Floats:
    """Return 0, then the sum of the values down to each rank: topics × (ranks + 1)."""
    summed = np.zeros((len(values), values.shape[1] + 1), values.dtype)
    values.cumsum(1, out=summed[:, 1:])
    return summed


def ratio(layers: Sequence[Layer]) -> Floats:
    """Return the scores if all layers have the same candidate: topics × candidates."""
    numerator = sum(layer.step * layer.gained for layer in layers)
    denominator = sum(layer.step * layer.ideal for layer in layers)
    return safe_divide(np.asarray(numerator), np.asarray(denominator))


def least(layers: Sequence[Layer]) -> Floats:
    """Return the lowest ratio over the candidates: topics."""
    lowest: Floats = ratio(layers).min(1)
    return lowest


def greatest(layers: Sequence[Layer]) -> Floats:
    """Return the highest ratio over candidates chosen independently for each layer: topics.

    At the highest ratio λ the sum over layers of max(gained − λ ideal) is 0, and each layer is solved alone.
    Dinkelbach, Management Science 1967.
    """
    best: Floats = ratio(layers).max(1)
    for _ in range(MOST_ROUNDS if len(layers) > 1 else 0):
        numerator, ideal = np.zeros((2, len(best)))
        previous: Layer | None = None
        for layer in layers:
            if previous is None or layer.gained is not previous.gained:  # else it is the same at another step
                chosen = (layer.gained - best[:, None] * layer.ideal).argmax(1)[:, None]
                gained_of_layer = np.take_along_axis(layer.gained, chosen, 1)[:, 0]
                ideal_of_layer = np.take_along_axis(np.asarray(layer.ideal, np.float64), chosen, 1)[:, 0]
                previous = layer
            numerator += layer.step * gained_of_layer
            ideal += layer.step * ideal_of_layer
        better = safe_divide(numerator, ideal)
        rises = better > best
        if not rises.any():
            break
        best = np.where(rises, better, best)
    return best


# Bounds of scores that follow from the numbers of relevant documents retrieved and in total.


def fewest(measure: Measure, g: Gains) -> Floats:
    """Return the lowest scores of recall and its kin: only unjudged documents that cannot be found are relevant."""
    tied = g.first is not None
    low = _over_ties(measure, g, best=False) if tied else run_measure(measure, replace(g, further=g.hidden))
    return np.where(np.isnan(low), 0.0, low)  # an empty run misses infinitely many: 0 times infinity


def _over_ties(measure: Measure, g: Gains, *, best: bool) -> Floats:
    """Return the lowest or the highest mean over the orders of tied documents: topics. A document tied across the
    cutoff is found in a share of the orders; all numbers of relevant ones among these are tried."""
    assert g.first is not None
    share = at_ranks(g, np.ones_like(g.rank))
    across = g.unknown & (share > 0) & (share < 1)
    certain = g.unknown & (share == 1) if best else g.unknown & (share == 0)
    retrieved_gain = mean_gains(g.gain + certain if best else g.gain, g.first)
    across_mean, number = mean_gains(across.astype(np.float64), g.first), np.count_nonzero(across, axis=1)
    each = across_mean / np.maximum(number, 1)[:, None]
    further = row_sums(certain) + (0.0 if best else g.hidden)
    scores = []
    for most in range(int(number.max(initial=0)) + 1):
        count = np.minimum(most, number)
        cut = replace(
            g,
            gain=(retrieved_gain + count[:, None] * each)[:, : g.k],
            retrieved=g.retrieved if g.k is None else np.minimum(g.retrieved, g.k),
            further=further + count,
        )
        scores.append(run_measure(measure, cut))
    ends: Floats = np.max(scores, axis=0) if best else np.min(scores, axis=0)
    return ends


# Bounds of any measure.


Exactness = Literal["exact", "safe", "none"]
MOST_GRADES = 20_000
"""Maximum grades of a scale to consider: with more, the bounds that depend on them are safe anyway."""


LAYERED = 1 << 21
"""Maximum topics × ranks × levels in memory at once."""


def exactness(measure: Measure, *, over_ties: bool = False) -> Exactness:
    """Return whether bounds of the measure, or of its means over tied orders, are exact (reached), safe, or none."""
    rule = measure.bounds
    if rule == "none" or (over_ties and isinstance(rule, Bounds) and not rule.over_ties):
        return "none"
    exact = rule.exact if isinstance(rule, Bounds) else rule != "intents"
    reached = measure.rel is not None if exact == "binary" else exact
    return "exact" if reached and measure.prior is None else "safe"


def may_fall(measure: Measure) -> bool:
    """Return whether a score may fall, and so depends on relevant documents that were not retrieved. The highest
    precision, which is iprec at recall 0, does not: any number of relevant documents reaches that level."""
    levels = measure.arguments.get("recall", measure.definition.parameters.get("recall"))
    if measure.definition.bounds is INTERPOLATED and not np.any(levels):
        return False
    return measure.bounds not in ("rises", "none") or (measure.prior is not None and measure.bounds == "rises")


def depends_on_scale(measure: Measure) -> bool:
    """Return whether its bounds depend on grades between the lowest and the top one: their thresholds or gains."""
    rule = measure.bounds
    by_level = isinstance(rule, Bounds) and (rule.of_scale or measure.definition.scale == "thresholds")
    return by_level and measure.rel is None


def bounds_of(
    measure: Measure,
    score: Floats,
    grades: Grades,
    plain: Gains,
    best: Callable[[], Gains],
    highest: Callable[[], Floats],
) -> Floats:
    """Return the lowest and the highest scores, 2 × topics; nan if unknown.

    They cover all judgments of the unjudged documents retrieved, also below the cutoff: each gets any grade, or stays
    unjudged. `Gains.unseen` more documents may be relevant and are not retrieved. For measures that go on past the end
    of the run the highest score allows any documents at these ranks.

    score    topics: the score as judged
    grades   the grades of the qrels
    plain    the gains as judged; of all ranks if scores are means over the orders of tied documents
    best     the gains if every unjudged document has the top gain
    highest  topics: score + residual
    """
    rule = measure.bounds
    if plain.first is not None:
        if exactness(measure, over_ties=True) == "none":
            return np.full((2, len(score)), np.nan)
        plain = _one_by_one(measure, plain)
    if isinstance(rule, Bounds) and rule.of_scale:
        plain = _with_levels(plain, _possible_gains(measure, grades))
    if measure.prior is not None or rule == "intents":
        return np.array([_lowest_by_intent(measure, rule, score, plain), np.maximum(highest(), score)])
    if rule == "rises":
        return np.array([score, np.maximum(highest(), score)])
    if rule == "counts" and plain.first is not None:
        low, high = fewest(measure, plain), _over_ties(measure, plain, best=True)
    elif rule == "counts":
        low, high = fewest(measure, plain), run_measure(measure, replace(best(), further=row_sums(plain.unknown)))
    else:
        low, high = _by_function(measure, plain)
    # If nothing is unknown, another order of summation may still change the last bits.
    return np.array([np.minimum(low, score), np.clip(high, score, measure.definition.ceiling)])


def _by_function(measure: Measure, g: Gains) -> tuple[Floats, Floats]:
    """Return the results of the function of its `Bounds`: lowest and highest scores by topic. With very many levels few
    topics are processed at once: most functions store a value for each rank and level."""
    at_once = max(LAYERED // max(g.gain.shape[1] * len(g.levels), 1), 1)
    if len(g.gain) > at_once and g.sample is None and g.intents is None:
        parts = [g.select(slice(begin, begin + at_once)) for begin in range(0, len(g.gain), at_once)]
        low, high = map(np.concatenate, zip(*(_by_function(measure, part) for part in parts), strict=True))
        return low, high
    rule = measure.bounds
    assert isinstance(rule, Bounds)
    function = globals()[rule.function] if isinstance(rule.function, str) else rule.function
    low, high = function(g, **{**measure.definition.parameters, **measure.arguments})
    return low, high


def _one_by_one(measure: Measure, g: Gains) -> Gains:
    """Return the gains with a separate gain for each tied document, and with the cutoff below which columns go on."""
    assert g.uncut is not None
    return replace(g, gain=g.uncut, k=measure.cutoff)


@lru_cache(maxsize=64)
def _possible_gains(measure: Measure, grades: Grades) -> Floats:
    """Return the gain of each possible grade, without grades that the measure refuses."""

    def gains_of(labels: Sequence[float]) -> Floats:
        return gain_table(measure, replace(grades, labels=np.array(labels, dtype=np.float64))).gain_of_label

    labels = [0, *thresholds(grades)[:MOST_GRADES]]
    try:
        return shared(gains_of(labels))
    except InputError:
        parts = [np.zeros(0)]
        for label in labels:
            with suppress(InputError):
                parts.append(gains_of([label]))
        return shared(np.concatenate(parts))


def _with_levels(g: Gains, gains: Floats) -> Gains:
    """Return the batch with the levels of these gains, also of grades that do not occur."""
    levels, intents = distinct(np.append(g.levels, gains[(gains > 0) & (gains < g.levels[-1])]))[0], g.intents
    if intents is None and len(levels) == len(g.levels):
        return g
    if intents is not None:
        intents = replace(intents, each=[replace(each, levels=levels) for each in intents.each])
    return replace(g, levels=levels, intents=intents)


def _lowest_by_intent(measure: Measure, rule: Rule, score: Floats, g: Gains) -> Floats:
    """Return a lower bound of the scores: topics. Each intent is at its lowest score, and intents without a relevant
    document may turn out to have one, with score 0."""
    intents = g.intents
    assert intents is not None
    if measure.prior is not None and rule != "rises":
        plain = replace(measure, prior=None)
        each = intents.each if g.first is None else [_one_by_one(plain, intent) for intent in intents.each]
        lows = [fewest(plain, intent) if rule == "counts" else _by_function(plain, intent)[0] for intent in each]
        score = np.minimum(intents.marginal(lows), score)
    return score * intents.share_left(g.unknown.any(1) | (g.hidden > 0))


# Bounds of nDCG.


LONGEST = 1 << 23
"""The longest ideal ranking to add up rank by rank, for the deepest runs and the documents of --unseen."""


@lru_cache(maxsize=4)
def _sums(log: float | None, length: int) -> Floats:
    """Return 0, then the sum of the discounts down to rank 1, 2, … `length`."""
    return shared(np.append(0.0, (1 / divisor(np.arange(1.0, length + 1), log)).cumsum()))


def _ideal_sums(log: float | None, count: Floats, k: int | None) -> Floats:
    """Return the sums of the first `count` discounts down to the cutoff, topics × candidates; infinite if too many."""
    cut = np.minimum(count, np.inf if k is None else k)
    endless = cut > LONGEST
    ranks = np.where(endless, 0, cut).astype(np.int64)
    summed = _sums(log, 1 << int(ranks.max(initial=0)).bit_length())[ranks]
    return np.where(endless, np.inf, summed)


def discounted_share(g: Gains, *, log: float | None = None) -> tuple[Floats, Floats]:
    """Return the bounds of ndcg."""
    discount = at_ranks(g, 1 / divisor(g.rank, log))
    unknown = g.unknown.astype(np.float64)
    weight = unknown * discount
    lowest, count = from_below(weight), g.hidden[:, None] + from_below(unknown)
    highest, raised = from_above(weight), from_above(unknown)
    worse, better = list[Layer](), list[Layer]()
    for step, level, relevant, alike in steps(g):
        if alike:
            worse.append(worse[-1]._replace(step=step))
            better.append(better[-1]._replace(step=step))
            continue
        base = row_sums((g.gain >= level) * discount)[:, None]
        worse.append(Layer(step, base + lowest, _ideal_sums(log, relevant[:, None] + count, g.k)))
        better.append(Layer(step, base + highest, _ideal_sums(log, relevant[:, None] + raised, g.k)))
    return least(worse), greatest(better)


# Bounds of average precision, graded or not, of graded recall, and of interpolated precision.


MANY = 1 << 40
"""More relevant documents than any level of recall requires."""


def graded_average(g: Gains, *, norm: str | None = None) -> tuple[Floats, Floats]:
    """Return the bounds of gap, and of ap as gap with one threshold. With norm=k at most `k` documents of each
    threshold count in the divisor: as for nDCG, each further one adds no more than the previous."""
    most = np.inf if norm is None else g.last_rank
    worse, better = _layers_of_average(g)
    capped = [layer._replace(ideal=np.minimum(layer.ideal, most)) for layer in better]
    return _lowest_average(worse, np.arange(len(g.gain)), g.hidden, most), greatest(capped)


def _layers_of_average(g: Gains) -> tuple[list[Layer], list[Layer]]:
    """Return the layers of the lowest and the highest score, without documents that cannot be found; cached."""
    key = "layers of average"
    if key in g.memo:
        return cast("tuple[list[Layer], list[Layer]]", g.memo[key])
    unknown, pairs = g.unknown.astype(np.float64), Pairs(g)
    worse, better = list[Layer](), list[Layer]()
    deep, shallow = from_below(unknown), from_above(unknown)
    below_too, above_too = pairs.below(unknown), pairs.above(unknown)  # unjudged documents counted as relevant already
    for step, level, relevant, alike in steps(g):
        if alike:
            worse.append(worse[-1]._replace(step=step))
            better.append(better[-1]._replace(step=step))
            continue
        reaches = (g.gain >= level).astype(np.float64)
        higher = pairs.alone + pairs.above(reaches)
        base, one_more = row_sums(reaches * higher)[:, None], higher + pairs.below(reaches)
        lowest = base + from_below(unknown * (one_more + below_too))
        highest = base + from_above(unknown * (one_more + above_too))
        worse.append(Layer(step, lowest, relevant[:, None] + deep))
        better.append(Layer(step, highest, relevant[:, None] + shallow))
    g.memo[key] = worse, better
    return worse, better


def _lowest_average(worse: Sequence[Layer], rows: Ints, hidden: Floats, most: float) -> Floats:
    """Return the lowest scores of some topics (`rows`), each with `hidden` relevant documents that cannot be found."""
    lowest, at_once = np.empty(len(rows)), max(1, LAYERED // max(len(worse) * worse[0].gained.shape[1], 1))
    for begin in range(0, len(rows), at_once):
        part = slice(begin, begin + at_once)
        layers = list[Layer]()
        for number, layer in enumerate(worse):
            if number and layer.gained is worse[number - 1].gained:
                layers.append(layers[-1]._replace(step=layer.step))
                continue
            ideal = np.minimum(layer.ideal[rows[part]] + hidden[part, None], most)
            layers.append(Layer(layer.step, layer.gained[rows[part]], ideal))
        lowest[part] = least(layers)
    return lowest


def lowest_with_unretrieved(measure: Measure, g: Gains, rows: Ints, unretrieved: Ints) -> Floats | None:
    """Return the lowest scores of some topics (`rows`, with repetitions), each with `unretrieved` relevant documents
    that were not retrieved; None if `bounds_of` must be called for each. The gains are as judged."""
    rule = measure.bounds
    if not isinstance(rule, Bounds) or rule.function != "graded_average" or g.first is not None:
        return None
    if measure.prior is not None or rule.of_scale:
        return None
    most = g.last_rank if {**measure.definition.parameters, **measure.arguments}.get("norm") else np.inf
    return _lowest_average(_layers_of_average(g)[0], rows, g.hidden[rows] + unretrieved, most)


class Pairs:
    """The sum of precisions as a sum over pairs: a relevant document adds 1 / rank by itself, and as much for each
    relevant one above it.

    Over ties these are means over orders: of 1 / rank over the ranks of its tie, and of two documents of a tie of
    size n, Σ_i 2 (i − 1) / (n (n − 1) rank_i) over its first, second, … rank.

    alone  topics × ranks: the amount that a relevant document adds by itself
    """

    def __init__(self, g: Gains) -> None:
        self.alone, self.first = at_ranks(g, 1 / g.rank), g.first
        if g.first is not None:
            column = np.arange(len(g.rank))
            size = tied_sums(np.ones(g.first.shape), g.first)[1]
            self.end, above = g.first + size, column - g.first
            within = np.where(g.rank <= g.last_rank, above / g.rank, 0.0)
            self.per_pair = 2 * mean_gains(within, g.first) / np.maximum(size - 1, 1)

    def above(self, counted: Floats) -> Floats:
        """Return the amounts that a relevant document adds for the counted ones to its left: topics × ranks."""
        summed = from_above(counted)
        if self.first is None:
            return self.alone * summed[:, :-1]
        higher = np.take_along_axis(summed, self.first, 1)
        return self.alone * higher + self.per_pair * (summed[:, :-1] - higher)

    def below(self, counted: Floats) -> Floats:
        """Return the same for the columns to its right."""
        lower = from_below(counted * self.alone)
        if self.first is None:
            return lower[:, 1:]
        summed = from_below(counted)
        in_tie = summed[:, 1:] - np.take_along_axis(summed, self.end, 1)
        return np.take_along_axis(lower, self.end, 1) + self.per_pair * in_tie


def graded_recall(g: Gains) -> tuple[Floats, Floats]:
    """Return the bounds of grecall."""
    share, unknown, top = at_ranks(g, np.ones_like(g.rank)), g.unknown.astype(np.float64), g.levels[-1]
    gained, ideal = row_sums(g.gain * share)[:, None], row_sums(g.ideal)[:, None]
    low, high = (
        safe_divide(gained + top * along(unknown * share), ideal + top * (further + along(unknown)))
        for along, further in ((from_below, g.hidden[:, None]), (from_above, 0.0))
    )
    return low.min(1), high.max(1)


def interpolated(g: Gains, *, recall: float | tuple[float, ...], add: float) -> tuple[Floats, Floats]:
    """Return the bounds of iprec and iprec_avg. Each document judged relevant may make a level of recall harder to
    reach; the precisions at the ranks that still reach it are no lower. If nothing is relevant yet, the first relevant
    document reaches every level."""
    levels = np.atleast_1d(recall).tolist()
    further = np.minimum(row_sums(g.unknown) + g.hidden, MANY)
    few, best = replace(g, further=further), np.where(g.unknown, g.levels[-1], g.gain)
    many = replace(g, gain=best, further=(g.num_relevant == 0).astype(np.float64))
    low, high = (
        sum((interpolated_precision(seen, level, add) for level in levels), start=np.zeros(len(g.gain))) / len(levels)
        for seen in (few, many)
    )
    return low, high


# Bounds of the Q-measure: every term depends on the number of relevant documents.


def blended(g: Gains, *, beta: float, norm: str | None) -> tuple[Floats, Floats]:
    """Return the bounds of q. With gains of 0 and 1 the score is lowest if the deepest unjudged documents are relevant,
    and highest if the first ones are; all numbers of them are tried. With more grades the lowest is a bound: the ideal
    ranking gets documents of the top gain, while their terms, and their effect on other terms, are those of the lowest
    gain. The highest is a bound too: no score exceeds score + residual, and no term exceeds its maximum."""
    if len(g.levels) > 1:
        best = replace(g, gain=np.where(g.unknown, g.levels[-1], g.gain))
        high = np.minimum(q.definition.function(best, beta=beta, norm=norm), _capped(g, beta, norm))
    else:
        high = _greatest(g, beta, norm)
    return _least(g, beta, norm), high


def _counted(g: Gains, number: Floats | Ints, norm: str | None) -> Floats | Ints:
    """Return the divisor of the sum of terms with `number` relevant documents added to the pool: topics × candidates.
    It is at most the cutoff with norm=k, and at least 1."""
    total = g.num_relevant[:, None] + number
    return np.maximum(total if norm is None else np.minimum(total, g.last_rank), 1)


def _capped(g: Gains, beta: float, norm: str | None) -> Floats:
    """Return the highest mean of upper bounds of the terms, over any number of relevant unjudged documents: topics.

    The ideal ranking gains no less than the ranking itself down to any rank, and that at most C times the top gain t:
    (C + β cg) / (i + β cg*) ≤ C (1 + β t) / (i + β t C), which rises with C.
    """
    most, top_worth = (g.relevant | g.unknown).cumsum(1), beta * float(g.levels[-1])
    term = most * (1 + top_worth) / (g.rank + top_worth * most)
    added = from_above(-np.sort(-term * g.unknown, axis=1))
    number = np.minimum(np.arange(added.shape[1]), np.count_nonzero(g.unknown, axis=1)[:, None])
    highest: Floats = ((row_sums(term * g.relevant)[:, None] + added) / _counted(g, number, norm)).max(1)
    return highest


class Shares:
    """Reciprocals of the divisors of the terms, as a function of the number of documents of the top gain added to the
    ideal ranking. The function is convex, because every further document adds less to the ideal's cumulated gain."""

    def __init__(self, g: Gains, beta: float) -> None:
        width, self.top, self.beta, self.rank = g.gain.shape[1], float(g.levels[-1]), beta, g.rank
        ideal = g.ideal_at_ranks()
        # Ranks from −width to width, counted from the last added document.
        judged, pushed_out = np.zeros((2, len(ideal), 2 * width + 1))
        ideal.cumsum(1, out=judged[:, width + 1 :])
        pushed_out[:, width + 1 :] = self.top - ideal
        self.judged, self.pushed_out = (sliding_window_view(each, width, axis=1) for each in (judged, pushed_out))

    def at(self, topics: Ints, number: Floats) -> Floats:
        """Return the shares for `number` added documents: topics × ranks."""
        ideal = self.judged[topics, self._begin(number)] + self.top * np.minimum(self.rank, number[:, None])
        share: Floats = 1 / (self.rank + self.beta * ideal)
        return share

    def slope(self, topics: Ints, number: Floats, share: Floats) -> Floats:
        """Return the slopes of lines that touch the shares at `number` and lie below all others: topics × ranks."""
        slope: Floats = -self.beta * self.pushed_out[topics, self._begin(number)] * share * share
        return slope

    def _begin(self, number: Floats) -> Ints:
        width = len(self.rank)
        return width + 1 - np.minimum(number, width).astype(np.int64)


@dataclass(eq=False, repr=False)
class Terms:
    """Numerators of the terms, if unjudged documents are relevant from a rank on, or down to it.

    judged  topics × ranks: the numerators of documents judged relevant, as judged
    added   the same, of unjudged ones, if they are the last to be relevant
    adds    the same: the amount that an unjudged one adds to each term below with `sees` 1
    sees    topics × ranks: 1 or 0
    along   adds up from the end or from the beginning
    """

    judged: Floats
    added: Floats
    adds: Floats
    sees: Floats
    along: Callable[[Floats], Floats]

    def sums(self, topics: Ints, share: Floats) -> Floats:
        """Return the sums of the terms times these shares: topics × (ranks + 1)."""
        below = from_below(self.sees[topics] * share)[:, 1:]
        later = self.along(self.added[topics] * share + self.adds[topics] * below)
        return row_sums(self.judged[topics] * share)[:, None] + later


def _terms(g: Gains, beta: float, *, deepest: bool) -> Terms:
    lowest_worth, relevant, unknown = 1 + beta * float(g.levels[0]), g.relevant, g.unknown
    adds, above = lowest_worth * unknown.astype(np.float64), g.hits + (1.0 if deepest else unknown.cumsum(1))
    sees = (relevant | unknown if deepest else relevant).astype(np.float64)
    judged = relevant * (g.hits + beta * g.gain.cumsum(1))
    return Terms(judged, adds * above, adds, sees, from_below if deepest else from_above)


def _least(g: Gains, beta: float, norm: str | None) -> Floats:
    """Return the lowest scores over the numbers of unjudged documents that are relevant: topics.

    The sum of terms is no lower than with the shares replaced by their tangents at one number; when no other number can
    give a lower score, the search ends. Kelley, Journal of SIAM 1960.
    """
    terms, shares = _terms(g, beta, deepest=True), Shares(g, beta)
    number = g.hidden[:, None] + from_below(g.unknown.astype(np.float64))
    total, number = _counted(g, number, norm), np.minimum(number, len(g.rank))  # at which the ideal ranking is full
    lowest, limit = np.full(len(total), np.inf), np.full(total.shape, -np.inf)
    topics, column = np.arange(len(total)), np.zeros(len(total), np.int64)
    while len(topics):
        tried = number[topics, column]
        share = shares.at(topics, tried)
        sums, rises = terms.sums(topics, share), terms.sums(topics, shares.slope(topics, tried, share))
        tangent = (sums + (number[topics] - tried[:, None]) * rises) / total[topics]
        lowest[topics] = np.minimum(lowest[topics], tangent[np.arange(len(topics)), column])
        limit[topics] = nearest = np.maximum(limit[topics], tangent)
        column = nearest.argmin(1)
        lower = nearest[np.arange(len(topics)), column] < lowest[topics]
        topics, column = topics[lower], column[lower]
    return lowest


def _greatest(g: Gains, beta: float, norm: str | None) -> Floats:
    """Return the highest scores over the numbers of unjudged documents that are relevant: topics.

    Between two numbers the sum of terms is no higher than with the shares replaced by their chords; when no number can
    give a higher score, the search ends.
    """
    terms, shares = _terms(g, beta, deepest=False), Shares(g, beta)
    number = from_above(g.unknown.astype(np.float64))
    total = _counted(g, number, norm)
    topics = np.arange(len(total))
    # The nearest numbers tried on both sides, none and all at first, and the sums with their shares.
    begin, end = np.zeros_like(number), np.repeat(number[:, -1:], number.shape[1], axis=1)
    sums_at_begin, sums_at_end = (terms.sums(topics, shares.at(topics, near[:, 0])) for near in (begin, end))
    highest = np.maximum(sums_at_begin[:, 0] / total[:, 0], sums_at_end[:, -1] / total[:, -1])
    while True:
        chord = (sums_at_begin + (number - begin) / np.maximum(end - begin, 1) * (sums_at_end - sums_at_begin)) / total
        chord[(number <= begin) | (number >= end)] = -np.inf
        column = chord.argmax(1)
        higher = chord[np.arange(len(topics)), column] > highest[topics]
        if not higher.any():
            return highest
        state = (topics, column, number, total, begin, end, sums_at_begin, sums_at_end)
        topics, column, number, total, begin, end, sums_at_begin, sums_at_end = (each[higher] for each in state)
        tried = number[np.arange(len(topics)), column]
        sums_at_tried = terms.sums(topics, shares.at(topics, tried))
        reached = (sums_at_tried / total)[np.arange(len(topics)), column]
        highest[topics], tried = np.maximum(highest[topics], reached), tried[:, None]
        for near, summed, closer in (
            (begin, sums_at_begin, (begin < tried) & (tried <= number)),
            (end, sums_at_end, (number <= tried) & (tried < end)),
        ):
            np.copyto(near, tried, where=closer)
            np.copyto(summed, sums_at_tried, where=closer)


# Bounds of nERR.


MOST_WAYS, CELLS = 20_000, 400_000
"""Maximum combinations of grades to try for the highest score (beyond them all documents get the top gain), and maximum
numbers of combinations and of stretches of ranks in memory at once."""
NEGLIGIBLE = 1e-18
"""A probability of going on that changes no digit of a score."""


def cascade_share(g: Gains) -> tuple[Floats, Floats]:
    """Return the bounds of nerr."""
    return _least_share(g), _greatest_share(g)


def _least_share(g: Gains) -> Floats:
    """Return the lowest scores: topics. As in `ratios`, the deepest unjudged documents are at the top gain."""
    top = g.levels[-1]
    utility = _raised_from_below(g, top)
    count = g.hidden[:, None] + from_below(g.unknown.astype(np.float64))
    endless = replace(g, gain=g.gain[:, :0], retrieved=np.zeros_like(g.retrieved), tail=float(top))
    if np.isinf(g.unseen):
        return np.asarray(safe_divide(utility, expected_utility(endless)[:, None]).min(1))
    # Nobody goes on past this number of documents of the top gain.
    enough = np.log(NEGLIGIBLE) / np.log1p(-top) if top < 1 else 1.0
    last = int(min(np.ceil(enough), count.max(initial=0), g.last_rank))
    ideal = _ideals(g, top, last)
    lowest: Floats = safe_divide(utility, np.take_along_axis(ideal, np.minimum(count, last).astype(np.int64), 1)).min(1)
    return lowest


def _raised_from_below(g: Gains, top: float) -> Floats:
    """Return ERR with unjudged documents from each rank on at the top gain, topics × (ranks + 1); as judged last."""
    gain, best, width = g.gain, np.where(g.unknown, top, g.gain), g.gain.shape[1]
    by_rank = np.ascontiguousarray(best.T)
    value = np.zeros((width + 1, len(gain)))  # for a user who reaches the rank
    for column in range(width - 1, -1, -1):
        value[column] = by_rank[column] / (column + 1) + (1 - by_rank[column]) * value[column + 1]
    reached = np.ones((len(gain), width + 1))
    np.cumprod(1 - gain, axis=1, out=reached[:, 1:])
    above = np.zeros((len(gain), width + 1))
    (reached[:, :-1] * gain / g.rank).cumsum(1, out=above[:, 1:])
    return np.asarray(above + reached * value.T)


def _ideals(g: Gains, top: float, most: int) -> Floats:
    """Return ERR of the ideal ranking below 0, 1, … `most` added documents of the top gain: topics × (most + 1)."""
    ideal = g.ideal[:, : g.k]
    stops = ideal.copy()
    stops[:, 1:] *= np.cumprod(1 - ideal, axis=1)[:, :-1]
    rank = np.arange(1.0, ideal.shape[1] + 1)
    utility = np.empty((len(ideal), most + 1))
    more = 0.0
    for count in range(most + 1):
        depth = ideal.shape[1] if g.k is None else max(g.k - count, 0)
        utility[:, count] = more + (1 - top) ** count * row_sums((stops / (rank + count))[:, :depth])
        more += top * (1 - top) ** count / (count + 1)
    return utility


def _greatest_share(g: Gains) -> Floats:
    """Return the highest scores: topics. For each number of documents of each gain the best positions are the first
    unjudged ranks, better documents first. All numbers are tried; if these are too many the score is that with the top
    gain for all."""
    top = g.levels[-1]
    best = replace(g, gain=np.where(g.unknown, top, g.gain))
    highest = np.minimum(safe_divide(expected_utility(best), expected_utility(g.ideal_batch)), 1)
    counts = np.count_nonzero(g.unknown, axis=1)
    for count in distinct(counts)[0].tolist():
        ways = comb(count + len(g.levels), len(g.levels))
        if ways > MOST_WAYS:
            continue
        topics = np.flatnonzero(counts == count)
        width = max(g.gain.shape[1], g.ideal.shape[1] + count, count + 1)
        at_once = max(1, CELLS // (ways + (count + 1) * width))
        for begin in range(0, len(topics), at_once):
            some = topics[begin : begin + at_once]
            highest[some] = _best_way(g, some, count)
    return highest


@lru_cache(maxsize=64)
def _ways(count: int, levels: int) -> Ints:
    """Return the number of documents that reach each level, for each way to grade `count` documents: levels × ways."""
    ways = np.zeros((1, 0), np.int64)
    for _ in range(levels):
        least = ways[:, -1] if ways.shape[1] else np.zeros(1, np.int64)
        number = count - least + 1
        first = np.repeat(np.cumsum(number) - number, number)
        rising = np.repeat(least, number) + np.arange(len(first)) - first
        ways = np.column_stack([np.repeat(ways, number, axis=0), rising])
    return shared(np.ascontiguousarray(ways[:, ::-1].T))


def _best_way(g: Gains, topics: Ints, count: int) -> Floats:
    """Return the highest nERR of topics with `count` unjudged documents each.

    A ranking is a chain of stretches: each with its unjudged documents, or the whole ideal ranking, at one level. The
    value of a stretch depends only on its begin and end.
    """
    ways, gain, unknown = _ways(count, len(g.levels)), g.gain[topics], g.unknown[topics]
    after = np.zeros((len(topics), count + 1), np.int64)  # the rank of the last of 0, 1, … unjudged documents
    after[:, 1:] = unknown.nonzero()[1].reshape(len(topics), count) + 1
    end = np.full((len(topics), 1), gain.shape[1])
    pool = [step.relevant[topics] for step in steps(g)]
    ends = [np.minimum(relevant[:, None] + np.arange(count + 1), g.last_rank).astype(np.int64) for relevant in pool]
    starts = [*ends[1:], np.zeros_like(after)]
    utility, ideal = _stretches(gain, after, end)[0][:, ways[0], 0], np.zeros((len(topics), ways.shape[1]))
    for number, level in enumerate(g.levels):
        better = ways[number + 1] if number + 1 < len(ways) else np.zeros_like(ways[0])
        place = better * (count + 1) + ways[number]
        alike = np.full((len(topics), int(ends[number].max(initial=0))), level)
        for total, parts in (
            (utility, _stretches(np.where(unknown, level, gain), after, after)),
            (ideal, _stretches(alike, starts[number], ends[number])),
        ):
            added, reached = (part.reshape(len(topics), -1)[:, place] for part in parts)
            total *= reached
            total += added
    highest: Floats = safe_divide(utility, ideal).max(1)
    return highest


def _stretches(gain: Floats, begin: Ints, end: Ints) -> tuple[Floats, Floats]:
    """Return the ERR that the ranks after each begin down to each end add for a user who gets there, and the
    probability of going on past them: two arrays of topics × begins × ends."""
    seen = np.where(np.arange(gain.shape[1]) >= begin[:, :, None], gain[:, None], 0.0)
    reached, utility = np.ones((*seen.shape[:2], seen.shape[2] + 1)), np.zeros((*seen.shape[:2], seen.shape[2] + 1))
    np.cumprod(1 - seen, axis=2, out=reached[..., 1:])
    np.cumsum(reached[..., :-1] * seen / np.arange(1.0, seen.shape[2] + 1), axis=2, out=utility[..., 1:])
    places = np.broadcast_to(end[:, None], (*seen.shape[:2], end.shape[1]))
    return np.take_along_axis(utility, places, 2), np.take_along_axis(reached, places, 2)
