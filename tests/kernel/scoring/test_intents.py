"""Intents: qrels by subtopic, the measures of novelty and diversity, and the mean of any measure over intents."""

import contextlib
import io
import itertools
import math
import random
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradedeval
from gradedeval import MEASURES, InputError, Measure, Qrels, intent_aware, parse_measures
from support.commands import Command, succeed
from support.examples import drawn, sampled
from support.paths import DATA, shared
from support.reference_intents import Judged, Listed

WEB_TRACK = DATA / "web-track"


def evaluate_topics(
    topics: Sequence[tuple[Listed, Judged]], measures: Any, **rules: Any
) -> tuple[list[Measure], Any, Any, list[str]]:
    """Return measures, scores and residuals (topics × measures), and notes."""
    run = {
        f"t{number}": {docno: -float(rank) for rank, docno in enumerate(listed)}
        for number, (listed, _) in enumerate(topics)
    }
    qrels = {f"t{number}": judged for number, (_, judged) in enumerate(topics)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gradedeval.EvaluationWarning)
        scores = gradedeval.evaluate(
            run, qrels, measures, **{"topics": "run", "residuals": "total", "top_grade": 3, "subtopics": True, **rules}
        )
    order = [scores.runs[0].topics.index(f"t{number}") for number in range(len(topics))]
    return scores.measures, scores.runs[0].score[order], scores.runs[0].residual[order], scores.notes


NOVEL = parse_measures(
    "erria(rel=1,stop=0.5) erria(rel=2,stop=0.3,norm=best)@5 nerria(rel=1,stop=0.5)@2 alpha_dcg(norm=best)@3"
    " alpha_ndcg alpha_ndcg(rel=2)@3 nrbp(alpha=0.25,beta=0.8) nnrbp@2 strec(rel=2)@3"
)
INNER = parse_measures("err@3 ndcg(gain=exp)@2 nerr@3 rbp(rel=2)@3 ap gap(g=1:2:4) q p@3 rr recall@2 bpref")

grades = st.dictionaries(st.sampled_from(["0", "1", "2", "3", "10"]), st.sampled_from([-2, 0, 1, 1, 2, 3]), min_size=1)
judgments = st.dictionaries(st.sampled_from([f"d{n}" for n in range(8)]), grades, min_size=1)
rankings = st.permutations([f"d{n}" for n in range(8)]).flatmap(
    lambda docnos: st.integers(0, 8).map(lambda size: docnos[:size])
)
any_topic = st.tuples(rankings, judgments)
ANCHOR: tuple[Listed, Judged] = (["a"], {f"a{grade}": {"1": grade} for grade in range(-2, 4)})


@pytest.mark.exhaustive
@drawn(15)
@given(topics=st.lists(any_topic, min_size=1, max_size=4))
def test_other_measures_take_the_highest_grade_of_a_document(topics: list[tuple[Listed, Judged]]) -> None:
    measures = parse_measures("err@3 ndcg ap gap bpref q p@3 rbp judged num_rel num_ret unjudged@5")
    topics = [*topics, ANCHOR]
    flat: Any = [(listed, {d: max(by_intent.values()) for d, by_intent in judged.items()}) for listed, judged in topics]
    for rules in ({}, {"negative": "unjudged"}, {"ties": "best"}, {"ties": "worst"}):
        _, score, residual, _ = evaluate_topics(topics, measures, **rules)
        _, plain, plain_residual, _ = evaluate_topics(flat, measures, subtopics=False, **rules)
        assert np.array_equal(score, plain)
        assert np.array_equal(residual, plain_residual, equal_nan=True)
        _, mixed, _, _ = evaluate_topics(topics, [*measures, *map(intent_aware, INNER), *NOVEL], **rules)
        assert np.array_equal(mixed[:, : len(measures)], plain)


# Documents with grades for two intents; None: not judged. The topic always has a document of grade 0 for both, so
# that both are its intents, whether anything relevant to them is known or not.
LATER: tuple[tuple[int, int] | None, ...] = (None, (0, 0), (1, 0), (2, 1), (0, 2), (2, 2))
BASE: Judged = {"z": {"1": 0, "2": 0}}
MISSED = ((), ((2, 0),), ((1, 0), (0, 1)))
OWN = parse_measures(
    "erria erria@2 erria(rel=1,stop=0.5,norm=best)@2 erria(norm=best) strec strec@1 strec@2 nrbp nrbp@2"
    " nrbp(alpha=0.9,beta=0.8) alpha_dcg alpha_dcg@2 alpha_dcg(norm=best)@2 alpha_dcg(norm=best)"
)


