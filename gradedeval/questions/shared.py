"""Settings that several questions take."""

from __future__ import annotations

from typing import Annotated

from gradedeval import options
from gradedeval.options import numbers
from gradedeval.options.question import Setting

# How differences are tested: see `compare`.
Test = Annotated[options.Test, Setting("Significance test; the interval is of what it does not reject. bootstrap is "
    "studentized, tukey-hsd the randomized Tukey HSD test, anova a two-way analysis of variance with Tukey's HSD; "
    "these two correct for all pairs themselves. bayes gives posterior probabilities instead of p.")]  # fmt: skip
Correction = Annotated[options.Correction | None, Setting("Correction for multiple comparisons, over the pairs of each "
    "measure.", default_text="holm")]  # fmt: skip
Rope = Annotated[float | None, Setting("Of --test bayes: means that differ by no more than D are practically equal.",
    numbers.ROPE, metavar="D", default_text="0.01")]  # fmt: skip
Draws = Annotated[int, Setting("Number of permutations, or of bootstrap samples.", numbers.DRAWS, metavar="N")]
Alpha = Annotated[float, Setting("Significance level.", numbers.ALPHA, metavar="P")]
Seed = Annotated[int, Setting("Random seed.", numbers.SEED, metavar="N")]
