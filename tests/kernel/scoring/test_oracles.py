"""Random judgments and runs, scored by us and by pytrec_eval, ir_measures (with gdeval) and scikit-learn."""

from __future__ import annotations

import io
import shutil
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gradedeval
from gradedeval.kernel import parallel
from support.examples import drawn

TOPICS = ("1", "2", "10")
# Byte order, upper case and length all tell in the order of tied documents.
DOCNOS = ("D2", "d1", "d10", "d2", "d3", "d4", "d5", "d6", "é7", "ü8", "zz", "Z")

Judged = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def judgments(lowest: int, highest: int = 4) -> st.SearchStrategy[Judged]:
    """Generate judgments of a few topics, each with a grade that is not negative: pytrec_eval crashes without one."""
    grades = st.dictionaries(st.sampled_from(DOCNOS), st.integers(lowest, highest), min_size=1)
    return st.dictionaries(st.sampled_from(TOPICS), grades.filter(lambda own: max(own.values()) >= 0), min_size=1)


def runs(scores: st.SearchStrategy[float]) -> st.SearchStrategy[Run]:
    rankings = st.dictionaries(st.sampled_from(DOCNOS), scores, min_size=1)
    return st.dictionaries(st.sampled_from(TOPICS), rankings, min_size=1)


# Few values, so that most rankings have ties: the first as float64 too, of the others some as float32 alone.
TIED = st.integers(-2, 3).map(float)
CLOSE = st.integers(0, 6).map(lambda step: 1 + step * 4e-8)


def as_files(run: Run, qrels: Judged) -> tuple[io.BytesIO, io.BytesIO]:
    return (
        io.BytesIO(
            "".join(f"{t} Q0 {d} 0 {s!r} tag\n" for t, documents in run.items() for d, s in documents.items()).encode()
        ),
        io.BytesIO(
            "".join(f"{t} 0 {d} {g}\n" for t, documents in qrels.items() for d, g in documents.items()).encode()
        ),
    )


def evaluate_quietly(run: Any, qrels: Any, measures: Iterable[str] | str, **rules: Any) -> gradedeval.Scores:
    """Evaluate without notes: missing and unjudged topics, and qrels without a relevant document, are intended here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gradedeval.EvaluationWarning)
        return gradedeval.evaluate(run, qrels, measures, **rules)


def by_topic(scores: gradedeval.Scores, names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the other tool's name of a measure -> topic -> our score, in the order of our measures."""
    return {name: scores.by_topic(measure) for name, measure in zip(names, scores.measures, strict=True)}


LAST_BITS, FIVE_DECIMALS = 1e-9, 0.5e-5 + 1e-12


def assert_equal(
    ours: Mapping[str, Mapping[str, float]], theirs: Mapping[str, Mapping[str, float]], within: float = LAST_BITS
) -> None:
    """Assert that measures, topics and scores are equal, except the last bits of a sum."""
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert ours[name] == pytest.approx(dict(theirs[name]), rel=0, abs=within), name


# pytrec_eval ----------------------------------------------------------------------------------------------------------

NAMES = (
    *("map", "ndcg", "recip_rank", "bpref", "Rprec", "num_ret", "num_rel", "num_rel_ret"),
    *("ndcg_cut", "map_cut", "P", "recall", "success"),
)


@pytest.fixture(scope="module")
def pytrec_eval() -> Any:
    return pytest.importorskip("pytrec_eval")


def by_pytrec_eval(pytrec_eval: Any, run: Run, qrels: Judged, rel: int = 1) -> dict[str, dict[str, float]]:
    """Return measure -> topic -> score; P, recall and others at each of trec_eval's usual cutoffs, 49 measures in
    all."""
    scores = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES), relevance_level=rel).evaluate(run)
    names = list(next(iter(scores.values())))
    assert len(names) == 8 + 4 * 9 + 3
    return {name: {topic: values[name] for topic, values in scores.items()} for name in names}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("form", ["dicts", "files"])
