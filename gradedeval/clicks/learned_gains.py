"""`clicks gains`: what grades are worth to users, by click models, click measures or preferences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from gradedeval import kernel
from gradedeval.arrays import Bools, Floats, Ints, np
from gradedeval.clicks.click_measures import (
    CLICKS,
    SS_REL,
    ClickMeasure,
    GradedLists,
    Scoring,
    graded_lists,
    log_of_lists,
    means_of_lists,
    scoring_of,
    stop_probabilities,
    weighted_correlation,
)
from gradedeval.clicks.click_models import ITERATIONS, UNJUDGED, fit_model, grades_of, items_of, keep_listed
from gradedeval.clicks.log import (
    ClickLog,
    ClicksAs,
    Depth,
    FromLog,
    Idle,
    Lenient,
    read_log,
    small_table_of,
)
from gradedeval.clicks.model_kinds import ModelSpec, Prior, read_models
from gradedeval.errors import Flag, InputError, check_choice, emit_notes, flag, plural, public, shorten
from gradedeval.kernel import (
    AnyMeasure,
    Column,
    Document,
    Layout,
    Measure,
    Setting,
    Table,
    parse_measures,
    ranges,
)

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.kernel import Qrels


# `gains`: the gains of grades, the utility of ranks, or the thresholds of users, as clicks and preferences tell.


# Gains and utilities that agree best with what users did: exactly where that is linear, by a search where not.


STARTS = (-3.0, -1.0, 0.5)
"""Log odds that a search begins with; the best of what it finds counts."""
RISING = "never falling"
"""What settings say of gains by grade."""
ADDITIVE = 1e-3
"""Below this top gain a cascade is a sum, and only the ratios of its gains are known."""


def centred(values: Floats, count: Floats) -> Floats:
    """lists, or lists × columns: less the weighted mean, times the root of the weight: correlation is their cosine."""
    found: Floats = ((values - count @ values / count.sum()).T * np.sqrt(count)).T
    return found


def best_steps(steps: Floats, y: Floats, count: Floats) -> Floats:
    """columns: the factors, 0 or more, with which columns of lists × columns add up to what correlates best with `y`:
    least squares, since the nearest point of a cone has the largest cosine."""
    from scipy.optimize import nnls  # not before it is needed

    found: Floats = nnls(centred(steps, count), centred(y, count))[0]
    return found


def linear_gains(lists: GradedLists, scored: Scoring, y: Floats, count: Floats) -> Floats:
    """grades: the gains of a sum of gains, which never fall, from 0 of the lowest grade to 1."""
    of_grade = np.column_stack([(lists.code == code) @ scored.weight for code in range(len(lists.grades))])
    above = np.cumsum(of_grade[:, ::-1], axis=1)[:, -2::-1]
    gains = np.append(0.0, np.cumsum(best_steps(above, y, count)))
    return gains / (gains.max() or 1)


def best_utility(gain: Floats, y: Floats, count: Floats) -> Floats:
    """ranks: φ, never rising, that makes the mean utility of stopping correlate best with `y`; φ(1) = 1."""
    found = best_steps(np.cumsum(stop_probabilities(gain), axis=1), y, count)
    phi = np.cumsum(found[::-1])[::-1]
    return phi / (phi[0] or 1)


def rising(odds: Floats) -> Floats:
    """R of each grade, of log odds: 1 − Π_{j≤g} (1 − σ(θ_j)), which rises with the grade."""
    found: Floats = -np.expm1(-np.cumsum(np.logaddexp(0, odds)))
    return found


def searched(objective: Callable[[Floats], float], grades: int, zero: bool = False, more: int = 0) -> Floats:
    """The gains of grades, and `more` other numbers, for which an objective of both is largest.

    zero  whether that of the lowest grade is 0
    """
    from scipy.optimize import minimize  # not before it is needed

    size = grades - zero

    def values(point: Floats) -> Floats:
        return np.concatenate([np.zeros(int(zero)), rising(point[:size]), point[size:]])

    best, lowest = np.full(size + more, STARTS[0]), np.inf
    for start in STARTS:
        point = np.append(np.full(size, start), np.ones(more))
        options = {"xatol": 1e-6, "fatol": 1e-12, "maxiter": 2000 * (size + more), "maxfev": 2000 * (size + more)}
        found = minimize(lambda point: -objective(values(point)), point, method="Nelder-Mead", options=options)
        if found.fun < lowest:
            best, lowest = found.x, found.fun
    return values(best)


def isotonic(values: Floats, weight: Floats) -> Floats:
    """The nearest values by weighted squares that never fall: neighbours that fall are given their mean."""
    blocks: list[list[float]] = []  # mean, weight, how many
    for value, mass in zip(values.tolist(), weight.tolist(), strict=True):
        blocks.append([value, mass, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, mass, size = blocks.pop()
            before = blocks[-1]
            total = before[1] + mass
            before[0] = (before[0] * before[1] + mean * mass) / total if total else (before[0] + mean) / 2
            before[1], before[2] = total, before[2] + size
    return np.repeat([block[0] for block in blocks], [int(block[2]) for block in blocks])


# Gains that were learned from users, and what they must be.


@dataclass(frozen=True, eq=False, repr=False)
class Learned(FromLog):
    """What was learned from users.

    what      "gain" of grades, "phi" of ranks, or "g" of grades: gains, a utility, or shares of users by threshold
    at        the grades or ranks
    values    of each
    seen      sessions that showed each grade; None where that is not what it was learned from
    score     how well they agree with users, and what that is called; None where that is not what was maximized
    settings  what the values depend on
    notes     what was skipped or assumed
    """

    what: Literal["gain", "phi", "g"]
    at: Sequence[float]
    values: Floats
    settings: str
    seen: Ints | None = None
    score: tuple[str, float] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each grade or rank: what --gain @FILE or cascade(utility=FILE) reads."""
        at = [int(one) if float(one).is_integer() else one for one in self.at]
        return kernel.results.to_frame({"rank" if self.what == "phi" else "grade": at, self.what: self.values})

    def document(self, layout: Layout) -> Document:
        """A row for each grade or rank."""
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], self.settings)
        columns = [Column("rank" if self.what == "phi" else "grade", "figures"), Column(self.what, "score")]
        rows: list[list[object]] = [[f"{at:g}", float(value)] for at, value in zip(self.at, self.values, strict=True)]
        if self.seen is not None:
            columns.append(Column("seen", "count"))
            rows = [[*row, seen] for row, seen in zip(rows, self.seen.tolist(), strict=True)]
        said = [f"{self.score[0]} {self.score[1]:.4f}"] if self.score else []
        if self.what == "g":
            said.append(f"gap(g={kernel.notation.write_value(tuple(round(float(value), 4) for value in self.values))})")
        return Document([Table(columns, rows), *said], self.settings)


