"""Learn gains of grades, utilities of ranks and thresholds of users from clicks and preferences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from gradedeval import kernel
from gradedeval.arrays import Bools, Floats, Ints, np
from gradedeval.clicks import click_measures
from gradedeval.clicks.click_measures import CLICKS, SS_REL, GradedLists, Scoring, graded_lists, scoring_of
from gradedeval.clicks.click_models import ITERATIONS, UNJUDGED, fit_model, grades_of, items_of, keep_listed
from gradedeval.clicks.log import ClickLog, ClicksAs, Depth, FromLog, Idle, Lenient, read_log, small_table_of
from gradedeval.clicks.model_kinds import ModelSpec, Prior, read_models
from gradedeval.errors import Flag, InputError, check_choice, emit_notes, flag, plural, public, shorten
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, Measure, Setting, Table, parse_measures, ranges

if TYPE_CHECKING:
    import pandas as pd


# Gains and utilities that agree best with users: exact for linear scores, otherwise by search.


STARTS = (-3.0, -1.0, 0.5)
"""Log odds that searches start from; the best optimum counts."""
RISING = "never falling"
"""The description of nondecreasing gains in settings."""
ADDITIVE = 1e-3
"""Below this top gain a cascade is nearly a sum, and only the ratios of its gains are known."""


def center(values: Floats, count: Floats) -> Floats:
    """Return lists, or lists × columns: centered and times the root of the weight: correlation is a cosine."""
    centered: Floats = ((values - count @ values / count.sum()).T * np.sqrt(count)).T
    return centered


def best_steps(steps: Floats, y: Floats, count: Floats) -> Floats:
    """Return the nonnegative factors of columns of lists × columns whose sum correlates best with `y`.
    Least squares finds them, since the nearest point of a cone has the largest cosine."""
    from scipy.optimize import nnls  # deferred: slow import

    factors: Floats = nnls(center(steps, count), center(y, count))[0]
    return factors


def linear_gains(lists: GradedLists, scored: Scoring, y: Floats, count: Floats) -> Floats:
    """Return the nondecreasing gains of grades in a sum of gains, from 0 of the lowest grade to 1."""
    of_grade = np.column_stack([(lists.code == code) @ scored.weight for code in range(len(lists.grades))])
    above = np.cumsum(of_grade[:, ::-1], axis=1)[:, -2::-1]
    gains = np.append(0.0, np.cumsum(best_steps(above, y, count)))
    return gains / (gains.max() or 1)


def best_utility(gain: Floats, y: Floats, count: Floats) -> Floats:
    """Return φ of ranks, nonincreasing with φ(1) = 1: the mean utility of stopping that correlates best with `y`."""
    steps = best_steps(np.cumsum(click_measures.stop_probabilities(gain), axis=1), y, count)
    phi = np.cumsum(steps[::-1])[::-1]
    return phi / (phi[0] or 1)


def maximize(objective: Callable[[Floats], float], grades: int, zero: bool = False, more: int = 0) -> Floats:
    """Search the gains of grades, and `more` other numbers, that maximize an objective of both.

    zero  whether the gain of the lowest grade is 0
    """
    from scipy.optimize import minimize  # deferred: slow import

    size = grades - zero

    def values(point: Floats) -> Floats:
        # R from log odds, 1 − Π_{j≤g} (1 − σ(θ_j)), rises with the grade.
        relevance = -np.expm1(-np.cumsum(np.logaddexp(0, point[:size])))
        return np.concatenate([np.zeros(int(zero)), relevance, point[size:]])

    best, lowest = np.full(size + more, STARTS[0]), np.inf
    for start in STARTS:
        point = np.append(np.full(size, start), np.ones(more))
        options = {"xatol": 1e-6, "fatol": 1e-12, "maxiter": 2000 * (size + more), "maxfev": 2000 * (size + more)}
        optimum = minimize(lambda point: -objective(values(point)), point, method="Nelder-Mead", options=options)
        if optimum.fun < lowest:
            best, lowest = optimum.x, optimum.fun
    return values(best)


# The result.


@dataclass(frozen=True, eq=False, repr=False)
class LearnedValues(FromLog):
    """Values learned from users.

    quantity  "gain" of grades, "phi" of ranks, or "g" of grades: gains, a utility, or shares of users by threshold
    index     the grades or ranks
    values    the value of each
    seen      sessions that showed each grade; None if not learned from them
    score     name and value of the agreement with users; None if not maximized
    settings  settings of the learning
    notes     notes on skipped input and assumptions
    """

    quantity: Literal["gain", "phi", "g"]
    index: Sequence[float]
    values: Floats
    settings: str
    seen: Ints | None = None
    score: tuple[str, float] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each grade or rank, as read by --gain @FILE or cascade(utility=FILE)."""
        keys = [int(value) if float(value).is_integer() else value for value in self.index]
        return kernel.results.to_frame({self._key: keys, self.quantity: self.values})

    @property
    def _key(self) -> str:
        return "rank" if self.quantity == "phi" else "grade"

    def document(self, layout: Layout) -> Document:
        """Return a row for each grade or rank."""
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], self.settings)
        columns = [Column(self._key, "figures"), Column(self.quantity, "score")]
        values = zip(self.index, self.values, strict=True)
        rows: list[list[object]] = [[f"{key:g}", float(value)] for key, value in values]
        if self.seen is not None:
            columns.append(Column("seen", "count"))
            rows = [[*row, seen] for row, seen in zip(rows, self.seen.tolist(), strict=True)]
        notes = [f"{self.score[0]} {self.score[1]:.4f}"] if self.score else []
        if self.quantity == "g":
            shares = tuple(round(float(value), 4) for value in self.values)
            notes.append(f"gap(g={kernel.notation.write_value(shares)})")
        return Document([Table(columns, rows), *notes], self.settings)


