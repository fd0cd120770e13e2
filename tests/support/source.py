"""The modules of the package as Python reads them, parsed once for all tests that look into code."""

import ast
import gc
from functools import cache
from pathlib import Path

from support.paths import ROOT

PACKAGE = ROOT / "gradedeval"
FILES = sorted(PACKAGE.rglob("*.py"))


@cache
def _parsed() -> dict[Path, list[ast.AST]]:
    # It is large and has no cycles: to look for garbage in it would take three times as long as parsing.
    gc.disable()
    try:
        return {path: walked(path.read_text(encoding="utf-8")) for path in FILES}
    finally:
        gc.freeze()
        gc.enable()


def walked(code: str) -> list[ast.AST]:
    """Return the nodes of some code: the module, and all that is in it."""
    return list(ast.walk(ast.parse(code)))


def nodes(path: Path) -> list[ast.AST]:
    """Return the nodes of a module of the package, itself the first."""
    return _parsed()[path]


def module(path: Path) -> ast.Module:
    first = nodes(path)[0]
    assert isinstance(first, ast.Module)
    return first
