"""`diff` of systems of several seeds: figures by plain loops, bounds by all completions, agreement, and messages."""

import math
import random
import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations, product
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.kernel.options.metadata import OfRuns
from support.commands import Command, succeed
from support.commands import rows as csv_rows
from support.measures import VARIANTS
from support.runs import write_qrels, write_run

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
SEEDS = {"A": ["a-0.run", "a-1.run", "a-2.run"], "B": ["b-0.run", "b-1.run", "b-2.run", "b-3.run"]}
SYSTEMS = {"A": "a-*", "B": "b-*"}
GIVEN = ("--replicates", "A=a-*", "--replicates", "B=b-*")
DOCNOS = [f"d{number}" for number in range(14)]
Rankings = dict[str, dict[str, dict[str, float]]]


def seeds_of(seed: int, topics: int = 4, shortest: int = 1) -> tuple[Rankings, dict[str, dict[str, int]]]:
    """Return the runs of two systems, and judgments of some of their documents."""
    draw = random.Random(seed)
    names = [f"t{number}" for number in range(topics)]
    runs = {
        name: {topic: {docno: draw.random() for docno in draw.sample(DOCNOS, draw.randint(shortest, 9))}
               for topic in names}
        for members in SEEDS.values() for name in members
    }  # fmt: skip
    qrels = {topic: {docno: draw.choice([0, 0, 1, 2, 3]) for docno in draw.sample(DOCNOS, 9)} for topic in names}
    qrels["t0"]["top"] = 3
    return runs, qrels


RUNS, QRELS = seeds_of(1)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """Write the runs, A's first, and the qrels; return their names."""
    runs = [str(write_run(tmp_path / name, run)) for name, run in RUNS.items()]
    return (*runs, str(write_qrels(tmp_path / "qrels", QRELS)))


# With judgments


def expected(topic: str) -> dict[str, dict[str, Any]]:
    """Return for each document of a topic, by precision at 5 in plain loops, its contribution to each system, its
    number of seeds, its median rank, and its change."""
    documents = defaultdict[str, dict[str, Any]](dict)
    for system, members in SEEDS.items():
        ranks: list[dict[str, int]] = []
        for name in members:
            scored = RUNS[name][topic]
            ranks.append({docno: rank for rank, docno in enumerate(sorted(scored, key=lambda d: -scored[d]), 1)})
        for docno in DOCNOS:
            ranks_of_docno = [of_seed.get(docno, math.inf) for of_seed in ranks]
            relevant = QRELS[topic].get(docno, 0) >= 1
            middle = median(ranks_of_docno)
            documents[docno][system] = {
                "contribution": fmean(0.2 * relevant * (rank <= 5) for rank in ranks_of_docno),
                "seeds": sum(rank < math.inf for rank in ranks_of_docno),
                "rank": middle if middle < math.inf else None,
                "best": min(ranks_of_docno),
                "share": sum(rank < math.inf for rank in ranks_of_docno) / len(ranks_of_docno),
            }
    return documents


