"""Novelty and diversity: topics with several intents, and documents that repeat earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError, public, safe_repr
from gradedeval.kernel.measures.cascade_models import DEEPEST, NEGLIGIBLE, expected_utility
from gradedeval.kernel.measures.definition import BELOW_1, SHARE, UP_TO_1, Arguments, Check, Measure, measure
from gradedeval.kernel.measures.gains import Gains, divisor, row_sums, safe_divide
from gradedeval.kernel.measures.notation import IA, PRIOR, UNIFORM, is_prior, write_value

_SAME = 1e-12
"""Relative differences below this are rounding: the same sum in two orders."""
_NONE = np.iinfo(np.int64).max
"""The position of a missing document."""


@dataclass(eq=False, repr=False)
class Pool:
    """The relevant documents of one topic, in descending order of docno; `gain` is documents × intents."""

    gain: Floats
    _cache: dict[tuple[float, bytes], Floats] = field(default_factory=dict, init=False, repr=False)

    def greedy(self, rate: float, weight: Floats, depth: int) -> Floats:
        """Return the gain that each document adds if the next document always adds most, ties by docno descending:
        ranks.

        rate    the share by which a document of gain 1 reduces the gain of further ones for the same intent
        weight  intents: their weights

        Clarke et al., SIGIR 2008: the best order is NP-hard to find. The tie rule is ndeval's.
        """
        key = (rate, weight.tobytes())
        depth = min(depth, len(self.gain))
        if key not in self._cache or len(self._cache[key]) < depth:
            self._cache[key] = self._greedy(rate, weight, depth)
        return self._cache[key][:depth]

    def _greedy(self, rate: float, weight: Floats, depth: int) -> Floats:
        # Identical documents are taken in order: only the first of each kind needs to be considered.
        kinds, kind = np.unique(self.gain, axis=0, return_inverse=True)
        waiting = [np.flatnonzero(kind.ravel() == i).tolist()[::-1] for i in range(len(kinds))]
        first = np.array([positions.pop() for positions in waiting])
        remaining = np.array(weight)
        added = np.zeros(depth)
        for rank in range(depth):
            gained = row_sums(kinds * remaining)
            gained[first == _NONE] = -1
            added[rank] = gained.max()
            tied = np.flatnonzero(gained >= added[rank] * (1 - _SAME))
            best = tied[first[tied].argmin()]
            first[best] = waiting[best].pop() if waiting[best] else _NONE
            remaining *= 1 - rate * kinds[best]
        return added


@dataclass(eq=False, repr=False)
class Intents:
    """A batch of topics by intent: the input of measures for ambiguous topics.

    each    the batch as judged for the first, second, … intent of each topic
    weight  intents × topics: the weight of an intent: 1 if it has a relevant document and 0 if not, or its probability
    listed  intents × topics: whether the topic has at least this number of intents
    pool    row of a topic -> its relevant documents
    best    whether this is the best case, with the top gain for unjudged documents
    open    intents × topics: whether the intent would enter a uniform distribution by its first relevant document
    """

    each: Sequence[Gains]
    weight: Floats
    listed: Bools
    pool: Callable[[int], Pool]
    best: bool
    open: Bools

    def marginal(self, scores: Sequence[Floats]) -> Floats:
        """Return the mean of the intents' scores (intents × topics) by their weights, topics; 0 if all weights are 0.

        In the best case the mean is the largest over all sets of further intents.
        """
        summed, count = self.weighted(scores), row_sums(self.weight.T)
        best = safe_divide(summed, count)
        if not (self.best and self.open.any()):
            return best
        for score in np.sort(np.where(self.open, np.array(scores), -np.inf), axis=0)[::-1]:
            count = count + 1
            summed = summed + score
            best = np.maximum(best, summed / count)
        return best

    def share_left(self, may_open: Bools) -> Floats:
        """Return the share of weight that intents keep if all `open` ones enter, in topics with `may_open`: topics."""
        weight = row_sums(self.weight.T)
        return safe_divide(weight, weight + row_sums((self.open & may_open).T))

    def weighted(self, scores: Sequence[Floats]) -> Floats:
        """Return the sum of the intents' scores by their weights: topics."""
        return _sum(self.weight * np.array(scores), self.weight > 0)

    def total(self, scores: Sequence[Floats]) -> Floats:
        """Return the sum of the scores of the intents that the topic has: topics."""
        return _sum(np.array(scores), self.listed)

    def ideal(self, rate: float, depth: int | None, weight: Floats | None = None) -> Floats:
        """Return the novelty of the greedy ideal ranking, see `Pool.greedy`: topics × ranks; zeros after its last
        document.

        weight  intents × topics; default 1
        """
        pools = [self.pool(topic) for topic in range(self.weight.shape[1])]
        sizes = [len(pool.gain) if depth is None else min(depth, len(pool.gain)) for pool in pools]
        added = np.zeros((len(pools), max(sizes, default=0)))
        for topic, (pool, size) in enumerate(zip(pools, sizes, strict=True)):
            weights = np.ones(pool.gain.shape[1]) if weight is None else weight[: pool.gain.shape[1], topic]
            added[topic, :size] = pool.greedy(rate, weights, size)
        return added


