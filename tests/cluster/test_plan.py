"""plan, work, merge: three steps that may be done anywhere, in any order, and give what `evaluate` gives."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval.cluster import Plan, merge, plan, work
from gradedeval.errors import InputError
from gradedeval.kernel.scoring.sharing import Result

MEASURES = "err@20 ndcg@10 ap num_ret"
OPTIONS: Any = {"residuals": True, "duplicates": "first", "topics": "both"}

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Runs of 40 topics: three small ones, a large one, one whose topics take turns, and qrels."""
    draw = random.Random(4)
    judged = [f"{topic} 0 d{at} {draw.choice([0, 1, 2])}\n" for topic in range(40) for at in range(20)]
    (tmp_path / "qrels.txt").write_text("".join(judged))
    (tmp_path / "runs").mkdir()
    for name, most in (("a", 5), ("b", 5), ("c", 6), ("large", 60)):
        lines = [f"{t} Q0 d{at} {at} {draw.randrange(30)} {name}\n" for t in range(2, 40) for at in range(most)]
        (tmp_path / "runs" / name).write_text("".join(lines))
    turns = [f"{topic} Q0 d{at} {at} {draw.randrange(30)} turns\n" for at in range(50) for topic in range(40)]
    (tmp_path / "runs" / "turns").write_text("".join(turns))
    return tmp_path


def done(planned: Plan) -> list[Result]:
    """The results of all tasks, each of which went on a journey and came back from one, in another order."""
    scorer = pickle.loads(pickle.dumps(planned.scorer))
    results = [pickle.loads(pickle.dumps(work(scorer, pickle.loads(pickle.dumps(task))))) for task in planned.tasks]
    random.Random(1).shuffle(results)
    return results


@pytest.mark.parametrize("part", [10_000, 1 << 28], ids=["parts", "whole"])
def test_in_any_order_the_scores_are_those_of_one_process(
    part: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = (folder / "runs", folder / "qrels.txt", MEASURES)
    expected = gradedeval.evaluate(*paths, **OPTIONS)
    planned = plan(*paths, part=part, runs_a_task=2, **OPTIONS)
    assert len([task for task in planned.tasks if len(task.runs) > 1]) > 0
    assert (len({task.runs[0][0] for task in planned.tasks if task.part}) == 2) == (part == 10_000)
    monkeypatch.chdir("/")
    found = merge(planned, [*done(planned), *done(planned)])
    assert found.frame.equals(expected.frame)
    assert (found.signature, sorted(found.notes)) == (expected.signature, sorted(expected.notes))


def test_summaries_alone_are_the_same_and_small(folder: Path) -> None:
    paths = (folder / "runs", folder / "qrels.txt", "err@20 ndcg@10 ap@20 num_ret")  # of which nothing is said
    expected = gradedeval.evaluate(*paths, **OPTIONS)
    planned = plan(*paths, by_topic=False, **OPTIONS)
    results = done(planned)
    found = merge(planned, results)
    assert (found.means_by_run, found.notes) == (expected.means_by_run, expected.notes)
    assert list(found.rows(by_topic=False)) == list(expected.rows(by_topic=False))
    with_topics = done(plan(*paths, **OPTIONS))
    assert len(pickle.dumps(results)) < len(pickle.dumps(with_topics)) / 3


def test_what_is_wrong_with_a_run_is_its_own_fault(folder: Path) -> None:
    (folder / "runs" / "bad").write_text("1 Q0 d1 1 high t\n")
    paths = (folder / "runs", folder / "qrels.txt", MEASURES)
    planned = plan(*paths, **OPTIONS)
    results = done(planned)
    found = merge(planned, results, keep_going=True)
    assert [run.run for run in found.runs] == ["a", "b", "c", "large", "turns"]
    assert "bad:1: " in str(found.errors[0])
    with pytest.raises(InputError, match="bad:1: "):
        merge(planned, results)
    with pytest.raises(InputError, match=r"^merge: the results of 1 of \d tasks are missing; give work"):
        merge(planned, results[1:])


def test_what_workers_do_not_see_is_told_as_that(folder: Path) -> None:
    planned = plan(folder / "runs" / "a", folder / "qrels.txt")
    (folder / "runs" / "a").rename(folder / "away")
    results = done(planned)
    (folder / "away").rename(folder / "runs" / "a")
    with pytest.raises(InputError, match=r"a: workers see no such file; give a path, or a URL, that all of them reach"):
        merge(planned, results)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"part": 0}, "part: 0 is too small; it must be at least 1"),
        ({"runs_a_task": "many"}, "runs_a_task: 'many' is not a whole number from 1"),
        ({"runs_a_task": 10**30}, r"runs_a_task: 1e\+30 is too large"),
    ],
)
def test_a_plan_says_what_is_wrong_with_it(wrong: Any, said: str, folder: Path) -> None:
    with pytest.raises(InputError, match=said):
        plan(folder / "runs", folder / "qrels.txt", **wrong)


def test_results_of_another_plan_are_refused(folder: Path) -> None:
    one, other = (plan(folder / "runs" / name, folder / "qrels.txt") for name in "ab")
    for results in (done(other), [*done(other), *done(one)], [7]):
        with pytest.raises(InputError, match=r"^merge: a result is not of this plan; give what work"):
            merge(one, results)
    assert merge(pickle.loads(pickle.dumps(one)), done(one)).runs[0].run == "a"


def test_a_worker_opens_no_url_that_is_not_allowed(folder: Path) -> None:
    planned = plan({"a": folder / "runs" / "a"}, folder / "qrels.txt", MEASURES)
    (task,) = planned.tasks
    result = work(planned.scorer, replace(task, runs=((0, "a", "reference://a"),)))
    with pytest.raises(InputError, match=r"^reference://a: has the protocol 'reference', which is not allowed"):
        merge(planned, [result])
