"""Messages whose cure is an option of ours that trec_eval has not: what its own command line has instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradedeval.errors import InputError

CURES = {
    "--topics both leaves them out": "without -c they are left out",
    "--duplicates first or last keeps one": "give it once",
    "--top-grade N says what the top grade is": "are these the right qrels?",
}


def in_its_words(message: str) -> str:
    """A message with cures that trec_eval's command line has."""
    for ours, its in CURES.items():
        message = message.replace(ours, its)
    return message


def _translated(error: InputError) -> InputError:
    return InputError(
        error.place,
        in_its_words(error.problem),
        in_its_words(error.hint),
        usage=error.usage,
        also=[_translated(one) for one in error.also],
        beyond=error.beyond,
    )


@contextmanager
def faults_in_its_words() -> Iterator[None]:
    """Faults that come out of here have cures that trec_eval's command line has."""
    try:
        yield
    except InputError as error:
        raise _translated(error) from None
