"""Which weights of ranks are nearest to what users look at: those of measures with a parameter, and given ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradedeval.analysis.fit import FitResult
from gradedeval.analysis.fit_weights import check_total, divergence, fit_weights
from gradedeval.analysis.fixed_weights import static_weights
from gradedeval.analysis.parameter_search import MeasureRange, read_ranges
from gradedeval.analysis.tables import Shown, frame_document, near_best, same
from gradedeval.arrays import Floats
from gradedeval.clicks.blocks import small_table_of
from gradedeval.clicks.observation import Observation, observe_log
from gradedeval.clicks.read import read_log
from gradedeval.errors import InputError, check_choice, plural, warn_caller
from gradedeval.formats import Column, Document, Layout
from gradedeval.formats.frames import frame_rows, to_frame
from gradedeval.measures.definition import Measure
from gradedeval.measures.notation import split
from gradedeval.measures.parse import parse_measures
from gradedeval.measures.table import MEASURES

if TYPE_CHECKING:
    import pandas as pd

SCALES = ("sum", "none", "both")
PRECISION = 0.001
SUM_SCALES = "add --scale sum"


@dataclass(frozen=True, eq=False)
class Fits:
    """Measures and how near their weights are to an observation model.

    frame     a row for each, the nearest first: measure (in the notation of `-m`), parameter and value (where one was
              searched), divergence (Kullback–Leibler, in nats; infinite where a rank that is looked at weighs nothing),
              low and high (the range of values within 0.001 nats), scaled (whether to sum 1 over these ranks), covered
              (what the weights sum to as they are)
    curves    rank, observation, and the weights of each row of `frame` as they were compared, under its measure
    settings  how the weights were compared, and how the observation was made
    notes     notes for the user
    """

    frame: pd.DataFrame
    curves: pd.DataFrame
    settings: str
    notes: list[str]


def fit(
    log: Any,
    measures: str | Sequence[str] | None = None,
    *,
    scale: Literal["sum", "none", "both"] = "sum",
    weights: Any = None,
    precision: float = PRECISION,
    **observing: Any,
) -> Fits:
    """The measures whose weights of ranks are nearest to what the users of a click log look at.

    log        as for `observe`, or what that returned
    measures   with a range, as in "rbp(p=0.05..0.99)", or without one; None: geometric, Poisson, Zipf and log-harmonic
    scale      "sum": the weights of measures are scaled to sum 1 over the ranks of the observation, which ends there as
               well; "none": they stay as they are; "both": a row for each
    weights    further weights to compare with, scaled to sum 1: a file that `gradedeval weights` writes, or a DataFrame
               with the columns rank and one for each vector
    precision  of a value
    observing  the keywords of `observe`

    Near weights describe what users look at; they do not estimate the parameter that users have, which `models` does.
    Zhang et al., Information Retrieval 2010, section 5.2. Raises InputError as `observe` and `fit_weights` do.
    """
    if isinstance(log, Observation) and observing:
        raise InputError("log", "is observed already", f"leave out {', '.join(observing)}", usage=True)
    observation = log if isinstance(log, Observation) else observe_log(read_log(log), **observing)
    texts = families(observation) if measures is None else measures
    asked = [texts] if isinstance(texts, str) else texts
    found = fit_observation(observation, asked, MEASURES, scale, weights, precision)
    warn_caller(found.notes)
    return found


def families(observation: Observation) -> str:
    """The static models of Zhang et al., table 3: geometric, Poisson, Zipf and log-harmonic."""
    ranks = len(observation.weights)
    return f"rbp(p=0.05..0.99) poisson(alpha=0.1..20) zipf(beta=0.05..5)@{ranks} logharmonic(b=2..40)@{ranks}"


def fit_observation(
    observation: Observation,
    measures: Sequence[str],
    table: Mapping[str, Measure],
    scale: str,
    weights: Any,
    precision: float,
) -> Fits:
    """As `fit`, with a table of measures."""
    check_choice(scale, SCALES, "--scale")
    if observation.frame.columns[0] != "rank":
        raise InputError("--per", "weights are fitted to one model of all", "leave it out", usage=True)
    looked = observation.weights
    words = [word for text in measures for word in split(text)]
    ranges = [word for word in words if ".." in word]
    searched = read_ranges(ranges, table) if ranges else []
    fixed = [measure for word in words if word not in ranges for measure in parse_measures(word, table)]
    rows: list[tuple[dict[str, Any], Floats]] = []
    notes = list(observation.notes)
    for scaled in {"sum": [True], "none": [False], "both": [True, False]}[scale]:
        if searched:
            found = _nearest(looked, searched, scaled, precision)
            notes += found.notes
            for range_, row in zip(searched, frame_rows(found.frame), strict=True):
                nearest = range_.at(row["value"])
                row["measure"], row["scaled"] = str(nearest), scaled
                rows.append((row, static_weights(nearest, len(looked), tried=True)))
        for measure in fixed:
            vector = _fixed(measure, len(looked))
            if not scaled:
                check_total(measure, float(vector.sum()), SUM_SCALES)
            rows.append((_row(str(measure), vector, looked, scaled, notes), vector))
    rows += [(_row(name, vector, looked, True, notes), vector) for name, vector in _vectors(weights, len(looked))]
    if not rows:
        raise InputError("", "no measure and no weights given", "for example -m 'rbp(p=0.05..0.99)'", usage=True)
    rows.sort(key=lambda row: float(row[0]["divergence"]))
    frame = to_frame([row for row, _ in rows], columns=list(COLUMNS))
    curves = {"rank": np.arange(1, len(looked) + 1), "observation": looked}
    for row, vector in rows:
        as_it_is = " as it is" if scale == "both" and not row["scaled"] else ""
        curves[row["measure"] + as_it_is] = vector / row["covered"] if row["scaled"] else vector
    over = f"over {len(looked)} {plural(len(looked), 'rank')}"
    said = {
        "sum": f"weights scaled to sum 1 {over}, as the observation is",
        "none": f"the observation scaled to sum 1 {over}, weights as they are",
        "both": f"the observation scaled to sum 1 {over}, weights scaled and as they are",
    }
    return Fits(frame, to_frame(curves), f"{said[scale]}\n{observation.settings}", notes)


COLUMNS = ("measure", "parameter", "value", "divergence", "low", "high", "scaled", "covered")


def _nearest(looked: Floats, searched: Sequence[MeasureRange], scaled: bool, precision: float) -> FitResult:
    """`fit_weights`, whose message says what this command calls its option."""
    try:
        return fit_weights(looked, searched, renormalize=scaled, precision=precision)
    except InputError as error:
        raise error.replace(hint=SUM_SCALES) if error.kind == "weights-total" else error from None


def _fixed(measure: Measure, depth: int) -> Floats:
    try:
        return static_weights(measure, depth)
    except InputError as error:
        if not measure.definition.weights_in_ranking:
            raise
        hint = (
            f"give its weights over runs with --weights, as `gradedeval weights RUN... QRELS -m {measure}` writes them"
        )
        raise error.replace(hint=hint) from None


def _row(name: str, weights: Floats, looked: Floats, scaled: bool, notes: list[str]) -> dict[str, Any]:
    """The divergence of weights that are what they are; a note names the rank that makes it infinite."""
    covered = float(weights.sum())
    found = divergence(looked, weights / covered if scaled and covered > 0 else weights)
    if np.isinf(found):
        rank = int(np.flatnonzero((looked > 0) & (weights <= 0))[0]) + 1
        notes.append(f"{name}: infinitely far, because users look at rank {rank}, which weighs nothing")
    return dict(zip(COLUMNS, (name, None, None, found, None, None, scaled, covered), strict=True))


def _vectors(weights: Any, depth: int) -> Iterator[tuple[str, Floats]]:
    """The columns of weights, from rank 1 on; ranks that they lack weigh nothing."""
    if weights is None:
        return
    hint = "expected a header of rank and names of measures, as `weights` writes"
    table = small_table_of(weights, ["rank"], "weights", hint)
    for name in [name for name in (table.rows[0].cells if table.rows else ()) if name != "rank"]:
        values, vector = table.by_rank(name), np.zeros(depth)
        vector[: len(values)] = values[:depth]
        if not vector.any():
            raise InputError(name, f"no weight above 0 down to rank {depth}", "observe more ranks", usage=True)
        yield name, vector


def fits_document(found: Fits, layout: Layout) -> Document:
    """The result of `clicks fit`."""
    both = [] if found.frame["scaled"].nunique() < 2 else [Column("scaled")]
    shown: Shown = {
        **same(Column("measure"), *both),
        Column("KL (nats)", "score"): itemgetter("divergence"),
        Column("within 0.001", "figures"): near_best,
        **same(Column("covered", "score")),
    }
    return frame_document(found.frame, layout, shown, found.settings)
