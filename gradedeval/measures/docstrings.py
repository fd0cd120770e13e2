"""What is said of a measure or a command: its docstring."""

from __future__ import annotations

from typing import Any


def docstring(function: Any) -> str:
    """The docstring of a function; where Python leaves docstrings out, as with -OO, that in its source, and nothing
    without one."""
    import inspect  # not before it is needed

    if text := inspect.getdoc(function):
        return text
    import ast
    import textwrap

    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # there is no source, as at a prompt
        return ""
    found = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    return (ast.get_docstring(found) if found else None) or ""