def _sum(scores: Floats, counted: Bools) -> Floats:
    """Return the sum over the intents, added up one by one: topics. A score that does not count may be infinite."""
    return row_sums(np.where(counted, scores, 0.0).T)


NORM = Check("none or best", lambda norm: norm in ("none", "best"))
PRIORS = Check(PRIOR, is_prior)


def by_intent(g: Gains) -> Intents:
    """Return the batch by intent; without intents, every topic has one."""
    if g.intents is not None:
        return g.intents
    has_relevant = (g.num_relevant > 0)[None]
    pools = [Pool(ideal[ideal > 0][:, None]) for ideal in g.ideal]
    weight, listed, best = has_relevant.astype(np.float64), np.ones_like(has_relevant), g.tail > 0
    return Intents([g], weight, listed, pools.__getitem__, best, ~has_relevant)


def novel(g: Gains, alpha: float) -> tuple[Floats, Floats]:
    """Return the novelty of each document for an intent, (1 − α)^(relevant ones before it), topics × ranks; and the
    novelty of the next relevant document after the last, topics."""
    remaining: Floats = np.cumprod(1 - alpha * g.gain, axis=1, dtype=np.float64)
    added = g.gain.copy()
    added[:, 1:] *= remaining[:, :-1]
    return added, remaining[:, -1] if remaining.shape[1] else np.ones(len(remaining))


def stopping(g: Gains, stop: float) -> Gains:
    """Return the batch with users who stop at a document of gain 1 only with probability `stop`."""
    return g if stop == 1 else replace(g, gain=g.gain * stop, tail=g.tail * stop)


@measure(
    gain="exp",
    scale="unit",
    residual="beyond_run",
    bounds="intents",
    ceiling=1,
    intents=True,
    checks={"stop": UP_TO_1, "norm": NORM, "prior": PRIORS},
)
def erria(g: Gains, *, stop: float = 1.0, norm: str = "none", prior: str = UNIFORM) -> Floats:
    """Intent-aware ERR: the mean ERR over intents with a relevant document, or by a file's probabilities.

    Σ_t P(t|q) Σ_i 1/i · s r_i^t · Π_{j<i} (1 − s r_j^t), s: stop; norm=best: over that of top gains at all ranks

    Chapelle et al., CIKM 2009, section 7.4, eq. 6; ndeval's ERR-IA is erria(rel=1,stop=0.5,norm=best).

    stop  the factor of each gain: the probability that a document of gain 1 satisfies
    norm  none, or best: the score of the best conceivable ranking is 1
    """
    intents = by_intent(g)
    score = intents.marginal([expected_utility(stopping(intent, stop)) for intent in intents.each])
    if norm == "none":
        return score
    top = float(g.levels[-1]) if len(g.levels) else 0.0
    nothing = replace(g, gain=g.gain[:, :0], retrieved=np.zeros_like(g.retrieved), tail=top * stop)
    return safe_divide(score, expected_utility(nothing))


