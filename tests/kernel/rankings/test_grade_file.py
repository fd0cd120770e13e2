"""The block reader agrees with the simple reader, in numbers and messages, on files of all kinds."""

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

import gradedeval
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
from support.runs import (
    SIZES,
    awkward,
    both,
    named,
    outcome,
    qrels_beside,
    read_by_line,
    read_in_blocks,
    real_runs,
)


def test_blocks_of_any_size_agree_with_the_simple_reader() -> None:
    draw, rules, kinds = random.Random("default"), Options(), set()
    for number in range(10):
        # Blocks of 32 bytes are many: most files are short, and have as many ways to be cut.
        run, judgments = awkward(draw, most=8 if number % 8 else 40)
        qrels = Qrels(io.BytesIO(judgments))
        chosen = frozenset(draw.sample(qrels.topics, 1))
        simple, in_blocks = both(run, qrels, rules, SIZES[0], chosen)
        others = [
            outcome(partial(read_in_blocks, named(run), qrels, rules, chosen, block=size), chosen) for size in SIZES[1:]
        ]
        assert [in_blocks, *others] == [simple] * len(SIZES), (run, judgments)
        kinds.add(type(simple))
    assert kinds == {str, tuple}


def all_seven(word: Any, length: Any) -> Any:
    return np.full(len(length), 7, dtype=np.uint64)


@pytest.mark.parametrize("files", [5, pytest.param(40, marks=pytest.mark.exhaustive)])
def test_a_collision_of_all_hashes_changes_nothing(files: int) -> None:
    draw = random.Random(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer, "hashes", all_seven)
        for _ in range(files):
            run, judgments = awkward(draw)
            qrels = Qrels(io.BytesIO(judgments))
            for size in SIZES:
                simple, in_blocks = both(run, qrels, Options(duplicates="first"), size)
                assert in_blocks == simple


def test_a_topic_larger_than_a_block_and_a_topic_repeated_at_the_end() -> None:
    lines = [f"{topic} Q0 d{rank} {rank} {1000 - rank} t\n" for topic in range(40) for rank in range(50)]
    qrels = Qrels({str(topic): {f"d{rank}": rank % 3 for rank in range(0, 50, 7)} for topic in range(40)})
    lines += [f"{topic} Q0 late{topic} 51 1500 t\n" for topic in (3, 17)]
    for size in (100, 1000, 10000):
        simple, in_blocks = both("".join(lines).encode(), qrels, Options(), size)
        assert in_blocks == simple
        assert len(in_blocks[0][3][1][0]) == 51


def test_a_large_topic_among_small_ones_takes_little_memory() -> None:
    lines = [f"big Q0 d{number} 1 {-number} t\n" for number in range(30000)] + [
        f"t{number} Q0 d1 1 1 t\n" for number in range(2000)
    ]
    qrels = Qrels({f"t{number}": {"d1": 1} for number in range(2000)} | {"big": {"d7": 1}})
    run = read_in_blocks(named("".join(lines).encode()), qrels, Options())
    assert sum(batch.codes.size for batch in run.batches) < 1 << 19


