"""What a report shows: scores, comparisons, topics, the first ranks and the judgments of several runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradedeval import kernel
from gradedeval.analysis import ranked_runs, reversals, score_matrix
from gradedeval.analysis.pairs import Pair, reversible_pairs, unseen_notes
from gradedeval.analysis.tables import display_table
from gradedeval.arrays import Floats, Ints, np
from gradedeval.errors import InputError, Note, flag, handling_notes, plural, visible
from gradedeval.kernel import Column, Measure, Options, Table, ranges
from gradedeval.questions.compare import ACROSS, compare_pairs, topic_table
from gradedeval.questions.shared import DEFAULT_DEPTH

if TYPE_CHECKING:
    import jinja2
    import pandas as pd

    from gradedeval.analysis.ranked_runs import RankedRuns, RankedTerms
    from gradedeval.analysis.reversals import RereadRuns
    from gradedeval.analysis.score_matrix import Matrix
    from gradedeval.analysis.significance import TestSettings
    from gradedeval.kernel import Document, Scores
    from gradedeval.questions.pool import Pool


SHOW = 20


@dataclass(frozen=True)
class ReportSettings:
    """What a report is asked for.

    test  how runs are compared with the baseline
    at    the depth down to which unjudged documents are counted on the first page
    show  the ranks of a ranking that are shown
    """

    test: TestSettings
    at: int = DEFAULT_DEPTH
    show: int = SHOW

    def __post_init__(self) -> None:
        ranges.AT.check_field(self, "at")
        ranges.SHOW.check_field(self, "show")


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """Each run beside the baseline, by each measure: rows, the same as a table for people, what they are made by, and
    the pairs whose order some judgments are known to reverse; tables of the slices, and how these were tested. Empty
    where nothing is compared."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    table: Table | None = None
    settings: str = ""
    notes: list[str] = field(default_factory=list)
    reversible: frozenset[Pair] = frozenset()
    slices: list[Table] = field(default_factory=list)
    slice_words: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Systems:
    """Systems of several seeds: system -> runs, captions and tables, and what differences are tested by."""

    runs: Mapping[str, Sequence[str]]
    tables: list[tuple[str, Table]]
    settings: str = ""

    @property
    def lines(self) -> list[str]:
        """Which runs are seeds of each, and how they are compared."""
        seeds = [f"{system}: {', '.join(runs)}" for system, runs in self.runs.items() if len(runs) > 1]
        return [*seeds, *(part for part in self.settings.split(" | ") if part)]


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """All that a page is made of.

    scores      the runs, the best by the first measure first, with residuals and intervals
    matrix      the same as arrays
    baseline    the run that the others are compared with; None where nothing is compared
    compared    what `compare` finds
    topics      what `topic_table` gives: topics × runs
    pool        what `pool` gives; `unjudged` by run and depth, `alone` the relevant documents that one run alone has
    ranked      the rankings, the runs in the same order, and `terms` what their first documents add
    notes       what was left out or assumed
    systems     the systems, where there are replicates
    """

    scores: Scores
    settings: ReportSettings
    matrix: Matrix
    baseline: str | None
    compared: Compared
    topics: pd.DataFrame
    pool: Pool
    unjudged: pd.DataFrame
    alone: pd.DataFrame
    ranked: RankedRuns
    terms: RankedTerms
    notes: list[str]
    systems: Systems | None = None

    @property
    def measures(self) -> list[Measure]:
        return self.scores.measures

    @property
    def runs(self) -> list[str]:
        return self.matrix.runs

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts of topics, where they are known."""
        return self.scores.texts


def find(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: list[Measure],
    options: Options,
    baseline: str | None,
    settings: ReportSettings,
) -> Findings:
    """All that a report of these runs shows; without a baseline runs are compared with the first one. Raises InputError
    as `evaluate` and `compare` do, and for options under which documents have no rank or no single gain."""
    if options.ties == "average":
        raise kernel.options.OPTIONS["ties"].error("an average over orders has no ranks", "choose an order")
    options = replace(options, bounds=False, interval=1 - settings.test.alpha)
    options = replace(options, residuals=None if options.judged_only else "total")
    if any(measure.types for measure in measures):
        raise InputError(flag.measures, "a report does not read the types of documents", "leave it out", usage=True)
    scores, ranking = ranked_runs.scored_and_ranked(runs, qrels, measures, options, kernel.Workers.here())
    scores = scores.sorted_by(scores.measures[0])
    scorer = kernel.Scorer(scores.qrels, scores.measures, replace(options, interval=None))
    matrix, notes = score_matrix.to_matrix(scores), []
    systems, matrix = matrix if matrix.seeds is not None else None, matrix.seeds or matrix
    if baseline is None and len(runs) > 1:
        baseline = next(iter(runs))
        what = f"using the first run, {visible(baseline)}, as baseline"
        notes += [Note(what, f"change it with {flag.baseline:RUN}")] if len(runs) > 2 else []
    from gradedeval.questions.pool import found_alone, pool_statistics, unjudged_by_depth  # not for a help page

    ranked = ranking.of(matrix.runs)
    compared = _compared(matrix, baseline, settings.test, reversals.RereadRuns.of_runs(scorer, scores.sources, ranked))
    return Findings(
        scores,
        settings,
        matrix,
        None if compared.table is None else baseline,
        compared,
        topic_table(matrix.select(measures=matrix.comparable_measures())).frame,
        pool_statistics(ranked, matrix.runs, options, settings.at),
        unjudged_by_depth(ranked, settings.at),
        found_alone(ranked, options),
        ranked,
        ranked_runs.terms_by_run(ranked, scorer, settings.show, True, {run.run: run for run in scores.runs}),
        list(
            dict.fromkeys([*scores.notes, *scores.unequal_topics(), *matrix.omission_notes(), *notes, *compared.notes])
        ),
        None if systems is None else _systems(scores, systems, baseline, settings.test),
    )


def _tables(document: Document) -> list[Table]:
    return [block for block in document.blocks if isinstance(block, Table)]


def _of_measure(table: Table, label: str) -> Table:
    """What a table has of one measure, in columns of its own or in rows, without what people see in wide tables alone:
    a page is as wide as a terminal."""
    names, rows = table.names, table.rows
    kept = [number for number, column in enumerate(table.columns) if not column.wide]
    if "measure" in names:
        at = names.index("measure")
        rows = [row for row in rows if row[at] == label]
        kept = [number for number in kept if number != at]
    else:
        at, first = names.index(label), next(number for number, one in enumerate(table.columns) if one.kind == "score")
        kept = [number for number in kept if number < first or at <= number < at + table.together]
    return Table([table.columns[number] for number in kept], [[row[number] for number in kept] for row in rows])


def _systems(scores: Scores, systems: Matrix, baseline: str | None, test: TestSettings) -> Systems:
    """The systems, and each beside that of the baseline; nothing of the latter where there is one system, or a single
    topic."""
    own = next((name for name, runs in scores.systems_of.items() if baseline in runs), systems.runs[0])
    means = _tables(scores.document("wide"))
    of_seeds = "Means over seeds, and their standard deviations"
    tables = [(of_seeds if one.names[0] == "system" else f"Means by {one.names[0]}", one) for one in means]
    try:
        settings = replace(test, test="randomization", rope=None)  # systems are compared by a model of their own
        comparison = compare_pairs(systems, own, settings, judging=False) if len(systems.runs) > 1 else None
    except InputError:
        comparison = None
    if comparison is None:
        return Systems(scores.systems_of, tables)
    first, *more = _tables(comparison.document("wide"))
    tables.append((f"Systems, compared with {own}", first))
    tables += [(differences_caption(one), one) for one in more]
    return Systems(scores.systems_of, tables, comparison.aside.replace("\n", " | "))


def differences_caption(table: Table) -> str:
    """What a table of the differences by a column of labels is called, and the last one of all columns."""
    if "topics" not in table.names:
        return "Whether differences depend on the label"
    return f"Differences from the baseline, by {table.names[2]}"


def _compared(matrix: Matrix, baseline: str | None, test: TestSettings, reread: RereadRuns | None) -> Compared:
    """The runs beside the baseline; nothing where there is one run alone, or a measure with a single topic."""
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
    notes += unseen_notes(frame, matrix)
    table, *more = _tables(comparison.document("wide"))
    settings, sliced = comparison.aside.replace("\n", " | "), comparison.slices
    words = " | ".join(comparison.slice_words)
    reversible = reversible_pairs(frame, matrix, reread)
    return Compared(
        kernel.results.to_rows(frame), table, settings, notes, reversible, [] if sliced is None else more, words
    )


# Text from files on its way into HTML: nothing of it becomes markup, a script or an invisible character.


TEMPLATES = Path(__file__).parent / "templates"

# In a script element only these could end it, or a line of it.
_AS_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page_template() -> jinja2.Template:
    """The page, which escapes all that it is given. Raises InputError (usage) where jinja2 is not installed."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        hint = "pip install 'gradedeval[report]'"
        raise InputError("report", "jinja2 is not installed", hint, usage=True) from None
    return _environment().get_template("report.html")


