"""Saved scores, read with the line of every fault, and their signatures, which decide whether two may be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import as_float
from gradedeval.errors import InputError, Note, ProblemList, flag, plural, safe_repr, shorten
from gradedeval.kernel.formats import FORM
from gradedeval.kernel.measures import notation
from gradedeval.kernel.measures.definition import ALL
from gradedeval.kernel.measures.notation import IA, Spelling
from gradedeval.kernel.measures.parse import canonical
from gradedeval.kernel.options import OPTIONS, TIES_BY_GRADE
from gradedeval.kernel.scoring.signature import BETWEEN, CODE, GAINS, INTERVAL, NAMES, QRELS, renamed
from gradedeval.kernel.trec.documents import Rows, json_rows
from gradedeval.kernel.trec.line_reader import duplicate, settle_duplicates, whole_lines
from gradedeval.kernel.trec.lines import BYTE_ORDER_MARKS, decimal, decode, encode
from gradedeval.kernel.trec.small_tables import SmallTable
from gradedeval.kernel.trec.stream import Source, Stream, first_bytes, is_named

if TYPE_CHECKING:
    import pandas as pd


# Signatures, parsed from the line under a table, and their comparison.


IGNORED_PARTS = (
    r"(gradedeval|(run|qrels) format|topics|names|\d+ chosen topics?|max gain|max residual|residual depth"
    r"|unseen|signed differences|slices?|[\d.]+% interval|sha256 of)\b"
)
"""The parts that may differ between compared scores: the version, formats of files, topics that count, their labels,
residuals, bounds and intervals, names of measures, and bytes of files."""


_GIVEN = r'\b(?:gain|rel|g)=("[^"]*"|[^,()]*),?'


_FILE = r"(?P<name>.+) (?P<digest>[0-9a-f]{6})(?: prior)?"


_AVERAGED = (
    r"(?P<number>\d+) chosen topics? (?P<digest>\w+)"
    r"|(?P<name>topics|max residual|residual depth|max gain) (?P<value>\S+)"
)


_COUNTED = r"topics (?P<counts>\S+ of \d+)"


_WORDS = sorted((*(name.replace("_", " ") for name in OPTIONS), "scores"), key=len, reverse=True)


@dataclass(frozen=True)
class Signature:
    """All that numbers depend on: the version, qrels, topics, order of documents, every non-default option, the gains
    of each measure, and files. As text, the line under a table."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return " | ".join(self.parts)

    @classmethod
    @lru_cache(1 << 10)  # scores that are saved together have the same text
    def read(cls, text: str) -> Signature | None:
        """Parse a signature; None if the text is none."""
        parts = tuple(re.split(BETWEEN, text))
        return cls(parts) if len(parts) > 1 and re.fullmatch(QRELS, parts[1]) else None

    @property
    def version(self) -> str:
        return self.parts[0]

    @cached_property
    def settings(self) -> dict[str, str]:
        """The settings that must agree for a comparison -> their values; empty for flags."""
        return {
            name: value for part in self.parts if not re.match(IGNORED_PARTS, part) for name, value in _settings(part)
        }

    @cached_property
    def averaged(self) -> dict[str, str]:
        """The settings that means depend on beyond the scores of topics -> their values."""
        settings = {"gradedeval": self.version.removeprefix("gradedeval ")}
        for match in filter(None, (re.fullmatch(_AVERAGED, part) for part in self.parts)):
            settings[match["name"] or "chosen topics"] = match["value"] or f"{match['number']} ({match['digest']})"
        if "max residual" not in settings:  # residuals choose no topics
            settings = {name: value for name, value in settings.items() if name not in ("residual depth", "max gain")}
        return settings

    @property
    def counts(self) -> str | None:
        """The number of topics of the means (a range for several runs) and of the qrels, as in `48 of 50`."""
        match = next(filter(None, (re.match(_COUNTED, part) for part in self.parts)), None)
        return match and match["counts"]

    @property
    def topics_depend_on_run(self) -> bool:
        """Whether the means of two runs may be over different topics, even as many."""
        chosen = self.averaged.get("topics") in ("both", "run") or "max residual" in self.averaged
        return chosen and self.counts is not None and len(set(self.counts.split(" of "))) > 1

    @cached_property
    def files(self) -> dict[str, str]:
        """The files that measures read -> their checksums."""
        files = (
            re.fullmatch(_FILE, part)
            for part in self.parts
            if not (re.match(IGNORED_PARTS, part) or re.fullmatch(GAINS, part))
        )
        return {match["name"]: match["digest"] for match in files if match and match["name"] != "costs"}

    @cached_property
    def gains(self) -> dict[str, set[str]]:
        """The name of a measure -> its gain schemes, each with the parameters at their defaults."""
        gains: dict[str, set[str]] = {}
        for listed in filter(
            None, (re.fullmatch(GAINS, part) for part in self.parts if not re.match(IGNORED_PARTS, part))
        ):
            for measure in listed["measures"].split(", "):
                name, _, defaults = re.sub(_GIVEN, "", measure.removeprefix(f"{IA}(")).partition("(")
                gains.setdefault(name.rstrip(")"), set()).add(defaults.strip("()") + listed["scheme"])
        return gains

    def differences(self, second: Signature, measure: str) -> dict[str, tuple[str | None, str | None]]:
        """Return the settings that differ and that the scores by a measure depend on: name -> its value here and there,
        or None. The gains of a measure, its code and the files that measures read are compared if both signatures name
        them."""
        mine, theirs = dict(self.settings), dict(second.settings)
        name = _name(measure)
        schemes = self.gains.get(name, set()), second.gains.get(name, set())
        if not any(scheme for scheme_set in schemes for scheme in scheme_set if not scheme.startswith("rel ")):
            for settings in (mine, theirs):
                settings.pop("top grade", None)
        if all(schemes) and schemes[0].isdisjoint(schemes[1]):
            mine["gains"], theirs["gains"] = (", ".join(sorted(scheme_set)) for scheme_set in schemes)
        of_others = {file for file in self.files if file.startswith(CODE) and file != f"{CODE}{name}"}
        for file, digest in self.files.items():
            if file in second.files and file not in of_others:
                mine[file], theirs[file] = digest, second.files[file]
        names = dict.fromkeys([*mine, *theirs])
        return {key: (mine.get(key), theirs.get(key)) for key in names if mine.get(key) != theirs.get(key)}

    def differences_of_means(self, second: Signature, measure: str) -> dict[str, tuple[str | None, str | None]]:
        """Return `differences`, and differences of the settings of means: for scores without their topics."""
        mine, theirs = self.averaged, second.averaged
        names = dict.fromkeys([*mine, *theirs])
        more = {key: (mine.get(key), theirs.get(key)) for key in names if mine.get(key) != theirs.get(key)}
        return more | self.differences(second, measure)

    def notations(self) -> dict[str, str]:
        """Return the measures with other labels than their notations: label -> notation."""
        part = next((part for part in self.parts if part.startswith(NAMES)), "")
        return renamed(part) if part else {}


