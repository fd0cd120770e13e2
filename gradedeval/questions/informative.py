"""`informative`: how well scores determine precision over recall."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Unpack

from gradedeval import kernel
from gradedeval.analysis import pictures
from gradedeval.arrays import Floats, Ints, distinct, np
from gradedeval.errors import InputError, did_you_mean, emit_notes, flag, plural, public, shorten
from gradedeval.kernel import (
    AnyMeasure,
    Column,
    Document,
    Layout,
    Measure,
    OptionKwargs,
    Options,
    Setting,
    Table,
    Workers,
)
from gradedeval.questions import maximum_entropy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.kernel import Batch, Scorer
    from gradedeval.questions.maximum_entropy import Chances, GradedLists, MostRandom


# Precision-recall curves of a list and of chances of grades.


LEVELS = [level / 20 for level in range(1, 21)]
"""Levels of recall at which curves are shown: shares of the relevance in the list."""
_REACHED = 1e-6
"""Tolerance for rounding in a sum of chances, in documents."""


class Users(NamedTuple):
    """Users by the grade from which a document is relevant to them. A single threshold gives a binary curve.

    steps  thresholds: the share of users
    holds  thresholds × grades: 1 if the grade reaches the threshold
    """

    steps: Floats
    holds: Floats


class Curves(NamedTuple):
    """Precision at the relevant documents of a list, the points at which recall changes.

    recall    documents: share of the relevance in the list
    actual    documents: precision
    inferred  documents: precision at the rank by which the chances sum to the same recall
    """

    recall: Floats
    actual: Floats
    inferred: Floats

    @property
    def rms(self) -> float:
        """The distance of the curves: the root of the mean square over the documents."""
        return float(np.sqrt(np.mean((self.actual - self.inferred) ** 2)))

    def at_levels(self) -> Floats:
        """Return actual and inferred precision at the first document that reaches each level: 2 × levels."""
        index = np.searchsorted(self.recall, np.array(LEVELS) - 1e-9)
        return np.stack([self.actual[index], self.inferred[index]])


def curves(users: Users, grades: Chances, chances: Chances) -> Curves:
    """Return actual and inferred precision over recall.

    grades, chances  grades × ranks, down to the end of the list

    With one threshold, precision is h/rank_h at the h-th relevant document, and h/x_h at the (real) rank x_h by
    which the chances sum to h; the sum grows linearly between ranks. With several, it is graded: 1/n Σ_{m≤n} Σ_{j ≤
    min(i_m, i_n)} g_j / Σ_{j≤i_n} g_j, or with chances its mean over the thresholds that the document at that rank
    reaches. Robertson et al., SIGIR 2010, section 3.2.
    """
    is_relevant, chance = users.holds @ grades, users.holds @ chances
    gained = (users.steps @ is_relevant).cumsum()
    rank = np.flatnonzero(np.diff(gained, prepend=0)) + 1
    expected = np.append(0.0, (users.steps @ chance).cumsum())
    close = _REACHED * users.steps.max()
    below = np.minimum(np.searchsorted(expected, gained[rank - 1] - close), len(gained))
    step = expected[below] - expected[below - 1]
    part = np.clip((gained[rank - 1] - expected[below - 1]) / step, 0, 1)
    actual = _precision(users, is_relevant, rank, np.ones(len(rank)))
    return Curves(gained[rank - 1] / gained[-1], actual, _precision(users, chance, below, part))


def _precision(users: Users, relevant: Floats, rank: Ints, part: Floats) -> Floats:
    """Return precision at real ranks, a `part` of the way from the rank above to `rank`: the mean over thresholds,
    weighted by the chance that the document at the rank reaches each."""
    summed = np.cumsum(relevant, axis=1)
    here = relevant[:, rank - 1]
    down_to = summed[:, rank - 1] - (1 - part) * here
    reaches = users.steps[:, None] * here
    return np.asarray((reaches * down_to).sum(0) / reaches.sum(0) / (rank - 1 + part))


# Actual curves of the lists of a run, and the curves that scores determine.


COUNTS = "counts alone"
"""Label of the curve from the number of documents of each grade, without a score."""
MEAN, GRADED = "mean", "graded"
"""Names of the mean of the binary curves, and of the curve of graded precision and recall."""


class RunCurves(NamedTuple):
    """Curves of a run.

    topics     topics of its lists
    ranks      lengths of its lists
    numbers    of each list: measures × (score, entropy, whether the solver converged)
    rms        of each list: measures × curves; nan if the solver did not converge
    precision  measures × curves × (actual, inferred) × levels of recall, summed over lists that converged
    scored     number of topics that count for the run, and of topics that it lacks
    """

    name: str
    topics: list[str]
    ranks: list[int]
    numbers: list[Floats]
    rms: list[Floats]
    precision: Floats
    scored: tuple[int, int]
    format: str
    notes: list[str]


@dataclass(frozen=True, eq=False, repr=False)
class Solver:
    """Solver for the curves that measures determine for the lists of a run.

    grades     distinct grades from 0 on; negative grades and unjudged documents are 0
    min_found  minimum number of documents of each grade above 0 in a list
    """

    scorer: Scorer
    grades: Floats
    min_found: int

    @property
    def enough(self) -> str:
        """The minimum number of documents in words."""
        return f"{self.min_found} {plural(self.min_found, 'document')} of each grade above 0"

    @property
    def measures(self) -> list[str]:
        """Labels of the measures, and `COUNTS`."""
        return [*(measure.label for measure in self.scorer.measures), COUNTS]

    @cached_property
    def users(self) -> dict[str, Users]:
        """curve -> its users: one threshold, or several for the graded curve."""
        above = (np.arange(len(self.grades)) >= np.arange(1, len(self.grades))[:, None]).astype(np.float64)
        binary = {
            f"rel={grade:g}": Users(np.ones(1), above[row : row + 1]) for row, grade in enumerate(self.grades[1:])
        }
        gap = kernel.MEASURES["gap"]
        gain_of_grade = self.gain_of_grade(kernel.gains.gain_table(gap, self.scorer.grades), gap)
        return binary | ({GRADED: Users(np.diff(gain_of_grade), above)} if len(binary) > 1 else {})

    @property
    def curves(self) -> list[str]:
        """Names of the curves, including the mean of the binary ones."""
        binary = [name for name in self.users if name != GRADED]
        return [*binary, MEAN, *(name for name in self.users if name == GRADED)]

    def gain_of_grade(self, table: kernel.gains.GainTable, measure: Measure) -> Floats:
        """Return the gain of each grade under a measure. Raises InputError (usage) if grade 0 has a gain."""
        labels = [*self.scorer.grades.labels.tolist(), *self.grades.tolist()]
        gains = np.append(table.gain_of_label, np.zeros(len(self.grades)))
        gain_of_grade = gains[[labels.index(grade) for grade in self.grades]]
        if gain_of_grade[0]:
            hint = "here what is not judged has grade 0: give it gain 0"
            raise InputError(f"'{measure}'", f"gives grade 0 the gain {gain_of_grade[0]:g}", hint, usage=True)
        return np.asarray(gain_of_grade)

    def of_run(self, run: tuple[str, Any]) -> RunCurves:
        """Return the distances and curves of a run, given as (name, source). Raises InputError if it cannot be read."""
        name, source = run
        graded = kernel.tasks.grade_run(source, replace(self.scorer.grader, last_rank=None), Workers(), name)
        precision = np.zeros((len(self.measures), len(self.curves), 2, len(LEVELS)))
        scored = len(graded.topics), graded.missing
        notes = kernel.caveats.notes_of_run(graded, self.scorer)
        result = RunCurves(name, [], [], [], [], precision, scored, graded.format, notes)
        for batch in graded.settled():
            self._add(result, batch)
        return result

    def _add(self, result: RunCurves, batch: Batch) -> None:
        """Add the lists of a batch that have enough documents of each grade."""
        grade_of = np.searchsorted(self.grades, np.maximum(self.scorer.grades.labels, 0))
        grade = np.append(grade_of, [0, -1])[batch.codes]  # of what is not judged, and past the end
        counts = np.stack([(grade == level).sum(1) for level in range(len(self.grades))], axis=1)
        rows = np.flatnonzero((counts[:, 1:] >= self.min_found).all(1))
        if not len(rows):
            return
        has_grade = grade[rows, None] == np.arange(len(self.grades))[:, None]
        lists = maximum_entropy.GradedLists(has_grade.astype(np.float64))
        solved = self._solved(batch.select(rows), lists)
        for row, topic in enumerate(rows.tolist()):
            length = int(counts[topic].sum())
            per_measure = [(score[row], most.entropy[row], most.converged[row]) for score, most in solved]
            rms = np.full((len(self.measures), len(self.curves)), np.nan)
            for measure, (_, most) in enumerate(solved):
                if most.converged[row]:
                    grades, chances = lists.grades[row, :, :length], most.chances[row, :, :length]
                    rms[measure], at_levels = self._distances(grades, chances)
                    result.precision[measure] += at_levels
            result.topics.append(kernel.decode(batch.topics[topic]))
            result.ranks.append(length)
            result.numbers.append(np.array(per_measure))
            result.rms.append(rms)

    def _solved(self, batch: Batch, lists: GradedLists) -> list[tuple[Floats, MostRandom]]:
        """Return for each measure the scores of lists and the chances that they determine; last, by counts alone."""
        gains_of, solutions = self.scorer.gains_cache(batch), []
        for measure, table in zip(self.scorer.measures, self.scorer.tables, strict=True):
            g, gains = gains_of(table, measure), self.gain_of_grade(table, measure)
            expected = maximum_entropy.expected_score(measure, g, gains, lists.grades.shape[2])
            solutions.append((kernel.scores_of(measure, g), maximum_entropy.most_random(lists, expected, gains)))
        count = len(lists.grades)
        counts_alone = maximum_entropy.MostRandom(lists.uniform, np.ones(count, dtype=bool), np.zeros(count))
        return [*solutions, (np.full(count, np.nan), counts_alone)]

    def _distances(self, grades: Floats, chances: Floats) -> tuple[Floats, Floats]:
        """Return the distance of each inferred curve from the actual one (curves), and their precision (curves × 2 ×
        levels)."""
        by_name = {name: curves(users, grades, chances) for name, users in self.users.items()}
        distances = {name: curve.rms for name, curve in by_name.items()}
        levels = {name: curve.at_levels() for name, curve in by_name.items()}
        binary = [name for name in by_name if name != GRADED]
        distances[MEAN] = float(np.mean([distances[name] for name in binary]))
        levels[MEAN] = np.mean([levels[name] for name in binary], axis=0)
        return np.array([distances[name] for name in self.curves]), np.stack([levels[name] for name in self.curves])


By = Annotated["AnyMeasure | Iterable[AnyMeasure]", Setting("Measure, such as 'gap(g=1:1)' or ndcg@20. Repeat -m, or "
    "separate measures by spaces.", metavar="MEASURE", section="Measures and gains", spelled=("-m", "--measure"),
    measure="several")]  # fmt: skip
MinFound = Annotated[int, Setting("Leave out lists with fewer documents of any grade above 0.", kernel.ranges.MIN_FOUND,
    metavar="N", short="Leave out lists with fewer relevant documents.")]  # fmt: skip
ByTopic = Annotated[bool, Setting("Print a row per run and topic, then the means over them.", section="Output",
    spelled=("-q", "--by-topic"), short="A row per run and topic, then the means.")]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Informativeness(kernel.results.InNotebook):
    """Distances between the curves that scores determine and the curves of the rankings.

    lists      a row for each measure, run, topic and curve: measure (`counts alone`: without a score), run, topic,
               curve (`rel=1`, `rel=2`, …: binary precision-recall curve from that grade on; `mean`: their mean;
               `graded`), rms (root of the mean square difference of precision over the relevant documents of the
               list; blank if the solver did not converge), converged, score, entropy (in nats), ranks
    curves     a row for each measure, curve and level of recall (share of the relevance in the list): measure,
               curve, recall, actual and inferred (precision, means over the lists that converged), lists (their
               number)
    signature  settings that the numbers depend on
    notes      skipped lists and assumptions
    """

    lists: pd.DataFrame
    curves: pd.DataFrame
    signature: str
    notes: list[str] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each measure and curve: measure, curve, rms (mean over lists), lists, converged (lists)."""
        groups = self.lists.groupby(["measure", "curve"], sort=False)
        means = groups.agg(rms=("rms", "mean"), lists=("rms", "size"), converged=("converged", "sum"))
        return means.reset_index()

    def document(self, layout: Layout, *, by_topic: ByTopic = False) -> Document:
        """Return a table of measures × curves; `by_topic` adds a row for each list."""
        if layout == "long":
            return Document([kernel.results.to_table(_long(self, by_topic))], self.signature)
        blocks: list[Table | str] = []
        if by_topic:
            keys = ("measure", "run", "topic")
            columns = [*map(Column, keys), Column("score", "score"), Column("converged")]
            blocks.append(_by_curve(kernel.results.to_rows(self.lists), keys, columns, ("score", "converged")))
        columns = [Column("measure"), Column("lists", "count"), Column("converged", "count")]
        blocks += [_by_curve(kernel.results.to_rows(self.frame), ("measure",), columns, ("lists", "converged"))]
        return Document(blocks, self.signature)


