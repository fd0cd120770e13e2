"""Measures in other tools' notation have the same meaning here, or a line notes the difference."""

import random
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.errors import synonyms
from gradedeval.kernel.measures.parse import canonical
from gradedeval.kernel.measures.spellings import DIFFERENT, _edits
from gradedeval.measures import ALIASES, MEASURES, parse_measures
from support.cwl import their_class
from support.examples import sampled
from support.spellings import (
    BY_INTENT,
    CWL_EVAL,
    EVALUATOR,
    IR_MEASURES,
    MTEB,
    RANX,
    RANX_QRELS,
    RANX_RUN,
    SEVERAL,
    TREC_EVAL,
)

RANX_NAMES = {spelled: here for spelled, (here, _) in RANX.items()}
QUIETLY = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
ALL = {**IR_MEASURES, **BY_INTENT, **TREC_EVAL, **RANX_NAMES, **MTEB, **EVALUATOR, **CWL_EVAL}


def collection() -> tuple[dict[str, dict[str, float]], list[tuple[str, str, str, int]]]:
    """Return a run without ties, and judgments with intents: topic, intent, docno, grade."""
    dice, run, rows = random.Random(3), {}, []
    for topic in map(str, range(8)):
        docnos = [f"d{number}" for number in range(40)]
        for intent in range(1, dice.choice([2, 3, 5])):
            rows += [(topic, str(intent), docno, dice.choice([0, 1, 1, 2, 3])) for docno in dice.sample(docnos, 12)]
        run[topic] = dict(zip(dice.sample(docnos, 30), map(float, dice.sample(range(999), 30)), strict=True))
    run["0"] = dict(list(run["0"].items())[:6])
    return run, rows


RUN, JUDGED = collection()
QRELS: dict[str, dict[str, int]] = {}
for topic, _, docno, grade in JUDGED:
    QRELS.setdefault(topic, {})[docno] = grade


def by_topic(spelled: str, **options: Any) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gradedeval.evaluate(RUN, options.pop("qrels", QRELS), spelled, **options).by_topic(spelled)


@pytest.mark.parametrize(("spelled", "here"), ALL.items())
def test_a_spelling_of_another_tool_is_a_measure_here(spelled: str, here: str) -> None:
    (measure,) = parse_measures(spelled)
    assert (measure, measure.label) == (parse_measures(here)[0], spelled)
    assert parse_measures(str(measure)) == [measure]


@pytest.mark.parametrize(("spelled", "here"), SEVERAL.items())
def test_names_of_several_lines_are_several_measures(spelled: str, here: list[str]) -> None:
    measures = parse_measures(spelled)
    assert measures == parse_measures(here)
    assert {measure.label.rpartition("_")[0] for measure in measures} == {spelled.partition(".")[0]}


def test_every_name_in_the_tables_of_other_tools_is_tried() -> None:
    tried = {re.split(r"[(@]|[._]\d", spelled)[0].lower() for spelled in [*ALL, *SEVERAL]}
    unknown = {"err-ia", "nerr-ia", "map-ia", "p-ia", "alpha-dcg", "alpha-ndcg", "dcg_burges", "compatibility", "unj"}
    unknown |= {"msndcg", "hit"}
    assert ALIASES.keys() - tried <= unknown | {"map_cut", "ndcg_cut"}


def by_ir_measures(spelled: str) -> dict[str, float]:
    """Return the values of ir_measures by topic."""
    ir_measures = pytest.importorskip("ir_measures")
    measure = ir_measures.parse_measure(spelled)
    try:
        return {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], QRELS, RUN)}
    except (ValueError, OSError) as error:
        pytest.skip(f"ir_measures has no provider here: {error}")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("spelled", [name for name in IR_MEASURES if name.split("(")[0].split("@")[0] not in DIFFERENT])
def test_values_equal_ir_measures(spelled: str) -> None:
    theirs = by_ir_measures(spelled)
    rounded = 1e-5 if "exp-log2" in spelled else 1e-9  # gdeval prints five digits
    assert by_topic(spelled) == pytest.approx(theirs, abs=rounded)


