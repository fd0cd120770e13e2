"""`gradedeval clicks models`, `simulate` and `gains` at the prompt."""

import json
from pathlib import Path

import pytest

from gradedeval import clicks
from support.commands import Command, succeed
from support.paths import SAMPLES

RIVERS = str(SAMPLES / "rivers.qrels")
RUNS = (str(SAMPLES / "rivers-bm25.run"), str(SAMPLES / "rivers-neural.run"))
USERS = ("--as", "err(gain=0.02:0.1:0.2:0.4:0.8)", "--sessions", "5000")


@pytest.fixture
def log(cli: Command, tmp_path: Path) -> str:
    path = str(tmp_path / "log.tsv")
    result = cli("clicks", "simulate", *RUNS, RIVERS, *USERS, "-o", path)
    assert (result.code, result.out, result.err) == (0, b"", b"")
    return path


def test_a_seed_gives_the_same_bytes_in_any_process(cli: Command, log: str) -> None:
    again = cli("clicks", "simulate", *RUNS, RIVERS, *USERS)
    assert again.out == Path(log).read_bytes()
    assert again.out.startswith(b"topic\tclicks\tshown\tcount\n")
    assert cli("clicks", "simulate", *RUNS, RIVERS, *USERS, "--seed", "1").out != again.out


def test_clicks_teach_gains_that_score_runs(cli: Command, log: str, tmp_path: Path) -> None:
    gains = str(tmp_path / "gains.csv")
    learned = succeed(cli("clicks", "gains", log, RIVERS, "--model", "cm", "-o", gains))
    assert "grades below 0 have gain 0 regardless of clicks" in learned.messages
    assert Path(gains).read_text().splitlines()[0] == "grade,gain"
    scored = succeed(cli(RUNS[0], RIVERS, "-m", "err@20", "--gain", f"@{gains}"))
    assert "gains.csv" in scored.text


def test_a_model_fitted_to_clicks_simulates_clicks(cli: Command, log: str, tmp_path: Path) -> None:
    model, relevance = str(tmp_path / "cm.json"), tmp_path / "relevance.csv"
    written = ("--write-model", model, "--write-relevance", str(relevance), "--min-seen", "100")
    fitted = succeed(cli("clicks", "models", log, "--model", "cm", *written, "-f", "csv"))
    assert fitted.text.startswith("model,measure,rank,value\ncm,ll_session,0,")
    assert relevance.read_text().splitlines()[0] == "topic,docno,gain,seen"
    assert all(int(line.split(",")[3]) >= 100 for line in relevance.read_text().splitlines()[1:])
    assert "of 920 documents were shown in fewer than 100 sessions, and are left out" in fitted.messages[0]
    drawn = cli("clicks", "simulate", *RUNS, "--model-from", model, "--sessions", "20")
    counts = [int(line.rpartition("\t")[2]) for line in drawn.text.splitlines()[1:]]
    assert (drawn.code, sum(counts)) == (0, 20)


def test_models_with_parameters_of_grades_are_printed_as_a_table(cli: Command, log: str) -> None:
    result = cli("clicks", "models", log, RIVERS, "--tie", "grade", "--model", "cm dbn(gamma=fit)", "--test-log", log)
    assert result.code == 0
    assert "attractiveness" in result.text
    assert "gamma" in result.text


