"""Tokens of a buffer of bytes, thousands at a time, as 64-bit words: gathered, compared and hashed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.gains import Bools, Ints

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

PAD = 32
"""Bytes of a buffer before and after its text, so that a word may be read across the text's ends."""

_HALF = np.uint64(32)
_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))  # multipliers of Weyl sequence and rrmxmx


def padded(size: int) -> Bytes:
    """A buffer for a text of `size` bytes, which begins at PAD."""
    return np.zeros(size + 2 * PAD, dtype=np.uint8)


def words_at(buffer: Bytes) -> Words:
    """Every position of the buffer as the little-endian word that begins there; nothing is copied."""
    return np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer.data, strides=(1,))


def last_word(words: Words, end: Ints, length: Ints) -> Words:
    """The last eight bytes of each token, its last byte highest; shorter tokens have zeros below."""
    word: Words = words[end - 8]
    shortest = int(length.min(initial=8))
    if shortest == 8:
        return word
    # What stands before the token is shifted out, then the token back to the top. No text holds a zero byte.
    alike = int(length.max()) == shortest
    before: Any = np.uint64(64 - 8 * shortest) if alike else (64 - 8 * np.minimum(length, 8)).astype(np.uint64)
    word >>= before
    word <<= before
    return word


def hashes(words: Words, start: Ints, end: Ints) -> Words:
    """A 64-bit hash of each token. Its highest bits are good enough to choose a slot."""
    length = end - start
    found = last_word(words, end, length)
    found += length.astype(np.uint64)
    found *= _ODD[0]
    for at, rows in _longer(length):
        # The last eight bytes are in already, and may overlap the word before them.
        if isinstance(rows, slice):
            found ^= found >> _HALF
            found += words[start + at]
            found *= _ODD[1]
        else:
            part = found[rows]
            part ^= part >> _HALF
            found[rows] = (part + words[start[rows] + at]) * _ODD[1]
    found ^= found >> _HALF
    found *= _ODD[1]
    return found


def equal(words: Words, start: Ints, other_words: Words, other: Ints, length: Ints) -> Bools:
    """Whether tokens of one length are equal byte by byte, those at `start` and those at `other`."""
    same: Bools = last_word(words, start + length, length) == last_word(other_words, other + length, length)
    for at, rows in _longer(length):
        same[rows] &= words[start[rows] + at] == other_words[other[rows] + at]
    return same


def changes(words: Words, start: Ints, end: Ints) -> Ints:
    """The positions of tokens that differ from the one before; the first is always among them."""
    length = end - start
    word = last_word(words, end, length)
    changed = word[1:] != word[:-1]
    if len(length) and length.max() > 8:
        changed |= length[1:] != length[:-1]
        rows = np.flatnonzero(~changed)
        changed[rows] = ~equal(words, start[rows], words, start[rows + 1], length[rows])
    return np.append(0, np.flatnonzero(changed) + 1)


def _longer(length: Ints) -> Any:
    """Offsets 0, 8, 16, … with the rows whose token goes on for more than eight bytes after them: all as one slice, or
    their numbers. A single long token costs only itself."""
    longest = int(length.max(initial=0))
    shortest = int(length.min(initial=longest))
    rows: Any = slice(None)
    for at in range(0, longest - 8, 8):
        if shortest <= at + 8:
            rows = np.flatnonzero(length > at + 8) if isinstance(rows, slice) else rows[length[rows] > at + 8]
        yield at, rows
