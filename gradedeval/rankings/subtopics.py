"""Judgements by subtopic -> one code a document: which grades it has for which of its topic's intents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gradedeval.arrays import Floats

NO_INTENT = b"0"
"""The subtopic of judgements for the topic as a whole: no intent."""

Profile = tuple[float, tuple[tuple[int, float], ...]]
"""A document's highest grade, and its grade for each of its topic's intents, by their number, for which it has one."""


@dataclass(frozen=True, eq=False)
class Subtopics:
    """What the codes of documents judged by subtopic mean. An intent's number counts within its topic.

    names  topic -> the subtopics that are intents, in order
    grade  intents × codes: the grade for the intent; 0 where no line gives one: who judged a document for one intent
           did not find it relevant to the others
    """

    names: dict[bytes, list[bytes]]
    grade: Floats

    def digest(self, codes: str) -> str:
        """Six hexadecimal digits that change with any judgement; `codes` does with that of any code."""
        from hashlib import sha256

        names = sorted((topic, *subtopics) for topic, subtopics in self.names.items())
        return sha256(f"{codes} {names}".encode()).hexdigest()[:6]

    def marks(self, labels: Floats) -> Floats:
        """codes: a number that tells each from all others, in any file."""
        from hashlib import sha256

        columns = zip(labels.tolist(), self.grade.T.tolist(), strict=True)
        return np.array([int(sha256(_said(*one)).hexdigest()[:12], 16) for one in columns], dtype=np.float64)


def _said(label: float, grades: list[float]) -> bytes:
    while grades and not grades[-1]:
        grades.pop()
    return f"{label + 0.0} {[grade + 0.0 for grade in grades]}".encode()


def by_subtopic(
    graded: Mapping[bytes, Mapping[tuple[bytes, bytes], float]],
) -> tuple[dict[bytes, dict[bytes, int]], Floats, Subtopics]:
    """Codes from grades by topic and (docno, subtopic): topic -> docno -> code; codes: the highest grade of such a
    document, ascending, equal ones by what they add up to; and what the codes mean."""
    names = {
        topic: sorted({subtopic for _, subtopic in grades} - {NO_INTENT}, key=lambda name: (len(name), name))
        for topic, grades in graded.items()
    }
    profiles = {topic: _profiles(grades, names[topic]) for topic, grades in graded.items()}
    distinct = {profile for documents in profiles.values() for profile in documents.values()}
    ordered = sorted(distinct, key=lambda profile: (profile[0], sum(grade for _, grade in profile[1]), profile[1]))
    code = {profile: at for at, profile in enumerate(ordered)}
    grade = np.zeros((max([1, *map(len, names.values())]), len(ordered)))
    for profile, at in code.items():
        for intent, value in profile[1]:
            grade[intent, at] = value
    codes = {
        topic: {docno: code[profile] for docno, profile in documents.items()} for topic, documents in profiles.items()
    }
    return codes, np.array([label for label, _ in ordered]), Subtopics(names, grade)


def _profiles(grades: Mapping[tuple[bytes, bytes], float], names: list[bytes]) -> dict[bytes, Profile]:
    number = {subtopic: at for at, subtopic in enumerate(names)}
    found: dict[bytes, tuple[float, list[tuple[int, float]]]] = {}
    for (docno, subtopic), grade in grades.items():
        highest, own = found.get(docno, (grade, []))
        if subtopic != NO_INTENT:
            own.append((number[subtopic], grade))
        found[docno] = (max(highest, grade), own)
    return {docno: (highest, tuple(sorted(own))) for docno, (highest, own) in found.items()}
