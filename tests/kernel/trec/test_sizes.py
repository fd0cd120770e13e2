"""Files of hostile sizes: lines, decompressed files and memory have limits, and blank lines take no memory."""

import bz2
import gzip
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gradedeval.kernel.trec.lines import LONGEST
from support.commands import Command, environment
from support.processes import linux

RUN, QRELS = b"1 Q0 a 1 2 t\n", b"1 0 a 1\n"
MIB = 1 << 20
TOO_LONG = "the line is longer than 1,048,576 bytes; check for a missing line end or another file format"
PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""
READ = {
    "run": (RUN, "FILE qrels -m ap"),
    "qrels": (QRELS, "run FILE -m ap"),
    "subtopics": (QRELS, "run FILE -m erria --subtopics"),
    "table": (b"topic,docno,score\n1,a,2\n", "FILE qrels -m ap"),
    "msmarco": (b"1\ta\t1\n1\tb\t2\n1\tc\t3\n1\td\t4\n", "FILE qrels -m ap"),
    "letor": (b"1 qid:1 1:0.5 # docid = a\n", "run FILE -m ap"),
    "topics": (b"1\n", "run qrels -m ap --topics-from FILE"),
    "costs": (b"video 30\n", "run qrels -m rbp --costs FILE"),
    "weights": (b"rank,weight\n1,1\n", "run qrels -m wp(file=FILE)"),
    "saved scores": (b"run,topic,measure,score\na,1,ap,1\n", "compare --from-scores FILE"),
    "log": (b"topic\tclicks\tshown\n1\t1\ta b\n", "clicks observe FILE"),
    "linted": (RUN, "lint FILE"),
}
"""A file that is read line by line, and the command that reads it."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").write_bytes(RUN)
    (tmp_path / "qrels").write_bytes(QRELS)
    return tmp_path


def peak(*words: str) -> tuple[int, int]:
    """Return the exit code of a command in a separate process, and its maximum MiB."""
    command = [sys.executable, "-c", PEAK, sys.executable, "-m", "gradedeval", *words]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    code, size = map(int, done.stdout.split())
    return code, size


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("part", [b" ", b"d"])
def test_a_line_that_is_too_long_is_one_immediate_error(part: bytes, name: str, cli: Command, folder: Path) -> None:
    content, words = READ[name]
    (folder / "FILE").write_bytes(content + part * (8 * LONGEST) + b"\n" + content)
    begin = time.process_time()
    done = cli(*words.split())
    assert time.process_time() - begin < 3
    line = content.count(b"\n") + 1
    message = f"line {line}: {TOO_LONG}" if name == "linted" else f"FILE:{line}: {TOO_LONG}"
    assert done.code in (1, 2)
    assert [message in row for row in (*done.messages, *done.text.splitlines())].count(True) == 1


@pytest.mark.parametrize("size", [65_537, LONGEST - 40])
def test_a_docno_may_be_as_long_as_a_line(size: int, cli: Command, folder: Path) -> None:
    docno = b"d" * size
    (folder / "run").write_bytes(b"1 Q0 %b 1 2 t\n" % docno)
    (folder / "qrels").write_bytes(b"1 0 %b 1\n" % docno)
    assert ",ap,1.0," in cli("run", "qrels", "-m", "ap", "-f", "csv").text


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)], ids=["gz", "bz2"])
def test_a_compressed_file_that_grows_a_thousand_fold_needs_a_variable(
    suffix: str, pack: Callable[[bytes], bytes], cli: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / f"grown.{suffix}").write_bytes(pack(RUN + b"\n" * (4 * MIB)))
    words = (f"grown.{suffix}", "qrels", "-m", "ap", "--quiet")
    refused = cli(*words)
    (message,) = refused.messages
    assert message.startswith(f"grown.{suffix}: expands to more than 1,000 times its size; ")
    hint = "if the file is trusted, allow more, as with GRADEDEVAL_MAX_GROWTH=1000000"
    assert (refused.code, message.endswith(f"; {hint}")) == (1, True)
    monkeypatch.setenv("GRADEDEVAL_MAX_GROWTH", "1000000")
    allowed = cli(*words)
    assert (allowed.code, allowed.messages) == (0, [])
    for value in ("inf", "0", "1.5"):
        monkeypatch.setenv("GRADEDEVAL_MAX_GROWTH", value)
        message = f"GRADEDEVAL_MAX_GROWTH: '{value}' is not a whole number of times; as in GRADEDEVAL_MAX_GROWTH=1000"
        done = cli(*words)
        assert (done.code, done.messages) == (2, [message])


def test_zeros_are_not_called_utf_16(cli: Command, folder: Path) -> None:
    (folder / "zeros.gz").write_bytes(gzip.compress(bytes(4 * MIB)))
    messages = cli("run", "zeros.gz", "-m", "ap").messages
    assert messages == ["zeros.gz: begins with zero bytes instead of text; copy or write the file again"]


@linux
@pytest.mark.parametrize("millions", [8, pytest.param(100, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("packed", [False, True])
def test_blank_lines_take_no_memory(packed: bool, millions: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADEDEVAL_MAX_GROWTH", "1000000")
    open_file = gzip.open if packed else open
    with open_file(folder / "blank", "wb") as file:
        file.write(RUN)
        for _ in range(millions):
            file.write(b"\n" * 1_000_000)
    code, size = peak("blank", "qrels", "-m", "ap")
    assert (code, size < 300) == (0, True), size


@linux
@pytest.mark.exhaustive
def test_a_million_tied_documents_are_compared(folder: Path) -> None:
    for name, step in (("a", 1), ("b", -1)):
        (folder / name).write_text("".join(f"1 Q0 d{number} 1 1 x\n" for number in range(1_000_000)[::step]))
    code, size = peak("diff", "a", "b")
    assert (code, size < 1024) == (0, True), size


GRADES = 6_000


@pytest.fixture
def as_many_grades_as_topics(folder: Path) -> Path:
    """Return two runs and qrels of as many topics as distinct grades, with one document each."""
    topics = range(1, GRADES + 1)
    for name, order in (("a", topics), ("b", topics[::-1])):
        (folder / name).write_text("".join(f"{topic} Q0 d 1 1 {name}\n" for topic in order))
    (folder / "graded").write_text("".join(f"{topic} 0 d {topic / GRADES}\n" for topic in topics))
    return folder


@linux
@pytest.mark.usefixtures("as_many_grades_as_topics")
@pytest.mark.parametrize(
    "words",
    [
        "a graded -m ap -m ndcg",
        pytest.param("a graded -m ndcg -m gap --bounds", marks=pytest.mark.exhaustive),
        pytest.param("a graded -m xinfap", marks=pytest.mark.exhaustive),
        pytest.param("diff a b graded", marks=pytest.mark.exhaustive),
    ],
)
def test_many_topics_with_many_grades_take_little_memory(words: str) -> None:
    code, size = peak(*words.split())
    assert (code, size < 300) == (0, True), size
