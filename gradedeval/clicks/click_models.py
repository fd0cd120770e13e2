"""Click models are fitted to a log, and tried on another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.clicks import by_position
from gradedeval.clicks.cells import Cells
from gradedeval.clicks.going_down import Parameters, Prior
from gradedeval.clicks.held_out import Prediction, log_chances, predicted
from gradedeval.clicks.items import NO_LIST, TIES, Items, Tie, items_of
from gradedeval.clicks.kinds import Chosen, read_models
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.read import read_log
from gradedeval.errors import InputError, check_choice, plural, warn_caller
from gradedeval.formats.frames import to_frame
from gradedeval.options import numbers
from gradedeval.rankings.qrels import Qrels

if TYPE_CHECKING:
    import pandas as pd

ITERATIONS = 40
"""Those of the published fit of Chapelle & Zhang's model."""


@dataclass(frozen=True, eq=False, repr=False)
class ClickModel:
    """A click model with its parameters.

    chosen          which one
    items           the documents or grades that have parameters of their own
    parameters      `attractiveness` and `satisfaction`: of each item, and at the end of those that are none;
                    `continuation` and `examination`: of ranks; single numbers. Where there is an `examination` it is 1
                    at rank 1, and attractiveness the probability of a click there: only their products are known
    seen            items: how many sessions showed it
    log_likelihood  of the log it was fitted to: ln P of all sessions, before each iteration and after the last; nothing
                    where it was not fitted
    """

    chosen: Chosen
    items: Items
    parameters: Parameters
    seen: Ints
    log_likelihood: Floats = field(default_factory=lambda: np.empty(0))

    def __str__(self) -> str:
        return str(self.chosen)

    @cached_property
    def relevance(self) -> Floats:
        """items: the probability that it satisfies a user who looks at it: attractiveness, times satisfaction where the
        model has one. Chapelle et al., CIKM 2009, section 7.3."""
        known = self.parameters
        relevance: Floats = known["attractiveness"][:-1] * known.get("satisfaction", np.ones(1 + len(self.seen)))[:-1]
        return relevance

    @property
    def number(self) -> float:
        """The single number of its notation, γ or p; nan where it has none."""
        named = self.chosen.kind.number
        return float(self.parameters[named[0]]) if named else np.nan

    @property
    def ranks(self) -> int | None:
        """How many ranks have parameters of their own; None where none has."""
        of_ranks = [self.parameters[name] for name in ("continuation", "examination") if name in self.parameters]
        return len(of_ranks[0]) if of_ranks else None

    def predicts(self, log: Any, floor: float = 0.0) -> Prediction:
        """How well it predicts the sessions of a log.

        floor  raises the probability of what a session did at a rank to this: the cascade model gives 0 to a second
               click
        """
        tried, notes = listed(read_log(log))
        if not tried.lengths.any():
            raise InputError(tried.place, *NO_LIST)
        warn_caller(notes)
        return self._predicts(tried, floor)

    def _predicts(self, log: ClickLog, floor: float) -> Prediction:
        """`predicts`, of sessions with lists."""
        cells, kind = self.items.cells(log), self.chosen.kind
        return predicted(kind.conditional(self.parameters, cells), kind.marginal(self.parameters, cells), cells, floor)