def with_residual() -> Iterator[Measure]:
    """Yield every other measure with a residual, its own parameters as they are, uncut and cut."""
    for definition in MEASURES.values():
        for cutoff in (None, 2):
            with contextlib.suppress(InputError):  # some need a cutoff, or parameters
                measure = (definition if cutoff is None else definition @ cutoff).complete()
                if measure.residual != "none" and not measure.by_intent:
                    yield measure


INSIDE = list(with_residual())
BOUNDED = [*OWN, *map(intent_aware, INSIDE)]


def topic_of(ranking: Sequence[tuple[int, int] | None], missed: Sequence[tuple[int, int]]) -> tuple[Listed, Judged]:
    listed = [f"d{rank}" for rank in range(len(ranking))]
    pairs = {docno: pair for docno, pair in zip(listed, ranking, strict=True) if pair is not None}
    pairs |= {f"m{number}": pair for number, pair in enumerate(missed)}
    return listed, BASE | {docno: {"1": float(first), "2": float(second)} for docno, (first, second) in pairs.items()}


def test_a_residual_needs_something_unjudged_or_beyond_the_end() -> None:
    topics = [topic_of(r, missed) for r in itertools.product(LATER[1:], repeat=2) for missed in MISSED]
    measures, _, residual, _ = evaluate_topics(
        topics, [*BOUNDED, *parse_measures("erria@2 strec@2 nrbp@2 ia(err@2) ia(rbp@2)")]
    )
    beyond = [measure.residual == "beyond_run" and (measure.cutoff or 9) > 2 for measure in measures]
    for column, measure in enumerate(measures):
        summed = measure.definition.cutoff == "sums_to_k"  # weights of the full depth depend on later ranks
        assert beyond[column] or summed or (residual[:, column] == 0).all(), str(measure)


def test_an_intent_without_relevant_documents_may_enter_the_mean() -> None:
    # Relevant to intent 1 are ten documents, of which the run has none; its one document is not judged. Judged relevant
    # to intent 2 it gives that an AP of 1, and a mean of ½. Relevant to both: ½ (1/11 + 1). The bound: ½ (1/10 + 1).
    judged: Judged = {f"m{number}": {"1": 1} for number in range(10)} | {"n": {"2": 0}}
    later: Judged = judged | {"d": {"1": 1, "2": 1}}
    _, score, residual, _ = evaluate_topics([(["d"], judged), (["d"], later)], "ia(ap)")
    assert score[:, 0] == pytest.approx([0, (1 / 11 + 1) / 2])
    assert residual[0, 0] == pytest.approx((1 / 10 + 1) / 2)


@pytest.mark.parametrize("measure", ["alpha_ndcg@2", "nerria(rel=1,stop=0.5)@2", "nnrbp@2"])
def test_filling_in_is_no_bound_if_the_ideal_ranking_is_greedy(measure: str) -> None:
    # Two documents cover four intents, and the run has both: no document is missing. A third document that covers
    # as many as each of them, found elsewhere, comes first in the greedy order, and the next repeats one of its two.
    judged: Judged = {"a": {"1": 1, "4": 1}, "b": {"2": 1, "3": 1}}
    later = judged | {"c": {"1": 1.0, "2": 1.0}}
    _, score, residual, _ = evaluate_topics([(["a", "b"], judged), (["a", "b"], later)], measure)
    second = {"alpha_ndcg@2": 1 / math.log2(3)}.get(measure, 1 / 2)
    assert score[:, 0] == pytest.approx([1, (2 + 2 * second) / (2 + 1.5 * second)])
    assert np.isnan(residual).all()


@pytest.mark.parametrize("measure", ["ia(bpref)", "ia(rprec)", "ia(cwlap)", "nerria", "alpha_ndcg", "nnrbp"])
def test_a_measure_without_a_bounding_residual_has_none(measure: str) -> None:
    assert np.isnan(evaluate_topics([(["d"], BASE)], measure)[2]).all()


