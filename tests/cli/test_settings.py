"""Settings of a signature as options of a command, and their values on the command line."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from click.testing import CliRunner

from gradedeval.cli.options import command_line
from gradedeval.cli.settings import check_mode, chosen_mode, hide_flag, pop_settings, setting_options
from gradedeval.errors import InputError
from gradedeval.kernel import ranges
from gradedeval.kernel.options.settings import Setting, settings_of

Lines = Annotated[int, Setting("Number of lines.", ranges.TOP, metavar="N")]
Order = Annotated[Literal["up", "down"], Setting("Order of lines.")]
Marked = Annotated[bool, Setting("Do not mark lines.", off_flag="--plain")]
Files = Annotated[
    tuple[str, ...], Setting("File to read.", metavar="FILE", spelled=("--file",), repeats=True, reads=True)
]


def count(path: str, *, lines: Lines = 3, order: Order = "up", marked: Marked = True, others: Files = ()) -> None: ...


def shorten(path: str, *, lines: Lines = 5) -> None: ...


def parsed(*words: str) -> dict[str, Any]:
    """Return the arguments that a command with the settings of `count` takes from words."""
    values: dict[str, Any] = {}

    @command_line("count", "FILE", setting_options(count))
    def command(files: tuple[str, ...], **options: Any) -> None:
        values.update(pop_settings(count, options), left=options)

    CliRunner().invoke(command, words, catch_exceptions=False, obj=words)
    return values


def test_signature_and_alias_define_a_setting() -> None:
    settings = settings_of(count)
    assert list(settings) == ["lines", "order", "marked", "others"]
    assert (settings["lines"].flag, settings["lines"].default) == ("--top", 3)
    assert settings["order"].choices == ("up", "down")
    assert settings["marked"].flag == "--plain"
    assert settings["order"].text == "Order of lines. Default: up."
    assert count.__annotations__["lines"] == "int" or count.__annotations__["lines"] is int


def test_the_function_has_the_defaults_of_settings() -> None:
    assert parsed() == {"left": {}}
    assert parsed("--top", "7", "--order", "down") == {"lines": 7, "order": "down", "left": {}}
    assert parsed("--plain") == {"marked": False, "left": {}}
    assert parsed("--file", "a", "--file", "b") == {"others": ("a", "b"), "left": {}}


def test_an_option_of_several_functions_stands_once_with_the_text_of_the_last() -> None:
    (top,) = [option for option in setting_options(count, shorten) if "--top" in option.opts]
    assert "Default: 5." in str(top.help)
    assert "--top" not in [flag for option in setting_options(count, without=("lines",)) for flag in option.opts]


@pytest.mark.parametrize(
    ("words", "mode", "without", "says"),
    [
        (("--order", "up"), "--short", None, "--order: does not apply to --short, which is short; leave it out"),
        (("--order", "up"), "", None, "--order: needs --long; add --long"),
        (("--order", "up"), "", ("needs qrels", "add QRELS"), "--order: needs qrels; add QRELS"),
    ],
)
def test_an_option_of_another_mode_is_refused(
    words: tuple[str, ...], mode: str, without: tuple[str, str] | None, says: str
) -> None:
    @command_line("count", "FILE", setting_options(count))
    def command(**options: Any) -> None:
        check_mode(mode, {"--short": {"lines"}, "--long": {"order"}}, ", which is short", without)

    with pytest.raises(InputError) as error:
        CliRunner().invoke(command, words, catch_exceptions=False, obj=words)
    assert error.value.cli_text == says


def test_modes_exclude_each_other() -> None:
    assert chosen_mode({"--long": False, "--short": None}) == ""
    assert chosen_mode({"--long": False, "--short": 0}) == "--short"
    with pytest.raises(InputError, match="cannot be combined with --short"):
        chosen_mode({"--long": True, "--short": "x"})


def test_an_error_names_no_option_that_an_argument_stands_for() -> None:
    for arguments, place in (((), "--topic"), (("9",), "")):
        with pytest.raises(InputError) as error, hide_flag("--topic", arguments):
            raise InputError("--topic", "'9' is not judged")
        assert error.value.place == place
