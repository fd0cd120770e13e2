"""Tokens and their hashes are those of the text, wherever fields begin and end."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradedeval.kernel.trec import tokenizer as blocks
from gradedeval.kernel.trec.tokenizer import PAD, equal, gather, gather_trailing, hashes, padded, run_starts, words_at
from support.examples import drawn
from support.tokens import buffer_of


@pytest.mark.parametrize("length", range(2, 34))
def test_tokens_that_differ_in_two_bytes_have_hashes_of_their_own(length: int) -> None:
    letters = b"0123456789abcdefghijklmnopqrstuvwxyz"
    for one, two in ((length - 2, length - 1), (0, length - 1), (min(7, length - 2), min(15, length - 1))):
        tokens = []
        for a in letters:
            for b in letters:
                token = bytearray(b"x" * length)
                token[one], token[two] = a, b
                tokens.append(bytes(token))
        buffer, start, end = buffer_of(tokens)
        assert len(set(hashes(gather(buffer, start, end - start), end - start).tolist())) == len(letters) ** 2


@given(st.integers(1, 55), st.integers(0, 9), st.integers(0, 12), st.randoms(use_true_random=False))
@drawn(400, steady=False)
def test_words_of_short_lines_are_those_of_the_text(length: int, topic: int, differ: int, draw: random.Random) -> None:
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
    fields = blocks.split_lines(buffer, PAD, PAD + len(text), 4)
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
def test_tokens_are_equal_where_their_bytes_are(tokens: list[bytes]) -> None:
    tokens += tokens[:2] + [token[:-1] + b"~" for token in tokens]
    buffer, start, end = buffer_of(tokens)
    words = words_at(buffer)
    length = end - start
    word = gather(buffer, start, length)
    hashed = hashes(word, length).tolist()
    for at, one in enumerate(tokens):
        for other, two in enumerate(tokens):
            assert (hashed[at] == hashed[other]) == (one == two)
            if len(one) == len(two):
                pair = [np.array([value]) for value in (start[at], start[other], len(one))]
                assert equal(words, pair[0], words, pair[1], pair[2]).all() == (one == two)
    changed = [0] + [at for at in range(1, len(tokens)) if tokens[at] != tokens[at - 1]]
    assert run_starts(word, length).tolist() == changed
