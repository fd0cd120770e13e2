"""Compare tokens, their hashes and numbers with the text; refuse anything but plain decimals."""

import random
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradedeval.kernel.trec import tokenizer as blocks
from gradedeval.kernel.trec.lines import QRELS, decimal
from gradedeval.kernel.trec.tokenizer import (
    PAD,
    AnyLines,
    decimals,
    equal,
    gather,
    gather_trailing,
    hashes,
    padded,
    run_starts,
    words_at,
)
from support.examples import drawn
from support.tokens import buffer_of


@pytest.mark.parametrize("length", range(2, 34))
def test_tokens_that_differ_in_two_bytes_have_different_hashes(length: int) -> None:
    letters = b"0123456789abcdefghijklmnopqrstuvwxyz"
    for first, second in ((length - 2, length - 1), (0, length - 1), (min(7, length - 2), min(15, length - 1))):
        tokens = []
        for a in letters:
            for b in letters:
                token = bytearray(b"x" * length)
                token[first], token[second] = a, b
                tokens.append(bytes(token))
        buffer, start, end = buffer_of(tokens)
        assert len(set(hashes(gather(buffer, start, end - start), end - start).tolist())) == len(letters) ** 2


@given(st.integers(1, 55), st.integers(0, 9), st.integers(0, 12), st.randoms(use_true_random=False))
@drawn(400, steady=False)
def test_words_of_short_lines_equal_words_of_the_text(
    length: int, topic: int, differ: int, draw: random.Random
) -> None:
    # Fields that begin and end at one place in all lines, or near it, or far from it, and at the end of a line's row.
    lines = [
        b" ".join(
            [b"1" * draw.randint(1, 1 + topic), b"0", b"d" * draw.randint(max(1, length - differ), length), b"%d"]
        )
        % draw.randint(0, 10 ** draw.randint(1, 12))
        for _ in range(draw.randint(1, 20))
    ]
    text = b"\n".join([*lines, b""])
    buffer = padded(len(text))
    buffer[PAD : PAD + len(text)] = np.frombuffer(text, dtype=np.uint8)
    fields = blocks.lines_of(buffer, PAD, PAD + len(text), QRELS)
    for column in range(4):
        start, end = fields.start(column), fields.end(column)
        tokens = [line.split()[column] for line in lines]
        assert fields.tokens(column, np.arange(len(lines))) == tokens
        plainly = hashes(gather(buffer, start, end - start), end - start)
        assert (hashes(fields.word(column), fields.length(column)) == plainly).all()
        for rows in (slice(None), slice(3, 9)):
            for mine, theirs in zip(
                fields.trailing_bytes(column)(rows), gather_trailing(buffer, end)(rows), strict=True
            ):
                assert (mine == theirs).all()


@given(st.lists(st.binary(min_size=1, max_size=90).map(lambda token: bytes(b | 64 for b in token)), min_size=2))
@drawn(200, steady=False)
def test_tokens_with_equal_bytes_are_equal(tokens: list[bytes]) -> None:
    tokens += tokens[:2] + [token[:-1] + b"~" for token in tokens]
    buffer, start, end = buffer_of(tokens)
    words = words_at(buffer)
    length = end - start
    word = gather(buffer, start, length)
    hashed = hashes(word, length).tolist()
    for i, first in enumerate(tokens):
        for j, second in enumerate(tokens):
            assert (hashed[i] == hashed[j]) == (first == second)
            if len(first) == len(second):
                pair = [np.array([value]) for value in (start[i], start[j], len(first))]
                assert equal(words, pair[0], words, pair[1], pair[2]).all() == (first == second)
    changed = [0] + [i for i in range(1, len(tokens)) if tokens[i] != tokens[i - 1]]
    assert run_starts(word, length).tolist() == changed


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


def numbers(tokens: list[bytes]) -> Any:
    buffer, start, end = buffer_of(tokens)
    return decimals(buffer, end, end - start, gather_trailing(buffer, end))


def same_as_float(tokens: list[bytes]) -> None:
    values = numbers(tokens)
    assert [bits(value) for value in values.tolist()] == [bits(float(token)) for token in tokens]


