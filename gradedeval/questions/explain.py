"""`explain`: one topic of one run, rank by rank: contributions of documents to a score, and possible gains."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import pictures, ranked_runs
from gradedeval.arrays import Bools, Floats, np
from gradedeval.errors import InputError, Note, did_you_mean, emit_notes, flag, public, shorten, visible
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, Measure, OptionKwargs, Options, Table, decode

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.kernel import Batch, Qrels, Scorer


DEFAULT = ("err@20",)
RANKS = 20
"""Default number of ranks for a measure without a cutoff."""

BEFORE, DOCUMENT, BEYOND = "empty", "document", "beyond"
"""Parts of a ranking: the empty ranking (if it has a score), its documents, and the ranks below them."""
FIRST, LAST = ("part", "rank", "docno", "grade", "gain"), ("contribution", "running", "could_add")
TITLES = {"contribution": "adds", "could_add": "could add"}
"""Titles of columns in tables for people."""


@dataclass(frozen=True, eq=False)
class Explained:
    """Explanation of the score of one topic by one measure.

    measure   with the gain scheme and relevance level from the options
    score     of the topic
    residual  the possible rise of the score; None if the measure has no residual
    relevant  R; None if the measure reads no gains
    columns   name -> one value a row, None if blank. Rows are the documents in rank order, preceded by the score of an
              empty ranking unless it is 0, and followed by the share of ranks beyond the end of the run if they count.
              `contribution` sums to the score, `running` is the sum so far; `could_add` is the rise of the score if
              only this document had the top gain. The gain and the details of the measure are between them.
    """

    measure: Measure
    score: float
    residual: float | None
    relevant: int | None
    columns: dict[str, list[Any]]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows, as dicts by column name."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))


@dataclass(frozen=True, eq=False)
class Explanation(kernel.results.InNotebook):
    """Explanation of the scores of one topic of a run, measure by measure.

    retrieved  number of documents of the ranking; `judged` of them are judged, and `filled` have a gain by `fill` alone
    pool       number of judged documents of the topic
    docnos     the whole ranking, including ranks below the cutoffs of measures
    grades     all grades of the qrels, ascending
    notes      warnings
    text       text of the topic, if known
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
        """Columns of the tidy table: run, topic, measure, and the columns of all measures."""
        names = dict.fromkeys(name for explained in self.measures for name in explained.columns)
        middle = [name for name in names if name not in (*FIRST, *LAST)]
        ends = [[name for name in fixed if name in names] for fixed in (FIRST, LAST)]
        return ["run", "topic", "measure", *ends[0], *middle, *ends[1]]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the tidy table, measure by measure; None in columns that a measure lacks."""
        for explained in self.measures:
            head = {"run": self.run, "topic": self.topic, "measure": explained.measure.label}
            for row in explained.rows():
                values = {**head, **row}
                yield {name: values.get(name) for name in self.columns}

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
        """The topic, with its text if known."""
        return f"{self.topic} ({visible(self.text)})" if self.text else self.topic

    def document(self, layout: Layout) -> Document:
        """Return the tables of the command."""
        return explanation_document([self], layout)


@dataclass(frozen=True, eq=False)
class Explanations(kernel.results.InNotebook):
    """Explanations of the same topics of one or two runs; `digits` is the default for tables."""

    of_runs: list[list[Explanation]]
    digits: int

    @property
    def signature(self) -> str:
        """The signatures of the scores."""
        return "\n".join(dict.fromkeys(explanation.signature for explanation in chain(*self.of_runs)))

    @property
    def texts(self) -> Mapping[str, str]:
        return {name: text for explanation in chain(*self.of_runs) for name, text in explanation.texts.items()}

    def document(self, layout: Layout, *, show: int | None = None, digits: int | None = None) -> Document:
        """Return a table for each topic and measure; of two runs side by side."""
        digits, (first, *others) = self.digits if digits is None else digits, self.of_runs
        if others:
            return side_by_side_document(first, others[0], layout, digits=digits, shown=show)
        return explanation_document(first, layout, digits=digits, shown=show)

    def panels(self, *, show: int | None = None) -> list[pictures.Panel]:
        """Return a picture for each run, topic and measure."""
        panels = []
        for explanation in chain(*self.of_runs):
            frame, grades = explanation.frame, explanation.grades
            for explained in explanation.measures:
                rows = frame[frame["measure"] == explained.measure.label]
                ranks = show or explained.measure.cutoff or RANKS
                panels.append(pictures.Panel(partial(draw_ranks, frame=rows, ranks=ranks, grades=grades), 2.0))
        return panels


@kernel.takes_options("reading", "queries", "fill", "costs")
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
    """Explain the scores of one topic by measures, rank by rank.

    topic  its id; None: the topic with the median score of the first measure

    The other arguments are as for `evaluate`, for one run, except `residual_depth` and `max_residual`. The
    contributions of a measure sum to its score. For a C/W/L measure they are the terms of its sum, such as W(i)·r_i;
    for any other measure, the difference between the scores of the ranking ended at a rank and one rank earlier.

    Returns `Explanation`: `.frame`, `.measures`, `.signature`. Raises `gradedeval.InputError` as `evaluate` does, and
    for a topic that does not count.

    >>> run, qrels = {"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d1": 1, "d2": 4}}
    >>> explanation = gradedeval.explain(run, qrels, "rbp(p=0.5)")
    >>> explanation.frame[["docno", "grade", "contribution", "running"]].head(2)
      docno  grade  contribution  running
    0    d1    1.0         0.125    0.125
    1    d2    4.0         0.250    0.375
    """
    options, named = kernel.resolve_options(like, **keywords), kernel.named_runs(run)
    chosen, judged = kernel.parse_measures(measures), kernel.qrels_for(named, qrels, options)
    topic, notes = (topic, []) if topic is not None else _default_topic(named, judged, chosen, options)
    (explanation,) = explain_topics(named, judged, chosen, options, [topic])
    return replace(explanation, notes=emit_notes([*notes, *explanation.notes]))


def _default_topic(
    runs: Mapping[str, Any], qrels: Qrels, measures: Sequence[Measure], options: Options
) -> tuple[str | None, list[str]]:
    """Return the topic with the median score, of two runs with the largest difference, else the first; and a note."""
    if len(qrels) < 2 or not measures or len(runs) > 2:
        return None, []
    if any(isinstance(source, str | os.PathLike) and not os.path.isfile(source) for source in runs.values()):
        topic, reason = decode(next(iter(qrels.topics))), "the first id"
    else:
        scores = kernel.evaluate_runs(runs, qrels, measures[:1], options)
        (label,), by_run = scores.labels, [scores.by_topic(scores.measures[0], name) for name in runs]
        common = [topic_id for topic_id in by_run[0] if topic_id in by_run[-1]]
        if len(by_run) == 2:
            topic = max(common, key=lambda topic_id: abs(by_run[0][topic_id] - by_run[1][topic_id]))
            reason = f"the largest {label} difference"
        else:
            topic = sorted(common, key=by_run[0].__getitem__)[(len(common) - 1) // 2]
            reason = f"the median {label}"
    text = f"no topic given: explaining {topic}, with {reason} of {len(qrels)}; choose with {flag.topic:ID}"
    return topic, [Note(text)]


def explain_topics(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: Iterable[Measure],
    options: Options,
    topics: Iterable[str | bytes | int | None],
) -> list[Explanation]:
    """Explain topics of one run, which is read once; None: the only topic of the qrels. Raises as `explain` does."""

    if len(runs) != 1:
        raise InputError("", f"{len(runs)} runs given", "explain one at a time", usage=True)
    if options.ties == "average":
        raise kernel.options.OPTIONS["ties"].error("an average over orders has no ranks to explain", "choose an order")
    ((name, source),) = runs.items()
    judged = kernel.qrels_for(runs, qrels, options)
    topic_ids = list(dict.fromkeys(_topic_id(topic, judged, options) for topic in topics))
    scorer = kernel.Scorer(judged, list(measures), replace(options, residuals=None if options.judged_only else "total"))
    grader = replace(scorer.grader, keep_docnos_for=frozenset(topic_ids), last_rank=None)
    run = kernel.tasks.grade_run(source, grader, kernel.Workers.current())
    return [_explain_topic(name, topic, scorer, grader, run) for topic in topic_ids]


def _explain_topic(
    name: str, topic: bytes, scorer: Scorer, grader: kernel.grade.Grader, run: kernel.tasks.GradedRun[Batch]
) -> Explanation:
    """Explain one topic of a run."""

    judged = scorer.qrels
    batch = _topic_batch(run, topic, judged)
    scores, _, residuals = scorer.score_batch(batch).values[:, 0].tolist()
    explained = [
        _explain_measure(scorer, batch, column, score, None if np.isnan(residual) else residual)
        for column, (score, residual) in enumerate(zip(scores, residuals, strict=True))
    ]
    # Notes about topics of one file concern other topics if this topic is in both files.
    of_topics = ("missing-topics", "empty-topics", "unjudged-topics")
    elsewhere = of_topics if topic in judged.row_of and batch.retrieved[0] else ()
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


def _topic_id(topic: str | bytes | int | None, qrels: Qrels, options: Options) -> bytes:
    """Return the id of the topic. Raises InputError (usage) if the qrels show that it cannot count."""
    listed, place = options.topics_from, qrels.place
    topics = [decode(topic_id) for topic_id in qrels.topics if listed is None or topic_id in listed]
    if topic is None:
        if len(topics) == 1:
            return kernel.encode(topics[0])
        hint = f"choose one, as in {flag.topic:{topics[0]}}" if topics else ""
        raise InputError(flag.topic, f"{place} has {len(qrels)} topics ({shorten(topics)})", hint, usage=True)
    topic_bytes = topic if isinstance(topic, bytes) else kernel.encode(str(topic))
    name = decode(topic_bytes)
    if listed is not None and topic_bytes not in listed:
        raise InputError(flag.topic, f"'{name}' is not listed in {flag.topics_from}", "add it there", usage=True)
    if topic_bytes not in qrels.row_of and options.topics != "run":
        hint = did_you_mean(name, topics) or f"as in {shorten(topics)}"
        problem = f"'{name}' is not judged in {place}, and only {flag.topics:run} includes such topics"
        raise InputError(flag.topic, problem, hint, usage=True)
    if options.topics == "relevant" and not qrels.counts_for([topic_bytes]).per_topic(qrels.labels > 0).any():
        problem = f"'{name}' has no relevant document in {place}"
        raise InputError(flag.topic, problem, f"use {flag.topics:both} to include it", usage=True)
    return topic_bytes


def _topic_batch(run: kernel.tasks.GradedRun[Batch], topic: bytes, qrels: Qrels) -> Batch:
    """Return the batch of one topic. Raises InputError (usage) if the options exclude it."""
    topic_batch: Batch | None = None
    for batch in run.batches:
        if topic in batch.topics:
            row = batch.topics.index(topic)
            # Every array of a batch has a row for each topic.
            values = {field.name: getattr(batch, field.name) for field in fields(batch)}
            rows: dict[str, Any] = {
                name: value[row : row + 1] for name, value in values.items() if isinstance(value, np.ndarray)
            }
            pool, ties = batch.pool.select(np.array([row])), batch.ties and batch.ties.of_row(row)
            topic_batch = replace(batch, topics=[topic], pool=pool, ties=ties, docnos=batch.docnos_of(row), **rows)
    if topic_batch is not None and topic in run.topics:
        return topic_batch
    name = decode(topic)
    if topic in qrels.row_of:
        problem, hint = f"'{name}' is not in {run.place}", f"{flag.topics:qrels} scores it 0"
    else:
        scored = [decode(topic_id) for topic_id in run.topics]
        problem = f"'{name}' is neither in {run.place} nor in {qrels.place}"
        hint = did_you_mean(name, scored) or f"as in {shorten(scored)}"
    raise InputError(flag.topic, problem, hint, usage=True)


def _explain_measure(scorer: Scorer, batch: Batch, column: int, score: float, residual: float | None) -> Explained:
    """Explain the score by the measure of a column, for the one topic of a batch."""

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
    empty_row: dict[str, Any] = {"part": BEFORE, "rank": 0, "contribution": parts.before, "running": parts.before}
    beyond_row: dict[str, Any] = {"part": BEYOND}
    for name, values in parts.details.items():
        if name in (*FIRST, *LAST):
            raise InputError(f"measure '{measure}'", f"`details` has '{name}', which is already a column", "rename it")
        columns[name] = values[:count].tolist()
        beyond_row[name] = float(values[count]) if len(values) > count else None
    columns["contribution"], beyond_row["contribution"] = parts.terms.tolist(), parts.beyond
    columns["running"] = (parts.before + parts.terms.cumsum()).tolist()
    if residual is not None:
        highest = ranked_runs.trim_to_retrieved(gains_of(table, measure, unjudged=table.top))
        rise = ranked_runs.rises_of_batch(measure, gains, highest)[0]
        if table.filled is not None:  # filled documents have a known gain
            rise[_is_filled(scorer, batch)[:count]] = np.nan
        columns["could_add"] = [None if np.isnan(possible_rise) else possible_rise for possible_rise in rise.tolist()]
        if measure.residual == "beyond_run":
            best = kernel.scores_of(measure, ranked_runs.trim_to_retrieved(gains_of(table, measure, tail=table.top)))
            beyond_row["could_add"] = max(min(float(best[0]), measure.definition.ceiling) - score, 0.0)
    first = [empty_row] if parts.before else []
    last = [beyond_row] if any(value for name, value in beyond_row.items() if name != "part") else []
    beyond_row["running"] = (columns["running"] or [parts.before])[-1] + parts.beyond
    for name, cells in columns.items():
        columns[name] = [*(row.get(name) for row in first), *cells, *(row.get(name) for row in last)]
    if measure.definition.summary == "total":  # counts
        columns |= {name: list(map(_count, columns[name])) for name in ("contribution", "running")}
        score = _count(score)
    relevant = int(gains.num_relevant[0]) if measure.definition.gain is not None else None
    return Explained(measure, score, residual, relevant, columns)


def _count(value: float) -> float:
    return int(value) if value.is_integer() else value


def _is_filled(scorer: Scorer, batch: Batch) -> Bools:
    """Return the mask, by rank, of documents with a gain by `fill` and no grade."""
    codes = batch.codes[0]
    return np.asarray((codes >= len(scorer.qrels.labels)) & (codes < batch.unjudged_code))


def _grades(batch: Batch, qrels: Qrels, count: int) -> list[float | None]:
    """Return the grades in the qrels down to a rank; None for unjudged documents."""
    grades = [int(label) if label.is_integer() else label for label in qrels.labels.tolist()]
    return [grades[code] if code < len(grades) else None for code in batch.codes[0, :count].tolist()]


# Tables: for people one for each measure, for programs a row for each measure and rank.


RISES = "could add: how much the score would rise if only this document were relevant (top gain)"
RISES += "; the values need not add up to the residual"


def explanation_document(
    explanations: Sequence[Explanation], layout: Layout, *, digits: int = 4, shown: int | None = None
) -> Document:
    """Return the explanations of topics of one run as tables.

    digits  of numbers
    shown   maximum ranks of a table; None: the cutoff, or 20. The remaining ranks share a row. The table for programs
            is always complete
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


