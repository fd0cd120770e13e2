"""`pool`: statistics by brute force, leave-one-out, documents to judge, assessors against other tools; messages."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.kernel.scoring.predicted import could_save
from gradedeval.questions import to_judge
from gradedeval.questions.agreement import cohen_kappa, ordinal_alpha
from gradedeval.questions.to_judge import BY_MEASURE, STRATEGIES
from support.commands import Command
from support.paths import QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "dense")]
pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning", "error::RuntimeWarning")


def random_runs(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    draw = random.Random(seed)
    topics, docnos = [f"t{number}" for number in range(4)], [f"d{number:02}" for number in range(30)]
    runs = {
        name: {topic: {docno: draw.random() for docno in draw.sample(docnos, draw.randint(3, 12))} for topic in topics}
        for name in "ABCDE"
    }
    qrels = {topic: {docno: draw.choice([0, 0, 1, 2]) for docno in draw.sample(docnos, 14)} for topic in topics}
    return runs, qrels


def pairs_of(*runs: Any) -> set[tuple[str, str]]:
    """Return the pairs of topic and document."""
    return {(topic, docno) for run in runs for topic, docnos in run.items() for docno in docnos}


def ranked(run: dict[str, dict[str, float]]) -> dict[str, list[str]]:
    return {topic: sorted(docs, key=lambda one: (docs[one], one), reverse=True) for topic, docs in run.items()}


@pytest.mark.parametrize("seed", range(3))
def test_statistics_agree_with_sets_and_loops(seed: int) -> None:
    runs, qrels = random_runs(seed)
    pool = gradedeval.pool(runs, qrels, pool_depth=4, at=5)
    rankings = {name: ranked(run) for name, run in runs.items()}
    tops = {
        name: {(topic, docno) for topic, docs in run.items() for docno in docs[:4]} for name, run in rankings.items()
    }
    count = Counter(docno for top in tops.values() for docno in top)
    for row in pool.runs.to_dict("records"):
        ranking_of = rankings[row["run"]]
        alone = [(topic, docno) for topic, docno in tops[row["run"]] if count[topic, docno] == 1]
        grades = [qrels[topic][docno] for topic, docno in alone if docno in qrels.get(topic, {})]
        assert (row["unique"], row["unique_judged"]) == (len(alone), len(grades))
        assert row["unique_relevant"] == sum(grade >= 1 for grade in grades)
        depths = []
        for topic, judged in qrels.items():
            docs = ranking_of.get(topic, [])
            depths.append(next((rank for rank, docno in enumerate(docs) if docno not in judged), len(docs)))
        assert (row["judged_depth"], row["least_judged_depth"]) == (np.median(depths), min(depths))
        firsts = [(ranking_of.get(topic, [])[:5], judged) for topic, judged in qrels.items()]
        at_five = [sum(docno in judged for docno in first) / max(len(first), 1) for first, judged in firsts]
        assert row["judged"] == pytest.approx(np.mean(at_five))
    for row in pool.overlap.to_dict("records"):
        ranking, compared = rankings[row["run"]], rankings[row["other"]]
        shares = []
        for topic in qrels:
            first, second = set(ranking.get(topic, [])[:5]), set(compared.get(topic, [])[:5])
            if first | second:
                shares.append(len(first & second) / max(len(first), len(second)))
        assert row["overlap"] == pytest.approx(np.mean(shares))
    for row in pool.topics.to_dict("records"):
        judged = qrels[row["topic"]]
        assert (row["judged"], row["grade 1"]) == (len(judged), sum(grade == 1 for grade in judged.values()))
        retrieved = {docno for run in rankings.values() for docno in run.get(row["topic"], [])}
        assert row["found"] == sum(grade >= 1 and docno in retrieved for docno, grade in judged.items())


def test_groups_share_their_documents() -> None:
    runs, qrels = random_runs(1)
    pool = gradedeval.pool(runs, qrels, groups={"A": "team", "B": "team"})
    assert pool.groups["group"].tolist() == ["team", "C", "D", "E"]
    alone = gradedeval.pool(runs, qrels)
    assert pool.groups["unique"][0] >= alone.runs["unique"][:2].sum()
    assert pool.groups["unique"][1:].tolist() == alone.runs["unique"][2:].tolist()


def test_runs_without_qrels_have_depths_and_no_topics() -> None:
    runs, _ = random_runs(2)
    pool = gradedeval.pool(runs)
    assert pool.runs["judged"].isna().all()
    assert pool.topics.empty
    assert pool.depths["documents"].iloc[-1] == len(pairs_of(*runs.values()))


# --- leave one out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [None, {"A": "x", "B": "x"}])
def test_a_run_left_out_is_scored_without_its_unique_judgments(groups: dict[str, str] | None) -> None:
    runs, qrels = random_runs(3)
    qrels["t0"]["top"] = 2
    result = gradedeval.leave_one_out(runs, qrels, "ndcg@5 ap", groups=groups)
    group_of = {name: (groups or {}).get(name, name) for name in runs}
    pairs = {name: pairs_of(run) for name, run in runs.items()}
    pools = {
        group: set().union(*(pairs[name] for name in runs if group_of[name] == group)) for group in group_of.values()
    }
    for name in runs:
        others = set().union(*(docs for group, docs in pools.items() if group != group_of[name]))
        reduced = {topic: {docno: grade for docno, grade in judged.items()
                        if (topic, docno) not in pools[group_of[name]] or (topic, docno) in others}
                for topic, judged in qrels.items()}  # fmt: skip
        scores = gradedeval.evaluate(runs, reduced, "ndcg@5 ap").means_by_run
        full = gradedeval.evaluate(runs, qrels, "ndcg@5 ap").means_by_run
        for measure in ("ndcg@5", "ap"):
            row = result.frame[(result.frame["run"] == name) & (result.frame["measure"] == measure)].iloc[0]
            assert row["score"] == pytest.approx(full[name][measure])
            assert row["score_without"] == pytest.approx(scores[name][measure])
            above = [compared for compared in runs if scores[compared][measure] > scores[name][measure] + 1e-12]
            assert row["rank_without"] == 1 + len(above)
            orders = [np.array([means[compared][measure] for compared in runs]) for means in (full, scores)]
            assert row["tau"] == pytest.approx(pd.Series(orders[0]).corr(pd.Series(orders[1]), method="kendall"))


# --- documents to judge -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_judged_documents_are_never_listed_again(strategy: Any) -> None:
    runs, qrels = random_runs(4)
    listed: set[tuple[str, str]] = set()
    unjudged = pairs_of(*runs.values()) - pairs_of(qrels)
    while True:
        result = gradedeval.to_judge(runs, qrels, strategy, budget=9, measure="ndcg@5").frame
        batch = set(zip(result["topic"], result["docno"], strict=True))
        assert len(batch) == len(result)
        assert not batch & listed
        listed |= batch
        for topic, docno in batch:
            assert docno not in qrels[topic]
            qrels[topic][docno] = 1
        if len(result) < 9:
            break
    if strategy in BY_MEASURE:  # which leave out documents that cannot change the measure, or the order by it
        expected = {(t, d) for run in map(ranked, runs.values()) for t in run for d in run[t][:5]} & unjudged
        assert listed == expected if strategy == "residual" else listed <= expected
    else:
        assert listed == unjudged


def test_listed_documents_that_count_as_unjudged_are_not_listed_again() -> None:
    runs, qrels = {"A": {"t": {"a": 2.0, "b": 1.0}}}, {"t": {"a": -1, "x": 1}}
    result = gradedeval.to_judge(runs, qrels, negative="unjudged").frame
    assert result["docno"].tolist() == ["b"]


def test_rbp_weights_agree_with_the_paper() -> None:
    """Check methods A, B and C of Moffat, Webber & Zobel by hand: two runs of two documents, p = 0.5."""
    runs = {"A": {"t": {"a": 2.0, "b": 1.0}}, "B": {"t": {"b": 2.0, "c": 1.0}}}
    qrels = {"t": {"b": 1, "x": 0}}
    weights = dict[Any, dict[str, float]]()
    for strategy in ("rbp-a", "rbp-b", "rbp-c"):
        frame = gradedeval.to_judge(runs, qrels, strategy, persistence=0.5).frame
        weights[strategy] = dict(zip(frame["docno"], frame["weight"], strict=True))
    assert weights["rbp-a"] == {"a": 0.5, "c": 0.25}
    # Residuals: of A ½ for a and ¼ for lower ranks; of B ¼ for c and ¼. Bases: ¼ of A, ½ of B.
    assert weights["rbp-b"] == {"a": 0.5 * 0.75, "c": 0.25 * 0.5}
    assert weights["rbp-c"] == {"a": 0.5 * 0.75 * 0.625**3, "c": 0.25 * 0.5 * 0.75**3}


def test_the_best_ranks_come_first_by_depth() -> None:
    runs, qrels = random_runs(5)
    result = gradedeval.to_judge(runs, qrels, "depth", pool_depth=3).frame
    assert result["best_rank"].is_monotonic_increasing
    assert result["best_rank"].max() <= 3
    first = result.iloc[0]
    assert f":{first['best_rank']}" in first["wanted_by"]


def drawn_runs(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    draw = random.Random(seed)
    docnos = [f"d{number}" for number in range(9)]
    runs = {
        name: {topic: {docno: draw.random() for docno in draw.sample(docnos, 5)} for topic in ("t", "u")}
        for name in "ABC"
    }
    return runs, {
        topic: {docno: draw.randint(0, 2) for docno in draw.sample(docnos, 3)} | {"x": 2} for topic in ("t", "u")
    }


def weight(runs: Any, original: Any, after: Any, most: Any, measure: str, pairs: bool) -> float:
    rises = {run: after[run][measure] - original[run][measure] for run in runs}
    if not pairs:
        return sum(rises.values())
    weight = 0.0
    for pair in combinations(runs, 2):
        low, high = sorted(pair, key=lambda run: original[run][measure])
        if most[low][measure] >= original[high][measure]:
            weight += abs(rises[low] - rises[high])
    return weight


@pytest.mark.one_in(10)
@pytest.mark.parametrize("strategy", ["residual", "pairs"])
@pytest.mark.parametrize(("measure", "seed"), [("err@4", 1), ("rbp(p=0.5)", 2), ("p@3", 3)])
def test_each_choice_is_the_heaviest_after_the_previous_ones(strategy: Any, measure: str, seed: int) -> None:
    """Give each chosen document the top grade, by measures that no ideal ranking changes."""
    runs, qrels = drawn_runs(seed)
    result = gradedeval.to_judge(runs, qrels, strategy, measure=measure, budget=5).frame
    scores = gradedeval.evaluate(runs, qrels, measure, residuals="total")
    most = {run.run: {measure: float((run.score + run.residual).mean())} for run in scores.runs}
    original = scores.means_by_run
    for topic, docno, expected in result[["topic", "docno", "weight"]].itertuples(index=False):
        weights = {}
        for pair in pairs_of(*runs.values()) - pairs_of(qrels):
            more = {t: judged | ({pair[1]: 2} if t == pair[0] else {}) for t, judged in qrels.items()}
            after = gradedeval.evaluate(runs, more, measure).means_by_run
            weights[pair] = weight(runs, original, after, most, measure, strategy == "pairs")
        assert expected == pytest.approx(max(weights.values()))
        assert weights[topic, docno] == pytest.approx(expected)
        qrels[topic][docno] = 2
        original = gradedeval.evaluate(runs, qrels, measure).means_by_run


@pytest.mark.parametrize("strategy", ["residual", "pairs"])
def test_lazy_updates_find_the_same_independent_documents(strategy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, qrels = drawn_runs(4)
    exact = gradedeval.to_judge(runs, qrels, strategy, measure="err@5").frame
    monkeypatch.setattr(to_judge, "AT_ONCE", 0)
    lazy = gradedeval.to_judge(runs, qrels, strategy, measure="err@5").frame
    if strategy == "residual":
        assert lazy["docno"].tolist() == exact["docno"].tolist()
    assert sorted(lazy["docno"]) == sorted(exact["docno"])


def test_a_topic_without_relevant_documents_can_rise_to_the_ceiling_once() -> None:
    """Check ndcg with the ideal ranking of the qrels: without relevant documents any gain is the maximum."""
    runs = {name: {"none": {"a": 3.0, "b": 2.0}, "one": {"c": 3.0, "r": 2.0, "d": 1.0}} for name in "AB"}
    runs["B"]["none"] = {"b": 3.0, "e": 2.0}
    qrels = {"none": {"x": 0}, "one": {"r": 1, "y": 1}}
    result = gradedeval.to_judge(runs, qrels, "residual", measure="ndcg@5").frame
    assert np.isfinite(result["weight"]).all()
    first = result.iloc[0]
    assert (first["docno"], first["weight"]) == ("b", 1.0)  # two runs rise by ½, to the ceiling
    # The other documents of that topic add 0 to it; they come in the next round.
    assert result["docno"].tolist()[1] == "c"
    assert set(result["docno"]) == set("abcde")
    assert np.isfinite(gradedeval.to_judge(runs, qrels, "pairs", measure="ndcg@5").frame["weight"]).all()


def test_topics_without_relevant_documents_do_not_come_first(cli: Command, tmp_path: Path) -> None:
    """Remove the relevant documents of a topic from the real qrels."""
    qrels = tmp_path / "some.qrels"
    lines = [line.split() for line in Path(QRELS).read_text().splitlines()]
    qrels.write_text("".join(" ".join(fields) + "\n" for fields in lines if fields[0] != "301" or int(fields[3]) < 1))
    for strategy in ("residual", "pairs"):
        outcome = cli("pool", *RUNS, str(qrels), "--to-judge", "--strategy", strategy, "-m", "ap", "--budget", "30")
        assert "inf" not in outcome.text
        assert not [line for line in outcome.messages if "RuntimeWarning" in line]
        topics = [
            line.split()[0] for line in outcome.text.split("\n\n")[1].splitlines()[2:] if not line.startswith(" ")
        ]
        assert len(set(topics)) > 3


def test_documents_that_cannot_change_the_measure_are_left_out() -> None:
    runs = {"A": {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}, "B": {"t": {"a": 3.0, "x": 2.0}}}
    qrels = {"t": {"a": 0, "x": 1}}
    strategy: Any
    for strategy in ("residual", "pairs"):
        result = gradedeval.to_judge(runs, qrels, strategy, measure="ndcg@2")
        assert result.frame["docno"].tolist() == ["b"]
        assert result.remaining == 1
    assert gradedeval.to_judge(runs, qrels, "residual", measure="ndcg@1").frame.empty


def test_runs_that_retrieve_a_document_are_named_by_rank(tmp_path: Path, cli: Command) -> None:
    ranks = {"first one": 4, "second; [x]": 3, "third": 1, "fourth": 2}
    files = []
    for name, rank in ranks.items():
        files.append(tmp_path / name)
        docnos = [f"{name[0]}{number}" for number in range(1, rank)] + ["wanted"]
        files[-1].write_text("".join(f"1 Q0 {docno} 0 {-place} r\n" for place, docno in enumerate(docnos)))
    outcome = cli("pool", *map(str, files), "--to-judge", "--strategy", "depth", "--budget", "9")
    line = next(line for line in outcome.text.splitlines() if "wanted  " in line)
    assert line.endswith("third:1 fourth:2 second; [x]:3 …")


def test_a_short_list_reports_that_no_other_document_counts(cli: Command) -> None:
    outcome = cli("pool", *RUNS, QRELS, "--to-judge", "--strategy", "residual", "-m", "ndcg@5")
    assert "documents to judge" in outcome.text or "document to judge" in outcome.text
    assert ", none of which could change ndcg@5\n" in outcome.text


# --- assessors --------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_kappa_and_alpha_agree_with_other_tools() -> None:
    metrics, krippendorff = pytest.importorskip("sklearn.metrics"), pytest.importorskip("krippendorff")
    draw = np.random.default_rng(3)
    for _ in range(10):
        first = draw.integers(0, 4, 60)
        second = np.clip(first + draw.integers(-1, 2, 60), 0, 3)
        table = np.bincount(first * 4 + second, minlength=16).reshape(4, 4)
        assert cohen_kappa(table) == pytest.approx(metrics.cohen_kappa_score(first, second))
        weighted = metrics.cohen_kappa_score(first, second, weights="linear")
        assert cohen_kappa(table, linear=True) == pytest.approx(weighted)
        reference = krippendorff.alpha(reliability_data=np.stack([first, second]), level_of_measurement="ordinal")
        assert ordinal_alpha(table) == pytest.approx(reference)


def test_the_scale_covers_both_qrels() -> None:
    """Check grades 0, 1, 2, 3, of which 2 is used only outside the common documents: 3 stands three steps from 0,
    not two."""
    first = {"t": {"a": 0, "b": 1, "c": 3, "d": 3, "x": 2}}
    second = {"t": {"a": 0, "b": 3, "c": 1, "d": 3}}
    agreement = gradedeval.agreement(first, second)
    assert agreement.confusion.index.tolist() == ["0", "1", "2", "3"]
    # Observed: two of distance 2 of four. By chance (1·1·0 + …): rows 1 1 0 2, columns 1 1 0 2.
    distance = np.abs(np.arange(4)[:, None] - np.arange(4))
    marginals = np.array([1, 1, 0, 2])
    chance = (distance * np.outer(marginals, marginals)).sum() / 4
    assert agreement.weighted_kappa == pytest.approx(1 - 4 / chance)


def test_the_options_set_the_level_of_measures_without_one() -> None:
    runs = {"A": {"t": {"a": 2.0, "b": 1.0, "c": 0.5}}, "B": {"t": {"c": 1.0}}}
    qrels = {"t": {"a": 1, "b": 2, "c": 2}}
    result = gradedeval.leave_one_out(runs, qrels, "ap ndcg@5 ap(rel=1)", rel=2).frame
    assert result[result["run"] == "A"]["unique_relevant"].tolist() == [1, 1, 2]


def test_alpha_by_hand() -> None:
    """Check nine pairs of grades 0 and 1, one of them 0 and 1: α = 1 − (n − 1) Σ o / Σ e."""
    table = np.array([[4, 1], [0, 4]])
    assert ordinal_alpha(table) == pytest.approx(1 - 17 * 2 / (2 * 9 * 9))


def test_two_assessors_and_the_order_of_runs() -> None:
    runs, qrels = random_runs(6)
    second = {topic: {docno: min(grade, 1) for docno, grade in judged.items()} for topic, judged in qrels.items()}
    agreement = gradedeval.agreement(qrels, second, runs, "ap ndcg@5")
    assert agreement.documents == sum(map(len, qrels.values()))
    assert agreement.confusion.loc["2", "1"] == sum(
        grade == 2 for judged in qrels.values() for grade in judged.values()
    )
    by_measure = agreement.orders.set_index("measure")
    assert by_measure.loc["ap", "tau"] == pytest.approx(1)  # of binary relevance they agree
    with pytest.raises(InputError, match="shares no topics"):
        gradedeval.agreement(qrels, {"other": {"d": 1}})


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_savings_by_a_second_assessor_agree_with_a_second_implementation() -> None:
    """Compare with prediction-powered inference on the topics of both; differences are of pairs of runs."""
    qrels: dict[str, dict[str, int]] = {}
    for line in Path(QRELS).read_text().splitlines():
        topic, _, docno, grade = line.split()
        qrels.setdefault(topic, {})[docno] = max(0, int(grade))
    second = {topic: {docno: min(grade, 2) for docno, grade in judged.items()} for topic, judged in qrels.items()}
    agreement = gradedeval.agreement(qrels, second, RUNS, "ndcg@10")
    sides = [gradedeval.evaluate(RUNS, judgments, "ndcg@10", top_grade=4) for judgments in (qrels, second)]
    h, m = (np.array([run.score[:, 0] for run in scores.runs]) for scores in sides)
    narrower, times = could_save(h, m)
    assert agreement.runs[["narrower", "times"]].to_numpy() == pytest.approx(np.transpose([narrower, times]), rel=1e-6)
    pairs = np.triu_indices(len(RUNS), 1)
    of_pairs = np.median(could_save(h[pairs[0]] - h[pairs[1]], m[pairs[0]] - m[pairs[1]]), axis=1)
    (row,) = agreement.orders.to_dict("records")
    assert [row["narrower"], row["times"]] == pytest.approx([np.median(narrower), np.median(times)])
    assert [row["narrower_differences"], row["times_differences"]] == pytest.approx(of_pairs.tolist())
    few = gradedeval.agreement({topic: qrels[topic] for topic in list(qrels)[:4]}, second, RUNS, "ndcg@10")
    assert few.orders["times"].isna().all()
    assert any(
        "topics saved" in block.names for block in agreement.document("wide").blocks if not isinstance(block, str)
    )


# --- at the prompt ----------------------------------------------------------------------------------------------------


def test_lines_to_judge_become_qrels(cli: Command, tmp_path: Path) -> None:
    out = tmp_path / "next.qrels"
    outcome = cli("pool", *RUNS, QRELS, "--to-judge", "--budget", "5", "--as-qrels", "-o", str(out))
    assert outcome.code == 0
    lines = out.read_text().splitlines()
    assert len(lines) == 5
    assert all(len(line.split()) == 3 for line in lines)
    more = tmp_path / "more.qrels"
    more.write_text(Path(QRELS).read_text() + "".join(f"{line} 1\n" for line in lines))
    again = cli("pool", *RUNS, str(more), "--to-judge", "--budget", "5", "--as-qrels").text.splitlines()
    assert not set(lines) & set(again)


def many_documents() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two runs with 120 unjudged documents of 121."""
    ranking = {f"d{number:03}": 200.0 - number for number in range(121)}
    relevant = {"d000": 1, **{f"x{number}": 1 for number in range(200)}}  # every document can change ap
    return {"A": {"t": ranking}, "B": {"t": ranking | {"d120": 900.0}}}, {"t": relevant}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_default_budget_reports_the_documents_left_out(strategy: Any) -> None:
    runs, qrels = many_documents()
    short = gradedeval.to_judge(runs, qrels, strategy, measure="ap")
    all_documents = gradedeval.to_judge(runs, qrels, strategy, measure="ap", budget=120)
    note = [note for note in short.notes if note.startswith("100 of 120 unjudged documents; budget=120 takes all ")]
    assert (len(short.frame), short.remaining, len(note)) == (100, 20, 1)
    assert len(all_documents.frame) == 120
    assert not any("unjudged documents; budget" in note for note in all_documents.notes)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("depth", ["pool_depth", "depth"])
