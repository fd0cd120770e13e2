"""The block reader agrees with the simple reader, bit for bit and word for word, whatever the file looks like."""

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradedeval.errors import InputError
from gradedeval.kernel import parallel
from gradedeval.kernel.options import Options
from gradedeval.kernel.parallel import Limits, executors
from gradedeval.kernel.rankings import segments
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.trec import tokenizer
from gradedeval.kernel.trec.stream import Source
from support.examples import sampled
from support.paths import shared
from support.processes import nobody_is_left
from support.runs import (
    SIZES,
    awkward,
    both,
    named,
    outcome,
    qrels_beside,
    read_by_line,
    read_in_blocks,
    read_simply,
    real_runs,
    same_qrels,
)

RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "docno-asc": {"ties": "docno-asc"},
    "ties as listed": {"ties": "file"},
    "ties by rank": {"ties": "rank"},
    "best": {"ties": "best"},
    "worst": {"ties": "worst"},
    "as listed": {"order": "file"},
    "float32": {"order": "float32"},
    "depth": {"depth": 3},
    "judged only": {"judged_only": True, "depth": 2},
    "first": {"duplicates": "first"},
    "last": {"duplicates": "last"},
    "lenient": {"lenient": True, "duplicates": "last"},
    "both": {"topics": "both"},
    "run": {"topics": "run"},
    "relevant": {"topics": "relevant"},
    "folds": {"topics_from": frozenset([b"2", b"t3", b"nowhere"])},
    "negative": {"negative": "unjudged", "judged_only": True},
}


@pytest.mark.parametrize(
    ("files", "name"), [(10, "default"), *(pytest.param(60, name, marks=pytest.mark.exhaustive) for name in RULES)]
)
def test_blocks_of_any_size_give_what_the_simple_reader_gives(files: int, name: str) -> None:
    draw = random.Random(name)
    rules = Options(**RULES[name])
    said = set()
    for number in range(files):
        # Blocks of 32 bytes are many: most files are short, and have as many ways to be cut.
        run, judgments = awkward(draw, most=8 if number % 8 else 40)
        read = Qrels(io.BytesIO(judgments))
        wanted = frozenset(draw.sample(read.topics, 1))
        simple, found = both(run, read, rules, SIZES[0], wanted)
        others = [
            outcome(partial(read_in_blocks, named(run), read, rules, wanted, block=size), wanted) for size in SIZES[1:]
        ]
        assert [found, *others] == [simple] * len(SIZES), (run, judgments)
        said.add(type(simple))
    assert said == {str, tuple}


def all_seven(word: Any, length: Any) -> Any:
    return np.full(len(length), 7, dtype=np.uint64)


@pytest.mark.parametrize("files", [5, pytest.param(40, marks=pytest.mark.exhaustive)])
def test_a_collision_of_all_hashes_changes_nothing(files: int) -> None:
    draw = random.Random(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer, "hashes", all_seven)
        for _ in range(files):
            run, judgments = awkward(draw)
            read = Qrels(io.BytesIO(judgments))
            for size in SIZES:
                simple, found = both(run, read, Options(duplicates="first"), size)
                assert found == simple


@pytest.mark.parametrize(
    ("files", "more"), [(6, -1), *(pytest.param(60, more, marks=pytest.mark.exhaustive) for more in (-1, 1000))]
)
def test_either_side_may_be_looked_up_in_the_other(files: int, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "LIMITS", Limits(judged_ratio=more))
    draw = random.Random(8)
    for _ in range(files):
        run, judgments = awkward(draw)
        lines = judgments.splitlines(keepends=True)
        draw.shuffle(lines)
        read = Qrels(io.BytesIO(b"".join(lines)))
        for size in SIZES:
            simple, found = both(run, read, Options(duplicates="first"), size)
            assert found == simple


@pytest.mark.exhaustive
def test_topics_with_one_hash_stay_in_order_of_appearance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        tokenizer, "hashes", lambda word, length: (word(0, slice(None)) & np.uint64(3)) << np.uint64(60)
    )
    monkeypatch.setattr(parallel, "LIMITS", Limits(topic_stretches=1))
    draw = random.Random(6)
    for _ in range(60):
        run, judgments = awkward(draw)
        lines = judgments.splitlines(keepends=True)
        draw.shuffle(lines)
        content = b"".join(lines)
        read = Qrels(io.BytesIO(content))
        same_qrels(read, read_simply(content))
        for size in SIZES:
            simple, found = both(run, read, Options(duplicates="first", topics="run"), size)
            assert found == simple


def test_a_judged_document_with_the_hash_of_another_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_first_letter(word: Any, length: Any) -> Any:
        return (word(0, slice(None)) & np.uint64(0xFF)) << np.uint64(56)

    monkeypatch.setattr(tokenizer, "hashes", by_first_letter)
    read = Qrels(io.BytesIO(b"".join(b"1 0 %c%d 2\n" % (letter, letter % 3) for letter in range(65, 91))))
    run = b"".join(b"1 Q0 %c1 1 %d x\n" % (letter, letter) for letter in range(65, 91))
    simple, found = both(run, read, Options(), 1 << 20)
    assert found == simple


