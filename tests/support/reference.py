"""Every measure once more, in slow loops straight from the papers' formulas: what the package is compared with.

A ranking holds the grade at each rank from 1 on, None where the document is unjudged; a pool holds the grades of all
judged documents of the topic. Nothing here looks at the package: a measure is asked for its name, its parameters and
its cutoff, no more.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

Grade = float | None
Ranking = Sequence[Grade]
Parameters = dict[str, Any]


@dataclass(frozen=True)
class Scale:
    """The distinct labels of a qrels file, its top grade, and the top gain where it is not that of the scheme."""

    labels: tuple[float, ...]
    top: float
    max_gain: float | None = None


BINARY = (
    *("ap", "sp", "p", "rr", "recall", "rprec", "success", "bpref", "num_rel", "num_rel_ret"),
    *("iprec", "iprec_avg", "rprec_mult", "relative_p", "gm_ap", "gm_bpref", "infap", "yaap", "bing", "rbp_resid"),
    *("set_p", "set_relative_p", "set_recall", "set_map", "set_f", "utility", "num_nonrel_judged_ret"),
    *("alpha_ndcg", "alpha_dcg", "nrbp", "nnrbp", "strec", "esl", "xinfap", "statap", "accuracy", "f1", "hits"),
)
UNIT = {"err": "exp", "nerr": "exp", "cascade": "exp", "rbp": "linear", "erria": "exp", "nerria": "exp"}
UNIT |= dict.fromkeys(("uniform", "zipf", "poisson", "logharmonic"), "linear")
RAW = dict.fromkeys(("ndcg", "dcg", "q", "g", "ndcg_rel", "rndcg", "rbp_topic", "compat"), "linear")
SHARES = ("gap", "gprecision", "grecall")
BLIND = ("judged", "unjudged", "num_q", "num_ret")


def worth(name: str, given: Parameters, grade: float, scale: Scale) -> float:
    """What a document of this grade is worth to the measure; below 0 it is worth nothing."""
    if name in BLIND:
        return 0.0
    if name in BINARY or "rel" in given:
        return 1.0 if grade >= given.get("rel", 1) else 0.0
    if grade < 0:
        return 0.0
    if name in SHARES and "gain" not in given:
        return share_of_users(given.get("g"), grade, scale)
    if name in SHARES:  # the g_j are chances of exclusive events: they sum to 1
        return scheme(given["gain"], grade) / scheme(given["gain"], scale.top)
    if name in RAW:
        return scheme(given.get("gain", RAW[name]), grade)
    return unit_scheme(given.get("gain", UNIT[name]), grade, scale.top)


def top_gain(name: str, given: Parameters, scale: Scale) -> float:
    """The largest gain that the scheme knows."""
    if scale.max_gain is not None and name in UNIT and "rel" not in given:
        return scale.max_gain
    if name not in SHARES and isinstance(given.get("gain"), tuple):
        return max(given["gain"])
    if name in BINARY or "rel" in given:
        return 1.0
    return worth(name, given, scale.top, scale)


def scheme(gain: Any, grade: float) -> float:
    if isinstance(gain, tuple):
        return gain[int(grade)]
    if "=" in gain:  # those of some grades, where the others stay
        named = dict(pair.split("=") for pair in gain.split(","))
        return float(named.get(f"{grade:g}", grade))
    return 2.0**grade - 1 if gain == "exp" else grade


def unit_scheme(gain: Any, grade: float, top: float) -> float:
    if isinstance(gain, tuple):
        return gain[int(grade)]
    return {"exp": (2.0**grade - 1) / 2.0**top, "linear": grade / top, "ntcir": grade / (top + 1), "grade": grade}[gain]


def thresholds(scale: Scale) -> list[float]:
    """The grades at which a user may set the threshold: 1..top, or the labels where those have fractions."""
    positive = sorted({label for label in scale.labels if label > 0})
    whole = all(label == int(label) for label in [*positive, scale.top])
    return [float(j) for j in range(1, int(scale.top) + 1)] if whole else sorted({*positive, scale.top})


def share_of_users(g: tuple[float, ...] | None, grade: float, scale: Scale) -> float:
    """Σ_{j≤grade} g_j: Robertson et al., section 2.1."""
    levels = thresholds(scale)
    weights = [1.0] * len(levels) if g is None else list(g)
    return sum(weight for level, weight in zip(levels, weights, strict=True) if level <= grade) / sum(weights)


Gains = list[float | None]


def filled(ranking: Gains) -> list[float]:
    """The unjudged are worth nothing."""
    return [0.0 if gain is None else gain for gain in ranking]


def ratio(part: float, whole: float) -> float:
    return 0.0 if part == 0 else math.inf if whole == 0 else part / whole


def relevant(pool: list[float]) -> int:
    return sum(1 for gain in pool if gain > 0)


def ideal(pool: list[float]) -> list[float]:
    return sorted(pool, reverse=True)


def err(ranking: Gains, pool: list[float], k: int | None) -> float:
    """Chapelle et al., algorithm 2."""
    p, score = 1.0, 0.0
    for r, satisfied in enumerate(filled(ranking[:k]), 1):
        score += p * satisfied / r
        p *= 1 - satisfied
    return score


def nerr(ranking: Gains, pool: list[float], k: int | None) -> float:
    return ratio(err(ranking, pool, k), err(list(ideal(pool)), pool, k))


def cascade(ranking: Gains, pool: list[float], k: int | None, utility: str = "rr", gamma: float = 1.0) -> float:
    """Chapelle et al., definition 1 with the chance of stopping of section 7.2."""
    utilities: dict[str, Callable[[int], float]] = {
        "rr": lambda rank: 1 / rank,
        "dcg": lambda rank: 1 / math.log2(rank + 1),
        "one": lambda rank: 1.0,
    }
    score, nobody_before = 0.0, 1.0
    for r, satisfied in enumerate(filled(ranking[:k]), 1):
        score += utilities[utility](r) * gamma ** (r - 1) * nobody_before * satisfied
        nobody_before *= 1 - satisfied
    return score


def dcg(ranking: Gains, pool: list[float], k: int | None, log: float | None = None) -> float:
    """Chapelle et al., eq. 1; with a base b, Zhang et al., section 2.2: undiscounted down to rank b."""
    score = 0.0
    for i, gain in enumerate(filled(ranking[:k]), 1):
        if log is None:
            score += gain / math.log2(i + 1)
        else:
            score += gain if i <= log else gain / math.log(i, log)
    return score


def ndcg(ranking: Gains, pool: list[float], k: int | None, log: float | None = None) -> float:
    return ratio(dcg(ranking, pool, k, log), dcg(list(ideal(pool)), pool, k, log))


def to_be_found(pool: list[float], k: int | None, norm: str | None) -> int:
    """R; with norm=k at most k, as NTCIREVAL divides AP@k and Q@k."""
    return min(relevant(pool), k) if norm == "k" and k is not None else relevant(pool)


def q(ranking: Gains, pool: list[float], k: int | None, beta: float = 1.0, norm: str | None = None) -> float:
    """Sakai; binary in Zhang et al., section 2.1."""
    gains, best = filled(ranking[:k]), ideal(pool)
    score = 0.0
    for i in range(1, len(gains) + 1):
        if gains[i - 1] > 0:
            found = sum(1 for gain in gains[:i] if gain > 0)
            score += (found + beta * sum(gains[:i])) / (i + beta * sum(best[:i]))
    return ratio(score, to_be_found(pool, k, norm))


def rbp(ranking: Gains, pool: list[float], k: int | None, p: float = 0.8) -> float:
    """Moffat and Zobel; Zhang et al., section 2.2."""
    score, viewed = 0.0, 1.0
    for gain in filled(ranking[:k]):
        score += (1 - p) * gain * viewed
        viewed *= p
    return score


def weighted(ranking: Gains, k: int | None, weights: Callable[[int], float]) -> float:
    """Zhang et al., eq. 1."""
    return sum(weights(i) * gain for i, gain in enumerate(filled(ranking[:k]), 1))


def uniform(ranking: Gains, pool: list[float], k: int) -> float:
    return weighted(ranking, k, lambda i: 1 / k)


def zipf(ranking: Gains, pool: list[float], k: int | None, beta: float = 1.0) -> float:
    """Zhang et al., section 3.2.2. Without end: a hundred thousand terms, and the integral of the others."""
    whole = math.fsum(i**-beta for i in range(1, k + 1)) if k else endless_powers(beta)
    return weighted(ranking, k, lambda i: i**-beta / whole)


@cache
def endless_powers(beta: float, after: int = 0) -> float:
    far = 100_000
    return math.fsum(i**-beta for i in range(after + 1, far + 1)) + (far + 0.5) ** (1 - beta) / (beta - 1)


def after_zipf(n: int, beta: float) -> float:
    """The weight of all ranks after n."""
    return endless_powers(beta, n) / endless_powers(beta)


def poisson(ranking: Gains, pool: list[float], k: int | None, alpha: float = 1.0) -> float:
    return weighted(ranking, k, lambda i: math.exp((i - 1) * math.log(alpha) - alpha - math.lgamma(i)))


def logharmonic(ranking: Gains, pool: list[float], k: int, b: float = 2) -> float:
    """Zhang et al., eq. 2."""
    own = [1.0 if i <= b else 1 / math.log(i, b) for i in range(1, k + 1)]
    return weighted(ranking, k, lambda i: own[i - 1] / sum(own))


def sp(ranking: Gains, pool: list[float], k: int | None) -> float:
    """Zhang et al., section 2.2."""
    gains = filled(ranking[:k])
    return sum(sum(gains[:i]) / i for i in range(1, len(gains) + 1) if gains[i - 1] > 0)


def ap(ranking: Gains, pool: list[float], k: int | None, norm: str | None = None) -> float:
    """Zhang et al., section 2.1."""
    return ratio(sp(ranking, pool, k), to_be_found(pool, k, norm))


def gap(ranking: Gains, pool: list[float], k: int | None, g: Any = None, norm: str | None = None) -> float:
    """Robertson et al., section 2.2: a gain is Σ_{j≤i} g_j, so that δ_{m,n} is the smaller of two gains. With norm=k
    each threshold divides by min(R_j, k), R_j the documents that reach it."""
    gains = filled(ranking[:k])
    score = 0.0
    for n in range(1, len(gains) + 1):
        score += sum(min(gains[m - 1], gains[n - 1]) for m in range(1, n + 1)) / n
    if norm is None or k is None:
        return ratio(score, sum(pool))
    levels, whole = [0.0, *sorted({gain for gain in pool if gain > 0})], 0.0
    for lower, level in itertools.pairwise(levels):
        whole += (level - lower) * min(k, sum(1 for gain in pool if gain >= level))
    return ratio(score, whole)


def grecall(ranking: Gains, pool: list[float], k: int | None, g: Any = None) -> float:
    """Robertson et al., section 3.2."""
    return ratio(sum(filled(ranking[:k])), sum(pool))


def p(ranking: Gains, pool: list[float], k: int) -> float:
    return sum(filled(ranking[:k])) / k


def gprecision(ranking: Gains, pool: list[float], k: int, g: Any = None) -> float:
    return sum(filled(ranking[:k])) / k


def rr(ranking: Gains, pool: list[float], k: int | None) -> float:
    for i, gain in enumerate(filled(ranking[:k]), 1):
        if gain > 0:
            return 1 / i
    return 0.0


def success(ranking: Gains, pool: list[float], k: int | None) -> float:
    return 1.0 if any(gain > 0 for gain in filled(ranking[:k])) else 0.0


def recall(ranking: Gains, pool: list[float], k: int | None, norm: str | None = None) -> float:
    return ratio(sum(filled(ranking[:k])), relevant(pool) if norm is None or k is None else min(relevant(pool), k))


def rprec(ranking: Gains, pool: list[float], k: int | None) -> float:
    return ratio(sum(filled(ranking[: relevant(pool)])), relevant(pool))


def bpref(ranking: Gains, pool: list[float], k: int | None, constant: float = 0) -> float:
    """Zhang et al., section 2.1: the unjudged are removed first; N is how many are known to be irrelevant."""
    stripped = [gain for gain in ranking[:k] if gain is not None]
    R = relevant(pool)
    N = len(pool) - R
    score = 0.0
    for i in range(1, len(stripped) + 1):
        if stripped[i - 1] > 0:
            irrelevant = i - sum(stripped[:i])
            score += 1 - (min(constant + R, irrelevant) / min(constant + R, N) if irrelevant else 0)
    return ratio(score, R)


def judged(ranking: Gains, pool: list[float], k: int | None) -> float:
    return ratio(sum(1 for gain in ranking[:k] if gain is not None), len(ranking[:k]))


def unjudged(ranking: Gains, pool: list[float], k: int | None) -> float:
    return ratio(sum(1 for gain in ranking[:k] if gain is None), k or len(ranking))


def iprec(ranking: Gains, pool: list[float], k: int | None, recall: float = 0.0, add: float = 0.5) -> float:
    """The best precision at a rank down to which enough is found."""
    gains, wanted = filled(ranking[:k]), int(recall * relevant(pool) + add)
    best = max((sum(gains[:i]) / i for i in range(1, len(gains) + 1) if sum(gains[:i]) >= wanted), default=0.0)
    return ratio(best, min(relevant(pool), 1))


ELEVEN = tuple(step / 10 for step in range(11))


def iprec_avg(ranking: Gains, pool: list[float], k: int | None, recall: Any = ELEVEN, add: float = 0.5) -> float:
    levels = recall if isinstance(recall, tuple) else (recall,)
    return sum(iprec(ranking, pool, k, level, add) for level in levels) / len(levels)


def rprec_mult(ranking: Gains, pool: list[float], k: int | None, times: float = 1.0) -> float:
    depth = int(times * relevant(pool) + 0.9) if relevant(pool) else 0
    return sum(filled(ranking[:depth])) / depth if depth else 0.0


def relative_p(ranking: Gains, pool: list[float], k: int) -> float:
    return ratio(sum(filled(ranking[:k])), min(k, relevant(pool)))


def infap(ranking: Gains, pool: list[float], k: int | None) -> float:
    """Yilmaz and Aslam: the expected precision at each relevant document."""
    gains, score = ranking[:k], 0.0
    for i, gain in enumerate(gains, 1):
        if gain:
            above = [other for other in gains[: i - 1] if other is not None]
            chance = (sum(above) + 0.00001) / (len(above) + 0.00002)
            score += 1 / i + (i - 1) / i * (len(above) / (i - 1) if i > 1 else 0) * chance
    return ratio(score, relevant(pool))


def yaap(ranking: Gains, pool: list[float], k: int | None) -> float:
    """Robertson's log odds of (1 + S) / (2 + R)."""
    if not relevant(pool):
        return 0.0
    chance = (1 + sp(ranking, pool, k)) / (2 + relevant(pool))
    return math.log(chance / (1 - chance))


