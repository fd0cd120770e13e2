"""`compare -q`: topics × runs of each measure, with the median, best and worst of all runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gradedeval.analysis.score_matrix import Matrix, comparable
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_table, joined, to_frame
from gradedeval.scoring.scores import Scores
from gradedeval.scoring.summaries import summarize

if TYPE_CHECKING:
    import pandas as pd

ACROSS = ("median", "best", "worst")


def topic_table(scores: Scores | Matrix | pd.DataFrame | str | Path, *, allow_mismatch: bool = False) -> pd.DataFrame:
    """The scores of runs by topic, as in the appendices of TREC, with what all runs reach on each.

    scores          what `gradedeval.evaluate` returns, or saved scores
    allow_mismatch  take saved scores of different qrels or options all the same, with a warning

    Returns a frame with a row for each measure, topic and run: measure, topic, run, score, median, best, worst. Where
    lower is better the best is the lowest; the topic `all` has the means (or totals, or geometric means) of each
    column.
    """
    matrix = comparable(scores, allow_mismatch)
    frames = []
    for column, name in enumerate(matrix.measures):
        paired, reading = matrix.paired(name), matrix.reading(column)
        by_topic = paired.score  # runs × topics
        best, worst = (by_topic.max(0), by_topic.min(0)) if reading.sign > 0 else (by_topic.min(0), by_topic.max(0))
        rows = np.vstack([by_topic, np.median(by_topic, axis=0), best, worst])
        whole = np.column_stack([rows, [float(summarize(row, reading.summary)) for row in rows]])
        topics = [*paired.topics, "all"]
        frames.append(
            to_frame(
                {
                    "measure": name,
                    "topic": np.repeat(topics, len(matrix.runs)),
                    "run": np.tile(matrix.runs, len(topics)),
                    "score": whole[: len(matrix.runs)].T.ravel(),
                    **{
                        part: np.repeat(whole[len(matrix.runs) + at], len(matrix.runs))
                        for at, part in enumerate(ACROSS)
                    },
                }
            )
        )
    return joined(frames)


def topic_table_document(frame: pd.DataFrame, matrix: Matrix, layout: Layout) -> Document:
    """The scores of runs by topic: a table of topics × runs for each measure."""
    if layout == "long":
        return Document([frame_table(frame)], matrix.signature)
    blocks: list[Table | str] = []
    for name in matrix.measures:
        own = frame[frame["measure"] == name]
        scores = own["score"].to_numpy().reshape(-1, len(matrix.runs)).tolist()
        across = own[list(ACROSS)].to_numpy()[:: len(matrix.runs)].tolist()
        topics = own["topic"].tolist()[:: len(matrix.runs)]
        columns = [Column(name), *(Column(title, "score") for title in (*matrix.runs, *ACROSS))]
        blocks.append(
            Table(columns, [[topic, *row, *more] for topic, row, more in zip(topics, scores, across, strict=True)])
        )
    return Document(blocks, matrix.signature)
