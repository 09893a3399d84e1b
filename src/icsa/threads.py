"""Work in parts on several threads, and memory that they leave to their allocators given back.

Kernels let go of the interpreter lock.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from icsa.errors import InputError

__all__ = [
    "at_most_threads",
    "give_back_memory",
    "in_threads",
    "one_linear_algebra_thread",
    "threads_for",
]

_Part = TypeVar("_Part")
_Result = TypeVar("_Result")

# Below this many cells starting threads costs more than it brings.
_WORTH_IT = 1 << 20
# Each thread that permutes needs room for a column.
_MOST = 4
_allowed: ContextVar[int] = ContextVar("allowed", default=_MOST)


def threads_for(n_cells: int, threads: int | None) -> int:
    """Return the number of threads to use: the one asked for, or what suits the size.

    Examples
    --------
    >>> threads_for(1000, None), threads_for(1000, 3)
    (1, 3)
    """
    if threads is None:
        return 1 if n_cells < _WORTH_IT else min(_allowed.get(), os.cpu_count() or 1)
    if threads < 1:
        raise InputError(f"threads must be 1 or more: got {threads}.")
    return threads


def in_threads(
    work: Callable[[_Part], _Result], parts: Sequence[_Part], threads: int
) -> list[_Result]:
    """Return `work` of every part, in order, with so many of them at a time.

    Examples
    --------
    >>> in_threads(abs, [-1, 2, -3], threads=2)
    [1, 2, 3]
    """
    if threads == 1 or len(parts) < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(min(threads, len(parts))) as pool:
        return list(pool.map(work, parts))


@contextmanager
def at_most_threads(most: int) -> Iterator[None]:
    """Let work that chooses its own number of threads take no more than so many.

    Where each thread holds a column of a table that does not fit, or others use the other cores.

    Examples
    --------
    >>> with at_most_threads(1):
    ...     threads_for(10_000_000, None)
    1
    """
    token = _allowed.set(most)
    try:
        yield
    finally:
        _allowed.reset(token)


@contextmanager
def one_linear_algebra_thread() -> Iterator[None]:
    """Let linear algebra run on the calling thread.

    On matrices of a few columns its own threads mostly wait for each other, and on a busy machine
    for long; blocks of rows on threads of ours do not.
    """
    with _linear_algebra().limit(limits=1):
        yield


@cache
def _linear_algebra() -> Any:
    """Return the libraries that numpy and scipy bring; looking for them takes a millisecond."""
    import scipy.linalg  # noqa: F401  (has one of its own, which must be there to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def give_back_memory() -> None:
    """Hand memory that nothing uses any more back to the system, where its allocator can do that.

    Between the stages of work on a long table: it takes a millisecond.
    """
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):  # not on Windows
        return None
