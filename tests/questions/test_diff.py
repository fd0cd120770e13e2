"""`diff`: topics that got worse and the documents responsible, agreement without qrels, and reproduced experiments."""

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

import gradedeval
from gradedeval import Diff, InputError
from gradedeval.kernel.scoring.results import to_rows
from gradedeval.questions.diff import describe_topic
from support.commands import Command, succeed
from support.commands import rows as csv_rows
from support.measures import VARIANTS
from support.paths import QRELS, SAMPLES

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
BM25, RM3, NEURAL, DENSE = (str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "dense"))
JUDGED = {"t": {"a": 3, "b": 1, "n": 0}, "u": {"a": 1}}


def by_docno(diff: Diff) -> dict[str, dict[str, Any]]:
    rows = diff.documents.astype(object).where(diff.documents.notna(), None).to_dict("records")
    return {row["docno"]: row for row in rows}


def random_pair(seed: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return two runs with documents in common, and judgments of some of them."""
    draw = random.Random(seed)
    topics, docnos = [f"t{number}" for number in range(4)], [f"d{number}" for number in range(14)]
    runs = [
        {topic: {docno: draw.random() for docno in draw.sample(docnos, draw.randint(1, 9))} for topic in topics}
        for _ in range(2)
    ]
    qrels = {topic: {docno: draw.choice([0, 0, 1, 2, 3]) for docno in draw.sample(docnos, 8)} for topic in topics}
    qrels["t0"]["top"] = 3
    return runs[0], runs[1], qrels


def test_by_hand() -> None:
    """Check a pair by hand: a fell from 1 to 3 below an unjudged document that entered; b left."""
    original = {"t": {"a": 3.0, "b": 2.0, "n": 1.0}, "u": {"a": 1.0}}
    changed = {"t": {"x": 3.0, "n": 2.0, "a": 1.0}, "u": {"a": 1.0}}
    diff = gradedeval.diff({"A": original}, {"B": changed}, JUDGED, "rr(rel=3) dcg")
    assert (diff.baseline, diff.run) == ("A", "B")
    worst = diff.topics[diff.topics["measure"] == "rr(rel=3)"].iloc[0]
    assert (worst["topic"], worst["baseline_score"], worst["score"]) == ("t", 1, pytest.approx(1 / 3))
    assert worst["difference"] == pytest.approx(-2 / 3)
    assert (worst["residual"], worst["same_order"]) == (pytest.approx(2 / 3), False)  # x could be the relevant one
    rows = by_docno(Diff("A", "B", diff.topics, diff.documents[diff.documents["measure"] == "dcg"], [], ""))
    changes = {docno: row["change"] for docno, row in rows.items()}
    assert changes == {"a": "fell", "b": "left", "n": "rose", "x": "entered"}
    assert (rows["a"]["baseline_rank"], rows["a"]["rank"], rows["a"]["grade"]) == (1, 3, 3)
    assert rows["a"]["explains"] == pytest.approx(3 / 2 - 3)
    assert (rows["b"]["rank"], rows["b"]["contribution"]) == (None, None)
    assert (rows["x"]["grade"], rows["x"]["above"], rows["n"]["above"]) == (None, "a", None)


def test_memory_that_was_not_written_changes_no_docno(monkeypatch: pytest.MonkeyPatch) -> None:
    original, changed, qrels = random_pair(1)
    expected = gradedeval.diff(original, changed, qrels, "dcg").documents
    empty = np.empty

    def dirty(shape: Any, dtype: Any = float, **keywords: Any) -> Any:
        array = empty(shape, dtype, **keywords)
        if array.dtype.kind in "if":
            array.fill(-(2**40) if array.dtype.itemsize == 8 else -3)
        return array

    monkeypatch.setattr(np, "empty", dirty)
    pd.testing.assert_frame_equal(gradedeval.diff(original, changed, qrels, "dcg").documents, expected)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 12))])
def test_the_documents_explain_the_whole_difference_by_every_measure(seed: int) -> None:
    original, changed, qrels = random_pair(seed)
    measures = [
        measure for measure in VARIANTS if not (measure.by_intent or measure.types or measure.definition.may_skip)
    ][seed::12]
    diff = gradedeval.diff(original, changed, qrels, measures, top_grade=3)
    key = ["measure", "topic"]
    explained = diff.documents.groupby(key)["explains"].sum()
    differences = diff.topics.set_index(key)["difference"]
    assert len(differences) == 4 * len({measure.label for measure in measures})
    finite = differences[differences.abs() < float("inf")]
    assert (explained.reindex(finite.index).fillna(0.0) - finite).abs().max() < 1e-9


def mirrored(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame of the opposite difference."""
    swapped = {"baseline_rank": "rank", "baseline_contribution": "contribution"}
    swapped |= {"baseline_score": "score", "baseline_residual": "residual"}
    mirror = frame.rename(columns={**swapped, **{new: old for old, new in swapped.items()}})
    for name in {"explains", "difference"} & set(mirror.columns):
        mirror[name] = -mirror[name]
    if "change" in mirror:
        names = {"entered": "left", "rose": "fell"}
        mirror["change"] = mirror["change"].replace({**names, **{new: old for old, new in names.items()}})
    return mirror[frame.columns]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(3))
