"""Weights of ranks: fixed ones against their closed forms, background ones by hand and against loops over all ranks."""

import contextlib
import csv
import io
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import gradedeval
from gradedeval import MEASURES, EvaluationWarning, InputError, Measure, parse_measures
from gradedeval.kernel import parallel
from gradedeval.kernel.measures.parse import DEFAULT
from gradedeval.questions.weights import static_weights
from support.commands import Command, Outcome, succeed
from support.examples import sampled
from support.paths import DATA, shared
from support.runs import write_qrels, write_run
from support.terminal import at_terminal

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")

Run = Mapping[str, Mapping[str, float]]
Judgments = Mapping[str, Mapping[str, int]]


def column(weights: gradedeval.Weights, name: str) -> list[float]:
    return [float(weight) for weight in weights.frame[name]]


# Topic 1 has R = 2 and N = 1, topic 2 has R = 1 and N = 2; u is unjudged, and the second run lacks topic 2.
QRELS = {"1": {"a": 1, "b": 1, "c": 0}, "2": {"x": 1, "y": 0, "z": 0}}
RUNS: dict[str, Run] = {
    "first": {"1": {"a": 3.0, "u": 2.0, "c": 1.0}, "2": {"y": 2.0, "x": 1.0}},
    "second": {"1": {"c": 2.0, "b": 1.0}},
}
# Sums over first/1, first/2, second/1 and second/2, at ranks 1 to 4; each is a quarter of the sum of its line.
BY_HAND = {
    # 1/2 1/4 1/6 1/8 + 0 1/2 1/3 1/4 + 0 1/4 1/6 1/8 + 0
    "ap": "1/2 1 2/3 1/2",
    # 1 0 0 0 + 0 1/2 0 0 + 0 1/2 0 0 + 0
    "rr": "1 1 0 0",
    # 1 1/2 1/3 1/4 + 0 1/2 1/3 1/4 + 0 1/2 1/3 1/4 + 0
    "sp": "1 3/2 1 3/4",
    # 1/2 1/4 1/5 1/6 + 0 2/3 1/2 2/5 + 0 1/4 1/5 1/6 + 0
    "q": "1/2 7/6 9/10 11/15",
    # 1/2 1/2 0 0 + 1/2 1/2 1/2 1/2 + 0 + 1 1 1 1: an empty ranking has no document above the relevant one
    "bpref(k=10)": "2 2 3/2 3/2",
    # 1/2 1/2 0 0 + 0 + 0 + 1 1 1 1
    "bpref": "3/2 3/2 1 1",
    "ap@2": "1/2 1 0 0",
}


@pytest.fixture
def by_hand() -> gradedeval.Weights:
    return gradedeval.weights(" ".join(BY_HAND), RUNS, QRELS, ranks=4)


@pytest.mark.parametrize("name", BY_HAND)
def test_two_systems_and_two_topics_by_hand(name: str, by_hand: gradedeval.Weights) -> None:
    expected = [float(Fraction(fraction)) / 4 for fraction in BY_HAND[name].split()]
    assert column(by_hand, name) == pytest.approx(expected, abs=1e-15)


def test_the_weight_past_the_last_rank_is_known_for_rr_and_unbounded_for_others() -> None:
    weights = gradedeval.weights("rr ap ap@1", RUNS, QRELS, ranks=1, topics="both")
    # Reciprocal ranks of 1, 1/2 and 1/2: half of all weight lies at rank 2.
    assert weights.beyond.tolist() == pytest.approx([0.5, math.nan, 0], nan_ok=True)
    endless = "ap: weights go on past rank 1, and their sum is not known"
    assert weights.remarks == ["rr: 0.5 of its weight lies past rank 1", endless]


def test_topics_of_one_run_alone_count_as_pairs() -> None:
    """Count the second run in topic 1 only, by --topics both: the mean is over three pairs."""
    weights = gradedeval.weights("bpref", RUNS, QRELS, ranks=2, topics="both")
    assert weights.notes[-1] == 'the runs count in different topics; topics="qrels" counts the same for all'
    assert column(weights, "bpref") == pytest.approx([1 / 6, 1 / 6])


