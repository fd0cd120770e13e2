"""Costs by type of document, the five quantities as columns, and signed differences."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.kernel.options.metadata import Costs
from support.commands import Command, succeed

# Two topics: documents a (page), b (video), c (page), d (ad); b is relevant, c half so, d unjudged.
RUN = "t page a 1 4 x\nt video b 2 3 x\nt page c 3 2 x\nt ad d 4 1 x\nu ad a 1 1 x\n"
QRELS = "t 0 a 0\nt 0 b 2\nt 0 c 1\nu 0 a 2\nu 0 b 0\n"
COSTS = "# seconds\npage 10\nvideo 60\n\nad 2.5\n"
PRICE = {"page": 10.0, "video": 60.0, "ad": 2.5}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in (("run.txt", RUN), ("qrels.txt", QRELS), ("costs.txt", COSTS)):
        (tmp_path / name).write_text(content)
    return tmp_path


def evaluate_folder(folder: Path, measures: str, **options: Any) -> gradedeval.Scores:
    return gradedeval.evaluate(folder / "run.txt", folder / "qrels.txt", measures, **options)


def test_time_biased_gain_by_hand(folder: Path) -> None:
    scores = evaluate_folder(
        folder, "tbg(h=30) tbg(h=30,of=ed) tbg(h=30,of=etc) tbg(h=30,of=ec)", costs=folder / "costs.txt"
    )
    # V = 2^(−K/30) of the cost so far, then 2^(−1/30) a rank without end.
    viewed = [2.0 ** (-spent / 30) for spent in (0, 10, 70, 80)]
    after = 2.0 ** (-82.5 / 30) / (1 - 2.0 ** (-1 / 30))
    depth = sum(viewed) + after
    cost = float(np.dot(viewed, [10, 60, 10, 2.5])) + after
    expected = [(viewed[1] + viewed[2] / 2) / depth, depth, cost, cost / depth]
    assert [scores.by_topic(measure)["t"] for measure in scores.measures] == pytest.approx(expected, rel=1e-12)


def test_the_bejeweled_player_stops_at_a_cost(folder: Path) -> None:
    # K = 10, 70: the second document is looked at, and no third.
    for costs in (folder / "costs.txt", PRICE, Costs({name.encode(): cost for name, cost in PRICE.items()})):
        assert evaluate_folder(folder, "bpm(T=9,K=65,of=ed)", costs=costs).by_topic("bpm(T=9,K=65,of=ed)")["t"] == 2
    assert evaluate_folder(folder, "bpm(T=9,K=65,of=ed)").by_topic("bpm(T=9,K=65,of=ed)")["t"] == 65


def test_costs_follow_the_documents_through_ties_and_cuts(folder: Path) -> None:
    (folder / "run.txt").write_text("t video b 2 5 x\nt page a 1 5 x\nt ad d 4 5 x\nt page c 3 9 x\nu ad a 1 1 x\n")
    for ties, order in (("docno-desc", "cdba"), ("docno-asc", "cabd"), ("file", "cbad"), ("best", "cbad")):
        price = {"a": 10, "b": 60, "c": 10, "d": 2.5}
        score = evaluate_folder(folder, "cwlp(of=etc)@3", costs=folder / "costs.txt", ties=ties).by_topic(
            "cwlp(of=etc)@3"
        )["t"]
        assert score == sum(price[docno] for docno in order[:3])
    cut = evaluate_folder(folder, "cwlp(of=etc)@3", costs=folder / "costs.txt", depth=2, ties="file").by_topic(
        "cwlp(of=etc)@3"
    )
    assert cut["t"] == 10 + 60 + 1  # ranks beyond the end cost 1
    condensed = evaluate_folder(folder, "cwlp(of=etc)@3", costs=folder / "costs.txt", judged_only=True, ties="file")
    assert condensed.by_topic("cwlp(of=etc)@3")["t"] == 10 + 60 + 10


def test_a_dataframe_has_a_column_of_types(folder: Path) -> None:
    import pandas as pd

    rows = [line.split() for line in RUN.splitlines()]
    frame = pd.DataFrame({"topic": [r[0] for r in rows], "type": [r[1] for r in rows], "docno": [r[2] for r in rows]})
    frame["score"] = [float(r[4]) for r in rows]
    ours = gradedeval.evaluate(frame, folder / "qrels.txt", "tbg(h=30)", costs=PRICE)
    assert ours.means == evaluate_folder(folder, "tbg(h=30)", costs=PRICE).means
    with pytest.raises(InputError, match="no column 'type'"):
        gradedeval.evaluate(frame.drop(columns="type"), folder / "qrels.txt", "tbg(h=30)", costs=PRICE)
    with pytest.raises(InputError, match="a dict has no document types; costs need a file, or a DataFrame"):
        gradedeval.evaluate({"t": {"a": 1.0}}, folder / "qrels.txt", "tbg(h=30)", costs=PRICE)


def test_measures_in_seconds_or_characters_note_missing_costs(folder: Path) -> None:
    with pytest.warns(gradedeval.EvaluationWarning) as caught:
        evaluate_folder(folder, "tbg u rbp")
    assert [str(warning.message) for warning in caught] == [
        "tbg: h is in seconds; without costs each document costs 1",
        "u: L is in characters; without costs each document costs 1",
        "the means are over 2 topics; too few to tell systems apart",
    ]


@pytest.mark.filterwarnings("ignore:.*no measure here uses it")
def test_the_signature_names_the_costs(folder: Path) -> None:
    first = evaluate_folder(folder, "rbp", costs=PRICE).signature
    assert f"costs {Costs({name.encode(): cost for name, cost in PRICE.items()}).digest}" in first
    assert evaluate_folder(folder, "rbp", costs=folder / "costs.txt").signature == first
    assert evaluate_folder(folder, "rbp", costs={**PRICE, "ad": 3}).signature != first


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("page 10\nvideo 60\n", "run.txt:4: type 'ad' has no cost; add it to costs.txt"),
        ("page 0\n", "costs.txt:1: cost 0 is not above 0; costs must be positive"),
    ],
)
def test_broken_costs_are_one_line(folder: Path, cli: Command, content: str, message: str) -> None:
    (folder / "costs.txt").write_text(content)
    result = cli("run.txt", "qrels.txt", "-m", "rbp", "--costs", "costs.txt")
    assert (result.code, result.text) == (1, "")
    assert result.messages[0].startswith(message)


def test_each_type_without_a_cost_is_named_with_its_first_line(folder: Path, cli: Command) -> None:
    (folder / "costs.txt").write_text("page 10\n")
    result = cli("run.txt", "qrels.txt", "-m", "rbp", "--costs", "costs.txt")
    assert result.messages == [
        "run.txt:2: type 'video' has no cost; add it to costs.txt",
        "run.txt:4: type 'ad' has no cost; add it to costs.txt",
    ]


def test_a_missing_cost_file_is_one_line(folder: Path, cli: Command) -> None:
    result = cli("run.txt", "qrels.txt", "-m", "rbp", "--costs", "nowhere")
    assert result.messages[0].startswith("nowhere: no such file; check the path")
    for bad in ({}, {"page": 0}, {"page": "1"}, {"page": float("nan")}, 3):
        with pytest.raises(InputError):
            evaluate_folder(folder, "rbp", costs=bad)


WORDS = ("run.txt", "qrels.txt", "--cwl", "-m", "rbp(p=0.5) cwlp@2")


def test_five_quantities_are_columns_with_the_mean_last(folder: Path, cli: Command) -> None:
    result = cli(*WORDS, "-q", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(result.text)))
    assert [*rows[0]] == ["run", "topic", "measure", "eu", "etu", "ec", "etc", "ed", "signature"]
    assert [bool(row["signature"]) for row in rows] == [False] * 4 + [True] * 2
    assert [(row["topic"], row["measure"]) for row in rows] == [
        (topic, measure) for topic in ("t", "u", "all") for measure in ("rbp(p=0.5)", "cwlp@2")
    ]
    # t: gains 0 1 ½ 0; u: gain 1. V of rbp is 1, ½, ¼, …
    assert [float(rows[0][of]) for of in ("eu", "etu", "ec", "etc", "ed")] == [0.3125, 0.625, 1, 2, 2]
    assert [float(rows[5][of]) for of in ("eu", "etu", "ec", "etc", "ed")] == [0.5, 1, 1, 2, 2]


@pytest.mark.parametrize("form", ["table", "markdown", "json", "jsonl", "tsv", "html", "latex", "trec"])
def test_five_quantities_in_every_format(folder: Path, cli: Command, form: str) -> None:
    result = succeed(cli(*WORDS, "--residuals", "-f", form))
    if form == "jsonl":
        rows = [json.loads(line) for line in result.text.splitlines()]
        assert [*rows[0]] == ["run", "topic", "measure", "eu", "etu", "ec", "etc", "ed", "residual", "signature"]
        assert rows[0]["residual"] == pytest.approx((0.0625 + 0.0625 + 0.5) / 2)
    elif form == "trec":
        names = [line.split()[0] for line in result.text.splitlines()]
        assert names[:3] == ["rbp(p=0.5)", "rbp(p=0.5).residual", "rbp(p=0.5,of=etu)"]
    else:
        for column in ("eu", "etu", "ec", "etc", "ed", "residual", "rbp(p=0.5)"):
            assert column in result.text


def test_several_runs_have_a_row_each(folder: Path, cli: Command) -> None:
    (folder / "other.txt").write_text(RUN)
    result = cli("run.txt", "other.txt", *WORDS[1:], "--sort", "rbp(p=0.5)")
    assert [line.split()[:2] for line in result.text.splitlines()[2:6]] == [
        ["other.txt", "rbp(p=0.5)"],  # equal runs go by name
        ["other.txt", "cwlp@2"],
        ["run.txt", "rbp(p=0.5)"],
        ["run.txt", "cwlp@2"],
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "err"), "--cwl: err is not a C/W/L measure; those are rbp, insq"),
        (("-m", "rbp(of=ed)"), "--cwl: 'rbp(of=ed)' asks for one quantity; --cwl prints all five; leave out of="),
        (("-m", "rbp", "--max-residual", "0.1"), "--cwl: cannot be combined with --max-residual"),
        (
            ("-m", "rbp", "--residuals", "difference", "--residual-depth", "full"),
            "--residuals difference: a signed difference is not a bound",
        ),
    ],
)
def test_options_excluding_columns_are_refused(
    folder: Path, cli: Command, words: tuple[str, ...], message: str
) -> None:
    result = cli("run.txt", "qrels.txt", "--cwl", *words)
    assert (result.code, result.text) == (2, "")
    assert result.messages[0].startswith(message)


def test_a_signed_difference_settles_no_topic(folder: Path) -> None:
    with pytest.raises(InputError, match="a signed difference is not a bound"):
        evaluate_folder(folder, "rbp", residuals="difference", max_residual=0.1)


def test_without_measures_the_family_is_shown(folder: Path, cli: Command) -> None:
    result = succeed(cli("run.txt", "qrels.txt", "--cwl"))
    names = [line.split()[0] for line in result.text.splitlines()[2:-2]]
    assert names == list(gradedeval.measures.CWL_DEFAULT)


def test_differences_are_signed_and_there_for_every_quantity_of_the_family(folder: Path) -> None:
    scores = evaluate_folder(folder, "bpm(T=1.5,K=9) bpm(T=1.5,K=9,of=ed) err", residuals="difference")
    # t: 0 1 ½ u: Γ reaches 1.5 at rank 3, judged or not. u: 1, then beyond: worst ends at K = 9, best at rank 2.
    assert [scores.runs[0].residual[1, column] for column in (0, 1)] == pytest.approx([1 - 1 / 9, 2 - 9])
    assert scores.residuals["err"] is None
    assert "signed differences" in scores.signature


def test_like_cwl_eval_brings_its_horizon_and_its_differences(folder: Path) -> None:
    (folder / "gains.txt").write_text("t 0 b 1\nt 0 c 0.5\nu 0 a 1\n")
    scores = gradedeval.evaluate(
        folder / "run.txt", folder / "gains.txt", "insq bpm err", like="cwl_eval", residuals=True
    )
    expected = ["insq(horizon=1000,gain=grade)", "bpm(horizon=1000,gain=grade)", "err(gain=grade)"]
    assert list(map(str, scores.measures)) == expected
    assert scores.options.residuals == "difference"
    total = gradedeval.evaluate(
        folder / "run.txt", folder / "gains.txt", "insq(horizon=50)", like="cwl_eval", max_residual=1
    )
    assert (str(total.measures[0]), total.options.residuals) == ("insq(horizon=50,gain=grade)", None)
    split = gradedeval.evaluate(folder / "run.txt", folder / "gains.txt", "insq", like="cwl_eval", residuals="split")
    assert split.options.residuals == "split"


def test_a_tie_of_two_types_is_settled_by_docno_in_any_order_of_lines(folder: Path) -> None:
    """Compare two orders of the same lines: grades are equal, but costs change places."""
    lines = ["t page a 1 5 x\n", "t video b 2 5 x\n", "t page c 3 1 x\n"]
    (folder / "qrels.txt").write_text("t 0 a 1\nt 0 b 1\nt 0 c 2\n")
    outputs = []
    for order in ([0, 1, 2], [1, 0, 2]):
        (folder / "run.txt").write_text("".join(lines[index] for index in order))
        outputs.append(evaluate_folder(folder, "tbg(h=20) rbp(of=ec)", costs=folder / "costs.txt").means)
    assert outputs[0] == outputs[1]
    (folder / "run.txt").write_text("t video b 1 6 x\nt page a 2 5 x\nt page c 3 1 x\n")
    assert evaluate_folder(folder, "tbg(h=20) rbp(of=ec)", costs=folder / "costs.txt").means == outputs[0]


def test_the_five_quantities_are_not_standardized(folder: Path, cli: Command) -> None:
    outcome = cli("run.txt", "run.txt", "qrels.txt", "--cwl", "-m", "rbp", "--standardize")
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.messages == ["--cwl: standardized costs have no meaning; leave out --standardize"]


def test_measures_of_other_definitions_become_their_cwl_forms(folder: Path, cli: Command) -> None:
    output = succeed(cli("run.txt", "qrels.txt", "--cwl", "-m", "P@2 RBP@0.5 RR AP INST@2", "-f", "csv"))
    same = succeed(cli("run.txt", "qrels.txt", "--cwl", "-m", "cwlp@2 RBP@0.5 cwlrr cwlap INST@2", "-f", "csv"))
    assert output.text == same.text
    assert "--cwl takes p@2 as cwlp@2, rr as cwlrr, ap as cwlap" in output.messages
