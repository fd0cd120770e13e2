"""`verify`: compare the inputs of a recorded result with its digests, evaluate again, and compare the scores."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from gradedeval import __version__, kernel
from gradedeval.analysis.standardize import Reference, standardize
from gradedeval.errors import SHOWN, InputError, Note, emit_notes, plural, public
from gradedeval.kernel import Measure, Options, Scores, parse_measures, shares_work

CLOSE = 1e-12
"""The difference, relative above 1, up to which scores of another version are the same."""

Entry = Mapping[str, Any]
"""An input of a record."""


@dataclass(frozen=True)
class Difference:
    """A score that differs: `recorded` and `here`, None if blank or missing."""

    run: str
    measure: str
    topic: str
    recorded: float | None
    here: float | None

    @property
    def amount(self) -> float:
        """The size of the difference; infinite if one of the scores is blank."""
        if self.recorded is None or self.here is None:
            return math.inf
        return abs(self.here - self.recorded)

    def __str__(self) -> str:
        first, second = ("blank" if score is None else repr(score) for score in (self.recorded, self.here))
        amount = f" (differs by {self.amount:g})" if math.isfinite(self.amount) else ""
        return f"{self.run}, {self.measure}, topic {self.topic}: {first} in the record, {second} here{amount}"


@dataclass(frozen=True)
class Verification:
    """The result of `verify`.

    place     the name of the record
    version   the version of gradedeval that wrote it
    inputs    what is wrong with inputs: missing, or other bytes
    settings  differences of settings, which the signature has
    scores    scores that differ, the largest difference first
    failure   why it was not evaluated again, if an input differs
    counted   the number of inputs and of scores compared, means included
    """

    place: str
    version: str
    inputs: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    scores: list[Difference] = field(default_factory=list)
    failure: str = ""
    counted: tuple[int, int] = (0, 0)

    @property
    def same(self) -> bool:
        """Whether all inputs, settings and scores are the same."""
        return not (self.inputs or self.settings or self.scores)

    def __bool__(self) -> bool:
        return self.same

    def __str__(self) -> str:
        inputs, scores = self.counted
        compared = f"{inputs} {plural(inputs, 'input')}, {scores} {plural(scores, 'score')}"
        by = "" if self.version == __version__ else f"; recorded by gradedeval {self.version}, this is {__version__}"
        if self.same:
            return f"same: {compared}{by}"
        unlisted = len(self.scores) - SHOWN
        more = [f"… and {unlisted} more {plural(unlisted, 'score')}"] if unlisted > 0 else []
        counts = f"{len(self.inputs)} of {inputs} {plural(inputs, 'input')}"
        counts += f", {len(self.scores)} of {scores} {plural(scores, 'score')}" if scores else "; not evaluated again"
        failure = [f"not evaluated again: {self.failure}"] if self.failure else []
        scores_shown = map(str, self.scores[:SHOWN])
        return "\n".join([*self.inputs, *failure, *self.settings, *scores_shown, *more, f"different: {counts}{by}"])


@public
@shares_work
def verify(
    record: str | os.PathLike[str],
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    jobs: int = 1,
    progress: bool = False,
) -> Verification:
    """Check a recorded result: compare the digests of its inputs, evaluate again, and compare the scores.

    record    a file that `evaluate(..., record=...)` or `gradedeval eval --record` has written
    files     inputs, or folders of them. An input is found by its name among them, or beside the record, or by its
              bytes. Code of measures runs only if its file is among them
    jobs      number of processes
    progress  show a bar, by tqdm if it is installed

    Scores must be exactly equal with the same version of gradedeval, and within 1e-12 with another. Returns
    `Verification`: `.same`, `.inputs`, `.settings`, `.scores`, and text. Raises `InputError` for a file that is not a
    record.

    >>> run, qrels = "qrels_samples/rivers-bm25.run", "qrels_samples/rivers.qrels"
    >>> scores = gradedeval.evaluate(run, qrels, "ap", record="result.json")
    >>> print(gradedeval.verify("result.json", "qrels_samples"))
    same: 2 inputs, 51 scores
    """
    place = os.fsdecode(record)
    content = read_record(place)
    words = [files] if isinstance(files, str | os.PathLike) else list(files)
    inputs = Inputs(place, content["inputs"], [os.fsdecode(word) for word in words])
    result = Verification(place, content["gradedeval"], inputs.problems(), counted=(len(inputs.entries), 0))
    if None in inputs.paths:
        return result
    try:
        scores = _evaluate(content, inputs)
    except InputError as error:
        if inputs.problems():  # a changed input may be malformed
            return replace(result, failure=error.line)
        raise _bad(place, error.line, "") from None
    return _compared(content, scores, result, inputs)


# The record.


def read_record(place: str) -> dict[str, Any]:
    """Read a record. Raises InputError if it is not one."""
    text = kernel.stream.Source(place).read().decode("utf-8", "surrogateescape")
    try:
        content = kernel.documents.read_json(text)
    except ValueError as error:
        raise _bad(place, f"is not JSON ({error})") from None
    if isinstance(content, dict) and content.get("record") not in (None, kernel.records.FORM):
        raise _bad(place, "is a record of another form", "verify it with the version of gradedeval that wrote it")
    for problem in violations(content, kernel.records.SCHEMA):
        raise _bad(place, problem)
    record: dict[str, Any] = content
    labels = [measure["label"] for measure in content["measures"]]
    runs = [entry.get("run") for entry in content["inputs"] if entry["role"] == "run"]
    qrels = [entry for entry in content["inputs"] if entry["role"] == "qrels"]
    if len(qrels) != 1 or not runs or None in runs or len({*runs}) < len(runs) or {*runs} != content["scores"].keys():
        raise _bad(place, "its inputs are not the qrels and the runs that have scores")
    if len({*labels}) < len(labels) or any(scores.keys() != {*labels} for scores in content["scores"].values()):
        raise _bad(place, "its scores are not those of its measures")
    return record


def _bad(place: str, problem: str, hint: str = "write it again with --record") -> InputError:
    return InputError(place, problem, hint, kind="format")


_TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": int | float,
    "null": type(None),
}  # fmt: skip


def violations(value: Any, schema: Mapping[str, Any], where: str = "the record") -> Iterator[str]:
    """Yield what violates a schema, by the keywords of JSON Schema that the schema of records has."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_of(kind, value) for kind in kinds):
        yield f"{where} is not {' or '.join(kinds)}"
        return
    if "const" in schema and not (value == schema["const"] and type(value) is type(schema["const"])):
        yield f"{where} is not {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is not {' or '.join(schema['enum'])}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where} does not match {schema['pattern']}"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{where} is below {schema['minimum']}"
    if "anyOf" in schema and all(any(violations(value, each, where)) for each in schema["anyOf"]):
        yield f"{where} is not a number"
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{where} is empty"
        for number, item in enumerate(value, 1):
            yield from violations(item, schema.get("items", {}), f"entry {number} of {where}")
    if isinstance(value, dict):
        yield from _violations_of_object(value, schema, where)


