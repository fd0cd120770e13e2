"""No output of any command replaces a file that the command reads, however the file is named."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gradedeval.cli.options import APPENDS, READS, WRITES
from gradedeval.errors import InputError
from gradedeval.kernel.trec.atomic_write import write_file
from gradedeval.kernel.trec.stream import Source, check_written, files_in_use, identity
from support.commands import Command
from support.examples import sampled
from support.generated_docs import LEAVES
from support.paths import SAMPLES

OTHER_WAYS = ["as a folder of itself", "by another name of the inode", "through a folder"]
NAMES_A_FILE = ("FILE", "RUN", "QRELS", "LOG", "BASE")


def flags(command: click.Command, *does: str) -> list[click.Option]:
    """Return the options of a command that read, write or append to files, as in `does`."""
    return [
        option for option in command.params if isinstance(option, click.Option) and getattr(option, "file", "") in does
    ]


def collisions() -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Yield each command, writing option and way to name a file twice: the command, the second name of `taken`, the
    flags and the words."""
    for name, command in LEAVES.items():
        for output in flags(command, WRITES, APPENDS):
            for second in (*flags(command, READS), *flags(command, WRITES, APPENDS)):
                if second is not output:
                    yield name, second.opts[0], [output.opts[0]], [second.opts[0], *["taken"] * second.nargs]
            for argument in (
                argument_of_command
                for argument_of_command in command.params
                if isinstance(argument_of_command, click.Argument)
            ):
                if getattr(argument, "file", "") == READS:
                    for index in range(3):
                        files = ["a", "b", "c"]
                        files[index] = "taken"
                        yield name, f"argument {index + 1}", [output.opts[0]], files
            if any("--gain" in option.opts for option in command.params):
                yield name, "--gain @", [output.opts[0]], ["--gain", "@taken"]
                yield name, "--gain", [output.opts[0]], ["--gain", "taken"]


COLLISIONS = list(collisions())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("rivers-bm25.run", "rivers-dense.run", "rivers.qrels"):
        (tmp_path / name).write_bytes((SAMPLES / name).read_bytes())
    return tmp_path


def spellings(folder: Path) -> dict[str, str]:
    """Return ways to name the file `taken`."""
    (folder / "link").symlink_to("taken")
    os.link(folder / "taken", folder / "hard")
    return {
        "by its name": "taken",
        "by its path": str(folder / "taken"),
        "through a folder": f"../{folder.name}/./taken",
        "by a link": "link",
        "by another name of the inode": "hard",
        "by a URL": (folder / "taken").as_uri(),
        "by a URL of a home": "file://~/taken",
        "as a folder": "taken/",
        "as a folder of itself": "taken/.",
    }


@pytest.mark.parametrize("name", LEAVES)
def test_no_output_replaces_an_input(name: str, cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "taken").write_bytes(b"content\n")
    ways = list(spellings(tmp_path).values())
    for number, (_, second, (flag,), words) in enumerate(case for case in COLLISIONS if case[0] == name):
        done = cli(*name.split(), *words, flag, ways[number % len(ways)])
        assert (done.code, done.out) == (2, b""), (second, flag)
        assert done.messages[0].endswith(("; choose another output file",)), done.messages
        assert "is also" in done.messages[0]
        assert (tmp_path / "taken").read_bytes() == b"content\n"


@pytest.mark.parametrize("name", LEAVES)
def test_an_output_without_a_name_is_one_line(name: str, cli: Command) -> None:
    for option in flags(LEAVES[name], WRITES, APPENDS):
        flag = min(option.opts, key=len)
        done = cli(*name.split(), "a", flag, "")
        says = f"{flag}: missing file name; name one, as in {flag} {option.metavar}"
        assert (done.code, done.out, done.messages) == (2, b"", [says])


def test_the_walk_covers_every_way_to_name_a_file() -> None:
    assert len(COLLISIONS) > 300
    assert {"--baseline", "--from-scores", "--topics-from", "--costs", "--gain @"} <= {case[1] for case in COLLISIONS}


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_of_a_file_declares_its_use(name: str) -> None:
    for option in flags(LEAVES[name], ""):
        named = [word for word in NAMES_A_FILE if word in (option.metavar or "")]
        assert not named, f"{option.opts}: file=READS, WRITES or APPENDS?"