def side_by_side_document(
    first_run: list[Explanation], second_run: list[Explanation], layout: Layout, *, digits: int, shown: int | None
) -> Document:
    """Return the same topics of two runs: for people rank by rank, side by side; for programs one after the other."""
    signature = "\n".join(dict.fromkeys(part.signature for part in (first_run[0], second_run[0])))
    if layout == "long":
        document = _long([*first_run, *second_run])
        runs = {"runs": [first_run[0].run, second_run[0].run]}
        topics = [{"run": part.run, **_head(part)} for part in (*first_run, *second_run)]
        return Document(document.blocks, signature, head={**runs, "topics": topics})
    blocks: list[Table | str] = []
    for first, second in zip(first_run, second_run, strict=True):
        names = f"{visible(first.run)} and {visible(second.run)}"
        retrieved = f"{first.retrieved} and {second.retrieved} retrieved, {first.judged} and {second.judged} judged"
        if first.filled or second.filled:
            retrieved += f", {first.filled} and {second.filled} filled in"
        blocks.append(f"topic {first.name} of {names} | {retrieved} | {first.pool} judged in all")
        for pair in zip(first.measures, second.measures, strict=True):
            ranks = pair[0].measure.cutoff or RANKS if shown is None else shown
            blocks += [_score_line(*pair, digits), _side_by_side_table(first, second, pair, digits, ranks)]
    return Document(blocks, signature)