@pytest.mark.parametrize(
    ("spelled", "options"),
    [
        ("ERR@10", {"top_grade": 4}),
        ("Bpref", {}),
        ("BPref(rel=2)", {}),
        ("infAP", {}),
        ("Accuracy", {}),
        ("Accuracy(rel=2)@10", {}),
    ],
)
def test_measures_with_documented_differences_agree_otherwise(spelled: str, options: dict[str, Any]) -> None:
    theirs = by_ir_measures(spelled)
    scores = by_topic(spelled, **options)
    assert {topic: scores[topic] for topic in theirs} == pytest.approx(theirs, abs=1e-5 if "ERR" in spelled else 1e-9)
    assert len(theirs) > 5


@pytest.mark.parametrize("spelled", [name for name in BY_INTENT if not name.startswith("alpha_DCG")])
def test_values_equal_pyndeval(spelled: str) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pyndeval")
    import pandas as pd

    judged = pd.DataFrame(JUDGED, columns=["query_id", "iteration", "doc_id", "relevance"])
    ranked = [ir_measures.ScoredDoc(topic, docno, score) for topic in RUN for docno, score in RUN[topic].items()]
    theirs = ir_measures.iter_calc([ir_measures.parse_measure(spelled)], judged, ranked)
    scores = by_topic(spelled, qrels=judged, subtopics=True)
    assert scores == pytest.approx({metric.query_id: metric.value for metric in theirs}, abs=1e-6)


NOT_A_NUMBER = [("hit_rate@k", "hit_rate@10"), ("ndcg@K", "ndcg@10"), ("cosine_ndcg@k", "cosine_ndcg@10")]


@pytest.mark.parametrize(("spelled", "example"), NOT_A_NUMBER)
def test_the_error_for_a_letter_in_place_of_a_cutoff_has_an_example(spelled: str, example: str) -> None:
    with pytest.raises(InputError, match=f"the cutoff . is not a number; as in {example}"):
        parse_measures(spelled)
    assert len(parse_measures(example)) == 1


def test_names_of_evaluators_have_the_values_of_their_formulas() -> None:
    """Compare to sentence-transformers' loops over the first k documents, reimplemented."""
    relevant = {topic: {docno for docno, grade in docs.items() if grade > 0} for topic, docs in QRELS.items()}
    scores = {name: by_topic(name) for name in ("cosine_map@5", "cosine_ndcg@5", "cosine_accuracy@1", "R_cap@5")}
    for topic, judged in relevant.items():
        first = sorted(RUN[topic], key=lambda docno: -RUN[topic][docno])[:5]
        hits = [docno in judged for docno in first]
        precisions = [sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits) if hit]
        ideal = sum(1 / np.log2(i + 2) for i in range(min(5, len(judged))))
        expected = {
            "cosine_map@5": sum(precisions) / min(5, len(judged)),
            "cosine_ndcg@5": sum(hit / np.log2(i + 2) for i, hit in enumerate(hits)) / ideal,
            "cosine_accuracy@1": float(hits[0]),
            "R_cap@5": sum(hits) / min(5, len(judged)),
        }
        assert {name: scores[name][topic] for name in scores} == pytest.approx(expected, abs=1e-12)


def test_values_equal_pytrec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    names = [
        name for name in TREC_EVAL if "." not in name and re.split(r"_[\d]", name)[0] in pytrec_eval.supported_measures
    ]
    names = [name for name in names if name not in ("runid", "11pt_avg", "iprec_at_recall_0.10", "num_q")]
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, set(names)).evaluate(RUN)
    scores = gradedeval.evaluate(RUN, QRELS, names)
    assert len(names) > 20
    for name in names:
        if not name.startswith("gm_"):  # pytrec_eval gives their logarithms
            assert scores.by_topic(name) == pytest.approx({topic: theirs[topic][name] for topic in RUN}, abs=1e-9)


@pytest.mark.parametrize(("spelled", "theirs"), [(name, mean) for name, (_, mean) in RANX.items() if mean is not None])
def test_values_equal_ranx(spelled: str, theirs: float) -> None:
    assert gradedeval.evaluate(RANX_RUN, RANX_QRELS, spelled)[spelled] == pytest.approx(theirs, abs=1e-12)


def test_names_of_cwl_eval_equal_its_output() -> None:
    ruler = pytest.importorskip("cwl.ruler.cwl_ruler")
    printed = [name.strip() for name in CWL_EVAL if "CWLMetric" not in name]
    for written in (name for name in CWL_EVAL if "CWLMetric" in name):
        name, values = written[:-1].split("(")
        numbers = [float(value) if "." in value else int(value) for value in values.split(",") if value]
        metric = getattr(ruler, name)(*numbers)
        if name[:2] not in ("Pr", "RR", "AP"):  # with names of binary measures
            here = parse_measures(metric.metric_name.strip())
            assert str(here[0]).split("mid")[0].rstrip(",)") == CWL_EVAL[written].split(",mid")[0].rstrip(")")
    assert len(printed) > 12


