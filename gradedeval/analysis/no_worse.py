"""Whether a run is no worse than its baseline, worse, or the topics cannot tell: Student's t on paired topics."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from gradedeval.analysis.significance import correct_p_values, scipy_stats
from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError, plural

if TYPE_CHECKING:
    from gradedeval.analysis.score_matrix import Paired
    from gradedeval.kernel.measures.definition import Reading

Answer = Literal["no worse", "worse", "cannot tell"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
NO_WORSE, WORSE, CANNOT_TELL = ANSWERS
Answers: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.object_]]"

ALPHA = 0.05
"""One-sided level of both ends of an interval."""
POWER = 0.8
"""Share of evaluations in which a plan comes true."""
FEWEST = 10
"""Minimum number of topics of an answer. If fewer differ, Student's t is too sure of itself."""
EQUAL = 1e-12
"""Scores and limits that differ by no more are equal."""
MOST = 10_000_000
"""Maximum number of topics of a plan."""
CERTAIN = 100.0
"""Noncentrality, beyond five times the critical value, from which the power is 1; scipy fails there."""


class Margin(NamedTuple):
    """The drop that is still no worse: a share of the baseline's mean if `relative`, else a difference of means. `sign`
    is −1 if lower is better, so that a drop is a rise."""

    value: float
    relative: bool = False
    sign: int = 1


# The interval of a change of means, and p of a drop. Scores are samples × topics: a check has one sample of each
# measure, a simulation thousands.


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and sums of products of paired scores.

    Where fewer than FEWEST topics differ, they count one more topic at each end of the interval, as far off as the
    farthest: an estimate of what the next topic that differs may bring.
    """

    count: Floats
    new: Floats
    old: Floats
    squares: tuple[Floats, Floats, Floats]

    @classmethod
    def of(cls, new: Floats, old: Floats, side: int) -> Moments:
        """Compute the moments for the lower (side −1) or the upper (1) end."""
        topics, distance = new.shape[-1], np.abs(new - old)
        few: Bools = (distance > EQUAL).sum(-1) < FEWEST
        new_mean, old_mean = new.mean(-1), old.mean(-1)
        of_new, of_old = new - new_mean[..., None], old - old_mean[..., None]
        off = np.where(few, old_mean + side * distance.max(-1) - new_mean, 0.0)  # the new topic has the old mean
        squares = (of_new**2).sum(-1) + off**2 * topics / (topics + 1), (of_new * of_old).sum(-1), (of_old**2).sum(-1)
        return cls(topics + few.astype(float), new_mean + off / (topics + 1), old_mean, squares)

    def variances(self) -> tuple[Floats, Floats, Floats]:
        """Return variance of the new mean, covariance, variance of the old mean."""
        of_new, both, of_old = (total / ((self.count - 1) * self.count) for total in self.squares)
        return of_new, both, of_old


def end_of(moments: Moments, side: int, relative: bool) -> Floats:
    """Return one end of the interval of new − old, or by Fieller's theorem of new / old − 1; infinite near old 0."""
    counts, index = np.unique(moments.count, return_inverse=True)
    factor = scipy_stats().t.isf(ALPHA, counts - 1)[index] ** 2
    of_new, both, of_old = (factor * variance for variance in moments.variances())
    if not relative:
        end: Floats = moments.new - moments.old + side * np.sqrt(np.maximum(0, of_new - 2 * both + of_old))
        return end
    a, b, c = moments.old**2 - of_old, moments.old * moments.new - both, moments.new**2 - of_new
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a > 0, (b + side * np.sqrt(np.maximum(0, b * b - a * c))) / a - 1, side * np.inf)


def intervals(new: Floats, old: Floats, relative: bool) -> tuple[Floats, Floats]:
    """Return the ends, each at one-sided ALPHA, of the change of the mean of each sample."""
    low, high = (end_of(Moments.of(new, old, side), side, relative) for side in (-1, 1))
    return low, high


def p_of_drop(new: Floats, old: Floats, margin: Margin) -> Floats:
    """Return one-sided p of each sample that the mean did not get worse."""
    return tail_of(Moments.of(new, old, margin.sign), margin)


