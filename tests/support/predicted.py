"""Topics that people judged, and others that only a machine did; a machine that errs, and three runs."""

import random
from pathlib import Path

from support.runs import write_qrels, write_run

TOPICS = [f"t{number:02}" for number in range(40)]
JUDGED = TOPICS[::2]
OTHERS = [topic for topic in TOPICS if topic not in JUDGED]
DOCNOS = [f"d{number:02}" for number in range(20)]

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def _collection() -> tuple[Qrels, Qrels, dict[str, Run]]:
    """Return the judgments of all topics, those of a machine that sometimes errs by a grade, and runs that differ."""
    drawn = random.Random(5)
    truth = {topic: {docno: drawn.choice((0, 0, 0, 1, 2, 3)) for docno in DOCNOS} for topic in TOPICS}
    machine = {
        topic: {
            docno: min(3, max(0, grade + drawn.choice((0, 0, 0, 1, -1)))) for docno, grade in grades_of_topic.items()
        }
        for topic, grades_of_topic in truth.items()
    }
    for grades_of_topic in (*truth.values(), *machine.values()):
        grades_of_topic["d00"] = 3
    results = {
        name: {topic: {docno: skill * grade + 3 * drawn.random() for docno, grade in grades_of_topic.items()}
               for topic, grades_of_topic in truth.items()}
        for name, skill in (("a", 0.0), ("b", 0.5), ("c", 0.6))
    }  # fmt: skip
    runs = {
        name: {
            topic: {docno: score for docno, score in grades_of_topic.items() if score > 1}
            for topic, grades_of_topic in run.items()
        }
        for name, run in results.items()
    }
    return truth, machine, runs


TRUTH, MACHINE, RUNS = _collection()
PEOPLE = {topic: TRUTH[topic] for topic in JUDGED}


def write_files(folder: Path) -> None:
    """Write `a.run`, `b.run`, `c.run`, `people.qrels` and `machine.qrels`."""
    for name, run in RUNS.items():
        write_run(folder / f"{name}.run", run)
    for name, qrels in (("people", PEOPLE), ("machine", MACHINE)):
        write_qrels(folder / f"{name}.qrels", qrels)
