"""`table`: scores as a table to publish, with marks of the best and of significance, and a caption."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from gradedeval import kernel
from gradedeval.analysis import Correction, Test
from gradedeval.analysis.pairs import describe_tests, significance_matrix
from gradedeval.analysis.score_matrix import as_scores, to_matrix
from gradedeval.analysis.significance import TestSettings
from gradedeval.errors import Flag, InputError, check_choice, did_you_mean, flag, public, shorten, visible
from gradedeval.kernel import Scores, ranges

LEVELS, SIGNS, LETTERS = (0.05, 0.01), "†‡", "abcdefghijklmnopqrstuvwxyz"
"""Significance levels and signs of differences from one baseline, the weaker level first; letters of several baselines
mark the weaker level."""

NAMES = {
    "t": "two-sided paired t-test",
    "randomization": "two-sided paired randomization test",
    "bootstrap": "two-sided paired bootstrap test (studentized)",
    "wilcoxon": "two-sided Wilcoxon signed-rank test",
    "sign": "two-sided sign test",
    "tukey-hsd": "two-sided randomized Tukey HSD test",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini–Hochberg",
}
"""Names of tests and corrections in publications."""

LACKS = {
    "best": "has no bold numbers",
    "baseline": "has no marks",
    "caption": "has no caption",
    "percent": "has the scores as they are",
}
"""Reasons why formats for programs exclude an option."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """Extras of a table to publish: see `table`. Raises InputError (usage) for wrong or ineffective values."""

    best: bool = False
    percent: bool = False
    baselines: Sequence[str] = ()
    test: Test | None = None
    correction: Correction | None = None
    caption: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "baselines", tuple(dict.fromkeys(self.baselines)))  # each counts once
        test_settings = {"test": self.test, "correction": self.correction}
        names = [name for name, value in test_settings.items() if value is not None]
        if names and not self.baselines:
            hint = f"add {flag.baseline:RUN}"
            raise InputError(Flag(f"--{names[0]}"), "there is nothing to test against", hint, usage=True)
        if self.test == "bayes":
            hint = "choose another test, or see `gradedeval compare --test bayes`"
            raise InputError(flag.test, "bayes gives no p to mark", hint, usage=True)
        TestSettings(self.test or "randomization", self.correction)  # raises for invalid names
        if len(self.baselines) > len(LETTERS):
            problem = f"{len(self.baselines)} baselines, and {len(LETTERS)} letters to mark them"
            raise InputError(flag.baseline, problem, "give fewer", usage=True)

    @property
    def settings(self) -> TestSettings:
        """Settings of the tests against the baselines."""
        return TestSettings(self.test or "randomization", self.correction)

    def check(self, form: str, *, by_topic: bool = False, cwl: bool = False) -> None:
        """Raise InputError (usage) for extras that the format or another option excludes."""
        extras = {"best": self.best, "percent": self.percent, "baseline": self.baselines,
                 "caption": self.caption is not None}  # fmt: skip
        for name in (name for name, value in extras.items() if value):
            if form not in kernel.formats.formats_for("wide"):
                hint = f"choose one of {', '.join(kernel.formats.formats_for('wide'))} with -f"
                raise InputError(Flag(f"--{name}"), f"{form} is for programs and {LACKS[name]}", hint, usage=True)
            if (by_topic and name in ("best", "baseline")) or (cwl and name != "caption"):
                conflict = flag.cwl if cwl else f"{flag.by_topic}: marks are of summaries"
                problem = f"cannot be combined with {conflict}"
                raise InputError(Flag(f"--{name}"), problem, "leave out one of them", usage=True)

    def check_runs(self, runs: Collection[str]) -> None:
        """Raise InputError (usage) if a baseline is not among the runs, or if there is nothing to compare."""
        for baseline in self.baselines:
            if baseline not in runs:
                hint = did_you_mean(baseline, runs) or "give it among the runs too"
                raise InputError(flag.baseline, f"'{baseline}' is none of the runs ({shorten(runs)})", hint, usage=True)
        if len(runs) < 2 and (self.best or self.baselines):
            place, purpose = (flag.best, "choose from") if self.best else (flag.baseline, "compare")
            raise InputError(place, f"there is one run, and nothing to {purpose}", "give two runs or more", usage=True)

    def style(self, scores: Scores) -> kernel.score_tables.Style:
        """Return the style of the table of these scores."""
        style = kernel.score_tables.Style(self.best, self.percent, caption=self.caption or "")
        return self._with_signs(style, scores) if self.baselines and len(scores.runs) > 1 else style

    def _with_signs(self, style: kernel.score_tables.Style, scores: Scores) -> kernel.score_tables.Style:
        """Add signs to runs that differ from the baselines."""
        baselines, matrix = list(self.baselines), to_matrix(scores)
        frame = significance_matrix(matrix, baselines, self.settings)
        tested = [row for row in kernel.results.to_rows(frame) if row["p_corrected"] is not None]
        pairs = [(row["measure"], row["run"], row["baseline"], row["p_corrected"]) for row in tested]
        letters = dict(zip(baselines, LETTERS, strict=False)) if len(baselines) > 1 else {}
        parts: list[tuple[str, kernel.formats.Mark]] = []
        if letters:
            signs = self._letters(pairs, letters)
            parts.append((f"letters: p ≤ {LEVELS[0]:g} against the run of that letter", kernel.formats.Mark()))
        else:
            reached = {(run, measure): sum(p <= level for level in LEVELS) for measure, run, _, p in pairs}
            signs = {key: SIGNS[count - 1] for key, count in reached.items() if count}
            for sign, level in zip(SIGNS, LEVELS, strict=True):
                parts += [
                    (", " if parts else "", kernel.formats.Mark(signs=sign)),
                    (f" p ≤ {level:g}", kernel.formats.Mark()),
                ]
            parts.append((f" against {visible(baselines[0])}", kernel.formats.Mark()))
        tests = "; ".join(describe_tests(frame, matrix, self.settings)).replace(" | ", ", ")
        parts.append((f": {_NAMES.sub(lambda name: NAMES[name[0]], tests)}", kernel.formats.Mark()))
        return replace(style, signs=signs, letters=letters, legend=parts)

    def _letters(self, pairs: Sequence[Pair], letters: Mapping[str, str]) -> dict[tuple[str, str], str]:
        """Return the letters of the baselines that each run differs from significantly, in their order."""
        by_cell: dict[tuple[str, str], set[str]] = {}
        for measure, run, baseline, p in pairs:
            for weaker, reference in ((run, baseline), (baseline, run)) if p <= LEVELS[0] else ():
                if reference in letters:
                    by_cell.setdefault((weaker, measure), set()).add(letters[reference])
        return {key: "".join(sorted(marks)) for key, marks in by_cell.items()}


_NAMES = re.compile(
    r"(?:^|(?<=; ))(?:t|randomization|bootstrap|wilcoxon|sign|tukey-hsd)(?=,|;|$)|\b(?:holm|bonferroni|bh)(?= over)"
)


Pair = tuple[str, str, str, float]
"""Measure, run, baseline, and the corrected p of the difference."""


@public
def table(
    scores: Scores,
    form: str = "latex",
    *,
    best: bool = False,
    baseline: str | Sequence[str] = (),
    test: Test | None = None,
    correction: Correction | None = None,
    percent: bool = False,
    digits: int | None = None,
    caption: str | None = None,
    by_topic: bool = False,
    signature: Literal["short", "full"] | None = "short",
) -> str:
    """Format scores as a table to publish, like `gradedeval eval -f latex --best --baseline RUN`.

    scores       the result of `gradedeval.evaluate`
    form         latex, markdown, html or table; without marks and caption also trec, csv, tsv, json and jsonl
    best         print the best of each column in bold and underline the second best; values equal as printed are equal
    baseline     mark significant differences from this run: † at 0.05 and ‡ at 0.01. Several runs: a letter for each,
                 at 0.05
    test         as for `gradedeval.compare`, except `bayes`; None: randomization
    correction   over the pairs of a measure with all baselines: holm (None), bonferroni, bh or none
    percent      multiply measures between 0 and 1 by 100, with two digits less
    digits       after the decimal point; None: 4, or the digits of the preset
    caption      turn a LaTeX table into a float with this caption; LaTeX commands have no effect in it
    by_topic     add a row for each topic
    signature    line below the table: version, qrels and non-default settings (short), all settings (full), or None

    The table needs booktabs; its legend names marks, test, correction and level. Omissions, and tests that cannot be
    significant, are warnings. Raises InputError for extras without effect, and as `gradedeval.compare` does.

    >>> scores = gradedeval.evaluate({"q1": {"d1": 2.0}}, {"q1": {"d1": 1, "d2": 1}}, "ap")
    >>> print(gradedeval.table(scores, "markdown", signature=None), end="")
    | measure   |   score |
    |-----------|---------|
    | ap        |  0.5000 |
    """
    scores = as_scores(scores)
    baselines = [baseline] if isinstance(baseline, str) else baseline
    published = Published(best=best, percent=percent, baselines=baselines, test=test, correction=correction,
                          caption=caption)  # fmt: skip
    check_choice(form, kernel.formats.SCORE_FORMATS, flag.format)
    published.check(form, by_topic=by_topic)
    published.check_runs([run.run for run in scores.runs])
    content: dict[str, Any] = {"by_topic": by_topic, "digits": ranges.DIGITS.check_or_none(digits)}
    return kernel.score_tables.render_scores(scores, form, **content, signed=signature, style=published.style(scores))