def test_with_a_depth_the_whole_pool_is_to_judge(strategy: Any, depth: str) -> None:
    runs, qrels = many_documents()
    keywords: dict[str, Any] = {depth: 115}
    result = gradedeval.to_judge(runs, qrels, strategy, measure="ap", **keywords)
    assert len(result.frame) == 115  # 114 down to rank 115 of A, and the first of B
    assert result.remaining == 0
    assert not any("unjudged documents; budget" in note for note in result.notes)
    some = gradedeval.to_judge(runs, qrels, strategy, measure="ap", budget=7, **keywords)
    assert some.frame.equals(result.frame[:7])


def test_a_file_of_statistics_is_refused_as_it_lists_no_documents(cli: Command, tmp_path: Path) -> None:
    out = tmp_path / "pool.txt"
    note = f"{out}: has statistics of the pool, not its documents; --to-judge --as-qrels lists documents to judge"
    assert cli("pool", *RUNS, QRELS, "--depth", "20", "-o", str(out)).messages.count(note) == 1
    for words in ((), ("-o", str(tmp_path / "pool.csv")), ("--to-judge", "-o", str(out))):
        assert note not in cli("pool", *RUNS, QRELS, *words).messages


def test_leave_one_out_notes_an_unknown_pool_depth(cli: Command) -> None:
    words = ("pool", *RUNS, QRELS, "--leave-one-out", "-m", "ap")
    (note,) = [line for line in cli(*words).messages if "pool depth" in line]
    assert note.startswith("--leave-one-out: without a pool depth, a judgment counts as ")
    assert note.endswith("; give --pool-depth N")
    assert not any("pool depth" in line for line in cli(*words, "--pool-depth", "10").messages)
    runs: Any = {"A": {"t": {"a": 2.0}}, "B": {"t": {"b": 2.0}}}
    judged = gradedeval.leave_one_out(runs, {"t": {"a": 1, "b": 0}}, "ap")  # every rank is in the pool
    assert not any("pool depth" in note for note in judged.notes)


