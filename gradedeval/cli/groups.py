"""Groups of commands, imported when called; `gradedeval plot PICTURE` and `gradedeval clicks VERB`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import click

from gradedeval.cli.output import Described, say
from gradedeval.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from gradedeval.kernel.options.question import Question

# A group of commands, each of which is imported when it is called.


Table = Mapping[str, tuple[str, str]]
"""Command -> its module and its name there, as in `questions.power:power`, and what it does."""


class CommandGroup(Described, click.Group):
    """A group that imports a command of its `table` when it is called."""

    table: ClassVar[Table]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.table:
            return None
        module, _, attribute = self.table[name][0].partition(":")
        found: Any = getattr(importlib.import_module(f"gradedeval.{module}"), attribute)
        return found if isinstance(found, click.Command) else self.made(found.question)

    def made(self, question: Question) -> click.Command:
        """The command that asks a question."""
        from gradedeval.cli.runner import command_of  # not for `--help`

        return command_of(question)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.table.items()])


class InnerGroup(CommandGroup):
    """A command of commands, each of them a `noun`; one that does not exist is an error with a hint."""

    noun: ClassVar[str] = "command"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            say(ctx.get_help())
            ctx.exit(2)
        if not args[0].startswith("-") and args[0] not in self.table:
            hint = did_you_mean(args[0], self.table) or f"choose from {', '.join(self.table)}"
            raise InputError(str(ctx.info_name), f"no such {self.noun} '{args[0]}'", hint, usage=True)
        return super().parse_args(ctx, args)


# `gradedeval plot PICTURE`: a picture of what another command prints.


PICTURES: dict[str, tuple[str, str]] = {
    "pr": ("questions.precision_recall:precision_recall", "Draw precision over recall, graded and at each threshold."),
    "informative": (
        "questions.informative:informativeness",
        "Draw actual precision over recall, and what scores tell of it.",
    ),
    "topics": ("questions.topics:topic_differences", "Draw the difference of two runs topic by topic."),
    "runs": ("questions.runs:run_summaries", "Draw runs by their mean: what is known, and what is not."),
    "weights": ("questions.weights:weights", "Draw the weights of ranks."),
    "fit": ("questions.fit:fit", "Draw the agreement of measures over a parameter."),
    "power": ("questions.power:power", "Draw the significance levels of all pairs of runs."),
    "correlate": ("questions.correlate:correlate", "Draw how well measures agree, as a heat map or a scatter."),
    "explain": ("questions.explain:explain_runs", "Draw one topic rank by rank."),
    "observation": (
        "clicks.observation:fit",
        "Draw what users look at, from a click log, with the nearest weights.",
    ),
    "clicks": ("clicks.click_measures:correlate", "Draw what users clicked on lists against a measure."),
    "history": ("questions.history:read_history", "Draw how scores went, evaluation by evaluation."),
}


class Pictures(InnerGroup):
    """The pictures."""

    table, noun = PICTURES, "picture"

    def made(self, question: Question) -> click.Command:
        """The command that draws the answer to a question."""
        from gradedeval.cli.runner import picture_of  # not for `--help`

        return picture_of(question)


@click.group("plot", cls=Pictures, subcommand_metavar="PICTURE ...")
def plot() -> None:
    """Draw a picture of what another command prints, with that command's options, as png, svg or pdf.

    \b
    gradedeval plot runs runs/*.run qrels.txt -m ndcg@10 -o runs.pdf
    gradedeval plot topics A B qrels.txt -m ndcg@10 -o topics.svg --signature

    Needs matplotlib: pip install 'gradedeval[plot]'.
    """


# `gradedeval clicks VERB LOG`: what click logs tell, one file a verb.


VERBS: dict[str, tuple[str, str]] = {
    "observe": ("clicks.observation:observe", "Estimate how likely users are to look at each rank."),
    "fit": ("clicks.observation:fit", "Find the weights of ranks that are nearest to what users look at."),
    "measures": ("clicks.click_measures:measures", "Report what clicks say of each list that was shown."),
    "correlate": (
        "clicks.click_measures:correlate",
        "Correlate measures of lists with what users clicked on them.",
    ),
    "gains": ("clicks.learned_gains:gains", "Learn what grades are worth to users."),
    "models": ("clicks.click_models:models", "Fit click models, and report how well they predict."),
    "simulate": ("clicks.simulation:simulate", "Draw a click log of users whose behaviour is known."),
}


class Verbs(InnerGroup):
    """What is asked of click logs."""

    table = VERBS


@click.group("clicks", cls=Verbs, subcommand_metavar="VERB ...")
def clicks() -> None:
    """Learn from click logs what users look at and like.

    A log has a line for each session, one user's one query, between tabs under a header: topic, clicks (the ranks that
    were clicked), shown (the docnos from rank 1 on), and, where they are known, user, session, time and count.

    \b
    gradedeval clicks observe log.tsv -o weights.csv
    gradedeval run.txt qrels.txt -m 'wp(file=weights.csv)'
    """
