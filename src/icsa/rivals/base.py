"""What every rival is given: the masked columns of a table as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from icsa.columns import Column
from icsa.matrices import Matrix, Vector

__all__ = ["Cells", "bins_of_levels", "within_column"]


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The columns that are masked, and their numbers: NaN where missing, positions of levels.

    Attributes
    ----------
    columns : mapping of str to Column
    numbers : mapping of str to Vector
    """

    columns: Mapping[str, Column]
    numbers: Mapping[str, Vector]

    @property
    def n_rows(self) -> int:
        """Number of people."""
        return next(iter(self.numbers.values())).size

    @property
    def quantities(self) -> list[str]:
        """Names of the columns that have no levels."""
        return [name for name, column in self.columns.items() if column.levels is None]

    def is_ordered(self, name: str) -> bool:
        """Return whether numbers of a column have an order: quantities, two levels, ordinals."""
        return self.columns[name].without_dummy is None

    def space_of_distances(self) -> Matrix:
        """Return all columns with variance 1, for distances; missing cells at the middle.

        A level without an order has a column of its own, all of them together a variance of 1.
        """
        parts = []
        for name, numbers in self.numbers.items():
            block = numbers[:, None] if self.is_ordered(name) else bins_of_levels(numbers)
            block = block - np.nanmean(block, axis=0)
            total = float(np.sqrt(np.nansum(np.nanvar(block, axis=0))))
            parts.append(np.nan_to_num(block / total) if total > 0.0 else np.zeros_like(block))
        return np.hstack(parts)


def bins_of_levels(positions: Vector) -> Matrix:
    """Return a column of 0 and 1 for each level that occurs; NaN where missing.

    Examples
    --------
    >>> bins_of_levels(np.array([2.0, 0.0, 2.0]))
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """
    levels = np.unique(positions[~np.isnan(positions)])
    dummies: Matrix = (positions[:, None] == levels).astype(np.float64)
    dummies[np.isnan(positions)] = np.nan
    return dummies


def within_column(numbers: Vector, column: Column) -> Vector:
    """Return numbers rounded and held as the column's cells are: on its lattice, in its bounds."""
    rounded = numbers if column.lattice is None else column.lattice.round(numbers)
    return np.asarray(np.clip(rounded, column.lower, column.upper))
