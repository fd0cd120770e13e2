"""Every note in the package is one sentence of fact and at most one of cure, and fits two lines of a terminal."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import gradedeval

PACKAGE = Path(gradedeval.__file__).parent
LONGEST = 160
VALUE = "·" * 6
"""What stands for a value in the text of a note."""


class Written(NamedTuple):
    place: str
    fact: str
    cure: str


def texts(node: ast.expr | None, names: dict[str, list[ast.expr]], depth: int = 3) -> list[str]:
    """Return the possible texts of an expression, with VALUE for values that the code alone does not tell."""
    if node is None:
        return [""]
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.JoinedStr):
        parts = [""]
        for value in node.values:
            inner = value.value if isinstance(value, ast.FormattedValue) else value
            parts = [part + text for part in parts for text in texts(inner, names, depth)[:4]]
        return parts
    if isinstance(node, ast.IfExp):
        return texts(node.body, names, depth) + texts(node.orelse, names, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [a + b for a in texts(node.left, names, depth) for b in texts(node.right, names, depth)]
    if isinstance(node, ast.Name) and depth and node.id in names:
        return [text for value in names[node.id] for text in texts(value, names, depth - 1)]
    return [VALUE]


def assigned(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """name -> the expressions that are assigned to it."""
    names: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                both = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                pairs = zip(target.elts, node.value.elts, strict=False) if both else [(target, node.value)]  # type: ignore[attr-defined]
                for name, value in pairs:
                    if isinstance(name, ast.Name):
                        names.setdefault(name.id, []).append(value)
    return names


def plain_notes(function: ast.AST) -> Iterator[ast.expr]:
    """Yield the texts that a function lists as notes without a Note around them."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name.endswith("emit_notes") and node.args and isinstance(node.args[0], ast.List):
                yield from node.args[0].elts
            elif name.endswith("notes.append"):
                yield from node.args
        elif isinstance(node, ast.Assign | ast.AugAssign) and isinstance(node.value, ast.List):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if ast.unparse(target).endswith("notes"):
                yield from node.value.elts


def written() -> Iterator[Written]:
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = {name: values for name, values in assigned(ast.Module(tree.body, [])).items() if name.isupper()}
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            names, place = module | assigned(function), f"{path.relative_to(PACKAGE)}:{function.name}"
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "Note":
                    hint = call.args[1] if len(call.args) > 1 else None
                    for text in texts(call.args[0], names):
                        fact, _, rest = text.partition("; ") if hint is None else (text, "", "")
                        yield from (Written(place, fact, cure or rest) for cure in texts(hint, names))
            for note in plain_notes(function):
                if isinstance(note, ast.JoinedStr | ast.Constant | ast.Name):
                    for text in texts(note, names):
                        fact, _, cure = text.partition("; ")
                        yield Written(place, fact, cure)


NOTES = list(dict.fromkeys(written()))


def test_the_walk_finds_the_notes() -> None:
    assert len(NOTES) > 120
    facts = " ".join(note.fact for note in NOTES)
    assert all(
        words in facts for words in ("many documents have equal scores", "scores rise with the rank", "left out")
    )


@pytest.mark.parametrize("place", sorted({note.place for note in NOTES}))
def test_a_note_is_a_fact_and_at_most_one_cure(place: str) -> None:
    for note in (note for note in NOTES if note.place == place):
        assert "; " not in note.fact, note
        assert "; " not in note.cure, note
        assert ". " not in note.fact.replace("f.i. ", "") + note.cure, note
        assert len(f"{note.fact}; {note.cure}" if note.cure else note.fact) <= LONGEST, note
