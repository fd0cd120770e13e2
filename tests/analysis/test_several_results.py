"""Lists and dicts of results, in place of a single result."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import InputError, Scores

MEASURES = "ndcg@10 err@20"
DRAWN = random.Random(49)
QRELS = {str(topic): {f"d{number}": DRAWN.choice([0, 1, 2]) for number in range(40)} for topic in range(12)}
RUNS = {
    name: {topic: {docno: DRAWN.random() for docno in [*QRELS[topic], "x"]} for topic in QRELS} for name in ("A", "B")
}

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # few topics


def score(runs: Any = RUNS, measures: str = MEASURES, **options: Any) -> Scores:
    return gradedeval.evaluate(runs, QRELS, measures, **options)


def each(**options: Any) -> list[Scores]:
    return [score({name: run}, **options) for name, run in RUNS.items()]


TAKERS: dict[str, Callable[[Any], Any]] = {
    "anova": gradedeval.anova,
    "check": lambda scores: gradedeval.check(scores, [gradedeval.Bound("max-drop", "ndcg@10", 0.1)], "A"),
    "compare": gradedeval.compare,
    "correlate": gradedeval.correlate,
    "letters": gradedeval.letters,
    "plan_topics": gradedeval.plan_topics,
    "power": lambda scores: gradedeval.power(scores, draws=50),
    "risk": gradedeval.risk,
    "run_summaries": gradedeval.run_summaries,
    "standardize": gradedeval.standardize,
    "topic_differences": gradedeval.topic_differences,
    "topic_table": gradedeval.topic_table,
    "table": lambda scores: gradedeval.table(scores, "markdown", best=True),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", TAKERS)
def test_results_of_single_runs_equal_one_result_of_all(name: str) -> None:
    function = TAKERS[name]
    together, joined, named = function(score()), function(each()), function(dict(zip("AB", each(), strict=True)))
    assert str(joined) == str(together) == str(named)


def test_a_history_takes_several_results(tmp_path: Path) -> None:
    gradedeval.append_history(each(), tmp_path / "h.jsonl", time="2026-01-01")
    gradedeval.append_history(score(), tmp_path / "g.jsonl", time="2026-01-01")
    assert (tmp_path / "h.jsonl").read_text() == (tmp_path / "g.jsonl").read_text()


def test_files_and_frames_of_scores_may_be_among_them(tmp_path: Path) -> None:
    first, second = each()
    second.frame.to_csv(tmp_path / "b.csv", index=False)
    whole = gradedeval.compare(score()).frame
    for saved in (tmp_path / "b.csv", str(tmp_path / "b.csv"), second.frame):
        assert gradedeval.compare([first, saved]).frame["p"].equals(whole["p"])


def test_effects_of_judging_cover_all_runs() -> None:
    joined = gradedeval.compare(each(residuals=True), judging=True).frame
    assert joined.equals(gradedeval.compare(score(residuals=True), judging=True).frame)


def test_results_of_unnamed_runs_are_numbered() -> None:
    unnamed = [gradedeval.evaluate(run, QRELS, MEASURES) for run in RUNS.values()]
    assert gradedeval.compare(unnamed).frame["run"].unique().tolist() == ["run2"]
    assert gradedeval.compare(unnamed).frame["baseline"].unique().tolist() == ["run1"]


def test_measures_in_common_are_compared() -> None:
    comparison = gradedeval.compare([score({"A": RUNS["A"]}), score({"B": RUNS["B"]}, "ap ndcg@10")])
    assert comparison.frame["measure"].tolist() == ["ndcg@10"]


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a run twice": (
        lambda: gradedeval.compare([each()[0], each()[0]]),
        'scores: duplicate run \'A\'; give each run once, or name the results, as in {"A": scores, "B": others}',
    ),
    "other options": (
        lambda: gradedeval.compare([each()[0], each(depth=5)[1]]),
        "scores: ndcg@10 of 'B' is scored with depth 5 (A: unset); score it again with the same qrels and options",
    ),
    "other gains": (
        lambda: gradedeval.compare([each()[0], each(gain="exp")[1]]),
        "ndcg@10 of 'B' is scored with gains exp gains (here linear gains); score it again with the same qrels and "
        "options",
    ),
    "other measures in a table": (
        lambda: gradedeval.table([each()[0], score({"B": RUNS["B"]}, "ap")]),
        "no measure in common (ndcg@10, err@20 vs ap); score both by the same measures",
    ),
    "saved scores in a table": (
        lambda: gradedeval.table([each()[0], each()[1].frame]),
        "scores: results are by different measures, or saved; give evaluations by the same measures",
    ),
    "several runs under a name": (
        lambda: gradedeval.compare({"A": score()}),
        "scores: 'A' has 2 runs (A, B); a dict names results of one run; give a list",
    ),
    "one standardized": (
        lambda: gradedeval.compare([gradedeval.standardize(each()), score({"C": RUNS["A"]})]),
        "scores: ndcg@10 of 'C' is scored with standardized scores unset",
    ),
    "systems": (
        lambda: gradedeval.compare([score(replicates={"S": ["A", "B"]}), score({"C": RUNS["A"]})]),
        "replicates: systems of several results cannot be joined; score all runs together",
    ),
    "runs without qrels": (
        lambda: gradedeval.compare(["a.run", "b.run"]),
        "scores: expected scores, not a list; give what `gradedeval.evaluate` returns, or runs and qrels",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_results_that_do_not_fit_together_are_refused(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(InputError) as raised:
        call()
    assert str(raised.value).startswith(message)
