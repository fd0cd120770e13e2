"""Maximum entropy: the most random grades at each rank under a score, and expected scores."""

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

Chances = Floats
"""lists × grades × ranks: the probability of each grade at each rank; 0 past the end of a list."""


class ExpectedScore(Protocol):
    """Expected score of lists with independent chances of grades at each rank. Factors that depend on the pool alone,
    such as R or the ideal, are left out: they are equal for all lists of a topic, and add no information."""

    @property
    def linear(self) -> bool:
        """Whether the slope is the same for all chances."""

    def value(self, chances: Chances) -> Floats:
        """Return the expected score of each list."""

    def slope(self, chances: Chances) -> Chances:
        """Return the derivative of the expected score by each chance."""

    def order(self, chances: Chances) -> Floats:
        """Return the priority of each rank, lists × ranks: larger if a gain there counts more, 0 if it does not count,
        equal for interchangeable ranks."""

    def select(self, rows: Any) -> ExpectedScore:
        """Return the expected score of some of the lists."""


@dataclass(frozen=True, eq=False, repr=False)
class WeightedGain:
    """Σ_n w_n E[gain_n]. weights: lists × ranks, gains: grades."""

    weights: Floats
    gains: Floats
    linear: bool = True

    def value(self, chances: Chances) -> Floats:
        return np.asarray(((self.gains @ chances) * self.weights).sum(1))

    def slope(self, chances: Chances) -> Chances:
        return self.weights[:, None, :] * self.gains[:, None]

    def order(self, chances: Chances) -> Floats:
        return self.weights

    def select(self, rows: Any) -> WeightedGain:
        return WeightedGain(self.weights[rows], self.gains)


@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """Σ_n φ_n ρ_n Π_{m<n} (1 − ρ_m), ρ_n = E[gain_n]: linear in the gain of each rank. phi: ranks, gains: grades."""

    phi: Floats
    gains: Floats
    linear: bool = False

    def _stops(self, chances: Chances) -> tuple[Floats, Floats]:
        """Return ρ and the probability of reaching the rank: lists × ranks."""
        gain = self.gains @ chances
        reached = np.ones_like(gain)
        np.cumprod(1 - gain[:, :-1], axis=1, out=reached[:, 1:])
        return gain, reached

    def value(self, chances: Chances) -> Floats:
        gain, reached = self._stops(chances)
        return np.asarray((gain * reached) @ self.phi)

    def slope(self, chances: Chances) -> Chances:
        gain, reached = self._stops(chances)
        # From the end: the expected utility of a user at the next rank, V_n = φ_n ρ_n + (1 − ρ_n) V_{n+1}.
        below = np.zeros((gain.shape[1] + 1, len(gain)))
        stay, now = (1 - gain).T, (gain * self.phi).T
        for rank in range(gain.shape[1] - 1, -1, -1):
            below[rank] = now[rank] + stay[rank] * below[rank + 1]
        by_gain = reached * (self.phi - below[1:].T)
        return by_gain[:, None, :] * self.gains[:, None]

    def order(self, chances: Chances) -> Floats:
        _, reached = self._stops(chances)
        return np.where((self.phi > 0) & (reached > 0), np.arange(len(self.phi), 0, -1.0), 0.0)

    def select(self, rows: Any) -> Cascade:
        return self


