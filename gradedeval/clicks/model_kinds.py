"""The kinds of click models: their transitions, their estimation, and the quality of their predictions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from gradedeval import kernel
from gradedeval.arrays import Bools, Floats, Ints, np
from gradedeval.errors import InputError, did_you_mean, flag

# Sessions as arrays of items and clicks.


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """Sessions, rank by rank in memory; sessions with equal items and clicks are one counted column.

    item   ranks × columns: the index of the document or grade; `items` if unknown, `items` + 1 past the end of a list
    click  ranks × columns: whether it was clicked
    count  columns: number of sessions
    items  number of documents or grades with parameters
    """

    item: Ints
    click: Bools
    count: Ints
    items: int

    @cached_property
    def shown(self) -> Bools:
        """ranks × columns: whether the list reaches this rank."""
        return self.item <= self.items

    @cached_property
    def weight(self) -> Floats:
        """ranks × columns: the number of sessions, 0 past the end of a list."""
        return np.where(self.shown, self.count.astype(np.float64), 0.0)

    @cached_property
    def last(self) -> Ints:
        """ranks × columns: the rank of the last click above, from 1; 0 without one."""
        rank = np.arange(1, len(self.click) + 1)[:, None]
        clicked = np.maximum.accumulate(np.where(self.click, rank, 0), axis=0)
        return np.vstack([np.zeros_like(clicked[:1]), clicked[:-1]])

    @cached_property
    def clicked_below(self) -> Bools:
        """ranks × columns: whether a document further down was clicked."""
        below = np.logical_or.accumulate(self.click[::-1], axis=0)[::-1]
        return np.vstack([below[1:], np.zeros_like(below[:1])])

    @cached_property
    def goes_on(self) -> Bools:
        """ranks × columns: whether there is a rank below."""
        return np.vstack([self.shown[1:], np.zeros_like(self.shown[:1])])

    def by_item(self, values: Floats | Bools) -> Floats:
        """Return for each item, and for unknown items: the sum of ranks × columns over all sessions."""
        weights = (self.weight * values).ravel()
        return np.bincount(self.item.ravel(), weights, minlength=self.items + 2)[:-1].astype(np.float64)

    def values_of(self, parameter: Floats) -> Floats:
        """Return ranks × columns: the values of a parameter of items; 0 past the end of a list."""
        return np.asarray(np.append(parameter, 0.0)[self.item])


# The E-step of click models in which users go down the list.


def filter_examination(
    click: Bools, attracts: Floats, after_click: Floats, after_skip: Floats
) -> tuple[Floats, Floats]:
    """Return (ranks + 1) × columns, the probability that the rank is examined, and ranks × columns, the probability of
    a click, both given the clicks above it: rank by rank, all sessions at once.

    click        ranks × columns: whether the rank was clicked
    attracts     ranks × columns: the probability of a click if examined
    after_click  ranks × columns: the probability of going on after a click, and `after_skip` without
    """
    filtered, chance = np.ones((len(click) + 1, click.shape[1])), np.empty(click.shape)
    for rank, (clicked, a) in enumerate(zip(click, attracts, strict=True)):
        chance[rank] = a * filtered[rank]
        skipped = 1 - chance[rank]
        on = filtered[rank] * (1 - a) * after_skip[rank] / np.where(skipped > 0, skipped, 1)
        filtered[rank + 1] = np.where(clicked, after_click[rank], on)
    return filtered, chance


def smooth_examination(
    click: Bools, attracts: Floats, after_click: Floats, after_skip: Floats
) -> tuple[Floats, Floats]:
    """Return (ranks + 1) × columns, the probability that the rank is examined, given all clicks, by a forward and a
    backward pass; and the probabilities of clicks as in `filter_examination`, which has the same parameters."""
    filtered, chance = filter_examination(click, attracts, after_click, after_skip)
    smoothed = filtered.copy()
    # The probability of the clicks from here on if this rank is examined, and if not, up to a factor.
    here, not_here = np.ones((2, click.shape[1]))
    for rank in range(len(click) - 1, -1, -1):
        clicked = click[rank]
        on = np.where(clicked, after_click[rank], after_skip[rank])
        below = on * here + (1 - on) * not_here
        here = np.where(clicked, attracts[rank], 1 - attracts[rank]) * below
        not_here = np.where(clicked, 0.0, not_here)
        largest = np.maximum(here, not_here)
        scale = np.where(largest > 0, largest, 1)
        here, not_here = here / scale, not_here / scale
        both = filtered[rank] * here + (1 - filtered[rank]) * not_here
        smoothed[rank] = np.where(both > 0, filtered[rank] * here / np.where(both > 0, both, 1), filtered[rank])
    return smoothed, chance


# Click models of users who go down the list: cascade, dependent click, dynamic Bayesian, click chain, and a reader.


Parameters = dict[str, Floats]
"""Estimates of a model: `attractiveness` and `satisfaction` of items, the last value of unknown items; `continuation`
and `examination` of ranks; scalars such as `gamma`."""
Prior = tuple[float, float]
"""Prior counts of successes and failures of each item."""
Transitions = Callable[[Parameters, Cells], tuple[Floats, Floats]]
"""The probability of going on after a click, and after a skip, of each cell."""


def share(part: Floats, whole: Floats, prior: Prior) -> Floats:
    """Return `part` / `whole`, both with the prior counts added; ½ if `whole` is 0."""
    part, whole = part + prior[0], whole + sum(prior)
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 0.5)


def fill_cells(cells: Cells, value: Floats | float) -> Floats:
    """Return the same value in all cells."""
    return np.broadcast_to(np.asarray(value, dtype=np.float64), cells.click.shape)


def always(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """Return the transitions of a user who examines the whole list."""
    return fill_cells(cells, 1), fill_cells(cells, 1)


def cascade(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """Return the transitions of a user who stops at the first click. Craswell et al., WSDM 2008."""
    return fill_cells(cells, 0), fill_cells(cells, 1)


def dependent(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """Return transitions with a continuation probability by rank after a click. Guo et al., WSDM 2009."""
    continuation = parameters["continuation"]
    by_rank = np.full(len(cells.click), 0.5)
    by_rank[: len(continuation)] = continuation[: len(by_rank)]
    return fill_cells(cells, by_rank[:, None]), fill_cells(cells, 1)


def bayesian(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """Return transitions with γ, 1 if simplified, unless a click satisfies. Chapelle & Zhang, WWW 2009."""
    gamma = parameters.get("gamma", np.array(1.0))
    return gamma * (1 - cells.values_of(parameters["satisfaction"])), fill_cells(cells, gamma)


def chain(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """Return transitions with three probabilities: no click, a useless and a useful click. Guo et al., WWW 2009."""
    a = cells.values_of(parameters["attractiveness"])
    skip, useless, useful = (parameters[f"tau{number}"] for number in (1, 2, 3))
    return useless * (1 - a) + useful * a, fill_cells(cells, skip)


def reader(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """Return transitions with probability p, clicked or not, as in RBP. Moffat & Zobel, TOIS 2008."""
    return fill_cells(cells, parameters["p"]), fill_cells(cells, parameters["p"])


def attraction(parameters: Parameters, cells: Cells, seen: Floats) -> Floats:
    """Return ranks × columns: the probability that the document attracts: 1 if clicked, a if not examined. `seen`, here
    and in M-steps: the probability of examination, given all clicks."""
    return np.where(cells.click, 1.0, cells.values_of(parameters["attractiveness"]) * (1 - seen[:-1]))


def estimate_share(cells: Cells, part: Floats | Bools, whole: Floats | Bools, prior: Prior) -> Floats:
    """Return for each item `part` / `whole`, both ranks × columns."""
    return share(cells.by_item(part), cells.by_item(whole), prior)


def bayesian_step(parameters: Parameters, cells: Cells, seen: Floats, prior: Prior, free: bool) -> Parameters:
    """Run the M-step of `bayesian`; estimate γ if it is free."""
    gamma, s, below = parameters["gamma"], cells.values_of(parameters["satisfaction"]), seen[1:]
    # A user who stops after a click is satisfied or gives up.
    satisfied = (1 - below) * kernel.gains.safe_divide(s, s + (1 - gamma) * (1 - s))
    updated = {
        "attractiveness": estimate_share(cells, attraction(parameters, cells, seen), cells.shown, prior),
        "satisfaction": estimate_share(cells, cells.click * satisfied, cells.click, prior),
        "gamma": gamma,
    }
    if free:
        unsatisfied = np.where(cells.click, 1 - satisfied, seen[:-1])
        updated["gamma"] = _rate(cells, below, unsatisfied)
    return updated


def reader_step(parameters: Parameters, cells: Cells, seen: Floats, prior: Prior, free: bool) -> Parameters:
    """Run the M-step of `reader`; estimate p if it is free."""
    a = estimate_share(cells, attraction(parameters, cells, seen), cells.shown, prior)
    return {"attractiveness": a, "p": _rate(cells, seen[1:], seen[:-1]) if free else parameters["p"]}


def dependent_step(parameters: Parameters, cells: Cells, seen: Floats, prior: Prior, free: bool) -> Parameters:
    """Run the M-step of `dependent`."""
    a = estimate_share(cells, attraction(parameters, cells, seen), cells.shown, prior)
    clicked = cells.weight * cells.goes_on * cells.click
    return {"attractiveness": a, "continuation": share((clicked * seen[1:]).sum(1), clicked.sum(1), prior)}


def chain_step(parameters: Parameters, cells: Cells, seen: Floats, prior: Prior, free: bool) -> Parameters:
    """Run the M-step of `chain`: a is the probability both of attracting and of being useful."""
    a, below = cells.values_of(parameters["attractiveness"]), seen[1:]
    useless, useful = parameters["tau2"], parameters["tau3"]
    on = kernel.gains.safe_divide(useful * a, useful * a + useless * (1 - a))
    off = kernel.gains.safe_divide((1 - useful) * a, (1 - useful) * a + (1 - useless) * (1 - a))
    useful_on, useful_off = cells.click * below * on, cells.click * (1 - below) * off
    useless_on = cells.click * below * (1 - on)
    attracts = attraction(parameters, cells, seen) + useful_on + useful_off
    return {
        "attractiveness": estimate_share(cells, attracts, cells.shown.astype(np.float64) + cells.click, prior),
        "tau1": _rate(cells, ~cells.click * below, ~cells.click * seen[:-1]),
        "tau2": _rate(cells, useless_on, cells.click - useful_on - useful_off),
        "tau3": _rate(cells, useful_on, useful_on + useful_off),
    }


def _rate(cells: Cells, part: Floats, whole: Floats) -> Floats:
    """Return `part` / `whole` over all cells with a rank below; ½ if there is none."""
    weight = cells.weight * cells.goes_on
    return share((weight * part).sum(), (weight * whole).sum(), (0.0, 0.0))


def stop_satisfied(cells: Cells, prior: Prior) -> Parameters:
    """Estimate `simplified` in closed form: users stopped satisfied at their last click, or saw the whole list."""
    seen = cells.click | cells.clicked_below | ~cells.click.any(0)
    attractiveness = estimate_share(cells, cells.click, seen, prior)
    satisfaction = estimate_share(cells, cells.click & ~cells.clicked_below, cells.click, prior)
    return {"attractiveness": attractiveness, "satisfaction": satisfaction}


def stop_at_first(cells: Cells, prior: Prior) -> Parameters:
    """Estimate the cascade model in closed form: a list was examined down to its first click."""
    first = cells.last == 0
    return {"attractiveness": estimate_share(cells, cells.click & first, first, prior)}


# Click models with examination by rank: position-based, and the user browsing model.


def examination_matrix(parameters: Parameters, ranks: int) -> Floats:
    """Return ranks × last clicked rank above (0: none): the probability of examination; ½ for unknown ranks.

    The columns of the position-based model are equal. Craswell et al., WSDM 2008; Dupret & Piwowarski, SIGIR 2008.
    """
    known_ranks, matrix = parameters["examination"][:ranks], np.full((ranks, ranks), 0.5)
    if known_ranks.ndim == 1:
        matrix[: len(known_ranks)] = known_ranks[:, None]
    else:
        matrix[: len(known_ranks), : len(known_ranks)] = known_ranks[:, :ranks]
    return matrix


def examination_of_cells(parameters: Parameters, cells: Cells) -> Floats:
    """Return ranks × columns: the probability of examination, given the clicks above."""
    ranks = len(cells.click)
    return np.asarray(examination_matrix(parameters, ranks)[np.arange(ranks)[:, None], cells.last])


def marginal_positional(parameters: Parameters, cells: Cells) -> Floats:
    """Return ranks × columns: the probability of a click, regardless of clicks above."""
    a = cells.values_of(parameters["attractiveness"])
    chances, by_last = np.zeros(a.shape), examination_matrix(parameters, len(a))
    # (ranks + 1) × columns: the probability that the last click so far was at this rank.
    last = np.zeros((len(a) + 1, a.shape[1]))
    last[0] = 1
    for rank in range(len(a)):
        clicked = a[rank] * by_last[rank][:, None] * last[:-1]
        chances[rank] = clicked.sum(0)
        last[:-1] -= clicked
        last[rank + 1] += chances[rank]
    return chances


def scale_examination(parameters: Parameters) -> Parameters:
    """Scale the examination of rank 1 to 1: only products of attractiveness and examination can be estimated.

    Attractiveness becomes the probability of a click at rank 1, and examination is relative to rank 1; it may exceed 1,
    but products do not. Without examination of rank 1 the parameters stay unscaled.
    """
    first = parameters["examination"].flat[0]
    if not first > 0:
        return parameters
    return {"attractiveness": parameters["attractiveness"] * first, "examination": parameters["examination"] / first}


def position_step(parameters: Parameters, cells: Cells, prior: Prior) -> tuple[Parameters, Floats]:
    """Return updated parameters by EM, and the chances of clicks by the previous ones."""
    a, e = cells.values_of(parameters["attractiveness"]), examination_of_cells(parameters, cells)
    chance = a * e
    attracts = np.where(cells.click, 1.0, kernel.gains.safe_divide(a - chance, 1 - chance))
    looked = np.where(cells.click, 1.0, kernel.gains.safe_divide(e - chance, 1 - chance))
    examination = _by_rank(cells, looked, prior, parameters["examination"].ndim == 2)
    return {"attractiveness": estimate_share(cells, attracts, cells.shown, prior), "examination": examination}, chance


def _by_rank(cells: Cells, looked: Floats, prior: Prior, by_last: bool) -> Floats:
    """Estimate the examination of each rank: ranks, or ranks × last clicked rank above."""
    if not by_last:
        return share((cells.weight * looked).sum(1), cells.weight.sum(1), prior)
    ranks = len(cells.click)
    cell = (np.arange(ranks)[:, None] * ranks + cells.last).ravel()
    part, whole = (
        np.bincount(cell, values.ravel(), minlength=ranks**2).astype(np.float64)
        for values in (cells.weight * looked, cells.weight)
    )
    return share(part, whole, prior).reshape(ranks, ranks)


# The click models by name.


FIT = "fit"
"""The value of a parameter to estimate."""


@dataclass(frozen=True, eq=False, repr=False)
class Kind:
    """A click model.

    title        the behavior of its users, with its source
    transitions  continuation from rank to rank; None if examination depends on the position
    m_step       the M-step of a user who goes down the list; the last argument: whether `number` is free
    closed       cells, prior -> parameters, in closed form; None if estimated by EM
    number       the parameter in its notation, and its default; nan: estimated
    start        initial scalars of EM; parameters of items start from ½
    shares       parameters of items
    """

    title: str
    transitions: Transitions | None = None
    m_step: Callable[[Parameters, Cells, Floats, Prior, bool], Parameters] | None = None
    closed: Callable[[Cells, Prior], Parameters] | None = None
    number: tuple[str, float] | None = None
    start: tuple[tuple[str, float], ...] = ()
    shares: tuple[str, ...] = ("attractiveness",)

    def conditional(self, parameters: Parameters, cells: Cells) -> Floats:
        """Return ranks × columns: the probability of a click, given the clicks above."""
        a = cells.values_of(parameters["attractiveness"])
        if self.transitions is None:
            return a * examination_of_cells(parameters, cells)
        return filter_examination(cells.click, a, *self.transitions(parameters, cells))[1]

    def marginal(self, parameters: Parameters, cells: Cells) -> Floats:
        """Return ranks × columns: the probability of a click, regardless of clicks above."""
        if self.transitions is None:
            return marginal_positional(parameters, cells)
        a, (after_click, after_skip) = (
            cells.values_of(parameters["attractiveness"]),
            self.transitions(parameters, cells),
        )
        going = a * after_click + (1 - a) * after_skip
        return a * np.vstack([np.ones_like(a[:1]), np.cumprod(going[:-1], axis=0)])


BOTH = ("attractiveness", "satisfaction")
KINDS: dict[str, Kind] = {
    "ctr": Kind("click rate: every document is examined, at any rank", always,
        closed=lambda cells, prior: {"attractiveness": estimate_share(cells, cells.click, cells.shown, prior)}),
    "cm": Kind("cascade: down to the first click; Craswell et al., WSDM 2008", cascade,
        closed=stop_at_first),
    "dcm": Kind("dependent click: down to a click, and on with a chance of the rank; Guo et al., WSDM 2009",
        dependent, dependent_step),
    "sdbn": Kind("simplified DBN: down to the document that satisfies; Chapelle & Zhang, WWW 2009",
        bayesian, closed=stop_satisfied, shares=BOTH),
    "dbn": Kind("dynamic Bayesian network: the same, and on with probability gamma; Chapelle & Zhang, WWW 2009",
        bayesian, bayesian_step, number=("gamma", 0.9), start=(("gamma", 0.9),), shares=BOTH),
    "ccm": Kind("click chain: on with three chances: after none, a useless and a useful click; Guo et al., WWW 2009",
        chain, chain_step, start=(("tau1", 0.9), ("tau2", 0.5), ("tau3", 0.5))),
    "reader": Kind("a reader of RBP: goes on with probability p, clicked or not; Moffat & Zobel, TOIS 2008",
        reader, reader_step, number=("p", math.nan), start=(("p", 0.5),)),
    "pbm": Kind("position-based: examination depends on the rank; Craswell et al., WSDM 2008"),
    "ubm": Kind("user browsing: it depends on the rank and the last click above; Dupret & Piwowarski, SIGIR 2008"),
}  # fmt: skip
"""The models, in the order of the documentation."""


@dataclass(frozen=True)
class ModelSpec:
    """A click model's name and the value of its `number`; nan to estimate it."""

    name: str
    value: float = math.nan

    def __str__(self) -> str:
        number = self.kind.number
        if number is None:
            return self.name
        return f"{self.name}({number[0]}={FIT if math.isnan(self.value) else kernel.notation.write_value(self.value)})"

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def free(self) -> bool:
        """Whether the number is estimated."""
        return math.isnan(self.value)

    def start(self, cells: Cells) -> Parameters:
        """Return the initial parameters of EM."""
        parameters: Parameters = {name: np.full(cells.items + 1, 0.5) for name in self.kind.shares}
        parameters |= {name: np.array(value) for name, value in self.kind.start}
        if self.kind.number is not None and not self.free:
            parameters[self.kind.number[0]] = np.array(self.value)
        ranks = len(cells.click)
        if self.name == "dcm":
            parameters["continuation"] = np.full(ranks, 0.5)
        if self.kind.transitions is None:
            parameters["examination"] = np.full((ranks, ranks) if self.name == "ubm" else ranks, 0.5)
        return parameters

    def step(self, parameters: Parameters, cells: Cells, prior: Prior) -> tuple[Parameters, Floats]:
        """Return updated parameters by EM, and ranks × columns: the chances of clicks by the previous ones."""
        if self.kind.transitions is None or self.kind.m_step is None:
            return position_step(parameters, cells, prior)
        attracts, transitions = cells.values_of(parameters["attractiveness"]), self.kind.transitions(parameters, cells)
        seen, chance = smooth_examination(cells.click, attracts, *transitions)
        return self.kind.m_step(parameters, cells, seen, prior, self.free), chance


