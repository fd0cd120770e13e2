"""The runs of an evaluation, read again: which of their documents nobody judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradedeval.analysis.unjudged import Numbering, Part, parts_of
from gradedeval.errors import InputError
from gradedeval.measures.bounds.of_measure import falls
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import EVERY_TOPIC, Batch
from gradedeval.scoring.run_parts import grade_run
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.scores import Scores
from gradedeval.trec.source import Source, is_file


class Reread:
    """Each run is read once more, when it is first asked for, with a number for each unjudged document."""

    @classmethod
    def of(cls, scores: Scores | None) -> Reread | None:
        """None where judging would not change the scores as it is told here: where they are saved ones, or were
        standardized since, and where the best case is that of the full ranking."""
        if scores is None or scores.transformations or not scores.sources:
            return None
        options = scores.options
        bounded = options.wants_residuals and options.residuals != "difference" and options.residual_depth == "cutoff"
        return cls(scores) if bounded else None

    def __init__(self, scores: Scores) -> None:
        self.scorer, self.sources = Scorer(scores.qrels, scores.measures, scores.options), scores.sources
        self.column = {label: column for column, label in enumerate(scores.labels)}
        self.numbering = Numbering()
        self.batches: dict[str, list[Batch]] = {}
        self.known: dict[tuple[str, tuple[str, ...]], list[Part] | None] = {}
        # What is relevant below the cutoff changes what scores are divided by.
        self.whole = any(map(falls, self.scorer.measures))

    def parts(self, run: str, topics: Sequence[str]) -> list[Part] | None:
        """These topics of a run; None where it cannot be read again."""
        key = (run, tuple(topics))
        if key not in self.known:
            try:
                self.known[key] = self._parts(run, topics)
            except InputError:
                self.known[key] = None
        return self.known[key]

    def _parts(self, run: str, topics: Sequence[str]) -> list[Part] | None:
        """Raises InputError where the run cannot be read."""
        source = self.sources.get(run)
        if source is None or (is_file(source) and Source(source).is_read_once):
            return None
        if run not in self.batches:
            grader = replace(self.scorer.grader, keep_docnos_for=EVERY_TOPIC)
            grader = replace(grader, last_rank=None) if self.whole else grader
            self.batches[run] = grade_run(source, grader, Workers()).batches
        parts = parts_of(self.batches[run], topics, self.scorer.grader.judged, self.numbering)
        return parts if {name for part in parts for name in part.names} == set(topics) else None
