"""Modules that are imported when something in them is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class Late(ModuleType):
    """A module that is imported when something in it is first asked for, so that a help page waits for none."""

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        if self.__name__ == "numpy":  # asked in loops; tests change other modules alone
            self.__dict__.update(vars(module))
        return getattr(module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(import_module(self.__name__), name, value)


def late_modules(package: str) -> Callable[[str], Late]:
    """The `__getattr__` of a package whose modules are imported late by `from package import module`, and at once by
    `from package.module import name`."""

    def module(name: str) -> Late:
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return Late(f"{package}.{name}")

    return module
