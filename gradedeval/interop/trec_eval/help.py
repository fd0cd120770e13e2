"""The text of `gradedeval trec_eval -h`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from gradedeval.errors import InputError, did_you_mean
from gradedeval.interop.trec_eval.measures import FORMATS
from gradedeval.interop.trec_eval.output_lines import Entry, Setting

HOLDS = {
    "qrels": "lines of `topic iteration docno grade`; one judgment of each document",
    "qrels_jg": "the same lines, where the second column names a judgment group: one judge's view of the topic",
    "prefs": "lines of `topic group subgroup docno value`; in each subgroup a larger value is preferred",
    "qrels_prefs": "lines of qrels, read as preferences: a higher grade is preferred",
}


def help_text(usage: str, measures: Iterable[str], holds: str) -> str:
    """The help page, or an explanation of these measures. Raises InputError (usage) for an unknown name."""
    entries, nicknames = FORMATS[holds]
    named: dict[str, Entry] = {}
    for word in measures:
        name = word.partition(".")[0]
        if name in nicknames:
            named |= _members(name, entries)
        elif name in entries:
            named[name] = entries[name]
        else:
            hint = did_you_mean(name, [*entries, *nicknames]) or "`gradedeval measures NAME` explains ours"
            raise InputError("-m", f"unknown measure '{name}' of trec_eval", hint, usage=True)
    if named:
        return "\n".join(_page(name, entry) for name, entry in named.items())
    parts = [usage, "", _folded(f"QRELS ({holds}): ", f"{HOLDS[holds]}.", 2), "", "Measures:"]
    parts += [_folded(f"  {nickname:<11} ", ", ".join(_members(nickname, entries))) for nickname in nicknames]
    alone = [name for name, entry in entries.items() if not entry.sets]
    parts += [_folded("  in no set   ", ", ".join(alone))] if alone else []
    return "\n".join([*parts, "", "-h -m NAME explains a measure, -h -m all_trec all of them."]) + "\n"


def _members(nickname: str, entries: dict[str, Entry]) -> dict[str, Entry]:
    return {name: entry for name, entry in entries.items() if nickname in entry.sets}


def _page(name: str, entry: Entry) -> str:
    """A measure: what it is, formula, source, parameters, default lines, and its name in gradedeval."""
    lines = entry.lines(name, "", Setting())
    ours = lines[0].measure
    what, rows = entry.what, []
    if ours is not None:
        about, formula, source = ours.definition.paragraphs
        what = what or about
        rows += [("formula", formula), ("source", source)]
    if entry.takes:
        rows.append(("parameters", entry.takes))
    if len(lines) > 1:
        rows.append(("prints", ", ".join(line.name for line in lines)))
    if not (lines[0].by_topic and lines[0].summary):
        rows.append(("printed", "in the summary only" if lines[0].summary else "for each topic only"))
    if ours is not None:
        rows.append(("ours", ", ".join(str(line.measure) for line in lines)))
    return "\n".join([_folded(f"{name}: ", what, 2), *(_folded(f"  {key:<11} ", value) for key, value in rows)]) + "\n"


def _folded(head: str, words: str, indent: int = 14) -> str:
    """Text after a head, in lines of at most 100 characters."""
    return textwrap.fill(
        head + words, 100, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
    )