def test_topics_without_relevant_documents_have_no_weight_and_are_counted() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 0}}
    run = {"1": {"a": 1.0}, "2": {"b": 1.0}}
    problem = r"^qrels: 1 of 2 topics has no relevant documents for ap, bpref \(2\) and gets weights of 0$"
    with pytest.warns(EvaluationWarning, match=problem):
        weights = gradedeval.weights("ap sp bpref", run, qrels, ranks=2)
    # Topic 1 has N = 0: no document can stand above a, so each rank weighs 1/R there.
    assert weights.values.tolist() == [[0.5, 0.5, 0.5], [0.25, 0.25, 0.5]]
    assert gradedeval.weights("ap", run, qrels, ranks=1, topics="relevant", topics_from=["1"]).values == 1.0


def test_topics_without_judgments_count_on_request() -> None:
    run = {"1": {"a": 1.0}, "9": {"b": 1.0}}
    weights = gradedeval.weights("ap", run, {"1": {"a": 1}}, ranks=1, topics="run")
    assert weights.values.tolist() == [[0.5]]
    assert weights.notes[-1] == "qrels: 1 of 2 topics has no relevant documents for ap (9) and gets weights of 0"


def ranking(run: Run, topic: str) -> list[str]:
    documents = run.get(topic, {})
    return sorted(documents, key=lambda docno: (-documents[docno], docno))


def looped(name: str, runs: Mapping[str, Run], qrels: Judgments, depth: int, k: int = 10) -> list[float]:
    """Compute the definitions of Zhang et al., sections 3.3 and 3.4, one system, topic and rank after the other."""
    mean = [0.0] * depth
    for run in runs.values():
        for topic, grades in qrels.items():
            relevant = {docno for docno, grade in grades.items() if grade >= 1}
            R, N = len(relevant), len(grades) - len(relevant)
            hits = J = 0
            for i in range(1, depth + 1):
                docnos = ranking(run, topic)[i - 1 : i]
                retrieved = any(docno in relevant for docno in docnos)
                hits += retrieved
                J += any(docno in grades for docno in docnos)
                if name == "rr":
                    weight = 1 / i if retrieved and hits == 1 else 0.0
                elif name == "sp":
                    weight = hits / i
                elif not R:
                    weight = 0.0
                elif name == "ap":
                    weight = hits / (i * R)
                elif name == "q(rel=1)":
                    weight = 2 * hits / ((i + min(i, R)) * R)
                else:
                    weight = 1 / R - (min(k + R, J - hits) / (min(k + R, N) * R) if N else 0)
                mean[i - 1] += weight / (len(runs) * len(qrels))
    return mean


def drawn(seed: int, grades: Sequence[int] = (-1, 0, 0, 1, 2)) -> tuple[dict[str, Run], Judgments]:
    """Return random runs and judgments: topics without relevant or without other documents, short and missing
    rankings."""
    draw = random.Random(seed)
    docnos = [f"d{number:02}" for number in range(25)]
    qrels = {
        str(topic): {docno: draw.choice(pool) for docno in draw.sample(docnos, draw.randint(1, 20))}
        for topic, pool in enumerate([grades, grades, grades, (0,), (1,)], 1)
    }
    qrels["1"]["d00"] = max(grades)  # so that the scale does not depend on the draw
    runs: dict[str, Run] = {}
    for number in range(4):
        listed = draw.sample(sorted(qrels), draw.randint(3, 5))
        runs[f"run{number}"] = {
            topic: {docno: draw.random() for docno in draw.sample(docnos, draw.randint(1, 25))} for topic in listed
        }
    return runs, qrels


NAIVE = ("ap", "sp", "rr", "q(rel=1)", "bpref(k=10)")


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cells", [1, 64, 1 << 18])
def test_batches_equal_loops_over_systems_and_ranks(seed: int, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "LIMITS", parallel.Limits(cells=cells))
    runs, qrels = drawn(seed)
    for depth in (1, 7, 40):
        weights = gradedeval.weights(NAIVE, runs, qrels, ranks=depth)
        for name in NAIVE:
            assert column(weights, name) == pytest.approx(looped(name, runs, qrels, depth), abs=1e-14)
    # No ranking is longer than 40: not even a rounding error is left beyond.
    assert weights.beyond[weights.columns.index("rr") - 1] == 0


