"""`gradedeval pr RUN... QRELS`: precision over recall, graded and at each threshold."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradedeval.analysis.precision_recall import (
    ELEVEN,
    PrecisionRecall,
    precision_recall_document,
    precision_recall_of,
)
from gradedeval.cli.arguments import Destination, one_measure, run_and_qrels
from gradedeval.cli.options import command_line, option, output_options, registered
from gradedeval.cli.output import warn
from gradedeval.formats import formats_for
from gradedeval.measures.table import MEASURES
from gradedeval.options import numbers
from gradedeval.options.definition import GAINS
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs

OPTIONS = [
    option("-m", "--measure", section=GAINS, default="gap", metavar="MEASURE", help="The measure whose thresholds the "
           "graded curve has, such as 'gap(g=1:1:2)' or gap@100. Default: gap."),
    option(numbers.POINTS, default=str(ELEVEN), metavar="N|all", help="Levels of recall from 0 to 1, or every one that "
           f"a topic reaches. Default: {ELEVEN}."),
    option("--graded-only", is_flag=True, help="Leave out the binary curves, one for each threshold."),
]  # fmt: skip


@command_line("pr", "RUN... QRELS", OPTIONS, output_options(formats_for(), digits="4"), registered("reading"))
def command(**keywords: Any) -> None:
    """Print graded precision over graded recall, interpolated, and beside it the binary curve of each threshold.

    Means over topics of the highest precision at or beyond a level of recall. Robertson et al., SIGIR 2010.
    """
    destination = Destination(keywords)
    destination.deliver(partial(precision_recall_document, curves(keywords)))


def curves(keywords: dict[str, Any]) -> PrecisionRecall:
    """The curves of RUN... QRELS."""
    own = {name: keywords.pop(name) for name in ("measure", "points", "graded_only")}
    runs, qrels = run_and_qrels(keywords.pop("files"), keywords)
    measure = one_measure("--measure", own["measure"], MEASURES)
    workers = Workers.of(None, with_progress)
    binary, points = not own["graded_only"], own["points"]
    options = resolve_options(**keywords)
    found = precision_recall_of(
        named_runs(runs), qrels, measure, options, points=points, binary=binary, workers=workers
    )
    warn(dict.fromkeys(found.notes))
    return found
