"""The block reader agrees with the simple reader, bit for bit and word for word, whatever the file looks like."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradedeval.errors import InputError
from gradedeval.options import Options
from gradedeval.parallel import forks, workers
from gradedeval.parallel.workers import Limits
from gradedeval.rankings import docno_index as index
from gradedeval.rankings import qrels
from gradedeval.rankings import qrels_columns as judged
from gradedeval.rankings.qrels import Qrels
from gradedeval.trec import stream, topic_blocks
from gradedeval.trec import swar as words
from gradedeval.trec import tokenizer as blocks
from gradedeval.trec.floats import decimals, sort_keys
from gradedeval.trec.lines import NeedsLineReader, decimal
from gradedeval.trec.source import Source
from gradedeval.trec.swar import PAD, equal, gather, gather_trailing, hashes, padded, run_starts, words_at
from support.examples import drawn
from support.paths import DATA, shared
from support.runs import SIZES, awkward, both, named, outcome, qrels_beside, read_by_line, read_in_blocks, real_runs

RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "docno-asc": {"ties": "docno-asc"},
    "ties as listed": {"ties": "file"},
    "ties by rank": {"ties": "rank"},
    "best": {"ties": "best"},
    "worst": {"ties": "worst"},
    "as listed": {"order": "file"},
    "float32": {"scores": "float32"},
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


def read_simply(content: bytes, **options: Any) -> Qrels:
    """Qrels by the simple reader alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qrels, "read_judgments", refused)
        return Qrels(io.BytesIO(content), **options)


def refused(*_: Any) -> Any:
    raise NeedsLineReader


# Generated files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("files", [20, pytest.param(120, marks=pytest.mark.exhaustive)])
def test_blocks_of_any_size_give_what_the_simple_reader_gives(files: int, name: str) -> None:
    draw = random.Random(name)
    rules = Options(**RULES[name])
    said = set()
    for _ in range(files):
        run, judgements = awkward(draw)
        read = Qrels(io.BytesIO(judgements))
        wanted = frozenset(draw.sample(read.topics, 1))
        simple, found = both(run, read, rules, SIZES[0], wanted)
        others = [outcome(partial(read_in_blocks, named(run), read, rules, wanted, block=size)) for size in SIZES[1:]]
        assert [found, *others] == [simple] * len(SIZES), (run, judgements)
        said.add(type(simple))
    assert said == {str, tuple}


def all_seven(word: Any, length: Any) -> Any:
    return np.full(len(length), 7, dtype=np.uint64)


@pytest.mark.parametrize("files", [10, pytest.param(40, marks=pytest.mark.exhaustive)])
def test_a_collision_of_all_hashes_changes_nothing(files: int) -> None:
    draw = random.Random(3)
    with pytest.MonkeyPatch.context() as patch:
        for module in (words, blocks):
            patch.setattr(module, "hashes", all_seven)
        for _ in range(files):
            run, judgements = awkward(draw)
            read = Qrels(io.BytesIO(judgements))
            for size in SIZES:
                simple, found = both(run, read, Options(duplicates="first"), size)
                assert found == simple


@pytest.mark.parametrize("more", [-1, 1000])
@pytest.mark.parametrize("files", [15, pytest.param(60, marks=pytest.mark.exhaustive)])
def test_documents_are_looked_up_among_the_judged_or_the_judged_among_them(
    files: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "LIMITS", Limits(judged_ratio=more))
    draw = random.Random(8)
    for _ in range(files):
        run, judgements = awkward(draw)
        lines = judgements.splitlines(keepends=True)
        draw.shuffle(lines)
        read = Qrels(io.BytesIO(b"".join(lines)))
        for size in SIZES:
            simple, found = both(run, read, Options(duplicates="first"), size)
            assert found == simple


