"""What numbers depend on: the line under a table, written and read, and whether two of them allow a comparison."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from gradedeval import __version__
from gradedeval.arrays import Floats
from gradedeval.errors import InputError, visible
from gradedeval.measures import notation
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Grades, thresholds
from gradedeval.measures.notation import IA, UNIFORM, Spelling, Value, write_value
from gradedeval.measures.parse import canonical
from gradedeval.options import OPTIONS, Options, top_grade
from gradedeval.options.definition import name_and_value
from gradedeval.rankings.qrels import Qrels
from gradedeval.trec.stream import Source, is_named

_NAMES = "names "
DRAWS, SEED = 10_000, 0
"""The bootstrap samples of --interval."""
INTERVAL = f"interval: studentized bootstrap of topics, {DRAWS} draws, seed {SEED}"

FREE = (
    r"(gradedeval|(run|qrels) format|topics|names|\d+ chosen topics?|max gain|max residual|residual depth"
    r"|unseen|signed differences|[\d.]+% interval)\b"
)
"""The parts that may differ between scores that are compared: the version, formats of files, which topics count, what
residuals, bounds and intervals are, what measures are called."""
_BETWEEN = r' \| (?=(?:[^"]*"[^"]*")*[^"]*$)'  # parts, not the words of a quoted file name
_QRELS = r"qrels (?P<qrels>\w+), grades [^,]+, top (?P<top>[^,]+)(, intents [^,]+)?(, \d+ strata)?"
_GAINS = r'(?P<measures>[^"]+?): (?P<scheme>.+)'
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
        parts = tuple(re.split(_BETWEEN, text))
        return cls(parts) if len(parts) > 1 and re.fullmatch(_QRELS, parts[1]) else None

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
            re.fullmatch(_FILE, part) for part in self.parts if not (re.match(FREE, part) or re.fullmatch(_GAINS, part))
        )
        return {match["name"]: match["digest"] for match in files if match and match["name"] != "costs"}

    @cached_property
    def gains(self) -> dict[str, set[str]]:
        """The name of a measure -> its gain schemes, each with the parameters at their defaults."""
        gains: dict[str, set[str]] = {}
        for listed in filter(None, (re.fullmatch(_GAINS, part) for part in self.parts if not re.match(FREE, part))):
            for measure in listed["measures"].split(", "):
                name, _, defaults = re.sub(_GIVEN, "", measure.removeprefix(f"{IA}(")).partition("(")
                gains.setdefault(name.rstrip(")"), set()).add(defaults.strip("()") + listed["scheme"])
        return gains

    def differences(self, other: Signature, measure: str) -> dict[str, tuple[str | None, str | None]]:
        """What of the two does not agree, though the scores by a measure depend on it: what it is -> its value here and
        there, None where it is not set.

        The gains of a measure and the files that it reads are compared where both signatures name them.
        """
        mine, theirs = dict(self.settings), dict(other.settings)
        name = _name(measure)
        schemes = self.gains.get(name, set()), other.gains.get(name, set())
        if not any(scheme for own in schemes for scheme in own if not scheme.startswith("rel ")):
            for settings in (mine, theirs):
                settings.pop("top grade", None)
        if all(schemes) and schemes[0].isdisjoint(schemes[1]):
            mine["gains"], theirs["gains"] = (", ".join(sorted(own)) for own in schemes)
        for file in self.files.keys() & other.files.keys():
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
        part = next((part for part in self.parts if part.startswith(_NAMES)), "")
        words = part.removeprefix(_NAMES).split(" = ")
        names = [words[0], *(word.rpartition(", ")[2] for word in words[1:-1])]
        known = [*(word.rpartition(", ")[0] for word in words[1:-1]), words[-1]]
        return dict(zip(names, known, strict=True)) if part else {}


def without_interval(text: str) -> str:
    """The text of a signature without what it says of --interval."""
    return " | ".join(part for part in re.split(_BETWEEN, text) if not part.endswith(INTERVAL))


def _settings(part: str) -> Iterator[tuple[str, str]]:
    """What a part says of all measures: names and values."""
    if qrels := re.fullmatch(_QRELS, part):
        yield from (("qrels", qrels["qrels"]), ("top grade", qrels["top"]))
    elif part.startswith("standardized "):
        yield "standardized scores", part.rpartition(" ")[2]  # a checksum: made of these runs, or read from a file
    elif name := next((word for word in _WORDS if part == word or part.startswith(f"{word} ")), ""):
        yield name, part.removeprefix(name).strip()


def _name(measure: str) -> str:
    """The name of a measure, however it is written."""
    try:
        spelling: Spelling = notation.read(canonical(measure))[0]
    except InputError:
        return measure
    return (spelling.inner or spelling).name


def _renamed(measures: Sequence[Measure]) -> list[str]:
    """What measures are that go by other names, as in `names map = ap, P_10 = p@10`."""
    pairs = [f"{measure.label} = {measure}" for measure in measures if measure.label.lower() != str(measure).lower()]
    return [f"{_NAMES}{', '.join(pairs)}"] if pairs else []


def signature(
    qrels: Qrels,
    options: Options,
    measures: Sequence[Measure],
    counts: Sequence[tuple[int, int]],
    formats: Iterable[str] = (),
) -> Signature:
    """Version, qrels, topics, order of documents, every option that is not the default, and the gains of each measure.

    counts   for each run, how many topics it is scored on, and how many of those are missing from it
    formats  what their files were read as
    """
    top = top_grade(options, float(qrels.labels[-1]))
    missing = [number for _, number in counts]
    most = f"{'up to ' if min(missing) < max(missing) else ''}{max(missing)} missing"
    intents = "" if qrels.subtopics is None else f", intents {_range([*map(len, qrels.subtopics.names.values())])}"
    strata = "" if qrels.strata is None else f", {len(qrels.strata.names)} strata"
    priors = dict.fromkeys(_prior(measure) for measure in measures if measure.by_intent)
    priors.pop(UNIFORM, None)
    files = dict.fromkeys(file for measure in measures for file in measure.files if is_named(file))
    parts = [
        f"gradedeval {__version__}",
        f"qrels {qrels.digest}, grades {_range(qrels.labels)}, top {top:g}{intents}{strata}",
        f"topics {_range([scored for scored, _ in counts])} of {len(qrels)}" + (f" ({most})" if any(missing) else ""),
        *(["order rank"] if options.order == "rank" else []),
        "order file" if options.order == "file" else f"ties {options.ties}",
        *_formats("qrels", [qrels.format]),
        *_formats("run", formats),
        *_changed(options),
        *([] if options.interval is None else [f"{100 * options.interval:.10g}% {INTERVAL}"]),
        *_renamed(measures),
        *_gains(measures, Grades(qrels.labels, top)),
        *(f"{_with_digest(prior, prior[1:])} prior" for prior in priors),
        *(_with_digest(file, file) for file in files),
    ]
    return Signature(tuple(map(visible, parts)))


def _formats(holds: str, formats: Iterable[str]) -> list[str]:
    """The formats of files that are not plain TREC."""
    others = [name for name in dict.fromkeys(formats) if name not in ("", "trec")]
    return [f"{holds} format {', '.join(others)}"] if others else []


def _prior(measure: Measure) -> str:
    from gradedeval.scoring.intents import prior_of  # few measures are by intent

    return prior_of(measure)


def _range(values: Sequence[float] | Floats) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g}..{high:g}"


def _changed(options: Options) -> list[str]:
    """The options that differ from their defaults and change a number: first those with a value, then the others."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    for name, described in OPTIONS.items():
        value = getattr(options, name)
        if value != described.default:
            text = described.signature(name.replace("_", " "), value)
            texts[described.signature is name_and_value] += [text] if text else []
    return texts[True] + texts[False]


