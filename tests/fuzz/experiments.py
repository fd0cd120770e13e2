"""Comparisons of runs: invariances, and saved results."""

import csv
import io
import json
import math
import random
import re
from pathlib import Path
from typing import Any

from fuzz import command
from fuzz.case import Case, Kind
from fuzz.scores import some_measure
from gradedeval.analysis.reversals import COLUMNS
from gradedeval.analysis.significance import PAIR_TESTS, TESTS
from support.commands import Outcome, without_flips

LABELS = [0.0, 1.0, 2.0, 3.0]
RUNS = ("r1", "r2", "r3")
# Awkward and legal names of runs, which formats must survive.
NAMES = [
    *("a", "B", "run 1", "=cmd()", "+1", "@x", "a|b", "<b>", "x&y", 'q"q', "o'b", "a,b", "ä", "$x$", "%s", "a_b", "#r"),
    *("{}", "-dash", "a;b"),
]


def draw(dice: random.Random) -> Case:
    """Return three runs over the same topics, and qrels."""
    count = dice.choice([1, 2, 3, 5, 8, 12])
    topics = [str(dice.randrange(1000)) for _ in range(count)]
    content: dict[str, list[str]] = {name: [] for name in (*RUNS, "qrels")}
    for topic in dict.fromkeys(topics):
        names = [f"d{number}" for number in range(dice.randint(1, 12))]
        for name in RUNS:
            retrieved = dice.sample(names, dice.randint(1, len(names)))
            content[name] += [
                f"{topic} Q0 {docno} {rank} {30 - rank - dice.choice([0, 0, 0.5])} {name}\n"
                for rank, docno in enumerate(retrieved, 1)
            ]
        content["qrels"] += [
            f"{topic} 0 {docno} {dice.choice([0, 0, 1, 2, 3])}\n" for docno in names if dice.random() < 0.8
        ]
    content["qrels"].append(f"{topics[0]} 0 other 1\n")
    measures = tuple(dict.fromkeys(some_measure(dice, LABELS) for _ in range(dice.choice([1, 2, 4]))))
    more: dict[str, Any] = {
        "seed": dice.randrange(1 << 30),
        "test": dice.choice(TESTS),
        "correction": dice.choice(["holm", "bonferroni", "bh", "none"]),
        "name": dice.choice(NAMES),
        "way": dice.randrange(100),
    }
    return Case({name: "".join(lines).encode() for name, lines in content.items()}, measures, {"top_grade": 3}, more)


def numbers(case: Case) -> int:
    return len(case.measures) * 10


def rows_of(outcome: Outcome, keys: tuple[str, ...]) -> dict[tuple[str, ...], dict[str, str]]:
    return {tuple(row[key] for key in keys): row for row in csv.DictReader(io.StringIO(outcome.text))}


def near(a: str, b: str, sign: float = 1.0) -> bool:
    """Return whether two cells hold the same number, or the same word."""
    try:
        x, y = float(a), sign * float(b)
    except ValueError:
        return a == b
    return x == y or (math.isnan(x) and math.isnan(y)) or abs(x - y) <= 1e-9 * max(1, abs(x))


def unlike(a: Outcome, b: Outcome, keys: tuple[str, ...], skip: tuple[str, ...] = ()) -> str | None:
    """Return the difference of two tables without their signatures, which stand in the first row of each measure."""
    if a.code != b.code:
        return f"exit code {a.code} and {b.code}: {a.err[-300:]!r} {b.err[-300:]!r}"
    if a.code == 2 or not a.out:
        return None
    first, second = rows_of(a, keys), rows_of(b, keys)
    if first.keys() != second.keys():
        return f"rows {sorted(first)} and {sorted(second)}"
    for key, row in first.items():
        for column, cell in row.items():
            if column not in (*skip, "signature") and not near(cell, second[key][column]):
                return f"{column} of {key}: {cell} and {second[key][column]}"
    return None


