"""`diff`: changes between two runs by topic, and the documents behind them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from gradedeval import errors, kernel
from gradedeval.analysis import difference_bounds, ranked_runs, replicates, reversals, score_matrix
from gradedeval.arrays import TOLERANCE, Floats, Ints, np
from gradedeval.errors import InputError, Note, flag, plural, public, visible
from gradedeval.kernel import Column, Document, Layout, Measure, OptionKwargs, Table
from gradedeval.questions.explain import BEYOND, DEFAULT, DOCUMENT
from gradedeval.questions.ranking_agreement import TOPICS, Measures

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import DocumentChanges, RankedTerms, Sides
    from gradedeval.analysis.reversals import RereadRuns
    from gradedeval.analysis.score_matrix import Paired
    from gradedeval.kernel import Options, Scorer


# Changes by one measure between two runs or systems: a row for each topic, and for each changed document.


def topic_rows(change: DocumentChanges, paired: Paired, bounds: Floats, rises: bool) -> pd.DataFrame:
    """Return a row for each topic.

    paired  scores and residuals of all runs
    bounds  2 × topics: lowest and highest possible difference; nan if unknown
    rises   whether judging never lowers a score
    """
    ranked, shared, sides = change.ranked, change.sides.shared, change.sides
    baseline_score, run_score = sides.means(paired.score)
    baseline_residual, run_residual = sides.means(paired.residual)
    with np.errstate(invalid="ignore"):
        difference = np.where(baseline_score == run_score, 0.0, run_score - baseline_score)
    difference[np.abs(difference) <= TOLERANCE] = 0
    changed = np.bincount(ranked.topic[change.chosen], minlength=len(ranked.topics))[shared]
    same = (changed == 0) & (difference == 0)
    if sides.of_seeds:
        same[same] = sides.alike(shared[same], change.last)
    residuals = baseline_residual, run_residual
    orders = difference_bounds.same_order(difference, residuals, (bounds[0], bounds[1]), rises, same)
    frame = kernel.results.to_frame(
        {
            "measure": change.measure,
            "topic": np.array(ranked.names, dtype=object)[shared],
            "baseline_score": baseline_score,
            "score": run_score,
            "difference": difference,
            "baseline_residual": baseline_residual,
            "residual": run_residual,
            "same_order": orders,
            "changed": changed,
        }
    ).astype({"same_order": "boolean"})
    if sides.of_seeds:
        frame["se"] = replicates.difference_errors(*(paired.score[rows] for rows in sides.runs))
    return frame


def document_rows(change: DocumentChanges, place: Ints, above: Ints) -> pd.DataFrame:
    """Return a row for each chosen document, and for the rest of the difference of a topic; ranks and contributions are
    blank if a run did not retrieve the document.

    place  topics: position in the order of topics
    above  chosen documents: the relevant document that an unjudged document moved above, or −1
    """
    ranked, chosen, sides = change.ranked, change.chosen, change.sides
    names, docnos_above = np.array(ranked.names, dtype=object), np.full(len(above), None, dtype=object)
    docnos_above[above >= 0] = ranked.docnos(above[above >= 0])
    (baseline_rank, rank), seeds_with = sides.middle[:, chosen], sides.retrieved[:, chosen]
    documents = kernel.results.to_frame(
        {
            "measure": change.measure,
            "topic": names[ranked.topic[chosen]],
            "part": DOCUMENT,
            "docno": ranked.docnos(chosen),
            "grade": ranked.grades(chosen),
            "change": change.kinds,
            "baseline_rank": np.where(baseline_rank == ranked_runs.NOWHERE, np.nan, baseline_rank),
            "rank": np.where(rank == ranked_runs.NOWHERE, np.nan, rank),
            "baseline_contribution": np.where(seeds_with[0] == 0, np.nan, change.terms[0][chosen]),
            "contribution": np.where(seeds_with[1] == 0, np.nan, change.terms[1][chosen]),
            "explains": change.explains[chosen],
            "above": docnos_above,
        }
    )
    if sides.of_seeds:
        documents["baseline_seeds"], documents["seeds"] = seeds_with
    documents = documents.astype(SEEDED if sides.of_seeds else RANKED)
    more = change.rest[1] - change.rest[0]
    topics = change.sides.shared[np.abs(more[change.sides.shared]) > TOLERANCE]
    columns = {"measure": change.measure, "topic": names[topics], "part": BEYOND, "explains": more[topics]}
    rest = kernel.results.to_frame(columns)
    rest["baseline_contribution"], rest["contribution"] = change.rest[0][topics], change.rest[1][topics]
    frame = kernel.results.joined([documents, rest]) if len(topics) else documents
    topic_of_row = np.append(ranked.topic[chosen], topics)
    nearest = np.append(np.minimum(baseline_rank, rank), np.full(len(topics), ranked_runs.NOWHERE))
    return frame.iloc[np.lexsort((nearest, -frame["explains"].abs().to_numpy(dtype=float), place[topic_of_row]))]


RANKED = {"baseline_rank": "Int64", "rank": "Int64"}
SEEDED = {"baseline_seeds": "Int64", "seeds": "Int64"}
"""Types of columns of documents: of two runs, and of two systems, whose ranks are medians."""


# The result: topics that got worse or better, and the documents behind them.


Only = Literal["worse", "better", "reversible"]


@dataclass(frozen=True, eq=False)
class Diff(kernel.results.InNotebook):
    """Changes from one run, the baseline, to another, by each measure, on the topics that both are scored on.

    topics     a frame with a row for each topic and measure, the worst change first: measure, topic, baseline_score,
               score, difference (score − baseline_score), baseline_residual, residual, same_order (whether no judgment
               of unjudged documents could reverse the order of the scores; blank without a residual), changed (number
               of rows of `documents`)
    documents  a frame with a row for each document that entered, left, rose, fell, or kept its rank with another
               contribution, the largest effect first: measure, topic, part, docno, grade (blank: unjudged), change,
               baseline_rank, rank, baseline_contribution, contribution, explains (contribution −
               baseline_contribution), above (docno of the relevant document that an unjudged document moved above).
               `explains` sums over a topic to its difference: shares of no document, such as ranks beyond the end of a
               run, have a row with that `part`. Documents below the ranks of the measure in both runs are left out
    digits     of its tables
    texts      known texts of topics
    slices     if topics have labels, a frame with a row for each measure and slice: measure, slice (such as
               `intent=head`), column, label, topics (their number), baseline_score, score, difference, worse, better
               (numbers of topics); else None
    seeds      numbers of seeds of two systems; None for runs

    For systems of several seeds, scores, residuals and contributions are means over the seeds, and ranks are medians: a
    seed without the document counts as below all others; if half of the seeds or more lack it, there is no median. A
    document entered or left if no seed of the other system retrieved it; it rose or fell as its median did or, without
    medians, as the share of seeds that retrieved it. `topics` and `slices` also have se, the standard error of the
    difference over seeds; `documents` has baseline_seeds and seeds, the numbers of seeds that retrieved the document.
    same_order is of the means; a judgment of a document applies to all seeds.
    """

    baseline: str
    run: str
    topics: pd.DataFrame
    documents: pd.DataFrame
    measures: list[Measure]
    signature: str
    notes: list[str] = field(default_factory=list)
    digits: int = 4
    texts: Mapping[str, str] = field(default_factory=dict)
    slices: pd.DataFrame | None = None
    seeds: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"<Diff from {self.baseline} to {self.run}: {', '.join(measure.label for measure in self.measures)}>"

    @cached_property
    def by_topic(self) -> dict[tuple[str, str], pd.DataFrame]:
        """Frames of documents by (measure, topic)."""
        return kernel.results.groups(self.documents, "measure", "topic")

    def _documents_of(self, topic: Row) -> list[Row]:
        """Return the rows of the documents of a topic."""
        frame = self.by_topic.get((topic["measure"], topic["topic"]))
        return [] if frame is None else kernel.results.to_rows(frame)

    @public
    def only(self, kind: Only | None = None, topic: str | None = None) -> Diff:
        """Keep the topics that got worse or better, the topics with an order that judging could reverse, or one topic.

        Raises InputError (usage) for another kind, for a topic that the runs are not scored on, and if effects of
        judging are unknown for all topics.
        """
        rows = np.ones(len(self.topics), dtype=bool)
        if kind is not None:
            errors.check_choice(kind, get_args(Only), flag.only)
            better = {measure.label: measure.reading.sign for measure in self.measures}
            change = self.topics["difference"] * [better[label] for label in self.topics["measure"]]
            same_order = self.topics["same_order"]
            if kind == "reversible" and same_order.isna().all() and len(same_order):
                problem = "effects of judging are unknown here"
                hint = f"leave out {flag.judged_only:True}, or {flag.ties:best or worst}, or take a measure with bounds"
                raise InputError(flag.only, problem, hint, usage=True)
            rows &= {"worse": change < 0, "better": change > 0, "reversible": same_order.eq(False).fillna(False)}[kind]
        if topic is not None:
            topic_ids = list(dict.fromkeys(self.topics["topic"]))
            if topic not in topic_ids:
                hint = errors.did_you_mean(topic, topic_ids) or f"as in {errors.shorten(topic_ids)}"
                scope = "both runs are" if self.seeds is None else "all seeds are"
                raise InputError(flag.topic, f"'{topic}' is not a topic that {scope} scored on", hint, usage=True)
            rows &= self.topics["topic"] == topic
        topics = self.topics[rows]
        kept = set(zip(topics["measure"], topics["topic"], strict=True))
        pairs = zip(self.documents["measure"], self.documents["topic"], strict=True)
        documents = self.documents[np.array([pair in kept for pair in pairs], dtype=bool)]
        return replace(self, topics=topics, documents=documents)

    def document(
        self,
        layout: Layout,
        *,
        topic: str | None = None,
        top: int | None = None,
        only: Only | None = None,
        digits: int | None = None,
    ) -> Document:
        """Return the changes as tables.

        topic   only this topic, with a table of its documents
        top     number of topics in a table, the worst first; None: 10
        only    only topics that got worse or better, or that judging could reverse
        digits  of numbers in tables and sentences
        """
        selected = self.only(only, topic)
        if layout == "long":
            return _long(selected, top)
        names = [visible(self.baseline), visible(self.run)]
        blocks: list[Table | str] = [f"from {self._title(0)} to {self._title(1)}"]
        for measure in self.measures:
            topics = selected.topics[selected.topics["measure"] == measure.label]
            whole = measure.definition.summary == "total" and self.seeds is None
            decimals = 0 if whole else self.digits if digits is None else digits
            blocks += [_summary(self, measure, decimals), *_slice_tables(self, measure, names, decimals)]
            if topic is not None:
                for row in kernel.results.to_rows(topics):
                    line = _topic_line(row, decimals, self.texts.get(row["topic"]))
                    blocks += [line, _document_table(selected, row, decimals)]
                continue
            changed = kernel.results.to_rows(topics[(topics["changed"] > 0) | (topics["difference"] != 0)])
            listed = changed[: TOPICS if top is None else top]
            if listed:
                blocks.append(_topic_table(selected, listed, names, decimals))
            if len(changed) > len(listed):
                more, top_n = len(changed) - len(listed), errors.either("--top N", f".shown(top={len(changed)})")
                blocks.append(f"{more} more {plural(more, 'topic')} not shown; see them with {top_n}")
        return Document(blocks, self.signature)

    def _title(self, side: int) -> str:
        """Return the name of a run, or of a system with its number of seeds."""
        name = visible((self.baseline, self.run)[side])
        return name if self.seeds is None else f"{name} ({self.seeds[side]} {plural(self.seeds[side], 'seed')})"


def two_runs_error(runs: Sequence[str]) -> InputError:
    """Return the error for another number of runs."""
    problem, hint = f"{len(runs)} {plural(len(runs), 'run')} given", "with qrels diff compares two: diff A B QRELS"
    return InputError("", problem, hint, usage=True)


def _resolve_arguments(
    baseline: Any, run: Any, qrels: Any, measures: Any, replicates: Any
) -> tuple[dict[str, Any], Any, Any]:
    """Return the runs by name, the qrels and the measures: runs in one argument move the others up by one.

    Raises InputError (usage) for another number of runs than two, except runs of systems.
    """
    is_collection = isinstance(baseline, list | tuple | Mapping) or replicates is not None
    runs_by_name = kernel.named_runs(baseline) if is_collection else {}
    if len(runs_by_name) > 1:
        if measures is not DEFAULT and qrels is not None:
            example = "[A, B]" if replicates is None else "runs"
            hint = f"as in diff({example}, qrels, measures)"
            raise InputError("diff", "is given more than two runs", hint, usage=True)
        if len(runs_by_name) > 2 and replicates is None:
            raise two_runs_error(list(runs_by_name))
        return runs_by_name, run, measures if qrels is None else qrels
    if qrels is None:
        raise InputError("diff", "needs qrels", "as in diff(baseline, run, qrels, measures)", usage=True)
    return ranked_runs.name_two_runs(baseline, run), qrels, measures


@kernel.takes_options("reading", "unseen", "queries", "slices", "replicates")
@public
def diff(
    baseline: Any,
    run: Any,
    qrels: Any = None,
    measures: Measures = DEFAULT,
    *,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Diff:
    """List changes from one run to another: topics by difference, the worst first, and the documents behind them.

    baseline, run  two runs, as for `evaluate`; a dict name -> run names one. Both may be in a list or a dict, as in
                   diff([A, B], qrels, measures), like the seeds of two systems with `replicates`; the system of the
                   first run is the baseline

    The other arguments are as for `evaluate`, except `residuals`, `residual_depth` and `max_residual`.

    Returns `Diff`: `.topics`, `.documents`, `.only("worse")`, `.signature`. Raises `gradedeval.InputError` as
    `evaluate` does, and for runs without a common topic; omissions and assumptions are warnings, and in `.notes`.

    >>> before, after = {"q1": {"d2": 2.0, "d1": 1.0}}, {"q1": {"d1": 2.0, "d2": 1.0}}
    >>> changes = gradedeval.diff(before, after, {"q1": {"d1": 1}}, "rr").documents
    >>> changes[["docno", "change", "baseline_rank", "rank"]]
      docno change  baseline_rank  rank
    0    d1   rose              2     1
    1    d2   fell              1     2
    """
    options = kernel.resolve_options(like, **keywords)
    runs, qrels, measures = _resolve_arguments(baseline, run, qrels, measures, options.replicates)
    chosen = kernel.parse_measures(measures)
    systems = {run: [run] for run in runs}
    if options.replicates is not None:
        systems = ranked_runs.two_systems(list(runs), options.replicates)
        _check_summed(chosen)
    judged = kernel.qrels_for(runs, qrels, options)
    bounded = options.bounded_by_residuals and not options.judged_only
    options = replace(options, residuals="total" if bounded else None, bounds=False)
    scorer = kernel.Scorer(judged, chosen, options)
    ranked = ranked_runs.rank_runs(runs, scorer.grader, scorer=scorer)
    sides = ranked_runs.Sides.of(ranked, systems, of_seeds=options.replicates is not None)
    if scorer.grader.reads_types:
        raise InputError(flag.measures, "diff does not read the types of documents", "leave it out", usage=True)
    return _diff(sides, scorer, reversals.RereadRuns.of_runs(scorer, runs, ranked), options)


def _diff(sides: Sides, scorer: Scorer, reread: RereadRuns | None, options: Options) -> Diff:
    """Return the changes by all measures, and emit notes."""
    ranked = sides.ranked
    terms = ranked_runs.terms_by_run(ranked, scorer)
    labels = {} if options.slices is None else options.slices.topics
    count = len(scorer.measures)
    by_measure = [_frames_of_measure(sides, scorer, column, terms, reread, labels) for column in range(count)]
    topics, documents, sliced = zip(*by_measure, strict=True)
    counts = [(int(run.listed.sum()), run.missing) for run in ranked.runs]
    signature = kernel.signature(scorer.qrels, options, scorer.measures, counts)
    seeds = [] if options.replicates is None else options.replicates.notes(run.name for run in ranked.runs)
    slices = [rows for rows in sliced if len(rows)]
    few, unseen = kernel.caveats.few_topics_notes(len(sides.shared)), _unseen_notes(scorer.measures, topics, options)
    return Diff(
        *sides.names,
        kernel.results.joined(topics),
        kernel.results.joined(documents),
        scorer.measures,
        f"{signature} | {sides.in_words}" if sides.of_seeds else signature,
        errors.emit_notes([*scorer.notes, *ranked.notes, *few, *seeds, *unseen]),
        texts=options.texts,
        slices=kernel.results.joined(slices) if slices else None,
        seeds=sides.counts if sides.of_seeds else None,
    )


def _check_summed(measures: Sequence[Measure]) -> None:
    """Raise InputError (usage) for a measure by which scores of systems are geometric means over seeds."""
    for measure in measures:
        if measure.reading.summary == "geometric":
            problem = "a system's score is a geometric mean over seeds, to which no document adds a share of its own"
            hint = "take its arithmetic mean, or compare the systems"
            raise InputError(f"'{measure.label}'", problem, hint, usage=True)


def _unseen_notes(measures: Sequence[Measure], topics: Sequence[pd.DataFrame], options: Options) -> list[Note]:
    """Return notes on documents that no run retrieved, for measures with known orders."""
    ordered = [candidate for candidate, rows in zip(measures, topics, strict=True) if rows["same_order"].notna().any()]
    systems = options.replicates is not None
    return difference_bounds.unseen_notes([(measure.label, str(measure)) for measure in ordered], options, systems)


Labels = Mapping[str, Mapping[str, Collection[str]]]
"""Topics by column and label."""


def _frames_of_measure(
    sides: Sides, scorer: Scorer, column: int, terms: RankedTerms, reread: RereadRuns | None, labels: Labels
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the frames of topics, documents and slices of `Diff` for one measure."""
    measure, table, ranked, shared = scorer.measures[column], scorer.tables[column], sides.ranked, sides.shared
    unlimited = measure.cutoff is None or measure.definition.cutoff == "sums_to_k"
    last = ranked_runs.NOWHERE - 1 if unlimited else int(measure.cutoff or 0)
    change = ranked_runs.DocumentChanges.of(sides, terms, column, last, measure.label)
    score, residual = terms.scores[[0, 2]][:, :, shared, column]
    names, shared_names = [run.name for run in ranked.runs], [ranked.names[topic] for topic in shared]
    paired = score_matrix.Paired(measure.label, measure.reading, names, shared_names, score, residual)
    bounds = difference_bounds.bounds_of_means(paired, *sides.runs, reread)
    topics = topic_rows(change, paired, bounds, measure.bounds == "rises")
    # The worst first; of equal changes the order of the qrels.
    order = np.argsort(measure.reading.sign * topics["difference"].to_numpy(), kind="stable")
    place = np.zeros(len(ranked.topics), dtype=np.int64)
    place[shared[order]] = np.arange(len(shared))
    relevant = table.by_code(len(scorer.grader.qrels.labels) + 2)[ranked.code] > 0
    documents = document_rows(change, place, change.passed_by_unjudged(relevant))
    return topics.iloc[order], documents, _slice_rows(topics, paired, sides, labels)


