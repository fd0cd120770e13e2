"""Ids with one hash by design: equal results with any secret, after few looks at each id."""

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradedeval import evaluate
from gradedeval.errors import EvaluationWarning
from gradedeval.kernel import parallel
from gradedeval.kernel.parallel import Limits
from gradedeval.kernel.rankings import docnos as columns
from gradedeval.kernel.rankings import submissions
from gradedeval.kernel.rankings.docnos import Docnos, Index, TopicBuckets, hash_join, most_probes, repeats
from gradedeval.kernel.rankings.document_numbers import DocumentNumbers
from gradedeval.kernel.rankings.submissions import Submission
from gradedeval.kernel.trec.tokenizer import Words
from support.colliding_ids import colliding_ids, unlike_ids
from support.commands import Command, Outcome
from support.dated import dated
from support.every_command import BESIDE, POSITIONS, WORDS, collection, filled

SECRETS = [b"", bytes(16), b"sixteen letters.", bytes(range(255, 239, -1))]
COUNT = 3000

Hashes = Callable[[Docnos], Words]

HASHES: dict[str, Hashes] = {
    "one hash": lambda docnos: np.full(len(docnos), 7, dtype=np.uint64),
    "one slot": lambda docnos: np.arange(len(docnos), dtype=np.uint64),
    "the last slots": lambda docnos: np.uint64(2**64 - 1) - np.arange(len(docnos), dtype=np.uint64),
    "chains": lambda docnos: (np.arange(len(docnos), dtype=np.uint64) % np.uint64(50)) << np.uint64(58),
}
"""Hashes of docnos that fill few slots."""


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the number of documents in each NumPy search or comparison that may look at slots."""
    counted: list[int] = []
    flatnonzero = np.flatnonzero

    def count(condition: Any) -> Any:
        counted.append(len(condition))
        return flatnonzero(condition)

    monkeypatch.setattr(np, "flatnonzero", count)
    return counted


def docnos_of(names: list[bytes], hashes: Hashes) -> Docnos:
    docnos = Docnos.of(names)
    return Docnos(docnos.buffer, docnos.start, docnos.length, hashes(docnos))


def index_of(docnos: Docnos, topic: Any) -> Index:
    return Index(docnos, topic, 2)


@pytest.mark.parametrize("kind", HASHES)
def test_an_index_looks_at_few_slots(kind: str, looks: list[int]) -> None:
    docnos, topic = docnos_of(unlike_ids(COUNT), HASHES[kind]), np.arange(COUNT) % 2
    index = index_of(docnos, topic)
    positions, rows = index.find(topic, docnos)
    assert positions.tolist() == rows.tolist() == list(range(COUNT))
    assert not len(index.find(1 - topic, docnos)[0])
    assert sum(looks) < 30 * COUNT  # of one slot: COUNT² / 4


@pytest.mark.parametrize("kind", HASHES)
def test_searched_documents_collide_with_few_of_the_index(kind: str, looks: list[int]) -> None:
    """Check that colliding documents count, even if the index alone has too few to notice."""
    docnos = docnos_of(unlike_ids(COUNT), HASHES[kind])
    few, topic = docnos[: most_probes(COUNT) // COUNT * 20], np.zeros(COUNT, dtype=np.int64)
    index = index_of(few, topic[: len(few)])
    positions, rows = index.find(topic, docnos)
    assert positions.tolist() == rows.tolist() == list(range(len(few)))
    assert sum(looks) < 30 * COUNT


@pytest.mark.parametrize("kind", HASHES)
def test_numbers_look_at_few_slots(kind: str, looks: list[int]) -> None:
    docnos, topic, numbers = docnos_of(unlike_ids(COUNT), HASHES[kind]), np.zeros(COUNT, np.int64), DocumentNumbers()
    for begin in range(0, COUNT, COUNT // 5):
        part = slice(0, begin + COUNT // 5)
        assert numbers.numbers(topic[part], docnos[part]).tolist() == list(range(part.stop))
    assert sum(looks) < 60 * COUNT


@pytest.mark.parametrize("kind", HASHES)
def test_a_join_gives_up(kind: str, looks: list[int]) -> None:
    docnos = docnos_of(unlike_ids(COUNT), HASHES[kind])
    buckets, topic = TopicBuckets(np.array([COUNT])), np.zeros(COUNT, dtype=np.int64)
    place = buckets.places(topic, docnos.hashed)
    assert hash_join(docnos.hashed, place, buckets.size, docnos.hashed, place)[2]
    assert sum(looks) < 30 * COUNT
    assert not repeats(topic, 1, docnos)
    assert repeats(topic[:2], 1, docnos[np.array([5, 5])])


@pytest.mark.parametrize("width", [1, 8, 13, 32, 40, 700])
def test_hashes_depend_on_the_text_and_the_secret_alone(width: int) -> None:
    names = [b"%d" % number * width for number in range(300)]
    hashes = [Docnos.of(names).keyed(secret) for secret in SECRETS]
    assert len({tuple(hashed.tolist()) for hashed in hashes}) == len(SECRETS)
    for secret, hashed in zip(SECRETS, hashes, strict=True):
        assert len(set(hashed.tolist())) == len(names)
        alone = [Docnos.of([name]).keyed(secret)[0] for name in names]
        assert hashed.tolist() == list(map(int, alone))


@pytest.mark.parametrize("secret", SECRETS)
def test_ids_that_differ_in_high_bits_of_words_collide_with_no_secret(secret: bytes) -> None:
    """Check the highest bits of sums: with a factor for each word these ids would have two hashes in all."""
    pairs = np.array([[0, (1 << 63) | (1 << 31)]] * 8, dtype=np.uint64)
    choice = np.arange(256)[:, None] >> np.arange(8) & 1
    words = np.uint64(0x6161616161616161) ^ pairs[np.arange(8), choice]
    names = [row.astype("<u8").tobytes() for row in words]
    assert len(set(names)) == len(set(Docnos.of(names).keyed(secret).tolist())) == 256


def test_ids_are_made_to_collide() -> None:
    ids = colliding_ids(COUNT)
    assert len(set(ids)) == COUNT
    assert len(set(Docnos.of(ids).hashed.tolist())) == 1
    assert {len(name) for name in (*ids, *unlike_ids(COUNT))} == {32}


def test_a_pickled_index_keeps_its_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    docnos, topic = Docnos.of(colliding_ids(COUNT)), np.zeros(COUNT, dtype=np.int64)
    index = index_of(docnos, topic)
    index.fill()
    there = pickle.loads(pickle.dumps(index))
    monkeypatch.setattr(columns, "new_secret", lambda: pytest.fail("the table is filled again"))
    positions, rows = there.find(topic, docnos)
    assert positions.tolist() == rows.tolist() == list(range(COUNT))


def scores_of(run: list[str], judged: list[str], **options: Any) -> dict[str, float]:
    files = (io.BytesIO("".join(lines).encode()) for lines in (run, judged))
    return evaluate(*files, "ap", **options).by_topic("ap")


def test_colliding_ids_have_the_scores_of_other_ids(looks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Check runs and qrels with colliding documents and topics, some of them listed twice."""
    monkeypatch.setattr(parallel, "LIMITS", Limits(topic_stretches=1))
    evaluations = []
    for ids in ([name.decode() for name in make(COUNT)] for make in (unlike_ids, colliding_ids)):
        looks.clear()
        judged = [f"{number % 2} 0 {docno} {number % 3}\n" for number, docno in enumerate(ids)]
        run = [f"{number % 2} Q0 {docno} 1 {-(number * 7 % 1000)} t\n" for number, docno in enumerate([*ids, *ids[:9]])]
        with pytest.warns(EvaluationWarning, match="dropped 9 duplicate documents"):
            by_document = scores_of(run, judged, duplicates="first", ties="file")
        turns = [f"{topic} Q0 d{number} 1 {2 - number} t\n" for number in range(2) for topic in ids]
        by_topic = scores_of(turns, [f"{topic} 0 d{len(topic) % 2} 1\n" for topic in ids])
        evaluations.append((by_document, list(by_topic.values()), sum(looks)))
    assert evaluations[0][:2] == evaluations[1][:2]
    assert evaluations[1][2] < 3 * evaluations[0][2]


