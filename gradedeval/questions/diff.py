"""`diff`: what changed between two runs, topic by topic, and which documents did it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from gradedeval import kernel
from gradedeval.analysis import difference_bounds, ranked_runs, replicates, reversals, score_matrix
from gradedeval.arrays import TOLERANCE, Floats, Ints, np
from gradedeval.errors import (
    InputError,
    Note,
    check_choice,
    did_you_mean,
    either,
    emit_notes,
    flag,
    plural,
    public,
    shorten,
    visible,
)
from gradedeval.kernel import (
    Column,
    Document,
    Layout,
    Measure,
    OptionKwargs,
    Table,
    parse_measures,
    resolve_options,
    takes_options,
)
from gradedeval.questions.agreement import TOPICS, Measures
from gradedeval.questions.explain import BEYOND, DEFAULT, DOCUMENT

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import DocumentChanges, RankedTerms, Sides
    from gradedeval.analysis.reversals import RereadRuns
    from gradedeval.analysis.score_matrix import Paired
    from gradedeval.kernel import Options, Scorer


# What became of the documents of two runs, or of two systems, by one measure: a row for each topic, and for each
# document that changed.


def topic_rows(change: DocumentChanges, paired: Paired, bounds: Floats, rises: bool) -> pd.DataFrame:
    """A row for each topic.

    paired  scores and residuals of all runs
    bounds  2 × topics: how low and how high the difference can come; nan where that is not known
    rises   whether no judging lowers a score
    """
    ranked, shared, sides = change.ranked, change.shared, change.sides
    (before, after), (old, new) = sides.means(paired.score), sides.means(paired.residual)
    with np.errstate(invalid="ignore"):
        difference = np.where(before == after, 0.0, after - before)
    difference[np.abs(difference) <= TOLERANCE] = 0
    changed = np.bincount(ranked.topic[change.chosen], minlength=len(ranked.topics))[shared]
    same = (changed == 0) & (difference == 0)
    if sides.of_seeds:
        same[same] = sides.alike(shared[same], change.last)
    known = difference_bounds.same_order(difference, (old, new), (bounds[0], bounds[1]), rises, same)
    found = kernel.results.to_frame(
        {
            "measure": change.measure,
            "topic": np.array(ranked.names, dtype=object)[shared],
            "baseline_score": before,
            "score": after,
            "difference": difference,
            "baseline_residual": old,
            "residual": new,
            "same_order": known,
            "changed": changed,
        }
    ).astype({"same_order": "boolean"})
    if sides.of_seeds:
        found["se"] = replicates.difference_errors(*(paired.score[own] for own in sides.runs))
    return found


def document_rows(change: DocumentChanges, place: Ints, above: Ints) -> pd.DataFrame:
    """A row for each document chosen, and for what else makes the difference of a topic; ranks and contributions are
    blank where a run did not retrieve the document.

    place  topics: where each stands in the order of topics
    above  of the documents chosen: the relevant one that an unjudged one moved above, −1 where there is none
    """
    ranked, chosen, sides = change.ranked, change.chosen, change.sides
    names, (before, after), has = (
        np.array(ranked.names, dtype=object),
        sides.middle[:, chosen],
        sides.retrieved[:, chosen],
    )
    documents = kernel.results.to_frame(
        {
            "measure": change.measure,
            "topic": names[ranked.topic[chosen]],
            "part": DOCUMENT,
            "docno": ranked.docnos(chosen),
            "grade": ranked.grades(chosen),
            "change": change.kinds,
            "baseline_rank": np.where(before == ranked_runs.NOWHERE, np.nan, before),
            "rank": np.where(after == ranked_runs.NOWHERE, np.nan, after),
            "baseline_contribution": np.where(has[0] == 0, np.nan, change.terms[0][chosen]),
            "contribution": np.where(has[1] == 0, np.nan, change.terms[1][chosen]),
            "explains": change.explains[chosen],
            "above": np.where(above < 0, None, ranked.docnos(above)),
        }
    )
    if sides.of_seeds:
        documents["baseline_seeds"], documents["seeds"] = has
    documents = documents.astype(SEEDED if sides.of_seeds else RANKED)
    more = change.rest[1] - change.rest[0]
    others = change.shared[np.abs(more[change.shared]) > TOLERANCE]
    rest = kernel.results.to_frame(
        {"measure": change.measure, "topic": names[others], "part": BEYOND, "explains": more[others]}
    )
    rest["baseline_contribution"], rest["contribution"] = change.rest[0][others], change.rest[1][others]
    found = kernel.results.joined([documents, rest]) if len(others) else documents
    of_topic = np.append(ranked.topic[chosen], others)
    nearest = np.append(np.minimum(before, after), np.full(len(others), ranked_runs.NOWHERE))
    return found.iloc[np.lexsort((nearest, -found["explains"].abs().to_numpy(dtype=float), place[of_topic]))]


RANKED = {"baseline_rank": "Int64", "rank": "Int64"}
SEEDED = {"baseline_seeds": "Int64", "seeds": "Int64"}
"""The kinds of columns of documents: of two runs, and of two systems, whose ranks are medians."""


# Two runs with judgments: which topics got worse or better, and which documents made the difference.


Only = Literal["worse", "better", "reversible"]


@dataclass(frozen=True, eq=False)
class Diff(kernel.results.InNotebook):
    """What changed from one run, the baseline, to another, by each measure and on the topics that both are scored on.

    topics     a frame with a row for each topic and measure, the worst change first: measure, topic, baseline_score,
               score, difference (score − baseline_score), baseline_residual, residual, same_order (whether no judgment
               of unjudged documents could reverse the order of the two scores; blank without a residual), changed (how
               many documents below tell of it)
    documents  a frame with a row for each document that entered, left, rose, fell, or stayed where it was and counts
               otherwise, those that explain most first: measure, topic, part, docno, grade (blank: unjudged), change,
               baseline_rank, rank, baseline_contribution, contribution, explains (contribution −
               baseline_contribution), above (of an unjudged document that came to stand above a relevant one: the
               docno of that). `explains` of all rows of a topic sums to its difference: what is not a document's, such
               as what lies beyond the end of a run, has a row with that `part`. Documents that neither run has among
               the ranks that the measure looks at are left out
    digits     of its tables
    texts      the texts of topics, where they are known
    slices     where topics have labels, a frame with a row for each measure and slice: measure, slice (as in
               `intent=head`), its column and label, topics (how many it has), baseline_score, score, difference, worse,
               better (on how many of them the run is); None otherwise
    seeds      how many seeds each of two systems has; None of two runs

    Of two systems of several seeds, scores, residuals and contributions are means over the seeds, and ranks are medians
    over them: a seed that did not retrieve the document counts as below all others, and where half of the seeds or
    more did not, there is no median. A document entered or left where no seed of the other system retrieved it; it rose
    or fell as the median did, or where neither system has one as the share of seeds did that retrieved it. `topics` and
    `slices` have the column se as well, the standard error of the difference over seeds, and `documents` baseline_seeds
    and seeds, how many seeds of each system retrieved the document. same_order is then of the two means, a document
    being judged alike for all seeds.
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
        """(measure, topic) -> its documents."""
        return kernel.results.groups(self.documents, "measure", "topic")

    def _documents_of(self, topic: Row) -> list[Row]:
        """The rows of the documents of a topic."""
        found = self.by_topic.get((topic["measure"], topic["topic"]))
        return [] if found is None else kernel.results.to_rows(found)

    @public
    def only(self, kind: Only | None = None, topic: str | None = None) -> Diff:
        """The topics that got worse or better, those whose order judging could reverse, or one of them.

        Raises InputError (usage) for another kind, a topic that the runs are not scored on, and where it is not known
        of any topic whether judging could reverse it.
        """
        rows = np.ones(len(self.topics), dtype=bool)
        if kind is not None:
            check_choice(kind, get_args(Only), flag.only)
            better = {measure.label: measure.reading.sign for measure in self.measures}
            change = self.topics["difference"] * [better[label] for label in self.topics["measure"]]
            settled = self.topics["same_order"]
            if kind == "reversible" and settled.isna().all() and len(settled):
                what = "what judging could reverse is not known here"
                hint = f"leave out {flag.judged_only:True}, or {flag.ties:best or worst}, or take a measure with bounds"
                raise InputError(flag.only, what, hint, usage=True)
            rows &= {"worse": change < 0, "better": change > 0, "reversible": settled.eq(False).fillna(False)}[kind]
        if topic is not None:
            known = list(dict.fromkeys(self.topics["topic"]))
            if topic not in known:
                hint = did_you_mean(topic, known) or f"as in {shorten(known)}"
                who = "both runs are" if self.seeds is None else "all seeds are"
                raise InputError(flag.topic, f"'{topic}' is not a topic that {who} scored on", hint, usage=True)
            rows &= self.topics["topic"] == topic
        topics = self.topics[rows]
        wanted = set(zip(topics["measure"], topics["topic"], strict=True))
        pairs = zip(self.documents["measure"], self.documents["topic"], strict=True)
        documents = self.documents[np.array([pair in wanted for pair in pairs], dtype=bool)]
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
        """The changes, or those of them that are asked for.

        topic   the only one: its documents have a table
        top     how many topics a table shows, the worst first; None: 10
        digits  of the numbers in tables and in words
        """
        shown = self.only(only, topic)
        if layout == "long":
            return _long(shown, top)
        names = [visible(self.baseline), visible(self.run)]
        blocks: list[Table | str] = [f"from {self._named(0)} to {self._named(1)}"]
        for measure in self.measures:
            topics = shown.topics[shown.topics["measure"] == measure.label]
            whole = measure.definition.summary == "total" and self.seeds is None
            decimals = 0 if whole else self.digits if digits is None else digits
            blocks += [_summary(self, measure, decimals), *_of_slices(self, measure, names, decimals)]
            if topic is not None:
                for row in kernel.results.to_rows(topics):
                    blocks += [_of_topic(row, decimals, self.texts.get(row["topic"])), _documents(shown, row, decimals)]
                continue
            changed = kernel.results.to_rows(topics[(topics["changed"] > 0) | (topics["difference"] != 0)])
            some = changed[: TOPICS if top is None else top]
            if some:
                blocks.append(_topics(shown, some, names, decimals))
            if len(changed) > len(some):
                more, top_n = len(changed) - len(some), either("--top N", f".shown(top={len(changed)})")
                blocks.append(f"{more} more {plural(more, 'topic')}: {top_n}")
        return Document(blocks, self.signature)

    def _named(self, side: int) -> str:
        """What is compared, and how many seeds it has where these are counted."""
        name = visible((self.baseline, self.run)[side])
        return name if self.seeds is None else f"{name} ({self.seeds[side]} {plural(self.seeds[side], 'seed')})"


