"""Small valid files of every kind that a command reads, and damaged copies."""

import io
import json
import random
import tempfile
from functools import cache
from pathlib import Path

import pandas as pd

from fuzz import command
from fuzz.files import BYTES, PACKERS, mutated
from support.dated import dated

TOPICS, DOCNOS = ["1", "2", "3"], [f"d{number}" for number in range(9)]
JUDGED = [(topic, docno, at % 4) for topic in TOPICS for at, docno in enumerate(DOCNOS[:8])]
MEASURES_PY = b"from gradedeval import measure\n@measure\ndef mine(g):\n    return g.gain[:, 0]\n"
CONFIG = b'baseline = "b.run"\nmeasures = ["ap", "err@3"]\nties = "file"\n[min]\nap = 0.1\n[max-drop]\nap = "50%"\n'
PREFERENCES = b"topic\tlist_a\tlist_b\tsign\n1\td0 d1 d2\td3 d4 d5\t1\n2\td1 d2\td5 d6\t-1\n3\td3 d1\td0 d2\t1\n"

# Files that gradedeval writes, each by a command that writes it to `out`, after the files that it reads.
MADE = {
    "saved.csv": "a.run b.run c.run qrels -m 'ap err@3' -q --residuals split -f csv -o out",
    "saved.json": "a.run b.run c.run qrels -m 'ap err@3' -q -f json -o out",
    "saved.jsonl": "a.run b.run qrels -m 'ap err@3' -q -f jsonl -o out",
    "record.json": "a.run qrels -m ap --record out",
    "history.jsonl": "a.run b.run qrels -m 'ap err@3' --history out",
    "reference.csv": "a.run b.run c.run qrels -m 'ap err@3' --standardize --save-reference out",
    "attention.csv": "clicks observe log.tsv --ranks 4 -f csv -o out",
    "model.json": "clicks models log.tsv --model dbn --iterations 2 --write-model out",
    "relevance.csv": "clicks models log.tsv --model sdbn --min-seen 1 --write-relevance out",
}


def ranked(name: str) -> list[tuple[str, str, int, float]]:
    """Return the rows of a run: topic, docno, rank, score; with ties."""
    dice = random.Random(name)
    rows = []
    for topic in TOPICS:
        scores = sorted((dice.choice([1, 2, 2.5, 3, dice.random()]) for _ in range(6)), reverse=True)
        rows += [(topic, *pair) for pair in zip(dice.sample(DOCNOS, 6), range(1, 7), scores, strict=True)]
    return rows


def log() -> list[dict[str, str]]:
    """Return sessions of a click log."""
    dice, rows = random.Random("log"), []
    for number in range(24):
        documents = dice.sample(DOCNOS, 4)
        clicks = " ".join(map(str, sorted(dice.sample(range(1, 5), dice.randint(0, 3)))))
        names = {"user": dice.choice("xy"), "session": f"s{number}", "kind": dice.choice("pq")}
        rows.append({"topic": dice.choice(TOPICS), "clicks": clicks, "shown": " ".join(documents), **names})
    return rows


def text(rows: list[tuple[object, ...]], between: str = " ", header: str = "") -> bytes:
    return (header + "".join(between.join(map(str, row)) + "\n" for row in rows)).encode()


def runs() -> dict[str, bytes]:
    """Runs in several formats."""
    files = {}
    for name in ("a.run", "b.run", "c.run"):
        files[name] = text([(topic, "Q0", *row, name[0]) for topic, *row in ranked(name)])
    a, b = ranked("a.run"), ranked("b.run")
    files["run.tsv"] = text(
        [(topic, docno, score) for topic, docno, _, score in a], "\t", "query-id\tcorpus-id\tscore\n"
    )
    nested: dict[str, dict[str, float]] = {}
    for topic, docno, _, score in b:
        nested.setdefault(topic, {})[docno] = score
    files["run.json"] = json.dumps(nested).encode()
    files["run.jsonl"] = b"".join(json.dumps({"qid": t, "docno": d, "score": s}).encode() + b"\n" for t, d, _, s in a)
    files["run.parquet"] = parquet({"topic": [row[0] for row in b], "docno": [row[1] for row in b],
                                    "score": [row[3] for row in b]})  # fmt: skip
    return files


