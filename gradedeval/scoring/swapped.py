"""A run in the place of the qrels, and the qrels in that of the run: an error, where the content says so."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np

from gradedeval.errors import InputError, Note
from gradedeval.options import Options
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import Run, read_run, run_of_lines
from gradedeval.trec.file_formats import WholeFile
from gradedeval.trec.layouts import MSMARCO, MSMARCO_RANKS, QRELS, RUN
from gradedeval.trec.lines import HEAD, looks_like
from gradedeval.trec.recognition import format_of
from gradedeval.trec.source import Source, is_file, is_named, is_path
from gradedeval.trec.stream import Stream, first_bytes

FEW = 10
"""Distinct grades that qrels have at most: the run's values, to be taken for grades."""

HIGHEST = 100
"""A run's values beyond this are not grades."""

MANY = 10
"""More distinct values than these are taken for scores, where the run has few and whole ones."""


def check_files_swapped(run: Any, qrels: Any) -> None:
    """Raise InputError where two files have the fields of each other."""
    if all(is_path(source) and is_named(source) for source in (run, qrels)):
        check_fields_swapped(Source(run), Source(qrels))


def check_fields_swapped(run: Source, qrels: Source) -> None:
    """Raise InputError where the run has the fields of qrels, and the qrels those of a run."""
    if not looks_like(first_bytes(qrels, HEAD), RUN) or _is_document(qrels):
        return
    what = f"looks like a run ({RUN.width} fields per line)"
    head = first_bytes(run, HEAD)
    if looks_like(head, RUN):
        raise InputError(qrels.place, f"{what}, as does {run.place}", "the qrels file comes last")
    if looks_like(head, QRELS):
        what += f", and {run.place} like qrels ({QRELS.width} fields per line)"
        raise InputError(qrels.place, what, "swap them: the order is RUN... QRELS")


def _is_document(source: Source) -> bool:
    """Whether a file is of a format such as LETOR, whose lines may have any number of fields."""
    with closing(Stream(source)) as stream:
        try:
            return isinstance(format_of(stream, "qrels"), WholeFile)
        except InputError:
            return False


def check_values_swapped(run: Any, qrels: Qrels, options: Options) -> None:
    """Raise InputError where the numbers of the qrels are such as scores are, and those of the run such as grades are;
    of few numbers, a note of the qrels.

    Only of what looks the same as a run and as qrels: dicts, JSON, columns called `score`. Grades may be fractions, and
    scores whole: both together are suspect, unless the run counts down in each topic as ranks do.
    """
    fractions = bool((qrels.labels % 1).any())
    if not qrels.could_be_run or not (fractions or len(qrels.labels) > MANY):
        return
    if options.qrels_format or options.labels or options.subtopics or options.strata:
        return
    found = _values(run)
    if not found:
        return
    distinct = np.unique(np.concatenate(found))
    count = sum(map(len, found))
    counts = all(len(set(values.tolist())) == len(values) == np.ptp(values) + 1 for values in found)
    if fractions and not counts and not (distinct % 1).any():
        what = f"{qrels.place}: grades are fractions, and the run's scores whole numbers"
        qrels.notes.append(Note(what, "are the two swapped? the run comes first", kind="swapped"))
    if len(qrels.labels) <= MANY:
        return
    if np.abs(distinct).max() > HIGHEST or count < max(MANY, 2 * len(distinct)):
        return  # too large, or too few of each, to be grades
    if (distinct % 1).any() or len(distinct) > min(FEW, len(qrels.labels)) or counts:
        return
    low, high = f"{qrels.labels[0]:g}", f"{qrels.labels[-1]:g}"
    what = f"looks like a run ({len(qrels.labels)} different grades from {low} to {high}), and the run like qrels"
    hint = "swap them: the run comes first; if they are right, "
    hint += f"add --qrels-format {qrels.format}" if qrels.format else "give Qrels(...) of the qrels"
    raise InputError(qrels.place, f"{what} (whole numbers, {len(distinct)} different)", hint, usage=True)


def _values(run: Any) -> list[np.ndarray[Any, Any]]:
    """The scores of each topic of a run that has no form of its own; none of any other, or of a broken one."""
    if not (is_file(run) or isinstance(run, Mapping) or hasattr(run, "columns")):
        return []  # an iterator is read once
    try:
        read = _of_file(Source(run)) if is_file(run) else read_run(run, Options())
    except InputError:
        return []  # it is reported where it is scored
    if read is None:
        return []
    if read.listed is not None:
        ends = np.cumsum([len(docnos) for docnos in read.listed.docnos])[:-1]
        topics = np.split(np.asarray(read.listed.values), ends)
    else:
        topics = [np.asarray(results.scores) for results in read.topics.values()]
    return [values for values in topics if len(values)]


def _of_file(source: Source) -> Run | None:
    if source.is_read_once:
        return None
    with closing(Stream(source)) as stream:
        form = format_of(stream, "run")
        if isinstance(form, WholeFile):
            from gradedeval.trec.documents import read_document

            return read_run(read_document(form.format, stream)[1], Options())
        if form in (RUN, MSMARCO, MSMARCO_RANKS) or form.by_rank:
            return None
        return run_of_lines(stream, Options(), layout=form)
