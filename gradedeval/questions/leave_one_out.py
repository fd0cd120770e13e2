"""`pool --leave-one-out`: scores of each run without the judgments that only it contributed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import ranked_runs
from gradedeval.analysis.tables import GROUP, display_table
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, merge_close, np
from gradedeval.errors import InputError, Note, ProblemList, did_you_mean, emit_notes, flag, plural, public, shorten
from gradedeval.kernel import Document, Layout, Measure, OptionKwargs, Setting, Table
from gradedeval.questions import correlate
from gradedeval.questions.shared import counts
from gradedeval.questions.to_judge import PoolDepth

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import BatchRows, RankedRun, RankedRuns
    from gradedeval.kernel import Scorer


def summaries(scores: Floats, measure: Measure) -> Floats:
    """Return the mean (or total, or geometric mean) of each run over the topics that count for it.

    scores  runs × topics, nan if a topic does not count
    """
    return np.array([float(measure.reading.summarize(row[~np.isnan(row)])) for row in scores])


def standing(values: Floats, measure: Measure) -> Ints:
    """Return the rank of each run by its value, from 1; equal runs share a rank."""
    merged = merge_close(values * measure.reading.sign, TOLERANCE)
    return np.asarray(1 + (merged[:, None] < merged).sum(1))


def agreements(true: Floats, second: Floats, measure: Measure) -> tuple[float, float]:
    """Return Kendall's τ_b and τ_AP of a second order of runs with the true one."""
    values = [merge_close(means * measure.reading.sign, TOLERANCE) for means in (true, second)]
    return correlate.agreement("tau", *values), correlate.agreement("tau-ap", *values)


Measured = Annotated["str | Measure | Iterable[str | Measure]", Setting("Measure of --leave-one-out; "
    "of --to-judge (ndcg@10). Repeat -m, or separate measures by spaces.", metavar="MEASURE",
    section="Measures and gains", spelled=("-m", "--measure"), measure="several",
        short="Measure, such as err@20; may be repeated.")]  # fmt: skip
Groups = Annotated[Any, Setting("File of run and group: the team of each run.", metavar="FILE", reads=True)]


def read_groups(
    source: str | os.PathLike[str] | Mapping[str, str] | None, runs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the group of each run, and notes. A run without a group forms its own.

    source  a file with lines of run and group, or a dict; None: each run is a group

    Raises InputError for an unknown run, or a run that is listed twice.
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
    runs_alone = f"{len(alone)} {plural(len(alone), 'run')} in no group ({shorten(alone)})"
    notes = [f"{place}: {runs_alone}; each forms its own group"] if alone else []
    return [group_of.get(run, run) for run in runs], notes


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
    """Return the documents that each group contributes to the pool, and for each document the number of its groups."""
    contributions: dict[str, Bools] = {}
    for run, group in zip(ranked.runs, group_of, strict=True):
        mask = contributed(run, depth, len(ranked))
        contributions[group] = contributions[group] | mask if group in contributions else mask
    by = np.zeros(len(ranked), dtype=np.int64)
    for mask in contributions.values():
        by += mask
    return contributions, by


def contributed(run: RankedRun, depth: int | None, documents: int) -> Bools:
    """Return the mask of documents that a run contributes to the pool."""
    mask = np.zeros(documents, dtype=bool)
    mask[run.document if depth is None else run.document[run.rank <= depth]] = True
    return mask


@dataclass(frozen=True, eq=False)
class LeftOut(kernel.results.InNotebook):
    """Scores of each run without the judgments that only it contributed.

    frame   a row for each run and measure: measure, run, group, unique (judgments that no run of another group
            contributed), unique_relevant, score, score_without, change (score_without − score), relative (the change
            as a share of the score), rank, rank_without (among all runs, all scored without these judgments), tau,
            tau_ap (agreement of that order of runs with the full one)
    orders  a row for each measure: measure, runs, mean_change (of the absolute relative changes), largest_change,
            largest_drop (in ranks), tau, tau_ap (agreement of the order of runs, each scored without its unique
            judgments, with the full one)
    """

    frame: pd.DataFrame
    orders: pd.DataFrame
    measures: list[Measure]
    signature: str
    notes: list[str] = field(default_factory=list)

    def document(self, layout: Layout) -> Document:
        """Return tables of each run with and without its unique judgments, and of the effect on the order."""
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], self.signature)
        blocks: list[Table | str] = []
        for measure in self.measures:
            frame = self.frame[self.frame["measure"] == measure.label].sort_values("rank", kind="stable")
            grouped = (frame["run"] != frame["group"]).any()
            blocks.append(
                display_table(
                    frame,
                    run=("run", "text"),
                    **(GROUP if grouped else {}),
                    **counts("unique", "unique_relevant"),
                    score=(measure.label, "score"),
                    score_without=("without", "score"),
                    change=("change", "signed"),
                    relative=("%", "percent"),
                    **counts("rank"),
                    rank_without=("without ", "count"),
                    tau_ap=("tau-ap", "score"),
                )
            )
        blocks.append(
            display_table(
                self.orders,
                measure=("measure", "text"),
                **counts("runs"),
                mean_change=("mean change", "share"),
                largest_change=("largest", "share"),
                **counts("largest_drop"),
                tau=("tau", "score"),
                tau_ap=("tau-ap", "score"),
            )
        )
        words = "each run is scored without the judgments that only it, or its group, contributed"
        tau = "tau-ap: agreement of the order of all runs without them with the full order"
        return Document(blocks, f"{words}; {tau}\n{self.signature}")

    def __repr__(self) -> str:
        return f"<LeftOut: {len(kernel.results.distinct(self.frame, 'run'))} runs>"


