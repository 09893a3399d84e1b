"""Libraries that only some formats need."""

from __future__ import annotations

import importlib
from types import ModuleType

from icsa.errors import InputError

__all__ = ["require"]


def require(name: str, purpose: str) -> ModuleType:
    """Return a library, imported when it is first needed.

    Examples
    --------
    >>> require("json", "nothing").__name__
    'json'
    >>> require("no_such_library", "clay tablets")
    Traceback (most recent call last):
    icsa.errors.InputError: Reading or writing clay tablets needs ...
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(
            f"Reading or writing {purpose} needs the library {name}. "
            f"Install it with: pip install {name}"
        ) from None
