"""`gradedeval informative` and `gradedeval plot informative`: how well a score predicts the precision-recall curve."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas, lines_under
from gradedeval.cli.options import JOBS, command_line, curve_option, output_options, scoring_options
from gradedeval.cli.results import Destination, call_on_runs, curve_format, write_curve
from gradedeval.cli.settings import setting_options
from gradedeval.questions.informative import Informativeness, curve_panels, informativeness

SETTINGS = setting_options(informativeness)
VIEW = setting_options(Informativeness.document)
CURVE = curve_option(
    "Write the curves: the actual and the inferred precision at 20 levels of recall, means over lists.",
    short="Write the actual and the inferred curves.",
)
READING = [*scoring_options(), JOBS]


@command_line("informative", "RUN... QRELS", SETTINGS, VIEW, [CURVE], READING, output_options(digits="4"))
def command(files: tuple[str, ...], by_topic: bool, curve: str | None, jobs: int | None, **options: Any) -> None:
    """Report how well a score predicts the precision-recall curve.

    The curve is predicted from the score and the number of documents of each grade, by maximum entropy. The
    table has its distance from the actual curve (root mean square, mean over lists): the smaller, the more
    informative the measure.
    --depth cuts the lists.

    Aslam, Yilmaz & Pavlu, SIGIR 2005; Robertson et al., SIGIR 2010, section 4.1.

    \b
    gradedeval informative runs/*.run qrels.txt -m 'gap ndcg ap' --depth 100
    """
    destination = Destination(options)
    curve_format(curve)
    result = call_on_runs(informativeness, files, options, jobs)
    if curve:
        write_curve(result.curves, curve, result.settings_text or result.signature)
    destination.print(result, by_topic=by_topic)


@command_line("informative", "RUN... QRELS", SETTINGS, PICTURE_OPTIONS, READING)
def picture(files: tuple[str, ...], jobs: int | None, **options: Any) -> None:
    """Draw the actual precision-recall curve, and the curve that each measure's score alone determines: binary
    from each grade on, and graded. Means over lists.

    Aslam, Yilmaz & Pavlu, SIGIR 2005; Robertson et al., SIGIR 2010, section 4.1.
    """
    canvas = Canvas(options)
    result = call_on_runs(informativeness, files, options, jobs)
    canvas.draw(curve_panels(result), lines_under(result))
