"""Name the columns of tables, in any format, and read the formats that users name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from gradedeval.errors import Flag, InputError, did_you_mean, flag
from gradedeval.kernel.trec.line_reader import number_problem
from gradedeval.kernel.trec.lines import FORMATS, HEADER, IGNORED, PAIRS, LineLayout, decode
from gradedeval.kernel.trec.shapes import EXPECTED, RETRIEVED, SHAPES, TOPIC_IDS

if TYPE_CHECKING:
    from gradedeval.arrays import Floats
    from gradedeval.kernel.trec.text_columns import Text


# Names of columns: one table for DataFrames, headed files, records and the values of --run-format.


# Our names first, then those of ir_measures, PyTerrier, BEIR, ranx, MS MARCO, annotation tools and shops. Where a table
# has more than one name of a row, the first counts: PyTerrier's docno, not its internal docid, and qid, not its query
# text; an id of a product before its name.
TOPIC = (
    *("topic", "query_id", "qid", "topic_id", "query", "question", "input", "user_input", "query_text"),
    *("search_term", "search_query", "keyword"),
)
DOCNO = (
    *("docno", "doc_id", "docid", "corpus_id", "document_id", "pid", "passage_id", "chunk_id", "url"),
    *("segment_id", "product_id", "item_id", "sku", "asin", "product", "item"),
)
SCORE = ("score", "sim", "pred", "y_pred", "prediction", "predicted_score", "model_score")
RANK = ("rank", "position")
GRADE = ("grade", "relevance", "rel", "label", "rating", "judgment", "judgement", "gain")
SUBTOPIC = ("subtopic", "subtopic_id", "iteration", "iter", "intent")
STRATUM = ("stratum",)
TYPE = ("type", "element_type", "q0")
TAG = ("tag", "run_id", "run_name", "system")

COLUMNS: dict[str, tuple[str, ...]] = {
    known[0]: known for known in (TOPIC, DOCNO, SCORE, RANK, GRADE, SUBTOPIC, STRATUM, TYPE, TAG)
}
"""Content of a column -> its known names."""

_SCORE_WORDS = (
    "score|simil|^relevance$|^rsv|prob|distance|^dist$|confidence|logit|cosine|^cos$|^dot|bm25|weight|predict|^pred$"
)
"""Other plain names of scores, which may contradict a rank in the same table."""


def plain(name: Any) -> str:
    """Return a name without case, hyphens, underscores and spaces: the `q_id` of ranx is `qid`."""
    return _plain(str(name))


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "").replace(" ", "")


_PLAIN = {known: tuple(map(plain, known)) for known in COLUMNS.values()}
LISTED = {
    content: frozenset(map(plain, names))
    for content, names in (("topic", (*TOPIC, *TOPIC_IDS)), ("docno", DOCNO), ("run", RETRIEVED), ("qrels", EXPECTED))
}
"""Content of a column of a table that lists documents by topic -> its plain names; of `docno` in other tables."""


def find_column(names: Iterable[Any], aliases: tuple[str, ...]) -> Any:
    """Return the name among `names` that comes first in a row of `COLUMNS`; None if there is none."""
    names = tuple(names)
    return (_lookup if len(names) <= FEW else _lookup.__wrapped__)(names, aliases)


FEW = 32
"""Maximum names of a table for cached lookups, which loops repeat."""


@lru_cache(maxsize=256)
def _lookup(names: tuple[Any, ...], aliases: tuple[str, ...]) -> Any:
    present: dict[str, Any] = {}
    for name in names:
        present.setdefault(plain(name), name)
    return next((present[name] for name in _PLAIN[aliases] if name in present), None)


def is_record(document: Mapping[str, Any]) -> bool:
    """Return whether an object has keys for a topic and a docno."""
    return find_column(document, TOPIC) is not None and find_column(document, DOCNO) is not None


def kinds_of_columns(names: Iterable[Any]) -> str:
    """Return what the columns of a table list by topic: run, qrels or both, with a space between; empty for a table
    with a row for each document."""
    present = set(map(plain, names))
    if not present & LISTED["topic"] or present & LISTED["docno"]:
        return ""
    return " ".join(kind for kind in ("run", "qrels") if present & LISTED[kind])


def find_grades(names: Iterable[Any]) -> Any:
    """Return the column of grades; None if there is none. BEIR and ranx call it `score`: this counts as grades unless a
    rank or a tag indicates a run."""
    names = list(names)
    name = find_column(names, GRADE)
    if name is None and find_column(names, RANK) is None and find_column(names, TAG) is None:
        name = find_column([name for name in names if plain(name) in SCORE[:2]], SCORE)  # predictions are no grades
    return name


def find_value(names: Iterable[Any], holds: str) -> Any:
    """Return the column of grades, or of the scores, else ranks, of a run; None if there is none."""
    names = list(names)
    return find_grades(names) if holds == "qrels" else find_column(names, SCORE) or find_column(names, RANK)


def check_one_grade(names: Iterable[Any], place: str, hint: str = "") -> None:
    """Raise InputError if more than one column could hold the grades; `hint` tells how to choose one by name."""
    names = list(map(str, names))
    candidates = [name for name in names if plain(name) in _PLAIN[GRADE]]
    if len(candidates) > 1:
        problem = f"several columns could be the grades: {', '.join(candidates)}"
        hint = hint if len(set(candidates)) == len(candidates) else ""
        raise InputError(place, problem, hint or "leave one of them, or rename the others", usage=True)


def check_distinct(names: Sequence[Any], place: str) -> None:
    """Raise InputError if a column that a reader may look for occurs twice under the same name."""
    for name in names:
        if names.count(name) > 1 and any(find_column([name], aliases) is not None for aliases in COLUMNS.values()):
            raise InputError(place, f"has several columns '{name}'", "give each column a different name")


def fractional_grades(name: str, place: str, cure: str = "") -> InputError:
    """Return the error of a column `score` used as grades that holds fractions; `cure` adds a way other than renaming
    it."""
    hint = f"if it holds grades rather than scores, name it 'grade'{cure}"
    return InputError(place, f"'{name}' holds fractions, as run scores do", hint)


def field_problem(name: str, fields: Sequence[bytes], line: int, layout: LineLayout) -> tuple[str, str]:
    """Return the problem and hint for a line whose field of this name should be a number: the line may be a header."""
    if is_header(fields, line, layout):
        return "is a header among the lines of data", f"remove the line, or skip it with {flag.lenient:True}"
    return number_problem(name, fields[layout.columns.index(name)], line)


def is_header(fields: Sequence[bytes], line: int, layout: LineLayout) -> bool:
    """Return whether a line other than the first of a file names the columns of the topic and the docno."""
    matches = (find_column([decode(fields[layout.columns.index(name)])], COLUMNS[name]) for name in ("topic", "docno"))
    return line > 1 and None not in matches


def check_no_score(columns: Mapping[Any, Iterable[Any]], place: str) -> None:
    """Raise InputError if a table with ranks but no scores has a column that may hold scores: by its name, or because
    it is unknown and holds fractions.

    columns  name -> values, as numbers or text
    """
    names = list(columns)
    unknown = [name for name in names if not any(find_column([name], row) for row in COLUMNS.values())]
    if any(did_you_mean(str(name), SCORE) for name in unknown):
        raise missing_column(names, SCORE, place)
    for name, values in columns.items():
        if may_be_score(name) or (name in unknown and any(map(_is_fraction, values))):
            problem = f"has ranks but no column 'score', only '{name}', which may be one"
            raise InputError(place, problem, f"name it 'score', or remove '{name}' to order by rank", usage=True)


def may_be_score(name: Any) -> bool:
    """Return whether an unknown name of a column may be that of a score."""
    return re.search(_SCORE_WORDS, plain(name)) is not None


def _is_fraction(value: Any) -> bool:
    try:
        return float(value) % 1 > 0
    except (TypeError, ValueError):
        return False


def missing_column(names: Iterable[Any], aliases: tuple[str, ...], place: str, holds: str = "") -> InputError:
    """Return the error of a table that lacks a column.

    holds  run or qrels, of a file whose columns an option can name
    """
    names = list(map(str, names))
    others = [name for name in names if not any(find_column([name], row) for row in COLUMNS.values())]
    near = next(
        (hint for name in others if (hint := did_you_mean(name, aliases))), f"known names: {', '.join(aliases)}"
    )
    if holds and (fields := _missing_fields(names, others, holds)):
        near = f"name it, as in {Flag(f'--{holds}-format'):{fields}}"
    among = f" among {', '.join(names)}" if names else ": the table has no columns"
    return InputError(place, f"no column '{aliases[0]}'{among}", near)


# The content of columns by parts of their names: only for examples in messages, which a user can correct.
MAY_BE = {
    "topic": "topic|quer|question|qid|request|need",
    "docno": "doc|passage|url|uri|item|page|hit|candidate|answer|text",
    "score": "score|sim|weight|prob|rsv|value",
    "rank": "rank|position",
    "grade": "rel|grade|label|judg|rating|rated|score|value",
}


def _missing_fields(names: list[str], others: list[str], holds: str) -> str:
    """Return an example of names for the contents that no column is known to hold, as in `docno=my_id`; empty if too
    few `others`, of unknown content, are left."""
    value = find_value(names, holds)
    present = {"topic": find_column(names, TOPIC), "docno": find_column(names, DOCNO), example(holds)[-1]: value}
    remaining, fields = [name for name in others if name and not set(name) & set(",=")], dict[str, str]()
    for content in (content for content, name in present.items() if name is None):
        if not remaining:
            return ""
        pattern = MAY_BE[content]
        fields[content] = next((name for name in remaining if re.search(pattern, name.lower())), remaining[0])
        remaining.remove(fields[content])
    return ",".join(f"{content}={name}" for content, name in fields.items())


DESCRIPTIONS = {
    "trec": "`topic Q0 docno rank score tag`, or `topic iteration docno grade`",
    "msmarco": "`qid pid rank`, with or without a score; without it the rank orders",
    "strata": "`topic iteration docno stratum grade` of a stratified sample",
    "beir": "tabs, and the header `query-id corpus-id score`",
    "ntcir": "`topic docno L2`",
    "letor": "`label qid:… features # docid`, as of LETOR and SVMlight",
    "tsv": "tabs, and a header that names columns in any order",
    "csv": "commas or semicolons, and a header that names columns in any order",
    "headed": "spaces, and a header that names columns in any order",
    "json": "topic → docno → number, or records",
    "jsonl": "a record in each line",
    "parquet": "columns by name; `pip install 'gradedeval[parquet]'`",
    "arrow": "Arrow files and streams, Feather; `pip install 'gradedeval[parquet]'`",
    **{shape.name: shape.meaning for shape in SHAPES if not shape.format},
}
"""Name of a format in `lines.FORMATS` -> its description."""


def format_name(value: str, holds: str) -> str:
    """Return the value of --run-format or --qrels-format in canonical spelling: a format name, or columns in order.

    Raises InputError (usage) if it is neither, or lacks a column.
    """
    flag, names = Flag(f"--{holds}-format"), FORMATS[holds]
    if "=" in value:
        return _field_names(value, holds, flag)
    base = value.strip().lower().removesuffix(HEADER)
    header = HEADER if value.strip().lower().endswith(HEADER) else ""
    if base in names:
        return base + header
    words = base.split(",")
    if len(words) == 1:
        opposite = "qrels" if holds == "run" else "runs"
        hint = f"{base} is a format of {opposite}; the" if base in DESCRIPTIONS else did_you_mean(base, names)
        listed = f"formats: {', '.join(names)}; or columns in order, as in {','.join(example(holds))}"
        raise InputError(flag, f"no format '{value}'", f"{hint} {listed}".strip(), usage=True)
    columns = [_column(word, holds, flag) for word in words]
    if holds == "qrels" and columns == PAIRS.split(","):
        return PAIRS + header
    for needed in ("topic", "docno", *(("grade",) if holds == "qrels" else ())):
        if columns.count(needed) != 1:
            problem = "no column" if needed not in columns else "more than one column"
            raise InputError(
                flag, f"{problem} '{needed}' in '{value}'", f"as in {','.join(example(holds))}", usage=True
            )
    return ",".join(columns) + header


_FIELDS = {"run": ("topic", "docno", "documents", "score", "rank", "type"),
           "qrels": ("topic", "docno", "documents", "grade", "subtopic", "stratum")}  # fmt: skip
"""Contents whose field the user may name; `documents` is the list of a record."""


def _field_names(value: str, holds: str, flag: Flag) -> str:
    """Return names of fields, as in `topic=question,docno=chunk_id`, with contents in canonical spelling."""
    fields: dict[str, str] = {}
    for word in value.split(","):
        content, _, name = (part.strip() for part in word.partition("="))
        row = next((row[0] for row in COLUMNS.values() if find_column([content], row)), content.lower())
        row = "grade" if holds == "qrels" and row == "score" else row
        if row not in _FIELDS[holds] or not name:
            problem = f"no content '{content}'" if name else f"'{word}' names no field"
            hint = did_you_mean(content, _FIELDS[holds]) or f"contents: {', '.join(_FIELDS[holds])}"
            raise InputError(flag, problem, f"{hint}; as in topic=question,docno=chunk_id", usage=True)
        if row in fields:
            raise InputError(flag, f"two names of the {row} in '{value}'", "give one", usage=True)
        fields[row] = name
    return ",".join(f"{content}={name}" for content, name in fields.items())


def chosen_fields(requested: str) -> dict[str, str]:
    """Return content -> name of names of fields as `format_name` spells them; empty for any other format."""
    if "=" not in requested:
        return {}
    return {content: name for content, _, name in (word.partition("=") for word in requested.split(","))}


def with_names(names: Sequence[Any], fields: Mapping[str, str], place: str) -> list[Any]:
    """Return the names of columns, with those that the user chose under our names; columns that we would have taken
    instead are ignored.

    Raises InputError for a name that is not there.
    """
    content_of = {name: content for content, name in fields.items()}
    for content, name in fields.items():
        if name not in names:
            hint = did_you_mean(name, list(map(str, names))) or f"there are {shorten(', '.join(map(str, names)))}"
            raise InputError(place, f"no field '{name}' for the {content}", hint, usage=True)
    others = [COLUMNS[content] for content in fields if content in COLUMNS]
    replaced = {name for name in names if any(find_column([name], row) for row in others)}
    return [content_of.get(name, f"({name})" if name in replaced else name) for name in names]


def with_fields(table: TableColumns, fields: Mapping[str, str], place: str) -> TableColumns:
    """Return a table with the columns that the user chose under our names, as `with_names`."""
    names = with_names(table.columns, fields, place)
    column_of = dict(zip(names, table.columns, strict=True))
    return replace(
        table,
        columns=names,
        values=lambda name: table.values(column_of[name]),
        array=lambda name: table.array(column_of[name]),
    )


def shorten(text: str) -> str:
    """Truncate a line for a message."""
    return text if len(text) <= 60 else f"{text[:60]}…"


def example(holds: str) -> tuple[str, ...]:
    """Return the columns of an example of a run or of qrels."""
    return ("topic", "docno", "score") if holds == "run" else ("topic", "docno", "grade")


def _column(word: str, holds: str, flag: str) -> str:
    """Return the content of a column named in the value of an option."""
    if plain(word) in ("", "skip"):
        return IGNORED
    column = next((column for column, aliases in COLUMNS.items() if find_column([word], aliases)), "")
    if holds == "qrels" and column == "score":
        return "grade"  # the name in BEIR
    if not column:
        aliases = sorted(name for names in COLUMNS.values() for name in names)
        hint = did_you_mean(word, aliases) or f"columns: {', '.join(COLUMNS)}, and {IGNORED} for what is ignored"
        raise InputError(flag, f"no column '{word.strip()}'", hint, usage=True)
    return column


# A table by columns, with the part of the DataFrame interface that readers use, for files and objects of libraries.


class Column(list[Any]):
    """A column with the interface of a DataFrame's."""

    def tolist(self) -> list[Any]:
        return self