@measure(
    gain="exp", scale="unit", cutoff="renormalizes", intents=True, checks={"stop": UP_TO_1, "prior": PRIORS}
)  # no ceiling: the greedy ideal is not always the best
def nerria(g: Gains, *, stop: float = 1.0, prior: str = UNIFORM) -> Floats:
    """Intent-aware ERR as a share of the score of the greedy ideal ranking: each next document adds most.

    erria@k / erria@k of the pool in greedy order

    Clarke et al., WSDM 2011; ndeval's nERR-IA is nerria(rel=1,stop=0.5).

    stop  the factor of each gain: the probability that a document of gain 1 satisfies
    """
    intents = by_intent(g)
    score = intents.weighted([expected_utility(stopping(intent, stop)) for intent in intents.each])
    ideal = intents.ideal(stop, g.k, intents.weight) * stop
    return safe_divide(score, row_sums(ideal / _ranks(ideal)))


def _novel_dcg(intents: Intents, alpha: float) -> list[Floats]:
    """Return DCG with each relevant document counted by its novelty: intents × topics."""
    return [row_sums(novel(intent, alpha)[0] / divisor(intent.rank)) for intent in intents.each]


def _check_finite(arguments: Arguments, cutoff: int | None) -> None:
    """Raise InputError (usage) if the best score is an infinite sum."""
    alpha = float(str(arguments.get("alpha", 0.5)))
    if arguments.get("norm") == "best" and cutoff is None and _enough(alpha) > DEEPEST:
        problem = f"norm=best with alpha={alpha:g} is an infinite sum"
        hint = f"add a cutoff, as in alpha_dcg(alpha={alpha:g},norm=best)@20"
        raise InputError("'alpha_dcg'", problem, hint, usage=True)


@measure(
    residual="within_run",
    bounds=lambda arguments: "intents" if arguments.get("norm") == "best" else "rises",
    intents=True,
    checks={"alpha": SHARE, "norm": NORM},
    validate=_check_finite,
)
def alpha_dcg(g: Gains, *, alpha: float = 0.5, norm: str = "none") -> Floats:
    """DCG with novelty: each relevant document above reduces the gain of a document for an intent.

    Σ_i Σ_t rel_i^t (1 − α)^(relevant to t before i) / log2(i+1); norm=best: over that of documents with all intents

    Clarke et al., SIGIR 2008; ndeval's alpha-DCG is alpha_dcg(norm=best).

    alpha  the share of its worth that a document loses with each relevant one above it, by intent
    norm   none, or best: the score of the best conceivable ranking is 1
    """
    intents = by_intent(g)
    scores = _novel_dcg(intents, alpha)
    if norm == "none":
        return intents.total(scores)
    # Of an intent with a relevant document at every rank: Σ_{i≤k} (1 − α)^(i−1) / log2(i+1).
    terms = int(min(_enough(alpha), g.last_rank))
    best = float(((1 - alpha) ** np.arange(terms) / divisor(np.arange(1.0, terms + 1))).sum())
    return safe_divide(intents.marginal(scores), np.full(len(g.gain), best))


@measure(cutoff="renormalizes", intents=True, checks={"alpha": SHARE})  # no ceiling: as nerria
def alpha_ndcg(g: Gains, *, alpha: float = 0.5) -> Floats:
    """alpha_dcg as a share of the score of the greedy ideal ranking: each next document adds most.

    alpha_dcg@k / alpha_dcg@k of the pool in greedy order, ties by docno descending

    Clarke et al., SIGIR 2008; ndeval's alpha-nDCG.

    alpha  the share of its worth that a document loses with each relevant one above it, by intent
    """
    intents = by_intent(g)
    ideal = intents.ideal(alpha, g.k)
    return safe_divide(intents.total(_novel_dcg(intents, alpha)), row_sums(ideal / divisor(_ranks(ideal))))


@measure(residual="beyond_run", bounds="intents", ceiling=1, intents=True, checks={"alpha": SHARE, "beta": BELOW_1})
def nrbp(g: Gains, *, alpha: float = 0.5, beta: float = 0.5) -> Floats:
    """Novelty- and rank-biased precision: RBP with patience β and lower gains for repeated information.

    (1 − (1 − α) β) / N Σ_i β^(i−1) Σ_t rel_i^t (1 − α)^(relevant to t before i), N: intents with a relevant document

    Clarke et al., ICTIR 2009; ndeval's NRBP.

    alpha  the share of its worth that a document loses with each relevant one above it, by intent
    beta   the persistence: the probability of going on to the next document
    """
    intents = by_intent(g)
    return (1 - (1 - alpha) * beta) * intents.marginal([_patient(intent, alpha, beta) for intent in intents.each])