@cache
def _environment() -> jinja2.Environment:
    """It keeps what it compiled: a page takes as long to compile as to fill."""
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
    """Text as the page shows it."""
    return kernel.formats.in_utf8(visible(text))


def as_json(value: Any) -> str:
    """JSON that may stand in a script element."""
    return kernel.formats.json_text(value, separators=(",", ":"), allow_nan=False).translate(_AS_ESCAPES)


def inline(name: str) -> tuple[str, str]:
    """A style sheet or script of ours, and what a Content-Security-Policy calls it."""
    from base64 import b64encode

    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return text, f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


# The first ranks of all runs on each topic, as the JSON that the page draws two of them from.


DIGITS = 5


def rankings(found: Findings) -> Iterator[str]:
    """Topic by topic, in the order of `found.ranked.topics`: the JSON of `topic_rankings`."""
    ranked, show = found.ranked, found.settings.show
    grades = ranked.grades(np.arange(len(ranked)))
    begins = [np.cumsum(count) - count for count in (np.minimum(run.counts, show) for run in ranked.runs)]
    terms = [_terms(found, run) for run in range(len(ranked.runs))]
    for topic in range(len(ranked.topics)):
        number: dict[int, int] = {}
        runs = [
            _run(found, run, topic, int(begins[run][topic]), terms[run], number)
            if ranked.runs[run].listed[topic]
            else None
            for run in range(len(ranked.runs))
        ]
        docnos = ranked.docnos(np.fromiter(number, np.int64, len(number)))
        documents = [[on_page(docno), _grade(grades[document])] for docno, document in zip(docnos, number, strict=True)]
        yield as_json([documents, runs])


