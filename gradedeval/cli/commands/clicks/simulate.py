"""`gradedeval clicks simulate`: a click log of known users."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.arguments import runs_and_optional_qrels, runs_and_qrels
from gradedeval.cli.options import OUTPUT_FILE, READS, Option, command_line, scoring_options
from gradedeval.cli.output import write
from gradedeval.cli.results import call
from gradedeval.cli.settings import pop_settings, resolve_measures, setting_option, setting_options
from gradedeval.clicks.click_models import read_model
from gradedeval.clicks.simulation import OF_MODEL, simulate
from gradedeval.errors import InputError, flag
from gradedeval.kernel.options.settings import settings_of

USERS = [
    setting_option(settings_of(simulate)["users"]),
    Option("--model-from", metavar="FILE.json", file=READS, help="Simulate the users of a click model written by "
           "`clicks models --write-model`.", short="Simulate the users of this click model."),
    *setting_options(simulate, without=("users",)),
]  # fmt: skip


@command_line("simulate", "RUN... [QRELS]", USERS, scoring_options(), [OUTPUT_FILE])
def command(files: tuple[str, ...], model_from: str | None, output: str | None, **options: Any) -> None:
    """Simulate sessions of a known user model, as a click log.

    A list is the first 10 (or --depth) documents of a topic of a run; each session shows one of the lists, drawn
    uniformly.

    \b
    gradedeval clicks simulate runs/*.run qrels.txt --as err -o log.tsv
    gradedeval clicks simulate runs/*.run qrels.txt --as 'rbp(p=0.8)' --seed 7
    gradedeval clicks simulate runs/*.run --model-from dbn.json
    """
    settings = pop_settings(simulate, options)
    _check_users(model_from, settings, options)
    if model_from:
        settings["users"] = read_model(model_from)
    read_files = runs_and_optional_qrels if model_from else runs_and_qrels  # users of a measure click by the grades
    runs, qrels = read_files(files, options)
    settings = resolve_measures(simulate, settings, options)
    log = call(simulate, runs=runs, qrels=qrels, **settings, **options)
    write("".join(log.lines()), output)


def _check_users(model_from: str | None, settings: dict[str, Any], options: dict[str, Any]) -> None:
    """Raise InputError (usage) unless the options describe one kind of users."""
    users = settings.get("users")
    if users is None and model_from is None:
        hint = "give either --as MEASURE or --model-from FILE"
        raise InputError("", "choose a user model", hint, usage=True)
    if users is not None and model_from is not None:
        hint = "give either --as MEASURE or --model-from FILE"
        raise InputError("--as", f"cannot be combined with {flag.model_from}", hint, usage=True)
    if model_from is not None and options["measures_from"]:
        problem = f"does not apply to {OF_MODEL}"
        raise InputError(flag.measures_from, problem, "leave it out", usage=True)
