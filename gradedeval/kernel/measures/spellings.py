"""Other tools' spellings: what trec_eval, ir_measures, ranx and cwl_eval call a measure -> how gradedeval writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from gradedeval.errors import Guess, InputError, Note, flag, synonyms
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.notation import IA, Spelling, Value, read_cutoff, read_notation, read_value

# Parameters of measures as ir_measures calls them -> as gradedeval does.


def check_gains(word: str, given: Mapping[str, Value]) -> None:
    """Raise InputError (usage) where a measure is given its gains twice."""
    saying = [key for key in ("dcg", "gains", "max_rel", "gain") if key in given and given[key] != "log2"]
    if len(saying) > 1:
        raise InputError(f"'{word}'", f"{' and '.join(saying)} both say the gains", "give one of them", usage=True)


def _dcg(word: str, name: str, given: dict[str, Value]) -> str | None:
    form = given.pop("dcg")
    if form not in ("log2", "exp-log2"):
        raise InputError(f"'{word}'", f"dcg={form} is not log2 or exp-log2", "leave it out for log2", usage=True)
    given.update({"gain": "exp"} if form == "exp-log2" else {})
    return None


def _gains(word: str, name: str, given: dict[str, Value]) -> str | None:
    pairs = re.fullmatch(r"\{\s*([\d.:,\s]*?)\s*\}", str(given.pop("gains")))
    if not pairs:
        raise InputError(f"'{word}'", "gains are grade:gain in braces", "as in gains={1:1,2:3}", usage=True)
    if pairs[1]:
        given["gain"] = re.sub(r"\s+", "", pairs[1]).replace(":", "=")
    return None


def _scale(word: str, name: str, given: dict[str, Value]) -> str | None:
    """`min_rel` and `max_rel`: the grades whose gains are 0 and 1."""
    if not {"min_rel", "max_rel"} & given.keys():  # done with the other of the two
        return None
    low, high = given.pop("min_rel", 0), given.pop("max_rel", None)
    if not (isinstance(low, int) and isinstance(high, int) and 0 <= low < high <= 100):
        what = "min_rel and max_rel are the grades whose gains are 0 and 1"
        raise InputError(f"'{word}'", what, "as in max_rel=3", usage=True)
    given["gain"] = tuple(max(grade - low, 0) / (high - low) for grade in range(high + 1))
    if name in ("inst", "insq", "nerr10", "nerr11"):
        given["horizon"] = 1000
    if name == "nerr10" and not {"p", "phi"} & given.keys():
        given["phi"] = 0.9
    return None


def _relative(word: str, name: str, given: dict[str, Value]) -> str | None:
    return "set_relative_p" if given.pop("relative") == "True" and name == "set_p" else None


def _normalize(word: str, name: str, given: dict[str, Value]) -> str | None:
    if given.pop("normalize") != "True":
        what = "compatibility is always normalized here, by that of the ideal ranking with itself"
        raise InputError(f"'{word}'", what, "leave out normalize", usage=True)
    return None


def _rel(word: str, name: str, given: dict[str, Value]) -> str | None:
    return "num_rel_ret" if name == "num_ret" else None


def _renamed(measure: str, old: str, new: str) -> Callable[[str, str, dict[str, Value]], str | None]:
    def rename(word: str, name: str, given: dict[str, Value]) -> str | None:
        if name == measure:
            given[new] = given.pop(old)
        return None

    return rename


PARAMETERS: dict[str, Callable[[str, str, dict[str, Value]], str | None]] = {
    "dcg": _dcg,
    "gains": _gains,
    "min_rel": _scale,
    "max_rel": _scale,
    "relative": _relative,
    "normalize": _normalize,
    "rel": _rel,
    "beta": _renamed("set_f", "beta", "x"),
    "p": _renamed("nerr10", "p", "phi"),
}
"""What ir_measures calls a parameter -> a function of the word, the measure here and its parameters, which gives these
the names that they have here. It returns the measure where that is another one.