def test_a_topic_larger_than_a_block_and_a_topic_that_comes_back_at_the_end() -> None:
    lines = [f"{topic} Q0 d{at} {at} {1000 - at} t\n" for topic in range(40) for at in range(50)]
    read = Qrels({str(topic): {f"d{at}": at % 3 for at in range(0, 50, 7)} for topic in range(40)})
    lines += [f"{topic} Q0 late{topic} 51 1500 t\n" for topic in (3, 17)]
    for size in (100, 1000, 10000):
        simple, found = both("".join(lines).encode(), read, Options(), size)
        assert found == simple
        assert len(found[0][3][1][0]) == 51


@pytest.mark.exhaustive
@pytest.mark.parametrize("rules", sampled([Options(), Options(topics="run", ties="rank")], 2, 1), ids=str)
def test_many_topics_that_take_turns(rules: Options) -> None:
    draw = random.Random(5)
    lines = [f"{topic} Q0 d{at} {at} {draw.random()} t\n" for at in range(12) for topic in range(2500)]
    read = Qrels({str(topic): {f"d{at}": at % 3 for at in range(0, 12, 3)} for topic in range(0, 2500, 2)})
    for size in (1 << 17, 1 << 21):
        simple, found = both("".join(lines).encode(), read, rules, size)
        assert found == simple


def test_one_topic_of_many_documents_among_small_ones_stays_small() -> None:
    lines = [f"big Q0 d{at} 1 {-at} t\n" for at in range(30000)] + [f"t{at} Q0 d1 1 1 t\n" for at in range(2000)]
    read = Qrels({f"t{at}": {"d1": 1} for at in range(2000)} | {"big": {"d7": 1}})
    run = read_in_blocks(named("".join(lines).encode()), read, Options())
    assert sum(batch.codes.size for batch in run.batches) < 1 << 19


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "spoilt",
    [
        b"",
        b"\n \n",
        b"# only a comment\n",
        b"1 Q0 d 1 2\n",
        b"1 Q0 d 1 2 t more\n",
        b"1 Q0 d 1 nan t\n",
        b"1 Q0 d 1 inf t\n",
        b"1 Q0 d 1 1_0 t\n",
        b"1 Q0 d 1 0x1p3 t\n",
        b"1 Q0 d 1 1e999 t\n",
        b"1 Q0 d\x00 1 1 t\n",
        b"1 Q0 d 1 1 t\r1 Q0 e 1 1 t\n",
        b"1 Q0 d 1 1 t\n1 Q0 d 2 1 t\n",
        b"1 0 d 1\n",
        b"9 Q0 d 1 1 t\n",
    ],
)
def test_faults_are_told_as_the_simple_reader_tells_them(spoilt: bytes) -> None:
    read = Qrels({"1": {"d": 1}})
    good = b"".join(b"%d Q0 d%d 1 1 t\n" % (topic, topic) for topic in range(2, 30))
    for content in (spoilt, good + spoilt):
        for size in SIZES:
            simple, found = both(content, read, Options(), size)
            assert found == simple


@pytest.mark.one_in(14)
@pytest.mark.parametrize("fields", range(1, 9))
@pytest.mark.parametrize("first", sampled(range(5), 5))
def test_a_line_of_any_length_has_its_six_fields_or_is_told(fields: int, first: int) -> None:
    read = Qrels({"1": {"d": 1}})
    for length in range(2 * fields + first, 140, 5):
        line = b" ".join([*(b"1" for _ in range(fields - 1)), b"x" * (length - 2 * (fields - 1))]) + b"\n"
        for beside in (b"1 Q0 d 1 2 t\n", b"1 Q0 d 1 2 " + b"t" * 52 + b"\n"):
            for content in (line, line + beside, beside + line):
                simple, found = both(content, read, Options(duplicates="first"), 1 << 20)
                assert found == simple


@pytest.mark.exhaustive
def test_processes_share_a_large_file_and_give_the_same(tmp_path: Path) -> None:
    draw, path = random.Random(4), tmp_path / "run"
    for size in (300, 3000):
        for jobs in (1, 2, 3) * 8:
            run, judgments = awkward(draw)
            path.write_bytes(run)
            read = Qrels(io.BytesIO(judgments))
            for rules in (Options(), Options(duplicates="last", ties="rank"), Options(lenient=True)):
                simple = outcome(lambda: read_by_line(str(path), run, read, rules))  # noqa: B023
                among_all = partial(
                    read_in_blocks, Source(path), read, rules, jobs=jobs, large_file=1, segment=size, block=100
                )
                assert outcome(among_all) == simple
    assert nobody_is_left()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("many", "jobs"), sampled([(3, 2), (3, 4), (1 << 12, 3)], 2))
