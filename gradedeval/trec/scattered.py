"""Topics whose lines stand here and there in a run: gathered as columns, without their text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.gains import Ints
from gradedeval.trec.retrieved import Rows
from gradedeval.trec.source import temporary_faults
from gradedeval.trec.stream import Block, Stream

TOGETHER = 1 << 16
"""Documents that are worked on at once; more where one topic has more."""


class Scattered:
    """The documents of all blocks, about 35 bytes each; docnos are read from the stream when they are asked for."""

    def __init__(self, stream: Stream) -> None:
        self.topics: dict[bytes, int] = {}
        self._columns: dict[str, _Column] = {}
        self._text = _Text(stream)

    def add(self, block: Block, rows: Rows) -> None:
        """Take the documents of the next block."""
        self._text.add(block)
        number = [self.topics.setdefault(topic, len(self.topics)) for topic in rows.topics]
        columns = {
            "topic": np.array(number, dtype=np.int32)[rows.topic],
            "code": rows.code,
            "hashed": rows.hashed,
            "start": rows.start + (block.offset - block.begin),
            "length": rows.length.astype(np.int32),
            "score": rows.score,
            "rank": rows.rank,
        }
        for name, column in columns.items():
            if column is not None:
                self._columns.setdefault(name, _Column(column.dtype)).add(column)

    def parts(self) -> Iterator[Rows]:
        """Whole topics, some at a time."""
        columns = {name: column.all() for name, column in self._columns.items()}
        self._columns.clear()
        topic = columns.pop("topic")
        counts = np.bincount(topic, minlength=len(self.topics))
        order, ends, names = _by_topic(topic), np.cumsum(counts), list(self.topics)
        del topic
        first = 0
        while first < len(names):
            begin = int(ends[first] - counts[first])
            after = max(first + 1, int(np.searchsorted(ends, begin + TOGETHER, side="right")))
            own = order[begin : int(ends[after - 1])]
            part = {name: column[own] for name, column in columns.items()}
            yield Rows(
                names[first:after],
                np.repeat(np.arange(after - first), counts[first:after]),
                part["code"],
                part["hashed"],
                part["start"],
                part["length"],
                part.get("score"),
                part.get("rank"),
                self._text.token,
            )
            first = after


class _Column:
    """An array that grows in place: its parts and the whole are never in memory together."""

    def __init__(self, dtype: Any) -> None:
        self._values = np.empty(TOGETHER, dtype=dtype)
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
