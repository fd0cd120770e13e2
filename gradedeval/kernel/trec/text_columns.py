"""Columns of text: a buffer, and where in it each value stands. No string is made of a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.kernel.trec.lines import decode
from gradedeval.kernel.trec.tokenizer import PAD, Bytes, Words, gather, hashes, padded, run_starts, tokens


@dataclass(eq=False, repr=False)
class Text:
    """A column of ids: a buffer, and where in it each begins, and how long it is."""

    buffer: Bytes
    start: Ints
    length: Ints

    def __getitem__(self, rows: slice) -> Text:
        return Text(self.buffer, self.start[rows], self.length[rows])

    def tolist(self) -> list[str]:
        """The ids themselves."""
        return list(map(decode, tokens(self.buffer, self.start, self.start + self.length)))

    def stretches(self) -> tuple[list[bytes], Ints]:
        """The id of each stretch of rows with one id, and how many rows it has."""
        first = run_starts(gather(self.buffer, self.start, self.length), self.length)
        begin, bounds = self.start[first], np.append(first, len(self.start))
        return tokens(self.buffer, begin, begin + self.length[first]), bounds[1:] - bounds[:-1]

    def hashes(self) -> Words:
        """rows: the hash of the id."""
        return hashes(gather(self.buffer, self.start, self.length), self.length)


def held_in_arrow(values: Any) -> Text | Floats | None:
    """A column of Arrow as text or as numbers; None where it holds anything else, or a value is missing or empty."""
    text = text_of_arrow(values)
    return numbers_of_arrow(values) if text is None else text


def text_of_arrow(values: Any) -> Text | None:
    """A column of Arrow as text; None where it holds anything else, or a value is missing or empty."""
    values = _in_one_piece(values)
    wide = {"string": np.int32, "large_string": np.int64}.get(str(values.type))
    if wide is None or not hasattr(values, "buffers") or values.null_count or not len(values):
        return None
    _, offsets, data = values.buffers()
    end = np.frombuffer(offsets, wide)[values.offset : values.offset + len(values) + 1].astype(np.int64, copy=False)
    length = end[1:] - end[:-1]
    if not length.all():
        return None
    size = int(end[-1] - end[0])
    buffer = padded(size)
    buffer[PAD : PAD + size] = np.frombuffer(data, np.uint8)[end[0] : end[-1]]
    return Text(buffer, end[:-1] + (PAD - end[0]), length)


def _in_one_piece(values: Any) -> Any:
    """A column of Arrow as one array, which most columns hold alone."""
    if not hasattr(values, "combine_chunks"):
        return values
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


_NUMBERS = {
    **{f"{kind}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "float": "float32",
    "double": "float64",
}


def numbers_of_arrow(values: Any) -> Floats | None:
    """A column of Arrow as numbers; None where it holds anything else, or a value is missing. Arrow itself would import
    pandas first."""
    values = _in_one_piece(values)
    kind = _NUMBERS.get(str(values.type))
    if kind is None or not hasattr(values, "buffers") or values.null_count or not len(values):
        return None
    held = np.frombuffer(values.buffers()[1], kind)[values.offset : values.offset + len(values)]
    return held.astype(np.float64)
