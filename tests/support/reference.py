"""Every measure in random cases: the program of `conformance_measures.py`, in doubles, and its best cases.

A ranking holds the grade at each rank from 1 on, None where the document is unjudged; a pool holds the grades of all
judged documents of the topic. Nothing here looks at the package: a measure is asked for its name, its parameters and
its cutoff, no more.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from support import conformance_measures as definitions
from support.conformance_measures import Topic, in_doubles, thresholds

Grade = float | None
Ranking = Sequence[Grade]
Parameters = dict[str, Any]


@dataclass(frozen=True)
class Scale:
    """The distinct labels of a qrels file, its top grade, and the top gain if it is not that of the scheme."""

    labels: tuple[float, ...]
    top: float
    max_gain: float | None = None

    @property
    def thresholds(self) -> list[float]:
        return thresholds(self.positive, self.top)

    @property
    def positive(self) -> tuple[float, ...]:
        return tuple(sorted(label for label in self.labels if label > 0))

    def topic(self, ranking: Ranking = (), pool: Sequence[float] = (), filled: float | None = None) -> Topic:
        """Return a topic of one intent; `filled` is the gain of each document of the ranking without a grade."""
        names = [f"r{index}" for index in range(len(ranking))]
        grades = {name: grade for name, grade in zip(names, ranking, strict=True) if grade is not None}
        missed = Counter(map(float, pool)) - Counter(map(float, grades.values()))
        judged = grades | {f"m{index}": grade for index, grade in enumerate(missed.elements())}
        open_ones = {} if filled is None else dict.fromkeys((name for name in names if name not in grades), filled)
        return Topic(tuple(names), judged, self.top, self.positive, {"0": judged}, filled=open_ones)


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


NAMES = {*BINARY, *UNIT, *RAW, *SHARES, *BLIND} - {*("esl", "xinfap", "statap", "accuracy", "f1", "hits", "compat")}
"""The compared measures, besides C/W/L."""


def worth(name: str, parameters: Parameters, grade: float, scale: Scale) -> float:
    """Return the gain of a grade for the measure; below 0 it counts nothing."""
    if name in BLIND:
        return 0.0
    if name in BINARY or "rel" in parameters:
        return 1.0 if grade >= parameters.get("rel", 1) else 0.0
    if grade < 0:
        return 0.0
    with in_doubles():
        if name in SHARES:  # the g_j are chances of exclusive events: they sum to 1
            return float(definitions.share(grade, scale.topic(), parameters.get("g"), parameters.get("gain")))
        if name in RAW:
            return float(definitions.raw(parameters.get("gain", RAW[name]), grade))
        return unit_scheme(parameters.get("gain", UNIT[name]), grade, scale.top)


def top_gain(name: str, parameters: Parameters, scale: Scale) -> float:
    """Return the largest gain that the scheme knows."""
    if scale.max_gain is not None and name in UNIT and "rel" not in parameters:
        return scale.max_gain
    if name not in SHARES and isinstance(parameters.get("gain"), tuple):
        return max(parameters["gain"])
    if name in BINARY or "rel" in parameters:
        return 1.0
    return worth(name, parameters, scale.top, scale)


def scheme(gain: Any, grade: float) -> float:
    return float(definitions.raw(gain, grade))


def unit_scheme(gain: Any, grade: float, top: float) -> float:
    return float(definitions.unit(gain, grade, top))


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
    """Return the score of one topic."""
    return _run(measure, scale.topic(ranking, pool), scale)


def best_cases(measure: Any, ranking: Ranking, pool: Sequence[float], scale: Scale) -> tuple[float, float] | None:
    """Return the scores with every unjudged document at the top gain, and with every rank after the last one as well.

    None for a measure without residual. Without a cutoff a thousand ranks stand for the endless rest.
    """
    if measure.name not in ENDLESS and measure.name not in RETRIEVED:
        return None
    parameters = dict(measure.parameters)
    top = top_gain(measure.name, parameters, scale)
    ceiling = {**ENDLESS, **RETRIEVED}[measure.name]
    first = min(_run(measure, scale.topic(ranking, pool, top), scale), ceiling)
    if measure.name in RETRIEVED:
        return first, first
    longer = [*ranking, *[None] * (measure.cutoff or FOREVER)]
    both = _run(measure, scale.topic(longer, pool, top), scale)
    if measure.name == "zipf" and measure.cutoff is None:
        with in_doubles():
            remaining = [definitions.mp.zeta(parameters.get("beta", 1), after) for after in (len(longer) + 1, 1)]
        both += top * remaining[0] / remaining[1]
    return first, min(both, ceiling)


def _run(measure: Any, topic: Topic, scale: Scale) -> float:
    parameters = dict(measure.parameters)
    if measure.name == "erria":
        parameters["most"] = top_gain(measure.name, parameters, scale)
    with in_doubles():
        return float(definitions.definition(measure.name, parameters, measure.cutoff)(topic))
