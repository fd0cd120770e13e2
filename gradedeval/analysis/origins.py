"""Where scores come from, and whether those of several runs may be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from gradedeval.analysis.saved_scores import FRAME
from gradedeval.errors import InputError, Note, plural, shorten
from gradedeval.scoring.signature import Signature

Origins = NDArray[Any]
"""runs × measures: the `Origin` of each column of scores."""
ALLOW = "--allow-mismatch"


@dataclass(frozen=True)
class Origin:
    """Where the scores of a run by a measure come from.

    place      the file; "" if they are computed here
    signature  what they depend on; None if that is not known
    cut        whether the file had signatures, and rows that have them were taken out
    """

    place: str
    signature: Signature | None
    cut: bool = False


def check_origins(runs: Sequence[str], measures: Sequence[str], origins: Origins, allow: bool = False) -> list[str]:
    """Raise InputError (usage) where scores by one measure depend on other qrels or options than the first run's, and
    InputError where rows that have the signature were taken out of a file.

    allow  only note it

    Returns notes: these, scores of unknown origin, and scores of another version.
    """
    cut = next((origin.place for origin in origins.flat if origin.cut and origin.signature is None), None)
    if cut is not None and not allow:
        what = "the row of the mean (topic 'all') of a run is missing, and with it the signature: the file was cut"
        raise InputError(cut, what, f"save the scores again, or allow it with {ALLOW}", kind="no-signature")
    found: dict[tuple[str, str, str], list[str]] = {}
    for column, measure in enumerate(measures):
        signed = [(run, origin) for run, origin in zip(runs, origins[:, column], strict=True) if origin.signature]
        for run, origin in signed[1:]:
            if problem := _mismatch(*signed[0], origin, measure):
                found.setdefault((origin.place, run.removeprefix(f"{origin.place}:"), problem), []).append(measure)
    notes = [
        (place, f"{shorten(of)} of '{run}' {'is' if len(of) == 1 else 'are'} {problem}")
        for (place, run, problem), of in found.items()
    ]
    if notes and not allow:
        raise mismatch_error(*notes[0])
    return [*(f"{place}: {problem}" for place, problem in notes), *_unknown(origins), *_versions(origins)]


def mismatch_error(place: str, problem: str) -> InputError:
    """The error of scores that are not comparable, and how to go on."""
    hint = f"score it again with the same qrels and options, or allow it with {ALLOW}"
    return InputError(place, problem, hint, kind="mismatch", usage=True)


def mismatch(signature: Signature, other: Signature, measure: str, elsewhere: str) -> str:
    """In words, what scores by a measure depend on that is another elsewhere: `scored with qrels 3f2a9c (here
    77aa01)`; nothing where all agrees."""
    differences = signature.differences(other, measure)
    said = [f"{name} {_value(mine)} ({elsewhere} {_value(theirs)})" for name, (mine, theirs) in differences.items()]
    return f"scored with {', '.join(said)}" if said else ""


def _value(value: str | None) -> str:
    return "unset" if value is None else value or "set"


def _mismatch(first: str, known: Origin, origin: Origin, measure: str) -> str:
    """What the scores of a run depend on that is another for the first run."""
    if origin.signature is known.signature or origin.signature is None or known.signature is None:
        return ""
    return mismatch(origin.signature, known.signature, measure, f"{first}:" if known.place else "here")


def _unknown(origins: Origins) -> list[str]:
    """A note of files without signatures, and of a frame that is compared with scores from elsewhere: who makes one
    frame of all knows what is in it."""
    alone = {origin.place for origin in origins.flat} == {FRAME}
    places = dict.fromkeys(origin.place for origin in origins.flat if origin.signature is None)
    if not places or alone:
        return []
    what = f"no {plural(len(places), 'signature')}, so qrels and options cannot be checked"
    return [Note(f"{', '.join(places)}: {what}", kind="no-signature")]


def _versions(origins: Origins) -> list[str]:
    versions: dict[str, str] = {}
    for origin in origins.flat:
        if origin.signature is not None:
            versions.setdefault(origin.signature.version, origin.place or "the runs")
    if len(versions) < 2:
        return []
    said = ", ".join(f"{place} by {version}" for version, place in versions.items())
    return [f"scores are of several versions: {said}"]
