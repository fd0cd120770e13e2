"""`pool`: what runs give the pool: how deep each is judged, what it alone found, how far runs overlap."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import click
import numpy as np

import gradedeval.questions.to_judge as judging
from gradedeval.analysis.ranked_runs import RankedRun, RankedRuns, rank_runs
from gradedeval.analysis.tables import GROUP, shown
from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.cli.arguments import (
    Destination,
    check_without_qrels,
    is_qrels,
    measure_table,
    one_measure,
    runs_and_qrels_if_any,
)
from gradedeval.cli.options import (
    MEASURES_FROM,
    READS,
    command_line,
    is_given,
    measure_option,
    option,
    output_options,
    registered,
)
from gradedeval.cli.output import write
from gradedeval.errors import InputError, tell
from gradedeval.formats import Column, Document, Kind, Layout, Table, formats_for
from gradedeval.formats.frames import InNotebook, frame_rows, joined, to_frame
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OptionKwargs, Options, numbers
from gradedeval.options.presets import resolve_options
from gradedeval.questions.explain import DEFAULT
from gradedeval.questions.leave_one_out import (
    assessor_agreement,
    assessors_document,
    contributed,
    group_counts,
    leave_one_out,
    left_out_document,
    read_groups,
)
from gradedeval.questions.to_judge import FEW_RUNS, qrels_lines, to_judge, to_judge_document
from gradedeval.rankings.grade import Grader
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.evaluate import named_runs, qrels_for
from gradedeval.scoring.signature import signature

if TYPE_CHECKING:
    import pandas as pd


# What runs give the pool: how deep each is judged, what it alone found, how far runs overlap, grades by topic.


AT = 10
DEPTHS = (1, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, eq=False)
class Pool(InNotebook, document="questions.pool.pool_document"):
    """What runs give a pool.

    runs     a frame with a row for each run: run, group, topics, retrieved, judged_depth (median over topics of the
             rank down to which all its documents are judged), least_judged_depth, judged (share of its first `at`
             documents that are judged, the mean over topics), unique (documents that no other run has), unique_judged,
             unique_relevant, overlap (share of its first `at` documents that another run has among its own, the mean
             over topics and other runs)
    groups   group, runs, unique, unique_judged, unique_relevant: documents that no run of another group has
    topics   topic, judged, relevant, found (relevant documents that some run has), one column for each grade
    overlap  run, other, overlap: a row for each pair
    depths   depth, documents, judged: how many different documents the runs have down to a depth
    at       the depth of `judged` and `overlap`

    Without qrels the columns about judgments are blank, and `topics` is empty.
    """

    runs: pd.DataFrame
    groups: pd.DataFrame
    topics: pd.DataFrame
    overlap: pd.DataFrame
    depths: pd.DataFrame
    at: int
    signature: str = ""
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Pool of {len(self.runs)} runs, {len(self.topics)} topics>"


def pool(
    runs: Any,
    qrels: Any = None,
    *,
    groups: Any = None,
    at: int = AT,
    pool_depth: int | None = None,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Pool:
    """What runs give a pool of judgments.

    runs        one or more, as `evaluate` takes them
    qrels       as there; None: only what runs have in common
    groups      a file or dict run -> group: which runs are of one team
    at          the depth of the columns `judged` and `overlap`
    pool_depth  documents below this rank are no part of what a run gives; None: all are

    The other arguments are those of `evaluate` that say how files are read and documents ranked; a document is relevant
    from the grade `rel` on, 1 by default. Returns `Pool`: `.runs`, `.groups`, `.topics`, `.overlap`, `.depths`. Raises
    `gradedeval.InputError` as `evaluate` does, and where groups name an unknown run.
    """
    options, named = resolve_options(like, **keywords), named_runs(runs)
    options.check_unscored("pool")
    at, pool_depth = numbers.AT.check(at), numbers.POOL_DEPTH.check_or_none(pool_depth)
    group_of, notes = read_groups(groups, list(named))
    judged = Qrels.none() if qrels is None else qrels_for(named, qrels, options)
    found = pool_statistics(rank_runs(named, Grader(judged, options)), group_of, options, at, pool_depth)
    return replace(found, notes=tell([*found.notes, *notes]))


def pool_statistics(
    ranked: RankedRuns,
    group_of: list[str],
    options: Options,
    at: int = AT,
    pool_depth: int | None = None,
) -> Pool:
    """As `pool`, of runs that are ranked already; `group_of` each is its group."""
    judged = ranked.grader.qrels
    counts = [(int(run.listed.sum()), run.missing) for run in ranked.runs]
    relevant, shares = relevant_of(ranked, options), _shares(ranked, at)
    return Pool(
        _runs(ranked, group_of, at, pool_depth, relevant, shares),
        _groups(ranked, group_of, pool_depth, relevant),
        _topics(ranked, options, relevant),
        _overlap(ranked, shares),
        _depths(ranked),
        at,
        "" if not judged.topics else str(signature(judged, options, [], counts)),
        [*judged._notes_for(options), *ranked.notes],
    )


def relevant_of(ranked: RankedRuns, options: Options) -> Bools:
    """documents: whether it is relevant."""
    grades = ranked.grades(np.arange(len(ranked)))
    return np.nan_to_num(grades, nan=-np.inf) >= (1 if options.rel is None else options.rel)


def _runs(
    ranked: RankedRuns, group_of: list[str], at: int, pool_depth: int | None, relevant: Bools, shares: Floats
) -> pd.DataFrame:
    _, by = group_counts(ranked, [run.name for run in ranked.runs], pool_depth)
    known = bool(ranked.grader.qrels.topics)
    rows = []
    for number, (run, group) in enumerate(zip(ranked.runs, group_of, strict=True)):
        depths = judged_depths(ranked, run)[run.listed]
        alone = contributed(run, pool_depth, len(ranked)) & (by == 1)
        rows.append(
            {
                "run": run.name,
                "group": group,
                "topics": int(run.listed.sum()),
                "retrieved": len(run.document),
                "judged_depth": float(np.median(depths)) if known else np.nan,
                "least_judged_depth": int(depths.min()) if known else None,
                "judged": _judged_at(ranked, run, at) if known else np.nan,
                "unique": int(alone.sum()),
                "unique_judged": int((alone & ranked.judged).sum()) if known else None,
                "unique_relevant": int((alone & relevant & ranked.judged).sum()) if known else None,
                "overlap": float(np.delete(shares[number], number).mean()) if len(ranked.runs) > 1 else np.nan,
            }
        )
    return to_frame(rows)


def judged_depths(ranked: RankedRuns, run: RankedRun) -> Ints:
    """topics: the rank down to which all documents of a run are judged."""
    unjudged = np.flatnonzero(~ranked.judged[run.document])
    depths = run.counts.copy()
    topic = ranked.topic[run.document[unjudged]]
    np.minimum.at(depths, topic, run.rank[unjudged] - 1)
    return depths


def _judged_at(ranked: RankedRuns, run: RankedRun, at: int) -> float:
    """The mean over topics of the share of the first documents that is judged, as `judged@10`; 0 without any."""
    inside = run.document[(run.rank <= at) & ranked.judged[run.document]]
    judged = np.bincount(ranked.topic[inside], minlength=len(ranked.topics))
    return float((judged / np.clip(run.counts, 1, at))[run.listed].mean())


def _groups(ranked: RankedRuns, group_of: list[str], pool_depth: int | None, relevant: Bools) -> pd.DataFrame:
    given, by = group_counts(ranked, group_of, pool_depth)
    known = bool(ranked.grader.qrels.topics)
    rows = []
    for group, own in given.items():
        alone = own & (by == 1)
        judged = alone & ranked.judged
        numbers = (int(judged.sum()), int((judged & relevant).sum())) if known else (None, None)
        rows.append((group, group_of.count(group), int(alone.sum()), *numbers))
    return to_frame(rows, columns=["group", "runs", "unique", "unique_judged", "unique_relevant"])


def _topics(ranked: RankedRuns, options: Options, relevant: Bools) -> pd.DataFrame:
    qrels = ranked.grader.qrels
    labels = qrels.labels
    counted = ranked.grader.judged[: len(labels)]
    if not qrels.topics:
        return to_frame([], ["topic", "judged", "relevant", "found"])
    relevant_label = (labels >= (1 if options.rel is None else options.rel)) & counted
    found = np.unique(np.concatenate([run.document for run in ranked.runs]))
    found = found[relevant[found] & ranked.judged[found]]
    frame = to_frame(
        {
            "topic": ranked.names,
            "judged": ranked.pool.of_topics(counted),
            "relevant": ranked.pool.of_topics(relevant_label),
            "found": np.bincount(ranked.topic[found], minlength=len(ranked.topics)),
        }
    )
    table = ranked.pool.table()
    for label in np.unique(labels).tolist():
        frame[f"grade {label:g}"] = table[:, labels == label].sum(1)
    return frame


def _shares(ranked: RankedRuns, at: int) -> Floats:
    """runs × runs: the share of the first documents of one that the other has among its own, the mean over topics."""
    tops = [np.sort(run.document[run.rank <= at]) for run in ranked.runs]
    sizes = [np.bincount(ranked.topic[top], minlength=len(ranked.topics)) for top in tops]
    shares = np.eye(len(tops))
    for row, top in enumerate(tops):
        inside = np.zeros(len(ranked), dtype=bool)
        inside[top] = True
        for column in range(row):
            common = tops[column][inside[tops[column]]]
            count = np.bincount(ranked.topic[common], minlength=len(ranked.topics))
            longest = np.maximum(sizes[row], sizes[column])
            some = longest > 0
            shares[row, column] = shares[column, row] = (count[some] / longest[some]).mean() if some.any() else 0.0
    return shares


def _overlap(ranked: RankedRuns, shares: Floats) -> pd.DataFrame:
    names = [run.name for run in ranked.runs]
    rows = [
        (names[one], names[other], float(shares[one, other])) for other in range(len(names)) for one in range(other)
    ]
    return to_frame(rows, columns=["run", "other", "overlap"])


def _depths(ranked: RankedRuns) -> pd.DataFrame:
    best = ranked.best_rank
    deepest = max((int(run.counts.max(initial=0)) for run in ranked.runs), default=0)
    depths = [depth for depth in DEPTHS if depth < deepest] + [deepest]
    known = bool(ranked.grader.qrels.topics)
    rows = [(depth, int((best <= depth).sum()), int(((best <= depth) & ranked.judged).sum()) if known else None)
            for depth in depths]  # fmt: skip
    return to_frame(rows, columns=["depth", "documents", "judged"])


def unjudged_by_depth(ranked: RankedRuns, at: int = AT) -> pd.DataFrame:
    """How many documents each run retrieved unjudged: run, depth, documents (down to that rank, of all its topics),
    unjudged, per_topic (unjudged, the mean over topics). The depths are 1, 5, 10, … to the deepest rank, and `at`."""
    deepest = max((int(run.counts.max(initial=0)) for run in ranked.runs), default=0)
    depths = sorted({at, deepest, *(depth for depth in DEPTHS if depth < deepest)})
    rows = []
    for run in ranked.runs:
        unjudged = run.rank[~ranked.judged[run.document]]
        for depth in depths:
            count = int((unjudged <= depth).sum())
            documents = int(np.minimum(run.counts, depth).sum())
            rows.append((run.name, depth, documents, count, count / int(run.listed.sum())))
    return to_frame(rows, columns=["run", "depth", "documents", "unjudged", "per_topic"])


def found_alone(ranked: RankedRuns, options: Options) -> pd.DataFrame:
    """The relevant documents that one run alone retrieved: run, topic, docno, grade, rank; the best ranks first."""
    alone = (ranked.retrieved_by == 1) & relevant_of(ranked, options) & ranked.judged
    names, frames = ranked.names, []
    for run in ranked.runs:
        which = np.flatnonzero(alone[run.document])
        which = which[np.argsort(run.rank[which], kind="stable")]
        document = run.document[which]
        topics = [names[topic] for topic in ranked.topic[document].tolist()]
        columns = {"run": run.name, "topic": topics, "docno": ranked.docnos[document]}
        frames.append(to_frame({**columns, "grade": ranked.grades(document), "rank": run.rank[which]}))
    return joined(frames)


def pool_document(found: Pool, layout: Layout) -> Document:
    """The statistics: runs, groups, overlaps, depths and topics; for programs one number a row."""
    if layout == "long":
        return Document([_long(found)], found.signature)
    grouped = len(found.groups) < len(found.runs)
    runs = shown(
        found.runs,
        run=("run", "text"),
        **(GROUP if grouped else {}),
        judged_depth=("judged depth", "number"),
        least_judged_depth=("least", "count"),
        judged=(f"judged@{found.at}", "score"),
        unique=("unique", "count"),
        unique_judged=("judged", "count"),
        unique_relevant=("relevant", "count"),
        overlap=(f"overlap@{found.at}", "score"),
    )
    blocks: list[Table | str] = [runs]
    if grouped:
        blocks.append(
            shown(
                found.groups,
                group=("group", "text"),
                runs=("runs", "count"),
                unique=("unique", "count"),
                unique_judged=("judged", "count"),
                unique_relevant=("relevant", "count"),
            )
        )
    if 2 < len(found.runs) <= FEW_RUNS:
        blocks.append(_overlaps(found))
    blocks.append(
        shown(found.depths, depth=("depth", "count"), documents=("documents", "count"), judged=("judged", "count"))
    )
    if len(found.topics):
        columns: dict[str, tuple[str, Kind]] = {"topic": ("topic", "text")}
        columns |= {name: (name, "count") for name in found.topics.columns if name != "topic"}
        blocks.append(shown(found.topics, **columns))
    words = "judged depth: median over topics of the rank down to which all is judged; least: the lowest of any topic"
    unique = "unique: documents that no other run has" + (", or no other group" if grouped else "")
    signature = "\n".join(
        part for part in (f"{words} | {unique}" if len(found.topics) else unique, found.signature) if part
    )
    return Document(blocks, signature)


def _overlaps(found: Pool) -> Table:
    values: dict[tuple[str, str], Any] = {}
    for row in frame_rows(found.overlap):
        values[row["run"], row["other"]] = values[row["other"], row["run"]] = row["overlap"]
    names = found.runs["run"].tolist()
    columns = [Column(f"overlap@{found.at}"), *(Column(name, "score") for name in names)]
    return Table(columns, [[run, *(values.get((run, other), "—") for other in names)] for run in names])


def _long(found: Pool) -> Table:
    """of (run, group, topic, pair, depth), name, other, what, value."""
    rows: list[list[Any]] = []
    parts: dict[str, tuple[pd.DataFrame, str]] = {
        "run": (found.runs, "run"),
        "group": (found.groups, "group"),
        "pair": (found.overlap, "run"),
        "depth": (found.depths, "depth"),
        "topic": (found.topics, "topic"),
    }
    for kind, (frame, name) in parts.items():
        for row in frame_rows(frame) if len(frame) else []:
            other = row.get("other") if kind == "pair" else row.get("group") if kind == "run" else None
            numbers = {key: value for key, value in row.items() if key not in (name, "other", "group")}
            rows += [[kind, str(row[name]), other, what, value] for what, value in numbers.items() if value is not None]
    return Table([Column(name) for name in ("of", "name", "other", "what", "value")], rows)


# `gradedeval pool RUN... [QRELS]`: what runs give the pool, what to judge next, what the collection is worth.


MEASURED = ("gain", "rel", "top_grade", "max_gain")
"""What matters to what could rise, without judgments too."""
MODES = ("to_judge", "leave_one_out", "agreement")

OPTIONS = [
    option("--to-judge", is_flag=True, help="List the unjudged documents to judge next, the most telling first."),
    option("--as-qrels", is_flag=True, help="Write what --to-judge lists as lines of a qrels file that lack only the "
           "grade."),
    option("--strategy", type=click.Choice(judging.STRATEGIES), help="How --to-judge weighs documents: by their best "
           "rank (depth), by RBP weight as methods A, B and C of Moffat, Webber & Zobel, by what could rise "
           f"(residual), or by what could reverse the order of pairs of runs (pairs). Default: {judging.DEFAULT}."),
    option(numbers.BUDGET, metavar="N", help="Judgments that --to-judge asks for at most. "
           f"Default: {judging.BUDGET}."),
    option(numbers.PERSISTENCE, metavar="P", help="Of the RBP strategies: the probability of going on from "
           f"rank to rank. Default: {judging.PERSISTENCE}."),
    option("--leave-one-out", is_flag=True, help="Score each run without the judgments that it, or its group, alone "
           "gave: is the collection reusable?"),
    option("--agreement", metavar="QRELS2", file=READS, help="Compare the judgments with a second qrels file: "
           "confusion of grades, kappa, alpha, and the order of runs."),
    option("--groups", metavar="FILE", file=READS, help="Lines of run and group: which runs are of one team."),
    option(numbers.POOL_DEPTH, metavar="N", help="Documents below rank N are no part of what a "
           "run gives the pool. Default: all are."),
    option(numbers.AT, metavar="N", help=f"Depth of judged@ and overlap@. Default: {AT}."),
    measure_option(f"Measure of --leave-one-out and --agreement; of --to-judge ({judging.MEASURE}).", default=DEFAULT),
    *output_options(formats_for()),
]  # fmt: skip

TAKES = {
    "": ("groups", "pool_depth", "at"),
    "to_judge": ("strategy", "budget", "persistence", "pool_depth", "measures", "as_qrels"),
    "leave_one_out": ("groups", "pool_depth", "measures"),
    "agreement": ("measures",),
}


@command_line("pool", "RUN... [QRELS]", OPTIONS, [MEASURES_FROM], registered("measuring"))
def command(measures_from: tuple[str, ...], **keywords: Any) -> None:
    """Show what runs give a pool of judgments: how deep each is judged, what it alone found, how far runs overlap.

    \b
    gradedeval pool runs/*.run qrels.txt --groups teams.txt
    gradedeval pool runs/*.run qrels.txt --to-judge --as-qrels -o next.qrels
    gradedeval pool runs/*.run qrels.txt --leave-one-out -m ap
    gradedeval pool runs/*.run qrels.txt --agreement second.qrels
    """
    own = {name: keywords.pop(name) for name in dict.fromkeys([*MODES, *(one for of in TAKES.values() for one in of)])}
    mode = _mode(own)
    alone = mode == "agreement" and len(keywords["files"]) == 1 and is_qrels(keywords["files"][0])
    runs, qrels = ([], keywords["files"][0]) if alone else runs_and_qrels_if_any(keywords["files"], keywords)
    if qrels is None:
        check_without_qrels(keywords, MEASURED if mode == "to_judge" else ())
    if own["as_qrels"]:
        if keywords["form"] is not None:
            raise InputError("-f", "does not apply to --as-qrels", "leave one of them out", usage=True)
        keywords["form"] = "table"
    destination = Destination(keywords)
    keywords.pop("files")
    if mode in ("leave_one_out", "agreement") and qrels is None:
        raise InputError(_flag(mode), "needs qrels", "add QRELS", usage=True)
    table = measure_table(measures_from)
    chosen = parse_measures(own["measures"] or DEFAULT, table)
    keywords |= {name: own[name] for name in ("groups", "pool_depth") if name in TAKES[mode]}
    found: Any
    make: Any
    if mode == "to_judge":
        keywords["measure"] = one_measure("-m", " ".join(own["measures"]) or judging.MEASURE, table)
        keywords["p"] = own["persistence"] if is_given(own["persistence"]) else judging.PERSISTENCE
        strategy, budget = own["strategy"] or judging.DEFAULT, own["budget"] or judging.BUDGET
        found, make = to_judge(runs, qrels, strategy, budget=budget, **keywords), to_judge_document
    elif mode == "leave_one_out":
        found, make = leave_one_out(runs, qrels, chosen, **keywords), left_out_document
    elif mode == "agreement":
        found = assessor_agreement(qrels, own["agreement"], runs or None, chosen, **keywords)
        make = assessors_document
    else:
        found, make = pool(runs, qrels, at=own["at"] or AT, **keywords), pool_document
    if own["as_qrels"]:
        write(qrels_lines(found), destination.output)
    else:
        destination.deliver(partial(make, found))


def _mode(own: dict[str, Any]) -> str:
    """What is asked for. Raises InputError (usage) for two things at once, or an option that goes with another."""
    asked = [name for name in MODES if is_given(own[name])]
    if len(asked) > 1:
        what = f"cannot be combined with {_flag(asked[1])}"
        raise InputError(_flag(asked[0]), what, "ask for one at a time", usage=True)
    mode = asked[0] if asked else ""
    for name, value in own.items():
        if name not in MODES and is_given(value) and name not in TAKES[mode]:
            takers = [_flag(other) for other, names in TAKES.items() if other and name in names]
            hint = f"add {' or '.join(takers)}" if takers and not mode else "leave it out"
            what = f"does not apply to {_flag(mode)}" if mode else "does not apply to the statistics"
            raise InputError(_flag(name), what, hint, usage=True)
    return mode


def _flag(name: str) -> str:
    return "-m" if name == "measures" else f"--{name.replace('_', '-')}"