# Side-by-side preferences between two lists for a topic.


COLUMNS = ("topic", "list_a", "list_b", "sign")
HINT = "expected a header topic, list_a, list_b, sign between tabs; lists are docnos separated by spaces"


@dataclass(frozen=True, eq=False, repr=False)
class Preferences:
    """Pairs of lists, and the preferred one of each.

    first   the lists named first, and `second` the lists named second
    sign    pairs: 1 if users prefer the first, −1 if the second
    place   name in messages
    notes   notes on pairs left out
    """

    first: GradedLists
    second: GradedLists
    sign: Floats
    place: str
    notes: Sequence[str]


def read_preferences(source: Any, qrels: kernel.Qrels) -> Preferences:
    """Read preferences. Raises InputError for bad lines, and if none is left of judged documents."""
    table = small_table_of(source, COLUMNS, "preferences", HINT)
    topics, lists, signs = [], list[tuple[str, ...]](), []
    for line, cells in table.rows:
        sign = cells["sign"].strip()
        if sign not in ("1", "+1", "-1", "0"):
            hint = "write 1 to prefer list_a, -1 to prefer list_b, 0 for neither"
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
    graded = graded_lists(click_measures.log_of_lists(topics, lists), qrels)
    preferred = np.array(signs)
    first, second = np.arange(0, len(graded.code), 2), np.arange(1, len(graded.code), 2)
    judged = graded.judged[first] & graded.judged[second]
    kept, notes = judged & (preferred != 0), []
    for left_out, reason in ((~judged, "with unjudged documents"), (judged & (preferred == 0), "alike")):
        if number := int(left_out.sum()):
            notes.append(f"{table.place}: {number} {plural(number, 'pair')} {reason} left out")
    if not kept.any():
        raise InputError(table.place, "no pair has a preferred list", "; ".join(notes) or HINT)
    return Preferences(graded.select(first[kept]), graded.select(second[kept]), preferred[kept], table.place, notes)


# Learning from click models, correlation with a click measure, preferences or click rates.


MOST_THRESHOLDS = 1000
"""Limit of thresholds: a grade of a million would make as many."""

# From click models


