"""The interface of the kernel: reading, measures, options, scoring, formats and parallel work.

`__init__.pyi` lists its names and modules, for type checkers and for this module. `from gradedeval.kernel import name`
imports at once; `kernel.name` and `kernel.module.name` import on first use, so that help pages start fast.
"""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def _module_of() -> dict[str, str]:
    """Return name -> its module."""
    lines = __loader__.get_data(f"{__file__}i").decode().splitlines()  # type: ignore[union-attr]
    return {words[3]: words[1] for words in map(str.split, lines) if words[:1] == ["from"]}


def __dir__() -> list[str]:
    return sorted(_module_of())


def __getattr__(name: str) -> Any:
    home = _module_of().get(name)
    if home is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    if home != __name__ and hasattr(module := import_module(home), name):
        return getattr(module, name)
    return import_module(f"{home}.{name}")
