"""The examples and the generator of the samples, run."""

import re
from pathlib import Path

import pytest

from support.paths import ROOT
from support.sessions import BLOCK, gradedeval, reader_folder, shell


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    """Yield a folder with the files of a reader."""
    return reader_folder(tmp_path)


def test_the_shell_example_orders_runs_and_names_the_worst_topics(reader: Path) -> None:
    printed = shell("examples/many_runs.sh", reader).splitlines()
    runs = [line.split("\t")[0] for line in printed if line.startswith("rivers-") and "\tall\terr@20" in line]
    assert runs == [f"rivers-{name}" for name in (
        "manual.run", "neural.run", "bm25-rm3.run", "bm25.run", "dense.run", "random.run")]  # fmt: skip
    drops = [float(line.split()[2]) for line in printed if line.startswith("topic ")]
    assert len(drops) == 5
    assert drops == sorted(drops)
    assert drops[0] < 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("file", "words", "begins"),
    [
        ("my.py", "-m first_page", "run,topic,measure,score,signature\nrivers-bm25.run,all,first_page,"),
        (
            "users.py",
            "-m hyperbolic(T=2) --cwl --residuals",
            "run,topic,measure,eu,etu,ec,etc,ed,residual,signature\nrivers-bm25.run,all,hyperbolic(T=2),",
        ),
    ],
)
def test_measures_of_the_page_give_the_scores_of_the_example(file: str, words: str, begins: str, reader: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "own-measure.md").read_text(encoding="utf-8")
    body = next(block["body"] for block in BLOCK.finditer(page) if block["body"].startswith(f"# {file}\n"))
    (reader / file).write_text(body, encoding="utf-8")
    command = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers.qrels", *words.split(), "-f", "csv"]
    ours, theirs = (
        gradedeval([*command, "--measures-from", source], reader, hushed=True)
        for source in (file, "examples/my_measures.py")
    )
    ours_signed, theirs_signed = (re.findall(r" \| code of \w+ [0-9a-f]{6}", text) for text in (ours, theirs))
    assert len(ours_signed) == len(theirs_signed) == 1  # the files differ, and so do their signatures
    assert ours.replace(ours_signed[0], "") == theirs.replace(theirs_signed[0], "")
    assert ours.startswith(begins)


@pytest.mark.exhaustive
def test_the_notebook_prints_the_output_of_its_cells(reader: Path) -> None:
    printed = shell("python examples/notebook.py", reader)
    assert "err@20   0.2886 + 0.0142" in printed
    assert "rivers-neural" in printed
    assert printed.splitlines()[-2:] == ["0 0.3125", "1 0.7812"]  # 1/2 · 1/4 + 1/3 · 3/4 · 3/4; 3/4 + 1/2 · 1/4 · 1/4


@pytest.mark.exhaustive
def test_the_generator_writes_the_samples(reader: Path) -> None:
    written = reader / "written"
    written.mkdir()
    shell(f"python qrels_samples/make.py {written}", reader)
    names = sorted(path.name for path in written.iterdir())
    assert names == sorted(
        path.name
        for path in (ROOT / "qrels_samples").iterdir()
        if path.suffix in (".qrels", ".prior", ".run", ".gz", ".costs", ".csv", ".tsv")
    )
    # Builds of zlib may pack differently; the content is the same.
    sums = "for name in *; do case $name in *.gz) gzip -dc $name;; *) cat $name;; esac | cksum; done"
    samples = f"cd qrels_samples && set -- {' '.join(names)} && " + sums.replace("in *;", 'in "$@";', 1)
    assert shell(f"cd {written} && {sums}", reader) == shell(samples, reader)


@pytest.mark.exhaustive
def test_a_script_for_pytrec_eval_runs_with_one_import_changed(reader: Path, tmp_path: Path) -> None:
    printed = shell("python -W ignore examples/pytrec_eval_script.py", reader)
    assert printed.splitlines()[-3:] == ["P_2      0.2500", "map      0.4583", "ndcg     0.5848"]
    pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    script = (ROOT / "examples" / "pytrec_eval_script.py").read_text(encoding="utf-8")
    (reader / "theirs.py").write_text(script.replace("from gradedeval.interop import", "import"), encoding="utf-8")
    assert shell("python theirs.py", reader) == printed


@pytest.mark.exhaustive
def test_frames_of_polars_are_scored_as_they_are(reader: Path) -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    printed = shell("python examples/polars_frames.py", reader).splitlines()
    assert "bm25 {'ndcg@10': 0.8155, 'rr': 0.75}" in printed
    assert any("('reversed', 'rr', 1.0)" in line for line in printed)


@pytest.mark.exhaustive
def test_rankers_are_trained_by_measures(reader: Path) -> None:
    for name in ("sklearn", "lightgbm", "xgboost"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    printed = shell("python examples/learning_to_rank.py", reader).splitlines()
    assert printed[0] == "ndcg@10 by the first feature: 0.7491"
    assert len(printed[1].rpartition(": ")[2].split()) == 3
    rows = {line.partition(":")[0]: line.split() for line in printed[2:]}
    assert float(rows["LightGBM, gap"][3]) > 0.75
    assert printed[3] == "the same of its scores: True"
    assert float(rows["LGBMRanker, softgap"][-1]) > 0.6
    assert float(rows["XGBoost, err"][3]) > 0.3
