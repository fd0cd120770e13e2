"""The chances of grades at each rank that a score leaves most open, and the scores that are expected of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from gradedeval import kernel
from gradedeval.analysis import ranked_runs
from gradedeval.arrays import Bools, Floats, np
from gradedeval.errors import InputError
from gradedeval.kernel import Measure, useful
from gradedeval.questions.weights import static_weights

# Expected scores of lists whose documents have each grade with a given chance, independently at each rank.


Chances = Floats
"""lists × grades × ranks: the probability of each grade at each rank; 0 past the end of a list."""


class ExpectedScore(Protocol):
    """A measure over such lists. What depends on the pool alone, such as R or the ideal, is left out: it is the same
    for all lists of a topic, so that a score says no more with it."""

    @property
    def linear(self) -> bool:
        """Whether the slope is the same for all chances."""

    def value(self, chances: Chances) -> Floats:
        """lists: the expected score."""

    def slope(self, chances: Chances) -> Chances:
        """Its derivative by each chance."""

    def order(self, chances: Chances) -> Floats:
        """lists × ranks: the larger, the more a gain at the rank counts; 0 where it does not, equal where ranks may be
        exchanged."""

    def select(self, rows: Any) -> ExpectedScore:
        """The same for some of the lists."""


@dataclass(frozen=True, eq=False, repr=False)
class WeightedGain:
    """Σ_n w_n E[gain_n]. weights: lists × ranks, worth: grades."""

    weights: Floats
    worth: Floats
    linear: bool = True

    def value(self, chances: Chances) -> Floats:
        summed: Floats = ((self.worth @ chances) * self.weights).sum(1)
        return summed

    def slope(self, chances: Chances) -> Chances:
        return self.weights[:, None, :] * self.worth[:, None]

    def order(self, chances: Chances) -> Floats:
        return self.weights

    def select(self, rows: Any) -> WeightedGain:
        return WeightedGain(self.weights[rows], self.worth)


@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """Σ_n φ_n ρ_n Π_{m<n} (1 − ρ_m), ρ_n = E[gain_n]: linear in the gain of each rank. phi: ranks, worth: grades."""

    phi: Floats
    worth: Floats
    linear: bool = False

    def _stops(self, chances: Chances) -> tuple[Floats, Floats]:
        """lists × ranks: ρ, and the probability of coming to the rank."""
        gain = self.worth @ chances
        reached = np.ones_like(gain)
        np.cumprod(1 - gain[:, :-1], axis=1, out=reached[:, 1:])
        return gain, reached

    def value(self, chances: Chances) -> Floats:
        gain, reached = self._stops(chances)
        summed: Floats = (gain * reached) @ self.phi
        return summed

    def slope(self, chances: Chances) -> Chances:
        gain, reached = self._stops(chances)
        # From the end: the expected utility of a user who comes to the next rank, V_n = φ_n ρ_n + (1 − ρ_n) V_{n+1}.
        below = np.zeros((gain.shape[1] + 1, len(gain)))
        stay, now = (1 - gain).T, (gain * self.phi).T
        for rank in range(gain.shape[1] - 1, -1, -1):
            below[rank] = now[rank] + stay[rank] * below[rank + 1]
        by_gain = reached * (self.phi - below[1:].T)
        return by_gain[:, None, :] * self.worth[:, None]

    def order(self, chances: Chances) -> Floats:
        _, reached = self._stops(chances)
        return np.where((self.phi > 0) & (reached > 0), np.arange(len(self.phi), 0, -1.0), 0.0)

    def select(self, rows: Any) -> Cascade:
        return self


@dataclass(frozen=True, eq=False, repr=False)
class GradedPrecision:
    """Σ_j g_j Σ_{n≤k} T_n(j)/n (1 + Σ_{m<n} T_m(j)), T_n(j) the chance of grade j or more: gap, with one threshold ap.

    steps  thresholds: g_j
    holds  thresholds × grades: 1 where the grade is the threshold or more
    last   the cutoff k, or the number of ranks
    """

    steps: Floats
    holds: Floats
    last: int
    linear: bool = False

    def _parts(self, chances: Chances) -> tuple[Floats, Floats, Floats]:
        """lists × thresholds × ranks: T, its sum over the ranks above, and T/n down to the cutoff."""
        relevant = self.holds @ chances
        above = np.zeros_like(relevant)
        np.cumsum(relevant[:, :, :-1], axis=2, out=above[:, :, 1:])
        rank = np.arange(1.0, chances.shape[2] + 1)
        return relevant, above, np.where(rank <= self.last, relevant / rank, 0.0)

    def value(self, chances: Chances) -> Floats:
        _, above, share = self._parts(chances)
        summed: Floats = (share * (1 + above)).sum(2) @ self.steps
        return summed

    def slope(self, chances: Chances) -> Chances:
        _, above, share = self._parts(chances)
        rank = np.arange(1.0, chances.shape[2] + 1)
        to_come = share[:, :, ::-1].cumsum(2)[:, :, ::-1] - share
        by_threshold = np.where(rank <= self.last, (1 + above) / rank, 0.0) + to_come
        slope: Floats = (self.holds.T * self.steps) @ by_threshold
        return slope

    def order(self, chances: Chances) -> Floats:
        lists, _, ranks = chances.shape
        return np.tile(np.maximum(np.arange(self.last, self.last - ranks, -1.0), 0), (lists, 1))

    def select(self, rows: Any) -> GradedPrecision:
        return self


Maker = Callable[[Measure, kernel.gains.Gains, Floats, int], ExpectedScore]
"""measure, gains of some topics, what each grade is worth, ranks -> its expected score."""


def _ranks_within(measure: Measure, ranks: int) -> Bools:
    within: Bools = np.arange(1, ranks + 1) <= (ranks if measure.cutoff is None else measure.cutoff)
    return within


def _same_weights(weights: Floats, g: kernel.gains.Gains, worth: Floats) -> WeightedGain:
    return WeightedGain(np.tile(weights, (len(g.gain), 1)), worth)


def _precisions(measure: Measure, g: kernel.gains.Gains, worth: Floats, ranks: int) -> ExpectedScore:
    levels = np.array(sorted({level for level in worth.tolist() if level > 0}))
    holds = (worth >= levels[:, None]).astype(np.float64)
    return GradedPrecision(np.diff(levels, prepend=0), holds, min(ranks, measure.cutoff or ranks))


def _cascade(measure: Measure, g: kernel.gains.Gains, worth: Floats, ranks: int) -> ExpectedScore:
    given: Any = measure.arguments
    rank = np.arange(1.0, ranks + 1)
    phi = useful(given.get("gamma", 1.0) ** (rank - 1), rank, given.get("utility", "rr"))
    return Cascade(np.where(_ranks_within(measure, ranks), phi, 0.0), worth)


def _discounted(measure: Measure, g: kernel.gains.Gains, worth: Floats, ranks: int) -> ExpectedScore:
    log: Any = measure.arguments.get("log")
    discount = 1 / kernel.gains.divisor(np.arange(1.0, ranks + 1), log)
    return _same_weights(np.where(_ranks_within(measure, ranks), discount, 0.0), g, worth)


def _found(measure: Measure, g: kernel.gains.Gains, worth: Floats, ranks: int) -> ExpectedScore:
    return _same_weights(_ranks_within(measure, ranks).astype(np.float64), g, worth)


def _found_to_r(measure: Measure, g: kernel.gains.Gains, worth: Floats, ranks: int) -> ExpectedScore:
    return WeightedGain((np.arange(1, ranks + 1) <= g.num_relevant[:, None]).astype(np.float64), worth)


KNOWN: dict[str, Maker] = {
    **dict.fromkeys(("ap", "sp", "gap"), _precisions),
    **dict.fromkeys(("err", "nerr", "cascade", "rr"), _cascade),
    **dict.fromkeys(("ndcg", "dcg"), _discounted),
    **dict.fromkeys(("recall", "grecall"), _found),
    "rprec": _found_to_r,
}
"""Measures whose weights of ranks depend on the ranking or on the pool, and yet have an expectation."""


def check_expected(measure: Measure) -> None:
    """Raise InputError (usage) for a measure whose expectation is not known."""
    ranked_runs.check_by_rank(measure)
    if measure.name in KNOWN and not measure.by_intent:
        return
    try:
        static_weights(measure, 1)
    except InputError:
        others = "measures with fixed weights, such as p@10, insq and rbp"
        hint = f"known are those of {', '.join(KNOWN)} and {others}"
        raise InputError(f"'{measure}'", "its expectation is unknown", hint, usage=True) from None


@lru_cache
def _fixed_weights(measure: Measure, ranks: int) -> Floats:
    return static_weights(measure, ranks, tried=True)


def expected_score(measure: Measure, g: kernel.gains.Gains, worth: Floats, ranks: int) -> ExpectedScore:
    """The expected score of a measure over lists of `ranks` ranks.

    g      the topics of the lists as the measure sees them
    worth  grades: what each is worth to the measure
    """
    if measure.name in KNOWN:
        return KNOWN[measure.name](measure, g, worth, ranks)
    return _same_weights(_fixed_weights(measure, ranks), g, worth)


# The chances of grades at each rank that have the greatest entropy of all that give a list's counts and its score.


SAME = 1e-9
"""Chances that change by no more from one linearization to the next have settled."""
DRIFT = 1e-6
"""So much may the last slope change the logarithm of chances that have settled."""
ROUNDING = 1e-14
"""So exactly the score of chances is known; they and their slope are known to that times its multiplier, which is large
near the best score."""
FARTHEST = 100.0
"""A step of Newton's method changes a multiplier by so much and its own size at most."""
OVERSHOOT = 0.25
"""A step ends where the dual rises by at most so much of what it fell by at its beginning."""
LINEARIZATIONS, NEWTON_STEPS, HALVINGS = 300, 60, 24
EXTREME = 1e-12
"""A score this near to its maximum, as a share of it, cannot be told from it: what it says of the list is not known,
unless the list is the best."""


