"""Origins of scores, and checks that they are comparable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from gradedeval.analysis import saved_scores
from gradedeval.errors import InputError, Note, plural, shorten

if TYPE_CHECKING:
    from gradedeval.analysis.saved_scores import Signature


Origins = NDArray[Any]
"""runs × measures: the `Origin` of each column of scores."""


@dataclass(frozen=True)
class Origin:
    """The origin of the scores of a run by a measure.

    place  the file; "" if they are computed here
    text   their signature, as in the line under their table; "" if unknown
    cut    whether rows with signatures were removed from the file
    means  whether they are means without their topics
    """

    place: str
    text: str
    cut: bool = False
    means: bool = False

    @cached_property
    def signature(self) -> Signature | None:
        """The signature, parsed on first comparison."""
        return saved_scores.Signature.read(self.text)


def check_origins(runs: Sequence[str], measures: Sequence[str], origins: Origins) -> list[str]:
    """Check that scores are comparable; return notes on unknown origins and on different versions. Raises InputError
    (usage) if scores by one measure depend on other qrels or options than the scores of the first run, and InputError
    if rows with signatures were removed from a file."""
    if len({*origins.flat}) == 1 and not origins.flat[0].place:  # computed here, together
        return []
    cut = next((origin.place for origin in origins.flat if origin.cut and origin.signature is None), None)
    if cut is not None:
        reason = "the row of the mean (topic 'all') of a run is missing, and with it the signature: the file was cut"
        raise InputError(cut, reason, "save the scores again", kind="no-signature")
    measures_of: dict[tuple[str, str, str], list[str]] = {}
    for column, measure in enumerate(measures):
        signed = [(run, origin) for run, origin in zip(runs, origins[:, column], strict=True) if origin.signature]
        for run, origin in signed[1:]:
            if problem := _origin_mismatch(*signed[0], origin, measure):
                measures_of.setdefault((origin.place, run.removeprefix(f"{origin.place}:"), problem), []).append(
                    measure
                )
    notes = [
        (place, f"{shorten(names)} of '{run}' {'is' if len(names) == 1 else 'are'} {problem}")
        for (place, run, problem), names in measures_of.items()
    ]
    if notes:
        raise mismatch_error(*notes[0])
    return [*_unsigned_notes(origins), *_version_notes(origins)]


def mismatch_error(place: str, problem: str) -> InputError:
    """Return the error of scores that are not comparable."""
    return InputError(place, problem, "score it again with the same qrels and options", kind="mismatch", usage=True)


def describe_mismatch(signature: Signature, other: Signature, measure: str, elsewhere: str, means: bool = False) -> str:
    """Return the different settings of scores, or of `means`, in words: `scored with qrels 3f2a9c (here 77aa01)`."""
    differences = signature.differences(other, measure)
    if means:
        differences = signature.differences_of_means(other, measure)
        differences.pop("gradedeval", None)  # another version is noted
        if signature.counts != other.counts:
            differences["topics"] = signature.counts, other.counts
    parts = [
        f"{name} {_setting_text(mine)} ({elsewhere} {_setting_text(theirs)})"
        for name, (mine, theirs) in differences.items()
    ]
    return f"scored with {', '.join(parts)}" if parts else ""


def _setting_text(value: str | None) -> str:
    return "unset" if value is None else value or "set"


def _origin_mismatch(first: str, reference: Origin, origin: Origin, measure: str) -> str:
    """Return the settings of the scores of a run that differ from the first run."""
    if origin.signature is None or reference.signature is None or (origin.text == reference.text and not origin.means):
        return ""
    elsewhere = f"{first}:" if reference.place else "here"
    mismatch = describe_mismatch(origin.signature, reference.signature, measure, elsewhere, origin.means)
    if not mismatch and origin.means and origin.signature.topics_depend_on_run:
        return "over topics that depend on the run, and were saved without them"
    return mismatch


def _unsigned_notes(origins: Origins) -> list[str]:
    """Return a note on files without signatures. The maker of a single frame knows its content."""
    alone = {origin.place for origin in origins.flat} == {saved_scores.FRAME}
    places = dict.fromkeys(origin.place for origin in origins.flat if origin.signature is None)
    if not places or alone:
        return []
    problem = f"no {plural(len(places), 'signature')}, so qrels and options cannot be checked"
    return [Note(f"{', '.join(places)}: {problem}", kind="no-signature")]


def _version_notes(origins: Origins) -> list[str]:
    versions: dict[str, str] = {}
    for origin in origins.flat:
        if origin.signature is not None:
            versions.setdefault(origin.signature.version, origin.place or "the runs")
    if len(versions) < 2:
        return []
    sources = ", ".join(f"{place} by {version}" for version, place in versions.items())
    return [f"scores come from several versions: {sources}"]