def test_each_question_has_a_table(cli: Command, tmp_path: Path) -> None:
    groups = tmp_path / "teams.txt"
    groups.write_text("rivers-bm25.run ours\nrivers-bm25-rm3.run ours\n")
    statistics = cli("pool", *RUNS, QRELS, "--groups", str(groups))
    message = "2 runs in no group (rivers-neural.run, rivers-dense.run); each forms its own group"
    assert message in statistics.messages[-1]
    assert "judged depth" in statistics.text
    left_out = cli("pool", *RUNS, QRELS, "--leave-one-out", "-m", "ap").text
    assert "largest drop" in left_out
    agreement = cli("agreement", QRELS, QRELS, *RUNS, "-m", "ap").text
    assert "100.0%  1.0000        1.0000           1.0000" in agreement
    assert "are unknown: scores by both are the same, or do not vary over topics" in " ".join(agreement.split())
    assert "100.0%" in cli("agreement", QRELS, QRELS).text  # no run is needed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to-judge", "--leave-one-out"), "--to-judge: cannot be combined with --leave-one-out; ask for one at a"),
        (("--budget", "3"), "--budget: needs --to-judge; add --to-judge"),
        (("--to-judge", "--judged-only"), "--judged-only: leaves no unjudged documents; leave it out"),
        (("--to-judge", "--strategy", "residual", "-m", "bpref"),
         "-m: bpref has no residual, by which --strategy residual goes; choose another measure or strategy"),
        (("--to-judge", "--groups", "x"), "--groups: does not apply to --to-judge; leave it out"),
        (("--as-qrels",), "--as-qrels: needs --to-judge; add --to-judge"),
        (("--to-judge", "--as-qrels", "-f", "json"), "-f: does not apply to --as-qrels;"),
        (("--to-judge", "--strategy", "rbp"), "--strategy: invalid value 'rbp'; did you mean 'rbp-"),
    ],
)  # fmt: skip
def test_invalid_combinations_of_options_are_one_line(words: tuple[str, ...], message: str, cli: Command) -> None:
    outcome = cli("pool", *RUNS, QRELS, *words)
    assert outcome.code == 2
    assert message in outcome.messages[-1]


