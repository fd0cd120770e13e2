"""Training with the installed libraries."""

from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import ltr
from support.lists import drawn

pytestmark = pytest.mark.exhaustive


def draw_data(seed: int) -> tuple[Any, Any, Any]:
    """Return features with some signal of the grade, grades 0 to 4, and sizes of lists."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 40, 120)
    features = draw.normal(size=(sizes.sum(), 8))
    signal = features[:, 0] + 0.5 * features[:, 1] * features[:, 2]
    return features, np.clip(np.round(signal + draw.normal(size=len(signal))), 0, 4), sizes


@pytest.mark.parametrize("weighted", [False, True])
def test_ndcg_is_the_lambdarank_of_lightgbm(weighted: bool) -> None:
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    features, grades, sizes = draw_data(3)
    weight = np.random.default_rng(4).random(len(grades)) if weighted else None
    shared = {"verbose": -1, "num_leaves": 15, "min_data_in_leaf": 5, "num_threads": 1, "deterministic": True}
    shared["lambdarank_truncation_level"] = 1000
    reference = ltr.objective("ndcg(gain=exp)", truncation=1000).lightgbm
    predicted = []
    for objective in ("lambdarank", reference):
        train = lightgbm.Dataset(features, grades, group=sizes, weight=weight)
        booster = lightgbm.train(shared | {"objective": objective}, train, 5)
        predicted.append([booster.predict(features, num_iteration=trees) for trees in (1, 3, 5)])
    # Theirs are float32, and look chances up in a table: later a split may fall otherwise.
    np.testing.assert_allclose(*predicted, atol=1e-4, rtol=0)


def mean_of(metric: ltr.Metric, grades: Any, scores: Any, **lists: Any) -> float:
    """Return the expected mean over lists in the output of the library."""
    scored = gradedeval.evaluate_arrays(grades, scores, metric.measure, ties="file", top_grade=metric.top, **lists)
    return scored.means[metric.name]


@pytest.mark.filterwarnings("ignore:.*no measure here uses it:gradedeval.EvaluationWarning")
@pytest.mark.parametrize("name", ["gap", "err", "ndcg@10", "softgap", "approx"])
def test_lightgbm_learns_and_stops_by_measures(name: str) -> None:
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    features, grades, sizes = draw_data(5)
    smooth = {"softgap": ltr.softgap(top=4), "approx": ltr.approx("ndcg")}
    objective = smooth.get(name) or ltr.objective(name, top=4)
    metric = ltr.metric(objective.measure, top=4)
    documents = int(sizes[:80].sum())
    train = lightgbm.Dataset(features[:documents], grades[:documents], group=sizes[:80])
    test = lightgbm.Dataset(features[documents:], grades[documents:], group=sizes[80:], reference=train)
    curve: dict[str, Any] = {}
    booster = lightgbm.train(
        {"objective": objective.lightgbm, "metric": "None", "verbose": -1, "num_threads": 1, "num_leaves": 15},
        train,
        60,
        valid_sets=[test],
        feval=metric.lightgbm,
        callbacks=[lightgbm.early_stopping(10, verbose=False), lightgbm.record_evaluation(curve)],
    )
    curve = curve["valid_0"][metric.name]
    predicted = booster.predict(features[documents:], num_iteration=booster.best_iteration)
    assert mean_of(metric, grades[documents:], predicted, group=sizes[80:]) == max(curve)
    assert max(curve) > mean_of(metric, grades[documents:], predicted * 0, group=sizes[80:]) + 0.05


def test_a_ranker_of_scikit_learn_takes_both() -> None:
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    clone = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed").clone
    features, grades, sizes = draw_data(6)
    metric = ltr.metric("err", top=4)
    ranker = lightgbm.LGBMRanker(
        objective=ltr.objective("err").sklearn, n_estimators=20, n_jobs=1, verbose=-1, metric="None"
    )
    ranker = clone(ranker).fit(
        features, grades.astype(int), group=sizes, eval_X=features, eval_y=grades, eval_group=[sizes],
        eval_metric=metric.sklearn,
    )  # fmt: skip
    curve = ranker.evals_result_["valid_0"]["err"]
    assert curve[-1] > curve[0]
    assert curve[-1] == mean_of(metric, grades, ranker.predict(features), group=sizes)


@pytest.mark.parametrize("name", ["err", "gap(g=1:1:2:0)"])
def test_xgboost_learns_and_stops_by_measures(name: str) -> None:
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    features, grades, sizes = draw_data(7)
    qid, metric = np.repeat(np.arange(len(sizes)), sizes), ltr.metric(name, top=4)
    held_out = qid >= 80
    train, test = (xgboost.DMatrix(features[rows], grades[rows], qid=qid[rows]) for rows in (~held_out, held_out))
    train.set_weight(np.ones(80))
    booster = xgboost.train(
        {"max_depth": 4, "eta": 0.2, "nthread": 1, "disable_default_eval_metric": True},
        train,
        60,
        evals=[(test, "test")],
        obj=ltr.objective(name, top=4).xgboost,
        custom_metric=metric.xgboost,
        maximize=True,
        early_stopping_rounds=10,
        verbose_eval=False,
    )
    predicted = booster.predict(test, iteration_range=(0, booster.best_iteration + 1))
    value = mean_of(metric, grades[held_out], predicted, qid=qid[held_out])
    assert booster.best_score == pytest.approx(value, abs=1e-6)  # it writes six digits
    assert value > mean_of(metric, grades[held_out], predicted * 0, qid=qid[held_out]) + 0.05


def test_losses_of_pytorch_have_the_gradients_of_objectives() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    sample = drawn(8)
    scores = np.random.default_rng(9).normal(size=len(sample.labels))
    for objective in (ltr.softgap(top=3), ltr.approx("nerr", top=3, sigma=0.5)):
        tensor = torch.tensor(scores, requires_grad=True)
        assert torch.autograd.gradcheck(
            lambda values, function=objective: function.torch(values, sample.labels, group=sample.sizes), tensor
        )
    ranker = ltr.objective("ndcg", top=3)
    tensor = torch.tensor(scores, dtype=torch.float32, requires_grad=True)
    loss = ranker.torch(tensor, torch.tensor(sample.labels), qid=sample.qid)
    assert loss.item() == pytest.approx(-ranker.values(sample.labels, scores, group=sample.sizes).mean())
    (2 * loss).backward()
    gradient, _ = ranker.gradients(sample.labels, tensor.detach().numpy(), group=sample.sizes)
    np.testing.assert_allclose(tensor.grad.numpy(), 2 * gradient / len(sample.sizes), atol=1e-7)
    with pytest.raises(ltr.objectives.InputError, match=r"labels: have the shape \(2,\), scores"):
        ranker.torch(tensor, np.zeros(2), group=[2])


def test_a_model_of_pytorch_learns_from_lists_in_rows() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    draw = np.random.default_rng(10)
    features = torch.tensor(draw.normal(size=(40, 12, 4)))
    labels = (features[:, :, 0] + features[:, :, 1] > 1).long() + (features[:, :, 0] > 1).long()
    for objective in (ltr.softgap(), ltr.objective("err")):
        weight = torch.zeros(4, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.Adam([weight], lr=0.1)
        losses = []
        for _ in range(30):
            optimizer.zero_grad()
            loss = objective.torch(features @ weight, labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[-1] < losses[0] - 0.2
