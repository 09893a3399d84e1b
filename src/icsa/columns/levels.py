"""Levels: the distinct values of a discrete column, by position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.columns.declared import ColumnSpec, reject, without_codes
from icsa.columns.storage import type_name
from icsa.columns.value_counts import counted_values
from icsa.errors import InputError
from icsa.matrices import Vector, row_blocks

__all__ = ["FEWEST_HOLDERS", "Counts", "Levels", "find_levels"]

Counts = npt.NDArray[np.int64]

# A level that fewer people hold points at them.
FEWEST_HOLDERS = 3
# Rows whose positions are found at a time.
_ROWS = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class Levels:
    """The values that cells may have, in order, and how many have each.

    Attributes
    ----------
    values : polars.Series
        In the cells' own type.
    counts : array of int
    """

    values: pl.Series
    counts: Counts

    def with_counts(self, counts: Counts) -> Levels:
        """Return the same levels with other counts."""
        return Levels(self.values, counts)

    def positions(self, cells: pl.Series, spec: ColumnSpec) -> Vector:
        """Return each cell's position among the levels, NaN where missing."""
        return _positions(without_codes(cells, spec), self.values, spec)

    def cells(self, positions: Vector, name: str) -> pl.Series:
        """Return the values at positions, null for NaN."""
        rows = pl.Series(positions, nan_to_null=True).cast(pl.UInt32)
        return self.values.gather(rows).alias(name)


def find_levels(cells: pl.Series, spec: ColumnSpec, *, keep_unseen: bool = False) -> Levels:
    """Return the levels of cells: the declared ones in their order, or those seen, sorted.

    Levels of an Enum are in its order.

    Parameters
    ----------
    cells : polars.Series
    spec : ColumnSpec
    keep_unseen : bool
        Whether declared levels without a cell, and those of an Enum, have a position too.
    """
    if cells.dtype.is_nested() or cells.dtype == pl.Object:
        raise InputError(
            f"Column {spec.name!r}: cells of type {type_name(cells.dtype)} have no levels. "
            "Leave the column out, or convert it first."
        )
    there = without_codes(cells, spec)
    if not spec.levels and there.dtype == pl.String:
        found, held = counted_values(there)
        order = found.arg_sort()
        return Levels(found.gather(order).alias(""), held[order.to_numpy()])
    values = _declared_values(there, spec)
    counted = _positions(there, values, spec)
    counts = np.bincount(counted[~np.isnan(counted)].astype(np.intp), minlength=values.len())
    if not keep_unseen:
        seen = counts > 0
        values, counts = values.filter(pl.Series(seen)), counts[seen]
    return Levels(values, counts.astype(np.int64))


def _declared_values(there: pl.Series, spec: ColumnSpec) -> pl.Series:
    if not spec.levels:
        if isinstance(there.dtype, pl.Enum):
            return pl.Series(there.dtype.categories, dtype=there.dtype)
        return there.drop_nulls().unique().sort()
    try:
        values = pl.Series(list(spec.levels)).cast(there.dtype)
    except (TypeError, pl.exceptions.PolarsError):
        raise InputError(
            f"Column {spec.name!r}: the declared levels are of another type than its cells, "
            f"{type_name(there.dtype)}. Declare them in that type."
        ) from None
    if values.n_unique() < values.len() or values.null_count():
        raise InputError(
            f"Column {spec.name!r}: the declared levels hold one twice, or a missing one. "
            "Declare each level once."
        )
    return values


def _positions(there: pl.Series, values: pl.Series, spec: ColumnSpec) -> Vector:
    found = np.full(there.len(), np.nan)
    if there.dtype != pl.Null and values.len():
        for rows in row_blocks(there.len(), _ROWS):  # a long column needs the room
            found[rows] = _positions_among(there[rows], values)
    reject(
        np.isnan(found) & there.is_not_null().to_numpy(),
        spec,
        "have none of the declared levels",
        "Correct them, declare their levels, or declare them as missing codes.",
    )
    return found


def _positions_among(there: pl.Series, values: pl.Series) -> Vector:
    """Return the positions of some cells, NaN where they have none."""
    if there.dtype in (pl.Categorical, pl.Enum):
        there, values = there.cast(pl.String), values.cast(pl.String)
    ranks = pl.Series(np.arange(values.len(), dtype=np.float64))
    found = there.replace_strict(values, ranks, default=None, return_dtype=pl.Float64)
    return found.to_numpy()
