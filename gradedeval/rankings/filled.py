"""Qrels beside which documents that nobody judged have gains: each gain is a code of its own, past the labels."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, plural
from gradedeval.options.definition import Fill
from gradedeval.rankings.qrels import Qrels

DIGITS = 6
"""Gains are rounded to these digits."""


def filled(qrels: Qrels, fill: Fill) -> tuple[Qrels, Floats, list[str]]:
    """The qrels in which documents that are filled have a code, and no grade: the label of such a code is nan, and no
    document of the pool has one. Also the gain of each of these codes, and notes.

    A document that is judged keeps its grade. Raises InputError (usage) for qrels with subtopics or strata, whose
    documents have no single gain.
    """
    for name in ("subtopics", "strata"):
        if getattr(qrels, name) is not None:
            raise InputError("--fill", f"cannot be combined with --{name}", "leave out one of them", usage=True)
    gains = sorted({round(gain, DIGITS) for documents in fill.of.values() for gain in documents.values()})
    code_of = {gain: code for code, gain in enumerate(gains, len(qrels.labels))}
    codes, judged, strange = dict(qrels.codes), 0, 0
    for topic, documents in fill.of.items():
        if topic not in codes:
            strange += len(documents)
            continue
        known = codes[topic]
        unjudged = {docno: code_of[round(gain, DIGITS)] for docno, gain in documents.items() if docno not in known}
        judged += len(documents) - len(unjudged)
        codes[topic] = {**known, **unjudged}
    notes = []
    for number, one, many in (
        (judged, "has a grade, and keeps it", "have a grade, and keep it"),
        (strange, "is of a topic that is not judged", "are of topics that are not judged"),
    ):
        if number:
            what = one if number == 1 else many
            notes.append(f"{fill.place}: {number} of {fill.count} {plural(fill.count, 'document')} {what}")
    other = copy(qrels)
    # What was worked out from the codes that it had.
    for name in ("_judged", "_text_codes", "_pools", "codes"):
        other.__dict__.pop(name, None)
    other.codes = codes
    other.labels = np.append(qrels.labels, np.full(len(gains), np.nan))
    other.counts = replace(qrels.counts, labels=len(other.labels))
    other._scorers = {}
    return other, np.array(gains), notes
