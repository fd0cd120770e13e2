"""Help pages: each option stands in one section, and nothing else does."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import click
import pytest

from gradedeval import measure
from gradedeval.cli import COMMANDS, GROUPS
from gradedeval.cli import gradedeval as program
from gradedeval.cli.options import MAX_SHORT_TEXT, MOST_USED, SECTIONS, Option
from gradedeval.cli.options import Command as SectionedCommand
from gradedeval.cli.search import texts_of
from support.commands import Command, python
from support.generated_docs import LEAVES


def sections(text: str) -> dict[str, list[str]]:
    """Return the headings of a help page, and the first words of the entries under each."""
    result: dict[str, list[str]] = {}
    heading = ""
    for line in text.splitlines():
        if re.fullmatch(r"[A-Z][^.`]*:", line):
            heading = line[:-1]
            result[heading] = []
        elif heading and re.match(r"  \S", line):
            result[heading].append(line.split("  ")[1].strip())
    return result


MOST_MODULES = 40
"""Of ours, which a help page imports; of others neither NumPy nor pandas."""

COUNTED = """
import os, sys
from gradedeval.cli import main
for words in sys.argv[1:]:
    child = os.fork()
    if not child:
        sys.stdout, printed = open(os.devnull, "w"), sys.stdout
        try:
            main([*words.split(), "--help"])
        except SystemExit:
            own = [name for name in sys.modules if name.partition(".")[0] == "gradedeval"]
            print(words, len(own), *sys.modules.keys() & {"numpy", "pandas"}, sep=":", file=printed, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_a_help_page_imports_few_modules(step: int) -> None:
    """Each page runs in a process of its own, forked before it imports more than all pages do."""
    names = list(LEAVES)[::step]
    pages = [line.split(":") for line in python("-c", COUNTED, *names).stdout.splitlines()]
    assert [name for name, *_ in pages] == names
    assert [name for name, modules, *slow in pages if int(modules) > MOST_MODULES or slow] == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LEAVES)