@pytest.mark.parametrize(
    ("spelled", "problem"),
    [
        ("AP(judged_only=1)", "judged_only=1 is not True or False; write judged_only=True, or leave it out"),
        ("Compat(normalize=False)", "compatibility is always normalized here"),
        ("nDCG(dcg='ln')@10", "dcg=ln is not log2 or exp-log2"),
        ("nDCG(gains={a:1})@10", "gains are grade:gain in braces; as in gains={1:1,2:3}"),
        ("INST(min_rel=1)", "min_rel and max_rel are the grades with gains 0 and 1; as in max_rel=3"),
        ("ndcg_burges@10-l2", r"list the gains, as in ndcg\(gain=0:0:3:7\)@10"),
        ("nDCG(gains={0:1,1:2},dcg='exp-log2')@10", "dcg and gains both set the gains; give one of them"),
        ("SDCG(max_rel=4,dcg='exp-log2')@10", "dcg and max_rel both set the gains; give one of them"),
        ("RBPCWLMetric(0.9,3)", r"more values than RBPCWLMetric takes: p; leave out 3"),
        ("relstring", "`gradedeval trec_eval -m relstring` prints it"),
        ("FooCWLMetric(2)", "unknown measure 'foocwlmetric'"),
    ],
)
def test_names_without_an_equivalent_are_refused(spelled: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_measures(spelled)


@QUIETLY
def test_names_with_another_meaning_in_other_tools_are_noted() -> None:
    def notes(measure: str, qrels: Any, **options: Any) -> list[str]:
        notes = gradedeval.evaluate(RUN, qrels, measure, **options).notes
        return [note for note in notes if "ir_m" in note or "ranx" in note]

    spam = {topic: {**judged, "d0": -1} for topic, judged in QRELS.items()}
    assert notes("ERR@20", QRELS) == ["ERR@20: in ir_measures and gdeval the top grade is always 4; top_grade=4"]
    assert notes("ERR@20", QRELS, top_grade=4) == notes("err@20", QRELS) == notes("ERR@20", QRELS, like="gdeval") == []
    assert notes("Bpref", QRELS) == notes("Bpref", spam, negative="unjudged") == []
    assert len(notes("Bpref", spam)) == len(notes("Compat", QRELS)) == len(notes("rbp.95", QRELS)) == 1


@QUIETLY
@pytest.mark.one_in(3)
@pytest.mark.parametrize("spelled", [name for name in CWL_EVAL if name not in ("P@10", "AP", "RR")])
def test_values_equal_cwl_eval_with_its_preset_and_have_a_note_without(spelled: str) -> None:
    judged = {topic: {docno: grade / 4 for docno, grade in grades.items()} for topic, grades in QRELS.items()}
    plain = gradedeval.evaluate(RUN, judged, spelled)
    there = gradedeval.evaluate(RUN, judged, spelled, like="cwl_eval")
    higher = gradedeval.evaluate(RUN, QRELS, spelled)
    (note,) = [note for note in higher.notes if "in cwl_eval" in note]
    cure = dict(re.findall(r"(\w+)=\W?(\w+)", note.partition("; ")[2]))
    cured = gradedeval.evaluate(RUN, QRELS, spelled, **cure)
    assert sum(note.startswith(f"{spelled}: in cwl_eval") for note in plain.notes) == 1
    assert cure == {"like": "cwl_eval", "gain": "linear"}
    assert not any("in cwl_eval" in note for note in [*there.notes, *cured.notes])
    ranking = pytest.importorskip("cwl.ruler.ranking")
    name, parameters = of_cwl_eval(spelled)
    metric = their_class(name)(*parameters)
    metric.residuals = False
    for topic, scores in RUN.items():
        gains = np.array([judged[topic].get(docno, np.nan) for docno in scores])
        metric.measure(ranking.Ranking(topic, gains, np.full(len(gains), np.nan)))
        assert there.by_topic(spelled)[topic] == pytest.approx(metric.expected_utility, abs=1e-9)


def of_cwl_eval(spelled: str) -> tuple[str, list[float]]:
    """Return the class of cwl_eval and its parameters, as written or from the equivalent line of metrics."""
    classes = {
        "RBP": "RBP", "NDCG": "NDCG", "INST": "INST", "INSQ": "INSQ", "TBG": "TBG", "U": "UMeasure", "NPV": "NPV",
        "BPM-Static": "BPM", "BPM-Dynamic": "BPMD", "IFT-C1": "IFTGoal", "IFT-C2": "IFTRate",
        "IFT-C1-C2": "IFTGoalRate", "NERR-EQ8": "NERReq8", "NERR-EQ9": "NERReq9",
        "NERR-EQ10": "NERReq10", "NERR-EQ11": "NERReq11",
    }  # fmt: skip
    if "CWLMetric" in spelled:
        name, values = spelled[:-1].split("(")
        numbers = [value for value in values.split(",") if value]
    else:
        name = max((short for short in classes if spelled.startswith(short)), key=len)
        numbers = re.findall(r"[\d.]+", re.sub(r"\b[a-zA-Z]+\d?(?=[=@])", "", spelled.removeprefix(name)))
        name = f"{classes[name]}CWLMetric"
    return name, [float(number) if "." in number else int(number) for number in numbers]


def misspelt(name: str) -> Iterator[str]:
    """Yield the name with a letter left out, doubled, or swapped with the next."""
    for position in range(len(name)):
        yield name[:position] + name[position + 1 :]
        yield name[:position] + name[position] + name[position:]
        if position + 1 < len(name):
            yield name[:position] + name[position + 1] + name[position] + name[position + 2 :]


@pytest.mark.parametrize("count", [50, pytest.param(10_000, marks=pytest.mark.exhaustive)])
def test_no_misspelling_suggests_an_unrelated_measure(count: int) -> None:
    by_pattern = MTEB.keys() | EVALUATOR.keys()  # these names are in no table
    names = {re.split(r"[(@]|[._]\d|-l\d", spelled)[0] for spelled in [*ALL, *SEVERAL] if spelled not in by_pattern}
    every = sorted({wrong for name in names for wrong in misspelt(name)})
    valid, tried = [*MEASURES, *ALIASES], 0
    for wrong in random.Random(1).sample(every, min(count, len(every))):
        try:
            parse_measures(wrong)
        except InputError as error:
            meant = re.fullmatch(r"did you mean '([^'@]+)(?:@\d+)?'\?", error.hint)
            if "unknown measure" in error.problem and meant:
                tried += 1
                written = wrong.lower(), wrong.lower().rstrip("0123456789_-")
                if written[1] in synonyms()["measures"]:
                    continue  # the word of another tool
                edits = min(_edits(text, meant[1]) for text in written)
                assert edits <= 1 or edits <= min(_edits(written[0], target) for target in valid), (wrong, meant[1])
    assert tried > count / 3 or tried > 300


@pytest.mark.parametrize("strange", ["gain", "mean", "trap", "bm25", "hitz5x", "xyz"])
def test_a_name_like_no_other_suggests_none(strange: str) -> None:
    with pytest.raises(InputError, match="`gradedeval measures` lists them"):
        parse_measures(strange)


def test_hits_are_not_foraging() -> None:
    assert parse_measures("hits")[0].name == "hits"
    assert parse_measures("hit")[0].name == "success"


LONG = "put long values in a file, as in gain=@gains.csv"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(" * 30_000, "has parentheses more than 100 deep; leave some of them out"),
        ("ia(" * 7_500 + "ap" + ")" * 7_500, "has parentheses more than 100 deep; leave some of them out"),
        ("cwl(C=" + "(" * 101 + "r" + ")" * 101 + ")", "has parentheses more than 100 deep; leave some of them out"),
        ('ap(x="' + "(" * 100_000, f"is longer than 4,096 characters; {LONG}"),
        ("P." + ",".join("5" * 3000), f"is longer than 4,096 characters; {LONG}"),
    ],
)
def test_the_error_for_an_expression_of_hostile_size_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_measures(f"ap {text}")
    assert str(raised.value) == f"{text[:40] + '…'!r}: {problem}"
    assert raised.value.usage
    assert canonical(text) == text


