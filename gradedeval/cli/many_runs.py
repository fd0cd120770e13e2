"""Commands that compare runs by topic: their options, and scores of runs × topics from files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gradedeval.analysis import saved_scores, score_matrix
from gradedeval.cli.arguments import (
    STANDARDIZATION_OPTIONS,
    check_standard_input,
    chosen_measures,
    duplicate_combined_file,
    make_workers,
    named_measures,
    runs_and_qrels,
)
from gradedeval.cli.options import (
    MEASURE_OPTIONS,
    MEASURES_FROM,
    READS,
    Option,
    given_flags,
    registry_option,
    registry_options,
)
from gradedeval.cli.output import write
from gradedeval.errors import InputError, emit_notes, flag
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.parse import DEFAULT
from gradedeval.kernel.options import Options
from gradedeval.kernel.trec.stream import is_url

if TYPE_CHECKING:
    from gradedeval.analysis.score_matrix import Baseline, Matrix
    from gradedeval.kernel.scoring.scores import Scores

FROM_SCORES = Option("--from-scores", multiple=True, metavar="FILE", file=READS, help="Read scores saved "
    "with `gradedeval -q` (csv, tsv, json, jsonl) instead of RUN... QRELS. May be repeated.",
    short="Read scores saved with -q, instead of runs.")  # fmt: skip


def matrix_options(*names: str) -> list[Option]:
    """Return the options of commands that compare runs by topic: the named options of the registry, and those of
    `read_matrix`."""
    reading = registry_options("reading")
    return [
        *map(registry_option, names),
        FROM_SCORES,
        *MEASURE_OPTIONS,
        MEASURES_FROM,
        *reading,
        *STANDARDIZATION_OPTIONS,
    ]


def runs_with_baseline(
    files: tuple[str, ...], baseline: str | None, saved_problem: str, options: Mapping[str, Any] = MappingProxyType({})
) -> tuple[list[str], str, Baseline]:
    """Return the runs, the qrels and the baseline; a baseline that is a further run is one of the runs, too.

    saved_problem  problem of the error for a baseline of saved scores; empty: no error
    options        options of the command; only one of their files and the arguments may be standard input
    """
    files = duplicate_combined_file(files)
    resolved = score_matrix.Baseline.read(baseline, files[:-1])
    if saved_problem and resolved.saved is not None:
        raise InputError(flag.baseline, saved_problem, "give the baseline as a run", usage=True)
    further = [resolved.path] if resolved.path is not None else []
    runs, qrels = runs_and_qrels((*files[:-1], *further, *files[-1:]), options)
    return runs, qrels, resolved


def scores_with_baseline(
    files: tuple[str, ...],
    baseline: str | None,
    measures: list[Measure],
    options: Options,
    standardize: Callable[[Scores], Scores] | None = None,
    keep: bool = False,
    means_suffice: bool = False,
) -> tuple[Matrix, str | None]:
    """Return the scores of the runs and of the baseline, and the baseline's name.

    standardize    function that standardizes scores; None: they are not standardized
    keep           keep the documents of runs with the scores, as `evaluate_runs` does
    means_suffice  accept a baseline that was saved without topics
    """
    problem = "saved scores cannot be standardized together with the runs" if standardize else ""
    runs, qrels, resolved = runs_with_baseline(files, baseline, problem)
    if standardize and options.predicted is not None:
        problem = f"cannot be combined with {flag.standardize}"
        raise InputError(flag.predicted, problem, "leave out one of them", usage=True)
    from gradedeval.kernel.scoring import evaluate  # not for a help page

    named, workers = evaluate.named_runs(runs), make_workers()
    scores = evaluate.evaluate_runs(named, qrels, measures, options, keep=keep, predicts=True, workers=workers)
    matrix = score_matrix.with_machine(standardize(scores) if standardize else scores)
    return score_matrix.add_baseline(matrix, resolved, means_suffice)


def read_matrix(
    options: dict[str, Any],
    baseline: str | None = None,
    paired: bool = True,
    keep: bool = False,
    residuals: bool = True,
) -> tuple[Matrix, str | None]:
    """Return the scores of RUN... QRELS or of --from-scores, and the baseline's name.

    options    all remaining options of the command
    paired     compare all runs on the same topics, and report the topics that some lack
    keep       keep the documents of runs with the scores
    residuals  compute residuals
    """
    files, measures = options.pop("files"), options.pop("measures")
    check_standard_input([*files, baseline], options)
    if saved := options.pop("from_scores"):
        if files:
            problem = f"cannot be combined with files such as '{files[0]}'"
            raise InputError("--from-scores", problem, "give either RUN... QRELS or saved scores", usage=True)
        metadata = {name: options.pop(name) for name in score_matrix.METADATA_OPTIONS if name in options}
        if flags := given_flags(options):
            problem = "cannot be combined with --from-scores: saved scores cannot be changed"
            raise InputError(flags[0], problem, "score the runs again", usage=True)
        matrix, name = _from_saved(measures, saved, baseline, metadata)
    else:
        standardize = pop_standardization(options)
        files_of_measures = options.pop("measures_from")
        scoring = score_matrix.options_with_residuals(bounded=residuals, **options)
        chosen = chosen_measures(measures or DEFAULT, files_of_measures)
        matrix, name = scores_with_baseline(files, baseline, chosen, scoring, standardize, keep)
    check_assumptions(matrix, paired)
    return matrix, name


def check_run_count(check: Callable[[int], None], options: Mapping[str, Any], baseline: str | None = None) -> None:
    """Call `check` with the number of runs before reading them, if the command line alone determines it.

    check  raises InputError (usage) for too few runs
    """
    files = options["files"]
    words = [word for word in (*files, baseline) if word is not None]
    if options["from_scores"] or options.get("replicates") or len(files) < 2:
        return
    if any(
        word == "-" or is_url(word) for word in words
    ):  # standard input can be read only once, and a pattern of URLs would be listed twice
        return
    runs, _ = runs_and_qrels(files)
    resolved = score_matrix.Baseline.read(baseline, runs)
    if not resolved.is_unknown(runs):  # a later error says more
        check(resolved.count(runs))


def pop_standardization(options: dict[str, Any]) -> Callable[[Scores], Scores] | None:
    """Pop --standardize, --reference and --save-reference, and return a function that standardizes scores, or None.

    Raises InputError (usage) for options that exclude each other.
    """
    popped = {name: options.pop(name, None) for name in ("standardize", "reference", "save_reference")}
    path, target = popped["reference"], popped["save_reference"]
    if path and target:
        problem = "cannot be combined with --reference: there would be nothing new to save"
        raise InputError("--save-reference", problem, "leave out one of them", usage=True)
    if not any(popped.values()):
        return None
    for name in ("residuals", "bounds", "unseen"):
        if options.get(name):
            problem = f"standardized scores have no {'residuals' if name == 'residuals' else 'bounds'}"
            raise InputError(given_flags(popped)[0], problem, f"leave out --{name}", usage=True)

    def standardize_scores(scores: Scores) -> Scores:
        from gradedeval.analysis.standardize import Reference, standardize  # few commands standardize

        reference = Reference.read(path) if path else Reference.of(scores)
        scores = standardize(scores, reference)
        if target:
            write(reference.text, target)
        return scores

    return standardize_scores


def check_assumptions(matrix: Matrix, paired: bool) -> None:
    """Check that the scores can be compared, and emit notes on assumptions about them.

    Raises InputError (usage) if they cannot be compared.

    paired  report the topics that some runs lack
    """
    runs_matrix = matrix.seeds or matrix  # with --replicates, rows of `matrix` are systems
    mismatches = saved_scores.check_origins(runs_matrix.runs, runs_matrix.measures, runs_matrix.origin)
    notes = [*matrix.other_notes(), *matrix.omission_notes()] if paired else matrix.notes
    emit_notes([*notes, *mismatches, *matrix.reading_notes()])


def _from_saved(
    measures: tuple[str, ...], files: tuple[str, ...], baseline: str | None, metadata: Mapping[str, Any]
) -> tuple[Matrix, str | None]:
    """Return saved scores, of the chosen measures if there are any, and the baseline's name."""
    matrix = reduce(score_matrix.join_matrices, map(score_matrix.to_matrix, files))
    if measures:
        chosen = [measure.label for measure in named_measures(measures, None)]
        matrix = replace(matrix.select(measures=chosen), measures=chosen)
    matrix = score_matrix.with_metadata(matrix, metadata)
    in_matrix = baseline in matrix.runs
    resolved = score_matrix.Baseline(name=baseline) if in_matrix else score_matrix.Baseline.read(baseline, ())
    if resolved.path is not None:
        problem = f"'{baseline}' is a run, and there are no qrels to score it with"
        raise InputError("--baseline", problem, "name a run among the saved scores, or give its scores", usage=True)
    return score_matrix.add_baseline(matrix, resolved)
