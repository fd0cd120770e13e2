"""Color: on a terminal alone, and never the only carrier of a meaning."""

from pathlib import Path

import pytest

from gradedeval.cli import output
from support.commands import Command
from support.terminal import at_terminal, without_escapes

ESCAPE = "\33["
TABLE = ("a.run", "b.run", "qrels", "-m", "err@5 ap", "--best", "--baseline", "a.run")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 d{doc} {doc % 3}\n" for topic in range(6) for doc in range(5)))
    for name, sign in (("a.run", 1), ("b.run", -1)):
        lines = (f"{topic} Q0 d{doc} 1 {sign * doc} t\n" for topic in range(6) for doc in range(5))
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def test_a_table_on_a_terminal_is_the_table_in_color(files: Path, cli: Command) -> None:
    seen = at_terminal(*TABLE, folder=files)
    plain = cli(*TABLE)
    assert f"{output.BOLD}run " in seen.out
    assert f"{output.BOLD}*" in seen.out
    assert without_escapes(seen.out).split() == plain.text.split()  # in lines of other widths
    assert ESCAPE not in plain.text + plain.err.decode()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"TERM": "dumb"}])
def test_color_is_off_for_files_dumb_terminals_and_no_color(more: dict[str, str], files: Path) -> None:
    wrong = (("none", "-m", "ap"), ("qrels", "--depht", "3"), ("qrels", "--depth", "x"), ("qrels", "--digits", "x"))
    for command in (TABLE, *(("a.run", *words) for words in wrong), ("plot", "nothing"), ("comapre", "a.run", "qrels")):
        seen = at_terminal(*command, folder=files, **more)
        assert ESCAPE not in seen.out + seen.err, command


def test_a_message_in_several_lines_has_its_color_in_the_first(files: Path) -> None:
    seen = at_terminal("a.run", "qrels", "-m", "ap", "--max-residual", "0.5", "--depth", "x", folder=files, columns=30)
    first, *others = seen.err.splitlines()
    assert first.startswith(f"{output.BOLD}{output.RED}--depth{output.END}: ")
    assert others
    assert all(line.startswith("  ") and ESCAPE not in line for line in others)


def test_color_is_on_everywhere_if_forced(files: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert ESCAPE in cli(*TABLE).text
    assert ESCAPE in cli("none", "qrels").err.decode()


def test_each_stream_has_a_terminal_of_its_own(files: Path) -> None:
    seen = at_terminal(*TABLE, "-o", "table.txt", folder=files)
    assert seen.out == ""
    assert ESCAPE not in (files / "table.txt").read_text()
    for form in ("csv", "json", "markdown", "latex"):
        assert ESCAPE not in at_terminal(*TABLE[:5], "-f", form, folder=files).out


def test_errors_and_verdicts_have_a_color_and_a_word(files: Path) -> None:
    seen = at_terminal("a.run", "none", "-m", "ap", folder=files)
    assert seen.err.startswith(f"{output.BOLD}{output.RED}none{output.END}: no such file")
    seen = at_terminal("check", "a.run", "qrels", "--min", "ap=0.99", "--min", "err@5=0", folder=files)
    assert f"{output.RED}FAIL{output.END}  " in seen.out
    assert f"{output.GREEN}ok{output.END}    " in seen.out


def test_without_escape_codes_a_table_is_as_it_was() -> None:
    text = "title\n\nrun   ap*\n----  ------\nFAIL  *0.1*\nok    0.2**\n\nFAIL  x\nok    y\n"
    assert without_escapes(output.color_table(text)) == text
    assert output.color_table(text).count(ESCAPE) == 2 * 6
