#!/usr/bin/env bash
# Checks runs against bounds, shows the result where the CI server shows it, and ends with the exit code of the check.
#
#   RUNS      run files, between spaces or lines; patterns such as runs/*.run
#   QRELS     judgments
#   CONFIG    a file of bounds; without it gradedeval.toml, or [tool.gradedeval] in pyproject.toml
#   BASELINE  a run, or scores saved by `gradedeval RUN QRELS -q -o main.csv`
#   UNDECIDED what a bound of no-worse counts as if the topics cannot tell: pass or fail; without it exit code 4
#   QUERIES   texts of topics, which stand beside the worst ones
#   OUT       the folder of the reports: junit.xml, report.html, and without GITHUB_STEP_SUMMARY summary.md
set -uo pipefail
read -r -d '' -a runs <<<"${RUNS:?name the run files}" || true
: "${QRELS:?name the qrels}"
out=${OUT:-search-quality}
mkdir -p "$out"
summary=${GITHUB_STEP_SUMMARY:-$out/summary.md}
form=(${GITHUB_ACTIONS:+-f github})
texts=(${QUERIES:+--queries "$QUERIES"})
options=(${CONFIG:+--config "$CONFIG"} ${BASELINE:+--baseline "$BASELINE"} ${UNDECIDED:+--undecided "$UNDECIDED"}
  ${texts[@]+"${texts[@]}"})

check() { gradedeval check "${runs[@]}" "$QRELS" ${options[@]+"${options[@]}"} "$@"; }

check ${form[@]+"${form[@]}"} 2> >(tee "$out/messages.txt" >&2)
code=$?
check -f junit -o "$out/junit.xml" --quiet 2>/dev/null
if [ "$code" -gt 1 ] && [ "$code" -ne 4 ]; then
  printf '### Search quality: nothing was checked\n\n```text\n%s\n```\n' "$(cat "$out/messages.txt")" >>"$summary"
  exit "$code"
fi
{
  printf '### Search quality\n\n'
  check -f markdown --quiet 2>/dev/null
  printf '\n'
  gradedeval "${runs[@]}" "$QRELS" -f markdown 2>/dev/null
} >>"$summary"
# The page needs jinja2; without it the check still counts.
gradedeval report "${runs[@]}" "$QRELS" ${texts[@]+"${texts[@]}"} -o "$out/report.html" --quiet ||
  echo "no report: pip install 'gradedeval[report]'" >&2
exit "$code"