Numbers = list[float | None]


def _terms(found: Findings, run: int) -> list[tuple[Numbers, ...]]:
    """Of each measure what a run has of each topic: score, residual, what else the score is made of; and of each of its
    first documents: what it adds, and what it could add."""
    terms = found.terms
    return [
        (
            *(_rounded(terms.scores[part, run, :, column]) for part in (0, 2)),
            *map(_rounded, (terms.rest[column, run], terms.added[column][run], terms.could_add[column][run])),
        )
        for column in range(len(found.measures))
    ]


def _run(
    found: Findings, run: int, topic: int, begin: int, terms: list[tuple[Numbers, ...]], number: dict[int, int]
) -> list[Any]:
    """One ranking of a topic: how many documents it has, the numbers of the first ones, and by measure score, residual,
    what else the score is made of, what each document adds and what it could add."""
    of_topic = found.ranked.runs[run].of_topic(topic)
    documents: Ints = of_topic[: found.settings.show]
    listed = [number.setdefault(document, len(number)) for document in documents.tolist()]
    part = slice(begin, begin + len(documents))
    by_measure = [
        [score[topic], residual[topic], rest[topic], added[part], could_add[part]]
        for score, residual, rest, added, could_add in terms
    ]
    return [len(of_topic), listed, by_measure]


def _rounded(values: Floats) -> Numbers:
    """Numbers as JSON has them: short, and null where they are blank or infinite."""
    finite = np.isfinite(values)
    rounded = np.round(np.where(finite, values, 0.0), DIGITS).tolist()
    short = [int(value) if value.is_integer() else value for value in rounded]
    return [value if known else None for value, known in zip(short, finite.tolist(), strict=True)]


def _grade(grade: float) -> float | None:
    return None if np.isnan(grade) else int(grade) if float(grade).is_integer() else float(grade)


UNJUDGED = "gu"


def grade_classes(found: Findings) -> dict[str, str]:
    """The grades of the qrels, ascending, and how each is drawn: hatched where it counts as unjudged, else from the
    color of what is not relevant to that of the top grade."""
    grader = found.ranked.grader
    labels, judged = grader.qrels.labels.tolist(), grader.judged[: len(grader.qrels.labels)].tolist()
    known = [(label, is_judged) for label, is_judged in zip(labels, judged, strict=True) if not np.isnan(label)]
    top = max((label for label, _ in known), default=0.0)
    return {f"{_grade(label)}": _class(label, top) if is_judged else UNJUDGED for label, is_judged in known}


def _class(grade: float, top: float) -> str:
    if grade <= 0:
        return "g0"
    return f"g{max(1, min(COLORS, round(grade) if top <= COLORS else math.ceil(COLORS * (grade / top))))}"


