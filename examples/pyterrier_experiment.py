"""gradedeval's measures in PyTerrier's pt.Experiment (pip install python-terrier), here of runs that exist already.

Results in files need no Java; a pipeline of Terrier in their place does.
"""

# %% Topics, qrels and results as PyTerrier has them
from pathlib import Path

import pandas as pd
import pyterrier as pt

from gradedeval.interop.ir_measures import err, gap, rbp

samples = Path(__file__).parent.parent / "qrels_samples"
qrels = pt.io.read_qrels(str(samples / "rivers.qrels"))
topics = pd.DataFrame({"qid": qrels["qid"].unique()})
topics["query"] = "rivers"
results = {name: pt.io.read_results(str(samples / f"rivers-{name}.run")) for name in ("bm25", "neural")}

# %% Means, and how many topics are better and worse than the baseline's, with the p-value of a t test
measures = [err @ 20, gap, rbp(p=0.95), "map"]
table = pt.Experiment(
    list(results.values()), topics, qrels, eval_metrics=measures, names=list(results), baseline=0, round=4
)
print(table[["name", "err@20", "gap", "rbp(p=0.95)", "map"]].to_string(index=False))
print(table[["name", "err@20 +", "err@20 -", "err@20 p-value"]].to_string(index=False))

# %% Topic by topic
by_topic = pt.Experiment(
    list(results.values()), topics, qrels, eval_metrics=[err @ 20, gap], names=list(results), perquery=True, round=4
)
print(by_topic.sort_values(["name", "qid", "measure"]).head(4).to_string(index=False))
