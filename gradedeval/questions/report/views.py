"""Contents of a report: scores, comparisons, topics, first ranks and judgments of several runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradedeval import kernel
from gradedeval.analysis import pairs, ranked_runs, reversals, score_matrix
from gradedeval.analysis.tables import display_table
from gradedeval.arrays import Floats, Ints, np
from gradedeval.errors import InputError, Note, flag, handling_notes, plural, visible
from gradedeval.kernel import Column, Measure, Options, Table, ranges
from gradedeval.questions.compare import compare_pairs
from gradedeval.questions.limits import margins
from gradedeval.questions.shared import DEFAULT_DEPTH, counts
from gradedeval.questions.topic_table import RUN_SUMMARIES, topic_table

if TYPE_CHECKING:
    import jinja2
    import pandas as pd

    from gradedeval.analysis.pairs import Pair
    from gradedeval.analysis.ranked_runs import RankedRuns, RankedTerms
    from gradedeval.analysis.reversals import RereadRuns
    from gradedeval.analysis.score_matrix import Matrix
    from gradedeval.analysis.significance import TestSettings
    from gradedeval.kernel import Document, Scores
    from gradedeval.questions.check import Verdict
    from gradedeval.questions.pool import Pool


SHOW = 20


@dataclass(frozen=True)
class ReportSettings:
    """Settings of a report.

    test  test of differences from the baseline
    at    depth of the count of unjudged documents on the first page
    show  number of ranks of each ranking
    no_worse  margins, as of `check`
    """

    test: TestSettings
    at: int = DEFAULT_DEPTH
    show: int = SHOW
    no_worse: Any = ()

    def __post_init__(self) -> None:
        ranges.AT.check_field(self, "at")
        ranges.SHOW.check_field(self, "show")


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """Comparisons of each run with the baseline, by each measure; empty without a comparison.

    rows         the comparisons, and `table` the same for people
    settings     settings of the test
    reversible   pairs whose order some judgments reverse
    slices       tables of the slices
    slice_settings  settings of their tests
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    table: Table | None = None
    settings: str = ""
    notes: list[str] = field(default_factory=list)
    reversible: frozenset[Pair] = frozenset()
    slices: list[Table] = field(default_factory=list)
    slice_settings: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Systems:
    """Systems of several seeds: system -> runs, captions and tables, and the settings of tests."""

    runs: Mapping[str, Sequence[str]]
    tables: list[tuple[str, Table]]
    settings: str = ""

    @property
    def lines(self) -> list[str]:
        """Seeds of each system, and settings of their comparison."""
        seeds = [f"{system}: {', '.join(runs)}" for system, runs in self.runs.items() if len(runs) > 1]
        return [*seeds, *(part for part in self.settings.split(" | ") if part)]


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """Contents of a page.

    scores      scores of runs, the best by the first measure first, with residuals and intervals
    matrix      the same as arrays
    baseline    run that the remaining runs are compared with; None without a comparison
    compared    result of `compare`
    topics      result of `topic_table`: topics × runs
    pool        result of `pool`; `unjudged` by run and depth, `unique` relevant documents that a single run has
    ranked      rankings, the runs in the same order, and `terms` the contributions of their first documents
    notes       skipped data and assumptions
    answers     whether each run is no worse than the baseline, if there are margins
    systems     the systems, if there are replicates
    """

    scores: Scores
    settings: ReportSettings
    matrix: Matrix
    baseline: str | None
    compared: Compared
    topics: pd.DataFrame
    pool: Pool
    unjudged: pd.DataFrame
    unique: pd.DataFrame
    ranked: RankedRuns
    terms: RankedTerms
    notes: list[str]
    answers: Sequence[Verdict] = ()
    systems: Systems | None = None

    @property
    def measures(self) -> list[Measure]:
        return self.scores.measures

    @property
    def runs(self) -> list[str]:
        return self.matrix.runs

    @property
    def texts(self) -> Mapping[str, str]:
        """Texts of topics, if known."""
        return self.scores.texts