Each raises InputError (usage) where the parameter says what cannot be said here.
"""


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
    """Why another tool has another number under a name of gradedeval's.

    what    in words, and what to do about it
    counts  whether it can matter, by the lowest grade (0 where those below count as unjudged) and the top grade
    """

    what: str
    counts: Callable[[float, float], bool] = lambda lowest, top: True


DIFFERENT: dict[str, Difference] = {
    "ERR": Difference(
        f"in ir_measures and gdeval the top grade is always 4; {flag.top_grade:4}", lambda _, top: top != 4
    ),
    "Bpref": Difference(
        f"in ir_measures grades below 0 count as unjudged; {flag.negative:unjudged}", lambda lowest, _: lowest < 0
    ),
    "BPref": Difference(
        f"in ir_measures grades below 0 count as unjudged; {flag.negative:unjudged}", lambda lowest, _: lowest < 0
    ),
    "infAP": Difference(
        f"in ir_measures grades below 0 are not sampled; {flag.negative:unjudged}", lambda lowest, _: lowest < 0
    ),
    "alpha_DCG": Difference("ir_measures divides by the best possible; write alpha_dcg(norm=best)"),
    "Compat": Difference("ir_measures stops at the end of the run, which matters for short ones"),
    "Accuracy": Difference("ir_measures leaves out topics in which nothing relevant is retrieved; here they score 0"),
    "rbp.": Difference("ranx adds up grades, against its documentation; here documents are relevant or not"),
}
"""A measure as another tool writes it, where that says something else here."""

_DEPTHS = "5,10,15,20,30,100,200,500,1000"
MOST_LEVELS = 100
_TENTHS = ",".join(f"{tenth / 10:.2f}" for tenth in range(11))
# trec_eval's measures with values behind a dot or an underscore -> how one value is written here.
_VALUES = {
    **{name: f"{name}@{{}}" for name in ("p", "recall", "success", "relative_p")},
    "ndcg_cut": "ndcg@{}",
    "map_cut": "ap@{}",
    "unj": "unjudged@{}",
    "iprec_at_recall": "iprec(recall={})",
    "rprec_mult": "rprec_mult(times={})",
    "set_f": "set_f(x={})",
}
# What it prints for those without values, where the name is none of ours.
_BARE = {
    **dict.fromkeys(("P", "ndcg_cut", "map_cut", "relative_P"), _DEPTHS),
    "iprec_at_recall": _TENTHS,
    "unj": "5,10,20",
}

# What is written in a way of its own -> how it is written here, by the groups of the pattern.
_PATTERNS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"11pt_avg[._]([\d.]+(?:,[\d.]+)+)", lambda found: f"iprec_avg(recall={found[1].replace(',', ':')})"),
    (r"utility[._](-?[\d.]+),(-?[\d.]+),(-?[\d.]+),(-?[\d.]+)", r"utility(a=\1,b=\2,c=\3,d=\4)"),
    (r"(g|ndcg|ndcg_rel|rndcg)[._](\d+=[\d.]+(?:,\d+=[\d.]+)*)", r'\1(gain="\2")'),
    (r"rbp[._](?:p=)?(0?\.\d+|0)", r"rbp_topic(p=\1)"),
    (r"rbp_resid[._](?:p=)?(0?\.\d+|0)", r"rbp_resid(p=\1)"),
    # ir_measures: the level of recall where others have a cutoff; it rounds as version 9 of trec_eval
    (r"iprec@(\d*\.\d+)", r"iprec(recall=\1,add=0.9)"),
    (r"iprec\((.*)\)@(\d*\.\d+)", r"iprec(recall=\2,add=0.9,\1)"),
    # MTEB and BEIR
    (r"(\w+)_at_(\d+)", r"\1@\2"),
    # ranx
    (r"rbp\.(\d+)", r"rbp(p=0.\1,rel=1)"),
    # cwl_eval, as it prints them
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
    # cwl_eval, as its file of metrics has them
    (r"(\w+)cwlmetric\(([\d., ]*)\)", lambda found: _of_class(found[1], found[2])),
]
_LISTED = re.compile(rf"({'|'.join(_VALUES)})[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)", re.IGNORECASE)
_LEVEL = re.compile(r"(?P<before>(?:(?!-l[0-9]).)+)-l(?P<level>[0-9]+)(?P<cutoff>@[0-9]+)?", re.IGNORECASE)

# What only cwl_eval writes; of its names P, AP and RR are trec_eval's too.
_OF_CWL_EVAL = re.compile(
    r"rbp@[\d.]+|[ns]dcg-k@.*|ins[tq]-t=.*|tbg-h@.*|u-l@.*|npv-r@.*|bpm-(?:static|dynamic)-.*|ift-c[12]-.*"
    r"|nerr-eq\d+@.*|\w+cwlmetric\(.*",
    re.IGNORECASE,
)

# cwl_eval's classes -> the measure here, its parameters in order (k: the cutoff), and the values that they default to.
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


def read_spellings(word: str, known: Container[str]) -> list[tuple[str, Spelling]]:
    """What a word names: each measure as it is called, and as gradedeval writes it; several for `P.5,10`.

    known  the names of measures here, which mean what they mean here

    Raises InputError (usage) where the word is not a notation, or what it says cannot be said here.
    """
    if word.lower() in known and word not in _BARE:
        return [(word, spelling) for spelling in read_notation(word)]
    listed = _LISTED.fullmatch(word)
    name, values = (listed[1], listed[2]) if listed else (word, _BARE.get(word, ""))
    form = _VALUES.get(name.lower(), "")
    if values and not ("@" in form and "." in values):
        each = values.split(",")
        return [(f"{name}_{value}" if len(each) > 1 else word, _with_value(word, form, value)) for value in each]
    if level := _LEVEL.fullmatch(word):
        (_, spelling), *_ = read_spellings(level["before"] + (level["cutoff"] or ""), known)
        return [(word, _from_level(word, spelling, read_value(level["level"])))]
    plain = word.partition("@")[0].lower() in ALIASES  # most words are: they need not wait for the patterns
    for pattern, written in () if plain else _PATTERNS:
        if found := re.fullmatch(pattern, word, re.IGNORECASE):
            text = written(found) if callable(written) else found.expand(written)
            return [(word, _as_here(word, spelling, known)) for spelling in read_notation(text)]
    spellings = read_notation(word, lambda inner: [spelling for _, spelling in read_spellings(inner, known)])
    return [(word if len(spellings) == 1 else str(spelling), _as_here(word, spelling, known)) for spelling in spellings]


def _with_value(word: str, form: str, value: str) -> Spelling:
    """One of the measures that trec_eval writes with values behind the name."""
    if form.endswith("@{}"):
        return Spelling(form.removesuffix("@{}"), (), read_cutoff(word, value))
    return read_notation(form.format(value))[0]


def _of_class(name: str, values: str) -> str:
    """A metric of cwl_eval as its class and values: `RBPCWLMetric(0.9)`."""
    if name.lower() not in _CLASSES:
        return f"{name}CWLMetric"  # which is not a measure here
    measure, parameters, defaults = _CLASSES[name.lower()]
    given = [value.strip() for value in values.split(",") if value.strip()]
    if len(given) > len(parameters):
        what = f"more values than {name}CWLMetric takes: {', '.join(parameters) or 'none'}"
        raise InputError(f"'{name}CWLMetric({values})'", what, f"leave out {given[-1]}", usage=True)
    pairs = dict(zip(parameters, [*given, *defaults[len(given) :]], strict=False))
    cutoff = pairs.pop("k", None)
    inside = ",".join(f"{key}={value}" for key, value in pairs.items())
    return measure + (f"({inside})" if inside else "") + (f"@{cutoff}" if cutoff else "")


def _from_level(word: str, spelling: Spelling, level: Any) -> Spelling:
    """ranx's `-l2`: documents below that grade are not relevant."""
    given = dict(spelling.parameters)
    if spelling.name not in ("dcg", "ndcg"):
        return replace(spelling, parameters=tuple({**given, "rel": level}.items()))
    if "gain" in given:
        hint = "list the gains, as in ndcg(gain=0:0:3:7)@10"
        raise InputError(f"'{word}'", "exponential gains above a grade have no name here", hint, usage=True)
    if level > MOST_LEVELS:
        what = f"a level above {MOST_LEVELS} has too many gains below it"
        raise InputError(f"'{word}'", what, "list the gains in a file: gain=@gains.csv", usage=True)
    pairs = ",".join(f"{grade}=0" for grade in range(1, level))
    return replace(spelling, parameters=(("gain", pairs),) if pairs else ())


