"""The exception tree.

::

    ICSAError
    ├── InputError (ValueError)            the data or an option cannot be used as they are
    │   ├── ExactFitError                  too many rows lie on one hyperplane for a robust scatter
    │   ├── NoAnchorError                  no column can tell robustly who stands out
    │   ├── NotNumericError (TypeError)    a column holds something else than numbers
    │   └── UnknownNameError               no scatter, mask, ... of that name
    └── ConvergenceError (RuntimeError)    an iteration did not reach its fixed point
    DigitsWarning (UserWarning)            a rounded table is released with all digits
    RoundedRelationWarning (UserWarning)   an exact relation holds only up to rounding
    UnmatchedRowsWarning (UserWarning)     released rows do not go with a target row by row
    VerbatimColumnWarning (UserWarning)    values will be released as they are

A message says what is wrong, where, the limit and the remedy. It never holds a cell value.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from functools import partial

__all__ = [
    "ConvergenceError",
    "DigitsWarning",
    "ExactFitError",
    "ICSAError",
    "InputError",
    "NoAnchorError",
    "NotNumericError",
    "RoundedRelationWarning",
    "UnknownNameError",
    "UnmatchedRowsWarning",
    "VerbatimColumnWarning",
]


class ICSAError(Exception):
    """Root of every error that this package raises on purpose."""


class InputError(ICSAError, ValueError):
    """The data or an option cannot be used as they are."""


class NoAnchorError(InputError):
    """No continuous column is left that can tell robustly who stands out."""


class ExactFitError(InputError):
    """So many rows lie on one hyperplane that a robust scatter is singular.

    Attributes
    ----------
    columns : tuple of int
        Positions of the columns that make up the hyperplane.
    names : tuple of str
        Their names.
    rows_on_it, n_rows, allowed : int
        Number of rows on the hyperplane, of all rows, and of rows that may lie on one.
    """

    def __init__(
        self,
        estimate: str,
        columns: Sequence[int],
        names: Sequence[str],
        *,
        rows_on_it: int,
        n_rows: int,
        allowed: int,
    ) -> None:
        self.estimate = estimate
        self.columns = tuple(columns)
        self.names = tuple(names)
        self.rows_on_it = rows_on_it
        self.n_rows = n_rows
        self.allowed = allowed
        listed = ", ".join(repr(name) for name in self.names)
        what = (
            f"column {listed} has one value in {rows_on_it} of {n_rows} rows"
            if len(self.names) == 1
            else f"columns {listed} satisfy one linear equation in {rows_on_it} of {n_rows} rows"
        )
        super().__init__(
            f"{estimate} is singular: {what}, and at most {allowed} may. "
            "Drop one of these columns, or use scatters that allow more."
        )

    def among(self, columns: Sequence[int], names: Sequence[str]) -> ExactFitError:
        """Return the same error for a table of which only `columns` (positions) were looked at."""
        positions = [columns[j] for j in self.columns]
        return ExactFitError(
            self.estimate,
            positions,
            [names[j] for j in positions],
            rows_on_it=self.rows_on_it,
            n_rows=self.n_rows,
            allowed=self.allowed,
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the way back from another process."""
        rebuild = partial(
            ExactFitError, rows_on_it=self.rows_on_it, n_rows=self.n_rows, allowed=self.allowed
        )
        return rebuild, (self.estimate, self.columns, self.names)


class NotNumericError(InputError, TypeError):
    """A column holds something else than numbers."""


class UnknownNameError(InputError):
    """A name that no registered member of a family has."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        self.parts = (what, name, tuple(names))
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"No {what} {name!r}.{hint} Known: {', '.join(names)}.")

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the way back from another process."""
        return UnknownNameError, self.parts


class ConvergenceError(ICSAError, RuntimeError):
    """An iteration did not reach its fixed point within its limit."""


class DigitsWarning(UserWarning):
    """The table is rounded and its release is not, so that digits may give back its rows."""


class RoundedRelationWarning(UserWarning):
    """An exact relation between columns holds in the release only up to rounding."""


class UnmatchedRowsWarning(UserWarning):
    """Released rows do not go row by row with the target that was given with the original's."""


class VerbatimColumnWarning(UserWarning):
    """Values come out as they are: of a column that is one component, or of rows under a flip."""
