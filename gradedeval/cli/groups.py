"""Commands of commands: `gradedeval plot PICTURE` and `gradedeval clicks VERB`."""

from __future__ import annotations

import click

from gradedeval.cli.output import InnerGroup

# `gradedeval plot PICTURE`: a picture of what another command prints.


PICTURES: dict[str, tuple[str, str]] = {
    "pr": ("questions.precision_recall:plot_command", "Draw precision over recall, graded and at each threshold."),
    "informative": (
        "questions.informative:plot_command",
        "Draw actual precision over recall, and what scores tell of it.",
    ),
    "topics": ("questions.topics:plot_command", "Draw the difference of two runs topic by topic."),
    "runs": ("questions.runs:plot_command", "Draw runs by their mean: what is known, and what is not."),
    "weights": ("questions.weights:plot_command", "Draw the weights of ranks."),
    "fit": ("questions.fit:plot_command", "Draw the agreement of measures over a parameter."),
    "power": ("questions.power:plot_command", "Draw the significance levels of all pairs of runs."),
    "correlate": ("questions.correlate:plot_command", "Draw how well measures agree, as a heat map or a scatter."),
    "explain": ("questions.explain:plot_command", "Draw one topic rank by rank."),
    "observation": (
        "clicks.observation:plot_command",
        "Draw what users look at, from a click log, with the nearest weights.",
    ),
    "clicks": ("clicks.click_measures:plot_command", "Draw what users clicked on lists against a measure."),
    "history": ("questions.history:plot_command", "Draw how scores went, evaluation by evaluation."),
}


class Pictures(InnerGroup):
    """The pictures."""

    table, noun = PICTURES, "picture"


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
    "observe": ("clicks.observation:observe_command", "Estimate how likely users are to look at each rank."),
    "fit": ("clicks.observation:fit_command", "Find the weights of ranks that are nearest to what users look at."),
    "measures": ("clicks.click_measures:measures_command", "Report what clicks say of each list that was shown."),
    "correlate": (
        "clicks.click_measures:correlate_command",
        "Correlate measures of lists with what users clicked on them.",
    ),
    "gains": ("clicks.learned_gains:gains_command", "Learn what grades are worth to users."),
    "models": ("clicks.click_models:models_command", "Fit click models, and report how well they predict."),
    "simulate": ("clicks.simulation:simulate_command", "Draw a click log of users whose behaviour is known."),
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
