"""Topics without a relevant document, which score 0 whatever a run does."""

from __future__ import annotations

from collections.abc import Sequence

from gradedeval.errors import Note, shorten
from gradedeval.scoring.run_scores import RunScores
from gradedeval.scoring.scorer import Scorer


def relevance_notes(scorer: Scorer, runs: Sequence[RunScores]) -> list[str]:
    """A note for measures whose means count topics that have nothing relevant to them, as 0."""
    columns = scorer.without_relevant if scorer.grades.top > 0 else {}
    if not runs or not any(columns):
        return []
    counted = set().union(*{id(run.topics): run.topics for run in runs}.values())
    notes: list[str] = []
    for topics, of_topics in columns.items():
        here = [topic for topic in topics if topic in counted]
        zero = [scorer.measures[column].label for column in of_topics if runs[0].is_zero(here, column)]
        if here and zero:
            notes.append(_note(scorer, here, len(counted), zero if len(columns) > 1 else []))
    return notes


def _note(scorer: Scorer, topics: Sequence[str], counted: int, measures: Sequence[str]) -> Note:
    what = f"{len(topics)} of {counted} topics without a relevant document ({shorten(topics)})"
    what += f" for {', '.join(measures)}" if measures else ""
    rows = [scorer.topics.index(topic) for topic in topics]
    graded = scorer.qrels.pool[rows][:, scorer.qrels.labels > 0].any()
    hint = "" if graded else "use --topics relevant to leave them out"
    score = f"; {'it scores' if len(topics) == 1 else 'they score'} 0"
    return Note(f"{scorer.qrels.place}: {what}{score}", hint, kind="no-relevant")