# Side-by-side preferences: of two lists for a topic, which one users want.


COLUMNS = ("topic", "list_a", "list_b", "sign")
HINT = "expected a header topic, list_a, list_b, sign between tabs; lists are docnos separated by spaces"


@dataclass(frozen=True, eq=False, repr=False)
class Preferences:
    """Pairs of lists, and which is wanted.

    first   the lists named first, and `second` the others
    sign    pairs: 1 where the first is wanted, −1 where the second is
    place   what messages call them
    notes   what was left out
    """

    first: GradedLists
    second: GradedLists
    sign: Floats
    place: str
    notes: Sequence[str]


def read_preferences(source: Any, qrels: Qrels) -> Preferences:
    """The preferences of a file, or of a DataFrame with the same columns. Raises InputError for bad lines, and where no
    pair is left: pairs that are alike to users tell nothing of gains, and an unjudged document has none."""
    table = small_table_of(source, COLUMNS, "preferences", HINT)
    topics, lists, signs = [], list[tuple[str, ...]](), []
    for line, cells in table.rows:
        sign = cells["sign"].strip()
        if sign not in ("1", "+1", "-1", "0"):
            hint = "1 where list_a is wanted, -1 where list_b is, 0 if neither"
            table.problems.add(line, f"sign '{sign}' is not 1, -1 or 0", hint)
            continue
        topics += [cells["topic"].strip()] * 2
        for name in COLUMNS[1:3]:
            docnos = tuple(cells[name].split())
            if again := next((docno for docno in docnos if docnos.count(docno) > 1), None):
                table.problems.add(line, f"'{again}' is twice in {name}", "give each document of a list once")
            lists.append(docnos)
        signs.append(float(sign))
    table.problems.check()
    return _usable(graded_lists(log_of_lists(topics, lists), qrels), np.array(signs), table.place)