def not_two(runs: Sequence[str]) -> InputError:
    """That another number of runs is given."""
    what, hint = f"{len(runs)} {plural(len(runs), 'run')} given", "with qrels diff compares two: diff A B QRELS"
    return InputError("", what, hint, usage=True)


def _given(baseline: Any, run: Any, qrels: Any, measures: Any, replicates: Any) -> tuple[dict[str, Any], Any, Any]:
    """The runs by name, two unless they are of systems, qrels and measures: where the runs stand in a list, a dict or a
    folder, the others are a place early. Raises InputError (usage) for another number of runs."""
    several = isinstance(baseline, list | tuple | Mapping) or replicates is not None
    named = kernel.named_runs(baseline) if several else {}
    if len(named) > 1:
        if measures is not DEFAULT and qrels is not None:
            how = "[A, B]" if replicates is None else "runs"
            raise InputError("diff", "is given more than two runs", f"as in diff({how}, qrels, measures)", usage=True)
        if len(named) > 2 and replicates is None:
            raise not_two(list(named))
        return named, run, measures if qrels is None else qrels
    if qrels is None:
        raise InputError("diff", "needs qrels", "as in diff(baseline, run, qrels, measures)", usage=True)
    return ranked_runs.name_two_runs(baseline, run), qrels, measures


