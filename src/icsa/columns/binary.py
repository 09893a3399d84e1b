"""Binary columns: two values of any type."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from icsa.columns.base import Column
from icsa.columns.constant import Constant
from icsa.columns.levels import find_levels
from icsa.columns.ranked import RankedLevels
from icsa.columns.transforms import Scale
from icsa.errors import InputError
from icsa.schema import ColumnSpec

__all__ = ["Binary"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Binary(RankedLevels):
    """A column with two values, numbered 0 and 1 in their sorted or declared order.

    The number is the score. Decoding gives the second value to as many rows as had it, those with
    the largest scores.

    Examples
    --------
    >>> cells = pl.Series("smokes", ["no", "yes", "no"])
    >>> column = Binary.fit(cells, ColumnSpec(name="smokes", kind="binary"))
    >>> column.cells(column.decode(np.array([[0.7], [0.1], [0.6]]))).to_list()
    ['yes', 'no', 'no']
    """

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Column:  # noqa: ARG003
        """Return the column fitted to cells; constant where they do not vary."""
        levels = find_levels(cells, spec)
        if levels.counts.size < 2:
            return Constant.of_first(cells, spec)
        if levels.counts.size > 2:
            raise InputError(
                f"Column {spec.name!r}: a binary column has 2 different values: this one has "
                f"{levels.counts.size}. Give it another kind, or declare missing codes."
            )
        n_present = int(levels.counts.sum())
        return cls(spec=spec, dtype=cells.dtype, n_present=n_present, levels=levels)
