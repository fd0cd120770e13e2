"""The options for standardized scores, of every verb that takes several runs."""

from __future__ import annotations

from typing import Any

import click

from gradedeval.cli.options import Decorator
from gradedeval.cli.output import write
from gradedeval.errors import InputError
from gradedeval.scoring.scores import Scores

STANDARD_OPTIONS: list[Decorator] = [
    click.option("--standardize", is_flag=True, help="Scores as Φ(z): how a run does on a topic beside the other runs. "
                 "`-m sp --standardize` is sSP."),
    click.option("--reference", metavar="FILE", help="Standardize by the means and deviations of this file."),
    click.option("--save-reference", metavar="FILE", help="Standardize, and save the means and deviations as csv."),
]  # fmt: skip


def standardized_as_told(scores: Scores, told: dict[str, Any]) -> Scores:
    """The scores, standardized where `standardize_options` found that somebody wants it."""
    reference, save = told["reference"], told["save_reference"]
    if not (told["standardize"] or reference or save):
        return scores
    # Not before it is wanted: a plain evaluation does without.
    from gradedeval.analysis.standardize import Reference, standardize

    found = Reference.read(reference) if reference else Reference.of(scores)
    changed = standardize(scores, found)
    if save:
        write(found.text, save)
    return changed


def standard_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of this section out of all options. Raises InputError (usage) where they exclude each other."""
    told = {name: options.pop(name) for name in ("standardize", "reference", "save_reference")}
    wanted = [option for option, given in (("--standardize", told["standardize"]), ("--reference", told["reference"]),
                                           ("--save-reference", told["save_reference"])) if given]  # fmt: skip
    if told["reference"] and told["save_reference"]:
        raise InputError(
            "--save-reference", "beside --reference there is nothing new to save", "leave out one", usage=True
        )
    if wanted and options.get("residuals"):
        raise InputError(wanted[0], "a standardized score has no residual", "leave out --residuals", usage=True)
    return told
