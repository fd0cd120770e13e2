"""The parameter with which the weights of a measure are nearest to a given distribution over ranks."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradedeval.analysis.fit import Fitted
from gradedeval.analysis.parameter_search import NEARLY, Family, Values, band, best, read_families, search
from gradedeval.analysis.rank_weights import static_weights
from gradedeval.arrays import Floats
from gradedeval.errors import InputError, ProblemList
from gradedeval.measures.definition import Measure
from gradedeval.trec.lines import decode
from gradedeval.trec.source import Source


def read_vector(path: str | Path) -> Floats:
    """The weights of ranks 1, 2, … of a file of `rank,weight` lines; a header and lines after `#` do not count.

    Raises InputError with the line of whatever is no weight, where ranks are missing, or where all weights are 0.
    """
    source = Source(path)
    errors, known = ProblemList(source.place), dict[int, float]()
    content = decode(source.read()).removeprefix("\ufeff")
    for number, row in enumerate(csv.reader(io.StringIO(content.replace("\t", ","))), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#") or (not known and cells[0].lower() == "rank"):
            continue
        try:
            rank, weight = int(cells[0]), float(cells[1])
            good = len(cells) == 2 and rank >= 1 and weight >= 0 and np.isfinite(weight) and rank not in known
        except (ValueError, IndexError):
            good = False
        if good:
            known[rank] = weight
        else:
            errors.add(number, f"'{','.join(row)}' is no new rank,weight pair", "as in 1,0.5; weights from 0 up")
    errors.check()
    if not known or not any(known.values()):
        raise InputError(source.place, "has no weight above 0", "a file of rank,weight lines")
    missing = [rank for rank in range(1, max(known) + 1) if rank not in known]
    if missing:
        raise InputError(source.place, f"no weight for rank {missing[0]}", "give each rank from 1 a line")
    return np.array([known[rank] for rank in range(1, max(known) + 1)])


def divergence(reference: Floats, weights: Floats) -> float:
    """Kullback–Leibler divergence of weights from a reference distribution, in nats: Σ v ln(v / w), 0 where v is 0."""
    seen = reference > 0
    with np.errstate(divide="ignore"):
        return float((reference[seen] * (np.log(reference[seen]) - np.log(weights[seen]))).sum())


def fit_weights(
    weights: Floats | Sequence[float] | str | Path,
    measures: str | Sequence[str] | Sequence[Family],
    *,
    ranks: int | None = None,
    renormalize: bool = False,
    precision: float = 0.001,
) -> Fitted:
    """The parameter of each static measure whose weights are nearest to a given vector in Kullback–Leibler divergence.

    weights      of ranks 1, 2, …: numbers, or a file of rank,weight lines. They are scaled to sum 1 down to `ranks`
    measures     with a range, as in "rbp(p=0.05..0.99)"
    ranks        how many ranks are compared; None: all of the vector
    renormalize  scale the measure's weights to sum 1 down to `ranks` too; else they are what they are, and what a
                 geometric distribution has below `ranks` counts against it
    precision    of the value found

    The columns of `frame` are measure, parameter, value, divergence (nats), low, high (the band within 0.001 nats),
    depth, covered (what the measure's weights sum to down to `ranks`), renormalized; those of `curve` measure,
    parameter, value, divergence. Zhang et al., Information Retrieval 2010, section 5.2. Raises InputError where the
    vector is too short, or a measure has no weights by rank, or weights that sum to more than 1.
    """
    reference = _reference(weights, ranks)
    depth = len(reference)
    families = _families(measures)

    def tried(grids: list[tuple[Family, list[float]]]) -> list[list[list[float]]]:
        return [
            [[-divergence(reference, _scaled(family.at(value), depth, renormalize))] for value in grid]
            for family, grid in grids
        ]

    found = [values for (values,) in search(families, tried, 1, precision)]
    rows = [_row(*one, depth, renormalize) for one in zip(families, found, strict=True)]
    curve = [
        {"measure": family.text, "parameter": family.parameter, "value": value, "divergence": -values[value]}
        for family, values in zip(families, found, strict=True)
        for value in sorted(values)
    ]
    notes = [
        f"{family.text}: {family.end(best(values))}"
        for family, values in zip(families, found, strict=True)
        if family.end(best(values))
    ]
    import pandas as pd  # not before it is needed

    theirs = "the measures' scaled to 1 too" if renormalize else "the measures' as they are"
    settings = f"{depth} ranks | the vector scaled to sum 1, {theirs} | to {precision:g}"
    return Fitted(pd.DataFrame(rows), pd.DataFrame(curve), settings, "", notes)


def _reference(weights: Floats | Sequence[float] | str | Path, depth: int | None) -> Floats:
    """The vector down to a depth, scaled to sum 1."""
    vector = read_vector(weights) if isinstance(weights, str | Path) else np.asarray(weights, np.float64)
    depth = len(vector) if depth is None else depth
    if depth > len(vector) or depth < 1:
        what = f"{depth} ranks of {len(vector)} in the vector"
        raise InputError("--ranks", what, f"at most {len(vector)}, and at least 1", usage=True)
    if not vector[:depth].any():
        raise InputError("--ranks", f"no weight above 0 down to rank {depth}", "take more ranks", usage=True)
    reference: Floats = vector[:depth] / vector[:depth].sum()
    return reference


def _row(family: Family, values: Values, depth: int, renormalize: bool) -> dict[str, Any]:
    value = best(values)
    low, high = band(values, NEARLY)
    row = {"measure": family.text, "parameter": family.parameter, "value": value, "divergence": -values[value]}
    covered = float(static_weights(family.at(value), depth).sum())
    return {**row, "low": low, "high": high, "depth": depth, "covered": covered, "renormalized": renormalize}


def _families(measures: str | Sequence[str] | Sequence[Family]) -> list[Family]:
    given = [measures] if isinstance(measures, str) else list(measures)
    families = [one for one in given if isinstance(one, Family)]
    return families or read_families([one for one in given if isinstance(one, str)])


def _scaled(measure: Measure, depth: int, renormalize: bool) -> Floats:
    weights = static_weights(measure, depth)
    total = float(weights.sum())
    if renormalize and total > 0:
        return weights / total
    if total > 1 + 1e-6:
        what = f"the weights of '{measure}' sum to {total:.4g}, and a distribution's to 1"
        raise InputError("", what, "--renormalize scales them", usage=True)
    return weights
