"""Settings of two or more questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from gradedeval import analysis
from gradedeval.errors import Note, flag
from gradedeval.kernel import MEASURE_HELP, Setting, ranges

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradedeval.analysis.score_matrix import Matrix
    from gradedeval.kernel import AnyMeasure, Options
    from gradedeval.kernel.formats import Kind

Measures = Annotated["AnyMeasure | Iterable[AnyMeasure]", Setting(MEASURE_HELP, metavar="MEASURE",
    short="Measure, such as err@20; may be repeated.",
    section="Measures and gains", spelled=("-m", "--measure"), measure="several")]  # fmt: skip


# Tests of differences: see `compare`.
Test = Annotated[analysis.Test, Setting("Significance test; the interval inverts it. bootstrap is "
    "studentized, tukey-hsd the randomized Tukey HSD test, anova a two-way analysis of variance with Tukey's HSD; "
    "these two correct for all pairs themselves. bayes gives posterior probabilities instead of p.",
    short="Significance test, such as t or tukey-hsd.")]  # fmt: skip
Correction = Annotated[analysis.Correction | None, Setting("Correction for multiple comparisons, over the pairs of "
    "each measure.", default_text="holm", short="Correction for multiple comparisons.")]  # fmt: skip
Rope = Annotated[float | None, Setting("Of --test bayes: means that differ by no more than D are practically equal.",
    ranges.ROPE, metavar="D", default_text="0.01", short="Practically equal means, for --test bayes.")]  # fmt: skip
Draws = Annotated[int, Setting("Number of permutations, or of bootstrap samples.", ranges.DRAWS, metavar="N",
    short="Number of permutations or samples.")]  # fmt: skip
Alpha = Annotated[float, Setting("Significance level.", ranges.ALPHA, metavar="P")]
Seed = Annotated[int, Setting("Random seed.", ranges.SEED, metavar="N")]

FEW_RUNS = 5
"""Maximum number of runs that are compared one by one unless the command line asks for it."""

DEFAULT_DEPTH = 10
"""Default depth for the count of judged documents."""


def baseline_setting(default: str, *words: str) -> Setting:
    """Return the setting `--baseline`; `words` are values with a meaning of their own, such as `mean`."""
    alternatives = "".join(f", or '{word}' of all runs" for word in words)
    return Setting(f"Compare every run with this one: one of RUN, another file, or saved scores{alternatives}.",
                   metavar="RUN|SCORES.csv", default_text=default, reads=True,
                       short="Run to compare with; the first by default.")  # fmt: skip


def counts(*names: str) -> dict[str, tuple[str, Kind]]:
    """Return columns of counts for `display_table`."""
    return {name: (name.replace("_", " "), "count") for name in names}


def texts_unused(source: Options | Matrix, why: str, hint: str) -> list[Note]:
    """Return a note on texts of topics that no output shows, unless the same file has the labels of slices."""
    queries, labels = source.queries, source.slices
    if queries is None or (labels is not None and labels.place == queries.place):
        return []
    return [Note(f"{flag.queries} is not used: {why}", hint, kind="queries-unused")]
