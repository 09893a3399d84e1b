"""Constant columns: one value, or none at all. Nothing to mask."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from icsa.columns.fitted import Unscored
from icsa.columns.reading import is_present, without_codes
from icsa.columns.transforms import Scale
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.schema import ColumnSpec

__all__ = ["Constant"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Constant(Unscored):
    """A column whose cells are all the same where they are there; its number is 0.

    Other kinds become constant where they have one value or none.

    Examples
    --------
    >>> cells = pl.Series("site", ["A", None, "A"])
    >>> column = Constant.fit(cells, ColumnSpec(name="site", kind="constant"))
    >>> column.width, column.cells(column.numbers(cells)).to_list()
    (0, ['A', None, 'A'])
    """

    value: pl.Series

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Constant:  # noqa: ARG003
        """Return the column fitted to cells; an error where they differ."""
        there = without_codes(cells, spec).drop_nulls()
        if (there != there.head(1)).any():
            raise InputError(
                f"Column {spec.name!r}: a constant column has one value, and this one has more. "
                "Give it another kind."
            )
        return cls.of_first(cells, spec)

    @classmethod
    def of_first(cls, cells: pl.Series, spec: ColumnSpec) -> Constant:
        """Return the constant column of the first cell that is there."""
        there = without_codes(cells, spec).drop_nulls()
        return cls(
            spec=replace(spec, kind="constant"),
            dtype=cells.dtype,
            n_present=there.len(),
            value=there.head(1),
        )

    def numbers(self, cells: pl.Series) -> Vector:
        """Return 0 for cells that are there, NaN where missing."""
        return np.where(is_present(cells, self.spec), 0.0, np.nan)

    def decode(self, scores: Matrix) -> Vector:
        """Return 0 for every row; NaN where there is no value."""
        return np.full(scores.shape[0], 0.0 if self.value.len() else np.nan)

    def cells(self, numbers: Vector) -> pl.Series:
        """Return the value for every number, null for NaN."""
        if not self.value.len():
            return pl.Series(self.name, [None] * numbers.size, dtype=self.dtype)
        rows = pl.Series(numbers, nan_to_null=True).cast(pl.UInt32)
        return self.value.gather(rows).alias(self.name)
