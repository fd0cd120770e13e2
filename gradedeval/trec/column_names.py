"""What columns are called: one table for DataFrames, headed files, records and the values of --run-format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradedeval.errors import InputError, did_you_mean

# Our names first, then those of ir_measures, PyTerrier, BEIR, ranx, MS MARCO and annotation tools. Where a table has
# several names of a row, the first counts: PyTerrier's docno, not its internal docid, and its qid, not its query text.
TOPIC = ("topic", "query_id", "qid", "topic_id", "query")
DOCNO = ("docno", "doc_id", "docid", "corpus_id", "document_id", "pid", "passage_id", "url")
SCORE = ("score", "sim")
RANK = ("rank",)
GRADE = ("grade", "relevance", "rel", "label", "rating", "judgment", "judgement")
SUBTOPIC = ("subtopic", "subtopic_id", "iteration", "iter", "intent")
STRATUM = ("stratum",)
TYPE = ("type", "element_type", "q0")
TAG = ("tag", "run_id", "run_name", "system")

COLUMNS: dict[str, tuple[str, ...]] = {
    known[0]: known for known in (TOPIC, DOCNO, SCORE, RANK, GRADE, SUBTOPIC, STRATUM, TYPE, TAG)
}
"""What a column holds -> its known names."""


def plain(name: Any) -> str:
    """A name without what does not matter: case, hyphens, underscores and spaces. ranx's `q_id` is `qid`."""
    return str(name).strip().lower().replace("-", "").replace("_", "").replace(" ", "")


_PLAIN = {known: tuple(map(plain, known)) for known in COLUMNS.values()}


def find_column(names: Iterable[Any], known: tuple[str, ...]) -> Any:
    """The name among `names` that comes first in a row of `COLUMNS`; None where there is none."""
    present: dict[str, Any] = {}
    for name in names:
        present.setdefault(plain(name), name)
    return next((present[name] for name in _PLAIN[known] if name in present), None)


def find_grades(names: Iterable[Any]) -> Any:
    """The column of grades; None where there is none. BEIR and ranx call it `score`, which is taken for grades where
    neither a rank nor a tag says that the table is a run."""
    names = list(names)
    found = find_column(names, GRADE)
    if found is None and find_column(names, RANK) is None and find_column(names, TAG) is None:
        return find_column(names, SCORE)
    return found


def check_one_grade(names: Iterable[Any], place: str) -> None:
    """Raise InputError where several columns could hold the grades."""
    names = list(map(str, names))
    found = [name for name in names if plain(name) in _PLAIN[GRADE]]
    if len(found) > 1:
        what = f"several columns could be the grades: {', '.join(found)}"
        raise InputError(place, what, "leave one of them, or rename the others", usage=True)


def not_whole(name: str, place: str) -> InputError:
    """The error of a column `score` that is to be grades, and holds fractions."""
    hint = "is it a run? a column of grades that are fractions must be called 'grade'"
    return InputError(place, f"column '{name}' holds fractions, no grades", hint)


def check_no_score(names: Iterable[Any], place: str) -> None:
    """Raise InputError where a table with ranks and no scores has a column that is nearly called `score`."""
    names = list(names)
    if any(did_you_mean(str(name), SCORE) for name in names if find_column([name], RANK) is None):
        raise no_column(names, SCORE, place)


def no_column(names: Iterable[Any], known: tuple[str, ...], place: str) -> InputError:
    """The error of a table that lacks a column."""
    names = list(map(str, names))
    others = [name for name in names if not any(find_column([name], row) for row in COLUMNS.values())]
    near = next((hint for name in others if (hint := did_you_mean(name, known))), f"known names: {', '.join(known)}")
    return InputError(place, f"no column '{known[0]}' among {', '.join(names)}", near)
