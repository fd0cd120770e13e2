"""Run files with odd but legal content, read by both readers."""

import io
import random
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gradedeval.errors import InputError
from gradedeval.kernel.options import Options
from gradedeval.kernel.parallel import Limits, Workers
from gradedeval.kernel.rankings import qrels
from gradedeval.kernel.rankings.batch import Batch
from gradedeval.kernel.rankings.grade import Grader
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.rankings.run import run_of_lines
from gradedeval.kernel.scoring.tasks import GradedRun, grade_run, map_lists
from gradedeval.kernel.trec.blocks import format_of
from gradedeval.kernel.trec.lines import LineLayout, NeedsLineReader
from gradedeval.kernel.trec.stream import Source, Stream
from support.paths import DATA

SIZES = (1 << 5, 1 << 8, 1 << 12, 1 << 21)


def outcome(grade: Callable[[], GradedRun[Batch]], with_docnos: frozenset[bytes] = frozenset()) -> Any:
    """Return all results of reading a run, topic by topic, with the docnos of some; or the error message."""
    try:
        run = grade()
        topics = {}
        for batch in run.batches:
            for row, (topic, codes, count, pool) in enumerate(
                zip(batch.topics, batch.codes, batch.retrieved, batch.pool.table(), strict=True)
            ):
                assert (codes[count:] == batch.padding_code).all()
                docnos = batch.docnos_of(row).names() if topic in with_docnos else None
                topics[topic] = (codes[:count].tolist(), pool.tolist(), docnos, batch.unjudged_code, batch.codes.dtype)
        # Whether scores rise with the rank is seen from a sample, and of blocks of a few bytes from another one.
        notes = [note for note in run.notes if getattr(note, "kind", "") != "rising-scores"]
        return [(topic, topics[topic]) for topic in run.topics], run.missing, notes, run.tag
    except InputError as error:
        return str(error)


def both(
    run: bytes, judgments: Qrels, rules: Options, size: int, keep_docnos_for: frozenset[bytes] = frozenset()
) -> tuple[Any, Any]:
    """Return the results of the simple reader and of the block reader."""
    simple = outcome(lambda: read_by_line("run", run, judgments, rules, keep_docnos_for), keep_docnos_for)
    return simple, outcome(
        lambda: read_in_blocks(named(run), judgments, rules, keep_docnos_for, block=size), keep_docnos_for
    )


def read_by_line(
    place: str, run: bytes, judgments: Qrels, rules: Options, keep_docnos_for: frozenset[bytes] = frozenset()
) -> GradedRun[Batch]:
    grader = Grader(judgments, rules, keep_docnos_for)
    with closing(Stream(named(run, place))) as stream:
        layout = format_of(stream, "run", rules.run_format)
        assert isinstance(layout, LineLayout)
        read = run_of_lines(stream, rules, layout=layout)
    read.notes[:0] = [f"{place}: {note}" for note in layout.notes]
    return map_lists(lambda part: part.grade(grader), read, grader)


def read_in_blocks(
    source: Source,
    judgments: Qrels,
    rules: Options,
    keep_docnos_for: frozenset[bytes] = frozenset(),
    jobs: int = 1,
    **limits: int,
) -> GradedRun[Batch]:
    grader = Grader(judgments, rules, keep_docnos_for, limits=Limits(**limits))
    return grade_run(source.target, grader, Workers(jobs))


def named(content: bytes, place: str = "run") -> Source:
    file = io.BytesIO(content)
    file.name = place  # type: ignore[attr-defined]
    return Source(file)


