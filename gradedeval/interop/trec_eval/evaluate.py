"""`gradedeval trec_eval` without its command line: files and options -> text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gradedeval.errors import InputError, Note
from gradedeval.formats import trec_line
from gradedeval.interop.trec_eval.judgment_groups import read_groups, score_groups, score_preferences
from gradedeval.interop.trec_eval.output_lines import Line
from gradedeval.interop.trec_eval.printing import PrintOptions, format_run
from gradedeval.interop.trec_eval.score import ScoredRun, needed_measures, score_run
from gradedeval.measures.table import MEASURES
from gradedeval.options import Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.doubts import few_topics, united
from gradedeval.scoring.score_tables import render
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.scores import ALL, Scores

HINTS = {
    "missing-topics": "without -c they are left out",
    "duplicate-document": "give each document once",
    "duplicate-judgment": "give each judgment once",
    "no-positive-grade": "are these the right qrels?",
    "label": "grades are numbers",
    "rising-scores": "negate the scores",
    "ties": "break the ties in the run",
    "short-lists": "give longer lists",
    "swapped-files": "the order is QRELS RUN...: are they swapped?",
}
"""Kind of an error or a note -> its hint here: trec_eval's command line lacks most of our options."""


_FORMATS = re.compile(r", or [^,;]* --(run|qrels)-format .*")


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
    return replace(options, extra_fields=True, run_format="trec", qrels_format="trec")


def evaluate_drop_in(
    runs: Mapping[str, str],
    qrels: str,
    lines: list[Line],
    options: Options,
    printing: PrintOptions,
    *,
    holds: str,
    form: str | None,
    workers: Workers,
) -> tuple[str, list[str]]:
    """The output for all runs, in trec_eval's lines or in another `form`, and notes.

    holds    the value of -R
    workers  may share a large run

    Raises InputError for invalid files.
    """
    try:
        if holds == "qrels":
            text, notes = _evaluate(runs, qrels, lines, options, printing, form, workers)
        else:
            text, notes = _evaluate_groups(runs, qrels, holds, lines, options, printing)
    except InputError as error:
        raise _adapted(error) from None
    return text, adapted_notes(notes)


def adapted_notes(notes: Iterable[str]) -> list[str]:
    """The notes with hints that can be followed here."""
    return [
        note.with_hint(HINTS[note.kind]) if isinstance(note, Note) and note.hint and note.kind in HINTS else note
        for note in notes
    ]


def _adapted(error: InputError) -> InputError:
    """The error with hints that this command line can follow."""
    hint = HINTS.get(error.kind, _FORMATS.sub("", error.hint))
    return error.replace(hint=hint, also=[_adapted(other) for other in error.also])


def _evaluate(
    runs: Mapping[str, str],
    qrels: str,
    lines: list[Line],
    options: Options,
    printing: PrintOptions,
    form: str | None,
    workers: Workers,
) -> tuple[str, list[str]]:
    """The text and the notes for ordinary qrels."""
    lines, lost = (lines, []) if form is None else _as_numbers(lines, form)
    judged = Qrels(qrels, duplicates=options.duplicates, format=options.qrels_format)
    scorer = Scorer(judged, needed_measures(lines), options)
    results = [
        score_run(name, path, scorer, lines, workers.silent()) for name, path in workers.progress(list(runs.items()))
    ]
    most = max((scores.count(column) for _, scores in results for column in range(len(scorer.measures))), default=0)
    notes = [*scorer.notes, *lost, *united(note for scored, _ in results for note in scored.notes), *few_topics(most)]
    if form is None:
        return _text([scored for scored, _ in results], lines, printing), notes
    scores = Scores([scores for _, scores in results], scorer.measures, judged, options)
    return render(scores, form, by_topic=printing.by_topic), notes


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


def _evaluate_groups(
    runs: Mapping[str, str], qrels: str, holds: str, lines: list[Line], options: Options, printing: PrintOptions
) -> tuple[str, list[str]]:
    """The same for qrels of judgment groups (`qrels_jg`) or preferences (`prefs`, `qrels_prefs`)."""
    if options.judged_only:
        raise InputError("-J", f"cannot be combined with -R {holds}", "leave out one of them", usage=True)
    groups = read_groups(qrels, holds)
    score = score_groups if holds == "qrels_jg" else score_preferences
    results = [score(name, path, groups, lines, options) for name, path in runs.items()]
    return _text(results, lines, printing), [note for scored in results for note in scored.notes]


def _text(results: list[ScoredRun], lines: list[Line], printing: PrintOptions) -> str:
    """The lines of each run. If there are several, a first line has its name, unless runid is printed anyway."""
    named = len(results) == 1 or any(line.name == "runid" and printing.summary for line in lines)
    return "".join(
        ("" if named else trec_line("runid", ALL, scored.run)) + format_run(scored, lines, printing)
        for scored in results
    )