def test_long_lists_and_deep_formulas_are_read() -> None:
    (measure,) = parse_measures(f"ndcg(gain={':'.join(['0.125'] * 600)})")
    assert parse_measures(str(measure)) == [measure]
    deep = "(" * 60 + "0.5" + ")" * 60
    assert parse_measures(f"cwl(C={deep})") == parse_measures(f'cwl(C="{deep}")')


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("rbp(p=0.50)", {"p": 0.5}),
        ("ap(rel=0002)", {"rel": 2}),
        ("insq(T=1000000000000000000000)", {"T": 1e21}),
        (f"insq(T={'1' * 300})", {"T": float("1" * 300)}),
        ("tbg(h=1e308)", {"h": 1e308}),
        ("insq(T=1e400)", None),
        (f"insq(T={'1' * 4000})", None),
        (f"ap(rel=-{'1' * 4000})", None),
        ("ap(rel=１)", None),
        ("ap(rel=1_0)", None),
        ("ap@１０", None),
        ("p@1_0", None),
    ],
)
def test_a_number_is_a_finite_decimal_of_ascii_digits(text: str, means: dict[str, float] | None) -> None:
    if means is not None:
        (measure,) = parse_measures(text)
        assert dict(measure.parameters) == means
        assert parse_measures(str(measure)) == [measure]
    else:
        with pytest.raises(InputError):
            parse_measures(text)


