"""The instructions of docs/contributing.md, followed in a copy of the package."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import ROOT

PAGE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """Return the section of the page under a heading."""
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the parts of the repository that the instructions need: the package, the support of its tests, and the
    samples."""
    for name in ("gradedeval", "tests/support"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "qrels_samples").symlink_to(ROOT / "qrels_samples")
    return tmp_path


def python(copy: Path, *words: str) -> str:
    """Return the output of `python WORDS...`, with the package of the copy."""
    environment = {"PYTHONPATH": f"{copy}:{copy / 'tests'}", "LC_ALL": "C.UTF-8", "PATH": ""}
    done = subprocess.run(
        [sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def replace(path: Path, diff: str) -> None:
    """Make the change that a block of `-` and `+` lines shows; the old lines must be there, once."""
    old, new = ("".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] == sign) for sign in "-+")
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def typed(session: str) -> list[str]:
    """Return the commands of a session, each in one line."""
    return re.sub(r"\\\n *", "", session).splitlines()


@pytest.mark.exhaustive
def test_a_measure_is_a_function_and_its_name_in_the_table(copy: Path) -> None:
    walk = section("Add a measure")
    (function,), (line,), (session,) = (blocks(walk, kind) for kind in ("python", "diff", "console"))
    place = copy / function.partition("\n")[0].removeprefix("# ")
    with place.open("a", encoding="utf-8") as module:
        module.write(f"\n\n{function.partition(chr(10))[2]}")
    replace(copy / "gradedeval" / "kernel" / "measures" / "definition.py", line)

    evaluate, explain = (python(copy, "-m", *shlex.split(command.removeprefix("$ "))) for command in typed(session))
    assert re.search(r"^half_life(\s+\d+\.\d{4}){2}$", evaluate, re.M)
    assert re.search(r"^half_life\(h=10\)@20(\s+\d+\.\d{4}){2}$", evaluate, re.M)
    assert explain.startswith("half_life: Half-life utility")
    assert "\nhalf_life " in python(copy, "-m", "gradedeval", "measures", "--all")
    score = "print(gradedeval.evaluate({'t': {'a': 2.0, 'b': 1.0}}, {'t': {'a': 1, 'b': 3}}, 'half_life(h=3)').means)"
    assert python(copy, "-c", f"import gradedeval; {score}") == f"{{'half_life(h=3)': {1 + 3 / 2**0.5!r}}}\n"
    tested = "from support.measures import REPRESENTATIVES; print(*REPRESENTATIVES, sep='\\n')"
    assert {"half_life", "half_life@3", "half_life(rel=2)"} <= set(python(copy, "-c", tested).splitlines())


@pytest.mark.exhaustive
def test_an_output_format_is_a_function_and_its_row(copy: Path) -> None:
    walk = section("Add an output format")
    (function,), (row,), (session,) = (blocks(walk, kind) for kind in ("python", "diff", "console"))
    place, _, body = function.removeprefix("# ").partition("\n")
    module = copy / place
    above = "@dataclass(eq=False, repr=False)\nclass Format:"
    text = module.read_text(encoding="utf-8")
    assert text.count(above) == 1
    module.write_text(text.replace(above, f"{body}\n\n{above}"), encoding="utf-8")
    replace(module, row)

    commands = [shlex.split(command.removeprefix("$ ")) for command in typed(session)]
    evaluate, compare = (python(copy, "-m", *words) for words in commands)
    assert re.search(r"^=+  =+\nmeasure +score\n=+  =+\nerr@20 +0\.2886\n=+  =+\n\ngradedeval ", evaluate)
    assert re.search(r"^err@20 +rivers-neural\.run +0\.7176 ", compare, re.M)
    assert compare.startswith("=====")
    python(copy, "-m", *commands[1][:-2], "-o", "compared.rst")
    assert (copy / "compared.rst").read_text(encoding="utf-8") == compare


def test_a_command_is_a_function_a_module_and_a_line(copy: Path) -> None:
    walk = section("Add a command")
    modules, (line,), (session,) = (blocks(walk, kind) for kind in ("python", "diff", "console"))
    for module in modules:
        place, _, body = module.removeprefix("# ").partition("\n")
        (copy / place).write_text(body, encoding="utf-8")
    replace(copy / "gradedeval" / "cli" / "__init__.py", line)

    listed, page = (python(copy, "-m", *shlex.split(words.removeprefix("$ "))) for words in typed(session))
    assert re.match(r"topic\n-+\n\d+\n\d+\n\ngradedeval ", listed)
    assert page.count("  --first N") == page.count("  --judged-only") == 1
    assert "  topics  " in python(copy, "-m", "gradedeval", "--help")


def test_an_option_is_one_definition(copy: Path) -> None:
    walk = section("Add an option")
    *lines, (session,) = *blocks(walk, "diff"), blocks(walk, "console")
    for line in lines:
        replace(copy / "gradedeval" / "kernel" / "options" / "__init__.py", line)

    scored, page = (python(copy, "-m", *shlex.split(words.removeprefix("$ "))) for words in typed(session))
    assert " | min depth 3\n" in f"{scored}\n"
    assert "--min-depth N" in page
    assert "min_depth " in python(copy, "-c", "import gradedeval; print(gradedeval.evaluate.__doc__)")
    key = "from gradedeval.questions.limits import OPTION_KEYS; print(OPTION_KEYS['min-depth'].text)"
    assert python(copy, "-c", key) == "Take topics with fewer than N documents as missing. [x>=1]\n"
