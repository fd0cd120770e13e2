"""`history`: evaluations over time, in a file that grows by a line for each run."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from gradedeval import kernel
from gradedeval.analysis import saved_scores, score_matrix
from gradedeval.arrays import LARGEST
from gradedeval.errors import InputError, ProblemList, did_you_mean, emit_notes, plural, public, shorten, visible
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, Measure, Setting, Table, parse_measures

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.no_worse import Answer
    from gradedeval.analysis.score_matrix import Matrix
    from gradedeval.kernel import Scores


VERSION, KEY, LEVEL = 1, "gradedeval_history", 0.95
TEXTS, NUMBERS = {"time", "label", "run", "signature"}, ("score", "low", "high", "topics")
FOREIGN = "is not a line of a history", "they are written by `gradedeval eval --history`"
REMOVE = "remove the line"
COLUMNS = ("run", "measure", "time", "label", "score", "low", "high", "topics", "change", "from_best", "changed",
           "passed", "answer", "check", "signature")  # fmt: skip
CHECKS = {True: "passed", False: "FAILED", None: "cannot tell"}
"""Result of a check in a line -> its words; a line without it was not checked."""
LAST = 20
"""Default number of evaluations in a table."""
MARK = "≠: not comparable with the line above, because of what has changed; change and best begin again"

Only = Annotated["AnyMeasure | Sequence[AnyMeasure]", Setting("Only this measure. May be repeated.", metavar="MEASURE",
    spelled=("-m", "--measure"), measure="several")]  # fmt: skip


@dataclass(frozen=True, eq=False)
class History(kernel.results.InNotebook):
    """Evaluations in a file, in the order of time.

    frame  a row for each evaluation of a run by a measure: run, measure, time, label, score, low, high (95% interval),
           topics, change (from the evaluation before), from_best (from the best so far; 0 for the best), changed
           (settings that differ from the evaluation before; change and from_best then begin again), passed (of
           `check`; None without one, and if it cannot tell), answer (of `check --no-worse`: no worse, worse or cannot
           tell), check (passed, FAILED or cannot tell), signature
    notes  on skipped lines
    """

    frame: pd.DataFrame
    place: str
    notes: list[str] = field(default_factory=list)

    def document(self, layout: Layout) -> Document:
        """Return the scores of each run by each measure; for people the last evaluations."""
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)])
        blocks: list[Table | str] = []
        marked = False
        for (run, measure), course in kernel.results.groups(self.frame, "run", "measure").items():
            rows = kernel.results.to_rows(course)
            latest = rows[-LAST:]
            marked = marked or any(row["changed"] for row in latest)
            checked = any(row["check"] is not None for row in latest)
            answered = any(row["answer"] is not None for row in latest)
            columns = [
                Column("time (UTC)"),
                Column("label"),
                Column(str(measure), "score"),
                Column(f"{LEVEL:.0%} interval", "figures"),
                Column("change", "signed"),
                Column("from best", "signed"),
                *([Column("beside the baseline")] if answered else []),
                *([Column("check")] if checked else []),
                Column(""),
            ]
            left_out = len(rows) - len(latest)
            blocks += [visible(str(run)) + (f" ({left_out} before)" if left_out else ""),
                       Table(columns, [_cells(row, answered, checked) for row in latest])]  # fmt: skip
        return Document(blocks, MARK if marked else "")

    def __repr__(self) -> str:
        return f"<History {self.place}: {len(self.frame)} scores>"


def _cells(row: dict[str, Any], answered: bool, checked: bool) -> list[Any]:
    interval = None if row["low"] is None or row["high"] is None else f"{row['low']:.4f} to {row['high']:.4f}"
    verdict = [row[name] for name, is_shown in (("answer", answered), ("check", checked)) if is_shown]
    mark = f"≠ {row['changed']}" if row["changed"] else None
    time = as_time(row["time"])
    minute = None if time is None else f"{time.astimezone(UTC):%Y-%m-%d %H:%M}"
    return [minute, row["label"], row["score"], interval, row["change"], row["from_best"], *verdict, mark]


@public
def append_history(
    scores: Scores, path: str | os.PathLike[str], *, time: str | datetime | None = None, label: str = ""
) -> None:
    """Append an evaluation to a history: one line for each run.

    scores  the result of `gradedeval.evaluate`
    path    the file, which is created if missing
    time    ISO 8601, such as "2026-11-22T13:00:00Z" (UTC without a zone), or a datetime; None: now
    label   a commit, a version, a word

    Several processes may append at the same time: the lines are one write at the end of the file. Intervals are at 95%;
    another level of `scores` is a warning. Raises `gradedeval.InputError` if the file cannot be written, or for an
    invalid time.

    >>> scores = gradedeval.evaluate({"q1": {"d1": 1.2}}, {"q1": {"d1": 2, "d2": 1}}, "ap")
    >>> gradedeval.append_history(scores, "history.jsonl", time="2026-11-22", label="a1b2c3")
    >>> gradedeval.read_history("history.jsonl")
    <History history.jsonl: 1 scores>
    """
    scores = score_matrix.as_scores(scores)
    kernel.append_lines(path, lines_of(score_matrix.to_matrix(scores), scores.measures, as_time(time), label))
    level = scores.options.interval
    if level is not None and level != LEVEL:
        kept = f"keeps intervals at {LEVEL:.0%}, as every history does, not at {100 * level:.10g}%"
        emit_notes([f"{os.fsdecode(path)}: {kept}"])


def as_time(time: str | datetime | None) -> datetime | None:
    """Return a time, in UTC if it has no zone. Raises InputError (usage) for an invalid time."""
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time)
        except ValueError:
            hint = "write it like 2026-11-22T13:00:00Z"
            raise InputError("time", f"'{time}' is not a time", hint, usage=True) from None
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time


def lines_of(
    matrix: Matrix,
    measures: Sequence[Measure],
    time: datetime | None,
    label: str,
    passed: Mapping[str, bool | None] | None = None,
    answers: Mapping[tuple[str, str], Answer] | None = None,
) -> list[str]:
    """Return a line for each run; time None means now.

    measures  of the matrix
    passed    run -> whether it passed a check, None if the check cannot tell; other runs have no line
    answers   (run, measure) -> answer of `check --no-worse`
    """
    signature = saved_scores.without_interval(matrix.signature)
    timestamp = (time or datetime.now(UTC)).isoformat(timespec="seconds")
    rows = [row for row, run in enumerate(matrix.runs) if passed is None or run in passed]
    cells = [(matrix.score[row], matrix.included[row]) for row in rows]
    intervals = kernel.summary_intervals(cells, measures, 1 - LEVEL)
    lines = []
    for row, (_, lows, highs) in zip(rows, intervals.transpose(0, 2, 1), strict=True):
        run, results = matrix.runs[row], {}
        for column, (measure, low, high) in enumerate(zip(measures, lows.tolist(), highs.tolist(), strict=True)):
            kept = matrix.included[row, :, column]
            score = float(measure.reading.summarize(matrix.score[row, kept, column])) if kept.any() else math.nan
            numbers = {"score": score, "low": low, "high": high}
            finite = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
            results[measure.label] = {**finite, "topics": int(kept.sum())}
            if answers and (run, measure.label) in answers:
                results[measure.label]["answer"] = answers[run, measure.label]
        entry = {KEY: VERSION, "time": timestamp, "label": label, "run": run}
        if passed is not None:
            entry["passed"] = passed[run]
        lines.append(kernel.formats.json_text({**entry, "signature": signature, "scores": results}))
    return lines


@public
def read_history(path: str | os.PathLike[str], *, measures: Only = ()) -> History:
    """Read the scores of runs over time from a file by `append_history`, `gradedeval eval --history` or `check
    --history`.

    measures  only these measures

    Returns `History`: `.frame`, `.notes`. An incomplete line is skipped with a note, which is also a warning. Raises
    `gradedeval.InputError` for any other line that does not belong to a history, or of a later version, and (usage) for
    an unknown measure.

    >>> scores = gradedeval.evaluate({"q1": {"d1": 1.2}}, {"q1": {"d1": 2, "d2": 1}}, "ap")
    >>> gradedeval.append_history(scores, "scores.jsonl", label="a1b2c3")
    >>> gradedeval.read_history("scores.jsonl").frame[["label", "measure", "score"]]
        label measure  score
    0  a1b2c3      ap    0.5
    """
    with closing(kernel.stream.Stream(kernel.stream.Source(path))) as stream:
        entries, notes = _entries(stream)
    frame = kernel.results.to_frame(_score_rows(entries), columns=list(COLUMNS))
    frame = frame.astype(dict.fromkeys(["score", "low", "high", "change", "from_best"], float))
    if measures:
        names, labels = list(dict.fromkeys(frame["measure"])), [measure.label for measure in parse_measures(measures)]
        if unknown := next((label for label in labels if label not in names), None):
            hint = did_you_mean(unknown, names) or f"it has {shorten(names)}"
            raise InputError(stream.place, f"has no measure '{unknown}'", hint, usage=True)
        frame = frame[frame["measure"].isin(labels)]
    return History(frame, stream.place, emit_notes(notes))


def _score_rows(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each score, in the order of time."""
    entries.sort(key=lambda entry: as_time(entry["time"]) or datetime.min.replace(tzinfo=UTC))
    last: dict[tuple[str, str], dict[str, Any]] = {}
    best: dict[tuple[str, str], float] = {}
    rows = []
    for entry in entries:
        for measure, result in entry["scores"].items():
            key = (entry["run"], measure)
            changed = _describe_changes(last[key], entry, measure) if key in last else ""
            score = result["score"]
            if changed:
                best.pop(key, None)
            previous = last[key]["scores"][measure]["score"] if key in last and not changed else None
            if score is not None:
                best[key] = score if key not in best else (max if _sign(measure) > 0 else min)(best[key], score)
            rows.append(
                {
                    "run": entry["run"],
                    "measure": measure,
                    "time": entry["time"],
                    "label": entry["label"],
                    **{name: result.get(name) for name in ("score", "low", "high", "topics")},
                    "change": score - previous if score is not None and previous is not None else None,
                    "from_best": score - best[key] if score is not None else None,
                    "changed": changed,
                    "passed": entry.get("passed"),
                    "answer": result.get("answer"),
                    "check": CHECKS[entry["passed"]] if "passed" in entry else None,
                    "signature": entry["signature"],
                }
            )
            last[key] = entry
    return rows


