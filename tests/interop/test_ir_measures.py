"""ir_measures both ways, and PyTerrier: its measures in gradedeval, and measures of gradedeval in it."""

import importlib
import pickle
import runpy
import sys
import warnings
from typing import Any

import pytest

import gradedeval
from gradedeval import InputError, measure, parse_measures
from gradedeval.measures import ap, err, ndcg
from support.paths import ROOT

ir_measures = pytest.importorskip("ir_measures", reason="pip install ir_measures")
theirs = pytest.importorskip("gradedeval.interop.ir_measures", reason="pip install ir_measures")

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")

QRELS = {"1": {"a": 1, "b": 0, "x": 2}, "2": {"c": 2}, "3": {"z": 1}}
RUN = {"1": {"a": 2.0, "b": 3.0}, "2": {"c": 1.0}, "9": {"a": 1.0}}
NAMES = "err@20 gap rbp(p=0.9) num_ret gm_ap ndcg(gain=exp)@10"


def test_measures_of_ir_measures_are_accepted_like_text() -> None:
    measures = [ir_measures.nDCG @ 10, ir_measures.AP(rel=2), "err@20", ir_measures.SetF(beta=2.0), ap]
    scores = gradedeval.evaluate(RUN, QRELS, measures)
    assert list(scores.means) == ["nDCG@10", "AP(rel=2)", "err@20", "SetF(beta=2.0)", "ap"]
    assert scores[ir_measures.nDCG @ 10] == scores[ndcg @ 10] == scores["nDCG@10"]
    assert scores.by_topic(ir_measures.nDCG @ 10) == scores.by_topic("ndcg@10")
    assert scores.means[ir_measures.AP(rel=2)] == scores["ap(rel=2)"]
    assert parse_measures(ir_measures.NumRelRet) == parse_measures("num_rel_ret(rel=1)")
    # Its name as text is a measure of gradedeval; the object is one of ir_measures.
    assert parse_measures(ir_measures.alpha_DCG @ 5) == parse_measures("alpha_dcg(norm=best)@5")
    with pytest.raises(InputError, match="'seen': is defined in ir_measures as a function, which works only there"):
        parse_measures(ir_measures.define_byquery(lambda qrels, run: 1.0, name="seen"))


def test_measures_of_gradedeval_work_in_ir_measures() -> None:
    measures = theirs.as_ir_measures(NAMES)
    assert [str(each) for each in measures] == NAMES.split()
    means = ir_measures.calc_aggregate([*measures, ir_measures.AP], QRELS, RUN)
    ours = gradedeval.evaluate(RUN, QRELS, NAMES)
    assert {str(each): means[each] for each in measures} == pytest.approx(dict(ours.means), abs=1e-15)
    assert means[ir_measures.AP] == pytest.approx(ours.by_topic("gap")["2"] / 3 + 0.25 / 3)
    by_topic = {
        (metric.query_id, str(metric.measure)): metric.value for metric in ir_measures.iter_calc(measures, QRELS, RUN)
    }
    assert by_topic == {(topic, name): score for name in NAMES.split() for topic, score in ours.by_topic(name).items()}


@pytest.mark.parametrize("measure", ["P@2", "RR", "AP", "nDCG@2", "R@1", "SetP", "Success@1", "IPrec@0.5"])
def test_a_condensed_list_for_one_measure_agrees_with_ir_measures(measure: str) -> None:
    name, _, cutoff = measure.partition("@")
    condensed = ir_measures.parse_measure(
        f"{name}(judged_only=True)@{cutoff}" if cutoff else f"{name}(judged_only=True)"
    )
    run = {"1": {"u": 4.0, "b": 3.0, "v": 2.0, "a": 1.0}, "2": {"w": 2.0, "c": 1.0}}
    try:
        expected = ir_measures.pytrec_eval.calc_aggregate([condensed], QRELS, run)
    except RuntimeError as error:
        pytest.skip(str(error))
    both = [condensed, ir_measures.parse_measure(measure)]
    means = theirs.GradedProvider().calc_aggregate(both, QRELS, run)
    assert means[condensed] == pytest.approx(expected[condensed])
    assert means[condensed] > means[both[1]] or measure == "Success@1"
    converted = theirs.as_ir_measures(str(condensed))
    assert ir_measures.calc_aggregate(converted, QRELS, run)[converted[0]] == pytest.approx(expected[condensed])