def from_model(
    log: ClickLog, qrels: kernel.Qrels, spec: ModelSpec, prior: Prior, iterations: int, by_document: bool
) -> LearnedValues:
    """Learn R of each grade by a click model with parameters by grade; or, by document, as the mean relevance of its
    documents weighted by their sessions.

    Chapelle et al., CIKM 2009, section 7.3, describes the mean, which the prior of the model shrinks to ½.
    """
    log, notes = keep_listed(log)
    items = items_of(log, "document" if by_document else "grade", qrels)
    model = fit_model(spec, items, items.cells(log), prior, iterations)
    grades = items.names
    if by_document:
        judged = {topic: grades_of(qrels, topic) for topic in {topic for topic, _ in items.names}}
        grades = [judged[topic].get(docno, UNJUDGED) for topic, docno in items.names]
    learned_grades = sorted({grade for grade in grades if grade is not UNJUDGED and grade >= 0})
    number_of = {grade: number for number, grade in enumerate(learned_grades)}
    index_of_item = np.array([number_of.get(grade, len(learned_grades)) for grade in grades])
    seen = np.bincount(index_of_item, model.seen, minlength=len(learned_grades) + 1)[:-1].astype(np.float64)
    summed = np.bincount(index_of_item, model.seen * model.relevance, minlength=len(learned_grades) + 1)[:-1]
    values = summed / np.maximum(seen, 1)
    notes += _notes_on_missing(grades, qrels, learned_grades)
    from scipy.optimize import isotonic_regression  # deferred: slow import

    gains = isotonic_regression(values, weights=seen).x
    if not np.allclose(gains, values):
        notes.append("a higher grade was clicked less than a lower grade: both get one gain")
    source = f"mean over documents by {spec}" if by_document else f"{spec} with the parameters of a grade in common"
    settings = f"{log.place}: {log.sessions} sessions | R: {source} | prior {prior[0]:g},{prior[1]:g} | {RISING}"
    return LearnedValues("gain", learned_grades, gains, settings, seen.astype(np.int64), None, notes)


def _notes_on_missing(grades: Sequence[Any], qrels: kernel.Qrels, learned_grades: Sequence[float]) -> list[str]:
    """Return notes on documents without a gain, and on grades never shown."""
    notes = []
    if UNJUDGED in grades:
        notes.append("unjudged documents have no grade to learn a gain for")
    if any(grade is not UNJUDGED and grade < 0 for grade in grades):
        notes.append("grades below 0 have gain 0 regardless of clicks")
    return notes + _note_on_missing_grades(qrels, learned_grades)


def _note_on_missing_grades(qrels: kernel.Qrels, learned_grades: Sequence[float]) -> list[str]:
    """Return notes on grades without a shown document."""
    missing = [f"{label:g}" for label in qrels.labels.tolist() if label >= 0 and label not in learned_grades]
    if not missing:
        return []
    problem = f"no document of the {plural(len(missing), 'grade')} {shorten(missing)} was shown"
    return [f"{problem}: add a line for it before the file is used with {qrels.place}"]


# From the correlation with a click measure


def from_correlation(log: ClickLog, qrels: kernel.Qrels, clicked: Floats, name: str, measure: Measure) -> LearnedValues:
    """Learn the gains with which a measure correlates best with a click measure over the lists of a log.

    clicked  lists: the click measure, and `name` its name
    measure  err or cascade, or a sum of gains with fixed weights; for the latter the solution is exact

    Chapelle et al., CIKM 2009, sections 7.1 and 7.3.
    """
    lists, y, count, notes = _fully_judged(log, qrels, clicked, name)
    scored = scoring_of(measure, lists.code.shape[1])
    lists = lists.of_grades(_learnable(lists.has, lists.grades, scored, log.place))
    if scored.cascade:

        def correlation(gains: Floats) -> float:
            value = _correlation(scored.scores(lists.gains(gains)), y, count)
            return -1.0 if np.isnan(value) else value

        gains, more_notes = _rescale_additive(maximize(correlation, len(lists.grades)))
    else:
        gains = linear_gains(lists, scored, y, count)
        more_notes = [_note_on_scale(lists.grades, gains)]
    reached = _correlation(scored.scores(lists.gains(gains)), y, count)
    if not reached > 0:
        problem = f"no gains that never fall with the grade make {measure} rise with {name}"
        raise InputError(log.place, problem, "give more lists and sessions")
    more_notes += _note_on_missing_grades(qrels, lists.grades.tolist())
    settings = f"{log.place}: {int(count.sum())} sessions, {len(y)} lists | {measure} against {name} | {RISING}"
    score = (f"correlation with {name}", reached)
    return LearnedValues("gain", lists.grades.tolist(), gains, settings, None, score, notes + more_notes)


