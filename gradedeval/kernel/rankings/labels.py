"""Give the labels of judgments their grades: NTCIR's L0, L1, L2, and the user's."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from gradedeval.errors import InputError, Note, flag, plural, shorten
from gradedeval.kernel.trec.lines import decimal, decode

GradeOfWord = Mapping[bytes, float] | None
"""Label -> grade."""

_NTCIR = rb"L(\d+)"

SHOWN = 5
"""Maximum labels listed in a message."""

_PLAIN = "[\\w+.,=…-]+"  # needs no quotes in a shell


def grade_of(token: bytes, labels: Mapping[bytes, float] | None) -> float:
    """Return the grade of a token: its label's, its number, or the digits of NTCIR's L2; nan if it has none."""
    if labels is not None and token in labels:
        return labels[token]
    grade = decimal(token)
    ntcir = re.fullmatch(_NTCIR, token) if grade != grade else None
    return float(ntcir[1]) if ntcir else grade


def check_labels(
    place: str, tokens_found: Iterable[bytes], labels: Mapping[bytes, float] | None, lines: Mapping[bytes, int]
) -> None:
    """Raise InputError if grades are words and some of them have no number.

    tokens_found  all grade tokens
    labels        label -> grade; None: a few bad tokens among numbers are errors of their lines
    lines         token -> its first line, or 0
    """
    tokens = sorted(set(tokens_found))
    unknown = [token for token in tokens if math.isnan(grade_of(token, labels))]
    words = [token for token in unknown if not _is_number(token)]
    named = {token: grade_of(token, labels) for token in tokens if token in words or not _is_number(token)}
    if not words or (labels is None and len(unknown) < len(tokens) and len(named) == len(words)):
        return
    first = min(words, key=lambda token: lines[token])
    pairs = ",".join(
        f"{decode(label)}={'…' if math.isnan(named[label]) else f'{named[label]:g}'}" for label in [*named][:SHOWN]
    )
    pairs += ",…" if len(named) > SHOWN else ""
    pairs = pairs if re.fullmatch(_PLAIN, pairs) else f"'{pairs}'"
    problem = f"grade '{decode(first)}' is a word"
    hint = f"the labels found are {shorten(map(decode, tokens), SHOWN)}: give each a grade, as in {flag.labels:{pairs}}"
    raise InputError(f"{place}:{lines[first]}" if lines[first] else place, problem, hint, kind="label")


UNUSED_LABELS = "unused-labels"
"""The kind of the note on labels without a judgment."""


def lacking_labels(place: str, tokens_found: Iterable[bytes], labels: Mapping[bytes, float]) -> list[str]:
    """Return the note on labels without a judgment, given all grade tokens: a list of none or one."""
    return unused_labels(place, map(decode, labels.keys() - set(tokens_found)))


def unused_labels(place: str, labels: Iterable[str]) -> list[str]:
    """Return the note on labels without a judgment: a list of none or one."""
    unused = sorted(labels)
    problem = f"{place}: no judgment has the {plural(len(unused), 'label')} {', '.join(unused)} of {flag.labels}"
    return [Note(problem, kind=UNUSED_LABELS, about=unused)] if unused else []


def _is_number(token: bytes) -> bool:
    """Check for a number, which may be infinite or nan."""
    try:
        float(token)
    except ValueError:
        return False
    return True
