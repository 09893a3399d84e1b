"""Scores of levels without an order, of which some rows are in memory at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from icsa.matrices import Matrix, Vector

__all__ = ["Dummies", "DummiesInMemory", "LevelScores"]

Rows = npt.NDArray[np.int64]


class Dummies(Protocol):
    """A score for each level but one, the base, of every row."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def width(self) -> int:
        """Number of scores."""
        ...

    def between(self, start: int, stop: int) -> Matrix:
        """Return the scores of rows that follow one another, shape (n_rows, n_levels - 1)."""
        ...

    def of_rows(self, column: int, rows: Rows) -> Vector:
        """Return one of the scores of rows from anywhere."""
        ...


@dataclass(frozen=True, eq=False)
class DummiesInMemory:
    """The scores of a table that is in memory."""

    scores: Matrix

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.scores.shape[0])

    @property
    def width(self) -> int:
        """Number of scores."""
        return int(self.scores.shape[1])

    def between(self, start: int, stop: int) -> Matrix:
        """Return the scores of rows that follow one another."""
        return self.scores[start:stop]

    def of_rows(self, column: int, rows: Rows) -> Vector:
        """Return one of the scores of rows from anywhere."""
        found: Vector = self.scores[rows, column]
        return found


@dataclass(frozen=True, eq=False)
class LevelScores:
    """How well every level fits every row: its dummy, or for the base 1 less all of them.

    Examples
    --------
    >>> LevelScores(DummiesInMemory(np.array([[0.25], [1.5]])), base=0).between(0, 2)
    array([[ 0.75, -0.5 ],
           [ 0.25,  1.5 ]])
    """

    dummies: Dummies
    base: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.dummies.n_rows

    def between(self, start: int, stop: int) -> Matrix:
        """Return the scores of rows that follow one another, shape (n_levels, n_rows)."""
        dummies = self.dummies.between(start, stop)
        return self._of_levels(stop - start, lambda column: dummies[:, column])

    def of_rows(self, rows: Rows) -> Matrix:
        """Return the scores of rows from anywhere, shape (n_levels, n_rows)."""
        return self._of_levels(rows.size, lambda column: self.dummies.of_rows(column, rows))

    def _of_levels(self, n_rows: int, dummy: Callable[[int], Vector]) -> Matrix:
        n_levels = self.dummies.width + 1
        found = np.empty((n_levels, n_rows))
        rest = found[self.base]
        rest[:] = 1.0
        for column, level in enumerate(np.delete(np.arange(n_levels), self.base)):
            found[level] = dummy(column)
            rest -= found[level]
        return found