def bing(ranking: Gains, pool: list[float], k: int | None) -> float:
    score, others = 0.0, 0
    for gain in filled(ranking):
        score += gain / math.log2(2 + others)
        others += gain == 0
    return ratio(score, relevant(pool))


def g(ranking: Gains, pool: list[float], k: int | None) -> float:
    """How far the gain so far lags behind the ideal's, which goes on by 1 after its last document."""
    best = [gain for gain in ideal(pool) if gain > 0]
    score = gained = ahead = 0.0
    for i, gain in enumerate(filled(ranking)):
        gained += gain
        ahead += best[i] if i < len(best) else 1
        score += gain / math.log2(2 + ahead - gained) if gain > 0 else 0
    return ratio(score, sum(best))


def ndcg_rel(ranking: Gains, pool: list[float], k: int | None) -> float:
    gains = filled(ranking)
    found = [i for i, gain in enumerate(gains, 1) if gain > 0]
    lost = relevant(pool) - len(found)
    return ratio(sum(ndcg(ranking, pool, i) for i in found) + lost * ndcg(ranking, pool, None), relevant(pool))


def rndcg(ranking: Gains, pool: list[float], k: int | None) -> float:
    levels = {gain for gain in pool if gain > 0}
    points = [ndcg(ranking, pool, sum(1 for gain in pool if gain >= level)) for level in levels]
    points += [ndcg(ranking, pool, None)] if len(ranking) >= relevant(pool) + 2 else []
    return ratio(sum(points), len(points))