def _violations_of_object(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where} has no '{name}'"
    for name, inner in value.items():
        if name in properties or others is not False:
            part = properties.get(name, {} if others is True else others)
            yield from violations(inner, part, f"'{name}' of {where}")
        else:
            yield f"{where} has an unknown entry '{name}'"


def _is_of(kind: str, value: Any) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return isinstance(value, _TYPES[kind])


# The inputs, wherever they are now.


class Inputs:
    """The inputs of a record (`entries`) and where each is now (`paths`), None if it is missing."""

    def __init__(self, place: str, entries: Sequence[Entry], words: Sequence[str]) -> None:
        self.entries = entries
        self._folder = os.path.dirname(place)
        self._given = list(dict.fromkeys(path for word in words for path in kernel.stream.files_of(word)))
        self.digest = cache(kernel.records.digest_of)
        self.paths = [self._find(entry) for entry in entries]
        unused = [word for word in words if word in self._given and word not in self.paths]
        for word in unused:
            if not kernel.stream.is_named(word):
                raise InputError(word, "no such file", "check the path", kind="no-file")
        emit_notes(Note(f"{word} is not an input of {place}", "leave it out") for word in unused)

    def _find(self, entry: Entry) -> str | None:
        """Return the path of an input: of its name and bytes, else of its name, else of its bytes."""
        named = self._of_its_name(entry)
        same = (path for path in [*named, *self._given] if self.is_same(entry, path))
        return next(same, None) or next(iter(named), None)

    def _of_its_name(self, entry: Entry) -> list[str]:
        """Return the files of an input's name, files with more of its folders first."""
        parts = _parts(entry["path"])
        if not parts:
            return []
        candidates = [path for path in self._given if _parts(path)[-1:] == parts[-1:]]
        candidates.sort(key=lambda path: -_common_end(_parts(path), parts))
        recorded_paths = [os.path.join(self._folder, *parts[start:]) for start in range(len(parts))]
        return [*candidates, *filter(os.path.isfile, dict.fromkeys(recorded_paths))]

    def is_same(self, entry: Entry, path: str) -> bool:
        """Return whether a file has the bytes of an input."""
        if os.path.isfile(path) and os.path.getsize(path) != entry["size"]:
            return False
        return bool(self.digest(path).sha256 == entry["sha256"])

    def problems(self) -> list[str]:
        """Return a line for each input that is missing or has other bytes."""
        lines = []
        for entry, path in zip(self.entries, self.paths, strict=True):
            name = "standard input" if entry["path"] == "-" else entry["path"]
            if path is None:
                lines.append(f"{name}: not found beside the record; name the file, or its folder")
            elif not self.is_same(entry, path):
                digest = self.digest(path)
                here = f"{digest.sha256[:12]} ({digest.size} bytes)"
                recorded = f"{entry['sha256'][:12]} ({entry['size']} bytes)"
                lines.append(f"{name}: {path} is another file: SHA-256 {here}, in the record {recorded}")
        return lines

    @property
    def moved(self) -> dict[str, str]:
        """path in the record -> path here, of all inputs but runs and qrels."""
        pairs = zip(self.entries, self.paths, strict=True)
        return {entry["path"]: path for entry, path in pairs if entry["role"] == "file" and path is not None}

    def of_role(self, role: str) -> dict[str, str]:
        """Return name of the run, or path in the record -> path here, of the inputs of a role."""
        pairs = zip(self.entries, self.paths, strict=True)
        return {entry.get("run", entry["path"]): path for entry, path in pairs if entry["role"] == role and path}

    def is_given(self, path: str) -> bool:
        """Return whether a file was named by the caller, rather than found beside the record."""
        return path in self._given