def test_swapped_runs_give_the_opposite(seed: int) -> None:
    original, changed, qrels = random_pair(seed)
    first, second = (
        gradedeval.diff(*pair, qrels, "ndcg@5 ap rbp err@3") for pair in ((original, changed), (changed, original))
    )
    for name, key in (("topics", ["measure", "topic"]), ("documents", ["measure", "topic", "part", "docno"])):
        frames = [
            frame.drop(columns="above", errors="ignore").sort_values(key).reset_index(drop=True)
            for frame in (getattr(first, name), mirrored(getattr(second, name)))
        ]
        pd.testing.assert_frame_equal(*frames)


def test_a_run_equals_itself() -> None:
    diff = gradedeval.diff(BM25, BM25, QRELS, "ndcg@10 ap")
    assert diff.documents.empty
    assert not diff.topics["difference"].any()
    assert diff.topics["same_order"].all()
    assert diff.only("worse").topics.empty


def test_topics_stand_from_the_worst_to_the_best_in_both_directions() -> None:
    diff = gradedeval.diff(BM25, RM3, QRELS, "ndcg@10 esl")
    for measure, sign in (("ndcg@10", 1), ("esl", -1)):
        change = sign * diff.topics[diff.topics["measure"] == measure]["difference"]
        assert change.is_monotonic_increasing
    worse = diff.only("worse").topics
    assert set(worse["measure"]) == {"ndcg@10", "esl"}
    assert (worse[worse["measure"] == "esl"]["difference"] > 0).all()


def test_a_run_compared_with_itself_has_no_line(cli: Command) -> None:
    text = cli("diff", BM25, BM25, QRELS, "-m", "ndcg@10").text
    assert "50 topics: 0 worse, 0 better, 50 equal (50 with the same documents)" in text
    assert "why" not in text
    assert cli("diff", BM25, BM25, QRELS, "-m", "ndcg@10", "-f", "csv").text.count("\n") == 1


def test_machine_formats_have_a_row_for_each_document(cli: Command) -> None:
    outcome = cli("diff", BM25, RM3, QRELS, "-m", "ndcg@10", "-f", "csv", "--top", "2")
    rows = csv_rows(outcome.text)
    assert {row["topic"] for row in rows} == {"313", "332"}
    for topic in ("313", "332"):
        of_topic = [row for row in rows if row["topic"] == topic]
        explained = sum(float(row["explains"]) for row in of_topic)
        assert explained == pytest.approx(float(of_topic[0]["difference"]), abs=1e-9)


