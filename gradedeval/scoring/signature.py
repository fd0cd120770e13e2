"""The line under a table: all that its numbers depend on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gradedeval.arrays import Floats
from gradedeval.errors import plural
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import UNIFORM
from gradedeval.measures.notation import IA, Value, write_value
from gradedeval.options import Options
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.intents import prior_of
from gradedeval.version import __version__


def signature(qrels: Qrels, options: Options, measures: Sequence[Measure], counts: Sequence[tuple[int, int]]) -> str:
    """Version, qrels, topics, order, every rule that is not the default, and the gains of each measure.

    counts: for each run, how many topics it is scored on, and how many of those it lacks
    """
    top = qrels.labels[-1] if options.top_grade is None else options.top_grade
    lacking = [missing for _, missing in counts]
    missing = f"{'up to ' if min(lacking) < max(lacking) else ''}{max(lacking)} missing"
    parts = [
        f"gradedeval {__version__}",
        f"qrels {qrels.digest}, grades {_range(qrels.labels)}, top {top:g}{_intents(qrels)}",
        f"topics {_range([scored for scored, _ in counts])} of {len(qrels)}"
        + (f" ({missing})" if any(lacking) else ""),
        "order file" if options.order == "file" else f"ties {options.ties}",
        *_unusual(options),
        *_gains(measures),
        *_priors(measures),
        *_files(measures),
    ]
    return " | ".join(parts)


def _range(values: Sequence[float] | Floats) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g}..{high:g}"


def _unusual(options: Options) -> list[str]:
    """What differs from the defaults and changes a number."""
    default = Options()
    said: list[str] = [f"like {options.like}"] if options.like else []
    for name in ("scores", "depth", "topics", "negative", "max_gain", "duplicates", "residual_depth", "max_residual"):
        value = getattr(options, name)
        if value != getattr(default, name):
            said.append(
                f"{name.replace('_', ' ')} {value:g}"
                if isinstance(value, float)
                else f"{name.replace('_', ' ')} {value}"
            )
    said += [f"costs {options.costs.digest}"] if options.costs else []
    said += ["signed differences"] if options.residuals == "difference" else []
    said += ["judged only"] if options.judged_only else []
    said += ["lenient"] if options.lenient else []
    return said + ([_chosen(options.topics_from)] if options.topics_from is not None else [])


def _chosen(topics: frozenset[bytes]) -> str:
    """How many topics --topics-from names, and six digits that tell one choice from another."""
    return f"{len(topics)} chosen {plural(len(topics), 'topic')} {_digest(b'|'.join(sorted(topics)))}"


def _digest(content: bytes) -> str:
    from hashlib import sha256

    return sha256(content).hexdigest()[:6]


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _intents(qrels: Qrels) -> str:
    """How many intents topics have, where the qrels were read for them."""
    return "" if qrels.subtopics is None else f", intents {_range([*map(len, qrels.subtopics.names.values())])}"


def _files(measures: Sequence[Measure]) -> list[str]:
    """Which files of weights, chances or utilities the numbers are of."""
    named = dict.fromkeys(name for measure in measures for name in measure.files)
    return [f"{write_value(name)} {_digest(_content(name))}" for name in named if os.path.isfile(name)]


def _priors(measures: Sequence[Measure]) -> list[str]:
    """Files of probabilities, each with six digits that tell its content from another."""
    files = dict.fromkeys(prior for measure in measures if (prior := prior_of(measure)) != UNIFORM)
    return [f"{write_value(prior)} {_digest(_content(prior[1:]))} prior" for prior in files]


def _gains(measures: Sequence[Measure]) -> list[str]:
    """`err, nerr: exp gains`, `ap, p: rel 1`: the measures of each gain scheme."""
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
        return f"{write_value(gain)} {_digest(_content(gain[1:]))} gains"
    return "equal g" if gain == "thresholds" else f"{write_value(gain)} gains"
