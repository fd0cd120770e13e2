"""Pictures of results, with matplotlib (`pip install 'gradedeval[plot]'`): each function draws a frame on axes.

gradedeval.plot.runs(scores, "ndcg@10")
gradedeval.plot.save(gradedeval.plot.topics(scores, "ndcg@10"), "topics.pdf", scores.signature)

A function takes what a command of the same kind returns, draws on the matplotlib axes `ax`, or on the current ones, and
returns the axes. It computes no score. No setting of matplotlib is changed for good.
"""

from __future__ import annotations

from gradedeval.plot.agreement import correlate as correlate
from gradedeval.plot.agreement import scatter as scatter
from gradedeval.plot.appearance import style as style
from gradedeval.plot.figure import save as save
from gradedeval.plot.run_bars import runs as runs
from gradedeval.plot.topic_bars import topics as topics

__all__ = ["correlate", "runs", "save", "scatter", "style", "topics"]
