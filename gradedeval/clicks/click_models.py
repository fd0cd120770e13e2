"""Fit click models to a log, test them on another, and read and write them."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from gradedeval import kernel
from gradedeval.arrays import Floats, Ints, np
from gradedeval.clicks import model_kinds
from gradedeval.clicks.log import ClickLog, FromLog, read_log
from gradedeval.clicks.model_kinds import FIT, KINDS, MEANS, Cells, ModelSpec, Prediction, Prior, read_models
from gradedeval.errors import Flag, InputError, Note, check_choice, emit_notes, flag, plural, public
from gradedeval.kernel import Column, Document, Layout, Setting, Table, decode, encode, ranges

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.kernel import Qrels


# Items with parameters: each document of a topic, or all documents of a grade together.


Tie = Annotated[Literal["document", "grade"], Setting("Items with their own parameters: each document of a topic, or "
    "each grade of the QRELS.", short="What has parameters: documents or grades.")]  # fmt: skip
TIES = ("document", "grade")
NO_LIST = "no list is shown", "add the column shown, the docnos from rank 1 on"
UNJUDGED = None
"""The grade of an unjudged document."""


@dataclass(frozen=True, eq=False, repr=False)
class Items:
    """Documents or grades with parameters.

    names  a pair of topic and docno for each, or its grade; `UNJUDGED` for the unjudged documents
    qrels  source of grades; None if documents have parameters
    """

    names: Sequence[Any]
    qrels: Qrels | None = None

    @property
    def tie(self) -> Tie:
        """The unit with its own parameters: document or grade."""
        return "document" if self.qrels is None else "grade"

    @cached_property
    def number(self) -> Mapping[Any, int]:
        """Index of each document or grade."""
        return {name: number for number, name in enumerate(self.names)}

    def of(self, log: ClickLog) -> Ints:
        """Return configurations × ranks: the index of the item shown, larger for unknown items and past the end."""
        width, number, unknown = max(map(len, log.shown), default=0), self.number, len(self.names)
        item = np.full((len(log.shown), width), unknown + 1, dtype=np.int64)
        for row, (topic, docnos) in enumerate(zip(log.topics, log.shown, strict=True)):
            if self.qrels is None:
                item[row, : len(docnos)] = [number.get((topic, docno), unknown) for docno in docnos]
            else:
                grades = grades_of(self.qrels, topic)
                item[row, : len(docnos)] = [number.get(grades.get(docno, UNJUDGED), unknown) for docno in docnos]
        return item

    def cells(self, log: ClickLog) -> Cells:
        """Return the sessions of a log as cells of these items."""
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
    """Return docno -> grade of the judged documents of a topic."""
    labels = qrels.labels.tolist()
    return {docno: labels[code] for docno, code in qrels._text_codes.get(encode(topic), {}).items()}


def items_of(log: ClickLog, tie: Tie, qrels: Qrels | None) -> Items:
    """Return the items that share parameters in a log. Raises InputError without lists, or grades without judgments."""
    if not any(log.shown):
        raise InputError(log.place, *NO_LIST)
    if tie == "document":
        pairs = ((topic, docno) for topic, docnos in zip(log.topics, log.shown, strict=True) for docno in docnos)
        return Items(list(dict.fromkeys(pairs)))
    if qrels is None:
        raise InputError(f"{flag.tie:grade}", "needs the grades of documents", "add QRELS", usage=True)
    judged = {topic: grades_of(qrels, topic) for topic in set(log.topics)}
    lists = zip(log.topics, log.shown, strict=True)
    grades_shown = {judged[topic].get(docno, UNJUDGED) for topic, docnos in lists for docno in docnos}
    if grades_shown == {UNJUDGED}:
        raise InputError(log.place, f"no document shown is judged in {qrels.place}", "give the qrels of its topics")
    grades = sorted(grade for grade in grades_shown if grade is not UNJUDGED)
    return Items([*grades, *([UNJUDGED] if UNJUDGED in grades_shown else [])], qrels)


ITERATIONS = 40
"""Number of iterations in the published fit of Chapelle & Zhang's model."""


