"""Measure names of other tools (trec_eval, ir_measures, ranx and cwl_eval) -> gradedeval's notation."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from gradedeval.errors import Guess, InputError, Note, flag, synonyms
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.notation import IA, Spelling, Value, read_cutoff, read_notation, read_value


def _dcg(word: str, name: str, parameters: dict[str, Value]) -> str | None:
    form = parameters.pop("dcg")
    if form not in ("log2", "exp-log2"):
        raise InputError(f"'{word}'", f"dcg={form} is not log2 or exp-log2", "leave it out for log2", usage=True)
    parameters.update({"gain": "exp"} if form == "exp-log2" else {})
    return None


def _gains(word: str, name: str, parameters: dict[str, Value]) -> str | None:
    pairs = re.fullmatch(r"\{\s*([\d.:,\s]*?)\s*\}", str(parameters.pop("gains")))
    if not pairs:
        raise InputError(f"'{word}'", "gains are grade:gain in braces", "as in gains={1:1,2:3}", usage=True)
    if pairs[1]:
        parameters["gain"] = re.sub(r"\s+", "", pairs[1]).replace(":", "=")
    return None


def _scale(word: str, name: str, parameters: dict[str, Value]) -> str | None:
    """Replace `min_rel` and `max_rel`, the grades with gains 0 and 1, by a list of gains."""
    if not {"min_rel", "max_rel"} & parameters.keys():  # both were handled together
        return None
    low, high = parameters.pop("min_rel", 0), parameters.pop("max_rel", None)
    if not (isinstance(low, int) and isinstance(high, int) and 0 <= low < high <= 100):
        problem = "min_rel and max_rel are the grades with gains 0 and 1"
        raise InputError(f"'{word}'", problem, "as in max_rel=3", usage=True)
    parameters["gain"] = tuple(max(grade - low, 0) / (high - low) for grade in range(high + 1))
    if name in ("inst", "insq", "nerr10", "nerr11"):
        parameters["horizon"] = 1000
    if name == "nerr10" and not {"p", "phi"} & parameters.keys():
        parameters["phi"] = 0.9
    return None


def _normalize(word: str, name: str, parameters: dict[str, Value]) -> str | None:
    if parameters.pop("normalize") != "True":
        problem = "compatibility is always normalized here, by the overlap of the ideal ranking with itself"
        raise InputError(f"'{word}'", problem, "leave out normalize", usage=True)
    return None


def _renamed(measure: str, old: str, new: str) -> Callable[[str, str, dict[str, Value]], str | None]:
    def rename(word: str, name: str, parameters: dict[str, Value]) -> str | None:
        if name == measure:
            parameters[new] = parameters.pop(old)
        return None

    return rename


PARAMETERS: dict[str, Callable[[str, str, dict[str, Value]], str | None]] = {
    "dcg": _dcg,
    "gains": _gains,
    "min_rel": _scale,
    "max_rel": _scale,
    "relative": lambda word, name, parameters: (
        "set_relative_p" if parameters.pop("relative") == "True" and name == "set_p" else None
    ),
    "normalize": _normalize,
    "rel": lambda word, name, parameters: "num_rel_ret" if name == "num_ret" else None,
    "beta": _renamed("set_f", "beta", "x"),
    "p": _renamed("nerr10", "p", "phi"),
}
"""Parameter of ir_measures -> a function of the word, the measure here and its parameters, which renames parameters in
place and returns the measure if it changes. It raises InputError (usage) for values that cannot be expressed here."""


ALIASES: dict[str, str] = {
    # trec_eval
    "map": "ap",
    "gm_map": "gm_ap",
    "11pt_avg": "iprec_avg",
    "recip_rank": "rr",
    "unj": "unjudged",
    "map_cut": "ap",
    "ndcg_cut": "ndcg",
    "iprec_at_recall": "iprec",
    # ir_measures
    "mrr": "rr",
    "r": "recall",
    "precision": "p",
    "setp": "set_p",
    "setrelp": "set_relative_p",
    "setr": "set_recall",
    "setf": "set_f",
    "setap": "set_map",
    "numq": "num_q",
    "numret": "num_ret",
    "numrel": "num_rel",
    "numrelret": "num_rel_ret",
    "strecall": "strec",
    "err_ia": "erria(rel=1,stop=0.5,norm=best)",
    "nerr_ia": "nerria(rel=1,stop=0.5)",
    "ap_ia": "ia(ap)",
    "map_ia": "ia(ap)",
    "p_ia": "ia(p)",
    "α_dcg": "alpha_dcg(norm=best)",
    "α_ndcg": "alpha_ndcg",
    # ndeval
    "err-ia": "erria(rel=1,stop=0.5,norm=best)",
    "nerr-ia": "nerria(rel=1,stop=0.5)",
    "map-ia": "ia(ap)",
    "p-ia": "ia(p)",
    "alpha-dcg": "alpha_dcg(norm=best)",
    "alpha-ndcg": "alpha_ndcg",
    # ranx
    "hit_rate": "success",
    "hit": "success",
    "r-precision": "rprec",
    "dcg_burges": "dcg(gain=exp)",
    "ndcg_burges": "ndcg(gain=exp)",
    # others
    "compatibility": "compat",
    "msndcg": "ndcg",
}
"""Another tool's name of a measure, in lower case -> the measure, with the parameters that the tool gives it."""


