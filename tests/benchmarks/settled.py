"""The number of pairs of runs whose order no judgment reverses: by the residual of the lower run, and by the bounds of
the difference; and the cost of the second.

Prints a row for each measure: pairs, settled by the residual (which is not a proof for ap, ndcg and the like), settled
by the difference, settled by the first alone, the mean width of the bounds, and processor seconds of the evaluation
with residuals, of reading the runs again and of the bounds of all pairs.

    python tests/benchmarks/settled.py 'err@20 ndcg@10 ap' QRELS RUN...
"""

import sys
import time
import warnings

import numpy as np

import gradedeval
from gradedeval.analysis.difference_bounds import difference_bounds
from gradedeval.analysis.reversals import RereadRuns
from gradedeval.analysis.score_matrix import run_pairs, shared_topics, to_matrix


def row_of(measure: str, qrels: str, runs: list[str]) -> list[str]:
    """Return the cells of one measure."""
    begin = time.process_time()
    scores = gradedeval.evaluate(runs, qrels, measure, residuals="total")
    scored = time.process_time()
    paired = shared_topics(to_matrix(scores), scores.labels[0])
    first, second = run_pairs(len(runs))
    reread = RereadRuns.of(scores)
    for run in paired.runs:
        reread.parts(run, paired.topics)
    start = time.process_time()
    lowest, highest = difference_bounds(paired, first, second, reread)
    done = time.process_time()
    difference, residuals = paired.summaries[second] - paired.summaries[first], paired.residuals
    by_residual = np.abs(difference) > np.where(difference > 0, residuals[first], residuals[second]) + 1e-12
    by_difference = (lowest > 1e-12) | (highest < -1e-12)
    counts = (len(first), by_residual.sum(), by_difference.sum(), (by_residual & ~by_difference).sum())
    spent = (scored - begin, start - scored, done - start)
    width = (highest - lowest).mean()
    return [measure, *map(str, counts), f"{width:.4f}", *(f"{seconds:.2f}" for seconds in spent)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    measures, judged, *listed = sys.argv[1:]
    for measure in measures.split():
        print("|", " | ".join(row_of(measure, judged, listed)), "|", flush=True)
