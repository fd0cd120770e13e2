"""`gradedeval compare`: pairs of runs, letters for runs that do not differ, and scores of runs by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gradedeval.analysis import score_matrix, significance
from gradedeval.cli.many_runs import check_run_count, matrix_options, read_matrix
from gradedeval.cli.options import WIDE, Option, command_line, is_given, output_options
from gradedeval.cli.results import Destination, print_remarks
from gradedeval.cli.settings import check_mode, chosen_mode, pop_settings, setting_options
from gradedeval.errors import Note, emit_notes
from gradedeval.kernel.options import ranges
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.compare import (
    EVALUATION_OPTIONS,
    check_judging,
    check_runs,
    check_settings,
    compare,
    compare_scores,
    letters,
)
from gradedeval.questions.shared import FEW_RUNS
from gradedeval.questions.topic_table import topic_table

if TYPE_CHECKING:
    from gradedeval.analysis.score_matrix import Matrix

BY_TOPIC = Option("-q", "--by-topic", is_flag=True, help="Print the scores of all runs on each topic, with median, "
                  "best and worst, instead of comparisons. For more than five runs: no scores of single runs, the "
                  "hardest topics first, and a single measure unless -m is given.",
                  short="The scores of all runs on each topic.")  # fmt: skip
TOP = Option(number=ranges.TOP, metavar="N", help="With -q: show the N hardest topics. Default: the six hardest and "
             "the six easiest in tables of more than five runs, else all.",
             short="With -q: the N hardest topics.")  # fmt: skip
LETTERS = Option("--letters", "by_letters", is_flag=True, help="Print a row for each run, with letters and its "
                 "possible ranks. Runs that do not differ significantly share a letter. The test is Tukey's HSD unless "
                 "--test names another. The default for more than five runs.",
                 short="Letters, shared by runs that do not differ.")  # fmt: skip
JUDGING = Option("--judging", is_flag=True, help="Add a table: whether more judging could reverse the order of each "
                 "pair.", short="Whether judging could reverse a pair.")  # fmt: skip
SETTINGS = [BY_TOPIC, TOP, LETTERS, *setting_options(letters, compare), JUDGING]
READING_OPTIONS = matrix_options(*EVALUATION_OPTIONS)
OPTIONS_OF_MODE = {
    "-q": {"baseline", "replicates", "top"},
    "--letters": {*settings_of(letters)},
    "": {*settings_of(compare), "judging", *EVALUATION_OPTIONS},
}
"""Flag of a mode -> names of its options, except those of all modes."""


@command_line("compare", "RUN... QRELS", SETTINGS, READING_OPTIONS, output_options(), [WIDE],
              most_used="-m --baseline --test -q --all-pairs --letters --correction -f -o "
              "-k --gain --top-grade --topics --judging --like --quiet")  # fmt: skip
def command(
    baseline: str | None,
    all_pairs: bool,
    by_topic: bool,
    top: int | None,
    by_letters: bool,
    judging: bool,
    **options: Any,
) -> None:
    """Compare runs: means, differences, wins, ties and losses per topic, effect sizes, confidence intervals,
    p-values.

    With --judging a second table shows whether further judging could reverse the order of two runs. The answer is no,
    unknown, or yes if N documents of the trailing run are relevant.
    """
    destination = Destination(options)
    mode = chosen_mode({"-q": by_topic, "--letters": by_letters})
    check_mode(mode, OPTIONS_OF_MODE, ", which makes no tests" if by_topic else "")
    settings = pop_settings(letters if by_letters else compare, options, letters, compare)
    if by_topic:
        has_measures = bool(options["measures"])
        matrix, _ = read_matrix(options, baseline)
        if not has_measures and destination.layout == "wide":
            matrix = _with_one_measure(matrix)
        destination.print(print_remarks(topic_table(matrix)), top=top)
        return
    if by_letters:
        matrix, _ = read_matrix(options)
        destination.print(print_remarks(letters(matrix, **settings)))
        return
    test = significance.TestSettings(**settings)
    replicates, predicted = options["replicates"], options["predicted"]
    check_settings(baseline, all_pairs, test, replicates, predicted)
    needs_judging = judging or options["unseen"] is not None
    if needs_judging:
        check_judging(replicates, predicted)
    asks_for_pairs = test.test == "bayes" or _has_option_of_pairs()
    # Formats for programs always include the effects of further judging, which need the documents of runs.
    needs_documents = needs_judging or (destination.layout == "long" and predicted is None)
    check_run_count(check_runs, options, baseline)
    matrix, name = read_matrix(options, baseline, keep=needs_documents)
    if len(matrix.runs) > FEW_RUNS and not asks_for_pairs:
        many = f"{len(matrix.runs)} runs: those that share a letter do not differ, as with --letters"
        emit_notes([Note(many, "--baseline RUN or --all-pairs compares pairs")])
        destination.print(print_remarks(letters(matrix, **settings)))
        return
    if not all_pairs:
        emit_notes(score_matrix.first_baseline_notes(matrix, name))
    result = compare_scores(matrix, name, all_pairs, test, needs_documents, keep_documents=True)
    destination.print(print_remarks(result), judging=judging)


def _with_one_measure(matrix: Matrix) -> Matrix:
    """Return the scores of the first measure only, with a note, if there are many runs.

    Each measure of many runs has a table of its own, with a row for each topic.
    """
    first, *others = matrix.measures
    if len(matrix.runs) <= FEW_RUNS or not others:
        return matrix
    text = f"{len(matrix.runs)} runs: topics by {first} alone"
    emit_notes([Note(text, f"-m adds others, as in -m '{first} {others[0]}'")])
    return matrix.select(measures=[first])


def _has_option_of_pairs() -> bool:
    """Return whether the command line has an option that letters do not take."""
    given = click.get_current_context().params
    return any(is_given(given.get(name)) for name in OPTIONS_OF_MODE[""] if name not in OPTIONS_OF_MODE["--letters"])