def utility_from_correlation(
    log: ClickLog, qrels: kernel.Qrels, clicked: Floats, name: str, gain: Measure
) -> LearnedValues:
    """Learn the utility φ of ranks, φ(1) = 1, whose mean at the stop correlates best with a click measure: exact.

    gain  a measure whose gains are R of each grade

    Chapelle et al., CIKM 2009, definition 1 and section 7.1.
    """
    lists, y, count, notes = _fully_judged(log, qrels, clicked, name)
    top = float(lists.grades[-1])
    gain_of_grade = kernel.gains.gain_table(gain, kernel.gains.Grades(lists.grades, top)).gain_of_label
    phi = best_utility(lists.gains(gain_of_grade), y, count)
    scored = Scoring(gain, phi, True)
    reached = _correlation(scored.scores(lists.gains(gain_of_grade)), y, count)
    if not reached > 0:
        problem = f"no utility that never rises with the rank makes a cascade rise with {name}"
        raise InputError(log.place, problem, "give more lists and sessions")
    settings = f"{log.place}: {int(count.sum())} sessions, {len(y)} lists | R of {gain} | against {name} | never rising"
    score = (f"correlation with {name}", reached)
    return LearnedValues("phi", list(range(1, len(phi) + 1)), phi, settings, None, score, notes)


def _correlation(scores: Floats, clicked: Floats, count: Floats) -> float:
    return float(click_measures.weighted_correlation(scores[:, None], clicked[:, None], count)[0, 0])


def _fully_judged(
    log: ClickLog, qrels: kernel.Qrels, clicked: Floats, name: str
) -> tuple[GradedLists, Floats, Floats, list[str]]:
    """Return the fully judged lists, their click measure and sessions, and notes. Raises InputError if useless."""
    lists = graded_lists(log, qrels)
    count = np.bincount(log.configuration, log.count, minlength=len(log.topics)).astype(np.float64)
    kept = lists.judged & (count > 0) & ~np.isnan(clicked) & (log.lengths > 0)
    left_out = int(((count > 0) & ~kept).sum())
    if not kept.any():
        problem = f"no list is fully judged in {qrels.place}"
        raise InputError(log.place, problem, f"judge what was shown, or cut: {flag.depth}")
    if np.ptp(clicked[kept]) == 0:
        number = int(kept.sum())
        problem = f"{name} is the same for all lists" if number > 1 else "there is one list alone"
        raise InputError(log.place, f"{problem}, so nothing correlates with it", "give more lists and sessions")
    note = f"{log.place}: {left_out} {plural(left_out, 'list')} with unjudged documents left out"
    return lists.select(kept), clicked[kept], count[kept], [*log.notes, *([note] if left_out else [])]


def _learnable(has_documents: Bools, grades: Floats, scored: Scoring, place: str) -> Bools:
    """Return the mask of grades with a learnable gain. Raises InputError if all documents have one grade."""
    if has_documents.sum() < 2:
        problems = [f"all documents shown are of grade {grade:g}" for grade in grades[has_documents]]
        problem = problems[0] if problems else "no document is shown"
        raise InputError(place, problem, "gains are learned from lists that differ in grades")
    kept = has_documents.copy()
    kept[0] |= not scored.cascade
    return kept


def _note_on_scale(grades: Floats, gains: Floats) -> str:
    """Return a note on the scale of the gains of a sum."""
    scale = "of a sum of gains only the steps between grades are known, so gains up to a shift and a factor"
    least = f"grade {grades[gains.argmin()]:g} gains 0, and " if gains.min() == 0 else ""
    return f"{scale}: {least}the largest gain is 1"


def _rescale_additive(gains: Floats) -> tuple[Floats, list[str]]:
    """Return the gains; if they are so small that the cascade is a sum, their ratios and a note."""
    largest = float(np.abs(gains).max())
    if largest >= ADDITIVE:
        return gains, []
    problem = "the best gains are close to 0, where a cascade is a sum of gains and only their ratios are known"
    return gains / largest, [f"{problem}: the largest is set to 1"]


# From preferences