@dataclass(frozen=True, eq=False, repr=False)
class GradedPrecision:
    """Σ_j g_j Σ_{n≤k} T_n(j)/n (1 + Σ_{m<n} T_m(j)), T_n(j) the chance of grade j or more: gap, with one threshold ap.

    steps  thresholds: g_j
    holds  thresholds × grades: 1 if the grade reaches the threshold
    last   cutoff k, or the number of ranks
    """

    steps: Floats
    holds: Floats
    last: int
    linear: bool = False

    def _parts(self, chances: Chances) -> tuple[Floats, Floats, Floats]:
        """Return T, its sum over the ranks above, and T/n down to the cutoff: lists × thresholds × ranks."""
        relevant = self.holds @ chances
        above = np.zeros_like(relevant)
        np.cumsum(relevant[:, :, :-1], axis=2, out=above[:, :, 1:])
        rank = np.arange(1.0, chances.shape[2] + 1)
        return relevant, above, np.where(rank <= self.last, relevant / rank, 0.0)

    def value(self, chances: Chances) -> Floats:
        _, above, share = self._parts(chances)
        return np.asarray((share * (1 + above)).sum(2) @ self.steps)

    def slope(self, chances: Chances) -> Chances:
        _, above, share = self._parts(chances)
        rank = np.arange(1.0, chances.shape[2] + 1)
        to_come = share[:, :, ::-1].cumsum(2)[:, :, ::-1] - share
        by_threshold = np.where(rank <= self.last, (1 + above) / rank, 0.0) + to_come
        return np.asarray((self.holds.T * self.steps) @ by_threshold)

    def order(self, chances: Chances) -> Floats:
        lists, _, ranks = chances.shape
        return np.tile(np.maximum(np.arange(self.last, self.last - ranks, -1.0), 0), (lists, 1))

    def select(self, rows: Any) -> GradedPrecision:
        return self


Maker = Callable[[Measure, kernel.gains.Gains, Floats, int], ExpectedScore]
"""measure, gains of some topics, gain of each grade, ranks -> expected score."""


def _ranks_within(measure: Measure, ranks: int) -> Bools:
    return np.asarray(np.arange(1, ranks + 1) <= (ranks if measure.cutoff is None else measure.cutoff))


def _same_weights(weights: Floats, g: kernel.gains.Gains, gains: Floats) -> WeightedGain:
    return WeightedGain(np.tile(weights, (len(g.gain), 1)), gains)


def _precisions(measure: Measure, g: kernel.gains.Gains, gains: Floats, ranks: int) -> ExpectedScore:
    levels = np.array(sorted({level for level in gains.tolist() if level > 0}))
    holds = (gains >= levels[:, None]).astype(np.float64)
    return GradedPrecision(np.diff(levels, prepend=0), holds, min(ranks, measure.cutoff or ranks))


def _cascade(measure: Measure, g: kernel.gains.Gains, gains: Floats, ranks: int) -> ExpectedScore:
    parameters: Any = measure.arguments
    rank = np.arange(1.0, ranks + 1)
    phi = useful(parameters.get("gamma", 1.0) ** (rank - 1), rank, parameters.get("utility", "rr"))
    return Cascade(np.where(_ranks_within(measure, ranks), phi, 0.0), gains)


def _discounted(measure: Measure, g: kernel.gains.Gains, gains: Floats, ranks: int) -> ExpectedScore:
    log: Any = measure.arguments.get("log")
    discount = 1 / kernel.gains.divisor(np.arange(1.0, ranks + 1), log)
    return _same_weights(np.where(_ranks_within(measure, ranks), discount, 0.0), g, gains)


def _retrieved(measure: Measure, g: kernel.gains.Gains, gains: Floats, ranks: int) -> ExpectedScore:
    return _same_weights(_ranks_within(measure, ranks).astype(np.float64), g, gains)


def _retrieved_to_r(measure: Measure, g: kernel.gains.Gains, gains: Floats, ranks: int) -> ExpectedScore:
    return WeightedGain((np.arange(1, ranks + 1) <= g.num_relevant[:, None]).astype(np.float64), gains)


MAKERS: dict[str, Maker] = {
    **dict.fromkeys(("ap", "sp", "gap"), _precisions),
    **dict.fromkeys(("err", "nerr", "cascade", "rr"), _cascade),
    **dict.fromkeys(("ndcg", "dcg"), _discounted),
    **dict.fromkeys(("recall", "grecall"), _retrieved),
    "rprec": _retrieved_to_r,
}
"""Measures whose weights of ranks depend on the ranking or on the pool, and yet have an expectation."""


