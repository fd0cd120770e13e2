"""trec_eval's measures and their parameters -> lines of its output, with gradedeval's measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from gradedeval import kernel
from gradedeval.errors import InputError, did_you_mean, flag
from gradedeval.kernel import MEASURES, Measure, parse_measures

# Output lines, and how a trec_eval measure and its parameters become lines with gradedeval's measures.


VERSIONS = ("10", "9")


@dataclass(frozen=True)
class Line:
    """An output line: its name, and the measure whose score it prints; None for text and for preference measures.

    by_topic  whether -q prints it for each topic
    summary   whether the summary has it
    length    of relevance strings: how many documents they show
    relevant  whether it is 0 in topics without a relevant document (by -l)
    counted   of preference measures: how they are aggregated over topics; None for text
    """

    name: str
    measure: Measure | None = None
    by_topic: bool = True
    summary: bool = True
    length: int = 0
    relevant: bool = False
    counted: kernel.definition.Summary | None = None

    @property
    def summed(self) -> kernel.definition.Summary | None:
        """How its scores are aggregated over topics; None for text."""
        return self.measure.definition.summary if self.measure is not None else self.counted


@dataclass(frozen=True)
class Setting:
    """What measures depend on besides their parameters: the version to follow, and -N, which is 0 unless given."""

    version: str = "10"
    documents: int = 0


def counting_topics(line: Line) -> Line:
    """Return the line of num_q as a measure, of which each topic counts 1; others unchanged."""
    return replace(line, measure=MEASURES["num_q"]) if line.name == "num_q" else line


Lines = Callable[[str, str, Setting], list[Line]]
"""(name, parameters after its dot (empty: defaults), setting) -> lines."""


@dataclass(frozen=True)
class Entry:
    """A measure of trec_eval.

    lines     makes its output lines
    sets      the nicknames that include it
    what      what it is, for -h
    takes     its parameters, for -h; empty if it has none
    """

    lines: Lines
    sets: tuple[str, ...]
    what: str
    takes: str = ""


def bad_parameters(name: str, words: str, hint: str) -> InputError:
    """Return the error for parameters that a measure does not take."""
    return InputError(f"{flag.measures:{name}.{words}}", "invalid parameters", hint, kind="parameters", usage=True)


def _numbers(name: str, words: str, key: str = "") -> list[float]:
    """Return the numbers among the parameters, after `key=` if it is written."""
    try:
        numbers = [float(word) for word in words.removeprefix(f"{key}=").split(",")]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise bad_parameters(name, words, f"expected numbers separated by commas, such as {name}.1,2")
    return numbers


def plain(
    notation: str | None = None, *, by_topic: bool = True, counted: kernel.definition.Summary | None = None
) -> Lines:
    """Make a line without parameters: of a measure, or without `notation` of a preference measure or text."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        if words:
            raise bad_parameters(name, words, f"{name} takes no parameters")
        return [Line(name, MEASURES[notation] if notation else None, by_topic, counted=counted)]

    return lines


def at_cutoffs(notation: str, default: Iterable[int]) -> Lines:
    """Make a measure at several cutoffs, rounded down to whole ranks."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        cutoffs = [int(number) for number in _numbers(name, words)] if words else list(default)
        if min(cutoffs) < 1:
            raise bad_parameters(name, words, "cutoffs start at 1")
        return [Line(f"{name}_{cutoff}", MEASURES[notation] @ cutoff) for cutoff in cutoffs]

    return lines


def at_levels(measure: Callable[[float, Setting], Measure], default: Iterable[float]) -> Lines:
    """Make a measure at several levels, printed with two digits."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        levels = sorted(set(_numbers(name, words))) if words else list(default)
        return [Line(f"{name}_{level:.2f}", measure(level, setting)) for level in levels]

    return lines


