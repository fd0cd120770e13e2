"""The signature: all settings that numbers depend on, the line under a table. `analysis.saved_scores` reads it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from gradedeval import __version__
from gradedeval.arrays import Floats
from gradedeval.errors import InputError, plural, visible
from gradedeval.kernel.measures.definition import MEASURES, Measure
from gradedeval.kernel.measures.gains import Grades, thresholds
from gradedeval.kernel.measures.notation import IA, UNIFORM, Value, write_value
from gradedeval.kernel.measures.parse import canonical
from gradedeval.kernel.options import OPTIONS, PRESETS, Options, exact, name_and_value
from gradedeval.kernel.trec.stream import is_named

if TYPE_CHECKING:
    from gradedeval.kernel.rankings.qrels import Qrels
    from gradedeval.kernel.trec.digests import InputDigests

NAMES = "names "
CODE = "code of "
FILES = "sha256 of "
DIGITS = 12
"""Hexadecimal digits of the digest of a file."""
DRAWS, SEED = 10_000, 0
"""The bootstrap samples of --interval."""
INTERVAL = f"interval: studentized bootstrap of topics, {DRAWS} draws, seed {SEED}"

BETWEEN = r' \| (?=(?:[^"]*"[^"]*")*[^"]*$)'
"""The separator of the parts of a signature, except within a quoted file name."""
QRELS = r"qrels (?P<qrels>\w+), grades (?P<grades>[^,]+), top (?P<top>[^,]+)(?P<more>(, intents [^,]+)?(, \d+ strata)?)"
GAINS = r'(?P<measures>[^"]+?): (?P<scheme>.+)'


def signature(
    qrels: Qrels,
    options: Options,
    measures: Sequence[Measure],
    counts: Sequence[tuple[int, int]],
    formats: Iterable[str] = (),
) -> str:
    """Return the version, qrels, topics, order of documents, non-default options, and gains of each measure. `counts`:
    for each run, the number of its topics, and how many of them are missing from it."""
    top = options.top_of(float(qrels.labels[-1]))
    scored, missing = zip(*counts, strict=True)
    topics = f"topics {_range(scored)} of {len(qrels)}{_missing(missing)}"
    intents = "" if qrels.subtopics is None else f", intents {_range([*map(len, qrels.subtopics.names.values())])}"
    strata = "" if qrels.strata is None else f", {len(qrels.strata.names)} strata"
    parts = [
        f"gradedeval {__version__}",
        f"qrels {qrels.digest}, grades {_range(qrels.labels)}, top {exact(top)}{intents}{strata}",
        topics,
        *(["order rank"] if options.order == "rank" else []),
        "order file" if options.order == "file" else f"ties {options.ties}",
    ]
    for holds, read_as in (("qrels", [qrels.format]), ("run", formats)):
        if others := [name for name in dict.fromkeys(read_as) if name not in ("", "trec", "strata")]:
            parts.append(f"{holds} format {', '.join(others)}")
    parts += [f"collapse qrels {qrels.collapse.digest}"] if qrels.collapse else []
    parts += _changed(options)
    if single := [measure.name for measure in measures if compares_float32(measure, options)]:
        of = "" if len(single) == len(measures) else f" in {', '.join(dict.fromkeys(single))}"
        parts.append(f"scores float32{of}")
    if options.interval is not None:
        parts.append(f"{_percent(options.interval)}% {INTERVAL}")
    return " | ".join(map(visible, [*parts, *_of_measures(measures, Grades(qrels.labels, top))]))


def of_files(digests: InputDigests, runs: Iterable[str]) -> str:
    """Return the part on the bytes of files, as in `sha256 of qrels 0123456789ab, runs 0123456789ab, ba9876543210`:
    neither the names of runs nor their order changes it."""
    digits = sorted({digests.runs[run].sha256[:DIGITS] for run in runs})
    of_qrels = [] if digests.qrels is None else [f"qrels {digests.qrels.sha256[:DIGITS]}"]
    return FILES + ", ".join([*of_qrels, f"{plural(len(digits), 'run')} {', '.join(digits)}"])


def compares_float32(measure: Measure, options: Options) -> bool:
    """Return whether a measure compares scores as float32: as `order` says, or by the preset's choice for it."""
    choices = PRESETS[options.like].single if options.like and "order" not in options.given else {}
    if not choices or not options.by_score:
        return options.order == "float32"
    by_gdeval = measure.name == "ndcg" and measure.gain == "exp" and measure.rel is None
    is_single = measure.name in choices and (measure.cutoff is None or choices[measure.name])
    return is_single and not (measure.by_intent or by_gdeval)


