"""Words that stand for grades: NTCIR's L0, L1, L2, and those that the user names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from gradedeval.errors import InputError, plural
from gradedeval.trec.lines import decimal, decode

_NTCIR = re.compile(rb"L(\d+)")
_PLAIN = re.compile("[\\w+.,=…-]+")  # what no shell takes for its own


def grade_of(token: bytes, labels: Mapping[bytes, float] | None) -> float:
    """The grade that a token says: that of its label, the number that it is, or the digits of NTCIR's L2; nan where it
    says none."""
    if labels is not None and token in labels:
        return labels[token]
    grade = decimal(token)
    ntcir = _NTCIR.fullmatch(token) if grade != grade else None
    return float(ntcir[1]) if ntcir else grade


def check_labels(
    place: str, found: Iterable[bytes], labels: Mapping[bytes, float] | None, lines: Mapping[bytes, int]
) -> None:
    """Raise InputError where grades are words and some of them have no number.

    found   all tokens that say a grade
    labels  those that the user names; without them a few bad tokens among numbers are errors of their lines
    lines   token -> its first line, or 0
    """
    tokens = sorted(set(found))
    unknown = [token for token in tokens if math.isnan(grade_of(token, labels))]
    words = [token for token in unknown if not _is_number(token)]
    named = {token: grade_of(token, labels) for token in tokens if token in words or not _is_number(token)}
    if not words or (labels is None and len(unknown) < len(tokens) and len(named) == len(words)):
        return
    first = min(words, key=lambda token: lines[token])
    pairs = ",".join(f"{decode(token)}={'…' if math.isnan(of) else f'{of:g}'}" for token, of in named.items())
    pairs = pairs if _PLAIN.fullmatch(pairs) else f"'{pairs}'"
    what = f"grade '{decode(first)}' is a word"
    hint = f"the labels found are {', '.join(map(decode, tokens))}: give each a grade, as in --labels {pairs}"
    raise InputError(f"{place}:{lines[first]}" if lines[first] else place, what, hint, kind="label")


def unused_labels(place: str, found: Iterable[bytes], labels: Mapping[bytes, float]) -> list[str]:
    """The note on labels that the user names and no judgment has: a list of none or one."""
    unused = sorted(labels.keys() - set(found))
    named = ", ".join(map(decode, unused))
    return [f"{place}: no judgment has the {plural(len(unused), 'label')} {named} of --labels"] if unused else []


def _is_number(token: bytes) -> bool:
    """Whether this is a number, if not a finite one."""
    try:
        float(token)
    except ValueError:
        return False
    return True
