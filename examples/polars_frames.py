"""Runs and qrels in polars: they are scored as they are, and the scores go back to polars."""

import polars as pl

import gradedeval

qrels = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "relevance": [2, 1, 1]})
retrieved = pl.DataFrame(
    {"query_id": ["q1", "q1", "q2", "q2"], "doc_id": ["a", "b", "b", "a"], "bm25": [2.5, 1.5, 3.0, 1.0]}
)
runs = {
    "bm25": retrieved.rename({"bm25": "score"}),
    "reversed": retrieved.lazy().select("query_id", "doc_id", score=-pl.col("bm25")),
}

scores = gradedeval.evaluate(runs, qrels, "ndcg@10 rr")
for run, means in scores.means_by_run.items():
    print(run, {str(measure): round(mean, 4) for measure, mean in means.items()})

by_topic = pl.DataFrame(scores.frame.drop(columns="signature").to_dict("list"))
means = by_topic.filter(pl.col("topic") != "all").group_by("run", "measure", maintain_order=True).agg(pl.mean("score"))
print(means.with_columns(pl.col("score").round(4)).rows())
