"""A JSON document topic -> docno -> number as `json` and `orjson` write it -> where its docnos stand, and numbers."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.kernel.trec.blocks import PART, padded_text
from gradedeval.kernel.trec.documents import is_record
from gradedeval.kernel.trec.lines import LONGEST, decode
from gradedeval.kernel.trec.records_alike import BACKSLASH, begin_with, json_numbers
from gradedeval.kernel.trec.stream import Stream
from gradedeval.kernel.trec.text_columns import Text
from gradedeval.kernel.trec.tokenizer import PAD, SPACE, Bytes, tokens

_QUOTE, _OPEN, _CLOSE = 34, ord("{"), ord("}")
_BEGIN = re.compile(rb'\{"[^"]+"(: ?)\{"[^"]+"\1[-+.0-9eE]+\}?(, ?)"')
MOST_OF_BEGIN = 1 << 12
"""Bytes within which the first document ends."""
NAMES = 1 << 14
"""Names that are looked at together, so that the arrays stay in the cache."""


class NestedNumbers(NamedTuple):
    """The documents of such a file, topic after topic.

    topics  the ids, all different
    size    topics: how many documents
    docno   documents: some may be alike
    value   documents: a finite number
    """

    topics: list[bytes]
    size: Ints
    docno: Text
    value: Floats


def nested_numbers(stream: Stream) -> NestedNumbers | None:
    """The documents of a stream; None of any other document, where a name has an escape, or where spaces or lines are
    other than those of the first names."""
    if (begin := _BEGIN.match(stream.peek(MOST_OF_BEGIN))) is None:
        return None
    colon, comma = begin.groups()
    buffer, end = padded_text(stream)
    last = buffer[max(PAD, end - PAD) : end].tobytes()
    end -= len(last) - len(last.rstrip(b" \t\r\n"))
    if not last.rstrip(b" \t\r\n").endswith(b"}}"):
        return None
    # Another topic seems to follow, so that the last document ends as the others do.
    behind = np.frombuffer(comma + b'"', np.uint8)
    buffer[end - 1 : end - 1 + len(behind)] = behind
    end += len(behind) - 1
    if (quotes := _quotes(buffer, end)) is None or len(quotes) % 2 == 0:
        return None
    opens, closes, following = quotes[:-1:2], quotes[1::2], quotes[2::2]
    is_topic = buffer[closes + (1 + len(colon))] == _OPEN
    is_last = np.append(is_topic[1:], True)
    if opens[0] != PAD + 1 or not is_topic[0]:
        return None
    values: list[Floats] = []
    for at in range(0, len(closes), NAMES):
        some = [column[at : at + NAMES] for column in (closes, following, is_topic, is_last)]
        if (found := _values(buffer, colon, comma, *some)) is None:
            return None
        values.append(found)
    return _columns(buffer, opens + 1, closes, is_topic, np.concatenate(values))


def _quotes(buffer: Bytes, end: int) -> NDArray[Any] | None:
    """Where the quotes of a text stand; None where it has escapes or lines."""
    small, quotes = np.int32 if len(buffer) < 1 << 31 else np.int64, []
    for begin in range(PAD, end, PART):
        text = buffer[begin : min(begin + PART, end)]
        if (text < SPACE).any() or (text == BACKSLASH).any():
            return None
        quotes.append((np.flatnonzero(text == _QUOTE) + begin).astype(small))
    return np.concatenate(quotes)


def _values(
    buffer: Bytes, colon: bytes, comma: bytes, close: Ints, following: Ints, is_topic: Bools, is_last: Bools
) -> Floats | None:
    """The numbers of some names that follow each other; None where something else is among them.

    close      where each name ends
    following  where the next one begins
    is_topic   whether an object follows the name
    is_last    whether the next one is of a topic
    """
    close, following = close.astype(np.int64), following.astype(np.int64)
    begin = close + (1 + len(colon))
    topics, documents = np.flatnonzero(is_topic), np.flatnonzero(~is_topic)
    if not begin_with(buffer, close + 1, colon) or (following[topics] != begin[topics] + 1).any():
        return None
    if is_last[topics].any():
        return None
    if not len(documents):
        return np.empty(0)
    start, is_last = begin[documents], is_last[documents]
    stop = following[documents] - len(comma)
    if not begin_with(buffer, stop, comma):
        return None
    stop -= is_last
    if not (buffer[stop[is_last]] == _CLOSE).all() or (stop <= start).any():
        return None
    numbers = json_numbers(buffer, start, stop, buffer[start[0] : stop[-1]], int(start[0]))
    return numbers if numbers is not None and np.isfinite(numbers).all() else None


def _columns(buffer: Bytes, start: Ints, stop: Ints, is_topic: Bools, value: Floats) -> NestedNumbers | None:
    """The documents of names that begin and end at these places."""
    length = stop - start
    first = np.flatnonzero(is_topic)
    topics = tokens(buffer, start[first], stop[first])
    if not length.all() or len(set(topics)) < len(topics) or is_record(dict.fromkeys(map(decode, topics))):
        return None
    size = np.diff(first, append=len(is_topic)) - 1
    docno = Text(buffer, start[~is_topic], length[~is_topic])
    return NestedNumbers(topics, size, docno, value) if docno.length.max() <= LONGEST else None
