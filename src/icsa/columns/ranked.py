"""What binary and ordinal columns share: levels in an order, scored by their position."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl

from icsa.columns.counts import counts_among, moved_counts, positions_by_rank
from icsa.columns.fitted import FittedColumn
from icsa.columns.levels import Levels
from icsa.matrices import Matrix, Vector
from icsa.randomness import Stream

__all__ = ["RankedLevels"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RankedLevels(FittedColumn):
    """A column whose levels are numbered 0, 1, 2 ... in their order; the number is the score.

    Decoding gives the lowest scores the first level, as many as had it, and so on.

    Attributes
    ----------
    levels : Levels
    """

    levels: Levels

    def numbers(self, cells: pl.Series) -> Vector:
        """Return each cell's level, counted from 0, NaN where missing."""
        return self.levels.positions(cells, self.spec)

    def encode(self, numbers: Vector) -> Matrix:
        """Return the numbers as the only column of scores."""
        return np.array(numbers, dtype=np.float64)[:, None]

    def with_moved_counts(self, stream: Stream, *, reverse: bool = False) -> Self:
        """Return the column with a few people moved from level to level."""
        moved = moved_counts(self.levels.counts, stream, reverse=reverse)
        return replace(self, levels=self.levels.with_counts(moved))

    def decode(self, scores: Matrix) -> Vector:
        """Return the levels by the order of the scores, with the original counts."""
        self.require_scores(scores)
        counts = counts_among(self.levels.counts, scores.shape[0])
        return positions_by_rank(scores[:, 0], counts)

    def view(self, numbers: Vector) -> Matrix:
        """Return the numbers, shape (n_rows, 1)."""
        return self.encode(numbers)

    def cells(self, numbers: Vector) -> pl.Series:
        """Return the levels' values, null for NaN."""
        return self.levels.cells(numbers, self.name)