def collect(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: list[Measure],
    options: Options,
    baseline: str | None,
    settings: ReportSettings,
) -> Findings:
    """Collect the contents of a report. Raises InputError as `compare` does, and for options without one ranking."""
    if options.ties == "average":
        raise kernel.options.OPTIONS["ties"].error("an average over orders has no ranks", "choose an order")
    options = replace(options, bounds=False, interval=1 - settings.test.alpha)
    options = replace(options, residuals=None if options.judged_only else "total")
    if any(measure.types for measure in measures):
        raise InputError(flag.measures, "a report does not read the types of documents", "leave it out", usage=True)
    scores, ranking = ranked_runs.scored_and_ranked(runs, qrels, measures, options, kernel.Workers.current())
    scores = scores.sorted_by(scores.measures[0])
    scorer = kernel.Scorer(scores.qrels, scores.measures, replace(options, interval=None))
    matrix = score_matrix.to_matrix(scores)
    notes: list[str] = []
    systems, matrix = matrix if matrix.seeds is not None else None, matrix.seeds or matrix
    if baseline is None and len(runs) > 1:
        baseline = next(iter(runs))
        note = f"using the first run, {visible(baseline)}, as baseline"
        notes += [Note(note, f"change it with {flag.baseline:RUN}")] if len(runs) > 2 else []
    ranked = ranking.of(matrix.runs)
    compared = _compared(matrix, baseline, settings.test, reversals.RereadRuns.of_runs(scorer, scores.sources, ranked))
    from gradedeval.questions.pool import pool_statistics, uniquely_relevant, unjudged_by_depth  # not for a help page

    with handling_notes(notes.extend):
        answers = _answers(matrix, baseline, settings)
    return Findings(
        scores,
        settings,
        matrix,
        None if compared.table is None else baseline,
        compared,
        topic_table(matrix.select(measures=matrix.comparable_measures())).frame,
        pool_statistics(ranked, matrix.runs, options, settings.at),
        unjudged_by_depth(ranked, settings.at),
        uniquely_relevant(ranked, options),
        ranked,
        ranked_runs.terms_by_run(ranked, scorer, settings.show, True, {run.run: run for run in scores.runs}),
        list(
            dict.fromkeys([*scores.notes, *scores.unequal_topics(), *matrix.omission_notes(), *notes, *compared.notes])
        ),
        answers,
        None if systems is None else _systems(scores, systems, baseline, settings.test),
    )


def _answers(matrix: Matrix, baseline: str | None, settings: ReportSettings) -> list[Verdict]:
    """Return whether each run is no worse than the baseline; nothing without margins."""
    from gradedeval.questions.check import verdicts  # not for a help page

    limits = margins(settings.no_worse, matrix.measures)
    return verdicts(matrix, limits, baseline, settings.test) if limits else []


def _tables(document: Document) -> list[Table]:
    return [block for block in document.blocks if isinstance(block, Table)]


def _systems(scores: Scores, systems: Matrix, baseline: str | None, test: TestSettings) -> Systems:
    """Return the systems, each compared with the baseline's system, unless there is one system, or a single topic."""
    baseline_system = next((name for name, runs in scores.systems_of.items() if baseline in runs), systems.runs[0])
    means = _tables(scores.document("wide"))
    of_seeds = "Means over seeds, and their standard deviations"
    tables = [(of_seeds if table.names[0] == "system" else f"Means by {table.names[0]}", table) for table in means]
    try:
        settings = replace(test, test="randomization", rope=None)  # systems are compared by a model of their own
        comparison = compare_pairs(systems, baseline_system, settings, judging=False) if len(systems.runs) > 1 else None
    except InputError:
        comparison = None
    if comparison is None:
        return Systems(scores.systems_of, tables)
    first, *more = _tables(comparison.document("wide"))
    tables.append((f"Systems, compared with {baseline_system}", first))
    tables += [(differences_caption(table), table) for table in more]
    return Systems(scores.systems_of, tables, comparison.settings_text.replace("\n", " | "))


def differences_caption(table: Table) -> str:
    """Return the caption of a table of differences by a column of labels; the last table is about all columns."""
    if "topics" not in table.names:
        return "Whether differences depend on the label"
    return f"Differences from the baseline, by {table.names[2]}"


def _compared(matrix: Matrix, baseline: str | None, test: TestSettings, reread: RereadRuns | None) -> Compared:
    """Compare the runs with the baseline; return nothing for a single run, or a measure with a single topic."""
    if len(matrix.runs) == 1:
        return Compared()
    matrix.run_index(str(baseline))
    notes: list[str] = []
    try:
        with handling_notes(notes.extend):  # the page has them, in the words of the command line
            comparison = compare_pairs(matrix, baseline, test, judging=True, reread=reread)
    except InputError as error:
        if error.usage:
            raise
        return Compared(notes=[f"nothing is compared: {error.cli_text}"])
    frame = comparison.frame
    notes += pairs.unseen_notes(frame, matrix)
    table, *more = _tables(comparison.document("wide"))
    settings, sliced = comparison.settings_text.replace("\n", " | "), comparison.slices
    words = " | ".join(comparison.slice_settings)
    reversible = pairs.reversible_pairs(frame, matrix, reread)
    slices = [] if sliced is None else more
    return Compared(kernel.results.to_rows(frame), table, settings, notes, reversible, slices, words)


