"""`--bounds`: the columns low and high in tables and frames, for topics and means, and the notes about them."""

import io
import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradedeval import EvaluationWarning, InputError, evaluate
from gradedeval.kernel import parallel
from support.commands import Command
from support.paths import DATA, SAMPLES, shared

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")

RUN, QRELS = SAMPLES / "rivers-dense.run", SAMPLES / "rivers.qrels"
# In topic 1 ap lies between 5/6, with w relevant, and 1; topic 2 has no unjudged documents.
TOPICS = {"1": ["a", "v", "w"], "2": ["x", "y"]}
JUDGED = {"1": {"a": 1}, "2": {"x": 0, "y": 1}}


def rows(measures: Any, **options: Any) -> dict[tuple[str, str], tuple[float, float]]:
    """Return (topic, measure) -> low, high."""
    frame = evaluate(TOPICS, JUDGED, measures, **{"bounds": True, **options}).frame
    return {(row.topic, row.measure): (row.low, row.high) for row in frame.itertuples()}


def test_means_of_lows_and_highs_bound_the_mean() -> None:
    cells = rows("ap err(rel=1)@2 gm_ap hits")
    assert cells["1", "ap"] == pytest.approx((5 / 6, 1))
    assert cells["2", "ap"] == (0.5, 0.5)
    assert cells["all", "ap"] == pytest.approx((2 / 3, 3 / 4))
    assert cells["all", "err(rel=1)@2"] == (0.75, 0.75)
    assert cells["all", "gm_ap"] == pytest.approx((math.sqrt(5 / 12), math.sqrt(1 / 2)))
    assert cells["all", "hits"] == (1, 2)


def test_python_has_bounds_by_any_name_of_a_measure() -> None:
    scores = evaluate(TOPICS, JUDGED, "map bpref", bounds=True)
    assert scores.bounds["ap"] == scores.bounds_by_run["run"]["map"] == pytest.approx((2 / 3, 3 / 4))
    assert scores.bounds["bpref"] is None
    assert evaluate(TOPICS, JUDGED, "ap").bounds["ap"] is None
    assert list(scores.frame.columns) == ["run", "topic", "measure", "score", "low", "high", "signature"]


def test_documents_that_were_not_retrieved_may_be_relevant_too() -> None:
    # Of topic 2, ½ / 2 and ½ / 4; of topic 1, with w, 5/3 / 3; and 5/3 / 5.
    assert rows("ap", unseen=1)["all", "ap"] == pytest.approx(((1 / 2 + 1 / 4) / 2, 3 / 4))
    assert rows("ap", unseen="inf")["all", "ap"] == (0, 3 / 4)
    signed = evaluate(TOPICS, JUDGED, "ap", unseen=3)
    assert signed.options.bounds
    assert "| unseen 3 |" in signed.signature


@pytest.mark.parametrize("unseen", ["x", "1.5", -1, True, 2_000_000, "nan"])
def test_a_wrong_number_of_unseen_documents_is_an_error(unseen: Any) -> None:
    with pytest.raises(
        InputError, match=r"^unseen: .* (is not a whole number from 0 to 1,000,000, or 'inf'|is too (small|large))"
    ):
        evaluate(TOPICS, JUDGED, "ap", unseen=unseen)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bounds", "--interval"), "--bounds: --interval has columns low and high too; ask for one of them"),
        (("--bounds", "--judged-only"), "--judged-only: a condensed list has no bounds: "),
        (("--bounds", "--standardize"), "--standardize: standardized scores have no bounds; leave out --bounds"),
        (("--bounds", "--ties", "best"), "--ties: best has no bounds: newly judged documents would change places;"),
        (("--unseen", "3", "--ties", "worst"), "--ties: worst has no bounds: "),
        (("--unseen", "few"), "--unseen: 'few' is not a whole number from 0 to 1,000,000, or 'inf'"),
    ],
)
def test_options_that_conflict_with_bounds_are_refused(options: tuple[str, ...], message: str, cli: Command) -> None:
    ended = cli(str(RUN), str(QRELS), "-m", "ap", *options)
    assert ended.code == 2
    assert message in ended.err.decode()


