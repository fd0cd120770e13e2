"""trec_eval's measures by its own names and parameters -> lines of output, each with a measure of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from gradedeval.errors import Fault, nearest
from gradedeval.measures import MEASURES, Measure, parse

VERSIONS = ("10", "9")
UNLIMITED = 2**63 - 1
"""The number of documents in the collection where nobody says it."""


@dataclass(frozen=True)
class Line:
    """A line of output: its name, and the measure whose score it prints; None where it is text or of preferences.

    by_topic  whether -q prints it for each topic
    summary   whether it stands in the summary
    length    of relevance strings: how many documents they show
    relevant  whether it is 0 in topics without a relevant document, by -l
    """

    name: str
    measure: Measure | None = None
    by_topic: bool = True
    summary: bool = True
    length: int = 0
    relevant: bool = False


@dataclass(frozen=True)
class Setting:
    """What shapes a measure beside its own parameters: the version that is followed, and -N."""

    version: str = "10"
    documents: int = UNLIMITED

    @property
    def add(self) -> float:
        """What version 9 and version 10 add before they round a recall level times R down."""
        return 0.9 if self.version == "9" else 0.5


Lines = Callable[[str, str, Setting], list[Line]]
"""Name, the words after its dot (none: the defaults), setting -> lines."""


@dataclass(frozen=True)
class Entry:
    """A measure of trec_eval.

    sets      the nicknames that stand for it among others
    what      what it is, for -h
    takes     what may follow its dot, for -h; nothing where nothing may
    """

    lines: Lines
    sets: tuple[str, ...]
    what: str
    takes: str = ""


def _wrong(name: str, words: str, cure: str) -> Fault:
    return Fault(f"-m {name}.{words}", "is no measure with its parameters", cure, usage=True)


def _numbers(name: str, words: str) -> list[float]:
    try:
        return [float(word) for word in words.split(",")]
    except ValueError:
        raise _wrong(name, words, f"numbers with commas between them, as in {name}.1,2") from None


def plain(notation: str, *, by_topic: bool = True, summary: bool = True) -> Lines:
    """A measure without parameters."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        if words:
            raise _wrong(name, words, f"{name} takes no parameters")
        return [Line(name, MEASURES[notation], by_topic, summary)]

    return lines


def cut(notation: str, default: Iterable[int]) -> Lines:
    """A measure at several cutoffs; a fraction of a rank is cut off."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        cutoffs = sorted({int(number) for number in _numbers(name, words)}) if words else list(default)
        if cutoffs[0] < 1:
            raise _wrong(name, words, "ranks count from 1")
        return [Line(f"{name}_{cutoff}", MEASURES[notation] @ cutoff) for cutoff in cutoffs]

    return lines


def at_levels(measure: Callable[[float, Setting], Measure], default: Iterable[float]) -> Lines:
    """A measure at several levels, printed with two digits."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        levels = sorted(set(_numbers(name, words))) if words else list(default)
        return [Line(f"{name}_{level:.2f}", measure(level, setting)) for level in levels]

    return lines