def compared(case: Case, folder: Path, *files: str, words: tuple[str, ...] = ()) -> Outcome:
    more = ["--test", case.more["test"], "--draws", "100", "-f", "csv"]
    if case.more["test"] in PAIR_TESTS:
        more += ["--correction", case.more["correction"]]
    return command.run(["compare", *files, *case.words, *more, *words], folder)


KEYS = ("measure", "run", "baseline")
EXACT = ("t", "wilcoxon", "sign", "anova", "bayes")


def check_mirror(case: Case, folder: Path) -> str | None:
    """Check that `compare a b` is `compare b a` with the sign reversed, and that scaled scores, other names and
    topics change nothing."""
    case.write(folder)
    first = compared(case, folder, "r1", "r2", "qrels")
    if wrong := command.unclean(first):
        return wrong
    second = compared(case, folder, "r2", "r1", "qrels")
    if first.code != second.code:
        return f"mirror: exit codes {first.code} {second.code}"
    if first.code:
        return None
    rows = rows_of(first, KEYS)
    if wrong := not_mirrored(rows, rows_of(second, KEYS)) or contradicting(rows):
        return f"mirror {wrong}"
    return reordered(case, folder) or changed(case, folder, first)


def reordered(case: Case, folder: Path) -> str | None:
    """Return runs in another order: the result is the same, except for random draws and the best of several."""
    orders = (("r1", "r2", "r3", "qrels"), ("r3", "r1", "r2", "qrels"))
    first, second = (compared(case, folder, *files, words=("--baseline", "r1")) for files in orders)
    skip = () if case.more["test"] in EXACT else ("p", "p_corrected")
    if wrong := unlike(first, second, KEYS, (*skip, "low", "high", *COLUMNS)):
        return f"order of runs {wrong}"
    return None


def not_mirrored(first: Any, second: Any) -> str | None:
    for (measure, run, baseline), row in first.items():
        opposite = second.get((measure, baseline, run))
        if opposite is None:
            return f"row: {measure}"
        pairs = [
            ("mean", "baseline_mean", 1),
            ("difference", "difference", -1),
            ("wins", "losses", 1),
            ("ties", "ties", 1),
        ]
        pairs += [("effect", "effect", -1), ("p", "p", 1), ("p_corrected", "p_corrected", 1), ("low", "high", -1)]
        pairs += [("better", "worse", 1), ("equivalent", "equivalent", 1)]
        if row.get("tested") == "ratio" and opposite["high"]:  # of geometric means: turned over, not round
            opposite = {**opposite, "high": str(-1 / float(opposite["high"])) if float(opposite["high"]) else "-inf"}
        for mine, theirs, sign in pairs:
            if mine in row and not near(row[mine], opposite[theirs], sign):
                return f"{mine}: {measure} {row[mine]} and {opposite[theirs]}"
    return None


def contradicting(rows: Any) -> str | None:
    """Return whether p and the interval contradict each other about no difference; an end of the interval is open if
    p is small."""
    for key, row in rows.items():
        if row.get("p"):
            same = 1.0 if row["tested"] == "ratio" else 0.0
            p, low, high = (float(row[name]) for name in ("p", "low", "high"))
            inside = low < same < high or (p > 0.05 and same in (low, high))
            if inside != (p > 0.05):
                return f"p {p} beside {low} to {high}: {key}"
    return None


