"""`gradedeval power` and `gradedeval plot power`: the discriminative power of measures, and plans of collections."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas, lines_under
from gradedeval.cli.many_runs import check_run_count, matrix_options, read_matrix
from gradedeval.cli.options import WRITES, Option, command_line, output_options
from gradedeval.cli.results import Destination, curve_form, print_remarks, write_curve
from gradedeval.cli.settings import check_mode, pop_settings, setting_options
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.power import check_runs, plan_topics, power, power_panels

PLAN = Option("--plan", section="Planning", is_flag=True, help="Print how many topics are needed to detect a "
              "difference.")  # fmt: skip
CURVE = Option("--curve", metavar="FILE.csv", file=WRITES, help="Write the curve: the achieved significance level of "
               "every pair, from the highest to the lowest.")  # fmt: skip


@command_line("power", "RUN... QRELS", [PLAN], setting_options(plan_topics, power), [CURVE], matrix_options(),
              output_options())  # fmt: skip
def command(plan: bool, curve: str | None, **options: Any) -> None:
    """Report the discriminative power of measures.

    It is the share of pairs of runs that a measure finds significantly different; also printed is the difference that
    this takes. Uses Sakai's paired bootstrap test (studentized, on shifted differences). With --plan: the number of
    topics that a collection needs (Sakai's topic set size design).
    """
    check_mode("--plan" if plan else "", {"--plan": settings_of(plan_topics), "": {*settings_of(power), "curve"}})
    function = plan_topics if plan else power
    settings = pop_settings(function, options, plan_topics, power)
    destination = Destination(options)
    curve_form(curve)
    if not plan:
        check_run_count(check_runs, options)
    matrix, _ = read_matrix(options)
    result = print_remarks(function(matrix, **settings))
    if curve:
        write_curve(result.curve, curve, result.aside)
    destination.print(result)


@command_line("power", "RUN... QRELS", setting_options(power), PICTURE_OPTIONS, matrix_options())
def picture(**options: Any) -> None:
    """Draw the achieved significance levels of all pairs of runs, from the highest to the lowest, a line for each
    measure: the nearer to the axes, the more pairs it tells apart.

    Sakai, SIGIR 2006; Robertson et al., SIGIR 2010, figure 3.
    """
    canvas = Canvas(options)
    settings = pop_settings(power, options)
    check_run_count(check_runs, options)
    matrix, _ = read_matrix(options)
    result = print_remarks(power(matrix, **settings))
    canvas.draw(power_panels(result), lines_under(result))
