"""Ordinal columns: levels in an order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from icsa.columns.base import Column
from icsa.columns.constant import Constant
from icsa.columns.levels import find_levels
from icsa.columns.ranked import RankedLevels
from icsa.columns.transforms import Scale
from icsa.errors import InputError
from icsa.schema import ColumnSpec

__all__ = ["Ordinal"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ordinal(RankedLevels):
    """A column of ordered levels, scored 0, 1, 2 ... in their order.

    The order is that declared, that of an Enum, or that of numbers and dates. Decoding gives the
    lowest scores the first level, as many as had it, and so on.

    Examples
    --------
    >>> cells = pl.Series("pain", ["none", "much", "some", "none"])
    >>> spec = ColumnSpec(name="pain", kind="ordinal", levels=("none", "some", "much"))
    >>> column = Ordinal.fit(cells, spec)
    >>> column.numbers(cells)
    array([0., 2., 1., 0.])
    >>> column.cells(column.decode(np.array([[1.4], [0.2], [0.3], [2.5]]))).to_list()
    ['some', 'none', 'none', 'much']
    """

    @classmethod
    def fit(cls, cells: pl.Series, spec: ColumnSpec, scale: Scale = "power") -> Column:  # noqa: ARG003
        """Return the column fitted to cells; constant where they do not vary."""
        levels = find_levels(cells, spec, keep_unseen=True)
        if np.count_nonzero(levels.counts) < 2:
            return Constant.of_first(cells, spec)
        if cells.dtype in (pl.String, pl.Categorical) and not spec.levels:
            raise InputError(
                f"Column {spec.name!r}: the order of its {levels.counts.size} levels is not known, "
                "as they are text. Declare its levels in order, or give it the kind 'category'."
            )
        n_present = int(levels.counts.sum())
        return cls(spec=spec, dtype=cells.dtype, n_present=n_present, levels=levels)