@drawn(150, steady=False)
@given(qrels=judgments(-1), run=runs(TIED), rel=st.integers(1, 3))
def test_scores_equal_pytrec_eval(pytrec_eval: Any, form: str, qrels: Judged, run: Run, rel: int) -> None:
    """Compare topics and means; the preset leaves out topics that the run or the qrels lack."""
    assume(qrels.keys() & run.keys())
    theirs = by_pytrec_eval(pytrec_eval, run, qrels, rel)
    sources: tuple[Any, Any] = (run, qrels) if form == "dicts" else as_files(run, qrels)
    scores = evaluate_quietly(sources[0], sources[1], theirs, like="trec_eval", rel=rel)
    assert_equal(by_topic(scores, theirs), theirs)
    summed = {
        name: pytrec_eval.compute_aggregated_measure(name, list(topics.values())) for name, topics in theirs.items()
    }
    assert list(scores.means.values()) == pytest.approx(list(summed.values()), rel=0, abs=1e-9)


@drawn(100, steady=False)
@given(qrels=judgments(0, 3), run=runs(TIED))
def test_a_missing_topic_adds_nothing_to_the_sum_of_pytrec_eval(pytrec_eval: Any, qrels: Judged, run: Run) -> None:
    """Count a topic that the run lacks as an empty ranking: by default every topic of the qrels counts."""
    assume(qrels.keys() & run.keys())
    theirs = by_pytrec_eval(pytrec_eval, run, qrels)
    scores = evaluate_quietly(run, qrels, theirs)
    for (name, topics), mean in zip(theirs.items(), scores.means.values(), strict=True):
        if not name.startswith("num_"):
            assert mean == pytest.approx(sum(topics.values()) / len(qrels), rel=0, abs=1e-9), name


@drawn(100, steady=False)
@given(qrels=judgments(0), run=runs(CLOSE))
def test_scores_as_float32_tie_as_in_pytrec_eval(pytrec_eval: Any, qrels: Judged, run: Run) -> None:
    # It keeps scores in a C float, as trec_eval 9 does: scores that differ in the eighth digit are tied.
    assume(qrels.keys() & run.keys())
    theirs = by_pytrec_eval(pytrec_eval, run, qrels)
    scores = evaluate_quietly(run, qrels, theirs, like="trec_eval", order="float32")
    assert_equal(by_topic(scores, theirs), theirs)


# ir_measures ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ir_measures() -> Any:
    return pytest.importorskip("ir_measures")


@pytest.fixture(scope="module")
def gdeval(ir_measures: Any) -> Any:
    """Provide ir_measures with gdeval, the Perl script behind its ERR and its exponential nDCG."""
    if shutil.which("perl") is None:
        pytest.skip("no perl")
    return ir_measures


