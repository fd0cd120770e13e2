"""`explain`: one topic of one run, rank by rank: what each document adds to a score, and what it could add."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gradedeval.analysis.contributions import check_by_rank, parts_of, rises, trimmed
from gradedeval.arrays import Bools
from gradedeval.errors import InputError, did_you_mean, shorten, warn_caller
from gradedeval.formats.frames import to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.applied import scores_of
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OPTIONS, OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import Batch
from gradedeval.rankings.grade import Grader
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.doubts import doubts_of, not_too_many
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.run_parts import GradedRun, grade_run
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.signature import signature
from gradedeval.trec.lines import decode, encode

if TYPE_CHECKING:
    import pandas as pd


DEFAULT = ("err@20",)

BEFORE, DOCUMENT, BEYOND = "empty", "document", "beyond"
"""The parts of a ranking: the empty ranking (where it has a score), its documents, and all that comes after them."""
FIRST, LAST = ("part", "rank", "docno", "grade", "gain"), ("contribution", "running", "could_add")


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
class Explanation(InNotebook, document="analysis.explain_tables.own_document"):
    """The scores of one topic of a run, explained measure by measure.

    retrieved  how many documents the ranking has; `judged` of them are judged, and `filled` have a gain by `fill` alone
    pool       how many documents of the topic are judged
    docnos     the whole ranking, below the cutoffs of the measures too
    grades     all grades of the qrels, ascending
    notes      warnings
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
        frame = to_frame(list(self.rows()), columns=self.columns)
        return frame.astype({"rank": "Int64"})


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

    topic  its id; optional where the qrels have only one topic

    The other arguments are those of `evaluate`, for one run; `residual_depth` and `max_residual` are not among them.
    The contributions of a measure sum to its score. For a C/W/L measure they are the terms of its sum, such as
    W(i)·r_i; for any other, the difference that it makes to end the ranking at a rank instead of one rank earlier.

    Returns `Explanation`: `.frame`, `.measures`, `.signature`. Raises `gradedeval.InputError` as `evaluate` does, and
    where the topic does not count.
    """
    options, chosen = resolve_options(like, **keywords), parse_measures(measures)
    (explanation,) = explain_topics(named_runs(run), qrels, chosen, options, [topic])
    warn_caller(explanation.notes)
    return explanation


def explain_topics(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: Iterable[Measure],
    options: Options,
    topics: Iterable[str | bytes | int | None],
    workers: Workers | None = None,
) -> list[Explanation]:
    """As `explain`, for one run by name, topics and options; the run is read once, and several workers may share a
    large one. Raises InputError as `explain` does."""
    if len(runs) != 1:
        raise InputError("", f"{len(runs)} runs given", "explain one at a time", usage=True)
    options.check_unscored("explain", "measuring")
    if options.ties == "average":
        raise OPTIONS["ties"].error("an average over orders has no ranks to explain", "choose an order")
    ((name, source),) = runs.items()
    judged = qrels_for(runs, qrels, options)
    wanted = list(dict.fromkeys(_wanted(topic, judged, options) for topic in topics))
    scorer = Scorer(judged, list(measures), replace(options, residuals=None if options.judged_only else "total"))
    grader = replace(scorer.grader, keep_docnos_for=frozenset(wanted), last_rank=None)
    run = grade_run(source, grader, workers or Workers())
    return [_of_topic(name, topic, scorer, grader, run) for topic in wanted]


def _of_topic(name: str, topic: bytes, scorer: Scorer, grader: Grader, run: GradedRun[Batch]) -> Explanation:
    """The explanation of one topic of a run."""
    judged = scorer.qrels
    batch = _alone(run, topic, judged)
    scores, _, residuals = scorer.score_batch(batch).values[:, 0].tolist()
    explained = [
        _explained(scorer, batch, column, score, None if np.isnan(residual) else residual)
        for column, (score, residual) in enumerate(zip(scores, residuals, strict=True))
    ]
    # These notes name topics: other ones, where this one is in both files.
    elsewhere = ("missing-topics", "unjudged-topics") if topic in judged._row and batch.retrieved[0] else ()
    notes = [note for note in run.notes if getattr(note, "kind", "") not in elsewhere]
    codes = batch.codes[0]
    return Explanation(
        name,
        decode(topic),
        int(batch.retrieved[0]),
        int(grader.judged[codes].sum()),
        int(_is_filled(scorer, batch).sum()),
        int(batch.pool[0] @ grader.judged[: batch.unjudged]),
        explained,
        str(signature(judged, scorer.options, scorer.measures, [(len(run.topics), run.missing)], [run.format])),
        list(map(decode, batch.docnos[topic])),
        judged.labels.tolist(),
        [*scorer.notes, *not_too_many([*notes, *doubts_of(replace(run, batches=[batch], topics=[topic]), scorer)])],
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
        raise InputError("--topic", what, f"choose one, as in --topic {topics[0]}" if topics else "", usage=True)
    wanted = topic if isinstance(topic, bytes) else encode(str(topic))
    if options.topics_from is not None and wanted not in options.topics_from:
        raise InputError("--topic", f"'{decode(wanted)}' is not listed in --topics-from", "add it there", usage=True)
    if wanted not in qrels._row and options.topics != "run":
        hint = did_you_mean(decode(wanted), topics) or f"as in {shorten(topics)}"
        what = f"'{decode(wanted)}' is not judged in {qrels.place}, and only --topics run includes such topics"
        raise InputError("--topic", what, hint, usage=True)
    if options.topics == "relevant" and not qrels._pool_of([wanted])[0, qrels.labels > 0].any():
        what = f"'{decode(wanted)}' has no relevant document in {qrels.place}"
        raise InputError("--topic", what, "use --topics both to include it", usage=True)
    return wanted


def _alone(run: GradedRun[Batch], topic: bytes, qrels: Qrels) -> Batch:
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
            alone = replace(batch, topics=[topic], ties=batch.ties and batch.ties.of_row(row), **rows)
    if alone is not None and topic in run.topics:
        return alone
    name = decode(topic)
    if topic in qrels._row:
        what, hint = f"'{name}' is not in {run.place}", "--topics qrels scores it 0"
    else:
        scored = [decode(topic_id) for topic_id in run.topics]
        what = f"'{name}' is neither in {run.place} nor in {qrels.place}"
        hint = did_you_mean(name, scored) or f"as in {shorten(scored)}"
    raise InputError("--topic", what, hint, usage=True)


def _explained(scorer: Scorer, batch: Batch, column: int, score: float, residual: float | None) -> Explained:
    """How the measure in that column arrives at its score for the one topic of a batch."""
    measure, table, gains_of = scorer.measures[column], scorer.tables[column], scorer.gains_cache(batch)
    check_by_rank(measure)
    gains = trimmed(gains_of(table, measure))
    parts, count = parts_of(measure, gains), gains.gain.shape[1]
    columns: dict[str, list[Any]] = {
        "part": [DOCUMENT] * count,
        "rank": list(range(1, count + 1)),
        "docno": [decode(docno) for docno in batch.docnos[batch.topics[0]][:count]],
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
        rise = rises(measure, gains, trimmed(gains_of(table, measure, unjudged=table.top)))
        if table.filled is not None:  # nobody judged these, and yet they are known
            rise[_is_filled(scorer, batch)[:count]] = np.nan
        columns["could_add"] = [None if np.isnan(one) else one for one in rise.tolist()]
        if measure.residual == "beyond_run":
            best = scores_of(measure, trimmed(gains_of(table, measure, tail=table.top)))
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
    is_filled: Bools = (codes >= len(scorer.qrels.labels)) & (codes < batch.unjudged)
    return is_filled


def _grades(batch: Batch, qrels: Qrels, count: int) -> list[float | None]:
    """The grades in the qrels down to a rank, None where there is none."""
    grades = [int(label) if label.is_integer() else label for label in qrels.labels.tolist()]
    return [grades[code] if code < len(grades) else None for code in batch.codes[0, :count].tolist()]
