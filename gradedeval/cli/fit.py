"""`gradedeval fit RUN... QRELS -m 'nerr10(phi=0.05..0.95)' --to err@20`: the parameter that agrees best."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from gradedeval.analysis.correlation import KINDS, Kind
from gradedeval.analysis.fit import Fitted, collected, fitted, other
from gradedeval.analysis.fit_weights import fit_weights
from gradedeval.analysis.parameter_search import Family, read_families
from gradedeval.analysis.tables import fit_document
from gradedeval.cli.arguments import measure_table, run_and_qrels
from gradedeval.cli.many_runs import OTHER_OPTIONS, TABLE_OPTIONS, curve_form, deliver, form_to, tell, write_curve
from gradedeval.cli.options import Sectioned, chosen_rules, with_options
from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.qrels import topics_of_file
from gradedeval.scoring.run_names import named_runs

OPTIONS = [
    click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="A measure with a range, as in "
                 "nerr9@1..40; several in one, separated by blanks, or several -m."),
    click.option("--to", metavar="MEASURE", help="The measure to agree with. With --max-residual the (run, topic) "
                 "pairs that it is too uncertain of are left out."),
    click.option("--by", "kinds", type=click.Choice(KINDS), multiple=True, help="Kind of agreement; several are "
                 "fitted each. Default: pearson and spearman."),
    click.option("--weights", metavar="FILE.csv", help="In place of runs: a distribution over ranks, as rank,weight "
                 "lines; the nearest in Kullback-Leibler divergence is found."),
    click.option("--ranks", type=int, metavar="N", help="How many ranks of --weights count. Default: all."),
    click.option("--renormalize", is_flag=True, help="Scale a measure's weights to sum 1 over those ranks, too."),
    click.option("--precision", type=float, default=0.001, show_default=True, metavar="X", help="Of the "
                 "value found."),
    click.option("--curve", metavar="FILE.csv", help="Write every value tried."),
    click.option("--validate", multiple=True, metavar="RUN", help="See how the values found do on these runs."),
    click.option("--validate-qrels", metavar="QRELS", help="The judgements of --validate."),
    click.option("--validate-topics", metavar="FILE", help="See how they do on these topics."),
]  # fmt: skip


@click.command("fit", cls=Sectioned)
@click.argument("files", nargs=-1, metavar="RUN... QRELS")
@with_options(OPTIONS, OTHER_OPTIONS, TABLE_OPTIONS)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    to: str | None,
    kinds: tuple[Kind, ...],
    weights: str | None,
    ranks: int | None,
    renormalize: bool,
    precision: float,
    curve: str | None,
    form: str | None,
    output: str | None,
    **keywords: Any,
) -> None:
    """Find the parameter with which a measure agrees best with another, or has the nearest weights.

    The open parameter of -m is a range: 'nerr10(phi=0.05..0.95)', nerr9@1..40, or with the step of the first grid
    'rbp(p=0.1..0.9..0.1)'. After the whole grid, finer ones around the best value are tried.
    """
    form = form_to(form, output, files)
    curve_form(curve)
    table = measure_table(keywords.pop("measures_from"))
    families = read_families(measures, table)
    if weights is not None:
        if files or to:
            raise InputError("--weights", "takes no runs and no --to", "leave them out", usage=True)
        found = fit_weights(weights, families, ranks=ranks, renormalize=renormalize, precision=precision)
    else:
        found = _agreeing(files, families, _target(to, table), kinds or ("pearson", "spearman"), precision, keywords)
    tell(found.notes)
    write_curve(found.curve, curve, found.settings)
    deliver(partial(fit_document, found), form, output, found.settings)


def _target(to: str | None, table: Mapping[str, Measure]) -> Measure:
    found = parse_measures(to or "", table) if to else []
    if len(found) != 1:
        raise InputError("--to", f"names {len(found)} measures", "name one, as in --to err@20", usage=True)
    return found[0]


def _agreeing(
    files: tuple[str, ...],
    families: list[Family],
    target: Measure,
    kinds: tuple[Kind, ...],
    precision: float,
    keywords: dict[str, Any],
) -> Fitted:
    validate, their_qrels, their_topics = (
        keywords.pop(name) for name in ("validate", "validate_qrels", "validate_topics")
    )
    runs, qrels = run_and_qrels(files, keywords["topics_from"])
    options = chosen_rules(keywords)
    collection = collected(named_runs(runs), qrels, options, Workers.of(None, with_progress))
    topics = None if their_topics is None else topics_of_file(their_topics)
    there = other(collection, list(validate) or None, their_qrels, topics)
    return fitted(collection, families, target, kinds, precision, there)
