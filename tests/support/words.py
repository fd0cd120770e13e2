"""Every sentence of messages, help pages and tables, from the source: `python -m tests.support.words` prints them,
one a line, with their places."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from support.source import FILES, PACKAGE, nodes


class Sentence(NamedTuple):
    """A text of the source, with `{}` for values."""

    place: str
    text: str


@cache
def sentences() -> list[Sentence]:
    """Return the texts of at least two words that are not docstrings, and the docstrings of functions that a
    decorator makes a command or a measure of."""
    return [
        Sentence(f"{path.relative_to(PACKAGE.parent)}:{line}", " ".join(text.split()))
        for path in FILES
        for line, text in _texts(nodes(path))
    ]


def _texts(code: list[ast.AST]) -> Iterator[tuple[int, str]]:
    docstrings = {
        node.body[0].value: isinstance(node, ast.FunctionDef) and _is_shown(node)
        for node in code
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
        if isinstance(node.body[0], ast.Expr)
    }
    bare = {node.value for node in code if isinstance(node, ast.Expr)}
    joined = [node for node in code if isinstance(node, ast.JoinedStr)]
    pieces = {piece for node in joined for piece in ast.walk(node)} - {*joined}
    for node in code:
        if isinstance(node, ast.JoinedStr | ast.Constant) and node not in pieces:
            text = _text(node)
            if docstrings.get(node, node not in bare) and len(re.findall(r"[A-Za-z]{2,}", text)) > 1 and " " in text:
                yield node.lineno, text


def _is_shown(function: ast.FunctionDef) -> bool:
    """Return whether a decorator makes a command or a measure of a function, whose docstring is its help."""
    names = {getattr(getattr(mark, "func", mark), "id", "") for mark in function.decorator_list}
    return bool(names - {"", "property", "cached_property", "cache", "contextmanager", "classmethod", "staticmethod"})


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


if __name__ == "__main__":
    for sentence in sentences():
        print(f"{sentence.place}\t{sentence.text}")
