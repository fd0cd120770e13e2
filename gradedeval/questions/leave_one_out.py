"""`pool --leave-one-out` and `--agreement`: each run left out of the pool in turn; two assessors beside each other."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import ranked_runs
from gradedeval.analysis.tables import GROUP, shown
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, merge_close, np
from gradedeval.errors import InputError, ProblemList, did_you_mean, flag, plural, public, shorten, tell
from gradedeval.kernel import (
    Column,
    Document,
    InNotebook,
    Kind,
    Layout,
    Measure,
    OptionKwargs,
    Options,
    Question,
    Setting,
    Table,
    distinct,
    frame_rows,
    frame_table,
    numbers,
    parse_measures,
    resolve_options,
    shares_work,
    to_frame,
)
from gradedeval.questions import correlate
from gradedeval.questions.to_judge import PoolDepth

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import RankedRun, RankedRuns, Rows
    from gradedeval.kernel import Qrels, Scorer


# Orders of runs: the rank of each, and how far two orders agree.


def summaries(scores: Floats, measure: Measure) -> Floats:
    """runs: the mean (or total, or geometric mean) of each over the topics that count for it.

    scores  runs × topics, nan where a topic does not count
    """
    return np.array([float(measure.reading.summarize(row[~np.isnan(row)])) for row in scores])


def standing(values: Floats, measure: Measure) -> Ints:
    """runs: the rank of each by these values, from 1; equal runs share one."""
    merged = merge_close(values * measure.reading.sign, TOLERANCE)
    ranks: Ints = 1 + (merged[:, None] < merged).sum(1)
    return ranks


def agreements(true: Floats, other: Floats, measure: Measure) -> tuple[float, float]:
    """Kendall's τ_b and τ_AP of an order of runs, `other`, with the true one."""
    values = [merge_close(one * measure.reading.sign, TOLERANCE) for one in (true, other)]
    return correlate.agreement("tau", *values), correlate.agreement("tau-ap", *values)


# Which team made which run: `--groups FILE`.


Measured = Annotated["str | Measure | Iterable[str | Measure]", Setting("Measure of --leave-one-out and --agreement; "
    "of --to-judge (ndcg@10). Repeat -m, or separate measures by spaces.", metavar="MEASURE",
    section="Measures and gains", spelled=("-m", "--measure"), measure="several")]  # fmt: skip
Groups = Annotated[Any, Setting("File of run and group: the team of each run.", metavar="FILE", reads=True)]
Other = Annotated[Any, Setting("Compare the judgments with a second qrels file: confusion of grades, kappa, alpha, and "
    "the order of runs.", metavar="QRELS2", spelled=("--agreement",), reads=True)]  # fmt: skip