@measure(cutoff="renormalizes", intents=True, checks={"alpha": SHARE, "beta": BELOW_1})  # no ceiling: as nerria
def nnrbp(g: Gains, *, alpha: float = 0.5, beta: float = 0.5) -> Floats:
    """nrbp as a share of the score of the greedy ideal ranking: each next document adds most.

    nrbp@k / nrbp@k of the pool in greedy order, ties by docno descending

    Clarke et al., ICTIR 2009; ndeval's nNRBP.

    alpha  the share of its worth that a document loses with each relevant one above it, by intent
    beta   the persistence: the probability of going on to the next document
    """
    intents = by_intent(g)
    ideal = intents.ideal(alpha, g.k)
    score = intents.total([_patient(intent, alpha, beta) for intent in intents.each])
    return safe_divide(score, row_sums(ideal * beta ** (_ranks(ideal) - 1)))


@measure(residual="beyond_run", bounds="intents", ceiling=1, intents=True)
def strec(g: Gains) -> Floats:
    """Subtopic recall: the share of the intents with a relevant document that the first k documents cover.

    |intents of the first k| / N, N: intents with a relevant document

    Zhai et al., SIGIR 2003; ndeval's strec.
    """
    intents = by_intent(g)
    covered = [each.relevant.any(1) | ((each.tail > 0) & (each.retrieved < g.last_rank)) for each in intents.each]
    return intents.marginal([intent.astype(np.float64) for intent in covered])


def _patient(g: Gains, alpha: float, beta: float) -> Floats:
    """Return Σ_i β^(i−1) rel_i (1 − α)^(relevant before i) for an intent: topics."""
    added, remaining = novel(g, alpha)
    score = row_sums(added * beta ** (g.rank - 1))
    if g.tail:
        goes_on = beta * (1 - alpha * g.tail)
        ranks = np.maximum(g.last_rank - g.retrieved, 0)
        score += remaining * g.tail * beta ** g.retrieved.astype(np.float64) * (1 - goes_on**ranks) / (1 - goes_on)
    return score


def _enough(alpha: float) -> float:
    """Return the number of ranks that matter to a sum of (1 − α)^(i−1)."""
    return 1 if alpha == 1 else np.inf if alpha == 0 else float(np.ceil(np.log(NEGLIGIBLE) / np.log1p(-alpha))) + 1


def _ranks(ideal: Floats) -> Floats:
    return np.arange(1.0, ideal.shape[1] + 1)


@public
def intent_aware(measure: Measure, prior: str = UNIFORM) -> Measure:
    """Return the mean of a measure over the intents of each topic: `ia(err @ 20)`, in notation `ia(err@20)`.

    prior  the probabilities of the intents: `uniform` over those with a relevant document, or `@FILE` with lines of
           topic, subtopic and probability

    Raises InputError (usage) if the measure is averaged over intents already, or does not depend on them.
    Agrawal et al., WSDM 2009; Chapelle et al., CIKM 2009, section 7.4.

    >>> gradedeval.intent_aware(gradedeval.measures.err @ 20)
    ia(err@20)
    """
    if not isinstance(measure, Measure):
        raise InputError(IA, f"{safe_repr(measure)} is not a measure", "for example intent_aware(err @ 20)", usage=True)
    place, definition = f"'{IA}({measure})'", measure.definition
    if measure.by_intent:
        problem = "is already averaged over intents" if measure.prior else "already takes all intents into account"
        raise InputError(place, f"{measure} {problem}", f"write {measure}", usage=True)
    if definition.gain is None or definition.summary == "total" or definition.uses_strata or definition.may_skip:
        problem = "counts documents" if definition.summary == "total" else "reads no gains"
        problem = "reads strata" if definition.uses_strata else problem
        problem = "scores some topics only" if definition.may_skip else problem
        problem = f"{measure.name} {problem}: it has no mean over intents"
        raise InputError(place, problem, f"write {measure}", usage=True)
    if not is_prior(prior):
        raise InputError(place, f"prior={write_value(prior)} is not {PRIOR}", f"write {IA}({measure})", usage=True)
    return replace(measure, prior=prior, spellings=())
