"""`compare -q`: scores of runs by topic, with the median, best and worst of all runs; which topics are hardest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import score_matrix
from gradedeval.analysis.tables import ScoredFrame
from gradedeval.arrays import np
from gradedeval.errors import either, public
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, OptionKwargs, Table
from gradedeval.questions.shared import FEW_RUNS

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.score_matrix import Matrix

RUN_SUMMARIES = ("median", "best", "worst")
"""Columns that summarize a topic over all runs."""
TOPIC_COLUMNS = ("measure", "topic", *RUN_SUMMARIES, "spread")
END_TOPICS = 6
"""Number of the hardest topics, and of the easiest, in a table for people."""


@dataclass(frozen=True, eq=False, repr=False)
class TopicTable(ScoredFrame):
    """Scores of runs by topic: `frame`, and the scores of the runs.

    `topics` has a row for each measure and topic, the hardest topic first: measure, topic, median, best, worst, spread.
    The hardest topic has the worst median of all runs, and among equals the worst mean. `spread` is the distance
    between the first and the third quartile of the runs. The last row, `all`, has the means of each column.
    """

    scores: Matrix

    @property
    def topics(self) -> pd.DataFrame:
        """The topics, the hardest first."""
        return kernel.results.joined([self._topics_of(index) for index in range(len(self.scores.measures))])

    def _topics_of(self, index: int) -> pd.DataFrame:
        """Return the rows of one measure."""
        matrix, reading = self.scores, self.scores.reading(index)
        rows = self.frame[self.frame["measure"] == matrix.measures[index]]
        of_topics = rows.iloc[:: len(matrix.runs)][["measure", "topic", *RUN_SUMMARIES]]
        by_topic = rows["score"].to_numpy().reshape(-1, len(matrix.runs))[:-1]
        low, high = np.quantile(by_topic, [0.25, 0.75], axis=1)
        spread = [*(high - low), float(reading.summarize(high - low))]
        goodness = reading.sign * of_topics["median"].to_numpy()[:-1]
        order = np.lexsort((reading.sign * by_topic.mean(1), goodness)).tolist()
        return of_topics.assign(spread=spread).iloc[[*order, len(order)]]

    def document(self, layout: Layout, *, top: int | None = None) -> Document:
        """Return a table of topics × runs for each measure; of many runs a table of topics, the hardest first.

        top  the number of hardest topics to show, of any number of runs
        """
        matrix = self.scores
        if len(matrix.runs) > FEW_RUNS or top is not None:
            return self._document_of_topics(layout, kernel.ranges.TOP.check_or_none(top))
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], matrix.common_signature)
        blocks: list[Table | str] = []
        for name in matrix.measures:
            frame = self.frame[self.frame["measure"] == name]
            scores = frame["score"].to_numpy().reshape(-1, len(matrix.runs)).tolist()
            summaries = frame[list(RUN_SUMMARIES)].to_numpy()[:: len(matrix.runs)].tolist()
            topics = frame["topic"].tolist()[:: len(matrix.runs)]
            columns = [Column(name), *(Column(run, "score", of_run=True) for run in matrix.runs)]
            columns += [Column(title, "score") for title in RUN_SUMMARIES]
            rows = [[topic, *row, *summary] for topic, row, summary in zip(topics, scores, summaries, strict=True)]
            blocks.append(Table(columns, rows))
        return Document(blocks, matrix.common_signature)

    def _hidden(self, top: int | None) -> int:
        """Return the number of topics that a table for people leaves out."""
        hidden = len(self.scores.topics) - (2 * END_TOPICS if top is None else top)
        return hidden if hidden > (top is None) else 0

    def _document_of_topics(self, layout: Layout, top: int | None) -> Document:
        """Return a table of topics, the `top` hardest; without it people see the hardest and the easiest."""
        frame, matrix = self.topics, self.scores
        runs = f"{len(matrix.runs)} runs"
        spread = f"spread: between the quartiles of {runs} | all: means of the columns"
        signature = "\n".join([f"hardest topics first, by the median of {runs} | {spread}", matrix.common_signature])
        if layout == "long":
            if top is not None:
                frame = frame.groupby("measure", sort=False).head(top)
            return Document([kernel.results.to_table(frame)], signature)
        columns = [Column("measure"), Column("topic"), *(Column(name, "score") for name in TOPIC_COLUMNS[2:])]
        blocks: list[Table | str] = []
        for name in matrix.measures:
            *topics, means = map(list, kernel.results.to_table(frame[frame["measure"] == name]).rows)
            hardest = END_TOPICS if top is None else top
            hidden = self._hidden(top)
            if hidden:
                gap = [name, f"… {hidden} more", *[None] * (len(TOPIC_COLUMNS) - 2)]
                topics = [*topics[:hardest], gap, *topics[hardest + hidden :]]
            blocks.append(Table(columns, [*topics, means]))
        if self._hidden(top):
            blocks.append(f"{either('--top N', '.shown(top=N)')} lists N topics")
        return Document(blocks, signature)


@kernel.takes_options("reading", "queries", "replicates")
@public
@kernel.shares_work
def topic_table(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> TopicTable:
    """Return the scores of runs by topic, as in the appendices of TREC, with the median, best and worst of all runs.

    runs            as for `gradedeval.evaluate`; without `qrels` results of `evaluate` or saved scores: one or a list
    qrels           as for `evaluate`, like `measures`, `like`, `jobs`, `progress` and `keywords`; scores have residuals

    Returns `TopicTable`, with a row for each measure, topic and run: measure, topic, run, score, median, best, worst.
    The best score is the lowest if lower is better. The topic `all` has the means (or totals, or geometric means) of
    each column. `.topics` has a row for each topic, the hardest first.

    >>> runs = {"A": {"q1": {"d1": 2.0}}, "B": {"q1": {"d2": 2.0, "d1": 1.0}}}
    >>> gradedeval.topic_table(runs, {"q1": {"d1": 1}}, "rr").frame
      measure topic run  score  median  best  worst
    0      rr    q1   A    1.0    0.75   1.0    0.5
    1      rr    q1   B    0.5    0.75   1.0    0.5
    2      rr   all   A    1.0    0.75   1.0    0.5
    3      rr   all   B    0.5    0.75   1.0    0.5
    """
    matrix = score_matrix.comparable_matrix(score_matrix.scores_to_compare(runs, qrels, measures, like, keywords))
    runs_in_table = len(matrix.runs)
    frames = []
    for index, name in enumerate(matrix.measures):
        paired, reading = matrix.paired(name), matrix.reading(index)
        by_topic = paired.score  # runs × topics
        best, worst = (by_topic.max(0), by_topic.min(0)) if reading.sign > 0 else (by_topic.min(0), by_topic.max(0))
        rows = np.vstack([by_topic, np.median(by_topic, axis=0), best, worst])
        rows = np.column_stack([rows, [float(reading.summarize(row)) for row in rows]])
        topics = [*paired.topics, "all"]
        summaries = zip(RUN_SUMMARIES, rows[runs_in_table:], strict=True)
        columns = {
            "measure": name,
            "topic": np.repeat(topics, runs_in_table),
            "run": np.tile(matrix.runs, len(topics)),
            "score": rows[:runs_in_table].T.ravel(),
            **{column: np.repeat(values, runs_in_table) for column, values in summaries},
        }
        frames.append(kernel.results.to_frame(columns))
    return TopicTable(kernel.results.joined(frames), matrix)
