"""Grade and score a run part by part, and choose the topics to average over; an error is a result, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from gradedeval.errors import InputError, Note, flag
from gradedeval.kernel.parallel import Workers, no_progress, raise_malloc_threshold
from gradedeval.kernel.rankings.batch import Batch
from gradedeval.kernel.rankings.grade import (
    GradedPart,
    Grader,
    Made,
    Other,
    PartResult,
    RunFile,
    by_rank_note,
    check_layout,
    check_scores,
    choose_topics,
    dropped_note,
    no_effect_notes,
)
from gradedeval.kernel.scoring.caveats import notes_of_run
from gradedeval.kernel.scoring.scorer import BatchScores, Scorer
from gradedeval.kernel.scoring.scores import BOUNDS, RunScores, RunSummary
from gradedeval.kernel.trec.blocks import format_of
from gradedeval.kernel.trec.lines import LineLayout, NeedsLineReader, WholeFile
from gradedeval.kernel.trec.stream import Source, Stream, is_file

if TYPE_CHECKING:
    from gradedeval.kernel.rankings.grade import RunPart
    from gradedeval.kernel.rankings.run import Run

# Work on a run part by part: a file, a pipe, a DataFrame or a dict; then choose the topics to average over.


@dataclass(eq=False, repr=False)
class GradedRun(Generic[Made]):
    """A run joined with the qrels.

    place    name in messages
    tag      the sixth column
    batches  batches, or results for them; a topic in several batches is complete in the last
    topics   topics to average over, in the order of the qrels, unjudged topics last
    missing  number of topics that the run lacks
    notes    notes on topics and lines left out
    format   format of the file; empty for objects in memory
    """

    place: str
    tag: str
    batches: list[Made]
    topics: list[bytes]
    missing: int = 0
    notes: list[str] = field(default_factory=list)
    format: str = ""

    def with_batches(self, batches: list[Other]) -> GradedRun[Other]:
        """Return the run with different batches."""
        return GradedRun(self.place, self.tag, batches, self.topics, self.missing, self.notes, self.format)

    def settled(self: GradedRun[Batch]) -> Iterator[Batch]:
        """Return the topics to average over, each once."""
        last = {topic: number for number, batch in enumerate(self.batches) for topic in batch.topics}
        counted = set(self.topics)
        for number, batch in enumerate(self.batches):
            rows = [row for row, topic in enumerate(batch.topics) if last[topic] == number and topic in counted]
            if rows:
                yield batch.select(np.array(rows, dtype=np.int64))


def grade_run(source: Any, grader: Grader, workers: Workers, name: str = "run") -> GradedRun[Batch]:
    """Join a run with the qrels: whole topics, in batches of bounded size.

    source  a path (`-` is standard input), an open file, columns as lint reads them, any run of `read_run`, or a run
            graded with all ranks, by the same qrels and options

    Raises InputError if the run cannot be read, has no topic in common with the qrels, or has no single order.
    """
    run = map_run(methodcaller("grade", grader), source, grader, workers, name=name)
    if any(batch.float64_batch is not None for batch in run.batches):
        problem = f"as in {grader.options.like} some measures compare scores as float32 and others as float64"
        hint = f"give measures of one kind, or {flag.order:score}"
        raise InputError(run.place, f"{problem}, and rank the documents differently", hint, usage=True)
    return run


def map_run(
    work: Callable[[RunPart], PartResult[Made]],
    source: Any,
    grader: Grader,
    workers: Workers,
    merged: PartResult[Made] | None = None,
    name: str = "run",
) -> GradedRun[Made]:
    """Apply `work` to each part of a run, or take the `merged` results of parts. Raises InputError as `grade_run`."""
    if isinstance(source, GradedRun):
        return source.with_batches(work(GradedPart(source.batches)).batches)
    if not is_file(source):
        return _map_object(work, source, grader, name)
    options, types, run = grader.options, grader.reads_types, None
    with closing(Stream(Source(source))) as stream:
        form = format_of(stream, "run", options.run_format)
        if isinstance(form, LineLayout):
            check_layout(stream.place, form, options, types)
            if form.by_rank:
                check_scores(stream.place, grader)
            if form.in_blocks and not types:
                with suppress(NeedsLineReader):
                    run = _map_file(work, stream, form, grader, workers, merged)
        run = run or _map_other_file(work, stream, form, grader)
    notes = [f"{run.place}: {note}" for note in form.notes]
    if isinstance(form, LineLayout) and form.by_rank and options.by_score:
        notes.append(by_rank_note(run.place))
    return replace(run, format=run.format or form.format, notes=[*notes, *run.notes])


def _map_object(work: Callable[[RunPart], PartResult[Made]], source: Any, grader: Grader, name: str) -> GradedRun[Made]:
    """Apply `work` to a run in memory."""
    from gradedeval.kernel.rankings.in_memory import with_own_names
    from gradedeval.kernel.rankings.run import RunColumns, arrow_run, read_run

    if not isinstance(source, RunColumns):
        source = with_own_names(source, grader.options.run_format, "run", name)
    columns: RunPart | None = source if isinstance(source, RunColumns) else None
    if hasattr(source, "iloc") and not grader.reads_types:
        columns = arrow_run(source, grader.options)
    run = _map_columns(work, columns, name, grader)
    return run or map_lists(work, read_run(source, grader.options, grader.reads_types, name), grader)


def _map_columns(
    work: Callable[[RunPart], PartResult[Made]], columns: RunPart | None, place: str, grader: Grader
) -> GradedRun[Made] | None:
    """Apply `work` to a run in columns, as one part; None if it has no columns or needs a different reader."""
    if columns is None:
        return None
    whole = PartResult[Made]()
    with suppress(NeedsLineReader):
        whole.add(work(columns))
        return _settled(work, whole, place, grader)
    return None


def _map_other_file(
    work: Callable[[RunPart], PartResult[Made]], stream: Stream, form: LineLayout | WholeFile, grader: Grader
) -> GradedRun[Made]:
    """Apply `work` to a run file that is not read in blocks: as a whole, or line by line."""
    from gradedeval.kernel.rankings.run import arrow_run, json_run, read_run, run_of_lines

    options, types = grader.options, grader.reads_types
    if isinstance(form, LineLayout):
        return map_lists(work, run_of_lines(stream, options, types, form), grader)
    from gradedeval.kernel.rankings.whole_files import read_whole

    if form.format == "json" and not (form.fields or types or options.lenient):
        raise_malloc_threshold()
        run = _map_columns(work, json_run(stream, options), stream.place, grader)
        if run is not None:
            return replace(run, format="json")
    notes: list[str] = []
    format, content = read_whole(form, stream, "run", options.lenient, None, notes)
    columns = None if types else arrow_run(content, options, stream.place)
    run = _map_columns(work, columns, stream.place, grader)
    run = run or map_lists(work, read_run(content, options, types, stream.place), grader)
    return replace(run, format=format, notes=[*notes, *run.notes])


def map_lists(work: Callable[[RunPart], PartResult[Made]], run: Run, grader: Grader) -> GradedRun[Made]:
    """Apply `work` to a run in lists, as one part."""
    from gradedeval.kernel.rankings.run import ListedTopics

    of_run = run.empty, run.numbered
    topics, lacking, list_notes = choose_topics(run.names, run.place, grader.qrels, grader.options, *of_run)
    if run.by_rank:
        check_scores(run.place, grader)
    part = work(ListedTopics(run, topics))
    notes = [*run.notes, *run.order_check.notes(run.place, grader.options), *list_notes]
    notes += no_effect_notes(run.place, run.changed, run.own, grader.options)
    return GradedRun(run.place, run.tag, part.batches, topics, lacking, notes)


def _map_file(
    work: Callable[[RunPart], PartResult[Made]],
    stream: Stream,
    layout: LineLayout,
    grader: Grader,
    workers: Workers,
    merged: PartResult[Made] | None,
) -> GradedRun[Made]:
    """Apply `work` to each part of a run file, and again to topics with lines in several parts. Raises NeedsLineReader
    for lines that only the line reader can read, and WorkerDied."""
    file, whole = RunFile(stream, grader, layout), merged or PartResult[Made]()
    if merged is None:
        parts: Sequence[RunPart] | Iterator[RunPart]
        if file.is_large and workers.count > 1:
            from gradedeval.kernel.rankings.segments import segments_of  # few files are so large

            parts = [*segments_of(file, workers)]
            count: int | None = len(parts)
        else:
            parts, count = file.parts(), file.count
        is_single = count in (None, 1)  # or unknown
        with closing(workers.imap(work, parts, count)) if not is_single else nullcontext(map(work, parts)) as results:
            for result in results:
                whole.add(result)
                if whole.is_interleaved:
                    break
    if not whole.topics:
        raise NeedsLineReader  # the line reader reports an empty file
    if whole.is_interleaved or whole.divided:
        from gradedeval.kernel.rankings.segments import gather_topics  # in few runs topics are interleaved

        only = None if whole.is_interleaved else frozenset(whole.divided)
        crew = workers if file.is_large else workers.serial()
        with closing(crew.imap(work, gather_topics(stream, layout, grader, crew, only))) as results:
            for result in results:
                for topic in result.topics:
                    whole.dropped.pop(topic, None)  # it is complete now, and counted again
                whole.add(result)
    return _settled(work, whole, stream.place, grader)


def _settled(
    work: Callable[[RunPart], PartResult[Made]], whole: PartResult[Made], place: str, grader: Grader
) -> GradedRun[Made]:
    """Return the results of the parts, and of `work` for the topics that they lack."""
    topics, lacking, part_notes = choose_topics(whole.topics, place, grader.qrels, grader.options)
    if missing := [topic for topic in topics if topic not in whole.topics]:
        from gradedeval.kernel.rankings.run import ListedTopics, Run

        whole.batches += work(ListedTopics(Run(place, {}), missing)).batches
    dropped = sum(whole.dropped.values())
    notes = [dropped_note(place, dropped, grader.options)] if dropped else []
    notes += [*whole.order_check.notes(place, grader.options), *part_notes]
    notes += no_effect_notes(place, whole.changed, whole.own, grader.options)
    return GradedRun(place, whole.tag, whole.batches, topics, lacking, notes)


# A run -> its scores, or its error.


@dataclass
class RunResult:
    """The scores of a run, or its error. `place` is its name in messages, `tag` its sixth column."""

    place: str
    scores: RunScores | None = None
    tag: str = ""
    notes: list[str] = field(default_factory=list)
    error: InputError | None = None


def score_run(
    name: str,
    source: Any,
    scorer: Scorer,
    workers: Workers | None = None,
    merged: PartResult[BatchScores] | None = None,
    names: Sequence[str] | None = None,
    by_topic: bool = True,
    original: Any = None,
) -> RunResult:
    """Return the scores of a run, or its error.

    merged    results of the parts of its file, if known
    names     names of the measures in notes; None: their labels
    by_topic  return scores of topics, or summaries only
    original  the run as given, if `source` is already graded
    """
    try:
        run = map_run(scorer.score_part, source, scorer.grader, workers or Workers(), merged, name)
        scores = scorer.merge(name, run.batches, run.topics, run.missing, run.format)
        more = scorer.type_notes(run.place, run.batches) if scorer.measure_types else []
        more += _few_judged_notes(run, source if original is None else original, scorer)
        notes = notes_of_run(run, scorer, scores, names, more)
        scores = scores if by_topic else summarized(scores, scorer)
        return RunResult(run.place, scores, run.tag, notes)
    except InputError as error:
        return RunResult(Source(source).place if is_file(source) else name, error=error)


FEW = 0.01
"""Share of the possible judged documents up to which ids may be spelled differently."""

SAMPLE = 50
"""Topics of such a run whose ids are compared."""


def _few_judged_notes(run: GradedRun[BatchScores], source: Any, scorer: Scorer) -> list[Note]:
    """Return the note on a run with hardly a judged document, unless a few are judged and no change of ids helps."""
    judged, max_judged = sum(batch.judged for batch in run.batches), sum(batch.max_judged for batch in run.batches)
    if judged > FEW * max_judged or not any(batch.retrieved.any() for batch in run.batches):
        return []
    from gradedeval.kernel.rankings.near_matches import near_match  # few runs need it

    qrels, last = scorer.qrels, scorer.grader.last_rank
    depth = "" if last is None else f"down to rank {last} "
    few = "none" if not judged else f"only {judged:,}"
    text = f"{few} of its documents {depth}{'is' if judged < 2 else 'are'} judged in its topic"
    hint = "check that docnos match the qrels"
    topics = [topic for topic in run.topics if topic in qrels.row_of][:SAMPLE]
    docnos = _docnos_of(source, topics, scorer.grader)
    pairs = [
        (docnos[topic][:last], qrels.columns.docnos_of(qrels.row_of[topic])) for topic in topics if docnos.get(topic)
    ]
    if near := near_match(pairs, chunks=True):
        of = f"{near.of:,}" if len(topics) < SAMPLE else f"{near.of:,} in {len(pairs)} topics"
        verb = "is" if near.matching == 1 else "are"
        text, hint = f"{text}, but {near.text} of {of} {verb} {near.change}", near.cure
    elif judged:
        return []
    return [Note(text, hint, place=run.place, kind="none-judged")]


def _docnos_of(source: Any, topics: Sequence[bytes], grader: Grader) -> dict[bytes, list[bytes]]:
    """Return the docnos of some topics of a run in rank order; none of a run that can be read only once."""
    if isinstance(source, Iterator | GradedRun) or (is_file(source) and Source(source).is_read_once):
        return {}
    keeping = replace(grader, keep_docnos_for=frozenset(topics))

    def named(part: RunPart) -> PartResult[dict[bytes, list[bytes]]]:
        result = part.grade(keeping)
        kept = [
            {topic: batch.docnos_of(row).names() for row, topic in enumerate(batch.topics) if topic in wanted}
            for batch in result.batches
            if batch.docnos is not None
        ]
        return result.with_batches(kept)

    wanted, docnos = frozenset(topics), dict[bytes, list[bytes]]()
    for batch in map_run(named, source, keeping, Workers()).batches:
        docnos |= batch
    return docnos


def score_in_turn(
    runs: Sequence[tuple[str, Any]], scorer: Scorer, workers: Workers, by_topic: bool = True
) -> Iterator[tuple[int, RunResult]]:
    """Score runs one after the other in this process; yield the number and the result of each. A single run has a
    progress bar of its parts and scores by topic."""
    raise_malloc_threshold()
    is_single = len(runs) == 1
    alone, by_topic = Workers(progress=workers.progress if is_single else no_progress), by_topic or is_single
    for number, (name, source) in enumerate(runs):
        yield number, score_run(name, source, scorer, alone, by_topic=by_topic)


def score_and_keep(
    kept: dict[str, GradedRun[Batch]],
    runs: Sequence[tuple[str, Any]],
    scorer: Scorer,
    workers: Workers,
    by_topic: bool = True,
) -> Iterator[tuple[int, RunResult]]:
    """Score runs as `score_in_turn`, and keep the graded runs by name, with numbers of their documents."""
    from gradedeval.kernel.rankings.document_numbers import EVERY_TOPIC, DocumentNumbers

    raise_malloc_threshold()
    grader, documents = replace(scorer.grader, keep_docnos_for=EVERY_TOPIC, last_rank=None), DocumentNumbers()
    crew = workers if len(runs) == 1 else workers.silent()
    for number, (name, source) in enumerate(runs):
        try:
            run = grade_run(source, grader, crew, name)
        except InputError as error:
            yield number, RunResult(Source(source).place if is_file(source) else name, error=error)
            continue
        kept[name] = run.with_batches([batch.numbered(documents) for batch in run.batches])
        yield number, score_run(name, kept[name], scorer, by_topic=by_topic, original=source)


def summarized(run: RunScores, scorer: Scorer) -> RunSummary:
    """Summarize the scores of a run, with the few details that messages need."""
    kinds = [measure.definition.summary for measure in scorer.measures]
    parts = ["score", *(("residual", "unjudged") if scorer.options.wants_residuals else ())]
    parts += BOUNDS if scorer.options.bounds else ()
    none = np.empty((0, len(kinds)))
    included = run.included if scorer.skips_topics or scorer.options.max_residual is not None else none.astype(bool)
    empty = scorer.topics_without_relevant.items() if scorer.grades.top > 0 else ()
    return RunSummary(
        *(run.run, run.topics, run.missing, none, none, none, included, run.format, run.empty, None, None),
        {part: [run.summary(part, column, kind) for column, kind in enumerate(kinds)] for part in parts},
        run.counts,
        frozenset(column for topics, columns in empty for column in columns if run.is_zero(topics, column)),
    )


UNKNOWN_SIZE = 1 << 20
"""The assumed size in bytes of a run that is not a file on disk."""


def size_of(source: Any) -> int:
    """Return the size of a run in bytes; an estimate for anything but files on disk."""
    size = Source(source).size if is_file(source) else None
    return UNKNOWN_SIZE if size is None else size
