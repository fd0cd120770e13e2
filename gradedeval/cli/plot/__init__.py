"""`gradedeval plot PICTURE`: a picture of what another command prints."""

from __future__ import annotations

import click

from gradedeval.cli.group import InnerGroup

PICTURES: dict[str, tuple[str, str]] = {
    "pr": ("pr", "Draw precision over recall, graded and at each threshold."),
    "informative": ("informative", "Draw actual precision over recall, and what scores tell of it."),
    "topics": ("topics", "Draw the difference of two runs topic by topic."),
    "runs": ("runs", "Draw runs by their mean: what is known, and what is not."),
    "weights": ("weights", "Draw the weights of ranks."),
    "fit": ("fit", "Draw the agreement of measures over a parameter."),
    "power": ("power", "Draw the significance levels of all pairs of runs."),
    "correlate": ("correlate", "Draw how well measures agree, as a heat map or a scatter."),
    "explain": ("explain", "Draw one topic rank by rank."),
    "observation": ("observation", "Draw what users look at, from a click log, with the nearest weights."),
    "clicks": ("clicks", "Draw what users clicked on lists against a measure."),
    "history": ("history", "Draw how scores went, evaluation by evaluation."),
}


class Pictures(InnerGroup):
    """The pictures."""

    table, package, noun = PICTURES, "gradedeval.cli.plot", "picture"


@click.group("plot", cls=Pictures, subcommand_metavar="PICTURE ...")
def command() -> None:
    """Draw a picture of what another command prints, with that command's options, as png, svg or pdf.

    \b
    gradedeval plot runs runs/*.run qrels.txt -m ndcg@10 -o runs.pdf
    gradedeval plot topics A B qrels.txt -m ndcg@10 -o topics.svg --signature

    Needs matplotlib: pip install 'gradedeval[plot]'.
    """