plain = st.from_regex(rb"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?", fullmatch=True)


@pytest.mark.exhaustive
@given(st.lists(plain, min_size=1, max_size=30))
@drawn(300, steady=False)
@example([b"0" * 30 + b"1", b"-0", b"+.5", b"5.", b"-0.0", b"00.10", b"123456789.5", b"12345678", b"1234567.8"])
@example([b"9007199254740993", b"9007199254740992.5", b"0.1", b"4503599627370496.5", b"4503599627370497.5"])
@example([b"18446744073709551615", b"9999999999999999999", b"1844674407370955161.6", b"0.000000000000000001"])
@example([b"123456.789", b"234567.891", b"999999.999"])  # eight digits and more, all written alike
@example([b"-12345678.123456789", b"-0.00000000123456789012345", b"-98765432109876543.21", b"-0.1234567890123456789"])
@example([b"-12345678.123456789"] * 3)
@example([b"-0.00000000123456789012345"] * 3)
@example([b"5e-324", b"2.4703282292062327e-324", b"1.7976931348623157e308", b"2.2250738585072014e-308"])
def test_plain_decimals_have_the_bits_of_float(tokens: list[bytes]) -> None:
    same_as_float(tokens)


def test_more_digits_than_a_word_holds_have_the_bits_of_float() -> None:
    same_as_float([b"99.999999999999999999", b"18.446744073709551616", b"9.9999999999999999999"])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50), st.integers(0, 20))
@drawn(300, steady=False)
def test_printed_floats_have_the_bits_of_float(values: list[float], digits: int) -> None:
    same_as_float([repr(value).encode() for value in values])
    same_as_float([b"%.*f" % (digits, value) for value in values if abs(value) < 1e15])


@given(st.integers(1 << 52, (1 << 53) - 1), st.integers(0, 18), st.integers(-1, 1))
@drawn(500, steady=False)
def test_halfway_cases_have_the_bits_of_float(mantissa: int, scale: int, offset: int) -> None:
    # The number halfway between two floats, printed with all its digits, and its neighbours in the last digit.
    for power in (0, 4, 9, 30, 52):
        exact = (2 * mantissa + 1) * 10**scale // (2 << power) + offset
        digits = str(exact).rjust(scale + 1, "0")
        same_as_float([(digits[: len(digits) - scale] + "." + digits[len(digits) - scale :]).encode()])


@st.composite
def written_alike(draw: st.DrawFn) -> list[bytes]:
    """Return numbers with equally many digits after the point, or without a point, one perhaps in another format."""
    after = draw(st.integers(0, 8))
    form = rb"[0-9]{1,8}\.[0-9]{%d}" % after if after else rb"[0-9]{1,9}"
    tokens = draw(st.lists(st.from_regex(form, fullmatch=True), min_size=1, max_size=30))
    return tokens + draw(st.lists(plain, max_size=1))


@pytest.mark.exhaustive
@given(written_alike())
@drawn(300, steady=False)
@example([b"07.50", b"7.50", b"0.00", b"00.00", b"123456.78", b"123456.79"])
def test_sort_keys_order_scores_by_value(tokens: list[bytes]) -> None:
    buffer, start, end = buffer_of(tokens)
    keys, value = AnyLines(buffer, len(end), lambda column: (start, end)).sort_keys(0), numbers(tokens)
    assert ((keys[:, None] < keys) == (value[:, None] < value)).all()
    assert ((keys[:, None] == keys) == (value[:, None] == value)).all()


@given(st.lists(st.binary(min_size=1, max_size=12).map(lambda token: bytes(b for b in token if b > 32) or b"x")))
@drawn(300, steady=False)
@example(
    [b"nan", b"inf", b"1_0", b",5", b"*5", b"1e999", b"0x10", b"1.2.3", b"--1", b"1e", b".", b"-", b"1/2", b"12:4"]
)
@example([b"\xb1\xb2"])
def test_anything_but_plain_decimals_is_refused(tokens: list[bytes]) -> None:
    for token in tokens:
        if decimal(token) == decimal(token):
            same_as_float([token])
        else:
            with pytest.raises(ValueError, match="plain"):
                numbers([b"1.5", token, b"2.5"])
