"""The formats that runs and qrels may have, by name, as `--run-format` and `--qrels-format` take them."""

from __future__ import annotations

from dataclasses import dataclass

from gradedeval.errors import FLAG_VALUES, InputError, did_you_mean
from gradedeval.trec.column_names import COLUMNS, find_column, plain

BOTH = ("run", "qrels")

FORMATS: dict[str, tuple[tuple[str, ...], str]] = {
    "trec": (BOTH, "`topic Q0 docno rank score tag`, or `topic iteration docno grade`"),
    "msmarco": (("run",), "`qid pid rank`, with a score behind or without: then the rank orders"),
    "beir": (BOTH, "tabs, and the header `query-id corpus-id score`"),
    "ntcir": (("qrels",), "`topic docno L2`"),
    "letor": (("qrels",), "`label qid:… features # docid`, as of LETOR and SVMlight"),
    "tsv": (BOTH, "tabs, and a header that names columns in any order"),
    "csv": (BOTH, "commas, and a header that names columns in any order"),
    "headed": (BOTH, "spaces, and a header that names columns in any order"),
    "json": (BOTH, "topic → docno → number, or records"),
    "jsonl": (BOTH, "a record in each line"),
    "parquet": (BOTH, "columns by name; `pip install 'gradedeval[parquet]'`"),
    "arrow": (BOTH, "Arrow files and streams, Feather; `pip install 'gradedeval[parquet]'`"),
}
"""Name of a format -> what may have it, and what it looks like."""

HEADER = "+header"
"""What follows a format whose first line is a header that says nothing."""

IGNORED = "-"
"""A column that nothing looks at, in the value of --run-format."""


def formats_of(holds: str) -> list[str]:
    """The names of the formats that a run or qrels may have."""
    return [name for name, (of, _) in FORMATS.items() if holds in of]


FLAG_VALUES.update((f"--{holds}-format", tuple(formats_of(holds))) for holds in BOTH)


@dataclass(frozen=True, eq=False, repr=False)
class WholeFile:
    """A file that is read whole, by a library: JSON, Parquet and the like."""

    format: str
    notes: tuple[str, ...] = ()


def format_name(value: str, holds: str) -> str:
    """The value of --run-format or --qrels-format in one spelling: the name of a format, or columns in order.

    Raises InputError (usage) where it is neither, or lacks a column.
    """
    flag, known = f"--{holds}-format", formats_of(holds)
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
