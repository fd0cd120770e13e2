"""A question makes its command: settings, defaults, modes, second results, what a picture and the workers are asked."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner

import gradedeval
from gradedeval.cli.runner import command_of
from gradedeval.errors import InputError, emit_notes
from gradedeval.kernel.formats import Column, Document, Layout, Table
from gradedeval.kernel.options import Number
from gradedeval.kernel.options.question import Question, Setting, question, settings_of
from gradedeval.kernel.parallel import Workers
from gradedeval.kernel.scoring.results import InNotebook
from support.generated_docs import LEAVES

Lines = Annotated[int, Setting("Count to N.", Number("--lines", whole=True, minimum=1), metavar="N")]
Order = Annotated[Literal["up", "down"], Setting("Which way.")]
Marked = Annotated[bool, Setting("Leave the mark out.", off="--plain")]
Least = Annotated[float | None, Setting("The least.", Number("--least"), default_text="none")]
Quoted = Annotated["NotHere | None", Setting("Of a type that is not imported.", metavar="WORD")]  # type: ignore[name-defined] # noqa: F821
Other = Annotated[str, Setting("Count beside FILE.", metavar="FILE", spelled=("--beside",), reads=True)]
Rows = Annotated[int, Setting("Count to N.", Number("--lines", whole=True, minimum=1), metavar="N")]
Wide = Annotated[bool, Setting("Show what was asked.", spelled=("-w", "--wide"))]

# Before click 8.2 standard error is part of the output unless this is said.
SEPARATE: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
RUNNER = CliRunner(**SEPARATE)


@dataclass(frozen=True, eq=False)
class Counted(InNotebook):
    found: dict[str, Any]
    signature: str = "signed"

    @property
    def aside(self) -> str:
        return "how"

    def document(self, layout: Layout, *, wide: Wide = False) -> Document:
        shown = {**self.found, "wide": wide}
        return Document([Table([Column(name) for name in shown], [[str(one) for one in shown.values()]])])


def lower(path: str, *, least: Least = None, lines: Lines = 3) -> Counted:
    return Counted({"mode": "lower", "least": least, "lines": lines})


def beside(path: str, *, other: Other, rows: Rows = 4) -> Counted:
    return Counted({"mode": "beside", "other": other, "lines": rows})


LOWER = Question("count", lower, "file", mode=Setting("Ask for the least.", name="lower", type=bool))
BARE = Setting("Write the names alone.", name="bare", type=bool)
BESIDE = Question(
    "count", beside, "file", mode=Setting("", name="other"), as_text=(BARE, lambda found: " ".join(found.found))
)


@question("count", "file", files="FILE", help="Count.", modes=(LOWER, BESIDE), shows=Counted.document, jobs=True)
def count(path: str, *, lines: Lines = 3, order: Order = "up", marked: Marked = True, word: Quoted = None) -> Counted:
    """Count."""
    emit_notes([f"{Workers.here().count} working"])
    return Counted({"path": path, "lines": lines, "order": order, "marked": marked, "word": word})


ASKED: Question = count.question  # type: ignore[attr-defined]


def asked(*words: str) -> tuple[dict[str, str], str]:
    """What the answer holds, and what is told."""
    done = RUNNER.invoke(command_of(ASKED), [*words, "-f", "csv"], obj=words, catch_exceptions=False)
    names, values = done.stdout.splitlines()
    return dict(zip(names.split(","), values.split(","), strict=True)), done.stderr


def test_a_setting_is_what_the_signature_and_the_alias_say() -> None:
    lines, order, marked, word = ASKED.settings.values()
    assert (lines.name, lines.type, lines.default, lines.flags) == ("lines", int, 3, ("--lines",))
    assert lines.text == "Count to N. Default: 3."
    assert (order.choices, order.default, order.text) == (("up", "down"), "up", "Which way. Default: up.")
    assert (marked.flags, marked.is_flag, marked.text) == (("--plain",), True, "Leave the mark out.")
    assert (word.flags, word.choices) == (("--word",), ())
    assert LOWER.settings["least"].text == "The least. Default: none."


def test_the_function_stays_a_function_with_plain_types() -> None:
    assert count("x").found == {"path": "x", "lines": 3, "order": "up", "marked": True, "word": None}
    said = inspect.signature(count)
    assert (said.parameters["lines"].annotation, said.parameters["word"].annotation) == (int, "NotHere | None")
    assert settings_of(count) == ASKED.settings  # found once, as plain types have taken their places


@pytest.fixture(autouse=True)
def heard() -> Any:
    """In Python the notes of the question are warnings."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gradedeval.EvaluationWarning)
        yield