def check_expected(measure: Measure) -> None:
    """Raise InputError (usage) for a measure without a known expectation."""
    ranked_runs.check_by_rank(measure)
    if measure.name in MAKERS and not measure.by_intent:
        return
    try:
        static_weights(measure, 1)
    except InputError:
        fixed = "measures with fixed weights, such as p@10, insq and rbp"
        hint = f"choose from {', '.join(MAKERS)} and {fixed}"
        raise InputError(f"'{measure}'", "its expectation is unknown", hint, usage=True) from None


@lru_cache
def _fixed_weights(measure: Measure, ranks: int) -> Floats:
    return static_weights(measure, ranks, tried=True)


def expected_score(measure: Measure, g: kernel.gains.Gains, gains: Floats, ranks: int) -> ExpectedScore:
    """Return the expected score of a measure over lists of `ranks` ranks.

    g      the topics of the lists as seen by the measure
    gains  gain of each grade under the measure
    """
    if measure.name in MAKERS:
        return MAKERS[measure.name](measure, g, gains, ranks)
    return _same_weights(_fixed_weights(measure, ranks), g, gains)


SAME = 1e-9
"""Maximum change of settled chances from one linearization to the next."""
DRIFT = 1e-6
"""Maximum change of the logarithm of settled chances by the last slope."""
ROUNDING = 1e-14
"""Precision of the score of chances; of chances and slope this times the multiplier of the score, which is large near
the best score."""
FARTHEST = 100.0
"""A step of Newton's method changes a multiplier by at most this plus its size."""
OVERSHOOT = 0.25
"""Maximum slope of the dual at the end of a step, relative to its fall at the beginning."""
LINEARIZATIONS, NEWTON_STEPS, HALVINGS = 300, 60, 24
EXTREME = 1e-12
"""Relative distance within which a score cannot be told from its maximum. Unless the list is the best, the solver then
does not converge."""


@dataclass(frozen=True, eq=False, repr=False)
class GradedLists:
    """Lists of documents by grade.

    grades  lists × grades × ranks: 1 if the document has the grade; all 0 past the end of a list; the lowest grade
            is `not relevant`
    """

    grades: Chances

    @property
    def counts(self) -> Floats:
        """Number of documents of each grade: lists × grades."""
        return np.asarray(self.grades.sum(2))

    @property
    def listed(self) -> Floats:
        """1 down to the end of the list, 0 past it: lists × 1 × ranks."""
        return np.asarray(self.grades.sum(1, keepdims=True))

    @property
    def uniform(self) -> Chances:
        """Chances by the counts alone."""
        return np.asarray(self.listed * (self.counts / self.counts.sum(1, keepdims=True))[:, :, None])


class MostRandom(NamedTuple):
    """Chances of the greatest entropy, by list.

    chances    lists × grades × ranks
    converged  whether the solver converged
    steps      number of linearizations; 0 if none were needed
    """

    chances: Chances
    converged: Bools
    steps: Floats

    @property
    def entropy(self) -> Floats:
        """−Σ p ln p of each list, in nats."""
        logs = np.log(self.chances, out=np.zeros_like(self.chances), where=self.chances > 0)
        return np.asarray(-(self.chances * logs).sum((1, 2)))


class _Multipliers(NamedTuple):
    """Multipliers of p_n(i) ∝ exp(grade_i + score · slope_n(i)): lists × grades (−∞ for grades that the list lacks),
    and lists."""

    grade: Floats
    score: Floats