def test_unknown_runs_in_groups_are_refused(cli: Command, tmp_path: Path) -> None:
    groups = tmp_path / "teams.txt"
    groups.write_text("rivers-bm25.run ours\nrivers-bm52.run ours\n")
    outcome = cli("pool", *RUNS, QRELS, "--groups", str(groups))
    assert outcome.code == 1
    assert outcome.messages[-1].endswith("teams.txt:2: unknown run 'rivers-bm52.run'; did you mean 'rivers-bm25.run'?")


def test_leaving_out_needs_qrels_and_two_runs(cli: Command) -> None:
    for option in (("--leave-one-out",), ("--rel", "2"), ("--to-judge", "--negative", "unjudged")):
        flag = option[-2] if len(option) > 1 else option[0]
        assert f"{flag}: needs qrels; add QRELS" in cli("pool", *RUNS, *option).messages[-1]
    assert "--leave-one-out: 1 run given" in cli("pool", RUNS[0], QRELS, "--leave-one-out").messages[-1]
    with pytest.raises(InputError, match="unknown run 'Z'"):
        gradedeval.pool({"A": {"t": {"a": 1.0}}}, {"t": {"a": 1}}, groups={"Z": "team"})


@pytest.mark.parametrize("words", ["{0} {1} {2}", "{2} {0} {1}"])
def test_both_qrels_come_first_or_last(words: str, cli: Command, tmp_path: Path) -> None:
    stricter = tmp_path / "stricter.qrels"
    rows = [line.split() for line in Path(QRELS).read_text().splitlines()]
    stricter.write_text("".join(f"{topic} 0 {docno} {int(int(grade) > 1)}\n" for topic, _, docno, grade in rows))
    outcome = cli("agreement", *words.format(QRELS, stricter, " ".join(RUNS)).split(), "-m", "ap", "-f", "csv")
    assert outcome.code == 0, outcome.messages
    assert outcome.text == cli("agreement", QRELS, str(stricter), *RUNS, "-m", "ap", "-f", "csv").text
    assert f"\ntau,ap,,,{gradedeval.agreement(QRELS, stricter, RUNS, 'ap').orders['tau'].item()}\n" in outcome.text