@kernel.takes_options("reading")
@public
@kernel.shares_work
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
    """Score each run without the judgments that only it, or its group, contributed to the pool, as if it had not taken
    part. If scores and order hardly change, the collection is fair to runs that did not.

    groups      a file or dict run -> group: the team of each run
    pool_depth  last rank that contributes to the pool; None: all ranks do

    Topics count as with all judgments: a topic that loses its last relevant document scores 0, with
    `topics="relevant"` and `like="gdeval"` too. The top grade stays the one of the whole qrels. A document is
    relevant from the `rel` of the measure on, or of the options, or 1.

    The remaining arguments are as in `evaluate`. Zobel, SIGIR 1998; by groups Buckley et al., Information Retrieval
    2007. Returns `LeftOut`: `.frame`, `.orders`. Raises InputError as `evaluate` does, and for fewer than two runs.

    >>> runs = {"A": {"q1": {"d1": 2.0, "d2": 1.0}}, "B": {"q1": {"d3": 2.0, "d1": 1.0}}}
    >>> result = gradedeval.leave_one_out(runs, {"q1": {"d1": 1, "d2": 2, "d3": 1}}, "ap")
    >>> result.frame[["group", "score", "score_without"]].round(3)
      group  score  score_without
    0     A  0.667           0.50
    1     B  0.667           0.25
    """
    options, chosen = kernel.resolve_options(like, **keywords), kernel.parse_measures(measures)
    named, pool_depth = kernel.named_runs(runs), kernel.ranges.POOL_DEPTH.check_or_none(pool_depth)
    if len(named) < 2:
        count = f"{len(named)} {plural(len(named), 'run')} given"
        raise InputError(flag.leave_one_out, count, "the order of runs needs two or more", usage=True)
    group_of, group_notes = read_groups(groups, list(named))
    judged = kernel.qrels_for(named, qrels, options)
    scorer = kernel.Scorer(judged, chosen, replace(options, residuals=None))
    ranked_runs.check_maskable(scorer, options, flag.leave_one_out)
    ranked = ranked_runs.rank_runs(named, scorer.grader, scorer=scorer)  # files are read once: judgments are masked
    rows = _rows(ranked, scorer, group_of, pool_depth)
    order, labels = list(named), [measure.label for measure in scorer.measures]
    rows.sort(key=lambda row: (labels.index(row["measure"]), order.index(row["run"])))
    counts = [(int(run.listed.sum()), run.missing) for run in ranked.runs]
    listed, depth_notes = [run.listed.tobytes() for run in ranked.runs], _unknown_depth_notes(ranked, pool_depth)
    remarks = emit_notes([*scorer.notes, *ranked.notes, *scorer.unequal_topics(listed), *group_notes, *depth_notes])
    under, frame = kernel.signature(judged, scorer.options, scorer.measures, counts), kernel.results.to_frame(rows)
    return LeftOut(frame, _orders(frame, scorer.measures), scorer.measures, under, remarks)