class Difference(NamedTuple):
    """A reason for different numbers of another tool under a name of gradedeval's, with a cure; `counts` tells from the
    lowest grade (0 if lower grades count as unjudged) and the top grade whether it can matter."""

    reason: str
    counts: Callable[[float, float], bool] = lambda lowest, top: True


DIFFERENT: dict[str, Difference] = {
    "ERR": Difference(
        f"in ir_measures and gdeval the top grade is always 4; {flag.top_grade:4}", lambda _, top: top != 4
    ),
    **dict.fromkeys(
        ("Bpref", "BPref"),
        Difference(
            f"in ir_measures grades below 0 count as unjudged; {flag.negative:unjudged}", lambda lowest, _: lowest < 0
        ),
    ),
    "infAP": Difference(
        f"in ir_measures grades below 0 are not sampled; {flag.negative:unjudged}", lambda lowest, _: lowest < 0
    ),
    "alpha_DCG": Difference("ir_measures divides by the best possible; write alpha_dcg(norm=best)"),
    "Compat": Difference("ir_measures stops at the end of the run, which matters for short ones"),
    "Accuracy": Difference(
        "ir_measures leaves out topics in which nothing relevant is retrieved; here they score 0; in BEIR and "
        "sentence-transformers it is success"
    ),
    "accuracy": Difference(
        "as in ir_measures, pairs in the right order; MTEB's without a rank is recall@1; accuracy at a rank of "
        "sentence-transformers, BEIR and MTEB is success, as in -m success@3"
    ),
    "rbp.": Difference("ranx adds up grades, against its documentation; here documents are relevant or not"),
}
"""Measures of other tools with a different meaning here."""

_DEPTHS = "5,10,15,20,30,100,200,500,1000"
MOST_LEVELS = 100
_TENTHS = ",".join(f"{tenth / 10:.2f}" for tenth in range(11))
# trec_eval's measures with values after a dot or an underscore -> notation of a value here.
_VALUES = {
    **{name: f"{name}@{{}}" for name in ("p", "recall", "success", "relative_p")},
    "ndcg_cut": "ndcg@{}",
    "map_cut": "ap@{}",
    "unj": "unjudged@{}",
    "iprec_at_recall": "iprec(recall={})",
    "rprec_mult": "rprec_mult(times={})",
    "set_f": "set_f(x={})",
}
# Values that it prints for names without values, if the names are not gradedeval's.
_BARE = {
    **dict.fromkeys(("P", "ndcg_cut", "map_cut", "relative_P"), _DEPTHS),
    "iprec_at_recall": _TENTHS,
    "unj": "5,10,20",
}

