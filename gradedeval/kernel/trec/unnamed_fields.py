"""Tell what the fields of lines without names hold."""

from __future__ import annotations

from itertools import pairwise

from gradedeval.kernel.trec.lines import QRELS, decimal

HIGHEST_GRADE = 1000
"""Larger numbers are taken for docnos if grades may be missing."""


def are_docnos(rows: list[list[bytes]]) -> bool:
    """Return whether the last of three fields cannot be grades or labels of a document named by the second."""
    repeated = len({row[0] for row in rows}) < len(rows)  # if these were topic and docno: judged more than once
    distinct = len({row[2] for row in rows}) == len(rows)
    return (repeated or distinct) and any(not decimal(row[2]) <= HIGHEST_GRADE for row in rows)


def scores_rise(rows: list[list[bytes]]) -> bool:
    """Return whether MS MARCO scores increase with the rank in every topic, as distances do."""
    pairs = [(previous, row) for previous, row in pairwise(rows) if previous[0] == row[0]]
    return all(decimal(previous[3]) < decimal(row[3]) for previous, row in pairs)


def are_scores(rows: list[list[bytes]]) -> bool:
    """Return whether the last of three fields has fractions and increases in no topic: so it is a score."""
    pairs = [(previous, row) for previous, row in pairwise(rows) if previous[0] == row[0]]
    falls = all(decimal(previous[2]) >= decimal(row[2]) for previous, row in pairs)
    return falls and any(decimal(row[2]) % 1 for row in rows)


def has_grades_for_docnos(rows: list[list[bytes]]) -> bool:
    """Return whether qrels seem to be 'topic docno grade iteration', as ir_datasets exports them: one-digit grades with
    fewer values than the names before them, followed by a constant."""
    if {len(row) for row in rows} != {QRELS.width}:
        return False
    _, names, grades, last = (set(column) for column in zip(*rows, strict=True))
    are_names = len(names) > len(grades) and any(len(name) > 2 or not name.isdigit() for name in names)
    return are_names and len(last) == 1 and all(grade.isdigit() and len(grade) == 1 for grade in grades)


def has_docnos(rows: list[list[bytes]]) -> bool:
    """Return whether the second field may be a docno: not an iteration or Q0."""
    second = {row[1] for row in rows}
    return len(second) > 1 or not second & {b"0", b"1", b"Q0"}


def follows(previous: bytes, rank: bytes) -> bool:
    """Return whether a rank is the one after another."""
    return previous.isdigit() and rank.isdigit() and len(rank) < 20 and int(rank) == int(previous[:20]) + 1
