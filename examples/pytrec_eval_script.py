"""A script written for pytrec_eval: only its import has changed, from `import pytrec_eval`."""

import json

from gradedeval.interop import pytrec_eval

qrel = {
    "q1": {"d1": 0, "d2": 1, "d3": 0},
    "q2": {"d2": 1, "d3": 2},
}
run = {
    "q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5},
    "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5},
}

evaluator = pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg", "P_2"})
results = evaluator.evaluate(run)
print(json.dumps(results, indent=1, sort_keys=True))

for measure in sorted(results["q1"]):
    values = [scores[measure] for scores in results.values()]
    print(f"{measure:<8} {pytrec_eval.compute_aggregated_measure(measure, values):.4f}")