def rbp_topic(ranking: Gains, pool: list[float], k: int | None, p: float = 0.9) -> float:
    return ratio(rbp(ranking, pool, k, p), max([0.0, *pool]))


def rbp_resid(ranking: Gains, pool: list[float], k: int | None, p: float = 0.9) -> float:
    """What the rbp of a ranking with everything unknown relevant has more, down to the cutoff or to rank FOREVER."""
    if not ranking:
        return 0.0
    best = [1.0 if gain is None else gain for gain in ranking] + [1.0] * ((k or FOREVER) - len(ranking))
    return rbp(list(best), pool, k, p) - rbp(ranking, pool, k, p)


def set_p(ranking: Gains, pool: list[float], k: int | None) -> float:
    return ratio(sum(filled(ranking[:k])), len(ranking[:k]))


def set_relative_p(ranking: Gains, pool: list[float], k: int | None) -> float:
    return ratio(sum(filled(ranking[:k])), min(len(ranking[:k]), relevant(pool)))


def set_recall(ranking: Gains, pool: list[float], k: int | None) -> float:
    return recall(ranking, pool, k)


def set_map(ranking: Gains, pool: list[float], k: int | None) -> float:
    return set_p(ranking, pool, k) * recall(ranking, pool, k)


def set_f(ranking: Gains, pool: list[float], k: int | None, x: float = 1.0) -> float:
    precision, found = set_p(ranking, pool, k), min(recall(ranking, pool, k), 1.0)
    return ratio((x + 1) * precision * found, found + x * precision)


