"""What gains can be learned from: click models, the correlation with a click measure, preferences, click rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.clicks.click_models import fitted_model, listed
from gradedeval.clicks.correlation import weighted_correlation
from gradedeval.clicks.gain_search import (
    ADDITIVE,
    best_utility,
    isotonic,
    linear_gains,
    searched,
)
from gradedeval.clicks.going_down import Prior
from gradedeval.clicks.graded_lists import GradedLists, Scored, graded_lists, scored_by
from gradedeval.clicks.items import UNJUDGED, grades_of, items_of
from gradedeval.clicks.kinds import Chosen
from gradedeval.clicks.learned import Learned, Shape
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.preferences import Preferences
from gradedeval.errors import InputError, plural, shorten
from gradedeval.measures.applied import gain_table
from gradedeval.measures.definition import Measure
from gradedeval.measures.gain_schemes import Grades, thresholds
from gradedeval.rankings.qrels import Qrels

MOST_THRESHOLDS = 1000
"""More grades than anybody judges by: one of a million would make as many thresholds."""

# From click models


def from_model(
    log: ClickLog, qrels: Qrels, chosen: Chosen, prior: Prior, iterations: int, shape: Shape, by_document: bool
) -> Learned:
    """R of each grade: the relevance of its documents by a click model whose parameters grades share; or, by document,
    the mean of the relevance of its documents, weighted by how often each was shown.

    Chapelle et al., CIKM 2009, section 7.3, says the latter, which the prior of the model pulls to ½.
    """
    log, notes = listed(log)
    items = items_of(log, "document" if by_document else "grade", qrels)
    model = fitted_model(chosen, items, items.cells(log), prior, iterations)
    grades = _grades_of(items.names, qrels) if by_document else items.names
    at = sorted({grade for grade in grades if grade is not UNJUDGED and grade >= 0})
    of = np.array([at.index(grade) if grade in at else len(at) for grade in grades])
    seen = np.bincount(of, model.seen, minlength=len(at) + 1)[:-1].astype(np.float64)
    summed = np.bincount(of, model.seen * model.relevance, minlength=len(at) + 1)[:-1]
    values = summed / np.maximum(seen, 1)
    notes += _left_out(grades, qrels, at)
    values, more = _shaped(np.array(at), values, seen, shape)
    told = f"mean over documents by {chosen}" if by_document else f"{chosen} with the parameters of a grade in common"
    settings = f"{log.place}: {log.sessions} sessions | R: {told} | prior {prior[0]:g},{prior[1]:g}{_said(shape)}"
    return Learned("gain", at, values, settings, seen.astype(np.int64), None, [*notes, *more])


def _grades_of(names: Sequence[Any], qrels: Qrels) -> list[Any]:
    known = {topic: grades_of(qrels, topic) for topic in {topic for topic, _ in names}}
    return [known[topic].get(docno, UNJUDGED) for topic, docno in names]


def _left_out(grades: Sequence[Any], qrels: Qrels, at: Sequence[float]) -> list[str]:
    """What is said of documents without a gain, and of grades that nobody saw."""
    notes = []
    if UNJUDGED in grades:
        notes.append("the documents that nobody judged have no grade, and gains are of grades")
    if any(grade is not UNJUDGED and grade < 0 for grade in grades):
        notes.append("grades below 0 gain nothing, whatever was clicked")
    return notes + _missing(qrels, at)


def _missing(qrels: Qrels, at: Sequence[float]) -> list[str]:
    """What is said of grades that no document shown has."""
    missing = [f"{label:g}" for label in qrels.labels.tolist() if label >= 0 and label not in at]
    if not missing:
        return []
    what = f"no document of the {plural(len(missing), 'grade')} {shorten(missing)} was shown"
    return [f"{what}: add a line for it before the file is used with {qrels.place}"]


def _shaped(at: Floats, values: Floats, seen: Floats, shape: Shape) -> tuple[Floats, list[str]]:
    """Values that never fall with the grade, unless they are free; and the note where that changed them."""
    notes = []
    if not shape.free:
        rising = isotonic(values, seen)
        if not np.allclose(rising, values):
            notes.append("a higher grade was clicked less than a lower one: they share a gain; --free keeps them apart")
        values = rising
    return np.where(at == 0, 0.0, values) if shape.zero else values, notes


def _said(shape: Shape) -> str:
    return (" | free" if shape.free else " | never falling") + (", 0 at grade 0" if shape.zero else "")


# From the correlation with a click measure


def from_correlation(
    log: ClickLog, qrels: Qrels, clicked: Floats, called: str, measure: Measure, shape: Shape
) -> Learned:
    """The gains with which a measure correlates best with a click measure over the lists of a log.

    clicked  lists: the click measure, and `called` its name
    measure  err or cascade, or a sum of gains with fixed weights; for the latter the solution is exact

    Chapelle et al., CIKM 2009, sections 7.1 and 7.3.
    """
    lists, y, count, notes = _fully_judged(log, qrels, clicked, called)
    scored = scored_by(measure, lists.code.shape[1])
    lists = lists.of_grades(_learned(lists.has, lists.grades, scored, shape, log.place))
    if scored.cascade:
        gains = searched(
            lambda gains: _or_worst(_correlation(scored.scores(lists.gains(gains)), y, count)),
            len(lists.grades),
            shape.free,
            shape.zero,
        )
        gains, more = _additive(gains, shape)
    else:
        gains = linear_gains(lists, scored, y, count, shape.free, shape.zero) * shape.top
        more = [_up_to_a_factor(lists.grades, gains, shape)]
    reached = _correlation(scored.scores(lists.gains(gains)), y, count)
    if not reached > 0:
        hint = "give more lists and sessions" + ("" if shape.free else ", or allow gains to fall: --free")
        raise InputError(log.place, f"no gains make {measure} rise with {called}", hint)
    more += _missing(qrels, lists.grades.tolist())
    settings = f"{log.place}: {int(count.sum())} sessions, {len(y)} lists | {measure} against {called}{_said(shape)}"
    score = (f"correlation with {called}", reached)
    return Learned("gain", lists.grades.tolist(), gains, settings, None, score, notes + more)


def utility_from_correlation(
    log: ClickLog, qrels: Qrels, clicked: Floats, called: str, gain: Measure, shape: Shape
) -> Learned:
    """The utility φ of the rank, with φ(1) = 1, for which the mean utility of stopping correlates best with a click
    measure: exact.

    gain  a measure whose gain scheme says R of each grade

    Chapelle et al., CIKM 2009, definition 1 and section 7.1.
    """
    lists, y, count, notes = _fully_judged(log, qrels, clicked, called)
    top = float(lists.grades[-1])
    worth = gain_table(gain, Grades(lists.grades, top)).worth
    phi = best_utility(lists.gains(worth), y, count, shape.free)
    scored = Scored(gain, phi, True)
    reached = _correlation(scored.scores(lists.gains(worth)), y, count)
    if not reached > 0:
        hint = "give more lists and sessions" + ("" if shape.free else ", or allow it to rise: --free")
        raise InputError(log.place, f"no utility makes a cascade rise with {called}", hint)
    if not phi[0] > 0:
        notes.append("rank 1 has no utility: the largest is set to 1")
    said = "free" if shape.free else "never rising"
    settings = f"{log.place}: {int(count.sum())} sessions, {len(y)} lists | R of {gain} | against {called} | {said}"
    score = (f"correlation with {called}", reached)
    return Learned("phi", list(range(1, len(phi) + 1)), phi, settings, None, score, notes)


def _correlation(scores: Floats, clicked: Floats, count: Floats) -> float:
    return float(weighted_correlation(scores[:, None], clicked[:, None], count)[0, 0])


def _or_worst(correlation: float) -> float:
    return -1.0 if np.isnan(correlation) else correlation


def _fully_judged(
    log: ClickLog, qrels: Qrels, clicked: Floats, called: str
) -> tuple[GradedLists, Floats, Floats, list[str]]:
    """The lists of which every document is judged, the click measure and the number of sessions of each, and notes.
    Raises InputError where there is none, or the click measure is the same for all."""
    lists = graded_lists(log, qrels)
    count = np.bincount(log.configuration, log.count, minlength=len(log.topics)).astype(np.float64)
    kept = lists.judged & (count > 0) & ~np.isnan(clicked) & (log.lengths > 0)
    left_out = int(((count > 0) & ~kept).sum())
    if not kept.any():
        raise InputError(
            log.place, f"no list is fully judged in {qrels.place}", "judge what was shown, or cut: --depth"
        )
    if np.ptp(clicked[kept]) == 0:
        number = int(kept.sum())
        what = f"{called} is the same for all lists" if number > 1 else "there is one list alone"
        raise InputError(log.place, f"{what}, so nothing correlates with it", "give more lists and sessions")
    told = f"{log.place}: {left_out} {plural(left_out, 'list')} with unjudged documents left out"
    return lists.select(kept), clicked[kept], count[kept], [*log.notes, *([told] if left_out else [])]


def _learned(shown: Bools, grades: Floats, scored: Scored, shape: Shape, place: str) -> Bools:
    """grades: which have a gain to be learned: those shown, and 0 where it is known to gain 0. Raises InputError where
    documents of one grade alone are shown."""
    if shown.sum() < 2:
        what = f"all documents shown are of grade {grades[shown][0]:g}" if shown.any() else "no document is shown"
        raise InputError(place, what, "gains are learned from lists that differ in grades")
    kept = shown.copy()
    kept[0] |= shape.zero or not (scored.cascade or shape.free)
    return kept


def _up_to_a_factor(grades: Floats, gains: Floats, shape: Shape) -> str:
    """What is said of the gains of a sum."""
    known = "of a sum of gains only the steps between grades are known, so gains up to a shift and a factor"
    least = f"grade {grades[gains.argmin()]:g} gains 0, and " if gains.min() == 0 else ""
    return f"{known}: {least}the largest gain is {shape.top:g}"


def _additive(gains: Floats, shape: Shape) -> tuple[Floats, list[str]]:
    """The gains; their ratios, and a note, where they are so small that the cascade is a sum."""
    largest = float(np.abs(gains).max())
    if largest >= ADDITIVE:
        return gains, []
    what = "the best gains are close to 0, where a cascade is a sum of gains and only their ratios are known"
    return gains / largest * shape.top, [f"{what}: the largest is set to {shape.top:g}"]


# From preferences


def from_preferences(preferences: Preferences, qrels: Qrels, measure: Measure, shape: Shape) -> Learned:
    """The gains for which a measure is most likely to prefer the lists that users do: Σ −ln(1 + e^(−c·sign·difference))
    is maximal over the gains and c.

    Chapelle et al., CIKM 2009, section 7.1.
    """
    first, second = preferences.first, preferences.second
    scored = scored_by(measure, first.code.shape[1])
    kept = _learned(first.has | second.has, first.grades, scored, shape, preferences.place)
    first, second = first.of_grades(kept), second.of_grades(kept)
    zero = shape.zero or not (scored.cascade or shape.free)

    def differences(gains: Floats) -> Floats:
        return preferences.sign * (scored.scores(first.gains(gains)) - scored.scores(second.gains(gains)))

    def likelihood(point: Floats) -> float:
        return -float(np.logaddexp(0, -np.exp(point[-1]) * differences(point[:-1])).mean())

    gains = searched(likelihood, len(first.grades), shape.free, zero, more=1)[:-1]
    if scored.cascade:
        gains, notes = _additive(gains, shape)
    else:
        if shape.free and not shape.zero and np.allclose(differences(np.ones(len(gains))), 0, atol=1e-9):
            gains = gains - gains.min()  # what all gain alike says nothing
        gains = gains / (gains.max() or 1) * shape.top
        notes = [_up_to_a_factor(first.grades, gains, shape)]
    found = differences(gains)
    if not found.any():
        raise InputError(preferences.place, "no pair has lists that differ in grades", "give pairs that do")
    if (found > 0).all():
        notes.append("these gains agree with every pair, and so do others: more pairs would tell them apart")
    agreement = float(((found > 1e-12) + (np.abs(found) <= 1e-12) / 2).mean())
    settings = f"{preferences.place}: {len(found)} pairs | {measure}{_said(shape)}"
    score = ("agreement with preferences", agreement)
    notes = [*preferences.notes, *notes, *_missing(qrels, first.grades.tolist())]
    return Learned("gain", first.grades.tolist(), gains, settings, None, score, notes)


# Thresholds of graded average precision


def thresholds_from_clicks(log: ClickLog, qrels: Qrels, of: Literal["steps", "share"] = "steps") -> Learned:
    """g of graded average precision: the share of users whose threshold is each grade.

    of  "steps": the click rate of a grade, at equal ranks, less that of the grade below, over that of the top; "share":
        the share of clicked documents that have the grade, which depends on how many of them are shown

    Robertson et al., SIGIR 2010, section 2.2.
    """
    log, notes = listed(log)
    lists = graded_lists(log, qrels)
    if len(lists.grades) < 2:
        raise InputError(qrels.place, "no grade is above 0", "thresholds are grades from 1 on")
    clicked, configuration = log.clicked(lists.code.shape[1])[log.pattern], log.configuration
    weight = log.count[:, None].astype(np.float64)
    shown, clicks = np.zeros((2, len(lists.grades), lists.code.shape[1]))
    for grade in range(len(lists.grades)):
        there = lists.code[configuration] == grade
        shown[grade], clicks[grade] = (there * weight).sum(0), (there & clicked).T.astype(np.float64) @ weight[:, 0]
    seen = shown.sum(1).astype(np.int64)
    if of == "share":
        if not clicks[1:].any():
            raise InputError(log.place, "no document of a grade above 0 was clicked", "give more sessions")
        shares = clicks[1:].sum(1) / clicks[1:].sum()
    else:
        ranks = (shown > 0).all(0)  # those at which every grade is shown
        if not ranks.any():
            raise InputError(log.place, "no rank shows documents of every grade", "give more sessions, or --share")
        rates = (clicks[:, ranks] / shown[:, ranks]).mean(1)
        if not rates[-1] > 0:
            raise InputError(log.place, "no document of the top grade was clicked", "give more sessions")
        shares = np.diff(rates) / rates[-1]
    if (shares < 0).any():
        fallen = ", ".join(f"{grade:g}" for grade in lists.grades[1:][shares < 0])
        notes.append(f"grade {fallen} was clicked less than the grade below: no user has that threshold, so g is 0")
    at = thresholds(Grades(qrels.labels, float(lists.grades[-1])))
    if at[MOST_THRESHOLDS:]:
        what = f"has more than {MOST_THRESHOLDS:,} thresholds up to grade {at[-1]:g}"
        raise InputError(qrels.place, what, "--for gain learns gains of grades that are far apart")
    place = np.searchsorted(at, lists.grades[1:])
    g, shown_of = np.zeros(len(at)), np.zeros(len(at), dtype=np.int64)
    g[place], shown_of[place] = np.maximum(shares, 0), seen[1:]
    if len(at) > len(place):
        never = shorten(f"{grade:g}" for grade in at if grade not in lists.grades)
        notes.append(f"no document is judged {never}: such a threshold is not told from the next grade's, and g is 0")
    told = {"steps": "steps between the click rates of grades at equal ranks", "share": "shares of clicked documents"}
    settings = f"{log.place}: {log.sessions} sessions | g: {told[of]}"
    return Learned("g", at, g, settings, shown_of, None, notes)
