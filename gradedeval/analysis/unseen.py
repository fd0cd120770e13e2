"""Documents that no run retrieved: whether scores depend on them, and what is taken for granted of them."""

from __future__ import annotations

from collections.abc import Iterable

from gradedeval.errors import InputError, Note
from gradedeval.measures.bounds.of_measure import falls
from gradedeval.measures.parse import parse_measures
from gradedeval.options import Options
from gradedeval.scoring.measure_notes import unseen_note

IF_JUDGED = "if fully judged"
"""The heading of what becomes of the order of two runs once all their documents are judged."""


def depends_on_unseen(notation: str) -> bool:
    """Whether a document that was not retrieved lowers a score by a measure where it is relevant: of what is divided by
    the number of relevant documents, or by the ideal ranking."""
    try:
        (measure,) = parse_measures(notation)
    except (InputError, ValueError):  # a measure of the user's own
        return True
    return falls(measure)


def unseen_notes(notations: Iterable[tuple[str, str]], options: Options | None) -> list[Note]:
    """A note where the order of two runs, once all is judged, is said of measures that depend on further documents.

    notations  what each measure is called, and its notation
    options    of the evaluation; None of saved scores
    """
    names = [label for label, notation in notations if depends_on_unseen(notation)]
    if options is None or options.unseen is not None or not names:
        return []
    return [unseen_note(", ".join(names), "neither run retrieved")]
