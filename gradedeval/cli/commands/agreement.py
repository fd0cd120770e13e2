"""`gradedeval agreement`: agreement of two sets of judgments, and of the orders of runs by each."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.arguments import are_two_qrels, check_standard_input, chosen_measures, runs_and_qrels, usage
from gradedeval.cli.options import command_line, output_options, scoring_options
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import setting_options
from gradedeval.errors import InputError
from gradedeval.questions.agreement import agreement

MEASURES = ("err@20",)


@command_line("agreement", "QRELS QRELS2 [RUN]...", setting_options(agreement), scoring_options(), output_options(),
              most_used="-m -f -o -k --gain --top-grade --rel --topics --like --quiet")  # fmt: skip
def command(files: tuple[str, ...], measures: tuple[str, ...], measures_from: tuple[str, ...], **options: Any) -> None:
    """Compare two sets of judgments on the documents that both judge: confusion of grades, kappa, alpha.

    With runs: their order under both, and what the second judgments would save if they covered further topics.

    \b
    gradedeval agreement people.qrels machine.qrels
    gradedeval agreement people.qrels machine.qrels runs/*.run -m ndcg@10
    """
    destination = Destination(options)
    first, second, runs = _two_qrels(files, options)
    chosen = chosen_measures(measures or MEASURES, measures_from)
    destination.print(call(agreement, first, second, runs, measures=chosen, **options))


def _two_qrels(files: tuple[str, ...], options: dict[str, Any]) -> tuple[str, str, list[str] | None]:
    """Return the two qrels, which come first, or last as in other commands, and the runs."""
    if len(files) < 2:
        raise InputError("", "expected two qrels files", usage(), usage=True)
    check_standard_input(files, options)
    if len(files) > 2 and are_two_qrels(files[-2:]) and not are_two_qrels(files[:2]):
        files = (*files[-2:], *files[:-2])
    first, second, *words = files
    runs = runs_and_qrels((*words, first))[0] if words else None
    return first, second, runs
