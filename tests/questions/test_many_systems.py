"""`compare` of many runs: letters by default, and topics from the hardest to the easiest."""

import random
from pathlib import Path

import numpy as np
import pytest

import gradedeval
from gradedeval.questions.shared import FEW_RUNS
from support.commands import Command, rows, succeed

TOPICS = [f"t{number}" for number in range(1, 21)]
PAIRS_FOLLOW = "--baseline RUN or --all-pairs compares pairs"


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Write `qrels`, the most runs that are compared one by one in `few`, and one more in `many`."""
    for name, count in (("few", FEW_RUNS), ("many", FEW_RUNS + 1)):
        (tmp_path / name).mkdir()
        for seed in range(count):
            draw = random.Random(seed)
            (tmp_path / name / f"system{seed}").write_text(
                "".join(
                    f"{topic} Q0 d{docno} {rank} {99 - rank} t\n"
                    for topic in TOPICS
                    for rank, docno in enumerate(draw.sample(range(20), 10), 1)
                )
            )
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 d{d} {int(d < 7)}\n" for topic in TOPICS for d in range(20)))
    return tmp_path


def test_many_runs_get_letters_and_few_are_compared_with_the_first(folders: Path, cli: Command) -> None:
    many = succeed(cli("compare", "many", "qrels", "-m", "ap"))
    assert many.text == cli("compare", "many", "qrels", "-m", "ap", "--letters").text
    (message,) = many.messages
    assert message == f"6 runs: those that share a letter do not differ, as with --letters; {PAIRS_FOLLOW}"
    few = succeed(cli("compare", "few", "qrels", "-m", "ap", "-f", "csv"))
    assert {row["baseline"] for row in rows(few.text)} == {"system0"}
    assert not any(PAIRS_FOLLOW in message for message in few.messages)


@pytest.mark.parametrize(
    "words", ["--baseline system2", "--all-pairs", "--judging", "--unseen 5", "--test bayes", "--test bayes --rope 0.1"]
)
def test_options_of_pairs_compare_pairs(words: str, folders: Path, cli: Command) -> None:
    outcome = succeed(cli("compare", "many", "qrels", "-m", "ap", *words.split(), "-f", "csv"))
    assert len(rows(outcome.text)) == (15 if words == "--all-pairs" else 5)
    assert not any(PAIRS_FOLLOW in message for message in outcome.messages)


@pytest.mark.parametrize("words", ["--test t", "--alpha 0.2", "--draws 500", "--correction bh --test sign"])
def test_settings_of_the_test_apply_to_letters(words: str, folders: Path, cli: Command) -> None:
    arguments = ("compare", "many", "qrels", "-m", "ap", *words.split(), "-f", "csv")
    assert succeed(cli(*arguments)).text == succeed(cli(*arguments, "--letters")).text


def test_topics_of_many_runs_come_from_the_hardest(folders: Path, cli: Command) -> None:
    scored = rows(succeed(cli("many", "qrels", "-m", "ap esl", "-q", "-f", "csv")).text)
    score = {(row["run"], row["topic"], row["measure"]): float(row["score"]) for row in scored}
    runs = sorted({run for run, *_ in score})
    by_topic = {
        name: np.array([[score[run, topic, name] for run in runs] for topic in TOPICS]) for name in ("ap", "esl")
    }
    table = rows(succeed(cli("compare", "many", "qrels", "-m", "ap esl", "-q", "-f", "csv")).text)
    assert len(table) == 2 * (len(TOPICS) + 1)
    for name, sign in (("ap", 1), ("esl", -1)):
        *listed, mean = [row for row in table if row["measure"] == name]
        values, median = by_topic[name], np.median(by_topic[name], axis=1)
        order = np.lexsort((sign * values.mean(1), sign * median)).tolist()
        assert [row["topic"] for row in listed] == [TOPICS[n] for n in order]
        best, worst = (values.max(1), values.min(1))[::sign]
        low, high = np.percentile(values, [25, 75], axis=1)
        expected = {"median": median, "best": best, "worst": worst, "spread": high - low}
        for column, numbers in expected.items():
            assert [float(row[column]) for row in listed] == pytest.approx(numbers[order].tolist())
            assert mean["topic"] == "all"
            assert float(mean[column]) == pytest.approx(numbers.mean())


def test_tables_show_six_topics_at_each_end(folders: Path, cli: Command) -> None:
    listed = [row["topic"] for row in rows(cli("compare", "many", "qrels", "-m", "ap", "-q", "-f", "csv").text)]
    lines = succeed(cli("compare", "many", "qrels", "-m", "ap", "-q")).text.splitlines()
    printed = [line.split()[1] for line in lines[2 : lines.index("")]]
    assert printed == [*listed[:6], "…", *listed[14:]]
    assert lines[8].split() == ["ap", "…", "8", "more"]
    legend = "hardest topics first, by the median of 6 runs | spread: between the quartiles of 6 runs | all: means of"
    assert legend in " ".join(" ".join(lines).split())


def test_thirteen_topics_are_shown_whole() -> None:
    topics = TOPICS[:13]
    runs = {f"r{n}": {topic: {"d": 1.0, "e": float(n)} for topic in topics} for n in range(6)}
    table = gradedeval.topic_table(runs, {topic: {"d": 1} for topic in topics}, "rr")
    assert "more" not in str(table)
    assert len(table.topics) == 14


@pytest.mark.parametrize("word", ["topics", "hardest", "difficulty"])
def test_other_words_for_hard_topics_name_the_command(word: str, folders: Path, cli: Command) -> None:
    outcome = cli(word, "many", "qrels")
    assert outcome.code == 2
    assert outcome.messages[0] == f"no such command '{word}'; did you mean 'compare --by-topic'?"


def test_topics_of_many_runs_are_by_one_measure_unless_measures_are_named(folders: Path, cli: Command) -> None:
    def measures(*words: str) -> list[str]:
        lines = succeed(cli("compare", *words, "--quiet")).text.splitlines()
        return list(dict.fromkeys(line.split()[0] for line in lines if line.startswith(("err@", "ap", "p@10"))))

    many = succeed(cli("compare", "-q", "many", "qrels"))
    assert "6 runs: topics by err@20 alone; -m adds others, as in -m 'err@20 ndcg@20'" in many.messages
    assert len(many.text.splitlines()) < 25
    assert measures("-q", "many", "qrels") == ["err@20"]
    assert measures("-q", "many", "qrels", "-m", "ap p@10") == ["ap", "p@10"]
    assert not any("alone" in message for message in cli("compare", "-q", "many", "qrels", "-m", "ap p@10").messages)
    assert "p@10" in measures("-q", "few", "qrels")
    # Programs get all measures, as the frame in Python has them.
    csv = succeed(cli("compare", "-q", "many", "qrels", "-f", "csv"))
    runs = [str(path) for path in sorted((folders / "many").iterdir())]
    with pytest.warns(gradedeval.EvaluationWarning):
        table = gradedeval.topic_table(runs, str(folders / "qrels"))
    assert {row["measure"] for row in rows(csv.text)} == set(table.frame["measure"]) > {"err@20", "ap"}
    assert not any("alone" in message for message in csv.messages)


@pytest.mark.parametrize("count", [2, 6])
def test_top_shows_the_hardest_topics_of_any_number_of_runs(count: int, folders: Path, cli: Command) -> None:
    runs = sorted(map(str, (folders / "many").iterdir()))[:count]
    words = ("compare", "-q", *runs, "qrels", "-m", "rr")
    every = [line.split(",")[1] for line in cli(*words, "-f", "csv", "--top", "99").text.splitlines()[1:]]
    lines = cli(*words, "--top", "2").text.splitlines()
    assert [line.split()[1] for line in lines[2:5]] == [*every[:2], "…"]
    assert [line.split(",")[1] for line in cli(*words, "--top", "2", "-f", "csv").text.splitlines()[1:]] == every[:2]
    assert cli("compare", *runs, "qrels", "--top", "2").messages == ["--top: needs -q; add -q"]
