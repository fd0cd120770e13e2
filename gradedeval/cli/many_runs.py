"""What the commands over many runs share: their options, and the way from files to scores of runs × topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gradedeval.analysis import score_matrix
from gradedeval.cli.arguments import (
    STANDARD_OPTIONS,
    check_standard_input,
    make_workers,
    measure_table,
    named_measures,
    note_unused_cutoff,
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
from gradedeval.kernel.scoring import evaluate
from gradedeval.kernel.trec.stream import is_url

if TYPE_CHECKING:
    from gradedeval.analysis.score_matrix import Baseline, Matrix
    from gradedeval.kernel.scoring.scores import Scores

FROM_SCORES = Option("--from-scores", multiple=True, metavar="FILE", file=READS, help="Read scores saved "
    "with `gradedeval -q` (csv, tsv, json, jsonl) instead of RUN... QRELS. May be repeated.")  # fmt: skip


def matrix_options(*names: str) -> list[Option]:
    """Return the options of commands that compare runs by topic: the named options of the registry, and those of
    `read_matrix`."""
    reading = registry_options("reading")
    return [*map(registry_option, names), FROM_SCORES, *MEASURE_OPTIONS, MEASURES_FROM, *reading, *STANDARD_OPTIONS]


def runs_with_baseline(
    files: tuple[str, ...], baseline: str | None, why: str, keywords: Mapping[str, Any] = MappingProxyType({})
) -> tuple[list[str], str, Baseline]:
    """The runs of RUN... QRELS, with the baseline where it is another one, the qrels, and what --baseline names.

    why       what is wrong with a baseline of saved scores; empty where nothing is
    keywords  options, whose files may be standard input as well
    """
    compared = score_matrix.Baseline.read(baseline, files[:-1])
    if why and compared.saved is not None:
        raise InputError(flag.baseline, why, "give the baseline as a run", usage=True)
    another = [compared.path] if compared.path is not None else []
    runs, qrels = runs_and_qrels((*files[:-1], *another, *files[-1:]), keywords)
    return runs, qrels, compared


def scores_with_baseline(
    files: tuple[str, ...],
    baseline: str | None,
    measures: list[Measure],
    options: Options,
    standardized: Callable[[Scores], Scores] | None = None,
    keep: bool = False,
) -> tuple[Matrix, str | None]:
    """The scores of RUN... QRELS and of the baseline, and the baseline's name.

    keep  have the documents of runs with the scores, as `evaluate_runs` does
    """
    why = "saved scores cannot be standardized together with the runs" if standardized else ""
    runs, qrels, compared = runs_with_baseline(files, baseline, why)
    if standardized and options.predicted is not None:
        what = f"cannot be combined with {flag.standardize}"
        raise InputError(flag.predicted, what, "leave out one of them", usage=True)
    how: dict[str, Any] = {
        "keep": keep,
        "predicts": True,
        "workers": make_workers(),
    }  # who offers the option knows of it
    scores = evaluate.evaluate_runs(evaluate.named_runs(runs), qrels, measures, options, **how)
    matrix = score_matrix.with_machine(standardized(scores) if standardized else scores)
    return score_matrix.add_baseline(matrix, compared)


def read_matrix(
    keywords: dict[str, Any],
    baseline: str | None = None,
    paired: bool = True,
    keep: bool = False,
    bounded: bool = True,
) -> tuple[Matrix, str | None]:
    """The scores of RUN... QRELS or saved scores, and the baseline's name.

    paired   whether all runs are compared on the same topics, so that the others are reported
    keep     whether the documents of runs are asked for beside their scores
    bounded  whether residuals are
    """
    files, measures = keywords.pop("files"), keywords.pop("measures")
    check_standard_input([*files, baseline], keywords)
    if from_scores := keywords.pop("from_scores"):
        if files:
            what = f"cannot be combined with files such as '{files[0]}'"
            raise InputError("--from-scores", what, "give either RUN... QRELS or saved scores", usage=True)
        known = {name: keywords.pop(name) for name in score_matrix.METADATA_OPTIONS if name in keywords}
        if given_flags(keywords):
            what = "cannot be combined with --from-scores: saved scores cannot be changed"
            raise InputError(given_flags(keywords)[0], what, "score the runs again", usage=True)
        matrix, name = _from_saved(measures, from_scores, baseline, known)
    else:
        standardized = pop_standardization(keywords)
        table = measure_table(keywords.pop("measures_from"))
        options = score_matrix.options_with_residuals(bounded=bounded, **keywords)
        chosen = named_measures(measures or DEFAULT, table)
        note_unused_cutoff()
        matrix, name = scores_with_baseline(files, baseline, chosen, options, standardized, keep)
    note_assumptions(matrix, paired)
    return matrix, name


def check_run_count(check: Callable[[int], None], options: Mapping[str, Any], baseline: str | None = None) -> None:
    """Call `check` with the number of runs before they are read, where it is known from the command line alone, and so
    raise the InputError (usage) of a command for which they are too few."""
    files = options["files"]
    words = [word for word in (*files, baseline) if word is not None]
    if options["from_scores"] or options.get("replicates") or len(files) < 2:
        return
    if any(word == "-" or is_url(word) for word in words):  # which are listed, or read once
        return
    runs, _ = runs_and_qrels(files)
    compared = score_matrix.Baseline.read(baseline, runs)
    if not compared.is_unknown(runs):  # of which more is said than of their number
        check(compared.count(runs))


def pop_standardization(keywords: dict[str, Any]) -> Callable[[Scores], Scores] | None:
    """Take these options out of all options: what standardizes scores, None where that is not wanted.

    Raises InputError (usage) where they exclude each other.
    """
    taken = {name: keywords.pop(name, None) for name in ("standardize", "reference", "save_reference")}
    path, target = taken["reference"], taken["save_reference"]
    if path and target:
        what = "cannot be combined with --reference: there would be nothing new to save"
        raise InputError("--save-reference", what, "leave out one of them", usage=True)
    if not any(taken.values()):
        return None
    for name in ("residuals", "bounds", "unseen"):
        if keywords.get(name):
            what = f"standardized scores have no {'residuals' if name == 'residuals' else 'bounds'}"
            raise InputError(given_flags(taken)[0], what, f"leave out --{name}", usage=True)

    def standardized(scores: Scores) -> Scores:
        from gradedeval.analysis.standardize import Reference, standardize  # few scores are

        reference = Reference.read(path) if path else Reference.of(scores)
        scores = standardize(scores, reference)
        if target:
            write(reference.text, target)
        return scores

    return standardized


def note_assumptions(matrix: Matrix, paired: bool) -> None:
    """Tell what was assumed of the scores; raise InputError (usage) where they may not be compared."""
    own = matrix.seeds or matrix
    mismatches = score_matrix.check_origins(own.runs, own.measures, own.origin)
    emit_notes([*matrix.notes, *mismatches, *matrix.reading_notes(), *(matrix.omission_notes() if paired else [])])


def _from_saved(
    measures: tuple[str, ...], from_scores: tuple[str, ...], baseline: str | None, known: Mapping[str, Any]
) -> tuple[Matrix, str | None]:
    matrix = reduce(score_matrix.join_matrices, map(score_matrix.to_matrix, from_scores))
    if measures:
        chosen = [measure.label for measure in named_measures(measures, None)]
        matrix = replace(matrix.select(measures=chosen), measures=chosen)
    matrix = score_matrix.with_metadata(matrix, known)
    named, read = score_matrix.Baseline, score_matrix.Baseline.read
    compared = named(name=baseline) if baseline in matrix.runs else read(baseline, ())
    if compared.path is not None:
        what = f"'{baseline}' is a run, and there are no qrels to score it with"
        raise InputError("--baseline", what, "name a run among the saved scores, or give its scores", usage=True)
    return score_matrix.add_baseline(matrix, compared)
