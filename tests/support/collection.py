"""A small collection with a run of each kind that work is shared by: whole, in parts, packed, in turns, broken."""

import gzip
import random
from pathlib import Path
from typing import Any

import gradedeval
from gradedeval.kernel.options import Options
from gradedeval.kernel.parallel import Limits, Workers
from gradedeval.kernel.scoring.evaluate import evaluate_runs

SMALL = Limits(large_file=6000, segment=3000, block=800, runs=2)
"""With these limits the large run is cut into parts."""


def written_collection(folder: Path) -> Path:
    """Write to a folder: `qrels` of 40 topics with two subtopics, `0.run` to `4.run` with repeated documents, the
    first of them large, `packed.run.gz`, `turns.run` with interleaved topics, and `broken.run`."""
    draw = random.Random(3)
    judged = [
        f"{topic} {rank % 2} d{rank} {draw.choice([0, 0, 1, 2, 3])}\n"
        for topic in range(40)
        for rank in range(0, 60, 3)
    ]
    (folder / "qrels").write_text("".join(judged))
    for number in range(5):
        lines = [
            f"{topic} Q0 d{draw.randrange(60)}x{rank if draw.random() < 0.3 else ''} {rank} {draw.randrange(50)} t\n"
            for topic in range(number, 40)
            for rank in range(5 if number else 12)
        ]
        (folder / f"{number}.run").write_text("".join(dict.fromkeys(lines)).replace("x ", " "))
    (folder / "packed.run.gz").write_bytes(gzip.compress((folder / "0.run").read_bytes()))
    turns = [f"{topic} Q0 d{rank} {rank} {draw.randrange(9)} t\n" for rank in range(20) for topic in range(30)]
    (folder / "turns.run").write_text("".join(turns))
    (folder / "broken.run").write_text("".join(turns[:70]) + "1 Q0 d\n")
    return folder


def outcome(folder: Path, workers: Workers, by_topic: bool, **options: Any) -> Any:
    """Return rows, notes, errors and signature of the runs that were written to a folder."""
    measures = "err@20 alpha_dcg@10 num_ret" if options.get("subtopics") else "err@20 ap insq(T=2) num_ret"
    runs = {path.name: path for path in sorted(folder.iterdir()) if "run" in path.name}
    scores = evaluate_runs(
        *(runs, folder / "qrels", gradedeval.parse_measures(measures), Options(duplicates="first", **options)),
        keep_going=True,
        by_topic=by_topic,
        workers=workers,
    )
    return list(scores.rows(by_topic)), scores.notes, list(map(str, scores.errors)), scores.signature