COLORS = 4
"""Colors of relevant documents."""


def legend(found: Findings) -> list[tuple[str, str, str]]:
    """Each way to draw a grade that occurs: its class, the grades, and what they are, where colors do not say it."""
    classes = grade_classes(found)
    drawn = []
    for name in sorted(set(classes.values()) - {UNJUDGED}):
        grades = [grade for grade, of in classes.items() if of == name]
        text = grades[0] if len(grades) == 1 else f"{grades[0]} to {grades[-1]}"
        drawn.append((name, text, "not relevant" if name == "g0" else ""))
    hatched = ["?", *(grade for grade, of in classes.items() if of == UNJUDGED)]
    return [*drawn, (UNJUDGED, ", ".join(hatched), "unjudged")]


def scores_of_topics(found: Findings) -> list[Any]:
    """Measures × runs × two × topics: scores and residuals; null where a topic does not count for a run."""
    matrix = found.matrix
    parts = [np.where(matrix.included, values, np.nan) for values in (matrix.score, matrix.residual)]
    return [
        [[_rounded(values[run, :, column]) for values in parts] for run in range(len(matrix.runs))]
        for column in range(len(matrix.measures))
    ]


def most_different(found: Findings) -> Sequence[int]:
    """The topics of `found.matrix`, those on which the runs differ most by the first measure first; of one run those on
    which it scores worst."""
    matrix = found.matrix
    score = np.where(matrix.included, matrix.score, np.nan)[:, :, 0]
    known = np.where(np.isnan(score).all(0), 0.0, score)
    spread = np.nanmax(known, axis=0) - np.nanmin(known, axis=0)
    if len(matrix.runs) == 1:
        spread = -known[0] * matrix.reading(0).sign
    order: Sequence[int] = np.argsort(-spread, kind="stable").tolist()
    return order


# The topics of a report: a heat map of runs × topics, and a row for each topic.


LEVELS = 9
"""Colors of the heat map."""
SHORT, EXACT, SIGNED = Column("", "score", digits=2), Column("", "score"), Column("", "signed")


def heat_map(found: Findings, column: int, topics: Sequence[int]) -> dict[str, Any]:
    """One measure: the scores of these topics, run by run, each with its color, and what the lightest and the darkest
    color stand for."""
    matrix = found.matrix
    score = np.where(matrix.included, matrix.score, np.nan)[:, topics, column]
    known = score[np.isfinite(score)]
    low, high = float(known.min(initial=0)), float(known.max(initial=0))
    with np.errstate(invalid="ignore"):
        share = np.clip((score - low) / ((high - low) or 1.0), 0, 1)
    levels = np.nan_to_num(np.minimum(share * LEVELS, LEVELS - 1), nan=0.0).astype(np.int64)
    rows = [
        {"run": run, "cells": list(_cells(values, colors))}
        for run, values, colors in zip(matrix.runs, score, levels, strict=True)
    ]
    return {"rows": rows, "low": EXACT.cells([low])[0], "high": EXACT.cells([high])[0]}


def _cells(values: Floats, colors: Any) -> Iterator[tuple[str, str]]:
    """Class and text of each cell of a run."""
    for value, color in zip(values.tolist(), colors.tolist(), strict=True):
        yield ("no", "") if math.isnan(value) else (f"h{color}", SHORT.cells([value])[0])


def topic_rows(found: Findings, column: int, pair: tuple[int, int | None]) -> list[dict[str, Any]]:
    """A row for each topic by one measure: the scores of two runs, their difference and residuals, and the median, best
    and worst over all runs; blank where not every run is scored on it."""
    matrix, measure = found.matrix, found.measures[column].label
    own = found.topics[found.topics["measure"] == measure].drop_duplicates("topic")
    across = dict(zip(own["topic"], own[list(ACROSS)].to_numpy().tolist(), strict=True))
    score, residual = (
        np.where(matrix.included, part, np.nan)[:, :, column] for part in (matrix.score, matrix.residual)
    )
    blank, (one, other) = [math.nan] * len(ACROSS), pair
    rows = []
    for index, topic in enumerate(matrix.topics):
        values = [score[one, index], residual[one, index]]
        if other is not None:
            values += [score[other, index], residual[other, index], score[other, index] - score[one, index]]
        shown = dict(zip(("a", "a_residual", "b", "b_residual"), _exact(values[:4]), strict=False))
        if other is not None:
            shown["difference"] = "" if math.isnan(values[4]) else SIGNED.cells([float(values[4])])[0]
        shown |= {"topic": topic, "text": found.texts.get(topic, "")}
        rows.append(shown | dict(zip(ACROSS, _exact(across.get(topic, blank)), strict=True)))
    return rows