TEMPLATES = Path(__file__).parent / "templates"

# These could end a script element, or a line of it.
_AS_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page_template() -> jinja2.Template:
    """Return the template of the page, which escapes all values. Raises InputError (usage) without jinja2."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        hint = "pip install 'gradedeval[report]'"
        raise InputError("report", "jinja2 is not installed", hint, usage=True) from None
    return _environment().get_template("report.html")


@cache
def _environment() -> jinja2.Environment:
    """Return the environment, which caches the compiled template: a page takes as long to compile as to fill."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: on_page(value) if type(value) is str else value,
    )


def on_page(text: str) -> str:
    """Return text with invisible characters made visible."""
    return kernel.formats.in_utf8(visible(text))


def as_json(value: Any) -> str:
    """Return JSON that is safe in a script element."""
    return kernel.formats.json_text(value, separators=(",", ":"), allow_nan=False).translate(_AS_ESCAPES)


def inline(name: str) -> tuple[str, str]:
    """Return a style sheet or script, and its hash for a Content-Security-Policy."""
    from base64 import b64encode

    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return text, f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


DIGITS = 5


def rankings(findings: Findings) -> Iterator[str]:
    """Yield the first ranks of all runs for each of `findings.ranked.topics`: JSON [documents, runs]."""
    ranked, show = findings.ranked, findings.settings.show
    grades = ranked.grades(np.arange(len(ranked)))
    begins = [np.cumsum(count) - count for count in (np.minimum(run.counts, show) for run in ranked.runs)]
    terms = [_terms(findings, run) for run in range(len(ranked.runs))]
    for topic in range(len(ranked.topics)):
        number: dict[int, int] = {}
        runs = [
            _run(findings, run, topic, int(begins[run][topic]), terms[run], number)
            if ranked.runs[run].listed[topic]
            else None
            for run in range(len(ranked.runs))
        ]
        docnos = ranked.docnos(np.fromiter(number, np.int64, len(number)))
        documents = [[on_page(docno), _grade(grades[document])] for docno, document in zip(docnos, number, strict=True)]
        yield as_json([documents, runs])


Numbers = list[float | None]


def _terms(findings: Findings, run: int) -> list[tuple[Numbers, ...]]:
    """Return for each measure the score, residual and remaining terms of a run by topic; and for each of its first
    documents its contribution and possible contribution."""
    terms = findings.terms
    return [
        (
            *(_rounded(terms.scores[part, run, :, column]) for part in (0, 2)),
            *map(_rounded, (terms.rest[column, run], terms.added[column][run], terms.could_add[column][run])),
        )
        for column in range(len(findings.measures))
    ]


def _run(
    findings: Findings, run: int, topic: int, begin: int, terms: list[tuple[Numbers, ...]], number: dict[int, int]
) -> list[Any]:
    """Return one ranking of a topic: its length, the numbers of the first documents, and by measure their terms."""
    of_topic = findings.ranked.runs[run].of_topic(topic)
    documents: Ints = of_topic[: findings.settings.show]
    listed = [number.setdefault(document, len(number)) for document in documents.tolist()]
    part = slice(begin, begin + len(documents))
    by_measure = [
        [score[topic], residual[topic], rest[topic], added[part], could_add[part]]
        for score, residual, rest, added, could_add in terms
    ]
    return [len(of_topic), listed, by_measure]


def _rounded(values: Floats) -> Numbers:
    """Return rounded numbers for JSON, None if blank or infinite."""
    finite = np.isfinite(values)
    rounded = np.round(np.where(finite, values, 0.0), DIGITS).tolist()
    short = [int(value) if value.is_integer() else value for value in rounded]
    return [value if is_finite else None for value, is_finite in zip(short, finite.tolist(), strict=True)]


def _grade(grade: float) -> float | None:
    return None if np.isnan(grade) else int(grade) if float(grade).is_integer() else float(grade)


UNJUDGED = "gu"


def grade_classes(findings: Findings) -> dict[str, str]:
    """Return the CSS class of each grade of the qrels, ascending: hatched if unjudged, else a color by its height."""
    grader = findings.ranked.grader
    labels, judged = grader.qrels.labels.tolist(), grader.judged[: len(grader.qrels.labels)].tolist()
    grades = [(label, is_judged) for label, is_judged in zip(labels, judged, strict=True) if not np.isnan(label)]
    top = max((label for label, _ in grades), default=0.0)
    return {f"{_grade(label)}": _class(label, top) if is_judged else UNJUDGED for label, is_judged in grades}


