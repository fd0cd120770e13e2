"""Gains named grade by grade: a file of grade,gain lines, or words as in 1=3,2=9."""

from __future__ import annotations

import math
import re

from gradedeval.errors import Fault, reason

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_PAIRS = re.compile(rf"{_NUMBER}={_NUMBER}(?:,{_NUMBER}={_NUMBER})*")


def is_pairs(value: object) -> bool:
    """Whether a scheme names the gains of some grades: `1=3,2=9`."""
    return isinstance(value, str) and _PAIRS.fullmatch(value) is not None


def read_pairs(value: str) -> dict[float, float]:
    """grade -> gain, of the grades that the words name."""
    return {float(grade): float(gain) for grade, gain in (pair.split("=") for pair in value.split(","))}


def read_gains(name: str) -> dict[float, float]:
    """grade -> gain, of a file. Raises Fault where it has none, or a line is no pair."""
    from pathlib import Path

    known: dict[float, float] = {}
    try:
        lines = Path(name).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Fault(name, f"cannot be read ({reason(error)})", "a gain file has lines of grade,gain") from None
    if lines and lines[0].startswith("\ufeff"):
        raise Fault(f"{name}:1", "begins with a byte order mark", "save the file as UTF-8 without one")
    for number, row in enumerate((line.split(",") for line in lines), 1):
        if not "".join(row).strip() or row[0].startswith("#") or (number == 1 and row[0].strip().lower() == "grade"):
            continue
        try:
            grade, gain = (float(cell) for cell in row)
        except ValueError:
            grade = gain = math.nan
        if not (math.isfinite(grade) and math.isfinite(gain)) or gain < 0 or grade in known:
            what = f"{','.join(row)!r} is no new grade,gain pair"
            raise Fault(f"{name}:{number}", what, "as in 2,0.5; gains from 0 up")
        known[grade] = gain
    if not known:
        raise Fault(name, "has no gains", "a gain file has lines of grade,gain")
    return known
