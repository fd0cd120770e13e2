"""`gradedeval clicks VERB LOG`: what click logs tell, one file a verb."""

from __future__ import annotations

import click

from gradedeval.cli.group import InnerGroup

VERBS: dict[str, tuple[str, str]] = {
    "observe": ("observe", "Estimate how likely users are to look at each rank."),
    "fit": ("fit", "Find the weights of ranks that are nearest to what users look at."),
    "measures": ("measures", "Report what clicks say of each list that was shown."),
    "correlate": ("correlate", "Correlate measures of lists with what users clicked on them."),
    "gains": ("gains", "Learn what grades are worth to users."),
    "models": ("models", "Fit click models, and report how well they predict."),
    "simulate": ("simulate", "Draw a click log of users whose behaviour is known."),
}


class Verbs(InnerGroup):
    """What is asked of click logs."""

    table, package = VERBS, "gradedeval.cli.clicks"


@click.group("clicks", cls=Verbs, subcommand_metavar="VERB ...")
def command() -> None:
    """Learn from click logs what users look at and like.

    A log has a line for each session, one user's one query, between tabs under a header: topic, clicks (the ranks that
    were clicked), shown (the docnos from rank 1 on), and, where they are known, user, session, time and count.

    \b
    gradedeval clicks observe log.tsv -o weights.csv
    gradedeval run.txt qrels.txt -m 'wp(file=weights.csv)'
    """
