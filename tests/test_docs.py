"""The README's commands and examples do what it says; `--golden` rewrites their output."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CONSOLE = re.compile(r"```console\n(?P<body>.*?)```\n", re.DOTALL)
PYTHON = re.compile(r"```python\n(?P<body>.*?)```\n", re.DOTALL)
SHOWN = re.compile(r"```python\n(?P<body>[^`]*?)```\n\n```text\n(?P<output>.*?)```\n", re.DOTALL)
MEASURES = re.compile(r"(?<=<!-- gradedeval measures -f markdown -->\n).*?(?=<!-- end -->)", re.DOTALL)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a reader has it, with `gradedeval` and `python` of this environment on the PATH."""
    folder = tmp_path_factory.mktemp("reader")
    for name in ("qrels_samples", "examples"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "bin").mkdir()
    for name, words in (("gradedeval", "-m gradedeval"), ("python", "")):
        command = folder / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        command.chmod(0o755)
    return folder


def shell(command: str, folder: Path) -> str:
    """What a reader sees: standard output and error together."""
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout


def session(body: str, folder: Path) -> str:
    """A console block as it comes out: each `$` line followed by what it prints."""
    lines = []
    for command in (line[2:] for line in body.splitlines() if line.startswith("$ ")):
        lines += [f"$ {command}", *shell(command, folder).splitlines()]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def printed(body: str, folder: Path) -> str:
    """What a Python block prints."""
    (folder / "block.py").write_text(body, encoding="utf-8")
    return "".join(f"{line.rstrip()}\n" for line in shell("python block.py", folder).splitlines())


def measures_table(folder: Path) -> str:
    return shell("gradedeval measures -f markdown", folder)


def test_rewriting_the_readme(request: pytest.FixtureRequest, workplace: Path) -> None:
    """With --golden: the outputs and the table of measures are written anew, to be reviewed as a diff."""
    if not request.config.getoption("--golden"):
        pytest.skip("only with --golden")
    text = README.read_text(encoding="utf-8")
    text = CONSOLE.sub(lambda block: f"```console\n{session(block['body'], workplace)}```\n", text)
    text = SHOWN.sub(
        lambda block: f"```python\n{block['body']}```\n\n```text\n{printed(block['body'], workplace)}```\n", text
    )
    README.write_text(MEASURES.sub(lambda _: measures_table(workplace), text), encoding="utf-8")


@pytest.mark.parametrize("body", [block["body"] for block in CONSOLE.finditer(README.read_text(encoding="utf-8"))])
def test_a_console_block_of_the_readme_prints_what_it_shows(body: str, workplace: Path) -> None:
    assert session(body, workplace) == body


def test_the_readmes_table_of_measures_is_the_program_s_own(workplace: Path) -> None:
    shown = MEASURES.search(README.read_text(encoding="utf-8"))
    assert shown is not None
    assert shown[0] == measures_table(workplace)


def test_a_python_block_of_the_readme_prints_what_it_shows(workplace: Path) -> None:
    blocks = list(SHOWN.finditer(README.read_text(encoding="utf-8")))
    assert blocks
    for block in blocks:
        assert printed(block["body"], workplace) == block["output"]


def test_the_two_set_up_commands_are_what_ci_runs() -> None:
    """`.ci/run` takes them out of the README; here only that they are there, one a block."""
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert [len(block.splitlines()) for block in blocks] == [1, 1]
    assert "pip install . &&" in blocks[0]
    assert blocks[1].endswith("pip install '.[test]' && .venv/bin/python -m pytest\n")
    assert "README.md" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize(
    ("name", "words", "begins"),
    [
        ("my.py", "-m first_page", "run,topic,measure,score\nrivers-bm25.run,all,first_page,"),
        (
            "walks.py",
            "-m 'hyperbolic(T=2)' --cwl --residuals",
            "run,topic,measure,eu,etu,ec,etc,ed,residual\nrivers-bm25.run,all,hyperbolic(T=2),",
        ),
    ],
)
def test_the_readme_s_own_measures_give_the_scores_of_the_example(
    name: str, words: str, begins: str, workplace: Path
) -> None:
    own = next(block["body"] for block in PYTHON.finditer(README.read_text(encoding="utf-8")) if name in block["body"])
    (workplace / name).write_text(own, encoding="utf-8")
    files = f"qrels_samples/rivers-bm25.run qrels_samples/rivers.qrels {words} -f csv"
    ours, theirs = (
        shell(f"gradedeval {files} --measures-from {source}", workplace) for source in (name, "examples/my_measures.py")
    )
    assert ours == theirs
    assert ours.startswith(begins)


def test_the_shell_example_orders_runs_and_names_the_worst_topics(workplace: Path) -> None:
    printed = shell("examples/many_runs.sh", workplace).splitlines()
    runs = [line.split("\t")[0] for line in printed if line.startswith("rivers-") and "\tall\terr@20" in line]
    assert runs == [f"rivers-{name}" for name in (
        "manual.run", "neural.run", "bm25-rm3.run", "bm25.run", "dense.run", "random.run")]  # fmt: skip
    drops = [float(line.split()[2]) for line in printed if line.startswith("topic ")]
    assert len(drops) == 5
    assert drops == sorted(drops)
    assert drops[0] < 0


def test_the_notebook_example_prints_what_its_cells_promise(workplace: Path) -> None:
    printed = shell("python examples/notebook.py", workplace)
    assert "err@20   0.2886 + 0.0142" in printed
    assert "rivers-neural" in printed
    assert printed.splitlines()[-2:] == ["0 0.3125", "1 0.7812"]  # 1/2 · 1/4 + 1/3 · 3/4 · 3/4; 3/4 + 1/2 · 1/4 · 1/4


def test_the_samples_are_what_their_generator_writes(workplace: Path, tmp_path: Path) -> None:
    shell(f"python qrels_samples/make.py {tmp_path}", workplace)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == sorted(
        path.name
        for path in (ROOT / "qrels_samples").iterdir()
        if path.suffix in (".qrels", ".prior", ".run", ".gz", ".costs", ".csv")
    )
    for name in written:
        # zlib builds may pack differently; what is packed may not differ.
        unpack = "gzip -dc" if name.endswith(".gz") else "cat"
        assert shell(f"{unpack} {tmp_path / name} | cksum", workplace) == shell(
            f"{unpack} qrels_samples/{name} | cksum", workplace
        )
