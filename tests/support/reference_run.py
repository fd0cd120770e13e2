"""A whole evaluation once more, from lines to means: slow, by lists and dicts, as the documentation defines it.

Files are regular here: what is wrong in a file is the business of other tests. Nothing here looks at the package but
for the numbers of a gain file.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support import conformance_measures as definitions
from support import reference
from support.conformance import single

COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
GEOMETRIC = ("gm_ap", "gm_bpref")
SQUARE = (
    *("gap", "q", "ndcg_rel", "rndcg", "g", "alpha_dcg", "alpha_ndcg", "nrbp", "nnrbp", "sp", "cwlap"),
    *("infap", "rbp_resid"),
)
RENORMALIZED = (
    *("nerr", "ndcg", "alpha_ndcg", "nerria", "nnrbp", "p", "gprecision", "uniform", "zipf"),
    *("logharmonic", "relative_p"),
    *("set_p", "set_relative_p", "set_map", "set_f", "judged", "unjudged"),
)

PRESETS: dict[str, dict[str, Any]] = {
    "trec_eval": {"topics": "both", "negative": "unjudged", "duplicates": "refuse"},
    "gdeval": {"topics": "relevant", "top_grade": 4},
    "ir_measures": {"topics": "qrels", "top_grade": 4},
    "cwl_eval": {"topics": "run", "order": "file", "gain": "grade", "max_gain": 1},
    "ntcireval": {"topics": "qrels", "order": "file"},
}
BY_PYTREC_EVAL = (
    *("ap", "p", "recall", "rprec", "ndcg", "bpref", "infap", "success", "iprec", "rr", "set_p", "set_relative_p"),
    *("set_recall", "set_map", "set_f", "num_q", "num_ret", "num_rel", "num_rel_ret"),
)
"""What ir_measures takes from pytrec_eval, which compares scores as float32; but rr with a cutoff it computes itself,
and exponential ndcg it takes from gdeval."""
PRESET_PARAMETERS: dict[str, dict[str, dict[str, Any]]] = {
    "trec_eval": {name: {"gain": "linear"} for name in ("err", "nerr", "cascade", "erria", "nerria")},
    "gdeval": {name: {"gain": "exp"} for name in ("err", "nerr", "ndcg", "dcg")},
    "ir_measures": {"err": {"gain": "exp"}, "ndcg": {"gain": "linear"}, "rbp": {"rel": 1, "p": 0.8}},
    "cwl_eval": {},
    "ntcireval": {"err": {"gain": "ntcir"}, "nerr": {"gain": "ntcir"}, "rbp": {"p": 0.95}},
}


class Refused(Exception):
    """The input or an option is not allowed."""


@dataclass(frozen=True)
class Asked:
    """A measure as the reference takes it."""

    name: str
    parameters: tuple[tuple[str, Any], ...]
    cutoff: int | None


@dataclass
class Evaluation:
    """topic -> measure number -> (score, residual of the unjudged, whole residual); None without a reference, nan
    for blank."""

    topics: list[str] = field(default_factory=list)
    scores: dict[str, list[tuple[float, float, float] | None]] = field(default_factory=dict)
    summaries: list[float | None] = field(default_factory=list)
    counted: list[int | None] = field(default_factory=list)


def is_binary(name: str) -> bool:
    return name in reference.BINARY


def is_cwl(name: str) -> bool:
    return name in definitions.CWL_GAINS


def applied(measure: Asked, options: Mapping[str, Any]) -> Asked:
    """Return the measure with its settings: its own notation first, then the option for all, the preset, the
    default."""
    parameters = dict(measure.parameters)
    like = options.get("like")
    preset = dict(PRESET_PARAMETERS.get(like or "", {}).get(measure.name, {}))
    if like == "ntcireval" and measure.cutoff is not None and measure.name in ("ap", "gap", "q"):
        preset["norm"] = "k"
    if like == "cwl_eval" and is_cwl(measure.name):
        preset["horizon"] = 1000
    says_gain = {"gain", "rel", "g"} & parameters.keys()
    reads_gains = measure.name not in reference.BLIND
    if not says_gain and reads_gains:
        if options.get("gain") is not None and not is_binary(measure.name):
            parameters["gain"] = options["gain"]
        elif options.get("rel") is not None and (is_binary(measure.name) or "rel" in preset):
            parameters["rel"] = options["rel"]
    says_gain = {"gain", "rel", "g"} & parameters.keys()
    for key, value in preset.items():
        if key not in parameters and not (says_gain and key in ("gain", "rel")):
            parameters[key] = value
    # A parameter at its default is left out: it is the same measure.
    defaults = {"gain": default_gain(measure.name), "rel": 1 if is_binary(measure.name) else None, "p": 0.8}
    written = dict(measure.parameters)
    parameters = {key: value for key, value in parameters.items() if key in written or value != defaults.get(key)}
    return Asked(measure.name, tuple(parameters.items()), measure.cutoff)


def default_gain(name: str) -> str | None:
    return {**definitions.CWL_GAINS, **reference.UNIT, **reference.RAW}.get(name)


def settled(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with those of the preset, and the kind of residual."""
    full = {**PRESETS.get(options.get("like") or "", {}), **options}
    if ("residual_depth" in options or options.get("max_residual") is not None) and full.get("residuals") is None:
        full["residuals"] = "total"
    return full


