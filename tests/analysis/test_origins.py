"""Signatures of saved scores: scores with other settings are refused or noted, never compared silently."""

import csv
import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError
from gradedeval.analysis.saved_scores import Signature, holds_scores, read_saved
from support.commands import Command, succeed, without_flips
from support.commands import rows as csv_rows

FORMS = ("csv", "tsv", "json", "jsonl")
RUNS = ("a.run", "b.run")
WORDS = ("-m", "err@20 ap gap", "-q", "--residuals")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, listed in {"a.run": "dgb", "b.run": "bdg"}.items():
        rows = (f"{t} Q0 {docno} {rank} {9 - rank} x\n" for t in "123" for rank, docno in enumerate(listed, 1))
        (tmp_path / name).write_text("".join(rows))
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 d 3\n{t} 0 g {t}\n{t} 0 b 0\n" for t in "123"))
    (tmp_path / "other.txt").write_text("".join(f"{t} 0 d 3\n{t} 0 g 2\n{t} 0 b 0\n" for t in "123"))
    return tmp_path


def save(cli: Command, name: str, *words: str) -> None:
    assert cli(*words, *WORDS, "-o", name).code == 0


def refused(cli: Command, *words: str) -> str:
    """Return the only message of a command that refuses its arguments."""
    result = cli(*words)
    assert (result.code, result.out, len(result.messages)) == (2, b"", 1), result.messages
    return result.messages[0]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("verb", ["compare", "correlate", "power"])
