"""Files beside the qrels: judgments by subtopic, and the strata of a sampled pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError
from gradedeval.trec.lines import decode, document

# Judgments by subtopic -> one code per document: its grades for the intents of its topic.


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


# Judgments of a stratified sample -> one code per document: its grade and its stratum.


@dataclass(frozen=True, eq=False, repr=False)
class Strata:
    """The strata that documents were sampled from: their names, and codes: the number of each one's."""

    names: list[bytes]
    of: Ints

    def marks(self, labels: Floats) -> Floats:
        """codes: a number that depends only on the label and the stratum's name, in any file."""
        named = np.array([crc32(name) for name in self.names], dtype=np.float64)
        return labels * 2.0**33 + named[self.of]


def by_stratum(
    graded: Mapping[bytes, Mapping[tuple[bytes, bytes], float]], place: str
) -> tuple[dict[bytes, dict[bytes, int]], Floats, Strata]:
    """Codes from grades by topic and (docno, stratum): topic -> docno -> code; the grade of each code, ascending; and
    the strata. Raises InputError where a document is in two strata of its topic."""
    kinds = {(grade, stratum) for documents in graded.values() for (_, stratum), grade in documents.items()}
    names = sorted({stratum for _, stratum in kinds}, key=lambda name: (len(name), name))
    ordered = sorted(kinds, key=lambda kind: (kind[0], names.index(kind[1])))
    code = {kind: number for number, kind in enumerate(ordered)}
    codes: dict[bytes, dict[bytes, int]] = {}
    for topic, documents in graded.items():
        own = codes[topic] = {docno: code[grade, stratum] for (docno, stratum), grade in documents.items()}
        if len(own) < len(documents):
            docnos = [docno for docno, _ in documents]
            twice = next(docno for position, docno in enumerate(docnos) if docno in docnos[:position])
            both = " and ".join(decode(stratum) for docno, stratum in documents if docno == twice)
            raise InputError(place, f"{document(twice, topic)} is in strata {both}", "a document is of one stratum")
    of = np.array([names.index(stratum) for _, stratum in ordered], dtype=np.int64)
    return codes, np.array([grade for grade, _ in ordered]) + 0.0, Strata(names, of)
