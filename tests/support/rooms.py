"""The rooms of the package in the order in which they may import each other, and the doorway of the kernel."""

import ast

from support.paths import ROOT

# From the bottom up: each may import the rooms before it.
KERNEL = ("formats", "trec", "parallel", "measures", "options", "rankings", "scoring")
ORDER = (
    *("errors", "lazy", "arrays", "kernel", "measures"),
    *("analysis", "questions", "clicks", "ltr", "interop", "plot", "testing", "cli", "__main__"),
)

OUTER = ("questions", "clicks", "ltr", "interop", "plot", "testing")
"""Rooms that use the kernel only through its interface."""


def doorway() -> dict[str, str]:
    """Return the interface of the kernel: name -> its module; a module is its own."""
    tree = ast.parse((ROOT / "gradedeval" / "kernel" / "__init__.pyi").read_text(encoding="utf-8"))
    offered = [
        (alias.name, str(node.module)) for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    return {name: full if _is_module(full := f"{home}.{name}") else home for name, home in offered}


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()