def test_a_note_says_that_documents_judged_later_may_move_up() -> None:
    with pytest.warns(
        EvaluationWarning, match="may move up among its ties, so a score may rise by more than its residual"
    ):
        best = evaluate({"1": {"a": 1, "u": 1}}, {"1": {"a": 0}}, "p@1", ties="best", residuals="total", top_grade=1)
    assert best.residuals["p@1"] == 0
    later = evaluate({"1": {"a": 1, "u": 1}}, {"1": {"a": 0, "u": 1}}, "p@1", ties="best")
    assert later["p@1"] == 1


def test_notes_name_measures_without_bounds_safe_bounds_and_assumptions() -> None:
    def bound_notes(measures: str, **options: Any) -> list[str]:
        scores = evaluate(TOPICS, JUDGED, measures, bounds=True, **options)
        return [note for note in scores.notes if note.startswith("bounds")]

    assert bound_notes("err(rel=1) bpref q q(rel=1) ap") == [
        "bounds: low and high are blank for bpref",
        "bounds: low and high of q are safe, but may be wider than necessary",
        "bounds: q, q(rel=1), ap: unjudged documents that the run did not retrieve are taken as not relevant; use "
        "unseen=… to assume that some are relevant",
    ]
    assert bound_notes("err(rel=1) dcg p@2") == []
    assert bound_notes("ap", unseen=0) == []
    averaged = bound_notes("ap nerr err(rel=1)", ties="average", unseen=0)
    assert averaged == ['bounds: low and high are blank with ties="average" for nerr']
    assert bound_notes("err(rel=1)", fill={"1": {"v": 0.5}}) == ["bounds: the gains of fill count as known"]
    assumption = "further judgments may add topics or remove some"
    assert bound_notes("err", topics="relevant") == [
        f'bounds: means are over the topics that topics="relevant" selects now; {assumption}'
    ]
    assert bound_notes("err", max_residual=0.0) == [
        f"bounds: means are over the topics that max_residual selects now; {assumption}"
    ]


def test_everything_is_0_with_nothing_retrieved_and_nothing_relevant() -> None:
    run = evaluate({"1": ["a"]}, {"1": {"a": 1}, "2": {"b": 0}}, "nerr nerr@3 ndcg ap q", bounds=True).runs[0]
    assert run.bounds is not None
    assert not run.bounds[:, 1].any()


def test_filled_documents_count_as_judged_only_in_measures_that_fill() -> None:
    low, high = rows("rbp(p=0.5,rel=1)@3", fill={"1": {"v": 0.5}})["1", "rbp(p=0.5,rel=1)@3"]
    assert (low, high) == (0.5 + 0.125, 0.5 + 0.125 + 0.125)
    assert rows("ap", fill={"1": {"v": 0.5}}) == rows("ap")


def test_every_format_has_the_columns(cli: Command) -> None:
    words = (str(RUN), str(QRELS), "-m", "ap bpref", "--bounds", "--quiet", "-f")
    table = cli(*words, "table").out.decode()
    assert table.splitlines()[0].split() == ["measure", "score", "low", "high"]
    (ap, bpref) = json.loads(cli(*words, "json").out)["rows"]
    assert ap["low"] < ap["score"] < ap["high"]
    assert (bpref["low"], bpref["high"]) == (None, None)
    assert cli(*words, "csv").out.splitlines()[0] == b"run,topic,measure,score,low,high,signature"
    first = [line.split()[0] for line in cli(*words, "trec").text.splitlines()]
    assert first == ["ap", "ap.low", "ap.high", "bpref"]
    percent = cli(*words, "table", "--percent").out.decode().splitlines()[2].split()
    assert percent == ["ap", *(f"{100 * ap[name]:.2f}" for name in ("score", "low", "high"))]
    quantities = cli(str(RUN), str(QRELS), "-m", "rbp", "--bounds", "--cwl", "--quiet").text.splitlines()[0]
    assert quantities.split() == ["measure", "eu", "etu", "ec", "etc", "ed", "low", "high"]


def bounds_of(run: Any, **options: Any) -> Any:
    measures = "ap gap ndcg ndcg@10 nerr nerr@3 q q(rel=1) iprec_avg recall@10 grecall f1@5 err erria"
    run_scores = evaluate(run, QRELS, measures, bounds=True, **options).runs[0]
    assert run_scores.bounds is not None
    return run_scores.bounds


