"""`evaluate`: runs and qrels in any form -> scores."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from gradedeval.errors import InputError, emit_notes, flag, public, redacted, shorten
from gradedeval.kernel.measures.definition import AnyMeasure, Measure
from gradedeval.kernel.measures.parse import DEFAULT, parse_measures
from gradedeval.kernel.options import OPTIONS, OptionKwargs, Options, lists_options, ranges, resolve_options
from gradedeval.kernel.parallel import Workers, no_progress, progress_in_python
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring.caveats import few_topics_notes, limit_caveats, merge_run_notes
from gradedeval.kernel.scoring.scorer import Scorer, no_relevant_notes, scorer_for
from gradedeval.kernel.scoring.scores import RunScores, Scores
from gradedeval.kernel.scoring.tasks import RunResult, score_and_keep, score_in_turn, size_of
from gradedeval.kernel.trec.lines import is_stratified
from gradedeval.kernel.trec.stream import files_of, is_digesting, is_file, is_path, is_url, without_suffix

if TYPE_CHECKING:
    from concurrent.futures import Executor


# Names of runs: the file, with as many folders as make it unique, or the names of the caller.


def named_runs(run: Any, qrels: Any = None) -> dict[str, Any]:
    """Return name -> run of one run, a list, an iterator or a dict of runs; a folder is without the path `qrels`."""
    if isinstance(run, list | tuple) and all(map(is_path, run)):
        sources = list(run)
    elif is_path(run):
        sources = [run]
    else:
        from gradedeval.kernel.rankings.in_memory import check_no_columns, is_ranking, is_row, rows_or_several

        if isinstance(run, Mapping):
            if is_ranking(run):
                return {_file_name(run) or "run": run}
            check_no_columns(run, "run")
            return {str(name): source for name, source in run.items()}
        if isinstance(run, Iterator) and not is_file(run):
            run = rows_or_several(run)
        sources = list(run) if isinstance(run, list | tuple) and not (run and is_row(run[0])) else [run]
    if not sources:
        raise InputError("", "no run given", "give at least one", usage=True)
    names: dict[str, str] = {}
    if any(map(is_path, sources)):
        judged = [os.fsdecode(qrels)] if is_path(qrels) else []
        parts = [files_of(os.fsdecode(source), judged) if is_path(source) else [source] for source in sources]
        sources = [file for files in parts for file in files]
        paths = [os.fsdecode(source) for source in sources if is_path(source)]
        names = dict(zip(paths, file_names(paths), strict=True))
    named: dict[str, Any] = {}
    for number, source in enumerate(sources, 1):
        name = names[os.fsdecode(source)] if is_path(source) else _file_name(source)
        name = name or ("run" if len(sources) == 1 else f"run{number}")
        if name in named and is_path(source) and is_url(source) and named[name] != source:
            hint = "score each by itself, or in Python name them in a dict"
            raise InputError("", f"two URLs are called '{name}'", hint, usage=True)
        if name in named:
            raise InputError("", f"run '{name}' is given twice", "give each run once", usage=True)
        named[name] = source
    return named


def _file_name(run: Any) -> str:
    """Return the path of an open file, or the name of a run of ranx; a DataFrame has a column of that name."""
    if hasattr(run, "iloc"):
        return ""
    name = getattr(run, "name", "") if hasattr(run, "read") or hasattr(run, "to_dict") else ""
    return without_suffix(os.path.basename(name)) if name and isinstance(name, str) else ""


def file_names(paths: list[str]) -> list[str]:
    """Return the file name of each path, with as many folders as make it unique, and without its compression suffix
    unless both `a.run` and `a.run.gz` are given."""
    if not paths:
        return []
    paths = [redacted(path).removesuffix("?…") if is_url(path) else path for path in paths]
    short = [without_suffix(path) for path in paths]
    often = Counter(short)
    paths = [path if often[name] > 1 else name for path, name in zip(paths, short, strict=True)]
    names = ["stdin" if path == "-" else os.path.basename(path) for path in paths]
    if len(set(names)) == len(names):
        return names
    parts = [_folders(path) for path in paths]
    ends = [Counter(folders[-length:] for folders in parts) for length in range(max(map(len, parts)))]
    lengths = [
        next((length for length in range(1, len(folders)) if ends[length][folders[-length:]] == 1), len(folders))
        for folders in parts
    ]
    return [
        "/".join(folders[-length:]) if is_url(path) else os.path.join(*folders[-length:])
        for path, folders, length in zip(paths, parts, lengths, strict=True)
    ]


def _folders(path: str) -> tuple[str, ...]:
    """Return the folders of a path and its file; for a URL its protocol first."""
    from pathlib import Path

    if is_url(path):
        protocol, _, rest = path.partition("://")
        return (f"{protocol}:/", *rest.split("/"))
    return Path(path).parts if path != "-" else ("stdin",)


@public
@lists_options
def evaluate(
    run: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure] = DEFAULT,
    *,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    executor: Executor | None = None,
    record: str | os.PathLike[str] | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Scores:
    """Score one run, or several, against graded judgments.

    run       a path (`-` is standard input), a URL, an open file; a DataFrame of pandas, polars or pyarrow with the
              columns topic, docno and score (or query_id and doc_id, qid and docno: see "Input files"); a dict topic ->
              docno -> score, or topic -> docnos, best first; an iterable of rows (topic, docno, score), also
              namedtuples and dicts by column name; a `Run` of ranx. Several: a folder, a pattern such as "runs/*.run",
              a list or iterator of any of these, or a dict name -> any of these
    qrels     a `Qrels`, to read it once for repeated calls, or the same with grade (or relevance, or label) in place of
              score; documents that a dict lists without grades are relevant. With `subtopics=True` also subtopic (or
              iteration), or a dict topic -> docno -> subtopic -> grade; with `qrels_format="strata"` with stratum
    measures  notation, as in "err@20 ndcg(gain=exp)@10", a Measure, or several of either
    like      a preset: trec_eval, gdeval, ir_measures, cwl_eval or ntcireval
    jobs      number of processes that share several runs, or a large one. They are forked on Linux if no other thread
              is alive, and spawned otherwise: a script then needs `if __name__ == "__main__"` around the call
    progress  show a bar, by tqdm if it is installed
    executor  any `concurrent.futures.Executor` to do the work: a pool of threads, of processes, of loky or of mpi4py,
              or `client.get_executor()` of a dask client. `jobs` is its number of workers if it reports none
    record    a file for the record with digests of all inputs, which are files then: see `verify`
    keywords  options, as in gain="exp", residuals=True, depth=1000; see `gradedeval.Options`. Some take values beside
              text and files: a list of gains, a dict type -> cost, a list of topics

    For repeated calls read the qrels once: `qrels = gradedeval.Qrels("qrels.txt")`. Returns `Scores`: `.means`,
    `.topics`, `.frame`, `.residuals`, `.signature`, `.by_topic(measure)`; its pickle has neither qrels nor runs.
    Skipped input and assumptions are warnings (`gradedeval.EvaluationWarning`), also in `.notes`. Raises
    `gradedeval.InputError` (a ValueError) for a wrong measure, option, run or qrels.

    >>> run, qrels = {"q1": {"d1": 1.2, "d3": 0.4}}, {"q1": {"d1": 2, "d2": 1}}
    >>> gradedeval.evaluate(run, qrels, "ap p@2").means
    {'ap': 0.5, 'p@2': 0.5}
    """
    workers = _workers(jobs, executor, progress)
    settings = {"like": like, **keywords}
    if record is None:
        scores = _evaluate(named_runs(run, qrels), qrels, measures, settings, workers)
    else:
        scores = _recorded(named_runs(run, qrels), qrels, measures, settings, workers, record)
    scores.notes[:] = emit_notes([*scores.notes, *scores.unequal_topics()])
    return scores


def _evaluate(
    runs: Mapping[str, Any], qrels: Any, measures: Any, settings: Mapping[str, Any], workers: Workers
) -> Scores:
    options = resolve_options(**settings)
    chosen = parse_measures(measures)
    if not chosen:
        raise InputError("", "no measure given", "for example 'err@20 ndcg@10'", usage=True)
    return evaluate_runs(runs, qrels, chosen, options, workers=workers, predicts=True)


def _recorded(
    runs: Mapping[str, Any], qrels: Any, measures: Any, settings: Mapping[str, Any], workers: Workers, record: Any
) -> Scores:
    """Evaluate, and write the record."""
    from gradedeval.kernel.scoring import records  # few evaluations are recorded

    records.check_recordable(runs, qrels)
    settings = records.plain_settings(settings)
    with records.recording() as inputs:
        scores = _evaluate(runs, qrels, measures, settings, workers)
        records.check_measures(scores.measures, None)
        scores = records.with_digests(scores, inputs, qrels)
        records.write_record(record, scores, inputs, qrels, settings)
    return scores


def _workers(jobs: int, executor: Executor | None, has_bar: bool) -> Workers:
    """Return the workers: processes of this machine, or an executor."""
    ranges.JOBS.check(jobs)
    progress = progress_in_python if has_bar else no_progress
    if executor is None:
        return Workers.of(jobs, progress)
    from concurrent.futures import Executor as AnyExecutor  # few evaluations have one

    if not isinstance(executor, AnyExecutor):
        problem = f"{type(executor).__name__} is not an Executor"
        cure = "give a concurrent.futures.Executor, such as client.get_executor() of a dask client"
        raise InputError("executor", problem, cure, usage=True)
    return Workers.of(jobs if jobs > 1 else None, progress, executor)


def evaluate_runs(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: Iterable[Measure],
    options: Options,
    *,
    by_tag: bool = False,
    keep_going: bool = False,
    by_topic: bool = True,
    keep: bool = False,
    predicts: bool = False,
    workers: Workers | None = None,
) -> Scores:
    """Score runs by name, or by tag if `by_tag`. Raises InputError as `evaluate`.

    keep_going  collect the errors of runs in `.errors`, and score the others; the error of a single run is raised
    by_topic    return scores of topics; otherwise summaries only
    keep        keep the graded runs, with numbers of their documents, in `.sources`, so that analyses of documents need
                not read them again
    predicts    whether the caller supports estimates by --predicted, otherwise an error
    workers     processes that share the runs, or a large one; their progress counts runs, or the parts of a single run
    """
    workers = workers or Workers()
    if options.replicates is not None and not by_tag:
        options = replace(options, replicates=options.replicates.among(runs))
    if options.predicted is not None and predicts:
        from gradedeval.kernel.scoring.predicted import by_both  # few evaluations have predictions

        read_qrels = partial(qrels_for, runs, jobs=workers.count)
        alike = partial(evaluate_runs, by_tag=by_tag, keep_going=keep_going, workers=workers)
        return by_both(runs, qrels, list(measures), options, read_qrels, alike)
    by_topic = by_topic or options.slices is not None or options.interval is not None
    scorer, listed = scorer_of(runs, qrels, measures, options, workers), list(runs.items())
    done: dict[int, RunResult] = {}
    score, kept = score_in_turn, dict[str, Any]()
    if keep:
        score = partial(score_and_keep, kept)
    elif _are_shared(listed, workers):
        from gradedeval.kernel.scoring.sharing import score_runs as score  # small runs are scored here
    for number, result in workers.progress(score(listed, scorer, workers, by_topic), len(listed)):
        done[number] = result
        if result.error and not keep_going and all(i in done for i in range(number)):
            raise result.error
    scores = collected(listed, done, scorer, by_tag=by_tag, keep_going=keep_going)
    return replace(scores, sources=kept) if keep and scores.sources else scores


def _are_shared(runs: Sequence[tuple[str, Any]], workers: Workers) -> bool:
    """Return whether worker processes read the runs: for small runs, starting them takes longer than it saves."""
    if workers.executor is not None or workers.count == 1:
        return workers.executor is not None
    size = 0
    for _, source in runs:
        if is_path(source) and is_url(source):
            return not is_digesting()  # only this process digests what it fetches
        size += size_of(source)
    return size > (workers.limits.large_file if len(runs) == 1 else workers.limits.small_runs)


def scorer_of(
    runs: Mapping[str, Any], qrels: Any, measures: Iterable[Measure], options: Options, workers: Workers
) -> Scorer:
    """Read the qrels and return the scorer of the runs. Raises InputError as `evaluate` does."""
    measures = list(measures)
    if options.topic_weights is not None:
        totals = [measure.label for measure in measures if measure.definition.summary == "total"]
        if totals:
            problem = f"'{totals[0]}' is a total over topics, not a mean"
            raise InputError(flag.topic_weights, problem, "leave out the measure or the weights", usage=True)
    if options.predicted is not None:
        options = options.refuse_predicted()
    if isinstance(qrels, Qrels):
        _check_read_by(options, qrels)
        return scorer_for(qrels, measures, options, workers.limits)
    if any(measure.by_intent for measure in measures):
        from gradedeval.kernel.scoring.intents import check_intents  # few measures are

        check_intents(measures, options.subtopics)
    return Scorer(qrels_for(runs, qrels, options, workers.count), measures, options, workers.limits)


def collected(
    runs: Sequence[tuple[str, Any]],
    done: Mapping[int, RunResult],
    scorer: Scorer,
    *,
    by_tag: bool = False,
    keep_going: bool = False,
) -> Scores:
    """Collect the scores and notes of all runs from their results. Raises InputError as `evaluate_runs` does."""
    options, scored, paths = scorer.options, dict[str, RunScores](), dict[str, str]()
    errors, named, run_notes, most_topics = list[InputError](), list[InputError](), list[str](), 0
    for number, (name, source) in enumerate(runs):
        result = done[number]
        run_notes += result.notes
        if result.error:
            if result.error.usage:
                raise result.error
            errors.append(result.error)
            place, inside = result.place, result.error.place
            whole = inside if inside.startswith(place) else f"{place}: {inside}" if inside else place
            named.append(result.error.replace(place=whole))
        if result.scores is not None:
            run = result.tag or name if by_tag else name
            if run in scored:
                problem = f"tag '{run}' is used by another run as well"
                raise InputError(result.place, problem, "leave out --run-name tag", usage=True)
            scored[run] = result.scores if result.scores.run == run else replace(result.scores, run=run)
            paths |= {run: os.fsdecode(source)} if is_path(source) else {}
            most_topics = max([most_topics, *result.scores.counts])
    if errors and (not keep_going or (not scored and len({error.cli_text for error in errors}) == 1)):
        raise errors[0]  # of the only run, or of all runs alike
    if len(runs) > 1:
        run_notes = merge_run_notes(run_notes, len(runs))
    notes = [*scorer.notes, *run_notes]
    notes += [*no_relevant_notes(scorer, list(scored.values())), *few_topics_notes(most_topics)]
    if options.replicates is not None:
        notes += options.replicates.notes(scored)
    if len(runs) == 1:
        notes = limit_caveats(notes)
    if options.interval and (few := sorted(name for name, run in scored.items() if min(run.counts) < 3)):
        text = "an interval needs 3 topics or more; of fewer it is blank, or the whole range of the measure"
        notes.append(f"{shorten(few)}: {text}")
    sources = dict(runs) if options.wants_residuals and not by_tag else {}
    scores = Scores(list(scored.values()), scorer.measures, scorer.qrels, options, notes, errors=named)
    return replace(scores, sources=sources, paths=paths)


def qrels_for(runs: Mapping[str, Any], qrels: Any, options: Options, jobs: int = 1) -> Qrels:
    """Return the qrels, read with the options unless already a Qrels. Raises InputError, with a hint for a run."""
    if isinstance(qrels, Qrels):
        _check_read_by(options, qrels)
        return qrels
    first = next(iter(runs.values()), None)
    try:
        judged = Qrels(
            qrels,
            duplicates=options.duplicates,
            lenient=options.lenient,
            subtopics=options.subtopics,
            format=options.qrels_format,
            labels=options.labels,
            collapse=options.collapse_qrels,
            jobs=jobs,
        )
    except InputError:
        from gradedeval.kernel.rankings.run import check_swapped  # most qrels are right

        if not is_stratified(options.qrels_format):  # with a field too many, such a line is as wide as a line of a run
            try:
                check_swapped(first, qrels, options)
            except InputError as swapped:
                raise swapped from None
        raise
    if judged.could_be_run:
        from gradedeval.kernel.rankings.run import check_values_swapped  # most are files of TREC

        check_values_swapped(first, judged, options, qrels)
    return judged


def _check_read_by(options: Options, qrels: Qrels) -> None:
    """Raise InputError (usage) if options require reading a Qrels differently."""
    if not (options.subtopics or options.qrels_format or options.labels or options.collapse_qrels):
        return  # nearly all evaluations
    if (collapse := options.collapse_qrels) and not (qrels.collapse and collapse.same_as(qrels.collapse)):
        problem = f"these qrels were read {'with others' if qrels.collapse else 'without'}"
        raise OPTIONS["collapse_qrels"].error(problem, "Qrels(..., collapse=…) reads them")
    rules, labels = qrels._rules, options.labels and options.labels.of
    settings = {
        "subtopics": (options.subtopics, qrels.subtopics is not None),
        "qrels_format": (options.qrels_format, rules.format),
        "labels": (labels, rules.labels),
    }
    for name, (required, had) in settings.items():
        if required and required != had:
            value = "True" if required is True else "…"
            problem = f"these qrels were read {'with others' if had else 'without'}"
            raise OPTIONS[name].error(problem, f"Qrels(..., {name.removeprefix('qrels_')}={value}) reads them")
