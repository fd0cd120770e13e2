"""Help pages: each option stands in one section, and nothing else does."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import click
import pytest

from gradedeval import measure
from gradedeval.cli import COMMANDS, GROUPS
from gradedeval.cli import gradedeval as program
from gradedeval.cli.help import COMMON
from gradedeval.cli.options import SECTIONS
from support.commands import Command, python
from support.generated_docs import LEAVES


def sections(text: str) -> dict[str, list[str]]:
    """The headings of a help page, and the first words of the entries under each."""
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
    """Each in a process of its own, forked before more than what all of them import."""
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
    assert list(page) == [section for section in SECTIONS if section in page]
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
    inner = getattr(command, "table", ())
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


def test_what_python_cannot_find_is_left_blank() -> None:
    made: dict[str, Any] = {}
    exec("def mine(g): return g.gain.sum(1)", made)
    assert measure(made["mine"]).definition.paragraphs == ["", "", ""]


@pytest.mark.parametrize("name", [name for name, command in LEAVES.items() if command.add_help_option])
def test_the_short_page_is_a_screen_of_lines_that_fit(name: str, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = cli(*name.split(), "-h")
    lines = page.text.splitlines()
    assert (page.code, page.messages) == (0, [])
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    flags = {
        flag for line in lines if line.startswith("  -") for flag in re.findall(r"(?<=[ ,])--?[a-z][\w-]*", line[:40])
    }
    _, named, also = page.text.partition("\n  also: ")
    flags |= set(re.findall(r"--?[a-z][\w-]*", also.partition("\n\n")[0])) if named else set()
    own = [param.opts for param in LEAVES[name].params if getattr(param, "section", "") == SECTIONS[0]]
    assert [names for names in own if not flags & {*names}] == []
    assert {flag for param in LEAVES[name].params for flag in param.opts if flag in COMMON} <= flags
    assert f"`gradedeval {name} --help` explains all" in lines[-1]


def test_every_command_stands_in_one_group_and_the_nine_most_used_come_first(cli: Command) -> None:
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)
    assert len(GROUPS["Most used"]) == 9
    page = cli("-h").text
    assert page == cli("--help").text == cli("help").text
    assert len(page.splitlines()) <= 50
    assert [heading for heading in GROUPS if f"\n{heading}:\n" not in page] == []


def test_help_is_the_page_of_a_command_a_measure_or_a_list(cli: Command) -> None:
    assert cli("help", "compare").text == cli("compare", "--help").text
    assert cli("help", "plot", "runs").text == cli("plot", "runs", "--help").text
    assert cli("help", "measures").text == cli("measures").text
    assert cli("help", "ndcg").text == cli("measures", "ndcg").text
    formats = cli("help", "formats").text
    assert all(f"\n{name:<9}  " in formats for name in ("table", "csv", "latex"))
    assert "\n--run-format: trec, " in formats


def test_help_on_an_option_names_its_commands(cli: Command) -> None:
    text = " ".join(cli("help", "predicted").text.split())
    assert text.startswith("--predicted QRELS2 A machine's judgments of these topics and more")
    assert text.endswith("Commands: eval, compare.")


def test_help_on_what_does_not_exist_is_one_line(cli: Command) -> None:
    assert cli("help", "compar").messages == [
        "help: no command, measure or option is called 'compar'; did you mean 'compare'?"
    ]
    assert cli("help", "xyzzy").messages == [
        "help: no command, measure or option is called 'xyzzy'; `gradedeval help` lists the commands"
    ]
    assert cli("help", "xyzzy").code == 2
    assert cli("help", "plot", "rns").messages == ["plot: no such picture 'rns'; did you mean 'runs'?"]
