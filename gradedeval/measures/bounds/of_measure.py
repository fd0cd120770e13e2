"""The lowest and the highest score that judging the unjudged documents of a run can lead to, of any measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Literal

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.applied import run_measure
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Gains, row_sums
from gradedeval.measures.properties import Bounds, Rule

Kept = Literal["exact", "safe", "none"]


def kept(measure: Measure) -> Kept:
    """Whether scores by a measure can come as low and as high as their bounds, or only never leave them; or have
    none."""
    rule = measure.bounds
    if rule == "none":
        return "none"
    exact = rule.exact if isinstance(rule, Bounds) else rule != "intents"
    reached = measure.rel is not None if exact == "binary" else exact
    return "exact" if reached and measure.prior is None else "safe"


def falls(measure: Measure) -> bool:
    """Whether a score may fall, and so depends on relevant documents that were not retrieved."""
    return measure.bounds not in ("rises", "none") or (measure.prior is not None and measure.bounds == "rises")


def bounds_of(
    measure: Measure, score: Floats, plain: Gains, best: Callable[[], Gains], highest: Callable[[], Floats]
) -> Floats:
    """2 × topics: the lowest and the highest score; nan where it is not known.

    Over all judgments of the documents retrieved that nobody judged, those below the cutoff included: each has any
    grade, or stays unjudged. `Gains.unseen` more may be relevant and are not retrieved. For measures that go on past
    the end of the run the highest is that of any ranks there.

    score    topics: as it is
    plain    the gains as they are judged
    best     those where every unjudged document has the top gain
    highest  topics: score + residual
    """
    rule = measure.bounds
    if measure.prior is not None or rule == "intents":
        return np.array([_lowest_by_intent(measure, rule, score, plain), np.maximum(highest(), score)])
    if rule == "rises":
        return np.array([score, np.maximum(highest(), score)])
    if plain.first is not None:  # of means over orders it is known only where no judgment lowers them
        return np.full((2, len(score)), np.nan)
    if rule == "counts":
        low, high = _fewest(measure, plain), run_measure(measure, replace(best(), further=row_sums(plain.unknown)))
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


def _fewest(measure: Measure, g: Gains) -> Floats:
    """topics: the score where all is relevant that cannot be found, and nothing of what is found."""
    low = run_measure(measure, replace(g, further=g.hidden))
    return np.where(np.isnan(low), 0.0, low)  # an empty run misses infinitely many: 0 times infinity


def _lowest_by_intent(measure: Measure, rule: Rule, score: Floats, g: Gains) -> Floats:
    """topics: a score that is never fallen short of: each intent is at its own lowest, and the intents without a
    relevant document may turn out to have one, which counts nothing."""
    intents = g.intents
    assert intents is not None
    if measure.prior is not None and rule != "rises":
        own = replace(measure, prior=None)
        lows = [_fewest(own, intent) if rule == "counts" else _by_function(own, intent)[0] for intent in intents.each]
        score = np.minimum(intents.marginal(lows), score)
    return score * intents.share_left(g.unknown.any(1) | (g.hidden > 0))