@takes_options("reading", "unseen", "queries", "slices", "replicates")
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
    """What changed from one run to another: topics by difference, the worst first, and the documents that made it.

    baseline, run  two runs, as `evaluate` takes them; a dict name -> run names one. Both may be in a list or a dict, as
                   in diff([A, B], qrels, measures); so are the seeds of two systems, with `replicates`, of which the
                   system of the first run is the baseline

    The other arguments are those of `evaluate`; `residuals`, `residual_depth` and `max_residual` are not among them.

    Returns `Diff`: `.topics`, `.documents`, `.only("worse")`, `.signature`. Raises `gradedeval.InputError` as
    `evaluate` does, and where the runs have no topic in common; what is skipped or assumed is a warning, and in
    `.notes`.
    """
    options = resolve_options(like, **keywords)
    runs, qrels, measures = _given(baseline, run, qrels, measures, options.replicates)
    chosen = parse_measures(measures)
    systems = {run: [run] for run in runs}
    if options.replicates is not None:
        systems = ranked_runs.two_systems(list(runs), options.replicates)
        _check_summed(chosen)
    judged = kernel.qrels_for(runs, qrels, options)
    known = options.bounded_by_residuals and not options.judged_only
    options = replace(options, residuals="total" if known else None, bounds=False)
    scorer = kernel.Scorer(judged, chosen, options)
    ranked = ranked_runs.rank_runs(runs, scorer.grader, scorer=scorer)
    sides = ranked_runs.Sides.of(ranked, systems, of_seeds=options.replicates is not None)
    if scorer.grader.types:
        raise InputError(flag.measures, "diff does not read the types of documents", "leave it out", usage=True)
    return _found(sides, scorer, reversals.RereadRuns.of_runs(scorer, runs, ranked), options)