@dataclass(frozen=True, eq=False, repr=False)
class GradedLists:
    """Lists of documents by grade.

    grades  lists × grades × ranks: 1 where the document has the grade, the lowest of which is `not relevant`; all 0
            past the end of a list
    """

    grades: Chances

    @property
    def counts(self) -> Floats:
        """lists × grades: documents of each."""
        counts: Floats = self.grades.sum(2)
        return counts

    @property
    def listed(self) -> Floats:
        """lists × 1 × ranks: 1 down to the end of the list, 0 past it."""
        listed: Floats = self.grades.sum(1, keepdims=True)
        return listed

    @property
    def uniform(self) -> Chances:
        """The chances that the counts alone give."""
        uniform: Chances = self.listed * (self.counts / self.counts.sum(1, keepdims=True))[:, :, None]
        return uniform


class MostRandom(NamedTuple):
    """Chances of the greatest entropy, by list.

    chances    lists × grades × ranks
    converged  whether they are that
    steps      how often the score was linearized; 0 where the chances are known without
    """

    chances: Chances
    converged: Bools
    steps: Floats

    @property
    def entropy(self) -> Floats:
        """lists: −Σ p ln p, in nats."""
        logs = np.log(self.chances, out=np.zeros_like(self.chances), where=self.chances > 0)
        entropy: Floats = (self.chances * logs).sum((1, 2))
        return -entropy


