"""`gradedeval plot explain RUN QRELS --topic ID`: one topic rank by rank."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.explain import OPTIONS, explained_runs
from gradedeval.cli.options import MEASURES_FROM, command_line, option, registered
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.options import numbers
from gradedeval.plot.ranks import RANKS, explanation_panels

SHOW = option(numbers.SHOW, "shown", metavar="N", help="Number of ranks. Default: down to the "
    f"cutoff, or {RANKS}.")  # fmt: skip


@command_line("explain", "RUN [RUN] QRELS", OPTIONS, [SHOW], PICTURE_OPTIONS, [MEASURES_FROM], registered("measuring"))
def command(shown: int | None, **keywords: Any) -> None:
    """Draw how the score of a topic comes about, rank by rank: what each document contributes, in the color of its
    grade, the score so far, and hatched what an unjudged document could add.

    Several topics, measures and two runs are drawn below each other.
    """
    canvas = Canvas(keywords)
    each, _ = explained_runs(keywords)
    explanations = [explanation for of_run in each for explanation in of_run]
    panels = [panel for explanation in explanations for panel in explanation_panels(explanation, shown)]
    canvas.draw(panels, "\n".join(dict.fromkeys(explanation.signature for explanation in explanations)))