def _score_line(first: Explained, second: Explained, digits: int) -> str:
    """Return the line above a table: both scores with residuals, and the difference."""
    column = Column("", "score", digits)
    parts = []
    for explained in (first, second):
        score, residual = column.cells([explained.score, explained.residual])
        parts.append(score + (f" (residual {residual})" if residual else ""))
    return f"{first.measure.label}: {parts[0]} and {parts[1]}, difference {second.score - first.score:+.{digits}f}"


def _side_by_side_table(
    first: Explanation, second: Explanation, pair: tuple[Explained, Explained], digits: int, limit: int
) -> Table:
    """Return both rankings, rank by rank, with the rank in the first run of each document of the second."""
    sides = [[row for row in explained.rows() if row["part"] == DOCUMENT] for explained in pair]
    first_ranks = {docno: rank for rank, docno in enumerate(first.docnos, 1)}
    columns = [Column("rank")]
    for name in (first.run, second.run):
        columns += [Column(name, of_run=True), Column("grade", "number"), Column("contribution", "score", digits)]
    rows = []
    for rank in range(min(limit, max(map(len, sides)))):
        cells: list[Any] = [str(rank + 1)]
        for side in sides:
            row = side[rank] if rank < len(side) else {}
            cells += [row.get(name) for name in ("docno", "grade", "contribution")]
        rows.append([*cells, first_ranks.get(cells[4])])
    return Table([*columns, Column("other rank", "count")], rows)


