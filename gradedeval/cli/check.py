"""`gradedeval check RUN... QRELS --min err@20=0.25`: a gate for CI."""

from __future__ import annotations

from typing import Any, get_args

import click

from gradedeval.analysis.bounds import KINDS, read_words, settle
from gradedeval.analysis.check import verdicts
from gradedeval.analysis.check_config import find_settings
from gradedeval.analysis.check_report import FORMATS, format_of, render
from gradedeval.analysis.significance import Test
from gradedeval.cli.arguments import check_output, measure_table
from gradedeval.cli.many_runs import OTHER_OPTIONS, prepared, tell, with_baseline
from gradedeval.cli.options import Sectioned, with_options
from gradedeval.cli.output import say, write

OPTIONS = [
    click.option("--baseline", metavar="RUN|SCORES.csv", help="What drops are measured from: a run or saved scores."),
    click.option("--min", "minimum", multiple=True, metavar="[MEASURE=]X", help="The mean is at least X."),
    click.option("--max-drop", multiple=True, metavar="[MEASURE=]X|X%", help="The mean falls by no more than X, or "
                 "than X percent of the baseline's."),
    click.option("--max-topic-drop", multiple=True, metavar="[MEASURE=]X", help="No topic falls by more than X."),
    click.option("--significant", multiple=True, metavar="[MEASURE=]P", help="The mean falls by nothing that is "
                 "significant at level P. A bare P: for each of -m, or else of the other bounds."),
    click.option("--max-unjudged", multiple=True, metavar="[MEASURE=]X", help="Unjudged documents of the run could "
                 "lift the mean by no more than X (the column 'unjudged' of --residuals split)."),
    click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="What bare values bound."),
    click.option("--config", metavar="FILE.toml", help="Bounds and options from a file. Default: gradedeval.toml, or "
                 "[tool.gradedeval] of pyproject.toml, where there is one."),
    click.option("--test", type=click.Choice([one for one in get_args(Test) if one != "tukey-hsd"]),
                 help="Of --significant. Default: randomization."),
    click.option("--draws", type=int, metavar="N", help="Permutations. Default: 10000."),
    click.option("--seed", type=int, metavar="N", help="Seed of the draws. Default: 0."),
]  # fmt: skip
REPORT_OPTIONS = [
    click.option("-f", "--format", "form", type=click.Choice(FORMATS), help="Default: text, or by the extension of "
                 "-o (.md, .json, .xml for junit)."),
    click.option("-o", "--output", metavar="FILE", help="Write the report to FILE; broken bounds go to stderr too."),
]  # fmt: skip


@click.command("check", cls=Sectioned)
@click.argument("files", nargs=-1, metavar="RUN... QRELS")
@with_options(OPTIONS, OTHER_OPTIONS, REPORT_OPTIONS)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    baseline: str | None,
    config: str | None,
    test: Test | None,
    draws: int | None,
    seed: int | None,
    form: str | None,
    output: str | None,
    **keywords: Any,
) -> None:
    """Hold runs against bounds. Exit code 0 where all hold, 1 where one is broken, 2 where the bounds make no sense.

    MEASURE need not be among -m. Without it the bound is on the only measure of -m, as in -m err@20 --min 0.25.
    """
    check_output(output, files)
    form = form or format_of(output)
    table = measure_table(keywords["measures_from"])
    file, settings = find_settings(config, table)
    words = {kind: keywords.pop("minimum" if kind == "min" else kind.replace("-", "_")) for kind in KINDS}
    demands = [*settings.demands, *(one for kind in KINDS for one in read_words(kind, words[kind]))]
    for rule, value in settings.options.items():
        keywords[rule] = keywords[rule] or value
    chosen, options = prepared(measures or settings.measures, keywords, default=())
    bounds, needed = settle(demands, chosen, options, table)
    if file is not None:
        say(f"settings of {file}")
    matrix, name = with_baseline(files, baseline or settings.baseline, needed, options)
    tell([*matrix.notes, *(matrix.left_out() if name else [])])
    found = verdicts(
        matrix,
        bounds,
        name,
        test=test or settings.test or "randomization",
        draws=_first(draws, settings.draws, 10_000),
        seed=_first(seed, settings.seed, 0),
    )
    write(render(found, form, matrix.signature), output)
    broken = [verdict for verdict in found if not verdict.passed]
    if output is not None or form not in ("text", "github"):
        for verdict in broken:
            say(f"FAIL  {verdict.line}")
    if broken:
        click.get_current_context().exit(1)


def _first(*values: int | None) -> int:
    """The first that is given."""
    return next(value for value in values if value is not None)