def read_models(texts: str | tuple[str, ...] | list[str]) -> list[ModelSpec]:
    """Read click models as in "dbn(gamma=fit) ubm". Raises InputError (usage) for an unknown one or parameter."""
    each = map(kernel.notation.split_words, [texts] if isinstance(texts, str) else texts)
    return list(dict.fromkeys(_read(word) for words in each for word in words))


def _read(word: str) -> ModelSpec:
    hint = f"choose from {', '.join(KINDS)}, as in 'dbn(gamma={FIT})'"
    try:
        spelling = kernel.notation.read_notation(word)[0]
    except InputError:
        raise InputError(f"'{word}'", "is not a click model", hint, usage=True) from None
    if spelling.name not in KINDS:
        raise InputError(f"'{word}'", "is not a click model", did_you_mean(spelling.name, KINDS) or hint, usage=True)
    number, arguments = KINDS[spelling.name].number, dict(spelling.parameters)
    if spelling.cutoff is not None:
        raise InputError(f"'{word}'", "a click model has no cutoff", f"{flag.depth} cuts the lists", usage=True)
    for name in arguments:
        if number is None or name != number[0]:
            hint_number = f"its parameter is {number[0]}" if number else "it has no parameters"
            raise InputError(f"'{word}'", f"no parameter '{name}'", hint_number, usage=True)
    if number is None:
        return ModelSpec(spelling.name)
    value = arguments.get(number[0], number[1])
    if value == FIT:
        return ModelSpec(spelling.name)
    if not isinstance(value, int | float) or not (math.isnan(value) or 0 < value <= 1):
        hint = f"give a number above 0, at most 1, or {FIT} to estimate it"
        raise InputError(f"'{word}'", f"invalid value of {number[0]}", hint, usage=True)
    return ModelSpec(spelling.name, float(value))


