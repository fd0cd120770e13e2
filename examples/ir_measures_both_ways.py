"""ir_measures both ways: its measures in gradedeval, and gradedeval's in ir_measures (pip install ir_measures)."""

# %% Runs and qrels as ir_measures reads them
from pathlib import Path

import ir_measures
from ir_measures import AP, P, nDCG

import gradedeval
from gradedeval.interop.ir_measures import as_ir_measures, err, gap, rbp

samples = Path(__file__).parent.parent / "qrels_samples"
qrels = list(ir_measures.read_trec_qrels(str(samples / "rivers.qrels")))
run = list(ir_measures.read_trec_run(str(samples / "rivers-bm25.run")))

# %% Their measures here: results come back under their names
scores = gradedeval.evaluate(run, qrels, [nDCG @ 10, AP(rel=2), P @ 5], residuals=True)
for name, mean in scores.means.items():
    print(f"{name:10} {mean:.4f} + {scores.residuals[name] or 0:.4f}")
assert scores[AP(rel=2)] == scores["ap(rel=2)"]

# %% Ours there, beside theirs: err and gap come from gradedeval.interop.ir_measures, and are measures of ir_measures
means = ir_measures.calc_aggregate([err @ 20, gap, rbp(p=0.95), nDCG @ 10], qrels, run)
print({str(measure): round(means[measure], 4) for measure in (err @ 20, gap, rbp(p=0.95), nDCG @ 10)})

# %% Topic by topic, and from notation
for metric in list(ir_measures.iter_calc(as_ir_measures("err@20 ndcg(gain=exp)@10"), qrels, run))[:2]:
    print(metric.query_id, metric.measure, round(metric.value, 4))

# %% Qrels read once, any number of runs
evaluator = ir_measures.evaluator([err @ 20, AP], qrels)
for path in sorted(samples.glob("rivers-*.run"))[:3]:
    result = evaluator.calc_aggregate(ir_measures.read_trec_run(str(path)))
    print(path.stem, round(result[err @ 20], 4), round(result[AP], 4))