@pytest.mark.parametrize("command", ["", "correlate", "compare", "check --min ap=0"])
def test_two_qrels_name_the_command_that_takes_them(command: str, cli: Command) -> None:
    outcome = cli(*command.split(), *RUNS, QRELS, QRELS)
    assert outcome.code == 2
    assert f"{QRELS}: is a file of qrels, and so is {QRELS}; `gradedeval agreement {QRELS} " in outcome.messages[-1]


def test_agreement_needs_two_qrels(cli: Command) -> None:
    messages = cli("agreement", QRELS).messages
    assert messages == ["expected two qrels files; usage: gradedeval agreement QRELS QRELS2 [RUN]..."]


@pytest.mark.parametrize("header", ["query-id\tcorpus-id\tscore", "qid\tdocno\trank\tscore"])
def test_two_runs_with_headers_of_qrels_are_runs(header: str, cli: Command, tmp_path: Path) -> None:
    for name in "ab":
        values = {"query-id": "301", "qid": "301", "rank": "1", "score": "2.5"}
        fields = [values.get(heading, "d") for heading in header.split()]
        (tmp_path / name).write_text(header + "\n" + "\t".join(fields) + "\n")
    outcome = cli(str(tmp_path / "a"), str(tmp_path / "b"), QRELS, "-m", "rr")
    assert outcome.code == 0, outcome.messages
