"""The numbers that options take: how they are written, and between which limits they lie."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

from gradedeval.arrays import as_float
from gradedeval.errors import Flag, InputError, shown
from gradedeval.kernel.measures.notation import LAST_CUTOFF

LARGEST = LAST_CUTOFF
"""The largest whole number of an option that names no lower one: a few of them add up within 64 bits."""

# Python's own come first: to ask whether they are numbers takes longer.
_INTEGRAL, _REAL = (int, Integral), (int, float, Real)

# int() and float() take more, such as 1_000 and digits of other scripts, which no file has either.
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[nN][aA][nN]|[iI][nN][fF])")


@dataclass(frozen=True)
class Number:
    """The numbers that an option takes, on the command line and in Python.

    flag              the option, as the command line calls it
    keyword           what Python calls it, where that is another name
    whole             whether only whole numbers are allowed
    minimum, maximum  the lowest number allowed and the highest; whole numbers end at `LARGEST` without one
    above, below      a number that it must exceed, and one that it must not reach
    word              a word that is allowed in place of a number
    """

    flag: str
    whole: bool = False
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    word: str | None = None
    keyword: str = ""

    @property
    def kind(self) -> str:
        """What is allowed, for a message."""
        ends = (("from", self.minimum), ("above", self.above), ("to", self.maximum), ("and below", self.below))
        words = ["whole number" if self.whole else "number", *(f"{at} {end:,}" for at, end in ends if end is not None)]
        return " ".join(words) + (f", or '{self.word}'" if self.word else "")

    @property
    def limits(self) -> str:
        """The limits as help pages show them: `[1<=x<=17]`; empty where there are none but those of all numbers."""
        low, sign = (self.minimum, "<=") if self.above is None else (self.above, "<")
        high = f"<={self.maximum}" if self.maximum is not None else f"<{self.below}" if self.below is not None else ""
        if low is None:
            return ""
        return f"[{low}{sign}x{high}]" if high else f"[x{'>=' if self.above is None else '>'}{low}]"

    def read(self, text: str) -> Any:
        """The number that is written on the command line. Raises InputError (usage) where it is none, or is not within
        the limits."""
        digits = text.strip()
        if digits == self.word:
            return digits
        if not (_WHOLE if self.whole else _NUMBER).fullmatch(digits):
            raise self.error(f"'{text}' is not a {self.kind}")
        return self._within(_whole(digits) if self.whole else float(digits), digits)

    def check(self, value: Any) -> Any:
        """A number of Python or NumPy, as an int or a float. Raises InputError (usage) where it is none, or is not
        within the limits."""
        if self.word is not None and isinstance(value, str) and value == self.word:
            return value
        if isinstance(value, bool) or not isinstance(value, _INTEGRAL if self.whole else _REAL):
            raise self.error(f"{shown(value)} is not a {self.kind}")
        if isinstance(value, _INTEGRAL):
            number = int(value)
            return self._within(number if self.whole else as_float(number), _said(number))
        fraction = as_float(value)
        return self._within(fraction, f"{fraction:g}")

    def _within(self, number: float, said: str) -> float:
        if not self.whole and not math.isfinite(number):
            raise self.error(f"{said} is not a finite number")
        maximum = LARGEST if self.whole and self.maximum is None and self.below is None else self.maximum
        if self.above is not None and not number > self.above:
            raise self.error(f"{said} is too small", f"it must be above {self.above:,}")
        if self.minimum is not None and not number >= self.minimum:
            raise self.error(f"{said} is too small", f"it must be at least {self.minimum:,}")
        if self.below is not None and not number < self.below:
            raise self.error(f"{said} is too large", f"it must be below {self.below:,}")
        if maximum is not None and not number <= maximum:
            raise self.error(f"{said} is too large", f"it must be at most {maximum:,}")
        return number

    def check_or_none(self, value: Any) -> Any:
        """`check`, where None says that there is no number."""
        return None if value is None else self.check(value)

    def check_field(self, settings: Any, name: str) -> None:
        """`check_or_none` of a field of a frozen dataclass, which becomes an int or a float."""
        object.__setattr__(settings, name, self.check_or_none(getattr(settings, name)))

    def error(self, problem: str, hint: str = "") -> InputError:
        """What is wrong with the value that a user gave."""
        return InputError(Flag(self.flag, self.keyword), problem, hint, usage=True)


def _whole(digits: str) -> float:
    """The whole number of some digits; infinity where these are more than any limit has, as an int of thousands of
    digits takes long, or is refused by Python."""
    significant = digits.lstrip("+-0") or "0"
    size = int(significant) if len(significant) <= len(str(LARGEST)) else math.inf
    return -size if digits.startswith("-") else size


def _said(number: int) -> str:
    return str(number) if abs(number) <= LARGEST else f"{as_float(number):g}"


MOST_DRAWS = 10_000_000
MOST_RANKS = 100_000
"""Of fixed weights: the work grows with the square of the depth."""
_count = partial(Number, whole=True, minimum=1)
_share = partial(Number, above=0, below=1)

# What a single command takes as well: defaults and their meaning stand beside the settings, limits here.
ALPHA = _share("--alpha")
AT = _count("--at")
BEST_RUNS = Number("--best-runs", whole=True, minimum=2)
BETA = _share("--beta")
CUTOFF = _count("-k")
BUDGET = _count("--budget")
DEPTH = _count("--depth")
DIFFERENCE = Number("--difference", above=0, maximum=1e100)
DIGITS = Number("--digits", whole=True, minimum=0, maximum=17)
DOCS_IN_COLLECTION = _count("-N")
DPI = Number("--dpi", minimum=20, maximum=2400)
DRAWS = _count("--draws", maximum=MOST_DRAWS)
FLOOR = Number("--floor", minimum=0, below=0.5)
HEIGHT = Number("--height", minimum=0.5, maximum=100)
IDLE = Number("--idle", above=0)
ITERATIONS = _count("--iterations", maximum=100_000)
JOBS = _count("--jobs")
LAST = _count("--last")
LEVEL = _share("--level")
LEVEL_FOR_REL = _count("-l")
MAX_DEPTH = _count("--max-depth")
MAX_RETRIEVED = _count("-M")
MIN_FOUND = _count("--min-found")
MIN_RANKS = _count("--min-ranks")
MIN_SEEN = Number("--min-seen", whole=True, minimum=0)
MU = Number("--mu", minimum=0)
PAGE = Number("--page", whole=True, minimum=0)
PAIRS = Number("--pairs", whole=True, minimum=2, maximum=10_000_000)
PERSISTENCE = _share("--persistence")
POINTS = Number("--points", whole=True, minimum=2, maximum=10_001, word="all")
POOL_DEPTH = _count("--pool-depth")
PRECISION = Number("--precision", minimum=1e-10)
PRIOR = Number("--prior", minimum=0)
RANKS = _count("--ranks")
RISK_AVERSION = Number("--risk-aversion", minimum=0, maximum=1_000_000)
ROPE = Number("--rope", minimum=0)
SEED = Number("--seed", whole=True, minimum=0)
SESSIONS = _count("--sessions", maximum=100_000_000)
SHOW = _count("--show")
SS_REL = Number("--ss-rel")
SYSTEMS = Number("--systems", whole=True, minimum=2)
TOLERANCE = Number("--tolerance", minimum=0)
TOP = _count("--top")
TOP_GAIN = Number("--top-gain", above=0)
GROWTH = Number("--max-growth", minimum=1, word="inf")
UNSEEN = Number("--unseen", whole=True, minimum=0, maximum=1_000_000, word="inf")
VARIANCE = Number("--variance", above=0)
WEIGHED_RANKS = _count("--ranks", maximum=MOST_RANKS)
WIDTH = Number("--width", minimum=1, maximum=100)