def _slice_rows(topics: pd.DataFrame, paired: Paired, sides: Sides, labels: Labels) -> pd.DataFrame:
    """Return a row for each slice, the columns of `Diff.slices`, from `topics` in the order of `paired`."""
    reading, slices = paired.reading, list[dict[str, Any]]()
    names = ("baseline_score", "score", "difference")
    baseline_scores, run_scores, gains = (topics[name].array for name in names)
    for column, topics_of_label in labels.items():
        for label, members in topics_of_label.items():
            mask = np.array([topic in members for topic in paired.topics], dtype=bool)
            if not mask.any():
                continue
            baseline_mean, run_mean = (
                float(reading.summarize(np.asarray(scores[mask]))) for scores in (baseline_scores, run_scores)
            )
            change = np.asarray(gains[mask]) * reading.sign
            row = {"measure": paired.measure, "slice": f"{column}={label}", "column": column, "label": label,
                   "topics": int(mask.sum()), "baseline_score": baseline_mean, "score": run_mean,
                   "difference": run_mean - baseline_mean,
                   "worse": int((change < 0).sum()), "better": int((change > 0).sum())}  # fmt: skip
            if sides.of_seeds:
                by_seed = [reading.summarize(paired.score[runs][:, mask])[:, None] for runs in sides.runs]
                row["se"] = float(replicates.difference_errors(*by_seed)[0])
            slices.append(row)
    return kernel.results.to_frame({name: [row[name] for row in slices] for name in (slices[0] if slices else ())})