def _long(explanations: Sequence[Explanation]) -> Document:
    columns = dict.fromkeys(name for explanation in explanations for name in explanation.columns)
    rows = [[row.get(name) for name in columns] for explanation in explanations for row in explanation.rows()]
    head = {"run": explanations[0].run, "topics": [_head(explanation) for explanation in explanations]}
    return Document([Table([Column(name) for name in columns], rows)], explanations[0].signature, head=head)


def _head(explanation: Explanation) -> dict[str, Any]:
    """Return the head of a topic in a JSON document."""
    numbers = ("score", "residual", "relevant")
    measures = [
        {"measure": explained.measure.label, **{name: getattr(explained, name) for name in numbers}}
        for explained in explanation.measures
    ]
    counts = {name: getattr(explanation, name) for name in ("topic", "retrieved", "judged", "filled", "pool")}
    text = {"query": explanation.text} if explanation.text else {}
    return {**counts, **text, "measures": measures}


def _summary(explained: Explained, digits: int) -> str:
    """Return the line above a table: score, share of the ideal, residual, and number of relevant documents."""
    ideal = math.fsum(term for term in explained.columns.get("ideal_term", ()) if term is not None)
    numbers = [explained.score, explained.residual, explained.score * ideal, ideal]
    score, residual, gained, best = Column("", "score", digits).cells(numbers)
    line = f"{explained.measure.label}: {score}" + (f" = {gained} / {best} (ideal)" if ideal > 0 else "")
    line += f", residual {residual}" if residual else ""
    return line if explained.relevant is None else f"{line} | {explained.relevant} relevant"