def most_random(lists: GradedLists, expected: ExpectedScore, gains: Floats) -> MostRandom:
    """Return the chances with the greatest entropy −Σ_n Σ_i p_n(i) ln p_n(i) for which Σ_n p_n(i) is the number of
    documents of grade i in the list, and the expected score is the score of the list.

    gains  gain of each grade under the measure

    The score is linearized at the last chances, with the mean of the last and earlier slopes, until they settle. The
    dual of a linear score is convex in one multiplier for each grade and one for the score, and is solved by
    Newton's method. A list in the best or worst order of its documents has a direct solution: documents ordered by
    gain, mixed over equivalent orders. Any other list whose score cannot be told from that one in double precision
    does not converge. Aslam, Yilmaz & Pavlu, SIGIR 2005; Robertson et al., SIGIR 2010, section 4.1.
    """
    chances, score = lists.uniform, expected.value(lists.grades)
    converged, hidden = np.zeros((2, len(score)), dtype=bool)
    steps = np.zeros(len(score))
    for sign in (1, -1):
        ordered, mixed, is_extreme = _extreme(lists, expected, sign * gains)
        best = expected.value(ordered)
        extreme = ~converged & is_extreme
        chances[extreme], converged = mixed[extreme], converged | extreme
        hidden |= sign * (best - score) <= EXTREME * np.abs(best)
    rows = np.flatnonzero(~converged & ~hidden)
    if len(rows):
        solution = _linearized(GradedLists(lists.grades[rows]), expected.select(rows), score[rows])
        chances[rows], converged[rows], steps[rows] = solution
    return MostRandom(chances, converged, steps)


def _extreme(lists: GradedLists, expected: ExpectedScore, gains: Floats) -> tuple[Chances, Chances, Bools]:
    """Return the list in the order of the highest score, with the largest gains at the ranks that count most; the mean
    of all orders with that score; and whether the list has such an order."""
    counts, listed = lists.counts, lists.listed[:, 0]
    weight = np.where(listed > 0, expected.order(lists.uniform), -np.inf)
    by_weight = np.argsort(-weight, axis=1, kind="stable")
    by_gain = np.argsort(-gains, kind="stable")
    ends = counts[:, by_gain].cumsum(1)
    position = np.arange(listed.shape[1])
    in_group = (position >= (ends - counts[:, by_gain])[:, :, None]) & (position < ends[:, :, None])
    ordered = np.zeros_like(lists.grades)
    ordered[np.arange(len(counts))[:, None, None], by_gain[:, None], by_weight[:, None, :]] = in_group
    same_gain = (gains == gains[:, None]).astype(np.float64)
    share = counts / np.maximum(counts @ same_gain, 1)
    mixed = (same_gain @ ordered) * share[:, :, None]
    # Below a document that satisfies every user no rank counts.
    is_extreme = np.zeros(len(counts), dtype=bool)
    for row, priority in enumerate(np.where(listed > 0, expected.order(ordered), -np.inf)):
        _, group = np.unique(priority, return_inverse=True)
        sums = np.stack([np.bincount(group, weights=chances) for chances in mixed[row]])
        mixed[row] = (sums / np.bincount(group))[:, group]
        is_extreme[row] = np.allclose(np.bincount(group, gains @ lists.grades[row]), gains @ sums, rtol=0, atol=1e-9)
    return ordered, mixed, is_extreme


