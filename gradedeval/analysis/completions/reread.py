"""The runs of an evaluation, read again: which of their documents nobody judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

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
        standardized since, and as `of_runs` says."""
        if scores is None or scores.transformations or not scores.sources:
            return None
        return cls.of_runs(Scorer(scores.qrels, scores.measures, scores.options), scores.sources)

    @classmethod
    def of_runs(cls, scorer: Scorer, sources: Mapping[str, Any]) -> Reread | None:
        """None without residuals, where the best case is that of the full ranking, and where grades order ties."""
        options = scorer.options
        bounded = options.wants_residuals and options.bounded_by_residuals and options.residual_depth == "cutoff"
        return cls(scorer, sources) if bounded else None

    def __init__(self, scorer: Scorer, sources: Mapping[str, Any]) -> None:
        self.scorer, self.sources = scorer, sources
        self.column = {measure.label: column for column, measure in enumerate(scorer.measures)}
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