class _Multipliers(NamedTuple):
    """p_n(i) ∝ exp(grade_i + score · slope_n(i)): lists × grades, −∞ for a grade that the list lacks; lists."""

    grade: Floats
    score: Floats


def most_random(lists: GradedLists, expected: ExpectedScore, worth: Floats) -> MostRandom:
    """The chances with the most entropy −Σ_n Σ_i p_n(i) ln p_n(i), where Σ_n p_n(i) is the number of documents of grade
    i in the list, and the expected score is the score of the list.

    worth  grades: what each is worth to the measure

    The score is linearized at the last chances, with the mean of the last slope and those before, until they settle.
    The dual of a linear score is convex in one multiplier for each grade and one for the score: Newton's method. A list
    whose order is the best or the worst that its documents can have is known: it is ordered by gain, and what may be
    exchanged is mixed. Another whose score cannot be told from that in double precision does not converge. Aslam,
    Yilmaz & Pavlu, SIGIR 2005; Robertson et al., SIGIR 2010, section 4.1.
    """
    chances, score = lists.uniform, expected.value(lists.grades)
    converged, hidden = np.zeros((2, len(score)), dtype=bool)
    steps = np.zeros(len(score))
    for sign in (1, -1):
        ordered, mixed, is_one = _extreme(lists, expected, sign * worth)
        best = expected.value(ordered)
        at_end = ~converged & is_one
        chances[at_end], converged = mixed[at_end], converged | at_end
        hidden |= sign * (best - score) <= EXTREME * np.abs(best)
    rows = np.flatnonzero(~converged & ~hidden)
    if len(rows):
        found = _linearized(GradedLists(lists.grades[rows]), expected.select(rows), score[rows])
        chances[rows], converged[rows], steps[rows] = found
    return MostRandom(chances, converged, steps)