@pytest.mark.exhaustive
def test_qrels_follow_their_options(cli: Command, log: str, tmp_path: Path) -> None:
    words = {0: "none", 1: "fair", 2: "good", 3: "great", 4: "best", -2: "spam"}
    lines = [line.split() for line in Path(RIVERS).read_text().splitlines()]
    (tmp_path / "words.csv").write_text("".join(f"{t},{d},{words[int(g)]}\n" for t, _, d, g in lines))
    labels = ",".join(f"{word}={grade}" for grade, word in words.items())
    options = ("--qrels-format", "topic,docno,grade", "--labels", labels, "--quiet", "-f", "csv")
    for verb, more in {
        "gains": ("--model", "cm"),
        "models": ("--tie", "grade", "--model", "cm"),
        "measures": (),
        "correlate": ("-m", "err", "--unjudged", "keep"),
    }.items():
        plain = cli("clicks", verb, log, RIVERS, *more, "--quiet", "-f", "csv")
        converted = cli("clicks", verb, log, "words.csv", *more, *options)
        assert (converted.code, converted.out) == (plain.code, plain.out), verb


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("models", "{log}", "--tie", "grade"), "--tie grade: needs the grades of documents; add QRELS"),
        (("models", "{log}", "--model", "cm ubm", "--write-model", "x.json"),
         "--write-model: 2 models; name one with --model"),
        (("models", "{log}", RIVERS, "--tie", "grade", "--write-relevance", "x"), "to documents, not to grades"),
        (("models", "{log}", "--write-relevance", "x", "--min-seen", "9999999"), "sessions; give a lower --min-seen"),
        (("models", "{log}", "--test-log", RUNS[0], "--write-model", RUNS[0]),
         "is also the file of --test-log; choose"),
        (("models", "{log}", "--write-model", "new", "--write-relevance", "new"), "is also the file of --write-"),
        (("models", "{log}", "--write-model", "new.csv", "-o", "new.csv"),
         "-o: 'new.csv' is also the file of --write-m"),
        (("fit", "{log}", "--weights", RUNS[0], "-o", RUNS[0]), "is also the file of --weights; choose"),
        (("models", "{log}", "--min-seen", "5"), "--min-seen: applies to --write-relevance; add it"),
        (("models", "{log}", "--labels", "x"), "--labels: says how QRELS are read; add them"),
        (("measures", "{log}", "--qrels-format", "trec"), "--qrels-format: says how QRELS are read; add them"),
        (("models",), "expected a click log, and perhaps qrels; usage: gradedeval clicks models LOG [QRELS]"),
        (("gains", "{log}"), "expected a click log and qrels; usage: gradedeval clicks gains LOG QRELS"),
        (("simulate", *RUNS, RIVERS),
         "choose a user model; give either --as MEASURE or --model-from FILE"),
        (("simulate", *RUNS, RIVERS, "--as", "ndcg"), "'ndcg': has no user who looks and clicks; name a C/W/L measure"),
    ],
)  # fmt: skip
def test_bad_arguments_have_a_clear_message(words: tuple[str, ...], message: str, cli: Command, log: str) -> None:
    result = cli("clicks", *(word.format(log=log) if word == "{log}" else word for word in words))
    assert result.code == 2
    assert message in result.messages[-1]


def test_names_outside_utf_8_are_kept(cli: Command, tmp_path: Path) -> None:
    lines = [
        b"topic\tclicks\tshown\tuser\tkind\n",
        *[b"q\xe4\t1 2\td\xf6 e\tm\xfc\tk\xdf\n", b"q\xe4\t2\te d\xf6\t\tl\n"] * 9,
    ]
    (tmp_path / "log").write_bytes(b"".join(lines))
    (tmp_path / "qrels").write_bytes(b"q\xe4 0 d\xf6 2\nq\xe4 0 e 1\n")
    for words in (
        ("observe", "log", "--per", "user"),
        ("observe", "log", "--per", "query"),
        ("measures", "log", "qrels"),
        ("correlate", "log", "qrels", "-m", "err", "--by", "kind"),
        ("models", "log", "--model", "ctr", "--write-relevance", "seen.csv", "--min-seen", "0"),
        ("gains", "log", "qrels", "--model", "ctr"),
    ):
        result = cli("clicks", *words, "-f", "csv", "--quiet")
        assert (result.code, result.messages) == (0, []), words
        if words[0] == "measures":
            assert b"\nq\xe4,d\xf6 e,9," in result.out
    assert b"q\xe4,d\xf6," in (tmp_path / "seen.csv").read_bytes()
    assert "q\udce4" in clicks.read_log(tmp_path / "log").frame()["topic"].tolist()
    result = succeed(cli("clicks", "models", "log", "--model", "pbm", "--write-model", "pbm.json", "-f", "json"))
    assert json.loads((tmp_path / "pbm.json").read_text("utf-8"))["attractiveness"].keys() == {"q\udce4"}
    assert ("q\udce4", "d\udcf6") in clicks.read_model(tmp_path / "pbm.json").items.names