def _with_digest(name: str, path: str) -> str:
    """A file as it is named, and six digits of its content."""
    return f"{write_value(name)} {Source(path).digest()[:6]}"


def _gains(measures: Sequence[Measure], grades: Grades) -> list[str]:
    """The measures of each gain scheme, as in `err, nerr: exp gains` and `ap, p: rel 1`."""
    groups: dict[str, dict[str, Measure]] = {}
    for measure in measures:
        if measure.definition.scale or measure.rel is not None:
            groups.setdefault(_scheme(measure, grades), {}).setdefault(_listed(measure), measure)
    often = Counter(name for names in groups.values() for name in names)
    return [
        f"{', '.join(_listed(measure, often[name] > 1) for name, measure in names.items())}: {scheme}"
        for scheme, names in groups.items()
    ]


def _listed(measure: Measure, several: bool = False) -> str:
    """The name of a measure and the parameters that nobody gave, as in `rbp(p=0.8)`: its name in a table does not show
    them. Where `several` of that name have other gains, also what it says of its gains: `err(gain=linear)`."""
    name = measure.name + _defaults(measure, measure.definition.gain_parameters if several else ())
    return name if measure.prior is None else f"{IA}({name})"


def _defaults(measure: Measure, given: Sequence[str]) -> str:
    """The parameters that nobody gave, and some of those given, in parentheses."""
    said = ("of", "prior", *dict(measure.parameters))
    unsaid = {key: value for key, value in measure.definition.parameters.items() if key not in said}
    worded = {
        key: value for key, value in unsaid.items() if isinstance(value, int | float | str | tuple) and value != ""
    }
    shown = {key: value for key, value in measure.parameters if key in given}
    inside = ",".join(f"{key}={write_value(value)}" for key, value in (shown | worded).items())
    return f"({inside})" if inside else ""


def _scheme(measure: Measure, grades: Grades) -> str:
    if measure.rel is not None:
        return f"rel {measure.rel:g}"
    if measure.definition.scale == "thresholds":
        levels = thresholds(grades)
        count = "" if isinstance(levels, range) else f"{len(levels)} "
        ends = _range((levels[0], levels[-1])) if levels else "none"
        return f"{count}thresholds {ends}, {_shares(measure)}"
    return _named_gains(measure)


def _shares(measure: Measure) -> str:
    """What share of users has each threshold."""
    if measure.threshold_shares is not None:
        return f"g {write_value(measure.threshold_shares)}"
    return "equal g" if measure.gain == "thresholds" else f"g by {_named_gains(measure)}"


def _named_gains(measure: Measure) -> str:
    gain: Value = measure.gain if measure.gain is not None else ""
    if isinstance(gain, str) and gain.startswith("@"):
        return f"{_with_digest(gain, gain[1:])} gains"
    return f"{write_value(gain)} gains"