def by_ir_measures(
    ir_measures: Any, run: Run, qrels: Judged, names: Iterable[str]
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return measure -> topic -> score, and measure -> mean."""
    measures = {name: ir_measures.parse_measure(name) for name in names}
    results = ir_measures.calc(list(measures.values()), qrels, run)
    scores: dict[str, dict[str, float]] = {name: {} for name in measures}
    for metric in results.per_query:
        for name, measure in measures.items():
            if measure == metric.measure:
                scores[name][metric.query_id] = float(metric.value)
    return scores, {name: float(results.aggregated[measure]) for name, measure in measures.items()}


IR_MEASURES: list[tuple[str, dict[str, Any]]] = [
    ("nDCG nDCG@3 nDCG@10 AP AP(rel=2) AP@5 RR RR(rel=2) P@5 P(rel=2)@5 R@3 R(rel=2)@10 Rprec Success@2 NumRet", {}),
    # These two it computes itself, in Python, and orders ties the other way round than the rest, which are trec_eval's.
    ("RR@2 RR@10 RR(rel=2)@3 Judged Judged@3 Judged@10", {"ties": "docno-asc"}),
    # Its RBP is cwl_eval's, which gets the documents by a stable sort on the score alone, and stops at rank 1000, where
    # .95^1000 is below the last bit.
    ("RBP(rel=1,p=0.5) RBP(rel=2,p=0.8) RBP(rel=3,p=0.95)", {"ties": "file"}),
    # Its bpref is trec_eval's, to which a negative grade is not a judgment; to its own Judged it is one. Our preset has
    # one rule for all measures, and negative grades are judged.
    ("Bpref Bpref(rel=2)", {"negative": "unjudged"}),
]


@pytest.mark.parametrize(("names", "rules"), IR_MEASURES)
@drawn(100, steady=False)
@given(qrels=judgments(-1), run=runs(TIED | CLOSE))
def test_scores_equal_ir_measures(ir_measures: Any, names: str, rules: dict[str, Any], qrels: Judged, run: Run) -> None:
    assume(qrels.keys() & run.keys())
    theirs, means = by_ir_measures(ir_measures, run, qrels, names.split())
    scores = evaluate_quietly(run, qrels, names, like="ir_measures", **rules)
    assert_equal(by_topic(scores, names.split()), theirs)
    assert list(scores.means.values()) == pytest.approx(list(means.values()), rel=0, abs=1e-9)


def test_rr_equals_rr_at_a_cutoff_beyond_the_run_unlike_ir_measures(ir_measures: Any) -> None:
    qrels, run = {"1": {"a": 0, "b": 1}}, {"1": {"a": 1.0, "b": 1.0}}
    theirs, _ = by_ir_measures(ir_measures, run, qrels, ["RR", "RR@10"])
    assert theirs == {"RR": {"1": 1}, "RR@10": {"1": 0.5}}
    # b stands before a in all our measures: ties by docno descending.
    assert gradedeval.evaluate(run, qrels, "RR RR@10", like="ir_measures").means == {"RR": 1, "RR@10": 1}


def test_spam_above_the_relevant_document_costs_bpref_unlike_ir_measures(ir_measures: Any) -> None:
    qrels, run = {"1": {"spam": -1, "good": 1}}, {"1": {"spam": 2.0, "good": 1.0}}
    theirs, _ = by_ir_measures(ir_measures, run, qrels, ["Bpref", "Judged@2"])
    assert theirs == {"Bpref": {"1": 1}, "Judged@2": {"1": 1}}
    # R = 1 and N = 1: 1 − min(1, 1 above)/min(1, 1).
    with pytest.warns(gradedeval.EvaluationWarning, match="Bpref: in ir_measures grades below 0 count as unjudged"):
        scores = gradedeval.evaluate(run, qrels, "Bpref Judged@2", like="ir_measures")
    assert scores.means == {"Bpref": 0, "Judged@2": 1}


@drawn(60, steady=False)
@given(qrels=judgments(-1), run=runs(TIED | CLOSE))
def test_err_and_exponential_ndcg_equal_gdeval_in_ir_measures(gdeval: Any, qrels: Judged, run: Run) -> None:
    # It reads gdeval's output, which has five decimals. Scores that are equal as float32 are tied for trec_eval's
    # measures alone.
    assume(qrels.keys() & run.keys())
    names = ("ERR@1", "ERR@3", "ERR@20", "nDCG(dcg='exp-log2')@3", "nDCG(dcg='exp-log2')@20", "nDCG@3", "AP", "P@1")
    theirs, _ = by_ir_measures(gdeval, run, qrels, names)
    measures = [name.replace("nDCG(dcg='exp-log2')", "ndcg(gain=exp)") for name in names]
    assert_equal(by_topic(evaluate_quietly(run, qrels, measures, like="ir_measures"), names), theirs, FIVE_DECIMALS)


CLOSE_RUN, CLOSE_QRELS = {"1": {"a": 1.00000002, "b": 1.00000001, "c": 0.5}}, {"1": {"a": 3, "b": 0, "c": 1}}


def test_each_measure_compares_scores_as_ir_measures_does(gdeval: Any) -> None:
    names = ("ERR@20", "AP", "RR", "RR@10", "nDCG@10", "nDCG(dcg='exp-log2')@10", "RBP(rel=1)", "Judged@1", "Accuracy")
    _, means = by_ir_measures(gdeval, CLOSE_RUN, CLOSE_QRELS, names)
    scores = evaluate_quietly(
        CLOSE_RUN, CLOSE_QRELS, [n.replace("dcg='exp-log2'", "gain=exp") for n in names], like="ir_measures"
    )
    assert list(scores.means.values()) == pytest.approx(list(means.values()), abs=0.5e-5)
    # As double a is first: 7/16 + 9/16 · 1/16 · 1/3; as float32 it is tied with b, and second.
    assert scores.means["ERR@20"] == pytest.approx(7 / 16 + 9 / 16 / 16 / 3)
    assert scores.means["RR@10"] == 1
    assert scores.means["RR"] == 1 / 2


def test_floats_and_doubles_combine_in_files_of_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Join topics of many blocks, with equal and with different orders."""
    close, apart = "{0} Q0 a 1 1.00000002 t\n{0} Q0 b 2 1.00000001 t\n", "{0} Q0 a 1 2 t\n{0} Q0 b 2 1 t\n"
    (tmp_path / "run").write_text("".join((apart, close)[topic % 2].format(topic) for topic in range(8)))
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in range(8)))
    monkeypatch.setattr(parallel, "LIMITS", parallel.Limits(block=60))
    scores = gradedeval.evaluate(tmp_path / "run", tmp_path / "qrels", "rr rr@10", like="ir_measures")
    assert list(scores.by_topic("rr").values()) == [1.0, 0.5] * 4  # docno descending puts b before a
    assert list(scores.by_topic("rr@10").values()) == [1.0] * 8


