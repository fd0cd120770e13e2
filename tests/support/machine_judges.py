"""Machines that judge with errors of a known kind, and the worth of intervals when people judge a few topics."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import gradedeval
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring.predicted import Estimates, by_people, estimate
from support.paths import DATA

Floats = NDArray[np.float64]
Grades = dict[str, dict[str, int]]
"""Topic -> docno -> grade."""

JUDGES = {"careful": (0.15, 0.10), "generous": (0.35, 0.05), "careless": (0.50, 0.30)}
"""With which probability a machine gives a document one grade too many, and one too few."""
MEASURES = ("ndcg@10", "err@20", "ap")
KINDS = ("mean", "difference")


def judged_by_machine(people: Grades, raised: float, lowered: float, seed: int = 0) -> Grades:
    """Return the same documents with the grades of a machine; none beyond the ends of the scale."""
    dice, top = np.random.default_rng(seed), max(max(grades.values()) for grades in people.values())
    judged: Grades = {}
    for topic, grades in people.items():
        luck = dice.random(len(grades))
        errors = (luck < raised).astype(int) - (luck >= 1 - lowered)
        machine_grades = (np.array(list(grades.values())) + errors).clip(0, top)
        judged[topic] = dict(zip(grades, machine_grades.tolist(), strict=True))
    return judged


def judged_at_random(people: Grades, seed: int = 0) -> Grades:
    """Return the same documents with any grade of the scale."""
    dice, top = np.random.default_rng(seed), max(max(grades.values()) for grades in people.values())
    return {
        topic: dict(zip(grades, dice.integers(0, top + 1, len(grades)).tolist(), strict=True))
        for topic, grades in people.items()
    }


def real_judgments() -> Grades:
    """Return the qrels of TREC-COVID, round 1."""
    judgments: Grades = {}
    for line in (DATA / "covid-round1" / "qrels.txt").read_text(encoding="utf-8").splitlines():
        topic, _, docno, grade = line.split()
        judgments.setdefault(topic, {})[docno] = int(grade)
    return judgments


@cache
def real_scores() -> dict[str, Floats]:
    """Return people, and each machine -> runs × topics × measures: scores of the runs of TREC-COVID, round 1."""
    people, folder = real_judgments(), str(DATA / "covid-round1" / "runs")
    machines = {name: judged_by_machine(people, *errors) for name, errors in JUDGES.items()}
    machines["random"] = judged_at_random(people)
    return {name: scores_by(folder, qrels) for name, qrels in {"people": people, **machines}.items()}


def scores_by(runs: Any, qrels: Mapping[str, Mapping[str, int]]) -> Floats:
    """runs × topics × measures."""
    scores = gradedeval.evaluate(runs, Qrels(qrels), list(MEASURES))
    return np.array([run.score for run in scores.runs])


class Draws(NamedTuple):
    """Collections that might have been, a row each: scores by people and by a machine of the judged topics, by the
    machine of the others, and the mean over all topics there are."""

    human: Floats
    machine: Floats
    others: Floats
    truth: Floats


def drawn(people: Floats, machine: Floats, kind: str, judged: int, total: int, draws: int, seed: int) -> Draws:
    """Return topics drawn with replacement, of a run at random or of two.

    people, machine  runs × topics
    kind             mean: the scores of a run; difference: those of two
    """
    dice = np.random.default_rng(seed)
    runs = dice.permuted(np.tile(np.arange(len(people)), (draws, 1)), axis=1)[:, :2]
    sign = 1 if kind == "difference" else 0
    both = [scores[runs[:, 0]] - sign * scores[runs[:, 1]] for scores in (people, machine)]
    topics = dice.integers(0, people.shape[1], (draws, total))
    h, m = (np.take_along_axis(scores, topics, 1) for scores in both)
    return Draws(h[:, :judged], m[:, :judged], m[:, judged:], both[0].mean(1))


def mostly_zeros(judged: int, others: int, draws: int, seed: int = 0) -> Draws:
    """Return skewed scores: four of five are 0, the others uniform; the machine errs on these by a normal deviate of
    sd .1."""
    dice, shape = np.random.default_rng(seed), (draws, judged + others)
    h = np.where(dice.uniform(size=shape) < 0.8, 0, dice.uniform(size=shape))
    m = np.where(h > 0, h + dice.normal(0, 0.1, shape), 0)
    return Draws(h[:, :judged], m[:, :judged], m[:, judged:], np.full(draws, 0.1))


def grossly_wrong(share: float, judged: int, others: int, draws: int, seed: int = 0) -> tuple[Draws, NDArray[np.bool_]]:
    """Return uniform scores, and whether a wrong topic is judged. The machine gives 0 to a share of the topics, and
    errs by a normal deviate of sd .02 elsewhere."""
    dice, at_once = np.random.default_rng(seed), 2000
    parts = []
    for begin in range(0, draws, at_once):
        shape = (min(at_once, draws - begin), judged + others)
        h, wrong = dice.uniform(size=shape), dice.uniform(size=shape) < share
        m = np.where(wrong, 0, h + dice.normal(0, 0.02, shape))
        parts.append((h[:, :judged], m[:, :judged], m[:, judged:], wrong[:, :judged].any(1)))
    h, m, rest, seen = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Draws(h, m, rest, np.full(draws, 0.5)), seen


class Worth(NamedTuple):
    """The worth of intervals of one kind.

    covers  how often they hold the truth
    width   their mean width, as a share of that by people alone
    ratio   the mean of the same shares
    bias    the mean of estimate less truth
    """

    covers: float
    width: float
    ratio: float
    bias: float


def worth(estimates: Estimates, truth: Floats, people: Estimates) -> Worth:
    slack = 1e-12
    covers = (estimates.low <= truth + slack) & (truth - slack <= estimates.high)
    wide, half_width = people.high - people.low, estimates.high - estimates.low
    some = wide > 0
    return Worth(
        float(covers.mean()),
        float(half_width.sum() / wide.sum()),
        float((half_width[some] / wide[some]).mean()),
        float((estimates.mean - truth).mean()),
    )


def intervals(some: Draws, alpha: float = 0.05) -> dict[str, Estimates]:
    """Estimates by people alone; both, with λ of the other judged topics, or one λ of all; by the machine alone."""
    return {
        "people": by_people(some.human, alpha),
        "both": estimate(some.human, some.machine, some.others, alpha),
        "one λ": estimate(some.human, some.machine, some.others, alpha, one_power(some)),
        "machine": by_people(np.hstack([some.machine, some.others]), alpha),
    }


def one_power(some: Draws) -> Any:
    """Return λ of all judged topics: rows × 1."""
    judged, count = some.human.shape[1], some.others.shape[1]
    h, m = (values - values.mean(1, keepdims=True) for values in (some.human, some.machine))
    covariance = (h * m).sum(1) / (judged - 1)
    variance = np.hstack([some.machine, some.others]).var(1, ddof=1) * (1 + judged / count)
    ratio = np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0)
    return ratio.clip(0, 1)[:, None]


def unrelated(some: Draws) -> Draws:
    """Return the machine's scores of other draws, which say nothing about these topics."""
    return some._replace(machine=np.roll(some.machine, 1, 0), others=np.roll(some.others, 1, 0))


def worths(some: Draws) -> dict[str, Worth]:
    """Return the worth of each kind of intervals; parameters as in `intervals`."""
    estimates = intervals(some)
    return {name: worth(estimate, some.truth, estimates["people"]) for name, estimate in estimates.items()}


def cells(
    scores: Mapping[str, Floats], judges: Iterable[str], judged: int, total: int, draws: int
) -> Iterator[tuple[str, str, str, dict[str, Worth]]]:
    """Yield measure, kind, machine, and the worth of intervals."""
    for column, measure in enumerate(MEASURES):
        for number, kind in enumerate(KINDS):
            for place, judge in enumerate(judges):
                pair = scores["people"][:, :, column], scores[judge][:, :, column]
                seed = 100 * column + 10 * number + place
                yield measure, kind, judge, worths(drawn(*pair, kind, judged, total, draws, seed))