def _usable(lists: GradedLists, sign: Floats, place: str) -> Preferences:
    """The pairs that tell something."""
    first, second = np.arange(0, len(lists.code), 2), np.arange(1, len(lists.code), 2)
    judged = lists.judged[first] & lists.judged[second]
    kept = judged & (sign != 0)
    notes = []
    for number, what in (
        (int((~judged).sum()), "with unjudged documents"),
        (int((judged & (sign == 0)).sum()), "alike"),
    ):
        if number:
            notes.append(f"{place}: {number} {plural(number, 'pair')} {what} left out")
    if not kept.any():
        raise InputError(place, "no pair has a preferred list", "; ".join(notes) or HINT)
    return Preferences(lists.select(first[kept]), lists.select(second[kept]), sign[kept], place, notes)


# What gains can be learned from: click models, the correlation with a click measure, preferences, click rates.


MOST_THRESHOLDS = 1000
"""More grades than anybody judges by: one of a million would make as many thresholds."""

# From click models


def from_model(
    log: ClickLog, qrels: Qrels, spec: ModelSpec, prior: Prior, iterations: int, by_document: bool
) -> Learned:
    """R of each grade: the relevance of its documents by a click model whose parameters grades share; or, by document,
    the mean of the relevance of its documents, weighted by how often each was shown.

    Chapelle et al., CIKM 2009, section 7.3, says the latter, which the prior of the model pulls to ½.
    """
    log, notes = keep_listed(log)
    items = items_of(log, "document" if by_document else "grade", qrels)
    model = fit_model(spec, items, items.cells(log), prior, iterations)
    grades = _grades_of(items.names, qrels) if by_document else items.names
    at = sorted({grade for grade in grades if grade is not UNJUDGED and grade >= 0})
    of = np.array([at.index(grade) if grade in at else len(at) for grade in grades])
    seen = np.bincount(of, model.seen, minlength=len(at) + 1)[:-1].astype(np.float64)
    summed = np.bincount(of, model.seen * model.relevance, minlength=len(at) + 1)[:-1]
    values = summed / np.maximum(seen, 1)
    notes += _left_out(grades, qrels, at)
    gains = isotonic(values, seen)
    if not np.allclose(gains, values):
        notes.append("a higher grade was clicked less than a lower one: they share a gain")
    told = f"mean over documents by {spec}" if by_document else f"{spec} with the parameters of a grade in common"
    settings = f"{log.place}: {log.sessions} sessions | R: {told} | prior {prior[0]:g},{prior[1]:g} | {RISING}"
    return Learned("gain", at, gains, settings, seen.astype(np.int64), None, notes)


def _grades_of(names: Sequence[Any], qrels: Qrels) -> list[Any]:
    known = {topic: grades_of(qrels, topic) for topic in {topic for topic, _ in names}}
    return [known[topic].get(docno, UNJUDGED) for topic, docno in names]


def _left_out(grades: Sequence[Any], qrels: Qrels, at: Sequence[float]) -> list[str]:
    """What is said of documents without a gain, and of grades that nobody saw."""
    notes = []
    if UNJUDGED in grades:
        notes.append("unjudged documents have no grade to learn a gain for")
    if any(grade is not UNJUDGED and grade < 0 for grade in grades):
        notes.append("grades below 0 have gain 0 regardless of clicks")
    return notes + _missing(qrels, at)


def _missing(qrels: Qrels, at: Sequence[float]) -> list[str]:
    """What is said of grades that no document shown has."""
    missing = [f"{label:g}" for label in qrels.labels.tolist() if label >= 0 and label not in at]
    if not missing:
        return []
    what = f"no document of the {plural(len(missing), 'grade')} {shorten(missing)} was shown"
    return [f"{what}: add a line for it before the file is used with {qrels.place}"]


# From the correlation with a click measure


