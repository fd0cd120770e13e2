"""The doorway to reading, measures, options, scoring, formats and shared work: all that questions, click logs, learning
to rank and other tools use of them.

`__init__.pyi` is the one list, for type checkers and for this module: names, and modules of names that belong together.
`from gradedeval.kernel import name` imports at once; `kernel.name`, or `kernel.module.name`, when it is reached, so
that a help page waits for nothing slow.
"""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def _module_of() -> dict[str, str]:
    """name -> the module that has it."""
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
