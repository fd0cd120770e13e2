"""`gradedeval explain` and `gradedeval plot explain`: the score of a topic, rank by rank."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.tables import text_lines
from gradedeval.cli.arguments import chosen_measures, runs_and_qrels, split_topics, unused_cutoff_error
from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.options import WIDE, Option, command_line, output_options, scoring_options
from gradedeval.cli.output import context_option
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import hide_flag
from gradedeval.errors import InputError, flag
from gradedeval.kernel.options import GAINS, ranges
from gradedeval.questions.explain import DEFAULT, RANKS, Explanations, explain_runs

FILES = "RUN [RUN] QRELS [TOPIC]..."
TOPIC = Option("--topic", "topics_explained", multiple=True, metavar="ID", help="Topic to explain; may be repeated. "
               "Default: the topic with the median score; of two runs the one with the largest "
               "difference.")  # fmt: skip
MEASURE = Option("-m", "--measure", "measures", multiple=True, section=GAINS, metavar="MEASURE",
                 help="Measure to explain, such as err@20; each has a table of its own. Repeat -m, or separate "
                 f"measures by spaces. Default: {' '.join(DEFAULT)}.",
                 short="Measure, such as err@20; may be repeated.")  # fmt: skip
SHOW = Option(number=ranges.SHOW, metavar="N", section="Output", help="Number of ranks in a table. Default: down to "
              "the cutoff, or 20. Other formats list all ranks.")  # fmt: skip
DRAWN = Option(number=ranges.SHOW, metavar="N", help=f"Number of ranks. Default: down to the cutoff, or {RANKS}.")
READING = scoring_options("queries", "fill", "costs")


@command_line("explain", FILES, [TOPIC, MEASURE, SHOW], READING, output_options(digits="4"), [WIDE],
              most_used="-m --topic --show -f -o -k --gain --top-grade --queries --like --wide --quiet")  # fmt: skip
def command(files: tuple[str, ...], show: int | None, **options: Any) -> None:
    """Explain the scores of a topic, rank by rank.

    For each rank: docno, grade (blank if unjudged), gain, intermediate values of the measure, the contribution of the
    document to the score, the score so far, and the rise in score that judging the document could bring. The
    contributions sum to the score. The rankings of two runs stand side by side.
    """
    destination = Destination(options)
    if show is not None and destination.layout != "wide":
        problem = f"the format {destination.format} lists all ranks"
        raise InputError(flag.show, problem, f"leave out {flag.show}", usage=True)
    explanations = _explain(files, options)
    destination.print(explanations, show=show, digits=destination.digits)


@command_line("explain", FILES, [TOPIC, MEASURE, DRAWN], PICTURE_OPTIONS, READING)
def picture(files: tuple[str, ...], show: int | None, **options: Any) -> None:
    """Draw the score of a topic, rank by rank: the contribution of each document, in the color of its grade, the
    score so far, and hatched the rise in score that judging a document could bring.

    Several topics, measures and two runs are drawn below each other.
    """
    canvas = Canvas(options)
    explanations = _explain(files, options)
    canvas.draw(explanations.panels(show=show), explanations.signature, "\n".join(text_lines(explanations.texts)))


def check_cutoff(measures: tuple[str, ...]) -> None:
    """Raise InputError (usage) for a cutoff where no measure is named: the ranks to show are meant."""
    if context_option("k") is not None and not measures:
        raise unused_cutoff_error("--show", "the ranks to show")


def _explain(files: tuple[str, ...], options: dict[str, Any]) -> Explanations:
    """Explain the topics of --topic, and topics that follow the files."""
    topics, measures = options.pop("topics_explained"), options.pop("measures")
    check_cutoff(measures)
    files, positional = split_topics(files)
    runs, qrels = runs_and_qrels(files, options)
    chosen = chosen_measures(measures or DEFAULT, options.pop("measures_from"))
    with hide_flag("--topic", positional):
        return call(explain_runs, runs, qrels, explained=(*positional, *topics), measures=chosen, **options)