def test_bounds_are_equal_to_the_last_bit_in_batches_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line for line in RUN.read_bytes().splitlines(keepends=True) if line.split()[0] in (b"301", b"302", b"303")]
    lines = lines[:230]
    whole = bounds_of(io.BytesIO(b"".join(lines)), topics="both")
    assert not np.isnan(whole).all(1).all()
    monkeypatch.setattr(parallel, "LIMITS", parallel.Limits(cells=20))
    assert np.array_equal(bounds_of(io.BytesIO(b"".join(lines)), topics="both"), whole, equal_nan=True)


GRADES = list(itertools.product((0, 1, 2), repeat=2))


def by_intent(ranking: str, later: tuple[tuple[int, int] | None, ...]) -> dict[str, dict[str, int]]:
    """Return judgments of a topic with two intents: a is relevant to the first, b to none, and each ? as in `later`."""
    judged: dict[str, dict[str, int]] = {"a": {"1": 2, "2": 0}, "b": {"1": 0, "2": 0}}
    names = [f"u{place}" for place, kind in enumerate(ranking) if kind == "?"]
    for name, grades in zip(names, later, strict=True):
        if grades is not None:
            judged[name] = {"1": grades[0], "2": grades[1]}
    return judged


def complete_judgments(ranking: str) -> Iterator[dict[str, dict[str, int]]]:
    for later in itertools.product([None, *GRADES], repeat=ranking.count("?")):
        yield by_intent(ranking, later)


TIED = "ia(ndcg) ia(ap@2) ia(recall@1) ia(err)"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("ranking", ["a?", "?a?", "b??"])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("prior", ["", "1 .3\n2 .7", "1 1\n2 0"], ids=repr)
def test_over_intents_no_judgment_leaves_the_bounds(ranking: str, tied: bool, prior: str, tmp_path: Path) -> None:
    measures = f"{'' if tied else 'erria erria(norm=best)@2 nrbp strec@2 alpha_dcg alpha_dcg(norm=best)@2'} {TIED}"
    if prior:
        word = f'prior="@{tmp_path / "prior"}"'
        inner = "" if tied else f"erria({word}) erria({word})@2 erria(rel=1,stop=0.5,norm=best,{word})@2"
        measures = f"{inner} ia(ndcg,{word}) ia(ap@2,{word}) ia(recall@1,{word}) ia(err,{word})"
    docnos: Any = [f"u{place}" if kind == "?" else kind for place, kind in enumerate(ranking)]
    options: dict[str, Any] = {"ties": "average"} if tied else {}
    if tied:
        docnos = dict.fromkeys(docnos, 1.0)
    judged = list(complete_judgments(ranking))
    qrels = {f"t{number}": documents for number, documents in enumerate(judged)}
    run = dict.fromkeys(qrels, docnos)
    (tmp_path / "prior").write_text("".join(f"{topic} {line}\n" for topic in qrels for line in prior.split("\n")))
    run_scores = evaluate(
        run, qrels, measures, subtopics=True, top_grade=2, bounds=True, residuals=True, **options
    ).runs[0]
    assert run_scores.bounds is not None
    low, high = run_scores.bounds
    first = 0  # no judgments yet
    assert judged[first] == by_intent(ranking, (None,) * ranking.count("?"))
    assert (low[first] <= run_scores.score.min(0) + 1e-12).all()
    assert (high[first] >= run_scores.score.max(0) - 1e-12).all()
    assert not (run_scores.score.max(0) > run_scores.score[first] + run_scores.residual[first] + 1e-9).any()
    assert (low <= run_scores.score).all()
    assert (run_scores.score <= high).all()


@shared
@pytest.mark.exhaustive
def test_bounds_over_covid_round1() -> None:
    folder = DATA / "covid-round1"
    scores = evaluate(folder / "runs", folder / "qrels.txt", "gap ap ndcg ndcg@10 nerr@20", bounds=True)
    assert len(scores.runs) == 48
    bounds = {
        label: [
            round(float(np.mean([run.summary(part, column, "mean") for run in scores.runs])), 4)
            for part in ("score", "low", "high")
        ]
        for column, label in enumerate(scores.labels)
    }
    assert bounds == {
        "gap": [0.1419, 0.0888, 0.8111],
        "ap": [0.1468, 0.0991, 0.8128],
        "ndcg": [0.3763, 0.3668, 0.9020],
        "ndcg@10": [0.3517, 0.3489, 0.5786],
        "nerr@20": [0.5042, 0.5042, 0.6626],
    }
