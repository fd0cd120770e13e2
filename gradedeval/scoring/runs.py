"""A run -> its scores, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gradedeval.errors import InputError, Note
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.doubts import doubts, not_too_many
from gradedeval.scoring.run_parts import FileContents, GradedRun, map_run
from gradedeval.scoring.run_scores import RunScores
from gradedeval.scoring.scorer import BatchScores, Scorer
from gradedeval.trec.source import Source, is_file


@dataclass
class RunResult:
    """A run's scores, or why it has none. `place` is what messages call it, `tag` its sixth column."""

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
    found: FileContents[BatchScores] | None = None,
    names: Sequence[str] | None = None,
) -> RunResult:
    """The scores of a run, or the error in it.

    found  what the parts of its file gave, where that is known
    names  what notes call the measures; without it by their labels
    """
    try:
        run = map_run(scorer.score_part, source, scorer.grader, workers or Workers(), found)
        scores = scorer.merge(name, run.batches, run.topics, run.missing, run.format)
        notes = [*run.notes, *scorer.type_notes(run.place, run.batches), *_unjudged_note(run, scorer)]
        notes += doubts(run, scores, scorer, names)
        return RunResult(run.place, scores, run.tag, not_too_many(notes))
    except InputError as error:
        return RunResult(Source(source).place if is_file(source) else name, error=error)


def _unjudged_note(run: GradedRun[BatchScores], scorer: Scorer) -> list[Note]:
    """A note where none of the documents that measures look at is judged: as a rule docnos are written in two ways."""
    judged = {batch.judged for batch in run.batches if batch.judged is not None}
    last = scorer.grader.last_rank
    what = f"{run.place}: none of its documents {'' if last is None else f'down to rank {last} '}is judged in its topic"
    return [Note(what, "are docnos written as in the qrels?", kind="none-judged")] if judged == {False} else []