def _extreme(lists: GradedLists, expected: ExpectedScore, worth: Floats) -> tuple[Chances, Chances, Bools]:
    """The list in the order that counts most, the grades worth most first; the mean of all that score the same; and
    whether the list is one of them."""
    counts, listed = lists.counts, lists.listed[:, 0]
    weight = np.where(listed > 0, expected.order(lists.uniform), -np.inf)
    by_weight = np.argsort(-weight, axis=1, kind="stable")
    by_worth = np.argsort(-worth, kind="stable")
    ends = counts[:, by_worth].cumsum(1)
    place = np.arange(listed.shape[1])
    at = (place >= (ends - counts[:, by_worth])[:, :, None]) & (place < ends[:, :, None])
    ordered = np.zeros_like(lists.grades)
    ordered[np.arange(len(counts))[:, None, None], by_worth[:, None], by_weight[:, None, :]] = at
    same_worth = (worth == worth[:, None]).astype(np.float64)
    share = counts / np.maximum(counts @ same_worth, 1)
    mixed = (same_worth @ ordered) * share[:, :, None]
    # Below a document that satisfies every user no rank counts.
    is_one = np.zeros(len(counts), dtype=bool)
    for row, own in enumerate(np.where(listed > 0, expected.order(ordered), -np.inf)):
        _, group = np.unique(own, return_inverse=True)
        sums = np.stack([np.bincount(group, weights=one) for one in mixed[row]])
        mixed[row] = (sums / np.bincount(group))[:, group]
        is_one[row] = np.allclose(np.bincount(group, worth @ lists.grades[row]), worth @ sums, rtol=0, atol=1e-9)
    return ordered, mixed, is_one


def _linearized(lists: GradedLists, expected: ExpectedScore, score: Floats) -> tuple[Chances, Bools, Floats]:
    """The chances of lists, whether they settled, and after how many linearizations."""
    chances = lists.uniform
    counts, listed = lists.counts, lists.listed
    with np.errstate(divide="ignore"):
        multipliers = _Multipliers(np.log(counts / counts.sum(1, keepdims=True)), np.zeros(len(score)))
    slope = expected.slope(chances)
    settled, steps = np.zeros(len(score), dtype=bool), np.full(len(score), float(LINEARIZATIONS))
    at = np.arange(len(score))  # the lists that have not settled
    for step in range(1, LINEARIZATIONS + 1):
        some = expected.select(at)
        now, own = chances[at], _Multipliers(*(part[at] for part in multipliers))
        left = score[at] - some.value(now)
        found, own, part = _towards(counts[at], listed[at], slope[at], now, left, own)
        chances[at], multipliers.grade[at], multipliers.score[at] = found, own.grade, own.score
        if some.linear:
            settled[at], steps[at] = part == 1, step
            break
        true_slope = some.slope(found)
        # Near the best score chances hardly move, and yet the slope that they came from may be an old one.
        drift = np.abs(own.score) * np.abs(true_slope - slope[at]).max((1, 2))
        rounding = ROUNDING * np.abs(own.score)
        same = np.abs(found - now).max((1, 2)) < SAME + rounding
        done = (part == 1) & same & (drift < DRIFT + rounding)
        settled[at[done]], steps[at[done]] = True, step
        slope[at] = (slope[at] + true_slope) / 2
        at = at[~done & (part > 0)]
        if not len(at):
            break
    return chances, settled, steps


