"""How kernels are compiled: a decorator, a cache that has a home, one line when it is cold."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

__all__ = [
    "SILENT",
    "inlined_kernel",
    "kernel",
    "ordering_kernel",
    "silent_children",
    "summing_kernel",
]

# Set in the environment of processes that leave it to another to say that kernels are compiled.
SILENT = "ICSA_SILENT_COMPILATION"

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a numerical function with numba: cached on disk, free of the interpreter lock.

    Products and sums may be fused, which only ever rounds less often. The cache lies beside the
    module; where that folder is read-only, in the user's cache folder; and where that is read-only
    too, in a private folder for temporary files.
    """
    return _compiled(function, {"contract"})


def summing_kernel(function: _Function) -> _Function:
    """Compile like `kernel`, and let the terms of sums be added in another order, in lanes."""
    return _compiled(function, {"contract", "reassoc"})


def ordering_kernel(function: _Function) -> _Function:
    """Compile like `kernel` what looks for the smallest of numbers, none of which is missing."""
    return _compiled(function, {"contract", "nnan", "nsz", "reassoc"})


def inlined_kernel(function: _Function) -> _Function:
    """Compile like `kernel`, but only as part of its one caller: that saves compiling it twice."""
    return _compiled(function, {"contract"}, inline="always")


def _compiled(function: _Function, fastmath: set[str], inline: str = "never") -> _Function:
    options = {
        "cache": True,
        "nogil": True,
        "error_model": "numpy",
        "fastmath": fastmath,
        "inline": inline,
        "no_cfunc_wrapper": True,  # nothing but Python and other kernels calls them
    }
    try:
        compiled = numba.njit(**options)(function)
    except RuntimeError:  # numba found no folder that it may write to
        numba.config.CACHE_DIR = _private_temporary_folder()
        options["cache"] = bool(numba.config.CACHE_DIR)
        compiled = numba.njit(**options)(function)
    return compiled  # type: ignore[no-any-return]


def _private_temporary_folder() -> str:
    """Return a folder that only this user can write to, or "" where there is none.

    Cached kernels are loaded as code, so a folder that others could have filled is not taken.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"icsa-kernels-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return ""
    private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o022
    owned = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return str(folder) if private and owned else ""


class _Notice(event.Listener):  # type: ignore[misc]
    """Say once a run, on standard error, that kernels are being compiled."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, started: Any) -> None:
        module = getattr(started.data["dispatcher"].py_func, "__module__", "")
        ours = str(module).startswith("icsa.")
        if ours and not self.said and SILENT not in os.environ:
            self.said = True
            print(
                "icsa: compiling kernels that were not needed so far: some seconds, once.",
                file=sys.stderr,
            )

    def on_end(self, ended: Any) -> None:
        """Nothing is said at the end."""


event.register("numba:compile", _Notice())


@contextmanager
def silent_children() -> Iterator[None]:
    """Have processes that are started now leave it to this one to say that kernels are compiled.

    Each of them would say it otherwise. Whether there is something to say, one small kernel tells.
    """
    _incremented(0.0)
    before = os.environ.get(SILENT)
    os.environ[SILENT] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SILENT]


@kernel
def _incremented(value: float) -> float:
    return value + 1.0
