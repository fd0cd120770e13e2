"""Qrels of the block reader equal qrels of the line reader, for files of all kinds."""

import io
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from gradedeval import evaluate
from gradedeval.errors import EvaluationWarning, InputError
from gradedeval.kernel.rankings import qrels as read_qrels
from gradedeval.kernel.rankings.batch import GradeCounts
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.trec import blocks
from gradedeval.kernel.trec.stream import Source
from support.paths import DATA, shared
from support.runs import awkward, read_simply, same_qrels


@shared
def test_real_qrels_agree_with_the_simple_reader() -> None:
    paths = [path for path in sorted(DATA.rglob("*qrels*")) if path.is_file() and "out" not in path.name]
    compared = 0
    for path in paths:
        content = Source(path).read()
        simple, in_blocks = (read_or_message(read_simply, content), read_or_message(of_bytes, content))
        if isinstance(simple, str):
            assert in_blocks == simple
        else:
            same_qrels(in_blocks, simple)
            compared += 1
    assert compared > 5


def of_bytes(content: bytes, **options: Any) -> Qrels:
    return Qrels(io.BytesIO(content), **options)


def read_or_message(function: Callable[..., Qrels], content: bytes) -> Any:
    """Read qrels; return them or the message of the error."""
    try:
        return function(content, duplicates="first")
    except InputError as error:
        return str(error)


@pytest.mark.parametrize(
    ("jobs", "rounds", "together"),
    [
        (1, 12, 1 << 16),
        *(
            pytest.param(*many, marks=pytest.mark.exhaustive)
            for many in ((1, 150, 1 << 16), (1, 50, 2), (2, 20, 1 << 16))
        ),
    ],
)
def test_readers_agree_on_random_qrels(jobs: int, rounds: int, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(9)
    monkeypatch.setattr(read_qrels, "SHARED", 0)
    monkeypatch.setattr(read_qrels, "TOGETHER", together)
    for size in (64, 1 << 20):
        monkeypatch.setattr(blocks, "PART", size)
        for number in range(rounds):
            _, content = awkward(draw, most=12 if number % 4 else 40)
            if draw.random() < 0.3:
                lines = content.splitlines(keepends=True)
                draw.shuffle(lines)
                content = b"".join(lines + lines[: draw.randint(0, 2)]).rstrip(b"\n")
            if draw.random() < 0.3:
                content = content.replace(b" ", b"\t\t").replace(b"\n", b"\r\n")
            same_qrels(Qrels(io.BytesIO(content), jobs=jobs), read_simply(content))
            message = read_or_message(read_simply, content + b"t d 1\n")
            assert read_or_message(partial(of_bytes, jobs=jobs), content + b"t d 1\n") == message


def test_the_digest_changes_with_any_judgment_and_not_with_their_order() -> None:
    lines = [b"%d 0 d%d %d\n" % (topic, docno, (topic + docno) % 4) for topic in range(5) for docno in range(5)]
    digest = Qrels(io.BytesIO(b"".join(lines))).digest
    assert Qrels(io.BytesIO(b"".join(reversed(lines)))).digest == digest
    swapped = [lines[1].replace(b" 1\n", b" 0\n"), lines[0].replace(b" 0\n", b" 1\n"), *lines[2:]]
    assert Qrels(io.BytesIO(b"".join(swapped))).digest != digest
    content = b"".join(lines)
    for written in (
        b"# x\n" + content.replace(b" ", b"\t").replace(b"\n", b"\r\n"),
        content.replace(b" 3\n", b" 3.0\n"),
    ):
        assert Qrels(io.BytesIO(written)).digest == digest
    changed = [b"".join(lines[:index] + lines[index + 1 :]) for index in range(len(lines))] + [content + b"4 0 n 0\n"]
    changed += [content.replace(old, new) for old, new in ((b"\n4 0", b"\n9 0"), (b"d3", b"n"), (b"d0 0", b"d0 -1"))]
    assert digest not in {Qrels(io.BytesIO(variant)).digest for variant in changed}


def test_no_reader_returns_minus_zero_as_a_label() -> None:
    content = b"1 0 a -0\n1 0 b 0.5\n1 0 c 0\n"
    for qrels in (of_bytes(content), read_simply(content), Qrels({"1": {"a": -0.0, "b": 0.5, "c": 0.0}})):
        assert [str(label) for label in qrels.labels.tolist()] == ["0.0", "0.5"]


def test_topics_without_judgments_have_an_empty_pool() -> None:
    qrels = Qrels({"1": {"a": 1, "b": 0}, "2": {"c": 1}})
    counts = qrels.counts_for([b"9", b"2", b"8", b"1", b"9"])
    assert counts.table().tolist() == [[0, 0], [0, 1], [0, 0], [1, 1], [0, 0]]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_unjudged_topics_of_the_run_have_no_relevant_documents() -> None:
    run = {topic: {"a": 2.0, "b": 1.0} for topic in ("9", "1", "8")}
    scores = evaluate(run, {"1": {"a": 1, "z": 1}, "2": {"c": 1}}, "num_rel recall@2", topics="run")
    assert scores.by_topic("num_rel") == {"1": 2, "9": 0, "8": 0}
    assert scores.by_topic("recall@2") == {"1": 0.5, "9": 0, "8": 0}


ONE_TOPIC = "there is one topic; too few to tell systems apart"


def test_another_choice_among_duplicates_than_the_qrels_were_read_with_is_named() -> None:
    judgments, run = b"1 0 a 1\n1 0 b 0\n", b"1 Q0 a 1 2 t\n"
    with pytest.warns(EvaluationWarning) as warned:
        evaluate(io.BytesIO(run), of_bytes(judgments, duplicates="last"), "rr", duplicates="first")
    assert [str(warning.message) for warning in warned] == [
        "<file>: read with duplicates='last', so 'first' counts for runs alone; give the same to Qrels",
        ONE_TOPIC,
    ]
    # Qrels that were read without a choice offer no choice.
    for ready in (of_bytes(judgments), of_bytes(judgments, duplicates="first", lenient=True)):
        assert evaluate(io.BytesIO(run), ready, "rr", duplicates="first", lenient=True).notes == [ONE_TOPIC]


@pytest.mark.parametrize(
    "source", [b"1 0 a HRel\n1 0 b 0\n", {"1": {"a": "HRel", "b": 0}}, [("1", "a", "HRel"), ("1", "b", 0)]]
)
def test_a_label_that_never_occurs_is_noted(source: Any) -> None:
    qrels = Qrels(io.BytesIO(source) if isinstance(source, bytes) else source, labels={"HRel": 2, "Hrel": 1, "Rel": 1})
    assert [note.partition(": ")[2] for note in qrels.notes] == ["no judgment has the labels Hrel, Rel of --labels"]
    assert qrels.labels.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("name", "value", "keyword"),
    [("labels", "Rel=2", "labels=…"), ("qrels_format", "beir", "format=…"), ("subtopics", True, "subtopics=True")],
)
def test_options_that_reading_alone_uses_are_refused_beside_qrels(name: str, value: Any, keyword: str) -> None:
    with pytest.raises(InputError, match=rf"^{name}: these .* read without; Qrels\(..., {keyword}\) reads them$"):
        evaluate({"1": {"d": 1.0}}, Qrels({"1": {"d": 1}}), "ap", **{name: value})


