"""Tokens of a buffer of bytes, thousands at a time, as 64-bit words: gathered, compared and hashed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Ints

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

Word = Callable[[int, Any], Words]
"""The eight bytes that begin so many bytes after the beginning of each token, the first of them lowest; of the tokens
in some rows. Not to be written to."""

TrailingBytes = Callable[[slice], tuple[Words, Words]]
"""The last nine bytes before the end of each token as two words: the first eight of them, and the last eight; of the
tokens in some rows."""

TAB, NEWLINE, RETURN, BLANK, HASH = 9, 10, 13, 32, 35

PAD = 64
"""Bytes of a buffer before and after its text, so that words may be read across the text's ends."""

NEAR = 32
"""Bytes of every token that are looked at, if there are none in it or not; beyond, only tokens that are so long."""

_HALF = np.uint64(32)
_ODD = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)  # multipliers of Weyl sequence and rrmxmx


def padded(size: int) -> Bytes:
    """A buffer for a text of `size` bytes, which begins at PAD."""
    return np.zeros(size + 2 * PAD, dtype=np.uint8)


def words_at(buffer: Bytes) -> Words:
    """Every position of the buffer as the little-endian word that begins there; nothing is copied."""
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
    """A 64-bit hash of each token. Its highest bits are good enough to choose a slot."""
    found = np.zeros(len(length), dtype=np.uint64)
    for at, rows, part in _parts(word, length):
        mixed = part >> _HALF  # the last bytes stand highest: alone, they would change but the highest bits
        mixed ^= part
        mixed *= np.uint64(pow(_ODD[0], at // 8 + 1, 1 << 64))
        if isinstance(rows, slice):
            found += mixed
        else:
            found[rows] += mixed
    found ^= found >> _HALF
    found *= np.uint64(_ODD[1])
    return found


def equal(words: Words, start: Ints, other_words: Words, other: Ints, length: Ints) -> Bools:
    """Whether tokens of one length are equal byte by byte, those at `start` and those at `other`."""
    same = np.ones(len(length), dtype=bool)
    for _, rows, part in _parts(lambda at, rows: words[start[rows] + at] ^ other_words[other[rows] + at], length):
        same[rows] &= part == 0
    return same


def text_hashes(tokens: list[bytes]) -> tuple[Bytes, Ints, Ints, Words]:
    """Tokens in a buffer: where each begins there, its length, and its hash."""
    text = b"".join(tokens)
    buffer = padded(len(text))
    buffer[PAD : PAD + len(text)] = np.frombuffer(text, dtype=np.uint8)
    length = np.array([len(token) for token in tokens], dtype=np.int64)
    start = PAD + np.cumsum(length) - length
    return buffer, start, length, hashes(gather(words_at(buffer), start), length)


def run_starts(word: Word, length: NDArray[Any]) -> Ints:
    """The positions of tokens that differ from the one before; the first is always among them."""
    changed: Bools = length[1:] != length[:-1]
    for _, rows, part in _parts(word, length):
        if isinstance(rows, slice):
            changed |= part[1:] != part[:-1]
        else:  # a token is like the one before only if that is so long, too
            after = np.flatnonzero(rows[1:] - rows[:-1] == 1) + 1
            changed[rows[after] - 1] |= part[after] != part[after - 1]
    return np.append(0, np.flatnonzero(changed) + 1)


def _parts(word: Word, length: NDArray[Any]) -> Iterator[tuple[int, Any, Words]]:
    """The words of tokens, eight bytes after eight: how many bytes came before, which tokens, and their next bytes.

    The bytes behind a token's end are shifted out: what is left stands highest, with zeros below, which no text holds.
    A single long token costs only itself.
    """
    longest = int(length.max(initial=0))
    shortest = int(length.min(initial=longest))
    rows: Any = slice(None)
    for at in range(0, longest, 8):
        if at >= NEAR:
            rows = np.flatnonzero(length > at) if at == NEAR else rows[length[rows] > at]
        part = word(at, rows)
        if longest == shortest:
            if at + 8 > longest:
                part = part << np.uint64(8 * (at + 8 - longest))
        elif at + 8 > shortest:
            part = part << (8 * (at + 8 - np.clip(length[rows], at, at + 8))).astype(np.uint64)
        yield at, rows, part