WEIGHTED = ["ap", "ap(rel=2)", "ap@3", "rr", "rr@2", "sp", "sp@5", "bpref", "bpref(k=10)", "bpref@4"]
WEIGHTED += ["q", "q(rel=1)", "q(beta=10)", "q(gain=exp)@6"]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", sampled(WEIGHTED, 3))
def test_a_ranking_has_the_same_score_by_its_weights_and_by_the_measure(name: str) -> None:
    """Check that AP and its kin are inner products of relevance and weights (Zhang et al., equation 1)."""
    least = dict(parse_measures(name)[0].parameters).get("rel", 1)
    for seed in range(5):
        runs, qrels = drawn(seed)
        for run in runs.values():
            for topic, documents in run.items():
                judged = {"other": {"d": 2}, topic: qrels[topic]}
                options = {"topics_from": [topic], "topics": "both"}
                weights = gradedeval.weights(name, {topic: documents}, judged, ranks=30, **options)
                relevant = [judged[topic].get(docno, 0) >= least for docno in ranking(run, topic)]
                inner = float(np.dot(relevant, weights.values[: len(relevant), 0]))
                score = gradedeval.evaluate({topic: documents}, judged, name, **options)  # type: ignore[arg-type]
                assert inner == pytest.approx(next(iter(score.means.values())), abs=1e-14)


def test_interleaved_topics_weigh_like_grouped_ones(tmp_path: Path) -> None:
    runs, qrels = drawn(3)
    lines = write_run(tmp_path / "sorted.run", runs["run0"]).read_text().splitlines(keepends=True)
    (tmp_path / "turns.run").write_text("".join(sorted(lines, key=lambda line: line.split()[2])))
    files = [tmp_path / f"{name}.run" for name in ("sorted", "turns")]
    by_topic, in_turns = (gradedeval.weights(NAIVE, file, qrels, ranks=30).values for file in files)
    assert in_turns == pytest.approx(by_topic, abs=1e-15)
    assert by_topic[:, 0] == pytest.approx(looped("ap", {"run0": runs["run0"]}, qrels, 30))


def test_reading_options_change_the_scores() -> None:
    run = {"1": {"u": 4.0, "b": 3.0, "a": 2.0, "s": 1.0}}
    qrels = {"1": {"a": 2, "b": 1, "s": -1, "m": 0}}

    def ap(**options: object) -> list[float]:
        return gradedeval.weights("ap", run, qrels, ranks=2, **options).values[:, 0].tolist()

    assert ap() == [0, 0.25]
    assert ap(rel=2) == [0, 0]
    assert ap(judged_only=True) == [0.5, 0.5]
    spam = gradedeval.weights("bpref", run, qrels, ranks=4, negative="unjudged").values[:, 0].tolist()
    assert spam == [0.5, 0.5, 0.5, 0.5]
    assert gradedeval.weights("bpref", run, qrels, ranks=4).values[-1, 0] == 0.25  # s is one of N = 2


CLOSED = {
    "p@4": lambda i: 1 / 4 if i <= 4 else 0,
    "cwlp@4": lambda i: 1 / 4 if i <= 4 else 0,
    "rbp(p=0.95)": lambda i: 0.05 * 0.95 ** (i - 1),
    "rbp@3": lambda i: 0.2 * 0.8 ** (i - 1) if i <= 3 else 0,
    "rbp(of=etu)": lambda i: 0.8 ** (i - 1),
    "npv(rate=0.25)": lambda i: 0.2 * 0.8 ** (i - 1),
    "dcg": lambda i: 1 / math.log2(i + 1),
    "dcg(log=2,gain=exp)@5": lambda i: (1 if i <= 2 else 1 / math.log2(i)) if i <= 5 else 0,
    "insq": lambda i: 1 / (i + 1) ** 2 / (math.pi**2 / 6 - 1),
    "num_rel_ret": lambda i: 1,
    "uniform@4": lambda i: 1 / 4 if i <= 4 else 0,
    "zipf@20": lambda i: 1 / i / sum(1 / j for j in range(1, 21)) if i <= 20 else 0,
    "poisson(alpha=0.5)": lambda i: 0.5 ** (i - 1) * math.exp(-0.5) / math.factorial(i - 1),
    'cwl(C="phi",phi=0.6)': lambda i: 0.4 * 0.6 ** (i - 1),
    "gprecision@10": lambda i: 0.1 if i <= 10 else 0,
    "err@1": lambda i: 1 if i == 1 else 0,
}


