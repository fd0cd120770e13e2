"""`gains`: the gains of grades, the utility of ranks, or the thresholds of users, as clicks and preferences tell."""

from __future__ import annotations

from typing import Any, Literal

from gradedeval.clicks.click_models import ITERATIONS
from gradedeval.clicks.gain_sources import (
    from_correlation,
    from_model,
    from_preferences,
    thresholds_from_clicks,
    utility_from_correlation,
)
from gradedeval.clicks.kinds import read_models
from gradedeval.clicks.learned import Learned, Shape
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.preferences import read_preferences
from gradedeval.clicks.read import read_log
from gradedeval.clicks.session_measures import SS_REL, per_list
from gradedeval.errors import InputError, check_choice, warn_caller
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.rankings.qrels import Qrels

Source = Literal["model", "correlation", "preferences"]
SOURCES = ("model", "correlation", "preferences")
Target = Literal["gain", "utility", "gap"]
TARGETS = ("gain", "utility", "gap")
MODEL, CLICK_MEASURE, MEASURE = "reader", "meanrr", "err"


def gains(
    source: Any,
    qrels: Any,
    *,
    learn_from: Source = "model",
    target: Target = "gain",
    model: str = MODEL,
    by_document: bool = False,
    click_measure: str = CLICK_MEASURE,
    measure: AnyMeasure = MEASURE,
    free: bool = False,
    zero: bool = False,
    top_gain: float = 1.0,
    prior: float = 1.0,
    iterations: int = ITERATIONS,
    shares: bool = False,
    depth: int | None = None,
    ss_rel: float = SS_REL,
) -> Learned:
    """Learn what grades are worth to users.

    source         a click log, as `read_log` takes it; of preferences a file or DataFrame with the columns topic,
                   list_a, list_b (docnos) and sign: 1 where list_a is wanted, −1 where list_b is, 0 for neither
    qrels          the judgments: a `Qrels`, or what makes one
    learn_from     "model": the relevance of a grade by a click model; "correlation": what makes a measure correlate
                   best with a click measure; "preferences": what makes it agree with them
    target         "gain" of each grade; "utility" of each rank, for cascade(utility=FILE), from a correlation;
                   "gap": the share of users whose threshold is each grade, from click rates
    model          the click model, and `by_document`: not tied by grade, but the mean over the documents of a grade
    click_measure  qctr, uctr, maxrr, meanrr, minrr, ss or plc
    measure        err, cascade, or a sum of gains with fixed weights; for a utility its gain scheme says R
    free           gains may fall with the grade, a utility may rise with the rank
    zero           grade 0 gains 0
    top_gain       the largest gain, where only ratios are known
    shares         of gap: shares of clicked documents, not steps between click rates
    ss_rel         the lowest grade of a success

    Returns `Learned`: `.values`, `.frame`, `.score`. Raises InputError where something is wrong, or cannot be learned.
    """
    wanted = parse_measures(measure)
    if len(wanted) != 1:
        raise InputError("-m", f"{len(wanted)} measures", "name one, such as err", usage=True)
    learned = learn(
        source,
        qrels if isinstance(qrels, Qrels) else Qrels(qrels),
        wanted[0],
        learn_from=learn_from,
        target=target,
        model=model,
        by_document=by_document,
        click_measure=click_measure,
        shape=Shape(free, zero, top_gain),
        prior=prior,
        iterations=iterations,
        shares=shares,
        depth=depth,
        ss_rel=ss_rel,
    )
    warn_caller(learned.notes)
    return learned


def learn(
    source: Any,
    qrels: Qrels,
    measure: Measure,
    *,
    learn_from: Source = "model",
    target: Target = "gain",
    model: str = MODEL,
    by_document: bool = False,
    click_measure: str = CLICK_MEASURE,
    shape: Shape | None = None,
    prior: float = 1.0,
    iterations: int = ITERATIONS,
    shares: bool = False,
    depth: int | None = None,
    ss_rel: float = SS_REL,
) -> Learned:
    """`gains`, of judgments and a measure that are read. Raises InputError as it does."""
    shape = shape or Shape()
    check_choice(learn_from, SOURCES, "--from")
    check_choice(target, TARGETS, "--for")
    if not shape.top > 0:
        raise InputError("--top-gain", f"{shape.top:g} is not above 0", "as in --top-gain 1", usage=True)
    if target == "utility" and learn_from != "correlation":
        raise InputError("--for utility", f"cannot be learned from {learn_from}", "add --from correlation", usage=True)
    if target == "gap" and learn_from != "model":
        what = "is learned from click rates alone"
        raise InputError("--for gap", what, f"leave out --from {learn_from}", usage=True)
    if learn_from == "preferences":
        return from_preferences(read_preferences(source, qrels), measure, shape)
    log: ClickLog = read_log(source, depth=depth)
    if target == "gap":
        return thresholds_from_clicks(log, qrels, "share" if shares else "steps")
    if learn_from == "correlation":
        clicked = per_list(log, click_measure, qrels, ss_rel)
        learner = utility_from_correlation if target == "utility" else from_correlation
        return learner(log, qrels, clicked, click_measure, measure, shape)
    chosen = read_models(model)
    if len(chosen) != 1:
        raise InputError("--model", f"{len(chosen)} click models", "name one, such as dbn", usage=True)
    return from_model(log, qrels, chosen[0], (prior, prior), iterations, shape, by_document)