def _range(values: Sequence[float] | Floats) -> str:
    low, high = min(values), max(values)
    return exact(low) if low == high else f"{exact(low)}..{exact(high)}"


def _missing(counts: Sequence[int]) -> str:
    """Return how many topics runs lack, as in ` (3 missing)`, or ` (up to 3 missing in 2 of 5 runs)` if runs differ."""
    positive = list(filter(None, counts))
    if not positive:
        return ""
    up_to = "up to " if min(positive) < max(positive) else ""
    of = f" in {len(positive)} of {len(counts)} runs" if min(counts) < max(counts) else ""
    return f" ({up_to}{max(positive)} missing{of})"


COUNTED = r"topics (?P<low>\d+)(\.\.(?P<high>\d+))? of (?P<all>\d+)(?P<missing> \([^)]+ missing[^)]*\))?"
"""The part on topics."""


def on_common_topics(text: str, common: int) -> str:
    """Return the signature of scores on the `common` topics of all runs, from that of runs with different ones."""
    parts = re.split(BETWEEN, text)
    counted = [match for part in parts if (match := re.fullmatch(COUNTED, part))]
    numbers = {match[name] for match in counted for name in ("low", "high") if match[name]}
    if len(numbers) < 2:
        return text
    one = f"topics {common} of {max(int(match['all']) for match in counted)}"
    kept = [one if re.fullmatch(COUNTED, part) else part for part in parts]
    return " | ".join(part for index, part in enumerate(kept) if part != one or one not in kept[:index])


def _percent(share: float) -> str:
    text = f"{100 * share:.10g}"
    return text if float(text) / 100 == share else exact(100 * share)