# Changes between two runs -> tables: a line for each topic in words, or a row for each document.


Row = dict[str, Any]

DOCUMENTS, NAMED, FIRST = 20, 2, 20
"""Maximum documents in the table of a topic and in a sentence, and the deepest rank of unjudged documents in it."""


def _append_slices(frame: pd.DataFrame, sliced: pd.DataFrame) -> pd.DataFrame:
    """Append the rows of slices to rows of topics; the column `slice` follows `topic`, which is `all`."""
    counts = dict.fromkeys(("topics", "worse", "better"), "Int64")
    names = [*(name for name in sliced if name not in {*counts, "column", "label"}), *counts, "column", "label"]
    rows = kernel.results.joined([frame, sliced[names].astype(counts).assign(topic="all")])
    rows.insert(list(rows).index("topic") + 1, "slice", rows.pop("slice"))
    return rows


def _long(result: Diff, top: int | None) -> Document:
    """Return a row for each document, with the scores of its topic, and one for each slice of all topics."""
    topics = result.topics.drop(columns="changed")
    if top is not None:
        topics = topics.groupby("measure", sort=False).head(top)
    frame = kernel.results.merged(topics, result.documents, on=["measure", "topic"])
    if result.slices is not None:
        frame = _append_slices(frame, result.slices)
    table = kernel.results.to_table(frame)
    columns = [Column("run"), Column("baseline"), *table.columns]
    return Document([Table(columns, [[result.run, result.baseline, *row] for row in table.rows])], result.signature)


