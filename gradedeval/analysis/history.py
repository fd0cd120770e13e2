"""`history`: evaluations in the order of time, one a line of a file that is only ever appended to."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.score_matrix import Matrix, to_matrix
from gradedeval.arrays import LARGEST
from gradedeval.cli.arguments import as_time
from gradedeval.errors import InputError, ProblemList, plural, shorten, warn_caller
from gradedeval.formats import json_text
from gradedeval.formats.frames import to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options.values import allowed_growth
from gradedeval.scoring.scores import Scores
from gradedeval.scoring.signature import Signature, without_interval
from gradedeval.scoring.summaries import summarize
from gradedeval.trec.json_values import TOO_DEEP, TOO_LONG, read_json
from gradedeval.trec.lines import decode
from gradedeval.trec.source import Source, is_named
from gradedeval.trec.stream import Stream
from gradedeval.trec.whole_lines import numbered_lines
from gradedeval.trec.written import append_lines

if TYPE_CHECKING:
    import pandas as pd

VERSION, KEY, LEVEL = 1, "gradedeval_history", 0.95
TEXTS, NUMBERS = {"time", "label", "run", "signature"}, ("score", "low", "high", "topics")
FOREIGN = "is not a line of a history", "they are written by `gradedeval eval --append-to`"
REMOVE = "remove the line"
COLUMNS = ("run", "measure", "time", "label", "score", "low", "high", "topics", "change", "from_best", "changed",
           "passed", "signature")  # fmt: skip


@dataclass(frozen=True, eq=False)
class History(InNotebook, document="analysis.history_tables.history_document"):
    """What a file of evaluations tells.

    frame  a row for each evaluation of a run by a measure, in the order of time: run, measure, time, label, score, low,
           high (the 95% interval), topics, change (from the last before it), from_best (from the best so far: 0 where
           it is the best), changed (what is not as in the last before it: then nothing is compared, and change and
           from_best begin again), passed (of `check`), signature
    notes  what was skipped
    """

    frame: pd.DataFrame
    place: str
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<History {self.place}: {len(self.frame)} scores>"


def append_history(
    scores: Scores,
    path: str | os.PathLike[str],
    *,
    time: str | datetime | None = None,
    label: str = "",
) -> None:
    """Append an evaluation to a history: one line for each run.

    scores  what `gradedeval.evaluate` returns
    path    the file; it is made where it is not there
    time    ISO 8601, as in "2026-11-22T13:00:00Z" (without a zone it is UTC), or a datetime; None: now
    label   a commit, a version, a word

    Several processes may append at the same time: the lines are one write at the end of the file. Intervals are at 95%;
    where `scores` have others, that is a warning. Raises
    `gradedeval.InputError` where the file cannot be written, or the time is none.
    """
    warn_caller(append_scores(scores, path, {}, time, label))


def append_scores(
    scores: Scores,
    path: str | os.PathLike[str],
    files: Mapping[str, str],
    time: str | datetime | None = None,
    label: str = "",
) -> list[str]:
    """As `append_history`; without a time it is that of each run's file. Returns notes for the user."""
    append_lines(path, lines_of(to_matrix(scores), scores.measures, files, as_time(time), label))
    level = scores.options.interval
    if level is None or level == LEVEL:
        return []
    return [f"{os.fsdecode(path)}: keeps intervals at {LEVEL:.0%}, as every history does, not at {100 * level:.10g}%"]


def lines_of(
    matrix: Matrix,
    measures: Sequence[Measure],
    files: Mapping[str, str],
    time: datetime | None,
    label: str,
    passed: Mapping[str, bool] | None = None,
) -> list[str]:
    """A line for each run. Without a time it is that of the run's file, or now.

    measures  those of the matrix
    files     run -> its path
    passed    run -> whether it passed a check; of other runs there is no line
    """
    from gradedeval.scoring.intervals import Scale, summary_intervals  # few evaluations need it

    signature = without_interval(matrix.signature)
    rows = [row for row, run in enumerate(matrix.runs) if passed is None or run in passed]
    cells = [(matrix.score[row], matrix.included[row]) for row in rows]
    intervals = summary_intervals(cells, list(map(Scale.of, measures)), 1 - LEVEL)
    lines = []
    for row, (_, lows, highs) in zip(rows, intervals.transpose(0, 2, 1), strict=True):
        run, found = matrix.runs[row], {}
        for column, (measure, low, high) in enumerate(zip(measures, lows.tolist(), highs.tolist(), strict=True)):
            kept = matrix.included[row, :, column]
            score = (
                float(summarize(matrix.score[row, kept, column], measure.reading.summary)) if kept.any() else math.nan
            )
            numbers = {"score": score, "low": low, "high": high}
            found[measure.label] = {
                **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
                "topics": int(kept.sum()),
            }
        entry = {KEY: VERSION, "time": _time_of(files.get(run), time), "label": label, "run": run}
        if passed is not None:
            entry["passed"] = passed[run]
        lines.append(json_text({**entry, "signature": signature, "scores": found}))
    return lines


def _time_of(file: str | None, time: datetime | None) -> str:
    if time is None and file is not None and is_named(file):
        time = Source(file).modified
    return (time or datetime.now(UTC)).isoformat(timespec="seconds")