@pytest.mark.parametrize(
    ("measures", "kept"), [("err@20 rr@10", ""), ("ap rr", "scores float32"), ("err@20 ap", "scores float32 in ap")]
)
def test_the_signature_names_measures_that_compare_scores_as_float32(measures: str, kept: str) -> None:
    signature = evaluate_quietly(CLOSE_RUN, CLOSE_QRELS, measures, like="ir_measures").signature
    assert [part for part in signature.split(" | ") if part.startswith("scores")] == [kept] * bool(kept)
    for order, second in (("score", 1), ("float32", 1 / 2)):
        scores = evaluate_quietly(CLOSE_RUN, CLOSE_QRELS, "rr rr@10", like="ir_measures", order=order)
        assert scores.means == {"rr": second, "rr@10": second}


def test_residuals_and_ties_follow_the_order_of_floats_or_doubles() -> None:
    run, options = {"1": CLOSE_RUN["1"] | {"d": 0.25}}, {"like": "ir_measures", "bounds": True, "residuals": True}
    both = evaluate_quietly(run, CLOSE_QRELS, "err@20 ap", **options)
    for measure in ("err@20", "ap"):
        alone = evaluate_quietly(run, CLOSE_QRELS, measure, **options)
        assert both.bounds[measure] == alone.bounds[measure]
        assert both.residuals[measure] == alone.residuals[measure]
    with pytest.warns(gradedeval.EvaluationWarning) as notes:
        gradedeval.evaluate(run, CLOSE_QRELS, "err@20 ap", like="ir_measures")
    (ties,) = [str(note.message) for note in notes if "equal scores" in str(note.message)]
    assert ": ap between" in ties
    assert "err" not in ties
    with pytest.raises(gradedeval.InputError, match="some measures compare scores as float32 and others as float64"):
        gradedeval.diff(run, run, CLOSE_QRELS, "err@20 ap", like="ir_measures")
    assert len(gradedeval.diff(run, run, CLOSE_QRELS, "err@20", like="ir_measures").topics) == 1


