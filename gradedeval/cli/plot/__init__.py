"""`gradedeval plot PICTURE`: a picture of what another command prints."""

from __future__ import annotations

import click

from gradedeval.cli.group import InnerGroup

PICTURES: dict[str, tuple[str, str]] = {
    "topics": ("topics", "Draw the difference of two runs topic by topic."),
    "runs": ("runs", "Draw runs by their mean: what is known, and what is not."),
    "correlate": ("correlate", "Draw how well measures agree."),
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
