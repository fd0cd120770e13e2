"""A few random cases of each kind, always the same: the machines themselves work."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fuzz.case import Case, Kind, smallest
from fuzz.kinds import KINDS
from fuzz.scores import check
from support import reference

CASES = {
    "scores": 150,
    "bounds": 40,
    "runs": 60,
    "qrels": 60,
    "packed": 30,
    "formats": 60,
    "notation": 200,
    "tables": 60,
    "mirror": 3,
    "saved": 2,
    "clicks": 30,
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", list(KINDS))
def test_random_cases_hold(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    for number in range(CASES.get(name, 10)):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert kind.check(kind.draw(random.Random(number)), folder) is None, number


def test_a_wrong_number_is_found_and_made_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula that divides by one too many, where two relevant documents stand beside each other."""
    right = KINDS["scores"]
    monkeypatch.setitem(reference.FUNCTIONS, "p", lambda ranking, pool, k: sum(reference.filled(ranking[:k])) / (k + 1))
    run = b"".join(b"1 Q0 d%d %d %d t\n" % (at, at, 9 - at) for at in range(8))
    case = Case({"run": run, "qrels": b"1 0 d1 1\n1 0 d3 1\n1 0 d5 0\n"}, ("ap", "p@3", "rr"), {"ties": "docno-asc"})
    numbers = iter(range(10**6))

    def wrong(case: Case) -> str | None:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return Kind(right.draw, check).check(case, folder)

    assert (wrong(case) or "").startswith("score of p: p@3")
    small = smallest(case, wrong)
    assert small.measures == ("p@3",)
    assert small.options == {}
    assert {name: content.count(b"\n") for name, content in small.files.items()} == {"run": 1, "qrels": 1}
