"""The lowest and the highest score that judging the unjudged documents of a run can lead to, of any measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Literal

import numpy as np

from gradedeval.arrays import Floats, distinct, shared
from gradedeval.errors import InputError
from gradedeval.measures.applied import gain_table
from gradedeval.measures.bounds.counted import fewest, fewest_and_most
from gradedeval.measures.definition import Measure
from gradedeval.measures.gain_schemes import Grades, thresholds
from gradedeval.measures.gains import Gains
from gradedeval.measures.properties import Bounds, Rule

Kept = Literal["exact", "safe", "none"]
MOST_GRADES = 20_000
"""So many grades of a scale are looked at: with more, the bounds that depend on them are safe by themselves."""


def kept(measure: Measure, *, over_ties: bool = False) -> Kept:
    """Whether scores by a measure, or their means over the orders of tied documents, can come as low and as high as
    their bounds, or only never leave them; or have none."""
    rule = measure.bounds
    if rule == "none" or (over_ties and isinstance(rule, Bounds) and not rule.over_ties):
        return "none"
    exact = rule.exact if isinstance(rule, Bounds) else rule != "intents"
    reached = measure.rel is not None if exact == "binary" else exact
    return "exact" if reached and measure.prior is None else "safe"


def falls(measure: Measure) -> bool:
    """Whether a score may fall, and so depends on relevant documents that were not retrieved."""
    return measure.bounds not in ("rises", "none") or (measure.prior is not None and measure.bounds == "rises")


def depends_on_scale(measure: Measure) -> bool:
    """Whether its bounds depend on the grades that there are, beside the lowest and the top one: by the thresholds of
    users, or by the gains between."""
    rule = measure.bounds
    return (
        isinstance(rule, Bounds) and measure.rel is None and (rule.of_scale or measure.definition.scale == "thresholds")
    )


def bounds_of(
    measure: Measure,
    score: Floats,
    grades: Grades,
    plain: Gains,
    best: Callable[[], Gains],
    highest: Callable[[], Floats],
) -> Floats:
    """2 × topics: the lowest and the highest score; nan where it is not known.

    Over all judgments of the documents retrieved that nobody judged, those below the cutoff included: each has any
    grade, or stays unjudged. `Gains.unseen` more may be relevant and are not retrieved. For measures that go on past
    the end of the run the highest is that of any ranks there.

    score    topics: as it is
    grades   those of the qrels
    plain    the gains as they are judged; of all ranks where scores are means over the orders of tied documents
    best     those where every unjudged document has the top gain
    highest  topics: score + residual
    """
    rule = measure.bounds
    if plain.first is not None:
        if kept(measure, over_ties=True) == "none":
            return np.full((2, len(score)), np.nan)
        plain = _one_by_one(measure, plain)
    if isinstance(rule, Bounds) and rule.of_scale:
        plain = _of_scale(plain, _worth(measure, grades))
    if measure.prior is not None or rule == "intents":
        return np.array([_lowest_by_intent(measure, rule, score, plain), np.maximum(highest(), score)])
    if rule == "rises":
        return np.array([score, np.maximum(highest(), score)])
    if rule == "counts":
        low, high = fewest_and_most(measure, plain, best)
    else:
        low, high = _by_function(measure, plain)
    # Where nothing is unknown, the last bits of sums in another order are not a difference.
    return np.array([np.minimum(low, score), np.clip(high, score, measure.definition.ceiling)])


def _by_function(measure: Measure, g: Gains) -> tuple[Floats, Floats]:
    """topics, topics: what the function of its `Bounds` returns."""
    rule = measure.bounds
    assert isinstance(rule, Bounds)
    function = rule.function
    if isinstance(function, str):
        module, _, name = function.partition(".")
        function = getattr(import_module(f"gradedeval.measures.bounds.{module}"), name)
    low, high = function(g, **{**measure.definition.parameters, **measure.arguments})
    return low, high


def _one_by_one(measure: Measure, g: Gains) -> Gains:
    """The tied documents each with its own gain, and the cutoff that these go on below."""
    assert g.uncut is not None
    return replace(g, gain=g.uncut, k=measure.cutoff)


@lru_cache(maxsize=64)
def _worth(measure: Measure, grades: Grades) -> Floats:
    """What each grade that a document may turn out to have is worth; where the measure refuses some, of the others."""

    def worth(labels: Sequence[float]) -> Floats:
        return gain_table(measure, replace(grades, labels=np.array(labels, dtype=np.float64))).worth

    labels = [0, *thresholds(grades)[:MOST_GRADES]]
    try:
        return shared(worth(labels))
    except InputError:
        found = [np.zeros(0)]
        for label in labels:
            with suppress(InputError):
                found.append(worth([label]))
        return shared(np.concatenate(found))


def _of_scale(g: Gains, worth: Floats) -> Gains:
    """With the levels of grades that occur nowhere."""
    levels, intents = distinct(np.append(g.levels, worth[(worth > 0) & (worth < g.levels[-1])]))[0], g.intents
    if intents is None and len(levels) == len(g.levels):
        return g
    if intents is not None:
        intents = replace(intents, each=[replace(each, levels=levels) for each in intents.each])
    return replace(g, levels=levels, intents=intents)


def _lowest_by_intent(measure: Measure, rule: Rule, score: Floats, g: Gains) -> Floats:
    """topics: a score that is never fallen short of: each intent is at its own lowest, and the intents without a
    relevant document may turn out to have one, which counts nothing."""
    intents = g.intents
    assert intents is not None
    if measure.prior is not None and rule != "rises":
        own = replace(measure, prior=None)
        each = intents.each if g.first is None else [_one_by_one(own, intent) for intent in intents.each]
        lows = [fewest(own, intent) if rule == "counts" else _by_function(own, intent)[0] for intent in each]
        score = np.minimum(intents.marginal(lows), score)
    return score * intents.share_left(g.unknown.any(1) | (g.hidden > 0))