def with_words(
    notation: str, apply: Callable[[Measure, str, str, Setting], Measure], *, relevant: bool = False
) -> Lines:
    """Make a line named with its parameters, which `apply` puts into the measure."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        measure = MEASURES[notation]
        if words:
            measure = apply(measure, name, words, setting)
        return [Line(f"{name}_{words}" if words else name, measure, relevant=relevant)]

    return lines


def with_gains(notation: str, *, relevant: bool = False) -> Lines:
    """Make a graded measure; grade=gain pairs replace the gains of these grades."""

    def given(measure: Measure, name: str, words: str, setting: Setting) -> Measure:
        if not kernel.notation.is_pairs(words):
            raise bad_parameters(name, words, f"expected grade=gain pairs, such as {name}.1=3,2=9")
        return measure(gain=words)

    return with_words(notation, given, relevant=relevant)


def with_number(notation: str, key: str, example: str) -> Lines:
    """Make a measure with one parameter: its value, or `key=value`."""

    def given(measure: Measure, name: str, words: str, setting: Setting) -> Measure:
        numbers = _numbers(name, words, key)
        if len(numbers) != 1:
            raise bad_parameters(name, words, f"expected one number, such as {name}.{example}")
        return measure(**{key: numbers[0]})

    return with_words(notation, given)


def utility(measure: Measure, name: str, words: str, setting: Setting) -> Measure:
    """Make linear utility by four coefficients, with -N if the last is not 0."""
    coefficients = _numbers(name, words)
    if len(coefficients) != 4:
        raise bad_parameters(name, words, f"expected four coefficients, such as {name}.1,-1,0,0")
    measure = measure(**dict(zip("abcd", coefficients, strict=True)))
    return measure(docs=setting.documents) if coefficients[3] else measure


def iprec(level: float, setting: Setting) -> Measure:
    """Make interpolated precision at a recall level, as the version computes it."""
    return _as_rounded("iprec", setting)(recall=level)


def eleven_points(name: str, words: str, setting: Setting) -> list[Line]:
    """Interpolated precision averaged over levels of recall, eleven or the given ones."""
    measure = _as_rounded("iprec_avg", setting)
    return [Line(f"{name}_{words}", measure(recall=tuple(_numbers(name, words)))) if words else Line(name, measure)]


def _as_rounded(notation: str, setting: Setting) -> Measure:
    """The measure; version 9 adds more than 0.5 to recall level × R before it rounds down."""
    return MEASURES[notation](add=0.9) if setting.version == "9" else MEASURES[notation]


def relevance_string(name: str, words: str, setting: Setting) -> list[Line]:
    """Make the line of the grades of the first documents, as text."""
    length = int(_numbers(name, words)[0]) if words else 10
    if length < 1:
        raise bad_parameters(name, words, "cutoffs start at 1")
    return [Line(f"{name}_{words}" if words else name, summary=False, length=length)]


# trec_eval's measures by its names, and the output lines that -m selects.


DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(tenth / 10 for tenth in range(11))
FIFTHS = tuple(fifth / 5 for fifth in range(1, 11))
BOTH, ALL, SET = ("official", "all_trec"), ("all_trec",), ("all_trec", "set")
EVERY = ("official", "all_trec", "set")
CUTOFFS, LEVELS, PAIRS = "cutoffs, as in .5,10", "levels, as in .0.25,0.5", "grade=gain pairs, as in .1=3,2=9"
MULTIPLES = "multiples, as in .0.5,2"

# In the order in which trec_eval prints them.
ENTRIES: dict[str, Entry] = {
    "runid": Entry(plain(by_topic=False), EVERY, "The tag of the run: its sixth column."),
    "num_q": Entry(plain(by_topic=False), EVERY, "Number of topics that count."),
    "num_ret": Entry(plain("num_ret"), EVERY, ""),
    "num_rel": Entry(plain("num_rel"), EVERY, ""),
    "num_rel_ret": Entry(plain("num_rel_ret"), EVERY, ""),
    "map": Entry(plain("ap"), BOTH, ""),
    "gm_map": Entry(plain("gm_ap", by_topic=False), BOTH, ""),
    "Rprec": Entry(plain("rprec"), BOTH, ""),
    "bpref": Entry(plain("bpref"), BOTH, ""),
    "recip_rank": Entry(plain("rr"), BOTH, ""),
    "iprec_at_recall": Entry(at_levels(iprec, TENTHS), BOTH, "", LEVELS),
    "P": Entry(at_cutoffs("p", DEPTHS), BOTH, "", CUTOFFS),
    "relstring": Entry(
        relevance_string,
        ALL,
        "The grades of the first documents of a topic as a string: - is not in "
        "the qrels, . is a grade below 0, > one above 9.",
        "how many documents, as in .20",
    ),
    "recall": Entry(at_cutoffs("recall", DEPTHS), ALL, "", CUTOFFS),
    "infAP": Entry(plain("infap"), ALL, ""),
    "gm_bpref": Entry(plain("gm_bpref", by_topic=False), ALL, ""),
    "Rprec_mult": Entry(at_levels(lambda level, _: MEASURES["rprec_mult"](times=level), FIFTHS), ALL, "", MULTIPLES),
    "utility": Entry(with_words("utility", utility), SET, "", "four coefficients, as in .1,-1,0,0"),
    "11pt_avg": Entry(eleven_points, ALL, "", LEVELS),
    "binG": Entry(plain("bing"), ALL, ""),
    "G": Entry(with_gains("g"), ALL, "", PAIRS),
    "ndcg": Entry(with_gains("ndcg"), ALL, "", PAIRS),
    "ndcg_rel": Entry(with_gains("ndcg_rel"), ALL, "", PAIRS),
    "Rndcg": Entry(with_gains("rndcg", relevant=True), ALL, "", PAIRS),
    "ndcg_cut": Entry(at_cutoffs("ndcg", DEPTHS), ALL, "", CUTOFFS),
    "map_cut": Entry(at_cutoffs("ap", DEPTHS), ALL, "", CUTOFFS),
    "relative_P": Entry(at_cutoffs("relative_p", DEPTHS), ALL, "", CUTOFFS),
    "success": Entry(at_cutoffs("success", (1, 5, 10)), ALL, "", CUTOFFS),
    "set_P": Entry(plain("set_p"), SET, ""),
    "set_relative_P": Entry(plain("set_relative_p"), SET, ""),
    "set_recall": Entry(plain("set_recall"), SET, ""),
    "set_map": Entry(plain("set_map"), SET, ""),
    "set_F": Entry(with_number("set_f", "x", "0.5"), SET, "", "x, as in .0.5"),
    "num_nonrel_judged_ret": Entry(plain("num_nonrel_judged_ret"), ALL, ""),
    "yaap": Entry(plain("yaap"), (), ""),
    "rbp": Entry(with_number("rbp_topic", "p", "p=0.8"), ALL, "", "p, as in .p=0.8"),
    "rbp_resid": Entry(with_number("rbp_resid", "p", "p=0.8"), ALL, "", "p, as in .p=0.8"),
    "unj": Entry(at_cutoffs("unjudged", (5, 10, 20)), ALL, "", CUTOFFS),
}
PREFS, ALL_PREFS = ("prefs", "all_prefs"), ("all_prefs",)
counts, shares = plain(counted="total"), plain(counted="mean")
PREFERENCES: dict[str, Entry] = {
    **{name: replace(ENTRIES[name], sets=PREFS) for name in ("runid", "num_q")},
    "prefs_num_prefs_poss": Entry(counts, PREFS, "Number of preferences, added up over groups."),
    "prefs_num_prefs_ful": Entry(counts, PREFS, "How many of them the ranking keeps."),
    "prefs_num_prefs_ful_ret": Entry(counts, PREFS, "The same, of pairs that are both retrieved."),
    "prefs_simp": Entry(shares, PREFS, "Share of the preferences that the ranking keeps."),
    "prefs_pair": Entry(shares, PREFS, "The share for each pair of documents, averaged over pairs."),
    "prefs_avgjg": Entry(shares, PREFS, "The share for each judgment group, averaged over groups."),
    "prefs_avgjg_Rnonrel": Entry(
        shares,
        ALL_PREFS,
        "As prefs_avgjg, with as many nonrelevant documents as there are "
        "relevant ones. Where one list has more nonrelevant ones, trec_eval's value is not a proportion; it is printed "
        "as trec_eval prints it.",
    ),
    **{
        f"prefs_{name}_{kind}": Entry(shares, ALL_PREFS, f"As prefs_{name}, of pairs {which}.")
        for kind, names, which in (
            ("ret", ("simp", "pair", "avgjg", "avgjg_Rnonrel"), "that are both retrieved"),
            ("imp", ("simp", "pair", "avgjg"), "of which one is retrieved, or both"),
        )
        for name in names
    },
}
JG = ("qrels_jg",)
GROUPS: dict[str, Entry] = {
    **{name: replace(ENTRIES[name], sets=JG) for name in ("runid", "num_q")},
    "map_avgjg": Entry(plain("ap"), JG, "map by each judgment group, averaged over groups."),
    "P_avgjg": Entry(at_cutoffs("p", DEPTHS), JG, "P by each judgment group, averaged over groups.", CUTOFFS),
    "Rprec_mult_avgjg": replace(
        ENTRIES["Rprec_mult"], sets=JG, what="Rprec_mult by each judgment group, averaged over groups."
    ),
}
DROP_IN_FORMATS: dict[str, tuple[dict[str, Entry], tuple[str, ...]]] = {
    "qrels": (ENTRIES, EVERY),
    "qrels_jg": (GROUPS, JG),
    "prefs": (PREFERENCES, PREFS),
    "qrels_prefs": (PREFERENCES, PREFS),
}
"""The value of -R -> the measures for such qrels, and their nicknames."""
LATER = ("rbp", "rbp_resid", "unj")
"""Measures that version 9 lacks."""


def select_lines(words: Iterable[str], setting: Setting, form: str = "qrels") -> list[Line]:
    """The output lines that the values of -m select, in trec_eval's order; measures in gradedeval's notation come last.

    form  what the qrels hold (-R), which decides which measures there are

    Parameters of a measure replace its defaults; if a measure is given several times, its parameters add up.
    Raises InputError (usage) for an unknown name, wrong parameters or a wrong notation.
    """
    entries, nicknames = DROP_IN_FORMATS[form]
    requested: dict[str, list[str]] = {}
    ours: dict[Measure, None] = {}
    for word in words:
        name, _, parameters = word.partition(".")
        if word in nicknames:
            for member, entry in entries.items():
                if word in entry.sets and not (setting.version == "9" and member in LATER):
                    requested.setdefault(member, [])
        elif name in entries:
            requested.setdefault(name, []).extend([parameters] if parameters else [])
        else:
            _check_format(word, form)
            ours.update(dict.fromkeys(_own(word, [*entries, *nicknames])))
    lines = [
        line
        for name, entry in entries.items()
        if name in requested
        for line in _in_order([line for text in requested[name] or [""] for line in _lines(name, entry, text, setting)])
    ]
    return lines + [Line(measure.label, _as_ours(measure)) for measure in ours]


def _as_ours(measure: Measure) -> Measure:
    """Return the measure with its default gains: trec_eval's gains apply only to measures of trec_eval."""
    gain_parameters = dict(measure.parameters).keys() & {"gain", "rel", "g"}
    changed = "gain" in kernel.options.PRESETS["trec_eval"].parameters.get(measure.name, {})
    return measure(gain=str(measure.definition.gain)) if changed and not gain_parameters else measure


