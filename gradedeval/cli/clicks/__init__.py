"""`gradedeval clicks VERB LOG`: what click logs tell, one file a verb."""

from __future__ import annotations

import click

from gradedeval.cli import CLICKS, Verbs


@click.group("clicks", cls=Verbs, verbs=CLICKS, subcommand_metavar="VERB ...")
def command() -> None:
    """Learn from click logs: what users look at, and what they find relevant.

    A log has a line for each session, one user's one query, between tabs under a header: topic, clicks (the ranks that
    were clicked), shown (the docnos from rank 1 on), and, where they are known, user, session, time and count.

    \b
    gradedeval clicks observe log.tsv -o weights.csv
    gradedeval run.txt qrels.txt -m 'wp(file=weights.csv)'
    """