def test_labels_given_with_qrels_must_equal_their_own() -> None:
    judged = Qrels({"1": {"d": "Rel"}}, labels="Rel=1")
    assert evaluate({"1": {"d": 1.0}}, judged, "ap", labels={"Rel": 1}).means["ap"] == 1
    with pytest.raises(InputError, match=r"^labels: these qrels were read with others"):
        evaluate({"1": {"d": 1.0}}, judged, "ap", labels="Rel=2")


COUNTED = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"d": 2}, "3": {"e": 0, "f": 0.5}}


def test_counts_of_grades_equal_a_table() -> None:
    counts, table = Qrels(COUNTED).counts, Qrels(COUNTED).pool
    assert table.tolist() == [[1, 0, 2, 0], [0, 0, 0, 1], [1, 1, 0, 0]]
    some = np.array([False, True, True, False])
    assert (counts.per_topic() == table.sum(1)).all()
    assert (counts.per_topic(some) == table[:, some].sum(1)).all()
    rows = np.array([2, 0, 2])
    assert (counts.select(rows).table() == table[rows]).all()
    less = counts.select(rows).without(np.array([1, 1, 2]), np.array([2, 2, 0]))
    assert less.table().tolist() == [[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]
    assert less.sorted_gains(np.array([0.0, 0.5, 1.0, 2.0])).tolist() == [[0.5], [0.0], [0.5]]
    assert counts.sorted_gains(np.array([3.0, 0.0, 1.0, 3.0])).tolist() == [[3, 1, 1], [3, 0, 0], [3, 0, 0]]


def test_counts_of_many_topics_and_grades() -> None:
    topic, code = np.array([0, 0, 2, 2, 2]), np.array([5, 5, 0, 69_999, 1])
    counts = GradeCounts.of(topic, code, 4, 70_000)
    assert [column.tolist() for column in (counts.size, counts.code, counts.count)] == [
        [1, 0, 3, 0],
        [5, 0, 1, 69_999],
        [2, 1, 1, 1],
    ]
