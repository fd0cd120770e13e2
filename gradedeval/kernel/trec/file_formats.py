"""What columns of tables are called, in DataFrames, headed files and records, and in the values of --run-format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from gradedeval.errors import Flag, InputError, did_you_mean
from gradedeval.kernel.trec.lines import FORMATS, HEADER, IGNORED, formats_of

if TYPE_CHECKING:
    from gradedeval.arrays import Floats
    from gradedeval.kernel.trec.text_columns import Text

# What columns are called: one table for DataFrames, headed files, records and the values of --run-format.


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


_SCORE_WORDS = (
    "score|simil|^relevance$|^rsv|prob|distance|^dist$|confidence|logit|cosine|^cos$|^dot|bm25|weight|predict|^pred$"
)
"""What scores are also called, in plain names: beside a rank they may contradict it."""


def plain(name: Any) -> str:
    """A name without what does not matter: case, hyphens, underscores and spaces. ranx's `q_id` is `qid`."""
    return _plain(str(name))


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "").replace(" ", "")


_PLAIN = {known: tuple(map(plain, known)) for known in COLUMNS.values()}


def find_column(names: Iterable[Any], known: tuple[str, ...]) -> Any:
    """The name among `names` that comes first in a row of `COLUMNS`; None where there is none."""
    names = tuple(names)
    return (_found if len(names) <= FEW else _found.__wrapped__)(names, known)


FEW = 32
"""Names of a table, as a rule at most: what was found among these is remembered, for a loop asks for the same."""


@lru_cache(maxsize=256)
def _found(names: tuple[Any, ...], known: tuple[str, ...]) -> Any:
    present: dict[str, Any] = {}
    for name in names:
        present.setdefault(plain(name), name)
    return next((present[name] for name in _PLAIN[known] if name in present), None)


def is_record(document: Mapping[str, Any]) -> bool:
    """Whether the names of an object are those of a topic and a docno."""
    return find_column(document, TOPIC) is not None and find_column(document, DOCNO) is not None


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
        if re.search(_SCORE_WORDS, plain(name)) or (not known and any(map(_is_fraction, values))):
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
    among = f" among {', '.join(names)}" if names else ": the table has no columns"
    return InputError(place, f"no column '{known[0]}'{among}", near)


def format_name(value: str, holds: str) -> str:
    """The value of --run-format or --qrels-format in one spelling: the name of a format, or columns in order.

    Raises InputError (usage) where it is neither, or lacks a column.
    """
    flag, known = Flag(f"--{holds}-format"), formats_of(holds)
    base = value.strip().lower().removesuffix(HEADER)
    header = HEADER if value.strip().lower().endswith(HEADER) else ""
    if base in known:
        return base + header
    words = base.split(",")
    if len(words) == 1:
        other = "qrels" if holds == "run" else "runs"
        hint = f"{base} is a format of {other}; the" if base in FORMATS else did_you_mean(base, known)
        listed = f"formats: {', '.join(known)}; or columns in order, as in {','.join(_example(holds))}"
        raise InputError(flag, f"no format '{value}'", f"{hint} {listed}".strip(), usage=True)
    columns = [_column(word, holds, flag) for word in words]
    for needed in ("topic", "docno", *(("grade",) if holds == "qrels" else ())):
        if columns.count(needed) != 1:
            what = "no column" if needed not in columns else "more than one column"
            raise InputError(flag, f"{what} '{needed}' in '{value}'", f"as in {','.join(_example(holds))}", usage=True)
    return ",".join(columns) + header


def _example(holds: str) -> tuple[str, ...]:
    return ("topic", "docno", "score") if holds == "run" else ("topic", "docno", "grade")


def _column(word: str, holds: str, flag: str) -> str:
    """What a column in the value of an option holds."""
    if plain(word) in ("", "skip"):
        return IGNORED
    column = next((column for column, known in COLUMNS.items() if find_column([word], known)), "")
    if holds == "qrels" and column == "score":
        return "grade"  # as BEIR calls it
    if not column:
        known = sorted(name for names in COLUMNS.values() for name in names)
        hint = did_you_mean(word, known) or f"columns: {', '.join(COLUMNS)}, and {IGNORED} for what is ignored"
        raise InputError(flag, f"no column '{word.strip()}'", hint, usage=True)
    return column


# A table by columns, as far as DataFrames are read: what files of records and objects of other libraries become.


class Column(list[Any]):
    """A column as a DataFrame has it."""

    def tolist(self) -> list[Any]:
        return self


def _nothing(name: str) -> None:
    """What is held of columns that are lists."""


@dataclass(eq=False, repr=False)
class TableColumns:
    """A table as a DataFrame shows it: the names of its columns, and the values of each when they are asked for.

    note   what was assumed
    lines  the line of its file that each row stands on; empty where rows are counted
    held   the values of a column as text or numbers in one piece, without an object for each; None of a column that has
           others
    """

    columns: list[str]
    values: Callable[[str], Iterable[Any]]
    length: int
    note: str = ""
    lines: Sequence[int] = ()
    held: Callable[[str], Text | Floats | None] = _nothing

    @classmethod
    def of(cls, values: Mapping[str, Sequence[Any]], lines: Sequence[int] = ()) -> TableColumns:
        """Columns of equal length that are at hand."""
        return cls(list(values), lambda name: values[name], len(next(iter(values.values()), ())), lines=lines)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, name: str) -> Column:
        return Column(self.values(name))

    def head(self, rows: int) -> TableColumns:
        """The first rows; numbers of files are floats."""

        def first(name: str) -> list[Any]:
            held = self.held(name)
            return list(islice(self.values(name), rows)) if held is None else held[:rows].tolist()

        return TableColumns(self.columns, first, rows)
