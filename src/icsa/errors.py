"""The exception tree.

::

    ICSAError
    ├── InputError (ValueError)            the data or an option cannot be used as they are
    │   ├── ExactFitError                  too many rows lie on one hyperplane for a robust scatter
    │   └── UnknownNameError               no scatter, mask, ... of that name
    └── ConvergenceError (RuntimeError)    an iteration did not reach its fixed point

A message says what is wrong, where, the limit and the remedy. It never holds a cell value.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["ConvergenceError", "ExactFitError", "ICSAError", "InputError", "UnknownNameError"]


class ICSAError(Exception):
    """Root of every error that this package raises on purpose."""


class InputError(ICSAError, ValueError):
    """The data or an option cannot be used as they are."""


class ExactFitError(InputError):
    """So many rows lie on one hyperplane that a robust scatter is singular.

    Attributes
    ----------
    columns : tuple of int
        Positions of the columns that make up the hyperplane.
    rows_on_it : int
        Number of rows on the hyperplane.
    """

    def __init__(self, message: str, *, columns: tuple[int, ...] = (), rows_on_it: int = 0) -> None:
        super().__init__(message)
        self.columns = columns
        self.rows_on_it = rows_on_it


class UnknownNameError(InputError):
    """A name that no registered member of a family has."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"No {what} {name!r}.{hint} Known: {', '.join(names)}.")


class ConvergenceError(ICSAError, RuntimeError):
    """An iteration did not reach its fixed point within its limit."""
