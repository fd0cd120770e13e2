"""`diff`: what changed between two runs, topic by topic, and which documents did it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack, get_args

from gradedeval import kernel
from gradedeval.analysis import difference_bounds, flips, ranked_runs, score_matrix
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, np
from gradedeval.errors import (
    InputError,
    Note,
    check_choice,
    did_you_mean,
    either,
    flag,
    plural,
    public,
    shorten,
    tell,
    visible,
)
from gradedeval.kernel import (
    Column,
    Document,
    InNotebook,
    Layout,
    Measure,
    OptionKwargs,
    Setting,
    Table,
    frame_rows,
    frame_table,
    groups,
    joined,
    merged,
    parse_measures,
    question,
    resolve_options,
    to_frame,
)
from gradedeval.questions.agreement import AGREEMENT, REPRODUCTION, TOPICS, Measures, Top, Topic
from gradedeval.questions.explain import BEYOND, DEFAULT, DOCUMENT

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.flips import Reread
    from gradedeval.analysis.ranked_runs import RankedRuns, RankedTerms
    from gradedeval.kernel import Options, Scorer


# What became of the documents of two runs by one measure: a row for each topic, and for each document that changed.


ENTERED, LEFT, ROSE, FELL, STAYED = "entered", "left", "rose", "fell", "stayed"


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """What became of documents by one measure.

    shared        the topics that both runs are scored on
    old, new      documents: ranks
    terms         of each run: documents, what each adds to the score of its topic
    rest          of each run: topics, what else does
    last          the last rank that the measure looks at
    measure       what the measure is called
    """

    ranked: RankedRuns
    shared: Ints
    old: Ints
    new: Ints
    terms: tuple[Floats, Floats]
    rest: tuple[Floats, Floats]
    last: int
    measure: str

    @cached_property
    def explains(self) -> Floats:
        """documents: what each adds to the difference."""
        return self.terms[1] - self.terms[0]

    @cached_property
    def chosen(self) -> Ints:
        """The documents whose change is told."""
        counts = np.zeros(len(self.ranked.topics), dtype=bool)
        counts[self.shared] = True
        changed = (self.old != self.new) | (np.abs(self.explains) > TOLERANCE)
        seen = np.minimum(self.old, self.new) <= self.last
        return np.flatnonzero(seen & changed & counts[self.ranked.topic])


def topic_rows(change: Change, scores: Floats, residuals: Floats, bounds: Floats, rises: bool) -> pd.DataFrame:
    """A row for each topic.

    scores, residuals  runs × topics
    bounds             topics, twice: how low and how high the difference can come; nan where that is not known
    rises              whether no judging lowers a score
    """
    ranked, shared, (before, after), (old, new) = change.ranked, change.shared, scores, residuals
    with np.errstate(invalid="ignore"):
        difference = np.where(before == after, 0.0, after - before)
    difference[np.abs(difference) <= TOLERANCE] = 0
    changed = np.bincount(ranked.topic[change.chosen], minlength=len(ranked.topics))[shared]
    same = (changed == 0) & (difference == 0)
    known = difference_bounds.same_order(difference, (old, new), (bounds[0], bounds[1]), rises, same)
    return to_frame(
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


def document_rows(change: Change, place: Ints, above: Ints) -> pd.DataFrame:
    """A row for each document chosen, and for what else makes the difference of a topic; ranks and contributions are
    blank where a run did not retrieve the document.

    place  topics: where each stands in the order of topics
    above  of the documents chosen: the relevant one that an unjudged one moved above, −1 where there is none
    """
    ranked, chosen = change.ranked, change.chosen
    names, (before, after) = np.array(ranked.names, dtype=object), (change.old[chosen], change.new[chosen])
    kinds = [before == ranked_runs.NOWHERE, after == ranked_runs.NOWHERE, after < before, after > before]
    documents = to_frame(
        {
            "measure": change.measure,
            "topic": names[ranked.topic[chosen]],
            "part": DOCUMENT,
            "docno": ranked.docnos(chosen),
            "grade": ranked.grades(chosen),
            "change": np.select(kinds, [ENTERED, LEFT, ROSE, FELL], STAYED).astype(object),
            "baseline_rank": np.where(before == ranked_runs.NOWHERE, np.nan, before),
            "rank": np.where(after == ranked_runs.NOWHERE, np.nan, after),
            "baseline_contribution": np.where(before == ranked_runs.NOWHERE, np.nan, change.terms[0][chosen]),
            "contribution": np.where(after == ranked_runs.NOWHERE, np.nan, change.terms[1][chosen]),
            "explains": change.explains[chosen],
            "above": np.where(above < 0, None, ranked.docnos(above)),
        }
    ).astype({"baseline_rank": "Int64", "rank": "Int64"})
    more = change.rest[1] - change.rest[0]
    others = change.shared[np.abs(more[change.shared]) > TOLERANCE]
    rest = to_frame({"measure": change.measure, "topic": names[others], "part": BEYOND, "explains": more[others]})
    rest["baseline_contribution"], rest["contribution"] = change.rest[0][others], change.rest[1][others]
    found = joined([documents, rest]) if len(others) else documents
    of_topic = np.append(ranked.topic[chosen], others)
    nearest = np.append(np.minimum(before, after), np.full(len(others), ranked_runs.NOWHERE))
    return found.iloc[np.lexsort((nearest, -found["explains"].abs().to_numpy(dtype=float), place[of_topic]))]


def passed_by_unjudged(change: Change, relevant: Bools) -> Ints:
    """Of the documents chosen: the relevant document that an unjudged one moved above, −1 where there is none; of
    several the one that lost or counts most. The unjudged one stands now, and the other stood, at a rank that counts.
    """
    ranked, chosen, old, new, last = change.ranked, change.chosen, change.old, change.new, change.last
    above = np.full(len(chosen), -1)
    rising = np.flatnonzero(~ranked.judged[chosen] & (new[chosen] < old[chosen]) & (new[chosen] <= last))
    candidates = np.flatnonzero(relevant & (old <= last))
    candidates = candidates[np.lexsort((old[candidates], change.explains[candidates], ranked.topic[candidates]))]
    begin = np.searchsorted(ranked.topic[candidates], np.arange(len(ranked.topics) + 1))
    for position in rising.tolist():
        document = chosen[position]
        topic = ranked.topic[document]
        others = candidates[begin[topic] : begin[topic + 1]]
        passed = others[(old[others] < old[document]) & (new[others] > new[document])]
        if len(passed):
            above[position] = passed[0]
    return above


# Two runs with judgments: which topics got worse or better, and which documents made the difference.


Only = Literal["worse", "better", "reversible"]
Chosen = Annotated[Only | None, Setting("Only topics that got worse or better, or whose order judging could reverse.")]


@dataclass(frozen=True, eq=False)
class Diff(InNotebook):
    """What changed from one run, the baseline, to another, by each measure and on the topics that both are scored on.

    topics     a frame with a row for each topic and measure, the worst change first: measure, topic, baseline_score,
               score, difference (score − baseline_score), baseline_residual, residual, same_order (whether no judgment
               of
               unjudged documents could reverse the order of the two scores; blank without a residual), changed (how
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
    slices     column -> label -> its topics, where topics have labels
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
    slices: Mapping[str, Mapping[str, Collection[str]]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Diff from {self.baseline} to {self.run}: {', '.join(measure.label for measure in self.measures)}>"

    @cached_property
    def by_topic(self) -> dict[tuple[str, str], pd.DataFrame]:
        """(measure, topic) -> its documents."""
        return groups(self.documents, "measure", "topic")

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
                raise InputError(flag.topic, f"'{topic}' is not a topic that both runs are scored on", hint, usage=True)
            rows &= self.topics["topic"] == topic
        topics = self.topics[rows]
        wanted = set(zip(topics["measure"], topics["topic"], strict=True))
        pairs = zip(self.documents["measure"], self.documents["topic"], strict=True)
        documents = self.documents[np.array([pair in wanted for pair in pairs], dtype=bool)]
        return replace(self, topics=topics, documents=documents)

    def document(
        self, layout: Layout, *, topic: Topic = None, top: Top = None, only: Chosen = None, digits: int | None = None
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
        blocks: list[Table | str] = [f"from {names[0]} to {names[1]}"]
        for measure in self.measures:
            topics = shown.topics[shown.topics["measure"] == measure.label]
            decimals = 0 if measure.definition.summary == "total" else self.digits if digits is None else digits
            blocks += [_summary(self, measure, decimals), *_of_slices(self, measure, names, decimals)]
            if topic is not None:
                for row in frame_rows(topics):
                    blocks += [_of_topic(row, decimals, self.texts.get(row["topic"])), _documents(shown, row, decimals)]
                continue
            changed = frame_rows(topics[(topics["changed"] > 0) | (topics["difference"] != 0)])
            some = changed[: TOPICS if top is None else top]
            if some:
                blocks.append(_topics(shown, some, names, decimals))
            if len(changed) > len(some):
                more, top_n = len(changed) - len(some), either("--top N", f".shown(top={len(changed)})")
                blocks.append(f"{more} more {plural(more, 'topic')}: {top_n}")
        return Document(blocks, self.signature)


First = Annotated[str | None, Setting("Compare every run with this one: one of the two, or another file.",
    metavar="RUN", spelled=("--baseline",), default_text="the first run", reads=True)]  # fmt: skip


def _from_first(files: tuple[Any, ...], first: First = None) -> Mapping[str, Any]:
    """The runs with the one of --baseline as the first."""
    if first is None:
        return {}
    runs, qrels = files
    compared, names = score_matrix.Baseline.read(first, runs), kernel.file_names(list(runs))
    if compared.saved is not None:
        what = f"'{first}' holds saved scores, and a diff shows rankings"
        raise InputError(flag.baseline, what, "give the baseline as a run", usage=True)
    if compared.path is None and compared.name not in names:
        raise score_matrix.no_baseline(first, names)
    path = compared.path or runs[names.index(str(compared.name))]
    return {"files": ([path, *(run for run in runs if run != path)], qrels)}


def _two(runs: Sequence[str], qrels: str) -> Mapping[str, Any]:
    """What `diff` takes. Raises InputError (usage) unless there are two runs."""
    if len(runs) != 2:
        what, hint = f"{len(runs)} {plural(len(runs), 'run')} given", "with qrels diff compares two: diff A B QRELS"
        raise InputError("", what, hint, usage=True)
    return {"baseline": runs[0], "run": runs[1], "qrels": qrels}


def _given(baseline: Any, run: Any, qrels: Any, measures: Any) -> tuple[dict[str, Any], Any, Any]:
    """The two runs by name, qrels and measures: where the runs stand in a list or a dict, the others are a place early.
    Raises InputError (usage) for another number of runs."""
    named = kernel.named_runs(baseline) if isinstance(baseline, list | tuple | Mapping) else {}
    if len(named) > 1:
        if measures is not DEFAULT and qrels is not None:
            raise InputError("diff", "is given more than two runs", "as in diff([A, B], qrels, measures)", usage=True)
        _two(list(named), "")
        return named, run, measures if qrels is None else qrels
    if qrels is None:
        raise InputError("diff", "needs qrels", "as in diff(baseline, run, qrels, measures)", usage=True)
    return ranked_runs.two_runs(baseline, run), qrels, measures


@question(
    "diff",
    "runs, qrels if any",
    files="A B [QRELS]",
    help="""Show what changed from run A to run B: topics by difference, the worst first, and the documents that made
    it.

    A document entered, left, rose, fell, or stayed where it was and counts otherwise; what they explain sums to the
    difference. Where judging unjudged documents could reverse the order of the two scores of a topic, that is said.

    Without QRELS: how far the rankings agree, by rank-biased overlap (extrapolated, with its residual), overlap and
    Kendall's tau, of two runs by topic, of more as a matrix.

    \b
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --only worse
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --topic 301
    gradedeval diff runs/*.run
    gradedeval diff base.run new.run qrels.txt -m ap --reproduce a.run b.run
    """,
    asking=_from_first,
    takes=_two,
    answer=lambda found, like: replace(found, digits=kernel.preset_digits(like)),
    shows=Diff.document,
    wide=True,
    modes=(AGREEMENT, REPRODUCTION),
    options="measuring",
    besides=("unseen", "queries", "slices"),
    own_measures=True,
    digits="4",
)
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
                   in diff([A, B], qrels, measures)

    The other arguments are those of `evaluate`; `residuals`, `residual_depth` and `max_residual` are not among them.

    Returns `Diff`: `.topics`, `.documents`, `.only("worse")`, `.signature`. Raises `gradedeval.InputError` as
    `evaluate` does, and where the runs have no topic in common; what is skipped or assumed is a warning, and in
    `.notes`.
    """
    runs, qrels, measures = _given(baseline, run, qrels, measures)
    options, chosen = resolve_options(like, **keywords).of_one_judge(), parse_measures(measures)
    _check_runs(options)
    judged = kernel.qrels_for(runs, qrels, options)
    known = options.bounded_by_residuals and not options.judged_only
    options = replace(options, residuals="total" if known else None, bounds=False)
    scorer = kernel.Scorer(judged, chosen, options)
    ranked = ranked_runs.rank_runs(runs, scorer.grader, scorer=scorer)
    old, new = ranked.runs
    shared = np.flatnonzero(old.listed & new.listed)
    if not len(shared):
        raise kernel.no_common_topics(new.place, ranked.topics, old.place, ranked.topics)
    if scorer.grader.types:
        raise InputError(flag.costs, "diff does not read the types of documents", "leave it out", usage=True)
    terms, reread = ranked_runs.terms_by_run(ranked, scorer), flips.Reread.of_runs(scorer, runs, ranked)
    measured = [_of_measure(ranked, scorer, column, shared, terms, reread) for column in range(len(scorer.measures))]
    topics, documents = zip(*measured, strict=True)
    unseen = _unseen(scorer.measures, topics, options)
    counts = [(int(run.listed.sum()), run.missing) for run in ranked.runs]
    return Diff(
        old.name,
        new.name,
        joined(topics),
        joined(documents),
        scorer.measures,
        kernel.signature(judged, options, scorer.measures, counts),
        tell([*scorer.notes, *ranked.notes, *kernel.few_topics(len(shared)), *unseen]),
        texts=options.texts,
        slices={} if options.slices is None else options.slices.topics,
    )


def _unseen(measures: Sequence[Measure], topics: Sequence[pd.DataFrame], options: Options) -> list[Note]:
    """What is assumed of documents that neither run retrieved, where orders are told."""
    known = [one for one, rows in zip(measures, topics, strict=True) if rows["same_order"].notna().any()]
    return difference_bounds.unseen_notes([(measure.label, str(measure)) for measure in known], options)


def _check_runs(options: Options) -> None:
    """Raise InputError (usage) where systems of several runs are given."""
    if options.replicates is not None:
        what = "changes are between the rankings of two runs, and a system has several"
        raise InputError(flag.replicates, what, "give one run of each system, or compare the systems", usage=True)


def _of_measure(
    ranked: RankedRuns,
    scorer: Scorer,
    column: int,
    shared: Ints,
    terms: RankedTerms,
    reread: Reread | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The topics and the documents of `Diff`, by one measure."""
    measure, table = scorer.measures[column], scorer.tables[column]
    old, new = (run.ranks_of(len(ranked)) for run in ranked.runs)
    added = np.zeros((2, len(ranked)))
    for number, run in enumerate(ranked.runs):
        added[number, run.document] = terms.added[column][number]
    of_documents, of_topics = (added[0], added[1]), (terms.rest[column, 0], terms.rest[column, 1])
    scores = terms.scores[:, :, :, column]
    last = (
        ranked_runs.NOWHERE - 1
        if measure.cutoff is None or measure.definition.cutoff == "sums_to_k"
        else measure.cutoff
    )
    change = Change(ranked, shared, old, new, of_documents, of_topics, last, measure.label)
    names, (score, residual) = [run.name for run in ranked.runs], scores[[0, 2]][:, :, shared]
    paired = score_matrix.Paired(
        measure.label, measure.reading, names, [ranked.names[topic] for topic in shared], score, residual
    )
    bounds = difference_bounds.topic_bounds(paired, np.array([0]), np.array([1]), reread)[:, 0]
    topics = topic_rows(change, score, residual, bounds, measure.bounds == "rises")
    # The worst first; of equal changes the order of the qrels.
    order = np.argsort(measure.reading.sign * topics["difference"].to_numpy(), kind="stable")
    place = np.zeros(len(ranked.topics), dtype=np.int64)
    place[shared[order]] = np.arange(len(shared))
    relevant = table.by_code(len(scorer.grader.qrels.labels) + 2)[ranked.code] > 0
    return topics.iloc[order], document_rows(change, place, passed_by_unjudged(change, relevant))


# Changes between two runs -> tables: a line for each topic in words, or a row for each document.


Row = dict[str, Any]

DOCUMENTS, NAMED, FIRST = 20, 2, 20
"""Documents of a topic's own table, documents that a line about a topic names, and the rank down to
which it tells of unjudged ones."""


def _long(shown: Diff, top: int | None) -> Document:
    """A row for each document, with the scores of its topic."""
    topics = shown.topics.drop(columns="changed")
    if top is not None:
        topics = topics.groupby("measure", sort=False).head(top)
    found = frame_table(merged(topics, shown.documents, on=["measure", "topic"]))
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
    tables, topics = [], whole.topics[whole.topics["measure"] == measure.label]
    for column, labels in whole.slices.items():
        rows = []
        for label, members in labels.items():
            own = topics[[topic in members for topic in topics["topic"]]]
            if not len(own):
                continue
            means = [float(measure.reading.summarize(own[name].to_numpy())) for name in ("baseline_score", "score")]
            gains = own["difference"] * measure.reading.sign
            counts = [int((gains < 0).sum()), int((gains > 0).sum())]
            rows.append([label, len(own), *means, means[1] - means[0], *counts])
        columns = [
            Column(column),
            Column("topics", "count"),
            *(Column(name, "score", digits, of_run=True) for name in names),
        ]
        columns += [Column("difference", "signed", digits), Column("worse", "count"), Column("better", "count")]
        tables += [Table(columns, rows)] if rows else []
    return tables


def _topics(shown: Diff, rows: list[Row], names: list[str], digits: int) -> Table:
    residuals = any(row["residual"] is not None for row in rows)
    columns = [Column("topic")]
    for name in names:
        columns.append(Column(name, "score", digits, of_run=True))
        columns += [Column("residual", "score", digits, wide=True)] if residuals else []
    reversible = any(row["same_order"] is False for row in rows)
    order = [Column(difference_bounds.IF_JUDGED, wide=True)] if reversible else []
    columns += [Column("difference", "signed", digits), *order, Column("why")]
    cells = []
    for row in rows:
        line = [row["topic"]]
        for score, residual in (("baseline_score", "baseline_residual"), ("score", "residual")):
            line += [row[score], *([row[residual]] if residuals else [])]
        line += [row["difference"], *([_if_fully_judged(row)] if reversible else [])]
        cells.append([*line, in_words(shown, row, digits)])
    return Table(columns, cells)


def in_words(shown: Diff, row: Row, digits: int, named: int = NAMED) -> str:
    """What made the difference of a topic: the documents that explain most of it, and what is to be judged."""
    found: pd.DataFrame | None = shown.by_topic.get((row["measure"], row["topic"]))
    documents = [] if found is None else frame_rows(found)
    counting = [one for one in documents if one["explains"]]
    parts = [_sentence(one, digits) for one in counting[:named]]
    if len(counting) > named:
        parts.append(f"{len(counting) - named} more")
    parts += [] if counting else ["only documents of no gain moved"]
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


def _sentence(row: Row, digits: int) -> str:
    """What became of a document, as in `d7 (grade 2) fell 2 → 14: −0.1875`."""
    if row["part"] != DOCUMENT:
        return f"what is {row['part']} the end: {row['explains']:+.{digits}f}"
    grade = "unjudged" if row["grade"] is None else f"grade {row['grade']:g}"
    where = {ENTERED: f"entered at {row['rank']}", LEFT: f"dropped out from rank {row['baseline_rank']}"}
    moved = f"{row['change']} {row['baseline_rank']} → {row['rank']}"
    stayed = f"stayed at {row['rank']}" if row["baseline_rank"] == row["rank"] else moved
    return f"{visible(row['docno'])} ({grade}) {where.get(row['change'], stayed)}: {row['explains']:+.{digits}f}"


def _of_topic(row: Row, digits: int, text: str | None) -> str:
    scores = f"{row['baseline_score']:.{digits}f} → {row['score']:.{digits}f} ({row['difference']:+.{digits}f})"
    topic = f"topic {row['topic']}" + (f" ({text})" if text else "")
    if row["residual"] is None:
        return f"{topic}: {scores}"
    residuals = f"residuals {row['baseline_residual']:.{digits}f} and {row['residual']:.{digits}f}"
    return f"{topic}: {scores} | {residuals} | {difference_bounds.IF_JUDGED}: {_if_fully_judged(row)}"


def _if_fully_judged(row: Row) -> str:
    """Whether judging could reverse the order of the two scores of a topic."""
    return "unknown" if row["same_order"] is None else "same order" if row["same_order"] else "could be reversed"


def _documents(shown: Diff, topic: Row, digits: int) -> Table:
    """The documents of one topic, those that explain most first, and one row for the others."""
    found: pd.DataFrame | None = shown.by_topic.get((topic["measure"], topic["topic"]))
    rows = [] if found is None else frame_rows(found)
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
    return Table(columns, cells)
