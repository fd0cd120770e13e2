"""What columns are called: one table for DataFrames, headed files, records and the values of --run-format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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


_SCORE_WORDS = re.compile(
    "score|simil|^relevance$|^rsv|prob|distance|^dist$|confidence|logit|cosine|^cos$|^dot|bm25|weight|predict|^pred$"
)
"""What scores are also called, in plain names: beside a rank they may contradict it."""


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


def check_one_grade(names: Iterable[Any], place: str, hint: str = "") -> None:
    """Raise InputError where several columns could hold the grades; `hint` says how to choose one by its name."""
    names = list(map(str, names))
    found = [name for name in names if plain(name) in _PLAIN[GRADE]]
    if len(found) > 1:
        what = f"several columns could be the grades: {', '.join(found)}"
        hint = hint if len(set(found)) == len(found) else ""
        raise InputError(place, what, hint or "leave one of them, or rename the others", usage=True)


def check_distinct(names: Sequence[Any], place: str) -> None:
    """Raise InputError where a column that a reader may look for is there twice by the same name."""
    for name in names:
        if names.count(name) > 1 and any(find_column([name], known) is not None for known in COLUMNS.values()):
            raise InputError(place, f"has several columns '{name}'", "give each column a name of its own")


def not_whole(name: str, place: str) -> InputError:
    """The error of a column `score` that is to be grades, and holds fractions."""
    hint = "is it a run? a column of grades that are fractions must be called 'grade'"
    return InputError(place, f"column '{name}' holds fractions, no grades", hint)


def check_no_score(columns: Mapping[Any, Iterable[Any]], place: str) -> None:
    """Raise InputError where a table with ranks and no scores has a column that may be that of scores: by its name, or
    because it is unknown and holds fractions.

    columns  name -> values, as numbers or text
    """
    names = list(columns)
    if any(did_you_mean(str(name), SCORE) for name in names if find_column([name], RANK) is None):
        raise no_column(names, SCORE, place)
    for name, values in columns.items():
        known = any(find_column([name], row) for row in COLUMNS.values())
        if _SCORE_WORDS.search(plain(name)) or (not known and any(map(_is_fraction, values))):
            what = f"has a column of ranks and none called 'score', but '{name}', which may be that"
            raise InputError(place, what, f"call it 'score', or leave out '{name}' to order by rank", usage=True)


def _is_fraction(value: Any) -> bool:
    try:
        return float(value) % 1 > 0
    except (TypeError, ValueError):
        return False


def no_column(names: Iterable[Any], known: tuple[str, ...], place: str) -> InputError:
    """The error of a table that lacks a column."""
    names = list(map(str, names))
    others = [name for name in names if not any(find_column([name], row) for row in COLUMNS.values())]
    near = next((hint for name in others if (hint := did_you_mean(name, known))), f"known names: {', '.join(known)}")
    return InputError(place, f"no column '{known[0]}' among {', '.join(names)}", near)
