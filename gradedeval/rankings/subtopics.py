"""Judgments by subtopic -> one code per document: its grades for the intents of its topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gradedeval.arrays import Floats

NO_INTENT = b"0"
"""The subtopic of judgments for the topic as a whole, which is not an intent."""

Profile = tuple[float, tuple[tuple[int, float], ...]]
"""A document's highest grade, and (number of an intent, grade) for every intent that it is judged for."""


@dataclass(frozen=True, eq=False, repr=False)
class Subtopics:
    """What the codes of documents judged by subtopic mean. Intents are numbered within their topic.

    names  topic -> the subtopics that are intents, in order
    grade  intents × codes: the grade for the intent; 0 where no line gives one, because an assessor who judged the
           document for one intent did not find it relevant to the others
    """

    names: dict[bytes, list[bytes]]
    grade: Floats

    def digest(self, codes: str) -> str:
        """Six hexadecimal digits that change with any judgment; `codes`: those of the codes."""
        from hashlib import sha256

        names = sorted((topic, *subtopics) for topic, subtopics in self.names.items())
        return sha256(f"{codes} {names}".encode()).hexdigest()[:6]

    def marks(self, labels: Floats) -> Floats:
        """codes: a number that depends only on the label and the grades, in any file."""
        from hashlib import sha256

        columns = zip(labels.tolist(), self.grade.T.tolist(), strict=True)
        return np.array([int(sha256(_canonical(*column)).hexdigest()[:12], 16) for column in columns], dtype=np.float64)


def _canonical(label: float, grades: list[float]) -> bytes:
    while grades and not grades[-1]:
        grades.pop()
    return f"{label + 0.0} {[grade + 0.0 for grade in grades]}".encode()


def by_subtopic(
    graded: Mapping[bytes, Mapping[tuple[bytes, bytes], float]],
) -> tuple[dict[bytes, dict[bytes, int]], Floats, Subtopics]:
    """Codes from grades by topic and (docno, subtopic): topic -> docno -> code; the highest grade of each code,
    ascending, equal ones by the sum of grades; and what the codes mean."""
    names = {
        topic: sorted({subtopic for _, subtopic in grades} - {NO_INTENT}, key=lambda name: (len(name), name))
        for topic, grades in graded.items()
    }
    profiles = {topic: _profiles(grades, names[topic]) for topic, grades in graded.items()}
    distinct = {profile for documents in profiles.values() for profile in documents.values()}
    ordered = sorted(distinct, key=lambda profile: (profile[0], sum(grade for _, grade in profile[1]), profile[1]))
    code = {profile: number for number, profile in enumerate(ordered)}
    grade = np.zeros((max([1, *map(len, names.values())]), len(ordered)))
    for profile, column in code.items():
        for intent, value in profile[1]:
            grade[intent, column] = value
    codes = {
        topic: {docno: code[profile] for docno, profile in documents.items()} for topic, documents in profiles.items()
    }
    return codes, np.array([label for label, _ in ordered]), Subtopics(names, grade)


def _profiles(grades: Mapping[tuple[bytes, bytes], float], names: list[bytes]) -> dict[bytes, Profile]:
    number = {subtopic: intent for intent, subtopic in enumerate(names)}
    profiles: dict[bytes, tuple[float, list[tuple[int, float]]]] = {}
    for (docno, subtopic), grade in grades.items():
        highest, grades_of = profiles.get(docno, (grade, []))
        if subtopic != NO_INTENT:
            grades_of.append((number[subtopic], grade))
        profiles[docno] = (max(highest, grade), grades_of)
    return {docno: (highest, tuple(sorted(grades_of))) for docno, (highest, grades_of) in profiles.items()}
