"""Category columns: levels without an order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl

from icsa.columns.base import Column, KindRecord
from icsa.columns.counts import counts_among, moved_counts
from icsa.columns.declared import ColumnSpec
from icsa.columns.levels import Levels, find_levels
from icsa.columns.unmasked import Constant
from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream
from icsa.recipes import Scale

__all__ = ["CATEGORY", "Category"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Category(Column):
    """A column of levels without an order, scored by one dummy for each level but one.

    The level without a dummy, the base, is the most frequent one; its score is 1 minus the sum of
    the others. Decoding gives every row the level with the largest score after an offset for each
    level, found so that all counts are as they were.

    Attributes
    ----------
    levels : Levels
        Those that occur, with their counts.
    base : int
        Position of the level without a dummy.

    Examples
    --------
    >>> cells = pl.Series("blood", ["A", "0", "A", "B"])
    >>> column = Category.fit(cells, ColumnSpec(name="blood", kind="category"))
    >>> column.encode(column.numbers(cells))
    array([[0., 0.],
           [1., 0.],
           [0., 0.],
           [0., 1.]])
    >>> masked = np.array([[0.2, 0.9], [0.1, 0.2], [0.6, 0.1], [0.0, 0.3]])
    >>> column.cells(column.decode(masked)).to_list()
    ['B', 'A', '0', 'A']
    """

    levels: Levels
    base: int

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Column:  # noqa: ARG003
        """Return the column fitted to cells; constant where they do not vary."""
        levels = find_levels(cells, spec)
        if levels.counts.size < 2:
            return Constant.of_first(cells, spec)
        return cls(
            spec=spec,
            dtype=cells.dtype,
            n_present=int(levels.counts.sum()),
            levels=levels,
            base=int(np.argmax(levels.counts)),
        )

    @property
    def width(self) -> int:
        """One less than there are levels."""
        return self.levels.counts.size - 1

    def numbers(self, cells: pl.Series) -> Vector:
        """Return each cell's position among the levels, NaN where missing."""
        return self.levels.positions(cells, self.spec)

    def encode(self, numbers: Vector) -> Matrix:
        """Return the dummies, shape (n_rows, width)."""
        missing = np.isnan(numbers)
        dummies = np.zeros((numbers.size, self.width), order="F")
        rows = np.flatnonzero(~missing & (numbers != self.base))
        places = numbers[rows].astype(np.intp)
        dummies[rows, places - (places > self.base)] = 1.0
        dummies[missing] = np.nan
        return dummies

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:
        """Return the column with a few people moved from level to level."""
        moved = moved_counts(self.levels.counts, stream, reverse=reverse)
        return replace(self, levels=self.levels.with_counts(moved))

    def decode(self, scores: Matrix) -> Vector:
        """Return the positions of the levels that fit the scores best with the original counts."""
        # Imported here: loading the compiler takes half a second, which inspection need not wait.
        from icsa.columns.assignment import assigned_levels

        self.require_scores(scores)
        of_levels = np.empty((self.width + 1, scores.shape[0]))
        rest = of_levels[self.base]
        rest[:] = 1.0
        for column, level in enumerate(np.delete(np.arange(self.width + 1), self.base)):
            of_levels[level] = scores[:, column]
            rest -= of_levels[level]
        return assigned_levels(of_levels, counts_among(self.levels.counts, scores.shape[0]))

    def cells(self, numbers: Vector) -> pl.Series:
        """Return the levels' values, null for NaN."""
        return self.levels.cells(numbers, self.name)


CATEGORY = KindRecord(
    name="category",
    fit=Category.fit,
    promise="masked, every level as often as before",
    account="masked, counts kept",
    moved_account="masked, counts moved by a few",
    has_levels=True,
)