def changed(case: Case, folder: Path, original: Outcome) -> str | None:
    """Apply transformations that change nothing."""
    dice = random.Random(case.more["seed"])
    run, qrels = case.files["r1"], case.files["qrels"]
    scaled = re.sub(rb" (\S+) (\S+)\n", lambda m: b" %r %s\n" % (7.5 * float(m[1]) - 1000, m[2]), run)
    (folder / "r1").write_bytes(scaled)
    after = compared(case, folder, "r1", "r2", "qrels")
    if wrong := unlike(original, after, KEYS):
        return f"scaled {wrong}"
    (folder / "r1").write_bytes(run + b"not-judged Q0 d1 1 1 t\n")
    after = compared(case, folder, "r1", "r2", "qrels")
    if wrong := unlike(original, after, KEYS):
        return f"topic without judgments {wrong}"
    (folder / "r1").write_bytes(run)
    lines = qrels.splitlines(keepends=True)
    dice.shuffle(lines)
    (folder / "qrels").write_bytes(b"".join(lines))
    after = compared(case, folder, "r1", "r2", "qrels")
    # Random draws go to topics in their order: another order has another p.
    skip = () if case.more["test"] in EXACT else ("p", "p_corrected")
    if wrong := unlike(original, after, KEYS, (*skip, "low", "high", *COLUMNS)):
        return f"order of topics {wrong}"
    for name in ("r1", "r2", "qrels"):
        (folder / name).write_bytes(re.sub(rb"(?m)^(\S+)", rb"T\1", case.files[name]))
    after = compared(case, folder, "r1", "r2", "qrels")
    if wrong := unlike(original, after, KEYS):
        return f"renamed topics {wrong}"
    return None


def check_saved(case: Case, folder: Path) -> str | None:
    """Check that commands give the same results for saved scores as for files, and formats the same numbers."""
    case.write(folder)
    name = case.more["name"]
    (folder / name).write_bytes(case.files["r3"])
    third = f"./{name}"
    form = ("csv", "tsv", "json", "jsonl")[case.more["way"] % 4]
    files = ["r1", "r2", third, "qrels"]
    saved = command.run([*files, *case.words, "-q", "--residuals", "split", "-f", form, "-o", f"saved.{form}"], folder)
    if wrong := command.unclean(saved):
        return wrong
    if saved.code:
        return None
    if wrong := formats_differ(case, folder, files):
        return wrong
    draws = ["--draws", "50"]
    lost = form.startswith("json") and _has_infinite_scores(folder, [*files, *case.words])
    verbs: dict[str, list[str]] = {
        "compare": ["-f", "csv", "--test", case.more["test"], *draws],
        "power": ["-f", "csv", *draws],
        "power --plan": ["-f", "csv"],
        "risk": ["-f", "csv"],
        "correlate": ["-f", "csv"],
    }
    for verb, words in verbs.items():
        direct = command.run([*verb.split(), *files, *case.words, *words], folder)
        again = command.run([*verb.split(), "--from-scores", f"saved.{form}", *words], folder)
        for outcome in (direct, again):
            if wrong := command.unclean(outcome):
                return f"{verb} {wrong}"
        if lost and not direct.code:
            if again.code != 1 or b"JSON has none where it is infinite" not in again.err:
                return f"{verb} on scores without their infinite ones: exit {again.code}: {again.err!r}"
            continue
        if direct.code != again.code:
            # A measure without a score on any topic is not among the saved ones.
            if "-m" in (direct.err + again.err).decode() or len(case.measures) < 2:
                continue
            return f"{verb} on saved scores: exit {again.code} instead of {direct.code}: {again.err!r} {direct.err!r}"
        if not direct.code and (
            wrong := cells_differ(*(without_flips(outcome.text, "same_order") for outcome in (direct, again)))
        ):
            return f"{verb} on saved scores: {wrong}"
    return None


def _has_infinite_scores(folder: Path, words: list[str]) -> bool:
    """Return whether a topic has an infinite score, for which JSON has no number: `docs/reference/formats.md`."""
    outcome = command.run([*words, "-q", "-f", "csv"], folder)
    return any(math.isinf(float(row["score"] or 0)) for row in csv.DictReader(io.StringIO(outcome.text)))


def cells_differ(a: str, b: str) -> str | None:
    first, second = list(csv.reader(io.StringIO(a))), list(csv.reader(io.StringIO(b)))
    if len(first) != len(second):
        return f"{len(first)} and {len(second)} rows"
    for row, second_row in zip(first, second, strict=True):
        if len(row) != len(second_row) or not all(near(x, y) for x, y in zip(row, second_row, strict=True)):
            return f"{row} and {second_row}"
    return None


