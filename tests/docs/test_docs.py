"""The sessions of the README and of docs/ print their output; `--golden` rewrites outputs and generated parts."""

import re
from pathlib import Path

import pytest

from gradedeval.kernel.measures.definition import MEASURES
from support.generated_docs import PYTHON_PAGES, commands, generated, options, public_names
from support.paths import ROOT
from support.sessions import WIDTH, reader_folder, rewritten

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# Their commands take a second and more.
SLOW = (
    *("compare-measures.md", "compare-two-systems.md", "keep-a-history.md", "use-click-logs.md", "gate-ci.md"),
    *("report.md", "draw-pictures.md", "unjudged-documents.md", "find-what-changed.md", "own-measure.md"),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.exhaustive if page.name in SLOW else ()) for page in PAGES],
    ids=name_of,
)
def test_pages_equal_the_output_of_their_blocks(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = page.read_text(encoding="utf-8")
    now = generated(text)
    # Other tests follow the instructions of contributing.md.
    if page.name != "contributing.md":
        now = rewritten(now, reader_folder(tmp_path))
    if request.config.getoption("--golden"):
        page.write_text(now, encoding="utf-8")
    else:
        assert now == text


def test_descriptions_of_measures_are_whole_sentences() -> None:
    page = (ROOT / "docs/reference/measures.md").read_text(encoding="utf-8")
    entries = re.findall(r"^### (\S+)\n\n(.*)\n\n\| \| \|\n\|---\|---\|\n((?:\| .*\n)*)", page, re.M)
    assert {name for name, _, _ in entries} == set(MEASURES)
    assert [
        name
        for name, description, rows in entries
        if not description.endswith(".") or re.search(r"^\| +\|", rows, re.M)
    ] == []


SAMPLE = re.compile(r"^```(?:console|python|sh|text|toml)\n(.*?)^```", re.M | re.S)


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "examples").glob("*.md"))], ids=name_of)
def test_samples_are_no_wider_than_a_terminal(page: Path) -> None:
    samples = SAMPLE.findall(page.read_text(encoding="utf-8"))
    assert [line for sample in samples for line in sample.splitlines() if len(line) > WIDTH] == []


def test_every_command_option_and_measure_occurs_in_the_docs() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    missing = [f"gradedeval {name}" for name, _ in commands() if f"gradedeval {name}" not in text]
    named = set(re.findall(r"(?<![\w-])--?\w[\w-]*", text))
    missing += [
        f"{name} {option}"
        for name, command in commands()
        for declared in options(command)
        for option in declared.opts
        if option not in named
    ]
    missing += [name for name in MEASURES if f"\n### {name}\n" not in text]
    assert not missing


def test_every_public_name_is_on_one_page_of_the_python_reference() -> None:
    assert sorted(" ".join(PYTHON_PAGES.values()).split()) == sorted(public_names())
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES if "python" in page.parts)
    parts = re.findall(r"<!-- generated: python ([\w ]+) -->", text)
    assert sorted(parts) == sorted(["index", *PYTHON_PAGES])


@pytest.mark.parametrize("page", sorted((ROOT / "docs/reference/python").glob("*.md")), ids=name_of)
def test_a_page_of_the_python_reference_is_read_at_once(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").split()) <= 3000


def test_the_readme_is_short() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    assert len(text.split()) <= 900


def test_ci_runs_the_two_set_up_commands() -> None:
    """Check that the README has two set-up commands, one in each block; `.ci/run` runs them."""
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert [len(re.findall(r"(?<!\\)\n", block)) for block in blocks] == [1, 1]
    assert "pip install . &&" in blocks[0]
    assert blocks[1].endswith("pip install '.[test]' && .venv/bin/python -m pytest\n")
    assert "README.md" in (ROOT / ".ci" / "run").read_text()
