"""Files of hostile sizes, each read by a command of its own: processor seconds of all its processes, the peak memory of
the largest of them, and what is said.

python tests/benchmarks/sizes.py                        all cases
python tests/benchmarks/sizes.py --only gz long         those whose name has one of these words
python tests/benchmarks/sizes.py --of ../other          the package of another checkout, beside this one's

What bombs unpack to is never written: the files take about 1 GB in --folder, most of it the plain ones.
"""

from __future__ import annotations

import argparse
import bz2
import os
import resource
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
MOST = 12 << 30
"""Bytes of address space that a command may have, so that a case ends before the machine does."""

RUN = b"".join(b"%d Q0 d%d %d %d t\n" % (topic, at, at + 1, 9 - at) for topic in (51, 52) for at in range(9))
QRELS = b"".join(b"%d 0 d%d %d\n" % (topic, at, at % 3) for topic in (51, 52) for at in range(9))
LOG = b"topic\tclicks\tshown\n51\t1 2\td1 d2 d3\n51\t-\td1 d2 d3\n"
SCORES = b"run,topic,measure,score\n" + b"".join(b"r%d,%d,ap,0.%d\n" % (r, t, r + t) for r in (1, 2) for t in (3, 4, 5))
TOML = b"[bounds]\nap = 0.01\n"