def rows_of(content: bytes, width: int) -> list[list[bytes]]:
    lines = [line for line in content.split(b"\n") if line.split() and not line.startswith(b"#")]
    return [line.split() for line in lines if len(line.split()) == width]


def judgments(content: bytes, duplicates: str) -> dict[bytes, dict[bytes, float]]:
    """Return topic -> docno -> grade."""
    qrels: dict[bytes, dict[bytes, float]] = {}
    for topic, _, docno, token in rows_of(content, 4):
        grade, grades = float(token) + 0.0, qrels.setdefault(topic, {})
        if docno in grades:
            if duplicates == "refuse" or (grades[docno] != grade and duplicates not in ("first", "last")):
                raise Refused("duplicate judgment")
            if duplicates == "last":
                grades[docno] = grade
        else:
            grades[docno] = grade
    return qrels


@dataclass
class Listed:
    docno: bytes
    kind: bytes
    rank: float
    score: float
    line: int


def retrieved(content: bytes, duplicates: str) -> dict[bytes, list[Listed]]:
    """Return topic -> its documents in the order of the file."""
    run: dict[bytes, list[Listed]] = {}
    for line, (topic, kind, docno, rank, score, _) in enumerate(rows_of(content, 6)):
        entries = run.setdefault(topic, [])
        entry = Listed(docno, kind, float(rank), float(score), line)
        same = [index for index, entry in enumerate(entries) if entry.docno == docno]
        if not same:
            entries.append(entry)
            continue
        if duplicates not in ("first", "last"):
            raise Refused("duplicate document")
        if duplicates == "last":
            entries.pop(same[0])
            entries.append(entry)
    return run


def ordered(listed: list[Listed], grades: Mapping[bytes, float], options: Mapping[str, Any]) -> list[Listed]:
    """Return the documents of a topic from the best to the worst."""
    if options.get("order", "score") == "file":
        return listed
    ties = options.get("ties", "docno-desc")
    single_floats = options.get("order") == "float32"

    def score(entry: Listed) -> float:
        return single(entry.score) if single_floats else entry.score

    docs = list(listed)
    if ties == "docno-desc":
        docs.sort(key=lambda entry: entry.docno, reverse=True)
    elif ties == "docno-asc":
        docs.sort(key=lambda entry: entry.docno)
    elif ties == "rank":
        docs.sort(key=lambda entry: entry.rank)
    elif ties == "best":
        docs.sort(key=lambda entry: grades.get(entry.docno, -math.inf), reverse=True)
    elif ties == "worst":
        docs.sort(key=lambda entry: grades.get(entry.docno, -math.inf))
    docs.sort(key=score, reverse=True)
    return docs