def from_correlation(log: ClickLog, qrels: Qrels, clicked: Floats, called: str, measure: Measure) -> Learned:
    """The gains with which a measure correlates best with a click measure over the lists of a log.

    clicked  lists: the click measure, and `called` its name
    measure  err or cascade, or a sum of gains with fixed weights; for the latter the solution is exact

    Chapelle et al., CIKM 2009, sections 7.1 and 7.3.
    """
    lists, y, count, notes = _fully_judged(log, qrels, clicked, called)
    scored = scoring_of(measure, lists.code.shape[1])
    lists = lists.of_grades(_learned(lists.has, lists.grades, scored, log.place))
    if scored.cascade:
        gains = searched(
            lambda gains: _or_worst(_correlation(scored.scores(lists.gains(gains)), y, count)),
            len(lists.grades),
        )
        gains, more = _additive(gains)
    else:
        gains = linear_gains(lists, scored, y, count)
        more = [_up_to_a_factor(lists.grades, gains)]
    reached = _correlation(scored.scores(lists.gains(gains)), y, count)
    if not reached > 0:
        what = f"no gains that never fall with the grade make {measure} rise with {called}"
        raise InputError(log.place, what, "give more lists and sessions")
    more += _missing(qrels, lists.grades.tolist())
    settings = f"{log.place}: {int(count.sum())} sessions, {len(y)} lists | {measure} against {called} | {RISING}"
    score = (f"correlation with {called}", reached)
    return Learned("gain", lists.grades.tolist(), gains, settings, None, score, notes + more)


def utility_from_correlation(log: ClickLog, qrels: Qrels, clicked: Floats, called: str, gain: Measure) -> Learned:
    """The utility φ of the rank, with φ(1) = 1, for which the mean utility of stopping correlates best with a click
    measure: exact.

    gain  a measure whose gain scheme says R of each grade

    Chapelle et al., CIKM 2009, definition 1 and section 7.1.
    """
    lists, y, count, notes = _fully_judged(log, qrels, clicked, called)
    top = float(lists.grades[-1])
    worth = kernel.gains.gain_table(gain, kernel.gains.Grades(lists.grades, top)).gain_of_label
    phi = best_utility(lists.gains(worth), y, count)
    scored = Scoring(gain, phi, True)
    reached = _correlation(scored.scores(lists.gains(worth)), y, count)
    if not reached > 0:
        what = f"no utility that never rises with the rank makes a cascade rise with {called}"
        raise InputError(log.place, what, "give more lists and sessions")
    settings = (
        f"{log.place}: {int(count.sum())} sessions, {len(y)} lists | R of {gain} | against {called} | never rising"
    )
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
            log.place, f"no list is fully judged in {qrels.place}", f"judge what was shown, or cut: {flag.depth}"
        )
    if np.ptp(clicked[kept]) == 0:
        number = int(kept.sum())
        what = f"{called} is the same for all lists" if number > 1 else "there is one list alone"
        raise InputError(log.place, f"{what}, so nothing correlates with it", "give more lists and sessions")
    told = f"{log.place}: {left_out} {plural(left_out, 'list')} with unjudged documents left out"
    return lists.select(kept), clicked[kept], count[kept], [*log.notes, *([told] if left_out else [])]


def _learned(shown: Bools, grades: Floats, scored: Scoring, place: str) -> Bools:
    """grades: which have a gain to be learned: those shown, and 0 in a sum of gains. Raises InputError where
    documents of one grade alone are shown."""
    if shown.sum() < 2:
        what = f"all documents shown are of grade {grades[shown][0]:g}" if shown.any() else "no document is shown"
        raise InputError(place, what, "gains are learned from lists that differ in grades")
    kept = shown.copy()
    kept[0] |= not scored.cascade
    return kept


def _up_to_a_factor(grades: Floats, gains: Floats) -> str:
    """What is said of the gains of a sum."""
    known = "of a sum of gains only the steps between grades are known, so gains up to a shift and a factor"
    least = f"grade {grades[gains.argmin()]:g} gains 0, and " if gains.min() == 0 else ""
    return f"{known}: {least}the largest gain is 1"


def _additive(gains: Floats) -> tuple[Floats, list[str]]:
    """The gains; their ratios, and a note, where they are so small that the cascade is a sum."""
    largest = float(np.abs(gains).max())
    if largest >= ADDITIVE:
        return gains, []
    what = "the best gains are close to 0, where a cascade is a sum of gains and only their ratios are known"
    return gains / largest, [f"{what}: the largest is set to 1"]


# From preferences


