"""`clicks models`: click models, fitted to a log and tried on another, with their tables and files."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from gradedeval import kernel
from gradedeval.arrays import Floats, Ints, np
from gradedeval.clicks import model_kinds
from gradedeval.clicks.log import ClickLog, FromLog, read_log
from gradedeval.clicks.model_kinds import (
    FIT,
    KINDS,
    MEANS,
    Cells,
    Chosen,
    Parameters,
    Prediction,
    Prior,
    log_chances,
    predicted,
    read_models,
)
from gradedeval.errors import Flag, InputError, Note, check_choice, emit_notes, flag, plural, public
from gradedeval.kernel import Column, Document, Layout, Setting, Table, decode, encode, ranges

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.kernel import Qrels


# What a click model has parameters for: each document of a topic, or all documents of a grade together.


Tie = Annotated[Literal["document", "grade"], Setting("What has its own parameters: each document of a topic, or "
    "each grade of the QRELS.")]  # fmt: skip
TIES = ("document", "grade")
NO_LIST = "no list is shown", "add the column shown, the docnos from rank 1 on"
UNJUDGED = None
"""What stands for the grade of a document that has none."""


@dataclass(frozen=True, eq=False, repr=False)
class Items:
    """The documents or grades that have parameters.

    names  a pair of topic and docno for each, or its grade; `UNJUDGED` for the unjudged documents
    qrels  where grades come from; None where documents have parameters
    """

    names: Sequence[Any]
    qrels: Qrels | None = None

    @property
    def tie(self) -> Tie:
        return "document" if self.qrels is None else "grade"

    @cached_property
    def number(self) -> Mapping[Any, int]:
        """The number of each document or grade."""
        return {name: number for number, name in enumerate(self.names)}

    def of(self, log: ClickLog) -> Ints:
        """configurations × ranks: the number of each document shown; as many as there are for one that is none of
        them, one more past the end of the list."""
        width, number, unknown = max(map(len, log.shown), default=0), self.number, len(self.names)
        item = np.full((len(log.shown), width), unknown + 1, dtype=np.int64)
        for row, (topic, shown) in enumerate(zip(log.topics, log.shown, strict=True)):
            if self.qrels is None:
                item[row, : len(shown)] = [number.get((topic, docno), unknown) for docno in shown]
            else:
                grades = grades_of(self.qrels, topic)
                item[row, : len(shown)] = [number.get(grades.get(docno, UNJUDGED), unknown) for docno in shown]
        return item

    def cells(self, log: ClickLog) -> Cells:
        """The sessions of a log."""
        item = self.of(log)
        alike, same = np.unique(item, axis=0, return_inverse=True)
        same = same.ravel()
        configuration, pattern, count = log.totals()
        patterns = max(len(log.patterns), 1)
        distinct, position = np.unique(same[configuration] * patterns + pattern, return_inverse=True)
        counted = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(counted, position.ravel(), count)
        list_of, pattern_of = np.divmod(distinct, patterns)
        clicked = log.clicked(item.shape[1])[pattern_of]
        return Cells(np.ascontiguousarray(alike[list_of].T), np.ascontiguousarray(clicked.T), counted, len(self.names))


def grades_of(qrels: Qrels, topic: str) -> dict[str, float]:
    """docno -> grade of the judged documents of a topic."""
    labels = qrels.labels.tolist()
    return {docno: labels[code] for docno, code in qrels._text_codes.get(encode(topic), {}).items()}


def items_of(log: ClickLog, tie: Tie, qrels: Qrels | None) -> Items:
    """What the documents shown in a log share parameters by. Raises InputError where the log tells no lists, or grades
    are asked for without judgments."""
    if not any(log.shown):
        raise InputError(log.place, *NO_LIST)
    if tie == "document":
        pairs = ((topic, docno) for topic, shown in zip(log.topics, log.shown, strict=True) for docno in shown)
        return Items(list(dict.fromkeys(pairs)))
    if qrels is None:
        raise InputError(f"{flag.tie:grade}", "needs the grades of documents", "add QRELS", usage=True)
    judged = {topic: grades_of(qrels, topic) for topic in set(log.topics)}
    found = {
        judged[topic].get(docno, UNJUDGED)
        for topic, shown in zip(log.topics, log.shown, strict=True)
        for docno in shown
    }
    if found == {UNJUDGED}:
        raise InputError(log.place, f"no document shown is judged in {qrels.place}", "give the qrels of its topics")
    grades = sorted(grade for grade in found if grade is not UNJUDGED)
    return Items([*grades, *([UNJUDGED] if UNJUDGED in found else [])], qrels)


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
        emit_notes(notes)
        return self._predicts(tried, floor)

    def _predicts(self, log: ClickLog, floor: float) -> Prediction:
        """`predicts`, of sessions with lists."""
        cells, kind = self.items.cells(log), self.chosen.kind
        return predicted(kind.conditional(self.parameters, cells), kind.marginal(self.parameters, cells), cells, floor)


@dataclass(frozen=True, eq=False, repr=False)
class ClickModels(FromLog):
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

        rows = [(name, *row) for name in self.models for row in prediction_rows(self, name)]
        return kernel.results.to_frame(rows, columns=["model", "measure", "rank", "value"])

    def relevance(self, name: str | None = None, min_seen: int = 0) -> pd.DataFrame:
        """The estimated relevance of documents by a model (the only one, unless named): topic, docno, gain, seen; or of
        grades: grade, gain, seen. `min_seen` leaves out what fewer sessions showed."""
        model = self._one(name)
        if model.items.tie == "grade":
            columns = {"grade": list(map(_grade, model.items.names))}
        else:
            topics, docnos = ([name[part] for name in model.items.names] for part in (0, 1))
            columns = {"topic": topics, "docno": docnos}
        frame = kernel.results.to_frame({**columns, "gain": model.relevance, "seen": model.seen})
        return frame[frame["seen"] >= min_seen].reset_index(drop=True)

    def document(self, layout: Layout) -> Document:
        """A row for each model, and where grades share parameters a row for each grade."""
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], self.settings)
        columns = [Column("model"), Column("LL session", "score"), Column("LL rank", "score", 6)]
        columns += [Column(label, "score", 6) for label in MEANS]
        columns.append(Column("estimated", "text"))
        rows = []
        for name in self.models:
            one = self.predictions[name]
            means = [one.mean(field) for field in MEANS.values()]
            rows.append([name, one.ll_session, one.ll_rank, *map(_plain, means), _estimated(self[name])])
        return Document([Table(columns, rows), *_by_grade(self)], self.settings)

    def _one(self, name: str | None) -> ClickModel:
        if name is None and len(self.models) > 1:
            what = f"there are {len(self.models)}: {', '.join(self.models)}"
            raise InputError("model", what, "name one", usage=True)
        return self[name] if name is not None else next(iter(self.models.values()))


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


def fitted_model(chosen: Chosen, items: Items, cells: Cells, prior: Prior, iterations: int) -> ClickModel:
    """A click model fitted to sessions: in closed form, or by EM."""
    seen = cells.by_item(cells.shown)[:-1].astype(np.int64)
    if chosen.kind.closed is not None:
        parameters = chosen.kind.closed(cells, prior)
        likelihood = [_log_likelihood(chosen.kind.conditional(parameters, cells), cells)]
        return ClickModel(chosen, items, parameters, seen, np.array(likelihood))
    parameters, history = chosen.start(cells), list[float]()
    for _ in range(iterations):
        parameters, chance = chosen.step(parameters, cells, prior)
        history.append(_log_likelihood(chance, cells))
    history.append(_log_likelihood(chosen.kind.conditional(parameters, cells), cells))
    if chosen.kind.transitions is None:
        parameters = model_kinds.scaled(parameters)
    return ClickModel(chosen, items, parameters, seen, np.array(history))


def _log_likelihood(chance: Floats, cells: Cells) -> float:
    return float((log_chances(chance, cells).sum(0) * cells.count).sum())


def _notes(
    log: ClickLog,
    tried: ClickLog,
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
        notes.append(Note(f"{what}; {flag.floor:1e-6} gives each click and skip at least that probability"))
    if floor:
        notes.append(Note(f"{flag.floor}: probabilities below {floor:g} were raised to it"))
    return notes


# Click models as tables: how well they predict, and what relevance they estimate.


def prediction_rows(models: ClickModels, name: str) -> Iterator[tuple[str, int, float]]:
    """Measure, rank (0: of all) and value of one model; its own parameters come last."""
    one, model = models.predictions[name], models[name]
    yield "ll_session", 0, one.ll_session
    yield "ll_rank", 0, one.ll_rank
    for label, name_of_field in MEANS.items():
        yield label, 0, one.mean(name_of_field)
        yield from ((label, rank, float(value)) for rank, value in enumerate(getattr(one, name_of_field), 1))
    for key, value in model.parameters.items():
        if value.ndim == 0:
            yield key, 0, float(value)
    for rank, value in enumerate(model.parameters.get("continuation", ()), 1):
        yield "continuation", rank, float(value)
    examination = model.parameters.get("examination", np.empty(0))
    if examination.ndim == 1:
        yield from (("examination", rank, float(value)) for rank, value in enumerate(examination, 1))


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else value


def _estimated(model: ClickModel) -> str:
    """The single numbers that were fitted, as in `gamma 0.778`."""
    fixed = () if model.chosen.kind.number is None or model.chosen.free else model.chosen.kind.number[:1]
    singles = {key: value for key, value in model.parameters.items() if value.ndim == 0 and key not in fixed}
    return ", ".join(f"{key} {float(value):.4f}" for key, value in singles.items())


def _by_grade(models: ClickModels) -> list[Table]:
    """The parameters of grades, where grades share them."""
    model = next(iter(models.models.values()))
    if model.items.tie == "document":
        return []
    rows = []
    for name, one in models.models.items():
        satisfies: Any = one.parameters.get("satisfaction")
        for number, grade in enumerate(one.items.names):
            s = None if satisfies is None else float(satisfies[number])
            attracts, relevance = float(one.parameters["attractiveness"][number]), float(one.relevance[number])
            rows.append([name, _grade(grade), int(one.seen[number]), attracts, s, relevance])
    names = ("attractiveness", "satisfaction", "relevance")
    counts = [Column("grade", "figures"), Column("seen", "count")]
    return [Table([Column("model"), *counts, *(Column(name, "score") for name in names)], rows)]


def _grade(grade: float | None) -> str:
    return "unjudged" if grade is None else f"{grade:g}"


# Click models in files: JSON that people can read, write and change.


HINT = "write it with `gradedeval clicks models --write-model`"
UNJUDGED_NAME = "unjudged"


def model_text(model: ClickModel) -> str:
    """A model as JSON: its name, what its parameters are of, and these: of items by grade or by topic and docno."""
    kept: dict[str, Any] = {"model": str(model.chosen), "tie": model.items.tie}
    for name, values in model.parameters.items():
        kept[name] = _by_item(model.items, values) if name in model.chosen.kind.shares else np.asarray(values).tolist()
    if "examination" in model.parameters:
        kept["unseen"] = float(model.parameters["attractiveness"][-1])
    kept["seen"] = _by_item(model.items, model.seen)
    return kernel.formats.json_text(kept, indent=1) + "\n"


def _by_item(items: Items, values: Any) -> dict[str, Any]:
    listed = np.asarray(values).tolist()[: len(items.names)]
    if items.tie == "grade":
        grades = [UNJUDGED_NAME if grade is UNJUDGED else f"{grade:g}" for grade in items.names]
        return dict(zip(grades, listed, strict=True))
    found: dict[str, dict[str, Any]] = {}
    for (topic, docno), value in zip(items.names, listed, strict=True):
        found.setdefault(topic, {})[docno] = value
    return found


@public
def read_model(path: str | os.PathLike[str]) -> ClickModel:
    """The model of a file that `model_text` wrote, or a person. Raises InputError where it is none.

    >>> from pathlib import Path
    >>> parameters = '"attractiveness": {"0": 0.1, "1": 0.8}, "examination": [1, 0.5]'
    >>> _ = Path("pbm.json").write_text(f'{{"model": "pbm", "tie": "grade", {parameters}}}')
    >>> gradedeval.clicks.read_model("pbm.json").relevance
    array([0.1, 0.8])
    """
    import json  # not before it is needed

    source = kernel.stream.Source(path)
    content = source.read()
    try:
        kept = kernel.documents.read_json(decode(content.removeprefix(BOM_UTF8)))
    except json.JSONDecodeError as error:
        raise InputError(f"{source.place}:{error.lineno}", f"is not valid JSON ({error.msg})", HINT) from None
    if not isinstance(kept, dict) or not isinstance(kept.get("model"), str):
        raise InputError(source.place, "is not a click model: it has no 'model'", HINT)
    chosen, tie = read_models(kept["model"]), kept.get("tie", "document")
    if len(chosen) != 1 or tie not in TIES:
        what = f"tie '{tie}' is not document or grade" if tie not in TIES else f"'{kept['model']}' is not one model"
        raise InputError(source.place, what, HINT)
    try:
        return _model(chosen[0], tie, kept, source.place)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(source.place, "its parameters are not numbers by name", HINT) from None


def _model(chosen: Chosen, tie: str, kept: dict[str, Any], place: str) -> ClickModel:
    wanted = [*chosen.kind.shares, *(name for name, _ in chosen.kind.start)]
    wanted += ["continuation"] if chosen.name == "dcm" else []
    wanted += ["examination"] if chosen.name in ("pbm", "ubm") else []
    if missing := next((name for name in wanted if name not in kept), None):
        raise InputError(place, f"no '{missing}', which {chosen.name} has", HINT)
    names = _values(kept[wanted[0]], tie)
    parameters: dict[str, Floats] = {}
    for name in wanted:
        if name in chosen.kind.shares:
            values = _values(kept[name], tie)
            if values.keys() != names.keys():
                raise InputError(place, f"'{name}' is not of the same items as '{wanted[0]}'", HINT)
            parameters[name] = np.array([*(float(values[item]) for item in names), 0.5])
        else:
            parameters[name] = np.asarray(kept[name], dtype=np.float64)
            _check_shape(chosen, name, parameters[name], place)
        least, most = parameters[name].min(initial=0), parameters[name].max(initial=0)
        if not (least >= 0 and most <= (np.inf if name == "examination" else 1)):
            raise InputError(place, f"a value of '{name}' is not from 0 to 1", "they are probabilities")
    if "examination" in parameters:
        _check_products(parameters, kept.get("unseen"), place)
    number = chosen.kind.number
    if number and not chosen.free and chosen.value != parameters[number[0]]:
        what = f"its name is {chosen}, and '{number[0]}' is {kept[number[0]]}"
        raise InputError(place, what, f"give both the same value, or the name {chosen.name}({number[0]}={FIT})")
    seen = _values(kept["seen"], tie) if "seen" in kept else {}
    counts = np.array([int(seen.get(item, 0)) for item in names], dtype=np.int64)
    # The grades of documents come from the qrels that it is used with.
    items = Items(list(names), None if tie == "document" else kernel.Qrels.none())
    return ClickModel(chosen, items, parameters, counts)


def _check_products(parameters: dict[str, Floats], unseen: float | None, place: str) -> None:
    """Raise InputError where attractiveness times examination is no probability.

    unseen  the attractiveness of a document that was never shown, which is put in; None: ½, or as much as may be
    """
    attractiveness, most = parameters["attractiveness"], parameters["examination"].max(initial=1)
    attractiveness[-1] = 0.5 / most if unseen is None else unseen
    if not 0 <= attractiveness.min() <= attractiveness.max() * most <= 1 + 1e-9:
        what = "attractiveness times examination is not from 0 to 1"
        raise InputError(place, what, "the product is the probability of a click")


def _check_shape(chosen: Chosen, name: str, values: Floats, place: str) -> None:
    """Raise InputError where a parameter that is not of items has not the shape it has in the model."""
    what, dimensions = {
        "continuation": ("a list of numbers, one for each rank", 1),
        "examination": ("a list of numbers, one for each rank", 1),
    }.get(name, ("a number", 0))
    if chosen.name == "ubm" and name == "examination":
        what, dimensions = "a list of lists, for each rank one number for no click and each rank", 2
    if values.ndim != dimensions or len(set(values.shape)) > 1:
        raise InputError(place, f"'{name}' of {chosen.name} is not {what}", HINT)


def _values(kept: Any, tie: str) -> dict[Any, Any]:
    """item -> value."""
    if tie == "document":
        return {(topic, docno): value for topic, of in kept.items() for docno, value in of.items()}
    return {UNJUDGED if grade == UNJUDGED_NAME else float(grade): value for grade, value in kept.items()}


# What is asked of a log: which models describe it, and how well they predict another.


MODEL = Flag("--model", "models")
DEFAULT, MIN_SEEN = "dbn", 10
"""The model, and how many sessions must have shown a document for its relevance to be written."""

Named = Annotated["str | Sequence[str]", Setting(f"Click model: {', '.join(KINDS)}; with its parameter as in "
    f"'dbn(gamma={FIT})' or 'reader(p=0.8)'. May be repeated, or models separated by spaces.",
    metavar="MODEL", spelled=("--model",), repeats=True)]  # fmt: skip
TestLog = Annotated[Any, Setting("Test the models on this log. Default: the log that they are fitted to.",
    metavar="LOG", reads=True)]  # fmt: skip
Counted = Annotated["float | Sequence[float]", Setting("Prior counts of clicks and skips for each document or grade.",
    metavar="A[,B]", default_text="1, one of each")]  # fmt: skip
Iterations = Annotated[int, Setting("Number of EM iterations.", ranges.ITERATIONS, "N")]
Floor = Annotated[float, Setting("Raise the probability of what a session did at a rank to X: the cascade model gives "
    "0 to a second click.", ranges.FLOOR, "X", default_text="0")]  # fmt: skip


def pair(prior: float | Sequence[float] | str) -> Prior:
    """A number twice, or two numbers, between which a text has a comma. Raises InputError (usage) for anything else."""
    if isinstance(prior, str):
        values = list(map(ranges.PRIOR.read, prior.split(",")))
    else:
        values = list(map(ranges.PRIOR.check, np.ravel(prior).tolist()))
    if len(values) not in (1, 2):
        raise InputError(flag.prior, f"{prior!r} is not a number or pair of numbers", "as in 1, 0 or 1,1", usage=True)
    return values[0], values[-1]


def relevance_text(found: ClickModels, write_relevance: str, min_seen: int | None = None) -> str:
    """The relevance of documents by the only model as CSV. Tells of those that are left out, as fewer sessions showed
    them; raises InputError where all are."""
    least, seen = MIN_SEEN if min_seen is None else min_seen, found._one(None).seen
    few, documents = int((seen < least).sum()), len(seen)
    what = f"{few} of {documents} documents were shown in fewer than {least} sessions"
    if few == documents:
        raise InputError(write_relevance, what, f"give a lower {flag.min_seen}", usage=True)
    if few:
        emit_notes([Note(f"{write_relevance}: {what}, and are left out", f"{flag.min_seen} says how many it takes")])
    return kernel.formats.render(
        lambda layout: Document([kernel.results.to_table(found.relevance(min_seen=least))]), "csv"
    )


def _said(log: ClickLog, test: ClickLog | None, tie: Tie, prior: Prior, iterations: int, floor: float) -> str:
    """How models were fitted and tried, in words."""
    parts = [
        f"fitted to {log.place}: {log.sessions} sessions",
        f"tried on {'the same' if test is None else test.place}: {(test or log).sessions}",
        f"parameters by {tie}",
        f"prior {prior[0]:g},{prior[1]:g}",
        f"{iterations} {plural(iterations, 'iteration')}",
        *([f"floor {floor:g}"] if floor else []),
    ]
    return " | ".join(parts)


@public
def models(
    log: Any,
    models: Named = DEFAULT,
    *,
    test_log: TestLog = None,
    qrels: Any = None,
    tie: Tie = "document",
    depth: int | None = None,
    prior: Counted = 1.0,
    iterations: Iterations = ITERATIONS,
    floor: Floor = 0.0,
) -> ClickModels:
    """Fit click models to a log.

    log         what `read_log` reads, with the lists shown
    models      "dbn(gamma=0.9) ubm": ctr, cm, dcm, sdbn, dbn, ccm, reader, pbm, ubm
    test_log    another log that the models are tried on; None: the same
    qrels       the judgments, where grades share parameters: a `Qrels`, or what makes one
    tie         "document": each document of a topic has parameters of its own; "grade": those of a grade share them
    depth       lists are cut to it
    prior       a click and a skip that each share of items is counted with, or a pair of numbers; 0 for none
    iterations  of EM
    floor       see `ClickModel.predicts`

    Raises InputError where a model, an option or a log is wrong.

    >>> models = gradedeval.clicks.models("qrels_samples/rivers-clicks.tsv", "sdbn pbm")
    >>> {name: round(prediction.ll_session, 3) for name, prediction in models.predictions.items()}
    {'sdbn': -0.925, 'pbm': -1.202}
    """
    log, chosen = read_log(log, depth=depth), read_models(models if isinstance(models, str) else list(models))
    if not chosen:
        raise InputError(MODEL, "no click model given", f"name one, such as {MODEL:dbn}", usage=True)
    check_choice(tie, TIES, flag.tie)
    counted, floor = pair(prior), ranges.FLOOR.check(floor)
    iterations = ranges.ITERATIONS.check(iterations)
    qrels = qrels if qrels is None or isinstance(qrels, kernel.Qrels) else kernel.Qrels(qrels)
    log, notes = listed(log)
    tried, more = (log, []) if test_log is None else listed(read_log(test_log, depth=depth))
    items = items_of(log, tie, qrels)
    cells = items.cells(log)
    fitted = {str(one): fitted_model(one, items, cells, counted, iterations) for one in chosen}
    predictions = {name: model._predicts(tried, floor) for name, model in fitted.items()}
    if qrels is not None and tie == "document":
        what = f"{qrels.place} is not used: documents have parameters of their own"
        notes.append(Note(f"{what}; {flag.tie:grade} takes grades"))
    notes += [*more, *_notes(log, tried, fitted, predictions, floor)]
    settings = _said(log, None if test_log is None else tried, tie, counted, iterations, floor)
    return ClickModels(fitted, predictions, "" if test_log is None else tried.place, settings, emit_notes(notes))
