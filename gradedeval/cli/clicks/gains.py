"""`gradedeval clicks gains LOG QRELS`: what grades are worth to users."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.cli.arguments import Destination, measure_table, one_measure, usage
from gradedeval.cli.clicks.log_options import LOG_OPTIONS, log_from
from gradedeval.cli.clicks.qrels_options import QRELS_OPTIONS, qrels_from
from gradedeval.cli.options import MEASURES_FROM, command_line, option, output_options
from gradedeval.cli.output import warn
from gradedeval.clicks.click_measures import CLICK_MEASURES, SS_REL
from gradedeval.clicks.click_models import ITERATIONS
from gradedeval.clicks.learned import Shape, learned_document
from gradedeval.clicks.learned_gains import (
    CLICK_MEASURE,
    MEASURE,
    SOURCES,
    TARGETS,
    Lesson,
    check_applied,
    learn,
)
from gradedeval.errors import InputError
from gradedeval.formats import formats_for
from gradedeval.options import numbers

OPTIONS = [
    option("--from", "learn_from", type=click.Choice(SOURCES), default="model", help="Learn the relevance of a grade "
           "by a click model; what makes a measure correlate best with a click measure; or, where LOG is a file of "
           "topic, list_a, list_b and sign, what makes it agree with these preferences. Default: model."),
    option("--for", "target", type=click.Choice(TARGETS), default="gain", help="Learn gains, for --gain @FILE; the "
           "utility of ranks, for cascade(utility=FILE), from correlation; or thresholds for gap(g=...), from click "
           "rates. Default: gain."),
    option("--model", metavar="MODEL", help="Click model of --from model. Default: that of the users of the measure, "
           "cm for err and cascade, reader for rbp, pbm for other sums of gains."),
    option("--by-document", is_flag=True, help="Of --from model: a relevance of each document, and the mean over those "
           "of a grade; the prior pulls it to 0.5. Default: documents of a grade share it."),
    option(numbers.PRIOR, default=1.0, metavar="X", help="Of --from model: clicks and skips counted beside "
           "those of the log. Default: 1."),
    option(numbers.ITERATIONS, default=ITERATIONS, metavar="N", help="Of --from model: iterations "
           f"of EM. Default: {ITERATIONS}."),
    option("--click-measure", type=click.Choice(CLICK_MEASURES), default=CLICK_MEASURE, help="Of --from correlation. "
           f"Default: {CLICK_MEASURE}."),
    option(numbers.SS_REL, default=SS_REL, metavar="GRADE", help="Lowest grade of a click that is a success, "
           f"of ss. Default: {SS_REL}."),
    option("-m", "--measure", default=MEASURE, metavar="MEASURE", help="Measure that the gains are for: err, cascade, "
           "or a sum of gains such as rbp(p=0.8). With --for utility its gains say R. "
           f"Default: {MEASURE}."),
    option("--free", is_flag=True, help="Gains may fall with the grade, and a utility may rise with the rank."),
    option("--zero", is_flag=True, help="Grade 0 gains 0."),
    option(numbers.TOP_GAIN, default=1.0, metavar="X", help="The largest gain, where only ratios are known. "
           "Default: 1."),
    option("--share", is_flag=True, help="Of --for gap: shares of the clicked documents, not steps between click "
           "rates."),
    *output_options(formats_for(), digits="4"),
]  # fmt: skip


@command_line("gains", "LOG QRELS", OPTIONS, [MEASURES_FROM], LOG_OPTIONS, QRELS_OPTIONS)
def command(
    files: tuple[str, ...],
    learn_from: Any,
    measure: str,
    measures_from: tuple[str, ...],
    free: bool,
    zero: bool,
    top_gain: float,
    **keywords: Any,
) -> None:
    """Learn from clicks, or from preferences, what grades are worth to users.

    The CSV is what `--gain @FILE`, or `cascade(utility=FILE)`, reads.

    \b
    gradedeval clicks gains log.tsv qrels.txt -o gains.csv
    gradedeval run.txt qrels.txt -m err@20 --gain @gains.csv
    gradedeval clicks gains log.tsv qrels.txt --from correlation
    gradedeval clicks gains pairs.tsv qrels.txt --from preferences
    gradedeval clicks gains log.tsv qrels.txt --for gap
    """
    if len(files) != 2:
        raise InputError("", "expected a click log and qrels", usage(), usage=True)
    destination = Destination(keywords)
    qrels = qrels_from(files[1:], keywords)
    assert qrels is not None  # of two files
    wanted = one_measure("-m", measure, measure_table(measures_from))
    if learn_from == "preferences":
        source: Any = files[0]
        names = ("clicks_as", "depth", "idle", "lenient")
        check_applied("click logs", False, {name: keywords.pop(name) not in (None, False, "rank") for name in names})
    else:
        source = log_from(files[0], keywords)
    lesson, shape = Lesson(learn_from, **keywords), Shape(free, zero, top_gain)
    learned = learn(source, qrels, wanted, shape, lesson)
    warn(learned.notes)
    destination.deliver(partial(learned_document, learned), learned.settings)
