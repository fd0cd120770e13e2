"""Rankers trained on arrays: a scorer for scikit-learn's searches, and a metric for LightGBM's early stopping."""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_score

import gradedeval
from gradedeval.measures import ndcg

# 60 topics of 20 documents; the first two features tell their grades, 0 to 4, a little.
draw = np.random.default_rng(7)
topics = np.repeat(np.arange(60), 20)
features = draw.normal(size=(len(topics), 5))
grades = np.clip(np.round(features[:, 0] + 0.5 * features[:, 1] + draw.normal(size=len(topics))), 0, 4)

# Grades and scores of one topic, or of topics with as many documents each: a measure is called.
one = topics == 0
print(f"ndcg@10 of a topic by its first feature: {(ndcg @ 10)(grades[one], features[one, 0]):.4f}")


# scikit-learn: the topics of a part of the data are found by its rows.
def scorer(model, rows, truth):
    """Mean ndcg@10 over the topics of these rows; the last column is the topic."""
    predicted = model.predict(rows)
    return gradedeval.evaluate_arrays(truth, predicted, "ndcg@10", qid=rows[:, -1].astype(int)).means["ndcg@10"]


rows = np.column_stack([features, topics])
found = cross_val_score(Ridge(), rows, grades, groups=topics, cv=GroupKFold(3), scoring=scorer)
print("ndcg@10 of a ridge regression, by fold:", " ".join(f"{score:.4f}" for score in found))


# LightGBM: it gives the sizes of the topics as `group`. All trees may agree on two documents: ties are averaged.
def metric(truth, predicted, weight, group):
    """name, value, and whether more is better."""
    scores = gradedeval.evaluate_arrays(truth, predicted, "ndcg@10", group=group, ties="average")
    return "ndcg@10", scores.means["ndcg@10"], True


try:
    import lightgbm
except ImportError:
    print("LightGBM is not installed: its part is skipped")
else:
    train, held_out = topics < 40, topics >= 40
    ranker = lightgbm.LGBMRanker(n_estimators=30, min_child_samples=10, n_jobs=1, verbose=-1, random_state=1)
    ranker.fit(
        features[train],
        grades[train].astype(int),
        group=[20] * 40,
        eval_set=[(features[held_out], grades[held_out].astype(int))],
        eval_group=[[20] * 20],
        eval_metric=metric,
    )
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    print(f"ndcg@10 of LightGBM after {len(curve)} trees is above that after one: {curve[-1] > curve[0]}")
