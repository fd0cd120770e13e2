"""Click models of users who go down the list: cascade, dependent click, dynamic Bayesian, click chain, and a reader."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.clicks.cells import Cells
from gradedeval.clicks.examination import Examined, examined, examined_before
from gradedeval.measures.gains import safe_divide

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


def marginal(transitions: Transitions, parameters: Parameters, cells: Cells) -> Floats:
    """ranks × columns: the probability of a click, whatever is clicked above."""
    a, (after_click, after_skip) = cells.at(parameters["attractiveness"]), transitions(parameters, cells)
    going = a * after_click + (1 - a) * after_skip
    return a * np.vstack([np.ones_like(a[:1]), np.cumprod(going[:-1], axis=0)])


def conditional(transitions: Transitions, parameters: Parameters, cells: Cells) -> Floats:
    """ranks × columns: the probability of a click, given those above."""
    return examined_before(cells.click, cells.at(parameters["attractiveness"]), *transitions(parameters, cells))[1]


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
    satisfied = (1 - below) * safe_divide(s, s + (1 - gamma) * (1 - s))
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
    on = safe_divide(useful * a, useful * a + useless * (1 - a))
    off = safe_divide((1 - useful) * a, (1 - useful) * a + (1 - useless) * (1 - a))
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