def test_scores_read_back_from_every_format_give_the_same(verb: str, form: str, files: Path, cli: Command) -> None:
    save(cli, f"scores.{form}", *RUNS, "qrels.txt")
    assert holds_scores(f"scores.{form}")
    words = ("-f", "csv") if verb == "correlate" else ("-f", "csv", "--draws", "20")
    direct = succeed(cli(verb, *RUNS, "qrels.txt", "-m", "err@20 ap gap", *words))
    saved = cli(verb, "--from-scores", f"scores.{form}", *words)
    assert without_flips(saved.text, "same_order") == without_flips(direct.text, "same_order")
    if verb == "compare":
        # Judging lowers ap and gap, so their residuals settle no order; only runs show that every document is judged.
        assert [row["same_order"] for row in csv_rows(direct.text)] == ["True", "True", "True"]
        assert [row["same_order"] for row in csv_rows(saved.text)] == ["True", "False", "False"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", FORMS)
def test_a_baseline_of_another_top_grade_is_refused(form: str, files: Path, cli: Command) -> None:
    base = f"base.{form}"
    save(cli, base, "a.run", "qrels.txt", "--top-grade", "6")
    for command in (("compare", "a.run"), ("check", "a.run", "--max-drop", "err@20=5%")):
        words = (*command, "qrels.txt", "-m", "err@20", "--baseline", base)
        assert refused(cli, *words) == (
            f"{base}: err@20 of 'a.run' is scored with top grade 6 (here 3); score it again with the same qrels and "
            "options"
        )


def test_options_without_effect_on_a_measure_may_differ(files: Path, cli: Command) -> None:
    """Check that the top grade, the topics of the mean and residuals change no average precision."""
    same = ("compare", "b.run", "qrels.txt", "-m", "ap", "--baseline", "a.csv", "-f", "csv")
    for words in (("--top-grade", "6"), ("--topics", "both"), ("--residual-depth", "full")):
        save(cli, "a.csv", "a.run", "qrels.txt", *words)
        assert cli(*same).code == 0, words


@pytest.mark.parametrize(
    ("words", "difference"),
    [
        (("--ties", "docno-asc"), "ties docno-asc (here docno-desc)"),
        (("--order", "file"), "order file (here unset), ties unset (here docno-desc)"),
        (("--depth", "2"), "depth 2 (here unset)"),
        (("--judged-only",), "judged only set (here unset)"),
        (("--negative", "unjudged"), "negative unjudged (here unset)"),
        (("--order", "float32"), "scores float32 (here unset)"),
        (("--like", "trec_eval"), "like trec_eval (here unset), negative unjudged (here unset), …"),
    ],
)
def test_options_that_change_numbers_must_agree(
    words: tuple[str, ...], difference: str, files: Path, cli: Command
) -> None:
    plain = ("-q", "-m", "ap", "-o", "base.csv")
    assert cli("a.run", "qrels.txt", *words, *plain).code == 0
    message = refused(cli, "compare", "b.run", "qrels.txt", "-m", "ap", "--baseline", "base.csv")
    expected = f"base.csv: ap of 'a.run' is scored with {difference}"
    assert (
        message.startswith(expected.removesuffix("…"))
        if difference.endswith("…")
        else message.startswith(f"{expected};")
    )


def test_other_qrels_are_named_by_their_checksums(files: Path, cli: Command) -> None:
    save(cli, "a.csv", "a.run", "qrels.txt")
    save(cli, "b.json", "b.run", "other.txt")
    digests = [gradedeval.Qrels(name).digest for name in ("other.txt", "qrels.txt")]
    message = refused(cli, "correlate", "--from-scores", "a.csv", "--from-scores", "b.json")
    assert message.startswith(
        f"b.json: err@20, ap, gap of 'b.run' are scored with qrels {digests[0]} (a.run: {digests[1]}); "
    )


@pytest.mark.filterwarnings("ignore:.* no end at 95%.*:gradedeval.EvaluationWarning")
def test_concatenated_rows_of_different_qrels_are_refused(files: Path, cli: Command) -> None:
    save(cli, "a.csv", "a.run", "qrels.txt")
    save(cli, "b.csv", "b.run", "other.txt")
    both = (files / "a.csv").read_text() + (files / "b.csv").read_text().partition("\n")[2]
    (files / "both.csv").write_text(both)
    assert "'b.run' are scored with qrels" in refused(cli, "compare", "--from-scores", "both.csv")
    frame = pd.read_csv("both.csv", dtype={"topic": str})
    for function in (gradedeval.compare, gradedeval.correlate, gradedeval.power):
        with pytest.raises(InputError, match=r"'b\.run' are scored with qrels"):
            function(frame)


def test_a_file_that_a_measure_reads_must_be_the_same(files: Path, cli: Command) -> None:
    measure = ("-m", "ndcg(gain=@gains.csv)", "-q")
    (files / "gains.csv").write_text("0,0\n1,1\n2,2\n3,3\n")
    assert cli("a.run", "qrels.txt", *measure, "-o", "base.csv").code == 0
    (files / "gains.csv").write_text("0,0\n1,1\n2,2\n3,9\n")
    message = refused(cli, "compare", "b.run", "qrels.txt", *measure[:2], "--baseline", "base.csv")
    expected = r"base\.csv: ndcg\(gain=@gains\.csv\) of 'a\.run' is scored with gains @gains\.csv \w{6} gains \(here @"
    assert re.match(expected, message)


def test_scores_without_a_signature_are_accepted_with_a_note(files: Path, cli: Command) -> None:
    save(cli, "a.csv", "a.run", "qrels.txt")
    frame = pd.read_csv("a.csv", dtype={"topic": str})
    frame.drop(columns="signature").to_csv("old.csv", index=False)
    result = cli("compare", "b.run", "qrels.txt", "-m", "err@20 ap gap", "--baseline", "old.csv")
    assert (result.code, result.messages[:-1]) == (0, ["old.csv: no signature, so qrels and options cannot be checked"])
    frame["signature"] = frame["signature"].str.replace(gradedeval.__version__, "0.0.9")
    frame.to_csv("older.csv", index=False)
    result = cli("compare", "b.run", "qrels.txt", "-m", "err@20 ap gap", "--baseline", "older.csv")
    note = f"scores come from several versions: the runs by gradedeval {gradedeval.__version__}, older.csv by"
    assert (result.code, result.messages[:-1]) == (0, [f"{note} gradedeval 0.0.9"])


def test_a_reference_is_of_the_same_qrels_and_options(files: Path, cli: Command) -> None:
    assert cli(*RUNS, "qrels.txt", "-m", "ndcg err", "--save-reference", "ref.csv").code == 0
    assert cli("a.run", "qrels.txt", "-m", "ndcg err", "--reference", "ref.csv").messages == []
    words = ("a.run", "other.txt", "-m", "ndcg", "--reference", "ref.csv")
    assert refused(cli, *words).startswith("ref.csv: scored with qrels ")
    assert refused(cli, "compare", "b.run", *words).startswith("ref.csv: scored with qrels ")


ROW = '{"run": "r", "topic": "1", "measure": "ap", "score": 0.5}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"signature": "",\n "rows": [\n  {"run": "r"', "s.json:3: is not valid JSON"),
        (f"{ROW}\n{ROW[:20]}\n", "s.json:2: is not valid JSON"),
        (f'{{"rows": [\n\n{ROW}, {{"run": "r"}}]}}', "s.json:3: no key 'topic'; save scores with"),
        (f'{{"rows": [\n{ROW},\n\n\n[1]]}}', "s.json:5: no key 'run'"),
        (f"{ROW}\n\n{ROW}\n", "s.json:3: duplicate ap of topic 1 of 'r' (first on line 1)"),
        (ROW.replace("0.5", '"x"'), "s.json:1: 'x' is not a number"),
        (ROW.replace("0.5", "null"), "s.json:1: no score"),
        ('{"rows": []}', "s.json: no scores by topic"),
        (f"{ROW}\n{ROW.replace('0.5', '1' * 5000)}\n", "s.json:2: is not valid JSON (a number has too many digits)"),
    ],
)
def test_a_fault_in_json_has_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(InputError) as error:
        read_saved(tmp_path / "s.json")
    assert str(error.value).startswith(f"{tmp_path}/{message}")