def without_interval(text: str) -> str:
    """Return the text of a signature without its part on --interval."""
    return " | ".join(part for part in re.split(BETWEEN, text) if not part.endswith(INTERVAL))


def _settings(part: str) -> Iterator[tuple[str, str]]:
    """Yield the settings in a part that concern all measures: names and values."""
    if qrels := re.fullmatch(QRELS, part):
        yield from (("qrels", qrels["qrels"]), ("top grade", qrels["top"]))
    elif part.startswith("standardized "):
        yield "standardized scores", part.rpartition(" ")[2]  # a checksum: made of these runs, or read from a file
    elif name := next((word for word in _WORDS if part == word or part.startswith(f"{word} ")), ""):
        yield name, part.removeprefix(name).strip()


def _name(measure: str) -> str:
    """Return the name of a measure in any spelling."""
    try:
        spelling: Spelling = notation.read_notation(canonical(measure))[0]
    except InputError:
        return measure
    return (spelling.inner or spelling).name


# The long table that `gradedeval -q` writes for programs, read back with every fault at its line.


REQUIRED_COLUMNS = ("run", "topic", "measure", "score")
FRAME = "<frame>"
HINT = "save scores with `gradedeval RUN... QRELS -q -f csv -o scores.csv`"
HEAD = 1 << 16
"""First bytes that identify a file of saved scores: the signature of many measures is long."""


