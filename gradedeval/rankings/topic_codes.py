"""Topics as numbers, in order of appearance: of lines that stand together, or take turns by the thousand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradedeval.arrays import Ints
from gradedeval.parallel import workers
from gradedeval.parallel.workers import Limits
from gradedeval.rankings.docno_index import Index
from gradedeval.trec.swar import text_hashes
from gradedeval.trec.tokenizer import Lines


class TopicCodes:
    """The topics of some blocks; `names` are in order of appearance."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or workers.LIMITS
        self.names: list[bytes] = []
        self._number: dict[bytes, int] = {}
        self._rows: list[int] = []
        self._index: Index | None = None

    def topic_runs(self, lines: Lines) -> tuple[Ints, Ints]:
        """The number of the topic of each stretch of lines with one topic, and how many lines it has."""
        first = lines.topic_starts()
        size = np.diff(np.append(first, len(lines)))
        if len(first) > self._limits.topic_runs:
            return self._many(lines, first), size
        return self.numbers(lines.tokens(0, first)), size

    def numbers(self, names: list[bytes]) -> Ints:
        """The numbers of topics by name."""
        known, number = self.names, self._number
        numbers = []
        for name in names:
            if (code := number.setdefault(name, len(known))) == len(known):
                known.append(name)
            numbers.append(code)
        return np.array(numbers, dtype=np.int64)

    def rows(self, row: Mapping[bytes, int]) -> Ints:
        """The row of each topic among others, −1 where it is none of them."""
        self._rows += [row.get(name, -1) for name in self.names[len(self._rows) :]]
        return np.array(self._rows, dtype=np.int64)

    def _many(self, lines: Lines, first: Ints) -> Ints:
        """As `numbers`, with one look at each topic and not at each stretch of lines."""
        start, length, hashed = lines.start(0)[first], lines.length(0)[first], lines.hashes(0)[first]
        codes = np.full(len(first), -1, dtype=np.int64)
        known = len(self.names)
        while len(unknown := np.flatnonzero(codes < 0)):
            if self._index is None or len(self._index.start) < len(self.names):
                buffer, starts, lengths, hashes = text_hashes(self.names)
                one_topic = np.zeros(len(self.names), dtype=np.int32)
                self._index = Index(buffer, starts, lengths, one_topic, hashes, 1)
            hit, code = self._index.find(
                np.zeros(len(unknown), dtype=np.int64), lines.buffer, start[unknown], length[unknown], hashed[unknown]
            )
            codes[unknown[hit]] = code
            # Of several new topics with one hash, the first now, and the others when that one is known.
            left = np.flatnonzero(codes < 0)
            _, new = np.unique(hashed[left], return_index=True)
            self.numbers(lines.tokens(0, first[left[np.sort(new)]]))
        return self._by_appearance(codes, known)

    def _by_appearance(self, codes: Ints, known: int) -> Ints:
        """The numbers with those of new topics, from `known` on, in order of appearance."""
        if len(self.names) == known:
            return codes
        number, first = np.unique(codes, return_index=True)
        order = number[number >= known][np.argsort(first[number >= known])]
        if (order[1:] > order[:-1]).all():
            return codes
        self.names[known:] = [self.names[number] for number in order.tolist()]
        self._number = {name: number for number, name in enumerate(self.names)}
        self._index = None
        now = np.arange(len(self.names))
        now[order] = np.arange(known, len(self.names))
        return now[codes]
