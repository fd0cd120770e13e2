"""Records of evaluations, by which anyone can check a result: the inputs with their digests, settings and scores."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from gradedeval import __version__
from gradedeval.errors import InputError, Note, emit_notes, flag, redacted
from gradedeval.kernel.formats import json_text
from gradedeval.kernel.measures.definition import MEASURES, Measure
from gradedeval.kernel.measures.notation import Value
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.measures.user_measures import load_measures
from gradedeval.kernel.options import OPTIONS
from gradedeval.kernel.scoring.scores import RunScores, Scores
from gradedeval.kernel.scoring.signature import BETWEEN, NAMES
from gradedeval.kernel.trec import stream
from gradedeval.kernel.trec.atomic_write import write_file
from gradedeval.kernel.trec.digests import BEGINNING, ONE_AT_A_TIME, InputsRead, has_bytes
from gradedeval.kernel.trec.digests import digest_of as digest_of
from gradedeval.kernel.trec.lines import decode
from gradedeval.kernel.trec.named_qrels import find_collection

FORM = 1
"""The version of the form of records."""

HEADER_START, HEADER_END = "ir_metadata.start", "ir_metadata.end"
"""The first and the last line of the header of ir_metadata, in comments at the beginning of a run."""

_NUMBER = {"anyOf": [{"type": ["number", "null"]}, {"enum": ["inf", "-inf"]}]}
_INPUT = {
    "type": "object",
    "required": ["role", "path", "sha256", "size"],
    "additionalProperties": False,
    "properties": {
        "role": {"enum": ["run", "qrels", "file"], "description": "file: any other, which an option or measure names"},
        "run": {"type": "string", "description": "the name of a run"},
        "path": {"type": "string", "description": "as given; - is standard input"},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "of the bytes as stored"},
        "size": {"type": "integer", "minimum": 0, "description": "the number of bytes as stored"},
        "ir_metadata": {"type": "string", "description": "the header of the run, YAML (ir_metadata)"},
    },
}
_MEASURE = {
    "type": "object",
    "required": ["label", "notation"],
    "additionalProperties": False,
    "properties": {
        "label": {"type": "string", "description": "as requested, and as in scores"},
        "notation": {"type": "string", "description": "with its parameters"},
    },
}
_SCORES = {
    "type": "object",
    "required": ["mean", "topics"],
    "additionalProperties": False,
    "properties": {
        "mean": {**_NUMBER, "description": "the summary over topics; null: blank"},
        "topics": {"type": "object", "additionalProperties": _NUMBER, "description": "topic -> score"},
    },
}
_SETTING = {"type": ["string", "number", "boolean", "array", "object"]}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Record of an evaluation by gradedeval",
    "type": "object",
    "required": ["record", "gradedeval", "inputs", "settings", "measures", "signature", "scores"],
    "additionalProperties": False,
    "properties": {
        "record": {"const": FORM, "description": "the version of this form"},
        "gradedeval": {"type": "string", "description": "the version of gradedeval"},
        "inputs": {"type": "array", "items": _INPUT},
        "settings": {
            "type": "object",
            "additionalProperties": _SETTING,
            "description": "options as given, by keyword; measures_from, standardize, reference and run_name, too",
        },
        "measures": {"type": "array", "items": _MEASURE, "minItems": 1},
        "signature": {"type": "string", "description": "all settings that the scores depend on"},
        "scores": {
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": _SCORES},
            "description": "run -> measure -> scores",
        },
    },
}
"""The JSON Schema of a record."""

COMMAND_SETTINGS = ("measures_from", "standardize", "reference", "run_name")
"""Settings of a record that are not options of `Options`."""


@contextmanager
def recording() -> Iterator[InputsRead]:
    """Register the inputs that are read in this block. Blocks of several threads wait for each other."""
    inputs = InputsRead()
    with ONE_AT_A_TIME, stream.digesting(inputs):
        yield inputs


def with_digests(scores: Scores, inputs: InputsRead, qrels: Any) -> Scores:
    """Return the scores with the digests of the qrels and runs."""
    return replace(scores, digests=inputs.of(os.fsdecode(qrels), scores.paths))


# What can be recorded: files, and settings that JSON has a form for.


def check_recordable(runs: Mapping[str, Any], qrels: Any) -> None:
    """Raise InputError (usage) for runs or qrels that are not files: the bytes of others are unknown."""
    for name, source in {**{f"run '{name}'": source for name, source in runs.items()}, "the qrels": qrels}.items():
        if not stream.is_path(source):
            problem = f"{name}: an object in memory has no bytes to digest"
            raise InputError(flag.record, problem, "give files", usage=True)
    if not has_bytes(os.fsdecode(qrels)) and find_collection(os.fsdecode(qrels)) is not None:
        problem = f"'{os.fsdecode(qrels)}' is not a file, so there are no bytes to digest"
        raise InputError(flag.record, problem, "save the judgments as a file, and give that", usage=True)


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings as values of JSON, without those at None or False. Raises InputError (usage) for others."""
    given = {name: value for name, value in settings.items() if value is not None and value is not False}
    return {name: _plain(name, value) for name, value in given.items()}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, float):
        return str(value)
    if isinstance(value, os.PathLike | bytes):
        return os.fsdecode(value)
    if isinstance(value, Mapping):
        return {str(_plain(name, key)): _plain(name, inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        listed = [_plain(name, inner) for inner in value]
        return listed if isinstance(value, list | tuple) else sorted(listed, key=str)
    if hasattr(value, "item") and not getattr(value, "shape", None):
        return _plain(name, value.item())
    label = OPTIONS[name].flag if name in OPTIONS else name
    raise InputError(label, "an object in memory cannot be recorded", "give a file, text or a number", usage=True)


def check_measures(measures: Iterable[Measure], table: Mapping[str, Measure] | None) -> None:
    """Raise InputError (usage) for a measure that cannot be made again from its notation: code of this session."""
    for measure in measures:
        try:
            again = parse_measures(str(measure), table)
        except InputError:
            again = []
        if again != [measure]:
            hint = f"put it into a file for {flag.measures_from:FILE.py}"
            raise InputError(flag.record, f"the measure {measure} is defined in this session", hint, usage=True)


def measure_table(files: Iterable[str]) -> dict[str, Measure] | None:
    """Return the measures by name with those of users' files, whose code runs; None without files."""
    table = {name: measure for file in files for name, measure in load_measures(file).items()}
    return {**MEASURES, **table} if table else None


def file_parameters(measure: Measure) -> list[str]:
    """Return the files that the parameters of a measure name."""
    values: list[Value] = [value for _, value in measure.parameters]
    values += [] if measure.prior is None else [measure.prior]
    named = [value[1:] for value in values if isinstance(value, str) and value.startswith("@")]
    return [*named, *filter(stream.is_named, measure.files)]


# The record.


def write_record(
    path: str | os.PathLike[str], scores: Scores, inputs: InputsRead, qrels: Any, settings: Mapping[str, Any]
) -> None:
    """Write the record of an evaluation.

    inputs    all inputs that it has read
    qrels     the path of the qrels
    settings  options as given, and `COMMAND_SETTINGS`

    Raises InputError if an input has changed, or the file cannot be written or is an input.
    """
    target = os.fsdecode(path)
    if stream.identity(target) in {stream.identity(read) for read in inputs.paths} - {None}:
        raise InputError(flag.record, f"'{target}' is also an input file", "choose another output file", usage=True)
    for measure in scores.measures:
        for file in file_parameters(measure):
            inputs.will_read(file)
    content = document(scores, inputs, os.fsdecode(qrels), plain_settings(settings))
    write_file(f"{json_text(content, indent=1)}\n".encode("utf-8", "surrogateescape"), target)


def document(scores: Scores, inputs: InputsRead, qrels: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of an evaluation as an object of JSON."""
    return {
        "record": FORM,
        "gradedeval": __version__,
        "inputs": list(_inputs(scores, inputs, qrels)),
        "settings": _without_credentials(settings),
        "measures": [{"label": measure.label, "notation": redacted(str(measure))} for measure in scores.measures],
        "signature": replace(scores, digests=None).signature,
        "scores": {
            run.run: {measure.label: scores_of(scores, run, column) for column, measure in enumerate(scores.measures)}
            for run in scores.runs
        },
    }


def _inputs(scores: Scores, inputs: InputsRead, qrels: str) -> Iterator[dict[str, Any]]:
    """Yield the inputs: runs, qrels, then all other files."""
    for run, path in scores.paths.items():
        header = _ir_metadata(path, inputs.beginning(path))
        described = {"role": "run", "run": run, "path": redacted(path), **inputs.digest(path).described}
        yield described | ({"ir_metadata": header} if header else {})
    yield {"role": "qrels", "path": redacted(qrels), **inputs.digest(qrels).described}
    for path in inputs.paths:
        if path not in (qrels, *scores.paths.values()):
            yield {"role": "file", "path": redacted(path), **inputs.digest(path).described}


def _without_credentials(value: Any) -> Any:
    """Return a setting without the credentials of its URLs."""
    if isinstance(value, Mapping):
        return {name: _without_credentials(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_credentials(inner) for inner in value]
    return redacted(value) if isinstance(value, str) else value


def _ir_metadata(path: str, beginning: bytes) -> str:
    """Return the ir_metadata header of a run without its marks of comments; empty without one."""
    lines = [line.lstrip("\ufeff").removeprefix("#").removeprefix(" ") for line in decode(beginning).splitlines()]
    if not lines or lines[0].strip() != HEADER_START:
        return ""
    ends = [number for number, line in enumerate(lines) if line.strip() == HEADER_END]
    if not ends:
        problem = f"{path}: the header of ir_metadata does not end within {BEGINNING:,} bytes, and is not copied"
        emit_notes([Note(problem, f"end it with a line '# {HEADER_END}'")])
        return ""
    return "\n".join(lines[1 : ends[0]])


def settings_of(signature: str) -> list[str]:
    """Return the parts of a signature without the names of measures."""
    return [part for part in re.split(BETWEEN, signature) if not part.startswith(NAMES)]


def scores_of(scores: Scores, run: RunScores, column: int) -> dict[str, Any]:
    """Return the mean and the scores of topics of one run by one measure."""
    columns = scores.column(run, column)
    numbers = [str(score) if score in (math.inf, -math.inf) else score for score in columns["score"]]
    *topics, mean = numbers  # JSON has infinite costs as words
    return {"mean": mean, "topics": dict(zip(columns["topic"], topics, strict=False))}