def awkward(draw: random.Random, most: int = 40) -> tuple[bytes, bytes]:
    """Return a run and qrels of a few topics with odd but legal content; `most`: documents of a topic."""
    topics = draw.sample(["1", "2", "t3", "2019-1", "économie-8", "a" * 20, "a" * 19 + "b", "51"], draw.randint(1, 6))
    docnos = [draw.choice(["d", "doc-", "clueweb09-en0003-55-", "x" * 40]) + str(rank) for rank in range(60)] + [
        "#",
        "é",
    ]
    lines = []
    tidy = draw.random() < 0.5
    for topic in topics:
        for rank, docno in enumerate(draw.sample(docnos, draw.randint(1, most)), 1):
            score = draw.choice(
                [f"{draw.uniform(-3, 3):.1f}", repr(draw.random()), f"{20 - rank}", f"{draw.random():.2e}"]
            )
            score = f"{20 - rank / 10:.3f}" if tidy else score
            lines.append([topic, "Q0", docno, str(rank), score, "tag"])
    layout = draw.choice(["contiguous", "comes back", "interleaved", "repeats", "contiguous"])
    if layout == "comes back":
        lines.append([topics[0], "Q0", "late", "99", "0.5", "tag"])
    elif layout == "interleaved":
        draw.shuffle(lines)
    elif layout == "repeats":
        lines += draw.sample(lines, 1)
    form = draw.choice(["plain", "plain", "tabs", "blanks", "comments", "mixed"])
    end = draw.choice(["\n", "\n", "\r\n"])
    text = end.join(written(line, form, draw) for line in lines) + draw.choice([end, "", end * 3])
    if draw.random() < 0.15:
        text = spoilt(text, draw)
    judgments = [
        f"{topic} 0 {docno} {draw.choice(['-2', '0', '0', '1', '2', '3'])}\n"
        for topic in [*topics[1:], "only-judged"]
        for docno in draw.sample([*docnos, "late"], draw.randint(1, most))
    ]
    return text.encode(), "".join(judgments).encode()


def written(line: list[str], form: str, draw: random.Random) -> str:
    between = {"tabs": "\t", "blanks": "  "}.get(form, " ")
    if form == "mixed":
        between = draw.choice([" ", "\t", " \t ", "   "])
    first_lines = draw.choice(["", "", "# a comment\n", "\n", " \n"]) if form in ("comments", "mixed") else ""
    return first_lines + (" " if form == "mixed" and draw.random() < 0.2 else "") + between.join(line)


def spoilt(text: str, draw: random.Random) -> str:
    position = draw.randrange(len(text))
    return (
        text[:position] + draw.choice(["\x00", " ", "\n", "\r", "x", "nan ", "_", "\x0b", "1_0"]) + text[position + 1 :]
    )


def real_runs() -> list[Any]:
    """Return the runs beside this checkout; one in twenty-four of each collection, all of them in the exhaustive
    run."""
    places = {"covid-round1": "runs/*", "dl-hard": "runs/*", "trec_eval": "results*", "cwl": "*run*"}
    files = []
    for folder, pattern in places.items():
        for number, path in enumerate(sorted((DATA / folder).glob(pattern))):
            marks = () if number % 24 < 1 else (pytest.mark.exhaustive,)
            files.append(pytest.param(path, id=f"{folder}/{path.name}", marks=marks))
    return files


def qrels_beside(run: Path) -> Path:
    folder = run.parent if run.parent.parent == DATA else run.parent.parent
    return next(path for path in sorted(folder.iterdir()) if path.name.startswith("qrel") and path.is_file())


def read_simply(content: bytes, **options: Any) -> Qrels:
    """Return qrels by the simple reader alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qrels, "read_judgments", refused)
        return Qrels(io.BytesIO(content), **options)


def same_qrels(blocks: Qrels, simple: Qrels) -> None:
    assert blocks.topics == simple.topics
    assert blocks.labels.tolist() == simple.labels.tolist()
    assert (blocks.pool == simple.pool).all()
    assert blocks.codes == simple.codes
    assert blocks.notes == simple.notes
    assert blocks.digest == simple.digest


def write_run(file: Path, run: Mapping[str, Mapping[str, float]]) -> Path:
    """Return a run of a dict as a file."""
    lines = [
        f"{topic} Q0 {docno} 0 {score!r} t\n" for topic, documents in run.items() for docno, score in documents.items()
    ]
    file.write_text("".join(lines))
    return file


def write_qrels(file: Path, qrels: Mapping[str, Mapping[str, float]]) -> Path:
    """Return judgments of a dict as a file."""
    lines = [f"{topic} 0 {docno} {grade}\n" for topic, grades in qrels.items() for docno, grade in grades.items()]
    file.write_text("".join(lines))
    return file


def refused(*_: Any, **__: Any) -> Any:
    raise NeedsLineReader