def _summary(whole: Diff, measure: Measure, digits: int) -> str:
    """Return the line on the change of the mean, and the numbers of topics."""
    topics = whole.topics[whole.topics["measure"] == measure.label]
    baseline_mean, mean = (
        float(measure.reading.summarize(topics[name].to_numpy())) for name in ("baseline_score", "score")
    )
    gains = topics["difference"] * measure.reading.sign
    same = int((topics["changed"] == 0).sum())
    counts = f"{int((gains < 0).sum())} worse, {int((gains > 0).sum())} better, {int((gains == 0).sum())} equal"
    counts += f" ({same} with the same documents)" if same else ""
    reversible = int(topics["same_order"].eq(False).fillna(False).sum())
    reversal = f" | judging could reverse the order of {reversible} {plural(reversible, 'topic')}" if reversible else ""
    numbers = f"{baseline_mean:.{digits}f} → {mean:.{digits}f} ({mean - baseline_mean:+z.{digits}f})"
    return f"{measure.label}: {numbers} | {len(topics)} {plural(len(topics), 'topic')}: {counts}{reversal}"


def _slice_tables(whole: Diff, measure: Measure, names: list[str], digits: int) -> list[Table]:
    """Return the change of the mean by label: a table of each column of labels."""
    if whole.slices is None:
        return []
    scores = [Column(name, "score", digits, of_run=True) for name in names]
    errors = [] if whole.seeds is None else [Column("± se", "score", digits)]
    changes = [Column("difference", "signed", digits), *errors, Column("worse", "count"), Column("better", "count")]
    se = ["se"] if errors else []
    fields = ["label", "topics", "baseline_score", "score", "difference", *se, "worse", "better"]
    return [
        Table(
            [Column(column), Column("topics", "count"), *scores, *changes],
            [[row[name] for name in fields] for row in kernel.results.to_rows(slices_of_column)],
        )
        for (label, column), slices_of_column in kernel.results.groups(whole.slices, "measure", "column").items()
        if label == measure.label
    ]


