"""Ids are bytes: every command, in every format, says of `caf\\xe9` what it says of `cafe`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

import gradedeval
from gradedeval.plot.figure import EXTENSIONS
from support.commands import Command, Outcome, environment
from support.generated_docs import LEAVES
from support.paths import ROOT

POSITIONS = ("docno", "topic", "run", "tag")

# What stands for the byte in an output: itself, or what can stand in JSON, LaTeX, and other text that is UTF-8.
STANDS = re.compile(rb"\xe9|\\udce9|\\textbackslash\{\}xe9|\\?\\xe9")
# Names of the judgments by their content, what fills columns up, and quotes around words of a command line.
VARIES = re.compile(rb"\b[0-9a-f]{6}\b|[ -]+|&#39;")

M = ("-m", "err@5 ndcg")
RUNS = ("{run}.run", "b.run", "c.run")
AB = RUNS[:2]
SAVED = ("--from-scores", "saved.csv")
WORDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "eval": ((*RUNS, "qrels", *M), (*RUNS, "qrels", *M, "-q", "--residuals", "--append-to", "new")),
    "explain": tuple((*runs, "qrels", *M, "--topic", "{topic}") for runs in (RUNS[:1], AB)),
    "measures": ((), ("err",)),
    "weights": (("-m", "rbp", "--ranks", "5"), (RUNS[0], "qrels", "-m", "ap")),
    "compare": ((*RUNS, "qrels", *M), SAVED, (*RUNS, "qrels", *M, "-q"), (*SAVED, "--baseline", "{run}.run")),
    "diff": (
        (*AB, "qrels", *M),
        AB,
        (*AB, "qrels", *M, "--topic", "{topic}"),
        (*AB, "--topic", "{topic}"),
        (*AB, "qrels", "--reproduce", *AB),
    ),
    "pool": tuple(
        (*RUNS, "qrels", *more)
        for more in (
            (),
            ("--to-judge",),
            ("--to-judge", "--strategy", "pairs"),
            ("--leave-one-out",),
            ("--agreement", "second.qrels"),
            ("--groups", "groups"),
        )
    ),
    "history": (("history",), ("history", "--run", "{run}.run")),
    "report": ((*RUNS, "qrels", *M),),
    "risk": ((*RUNS, "qrels", *M), (*SAVED, "--baseline", "{run}.run")),
    "check": (
        (*RUNS, "qrels", "--min", "err@5=0", "--baseline", "b.run", "--max-topic-drop", "ndcg=0.01"),
        (*RUNS, "qrels", "--min", "err@5=0.9", "--history", "new", "--label", "{topic}"),
    ),
    "correlate": ((*RUNS, "qrels", *M), SAVED),
    "fit": ((*RUNS, "qrels", "-m", "rbp(p=0.1..0.9)", "--to", "ndcg", "--precision", "0.2", "--curve", "curve.csv"),),
    "power": ((*RUNS, "qrels", *M, "--draws", "50"),),
    "informative": ((*RUNS, "qrels", "--min-ranks", "1", "--min-found", "1", "-q"),),
    "pr": ((*RUNS, "qrels"), (*RUNS, "qrels", "--points", "all")),
    "plot pr": ((*RUNS, "qrels"),),
    "plot informative": ((*RUNS, "qrels", "--min-ranks", "1", "--min-found", "1"),),
    "plot topics": ((*AB, "qrels", "-m", "ndcg"),),
    "plot runs": ((*RUNS, "qrels", "-m", "ndcg", "--signature"),),
    "plot weights": (("-m", "rbp"),),
    "plot fit": ((*RUNS, "qrels", "-m", "rbp(p=0.1..0.9)", "--to", "ndcg", "--precision", "0.2"),),
    "plot power": ((*RUNS, "qrels", *M, "--draws", "50"),),
    "plot correlate": ((*RUNS, "qrels", *M), (*RUNS, "qrels", *M, "--scatter")),
    "plot explain": ((*AB, "qrels", "-m", "err@5", "--topic", "{topic}"),),
    "plot observation": (("log",),),
    "plot clicks": (("log", "qrels", "-m", "err@5", "--unjudged", "keep"),),
    "plot history": (("history",),),
    "clicks observe": (("log", "--per", "query"), ("log", "--per", "user")),
    "clicks fit": (("log", "-m", "rbp"),),
    "clicks measures": (("log", "qrels"),),
    "clicks correlate": (("log", "qrels", "-m", "err@5", "--by", "user", "--unjudged", "keep"),),
    "clicks gains": (("log", "qrels", "--model", "ctr"),),
    "clicks models": (("log", "-m", "ctr", "--write-relevance", "gains.csv", "--write-model", "model.json"),),
    "clicks simulate": ((*RUNS, "qrels", "--as", "err@5", "--sessions", "20"),),
    "lint": ((*RUNS, "--qrels", "qrels"), (*RUNS, "--tag-is-filename")),
    "trec_eval": (("-q", "-m", "all_trec", "qrels", RUNS[0]),),
}
BESIDE = ("new", "curve.csv", "gains.csv", "model.json")
"""What commands write beside their output."""


PICTURES = ("plot history", "plot runs", "plot topics")
"""Those that the quick run draws."""


def forms_of(name: str, command: click.Command) -> tuple[str, ...]:
    """The formats that a command writes; those of files by their extension."""
    if name.startswith("plot "):
        return tuple(f".{one}" for one in EXTENSIONS)
    chosen = [one.type.choices for one in command.params if one.name == "form" and isinstance(one.type, click.Choice)]
    return tuple(map(str, chosen[0])) if chosen else (".html",) if name == "report" else ("",)


def cases() -> Iterator[object]:
    """Each command line in each format; the quick run takes one of its formats, and of pictures few: they take long."""
    turn = 0
    for name, command in LEAVES.items():
        forms = forms_of(name, command)
        for number in range(len(WORDS.get(name, ()))):
            turn += 1
            for at, form in enumerate(forms):
                quick = form == ".svg" and name in PICTURES if name.startswith("plot") else at == turn % len(forms)
                marks = () if quick else pytest.mark.exhaustive
                yield pytest.param(name, number, form, id=f"{name} {number} {form}", marks=marks)


def collection(odd: dict[str, bytes]) -> None:
    """Runs, judgments, a click log, and what is made of them, in the current folder; `odd` are the ids in question."""
    documents, topics = [odd["docno"], b"d1", b"d2", b"d3", b"d4"], [odd["topic"], b"1", b"2", b"3"]
    grades = [3, 0, 2, 1, None]
    judged = [(t, d, grades[(i + j) % 5]) for i, t in enumerate(topics) for j, d in enumerate(documents)]
    qrels = b"".join(b"%b 0 %b %d\n" % one for one in judged if one[2] is not None)
    Path("qrels").write_bytes(qrels)
    Path("second.qrels").write_bytes(qrels.replace(b" 3\n", b" 2\n"))
    names = [os.fsdecode(odd["run"]) + ".run", "b.run", "c.run"]
    for shift, name in enumerate(names):
        ranks = [(t, documents[(shift * i + j) % 5], 5 - j) for i, t in enumerate(topics) for j in range(5)]
        Path(name).write_bytes(b"".join(b"%b Q0 %b 0 %d %b\n" % (*one, odd["tag"]) for one in ranks))
        os.utime(name, (1e9, 1e9))  # a line of a history has the time of its run
    Path("groups").write_bytes(b"%b.run %b\nb.run x\nc.run x\n" % (odd["run"], odd["run"]))
    shown = [b" ".join([*documents[n:], *documents[:n]]) for n in range(5)]
    log = [(t, 1 + n % 3, shown[n], odd["topic"]) for n in range(5) for t in topics for _ in range(5)]
    Path("log").write_bytes(b"topic\tclicks\tshown\tuser\n" + b"".join(b"%b\t%d\t%b\t%b\n" % one for one in log))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gradedeval.EvaluationWarning)
        scores = gradedeval.evaluate(names, "qrels", "err@5 ndcg", residuals=True)
    scores.frame.to_csv("saved.csv", index=False, errors="surrogateescape")
    for label in ("first", "second"):
        gradedeval.append_history(scores, "history", label=label)
    grown = Path("history")
    grown.write_bytes(re.sub(rb'("time": *")[^"]*', rb"\g<1>2026-01-01T00:00:00+00:00", grown.read_bytes()))


Folder = Callable[[str, bytes], tuple[Path, dict[str, bytes]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A collection with ids that end in a byte at a position, or at all, made once: its folder, and these ids."""
    made: dict[tuple[str, bytes], Path] = {}

    def find(position: str, last: bytes) -> tuple[Path, dict[str, bytes]]:
        odd = {one: b"caf" + (last if position in (one, "all") else b"e") for one in POSITIONS}
        if (position, last) not in made:
            made[position, last] = tmp_path_factory.mktemp("ids")
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(made[position, last])
                collection(odd)
        return made[position, last], odd

    return find


