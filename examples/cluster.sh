#!/usr/bin/env bash
# A scheduler and two workers on this machine, as they would stand on three, and the samples evaluated by them.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python} port=${PORT:-8786} started=()
# Workers end before their scheduler: one that has lost it waits for it.
trap 'kill "${started[@]:1}"; wait "${started[@]:1}" || true; kill "${started[0]}"' EXIT

"$python" -m dask scheduler --host 127.0.0.1 --port "$port" --no-dashboard --no-show >/dev/null 2>&1 & started+=($!)
for _ in 1 2; do
  "$python" -m dask worker "tcp://127.0.0.1:$port" --nthreads 1 --no-nanny --no-dashboard >/dev/null 2>&1 & started+=($!)
done

"$python" -m gradedeval qrels_samples/rivers-*.run qrels_samples/rivers.qrels -m 'err@20 ap' --sort err@20 \
  --cluster "tcp://127.0.0.1:$port"
