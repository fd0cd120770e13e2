"""`explain`: one topic of one run, rank by rank: what each document adds to a score, and what it could add."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import ranked_runs
from gradedeval.analysis.pictures import (
    BLACK,
    GREY,
    LIGHT,
    VERMILION,
    Panel,
    draw_on,
    label_text,
    legend,
    require_frame,
    select_measure,
    use_integer_ticks,
)
from gradedeval.arrays import Bools, Floats, np
from gradedeval.errors import InputError, Note, did_you_mean, emit_notes, flag, public, shorten, visible
from gradedeval.kernel import (
    AnyMeasure,
    Column,
    Document,
    Layout,
    Measure,
    OptionKwargs,
    Options,
    Table,
    decode,
    encode,
    parse_measures,
    ranges,
    resolve_options,
    takes_options,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.kernel import Batch, Qrels, Scorer


DEFAULT = ("err@20",)
RANKS = 20
"""Ranks that are shown of a measure without a cutoff, where the user asks for no other number."""

BEFORE, DOCUMENT, BEYOND = "empty", "document", "beyond"
"""The parts of a ranking: the empty ranking (where it has a score), its documents, and all that comes after them."""
FIRST, LAST = ("part", "rank", "docno", "grade", "gain"), ("contribution", "running", "could_add")
TITLES = {"could_add": "could add"}
"""What tables for people call columns."""


@dataclass(frozen=True, eq=False)
class Explained:
    """How one measure comes to its score of one topic.

    measure   with the gain scheme and relevance level that the options give it
    score     of the topic
    residual  how much the score could rise in all; None where it has no residual
    relevant  R; None where the measure reads no gains
    columns   name -> one value a row, None where blank. The rows are the documents in rank order; before them the score
              of an empty ranking where that is not 0, and after them what lies beyond the end of the run where that
              counts. `contribution` sums to the score, `running` is the sum so far; `could_add` is how much the score
              would rise if this document alone were at the top gain. The gain and the measure's
              details are between them.
    """

    measure: Measure
    score: float
    residual: float | None
    relevant: int | None
    columns: dict[str, list[Any]]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, each by column name."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))


@dataclass(frozen=True, eq=False)
class Explanation(kernel.results.InNotebook):
    """The scores of one topic of a run, explained measure by measure.

    retrieved  how many documents the ranking has; `judged` of them are judged, and `filled` have a gain by `fill` alone
    pool       how many documents of the topic are judged
    docnos     the whole ranking, below the cutoffs of the measures too
    grades     all grades of the qrels, ascending
    notes      warnings
    text       what the topic is about, where that is known
    """

    run: str
    topic: str
    retrieved: int
    judged: int
    filled: int
    pool: int
    measures: list[Explained]
    signature: str
    docnos: list[str]
    grades: list[float]
    notes: list[str] = field(default_factory=list)
    text: str = ""

    def __repr__(self) -> str:
        measures = ", ".join(explained.measure.label for explained in self.measures)
        return f"<Explanation of {self.run}, topic {self.topic}: {measures}>"

    @cached_property
    def columns(self) -> list[str]:
        """The columns of the tidy table: run, topic, measure, and those of all measures."""
        names = dict.fromkeys(name for explained in self.measures for name in explained.columns)
        middle = [name for name in names if name not in (*FIRST, *LAST)]
        ends = [[name for name in fixed if name in names] for fixed in (FIRST, LAST)]
        return ["run", "topic", "measure", *ends[0], *middle, *ends[1]]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The tidy table, measure by measure; None in columns that a measure does not have."""
        for explained in self.measures:
            head = {"run": self.run, "topic": self.topic, "measure": explained.measure.label}
            for row in explained.rows():
                whole = {**head, **row}
                yield {name: whole.get(name) for name in self.columns}

    @property
    def frame(self) -> pd.DataFrame:
        """The tidy table as a DataFrame."""
        frame = kernel.results.to_frame(list(self.rows()), columns=self.columns)
        return frame.astype({"rank": "Int64"})

    @property
    def texts(self) -> Mapping[str, str]:
        return {self.topic: self.text} if self.text else {}

    @property
    def name(self) -> str:
        """The topic, with its text where that is known."""
        return f"{self.topic} ({visible(self.text)})" if self.text else self.topic

    def document(self, layout: Layout) -> Document:
        """As its command prints it."""
        return explanation_document([self], layout)