def slice_tables(found: Findings) -> list[tuple[str, Table]]:
    """Each column of labels with the scores of all runs on the topics of each label."""
    tables = []
    for column, parts in found.scores.by_slice.items():
        rows = []
        for label, part in parts.items():
            means = part.means_by_run
            for run in part.runs:
                rows.append([label, run.run, run.most(len(found.measures)), *means[run.run].values()])
        columns = [Column(column), Column("run"), Column("topics", "count")]
        columns += [Column(measure.label, "score") for measure in found.measures]
        tables.append((column, Table(columns, rows)))
    return tables


def _exact(values: Sequence[float]) -> list[str]:
    return ["" if math.isnan(value) else EXACT.cells([float(value)])[0] for value in values]


def default_pair(found: Findings) -> tuple[int, int | None]:
    """The two runs that stand beside each other at first: the baseline, and the best of the others."""
    runs = found.runs
    if len(runs) == 1:
        return 0, None
    first = runs.index(found.baseline) if found.baseline is not None else 0
    return first, next(run for run in range(len(runs)) if run != first)


def default_topic(found: Findings, pair: tuple[int, int | None], among: Sequence[int]) -> int:
    """Of these topics, the one on which the two runs differ most by the first measure."""
    one, other = pair
    score = np.where(found.matrix.included, found.matrix.score, np.nan)[:, among, 0]
    spread = np.zeros(len(among)) if other is None else np.abs(score[one] - score[other])
    return among[int(np.nan_to_num(spread, nan=-1.0).argmax())]


# The judgments of a report: grades of topics, what runs retrieved unjudged, and what one run alone found.


NAMED = 100
"""The documents of a run that the list of what it alone found names; the others are counted."""


def grades_by_topic(found: Findings) -> Table:
    """topics × grades: how many documents have each, how many are relevant, and how many of these any run has."""
    grades = [name for name in found.pool.topics.columns if name.startswith("grade ")]
    columns: dict[str, tuple[str, kernel.formats.Kind]] = {"topic": ("topic", "text")}
    columns |= {name: (name, "count") for name in ("judged", "relevant", "found", *grades)}
    return display_table(found.pool.topics, **columns)


def judged_by_run(found: Findings) -> Table:
    """What each run retrieved, how deep it is judged, and what no other run has."""
    at = found.pool.at
    alone: dict[str, tuple[str, kernel.formats.Kind]] = {
        "unique": ("unique", "count"),
        "unique_judged": ("unique judged", "count"),
        "unique_relevant": ("unique relevant", "count"),
    }
    return display_table(
        found.pool.runs,
        run=("run", "text"),
        topics=("topics", "count"),
        retrieved=("retrieved", "count"),
        judged_depth=("judged depth (median)", "count"),
        least_judged_depth=("judged depth (min)", "count"),
        judged=(f"judged@{at}", "share"),
        **(alone if len(found.runs) > 1 else {}),
    )


def unjudged_by_run(found: Findings) -> Table:
    """runs × depths: the unjudged documents down to a rank, the mean over topics."""
    frame = found.unjudged
    depths = list(dict.fromkeys(frame["depth"].tolist()))
    columns = [Column("run"), *(Column(f"top {depth}", "score", digits=1) for depth in depths)]
    by_run = frame["per_topic"].to_numpy().reshape(-1, len(depths)).tolist()
    return Table(columns, [[run, *values] for run, values in zip(found.runs, by_run, strict=True)])


def alone_by_run(found: Findings) -> list[dict[str, Any]]:
    """What each run alone found: how many relevant documents, and the first ones by name."""
    by_run = kernel.results.groups(found.alone, "run")
    lists = []
    for run in found.runs:
        if run not in by_run:
            continue
        rows = by_run[run]
        count, topics = len(rows), len(kernel.results.distinct(rows, "topic"))
        named = display_table(
            rows.head(NAMED),
            topic=("topic", "text"),
            docno=("document", "text"),
            grade=("grade", "number"),
            rank=("rank", "count"),
        )
        said = f"{count} relevant {plural(count, 'document')} on {topics} {plural(topics, 'topic')}"
        lists.append({"run": run, "said": said, "table": named, "more": count - len(named.rows)})
    return lists
