"""Parameters of measures as ir_measures calls them -> as gradedeval does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gradedeval.errors import InputError
from gradedeval.measures.notation import Value


def check_gains(word: str, given: Mapping[str, Value]) -> None:
    """Raise InputError (usage) where a measure is given its gains twice."""
    saying = [key for key in ("dcg", "gains", "max_rel", "gain") if key in given and given[key] != "log2"]
    if len(saying) > 1:
        raise InputError(f"'{word}'", f"{' and '.join(saying)} both say the gains", "give one of them", usage=True)


def _dcg(word: str, name: str, given: dict[str, Value]) -> str | None:
    form = given.pop("dcg")
    if form not in ("log2", "exp-log2"):
        raise InputError(f"'{word}'", f"dcg={form} is not log2 or exp-log2", "leave it out for log2", usage=True)
    given.update({"gain": "exp"} if form == "exp-log2" else {})
    return None


def _gains(word: str, name: str, given: dict[str, Value]) -> str | None:
    pairs = re.fullmatch(r"\{\s*([\d.:,\s]*?)\s*\}", str(given.pop("gains")))
    if not pairs:
        raise InputError(f"'{word}'", "gains are grade:gain in braces", "as in gains={1:1,2:3}", usage=True)
    if pairs[1]:
        given["gain"] = re.sub(r"\s+", "", pairs[1]).replace(":", "=")
    return None


def _scale(word: str, name: str, given: dict[str, Value]) -> str | None:
    """`min_rel` and `max_rel`: the grades whose gains are 0 and 1."""
    if not {"min_rel", "max_rel"} & given.keys():  # done with the other of the two
        return None
    low, high = given.pop("min_rel", 0), given.pop("max_rel", None)
    if not (isinstance(low, int) and isinstance(high, int) and 0 <= low < high <= 100):
        what = "min_rel and max_rel are the grades whose gains are 0 and 1"
        raise InputError(f"'{word}'", what, "as in max_rel=3", usage=True)
    given["gain"] = tuple(max(grade - low, 0) / (high - low) for grade in range(high + 1))
    if name in ("inst", "insq", "nerr10", "nerr11"):
        given["horizon"] = 1000
    if name == "nerr10" and not {"p", "phi"} & given.keys():
        given["phi"] = 0.9
    return None


def _relative(word: str, name: str, given: dict[str, Value]) -> str | None:
    return "set_relative_p" if given.pop("relative") == "True" and name == "set_p" else None


def _normalize(word: str, name: str, given: dict[str, Value]) -> str | None:
    if given.pop("normalize") != "True":
        what = "compatibility is always normalized here, by that of the ideal ranking with itself"
        raise InputError(f"'{word}'", what, "leave out normalize", usage=True)
    return None


def _rel(word: str, name: str, given: dict[str, Value]) -> str | None:
    return "num_rel_ret" if name == "num_ret" else None


def _renamed(measure: str, old: str, new: str) -> Callable[[str, str, dict[str, Value]], str | None]:
    def rename(word: str, name: str, given: dict[str, Value]) -> str | None:
        if name == measure:
            given[new] = given.pop(old)
        return None

    return rename


PARAMETERS: dict[str, Callable[[str, str, dict[str, Value]], str | None]] = {
    "dcg": _dcg,
    "gains": _gains,
    "min_rel": _scale,
    "max_rel": _scale,
    "relative": _relative,
    "normalize": _normalize,
    "rel": _rel,
    "beta": _renamed("set_f", "beta", "x"),
    "p": _renamed("nerr10", "p", "phi"),
}
"""What ir_measures calls a parameter -> a function of the word, the measure here and its parameters, which gives these
the names that they have here. It returns the measure where that is another one.

Each raises InputError (usage) where the parameter says what cannot be said here.
"""