# The names of sentence-transformers' evaluator: relevance is binary there, and map@k is divided by at most k.
_OF_EVALUATOR = {
    "accuracy": "success",
    "precision": "p",
    "recall": "recall",
    "mrr": "rr",
    "map": "ap(norm=k)",
    "ndcg": "ndcg(rel=1)",
}

# Patterns of other notations -> notation here, with the groups of the pattern.
_PATTERNS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"11pt_avg[._]([\d.]+(?:,[\d.]+)+)", lambda found: f"iprec_avg(recall={found[1].replace(',', ':')})"),
    (r"utility[._](-?[\d.]+),(-?[\d.]+),(-?[\d.]+),(-?[\d.]+)", r"utility(a=\1,b=\2,c=\3,d=\4)"),
    (r"(g|ndcg|ndcg_rel|rndcg)[._](\d+=[\d.]+(?:,\d+=[\d.]+)*)", r'\1(gain="\2")'),
    (r"rbp[._](?:p=)?(0?\.\d+|0)", r"rbp_topic(p=\1)"),
    (r"rbp_resid[._](?:p=)?(0?\.\d+|0)", r"rbp_resid(p=\1)"),
    # ir_measures: the level of recall instead of a cutoff; it rounds as version 9 of trec_eval
    (r"iprec@(\d*\.\d+)", r"iprec(recall=\1,add=0.9)"),
    (r"iprec\((.*)\)@(\d*\.\d+)", r"iprec(recall=\2,add=0.9,\1)"),
    # MTEB and BEIR
    (r"(?:accuracy|cv_recall)_at_(\d+)|top_(\d+)_accuracy", r"success@\1\2"),
    (r"r_cap(?:@|_at_)(\d+)", r"recall(norm=k)@\1"),
    (r"(\w+)_at_(\d+)", r"\1@\2"),
    # sentence-transformers, with the similarity before the name, and before it the name of the evaluator
    (
        r"(?:[\w-]+_)?(?:cosine|cos_sim|dot|dot_score|euclidean|manhattan|maxsim|max)[_-](accuracy|precision|recall|mrr|map|ndcg)@(\d+)",
        lambda found: f"{_OF_EVALUATOR[found[1].lower()]}@{found[2]}",
    ),
    # ranx
    (r"rbp\.(\d+)", r"rbp(p=0.\1,rel=1)"),
    # cwl_eval, as printed
    (r"rbp@(\d*\.\d+)", r"rbp(p=\1)"),
    (r"(?:ndcg|sdcg)-k@(\d+)", r"sdcg@\1"),
    (r"(inst|insq)-t=([\d.]+)", r"\1(T=\2)"),
    (r"tbg-h@([\d.]+)", r"tbg(h=\1)"),
    (r"u-l@([\d.]+)", r"u(L=\1)"),
    (r"npv-r@([\d.]+)", r"npv(rate=\1)"),
    (r"bpm-static-t=([\d.]+)-k=([\d.]+)", r"bpm(T=\1,K=\2)"),
    (r"bpm-dynamic-t=([\d.]+)-k=([\d.]+)-hb=([\d.]+)-hc=([\d.]+)", r"bpmd(T=\1,K=\2,hb=\3,hc=\4)"),
    (r"ift-c1-t=([\d.]+)-b1=([\d.]+)-r1=([\d.]+)", r"ift(T=\1,b1=\2,R1=\3)"),
    (r"ift-c2-a=([\d.]+)-b2=([\d.]+)-r2=([\d.]+)", r"ift(A=\1,b2=\2,R2=\3)"),
    (
        r"ift-c1-c2-t=([\d.]+)-b1=([\d.]+)-r1=([\d.]+)-a=([\d.]+)-b2=([\d.]+)-r2=([\d.]+)",
        r"ift(T=\1,b1=\2,R1=\3,A=\4,b2=\5,R2=\6)",
    ),
    (r"nerr-eq([89])@k=(\d+)", r"nerr\1@\2"),
    (r"nerr-eq10@phi=([\d.]+)", r"nerr10(phi=\1)"),
    (r"nerr-eq11@t=([\d.]+)", r"nerr11(T=\1)"),
    # cwl_eval, as in its file of metrics
    (r"(\w+)cwlmetric\(([\d., ]*)\)", lambda found: _of_class(found[1], found[2])),
]
_LISTED = re.compile(rf"({'|'.join(_VALUES)})[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)", re.IGNORECASE)
_LEVEL = re.compile(r"(?P<before>(?:(?!-l[0-9]).)+)-l(?P<level>[0-9]+)(?P<cutoff>@[0-9]+)?", re.IGNORECASE)

