"""A few random cases of each kind, always the same: the machines themselves work."""

import random
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from fuzz import command, commands
from fuzz.case import Case, Kind, smallest
from fuzz.kinds import KINDS
from fuzz.scores import check
from gradedeval import InputError
from support import conformance_measures
from support.examples import sampled
from support.generated_docs import LEAVES

CASES = {
    "scores": 150,
    "bounds": 40,
    "runs": 100,
    "qrels": 60,
    "packed": 30,
    "formats": 60,
    "same": 40,
    "intents": 40,
    "notation": 200,
    "tables": 60,
    "mirror": 3,
    "saved": 2,
    "commands": 60,
    "hostile": 60,
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", list(KINDS))
def test_random_cases_hold(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    for number in range(CASES.get(name, 10)):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert kind.check(kind.draw(random.Random(number)), folder) is None, number


def test_every_command_is_drawn_and_every_option_has_a_value() -> None:
    """New commands and options are drawn at once: the fuzz reads those of the program."""
    assert {commands.some_command(random.Random(number)) for number in range(4000)} == set(LEAVES)
    for name, leaf in LEAVES.items():
        case = commands.draw(random.Random(name), name)
        assert case.line[: len(name.split())] == name.split()
        for option in leaf.params:
            if isinstance(option, click.Option):
                flag, *value = commands.values(option, random.Random(name))
                assert flag in option.opts
                assert len(value) == (0 if option.is_flag else option.nargs) or commands.BARE in commands.WORDS.get(
                    str(option.metavar), ()
                )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sampled(LEAVES, 9))
def test_every_command_does_something_with_files_that_are_whole(name: str, tmp_path: Path) -> None:
    codes = []
    for number in range(8):
        case = commands.whole(commands.draw(random.Random(number), name))
        (folder := tmp_path / str(number)).mkdir()
        assert commands.check(case, folder) is None
        codes.append(command.run(case.line, folder / "here").code)
        if 0 in codes:
            break
    assert 0 in codes


@pytest.mark.parametrize(
    ("does", "message"),
    [
        (lambda: Path("half").touch(), "files are left: ['half']"),
        (lambda: Path("a.run").write_bytes(b""), "an input is changed: a.run"),
        (tempfile.mkstemp, "temporary files are left: "),
        (lambda: 1 / 0, "ZeroDivisionError in options.py invoke: "),
        (lambda: warnings.warn("careful", stacklevel=1), "a warning of Python: "),
        (lambda: print("one"), "output beside an error: "),
        (lambda: Path("out.json").write_text('{"a": [1, '), "half a file: out.json"),
    ],
)
def test_fuzz_finds_forbidden_acts_of_commands(
    does: Callable[[], object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(**given: object) -> None:
        does()
        raise InputError("a.run", "is wrong", "mend it")

    case = Case({"a.run": b"1 Q0 a 1 1 t\n"}, (), {"-o": ["-o", "out.json"]}, {"command": ["weights"], "old": False})
    monkeypatch.setattr(LEAVES["weights"], "callback", run)
    assert (commands.check(case, tmp_path) or "").startswith(message)


def test_fuzz_finds_a_wrong_score_and_its_smallest_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide by one too many, if two relevant documents are neighbors."""
    right = KINDS["scores"]
    monkeypatch.setattr(conformance_measures, "p", lambda t, k: sum(conformance_measures.binary(t)[0][:k]) / (k + 1))
    run = b"".join(b"1 Q0 d%d %d %d t\n" % (rank, rank, 9 - rank) for rank in range(8))
    case = Case({"run": run, "qrels": b"1 0 d1 1\n1 0 d3 1\n1 0 d5 0\n"}, ("ap", "p@3", "rr"), {"ties": "docno-asc"})
    numbers = iter(range(10**6))

    def wrong(case: Case) -> str | None:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return Kind(right.draw, check).check(case, folder)

    assert (wrong(case) or "").startswith("score of p: p@3")
    small = smallest(case, wrong)
    assert small.measures == ("p@3",)
    assert small.options == {}
    assert {name: content.count(b"\n") for name, content in small.files.items()} == {"run": 1, "qrels": 1}
