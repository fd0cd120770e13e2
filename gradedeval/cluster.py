"""Evaluation by any engine that can call a function on many machines: `plan`, `work`, `merge`.

from gradedeval.errors import public
from gradedeval.cluster import merge, plan, work
planned = plan("s3://bucket/runs/*", "qrels.txt", "err@20 ndcg@10")
scores = merge(planned, [work(planned.scorer, task) for task in planned.tasks])

`gradedeval.evaluate(..., executor=)` and `--cluster` take the same three steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Unpack

from gradedeval.errors import InputError, public, tell
from gradedeval.kernel.measures.definition import AnyMeasure
from gradedeval.kernel.measures.parse import DEFAULT, parse_measures
from gradedeval.kernel.options import Number, OptionKwargs, lists_options, resolve_options
from gradedeval.kernel.parallel import FAR, Workers
from gradedeval.kernel.parallel.executors import keep_freed_memory
from gradedeval.kernel.scoring import sharing
from gradedeval.kernel.scoring.evaluate import collected, named_runs, scorer_of
from gradedeval.kernel.scoring.scorer import Scorer
from gradedeval.kernel.scoring.scores import Scores
from gradedeval.kernel.scoring.sharing import Collector, Result, Task, tasks_of
from gradedeval.kernel.scoring.tasks import RunResult

__all__ = ["Plan", "merge", "plan", "work"]


@dataclass(eq=False, repr=False)
class Plan:
    """An evaluation that is to be done.

    scorer  what every worker needs, once: qrels, measures and options
    tasks   what can be worked on by itself, in any order
    runs    the name of each run, and what it is read from
    name    its own, by which its results are known
    """

    scorer: Scorer
    tasks: list[Task]
    runs: list[tuple[str, Any]]
    name: str


@public
@lists_options
def plan(
    run: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure] = DEFAULT,
    *,
    like: str | None = None,
    part: int = FAR.segment,
    runs_a_task: int | None = None,
    by_topic: bool = True,
    **keywords: Unpack[OptionKwargs],
) -> Plan:
    """Cut an evaluation into tasks. The qrels are read; of the runs nothing but their size, and where the parts of a
    large one begin.

    run, qrels, measures, like, keywords  as in `gradedeval.evaluate`; paths and URLs must be such that workers reach
                                          them
    part         bytes of a part of a large run, about
    runs_a_task  small runs of a task; without it about two seconds of work, and no more than 50
    by_topic     whether scores of topics are wanted; otherwise there are summaries alone, and much less travels

    Returns a `Plan`, whose scorer and tasks can be pickled. Raises `gradedeval.InputError` as `evaluate` does.
    """
    from uuid import uuid4

    Number("part", whole=True, minimum=1).check(part)
    if runs_a_task is not None:
        Number("runs_a_task", whole=True, minimum=1).check(runs_a_task)
    workers = Workers(limits=replace(FAR, segment=part, large_file=min(part, FAR.large_file)))
    named = named_runs(run, qrels)
    scorer = scorer_of(
        named, qrels, parse_measures(measures), resolve_options(like, **keywords).of_one_judge(), workers
    )
    runs, name = list(named.items()), uuid4().hex
    cut = tasks_of(runs, scorer, workers, by_topic, far=True, most=runs_a_task)
    return Plan(scorer, [replace(task, plan=name) for task in cut], runs, name)


@public
def work(scorer: Scorer, task: Task) -> Result:
    """The result of a task of a plan, which depends on nothing else: what is wrong with a run is part of it. One thread
    does it, in any process. It keeps the memory that it frees for what it reads next."""
    keep_freed_memory()
    return replace(sharing.work(scorer, task), plan=task.plan)


@public
def merge(plan: Plan, results: Iterable[Result], *, keep_going: bool = False) -> Scores:
    """The scores of all runs, as `gradedeval.evaluate` gives them, from the results of all tasks in any order.

    keep_going  collect what is wrong with runs in `.errors`, and score the others

    Topics whose lines stand in several parts of a run are read again here. Raises `gradedeval.InputError` where a run
    cannot be scored, and where the result of a task is missing, or of another plan.
    """
    collector, workers = Collector(plan.tasks, plan.scorer), Workers()
    missing, done = {task.number: task for task in plan.tasks}, dict[int, RunResult]()
    for result in results:
        if not isinstance(result, Result) or result.plan != plan.name:
            hint = "give what work(plan.scorer, task) returned for the tasks of this plan"
            raise InputError("merge", "a result is not of this plan", hint, usage=True)
        if task := missing.pop(result.number, None):  # an engine may do one twice
            done.update(collector.add(task, result))
    if missing:
        what = f"the results of {len(missing)} of {len(plan.tasks)} tasks are missing"
        raise InputError("merge", what, "give work(plan.scorer, task) of each task of plan.tasks", usage=True)
    for task in collector.unread:
        done.update(collector.add(task, work(plan.scorer, task)))
    done.update(collector.rest(workers))
    scores = collected(plan.runs, done, plan.scorer, keep_going=keep_going)
    scores.notes[:] = tell(scores.notes)
    return scores