def read_history(path: str | os.PathLike[str], *, max_growth: float | str | None = None) -> History:
    """The course of every run and measure in a file that `append_history`, `gradedeval eval --append-to` or `check
    --history` wrote. A compressed file may unpack to `max_growth` times its size: a number, or "inf"; None: 1000.

    Returns `History`: `.frame`, `.notes`. A line that was cut short is skipped, with a note. Raises
    `gradedeval.InputError` for any other line that is none of a history, or one of a later version.
    """
    with allowed_growth(max_growth), closing(Stream(Source(path))) as stream:
        entries, notes = _entries(stream)
    entries.sort(key=lambda entry: as_time(entry["time"]) or datetime.min.replace(tzinfo=UTC))
    last: dict[tuple[str, str], dict[str, Any]] = {}
    best: dict[tuple[str, str], float] = {}
    rows = []
    for entry in entries:
        for measure, found in entry["scores"].items():
            key = (entry["run"], measure)
            changed = _changed(last[key], entry, measure) if key in last else ""
            score = found["score"]
            if changed:
                best.pop(key, None)
            before = last[key]["scores"][measure]["score"] if key in last and not changed else None
            if score is not None:
                best[key] = score if key not in best else (max if _sign(measure) > 0 else min)(best[key], score)
            rows.append(
                {
                    "run": entry["run"],
                    "measure": measure,
                    "time": entry["time"],
                    "label": entry["label"],
                    **{name: found.get(name) for name in ("score", "low", "high", "topics")},
                    "change": score - before if score is not None and before is not None else None,
                    "from_best": score - best[key] if score is not None else None,
                    "changed": changed,
                    "passed": entry.get("passed"),
                    "signature": entry["signature"],
                }
            )
            last[key] = entry
    frame = to_frame(rows, columns=list(COLUMNS))
    numbers = ["score", "low", "high", "change", "from_best"]
    return History(frame.astype(dict.fromkeys(numbers, float)), stream.place, notes)


def _entries(stream: Stream) -> tuple[list[dict[str, Any]], list[str]]:
    """The evaluations in a file, and notes about lines that were cut short."""
    problems, entries, torn, foreign = ProblemList(place := stream.place), [], list[int](), 0
    for number, line in numbered_lines(stream, longest=None):
        try:
            entry = read_json(decode(line))
        except json.JSONDecodeError as fault:
            if fault.msg == TOO_LONG:
                problems.add(number, f"is not valid JSON ({fault.msg})", REMOVE)
                continue
            if fault.msg != TOO_DEEP and line.lstrip().startswith(b"{"):
                torn = [*torn, number][:6]  # of which five are named
                continue
            entry = None
        if not isinstance(entry, dict) or KEY not in entry:
            foreign = foreign or number
            problems.add(number, *FOREIGN)
        elif error := _fault(entry):
            problems.add(number, *error)
        else:
            entries.append(entry)
    if foreign and not entries:  # another file: one line is enough
        raise InputError(f"{place}:{foreign}", *FOREIGN)
    problems.check()
    which = f"{plural(len(torn), 'line')} {shorten(map(str, torn))} cut short while being written" if torn else ""
    if not entries:
        what = f"holds no evaluation ({which})" if torn else "holds no evaluation"
        raise InputError(place, what, "write one with `gradedeval eval --append-to`")
    return entries, [f"{place}: {which}; skipped"] if torn else []


def _fault(entry: dict[str, Any]) -> tuple[str, str] | None:
    """What is wrong with an entry, and what to do about it."""
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
        return f"'{'passed' if isinstance(scores, dict) else 'scores'}' is none of an evaluation", REMOVE
    for measure, found in scores.items():
        if not isinstance(found, dict) or "score" not in found:
            return f"has no score of '{measure}'", REMOVE
        for name in NUMBERS:
            value = found.get(name)
            if value is not None and not (type(value) in (int, float) and abs(value) < LARGEST):
                return f"'{name}' of '{measure}' is not a number", REMOVE
    try:
        as_time(entry["time"])
    except InputError as error:
        return error.problem, "correct the time"
    return None


def _changed(before: Mapping[str, Any], after: Mapping[str, Any], measure: str) -> str:
    """What two evaluations do not share, though the means depend on it, in words; nothing where they may be
    compared."""
    first, second = Signature.read(before["signature"]), Signature.read(after["signature"])
    counts = [str(entry["scores"][measure].get("topics")) for entry in (after, before)]
    differences: dict[str, tuple[str | None, str | None]] = {}
    if first is not None and second is not None:
        differences = second.differences_of_means(first, measure)
    elif before["signature"] != after["signature"]:
        differences = {"signature": (None, None)}
    if not differences and counts[0] != counts[1]:
        differences = {"number of topics": (counts[0], counts[1])}
    return ", ".join(
        f"{name} {there} → {here}" if here and there else name for name, (here, there) in differences.items()
    )


def _sign(measure: str) -> int:
    """1 where more is better, or the measure is not known here; −1 where less is."""
    try:
        (known,) = parse_measures(measure)
    except (InputError, ValueError):
        return 1
    return known.reading.sign