def tail_of(moments: Moments, margin: Margin) -> Floats:
    """Return p of `p_of_drop` from the moments for the end that is better."""
    stats, sign = scipy_stats(), margin.sign
    of_new, both, of_old = moments.variances()
    df = moments.count - 1
    p = _tail(sign * (moments.old - moments.new), of_new - 2 * both + of_old, df, stats)
    return np.asarray(np.maximum(p, _tail(moments.old, of_old, df, stats))) if margin.relative else p


def _tail(mean: Floats, variance: Floats, df: Floats, stats: object) -> Floats:
    """Return the probability of a mean at least as high, if it is 0 in truth."""
    error = np.sqrt(np.maximum(0, variance))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, mean / error, np.where(mean > EQUAL, np.inf, -np.inf))
    tail: Floats = stats.t.sf(t, df)  # type: ignore[attr-defined]
    return tail


def answer(new: Floats, old: Floats, margin: Margin, ends: tuple[Floats, Floats], p_corrected: Floats) -> Answers:
    """Return the answer of each sample.

    ends         its interval, never corrected: all measures must hold, so none is given a second chance
    p_corrected  p of a drop, corrected over the measures, any of which may fail
    """
    same: Bools = np.all(np.abs(new - old) <= EQUAL, axis=-1)
    return decide(ends, p_corrected, margin, same, new.shape[-1])


def decide(ends: tuple[Floats, Floats], p_corrected: Floats, margin: Margin, same: Bools, topics: int) -> Answers:
    """Return the answers of `answer`; `same` are samples whose scores are all equal."""
    low, high = ends
    worst = low if margin.sign > 0 else -high
    enough = topics >= FEWEST
    no_worse = same | (enough & (worst > -margin.value + EQUAL))
    worse = enough & ~no_worse & (p_corrected < ALPHA)
    return np.select([no_worse, worse], [NO_WORSE, WORSE], CANNOT_TELL).astype(object)


# What a number of topics can show.


@lru_cache(64)
def _deviations(df: int) -> Floats:
    """Return 400 quantiles of the sample's standard deviation over the true one."""
    shares = (np.arange(400) + 0.5) / 400
    deviations: Floats = np.sqrt(scipy_stats().chi2.ppf(shares, df) / df)
    return deviations


def power_of_worse(drop: float, sd: float, topics: int, margin: float) -> float:
    """Return the probability of the answer `worse` for a true drop, given the deviation of the differences.

    The mean must fall by more than half the width of the interval, which must also reach to the margin. That is the
    noncentral t where the margin is less than twice that half; the sum over the deviations holds for both.
    """
    stats = scipy_stats()
    half = stats.t.isf(ALPHA, topics - 1) * sd * _deviations(topics - 1) / math.sqrt(topics)
    needed = np.maximum(half, margin - half)
    return float(stats.norm.cdf((drop - needed) * math.sqrt(topics) / sd).mean())


def smallest_drop(sd: float, topics: int, margin: float) -> float:
    """Return the smallest true drop that is called worse in POWER of all evaluations."""
    if sd <= EQUAL:
        return margin
    low, high = 0.0, 99 * sd + 9 * margin
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of_worse(middle, sd, topics, margin) >= POWER else (middle, high)
    return high


def power_of_no_worse(sd: float, topics: int, margin: float) -> float:
    """Return the probability of the answer `no worse` for a run that is equal in truth."""
    stats = scipy_stats()
    critical = float(stats.t.isf(ALPHA, topics - 1))
    shift = margin * math.sqrt(topics) / sd if sd > EQUAL else math.inf
    return 1.0 if shift > CERTAIN + 5 * critical else float(stats.nct.sf(critical, topics - 1, shift))


def topics_needed(sd: float, margin: float) -> int | None:
    """Return the topics with which an equal run passes in POWER of all evaluations; None beyond MOST."""
    high = FEWEST
    while power_of_no_worse(sd, high, margin) < POWER:
        high *= 2
        if high > MOST:
            return None
    return bisect_left(range(high + 1), True, lo=FEWEST, key=lambda n: power_of_no_worse(sd, n, margin) >= POWER)


