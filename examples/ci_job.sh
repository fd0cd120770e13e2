#!/usr/bin/env bash
# A CI job that fails when search gets worse, or when too little of the new ranking is judged to tell.
# Usage: examples/ci_job.sh NEW.run OLD.run QRELS
set -euo pipefail
new=${1:-qrels_samples/rivers-bm25-rm3.run}
old=${2:-qrels_samples/rivers-bm25.run}
qrels=${3:-qrels_samples/rivers.qrels}
allowed_drop=0.01
allowed_residual=0.05

# The exit code of gradedeval itself already fails the job on broken files: 1 for bad data, 2 for bad usage.
scores=$(gradedeval "$new" "$old" "$qrels" -m err@20 --residuals -f csv)

echo "$scores" | awk -F, -v drop="$allowed_drop" -v residual="$allowed_residual" '
  NR == 2 { score = $4; unknown = $5 }
  NR == 3 { before = $4 }
  END {
    printf "err@20 %.4f, before %.4f, unknown %.4f\n", score, before, unknown
    if (unknown > residual) { print "FAIL: judge more of the new ranking first"; exit 1 }
    if (score < before - drop) { print "FAIL: err@20 dropped"; exit 1 }
    print "ok"
  }'