def _lines(name: str, entry: Entry, words: str, setting: Setting) -> list[Line]:
    """Return the lines of a trec_eval measure; errors in parameters quote the value of -m."""
    try:
        return entry.lines(name, words, setting)
    except InputError as error:
        raise error if error.kind == "parameters" else bad_parameters(name, words, error.raw[0]) from None


def _check_format(word: str, form: str) -> None:
    """Raise InputError (usage) for a measure of another -R, or a measure in gradedeval's notation if -R excludes it."""
    name = word.partition(".")[0]
    others = [
        form_name for form_name, (entries, nicknames) in DROP_IN_FORMATS.items() if name in entries or word in nicknames
    ]
    if others and form not in others:
        hint = f"it needs -R {' or -R '.join(others)}"
        raise InputError(flag.measures, f"'{name}' is not available for {form}", hint, usage=True)
    if form != "qrels":
        entries, nicknames = DROP_IN_FORMATS[form]
        hint = did_you_mean(name, [*entries, *nicknames]) or f"as in {flag.measures:{nicknames[-1]}}"
        raise InputError(flag.measures, f"unknown measure '{word}' of {form}", hint, usage=True)


def _in_order(lines: list[Line]) -> list[Line]:
    """Return the lines without repetitions, sorted by cutoff or level if they have one."""
    once = {line.name: line for line in lines}
    levels = {name: name.rpartition("_")[2] for name in once}
    if len(once) > 1 and all(level.replace(".", "", 1).isdigit() for level in levels.values()):
        return [once[name] for name in sorted(once, key=lambda name: float(levels[name]))]
    return list(once.values())


def _own(word: str, names: Iterable[str]) -> list[Measure]:
    try:
        return parse_measures(word)
    except InputError as error:
        if error.kind != "unknown-measure":
            raise
        by_case = {name.lower(): name for name in names}
        near = f"did you mean '{by_case[word.lower()]}'?" if word.lower() in by_case else did_you_mean(word, names)
        hint = near or error.raw[1]
        raise InputError(flag.measures, f"unknown measure '{word}'", hint, kind="unknown-measure", usage=True) from None