def said(folder: Path, odd: dict[str, bytes], name: str, number: int, form: str, cli: Command) -> Outcome:
    """What a command comes to in such a collection, with all that it writes."""
    words = [word.format(**{one: os.fsdecode(own) for one, own in odd.items()}) for word in WORDS[name][number]]
    target = f"out{form}" if form.startswith(".") else ""
    written = [folder / one for one in (*BESIDE, target) if one]
    for path in written:
        path.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = cli(*name.split(), *words, *(("-o", target) if target else ("-f", form) if form else ()))
    return Outcome(done.code, done.out + b"".join(path.read_bytes() for path in written if path.exists()), done.err)


def told(output: bytes, form: str) -> bytes:
    """What an output says of the plain id, or of the other as if it were that; of a picture its text."""
    if form in (".png", ".pdf"):
        return b""
    if form == ".svg":
        texts = ["".join(one.itertext()) for one in ElementTree.fromstring(output).iter() if "text" in one.tag]
        output = b"\n".join(sorted(STANDS.sub(b"e", text.encode()) for text in texts))
    return VARIES.sub(b"", STANDS.sub(b"e", output))


def check(position: str, name: str, number: int, form: str, folder: Folder, cli: Command) -> None:
    """Of the one id the command says what it says of the other."""
    odd, plain = (said(*folder(position, last), name, number, form, cli) for last in (b"\xe9", b"e"))
    assert odd.code == plain.code, odd.messages
    assert plain.code == 0 or name in ("check", "lint"), plain.messages
    assert told(odd.out, form) == told(plain.out, form)
    assert told(odd.err, "") == told(plain.err, "")
    beside = "gains.csv" in WORDS[name][number]  # a table of bytes
    if form in ("json", "jsonl", "html", "latex", "junit", ".html", ".svg") and not beside:
        assert b"\xe9" not in odd.out.replace("é".encode(), b"")  # it is UTF-8


def test_every_command_is_walked() -> None:
    assert list(LEAVES) == list(WORDS)


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("name", "number", "form"), list(cases()))
def test_an_id_is_told_byte_for_byte(name: str, number: int, form: str, folder: Folder, cli: Command) -> None:
    check("all", name, number, form, folder, cli)


@pytest.mark.exhaustive
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("name", WORDS)
def test_an_id_is_told_wherever_it_stands(position: str, name: str, folder: Folder, cli: Command) -> None:
    forms = forms_of(name, LEAVES[name])
    for number, words in enumerate(WORDS[name]):
        if "--tag-is-filename" in words and position in ("run", "tag"):
            continue  # it is asked whether the two are the same
        for form in forms:
            check(position, name, number, form, folder, cli)


@pytest.mark.exhaustive
def test_an_id_is_told_byte_for_byte_without_pyarrow() -> None:
    without = "import pytest, sys; sys.modules['pyarrow'] = None; sys.exit(pytest.main(sys.argv[1:]))"
    words = [str(Path(__file__).relative_to(ROOT)), "-n0", "-pno:cacheprovider", "-ktold_byte_for_byte and not pyarrow"]
    done = subprocess.run(
        [sys.executable, "-c", without, *words],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