# Notations of cwl_eval alone; its names P, AP and RR are trec_eval's too.
_OF_CWL_EVAL = re.compile(
    r"rbp@[\d.]+|[ns]dcg-k@.*|ins[tq]-t=.*|tbg-h@.*|u-l@.*|npv-r@.*|bpm-(?:static|dynamic)-.*|ift-c[12]-.*"
    r"|nerr-eq\d+@.*|\w+cwlmetric\(.*",
    re.IGNORECASE,
)

# cwl_eval's classes -> the measure here, its parameters in order (k: the cutoff), and their default values.
_CLASSES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "precision": ("cwlp", ("k",), ("10",)),
    "rbp": ("rbp", ("p",), ("0.9",)),
    "rr": ("cwlrr", (), ()),
    "ap": ("cwlap", (), ()),
    "ndcg": ("sdcg", ("k",), ()),
    "inst": ("inst", ("T",), ("1",)),
    "insq": ("insq", ("T",), ("1",)),
    "tbg": ("tbg", ("h",), ("224",)),
    "umeasure": ("u", ("L",), ("1000",)),
    "npv": ("npv", ("rate",), ("0.1",)),
    "set": ("set", ("beta", "k"), ("0.5", "10")),
    "bpm": ("bpm", ("T", "K"), ("1", "10")),
    "bpmd": ("bpmd", ("T", "K", "hb", "hc", "mid"), ("1", "10", "1", "1", "0.5")),
    "iftgoal": ("ift", ("T", "b1", "R1"), ()),
    "iftrate": ("ift", ("A", "b2", "R2"), ()),
    "iftgoalrate": ("ift", ("T", "b1", "R1", "A", "b2", "R2"), ()),
    "nerreq8": ("nerr8", ("k",), ()),
    "nerreq9": ("nerr9", ("k",), ()),
    "nerreq10": ("nerr10", ("phi",), ("0.9",)),
    "nerreq11": ("nerr11", ("T",), ("1",)),
}


def read_spellings(word: str, names: Container[str]) -> list[tuple[str, Spelling]]:
    """Return the label and gradedeval's spelling of each measure in a word; more than one for `P.5,10`. `names` of
    measures here keep their meaning. Raises InputError (usage) for anything else."""
    if word.lower() in names and word not in _BARE:
        return [(word, spelling) for spelling in read_notation(word)]
    list_match = _LISTED.fullmatch(word)
    name, values = (list_match[1], list_match[2]) if list_match else (word, _BARE.get(word, ""))
    form = _VALUES.get(name.lower(), "")
    if values and not ("@" in form and "." in values):
        each = values.split(",")
        return [(f"{name}_{value}" if len(each) > 1 else word, _with_value(word, form, value)) for value in each]
    if level_match := _LEVEL.fullmatch(word):
        (_, spelling), *_ = read_spellings(level_match["before"] + (level_match["cutoff"] or ""), names)
        return [(word, _from_level(word, spelling, read_value(level_match["level"])))]
    plain = word.partition("@")[0].lower() in ALIASES  # most words: they need not try the patterns
    for pattern, replacement in () if plain else _PATTERNS:
        if match := re.fullmatch(pattern, word, re.IGNORECASE):
            text = replacement(match) if callable(replacement) else match.expand(replacement)
            return [(word, _as_here(word, spelling, names)) for spelling in read_notation(text)]
    spellings = read_notation(word, lambda inner: [spelling for _, spelling in read_spellings(inner, names)])
    return [(word if len(spellings) == 1 else str(spelling), _as_here(word, spelling, names)) for spelling in spellings]


