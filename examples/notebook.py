"""A notebook-style script: open it in an editor that knows `# %%` cells, or run it as it is."""

# %% One run: means, and how much of them is unknown
from pathlib import Path

import gradedeval

samples = Path(__file__).parent.parent / "qrels_samples"
qrels = gradedeval.Qrels(samples / "rivers.qrels")
scores = gradedeval.evaluate(samples / "rivers-bm25.run", qrels, "err@20 ndcg@20 ap", residuals="total")
for name, mean in scores.means.items():
    print(f"{name:8} {mean:.4f} + {scores.residuals[name]:.4f}")

# %% Several runs, as a DataFrame
runs = {path.stem: path for path in sorted(samples.glob("rivers-*.run"))}
several = gradedeval.evaluate(runs, qrels, ["err@20", "ndcg@20"], topics="both")
frame = several.frame
print(frame[frame["topic"] == "all"].pivot(index="run", columns="measure", values="score").round(4))

# %% Measures are values
from gradedeval.measures import err, rbp  # noqa: E402 - a cell begins with its imports

patient = [rbp(p=p) for p in (0.5, 0.8, 0.95)]
print(gradedeval.evaluate(samples / "rivers-neural.run", qrels, [err @ 10, *patient]).means)

# %% A training loop: the qrels are read once, each run is a dict
topics = {"q1": {"a": 2, "b": 0, "c": 1}}
judged = gradedeval.Qrels(topics)
for epoch, ranking in enumerate([{"a": 0.2, "b": 0.9, "c": 0.5}, {"a": 0.9, "b": 0.1, "c": 0.5}]):
    means = gradedeval.evaluate({"q1": ranking}, judged, err @ 20).means
    print(epoch, round(means["err@20"], 4))