def from_preferences(preferences: Preferences, qrels: Qrels, measure: Measure) -> Learned:
    """The gains for which a measure is most likely to prefer the lists that users do: Σ −ln(1 + e^(−c·sign·difference))
    is maximal over the gains and c.

    Chapelle et al., CIKM 2009, section 7.1.
    """
    first, second = preferences.first, preferences.second
    scored = scoring_of(measure, first.code.shape[1])
    kept = _learned(first.has | second.has, first.grades, scored, preferences.place)
    first, second = first.of_grades(kept), second.of_grades(kept)

    def differences(gains: Floats) -> Floats:
        return preferences.sign * (scored.scores(first.gains(gains)) - scored.scores(second.gains(gains)))

    def likelihood(point: Floats) -> float:
        return -float(np.logaddexp(0, -np.exp(point[-1]) * differences(point[:-1])).mean())

    gains = searched(likelihood, len(first.grades), zero=not scored.cascade, more=1)[:-1]
    if scored.cascade:
        gains, notes = _additive(gains)
    else:
        gains = gains / (gains.max() or 1)
        notes = [_up_to_a_factor(first.grades, gains)]
    found = differences(gains)
    if not found.any():
        raise InputError(preferences.place, "no pair has lists that differ in grades", "give pairs that do")
    if (found > 0).all():
        notes.append("these gains agree with every pair, but so do others: more pairs would separate them")
    agreement = float(((found > 1e-12) + (np.abs(found) <= 1e-12) / 2).mean())
    settings = f"{preferences.place}: {len(found)} pairs | {measure} | {RISING}"
    score = ("agreement with preferences", agreement)
    notes = [*preferences.notes, *notes, *_missing(qrels, first.grades.tolist())]
    return Learned("gain", first.grades.tolist(), gains, settings, None, score, notes)


# Thresholds of graded average precision


def thresholds_from_clicks(log: ClickLog, qrels: Qrels, by_share: bool) -> Learned:
    """g of graded average precision: the share of users whose threshold is each grade.

    by_share  the share of clicked documents that have the grade, which depends on how many of them are shown; otherwise
              the click rate of a grade, at equal ranks, less that of the grade below, over that of the top

    Robertson et al., SIGIR 2010, section 2.2.
    """
    log, notes = keep_listed(log)
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
    if by_share:
        if not clicks[1:].any():
            raise InputError(log.place, "no document of a grade above 0 was clicked", "give more sessions")
        shares = clicks[1:].sum(1) / clicks[1:].sum()
    else:
        ranks = (shown > 0).all(0)  # those at which every grade is shown
        if not ranks.any():
            raise InputError(
                log.place, "no rank shows documents of every grade", f"give more sessions, or {flag.share}"
            )
        rates = (clicks[:, ranks] / shown[:, ranks]).mean(1)
        if not rates[-1] > 0:
            raise InputError(log.place, "no document of the top grade was clicked", "give more sessions")
        shares = np.diff(rates) / rates[-1]
    if (shares < 0).any():
        fallen = ", ".join(f"{grade:g}" for grade in lists.grades[1:][shares < 0])
        notes.append(f"grade {fallen} was clicked less than the grade below: no user has that threshold, so g is 0")
    at = kernel.gains.thresholds(kernel.gains.Grades(qrels.labels, float(lists.grades[-1])))
    if at[MOST_THRESHOLDS:]:
        what = f"has more than {MOST_THRESHOLDS:,} thresholds up to grade {at[-1]:g}"
        raise InputError(qrels.place, what, f"{FOR:gain} learns gains of grades that are far apart")
    place = np.searchsorted(at, lists.grades[1:])
    g, shown_of = np.zeros(len(at)), np.zeros(len(at), dtype=np.int64)
    g[place], shown_of[place] = np.maximum(shares, 0), seen[1:]
    if len(at) > len(place):
        never = shorten(f"{grade:g}" for grade in at if grade not in lists.grades)
        notes.append(f"no document is judged {never}: its threshold equals the next grade's, and g is 0")
    told = "shares of clicked documents" if by_share else "steps between the click rates of grades at equal ranks"
    settings = f"{log.place}: {log.sessions} sessions | g: {told}"
    return Learned("g", at, g, settings, shown_of, None, notes)


Source = Literal["model", "correlation", "preferences"]
Target = Literal["gain", "utility", "gap"]
FOR, FROM = Flag("--for", "target"), Flag("--from", "learn_from")
MEASURE = "err"


