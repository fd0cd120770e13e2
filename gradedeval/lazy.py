"""Modules that are imported on first use of an attribute."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class Late(ModuleType):
    """A module that is imported on first use of an attribute, so that a help page imports none."""

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        if self.__name__ == "numpy":  # used in loops; tests patch only other modules
            self.__dict__.update(vars(module))
        return getattr(module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(import_module(self.__name__), name, value)


def late_modules(package: str) -> Callable[[str], Late]:
    """Return the `__getattr__` of a package whose modules are imported on first use after `from package import module`,
    and at once by `from package.module import name`."""

    def module(name: str) -> Late:
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return Late(f"{package}.{name}")

    return module