def test_a_preset_s_top_grade_counts_only_in_measures_that_use_it() -> None:
    high = {"1": {"a": 50, "b": 0}, "2": {"c": 1}}
    scores = gradedeval.evaluate(RUN, high, [ir_measures.Compat(p=0.8), ir_measures.nDCG @ 5], like="ir_measures")
    plain = gradedeval.evaluate(RUN, high, [ir_measures.Compat(p=0.8), ir_measures.nDCG @ 5], order="float32")
    assert dict(scores.means) == dict(plain.means)
    assert "top 50" in scores.signature
    with pytest.raises(
        InputError, match=r"grade 50 is above the top grade 4, which ERR@5 takes from like=.ir_measures"
    ):
        gradedeval.evaluate(RUN, high, [ir_measures.ERR @ 5, ir_measures.nDCG @ 5], like="ir_measures")
    assert gradedeval.evaluate(RUN, high, "ERR@5", like="ir_measures", top_grade=50).means["ERR@5"] > 0
    with pytest.raises(InputError, match="grade 50 is above the top grade 4; raise"):
        gradedeval.evaluate(RUN, high, [ir_measures.nDCG @ 5], like="ir_measures", top_grade=4)
    # Listed gains suffice: only grades of the qrels need one.
    listed = gradedeval.evaluate(RUN, QRELS, "INST(T=2.0,max_rel=2) gap ERR@5", like="ir_measures")
    assert listed.means["ERR@5"] == gradedeval.evaluate(RUN, QRELS, "err@5", top_grade=4).means["err@5"]
    assert listed.means["gap"] == gradedeval.evaluate(RUN, QRELS, "gap", top_grade=4).means["gap"]


def test_a_provider_with_options_scores_by_them() -> None:
    tied = {"1": {"a": 1.0, "b": 1.0}, "2": {"c": 1.0}, "3": {}}
    means = theirs.GradedProvider(ties="worst").calc_aggregate([theirs.err @ 5, ir_measures.AP], QRELS, tied)
    ours = gradedeval.evaluate(tied, QRELS, ["err@5", ir_measures.AP], ties="worst")
    assert {str(each): mean for each, mean in means.items()} == pytest.approx(dict(ours.means))
    repeated = [ir_measures.Qrel("1", "a", 0), ir_measures.Qrel("1", "a", 1)]
    provider = theirs.GradedProvider(duplicates="last")
    assert provider.calc_aggregate([theirs.ap], repeated, {"1": {"a": 1.0}}) == {theirs.ap: 1.0}
    with pytest.raises(InputError, match="unknown option 'foo'"):
        theirs.GradedProvider(foo=1)


def test_measures_of_both_packages_are_made_alike() -> None:
    assert theirs.err @ 20 == theirs.as_ir_measures("err@20")[0] == theirs.as_ir_measures(err @ 20)[0]
    assert str(theirs.rbp(p=0.9)) == "rbp(p=0.9)"
    assert (theirs.err @ 20).gradedeval == err @ 20
    assert len({theirs.err @ 20, theirs.err @ 20, theirs.err @ 10}) == 2
    assert pickle.loads(pickle.dumps(theirs.gap)) == theirs.gap
    assert parse_measures([theirs.err @ 20]) == [err @ 20]
    for wrong in (
        lambda: theirs.rbp(q=1),
        lambda: theirs.num_q @ 3,
        lambda: ir_measures.calc_aggregate([theirs.p], QRELS, RUN),
    ):
        with pytest.raises(InputError):
            wrong()
    with pytest.raises(AttributeError, match=r"no measure is called 'nothing'$"):
        _ = theirs.nothing
    with pytest.raises(AttributeError, match=r"no measure is called 'nDGC'; did you mean 'ndcg'\?$"):
        _ = theirs.nDGC


@pytest.mark.parametrize("name", ["ERR", "nDCG", "AP", "RR", "P", "R", "RBP", "ERR_IA", "NERR8", "SetP"])
def test_names_of_ir_measures_are_names_of_gradedeval_too(name: str) -> None:
    ours, expected = getattr(theirs, name), getattr(gradedeval.measures, name)
    (written,) = gradedeval.parse_measures(f"{name}@10")
    assert ours.gradedeval == expected
    assert str(expected) == str(written).replace("@10", "")


def rows(kind: str) -> tuple[Any, Any]:
    """Return the qrels and the run in a form that ir_measures accepts."""
    qrels = [ir_measures.Qrel(topic, docno, grade) for topic in QRELS for docno, grade in QRELS[topic].items()]
    run = [ir_measures.ScoredDoc(topic, docno, score) for topic in RUN for docno, score in RUN[topic].items()]
    if kind == "rows":
        return qrels, run
    if kind == "iterators":
        return iter(qrels), iter(run)
    import pandas as pd

    return pd.DataFrame(qrels), pd.DataFrame(run).assign(rank=0, query="text")