@pytest.mark.parametrize("name", CLOSED)
def test_fixed_weights_equal_the_closed_form(name: str) -> None:
    expected = [CLOSED[name](i) for i in range(1, 31)]
    assert static_weights(parse_measures(name)[0], 30).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("depth", [1, 2, 600])
def test_the_depth_changes_no_fixed_weight(depth: int) -> None:
    """Compare with 600 ranks, which take more than one batch."""
    for measure in parse_measures("rbp(p=0.99) sdcg@10 dcg insq"):
        whole = static_weights(measure, 600)
        assert static_weights(measure, depth).tolist() == pytest.approx(whole[:depth].tolist(), rel=1e-12)


def of_the_table() -> Iterator[Measure]:
    """Yield every measure that needs no file or formula, with and without a cutoff."""
    for measure in MEASURES.values():
        policy = measure.definition.cutoff
        for variant in (measure, *([measure @ 4, measure @ 10] if policy != "none" else [])):
            with contextlib.suppress(InputError):
                yield variant.complete()


FIXED = {"dcg", "rbp", "insq", "sdcg", "cwlp", "tbg", "u", "set", "npv", "p", "gprecision", "num_rel_ret", "hits"}
FIXED |= {"uniform", "zipf", "poisson", "logharmonic"}
VARY = {*DEFAULT, "inst", "cwlrr", "cwlap", "bpm", "bpmd", "ift", "recall", "rprec", "success", "grecall", "judged",
        "unjudged", "num_ret", "num_rel", "num_q", "nerr8@9", "nerr10", "nerr11", "bpm(T=9,K=20)", "rbp(of=ed)",
        "rbp(of=ec)", "inst(T=1000)", "cascade(gamma=0.5)", 'cwl(C="phi*(1-r)",phi=0.6)'} - {"rbp", "p@10"}  # fmt: skip


def is_fixed(measure: Measure) -> bool:
    try:
        static_weights(measure, 2)
    except InputError:
        return False
    return True


@pytest.mark.exhaustive
def test_the_measures_with_fixed_weights_are_listed() -> None:
    names = {measure.name for measure in of_the_table() if is_fixed(measure)}
    # With a cutoff of 1 others would join; without one, or with 4, none.
    assert names == FIXED


@pytest.mark.one_in(5)
@pytest.mark.parametrize("measure", sampled([each for each in of_the_table() if each.name in FIXED], 2), ids=str)
def test_a_measure_with_fixed_weights_is_their_sum_with_the_gains(measure: Measure) -> None:
    """Check rankings of many lengths, with missed and unjudged documents, of real evaluations."""
    weights = static_weights(measure, 25)
    for seed in range(5):
        runs, qrels = drawn(seed, (0, 0, 1))
        for run in runs.values():
            for topic, score in gradedeval.evaluate(run, qrels, measure, topics="both").by_topic(measure).items():
                gain = [qrels[topic].get(docno, 0) for docno in ranking(run, topic)]
                assert score == pytest.approx(float(np.dot(gain, weights[: len(gain)])), abs=1e-12)


@pytest.mark.parametrize("name", sorted(VARY))
@pytest.mark.parametrize("depth", [1, 10])
def test_measures_of_the_documents_found_have_no_fixed_weights(name: str, depth: int) -> None:
    with pytest.raises(InputError, match="has no fixed rank weights"):
        static_weights(parse_measures(name)[0], depth)