def _changed(options: Options) -> list[str]:
    """Return the options that change a number and differ from the defaults: first options with a value, then flags."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    for name, described in OPTIONS.items():
        value = getattr(options, name)
        if value != described.default:
            text = described.signature(name.replace("_", " "), value)
            texts[described.signature is name_and_value] += [text] if text else []
    return texts[True] + texts[False]


def _with_digest(name: str, path: str) -> str:
    """Return the name of a file with six digits of a digest of its content."""
    from gradedeval.kernel.trec.digests import digest_of  # few signatures name a file

    return f"{write_value(name)} {digest_of(path).sha256[:6]}"


def _of_measures(measures: Sequence[Measure], grades: Grades) -> list[str]:
    """Return the parts on measures: other notations, as in `names map = ap, P_10 = p@10`; measures by gain scheme, as
    in `err, nerr: exp gains` and `ap, p: rel 1`; and files and code of users that scores depend on."""
    names, groups = list[str](), dict[str, dict[str, Measure]]()
    priors, files, codes = dict[str, None](), dict[str, None](), dict[str, None]()
    for measure in measures:
        if measure.label.lower() != str(measure).lower():
            names.append(f"{measure.label} = {measure}")
        if measure.definition.scale or measure.rel is not None:
            groups.setdefault(_scheme(measure, grades), {}).setdefault(_listed(measure), measure)
        if measure.by_intent:
            from gradedeval.kernel.scoring.intents import prior_of  # few measures are

            priors[prior_of(measure)] = None
        files |= dict.fromkeys(filter(is_named, measure.files))
        if measure.definition.code:
            codes[f"{CODE}{measure.name} {measure.definition.code}"] = None
    parts = [f"{NAMES}{', '.join(names)}"] if names else []
    often = Counter(chain.from_iterable(groups.values()))
    for scheme, alike in groups.items():
        listed = [name if often[name] == 1 else _listed(measure, True) for name, measure in alike.items()]
        parts.append(f"{', '.join(listed)}: {scheme}")
    for prior in priors:
        parts += [] if prior == UNIFORM else [f"{_with_digest(prior, prior[1:])} prior"]
    for file in files:
        parts.append(_with_digest(file, file))
    return [*parts, *codes]


def _listed(measure: Measure, with_gains: bool = False) -> str:
    """Return the name of a measure with the defaults of its parameters, as in `rbp(p=0.8)`, which its name in a table
    lacks; `with_gains` also with stated parameters on gains, if measures of that name have different gains."""
    definition, stated = measure.definition, dict(measure.parameters)
    listed = dict[str, Value]()
    for key, value in stated.items():
        if with_gains and key in definition.gain_parameters:
            listed[key] = value
    for key, value in definition.parameters.items():
        if key not in ("of", "prior", *stated) and isinstance(value, int | float | str | tuple) and value != "":
            listed[key] = value
    name = measure.name
    if listed:
        name += f"({','.join(f'{key}={write_value(value)}' for key, value in listed.items())})"
    return name if measure.prior is None else f"{IA}({name})"


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
    """Return the share of users of each threshold."""
    if measure.threshold_shares is not None:
        return f"g {write_value(measure.threshold_shares)}"
    return "equal g" if measure.gain == "thresholds" else f"g by {_named_gains(measure)}"


def _named_gains(measure: Measure) -> str:
    gain: Value = measure.gain if measure.gain is not None else ""
    if isinstance(gain, str) and gain.startswith("@"):
        return f"{_with_digest(gain, gain[1:])} gains"
    return f"{write_value(gain)} gains"


# The short signature: the version, the qrels and settings other than the defaults.


def short(text: str) -> str:
    """Shorten the lines under a table for people: version, checksum of the qrels, and settings other than the defaults
    of this version. The omitted parts follow from the version, the checksum and the names of measures. Signatures of
    other versions, in saved scores, stay whole."""
    lines = []
    for line in text.split("\n"):
        parts = re.split(BETWEEN, line)
        kept, ours = parts[:1], False
        for previous, part in pairwise(parts):
            if qrels := re.fullmatch(QRELS, part):
                ours = re.search(rf"(^|\s)gradedeval {re.escape(__version__)}$", previous) is not None
                # Grades follow from the checksum, and so does the top grade if it is the highest of them.
                top = "" if qrels["grades"].rpartition("..")[2] == qrels["top"] else f", top {qrels['top']}"
                kept.append(f"qrels {qrels['qrels']}{top}{qrels['more']}" if ours else part)
            else:
                kept += _shortened(part) if ours else [part]
        lines.append(" | ".join(kept))
    return "\n".join(lines)


SIGNATURES: Mapping[str | None, Callable[[str], str]] = {"short": short, "full": str, None: lambda text: ""}
"""Style of the line under a table for people (None: no line) -> the function from the full signature to that line."""


def _shortened(part: str) -> list[str]:
    """Return a part without defaults; no part if all of it is the default."""
    if part == f"ties {OPTIONS['ties'].default}" or re.fullmatch(rf"topics (\d+) of \1|{FILES}.*", part):
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
    """Return name -> notation of the part on names."""
    words = part.removeprefix(NAMES).split(" = ")
    names = [words[0], *(word.rpartition(", ")[2] for word in words[1:-1])]
    notations = [*(word.rpartition(", ")[0] for word in words[1:-1]), words[-1]]
    return dict(zip(names, notations, strict=True))


def _means(name: str, notation: str) -> bool:
    """Return whether a name means this measure by itself, whatever the options."""
    try:
        return canonical(name) == notation
    except InputError:
        return False


def _is_default(listed: str, scheme: str) -> bool:
    """Return whether a gain scheme is the default of a measure; `listed` as in the signature."""
    measure = MEASURES.get(listed.removeprefix(f"{IA}(").partition("(")[0].rstrip(")"))
    if measure is None:
        return False
    if measure.rel is not None:
        return scheme == f"rel {exact(measure.rel)}"
    if measure.definition.scale == "thresholds":  # their levels follow from the grades
        return re.fullmatch(rf"(\d+ )?thresholds \S+, {re.escape(_shares(measure))}", scheme) is not None
    return scheme == _named_gains(measure)
