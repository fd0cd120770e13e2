"""What scores depend on, read from the line under their table, and whether two of them allow a comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from gradedeval.errors import InputError
from gradedeval.kernel.measures import notation
from gradedeval.kernel.measures.notation import IA, Spelling
from gradedeval.kernel.measures.parse import canonical
from gradedeval.kernel.options import OPTIONS
from gradedeval.kernel.scoring.signature import BETWEEN, CODE, GAINS, INTERVAL, NAMES, QRELS, renamed

FREE = (
    r"(gradedeval|(run|qrels) format|topics|names|\d+ chosen topics?|max gain|max residual|residual depth"
    r"|unseen|signed differences|slices?|[\d.]+% interval)\b"
)
"""The parts that may differ between scores that are compared: the version, formats of files, which topics count, what
their labels, residuals, bounds and intervals are, what measures are called."""


_GIVEN = r'\b(?:gain|rel|g)=("[^"]*"|[^,()]*),?'


_FILE = r"(?P<name>.+) (?P<digest>[0-9a-f]{6})(?: prior)?"


_AVERAGED = (
    r"(?P<number>\d+) chosen topics? (?P<digest>\w+)"
    r"|(?P<name>topics|max residual|residual depth|max gain) (?P<value>\S+)"
)


_WORDS = sorted((name.replace("_", " ") for name in OPTIONS), key=len, reverse=True)


@dataclass(frozen=True)
class Signature:
    """All that numbers depend on: the version, qrels, topics, order of documents, every option that is not the default,
    the gains of each measure, and files. As text, the line under a table."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return " | ".join(self.parts)

    @classmethod
    def read(cls, text: str) -> Signature | None:
        """The signature that a text is; None where it is none."""
        parts = tuple(re.split(BETWEEN, text))
        return cls(parts) if len(parts) > 1 and re.fullmatch(QRELS, parts[1]) else None

    @property
    def version(self) -> str:
        return self.parts[0]

    @cached_property
    def settings(self) -> dict[str, str]:
        """What must agree wherever scores are compared -> its value; empty where it is only on or off."""
        return {name: value for part in self.parts if not re.match(FREE, part) for name, value in _settings(part)}

    @cached_property
    def averaged(self) -> dict[str, str]:
        """What means depend on beyond the scores of topics -> its value: the version, and which topics count."""
        found = {"gradedeval": self.version.removeprefix("gradedeval ")}
        for match in filter(None, (re.fullmatch(_AVERAGED, part) for part in self.parts)):
            found[match["name"] or "chosen topics"] = match["value"] or f"{match['number']} ({match['digest']})"
        if "max residual" not in found:  # residuals choose no topics
            found = {name: value for name, value in found.items() if name not in ("residual depth", "max gain")}
        return found

    @cached_property
    def files(self) -> dict[str, str]:
        """What measures read -> its checksum."""
        files = (
            re.fullmatch(_FILE, part) for part in self.parts if not (re.match(FREE, part) or re.fullmatch(GAINS, part))
        )
        return {match["name"]: match["digest"] for match in files if match and match["name"] != "costs"}

    @cached_property
    def gains(self) -> dict[str, set[str]]:
        """The name of a measure -> its gain schemes, each with the parameters at their defaults."""
        gains: dict[str, set[str]] = {}
        for listed in filter(None, (re.fullmatch(GAINS, part) for part in self.parts if not re.match(FREE, part))):
            for measure in listed["measures"].split(", "):
                name, _, defaults = re.sub(_GIVEN, "", measure.removeprefix(f"{IA}(")).partition("(")
                gains.setdefault(name.rstrip(")"), set()).add(defaults.strip("()") + listed["scheme"])
        return gains

    def differences(self, other: Signature, measure: str) -> dict[str, tuple[str | None, str | None]]:
        """What of the two does not agree, though the scores by a measure depend on it: what it is -> its value here and
        there, None where it is not set.

        The gains of a measure, its code and the files that measures read are compared where both signatures name them.
        """
        mine, theirs = dict(self.settings), dict(other.settings)
        name = _name(measure)
        schemes = self.gains.get(name, set()), other.gains.get(name, set())
        if not any(scheme for own in schemes for scheme in own if not scheme.startswith("rel ")):
            for settings in (mine, theirs):
                settings.pop("top grade", None)
        if all(schemes) and schemes[0].isdisjoint(schemes[1]):
            mine["gains"], theirs["gains"] = (", ".join(sorted(own)) for own in schemes)
        of_others = {file for file in self.files if file.startswith(CODE) and file != f"{CODE}{name}"}
        for file in (self.files.keys() & other.files.keys()) - of_others:
            mine[file], theirs[file] = self.files[file], other.files[file]
        names = dict.fromkeys([*mine, *theirs])
        return {key: (mine.get(key), theirs.get(key)) for key in names if mine.get(key) != theirs.get(key)}

    def differences_of_means(self, other: Signature, measure: str) -> dict[str, tuple[str | None, str | None]]:
        """As `differences`, and what means depend on beside the scores of topics: for scores without their topics."""
        mine, theirs = self.averaged, other.averaged
        names = dict.fromkeys([*mine, *theirs])
        more = {key: (mine.get(key), theirs.get(key)) for key in names if mine.get(key) != theirs.get(key)}
        return more | self.differences(other, measure)

    def notations(self) -> dict[str, str]:
        """Measures that go by other names than their own: name -> notation."""
        part = next((part for part in self.parts if part.startswith(NAMES)), "")
        return renamed(part) if part else {}


def without_interval(text: str) -> str:
    """The text of a signature without what it says of --interval."""
    return " | ".join(part for part in re.split(BETWEEN, text) if not part.endswith(INTERVAL))


def _settings(part: str) -> Iterator[tuple[str, str]]:
    """What a part says of all measures: names and values."""
    if qrels := re.fullmatch(QRELS, part):
        yield from (("qrels", qrels["qrels"]), ("top grade", qrels["top"]))
    elif part.startswith("standardized "):
        yield "standardized scores", part.rpartition(" ")[2]  # a checksum: made of these runs, or read from a file
    elif name := next((word for word in _WORDS if part == word or part.startswith(f"{word} ")), ""):
        yield name, part.removeprefix(name).strip()


def _name(measure: str) -> str:
    """The name of a measure, however it is written."""
    try:
        spelling: Spelling = notation.read_notation(canonical(measure))[0]
    except InputError:
        return measure
    return (spelling.inner or spelling).name
