"""What the verbs over many runs share: their options, and the way from files to scores of runs × topics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from gradedeval.analysis.baseline import Baseline, add_baseline
from gradedeval.analysis.score_matrix import Matrix, joined, matrix_of
from gradedeval.analysis.tables import curve_document
from gradedeval.cli.arguments import check_output, form_of, measure_table, run_and_qrels
from gradedeval.cli.options import (
    MEASURE_OPTIONS,
    READING_OPTIONS,
    RESIDUAL_OPTIONS,
    Decorator,
    chosen_rules,
    output_options,
)
from gradedeval.cli.output import say, write
from gradedeval.cli.standardize import STANDARD_OPTIONS, standard_options, standardized_as_told
from gradedeval.errors import InputError
from gradedeval.formats import FORMATS, Maker, formats_for, render
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import DEFAULT, parse_measures
from gradedeval.options import Options
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.evaluate import evaluate_runs
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.scores import Scores

SCORING_OPTIONS: list[Decorator] = [*MEASURE_OPTIONS, *RESIDUAL_OPTIONS[1:], *READING_OPTIONS]
# Without -m, where it means something else.
OTHER_OPTIONS: list[Decorator] = [*MEASURE_OPTIONS[1:], *RESIDUAL_OPTIONS[1:], *READING_OPTIONS]
MATRIX_OPTIONS: list[Decorator] = [*SCORING_OPTIONS, *STANDARD_OPTIONS]
SAVED_OPTIONS: list[Decorator] = [
    click.option("--from-scores", multiple=True, metavar="FILE", help="Scores saved by `gradedeval -q -f csv`, in "
                 "place of RUN... QRELS. Several are taken together."),
]  # fmt: skip
TABLE_OPTIONS = output_options(formats_for())
DRAW_OPTIONS: list[Decorator] = [
    click.option("--alpha", type=float, default=0.05, show_default=True, metavar="P", help="Level of significance."),
    click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Seed of the draws."),
]


def draws_option(default: int, what: str) -> Decorator:
    """`--draws`, with the number that suits the verb."""
    return click.option("--draws", type=int, default=default, show_default=True, metavar="N", help=what)


def form_to(form: str | None, output: str | None, files: Sequence[str] = ()) -> str:
    """The format: as told, or as the extension of -o asks for. Raises InputError (usage) where -o would replace a file
    that is read."""
    check_output(output, files)
    return form or form_of(output, formats_for())


def prepared(
    measures: Sequence[str], keywords: dict[str, Any], default: Sequence[str] = DEFAULT
) -> tuple[list[Measure], Options]:
    """The measures, or the default ones, and the rules that the words mean; condensed lists have no residuals."""
    table = measure_table(keywords.pop("measures_from"))
    wanted = None if keywords["judged_only"] else "total"
    return parse_measures(measures or default, table), chosen_rules({**keywords, "residuals": wanted})


def scored(files: Sequence[str], measures: list[Measure], options: Options) -> Scores:
    """The scores of RUN... QRELS."""
    runs, qrels = run_and_qrels(tuple(files))
    return evaluate_runs(named_runs(runs), qrels, measures, options, workers=Workers.of(None, with_progress))


def with_baseline(
    files: tuple[str, ...],
    baseline: str | None,
    measures: list[Measure],
    options: Options,
    told: dict[str, Any] | None = None,
) -> tuple[Matrix, str | None]:
    """The scores of RUN... QRELS and of the baseline, and the name that goes by.

    told  how the scores are standardized
    """
    given = Baseline.read(baseline, files[:-1])
    another = [given.path] if given.path is not None else []
    if told is not None and any(told.values()) and given.saved is not None:
        raise InputError("--baseline", "saved scores are not standardized with the others", "name a run", usage=True)
    scores = scored([*files[:-1], *another, *files[-1:]], measures, options)
    return add_baseline(matrix_of(standardized_as_told(scores, told) if told else scores), given)


def from_saved(
    files: tuple[str, ...],
    from_scores: tuple[str, ...],
    baseline: str | None,
    measures: tuple[str, ...],
    keywords: dict[str, Any],
) -> tuple[Matrix, str | None]:
    """Saved scores, and the name that the baseline among them goes by."""
    matrix = _saved(files, measures, from_scores, keywords)
    given = Baseline(name=baseline) if baseline in matrix.runs else Baseline.read(baseline, ())
    if given.path is not None:
        what = f"'{baseline}' is a run, and there are no qrels to score it by"
        raise InputError("--baseline", what, "name a run of the scores, or other scores", usage=True)
    return add_baseline(matrix, given)


def matrix_from(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    from_scores: tuple[str, ...],
    keywords: dict[str, Any],
    baseline: str | None = None,
    paired: bool = True,
) -> tuple[Matrix, str | None]:
    """The scores of RUN... QRELS or saved ones, and the name that the baseline goes by.

    paired  whether all runs are compared on the same topics, so that left out ones are told
    """
    if from_scores:
        matrix, name = from_saved(files, from_scores, baseline, measures, keywords)
    else:
        told = standard_options(keywords)
        matrix, name = with_baseline(files, baseline, *prepared(measures, keywords), told)
    tell([*matrix.notes, *(matrix.left_out() if paired else [])])
    return matrix, name


def tell(notes: Sequence[str]) -> None:
    """What was skipped or assumed."""
    for note in notes:
        say(note)


def _saved(
    files: tuple[str, ...], measures: tuple[str, ...], from_scores: tuple[str, ...], keywords: dict[str, Any]
) -> Matrix:
    if files:
        what = f"'{files[0]}' beside --from-scores"
        raise InputError("", what, "give either RUN... QRELS or saved scores", usage=True)
    given = [name for name, value in keywords.items() if value not in (None, False, ())]
    if given:
        what = f"--{given[0].replace('_', '-')} beside --from-scores"
        raise InputError("", what, "saved scores are as they are; score the runs again", usage=True)
    matrix, *others = [matrix_of(path) for path in from_scores]
    for other in others:
        matrix = joined(matrix, other)
    return matrix.only(measures=[str(one) for one in parse_measures(measures)]) if measures else matrix


def deliver(make: Maker, form: str, output: str | None, settings: str) -> None:
    """Write a result; where the format has no place for its settings, they go to stderr."""
    if not FORMATS[form].signed:
        say(settings)
    write(render(make, form), output)


def curve_form(target: str | None) -> str:
    """The format of a second result: csv, or as the extension of its file asks for. Raises InputError (usage) for
    others."""
    form = form_of(target, formats_for())
    if form == "table":
        return "csv"
    if FORMATS[form].layout == "wide":
        raise InputError("--curve", f"'{target}' is for people", "name a .csv, .tsv, .json or .jsonl file", usage=True)
    return form


def write_curve(curve: Any, target: str | None, settings: str) -> None:
    """Write a second result to a file of its own, where one is wanted."""
    if target is not None:
        write(render(partial(curve_document, curve, settings), curve_form(target)), target)
