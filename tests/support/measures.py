"""The measures that tests go through: all of the table, cut and uncut, and with other parameters."""

import contextlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import pytest

from gradedeval import MEASURES, InputError, Measure, parse_measures
from support.paths import SAMPLES

CUTOFFS = (None, 1, 3, 10)
VALUES: dict[str, list[Any]] = {
    "rel": [2],
    "gain": ["exp", "0:0.2:0.5:1"],
    "g": [(1.0, 2.0, 3.0), (0.0, 1.0, 0.0)],
    "utility": ["dcg", "one"],
    "gamma": [0.9],
    "log": [2],
    "beta": [10],
    "k": [10],
    "p": [0.5, 0.95],
    "alpha": [0, 0.9],
    "stop": [0.5],
    "norm": ["best", "k"],
    "recall": [0.3, 1],
    "add": [0.9],
    "times": [0.4, 2],
    "x": [0.5, 3],
    "a": [2],
    "n": [2],
    "docs": [100],
    "min": [-2],
}

# Two parameters at once, other schemes, and gains that are odd but allowed: one for grade 0, and a fall at the top.
MORE = (
    "err(gain=linear) err(gain=ntcir)@3 err(gain=0.1:0:0.6:0.3) cascade(utility=dcg,gamma=0.5)@3 cascade(gamma=0.5)"
    " cascade(utility=one,gamma=0.9) nerr(gain=0.1:0.3:0.5:1)@3 ndcg(gain=0.5:0:3:1) ndcg(log=3,gain=exp)@10"
    " dcg(log=2.5,gain=exp) q(beta=0) q(beta=0.5,gain=exp)@3 q(gain=0:0:1:5) rbp(p=0) rbp(p=0.5,gain=0:0.5:0.5:0.5)@3"
    " q(norm=k)@2 q(norm=k,rel=1)@3 q(norm=k,beta=0.5,gain=exp)@3 ap(norm=k,rel=2)@2 gap(norm=k,g=1:2:3)@2"
    " erria(rel=1,stop=0.5,norm=best)@3 alpha_dcg(alpha=0,norm=best)@3 nrbp(alpha=0.9,beta=0.8) nrbp(alpha=1)@3"
    " utility(a=2,b=-0.5,c=-1,d=0.25,docs=100)@3 utility(c=-1) iprec_avg(recall=0.25:0.5:0.75,add=0.9)"
    ' ndcg(gain="2=2.5,3=9")@3 g(gain="2=2.5,3=9")'
    " rbp(rel=1) gap(g=1:0:0) gap(gain=0:0:2:2) gprecision(gain=exp)@3 ap(rel=3)@3"
    " zipf(beta=2) zipf(beta=0.5)@10 poisson(alpha=0.3) poisson(alpha=4)@3 logharmonic(b=5)@10 zipf(beta=1.5,gain=exp)"
    f" wp(file={SAMPLES}/attention.csv) wp(file={SAMPLES}/attention.csv,rel=2)@3"
    f" ddm(file={SAMPLES}/chances.csv) ddm(file={SAMPLES}/chances.csv,gain=exp)@3"
    ' cwl(C="p*(1-r)",p=0.8) cwl(C="p*(1-r)",p=0.8)@3 cwl(C="(i/(i+1))**2") cwl(C="where(gained<1,0.9,0.2)",gain=exp)'
    ' cwl(C="1/(1+rate*spent)",rate=0.3)@3'
)


def variants(table: Mapping[str, Measure] = MEASURES) -> list[Measure]:
    measures: dict[Measure, None] = {}
    for measure in table.values():
        policy = measure.definition.cutoff
        cutoffs = [None] if policy == "none" else [k for k in CUTOFFS if k or policy != "required"]
        measures |= dict.fromkeys(measure if k is None else measure @ k for k in cutoffs)
        for key in measure.definition.accepted.names:
            for value in VALUES.get(key, []):
                with contextlib.suppress(InputError):  # a key may mean another thing to another measure
                    variant = measure(**{key: value})
                    allowed = [k for k in (None, 3) if k in cutoffs] or [None]
                    measures |= dict.fromkeys(variant if k is None else variant @ k for k in allowed)
    return list(dict.fromkeys([*filter(_is_complete, measures), *parse_measures(MORE)]))


def _is_complete(measure: Measure) -> bool:
    """Return whether a measure needs nothing more: one by a file or a formula is nothing without them."""
    with contextlib.suppress(InputError):
        return measure.complete() == measure
    return False


VARIANTS = variants()


def _representatives() -> frozenset[Measure]:
    """Return one variant of each measure with a cutoff and one without, one with another value of each parameter, and
    the odd ones.

    A measure that joins the table has its representatives by this rule.
    """
    plain = {
        (measure.name, measure.cutoff is None): measure
        for measure in reversed(VARIANTS)
        if not measure.parameters and measure.cutoff != 1
    }
    other = {
        (measure.name, key): measure
        for measure in reversed(VARIANTS)
        if len(measure.parameters) == 1
        for key, _ in measure.parameters
    }
    return frozenset((*plain.values(), *other.values(), *parse_measures(MORE)))


REPRESENTATIVES = _representatives()


class Measures(list[Measure]):
    """A strategy of measures. Hypothesis prints only how many there are."""

    def __repr__(self) -> str:
        return f"{len(self)} measures"


def every(measures: Iterable[Measure], slow: Container[Measure] = ()) -> pytest.MarkDecorator:
    """`measures` of a test: representatives that are not slow, and in the exhaustive run all others."""
    usable, usual = list(measures), set(REPRESENTATIVES)
    chosen = Measures(measure for measure in usable if measure in usual and measure not in slow)
    others = Measures(measure for measure in usable if measure not in usual or measure in slow)
    more = [pytest.param(others, id="others", marks=pytest.mark.exhaustive)] if others else []
    return pytest.mark.parametrize("measures", [pytest.param(chosen, id="representatives"), *more])


def failing(measures: Sequence[Measure], example: Callable[[int], object]) -> dict[str, object]:
    """Return the measures for which `example` of their column finds a counterexample, each with it."""
    examples = ((measure, example(column)) for column, measure in enumerate(measures))
    return {str(measure): example_of for measure, example_of in examples if example_of is not None}


def in_the_shell(written: str) -> str:
    """`name(…)@k` as `name:…@k`."""
    name, opened, rest = written.partition("(")
    inside, closed, cutoff = rest.rpartition(")")
    return f"{name}:{inside}{cutoff}" if opened and closed else written