def _with_value(word: str, form: str, value: str) -> Spelling:
    """Return a measure that trec_eval writes with a value after the name."""
    if form.endswith("@{}"):
        return Spelling(form.removesuffix("@{}"), (), read_cutoff(word, value))
    return read_notation(form.format(value))[0]


def _of_class(name: str, values: str) -> str:
    """Return the notation of a cwl_eval metric from its class and values: `RBPCWLMetric(0.9)`."""
    if name.lower() not in _CLASSES:
        return f"{name}CWLMetric"  # which is not a measure here
    measure, parameters, defaults = _CLASSES[name.lower()]
    passed = [value.strip() for value in values.split(",") if value.strip()]
    if len(passed) > len(parameters):
        problem = f"more values than {name}CWLMetric takes: {', '.join(parameters) or 'none'}"
        raise InputError(f"'{name}CWLMetric({values})'", problem, f"leave out {passed[-1]}", usage=True)
    pairs = dict(zip(parameters, [*passed, *defaults[len(passed) :]], strict=False))
    cutoff = pairs.pop("k", None)
    inside = ",".join(f"{key}={value}" for key, value in pairs.items())
    return measure + (f"({inside})" if inside else "") + (f"@{cutoff}" if cutoff else "")


def _from_level(word: str, spelling: Spelling, level: Any) -> Spelling:
    """Return the measure of ranx's `-l2`: documents below this grade are not relevant."""
    settings = dict(spelling.parameters)
    if spelling.name not in ("dcg", "ndcg"):
        return replace(spelling, parameters=tuple({**settings, "rel": level}.items()))
    if "gain" in settings:
        hint = "list the gains, as in ndcg(gain=0:0:3:7)@10"
        raise InputError(f"'{word}'", "exponential gains above a grade have no name here", hint, usage=True)
    if level > MOST_LEVELS:
        problem = f"a level above {MOST_LEVELS} has too many gains below it"
        raise InputError(f"'{word}'", problem, "list the gains in a file: gain=@gains.csv", usage=True)
    pairs = ",".join(f"{grade}=0" for grade in range(1, level))
    return replace(spelling, parameters=(("gain", pairs),) if pairs else ())


def _as_here(word: str, spelling: Spelling, names: Container[str]) -> Spelling:
    """Return a measure with its name and parameters here."""
    if spelling.inner is not None:
        return spelling
    settings, cutoff = dict(spelling.parameters), spelling.cutoff
    if isinstance(settings.get("cutoff"), int) and cutoff is None:
        cutoff = int(str(settings.pop("cutoff")))
    name = spelling.name if spelling.name in names else ALIASES.get(spelling.name, spelling.name)
    twice = [key for key in ("dcg", "gains", "max_rel", "gain") if settings.get(key, "log2") != "log2"]
    if len(twice) > 1:
        raise InputError(f"'{word}'", f"{' and '.join(twice)} both set the gains", "give one of them", usage=True)
    for key in [key for key in PARAMETERS if key in settings]:
        name = PARAMETERS[key](word, name, settings) or name
    if name == "p" and spelling.name == "precision" and cutoff is None:
        name = "set_p"  # as in ranx
    if name == "bpm" and cutoff is not None and "max_rel" in dict(spelling.parameters):
        settings, cutoff = {"K": cutoff, **settings}, None  # which ir_measures writes as a cutoff
    (target,) = read_notation(name)
    if target.inner is not None:
        return replace(target, inner=replace(target.inner, parameters=tuple(settings.items()), cutoff=cutoff))
    return replace(target, parameters=tuple((dict(target.parameters) | settings).items()), cutoff=cutoff)


def note_of_cwl_eval(measures: Iterable[Measure], highest: float) -> str | None:
    """Return a note on measures written as in cwl_eval whose gains differ from there, or None. cwl_eval has no gains
    above 1, which grades up to `highest` may have."""
    labels = [
        measure.label
        for measure in measures
        if measure.gain != "grade" and measure.rel is None and _OF_CWL_EVAL.fullmatch(measure.label)
    ]
    if not labels:
        return None
    reason = "in cwl_eval gains are the grades, and 1000 ranks count, in the order of the file"
    divided = "" if highest <= 1 else f" with {flag.gain:linear}, as grades above 1 are no gains there"
    return Note(f"{', '.join(labels)}: {reason}", f"{flag.like:cwl_eval}{divided}")