def _table(explained: Explained, digits: int, limit: int) -> Table:
    """Return the table of a measure; rank 0 is the empty ranking, >100 lies beyond the end of 100 documents."""
    rows = list(explained.rows())
    documents = [row for row in rows if row["part"] == DOCUMENT]
    if len(documents) > limit + 1:  # a row for one hidden document would save nothing
        first = [row for row in rows if row["part"] == BEFORE] + documents[:limit]
        rows = [*first, _remaining_row(documents[limit:]), *(row for row in rows if row["part"] == BEYOND)]
    rows = [{**row, "rank": f">{len(documents)}"} if row["part"] == BEYOND else row for row in rows]
    names = [name for name in explained.columns if name != "part"]
    adds = any(round(row.get("could_add") or 0.0, digits) > 0 for row in rows)
    kinds = [_kind(name, explained.columns[name]) for name in names]
    columns = [Column(TITLES.get(name, name), kind, digits, name == "could_add" and not adds)
               for name, kind in zip(names, kinds, strict=True)]  # fmt: skip
    return Table(columns, [[row[name] for name in names] for row in rows])


def _kind(name: str, values: list[Any]) -> kernel.formats.Kind:
    if name in ("rank", "docno"):
        return "text"
    whole = all(value is None or isinstance(value, str | int) or float(value).is_integer() for value in values)
    return "count" if whole and name not in LAST else "score"


