"""xinfAP, statAP and infNDCG: by hand, and by the program of the conformance vectors on stratified samples."""

import csv
import io
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError, Qrels
from support.commands import Command
from support.conformance_measures import Topic, read

STRATA: dict[str, Any] = {"qrels_format": "strata"}
Judged = dict[str, tuple[str, int]]
"""docno -> stratum, grade"""


def lines(judged: Judged) -> io.BytesIO:
    return io.BytesIO("".join(f"t 0 {docno} {s} {grade}\n" for docno, (s, grade) in judged.items()).encode())


def scores(ranking: Sequence[str], judged: Judged, measures: str) -> list[float]:
    run = {"t": {docno: -float(rank) for rank, docno in enumerate(ranking)}}
    return list(gradedeval.evaluate(run, lines(judged), measures, qrels_format="strata").means.values())


def by_definition(notation: str, ranking: Sequence[str], judged: Judged) -> float:
    """Compute a measure by the program of the conformance vectors."""
    strata: dict[str, dict[str, int]] = {}
    for docno, (stratum, grade) in judged.items():
        strata.setdefault(stratum, {})[docno] = grade
    grades = {docno: grade for docno, (_, grade) in judged.items()}
    return float(read(notation)(Topic(tuple(ranking), grades, max(grades.values()), (), strata)))


@pytest.mark.parametrize("seed", range(12))
def test_estimates_equal_the_exact_program(seed: int) -> None:
    dice = random.Random(seed)
    pool = [f"d{number}" for number in range(dice.randint(1, 40))]
    rate = {"1": 1.0, "2": 0.6, "10": 0.2}
    judged = {docno: (s, dice.randint(0, 3) if dice.random() < rate[s] else -1)
              for docno in pool for s in [dice.choice(list(rate))]}  # fmt: skip
    judged["sure"] = ("1", 2)
    ranking = dice.sample([*pool, "sure", "u", "v", "w"], dice.randint(1, len(pool) + 4))
    worked = [by_definition(name, cut, judged) for name in ("xinfap", "statap") for cut in (ranking, ranking[:5])]
    worked += [by_definition(name, ranking, judged) for name in ("infndcg", "infndcg@5")]
    assert scores(ranking, judged, "xinfap xinfap@5 statap statap@5 infndcg infndcg@5") == pytest.approx(
        worked, rel=1e-12
    )


SAMPLED: Judged = {"a": ("1", 1), "b": ("1", 0), "c": ("2", 1), "d": ("2", -1), "e": ("2", -1), "f": ("2", 0)}


def test_estimates_by_hand() -> None:
    # Of stratum 2 half is sampled: c counts twice, and R is 1 + 2. Above c stand a and b, half of them relevant, and d,
    # of a stratum without judgments above: ε/3ε of it is relevant.
    estimates = scores("abdcue", SAMPLED, "xinfap infndcg")
    worked = (1 * 1 + 2 * (1 + 2 * 1 / 2 + 1 / 3) / 4) / 3
    assert estimates[0] == pytest.approx(worked, abs=1e-4)
    # a stands for itself, c for two: the estimated precision at c is (1 + 2)/4.
    assert scores("abdcue", SAMPLED, "statap") == [pytest.approx((1 * 1 / 1 + 2 * 3 / 4) / 3)]
    # Retrieved of stratum 2: d, c and e, of which c is sampled: 3 times its gain. The ideal has 3 relevant documents.
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert estimates[1] == pytest.approx((1 + 3 / math.log2(5)) / ideal)


def test_estimates_of_a_full_sample_equal_the_estimated_measures() -> None:
    judged = {"a": ("1", 2), "b": ("2", 0), "c": ("2", 1), "x": ("1", 1)}
    run = {"t": {"b": 4.0, "a": 3.0, "c": 2.0}}
    plain = {"t": {docno: grade for docno, (_, grade) in judged.items()}}
    estimates = gradedeval.evaluate(run, lines(judged), "xinfap statap infndcg infndcg@2", qrels_format="strata").means
    whole = gradedeval.evaluate(run, plain, "ap ndcg ndcg@2").means
    expected = [whole["ap"], whole["ap"], whole["ndcg"], whole["ndcg@2"]]
    assert list(estimates.values()) == pytest.approx(expected, abs=1e-4)


def test_samples_from_files_frames_and_dicts_are_equal() -> None:
    pandas = pytest.importorskip("pandas")
    nested = {"t": {docno: {stratum: grade} for docno, (stratum, grade) in SAMPLED.items()}}
    rows = [{"topic": "t", "docno": d, "stratum": s, "grade": grade} for d, (s, grade) in SAMPLED.items()]
    run = {"t": {docno: -float(rank) for rank, docno in enumerate("abdcue")}}
    results = [gradedeval.evaluate(run, source, "xinfap infndcg ap", qrels_format="strata")
             for source in (lines(SAMPLED), nested, pandas.DataFrame(rows))]  # fmt: skip
    signatures = {each.signature for each in results}
    assert len({str(each.means) for each in results}) == len(signatures) == 1
    assert "2 strata" in signatures.pop()


def test_unsampled_documents_are_unjudged() -> None:
    (judged,) = scores("abdcue", SAMPLED, "judged")
    assert judged == 3 / 6  # a, b and c


def test_without_strata_a_topic_is_one_stratum_with_a_note() -> None:
    run, qrels = {"t": {"a": 2.0, "b": 1.0}}, {"t": {"a": -1, "b": 1, "c": 0}}
    with pytest.warns(EvaluationWarning, match="so xinfap treats each topic as a single stratum"):
        mean = gradedeval.evaluate(run, qrels, "xinfap", negative="unjudged").means["xinfap"]
    assert mean == pytest.approx((1 + 1 / 3) / 2)


def test_strata_on_the_command_line(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(lines(SAMPLED).read())
    (tmp_path / "run").write_text("".join(f"t Q0 {d} 0 {-i} x\n" for i, d in enumerate("abdcue")))
    output = cli("run", "qrels", "--qrels-format", "strata", "-m", "xinfap", "-m", "infndcg", "-f", "csv")
    rows = csv.DictReader(output.text.splitlines())
    assert [row["score"][:5] for row in rows] == ["0.722", "1.075"]


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        ("t 0 a 1 1\nt 0 a 2 0\n", STRATA, "qrels: document 'a' in topic t is in strata 1 and 2"),
        ("t 0 a 1\n", STRATA, "qrels:1: 4 fields, expected 5 (topic iteration docno stratum grade)"),
        ("t 0 a 1 1\nt 0 a 1 0\n", STRATA, "qrels:2: duplicate document 'a' in topic t for stratum 1"),
        ("t 0 a 1 1\n", {}, "qrels:1: 5 fields, expected 4"),
        ("t 0 a 1 1\n", STRATA | {"subtopics": True}, "qrels: subtopics and strata exclude each other"),
    ],
)
def test_problems_of_a_sample_are_reported(source: str, options: dict[str, Any], says: str) -> None:
    file = io.BytesIO(source.encode())
    file.name = "qrels"  # type: ignore[attr-defined]
    with pytest.raises(InputError) as error:
        gradedeval.evaluate({"t": {"a": 1.0}}, file, "xinfap", **options)
    assert str(error.value).startswith(says)


def test_qrels_read_without_strata_are_refused_if_strata_are_requested() -> None:
    with pytest.raises(InputError, match="these qrels were read without"):
        gradedeval.evaluate({"t": {"a": 1.0}}, Qrels({"t": {"a": 1}}), "xinfap", qrels_format="strata")
    with pytest.raises(InputError, match="reads strata"):
        gradedeval.parse_measures("ia(xinfap)")