def _topic_table(result: Diff, rows: list[Row], names: list[str], digits: int) -> Table:
    residuals = any(row["residual"] is not None for row in rows)
    columns = [Column("topic")]
    for name in names:
        columns.append(Column(name, "score", digits, of_run=True))
        columns += [Column("residual", "score", digits, wide=True)] if residuals else []
    reversible = any(row["same_order"] is False for row in rows)
    order = [Column(difference_bounds.IF_JUDGED, wide=True)] if reversible else []
    errors = [Column("± se", "score", digits)] if any(row.get("se") is not None for row in rows) else []
    columns += [Column("difference", "signed", digits), *errors, *order, Column("why")]
    cells = []
    for row in rows:
        line = [row["topic"]]
        for score, residual in (("baseline_score", "baseline_residual"), ("score", "residual")):
            line += [row[score], *([row[residual]] if residuals else [])]
        optional = [*([row["se"]] if errors else []), *([_describe_reversal(row)] if reversible else [])]
        cells.append([*line, row["difference"], *optional, describe_topic(result, row, digits)])
    return Table(columns, cells)


def describe_topic(result: Diff, row: Row, digits: int) -> str:
    """Describe the difference of a topic: the documents with the largest effect, and unjudged documents that rose."""
    documents = result._documents_of(row)
    contributing = [document for document in documents if document["explains"]]
    parts = [_describe_document(document, digits, result.seeds) for document in contributing[:NAMED]]
    if len(contributing) > NAMED:
        parts.append(f"{len(contributing) - NAMED} more")
    parts += [] if contributing else ["no document counts more or less than before"]
    above = [document for document in documents if document["above"] is not None and document["rank"] <= FIRST]
    parts += _describe_risen(above)
    return "; ".join(parts)


