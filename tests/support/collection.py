"""A small collection with a run of each kind that work is shared by: whole, in parts, packed, in turns, broken."""

from __future__ import annotations

import gzip
import random
from pathlib import Path


def written_collection(folder: Path) -> Path:
    """In a folder: `qrels` of 40 topics with two subtopics, `0.run` to `4.run` with documents twice, the first of them
    large, `packed.run.gz`, `turns.run`, whose topics take turns, and `broken.run`."""
    draw = random.Random(3)
    judged = [
        f"{topic} {at % 2} d{at} {draw.choice([0, 0, 1, 2, 3])}\n" for topic in range(40) for at in range(0, 60, 3)
    ]
    (folder / "qrels").write_text("".join(judged))
    for number in range(5):
        lines = [
            f"{topic} Q0 d{draw.randrange(60)}x{at if draw.random() < 0.3 else ''} {at} {draw.randrange(50)} t\n"
            for topic in range(number, 40)
            for at in range(5 if number else 12)
        ]
        (folder / f"{number}.run").write_text("".join(dict.fromkeys(lines)).replace("x ", " "))
    (folder / "packed.run.gz").write_bytes(gzip.compress((folder / "0.run").read_bytes()))
    turns = [f"{topic} Q0 d{at} {at} {draw.randrange(9)} t\n" for at in range(20) for topic in range(30)]
    (folder / "turns.run").write_text("".join(turns))
    (folder / "broken.run").write_text("".join(turns[:70]) + "1 Q0 d\n")
    return folder