def test_json_in_other_layouts_is_read(tmp_path: Path) -> None:
    for indent in (None, 2):
        (tmp_path / "s.json").write_text(json.dumps({"rows": [json.loads(ROW)]}, indent=indent))
        assert read_saved(tmp_path / "s.json").rows[0].score == 0.5


def test_scores_of_a_stratified_sample_are_held_to_their_qrels(tmp_path: Path) -> None:
    run = {"1": {"a": 2.0, "b": 1.0}}
    saved = []
    for grade in (1, 0):
        (tmp_path / "qrels").write_text(f"1 0 a 1 {grade}\n1 0 b 2 1\n")
        scores = gradedeval.evaluate({f"run{grade}": run}, tmp_path / "qrels", "ap", qrels_format="strata")
        assert Signature.read(scores.signature) is not None
        saved.append(scores.frame)
    with pytest.raises(InputError, match="scored with qrels"):
        gradedeval.check(pd.concat(saved), [gradedeval.Bound("min", "ap", 0.1)])


def test_records_as_pandas_writes_them_are_read(files: Path, cli: Command) -> None:
    save(cli, "scores.csv", *RUNS, "qrels.txt")
    pd.read_csv("scores.csv", dtype={"topic": str}).to_json("scores.json", orient="records")
    same = [cli("compare", "--from-scores", f"scores.{form}", "--quiet") for form in ("csv", "json")]
    assert same[0].code == 0
    assert same[0].out == same[1].out


def test_comparisons_carry_their_signature_in_every_form(files: Path, cli: Command) -> None:
    signature = cli(*RUNS, "qrels.txt", "-m", "err@20 ap", "--signature", "full").words
    signature = signature[signature.index("gradedeval 0") : signature.index(" | sha256 of qrels")]
    for verb in ("compare", "risk"):
        result = cli(verb, *RUNS, "qrels.txt", "-m", "err@20 ap", "-f", "csv", "--quiet")
        header, *rows = csv.reader(io.StringIO(result.text))
        signed = [row[-1] for row in rows]
        assert header[-1] == "signature"
        assert [text for text in signed if text] == [signed[0]] * 2
        assert signed[0].endswith(signature)
    save(cli, "scores.csv", *RUNS, "qrels.txt")
    footer = cli("compare", "--from-scores", "scores.csv", "--signature", "full").words
    footer = footer[footer.index("scores.csv: ") :]
    assert footer.startswith(f"scores.csv: {len(RUNS)} runs | gradedeval ")
    assert " | ".join(footer.split(" | ")[1:4]) == " | ".join(signature.split(" | ")[:3])


def test_a_baseline_without_a_signature_gets_a_warning_in_python(files: Path) -> None:
    first, second = (
        gradedeval.evaluate(str(files / run), str(files / "qrels.txt"), "ap", residuals="total") for run in RUNS
    )
    with pytest.warns(EvaluationWarning, match="<frame>: no signature, so qrels and options cannot be checked"):
        gradedeval.risk(first, baseline=second.frame.drop(columns="signature"))


def test_saved_scores_have_a_form_number_and_are_read_without_one(files: Path, cli: Command) -> None:
    save(cli, "scores.json", *RUNS, "qrels.txt")
    text = (files / "scores.json").read_text()
    assert text.startswith('{"form": 1,\n "signature": "gradedeval ')
    plain = cli("compare", "--from-scores", "scores.json").text
    (files / "scores.json").write_text(text.replace('"form": 1,', ""))
    assert cli("compare", "--from-scores", "scores.json").text == plain
    (files / "scores.json").write_text(text.replace('"form": 1,', '"form": 7,'))
    result = cli("compare", "--from-scores", "scores.json")
    message = (
        "scores.json: is of form 7 of saved scores, and this reads form 1; update gradedeval, or save the scores again"
    )
    assert (result.code, result.messages) == (1, [message])