REVERSIBLE = "--only: effects of judging are unknown here; leave"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((BM25, QRELS), "1 run given; with qrels diff compares two: diff A B QRELS"),
        ((BM25,), "1 run given; agreement is between two or more"),
        ((BM25, RM3, "--only", "worse"), "--only: needs qrels; add QRELS"),
        ((BM25, RM3, QRELS, "--at", "3"), "--at: applies to runs without qrels; leave it out"),
        ((BM25, RM3, "--topic", "nine"), "--topic: 'nine' is not a topic of both runs; as in "),
        ((BM25, QRELS, "--reproduce", DENSE, NEURAL), "1 runs and 2 originals given; give a baseline"),
        ((BM25, RM3, QRELS, "--topic", "31"), "--topic: '31' is not a topic that both runs are scored on; did you"),
        ((BM25, RM3, QRELS, "--only", "wors"), "--only: invalid value 'wors'; did you mean 'worse'?"),
        ((BM25, RM3, QRELS, "--only", "reversible", "--ties", "best"), REVERSIBLE),
        ((BM25, RM3, QRELS, "--only", "reversible", "-m", "bpref"), REVERSIBLE),
        ((BM25, RM3, QRELS, "--ties", "average"), "--ties: an average over orders has no ranks"),
        ((BM25, RM3, QRELS, "--reproduce", BM25, RM3, "--only", "worse"), "--only: does not apply to --reproduce;"),
        ((BM25, RM3, "--reproduce", BM25, RM3, "--at", "3"), "--at: does not apply to --reproduce; leave it out"),
        ((BM25, RM3, "--reproduce", BM25, RM3, "-m", "ap"), "-m: needs qrels; add QRELS"),
        ((BM25, RM3, NEURAL, "--top", "3"), "--top: applies to two runs, and 3 are given; leave it out"),
        ((BM25, RM3, "--gain", "exp"), "--gain: needs qrels; add QRELS"),
    ],
)
def test_incomparable_runs_are_a_one_line_error(words: tuple[str, ...], message: str, cli: Command) -> None:
    outcome = cli("diff", *words)
    assert (outcome.code, len(outcome.messages)) == (2, 1)
    assert message in outcome.messages[0]


def test_two_runs_of_one_name_get_distinct_names() -> None:
    run = {"t": {"a": 1.0}}
    diff = gradedeval.diff(run, {"t": {"n": 1.0}}, JUDGED, "rr")
    assert (diff.baseline, diff.run) == ("run (A)", "run (B)")
    with pytest.raises(InputError, match="shares no topics"):
        gradedeval.diff({"A": {"t": {"a": 1.0}}}, {"B": {"u": {"a": 1.0}}}, JUDGED, "rr", topics="both")


def test_unjudged_documents_are_counted_with_the_relevant_one_that_they_passed() -> None:
    """Check that two passed a, one passed b alone, and the one at rank 21 is not reported."""
    original = ["a", "n0", "b", "x", "y", "z", *(f"n{number}" for number in range(1, 20)), "w"]
    changed = ["x", "y", "a", "n0", "z", "b", *(f"n{number}" for number in range(1, 15)), "w"]
    runs = [{"t": {docno: float(-rank) for rank, docno in enumerate(docnos)}} for docnos in (original, changed)]
    judged = {"t": {"a": 1, "b": 1, **{f"n{number}": 0 for number in range(20)}}}
    diff = gradedeval.diff(*runs, judged, "ap")
    (row,) = to_rows(diff.topics)
    assert describe_topic(diff, row, 4).endswith("; unjudged x and 1 more moved above relevant a, 1 above others")


def test_counts_have_no_decimals(cli: Command) -> None:
    text = cli("diff", BM25, RM3, QRELS, "-m", "num_rel_ret", "--top", "1").text
    assert re.search(r"num_rel_ret: \d+ → \d+ \([+-]\d+\)", text)
    assert not re.search(r"\d\.\d", text.split("gradedeval ")[0])


