"""How the lines of a file stand for documents: what each column holds, and what separates them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

_WORDS = {"type": "Q0", "subtopic": "iteration"}
"""What columns are called in messages about TREC files."""


@dataclass(frozen=True, eq=False, repr=False)
class LineLayout:
    """Lines of fields.

    format     what the signature and --run-format call it
    columns    what the columns hold, as in `column_names.COLUMNS`; by other names, what nothing looks at
    separator  a tab or a comma alone; empty: any mix of spaces and tabs, as in TREC files
    skip       bytes before the first line that counts: a byte order mark, a header
    notes      what a user is told of the file
    whole      whether grades must be whole numbers: those of a column `score`, which may be that of a run
    """

    format: str
    columns: tuple[str, ...]
    separator: bytes = b""
    skip: int = 0
    notes: tuple[str, ...] = ()
    whole: bool = False

    @cached_property
    def width(self) -> int:
        return len(self.columns)

    def position(self, column: str) -> int | None:
        """The number of a column, from 0; None where there is none."""
        return self.columns.index(column) if column in self.columns else None

    @cached_property
    def words(self) -> str:
        """The columns, for messages: `topic Q0 docno rank score tag`."""
        return " ".join(_WORDS.get(name, name) for name in self.columns)

    @property
    def holds(self) -> str:
        """Run or qrels."""
        return "qrels" if "grade" in self.columns else "run"

    @property
    def by_rank(self) -> bool:
        """Whether a run has ranks and no scores: then the rank orders its documents."""
        return "score" not in self.columns and "rank" in self.columns

    @property
    def in_blocks(self) -> bool:
        """Whether the block reader reads such lines: a topic begins each."""
        return self.columns[0] == "topic"

    def split(self, line: bytes) -> list[bytes]:
        """The fields of a line; quotes are part of them."""
        if not self.separator:
            return line.split()
        return [field.strip() for field in line.split(self.separator)] if line.strip() else []

    def after(self, skip: int, *notes: str) -> LineLayout:
        """The same lines in a file that has something before them."""
        return replace(self, skip=skip, notes=(*self.notes, *notes))


RUN = LineLayout("trec", ("topic", "type", "docno", "rank", "score", "tag"))
QRELS = LineLayout("trec", ("topic", "subtopic", "docno", "grade"))
STRATA = LineLayout("trec", ("topic", "subtopic", "docno", "stratum", "grade"))
MSMARCO = LineLayout("msmarco", ("topic", "docno", "rank", "score"))
MSMARCO_RANKS = LineLayout("msmarco", ("topic", "docno", "rank"))
PREFERENCES = LineLayout("trec", ("topic", "group", "subgroup", "docno", "value"))
NTCIR = LineLayout("ntcir", ("topic", "docno", "grade"))