def _entries(stream: kernel.stream.Stream) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the evaluations in a file, and notes on incomplete lines."""
    problems, entries, torn, foreign = ProblemList(place := stream.place), [], list[int](), 0
    for number, entry, problem in kernel.documents.json_lines(stream):
        if problem == "torn":
            torn = [*torn, number][:6]  # of which five are named
        elif problem:
            problems.add(number, f"is not valid JSON ({problem})", REMOVE)
        elif not isinstance(entry, dict) or KEY not in entry:
            foreign = foreign or number
            problems.add(number, *FOREIGN)
        elif error := _problem(entry):
            problems.add(number, *error)
        else:
            entries.append(entry)
    if foreign and not entries:  # another file: one line is enough
        raise InputError(f"{place}:{foreign}", *FOREIGN)
    problems.check()
    incomplete = f"{plural(len(torn), 'line')} {shorten(map(str, torn))} cut short while being written" if torn else ""
    if not entries:
        empty = f"holds no evaluation ({incomplete})" if torn else "holds no evaluation"
        raise InputError(place, empty, "write one with `gradedeval eval --history`")
    return entries, [f"{place}: {incomplete}; skipped"] if torn else []


def _problem(entry: dict[str, Any]) -> tuple[str, str] | None:
    """Return the problem of an entry and its cure; None for a valid entry."""
    from gradedeval.analysis.no_worse import ANSWERS  # not for a help page

    version, scores = entry[KEY], entry.get("scores")
    if type(version) is not int:
        return f"has {json.dumps(version)[:20]} as version of the format, which is not a whole number", REMOVE
    if version != VERSION:
        return f"is of version {version} of the format, and this reads version {VERSION}", "update gradedeval"
    if "scores" not in entry or not entry.keys() >= TEXTS:
        return "lacks a part of an evaluation", REMOVE
    for name in sorted(TEXTS):
        if not isinstance(entry[name], str):
            return f"'{name}' is not text", REMOVE
    if not isinstance(scores, dict) or not isinstance(entry.get("passed"), bool | None):
        return f"'{'passed' if isinstance(scores, dict) else 'scores'}' is not valid", REMOVE
    for measure, result in scores.items():
        if not isinstance(result, dict) or "score" not in result:
            return f"has no score of '{measure}'", REMOVE
        for name in NUMBERS:
            value = result.get(name)
            if value is not None and not (type(value) in (int, float) and abs(value) < LARGEST):
                return f"'{name}' of '{measure}' is not a number", REMOVE
        if result.get("answer") not in (None, *ANSWERS):
            return f"'answer' of '{measure}' is none of {', '.join(ANSWERS)}", REMOVE
    try:
        as_time(entry["time"])
    except InputError as error:
        return error.raw[0], "correct the time"
    return None


def _describe_changes(previous: Mapping[str, Any], current: Mapping[str, Any], measure: str) -> str:
    """Describe settings that the means depend on and that differ between two evaluations; "" if they are comparable."""
    first, second = (saved_scores.Signature.read(entry["signature"]) for entry in (previous, current))
    counts = [str(entry["scores"][measure].get("topics")) for entry in (current, previous)]
    differences: dict[str, tuple[str | None, str | None]] = {}
    if first is not None and second is not None:
        differences = second.differences_of_means(first, measure)
    elif previous["signature"] != current["signature"]:
        differences = {"signature": (None, None)}
    if not differences and counts[0] != counts[1]:
        differences = {"number of topics": (counts[0], counts[1])}
    return ", ".join(f"{name} {old} → {new}" if new and old else name for name, (new, old) in differences.items())


def _sign(measure: str) -> int:
    """Return −1 if lower is better by the measure; 1 if higher is better, or for an unknown measure."""
    try:
        (parsed,) = parse_measures(measure)
    except (InputError, ValueError):
        return 1
    return parsed.reading.sign
