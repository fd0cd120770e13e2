"""Topics whose lines stand here and there in a run: gathered as columns, without their text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Ints
from gradedeval.rankings.run_columns import Rows
from gradedeval.rankings.topic_codes import TopicCodes
from gradedeval.trec.source import temporary_faults
from gradedeval.trec.stream import Stream
from gradedeval.trec.topic_blocks import Block

TOGETHER = 1 << 16
"""Documents that are worked on at once; more where one topic has more."""


@dataclass(frozen=True, eq=False)
class Listed:
    """What is kept of a block.

    topics   the topics of this block, and of others before it
    columns  documents as listed; `topic` among them is the number of each one's topic
    size     how many bytes the block had
    """

    topics: list[bytes]
    columns: dict[str, NDArray[Any]]
    size: int

    @classmethod
    def of(cls, block: Block, rows: Rows, topics: list[bytes]) -> Listed:
        columns = {
            "topic": rows.topic_of.astype(np.int32),
            "code": rows.code,
            "hashed": rows.hashed,
            "start": rows.start + (block.offset - block.begin),
            "length": rows.length.astype(np.int32),
            "score": rows.score,
            "rank": rows.rank,
        }
        kept = {name: column for name, column in columns.items() if column is not None}
        return cls(topics, kept, block.end - block.begin)


class InterleavedTopics:
    """The documents of all blocks, about 35 bytes each; docnos are read from the stream when they are asked for."""

    def __init__(self, stream: Stream) -> None:
        self.topics = TopicCodes()
        self._columns: dict[str, _Column] = {}
        self._text = _Text(stream)
        file = stream.file
        self._size = file.end - file.at if file is not None else 0

    def keep_text(self, block: Block) -> None:
        """Take the text of the next block, where the stream has it no more."""
        self._text.add(block)

    def add(self, listed: Listed) -> None:
        """Take the documents of the next block."""
        if listed.topics is not self.topics.names:  # numbers of another process
            number = self.topics.numbers(listed.topics).astype(np.int32)
            listed.columns["topic"] = number[listed.columns["topic"]]
        expected = len(listed.columns["topic"]) * self._size // max(listed.size, 1)
        for name, column in listed.columns.items():
            self._columns.setdefault(name, _Column(column.dtype, expected)).add(column)

    def parts(self) -> Parts:
        """All that was taken, topic after topic. It is not here any more."""
        columns = {name: column.all() for name, column in self._columns.items()}
        self._columns.clear()
        return Parts(self.topics.names, columns, self._text.token)


class Parts:
    """Documents by topic, in parts of whole topics."""

    def __init__(
        self, names: list[bytes], columns: dict[str, NDArray[Any]], token: Callable[[int, int], bytes]
    ) -> None:
        topic = columns.pop("topic")
        counts = np.bincount(topic, minlength=len(names))
        self._names, self._columns, self._token = names, columns, token
        self._order = _by_topic(topic)
        self._present = np.flatnonzero(counts)
        self._ends = np.append(0, np.cumsum(counts[self._present]))
        self._firsts = [0]  # of the topics of each part, and the end
        while self._firsts[-1] < len(self._present):
            full = int(np.searchsorted(self._ends, self._ends[self._firsts[-1]] + TOGETHER, side="right")) - 1
            self._firsts.append(max(self._firsts[-1] + 1, full))

    def __len__(self) -> int:
        return len(self._firsts) - 1

    def __getitem__(self, number: int) -> Rows:
        """The documents of a part, topic after topic."""
        first, after = self._firsts[number : number + 2]
        own = self._order[self._ends[first] : self._ends[after]]
        part = {name: column[own] for name, column in self._columns.items()}
        return Rows(
            [self._names[topic] for topic in self._present[first:after].tolist()],
            np.arange(after - first),
            np.diff(self._ends[first : after + 1]),
            part["code"],
            part["hashed"],
            part["start"],
            part["length"],
            part.get("score"),
            part.get("rank"),
            self._token,
        )


class _Column:
    """An array that grows in place: its parts and the whole are never in memory together."""

    def __init__(self, dtype: Any, expected: int) -> None:
        self._values = np.empty(max(TOGETHER, expected + expected // 32), dtype=dtype)
        self._size = 0

    def add(self, more: NDArray[Any]) -> None:
        end = self._size + len(more)
        if end > len(self._values):
            self._values.resize(end + end // 8, refcheck=False)
        self._values[self._size : end] = more
        self._size = end

    def all(self) -> NDArray[Any]:
        return self._values[: self._size]


def _by_topic(topic: NDArray[Any]) -> Ints:
    """The positions of each topic's documents, as listed. numpy sorts integers of 16 bits by radix."""
    order = np.argsort(topic.astype(np.uint16), kind="stable")
    high = topic >> 16
    return order[np.argsort(high[order].astype(np.uint16), kind="stable")] if high.any() else order


class _Text:
    """The text of a stream at any place: of the file itself, or of a temporary one where it was packed or a pipe."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._file = stream, None
        if not stream.plain:
            from tempfile import TemporaryFile

            self._file = TemporaryFile()  # noqa: SIM115

    def add(self, block: Block) -> None:
        if self._file is not None:
            with temporary_faults():
                self._file.write(memoryview(block.buffer)[block.begin : block.end])  # type: ignore[arg-type]

    def token(self, start: int, length: int) -> bytes:
        if self._file is None:
            return self._stream.token(start, length)
        self._file.seek(start)
        return self._file.read(length)