# Quality of predictions: log-likelihood and perplexity, by session and by rank.


MEANS = {"perplexity": "by_rank", "per click": "by_click", "per skip": "by_skip", "unconditional": "unconditional"}
"""Name of the arithmetic mean over ranks -> field of `Prediction`."""


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """Quality of the predictions of sessions.

    sessions      number of sessions
    ll_session    mean ln P(C) of a session
    ll_rank       mean over sessions of the mean of ln P(C_k | C_<k) over the ranks shown
    by_rank       ranks: perplexity, 2^(−mean log2 P(C_k | C_<k))
    by_click      ranks: the same over the sessions that clicked the rank; nan without one
    by_skip       ranks: the same over the others
    unconditional ranks: the perplexity of P(C_k), regardless of clicks above
    unseen        documents unknown to the model, of `shown`: their parameters are ½
    """

    sessions: int
    ll_session: float
    ll_rank: float
    by_rank: Floats
    by_click: Floats
    by_skip: Floats
    unconditional: Floats
    unseen: int
    shown: int

    def mean(self, name: str) -> float:
        """Return the mean over ranks of `by_rank`, `by_click`, `by_skip` or `unconditional`; nan if all are nan."""
        values = getattr(self, name)[~np.isnan(getattr(self, name))]
        return float(values.mean()) if len(values) else np.nan


