"""The five quantities of C/W/L measures beside each other: a row for each measure, a column for each quantity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gradedeval.errors import InputError, shorten
from gradedeval.measures.definition import QUANTITIES, Measure
from gradedeval.measures.table import MEASURES
from gradedeval.scoring.scores import Scores


def all_quantities(measures: Iterable[Measure]) -> list[Measure]:
    """Each measure as expected utility, total utility, cost, total cost and depth.

    Raises InputError (usage) for one that is no C/W/L measure, or says which quantity it is.
    """
    found: list[Measure] = []
    for measure in measures:
        if not measure.definition.cwl:
            family = [name for name, one in MEASURES.items() if one.definition.cwl]
            raise InputError(
                "--cwl", f"{measure} is not a C/W/L measure", f"those are {shorten(family, 30)}", usage=True
            )
        if "of" in measure.arguments:
            raise InputError(
                "--cwl", f"'{measure}' asks for one quantity", "--cwl prints all five; leave out of=", usage=True
            )
        found += [measure if of == "eu" else measure(of=of) for of in QUANTITIES]
    return found


def records(scores: Scores, by_topic: bool) -> Iterator[dict[str, Any]]:
    """Run, topic, measure, the five quantities, and what their residuals are; topic by topic, the means last.

    scores  of the measures that `all_quantities` gives
    """
    columns, names = _columns(scores), [str(measure) for measure in scores.measures[:: len(QUANTITIES)]]
    for run in scores.runs:
        rows = []  # of each measure, one for each topic
        for first in range(0, len(scores.measures), len(QUANTITIES)):
            each = [scores.column(run, first + of, by_topic) for of in range(len(QUANTITIES))]
            rows.append(list(zip(*(each[of][part] for of, part in columns.values()), strict=True)))
        for at, topic in enumerate(each[0]["topic"]):
            for name, own in zip(names, rows, strict=True):
                yield {"run": run.run, "topic": topic, "measure": name} | dict(zip(columns, own[at], strict=True))


def _columns(scores: Scores) -> dict[str, tuple[int, str]]:
    """Column -> which quantity, and what of it: its score, or a part of its residual."""
    found = {of: (at, "score") for at, of in enumerate(QUANTITIES)}
    if scores.options.residuals == "difference":
        return found | {f"{of}.residual": (at, "residual") for at, of in enumerate(QUANTITIES)}
    # Only expected utility has a residual that is a bound.
    return found | {part: (0, part) for part in ("residual", "unjudged", "beyond") if part in scores.columns}
