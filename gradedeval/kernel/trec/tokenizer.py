"""Find the fields in blocks of whole lines, thousands of lines at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.kernel.trec.lines import LineLayout, NeedsLineReader, encode

# Tokens of a buffer compared and hashed eight bytes at a time: SWAR (SIMD within a register) in NumPy words.

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
"""Bytes processed for all tokens, whatever their length; beyond them, only longer tokens are."""

FAR = 512
"""Bytes by which a token must exceed others to be processed separately: a call for each eight bytes would take seconds
for a megabyte."""

_HALF, _LOW = np.uint64(32), np.uint64(2**32 - 1)
_BEHIND = np.arange(64, -1, -8).astype(np.uint64)  # bits of a word after the first n bytes of a token
_ODD = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)  # multipliers of a Weyl sequence and of rrmxmx


def padded(size: int) -> Bytes:
    """Return a buffer for a text of `size` bytes, which begins at PAD, surrounded by zeros."""
    buffer = np.empty(size + 2 * PAD, dtype=np.uint8)
    buffer[:PAD] = 0
    buffer[PAD + size :] = 0
    return buffer


def words_at(buffer: Bytes) -> Words:
    """Return a view of the buffer: at every position the little-endian word that begins there."""
    return np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer.data, strides=(1,))


def tokens(buffer: Bytes, start: Ints, end: Ints) -> list[bytes]:
    """Return the tokens with these starts and ends."""
    view = memoryview(buffer)  # type: ignore[arg-type]
    return [view[begin:stop].tobytes() for begin, stop in zip(start.tolist(), end.tolist(), strict=True)]


def gather(buffer: Bytes, start: Ints, length: NDArray[Any]) -> Word:
    """Return the words of tokens with these starts. If all have at most NEAR bytes, they are copied in one step, which
    costs less than a step for every word, and the words are views of the copy."""
    longest = int(length.max(initial=0))
    if longest > NEAR:
        words = words_at(buffer)
        return lambda offset, rows: words[start[rows] + offset]
    width = 8 * max(1, -(-longest // 8))
    whole = np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer.data, strides=(1,))[start]
    columns: Words = whole.view("<u8").reshape(len(start), width // 8)
    return lambda offset, rows: columns[rows, offset // 8]


def gather_trailing(buffer: Bytes, end: Ints) -> TrailingBytes:
    """Return the last bytes of tokens with these ends."""
    sixteen = np.ndarray((len(buffer) - 15,), "V16", buffer.data, strides=(1,))

    def nine(rows: slice) -> tuple[Words, Words]:
        pairs = sixteen[end[rows] - 16].view("<u8")
        first = pairs[::2] >> np.uint64(56)
        first |= pairs[1::2] << np.uint64(8)
        return first, pairs[1::2]

    return nine


def hashes(word: Word, length: NDArray[Any]) -> Words:
    """Return a 64-bit hash of each token, whose highest bits can choose a slot."""
    hashed = np.zeros(len(length), dtype=np.uint64)
    for offset, rows, part in _parts(word, length):
        mixed = part >> _HALF  # the last bytes are highest: unmixed, they would change only the highest bits
        mixed ^= part
        if isinstance(rows, int):
            mixed *= _powers(int(offset[-1] // 8).bit_length())[offset[0] // 8 : offset[-1] // 8 + 1]
            hashed[rows : rows + 1] += mixed.sum()
            continue
        mixed *= np.uint64(pow(_ODD[0], offset // 8 + 1, 1 << 64))
        if isinstance(rows, slice):
            hashed += mixed
        else:
            hashed[rows] += mixed
    hashed ^= hashed >> _HALF  # the highest bits depend on all others
    hashed *= np.uint64(_ODD[1])
    return hashed


def keyed_hashes(word: Word, length: NDArray[Any], secret: bytes) -> Words:
    """Return a 64-bit hash of each token as `hashes`, but without the secret nobody can find collisions.

    Each half of a word is multiplied by its own random factor of 64 bits: with one factor for a whole word, tokens that
    differ only in the highest bits of words would collide whatever the factors are.
    """
    from hashlib import shake_128  # few files need it

    words = -(-int(length.max(initial=0)) // 8)
    low, high = np.frombuffer(shake_128(secret).digest(16 * words), "<u8").reshape(words, 2).T
    hashed = np.zeros(len(length), dtype=np.uint64)
    for offset, rows, part in _parts(word, length):
        mixed = (part & _LOW) * low[offset // 8]
        mixed += (part >> _HALF) * high[offset // 8]
        if isinstance(rows, int):
            hashed[rows : rows + 1] += mixed.sum()
        else:
            hashed[rows] += mixed
    hashed ^= hashed >> _HALF
    hashed *= np.uint64(_ODD[1])
    return hashed


def equal(words: Words, start: Ints, other_words: Words, other_start: Ints, length: Ints) -> Bools:
    """Return whether pairs of tokens of equal lengths are equal byte by byte."""
    same = np.ones(len(length), dtype=bool)
    for _, rows, part in _parts(
        lambda offset, rows: words[start[rows] + offset] ^ other_words[other_start[rows] + offset], length
    ):
        same[rows] &= not part.any() if isinstance(rows, int) else part == 0
    return same


def text_of(tokens: list[bytes] | list[str]) -> tuple[Bytes, Ints, Ints]:
    """Write tokens to a buffer; return the buffer, and the start and length of each."""
    if tokens and isinstance(tokens[0], str):
        words = tokens
        # In ASCII a character is a byte.
        tokens = words if (joined := "".join(words)).isascii() else list(map(encode, words))
        text = joined.encode() if tokens is words else b"".join(cast("list[bytes]", tokens))
    else:
        text = b"".join(cast("list[bytes]", tokens))
    buffer = padded(len(text))
    buffer[PAD : PAD + len(text)] = np.frombuffer(text, dtype=np.uint8)
    length = np.fromiter(map(len, tokens), np.int64, len(tokens))
    return buffer, PAD + np.cumsum(length) - length, length


def text_hashes(tokens: list[bytes] | list[str]) -> tuple[Bytes, Ints, Ints, Words]:
    """Return the same as `text_of`, and the hash of each token."""
    buffer, start, length = text_of(tokens)
    return buffer, start, length, hashes(gather(buffer, start, length), length)


def run_starts(word: Word, length: NDArray[Any]) -> Ints:
    """Return the positions of the tokens that differ from the preceding one, and of the first."""
    changed: Bools = length[1:] != length[:-1]
    previous: tuple[int, Any] = -2, None
    for _, rows, part in _parts(word, length):
        if isinstance(rows, slice):
            changed |= part[1:] != part[:-1]
        elif isinstance(rows, int):
            if previous[0] == rows - 1 and not np.array_equal(previous[1], part):
                changed[rows - 1] = True
            previous = rows, part
        else:  # both rows of a pair of equal length are here, or neither
            adjacent = np.flatnonzero(rows[1:] - rows[:-1] == 1) + 1
            changed[rows[adjacent] - 1] |= part[adjacent] != part[adjacent - 1]
    return np.append(0, np.flatnonzero(changed) + 1)


@cache
def _powers(bits: int) -> Words:
    """Return the first 2**bits powers of the multiplier, starting with itself."""
    return np.multiply.accumulate(np.full(1 << bits, _ODD[0], dtype=np.uint64))


def _parts(word: Word, length: NDArray[Any]) -> Iterator[tuple[Any, Any, Words]]:
    """Yield the tokens eight bytes at a time: offset, rows that are that long, and their words. If only a few much
    longer tokens remain, yield each up to its end: offsets, its row, and the words there.

    Bytes after the end of a token are shifted out: the others are highest, with zeros below, which no text contains.
    """
    longest = int(length.max(initial=0))
    shortest = int(length.min(initial=longest))
    rows: Any = slice(None)
    for offset in range(0, longest, 8):
        if offset >= NEAR:
            rows = np.flatnonzero(length > offset) if offset == NEAR else rows[length[rows] > offset]
            if longest - offset > max(FAR, 8 * len(rows)):
                break
        part = word(offset, rows)
        if longest == shortest:
            if offset + 8 > longest:
                part = part << np.uint64(8 * (offset + 8 - longest))
        elif offset + 8 > shortest:
            inside = length[rows] if offset == 0 else np.maximum(length[rows], offset) - offset
            part = part << _BEHIND.take(inside, mode="clip")
        yield offset, rows, part
    else:
        return
    for row in rows.tolist():
        end = int(length[row])
        offsets = np.arange(offset, end, 8)
        part = word(offsets, row)
        part[-1] <<= np.uint64(8 * (offsets[-1] + 8 - end))
        yield offsets, row, part


ALL = slice(None)


class Lines(Protocol):
    """The fields of the lines of a block, without comments and blank lines. Positions refer to `buffer`, which has PAD
    bytes before and after the text; fields are counted from 0."""

    buffer: Bytes

    def __len__(self) -> int: ...

    def start(self, column: int, rows: Ints | slice = ALL) -> Ints:
        """Return the start of a field in each line, or in these."""

    def end(self, column: int, rows: Ints | slice = ALL) -> Ints:
        """Return the end of a field in each line, or in these."""

    def length(self, column: int) -> NDArray[Any]:
        """Return the bytes of a field in each line."""
        return self.end(column) - self.start(column)

    def word(self, column: int) -> Word:
        """Return the words of a field."""
        return gather(self.buffer, self.start(column), self.length(column))

    def trailing_bytes(self, column: int) -> TrailingBytes:
        """Return the last bytes of a field."""
        return gather_trailing(self.buffer, self.end(column))

    def tokens(self, column: int, rows: Ints) -> list[bytes]:
        """Return a field of some lines."""
        return tokens(self.buffer, self.start(column, rows), self.end(column, rows))

    def numbers(self, column: int) -> Floats:
        """Return a field as numbers. Raises NeedsLineReader if one is not a plain decimal."""
        try:
            return decimals(self.buffer, self.end(column), self.length(column), self.trailing_bytes(column))
        except ValueError:
            raise NeedsLineReader from None

    def sort_keys(self, column: int) -> Floats | Ints:
        """Return numbers that order lines as a field does: its digits if all have the same format, which is cheaper, or
        else its values. Raises NeedsLineReader if one is not a plain decimal."""
        end, length, trailing_bytes = self.end(column), self.length(column), self.trailing_bytes(column)
        values, after = np.empty(len(end), dtype=np.int64), _after_dot(self.buffer, end, length)
        for i in range(0, len(end), ROWS):
            rows = slice(i, i + ROWS)
            word = _uniform_digits(length[rows], *trailing_bytes(rows), after)
            if word is None:
                return self.numbers(column)
            values[rows] = word.byteswap(inplace=True)  # the first digit highest
        return values

    def hashes(self, column: int) -> Words:
        """Return a hash of a field in each line."""
        return hashes(self.word(column), self.length(column))

    def joined(self, width: int, separator: int) -> Bytes:
        """Return the text of the lines, which have `width` fields, with one byte between fields and nothing else."""
        bounds = [self.start, self.end]
        starts, ends = (np.stack([bound(column) for column in range(width)], axis=1).ravel() for bound in bounds)
        begin, end = (int(starts[0]), int(ends[-1]) + 1) if len(self) else (0, 0)
        change = np.zeros(end - begin + 1, dtype=np.int8)
        change[starts - begin] = 1
        change[ends + 1 - begin] -= 1  # the byte after a field is a separator
        text = self.buffer[begin:end][change.cumsum(dtype=np.int8)[:-1] > 0]
        behind = np.cumsum(ends - starts + 1) - 1
        text[behind] = separator
        text[behind[width - 1 :: width]] = NEWLINE
        return text


# Fields of short lines by SWAR: one bit for each byte of a line, so that a few steps find all fields.

FIRST = 128
"""Number of first bytes of a block that indicate tabs and the length of lines."""

Within = NDArray[np.uint8]
"""lines: a position within the line."""


@dataclass(eq=False, repr=False)
class ShortLines(Lines):
    """Lines of at most 62 bytes.

    buffer  the bytes of the block
    rows    lines × bytes: each line, and the text after it
    line    the start of each line in the buffer
    begins  index of a field -> its start within each line
    ends    index of a field -> its end
    """

    buffer: Bytes
    rows: Bytes
    line: Ints
    begins: list[Within]
    ends: list[Within]

    def __len__(self) -> int:
        return len(self.line)

    def start(self, column: int, rows: Ints | slice = ALL) -> Ints:
        return self.line[rows] + self.begins[column][rows]

    def end(self, column: int, rows: Ints | slice = ALL) -> Ints:
        return self.line[rows] + self.ends[column][rows]

    def length(self, column: int) -> Within:
        return self.ends[column] - self.begins[column]

    def word(self, column: int) -> Word:
        """Return the words of a field: a view, not a copy, if it begins at the same position in all lines."""
        begin = self.begins[column]
        position, width = int(begin[0]), self.rows.shape[1]
        if not (begin == position).all():
            return super().word(column)

        def word(offset: int, rows: Any) -> Words:
            if position + offset + 8 <= width:
                words: Words = self._column(position + offset)[rows]
                return words
            beyond: Words = words_at(self.buffer)[self.start(column)[rows] + offset]
            return beyond

        return word

    def trailing_bytes(self, column: int) -> TrailingBytes:
        """Return the last bytes of a field: if it ends at about the same position in all lines, from two columns of
        words."""
        end = self.ends[column]
        first, last = int(end.min()), int(end.max())
        if last - first > 7 or not 9 <= first <= self.rows.shape[1] - 7:
            return super().trailing_bytes(column)

        def nine(rows: slice) -> tuple[Words, Words]:
            low, high = self._column(first - 9)[rows].copy(), self._column(first - 1)[rows].copy()
            up = ((end[rows] - np.uint8(first)) << np.uint8(3)).astype(np.uint64)
            down = np.uint64(64) - up  # a shift by 64 gives 0
            leading = low >> up
            leading |= high << down
            up += np.uint64(8)
            down -= np.uint64(8)
            low >>= up
            low |= high << down
            return leading, low

        return nine

    def _column(self, position: int) -> Words:
        """Return the word that begins at a position of each line."""
        return np.ndarray(len(self.rows), "<u8", self.rows.data, position, (self.rows.shape[1],))


def short_lines(buffer: Bytes, begin: int, end: int, fields: int) -> ShortLines | None:
    """Return the fields of the lines in `buffer[begin:end]`, which ends with a newline.

    None if a line is too long, a comment, or blank, has another number of fields, or contains control bytes.
    """
    ends = _newlines(buffer, begin, end)
    if ends is None:
        return None
    line = np.empty_like(ends)
    line[0] = 0
    np.add(ends[:-1], 1, out=line[1:])
    ends -= line
    longest = int(ends.max())
    width = 32 if longest <= 30 else 64
    if longest > width - 2:  # the shifts below need a spare bit
        return None
    length = ends.astype(np.uint8)
    line += begin
    rows = np.ndarray(len(buffer) - width + 1, f"V{width}", buffer.data, strides=(1,))[line]
    rows = rows.view(np.uint8).reshape(-1, width)
    if (rows[:, 0] == HASH).any():
        return None
    # One bit for each byte, the first byte lowest.
    kind: Any = np.uint32 if width == 32 else np.uint64
    separates = np.packbits(rows <= SPACE, bitorder="little").view(kind)
    separates[-1:] &= (kind(2) << length[-1:]) - kind(1)  # the last line may be followed by anything
    bounds = _single_spaced(separates, length, fields) or _spaced(separates, length, fields)
    return ShortLines(buffer, rows, line, *bounds) if bounds else None


def _single_spaced(separates: Any, length: Within, fields: int) -> tuple[list[Within], list[Within]] | None:
    """Return starts and ends of fields if exactly one byte separates them, and none is around them; else None."""
    bit = separates.dtype.type(1)
    if (separates & (separates << bit | bit)).any():
        return None
    after = _places(separates, fields)
    if not (after[-1] == length + np.uint8(1)).all():
        return None
    return [np.zeros_like(length), *after[:-1]], list(after - np.uint8(1))


def _spaced(separates: Any, length: Within, fields: int) -> tuple[list[Within], list[Within]] | None:
    """Return the same if separators are repeated, or are before or after the fields."""
    kind = separates.dtype.type
    inside = (kind(2) << length) - kind(1)
    separates = separates & inside
    after = separates << kind(1) | kind(1)
    stops = separates & ~after
    if (np.bitwise_count(stops) != fields).any():
        return None
    begins, ends = _places(~separates & after & inside, fields), _places(stops, fields)
    return list(begins - np.uint8(1)), list(ends - np.uint8(1))


def _newlines(buffer: Bytes, begin: int, end: int) -> Ints | None:
    """Return the positions of newlines in `buffer[begin:end]`; None if two are within eight bytes, or if there are
    control bytes other than newlines and tabs. Tabs are allowed if the first bytes have one."""
    size = end - begin
    text = buffer[begin : end + -size % 32]
    tabs = TAB in text[:FIRST]
    flags = text == NEWLINE if tabs else text < SPACE
    flags[size:] = False
    bits = np.packbits(flags, bitorder="little")
    long = np.count_nonzero(flags[:FIRST]) <= FIRST // 32
    ends = _single_bits(bits.view("<u4"), 32) if long else None
    if ends is None and (ends := _single_bits(bits, 8)) is None:
        return None
    if tabs:
        text = text[:size]
        return ends if len(ends) + np.count_nonzero(text == TAB) == np.count_nonzero(text < SPACE) else None
    return ends if (text[ends] == NEWLINE).all() else None


def _single_bits(words: NDArray[Any], width: int) -> Ints | None:
    """Return the positions of set bits in words of `width` bits; None if a word has two. This scans words, not bits."""
    position = np.flatnonzero(words != 0)
    word = words[position]
    below = word - word.dtype.type(1)
    if (word & below).any():
        return None
    below ^= word  # the bit and all below it
    position *= width
    position += np.bitwise_count(below) - np.uint8(1)
    return position


def _places(bits: NDArray[Any], count: int) -> NDArray[np.uint8]:
    """Return count × words: the positions, counted from 1, of the lowest bits of each word."""
    places = np.empty((count, len(bits)), np.uint8)
    bit = bits.dtype.type(1)
    below = np.empty_like(bits)
    lowest = np.empty_like(bits)
    for i in range(count):
        np.subtract(bits, bit, out=below)
        np.bitwise_xor(bits, below, out=lowest)  # the lowest bit and all below it
        np.bitwise_count(lowest, out=places[i])
        bits = np.bitwise_and(bits, below, out=None if i == 0 else bits)
    return places


# Decimal numbers of a block, thousands at a time by SWAR, with the exact results of `float()`.

_U = np.uint64
_EACH = 0x0101010101010101
_ZEROS, _DOTS = _U(0x30 * _EACH), _U(0x2E * _EACH)
_LOW, _HIGH = _U(0x7F * _EACH), _U(0x80 * _EACH)
_ABOVE_NINE = _U(0x76 * _EACH)  # added to digit values it leaves the highest bit of each byte as it is: 0

# Neighbors become one number: digits to pairs, pairs to fours, fours to eights.
_MERGED = (
    (_U(1 + (10 << 8)), _U(8), _U(0x00FF00FF00FF00FF)),
    (_U(1 + (100 << 16)), _U(16), _U(0x0000FFFF0000FFFF)),
    (_U(1 + (10000 << 32)), _U(32), _U(0xFFFFFFFF)),
)

TEN = _U(10) ** np.arange(20, dtype=np.uint64)
TEN_EXACT = 10.0 ** np.arange(20)  # exact, as all powers up to 10**22

ROWS = 1 << 14
"""Numbers read at a time, so that the arrays stay in the cache."""


def decimals(buffer: Bytes, end: Ints, length: NDArray[Any], trailing_bytes: TrailingBytes) -> Floats:
    """Return the value of each token, all of them plain decimals: `[+-]digits[.digits][e±digits]`.

    Raises ValueError if a token is not, or is too large for a float.
    """
    values = np.empty(len(end))
    for i in range(0, len(end), ROWS):
        rows = slice(i, i + ROWS)
        nine, after = trailing_bytes(rows), _after_dot(buffer, end[rows], length[rows])
        word = _uniform_digits(length[rows], *nine, after)
        if word is None:
            _read_any(buffer, end[rows], length[rows].astype(np.int64), nine[1], values[rows])
        else:
            np.divide(_merged(word).view(np.int64), TEN_EXACT[after], out=values[rows])
    return values


def _after_dot(buffer: Bytes, end: Ints, length: NDArray[Any]) -> int:
    """Return the number of digits after the dot of the first token; 0 if it has no dot."""
    if not len(end):
        return 0
    token = buffer[int(end[0]) - int(length[0]) : int(end[0])].tobytes()
    return len(token.partition(b".")[2])


def _uniform_digits(length: NDArray[Any], leading: Words, last: Words, after: int) -> Words | None:
    """Return the digit values of unsigned numbers with `after` digits after the dot (0: no dot) and at most eight in
    all, the first digit lowest; None if any token has another format. This is the usual case, and takes half the
    steps."""
    longest, shortest, most = int(length.max()), int(length.min()), 9 if after else 8
    if not (after < 8 and (not after or after + 1 < shortest) and longest <= most):
        return None
    if after:
        dot_at = 8 * (7 - after)
        if not ((last & _U(0xFF << dot_at)) == _U(ord(".") << dot_at)).all():
            return None
        # Move the bytes before the dot up by one, over it: eight contiguous digits.
        low = _U((1 << 8 * (8 - after)) - 1)
        word = leading & low
        word |= last & ~low
        word ^= _ZEROS
    else:
        word = last ^ _ZEROS
    unused: Any = _U(8 * (most - longest)) if longest == shortest else (8 * (most - length)).astype(np.uint64)
    word >>= unused
    word <<= unused
    bad = word + _ABOVE_NINE
    bad |= word
    return None if np.bitwise_or.reduce(bad) & _HIGH else word


def _read_any(buffer: Bytes, end: Ints, token_length: Ints, last: Words, values: Floats) -> None:
    """Read numbers of any format into `values`: digits with a sign and a dot eight at a time, others by `float`."""
    words, start = words_at(buffer), end - token_length
    head = words[start]
    first = head.astype(np.uint8)
    negative = first == 45
    signed = negative | (first == 43)
    some_signed = bool(signed.any())
    if some_signed:
        head = words[start + signed]
        length = (token_length - signed).view(np.uint64)  # without the sign
    else:
        length = token_length.view(np.uint64)
    whole = _digits_before_dot(head, length)
    # The dot of a whole part of more than eight digits is not in the first word.
    good = (whole < 8) | (length == 8)
    fraction = length - whole
    fraction -= fraction > 0
    deepest = int(fraction.max(initial=0))
    if deepest > 11:
        good &= (fraction <= 18) & (whole + fraction <= 19)
        fraction = np.minimum(fraction, _U(18))
    head ^= _ZEROS
    number, bad = _eight_digits(head << (64 - 8 * whole))
    number *= TEN[fraction]
    for skipped in range(0, min(deepest, 18), 8):
        # Digits of the fraction in the word that ends `skipped` bytes before the end of the token.
        rows: Any = slice(None) if skipped == 0 else np.flatnonzero(fraction > skipped)
        digits = fraction[rows] - _U(skipped)
        unused = 64 - 8 * (digits if deepest <= 8 else np.minimum(digits, _U(8)))
        word = last if skipped == 0 else words[end[rows] - (8 + skipped)]
        part, wrong = _eight_digits((word ^ _ZEROS) >> unused << unused)
        number[rows] += part if skipped == 0 else part * TEN[skipped]
        bad[rows] |= wrong
    good &= bad == 0
    good &= (whole + fraction) > 0
    _scaled(number, fraction, values, good)
    if some_signed:
        np.negative(values, out=values, where=negative)
    if not good.all():
        rows = np.flatnonzero(~good)
        values[rows] = _each_read(buffer, start[rows], end[rows])


def _each_read(buffer: Bytes, start: Ints, end: Ints) -> Floats:
    """Return numbers from plain decimals of any length. Restricted to these characters `float` accepts what `decimal`
    does; checking all tokens at once is cheaper than one by one."""
    begin = int(start.min())
    text = buffer[begin : int(end.max())].tobytes()
    ends = (end - begin).tolist()
    tokens = [text[first:stop] for first, stop in zip((start - begin).tolist(), ends, strict=True)]
    try:
        if b"".join(tokens).translate(None, b"0123456789+-.eE"):
            raise ValueError
        numbers = np.array(list(map(float, tokens)))
    except ValueError:
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise ValueError("not a plain decimal")
    return numbers


def _digits_before_dot(head: Words, length: Words) -> Words:
    """Return how many of the first eight bytes of a token are before its dot: all of them if there is none."""
    difference = head ^ _DOTS
    dots = difference & _LOW
    dots += _LOW
    dots |= difference
    dots |= _LOW
    np.invert(dots, out=dots)  # the highest bit is set in each byte that is a dot
    first = np.bitwise_count(dots ^ (dots - _U(1)))  # bits up to the first of them
    result = ((first - np.uint8(1)) >> np.uint8(3)).astype(np.uint64)
    result[dots == 0] = 8
    return np.minimum(result, length, out=result)


def _eight_digits(word: Words) -> tuple[Words, Words]:
    """Merge eight digit values (not characters), the first in the lowest byte, in place; also return a word that is not
    0 if a byte is not a digit value."""
    bad = word + _ABOVE_NINE
    bad |= word
    bad &= _HIGH
    return _merged(word), bad


def _merged(word: Words) -> Words:
    """Merge eight digit values into a number, in place."""
    for factor, shift, mask in _MERGED:
        word *= factor
        word >>= shift
        word &= mask
    return word


def _scaled(number: Words, scale: Words, values: Floats, good: Bools) -> None:
    """Write number / 10**scale to `values`, correctly rounded; `good` becomes false if that cannot be decided."""
    np.divide(number.astype(np.float64), TEN_EXACT[scale], out=values)
    # Up to 2**53 both are exact, and a division rounds once.
    rows = np.flatnonzero(number >> _U(53))
    if len(rows):
        values[rows], decided = _divided(number[rows], scale[rows])
        good[rows] &= decided


def _divided(number: Words, scale: Words) -> tuple[Floats, Bools]:
    """Return number / 10**scale for numbers of 2**53 and more, and whether the result is certainly the nearest float.

    The quotient is the high word of the number times a truncated 64-bit reciprocal; the true quotient is at most six
    units larger. If both ends of that interval round to the same float, the result is certain.
    """
    up = (64 - np.frexp(number.astype(np.float64))[1]).astype(np.uint64)  # a number rounded up: one bit less
    factors, powers = _reciprocals()
    factor, power = factors[scale], powers[scale]
    number = number << up
    number_high, number_low = number >> _U(32), number & _U(0xFFFFFFFF)
    factor_high, factor_low = factor >> _U(32), factor & _U(0xFFFFFFFF)
    quotient = number_high * factor_high + (number_high * factor_low >> _U(32)) + (number_low * factor_high >> _U(32))
    lower, upper = quotient.astype(np.float64), (quotient + _U(6)).astype(np.float64)
    return np.ldexp(lower, power - up.astype(np.int32)), lower == upper


@cache
def _reciprocals() -> tuple[Words, NDArray[np.int32]]:
    """Return factors and powers with 10**-scale = factor × 2**(power − 64), factors truncated to 64 bits."""
    factors, powers = [], []
    for scale in range(20):
        bits = (10**scale - 1).bit_length() + 63  # the quotient has 64 bits
        factors.append(min((1 << bits) // 10**scale, (1 << 64) - 1))
        powers.append(64 - bits)
    return np.array(factors, dtype=np.uint64), np.array(powers, dtype=np.int32)


Bounds = Callable[[int], tuple[Ints, Ints]]
"""Index of a field -> its start and end in every line."""

SAMPLED = 1021
"""Sampling step for testing whether most of a block is blank: then a list of all blanks would take too much memory."""


@dataclass(eq=False, repr=False)
class AnyLines(Lines):
    """Lines of any length and format.

    buffer  the bytes of the block
    count   number of lines
    """

    buffer: Bytes
    count: int
    bounds: Bounds

    def __len__(self) -> int:
        return self.count

    def start(self, column: int, rows: Ints | slice = ALL) -> Ints:
        return self.bounds(column)[0][rows]

    def end(self, column: int, rows: Ints | slice = ALL) -> Ints:
        return self.bounds(column)[1][rows]


def commas_to_tabs(text: Bytes) -> None:
    """Convert commas that separate fields to tabs, in place. Raises NeedsLineReader if there are tabs as well."""
    if (text == TAB).any():
        raise NeedsLineReader
    text[text == COMMA] = TAB


PIECE = 1 << 17
"""Bytes processed together, so that results stay in the cache."""


def is_sparse(text: Bytes) -> bool:
    """Return whether most bytes of a text are blanks or comments."""
    blank, has_hash, scratch = 0, False, np.empty(min(PIECE, len(text)), bool)
    for begin in range(0, len(text), PIECE):
        piece = text[begin : begin + PIECE]
        mask = scratch[: len(piece)]
        blank += int(np.count_nonzero(np.less_equal(piece, SPACE, out=mask)))
        has_hash = has_hash or bool(np.equal(piece, HASH, out=mask).any())
    if 2 * blank <= len(text) and has_hash:
        newlines = np.flatnonzero(text == NEWLINE)
        begins = np.append(0, newlines[:-1] + 1) if len(newlines) else newlines
        blank += int((newlines - begins)[text[begins] == HASH].sum())
    return bool(2 * blank > len(text))


def lines_of(buffer: Bytes, begin: int, end: int, layout: LineLayout) -> Lines:
    """Return the lines in `buffer[begin:end]`, which ends with a newline, after `commas_to_tabs`.

    Raises NeedsLineReader if a line does not have the fields of the layout, or contains control bytes; and, if only
    tabs or commas separate fields, for anything that could shift them: a space or a quote in a field, an empty field.
    """
    lines: Lines | None = short_lines(buffer, begin, end, layout.width) if end > begin else None
    if lines is None:
        lines = _lines_of_any_length(buffer, begin, end, layout.width)
    if layout.separator:
        text = buffer[begin:end]
        tabs = np.count_nonzero(text == TAB)
        if tabs != len(lines) * (layout.width - 1) or (text == SPACE).any() or (text == QUOTE).any():
            raise NeedsLineReader
    return lines


def _lines_of_any_length(buffer: Bytes, begin: int, end: int, width: int) -> Lines:
    """Return the lines as `lines_of`, with `width` fields separated by spaces or tabs."""
    separated = buffer[begin:end] <= SPACE
    blank = 2 * SAMPLED * np.count_nonzero(separated[::SAMPLED]) > len(separated)
    stops = np.empty(0, dtype=np.int64) if blank else np.flatnonzero(separated)
    stops += begin
    if len(stops) % width == 0 and len(stops) and _regular(buffer, stops, separated, begin, width):
        of_line = stops.reshape(-1, width)

        @cache
        def bounds(column: int) -> tuple[Ints, Ints]:
            end = np.ascontiguousarray(of_line[:, column])
            start = of_line[:, column - 1] + 1 if column else np.append(begin, of_line[:-1, -1] + 1)
            return start, end

        return AnyLines(buffer, len(of_line), bounds)
    return _normalized(buffer, separated, begin, width)


def _regular(buffer: Bytes, stops: Ints, separated: Bools, begin: int, width: int) -> bool:
    """Return whether exactly one space or tab separates fields, lines have none around them, and no line is a
    comment."""
    last = stops[width - 1 :: width]
    text = buffer[begin : int(stops[-1]) + 1]
    between = np.count_nonzero(text == SPACE)
    if between != len(stops) - len(last):
        between += np.count_nonzero(text == TAB)
    return bool(
        between == len(stops) - len(last)
        and (buffer[last] == NEWLINE).all()
        and not separated[0]
        and not (separated[1:] & separated[:-1]).any()
        and buffer[begin] != HASH
        and not (buffer[last[:-1] + 1] == HASH).any()
    )


def _normalized(buffer: Bytes, separated: Bools, begin: int, width: int) -> Lines:
    """Return the lines as `lines_of` for any format: repeated spaces, spaces around fields, CRLF, comments. Memory
    grows with fields, not with the bytes between them, which may be a million for each."""
    text = buffer[begin : begin + len(separated)]
    newline, returned = text == NEWLINE, text == RETURN
    plain = sum(np.count_nonzero(text == kind) for kind in (SPACE, TAB)) + np.count_nonzero(newline)
    if plain + np.count_nonzero(returned) != np.count_nonzero(separated) or (returned[:-1] & ~newline[1:]).any():
        raise NeedsLineReader
    edges = np.flatnonzero(separated[1:] != separated[:-1]) + 1  # alternating starts and ends of fields
    edges = edges if separated[:1].all() else np.append(0, edges)
    start, stop = edges[::2], edges[1::2]
    first = np.ones(len(start), dtype=bool)  # in its line
    first[1:] = np.logical_or.reduceat(newline, stop)[:-1]  # no newline is in a field
    begins = np.flatnonzero(first)
    at_begin = (start[begins] == 0) | newline[start[begins] - 1]
    comment, fields = at_begin & (text[start[begins]] == HASH), np.diff(begins, append=len(start))
    if comment.any():
        included = np.repeat(~comment, fields)
        start, stop, fields = start[included], stop[included], fields[~comment]
    if (fields != width).any():
        raise NeedsLineReader
    starts, ends = (np.ascontiguousarray(edge.reshape(-1, width).T) + begin for edge in (start, stop))
    return AnyLines(buffer, starts.shape[1], lambda column: (starts[column], ends[column]))