@kernel.takes_options("reading")
@public
@kernel.shares_work
def informativeness(
    runs: Any,
    qrels: Any,
    measures: By = ("gap", "ndcg", "ap"),
    *,
    min_found: MinFound = 5,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Informativeness:
    """Compute how well a score alone determines the precision-recall curve, by the maximum entropy method.

    runs       as in `evaluate`: one run, a list of runs, or a dict of them by name
    qrels      as in `evaluate`
    measures   notation, as in "gap(g=1:1) ndcg(gain=exp) ap". Possible are gap, ap, sp, ndcg, dcg, err, nerr,
               cascade, rr, recall, grecall, rprec and measures with fixed weights: their expectation is known
    min_found  leave out lists with fewer documents of any grade above 0
    keywords   options, as in `evaluate`; depth=100 cuts the lists

    The solver finds the chances of grades at each rank with the greatest entropy under which the expected number of
    documents of each grade, and the expected score, are the ones of the list. Their precision-recall curve is
    compared with the curve of the list: the closer, the more informative the score. Documents that are unjudged, or
    have a negative grade, are not relevant. Robertson et al., SIGIR 2010, section 4.1; Aslam, Yilmaz & Pavlu, SIGIR
    2005.

    Returns `Informativeness`: `.frame`, `.lists`, `.curves`, `.signature`. Raises `gradedeval.InputError` as
    `evaluate` does, if no list is left, and (usage) for a measure whose expectation is not known.

    >>> run, qrels = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, {"q1": {"d1": 1, "d3": 1}}
    >>> result = gradedeval.informativeness(run, qrels, "rr", min_found=1)
    >>> result.frame.query("curve == 'mean'")[["measure", "rms"]].round(3)
            measure    rms
    1            rr  0.000
    3  counts alone  0.236
    """
    options = kernel.resolve_options(like, **keywords)
    named, chosen = kernel.named_runs(runs, qrels), kernel.parse_measures(measures)
    min_found = kernel.ranges.MIN_FOUND.check(min_found)
    _check(chosen, options)
    judged = kernel.qrels_for(named, qrels, options)
    scorer = kernel.Scorer(judged, chosen, options, kernel.Workers.current().limits)
    solver, solved = _solved(named, scorer, min_found, judged.place)
    counts = [run.scored for run in solved]
    under = kernel.signature(judged, options, scorer.measures, counts, [run.format for run in solved])
    notes = emit_notes([*scorer.notes, *(note for run in solved for note in run.notes), *_notes(solver, solved)])
    settings = f"{under} | lists with {solver.enough}, or more"
    return Informativeness(_frame(solver, solved), _curve_frame(solver, solved), settings, notes)


def _solved(runs: Mapping[str, Any], scorer: Scorer, min_found: int, place: str) -> tuple[Solver, list[RunCurves]]:
    """Return the solver and the curves of each run. Raises InputError if nothing is relevant, or no list is left."""
    grades = distinct(np.append(np.maximum(scorer.grades.labels, 0), 0))[0]
    if not grades.any():
        raise InputError(place, "no grade above 0, so there is no precision and recall")
    solver, share = Solver(scorer, grades, min_found), kernel.Workers.current()
    for measure, table in zip(scorer.measures, scorer.tables, strict=True):
        solver.gain_of_grade(table, measure)
    if any(kernel.stream.is_file(source) and kernel.stream.Source(source).is_read_once for source in runs.values()):
        share = share.serial()
    solved = list(share.progress(share.silent().imap(solver.of_run, list(runs.items())), len(runs)))
    if not any(len(run.topics) for run in solved):
        raise InputError("", f"no list has {solver.enough}", f"lower {flag.min_found}, or raise {flag.depth}")
    return solver, solved


def _check(measures: Sequence[Measure], options: Options) -> None:
    """Raise InputError (usage) for measures and options whose scores have no known expectation."""
    if not measures:
        raise InputError("", "no measure given", "for example 'gap ndcg ap'", usage=True)
    if options.ties == "average":
        raise kernel.options.OPTIONS["ties"].error("precision at a document needs one order", "choose an order")
    for measure in measures:
        maximum_entropy.check_expected(measure)


def _frame(solver: Solver, solved: Sequence[RunCurves]) -> pd.DataFrame:
    """Return a row for each measure, run, topic and curve."""
    rows = [
        (measure, run.name, topic, curve, rms[row, column], bool(numbers[row, 2]), *numbers[row, :2], ranks)
        for row, measure in enumerate(solver.measures)
        for run in solved
        for topic, ranks, numbers, rms in zip(run.topics, run.ranks, run.numbers, run.rms, strict=True)
        for column, curve in enumerate(solver.curves)
    ]
    columns = ["measure", "run", "topic", "curve", "rms", "converged", "score", "entropy", "ranks"]
    return kernel.results.to_frame(rows, columns=columns)


def _curve_frame(solver: Solver, solved: Sequence[RunCurves]) -> pd.DataFrame:
    """Return a row for each measure, curve and level of recall, except for the mean of curves."""
    converged = np.sum([by_measure[:, 2] for run in solved for by_measure in run.numbers], axis=0)
    means = sum(run.precision for run in solved) / np.maximum(converged, 1)[:, None, None, None]
    rows = [
        (measure, curve, level, *means[row, column, :, index], int(converged[row]))
        for row, measure in enumerate(solver.measures)
        for column, curve in enumerate(solver.curves)
        if curve != MEAN
        for index, level in enumerate(LEVELS)
    ]
    return kernel.results.to_frame(rows, columns=["measure", "curve", "recall", "actual", "inferred", "lists"])


def _notes(solver: Solver, solved: Sequence[RunCurves]) -> list[str]:
    """Return notes on lists that are left out, and on lists for which the solver did not converge."""
    count, every = sum(len(run.topics) for run in solved), sum(run.scored[0] for run in solved)
    notes = []
    if count < every:
        notes.append(f"{every - count} of {every} {plural(every, 'list')} left out: without {solver.enough}")
    for row, measure in enumerate(solver.measures):
        failed = [f"{run.name} {topic}" for run in solved
                  for topic, numbers in zip(run.topics, run.numbers, strict=True) if not numbers[row, 2]]  # fmt: skip
        if failed:
            failures = f"the solver did not converge on {len(failed)} of {count} {plural(count, 'list')}"
            notes.append(f"{measure}: {failures} ({shorten(failed)}), which the means leave out")
    return notes


ALL = "all"
"""Run and topic of a mean over all lists."""


def _long(result: Informativeness, by_topic: bool) -> pd.DataFrame:
    """Return a row for each measure and curve, over all lists; `by_topic` puts a row for each list above."""
    means = result.frame.assign(run=ALL, topic=ALL)
    columns = ["measure", "run", "topic", "curve", "rms", "lists", "converged"]
    if not by_topic:
        return means[columns]
    lists = result.lists.assign(lists=1, converged=result.lists["converged"].astype(int))
    return kernel.results.joined([lists, means])[[*columns, "score", "entropy", "ranks"]]


def _by_curve(
    rows: list[dict[str, Any]], keys: tuple[str, ...], columns: list[Column], extras: tuple[str, ...]
) -> Table:
    """Return a table with a row for each value of the keys and a column for the distance of each curve."""
    curves = list(dict.fromkeys(row["curve"] for row in rows))
    table: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        table.setdefault(tuple(row[key] for key in keys), {})[row["curve"]] = row
    head, tail = columns[: len(keys)], columns[len(keys) :]
    header = [*head, *(Column(f"rms {curve.replace('rel=', '≥')}", "score") for curve in curves), *tail]
    cells = [
        [*key, *(of[curve]["rms"] for curve in curves), *(_shown(of[MEAN][name]) for name in extras)]
        for key, of in table.items()
    ]
    return Table(header, cells)


def _shown(value: Any) -> Any:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


COLUMNS = ("measure", "curve", "recall", "actual", "inferred", "lists")


@public
def plot_informative(result: Any, curve: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Plot the actual precision-recall curve in black, and a line for each measure: the curve that its score alone
    determines. The dotted line is the curve from the number of documents of each grade, without a score.

    result  result of `gradedeval.informativeness`, or its `curves`
    curve   `rel=1`, `rel=2`, …: binary precision and recall from that grade on; `graded`; None: the first
    ax      matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, or an unknown curve.

    >>> run, qrels = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, {"q1": {"d1": 1, "d3": 1}}
    >>> axes = gradedeval.plot.informative(gradedeval.informativeness(run, qrels, "ap", min_found=1))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('recall (share of what is relevant in the list)', 'precision, grade ≥ 1 (1 list)')
    """
    frame = pictures.require_frame(result, COLUMNS, "informative", "the result of gradedeval.informativeness", "curves")
    names = list(dict.fromkeys(frame["curve"]))
    if curve is not None and curve not in names:
        hint = did_you_mean(curve, names) or f"choose from {shorten(names)}"
        raise InputError("plot.informative", f"no curve '{curve}'", hint, usage=True)
    return pictures.draw_on(partial(draw_inferred, frame=frame[frame["curve"] == (curve or names[0])]), ax)


def curve_panels(result: Informativeness) -> list[pictures.Panel]:
    """Return a picture for each curve: binary from each grade on, and graded."""
    curves = result.curves.groupby("curve", sort=False)
    return [pictures.Panel(partial(draw_inferred, frame=frame), 1.9) for _, frame in curves]


def draw_inferred(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw the actual curve of one kind, and the inferred curve of each measure."""
    by_measure = dict(list(frame.groupby("measure", sort=False)))
    counts = by_measure.pop(COUNTS, None)
    every = [*by_measure.values(), *([] if counts is None else [counts])]
    widest = max(every, key=lambda curves: curves["lists"].iloc[0])
    ax.plot(widest["recall"], widest["actual"], color=pictures.BLACK, linewidth=1.6, label="actual", zorder=3)
    # Black is the actual curve alone.
    looks = pictures.line_styles(len(pictures.COLORS) - 1 + len(by_measure))
    styles = [look for look in looks if look["color"] != pictures.BLACK]
    for (measure, curves), look in zip(by_measure.items(), styles, strict=False):
        ax.plot(curves["recall"], curves["inferred"], label=pictures.label_text(str(measure)), **look)
    if counts is not None:
        ax.plot(counts["recall"], counts["inferred"], color=pictures.GREY, linestyle=":", label=COUNTS)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, None)
    ax.grid(color=pictures.LIGHT, linewidth=0.4)
    name, lists = str(frame["curve"].iloc[0]), int(frame["lists"].max())
    kind = "graded precision" if name == GRADED else f"precision, grade ≥ {name.removeprefix('rel=')}"
    ax.set_xlabel("recall (share of what is relevant in the list)")
    ax.set_ylabel(f"{kind} ({lists} {plural(lists, 'list')})")
    pictures.legend(ax)
