"""A run in a DataFrame whose text Arrow holds: it goes the way of a file's block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.options import Options
from gradedeval.rankings.arrow_columns import Text, id_columns, numeric_column
from gradedeval.rankings.batch import Batch
from gradedeval.rankings.frames import held
from gradedeval.rankings.grade import Grader, PartResult
from gradedeval.rankings.listing import NOT_LOOKED, Listing, listing_of_frame
from gradedeval.rankings.run_columns import Rows, grade_whole_topics
from gradedeval.rankings.topic_codes import TopicCodes
from gradedeval.trec.column_names import SCORE, find_column


@dataclass(frozen=True, eq=False, repr=False)
class ArrowRun:
    """A run as columns; the one part of itself. It has scores where they order the documents."""

    topic: Text
    docno: Text
    score: Floats | None
    listing: Listing

    def grade(self, grader: Grader) -> PartResult[Batch]:
        """Raises NeedsLineReader where repeated documents are an error."""
        unjudged, topics, (names, size) = len(grader.qrels.labels), TopicCodes(grader.limits), self.topic.stretches()
        rows = Rows(
            topics.names,
            topics.numbers(names),
            size,
            np.full(len(self.docno.start), unjudged, dtype=np.min_scalar_type(unjudged + 1)),
            self.docno.hashes(),
            self.docno.start,
            self.docno.length,
            self.score,
            None,
            lambda start, length: self.docno.buffer[start : start + length].tobytes(),
            buffer=self.docno.buffer,
            listing=self.listing,
        )
        return grade_whole_topics(rows, topics, grader)


def arrow_run(source: Any, options: Options) -> ArrowRun | None:
    """The columns of a run in a DataFrame; None of any other, and where ranks order it."""
    if (ids := id_columns(source, "run")) is None or find_column(source.columns, SCORE) is None:
        return None
    if options.order == "file":
        return ArrowRun(*ids, None, NOT_LOOKED)
    by_rank = options.ties == "rank" or options.order == "rank"
    score = None if by_rank else numeric_column(held(source, SCORE, "run"))
    return None if score is None else ArrowRun(*ids, score, listing_of_frame(source))