@pytest.mark.parametrize(
    ("name", "depth", "share"),
    [
        ("rbp(p=0.95)", 50, 0.95**50),
        ("rbp@60", 50, (0.8**50 - 0.8**60) / (1 - 0.8**60)),
        ("p@100", 30, 0.7),
        ("insq", 3, 1 - (1 / 4 + 1 / 9 + 1 / 16) / (math.pi**2 / 6 - 1)),
        ("dcg@2", 1, 1 - 1 / (1 + 1 / math.log2(3))),
        ("dcg@2", 5, 0.0),
        ("zipf@100", 20, 1 - sum(1 / i for i in range(1, 21)) / sum(1 / i for i in range(1, 101))),
        ("dcg", 50, math.nan),
        ("u(L=10)", 5, 15 / 55),
    ],
)
def test_the_weight_past_the_depth_is_a_remark(name: str, depth: int, share: float) -> None:
    weights = gradedeval.weights(name, ranks=depth)
    assert weights.beyond[0] == pytest.approx(share, rel=1e-9, nan_ok=True)
    assert len(weights.remarks) == (share != 0)


def test_a_user_measure_has_weights(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(
        "from gradedeval import measure, row_sums\n"
        "@measure(gain='linear', cutoff='none')\n"
        "def third(g):\n    return 2 * row_sums(g.gain[:, 2:3])\n"
        "@measure(gain='linear')\n"
        "def squared(g):\n    return row_sums(g.gain) ** 2\n"
        "@measure(gain='linear')\n"
        "def broken(g):\n    return row_sums(g.missing)\n"
    )
    outcome = cli("weights", "-m", "third", "--measures-from", "my.py", "--ranks", "4")
    assert outcome.text == "rank,third\n1,0.0\n2,0.0\n3,2.0\n4,0.0\n"
    assert outcome.messages == [f"gradedeval {gradedeval.__version__} | ranks 1..4 | normalize none"]
    third = cli("weights", "-m", "third", "--measures-from", "my.py", "--ranks", "2")
    assert third.messages[0] == "third: 1 of its weight lies past rank 2"
    refused = cli("weights", "-m", "squared", "--measures-from", "my.py")
    assert refused.code == 2
    assert refused.messages[0].startswith("squared has no fixed rank weights")
    assert "failed (AttributeError" in cli("weights", "-m", "broken", "--measures-from", "my.py").messages[0]


def test_normalized_weights_sum_to_1_or_have_1_as_their_largest(by_hand: gradedeval.Weights) -> None:
    for normalization, all_of in (("sum", np.sum), ("max", np.max)):
        weights = gradedeval.weights(["ap", "dcg"], RUNS, QRELS, ranks=4, normalize=normalization)  # type: ignore[arg-type]
        assert all_of(weights.values, axis=0) == pytest.approx([1, 1])
        ap = np.array(column(by_hand, "ap"))
        assert column(weights, "ap") == pytest.approx(list(ap / all_of(ap)))
        assert weights.signature.endswith(f" | 2 runs | ranks 1..4 | normalize {normalization}")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write the two systems and topics from above; return their folder."""
    write_qrels(tmp_path / "qrels.txt", QRELS)
    for name, run in RUNS.items():
        write_run(tmp_path / f"{name}.run", run)
    return tmp_path


TWO = ("weights", "first.run", "second.run", "qrels.txt")
LACKS = "second.run: 1 of 2 judged topics is missing (2) and counts as an empty ranking"
LACKS += "; exclude missing topics with --topics both"


def test_fixed_and_background_weights_stand_side_by_side(files: Path, cli: Command) -> None:
    outcome = succeed(cli(*TWO, "-m", "ap p@2", "-m", "bpref(k=10,rel=1)", "--ranks", "4"))
    assert outcome.text == (
        'rank,ap,p@2,"bpref(k=10,rel=1)"\n1,0.125,0.5,0.5\n2,0.25,0.5,0.5\n'
        f"3,{2 / 3 / 4},0.0,0.375\n4,0.125,0.0,0.375\n"
    )
    *notes, signed = outcome.messages
    assert notes == [LACKS, "ap, bpref(k=10,rel=1): weights go on past rank 4, and their sum is not known"]
    assert signed.startswith(f"gradedeval {gradedeval.__version__} | qrels ")
    assert " | topics 2 of 2 (1 missing in 1 of 2 runs) | ties docno-desc | ap, bpref: rel 1 | 2 runs | " in signed
    assert signed.endswith(" | ranks 1..4 | normalize none")


def test_weights_by_cost_equal_the_weights_at_cost_1(files: Path, cli: Command) -> None:
    problem = "tbg: h is in seconds; the weights are those of documents that cost 1 each"
    alone = cli("weights", "-m", "tbg(h=1)", "--ranks", "2")
    assert (alone.messages[0], alone.text) == (problem, "rank,tbg(h=1)\n1,0.5\n2,0.25\n")
    with_rr = cli(*TWO, "-m", "tbg(h=1) rr", "--ranks", "2")
    assert with_rr.messages[:2] == [problem, LACKS]
    assert with_rr.text == "rank,tbg(h=1),rr\n1,0.5,0.25\n2,0.25,0.25\n"


def test_chances_by_rank_have_weights_and_chances_by_type_have_none(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("rank,C\n1,0.5\n2,0\n")
    (tmp_path / "types.csv").write_text("rank,type,C\n1,*,0.5\n2,*,0\n1,web,0.2\n")
    lines = cli("weights", "-m", "ddm(file=c.csv)", "--ranks", "3").text.splitlines()
    assert lines[1:] == [f"1,{1 / 1.5}", f"2,{0.5 / 1.5}", "3,0.0"]
    refused = cli("weights", "-m", "ddm(file=types.csv)")
    assert (refused.code, len(refused.messages)) == (2, 1)
    assert refused.messages[0].startswith("'ddm(file=types.csv)': its weights depend on the types of the documents; ")


def test_runs_that_no_measure_needs_are_not_read(files: Path, cli: Command) -> None:
    (files / "first.run").write_text("no run\n")
    outcome = cli("weights", "first.run", "qrels.txt", "-m", "p@1", "--ranks", "1")
    assert (outcome.code, outcome.text) == (0, "rank,p@1\n1,1.0\n")
    assert outcome.messages[0] == "the runs are not read: the weights of these measures are the same for all"


def test_every_format_has_the_same_weights(files: Path, cli: Command) -> None:
    def written(form: str, *more: str) -> Outcome:
        return succeed(cli(*TWO, "-m", "ap", "-m", "rbp(p=0.5)", "--ranks", "3", "-f", form, *more))

    expected = [[1, 0.125, 0.5], [2, 0.25, 0.25], [3, 2 / 3 / 4, 0.125]]
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        header, *rows = csv.reader(io.StringIO(written(form).text), delimiter=delimiter)
        assert header == ["rank", "ap", "rbp(p=0.5)"]
        assert [[float(cell) for cell in row] for row in rows] == expected
    document = json.loads(written("json").text)
    assert [list(row.values()) for row in document["rows"]] == expected
    assert document["signature"] == written("csv").messages[-1]
    assert document["signature"] not in written("json").messages
    table = written("table", "--signature", "full").text.replace(" |\n  ", " | ")
    assert table == (
        "rank        ap  rbp(p=0.5)\n----  --------  ----------\n"
        "   1  0.125000    0.500000\n   2  0.250000    0.250000\n   3  0.166667    0.125000\n\n"
        f"{document['signature']}\n"
    )
    assert "| 3 | 0.17 | 0.12 |" in " ".join(written("markdown", "--digits", "2").text.split())
    assert written("csv", "--digits", "2").text.endswith("\n3,0.17,0.12\n")


def test_a_written_column_of_weights_is_a_measure(files: Path, cli: Command) -> None:
    """Read the written weights of one measure by `wp`: scores and residuals are the measure's own."""
    assert cli("weights", "-m", "rbp(p=0.8)", "--ranks", "1000", "-o", "w.csv").code == 0
    runs, qrels = drawn(1)
    scores = gradedeval.evaluate(runs, qrels, [f"wp(file={files / 'w.csv'})", "rbp(p=0.8)"], residuals=True)
    for run in scores.runs:
        again, original = run.score.T
        assert again.tolist() == pytest.approx(original.tolist(), abs=1e-12)
        again, original = run.residual.T
        assert again.tolist() == pytest.approx(original.tolist(), abs=1e-12)
    # Cut at rank 5, it lacks the ranks below, and no more.
    assert cli("weights", "-m", "rbp(p=0.8)", "--ranks", "5", "-o", "w5.csv").code == 0
    scores = gradedeval.evaluate(runs, qrels, [f"wp(file={files / 'w5.csv'})", "rbp(p=0.8)"])
    for run in scores.runs:
        again, original = run.score.T
        assert ((again <= original + 1e-12) & (original <= again + 0.8**5)).all()


def test_background_weights_are_a_measure(files: Path, cli: Command) -> None:
    """Use W_AP of section 3.4 of Zhang et al. as in their section 5.4: one inner product for every ranking."""
    assert cli(*TWO, "-m", "ap", "--ranks", "4", "--normalize", "sum", "-o", "ap.csv").code == 0
    outcome = cli(*TWO[1:], "-m", "wp(file=ap.csv)", "-q", "-f", "csv").text.splitlines()
    # Normalized: 3/16 3/8 1/4 3/16. The first run has relevant documents at ranks 1, and 2; the second at rank 2.
    scores = {tuple(line.split(",")[:2]): float(line.split(",")[3]) for line in outcome[1:]}
    assert scores["first.run", "1"] == pytest.approx(3 / 16)
    assert scores["first.run", "2"] == scores["second.run", "1"] == pytest.approx(3 / 8)
    assert scores["second.run", "2"] == 0


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("", "no measure given; for example -m 'rbp(p=0.95)'"),
        ("rbp first.run", "rbp: no such file; did you mean -m 'rbp'?"),
        ("rpb@5", "unknown measure 'rpb'; did you mean 'rbp'?"),
        ("-m ndcg@20", "ndcg@20 has no fixed rank weights: it is normalized per topic; try 'dcg@20'"),
        ("-m rbp@999999999999999999 --ranks 5", "'rbp@999999999999999999': is too deep; the maximum cutoff or"),
        ("-m rbp(horizon=4194305) --ranks 5", "'rbp': horizon=4194305 is not a rank from 1 to 4,194,304; as in"),
        ("-m rbp --normalize one", "--normalize: invalid value 'one'; did you mean 'none'?"),
        ("-m ap", "'ap': its weights depend on the ranking; give RUN... QRELS to average them"),
        ("-m inst", "inst has no fixed rank weights; try p@10, rbp or dcg"),
        (f"-m utility.8{'9' * 307},1,0,0", "utility(a=9e+307,b=1,c=0,d=0) has no fixed rank weights"),
        ("-m zipf", "'zipf': with beta=1 the weights have no finite sum; write zipf@100"),
        ("-m wp", "'wp': needs a file with lines of rank,weight; as in wp(file=weights.csv)"),
        ("-m rbp --ties best", "--ties: applies to runs, and none are given; add RUN... QRELS"),
        ("-m rbp --topics-from no.txt", "--topics-from: applies to runs"),
        ("first.run -m ap", "expected a run and a qrels file; usage: gradedeval weights [MEASURE... | RUN... QRELS]"),
        ("first.run qrels.txt -m err", "err has no fixed rank weights"),
    ],
)
def test_an_invalid_argument_is_one_line_without_output(words: str, problem: str, files: Path, cli: Command) -> None:
    outcome = cli("weights", *words.split())
    assert (outcome.code, outcome.out) == (2, b"")
    assert len(outcome.messages) == 1
    assert outcome.messages[0].startswith(problem)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("first.run missing.txt -m ap", "missing.txt: "),
        ("qrels.txt first.run -m ap", "first.run: "),
        ("first.run empty.txt -m ap", "empty.txt: "),
        ("first.run other.txt -m ap", "first.run: shares no topics with other.txt"),
        ("first.run none.txt -m rr --normalize sum", "'rr': its weights down to rank 1000 have sum 0; leave out"),
    ],
)
def test_wrong_files_are_one_line_and_leave_no_file(words: str, problem: str, files: Path, cli: Command) -> None:
    (files / "empty.txt").write_text("")
    (files / "other.txt").write_text("9 0 a 1\n")
    (files / "none.txt").write_text("1 0 x 1\n1 0 a 0\n2 0 a 1\n")
    outcome = cli("weights", *words.split(), "-o", "w.csv")
    assert (outcome.code, outcome.out) == (1, b"")
    assert outcome.messages[-1].startswith(problem)
    assert not (files / "w.csv").exists()