@dataclass(frozen=True, eq=False, repr=False)
class ClickModel:
    """A click model with its parameters.

    spec            its name and the value of its number
    items           the documents or grades with parameters
    parameters      `attractiveness` and `satisfaction`: of each item, then of unknown items; `continuation` and
                    `examination`: of ranks; scalars. An `examination` is 1 at rank 1, and attractiveness is the
                    probability of a click there: only their products can be estimated
    seen            items: number of sessions that showed it
    log_likelihood  ln P of all sessions of the training log, before each iteration and after the last; empty if not
                    fitted
    """

    spec: ModelSpec
    items: Items
    parameters: model_kinds.Parameters
    seen: Ints
    log_likelihood: Floats = field(default_factory=lambda: np.empty(0))

    def __str__(self) -> str:
        return str(self.spec)

    @cached_property
    def relevance(self) -> Floats:
        """For each item, the probability that it satisfies a user who examines it: attractiveness, times satisfaction
        if the model has one. Chapelle et al., CIKM 2009, section 7.3."""
        values = self.parameters
        relevance: Floats = values["attractiveness"][:-1] * values.get("satisfaction", np.ones(1 + len(self.seen)))[:-1]
        return relevance

    @property
    def number(self) -> float:
        """The number in the model's notation, γ or p; nan if there is none."""
        named = self.spec.kind.number
        return float(self.parameters[named[0]]) if named else np.nan

    @property
    def ranks(self) -> int | None:
        """The number of ranks with parameters; None if no parameter depends on the rank."""
        of_ranks = [self.parameters[name] for name in ("continuation", "examination") if name in self.parameters]
        return len(of_ranks[0]) if of_ranks else None

    def predicts(self, log: Any, floor: float = 0.0) -> Prediction:
        """Evaluate how well it predicts the sessions of a log.

        floor  minimum probability of a click or skip at a rank: the cascade model gives 0 to a second click
        """
        test, notes = keep_listed(read_log(log))
        if not test.lengths.any():
            raise InputError(test.place, *NO_LIST)
        emit_notes(notes)
        return self._predicts(test, floor)

    def _predicts(self, log: ClickLog, floor: float) -> Prediction:
        """Evaluate the predictions of sessions with lists."""
        cells, kind = self.items.cells(log), self.spec.kind
        conditional, marginal = kind.conditional(self.parameters, cells), kind.marginal(self.parameters, cells)
        return model_kinds.evaluate_predictions(conditional, marginal, cells, floor)


