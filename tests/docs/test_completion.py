"""Shell completion: the offered words are those that commands take."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from gradedeval.cli import ABOUT, COMMANDS, completion
from gradedeval.cli.completion import FILES, MEASURE
from gradedeval.cli.options import HELP
from gradedeval.interop.trec_eval_lines import ENTRIES, EVERY
from gradedeval.kernel.measures.definition import COMMON, MEASURES
from gradedeval.kernel.measures.spellings import ALIASES
from support.commands import Command, python
from support.generated_docs import commands
from support.paths import ROOT

WORDS = Path(completion.__file__).with_name("completion.txt")


def words() -> str:
    """Return the file that `completion.program` reads: the measures, common ones first, the commands, their
    arguments and options."""
    lines = ["|".join([*COMMON, *sorted({*MEASURES, *ALIASES} - {*COMMON})])]
    for name, command in commands():
        if isinstance(command, click.Group):
            continue
        options = [param for param in command.params if getattr(param, "section", HELP) != HELP]
        arguments = MEASURE if name == "measures" else FILES
        help = ("-h", "--help") if command.add_help_option else ("-h,--help",)
        lines.append(
            " ".join([name.replace(" ", ":"), arguments, *(written(option, name) for option in options), *help])
        )
    lines += [f"help {'|'.join([*COMMANDS, 'formats', MEASURE])} --help", "completion bash|zsh|fish --help"]
    return "".join(f"{line}\n" for line in lines)


def written(option: click.Parameter, command: str) -> str:
    assert isinstance(option, click.Option)
    flags, metavar = ",".join(option.opts), option.metavar or ""
    if option.is_flag:
        return flags
    if isinstance(option.type, click.Choice):
        return f"{flags}={'|'.join(option.type.choices)}"
    if re.fullmatch(r"\[[\w|-]+\]", metavar):
        return f"{flags}={metavar[1:-1]}"
    if metavar.startswith("MEASURE"):
        return f"{flags}={'|'.join([*EVERY, *ENTRIES]) if command == 'trec_eval' else MEASURE}"
    return f"{flags}={FILES if re.search('FILE|RUN|QRELS', metavar) else ''}"


def test_completion_offers_the_arguments_of_commands(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--golden"):
        WORDS.write_text(words(), encoding="utf-8")
    assert WORDS.read_text(encoding="utf-8") == words()


PAGES = Path(completion.__file__).with_name("pages.txt")


def pages() -> str:
    """Return the index that `gradedeval help` searches: path, title and headings of each page, between tabs."""
    lines = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        title, *headings = re.findall(r"^#+ (.+)$", text, flags=re.M)
        lines.append("\t".join([page.relative_to(ROOT).as_posix(), title, "; ".join(headings)]).replace("`", ""))
    return "".join(f"{line}\n" for line in lines)


def test_help_searches_the_pages_of_the_documentation(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--golden"):
        PAGES.write_text(pages(), encoding="utf-8")
    assert PAGES.read_text(encoding="utf-8") == pages()


def completions(*typed: str) -> list[str]:
    """Return the completions of the last word."""
    program = completion.program({name: summary for name, (_, summary) in (COMMANDS | ABOUT).items()})
    shell = ShellComplete(program, {}, "gradedeval", "_GRADEDEVAL_COMPLETE")
    *earlier, last = typed
    return [item.value if item.type == "plain" else item.type for item in shell.get_completions(earlier, last)]


@pytest.mark.exhaustive
def test_commands_options_choices_measures_and_files_are_offered() -> None:
    assert completions("co") == ["compare", "collections", "correlate", "completion", "file"]
    assert completions("help", "comp") == ["compare", "compat", "compatibility"]
    assert completions("completion", "f") == ["fish"]
    assert completions("compare", "--tes") == ["--test"]
    assert completions("compare", "--test", "w") == ["wilcoxon"]
    assert completions("compare", "run.txt", "-m", "nerr1") == ["nerr10", "nerr11"]
    assert completions("run.txt", "--resid") == ["--residuals", "--residual-depth"]
    assert completions("run.txt", "--ties", "docno") == ["docno-desc", "docno-asc"]
    assert completions("check", "--baseline", "r") == ["file"]
    assert completions("clicks", "observe", "--clickless", "d") == ["drop"]
    assert completions("measures", "compa") == ["compat", "compatibility"]
    assert completions("plot", "ru") == ["runs"]
    assert completions("plot", "runs", "--siz") == ["--size"]
    assert completions("trec_eval", "-m", "ndcg_c") == ["ndcg_cut"]


def test_completion_in_a_shell_imports_no_numpy() -> None:
    code = "import sys; from gradedeval.__main__ import run; sys.modules['numpy'] = None; run()"
    variables = {"COMP_WORDS": "gradedeval comp", "COMP_CWORD": "1"}
    for instruction, answer in (("bash_source", "_GRADEDEVAL_COMPLETE=bash_complete"), ("bash_complete", "compare\n")):
        done = python("-c", code, **variables, _GRADEDEVAL_COMPLETE=instruction)
        assert done.returncode == 0
        assert answer in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_command_prints_the_script_of_a_shell(shell: str, cli: Command) -> None:
    printed = cli("completion", shell)
    assert (printed.code, printed.messages) == (0, [])
    assert f"_GRADEDEVAL_COMPLETE={shell}_complete" in printed.text


def test_an_unsupported_shell_is_an_error_of_one_line(cli: Command) -> None:
    hint = "choose bash, zsh or fish"
    assert cli("completion").messages == [f"completion: no shell given; {hint}"]
    assert cli("completion", "tcsh").messages == [f"completion: 'tcsh' is not supported; {hint}"]
    assert cli("completion", "tcsh").code == 2
