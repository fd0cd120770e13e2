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


def history(folder):
    """A history of four evaluations; from the third on, rankings are cut at rank 100."""
    path = folder / "history.jsonl"
    path.unlink(missing_ok=True)
    for day, run, depth in ((1, BM25, None), (2, NEURAL, None), (3, BM25, 100), (4, NEURAL, 100)):
        scores = gradedeval.evaluate({"nightly": run}, QRELS, "ap", depth=depth)
        gradedeval.append_history(scores, path, time=f"2026-11-0{day}", label=f"v{day}")
    return gradedeval.read_history(path)


# A picture is drawn from a result, which knows what its numbers depend on; a history knows it of each evaluation.
PICTURES = {
    "pr": lambda folder: gradedeval.precision_recall(BM25, QRELS),
    "informative": lambda folder: gradedeval.informativeness(BM25, QRELS, "gap ap", min_found=2),
    "topics": lambda folder: evaluated("err@20", [BM25, DENSE]),
    "runs": lambda folder: evaluated("rbp(p=0.9)"),
    "weights": lambda folder: gradedeval.weights("rbp(p=0.9) dcg insq", ranks=50, normalize="sum"),
    "fit": lambda folder: gradedeval.fit(RUNS, QRELS, "rbp(p=0.05..0.95)", "err@20", precision=0.01),
    "power": lambda folder: evaluated("err@20 ap"),
    "correlate": lambda folder: evaluated("err@20 ndcg@10 ap"),
    "scatter": lambda folder: evaluated("err@20 ndcg@10"),
    "explain": lambda folder: gradedeval.explain(DENSE, QRELS, "err@20", topic="301"),
    "observation": lambda folder: clicks.fit("qrels_samples/zhang-clicks.tsv", ranks=20),
    "clicks": lambda folder: clicks.correlate("qrels_samples/rivers-clicks.tsv", QRELS, "err", by="kind"),
    "history": history,
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
            result = PICTURES[name](Path(folder))
            axes = getattr(plot, name)(gradedeval.power(result) if name == "power" else result)
            plot.save(axes, Path(folder) / f"{name}.svg", signature_of(result))
    pyplot.close("all")


if __name__ == "__main__":
    draw(sys.argv[1], sys.argv[2:] or PICTURES)
