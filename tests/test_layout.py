"""The house rules that a reader relies on: imports go one way, modules are small, help is quick, everything is said."""

from __future__ import annotations

import ast
import importlib
import inspect
import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import gradedeval
from support.commands import environment
from support.paths import ROOT

PACKAGE = ROOT / "gradedeval"
FILES = sorted(PACKAGE.rglob("*.py"))
by_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))

# The pipe, from words and bytes to text: each may import those before it. A new module takes its place here.
ORDER = (
    *("version", "errors", "arrays", "formats", "parallel", "trec", "measures", "options", "rankings", "scoring"),
    *("analysis", "trec_eval", "cli", "__main__"),
)

# Slow to import, and no part of a plain evaluation.
LATE = ("pandas", "scipy", "matplotlib", "importlib.metadata", "numpy.random")

MOST_LINES, MOST_LINES_OF_A_FUNCTION = 320, 50


def module_name(path: Path) -> str:
    """`gradedeval.trec.run` for gradedeval/trec/run.py, `gradedeval.trec` for its `__init__.py`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def is_for_types_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imported(path: Path) -> set[str]:
    """The modules of gradedeval that a file imports, early or late; not those for type checkers alone."""
    tree = parsed(path)
    typing = {id(inner) for node in ast.walk(tree) if is_for_types_alone(node) for inner in ast.walk(node)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in typing:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are written in full"
            # `from gradedeval.trec import run` names a module, `from gradedeval.trec.run import Run` what is in it.
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & MODULES.keys() or {str(node.module)}
    return found & MODULES.keys()


def layer(module: str) -> str:
    """The part of the pipe that a module belongs to; the package itself is `gradedeval`."""
    return module.split(".")[1] if "." in module else module


def test_every_module_has_its_place_in_the_order() -> None:
    assert {layer(module) for module in MODULES} - {"gradedeval"} == set(ORDER)


@by_file
def test_an_import_goes_one_way_only(path: Path) -> None:
    own = layer(module_name(path))
    if own == "gradedeval":
        # What the package offers it imports when asked: only so is `--help` quick.
        assert imported(path) <= {"gradedeval.version"}
        return
    others = {layer(module) for module in imported(path)} - {own}
    assert others <= set(ORDER[: ORDER.index(own)])


def test_no_import_goes_in_a_circle() -> None:
    try:
        TopologicalSorter({module: imported(path) for module, path in MODULES.items()}).prepare()
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


def test_the_version_is_readable_without_importing_anything() -> None:
    assert not [
        node for node in ast.walk(parsed(PACKAGE / "version.py")) if isinstance(node, ast.Import | ast.ImportFrom)
    ]


@pytest.mark.parametrize("module", MODULES)
def test_every_module_imports_alone(module: str) -> None:
    done = python("-c", f"import {module}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def python(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )


def modules_of(*words: str, folder: Path) -> set[str]:
    """The modules that a command imports."""
    done = python("-X", "importtime", "-m", "gradedeval", *words, folder=folder)
    assert done.returncode == 0, done.stderr[-500:]
    times = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in times}


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "--version",
        "eval --help",
        "run.txt qrels.txt -m err@20",
        "run.txt qrels.txt -m err@20 -f csv -o out.csv",
        "run.txt qrels.txt -m err@20 --residuals -q -f trec",
        "trec_eval -q -m all_trec qrels.txt run.txt",
        "lint run.txt --qrels qrels.txt",
    ],
)
def test_what_is_slow_to_import_is_not_imported(words: str, tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    modules = modules_of(*words.split(), folder=tmp_path)
    assert {late for late in LATE if any(name == late or name.startswith(f"{late}.") for name in modules)} == set()


def test_what_a_small_evaluation_does_not_need_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    modules = modules_of("run.txt", "qrels.txt", "-m", "err@20", "--residuals", folder=tmp_path)
    own = {name.rpartition(".")[2] for name in modules if name.startswith("gradedeval.measures.")}
    assert own <= {
        "cascade_models",
        "cumulated_gain",
        "definition",
        "parameter_files",
        "parameters",
        "relevant_ranks",
        "table",
        "gains",
        "gain_schemes",
        "notation",
        "parse",
        "plugins",
        "costs",
    }
    assert not modules & {"hashlib", "pathlib", "json", "csv", "html", "bz2", "lzma", "tempfile"}


def test_help_does_not_wait_for_numpy(tmp_path: Path) -> None:
    assert "numpy" not in modules_of("--help", folder=tmp_path)
    assert "numpy" not in modules_of("--version", folder=tmp_path)


@by_file
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@by_file
def test_functions_are_short(path: Path) -> None:
    functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FUNCTION} == {}


@by_file
def test_a_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(parsed(path))


def test_no_module_is_called_after_nothing() -> None:
    names = {part for module in MODULES for part in module.split(".")}
    assert not names & {"utils", "base", "types", "constants", "config", "managers", "registries", "helpers", "common"}


@pytest.mark.parametrize("name", gradedeval.__all__)
def test_what_the_package_offers_is_explained(name: str) -> None:
    offered = getattr(gradedeval, name)
    if inspect.isclass(offered) or inspect.isfunction(offered):
        text = offered.__doc__ or ""
        assert text.strip()
        # Dataclasses without a docstring get one that repeats their fields.
        assert not text.startswith(f"{name}(")


def test_the_package_offers_what_it_says_and_nothing_else() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        gradedeval.no_such_name  # noqa: B018
    assert len(set(gradedeval.__all__)) == len(gradedeval.__all__)


@pytest.mark.parametrize("name", gradedeval.MEASURES)
def test_a_measure_stands_in_the_table_by_its_name(name: str) -> None:
    measure = gradedeval.MEASURES[name]
    assert isinstance(measure, gradedeval.Measure)
    assert measure.name == name
    assert getattr(gradedeval.measures, name) is measure
    # A module of that name would hide it once imported.
    assert not (PACKAGE / "measures" / f"{name}.py").exists()


def test_every_measure_that_is_defined_stands_in_the_table() -> None:
    modules = [importlib.import_module(name) for name in MODULES if name.startswith("gradedeval.measures.")]
    defined = {one for module in modules for one in vars(module).values() if isinstance(one, gradedeval.Measure)}
    assert defined == set(gradedeval.MEASURES.values())


@pytest.mark.parametrize("name", gradedeval.MEASURES)
def test_a_measure_is_explained_in_three_paragraphs(name: str) -> None:
    paragraphs = gradedeval.MEASURES[name].definition.paragraphs
    assert len(paragraphs) == 3, "what it is, its formula, its source"
    assert all(paragraphs)
    what, _, source = paragraphs
    assert what.endswith(".")
    assert source.endswith(".")


CLI = [path for path in FILES if "cli" in path.relative_to(PACKAGE).parts]
by_cli_file = pytest.mark.parametrize("path", CLI, ids=lambda path: path.name)


def is_text(node: ast.expr) -> bool:
    """Whether a + joins texts or lists: one side is written as one."""
    literal = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return literal or isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)


@by_cli_file
def test_the_command_line_computes_nothing(path: Path) -> None:
    computed = [
        node.lineno
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.BinOp)
        # | and & are unions of types and bits of permissions.
        and not isinstance(node.op, ast.BitOr | ast.BitAnd)
        and not (isinstance(node.op, ast.Add) and (is_text(node.left) or is_text(node.right)))
    ]
    assert computed == []
    called = {
        node.func.id
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"sum", "round", "abs", "divmod", "pow"}


@by_cli_file
def test_the_command_line_formats_no_number(path: Path) -> None:
    specs = [
        part.value
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr)
        for part in node.format_spec.values
        if isinstance(part, ast.Constant)
    ]
    # Text may be put into columns; a precision or a kind of number belongs to a renderer.
    assert [spec for spec in specs if str(spec).strip("<>^0123456789")] == []
    assert "format" not in {
        node.func.attr
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


@by_cli_file
def test_the_command_line_touches_no_array_and_no_frame(path: Path) -> None:
    names = {alias.name for node in ast.walk(parsed(path)) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(parsed(path)) if isinstance(node, ast.ImportFrom)}
    assert not {name.split(".")[0] for name in names} & {"numpy", "pandas"}


TOP = {
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"),
    *("gradedeval", "tests", "docs", "examples", "qrels_samples"),
}


def tracked() -> list[str]:
    """The files that git knows, and those that it would."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return listed.stdout.decode().split("\0")[:-1]


def test_the_top_of_the_repository_holds_what_it_may() -> None:
    names = {Path(name).parts[0] for name in tracked()}
    assert {name for name in names if not name.startswith(".")} <= TOP


def test_no_file_made_by_a_tool_is_tracked() -> None:
    made = ("__pycache__", ".pyc", ".egg-info", ".ipynb_checkpoints", ".DS_Store", "~")
    assert [name for name in tracked() if name.endswith(made) or "__pycache__" in name] == []


def test_type_checkers_are_told_that_the_package_has_types() -> None:
    assert (PACKAGE / "py.typed").is_file()
    assert "gradedeval/py.typed" in tracked()
