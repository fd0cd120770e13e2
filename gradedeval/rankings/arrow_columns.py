"""DataFrames whose text Arrow holds: the bytes of ids as columns, as in a file. No string is made of an id.

What is unusual, wrong included, is left to `frames`, which has the words for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.rankings.docno_index import Index, surely_distinct
from gradedeval.rankings.frames import held
from gradedeval.rankings.qrels_columns import JudgmentColumns, coded
from gradedeval.rankings.topic_codes import TopicCodes
from gradedeval.trec.column_names import DOCNO, GRADE, TOPIC, find_column, find_grades
from gradedeval.trec.swar import PAD, Bytes, Words, gather, hashes, padded, run_starts, tokens, words_at


class Text(NamedTuple):
    """A column of ids: a buffer, and where in it each begins, and how long it is."""

    buffer: Bytes
    start: Ints
    length: Ints

    def stretches(self) -> tuple[list[bytes], Ints]:
        """The id of each stretch of rows with one id, and how many rows it has."""
        first = run_starts(gather(words_at(self.buffer), self.start), self.length)
        begin = self.start[first]
        return tokens(self.buffer, begin, begin + self.length[first]), np.diff(first, append=len(self.start))

    def hashes(self) -> Words:
        """rows: the hash of the id."""
        return hashes(gather(words_at(self.buffer), self.start), self.length)


def id_columns(source: Any, what: str) -> tuple[Text, Text] | None:
    """The topics and docnos of a DataFrame whose text Arrow holds; None of any other."""
    names = getattr(source, "columns", ())  # a Series has none
    if any(find_column(names, known) is None for known in (TOPIC, DOCNO)):
        return None
    if (topic := _text(held(source, TOPIC, what))) is None or (docno := _text(held(source, DOCNO, what))) is None:
        return None
    return topic, docno


def arrow_judgments(source: Any, what: str) -> JudgmentColumns | None:
    """The judgments in a DataFrame whose text Arrow holds; None of any other, and where a document comes again."""
    if (ids := id_columns(source, what)) is None or find_grades(source.columns) is None:
        return None
    grade = numeric_column(held(source, GRADE, what))
    if grade is None or (grade % 1).any():  # fractions may be scores
        return None
    (topic, docno), topics = ids, TopicCodes()
    names, size = topic.stretches()
    number, hashed = np.repeat(topics.numbers(names), size).astype(np.int32), docno.hashes()
    if not surely_distinct(number, len(topics.names), hashed):
        return None
    index = Index(docno.buffer, docno.start, docno.length, number, hashed, len(topics.names))
    return JudgmentColumns(topics.names, *coded(grade), index)


def _text(column: Any) -> Text | None:
    """A column of text in Arrow; None where it is anything else, or a value is missing or empty."""
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "storage", "") != "pyarrow" and not hasattr(dtype, "pyarrow_dtype"):
        return None
    values = column.array.__arrow_array__()
    values = values.combine_chunks() if hasattr(values, "combine_chunks") else values
    wide = {"string": np.int32, "large_string": np.int64}.get(str(values.type))
    if wide is None or not hasattr(values, "buffers") or values.null_count or not len(values):
        return None
    _, offsets, data = values.buffers()
    end = np.frombuffer(offsets, wide)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    length = np.diff(end)
    if not length.all():
        return None
    size = int(end[-1] - end[0])
    buffer = padded(size)
    buffer[PAD : PAD + size] = np.frombuffer(data, np.uint8)[end[0] : end[-1]]
    return Text(buffer, end[:-1] + (PAD - end[0]), length)


def numeric_column(column: Any) -> Floats | None:
    """A column of finite numbers that NumPy holds; None of any other."""
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "fiu":
        return None
    numbers = column.to_numpy(np.float64)
    return numbers if np.isfinite(numbers).all() else None