def judgments() -> dict[str, bytes]:
    """Return qrels in several formats, with subtopics and with strata."""
    nested: dict[str, dict[str, int]] = {}
    for topic, docno, grade in JUDGED:
        nested.setdefault(topic, {})[docno] = grade
    columns = {"topic": [row[0] for row in JUDGED], "docno": [row[1] for row in JUDGED]}
    return {
        "qrels": text([(topic, 0, docno, grade) for topic, docno, grade in JUDGED]),
        "intents.qrels": text(
            [(topic, 1 + number % 2, docno, grade) for number, (topic, docno, grade) in enumerate(JUDGED)]
        ),
        "strata.qrels": text(
            [(topic, 0, docno, 1 + number % 2, grade) for number, (topic, docno, grade) in enumerate(JUDGED)]
        ),
        "qrels.json": json.dumps(nested).encode(),
        "qrels.csv": text(JUDGED, ",", "topic,docno,grade\n"),
        "qrels.letor": text([(grade, f"qid:{topic}", f"1:0.5 # docid={docno}") for topic, docno, grade in JUDGED]),
        "qrels.parquet": parquet({**columns, "grade": [row[2] for row in JUDGED]}),
    }


def parquet(columns: dict[str, list[object]]) -> bytes:
    out = io.BytesIO()
    pd.DataFrame(columns).to_parquet(out)
    return out.getvalue()


def small() -> dict[str, bytes]:
    """Return the files of options and of measures."""
    sessions = log()
    fill = [(topic, docno, 0.5) for topic in TOPICS for docno in DOCNOS[7:]]
    return {
        "log.tsv": text([tuple(row.values()) for row in sessions], "\t", "\t".join(sessions[0]) + "\n"),
        "log.jsonl": b"".join(json.dumps(row).encode() + b"\n" for row in sessions),
        "preferences.tsv": PREFERENCES,
        "gains.csv": b"grade,gain\n0,0\n1,0.25\n2,0.5\n3,1\n",
        "costs": b"Q0 1\n0 2\n",
        "fill.csv": text(fill, ",", "topic,docno,gain\n"),
        "topics": b"1\n3\n",
        "groups": b"a.run x\nb.run x\nc.run y\n",
        "prior": text([(topic, intent, 0.5) for topic in TOPICS for intent in (1, 2)], ","),
        "weights.csv": b"rank,weight\n1,0.5\n2,0.3\n3,0.2\n",
        "utility.csv": b"1\n0.5\n0.25\n",
        "chances.csv": b"rank,C\n1,0.7\n2,0.8\n3,0.9\n",
        "zscores": b"1 ap 0.5 0.1\n2 ap 0.25 0.2\n3 ap 0.4 0.2\n",
        "config.toml": CONFIG,
        "mine.py": MEASURES_PY,
    }


