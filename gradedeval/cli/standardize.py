"""The options of standardized scores, for the commands that take several runs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from gradedeval.cli.options import STANDARDIZATION, Decorator, given, option
from gradedeval.cli.output import write
from gradedeval.errors import InputError
from gradedeval.scoring.scores import Scores

STANDARD_OPTIONS: list[Decorator] = [
    option("--standardize", section=STANDARDIZATION, is_flag=True, help="Standardize scores as Φ(z) over the runs, "
           "topic by topic. `-m sp --standardize` is sSP."),
    option("--reference", section=STANDARDIZATION, metavar="FILE", help="Standardize with the means and standard "
           "deviations in FILE."),
    option("--save-reference", section=STANDARDIZATION, metavar="FILE", help="Standardize, and save the means and "
           "standard deviations as CSV."),
]  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Standardization:
    """Whether and how scores are standardized."""

    standardize: bool = False
    reference: str | None = None
    save_reference: str | None = None

    @classmethod
    def of(cls, keywords: dict[str, Any]) -> Standardization:
        """Take these options out of all options. Raises InputError (usage) where they exclude each other."""
        taken = {entry.name: keywords.pop(entry.name) for entry in fields(cls)}
        if taken["reference"] and taken["save_reference"]:
            what = "cannot be combined with --reference: there would be nothing new to save"
            raise InputError("--save-reference", what, "leave out one of them", usage=True)
        if given(taken) and keywords.get("residuals"):
            raise InputError(
                given(taken)[0], "standardized scores have no residuals", "leave out --residuals", usage=True
            )
        return cls(**taken)

    @property
    def wanted(self) -> bool:
        return bool(self.standardize or self.reference or self.save_reference)

    def apply(self, scores: Scores) -> Scores:
        """The scores, standardized where that is wanted."""
        if not self.wanted:
            return scores
        # A plain evaluation does without.
        from gradedeval.analysis.standardize import Reference, standardize

        reference = Reference.read(self.reference) if self.reference else Reference.of(scores)
        standardized = standardize(scores, reference)
        if self.save_reference:
            write(reference.text, self.save_reference)
        return standardized