@dataclass(eq=False, repr=False)
class TableColumns:
    """A table with the interface of a DataFrame: column names, and the values of each column on request.

    note   an assumption for the user
    lines  the line of each row in its file; empty if rows are counted
    array  return a column as one array of text or numbers, without an object per value; None for any other column
    bare   topic without a row -> the number of rows before it; `numbered`: topics have no names, and are counted
    """

    columns: list[str]
    values: Callable[[str], Iterable[Any]]
    length: int
    note: str = ""
    lines: Sequence[int] = ()
    array: Callable[[str], Text | Floats | None] = lambda name: None
    bare: Mapping[Any, int] = field(default_factory=dict)
    numbered: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Sequence[Any]], lines: Sequence[int] = ()) -> TableColumns:
        """Make a table of columns of equal length."""
        return cls(list(values), lambda name: values[name], len(next(iter(values.values()), ())), lines=lines)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, name: str) -> Column:
        return Column(self.values(name))

    def head(self, rows: int) -> TableColumns:
        """Return the first rows; numbers of files are floats."""

        def first(name: str) -> list[Any]:
            array = self.array(name)
            return list(islice(self.values(name), rows)) if array is None else array[:rows].tolist()

        return TableColumns(self.columns, first, rows)


NO_GRADES_LISTED = "no grades: the listed documents are relevant, with grade 1"
"""The note on judgments without grades."""


def bare_topics(source: Any) -> Mapping[Any, int]:
    """Return the topics of a table that have no row, each with the number of rows before it."""
    return source.bare if isinstance(source, TableColumns) else {}
