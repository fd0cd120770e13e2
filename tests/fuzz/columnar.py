"""Arrow, Feather and Parquet files with damaged bytes: one line, or the scores of an honest reader.

A fault may end the interpreter, so files are read in processes of their own, many in each:
`python -m tests.fuzz.columnar FIRST COUNT`.
"""

import io
import json
import random
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gradedeval
from fuzz.case import Case, Kind
from gradedeval import EvaluationWarning, InputError

BATCH = 50
"""Files that one process reads."""
MEASURES = "ap ndcg@10 err@20"
FORMS = ["file", "stream", "feather", "parquet"]
NUMBERS = [0, 1, -1, 2**31 - 1, -(2**31), 2**16, 7, 255]
"""Values of four bytes: lengths and offsets."""
SECONDS = 300
REFUSED = "refused: "


def columns(dice: random.Random) -> tuple[dict[str, list[Any]], str]:
    """Return the columns of a run or of judgments, and which of both."""
    holds = dice.choice(["run", "qrels"])
    third = "score" if holds == "run" else "grade"
    table: dict[str, list[Any]] = {"topic": [], "docno": [], third: []}
    for topic in range(dice.randint(1, 5)):
        for number, docno in enumerate(dice.sample(range(40), dice.randint(3, 20))):
            table["topic"].append(f"t{topic}")
            table["docno"].append(f"d{'x' * (docno % 4)}{docno}")
            table[third].append(9.5 - number / 4 if holds == "run" else docno % 3)
    return table, holds


def packed(dice: random.Random, table: dict[str, list[Any]], form: str) -> bytes:
    """Return the table as a file, with the types and the settings that writers choose."""
    import pyarrow as pa
    from pyarrow import feather, ipc, parquet

    texts = [pa.string(), pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    if form in ("file", "stream"):
        texts += [pa.binary(), pa.string_view()]
    numbers = [pa.float64(), pa.float32(), pa.int64(), pa.int32()]
    types = [dice.choice(texts), dice.choice(texts), dice.choice(numbers)]
    made = pa.table(
        [pa.array(map(int, column) if pa.types.is_integer(type) else column, type)
         for column, type in zip(table.values(), types, strict=True)],
        names=list(table),
    )  # fmt: skip
    rows = dice.choice([None, 7])
    out = io.BytesIO()
    if form in ("file", "stream"):
        options = ipc.IpcWriteOptions(compression=dice.choice([None, None, "lz4", "zstd"]))
        with (ipc.new_file if form == "file" else ipc.new_stream)(out, made.schema, options=options) as writer:
            writer.write_table(made.unify_dictionaries(), max_chunksize=rows)
    elif form == "feather":
        feather.write_feather(made, out, compression=dice.choice(["uncompressed", "lz4", "zstd"]), chunksize=rows)
    else:
        parquet.write_table(
            made, out, row_group_size=rows, compression=dice.choice(["none", "snappy", "zstd", "gzip"]),
            use_dictionary=dice.random() < 0.5, data_page_version=dice.choice(["1.0", "2.0"]),
        )  # fmt: skip
    return out.getvalue()


def damaged(dice: random.Random, content: bytes) -> bytes:
    """Return the file with some of its bytes changed, left out or repeated. The first bytes stay: they identify the
    format."""
    data = bytearray(content)
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        position = dice.randrange(8, len(data) - 8)
        way = dice.randrange(8)
        if way == 0:
            data[position] ^= 1 << dice.randrange(8)
        elif way == 1:
            data[position] = dice.randrange(256)
        elif way < 5:
            position -= position % 4
            data[position : position + 4] = dice.choice(NUMBERS).to_bytes(4, "little", signed=True)
        elif way == 5:
            position, second = position - position % 4, dice.randrange(8, len(data) - 8) // 4 * 4
            data[position : position + 4], data[second : second + 4] = (
                data[second : second + 4],
                data[position : position + 4],
            )
        elif way == 6:
            length = dice.randrange(1, 64)
            data[position : position + length] = data[position : position + length] * dice.choice([0, 2])
        else:
            del data[position + dice.randrange(8) :]
        if len(data) < 32:
            break
    return bytes(data)


def drawn(number: int) -> tuple[bytes, bytes, str, str]:
    """Return a file before and after, whether it holds a run or judgments, and its form."""
    dice = random.Random(number)
    table, holds = columns(dice)
    form = dice.choice(FORMS)
    whole = packed(dice, table, form)
    return whole, damaged(dice, whole), holds, form


def honest(content: bytes) -> list[dict[str, Any]] | None:
    """Return the rows of a file as pyarrow reads and validates it; None if it refuses."""
    import pyarrow as pa
    from pyarrow import ipc, parquet

    try:
        source = pa.BufferReader(content)
        if content.startswith(b"PAR1"):
            file = parquet.ParquetFile(source)
            table = file.read(use_threads=False)
            if table.num_rows != file.metadata.num_rows:
                return None
        elif content.startswith(b"ARROW1"):
            table = ipc.open_file(source).read_all()
        else:
            table = ipc.open_stream(source).read_all()
        table.validate(full=True)
        return table.to_pylist() if len(set(table.column_names)) == table.num_columns else None
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError, TypeError):
        return None