def test_what_is_not_typed_is_left_to_the_function() -> None:
    found, told = asked("a", "--jobs", "2")
    assert list(found.values()) == ["a", "3", "up", "True", "None", "False"]
    assert told.splitlines() == ["2 working", "how"]
    found, _ = asked("a", "--lines", "5", "--order", "down", "--plain", "--word", "b", "-w")
    assert list(found.values()) == ["a", "5", "down", "False", "b", "True"]


def test_a_mode_is_another_question() -> None:
    found, _ = asked("a", "--lower", "--least", "2")
    assert (found["mode"], found["least"], found["lines"]) == ("lower", "2.0", "3")


def test_a_mode_may_have_a_value_and_share_an_option_under_another_name() -> None:
    found, _ = asked("a", "--beside", "b", "--lines", "2")
    assert (found["mode"], found["other"], found["lines"]) == ("beside", "b", "2")


def test_text_in_place_of_tables() -> None:
    done = RUNNER.invoke(command_of(ASKED), ["a", "--beside", "b", "--bare"], obj=(), catch_exceptions=False)
    assert done.stdout == "mode other lines"


def say(files: tuple[str, ...], *, lines: Lines = 3, heard: str = "", **options: Any) -> Counted:
    return Counted({"files": len(files), "lines": lines, "heard": heard, "lenient": options["lenient"]})


SAID = Question(
    "say",
    say,
    "files",
    asking=lambda given, form, output: {"heard": f"{form} {output} {'lines' in given}", "lenient": True},
    fails=lambda found, output: output == "out.odd",
    reports={"spoken": (".say", lambda found: str(found.found["heard"])), "sung": ("", lambda found: "la")},
    form="spoken",
    by_extension=".say for spoken",
    output="Write it down.",
    besides=("lenient",),
    options="none",
)


@pytest.mark.parametrize(
    ("words", "text", "code"),
    [
        ((), "spoken None False", 0),
        (("--lines", "3"), "spoken None True", 0),
        (("-f", "sung"), "la", 0),
        (("-f", "csv"), "files,lines,heard,lenient,wide\n2,3,csv None False,True,False\n", 0),
        (("-o", "out.say"), "spoken out.say False", 0),
        (("-o", "out.odd"), "spoken out.odd False", 1),
        (("-o", "out.csv"), "files,lines,heard,lenient,wide\n2,3,csv out.csv False,True,False\n", 0),
    ],
)
def test_formats_of_its_own_and_settings_that_follow_from_what_is_given(
    words: tuple[str, ...], text: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = RUNNER.invoke(command_of(SAID), ["a", "b", *words], obj=(), catch_exceptions=False)
    assert (done.exit_code, done.stdout) == (code, "" if "-o" in words else text)
    assert "-o" not in words or Path(words[-1]).read_text() == text


def test_the_page_of_a_command_with_formats_of_its_own() -> None:
    page = " ".join(RUNNER.invoke(command_of(SAID), ["--help"], catch_exceptions=False).stdout.split())
    assert "Output format: spoken, sung, table, csv," in page
    assert "Default: spoken, or by the extension of -o (.say for spoken). -o, --output FILE Write it down." in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["a", "--lower", "--beside", "b"], "--lower: cannot be combined with --beside; ask for one at a time"),
        (["a", "--bare"], "--bare: needs --beside; add --beside"),
        (["a", "--beside", "b", "--bare"], "-f: does not apply to --bare; leave one of them out"),
        (["a", "--lower", "--order", "up"], "--order: does not apply to --lower; leave it out"),
        (["a", "--least", "1"], "--least: needs --lower; add --lower"),
        (["a", "b"], "2 files given; name one count: count FILE"),
        (["a", "--lines", "0"], "--lines: 0 is too small; it must be at least 1"),
        (["a", "--order", "upp"], "--order: invalid value 'upp'; did you mean 'up'?"),
    ],
)
def test_what_makes_no_sense_is_one_line(words: list[str], says: str) -> None:
    with pytest.raises(InputError) as error:
        asked(*words)
    assert error.value.cli_text.startswith(says)
    assert error.value.usage


