"""The kinds of click models: how they see sessions, by position or going down a list, and how well they predict."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from gradedeval import kernel
from gradedeval.arrays import Bools, Floats, Ints, np
from gradedeval.errors import InputError, did_you_mean, flag

# Sessions as click models see them: which parameter stands at each rank, and whether it was clicked.


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """Sessions, rank below rank in memory; those that show the same and click the same are one column, counted.

    item   ranks × columns: the number of the document or grade; `items` where it is none of them, and `items` + 1 past
           the end of a list
    click  ranks × columns: whether it was clicked
    count  columns: how many sessions
    items  how many documents or grades have parameters
    """

    item: Ints
    click: Bools
    count: Ints
    items: int

    @cached_property
    def shown(self) -> Bools:
        """ranks × columns: whether the list goes down to this rank."""
        return self.item <= self.items

    @cached_property
    def weight(self) -> Floats:
        """ranks × columns: how many sessions, 0 past the end of a list."""
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
        """items, and those without parameters: the sum of ranks × columns over all sessions."""
        weights = (self.weight * values).ravel()
        return np.bincount(self.item.ravel(), weights, minlength=self.items + 2)[:-1].astype(np.float64)

    def at(self, parameter: Floats) -> Floats:
        """ranks × columns: what a parameter of items, and of those without, is; 0 past the end of a list."""
        found: Floats = np.append(parameter, 0.0)[self.item]
        return found


# Whether a user examined a rank, given what was clicked: the E-step of the click models in which users go down.


@dataclass(frozen=True, eq=False, repr=False)
class Examined:
    """What the clicks say of a user who goes down the list. Arrays are (ranks + 1) × columns, but `chance`.

    before  the probability that the rank is examined, given the clicks above it
    chance  ranks × columns: the probability of a click, given the clicks above it
    given   the probability that the rank is examined, given all clicks
    """

    before: Floats
    chance: Floats
    given: Floats


def examined_before(click: Bools, attracts: Floats, after_click: Floats, after_skip: Floats) -> tuple[Floats, Floats]:
    """`Examined.before` and `Examined.chance`: rank by rank, all sessions at once.

    click        ranks × columns: whether the rank was clicked
    attracts     ranks × columns: the probability of a click where it is examined
    after_click  ranks × columns: the probability of going on after a click, and `after_skip` without
    """
    before, chance = np.ones((len(click) + 1, click.shape[1])), np.empty(click.shape)
    for rank, (clicked, a) in enumerate(zip(click, attracts, strict=True)):
        chance[rank] = a * before[rank]
        skipped = 1 - chance[rank]
        on = before[rank] * (1 - a) * after_skip[rank] / np.where(skipped > 0, skipped, 1)
        before[rank + 1] = np.where(clicked, after_click[rank], on)
    return before, chance


def examined(click: Bools, attracts: Floats, after_click: Floats, after_skip: Floats) -> Examined:
    """What the clicks above and below say; parameters as in `examined_before`."""
    before, chance = examined_before(click, attracts, after_click, after_skip)
    given = before.copy()
    # The probability of the clicks from here on, where this rank is examined and where it is not, up to a factor.
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
        both = before[rank] * here + (1 - before[rank]) * not_here
        given[rank] = np.where(both > 0, before[rank] * here / np.where(both > 0, both, 1), before[rank])
    return Examined(before, chance, given)


# Click models of users who go down the list: cascade, dependent click, dynamic Bayesian, click chain, and a reader.


Parameters = dict[str, Floats]
"""What a model has estimated: `attractiveness` and `satisfaction` of items, the last of those that have none of their
own; `continuation` and `examination` of ranks; single numbers such as `gamma`."""
Prior = tuple[float, float]
"""Successes and failures that every share of items is counted with beside those seen."""
Transitions = Callable[[Parameters, Cells], tuple[Floats, Floats]]
"""Of each cell: the probability of going on after a click, and after none."""


def share(part: Floats, whole: Floats, prior: Prior) -> Floats:
    """`part` of `whole`, both counted with those of the prior; ½ where nothing is counted."""
    part, whole = part + prior[0], whole + sum(prior)
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 0.5)


def everywhere(cells: Cells, value: Floats | float) -> Floats:
    """The same value in all cells."""
    return np.broadcast_to(np.asarray(value, dtype=np.float64), cells.click.shape)


def always(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """Whoever starts looks at all of the list."""
    return everywhere(cells, 1), everywhere(cells, 1)


def cascade(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """A user stops at the first click. Craswell et al., WSDM 2008."""
    return everywhere(cells, 0), everywhere(cells, 1)


def dependent(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """After a click a user goes on with a probability of the rank. Guo et al., WSDM 2009."""
    known = parameters["continuation"]
    on = np.full(len(cells.click), 0.5)
    on[: len(known)] = known[: len(on)]
    return everywhere(cells, on[:, None]), everywhere(cells, 1)


def bayesian(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """Whoever is not satisfied by a click goes on with probability γ. Chapelle & Zhang, WWW 2009."""
    gamma = parameters["gamma"]
    return gamma * (1 - cells.at(parameters["satisfaction"])), everywhere(cells, gamma)


def simplified(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """The same with γ = 1."""
    return 1 - cells.at(parameters["satisfaction"]), everywhere(cells, 1)


def chain(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """Going on has three probabilities: after none, after a useless and after a useful click. Guo et al., WWW 2009."""
    a = cells.at(parameters["attractiveness"])
    skip, useless, useful = (parameters[f"tau{number}"] for number in (1, 2, 3))
    return useless * (1 - a) + useful * a, everywhere(cells, skip)


def reader(parameters: Parameters, cells: Cells) -> tuple[Floats, Floats]:
    """A user goes on with probability p whatever is clicked, as that of RBP. Moffat & Zobel, TOIS 2008."""
    return everywhere(cells, parameters["p"]), everywhere(cells, parameters["p"])


def explained(transitions: Transitions, parameters: Parameters, cells: Cells) -> Examined:
    """The E-step: what was examined, by these parameters."""
    return examined(cells.click, cells.at(parameters["attractiveness"]), *transitions(parameters, cells))


def attracted(parameters: Parameters, cells: Cells, seen: Examined) -> Floats:
    """ranks × columns: the probability that the document attracts: 1 if clicked, a where it was not examined."""
    a = cells.at(parameters["attractiveness"])
    return np.where(cells.click, 1.0, a * (1 - seen.given[:-1]))


def estimated(cells: Cells, part: Floats | Bools, whole: Floats | Bools, prior: Prior) -> Floats:
    """items: the share of `whole` that `part` is, both ranks × columns."""
    return share(cells.by_item(part), cells.by_item(whole), prior)


def bayesian_step(parameters: Parameters, cells: Cells, seen: Examined, prior: Prior, free: bool) -> Parameters:
    """The M-step of `bayesian`; γ is estimated if it is free."""
    gamma, s, below = parameters["gamma"], cells.at(parameters["satisfaction"]), seen.given[1:]
    # Who stopped after a click was satisfied, or gave up.
    satisfied = (1 - below) * kernel.gains.safe_divide(s, s + (1 - gamma) * (1 - s))
    found = {
        "attractiveness": estimated(cells, attracted(parameters, cells, seen), cells.shown, prior),
        "satisfaction": estimated(cells, cells.click * satisfied, cells.click, prior),
        "gamma": gamma,
    }
    if free:
        unsatisfied = np.where(cells.click, 1 - satisfied, seen.given[:-1])
        found["gamma"] = _rate(cells, below, unsatisfied)
    return found


def reader_step(parameters: Parameters, cells: Cells, seen: Examined, prior: Prior, free: bool) -> Parameters:
    """The M-step of `reader`; p is estimated if it is free."""
    a = estimated(cells, attracted(parameters, cells, seen), cells.shown, prior)
    return {"attractiveness": a, "p": _rate(cells, seen.given[1:], seen.given[:-1]) if free else parameters["p"]}


def dependent_step(parameters: Parameters, cells: Cells, seen: Examined, prior: Prior, free: bool) -> Parameters:
    """The M-step of `dependent`."""
    a = estimated(cells, attracted(parameters, cells, seen), cells.shown, prior)
    clicked = cells.weight * cells.goes_on * cells.click
    return {"attractiveness": a, "continuation": share((clicked * seen.given[1:]).sum(1), clicked.sum(1), prior)}


def chain_step(parameters: Parameters, cells: Cells, seen: Examined, prior: Prior, free: bool) -> Parameters:
    """The M-step of `chain`: a is both how often a document attracts and how often it is useful."""
    a, below = cells.at(parameters["attractiveness"]), seen.given[1:]
    useless, useful = parameters["tau2"], parameters["tau3"]
    on = kernel.gains.safe_divide(useful * a, useful * a + useless * (1 - a))
    off = kernel.gains.safe_divide((1 - useful) * a, (1 - useful) * a + (1 - useless) * (1 - a))
    useful_on, useful_off = cells.click * below * on, cells.click * (1 - below) * off
    useless_on = cells.click * below * (1 - on)
    both = cells.shown.astype(np.float64) + cells.click
    return {
        "attractiveness": estimated(cells, attracted(parameters, cells, seen) + useful_on + useful_off, both, prior),
        "tau1": _rate(cells, ~cells.click * below, ~cells.click * seen.given[:-1]),
        "tau2": _rate(cells, useless_on, cells.click - useful_on - useful_off),
        "tau3": _rate(cells, useful_on, useful_on + useful_off),
    }


def _rate(cells: Cells, part: Floats, whole: Floats) -> Floats:
    """The share of `whole` that `part` is, over all cells that have a rank below; ½ where there is none."""
    weight = cells.weight * cells.goes_on
    return share((weight * part).sum(), (weight * whole).sum(), (0.0, 0.0))


def _down_to_last(cells: Cells, prior: Prior) -> Floats:
    """Attractiveness where a list was examined down to its last click; all of it without a click."""
    none = ~cells.click.any(0)
    return estimated(cells, cells.click, cells.click | cells.clicked_below | none, prior)


def stop_satisfied(cells: Cells, prior: Prior) -> Parameters:
    """`simplified` in closed form: users stopped satisfied at their last click."""
    last = cells.click & ~cells.clicked_below
    satisfaction = estimated(cells, last, cells.click, prior)
    return {"attractiveness": _down_to_last(cells, prior), "satisfaction": satisfaction}


def stop_at_first(cells: Cells, prior: Prior) -> Parameters:
    """The cascade model in closed form: a list was examined down to its first click."""
    first = cells.last == 0
    return {"attractiveness": estimated(cells, cells.click & first, first, prior)}


# Click models in which the chance of looking depends on the rank: position-based, and the user browsing model.


def looks(parameters: Parameters, ranks: int) -> Floats:
    """ranks × last clicked rank above, 0 for none: the probability of looking; ½ where the model knows no such rank.

    Of the position-based model all columns are the same. Craswell et al., WSDM 2008; Dupret & Piwowarski, SIGIR 2008.
    """
    known, found = parameters["examination"], np.full((ranks, ranks), 0.5)
    same = min(ranks, len(known))
    found[:same, : same if known.ndim == 2 else ranks] = known[:same, None] if known.ndim == 1 else known[:same, :same]
    return found


def seen_from(parameters: Parameters, cells: Cells) -> Floats:
    """ranks × columns: the probability of looking at the rank, given the clicks above it."""
    ranks = len(cells.click)
    found: Floats = looks(parameters, ranks)[np.arange(ranks)[:, None], cells.last]
    return found


def marginal_positional(parameters: Parameters, cells: Cells) -> Floats:
    """ranks × columns: the probability of a click, whatever is clicked above."""
    a = cells.at(parameters["attractiveness"])
    chances, by_last = np.zeros(a.shape), looks(parameters, len(a))
    # (ranks + 1) × columns: the probability that the last click so far was at this rank.
    last = np.zeros((len(a) + 1, a.shape[1]))
    last[0] = 1
    for rank in range(len(a)):
        clicked = a[rank] * by_last[rank][:, None] * last[:-1]
        chances[rank] = clicked.sum(0)
        last[:-1] -= clicked
        last[rank + 1] += chances[rank]
    return chances


def scaled(parameters: Parameters) -> Parameters:
    """The same model with the examination of rank 1 at 1: only products of attractiveness and examination are known.

    Attractiveness is then the probability of a click at rank 1, and examination that of looking for each look at rank
    1, which may be above 1; no product of the two is. Where nobody looks at rank 1, all stays as it is.
    """
    first = parameters["examination"].flat[0]
    if not first > 0:
        return parameters
    return {
        "attractiveness": parameters["attractiveness"] * first,
        "examination": parameters["examination"] / first,
    }


def step(parameters: Parameters, cells: Cells, prior: Prior) -> tuple[Parameters, Floats]:
    """New parameters by EM, and the chances of clicks by the old ones."""
    a, e = cells.at(parameters["attractiveness"]), seen_from(parameters, cells)
    chance = a * e
    attracts = np.where(cells.click, 1.0, kernel.gains.safe_divide(a - chance, 1 - chance))
    looked = np.where(cells.click, 1.0, kernel.gains.safe_divide(e - chance, 1 - chance))
    examination = _by_rank(cells, looked, prior, parameters["examination"].ndim == 2)
    return {"attractiveness": estimated(cells, attracts, cells.shown, prior), "examination": examination}, chance


def _by_rank(cells: Cells, looked: Floats, prior: Prior, by_last: bool) -> Floats:
    """How often each rank was looked at: ranks, or ranks × last clicked rank above."""
    if not by_last:
        return share((cells.weight * looked).sum(1), cells.weight.sum(1), prior)
    ranks = len(cells.click)
    place = (np.arange(ranks)[:, None] * ranks + cells.last).ravel()
    part, whole = (
        np.bincount(place, values.ravel(), minlength=ranks**2).astype(np.float64)
        for values in (cells.weight * looked, cells.weight)
    )
    return share(part, whole, prior).reshape(ranks, ranks)


# The click models by name: how each is written, what it predicts, and how it is estimated.


FIT = "fit"
"""What stands for the value of a parameter that is to be estimated."""


@dataclass(frozen=True, eq=False, repr=False)
class Kind:
    """A click model.

    title        what it says of users, with its source
    transitions  how a user goes on from rank to rank; None where the chance of looking is that of the position
    m_step       the M-step of a user who goes down; the last argument: whether the parameter of `number` is free
    closed       cells, prior -> parameters, in closed form; None where they are estimated by EM
    number       the parameter that its notation may give, and its value without; nan: estimated
    start        what EM starts from, beside ½ for items
    shares       parameters that items have
    """

    title: str
    transitions: Transitions | None = None
    m_step: Callable[[Parameters, Cells, Examined, Prior, bool], Parameters] | None = None
    closed: Callable[[Cells, Prior], Parameters] | None = None
    number: tuple[str, float] | None = None
    start: tuple[tuple[str, float], ...] = ()
    shares: tuple[str, ...] = ("attractiveness",)

    def conditional(self, parameters: Parameters, cells: Cells) -> Floats:
        """ranks × columns: the probability of a click, given those above."""
        a = cells.at(parameters["attractiveness"])
        if self.transitions is None:
            return a * seen_from(parameters, cells)
        return examined_before(cells.click, a, *self.transitions(parameters, cells))[1]

    def marginal(self, parameters: Parameters, cells: Cells) -> Floats:
        """ranks × columns: the probability of a click, whatever is clicked above."""
        if self.transitions is None:
            return marginal_positional(parameters, cells)
        a, (after_click, after_skip) = cells.at(parameters["attractiveness"]), self.transitions(parameters, cells)
        going = a * after_click + (1 - a) * after_skip
        return a * np.vstack([np.ones_like(a[:1]), np.cumprod(going[:-1], axis=0)])


def _everything(cells: Cells, prior: Prior) -> Parameters:
    return {"attractiveness": estimated(cells, cells.click, cells.shown, prior)}


BOTH = ("attractiveness", "satisfaction")
KINDS: dict[str, Kind] = {
    "ctr": Kind("click rate: every document is examined, at any rank", always, closed=_everything),
    "cm": Kind("cascade: down to the first click; Craswell et al., WSDM 2008", cascade,
        closed=stop_at_first),
    "dcm": Kind("dependent click: down to a click, and on with a chance of the rank; Guo et al., WSDM 2009",
        dependent, dependent_step),
    "sdbn": Kind("simplified DBN: down to the document that satisfies; Chapelle & Zhang, WWW 2009",
        simplified, closed=stop_satisfied, shares=BOTH),
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
class Chosen:
    """A click model as asked for: its name, and the value of its `number`; nan where that is to be estimated."""

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
        """Whether its number is to be estimated."""
        return math.isnan(self.value)

    def start(self, cells: Cells) -> Parameters:
        """What EM starts from."""
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
        """The next parameters by EM, and ranks × columns: the chances of clicks by those given."""
        if self.kind.transitions is None or self.kind.m_step is None:
            return step(parameters, cells, prior)
        seen = explained(self.kind.transitions, parameters, cells)
        return self.kind.m_step(parameters, cells, seen, prior, self.free), seen.chance


def read_models(texts: str | tuple[str, ...] | list[str]) -> list[Chosen]:
    """The click models of a text, as in "dbn(gamma=fit) ubm". Raises InputError (usage) where there is no such model
    or parameter."""
    words = [
        word for text in ([texts] if isinstance(texts, str) else texts) for word in kernel.notation.split_words(text)
    ]
    return list(dict.fromkeys(map(_read, words)))


def _read(word: str) -> Chosen:
    hint = f"choose from {', '.join(KINDS)}, as in 'dbn(gamma={FIT})'"
    try:
        spelling = kernel.notation.read_notation(word)[0]
    except InputError:
        raise InputError(f"'{word}'", "is not a click model", hint, usage=True) from None
    if spelling.name not in KINDS:
        raise InputError(f"'{word}'", "is not a click model", did_you_mean(spelling.name, KINDS) or hint, usage=True)
    number, given = KINDS[spelling.name].number, dict(spelling.parameters)
    if spelling.cutoff is not None:
        raise InputError(f"'{word}'", "a click model has no cutoff", f"{flag.depth} cuts the lists", usage=True)
    for name in given:
        if number is None or name != number[0]:
            known = f"its parameter is {number[0]}" if number else "it has no parameters"
            raise InputError(f"'{word}'", f"no parameter '{name}'", known, usage=True)
    if number is None:
        return Chosen(spelling.name)
    value = given.get(number[0], number[1])
    if value == FIT:
        return Chosen(spelling.name)
    if not isinstance(value, int | float) or not (math.isnan(value) or 0 < value <= 1):
        hint = f"give a number above 0, at most 1, or {FIT} to estimate it"
        raise InputError(f"'{word}'", f"invalid value of {number[0]}", hint, usage=True)
    return Chosen(spelling.name, float(value))


# How well a click model predicts sessions: log-likelihood and perplexity, by session and by rank.


MEANS = {
    "perplexity": "by_rank",
    "per click": "by_click",
    "per skip": "by_skip",
    "unconditional": "unconditional",
}
"""What the arithmetic mean over ranks is called -> of which field of `Prediction`."""


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """How well sessions are predicted.

    sessions      how many
    ll_session    mean ln P(C) of a session
    ll_rank       mean over sessions of the mean of ln P(C_k | C_<k) over the ranks shown
    by_rank       ranks: perplexity, 2^(−mean log2 P(C_k | C_<k))
    by_click      ranks: the same over the sessions that clicked the rank; nan without one
    by_skip       ranks: the same over the others
    unconditional ranks: the perplexity of P(C_k), regardless of clicks above
    unseen        documents shown that the model never saw, of `shown`: they have ½
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
        """The arithmetic mean over ranks of `by_rank`, `by_click`, `by_skip` or `unconditional`; nan where no rank has
        one."""
        known = getattr(self, name)[~np.isnan(getattr(self, name))]
        return float(known.mean()) if len(known) else np.nan


