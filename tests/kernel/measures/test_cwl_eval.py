"""cwl_eval's own test collection, all that it prints; and real runs, where it is installed."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import parse_measures
from gradedeval.kernel.measures.definition import QUANTITIES
from gradedeval.kernel.scoring.score_tables import all_quantities, document
from support.cwl import bejeweled, by_loop, their_class
from support.examples import sampled
from support.paths import DATA, shared

NUMBER = r"[-\d.e]+"
# How cwl_eval prints its measures, and how they are written here.
NAMES = {
    rf"P@({NUMBER})": "cwlp@{}",
    rf"RBP@({NUMBER})": "rbp(p={})",
    rf"NDCG-k@({NUMBER})": "sdcg@{}",
    "RR": "cwlrr",
    "AP": "cwlap",
    rf"INST-T=({NUMBER})": "inst(T={})",
    rf"INSQ-T=({NUMBER})": "insq(T={})",
    rf"BPM-Static-T=({NUMBER})-K=({NUMBER})": "bpm(T={},K={})",
    rf"BPM-Dynamic-T=({NUMBER})-K=({NUMBER})-hb=({NUMBER})-hc=({NUMBER})": "bpmd(T={},K={},hb={},hc={})",
    rf"U-L@({NUMBER})": "u(L={})",
    rf"TBG-H@({NUMBER})": "tbg(h={})",
    rf"IFT-C1-T=({NUMBER})-b1=({NUMBER})-R1=({NUMBER})": "ift(T={},b1={},R1={})",
    rf"IFT-C2-A=({NUMBER})-b2=({NUMBER})-R2=({NUMBER})": "ift(A={},b2={},R2={})",
    rf"IFT-C1-C2-T=({NUMBER})-b1=({NUMBER})-R1=({NUMBER})-A=({NUMBER})-b2=({NUMBER})-R2=({NUMBER})": (
        "ift(T={},b1={},R1={},A={},b2={},R2={})"
    ),
}


def ours(name: str) -> str:
    for shape, written in NAMES.items():
        found = re.fullmatch(shape, name.strip())
        if found:
            return written.format(*found.groups())
    raise AssertionError(name)


def printed(file: Path) -> Iterator[tuple[str, str, list[float]]]:
    """Topic, measure in our words, and the numbers of each line."""
    for line in file.read_text().splitlines():
        topic, name, *numbers = line.split("\t")
        if topic != "Topic":
            yield topic, ours(name), [float(number) for number in numbers]


def scored(run: Path, gains: Path, measures: list[str], **options: Any) -> dict[tuple[str, str], list[float]]:
    scores = gradedeval.evaluate(
        run, gains, all_quantities(parse_measures(measures)), like="cwl_eval", residuals="difference", **options
    )
    plain = {one.label: name for one, name in zip(scores.measures[:: len(QUANTITIES)], measures, strict=True)}
    table = document(scores, "long", by_topic=True, cwl=True).table
    assert table.names[3:] == [*QUANTITIES, *(f"{of}.residual" for of in QUANTITIES)]
    return {(topic, plain[measure]): numbers for _, topic, measure, *numbers in table.rows if topic != "all"}


# Its dynamic bejeweled player lets T follow the gains twice and K never.
CWL = DATA / "cwl"
FAULTY = "bpmd(T=1000,K=10,hb=1.0,hc=1.0)"


def dynamic_players(gains: Path, costs: Path | None) -> dict[str, list[float]]:
    """topic -> what FAULTY should have found: the five quantities, and how far those of the best case are from them."""
    judged = {(words[0], words[2]): float(words[3]) for words in map(str.split, gains.read_text().splitlines())}
    prices = dict(line.split() for line in costs.read_text().splitlines()) if costs else {}
    runs: dict[str, list[tuple[str, str]]] = {}
    for line in (CWL / "result_file").read_text().splitlines():
        topic, kind, docno, *_ = line.split()
        runs.setdefault(topic, []).append((docno, kind))
    found = {}
    for topic, listed in runs.items():
        cost = [float(prices.get(kind, 1)) for _, kind in listed] + [1.0] * (1000 - len(listed))
        five = []
        for unjudged in (0.0, 1.0):
            own = [judged.get((topic, docno), unjudged) for docno, _ in listed] + [unjudged] * (1000 - len(listed))
            quantities = by_loop(lambda i, r, c: bejeweled(i, r, c, T=1000, K=10, hb=1, hc=1, mid=0.5), own, cost)
            five.append([quantities[of] for of in QUANTITIES])
        found[topic] = five[0] + [best - score for score, best in zip(*five, strict=True)]
    return found


EXPECTED = sorted((CWL / "expected").glob("*.out"))


@shared
@pytest.mark.filterwarnings("ignore:.*without costs:gradedeval.EvaluationWarning")
@pytest.mark.parametrize("file", EXPECTED, ids=lambda file: file.name)
def test_every_number_that_cwl_eval_prints(file: Path) -> None:
    parts = file.name.split(".")
    gains = CWL / (parts[1] if parts[1] in ("gain_file", "qrel_file") else "qrel_file")
    lines = list(printed(file))
    names = list(dict.fromkeys(name for _, name, _ in lines))
    options = {"costs": CWL / "cost_file"} if "cost" in parts else {}
    found = scored(CWL / "result_file", gains, names, **options)
    compared = [
        (topic, name, at, theirs, found[topic, name][at])
        for topic, name, numbers in lines
        for at, theirs in enumerate(numbers)
    ]
    unlike = [one for one in compared if not abs(one[3] - one[4]) <= 0.5e-4 + 1e-9]
    assert {name for _, name, *_ in unlike} <= {FAULTY}
    players = dynamic_players(gains, options.get("costs"))
    if FAULTY in names:
        assert unlike
        for topic, numbers in players.items():
            assert found[topic, FAULTY] == pytest.approx(numbers, rel=1e-12, abs=1e-12), topic
    assert len(compared) == sum(len(numbers) for *_, numbers in lines) > 0


@shared
def test_the_dynamic_player_of_its_own_collection_by_hand() -> None:
    # T1 has the gains 1 0 1 1 0 0 1 0 1 0. K moves by r − ½ after each rank, so that rank i may be paid for while
    # i < 10 + (found above i) − (i−1)/2: at rank 10 that is 10 < 10 + 5 − 4.5, at rank 11 it is 11 ≥ 10 + 5 − 5.
    found = scored(CWL / "result_file", CWL / "qrel_file", [FAULTY])["T1", FAULTY]
    assert found[:5] == [pytest.approx(5 / 11), pytest.approx(5), 1, 11, 11]
    theirs = {(topic, name): numbers for topic, name, numbers in printed(CWL / "expected/cwltests.metrics_file.out")}
    assert theirs["T1", FAULTY] == [0.5, 5.0, 1.0, 10.0, 10.0]


# --- real runs, at full precision ------------------------------------------------------------------------------------

COVID = DATA / "covid-round1"
CLASSES: dict[str, tuple[str, tuple[float, ...]]] = {
    "rbp(p=0.8)": ("RBPCWLMetric", (0.8,)),
    "rbp(p=0.99)": ("RBPCWLMetric", (0.99,)),
    "insq(T=2)": ("INSQCWLMetric", (2,)),
    "inst(T=2)": ("INSTCWLMetric", (2,)),
    "sdcg@20": ("NDCGCWLMetric", (20,)),
    "bpm(T=3,K=30)": ("BPMCWLMetric", (3, 30)),
    "tbg(h=22)": ("TBGCWLMetric", (22,)),
    "u(L=50)": ("UMeasureCWLMetric", (50,)),
    "ift(T=2,b1=0.9,R1=1)": ("IFTGoalCWLMetric", (2.0, 0.9, 1)),
    "ift(A=0.2,b2=0.9,R2=10)": ("IFTRateCWLMetric", (0.2, 0.9, 10)),
    "ift(T=2,b1=0.9,R1=10,A=0.2,b2=0.9,R2=10)": ("IFTGoalRateCWLMetric", (2.0, 0.9, 10, 0.2, 0.9, 10)),
    "nerr8@20": ("NERReq8CWLMetric", (20,)),
    "nerr9@20": ("NERReq9CWLMetric", (20,)),
    "nerr10(phi=0.8)": ("NERReq10CWLMetric", (0.8,)),
    "nerr11(T=2)": ("NERReq11CWLMetric", (2,)),
}
RUNS = sorted((COVID / "runs").glob("*.gz"))[::5]


def their_numbers(metric: Any) -> list[float]:
    names = ("utility", "total_utility", "cost", "total_cost", "items")
    return [getattr(metric, f"{part}expected_{name}") for part in ("", "residual_") for name in names]


@shared
@pytest.mark.filterwarnings("ignore:.*without costs:gradedeval.EvaluationWarning")
@pytest.mark.parametrize("file", sampled(RUNS, 10), ids=lambda file: file.name)
def test_real_runs_to_nine_digits(file: Path, tmp_path: Path) -> None:
    ranking = pytest.importorskip("cwl.ruler.ranking")
    judged: dict[str, dict[str, float]] = {}
    for line in (COVID / "qrels.txt").read_text().splitlines():
        topic, _, docno, grade = line.split()
        judged.setdefault(topic, {})[docno] = max(0, int(grade)) / 2
    listed: dict[str, list[str]] = {}
    for line in gzip.decompress(file.read_bytes()).decode().splitlines():
        topic, _, docno, *_ = line.split()
        listed.setdefault(topic, []).append(docno)
    gains = tmp_path / "gains"
    lines = [f"{topic} 0 {docno} {gain}" for topic, own in judged.items() for docno, gain in own.items()]
    gains.write_text("\n".join(lines))
    found = scored(file, gains, list(CLASSES))
    metrics = {name: their_class(of)(*parameters) for name, (of, parameters) in CLASSES.items()}
    for topic, docnos in listed.items():
        own = np.array([judged[topic].get(docno, np.nan) for docno in docnos])
        one = ranking.Ranking(topic, own, np.full(len(own), np.nan))
        for name, metric in metrics.items():
            metric.residuals = True
            metric.measure(one)
            assert found[topic, name] == pytest.approx(their_numbers(metric), abs=1e-9, rel=1e-12), (topic, name)
