"""A run in lists, of a dict, a DataFrame or the line reader: graded as one part."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.rankings.batch import Batch, Documents
from gradedeval.rankings.grade import Grader, PartResult
from gradedeval.rankings.run import Run, TopicResults
from gradedeval.trec.lines import encode


@dataclass(frozen=True, eq=False, repr=False)
class ListedTopics:
    """Topics of a run in lists; one that the run lacks has no documents."""

    run: Run
    topics: list[bytes]

    def grade(self, grader: Grader) -> PartResult[Batch]:
        return PartResult(list(grader.batches(self.documents(grader))), self.topics, tag=self.run.tag)

    def documents(self, grader: Grader) -> Documents:
        """The documents of these topics as columns, with the codes of their grades."""
        qrels, options = grader.qrels, grader.options
        rankings = [self.run.topics.get(topic) or TopicResults() for topic in self.topics]
        unjudged = len(qrels.labels)
        docnos: list[Any] = []
        codes: list[int] = []
        types = sorted({kind for ranking in rankings for kind in ranking.types})
        kind_of = {kind: number for number, kind in enumerate(types)}
        for topic, ranking in zip(self.topics, rankings, strict=True):
            if not ranking.docnos:
                continue  # the qrels become a dict when they are first asked for, which takes time and memory
            is_text = isinstance(ranking.docnos[0], str)
            judged: Any = qrels.text_codes if is_text else qrels.codes
            codes += map(judged.get(topic, {}).get, ranking.docnos, repeat(unjudged))
            docnos += ranking.docnos

        def docno(position: int) -> bytes:
            name = docnos[position]
            return encode(name) if isinstance(name, str) else name

        small = np.min_scalar_type(unjudged + 1)
        return Documents(
            self.topics,
            np.array([len(ranking.docnos) for ranking in rankings], dtype=np.int64),
            # Bytes are the quickest way from a list to an array.
            np.frombuffer(bytes(codes), np.uint8) if unjudged < 255 else np.array(codes, small),
            _concatenated([ranking.scores for ranking in rankings]) if options.order == "score" else None,
            _concatenated([ranking.ranks for ranking in rankings]) if options.ties == "rank" else None,
            docno,
            types,
            np.array([kind_of[kind] for ranking in rankings for kind in ranking.types], np.int64) if types else None,
        )


def _concatenated(columns: list[Any]) -> Floats:
    return np.concatenate([np.empty(0), *(np.asarray(column, dtype=np.float64) for column in columns)])