@dataclass(frozen=True)
class Lesson:
    """What is to be learned from what: the keywords of `gains`, checked.

    Raises InputError (usage) for a value that is not allowed, and for two that exclude each other.
    """

    learn_from: Source = "model"
    target: Target = "gain"
    model: str | None = None
    by_document: bool = False
    click_measure: str = CLICKS
    prior: float = 1.0
    iterations: int = ITERATIONS
    share: bool = False
    ss_rel: float = SS_REL

    def __post_init__(self) -> None:
        check_choice(self.learn_from, get_args(Source), FROM)
        check_choice(self.target, get_args(Target), FOR)
        if self.target == "utility" and self.learn_from != "correlation":
            what = f"cannot be learned from {self.learn_from}"
            raise InputError(f"{FOR:utility}", what, f"add {FROM:correlation}", usage=True)
        if self.target == "gap" and self.learn_from != "model":
            hint = f"leave out {FROM:{self.learn_from}}"
            raise InputError(f"{FOR:gap}", "is learned from click rates alone", hint, usage=True)
        taught_by = "gap" if self.target == "gap" else self.learn_from
        applies = {
            f"{FROM:model}": (taught_by == "model", ("model", "by_document", "prior", "iterations")),
            f"{FROM:correlation}": (taught_by == "correlation", ("click_measure",)),
            f"{flag.click_measure:ss}": (taught_by == "correlation" and self.click_measure == "ss", ("ss_rel",)),
            f"{FOR:gap}": (taught_by == "gap", ("share",)),
        }
        default = {field.name: field.default for field in fields(self)}
        for what, (applied, names) in applies.items():
            check_applied(what, applied, {name: getattr(self, name) != default[name] for name in names})
        ranges.PRIOR.check_field(self, "prior")
        ranges.ITERATIONS.check_field(self, "iterations")
        ranges.SS_REL.check_field(self, "ss_rel")


def model_of(measure: Measure) -> str:
    """The click model of the users that a measure has in mind. Raises InputError (usage) where none is known."""
    given, rank_sum = measure.arguments, measure.rank_sum
    if measure.name in ("err", "nerr", "cascade"):
        gamma = given.get("gamma", 1)
        return "cm" if gamma == 1 else f"dbn(gamma={kernel.notation.write_value(gamma)})"
    if measure.name == "rbp":
        return f"reader(p={kernel.notation.write_value(given['p'])})" if given.get("p") else "reader"
    if rank_sum is None or rank_sum.of != "gain":
        raise InputError(f"'{measure}'", "no click model has its users", f"name one with {flag.model}", usage=True)
    return "pbm"


def check_applied(what: str, applied: bool, given: Mapping[str, bool]) -> None:
    """Raise InputError (usage) for an option that is given, and of what is not asked for."""
    if name := next((name for name, there in given.items() if there and not applied), None):
        raise InputError(Flag(f"--{name.replace('_', '-')}"), f"applies to {what}", "leave it out", usage=True)


def read_evidence(
    source: Any,
    *,
    learn_from: Source = "model",
    clicks_as: ClicksAs = "rank",
    depth: Depth = None,
    idle: Idle = None,
    lenient: Lenient = False,
) -> Any:
    """What gains are learned from: a click log, or a file of preferences, to which the options of a log do not
    apply."""
    if learn_from != "preferences":
        return read_log(source, clicks_as=clicks_as, depth=depth, idle=idle, lenient=lenient)
    given = {"clicks_as": clicks_as != "rank", "depth": depth is not None, "idle": idle is not None, "lenient": lenient}
    check_applied("click logs", False, given)
    return source


From = Annotated[Source, Setting("Learn the relevance of a grade by a click model; what makes a measure correlate best "
    "with a click measure; or, where LOG is a file of topic, list_a, list_b and sign, what makes it agree with these "
    "preferences.", spelled=("--from",))]  # fmt: skip
For = Annotated[Target, Setting("Learn gains, for --gain @FILE; the utility of ranks, for cascade(utility=FILE), from "
    "correlation; or thresholds for gap(g=...), from click rates.", spelled=("--for",))]  # fmt: skip
Model = Annotated[str | None, Setting("Click model of --from model.", metavar="MODEL", default_text="that of the users "
    "of the measure, cm for err and cascade, reader for rbp, pbm for other sums of gains")]  # fmt: skip