def blanks(count: int, line: bytes = b"\n") -> Iterator[bytes]:
    """So many bytes of a line that is repeated, piece by piece."""
    piece = line * (MIB // len(line))
    for _ in range(count // len(piece)):
        yield piece


def written(path: Path, pieces: Iterator[bytes], *around: bytes) -> None:
    """A plain file of the pieces, before and behind which other bytes stand."""
    before, after = (*around, b"", b"")[:2]
    with path.open("wb") as file:
        file.write(before)
        for piece in pieces:
            file.write(piece)
        file.write(after)


def packed(path: Path, pieces: Iterator[bytes], *around: bytes) -> None:
    """The same, compressed as the name of the file says."""
    before, after = (*around, b"", b"")[:2]
    with path.open("wb") as file:
        packer = _packer(path.suffix)
        file.write(packer.compress(before))
        for piece in pieces:
            file.write(packer.compress(piece))
        file.write(packer.compress(after))
        file.write(packer.flush())


def _packer(suffix: str) -> zlib._Compress:
    if suffix == ".zst":
        import zstandard

        return zstandard.ZstdCompressor(level=3).compressobj()  # type: ignore[return-value]
    return bz2.BZ2Compressor() if suffix == ".bz2" else zlib.compressobj(9, wbits=31)  # type: ignore[return-value]


def parquet(path: Path, rows: int) -> None:
    """A table of so many equal rows, which are a few bytes each million."""
    import pyarrow as pa
    import pyarrow.parquet

    part = 1 << 20
    names = {"topic": "51", "docno": "d1", "score": 1.0}
    table = pa.table({name: pa.repeat(pa.scalar(value), part) for name, value in names.items()})
    with pyarrow.parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(rows // part):
            writer.write_table(table)


@dataclass(frozen=True)
class Case:
    """A command and its files.

    name   what it is
    make   writes the file, of the name that stands for `FILE` in the command
    file   that name
    words  the command
    trusts whether the file may grow to any size
    """

    name: str
    make: Callable[[Path], None]
    file: str
    words: str
    trusts: bool = False


TRUSTED = {"GRADEDEVAL_MAX_GROWTH": "1000000000"}
COUNT = 100 * MIB
READ_AS = {
    "run": (RUN, "FILE qrels -m ap"),
    "qrels": (QRELS, "run FILE -m ap"),
    "subtopics": (QRELS, "run FILE -m erria --subtopics"),
    "lenient run": (RUN + b"51 no line\n", "FILE qrels -m ap --lenient"),
    "csv run": (b"51,d1,3\n51,d2,1\n", "FILE qrels -m ap"),
    "lint": (RUN, "lint FILE"),
    "log": (LOG, "clicks observe FILE"),
    "topics": (b"51\n", "run qrels -m ap --topics-from FILE"),
    "costs": (b"Q0 2\n", "run qrels -m rbp --costs FILE"),
    "gains": (b"0,0\n1,1\n2,2\n", "run qrels -m ndcg --gain @FILE"),
    "weights": (b"1 0.6\n2 0.4\n", "run qrels -m wp(file=FILE)"),
    "fill": (b"51,d1,0.5\n", "run qrels -m err --fill FILE"),
    "scores": (SCORES, "compare --from-scores FILE"),
    "history": (b"", "history FILE"),
    "config": (TOML, "check run qrels --config FILE"),
    "drop-in prefs": (b"51 1 1 d1 1\n51 1 1 d2 0\n", "trec_eval -R prefs -m prefs_simp FILE run"),
}


def cases() -> list[Case]:
    giga = 3 << 30
    listed = [
        Case("gz: 3 GB of newlines, run", lambda p: packed(p, blanks(giga)), "a.gz", "FILE qrels -m ap"),
        Case("gz: 3 GB of newlines, qrels", lambda p: packed(p, blanks(giga)), "a.gz", "run FILE -m ap"),
        Case("gz: 3 GB of spaces, run", lambda p: packed(p, blanks(giga, b" ")), "b.gz", "FILE qrels -m ap"),
        Case("gz: 3 GB of spaces, qrels", lambda p: packed(p, blanks(giga, b" ")), "b.gz", "run FILE -m ap"),
        Case("gz: 3 GB of zeros, qrels", lambda p: packed(p, blanks(giga, b"\0")), "z.gz", "run FILE -m ap"),
        Case("bz2: 3 GB of newlines, run", lambda p: packed(p, blanks(giga)), "a.bz2", "FILE qrels -m ap"),
        Case(
            "zst: a docno of 3 GB, run",
            lambda p: packed(p, blanks(giga, b"d"), b"51 Q0 ", b" 1 2 t\n"),
            "d.zst",
            "FILE qrels -m ap",
        ),
        Case(
            "zst: the same, trusted",
            lambda p: packed(p, blanks(giga, b"d"), b"51 Q0 ", b" 1 2 t\n"),
            "d.zst",
            "FILE qrels -m ap",
            trusts=True,
        ),
        Case(
            "zst: a docno of 3 GB, qrels",
            lambda p: packed(p, blanks(giga, b"d"), b"51 0 ", b" 1\n"),
            "e.zst",
            "run FILE -m ap",
        ),
        Case("parquet: 60 million rows, run", lambda p: parquet(p, 60_000_000), "a.parquet", "FILE qrels -m ap"),
        Case("parquet: 60 million rows, qrels", lambda p: parquet(p, 60_000_000), "a.parquet", "run FILE -m ap"),
        Case("plain: a line of 100 MB of spaces, run", lambda p: written(p, blanks(COUNT, b" ")), "s", "FILE qrels"),
        Case("plain: a line of 100 MB of spaces, qrels", lambda p: written(p, blanks(COUNT, b" ")), "s", "run FILE"),
        Case(
            "plain: 100 MB of comments, qrels",
            lambda p: written(p, blanks(COUNT, b"# of nobody\n"), b"", QRELS),
            "c.qrels",
            "run FILE -m ap",
        ),
        Case(
            "plain: 100 MB of blank lines within a topic, run",
            lambda p: written(p, blanks(COUNT), RUN, RUN.replace(b" d", b" e")),
            "within",
            "FILE qrels -m ap",
        ),
        Case(
            "plain: 1,000 lines of 100 kB of spaces, run",
            lambda p: written(p, (b"51 Q0" + b" " * 100_000 + b"d%d 1 -%d t\n" % (at, at) for at in range(1000))),
            "wide",
            "FILE qrels -m ap",
        ),
    ]
    for name, (content, words) in READ_AS.items():
        header = b"topic,docno,score\n" if name == "csv run" else b""
        listed.append(
            Case(
                f"plain: 100 million blank lines, {name}",
                lambda p, around=(header, content): written(p, blanks(COUNT), *around),  # type: ignore[misc]
                f"{name.replace(' ', '')}.toml" if name == "config" else f"{name.replace(' ', '')}.txt",
                words,
            )
        )
        if name != "config":  # which nobody packs
            listed.append(
                Case(
                    f"gz: 100 million blank lines, {name}",
                    lambda p, around=(header, content): packed(p, blanks(COUNT), *around),  # type: ignore[misc]
                    f"{name.replace(' ', '')}.gz",
                    words,
                    trusts=True,
                )
            )
    for size in (100_000, 1_000_000, 8_000_000):
        docno = b"x" * size
        for holds, line in (("run", b"51 Q0 %b 1 2 t\n"), ("qrels", b"51 0 %b 1\n")):
            words = "FILE qrels -m ap" if holds == "run" else "run FILE -m ap"
            content = line % docno
            listed.append(
                Case(
                    f"long: a docno of {size:,} bytes, {holds}",
                    lambda p, content=content: written(p, iter([content])),  # type: ignore[misc]
                    f"long{size}.{holds}",
                    words,
                )
            )
    many = b"51 Q0 %b%d 1 -%d t\n"
    listed.append(
        Case(
            "long: 100 docnos of 1,000,000 bytes, run",
            lambda p: written(p, (many % (b"x" * 999_990, at, at) for at in range(100))),
            "many.run",
            "FILE qrels -m ap",
        )
    )
    return listed


@dataclass(frozen=True)
class Taken:
    """What a command took, and what it said."""

    code: int
    seconds: float
    memory: float
    said: str


def taken(words: list[str], package: Path, folder: Path, variables: dict[str, str]) -> Taken:
    """What a command takes, in a process of its own."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "gradedeval", *words],
            cwd=folder,
            env={**plain, **variables, "PYTHONPATH": str(package)},
            stdout=said,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST)),
        )
        _, status, used = os.wait4(process.pid, 0)
        seconds = used.ru_utime + used.ru_stime
        said.seek(0)
        lines = said.read(2000).decode(errors="replace").splitlines()
    shown = next((line for line in reversed(lines) if line.strip()), "")
    return Taken(os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss / 1024, shown[:100])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/gradedeval-sizes"))
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--of", type=Path, help="another checkout, whose package is measured as well")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "run").write_bytes(RUN)
    (given.folder / "qrels").write_bytes(QRELS)
    packages = [*([given.of.resolve()] if given.of else []), ROOT]
    print(f"{'':<48}    file   code   seconds      memory   said last")
    for case in cases():
        if not any(word in case.name for word in given.only):
            continue
        path = given.folder / case.file
        if not path.exists():
            case.make(path)
        for package in packages:
            words = case.words.replace("FILE", case.file)
            found = taken(words.split(), package, given.folder, TRUSTED if case.trusts else {})
            figures = f"{path.stat().st_size / 1e6:7.2f} {found.code:6} {found.seconds:7.2f} s {found.memory:7.0f} MiB"
            print(f"{case.name:<48} {figures}   {found.said}", flush=True)


if __name__ == "__main__":
    main()
