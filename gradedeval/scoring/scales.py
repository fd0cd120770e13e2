"""The scale of grades as each measure sees it, and what its grades are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradedeval.errors import InputError
from gradedeval.measures.applied import depends_on_top, gain_table
from gradedeval.measures.definition import Measure
from gradedeval.measures.gain_schemes import GainTable, Grades
from gradedeval.options import Options
from gradedeval.options.presets import PRESETS, top_grade
from gradedeval.rankings.qrels import Qrels


def grades_of(measure: Measure, qrels: Qrels, options: Options) -> Grades:
    """The scale that a measure sees. The top grade of a preset counts where the measure looks at one: gains that are
    listed need none above those of the qrels. Raises InputError where a grade is above the top one."""
    highest = float(qrels.labels[-1])
    top = top_grade(options, highest)
    if options.top_grade is None and (isinstance(measure.gain, tuple) or str(measure.gain).startswith("@")):
        top = highest
    preset = PRESETS[options.like].top_grade if options.like and depends_on_top(measure) else None
    given = preset if options.top_grade is None else options.top_grade
    if given is not None and highest > given:
        of_preset = f", which {measure.label} takes from --like {options.like}"
        what = f"grade {highest:g} is above the top grade {given:g}{of_preset if options.top_grade is None else ''}"
        raise InputError(qrels.place, what, "raise --top-grade or correct the grade")
    return Grades(qrels.labels, top, options.max_gain)


def tables_of(measures: Sequence[Measure], qrels: Qrels, options: Options) -> list[GainTable]:
    """The table of each measure; those that see the same gains share one."""
    # All of a measure that its gains depend on.
    seen = [(measure.rel, measure.gain, measure.definition.scale, measure.threshold_shares) for measure in measures]
    tables: dict[tuple[Any, ...], GainTable] = {}
    for measure, key in zip(measures, seen, strict=True):
        if key not in tables:
            tables[key] = gain_table(measure, grades_of(measure, qrels, options))
    return [tables[key] for key in seen]