def _describe_risen(unjudged: list[Row]) -> list[str]:
    """Describe unjudged documents that moved above relevant ones: the first of them, and the number of others."""
    if not unjudged:
        return []
    first = min(unjudged, key=lambda document: document["rank"])
    same = sum(document["above"] == first["above"] for document in unjudged)
    rest = len(unjudged) - same
    more = (f" and {same - 1} more" if same > 1 else "", f", {rest} above others" if rest else "")
    return [f"unjudged {visible(first['docno'])}{more[0]} moved above relevant {visible(first['above'])}{more[1]}"]


def _describe_document(row: Row, digits: int, seeds: tuple[int, int] | None) -> str:
    """Describe the change of a document: `d7 (grade 2) fell 2 → 14: −0.1875`, of seeds `fell 2 → 14 (3 of 4)`."""
    if row["part"] != DOCUMENT:
        return f"ranks {row['part']} the end: {row['explains']:+.{digits}f}"
    grade = "unjudged" if row["grade"] is None else f"grade {row['grade']:g}"
    old, new = (_format_rank(row, side, seeds) for side in (0, 1))
    if row["change"] in (ranked_runs.ENTERED, ranked_runs.LEFT):
        entered = row["change"] == ranked_runs.ENTERED
        rank, position = (row["rank"], new) if entered else (row["baseline_rank"], old)
        preposition = "" if rank is None else "at " if entered else "from rank "
        moved = f"{'entered' if entered else 'dropped out'} {preposition}{position}"
    else:
        stayed = row["change"] == ranked_runs.STAYED
        change = "stayed at" if stayed and row["rank"] is not None else row["change"]
        moved = f"{change} {new}" if stayed and old == new else f"{change} {old} → {new}"
    return f"{visible(row['docno'])} ({grade}) {moved}: {row['explains']:+.{digits}f}"