HUGE = ("1e308", "1e-308", "5e-324", "9" * 30, "9" * 18, "0.9999999999999999", "-1e308")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "form",
    sampled(
        [
            *(f"{name}({parameter}={{}}){cutoff}"
              for name, measure in MEASURES.items()
              for parameter, default in measure.definition.parameters.items()
              if not isinstance(default, str) and parameter not in ("file", "of")
              for cutoff in (("@10",) if measure.definition.cutoff == "required" else ("", "@10", f"@{'9' * 18}"))
              if not (cutoff and measure.definition.cutoff == "none")),
            *(f"{name}@{'9' * 18}" for name, measure in MEASURES.items() if measure.definition.cutoff != "none"),
        ],
        25,
    ),
)  # fmt: skip
def test_a_number_of_any_size_is_a_score_or_one_line(form: str) -> None:
    run = {"1": {"a": 3.0, "b": 2.0, "u": 1.0}, "2": {"c": 1.0}}
    qrels = {"1": {"a": 1, "b": 2, "d": 0}, "2": {"c": 0, "e": 2}}
    for value in HUGE:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", gradedeval.EvaluationWarning)
            for options in ({"residuals": True}, {"bounds": True}):
                try:
                    gradedeval.evaluate(run, qrels, form.format(value), **options)  # type: ignore[arg-type]
                except InputError as error:
                    assert len(str(error).splitlines()) == 1  # noqa: PT017


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("map,bpref", ["map", "bpref"]),
        ("ndcg@5,10,20", ["ndcg@5", "ndcg@10", "ndcg@20"]),
        ("ndcg@1..3", ["ndcg@1", "ndcg@2", "ndcg@3"]),
        ("ndcg@5,10,ap", ["ndcg@5", "ndcg@10", "ap"]),
        ("rbp(p=0.5,gain=exp)@5,10", ["rbp(p=0.5,gain=exp)@5", "rbp(p=0.5,gain=exp)@10"]),
        ("P.5,10", ["P_5", "P_10"]),
        ("rbp:p=0.5,gain=exp@10", ["rbp:p=0.5,gain=exp@10"]),
        ("err(gain=0:1:2),ap", ["err(gain=0:1:2)", "ap"]),
    ],
)
def test_a_word_may_name_several(written: str, names: list[str]) -> None:
    assert [measure.label for measure in parse_measures(written)] == names


@pytest.mark.parametrize("written", ["ndcg@3..1", "ndcg@1..1001"])
def test_ranges_of_cutoffs_ascend_and_are_finite(written: str) -> None:
    says = r"is not an ascending range of at most 1,000 cutoffs; for example 'ndcg@1\.\.10'"
    with pytest.raises(InputError, match=says):
        parse_measures(written)


def test_accuracy_at_a_rank_is_noted_to_be_that_of_ir_measures() -> None:
    run, qrels = {"1": {"a": 1.0, "b": 0.5}}, {"1": {"a": 0, "b": 1}}
    with pytest.warns(gradedeval.EvaluationWarning, match="^accuracy@2: as in ir_measures, pairs .* success@3$"):
        gradedeval.evaluate(run, qrels, "accuracy@2")
    notes = gradedeval.evaluate(run, qrels, "accuracy success@2").notes
    assert not [note for note in notes if note.startswith("accuracy")]
