"""Notes on misleading scores: scores that rise with the rank, ties, short lists, few topics, swapped dicts."""

import itertools
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradedeval
from gradedeval import EvaluationWarning
from gradedeval.errors import Note
from gradedeval.interop import pytrec_eval
from gradedeval.interop.pytrec_eval import RelevanceEvaluator
from gradedeval.kernel import parallel
from gradedeval.kernel.rankings import grade
from gradedeval.kernel.scoring import caveats
from support.commands import Command, succeed
from support.paths import DATA, QRELS, SAMPLES, shared
from support.sessions import in_process

COVID_QRELS = DATA / "covid-round1" / "qrels.txt"
SAID = "scores rise with the rank, as distances do, so the last document comes first"
RANGE = re.compile(r".*: many documents have equal scores: (.*) between ([\d.]+) and ([\d.]+), by the order of ties")
CURE = "use --order rank, or negate the scores (if they are right, --order score silences this note)"

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")


def write_changed(name: str, folder: Path, change: Callable[[list[str]], list[str]], new: str = "run") -> str:
    """Write a sample run with changed lines."""
    lines = [change(line.split()) for line in (SAMPLES / name).read_text().splitlines()]
    (folder / new).write_text("".join(" ".join(fields) + "\n" for fields in lines))
    return str(folder / new)


def ranks_as_scores(fields: list[str]) -> list[str]:
    return [*fields[:4], fields[3], fields[5]]


def notes(kind: str, *arguments: Any, **options: Any) -> list[str]:
    """Return the notes of one kind."""
    messages = gradedeval.evaluate(*arguments, **options).notes
    return [note for note in messages if isinstance(note, Note) and note.kind == kind]


def test_scores_rising_with_rank_are_noted_and_order_rank_sorts_by_rank(cli: Command, tmp_path: Path) -> None:
    run = write_changed("rivers-neural.run", tmp_path, ranks_as_scores)
    right = gradedeval.evaluate(str(SAMPLES / "rivers-neural.run"), QRELS, "ndcg@20").means["ndcg@20"]
    outcome = cli(run, QRELS, "-m", "ndcg@20")
    assert outcome.messages[0] == f"{run}: {SAID}; {CURE}"
    assert gradedeval.evaluate(run, QRELS, "ndcg@20").means["ndcg@20"] < right / 2
    for order in ("rank", "file"):
        mended = cli(run, QRELS, "-m", "ndcg@20", "--order", order)
        assert SAID not in mended.err.decode()
        assert f"{right:.4f}" in mended.text
    assert "order rank" in cli(run, QRELS, "-m", "ndcg@20", "--order", "rank").text
    assert SAID not in cli(run, QRELS, "-m", "ndcg@20", "--order", "score").err.decode()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("command", ["eval", "risk", "correlate", "pool", "report -o r.html", "pr", "trec_eval"])
