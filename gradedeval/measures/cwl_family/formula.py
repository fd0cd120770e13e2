"""Formulas in a few variables: text -> a small tree -> arrays. Nothing in them is ever run as Python."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np

from gradedeval.errors import InputError, did_you_mean

LONGEST, MOST_PARTS, DEEPEST, HIGHEST_POWER = 300, 100, 80, 1000
# What Python's grammar would take beside numbers, names and operators: comments, further lines, 1_000.
_OTHER = re.compile(r"[#\n\r\\]|\d_\d")

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
# Name -> minimum and maximum number of arguments, and the function.
FUNCTIONS: dict[str, tuple[int, int, Callable[..., Any]]] = {
    "where": (3, 3, np.where),
    "exp": (1, 1, np.exp),
    "log": (1, 1, np.log),
    "sqrt": (1, 1, np.sqrt),
    "min": (2, 9, lambda *values: reduce(np.minimum, values)),
    "max": (2, 9, lambda *values: reduce(np.maximum, values)),
}


@dataclass(frozen=True)
class Formula:
    """A number, a name, or a function of other formulas."""

    value: float | str = 0.0
    function: Callable[..., Any] | None = None
    of: tuple[Formula, ...] = ()

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Its value, broadcast from those of the names; nan or infinite where arithmetic fails."""
        with np.errstate(all="ignore"):
            return self._value(values)

    def _value(self, values: Mapping[str, Any]) -> Any:
        if self.function is None:
            return values[self.value] if isinstance(self.value, str) else self.value
        # True counts as 1.
        return np.multiply(self.function(*(part._value(values) for part in self.of)), 1.0)

    @property
    def size(self) -> int:
        """The number of its parts, itself included."""
        return 1 + sum(part.size for part in self.of)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it uses."""
        names = {self.value} if isinstance(self.value, str) else set()
        return frozenset(names.union(*(part.names for part in self.of)))


@lru_cache
def read_formula(text: str) -> Formula:
    """A formula of numbers, names, + - * / **, comparisons, parentheses and `where exp log sqrt min max`.

    Raises InputError (usage) for anything else, and where it is too long, too deep, or has too high a power.
    """
    if len(text) > LONGEST:
        raise _error(text[:20] + "…", f"a formula has at most {LONGEST} characters, this one {len(text)}")
    other = _OTHER.search(text)
    if other:
        raise _error(repr(text)[1:-1], f"{other[0]!r} is not allowed", "as in phi*(1-r)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _error(text, "it cannot be parsed", "as in phi*(1-r)") from None
    formula = _part(tree, text, DEEPEST)
    if formula.size > MOST_PARTS:
        raise _error(text, f"a formula has at most {MOST_PARTS} numbers, names and operators, this one {formula.size}")
    return formula


def _error(text: str, what: str, hint: str = "") -> InputError:
    return InputError(f"formula '{text}'", what, hint, usage=True)


def _part(node: ast.AST, text: str, depth: int) -> Formula:
    if not depth:
        raise _error(text, f"it is nested more than {DEEPEST} deep")

    def inner(child: ast.AST) -> Formula:
        return _part(child, text, depth - 1)

    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Formula(_number(value, text))
        case ast.Name(id=name) if name not in FUNCTIONS:
            return Formula(name)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return Formula(function=_OPERATORS[type(op)], of=(inner(operand),))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            parts = (inner(left), inner(right))
            if isinstance(op, ast.Pow):
                _check_power(parts[1], text)
            return Formula(function=_OPERATORS[type(op)], of=parts)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return Formula(function=_OPERATORS[type(op)], of=(inner(left), inner(right)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            minimum, maximum, function = FUNCTIONS[name]
            if not minimum <= len(arguments) <= maximum:
                raise _error(text, f"{name} takes {minimum if minimum == maximum else f'{minimum} or more'} values")
            return Formula(function=function, of=tuple(map(inner, arguments)))
    source = ast.get_source_segment(text.strip(), node) if isinstance(node, ast.expr) else None
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    hint = did_you_mean(called, FUNCTIONS) if called else "write ** for powers" if "^" in (source or "") else ""
    knows = f"it knows numbers, names, + - * / **, comparisons, {' '.join(FUNCTIONS)}"
    raise _error(text, f"'{source or text}' is not allowed", hint or knows)


def _number(value: float, text: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise _error(text, "it contains a number that is too large")
    return number


def _check_power(exponent: Formula, text: str) -> None:
    """Limit constant exponents; one that depends on the rank is how a decay is written."""
    if not exponent.names:
        value = abs(float(exponent({})))
        if not value <= HIGHEST_POWER:
            raise _error(text, f"a power of {value:g} is too high", f"the highest is {HIGHEST_POWER}")
