"""The table of measures, their other names, and the way from text to measures."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gradedeval.errors import Fault, nearest
from gradedeval.measures.definition import QUANTITIES, Measure, ia, measure
from gradedeval.measures.table import MEASURES
from gradedeval.notation import IA, Spelling, read, split

__all__ = [
    "ALIASES",
    "CWL_DEFAULT",
    "DEFAULT",
    "ENTRY_POINTS",
    "MEASURES",
    "QUANTITIES",
    "Measure",
    "ia",
    "measure",
    "measures_from",
    "parse",
]

DEFAULT = ("err@20", "ndcg@20", "rbp", "ap", "gap", "p@10", "judged@20")
CWL_DEFAULT = ("rbp", "insq", "inst", "sdcg@10", "cwlp@10", "bpm", "ift", "nerr10", "nerr11")

# Other tools' names for the same measures: names only, never other values.
ALIASES: dict[str, str] = {
    "map": "ap",
    "map_cut": "ap",
    "gm_map": "gm_ap",
    "iprec_at_recall": "iprec",
    "11pt_avg": "iprec_avg",
    "precision": "p",
    "recip_rank": "rr",
    "mrr": "rr",
    "r": "recall",
    "ndcg_cut": "ndcg",
    "unj": "unjudged",
    "err-ia": "erria",
    "err_ia": "erria",
    "nerr-ia": "nerria",
    "nerr_ia": "nerria",
    "alpha-ndcg": "alpha_ndcg",
    "alpha-dcg": "alpha_dcg",
    "strecall": "strec",
    "numq": "num_q",
    "numret": "num_ret",
    "numrel": "num_rel",
    "numrelret": "num_rel_ret",
}
# trec_eval's names that carry their cutoff, as in P_10.
_WITH_CUTOFF = ("p", "recall", "ndcg_cut", "map_cut", "relative_p", "success", "unj")

# Names of the literature for a measure and what is done to its scores.
_STEPS = {"ssp": "write -m sp --standardise"}

ENTRY_POINTS = "gradedeval.measures"

foreign: list[str] = []
"""Where code came from that is not ours: it may have something to do when the process ends."""


def __getattr__(name: str) -> Measure:
    """Each measure by its name, as in `from gradedeval.measures import err`; `set_` where Python needs the name."""
    if name.removesuffix("_") not in MEASURES:
        raise AttributeError(f"module 'gradedeval.measures' has no attribute '{name}'")
    return MEASURES[name.removesuffix("_")]


def __dir__() -> list[str]:
    return [*__all__, *MEASURES]


def parse(text: str | Measure | Iterable[str | Measure], table: Mapping[str, Measure] | None = None) -> list[Measure]:
    """The measures that `text` names, each once, in the order written.

    text   `"err@20 ndcg(gain=exp)@10"`, a Measure, or several of either
    table  name -> Measure; default the table of this package

    Raises Fault (usage) for a wrong name, key, value or cutoff, with the nearest right one.
    """
    if isinstance(text, Measure):
        return [text.complete()]
    if not isinstance(text, str):
        if not isinstance(text, Iterable):
            raise Fault("", f"{text!r} is no measure", "give text as in 'err@20', a Measure, or several", usage=True)
        return list(dict.fromkeys(one for part in text for one in parse(part, table)))
    spelt = [spelling for word in split(text) for spelling in read(word)]
    if not spelt:
        raise Fault(
            repr(text), "names no measure", "as in 'err@20 ndcg@10'; `gradedeval measures` lists them", usage=True
        )
    return list(dict.fromkeys(_find(one, MEASURES if table is None else table) for one in spelt))


def _find(spelling: Spelling, table: Mapping[str, Measure]) -> Measure:
    name, cutoff = spelling.name, spelling.cutoff
    if spelling.inner is not None:
        return _over_intents(spelling, spelling.inner, table)
    stem, _, digits = name.rpartition("_")
    if stem in _WITH_CUTOFF and digits.isdigit() and cutoff is None and name not in table:
        name, cutoff = stem, int(digits)
    name = name if name in table else ALIASES.get(name, name)
    if name not in table and _entry_point(name):
        table = {**table, name: _load_entry_point(name)}
    if name not in table:
        cure = _STEPS.get(name) or nearest(name, [*table, *ALIASES]) or "`gradedeval measures` lists them"
        if name[-3:] in ("-ia", "_ia") and name[:-3] in (*table, *ALIASES):
            cure = f"the mean of {name[:-3]} over intents is {IA}({name[:-3]})"
        raise Fault("", f"no measure '{spelling.name}'", cure, usage=True)
    found = table[name](**dict(spelling.parameters))
    return (found if cutoff is None else found @ cutoff).complete()


def _over_intents(spelling: Spelling, inner: Spelling, table: Mapping[str, Measure]) -> Measure:
    """`ia(inner)`. A cutoff behind it is the cutoff of the measure inside."""
    if spelling.cutoff is not None:
        if inner.cutoff is not None:
            raise Fault(f"'{spelling}'", "has two cutoffs", f"write {IA}({inner})", usage=True)
        inner = replace(inner, cutoff=spelling.cutoff)
    return ia(_find(inner, table), **{key: str(value) for key, value in spelling.parameters})


def measures_from(path: str | os.PathLike[str]) -> dict[str, Measure]:
    """The measures of a user's Python file, by name. Raises Fault (usage) where it has none or does not load."""
    place = str(path)
    spec = importlib.util.spec_from_file_location("gradedeval_user_measures", place)
    if not os.path.isfile(path) or spec is None or spec.loader is None:
        raise Fault(place, "is no Python file", "--measures-from takes a .py file", usage=True)
    module = importlib.util.module_from_spec(spec)
    foreign.append(place)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever the user's file raises is no traceback of ours
        raise Fault(place, f"does not load ({type(error).__name__}: {error})", usage=True) from error
    # A file may import our measures to build on them; those stay ours.
    found = {
        one.name: one for one in vars(module).values() if isinstance(one, Measure) and one not in MEASURES.values()
    }
    if not found:
        raise Fault(place, "has no measures", "decorate a function with @gradedeval.measure", usage=True)
    taken = [name for name in found if name in (*MEASURES, *ALIASES, IA)]
    if taken:
        raise Fault(place, f"'{taken[0]}' is a measure of gradedeval already", "give yours another name", usage=True)
    return found


def _entry_point(name: str) -> bool:
    from importlib.metadata import entry_points  # slow to import, and needed only for a name that is not ours

    return any(point.name.lower() == name for point in entry_points(group=ENTRY_POINTS))


def _load_entry_point(name: str) -> Measure:
    from importlib.metadata import entry_points

    point = next(point for point in entry_points(group=ENTRY_POINTS) if point.name.lower() == name)
    foreign.append(point.name)
    try:
        loaded = point.load()
    except Exception as error:
        raise Fault(f"entry point '{point.name}'", f"does not load ({error})", usage=True) from error
    if not isinstance(loaded, Measure):
        raise Fault(f"entry point '{point.name}'", "is no measure", "decorate it with @gradedeval.measure", usage=True)
    if loaded.name != point.name.lower():
        raise Fault(f"entry point '{point.name}'", f"is the measure '{loaded.name}'", "give both one name", usage=True)
    return loaded


def offered() -> dict[str, Measure]:
    """The measures that other packages offer by entry point, by name."""
    from importlib.metadata import entry_points

    return {point.name.lower(): _load_entry_point(point.name.lower()) for point in entry_points(group=ENTRY_POINTS)}