def _towards(
    counts: Floats, listed: Floats, slope: Chances, chances: Chances, left: Floats, start: _Multipliers
) -> tuple[Chances, _Multipliers, Floats]:
    """The chances where the linear score is higher by what is `left`, or by the largest half, quarter, … of it that can
    be reached, their multipliers, and which part that is; 0 where it is none."""
    found, multipliers = chances.copy(), _Multipliers(start.grade.copy(), start.score.copy())
    part, at = np.ones(len(left)), np.arange(len(left))
    for _ in range(HALVINGS):
        begin = _Multipliers(start.grade[at], start.score[at])
        tried, own, reached = _tilted(counts[at], listed[at], slope[at], chances[at], part[at] * left[at], begin)
        done = at[reached]
        found[done], multipliers.grade[done], multipliers.score[done] = (
            part[reached] for part in (tried, own.grade, own.score)
        )
        at = at[~reached]
        if not len(at):
            break
        part[at] /= 2
    part[at] = 0
    return found, multipliers, part


class _State(NamedTuple):
    """The chances that multipliers give, the mean slope at each rank (lists × 1 × ranks), and by how much counts and
    score are too large (lists × multipliers)."""

    chances: Chances
    mean: Floats
    excess: Floats


@dataclass(frozen=True, eq=False, repr=False)
class _Tilt:
    """The linear problem: p_n(i) ∝ exp(λ_i + μ slope_n(i)) with these counts, and a score that is higher by `left`.

    varying  lists × grades × ranks: how the slope varies over the ranks, which is all that matters of it; at most 1
    before   the chances that it was linearized at: from them on scores are added up, which loses fewer digits
    """

    counts: Floats
    listed: Floats
    varying: Chances
    before: Chances
    left: Floats

    def select(self, rows: Any) -> _Tilt:
        """Some of the lists."""
        return _Tilt(self.counts[rows], self.listed[rows], self.varying[rows], self.before[rows], self.left[rows])

    def state(self, multipliers: Floats) -> _State:
        """What the multipliers give."""
        chances = multipliers[:, :-1, None] + multipliers[:, -1, None, None] * self.varying
        chances -= chances.max(1, keepdims=True)
        np.exp(chances, out=chances)
        chances *= self.listed / chances.sum(1, keepdims=True)
        mean = (chances * self.varying).sum(1, keepdims=True)
        gained = ((chances - self.before) * self.varying).sum((1, 2))
        return _State(chances, mean, np.column_stack([chances.sum(2) - self.counts, gained - self.left]))

    def hessian(self, state: _State) -> Floats:
        """lists × multipliers × multipliers: how fast counts and score grow with them."""
        chances, mean, _ = state
        parts, weighted = np.concatenate([chances, mean], axis=1), chances * self.varying
        hessian = -(parts @ parts.transpose(0, 2, 1))
        diagonal = np.arange(parts.shape[1])
        hessian[:, diagonal[:-1], diagonal[:-1]] += chances.sum(2)
        hessian[:, :-1, -1] += weighted.sum(2)
        hessian[:, -1, :-1] += weighted.sum(2)
        hessian[:, -1, -1] += (weighted * self.varying).sum((1, 2))
        return np.asarray(hessian)