def utility(ranking: Gains, pool: list[float], k: int | None, **worth: float) -> float:
    hits, retrieved, known = sum(filled(ranking[:k])), len(ranking[:k]), relevant(pool)
    worth = {"a": 1, "b": -1, "c": 0, "d": 0, "docs": 0, **worth}
    score = worth["a"] * hits + worth["b"] * (retrieved - hits) + worth["c"] * (known - hits)
    return score + worth["d"] * (worth["docs"] - (retrieved + known - hits))


def num_nonrel_judged_ret(ranking: Gains, pool: list[float], k: int | None) -> float:
    return float(sum(1 for gain in ranking[:k] if gain == 0))


def gm_ap(ranking: Gains, pool: list[float], k: int | None) -> float:
    return ap(ranking, pool, k)


def gm_bpref(ranking: Gains, pool: list[float], k: int | None) -> float:
    return bpref(ranking, pool, k)


def num_q(ranking: Gains, pool: list[float], k: int | None) -> float:
    return 1.0


def num_ret(ranking: Gains, pool: list[float], k: int | None) -> float:
    return float(len(ranking[:k]))


def num_rel(ranking: Gains, pool: list[float], k: int | None) -> float:
    return float(relevant(pool))


def num_rel_ret(ranking: Gains, pool: list[float], k: int | None) -> float:
    return sum(filled(ranking[:k]))


