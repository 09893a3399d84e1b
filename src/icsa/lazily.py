"""What is imported only when it is asked for, so that a package is loaded quickly."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["imported_when_asked", "is_from"]


def imported_when_asked(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are in modules of it.

    Parameters
    ----------
    package : str
        Its `__name__`.
    homes : mapping of str to str
        The module that each name is in, of the package or with its whole path where it is another
        one's; "" where the name is a module itself. No other module may
        have one of the names: importing it would put it in the place of what is meant.

    Examples
    --------
    >>> imported_when_asked("icsa", {"lazily": ""})("lazily").__name__
    'icsa.lazily'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not homes[name]:
            return importlib.import_module(f"{package}.{name}")
        home = homes[name] if "." in homes[name] else f"{package}.{homes[name]}"
        value = getattr(importlib.import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


def is_from(library: str, x: object, name: str) -> bool:
    """Return whether an object is of a library's class, without importing the library."""
    module = sys.modules.get(library)
    return module is not None and isinstance(x, getattr(module, name))