@pytest.mark.parametrize("words", [("diff", BM25, BM25), ("explain", BM25, BM25, QRELS, "--topic", "301")])
def test_a_run_may_be_compared_with_itself(words: tuple[str, ...], cli: Command) -> None:
    outcome = succeed(cli(*words))
    assert f"{BM25} (A) and {BM25} (B)" in outcome.words


def test_the_matrix_of_one_topic_has_a_note(cli: Command) -> None:
    text = cli("diff", BM25, RM3, NEURAL, "--topic", "301").text
    assert "tau; topic 301" in text
    assert "means" not in text


def test_two_runs_may_stand_in_a_list_or_a_dict() -> None:
    qrels, first, second = {"1": {"a": 1}}, {"1": {"a": 2.0, "b": 1.0}}, {"1": {"b": 2.0, "a": 1.0}}
    diff = gradedeval.diff({"one": first}, {"other": second}, qrels, "ap")
    both = {"one": first, "other": second}
    for variant in (gradedeval.diff(both, qrels, "ap"), gradedeval.diff(both, qrels, measures="ap")):
        assert (variant.baseline, variant.run, variant.signature) == ("one", "other", diff.signature)
        assert variant.topics.equals(diff.topics)
    with pytest.raises(InputError, match=r"^diff: needs qrels; as in diff\(baseline, run, qrels, measures\)$"):
        gradedeval.diff(first, second)
    with pytest.raises(InputError, match=r"^3 runs given; with qrels diff compares two"):
        gradedeval.diff([first, second, first], qrels)
    for measure in ("p@5", "ndcg@5"):  # at another rank it counts the same, or not
        words = gradedeval.diff(first, second, qrels, measure)._repr_html_()
        assert ("no document counts more or less than before" in words) == (measure == "p@5")
    problem = r"^diff: is given more than two runs; as in diff\(\[A, B\], qrels, measures\)$"
    with pytest.raises(InputError, match=problem):
        gradedeval.diff([first, second], first, qrels, "ap")


@pytest.mark.filterwarnings("error::gradedeval.EvaluationWarning")
def test_the_numbers_of_two_runs() -> None:
    runs = {"A": {"t": {"a": 3.0, "b": 2.0, "c": 1.0}, "only": {"x": 1.0}}, "B": {"t": {"b": 9.0, "a": 8.0, "d": 7.0}}}
    with pytest.warns(gradedeval.EvaluationWarning, match="1 of 2 topics left out of a pair: not in both runs"):
        result = gradedeval.ranking_agreement(runs, at=2)
    (row,) = result.frame.to_dict("records")
    assert (row["topic"], row["overlap"], row["tau"], row["common"]) == ("t", 1, -1, 2)
    assert row["residual"] == pytest.approx(row["rbo_high"] - row["rbo_low"])
    assert list(result.means["topics"]) == [1]
    assert gradedeval.ranking_agreement([BM25, RM3]).of_topic("301").frame["overlap"].tolist() == [0.2]


def test_a_reproduced_experiment_is_the_original() -> None:
    frame = gradedeval.reproduction([BM25, NEURAL], [BM25, NEURAL], QRELS, "ndcg@10 ap", topics="relevant").frame
    best = {"ktu": 1, "rbo": 1, "rmse": 0, "er": 1, "delta_ri": 0}
    for row in frame.to_dict("records"):
        assert row["value"] == pytest.approx(best[row["what"]])


def test_ranking_agreement_of_a_reproduction_agrees_with_the_command(cli: Command) -> None:
    runs, originals = [NEURAL, BM25], [BM25, NEURAL]
    frame = gradedeval.reproduction(runs, originals, persistence=0.8).frame
    outcome = cli("diff", *runs, "--reproduce", *originals, "--persistence", "0.8", "-f", "csv")
    printed = [float(row["value"]) for row in csv_rows(outcome.text)]
    assert printed == pytest.approx(frame["value"].tolist(), abs=1e-12)