# With one intent a topic; the tests of intents have the loops over several.


def erria(
    ranking: Gains, pool: list[float], k: int | None, stop: float = 1.0, norm: str = "none", top: float = 1.0
) -> float:
    """Chapelle et al., eq. 6, where a document of gain r stops a user with the chance stop · r."""
    score = err([None if gain is None else stop * gain for gain in ranking], pool, k)
    return score if norm == "none" else ratio(score, err([stop * top] * (k or FOREVER), pool, k))


def nerria(ranking: Gains, pool: list[float], k: int | None, stop: float = 1.0) -> float:
    return ratio(erria(ranking, pool, k, stop), erria(list(ideal(pool)), pool, k, stop))


def novelties(ranking: Gains, alpha: float) -> list[float]:
    """What each document adds: (1 − α) for every relevant one before it."""
    gains = filled(ranking)
    return [gain * (1 - alpha) ** sum(gains[:i]) for i, gain in enumerate(gains)]


def alpha_dcg(ranking: Gains, pool: list[float], k: int | None, alpha: float = 0.5, norm: str = "none") -> float:
    """Clarke et al., SIGIR 2008."""
    score = dcg(list(novelties(ranking, alpha)), pool, k)
    return score if norm == "none" else ratio(score, dcg(list(novelties([1.0] * (k or FOREVER), alpha)), pool, k))


def alpha_ndcg(ranking: Gains, pool: list[float], k: int | None, alpha: float = 0.5) -> float:
    return ratio(alpha_dcg(ranking, pool, k, alpha), alpha_dcg(list(ideal(pool)), pool, k, alpha))


def nrbp(ranking: Gains, pool: list[float], k: int | None, alpha: float = 0.5, beta: float = 0.5) -> float:
    """Clarke et al., ICTIR 2009."""
    added = novelties(ranking, alpha)[:k]
    return (1 - (1 - alpha) * beta) * sum(gain * beta**i for i, gain in enumerate(added))


