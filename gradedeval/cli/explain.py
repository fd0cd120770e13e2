"""`gradedeval explain RUN [RUN] QRELS --topic ID`: how a score is made up, rank by rank."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradedeval.analysis.explain import DEFAULT, Explanation, explain_topics
from gradedeval.analysis.explain_tables import beside_document, explanation_document
from gradedeval.analysis.ranked_runs import two_runs
from gradedeval.cli.arguments import Destination, measure_table, run_and_qrels
from gradedeval.cli.options import (
    MEASURES_FROM,
    command_line,
    measure_option,
    option,
    output_options,
    registered,
)
from gradedeval.cli.output import warn
from gradedeval.errors import InputError
from gradedeval.formats import FORMATS, formats_for
from gradedeval.measures.parse import parse_measures
from gradedeval.options import Options, numbers
from gradedeval.options.definition import OUTPUT
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.score_tables import preset_digits

OPTIONS = [
    option("--topic", "explained", multiple=True, metavar="ID", help="Topic to explain; may be repeated. Optional if "
           "the qrels have only one."),
    measure_option("Measure to explain, such as err@20; each has a table of its own.", default=DEFAULT),
]  # fmt: skip
TABLE_OPTIONS = [
    *output_options(formats_for(), digits="4"),
    option(numbers.SHOW, "shown", section=OUTPUT, metavar="N", help="Number of ranks in a "
           "table. Default: down to the cutoff, or 20. Other formats list all ranks."),
]  # fmt: skip


@command_line("explain", "RUN [RUN] QRELS", OPTIONS, TABLE_OPTIONS, [MEASURES_FROM], registered("measuring"))
def command(shown: int | None, **keywords: Any) -> None:
    """Explain the scores of a topic, rank by rank.

    For each rank: docno, grade (blank if unjudged), gain, intermediate values of the measure, the contribution of the
    document to the score, the score so far, and what an unjudged document could still add. The contributions sum to the
    score. Of two runs the rankings stand beside each other.
    """
    destination = Destination(keywords)
    if shown is not None and FORMATS[destination.form].layout != "wide":
        raise InputError("--show", f"the format {destination.form} lists all ranks", "leave out --show", usage=True)
    each, options = explained_runs(keywords)
    digits = preset_digits(options) if destination.digits is None else destination.digits
    if len(each) == 2:
        destination.deliver(partial(beside_document, each[0], each[1], digits=digits, shown=shown))
        return
    destination.deliver(partial(explanation_document, each[0], digits=digits, shown=shown))


def explained_runs(keywords: dict[str, Any]) -> tuple[list[list[Explanation]], Options]:
    """The explanations of the topics of each run, one or two, and the options they are made with."""
    measures, topics = keywords.pop("measures") or DEFAULT, keywords.pop("explained") or [None]
    chosen = parse_measures(measures, measure_table(keywords.pop("measures_from")))
    runs, qrels = run_and_qrels(keywords.pop("files"), keywords)
    options = resolve_options(**keywords)
    if len(runs) > 2:
        raise InputError("", f"{len(runs)} runs given", "explain one, or two beside each other", usage=True)
    named = two_runs(*runs) if len(runs) == 2 else named_runs(runs)
    judged = qrels_for(named, qrels, options) if len(named) > 1 else qrels
    each = [explain_topics({name: run}, judged, chosen, options, topics, Workers.of()) for name, run in named.items()]
    warn(dict.fromkeys(note for of_run in each for explanation in of_run for note in explanation.notes))
    return each, options
