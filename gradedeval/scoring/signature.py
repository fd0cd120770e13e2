"""The line under a table: everything that its numbers depend on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gradedeval.arrays import Floats
from gradedeval.errors import visible
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import UNIFORM
from gradedeval.measures.notation import IA, Value, write_value
from gradedeval.options import OPTIONS, Options
from gradedeval.options.definition import name_and_value
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.intents import prior_of
from gradedeval.version import __version__


def signature(qrels: Qrels, options: Options, measures: Sequence[Measure], counts: Sequence[tuple[int, int]]) -> str:
    """Version, qrels, topics, order of documents, every option that is not the default, and the gains of each measure.

    counts  for each run, how many topics it is scored on, and how many of those are missing from it
    """
    top = qrels.labels[-1] if options.top_grade is None else options.top_grade
    missing = [number for _, number in counts]
    most = f"{'up to ' if min(missing) < max(missing) else ''}{max(missing)} missing"
    intents = "" if qrels.subtopics is None else f", intents {_range([*map(len, qrels.subtopics.names.values())])}"
    strata = "" if qrels.strata is None else f", {len(qrels.strata.names)} strata"
    priors = dict.fromkeys(prior for measure in measures if (prior := prior_of(measure)) != UNIFORM)
    files = dict.fromkeys(file for measure in measures for file in measure.files if os.path.isfile(file))
    parts = [
        f"gradedeval {__version__}",
        f"qrels {qrels.digest}, grades {_range(qrels.labels)}, top {top:g}{intents}{strata}",
        f"topics {_range([scored for scored, _ in counts])} of {len(qrels)}" + (f" ({most})" if any(missing) else ""),
        "order file" if options.order == "file" else f"ties {options.ties}",
        *_changed(options),
        *_gains(measures),
        *(f"{_with_digest(prior, prior[1:])} prior" for prior in priors),
        *(_with_digest(file, file) for file in files),
    ]
    return visible(" | ".join(parts))


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
    from hashlib import sha256

    with open(path, "rb") as file:
        return f"{write_value(name)} {sha256(file.read()).hexdigest()[:6]}"


def _gains(measures: Sequence[Measure]) -> list[str]:
    """The measures of each gain scheme, as in `err, nerr: exp gains` and `ap, p: rel 1`."""
    groups: dict[str, dict[str, None]] = {}
    for measure in measures:
        if measure.definition.scale or measure.rel is not None:
            name = measure.name if measure.prior is None else f"{IA}({measure.name})"
            groups.setdefault(_scheme(measure), {})[name] = None
    return [f"{', '.join(names)}: {scheme}" for scheme, names in groups.items()]


def _scheme(measure: Measure) -> str:
    if measure.rel is not None:
        return f"rel {measure.rel:g}"
    if measure.threshold_shares is not None:
        return f"g {write_value(measure.threshold_shares)}"
    gain: Value = measure.gain if measure.gain is not None else ""
    if isinstance(gain, str) and gain.startswith("@"):
        return f"{_with_digest(gain, gain[1:])} gains"
    return "equal g" if gain == "thresholds" else f"{write_value(gain)} gains"
