"""The options of standardized scores, for the commands that take several runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradedeval.cli.options import READS, STANDARDIZATION, WRITES, Decorator, given, option
from gradedeval.cli.output import write
from gradedeval.errors import InputError
from gradedeval.scoring.scores import Scores

STANDARD_OPTIONS: list[Decorator] = [
    option("--standardize", section=STANDARDIZATION, is_flag=True, help="Standardize scores as Φ(z) over the runs, "
           "topic by topic. `-m sp --standardize` is sSP."),
    option("--reference", section=STANDARDIZATION, metavar="FILE", file=READS, help="Standardize with the means and "
           "standard deviations in FILE."),
    option("--save-reference", section=STANDARDIZATION, metavar="FILE", file=WRITES, help="Standardize, and save the "
           "means and standard deviations as CSV."),
]  # fmt: skip


def standardization(keywords: dict[str, Any], allow_mismatch: bool) -> Callable[[Scores], Scores] | None:
    """Take these options out of all options: what standardizes scores, None where that is not wanted.

    allow_mismatch  whether the reference may be of other qrels or options

    Raises InputError (usage) where they exclude each other.
    """
    taken = {name: keywords.pop(name) for name in ("standardize", "reference", "save_reference")}
    path, target = taken["reference"], taken["save_reference"]
    if path and target:
        what = "cannot be combined with --reference: there would be nothing new to save"
        raise InputError("--save-reference", what, "leave out one of them", usage=True)
    if not any(taken.values()):
        return None
    for name in ("residuals", "bounds", "unseen"):
        if keywords.get(name):
            what = f"standardized scores have no {'residuals' if name == 'residuals' else 'bounds'}"
            raise InputError(given(taken)[0], what, f"leave out --{name}", usage=True)

    def standardized(scores: Scores) -> Scores:
        from gradedeval.analysis.standardize import Reference, standardize  # a plain evaluation does without

        reference = Reference.read(path) if path else Reference.of(scores)
        scores = standardize(scores, reference, allow_mismatch=allow_mismatch)
        if target:
            write(reference.text, target)
        return scores

    return standardized