def _as_here(word: str, spelling: Spelling, known: Container[str]) -> Spelling:
    """A measure with the name and the parameters that it has here."""
    if spelling.inner is not None:
        return spelling
    given, cutoff = dict(spelling.parameters), spelling.cutoff
    if isinstance(given.get("cutoff"), int) and cutoff is None:
        cutoff = int(str(given.pop("cutoff")))
    name = spelling.name if spelling.name in known else ALIASES.get(spelling.name, spelling.name)
    check_gains(word, given)
    for key in [key for key in PARAMETERS if key in given]:
        name = PARAMETERS[key](word, name, given) or name
    if name == "p" and spelling.name == "precision" and cutoff is None:
        name = "set_p"  # of ranx
    if name == "bpm" and cutoff is not None and "max_rel" in dict(spelling.parameters):
        given, cutoff = {"K": cutoff, **given}, None  # which ir_measures writes as a cutoff
    (here,) = read_notation(name)
    if here.inner is not None:
        return replace(here, inner=replace(here.inner, parameters=tuple(given.items()), cutoff=cutoff))
    return replace(here, parameters=tuple((dict(here.parameters) | given).items()), cutoff=cutoff)


def note_of_cwl_eval(measures: Iterable[Measure]) -> str | None:
    """What to say of measures that are written as cwl_eval writes them, where their gains are not as there."""
    written = [
        measure.label
        for measure in measures
        if measure.gain != "grade" and measure.rel is None and _OF_CWL_EVAL.fullmatch(measure.label)
    ]
    what = f"in cwl_eval gains are the grades, and 1000 ranks count, in the order of the file; {flag.like:cwl_eval}"
    return Note(f"{', '.join(written)}: {what}") if written else None