def _unknown_depth_notes(ranked: RankedRuns, depth: int | None) -> list[str]:
    """Return the note that the pool is shallower than the runs by an unknown depth, if not all documents are judged."""
    if depth is not None or all(ranked.judged[run.document].all() for run in ranked.runs):
        return []
    problem = "without a pool depth, a judgment counts as contributed by each run that has the document at any rank"
    return [Note(f"{problem}, so changes may be too small", f"give {flag.pool_depth:N}", place=flag.leave_one_out)]


def _rows(ranked: RankedRuns, scorer: kernel.Scorer, group_of: list[str], depth: int | None) -> list[dict[str, Any]]:
    """Return the rows of all runs, group by group.

    group_of  the group of each run
    depth     last rank that contributes to the pool; None: all ranks do
    """
    contributions, num_groups = group_counts(ranked, group_of, depth)
    full, whole, rows = ranked.scores(scorer)[0], ranked.rows(scorer.grader), []
    for group, mask in kernel.parallel.progress("groups")(list(contributions.items())):
        unique = mask & (num_groups == 1) & ranked.judged
        without = masked_scores(ranked, scorer, unique, full, whole)
        for run in (number for number, name in enumerate(group_of) if name == group):
            rows += _of_run(ranked, scorer, run, group, unique, full, without)
    return rows


def masked_scores(
    ranked: RankedRuns, scorer: Scorer, masked: Bools, full: Floats, whole: Sequence[BatchRows]
) -> Floats:
    """Return the scores without the judgments of some documents: runs × topics × measures.

    full   scores with all judgments; topics without such documents keep them
    whole  rankings with all judgments
    """
    topics = np.flatnonzero(np.bincount(ranked.topic[masked], minlength=len(ranked.topics)))
    if not len(topics):
        return full
    unjudged = len(ranked.grader.qrels.labels)
    code = np.where(masked, unjudged, ranked.code)
    pool = ranked.pool.without(ranked.topic[masked], ranked.code[masked])
    scores, concerned = full.copy(), np.isin(np.arange(len(ranked.topics)), topics)
    # A run without these documents keeps its ranking; only the pool changes.
    has = np.array([masked[run.document].any() for run in ranked.runs])
    of_pool = ranked_runs.without_ideals(scorer)
    for batch, run, topic in whole:
        rows = np.flatnonzero(concerned[topic] & ~has[run])
        if len(rows):
            part = replace(batch.select(rows), pool=pool.select(topic[rows]))
            scores[run[rows], topic[rows]] = of_pool.score_batch(part).values[0]
    indices = np.flatnonzero(has)
    rescored = replace(ranked, runs=[ranked.runs[run] for run in indices.tolist()]).of_topics(topics)
    scores[np.ix_(indices, topics)] = rescored.scores(scorer, code, pool.select(topics))[0]
    return scores


def _of_run(
    ranked: RankedRuns, scorer: Scorer, run: int, group: str, unique: Bools, full: Floats, without: Floats
) -> list[dict[str, Any]]:
    rows = []
    labels = ranked.grades(np.flatnonzero(unique))
    for column, measure in enumerate(scorer.measures):
        full_means, means = (summaries(scores[:, :, column], measure) for scores in (full, without))
        tau, tau_ap = agreements(full_means, means, measure)
        level = next((rel for rel in (measure.rel, scorer.options.rel) if rel is not None), 1)
        score, score_without = full_means[run], means[run]
        rows.append(
            {
                "measure": measure.label,
                "run": ranked.runs[run].name,
                "group": group,
                "unique": int(unique.sum()),
                "unique_relevant": int((labels >= level).sum()),
                "score": score,
                "score_without": score_without,
                "change": score_without - score,
                "relative": (score_without - score) / abs(score) if score else np.nan,
                "rank": int(standing(full_means, measure)[run]),
                "rank_without": int(standing(means, measure)[run]),
                "tau": tau,
                "tau_ap": tau_ap,
            }
        )
    return rows


def _orders(frame: pd.DataFrame, measures: list[Measure]) -> pd.DataFrame:
    rows = []
    for measure in measures:
        runs = frame[frame["measure"] == measure.label]
        tau, tau_ap = agreements(runs["score"].to_numpy(), runs["score_without"].to_numpy(), measure)
        relative = runs["relative"].abs()
        drop = int((runs["rank_without"] - runs["rank"]).max())
        rows.append((measure.label, len(runs), float(relative.mean()), float(relative.max()), drop, tau, tau_ap))
    columns = ["measure", "runs", "mean_change", "largest_change", "largest_drop", "tau", "tau_ap"]
    return kernel.results.to_frame(rows, columns=columns)
