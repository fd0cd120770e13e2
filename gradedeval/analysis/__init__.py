"""The base of several questions: runs × topics, significance, effects of judging, rankings side by side."""

from typing import Literal

from gradedeval.lazy import late_modules

# Help pages list these words without importing the modules.
Test = Literal["randomization", "bootstrap", "t", "wilcoxon", "sign", "tukey-hsd", "anova", "bayes"]
PairTest = Literal["randomization", "bootstrap", "t", "wilcoxon", "sign"]
Correction = Literal["holm", "bonferroni", "bh", "none"]

__getattr__ = late_modules(__name__)