def test_invalid_use_in_python_is_an_error() -> None:
    for options, problem in (
        ({"normalize": "sums"}, "invalid value 'sums'; did you mean 'sum'"),
        ({"measures": []}, "no measure"),
        ({"runs": RUNS}, "runs and qrels belong together"),
        ({"qrels": QRELS}, "runs and qrels belong together"),
        ({"tie": "best"}, "unknown option 'tie'; did you mean 'ties'"),
    ):
        with pytest.raises(InputError, match=problem):
            gradedeval.weights(**{"measures": "rbp", **options})  # type: ignore[arg-type]


@shared
def test_the_best_rbp_for_the_weights_of_ap_and_rr_is_about_that_of_zhang_et_al() -> None:
    """Compare with table 5 of Zhang et al.: on three tracks p = .949 to .957 is the best for AP's weights, .353 to .483
    for RR's.

    The geometric distribution of least Kullback–Leibler divergence has the mean rank of the weights: p = 1 − 1/mean.
    """
    folder = DATA / "covid-round1"
    runs = sorted((folder / "runs").glob("*.gz"))
    weights = gradedeval.weights("ap rr", runs, folder / "qrels.txt", ranks=50, normalize="sum").values
    best = 1 - 1 / (np.arange(1, 51) @ weights)
    # Two thirds of the first documents are relevant here, so RR's weights fall faster than on any of their tracks.
    assert best == pytest.approx([0.954, 0.316], abs=5e-4)


