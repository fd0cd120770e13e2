"""Parquet and Arrow files: of their columns only those that are asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from gradedeval.errors import InputError
from gradedeval.trec.column_names import check_distinct
from gradedeval.trec.columns import Columns
from gradedeval.trec.decompression import check_growth
from gradedeval.trec.skipped import Skipped

Made = TypeVar("Made")

ROW = 24
"""Bytes of memory that a row takes at least: topic, docno and a number."""

Table = tuple[list[str], Callable[[str], list[Any]], int]
"""Names of columns, the values of one, and how many rows there are."""


def read_parquet(data: bytes, skipped: Skipped) -> tuple[str, Columns]:
    def opened(pa: Any) -> Table:
        import pyarrow.parquet

        file = pyarrow.parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False)
        about, names = file.metadata, list(file.schema_arrow.names)
        unpacked = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
        check_growth(max(unpacked, about.num_rows * ROW), len(data), skipped.place)
        # Only what is asked for is unpacked: not the texts and vectors that may stand beside it.
        return names, lambda name: file.read([name], use_threads=False).column(name).to_pylist(), about.num_rows

    skipped.unit = "row"
    return "parquet", _table(opened, skipped.place, "a Parquet file")


def read_arrow(data: bytes, skipped: Skipped) -> tuple[str, Columns]:
    def opened(pa: Any) -> Table:
        import pyarrow.feather

        source, before, batches = pa.BufferReader(data), pa.total_allocated_bytes(), []
        if data.startswith(b"FEA1"):
            table = pyarrow.feather.read_table(source)
        else:
            is_stream = data.startswith(b"\xff\xff\xff\xff")
            reader = pa.ipc.open_stream(source) if is_stream else pa.ipc.open_file(source)
            for batch in reader if is_stream else map(reader.get_batch, range(reader.num_record_batches)):
                check_growth(pa.total_allocated_bytes() - before, len(data), skipped.place)
                batches.append(batch)
            table = pa.Table.from_batches(batches, reader.schema)
        return table.column_names, lambda name: table.column(name).to_pylist(), table.num_rows

    skipped.unit = "row"
    return "arrow", _table(opened, skipped.place, "an Arrow file")


def _table(opened: Callable[[Any], Table], place: str, what: str) -> Columns:
    """The columns of a table, which are read as they are asked for. Raises InputError then, too."""
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(place, f"is {what}", "pip install 'gradedeval[parquet]'") from None

    def whole(read: Callable[[Any], Made], given: Any) -> Made:
        try:
            return read(given)
        except InputError:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError):
            problem = f"begins like {what} but cannot be read as one"
            raise InputError(place, problem, "write the file again", kind="format") from None

    names, values, rows = whole(opened, pa)
    check_distinct(names, place)
    return Columns(names, cache(lambda name: whole(values, name)), rows)
