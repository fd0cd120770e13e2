"""Files that are read whole -> a table or nested dicts; with `--lenient` without the rows and entries that are bad."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradedeval.errors import InputError
from gradedeval.kernel.parallel import raise_malloc_threshold
from gradedeval.kernel.rankings.in_memory import (
    GradeOfWord,
    grade,
    ident,
    inner,
    is_missing,
    lines_of,
    listed_docno,
    number,
    readable,
)
from gradedeval.kernel.trec.documents import read_document
from gradedeval.kernel.trec.file_formats import DOCNO, RANK, SCORE, TOPIC, TableColumns, find_column, find_grades
from gradedeval.kernel.trec.line_reader import Skipped
from gradedeval.kernel.trec.stream import Stream


def read_whole(
    format: str,
    stream: Stream,
    what: str,
    lenient: bool,
    labels: GradeOfWord,
    notes: list[str],
    report: Callable[[InputError, int | str], None] | None = None,
) -> tuple[str, Any]:
    """The format of a file, and its content, as `objects` reads it.

    what    "run" or "qrels"
    labels  words that stand for grades
    notes   what was skipped is added to these
    report  as of `Skipped`

    Raises InputError as `read_document` does, and where nothing is left.
    """
    raise_malloc_threshold()
    skipped = Skipped(stream.place, lenient, report=report)
    format, content = read_document(format, stream, skipped)
    content = _without_bad(content, what, skipped, labels) if lenient else content
    notes += skipped.notes
    return format, content


def _without_bad(content: Any, what: str, skipped: Skipped, labels: GradeOfWord) -> Any:
    """The content of a file without what is neither an id nor a number; that is counted."""
    before = skipped.count
    source = readable(_listed_ids(content, skipped), what, skipped.place)

    def value(one: Any) -> float:
        return number(one, "", "score") if what == "run" else grade(one, "", labels)

    kept = _entries(source, value, skipped) if isinstance(source, Mapping) else _rows(source, what, value, skipped)
    if not kept:
        bad = f"no {'documents' if what == 'run' else 'judgments'}"
        raise InputError(skipped.place, f"{bad} ({skipped.count} bad skipped)", "write the file again", kind="empty")
    return source if skipped.count == before else kept


def _listed_ids(content: Any, skipped: Skipped) -> Any:
    """The content without the entries of its lists that lack a docno; those are counted."""
    if not isinstance(content, Mapping) or not any(isinstance(documents, list) for documents in content.values()):
        return content
    kept = dict(content)
    for topic, documents in content.items():
        if isinstance(documents, list):
            kept[topic] = [one for one in documents if not is_missing(listed_docno(one))]
            for _ in range(len(documents) - len(kept[topic])):
                skipped.add(InputError(skipped.place, "no docno"), f"topic '{topic}'")
    return kept


def _entries(nested: Mapping[Any, Any], value: Callable[[Any], float], skipped: Skipped) -> dict[Any, dict[Any, Any]]:
    kept: dict[Any, dict[Any, Any]] = {}
    skipped.unit = "entry"
    for topic, documents in nested.items():
        try:
            listed = inner(documents, "", topic)
        except InputError as error:
            skipped.add(error, f"topic '{topic}'")
            continue
        for docno, one in listed.items():
            try:
                ident(topic, "", "topic")
                ident(docno, "", "docno")
                if not isinstance(one, Mapping):  # by intent or stratum: each is looked at later
                    value(one)
            except InputError as error:
                skipped.add(error, f"document '{docno}' of topic '{topic}'")
            else:
                kept.setdefault(topic, {})[docno] = one
    return kept


def _rows(table: Any, what: str, value: Callable[[Any], float], skipped: Skipped) -> TableColumns | None:
    names = list(table.columns)
    valued = find_grades(names) if what == "qrels" else find_column(names, SCORE) or find_column(names, RANK)
    needed = find_column(names, TOPIC), find_column(names, DOCNO), valued
    if None in needed:
        return TableColumns.of({name: table[name].tolist() for name in names})  # the error of a column that is missing
    lines, good = lines_of(table), []
    columns = [table[name].tolist() for name in needed]
    for row, (topic, docno, one) in enumerate(zip(*columns, strict=True)):
        try:
            ident(topic, "", "topic")
            ident(docno, "", "docno")
            value(one)
        except InputError as error:
            skipped.add(error, lines[row])
        else:
            good.append(row)
    kept = {name: [values[row] for row in good] for name, values in ((name, table[name].tolist()) for name in names)}
    return TableColumns.of(kept, [lines[row] for row in good]) if good else None