def test_users_of_weights_go_on_and_stop() -> None:
    """Check C(i) = W(i+1)/W(i), L(i) = (W(i) − W(i+1))/W(1); with RBP all users continue with p at any rank."""
    measures = "rbp(p=0.9) p@2 dcg@3"
    weights, c, stops = (gradedeval.weights(measures, ranks=4, quantity=quantity) for quantity in ("W", "C", "L"))
    np.testing.assert_allclose(c.values[:, 0], 0.9)
    np.testing.assert_allclose(stops.values[:, 0], 0.1 * 0.9 ** np.arange(4))
    np.testing.assert_array_equal(c.values[:, 1], [1, 0, np.nan, np.nan])
    np.testing.assert_array_equal(stops.values[:, 1], [0, 1, 0, 0])
    np.testing.assert_allclose(stops.values[:, 2].sum(), 1)
    np.testing.assert_allclose(np.cumprod(c.values[:2, 2]), weights.values[1:3, 2] / weights.values[0, 2])
    assert c.rows[2][2] is None
    np.testing.assert_allclose(c.beyond, weights.beyond)
    assert c.signature.endswith("ranks 1..4 | C(i) of the weights")
    with pytest.raises(InputError, match=r"^normalize: C\(i\) is the same for weights of any sum; leave it out$"):
        gradedeval.weights(measures, quantity="C", normalize="sum")


