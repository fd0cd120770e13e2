"""`gradedeval plot PICTURE`: a picture of what another command prints."""

from __future__ import annotations

import click

from gradedeval.cli.group import CommandGroup
from gradedeval.cli.output import say
from gradedeval.errors import InputError, did_you_mean

PICTURES: dict[str, tuple[str, str]] = {
    "pr": ("pr", "Draw precision over recall, graded and at each threshold."),
    "topics": ("topics", "Draw the difference of two runs topic by topic."),
    "runs": ("runs", "Draw runs by their mean: what is known, and what is not."),
    "weights": ("weights", "Draw the weights of ranks."),
    "fit": ("fit", "Draw the agreement of measures over a parameter."),
    "power": ("power", "Draw the significance levels of all pairs of runs."),
    "correlate": ("correlate", "Draw how well measures agree, as a heat map or a scatter."),
    "explain": ("explain", "Draw one topic rank by rank."),
    "history": ("history", "Draw how scores went, evaluation by evaluation."),
}


class Pictures(CommandGroup):
    """The pictures; one that does not exist is an error with a hint."""

    table, package = PICTURES, "gradedeval.cli.plot"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            say(ctx.get_help())
            ctx.exit(2)
        if not args[0].startswith("-") and args[0] not in PICTURES:
            hint = did_you_mean(args[0], PICTURES) or f"choose from {', '.join(PICTURES)}"
            raise InputError("plot", f"no such picture '{args[0]}'", hint, usage=True)
        return super().parse_args(ctx, args)


@click.group("plot", cls=Pictures, subcommand_metavar="PICTURE ...")
def command() -> None:
    """Draw a picture of what another command prints, with that command's options, as png, svg or pdf.

    \b
    gradedeval plot runs runs/*.run qrels.txt -m ndcg@10 -o runs.pdf
    gradedeval plot topics A B qrels.txt -m ndcg@10 -o topics.svg --signature

    Needs matplotlib: pip install 'gradedeval[plot]'.
    """
