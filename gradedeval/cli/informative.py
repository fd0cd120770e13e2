"""`gradedeval informative RUN... QRELS`: how well a score alone determines the precision-recall curve."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradedeval.analysis.informative.informativeness import MEASURED, Informativeness, informativeness_of
from gradedeval.analysis.informative.run_curves import Sparse
from gradedeval.analysis.informative.tables import informative_document
from gradedeval.cli.arguments import Destination, measure_table, run_and_qrels
from gradedeval.cli.many_runs import curve_form, write_curve
from gradedeval.cli.options import (
    JOBS,
    MEASURES_FROM,
    WRITES,
    Decorator,
    command_line,
    measure_option,
    option,
    output_options,
    registered,
)
from gradedeval.cli.output import warn
from gradedeval.formats import formats_for
from gradedeval.measures.parse import parse_measures
from gradedeval.options import numbers
from gradedeval.options.definition import OUTPUT
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs

OPTIONS: list[Decorator] = [
    measure_option("Measure, such as 'gap(g=1:1)' or ndcg@20.", default=MEASURED),
    MEASURES_FROM,
    option(numbers.MIN_RANKS, default=Sparse.ranks, metavar="N", help="Leave out lists with "
           f"fewer ranks. Default: {Sparse.ranks}."),
    option(numbers.MIN_FOUND, default=Sparse.found, metavar="N", help="Leave out lists with "
           f"fewer documents of any grade above 0. Default: {Sparse.found}."),
    JOBS,
]  # fmt: skip
BY_TOPIC = option("-q", "--by-topic", section=OUTPUT, is_flag=True, help="Print a row per run and topic, then the "
    "means over them.")  # fmt: skip
CURVE = option("--curve", metavar="FILE.csv", file=WRITES, help="Write the actual and the inferred precision at 20 "
    "levels of recall, means over lists.")  # fmt: skip


@command_line("informative", "RUN... QRELS", OPTIONS, [CURVE, BY_TOPIC], output_options(formats_for(), digits="4"),
              registered("reading"))  # fmt: skip
def command(curve: str | None, by_topic: bool, **keywords: Any) -> None:
    """Report how well a score determines the curve of precision over recall.

    Of all chances of grades at the ranks of a list that have its score, and as many documents of each grade, those of
    the greatest entropy make a curve; printed is how far it is from the actual one (root mean square), in the mean over
    lists: the less, the more informative the measure. --depth cuts the lists.

    Aslam, Yilmaz & Pavlu, SIGIR 2005; Robertson et al., SIGIR 2010, section 4.1.

    \b
    gradedeval informative runs/*.run qrels.txt -m 'gap ndcg ap' --depth 100
    """
    destination = Destination(keywords)
    curve_form(curve)
    found = found_of(keywords)
    write_curve(found.curves, curve, found.signature)
    destination.deliver(partial(informative_document, found, by_topic=by_topic))


def found_of(keywords: dict[str, Any]) -> Informativeness:
    """How informative measures are for RUN... QRELS."""
    jobs, measures = keywords.pop("jobs"), keywords.pop("measures") or MEASURED
    sparse = Sparse(keywords.pop("min_ranks"), keywords.pop("min_found"))
    table = measure_table(keywords.pop("measures_from"))
    runs, qrels = run_and_qrels(keywords.pop("files"), keywords)
    workers = Workers.of(jobs, with_progress)
    chosen, options = parse_measures(measures, table), resolve_options(**keywords)
    found = informativeness_of(named_runs(runs), qrels, chosen, options, sparse, workers)
    warn(dict.fromkeys(found.notes))
    return found