def _format_rank(row: Row, side: int, seeds: tuple[int, int] | None) -> str:
    """Format the rank of a document; for systems with the number of seeds that retrieved it, unless all did."""
    rank = row[("baseline_rank", "rank")[side]]
    place = "" if rank is None else str(int(rank) if rank == int(rank) else rank)
    if seeds is None:
        return place
    retrieved, count = row[("baseline_seeds", "seeds")[side]], seeds[side]
    if not place:
        return f"in {retrieved} of {count}"
    return place if retrieved == count else f"{place} ({retrieved} of {count})"


def _topic_line(row: Row, digits: int, text: str | None) -> str:
    topic = f"topic {row['topic']}" + (f" ({text})" if text else "")
    error = "" if row.get("se") is None else f" ± {row['se']:.{digits}f}"
    scores = f"{row['baseline_score']:.{digits}f} → {row['score']:.{digits}f} ({row['difference']:+.{digits}f}{error})"
    if row["residual"] is None:
        return f"{topic}: {scores}"
    residuals = f"residuals {row['baseline_residual']:.{digits}f} and {row['residual']:.{digits}f}"
    return f"{topic}: {scores} | {residuals} | {difference_bounds.IF_JUDGED}: {_describe_reversal(row)}"


def _describe_reversal(row: Row) -> str:
    """Describe whether judging could reverse the order of the two scores of a topic."""
    return "unknown" if row["same_order"] is None else "same order" if row["same_order"] else "could be reversed"