@pytest.mark.parametrize(
    "way", sampled(["by its path", "by a link", "as a folder", "by a URL", "by a URL of a home", *OTHER_WAYS], 2)
)
def test_an_output_is_an_input_however_it_is_spelt(way: str, cli: Command, here: Path) -> None:
    (here / "rivers-dense.run").rename("taken")
    original = (here / "taken").read_bytes()
    done = cli("rivers-bm25.run", "taken", "rivers.qrels", "-m", "ap", "-f", "csv", "-o", spellings(here)[way])
    assert (done.code, done.out) == (2, b"")
    assert "is also an input file; choose another output file" in done.messages[0]
    assert (here / "taken").read_bytes() == original


INDIRECT = {
    "a measure": ("eval rivers-bm25.run rivers.qrels -m wp(file=taken) -o taken -f csv", b"rank,weight\n1,1\n"),
    "a prior": ("eval rivers-bm25.run rivers.qrels --subtopics -m ia(ap,prior=@taken) -o taken -f csv", b"301 0 1\n"),
    "a pattern": ("eval *.run rivers.qrels -m ap -o rivers-dense.run -f csv --keep-going", b""),
    "a folder": ("eval runs rivers.qrels -m ap -o runs/x -f csv --keep-going", b""),
    "a history": ("eval rivers-*.run rivers.qrels -m ap --history rivers-dense.run", b""),
    "a configuration": ("check rivers-bm25.run rivers.qrels -f csv -o taken", b"q 1\n"),
    "its default": ("check rivers-bm25.run rivers.qrels -f csv -o gradedeval.toml", b"q 1\n"),
    "a linted folder": ("lint runs -f csv -o runs/x", b""),
}


@pytest.mark.parametrize("way", INDIRECT)
def test_files_named_in_files_and_measures_are_inputs_too(way: str, cli: Command, here: Path) -> None:
    words, content = INDIRECT[way]
    (here / "taken").write_bytes(content)
    (here / "gradedeval.toml").write_text('min = { "ap" = 0.1 }\ntopics-from = "taken"\n')
    (here / "runs").mkdir()
    (here / "runs" / "x").write_bytes((here / "rivers-dense.run").read_bytes())
    original = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    done = cli(*words.split())
    assert (done.code, done.out) == (2, b""), done.messages
    assert "is also" in done.messages[-1]
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == original


def test_standard_input_that_is_a_file_is_not_replaced(here: Path) -> None:
    with (here / "rivers.qrels").open("rb") as file:
        assert identity("rivers.qrels") == (os.fstat(file.fileno()).st_dev, os.fstat(file.fileno()).st_ino)
    read_end, write_end = os.pipe()
    os.close(write_end)
    stdin = os.dup(0)
    try:
        os.dup2(read_end, 0)
        assert identity("-") is None
        with (here / "rivers.qrels").open("rb") as file:
            os.dup2(file.fileno(), 0)
        assert identity("-") == identity("rivers.qrels")
    finally:
        os.dup2(stdin, 0)
        for number in (stdin, read_end):
            os.close(number)


def test_an_older_output_is_replaced_and_a_history_grows(cli: Command, here: Path) -> None:
    words = ("rivers-bm25.run", "rivers.qrels", "-m", "ap", "-o", "out.csv", "--history", "history.jsonl")
    first, second = cli(*words), cli(*words)
    assert (first.code, second.code) == (0, 0)
    assert (here / "out.csv").read_text().startswith("run,topic,measure,score")
    assert len((here / "history.jsonl").read_text().splitlines()) == 2


def test_an_error_that_does_not_end_the_command_does_not_let_it_write(tmp_path: Path) -> None:
    path = str(tmp_path / "run")
    Path(path).write_bytes(b"1 Q0 a 1 1 x\n")
    with files_in_use() as files:
        files.will_write(path, "-o")
        with pytest.raises(InputError, match="is also an input file"):
            Source(path)
        with pytest.raises(InputError, match="is also an input file"):
            write_file(b"", path)
    assert Path(path).read_bytes()


def test_a_file_that_no_option_declares_is_not_written(tmp_path: Path) -> None:
    with files_in_use() as files:
        files.will_write(str(tmp_path / "declared"), "-o")
        check_written(str(tmp_path / "declared"))
        with pytest.raises(AssertionError, match="no option declares it"):
            check_written(str(tmp_path / "other"))
