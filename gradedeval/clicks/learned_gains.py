"""`gains`: the gains of grades, the utility of ranks, or the thresholds of users, as clicks and preferences tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from gradedeval.clicks.click_measures import SS_REL, of_lists
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
from gradedeval.errors import InputError, check_choice, warn_caller
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.notation import write_value
from gradedeval.measures.parse import parse_measures
from gradedeval.options import numbers
from gradedeval.rankings.qrels import Qrels

Source = Literal["model", "correlation", "preferences"]
SOURCES = ("model", "correlation", "preferences")
Target = Literal["gain", "utility", "gap"]
TARGETS = ("gain", "utility", "gap")
CLICK_MEASURE, MEASURE = "meanrr", "err"


@dataclass(frozen=True)
class Lesson:
    """What is to be learned from what: the keywords of `gains`, checked.

    Raises InputError (usage) for a value that is not allowed, and for two that exclude each other.
    """

    learn_from: Source = "model"
    target: Target = "gain"
    model: str | None = None
    by_document: bool = False
    click_measure: str = CLICK_MEASURE
    prior: float = 1.0
    iterations: int = ITERATIONS
    share: bool = False
    ss_rel: float = SS_REL

    def __post_init__(self) -> None:
        check_choice(self.learn_from, SOURCES, "--from")
        check_choice(self.target, TARGETS, "--for")
        if self.target == "utility" and self.learn_from != "correlation":
            what = f"cannot be learned from {self.learn_from}"
            raise InputError("--for utility", what, "add --from correlation", usage=True)
        if self.target == "gap" and self.learn_from != "model":
            hint = f"leave out --from {self.learn_from}"
            raise InputError("--for gap", "is learned from click rates alone", hint, usage=True)
        taught_by = "gap" if self.target == "gap" else self.learn_from
        applies = {
            "--from model": (taught_by == "model", ("model", "by_document", "prior", "iterations")),
            "--from correlation": (taught_by == "correlation", ("click_measure",)),
            "--click-measure ss": (taught_by == "correlation" and self.click_measure == "ss", ("ss_rel",)),
            "--for gap": (taught_by == "gap", ("share",)),
        }
        default = {field.name: field.default for field in fields(self)}
        for what, (applied, names) in applies.items():
            check_applied(what, applied, {name: getattr(self, name) != default[name] for name in names})
        numbers.PRIOR.check_field(self, "prior")
        numbers.ITERATIONS.check_field(self, "iterations")
        numbers.SS_REL.check_field(self, "ss_rel")


def model_of(measure: Measure) -> str:
    """The click model of the users that a measure has in mind. Raises InputError (usage) where none is known."""
    given, rank_sum = measure.arguments, measure.rank_sum
    if measure.name in ("err", "nerr", "cascade"):
        gamma = given.get("gamma", 1)
        return "cm" if gamma == 1 else f"dbn(gamma={write_value(gamma)})"
    if measure.name == "rbp":
        return f"reader(p={write_value(given['p'])})" if given.get("p") else "reader"
    if rank_sum is None or rank_sum.of != "gain":
        raise InputError(f"'{measure}'", "no click model has its users", "name one with --model", usage=True)
    return "pbm"


def check_applied(what: str, applied: bool, given: Mapping[str, bool]) -> None:
    """Raise InputError (usage) for an option that is given, and of what is not asked for."""
    if name := next((name for name, there in given.items() if there and not applied), None):
        flag = f"--{name.replace('_', '-')}"
        raise InputError(flag, f"applies to {what}", "leave it out", usage=True)


def gains(
    source: Any,
    qrels: Any,
    measure: AnyMeasure = MEASURE,
    *,
    free: bool = False,
    zero: bool = False,
    top_gain: float = 1.0,
    depth: int | None = None,
    **lesson: Any,
) -> Learned:
    """Learn what grades are worth to users.

    source         a click log, as `read_log` takes it; of preferences a file or DataFrame with the columns topic,
                   list_a, list_b (docnos) and sign: 1 where list_a is wanted, −1 where list_b is, 0 for neither
    qrels          the judgments: a `Qrels`, or what makes one
    measure        err, cascade, or a sum of gains with fixed weights; for a utility its gain scheme says R; of
                   learn_from="model" its users have the click model, where that is not given
    free           gains may fall with the grade, a utility may rise with the rank
    zero           grade 0 gains 0
    top_gain       the largest gain, where only ratios are known
    depth          lists of the log are cut to it
    learn_from     "model", the default: the relevance of a grade by a click model; "correlation": what makes a measure
                   correlate best with a click measure; "preferences": what makes it agree with them
    target         "gain" of each grade; "utility" of each rank, for cascade(utility=FILE), from a correlation;
                   "gap": the share of users whose threshold is each grade, from click rates
    model          the click model; None: that of the users of the measure, "cm" for err and cascade, "reader" for rbp,
                   "pbm" for other sums of gains; `prior` and `iterations` as in `models`; `by_document`: grades do
                   not share its parameters, and a gain is the mean over the documents of a grade
    click_measure  qctr, uctr, maxrr, meanrr, minrr, ss or plc; `ss_rel` is the lowest grade of a success, 2
    share          of gap: shares of clicked documents, not steps between click rates

    Returns `Learned`: `.values`, `.frame`, `.score`. Raises InputError where something is wrong, or cannot be learned.
    """
    wanted, judged = parse_measures(measure), qrels if isinstance(qrels, Qrels) else Qrels(qrels)
    if len(wanted) != 1:
        raise InputError("-m", f"{len(wanted)} measures", "name one, such as err", usage=True)
    learned = learn(source, judged, wanted[0], Shape(free, zero, top_gain), Lesson(**lesson), depth)
    warn_caller(learned.notes)
    return learned


def learn(
    source: Any, qrels: Qrels, measure: Measure, shape: Shape, lesson: Lesson, depth: int | None = None
) -> Learned:
    """`gains`, of judgments and a measure that are read. Raises InputError as it does."""
    compared = lesson.target != "gap" and lesson.learn_from != "model"
    of_measure = lesson.target != "gap" and (compared or lesson.model is None)
    check_applied("gains without --model", of_measure, {"measure": str(measure) != MEASURE})
    check_applied("--from correlation and preferences", compared, {"top_gain": shape.top != 1})
    check_applied("gains and utilities", lesson.target != "gap", {"free": shape.free})
    check_applied("gains", lesson.target == "gain", {"zero": shape.zero})
    check_applied("click logs", lesson.learn_from != "preferences", {"depth": depth is not None})
    if lesson.learn_from == "preferences":
        return from_preferences(read_preferences(source, qrels), qrels, measure, shape)
    log: ClickLog = read_log(source, depth=depth)
    if lesson.target == "gap":
        return thresholds_from_clicks(log, qrels, "share" if lesson.share else "steps")
    if lesson.learn_from == "correlation":
        clicked = of_lists(log, lesson.click_measure, qrels, lesson.ss_rel)
        learner = utility_from_correlation if lesson.target == "utility" else from_correlation
        return learner(log, qrels, clicked, lesson.click_measure, measure, shape)
    chosen = read_models(lesson.model or model_of(measure))
    if len(chosen) != 1:
        raise InputError("--model", f"{len(chosen)} click models", "name one, such as dbn", usage=True)
    prior = (lesson.prior, lesson.prior)
    return from_model(log, qrels, chosen[0], prior, lesson.iterations, shape, lesson.by_document)