@dataclass(frozen=True, eq=False, repr=False)
class ClickModels(FromLog):
    """Click models fitted to a log.

    models       by name
    predictions  how well each predicts the test log, or else the training log
    test         name of the test log in messages; empty without one
    settings     settings of the fit and the test
    notes        notes on skipped input and assumptions
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
        """A row for each model, measure and rank: model, measure, rank (0: all ranks), value."""
        rows = [(name, *row) for name in self.models for row in prediction_rows(self, name)]
        return kernel.results.to_frame(rows, columns=["model", "measure", "rank", "value"])

    def relevance(self, name: str | None = None, min_seen: int = 0) -> pd.DataFrame:
        """Return the estimated relevance by a model, needed if there are several: topic, docno, gain, seen; by grade:
        grade, gain, seen. `min_seen` drops items shown in fewer sessions."""
        model = self._one(name)
        if model.items.tie == "grade":
            columns = {"grade": list(map(_grade, model.items.names))}
        else:
            topics, docnos = ([name[part] for name in model.items.names] for part in (0, 1))
            columns = {"topic": topics, "docno": docnos}
        frame = kernel.results.to_frame({**columns, "gain": model.relevance, "seen": model.seen})
        return frame[frame["seen"] >= min_seen].reset_index(drop=True)

    def document(self, layout: Layout) -> Document:
        """Return a row for each model, and for each grade if grades share parameters."""
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], self.settings)
        means = [Column(label, "score", 6) for label in MEANS]
        columns = [Column("model"), Column("LL session", "score"), Column("LL rank", "score", 6), *means]
        rows = []
        for name in self.models:
            prediction = self.predictions[name]
            values = [prediction.mean(field) for field in MEANS.values()]
            cells = [None if np.isnan(value) else value for value in values]
            rows.append([name, prediction.ll_session, prediction.ll_rank, *cells, _estimated(self[name])])
        return Document([Table([*columns, Column("estimated", "text")], rows), *_by_grade(self)], self.settings)

    def _one(self, name: str | None) -> ClickModel:
        if name is None and len(self.models) > 1:
            names = ", ".join(self.models)
            raise InputError("model", f"there are {len(self.models)}: {names}", "name one", usage=True)
        return self[name] if name is not None else next(iter(self.models.values()))


def keep_listed(log: ClickLog) -> tuple[ClickLog, list[str]]:
    """Return the sessions of a log with known lists, and the notes on the log."""
    has_list = log.lengths[log.configuration] > 0
    left_out = int(log.count[~has_list].sum())
    if not left_out or not has_list.any():
        return log, [*log.notes]
    note = f"{log.place}: {left_out} {plural(left_out, 'session')} without a shown list left out"
    return log.select(has_list), [*log.notes, note]


def fit_model(spec: ModelSpec, items: Items, cells: Cells, prior: Prior, iterations: int) -> ClickModel:
    """Fit a click model to sessions: in closed form, or by EM."""
    seen = cells.by_item(cells.shown)[:-1].astype(np.int64)
    if spec.kind.closed is not None:
        parameters = spec.kind.closed(cells, prior)
        likelihood = [_log_likelihood(spec.kind.conditional(parameters, cells), cells)]
        return ClickModel(spec, items, parameters, seen, np.array(likelihood))
    parameters, history = spec.start(cells), list[float]()
    for _ in range(iterations):
        parameters, chance = spec.step(parameters, cells, prior)
        history.append(_log_likelihood(chance, cells))
    history.append(_log_likelihood(spec.kind.conditional(parameters, cells), cells))
    if spec.kind.transitions is None:
        parameters = model_kinds.scale_examination(parameters)
    return ClickModel(spec, items, parameters, seen, np.array(history))


def _log_likelihood(chance: Floats, cells: Cells) -> float:
    return float((model_kinds.log_chances(chance, cells).sum(0) * cells.count).sum())


def _notes(
    log: ClickLog,
    test: ClickLog,
    fitted: dict[str, ClickModel],
    predictions: dict[str, Prediction],
    floor: float,
) -> list[str]:
    notes = []
    unseen, shown = next((prediction.unseen, prediction.shown) for prediction in predictions.values())
    if unseen:
        problem = f"{test.place}: {unseen} of {shown} documents shown are not in {log.place}"
        notes.append(f"{problem}; they have the parameters of a document that was never shown")
    deep = int(test.lengths[test.configuration].max())
    if few := [name for name, model in fitted.items() if deep > (model.ranks or deep)]:
        fitted_to = fitted[few[0]].ranks
        notes.append(f"{', '.join(few)}: no list of {log.place} goes below rank {fitted_to}; parameters there are 0.5")
    step_models = [name for name, model in fitted.items() if model.spec.free and model.spec.kind.m_step is not None]
    if step_models and log.lengths[log.configuration].max() == 1:
        notes.append(f"{', '.join(step_models)}: no list of {log.place} has two ranks; the chances of going on are 0.5")
    impossible = [name for name, prediction in predictions.items() if prediction.ll_session == -np.inf]
    if impossible:
        problem = f"{', '.join(impossible)}: some sessions cannot be by this model, so their log-likelihood is -inf"
        notes.append(Note(f"{problem}; {flag.floor:1e-6} gives each click and skip at least that probability"))
    if floor:
        notes.append(Note(f"{flag.floor}: probabilities below {floor:g} were raised to it"))
    return notes


# Click models as tables: predictions and parameters.


def prediction_rows(models: ClickModels, name: str) -> Iterator[tuple[str, int, float]]:
    """Yield measure, rank (0: all ranks) and value of one model; its parameters come last."""
    prediction, model = models.predictions[name], models[name]
    yield "ll_session", 0, prediction.ll_session
    yield "ll_rank", 0, prediction.ll_rank
    for label, attribute in MEANS.items():
        yield label, 0, prediction.mean(attribute)
        yield from ((label, rank, float(value)) for rank, value in enumerate(getattr(prediction, attribute), 1))
    for key, value in model.parameters.items():
        if value.ndim == 0:
            yield key, 0, float(value)
    for rank, value in enumerate(model.parameters.get("continuation", ()), 1):
        yield "continuation", rank, float(value)
    examination = model.parameters.get("examination", np.empty(0))
    if examination.ndim == 1:
        yield from (("examination", rank, float(value)) for rank, value in enumerate(examination, 1))


def _estimated(model: ClickModel) -> str:
    """Return the scalar parameters that were fitted, as in `gamma 0.778`."""
    fixed = () if model.spec.kind.number is None or model.spec.free else model.spec.kind.number[:1]
    singles = {key: value for key, value in model.parameters.items() if value.ndim == 0 and key not in fixed}
    return ", ".join(f"{key} {float(value):.4f}" for key, value in singles.items())


def _by_grade(models: ClickModels) -> list[Table]:
    """Return a table of the parameters of grades if grades share them."""
    model = next(iter(models.models.values()))
    if model.items.tie == "document":
        return []
    rows = []
    for name, fitted in models.models.items():
        satisfaction: Any = fitted.parameters.get("satisfaction")
        for number, grade in enumerate(fitted.items.names):
            probability = None if satisfaction is None else float(satisfaction[number])
            attracts, relevance = float(fitted.parameters["attractiveness"][number]), float(fitted.relevance[number])
            rows.append([name, _grade(grade), int(fitted.seen[number]), attracts, probability, relevance])
    names = ("attractiveness", "satisfaction", "relevance")
    counts = [Column("grade", "figures"), Column("seen", "count")]
    return [Table([Column("model"), *counts, *(Column(name, "score") for name in names)], rows)]


def _grade(grade: float | None) -> str:
    return "unjudged" if grade is None else f"{grade:g}"


# Click models in files: JSON that people can read, write and change.


HINT = "write it with `gradedeval clicks models --write-model`"
UNJUDGED_NAME = "unjudged"


def model_text(model: ClickModel) -> str:
    """Return a model as JSON: its name and its parameters, by grade or by topic and docno."""
    content: dict[str, Any] = {"model": str(model.spec), "tie": model.items.tie}
    for name, values in model.parameters.items():
        content[name] = _by_item(model.items, values) if name in model.spec.kind.shares else np.asarray(values).tolist()
    if "examination" in model.parameters:
        content["unseen"] = float(model.parameters["attractiveness"][-1])
    content["seen"] = _by_item(model.items, model.seen)
    return kernel.formats.json_text(content, indent=1) + "\n"


def _by_item(items: Items, values: Any) -> dict[str, Any]:
    numbers = np.asarray(values).tolist()[: len(items.names)]
    if items.tie == "grade":
        grades = [UNJUDGED_NAME if grade is UNJUDGED else f"{grade:g}" for grade in items.names]
        return dict(zip(grades, numbers, strict=True))
    by_topic: dict[str, dict[str, Any]] = {}
    for (topic, docno), value in zip(items.names, numbers, strict=True):
        by_topic.setdefault(topic, {})[docno] = value
    return by_topic


@public
def read_model(path: str | os.PathLike[str]) -> ClickModel:
    """Read a click model from a file that `ClickModel`s are written to. Raises InputError if it is not one.

    >>> from pathlib import Path
    >>> parameters = '"attractiveness": {"0": 0.1, "1": 0.8}, "examination": [1, 0.5]'
    >>> _ = Path("pbm.json").write_text(f'{{"model": "pbm", "tie": "grade", {parameters}}}')
    >>> gradedeval.clicks.read_model("pbm.json").relevance
    array([0.1, 0.8])
    """
    import json  # deferred: slows the import

    source = kernel.stream.Source(path)
    content = source.read()
    try:
        kept = kernel.documents.read_json(decode(content.removeprefix(BOM_UTF8)))
    except json.JSONDecodeError as error:
        raise InputError(f"{source.place}:{error.lineno}", f"is not valid JSON ({error.msg})", HINT) from None
    if not isinstance(kept, dict) or not isinstance(kept.get("model"), str):
        raise InputError(source.place, "is not a click model: it has no 'model'", HINT)
    specs, tie = read_models(kept["model"]), kept.get("tie", "document")
    if len(specs) != 1 or tie not in TIES:
        problem = f"tie '{tie}' is not document or grade" if tie not in TIES else f"'{kept['model']}' is not one model"
        raise InputError(source.place, problem, HINT)
    try:
        return _model(specs[0], tie, kept, source.place)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(source.place, "its parameters are not numbers by name", HINT) from None


def _model(spec: ModelSpec, tie: str, kept: dict[str, Any], place: str) -> ClickModel:
    needed = [*spec.kind.shares, *(name for name, _ in spec.kind.start)]
    needed += ["continuation"] if spec.name == "dcm" else []
    needed += ["examination"] if spec.name in ("pbm", "ubm") else []
    if missing := next((name for name in needed if name not in kept), None):
        raise InputError(place, f"no '{missing}', which {spec.name} has", HINT)
    names = _values(kept[needed[0]], tie)
    parameters: dict[str, Floats] = {}
    for name in needed:
        if name in spec.kind.shares:
            values = _values(kept[name], tie)
            if values.keys() != names.keys():
                raise InputError(place, f"'{name}' is not of the same items as '{needed[0]}'", HINT)
            parameters[name] = np.array([*(float(values[item]) for item in names), 0.5])
        else:
            parameters[name] = np.asarray(kept[name], dtype=np.float64)
            _check_shape(spec, name, parameters[name], place)
        least, most = parameters[name].min(initial=0), parameters[name].max(initial=0)
        if not (least >= 0 and most <= (np.inf if name == "examination" else 1)):
            raise InputError(place, f"a value of '{name}' is not from 0 to 1", "they are probabilities")
    if "examination" in parameters:
        _check_products(parameters, kept.get("unseen"), place)
    number = spec.kind.number
    if number and not spec.free and spec.value != parameters[number[0]]:
        problem = f"its name is {spec}, and '{number[0]}' is {kept[number[0]]}"
        raise InputError(place, problem, f"give both the same value, or the name {spec.name}({number[0]}={FIT})")
    seen = _values(kept["seen"], tie) if "seen" in kept else {}
    counts = np.array([int(seen.get(item, 0)) for item in names], dtype=np.int64)
    # Grades come from the qrels of a later call.
    items = Items(list(names), None if tie == "document" else kernel.Qrels.empty())
    return ClickModel(spec, items, parameters, counts)


def _check_products(parameters: dict[str, Floats], unseen: float | None, place: str) -> None:
    """Raise InputError if attractiveness times examination is no probability; set the attractiveness of `unseen`."""
    attractiveness, most = parameters["attractiveness"], parameters["examination"].max(initial=1)
    attractiveness[-1] = 0.5 / most if unseen is None else unseen
    if not 0 <= attractiveness.min() <= attractiveness.max() * most <= 1 + 1e-9:
        problem = "attractiveness times examination is not from 0 to 1"
        raise InputError(place, problem, "the product is the probability of a click")


def _check_shape(spec: ModelSpec, name: str, values: Floats, place: str) -> None:
    """Raise InputError if a parameter other than of items has the wrong shape for the model."""
    expected, dimensions = "a number", 0
    if name in ("continuation", "examination"):
        expected, dimensions = "a list of numbers, one for each rank", 1
    if spec.name == "ubm" and name == "examination":
        expected, dimensions = "a list of lists, for each rank one number for no click and each rank", 2
    if values.ndim != dimensions or len(set(values.shape)) > 1:
        raise InputError(place, f"'{name}' of {spec.name} is not {expected}", HINT)


def _values(content: Any, tie: str) -> dict[Any, Any]:
    """Return item -> value."""
    if tie == "document":
        return {(topic, docno): value for topic, values in content.items() for docno, value in values.items()}
    return {UNJUDGED if grade == UNJUDGED_NAME else float(grade): value for grade, value in content.items()}


# `gradedeval clicks models`.


MODEL = Flag("--model", "models")
DEFAULT, MIN_SEEN = "dbn", 10
"""The default model, and the fewest sessions of a document whose relevance is written."""

ModelNames = Annotated["str | Sequence[str]", Setting(f"Click model: {', '.join(KINDS)}; with its parameter as in "
    f"'dbn(gamma={FIT})' or 'reader(p=0.8)'. May be repeated, or models separated by spaces.",
    metavar="MODEL", spelled=("--model",), repeats=True,
        short="Click model, such as dbn or 'reader(p=0.8)'.")]  # fmt: skip
TestLog = Annotated[Any, Setting("Test the models on this log. Default: the log that they are fitted to.",
    metavar="LOG", reads=True)]  # fmt: skip
PriorCounts = Annotated["float | Sequence[float]", Setting(
    "Prior counts of clicks and skips for each document or grade.",
    metavar="A[,B]", default_text="1, one of each", short="Prior counts of clicks and skips.")]  # fmt: skip
Iterations = Annotated[int, Setting("Number of EM iterations.", ranges.ITERATIONS, "N")]
Floor = Annotated[float, Setting("Raise the probability of what a session did at a rank to X: the cascade model gives "
    "0 to a second click.", ranges.FLOOR, "X", default_text="0",
    short="Lowest probability of what a session did.")]  # fmt: skip


def pair(prior: float | Sequence[float] | str) -> Prior:
    """Return two prior counts from a number, a pair, or text with a comma. Raises InputError (usage) otherwise."""
    if isinstance(prior, str):
        values = list(map(ranges.PRIOR.read, prior.split(",")))
    else:
        values = list(map(ranges.PRIOR.check, np.ravel(prior).tolist()))
    if len(values) not in (1, 2):
        raise InputError(flag.prior, f"{prior!r} is not a number or pair of numbers", "as in 1, 0 or 1,1", usage=True)
    return values[0], values[-1]


def relevance_text(fitted: ClickModels, write_relevance: str, min_seen: int | None = None) -> str:
    """Return the relevance by the only model as CSV; documents shown in too few sessions are noted."""
    least, seen = MIN_SEEN if min_seen is None else min_seen, fitted._one(None).seen
    rare, documents = int((seen < least).sum()), len(seen)
    counts = f"{rare} of {documents} documents were shown in fewer than {least} sessions"
    if rare == documents:
        raise InputError(write_relevance, counts, f"give a lower {flag.min_seen}", usage=True)
    if rare:
        emit_notes([Note(f"{write_relevance}: {counts}, and are left out", f"{flag.min_seen} lowers the limit")])
    table = kernel.results.to_table(fitted.relevance(min_seen=least))
    return kernel.formats.render(lambda layout: Document([table]), "csv")


def _describe(log: ClickLog, test: ClickLog | None, tie: Tie, prior: Prior, iterations: int, floor: float) -> str:
    """Describe how models were fitted and tested."""
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
    models: ModelNames = DEFAULT,
    *,
    test_log: TestLog = None,
    qrels: Any = None,
    tie: Tie = "document",
    depth: int | None = None,
    prior: PriorCounts = 1.0,
    iterations: Iterations = ITERATIONS,
    floor: Floor = 0.0,
) -> ClickModels:
    """Fit click models to a log.

    log         as for `read_log`, with the lists shown
    models      "dbn(gamma=0.9) ubm": ctr, cm, dcm, sdbn, dbn, ccm, reader, pbm, ubm
    test_log    another log to test the models on; None: the same
    qrels       the judgments if grades share parameters, as for `evaluate`
    tie         "document": each document of a topic has its own parameters; "grade": documents of a grade share them
    depth       cut lists to this depth
    prior       prior count of clicks and of skips for each item, or a pair of these counts; 0 for none
    iterations  number of EM iterations
    floor       see `ClickModel.predicts`

    Raises InputError for an invalid model, option or log.

    >>> models = gradedeval.clicks.models("qrels_samples/rivers-clicks.tsv", "sdbn pbm")
    >>> {name: round(prediction.ll_session, 3) for name, prediction in models.predictions.items()}
    {'sdbn': -0.925, 'pbm': -1.202}
    """
    log, specs = read_log(log, depth=depth), read_models(models if isinstance(models, str) else list(models))
    if not specs:
        raise InputError(MODEL, "no click model given", f"name one, such as {MODEL:dbn}", usage=True)
    check_choice(tie, TIES, flag.tie)
    counted, floor = pair(prior), ranges.FLOOR.check(floor)
    iterations = ranges.ITERATIONS.check(iterations)
    qrels = qrels if qrels is None or isinstance(qrels, kernel.Qrels) else kernel.Qrels(qrels)
    log, notes = keep_listed(log)
    tested, test_notes = (log, []) if test_log is None else keep_listed(read_log(test_log, depth=depth))
    items = items_of(log, tie, qrels)
    cells = items.cells(log)
    fitted = {str(spec): fit_model(spec, items, cells, counted, iterations) for spec in specs}
    predictions = {name: model._predicts(tested, floor) for name, model in fitted.items()}
    if qrels is not None and tie == "document":
        problem = f"{qrels.place} is not used: documents have parameters of their own"
        notes.append(Note(f"{problem}; {flag.tie:grade} takes grades"))
    notes += [*test_notes, *_notes(log, tested, fitted, predictions, floor)]
    settings = _describe(log, None if test_log is None else tested, tie, counted, iterations, floor)
    return ClickModels(fitted, predictions, "" if test_log is None else tested.place, settings, emit_notes(notes))