def _found(sides: Sides, scorer: Scorer, reread: RereadRuns | None, options: Options) -> Diff:
    """What changed, by all measures; what is assumed is told."""
    ranked = sides.ranked
    terms = ranked_runs.terms_by_run(ranked, scorer)
    labels = {} if options.slices is None else options.slices.topics
    count = len(scorer.measures)
    measured = [_of_measure(sides, scorer, column, terms, reread, labels) for column in range(count)]
    topics, documents, sliced = zip(*measured, strict=True)
    counts = [(int(run.listed.sum()), run.missing) for run in ranked.runs]
    signature = kernel.signature(scorer.qrels, options, scorer.measures, counts)
    seeds = [] if options.replicates is None else options.replicates.notes(run.name for run in ranked.runs)
    few, unseen = kernel.caveats.few_topics_notes(len(sides.shared)), _unseen(scorer.measures, topics, options)
    return Diff(
        *sides.names,
        kernel.results.joined(topics),
        kernel.results.joined(documents),
        scorer.measures,
        f"{signature} | {sides.in_words}" if sides.of_seeds else signature,
        emit_notes([*scorer.notes, *ranked.notes, *few, *seeds, *unseen]),
        texts=options.texts,
        slices=kernel.results.joined(known) if (known := [rows for rows in sliced if len(rows)]) else None,
        seeds=sides.counts if sides.of_seeds else None,
    )


def _check_summed(measures: Sequence[Measure]) -> None:
    """Raise InputError (usage) for a measure of which a system's score of a topic is a geometric mean over seeds."""
    for measure in measures:
        if measure.reading.summary == "geometric":
            what = "a system's score is a geometric mean over seeds, to which no document adds a share of its own"
            raise InputError(f"'{measure.label}'", what, "take its arithmetic mean, or compare the systems", usage=True)


def _unseen(measures: Sequence[Measure], topics: Sequence[pd.DataFrame], options: Options) -> list[Note]:
    """What is assumed of documents that no run retrieved, where orders are told."""
    known = [one for one, rows in zip(measures, topics, strict=True) if rows["same_order"].notna().any()]
    systems = options.replicates is not None
    return difference_bounds.unseen_notes([(measure.label, str(measure)) for measure in known], options, systems)


Labels = Mapping[str, Mapping[str, Collection[str]]]
"""column -> label -> its topics."""


