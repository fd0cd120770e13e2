"""What several questions build on: runs × topics, significance, what judging could change, rankings side by side."""

from typing import Literal

from gradedeval.lazy import late_modules

# How differences are tested: help pages list these words, and wait for nothing of the room.
Test = Literal["randomization", "bootstrap", "t", "wilcoxon", "sign", "tukey-hsd", "anova", "bayes"]
PairTest = Literal["randomization", "bootstrap", "t", "wilcoxon", "sign"]
Correction = Literal["holm", "bonferroni", "bh", "none"]

__getattr__ = late_modules(__name__)