def _class(grade: float, top: float) -> str:
    if grade <= 0:
        return "g0"
    return f"g{max(1, min(COLORS, round(grade) if top <= COLORS else math.ceil(COLORS * (grade / top))))}"


COLORS = 4
"""Number of colors of relevant documents."""


def legend(findings: Findings) -> list[tuple[str, str, str]]:
    """Return each CSS class that occurs, its grades, and their meaning if colors do not tell it."""
    classes = grade_classes(findings)
    drawn = []
    for name in sorted(set(classes.values()) - {UNJUDGED}):
        grades = [grade for grade, of in classes.items() if of == name]
        text = grades[0] if len(grades) == 1 else f"{grades[0]} to {grades[-1]}"
        drawn.append((name, text, "not relevant" if name == "g0" else ""))
    hatched = ["?", *(grade for grade, of in classes.items() if of == UNJUDGED)]
    return [*drawn, (UNJUDGED, ", ".join(hatched), "unjudged")]


def scores_of_topics(findings: Findings) -> list[Any]:
    """Return measures × runs × two × topics: scores and residuals; null if a topic does not count for a run."""
    matrix = findings.matrix
    parts = [np.where(matrix.included, values, np.nan) for values in (matrix.score, matrix.residual)]
    return [
        [[_rounded(values[run, :, column]) for values in parts] for run in range(len(matrix.runs))]
        for column in range(len(matrix.measures))
    ]


def most_different(findings: Findings) -> Sequence[int]:
    """Return the topics on which the runs differ most by the first measure first; the worst of a single run."""
    matrix = findings.matrix
    score = np.where(matrix.included, matrix.score, np.nan)[:, :, 0]
    finite = np.where(np.isnan(score).all(0), 0.0, score)
    spread = np.nanmax(finite, axis=0) - np.nanmin(finite, axis=0)
    if len(matrix.runs) == 1:
        spread = -finite[0] * matrix.reading(0).sign
    order: Sequence[int] = np.argsort(-spread, kind="stable").tolist()
    return order


LEVELS = 9
"""Number of colors of the heat map."""
SHORT, EXACT, SIGNED = Column("", "score", digits=2), Column("", "score"), Column("", "signed")


def heat_map(findings: Findings, column: int, topics: Sequence[int]) -> dict[str, Any]:
    """Return the scores of topics by one measure, run by run, each with its color, and the scores at both ends."""
    matrix = findings.matrix
    score = np.where(matrix.included, matrix.score, np.nan)[:, topics, column]
    finite = score[np.isfinite(score)]
    low, high = float(finite.min(initial=0)), float(finite.max(initial=0))
    with np.errstate(invalid="ignore"):
        share = np.clip((score - low) / ((high - low) or 1.0), 0, 1)
    levels = np.nan_to_num(np.minimum(share * LEVELS, LEVELS - 1), nan=0.0).astype(np.int64)
    rows = [
        {"run": run, "cells": list(_cells(values, colors))}
        for run, values, colors in zip(matrix.runs, score, levels, strict=True)
    ]
    return {"rows": rows, "low": EXACT.cells([low])[0], "high": EXACT.cells([high])[0]}


def _cells(values: Floats, colors: Any) -> Iterator[tuple[str, str]]:
    """Yield CSS class and text of each cell of a run."""
    for value, color in zip(values.tolist(), colors.tolist(), strict=True):
        yield ("no", "") if math.isnan(value) else (f"h{color}", SHORT.cells([value])[0])


def topic_rows(findings: Findings, column: int, pair: tuple[int, int | None]) -> list[dict[str, Any]]:
    """Return a row for each topic by one measure: two runs side by side, and the median, best and worst of all."""
    matrix, measure = findings.matrix, findings.measures[column].label
    of_measure = findings.topics[findings.topics["measure"] == measure].drop_duplicates("topic")
    across = dict(zip(of_measure["topic"], of_measure[list(RUN_SUMMARIES)].to_numpy().tolist(), strict=True))
    score, residual = (
        np.where(matrix.included, part, np.nan)[:, :, column] for part in (matrix.score, matrix.residual)
    )
    blank, (first, second) = [math.nan] * len(RUN_SUMMARIES), pair
    rows = []
    for index, topic in enumerate(matrix.topics):
        values = [score[first, index], residual[first, index]]
        if second is not None:
            values += [score[second, index], residual[second, index], score[second, index] - score[first, index]]
        row = dict(zip(("a", "a_residual", "b", "b_residual"), _exact(values[:4]), strict=False))
        if second is not None:
            row["difference"] = "" if math.isnan(values[4]) else SIGNED.cells([float(values[4])])[0]
        row |= {"topic": topic, "text": findings.texts.get(topic, "")}
        rows.append(row | dict(zip(RUN_SUMMARIES, _exact(across.get(topic, blank)), strict=True)))
    return rows


