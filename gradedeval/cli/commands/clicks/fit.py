"""`gradedeval clicks fit`: the rank weights closest to the examination probabilities."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.commands.clicks import check_count
from gradedeval.cli.options import CUTOFF, MEASURES_FROM, command_line, output_options
from gradedeval.cli.output import context_option
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import pop_settings, resolve_measures, setting_options
from gradedeval.clicks.observation import families, fit, read_observation, read_weighing


@command_line("fit", "LOG", setting_options(fit, read_observation), [CUTOFF, MEASURES_FROM],
              output_options(digits="4"))  # fmt: skip
def command(files: tuple[str, ...], **options: Any) -> None:
    """Find the rank weights closest to the examination probabilities, by Kullback-Leibler divergence.

    The measures are printed as -m takes them, the closest first. They describe examination, and do not estimate a
    parameter of the users: `gradedeval clicks models` does. Zhang et al., Information Retrieval 2010.

    Columns: KL, the divergence in nats; within 0.001, the values of the parameter whose divergence is within 0.001 nats
    of the smallest; covered, the sum of the unscaled weights over the ranks of the observation.

    \b
    gradedeval clicks fit log.tsv
    gradedeval clicks fit log.tsv -m 'rbp(p=0.05..0.99)' --normalize none
    gradedeval clicks fit log.tsv --weights weights.csv
    """
    destination = Destination(options)
    settings = pop_settings(fit, options)
    reading = pop_settings(read_observation, options)
    if settings.get("weights"):
        settings.setdefault("measures", ())  # --weights without -m: compare nothing else
    check_count(files, "a click log", 1, 1)
    settings = resolve_measures(fit, settings, options)
    observation = read_observation(files[0], **reading)
    if settings["measures"] is None:
        settings["measures"] = read_weighing(families(observation), cutoff=context_option("k"))
    destination.print(call(fit, observation, **settings))
