"""Differences between runs, and pools: mirrors, sums, and documents that are never asked for."""

import random
from collections import defaultdict
from pathlib import Path

from fuzz import command
from fuzz.case import Case, Kind
from fuzz.experiments import RUNS, draw, near, numbers
from gradedeval.questions.to_judge import STRATEGIES
from support.commands import rows

Row = dict[str, str]
ONE = 1e-9


def draw_options(dice: random.Random) -> Case:
    """Return three runs and qrels, with options of reading and ranking."""
    case = draw(dice)
    chances: list[tuple[str, object]] = [
        ("ties", dice.choice(["docno-asc", "file", "best", "worst", "rank", "average"])),
        ("depth", dice.choice([1, 3, 8])),
        ("topics", dice.choice(["both", "run", "relevant"])),
        ("judged_only", True),
        ("rel", 2),
    ]
    options = {**case.options, **dict(chance for chance in chances if dice.random() < 0.2)}
    return Case(case.files, case.measures, options, case.more)


def check_changes(case: Case, folder: Path) -> str | None:
    """Check that `diff a a` is empty, `diff a b` mirrors `diff b a`, and contributions sum to differences; the
    others end cleanly."""
    case.write(folder)
    (folder / "copy").write_bytes(case.files["r1"])
    topic = case.files["qrels"].split()[0].decode()
    form = ("csv", "json", "table", "latex", "markdown", "html")[case.more["way"] % 6]
    reading = [*(word for word in _reading(case).words), "-f", form]
    for words in (
        ["explain", "r1", "r2", "qrels", "--topic", topic, *case.words, "-f", form],
        ["compare", "-q", *RUNS, "qrels", *case.words, "-f", form],
        ["diff", "r1", "r2", "qrels", "--reproduce", "r3", "r2", *case.words, "-f", form],
        ["diff", "r1", "r2", "--reproduce", "r3", "r2", *reading],
        ["diff", "r1", "r2", "qrels", "--topic", topic, *case.words, "-f", form],
        ["diff", *RUNS, *reading],
    ):
        if wrong := command.unclean(command.run(words, folder)):
            return f"{' '.join(words[:3])} {wrong}"
    return _diffs(case, folder) or _agreement(case, folder)


def _reading(case: Case) -> Case:
    """Return the options of reading and ranking, without measures: those that need no judgments."""
    return Case(case.files, (), {name: case.options[name] for name in ("ties", "depth") if name in case.options})


def _diffs(case: Case, folder: Path) -> str | None:
    pairs = (("r1", "r2"), ("r2", "r1"), ("r1", "copy"))
    forth, back, same = (command.run(["diff", *pair, "qrels", *case.words, "-f", "csv"], folder) for pair in pairs)
    for outcome in (forth, back, same):
        if wrong := command.unclean(outcome):
            return f"diff {wrong}"
    if forth.code != back.code:
        return f"diff mirror: exit codes {forth.code} {back.code}: {forth.err!r} {back.err!r}"
    if forth.code:
        return None
    if same.code == 0 and any(float(row["difference"]) or float(row["explains"]) for row in rows(same.text)):
        return f"diff of a run and itself: {rows(same.text)[:2]}"
    key = ("measure", "topic", "part", "docno")
    forward, backward = (
        {tuple(row[name] for name in key): row for row in rows(outcome.text)} for outcome in (forth, back)
    )
    if forward.keys() != backward.keys():
        return f"diff mirror: rows {forward.keys() ^ backward.keys()}"
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for place, row in forward.items():
        opposite = backward[place]
        mirrored = [("rank", "baseline_rank"), ("contribution", "baseline_contribution"), ("score", "baseline_score")]
        for column, opposite_column in [*mirrored, ("same_order", "same_order"), ("grade", "grade")]:
            if not near(row[column], opposite[opposite_column]) or not near(row[opposite_column], opposite[column]):
                return f"diff mirror: {column} of {place}: {row[column]} and {opposite[opposite_column]}"
        for name in ("difference", "explains"):
            if not near(row[name], opposite[name], -1):
                return f"diff mirror: {name} of {place}: {row[name]} and {opposite[name]}"
        sums[row["measure"], row["topic"]] += float(row["explains"])
    differences = {(row["measure"], row["topic"]): float(row["difference"]) for row in forward.values()}
    for of, difference in differences.items():
        if abs(sums[of] - difference) > ONE * max(1, abs(difference)):
            return f"diff sum: {of}: {sums[of]} and {difference}"
    return _scored(case, folder, list(forward.values()))


def _scored(case: Case, folder: Path, changes: list[Row]) -> str | None:
    """Check that the scores of `diff` are those of `eval`."""
    scored = command.run(["r1", "r2", "qrels", *case.words, "-q", "-f", "csv"], folder)
    scores = {(row["run"], row["measure"], row["topic"]): row["score"] for row in rows(scored.text)}
    for row in changes:
        for run, score in (("r1", row["baseline_score"]), ("r2", row["score"])):
            if not near(scores.get((run, row["measure"], row["topic"]), "none"), score):
                return f"diff score: {row['measure']} of {run}, {row['topic']}: {score}"
    return None


