"""Is a collection reusable? Each run scored without the judgments that it, or its group, alone gave the pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gradedeval.analysis.explain import DEFAULT
from gradedeval.analysis.pool.groups import group_counts, read_groups
from gradedeval.analysis.pool.order import agreements, standing, summaries
from gradedeval.analysis.ranked_runs import RankedRuns, check_maskable, rank_runs
from gradedeval.analysis.tables import GROUP, shown
from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError, plural, warn_caller
from gradedeval.formats import Document, Layout, Table
from gradedeval.formats.frames import frame_table, to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OptionKwargs, Options, numbers
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.signature import signature

if TYPE_CHECKING:
    import pandas as pd

    pass


@dataclass(frozen=True, eq=False)
class LeftOut(InNotebook, document="analysis.pool.leave_one_out.left_out_document"):
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

    def __repr__(self) -> str:
        return f"<LeftOut: {self.frame['run'].nunique()} runs>"


def leave_one_out(
    runs: Any,
    qrels: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT,
    *,
    groups: Any = None,
    pool_depth: int | None = None,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> LeftOut:
    """Score each run without the judgments of documents that it, or its group, alone gave the pool, as if it had not
    taken part: if scores and order hardly change, the collection is fair to runs that did not.

    groups      a file or dict run -> group: which runs are of one team
    pool_depth  documents below this rank were not given to the pool; None: all were

    Topics count as with all judgments: one that loses its last relevant document scores 0, with `topics="relevant"`
    and `like="gdeval"` too. The top grade stays that of the whole qrels. A document is relevant from the `rel` of the
    measure on, or of the options, or 1.

    The other arguments are those of `evaluate`. Zobel, SIGIR 1998; by groups Buckley et al., Information Retrieval
    2007. Returns `LeftOut`: `.frame`, `.orders`. Raises `gradedeval.InputError` as `evaluate` does, and for fewer than
    two runs.
    """
    options = resolve_options(like, **keywords)
    found = leave_out(named_runs(runs), qrels, parse_measures(measures), options, groups=groups, pool_depth=pool_depth)
    warn_caller(found.notes)
    return found


def leave_out(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: Iterable[Measure],
    options: Options,
    *,
    groups: Any = None,
    pool_depth: int | None = None,
    workers: Workers | None = None,
    progress: Progress = no_progress,
) -> LeftOut:
    """As `leave_one_out`, for runs by name. Files are read once: judgments are masked."""
    pool_depth = numbers.POOL_DEPTH.check_or_none(pool_depth)
    if len(runs) < 2:
        what = f"{len(runs)} {plural(len(runs), 'run')} given"
        raise InputError("--leave-one-out", what, "the order of runs needs two or more", usage=True)
    group_of, group_notes = read_groups(groups, list(runs))
    judged = qrels_for(runs, qrels, options)
    scorer = Scorer(judged, list(measures), replace(options, residuals=None))
    check_maskable(scorer, options, "--leave-one-out")
    ranked = rank_runs(runs, scorer.grader, workers, scorer)
    given, by = group_counts(ranked, group_of, pool_depth)
    full = ranked.scores(scorer)[0]
    rows = []
    for group, own in progress(iter(given.items()), len(given)):
        alone = own & (by == 1) & ranked.judged
        without = masked_scores(ranked, scorer, alone, full)
        for run in (number for number, name in enumerate(group_of) if name == group):
            rows += _of_run(ranked, scorer, run, group, alone, full, without)
    order = {run: number for number, run in enumerate(runs)}
    by_measure = {measure.label: number for number, measure in enumerate(scorer.measures)}
    frame = to_frame(sorted(rows, key=lambda row: (by_measure[row["measure"]], order[row["run"]])))
    counts = [(int(run.listed.sum()), run.missing) for run in ranked.runs]
    said = [*scorer.notes, *ranked.notes, *group_notes]
    text = str(signature(judged, scorer.options, scorer.measures, counts))
    return LeftOut(frame, _orders(frame, scorer.measures), scorer.measures, text, said)


def masked_scores(ranked: RankedRuns, scorer: Scorer, masked: Bools, known: Floats) -> Floats:
    """runs × topics × measures: the scores without the judgments of some documents.

    known  the scores with all judgments: those of topics without such documents stay
    """
    topics = np.flatnonzero(np.bincount(ranked.topic[masked], minlength=len(ranked.topics)))
    if not len(topics):
        return known
    unjudged = len(ranked.grader.qrels.labels)
    code = np.where(masked, unjudged, ranked.code)
    pool = ranked.pool.copy()
    np.subtract.at(pool, (ranked.topic[masked], ranked.code[masked]), 1)
    scores = known.copy()
    scores[:, topics] = ranked.of_topics(topics).scores(scorer, code, pool[topics])[0]
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


def left_out_document(found: LeftOut, layout: Layout) -> Document:
    """Each run with and without what it alone gave, and what becomes of the order."""
    if layout == "long":
        return Document([frame_table(found.frame)], found.signature)
    blocks: list[Table | str] = []
    for measure in found.measures:
        frame = found.frame[found.frame["measure"] == measure.label].sort_values("rank", kind="stable")
        grouped = (frame["run"] != frame["group"]).any()
        blocks.append(
            shown(
                frame,
                run=("run", "text"),
                **(GROUP if grouped else {}),
                unique=("unique", "count"),
                unique_relevant=("relevant", "count"),
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
            found.orders,
            measure=("measure", "text"),
            runs=("runs", "count"),
            mean_change=("mean change", "share"),
            largest_change=("largest", "share"),
            largest_drop=("largest drop", "count"),
            tau=("tau", "score"),
            tau_ap=("tau-ap", "score"),
        )
    )
    words = "each run is scored without the judgments of documents that it, or its group, alone gave; tau-ap: of the"
    return Document(blocks, f"{words} order of all runs without them with the full one\n{found.signature}")
