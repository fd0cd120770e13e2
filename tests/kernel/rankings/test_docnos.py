"""Numbers of documents beside those of a dict, and docnos as columns beside lists of them."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import count

import numpy as np
import pytest

from gradedeval.kernel.rankings import docnos as docnos_module
from gradedeval.kernel.rankings.docnos import Docnos, DocumentNumbers

NAMES = {
    "short": lambda number: b"d%d" % number,
    "as long as words": lambda number: b"%08d" % number,
    "of any length": lambda number: b"x%d" % number * (1 + number % 50),
    "far longer": lambda number: b"y" * 600 * (number % 7 == 0) + b"%d" % number,
}


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_those_of_a_dict(name: str) -> None:
    draw = random.Random(name)
    numbers, known = DocumentNumbers(), defaultdict[tuple[int, bytes], int](count().__next__)
    for _ in range(30):
        pairs = [(draw.randrange(4), NAMES[name](draw.randrange(3000))) for _ in range(draw.choice([0, 1, 50, 1000]))]
        topic = np.array([pair[0] for pair in pairs], dtype=np.int64)
        found = numbers.numbers(topic, Docnos.of([pair[1] for pair in pairs]).packed())
        assert found.tolist() == [known[pair] for pair in pairs]
        assert len(numbers) == len(known)
    every = np.arange(len(numbers))
    assert numbers.names(every) == [pair[1] for pair in known]
    assert numbers.topics([b"a", b"b", b"a"], np.array([1, 2, 0])).tolist() == [0, 1, 1]
    assert numbers.topics([b"c", b"b"], np.array([1, 1])).tolist() == [2, 1]
    assert numbers.names(every[::-3]) == [pair[1] for pair in list(known)[::-3]]


def test_documents_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all hashes of a topic are alike, and topics do not change them."""
    monkeypatch.setattr(docnos_module, "TOPIC", np.uint64(0))
    numbers, names = DocumentNumbers(), [b"a", b"b", b"long" * 5, b"", b"a"]
    docnos = Docnos.of(names)
    alike = Docnos(docnos.buffer, docnos.start, docnos.length, np.full(len(names), 7, dtype=np.uint64))
    topic = np.array([0, 0, 0, 0, 1])
    assert numbers.numbers(topic, alike).tolist() == [0, 1, 2, 3, 4]
    assert numbers.numbers(topic[::-1], alike[::-1]).tolist() == [4, 3, 2, 1, 0]
    assert numbers.numbers(np.array([2, 2]), alike[np.array([1, 1])]).tolist() == [5, 5]
    assert numbers.names(np.arange(6)) == [*names, b"b"]


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_cut_packed_and_joined(name: str) -> None:
    names = [NAMES[name](number) for number in range(40)]
    docnos = Docnos.of(names)
    hashed = Docnos(docnos.buffer, docnos.start, docnos.length, docnos.hashed)
    odd = hashed[np.arange(1, 40, 2)].packed()
    assert (odd.names(), odd.hashed.tolist()) == (names[1::2], docnos.hashed[1::2].tolist())
    both = Docnos.joined([odd, docnos[5:9], Docnos.of([])])
    assert both.names() == names[1::2] + names[5:9]
    assert both.hashed.tolist() == Docnos.of(both.names()).hashed.tolist()
    assert Docnos.of([]).packed().names() == []
