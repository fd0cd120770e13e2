"""The click models by name: how each is written, what it predicts, and how it is estimated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.clicks import by_position, going_down
from gradedeval.clicks.cells import Cells
from gradedeval.clicks.examination import Examined
from gradedeval.clicks.going_down import Parameters, Prior, Transitions
from gradedeval.errors import InputError, did_you_mean
from gradedeval.measures import notation

Step = Callable[[Parameters, Cells, Prior], tuple[Parameters, Floats]]
"""Parameters, cells and prior -> the next parameters by EM, and the chances of the clicks by those given."""
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
        if self.transitions is None:
            return by_position.conditional(parameters, cells)
        return going_down.conditional(self.transitions, parameters, cells)

    def marginal(self, parameters: Parameters, cells: Cells) -> Floats:
        """ranks × columns: the probability of a click, whatever is clicked above."""
        if self.transitions is None:
            return by_position.marginal(parameters, cells)
        return going_down.marginal(self.transitions, parameters, cells)


def _everything(cells: Cells, prior: Prior) -> Parameters:
    return {"attractiveness": going_down.estimated(cells, cells.click, cells.shown, prior)}


BOTH = ("attractiveness", "satisfaction")
KINDS: dict[str, Kind] = {
    "ctr": Kind("click rate: every document is looked at, whatever its rank", going_down.always, closed=_everything),
    "cm": Kind("cascade: down to the first click; Craswell et al., WSDM 2008", going_down.cascade,
        closed=going_down.stop_at_first),
    "dcm": Kind("dependent click: down to a click, and on with a chance of the rank; Guo et al., WSDM 2009",
        going_down.dependent, going_down.dependent_step),
    "sdbn": Kind("simplified DBN: down to the document that satisfies; Chapelle & Zhang, WWW 2009",
        going_down.simplified, closed=going_down.stop_satisfied, shares=BOTH),
    "dbn": Kind("dynamic Bayesian network: the same, and on with probability gamma; Chapelle & Zhang, WWW 2009",
        going_down.bayesian, going_down.bayesian_step, number=("gamma", 0.9), start=(("gamma", 0.9),), shares=BOTH),
    "ccm": Kind("click chain: on with three chances: after none, a useless and a useful click; Guo et al., WWW 2009",
        going_down.chain, going_down.chain_step, start=(("tau1", 0.9), ("tau2", 0.5), ("tau3", 0.5))),
    "reader": Kind("a reader of RBP: on with probability p, whatever is clicked; Moffat & Zobel, TOIS 2008",
        going_down.reader, going_down.reader_step, number=("p", math.nan), start=(("p", 0.5),)),
    "pbm": Kind("position-based: the chance of looking is of the rank; Craswell et al., WSDM 2008"),
    "ubm": Kind("user browsing: it is of the rank and the last click above; Dupret & Piwowarski, SIGIR 2008"),
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
        return f"{self.name}({number[0]}={FIT if math.isnan(self.value) else notation.write_value(self.value)})"

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
            return by_position.step(parameters, cells, prior)
        seen = going_down.explained(self.kind.transitions, parameters, cells)
        return self.kind.m_step(parameters, cells, seen, prior, self.free), seen.chance


def read_models(texts: str | tuple[str, ...] | list[str]) -> list[Chosen]:
    """The click models of a text, as in "dbn(gamma=fit) ubm". Raises InputError (usage) where there is no such model
    or parameter."""
    words = [word for text in ([texts] if isinstance(texts, str) else texts) for word in notation.split(text)]
    return list(dict.fromkeys(map(_read, words)))


def _read(word: str) -> Chosen:
    hint = f"choose from {', '.join(KINDS)}, as in 'dbn(gamma={FIT})'"
    try:
        spelling = notation.read(word)[0]
    except InputError:
        raise InputError(f"'{word}'", "is not a click model", hint, usage=True) from None
    if spelling.name not in KINDS:
        raise InputError(f"'{word}'", "is not a click model", did_you_mean(spelling.name, KINDS) or hint, usage=True)
    number, given = KINDS[spelling.name].number, dict(spelling.parameters)
    if spelling.cutoff is not None:
        raise InputError(f"'{word}'", "a click model has no cutoff", "--depth cuts the lists", usage=True)
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