@pytest.mark.parametrize("kind", ["rows", "iterators", "frames"])
def test_runs_and_qrels_come_in_any_form(kind: str) -> None:
    qrels, run = rows(kind)
    means = ir_measures.calc_aggregate([theirs.err @ 20, ir_measures.nDCG @ 10], qrels, run)
    assert {str(name): mean for name, mean in means.items()} == pytest.approx(
        dict(gradedeval.evaluate(RUN, QRELS, "err@20 nDCG@10").means), abs=1e-15
    )


def test_qrels_are_read_once_and_every_topic_of_them_counts() -> None:
    evaluator = ir_measures.evaluator([theirs.err @ 20], QRELS)
    for run in (RUN, {"1": {"x": 1.0}}, {"77": {"a": 1.0}}, []):
        values = {metric.query_id: metric.value for metric in evaluator.iter_calc(run)}
        assert values.keys() == QRELS.keys()
    assert set(values.values()) == {0}


def test_intents_and_options() -> None:
    judged = [("1", "a", 1, "1"), ("1", "b", 1, "2"), ("1", "b", 1, "1")]
    qrels = [ir_measures.Qrel(*row) for row in judged]
    pytest.importorskip("pyndeval")
    both = ir_measures.calc_aggregate(
        [theirs.alpha_ndcg @ 10, ir_measures.alpha_nDCG @ 10], qrels, {"1": {"a": 1.0, "b": 0.5}}
    )
    assert len({round(mean, 6) for mean in both.values()}) == 1
    four = theirs.GradedProvider(top_grade=4).calc_aggregate([theirs.err @ 20], QRELS, RUN)
    assert four[theirs.err @ 20] == gradedeval.evaluate(RUN, QRELS, "err@20", top_grade=4)["err@20"]
    with pytest.raises(InputError, match="topics: leaves topics out, which ir_measures counts as 0"):
        theirs.GradedProvider(topics="both")


def test_a_warning_points_at_the_line_of_the_user_and_appears_once() -> None:
    judged = {**QRELS, "none": {"a": 0}}
    evaluator = ir_measures.evaluator([theirs.err @ 20], judged)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluator.calc_aggregate(RUN)
        list(evaluator.iter_calc(RUN))
    assert {warning.filename for warning in caught} == {__file__}
    assert len({str(warning.message) for warning in caught}) == len(caught)


def test_a_measure_of_the_user_works_in_ir_measures() -> None:
    @measure(gain="linear")
    def first(g: gradedeval.Gains) -> Any:
        """Return the gain of the first document.

        gain_1

        A test.
        """
        return g.gain[:, 0]

    (converted,) = theirs.as_ir_measures(first)
    assert ir_measures.calc_aggregate([converted], QRELS, RUN) == {converted: 2 / 3}


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs an example in this process and returns its output lines."""

    def run(name: str) -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return run


def test_the_example_of_both_ways(printed: Any) -> None:
    lines = printed("ir_measures_both_ways.py")
    assert lines[0] == "nDCG@10    0.2742 + 0.0000"
    assert lines[3] == "{'err@20': 0.2886, 'gap': 0.2129, 'rbp(p=0.95)': 0.0876, 'nDCG@10': 0.2742}"
    assert len(lines) == 9


@pytest.mark.exhaustive  # it takes seconds to import
def test_the_example_of_pyterrier(printed: Any) -> None:
    pytest.importorskip("pyterrier", reason="PyTerrier is missing: pip install python-terrier")
    lines = [line.split() for line in printed("pyterrier_experiment.py")]
    assert lines[1:3] == [
        ["bm25", "0.2886", "0.2129", "0.0876", "0.2139"],
        ["neural", "0.7176", "0.5981", "0.1723", "0.5428"],
    ]
    assert lines[5][:3] == ["neural", "45.0", "3.0"]
    assert lines[7] == ["bm25", "301", "err@20", "0.9392"]


def test_without_the_package_one_line_names_the_command_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    monkeypatch.delitem(sys.modules, "gradedeval.interop.ir_measures")
    with pytest.raises(
        ImportError, match=r"^gradedeval.interop.ir_measures needs ir_measures: pip install ir_measures$"
    ):
        importlib.import_module("gradedeval.interop.ir_measures")