ByDocument = Annotated[bool, Setting("Of --from model: a relevance of each document, and the mean over those of a "
    "grade; the prior pulls it to 0.5. Default: documents of a grade share it.")]  # fmt: skip
Counted = Annotated[float, Setting("Of --from model: prior counts of clicks and skips.", ranges.PRIOR,
    "X", default_text="1")]  # fmt: skip
Iterations = Annotated[int, Setting("Of --from model: iterations of EM.", ranges.ITERATIONS, "N")]
Against = Annotated[ClickMeasure, Setting("Click measure of --from correlation.")]
Success = Annotated[float, Setting("Lowest grade that search success counts.", ranges.SS_REL, "GRADE")]
Of = Annotated["AnyMeasure", Setting("Measure that the gains are for: err, cascade, or a sum of gains such as "
    "rbp(p=0.8). With --for utility its gains say R.", metavar="MEASURE", spelled=("-m", "--measure"),
    measure="one")]  # fmt: skip
Share = Annotated[bool, Setting("Of --for gap: shares of the clicked documents, not steps between click rates.")]


@public
def gains(
    source: Any,
    qrels: Any,
    measure: Of = MEASURE,
    *,
    learn_from: From = "model",
    target: For = "gain",
    model: Model = None,
    by_document: ByDocument = False,
    prior: Counted = 1.0,
    iterations: Iterations = ITERATIONS,
    click_measure: Against = CLICKS,
    ss_rel: Success = SS_REL,
    share: Share = False,
    depth: int | None = None,
) -> Learned:
    """Learn gains of grades from clicks.

    source         a click log, as `read_log` takes it; of preferences a file or DataFrame with the columns topic,
                   list_a, list_b (docnos) and sign: 1 where list_a is wanted, −1 where list_b is, 0 for neither
    qrels          the judgments: a `Qrels`, or what makes one
    measure        err, cascade, or a sum of gains with fixed weights; for a utility its gain scheme says R; of
                   learn_from="model" its users have the click model, where that is not given
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

    >>> run, qrels = {"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d1": 1, "d2": 4}}
    >>> log = gradedeval.clicks.simulate("err", run, qrels, sessions=1000)
    >>> gradedeval.clicks.gains(log, qrels, "err").frame.round(2)
       grade  gain
    0      1  0.05
    1      4  0.95
    """
    lesson = Lesson(learn_from, target, model, by_document, click_measure, prior, iterations, share, ss_rel)
    learned = learn(source, qrels, measure, lesson, depth)
    return replace(learned, notes=emit_notes(learned.notes))


def learn(source: Any, qrels: Any, wanted: AnyMeasure, lesson: Lesson, depth: int | None) -> Learned:
    """What `gains` returns. Raises InputError as it does."""
    measures, qrels = parse_measures(wanted), qrels if isinstance(qrels, kernel.Qrels) else kernel.Qrels(qrels)
    if len(measures) != 1:
        raise InputError(flag.measures, f"{len(measures)} measures", "name one, such as err", usage=True)
    measure = measures[0]
    compared = lesson.target != "gap" and lesson.learn_from != "model"
    of_measure = lesson.target != "gap" and (compared or lesson.model is None)
    check_applied(f"gains without {flag.model}", of_measure, {"measure": str(measure) != MEASURE})
    check_applied("click logs", lesson.learn_from != "preferences", {"depth": depth is not None})
    if lesson.learn_from == "preferences":
        return from_preferences(read_preferences(source, qrels), qrels, measure)
    log: ClickLog = read_log(source, depth=depth)
    if lesson.target == "gap":
        return thresholds_from_clicks(log, qrels, lesson.share)
    if lesson.learn_from == "correlation":
        clicked = means_of_lists(log, lesson.click_measure, qrels, lesson.ss_rel)
        learner = utility_from_correlation if lesson.target == "utility" else from_correlation
        return learner(log, qrels, clicked, lesson.click_measure, measure)
    chosen = read_models(lesson.model or model_of(measure))
    if len(chosen) != 1:
        raise InputError(flag.model, f"{len(chosen)} click models", "name one, such as dbn", usage=True)
    prior = (lesson.prior, lesson.prior)
    return from_model(log, qrels, chosen[0], prior, lesson.iterations, lesson.by_document)