def test_other_documents_with_the_same_hashes_are_not_a_copy(cli: Command, tmp_path: Path) -> None:
    ids = [name.decode() for name in colliding_ids(4)]
    for name, docnos in {"a": ids[:2], "b": ids[2:], "c": ids[:2]}.items():
        lines = [f"1 Q0 {docno} {rank} {-rank} {name}\n" for rank, docno in enumerate(docnos)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    output = cli("lint", "a.run", "b.run", "c.run")
    assert output.text.count("has the same documents and scores as") == 1
    assert "has the same documents and scores as a.run" in output.text


def test_a_submission_of_colliding_ids_is_read_as_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "a.run"
    run.write_bytes(b"".join(b"1 Q0 %b 1 1 t\n" % name for name in colliding_ids(COUNT)))
    monkeypatch.setattr(submissions, "whole_lines", lambda *_: pytest.fail("it is read line by line"))
    assert len(Submission.read("run", str(run)).listed) == COUNT


# Every command, with tables that are filled by secrets from the first document on.

IDS = {"docno": b"d", "topic": b"7", "run": b"a", "tag": b"t"}
COMMANDS = [name for name in WORDS if not name.startswith("plot ")]


def outputs(name: str, cli: Command) -> list[tuple[Outcome, dict[str, bytes]]]:
    assert IDS.keys() == set(POSITIONS)
    every = []
    for words in WORDS[name]:
        for file in BESIDE:
            Path(file).unlink(missing_ok=True)
        outcome = cli(*name.split(), *filled(words, IDS))
        every.append((outcome, {file: dated(Path(file).read_bytes()) for file in BESIDE if Path(file).exists()}))
    return every


@pytest.mark.one_in(5)
@pytest.mark.parametrize("secrets", [SECRETS[2:3], pytest.param(SECRETS[1::2], marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", COMMANDS)
def test_outputs_ignore_secrets(name: str, secrets: list[bytes], cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    collection(IDS)
    plainly = outputs(name, cli)
    monkeypatch.setattr(columns, "PROBES", 0)
    monkeypatch.setattr(columns, "FEWEST_PROBES", 0)
    for secret in secrets:
        monkeypatch.setattr(columns, "urandom", lambda size, secret=secret: secret[:size])
        assert outputs(name, cli) == plainly
