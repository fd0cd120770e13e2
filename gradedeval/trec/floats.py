"""Decimal numbers of a block, thousands at a time by SWAR, bit for bit those of `float()`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.trec.lines import decimal
from gradedeval.trec.swar import Bytes, TrailingBytes, Words, words_at

_U = np.uint64
_EACH = 0x0101010101010101
_ZEROS, _DOTS = _U(0x30 * _EACH), _U(0x2E * _EACH)
_LOW, _HIGH = _U(0x7F * _EACH), _U(0x80 * _EACH)
_ABOVE_NINE = _U(0x76 * _EACH)

# Neighbors become one number: digits to pairs, pairs to fours, fours to eights.
_MERGED = (
    (_U(1 + (10 << 8)), _U(8), _U(0x00FF00FF00FF00FF)),
    (_U(1 + (100 << 16)), _U(16), _U(0x0000FFFF0000FFFF)),
    (_U(1 + (10000 << 32)), _U(32), _U(0xFFFFFFFF)),
)

TEN = np.array([10**power for power in range(20)], dtype=np.uint64)
TEN_EXACT = 10.0 ** np.arange(20)  # exact, as all powers up to 10**22

ROWS = 1 << 14
"""Numbers read at a time, so that the arrays stay in the cache."""


def decimals(buffer: Bytes, end: Ints, length: NDArray[Any], trailing_bytes: TrailingBytes) -> Floats:
    """The value of each token, all of them plain decimals: `[+-]digits[.digits][e±digits]`.

    Raises ValueError where a token is not, or is too large for a float.
    """
    values = np.empty(len(end))
    for at in range(0, len(end), ROWS):
        rows = slice(at, at + ROWS)
        nine, after = trailing_bytes(rows), _after_dot(buffer, end[rows], length[rows])
        word = _uniform_digits(length[rows], *nine, after)
        if word is None:
            _read_any(buffer, end[rows], length[rows].astype(np.int64), nine[1], values[rows])
        else:
            np.divide(_merged(word).view(np.int64), TEN_EXACT[after], out=values[rows])
    return values


def sort_keys(buffer: Bytes, end: Ints, length: NDArray[Any], trailing_bytes: TrailingBytes) -> Floats | Ints:
    """Numbers that compare as the values of the tokens do: their digits where all tokens have the same format, which
    is less work, or else the values. Raises ValueError as `decimals`."""
    values, after = np.empty(len(end), dtype=np.int64), _after_dot(buffer, end, length)
    for at in range(0, len(end), ROWS):
        rows = slice(at, at + ROWS)
        word = _uniform_digits(length[rows], *trailing_bytes(rows), after)
        if word is None:
            return decimals(buffer, end, length, trailing_bytes)
        values[rows] = word.byteswap(inplace=True)  # the first digit highest
    return values


def _after_dot(buffer: Bytes, end: Ints, length: NDArray[Any]) -> int:
    """How many digits the first token has after its dot; 0 if it has no dot."""
    if not len(end):
        return 0
    token = buffer[int(end[0]) - int(length[0]) : int(end[0])].tobytes()
    return len(token.partition(b".")[2])


def _uniform_digits(length: NDArray[Any], before: Words, last: Words, after: int) -> Words | None:
    """The digit values of unsigned numbers with `after` digits behind the dot and at most eight in all, the first digit
    lowest; None if any token has another format. This is the usual case, and takes half the steps."""
    longest, shortest = int(length.max()), int(length.min())
    if not (0 < after < 8 and after + 1 < shortest and longest <= 9):
        return None
    dot_at = 8 * (7 - after)
    if not ((last & _U(0xFF << dot_at)) == _U(ord(".") << dot_at)).all():
        return None
    # The bytes before the dot, moved up by one over it, and those after it: eight digits in their places.
    low = _U((1 << 8 * (8 - after)) - 1)
    word = before & low
    word |= last & ~low
    word ^= _ZEROS
    beside: Any = _U(8 * (9 - longest)) if longest == shortest else (8 * (9 - length)).astype(np.uint64)
    word >>= beside
    word <<= beside
    return None if np.bitwise_or.reduce(_not_digits(word)) & _HIGH else word


def _read_any(buffer: Bytes, end: Ints, token_length: Ints, last: Words, values: Floats) -> None:
    """Numbers of any format into `values`: digits with a sign and a dot eight at a time, the others by `float`."""
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
        # The digits of the fraction in the word that ends `skipped` bytes before the end of the token.
        rows: Any = slice(None) if skipped == 0 else np.flatnonzero(fraction > skipped)
        digits = fraction[rows] - _U(skipped)
        beside = 64 - 8 * (digits if deepest <= 8 else np.minimum(digits, _U(8)))
        word = last if skipped == 0 else words[end[rows] - (8 + skipped)]
        part, wrong = _eight_digits((word ^ _ZEROS) >> beside << beside)
        number[rows] += part if skipped == 0 else part * TEN[skipped]
        bad[rows] |= wrong
    good &= bad == 0
    good &= (whole + fraction) > 0
    _scaled(number, fraction, values, good)
    if some_signed:
        np.negative(values, out=values, where=negative)
    if not good.all():
        for row in np.flatnonzero(~good).tolist():
            values[row] = decimal(buffer[start[row] : end[row]].tobytes())
        if np.isnan(values).any():
            raise ValueError("not a plain decimal")


def _digits_before_dot(head: Words, length: Words) -> Words:
    """How many of the first eight bytes of a token are before its dot: all of them where there is none."""
    other = head ^ _DOTS
    dots = other & _LOW
    dots += _LOW
    dots |= other
    dots |= _LOW
    np.invert(dots, out=dots)  # the highest bit is set in each byte that is a dot
    first = np.bitwise_count(dots ^ (dots - _U(1)))  # bits up to the first of them
    before = ((first - np.uint8(1)) >> np.uint8(3)).astype(np.uint64)
    before[dots == 0] = 8
    return np.minimum(before, length, out=before)


def _eight_digits(word: Words) -> tuple[Words, Words]:
    """The number of eight digit values (not characters), the first in the lowest byte, in place; and a word that is not
    0 if a byte is not a digit value."""
    bad = _not_digits(word)
    bad &= _HIGH
    return _merged(word), bad


def _not_digits(word: Words) -> Words:
    """Words in which the highest bit of each byte is set unless it is a digit value."""
    bad = word + _ABOVE_NINE
    bad |= word
    return bad


def _merged(word: Words) -> Words:
    """The number that eight digit values make, in place."""
    for factor, shift, kept in _MERGED:
        word *= factor
        word >>= shift
        word &= kept
    return word


def _scaled(number: Words, scale: Words, values: Floats, good: Bools) -> None:
    """number / 10**scale into `values`, correctly rounded; where that cannot be decided, `good` becomes false."""
    np.divide(number.astype(np.float64), TEN_EXACT[scale], out=values)
    # Up to 2**53 both are exact, and a division rounds once.
    rows = np.flatnonzero(number >> _U(53))
    if len(rows):
        values[rows], decided = _divided(number[rows], scale[rows])
        good[rows] &= decided


def _divided(number: Words, scale: Words) -> tuple[Floats, Bools]:
    """number / 10**scale for numbers of 2**53 and more, and whether the result is certainly the nearest float.

    The quotient is the high word of the number times a truncated 64-bit reciprocal; the true quotient is at most six
    units larger. Where both ends of that interval round to the same float, the result is certain.
    """
    up = (64 - np.frexp(number.astype(np.float64))[1]).astype(np.uint64)  # a number rounded up: one bit less
    factor, power = RECIPROCAL[scale], RECIPROCAL_POWER[scale]
    number = number << up
    number_high, number_low = number >> _U(32), number & _U(0xFFFFFFFF)
    factor_high, factor_low = factor >> _U(32), factor & _U(0xFFFFFFFF)
    quotient = number_high * factor_high + (number_high * factor_low >> _U(32)) + (number_low * factor_high >> _U(32))
    lower, upper = quotient.astype(np.float64), (quotient + _U(6)).astype(np.float64)
    return np.ldexp(lower, power - up.astype(np.int32)), lower == upper


def _reciprocals() -> tuple[Words, NDArray[np.int32]]:
    """10**-scale = factor × 2**(power − 64) with factors of 64 bits, truncated."""
    factors, powers = [], []
    for scale in range(20):
        bits = (10**scale - 1).bit_length() + 63  # the quotient has 64 bits
        factors.append(min((1 << bits) // 10**scale, (1 << 64) - 1))
        powers.append(64 - bits)
    return np.array(factors, dtype=np.uint64), np.array(powers, dtype=np.int32)


RECIPROCAL, RECIPROCAL_POWER = _reciprocals()