@dataclass(frozen=True, eq=False)
class Explanations(kernel.results.InNotebook):
    """The explanations of the same topics of one run, or of two; tables have `digits` digits unless others are asked
    for."""

    of_runs: list[list[Explanation]]
    digits: int

    @property
    def signature(self) -> str:
        """What their scores depend on."""
        return "\n".join(dict.fromkeys(explanation.signature for own in self.of_runs for explanation in own))

    @property
    def texts(self) -> Mapping[str, str]:
        return {topic: text for own in self.of_runs for one in own for topic, text in one.texts.items()}

    def document(self, layout: Layout, *, show: int | None = None, digits: int | None = None) -> Document:
        """A table for each topic and measure; of two runs beside each other."""
        digits, (one, *others) = self.digits if digits is None else digits, self.of_runs
        if others:
            return beside_document(one, others[0], layout, digits=digits, shown=show)
        return explanation_document(one, layout, digits=digits, shown=show)

    def panels(self, *, show: int | None = None) -> list[Panel]:
        """A picture for each run, topic and measure."""
        panels = []
        for explanation in (explanation for own in self.of_runs for explanation in own):
            frame, grades = explanation.frame, explanation.grades
            for one in explanation.measures:
                own = frame[frame["measure"] == one.measure.label]
                ranks = show or one.measure.cutoff or RANKS
                panels.append(Panel(partial(draw_ranks, frame=own, ranks=ranks, grades=grades), 2.0))
        return panels


@takes_options("reading", "queries", "fill", "costs")
@public
def explain(
    run: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure] = DEFAULT,
    *,
    topic: str | bytes | int | None = None,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Explanation:
    """How measures arrive at their scores for one topic, rank by rank.

    topic  its id, which may also stand in the place of the measures; None: the topic with the median score of the
           first measure

    The other arguments are those of `evaluate`, for one run; `residual_depth` and `max_residual` are not among them.
    The contributions of a measure sum to its score. For a C/W/L measure they are the terms of its sum, such as
    W(i)·r_i; for any other, the difference that it makes to end the ranking at a rank instead of one rank earlier.

    Returns `Explanation`: `.frame`, `.measures`, `.signature`. Raises `gradedeval.InputError` as `evaluate` does, and
    where the topic does not count.
    """
    options, named = resolve_options(like, **keywords), kernel.named_runs(run)
    chosen, topic = _measures_or_topic(measures, topic, named, qrels, options)
    judged = kernel.qrels_for(named, qrels, options)
    topic, notes = (topic, []) if topic is not None else _default_topic(named, judged, chosen, options)
    (explanation,) = explain_topics(named, judged, chosen, options, [topic])
    return replace(explanation, notes=emit_notes([*notes, *explanation.notes]))


def _measures_or_topic(
    measures: Any, topic: str | bytes | int | None, runs: Mapping[str, Any], qrels: Any, options: Options
) -> tuple[list[Measure], str | bytes | int | None]:
    """The measures, and the topic, which may stand in their place. Raises InputError (usage) for what is neither."""
    try:
        return parse_measures(measures), topic
    except InputError:
        word = str(measures) if isinstance(measures, str | int) and topic is None else ""
        if not word or encode(word) not in kernel.qrels_for(runs, qrels, options).row_of:
            raise
    return parse_measures(DEFAULT), word