def nnrbp(ranking: Gains, pool: list[float], k: int | None, alpha: float = 0.5, beta: float = 0.5) -> float:
    return ratio(nrbp(ranking, pool, k, alpha, beta), nrbp(list(ideal(pool)), pool, k, alpha, beta))


def strec(ranking: Gains, pool: list[float], k: int | None) -> float:
    return success(ranking, pool, k)


FUNCTIONS: dict[str, Callable[..., float]] = {
    function.__name__: function
    for function in (
        *(err, nerr, cascade, ndcg, dcg, q, rbp, ap, gap, sp, p, rr, recall, rprec, success, bpref),
        *(gprecision, grecall),
        *(uniform, zipf, poisson, logharmonic),
        *(judged, unjudged, num_q, num_ret, num_rel, num_rel_ret, num_nonrel_judged_ret),
        *(iprec, iprec_avg, rprec_mult, relative_p, infap, yaap, bing, g, ndcg_rel, rndcg, rbp_topic, rbp_resid),
        *(set_p, set_relative_p, set_recall, set_map, set_f, utility, gm_ap, gm_bpref),
        *(erria, nerria, alpha_dcg, alpha_ndcg, nrbp, nnrbp, strec),
    )
}

# Which ranks a later judgment could still fill, and the highest score there is.
ENDLESS = {
    "uniform": 1,
    "zipf": 1,
    "poisson": 1,
    "logharmonic": 1,
    "err": 1,
    "cascade": math.inf,
    "rbp": 1,
    "p": 1,
    "gprecision": 1,
    "rr": 1,
    "success": 1,
}
ENDLESS |= {"erria": 1, "nrbp": 1, "strec": 1}
RETRIEVED = {
    **dict.fromkeys(("iprec", "iprec_avg", "relative_p", "gm_ap"), 1),
    **dict.fromkeys(("set_p", "set_relative_p", "set_recall", "set_map", "set_f"), 1),
    "nerr": 1,
    "ndcg": 1,
    "q": 1,
    "ap": 1,
    "gap": 1,
    "recall": 1,
    "grecall": 1,
    "dcg": math.inf,
    "sp": math.inf,
    "alpha_dcg": math.inf,
}
FOREVER = 1000


def score(measure: Any, ranking: Ranking, pool: Sequence[float], scale: Scale) -> float:
    """The score of one topic."""
    return _run(measure, _gains(measure, ranking, scale), pool, scale)


def best_cases(measure: Any, ranking: Ranking, pool: Sequence[float], scale: Scale) -> tuple[float, float] | None:
    """The scores with every unjudged document at the top gain, and with every rank after the last one as well.

    None for a measure without residual. Without a cutoff a thousand ranks stand for the endless rest.
    """
    if measure.name not in ENDLESS and measure.name not in RETRIEVED:
        return None
    top = top_gain(measure.name, dict(measure.parameters), scale)
    inside = [top if gain is None else gain for gain in _gains(measure, ranking, scale)]
    ceiling = {**ENDLESS, **RETRIEVED}[measure.name]
    first = min(_run(measure, inside, pool, scale), ceiling)
    if measure.name in RETRIEVED:
        return first, first
    both = _run(measure, inside + [top] * (measure.cutoff or FOREVER), pool, scale)
    if measure.name == "zipf" and measure.cutoff is None:
        both += top * after_zipf(len(inside) + FOREVER, dict(measure.parameters)["beta"])
    return first, min(both, ceiling)


def _gains(measure: Any, ranking: Ranking, scale: Scale) -> Gains:
    given = dict(measure.parameters)
    return [None if grade is None else worth(measure.name, given, grade, scale) for grade in ranking]


def _run(measure: Any, gains: Gains, pool: Sequence[float], scale: Scale) -> float:
    given = dict(measure.parameters)
    own = {key: value for key, value in given.items() if key not in ("gain", "rel")}
    if measure.name == "bpref" and "k" in own:
        own["constant"] = own.pop("k")
    if measure.name == "erria" and "norm" in own:
        own["top"] = top_gain(measure.name, given, scale)
    return FUNCTIONS[measure.name](
        gains, [worth(measure.name, given, grade, scale) for grade in pool], measure.cutoff, **own
    )
