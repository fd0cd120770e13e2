"""Number of unjudged documents that reverse the order of two runs, against every subset, judged one by one."""

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval.analysis.reversals import EXACT
from gradedeval.kernel.measures.gains import scores_of
from gradedeval.questions.compare import describe_reversal
from support.commands import Command
from support.examples import sampled
from support.paths import SAMPLES

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning", "error::RuntimeWarning")
Ranking = dict[str, dict[str, float]]
Pairs = Sequence[tuple[str, str]]
TOPICS = ("1", "2", "3")


def case(seed: int, depth: int = 3, shared: bool = False) -> tuple[dict[str, Ranking], dict[str, dict[str, int]]]:
    """Return two runs and qrels; with `shared` the runs have unjudged documents in common."""
    draw = random.Random(seed)
    qrels = {topic: {"a": 2, "b": 0, "c": 1} for topic in TOPICS}
    runs: dict[str, Ranking] = {}
    for name, share in (("first", 0.3), ("second", 0.7)):
        runs[name] = {}
        for topic in TOPICS:
            docnos = [f"{name}{rank}" for rank in range(depth)]
            if shared:
                docnos = draw.sample("uvwxy"[: depth + 2], depth)
            judged = draw.sample("abc", 3)
            for rank in range(depth):
                if judged and draw.random() < share:
                    docnos[rank] = judged.pop()
            runs[name][topic] = {docno: depth - rank for rank, docno in enumerate(docnos)}
    return runs, qrels


def compared(runs: dict[str, Ranking], qrels: dict[str, dict[str, int]], measure: str) -> pd.Series:
    scores = gradedeval.evaluate(runs, qrels, measure, residuals="total", top_grade=2)
    return gradedeval.compare(scores).frame.iloc[0]


def means_after(
    runs: dict[str, Ranking], qrels: dict[str, dict[str, int]], measure: str, extra: Pairs
) -> dict[str, float]:
    """Return the means of runs after some documents get the top grade."""
    judged = {topic: {**grades, **{docno: 2 for t, docno in extra if t == topic}} for topic, grades in qrels.items()}
    scores = gradedeval.evaluate(runs, judged, measure, top_grade=2)
    return {run.run: float(run.score[:, 0].mean()) for run in scores.runs}


def count_fewest(runs: dict[str, Ranking], qrels: dict[str, dict[str, int]], measure: str) -> float:
    """Return the fewest documents of the run behind that reverse the order, by judging every subset; for measures
    that do not depend on the pool alone."""
    original = means_after(runs, qrels, measure, ())
    behind, ahead = sorted(original, key=original.__getitem__)
    unjudged = [(topic, docno) for topic in TOPICS for docno in runs[behind][topic] if docno not in qrels[topic]]
    for count in range(len(unjudged) + 1):
        for chosen in itertools.combinations(unjudged, count):
            means = means_after(runs, qrels, measure, chosen)
            if means[behind] > means[ahead] + 1e-9:
                return count
    return np.nan


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", sampled(range(1, 20), 20))
@pytest.mark.parametrize("measure", ["dcg@3", "p@3", "rbp(p=0.8)"])
def test_the_number_of_documents_is_the_least_by_measures_with_rank_weights(
    measure: str, seed: int, shared: bool
) -> None:
    runs, qrels = case(seed, shared=shared)
    row, least = compared(runs, qrels, measure), count_fewest(runs, qrels, measure)
    if row["difference"] == 0 or row["same_order"]:
        return
    assert (pd.isna(row["reversing"]) and np.isnan(least)) or row["reversing"] == least


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", sampled(range(1, 20), 20))
def test_the_number_of_documents_suffices_by_other_measures(seed: int, shared: bool) -> None:
    runs, qrels = case(seed, shared=shared)
    row, least = compared(runs, qrels, "err"), count_fewest(runs, qrels, "err")
    assert pd.isna(row["reversing"]) or least <= row["reversing"]
    if not pd.isna(row["reversing"]):
        assert row["reversing_share"] == row["reversing"] / row["unjudged"]
        assert 1 <= row["reversing_rank"] <= 3


def test_documents_that_only_level_the_scores_reverse_no_order() -> None:
    qrels = {topic: {"a": 2, "b": 0} for topic in TOPICS}
    ahead, behind = ({topic: {docno: 9.0, "b": 8.0} for topic in TOPICS} for docno in ("a", "u"))
    row = compared({"behind": behind, "ahead": ahead}, qrels, "p@1")
    assert pd.isna(row["reversing"])
    assert abs(row["difference"]) == 1