RUN = {"1": {docno: -rank for rank, docno in enumerate(["x", "b", "a", "d", "c"])}}
QRELS = {"1": {"a": {"1": 1, "2": 1}, "b": {"1": 1}, "c": {"3": 1}, "d": {"2": 2}, "e": {"4": 0}, "f": {"4": -2}}}
DCG = 1 / math.log2(3) + 1.5 / 2 + 0.5 / math.log2(5) + 1 / math.log2(6)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # Relevant to intents 1, 2, 3 at ranks 2 3 · 3 4 · 5; none to 4, which does not count. Top grade 2.
        ("erria(rel=1)", (1 / 2 + 1 / 3 + 1 / 5) / 3),
        ("ia(rr)", (1 / 2 + 1 / 3 + 1 / 5) / 3),
        ("erria", (1 / 4 / 2 + 1 / 4 * 3 / 4 / 3 + 1 / 4 / 3 + 3 / 4 * 3 / 4 / 4 + 1 / 4 / 5) / 3),
        ("ia(err)", (1 / 4 / 2 + 1 / 4 * 3 / 4 / 3 + 1 / 4 / 3 + 3 / 4 * 3 / 4 / 4 + 1 / 4 / 5) / 3),
        ("erria(rel=1,stop=0.5,norm=best)@2", 1 / 2 / 2 / 3 / (1 / 2 + 1 / 4 / 2)),
        ("ia(ap)", ((1 / 2 + 2 / 3) / 2 + (1 / 3 + 2 / 4) / 2 + 1 / 5) / 3),
        ("ia(p@5)", (2 + 2 + 1) / 5 / 3),
        ("ia(p(rel=2)@5)", 1 / 5),  # one intent has a document of grade 2
        ("alpha_dcg", DCG),
        ("alpha_dcg(norm=best)@5", DCG / 3 / sum(0.5**i / math.log2(i + 2) for i in range(5))),
        # Greedy: a covers two intents, c a third; then d, which comes before b.
        ("alpha_ndcg", DCG / (2 + 1 / math.log2(3) + 0.5 / 2 + 0.5 / math.log2(5))),
        ("nrbp", 0.75 / 3 * (1 / 2 + 1.5 / 4 + 0.5 / 8 + 1 / 16)),
        ("nnrbp", (1 / 2 + 1.5 / 4 + 0.5 / 8 + 1 / 16) / (2 + 1 / 2 + 0.5 / 4 + 0.5 / 8)),
        ("strec@3", 2 / 3),
        ("strec@4", 2 / 3),
        ("strec", 1),
    ],
)
def test_an_example_by_hand(measure: str, expected: float) -> None:
    scores = gradedeval.evaluate(RUN, QRELS, measure, subtopics=True)
    assert list(scores.means.values()) == pytest.approx([expected], abs=1e-15)


def test_probabilities_from_a_file_weigh_the_intents(tmp_path: Path) -> None:
    # RR of the intents 1, 2, 3: 1/2, 1/3, 1/5. Intent 9 has no judgments, and its share is lost.
    (tmp_path / "p").write_text("1 1 .2\n1 2 .3\n1 3 .1\n1 9 .4\n7 1 1\n")
    for measure in (
        parse_measures("erria(rel=1)")[0](prior=f"@{tmp_path / 'p'}"),
        intent_aware(MEASURES["rr"], f"@{tmp_path / 'p'}"),
    ):
        with pytest.warns(gradedeval.EvaluationWarning) as caught:
            scores = gradedeval.evaluate(RUN, QRELS, measure, subtopics=True)
        assert list(scores.means.values()) == pytest.approx([0.2 / 2 + 0.3 / 3 + 0.1 / 5], abs=1e-15)
        assert [text for note in caught if (text := str(note.message).partition("p: ")[2])] == [
            "1 unjudged topic (7)",
            "1 subtopic without judgments (9 of 1); it scores 0",
        ]
        assert " prior" in scores.signature
        assert parse_measures(str(measure)) == [measure]