def slice_tables(findings: Findings) -> list[tuple[str, Table]]:
    """Return for each column of labels the scores of all runs on the topics of each label."""
    tables = []
    for column, parts in findings.scores.by_slice.items():
        rows = []
        for label, part in parts.items():
            means = part.means_by_run
            for run in part.runs:
                rows.append([label, run.run, run.most(len(findings.measures)), *means[run.run].values()])
        columns = [Column(column), Column("run"), Column("topics", "count")]
        columns += [Column(measure.label, "score") for measure in findings.measures]
        tables.append((column, Table(columns, rows)))
    return tables


def _exact(values: Sequence[float]) -> list[str]:
    return ["" if math.isnan(value) else EXACT.cells([float(value)])[0] for value in values]


def default_pair(findings: Findings) -> tuple[int, int | None]:
    """Return the two runs of the initial view: the baseline, and the best of the rest."""
    runs = findings.runs
    if len(runs) == 1:
        return 0, None
    first = runs.index(findings.baseline) if findings.baseline is not None else 0
    return first, next(run for run in range(len(runs)) if run != first)


def default_topic(findings: Findings, pair: tuple[int, int | None], among: Sequence[int]) -> int:
    """Return the topic, out of `among`, on which the two runs differ most by the first measure."""
    first, second = pair
    score = np.where(findings.matrix.included, findings.matrix.score, np.nan)[:, among, 0]
    spread = np.zeros(len(among)) if second is None else np.abs(score[first] - score[second])
    return among[int(np.nan_to_num(spread, nan=-1.0).argmax())]


NAMED = 100
"""Maximum number of unique relevant documents that are named for a run; more are counted."""


def grades_by_topic(findings: Findings) -> Table:
    """Return the documents of each topic by grade, the relevant ones, and the relevant ones that some run has."""
    grades = [name for name in findings.pool.topics.columns if name.startswith("grade ")]
    return display_table(
        findings.pool.topics, topic=("topic", "text"), **counts("judged", "relevant", "found", *grades)
    )


def judged_by_run(findings: Findings) -> Table:
    """Return the retrieved documents of each run, how deep it is judged, and its unique documents."""
    depth, unique = findings.pool.depth, counts("unique", "unique_judged", "unique_relevant")
    return display_table(
        findings.pool.runs,
        run=("run", "text"),
        **counts("topics", "retrieved"),
        judged_depth=("judged depth (median)", "count"),
        least_judged_depth=("judged depth (min)", "count"),
        judged=(f"judged@{depth}", "share"),
        **(unique if len(findings.runs) > 1 else {}),
    )


def unjudged_by_run(findings: Findings) -> Table:
    """Return the unjudged documents of each run down to each depth, mean over topics."""
    frame = findings.unjudged
    depths = list(dict.fromkeys(frame["depth"].tolist()))
    columns = [Column("run"), *(Column(f"top {depth}", "score", digits=1) for depth in depths)]
    by_run = frame["per_topic"].to_numpy().reshape(-1, len(depths)).tolist()
    return Table(columns, [[run, *values] for run, values in zip(findings.runs, by_run, strict=True)])


def unique_by_run(findings: Findings) -> list[dict[str, Any]]:
    """Return for each run the relevant documents that no other run has: their number, and the first ones by name."""
    by_run = kernel.results.groups(findings.unique, "run")
    lists = []
    for run in findings.runs:
        if run not in by_run:
            continue
        rows = by_run[run]
        count, topics = len(rows), len(kernel.results.distinct(rows, "topic"))
        named = display_table(rows.head(NAMED), topic=("topic", "text"), docno=("document", "text"),
                              grade=("grade", "number"), rank=("rank", "count"))  # fmt: skip
        summary = f"{count} relevant {plural(count, 'document')} on {topics} {plural(topics, 'topic')}"
        lists.append({"name": run, "summary": summary, "table": named, "more": count - len(named.rows)})
    return lists