def _remaining_row(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one row for documents without rows."""
    return {
        **dict.fromkeys(documents[0]),
        "rank": "…",
        "docno": f"{len(documents)} more",
        "contribution": sum(row["contribution"] for row in documents),
        "running": documents[-1]["running"],
    }


# One topic rank by rank: grades as colors, contributions as bars, the score so far as a line.


COLUMNS = ("run", "topic", "measure", "rank", "grade", "contribution", "running")


@public
def plot_explain(explanation: Any, measure: Any = None, *, show: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the contribution of the document at each rank, in the color of its grade, and the score so far.

    A hatched bar is the possible gain of an unjudged document. A grade has one color for all runs, topics and measures
    of the same qrels.

    explanation  the result of `gradedeval.explain`; or its frame, with colors for the grades in it
    measure      one of several measures
    show         number of ranks; None: the cutoff of the measure, or 20
    ax           matplotlib axes to draw on; None: the current axes

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, for several runs or topics, for several
    measures without `measure`, and for fewer than one rank.

    >>> explanation = gradedeval.explain({"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d1": 1, "d2": 4}}, "err@20")
    >>> axes = gradedeval.plot.explain(explanation)
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('rank in topic q1 of run', 'part of err@20')
    """
    show = kernel.ranges.SHOW.check_or_none(show)
    frame = pictures.require_frame(explanation, COLUMNS, "explain", "what gradedeval.explain returns")
    of_one_measure = pictures.select_measure(frame, measure, "explain")
    if len(kernel.results.distinct(of_one_measure, "run", "topic")) > 1:
        raise InputError("plot.explain", "several runs or topics", "give the explanation of one", usage=True)
    cutoff, grades = None, frame["grade"].dropna().unique().tolist()
    if isinstance(explanation, Explanation):
        cutoffs = {explained.measure.label: explained.measure.cutoff for explained in explanation.measures}
        cutoff, grades = cutoffs[of_one_measure["measure"].iloc[0]], explanation.grades
    return pictures.draw_on(partial(draw_ranks, frame=of_one_measure, ranks=show or cutoff or RANKS, grades=grades), ax)


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
    ax.bar(rank, contribution, width=0.8, color=painted, edgecolor=pictures.BLACK, linewidth=0.3, label="contribution")
    handles: list[Any] = [
        Patch(label=name, facecolor=color, edgecolor=pictures.BLACK, linewidth=0.3)
        for name, color in _legend_grades(grade, colors)
    ]
    # Cells above the axes show grades of documents without a contribution, too.
    hatches = ["////" if np.isnan(value) else "" for value in grade.tolist()]
    ax.bar(rank, 0.05, bottom=1.01, width=0.8, color=painted, hatch=hatches, edgecolor=pictures.GREY, linewidth=0.3,
           transform=ax.get_xaxis_transform(), clip_on=False, label="grade")  # fmt: skip
    unjudged = np.isnan(grade)
    could = documents["could_add"].to_numpy(dtype=float) if "could_add" in documents else np.zeros(len(rank))
    adds = unjudged & (could > 0)
    open_look: dict[str, Any] = {"facecolor": "white", "edgecolor": pictures.GREY, "hatch": "////", "linewidth": 0.3}
    ax.bar(rank[adds], could[adds], bottom=contribution[adds], width=0.8, label="could add", **open_look)
    if unjudged.any():
        handles.append(Patch(label="unjudged, could add" if adds.any() else "unjudged", **open_look))
    look: dict[str, Any] = {"color": pictures.VERMILION, "marker": ".", "markersize": 3, "linewidth": 1}
    (line,) = ax.plot(rank, running, label="score so far", **look)
    ax.axhline(0, color=pictures.BLACK, linewidth=0.6)
    ax.grid(axis="y", color=pictures.LIGHT, linewidth=0.4)
    ax.set_xlim(0.4, rank[-1] + 0.6)
    if not ax.dataLim.height:  # nothing counts
        ax.set_ylim(0, 1)
    pictures.use_integer_ticks(ax)
    head = frame.iloc[0]
    topic, run, measure = (str(head[name]) for name in ("topic", "run", "measure"))
    ax.set_xlabel(f"rank in topic {pictures.label_text(topic, 16)} of {pictures.label_text(run)}")
    ax.set_ylabel(f"part of {pictures.label_text(measure)}")
    pictures.legend(ax, handles=[*handles, line], bottom=1.06)


def _colors(grades: Sequence[float]) -> dict[float, Any]:
    """Return a color for each grade: grey if it is not relevant."""
    from matplotlib import colormaps

    ascending = sorted(map(float, grades))
    relevant = [value for value in ascending if value > 0]
    scale = colormaps["viridis_r"]
    colors: dict[float, Any] = dict.fromkeys(ascending, pictures.LIGHT)
    return colors | {value: scale((place + 1) / len(relevant)) for place, value in enumerate(relevant)}


MOST_NAMED = 8
"""Maximum grades in a legend."""


def _legend_grades(present: Floats, colors: Mapping[float, Any]) -> list[tuple[str, Any]]:
    """Return labels and colors of at most `MOST_NAMED` grades, ascending; one for all that are not relevant."""
    ascending = sorted(set(present[np.isfinite(present)].tolist()))
    below, above = ([value for value in ascending if (value > 0) == relevant] for relevant in (False, True))
    labels = [(f"grade {below[0]:g}" if len(below) == 1 else "grade ≤ 0", pictures.LIGHT)] if below else []
    places = np.linspace(0, len(above) - 1, min(len(above), MOST_NAMED - len(labels))).round().astype(int).tolist()
    return labels + [(f"grade {above[place]:g}", colors[above[place]]) for place in places]


# `gradedeval explain RUN [RUN] QRELS [TOPIC]...`


def explain_runs(
    runs: Sequence[str],
    qrels: Any,
    *,
    explained: tuple[str, ...] = (),
    measures: AnyMeasure | Iterable[AnyMeasure] = DEFAULT,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Explanations:
    """Explain several topics of one or two runs. Raises InputError (usage) for more runs."""
    options, chosen = kernel.resolve_options(like, **keywords), kernel.parse_measures(measures)
    if len(runs) > 2:
        raise InputError("", f"{len(runs)} runs given", "explain one, or two side by side", usage=True)
    named = ranked_runs.name_two_runs(*runs) if len(runs) == 2 else kernel.named_runs(runs)
    judged = kernel.qrels_for(named, qrels, options)
    topics: tuple[str | None, ...] = explained
    if not topics:
        topic, notes = _default_topic(named, judged, chosen, options)
        topics = (topic,)
        emit_notes(notes)
    by_run = [explain_topics({name: run}, judged, chosen, options, topics) for name, run in named.items()]
    emit_notes(note for explanation in chain(*by_run) for note in explanation.notes)
    return Explanations(by_run, kernel.options.preset_digits(options.like))
