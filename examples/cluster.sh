#!/usr/bin/env bash
# A scheduler and two workers on this machine, as they would stand on three, and the samples evaluated by them.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python} port=${PORT:-8786} started=()
# A worker that is still there after a second waits for a scheduler that is gone.
trap 'kill "${started[@]}" 2>/dev/null || true; sleep 1; kill -9 "${started[@]}" 2>/dev/null || true' EXIT

"$python" -m dask scheduler --host 127.0.0.1 --port "$port" --no-dashboard --no-show >/dev/null 2>&1 & started+=($!)
for _ in 1 2; do
  "$python" -m dask worker "tcp://127.0.0.1:$port" --nthreads 1 --no-nanny --no-dashboard >/dev/null 2>&1 & started+=($!)
done

"$python" -m gradedeval qrels_samples/rivers-*.run qrels_samples/rivers.qrels -m 'err@20 ap' --sort err@20 \
  --cluster "tcp://127.0.0.1:$port"