@pytest.mark.filterwarnings("error::gradedeval.EvaluationWarning")
def test_the_numbers_of_a_reproduction() -> None:
    """Check the example of Breuer et al.: the union of d1 d2 d3 and d1 d2 d4 is d1 d2 d3 d4, so that ranks 1 2 3
    meet 1 2 4."""
    qrels = {"t": {"d1": 1, "d3": 1}, "u": {"d1": 1}}
    old = {"t": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "u": {"d2": 2.0, "d1": 1.0}}
    better = {"t": {"d3": 3.0, "d1": 2.0}, "u": {"d1": 2.0}}
    reproduced = {"t": {"d1": 3.0, "d2": 2.0, "d4": 1.0}, "u": {"d2": 2.0, "d1": 1.0}}
    good = {"t": {"d1": 3.0, "d4": 2.0}, "u": {"d1": 2.0}}
    frame = gradedeval.reproduction({"b": reproduced, "a": good}, {"B": old, "A": better}, qrels, "p@2").frame
    value = {(row["what"], row["run"]): row["value"] for row in frame.to_dict("records")}
    assert value["ktu", "b"] == 1
    assert value["rmse", "b"] == 0
    assert value["rmse", "a"] == pytest.approx(math.sqrt((0.5**2 + 0) / 2))
    improved, original = 0.5 - 0.5, 0.75 - 0.5
    assert value["er", "a − b"] == pytest.approx(improved / original)
    assert value["delta_ri", "a − b"] == pytest.approx(original / 0.5 - improved / 0.5)


def test_machine_formats_have_a_row_for_each_topic_of_two_runs(cli: Command) -> None:
    lines = cli("diff", BM25, RM3, "-f", "jsonl", "--top", "1").text.splitlines()
    assert json.loads(lines[0]).keys() >= {"run", "other", "topic", "rbo", "residual", "overlap", "tau"}


def test_runs_without_a_topic_in_common_are_refused() -> None:
    runs: Any = {"A": {"t": {"a": 1.0}}, "B": {"u": {"a": 1.0}}}
    with pytest.raises(InputError, match="shares no topics with"):
        gradedeval.ranking_agreement(runs)


@pytest.mark.parametrize("words", [("diff", BM25, RM3), ("pool", BM25, RM3)])
def test_runs_without_a_listed_topic_are_refused(words: tuple[str, ...], tmp_path: Path, cli: Command) -> None:
    (tmp_path / "topics").write_text("none\n")
    outcome = cli(*words, "--topics-from", "topics")
    message = f"--topics-from: no topic of {BM25} is listed; its topics are 301, 302, 303, 304, 305, …"
    assert (outcome.code, outcome.out, outcome.messages) == (1, b"", [message])
    with pytest.raises(InputError, match=r"^A: is empty"):
        gradedeval.ranking_agreement({"A": {}, "B": {"t": {"a": 1.0}}})


def test_ktu_orders_the_union_by_docno_as_repro_eval() -> None:
    """Compare with loops; rankings without a common document agree by chance alone, and the paper's example fully."""
    draw = random.Random(17)

    def ktu(run: list[str], original: list[str]) -> float:
        ranked = [{"t": {docno: float(-rank) for rank, docno in enumerate(docnos)}} for docnos in (run, original)]
        result = gradedeval.reproduction([ranked[0]] * 2, [ranked[1]] * 2).frame
        return float(result[result["what"] == "ktu"]["value"].iloc[0])

    docnos = [f"d{number:02}" for number in range(60)]
    for _ in range(5):
        run, original = draw.sample(docnos, draw.randint(2, 30)), draw.sample(docnos, draw.randint(2, 30))
        union = sorted({*run, *original})
        places = [
            [union.index(member) for member in ranking[: min(len(run), len(original))]] for ranking in (run, original)
        ]
        assert ktu(run, original) == pytest.approx(kendalltau(*places).statistic)
    assert ktu(["d1", "d2", "d4"], ["d1", "d2", "d3"]) == 1
    mixed = draw.sample(docnos, 60)
    assert abs(ktu(mixed[:30], mixed[30:])) < 0.4