def test_a_topic_without_judgments_has_the_intents_that_its_probabilities_name(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("t0 1 1\nt1 1 .5\nt1 2 .5\n")
    topics: list[tuple[Listed, Judged]] = [(["d"], {"d": {"1": 3}}), (["x"], {})]
    measure = parse_measures("erria(rel=1)@2")[0](prior=f"@{tmp_path / 'p'}")
    _, score, residual, _ = evaluate_topics(
        topics, [measure, intent_aware(parse_measures("p@2")[0], f"@{tmp_path / 'p'}")]
    )
    assert score[1].tolist() == [0, 0]
    assert residual[1].tolist() == [1, 1]


def test_probabilities_are_divided_by_a_sum_that_rounding_keeps_from_1(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("1 1 .333\n1 2 .333\n1 3 .333\n")
    scores = gradedeval.evaluate(RUN, QRELS, f'ia(rr,prior="@{tmp_path / "p"}") ia(rr)', subtopics=True)
    weighed, uniform = scores.means.values()
    assert weighed == pytest.approx(uniform, abs=1e-15)


@pytest.mark.parametrize(
    ("lines", "missing"), [("1 1 .5\n1 2 .5\n", "subtopic 3 of topic 1"), ("2 1 1\n", "subtopic 1, 2, 3 of topic 1")]
)
def test_wrong_probabilities_fail(lines: str, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p").write_text(lines)
    with pytest.raises(InputError) as error:
        gradedeval.evaluate(RUN, QRELS, "ia(rr,prior=@p)", subtopics=True)
    hint = "add a line for each, with 0 if no user means it"
    assert (str(error.value), error.value.exit_code) == (f"p: no probability for {missing}; {hint}", 1)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("ia(ndcg(gain=exp)@10)", ["ia(ndcg(gain=exp)@10)"]),
        ("ia:err@20", ["ia(err@20)"]),
        ("ia(err)@20", ["ia(err@20)"]),
        ("ia(p)@5", ["ia(p@5)"]),
        ("ia:ndcg:gain=exp@10", ["ia(ndcg(gain=exp)@10)"]),
        ("ia(ndcg:gain=exp,log=2@10)", ["ia(ndcg(log=2,gain=exp)@10)"]),
        ("IA(P_10) ia( nDCG@5 )", ["ia(p@10)", "ia(ndcg@5)"]),
        ("ia(P.5,10)", ["ia(p@5)", "ia(p@10)"]),
        ("ia(err,prior=uniform)", ["ia(err)"]),
        ("alpha-nDCG@20 ERR-IA StRecall@5", ["alpha_ndcg@20", "erria(stop=0.5,norm=best,rel=1)", "strec@5"]),
    ],
)
def test_notations_of_a_mean_over_intents(text: str, same: list[str]) -> None:
    assert [str(measure) for measure in parse_measures(text)] == same


def test_means_over_intents_are_values_in_python() -> None:
    from gradedeval.measures import err, ndcg

    assert str(intent_aware(err @ 20)) == str(intent_aware(err) @ 20) == "ia(err@20)"
    assert str(intent_aware(ndcg)(gain="exp") @ 10) == "ia(ndcg(gain=exp)@10)"
    assert parse_measures([intent_aware(err @ 20), "ia(err@20)"]) == [intent_aware(err @ 20)]


def lines_of(qrels: dict[str, Any]) -> list[str]:
    return [
        f"{topic} {subtopic} {docno} {grade}"
        for topic, documents in qrels.items()
        for docno, intents in documents.items()
        for subtopic, grade in intents.items()
    ]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("files")
def test_a_file_a_frame_and_a_dict_give_the_same(tmp_path: Path) -> None:
    rows = [line.split() for line in lines_of(QRELS)]
    columns = list(zip(*rows, strict=True))
    frame = pd.DataFrame(
        {"topic": columns[0], "subtopic": columns[1], "docno": columns[2], "grade": map(int, columns[3])}
    )
    measures = [*NOVEL, *map(intent_aware, INNER), *INNER]
    evaluations = [
        gradedeval.evaluate(run, qrels, measures, subtopics=True, residuals="total", top_grade=3)
        for run in (RUN, tmp_path / "run")
        for qrels in (
            QRELS,
            frame,
            frame.rename(columns={"subtopic": "iteration", "topic": "query_id", "docno": "doc_id"}),
            tmp_path / "qrels",
            io.StringIO("\n".join(reversed(lines_of(QRELS)))),
            Qrels(tmp_path / "qrels", subtopics=True),
        )
    ]
    assert len({scores.signature for scores in evaluations}) == 1
    assert ", intents 4 |" in evaluations[0].signature
    assert len({scores.runs[0].score.tobytes() for scores in evaluations}) == 1
    assert len({scores.runs[0].residual.tobytes() for scores in evaluations}) == 1


def test_qrels_read_with_subtopics_need_no_rule() -> None:
    qrels = Qrels(QRELS, subtopics=True)
    assert gradedeval.evaluate(RUN, qrels, "ia(rr)").means["ia(rr)"] > 0
    with pytest.raises(InputError, match=r"read without; Qrels\(..., subtopics=True\)"):
        gradedeval.evaluate(RUN, Qrels({"1": {"a": 1}}), "rr", subtopics=True)


def test_the_digest_changes_with_any_judgment_and_not_with_their_order() -> None:
    original = {"1": {"a": {"1": 1, "2": 0}, "b": {"2": 1}}, "2": {"a": {"1": 1}}}
    others: list[dict[str, Any]] = [
        {"1": {"a": {"1": 1}, "b": {"2": 1}}, "2": {"a": {"1": 1}}, "x": {"a": {"0": 0}}},
        {"1": {"a": {"1": 1, "2": 1}, "b": {"2": 1}}, "2": {"a": {"1": 1}}},
        {"1": {"a": {"1": 1, "3": 0}, "b": {"3": 1}}, "2": {"a": {"1": 1}}},
        {"1": {"a": {"1": 0, "2": 1}, "b": {"2": 1}}, "2": {"a": {"1": 1}}},
        {"1": {"a": {"1": 1, "2": 0}, "b": {"2": 1}}, "2": {"a": {"2": 1}}},
        {"1": {"b": {"1": 1, "2": 0}, "a": {"2": 1}}, "2": {"a": {"1": 1}}},
    ]
    reordered = {"2": {"a": {"1": 1}}, "1": {"b": {"2": 1}, "a": {"2": 0, "1": 1}}}
    digests = [Qrels(qrels, subtopics=True).digest for qrels in (reordered, original, *others)]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 1 + len(others)


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ({"1": {"a": 1}}, "['1']['a']: is a int; expected a dict subtopic -> grade"),
        (
            {"1": {"a": {"1": "x"}}},
            "['1']['a']['1']: grade 'x' is not a finite number; expected a number for each grade",
        ),
        ({"1": {"a": {1.0: 1}}}, "['1']['a']: id 1.0 is a float; ids must be text: read them with dtype=str"),
        (pd.DataFrame({"topic": ["1"], "docno": ["a"], "grade": [1]}), ": no column 'subtopic' among"),
    ],
)
def test_qrels_without_subtopics_are_refused(qrels: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        Qrels(qrels, subtopics=True)
    assert str(error.value).startswith(f"qrels{message}")


def test_a_judgment_repeated_for_one_subtopic_is_a_duplicate() -> None:
    same, unlike = "1 1 a 1\n1 1 a 1\n1 2 a 1\n", "1 1 a 1\n1 2 a 2\n1 2 a 3\n"
    assert Qrels(io.StringIO(same), subtopics=True).notes == [
        "<file>: 1 judgment repeated with the same grade; counted once"
    ]
    with pytest.raises(InputError, match=r"topic 1 for subtopic 2 with grade 3 \(first on line 2 with grade 2\)"):
        Qrels(io.StringIO(unlike), subtopics=True)
    kept = Qrels(io.StringIO(unlike), subtopics=True, duplicates="last")
    assert kept.labels.tolist() == [3]
    with pytest.raises(InputError, match="subtopics=True if the second column is a subtopic"):
        Qrels(io.StringIO("1 1 a 1\n1 2 a 2\n"))


def test_0_is_an_intent_like_another() -> None:
    listed = (("t1", "0", "d0"), ("t1", "1", "d0"), ("t1", "0", "d1"), ("t1", "2", "d2"), ("t2", "0", "d0"))
    lines = [(*judgment, 1) for judgment in listed]
    run = {"t1": {"d1": 3.0, "d0": 2.0}, "t2": {"x": 2.0, "d0": 1.0}}
    measures = ["alpha_ndcg@10", "strec@10", "nrbp", "erria(rel=1,stop=0.5,norm=best)@10", "ia(ap)"]
    text = "".join(f"{topic} {intent} {docno} {grade}\n" for topic, intent, docno, grade in lines)
    as_0, as_3 = (
        gradedeval.evaluate(run, io.StringIO(qrels), measures, subtopics=True)
        for qrels in (text, text.replace(" 0 ", " 3 "))  # another name for it changes no score
    )
    assert as_0.means == as_3.means
    assert as_0.by_topic("strec@10") == {"t1": pytest.approx(2 / 3), "t2": 1}
    assert as_0.by_topic("alpha_ndcg@10")["t1"] == pytest.approx(0.6756133598690707, abs=1e-12)


def test_0_may_have_a_probability(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("1 0 .75\n1 1 .25\n")
    measure = f'ia(rr,prior="@{tmp_path / "p"}")'
    qrels = {"1": {"a": {"0": 1}, "b": {"1": 1}}}
    scores = gradedeval.evaluate({"1": {"a": 2, "b": 1}}, qrels, measure, subtopics=True)
    assert scores.by_topic(measure) == {"1": 0.875}


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_topics_without_relevant_intents_or_run_score_0_and_stay_in_the_mean() -> None:
    run = {"1": {"a": 1.0}, "2": {"a": 1.0}, "3": {"a": 1.0}, "9": {"a": 1.0}}
    qrels = {"1": {"a": {"1": 1}}, "2": {"a": {"2": 0}, "b": {"2": 1}}, "3": {"a": {"1": 0}}, "4": {"a": {"1": 1}}}
    measures = "ia(rr) erria(rel=1) strec nrbp alpha_ndcg rr"
    every = gradedeval.evaluate(run, qrels, measures, subtopics=True)
    both = gradedeval.evaluate(run, qrels, measures, subtopics=True, topics="both")
    theirs = gradedeval.evaluate(run, qrels, measures, subtopics=True, topics="run")
    assert every.by_topic("ia(rr)") == {"1": 1, "2": 0, "3": 0, "4": 0}
    assert every.by_topic("strec") == {"1": 1, "2": 0, "3": 0, "4": 0}
    assert every.by_topic("rr") == {"1": 1, "2": 0, "3": 0, "4": 0}
    assert both.means["ia(rr)"] == pytest.approx(1 / 3)
    assert theirs.by_topic("erria(rel=1)") == {"1": 1, "2": 0, "3": 0, "9": 0}


def test_qrels_without_any_intent_are_mentioned() -> None:
    note = "the only subtopic is 0, so there are no intents; measures by intent score 0"
    with pytest.warns(gradedeval.EvaluationWarning, match=note):
        scores = gradedeval.evaluate({"1": {"a": 1}}, {"1": {"a": {"0": 1}}}, "erria rr", subtopics=True)
    assert scores.means == {"erria": 0, "rr": 1}  # a document that no intent has is relevant all the same


@pytest.fixture
def files(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("".join(f"1 Q0 {docno} 1 {score} x\n" for docno, score in RUN["1"].items()))
    (tmp_path / "qrels").write_text("\n".join(lines_of(QRELS)))
    (tmp_path / "plain").write_text("1 0 a 1\n1 0 b 2\n")


@pytest.mark.usefixtures("files")
def test_intents_at_the_prompt(cli: Command) -> None:
    done = cli("run", "qrels", "--subtopics", "-m", "ia(p_5) ia:rr alpha-nDCG@5 erria strec@3 p@5", "-f", "trec")
    assert (done.code, done.messages) == (0, [])
    assert [line.split() for line in done.text.splitlines()] == [
        ["ia(p_5)", "all", "0.3333"],
        ["ia:rr", "all", "0.3444"],
        ["alpha-nDCG@5", "all", "0.6405"],
        ["erria", "all", "0.1538"],
        ["strec@3", "all", "0.6667"],
        ["p@5", "all", "0.8000"],
    ]


NO_INTENTS = "the qrels have no intents; add --subtopics if the second column of the qrels holds them"
NO_PRIOR = "prior=@none: no file 'none'; prior=@FILE reads lines of topic, subtopic and probability"


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("ia(err)", f"'ia(err)': {NO_INTENTS}"),
        ("ia", "'ia': has no measure inside; as in ia(err@20)"),
        ("ia()@5", "'ia()@5': has no measure inside; as in ia(err@20)"),
        ("ia(ia(err))", "'ia(ia(err))': ia(err) is already averaged over intents; write ia(err)"),
        ("ia(strec)", "'ia(strec)': strec already takes all intents into account; write strec"),
        ("ia(num_ret)", "'ia(num_ret)': num_ret counts documents: it has no mean over intents; write num_ret"),
        ("ia(judged@5)", "'ia(judged@5)': judged reads no gains: it has no mean over intents; write judged@5"),
        ("ia(rpb)", "unknown measure 'rpb'; did you mean 'rbp'?"),
        ("ia(p)", "'p': p needs a cutoff; write p@10"),
        ("ia(err@5)@10", "'ia(err@5)@10': has two cutoffs; write ia(err@5)"),
        ("ia(err,prior=some)", "'ia(err)': prior=some is not uniform or a file as in @prior.txt; write ia(err)"),
        *((f"{name}prior=@none)", NO_PRIOR) for name in ("ia(err,", "erria(")),
        (
            "ia(err,rel=2)",
            "'ia(err,rel=2)': the only parameter of ia is prior;"
            " parameters of the measure go in its own parentheses, as in ia(err(rel=2)@20)",
        ),
        ("err(prior=@run)", "'err': unknown parameter 'prior'; it takes gain, rel"),
        ("erria(prior=@run)", f"'erria(prior=@run)': {NO_INTENTS}"),
        ("erria(stop=0)", "'erria': stop=0 is not in (0, 1]; as in stop=1"),
        ("erria(norm=worst)", "'erria': norm=worst is not none or best; as in norm=none"),
        ("alpha_ndcg(alpha=2)", "'alpha_ndcg': alpha=2 is not in [0, 1]; as in alpha=0.5"),
        ("nrbp(beta=1)", "'nrbp': beta=1 is not in [0, 1); as in beta=0.5"),
        ("rprec-ia", "unknown measure 'rprec-ia'; the mean of rprec over intents is ia(rprec)"),
    ],
)
@pytest.mark.usefixtures("files")
def test_a_misuse_is_one_line_before_any_file_is_read(measure: str, message: str, cli: Command) -> None:
    done = cli("run", "/dev/null", "-m", measure)
    assert (done.code, len(done.messages)) == (2, 1)
    assert done.messages[0].startswith(message)


@pytest.mark.usefixtures("files")
def test_missing_subtopics_option_is_an_error(cli: Command) -> None:
    done = cli("run", "plain", "-m", "erria strec@3 err")
    note = "plain was read without --subtopics, so erria, strec@3 treat each topic as having a single intent"
    assert (done.code, done.messages) == (0, [note])
    lines = [line.split() for line in done.text.splitlines() if line.startswith("err")]
    assert lines[0][1] == lines[1][1]
    (Path.cwd() / "twice").write_text("1 1 a 1\n1 2 a 2\n")
    done = cli("run", "twice", "-m", "erria")
    fault = "twice:2: duplicate document 'a' in topic 1 with grade 2 (first on line 1 with grade 1); "
    hint = "use --duplicates first or last to keep one, or --subtopics if the second column is a subtopic"
    assert (done.code, done.messages) == (1, [fault + hint])


@pytest.mark.usefixtures("files")
def test_options_and_presets_apply_to_the_measure_inside(cli: Command) -> None:
    def names(*words: str) -> list[str]:
        done = succeed(cli("run", "qrels", "--subtopics", *words))
        (names,) = re.findall(r" \| names ([^|]+) \| ", done.words)
        return names.split(", ")

    linear = ["ia(err) = ia(err(gain=linear))", "erria = erria(gain=linear)"]
    assert names("-m", "ia(err) erria ia(ap)", "--gain", "linear") == linear
    level_2 = ["ia(ap) = ia(ap(rel=2))", "alpha_ndcg = alpha_ndcg(rel=2)"]
    assert names("-m", "ia(ap) alpha_ndcg ia(err)", "--rel", "2") == level_2
    like_gdeval = ["ia(ndcg@5) = ia(ndcg(gain=exp)@5)"]
    assert names("-m", "ia(ndcg@5) ia(ndcg(gain=linear)@5)", "--like", "gdeval") == like_gdeval


@pytest.mark.usefixtures("files")
def test_a_mean_over_intents_has_no_weights(cli: Command) -> None:
    for words in (["-m", "ia(rbp)"], ["run", "qrels", "--subtopics", "-m", "ia(ap)"]):
        done = cli("weights", *words)
        assert (done.code, len(done.messages)) == (2, 1)
        assert "a mean over intents has no weights; use the measure inside" in done.messages[0]
    assert cli("weights", "-m", "nrbp(alpha=0)", "--ranks", "2").text == "rank,nrbp(alpha=0)\n1,0.5\n2,0.25\n"


@pytest.mark.parametrize("alpha", ["0", "1e-9"])
def test_a_sum_that_has_no_end_asks_for_a_cutoff(alpha: str) -> None:
    with pytest.raises(InputError, match=r"an infinite sum; add a cutoff") as error:
        parse_measures(f"alpha_dcg(alpha={alpha},norm=best)")
    assert error.value.usage
    assert parse_measures(f"alpha_dcg(alpha={alpha},norm=best)@20 alpha_dcg(alpha={alpha})")


def test_the_quantities_of_cwl_measures_have_means_too() -> None:
    # RBP's user always sees 1 / (1 − 0.8) documents; that of nerr5, without a stop, all documents.
    _, score, _, _ = evaluate_topics(
        [(["d"], {"d": {"1": 1, "2": 1}})], "ia(rbp(of=ed)) ia(rbp(of=etc)) ia(nerr5(of=ed))"
    )
    assert score[0] == pytest.approx([5, 5, math.inf])


def test_signed_differences_are_of_no_mean_over_intents() -> None:
    _, _, residual, _ = evaluate_topics([(["d"], BASE)], "ia(rbp) rbp erria", residuals="difference")
    assert np.isnan(residual[0]).tolist() == [True, False, True]


def test_a_user_defined_measure_may_look_at_intents() -> None:
    @gradedeval.measure(gain="binary", intents=True)
    def both(g: gradedeval.Gains) -> Any:
        """Return the number of intents that the first document covers."""
        assert g.intents is not None
        return g.intents.total([intent.relevant[:, :1].sum(1) for intent in g.intents.each])

    scores = gradedeval.evaluate({"1": {"a": 1}}, QRELS, both, subtopics=True)
    assert scores.means == {"both": 2}


# ndeval's names and ours. At rank 1 its ERR-IA and alpha-DCG are left out: they are not divided there.
NDEVAL = {
    **{f"ERR-IA@{k}": f"erria(rel=1,stop=0.5,norm=best)@{k}" for k in (2, 5, 10, 20)},
    **{f"nERR-IA@{k}": f"nerria(rel=1,stop=0.5)@{k}" for k in (1, 5, 10, 20)},
    **{f"alpha-DCG@{k}": f"alpha_dcg(norm=best)@{k}" for k in (2, 5, 10, 20)},
    **{f"alpha-nDCG@{k}": f"alpha_ndcg@{k}" for k in (1, 5, 10, 20)},
    **{f"P-IA@{k}": f"ia(p@{k})" for k in (1, 5, 10, 20)},
    **{f"strec@{k}": f"strec@{k}" for k in (1, 5, 10, 20)},
    "NRBP": "nrbp",
    "nNRBP": "nnrbp",
    "MAP-IA": "ia(ap)",
}


def test_err_ia_at_1_differs_from_pyndeval() -> None:
    # A document relevant to one of two intents. pyndeval 0.0.8 gives 1 at rank 1, the bare sum: divided neither by the
    # number of intents nor by the best there is. At rank 2 it divides by both, and so do we at every rank.
    pyndeval = pytest.importorskip("pyndeval")
    lines = [("1", "1", "a", 1), ("1", "2", "b", 1)]
    theirs = pyndeval.ndeval(lines, [("1", "a", 2.0), ("1", "x", 1.0)], ["ERR-IA@2"])["1"]
    topic: tuple[Listed, Judged] = (["a", "x"], {"a": {"1": 1}, "b": {"2": 1}})
    _, score, _, _ = evaluate_topics([topic], [parse_measures(NDEVAL["ERR-IA@2"])[0] @ k for k in (1, 2)])
    assert score[0] == pytest.approx([1 / 2, 1 / 2 / (1 + 1 / 2 / 2)])
    assert theirs["ERR-IA@2"] == pytest.approx(score[0, 1])


@shared
@pytest.mark.parametrize(
    ("name", "alpha"),
    sampled(
        [
            ("2009-qrels.diversity", 0.5),  # lists subtopic 0
            ("2010-10.diversity-qrels.final.txt", 0.5),  # has only positive judgments
            ("2009-qrels.diversity", 0.25),
            ("2010-10.diversity-qrels.final.txt", 0.25),
            ("2011-qrels.diversity.txt", 0.25),  # has grades from −2 to 3
            ("2011-qrels-for-ndeval.txt", 0.5),
            ("2011-qrels.diversity.txt", 0.5),
            ("2011-qrels-for-ndeval.txt", 0.25),
        ],
        8,
        4,
    ),
)
def test_every_topic_of_the_web_track_scores_as_in_ndeval(name: str, alpha: float) -> None:
    pyndeval = pytest.importorskip("pyndeval")
    lines = [line.split() for line in (WEB_TRACK / name).read_text().splitlines()]
    best: dict[str, dict[str, int]] = {}
    for topic, _, docno, grade in lines:
        documents = best.setdefault(topic, {})
        documents[docno] = max(documents.get(docno, -9), int(grade))
    qrels = Qrels(WEB_TRACK / name, subtopics=True)
    # Sums of powers of ½ are exact. Of ¾ they are not, and a tie of the greedy order may be none to ndeval.
    precision = 1e-12 if alpha == 0.5 else 1e-9
    dice = random.Random(f"{name} {alpha}")
    beta = 0.5 if alpha == 0.5 else 0.8
    parameters = {"erria": {"stop": alpha}, "nerria": {"stop": alpha}}
    parameters |= {"alpha_dcg": {"alpha": alpha}, "alpha_ndcg": {"alpha": alpha}}
    parameters |= {"nrbp": {"alpha": alpha, "beta": beta}, "nnrbp": {"alpha": alpha, "beta": beta}}
    ours = {theirs: parse_measures(text)[0] for theirs, text in NDEVAL.items()}
    ours = {theirs: measure(**parameters.get(measure.name, {})) for theirs, measure in ours.items()}
    for skill in (0, 1, 3, 10):
        run = {}
        for topic, documents in best.items():
            names = dice.sample(sorted(documents), dice.randint(1, len(documents)))
            names += [f"unjudged-{number}" for number in range(dice.randint(0, 50))]
            # One decimal: there are ties, which ndeval orders by ascending docno.
            run[topic] = {docno: round(dice.random() * 8 + skill * documents.get(docno, 0), 1) for docno in names}
        scores = gradedeval.evaluate(run, qrels, list(ours.values()), ties="docno-asc")
        expected = pyndeval.ndeval(
            [(topic, subtopic, docno, int(grade)) for topic, subtopic, docno, grade in lines],
            [(topic, docno, score) for topic, documents in run.items() for docno, score in documents.items()],
            list(ours),
            alpha=alpha,
            beta=beta,
        )
        assert len(expected) == len(qrels)
        for theirs, measure in ours.items():
            by_topic = {topic: values[theirs] for topic, values in expected.items()}
            assert scores.by_topic(measure) == pytest.approx(by_topic, abs=precision), theirs
