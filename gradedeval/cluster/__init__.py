"""Evaluation by any engine that can call a function on many machines: `plan`, `work`, `merge`.

from gradedeval.cluster import merge, plan, work
planned = plan("s3://bucket/runs/*", "qrels.txt", "err@20 ndcg@10")
scores = merge(planned, [work(planned.scorer, task) for task in planned.tasks])

`gradedeval.evaluate(..., executor=)` and `--cluster` take the same three steps.
"""

from gradedeval.cluster.plan import Plan, merge, plan, work

__all__ = ["Plan", "merge", "plan", "work"]
