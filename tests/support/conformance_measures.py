"""Measures in forty digits, from the definitions of the papers: nothing here imports the package.

A function takes a topic and returns its score. `k` is the cutoff, `gain` the gain scheme, and `rel` the lowest relevant
grade; gains are exact, ranks count from 1. Random cases are computed `in_doubles`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import mpmath

mp = mpmath.MPContext()
mp.dps = 40
Real = Any
"""A number of mpmath, which has no types."""

NEAR = 1e-30
"""Sums of thirds reach 1 but for the fortieth digit."""


@contextmanager
def in_doubles() -> Iterator[None]:
    """Compute with floats for a while."""
    global mp
    exact, mp = mp, mpmath.fp
    try:
        yield
    finally:
        mp = exact


NOTATION = re.compile(r"(\w+)(?:\((.*)\))?(?:@(\d+))?")
OTHER_NAMES = {"gm_ap": "ap", "gm_bpref": "bpref"}
OTHER_PARAMETERS = {("bpref", "k"): "constant", ("gm_bpref", "k"): "constant", ("silence", "min"): "least"}


def definition(name: str, parameters: Mapping[str, Any], k: int | None) -> Callable[..., Real]:
    """Return the function of a measure, with its parameters and its cutoff."""
    if name in CHANCES:
        return partial(cwl_of, name=name, k=k, **parameters)
    renamed = {OTHER_PARAMETERS.get((name, key), key): value for key, value in parameters.items()}
    return partial(globals()[OTHER_NAMES.get(name, name)], **renamed, **({} if k is None else {"k": k}))


def read(notation: str) -> Callable[..., Real]:
    """Return the function of a measure by its notation: `err(rel=2)@3` is `err` with rel 2 and k 3."""
    match = NOTATION.fullmatch(notation)
    assert match is not None
    name, inside, cutoff = match.groups()
    if name == "ia":
        return intent_mean(read(f"{inside}@{cutoff}" if cutoff else inside))
    pairs = (pair.split("=") for pair in (inside or "").split(",") if pair)
    return definition(name, {key: value(text) for key, text in pairs}, int(cutoff) if cutoff else None)


def value(text: str) -> Any:
    """Return the value of a parameter: a number, several between colons, or a word."""
    if ":" in text:
        return tuple(map(value, text.split(":")))
    return int(text) if text.isdigit() else mp.mpf(text) if re.fullmatch(r"-?[\d.]+", text) else text


@dataclass(frozen=True)
class Topic:
    """A topic as a measure sees it.

    ranking  the docnos by rank
    grades   the judged documents
    top      the highest grade of all topics
    labels   the distinct grades above 0 of all topics, ascending
    intents  subtopic -> grades, for measures over intents
    highest  the highest score of a document of the run; None without documents
    filled   docno -> gain, of documents without a grade that gain all the same
    """

    ranking: tuple[str, ...]
    grades: dict[str, Real]
    top: Real
    labels: tuple[Real, ...]
    intents: dict[str, dict[str, Real]] = field(default_factory=dict)
    highest: float | None = None
    filled: dict[str, Real] = field(default_factory=dict)


# --- gains -----------------------------------------------------------------------------------------------------------


def raw(scheme: Any, grade: Real) -> Real:
    """Return the gain of a grade for measures with gains of any size: g, or 2^g − 1 (Burges et al. 2005)."""
    if isinstance(scheme, tuple):
        return mp.mpf(scheme[int(grade)])
    if "=" in scheme:  # of some grades; the others stay
        named = {float(grade): gain for grade, gain in (pair.split("=") for pair in scheme.split(","))}
        return mp.mpf(named.get(float(grade), grade))
    return mp.mpf(2) ** grade - 1 if scheme == "exp" else grade


def unit(scheme: Any, grade: Real, top: Real) -> Real:
    """Return the gain of a grade for measures with gains in 0..1; exp: Chapelle et al. 2009, eq. 4."""
    if isinstance(scheme, tuple):
        return mp.mpf(scheme[int(grade)])
    if scheme == "exp":
        return (mp.mpf(2) ** grade - 1) / mp.mpf(2) ** top
    return {"linear": grade / top, "ntcir": grade / (top + 1), "grade": grade}[scheme]


def gains(topic: Topic, gain_of: Callable[[Real], Real]) -> tuple[list[Real], list[Real]]:
    """Return the gain at each rank, and the gains above 0 of the judged documents in descending order."""

    def of(docno: str) -> Real:
        grade = topic.grades.get(docno, -1)
        return topic.filled.get(docno, mp.mpf(0)) if grade < 0 else gain_of(grade)

    ideal = sorted(map(of, topic.grades), reverse=True)
    return list(map(of, topic.ranking)), [gain for gain in ideal if gain > 0]


def raw_gains(topic: Topic, gain: Any, rel: Real | None) -> tuple[list[Real], list[Real]]:
    return gains(topic, lambda grade: mp.mpf(grade >= rel) if rel is not None else raw(gain, grade))


def unit_gains(topic: Topic, gain: Any, rel: Real | None) -> tuple[list[Real], list[Real]]:
    return gains(topic, lambda grade: mp.mpf(grade >= rel) if rel is not None else unit(gain, grade, topic.top))


def binary(topic: Topic, rel: Real = 1) -> tuple[list[int], int]:
    """Return whether the document at each rank is relevant, and the number of relevant documents."""
    hits, pool = raw_gains(topic, "linear", rel)
    return [int(hit) for hit in hits], len(pool)


def judged_nonrelevant(topic: Topic, rel: Real = 1) -> list[bool]:
    return [docno in topic.grades and topic.grades[docno] < rel for docno in topic.ranking]


def ratio(part: Real, whole: Real) -> Real:
    if not part:
        return mp.mpf(0)
    return mp.mpf(part) / whole if whole else mp.inf


def ranked(values: Sequence[Any], k: int | None = None) -> list[tuple[int, Any]]:
    return list(enumerate(values[:k], 1))


# --- cascade measures ------------------------------------------------------------------------------------------------


def cascade_sum(gain: Sequence[Real], k: int | None, utility: str = "rr", gamma: Real = 1) -> Real:
    """Return Σ φ(i) γ^(i−1) r_i Π_{j<i} (1 − r_j): Chapelle et al. 2009, definition 1 and section 7.2."""
    phi: dict[str, Callable[[int], Real]] = {
        "rr": lambda i: mp.mpf(1) / i,
        "dcg": lambda i: 1 / mp.log(i + 1, 2),
        "one": lambda i: mp.mpf(1),
    }
    total, goes_on = mp.mpf(0), mp.mpf(1)
    for i, r in ranked(gain, k):
        total += phi[utility](i) * mp.mpf(gamma) ** (i - 1) * goes_on * r
        goes_on *= 1 - r
    return total


def err(t: Topic, k: int | None = None, gain: Any = "exp", rel: Real | None = None) -> Real:
    return cascade_sum(unit_gains(t, gain, rel)[0], k)


def nerr(t: Topic, k: int | None = None, gain: Any = "exp", rel: Real | None = None) -> Real:
    r, ideal = unit_gains(t, gain, rel)
    return ratio(cascade_sum(r, k), cascade_sum(ideal, k))


def cascade(
    t: Topic, k: int | None = None, utility: str = "rr", gamma: Real = 1, gain: Any = "exp", rel: Real | None = None
) -> Real:
    return cascade_sum(unit_gains(t, gain, rel)[0], k, utility, gamma)


def rr(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    return next((mp.mpf(1) / i for i, hit in ranked(binary(t, rel)[0], k) if hit), mp.mpf(0))


def success(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    return mp.mpf(any(binary(t, rel)[0][:k]))


# --- cumulated gain --------------------------------------------------------------------------------------------------


def dcg_sum(gain: Sequence[Real], k: int | None = None, log: int | None = None) -> Real:
    """Return Σ gain / log2(i + 1); with a base b undiscounted before rank b: Järvelin & Kekäläinen 2002."""
    total = mp.mpf(0)
    for i, value in ranked(gain, k):
        if log is None:
            total += value / mp.log(i + 1, 2)
        else:
            total += value if i < log else value / mp.log(i, log)
    return total


def dcg(t: Topic, k: int | None = None, gain: Any = "linear", rel: Real | None = None, log: int | None = None) -> Real:
    return dcg_sum(raw_gains(t, gain, rel)[0], k, log)


def ndcg(t: Topic, k: int | None = None, gain: Any = "linear", rel: Real | None = None, log: int | None = None) -> Real:
    r, ideal = raw_gains(t, gain, rel)
    return ratio(dcg_sum(r, k, log), dcg_sum(ideal, k, log))


def q(
    t: Topic, k: int | None = None, beta: Real = 1, norm: str = "R", gain: Any = "linear", rel: Real | None = None
) -> Real:
    """Return the Q-measure: Sakai 2004."""
    r, ideal = raw_gains(t, gain, rel)
    total, hits, cg = mp.mpf(0), 0, mp.mpf(0)
    for i, value in ranked(r, k):
        hits, cg = hits + (value > 0), cg + value
        if value > 0:
            total += (hits + beta * cg) / (i + beta * mp.fsum(ideal[:i]))
    return ratio(total, len(ideal) if norm == "R" or k is None else min(len(ideal), k))


def compat(t: Topic, k: int | None = None, p: Real = "0.95", gain: Any = "linear", to_end: bool = False) -> Real:
    """Return compatibility, RBO(run, ideal) / RBO(ideal, ideal): Clarke, Vtyurina & Smucker 2021; RBO: Webber et al.
    2010."""
    p = mp.mpf(p)
    place = {docno: i for i, docno in enumerate(t.ranking)}
    positive = [(docno, grade) for docno, grade in t.grades.items() if grade > 0]
    ideal = [
        docno for docno, grade in sorted(positive, key=lambda each: (-raw(gain, each[1]), place.get(each[0], mp.inf)))
    ]
    last = k or (max(len(t.ranking), len(ideal)) if to_end else int(100 / (1 - p)))

    def overlap(first: Sequence[str], second: Sequence[str]) -> Real:
        return mp.fsum(p ** (i - 1) * len({*first[:i]} & {*second[:i]}) / i for i in range(1, last + 1))

    return ratio(overlap(t.ranking, ideal), overlap(ideal, ideal))


# --- precision, recall and average precision -------------------------------------------------------------------------


def sp(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    """Return the sum of precisions at the ranks of relevant documents."""
    hits = binary(t, rel)[0]
    return mp.fsum(mp.mpf(sum(hits[:i])) / i for i, hit in ranked(hits, k) if hit)


def ap(t: Topic, k: int | None = None, norm: str = "R", rel: Real = 1) -> Real:
    relevant = binary(t, rel)[1]
    return ratio(sp(t, k, rel), relevant if norm == "R" or k is None else min(relevant, k))


def p(t: Topic, k: int, rel: Real = 1) -> Real:
    return mp.mpf(sum(binary(t, rel)[0][:k])) / k


def recall(t: Topic, k: int | None = None, rel: Real = 1, norm: str = "R") -> Real:
    hits, relevant = binary(t, rel)
    return ratio(sum(hits[:k]), relevant if norm == "R" or k is None else min(relevant, k))


def rprec(t: Topic, rel: Real = 1) -> Real:
    hits, relevant = binary(t, rel)
    return ratio(sum(hits[:relevant]), relevant)


def rprec_mult(t: Topic, times: Real = 1, rel: Real = 1) -> Real:
    hits, relevant = binary(t, rel)
    k = int(mp.floor(mp.mpf(times) * relevant + mp.mpf("0.9")))
    return ratio(sum(hits[:k]), k)


def relative_p(t: Topic, k: int, rel: Real = 1) -> Real:
    hits, relevant = binary(t, rel)
    return ratio(sum(hits[:k]), min(k, relevant))


def bpref(t: Topic, k: int | None = None, constant: int = 0, rel: Real = 1) -> Real:
    """Return bpref: Buckley & Voorhees 2004, as trec_eval has it."""
    hits, relevant = binary(t, rel)
    wrong, bad = judged_nonrelevant(t, rel), sum(1 for grade in t.grades.values() if grade < rel)
    most, total = min(constant + relevant, bad), mp.mpf(0)
    for i, hit in ranked(hits, k):
        above = min(sum(wrong[: i - 1]), constant + relevant)
        total += hit * (1 - ratio(above, most))
    return ratio(total, relevant)


def accuracy(t: Topic, k: int | None = None, rel: Real = 1, empty: Real = 0) -> Real:
    """Return the share of pairs of a relevant and another document among the first k that are in the right order."""
    hits = binary(t, rel)[0][:k]
    pairs = [(i, j) for i in range(len(hits)) for j in range(len(hits)) if hits[i] and not hits[j]]
    if not any(hits):
        return mp.mpf(0)
    return mp.mpf(sum(i < j for i, j in pairs)) / len(pairs) if pairs else mp.mpf(1)


def iprec(
    t: Topic,
    k: int | None = None,
    recall: Real = 0,
    add: Real = "0.5",
    rel: Real = 1,
    needed: Callable[[Real, int], int] | None = None,
) -> Real:
    """Return the highest precision at a rank down to which ⌊recall · R + add⌋ relevant documents, or `needed`, are
    found."""
    hits, relevant = binary(t, rel)
    least = needed(recall, relevant) if needed else int(mp.floor(mp.mpf(recall) * relevant + mp.mpf(add) + NEAR))
    reached = [mp.mpf(sum(hits[:i])) / i for i, _ in ranked(hits, k) if sum(hits[:i]) >= least]
    return ratio(max(reached, default=0), min(relevant, 1))


def iprec_avg(t: Topic, k: int | None = None, recall: Any = None, **given: Any) -> Real:
    levels = [mp.mpf(level) / 10 for level in range(11)] if recall is None else recall
    levels = levels if isinstance(levels, list | tuple) else [levels]
    return mp.fsum(iprec(t, k, level, **given) for level in levels) / len(levels)


def esl(t: Topic, n: int = 1) -> Real:
    """Return the expected search length of Cooper 1968 in an order without ties."""
    hits = binary(t)[0]
    above = next((i for i, hit in ranked(hits) if hit and sum(hits[:i]) == n), len(hits))
    return mp.mpf(above - sum(hits[:above]))


def rank1(t: Topic, k: int | None = None, rel: Real = 1) -> Real | None:
    """Return the rank of the first relevant document; None without one."""
    return next((mp.mpf(i) for i, hit in ranked(binary(t, rel)[0], k) if hit), None)


def yaap(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    summed, relevant = sp(t, k, rel), binary(t, rel)[1]
    return mp.log((1 + summed) / (1 + relevant - summed))


def infap(t: Topic, k: int | None = None, rel: Real = 1, sampled: Real = -mp.inf) -> Real:
    """Return inferred average precision: Yilmaz & Aslam 2006, with trec_eval's ε of 0.00001.

    sampled  the lowest grade of the sample; documents with lower ones are in the pool alone
    """
    hits, relevant = binary(t, rel)
    tiny, total = mp.mpf("0.00001"), mp.mpf(0)
    for i, hit in ranked(hits, k):
        pooled = [t.grades[docno] for docno in t.ranking[: i - 1] if docno in t.grades]
        good, all_sampled = sum(hits[: i - 1]), sum(grade >= sampled for grade in pooled)
        if hit and i == 1:
            total += 1
        elif hit:
            above = mp.mpf(len(pooled)) / (i - 1) * (good + tiny) / (all_sampled + 2 * tiny)
            total += mp.mpf(1) / i + mp.mpf(i - 1) / i * above
    return ratio(total, relevant)


def judged(t: Topic, k: int | None = None) -> Real:
    return ratio(sum(docno in t.grades for docno in t.ranking[:k]), len(t.ranking[:k]))


def unjudged(t: Topic, k: int | None = None) -> Real:
    return ratio(sum(docno not in t.grades for docno in t.ranking[:k]), k or len(t.ranking))


# --- graded average precision ----------------------------------------------------------------------------------------


def thresholds(labels: Sequence[Real], top: Real) -> list[Real]:
    """Return the grades at which users set their threshold: 1 … top, or the grades that occur if one has a fraction."""
    whole = all(level == int(level) for level in (*labels, top))
    return [mp.mpf(j) for j in range(1, int(top) + 1)] if whole else sorted({*labels, top})


def share(grade: Real, t: Topic, g: tuple[Real, ...] | None = None, gain: Any = None) -> Real:
    """Return Σ_{j ≤ grade} g_j: Robertson et al. 2010, section 2; with a gain scheme the share of the top gain."""
    if gain is not None:
        return mp.mpf(raw(gain, grade)) / raw(gain, t.top)
    levels = thresholds(t.labels, t.top)
    weights = g or [1] * len(levels)
    return mp.mpf(sum(w for level, w in zip(levels, weights, strict=True) if level <= grade)) / sum(weights)


def shares(t: Topic, rel: Real | None, **given: Any) -> tuple[list[Real], list[Real]]:
    return gains(t, lambda grade: mp.mpf(grade >= rel) if rel is not None else share(grade, t, **given))


def gap(t: Topic, k: int | None = None, norm: str = "R", rel: Real | None = None, **given: Any) -> Real:
    """Return GAP: Robertson et al. 2010, section 2.2: Σ_n 1/n Σ_{m≤n} Σ_{j ≤ min(i_m, i_n)} g_j over Σ_i R_i Σ_{j≤i}
    g_j."""
    r, ideal = shares(t, rel, **given)
    total = mp.fsum(mp.fsum(min(r[m], r[n - 1]) for m in range(n)) / n for n, _ in ranked(r, k))
    return ratio(total, mp.fsum(ideal[: k if norm == "k" else None]))


def gprecision(t: Topic, k: int, rel: Real | None = None, **given: Any) -> Real:
    return mp.fsum(shares(t, rel, **given)[0][:k]) / k


def grecall(t: Topic, k: int | None = None, rel: Real | None = None, **given: Any) -> Real:
    r, ideal = shares(t, rel, **given)
    return ratio(mp.fsum(r[:k]), mp.fsum(ideal))


# --- weights of ranks, and C/W/L -------------------------------------------------------------------------------------


def weighted(t: Topic, k: int | None, weight: Callable[[int], Real], gain: Any = "linear", rel: Any = None) -> Real:
    """Return Σ w_i r_i."""
    return mp.fsum(weight(i) * r for i, r in ranked(unit_gains(t, gain, rel)[0], k))


def zipf(t: Topic, k: int | None = None, beta: Real = 1, **given: Any) -> Real:
    beta = mp.mpf(beta)
    total = mp.zeta(beta) if k is None else mp.fsum(mp.mpf(i) ** -beta for i in range(1, k + 1))
    return weighted(t, k, lambda i: mp.mpf(i) ** -beta / total, **given)


def uniform(t: Topic, k: int, **given: Any) -> Real:
    return weighted(t, k, lambda i: mp.mpf(1) / k, **given)


def poisson(t: Topic, k: int | None = None, alpha: Real = 1, **given: Any) -> Real:
    alpha = mp.mpf(alpha)
    return weighted(t, k, lambda i: mp.exp((i - 1) * mp.log(alpha) - alpha - mp.loggamma(i)), **given)


def logharmonic(t: Topic, k: int, b: Real = 2, **given: Any) -> Real:
    weights = [mp.mpf(1) if i <= b else 1 / mp.log(i, b) for i in range(1, k + 1)]
    return weighted(t, k, lambda i: weights[i - 1] / mp.fsum(weights), **given)


# --- C/W/L: Azzopardi et al. 2021, section 2 --------------------------------------------------------------------------

REQUIRED = ("sdcg", "cwlp", "set", "nerr8", "nerr9")
"""Measures with a required cutoff, at which the user gives up."""
CWL_GAINS = dict.fromkeys(
    ("insq", "inst", "sdcg", "cwlp", "cwlrr", "cwlap", "tbg", "u", "set", "npv", "bpm", "bpmd", "ift", "rbp"), "linear"
) | dict.fromkeys(("nerr8", "nerr9", "nerr10", "nerr11", "nerr5", "nerr6"), "exp")
BOUNDED = ("rbp", "insq", "inst", "sdcg", "cwlp", "tbg", "u", "set", "npv", "nerr8", "nerr9", "nerr10", "nerr11")
DEFAULTS: dict[str, dict[str, Any]] = {
    "rbp": {"p": "0.8"},
    "insq": {"T": 1},
    "inst": {"T": 1},
    "tbg": {"h": 224},
    "u": {"L": 1000},
    "set": {"beta": "0.5"},
    "npv": {"rate": "0.1"},
    "bpm": {"T": 1, "K": 10, "hb": 0, "hc": 0},
    "bpmd": {"T": 1, "K": 10, "hb": 1, "hc": 1, "mid": "0.5"},
    "nerr10": {"phi": "0.8"},
    "nerr11": {"T": 1},
}
FAR = 4_000


class Walk:
    """The state of a user at rank i: the gains and costs of ranks 1..i, and the parameters.

    gains, costs  those of a rank
    last          the last rank
    """

    def __init__(self, gains: Callable[[int], Real], costs: Callable[[int], Real], last: int, parameters: Any) -> None:
        self.gains, self.costs, self.last, self.given = gains, costs, last, parameters
        self.i, self.r, self.c, self.gained, self.spent, self.surplus = 0, 0, 0, mp.mpf(0), mp.mpf(0), mp.mpf(0)

    def __getattr__(self, name: str) -> Real:
        """Return a parameter."""
        return self.given[name]

    def step(self) -> None:
        """Go to the next rank; `surplus` is Σ_{j<i} (r_j − mid)."""
        self.surplus += self.r - self.given.get("mid", 0) if self.i else 0
        self.i += 1
        self.r, self.c = self.gains(self.i), self.costs(self.i)
        self.gained, self.spent = self.gained + self.r, self.spent + self.c


def reciprocals(walk: Walk) -> Real:
    """Return the share of Σ r_j / j from this rank on that is still to come after it."""
    after = mp.fsum(walk.gains(j) / j for j in range(walk.i + 1, walk.last + 1))
    return ratio(after, after + walk.r / walk.i)


def less_money(walk: Walk) -> Real:
    """Return C(i) of a user with a budget: Sakai & Dou 2013."""
    money_left = max(mp.mpf(0), 1 - (walk.spent - walk.c) / walk.L)
    return ratio(max(mp.mpf(0), 1 - walk.spent / walk.L), money_left)


def below_goals(walk: Walk) -> Real:
    """Return C(i) of a user with goals: Zhang et al. 2017."""
    return (
        walk.gained < walk.T + walk.hb * walk.surplus - NOISE and walk.spent < walk.K + walk.hc * walk.surplus - NOISE
    )


NOISE = 1e-9


def foraging(walk: Walk) -> Real:
    """Return C(i) of information foraging: Azzopardi et al. 2018."""
    goal, rate, c = walk.given.get("T"), walk.given.get("A"), mp.mpf(1)
    b = mp.mpf("0.9")
    if goal is None and rate is None:
        goal, rate = mp.mpf(2), mp.mpf("0.2")
    if goal is not None:
        steep = min((goal - walk.gained) * walk.given.get("R1", 1), 600)
        c *= 1 - 1 / (1 + walk.given.get("b1", b) * mp.exp(steep))
    if rate is not None:
        steep = min((rate - walk.gained / walk.spent) * walk.given.get("R2", 1), 600)
        c *= 1 / (1 + walk.given.get("b2", b) * mp.exp(steep))
    return c


def base(walk: Walk) -> Real:
    """Return the b of C(i) = ((b − 1) / b)², which rises by 1 a rank."""
    return walk.i + 2 * walk.T


CHANCES: dict[str, Callable[[Walk], Real]] = {
    "rbp": lambda at: at.p,
    "npv": lambda at: 1 / (1 + at.rate),
    "tbg": lambda at: mp.mpf(2) ** (-at.c / at.h),
    "u": less_money,
    "insq": lambda at: (1 - 1 / base(at)) ** 2,
    "inst": lambda at: (1 - 1 / (base(at) - at.gained)) ** 2,
    "sdcg": lambda at: mp.log(at.i + 1) / mp.log(at.i + 2),
    "cwlp": lambda at: 1,
    "cwlrr": lambda at: at.r == 0,
    "cwlap": reciprocals,
    "set": lambda at: (
        ((at.i + 2) ** at.beta - (at.i + 1) ** at.beta) / ((at.i + 1) ** at.beta - mp.mpf(at.i) ** at.beta)
    ),
    "bpm": below_goals,
    "bpmd": below_goals,
    "ift": foraging,
    "nerr5": lambda at: 1 - at.r,
    "nerr6": lambda at: mp.mpf(at.i) / (at.i + 1) * (1 - at.r),
    "nerr8": lambda at: 1 - at.r,
    "nerr9": lambda at: mp.mpf(at.i) / (at.i + 1) * (1 - at.r),
    "nerr10": lambda at: at.phi * (1 - at.r),
    "nerr11": lambda at: (1 - 1 / base(at)) ** 2 * (1 - at.r),
}
"""Measure -> C(i)."""


def rest(name: str, walk: Walk, v: Real, c: Real, tail: Real) -> Real | None:
    """Return Σ_{j>i} V(j) by V(i + 1) = v, if all further ranks have the gain `tail` and the cost 1; None: unknown."""
    if name in ("rbp", "npv", "nerr10"):
        return v / (1 - (c if name != "nerr10" else walk.phi * (1 - tail)))
    if name == "tbg":
        return v / (1 - mp.mpf(2) ** (-1 / walk.h))
    if name == "insq" or (name in ("inst", "nerr11") and not tail):
        b = base(walk) - (walk.gained if name == "inst" else 0)
        return v * b**2 * mp.zeta(2, b)
    return None


def cwl(
    name: str,
    parameters: Mapping[str, Any],
    k: int | None,
    ranking: Sequence[Real],
    tail: Real = 0,
    costs: Sequence[Real] | None = None,
) -> Real | None:
    """Return one of the five quantities (`of`) of a ranking that continues with the gain `tail` and the cost 1; None
    if it is unknown. A cutoff leaves the weights unchanged, except for REQUIRED; at a horizon the user gives up."""
    of, horizon = parameters.get("of", "eu"), parameters.get("horizon")
    numbers = {**DEFAULTS.get(name, {}), **parameters}
    numbers = {key: mp.mpf(value) for key, value in numbers.items() if key not in ("of", "horizon")}
    n, ends = len(ranking), horizon or (k if name in REQUIRED else None)
    stops = any(gain > 0 if name == "cwlrr" else gain >= 1 for gain in ranking)
    if ends is None and name in ("cwlrr", "nerr5", "nerr6") and not tail and not stops:
        return mp.mpf(0) if of == "eu" and k is None else None  # the limit: no user ever stops
    if name == "cwlap" and ends is None and tail:
        return None
    far = horizon if name == "cwlap" and horizon else mp.inf
    walk = Walk(
        lambda i: mp.mpf(0) if i > far else ranking[i - 1] if i <= n else mp.mpf(tail),
        lambda i: mp.mpf(1) if costs is None or i > n else costs[i - 1],
        max(n, ends or k or 0),
        numbers,
    )
    v, depth, sums = mp.mpf(1), mp.mpf(0), dict.fromkeys(("eu", "etu", "ec", "etc", "ed"), mp.mpf(0))
    negligible = 10 ** -(18 if mp.prec == 53 else 45)
    while True:
        walk.step()
        c = mp.mpf(0) if name in REQUIRED and k is not None and walk.i >= k else CHANCES[name](walk)
        depth += v
        if name in REQUIRED or k is None or walk.i <= k:
            stop = v * (1 - c)
            added = {"eu": v * walk.r, "ec": v * walk.c, "ed": v, "etu": stop * walk.gained, "etc": stop * walk.spent}
            for key, part in added.items():
                sums[key] += part
        v *= c
        if ends is not None and walk.i >= ends:
            break
        if walk.i >= max(n, k or 0):
            if v < negligible:
                break
            beyond = rest(name, walk, v, c, mp.mpf(tail)) if ends is None else None
            if beyond is not None and (not tail or of in ("eu", "ec", "ed")):
                depth += beyond
                if k is None:
                    more = {
                        "eu": beyond * tail,
                        "ec": beyond,
                        "ed": beyond,
                        "etu": v * walk.gained,
                        "etc": v * walk.spent + beyond,
                    }
                    for key, part in more.items():
                        sums[key] += part
                break
        if walk.i > FAR:
            return None
    return sums[of] / depth if of in ("eu", "ec") else sums[of]


def cwl_of(
    t: Topic, name: str, k: int | None = None, gain: Any = None, rel: Real | None = None, **given: Any
) -> Real | None:
    return cwl(name, given, k, unit_gains(t, gain or CWL_GAINS[name], rel)[0])


# --- sets and counts -------------------------------------------------------------------------------------------------


def counts(t: Topic, k: int | None = None, rel: Real = 1) -> tuple[int, int, int]:
    """Return the number of relevant documents retrieved, of documents retrieved, and of relevant documents."""
    hits, relevant = binary(t, rel)
    return sum(hits[:k]), len(hits[:k]), relevant


def set_p(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    hits, n, _ = counts(t, k, rel)
    return ratio(hits, n)


def set_relative_p(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    hits, n, relevant = counts(t, k, rel)
    return ratio(hits, min(n, relevant))


def set_recall(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    hits, _, relevant = counts(t, k, rel)
    return ratio(hits, relevant)


def set_map(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    return set_p(t, k, rel) * set_recall(t, k, rel)


def set_f(t: Topic, k: int | None = None, x: Real = 1, rel: Real = 1) -> Real:
    precision, recall_value = set_p(t, k, rel), min(set_recall(t, k, rel), mp.mpf(1))
    return ratio((mp.mpf(x) + 1) * precision * recall_value, recall_value + mp.mpf(x) * precision)


def f1(t: Topic, k: int, rel: Real = 1) -> Real:
    hits, _, relevant = counts(t, k, rel)
    return ratio(2 * hits, k + relevant)


def utility(
    t: Topic, k: int | None = None, a: Real = 1, b: Real = -1, c: Real = 0, d: Real = 0, docs: Real = 0, rel: Real = 1
) -> Real:
    hits, n, relevant = counts(t, k, rel)
    return mp.mpf(a * hits + b * (n - hits) + c * (relevant - hits) + d * (docs - (n + relevant - hits)))


def silence(t: Topic, least: float | None = None, rel: Real = 1) -> Real | None:
    """Return whether a topic without relevant documents has an empty ranking; None for other topics."""
    returned = t.highest is not None and (least is None or t.highest >= least)
    return None if binary(t, rel)[1] else mp.mpf(not returned)


def num_ret(t: Topic, k: int | None = None) -> Real:
    return mp.mpf(counts(t, k)[1])


def num_rel(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    return mp.mpf(counts(t, k, rel)[2])


def num_rel_ret(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    return mp.mpf(counts(t, k, rel)[0])


hits = num_rel_ret


def num_nonrel_judged_ret(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    return mp.mpf(sum(judged_nonrelevant(t, rel)[:k]))


def num_q(t: Topic) -> Real:
    return mp.mpf(1)


# --- trec_eval's own -------------------------------------------------------------------------------------------------


def bing(t: Topic, rel: Real = 1) -> Real:
    hits, relevant = binary(t, rel)
    return ratio(mp.fsum(1 / mp.log(2 + i - sum(hits[:i]), 2) for i, hit in ranked(hits) if hit), relevant)


def g(t: Topic, gain: Any = "linear", rel: Real | None = None) -> Real:
    r, ideal = raw_gains(t, gain, rel)
    total = mp.mpf(0)
    for i, gain_at in ranked(r):
        lag = mp.fsum(ideal[:i]) + max(0, i - len(ideal)) - mp.fsum(r[:i])
        total += gain_at / mp.log(2 + lag, 2) if gain_at else 0
    return ratio(total, mp.fsum(ideal))


def ndcg_rel(t: Topic, **given: Any) -> Real:
    r, ideal = raw_gains(t, given.get("gain", "linear"), given.get("rel"))
    values = [ndcg(t, i, **given) for i, gain in ranked(r) if gain > 0]
    return ratio(mp.fsum(values) + (len(ideal) - len(values)) * ndcg(t, **given), len(ideal))


def rndcg(t: Topic, **given: Any) -> Real:
    r, ideal = raw_gains(t, given.get("gain", "linear"), given.get("rel"))
    ends = [sum(1 for gain in ideal if gain >= level) for level in sorted(set(ideal))]
    values = [ndcg(t, end, **given) for end in ends]
    values += [ndcg(t, **given)] if len(r) >= len(ideal) + 2 else []
    return ratio(mp.fsum(values), len(values))


def rbp_topic(t: Topic, k: int | None = None, p: Real = "0.9", gain: Any = "linear", rel: Any = None) -> Real:
    r, ideal = raw_gains(t, gain, rel)
    total = mp.fsum((1 - mp.mpf(p)) * gain_at * mp.mpf(p) ** (i - 1) for i, gain_at in ranked(r, k))
    return ratio(total, max(ideal, default=0))


def rbp_resid(t: Topic, k: int | None = None, p: Real = "0.9", rel: Real = 1) -> Real:
    p, seen = mp.mpf(p), t.ranking[:k]
    if not seen:
        return mp.mpf(0)
    unknown = mp.fsum((1 - p) * p ** (i - 1) for i, docno in ranked(seen) if docno not in t.grades)
    return unknown + p ** len(seen) - (0 if k is None else p**k)


# --- intents ---------------------------------------------------------------------------------------------------------


def at_least(rel: Real) -> Callable[[Real], Real]:
    return lambda grade: mp.mpf(grade >= rel)


def by_intent(t: Topic, gain_of: Callable[[Real], Real] = abs) -> list[Topic]:
    """Return the topic as judged for each intent with a document of some worth, or with one that may be."""
    each = [replace(t, grades=grades, intents={}) for grades in t.intents.values()]
    return [
        topic for topic in each if t.filled or any(grade >= 0 and gain_of(grade) for grade in topic.grades.values())
    ]


def intent_mean(measure: Callable[..., Real]) -> Callable[..., Real]:
    """Return the mean of a measure over the intents with a relevant document: Agrawal et al. 2009."""

    def mean(t: Topic, **given: Any) -> Real:
        intents = by_intent(t)
        return ratio(mp.fsum(measure(topic, **given) for topic in intents), len(intents))

    return mean


def greedy(t: Topic, gain_of: Callable[[Real], Real], rate: Real) -> tuple[str, ...]:
    """Return the relevant documents, the one that adds most always next, ties by docno descending: Clarke et al. 2008.

    worth  the gain of a grade
    rate   the share of an intent's worth that a document of gain 1 takes
    """
    intents = by_intent(t, gain_of)
    gain = [
        {docno: gain_of(grade) for docno, grade in topic_of_intent.grades.items() if grade >= 0}
        for topic_of_intent in intents
    ]
    candidates = sorted(
        {docno for gains_of_intent in gain for docno, gain_of in gains_of_intent.items() if gain_of}, reverse=True
    )
    open_share, order = [mp.mpf(1)] * len(intents), list[str]()
    near = mp.mpf(10) ** (-12 if mp.prec == 53 else -30)
    while candidates:
        adds = [
            mp.fsum(
                part * gains_of_intent.get(docno, 0) for part, gains_of_intent in zip(open_share, gain, strict=True)
            )
            for docno in candidates
        ]
        best = next(n for n, added in enumerate(adds) if added > max(adds) - near)
        order.append(candidates.pop(best))
        open_share = [
            part * (1 - rate * gains_of_intent.get(order[-1], 0))
            for part, gains_of_intent in zip(open_share, gain, strict=True)
        ]
    return tuple(order)


def novelty_sum(t: Topic, k: int | None, alpha: Real, weight: Callable[[int], Real], rel: Real) -> Real:
    """Return Σ_i w_i Σ_t rel_i^t (1 − α)^(relevant to t before i)."""
    total = mp.mpf(0)
    for topic in by_intent(t, at_least(rel)):
        hits = binary(topic, rel)[0]
        total += mp.fsum(weight(i) * (1 - alpha) ** sum(hits[: i - 1]) for i, hit in ranked(hits, k) if hit)
    return total


def over_ideal(t: Topic, k: int | None, alpha: Real, weight: Callable[[int], Real], rel: Real) -> Real:
    best = replace(t, ranking=greedy(t, at_least(rel), alpha))
    return ratio(novelty_sum(t, k, alpha, weight, rel), novelty_sum(best, k, alpha, weight, rel))


def endless(stops: Real) -> int:
    """Return a number of ranks after which the rest is negligible, if a share of users stops at each."""
    return int(mp.ceil(40 / max(mp.mpf(stops), mp.mpf("0.001"))))


def log_discount(i: int) -> Real:
    return 1 / mp.log(i + 1, 2)


def alpha_dcg(t: Topic, k: int | None = None, alpha: Real = "0.5", norm: str = "none", rel: Real = 1) -> Real:
    alpha = mp.mpf(alpha)
    score = novelty_sum(t, k, alpha, log_discount, rel)
    if norm == "none":
        return score
    best = mp.fsum((1 - alpha) ** (i - 1) * log_discount(i) for i in range(1, (k or endless(alpha)) + 1))
    return ratio(score, len(by_intent(t, at_least(rel))) * best)


def alpha_ndcg(t: Topic, k: int | None = None, alpha: Real = "0.5", rel: Real = 1) -> Real:
    return over_ideal(t, k, mp.mpf(alpha), log_discount, rel)


def nrbp(t: Topic, k: int | None = None, alpha: Real = "0.5", beta: Real = "0.5", rel: Real = 1) -> Real:
    """Return NRBP: Clarke et al., ICTIR 2009."""
    alpha, beta = mp.mpf(alpha), mp.mpf(beta)
    total = novelty_sum(t, k, alpha, lambda i: beta ** (i - 1), rel)
    return ratio((1 - (1 - alpha) * beta) * total, len(by_intent(t, at_least(rel))))


def nnrbp(t: Topic, k: int | None = None, alpha: Real = "0.5", beta: Real = "0.5", rel: Real = 1) -> Real:
    return over_ideal(t, k, mp.mpf(alpha), lambda i: mp.mpf(beta) ** (i - 1), rel)


def strec(t: Topic, k: int | None = None, rel: Real = 1) -> Real:
    intents = by_intent(t, at_least(rel))
    return ratio(mp.fsum(success(topic, k, rel) for topic in intents), len(intents))


def stopping(t: Topic, gain: Any, rel: Real | None) -> Callable[[Real], Real]:
    return lambda grade: unit(gain, grade, t.top) if rel is None else mp.mpf(grade >= rel)


def erria(
    t: Topic,
    k: int | None = None,
    stop: Real = 1,
    norm: str = "none",
    gain: Any = "exp",
    rel: Real | None = None,
    most: Real = 1,
) -> Real:
    """Return ERR-IA: Chapelle et al. 2009, section 7.4.

    most  the gain of the best document, with norm=best
    """
    stop, stops = mp.mpf(stop), stopping(t, gain, rel)
    scores = [cascade_sum([stop * r for r in gains(topic, stops)[0]], k) for topic in by_intent(t, stops)]
    mean = ratio(mp.fsum(scores), len(scores))
    return mean if norm == "none" else mean / cascade_sum([stop * most] * (k or endless(stop)), k)


def nerria(t: Topic, k: int | None = None, stop: Real = 1, gain: Any = "exp", rel: Real | None = None) -> Real:
    best = replace(t, ranking=greedy(t, stopping(t, gain, rel), mp.mpf(stop)))
    return ratio(erria(t, k, stop, "none", gain, rel), erria(best, k, stop, "none", gain, rel))


# --- samples ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sampled:
    """A topic whose intents are the strata of its pool; documents with a grade below 0 are in the pool alone.

    stratum  docno -> stratum
    weight   stratum -> documents for each sampled one
    """

    topic: Topic
    stratum: dict[str, str]
    weight: dict[str, Real]

    @classmethod
    def of(cls, t: Topic) -> Sampled:
        stratum = {docno: name for name, grades in t.intents.items() for docno in grades}
        size = {name: (len(grades), sum(grade >= 0 for grade in grades.values())) for name, grades in t.intents.items()}
        return cls(t, stratum, {name: ratio(pooled, sampled) for name, (pooled, sampled) in size.items()})

    def is_sampled(self, docno: str) -> bool:
        return docno in self.topic.grades and self.topic.grades[docno] >= 0

    def relevant(self, docno: str) -> Real:
        """Return how many documents a relevant one stands for; 0 for others."""
        counts = docno in self.topic.grades and self.topic.grades[docno] >= 1
        return self.weight[self.stratum[docno]] if counts else mp.mpf(0)


def xinfap(t: Topic) -> Real:
    """Return extended inferred AP: Yilmaz, Kanoulas & Aslam 2008, with the ε of sample_eval.pl."""
    s, tiny, total = Sampled.of(t), mp.mpf("0.00001"), mp.mpf(0)
    for i, docno in ranked(t.ranking):
        expected = mp.mpf(1)
        for name in t.intents:
            above = [above_it for above_it in t.ranking[: i - 1] if s.stratum.get(above_it) == name]
            good, seen = sum(s.relevant(above_it) > 0 for above_it in above), sum(map(s.is_sampled, above))
            expected += len(above) * (good + tiny) / (seen + 3 * tiny)
        total += s.relevant(docno) / i * expected
    return ratio(total, mp.fsum(map(s.relevant, t.grades)))


def statap(t: Topic) -> Real:
    s = Sampled.of(t)
    total = mp.fsum(s.relevant(docno) / i * mp.fsum(map(s.relevant, t.ranking[:i])) for i, docno in ranked(t.ranking))
    return ratio(total, mp.fsum(map(s.relevant, t.grades)))


def infndcg(t: Topic, k: int | None = None) -> Real:
    """Return inferred nDCG: Yilmaz, Kanoulas & Aslam 2008, with the rounding of sample_eval.pl."""
    s, total = Sampled.of(t), mp.mpf(0)
    for name in t.intents:
        sampled = [(i, docno) for i, docno in ranked(t.ranking, k) if s.stratum.get(docno) == name]
        gained = mp.fsum(max(t.grades[docno], mp.mpf(0)) * log_discount(i) for i, docno in sampled)
        total += ratio(len(sampled) * gained, sum(s.is_sampled(docno) for _, docno in sampled))
    ideal: list[Real] = []
    for level in sorted({grade for grade in t.grades.values() if grade > 0}, reverse=True):
        estimated = mp.fsum(s.weight[s.stratum[docno]] for docno, grade in t.grades.items() if grade == level)
        ideal += [level] * int(mp.floor(estimated + mp.mpf("0.5")))
    return ratio(total, dcg_sum(ideal, k))