def test_processes_share_the_second_pass(many: int, jobs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shared: list[int] = []

    forked = executors.forked

    def counted(work: Any, tasks: Any, count: int) -> Any:
        shared.append(len(tasks))
        return forked(work, tasks, count)

    monkeypatch.setattr(executors, "forked", counted)
    # Tests of clusters leave threads behind, beside which nothing would be forked.
    monkeypatch.setattr(executors, "can_fork", lambda: True)
    sizes: list[int] = []
    add = segments.InterleavedTopics.add
    # Columns are made as large as the bytes read so far let expect.
    monkeypatch.setattr(
        segments.InterleavedTopics, "add", lambda topics, listed: (sizes.append(listed.size), add(topics, listed))[1]
    )
    small = {"large_file": 1, "segment": 3000, "gathered": 100, "topic_stretches": many, "block": 200}
    draw, path = random.Random(5), tmp_path / "run"
    turns = [(topic, at) for at in range(20) for topic in range(60)]
    # and then ever new topics that are not judged
    turns += [(group * 40 + topic, at) for group in range(2, 30) for at in range(2) for topic in range(40)]
    lines = [f"t{topic} Q0 d{draw.randrange(30)} {at} {draw.randrange(9)} x\n" for topic, at in turns]
    path.write_text("".join(lines))
    read = Qrels({f"t{topic}": {f"d{at}": at % 3 for at in range(0, 30, 2)} for topic in range(3, 60)})
    rules = Options(duplicates="first", topics="run")
    simple = outcome(lambda: read_by_line(str(path), path.read_bytes(), read, rules))
    assert outcome(partial(read_in_blocks, Source(path), read, rules, jobs=jobs, **small)) == simple
    assert len(shared) == 3
    assert min(shared) > 4
    assert sum(sizes) == path.stat().st_size


@shared
@pytest.mark.parametrize("path", real_runs())
def test_real_runs_give_what_the_simple_reader_gives(path: Path) -> None:
    rules = Options(duplicates="first", ties="docno-desc")
    read = Qrels(qrels_beside(path), duplicates="first")
    content = Source(path).read()
    simple = outcome(lambda: read_by_line("run", content, read, rules))
    for size in (1 << 12, 1 << 21):
        assert outcome(partial(read_in_blocks, named(content), read, rules, block=size)) == simple
    assert outcome(lambda: read_in_blocks(named(gzip.compress(content)), read, rules)) == simple


RUN = "".join(f"{topic} Q0 d{at} {at} {50 - at} t\n" for topic in range(30) for at in range(50)).encode()
BACK = RUN + b"3 Q0 late 51 99 t\n"


class Pipe(io.RawIOBase):
    """What gives its bytes once, and a few at a time."""

    def __init__(self, content: bytes) -> None:
        self.content = io.BytesIO(content)
        self.name = "run"

    def readable(self) -> bool:
        return True

    def emit_notes(self) -> int:
        raise OSError("no place in a pipe")

    def readinto(self, view: Any) -> int:
        got = self.content.read(min(len(view), 700))
        view[: len(got)] = got
        return len(got)


def gzip_members(content: bytes) -> bytes:
    return gzip.compress(content[:900]) + gzip.compress(content[900:]) + b"\0" * 9


def packed_with_zstd(content: bytes) -> bytes:
    packed: bytes = pytest.importorskip("zstandard").compress(content)
    return packed


@pytest.mark.one_in(20)
@pytest.mark.parametrize("content", [RUN, BACK], ids=["contiguous", "comes back"])
@pytest.mark.parametrize("packed", [bytes, gzip.compress, gzip_members, bz2.compress, lzma.compress, packed_with_zstd])
@pytest.mark.parametrize("size", sampled([300, 1 << 21], 2))
def test_packed_runs_and_pipes_give_the_same(content: bytes, packed: Callable[[bytes], bytes], size: int) -> None:
    read = Qrels({str(topic): {f"d{at}": at % 3 for at in range(0, 50, 7)} for topic in range(30)})
    simple, found = both(content, read, Options(), size)
    assert found == simple
    for source in (named(packed(content)), Source(Pipe(packed(content)))):
        assert outcome(partial(read_in_blocks, source, read, Options(), block=size)) == simple


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress, packed_with_zstd])
def test_broken_packed_runs_are_told_as_before(packed: Callable[[bytes], bytes]) -> None:
    read = Qrels({"1": {"d1": 1}})
    whole = packed(RUN)
    for content in (whole[:-10], whole[:-1], whole[: len(whole) // 2], whole[:20] + b"broken" + whole[26:]):
        with pytest.raises(InputError) as told:
            named(content).read()
        assert outcome(partial(read_in_blocks, named(content), read, Options())) == str(told.value)


def test_ranks_that_do_not_matter_are_in_no_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--order file` beats `--ties rank`; with a bad line skipped the line reader stands in, and batches are small."""
    run = b"1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n1 Q0 c 3 3 t\n2 Q0 a x 1 t\nbad\n"
    judgments, rules = Qrels(io.BytesIO(b"1 0 b 1\n2 0 a 2\n")), Options(order="file", ties="rank", lenient=True)
    expected = outcome(lambda: read_by_line("run", run, judgments, Options(order="file", lenient=True)))
    monkeypatch.setattr(parallel, "LIMITS", Limits(cells=1))
    assert outcome(lambda: read_by_line("run", run, judgments, rules)) == expected
    assert [codes for _, (codes, *_) in expected[0]] == [[2, 0, 2], [1]]