@dataclass(frozen=True)
class SavedScore:
    """A row of the long table; `measure` is the notation of gradedeval, whatever the spelling in the file; `residual`
    and `unjudged` are nan if absent."""

    KEY: ClassVar[tuple[str, str, str]] = ("run", "topic", "measure")

    run: str
    topic: str
    measure: str
    score: float
    residual: float = np.nan
    unjudged: float = np.nan


@dataclass(frozen=True)
class SavedScores:
    """The content of a file or a frame.

    place       its name
    rows        the scores by topic
    labels      measure -> its label, as first written
    signatures  (run, measure) -> their signature, if saved with them
    means       (run, measure) -> the row of the topic `all`
    cut         whether it is a file with a place for signatures that lacks one: rows of means were removed
    """

    place: str
    rows: list[SavedScore]
    labels: dict[str, str]
    signatures: dict[tuple[str, str], Signature] = field(default_factory=dict)
    means: dict[tuple[str, str], float] = field(default_factory=dict)
    cut: bool = False


def holds_scores(path: str) -> bool:
    """Return whether a file holds saved scores, by its header or the JSON keys in its first bytes."""
    if not is_named(path):
        return False
    head = first_bytes(Source(path), HEAD).removeprefix(BYTE_ORDER_MARKS[0])
    if head.lstrip().startswith((b"{", b"[")):
        return all(re.search(rb'"%b"\s*:' % name.encode(), head) for name in REQUIRED_COLUMNS)
    lines = (line.strip() for line in head.split(b"\n"))
    header = next((line for line in lines if line and not line.startswith(b"#")), b"")
    cells = header.split(next((mark for mark in (b"\t", b",") if mark in header), None))
    return {name.encode() for name in REQUIRED_COLUMNS} <= {cell.strip(b' \t\r"') for cell in cells}


def read_saved(source: pd.DataFrame | str | Path, means_suffice: bool = False) -> SavedScores:
    """Read the scores by topic of a csv, tsv, json or jsonl file (compressed or not), or of a DataFrame, and the means
    apart from them. Raises InputError for missing columns, invalid numbers, duplicate scores, and if there are only
    means, unless these suffice."""
    if isinstance(source, str | Path):
        place, problems, rows, joint = _read_file(Source(source))
    else:
        place, problems, joint = FRAME, ProblemList(FRAME), ""
        header = [str(name) for name in source.columns]
        if missing := [name for name in REQUIRED_COLUMNS if name not in header]:
            raise InputError(f"{place}:1", f"no column '{missing[0]}'", HINT)
        values = source.astype(object).values.tolist()
        rows = [(number, dict(zip(header, row, strict=True))) for number, row in enumerate(values, 1)]
    scores, labels = _scores(rows, problems)
    summaries = {(row.run, row.measure): line for line, row in scores if row.topic == ALL}
    by_topic = _without_means(scores, summaries, place)
    if not by_topic and not (means_suffice and summaries):
        raise InputError(place, "no scores by topic", HINT)
    cells = dict(rows)
    signed = {key: Signature.read(str(cells[line].get("signature") or joint)) for key, line in summaries.items()}
    signatures = {key: signature for key, signature in signed.items() if signature}
    moved = {key for key, signature in signatures.items() if signature.settings.get("ties") in TIES_BY_GRADE}
    by_topic = [
        replace(row, residual=np.nan, unjudged=np.nan) if (row.run, row.measure) in moved else row for row in by_topic
    ]
    signs = place != FRAME and any("signature" in row for row in cells.values())
    cut = signs and any((row.run, row.measure) not in signatures for row in by_topic)
    means = {key: row.score for line, row in scores if summaries.get(key := (row.run, row.measure)) == line}
    return SavedScores(place, by_topic, labels, signatures, means, cut)