def with_words(measure: Callable[[str, str, Setting], Measure], *, relevant: bool = False) -> Lines:
    """A measure that is printed once, with its parameters as they were given."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        return [Line(f"{name}_{words}" if words else name, measure(name, words, setting), relevant=relevant)]

    return lines


def _iprec(level: float, setting: Setting) -> Measure:
    return MEASURES["iprec"](recall=level, add=setting.add)


def _eleven_points(name: str, words: str, setting: Setting) -> Measure:
    one = MEASURES["iprec_avg"](add=setting.add)
    return one(recall=tuple(_numbers(name, words))) if words else one


def _utility(name: str, words: str, setting: Setting) -> Measure:
    coefficients = _numbers(name, words) if words else [1.0, -1.0, 0.0, 0.0]
    if len(coefficients) != 4:
        raise _wrong(name, words, f"four coefficients, as in {name}.1,-1,0,0")
    made = MEASURES["utility"](**dict(zip("abcd", coefficients, strict=True)))
    return made(docs=setting.documents) if coefficients[3] else made


def _with_gains(notation: str, *, relevant: bool = False) -> Lines:
    """A graded measure; grade=gain pairs change the gains of these grades."""

    def measure(name: str, words: str, setting: Setting) -> Measure:
        if not words:
            return MEASURES[notation]
        try:
            return MEASURES[notation](gain=words)
        except Fault:
            raise _wrong(name, words, f"grade=gain pairs, as in {name}.1=3,2=9") from None

    return with_words(measure, relevant=relevant)


def _with_number(notation: str, key: str, example: str) -> Lines:
    def measure(name: str, words: str, setting: Setting) -> Measure:
        if not words:
            return MEASURES[notation]
        numbers = _numbers(name, words)
        if len(numbers) != 1:
            raise _wrong(name, words, f"one number, as in {name}.{example}")
        return MEASURES[notation](**{key: numbers[0]})

    return with_words(measure)


def _relevance_string(name: str, words: str, setting: Setting) -> list[Line]:
    length = int(_numbers(name, words)[0]) if words else 10
    return [Line(f"{name}_{words}" if words else name, summary=False, length=length)]


def text(name: str, words: str, setting: Setting) -> list[Line]:
    """Text that the verb makes."""
    if words:
        raise _wrong(name, words, f"{name} takes no parameters")
    return [Line(name, by_topic=False)]


DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(tenth / 10 for tenth in range(11))
FIFTHS = tuple(fifth / 5 for fifth in range(1, 11))
BOTH, ALL, SET = ("official", "all_trec"), ("all_trec",), ("all_trec", "set")
EVERY = ("official", "all_trec", "set")
CUTOFFS, LEVELS, PAIRS = "cutoffs, as in .5,10", "levels, as in .0.25,0.5", "grade=gain pairs, as in .1=3,2=9"

# In the order in which trec_eval prints them.
ENTRIES: dict[str, Entry] = {
    "runid": Entry(text, EVERY, "The tag of the run: its sixth column."),
    "num_q": Entry(text, EVERY, "Number of topics that count."),
    "num_ret": Entry(plain("num_ret"), EVERY, ""),
    "num_rel": Entry(plain("num_rel"), EVERY, ""),
    "num_rel_ret": Entry(plain("num_rel_ret"), EVERY, ""),
    "map": Entry(plain("ap"), BOTH, ""),
    "gm_map": Entry(plain("gm_ap", by_topic=False), BOTH, ""),
    "Rprec": Entry(plain("rprec"), BOTH, ""),
    "bpref": Entry(plain("bpref"), BOTH, ""),
    "recip_rank": Entry(plain("rr"), BOTH, ""),
    "iprec_at_recall": Entry(at_levels(_iprec, TENTHS), BOTH, "", LEVELS),
    "P": Entry(cut("p", DEPTHS), BOTH, "", CUTOFFS),
    "relstring": Entry(
        _relevance_string,
        ALL,
        "The grades of the first documents of a topic as a string: - is not in the qrels, or grade -2; . is grade -1, < a "
        "lower one, > one above 9.",
        "how many documents, as in .20",
    ),
    "recall": Entry(cut("recall", DEPTHS), ALL, "", CUTOFFS),
    "infAP": Entry(plain("infap"), ALL, ""),
    "gm_bpref": Entry(plain("gm_bpref", by_topic=False), ALL, ""),
    "Rprec_mult": Entry(
        at_levels(lambda level, setting: MEASURES["rprec_mult"](times=level), FIFTHS), ALL, "", "multiples, as in .0.5,2"
    ),
    "utility": Entry(with_words(_utility), SET, "", "four coefficients, as in .1,-1,0,0"),
    "11pt_avg": Entry(with_words(_eleven_points), ALL, "", LEVELS),
    "binG": Entry(plain("bing"), ALL, ""),
    "G": Entry(_with_gains("g"), ALL, "", PAIRS),
    "ndcg": Entry(_with_gains("ndcg"), ALL, "", PAIRS),
    "ndcg_rel": Entry(_with_gains("ndcg_rel"), ALL, "", PAIRS),
    "Rndcg": Entry(_with_gains("rndcg", relevant=True), ALL, "", PAIRS),
    "ndcg_cut": Entry(cut("ndcg", DEPTHS), ALL, "", CUTOFFS),
    "map_cut": Entry(cut("ap", DEPTHS), ALL, "", CUTOFFS),
    "relative_P": Entry(cut("relative_p", DEPTHS), ALL, "", CUTOFFS),
    "success": Entry(cut("success", (1, 5, 10)), ALL, "", CUTOFFS),
    "set_P": Entry(plain("set_p"), SET, ""),
    "set_relative_P": Entry(plain("set_relative_p"), SET, ""),
    "set_recall": Entry(plain("set_recall"), SET, ""),
    "set_map": Entry(plain("set_map"), SET, ""),
    "set_F": Entry(_with_number("set_f", "x", "0.5"), SET, "", "x, as in .0.5"),
    "num_nonrel_judged_ret": Entry(plain("num_nonrel_judged_ret"), ALL, ""),
    "yaap": Entry(plain("yaap"), (), ""),
    "rbp": Entry(_with_number("rbp_topic", "p", "0.8"), ALL, "", "p, as in .0.8"),
    "rbp_resid": Entry(_with_number("rbp_resid", "p", "0.8"), ALL, "", "p, as in .0.8"),
    "unj": Entry(cut("unjudged", (5, 10, 20)), ALL, "", CUTOFFS),
}
NICKNAMES = ("official", "all_trec", "set")
LATER = ("rbp", "rbp_resid", "unj")
"""What version 9 has not."""


def chosen_lines(
    words: Iterable[str],
    setting: Setting,
    table: Mapping[str, Measure] | None = None,
    entries: Mapping[str, Entry] = ENTRIES,
    nicknames: Iterable[str] = NICKNAMES,
) -> list[Line]:
    """The lines that the words of -m ask for, in trec_eval's order; measures in our own notation come last.

    Parameters given to a measure replace its defaults; given more than once, they add up.
    Raises Fault (usage) for a name, a parameter or a notation that is wrong.
    """
    wanted: dict[str, list[str]] = {}
    ours: dict[Measure, None] = {}
    for word in words:
        name, _, parameters = word.partition(".")
        if word in nicknames:
            for own, entry in entries.items():
                if word in entry.sets and not (setting.version == "9" and own in LATER):
                    wanted.setdefault(own, [])
        elif name in entries:
            wanted.setdefault(name, []).extend([parameters] if parameters else [])
        else:
            ours.update(dict.fromkeys(_own(word, table, [*entries, *nicknames])))
    lines = [
        line
        for name, entry in entries.items()
        if name in wanted
        for line in _in_order([one for given in wanted[name] or [""] for one in entry.lines(name, given, setting)])
    ]
    return lines + [Line(str(measure), measure) for measure in ours]


def _in_order(lines: list[Line]) -> list[Line]:
    """Each line once, by cutoff or level where they have one."""
    once = list({line.name: line for line in lines}.values())
    levels = [line.name.rpartition("_")[2] for line in once]
    if len(once) > 1 and all(level.replace(".", "", 1).isdigit() for level in levels):
        once.sort(key=lambda line: float(line.name.rpartition("_")[2]))
    return once


def _own(word: str, table: Mapping[str, Measure] | None, known: Iterable[str]) -> list[Measure]:
    try:
        return parse(word, table)
    except Fault as fault:
        if "no measure" not in fault.fault:
            raise
        by_case = {name.lower(): name for name in known}
        cure = f"did you mean '{by_case[word.lower()]}'?" if word.lower() in by_case else nearest(word, known)
        cure = cure or fault.cure
        raise Fault("-m", f"no measure '{word}'", cure, usage=True) from None
