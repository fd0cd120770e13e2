"""Judgments of a stratified sample -> one code per document: its grade and its stratum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError
from gradedeval.trec.duplicates import document
from gradedeval.trec.lines import decode


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