def from_preferences(preferences: Preferences, qrels: kernel.Qrels, measure: Measure) -> LearnedValues:
    """Learn the gains with which a measure is most likely to prefer the same lists as users.

    Σ −ln(1 + e^(−c·sign·difference)) is maximized over the gains and c. Chapelle et al., CIKM 2009, section 7.1.
    """
    first, second = preferences.first, preferences.second
    scored = scoring_of(measure, first.code.shape[1])
    kept = _learnable(first.has | second.has, first.grades, scored, preferences.place)
    first, second = first.of_grades(kept), second.of_grades(kept)

    def differences(gains: Floats) -> Floats:
        return preferences.sign * (scored.scores(first.gains(gains)) - scored.scores(second.gains(gains)))

    def likelihood(point: Floats) -> float:
        return -float(np.logaddexp(0, -np.exp(point[-1]) * differences(point[:-1])).mean())

    gains = maximize(likelihood, len(first.grades), zero=not scored.cascade, more=1)[:-1]
    if scored.cascade:
        gains, notes = _rescale_additive(gains)
    else:
        gains = gains / (gains.max() or 1)
        notes = [_note_on_scale(first.grades, gains)]
    margins = differences(gains)
    if not margins.any():
        raise InputError(preferences.place, "no pair has lists that differ in grades", "give pairs that do")
    if (margins > 0).all():
        notes.append("these gains agree with every pair, but so do others: more pairs would separate them")
    agreement = float(((margins > 1e-12) + (np.abs(margins) <= 1e-12) / 2).mean())
    settings = f"{preferences.place}: {len(margins)} pairs | {measure} | {RISING}"
    score = ("agreement with preferences", agreement)
    notes = [*preferences.notes, *notes, *_note_on_missing_grades(qrels, first.grades.tolist())]
    return LearnedValues("gain", first.grades.tolist(), gains, settings, None, score, notes)


# Thresholds of graded average precision


def thresholds_from_clicks(log: ClickLog, qrels: kernel.Qrels, by_share: bool) -> LearnedValues:
    """Learn g of graded average precision: the share of users with each grade as their threshold.
    Robertson et al., SIGIR 2010, section 2.2.

    by_share  use shares of clicked documents, which depend on how many are shown; otherwise steps between the click
              rates of grades at equal ranks, over the rate of the top grade
    """
    log, notes = keep_listed(log)
    lists = graded_lists(log, qrels)
    if len(lists.grades) < 2:
        raise InputError(qrels.place, "no grade is above 0", "thresholds are grades from 1 on")
    clicked, configuration = log.clicked(lists.code.shape[1])[log.pattern], log.configuration
    weight = log.count[:, None].astype(np.float64)
    views, clicks = np.zeros((2, len(lists.grades), lists.code.shape[1]))
    for grade in range(len(lists.grades)):
        there = lists.code[configuration] == grade
        views[grade], clicks[grade] = (there * weight).sum(0), (there & clicked).T.astype(np.float64) @ weight[:, 0]
    seen = views.sum(1).astype(np.int64)
    if by_share:
        if not clicks[1:].any():
            raise InputError(log.place, "no document of a grade above 0 was clicked", "give more sessions")
        shares = clicks[1:].sum(1) / clicks[1:].sum()
    else:
        ranks = (views > 0).all(0)  # ranks at which every grade is shown
        if not ranks.any():
            problem = "no rank shows documents of every grade"
            raise InputError(log.place, problem, f"give more sessions, or {flag.share}")
        rates = (clicks[:, ranks] / views[:, ranks]).mean(1)
        if not rates[-1] > 0:
            raise InputError(log.place, "no document of the top grade was clicked", "give more sessions")
        shares = np.diff(rates) / rates[-1]
    if (shares < 0).any():
        fallen = ", ".join(f"{grade:g}" for grade in lists.grades[1:][shares < 0])
        notes.append(f"grade {fallen} was clicked less than the grade below: no user has that threshold, so g is 0")
    thresholds = kernel.gains.thresholds(kernel.gains.Grades(qrels.labels, float(lists.grades[-1])))
    if thresholds[MOST_THRESHOLDS:]:
        problem = f"has more than {MOST_THRESHOLDS:,} thresholds up to grade {thresholds[-1]:g}"
        raise InputError(qrels.place, problem, f"{FOR:gain} learns gains of grades that are far apart")
    place = np.searchsorted(thresholds, lists.grades[1:])
    g, shown_of = np.zeros(len(thresholds)), np.zeros(len(thresholds), dtype=np.int64)
    g[place], shown_of[place] = np.maximum(shares, 0), seen[1:]
    if len(thresholds) > len(place):
        never = shorten(f"{grade:g}" for grade in thresholds if grade not in lists.grades)
        notes.append(f"no document is judged {never}: its threshold equals the next grade's, and g is 0")
    source = "shares of clicked documents" if by_share else "steps between the click rates of grades at equal ranks"
    settings = f"{log.place}: {log.sessions} sessions | g: {source}"
    return LearnedValues("g", thresholds, g, settings, shown_of, None, notes)