@dataclass(frozen=True, eq=False, repr=False)
class ClickModels:
    """Click models fitted to a log.

    models       by name
    predictions  how well each predicts: the test log, or the log that it was fitted to
    test         what messages call the test log; empty without one
    settings     what the numbers depend on
    notes        what was skipped or assumed
    """

    models: dict[str, ClickModel]
    predictions: dict[str, Prediction]
    test: str
    settings: str
    notes: list[str]

    def __getitem__(self, name: str) -> ClickModel:
        return self.models[str(read_models(name)[0])]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row for each model, measure and rank: model, measure, rank (0: of all), value."""
        from gradedeval.clicks.model_tables import prediction_rows

        rows = [(name, *row) for name in self.models for row in prediction_rows(self, name)]
        return to_frame(rows, columns=["model", "measure", "rank", "value"])

    def relevance(self, name: str | None = None, min_seen: int = 0) -> pd.DataFrame:
        """The estimated relevance of documents by a model (the only one, unless named): topic, docno, gain, seen; or of
        grades: grade, gain, seen. `min_seen` leaves out what fewer sessions showed."""
        from gradedeval.clicks.model_tables import relevance_frame

        return relevance_frame(self._one(name), min_seen)

    def _one(self, name: str | None) -> ClickModel:
        if name is None and len(self.models) > 1:
            what = f"there are {len(self.models)}: {', '.join(self.models)}"
            raise InputError("model", what, "name one", usage=True)
        return self[name] if name is not None else next(iter(self.models.values()))


def models(
    log: Any,
    models: str | Sequence[str] = "dbn",
    *,
    test: Any = None,
    qrels: Any = None,
    tie: Tie = "document",
    depth: int | None = None,
    prior: float | Sequence[float] = 1.0,
    iterations: int = ITERATIONS,
    tolerance: float = 0.0,
    floor: float = 0.0,
) -> ClickModels:
    """Fit click models to a log.

    log         what `read_log` reads, with the lists shown
    models      "dbn(gamma=0.9) ubm": ctr, cm, dcm, sdbn, dbn, ccm, reader, pbm, ubm
    test        another log that the models are tried on; None: the same
    qrels       the judgments, where grades share parameters: a `Qrels`, or what makes one
    tie         "document": each document of a topic has parameters of its own; "grade": those of a grade share them
    depth       lists are cut to it
    prior       a click and a skip that each share of items is counted with, or a pair of numbers; 0 for none
    iterations  of EM, at most
    tolerance   EM ends once the mean log-likelihood of a session rises by less; 0: not before `iterations`
    floor       see `ClickModel.predicts`

    Raises InputError where a model, an option or a log is wrong.
    """
    result = fit_models(
        read_log(log, depth=depth),
        read_models(models if isinstance(models, str) else list(models)),
        test=None if test is None else read_log(test, depth=depth),
        qrels=qrels if qrels is None or isinstance(qrels, Qrels) else Qrels(qrels),
        tie=tie,
        prior=pair(prior),
        iterations=iterations,
        tolerance=tolerance,
        floor=floor,
    )
    warn_caller(result.notes)
    return result


def pair(prior: float | Sequence[float] | str) -> Prior:
    """A number twice, or two numbers, between which a text has a comma. Raises InputError (usage) for anything else."""
    if isinstance(prior, str):
        values = list(map(numbers.PRIOR.read, prior.split(",")))
    else:
        values = list(map(numbers.PRIOR.check, np.ravel(prior).tolist()))
    if len(values) not in (1, 2):
        raise InputError("--prior", f"{prior!r} is not a number or pair of numbers", "as in 1, 0 or 1,1", usage=True)
    return values[0], values[-1]


def fit_models(
    log: ClickLog,
    chosen: Sequence[Chosen],
    *,
    test: ClickLog | None = None,
    qrels: Qrels | None = None,
    tie: Tie = "document",
    prior: Prior = (1.0, 1.0),
    iterations: int = ITERATIONS,
    tolerance: float = 0.0,
    floor: float = 0.0,
) -> ClickModels:
    """`models`, of logs and models that are read. Raises InputError as it does."""
    _check(chosen, tie)
    iterations, tolerance = numbers.ITERATIONS.check(iterations), numbers.TOLERANCE.check(tolerance)
    prior, floor = (numbers.PRIOR.check(prior[0]), numbers.PRIOR.check(prior[1])), numbers.FLOOR.check(floor)
    log, notes = listed(log)
    tried, more = (log, []) if test is None else listed(test)
    items = items_of(log, tie, qrels)
    cells = items.cells(log)
    fitted = {str(one): fitted_model(one, items, cells, prior, iterations, tolerance) for one in chosen}
    predictions = {name: model._predicts(tried, floor) for name, model in fitted.items()}
    if qrels is not None and tie == "document":
        notes.append(f"{qrels.place} is not used: documents have parameters of their own; --tie grade takes grades")
    notes += [*more, *_notes(log, tried, items, fitted, predictions, floor)]
    parts = [
        f"fitted to {log.place}: {log.sessions} sessions",
        f"tried on {tried.place if test is not None else 'the same'}: {tried.sessions}",
        f"parameters by {tie}",
        f"prior {prior[0]:g},{prior[1]:g}",
        f"{iterations} {plural(iterations, 'iteration')}" + (f" at most, to {tolerance:g}" if tolerance else ""),
        *([f"floor {floor:g}"] if floor else []),
    ]
    return ClickModels(fitted, predictions, "" if test is None else test.place, " | ".join(parts), notes)


def listed(log: ClickLog) -> tuple[ClickLog, list[str]]:
    """The sessions of a log whose lists are known, and the notes on the log."""
    there = log.lengths[log.configuration] > 0
    left_out = int(log.count[~there].sum())
    if not left_out or not there.any():
        return log, [*log.notes]
    what = f"{log.place}: {left_out} {plural(left_out, 'session')} without a shown list left out"
    configuration, pattern, count = (column[there] for column in (log.configuration, log.pattern, log.count))
    some = replace(log, configuration=configuration, pattern=pattern, count=count, user=None, columns={})
    return some, [*log.notes, what]


def fitted_model(
    chosen: Chosen, items: Items, cells: Cells, prior: Prior, iterations: int = ITERATIONS, tolerance: float = 0.0
) -> ClickModel:
    """A click model fitted to sessions: in closed form, or by EM."""
    seen = cells.by_item(cells.shown)[:-1].astype(np.int64)
    if chosen.kind.closed is not None:
        parameters = chosen.kind.closed(cells, prior)
        likelihood = [_log_likelihood(chosen.kind.conditional(parameters, cells), cells)]
        return ClickModel(chosen, items, parameters, seen, np.array(likelihood))
    parameters, sessions, history = chosen.start(cells), float(cells.count.sum()), list[float]()
    for _ in range(iterations):
        following, chance = chosen.step(parameters, cells, prior)
        history.append(_log_likelihood(chance, cells))
        if tolerance and len(history) > 1 and history[-1] - history[-2] < tolerance * sessions:
            break
        parameters = following
    else:
        history.append(_log_likelihood(chosen.kind.conditional(parameters, cells), cells))
    if chosen.kind.transitions is None:
        parameters = by_position.scaled(parameters)
    return ClickModel(chosen, items, parameters, seen, np.array(history))


def _log_likelihood(chance: Floats, cells: Cells) -> float:
    return float((log_chances(chance, cells).sum(0) * cells.count).sum())


def _check(chosen: Sequence[Chosen], tie: str) -> None:
    """Raise InputError (usage) for a value that is not allowed."""
    if not chosen:
        raise InputError("-m", "no click model given", "name one, such as -m dbn", usage=True)
    check_choice(tie, TIES, "--tie")


def _notes(
    log: ClickLog,
    tried: ClickLog,
    items: Items,
    fitted: dict[str, ClickModel],
    predictions: dict[str, Prediction],
    floor: float,
) -> list[str]:
    notes = []
    unseen, shown = next((one.unseen, one.shown) for one in predictions.values())
    if unseen:
        what = f"{tried.place}: {unseen} of {shown} documents shown are not in {log.place}"
        notes.append(f"{what}; they have the parameters of a document that was never shown")
    deep = int(tried.lengths[tried.configuration].max())
    if few := [name for name, model in fitted.items() if deep > (model.ranks or deep)]:
        fitted_to = fitted[few[0]].ranks
        notes.append(f"{', '.join(few)}: no list of {log.place} goes below rank {fitted_to}; parameters there are 0.5")
    down = [name for name, model in fitted.items() if model.chosen.free and model.chosen.kind.m_step is not None]
    if down and log.lengths[log.configuration].max() == 1:
        notes.append(f"{', '.join(down)}: no list of {log.place} has two ranks; the chances of going on are 0.5")
    impossible = [name for name, one in predictions.items() if one.ll_session == -np.inf]
    if impossible:
        what = f"{', '.join(impossible)}: some sessions cannot be by this model, so their log-likelihood is -inf"
        notes.append(f"{what}; --floor 1e-6 gives each click and skip at least that probability")
    if floor:
        notes.append(f"--floor: probabilities below {floor:g} were raised to it")
    return notes
