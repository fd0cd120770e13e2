"""`gradedeval clicks correlate` and `gradedeval plot clicks`: how well measures agree with clicks."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.commands.clicks import QRELS_READ_BY, check_count
from gradedeval.cli.options import CUTOFF, MEASURES_FROM, command_line, output_options, registry_option
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import pop_settings, resolve_measures, setting_options
from gradedeval.clicks.click_measures import ClickCorrelations, click_panels, correlate, read_parts

CORRELATED = [CUTOFF, MEASURES_FROM, *map(registry_option, ("gain", "top_grade", "negative", "fill")), *QRELS_READ_BY]


@command_line("correlate", "LOG QRELS", setting_options(correlate, read_parts),
              CORRELATED, output_options(digits="3"))  # fmt: skip
def command(files: tuple[str, ...], **options: Any) -> None:
    """Correlate evaluation measures with the click measures of the same lists, weighted by sessions.

    Chapelle et al., CIKM 2009, section 6: tables 2 to 5 and figure 4, and with --pairs algorithm 3 and table 6.

    \b
    gradedeval clicks correlate log.tsv qrels.txt -m 'err ap(rel=2)' --depth 10
    gradedeval clicks correlate log.tsv qrels.txt -m 'err dcg' --by decile
    gradedeval clicks correlate log.tsv qrels.txt -m 'err dcg' --pairs 1000
    """
    destination = Destination(options)
    settings = pop_settings(correlate, options)
    destination.print(_correlations(files, settings, options))


DRAWN = setting_options(correlate, read_parts, click_panels,
                        without=("pairs", "seed"))  # fmt: skip


@command_line("correlate", "LOG QRELS", DRAWN, PICTURE_OPTIONS, CORRELATED)
def picture(files: tuple[str, ...], **options: Any) -> None:
    """Draw a click measure of lists against an evaluation measure: a point for each list, as large as its
    sessions, with the correlation that `gradedeval clicks correlate` prints. Without -m the measure is err;
    several measures have pictures below each other."""
    canvas = Canvas(options)
    drawing = pop_settings(click_panels, options)
    settings = pop_settings(correlate, options)
    settings.setdefault("measures", ("err",))
    result = _correlations(files, settings, options)
    canvas.draw(click_panels(result, **drawing), result.settings)


def _correlations(files: tuple[str, ...], settings: dict[str, Any], options: dict[str, Any]) -> ClickCorrelations:
    reading = pop_settings(read_parts, options)
    depth = reading.pop("depth", None)  # shorter lists are dropped after reading
    check_count(files, "a click log and qrels", 2, 2)
    settings = resolve_measures(correlate, settings, options)
    log = read_parts(files[0], by=settings.get("by"), **reading)
    return call(correlate, log, files[1], **settings, depth=depth, **options)