def _linearized(lists: GradedLists, expected: ExpectedScore, score: Floats) -> tuple[Chances, Bools, Floats]:
    """Return the chances of lists, whether they settled, and the number of linearizations."""
    chances = lists.uniform
    counts, listed = lists.counts, lists.listed
    with np.errstate(divide="ignore"):
        multipliers = _Multipliers(np.log(counts / counts.sum(1, keepdims=True)), np.zeros(len(score)))
    slope = expected.slope(chances)
    settled, steps = np.zeros(len(score), dtype=bool), np.full(len(score), float(LINEARIZATIONS))
    active = np.arange(len(score))  # the lists that have not settled
    for step in range(1, LINEARIZATIONS + 1):
        selected = expected.select(active)
        current, multiplier = chances[active], _Multipliers(*(part[active] for part in multipliers))
        missing = score[active] - selected.value(current)
        new, multiplier, part = _towards(counts[active], listed[active], slope[active], current, missing, multiplier)
        chances[active], multipliers.grade[active], multipliers.score[active] = new, multiplier.grade, multiplier.score
        if selected.linear:
            settled[active], steps[active] = part == 1, step
            break
        true_slope = selected.slope(new)
        # Near the best score chances hardly move, and yet the slope that they came from may be an old one.
        drift = np.abs(multiplier.score) * np.abs(true_slope - slope[active]).max((1, 2))
        rounding = ROUNDING * np.abs(multiplier.score)
        same = np.abs(new - current).max((1, 2)) < SAME + rounding
        done = (part == 1) & same & (drift < DRIFT + rounding)
        settled[active[done]], steps[active[done]] = True, step
        slope[active] = (slope[active] + true_slope) / 2
        active = active[~done & (part > 0)]
        if not len(active):
            break
    return chances, settled, steps


def _towards(
    counts: Floats, listed: Floats, slope: Chances, chances: Chances, missing: Floats, start: _Multipliers
) -> tuple[Chances, _Multipliers, Floats]:
    """Return the chances at which the linear score is higher by `missing`, or by the largest reachable half, quarter, …
    of it; their multipliers; and this part, 0 if none is reachable."""
    result, multipliers = chances.copy(), _Multipliers(start.grade.copy(), start.score.copy())
    part, active = np.ones(len(missing)), np.arange(len(missing))
    for _ in range(HALVINGS):
        begin = _Multipliers(start.grade[active], start.score[active])
        candidates, multiplier, reached = _tilted(
            counts[active], listed[active], slope[active], chances[active], part[active] * missing[active], begin
        )
        done = active[reached]
        result[done], multipliers.grade[done], multipliers.score[done] = (
            part[reached] for part in (candidates, multiplier.grade, multiplier.score)
        )
        active = active[~reached]
        if not len(active):
            break
        part[active] /= 2
    part[active] = 0
    return result, multipliers, part


class _State(NamedTuple):
    """Chances given by multipliers, the mean slope at each rank (lists × 1 × ranks), and the excess of counts and score
    (lists × multipliers)."""

    chances: Chances
    mean: Floats
    excess: Floats


