"""The options of `gradedeval eval` for tables to publish: marks, significance, captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gradedeval.cli.options import PUBLISHED, READS, is_given, option
from gradedeval.cli.output import warn
from gradedeval.errors import InputError
from gradedeval.options import numbers
from gradedeval.scoring.score_tables import PLAIN, Style
from gradedeval.scoring.scores import Scores

if TYPE_CHECKING:
    from gradedeval.analysis.published import Published

# Tests and corrections are names that the analysis checks: a plain evaluation does not wait for it.
PUBLISHED_OPTIONS = [
    option("--best", section=PUBLISHED, is_flag=True, help="Mark the best of each column in bold and the second best "
           "underlined; equal as printed is equal."),
    option("--baseline", "baselines", section=PUBLISHED, multiple=True, metavar="RUN", file=READS, help="Mark what "
           "differs significantly from RUN, one of the runs: † and ‡ for two levels. Repeat it for a letter for each."),
    option("--test", section=PUBLISHED, metavar="TEST", help="Significance test, as of `gradedeval compare`, bayes "
           "aside. Default: randomization."),
    option("--correction", section=PUBLISHED, metavar="NAME", help="Correction for multiple comparisons, over the "
           "pairs of each measure, as of `gradedeval compare`. Default: holm."),
    option(numbers.ALPHA, "levels", section=PUBLISHED, multiple=True, metavar="P", help="Level of "
           "significance; give it twice for two signs. Default: 0.05 and 0.01; with several baselines 0.05."),
    option(numbers.DRAWS, section=PUBLISHED, metavar="N", help="Number of permutations, or of bootstrap samples. "
           "Default: 10000."),
    option(numbers.SEED, section=PUBLISHED, metavar="N", help="Random seed. Default: 0."),
    option("--percent", section=PUBLISHED, is_flag=True, help="Print measures between 0 and 1 times 100."),
    option("--caption", section=PUBLISHED, metavar="TEXT", help="Caption of the table, which makes it a float in "
           "LaTeX. Nothing in TEXT is a command."),
]  # fmt: skip
NAMES = ("best", "baselines", "test", "correction", "levels", "draws", "seed", "percent", "caption")


def published_table(
    keywords: dict[str, Any],
    form: str,
    shown: Mapping[str, Any],
    runs: Sequence[str] | None,
    label: str | None,
    history: bool,
) -> Published | None:
    """What a table to publish shows; None where nothing of it is asked for. Takes its options out of all.

    shown    what tables have beside summaries: by_topic, cwl
    runs     the files, which --baseline may name; None where runs go by tags, which are not known yet
    label    the value of --label, which may be meant for a history

    Raises InputError (usage) where options do not go together, or with the runs.
    """
    own = {name: keywords.pop(name) for name in NAMES}
    if label is not None and own["caption"] is None and not history:
        what, hint = "there is neither a caption nor a history to label", "add --caption TEXT or --append-to FILE"
        raise InputError("--label", what, hint, usage=True)
    if not any(map(is_given, own.values())):
        return None
    from gradedeval.analysis.baseline import Baseline  # few evaluations are published
    from gradedeval.analysis.published import Published
    from gradedeval.scoring.run_names import file_names

    if runs is not None:
        own["baselines"] = [Baseline.read(word, runs).name or word for word in own["baselines"]]
    labels_table = own["caption"] is not None and (form == "latex" or not history)
    published = Published(**own, label=label if labels_table else None)
    published.check(form, by_topic=shown["by_topic"], cwl=shown["cwl"])
    if runs is not None:
        published.check_runs(file_names(list(runs)))
    return published


def is_possible(published: Published | None, scores: Scores) -> bool:
    """Whether the baselines are among the runs that have scores. Raises InputError (usage) where they are none of the
    runs at all; one that could not be scored is told on stderr."""
    if published is None:
        return True
    names = [run.run for run in scores.runs]
    if not scores.errors:
        published.check_runs(names)
    missing = [name for name in published.baselines if name not in names]
    warn(f"--baseline: '{name}' is not scored, so there is no table" for name in missing)
    return not missing


def style_of(published: Published | None, scores: Scores) -> Style:
    """How the table of these scores looks; what cannot be significant is told on stderr."""
    if published is None:
        return PLAIN
    from gradedeval.parallel.progress import with_progress

    style, notes = published.style(scores, partial(with_progress, label="draws"))
    warn(notes)
    return style