def note_of(label: str, lowest: float, top: float) -> str | None:
    """Return a note on a measure whose number differs in another tool that writes it this way, or None. `lowest` is 0
    if lower grades count as unjudged."""
    name = re.split(r"(?<=rbp\.)\d|[(@:]", label, maxsplit=1)[0]
    difference = DIFFERENT.get("Bpref" if "judged_only=True" in label else name)
    return Note(f"{label}: {difference.reason}") if difference and difference.counts(lowest, top) else None


def notation_of(alias: str) -> str:
    """Return the measure of another tool's name, without parameters: `erria` for ERR_IA."""
    (spelling,) = read_notation(ALIASES[alias])
    return (spelling.inner or spelling).name


def hint_of(spelling: Spelling, table: Mapping[str, Measure]) -> str:
    """Return a hint for an unknown name: its synonym, also with a cutoff, or the nearest name."""
    name, known_synonyms = spelling.name, synonyms()["measures"]
    bare = re.sub("_at(_[kn])?$", "", name)  # as in precision_at_k
    name = bare if bare in (*table, *ALIASES) else name
    if name.isdigit():
        return f"write a cutoff with the measure, as in ndcg@{name}"
    if name[-3:] in ("-ia", "_ia") and name[:-3] in (*table, *ALIASES):
        return f"the mean of {name[:-3]} over intents is {IA}({name[:-3]})"
    stem = name.rstrip("0123456789")
    digits, stem = (name[len(stem) :], stem.rstrip("_-")) if name not in known_synonyms else ("", name)
    ours, _ = known_synonyms.get(stem, (stem, ""))
    synonym, _, sentence = ours.partition(" := ")
    if " " in synonym:
        return synonym
    cutoff = int(digits[:9]) if digits else spelling.cutoff
    with suppress(InputError):  # names that are no notation
        (target,) = read_notation(synonym)
        parameters = (*target.parameters, *spelling.parameters)
        suggestion = replace(target, parameters=parameters, cutoff=cutoff or target.cutoff)
        measure = table.get(notation_of(suggestion.name) if suggestion.name in ALIASES else suggestion.name)
        needs = measure is not None and measure.definition.cutoff == "required" and suggestion.cutoff is None
        suggestion = replace(suggestion, cutoff=10) if needs else suggestion
        if measure is not None and (suggestion.cutoff is None or measure.definition.cutoff != "none") and cutoff != 0:
            return Guess(str(spelling), str(suggestion), text=sentence.format(suggestion))
    return _nearest(name, [*table, *ALIASES]) or "`gradedeval measures` lists them"


def _nearest(name: str, names: Iterable[str]) -> str:
    """Return the hint for a misspelt measure. Names are short: three letters match only names of three."""
    if len(name) < 4:
        names = [candidate for candidate in names if len(candidate) == len(name) == 3]
    distances = {candidate: _edits(name, candidate) for candidate in names if abs(len(candidate) - len(name)) < 3}
    nearest = min(distances, key=lambda candidate: (distances[candidate], candidate[:1] != name[:1]), default="")
    return Guess(name, nearest) if nearest and distances[nearest] <= (1 if len(name) < 6 else 2) else ""


def _edits(word: str, target: str) -> int:
    """Return the number of letters to delete, insert, change, or swap with the next to turn `word` into `target`."""
    previous, row = [], list(range(len(target) + 1))
    for i, letter in enumerate(word, 1):
        previous, above, row = row, previous, [i]
        for j, target_letter in enumerate(target, 1):
            row.append(min(row[-1] + 1, previous[j] + 1, previous[j - 1] + (letter != target_letter)))
            if i > 1 and j > 1 and word[i - 2] == target_letter and letter == target[j - 2]:
                row[j] = min(row[j], above[j - 2] + 1)
    return row[-1]
