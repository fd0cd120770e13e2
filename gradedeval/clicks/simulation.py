"""Draw sessions from a click model, or from the user that a measure describes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.arrays import Bools, Floats, Ints, np
from gradedeval.clicks import model_kinds
from gradedeval.clicks.click_measures import gains_of_lists, lists_of
from gradedeval.clicks.click_models import ClickModel, read_model
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.model_kinds import Cells
from gradedeval.errors import InputError, emit_notes, public
from gradedeval.kernel import Measure, OptionKwargs, Options, Setting, parse_measures, ranges, resolve_options

SESSIONS, DEPTH, SEED = 100_000, 10, 0
OF_MODEL = "users of a click model"
AT_ONCE = 1 << 17
"""Sessions drawn at a time; the draws of a seed depend on it."""


@dataclass(frozen=True, eq=False, repr=False)
class Users:
    """Behavior of users on some lists. Arrays are ranks × lists.

    attracts     the probability of a click if examined; 0 past the end of a list
    after_click  the probability of going on to the next rank after a click, and `after_skip` without
    looks        rank × last clicked rank above (0: none): the probability of examination by position; None if users go
                 down the list by the probabilities above
    """

    attracts: Floats
    after_click: Floats
    after_skip: Floats
    looks: Floats | None = None

    def clicks(self, chosen: Ints, generator: np.random.Generator) -> Bools:
        """Draw ranks × sessions: the clicks of users on the lists chosen."""
        clicked = np.zeros((len(self.attracts), len(chosen)), dtype=bool)
        going, last = np.ones(len(chosen), dtype=bool), np.zeros(len(chosen), dtype=np.int64)
        for rank, attracts in enumerate(self.attracts):
            draw, go = generator.random((2, len(chosen)))
            if self.looks is not None:
                clicked[rank] = draw < attracts[chosen] * self.looks[rank][last]
                last[clicked[rank]] = rank + 1
                continue
            clicked[rank] = going & (draw < attracts[chosen])
            on = np.where(clicked[rank], self.after_click[rank][chosen], self.after_skip[rank][chosen])
            going &= go < on
        return clicked


def users_of_model(model: ClickModel, lists: ClickLog) -> Users:
    """Return the users of a fitted model, on the lists of a log."""
    item = model.items.of(lists).T
    none, once = np.zeros(item.shape, dtype=bool), np.ones(item.shape[1], dtype=np.int64)
    cells = Cells(item, none, once, len(model.items.names))
    attracts = cells.values_of(model.parameters["attractiveness"])
    if model.spec.kind.transitions is None:
        return Users(attracts, attracts, attracts, model_kinds.examination_matrix(model.parameters, len(attracts)))
    return Users(attracts, *model.spec.kind.transitions(model.parameters, cells))


def notes_on_unknown(model: ClickModel, lists: ClickLog) -> list[str]:
    """Return notes on documents and ranks without parameters in the model."""
    item, size = model.items.of(lists), len(model.items.names)
    notes, unknown = [], int((item == size).sum())
    if unknown:
        counts = f"{unknown} of {int(lists.lengths.sum())} documents shown have no parameters in {model}"
        notes.append(f"{counts}; 0.5 is used")
    if model.ranks is not None and item.shape[1] > model.ranks:
        notes.append(f"ranks below {model.ranks} have no parameters in {model}; 0.5 is used")
    return notes


def users_of_measure(measure: Measure, lists: ClickLog, qrels: kernel.Qrels, options: Options) -> Users:
    """Return the users of a measure.

    The reader of a C/W/L measure goes on from rank i with probability C(i) and clicks with the gain of the document;
    the user of err, rr or cascade stops at the first click. Azzopardi et al., ICTIR 2021; Chapelle et al., CIKM 2009,
    section 3. Raises InputError (usage) for other measures, and InputError if a gain is above 1.
    """
    gains = gains_of_lists(lists, qrels, measure, options)
    details = {} if measure.by_intent else measure.details(gains)
    if not measure.definition.cwl and "stops" not in details:
        hint = "name a C/W/L measure, such as rbp(p=0.8), or err, rr or cascade"
        raise InputError(f"'{measure}'", "has no user who looks and clicks", hint, usage=True)
    ranks = max(map(len, lists.shown))
    attracts = _to_width(gains.gain, ranks).T
    if measure.cutoff is not None:
        attracts[measure.cutoff :] = 0
    if attracts.max(initial=0) > 1:
        problem = f"gain {attracts.max():g} is not a probability of a click"
        raise InputError(f"'{measure}'", problem, "choose gains from 0 to 1, as in gain=0:0.3:0.7")
    if measure.definition.cwl:
        continuation = _to_width(details["C"], ranks).T
        return Users(attracts, continuation, continuation)
    continuation = np.full(attracts.shape, float(measure.arguments.get("gamma", 1)))  # type: ignore[arg-type]
    return Users(attracts, np.zeros(continuation.shape), continuation)


def _to_width(values: Floats, ranks: int) -> Floats:
    """Pad lists × ranks with 0, or cut them, to a number of ranks."""
    return np.pad(values[:, :ranks], ((0, 0), (0, max(0, ranks - values.shape[1]))))


def draw_sessions(users: Users, lists: ClickLog, sessions: int, seed: int) -> ClickLog:
    """Draw sessions on lists: uniformly, or by their sessions in the log; count identical ones."""
    generator, parts = np.random.default_rng(seed), []
    weights = np.bincount(lists.configuration, lists.count, minlength=len(lists.topics))
    shares = np.cumsum(weights) / weights.sum() if weights.any() else None
    for begin in range(0, sessions, AT_ONCE):
        size = min(AT_ONCE, sessions - begin)
        if shares is None:
            chosen = generator.integers(len(lists.topics), size=size)
        else:
            chosen = np.searchsorted(shares, generator.random(size), side="right")
        clicked = users.clicks(chosen, generator).T
        parts.append((chosen, np.packbits(clicked, axis=1)))
    chosen, bits = (np.concatenate(column) for column in zip(*parts, strict=True))
    keys = np.ascontiguousarray(bits).view([("", bits.dtype)] * bits.shape[1]).ravel()
    distinct, pattern = np.unique(keys, return_inverse=True)
    rows = np.unpackbits(distinct.view(bits.dtype).reshape(len(distinct), -1), axis=1)[:, : len(users.attracts)]
    patterns = [tuple((np.flatnonzero(row) + 1).tolist()) for row in rows]
    count = np.ones(len(chosen), dtype=np.int64)
    log = replace(lists, patterns=patterns, configuration=chosen, pattern=pattern.ravel(), count=count)
    return replace(log, user=None, columns={}).collapsed()


# `gradedeval clicks simulate RUN... QRELS`.


As = Annotated["ClickModel | kernel.AnyMeasure | os.PathLike[str]", Setting("Simulate the users of a measure: of err, "
    "rr or cascade they stop at the first click, made with the probability of the gain; of a C/W/L measure they go on "
    "by its C, and click with the probability of the gain.", metavar="MEASURE", spelled=("--as",),
    measure="one", short="Simulate the users of this measure.")]  # fmt: skip
Sessions = Annotated[int, Setting("Number of sessions.", ranges.SESSIONS, "N")]
Seed = Annotated[int, Setting("Random seed; the same draws the same sessions.", ranges.SEED, "N")]


@kernel.takes_options("reading")
@public
@kernel.options.lists_options
def simulate(
    users: As,
    runs: Any,
    qrels: Any = None,
    *,
    sessions: Sessions = SESSIONS,
    seed: Seed = SEED,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> ClickLog:
    """Draw sessions from a click model, or from the user that a measure describes.

    users     a `ClickModel`, its file, or a measure: users of err, rr and cascade stop at the first click; the reader
              of a C/W/L measure goes on with C(i) and clicks on a viewed document with the probability of its gain
    runs      the source of the lists shown: each topic's first documents, drawn uniformly
    qrels     the judgments; not needed by a model with parameters for each document
    sessions  number of sessions
    seed      the same seed gives the same sessions
    keywords  options; depth, the length of the lists, is 10 by default

    Returns a `ClickLog`. Raises InputError if a measure has no user, a gain is not a probability, or a file is invalid.

    >>> run, qrels = {"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d1": 1, "d2": 4}}
    >>> log = gradedeval.clicks.simulate("err", run, qrels, sessions=1000)
    >>> log.frame()
      topic clicks     shown  count
    0    q1     []  [d1, d2]     51
    1    q1    [2]  [d1, d2]    901
    2    q1    [1]  [d1, d2]     48
    """
    user, options = read_users(users, keywords), resolve_options(like, **keywords)
    sessions, seed = ranges.SESSIONS.check(sessions), ranges.SEED.check(seed)
    graded = isinstance(user, Measure) or user.items.tie == "grade"
    if qrels is None and graded:
        raise InputError("", "the grades of documents are needed", "add QRELS", usage=True)
    named = kernel.named_runs(runs, qrels)
    judged = kernel.Qrels.empty() if qrels is None else kernel.qrels_for(named, qrels, options)
    lists, notes = lists_of(named, judged, options, options.depth or DEPTH)
    if isinstance(user, ClickModel):
        user = replace(user, items=replace(user.items, qrels=judged)) if graded else user
        behavior, notes = users_of_model(user, lists), [*notes, *notes_on_unknown(user, lists)]
    else:
        behavior = users_of_measure(user, lists, judged, options)
        notes = [*notes, *kernel.Scorer(judged, [user], options).unused_notes]
    return replace(draw_sessions(behavior, lists, sessions, seed), place="<simulated>", notes=emit_notes(notes))


def read_users(users: Any, keywords: Mapping[str, Any]) -> ClickModel | Measure:
    """Return a click model, read from its file if needed, or a measure. Raises InputError (usage) otherwise."""
    if isinstance(users, os.PathLike) or (isinstance(users, str) and kernel.stream.is_named(users)):
        users = read_model(users)
    if isinstance(users, ClickModel):
        kernel.options.refuse_options(keywords, OF_MODEL, [kernel.options.GAINS])
        return users
    measures = parse_measures(users)
    if len(measures) != 1:
        raise InputError("users", f"{len(measures)} measures", "name one, such as err", usage=True)
    return measures[0]
