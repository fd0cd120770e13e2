"""Files read as a whole -> a table or nested dicts; with `--lenient`, without bad rows and entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gradedeval.errors import InputError
from gradedeval.kernel.parallel import raise_malloc_threshold
from gradedeval.kernel.rankings import in_memory
from gradedeval.kernel.rankings.labels import GradeOfWord
from gradedeval.kernel.trec import file_formats
from gradedeval.kernel.trec.documents import read_document
from gradedeval.kernel.trec.file_formats import DOCNO, TOPIC, TableColumns
from gradedeval.kernel.trec.line_reader import Skipped
from gradedeval.kernel.trec.lines import WholeFile
from gradedeval.kernel.trec.stream import Stream


def read_whole(
    form: WholeFile,
    stream: Stream,
    kind: str,
    lenient: bool,
    labels: GradeOfWord,
    notes: list[str],
    report: Callable[[InputError, int | str], None] | None = None,
) -> tuple[str, Any]:
    """Return the format of a file, and its content, as `in_memory` reads it.

    form    its format, and names of fields that the user gave
    kind    "run" or "qrels"
    labels  label -> grade
    notes   notes on skipped entries are appended
    report  as of `Skipped`

    Raises InputError as `read_document` does, and if nothing is left.
    """
    raise_malloc_threshold()
    skipped = Skipped(stream.place, lenient, report=report)
    format, content = read_document(form, stream, kind, skipped)
    content = _without_bad(content, kind, skipped, labels) if lenient else content
    notes += skipped.notes
    return format, content


def _without_bad(content: Any, source_kind: str, skipped: Skipped, labels: GradeOfWord) -> Any:
    """Remove entries with a bad id or number from the content of a file, and count them."""
    count_before = skipped.count
    source = in_memory.readable(_listed_ids(content, skipped), source_kind, skipped.place)

    def value(entry: Any) -> float:
        return in_memory.number(entry, "", "score") if source_kind == "run" else in_memory.grade(entry, "", labels)

    good = (
        _entries(source, value, skipped) if isinstance(source, Mapping) else _rows(source, source_kind, value, skipped)
    )
    if skipped.count == count_before:
        return source
    if not good:
        problem = f"no {'documents' if source_kind == 'run' else 'judgments'}"
        raise InputError(
            skipped.place, f"{problem} ({skipped.count} bad skipped)", "write the file again", kind="empty"
        )
    if isinstance(good, TableColumns) and isinstance(source, TableColumns):
        return replace(good, note=source.note, bare=source.bare, numbered=source.numbered)
    return good


def _listed_ids(content: Any, skipped: Skipped) -> Any:
    """Remove list entries without a docno, and count them."""
    if not isinstance(content, Mapping) or not any(isinstance(documents, list) for documents in content.values()):
        return content
    good = dict(content)
    for topic, documents in content.items():
        if isinstance(documents, list):
            good[topic] = [entry for entry in documents if not in_memory.is_missing(in_memory.listed_docno(entry))]
            for _ in range(len(documents) - len(good[topic])):
                skipped.add(InputError(skipped.place, "no docno"), f"topic '{topic}'")
    return good


def _entries(nested: Mapping[Any, Any], value: Callable[[Any], float], skipped: Skipped) -> dict[Any, dict[Any, Any]]:
    good: dict[Any, dict[Any, Any]] = {}
    skipped.unit = "entry"
    for topic, documents in nested.items():
        try:
            listed = in_memory.documents_of(documents, "", topic)
        except InputError as error:
            skipped.add(error, f"topic '{topic}'")
            continue
        if not listed:  # nothing was returned
            good.setdefault(topic, {})
        for docno, entry in listed.items():
            try:
                in_memory.ident(topic, "", "topic")
                in_memory.ident(docno, "", "docno")
                if not isinstance(entry, Mapping):  # by intent or stratum: checked later
                    value(entry)
            except InputError as error:
                skipped.add(error, f"document '{docno}' of topic '{topic}'")
            else:
                good.setdefault(topic, {})[docno] = entry
    return good


def _rows(table: Any, kind: str, value: Callable[[Any], float], skipped: Skipped) -> TableColumns | None:
    names = list(table.columns)
    valued = file_formats.find_value(names, kind)
    needed = file_formats.find_column(names, TOPIC), file_formats.find_column(names, DOCNO), valued
    if None in needed:
        return TableColumns.of(
            {name: table[name].tolist() for name in names}
        )  # a later step reports the missing column
    lines, good_rows = in_memory.lines_of(table), []
    columns = [table[name].tolist() for name in needed]
    for row, (topic, docno, entry) in enumerate(zip(*columns, strict=True)):
        try:
            in_memory.ident(topic, "", "topic")
            in_memory.ident(docno, "", "docno")
            value(entry)
        except InputError as error:
            skipped.add(error, lines[row])
        else:
            good_rows.append(row)
    columns_left = {
        name: [values[row] for row in good_rows] for name, values in ((name, table[name].tolist()) for name in names)
    }
    return TableColumns.of(columns_left, [lines[row] for row in good_rows]) if good_rows else None
