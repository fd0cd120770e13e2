"""Whether two processes that share work have the same versions of what their results depend on."""

from __future__ import annotations

import sys

from gradedeval.errors import InputError, shorten


def own_versions() -> dict[str, str]:
    """The versions that must be the same wherever work is done."""
    import numpy as np

    from gradedeval import __version__

    return {"gradedeval": __version__, "numpy": np.__version__, "Python": minor(sys.version)}


def minor(version: str) -> str:
    """3.11 of what Python says of itself: the third number changes nothing that travels."""
    return ".".join(version.split()[0].split(".")[:2])


def different(ours: dict[str, str], theirs: dict[str, str], who: str, place: str = "--cluster") -> InputError | None:
    """What to say of a process with other versions than this one's; None where they are the same."""
    names = [name for name in ours if ours[name] != theirs[name]]
    here, there = (shorten(f"{name} {one[name]}" for name in names) for one in (ours, theirs))
    what = f"{here} here and {there} on {who}"
    return InputError(place, what, "install the same versions in both places") if names else None
