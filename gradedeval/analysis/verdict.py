"""The verdict of a check on one run and one bound, in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gradedeval.analysis.bounds import Bound
from gradedeval.errors import plural, visible

LOWEST, HIGHEST, FELL, ROSE = "of lowest score", "of highest score", "that fell most", "that rose most"
ALONE, OPEN = (LOWEST, HIGHEST), "that could gain most"


@dataclass(frozen=True)
class Verdict:
    """Whether one run satisfies one bound.

    value     what is bounded: the summary (mean, total or geometric mean), its drop, the largest drop of a topic, p, or
              what unjudged documents could add to the summary. A drop is a rise where lower is better. nan without p
    passed    whether the bound holds
    sentence  the verdict in words
    worst     the topics to look at first, with their scores, changes or what they could gain
    which     what these topics are: "that fell most"
    topics    how many topics the value is over
    counts    whether the scores are whole numbers
    settled   of a drop of the summary that breaks a bound: whether it is one whatever the unjudged documents of both
              runs turn out to be; else None, also where that is not known
    """

    run: str
    bound: Bound
    value: float
    passed: bool
    sentence: str
    worst: tuple[tuple[str, float], ...]
    which: str
    topics: int
    counts: bool = False
    settled: bool | None = None

    @property
    def worst_words(self) -> str:
        """The worst topics in words."""
        form = ("" if self.which in ALONE else "+") + (".0f" if self.counts else ".4f")
        topics = ", ".join(f"{topic} {value:{form}}" for topic, value in self.worst)
        return topics and f"{plural(len(self.worst), 'topic')} {self.which}: {topics}"

    @property
    def row(self) -> dict[str, Any]:
        """The columns of the frame that `check` returns."""
        return {
            "run": self.run,
            "bound": self.bound.kind,
            "measure": self.bound.measure,
            "limit": self.bound.limit,
            "relative": self.bound.relative,
            "value": None if math.isnan(self.value) else self.value,
            "passed": self.passed,
            "verdict": self.sentence,
            "worst": self.worst_words,
            "topics": self.topics,
            "settled": self.settled,
        }

    @property
    def line(self) -> str:
        """All of it in one line."""
        return visible("; ".join(part for part in (f"{self.run}: {self.sentence}", self.worst_words) if part))
