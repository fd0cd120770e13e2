"""`table`: scores as a table to publish, with the best of each column, significance, and a caption."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from gradedeval import kernel
from gradedeval.analysis import Correction, Test
from gradedeval.analysis.pairs import describe_tests, significance_matrix
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.analysis.significance import TestSettings
from gradedeval.errors import Flag, InputError, check_choice, did_you_mean, flag, public, shorten, visible
from gradedeval.kernel import Scores, ranges

LEVELS, SIGNS, LETTERS = (0.05, 0.01), "†‡", "abcdefghijklmnopqrstuvwxyz"
"""The levels of significance and the signs of differences from one baseline, the weaker level first; of several
baselines the letters, which mark the weaker one."""

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
"""What readers call tests and corrections."""

LACKS = {
    "best": "has no bold numbers",
    "baseline": "has no marks",
    "caption": "has no caption",
    "percent": "has the scores as they are",
}
"""Why a format for programs does not take an option."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """What a table to publish shows beside scores: see `table`. Raises InputError (usage) where a value is wrong or
    goes with nothing."""

    best: bool = False
    percent: bool = False
    baselines: Sequence[str] = ()
    test: Test | None = None
    correction: Correction | None = None
    caption: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "baselines", tuple(dict.fromkeys(self.baselines)))  # each counts once
        given = {"test": self.test, "correction": self.correction}
        alone = [name for name, value in given.items() if value is not None]
        if alone and not self.baselines:
            hint = f"add {flag.baseline:RUN}"
            raise InputError(Flag(f"--{alone[0]}"), "there is nothing to test against", hint, usage=True)
        if self.test == "bayes":
            hint = "choose another test, or see `gradedeval compare --test bayes`"
            raise InputError(flag.test, "bayes gives no p to mark", hint, usage=True)
        TestSettings(self.test or "randomization", self.correction)  # which checks them
        if len(self.baselines) > len(LETTERS):
            what = f"{len(self.baselines)} baselines, and {len(LETTERS)} letters to mark them"
            raise InputError(flag.baseline, what, "give fewer", usage=True)

    @property
    def settings(self) -> TestSettings:
        """How differences from the baselines are tested."""
        return TestSettings(self.test or "randomization", self.correction)

    def check(self, form: str, *, by_topic: bool = False, cwl: bool = False) -> None:
        """Raise InputError (usage) where the table has no place for what is asked."""
        asked = {"best": self.best, "percent": self.percent, "baseline": self.baselines,
                 "caption": self.caption is not None}  # fmt: skip
        for name in (name for name, value in asked.items() if value):
            if form not in kernel.formats.formats_for("wide"):
                hint = f"choose one of {', '.join(kernel.formats.formats_for('wide'))} with -f"
                raise InputError(Flag(f"--{name}"), f"{form} is for programs and {LACKS[name]}", hint, usage=True)
            if (by_topic and name in ("best", "baseline")) or (cwl and name != "caption"):
                other = flag.cwl if cwl else f"{flag.by_topic}: marks are of summaries"
                what = f"cannot be combined with {other}"
                raise InputError(Flag(f"--{name}"), what, "leave out one of them", usage=True)

    def check_runs(self, runs: Collection[str]) -> None:
        """Raise InputError (usage) where these runs leave nothing to mark."""
        for baseline in self.baselines:
            if baseline not in runs:
                hint = did_you_mean(baseline, runs) or "give it among the runs too"
                raise InputError(flag.baseline, f"'{baseline}' is none of the runs ({shorten(runs)})", hint, usage=True)
        if len(runs) < 2 and (self.best or self.baselines):
            place, what = (flag.best, "choose from") if self.best else (flag.baseline, "compare")
            raise InputError(place, f"there is one run, and nothing to {what}", "give two runs or more", usage=True)

    def style(self, scores: Scores) -> kernel.score_tables.Style:
        """How the table of these scores looks."""
        style = kernel.score_tables.Style(self.best, self.percent, caption=self.caption or "")
        return self._with_signs(style, scores) if self.baselines and len(scores.runs) > 1 else style

    def _with_signs(self, style: kernel.score_tables.Style, scores: Scores) -> kernel.score_tables.Style:
        """The style with the signs of runs that differ from the baselines."""
        baselines, matrix = list(self.baselines), to_matrix(scores)
        frame = significance_matrix(matrix, baselines, self.settings)
        known = [row for row in kernel.results.to_rows(frame) if row["p_corrected"] is not None]
        pairs = [(row["measure"], row["run"], row["baseline"], row["p_corrected"]) for row in known]
        letters = dict(zip(baselines, LETTERS, strict=False)) if len(baselines) > 1 else {}
        told: list[tuple[str, kernel.formats.Mark]] = []
        if letters:
            signs = self._letters(pairs, letters)
            told.append((f"letters: p ≤ {LEVELS[0]:g} against the run of that letter", kernel.formats.Mark()))
        else:
            reached = {(run, measure): sum(p <= level for level in LEVELS) for measure, run, _, p in pairs}
            signs = {key: SIGNS[count - 1] for key, count in reached.items() if count}
            for sign, level in zip(SIGNS, LEVELS, strict=True):
                told += [
                    (", " if told else "", kernel.formats.Mark(signs=sign)),
                    (f" p ≤ {level:g}", kernel.formats.Mark()),
                ]
            told.append((f" against {visible(baselines[0])}", kernel.formats.Mark()))
        told.append((f": {_in_words('; '.join(describe_tests(frame, matrix, self.settings)))}", kernel.formats.Mark()))
        return replace(style, signs=signs, letters=letters, legend=told)

    def _letters(self, pairs: Sequence[Pair], letters: Mapping[str, str]) -> dict[tuple[str, str], str]:
        """The letters of the baselines that each run differs from significantly, in their order."""
        from_which: dict[tuple[str, str], set[str]] = {}
        for measure, run, baseline, p in pairs:
            for one, other in ((run, baseline), (baseline, run)) if p <= LEVELS[0] else ():
                if other in letters:
                    from_which.setdefault((one, measure), set()).add(letters[other])
        return {key: "".join(sorted(found)) for key, found in from_which.items()}


_NAMED = re.compile(
    r"(?:^|(?<=; ))(?:t|randomization|bootstrap|wilcoxon|sign|tukey-hsd)(?=,|;|$)|\b(?:holm|bonferroni|bh)(?= over)"
)


def _in_words(tests: str) -> str:
    """Tests as readers call them."""
    return _NAMED.sub(lambda found: NAMES[found[0]], tests.replace(" | ", ", "))


Pair = tuple[str, str, str, float]
"""Measure, run, baseline, and the corrected p of their difference."""


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
    """Scores as a table to publish, as `gradedeval eval -f latex --best --baseline RUN` prints it.

    scores       what `gradedeval.evaluate` returns
    form         latex, markdown, html or table; without marks and a caption also trec, csv, tsv, json and jsonl
    best         the best of each column in bold, the second best underlined; equal as printed is equal
    baseline     mark what differs significantly from this run: † at 0.05 and ‡ at 0.01. Several: a letter for each, at
                 0.05
    test         as of `gradedeval.compare`, `bayes` aside; None: randomization
    correction   over the pairs of a measure with all baselines: holm (None), bonferroni, bh or none
    percent      measures between 0 and 1 times 100, with two digits less
    digits       after the decimal point; None: 4, or those of the preset
    caption      makes a LaTeX table a float; text, in which nothing is a command
    by_topic     a row for each topic as well
    signature    what stands below: the version, the qrels and what differs from the defaults (short), all that the
                 numbers depend on (full) or nothing (None)

    The table needs booktabs; its legend names marks, test, correction and level. What is left out or cannot be
    significant is a warning. Raises InputError where something goes with nothing, and as `gradedeval.compare` does.
    """
    baselines = [baseline] if isinstance(baseline, str) else baseline
    published = Published(best=best, percent=percent, baselines=baselines, test=test, correction=correction,
                          caption=caption)  # fmt: skip
    check_choice(form, kernel.formats.SCORE_FORMATS, flag.format)
    published.check(form, by_topic=by_topic)
    published.check_runs([run.run for run in scores.runs])
    shown: dict[str, Any] = {"by_topic": by_topic, "digits": ranges.DIGITS.check_or_none(digits)}
    return kernel.score_tables.render_scores(scores, form, **shown, signed=signature, style=published.style(scores))
