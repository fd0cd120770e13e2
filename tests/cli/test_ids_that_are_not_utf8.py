"""Ids are bytes: every command, in every format, says of `caf\\xe9` what it says of `cafe`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.commands import Command, Outcome, environment
from support.every_command import BESIDE, POSITIONS, WORDS, collection, forms_of
from support.generated_docs import LEAVES
from support.paths import ROOT

# What stands for the byte in an output: itself, or what can stand in JSON, LaTeX, and other text that is UTF-8.
STANDS = re.compile(rb"\xe9|\\udce9|\\textbackslash\{\}xe9|\\?\\xe9")
# Names of the judgments by their content, what fills columns up, and quotes around words of a command line.
VARIES = re.compile(rb"\b[0-9a-f]{6}\b|[ -]+|&#39;")

PICTURES = ("plot history", "plot runs", "plot topics")
"""Those that the quick run draws."""


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