@pytest.mark.parametrize("columns", ["80", "100"])
def test_each_option_stands_in_exactly_one_section(
    name: str, columns: str, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    command = LEAVES[name]
    context = click.Context(command, help_option_names=["-h", "--help"])
    options = [param for param in command.get_params(context) if isinstance(param, click.Option)]
    text = cli(*name.split(), "--help").text.partition("\nQRELS (")[
        0
    ]  # where trec_eval's page goes on with its measures
    page = sections(text)
    assert list(page) == [section for section in (MOST_USED, *SECTIONS) if section in page]
    entries = [entry for section in page.values() for entry in section]
    assert sorted(re.findall(r"^-\S+?(?=,| |$)", entry)[0] for entry in entries) == sorted(
        min(param.opts, key=len) for param in options
    )
    assert all(len(line) <= int(columns) for line in text.splitlines() if line[:1] == " ")


def test_every_command_has_a_module_and_a_summary() -> None:
    for name, (_, summary) in COMMANDS.items():
        command = program.get_command(click.Context(program), name)
        assert command is not None
        assert command.name == name
        assert summary.endswith(".")


@pytest.mark.parametrize("group", ["plot", "clicks"])
def test_a_group_alone_is_wrong_usage(group: str, cli: Command) -> None:
    outcome = cli(group)
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.messages[0].startswith(f"Usage: gradedeval {group} ")


DESCRIPTIONS = """
from inspect import cleandoc
from gradedeval import MEASURES
from gradedeval.cli import gradedeval

def helps(command):
    inner = getattr(command, "listed_commands", ())
    return [cleandoc(command.help), *(helps(command.get_command(None, name)) for name in inner)]

measures = [one.definition for one in MEASURES.values()]
found = [helps(gradedeval), [[one.paragraphs, one.meanings] for one in measures]]
"""


@pytest.mark.exhaustive
def test_python_without_docstrings_describes_commands_and_measures_all_the_same() -> None:
    here: dict[str, Any] = {}
    exec(DESCRIPTIONS, here)
    done = python("-OO", "-c", f"{DESCRIPTIONS}\nimport json; print(json.dumps(found))")
    assert json.loads(done.stdout) == here["found"], done.stderr


def test_a_package_without_its_metadata_has_no_version() -> None:
    made: dict[str, Any] = {}
    exec("def mine(g): return g.gain.sum(1)", made)
    assert measure(made["mine"]).definition.paragraphs == ["", "", ""]


SHORT_PAGES = Path(__file__).with_name("short_pages.txt")


def test_short_pages_at_80_columns_are_those_of_the_golden_file(
    cli: Command, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    pages = "".join(f"$ gradedeval {name} -h\n{cli(*name.split(), '-h').text}\n" for name in LEAVES)
    if request.config.getoption("--golden"):
        SHORT_PAGES.write_text(pages, encoding="utf-8")
    assert SHORT_PAGES.read_text(encoding="utf-8") == pages


@pytest.mark.parametrize("name", LEAVES)
def test_the_short_page_is_a_screen_of_whole_lines(name: str, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = cli(*name.split(), "-h")
    lines = page.text.splitlines()
    assert (page.code, page.messages) == (0, [])
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    assert "…" not in page.text
    command = LEAVES[name]
    assert isinstance(command, SectionedCommand)
    entries = [line for line in lines if line.startswith("  -")]
    assert [line.split()[0].rstrip(",") for line in entries] == [
        min(option.opts, key=len) for option in command.most_used
    ]
    assert [line.split("  ")[-1].strip() for line in entries] == [option.short for option in command.most_used]
    assert 0 < len(entries) <= 18
    assert f"`gradedeval {name} --help` explains all" in lines[-1 - (name == "trec_eval")]


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_has_a_short_text(name: str) -> None:
    options = [param for param in LEAVES[name].params if isinstance(param, Option)]
    assert [
        option.opts
        for option in options
        if not 8 < len(option.short) <= MAX_SHORT_TEXT or not option.short.endswith(".")
    ] == []


@pytest.mark.parametrize("name", LEAVES)
def test_both_pages_begin_with_the_most_used_options(name: str, cli: Command) -> None:
    command = LEAVES[name]
    assert isinstance(command, SectionedCommand)
    flags = [min(option.opts, key=len) for option in command.most_used]
    assert [re.split(r",| |$", entry)[0] for entry in sections(cli(*name.split(), "--help").text)[MOST_USED]] == flags
    declared = [flag for flag in command.flags if flag not in flags]
    assert declared == [], "of another command"
    first_flags = [
        min(option.opts, key=len) for option in command.params if getattr(option, "section", "") == SECTIONS[0]
    ]
    assert command.flags or [flag for flag in first_flags if flag not in flags] == [], "say which of them are most used"


def test_every_command_stands_in_one_group_and_the_nine_most_used_come_first(cli: Command) -> None:
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)
    assert len(GROUPS["Most used"]) == 9
    page = cli("-h").text
    assert page == cli("--help").text == cli("help").text == cli().text
    assert cli().code == 0
    assert "gradedeval compare a.run b.run qrels.txt" in page
    assert len(page.splitlines()) <= 50
    assert [heading for heading in GROUPS if f"\n{heading}:\n" not in page] == []


def test_help_is_the_page_of_a_command_a_measure_or_a_list(cli: Command) -> None:
    assert cli("help", "compare").text.startswith(cli("compare", "--help").text)
    assert cli("help", "plot", "runs").text.startswith(cli("plot", "runs", "--help").text)
    assert cli("help", "measures").text == cli("measures").text
    assert cli("help", "ndcg").text.startswith(cli("measures", "ndcg").text)
    formats = cli("help", "formats").text
    assert all(f"\n{name:<9}  " in formats for name in ("table", "csv", "latex"))
    assert "\n--run-format: trec, " in formats


def test_help_on_an_option_names_its_commands(cli: Command) -> None:
    for word in ("predicted", "--predicted"):
        text = " ".join(cli("help", word).text.split())
        assert text.startswith("--predicted QRELS2 A machine's judgments of these topics and more")
        assert "Commands: eval, compare." in text
    assert cli("help", "-m").text.startswith("-m, --measure MEASURE\n")
    assert cli("help", "--metrics").text.startswith("-m, --measure MEASURE\n")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LEAVES)
def test_help_knows_every_option_of_every_command(name: str, cli: Command) -> None:
    context = click.Context(program)
    texts = [entry for entry in texts_of(context) if entry.kind == "option" and entry.place.startswith(f"{name} -")]
    flags = {flag for entry in texts for flag in entry.names}
    assert flags >= {flag for param in LEAVES[name].params if isinstance(param, click.Option) for flag in param.opts}


def test_help_lists_other_places_of_a_word(cli: Command) -> None:
    named = cli("help", "topics").text
    assert named.startswith("--topics NAME\n")
    assert "\nAlso in:\n  eval --topics-from  " in named
    subject = cli("help", "kappa").text
    assert subject.startswith("kappa (statistics)    agreement\n")
    assert "\nAlso in:\n" in subject
    assert cli("help", "studentized").text.startswith("Nothing is called 'studentized'; the word appears in:\n")
    assert "Compare two sets of judgments" in subject
    assert "docs/how-to/latex-table.md" in cli("help", "latex").text
    assert cli("help", "beir").text.startswith("--run-format beir or --qrels-format beir\n")


def test_help_on_an_unknown_word_is_one_line(cli: Command) -> None:
    assert cli("help", "compar").messages == [
        "help: no command, measure or option is called 'compar'; did you mean 'compare'?"
    ]
    assert cli("help", "xyzzy").messages == [
        "help: no command, measure or option is called 'xyzzy'; `gradedeval help` lists the commands"
    ]
    assert cli("help", "xyzzy").code == 2
    assert cli("help", "plot", "rns").messages == ["plot: no such picture 'rns'; did you mean 'runs'?"]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("context_precision", "context_precision (ragas)  of ids it is id_based_context_precision, here set_p"),
        ("ragas", "id_based_context_recall (ragas) set_recall"),
        ("bonferroni", "--bonferroni (statistics) --correction bonferroni"),
        ("leaderboard", "leaderboard eval --sort"),
    ],
)
def test_a_word_of_another_tool_is_explained(word: str, says: str, cli: Command) -> None:
    assert " ".join(says.split()) in " ".join(cli("help", word).text.split())