@cache
def inputs() -> dict[str, bytes]:
    """Return all files by name; those in our own formats are written by the program."""
    import shlex

    files = {**runs(), **judgments(), **small()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, words in MADE.items():
            for other, content in files.items():
                (folder / other).write_bytes(content)
            done = command.run(shlex.split(words), folder)
            assert done.code == 0, f"{words}: {done.err.decode()}"
            files[file] = dated((folder / "out").read_bytes())
            (folder / "out").unlink()
    return files


# Names of inputs by their name in a command: an argument, an option, or the placeholder of its value.
CALLED = {
    "RUN": ["a.run", "a.run", "b.run", "c.run", "run.tsv", "run.json", "run.jsonl", "run.parquet"],
    "QRELS": ["qrels", "qrels", "qrels", "intents.qrels", "strata.qrels", "qrels.json", "qrels.csv", "qrels.letor",
              "qrels.parquet"],
    "LOG": ["log.tsv", "log.tsv", "log.tsv", "log.jsonl", "log.jsonl", "preferences.tsv"],
    "QRELS2": ["qrels", "qrels.csv", "qrels.json"],
    "RECORD": ["record.json"],
    "history": ["history.jsonl"],
    "--from-scores": ["saved.csv", "saved.json", "saved.jsonl"],
    "--baseline": ["a.run", "saved.csv", "saved.json"],
    "--reference": ["reference.csv"],
    "--Zscore": ["zscores"],
    "--weights": ["weights.csv", "attention.csv"],
    "--to-weights": ["weights.csv", "attention.csv"],
    "--model-from": ["model.json"],
    "--fill": ["fill.csv", "relevance.csv"],
    "--costs": ["costs"],
    "--groups": ["groups"],
    "--topics-from": ["topics"],
    "--validate": ["topics"],
    "--config": ["config.toml"],
    "--measures-from": ["mine.py"],
}  # fmt: skip


HOSTILE = [
    *(b"", b"\n", b"\n\n \t\n", b"# a comment\n", b"\x00" * 70, b"\xef\xbb\xbf", b"\xff\xfe1\x00 \x00", b"\r\r\r"),
    *(b"{", b"[" * 60, b"{}", b"[]", b"null", b'"a"', b"[1, 2]", b'{"a": {"b": 1e999}}', b'{"1": {"d1": null}}'),
    *(b"PAR1" + b"\x00" * 20 + b"PAR1", b"ARROW1\x00\x00", b"\x1f\x8b\x08\x00", b"BZh91AY&SY", b"\xfd7zXZ\x00"),
    *(b"\x28\xb5\x2f\xfd\x00", b"PK\x03\x04\x14\x00", b"\x7fELF\x02\x01"),
    *(b"%PDF-1.4\n", b"<!DOCTYPE html>\n<p>404</p>\n"),
    *(b"1 Q0 d1 1 2 t\n" * 2, b"1 Q0 caf\xe9 1 2 x\n", b"caf\xe9 0 d1 1\n", b"1 0 d1 1\n" * 3, b"x" * 5000, b"x,y,z\n"),
    *(b"1\t2\t3\n", b"\xe4 \xf6 \xfc\n", b"nan nan nan nan\n", b"run,topic,measure,score\n", b"topic\tclicks\n", b" "),
    *(b"[tool]\n", b"= 1\n", b"a = [", b"def x(:\n", b"raise SystemExit(0)\n", b"rank,weight\n1,1e308\n2,1e308\n"),
]


def spoilt(content: bytes, dice: random.Random) -> tuple[str, bytes]:
    """Return a damaged copy of a file, and the kind of damage."""
    treatment = dice.choice(
        ["cut", "changed", "changed", "changed", "packed", "packed and broken", "replaced", "another", "long"]
    )
    pack = PACKERS[dice.choice([name for name in PACKERS if name != "plain"])]
    if treatment == "cut":
        return treatment, content[: dice.randrange(len(content) + 1)]
    if treatment == "changed":
        column = dice.randrange(6)
        return treatment, mutated(content, dice, column)
    if treatment == "packed":
        return treatment, pack(content)
    if treatment == "broken":  # and packed
        whole = pack(content)
        position = dice.randrange(len(whole))
        flipped = whole[:position] + bytes([whole[position] ^ (1 << dice.randrange(8))]) + whole[position + 1 :]
        return treatment, dice.choice(
            [whole[:position], flipped, whole + dice.choice([b"junk", b"\x00" * 5, whole[:9]])]
        )
    if treatment == "replaced":
        return treatment, dice.choice(HOSTILE)
    if treatment == "another":
        return treatment, inputs()[dice.choice(sorted(inputs()))]
    lines = content.split(b"\n")
    position = dice.randrange(len(lines))
    lines[position] = dice.choice(
        [lines[position] * 50, lines[position] + dice.choice(BYTES) * 300, b" " * 3000 + lines[position]]
    )
    return treatment, b"\n".join(lines)