def outcome(source: Any, holds: str) -> dict[str, float] | str:
    """Return the means of a run and judgments, one of them the source; or the error message."""
    counterpart = {f"t{topic}": {f"d{'x' * (d % 4)}{d}": d % 3 for d in range(0, 40, 2)} for topic in range(5)}
    run, qrels = (source, counterpart) if holds == "run" else (counterpart, source)
    try:
        return dict(gradedeval.evaluate(run, qrels, MEASURES).means)
    except InputError as error:
        return f"{REFUSED}{error}"


def difference(number: int, file: Path) -> tuple[str, str | None]:
    """Return the ending of a damaged file, and its problem."""
    _, content, holds, form = drawn(number)
    file.write_bytes(content)
    rows = honest(content)
    expected = REFUSED if rows is None else outcome(rows, holds)
    sources: dict[str, Any] = {"path": str(file), **in_memory(content)}
    for name, source in sources.items():
        result = outcome(source, holds)
        if isinstance(result, str):
            if any("; " not in line for line in result.removeprefix(REFUSED).splitlines()):
                return form, f"a message without a cure: {name}: {result}"
            if not isinstance(expected, str):
                return form, f"refused, and not by an honest reader: {name}: {result}"
        elif result != expected:
            return form, f"scores differ: {name}: {result}, not {expected}"
    return f"{form} {'refused' if isinstance(expected, str) else 'scored'}", None


def in_memory(content: bytes) -> dict[str, Any]:
    """Return the tables with columns that point into the bytes, without validation."""
    import pandas
    import pyarrow as pa

    try:
        source = pa.BufferReader(content)
        reader = pa.ipc.open_file(source) if content.startswith(b"ARROW1") else pa.ipc.open_stream(source)
        table = reader.read_all()
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return {}
    tables = {"pyarrow": table}
    try:
        if len({*map(len, table.columns)}) == 1:
            tables["pandas"] = table.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)
    except (UnicodeDecodeError, pa.ArrowException):  # a name or a type that pandas refuses itself
        pass
    return tables


def read_batch(first: int, count: int) -> int:
    """Read the files, each named before it is read: of one that ends this process only its number is left."""
    warnings.simplefilter("ignore", EvaluationWarning)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="columnar-") as folder:
        for number in range(first, first + count):
            print(number, flush=True)
            try:
                ended, wrong = difference(number, Path(folder) / "FILE")
            except Exception as error:
                ended, wrong = "traceback", f"{type(error).__name__}: {error}"
            print(json.dumps([ended, wrong]), flush=True)
    return 0


def batch(first: int, count: int) -> tuple[Counter[str], list[str]]:
    """Return how many files of a process ended in each way, and the problems; a file that ends the process is one of
    them."""
    ways: Counter[str] = Counter()
    wrong: list[str] = []
    end = first + count
    while first < end:
        words = [sys.executable, __file__, str(first), str(end - first)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
        lines = done.stdout.splitlines()
        for number, line in zip(lines[::2], lines[1::2], strict=False):
            ended, fault = json.loads(line)
            ways[ended if fault is None else fault.partition(":")[0]] += 1
            wrong += [] if fault is None else [f"{ended} {number}: {fault}"]
        if len(lines) % 2:
            ways["crash"] += 1
            wrong.append(f"crash {lines[-1]}: exit code {done.returncode}")
        elif done.returncode:
            raise RuntimeError(done.stderr)
        first += -(-len(lines) // 2)
    return ways, wrong


def draw(dice: random.Random) -> Case:
    return Case({}, (), {}, {"first": dice.randrange(10**9)})


def check(case: Case, folder: Path) -> str | None:
    _, wrong = batch(case.more["first"], BATCH)
    return wrong[0] if wrong else None


COLUMNAR = Kind(draw, check, lambda case: BATCH, weight=0.5)


if __name__ == "__main__":
    sys.exit(read_batch(int(sys.argv[1]), int(sys.argv[2])))