def change_of(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Return the change in the words of the documentation."""
    if not first["seeds"]:
        return "entered"
    if not second["seeds"]:
        return "left"
    old, new = (side["rank"] or math.inf for side in (first, second))
    if old == new == math.inf:
        old, new = -first["share"], -second["share"]
    return "rose" if new < old else "fell" if new > old else "stayed"


def test_documents_agree_with_plain_loops() -> None:
    diff = gradedeval.diff(RUNS, QRELS, "p@5", replicates=SYSTEMS)
    assert (diff.baseline, diff.run, diff.seeds) == ("A", "B", (3, 4))
    assert diff.signature.endswith("2 systems of 3 to 4 seeds")
    kinds = set()
    for topic in QRELS:
        rows = {row["docno"]: row for row in blank(diff.documents[diff.documents["topic"] == topic])}
        of_topic = expected(topic)
        reported = {
            docno
            for docno, by_system in of_topic.items()
            if min(by_system["A"]["best"], by_system["B"]["best"]) <= 5
            and (by_system["A"]["rank"] != by_system["B"]["rank"] or by_system["A"]["share"] != by_system["B"]["share"]
                 or abs(by_system["A"]["contribution"] - by_system["B"]["contribution"]) > 1e-9)
        }  # fmt: skip
        assert rows.keys() == reported
        for docno, row in rows.items():
            first, second = of_topic[docno]["A"], of_topic[docno]["B"]
            assert (row["baseline_seeds"], row["seeds"]) == (first["seeds"], second["seeds"])
            assert (row["baseline_rank"], row["rank"]) == (first["rank"], second["rank"])
            assert row["change"] == change_of(first, second)
            kinds.add(row["change"])
            for side, name in ((first, "baseline_contribution"), (second, "contribution")):
                if side["seeds"]:
                    assert row[name] == pytest.approx(side["contribution"], abs=1e-12)
                else:
                    assert row[name] is None
            assert row["explains"] == pytest.approx(second["contribution"] - first["contribution"], abs=1e-12)
    assert kinds >= {"entered", "rose", "fell"}


def blank(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


@pytest.mark.parametrize("measure", ["ndcg@5", "ap", "esl"])
def test_topics_have_means_and_their_error_over_seeds(measure: str) -> None:
    diff = gradedeval.diff(RUNS, QRELS, measure, replicates=SYSTEMS)
    scores = gradedeval.evaluate(RUNS, QRELS, measure, residuals="total")
    residuals = {(row.run, row.topic): row.residual for row in scores.rows() if row.topic != "all"}
    for row in blank(diff.topics):
        by_seed = {system: [scores.by_topic(measure, run)[row["topic"]] for run in members]
               for system, members in SEEDS.items()}  # fmt: skip
        means = [fmean(values) for values in by_seed.values()]
        assert [row["baseline_score"], row["score"]] == pytest.approx(means, abs=1e-12)
        assert row["difference"] == pytest.approx(means[1] - means[0], abs=1e-12)
        error = math.sqrt(sum(stdev(values) ** 2 / len(values) for values in by_seed.values()))
        assert row["se"] == pytest.approx(error, abs=1e-12)
        for system, name in (("A", "baseline_residual"), ("B", "residual")):
            of_seeds = [residuals[run, row["topic"]] for run in SEEDS[system]]
            assert row[name] == (None if of_seeds[0] is None else pytest.approx(fmean(of_seeds), abs=1e-12))
    gains = (1 if measure != "esl" else -1) * diff.topics["difference"]
    assert gains.is_monotonic_increasing
    assert (diff.only("worse").topics["difference"] == diff.topics["difference"][gains < 0]).all()
    elsewhere = gradedeval.topic_differences(RUNS, QRELS, measure, replicates=SYSTEMS).frame.set_index("topic")
    for name in ("difference", "se"):
        plain = elsewhere[name].reindex(diff.topics["topic"]).tolist()
        assert diff.topics[name].tolist() == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("unseen", [None, 2])
def test_the_picture_of_topics_has_the_bounds_of_diff(unseen: int | None) -> None:
    runs, qrels, _ = completed(0, 5)
    measures = "ndcg@3 ap err@5 rbp q p@3 esl"
    diff = gradedeval.diff(runs, qrels, measures, replicates=SYSTEMS, top_grade=2, unseen=unseen).topics
    drawn = gradedeval.topic_differences(runs, qrels, measures, replicates=SYSTEMS, top_grade=2, unseen=unseen).frame
    key = ["measure", "topic"]
    drawn = drawn.set_index(key).reindex(pd.MultiIndex.from_frame(diff[key])).reset_index()
    assert list(drawn["same_order"]) == list(diff["same_order"])
    assert set(drawn["same_order"]) == {True, False, pd.NA}
    for name in ("residual", "baseline_residual"):
        assert drawn[name].tolist() == pytest.approx(diff[name].tolist(), abs=1e-12, nan_ok=True)
    ends = drawn[drawn["low"].notna()]
    assert ((ends["low"] <= ends["difference"]) & (ends["difference"] <= ends["high"])).all()
    within = (ends["low"] > 1e-9) | (ends["high"] < -1e-9)
    assert ends.loc[within, "same_order"].all()
    geometric = gradedeval.topic_differences(runs, qrels, "gm_ap", replicates=SYSTEMS).frame
    assert geometric[["low", "high", "same_order", "residual"]].isna().all(axis=None)


@pytest.mark.one_in(24)
@pytest.mark.parametrize("part", range(24))
def test_the_documents_explain_the_whole_difference_of_means(part: int) -> None:
    runs, qrels = seeds_of(part)
    measures = [
        measure
        for measure in VARIANTS
        if not (measure.by_intent or measure.types or measure.definition.may_skip)
        and measure.reading.summary != "geometric"
    ]
    diff = gradedeval.diff(runs, qrels, measures[part::24], top_grade=3, replicates=SYSTEMS)
    key = ["measure", "topic"]
    explained = diff.documents.groupby(key)["explains"].sum()
    differences = diff.topics.set_index(key)["difference"]
    finite = differences[differences.abs() < float("inf")]
    assert (explained.reindex(finite.index).fillna(0.0) - finite).abs().max() < 1e-9


SEVERAL = "ndcg@5 ap rbp err@3 num_rel_ret"
"""Sums of gains, precisions, a cascade, a measure beyond the end, and counts."""


@pytest.mark.parametrize("copies", [1, 2])
def test_systems_without_random_effects_equal_their_runs(copies: int) -> None:
    """Check systems of one seed, and of several equal ones."""
    names = ("a-0.run", "b-1.run")
    runs = {f"{name}-{copy}": RUNS[name] for name in names for copy in range(copies)}
    systems = OfRuns({run: run.rpartition("-")[0] for run in runs})
    plain = gradedeval.diff({name: RUNS[name] for name in names}, QRELS, SEVERAL)
    diff = gradedeval.diff(runs, QRELS, SEVERAL, replicates=systems)
    assert (diff.topics["se"].isna() if copies == 1 else diff.topics["se"] < 1e-12).all()
    key = ["measure", "topic"]
    if copies > 1:
        # By precisions and cascades bounds of seeds are no tighter: an order certain for systems is certain for runs.
        certain = diff.topics[diff.topics["same_order"].fillna(False).astype(bool)].set_index(key).index
        assert plain.topics.set_index(key).loc[certain, "same_order"].all()
        sums = diff.topics["measure"].isin(["ndcg@5", "num_rel_ret"])
        both = (frame.loc[sums.to_numpy(), "same_order"].tolist() for frame in (diff.topics, plain.topics))
        assert list(next(both)) == list(next(both))
    shared_columns = [name for name in plain.topics if copies == 1 or name != "same_order"]
    pd.testing.assert_frame_equal(diff.topics[shared_columns], plain.topics[shared_columns], atol=1e-12, rtol=0)
    documents = diff.documents.astype({"baseline_rank": "Int64", "rank": "Int64"})
    pd.testing.assert_frame_equal(documents[list(plain.documents)], plain.documents, atol=1e-12, rtol=0)


def ranking(*docnos: str) -> dict[str, dict[str, float]]:
    """Return a run of one topic."""
    return {"t": {docno: float(-rank) for rank, docno in enumerate(docnos)}}


def test_means_equal_but_for_rounding_explain_nothing() -> None:
    """Compare 0.1 + 0.1 + 0.1 in three of three seeds with 0.1 · 6 in six of six."""
    runs = {f"a-{seed}": ranking("x", "r") for seed in range(3)} | {f"b-{seed}": ranking("r", "x") for seed in range(6)}
    diff = gradedeval.diff(runs, {"t": {"r": 1, "x": 0}}, "p@10", replicates=SYSTEMS)
    assert diff.topics["changed"].tolist() == [2]
    assert diff.documents["explains"].tolist() == [0.0, 0.0]
    assert "no document counts more or less than before" in diff._repr_html_()


def test_a_document_found_by_as_many_seeds_has_one_count() -> None:
    runs = {"a-0": ranking("r"), "a-1": ranking("x"), "b-0": ranking("x", "y", "r"), "b-1": ranking("x")}
    diff = gradedeval.diff(runs, {"t": {"r": 1}}, "ap", replicates=SYSTEMS)
    assert "r (grade 1) stayed in 1 of 2: -0.3333" in diff._repr_html_()
    runs = {"a-0": ranking("r", "x"), "a-1": ranking("r"), "a-2": ranking("x")}
    runs |= {"b-0": ranking("r"), "b-1": ranking("r")}
    diff = gradedeval.diff(runs, {"t": {"r": 1}}, "ap", replicates=SYSTEMS)
    assert "r (grade 1) stayed at 1 (2 of 3) → 1: +0.3333" in diff._repr_html_()


# Effects of further judging


def completed(seed: int, longest: int) -> tuple[Rankings, dict[str, dict[str, int]], dict[str, list[str]]]:
    """Return runs of which B's are judged better, judgments, and the two unjudged documents of each topic.

    longest  5: five documents each, otherwise at most this many
    """
    draw = random.Random(seed)
    topics, docnos = [f"t{number}" for number in range(12)], DOCNOS[:7]
    unjudged = {topic: draw.sample(docnos, 2) for topic in topics}
    qrels = {
        topic: {"top": 2, **{docno: draw.choice([0, 0, 1, 2]) for docno in docnos if docno not in unjudged[topic]}}
        for topic in topics
    }
    runs: Rankings = {}
    for name in [name for members in SEEDS.values() for name in members][:6]:
        runs[name] = {}
        for topic in topics:
            scores = {
                docno: draw.random() + 0.2 * name.startswith("b") * qrels[topic].get(docno, 0) for docno in docnos
            }
            length = 5 if longest == 5 else draw.randint(1, longest)
            runs[name][topic] = dict(sorted(scores.items(), key=lambda pair: -pair[1])[:length])
    return runs, qrels, unjudged


EXACT = ["ndcg@3", "dcg@5", "p@3", "recall@4"]


@pytest.mark.parametrize("measure", [*EXACT, "ap", "ap@3", "err@5", "nerr@4", "rr", "q", "f1@3"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 6))])
def test_no_judgments_reverse_a_certain_order(measure: str, seed: int) -> None:
    """Give each document one grade in all seeds; by sums of gains some judgments reverse or tie an open order."""
    runs, qrels, unjudged = completed(seed, 5 if measure in EXACT else 3)
    diff = gradedeval.diff(runs, qrels, measure, replicates=SYSTEMS, top_grade=2, unseen=0).topics
    certain = dict(zip(diff["topic"], diff["same_order"].tolist(), strict=True))
    signs = defaultdict[str, set[float]](set)
    for grades in product([None, 0, 1, 2], repeat=2):
        judged = {
            topic: {**scores_of, **{docno: grade for docno, grade in zip(unjudged[topic], grades, strict=True)
                             if grade is not None}}
            for topic, scores_of in qrels.items()
        }  # fmt: skip
        scores = gradedeval.evaluate(runs, judged, measure, top_grade=2)
        scores_of = {name: scores.by_topic(scores.labels[0], name) for name in runs}
        for topic in qrels:
            first, second = (fmean(scores_of[name][topic] for name in runs if name.startswith(start)) for start in "ab")
            signs[topic].add(float(np.sign(round(second - first, 10))))
    for topic, signs_of_topic in signs.items():
        if certain[topic]:
            assert len(signs_of_topic) == 1
        elif measure in EXACT:
            assert len(signs_of_topic) > 1
    assert any(certain.values()) or measure not in EXACT


def test_equal_means_of_other_rankings_are_open() -> None:
    """Check two means of one half, of which one alone includes the unjudged x."""
    runs = {"a-0": ranking("r", "x"), "a-1": ranking("n"), "b-0": ranking("n"), "b-1": ranking("r")}
    diff = gradedeval.diff(runs, {"t": {"r": 1, "n": 0}}, "recall@2", replicates=SYSTEMS)
    assert (diff.topics["difference"].tolist(), diff.topics["same_order"].tolist()) == ([0.0], [False])
    equal_rankings = {**runs, "a-0": {"t": {"r": 1.0}}}
    diff = gradedeval.diff(equal_rankings, {"t": {"r": 1, "n": 0}}, "recall@2 ap", replicates=SYSTEMS)
    assert diff.topics["same_order"].all()  # the same rankings, in another order
    assert diff.documents.empty


# Without judgments


@pytest.mark.parametrize("apart", [{}, {"a-0.run": None}])
def test_agreement_of_systems_is_the_mean_over_pairs_of_seeds(apart: Mapping[str, None]) -> None:
    """Compare with plain loops over plain runs; a run in no system has no seeds to agree."""
    systems = {"A": [run for run in SEEDS["A"] if run not in apart], "B": SEEDS["B"]}
    result = gradedeval.ranking_agreement(RUNS, replicates=systems)
    plain = gradedeval.ranking_agreement(RUNS).frame
    by_pair = {frozenset((row["run"], row["other"])): {} for row in plain.to_dict("records")}
    for row in plain.to_dict("records"):
        by_pair[frozenset((row["run"], row["other"]))][row["topic"]] = row
    members = {**{run: [run] for run in apart}, **systems}
    rows = {(row["run"], row["other"], row["topic"]): row for row in result.frame.to_dict("records")}
    expected_rows = 0
    for first, second in [*combinations(members, 2), *((system, system) for system in systems)]:
        pairs = [*combinations(members[first], 2)] if first == second else [*product(members[first], members[second])]
        for topic in QRELS:
            values = [by_pair[frozenset(pair)][topic] for pair in pairs]
            row = rows[first, second, topic]
            assert row["pairs"] == len(pairs)
            for name in ("rbo", "rbo_low", "rbo_high", "residual", "overlap", "common", "tau"):
                defined = [each[name] for each in values if not math.isnan(each[name])]
                assert row[name] == pytest.approx(fmean(defined) if defined else math.nan, abs=1e-12, nan_ok=True)
            expected_rows += 1
    assert len(rows) == expected_rows
    assert result.runs == list(members)
    assert result.seeds == {name: len(values) for name, values in members.items()}


def test_the_matrix_of_systems_has_the_agreement_of_seeds_on_its_diagonal(files: tuple[str, ...], cli: Command) -> None:
    words = ("--replicates", "B=b-*", "--replicates", "A=a-[12]*")
    outcome = cli("diff", *files[:-1], *words)
    lines = outcome.text.splitlines()
    agreement = gradedeval.ranking_agreement(RUNS, replicates={"B": "b-*", "A": "a-[12]*"})
    means = agreement.means.set_index(["run", "other"])
    assert lines[0].split() == ["seeds", "a-0.run", "A", "B", "tau", "of", "seeds"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:5]}
    rbo, tau = means["rbo"], means["tau"]
    assert rows["a-0.run"] == ["1", "—", f"{rbo['a-0.run', 'A']:.3f}", f"{rbo['a-0.run', 'B']:.3f}", "—"]
    assert rows["B"] == ["4", f"{tau['a-0.run', 'B']:.3f}", f"{tau['A', 'B']:.3f}", f"{rbo['B', 'B']:.3f}",
                         f"{tau['B', 'B']:.3f}"]  # fmt: skip
    assert "on it: rbo between the seeds of a system" in outcome.words
    problem = "--top: applies to two systems, and 3 are given; leave it out"
    assert cli("diff", *files[:-1], *words, "--top", "3").messages == [problem]


def test_two_systems_by_topic_have_the_agreement_of_their_seeds(files: tuple[str, ...], cli: Command) -> None:
    text = cli("diff", *files[:-1], *GIVEN, "--top", "2").text
    means = gradedeval.ranking_agreement(RUNS, replicates=SYSTEMS).means.set_index(["run", "other"])["rbo"]
    lines = {line[:10].strip(): line.split() for line in text.splitlines()}
    assert text.startswith("A (3 seeds) and B (4 seeds)\n")
    assert lines["topic"] == ["topic", "rbo", "A", "B", "residual", "overlap", "tau", "common"]
    both = [f"{means[pair]:.4f}" for pair in (("A", "B"), ("A", "A"), ("B", "B"))]
    assert lines["mean of 4"][3:6] == both
    assert lines["seeds of A"][3] == both[1]
    assert "2 more topics not shown; see them with --top N" in text
    of_one_system = cli("diff", *files[:3], "--replicates", "A=a-*").text  # how much the seed alone moves the ranking
    assert of_one_system.startswith("A (3 seeds)\n")
    assert f"mean of 4  {both[1]}" in of_one_system


# At the prompt


def test_the_baseline_is_a_system(files: tuple[str, ...], cli: Command) -> None:
    outcome = succeed(cli("diff", *files, *GIVEN, "-m", "ndcg@5", "--baseline", "B", "-f", "csv"))
    rows = csv_rows(outcome.text)
    assert {(row["baseline"], row["run"]) for row in rows} == {("B", "A")}
    differences = gradedeval.diff(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS).topics.set_index("topic")["difference"]
    assert all(float(row["difference"]) == pytest.approx(-differences[row["topic"]], abs=1e-12) for row in rows)
    alone = cli("diff", *files[1:], "--baseline", files[0], "--replicates", "B=b-*", "--replicates", "A=a-[12]*")
    assert "3 systems given (a-0.run, A, B)" in alone.messages[-1]
    alone = cli("diff", *files[3:], "--baseline", files[0], "--replicates", "B=b-*", "-m", "p@5")
    assert alone.text.startswith("from a-0.run (1 seed) to B (4 seeds)\n")
    assert any(line.startswith("1 run is in no system and has no seeds (a-0.run)") for line in alone.messages)
    assert "± se" in alone.text


def test_a_topic_shows_medians_and_seeds(files: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    texts, labels = tmp_path / "texts.tsv", tmp_path / "labels.csv"
    texts.write_text("t1\trivers of the north\n")
    labels.write_text("topic,kind\nt0,even\nt1,odd\nt2,even\nt3,odd\n")
    words = ("diff", *files, *GIVEN, "-m", "ndcg@5", "--queries", str(texts), "--slices", str(labels))
    outcome = cli(*words, "--topic", "t1")
    topic = gradedeval.diff(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS).only(topic="t1").topics.iloc[0]
    change = f"({topic['difference']:+.4f} ± {topic['se']:.4f})"
    scores = f"{topic['baseline_score']:.4f} → {topic['score']:.4f}"
    assert f"topic t1 (rivers of the north): {scores} {change}" in outcome.text
    assert re.search(r" \d/3 → \d/4 ", outcome.text)
    assert "kind topics A B difference ± se worse better" in outcome.words
    whole = cli(*words).words
    assert "from A (3 seeds) to B (4 seeds)" in whole
    assert " of 4)" in whole  # a document that not all seeds of B retrieved


NEITHER = "is neither a file nor one of the systems (A, B)"
SUBSETS = {"all": slice(None), "five runs": slice(0, 5), "two runs": slice(0, 2), "one run": slice(6, 7)}


@pytest.mark.parametrize(
    ("chosen", "words", "message"),
    [
        ("all", "A=a-*", "--replicates: 5 systems given (A, b-0.run, b-1.run, b-2.run, b-3.run); with qrels diff "
         "compares two: leave the runs of others out, or put them in a system"),
        ("all", "A=*.run", "--replicates: 1 system given (A); with qrels diff compares two: name the other one"),
        ("all", "A=a-* B=c-*", "--replicates: B=c-* matches no run"),
        ("all", "A=a-* B=*-0.run", "--replicates: run 'a-0.run' is in two systems, 'A' and 'B'"),
        ("all", "A=a-* B=b-* --baseline C", f"--baseline: 'C' {NEITHER}"),
        ("all", "A=a-* B=b-* --baseline a-1.run", f"--baseline: 'a-1.run' {NEITHER}"),
        ("all", "A=a-* B=b-* --topic t9", "--topic: 't9' is not a topic that all seeds are scored on; as in t"),
        ("five runs", "A=a-* B=b-* --topic t9", "--topic: 't9' is not a topic of two of the runs; as in t"),
        ("all", "A=a-* B=b-* -m gm_ap", "'gm_ap': a system's score is a geometric mean over seeds, to which no "
         "document adds a share of its own; take its arithmetic mean, or compare the systems"),
        ("two runs", "A=a-* --reproduce FIRST FIRST", "--replicates: an experiment is reproduced run by run, and a "
         "system has several; give one run of each system"),
        ("one run", "B=b-*", "1 run given"),
    ],
)  # fmt: skip
def test_systems_exclude_options(chosen: str, words: str, message: str, files: tuple[str, ...], cli: Command) -> None:
    options = [part for word in words.split() for part in (("--replicates", word) if "=" in word else (word,))]
    outcome = cli("diff", *files[SUBSETS[chosen]], *(files[0] if word == "FIRST" else word for word in options))
    assert (outcome.code, len(outcome.messages)) == (2, 1) if "--baseline" not in words else outcome.code
    assert message in outcome.messages[-1]


def test_python_takes_systems_in_a_dict_a_list_or_a_folder(files: tuple[str, ...], tmp_path: Path) -> None:
    expected_rows = gradedeval.diff(RUNS, QRELS, "p@5", replicates=SYSTEMS).topics
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in files[:-1]:
        (folder / Path(name).name).write_bytes(Path(name).read_bytes())
    for runs in (list(files[:-1]), str(folder)):
        diff = gradedeval.diff(runs, files[-1], "p@5", replicates=SYSTEMS)
        pd.testing.assert_frame_equal(diff.topics, expected_rows)
    with pytest.raises(InputError, match=r"^replicates: 1 system given \(A\)"):
        gradedeval.diff(RUNS, QRELS, "p@5", replicates={"A": "*.run"})
    with pytest.raises(InputError, match=r"^diff: is given more than two runs; as in diff\(runs, qrels, measures\)$"):
        gradedeval.diff(list(files[:3]), list(files[3:-1]), files[-1], "p@5", replicates=SYSTEMS)
    with pytest.raises(InputError, match=r"^replicates: an experiment is reproduced run by run"):
        gradedeval.reproduction(list(files[:2]), list(files[:2]), replicates=SYSTEMS)
    assert repr(diff) == "<Diff from A to B: p@5>"
    assert "± se" in diff._repr_html_()
