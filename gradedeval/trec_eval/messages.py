"""Errors and notes of the package with hints that trec_eval's command line has: it lacks most of our options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradedeval.errors import InputError, Note

HINTS = {
    "missing-topics": "without -c they are left out",
    "duplicate-document": "give each document once",
    "duplicate-judgment": "give each judgment once",
    "no-positive-grade": "are these the right qrels?",
    "swapped-files": "the order is QRELS RUN...: are they swapped?",
}
"""Kind of an error or a note -> its hint here."""


def adapt_note(note: str) -> str:
    """The note with a hint that this command line can follow."""
    return note.with_hint(HINTS[note.kind]) if isinstance(note, Note) and note.hint and note.kind in HINTS else note


def _adapt(error: InputError) -> InputError:
    return error.replace(hint=HINTS.get(error.kind, error.hint), also=[_adapt(other) for other in error.also])


@contextmanager
def adapted_errors() -> Iterator[None]:
    """Errors raised inside leave with hints that this command line can follow."""
    try:
        yield
    except InputError as error:
        raise _adapt(error) from None