PRINTED = ("risk", "power", "correlate", "weights", "history", "informative", "pr", "pool", "fit", "report")
DRAWN = ("runs", "topics", *(name for name in PRINTED if name not in ("risk", "history", "pool", "report")))


@pytest.mark.parametrize("name", [*PRINTED, *(f"plot {name}" for name in DRAWN)])
def test_defaults_stand_in_signatures_alone(name: str) -> None:
    own = [param for param in LEAVES[name].params if isinstance(param, click.Option) and not param.is_flag]
    assert {param.name for param in own if isinstance(param.default, int | float | str)} == set()


def test_the_docstring_of_a_question_is_that_of_its_function() -> None:
    assert "Returns `Risk`" in str(gradedeval.risk.__doc__)
    assert inspect.signature(gradedeval.power).parameters["draws"].annotation is int
    assert Path(str(inspect.getsourcefile(inspect.unwrap(gradedeval.power)))).name == "power.py"


Strict = Annotated[Literal["yes", "no"], Setting("Whether to look closely.", section="Reading and ranking")]


def opened(source: str, *, strict: Strict = "no", lines: int = 0) -> dict[str, Any]:
    return {"source": source, "strict": strict, "of": lines}


@question("seen", "log", files="LOG", reads=opened)
def seen(log: dict[str, Any], *, lines: Lines = 3) -> Counted:
    return Counted({**log, "lines": lines})


def test_what_reads_a_log_has_settings_of_its_own_and_those_of_the_question_that_it_names() -> None:
    command = command_of(seen.question)  # type: ignore[attr-defined]
    for words, found in (((), "a,no,3,3"), (("--strict", "yes", "--lines", "5"), "a,yes,5,5")):
        done = RUNNER.invoke(command, ["a", *words, "-f", "csv"], obj=words, catch_exceptions=False)
        assert done.stdout.splitlines() == ["source,strict,of,lines,wide", f"{found},False"]
    for files, problem in (([], "expected a click log"), (["a", "b"], "2 files, expected a click log")):
        with pytest.raises(InputError, match=f"^{problem}; usage: "):
            command.main(files, standalone_mode=False, obj=())


@question("sheet", "file", files="FILE", text=str, page=True)
def sheet(path: str, *, lines: Lines = 3) -> str:
    return f"<p>{path}: {lines}</p>"


def test_a_page_goes_to_the_file_that_is_named(tmp_path: Path) -> None:
    command = command_of(sheet.question)  # type: ignore[attr-defined]
    command.main(["a", "--lines", "2", "-o", str(tmp_path / "sheet.htm")], standalone_mode=False, obj=())
    assert (tmp_path / "sheet.htm").read_text() == "<p>a: 2</p>"
    assert RUNNER.invoke(command, ["a", "-o", "-"], obj=(), catch_exceptions=False).stdout == "<p>a: 3</p>"
    with pytest.raises(InputError, match=r"^'sheet\.csv': a sheet is an HTML page; name a \.html file$"):
        command.main(["a", "-o", "sheet.csv"], standalone_mode=False, obj=())
    with pytest.raises(click.MissingParameter):
        command.main(["a"], standalone_mode=False, obj=())
