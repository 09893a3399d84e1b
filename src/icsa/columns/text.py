"""Free text: nothing of it can be released."""

from __future__ import annotations

import numpy as np
import polars as pl

from icsa.columns.fitted import Unscored
from icsa.columns.reading import is_present
from icsa.columns.transforms import Scale
from icsa.matrices import Matrix, Vector
from icsa.schema import ColumnSpec

__all__ = ["Text"]


class Text(Unscored):
    """A column of free text; its cells come out empty, and releases leave the column out.

    Examples
    --------
    >>> cells = pl.Series("remarks", ["fell from a ladder", None])
    >>> column = Text.fit(cells, ColumnSpec(name="remarks", kind="text"))
    >>> column.width, column.cells(column.numbers(cells)).to_list()
    (0, [None, None])
    """

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Text:  # noqa: ARG003
        """Return the column for cells that are not looked at."""
        n_present = int(is_present(cells, spec).sum())
        return cls(spec=spec, dtype=cells.dtype, n_present=n_present)

    def numbers(self, cells: pl.Series) -> Vector:
        """Return 0 for cells that are there, NaN where missing."""
        return np.where(is_present(cells, self.spec), 0.0, np.nan)

    def decode(self, scores: Matrix) -> Vector:
        """Return 0 for every row."""
        return np.zeros(scores.shape[0])

    def cells(self, numbers: Vector) -> pl.Series:
        """Return empty cells."""
        return pl.Series(self.name, [None] * numbers.size, dtype=self.dtype)