def test_documents_that_the_run_ahead_lists_lift_it_too() -> None:
    qrels = {topic: {"a": 2, "b": 0} for topic in TOPICS}
    ahead = {topic: {"a": 9.0, "u": 8.0, "v": 7.0} for topic in TOPICS}
    behind = {topic: {"b": 9.0, "u": 8.0, "v": 7.0} for topic in TOPICS}
    row = compared({"behind": behind, "ahead": ahead}, qrels, "p@3")
    # Both runs have u and v at the same ranks: no grade of them changes the order.
    assert row["same_order"]
    assert pd.isna(row["reversing"])
    for topic in TOPICS:
        behind[topic] = {"w": 9.0, "u": 8.0, "v": 7.0}
    row = compared({"behind": behind, "ahead": ahead | {"3": {"b": 9.0, "u": 8.0}}}, qrels, "p@3")
    # Two topics behind: w of all three topics, u and v of none but v of the last, which one list has not.
    assert row["reversing"] == 3


@pytest.mark.parametrize("measure", ["rbp", "ndcg@10"])
def test_missing_topics_and_topics_without_an_ideal_ranking_do_not_disturb(measure: str) -> None:
    runs = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "dense")]
    scores = gradedeval.evaluate(runs, str(SAMPLES / "rivers.qrels"), measure, residuals="total")
    assert list(gradedeval.compare(scores, draws=100)["same_order"]) == [False]


@pytest.mark.parametrize("measure", ["ap", "recall"])
def test_a_topic_without_known_relevant_documents_does_not_disturb(measure: str) -> None:
    """Make one document there worth infinitely more than all known ones, and to both runs."""
    runs = {"a": {"1": {"y": 2.0, "x": 1.0}, "2": {"r": 1.0}}, "b": {"1": {"x": 1.0}, "2": {"n": 1.0}}}
    assert compared(runs, {"1": {"n": 0}, "2": {"r": 1, "n": 0}}, measure)["difference"] == -0.5


def test_long_rankings_are_tried_in_larger_steps() -> None:
    depth = 4 * EXACT
    runs = {
        "behind": {"1": {f"u{rank}": -rank for rank in range(depth)}, "2": {"a": 1.0}},
        "ahead": {topic: {"a": 3.0, "b": 2.0} for topic in "12"},
    }
    qrels = {topic: {"a": 1, "b": 1} for topic in "12"}
    row = compared(runs, qrels, "dcg(rel=1)")
    # Topic 1 needs 1 + 1/log2(3) more, and topic 2 another 1/log2(3): by 1/log2(i + 1) from the top.
    needed = 1 + 2 / np.log2(3)
    reached = np.cumsum(1 / np.log2(np.arange(depth) + 2))
    assert row["reversing"] == row["reversing_rank"] == int(np.argmax(reached > needed + 1e-9)) + 1
    assert row["unjudged"] == depth


