"""A run or qrels in a format that is drawn at random: it must score to the bit as the same in TREC form."""

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

from fuzz.case import Case, Kind
from fuzz.invariance import bits
from fuzz.scores import SCALES, evaluated, files, some_measure
from gradedeval import InputError

RUNS = ["msmarco", "beir", "tsv", "csv", "headed", "json", "records", "jsonl", "columns", "bom"]
QRELS = ["beir", "tsv", "csv", "headed", "json", "records", "jsonl", "columns", "bom", "letor", "words"]
NAMES = {
    "topic": ["topic", "query_id", "Query-ID", "q_id", "qid"],
    "docno": ["docno", "doc_id", "DOCID", "doc id"],
    "rank": ["rank"],
    "score": ["score", "sim"],
    "grade": ["grade", "relevance", "label"],
    "note": ["note"],
}
WORDS = ["none", "some", "much", "most", "all"]


def draw(dice: random.Random) -> Case:
    labels = dice.choice(SCALES)
    content = files(dice, labels)
    holds = dice.choice(["run", "qrels"])
    more = {"holds": holds, "form": dice.choice(RUNS if holds == "run" else QRELS), "seed": dice.randrange(1 << 30)}
    return Case(content, tuple({some_measure(dice, labels) for _ in range(4)}), {}, more)


def check(case: Case, folder: Path) -> str | None:
    rows = [line.split() for line in case.files[case.more["holds"]].decode().splitlines() if line.strip()]
    if not rows:
        return None
    source, options = written(rows, case)
    if source is None:
        return None
    (folder / "plain").mkdir()
    (folder / "made").mkdir()
    try:
        original = bits(evaluated(case, folder / "plain"))
    except InputError:
        return None  # other kinds test refusals
    converted = Case({**case.files, case.more["holds"]: source}, case.measures, {**case.options, **options}, case.more)
    try:
        after = bits(evaluated(converted, folder / "made"))
    except InputError as error:
        return f"refused {case.more['form']}: {error}"
    return None if original == after else f"{case.more['form']} differs: {source!r}"


def written(rows: list[list[str]], case: Case) -> tuple[bytes | None, dict[str, Any]]:
    """Return the file in another form, and its options; None if the form cannot hold it."""
    dice, form, holds = random.Random(case.more["seed"]), case.more["form"], case.more["holds"]
    value = "score" if holds == "run" else "grade"
    column = 4 if holds == "run" else 3
    if form == "bom":
        return b"\xef\xbb\xbf" + case.files[holds], {}
    if form == "msmarco":
        text = "".join(f"{row[0]}\t{row[2]}\t{number}\t{row[4]}\n" for number, row in enumerate(rows, 1))
        return text.encode(), {"run_format": "msmarco"}
    if form == "beir":
        if holds == "qrels" and any(float(row[3]) % 1 for row in rows):
            return None, {}
        return ("query-id\tcorpus-id\tscore\n" + "".join(f"{r[0]}\t{r[2]}\t{r[column]}\n" for r in rows)).encode(), {}
    if form == "letor":
        return "".join(f"{row[3]} qid:{row[0]} 1:0.5 # {row[2]}\n" for row in rows).encode(), {"qrels_format": "letor"}
    if form == "words":
        grades = sorted({row[3] for row in rows})
        if len(grades) > len(WORDS):
            return None, {}
        of = dict(zip(grades, WORDS, strict=False))
        text = "".join(f"{row[0]} 0 {row[2]} {of[row[3]]}\n" for row in rows)
        return text.encode(), {"labels": ",".join(f"{of[grade]}={grade}" for grade in grades)}
    numbers = [json.loads(json.dumps(float(row[column]))) for row in rows]
    if form == "json":
        nested: dict[str, dict[str, float]] = {}
        for row, number in zip(rows, numbers, strict=True):
            if row[2] in nested.setdefault(row[0], {}):
                return None, {}
            nested[row[0]][row[2]] = number
        return json.dumps(nested, indent=dice.choice([None, 1])).encode(), {}
    columns = ["topic", "docno", value, *dice.choice([[], ["note"], ["rank", "note"] if holds == "run" else ["note"]])]
    dice.shuffle(columns)
    names = [dice.choice(NAMES[column]) for column in columns]
    cells = [
        {
            "topic": row[0],
            "docno": row[2],
            "rank": row[3],
            value: row[column],
            "note": dice.choice(["", "x", 'a "b", c']),
        }
        for row in rows
    ]
    if form in ("records", "jsonl", "columns"):
        table = [{**cell, value: number} for cell, number in zip(cells, numbers, strict=True)]
        records = [{name: cell[column] for name, column in zip(names, columns, strict=True)} for cell in table]
        if form == "records":
            return json.dumps(records).encode(), {}
        if form == "columns":
            return json.dumps({name: [record[name] for record in records] for name in names}).encode(), {}
        return "".join(json.dumps(record) + "\n" for record in records).encode(), {}
    if form == "headed":
        names = [name.replace(" ", "") for name in names]
        cells = [{**cell, "note": "x"} for cell in cells]
        if columns in (["topic", "note", "docno", "rank", "score", "tag"], ["topic", "subtopic", "docno", "grade"]):
            return None, {}
    text = io.StringIO()
    separator = {"tsv": "\t", "csv": ",", "headed": " "}[form]
    writer = csv.writer(text, delimiter=separator, lineterminator=dice.choice(["\n", "\r\n"]))
    writer.writerow(names)
    writer.writerows([cell[column] for column in columns] for cell in cells)
    return text.getvalue().encode(), {}


FORMATS = Kind(draw, check)