def counted_topics(
    run: Mapping[bytes, Any], qrels: Mapping[bytes, Mapping[bytes, float]], options: Mapping[str, Any]
) -> list[bytes]:
    chosen = options.get("topics_from")
    selected = None if chosen is None else {topic.encode() for topic in chosen}
    judged = [topic for topic in qrels if selected is None or topic in selected]
    both = [topic for topic in judged if topic in run]
    if not both:
        raise Refused("no topic in common")
    rule = options.get("topics", "qrels")
    if rule == "qrels":
        return judged
    if rule == "run":
        return both + [topic for topic in run if topic not in qrels and (selected is None or topic in selected)]
    if rule == "relevant":
        both = [topic for topic in both if any(grade > 0 for grade in qrels[topic].values())]
        if not both:
            raise Refused("no topic has a relevant document")
    return both


def worth(measure: Asked, grade: float, scale: reference.Scale) -> float:
    parameters = dict(measure.parameters)
    if scale.top <= 0:
        return 0.0
    if not is_cwl(measure.name) or measure.name == "rbp":
        return reference.worth(measure.name, parameters, grade, scale)
    if "rel" in parameters:
        return float(grade >= parameters["rel"])
    return (
        0.0
        if grade < 0
        else reference.unit_scheme(parameters.get("gain", definitions.CWL_GAINS[measure.name]), grade, scale.top)
    )


def scale_of(
    measure: Asked, labels: tuple[float, ...], options: Mapping[str, Any], given_options: Mapping[str, Any]
) -> Any:
    """Return the scale of a measure; a preset's top grade counts only for measures that use one."""
    parameters = dict(measure.parameters)
    gain, top, explicit = parameters.get("gain"), options.get("top_grade"), "top_grade" in given_options
    unit = measure.name in reference.UNIT or is_cwl(measure.name)
    looks = measure.name in reference.SHARES or (unit and gain in (None, "linear", "exp", "ntcir"))
    if top is not None and labels[-1] > top and (explicit or (looks and "rel" not in parameters)):
        raise Refused("a grade above the top grade")
    if not explicit:
        top = None if isinstance(gain, tuple) else max(labels[-1], top or labels[-1])
    return reference.Scale(labels, labels[-1] if top is None else top, options.get("max_gain"))


FROM_BOUNDS = frozenset(
    {
        *("ap", "f1", "gap", "gm_ap", "grecall", "iprec", "iprec_avg", "ndcg", "nerr", "q", "recall", "relative_p"),
        *("set_f", "set_map", "set_recall", "set_relative_p"),
    }
)
"""Measures whose residual comes from bounds: this reference knows only that they are no wider."""


def check_gains(
    measure: Asked, scale: reference.Scale, options: Mapping[str, Any], given_options: Mapping[str, Any]
) -> None:
    """Raise Refused for gains that the measure cannot use; `given_options` are those of no preset."""
    parameters = dict(measure.parameters)
    if (
        scale.top <= 0
        or measure.name in reference.BLIND
        or is_binary(measure.name)
        or measure.name in ("rank1", "silence")
        or "rel" in parameters
    ):
        return
    gain = parameters.get("gain")
    # The top grade of a preset is not one that has to occur.
    needed = [label for label in scale.labels if label >= 0] + [scale.top] * ("top_grade" in given_options)
    if isinstance(gain, tuple) and any(label != int(label) or label >= len(gain) for label in needed):
        raise Refused("a grade without gain")
    unit = measure.name in reference.UNIT or is_cwl(measure.name)
    if unit:
        values = [worth(measure, label, scale) for label in scale.labels if label >= 0]
        if any(value > 1 for value in values):
            raise Refused("a gain above 1")
        highest = options.get("max_gain")
        if highest is None and (max(gain) if isinstance(gain, tuple) else worth(measure, scale.top, scale)) > 1:
            raise Refused("the top gain is above 1")
    if measure.name in reference.SHARES:
        if gain is not None:
            worths = [reference.scheme(gain, label) if label >= 0 else 0.0 for label in scale.labels]
            if worths != sorted(worths) or (isinstance(gain, tuple) and gain[0] > 0):
                raise Refused("gains that fall")
        elif "g" in parameters and len(parameters["g"]) != len(scale.thresholds):
            raise Refused("g of another length")


