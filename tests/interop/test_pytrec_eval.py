"""The interface of pytrec_eval gives its numbers under the requested names."""

import random
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError
from gradedeval.interop import pytrec_eval

DRAW = random.Random(3)
QRELS = {f"q{t}": {f"d{i}": DRAW.choice([-1, 0, 0, 1, 2]) for i in range(20)} for t in range(6)}
RUN = {f"q{t}": {f"d{i}": DRAW.randint(0, 9) / 4 for i in DRAW.sample(range(30), 15)} for t in range(6)}

NAMES = {"map", "ndcg_cut", "ndcg_cut.3,7", "P_5", "recall.5,10", "success_1", "gm_map", "num_ret", "num_q", "Rprec",
         "iprec_at_recall", "11pt_avg", "bpref", "infAP", "utility", "set_F", "recip_rank", "relative_P_5"}  # fmt: skip


@pytest.mark.parametrize(("level", "judged_only"), [(1, False), (2, True), (1, 1)])
def test_scores_equal_scores_of_pytrec_eval(level: int, judged_only: bool) -> None:
    theirs = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    arguments: tuple[Any, ...] = (QRELS, NAMES, level, judged_only)
    run = {**RUN, "q0": {"d0": 16777216.0, "d1": 16777217.0, "d2": 1.0}}  # the first two are one float32
    expected = theirs.RelevanceEvaluator(*arguments).evaluate(run)
    results = gradedeval.RelevanceEvaluator(*arguments).evaluate(run)
    assert results.keys() == expected.keys()
    for topic, scores in expected.items():
        assert results[topic] == pytest.approx(scores, abs=1e-12)
    for name in ("map", "gm_map", "num_ret"):
        values = [scores[name] for scores in expected.values()]
        assert pytrec_eval.compute_aggregated_measure(name, values) == pytest.approx(
            theirs.compute_aggregated_measure(name, values)
        )
    assert pytrec_eval.supported_measures >= theirs.supported_measures


@pytest.mark.parametrize("name", ["set_F.2", "set_F_0.5", "11pt_avg.0.25,0.5", "P.5,10"])
def test_names_with_parameters_follow_pytrec_eval(name: str) -> None:
    theirs = pytest.importorskip("pytrec_eval")
    qrels, run = {"1": {"a": 2, "b": 1, "c": 0}}, {"1": {"a": 1.0, "b": 2.0, "d": 3.0}}
    results = pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)
    assert results["1"] == pytest.approx(theirs.RelevanceEvaluator(qrels, {name}).evaluate(run)["1"])
    both = pytrec_eval.RelevanceEvaluator(qrels, ["set_F.2", "set_F.0.5"]).evaluate(run)["1"]
    assert both == pytest.approx({"set_F_2": 6 / 7, "set_F_0.5": 0.75})


def test_measures_of_gradedeval_and_trec_eval_stand_together() -> None:
    results = gradedeval.RelevanceEvaluator(QRELS, ["map", "err@20", "nDCG@5"]).evaluate(RUN)
    assert list(results["q0"]) == ["map", "err@20", "nDCG@5"]
    ours = gradedeval.evaluate(RUN, QRELS, "err(gain=exp)@20", like="trec_eval", order="float32")
    assert {topic: scores["err@20"] for topic, scores in results.items()} == ours.by_topic("err(gain=exp)@20")


def test_topics_without_a_ranking_or_judgments_are_left_out_with_a_warning() -> None:
    evaluator = gradedeval.RelevanceEvaluator({**QRELS, "empty": {}}, {"map"})
    assert evaluator.evaluate({}) == {}
    with pytest.warns(EvaluationWarning, match="5 of 6 judged topics are missing"):
        assert list(evaluator.evaluate({"q1": RUN["q1"]})) == ["q1"]
    with pytest.warns(EvaluationWarning, match="shares no topics"):
        assert evaluator.evaluate({"x": {"a": 1.0}}) == {}


@pytest.mark.parametrize("nickname", ["all_trec", "official", "set"])
def test_a_nickname_has_the_keys_and_scores_of_pytrec_eval(nickname: str) -> None:
    theirs = pytest.importorskip("pytrec_eval")
    expected = theirs.RelevanceEvaluator(QRELS, {nickname}).evaluate(RUN)
    results = pytrec_eval.RelevanceEvaluator(QRELS, {nickname}).evaluate(RUN)
    for topic, scores in expected.items():
        assert results[topic] == pytest.approx(scores, abs=1e-12)


def test_text_is_0_as_in_pytrec_eval() -> None:
    results = pytrec_eval.RelevanceEvaluator(QRELS, ["runid", "relstring.2", "num_q"]).evaluate(RUN)
    assert results["q1"] == {"runid": 0, "num_q": 1, "relstring": 0}


@pytest.mark.parametrize("judgments", [{}, {"q1": {}, "q2": {}}])
@pytest.mark.parametrize("measures", [{"map", "ndcg"}, set()])
def test_without_judgments_no_topic_is_scored(judgments: Any, measures: set[str]) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, measures)
    assert evaluator.evaluate(RUN) == evaluator.evaluate({}) == {}
    assert pytrec_eval.parse_qrel([]) == pytrec_eval.parse_run([]) == {}


def test_files_are_parsed_from_their_lines() -> None:
    assert pytrec_eval.parse_run(["q1 Q0 a 1 0.5 t\n", "q1 Q0 b 2 0.25 t"]) == {"q1": {"a": 0.5, "b": 0.25}}
    assert pytrec_eval.parse_qrel(["q1 0 a 2\n", "q2 0 b -1\n"]) == {"q1": {"a": 2}, "q2": {"b": -1}}
    with pytest.raises(InputError, match="run:1: 2 fields"):
        pytrec_eval.parse_run(["q1 a"])


@pytest.mark.parametrize("wrong", [{"mapp"}, {"ndcg_cut_x"}, [5], 5])
def test_an_unknown_measure_is_an_input_error(wrong: Any) -> None:
    with pytest.raises(InputError):
        gradedeval.RelevanceEvaluator(QRELS, wrong)
    with pytest.raises(InputError):
        gradedeval.RelevanceEvaluator(QRELS, {"map"}).evaluate(np.zeros(3))
