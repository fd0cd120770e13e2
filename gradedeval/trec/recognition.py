"""Which format a file has: plain TREC at a glance, any other by a closer look."""

from __future__ import annotations

from gradedeval.trec.file_formats import Document
from gradedeval.trec.layouts import QRELS, RUN, STRATA, Layout
from gradedeval.trec.lines import NeedsLineReader, is_trec
from gradedeval.trec.stream import Stream

FIRST = 1 << 12
"""First bytes, which are enough to know a TREC file."""


def format_of(stream: Stream, holds: str, wanted: str | None = None, strata: bool = False) -> Layout | Document:
    """The layout of a file, or its format where it has no lines of fields.

    holds   what it should be: run or qrels
    wanted  the format that the user names, as `format_name` spells it
    strata  qrels are of a stratified sample

    What nothing is known of has the layout of TREC, whose reader says what is wrong with it. Raises InputError where
    the file is of no format that is read, or could be of two.
    """
    trec = RUN if holds == "run" else STRATA if strata else QRELS
    if wanted is None:
        try:
            if is_trec(stream.peek(FIRST), trec):
                return trec
        except NeedsLineReader:  # broken compressed data, which the line reader reports
            return trec
    from gradedeval.trec.first_lines import recognize  # most files are plain TREC

    return recognize(stream, holds, trec, wanted)