def formats_differ(case: Case, folder: Path, files: list[str]) -> str | None:
    """Return whether formats for programs hold other rows than CSV."""
    texts = {
        form: command.run([*files, *case.words, "-q", "-f", form], folder) for form in ("csv", "tsv", "json", "jsonl")
    }
    for text in texts.values():
        if wrong := command.unclean(text):
            return wrong
    plain = list(csv.DictReader(io.StringIO(texts["csv"].text)))
    unsigned = [{key: cell for key, cell in row.items() if key != "signature"} for row in plain]
    tabs = list(csv.DictReader(io.StringIO(texts["tsv"].text), delimiter="\t"))
    document = [as_text(row) for row in json.loads(texts["json"].text)["rows"]]
    lines = [as_text(json.loads(line)) for line in texts["jsonl"].text.splitlines()]
    for form, rows, mines in (("tsv", tabs, plain), ("json", document, unsigned), ("jsonl", lines, plain)):
        if len(rows) != len(plain):
            return f"{form} has {len(rows)} rows and csv {len(plain)}"
        for mine, row in zip(mines, rows, strict=True):
            if mine.keys() != row.keys() or not all(same(mine[key], row[key]) for key in mine):
                return f"{form} has {row} and csv {mine}"
    return None


def as_text(row: dict[str, Any]) -> dict[str, str]:
    return {key: "" if value is None else str(value) for key, value in row.items()}


def same(a: str, b: str) -> bool:
    """Return whether two numbers are equal to the last bit; a number that JSON cannot hold is blank."""
    try:
        return float(a) == float(b)
    except ValueError:
        return a == b or (b == "" and a in ("inf", "-inf", "nan"))


def check_itself(case: Case, folder: Path) -> str | None:
    """Check that a run passes a check against itself, by every measure and every option."""
    case.write(folder)
    (folder / "same").write_bytes(case.files["r1"])
    words = ["--max-drop", f"{case.measures[0]}=0", "--max-topic-drop", f"{case.measures[-1]}=0"]
    words += ["--significant", f"{case.measures[0]}=0.05", "--draws", "50", *case.more["options"]]
    if case.more["test"] in PAIR_TESTS:
        words += ["--test", case.more["test"]]
    outcome = command.run(["check", "r1", "qrels", "--baseline", "same", "--top-grade", "3", *words], folder)
    if wrong := command.unclean(outcome):
        return wrong
    if outcome.code == 1 and "FAIL" in outcome.out.decode() + outcome.err.decode():
        return f"fails against itself: {outcome.out[-600:]!r} {outcome.err[-300:]!r}"
    return None


def draw_itself(dice: random.Random) -> Case:
    case = draw(dice)
    chances: list[list[str]] = [
        ["--ties", dice.choice(["docno-asc", "file", "best", "worst", "rank", "average"])],
        ["--topics", dice.choice(["both", "run", "relevant"])],
        ["--like", dice.choice(["trec_eval", "ir_measures", "cwl_eval"])],
        ["--negative", "unjudged"],
        ["--depth", dice.choice(["1", "3"])],
        ["--rel", "2"],
        ["--gain", dice.choice(["linear", "exp"])],
        ["--order", "float32"],
        ["--max-residual", "0.5"],
        ["--judged-only"],
    ]
    options = [word for words in chances if dice.random() < 0.2 for word in words]
    files, measures = dict(case.files), list(case.measures)
    if dice.random() < 0.1:  # a stratified sample
        stratified = re.sub(rb"(?m) (\S+)$", lambda match: b" %d %s" % (dice.randint(1, 2), match[1]), files["qrels"])
        files["qrels"], options = stratified, [*options, "--qrels-format", "strata"]
        measures += [dice.choice(["xinfap", "infndcg", "statap"])]
    return Case(files, measures, {}, {**case.more, "options": options})


MIRROR = Kind(draw, check_mirror, numbers, weight=1)
SAVED = Kind(draw, check_saved, numbers, weight=1)
ITSELF = Kind(draw_itself, check_itself, weight=0.5)
