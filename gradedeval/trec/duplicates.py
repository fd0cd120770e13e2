"""The one rule for what stands in a file twice: documents of a topic, judgments, ranks of a table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from gradedeval.trec.lines import decode

Key = TypeVar("Key", bound=Hashable)

KEEP_ONE = "use --duplicates first or last to keep one"


def settle_duplicates(keys: Iterable[Key], policy: str, repeated: Callable[[int, int], None]) -> dict[Key, int]:
    """key -> the position that counts, in order of first appearance: the last one by the policy `last`, or the first.

    repeated  is called with the position of each repeated key and the position that counted so far: it decides whether
              that is an error or worth a note
    """
    chosen: dict[Key, int] = {}
    for position, key in enumerate(keys):
        before = chosen.setdefault(key, position)
        if before != position:
            repeated(position, before)
            if policy == "last":
                chosen[key] = position
    return chosen


def duplicate(what: str, line: int, details: str = "") -> str:
    """The problem of something that stands twice, first on a line."""
    return f"duplicate {what} (first on line {line}{details})"


def document(docno: bytes | str, topic: bytes) -> str:
    """How messages name a document of a topic."""
    return f"document '{docno if isinstance(docno, str) else decode(docno)}' in topic {decode(topic)}"