def log_chances(chance: Floats, cells: Cells, floor: float = 0.0) -> Floats:
    """Return ranks × columns: ln of the probability of the click or skip, at least `floor`; 0 past the end."""
    probability = np.where(cells.click, chance, 1 - chance)
    with np.errstate(divide="ignore"):
        logs: Floats = np.where(cells.shown, np.log(np.maximum(probability, floor)), 0.0)
    return logs


def evaluate_predictions(conditional: Floats, marginal: Floats, cells: Cells, floor: float = 0.0) -> Prediction:
    """Evaluate predictions of sessions by the chances of clicks, ranks × columns."""
    logs, total = log_chances(conditional, cells, floor), float(cells.count.sum())
    lengths = np.maximum(cells.shown.sum(0), 1)
    return Prediction(
        int(total),
        float((logs.sum(0) * cells.count).sum() / total),
        float((logs.sum(0) / lengths * cells.count).sum() / total),
        _perplexity(logs, cells, cells.shown),
        _perplexity(logs, cells, cells.click),
        _perplexity(logs, cells, cells.shown & ~cells.click),
        _perplexity(log_chances(marginal, cells, floor), cells, cells.shown),
        int((cells.weight * (cells.item == cells.items)).sum()),
        int(cells.weight.sum()),
    )


def _perplexity(logs: Floats, cells: Cells, mask: Bools) -> Floats:
    """Return for each rank exp(−mean) of the logarithms over masked cells; nan if there are none."""
    weight = cells.weight * mask
    counted, summed = weight.sum(1), (np.where(mask, logs, 0.0) * weight).sum(1)
    mean = np.where(counted > 0, summed / np.where(counted > 0, counted, 1), np.nan)
    return np.exp(-mean)