def test_arguments_are_measures_if_none_is_a_file(cli: Command) -> None:
    words = ("rbp(p=0.5)", "dcg@10")
    plain = cli("weights", *words, "--ranks", "5")
    assert (plain.code, plain.out) == (0, cli("weights", "-m", " ".join(words), "--ranks", "5").out)
    assert cli("weights", "rbp(p=0.5)", "-m", "dcg@10", "--ranks", "5").out == plain.out


def test_at_a_terminal_a_table_ends_at_zero_weights(tmp_path: Path) -> None:
    table = at_terminal("weights", "p@3", folder=tmp_path)
    assert [line.split() for line in table.out.splitlines()[2:5]] == [[str(rank), "0.333333"] for rank in (1, 2, 3)]
    assert "\nranks 4 to 1000: weights of 0\n" in table.out.replace("\r", "")
    rbp = at_terminal("weights", "rbp", "--digits", "2", "--ranks", "9", folder=tmp_path).out
    assert "ranks" not in rbp.partition("gradedeval")[0]
    assert at_terminal("weights", "p@3", "-f", "csv", folder=tmp_path).out.count("\n") == 1001


def test_options_that_limit_runs_name_the_option_for_ranks(cli: Command) -> None:
    assert cli("weights", "rbp", "-n", "5").messages == ["unknown option '-n'; did you mean '--ranks'?"]
    message = "--depth: applies to runs, and none are given; add RUN... QRELS; --ranks N ends the table"
    assert cli("weights", "rbp", "--depth", "5").messages == [message]
