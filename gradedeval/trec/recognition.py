"""Which format a file has: plain TREC at a glance, any other by a closer look."""

from __future__ import annotations

from contextlib import closing

from gradedeval.errors import InputError
from gradedeval.trec.file_formats import WholeFile
from gradedeval.trec.lines import MSMARCO, QRELS, RUN, STRATA, LineLayout, decimal, is_trec
from gradedeval.trec.stream import Source, Stream

FIRST = 1 << 12
"""First bytes, which are enough to know a TREC file."""


def format_of(stream: Stream, holds: str, wanted: str | None = None, strata: bool = False) -> LineLayout | WholeFile:
    """The layout of a file, or its format where it has no lines of fields.

    holds   what it should be: run or qrels
    wanted  the format that the user names, as `format_name` spells it
    strata  qrels are of a stratified sample

    What nothing is known of has the layout of TREC, whose reader says what is wrong with it. Raises InputError where
    the file is of no format that is read, or could be of two.
    """
    trec = RUN if holds == "run" else STRATA if strata else QRELS
    if wanted is None:
        head = stream.peek(FIRST)
        if is_trec(head, trec) and not head.startswith(b"PK\x03\x04") and head[257:262] != b"ustar":
            return trec  # and no archive, of which the first line may be one as well
    from gradedeval.trec.first_lines import recognize  # most files are plain TREC

    return recognize(stream, holds, trec, wanted)


def is_certain_run(source: Source) -> bool:
    """Whether the first lines of a file are those of MS MARCO, or its column `score` holds fractions."""
    with closing(Stream(source)) as stream:
        try:
            form = format_of(stream, "run")
        except InputError:
            return False
        if isinstance(form, WholeFile) or form.format == MSMARCO.format:
            return form.format == MSMARCO.format
        at = form.position("score") if form.format in ("beir", "tsv", "csv", "headed") else None
        lines = stream.peek(FIRST)[form.skip :].split(b"\n")[:-1]
    return at is not None and any(decimal(fields[at]) % 1 for line in lines if len(fields := form.split(line)) > at)
