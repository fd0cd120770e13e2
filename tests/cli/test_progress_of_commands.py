"""Every command that reads several runs shows how far it has come."""

import contextlib
from pathlib import Path

import pytest

from gradedeval.cli import progress
from support.every_command import POSITIONS, WORDS, collection, filled
from support.terminal import at_terminal, without_escapes

IDS = dict.fromkeys(POSITIONS, b"a")
NAMES = [
    *("eval", "compare", "risk", "check", "correlate", "power", "diff", "pool", "lint", "informative", "pr", "fit"),
    *("report", "clicks simulate", "plot runs", "plot correlate"),
]
COMMANDS = [*((name, WORDS[name][0]) for name in NAMES), ("weights", WORDS["weights"][1])]
COMMANDS += [("pool", words) for words in WORDS["pool"] if {"--to-judge", "--leave-one-out"} & {*words}]
OUTPUT = {"report": ("-o", "page.html"), "plot runs": ("-o", "runs.svg"), "plot correlate": ("-o", "tau.svg")}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    with contextlib.chdir(folder):
        collection(IDS)
    return folder


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "words"), COMMANDS)
def test_commands_have_a_bar(name: str, words: tuple[str, ...], files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1)
    seen = at_terminal(*name.split(), *filled(words, IDS), *OUTPUT.get(name, ()), "--quiet", folder=files)
    assert seen.code == (name == "check"), seen.err  # a bound of it is broken
    assert "runs" in without_escapes(seen.err)
    assert "100%" in seen.err
    assert seen.err.rindex("\33[?25h") > seen.err.rindex("\33[?25l")
