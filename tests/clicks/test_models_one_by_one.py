"""Click models against a second implementation: session by session, over all that a user may have done unseen."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradedeval import clicks
from gradedeval.clicks.log import ClickLog

Step = tuple[bool, bool, bool]
"""State of a rank: examined, clicked with use (or satisfaction), and followed by the next rank."""
Session = tuple[tuple[str, ...], tuple[bool, ...]]

PRIOR, ITERATIONS = (1.5, 0.5), 4
GOING_DOWN = {"dbn(gamma=0.8)": 0.8, "dbn(gamma=fit)": 0.9, "ccm": 0, "reader": 0.5, "reader(p=0.6)": 0.6, "dcm": 0}


@pytest.fixture(scope="module")
def sessions() -> list[Session]:
    """Return sessions of two topics on lists of two to four documents, some of them equal."""
    draw = np.random.default_rng(11)
    sessions = []
    for _ in range(60):
        topic, size = draw.choice(["p", "q"]), int(draw.integers(2, 5))
        docnos = tuple(f"{topic}{number}" for number in draw.permutation(5)[:size])
        sessions.append((docnos, tuple((draw.random(size) < 0.4).tolist())))
    return sessions


@pytest.fixture(scope="module")
def log(sessions: list[Session]) -> ClickLog:
    lists = list(dict.fromkeys(docnos for docnos, _ in sessions))
    ranks = [tuple(rank for rank, click in enumerate(clicked, 1) if click) for _, clicked in sessions]
    patterns = list(dict.fromkeys(ranks))
    of_list = np.array([lists.index(docnos) for docnos, _ in sessions])
    of_pattern = np.array([patterns.index(pattern) for pattern in ranks])
    return ClickLog([docnos[0][0] for docnos in lists], lists, patterns, of_list, of_pattern, np.ones(60, int))


class Slow:
    """Model of users going down: shares of documents, a and s, and numbers."""

    def __init__(self, name: str) -> None:
        self.name, self.free = name.partition("(")[0], "fit" in name or "(" not in name
        self.a: dict[str, float] = defaultdict(lambda: 0.5)
        self.s: dict[str, float] = defaultdict(lambda: 0.5)
        self.number = GOING_DOWN[name]
        self.tau = [0.9, 0.5, 0.5]
        self.on: dict[int, float] = defaultdict(lambda: 0.5)

    def useful(self, docno: str) -> float:
        """Return the probability of a useful click: 0 for models without useful clicks."""
        return 0.0 if self.name in ("reader", "dcm") else {"dbn": self.s, "ccm": self.a}[self.name][docno]

    def goes_on(self, click: bool, useful: bool, rank: int) -> float:
        if self.name == "dcm":
            return self.on[rank] if click else 1.0
        if self.name == "ccm":
            return self.tau[0 if not click else 2 if useful else 1]
        return 0.0 if self.name == "dbn" and useful else self.number

    def trails(
        self, docnos: tuple[str, ...], clicked: tuple[bool, ...], rank: int = 1
    ) -> Iterator[tuple[float, tuple[Step, ...]]]:
        """Yield every possible behavior of a user with these clicks, with the probability of both."""
        if not docnos:
            yield 1.0, ()
            return
        a, click = self.a[docnos[0]], clicked[0]
        u = self.useful(docnos[0])
        for useful in (False, True) if click and u else (False,):
            chance = a * (u if useful else 1 - u) if click else 1 - a
            on = self.goes_on(click, useful, rank)
            for more, trail in self.trails(docnos[1:], clicked[1:], rank + 1):
                yield chance * on * more, ((True, useful, True), *trail)
            if not any(clicked[1:]):
                yield chance * (1 - on), ((True, useful, False), *[(False, False, False)] * (len(docnos) - 1))

    def chance(self, docnos: tuple[str, ...], clicked: tuple[bool, ...]) -> float:
        return sum(chance for chance, _ in self.trails(docnos, clicked))

    def conditional(self, session: Session) -> list[float]:
        """Return the probability of the click or skip at each rank, given the clicks above."""
        whole = [self.chance(session[0][:rank], session[1][:rank]) for rank in range(len(session[0]) + 1)]
        return [longer / shorter for shorter, longer in itertools.pairwise(whole)]

    def learn(self, sessions: list[Session]) -> None:
        """Apply one iteration of EM."""
        counts: dict[Any, list[float]] = defaultdict(lambda: [0.0, 0.0])

        def count(key: Any, part: float, whole: float) -> None:
            counts[key][0] += part
            counts[key][1] += whole

        for docnos, clicked in sessions:
            total = self.chance(docnos, clicked)
            for chance, trail in self.trails(docnos, clicked):
                w = chance / total
                for rank, (docno, click, (seen, useful, on)) in enumerate(zip(docnos, clicked, trail, strict=True), 1):
                    count(("a", docno), w * (click if seen else self.a[docno]), w)
                    if click:
                        count(("a" if self.name == "ccm" else "s", docno), w * useful, w)
                    if seen and rank < len(docnos):
                        count("number", w * on, w * (not useful))
                        count(("tau", 0 if not click else 2 if useful else 1), w * on, w)
                        count(("on", rank), w * on * click, w * click)
        for key, (part, whole) in counts.items():
            if key[0] in ("a", "s"):
                getattr(self, key[0])[key[1]] = (part + PRIOR[0]) / (whole + sum(PRIOR))
            elif key[0] == "tau":
                self.tau[key[1]] = part / whole
            elif key[0] == "on":
                self.on[key[1]] = (part + PRIOR[0]) / (whole + sum(PRIOR))
            elif self.free:
                self.number = part / whole


@pytest.mark.parametrize("name", GOING_DOWN)
def test_models_of_users_going_down(name: str, sessions: list[Session], log: ClickLog) -> None:
    slow = Slow(name)
    for _ in range(ITERATIONS):
        slow.learn(sessions)
    fitted = clicks.models(log, name, prior=PRIOR, iterations=ITERATIONS)
    model, prediction = fitted[name], fitted.predictions[next(iter(fitted.models))]
    check_documents(model, "attractiveness", slow.a)
    if slow.name == "dbn":
        check_documents(model, "satisfaction", slow.s)
    if slow.name == "dcm":
        on = [slow.on[rank] for rank in (1, 2, 3)]
        assert model.parameters["continuation"][:3] == pytest.approx(on, rel=0, abs=1e-12)
    elif slow.name == "ccm":
        assert [float(model.parameters[f"tau{n}"]) for n in (1, 2, 3)] == pytest.approx(slow.tau, rel=0, abs=1e-12)
    else:
        assert model.number == pytest.approx(slow.number, rel=0, abs=1e-12)
    logs = [[math.log(chance) for chance in slow.conditional(session)] for session in sessions]
    assert prediction.ll_session == pytest.approx(sum(map(sum, logs)) / 60, rel=0, abs=1e-12)
    assert prediction.ll_rank == pytest.approx(
        sum(sum(session) / len(session) for session in logs) / 60, rel=0, abs=1e-12
    )
    by_rank = [np.mean([session[rank] for session in logs if len(session) > rank]) for rank in range(4)]
    assert prediction.by_rank == pytest.approx(np.exp(-np.array(by_rank)), rel=0, abs=1e-12)


def check_documents(model: clicks.ClickModel, name: str, slow: dict[str, float]) -> None:
    """Check the parameters of documents."""
    parameters = dict(zip((docno for _, docno in model.items.names), model.parameters[name].tolist(), strict=False))
    assert {docno: slow.get(docno, 0.5) for docno in parameters} == pytest.approx(parameters, rel=0, abs=1e-12)


@pytest.mark.parametrize("name", ["pbm", "ubm"])
def test_models_of_users_looking_by_position(name: str, sessions: list[Session], log: ClickLog) -> None:
    a: dict[str, float] = defaultdict(lambda: 0.5)
    e: dict[Any, float] = defaultdict(lambda: 0.5)
    for _ in range(ITERATIONS):
        counts: dict[Any, list[float]] = defaultdict(lambda: [PRIOR[0], sum(PRIOR)])
        for docnos, clicked in sessions:
            last = 0
            for rank, (docno, click) in enumerate(zip(docnos, clicked, strict=True), 1):
                place = (rank, last if name == "ubm" else 0)
                both = a[docno] * e[place]
                counts[docno][0] += 1 if click else (a[docno] - both) / (1 - both)
                counts[place][0] += 1 if click else (e[place] - both) / (1 - both)
                counts[docno][1] += 1
                counts[place][1] += 1
                last = rank if click else last
        for key, (part, whole) in counts.items():
            (e if isinstance(key, tuple) else a)[key] = part / whole
    model = clicks.models(log, name, prior=PRIOR, iterations=ITERATIONS)[name]
    # Only products are known: rank 1 has 1, and its documents the probability of a click there.
    first = e[1, 0]
    check_documents(model, "attractiveness", {docno: value * first for docno, value in a.items()})
    examination = model.parameters["examination"]
    for (rank, last), value in e.items():
        looked = examination[rank - 1, last] if name == "ubm" else examination[rank - 1]
        assert looked == pytest.approx(value / first, rel=0, abs=1e-12), (rank, last)


@pytest.mark.parametrize("name", ["ctr", "cm", "sdbn"])
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_closed_forms(name: str, sessions: list[Session], log: ClickLog) -> None:
    counts: dict[Any, list[float]] = defaultdict(lambda: [PRIOR[0], sum(PRIOR)])
    for docnos, clicked in sessions:
        ranks = [rank for rank, click in enumerate(clicked, 1) if click] or [len(docnos)]
        end = {"ctr": len(docnos), "cm": ranks[0]}.get(name, ranks[-1])
        for rank, (docno, click) in enumerate(zip(docnos[:end], clicked, strict=False), 1):
            counts[docno][0] += click
            counts[docno][1] += 1
            if click:
                counts["s", docno][0] += rank == ranks[-1]
                counts["s", docno][1] += 1
    shares: dict[Any, float] = {key: part / whole for key, (part, whole) in counts.items()}
    unseen, model = PRIOR[0] / sum(PRIOR), clicks.models(log, name, prior=PRIOR)[name]
    for kind, key_of in (("attractiveness", lambda docno: docno), ("satisfaction", lambda docno: ("s", docno))):
        if kind == "attractiveness" or name == "sdbn":
            for (_, docno), value in zip(model.items.names, model.parameters[kind].tolist(), strict=False):
                assert value == pytest.approx(shares.get(key_of(docno), unseen), rel=0, abs=1e-12), (kind, docno)
