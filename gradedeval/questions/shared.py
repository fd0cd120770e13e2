"""Settings that several questions take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from gradedeval import analysis
from gradedeval.cli.options import LABEL, REPORTED
from gradedeval.errors import Note, flag
from gradedeval.kernel import Setting, ranges

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradedeval.analysis.score_matrix import Matrix
    from gradedeval.kernel import AnyMeasure, Options

Measures = Annotated["AnyMeasure | Iterable[AnyMeasure]", Setting(REPORTED, metavar="MEASURE",
    section="Measures and gains", spelled=("-m", "--measure"), measure="several")]  # fmt: skip

Label = Annotated[str | None, Setting(LABEL, metavar="TEXT")]

# How differences are tested: see `compare`.
Test = Annotated[analysis.Test, Setting("Significance test; the interval inverts it. bootstrap is "
    "studentized, tukey-hsd the randomized Tukey HSD test, anova a two-way analysis of variance with Tukey's HSD; "
    "these two correct for all pairs themselves. bayes gives posterior probabilities instead of p.")]  # fmt: skip
Correction = Annotated[analysis.Correction | None, Setting("Correction for multiple comparisons, over the pairs of "
    "each measure.", default_text="holm")]  # fmt: skip
Rope = Annotated[float | None, Setting("Of --test bayes: means that differ by no more than D are practically equal.",
    ranges.ROPE, metavar="D", default_text="0.01")]  # fmt: skip
Draws = Annotated[int, Setting("Number of permutations, or of bootstrap samples.", ranges.DRAWS, metavar="N")]
Alpha = Annotated[float, Setting("Significance level.", ranges.ALPHA, metavar="P")]
Seed = Annotated[int, Setting("Random seed.", ranges.SEED, metavar="N")]

AT = 10
"""The depth at which judged documents are counted, where none is given."""


def against(default: str, *words: str) -> Setting:
    """What runs are compared with, and what that is where no --baseline says it; `words` stand for what is no run."""
    beside = "".join(f", or '{word}' of all runs" for word in words)
    return Setting(f"Compare every run with this one: one of RUN, another file, or saved scores{beside}.",
                   metavar="RUN|SCORES.csv", default_text=default, reads=True, words=words)  # fmt: skip


def texts_unused(known: Options | Matrix, why: str, hint: str) -> list[Note]:
    """A note where topics have texts and nothing shows these, unless labels of slices are columns beside them."""
    queries, labels = known.queries, known.slices
    if queries is None or (labels is not None and labels.place == queries.place):
        return []
    return [Note(f"{flag.queries} is not used: {why}", hint, kind="queries-unused")]