def _read_file(file: Source) -> tuple[str, ProblemList, Rows, str]:
    """Return the name of a file, a list for its problems, its rows, and the signature of all of them, or ""."""
    with closing(Stream(file)) as stream:
        if stream.peek(HEAD).removeprefix(BYTE_ORDER_MARKS[0]).lstrip()[:1] in (b"{", b"["):
            data = stream.whole().removeprefix(BYTE_ORDER_MARKS[0])
            head, rows = json_rows(decode(data), file.place, REQUIRED_COLUMNS, HINT)
            if (form := head.get("form", FORM)) != FORM:
                problem = f"is of form {safe_repr(form)} of saved scores, and this reads form {FORM}"
                raise InputError(file.place, problem, "update gradedeval, or save the scores again")
            return file.place, ProblemList(file.place), rows, str(head.get("signature"))
        table = SmallTable.headed(file.target, REQUIRED_COLUMNS, HINT, whole_lines(stream), multiline=True)
    return table.place, table.problems, [(row.line, row.cells) for row in table.rows], ""


def _scores(rows: Rows, problems: ProblemList) -> tuple[list[tuple[int, SavedScore]], dict[str, str]]:
    """Return the scores with their lines; and measure -> its first spelling."""
    scores, names, labels = [], dict[str, str](), dict[str, str]()
    for line, cells in rows:
        if "lambda_" in cells:
            problem = f"holds estimates by {flag.predicted}, which cannot be compared once they are saved"
            raise InputError(problems.place, problem, f"give the runs, and {flag.predicted}")
        if cells.get("slice"):  # a summary of some topics, which can be made of their scores
            continue
        try:
            values = {name: _number(cells.get(name)) for name in ("score", "residual", "unjudged")}
        except ValueError as error:
            problems.add(line, str(error), "expected a number such as 0.25")
            continue
        if np.isnan(values["score"]) and cells["topic"] != ALL:
            problems.add(line, "no score", "each row of a topic has one; JSON has none where it is infinite, CSV has")
        written = str(cells["measure"])
        if written not in names:
            names[written] = canonical(written)
            labels.setdefault(names[written], written)
        scores.append((line, SavedScore(str(cells["run"]), str(cells["topic"]), names[written], **values)))
    problems.check()
    return scores, labels


def _number(cell: Any) -> float:
    if cell is None or cell == "":
        return float("nan")
    value = as_float(cell) if isinstance(cell, Real) or cell in ("inf", "-inf") else decimal(encode(str(cell)))
    if np.isnan(value) and not isinstance(cell, Real):
        raise ValueError(f"'{cell}' is not a number")
    return value


def _without_means(
    rows: list[tuple[int, SavedScore]], summaries: dict[tuple[str, str], int], place: str
) -> list[SavedScore]:
    """Return the rows without the means: the last row with the topic `all` of each run and measure."""
    rows = [(line, row) for line, row in rows if summaries.get((row.run, row.measure)) != line]
    problems = ProblemList(place)

    def repeated(position: int, first: int) -> None:
        line, row = rows[position]
        problem = duplicate(f"{row.measure} of topic {row.topic} of '{row.run}'", rows[first][0])
        problems.add(line, problem, "keep one of the two")

    settle_duplicates([(row.run, row.topic, row.measure) for _, row in rows], "error", repeated)
    problems.check()
    return [row for _, row in rows]


# Origins of scores, and checks that they are comparable.


Origins = NDArray[Any]
"""runs × measures: the `Origin` of each column of scores."""


@dataclass(frozen=True)
class Origin:
    """The origin of the scores of a run by a measure.

    place  the file; "" if they are computed here
    text   their signature, as in the line under their table; "" if unknown
    cut    whether rows with signatures were removed from the file
    means  whether they are means without their topics
    """

    place: str
    text: str
    cut: bool = False
    means: bool = False

    @cached_property
    def signature(self) -> Signature | None:
        """The signature, parsed on first comparison."""
        return Signature.read(self.text)