def _parts(path: str) -> list[str]:
    """Return the folders and the name of a path of any system, or of a URL; none that lead upwards."""
    if path == "-" or "\0" in path:
        return []
    path = path.partition("://")[2].partition("?")[0] if "://" in path else path
    return [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..") and not part.endswith(":")]


def _common_end(first: Sequence[str], second: Sequence[str]) -> int:
    count = 0
    while count < min(len(first), len(second)) and first[-1 - count] == second[-1 - count]:
        count += 1
    return count


# The evaluation.


def _evaluate(content: Mapping[str, Any], inputs: Inputs) -> Scores:
    """Evaluate again as the record says. Raises InputError if it cannot be done."""
    settings = {name: _moved(value, inputs.moved) for name, value in content["settings"].items()}
    _check_files(settings, inputs)
    command_settings = {name: settings.pop(name, None) for name in kernel.records.COMMAND_SETTINGS}
    table = kernel.records.measure_table(command_settings["measures_from"] or [])
    measures = [_measure(entry["notation"], table, inputs) for entry in content["measures"]]
    if len({*measures}) < len(measures):
        raise InputError("", "two measures of the record are the same")
    options = _options(settings)
    (qrels,) = inputs.of_role("qrels").values()
    keywords: dict[str, Any] = {"by_tag": command_settings["run_name"] == "tag", "by_topic": True, "predicts": True}
    workers = kernel.Workers.current()
    scores = kernel.evaluate_runs(inputs.of_role("run"), qrels, measures, options, workers=workers, **keywords)
    if command_settings["reference"] is not None:
        return standardize(scores, Reference.read(str(command_settings["reference"])))
    return standardize(scores) if command_settings["standardize"] is not None else scores


def _options(settings: dict[str, Any]) -> Options:
    """Return the options of a record. Raises InputError for settings that are none."""
    try:
        return kernel.resolve_options(**settings)
    except InputError:
        raise
    # JSON has values that Python's callers lack.
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError("", f"its settings cannot be read ({type(error).__name__})") from None


def _moved(value: Any, moved: Mapping[str, str]) -> Any:
    """Return a setting or parameter with the paths of inputs as they are here."""
    if isinstance(value, str):
        mark = "@" if value.startswith("@") else ""
        path = value.removeprefix(mark)
        return mark + moved[path] if path in moved else value
    if isinstance(value, list):
        return [_moved(inner, moved) for inner in value]
    return value


def _check_files(settings: Mapping[str, Any], inputs: Inputs) -> None:
    """Raise InputError if a setting names a file that is not an input, or code that the caller has not named."""
    recorded = {*inputs.moved.values()}
    for name, value in settings.items():
        for word in value if isinstance(value, list) else [value]:
            if name == "measures_from" and not (word in recorded and inputs.is_given(word)):
                raise InputError("", f"{word!r} is code", "read it, and name it after the record to run it")
            if isinstance(word, str) and word.removeprefix("@") not in recorded and _names_file(name, word):
                raise InputError("", f"the setting '{name}' names a file that is not among the inputs")


def _names_file(name: str, word: str) -> bool:
    """Return whether a setting of this value would read a file."""
    if word.startswith("@"):
        return kernel.stream.is_named(word[1:])
    takes_file = name == "reference" or (name in kernel.options.OPTIONS and kernel.options.OPTIONS[name].names_file)
    return takes_file and (word == "-" or kernel.stream.is_named(word))


def _measure(notation: str, table: Mapping[str, Measure] | None, inputs: Inputs) -> Measure:
    """Return a measure of the record, with its files as they are here. Raises InputError if there is none."""
    (written, *others) = kernel.notation.read_notation(notation)
    spelling = _with_files(written, inputs.moved)
    measures = parse_measures(str(spelling), table)
    if others or len(measures) != 1:
        raise InputError("", f"'{notation}' is not one measure")
    if unknown := {*kernel.records.file_parameters(measures[0])} - {*inputs.moved.values()}:
        raise InputError("", f"'{notation}' names a file that is not among the inputs ({unknown.pop()})")
    return measures[0]


def _with_files(spelling: Any, moved: Mapping[str, str]) -> Any:
    """Return a spelling with the files in its parameters, and in those of its inner measure, as they are here."""
    parameters = tuple((key, _moved(value, moved)) for key, value in spelling.parameters)
    inner = None if spelling.inner is None else _with_files(spelling.inner, moved)
    return replace(spelling, parameters=parameters, inner=inner)


# The comparison.


def _compared(content: Mapping[str, Any], scores: Scores, result: Verification, inputs: Inputs) -> Verification:
    """Return the result with the differences of settings and scores."""
    is_same_version = content["gradedeval"] == __version__
    labels = [measure["label"] for measure in content["measures"]]
    runs = {run.run: run for run in scores.runs}
    differences, count = list[Difference](), 0
    for name, recorded in content["scores"].items():
        for column, label in enumerate(labels):
            nothing: dict[str, Any] = {"mean": None, "topics": {}}
            scored = kernel.records.scores_of(scores, runs[name], column) if name in runs else nothing
            before, now = ({**of["topics"], None: of["mean"]} for of in (recorded[label], scored))
            topics = dict.fromkeys([*before, *now])
            count += len(topics)
            pairs = ((topic, before.get(topic, ...), now.get(topic, ...)) for topic in topics)
            differences += [
                Difference(name, label, kernel.definition.ALL if topic is None else topic, _score(old), _score(new))
                for topic, old, new in pairs
                if not _agree(old, new, is_same_version)
            ]
    differences.sort(key=lambda difference: -difference.amount)
    settings = _changed_settings(content["signature"], scores.signature, inputs) if is_same_version else []
    return replace(result, settings=settings, scores=differences, counted=(len(inputs.entries), count))


def _score(value: Any) -> float | None:
    return None if value is None or value is ... else float(value)


def _agree(first: Any, second: Any, exactly: bool) -> bool:
    """Return whether two scores are the same; … stands for a topic without a score."""
    if exactly or ... in (first, second) or None in (first, second):
        return bool(first is second or first == second)
    return math.isclose(float(first), float(second), rel_tol=CLOSE, abs_tol=CLOSE)


def _changed_settings(recorded: str, here: str, inputs: Inputs) -> list[str]:
    """Return differences of two signatures, aside from the names of measures and files."""
    files = {*inputs.moved, *inputs.moved.values()}
    first, second = (
        [part for part in kernel.records.settings_of(text) if not any(file in part for file in files)]
        for text in (recorded, here)
    )
    return [f"settings: '{part}' is in the record only" for part in first if part not in second] + [
        f"settings: '{part}' does not follow from the settings of the record" for part in second if part not in first
    ]
