"""The change that would make the ids of a run match those of the judgments, if none of them does."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from gradedeval.errors import flag
from gradedeval.kernel.trec.lines import decode

SEPARATORS = ("#", "_", "-", "::", "/")
"""Separators of the documents and the numbers of chunks."""

LEAST = 0.1
"""Least share of the possible matches that is worth a note."""

TRIED, LONGEST = 200, 64
"""Ids from which a common prefix or suffix is derived, and its maximum length."""

Change = Callable[[str], str]
Pairs = Sequence[tuple[Collection[str], Collection[str]]]
"""Ids of the run and of the judgments, of which the same must match: those of each topic, or all topics."""


@dataclass(frozen=True, eq=False)
class NearMatch:
    """A change after which ids match.

    matching  number of the run's ids that match then
    of        number of the run's ids
    change    the change, in words
    cure      what to do
    """

    matching: int
    of: int
    change: str
    cure: str

    @property
    def text(self) -> str:
        """The share of ids that match, as in `93 % of 1,200 do when lower-cased`, without the verb."""
        share = 100 * self.matching / self.of
        return f"{share:.0f} %" if share >= 1 else f"{self.matching:,}"


def near_match(pairs: Sequence[tuple[Collection[bytes], Collection[bytes]]], chunks: bool) -> NearMatch | None:
    """Return the change after which most ids match; None if too few would, after any.

    pairs   ids of the run and of the judgments, topic by topic; or all topics of both
    chunks  whether ids may be those of chunks
    """
    words: Pairs = [(list(map(decode, run)), list(map(decode, judged))) for run, judged in pairs]
    possible = sum(min(len(run), len(judged)) for run, judged in words)
    total, best = sum(len(run) for run, _ in words), None
    for change, cure, of_run, of_judged in _changes(words, chunks):
        matching = 0
        for run, judged in words:
            changed = set(map(of_judged, judged))
            matching += sum(of_run(name) in changed for name in run)
        if matching and matching >= LEAST * possible and (best is None or matching > best.matching):
            best = NearMatch(matching, total, change, cure)
    return best


def _changes(pairs: Pairs, chunks: bool) -> Iterator[tuple[str, str, Change, Change]]:
    """Yield changes in words, their cures, and the changes of the run's ids and of the judgments'; of equally good
    changes the first counts."""
    for separator in SEPARATORS if chunks else ():
        cut, quoted = _cut_at(separator), f"'{separator}'"
        yield f"when cut at the last {quoted}", f"add {format(flag.collapse, quoted)}", cut, str
        change = f"when the judgments are cut at the last {quoted}"
        yield change, f"add {format(flag.collapse_qrels, quoted)}", str, cut
    yield "without blanks around them", "strip the ids of both files", str.strip, str.strip
    yield "when lower-cased", "write the ids of both files in lower case", str.lower, str.lower
    composed = partial(unicodedata.normalize, "NFC")
    yield "in Unicode's normal form NFC", "write the ids of both files in NFC", composed, composed
    swapped = [(judged, run) for run, judged in pairs]
    for side, chosen in (("run", pairs), ("qrels", swapped)):
        for part, affix in (("prefix", _common(chosen, False)), ("suffix", _common(chosen, True))):
            if affix:
                remove = _without(affix, part)
                changes = (remove, str) if side == "run" else (str, remove)
                cure = f"remove it, or add it to the ids of the {'qrels' if side == 'run' else 'run'}"
                yield f"without the {part} '{affix}' of the {side}'s", cure, *changes


def _cut_at(separator: str) -> Change:
    def cut(name: str) -> str:
        position = name.rfind(separator)
        return name[:position] if position > 0 else name

    return cut


def _without(affix: str, part: str) -> Change:
    return lambda name: name.removeprefix(affix) if part == "prefix" else name.removesuffix(affix)


def _common(pairs: Pairs, at_end: bool) -> str:
    """Return the prefix or suffix without which most ids of the first sides are ids of the second; empty if none is.

    It ends where letters, digits and other characters change: 1 is not 51 without a prefix.
    """
    often: Counter[str] = Counter()
    tried = 0
    for names, others in pairs:
        known = frozenset(others)
        for name in list(names)[: TRIED - tried]:
            tried += 1
            for length in range(1, min(len(name), LONGEST + 1)):
                position = len(name) - length if at_end else length
                affix, rest = (name[position:], name[:position]) if at_end else (name[:position], name[position:])
                if rest in known and _kind(name[position - 1]) != _kind(name[position]):
                    often[affix] += 1
    return often.most_common(1)[0][0] if often else ""


def _kind(character: str) -> int | str:
    """Return whether a character is a digit or a letter; any other is of a kind of its own."""
    return 1 if character.isdigit() else 2 if character.isalpha() else character