def read_groups(
    source: str | os.PathLike[str] | Mapping[str, str] | None, runs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The group of each run, and notes. A run that is in none is a group of its own.

    source  a file with lines of run and group, or a dict; None: each run is a group

    Raises InputError where it names a run that is not there, or one twice.
    """
    if source is None:
        return list(runs), []
    if isinstance(source, Mapping):
        group_of: dict[str, str] = {str(run): str(group) for run, group in source.items()}
        for run in group_of:
            if run not in runs:
                raise InputError("groups", f"unknown run '{run}'", _hint(run, runs), usage=True)
        place = "groups"
    else:
        group_of, place = _read(source, runs)
    alone = [run for run in runs if run not in group_of]
    notes = [
        f"{place}: {len(alone)} {plural(len(alone), 'run')} in no group ({shorten(alone)}); each forms its own group"
    ]
    return [group_of.get(run, run) for run in runs], notes if alone else []


def _read(source: Any, runs: Sequence[str]) -> tuple[dict[str, str], str]:
    table = kernel.SmallTable.read(source, ("run", "group"), hint="expected lines such as 'bm25.run team'", words=True)
    problems: ProblemList = table.problems
    for row in table.rows:
        if row.cells["run"] not in runs:
            problems.add(row.line, f"unknown run '{row.cells['run']}'", _hint(row.cells["run"], runs))
    table.check([row.cells["run"] for row in table.rows], ("run",))
    return {row.cells["run"]: row.cells["group"] for row in table.rows}, table.place


def _hint(run: str, runs: Sequence[str]) -> str:
    return did_you_mean(run, runs) or f"as in {shorten(runs)}"


def group_counts(ranked: RankedRuns, group_of: list[str], depth: int | None) -> tuple[dict[str, Bools], Ints]:
    """What each group gives to the pool; and documents: how many groups give it."""
    given: dict[str, Bools] = {}
    for run, group in zip(ranked.runs, group_of, strict=True):
        own = contributed(run, depth, len(ranked))
        given[group] = given[group] | own if group in given else own
    by = np.zeros(len(ranked), dtype=np.int64)
    for own in given.values():
        by += own
    return given, by


def contributed(run: RankedRun, depth: int | None, documents: int) -> Bools:
    """documents: whether a run gives it to the pool."""
    given = np.zeros(documents, dtype=bool)
    given[run.document if depth is None else run.document[run.rank <= depth]] = True
    return given


# Is a collection reusable? Each run scored without the judgments that it, or its group, alone gave the pool.


@dataclass(frozen=True, eq=False)
class LeftOut(InNotebook):
    """What becomes of each run without the judgments that it alone gave.

    frame   a row for each run and measure: measure, run, group, unique (judgments that no run of another group gave),
            unique_relevant, score, score_without, change (score_without − score), relative (the change as a share of
            the score), rank, rank_without (among all runs, all scored without these judgments), tau, tau_ap (of that
            order of runs with the full one)
    orders  a row for each measure: measure, runs, mean_change (of the absolute relative changes), largest_change,
            largest_drop (in ranks), tau, tau_ap (of the order of runs, each scored without its own judgments, with the
            full one)
    """

    frame: pd.DataFrame
    orders: pd.DataFrame
    measures: list[Measure]
    signature: str
    notes: list[str] = field(default_factory=list)

    def document(self, layout: Layout) -> Document:
        """Each run with and without what it alone gave, and what becomes of the order."""
        if layout == "long":
            return Document([frame_table(self.frame)], self.signature)
        blocks: list[Table | str] = []
        for measure in self.measures:
            frame = self.frame[self.frame["measure"] == measure.label].sort_values("rank", kind="stable")
            grouped = (frame["run"] != frame["group"]).any()
            blocks.append(
                shown(
                    frame,
                    run=("run", "text"),
                    **(GROUP if grouped else {}),
                    unique=("unique", "count"),
                    unique_relevant=("unique relevant", "count"),
                    score=(measure.label, "score"),
                    score_without=("without", "score"),
                    change=("change", "signed"),
                    relative=("%", "percent"),
                    rank=("rank", "count"),
                    rank_without=("without ", "count"),
                    tau_ap=("tau-ap", "score"),
                )
            )
        blocks.append(
            shown(
                self.orders,
                measure=("measure", "text"),
                runs=("runs", "count"),
                mean_change=("mean change", "share"),
                largest_change=("largest", "share"),
                largest_drop=("largest drop", "count"),
                tau=("tau", "score"),
                tau_ap=("tau-ap", "score"),
            )
        )
        words = (
            "each run is scored without the judgments of documents that it, or its group, alone gave; tau-ap: of the"
        )
        return Document(blocks, f"{words} order of all runs without them with the full one\n{self.signature}")

    def __repr__(self) -> str:
        return f"<LeftOut: {len(distinct(self.frame, 'run'))} runs>"


@public
@shares_work
def leave_one_out(
    runs: Any,
    qrels: Any,
    measures: Measured = ("err@20",),
    *,
    groups: Groups = None,
    pool_depth: PoolDepth = None,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> LeftOut:
    """Score each run without the judgments of documents that it, or its group, alone gave the pool, as if it had not
    taken part: if scores and order hardly change, the collection is fair to runs that did not.

    groups      a file or dict run -> group: the team of each run
    pool_depth  documents below this rank were not given to the pool; None: all were

    Topics count as with all judgments: one that loses its last relevant document scores 0, with `topics="relevant"`
    and `like="gdeval"` too. The top grade stays that of the whole qrels. A document is relevant from the `rel` of the
    measure on, or of the options, or 1.

    The other arguments are those of `evaluate`. Zobel, SIGIR 1998; by groups Buckley et al., Information Retrieval
    2007. Returns `LeftOut`: `.frame`, `.orders`. Raises InputError as `evaluate` does, and for fewer than two runs.
    """
    options = resolve_options(like, **keywords).of_one_judge()
    named, chosen = kernel.named_runs(runs), parse_measures(measures)
    pool_depth = numbers.POOL_DEPTH.check_or_none(pool_depth)
    if len(named) < 2:
        what = f"{len(named)} {plural(len(named), 'run')} given"
        raise InputError(flag.leave_one_out, what, "the order of runs needs two or more", usage=True)
    group_of, group_notes = read_groups(groups, list(named))
    judged = kernel.qrels_for(named, qrels, options)
    scorer = kernel.Scorer(judged, chosen, replace(options, residuals=None))
    ranked_runs.check_maskable(scorer, options, flag.leave_one_out)
    ranked = ranked_runs.rank_runs(named, scorer.grader, scorer=scorer)  # files are read once: judgments are masked
    given, by = group_counts(ranked, group_of, pool_depth)
    full, whole = ranked.scores(scorer)[0], ranked.rows(scorer.grader)
    rows = []
    for group, own in kernel.progress("groups")(list(given.items())):
        alone = own & (by == 1) & ranked.judged
        without = masked_scores(ranked, scorer, alone, full, whole)
        for run in (number for number, name in enumerate(group_of) if name == group):
            rows += _of_run(ranked, scorer, run, group, alone, full, without)
    order, labels = list(named), [measure.label for measure in scorer.measures]
    frame = to_frame(sorted(rows, key=lambda row: (labels.index(row["measure"]), order.index(row["run"]))))
    counts = [(int(run.listed.sum()), run.missing) for run in ranked.runs]
    said = tell([*scorer.notes, *ranked.notes, *group_notes])
    text = kernel.signature(judged, scorer.options, scorer.measures, counts)
    return LeftOut(frame, _orders(frame, scorer.measures), scorer.measures, text, said)


def masked_scores(ranked: RankedRuns, scorer: Scorer, masked: Bools, known: Floats, whole: Sequence[Rows]) -> Floats:
    """runs × topics × measures: the scores without the judgments of some documents.

    known  the scores with all judgments: those of topics without such documents stay
    whole  the rankings with all judgments
    """
    topics = np.flatnonzero(np.bincount(ranked.topic[masked], minlength=len(ranked.topics)))
    if not len(topics):
        return known
    unjudged = len(ranked.grader.qrels.labels)
    code = np.where(masked, unjudged, ranked.code)
    pool = ranked.pool.without(ranked.topic[masked], ranked.code[masked])
    scores, concerned = known.copy(), np.isin(np.arange(len(ranked.topics)), topics)
    # A run that has none of the documents keeps its ranking: only the pool is another.
    has = np.array([masked[run.document].any() for run in ranked.runs])
    of_pool = ranked_runs.of_another_pool(scorer)
    for batch, run, topic in whole:
        rows = np.flatnonzero(concerned[topic] & ~has[run])
        if len(rows):
            part = replace(batch.select(rows), pool=pool.select(topic[rows]))
            scores[run[rows], topic[rows]] = of_pool.score_batch(part).values[0]
    own = np.flatnonzero(has)
    others = replace(ranked, runs=[ranked.runs[run] for run in own.tolist()]).of_topics(topics)
    scores[np.ix_(own, topics)] = others.scores(scorer, code, pool.select(topics))[0]
    return scores


def _of_run(
    ranked: RankedRuns, scorer: Scorer, run: int, group: str, alone: Bools, full: Floats, without: Floats
) -> list[dict[str, Any]]:
    rows = []
    labels = ranked.grades(np.flatnonzero(alone))
    for column, measure in enumerate(scorer.measures):
        before, after = (summaries(scores[:, :, column], measure) for scores in (full, without))
        tau, tau_ap = agreements(before, after, measure)
        level = next((rel for rel in (measure.rel, scorer.options.rel) if rel is not None), 1)
        score, score_without = before[run], after[run]
        rows.append(
            {
                "measure": measure.label,
                "run": ranked.runs[run].name,
                "group": group,
                "unique": int(alone.sum()),
                "unique_relevant": int((labels >= level).sum()),
                "score": score,
                "score_without": score_without,
                "change": score_without - score,
                "relative": (score_without - score) / abs(score) if score else np.nan,
                "rank": int(standing(before, measure)[run]),
                "rank_without": int(standing(after, measure)[run]),
                "tau": tau,
                "tau_ap": tau_ap,
            }
        )
    return rows


def _orders(frame: pd.DataFrame, measures: list[Measure]) -> pd.DataFrame:
    rows = []
    for measure in measures:
        own = frame[frame["measure"] == measure.label]
        tau, tau_ap = agreements(own["score"].to_numpy(), own["score_without"].to_numpy(), measure)
        relative = own["relative"].abs()
        drop = int((own["rank_without"] - own["rank"]).max())
        rows.append((measure.label, len(own), float(relative.mean()), float(relative.max()), drop, tau, tau_ap))
    columns = ["measure", "runs", "mean_change", "largest_change", "largest_drop", "tau", "tau_ap"]
    return to_frame(rows, columns=columns)


# Two judgments of the same documents: how far assessors agree, and what that does to the order of runs.


SAVED = ("narrower", "times")
OF_ORDERS = ["measure", "runs", "tau", "tau_ap", "topics", "others", *SAVED, *(f"{name}_differences" for name in SAVED)]
SAVES = "prediction-powered inference: what the second judgments would save if they were of so many other topics"


@dataclass(frozen=True, eq=False)
class AssessorAgreement(InNotebook):
    """How far two qrels agree on the documents that both judge.

    documents  how many both judge, in how many `topics`; `only_first` and `only_second` are judged by one alone
    confusion  a frame: a row for each grade of the first, a column for each of the second, and how many documents; of
               all grades in either
    same       the share of documents with the same grade
    kappa      Cohen's κ (1960), and `weighted_kappa` with linear weights by the place of a grade on the scale (1968)
    alpha      Krippendorff's α for ordinal data
    orders     a frame with a row for each measure: measure, runs, tau, tau_ap of the order of runs by the second qrels
               with that by the first; topics of both, others of the second alone; narrower and times, the medians over
               runs of what `runs` has, and narrower_differences and times_differences, over pairs of runs and for
               their differences
    runs       a frame with a row for each run and measure: measure, run, score, other_score, rank, other_rank; narrower
               and times: if the second judgments were of very many other topics, by what share the interval of its
               mean would be narrower with them, and how many times the topics would have to be judged for that
               (prediction-powered inference); nan with fewer than five topics
    """

    documents: int
    topics: int
    only_first: int
    only_second: int
    confusion: pd.DataFrame
    same: float
    kappa: float
    weighted_kappa: float
    alpha: float
    orders: pd.DataFrame
    runs: pd.DataFrame
    signature: str = ""
    notes: list[str] = field(default_factory=list)

    def document(self, layout: Layout) -> Document:
        """The confusion of grades, the coefficients, and the order of runs by either."""
        first, second = str(self.confusion.index.name), str(self.confusion.columns.name)
        numbers = {name: getattr(self, name) for name in ("documents", "topics", "only_first", "only_second")}
        numbers |= {name: getattr(self, name) for name in ("same", "kappa", "weighted_kappa", "alpha")}
        if layout == "long":
            rows: list[list[Any]] = [[name, None, None, None, value] for name, value in numbers.items()]
            for grade, counts in self.confusion.iterrows():
                rows += [["confusion", None, grade, other, int(count)] for other, count in counts.items()]
            for row in frame_rows(self.orders) if len(self.orders) else []:
                rows += [[what, row["measure"], None, None, row[what]] for what in OF_ORDERS[2:]]
            for row in frame_rows(self.runs) if len(self.runs) else []:
                whats = ("score", "other_score", *SAVED)
                rows += [[what, row["measure"], row["run"], None, row[what]] for what in whats]
            return Document(
                [Table([*map(Column, ("what", "measure", "name", "other", "value"))], rows)], self.signature
            )
        # Of two paths the folders would fill the headings of columns.
        names = os.path.basename(first), os.path.basename(second)
        first, second = names if names[0] != names[1] else (first, second)
        blocks: list[Table | str] = [
            f"{self.documents} documents of {self.topics} {plural(self.topics, 'topic')} judged in both;"
            f" {self.only_first} in {first} alone, {self.only_second} in {second} alone"
        ]
        columns = [Column(f"{first} \\ {second}"), *(Column(str(name), "count") for name in self.confusion.columns)]
        blocks.append(Table(columns, [[grade, *map(int, counts)] for grade, counts in self.confusion.iterrows()]))
        values = [self.same, self.kappa, self.weighted_kappa, self.alpha]
        named: list[tuple[str, Kind]] = [("same grade", "share"), ("kappa", "score"), ("linear kappa", "score"),
                                         ("alpha (ordinal)", "score")]  # fmt: skip
        blank = [None if value != value else value for value in values]
        blocks.append(Table([Column(title, kind) for title, kind in named], [blank]))
        if len(self.orders):
            blocks.append(
                shown(self.orders, measure=("measure", "text"), runs=("runs", "count"), tau=("tau", "score"),
                      tau_ap=("tau-ap", "score"))
            )  # fmt: skip
            worth = _worth(self.orders)
            saves: list[Table | str] = [f"{SAVES}; medians over runs, and over pairs of runs", worth]
            blocks += saves if worth.rows else [_why_nothing(self.orders)]
            blocks.append(
                shown(self.runs, measure=("measure", "text"), run=("run", "text"), score=(first, "score"),
                      other_score=(second, "score"), rank=("rank", "count"), other_rank=("rank there", "count"))
            )  # fmt: skip
        return Document(blocks, self.signature)


def _worth(orders: pd.DataFrame) -> Table:
    """What the second judgments are worth: a row for the means of runs and one for differences; with the other topics
    that it judged, where there are any, and with very many."""
    rows: list[list[Any]] = []
    for row in frame_rows(orders):
        for of, end in (("means", ""), ("differences", "_differences")):
            for others in (row["others"], math.inf):
                narrower = row[f"narrower{end}"]
                if narrower is not None and others:
                    width = width_with(narrower, row["topics"], others)
                    count = "very many" if others == math.inf else f"{others}"
                    rows.append([row["measure"], of, count, 1 - width, f"×{1 / width**2:.1f}"])
    titles: list[tuple[str, Kind]] = [("measure", "text"), ("interval of", "text"), ("other topics", "text"),
                                      ("narrower", "share"), ("topics saved", "text")]  # fmt: skip
    return Table([Column(title, kind) for title, kind in titles], rows)


def _why_nothing(orders: pd.DataFrame) -> str:
    """Why nothing is known of what the second judgments would save."""
    from gradedeval.analysis.estimates import LEAST  # a help page does not wait for it

    topics, unknown = int(orders["topics"].max()), "what the second judgments would save is not known"
    if topics < LEAST:
        both = f"{topics} {'topic is' if topics == 1 else 'topics are'} judged in both"
        return f"{unknown}: {both}, and prediction-powered inference needs {LEAST}"
    return f"{unknown}: scores by both are the same, or do not vary over topics"


def width_with(narrower: float, topics: int, others: float) -> float:
    """The width of an interval, as a share of that by the first judgments alone, if the second are of so many other
    topics; `narrower` as with very many. Of the variance that these save N others save N / (n + N)."""
    share = 1.0 if others == math.inf else others / (topics + others)
    return float((1 - (1 - (1 - narrower) ** 2) * share) ** 0.5)


@public
def assessor_agreement(
    qrels: Any,
    other: Other,
    runs: Any = None,
    measures: Measured = ("err@20",),
    *,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> AssessorAgreement:
    """How far two qrels agree on the documents that both judge, and what it does to the order of runs.

    qrels, other  as `evaluate` takes them
    runs          as there; None: the judgments alone

    The other arguments are those of `evaluate`. Returns `AssessorAgreement`. Raises `gradedeval.InputError` as
    `evaluate` does, and where no document is judged in both.
    """
    options, chosen = resolve_options(like, **keywords).of_one_judge(), parse_measures(measures)
    named = {} if runs is None else kernel.named_runs(runs)
    if options.subtopics or options.strata:
        option = flag.subtopics if options.subtopics else flag.strata
        raise InputError(option, f"{flag.agreement} compares one grade of a document", "leave it out", usage=True)
    first, second = (kernel.qrels_for(named, one, options) for one in (qrels, other))
    pairs, topics = _both(first, second)
    if not pairs:
        if not topics:
            raise kernel.no_common_topics(second.place, second.topics, first.place, first.topics)
        raise InputError(second.place, f"judges no document of {first.place}", "are both for the same collection?")
    scale = np.union1d(first.labels, second.labels)
    codes = np.searchsorted(scale, np.array(pairs, dtype=np.float64))
    table: Ints = np.bincount(codes[:, 0] * len(scale) + codes[:, 1], minlength=len(scale) ** 2).reshape(len(scale), -1)
    names = [f"{grade:g}" for grade in scale]
    orders, by_run, signature, notes = _orders_by_either(named, first, second, chosen, options)
    sizes = [int(one.counts.count.sum()) - len(pairs) for one in (first, second)]
    return AssessorAgreement(
        len(pairs),
        topics,
        sizes[0],
        sizes[1],
        to_frame(table, names).set_axis(names).rename_axis(index=first.place, columns=second.place),
        float(np.trace(table) / table.sum()),
        cohen_kappa(table),
        cohen_kappa(table, linear=True),
        ordinal_alpha(table),
        orders,
        by_run,
        signature,
        tell(notes),
    )


def _both(first: Qrels, second: Qrels) -> tuple[list[tuple[float, float]], int]:
    """The grades of the documents that both judge, and in how many topics they judge some."""
    pairs, topics = [], 0
    mine, theirs = first.labels.tolist(), second.labels.tolist()
    for topic, documents in first.codes.items():
        others = second.codes.get(topic)
        topics += others is not None
        if others:
            pairs += [(mine[code], theirs[others[docno]]) for docno, code in documents.items() if docno in others]
    return pairs, topics


def cohen_kappa(table: Ints, linear: bool = False) -> float:
    """Cohen's κ of a table of counts, grades × grades; with linear weights by the distance of grades on the scale. nan
    where all grades are the same.

    Cohen, Educational and Psychological Measurement 1960; Psychological Bulletin 1968.
    """
    grade = np.arange(len(table))
    weight = np.abs(grade[:, None] - grade) if linear else (grade[:, None] != grade).astype(np.int64)
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    chance = float((weight * expected).sum())
    return 1 - float((weight * table).sum()) / chance if chance else float("nan")


def ordinal_alpha(table: Ints) -> float:
    """Krippendorff's α for ordinal data, of two judgments of each document, as a table of counts, grades × grades. nan
    where all grades are the same.

    The distance of two grades is the square of how many judgments lie from the one to the other, half of each end's.
    Krippendorff, Content Analysis, 2004, chapter 11.
    """
    coincidences = (table + table.T).astype(np.float64)
    counts = coincidences.sum(1)
    between = np.cumsum(counts) - counts / 2
    distance = (between[:, None] - between) ** 2
    expected = np.outer(counts, counts)
    np.fill_diagonal(expected, counts * (counts - 1))
    chance = float((distance * expected).sum()) / (counts.sum() - 1)
    return 1 - float((distance * coincidences).sum()) / chance if chance else float("nan")


def _orders_by_either(
    runs: Mapping[str, Any],
    first: Qrels,
    second: Qrels,
    measures: list[Measure],
    options: Options,
) -> tuple[pd.DataFrame, pd.DataFrame, str, list[str]]:
    """The order of runs by either qrels, on the topics of both."""
    of_runs = ["measure", "run", "score", "other_score", "rank", "other_rank", *SAVED]
    orders: list[tuple[Any, ...]] = []
    rows: list[tuple[Any, ...]] = []
    if not runs:
        return to_frame([], OF_ORDERS), to_frame([], of_runs), "", []
    shared = frozenset(topic for topic in first.topics if topic in second._row)
    notes = []
    left_out = len(first) + len(second) - 2 * len(shared)
    if left_out:
        notes.append(f"{left_out} {plural(left_out, 'topic')} left out of the order of runs: not in both qrels")
    chosen = shared if options.topics_from is None else shared & options.topics_from
    options = replace(options, topics_from=chosen)
    mine, theirs = (
        kernel.evaluate_runs(runs, one, measures, options, workers=kernel.Workers.here()) for one in (first, second)
    )
    for column, measure in enumerate(mine.measures):
        before, after = (
            np.array([run.summary("score", column, measure.reading.summary) for run in scores.runs])
            for scores in (mine, theirs)
        )
        saved, of_pairs = mine.saved_by(theirs, column)
        medians = [value for of in (saved, of_pairs) for value in _medians(of)]
        counts = len(chosen), len(second) - len(shared)
        orders.append((measure.label, len(runs), *agreements(before, after, measure), *counts, *medians))
        places = standing(before, measure).tolist(), standing(after, measure).tolist()
        columns = before.tolist(), after.tolist(), *places, *saved.T.tolist()
        rows += zip([measure.label] * len(runs), runs, *columns, strict=True)
    signature = f"{mine.signature}\n{theirs.signature}"
    notes += [*mine.notes, *(note for note in theirs.notes if note not in mine.notes)]
    return to_frame(orders, columns=OF_ORDERS), to_frame(rows, columns=of_runs), signature, notes


def _medians(saved: Floats) -> list[float]:
    """The medians of both columns; nan without any row."""
    known = saved[~np.isnan(saved).any(1)]
    return np.median(known, axis=0).tolist() if len(known) else [float("nan")] * 2


LEAVE_ONE_OUT = Question(
    "pool",
    leave_one_out,
    "runs, qrels if any",
    mode=Setting("Score each run without the judgments that only it, or its group, contributed, to test whether the "
        "collection is reusable.",
                 name="leave_one_out", type=bool),
)  # fmt: skip
AGREEMENT = Question("pool", assessor_agreement, "runs, qrels if any", mode=Setting("", name="other"))