def _agreement(case: Case, folder: Path) -> str | None:
    pairs = (("r1", "r2"), ("r2", "r1"))
    forth, back = (command.run(["diff", *pair, *_reading(case).words, "-f", "csv"], folder) for pair in pairs)
    for outcome in (forth, back):
        if wrong := command.unclean(outcome):
            return f"agreement {wrong}"
    opposite = {row["topic"]: row for row in rows(back.text)}
    for row in rows(forth.text):
        for name in ("rbo", "rbo_low", "rbo_high", "residual", "overlap", "tau", "common"):
            if not near(row[name], opposite[row["topic"]][name]):
                return f"agreement mirror: {name} of {row['topic']}: {row[name]} and {opposite[row['topic']][name]}"
        if not float(row["rbo_low"]) - ONE <= float(row["rbo"]) <= float(row["rbo_high"]) + ONE:
            return f"agreement bounds: {row}"
    return None


def check_pools(case: Case, folder: Path) -> str | None:
    """Check that no pool asks for judged documents or for documents outside the runs, and that scores are those of
    `eval`."""
    case.write(folder)
    (folder / "groups").write_text("r1 x\nr2 x\nr3 y\n")
    dice = random.Random(case.more["seed"])
    groups = ["--groups", "groups"] if dice.random() < 0.5 else []
    plain = command.run(["pool", *RUNS, "qrels", *groups, *_reading(case).words, "-f", "csv"], folder)
    if wrong := command.unclean(plain):
        return f"pool {wrong}"
    return (
        _asked(case, folder, dice) or _left_out(case, folder, groups) or _assessors(case, folder) or _kept(case, folder)
    )


def _asked(case: Case, folder: Path, dice: random.Random) -> str | None:
    words = ["--to-judge", "--strategy", dice.choice(STRATEGIES), "--budget", str(dice.choice([1, 3, 100]))]
    words += ["--as-qrels", "-m", dice.choice(case.measures)]
    outcome = command.run(["pool", *RUNS, "qrels", *words], folder)
    if wrong := command.unclean(outcome):
        return f"to judge {wrong}"
    documents = [tuple(line.split()[::2]) for line in outcome.out.splitlines()]
    judged = {tuple(line.split()[::2]) for line in case.files["qrels"].splitlines()}
    listed = {tuple(line.split()[:3:2]) for run in RUNS for line in case.files[run].splitlines()}
    if len(set(documents)) < len(documents) or set(documents) & judged or not set(documents) <= listed:
        return f"to judge: {set(documents) & judged or set(documents) - listed or 'twice'}"
    return None


def _left_out(case: Case, folder: Path, groups: list[str]) -> str | None:
    words = [*RUNS, "qrels", *case.words, "-f", "csv"]
    outcome = command.run(["pool", "--leave-one-out", *groups, *words], folder)
    if wrong := command.unclean(outcome):
        return f"leave one out {wrong}"
    scored = {(row["run"], row["measure"]): row["score"] for row in rows(command.run(words, folder).text)}
    for row in rows(outcome.text) if not outcome.code else ():
        if not near(row["score"], scored[row["run"], row["measure"]]):
            return f"leave one out: score {row} and {scored[row['run'], row['measure']]}"
        if row["score"] and row["unique"] == "0" and not near(row["score"], row["score_without"]):
            return f"leave one out: nothing is unique in {row}"
    return None


def _assessors(case: Case, folder: Path) -> str | None:
    outcome = command.run(["agreement", "qrels", "qrels", *RUNS, *case.words, "-f", "csv"], folder)
    if wrong := command.unclean(outcome):
        return f"assessors {wrong}"
    for row in rows(outcome.text):
        share = row["what"] in ("same", "kappa", "weighted_kappa", "alpha", "tau")
        if share and row["value"] not in ("", "nan") and not near(row["value"], "1"):  # of one grade there is none
            return f"assessors: a judge and himself: {row}"
    return None


def _kept(case: Case, folder: Path) -> str | None:
    for label in ("one", "two"):
        words = [*RUNS, "qrels", *case.words, "--history", "h.jsonl", "--label", label]
        words += ["-f", "csv"]
        if wrong := command.unclean(done := command.run(words, folder)):
            return f"history {wrong}"
        if done.code:
            return None
    outcome = command.run(["history", "h.jsonl", "-f", "csv"], folder)
    if wrong := command.unclean(outcome):
        return f"history {wrong}"
    if len(rows(outcome.text)) != 2 * len(rows(done.text)):  # of measures that are the same one is kept
        return f"history: {len(rows(outcome.text))} rows"
    moved = [row for row in rows(outcome.text) if row["label"] == "two" and row["change"] not in ("", "0.0")]
    return f"history: the same evaluation has changed: {moved[0]}" if moved else None


CHANGES = Kind(draw_options, check_changes, numbers, weight=0.7)
POOLS = Kind(draw_options, check_pools, numbers, weight=0.7)