@drawn(40, steady=False)
@given(qrels=judgments(-1), run=runs(TIED))
def test_like_gdeval_has_the_topics_that_gdeval_prints(gdeval: Any, qrels: Judged, run: Run) -> None:
    """Check topics of run and qrels that have a relevant document; ir_measures adds the others, with 0."""
    relevant = {topic for topic in qrels.keys() & run.keys() if max(qrels[topic].values()) > 0}
    assume(relevant)
    names = ("nDCG(dcg='exp-log2')@5", "ERR@5")
    theirs, _ = by_ir_measures(gdeval, run, qrels, names)
    printed = {name: {topic: topics[topic] for topic in topics if topic in relevant} for name, topics in theirs.items()}
    scores = evaluate_quietly(run, qrels, "ndcg@5 err@5", like="gdeval")
    assert_equal(by_topic(scores, names), printed, FIVE_DECIMALS)
    assert all(value == 0 for topics in theirs.values() for topic, value in topics.items() if topic not in relevant)


# scikit-learn ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def metrics() -> Any:
    return pytest.importorskip("sklearn.metrics")


def orders(scores: st.SearchStrategy[float], unique: bool) -> st.SearchStrategy[dict[str, tuple[int | None, float]]]:
    """Generate two or more documents, each with a grade (None if unjudged) and a score: a ranking of the whole pool."""
    grade = st.none() | st.integers(0, 4)
    by: tuple[Callable[[Any], Any], ...] = (lambda pair: pair[0], *((lambda pair: pair[2],) if unique else ()))
    listed = st.lists(st.tuples(st.sampled_from(DOCNOS), grade, scores), min_size=2, unique_by=by)
    judged = listed.filter(lambda pairs: any(pair[1] is not None for pair in pairs))
    return judged.map(lambda pairs: {docno: (grade, score) for docno, grade, score in pairs})


DISTINCT = orders(st.integers(-1000, 1000).map(lambda value: value / 7), unique=True)


def one_topic(order: Mapping[str, tuple[int | None, float]]) -> tuple[Run, Judged]:
    run = {"1": {docno: score for docno, (_, score) in order.items()}}
    return run, {"1": {docno: grade for docno, (grade, _) in order.items() if grade is not None}}


def columns(order: Mapping[str, tuple[int | None, float]]) -> tuple[Any, Any]:
    """Return grades and scores for scikit-learn; unjudged documents have grade 0."""
    return np.array([[grade or 0 for grade, _ in order.values()]]), np.array([[s for _, s in order.values()]])


@pytest.mark.exhaustive
@drawn(150, steady=False)
@given(order=DISTINCT, k=st.integers(1, len(DOCNOS) + 2))
def test_ndcg_and_dcg_equal_scikit_learn(metrics: Any, order: dict[str, tuple[int | None, float]], k: int) -> None:
    run, qrels = one_topic(order)
    grades, values = columns(order)
    names = ("ndcg", "dcg", "ndcg(gain=exp)", "dcg(gain=exp)")
    scores = evaluate_quietly(run, qrels, [*names, *(f"{name}@{k}" for name in names)])
    theirs = [
        score(gains, values, k=cutoff, ignore_ties=True)
        for cutoff in (None, k)
        for gains in (grades, 2**grades - 1)
        for score in (metrics.ndcg_score, metrics.dcg_score)
    ]
    assert list(scores.means.values()) == pytest.approx(theirs, rel=0, abs=1e-9)


@pytest.mark.exhaustive
@drawn(150, steady=False)
@given(order=DISTINCT, rel=st.integers(1, 3))
def test_ap_equals_scikit_learn_without_ties(
    metrics: Any, order: dict[str, tuple[int | None, float]], rel: int
) -> None:
    # It gives all documents of a tie one precision, unlike the AP of a ranking.
    run, qrels = one_topic(order)
    grades, values = columns(order)
    assume((grades >= rel).any())
    theirs = metrics.average_precision_score(grades[0] >= rel, values[0])
    assert list(evaluate_quietly(run, qrels, "ap", rel=rel).means.values()) == pytest.approx([theirs], rel=0, abs=1e-9)
