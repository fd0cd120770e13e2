"""Which of the arguments of a command are runs, which are qrels, and which stand for a setting."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from typing import Any

from gradedeval.cli.options import given
from gradedeval.errors import InputError, ProblemList, url_place
from gradedeval.kernel.measures.parse import is_measure
from gradedeval.kernel.options import GAINS, OPTIONS
from gradedeval.kernel.trec.lines import NO_GRADES, QRELS, RUN, STRATA, WholeFile
from gradedeval.kernel.trec.stream import (
    IR_DATASETS,
    Source,
    Stream,
    files_of,
    first_bytes,
    is_named,
    is_url,
)


def placed(files: tuple[str, ...], place: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files among the arguments, and those that stand for a setting instead, as its `place` says."""
    if place == "qrels":
        qrels = next(filter(_is_qrels_beyond_doubt, reversed(files)), None)  # which stand last, as a rule
        return tuple(file for file in files if file != qrels), () if qrels is None else (qrels,)
    if place == "measures":
        named = not any(map(_is_there, files)) and any("@" in word or is_measure(word) for word in files)
        return ((), files) if named else (files, ())
    behind = (index for index, _ in enumerate(files) if index > 1 and not any(map(_is_there, files[index:])))
    there = files[: next(behind, None)]
    if not there or _is_run(there[-1]):  # then the word is the name of qrels, with a mistake
        return files, ()
    return there, files[len(there) :]


def _is_qrels_beyond_doubt(file: str) -> bool:
    """Whether a file holds judgments, and is not a run that lacks a field, or that cannot be read."""
    from gradedeval.kernel.trec.line_reader import looks_like

    try:
        return is_qrels(file) and not (is_named(file) and looks_like(first_bytes(Source(file)), STRATA))
    except InputError:
        return False


def _is_there(word: str) -> bool:
    """Whether an argument names a file or a folder, or files by a pattern, or elsewhere."""
    elsewhere = is_url(word) or word.startswith(IR_DATASETS) or bool(set(word) & set("*?"))
    return word == "-" or elsewhere or os.path.exists(word)


def is_qrels(file: str) -> bool:
    """Whether the first line of a file is a judgment. Of a format that holds both runs and judgments, such as JSON, the
    last file is taken for a run."""
    from gradedeval.kernel.trec.blocks import format_of
    from gradedeval.kernel.trec.line_reader import looks_like

    if file.startswith(IR_DATASETS):
        return True
    if not is_named(file) or _is_run(file):
        return False
    head = first_bytes(Source(file))
    if any(looks_like(head, layout) for layout in (QRELS, STRATA)):
        return True
    with closing(Stream(Source(file))) as stream:
        try:
            form = format_of(stream, "qrels")
        except InputError as error:
            return error.kind == NO_GRADES
    return form.format == "letor" if isinstance(form, WholeFile) else form is not QRELS


def _is_run(file: str) -> bool:
    """Whether a file is a run beyond doubt, by its first line."""
    from gradedeval.kernel.trec.blocks import is_certain_run
    from gradedeval.kernel.trec.line_reader import looks_like

    return is_named(file) and (looks_like(first_bytes(Source(file)), RUN) or is_certain_run(Source(file)))


def check_last(files: tuple[str, ...]) -> None:
    """Raise InputError (usage) where a word that is no file follows the qrels: it was meant for an option before it."""
    *others, last = files
    if others and not _is_there(last) and is_qrels(others[-1]):
        raise InputError(last, "no such file", "the qrels are the last argument: RUN... QRELS", usage=True)


ABOUT_QRELS = ["topics", "judged_only", "subtopics", "strata", "qrels_format", "labels"]
"""Options about judgments, beside those about gains."""


def check_without_qrels(keywords: Mapping[str, Any], used: Collection[str] = ()) -> None:
    """Raise InputError (usage) for an option about judgments where there are none, but for those used all the same."""
    about = [name for name, described in OPTIONS.items() if described.section == GAINS] + ABOUT_QRELS
    if unused := given({name: keywords.get(name) for name in about if name not in used}):
        raise InputError(unused[0], "needs qrels", "add QRELS", usage=True)


def listed_files(list_of_runs: str, leave_out: Iterable[str] = ()) -> list[str]:
    """The files in a list, one argument of `files_of` per line, relative to the current folder; blank lines and those
    that begin with # are skipped. Zero bytes end lines where there are any (`find -print0`). `-` is standard input.

    Raises InputError where the list is empty or names missing files, with the first ten lines.
    """
    from gradedeval.kernel.trec.line_reader import HEAD, numbered_lines  # not for a help page

    with closing(Stream(Source(list_of_runs))) as stream:
        problems = ProblemList(stream.place)
        listed: list[str] = []
        zeros = b"\0" in stream.peek(HEAD)
        for number, line in numbered_lines(stream, longest=None, end=b"\0") if zeros else numbered_lines(stream):
            word = os.fsdecode(line.strip(b"\r\n") if zeros else line.strip())
            if not word or word.startswith("#"):
                continue
            try:
                if is_url(list_of_runs):
                    from gradedeval.kernel.trec.remote import check_listed

                    check_listed(word, list_of_runs)
                files = files_of(word, leave_out)
            except InputError as error:
                problems.add(number, f"'{url_place(word)}' {error.said[0]}", error.said[1])
                continue
            if files == ["-"] or not (os.path.exists(files[0]) or is_url(files[0])):
                problems.add(number, f"{word}: no such file", "paths are relative to the current folder")
            listed += files
    problems.check()
    if not listed:
        raise InputError(problems.place, "names no run", "expected one file per line")
    return listed