# One run beside its baseline, by one measure or several.


@dataclass(frozen=True)
class Comparison:
    """A run beside its baseline by one measure.

    answer         no worse, worse, or cannot tell
    change         new − old of the means (or totals), or new / old − 1 for a relative margin
    low, high      its interval, each end at one-sided ALPHA; None with fewer than two topics
    margin         the drop that is still no worse, in the same unit
    topics         number of topics
    dropped        whether the drop is significant, corrected over the measures
    smallest_drop  drop that would be called worse in 8 of 10 such evaluations, about; None if none would
    topics_needed  topics that would pass an equal run in 8 of 10, about; None if unknown
    could_differ   share of topics on which runs with equal scores may still differ; None unless all scores are equal
    """

    answer: Answer
    change: float
    low: float | None
    high: float | None
    margin: Margin
    topics: int
    dropped: bool
    smallest_drop: float | None
    topics_needed: int | None
    could_differ: float | None

    def sentence(self, measure: str) -> str:
        """Return the change, its interval and the answer in words, and what this number of topics can show."""
        best = self.high if self.margin.sign > 0 else self.low
        is_beyond = best is not None and -self.margin.sign * best >= self.margin.value
        beyond = f"worse than {self.limit}" if is_beyond else f"worse, perhaps by less than {self.limit[1:]}"
        answer = {
            NO_WORSE: f"no worse than {self.limit}" + ", though worse than the baseline" * self.dropped,
            WORSE: beyond,
            CANNOT_TELL: f"cannot tell whether it is no worse than {self.limit}",
        }[self.answer]
        facts = [f"{self.topics} {plural(self.topics, 'topic')}"]
        if self.could_differ is not None:
            alike = f"up to {self.could_differ:.1%} of topics could still differ"
            return f"{measure} unchanged on all topics: {answer} ({facts[0]}; {alike})"
        if self.smallest_drop is not None:
            change = "drop" if self.margin.sign > 0 else "rise"
            facts.append(f"a {change} of about {self.text(self.smallest_drop)} would be called worse in 8 of 10")
        elif self.topics < FEWEST:
            facts.append(f"an answer needs {FEWEST}")
        if self.low is not None:
            needed = f"about {self.topics_needed:,}" if self.topics_needed is not None else f"more than {MOST:,}"
            facts.append(f"{needed} topics would pass an equal run in 8 of 10")
        return f"{measure} {self.text(self.change, '+')} {self._interval}: {answer} ({'; '.join(facts)})"

    def text(self, change: float, sign: str = "") -> str:
        """Format a change in the unit of the margin."""
        return f"{100 * change:{sign}.1f}%" if self.margin.relative else f"{change:{sign}.4f}"

    @property
    def limit(self) -> str:
        """The change that is still no worse, as text."""
        value = -self.margin.sign * self.margin.value
        return f"{100 * value:+g}%" if self.margin.relative else f"{value:+g}"

    @property
    def _interval(self) -> str:
        if self.low is None or self.high is None:
            return "[no interval]"
        if math.isinf(self.low) or math.isinf(self.high):
            return "[no interval: the baseline's mean may be 0]"
        return f"[{self.text(self.low, '+')}, {self.text(self.high, '+')}]"


def check_scores(paired: Paired, margin: Margin, place: str) -> None:
    """Raise InputError for scores of a baseline and a run that a margin cannot be applied to."""
    measure, (baseline, run) = paired.measure, paired.runs
    if not np.isfinite(paired.values).all():
        problem = f"{measure} of '{run}' or '{baseline}' is infinite on a topic"
        raise InputError(place, problem, "choose another measure")
    geometric = paired.reading.summary == "geometric"
    if paired.reading.better == "neither":
        problem = f"neither higher nor lower is better by {measure}, so nothing is worse"
        raise InputError(place, problem, "choose another measure", usage=True)
    if geometric and not margin.relative:
        problem = f"{measure} is a geometric mean, of which ratios are tested"
        raise InputError(place, problem, f"give a share: {measure}=5%", usage=True)
    if margin.relative and not geometric and paired.score[0].mean() <= EQUAL:
        mean = f"the baseline's {measure} is {paired.summaries[0]:g}, and a margin cannot be a share of it"
        raise InputError(place, mean, f"give a difference of means, as in {measure}=0.01")


