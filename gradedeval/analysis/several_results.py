"""Several evaluations as one: a list of them, or a dict by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradedeval.analysis import saved_scores
from gradedeval.analysis.saved_scores import describe_mismatch, mismatch_error
from gradedeval.errors import InputError, flag, shorten
from gradedeval.kernel.scoring.scores import Scores

UNNAMED = "run"
"""The name of a single run in memory."""


def joined_scores(results: Sequence[Scores] | Mapping[str, Scores]) -> Scores:
    """Return evaluations by the same measures as one. Raises InputError (usage) as `score_matrix.as_one` does."""
    if isinstance(results, Mapping):
        return _joined([_renamed(result, str(name)) for name, result in results.items()])
    parts = list(results)
    if len(parts) > 1 and all(_names(part) == [UNNAMED] for part in parts):
        parts = [_renamed(part, f"{UNNAMED}{number}") for number, part in enumerate(parts, 1)]
    return _joined(parts)


def check_single_run(name: str, runs: Sequence[str]) -> None:
    """Raise InputError (usage) unless the named result has one run."""
    if len(runs) != 1:
        problem = f"'{name}' has {len(runs)} runs ({shorten(runs)})"
        raise InputError("scores", problem, "a dict names results of one run; give a list", usage=True)


def _names(scores: Scores) -> list[str]:
    return [run.run for run in scores.runs]


def _renamed(scores: Scores, name: str) -> Scores:
    """Return the scores of one run under another name."""
    check_single_run(name, _names(scores))
    machine = scores.machine and _renamed(scores.machine, name)
    sources = dict(zip([name], scores.sources.values(), strict=False))
    return replace(scores, runs=[replace(scores.runs[0], run=name)], sources=sources, machine=machine)


def _joined(parts: Sequence[Scores]) -> Scores:
    first, names = parts[0], [name for part in parts for name in _names(part)]
    if twice := next((name for position, name in enumerate(names) if name in names[:position]), None):
        hint = 'give each run once, or name the results, as in {"A": scores, "B": others}'
        raise InputError("scores", f"duplicate run '{twice}'", hint, usage=True)
    if any(part.options.replicates is not None for part in parts):
        problem = "systems of several results cannot be joined"
        raise InputError(flag.replicates, problem, "score all runs together", usage=True)
    for part in parts[1:]:
        _check_alike(first, part)
    metadata: dict[str, Any] = {
        name: next((value for part in parts if (value := getattr(part.options, name)) is not None), None)
        for name in ("queries", "slices")
    }
    reread = all(part.sources for part in parts)
    machines = [part.machine for part in parts if part.machine is not None]
    return replace(
        first,
        runs=[run for part in parts for run in part.runs],
        options=replace(first.options, **metadata),
        errors=[error for part in parts for error in part.errors],
        notes=list(dict.fromkeys(note for part in parts for note in part.notes)),
        sources={name: source for part in parts for name, source in part.sources.items()} if reread else {},
        machine=_joined(machines) if machines else None,
    )


def _check_alike(first: Scores, other: Scores) -> None:
    """Raise InputError (usage) if the scores depend on different qrels or options."""
    signatures = [saved_scores.Signature.read(scores.signature) for scores in (first, other)]
    mine, theirs = (signature for signature in signatures if signature is not None)  # every evaluation is signed
    for label in first.labels:
        if problem := describe_mismatch(theirs, mine, label, f"{first.runs[0].run}:"):
            raise mismatch_error("scores", f"{label} of '{other.runs[0].run}' is {problem}")
    if first.transformations != other.transformations or (first.machine is None) != (other.machine is None):
        names = f"'{first.runs[0].run}' and '{other.runs[0].run}'"
        raise mismatch_error("scores", f"{names} were changed in different ways")
