"""Every picture of `gradedeval plot`, drawn in Python from the samples: python examples/pictures.py FOLDER

The README shows two of them, which `python examples/pictures.py docs/pictures runs topics` writes.
"""

import sys
import warnings
from pathlib import Path

import matplotlib
from matplotlib import pyplot

import gradedeval
from gradedeval import clicks, plot

matplotlib.use("svg")

warnings.simplefilter("ignore", gradedeval.EvaluationWarning)  # topics without a relevant document
QRELS = "qrels_samples/rivers.qrels"
BM25, NEURAL, DENSE = RUNS = [f"qrels_samples/rivers-{name}.run" for name in ("bm25", "neural", "dense")]


def evaluated(measures, runs=RUNS):
    return gradedeval.evaluate(runs, QRELS, measures, residuals="split")


# A picture is drawn from a result, which knows what its numbers depend on.
PICTURES = {
    "pr": lambda: gradedeval.precision_recall(BM25, QRELS),
    "informative": lambda: gradedeval.informativeness(BM25, QRELS, "gap ap", min_found=2),
    "topics": lambda: evaluated("err@20", [BM25, DENSE]),
    "runs": lambda: evaluated("rbp(p=0.9)"),
    "weights": lambda: gradedeval.weights("rbp(p=0.9) dcg insq", ranks=50, normalize="sum"),
    "fit": lambda: gradedeval.fit(RUNS, QRELS, "rbp(p=0.05..0.95)", "err@20", precision=0.01),
    "power": lambda: evaluated("err@20 ap"),
    "correlate": lambda: evaluated("err@20 ndcg@10 ap"),
    "scatter": lambda: evaluated("err@20 ndcg@10"),
    "explain": lambda: gradedeval.explain(DENSE, QRELS, "err@20", topic="301"),
    "clicks": lambda: clicks.correlate("qrels_samples/rivers-clicks.tsv", QRELS, "err", by="kind"),
}


def signature_of(result):
    """What the numbers depend on, for the metadata of the file."""
    known = (getattr(result, name, None) for name in ("signature", "settings"))
    return next(filter(None, known), None) or "\n".join(dict.fromkeys(result.frame["signature"]))


def draw(folder, names=PICTURES):
    """Draw these pictures into a folder, each as NAME.svg."""
    for name in names:
        with plot.style():
            pyplot.close("all")
            result = PICTURES[name]()
            axes = getattr(plot, name)(gradedeval.power(result) if name == "power" else result)
            plot.save(axes, Path(folder) / f"{name}.svg", signature_of(result))
    pyplot.close("all")


if __name__ == "__main__":
    draw(sys.argv[1], sys.argv[2:] or PICTURES)
