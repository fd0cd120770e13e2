"""Tokens of a buffer compared and hashed eight bytes at a time: SWAR (SIMD within a register) in NumPy words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Ints

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

Word = Callable[[Any, Any], Words]
"""(offset, rows) -> the eight bytes at an offset of each token in these rows, little-endian. Read-only."""

TrailingBytes = Callable[[slice], tuple[Words, Words]]
"""rows -> the last nine bytes of each token in these rows, as two words: their first eight and their last eight."""

TAB, NEWLINE, RETURN, SPACE, QUOTE, HASH, COMMA = 9, 10, 13, 32, 34, 35, 44

PAD = 64
"""Bytes of a buffer before and after its text, so that words can be read across both ends of the text."""

NEAR = 32
"""Up to this many bytes all tokens are processed, whatever their length; beyond, only the longer ones."""

FAR = 512
"""Bytes that a token is longer than others before it is processed by itself: a call for each eight bytes would take
seconds for a megabyte."""

_HALF = np.uint64(32)
_ODD = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)  # multipliers of a Weyl sequence and of rrmxmx


def padded(size: int) -> Bytes:
    """A buffer for a text of `size` bytes, which begins at PAD; zeros around it."""
    buffer = np.empty(size + 2 * PAD, dtype=np.uint8)
    buffer[:PAD] = 0
    buffer[PAD + size :] = 0
    return buffer


def words_at(buffer: Bytes) -> Words:
    """A view of the buffer: at every position the little-endian word that begins there."""
    return np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer.data, strides=(1,))


def tokens(buffer: Bytes, start: Ints, end: Ints) -> list[bytes]:
    """The tokens that begin and end at these positions."""
    view = memoryview(buffer)  # type: ignore[arg-type]
    return [bytes(view[begin:stop]) for begin, stop in zip(start.tolist(), end.tolist(), strict=True)]


def gather(words: Words, start: Ints) -> Word:
    """The words of tokens that begin at these positions."""
    return lambda at, rows: words[start[rows] + at]


def gather_trailing(buffer: Bytes, end: Ints) -> TrailingBytes:
    """The last bytes of tokens that end at these positions."""
    sixteen = np.ndarray((len(buffer) - 15,), "V16", buffer.data, strides=(1,))

    def nine(rows: slice) -> tuple[Words, Words]:
        pairs = sixteen[end[rows] - 16].view("<u8")
        before = pairs[::2] >> np.uint64(56)
        before |= pairs[1::2] << np.uint64(8)
        return before, pairs[1::2]

    return nine


def hashes(word: Word, length: NDArray[Any]) -> Words:
    """A 64-bit hash of each token, whose highest bits can choose a slot."""
    hashed = np.zeros(len(length), dtype=np.uint64)
    for at, rows, part in _parts(word, length):
        mixed = part >> _HALF  # the last bytes are highest: unmixed, they would change only the highest bits
        mixed ^= part
        if isinstance(rows, int):
            mixed *= _powers(int(at[-1] // 8).bit_length())[at[0] // 8 : at[-1] // 8 + 1]
            hashed[rows : rows + 1] += mixed.sum()
            continue
        mixed *= np.uint64(pow(_ODD[0], at // 8 + 1, 1 << 64))
        if isinstance(rows, slice):
            hashed += mixed
        else:
            hashed[rows] += mixed
    hashed ^= hashed >> _HALF
    hashed *= np.uint64(_ODD[1])
    return hashed


def equal(words: Words, start: Ints, other_words: Words, other: Ints, length: Ints) -> Bools:
    """Whether the tokens at `start` and those at `other`, of equal lengths, are equal byte by byte."""
    same = np.ones(len(length), dtype=bool)
    for _, rows, part in _parts(lambda at, rows: words[start[rows] + at] ^ other_words[other[rows] + at], length):
        same[rows] &= not part.any() if isinstance(rows, int) else part == 0
    return same


def text_hashes(tokens: list[bytes]) -> tuple[Bytes, Ints, Ints, Words]:
    """Tokens written to a buffer: the buffer, and the start, length and hash of each."""
    text = b"".join(tokens)
    buffer = padded(len(text))
    buffer[PAD : PAD + len(text)] = np.frombuffer(text, dtype=np.uint8)
    length = np.array([len(token) for token in tokens], dtype=np.int64)
    start = PAD + np.cumsum(length) - length
    return buffer, start, length, hashes(gather(words_at(buffer), start), length)


def run_starts(word: Word, length: NDArray[Any]) -> Ints:
    """The positions of the tokens that differ from the one before; the first is one of them."""
    changed: Bools = length[1:] != length[:-1]
    before: tuple[int, Any] = -2, None
    for _, rows, part in _parts(word, length):
        if isinstance(rows, slice):
            changed |= part[1:] != part[:-1]
        elif isinstance(rows, int):
            if before[0] == rows - 1 and not np.array_equal(before[1], part):
                changed[rows - 1] = True
            before = rows, part
        else:  # the rows before must be equally long to be equal
            after = np.flatnonzero(rows[1:] - rows[:-1] == 1) + 1
            changed[rows[after] - 1] |= part[after] != part[after - 1]
    return np.append(0, np.flatnonzero(changed) + 1)


@cache
def _powers(bits: int) -> Words:
    """The first 2**bits powers of the multiplier, from itself on."""
    return np.multiply.accumulate(np.full(1 << bits, _ODD[0], dtype=np.uint64))


def _parts(word: Word, length: NDArray[Any]) -> Iterator[tuple[Any, Any, Words]]:
    """The tokens eight bytes at a time: offset, rows that are that long, and their words. Where few tokens are left
    that are much longer, each of these to its end: offsets, its row, and the words there.

    Bytes behind the end of a token are shifted out: the others are highest, with zeros below, which no text contains.
    """
    longest = int(length.max(initial=0))
    shortest = int(length.min(initial=longest))
    rows: Any = slice(None)
    for at in range(0, longest, 8):
        if at >= NEAR:
            rows = np.flatnonzero(length > at) if at == NEAR else rows[length[rows] > at]
            if longest - at > max(FAR, 8 * len(rows)):
                break
        part = word(at, rows)
        if longest == shortest:
            if at + 8 > longest:
                part = part << np.uint64(8 * (at + 8 - longest))
        elif at + 8 > shortest:
            part = part << (8 * (at + 8 - np.clip(length[rows], at, at + 8))).astype(np.uint64)
        yield at, rows, part
    else:
        return
    for row in rows.tolist():
        end = int(length[row])
        offsets = np.arange(at, end, 8)
        part = word(offsets, row)
        part[-1] <<= np.uint64(8 * (offsets[-1] + 8 - end))
        yield offsets, row, part