def _document_table(result: Diff, topic: Row, digits: int) -> Table:
    """Return the documents of one topic, the largest effect first, and one row for the rest."""
    rows = result._documents_of(topic)
    names = ("docno", "grade", "change", "baseline_rank", "rank", "baseline_contribution", "contribution", "explains")
    kinds = ("text", "number", "text", "count", "count", "score", "score", "signed", "text")
    cells = [[row[name] for name in (*names, "above")] for row in rows[:DOCUMENTS]]
    for line, row in zip(cells, rows, strict=False):
        line[0] = row["docno"] if row["part"] == DOCUMENT else f"{row['part']} the end"
    if rows[DOCUMENTS:]:
        rest = sum(row["explains"] for row in rows[DOCUMENTS:])
        cells.append([f"{len(rows) - DOCUMENTS} more", *[None] * 6, rest, None])
    titles = ("docno", "grade", "change", "old rank", "rank", "old contribution", "contribution", "explains",
              "unjudged, above")  # fmt: skip
    columns = [Column(title, kind, digits) for title, kind in zip(titles, kinds, strict=True)]  # type: ignore[arg-type]
    if result.seeds is not None:
        _insert_seeds(columns, cells, rows, result.seeds)
    return Table(columns, cells)


def _insert_seeds(columns: list[Column], cells: list[list[Any]], rows: list[Row], seeds: tuple[int, int]) -> None:
    """Insert a column of the numbers of seeds that retrieved the documents before the ranks, which are medians."""
    position = [column.name for column in columns].index("old rank")
    medians = [Column(f"{old}median rank", "number") for old in ("old ", "")]
    columns[position : position + 2] = [Column("seeds", "figures"), *medians]
    for line, row in zip(cells, [*rows[:DOCUMENTS], None], strict=False):
        retrieved = None if row is None else row["seeds"]
        line.insert(position, None if row is None or retrieved is None else
                    f"{row['baseline_seeds']}/{seeds[0]} → {retrieved}/{seeds[1]}")  # fmt: skip
