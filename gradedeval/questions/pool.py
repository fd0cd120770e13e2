"""`pool`: contributions of runs to a pool: how deep each is judged, unique documents, overlap."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import ranked_runs
from gradedeval.analysis.tables import GROUP, display_table
from gradedeval.arrays import Bools, Floats, Ints, np
from gradedeval.errors import emit_notes, public
from gradedeval.kernel import Column, Document, Layout, OptionKwargs, Options, Setting, Table, ranges
from gradedeval.questions.leave_one_out import Groups, contributed, group_counts, read_groups
from gradedeval.questions.shared import DEFAULT_DEPTH, counts
from gradedeval.questions.to_judge import PoolDepth

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import RankedRun, RankedRuns


DEPTHS = (1, 5, 10, 20, 50, 100, 200, 500, 1000)
FEW_RUNS = 8
"""Maximum number of runs for which the overlap of each pair is shown."""
UNIQUE = counts("unique", "unique_judged", "unique_relevant")
"""Columns of documents that no other run, or group, has."""

At = Annotated[int, Setting("Depth of judged@ and overlap@.", ranges.AT, "N")]


@dataclass(frozen=True, eq=False)
class Pool(kernel.results.InNotebook):
    """Contributions of runs to a pool.

    runs     a frame with a row for each run: run, group, topics, retrieved, judged_depth (median over topics of the
             rank down to which all its documents are judged), least_judged_depth, judged (share of its first `depth`
             documents that are judged, mean over topics), unique (documents that no other run has), unique_judged,
             unique_relevant, overlap (share of its first `depth` documents among the first of another run, mean over
             topics and other runs)
    groups   group, runs, unique, unique_judged, unique_relevant: documents that no run of another group has
    topics   topic, judged, relevant, found (relevant documents that some run has), one column for each grade
    overlap  run, other, overlap: a row for each pair
    depths   depth, documents, judged: numbers of different documents of the runs down to a depth
    depth    depth of `judged` and `overlap`

    Without qrels the columns about judgments are blank, and `topics` is empty.
    """

    runs: pd.DataFrame
    groups: pd.DataFrame
    topics: pd.DataFrame
    overlap: pd.DataFrame
    depths: pd.DataFrame
    depth: int
    signature: str = ""
    notes: list[str] = field(default_factory=list)

    def document(self, layout: Layout) -> Document:
        """Return the statistics: runs, groups, overlaps, depths and topics; for programs one number a row."""
        if layout == "long":
            return Document([_long(self)], self.signature)
        grouped = len(self.groups) < len(self.runs)
        runs = display_table(
            self.runs,
            run=("run", "text"),
            **(GROUP if grouped else {}),
            judged_depth=("judged depth (median)", "number"),
            least_judged_depth=("judged depth (min)", "count"),
            judged=(f"judged@{self.depth}", "score"),
            **UNIQUE,
            overlap=(f"overlap@{self.depth}", "score"),
        )
        unique = "unique: documents that no other run has" + (", or no other group" if grouped else "")
        depth = "judged depth: rank down to which all documents are judged, the median and the minimum over topics"
        blocks: list[Table | str] = [runs, f"{depth} | {unique}" if len(self.topics) else unique]
        if grouped:
            blocks.append(display_table(self.groups, **GROUP, **counts("runs"), **UNIQUE))
        if 2 < len(self.runs) <= FEW_RUNS:
            blocks.append(_overlaps(self))
        blocks.append(display_table(self.depths, **counts("depth", "documents", "judged")))
        if len(self.topics):
            blocks.append(display_table(self.topics, topic=("topic", "text"), **counts(*self.topics.columns[1:])))
        return Document(blocks, self.signature)

    def __repr__(self) -> str:
        return f"<Pool of {len(self.runs)} runs, {len(self.topics)} topics>"


@kernel.takes_options("reading")
@public
@kernel.shares_work
def pool(
    runs: Any,
    qrels: Any = None,
    *,
    groups: Groups = None,
    pool_depth: PoolDepth = None,
    at: At = DEFAULT_DEPTH,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Pool:
    """Compute statistics of the pool of judgments, by run.

    runs        one or more, as in `evaluate`
    qrels       as in `evaluate`; None: only overlaps of runs
    groups      a file or dict run -> group: the team of each run
    pool_depth  last rank that contributes to the pool; None: all ranks do
    at          depth of the columns `judged` and `overlap`

    The remaining arguments are the ones of `evaluate` about formats and ranking; a document is relevant from the
    grade `rel` on, 1 by default. Returns `Pool`: `.runs`, `.groups`, `.topics`, `.overlap`, `.depths`. Raises
    `gradedeval.InputError` as `evaluate` does, and for groups with an unknown run.

    >>> runs = {"A": {"q1": {"d1": 2.0, "d2": 1.0}}, "B": {"q1": {"d3": 2.0, "d1": 1.0}}}
    >>> gradedeval.pool(runs, {"q1": {"d1": 1, "d2": 0}}).runs[["run", "retrieved", "judged", "overlap"]]
      run  retrieved  judged  overlap
    0   A          2     1.0      0.5
    1   B          2     0.5      0.5
    """
    options, named = kernel.resolve_options(like, **keywords), kernel.named_runs(runs)
    at, pool_depth = ranges.AT.check(at), ranges.POOL_DEPTH.check_or_none(pool_depth)
    group_of, notes = read_groups(groups, list(named))
    judged = kernel.Qrels.empty() if qrels is None else kernel.qrels_for(named, qrels, options)
    ranked = ranked_runs.rank_runs(named, kernel.grade.Grader(judged, options))
    result = pool_statistics(ranked, group_of, options, at, pool_depth)
    return replace(result, notes=emit_notes([*result.notes, *notes]))


def pool_statistics(
    ranked: RankedRuns, group_of: list[str], options: Options, at: int, pool_depth: int | None = None
) -> Pool:
    """Return the pool of ranked runs, as `pool`; `group_of` names the group of each."""
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
        "" if not judged.topics else kernel.signature(judged, options, [], counts),
        [*judged._notes_for(options), *ranked.notes],
    )


def relevant_of(ranked: RankedRuns, options: Options) -> Bools:
    """Return the mask of relevant documents."""
    grades = ranked.grades(np.arange(len(ranked)))
    return np.nan_to_num(grades, nan=-np.inf) >= (1 if options.rel is None else options.rel)


def _runs(
    ranked: RankedRuns, group_of: list[str], at: int, pool_depth: int | None, relevant: Bools, shares: Floats
) -> pd.DataFrame:
    _, num_runs = group_counts(ranked, [run.name for run in ranked.runs], pool_depth)
    has_qrels = bool(ranked.grader.qrels.topics)
    rows = []
    for number, (run, group) in enumerate(zip(ranked.runs, group_of, strict=True)):
        depths = judged_depths(ranked, run)[run.listed]
        unique = contributed(run, pool_depth, len(ranked)) & (num_runs == 1)
        rows.append(
            {
                "run": run.name,
                "group": group,
                "topics": int(run.listed.sum()),
                "retrieved": len(run.document),
                "judged_depth": float(np.median(depths)) if has_qrels else np.nan,
                "least_judged_depth": int(depths.min()) if has_qrels else None,
                "judged": _judged_at(ranked, run, at) if has_qrels else np.nan,
                "unique": int(unique.sum()),
                "unique_judged": int((unique & ranked.judged).sum()) if has_qrels else None,
                "unique_relevant": int((unique & relevant & ranked.judged).sum()) if has_qrels else None,
                "overlap": float(np.delete(shares[number], number).mean()) if len(ranked.runs) > 1 else np.nan,
            }
        )
    return kernel.results.to_frame(rows)


def judged_depths(ranked: RankedRuns, run: RankedRun) -> Ints:
    """Return for each topic the rank down to which all documents of a run are judged."""
    unjudged = np.flatnonzero(~ranked.judged[run.document])
    depths = run.counts.copy()
    topic = ranked.topic[run.document[unjudged]]
    np.minimum.at(depths, topic, run.rank[unjudged] - 1)
    return depths


def _judged_at(ranked: RankedRuns, run: RankedRun, at: int) -> float:
    """Return the mean over topics of the judged share of the first documents, as `judged@10`; 0 without any."""
    inside = run.document[(run.rank <= at) & ranked.judged[run.document]]
    judged = np.bincount(ranked.topic[inside], minlength=len(ranked.topics))
    return float((judged / np.clip(run.counts, 1, at))[run.listed].mean())


def _groups(ranked: RankedRuns, group_of: list[str], pool_depth: int | None, relevant: Bools) -> pd.DataFrame:
    contributions, num_groups = group_counts(ranked, group_of, pool_depth)
    has_qrels = bool(ranked.grader.qrels.topics)
    rows = []
    for group, mask in contributions.items():
        unique = mask & (num_groups == 1)
        judged = unique & ranked.judged
        numbers = (int(judged.sum()), int((judged & relevant).sum())) if has_qrels else (None, None)
        rows.append((group, group_of.count(group), int(unique.sum()), *numbers))
    return kernel.results.to_frame(rows, columns=["group", "runs", "unique", "unique_judged", "unique_relevant"])


def _topics(ranked: RankedRuns, options: Options, relevant: Bools) -> pd.DataFrame:
    qrels = ranked.grader.qrels
    labels = qrels.labels
    counted = ranked.grader.judged[: len(labels)]
    if not qrels.topics:
        return kernel.results.to_frame([], ["topic", "judged", "relevant", "found"])
    relevant_label = (labels >= (1 if options.rel is None else options.rel)) & counted
    documents = np.flatnonzero((ranked.retrieved_by > 0) & relevant & ranked.judged)
    frame = kernel.results.to_frame(
        {
            "topic": ranked.names,
            "judged": ranked.pool.per_topic(counted),
            "relevant": ranked.pool.per_topic(relevant_label),
            "found": np.bincount(ranked.topic[documents], minlength=len(ranked.topics)),
        }
    )
    table = ranked.pool.table()
    for label in np.unique(labels).tolist():
        frame[f"grade {label:g}"] = table[:, labels == label].sum(1)
    return frame


def _shares(ranked: RankedRuns, at: int) -> Floats:
    """Return the overlap of each pair of runs: the share of the first documents in common, mean over topics."""
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
            nonempty = longest > 0
            share = (count[nonempty] / longest[nonempty]).mean() if nonempty.any() else 0.0
            shares[row, column] = shares[column, row] = share
    return shares


def _overlap(ranked: RankedRuns, shares: Floats) -> pd.DataFrame:
    names = [run.name for run in ranked.runs]
    pairs = zip(*np.tril_indices(len(names), -1), strict=True)
    rows = [(names[first], names[second], float(shares[first, second])) for second, first in pairs]
    return kernel.results.to_frame(rows, columns=["run", "other", "overlap"])


def _depths(ranked: RankedRuns) -> pd.DataFrame:
    best = ranked.best_rank
    deepest = max((int(run.counts.max(initial=0)) for run in ranked.runs), default=0)
    depths = [depth for depth in DEPTHS if depth < deepest] + [deepest]
    has_qrels = bool(ranked.grader.qrels.topics)
    rows = [(depth, int((best <= depth).sum()), int(((best <= depth) & ranked.judged).sum()) if has_qrels else None)
            for depth in depths]  # fmt: skip
    return kernel.results.to_frame(rows, columns=["depth", "documents", "judged"])


def unjudged_by_depth(ranked: RankedRuns, at: int) -> pd.DataFrame:
    """Count the unjudged documents of each run: run, depth, documents (down to that rank, of all its topics), unjudged,
    per_topic (unjudged, mean over topics). The depths are 1, 5, 10, … to the deepest rank, and `at`."""
    deepest = max((int(run.counts.max(initial=0)) for run in ranked.runs), default=0)
    depths = sorted({at, deepest, *(depth for depth in DEPTHS if depth < deepest)})
    rows = []
    for run in ranked.runs:
        unjudged = run.rank[~ranked.judged[run.document]]
        for depth in depths:
            count = int((unjudged <= depth).sum())
            documents = int(np.minimum(run.counts, depth).sum())
            rows.append((run.name, depth, documents, count, count / int(run.listed.sum())))
    return kernel.results.to_frame(rows, columns=["run", "depth", "documents", "unjudged", "per_topic"])


def uniquely_relevant(ranked: RankedRuns, options: Options) -> pd.DataFrame:
    """Return the relevant documents that a single run retrieved: run, topic, docno, grade, rank; best ranks first."""
    unique = (ranked.retrieved_by == 1) & relevant_of(ranked, options) & ranked.judged
    names, frames = ranked.names, []
    for run in ranked.runs:
        positions = np.flatnonzero(unique[run.document])
        positions = positions[np.argsort(run.rank[positions], kind="stable")]
        document = run.document[positions]
        topics = [names[topic] for topic in ranked.topic[document].tolist()]
        columns = {"run": run.name, "topic": topics, "docno": ranked.docnos(document)}
        columns |= {"grade": ranked.grades(document), "rank": run.rank[positions]}
        frames.append(kernel.results.to_frame(columns))
    return kernel.results.joined(frames)


def _overlaps(pool: Pool) -> Table:
    values: dict[tuple[str, str], Any] = {}
    for row in kernel.results.to_rows(pool.overlap):
        values[row["run"], row["other"]] = values[row["other"], row["run"]] = row["overlap"]
    names = pool.runs["run"].tolist()
    columns = [Column(f"overlap@{pool.depth}", "run"), *(Column(name, "score", of_run=True) for name in names)]
    return Table(columns, [[run, *(values.get((run, second), "—") for second in names)] for run in names])


def _long(pool: Pool) -> Table:
    """Return a table of (run, group, topic, pair, depth), name, other, what, value."""
    rows: list[list[Any]] = []
    parts: dict[str, tuple[pd.DataFrame, str]] = {
        "run": (pool.runs, "run"),
        "group": (pool.groups, "group"),
        "pair": (pool.overlap, "run"),
        "depth": (pool.depths, "depth"),
        "topic": (pool.topics, "topic"),
    }
    for kind, (frame, name) in parts.items():
        for row in kernel.results.to_rows(frame) if len(frame) else []:
            second = row.get("other") if kind == "pair" else row.get("group") if kind == "run" else None
            values = {key: value for key, value in row.items() if key not in (name, "other", "group")}
            rows += [[kind, str(row[name]), second, key, value] for key, value in values.items() if value is not None]
    return Table([Column(name) for name in ("of", "name", "other", "what", "value")], rows)
