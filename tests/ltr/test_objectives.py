"""Gradients, against slow loops over pairs, finite differences and the arrays of libraries."""

import copy
import pickle
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError, ltr
from gradedeval.ltr import lists, objectives
from support.lists import TOP, Lists, drawn, lambda_gradients, one

SMOOTH = [
    ltr.softgap("gap(g=1:1:2)", sigma=0.5, top=TOP),
    ltr.softgap("ap@4", sigma=0.3),
    ltr.approx("ndcg", sigma=0.5),
    ltr.approx("err", sigma=0.3, top=TOP),
    ltr.approx("nerr@3", sigma=0.3, top=TOP),
    ltr.approx("gap@3", top=TOP),
]


@pytest.mark.parametrize("text", ["ndcg", "gap", "err", "ap@4", "rbp", "q"])
@pytest.mark.parametrize(("sigma", "truncation", "norm"), [(1.0, 3, True), (2.0, None, False)])
def test_gradients_equal_loops_over_pairs(text: str, sigma: float, truncation: int | None, norm: bool) -> None:
    sample = drawn(1)
    measure = one(text)
    objective = ltr.objective(text, sigma=sigma, truncation=truncation, norm=norm, top=TOP)
    expected = lambda_gradients(measure, sample, sigma, truncation, norm)
    for values, reference in zip(
        objective.gradients(sample.labels, sample.scores, group=sample.sizes), expected, strict=True
    ):
        np.testing.assert_allclose(values, reference, rtol=1e-12, atol=1e-15)
    gradient, hessian = objective.gradients(sample.labels, sample.scores * 0, group=sample.sizes)
    expected = lambda_gradients(measure, Lists(sample.labels, sample.scores * 0, sample.sizes), sigma, truncation, norm)
    np.testing.assert_allclose((gradient, hessian), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("objective", [ltr.objective("gap", truncation=None), ltr.objective("err"), *SMOOTH[:4:2]])
def test_lists_do_not_affect_each_other(objective: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare lists alone with lists padded, in another order, and in many blocks and bands."""
    sample = drawn(2, (30, 1, 29, 3, 17, 30, 8, 8, 25))
    whole = copy.deepcopy(objective).gradients(sample.labels, sample.scores, group=sample.sizes)
    top = float(sample.labels.max())
    fixed = type(objective)(objective.measure, **{**settings(objective), "top": top})
    parts = [fixed.gradients(labels, scores, group=[len(labels)]) for labels, scores in sample.each()]
    np.testing.assert_allclose(whole, np.concatenate(parts, axis=1), rtol=1e-11, atol=1e-15)
    order = np.lexsort((np.arange(len(sample.labels)), sample.qid % 3))  # the lists take turns
    mixed = fixed.gradients(sample.labels[order], sample.scores[order], qid=sample.qid[order])
    np.testing.assert_allclose(np.array(mixed)[:, np.argsort(order)], whole, rtol=1e-11, atol=1e-15)
    for module in (lists, lists, objectives):
        monkeypatch.setattr(module, "CELLS", 100)
    again = copy.deepcopy(fixed)
    again._known.clear()
    blocked = again.gradients(sample.labels, sample.scores, group=sample.sizes)
    np.testing.assert_allclose(blocked, whole, rtol=1e-11, atol=1e-15)


def settings(objective: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(objective).items() if name != "measure" and name[0] != "_"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("objective", SMOOTH, ids=lambda objective: f"{objective.noise} {objective.measure}")
def test_slopes_of_smooth_objectives_are_finite_differences(objective: Any) -> None:
    sample = drawn(4)
    draw = np.random.default_rng(5)
    scores = draw.normal(size=len(sample.labels))
    loss, slopes = objective.loss_and_slopes(sample.labels, scores, group=sample.sizes)
    assert loss == pytest.approx(-objective.values(sample.labels, scores, group=sample.sizes).mean())
    step = 1e-6
    for document in range(0, len(scores), 3):
        ends = []
        for sign in (1, -1):
            moved = scores.copy()
            moved[document] += sign * step
            ends.append(objective.loss_and_slopes(sample.labels, moved, group=sample.sizes)[0])
        assert slopes[document] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=5e-10)
    gradient, hessian = objective.gradients(sample.labels, scores, group=sample.sizes)
    lengths = np.repeat(sample.sizes, sample.sizes)
    np.testing.assert_allclose(gradient, slopes * lengths * len(sample.sizes), rtol=1e-12, atol=1e-16)
    assert {*hessian.tolist()} == {1.0, 1e-12}  # 1 if an order is better


@pytest.mark.filterwarnings("ignore:.*no measure here uses it:gradedeval.EvaluationWarning")
@pytest.mark.parametrize("objective", SMOOTH, ids=lambda objective: f"{objective.noise} {objective.measure}")
def test_without_noise_the_values_are_the_measures(objective: Any) -> None:
    sample = drawn(6)
    scores = np.random.default_rng(7).permutation(len(sample.labels)) / 3.0
    sharp = type(objective)(objective.measure, **{**settings(objective), "sigma": 1e-5})
    by_group = gradedeval.evaluate_arrays(
        sample.labels, scores, objective.measure, group=sample.sizes, ties="file", top_grade=TOP
    )
    plain = [*by_group.by_topic(objective.measure).values()]
    assert sharp.values(sample.labels, scores, group=sample.sizes) == pytest.approx(plain, abs=1e-12)
    assert ltr.objective(objective.measure, top=TOP).values(sample.labels, scores, group=sample.sizes) == pytest.approx(
        plain, abs=1e-12
    )


def test_softgap_is_the_formula_of_the_paper() -> None:
    """Compute Robertson et al. 2010, section 5, with m ≠ n in its sum, for two documents of grades 2 and 1."""
    from math import erf, sqrt

    above = 0.5 * (1 + erf((0.3 - 0.1) / (sqrt(2) * 0.5) / sqrt(2)))  # π of the first over the second
    first, second = (1 + (1 - above) * 0.5) / (2 - above), (0.5 + above * 0.5) / (1 + above)
    (value,) = ltr.softgap().values([2, 1], [0.3, 0.1], group=[2])
    assert value == pytest.approx((first + second) / 1.5, abs=1e-14)


def test_a_list_without_a_better_order_moves_no_score() -> None:
    for objective in (ltr.objective("ndcg"), ltr.softgap()):
        gradient, hessian = objective.gradients([0, 0, 1, 1, 2], [3, 1, 2, 5, 4], group=[2, 2, 1])
        assert not gradient.any()
        assert (hessian == 1e-12).all()


def test_weights_multiply_gradients_and_hessians() -> None:
    sample, objective = drawn(8), ltr.objective("ndcg")
    plain = np.array(objective.gradients(sample.labels, sample.scores, group=sample.sizes))
    each, of_list = np.arange(float(len(sample.labels))), np.arange(float(len(sample.sizes)))  # a weight may be 0
    moved = plain[1] > 1e-12
    for weight, factor in ((each, each), (of_list, np.repeat(of_list, sample.sizes))):
        weighted = np.array(objective.gradients(sample.labels, sample.scores, group=sample.sizes, weight=weight))
        np.testing.assert_allclose(weighted[:, moved], (plain * factor)[:, moved], rtol=1e-14)
    turned = np.argsort(-sample.qid, kind="stable")
    weighted = np.array(
        objective.gradients(sample.labels[turned], sample.scores[turned], qid=sample.qid[turned], weight=of_list)
    )
    factor = np.repeat(of_list[::-1], sample.sizes)  # lists are counted as they appear
    np.testing.assert_allclose(weighted[0], (plain[0] * factor)[turned], rtol=1e-12)


def test_each_library_gives_the_same_gradients() -> None:
    sample, objective = drawn(9), ltr.objective("gap")
    expected = objective.gradients(sample.labels, sample.scores, group=sample.sizes)
    ends = np.append(0, np.cumsum(sample.sizes)).astype(np.uint32)
    labels = {"get_label": lambda: sample.labels.astype(np.float32)}
    lightgbm = SimpleNamespace(**labels, get_weight=lambda: None, get_group=lambda: np.array(sample.sizes))
    xgboost = SimpleNamespace(
        **labels, get_weight=lambda: np.zeros(0, np.float32), get_uint_info=lambda name: {"group_ptr": ends}[name]
    )
    for arrays in (
        objective.lightgbm(sample.scores, lightgbm),
        objective.sklearn(sample.labels, sample.scores, None, sample.sizes),
        objective.xgboost(sample.scores, xgboost),
    ):
        np.testing.assert_array_equal(arrays, expected)
    lightgbm.get_group, xgboost.get_uint_info = lambda: None, lambda name: np.zeros(0, np.uint32)
    for call, place in ((objective.lightgbm, "lightgbm.Dataset"), (objective.xgboost, "xgboost.DMatrix")):
        data = lightgbm if "light" in place else xgboost
        with pytest.raises(InputError, match=f"does not say which documents are in a list; make it as {place}"):
            call(sample.scores, data)


def test_objectives_can_be_copied_and_pickled() -> None:
    sample = drawn(10)
    for objective in (ltr.objective("err"), ltr.softgap()):
        expected = objective.gradients(sample.labels, sample.scores, group=sample.sizes)
        for twin in (copy.deepcopy(objective), pickle.loads(pickle.dumps(objective))):
            assert not twin._known  # a model that is written need not carry its training data
            np.testing.assert_array_equal(twin.gradients(sample.labels, sample.scores, group=sample.sizes), expected)
    assert str(ltr.LambdaObjective("ndcg@10").measure) == "ndcg@10"  # type: ignore[arg-type]


def test_arrays_may_be_used_again_for_other_data() -> None:
    """Check changes of arrays in place, as batches make them: an objective keeps a copy of the last ones."""
    labels, sizes = np.array([2.0, 0, 1, 0]), np.array([4])
    for objective in (ltr.objective("gap"), ltr.softgap()):
        objective.gradients(labels, [4, 3, 2, 1], group=sizes)
        labels[:] = labels[::-1].copy()
        fresh = copy.deepcopy(objective).gradients(labels, [4, 3, 2, 1], group=sizes)
        np.testing.assert_array_equal(objective.gradients(labels, [4, 3, 2, 1], group=sizes), fresh)


def test_a_changed_top_grade_is_noted_once() -> None:
    scores, message = [4.0, 3, 2, 1], "the highest label is 2, and was 3: gains differ; set top="
    for objective in (ltr.objective("err"), ltr.approx("err")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for labels in ([0, 3, 0, 1], [0, 0, 0, 0], [0, 2, 0, 1], [0, 3, 0, 1], [1, 2, 0, 1]):
                objective.gradients(labels, scores, group=[4])
        assert [str(warning.message) for warning in caught] == [f"err: {message}"]
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for objective in (ltr.objective("err", top=3), ltr.objective("ndcg")):
            for labels in ([0, 3, 0, 1], [0, 2, 0, 1]):
                objective.gradients(labels, scores, group=[4])


def test_the_loss_of_a_cost_is_its_mean() -> None:
    """Score esl, the documents read in vain: the ranking with the lower cost has the lower loss."""
    for text, sign in (("esl", 1), ("ap", -1)):
        objective = ltr.objective(text)
        good, bad = (objective.loss_and_slopes([0, 1, 0], scores, group=[3])[0] for scores in ([1, 2, 0], [1, 0, 2]))
        assert good < bad
        assert good == sign * objective.values([0, 1, 0], [1, 2, 0], group=[3]).mean()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"group": [2]}, r"group: sums to 2, there are 3 documents"),
        ({"group": [3, 0]}, "group: is not a list of sizes"),
        ({"qid": [1, 2]}, r"qid: has the shape \(2,\), there are 3 documents"),
        ({}, "group: does not say which documents are in a list; give group, the sizes of lists, or qid"),
        ({"group": [3], "qid": [1, 1, 1]}, "group: says in two ways which documents are in a list"),
        ({"group": [3], "weight": [1, 1]}, "weight: is not a weight for each of 3 documents or 1 lists"),
        ({"group": [3], "weight": [-1]}, "weight: is not a weight"),
        ({"group": [3], "scores": [1, np.nan, 0]}, r"scores\[1\]: nan is not a finite number; does the model diverge"),
        ({"group": [3], "scores": [1, 0]}, "scores: has 2 values for 3 documents"),
        ({"group": [3], "labels": [0, 1, -1]}, r"labels\[2\]: -1 is not a whole number from 0"),
        ({"group": [3], "labels": [0, 1, 9]}, r"labels: label 9 is above the top grade 4"),
    ],
)
def test_bad_arrays_have_a_clear_message(changes: dict[str, Any], message: str) -> None:
    arrays = {"labels": [0, 1, 2], "scores": [0.1, 0.2, 0.3], **changes}
    for objective in (ltr.objective("err", top=4), ltr.softgap(top=4)):
        with pytest.raises(InputError, match=message):
            objective.gradients(**arrays)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ltr.objective("ndcg", sigma=0), "sigma: 0 is too small; it must be at least 1e-12"),
        (lambda: ltr.objective("ndcg", truncation="3"), "truncation: '3' is not a whole number from 1"),
        (lambda: ltr.objective("err ap"), "names 2 measures"),
        (lambda: ltr.objective("rbp(of=ed)"), r"'rbp\(of=ed\)': does not say which of two runs is better"),
        (lambda: ltr.softgap("ndcg"), r"'ndcg': softgap has no formula for it; use one of ap, gap, sp"),
        (lambda: ltr.approx("q"), "'q': approx has no formula for it; use one of err, nerr"),
        (lambda: ltr.objective("q").gradients([0, 1] * 30, [0.0] * 60, group=[60]), "'q': has no closed form"),
    ],
)
def test_bad_objectives_have_a_clear_message(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_message_asks_for_missing_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradedeval.ltr import objectives

    objectives._function.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match="torch: PyTorch is not installed; pip install torch"):
        ltr.objective("ndcg").torch(np.zeros(2), np.zeros(2), group=[2])
