"""The index of judged documents."""

from __future__ import annotations

import io

import numpy as np
import pytest

from gradedeval import evaluate
from gradedeval.errors import EvaluationWarning
from gradedeval.kernel.parallel import workers
from gradedeval.kernel.rankings import docno_index as index
from gradedeval.kernel.trec.tokenizer import PAD, padded


def test_slots_hold_any_number_of_documents() -> None:
    assert index.TopicBuckets(np.array([0, 1, 7, 8, 1000])).size >= 4 * 1016


@pytest.mark.parametrize("ratio", [-1, 1000], ids=["each is looked up", "the judged are looked up"])
@pytest.mark.parametrize("apart", [False, True], ids=["topics list the same", "topics list others"])
def test_a_document_that_another_topic_judges_is_not_judged(
    ratio: int, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "LIMITS", workers.Limits(judged_ratio=ratio))
    listed = {topic: [at for at in range(40) if not apart or at % 3 == topic % 3] for topic in (3, 1, 2)}
    judged = {3: range(0, 40, 2), 1: range(1, 40, 2)}  # even and odd numbers; nothing in topic 2
    run = b"".join(b"%d Q0 d%d %d %d t\n" % (topic, at, at, -at) for topic in listed for at in listed[topic])
    qrels = b"".join(b"%d 0 d%d 1\n" % (topic, at) for topic in judged for at in judged[topic])
    with pytest.warns(EvaluationWarning, match="unjudged topic"):
        scores = evaluate(io.BytesIO(run), io.BytesIO(qrels), "judged@40", topics="run")
    expected = {
        str(topic): sum(at in judged.get(topic, ()) for at in listed[topic]) / len(listed[topic]) for topic in listed
    }
    assert scores.by_topic("judged@40") == expected


def test_slots_that_overflow_into_the_next_topic_do_not_lend_its_documents() -> None:
    docnos = b"abcdefghijklmnopqrst"
    buffer = padded(len(docnos))
    buffer[PAD : PAD + len(docnos)] = np.frombuffer(docnos, dtype=np.uint8)
    start, length = PAD + np.arange(len(docnos)), np.ones(len(docnos), dtype=np.int64)
    topic = (np.arange(len(docnos)) == len(docnos) - 1).astype(np.int64)  # t is judged in topic 1, all others in 0
    hashed = np.uint64(2**64 - 1) - np.arange(len(docnos), dtype=np.uint64)  # all want the last slot of their topic
    judged = index.Index(buffer, start, length, topic, hashed, 2)
    rows, there = judged.find(topic, buffer, start, length, hashed)
    assert rows.tolist() == there.tolist() == list(range(len(docnos)))
    rows, there = judged.find(1 - topic, buffer, start, length, hashed)
    assert rows.tolist() == there.tolist() == []