@pytest.mark.one_in(14)
@pytest.mark.parametrize("fields", range(1, 9))
@pytest.mark.parametrize("first", sampled(range(5), 5))
def test_a_line_of_any_length_has_six_fields_or_is_an_error(fields: int, first: int) -> None:
    qrels = Qrels({"1": {"d": 1}})
    for length in range(2 * fields + first, 140, 5):
        line = b" ".join([*(b"1" for _ in range(fields - 1)), b"x" * (length - 2 * (fields - 1))]) + b"\n"
        for neighbor in (b"1 Q0 d 1 2 t\n", b"1 Q0 d 1 2 " + b"t" * 52 + b"\n"):
            for content in (line, line + neighbor, neighbor + line):
                simple, in_blocks = both(content, qrels, Options(duplicates="first"), 1 << 20)
                assert in_blocks == simple


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("many", "jobs"), sampled([(3, 2), (3, 4), (1 << 12, 3)], 2))
def test_processes_share_the_second_pass(many: int, jobs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shared: list[int] = []

    forked = executors.forked

    def counted(work: Any, tasks: Any, count: int) -> Any:
        shared.append(len(tasks))
        return forked(work, tasks, count)

    monkeypatch.setattr(executors, "forked", counted)
    # Tests of clusters leave threads behind, and with threads no process is forked.
    monkeypatch.setattr(executors, "can_fork", lambda: True)
    sizes: list[int] = []
    add = segments.InterleavedTopics.add
    # Columns are made as large as the bytes read so far let expect.
    monkeypatch.setattr(
        segments.InterleavedTopics, "add", lambda topics, listed: (sizes.append(listed.size), add(topics, listed))[1]
    )
    small = {"large_file": 1, "segment": 3000, "gathered": 100, "topic_stretches": many, "block": 200}
    draw, path = random.Random(5), tmp_path / "run"
    turns = [(topic, rank) for rank in range(20) for topic in range(60)]
    # and then ever new topics that are not judged
    turns += [(group * 40 + topic, rank) for group in range(2, 30) for rank in range(2) for topic in range(40)]
    lines = [f"t{topic} Q0 d{draw.randrange(30)} {rank} {draw.randrange(9)} x\n" for topic, rank in turns]
    path.write_text("".join(lines))
    qrels = Qrels({f"t{topic}": {f"d{rank}": rank % 3 for rank in range(0, 30, 2)} for topic in range(3, 60)})
    rules = Options(duplicates="first", topics="run")
    simple = outcome(lambda: read_by_line(str(path), path.read_bytes(), qrels, rules))
    assert outcome(partial(read_in_blocks, Source(path), qrels, rules, jobs=jobs, **small)) == simple
    assert len(shared) == 3
    assert min(shared) > 4
    assert sum(sizes) == path.stat().st_size


@shared
@pytest.mark.parametrize("path", real_runs())
def test_real_runs_agree_with_the_simple_reader(path: Path) -> None:
    rules = Options(duplicates="first", ties="docno-desc")
    qrels = Qrels(qrels_beside(path), duplicates="first")
    content = Source(path).read()
    simple = outcome(lambda: read_by_line("run", content, qrels, rules))
    for size in (1 << 12, 1 << 21):
        assert outcome(partial(read_in_blocks, named(content), qrels, rules, block=size)) == simple
    assert outcome(lambda: read_in_blocks(named(gzip.compress(content)), qrels, rules)) == simple


RUN = "".join(f"{topic} Q0 d{rank} {rank} {50 - rank} t\n" for topic in range(30) for rank in range(50)).encode()
BACK = RUN + b"3 Q0 late 51 99 t\n"


class Pipe(io.RawIOBase):
    """A stream that returns its bytes once, and a few at a time."""

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
def test_compressed_runs_and_pipes_agree_with_the_simple_reader(
    content: bytes, packed: Callable[[bytes], bytes], size: int
) -> None:
    qrels = Qrels({str(topic): {f"d{rank}": rank % 3 for rank in range(0, 50, 7)} for topic in range(30)})
    simple, in_blocks = both(content, qrels, Options(), size)
    assert in_blocks == simple
    for source in (named(packed(content)), Source(Pipe(packed(content)))):
        assert outcome(partial(read_in_blocks, source, qrels, Options(), block=size)) == simple


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress, packed_with_zstd])
def test_broken_compressed_runs_have_the_error_of_the_stream(packed: Callable[[bytes], bytes]) -> None:
    qrels = Qrels({"1": {"d1": 1}})
    whole = packed(RUN)
    for content in (whole[:-10], whole[:-1], whole[: len(whole) // 2], whole[:20] + b"broken" + whole[26:]):
        with pytest.raises(InputError) as raised:
            named(content).read()
        assert outcome(partial(read_in_blocks, named(content), qrels, Options())) == str(raised.value)


def test_irrelevant_ranks_are_in_no_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `--order file` beat `--ties rank`; if a bad line is skipped the line reader takes over with small batches."""
    run = b"1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n1 Q0 c 3 3 t\n2 Q0 a x 1 t\nbad\n"
    judgments, rules = Qrels(io.BytesIO(b"1 0 b 1\n2 0 a 2\n")), Options(order="file", ties="rank", lenient=True)
    expected = outcome(lambda: read_by_line("run", run, judgments, Options(order="file", lenient=True)))
    monkeypatch.setattr(parallel, "LIMITS", Limits(cells=1))
    assert outcome(lambda: read_by_line("run", run, judgments, rules)) == expected
    assert [codes for _, (codes, *_) in expected[0]] == [[2, 0, 2], [1]]


# The order of documents with equal scores, by hand, however a run lists them.

ORDERS = {
    "docno-desc": ("cba", "cba"),
    "docno-asc": ("abc", "abc"),
    "file": ("abc", "cba"),
    "rank": ("abc", "cba"),
    "best": ("bac", "bac"),
    "worst": ("cab", "cab"),
}
"""By each rule the order of a, b and c where they are listed so, and the other way round: b is relevant, a is not, and
c is not judged."""


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("ties", ORDERS)
def test_tied_documents_follow_the_rule_in_any_order_of_lines(ties: str) -> None:
    for listed, order in zip(("abc", "cba"), ORDERS[ties], strict=True):
        run = "".join(f"1 Q0 {docno} {rank} 1 t\n" for rank, docno in enumerate(listed, 1))
        scores = gradedeval.evaluate(
            io.StringIO(run), io.StringIO("1 0 a 0\n1 0 b 1\n"), "rr judged@1 judged@2", ties=ties
        )
        relevant, judged = order.index("b") + 1, [docno != "c" for docno in order]
        assert list(scores.means.values()) == [1 / relevant, judged[0], sum(judged[:2]) / 2]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize(("ties", "expected"), [("best", 1 / 2), ("worst", 1 / 3)])
def test_a_run_with_a_few_ties_keeps_the_order_of_its_scores(ties: str, expected: float) -> None:
    """Put n, which is not relevant, first and the relevant r last, alone with their scores; a and the relevant b
    share one in between."""
    listed = (("n", 3), ("a", 2), ("b", 2), ("r", 1))
    run = "".join(f"{topic} Q0 {docno} 1 {score} t\n" for topic in "12" for docno, score in listed)
    qrels = "".join(f"{topic} 0 b 1\n{topic} 0 r 1\n" for topic in "12")
    scores = gradedeval.evaluate(io.StringIO(run), io.StringIO(qrels), "rr", ties=ties)
    assert [row.score for row in scores.rows() if row.topic in ("1", "2")] == [expected, expected]