def note_of(label: str, lowest: float, top: float) -> str | None:
    """What to say of a measure as it was written, where another tool that writes it so has another number.

    lowest, top  the grades: the lowest, 0 where those below count as unjudged, and the top one
    """
    name = re.split(r"(?<=rbp\.)\d|[(@:]", label, maxsplit=1)[0]
    different = DIFFERENT.get("Bpref" if "judged_only=True" in label else name)
    return Note(f"{label}: {different.what}") if different and different.counts(lowest, top) else None


def notation_of(alias: str) -> str:
    """The measure that another tool's name stands for, without its parameters: `erria` for ERR_IA."""
    (spelling,) = read_notation(ALIASES[alias])
    return (spelling.inner or spelling).name


# What may be meant by a name that no measure has.


def hint_of(spelling: Spelling, table: Mapping[str, Measure]) -> str:
    """What may be meant by a name that no measure has: the synonyms know it, with a cutoff behind it too, or it is
    misspelt."""
    name, others = spelling.name, synonyms()["measures"]
    if name.isdigit():
        return f"write a cutoff with the measure, as in ndcg@{name}"
    if name[-3:] in ("-ia", "_ia") and name[:-3] in (*table, *ALIASES):
        return f"the mean of {name[:-3]} over intents is {IA}({name[:-3]})"
    stem = name.rstrip("0123456789")
    digits, stem = (name[len(stem) :], stem.rstrip("_-")) if name not in others else ("", name)
    ours, _ = others.get(stem, (stem, ""))
    if " " in ours:
        return ours
    cutoff = int(digits[:9]) if digits else spelling.cutoff
    with suppress(InputError):  # of a name that is no notation
        (here,) = read_notation(ours)
        meant = replace(here, parameters=(*here.parameters, *spelling.parameters), cutoff=cutoff or here.cutoff)
        measure = table.get(notation_of(meant.name) if meant.name in ALIASES else meant.name)
        if measure is not None and (meant.cutoff is None or measure.definition.cutoff != "none") and cutoff != 0:
            return Guess(str(spelling), str(meant))
    return _nearest(name, [*table, *ALIASES]) or "`gradedeval measures` lists them"


def _nearest(name: str, known: Iterable[str]) -> str:
    """The hint for a misspelt measure: names are short, and a letter off is another measure soon. For one of three
    letters only a name of three is meant."""
    if len(name) < 4:
        known = [other for other in known if len(other) == len(name) == 3]
    distances = {other: _edits(name, other) for other in known if abs(len(other) - len(name)) < 3}
    nearest = min(distances, key=lambda other: (distances[other], other[:1] != name[:1]), default="")
    return Guess(name, nearest) if nearest and distances[nearest] <= (1 if len(name) < 6 else 2) else ""


def _edits(word: str, other: str) -> int:
    """How many letters have to be left out, put in, changed, or swapped with the next to make one word of another."""
    before, row = [], list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        before, above, row = row, before, [i]
        for j, its in enumerate(other, 1):
            row.append(min(row[-1] + 1, before[j] + 1, before[j - 1] + (letter != its)))
            if i > 1 and j > 1 and word[i - 2] == its and letter == other[j - 2]:
                row[j] = min(row[j], above[j - 2] + 1)
    return row[-1]
