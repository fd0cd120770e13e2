"""A Git LFS pointer in place of any file that a command reads is one line with its cure."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import gradedeval
from gradedeval.analysis.pictures import EXTENSIONS
from gradedeval.cli.options import APPENDS, READS
from support.commands import Command
from support.every_command import WORDS, collection
from support.file_formats import LFS_POINTER
from support.generated_docs import LEAVES

CURE = "is a Git LFS pointer in place of the file; fetch it with git lfs pull"
IDS = {"docno": b"d", "topic": b"t", "run": b"a", "tag": b"x"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    collection(IDS)
    for name in ("pointer", "pointer.py"):
        (tmp_path / name).write_text(LFS_POINTER)
    return tmp_path


ALONE = {
    "pool --queries": ["a.run", "qrels", "--to-judge"],
    "--from-scores": [],
    "--to-weights": ["-m", "rbp(p=0.1..0.9)"],
    "--lists": ["qrels", "--as", "err@5", "--sessions", "20"],
    "--model-from": ["a.run", "qrels", "--sessions", "20"],
}
"""Options that name a file, some of one command, and do not go with the usual call -> the other words."""


def calls(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each way to name a file that a command reads or appends to: the option or argument, and the words."""
    usual = WORDS["weights"][1] if name.endswith("weights") else WORDS[name][0]
    words = [word.format(run="a", topic="t") for word in usual]
    output = ["-o", f"out.{EXTENSIONS[0]}" if name.startswith("plot") else "out.html"]
    output = output if name == "report" or name.startswith("plot") else []
    for option in LEAVES[name].params:
        if isinstance(option, click.Option) and getattr(option, "file", "") in (READS, APPENDS):
            flag = option.opts[0]
            file = "pointer.py" if flag == "--measures-from" else "pointer"
            yield (
                flag,
                [*ALONE.get(f"{name} {flag}", ALONE.get(flag, words)), *output, flag, *[file, "b.run"][: option.nargs]],
            )
    for index, word in enumerate(words):
        if word in ("a.run", "b.run", "ca.run", "qrels", "log", "history", "record.json"):
            yield word, [*words[:index], "pointer", *words[index + 1 :], *output]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", LEAVES)
def test_a_pointer_is_one_line_wherever_a_file_is_read(name: str, cli: Command, here: Path) -> None:
    for where, words in calls(name):
        done = cli(*name.split(), *words)
        assert done.code != 0, where
        message = " ".join([*done.messages, *done.text.split()])
        assert all(words in message for words in CURE.split("; ")), (where, done.messages)
        assert (here / "pointer").read_text() == LFS_POINTER


def test_a_pointer_is_refused_by_python_too(here: Path) -> None:
    for keyword in ("fill", "queries", "slices", "topics_from", "costs", "predicted"):
        with pytest.raises(gradedeval.InputError, match=CURE):
            gradedeval.evaluate("a.run", "qrels", "err@5", **{keyword: "pointer"})
    for measure in ("wp(file=pointer)", "err(gain=@pointer)"):
        with pytest.raises(gradedeval.InputError, match=CURE):
            gradedeval.evaluate("a.run", "qrels", measure)


def test_a_file_that_begins_as_a_pointer_is_read_whole(here: Path) -> None:
    (here / "version.run").write_text("version Q0 d 1 2 x\nversion Q0 e 2 1 x\n")
    (here / "version.qrels").write_text("version 0 e 1\n")
    assert gradedeval.evaluate("version.run", "version.qrels", "rr").by_topic("rr") == {"version": 0.5}
