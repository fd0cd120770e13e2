"""The stub of `gradedeval.measures` for type checkers and editors: each measure with its parameters and its help."""

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
    """Return a measure as a value of a class of its own, with its parameters as those of the call."""
    definition = MEASURES[name].definition
    parameters = inspect.signature(definition.function).parameters.values()
    arguments = [
        f"{parameter.name}: {kind(parameter)} = {parameter.default!r}"
        if parameter.default is not parameter.empty
        else f"{parameter.name}: {kind(parameter)}"
        for parameter in parameters
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    arguments += [f"{key}: {GAINS[key]} = ..." for key in definition.gain_parameters]
    others = [
        f"**{parameter.name}: {parameter.annotation}"
        for parameter in parameters
        if parameter.kind is parameter.VAR_KEYWORD
    ]
    inside = ", ".join(["self", "/", *(["*", *arguments] if arguments else []), *others])
    class_name = "_" + "".join(part.capitalize() for part in name.split("_"))
    summary = textwrap.fill(definition.paragraphs[0], 112, subsequent_indent="    ")
    return f'''
class {class_name}(Measure):
    """{summary}"""

    def __call__({inside}) -> Measure: ...

{names(name)}: {class_name}'''


def names(name: str) -> str:
    """Return the name under which Python imports a measure."""
    return f"{name}_" if name in dir(builtins) else name


def kind(parameter: inspect.Parameter) -> str:
    """Return the type of a parameter: as its function says, or that of its default."""
    if parameter.annotation is not parameter.empty:
        return str(parameter.annotation)
    if parameter.default is None or isinstance(parameter.default, int | float):
        return "float | None" if parameter.default is None else "float"
    return "Value" if isinstance(parameter.default, tuple) else type(parameter.default).__name__
