"""What people read of an experiment: which columns its table has, and the lines below that say how it was made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradedeval.analysis.compare import Trial
from gradedeval.analysis.correlation import BY_TOPIC, NAMES
from gradedeval.analysis.fit import Fitted
from gradedeval.analysis.power import Power
from gradedeval.analysis.score_matrix import Matrix
from gradedeval.formats import Row, decimals, laid_out, percent, probability, render_frame, rows_of
from gradedeval.formats import signed as signed_table

if TYPE_CHECKING:
    import pandas as pd


def correlations(frame: pd.DataFrame, form: str, matrix: Matrix) -> tuple[str, str]:
    """The result of `correlate` as text, for people as a matrix, and its settings."""
    rows = rows_of(frame)
    counts: dict[str, list[int]] = {}
    for row in rows:
        counts.setdefault(row["kind"], []).append(row["n"])
    # The first row stands above the diagonal.
    wheres = ("above", "below") if len(counts) > 1 else ("off",)
    settings = " | ".join(
        f"{where} the diagonal: {NAMES[kind]}, {_several(found)} {'(run, topic) pairs' if kind in BY_TOPIC else 'runs'}"
        for where, (kind, found) in zip(wheres, counts.items(), strict=True)
    )
    signature = "\n".join(part for part in (settings, matrix.signature) if part)
    if form in ("csv", "tsv", "json", "jsonl"):
        return render_frame(frame, form, {}, signature), settings
    cells = {(row["measure"], row["other"]): decimals(row["agreement"], 3) for row in rows}
    body = [[name, *(cells.get((name, other), "—") for other in matrix.measures)] for name in matrix.measures]
    return signed_table(laid_out(["", *matrix.measures], body, form, [""]), form, signature), settings


def _several(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


Cells = dict[str, Callable[[Row], str]]


def signed(settings: str, matrix: Matrix) -> str:
    """The lines under a table: the settings of the experiment, and what its scores depend on."""
    return "\n".join(part for part in (settings, matrix.signature) if part)


def powers(found: Power, form: str, matrix: Matrix) -> str:
    """The result of `power` as text."""
    cells: Cells = {
        **{name: _as_it_is(name) for name in ("measure", "runs", "topics", "pairs", "significant")},
        "power": lambda row: f"{row['power']:.1%}",
        "difference needed": lambda row: decimals(row["needed"]),
    }
    return render_frame(found.frame, form, cells, signed(found.settings, matrix))


def fits(found: Fitted, form: str) -> str:
    """The result of `fit` or `nearest_weights` as text."""
    cells: Cells = {
        "measure": lambda row: str(row["measure"]),
        "by": lambda row: str(row["by"]),
        "parameter": lambda row: str(row["parameter"]),
        "best": lambda row: _short(row["value"]),
        "agreement": lambda row: decimals(row["agreement"]),
        "KL (nats)": lambda row: decimals(row["divergence"]),
        "within 0.001": lambda row: "" if row["low"] is None else f"{_short(row['low'])} to {_short(row['high'])}",
        "covered": lambda row: decimals(row["covered"]),
        "pairs": lambda row: str(row["pairs"]),
        "there": lambda row: decimals(row["agreement_there"]),
        "best there": lambda row: (
            "" if row["best_there"] is None else f"{decimals(row['best_there'])} at {_short(row['value_there'])}"
        ),
    }
    columns = {"by": "by", "agreement": "agreement", "KL (nats)": "divergence", "covered": "covered", "pairs": "pairs",
               "there": "agreement_there", "best there": "best_there"}  # fmt: skip
    shown = {title: cell for title, cell in cells.items() if columns.get(title, "measure") in found.frame.columns}
    return render_frame(found.frame, form, shown, "\n".join(part for part in (found.settings, found.signature) if part))


def _as_it_is(name: str) -> Callable[[Row], str]:
    return lambda row: str(row[name])


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def comparison(frame: pd.DataFrame, form: str, matrix: Matrix, trial: Trial) -> tuple[str, str]:
    """The result of `compare` as text, and its settings."""
    several = frame["baseline"].nunique() > 1
    measures = list(dict.fromkeys(frame["measure"]))
    pairs = len(frame) // len(measures)
    tests = dict.fromkeys(trial.described(matrix.of(name), pairs) for name in measures)
    interval = f"{1 - trial.alpha:.0%} interval: paired bootstrap, {trial.draws} draws, seed {trial.seed}"
    against = [] if several else [f"baseline {frame['baseline'].iloc[0]}"]
    settings = " | ".join([*against, *tests, f"* p ≤ {trial.alpha:g}", interval])
    title = "p" if trial.applied == "none" or pairs == 1 else f"p ({trial.applied})"
    return render_frame(frame, form, _compared(several, title, trial.alpha), signed(settings, matrix)), settings


def _compared(several: bool, title: str, alpha: float) -> Cells:
    cells: Cells = {"measure": lambda row: str(row["measure"]), "run": lambda row: str(row["run"])}
    if several:
        cells["baseline"] = lambda row: str(row["baseline"])
    return cells | {
        "mean": lambda row: decimals(row["mean"]),
        "before": lambda row: decimals(row["baseline_mean"]),
        "difference": lambda row: decimals(row["difference"], sign="+"),
        "%": lambda row: percent(row["relative"]),
        "interval": lambda row: f"{decimals(row['low'], sign='+')} to {decimals(row['high'], sign='+')}",
        "won/tied/lost": lambda row: f"{row['wins']}/{row['ties']}/{row['losses']}",
        "effect": lambda row: decimals(row["effect"], 2, sign="+"),
        title: lambda row: probability(row["p_corrected"]) + ("*" if row["p_corrected"] <= alpha else " "),
        "order": lambda row: "not known" if row["known"] is False else "",
    }
