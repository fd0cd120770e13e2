"""What type checkers and editors are told of `gradedeval.measures`: each measure with its parameters and its help."""

import ast
import builtins
import inspect
import textwrap

from gradedeval import measures
from gradedeval.kernel.measures.definition import MEASURES

HEAD = '''\
"""The measures by name, for type checkers and editors. `python -m pytest tests/docs --golden` writes this file."""

# mypy: disable-error-code="override, misc"
from typing import Any

from gradedeval.kernel.measures.notation import Value
'''
GAINS = {"gain": "Value | list[float]", "rel": "float", "g": "Value | list[float]"}


def stub() -> str:
    """Return the text of `gradedeval/measures.pyi`."""
    tree = ast.parse(inspect.getsource(measures))
    offered = [
        f"from {node.module} import {alias.name} as {alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    ]
    listed = "\n".join(f'    "{name}",' for name in sorted(measures.__all__))
    return "\n".join([HEAD, *offered, f"\n__all__ = [\n{listed}\n]\n", *map(described, MEASURES)])


def described(name: str) -> str:
    """Return a measure as a value of a class of its own, whose call has its parameters."""
    definition = MEASURES[name].definition
    parameters = inspect.signature(definition.function).parameters.values()
    given = [
        f"{own.name}: {kind(own)} = {own.default!r}" if own.default is not own.empty else f"{own.name}: {kind(own)}"
        for own in parameters
        if own.kind is own.KEYWORD_ONLY
    ]
    given += [f"{key}: {GAINS[key]} = ..." for key in definition.gain_parameters]
    others = [f"**{own.name}: {own.annotation}" for own in parameters if own.kind is own.VAR_KEYWORD]
    inside = ", ".join(["self", "/", *(["*", *given] if given else []), *others])
    shown = "_" + "".join(part.capitalize() for part in name.split("_"))
    what = textwrap.fill(definition.paragraphs[0], 112, subsequent_indent="    ")
    return f'''
class {shown}(Measure):
    """{what}"""

    def __call__({inside}) -> Measure: ...

{names(name)}: {shown}'''


def names(name: str) -> str:
    """Return the name under which Python imports a measure."""
    return f"{name}_" if name in dir(builtins) else name


def kind(own: inspect.Parameter) -> str:
    """Return the type of a parameter: as its function says, or that of its default."""
    if own.annotation is not own.empty:
        return str(own.annotation)
    if own.default is None or isinstance(own.default, int | float):
        return "float | None" if own.default is None else "float"
    return "Value" if isinstance(own.default, tuple) else type(own.default).__name__
