"""The house rules that a reader relies on: imports go one way, modules are small, help is quick, everything is said."""

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import kernel
from support.commands import python
from support.paths import ROOT
from support.rooms import KERNEL, ORDER, OUTER, doorway
from support.source import FILES, PACKAGE, nodes
from support.source import module as parsed

# Slow to import, and no part of a plain evaluation.
LATE = ("pandas", "scipy", "matplotlib", "bokeh", "jinja2", "tabulate", "importlib.metadata", "numpy.random",
        "dask", "distributed", "fsspec")  # fmt: skip

MOST_LINES, MOST_LINES_OF_A_FUNCTION = 900, 50
MOST_ENTRIES, MOST_FLOORS, MOST_NAMES, MOST_FOR_A_RUN = 17, 9, 60, 38


def module_name(path: Path) -> str:
    """Return `gradedeval.clicks.log` for gradedeval/clicks/log.py, `gradedeval.clicks` for its `__init__.py`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def statements(inside: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a module or a statement, at any depth; not those for type checkers alone."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(inside, part, ()):
            if not is_for_types_alone(node):
                yield node
                yield from statements(node)


def is_for_types_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imported(path: Path) -> set[str]:
    """Return the modules of gradedeval that a file imports, early or late; not those for type checkers alone."""
    modules: set[str] = set()
    for node in statements(parsed(path)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are written in full"
            # `from gradedeval.clicks import log` names a module, `from gradedeval.errors import flag` does not.
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules |= inner & MODULES.keys() or {str(node.module)}
    return (modules | imported_by_name(path)) & MODULES.keys()


def imported_by_name(path: Path) -> set[str]:
    """Return the modules that a file imports by `import_module("…")`, which could hide a circle or a step upwards."""
    calls = [node for node in nodes(path) if isinstance(node, ast.Call) and node.args]
    named = [call.args[0] for call in calls if ast.unparse(call.func).rpartition(".")[2] == "import_module"]
    return {name.value for name in named if isinstance(name, ast.Constant) and isinstance(name.value, str)}


def room(module: str, kernel: bool = False) -> str:
    """Return the part of the package that a module belongs to, or of its kernel; the package itself is `gradedeval`."""
    parts = module.split(".")[1:] if "." in module else [module]
    return parts[1] if kernel else parts[0]


@cache
def imports() -> dict[str, set[str]]:
    """Return module -> its imports; for the kernel, also the names of its interface."""
    modules_by_importer = {module: imported(path) for module, path in MODULES.items()}
    return modules_by_importer | {"gradedeval.kernel": set(doorway().values())}


@cache
def rooms(kernel: bool = False) -> dict[str, set[str]]:
    """Return the other rooms from which each room imports: of the package, or inside its kernel."""
    modules = [module for module in MODULES if not kernel or module.startswith("gradedeval.kernel.")]
    rooms_by_room: dict[str, set[str]] = {room(module, kernel): set() for module in modules}
    for module in modules:
        rooms_by_room[room(module, kernel)] |= {
            room(target, kernel) for target in imports()[module] if target in modules
        }
    return {name: others - {name} for name, others in rooms_by_room.items()}


@cache
def floor(name: str) -> int:
    """Return 1 for a room without imports, otherwise one more than the highest room it imports."""
    return 1 + max((floor(room_below) for room_below in rooms()[name]), default=0)


@pytest.mark.exhaustive
def test_every_room_has_its_place_in_the_order() -> None:
    assert rooms().keys() - {"gradedeval"} == set(ORDER)
    assert rooms(kernel=True).keys() == set(KERNEL)


def test_the_root_of_the_package_has_few_entries() -> None:
    # `py.typed` is an empty mark for type checkers: nobody looks for anything in it.
    assert len([path for path in PACKAGE.iterdir() if path.name not in {"__pycache__", "py.typed"}]) <= MOST_ENTRIES


@pytest.mark.parametrize(("kernel", "order"), [(False, ORDER), (True, KERNEL)])
def test_an_import_goes_one_way_only(kernel: bool, order: tuple[str, ...]) -> None:
    back = {
        name: later
        for name, others in rooms(kernel).items()
        if name in order and (later := others - {"gradedeval", *order[: order.index(name)]})
    }
    assert back == {}
    # What the package offers it imports when asked: only so is `--help` quick.
    assert not rooms()["gradedeval"]


def test_the_library_knows_nothing_of_its_command_line() -> None:
    """Functions and results import neither click nor anything of a terminal."""
    library = {
        module: path for module, path in MODULES.items() if room(module) not in ("cli", "__main__", "gradedeval")
    }
    assert [
        module for module, path in library.items() if re.search(r"^\s*(import|from) click\b", path.read_text(), re.M)
    ] == []
    assert [module for module in library if any(room(target) == "cli" for target in imports()[module])] == []
    assert [module for module, path in library.items() if "isatty" in path.read_text()] == []


def test_outer_rooms_use_the_kernel_by_its_doorway() -> None:
    used = {module: imports()[module] for module in MODULES if room(module) in OUTER}
    around = {module: others for module, others in used.items() if "gradedeval.kernel." in " ".join(others)}
    assert around == {}
    assert len(doorway()) <= MOST_NAMES


def test_names_of_the_kernels_interface_exist_and_are_used() -> None:
    used: set[str] = set()
    for path in (path for module, path in MODULES.items() if room(module) in OUTER):
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module == "gradedeval.kernel":
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "kernel":
                used.add(node.attr)
                assert isinstance(node.ctx, ast.Load), f"{path}:{node.lineno}: it would be another for all"
    assert used == doorway().keys()
    assert set(dir(kernel)) == doorway().keys()
    assert [name for name in doorway() if getattr(kernel, name, None) is None] == []
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        kernel.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_the_rooms_stand_on_few_floors() -> None:
    assert max(map(floor, rooms())) <= MOST_FLOORS


def test_no_import_goes_in_a_circle() -> None:
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


ALONE = """
import importlib, os, sys
import click, numpy
for module in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            importlib.import_module(module)
        except BaseException as error:
            print(f"{module}: {error!r}", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_module_imports_alone() -> None:
    """Each module is imported in a process of its own, forked before anything of the package is imported."""
    missing = set() if find_spec("ir_measures") else {"gradedeval.interop.ir_measures"}
    importable = [name for name in MODULES if name not in missing]
    done = python("-c", ALONE, *importable)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def modules_of(*words: str, folder: Path) -> set[str]:
    """Return the modules that a command imports."""
    done = python("-X", "importtime", "-m", "gradedeval", *words, folder=folder)
    assert done.returncode == 0, done.stderr[-500:]
    times = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in times}


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "--version",
        "eval --help",
        "run.txt qrels.txt -m err@20",
        "run.txt qrels.txt -m err@20 -f csv -o out.csv",
        "run.txt qrels.txt -m err@20 -f latex --caption Scores",
        "run.txt qrels.txt -m err@20 --residuals -q -f trec",
        "trec_eval -q -m all_trec qrels.txt run.txt",
        "lint run.txt --qrels qrels.txt",
        "plot --help",
    ],
)
def test_a_plain_evaluation_has_no_slow_imports(words: str, tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    modules = modules_of(*words.split(), folder=tmp_path)
    assert {late for late in LATE if any(name == late or name.startswith(f"{late}.") for name in modules)} == set()


def test_a_small_evaluation_imports_few_modules(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    modules = modules_of("run.txt", "qrels.txt", "-m", "err@20", "--residuals", folder=tmp_path)
    assert len({name for name in modules if name.startswith("gradedeval.")}) <= MOST_FOR_A_RUN
    assert not modules & {"hashlib", "pathlib", "json", "csv", "html", "bz2", "lzma", "tempfile"}


def test_help_does_not_wait_for_numpy(tmp_path: Path) -> None:
    assert "numpy" not in modules_of("--help", folder=tmp_path)
    assert "numpy" not in modules_of("--version", folder=tmp_path)


def test_modules_are_short() -> None:
    lengths = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in MODULES.items()}
    assert {module: length for module, length in lengths.items() if length > MOST_LINES} == {}


def test_functions_are_short() -> None:
    lengths = {
        f"{module}.{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for module, path in MODULES.items()
        for node in statements(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FUNCTION} == {}


def test_every_module_has_a_docstring() -> None:
    assert [module for module, path in MODULES.items() if not ast.get_docstring(parsed(path))] == []


@pytest.mark.exhaustive
def test_frames_are_made_in_one_place() -> None:
    """Other places would refuse a name that is not UTF-8, with some versions of pandas."""
    makers = {"DataFrame", "Series", "Index", "MultiIndex", "Categorical", "array", "concat", "merge", "json_normalize"}
    calls = {
        f"{module}:{node.lineno}"
        for module, path in MODULES.items()
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in makers
        if isinstance(node.func.value, ast.Name) and node.func.value.id in ("pd", "pandas")
    }
    assert {call.partition(":")[0] for call in calls} == {"gradedeval.kernel.scoring.results"}, calls


def test_no_module_is_called_after_nothing() -> None:
    names = {part for module in MODULES for part in module.split(".")}
    assert not names & {"utils", "base", "types", "constants", "config", "managers", "registries", "helpers", "common"}


def is_explained(name: str) -> bool:
    """Return whether it has a docstring; dataclasses without one get one that repeats their fields."""
    offered = getattr(gradedeval, name)
    text = (offered.__doc__ or "") if inspect.isclass(offered) or inspect.isfunction(offered) else "a value"
    return bool(text.strip()) and not text.startswith(f"{name}(")


def test_public_names_have_docstrings() -> None:
    assert [name for name in gradedeval.__all__ if not is_explained(name)] == []


def test_type_checkers_see_the_names_that_the_package_offers() -> None:
    imports = [("gradedeval", name) for name in gradedeval._MODULES]
    imports += [
        (f"gradedeval.{module}", name) for module, names in gradedeval._PUBLIC.items() for name in names.split()
    ]
    typing = next(node for node in parsed(PACKAGE / "__init__.py").body if is_for_types_alone(node))
    assert [
        (node.module, alias.name, alias.asname)
        for node in ast.walk(typing)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ] == [(module, name, name) for module, name in imports]


@pytest.mark.parametrize("path", ["clicks", "interop", "ltr", "measures", "plot", "testing"])
def test_the_import_paths_that_pages_name_stay(path: str) -> None:
    module = importlib.import_module(f"gradedeval.{path}")
    assert all(hasattr(module, name) for name in getattr(module, "__all__", ()))
    # What type checkers see is what is there.
    typing = [node for node in parsed(Path(str(module.__file__))).body if is_for_types_alone(node)]
    if typing and path != "measures":
        seen = {
            alias.asname for node in ast.walk(typing[0]) if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        assert seen == set(module.__all__)
        assert path != "plot" or seen == set(module._PUBLIC)


def test_the_package_has_its_public_names_and_no_others() -> None:
    assert dir(gradedeval) == sorted(gradedeval.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        gradedeval.no_such_name  # noqa: B018
    assert len(set(gradedeval.__all__)) == len(gradedeval.__all__)


def test_a_measure_stands_in_the_table_by_its_name() -> None:
    for name, measure in gradedeval.MEASURES.items():
        assert isinstance(measure, gradedeval.Measure), name
        assert measure.name == name
        assert getattr(gradedeval.measures, name) is measure, name
        # A module of that name would hide it once imported.
        assert not (PACKAGE / "kernel" / "measures" / f"{name}.py").exists(), name


def test_every_measure_that_is_defined_stands_in_the_table() -> None:
    modules = [importlib.import_module(name) for name in MODULES if name.startswith("gradedeval.kernel.measures.")]
    defined = {value for module in modules for value in vars(module).values() if isinstance(value, gradedeval.Measure)}
    assert defined == set(gradedeval.MEASURES.values())


def test_a_measure_is_explained_in_three_paragraphs() -> None:
    for name, measure in gradedeval.MEASURES.items():
        paragraphs = measure.definition.paragraphs
        assert len(paragraphs) == 3, f"{name}: what it is, its formula, its source"
        assert all(paragraphs), name
        definition, _, source = paragraphs
        assert definition.endswith("."), name
        assert source.endswith("."), name


CLI = [
    path for path in FILES if "cli" in path.relative_to(PACKAGE).parts and path.name != "progress.py"
]  # it counts time


def nodes_of_cli(*kinds: type[ast.AST]) -> Iterator[tuple[str, Any]]:
    """Yield the nodes of these kinds in the command line, each with its place."""
    for path in CLI:
        for node in nodes(path):
            if isinstance(node, kinds):
                yield f"{path.name}:{getattr(node, 'lineno', 0)}", node


def is_text(node: ast.expr) -> bool:
    """Return whether a + joins texts or lists: one side is written as one."""
    literal = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return literal or isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)


def test_the_command_line_computes_nothing() -> None:
    computed = [
        place
        for place, node in nodes_of_cli(ast.BinOp)
        # | and & are unions of types and bits of permissions.
        if not isinstance(node.op, ast.BitOr | ast.BitAnd)
        and not (isinstance(node.op, ast.Add) and (is_text(node.left) or is_text(node.right)))
    ]
    assert computed == []
    called = {place: node.func.id for place, node in nodes_of_cli(ast.Call) if isinstance(node.func, ast.Name)}
    assert {place: name for place, name in called.items() if name in ("sum", "round", "abs", "divmod", "pow")} == {}


def test_the_command_line_formats_no_number() -> None:
    specs = [
        (place, part.value)
        for place, node in nodes_of_cli(ast.FormattedValue)
        if isinstance(node.format_spec, ast.JoinedStr)
        for part in node.format_spec.values
        if isinstance(part, ast.Constant)
    ]
    # Text may be put into columns; a precision or a kind of number belongs to a renderer.
    assert [(place, spec) for place, spec in specs if str(spec).strip("<>^0123456789")] == []
    calls = [(place, node.func) for place, node in nodes_of_cli(ast.Call) if isinstance(node.func, ast.Attribute)]
    assert [place for place, function in calls if function.attr == "format"] == []


def test_the_command_line_touches_no_array_and_no_frame() -> None:
    names = [(place, alias.name) for place, node in nodes_of_cli(ast.Import) for alias in node.names]
    names += [(place, str(node.module)) for place, node in nodes_of_cli(ast.ImportFrom)]
    assert [place for place, name in names if name.split(".")[0] in ("numpy", "pandas")] == []


TOP = {
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"),
    *("gradedeval", "tests", "docs", "examples", "qrels_samples"),
}


def tracked() -> list[str]:
    """Return the files that git knows, and those that it would."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return listed.stdout.decode().split("\0")[:-1]


def test_the_top_of_the_repository_has_the_allowed_names() -> None:
    names = {Path(name).parts[0] for name in tracked()}
    assert {name for name in names if not name.startswith(".")} <= TOP


def test_skipped_tests_are_listed_with_reasons_beside_failures() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    (listed,) = (word[2:] for word in settings["addopts"].split() if word.startswith("-r"))
    assert {*"fEs"} <= {*listed}


def test_no_file_made_by_a_tool_is_tracked() -> None:
    suffixes = ("__pycache__", ".pyc", ".egg-info", ".ipynb_checkpoints", ".DS_Store", "~")
    assert [name for name in tracked() if name.endswith(suffixes) or "__pycache__" in name] == []


def test_type_checkers_are_told_that_the_package_has_types() -> None:
    assert (PACKAGE / "py.typed").is_file()
    assert "gradedeval/py.typed" in tracked()


def test_test_files_import_no_test_file() -> None:
    tests = [path for path in (ROOT / "tests").rglob("*.py") if path.name.startswith("test_")]
    names = {path.stem for path in tests} | {"conftest"}
    imports = {
        path.name: {
            module.rpartition(".")[2] for module in re.findall(r"^ *from ([\w.]+) import ", path.read_text(), re.M)
        }
        for path in [*tests, *(ROOT / "tests" / "support").glob("*.py")]
    }
    assert {name: found & names for name, found in imports.items() if found & names} == {}


NO_LOWEST = ("test", "oracles", "lint", "docs", "all")


def test_the_lowest_tested_versions_are_the_declared_ones() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    extras = [needed for name in optional if name not in NO_LOWEST for needed in optional[name]]
    needs = [re.sub(r"\[.*\]", "", needed) for needed in [*project["dependencies"], *extras]]
    declared = {requirement.replace(">=", "==") for requirement in needs}
    lines = (ROOT / "tests" / "lowest.txt").read_text().splitlines()
    pinned = {re.sub(r"\.0$", "", line) for line in lines if not line.startswith("#")}
    assert pinned == {re.sub(r"(\.\d+)\.0$", r"\1", requirement) for requirement in declared}
