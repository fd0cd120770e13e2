"""The whole of `gradedeval trec_eval`: files and words -> text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from gradedeval.errors import InputError
from gradedeval.measures.table import MEASURES
from gradedeval.options import Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.score_tables import render
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.scores import Scores
from gradedeval.trec_eval.judgment_groups import read_groups, score_groups, score_preferences
from gradedeval.trec_eval.output_lines import Line
from gradedeval.trec_eval.preferences import read_preferences
from gradedeval.trec_eval.printing import Wanted, printed
from gradedeval.trec_eval.score import Scored, needed, score_run


@dataclass
class Outcome:
    """What is to be written, and what is to be said beside it."""

    text: str
    notes: list[str] = field(default_factory=list)


def rules_of(complete: bool, level: int | None, depth: int | None, judged_only: bool, version: str) -> Options:
    """trec_eval's rules: -c, -l, -M, -J, and the precision in which a version of it reads scores."""
    options = resolve_options(
        "trec_eval",
        topics="qrels" if complete else "both",
        rel=level,
        depth=depth,
        judged_only=judged_only,
        scores="float32" if version == "9" else None,
    )
    return replace(options, extra_fields=True)


def evaluated(
    runs: Mapping[str, str],
    qrels: str,
    lines: list[Line],
    options: Options,
    wanted: Wanted,
    form: str | None = None,
    workers: Workers | None = None,
) -> Iterator[Outcome]:
    """The text of each run, or one text of all in another `form`; several workers may share a large run.
    Raises InputError where a file is wrong."""
    workers = workers or Workers()
    lines, notes = (lines, []) if form is None else _as_numbers(lines, form)
    judged = Qrels(qrels, duplicates=options.duplicates)
    scorer = Scorer(judged, needed(lines), options)
    yield Outcome("", [*scorer.notes, *notes])
    scores = []
    for name, path in workers.progress(list(runs.items())):
        scored = score_run(name, path, scorer, lines, workers.silent())
        scores.append(scored.scores)
        yield Outcome(_text(scored, lines, wanted, len(runs)) if form is None else "", scored.notes)
    if form is not None:
        yield Outcome(render(Scores(scores, scorer.measures, judged, options), form, by_topic=wanted.by_topic))


def _as_numbers(lines: list[Line], form: str) -> tuple[list[Line], list[str]]:
    """The lines that a format of ours has room for, and what is to be said of the others: it holds numbers alone.

    Raises InputError (usage) where none is left.
    """
    counted = [replace(line, measure=MEASURES["num_q"]) if line.name == "num_q" else line for line in lines]
    lost = ", ".join(line.name for line in counted if line.measure is None)
    kept = [line for line in counted if line.measure is not None]
    what = f"{form} holds numbers, and no text as {lost}"
    if not kept:
        raise InputError("-f", what, "leave out -f", usage=True)
    return kept, [f"-f: {what}; without -f it is printed"] if lost else []


def evaluated_by_groups(
    runs: Mapping[str, str], qrels: str, holds: str, lines: list[Line], options: Options, wanted: Wanted
) -> Iterator[Outcome]:
    """The same for qrels of judgment groups (`qrels_jg`) or preferences (`prefs`, `qrels_prefs`)."""
    if options.judged_only:
        raise InputError("-J", f"cannot be had with -R {holds}", "leave out one of them", usage=True)
    groups = read_groups(qrels) if holds == "qrels_jg" else None
    preferences = None if groups else read_preferences(qrels, holds)
    for name, path in runs.items():
        if groups is not None:
            scored = score_groups(name, path, groups, lines, options)
        elif preferences is not None:
            scored = score_preferences(name, path, preferences, lines, options)
        yield Outcome(_text(scored, lines, wanted, len(runs)), scored.notes)


def _text(scored: Scored, lines: list[Line], wanted: Wanted, runs: int) -> str:
    """The lines of a run; among several each begins with what it is called, where no line says so anyway."""
    named = any(line.name == "runid" and wanted.summary for line in lines)
    head = f"{'runid':<22}\tall\t{scored.run}\n" if runs > 1 and not named else ""
    return head + printed(scored, lines, wanted)