Source = Literal["model", "correlation", "preferences"]
Target = Literal["gain", "utility", "gap"]
FOR, FROM = Flag("--for", "target"), Flag("--from", "learn_from")
MEASURE = "err"


@dataclass(frozen=True)
class Lesson:
    """The keywords of `gains`, checked.

    Raises InputError (usage) for an invalid value, and for keywords that exclude each other.
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
            problem = f"cannot be learned from {self.learn_from}"
            raise InputError(f"{FOR:utility}", problem, f"add {FROM:correlation}", usage=True)
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
        for problem, (applied, names) in applies.items():
            check_applied(problem, applied, {name: getattr(self, name) != default[name] for name in names})
        ranges.PRIOR.check_field(self, "prior")
        ranges.ITERATIONS.check_field(self, "iterations")
        ranges.SS_REL.check_field(self, "ss_rel")


def model_of(measure: Measure) -> str:
    """Return the click model of the users of a measure. Raises InputError (usage) if none is known."""
    parameters, rank_sum = measure.arguments, measure.rank_sum
    if measure.name in ("err", "nerr", "cascade"):
        gamma = parameters.get("gamma", 1)
        return "cm" if gamma == 1 else f"dbn(gamma={kernel.notation.write_value(gamma)})"
    if measure.name == "rbp":
        return f"reader(p={kernel.notation.write_value(parameters['p'])})" if parameters.get("p") else "reader"
    if rank_sum is None or rank_sum.of != "gain":
        raise InputError(f"'{measure}'", "no click model has its users", f"name one with {flag.model}", usage=True)
    return "pbm"


def check_applied(owner: str, applied: bool, options: Mapping[str, bool]) -> None:
    """Raise InputError (usage) for the first option set if `owner`, to which options belong, is not in use."""
    if name := next((name for name, there in options.items() if there and not applied), None):
        raise InputError(Flag(f"--{name.replace('_', '-')}"), f"applies to {owner}", "leave it out", usage=True)


def read_evidence(
    source: Any,
    *,
    learn_from: Source = "model",
    clicks_as: ClicksAs = "rank",
    depth: Depth = None,
    idle: Idle = None,
    lenient: Lenient = False,
) -> Any:
    """Read the evidence for gains: a click log, or a file of preferences, which takes no options of a log."""
    if learn_from != "preferences":
        return read_log(source, clicks_as=clicks_as, depth=depth, idle=idle, lenient=lenient)
    options = {"clicks_as": clicks_as != "rank", "depth": depth is not None, "idle": idle is not None}
    check_applied("click logs", False, options | {"lenient": lenient})
    return source


SourceSetting = Annotated[Source, Setting(
    "Learn the relevance of a grade by a click model; the gains with which a measure "
    "correlates best with a click measure; or, from a file of topic, list_a, list_b and sign, the gains with which it "
    "agrees with these preferences.", spelled=("--from",), short="Evidence to learn from.")]  # fmt: skip
TargetSetting = Annotated[Target, Setting(
    "Learn gains, for --gain @FILE; the utility of ranks, for cascade(utility=FILE), from "
    "correlation; or thresholds for gap(g=...), from click rates.", spelled=("--for",),
    short="Kind of value to learn.")]  # fmt: skip
Model = Annotated[str | None, Setting("Click model of --from model.", metavar="MODEL", default_text="the model of the "
    "measure's users, cm for err and cascade, reader for rbp, pbm for other sums of gains")]  # fmt: skip
ByDocument = Annotated[bool, Setting("Of --from model: estimate the relevance of each document, and average it by "
    "grade; the prior pulls it to 0.5. Default: documents of a grade share it.",
    short="Estimate relevance by document, then average.")]  # fmt: skip
PriorCount = Annotated[float, Setting("Of --from model: prior counts of clicks and skips.", ranges.PRIOR,
    "X", default_text="1", short="Prior counts of clicks and skips.")]  # fmt: skip
Iterations = Annotated[int, Setting("Of --from model: iterations of EM.", ranges.ITERATIONS, "N")]
Against = Annotated[click_measures.ClickMeasure, Setting("Click measure of --from correlation.")]
Success = Annotated[float, Setting("Lowest grade that search success counts.", ranges.SS_REL, "GRADE")]
MeasureSetting = Annotated["AnyMeasure", Setting(
    "Measure that the gains are for: err, cascade, or a sum of gains such as "
    "rbp(p=0.8). With --for utility its gains are R.", metavar="MEASURE", spelled=("-m", "--measure"),
    measure="one", short="Measure that the gains are for, such as err.")]  # fmt: skip
Share = Annotated[bool, Setting("Of --for gap: shares of the clicked documents, not steps between click rates.",
    short="Shares of the clicked documents, for gap.")]  # fmt: skip


@public
def gains(
    source: Any,
    qrels: Any,
    measure: MeasureSetting = MEASURE,
    *,
    learn_from: SourceSetting = "model",
    target: TargetSetting = "gain",
    model: Model = None,
    by_document: ByDocument = False,
    prior: PriorCount = 1.0,
    iterations: Iterations = ITERATIONS,
    click_measure: Against = CLICKS,
    ss_rel: Success = SS_REL,
    share: Share = False,
    depth: int | None = None,
) -> LearnedValues:
    """Learn gains of grades from clicks.

    source         a click log, as for `read_log`; or preferences: a file or DataFrame with the columns topic, list_a,
                   list_b (docnos) and sign: 1 if users prefer list_a, −1 if list_b, 0 if neither
    qrels          the judgments, as for `evaluate`
    measure        err, cascade, or a sum of gains with fixed weights; for a utility its gains are R; with
                   learn_from="model" its users define the default click model
    depth          cut lists of the log to this depth
    learn_from     "model", the default: the relevance of a grade by a click model; "correlation": the gains with which
                   a measure correlates best with a click measure; "preferences": the gains with which it agrees best
    target         "gain" of each grade; "utility" of each rank, for cascade(utility=FILE), from a correlation;
                   "gap": the share of users whose threshold is each grade, from click rates
    model          the click model; None: the model of the measure's users, "cm" for err and cascade, "reader" for rbp,
                   "pbm" for other sums of gains; `prior` and `iterations` as in `models`; `by_document`: grades do
                   not share its parameters, and a gain is the mean over the documents of a grade
    click_measure  qctr, uctr, maxrr, meanrr, minrr, ss or plc; `ss_rel` is the lowest grade of a success, 2
    share          for gap: shares of clicked documents, not steps between click rates

    Returns `LearnedValues`: `.values`, `.frame`, `.score`. Raises InputError for wrong input, or if nothing can be
    learned.

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


def learn(source: Any, qrels: Any, measure_text: AnyMeasure, lesson: Lesson, depth: int | None) -> LearnedValues:
    """Learn gains as `gains` does. Raises InputError like it."""
    measures, qrels = parse_measures(measure_text), qrels if isinstance(qrels, kernel.Qrels) else kernel.Qrels(qrels)
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
        clicked = click_measures.means_of_lists(log, lesson.click_measure, qrels, lesson.ss_rel)
        learner = utility_from_correlation if lesson.target == "utility" else from_correlation
        return learner(log, qrels, clicked, lesson.click_measure, measure)
    specs = read_models(lesson.model or model_of(measure))
    if len(specs) != 1:
        raise InputError(flag.model, f"{len(specs)} click models", "name one, such as dbn", usage=True)
    prior = (lesson.prior, lesson.prior)
    return from_model(log, qrels, specs[0], prior, lesson.iterations, lesson.by_document)
