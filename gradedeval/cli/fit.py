"""`gradedeval fit RUN... QRELS -m 'nerr10(phi=0.05..0.95)' --to err@20`: the parameter value that agrees best."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis import fixed_weights
from gradedeval.analysis.correlate import KINDS, Kind
from gradedeval.analysis.fit import FitResult, fit_document, fit_ranges, other, read_collection
from gradedeval.analysis.fit_weights import fit_weights
from gradedeval.analysis.parameter_search import MeasureRange, read_ranges
from gradedeval.cli.arguments import Destination, measure_table, one_measure, run_and_qrels
from gradedeval.cli.many_runs import SCORING_OPTIONS, TABLE_OPTIONS, curve_form, write_curve
from gradedeval.cli.options import READS, WRITES, command_line, measure_option, option
from gradedeval.cli.output import warn
from gradedeval.cli.sharing import sharing
from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.options import numbers
from gradedeval.options.presets import resolve_options
from gradedeval.options.values import read_topics
from gradedeval.scoring.run_names import named_runs

DEFAULT_KINDS: tuple[Kind, ...] = ("pearson", "spearman")
OPTIONS = [
    measure_option("Measure with a range of parameter values, such as nerr9@1..40.", default=()),
    option("--to", metavar="MEASURE", help="Measure to agree with. --max-residual leaves out the (run, topic) pairs "
           "where its residual is larger."),
    option("--by", "kinds", type=click.Choice(KINDS), multiple=True, help="Correlation to maximize; if repeated, each "
           "is fitted separately. Default: pearson and spearman."),
    option("--weights", metavar="FILE.csv", file=READS, help="Instead of runs: fit to weights of ranks, given as lines "
           "of rank,weight, by Kullback-Leibler divergence."),
    option(fixed_weights.RANKS, metavar="N", help="Use only the first N ranks of --weights. Default: all."),
    option("--renormalize", is_flag=True, help="Also scale the measure's weights over those ranks to sum to 1."),
    option(numbers.PRECISION, default=0.001, metavar="X", help="Precision of the fitted value. Default: "
           "0.001."),
    option("--validate", multiple=True, metavar="RUN", file=READS, help="Evaluate the fitted values on this run. May "
           "be repeated."),
    option("--validate-qrels", metavar="QRELS", file=READS, help="Qrels for --validate."),
    option("--validate-topics", metavar="FILE", file=READS, help="Evaluate the fitted values on the topics listed in "
           "FILE."),
]  # fmt: skip


CURVE = option("--curve", metavar="FILE.csv", file=WRITES, help="Write every value tried, with its correlation.")


@command_line("fit", "RUN... QRELS", OPTIONS, [CURVE], SCORING_OPTIONS, TABLE_OPTIONS)
def command(curve: str | None, **keywords: Any) -> None:
    """Find the parameter value with which a measure agrees best with another, or has the closest weights.

    The parameter to fit is given as a range: 'nerr10(phi=0.05..0.95)', nerr9@1..40, or with the step of the first grid
    'rbp(p=0.1..0.9..0.1)'. After the whole grid, finer grids around the best value are tried.
    """
    destination = Destination(keywords)
    curve_form(curve)
    result = fitted(keywords)
    warn(result.notes)
    write_curve(result.curve, curve, result.settings)
    destination.deliver(partial(fit_document, result), result.settings)


def fitted(keywords: dict[str, Any]) -> FitResult:
    """The fit to RUN... QRELS, or to --weights."""
    table = measure_table(keywords.pop("measures_from"))
    families = read_ranges(keywords.pop("measures"), table)
    to, kinds, precision = (keywords.pop(name) for name in ("to", "kinds", "precision"))
    weights, ranks, renormalize = (keywords.pop(name) for name in ("weights", "ranks", "renormalize"))
    if weights is not None:
        if keywords["files"] or to:
            raise InputError("--weights", "cannot be combined with runs or --to", "leave them out", usage=True)
        return fit_weights(weights, families, ranks=ranks, renormalize=renormalize, precision=precision)
    return _fitted_to_runs(families, one_measure("--to", to, table), kinds or DEFAULT_KINDS, precision, keywords)


def _fitted_to_runs(
    families: list[MeasureRange], target: Measure, kinds: tuple[Kind, ...], precision: float, keywords: dict[str, Any]
) -> FitResult:
    validate, validate_qrels, validate_topics = (
        keywords.pop(name) for name in ("validate", "validate_qrels", "validate_topics")
    )
    runs, qrels = run_and_qrels(keywords.pop("files"), keywords)
    options = resolve_options(**keywords)
    collection = read_collection(named_runs(runs), qrels, options, sharing())
    topics = None if validate_topics is None else read_topics(validate_topics)
    validation = other(collection, list(validate) or None, validate_qrels, topics)
    return fit_ranges(collection, families, target, kinds, precision, validation)
