"""What numbers depend on: the line under a table. `analysis.saved_scores` reads it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from gradedeval import __version__
from gradedeval.arrays import Floats
from gradedeval.errors import InputError, visible
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.gains import Grades, thresholds
from gradedeval.kernel.measures.notation import IA, UNIFORM, Value, write_value
from gradedeval.kernel.measures.parse import canonical
from gradedeval.kernel.measures.table import MEASURES
from gradedeval.kernel.options import OPTIONS, Options, exact, name_and_value
from gradedeval.kernel.trec.stream import Source, is_named

if TYPE_CHECKING:
    from gradedeval.kernel.rankings.qrels import Qrels

NAMES = "names "
CODE = "code of "
DRAWS, SEED = 10_000, 0
"""The bootstrap samples of --interval."""
INTERVAL = f"interval: studentized bootstrap of topics, {DRAWS} draws, seed {SEED}"

BETWEEN = r' \| (?=(?:[^"]*"[^"]*")*[^"]*$)'
"""What stands between the parts of a signature, not the words of a quoted file name."""
QRELS = r"qrels (?P<qrels>\w+), grades (?P<grades>[^,]+), top (?P<top>[^,]+)(?P<more>(, intents [^,]+)?(, \d+ strata)?)"
GAINS = r'(?P<measures>[^"]+?): (?P<scheme>.+)'


def _renamed(measures: Sequence[Measure]) -> list[str]:
    """What measures are that go by other names, as in `names map = ap, P_10 = p@10`."""
    pairs = [f"{measure.label} = {measure}" for measure in measures if measure.label.lower() != str(measure).lower()]
    return [f"{NAMES}{', '.join(pairs)}"] if pairs else []


def signature(
    qrels: Qrels,
    options: Options,
    measures: Sequence[Measure],
    counts: Sequence[tuple[int, int]],
    formats: Iterable[str] = (),
) -> str:
    """Version, qrels, topics, order of documents, every option that is not the default, and the gains of each measure.

    counts   for each run, how many topics it is scored on, and how many of those are missing from it
    formats  what their files were read as
    """
    top = options.top_of(float(qrels.labels[-1]))
    missing = [number for _, number in counts]
    most = f"{'up to ' if min(missing) < max(missing) else ''}{max(missing)} missing"
    intents = "" if qrels.subtopics is None else f", intents {_range([*map(len, qrels.subtopics.names.values())])}"
    strata = "" if qrels.strata is None else f", {len(qrels.strata.names)} strata"
    priors = dict.fromkeys(_prior(measure) for measure in measures if measure.by_intent)
    priors.pop(UNIFORM, None)
    files = dict.fromkeys(file for measure in measures for file in measure.files if is_named(file))
    parts = [
        f"gradedeval {__version__}",
        f"qrels {qrels.digest}, grades {_range(qrels.labels)}, top {exact(top)}{intents}{strata}",
        f"topics {_range([scored for scored, _ in counts])} of {len(qrels)}" + (f" ({most})" if any(missing) else ""),
        *(["order rank"] if options.order == "rank" else []),
        "order file" if options.order == "file" else f"ties {options.ties}",
        *_formats("qrels", [qrels.format]),
        *_formats("run", formats),
        *_changed(options),
        *([] if options.interval is None else [f"{_percent(options.interval)}% {INTERVAL}"]),
        *_renamed(measures),
        *_gains(measures, Grades(qrels.labels, top)),
        *(f"{_with_digest(prior, prior[1:])} prior" for prior in priors),
        *(_with_digest(file, file) for file in files),
        *dict.fromkeys(f"{CODE}{one.name} {one.definition.code}" for one in measures if one.definition.code),
    ]
    return " | ".join(map(visible, parts))


def _formats(holds: str, formats: Iterable[str]) -> list[str]:
    """The formats of files that are not plain TREC."""
    others = [name for name in dict.fromkeys(formats) if name not in ("", "trec")]
    return [f"{holds} format {', '.join(others)}"] if others else []


def _prior(measure: Measure) -> str:
    from gradedeval.kernel.scoring.intents import prior_of  # few measures are by intent

    return prior_of(measure)


def _range(values: Sequence[float] | Floats) -> str:
    low, high = min(values), max(values)
    return exact(low) if low == high else f"{exact(low)}..{exact(high)}"


def _percent(share: float) -> str:
    text = f"{100 * share:.10g}"
    return text if float(text) / 100 == share else exact(100 * share)


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
        return f"rel {exact(measure.rel)}"
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


# The short signature: the version, the qrels and what is not a default.


def short(text: str) -> str:
    """The lines under a table for people: of each signature in them the version, the checksum of the qrels, and what
    differs from the defaults of this version. What is left out follows from those and from the names of measures.

    Scores saved by another version had its defaults: their signature stays as it is.
    """
    return "\n".join(map(_short_line, text.split("\n")))


SIGNATURES: Mapping[str | None, Callable[[str], str]] = {"short": short, "full": str, None: lambda text: ""}
"""How a table for people is signed, None being not at all -> what makes that of the full signature."""


def _short_line(line: str) -> str:
    parts = re.split(BETWEEN, line)
    kept, ours = parts[:1], False
    for before, part in pairwise(parts):
        qrels = re.fullmatch(QRELS, part)
        if qrels:
            ours = re.search(rf"(^|\s)gradedeval {re.escape(__version__)}$", before) is not None
        kept += (_short_qrels(qrels) if qrels else _shortened(part)) if ours else [part]
    return " | ".join(kept)


def _short_qrels(qrels: re.Match[str]) -> list[str]:
    """The checksum, which grades follow from, and the top grade where it is not the highest of them."""
    top = "" if qrels["grades"].rpartition("..")[2] == qrels["top"] else f", top {qrels['top']}"
    return [f"qrels {qrels['qrels']}{top}{qrels['more']}"]


def _shortened(part: str) -> list[str]:
    """A part without what is a default; nothing where all of it is."""
    if part == f"ties {OPTIONS['ties'].default}" or re.fullmatch(r"topics (\d+) of \1", part):
        return []
    if part.endswith(INTERVAL):
        return [part.partition(":")[0]]
    if part.startswith(NAMES):
        pairs = [pair for pair in renamed(part).items() if not _means(*pair)]
        return [NAMES + ", ".join(map(" = ".join, pairs))] if pairs else []
    if listed := re.fullmatch(GAINS, part):
        names = [name for name in listed["measures"].split(", ") if not _is_default(name, listed["scheme"])]
        return [f"{', '.join(names)}: {listed['scheme']}"] if names else []
    return [part]


def renamed(part: str) -> dict[str, str]:
    """The part of names as a dict: name -> notation."""
    words = part.removeprefix(NAMES).split(" = ")
    names = [words[0], *(word.rpartition(", ")[2] for word in words[1:-1])]
    known = [*(word.rpartition(", ")[0] for word in words[1:-1]), words[-1]]
    return dict(zip(names, known, strict=True))


def _means(name: str, notation: str) -> bool:
    """Whether a name means this measure by itself, whatever the options."""
    try:
        return canonical(name) == notation
    except InputError:
        return False


def _is_default(listed: str, scheme: str) -> bool:
    """Whether a measure has this gain scheme where nobody asks for another; `listed` as in the signature."""
    name = listed.removeprefix(f"{IA}(").partition("(")[0].rstrip(")")
    measure = MEASURES.get(name)
    return measure is not None and re.fullmatch(_default_scheme(measure), scheme) is not None


def _default_scheme(measure: Measure) -> str:
    """The scheme of a measure without parameters, as a regular expression; of thresholds, which follow from the grades,
    the shares alone."""
    if measure.rel is None and measure.definition.scale == "thresholds":
        return rf"(\d+ )?thresholds \S+, {re.escape(_shares(measure))}"
    return re.escape(f"rel {exact(measure.rel)}" if measure.rel is not None else _named_gains(measure))