def test_rising_scores_note_once(command: str, cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rising = [write_changed(f"rivers-{name}.run", tmp_path, ranks_as_scores, name) for name in ("neural", "bm25")]
    runs = [str(SAMPLES / "rivers-neural.run"), *rising]
    monkeypatch.chdir(tmp_path)
    name, *words = command.split()
    outcome = succeed(cli(name, *([QRELS, *runs] if name == "trec_eval" else [*runs, QRELS, *words])))
    notes = [message for message in outcome.messages if SAID in message]
    cure = "negate the scores" if name == "trec_eval" else CURE
    assert notes == [f"2 of 3 runs ({runs[1]}, {runs[2]}): {SAID}; {cure}"]


def test_runs_that_lack_the_same_topics_are_named_in_one_note() -> None:
    qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 0}}
    runs = {name: {topic: {"a": 1.0} for topic in topics} for name, topics in (("x", "13"), ("y", "13"), ("z", "123"))}

    def all_notes(some: dict[str, Any], **options: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", EvaluationWarning)
            gradedeval.evaluate(some, qrels, "p@1", **options)
        return [str(warning.message) for warning in caught]

    left_out = "3 runs (x, y, z): 1 topic without relevant documents; left out"
    assert all_notes(runs, topics="relevant")[:1] == [left_out]
    lacking = "1 of 3 judged topics is missing (2) and counts as an empty ranking"
    assert [note for note in all_notes(runs) if "missing" in note] == [
        f'2 of 3 runs (x, y): {lacking}; exclude missing topics with topics="both"'
    ]
    pair = {"x": runs["x"], "z": runs["z"]}
    assert [note.split(":")[0] for note in all_notes(pair) if "missing" in note] == ["x"]


@pytest.mark.parametrize(
    ("bad", "place"), [({"1": {"a": "z"}}, "y['1']"), ({"9": {"a": 1.0}}, "y"), (5, "y"), ({}, "y")]
)
def test_a_run_of_several_that_is_held_in_python_is_named(bad: Any, place: str) -> None:
    with pytest.raises(gradedeval.InputError) as caught:
        gradedeval.evaluate({"x": {"1": {"a": 1.0}}, "y": bad}, {"1": {"a": 1}}, "p@1")
    assert caught.value.place == place


def test_check_of_a_run_with_rising_scores_exits_with_3_unless_order_is_set(cli: Command, tmp_path: Path) -> None:
    run = write_changed("rivers-neural.run", tmp_path, ranks_as_scores)
    bound = (run, QRELS, "--min", "ndcg@20=0.001")
    refused = cli("check", *bound)
    assert (refused.code, refused.out, refused.messages) == (3, b"", [f"{run}: {SAID}; {CURE}"])
    assert cli("check", *bound, "--order", "rank").code == 0
    assert cli("check", *bound, "--order", "score").code == 0
    (tmp_path / "gradedeval.toml").write_text('order = "rank"\n')
    assert cli("check", *bound).code == 0


def test_a_file_that_is_not_in_order_is_mended_by_its_ranks_alone(tmp_path: Path) -> None:
    run = Path(write_changed("rivers-neural.run", tmp_path, ranks_as_scores))
    run.write_text("".join(reversed(run.read_text().splitlines(keepends=True))))
    (note,) = notes("rising-scores", str(run), QRELS, "ap")
    assert 'use order="rank", or negate the scores (if they are right, order="score" silences this note)' in note


@pytest.mark.parametrize("form", ["dict", "frame", "rows"])
def test_rising_scores_are_noted_in_runs_without_ranks(form: str) -> None:
    text = "scores rise as listed, as distances do, so the last document comes first; "
    text += 'use order="file", or negate the scores (if they are right, order="score" silences this note)'
    qrels = {str(topic): {"d1": 2, "d5": 1} for topic in range(3)}
    columns = ["topic", "docno", "score"]

    def run(scores: list[float]) -> Any:
        rows = [(topic, f"d{number}", score) for topic in qrels for number, score in enumerate(scores, 1)]
        if form == "dict":
            return {topic: {docno: score for row_topic, docno, score in rows if row_topic == topic} for topic in qrels}
        frame = pd.DataFrame(rows, columns=columns)
        return frame if form == "frame" else frame.to_dict("records")

    (note,) = notes("rising-scores", run([0.1, 0.2, 0.2, 0.5, 0.9]), qrels, "rbp")
    assert note == f"run: {text}"
    assert not notes("rising-scores", run([0.1, 0.2, 0.2, 0.5, 0.9]), qrels, "rbp", order="score")
    for chance in ([0.1, 0.2, 0.3], [0.1, 0.2, 0.5, 0.4, 0.9], [0.3] * 6, [0.9, 0.8, 0.7, 0.6, 0.5]):
        assert not notes("rising-scores", run(chance), qrels, "rbp"), chance


@pytest.mark.parametrize("form", ["frame", "rows", "csv", "costs", "interleaved"])
def test_rising_scores_are_noted_for_every_form_of_run(form: str, tmp_path: Path) -> None:
    rows = [
        (str(topic), f"d{rank}", float(rank), rank) for rank in range(1, 9) for topic in range(3)
    ]  # topics take turns
    if form != "interleaved":
        rows.sort(key=lambda row: row[0])
    qrels = {str(topic): {"d1": 2, "d5": 1} for topic in range(3)}
    options: dict[str, Any] = {}
    run: Any = pd.DataFrame(rows, columns=["topic", "docno", "score", "rank"])
    if form == "csv":
        run.to_csv(tmp_path / "run.csv", index=False)
        run = str(tmp_path / "run.csv")
    elif form == "rows":
        run = run.to_dict("records")
    elif form in ("costs", "interleaved"):
        text = "".join(f"{topic} Q0 {docno} {rank} {score} t\n" for topic, docno, score, rank in rows)
        run = tmp_path / "run"
        run.write_text(text)
        options = {"costs": {"Q0": 1.0}} if form == "costs" else {}
    assert len(notes("rising-scores", run, qrels, "rbp", **options)) == 1
    right = gradedeval.evaluate(run, qrels, "rr", order="rank", **options)
    assert right.means["rr"] == 1.0
    assert not notes("rising-scores", run, qrels, "rbp", order="rank", **options)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_large_run_is_checked_to_its_end(jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check rising scores after the first ten topics; only these are sorted by score."""
    lines = [
        f"{100 + topic} Q0 d{rank} {rank} {rank if topic >= 10 else -rank} t\n"
        for topic in range(60)
        for rank in range(1, 41)
    ]
    (tmp_path / "run").write_text("".join(lines))
    qrels = {str(100 + topic): {"d1": 1} for topic in range(60)}
    small = parallel.Limits(block=1 << 12, segment=1 << 14, large_file=0, small_runs=0)
    monkeypatch.setattr(parallel, "LIMITS", small)
    noted = []
    for every in (1 << 13, 1 << 40):
        monkeypatch.setattr(grade, "LOOKED_AT", 1 << 12)
        monkeypatch.setattr(grade, "LOOK_EVERY", every)
        noted.append(len(notes("rising-scores", str(tmp_path / "run"), qrels, "rbp", jobs=jobs)))
    assert noted == [1, 0]


def test_order_rank_needs_ranks(cli: Command, tmp_path: Path) -> None:
    with pytest.raises(gradedeval.InputError, match="a dict has no ranks"):
        gradedeval.evaluate({"1": {"a": 1.0}}, {"1": {"a": 1}}, "rr", order="rank")
    with pytest.raises(gradedeval.InputError, match="rank: arrays have no ranks"):
        gradedeval.evaluate_arrays([1, 0], [0.5, 0.1], "rr", order="rank")
    (tmp_path / "run").write_text("1 Q0 a x 1 t\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    outcome = cli("run", "qrels", "--order", "rank")
    assert (outcome.code, outcome.messages) == (1, ["run:1: rank 'x' is not a number; --order rank needs ranks"])


@shared
def test_real_runs_are_noted_as_reversed_only_if_they_are() -> None:
    # Two submissions state rank 1000 beside score 1000, and so on down to 1 and 1: by their ranks they score more.
    messages = gradedeval.evaluate(str(DATA / "covid-round1" / "runs"), str(COVID_QRELS), "ndcg@20 ap p@5").notes
    kinds = [note.kind for note in messages if isinstance(note, Note)]
    (reversed_,) = [note for note in messages if SAID in note]
    count, _, places = reversed_.partition(":")[0].rstrip(")").partition(" (")
    assert count == "2 of 48 runs"
    assert [Path(place).name for place in places.split(", ")] == ["ERST_PROSE.gz", "yn-r1-concepttext.gz"]
    assert not {"ties", "short-lists", "few-topics"} & set(kinds)


def test_ties_that_decide_a_score_are_noted_with_its_range(cli: Command, tmp_path: Path) -> None:
    run = write_changed("rivers-neural.run", tmp_path, lambda fields: [*fields[:4], "1", fields[5]])
    worst, best = (gradedeval.evaluate(run, QRELS, "ndcg@20", ties=ties).means["ndcg@20"] for ties in ("worst", "best"))
    note = (
        f"{run}: many documents have equal scores: ndcg@20 between {worst:.4f} and {best:.4f}, by the order of ties; "
    )
    note += "break the ties in the run, or choose an order with --ties"
    assert note in succeed(cli(run, QRELS, "-m", "ndcg@20")).messages
    assert note not in cli(run, QRELS, "-m", "ndcg@20", "--ties", "docno-desc").messages


def test_the_range_of_ties_is_that_of_the_best_and_the_worst_order(tmp_path: Path) -> None:
    run = write_changed(
        "rivers-bm25.run", tmp_path, lambda fields: [*fields[:4], str(round(float(fields[4]))), fields[5]]
    )
    measures = "ndcg@5 ap err@20 rbp q gap bpref rprec p@5 recall@10"
    messages = notes("ties", run, QRELS, "ap")
    orders = {ties: gradedeval.evaluate(run, QRELS, measures, ties=ties).means for ties in ("worst", "best")}
    assert messages
    assert f"ap between {orders['worst']['ap']:.4f} and {orders['best']['ap']:.4f}" in messages[0]
    for name in orders["best"]:
        low, high = orders["worst"][name], orders["best"][name]
        ranges = notes("ties", run, QRELS, name)
        assert bool(ranges) == (high - low > 0.01), name
        assert not ranges or f"between {low:.4f} and {high:.4f}" in ranges[0]


@pytest.mark.parametrize(
    ("words", "measure"),
    [
        (("explain", "{run}", QRELS, "--topic", "303", "-m", "ndcg@20"), "ndcg@20"),
        *(
            ((name, "{run}", str(SAMPLES / "rivers-bm25.run"), QRELS, "-m", "ndcg@20"), "ndcg@20")
            for name in ("diff", "compare")
        ),
        (("check", "{run}", QRELS, "-m", "ndcg@20", "--min", "ndcg@20=0.001"), "ndcg@20"),
        (("pool", "{run}", str(SAMPLES / "rivers-bm25.run"), QRELS, "--leave-one-out", "-m", "ndcg@20"), "ndcg@20"),
        (("pr", "{run}", QRELS), "gap"),
        (("informative", "{run}", QRELS, "-m", "ap", "--min-found", "1"), "ap"),
        (("trec_eval", QRELS, "{run}", "-m", "map"), "map"),
    ],
)
def test_every_command_notes_decisive_ties(words: tuple[str, ...], measure: str, cli: Command, tmp_path: Path) -> None:
    run = write_changed("rivers-neural.run", tmp_path, lambda fields: [*fields[:4], "1", fields[5]])
    outcome = succeed(cli(*(run if word == "{run}" else word for word in words)))
    ((_, low, high),) = [ties.groups() for line in outcome.messages if (ties := RANGE.match(line))]
    assert (
        outcome.messages[0].startswith(f"{run}: many documents have equal scores: {measure} between")
        or words[0] == "pr"
    )
    assert float(low) + 0.01 < float(high)
    if words[0] != "trec_eval":
        ordered = cli(*(run if word == "{run}" else word for word in words), "--ties", "docno-desc")
        assert not any(map(RANGE.match, ordered.messages))


@pytest.mark.parametrize("cells", [1, 100, 1 << 18])
@pytest.mark.parametrize("kept", [0, 1 << 17])
def test_the_range_counts_topics_with_few_ties_too(
    cells: int, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Half of the topics are tied throughout, the others at two documents of 80 alone, which are the first.
    def tie(fields: list[str]) -> list[str]:
        score = 1.0 if int(fields[0]) % 2 else 100.0 - max(int(fields[3]), 2)
        return [*fields[:4], str(score), fields[5]]

    run = write_changed("rivers-neural.run", tmp_path, tie)
    monkeypatch.setattr(parallel, "LIMITS", parallel.Limits(cells=cells))
    monkeypatch.setattr(caveats, "KEPT", kept)
    (note,) = notes("ties", run, QRELS, "ap")
    low, high = (gradedeval.evaluate(run, QRELS, "ap", ties=ties).means["ap"] for ties in ("worst", "best"))
    assert f"ap between {low:.4f} and {high:.4f}" in note


@pytest.mark.parametrize(("documents", "count"), [(20, 0), (19, 1)])
def test_the_range_is_noted_if_a_tenth_of_the_documents_is_tied(documents: int, count: int) -> None:
    run = {"1": {f"d{rank}": float(-max(rank, 1)) for rank in range(documents)}}
    assert len(notes("ties", run, {"1": {"d0": 1}}, "rr")) == count


def test_with_few_ties_their_orders_are_not_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_changed(
        "rivers-neural.run", tmp_path, lambda fields: [*fields[:4], str(100 - max(int(fields[3]), 2)), fields[5]]
    )
    scored = list[Any]()
    monkeypatch.setattr(caveats, "_lowest_and_highest", lambda *arguments: scored.append(arguments))
    assert not notes("ties", run, QRELS, "ap")
    assert not scored


def test_a_note_on_a_topic_has_the_range_of_that_topic(cli: Command, tmp_path: Path) -> None:
    run = write_changed("rivers-neural.run", tmp_path, lambda fields: [*fields[:4], "1", fields[5]])
    (tie_note,) = [note for note in gradedeval.explain(run, QRELS, "ap", topic="303").notes if "equal scores" in note]
    ends = [gradedeval.evaluate(run, QRELS, "ap", ties=ties).by_topic("ap")["303"] for ties in ("worst", "best")]
    assert f"ap between {ends[0]:.4f} and {ends[1]:.4f}" in tie_note


def test_decisive_ties_in_arrays_are_noted_with_the_range() -> None:
    grades, scores = [[0, 1, 2, 0]] * 12, [[1.0] * 4] * 12
    (tie_note,) = [note for note in gradedeval.evaluate_arrays(grades, scores, "ap").notes if "between" in note]
    assert tie_note.startswith("scores: many documents have equal scores: ap between 0.4167 and 1.0000")
    assert not gradedeval.evaluate_arrays(grades, scores, "ap", ties="file").notes


def test_notes_in_pytrec_eval_use_its_names() -> None:
    qrels = {str(topic): {"a": 1, "b": 0, "c": 0} for topic in range(12)}
    run = {topic: dict.fromkeys("abc", 1.0) for topic in qrels}
    with pytest.warns(EvaluationWarning) as caught:
        RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    messages = [str(warning.message) for warning in caught]
    assert messages[0] == (
        "run: many documents have equal scores: map between 0.3333 and 1.0000, by the order of ties; "
        "break the ties in the run"
    )
    assert messages[1:] == ["run: each topic has 3 documents, and map looks at all ranks; give longer lists"]


def test_a_run_gets_three_notes_at_most(tmp_path: Path) -> None:
    # The ranks as scores, three documents with each; twelve of 50 topics, 20 documents each.
    lines = [line.split() for line in (SAMPLES / "rivers-neural.run").read_text().splitlines()]
    some = list(dict.fromkeys(line[0] for line in lines))[:12]
    kept = [line for line in lines if line[0] in some and int(line[3]) <= 20]
    text = "".join(f"{' '.join(line[:4])} {(int(line[3]) + 2) // 3} x\n" for line in kept)
    (tmp_path / "run").write_text(text)

    def kinds(*measures: str, topics: str) -> list[str]:
        messages = gradedeval.evaluate(str(tmp_path / "run"), QRELS, measures, topics=topics).notes
        kinds_of_notes = [note.kind for note in messages if isinstance(note, Note)]
        return [kind for kind in kinds_of_notes if kind in caveats.KINDS]

    assert kinds("ap", "ndcg@20", topics="both") == ["rising-scores", "missing-topics", "ties"]
    assert kinds("num_ret", "ap(rel=4)", topics="both") == ["rising-scores", "missing-topics", "short-lists"]
    fewer = "".join(line for line in text.splitlines(keepends=True) if line.split()[0] in some[:5])
    (tmp_path / "run").write_text(fewer)
    assert kinds("ndcg@20", topics="both") == ["rising-scores", "missing-topics", "ties"]
    assert kinds("num_ret", topics="both") == ["rising-scores", "missing-topics", "few-topics"]
    changes = gradedeval.diff(str(tmp_path / "run"), str(SAMPLES / "rivers-bm25.run"), QRELS, "err@5", topics="both")
    assert "the means are over 5 topics; too few to tell systems apart" in changes.notes


def test_ties_of_equal_grades_are_not_noted() -> None:
    qrels = {str(topic): {"d1": 1, "d0": 1} for topic in range(12)}
    alike = {topic: {"d0": 5.0, "d1": 5.0, "d2": 1.0} for topic in qrels}
    assert not notes("ties", alike, qrels, "ap")


def test_short_lists_are_noted_if_a_measure_looks_further() -> None:
    run = str(SAMPLES / "rivers-neural.run")
    (note,) = notes("short-lists", run, QRELS, "ap err ndcg@20")
    assert note.startswith(f"{run}: each topic has 80 documents, and ap, err look at all ranks; give longer lists, ")
    assert note.endswith("or cut the measures, as in ap@10")
    assert not notes("short-lists", run, QRELS, "ap@10 err@20 rbp@10 num_ret")
    assert not notes("short-lists", run, QRELS, "ap", depth=10)
    assert not notes("short-lists", run, QRELS, "silence")  # one document is enough


@pytest.mark.parametrize(
    "measure", sorted(name for name, measure in gradedeval.MEASURES.items() if measure.cutoff is None)
)
def test_the_cure_of_short_lists_is_a_measure(measure: str) -> None:
    grades, scores = [[0, 1, 1, 0]] * 12, [[4.0, 3.0, 2.0, 1.0]] * 12
    try:
        notes = gradedeval.evaluate_arrays(grades, scores, measure).notes
    except gradedeval.InputError:  # it needs subtopics, a sample or parameters
        return
    for note in notes:
        if "or cut the measure, as in " in note:
            gradedeval.parse_measures(note.rpartition(" ")[2])


@pytest.mark.parametrize("seed", range(4))
def test_the_range_of_ties_of_lists_that_are_cut_and_then_dropped(seed: int) -> None:
    """Compare to all orders of the tied documents, as under trec_eval's -J -M."""
    draw = random.Random(seed)
    qrels = {"1": {docno: draw.choice([0, 1, -1, 2]) for docno in "abcdef" if draw.random() < 0.6} | {"a": 1}}
    run = {"1": {docno: draw.choice([1.0, 1.0, 2.0]) for docno in "abcdef"}}
    options: dict[str, Any] = {"like": "trec_eval", "judged_only": True, "depth": draw.choice([2, 3, 4])}
    orders = [
        order for order in itertools.permutations("abcdef") if sorted(order, key=lambda d: -run["1"][d]) == [*order]
    ]
    ways = ({"1": {docno: -float(rank) for rank, docno in enumerate(order)}} for order in orders)
    means_by_order = [gradedeval.evaluate(way, qrels, "ap p@2 recall", **options).means for way in ways]
    for measure in ("ap", "p@2", "recall"):
        means = [of_way[measure] for of_way in means_by_order]
        ranges = notes("ties", run, qrels, measure, **options)
        assert bool(ranges) == (max(means) - min(means) > 0.01)
        assert not ranges or f"between {min(means):.4f} and {max(means):.4f}" in ranges[0]


@pytest.mark.parametrize("flags", ["-m map", "-J -M 10", "-R qrels_jg -m P_avgjg", "-R qrels_prefs -m prefs_simp"])
def test_trec_eval_notes_rising_scores_with_all_its_options(flags: str, cli: Command, tmp_path: Path) -> None:
    inverted = write_changed("rivers-neural.run", tmp_path, ranks_as_scores)
    messages = cli("trec_eval", *flags.split(), QRELS, inverted).messages
    assert f"{inverted}: {SAID}; negate the scores" in messages
    assert not any("--order" in line or "--ties" in line for line in messages)  # it has no such options
    tied, judged = (
        "".join(f"{topic} {line}\n" for topic in range(12) for line in lines)
        for lines in (("Q0 a 1 1 t", "Q0 b 1 1 t", "Q0 c 1 1 t"), ("0 a 1", "0 b 0", "0 c 0"))
    )
    (tmp_path / "tied").write_text(tied)
    (tmp_path / "qrels").write_text(judged)
    words = flags.replace("10", "1").replace("P_avgjg", "P_avgjg.1").split()
    (message,) = [line for line in cli("trec_eval", *words, "qrels", "tied").messages if "equal scores" in line]
    assert message.endswith("; break the ties in the run")
    if "prefs" in flags:
        assert "prefs_simp 0.0000 or 1.0000, as docnos ascend or descend" in message


def test_few_topics_are_noted_if_a_mean_is_computed() -> None:
    text = "the means are over 9 topics; too few to tell systems apart"
    assert gradedeval.evaluate_arrays([[1, 0]] * 9, [[0.5, 0.1]] * 9, "rr").notes == [text]
    assert not gradedeval.evaluate_arrays([[1, 0]] * 10, [[0.5, 0.1]] * 10, "rr").notes
    run, qrels = {str(topic): {"a": 1.0} for topic in range(10)}, {str(topic): {"a": 1} for topic in range(10)}
    assert notes("few-topics", run, qrels, "rr", topics_from=["1"]) == [
        "there is one topic; too few to tell systems apart"
    ]
    text = "the means are over 3 topics; too few to tell systems apart"
    with pytest.warns(EvaluationWarning, match=text):
        pytrec_eval.compute_aggregated_measure("map", [0.1, 0.2, 0.3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pytrec_eval.compute_aggregated_measure("num_ret", [1, 2, 3]) == 6
        assert RelevanceEvaluator({"1": {"a": 1}}, {"recip_rank"}).evaluate({"1": {"a": 1.0}})["1"]["recip_rank"] == 1


def test_equal_notes_on_several_runs_are_merged() -> None:
    runs = [str(SAMPLES / f"rivers-{name}.run") for name in ("neural", "dense", "manual", "bm25")]
    (note,) = notes("short-lists", runs, QRELS, "ap")
    assert note.startswith("3 runs (")
    assert ": each topic has 50 to 80 documents, and ap looks at all ranks; give longer lists, " in note


@pytest.mark.parametrize("words", [("trec_eval", "qrels", "run", "-m", "map"), ("pr", "run", "qrels")])
def test_few_topics_are_noted_by_commands_with_scoring_of_their_own(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    code, output = in_process([*words], tmp_path)  # `cli` leaves this note out
    assert (code, "the means are over 2 topics; too few to tell systems apart\n" in output) == (0, True)


def test_grades_between_0_and_1_are_noted_if_a_binary_measure_takes_them_as_not_relevant() -> None:
    run = {str(topic): {"a": 2.0, "b": 1.0} for topic in range(12)}
    qrels = {topic: {"a": 0.37, "b": 1.0, "c": 0.5} for topic in run}

    def fraction_notes(measures: str, judged: Any = qrels, **options: Any) -> list[str]:
        return notes("fractions", run, judged, measures, **options)

    text = "qrels: 24 of 36 judgments have grades between 0 and 1, not relevant to "
    assert fraction_notes("ndcg ap p@10") == [f"{text}ap, p@10; use rel=0.37 to count them"]
    assert fraction_notes("ap rr(rel=0.5) bpref") == [f"{text}ap, bpref; use rel=0.37 to count them"]
    assert len(fraction_notes("rbp", like="ir_measures")) == 1
    assert fraction_notes("p@1", rel=0.37) == []
    assert gradedeval.evaluate(run, qrels, "p@1", rel=0.37).means == {"p@1": 1}
    for measures in ("ndcg err@5 judged@5", "ap(rel=0.5)", "num_ret"):
        assert fraction_notes(measures) == []
    for grades in ((0, 1, 2), (0, 1.5, 2), (-0.5, 1, 3)):
        judged = {topic: dict(zip("abc", grades, strict=True)) for topic in run}
        assert fraction_notes("ap p@10", judged) == []