def evaluation(
    run_file: bytes, qrels_file: bytes, measures: Sequence[Asked], given_options: Mapping[str, Any]
) -> Evaluation:
    """Return all scores. Raises Refused if there are none."""
    options = settled(given_options)
    duplicates = options.get("duplicates", "error")
    residuals = options.get("residuals")
    if options.get("like") == "cwl_eval" and residuals is True:
        residuals = "difference"
    wants = residuals is not None or options.get("max_residual") is not None
    if options.get("judged_only") and wants:
        raise Refused("a condensed list has no residual")
    if residuals == "difference" and (
        options.get("max_residual") is not None or options.get("residual_depth") == "full"
    ):
        raise Refused("a difference is not a bound")
    qrels = judgments(qrels_file, duplicates)
    run = retrieved(run_file, duplicates)
    labels = tuple(sorted({grade for grades in qrels.values() for grade in grades.values()}))
    measures = list(dict.fromkeys(applied(measure, options) for measure in measures))
    scales = [scale_of(measure, labels, options, given_options) for measure in measures]
    for measure, scale in zip(measures, scales, strict=True):
        check_gains(measure, scale, options, given_options)
    topics = counted_topics(run, qrels, options)
    result = Evaluation([topic.decode("utf-8", "surrogateescape") for topic in topics])
    for topic, name in zip(topics, result.topics, strict=True):
        result.scores[name] = []
        for measure, scale in zip(measures, scales, strict=True):
            seen = seen_by(measure, run.get(topic, []), qrels.get(topic, {}), options, given_options)
            part = one(measure, *seen[:2], scale, options, residuals if wants else None, *seen[2:])
            rel = dict(measure.parameters).get("rel", 1 if is_binary(measure.name) else 0)
            if part and rel > scale.top:  # no document can be relevant
                part = (part[0], *(0.0 if value == value else value for value in part[1:]))
            result.scores[name].append(part)
    summarize(result, measures, options)
    return result


def seen_by(
    measure: Asked,
    listed: list[Listed],
    grades: Mapping[bytes, float],
    options: Mapping[str, Any],
    given_options: Mapping[str, Any],
) -> tuple[list[float | None], list[float], list[bool], list[float] | None]:
    """Return a topic for one measure: grades in order, those of the pool without documents outside the sample, and
    costs."""
    by_preset = options.get("like") == "ir_measures" and "order" not in given_options and measure.name in BY_PYTREC_EVAL
    as_double = (measure.name == "rr" and measure.cutoff is not None) or (
        measure.name == "ndcg"
        and dict(measure.parameters).get("gain") == "exp"
        and "rel" not in dict(measure.parameters)
    )
    order = {"order": "float32"} if by_preset and not as_double else {}
    docs = ordered(listed, grades, {**options, **order})
    judged = {d: g for d, g in grades.items() if g >= 0 or options.get("negative", "judged") == "judged"}
    depth = options.get("depth")
    if options.get("judged_only"):
        if options.get("like") == "trec_eval":
            docs = docs[:depth]
        docs = [entry for entry in docs if entry.docno in judged]
    docs = docs[:depth]
    ranking = [judged.get(entry.docno) for entry in docs]
    unsampled = [grades.get(entry.docno, 0) < 0 and entry.docno not in judged for entry in docs]
    costs = None if "costs" not in options else [options["costs"][entry.kind.decode()] for entry in docs]
    return ranking, list(judged.values()), unsampled, costs


def summarize(result: Evaluation, measures: Sequence[Asked], options: Mapping[str, Any]) -> None:
    for column, measure in enumerate(measures):
        scores = [result.scores[topic][column] for topic in result.topics]
        if any(part is None for part in scores):
            result.summaries.append(None)
            result.counted.append(None)
            continue
        limit = options.get("max_residual")
        values = [part[0] for part in scores if part and (limit is None or not part[2] > limit)]
        result.counted.append(len(values))
        unknown = measure.name in FROM_BOUNDS
        near = limit is not None and (unknown or any(part and abs(part[2] - limit) < 1e-9 for part in scores))
        if not values or near:
            result.summaries.append(None)
            result.counted[-1] = None if near else 0
        elif measure.name in COUNTS:
            result.summaries.append(math.fsum(values))
        elif measure.name in GEOMETRIC:
            result.summaries.append(math.exp(math.fsum(math.log(max(value, 1e-5)) for value in values) / len(values)))
        else:
            result.summaries.append(math.fsum(values) / len(values))


