#!/usr/bin/env bash
# Score every run of a folder, then look closer where two of them differ.
# Usage: examples/many_runs.sh, beside qrels_samples/; put your own names where it says rivers.
set -euo pipefail
folder=qrels_samples
qrels=$folder/rivers.qrels

echo "# all runs, the best first"
gradedeval "$folder"/rivers-*.run* "$qrels" -m err@20 -m ndcg@20 -m ap --sort err@20 -f tsv --digits 4

echo "# the five topics where pseudo-relevance feedback hurts bm25 most (err@20)"
gradedeval "$folder/rivers-bm25.run" "$folder/rivers-bm25-rm3.run" "$qrels" -q -m err@20 -f csv |
  awk -F, '$2 != "all" && NR > 1 { if ($2 in first) print $4 - first[$2], $2; else first[$2] = $4 }' |
  sort -g | head -n 5 | awk '{ printf "topic %s  %+.4f\n", $2, $1 }'

echo "# how much of ndcg@20 could still change, by run"
gradedeval "$folder"/rivers-*.run* "$qrels" -m ndcg@20 --residuals -f csv |
  awk -F, 'NR > 1 { printf "%-22s %.4f + %.4f\n", $1, $4, $5 }'
