#!/usr/bin/env bash
# Redo the experiments of four papers on a collection of one's own, and print commands and results as markdown.
# Usage: examples/papers.sh FOLDER > results.md, where FOLDER has runs/ and qrels.txt.
#
# Azzopardi, Mackenzie & Moffat, ICTIR 2021: tables 1 and 2, figure 5. Robertson, Kanoulas & Yilmaz, SIGIR 2010: section
# 4 and figures 2 and 3. Zhang, Park & Moffat, Information Retrieval 2010: tables 5 and 6. Chapelle et al., CIKM 2009:
# table 2 and algorithm 3, with simulated users.
set -euo pipefail
collection=$(cd "$1" && pwd)
gain=${GAIN:-0:0.25:0.75} # of grades 0, 1, 2: Azzopardi et al.'s equation 2 is (2^g - 1) / 2^top
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$collection/runs" runs
ln -s "$collection/qrels.txt" qrels.txt

# Print a command as it would be typed, and what it gives; remarks on topics that a run lacks go where nobody looks.
show() {
  printf '\n```console\n$ %s\n' "$1"
  eval "$1" 2> /dev/null
  printf '```\n'
}

# rbp(p=0.05..0.95) with its fitted value in place of the range, for every row by Spearman.
fitted() {
  awk -F, 'NR == 1 { for (n = 1; n <= NF; n++) at[$n] = n; next }
    $at["by"] == "spearman" { sub(/[0-9.]+\.\.[0-9.]+/, $at["value"] + 0, $1); print $1 }' "$1" | paste -sd ' '
}

families='rbp(p=0.05..0.95) nerr8@1..40 nerr9@1..40 nerr10(phi=0.05..0.95) nerr11(T=0.5..5)'
certain='--max-residual 0.05 --residual-depth full'

echo '### Azzopardi et al., table 1: parameters of greatest agreement with err@20'
show "gradedeval fit runs/* qrels.txt \\
    -m '$families' \\
    --to err@20 --gain $gain $certain --curve curve.csv"

echo
echo '### Azzopardi et al., figure 5: agreement as the parameter varies (every tenth)'
show "awk -F, 'NR == 1 || /^(rbp|nerr10)/ && \$4 == int(\$4 * 10 + 0.5) / 10' curve.csv | cut -d, -f1,3-"

grep -v '^#' qrels.txt | awk '{ print $1 }' | sort -u | sort -n > topics
awk 'NR % 2 == 1' topics > odd
awk 'NR % 2 == 0' topics > even
for pair in 'odd even' 'even odd'; do
  read -r here there <<< "$pair"
  echo
  echo "### Azzopardi et al., table 2: fitted on the $here topics, validated and ordered on the $there ones"
  show "gradedeval fit runs/* qrels.txt \\
    -m '$families' \\
    --to err@20 --gain $gain $certain \\
    --topics-from $here --validate $there"
  gradedeval fit runs/* qrels.txt -m "$families" --to err@20 --gain "$gain" $certain --coefficient spearman \
    --topics-from "$here" -f csv > fit.csv 2> /dev/null
  show "gradedeval correlate runs/* qrels.txt \\
    -m 'err@20 $(fitted fit.csv)' \\
    --gain $gain --topics-from $there"
done

echo
echo '### Robertson et al., figure 2: informativeness'
show "gradedeval informative runs/* qrels.txt -m 'gap ndcg(gain=exp) ndcg ap' --depth 100 --min-found ${FOUND:-5}"

echo
echo '### Robertson et al., figure 3: discriminative power'
show "gradedeval power runs/* qrels.txt -m 'gap ndcg(gain=exp) ap' --draws 10000 --curve levels.csv"
show "gradedeval power runs/* qrels.txt -m 'gap ndcg(gain=exp) ap' --draws 10000 --best-runs 15"
echo
echo 'Achieved significance levels, from the highest to the lowest, at every 5% of the pairs:'
show "awk -F, 'NR > 1 { n[\$1]++; level[\$1, n[\$1]] = \$6 }
  END { printf \"pairs\"; for (name in n) printf \"  %s\", name
        for (share = 0; share < 100; share += 5) {
          printf \"\n%4d%%\", share
          for (name in n) printf \"  %.4f\", level[name, int(n[name] * share / 100) + 1] }
        print \"\" }' levels.csv"

echo
echo '### Zhang et al., table 5: the geometric distribution nearest to the background weights of ap and rr'
for name in ap rr; do
  show "gradedeval weights runs/* qrels.txt -m $name --ranks 1000 -o w-$name.csv"
done
show 'gradedeval fit --to-weights w-ap.csv --ranks 50 -m "rbp(p=0.05..0.999)"'
show 'echo "of  ranks  p  KL  covered"
for ranks in '"${RANKS:-50 20 100 1000}"'; do for name in rr ap; do
  gradedeval fit --to-weights w-$name.csv --ranks $ranks -m "rbp(p=0.05..0.999)" -f tsv |
    awk -F "\t" -v of=$name \
      "NR == 2 { printf \"%s  %5d  %.3f  %.3f  %.4f\\n\", of, \$7, \$3, \$4, \$8 }"
done; done'

echo
echo '### Zhang et al., table 6: orderings by measures against those by the background weights'
for name in ap rr; do
  gradedeval weights runs/* qrels.txt -m $name --ranks 1000 --normalize sum -o sum-$name.csv 2> /dev/null
done
background='wp(file=sum-ap.csv,rel=1) wp(file=sum-rr.csv,rel=1)'
measures='rr p@2 p@10 rbp(p=0.5,rel=1) rbp(p=0.73,rel=1) rbp(p=0.95,rel=1) ap bpref(k=10)'
more='dcg(log=2,rel=1)@1000 ndcg(log=2,rel=1)'
show "gradedeval correlate runs/* qrels.txt -m '$background' \\
    -m '$measures' \\
    -m '$more' --coefficient tau -f tsv |
  awk -F '\\t' '\$1 ~ /^wp/ && \$2 !~ /^wp/ { printf \"%-26s %-24s %.3f\\n\", \$1, \$2, \$4 }'"

echo
echo '### Chapelle et al., table 2 and algorithm 3: measures against clicks of simulated users'
clicked=${CLICKED:-gain=0.05:0.3:0.7} # of grades 0, 1, 2
compared="err($clicked) err rbp(p=0.8) dcg rr(rel=2) ap"
show "gradedeval clicks simulate runs/* qrels.txt --as 'err($clicked)' \\
    --sessions 200000 -o cascade.tsv"
show "gradedeval clicks simulate runs/* qrels.txt --as 'rbp(p=0.8,$clicked)' \\
    --sessions 200000 -o readers.tsv"
for users in cascade readers; do
  show "gradedeval clicks correlate $users.tsv qrels.txt \\
    -m '$compared' \\
    --unjudged keep --quiet"
done
show "gradedeval clicks correlate cascade.tsv qrels.txt \\
    -m '$compared' \\
    --unjudged keep --pairs 1000 --quiet"
