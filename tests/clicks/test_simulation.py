"""Sessions drawn from click models and from the users of measures."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from gradedeval import InputError, Qrels, clicks
from gradedeval.clicks.click_models import Items
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.model_kinds import Cells, read_models

QRELS = Qrels({"q": {"a": 2, "b": 0, "c": 1}, "p": {"a": 1}})
RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0, "x": 0.0}, "p": {"a": 1.0, "b": 0.5}}
OTHER = {"q": {"c": 3.0, "a": 2.0, "b": 1.0}, "p": {"a": 1.0, "b": 0.5}}
GAINS = "gain=0.1:0.4:0.8"
READER = clicks.ClickModel(
    read_models("reader")[0],
    Items([0.0, 1.0, 2.0, None], QRELS),
    {"attractiveness": np.array([0.1, 0.4, 0.8, 0, 0.5]), "p": np.array(0.7)},
    np.zeros(4, dtype=np.int64),
)


def click_rates(log: ClickLog, topic: str, *docnos: str) -> Any:
    """Return the click rate of each rank of a list."""
    rows = log.configuration == [*zip(log.topics, log.shown, strict=True)].index((topic, docnos))
    return log.count[rows] @ log.clicked(len(docnos))[log.pattern[rows]] / log.count[rows].sum()


def test_each_list_of_the_runs_is_drawn_equally_often() -> None:
    log = clicks.simulate(f"err({GAINS})", [RUN, OTHER], QRELS, sessions=30_000, depth=3)
    assert set(zip(log.topics, log.shown, strict=True)) == {
        ("q", ("a", "b", "c")),
        ("q", ("c", "a", "b")),
        ("p", ("a", "b")),
    }
    assert np.bincount(log.configuration, log.count) == pytest.approx([10_000] * 3, abs=350)


Rates = Callable[[Any], Any]
USERS: dict[str, tuple[str, Rates]] = {
    "err": (f"err({GAINS})", lambda g: g * np.cumprod([1, *(1 - g[:-1])])),
    "cascade": (f"cascade({GAINS},gamma=0.8)", lambda g: g * np.cumprod([1, *(0.8 * (1 - g[:-1]))])),
    "rbp": (f"rbp(p=0.6,{GAINS})", lambda g: g * 0.6 ** np.arange(4)),
    "model": ("", lambda g: g * 0.7 ** np.arange(4)),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", USERS)
def test_click_rates_follow_the_user(name: str) -> None:
    notation, rates = USERS[name]
    log = clicks.simulate(notation or READER, RUN, QRELS, sessions=200_000)
    expected = rates(np.array([0.8, 0.1, 0.4, 0]))
    assert click_rates(log, "q", "a", "b", "c", "x") == pytest.approx(expected, abs=0.004)
    if name == "err":
        assert max(map(len, log.patterns)) == 1  # a satisfied user stops


def test_gaps_between_clicks_follow_the_model() -> None:
    log = clicks.simulate(READER, [RUN, OTHER], QRELS, sessions=200_000, seed=1)
    item = READER.items.of(log)
    gaps, expected = np.zeros((2, 4))
    of_pattern = np.array([[np.sum(np.diff([0, *ranks]) >= i) for i in (1, 2, 3, 4)] for ranks in log.patterns])
    gaps = log.count @ of_pattern[log.pattern]
    clicked = np.array(list(product([False, True], repeat=4)))
    ranks = [np.flatnonzero(row) + 1 for row in clicked]
    counted = np.array([[np.sum(np.diff([0, *pattern]) >= i) for i in (1, 2, 3, 4)] for pattern in ranks])
    for row in item:
        documents = np.tile(row[:, None], (1, 16))
        cells = Cells(documents, clicked.T, np.ones(16, dtype=np.int64), 4)
        chance = READER.spec.kind.conditional(READER.parameters, cells)
        expected += np.where(clicked.T, chance, 1 - chance).prod(0) @ counted / len(item)
    assert gaps / gaps[0] == pytest.approx(expected / expected[0], abs=0.001)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ndcg", RUN, QRELS), "'ndcg': has no user who looks and clicks; name a C/W/L measure, such as rbp(p=0.8)"),
        (("rbp(gain=0:1:3)", RUN, QRELS), "outside 0..1"),
        (("rbp", RUN), "the grades of documents are needed; add QRELS"),
        ((READER, RUN), "the grades of documents are needed; add QRELS"),
        (("rbp",), "simulate: needs runs; as in simulate(users, runs, qrels)"),
    ],
)
def test_bad_arguments_of_simulate_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        clicks.simulate(*arguments)
    assert message in str(caught.value)


def test_a_model_with_parameters_of_documents_needs_no_qrels() -> None:
    log = clicks.simulate(READER, RUN, QRELS, sessions=20_000)
    model = clicks.models(log, "reader")["reader"]
    again = clicks.simulate(model, RUN, sessions=20_000, seed=9)
    assert click_rates(again, "q", "a", "b", "c", "x") == pytest.approx(
        click_rates(log, "q", "a", "b", "c", "x"), abs=0.02
    )
