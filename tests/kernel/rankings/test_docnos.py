"""Docnos as columns compared to lists, their index, and numbers of documents compared to a dict."""

import io
import random
from collections import defaultdict
from itertools import count

import numpy as np
import pytest

from gradedeval import evaluate
from gradedeval.errors import EvaluationWarning
from gradedeval.kernel import parallel
from gradedeval.kernel.rankings import document_numbers
from gradedeval.kernel.rankings.docnos import Docnos, Index, TopicBuckets
from gradedeval.kernel.rankings.document_numbers import DocumentNumbers
from gradedeval.kernel.trec.tokenizer import PAD, padded

NAMES = {
    "short": lambda number: b"d%d" % number,
    "as long as words": lambda number: b"%08d" % number,
    "of any length": lambda number: b"x%d" % number * (1 + number % 50),
    "far longer": lambda number: b"y" * 600 * (number % 7 == 0) + b"%d" % number,
}


@pytest.mark.parametrize("name", NAMES)
def test_numbers_equal_the_numbers_of_a_dict(name: str) -> None:
    draw = random.Random(name)
    numbers, by_dict = DocumentNumbers(), defaultdict[tuple[int, bytes], int](count().__next__)
    for _ in range(30):
        pairs = [(draw.randrange(4), NAMES[name](draw.randrange(3000))) for _ in range(draw.choice([0, 1, 50, 1000]))]
        topic = np.array([pair[0] for pair in pairs], dtype=np.int64)
        assigned = numbers.numbers(topic, Docnos.of([pair[1] for pair in pairs]).packed())
        assert assigned.tolist() == [by_dict[pair] for pair in pairs]
        assert len(numbers) == len(by_dict)
    every = np.arange(len(numbers))
    assert numbers.names(every) == [pair[1] for pair in by_dict]
    assert numbers.topics([b"a", b"b", b"a"], np.array([1, 2, 0])).tolist() == [0, 1, 1]
    assert numbers.topics([b"c", b"b"], np.array([1, 1])).tolist() == [2, 1]
    assert numbers.names(every[::-3]) == [pair[1] for pair in list(by_dict)[::-3]]


def test_documents_with_one_hash_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set all hashes of a topic to one value."""
    monkeypatch.setattr(document_numbers, "TOPIC", np.uint64(0))
    numbers, names = DocumentNumbers(), [b"a", b"b", b"long" * 5, b"", b"a"]
    column = Docnos.of(names)
    alike = Docnos(column.buffer, column.start, column.length, np.full(len(names), 7, dtype=np.uint64))
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


def test_slots_hold_any_number_of_documents() -> None:
    assert TopicBuckets(np.array([0, 1, 7, 8, 1000])).size >= 4 * 1016


@pytest.mark.parametrize("ratio", [-1, 1000], ids=["each is looked up", "the judged are looked up"])
@pytest.mark.parametrize("apart", [False, True], ids=["topics list the same", "topics list others"])
def test_a_judgment_counts_for_its_topic_alone(ratio: int, apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "LIMITS", parallel.Limits(judged_ratio=ratio))
    listed = {topic: [number for number in range(40) if not apart or number % 3 == topic % 3] for topic in (3, 1, 2)}
    judged = {3: range(0, 40, 2), 1: range(1, 40, 2)}  # even and odd numbers; no documents in topic 2
    run = b"".join(
        b"%d Q0 d%d %d %d t\n" % (topic, number, number, -number) for topic in listed for number in listed[topic]
    )
    qrels = b"".join(b"%d 0 d%d 1\n" % (topic, number) for topic in judged for number in judged[topic])
    with pytest.warns(EvaluationWarning, match="unjudged topic"):
        scores = evaluate(io.BytesIO(run), io.BytesIO(qrels), "judged@40", topics="run")
    expected = {
        str(topic): sum(number in judged.get(topic, ()) for number in listed[topic]) / len(listed[topic])
        for topic in listed
    }
    assert scores.by_topic("judged@40") == expected


def test_slots_that_overflow_into_the_next_topic_do_not_lend_its_documents() -> None:
    docnos = b"abcdefghijklmnopqrst"
    buffer = padded(len(docnos))
    buffer[PAD : PAD + len(docnos)] = np.frombuffer(docnos, dtype=np.uint8)
    start, length = PAD + np.arange(len(docnos)), np.ones(len(docnos), dtype=np.int64)
    topic = (np.arange(len(docnos)) == len(docnos) - 1).astype(np.int64)  # t is judged in topic 1, all others in 0
    hashed = np.uint64(2**64 - 1) - np.arange(len(docnos), dtype=np.uint64)  # all want the last slot of their topic
    named = Docnos(buffer, start, length, hashed)
    judged = Index(named, topic, 2)
    rows, there = judged.find(topic, named)
    assert rows.tolist() == there.tolist() == list(range(len(docnos)))
    rows, there = judged.find(1 - topic, named)
    assert rows.tolist() == there.tolist() == []