def _solved(hessian: Floats, excess: Floats) -> Floats:
    """lists × multipliers: the Newton step. The multipliers of all grades may rise together, and those of grades that
    are not there mean nothing: a little of the diagonal keeps them where they are."""
    diagonal = np.arange(hessian.shape[1])
    own = np.sqrt(np.maximum(hessian[:, diagonal, diagonal], 1e-100))
    scaled = hessian / (own[:, :, None] * own[:, None, :])
    scaled[:, diagonal, diagonal] += 1e-13
    try:
        step = np.linalg.solve(scaled, (excess / own)[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:  # in a list whose chances are all 0 or 1 by now
        step = (np.linalg.pinv(scaled, rcond=1e-14, hermitian=True) @ (excess / own)[:, :, None])[:, :, 0]
    return np.asarray(step / own)


def _error(multipliers: Floats, state: _State) -> Floats:
    """lists: how far counts and score are off. The larger its multiplier, the more the score decides about chances."""
    weighted = np.abs(state.excess)
    weighted[:, -1] *= 1 + np.abs(multipliers[:, -1])
    return np.asarray(weighted.max(1))


def _tilted(
    counts: Floats, listed: Floats, slope: Chances, chances: Chances, left: Floats, start: _Multipliers
) -> tuple[Chances, _Multipliers, Bools]:
    """The chances of a `_Tilt`, their multipliers, and whether there are such: where the score is out of reach, the
    multipliers diverge."""
    # Only differences of the slope matter: from its mean where the grade is open, and at each rank from that of the
    # likeliest grade. What is as good as certain then adds next to nothing, so that no digits are lost near the best
    # and the worst score.
    open_to = (chances * (1 - chances)).sum(1, keepdims=True) + 1e-300 * listed
    middle = (slope * open_to).sum(2) / open_to.sum(2)
    varying = (slope - middle[:, :, None]) * listed
    size = np.abs(varying).max((1, 2))
    counts_alone = size <= 1e-14 * np.abs(middle).max(1)  # the same slope at each rank says nothing of the order
    size[counts_alone] = 1
    varying[counts_alone] = 0
    varying -= np.take_along_axis(varying, chances.argmax(1)[:, None], 1)
    tilt = _Tilt(counts, listed, varying / size[:, None, None], chances, np.where(counts_alone, 0, left) / size)
    multipliers = np.column_stack([start.grade, start.score * size])
    found, reached = chances.copy(), np.zeros(len(left), dtype=bool)
    at, now = np.arange(len(left)), multipliers
    state = tilt.state(now)
    error = _error(now, state)
    for _ in range(NEWTON_STEPS):
        best = error
        now, state, error = _newton(tilt, now, state)
        found[at], multipliers[at], reached[at] = state[0], now, error <= 1e-6
        going = ~((error <= 1e-13 * counts[at].sum(1)) | ((error < 1e-6) & (error > best / 2)))
        if not going.any():
            break
        if not going.all():
            at, tilt, now, error = at[going], tilt.select(going), now[going], error[going]
            state = _State(*(part[going] for part in state))
    return found, _Multipliers(multipliers[:, :-1], multipliers[:, -1] / size), reached


def _newton(tilt: _Tilt, now: Floats, state: _State) -> tuple[Floats, _State, Floats]:
    """The multipliers after a step of Newton's method, their state and error. Where it goes too far, the step is
    halved."""
    step = _solved(tilt.hessian(state), state.excess)
    step /= np.maximum(np.abs(step) / (FARTHEST + np.abs(now)), 1).max(1, keepdims=True)
    falls = (step * state.excess).sum(1)
    after = now - step
    state = tilt.state(after)
    error = _error(after, state)
    for _ in range(HALVINGS):
        far = np.flatnonzero(((step * state.excess).sum(1) < -OVERSHOOT * falls) & (error > 1e-7))
        if not len(far):
            break
        step[far] /= 2
        falls[far] /= 2
        after[far] = now[far] - step[far]
        again = tilt.select(far).state(after[far])
        for whole, part in zip(state, again, strict=True):
            whole[far] = part
        error[far] = _error(after[far], again)
    return after, state, error
