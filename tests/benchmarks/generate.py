"""Seeded runs and qrels for the benchmark: the three workloads, and the same run in other forms."""

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COLLECTION = 8_841_823
JUDGED = 100


@dataclass(frozen=True)
class Workload:
    """Runs of some topics × documents, and the qrels they share."""

    runs: list[Path]
    qrels: Path

    @property
    def size(self) -> int:
        return sum(run.stat().st_size for run in self.runs)


def workload(folder: Path, name: str, topics: int, depth: int, runs: int = 1) -> Workload:
    """Write a workload, or find it written before. Half of the judged documents are retrieved by the first run."""
    workload_made = Workload([folder / f"{name}-{number:03d}.run" for number in range(runs)], folder / f"{name}.qrels")
    if not workload_made.qrels.exists():
        for number, path in enumerate(workload_made.runs):
            _write(path, (line for topic in range(topics) for line in _ranking(topic, depth, number)))
        _write(workload_made.qrels, (line for topic in range(topics) for line in _judgments(topic, depth)))
    return workload_made


def _ids(topic: int, depth: int, run: int) -> list[int]:
    draw = random.Random(f"{topic} {run % 7}")
    return draw.sample(range(COLLECTION), depth)


def _ranking(topic: int, depth: int, run: int) -> Iterator[str]:
    draw = random.Random(f"{topic} scores {run}")
    score = 30 + 5 * draw.random()
    for rank, docno in enumerate(_ids(topic, depth, run), 1):
        score -= 0.02 * draw.random()
        yield f"{1000000 + 7 * topic} Q0 passage-{docno:07d} {rank} {score:.6f} bm25-tuned\n"


def _judgments(topic: int, depth: int) -> Iterator[str]:
    draw = random.Random(f"{topic} judged")
    retrieved = draw.sample(_ids(topic, depth, 0), min(depth, JUDGED) // 2)
    for docno in dict.fromkeys([*retrieved, *draw.sample(range(COLLECTION), JUDGED // 2)]):
        yield f"{1000000 + 7 * topic} 0 passage-{docno:07d} {draw.choice([0, 0, 0, 1, 1, 2, 3])}\n"


def _write(path: Path, lines: Iterator[str]) -> None:
    part = path.with_suffix(".part")
    with part.open("w", encoding="ascii") as file:
        file.writelines(lines)
    part.rename(path)


def in_form(run: Path, form: str) -> Path:
    """Return the same run written otherwise: a form of FORMS, or several runs' worth of it as `10x`."""
    target = run.with_suffix(f".{form}")
    if not target.exists():
        FORMS[form](run, target)
    return target


def _by_line(run: Path, target: Path, change: object) -> None:
    with run.open("r", encoding="ascii") as lines:
        _write(target, (change(line.split()) for line in lines))  # type: ignore[operator]


def _tabs(run: Path, target: Path) -> None:
    draw = random.Random(1)

    def change(field: list[str]) -> str:
        field[4] = repr(float(field[4]) + 1e-7 * draw.random())
        return "\t".join(field) + "\n"

    _by_line(run, target, change)


def _blanks(run: Path, target: Path) -> None:
    _by_line(run, target, lambda field: "  ".join(field) + "\n")


def _unsorted(run: Path, target: Path) -> None:
    draw = random.Random(2)

    def change(field: list[str]) -> str:
        field[4] = f"{35 * draw.random():.6f}"
        return " ".join(field) + "\n"

    _by_line(run, target, change)


def _interleaved(run: Path, target: Path) -> None:
    """Rank by rank instead of topic by topic."""
    by_rank: dict[str, list[str]] = {}
    with run.open("r", encoding="ascii") as lines:
        for line in lines:
            by_rank.setdefault(line.split()[3], []).append(line)
    _write(target, (line for lines in by_rank.values() for line in lines))


def _gz(run: Path, target: Path) -> None:
    with run.open("rb") as plain, gzip.open(target, "wb", compresslevel=6) as packed:
        while piece := plain.read(1 << 24):
            packed.write(piece)


FORMS = {"tabs": _tabs, "unsorted": _unsorted, "blanks": _blanks, "interleaved": _interleaved, "gz": _gz}


def longer(run: Path, times: int) -> Path:
    """Return a run of so many times as many topics, contiguous."""
    target = run.with_suffix(f".{times}x")
    if not target.exists():
        _repeat(run.read_bytes(), times, target)
    return target


def judged_alike(qrels: Path, times: int) -> Path:
    """Return qrels for all topics of a run that is `longer`: as many lines as those given, so every so many-th of
    each topic's lines, for so many times as many topics."""
    target = qrels.with_suffix(f".{times}x")
    if not target.exists():
        lines = qrels.read_bytes().splitlines(keepends=True)
        _repeat(b"".join(lines[::times]), times, target)
    return target


def _repeat(content: bytes, times: int, target: Path) -> None:
    """Write the lines `times` times, each time with other topics; ids keep their length: 1000007 becomes b000007."""
    with target.with_suffix(".part").open("wb") as file:
        file.write(content)
        for number in range(1, times):
            mark = bytes([96 + number // 26]) + bytes([97 + number % 26])
            file.write(mark + content[2:].replace(b"\n10", b"\n" + mark))
    target.with_suffix(".part").rename(target)