def one(
    measure: Asked,
    ranking: list[float | None],
    pool: list[float],
    scale: reference.Scale,
    options: Mapping[str, Any],
    residuals: Any,
    unsampled: list[bool],
    costs: list[float] | None,
) -> tuple[float, float, float] | None:
    """Return score, residual of the unjudged and whole residual; None without a reference."""
    if measure.name == "infap" and any(unsampled):
        return None
    if len(ranking) > 400 and measure.name in SQUARE:
        return None
    blank = (math.nan, math.nan)
    if is_cwl(measure.name):
        return with_residuals_cwl(measure, ranking, scale, options, residuals, costs)
    if measure.name not in reference.NAMES:
        return None
    if scale.top <= 0:
        return (zero_top(measure, ranking, pool), *blank)
    score = reference.score(measure, ranking, pool, scale)
    if residuals is None or residuals == "difference":
        return score, *blank
    best = measure
    if options.get("residual_depth") == "full" and cut_only_truncates(measure):
        best = Asked(measure.name, measure.parameters, None)
    cases = reference.best_cases(best, ranking, pool, scale)
    if cases is None:
        return score, *blank
    return score, max(cases[0] - score, 0.0), max(cases[1] - score, 0.0)


def zero_top(measure: Asked, ranking: list[float | None], pool: list[float]) -> float:
    """Return the score if no grade is above 0: gains are 0, and measures of judged documents are unchanged."""
    parameters = tuple((key, value) for key, value in measure.parameters if key not in ("gain", "g", "rel"))
    zeros = [None if grade is None else 0.0 for grade in ranking]
    return reference.score(
        Asked(measure.name, parameters, measure.cutoff), zeros, [0.0 for _ in pool], reference.Scale((0, 1), 1)
    )


def cut_only_truncates(measure: Asked) -> bool:
    return measure.name not in RENORMALIZED and dict(measure.parameters).get("norm", "none") == "none"


def with_residuals_cwl(
    measure: Asked,
    ranking: list[float | None],
    scale: reference.Scale,
    options: Mapping[str, Any],
    residuals: Any,
    costs: list[float] | None,
) -> tuple[float, float, float] | None:
    parameters = {key: value for key, value in measure.parameters if key not in ("gain", "rel")}
    gains = [None if grade is None else worth(measure, grade, scale) for grade in ranking]
    k = measure.cutoff

    def walked(unjudged: float, tail: float, cutoff: int | None = k) -> float | None:
        filled = [unjudged if gain is None else gain for gain in gains]
        last = cutoff if measure.name in definitions.REQUIRED else None
        filled = filled[:last]
        with definitions.in_doubles():
            quantities = definitions.cwl(measure.name, parameters, cutoff, filled, tail, costs and costs[:last])
        return None if quantities is None else float(quantities)

    score = walked(0.0, 0.0)
    if score is None:
        return None
    top = top_of(measure, scale, options)
    if residuals is None or scale.top <= 0 or top <= 0:
        return score, math.nan, math.nan
    if residuals == "difference":
        best = walked(top, top)
        return None if best is None else (score, best - score, best - score)
    if measure.name not in definitions.BOUNDED or parameters.get("of", "eu") != "eu":
        return score, math.nan, math.nan
    cutoff = k
    if options.get("residual_depth") == "full" and measure.name not in definitions.REQUIRED:
        cutoff = None
    inside, both = walked(top, 0.0, cutoff), walked(top, top, cutoff)
    if inside is None or both is None:
        return None
    return score, max(min(inside, 1.0) - score, 0.0), max(min(both, 1.0) - score, 0.0)


def top_of(measure: Asked, scale: reference.Scale, options: Mapping[str, Any]) -> float:
    parameters = dict(measure.parameters)
    if "rel" in parameters:
        return 1.0
    if options.get("max_gain") is not None:
        return float(options["max_gain"])
    if isinstance(parameters.get("gain"), tuple):
        return float(max(parameters["gain"]))
    return worth(measure, scale.top, scale)