@dataclass(frozen=True, eq=False, repr=False)
class _Tilt:
    """The linear problem: p_n(i) ∝ exp(λ_i + μ slope_n(i)) with these counts, and a score that is higher by `missing`.

    varying  lists × grades × ranks: the slope without its mean over ranks, which has no effect; at most 1
    start    chances of the linearization: scores are summed as differences from them, which loses fewer digits
    """

    counts: Floats
    listed: Floats
    varying: Chances
    start: Chances
    missing: Floats

    def select(self, rows: Any) -> _Tilt:
        """Return the problem of some of the lists."""
        return _Tilt(self.counts[rows], self.listed[rows], self.varying[rows], self.start[rows], self.missing[rows])

    def state(self, multipliers: Floats) -> _State:
        """Return the chances, mean slope and excess for the multipliers."""
        chances = multipliers[:, :-1, None] + multipliers[:, -1, None, None] * self.varying
        chances -= chances.max(1, keepdims=True)
        np.exp(chances, out=chances)
        chances *= self.listed / chances.sum(1, keepdims=True)
        mean = (chances * self.varying).sum(1, keepdims=True)
        gained = ((chances - self.start) * self.varying).sum((1, 2))
        return _State(chances, mean, np.column_stack([chances.sum(2) - self.counts, gained - self.missing]))

    def hessian(self, state: _State) -> Floats:
        """Return the derivatives of counts and score by the multipliers: lists × multipliers × multipliers."""
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
    """Return the Newton step, lists × multipliers. A small addition to the diagonal fixes the multipliers that are not
    determined: their common shift, and the ones of absent grades."""
    diagonal = np.arange(hessian.shape[1])
    scale = np.sqrt(np.maximum(hessian[:, diagonal, diagonal], 1e-100))
    scaled = hessian / (scale[:, :, None] * scale[:, None, :])
    scaled[:, diagonal, diagonal] += 1e-13
    try:
        step = np.linalg.solve(scaled, (excess / scale)[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:  # singular for lists whose chances are all 0 or 1
        step = (np.linalg.pinv(scaled, rcond=1e-14, hermitian=True) @ (excess / scale)[:, :, None])[:, :, 0]
    return np.asarray(step / scale)


def _error(multipliers: Floats, state: _State) -> Floats:
    """Return the error of counts and score of each list. The score weighs more with its multiplier, as it then
    determines the chances more."""
    weighted = np.abs(state.excess)
    weighted[:, -1] *= 1 + np.abs(multipliers[:, -1])
    return np.asarray(weighted.max(1))


def _tilted(
    counts: Floats, listed: Floats, slope: Chances, chances: Chances, missing: Floats, start: _Multipliers
) -> tuple[Chances, _Multipliers, Bools]:
    """Return the chances of a `_Tilt`, their multipliers, and whether the score was reached: out of reach, the
    multipliers diverge."""
    # Only differences of the slope matter: from its mean over open grades, and at each rank from the likeliest grade's.
    # Grades that are almost certain then add next to nothing, so that no digits are lost near the best and worst score.
    open_to = (chances * (1 - chances)).sum(1, keepdims=True) + 1e-300 * listed
    middle = (slope * open_to).sum(2) / open_to.sum(2)
    varying = (slope - middle[:, :, None]) * listed
    size = np.abs(varying).max((1, 2))
    counts_alone = size <= 1e-14 * np.abs(middle).max(1)  # an equal slope at each rank has no effect on the order
    size[counts_alone] = 1
    varying[counts_alone] = 0
    varying -= np.take_along_axis(varying, chances.argmax(1)[:, None], 1)
    tilt = _Tilt(counts, listed, varying / size[:, None, None], chances, np.where(counts_alone, 0, missing) / size)
    multipliers = np.column_stack([start.grade, start.score * size])
    result, reached = chances.copy(), np.zeros(len(missing), dtype=bool)
    active, current = np.arange(len(missing)), multipliers
    state = tilt.state(current)
    error = _error(current, state)
    for _ in range(NEWTON_STEPS):
        best = error
        current, state, error = _newton(tilt, current, state)
        result[active], multipliers[active], reached[active] = state[0], current, error <= 1e-6
        going = ~((error <= 1e-13 * counts[active].sum(1)) | ((error < 1e-6) & (error > best / 2)))
        if not going.any():
            break
        if not going.all():
            active, tilt, current, error = active[going], tilt.select(going), current[going], error[going]
            state = _State(*(part[going] for part in state))
    return result, _Multipliers(multipliers[:, :-1], multipliers[:, -1] / size), reached


def _newton(tilt: _Tilt, current: Floats, state: _State) -> tuple[Floats, _State, Floats]:
    """Return the multipliers after a step of Newton's method, their state and error. A step that goes too far is
    halved."""
    step = _solved(tilt.hessian(state), state.excess)
    step /= np.maximum(np.abs(step) / (FARTHEST + np.abs(current)), 1).max(1, keepdims=True)
    falls = (step * state.excess).sum(1)
    new = current - step
    state = tilt.state(new)
    error = _error(new, state)
    for _ in range(HALVINGS):
        far = np.flatnonzero(((step * state.excess).sum(1) < -OVERSHOOT * falls) & (error > 1e-7))
        if not len(far):
            break
        step[far] /= 2
        falls[far] /= 2
        new[far] = current[far] - step[far]
        again = tilt.select(far).state(new[far])
        for whole, part in zip(state, again, strict=True):
            whole[far] = part
        error[far] = _error(new[far], again)
    return new, state, error