def compare(pairs: Sequence[Paired], margins: Sequence[tuple[float, bool]]) -> list[Comparison]:
    """Compare a run with its baseline by measures, with Holm's correction over them for `worse` alone.

    pairs    for each measure the scores of the baseline and of the run on the same topics
    margins  for each measure the margin, and whether it is relative
    """
    tested = [_Tested.of(paired, *margin) for paired, margin in zip(pairs, margins, strict=True)]
    p = [float(p_of_drop(each.new, each.old, each.margin)[0]) for each in tested]
    corrected = correct_p_values(np.array(p), "holm").tolist()
    return [each.compare(value) for each, value in zip(tested, corrected, strict=True)]


def planned_margin(reading: Reading, value: float, relative: bool, place: str) -> tuple[float, bool]:
    """Return the margin of the tested means of future topics, and whether it is a share of the baseline's.

    Raises InputError (usage) for a measure on which no margin, or no absolute one, can be planned.
    """
    if reading.better == "neither":
        raise InputError(place, "neither higher nor lower is better, so nothing is worse", usage=True)
    if reading.summary != "mean" and not relative:
        raise InputError(place, f"a {reading.summary} needs a margin that is a share", "for example 5%", usage=True)
    if reading.summary == "geometric":
        return abs(math.log(1 - reading.sign * value)), False
    return value, relative


class _Tested(NamedTuple):
    """Values whose means are tested, 1 × topics, and the margin in their unit: of logarithms for a geometric mean, by
    topic for a total."""

    paired: Paired
    old: Floats
    new: Floats
    margin: Margin
    asked: Margin

    @classmethod
    def of(cls, paired: Paired, value: float, relative: bool) -> _Tested:
        reading, topics = paired.reading, len(paired.topics)
        asked = Margin(value, relative, reading.sign)
        margin = asked
        if reading.summary == "geometric":
            shrunk = 1 - reading.sign * value
            margin = Margin(abs(math.log(shrunk)) if shrunk > 0 else math.inf, False, reading.sign)
        elif reading.summary == "total" and not relative:
            margin = asked._replace(value=value / topics)
        return cls(paired, paired.values[:1], paired.values[1:], margin, asked)

    def compare(self, p_corrected: float) -> Comparison:
        """Return the comparison, in the unit of the margin that was asked for."""
        new, old, margin, topics = self.new, self.old, self.margin, len(self.paired.topics)
        measurable = topics > 1
        ends = intervals(new, old, margin.relative)
        verdict: Answer = answer(new, old, margin, ends, np.array([p_corrected]))[0]
        same = bool((np.abs(new - old) <= EQUAL).all())
        scale = float(old.mean()) if margin.relative else 1.0
        sd = float((new - old).std(ddof=1)) / scale if measurable else 0.0
        drop = None if same or topics < FEWEST else smallest_drop(sd, topics, margin.value)
        needed = None if same or not measurable else topics_needed(sd, margin.value)
        low, high = (self._in_unit(float(end[0])) if measurable else None for end in ends)
        change = float(new.mean() - old.mean()) / scale
        return Comparison(
            answer=verdict,
            change=self._in_unit(0.0 if same else change),
            low=low,
            high=high,
            margin=self.asked,
            topics=topics,
            dropped=p_corrected < ALPHA and topics >= FEWEST and not same,
            smallest_drop=None if drop is None else abs(self._in_unit(-margin.sign * drop)),
            topics_needed=needed,
            could_differ=1 - ALPHA ** (1 / topics) if same else None,
        )

    def _in_unit(self, change: float) -> float:
        """Convert a change of the tested mean to a change of the summary."""
        if self.paired.reading.summary == "geometric":
            return math.expm1(change)
        total = self.paired.reading.summary == "total" and not self.margin.relative
        return change * len(self.paired.topics) if total else change