def check_origins(runs: Sequence[str], measures: Sequence[str], origins: Origins) -> list[str]:
    """Check that scores are comparable; return notes on unknown origins and on different versions. Raises InputError
    (usage) if scores by one measure depend on other qrels or options than the scores of the first run, and InputError
    if rows with signatures were removed from a file."""
    if len({*origins.flat}) == 1 and not origins.flat[0].place:  # computed here, together
        return []
    cut = next((origin.place for origin in origins.flat if origin.cut and origin.signature is None), None)
    if cut is not None:
        reason = "the row of the mean (topic 'all') of a run is missing, and with it the signature: the file was cut"
        raise InputError(cut, reason, "save the scores again", kind="no-signature")
    measures_of: dict[tuple[str, str, str], list[str]] = {}
    for column, measure in enumerate(measures):
        signed = [(run, origin) for run, origin in zip(runs, origins[:, column], strict=True) if origin.signature]
        for run, origin in signed[1:]:
            if problem := _origin_mismatch(*signed[0], origin, measure):
                measures_of.setdefault((origin.place, run.removeprefix(f"{origin.place}:"), problem), []).append(
                    measure
                )
    notes = [
        (place, f"{shorten(names)} of '{run}' {'is' if len(names) == 1 else 'are'} {problem}")
        for (place, run, problem), names in measures_of.items()
    ]
    if notes:
        raise mismatch_error(*notes[0])
    return [*_unsigned_notes(origins), *_version_notes(origins)]


def mismatch_error(place: str, problem: str) -> InputError:
    """Return the error of scores that are not comparable."""
    return InputError(place, problem, "score it again with the same qrels and options", kind="mismatch", usage=True)


def describe_mismatch(signature: Signature, other: Signature, measure: str, elsewhere: str, means: bool = False) -> str:
    """Return the different settings of scores, or of `means`, in words: `scored with qrels 3f2a9c (here 77aa01)`."""
    differences = signature.differences(other, measure)
    if means:
        differences = signature.differences_of_means(other, measure)
        differences.pop("gradedeval", None)  # another version is noted
        if signature.counts != other.counts:
            differences["topics"] = signature.counts, other.counts
    texts = {
        name: ["unset" if value is None else value or "set" for value in both] for name, both in differences.items()
    }
    parts = [f"{name} {mine} ({elsewhere} {theirs})" for name, (mine, theirs) in texts.items()]
    return f"scored with {', '.join(parts)}" if parts else ""


def _origin_mismatch(first: str, reference: Origin, origin: Origin, measure: str) -> str:
    """Return the settings of the scores of a run that differ from the first run."""
    if origin.signature is None or reference.signature is None or (origin.text == reference.text and not origin.means):
        return ""
    elsewhere = f"{first}:" if reference.place else "here"
    mismatch = describe_mismatch(origin.signature, reference.signature, measure, elsewhere, origin.means)
    if not mismatch and origin.means and origin.signature.topics_depend_on_run:
        return "over topics that depend on the run, and were saved without them"
    return mismatch


def _unsigned_notes(origins: Origins) -> list[str]:
    """Return a note on files without signatures. The maker of a single frame knows its content."""
    alone = {origin.place for origin in origins.flat} == {FRAME}
    places = dict.fromkeys(origin.place for origin in origins.flat if origin.signature is None)
    if not places or alone:
        return []
    problem = f"no {plural(len(places), 'signature')}, so qrels and options cannot be checked"
    return [Note(f"{', '.join(places)}: {problem}", kind="no-signature")]


def _version_notes(origins: Origins) -> list[str]:
    versions: dict[str, str] = {}
    for origin in origins.flat:
        if origin.signature is not None:
            versions.setdefault(origin.signature.version, origin.place or "the runs")
    if len(versions) < 2:
        return []
    sources = ", ".join(f"{place} by {version}" for version, place in versions.items())
    return [f"scores come from several versions: {sources}"]