def log_chances(chance: Floats, cells: Cells, floor: float = 0.0) -> Floats:
    """ranks × columns: ln of the probability of what was done; 0 past the end of a list, −∞ where it cannot be.

    floor  raises probabilities to this
    """
    done = np.where(cells.click, chance, 1 - chance)
    with np.errstate(divide="ignore"):
        logs: Floats = np.where(cells.shown, np.log(np.maximum(done, floor)), 0.0)
    return logs


def predicted(conditional: Floats, marginal: Floats, cells: Cells, floor: float = 0.0) -> Prediction:
    """How well sessions are predicted by the chances of clicks, ranks × columns."""
    logs, total = log_chances(conditional, cells, floor), float(cells.count.sum())
    shown = np.maximum(cells.shown.sum(0), 1)
    return Prediction(
        int(total),
        float((logs.sum(0) * cells.count).sum() / total),
        float((logs.sum(0) / shown * cells.count).sum() / total),
        _perplexity(logs, cells, cells.shown),
        _perplexity(logs, cells, cells.click),
        _perplexity(logs, cells, cells.shown & ~cells.click),
        _perplexity(log_chances(marginal, cells, floor), cells, cells.shown),
        int((cells.weight * (cells.item == cells.items)).sum()),
        int(cells.weight.sum()),
    )


def _perplexity(logs: Floats, cells: Cells, of: Bools) -> Floats:
    """ranks: exp(−mean) of the logarithms over some cells; nan where there is none."""
    weight = cells.weight * of
    counted, summed = weight.sum(1), (np.where(of, logs, 0.0) * weight).sum(1)
    mean = np.where(counted > 0, summed / np.where(counted > 0, counted, 1), np.nan)
    return np.exp(-mean)
