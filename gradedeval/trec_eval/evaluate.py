"""`gradedeval trec_eval` without its command line: files and options -> text."""

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
from gradedeval.trec_eval.printing import PrintOptions, format_run
from gradedeval.trec_eval.score import ScoredRun, needed_measures, score_run


@dataclass
class Outcome:
    """Text for standard output, and notes for standard error."""

    text: str
    notes: list[str] = field(default_factory=list)


def drop_in_options(complete: bool, level: int | None, depth: int | None, judged_only: bool, version: str) -> Options:
    """The options of a trec_eval command line: -c, -l, -M, -J, and the precision in which the version reads scores."""
    options = resolve_options(
        "trec_eval",
        topics="qrels" if complete else "both",
        rel=level,
        depth=depth,
        judged_only=judged_only,
        scores="float32" if version == "9" else None,
    )
    return replace(options, extra_fields=True)


def evaluate_drop_in(
    runs: Mapping[str, str],
    qrels: str,
    lines: list[Line],
    options: Options,
    printing: PrintOptions,
    form: str | None = None,
    workers: Workers | None = None,
) -> Iterator[Outcome]:
    """The output of each run, or one output of all runs in another `form`; several workers may share a large run.

    Raises InputError for invalid files.
    """
    workers = workers or Workers()
    lines, notes = (lines, []) if form is None else _as_numbers(lines, form)
    judged = Qrels(qrels, duplicates=options.duplicates)
    scorer = Scorer(judged, needed_measures(lines), options)
    yield Outcome("", [*scorer.notes, *notes])
    scores = []
    for name, path in workers.progress(list(runs.items())):
        scored = score_run(name, path, scorer, lines, workers.silent())
        scores.append(scored.scores)
        yield Outcome(_text(scored, lines, printing, len(runs)) if form is None else "", scored.notes)
    if form is not None:
        yield Outcome(render(Scores(scores, scorer.measures, judged, options), form, by_topic=printing.by_topic))


def _as_numbers(lines: list[Line], form: str) -> tuple[list[Line], list[str]]:
    """The lines that one of gradedeval's formats can hold, which are numbers only, and a note about the others.

    Raises InputError (usage) where none is left.
    """
    counted = [replace(line, measure=MEASURES["num_q"]) if line.name == "num_q" else line for line in lines]
    lost = ", ".join(line.name for line in counted if line.measure is None)
    numeric = [line for line in counted if line.measure is not None]
    what = f"{form} holds numbers only, not the text of {lost}"
    if not numeric:
        raise InputError("-f", what, "leave out -f", usage=True)
    return numeric, [f"-f: {what}; leave out -f to print it"] if lost else []


def evaluate_groups(
    runs: Mapping[str, str], qrels: str, holds: str, lines: list[Line], options: Options, printing: PrintOptions
) -> Iterator[Outcome]:
    """The same for qrels of judgment groups (`qrels_jg`) or preferences (`prefs`, `qrels_prefs`)."""
    if options.judged_only:
        raise InputError("-J", f"cannot be combined with -R {holds}", "leave out one of them", usage=True)
    groups = read_groups(qrels) if holds == "qrels_jg" else None
    preferences = None if groups else read_preferences(qrels, holds)
    for name, path in runs.items():
        if groups is not None:
            scored = score_groups(name, path, groups, lines, options)
        elif preferences is not None:
            scored = score_preferences(name, path, preferences, lines, options)
        yield Outcome(_text(scored, lines, printing, len(runs)), scored.notes)


def _text(scored: ScoredRun, lines: list[Line], printing: PrintOptions, runs: int) -> str:
    """The lines of a run. If there are several, a first line has its name, unless runid is printed anyway."""
    named = any(line.name == "runid" and printing.summary for line in lines)
    head = f"{'runid':<22}\tall\t{scored.run}\n" if runs > 1 and not named else ""
    return head + format_run(scored, lines, printing)
