"""`gradedeval power` and `gradedeval plot power`: the discriminative power of measures, and topics needed."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas, lines_under
from gradedeval.cli.many_runs import check_run_count, matrix_options, read_matrix
from gradedeval.cli.options import Option, command_line, curve_option, is_given, output_options
from gradedeval.cli.results import Destination, curve_format, print_remarks, write_curve
from gradedeval.cli.settings import check_mode, pop_settings, setting_options
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.limits import read_bound
from gradedeval.questions.power import Power, check_runs, plan_topics, power, power_panels

PLAN = Option("--plan", section="Planning", is_flag=True, help="Print how many topics are needed to detect a "
              "difference.", short="Number of topics that detect a difference.")  # fmt: skip
SETTINGS = [PLAN, *setting_options(plan_topics, power)]
CURVE = curve_option(
    "Write the curve: the achieved significance level of every pair, from the highest to the lowest.",
    short="Write the curve of significance levels.",
)
OPTIONS_OF_MODE = {"--plan": settings_of(plan_topics), "": {*settings_of(power), "curve"}}
"""Flag of a mode -> the options that it takes and another mode does not."""


@command_line("power", "RUN... QRELS", SETTINGS, [CURVE], matrix_options(), output_options(),
              most_used="--plan --difference --beta --alpha -m --draws --seed --best-runs --curve "
              "--from-scores -f -o -k --gain --topics --quiet")  # fmt: skip
def command(plan: bool, curve: str | None, **options: Any) -> None:
    """Report the discriminative power of measures.

    It is the share of pairs of runs that a measure finds significantly different; the table also has the difference
    required for significance. Uses Sakai's paired bootstrap test (studentized, on shifted differences). With --plan:
    the number of topics that a collection needs (Sakai's topic set size design), or with --no-worse that `check
    --no-worse` takes.
    """
    destination = Destination(options)
    check_mode("--plan" if plan else "", OPTIONS_OF_MODE)
    curve_format(curve)
    settings = pop_settings(plan_topics if plan else power, options, plan_topics, power)
    if plan:
        if not is_given(options["measures"]):
            specs = [read_bound("no-worse", word) for word in settings.get("no_worse", ())]
            options["measures"] = tuple(dict.fromkeys(spec.measure for spec in specs if spec.measure is not None))
        matrix, _ = read_matrix(options)
        destination.print(print_remarks(plan_topics(matrix, **settings)))
    else:
        result = _power(settings, options)
        if curve:
            write_curve(result.curve, curve, result.settings_text)
        destination.print(result)


@command_line("power", "RUN... QRELS", setting_options(power), PICTURE_OPTIONS, matrix_options())
def picture(**options: Any) -> None:
    """Draw the achieved significance levels of all pairs of runs, from the highest to the lowest, a line for each
    measure. The nearer its line is to the axes, the more pairs of runs a measure tells apart.

    Sakai, SIGIR 2006; Robertson et al., SIGIR 2010, figure 3.
    """
    canvas = Canvas(options)
    result = _power(pop_settings(power, options), options)
    canvas.draw(power_panels(result), lines_under(result))


def _power(settings: dict[str, Any], options: dict[str, Any]) -> Power:
    """Score the runs, and measure how well the measures tell them apart."""
    check_run_count(check_runs, options)
    matrix, _ = read_matrix(options)
    return print_remarks(power(matrix, **settings))
