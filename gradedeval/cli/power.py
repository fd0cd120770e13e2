"""`gradedeval power RUN... QRELS`: the discriminative power of measures, and how many topics are needed."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis.power import Power, power, power_document
from gradedeval.analysis.score_matrix import Matrix
from gradedeval.analysis.topic_plan import BETA, DIFFERENCE, Aim, plan_document, plan_settings, plan_topics
from gradedeval.cli.arguments import Destination, usage
from gradedeval.cli.many_runs import (
    ALPHA,
    MATRIX_OPTIONS,
    TABLE_OPTIONS,
    curve_form,
    draw_options,
    matrix_from,
    write_curve,
)
from gradedeval.cli.options import PLANNING, WRITES, command_line, given, option
from gradedeval.errors import InputError
from gradedeval.options import numbers
from gradedeval.parallel.progress import with_progress

OF_PAIRS = ("draws", "seed", "best")
OPTIONS = [
    ALPHA,
    *draw_options(1000, "Number of bootstrap samples."),
    option(numbers.BEST, metavar="N", help="Use only the N best runs by the mean of each measure."),
]  # fmt: skip
CURVE = option("--curve", metavar="FILE.csv", file=WRITES, help="Write the achieved significance level of every pair, "
    "from the highest to the lowest.")  # fmt: skip
PLAN_OPTIONS = [
    option("--plan", section=PLANNING, is_flag=True, help="Print how many topics are needed to detect a difference."),
    option(numbers.DIFFERENCE, section=PLANNING, default=DIFFERENCE, metavar="D", help="Difference of means to "
           "detect, in an analysis of variance between the best and the worst system, and the width that the interval "
           f"may have. Default: {DIFFERENCE}."),
    option(numbers.BETA, section=PLANNING, default=BETA, metavar="P", help="Probability of missing it. "
           f"Default: {BETA}."),
    option(numbers.SYSTEMS, section=PLANNING, metavar="N", help="Number of systems that an analysis of variance "
           "compares. Default: the number of runs, or 2."),
    option(numbers.VARIANCE, section=PLANNING, metavar="V", help="Variance of the scores of a run, in place of "
           "RUN... QRELS."),
]  # fmt: skip


@command_line("power", "RUN... QRELS", OPTIONS, [CURVE], PLAN_OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(plan: bool, alpha: float, **keywords: Any) -> None:
    """Report how many pairs of runs each measure finds significantly different, and how large a difference that takes.

    Uses Sakai's paired bootstrap test (studentized, on shifted differences). With --plan: how many topics a collection
    needs (Sakai's topic set size design).
    """
    _check_plan(plan)
    destination = Destination(keywords)
    of_plan = {name: keywords.pop(name) for name in ("difference", "beta", "systems", "variance")}
    curve = keywords.pop("curve")
    if plan:
        for name in OF_PAIRS:
            del keywords[name]
        _plan(destination, alpha, keywords, **of_plan)
        return
    curve_form(curve)
    result, matrix = power_of(alpha, keywords)
    write_curve(result.curve, curve, result.settings)
    destination.deliver(partial(power_document, result, signature=matrix.signature), result.settings)


def power_of(alpha: float, keywords: dict[str, Any]) -> tuple[Power, Matrix]:
    """The discriminative power of measures, and the scores that it is of."""
    of_pairs = {name: keywords.pop(name) for name in OF_PAIRS}
    matrix, _ = matrix_from(keywords)
    return power(matrix, alpha=alpha, progress=partial(with_progress, label="draws"), **of_pairs), matrix


def _check_plan(plan: bool) -> None:
    """Raise InputError (usage) for an option of the other half of the command."""
    context = click.get_current_context()
    planning = ("difference", "beta", "systems", "variance")
    for name in (*OF_PAIRS, "curve") if plan else planning:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            what = "does not go with --plan" if plan else "needs --plan"
            raise InputError(f"--{name}", what, "leave one of them out" if plan else "add --plan", usage=True)


def _plan(
    destination: Destination, alpha: float, keywords: dict[str, Any], variance: float | None, **sought: Any
) -> None:
    aim = Aim(sought["difference"], alpha, sought["beta"])
    if variance is not None and given(keywords):
        what, hint = "takes the place of runs and their options", "give either --variance or RUN... QRELS"
        raise InputError("--variance", what, hint, usage=True)
    if variance is None and not keywords["files"] and not keywords["from_scores"]:
        raise InputError("", "no runs to plan with", f"{usage()}, or give --variance V", usage=True)
    matrix = None if variance is not None else matrix_from(keywords)[0]
    frame = plan_topics(matrix, variance=variance, alpha=alpha, **sought)
    settings = plan_settings(aim, matrix)
    destination.deliver(partial(plan_document, frame, "" if matrix is None else matrix.signature, settings), settings)
