"""Click logs with what does not belong there: a clean error or a result, the same however the log is written."""

import json
import random
from pathlib import Path

from fuzz import command
from fuzz.case import Case, Kind
from fuzz.files import mutated

QRELS = b"".join(b"q%d 0 d%d %d\n" % (topic, docno, (topic + docno) % 4) for topic in range(4) for docno in range(6))
VERBS = [
    ["observe", "log", "--ranks", "5"],
    ["observe", "log", "--per", "user"],
    ["fit", "log", "-m", "rbp(p=0.2..0.8..0.2)", "--ranks", "4"],
    ["measures", "log", "qrels"],
    ["measures", "log", "--depth", "2"],
    ["correlate", "log", "qrels", "-m", "err ap(rel=2)", "--unjudged", "keep"],
    ["correlate", "log", "qrels", "-m", "rr", "--by", "kind"],
    ["correlate", "log", "qrels", "-m", "err", "--pairs", "5"],
    ["models", "log", "--model", "cm dcm sdbn", "--floor", "1e-6"],
    ["models", "log", "qrels", "--model", "dbn(gamma=fit) ubm", "--tie", "grade", "--iterations", "3"],
    ["gains", "log", "qrels", "--model", "cm"],
    ["gains", "log", "qrels", "--for", "gap"],
    ["gains", "log", "qrels", "--from", "correlation", "--click-measure", "qctr", "-m", "rbp"],
    ["gains", "log", "qrels", "--from", "correlation", "-m", "dcg@3"],
    ["gains", "log", "qrels", "--from", "correlation", "--for", "utility"],
    ["gains", "log", "qrels", "--for", "gap", "--share"],
]
COLUMNS = ("topic", "clicks", "shown", "user", "session", "time", "count", "kind")


def rows(dice: random.Random) -> list[dict[str, str]]:
    """Sessions in order: ranks or docnos of lists of up to six documents."""
    made = []
    for number in range(dice.randint(1, 12)):
        shown = dice.sample([f"d{docno}" for docno in range(7)], dice.randint(1, 6))
        clicked = dice.sample(range(1, len(shown) + 1), dice.randint(0, len(shown)))
        made.append(
            {
                "topic": f"q{dice.randrange(5)}",
                "clicks": " ".join(map(str, clicked)) or dice.choice(["", "-"]),
                "shown": " ".join(shown),
                "user": dice.choice(["", "a", "b"]),
                "session": f"s{number}",
                "time": str(dice.randrange(9000)),
                "count": str(dice.choice([1, 1, 2, 10**6])),
                "kind": dice.choice(["x", "y", "1", ""]),
            }
        )
    return made


def in_tabs(sessions: list[dict[str, str]], columns: list[str]) -> bytes:
    return "".join(
        "\t".join(line) + "\n" for line in [columns, *([row[c] for c in columns] for row in sessions)]
    ).encode()


def in_json(sessions: list[dict[str, str]], columns: list[str]) -> bytes:
    return "".join(json.dumps({column: row[column] for column in columns}) + "\n" for row in sessions).encode()


def draw(dice: random.Random) -> Case:
    sessions, words = rows(dice), [*dice.choice(VERBS)]
    columns = dice.sample(COLUMNS[2:], dice.randint(0, 6)) if dice.random() < 0.4 else [*COLUMNS[2:]]
    idle = dice.random() < 0.2
    if idle:
        words += ["--idle", "60m"]
        columns = [*dict.fromkeys([*columns, "user", "time"])]
        columns = [column for column in columns if column != "count"]
    columns = dice.sample(["topic", "clicks", *columns], len(columns) + 2)
    content, other = in_tabs(sessions, columns), in_json(sessions, columns)
    if dice.random() < 0.5:
        content, other = other, content
    hostile = dice.random() < 0.7
    if hostile:
        content = mutated(content, dice, 0)
        words += dice.choice([[], ["--lenient"]])
    more = {"words": ["clicks", *words], "other": b"" if hostile else other}
    return Case({"log": content, "qrels": QRELS}, (), {}, more)


def check(case: Case, folder: Path) -> str | None:
    case.write(folder)
    words = [*case.more["words"], "-f", "json"]
    found = command.run(words, folder)
    if wrong := command.unclean(found):
        return wrong
    if found.code:
        said = found.err.decode("utf-8", "replace").splitlines()
        if found.out or not all(line.strip() for line in said) or len(said) > 12:
            return f"no clean error: {found.out[:200]!r} {found.err[:400]!r}"
        return None
    json.loads(found.out, parse_constant=lambda word: _refuse(word))
    if case.more["other"]:
        (folder / "log").write_bytes(case.more["other"])
        again = command.run(words, folder)
        if (again.code, again.out) != (found.code, found.out):
            return f"another result of the same sessions: {again.out[:300]!r} {again.err[:200]!r}, {found.out[:300]!r}"
    return None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} in JSON")


CLICK_LOGS = Kind(draw, check, weight=1)
