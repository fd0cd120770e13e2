"""A name of an option has one meaning: it takes values of one kind in all commands, and does the same."""

import re
from collections.abc import Iterable, Mapping

import click
import pytest

from support.generated_docs import LEAVES

DROP_IN = "trec_eval"
"""The command whose options are another tool's; of its names those that are ours too mean the same."""

# Two ways to write a value of the same kind.
SAME_KIND = {
    "--baseline": {"RUN", "RUN|SCORES.csv"},  # saved scores where the command reads them
    "--correction": {"NAME", "one of a list"},  # `eval` reads the list only when it is asked for
    "--test": {"TEST", "one of a list"},
    "--measure": {"MEASURE", "MEASURE[.PARAMETERS]"},  # the drop-in takes trec_eval's notation as well
    "--output": {"FILE", "FILE.html"},
    "--prior": {"X", "A[,B]"},  # one number for clicks and skips, or one for each
}

# What the help texts of an option have in common, where they are not the same in all commands.
MEANINGS = {
    "--all": "^List (every|specialized)",
    "--at": "Depth of",
    "--baseline": "Compare every run with this one|Mark scores that differ significantly from|Measure drops against",
    "--by-topic": "row per (run and )?topic|the scores of all runs on each topic",
    "--click-measure": "Click measure",
    "--coefficient": "^Coefficient",
    "--correction": "Correction for multiple comparisons, over the pairs of each measure",
    "--curve": "Write the curves?:",
    "--depth": "the N highest-ranked documents|shown lists to N documents",
    "--draws": "Number of .*bootstrap samples",
    "--format": "Output format|Print one of gradedeval's formats",
    "--iterations": "iterations",
    "--lenient": "Skip malformed lines( of the log)?, and report how many",
    "--measure": r"^(The |A |Only this )?measure\b",
    "--model": "Click model",
    "--no-worse": "a drop of the mean by X, or by X percent of the baseline's mean",
    "--normalize": "'sum': scale the weights of .* to sum to 1",
    "--output": r"Write (the \w+ )?to FILE",
    "--persistence": "the probability of going on from rank to rank",
    "--precision": "Precision of the fitted values?",
    "--prior": "prior counts of clicks and skips",
    "--ranks": "ranks 1 to N|the first N ranks",
    "--seed": "Random seed",
    "--show": "Number of ranks",
    "--test": "Significance test",
    "--top": "[Ss]how the N (hardest )?topics",
    "--topic": "Topic to explain|Show this topic",
}

Commands = Mapping[str, click.Command]


def options(commands: Commands) -> Iterable[tuple[str, str, click.Option]]:
    """Yield the long name of each option of each command, the command and the option."""
    for command, described in commands.items():
        for param in described.params:
            if isinstance(param, click.Option):
                yield max(param.opts, key=len), command, param


def kind(option: click.Option) -> str:
    """Return the placeholder of its value on a help page."""
    if option.is_flag:
        return "no value"
    return "one of a list" if isinstance(option.type, click.Choice) else str(option.metavar)


def meaning(option: click.Option) -> str:
    """Return its help text, without the default and the limits of numbers."""
    text = re.sub(r" ?\[[^\]]*\bx\b[^\]]*\]", "", option.help or "")
    return text.partition("Default: ")[0].strip()


def kinds_that_differ(commands: Commands) -> dict[str, set[str]]:
    """Return names of options whose values are of several kinds."""
    result: dict[str, set[str]] = {}
    for name, _, option in options(commands):
        result.setdefault(name, set()).add(kind(option))
    return {name: kinds for name, kinds in result.items() if len(kinds) > 1 and kinds != SAME_KIND.get(name)}


def meanings_that_differ(commands: Commands) -> list[str]:
    """Return options with several help texts, unless all are those of `MEANINGS`."""
    result: dict[str, dict[str, str]] = {}
    for name, command, option in options(commands):
        result.setdefault(name, {})[command] = meaning(option)
    differing = {name: texts for name, texts in result.items() if len(set(texts.values())) > 1}
    return [
        f"{command} {name}: {text}"
        for name, texts in differing.items()
        for command, text in texts.items()
        if not re.search(MEANINGS.get(name, r"\A(?!)"), text, re.IGNORECASE)
    ]


def test_an_option_takes_values_of_one_kind_in_all_commands() -> None:
    assert kinds_that_differ(LEAVES) == {}


def test_an_option_means_the_same_in_all_commands() -> None:
    assert meanings_that_differ(LEAVES) == []


def test_a_short_name_is_that_of_one_option() -> None:
    long: dict[str, set[str]] = {}
    for name, command, option in options(LEAVES):
        for short in (
            name_of_option
            for name_of_option in option.opts
            if not name_of_option.startswith("--") and command != DROP_IN
        ):
            long.setdefault(short, set()).add(name)
    assert long == {
        "-f": {"--format"},
        "-k": {"-k"},
        "-m": {"--measure"},
        "-o": {"--output"},
        "-q": {"--by-topic"},
        "-v": {"--verbose"},
    }


def test_the_tables_have_no_more_than_they_need() -> None:
    texts: dict[str, set[str]] = {}
    kinds: dict[str, set[str]] = {}
    for name, _, option in options(LEAVES):
        texts.setdefault(name, set()).add(meaning(option))
        kinds.setdefault(name, set()).add(kind(option))
    assert MEANINGS.keys() == {name for name, values in texts.items() if len(values) > 1}
    assert {name: values for name, values in kinds.items() if len(values) > 1} == SAME_KIND


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (click.Option(["--alpha"], metavar="A", help="A loss weighs 1 + A times as much as a gain."), "kinds"),
        (click.Option(["--alpha"], metavar="P", help="A loss weighs 1 + P times as much as a gain."), "meanings"),
        (click.Option(["--ranks"], is_flag=True, help="Number the runs of --sort."), "kinds"),
        (click.Option(["--ranks"], metavar="N", help="Deepest of them."), "meanings"),
        (click.Option(["--sort"], metavar="[MEASURE]", help="Order the topics by a measure."), "meanings"),
    ],
)
def test_a_new_meaning_of_an_old_name_is_found(new: click.Option, found: str) -> None:
    (name,), commands = new.opts, {**LEAVES, "new": click.Command("new", params=[new])}
    assert (name in kinds_that_differ(commands)) == (found == "kinds")
    assert any(line.startswith(f"new {name}: ") for line in meanings_that_differ(commands))
