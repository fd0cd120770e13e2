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
from gradedeval.plot.attention import observation as observation
from gradedeval.plot.click_points import clicks as clicks
from gradedeval.plot.course import history as history
from gradedeval.plot.curves import pr as pr
from gradedeval.plot.figure import save as save
from gradedeval.plot.inferred import informative as informative
from gradedeval.plot.levels import power as power
from gradedeval.plot.parameter import fit as fit
from gradedeval.plot.rank_lines import weights as weights
from gradedeval.plot.ranks import explain as explain
from gradedeval.plot.run_bars import runs as runs
from gradedeval.plot.topic_bars import topics as topics

__all__ = [
    *("clicks", "correlate", "explain", "fit", "history", "informative", "observation", "power", "pr", "runs", "save"),
    *("scatter", "style", "topics", "weights"),
]
