"""Rankers trained by measures: in scikit-learn's searches, and as objectives and metrics of LightGBM and XGBoost."""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_score

import gradedeval
from gradedeval import ltr

# 60 topics of 20 documents; the first two features tell their grades, 0 to 4, a little.
draw = np.random.default_rng(7)
topics = np.repeat(np.arange(60), 20)
features = draw.normal(size=(len(topics), 5))
grades = np.clip(np.round(features[:, 0] + 0.5 * features[:, 1] + draw.normal(size=len(topics))), 0, 4)

# Grades and scores as arrays, and the topic of each document.
by_feature = gradedeval.evaluate_arrays(grades, features[:, 0], "ndcg@10", qid=topics)
print(f"ndcg@10 by the first feature: {by_feature.means['ndcg@10']:.4f}")


# scikit-learn: the topics of a part of the data are found by its rows.
def scorer(model, rows, truth):
    """Mean ndcg@10 over the topics of these rows; the last column is the topic."""
    predicted = model.predict(rows)
    return gradedeval.evaluate_arrays(truth, predicted, "ndcg@10", qid=rows[:, -1].astype(int)).means["ndcg@10"]


rows = np.column_stack([features, topics])
found = cross_val_score(Ridge(), rows, grades, groups=topics, cv=GroupKFold(3), scoring=scorer)
print("ndcg@10 of a ridge regression, by fold:", " ".join(f"{score:.4f}" for score in found))


# LightGBM: graded average precision is the objective, and training stops when ndcg@10 of held-out topics stops rising.
train, held_out = topics < 40, topics >= 40
sizes, held_out_sizes = [20] * 40, [20] * 20
try:
    import lightgbm
except ImportError:
    print("LightGBM is not installed: its part is skipped")
else:
    parameters = {"objective": ltr.objective("gap").lightgbm, "metric": "None", "min_data_in_leaf": 10}
    parameters |= {"num_threads": 1, "seed": 1, "verbose": -1}
    data = lightgbm.Dataset(features[train], grades[train], group=sizes)
    tested = lightgbm.Dataset(features[held_out], grades[held_out], group=held_out_sizes, reference=data)
    booster = lightgbm.train(
        parameters,
        data,
        num_boost_round=100,
        valid_sets=[tested],
        feval=ltr.metric("ndcg@10").lightgbm,
        callbacks=[lightgbm.early_stopping(10, verbose=False)],
    )
    best = booster.best_score["valid_0"]["ndcg@10"]
    print(f"LightGBM, gap: ndcg@10 {best:.4f} after {booster.best_iteration} trees")
    # What stopped the training is what `gradedeval` prints of the same scores.
    predicted = booster.predict(features[held_out])
    same = gradedeval.evaluate_arrays(grades[held_out], predicted, "ndcg@10", group=held_out_sizes, ties="file")
    print(f"the same of its scores: {best == same.means['ndcg@10']}")

    # The same in scikit-learn's way.
    ranker = lightgbm.LGBMRanker(objective=ltr.softgap().sklearn, n_estimators=20, n_jobs=1, random_state=1, verbose=-1)
    ranker.fit(features[train], grades[train].astype(int), group=sizes)
    predicted = ranker.predict(features[held_out])
    scores = gradedeval.evaluate_arrays(grades[held_out], predicted, "gap", group=held_out_sizes, ties="file")
    print(f"LGBMRanker, softgap: gap {scores.means['gap']:.4f}")


# XGBoost: expected reciprocal rank. That grade 4 is the top is said, for the held-out topics may lack it.
try:
    import xgboost
except ImportError:
    print("XGBoost is not installed: its part is skipped")
else:
    data = xgboost.DMatrix(features[train], grades[train], qid=topics[train])
    tested = xgboost.DMatrix(features[held_out], grades[held_out], qid=topics[held_out])
    booster = xgboost.train(
        {"max_depth": 4, "eta": 0.2, "nthread": 1, "seed": 1, "disable_default_eval_metric": True},
        data,
        num_boost_round=100,
        evals=[(tested, "test")],
        obj=ltr.objective("err", top=4).xgboost,
        custom_metric=ltr.metric("err", top=4).xgboost,
        maximize=True,
        early_stopping_rounds=10,
        verbose_eval=False,
    )
    print(f"XGBoost, err: err {booster.best_score:.4f} after {booster.best_iteration + 1} trees")