def _default_topic(
    runs: Mapping[str, Any], qrels: Qrels, measures: Sequence[Measure], options: Options
) -> tuple[str | None, list[str]]:
    """The topic that is explained where none is named, and a note on it: of one run that with the median score of the
    first measure, of two that with the largest difference; the first where a run can only be read once."""
    if len(qrels) < 2 or not measures or len(runs) > 2:
        return None, []
    if any(isinstance(source, str | os.PathLike) and not os.path.isfile(source) for source in runs.values()):
        topic, why = decode(next(iter(qrels.topics))), "the first id"
    else:
        scores = kernel.evaluate_runs(runs, qrels, measures[:1], options)
        (label,), each = scores.labels, [scores.by_topic(scores.measures[0], name) for name in runs]
        common = [one for one in each[0] if one in each[-1]]
        if len(each) == 2:
            topic, why = (
                max(common, key=lambda one: abs(each[0][one] - each[1][one])),
                f"the largest {label} difference",
            )
        else:
            topic, why = sorted(common, key=lambda one: each[0][one])[(len(common) - 1) // 2], f"the median {label}"
    return topic, [Note(f"no topic given: explaining {topic}, with {why} of {len(qrels)}; choose with {flag.topic:ID}")]


def explain_topics(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: Iterable[Measure],
    options: Options,
    topics: Iterable[str | bytes | int | None],
) -> list[Explanation]:
    """As `explain`, for one run by name, which is read once, and several topics; None where the qrels have only one.
    Raises InputError as `explain` does."""

    if len(runs) != 1:
        raise InputError("", f"{len(runs)} runs given", "explain one at a time", usage=True)
    if options.ties == "average":
        raise kernel.options.OPTIONS["ties"].error("an average over orders has no ranks to explain", "choose an order")
    ((name, source),) = runs.items()
    judged = kernel.qrels_for(runs, qrels, options)
    wanted = list(dict.fromkeys(_wanted(topic, judged, options) for topic in topics))
    scorer = kernel.Scorer(judged, list(measures), replace(options, residuals=None if options.judged_only else "total"))
    grader = replace(scorer.grader, keep_docnos_for=frozenset(wanted), last_rank=None)
    run = kernel.tasks.grade_run(source, grader, kernel.Workers.current())
    return [_of_topic(name, topic, scorer, grader, run) for topic in wanted]


def _of_topic(
    name: str, topic: bytes, scorer: Scorer, grader: kernel.grade.Grader, run: kernel.tasks.GradedRun[Batch]
) -> Explanation:
    """The explanation of one topic of a run."""

    judged = scorer.qrels
    batch = _alone(run, topic, judged)
    scores, _, residuals = scorer.score_batch(batch).values[:, 0].tolist()
    explained = [
        _explained(scorer, batch, column, score, None if np.isnan(residual) else residual)
        for column, (score, residual) in enumerate(zip(scores, residuals, strict=True))
    ]
    # These notes name topics: other ones, where this one is in both files.
    elsewhere = ("missing-topics", "unjudged-topics") if topic in judged.row_of and batch.retrieved[0] else ()
    notes = [note for note in run.notes if getattr(note, "kind", "") not in elsewhere]
    codes = batch.codes[0]
    return Explanation(
        name,
        decode(topic),
        int(batch.retrieved[0]),
        int(grader.judged[codes].sum()),
        int(_is_filled(scorer, batch).sum()),
        int(batch.pool.per_topic(grader.judged[: batch.unjudged_code])[0]),
        explained,
        kernel.signature(judged, scorer.options, scorer.measures, [(len(run.topics), run.missing)], [run.format]),
        list(map(decode, batch.docnos_of(0).names())),
        judged.labels.tolist(),
        [
            *scorer.notes,
            *kernel.caveats.notes_of_run(replace(run, batches=[batch], topics=[topic], notes=notes), scorer),
        ],
        scorer.options.texts.get(decode(topic), ""),
    )


def _wanted(topic: str | bytes | int | None, qrels: Qrels, options: Options) -> bytes:
    """The id of the topic. Raises InputError (usage) where it cannot count, as far as the qrels tell."""
    topics = [
        decode(topic_id) for topic_id in qrels.topics if options.topics_from is None or topic_id in options.topics_from
    ]
    if topic is None:
        if len(topics) == 1:
            return encode(topics[0])
        what = f"{qrels.place} has {len(qrels)} topics ({shorten(topics)})"
        raise InputError(flag.topic, what, f"choose one, as in {flag.topic:{topics[0]}}" if topics else "", usage=True)
    wanted = topic if isinstance(topic, bytes) else encode(str(topic))
    if options.topics_from is not None and wanted not in options.topics_from:
        raise InputError(
            flag.topic, f"'{decode(wanted)}' is not listed in {flag.topics_from}", "add it there", usage=True
        )
    if wanted not in qrels.row_of and options.topics != "run":
        hint = did_you_mean(decode(wanted), topics) or f"as in {shorten(topics)}"
        what = f"'{decode(wanted)}' is not judged in {qrels.place}, and only {flag.topics:run} includes such topics"
        raise InputError(flag.topic, what, hint, usage=True)
    if options.topics == "relevant" and not qrels.counts_for([wanted]).per_topic(qrels.labels > 0).any():
        what = f"'{decode(wanted)}' has no relevant document in {qrels.place}"
        raise InputError(flag.topic, what, f"use {flag.topics:both} to include it", usage=True)
    return wanted


def _alone(run: kernel.tasks.GradedRun[Batch], topic: bytes, qrels: Qrels) -> Batch:
    """The batch of one topic. Raises InputError (usage) where the options leave it out."""
    alone: Batch | None = None
    for batch in run.batches:
        if topic in batch.topics:
            row = batch.topics.index(topic)
            # Every array of a batch has a row for each topic.
            values = {field.name: getattr(batch, field.name) for field in fields(batch)}
            rows: dict[str, Any] = {
                name: value[row : row + 1] for name, value in values.items() if isinstance(value, np.ndarray)
            }
            pool, ties = batch.pool.select(np.array([row])), batch.ties and batch.ties.of_row(row)
            alone = replace(batch, topics=[topic], pool=pool, ties=ties, docnos=batch.docnos_of(row), **rows)
    if alone is not None and topic in run.topics:
        return alone
    name = decode(topic)
    if topic in qrels.row_of:
        what, hint = f"'{name}' is not in {run.place}", f"{flag.topics:qrels} scores it 0"
    else:
        scored = [decode(topic_id) for topic_id in run.topics]
        what = f"'{name}' is neither in {run.place} nor in {qrels.place}"
        hint = did_you_mean(name, scored) or f"as in {shorten(scored)}"
    raise InputError(flag.topic, what, hint, usage=True)


def _explained(scorer: Scorer, batch: Batch, column: int, score: float, residual: float | None) -> Explained:
    """How the measure in that column arrives at its score for the one topic of a batch."""

    measure, table, gains_of = scorer.measures[column], scorer.tables[column], scorer.gains_cache(batch)
    ranked_runs.check_by_rank(measure)
    gains = ranked_runs.trim_to_retrieved(gains_of(table, measure))
    parts, count = ranked_runs.score_parts(measure, gains), gains.gain.shape[1]
    columns: dict[str, list[Any]] = {
        "part": [DOCUMENT] * count,
        "rank": list(range(1, count + 1)),
        "docno": list(map(decode, batch.docnos_of(0)[:count].names())),
        "grade": _grades(batch, scorer.qrels, count),
    }
    if measure.definition.gain is not None:
        columns["gain"] = gains.gain[0].tolist()
    before: dict[str, Any] = {"part": BEFORE, "rank": 0, "contribution": parts.before, "running": parts.before}
    after: dict[str, Any] = {"part": BEYOND}
    for name, values in parts.details.items():
        if name in (*FIRST, *LAST):
            raise InputError(f"measure '{measure}'", f"`details` has '{name}', which is already a column", "rename it")
        columns[name] = values[:count].tolist()
        after[name] = float(values[count]) if len(values) > count else None
    columns["contribution"], after["contribution"] = parts.terms.tolist(), parts.beyond
    columns["running"] = (parts.before + parts.terms.cumsum()).tolist()
    if residual is not None:
        highest = ranked_runs.trim_to_retrieved(gains_of(table, measure, unjudged=table.top))
        rise = ranked_runs.topic_rises(measure, gains, highest)
        if table.filled is not None:  # nobody judged these, and yet they are known
            rise[_is_filled(scorer, batch)[:count]] = np.nan
        columns["could_add"] = [None if np.isnan(one) else one for one in rise.tolist()]
        if measure.residual == "beyond_run":
            best = kernel.scores_of(measure, ranked_runs.trim_to_retrieved(gains_of(table, measure, tail=table.top)))
            after["could_add"] = max(min(float(best[0]), measure.definition.ceiling) - score, 0.0)
    first = [before] if parts.before else []
    last = [after] if any(value for name, value in after.items() if name != "part") else []
    after["running"] = (columns["running"] or [parts.before])[-1] + parts.beyond
    columns = {
        name: [*(row.get(name) for row in first), *values, *(row.get(name) for row in last)]
        for name, values in columns.items()
    }
    if measure.definition.summary == "total":  # counts
        columns |= {name: [_count(one) for one in columns[name]] for name in ("contribution", "running")}
        score = _count(score)
    relevant = int(gains.num_relevant[0]) if measure.definition.gain is not None else None
    return Explained(measure, score, residual, relevant, columns)


def _count(value: float) -> float:
    return int(value) if value.is_integer() else value


def _is_filled(scorer: Scorer, batch: Batch) -> Bools:
    """ranks: whether the document has a gain by `fill`, and no grade."""
    codes = batch.codes[0]
    is_filled: Bools = (codes >= len(scorer.qrels.labels)) & (codes < batch.unjudged_code)
    return is_filled


def _grades(batch: Batch, qrels: Qrels, count: int) -> list[float | None]:
    """The grades in the qrels down to a rank, None where there is none."""
    grades = [int(label) if label.is_integer() else label for label in qrels.labels.tolist()]
    return [grades[code] if code < len(grades) else None for code in batch.codes[0, :count].tolist()]


# Explanation -> tables: one for each measure for people, a row for each measure and rank for programs.


LABELS = {BEFORE: "empty ranking", BEYOND: "beyond the end"}
RISES = "could add: the rise in score if that document alone had the top gain; these need not sum to the residual"


def explanation_document(
    explanations: Sequence[Explanation], layout: Layout, *, digits: int = 4, shown: int | None = None
) -> Document:
    """The explanations of topics of one run as tables.

    digits  of the numbers in tables, and above them
    shown   how many ranks a table shows at most; None: those down to the cutoff, or 20. The ranks left out make one
            row. The table for programs is always complete
    """
    if layout == "long":
        return _long(explanations)
    blocks: list[Table | str] = []
    for explanation in explanations:
        filled = f" and {explanation.filled} filled in" if explanation.filled else ""
        blocks.append(
            f"topic {explanation.name} of {visible(explanation.run)} | {explanation.retrieved} retrieved,"
            f" {explanation.judged} of them judged{filled} | {explanation.pool} judged in all"
        )
        for explained in explanation.measures:
            ranks = explained.measure.cutoff or RANKS if shown is None else shown
            blocks += [_summary(explained, digits), _table(explained, digits, ranks)]
    tables = [block for block in blocks if isinstance(block, Table)]
    if any(column.name == TITLES["could_add"] and not column.wide for table in tables for column in table.columns):
        blocks.append(RISES)
    return Document(blocks, explanations[0].signature)


def beside_document(
    one: Sequence[Explanation],
    other: Sequence[Explanation],
    layout: Layout,
    *,
    digits: int,
    shown: int | None,
) -> Document:
    """The explanations of the same topics of two runs: for people rank by rank beside each other; for programs those of
    the one and then those of the other."""
    signature = "\n".join(dict.fromkeys(part.signature for part in (one[0], other[0])))
    if layout == "long":
        whole = _long([*one, *other])
        runs = {"runs": [one[0].run, other[0].run]}
        topics = [{"run": part.run, **_head(part)} for part in (*one, *other)]
        return Document(whole.blocks, signature, head={**runs, "topics": topics})
    blocks: list[Table | str] = []
    for first, second in zip(one, other, strict=True):
        names = f"{visible(first.run)} and {visible(second.run)}"
        retrieved = f"{first.retrieved} and {second.retrieved} retrieved, {first.judged} and {second.judged} judged"
        if first.filled or second.filled:
            retrieved += f", {first.filled} and {second.filled} filled in"
        blocks.append(f"topic {first.name} of {names} | {retrieved} | {first.pool} judged in all")
        for mine, theirs in zip(first.measures, second.measures, strict=True):
            ranks = mine.measure.cutoff or RANKS if shown is None else shown
            blocks += [_scores(mine, theirs, digits), _beside(first, second, mine, theirs, digits, ranks)]
    return Document(blocks, signature)


def _scores(mine: Explained, theirs: Explained, digits: int) -> str:
    """The line above a table: both scores with their residuals, and the difference."""
    column = Column("", "score", digits)
    parts = []
    for explained in (mine, theirs):
        score, residual = column.cells([explained.score, explained.residual])
        parts.append(score + (f" (residual {residual})" if residual else ""))
    return f"{mine.measure.label}: {parts[0]} and {parts[1]}, difference {theirs.score - mine.score:+.{digits}f}"


def _beside(
    first: Explanation, second: Explanation, mine: Explained, theirs: Explained, digits: int, shown: int
) -> Table:
    """Both rankings, rank by rank; of each document of the second run the rank that the first has it at."""
    sides = [[row for row in explained.rows() if row["part"] == DOCUMENT] for explained in (mine, theirs)]
    was = {docno: rank for rank, docno in enumerate(first.docnos, 1)}
    columns = [Column("rank")]
    for name in (first.run, second.run):
        columns += [Column(name, of_run=True), Column("grade", "number"), Column("contribution", "score", digits)]
    rows = []
    for rank in range(min(shown, max(map(len, sides)))):
        cells: list[Any] = [str(rank + 1)]
        for side in sides:
            row = side[rank] if rank < len(side) else {}
            cells += [row.get(name) for name in ("docno", "grade", "contribution")]
        rows.append([*cells, was.get(cells[4])])
    return Table([*columns, Column("other rank", "count")], rows)


def _long(explanations: Sequence[Explanation]) -> Document:
    columns = dict.fromkeys(name for explanation in explanations for name in explanation.columns)
    rows = [[row.get(name) for name in columns] for explanation in explanations for row in explanation.rows()]
    head = {"run": explanations[0].run, "topics": [_head(explanation) for explanation in explanations]}
    return Document([Table([Column(name) for name in columns], rows)], explanations[0].signature, head=head)


def _head(explanation: Explanation) -> dict[str, Any]:
    """What a JSON document says of a topic before its rows."""
    numbers = ("score", "residual", "relevant")
    measures = [
        {"measure": explained.measure.label, **{name: getattr(explained, name) for name in numbers}}
        for explained in explanation.measures
    ]
    counts = {name: getattr(explanation, name) for name in ("topic", "retrieved", "judged", "filled", "pool")}
    text = {"query": explanation.text} if explanation.text else {}
    return {**counts, **text, "measures": measures}


def _summary(explained: Explained, digits: int) -> str:
    """The line above a table: the score, its residual, and how many documents are relevant."""
    score, residual = Column("", "score", digits).cells([explained.score, explained.residual])
    line = f"{explained.measure.label}: {score}" + (f", residual {residual}" if residual else "")
    return line if explained.relevant is None else f"{line} | {explained.relevant} relevant"


def _table(explained: Explained, digits: int, shown: int) -> Table:
    """The table of a measure, with one row for all documents below rank `shown`."""
    rows = list(explained.rows())
    documents = [row for row in rows if row["part"] == DOCUMENT]
    if len(documents) > shown + 1:  # a row about one document would be as long as its own
        first = [row for row in rows if row["part"] == BEFORE] + documents[:shown]
        rows = [*first, _left_out(documents[shown:]), *(row for row in rows if row["part"] == BEYOND)]
    rows = [{**row, "docno": LABELS.get(row["part"], row["docno"])} for row in rows]
    names = [name for name in explained.columns if name != "part"]
    adds = any(round(row.get("could_add") or 0.0, digits) > 0 for row in rows)
    columns = [
        Column(TITLES.get(name, name), _kind(name, explained.columns[name]), digits, name == "could_add" and not adds)
        for name in names
    ]
    return Table(columns, [[row[name] for name in names] for row in rows])


def _kind(name: str, values: list[Any]) -> kernel.formats.Kind:
    if name in ("rank", "docno"):
        return "text"
    whole = all(value is None or isinstance(value, str | int) or float(value).is_integer() for value in values)
    return "count" if whole and name not in LAST else "score"


def _left_out(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The row for documents that have none of their own."""
    unjudged = sum(row["grade"] is None for row in documents)
    return {
        **dict.fromkeys(documents[0]),
        "rank": "…",
        "docno": f"{len(documents)} more" + (f", {unjudged} unjudged" if unjudged else ""),
        "contribution": sum(row["contribution"] for row in documents),
        "running": documents[-1]["running"],
    }


# One topic rank by rank: grades as colors, contributions as bars, the score so far as a line.


COLUMNS = ("run", "topic", "measure", "rank", "grade", "contribution", "running")


@public
def plot_explain(explanation: Any, measure: Any = None, *, show: int | None = None, ax: Axes | None = None) -> Axes:
    """How the score of a topic comes about: what the document at each rank contributes, in the color of its grade, and
    the score so far. A hatched bar is what an unjudged document could add. A grade has one color for all runs, topics
    and measures of the same qrels.

    explanation  what `gradedeval.explain` returns; or its frame, whose colors are those of the grades in it
    measure      which, where there are several
    show         how many ranks; None: down to the cutoff of the measure, or 20
    ax           matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, one of several runs or topics, where it
    is not said which measure, and for a number of ranks below 1.
    """
    show = ranges.SHOW.check_or_none(show)
    frame = require_frame(explanation, COLUMNS, "explain", "what gradedeval.explain returns")
    own = select_measure(frame, measure, "explain")
    if len(kernel.results.distinct(own, "run", "topic")) > 1:
        raise InputError("plot.explain", "several runs or topics", "give the explanation of one", usage=True)
    cutoff = None
    if isinstance(explanation, Explanation):
        cutoff = {one.measure.label: one.measure.cutoff for one in explanation.measures}[own["measure"].iloc[0]]
    grades = explanation.grades if isinstance(explanation, Explanation) else frame["grade"].dropna().unique().tolist()
    return draw_on(partial(draw_ranks, frame=own, ranks=show or cutoff or RANKS, grades=grades), ax)


def draw_ranks(ax: Axes, frame: pd.DataFrame, ranks: int, grades: Sequence[float]) -> None:
    """Draw the first ranks of one topic by one measure, in the colors of these grades."""
    from matplotlib.patches import Patch

    documents = frame[(frame["part"] == DOCUMENT) & (frame["rank"] <= ranks)] if "part" in frame else frame[:ranks]
    if not len(documents):
        raise InputError("plot.explain", "the ranking has no documents", "choose another topic", usage=True)
    names = ("rank", "contribution", "running", "grade")
    rank, contribution, running, grade = (documents[name].to_numpy(dtype=float) for name in names)
    colors = _colors(grades)
    painted = [colors.get(value, "white") for value in grade.tolist()]
    ax.bar(rank, contribution, width=0.8, color=painted, edgecolor=BLACK, linewidth=0.3, label="contribution")
    handles: list[Any] = [
        Patch(label=name, facecolor=color, edgecolor=BLACK, linewidth=0.3) for name, color in _named(grade, colors)
    ]
    # The grade of every document, whatever it contributes: cells above the axes.
    hatches = ["////" if np.isnan(value) else "" for value in grade.tolist()]
    ax.bar(rank, 0.05, bottom=1.01, width=0.8, color=painted, hatch=hatches, edgecolor=GREY, linewidth=0.3,
           transform=ax.get_xaxis_transform(), clip_on=False, label="grade")  # fmt: skip
    open_ = np.isnan(grade)
    could = documents["could_add"].to_numpy(dtype=float) if "could_add" in documents else np.zeros(len(rank))
    adds = open_ & (could > 0)
    ax.bar(rank[adds], could[adds], bottom=contribution[adds], width=0.8, color="white", edgecolor=GREY, hatch="////",
           linewidth=0.3, label="could add")  # fmt: skip
    if open_.any():
        label = "unjudged, could add" if adds.any() else "unjudged"
        handles.append(Patch(label=label, facecolor="white", edgecolor=GREY, hatch="////", linewidth=0.3))
    (line,) = ax.plot(rank, running, color=VERMILION, marker=".", markersize=3, linewidth=1, label="score so far")
    ax.axhline(0, color=BLACK, linewidth=0.6)
    ax.grid(axis="y", color=LIGHT, linewidth=0.4)
    ax.set_xlim(0.4, rank[-1] + 0.6)
    if not ax.dataLim.height:  # nothing counts
        ax.set_ylim(0, 1)
    use_integer_ticks(ax)
    head = frame.iloc[0]
    ax.set_xlabel(f"rank in topic {label_text(str(head['topic']), 16)} of {label_text(str(head['run']))}")
    ax.set_ylabel(f"part of {label_text(str(head['measure']))}")
    legend(ax, handles=[*handles, line], bottom=1.06)


def _colors(grades: Sequence[float]) -> dict[float, Any]:
    """The color of each of all grades: grey where it is not relevant."""
    from matplotlib import colormaps

    known = sorted(map(float, grades))
    relevant = [value for value in known if value > 0]
    scale = colormaps["viridis_r"]
    colors: dict[float, Any] = dict.fromkeys(known, LIGHT)
    return colors | {value: scale((place + 1) / len(relevant)) for place, value in enumerate(relevant)}


MOST_NAMED = 8
"""Grades in a legend."""


def _named(drawn: Floats, colors: Mapping[float, Any]) -> list[tuple[str, Any]]:
    """The grades that occur, for a legend: those that are not relevant as one; of very many some, from the lowest to
    the highest."""
    known = sorted(set(drawn[np.isfinite(drawn)].tolist()))
    below, above = ([value for value in known if (value > 0) == relevant] for relevant in (False, True))
    named = [(f"grade {below[0]:g}" if len(below) == 1 else "grade ≤ 0", LIGHT)] if below else []
    places = np.linspace(0, len(above) - 1, min(len(above), MOST_NAMED - len(named))).round().astype(int).tolist()
    return named + [(f"grade {above[place]:g}", colors[above[place]]) for place in places]


# `gradedeval explain RUN [RUN] QRELS [TOPIC]...`: how a score is made up, rank by rank.


def explain_runs(
    runs: Sequence[str],
    qrels: Any,
    *,
    explained: tuple[str, ...] = (),
    measures: AnyMeasure | Iterable[AnyMeasure] = DEFAULT,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Explanations:
    """As `explain`, for several topics of one run, or of two. Raises InputError (usage) for more runs."""
    options, chosen = resolve_options(like, **keywords), parse_measures(measures)
    if len(runs) > 2:
        raise InputError("", f"{len(runs)} runs given", "explain one, or two side by side", usage=True)
    named = ranked_runs.name_two_runs(*runs) if len(runs) == 2 else kernel.named_runs(runs)
    judged = kernel.qrels_for(named, qrels, options)
    topics: tuple[str | None, ...] = explained
    if not topics:
        topic, notes = _default_topic(named, judged, chosen, options)
        topics = (topic,)
        emit_notes(notes)
    each = [explain_topics({name: run}, judged, chosen, options, topics) for name, run in named.items()]
    emit_notes(note for of_run in each for explanation in of_run for note in explanation.notes)
    return Explanations(each, kernel.options.preset_digits(options.like))