@pytest.mark.one_in(4)
@pytest.mark.parametrize("measure", ["ap", "ndcg", "err"])
def test_many_pairs_are_scored_in_few_calls_and_equal_each_pair_alone(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def counted(*words: Any) -> Any:
        nonlocal calls
        calls += 1
        return scores_of(*words)

    monkeypatch.setattr("gradedeval.analysis.reversals.scores_of", counted)
    runs: dict[str, Ranking] = {}
    qrels: dict[str, dict[str, int]] = {}
    for seed in range(8):
        two, qrels = case(seed, shared=True)
        runs |= {f"{name}-{seed}": run for name, run in two.items()}
    together = gradedeval.compare(gradedeval.evaluate(runs, qrels, measure, residuals="total", top_grade=2)).frame
    assert calls < 10 * len(runs) + 40, calls  # of 120 pairs
    drawn = random.Random(1).sample(range(len(together)), 6)
    for row in (together.iloc[number] for number in drawn):
        alone = compared({name: runs[name] for name in (row["run"], row["baseline"])}, qrels, measure)
        for name in ("reversing", "unjudged", "reversing_share", "reversing_rank"):
            assert pd.isna(alone[name]) if pd.isna(row[name]) else alone[name] == row[name]


SESSION = {
    "qrels": "".join(f"{topic} 0 a 1\n{topic} 0 b 0\n" for topic in range(1, 41)),
    "ahead": "".join(f"{topic} Q0 {'a' if topic < 22 else 'b'} 1 1 t\n" for topic in range(1, 41)),
    "behind": "".join(f"{topic} Q0 {'a' if topic < 20 else 'u'} 1 1 t\n" for topic in range(1, 41)),
    "far": "".join(f"{topic} Q0 {'a' if topic < 10 else 'u'} 1 1 t\n" for topic in range(1, 41)),
}


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Write the files of a session and return their folder."""
    for name, content in SESSION.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_a_table_lists_the_documents_that_reverse_an_order(session: Path, cli: Command) -> None:
    words = ("compare", "ahead", "behind", "far", "qrels", "-m", "p@1 bpref", "--baseline", "ahead")
    assert "unjudged docs" not in cli(*words).text  # no --judging
    result = cli(*words, "--judging")
    table, text = result.words, result.text
    # Two topics of 40 behind: the third document reverses it. 21 - 9 topics behind: the 13th of 31.
    assert re.search(r"p@1 +behind .* reversed if 3 of 21 unjudged docs are relevant ", table)
    assert re.search(r"p@1 +far .* reversed if 13 of 31 unjudged docs are relevant ", table)
    assert re.search(r"bpref +behind .* unknown$", text, re.M)
    assert "a reversal assumes that unjudged documents of the trailing run get the top grade" in table
    rows = pd.read_csv(session / "out.csv") if cli(*words, "-o", "out.csv").code == 0 else None
    assert rows is not None
    reversals = rows[rows["measure"] == "p@1"][["run", "reversing", "unjudged", "reversing_rank"]].values.tolist()
    assert reversals == [["behind", 3, 21, 1], ["far", 13, 31, 1]]

    (session / "close").write_text(SESSION["behind"].replace("20 Q0 u", "20 Q0 a").replace("21 Q0 u", "21 Q0 b"))
    near = cli("compare", "ahead", "close", "qrels", "-m", "p@1", "--judging").text
    assert re.search(
        r"reversed if 2 of 19 unjudged docs are relevant ", " ".join(near.split())
    )  # by one they come level


def test_a_single_document_takes_the_singular() -> None:
    row = {"same_order": False, "reversing": 1, "unjudged": 19}
    assert describe_reversal(row) == "reversed if 1 of 19 unjudged docs is relevant"
    assert describe_reversal(row | {"unjudged": 1}) == "reversed if 1 of 1 unjudged doc is relevant"
    assert describe_reversal(row | {"reversing": 1200, "unjudged": 3000}).startswith(
        "reversed if 1,200 of 3,000 unjudged docs are"
    )


@pytest.mark.usefixtures("session")
def test_reversals_of_saved_scores_are_unknown(cli: Command) -> None:
    for words in ((), ("--residuals",)):
        cli("ahead", "behind", "qrels", "-m", "p@1 bpref", "-q", "-o", "scores.csv", *words)
        table = cli("compare", "--from-scores", "scores.csv", "--judging").text
        assert re.search(r"p@1 .* unknown$", table, re.M)
        assert re.search(r"bpref .* unknown$", table, re.M)


@pytest.mark.usefixtures("session")
def test_a_measure_has_the_name_of_the_request(cli: Command) -> None:
    table = cli("compare", "ahead", "behind", "qrels", "-m", "P@1", "--judging").words
    assert re.search(r"P@1 +behind .* reversed if 3 of 21 unjudged docs are relevant ", table)


@pytest.mark.usefixtures("session")
def test_reversals_are_known_of_standard_input_and_not_of_iterators(cli: Command) -> None:
    def rows(first: str) -> Iterator[tuple[str, str, float]]:
        for topic in TOPICS:
            yield from ((topic, docno, 9.0 - rank) for rank, docno in enumerate([first, "u"]))

    qrels = {topic: {"a": 1, "b": 0} for topic in TOPICS}
    scores = gradedeval.evaluate({"one": rows("a"), "two": rows("v")}, qrels, "ap p@2", residuals="total")
    frame = gradedeval.compare(scores).frame
    assert frame["same_order"].tolist() == [False, False]
    assert frame["reversing"].isna().all()
    table = cli("compare", "ahead", "-", "qrels", "-m", "p@1 p@2", "--judging", stdin=SESSION["behind"].encode()).words
    assert re.search(r"p@1 +stdin +ahead .* reversed if 3 of 21 unjudged docs are relevant ", table)