def _of_measure(
    sides: Sides, scorer: Scorer, column: int, terms: RankedTerms, reread: RereadRuns | None, labels: Labels
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The topics, the documents and the slices of `Diff`, by one measure."""
    measure, table, ranked, shared = scorer.measures[column], scorer.tables[column], sides.ranked, sides.shared
    whole = measure.cutoff is None or measure.definition.cutoff == "sums_to_k"
    last = ranked_runs.NOWHERE - 1 if whole else int(measure.cutoff or 0)
    change = ranked_runs.DocumentChanges.of(sides, terms, column, last, measure.label)
    names, (score, residual) = [run.name for run in ranked.runs], terms.scores[[0, 2]][:, :, shared, column]
    paired = score_matrix.Paired(
        measure.label, measure.reading, names, [ranked.names[topic] for topic in shared], score, residual
    )
    bounds = difference_bounds.bounds_of_means(paired, *sides.runs, reread)
    topics = topic_rows(change, paired, bounds, measure.bounds == "rises")
    # The worst first; of equal changes the order of the qrels.
    order = np.argsort(measure.reading.sign * topics["difference"].to_numpy(), kind="stable")
    place = np.zeros(len(ranked.topics), dtype=np.int64)
    place[shared[order]] = np.arange(len(shared))
    relevant = table.by_code(len(scorer.grader.qrels.labels) + 2)[ranked.code] > 0
    documents = document_rows(change, place, change.passed_by_unjudged(relevant))
    return topics.iloc[order], documents, _by_slice(topics, paired, sides, labels)


def _by_slice(topics: pd.DataFrame, paired: Paired, sides: Sides, labels: Labels) -> pd.DataFrame:
    """A row for each slice that the topics compared have: the columns of `Diff.slices`; empty where there is none.

    topics  rows as of `Diff.topics`, by one measure and of the topics of `paired` in their order
    """
    reading, found = paired.reading, list[dict[str, Any]]()
    before, after, gains = topics["baseline_score"].array, topics["score"].array, topics["difference"].array
    for column, of in labels.items():
        for label, members in of.items():
            own = np.array([topic in members for topic in paired.topics], dtype=bool)
            if not own.any():
                continue
            old, new = (float(reading.summarize(np.asarray(scores[own]))) for scores in (before, after))
            change = np.asarray(gains[own]) * reading.sign
            row = {"measure": paired.measure, "slice": f"{column}={label}", "column": column, "label": label,
                   "topics": int(own.sum()), "baseline_score": old, "score": new, "difference": new - old,
                   "worse": int((change < 0).sum()), "better": int((change > 0).sum())}  # fmt: skip
            if sides.of_seeds:
                by_seed = [reading.summarize(paired.score[runs][:, own])[:, None] for runs in sides.runs]
                row["se"] = float(replicates.difference_errors(*by_seed)[0])
            found.append(row)
    return kernel.results.to_frame({name: [row[name] for row in found] for name in (found[0] if found else ())})


# Changes between two runs -> tables: a line for each topic in words, or a row for each document.


Row = dict[str, Any]

DOCUMENTS, NAMED, FIRST = 20, 2, 20
"""Documents of a topic's own table, documents that a line about a topic names, and the rank down to
which it tells of unjudged ones."""


def _with_slices(frame: pd.DataFrame, sliced: pd.DataFrame) -> pd.DataFrame:
    """The rows of topics, and below them those of slices, with the column `slice` behind `topic`, which is `all`."""
    counts = dict.fromkeys(("topics", "worse", "better"), "Int64")
    names = [*(name for name in sliced if name not in {*counts, "column", "label"}), *counts, "column", "label"]
    found = kernel.results.joined([frame, sliced[names].astype(counts).assign(topic="all")])
    found.insert(list(found).index("topic") + 1, "slice", found.pop("slice"))
    return found


def _long(shown: Diff, top: int | None) -> Document:
    """A row for each document, with the scores of its topic, and one for each slice: of all its topics."""
    topics = shown.topics.drop(columns="changed")
    if top is not None:
        topics = topics.groupby("measure", sort=False).head(top)
    frame = kernel.results.merged(topics, shown.documents, on=["measure", "topic"])
    if shown.slices is not None:
        frame = _with_slices(frame, shown.slices)
    found = kernel.results.to_table(frame)
    columns = [Column("run"), Column("baseline"), *found.columns]
    return Document([Table(columns, [[shown.run, shown.baseline, *row] for row in found.rows])], shown.signature)


def _summary(whole: Diff, measure: Measure, digits: int) -> str:
    """What became of the mean, and of how many topics."""
    topics = whole.topics[whole.topics["measure"] == measure.label]
    before, after = (float(measure.reading.summarize(topics[name].to_numpy())) for name in ("baseline_score", "score"))
    gains = topics["difference"] * measure.reading.sign
    same = int((topics["changed"] == 0).sum())
    counts = [
        f"{int((gains < 0).sum())} worse",
        f"{int((gains > 0).sum())} better",
        f"{int((gains == 0).sum())} equal" + (f" ({same} with the same documents)" if same else ""),
    ]
    reversible = int(topics["same_order"].eq(False).fillna(False).sum())
    open_ = f" | judging could reverse the order of {reversible} {plural(reversible, 'topic')}" if reversible else ""
    numbers = f"{before:.{digits}f} → {after:.{digits}f} ({after - before:+z.{digits}f})"
    return f"{measure.label}: {numbers} | {len(topics)} {plural(len(topics), 'topic')}: {', '.join(counts)}{open_}"


def _of_slices(whole: Diff, measure: Measure, names: list[str], digits: int) -> list[Table]:
    """What became of the mean on the topics of each label: a table of each column of labels."""
    if whole.slices is None:
        return []
    scores = [Column(name, "score", digits, of_run=True) for name in names]
    errors = [] if whole.seeds is None else [Column("± se", "score", digits)]
    changes = [Column("difference", "signed", digits), *errors, Column("worse", "count"), Column("better", "count")]
    shown = ["label", "topics", "baseline_score", "score", "difference", *(["se"] if errors else []), "worse", "better"]
    return [
        Table(
            [Column(column), Column("topics", "count"), *scores, *changes],
            [[row[name] for name in shown] for row in kernel.results.to_rows(of_column)],
        )
        for (label, column), of_column in kernel.results.groups(whole.slices, "measure", "column").items()
        if label == measure.label
    ]


def _topics(shown: Diff, rows: list[Row], names: list[str], digits: int) -> Table:
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
        line += [row["difference"], *([row["se"]] if errors else []), *([_if_fully_judged(row)] if reversible else [])]
        cells.append([*line, in_words(shown, row, digits)])
    return Table(columns, cells)


def in_words(shown: Diff, row: Row, digits: int) -> str:
    """What made the difference of a topic: the documents that explain most of it, and what is to be judged."""
    documents = shown._documents_of(row)
    counting = [one for one in documents if one["explains"]]
    parts = [_sentence(one, digits, shown.seeds) for one in counting[:NAMED]]
    if len(counting) > NAMED:
        parts.append(f"{len(counting) - NAMED} more")
    parts += [] if counting else ["no document counts more or less than before"]
    parts += _risen([one for one in documents if one["above"] is not None and one["rank"] <= FIRST])
    return "; ".join(parts)


def _risen(unjudged: list[Row]) -> list[str]:
    """The unjudged documents that moved above relevant ones: the first, and how many more above the same or others."""
    if not unjudged:
        return []
    first = min(unjudged, key=lambda one: one["rank"])
    same = sum(one["above"] == first["above"] for one in unjudged)
    others = len(unjudged) - same
    more = (f" and {same - 1} more" if same > 1 else "", f", {others} above others" if others else "")
    return [f"unjudged {visible(first['docno'])}{more[0]} moved above relevant {visible(first['above'])}{more[1]}"]


def _sentence(row: Row, digits: int, seeds: tuple[int, int] | None) -> str:
    """What became of a document, as in `d7 (grade 2) fell 2 → 14: −0.1875`; of systems with how many seeds retrieved
    it where not all did, as in `fell 2 → 14 (3 of 4)`."""
    if row["part"] != DOCUMENT:
        return f"what is {row['part']} the end: {row['explains']:+.{digits}f}"
    grade = "unjudged" if row["grade"] is None else f"grade {row['grade']:g}"
    old, new = (_place(row, side, seeds) for side in (0, 1))
    if row["change"] in (ranked_runs.ENTERED, ranked_runs.LEFT):
        entered = row["change"] == ranked_runs.ENTERED
        rank, place = (row["rank"], new) if entered else (row["baseline_rank"], old)
        at = "" if rank is None else "at " if entered else "from rank "
        moved = f"{'entered' if entered else 'dropped out'} {at}{place}"
    else:
        stayed = row["change"] == ranked_runs.STAYED
        change = "stayed at" if stayed and row["rank"] is not None else row["change"]
        moved = f"{change} {new}" if stayed and old == new else f"{change} {old} → {new}"
    return f"{visible(row['docno'])} ({grade}) {moved}: {row['explains']:+.{digits}f}"


def _place(row: Row, side: int, seeds: tuple[int, int] | None) -> str:
    """Where a document stands: its rank, and how many seeds retrieved it where not all did."""
    rank = row[("baseline_rank", "rank")[side]]
    place = "" if rank is None else str(int(rank) if rank == int(rank) else rank)
    if seeds is None:
        return place
    retrieved, count = row[("baseline_seeds", "seeds")[side]], seeds[side]
    if not place:
        return f"in {retrieved} of {count}"
    return place if retrieved == count else f"{place} ({retrieved} of {count})"


def _of_topic(row: Row, digits: int, text: str | None) -> str:
    topic = f"topic {row['topic']}" + (f" ({text})" if text else "")
    error = "" if row.get("se") is None else f" ± {row['se']:.{digits}f}"
    scores = f"{row['baseline_score']:.{digits}f} → {row['score']:.{digits}f} ({row['difference']:+.{digits}f}{error})"
    if row["residual"] is None:
        return f"{topic}: {scores}"
    residuals = f"residuals {row['baseline_residual']:.{digits}f} and {row['residual']:.{digits}f}"
    return f"{topic}: {scores} | {residuals} | {difference_bounds.IF_JUDGED}: {_if_fully_judged(row)}"


def _if_fully_judged(row: Row) -> str:
    """Whether judging could reverse the order of the two scores of a topic."""
    return "unknown" if row["same_order"] is None else "same order" if row["same_order"] else "could be reversed"


def _documents(shown: Diff, topic: Row, digits: int) -> Table:
    """The documents of one topic, those that explain most first, and one row for the others."""
    rows = shown._documents_of(topic)
    names = ("docno", "grade", "change", "baseline_rank", "rank", "baseline_contribution", "contribution", "explains")
    kinds = ("text", "number", "text", "count", "count", "score", "score", "signed", "text")
    cells = [[row[name] for name in (*names, "above")] for row in rows[:DOCUMENTS]]
    for line, row in zip(cells, rows, strict=False):
        line[0] = row["docno"] if row["part"] == DOCUMENT else f"{row['part']} the end"
    if rows[DOCUMENTS:]:
        left_out = sum(row["explains"] for row in rows[DOCUMENTS:])
        cells.append([f"{len(rows) - DOCUMENTS} more", *[None] * 6, left_out, None])
    titles = ("docno", "grade", "change", "old rank", "rank", "old contribution", "contribution", "explains",
              "unjudged, above")  # fmt: skip
    columns = [Column(title, kind, digits) for title, kind in zip(titles, kinds, strict=True)]  # type: ignore[arg-type]
    if shown.seeds is not None:
        _with_seeds(columns, cells, rows, shown.seeds)
    return Table(columns, cells)


def _with_seeds(columns: list[Column], cells: list[list[Any]], rows: list[Row], seeds: tuple[int, int]) -> None:
    """How many seeds of each system retrieved the documents, in a column before the ranks, which are medians."""
    at = [column.name for column in columns].index("old rank")
    columns[at : at + 2] = [
        Column("seeds", "figures"),
        Column("old median rank", "number"),
        Column("median rank", "number"),
    ]
    for line, row in zip(cells, [*rows[:DOCUMENTS], None], strict=False):
        has = None if row is None else row["seeds"]
        line.insert(at, None if row is None or has is None else
                    f"{row['baseline_seeds']}/{seeds[0]} → {has}/{seeds[1]}")  # fmt: skip