@pytest.mark.parametrize("files", [15, pytest.param(60, marks=pytest.mark.exhaustive)])
def test_topics_with_one_hash_stay_in_order_of_appearance(files: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (words, blocks):
        monkeypatch.setattr(
            module, "hashes", lambda word, length: (word(0, slice(None)) & np.uint64(3)) << np.uint64(60)
        )
    monkeypatch.setattr(workers, "LIMITS", Limits(topic_runs=1))
    draw = random.Random(6)
    for _ in range(files):
        run, judgements = awkward(draw)
        lines = judgements.splitlines(keepends=True)
        draw.shuffle(lines)
        content = b"".join(lines)
        read = Qrels(io.BytesIO(content))
        same_qrels(read, read_simply(content))
        for size in SIZES:
            simple, found = both(run, read, Options(duplicates="first", topics="run"), size)
            assert found == simple


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
        assert len(set(hashes(gather(words_at(buffer), start), end - start).tolist())) == len(letters) ** 2


def test_a_file_of_one_topic_is_looked_through_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, looked = tmp_path / "run", []
    path.write_bytes(b"".join(b"1 Q0 d%d 1 1 t\n" % at for at in range(20000)))
    read_into = stream.Segment.read_into
    monkeypatch.setattr(
        stream.Segment, "read_into", lambda self, view: looked.append(len(view)) or read_into(self, view)
    )
    with path.open("rb") as file:
        whole = stream.Segment(file.fileno(), 0, path.stat().st_size)
        assert len(topic_blocks.segments(whole, 2, 1000)) == 1
        assert sum(looked) < 1.2 * path.stat().st_size
        path.write_bytes(path.read_bytes() + b"2 Q0 d 1 1 t\n" * 100)
        whole = stream.Segment(file.fileno(), 0, path.stat().st_size)
        assert [segment.at for segment in topic_blocks.segments(whole, 2, 1000)] == [0, whole.end - 1300]


def test_a_judged_document_with_the_hash_of_another_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_first_letter(word: Any, length: Any) -> Any:
        return (word(0, slice(None)) & np.uint64(0xFF)) << np.uint64(56)

    for module in (words, blocks):
        monkeypatch.setattr(module, "hashes", by_first_letter)
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


def test_many_topics_that_take_turns() -> None:
    draw = random.Random(5)
    lines = [f"{topic} Q0 d{at} {at} {draw.random()} t\n" for at in range(12) for topic in range(5000)]
    read = Qrels({str(topic): {f"d{at}": at % 3 for at in range(0, 12, 3)} for topic in range(0, 5000, 2)})
    for rules in (Options(), Options(topics="run", ties="rank")):
        for size in (1 << 18, 1 << 22):
            simple, found = both("".join(lines).encode(), read, rules, size)
            assert found == simple


def test_one_topic_of_many_documents_among_small_ones_stays_small() -> None:
    lines = [f"big Q0 d{at} 1 {-at} t\n" for at in range(30000)] + [f"t{at} Q0 d1 1 1 t\n" for at in range(2000)]
    read = Qrels({f"t{at}": {"d1": 1} for at in range(2000)} | {"big": {"d7": 1}})
    run = read_in_blocks(named("".join(lines).encode()), read, Options())
    assert sum(batch.codes.size for batch in run.batches) < 1 << 19


@pytest.mark.parametrize(
    "spoilt",
    [
        b"",
        b"\n \n",
        b"# only a comment\n",
        b"\xef\xbb\xbf1 Q0 d 1 2 t\n",
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


@pytest.mark.parametrize("fields", range(1, 9))
def test_a_line_of_any_length_has_its_six_fields_or_is_told(fields: int) -> None:
    read = Qrels({"1": {"d": 1}})
    for length in range(2 * fields, 140):
        line = b" ".join([*(b"1" for _ in range(fields - 1)), b"x" * (length - 2 * (fields - 1))]) + b"\n"
        for beside in (b"1 Q0 d 1 2 t\n", b"1 Q0 d 1 2 " + b"t" * 52 + b"\n"):
            for content in (line, line + beside, beside + line):
                simple, found = both(content, read, Options(duplicates="first"), 1 << 20)
                assert found == simple


@pytest.mark.parametrize("files", [3, pytest.param(12, marks=pytest.mark.exhaustive)])
def test_processes_share_a_large_file_and_give_the_same(files: int, tmp_path: Path) -> None:
    draw, path = random.Random(4), tmp_path / "run"
    for size in (300, 3000):
        for jobs in (1, 2, 3) * files:
            run, judgements = awkward(draw)
            path.write_bytes(run)
            read = Qrels(io.BytesIO(judgements))
            for rules in (Options(), Options(duplicates="last", ties="rank"), Options(lenient=True)):
                simple = outcome(lambda: read_by_line(str(path), run, read, rules))  # noqa: B023
                among_all = partial(
                    read_in_blocks, Source(path), read, rules, jobs=jobs, large_file=1, segment=size, block=100
                )
                assert outcome(among_all) == simple
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # nobody is left behind


@pytest.mark.parametrize(("many", "jobs"), [(3, 2), (3, 4), (1 << 12, 3)])
def test_processes_share_the_second_pass_over_topics_that_take_turns(
    many: int, jobs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shared: list[int] = []

    imap_unordered = forks.imap_unordered

    def counted(work: Any, numbers: Any, jobs: int) -> Any:
        shared.append(len(numbers))
        return imap_unordered(work, numbers, jobs)

    monkeypatch.setattr(forks, "imap_unordered", counted)
    small = {"large_file": 1, "segment": 3000, "gathered": 100, "topic_runs": many, "block": 200}
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


# Real files -----------------------------------------------------------------------------------------------------------


@shared
@pytest.mark.parametrize("path", real_runs())
def test_real_runs_give_what_the_simple_reader_gives(path: Path) -> None:
    rules = Options(duplicates="first", ties="docno-desc")
    read = Qrels(qrels_beside(path), duplicates="first")
    content = Source(path).read()
    for size in (1 << 12, 1 << 21):
        simple, found = both(content, read, rules, size)
        assert found == simple
        compressed = outcome(lambda: read_in_blocks(named(gzip.compress(content)), read, rules))
        assert compressed == simple


@shared
def test_real_qrels_give_what_the_simple_reader_gives() -> None:
    paths = [path for path in sorted(DATA.rglob("*qrels*")) if path.is_file() and "out" not in path.name]
    compared = 0
    for path in paths:
        content = Source(path).read()
        simple, found = (made(read_simply, content), made(of_bytes, content))
        if isinstance(simple, str):
            assert found == simple
        else:
            same_qrels(found, simple)
            compared += 1
    assert compared > 5


def of_bytes(content: bytes, **options: Any) -> Qrels:
    return Qrels(io.BytesIO(content), **options)


def made(read: Callable[..., Qrels], content: bytes) -> Any:
    """The qrels, or what is wrong with them."""
    try:
        return read(content, duplicates="first")
    except InputError as error:
        return str(error)


def same_qrels(blocks: Qrels, simple: Qrels) -> None:
    assert blocks.topics == simple.topics
    assert blocks.labels.tolist() == simple.labels.tolist()
    assert (blocks.pool == simple.pool).all()
    assert blocks.codes == simple.codes
    assert blocks.notes == simple.notes
    assert blocks.digest == simple.digest


@pytest.mark.parametrize(
    ("jobs", "rounds", "together"),
    [
        *((1, 30, 1 << 16), (1, 15, 2), (2, 6, 1 << 16)),
        *(
            pytest.param(*many, marks=pytest.mark.exhaustive)
            for many in ((1, 150, 1 << 16), (1, 50, 2), (2, 20, 1 << 16))
        ),
    ],
)
def test_generated_qrels_give_what_the_simple_reader_gives(
    jobs: int, rounds: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(9)
    monkeypatch.setattr(judged, "SHARED", 0)
    monkeypatch.setattr(judged, "TOGETHER", together)
    for size in (64, 1 << 20):
        monkeypatch.setattr(judged, "PART", size)
        for _ in range(rounds):
            _, content = awkward(draw)
            if draw.random() < 0.3:
                lines = content.splitlines(keepends=True)
                draw.shuffle(lines)
                content = b"".join(lines + lines[: draw.randint(0, 2)]).rstrip(b"\n")
            if draw.random() < 0.3:
                content = content.replace(b" ", b"\t\t").replace(b"\n", b"\r\n")
            same_qrels(Qrels(io.BytesIO(content), jobs=jobs), read_simply(content))
            told = made(read_simply, content + b"t d 1\n")
            assert made(partial(of_bytes, jobs=jobs), content + b"t d 1\n") == told


def test_the_digest_changes_with_any_judgement_and_not_with_their_order() -> None:
    lines = [b"%d 0 d%d %d\n" % (topic, docno, (topic + docno) % 4) for topic in range(5) for docno in range(5)]
    digest = Qrels(io.BytesIO(b"".join(lines))).digest
    assert Qrels(io.BytesIO(b"".join(reversed(lines)))).digest == digest
    swapped = [lines[1].replace(b" 1\n", b" 0\n"), lines[0].replace(b" 0\n", b" 1\n"), *lines[2:]]
    assert Qrels(io.BytesIO(b"".join(swapped))).digest != digest
    for at in range(len(lines)):
        assert Qrels(io.BytesIO(b"".join(lines[:at] + lines[at + 1 :]))).digest != digest


# Packed files and pipes -----------------------------------------------------------------------------------------------

RUN = "".join(f"{topic} Q0 d{at} {at} {50 - at} t\n" for topic in range(30) for at in range(50)).encode()
BACK = RUN + b"3 Q0 late 51 99 t\n"


class Pipe(io.RawIOBase):
    """What gives its bytes once, and a few at a time."""

    def __init__(self, content: bytes) -> None:
        self.content = io.BytesIO(content)
        self.name = "run"

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
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


@pytest.mark.parametrize("content", [RUN, BACK], ids=["contiguous", "comes back"])
@pytest.mark.parametrize(
    "packed",
    [bytes, gzip.compress, gzip_members, bz2.compress, lzma.compress, packed_with_zstd],
)
@pytest.mark.parametrize("size", [300, 1 << 21])
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


# Numbers and tokens ---------------------------------------------------------------------------------------------------


def buffer_of(tokens: list[bytes]) -> tuple[Any, Any, Any]:
    text = b" ".join([*tokens, b""])
    buffer = padded(len(text))
    buffer[PAD : PAD + len(text)] = np.frombuffer(text, dtype=np.uint8)
    end = PAD + np.cumsum([len(token) + 1 for token in tokens]) - 1
    return buffer, end - [len(token) for token in tokens], end


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


def numbers(tokens: list[bytes]) -> Any:
    buffer, start, end = buffer_of(tokens)
    return decimals(buffer, end, end - start, gather_trailing(buffer, end))


def same_as_float(tokens: list[bytes]) -> None:
    found = numbers(tokens)
    assert [bits(value) for value in found.tolist()] == [bits(float(token)) for token in tokens]


plain = st.from_regex(rb"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?", fullmatch=True)


@given(st.lists(plain, min_size=1, max_size=30))
@drawn(300, steady=False)
@example([b"0" * 30 + b"1", b"-0", b"+.5", b"5.", b"-0.0", b"00.10", b"123456789.5", b"12345678", b"1234567.8"])
@example([b"9007199254740993", b"9007199254740992.5", b"0.1", b"4503599627370496.5", b"4503599627370497.5"])
@example([b"18446744073709551615", b"9999999999999999999", b"1844674407370955161.6", b"0.000000000000000001"])
@example([b"5e-324", b"2.4703282292062327e-324", b"1.7976931348623157e308", b"2.2250738585072014e-308"])
def test_plain_decimals_have_the_bits_of_float(tokens: list[bytes]) -> None:
    same_as_float(tokens)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50), st.integers(0, 20))
@drawn(300, steady=False)
def test_printed_floats_have_the_bits_of_float(values: list[float], digits: int) -> None:
    same_as_float([repr(value).encode() for value in values])
    same_as_float([b"%.*f" % (digits, value) for value in values if abs(value) < 1e15])


@given(st.integers(1 << 52, (1 << 53) - 1), st.integers(0, 18), st.integers(-1, 1))
@drawn(500, steady=False)
def test_halfway_cases_have_the_bits_of_float(mantissa: int, scale: int, beside: int) -> None:
    # The number halfway between two floats, printed with all its digits, and its neighbours in the last digit.
    for power in (0, 4, 9, 30, 52):
        exact = (2 * mantissa + 1) * 10**scale // (2 << power) + beside
        digits = str(exact).rjust(scale + 1, "0")
        same_as_float([(digits[: len(digits) - scale] + "." + digits[len(digits) - scale :]).encode()])


@st.composite
def written_alike(draw: st.DrawFn) -> list[bytes]:
    """Numbers with so many digits after the dot, one of them perhaps written otherwise."""
    after = draw(st.integers(1, 8))
    tokens = draw(st.lists(st.from_regex(rb"[0-9]{1,8}\.[0-9]{%d}" % after, fullmatch=True), min_size=1, max_size=30))
    return tokens + draw(st.lists(plain, max_size=1))


@given(written_alike())
@drawn(300, steady=False)
@example([b"07.50", b"7.50", b"0.00", b"00.00", b"123456.78", b"123456.79"])
def test_scores_are_compared_as_their_values_are(tokens: list[bytes]) -> None:
    buffer, start, end = buffer_of(tokens)
    found, value = sort_keys(buffer, end, end - start, gather_trailing(buffer, end)), numbers(tokens)
    assert ((found[:, None] < found) == (value[:, None] < value)).all()
    assert ((found[:, None] == found) == (value[:, None] == value)).all()


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
    fields = blocks.split_lines(buffer, PAD, PAD + len(text), 4).fields
    for column in range(4):
        start, end = fields.start(column), fields.end(column)
        tokens = [line.split()[column] for line in lines]
        assert fields.tokens(column, np.arange(len(lines))) == tokens
        plainly = hashes(gather(words_at(buffer), start), end - start)
        assert (hashes(fields.word(column), fields.length(column)) == plainly).all()
        for rows in (slice(None), slice(3, 9)):
            for mine, theirs in zip(
                fields.trailing_bytes(column)(rows), gather_trailing(buffer, end)(rows), strict=True
            ):
                assert (mine == theirs).all()


@given(st.lists(st.binary(min_size=1, max_size=12).map(lambda token: bytes(b for b in token if b > 32) or b"x")))
@drawn(300, steady=False)
@example([b"nan"])
@example([b"1_0"])
@example([b"inf"])
@example([b"1e999"])
@example([b"0x10"])
@example([b"1.2.3"])
@example([b"--1"])
@example([b"1e"])
@example([b"."])
@example([b"-"])
@example([b"1/2"])
@example([b"12:4"])
@example([b"\xb1\xb2"])
def test_what_is_no_plain_decimal_is_refused(tokens: list[bytes]) -> None:
    for token in tokens:
        if decimal(token) == decimal(token):
            same_as_float([token])
        else:
            with pytest.raises(ValueError, match="plain"):
                numbers([b"1.5", token, b"2.5"])


@given(st.lists(st.binary(min_size=1, max_size=90).map(lambda token: bytes(b | 64 for b in token)), min_size=2))
@drawn(200, steady=False)
def test_tokens_are_equal_where_their_bytes_are(tokens: list[bytes]) -> None:
    tokens += tokens[:2] + [token[:-1] + b"~" for token in tokens]
    buffer, start, end = buffer_of(tokens)
    words = words_at(buffer)
    word, length = gather(words, start), end - start
    hashed = hashes(word, length).tolist()
    for at, one in enumerate(tokens):
        for other, two in enumerate(tokens):
            assert (hashed[at] == hashed[other]) == (one == two)
            if len(one) == len(two):
                pair = [np.array([value]) for value in (start[at], start[other], len(one))]
                assert equal(words, pair[0], words, pair[1], pair[2]).all() == (one == two)
    changed = [0] + [at for at in range(1, len(tokens)) if tokens[at] != tokens[at - 1]]
    assert run_starts(word, length).tolist() == changed


def test_slots_hold_any_number_of_documents() -> None:
    assert index.topic_buckets(np.array([0, 1, 7, 8, 1000])).size >= 4 * 1016
