"""The weighted totals of a table, by who has the weights: rows, or units with all their rows.

A weight that units have counts each unit once for its own columns, and for what its rows come to:
households by town, people by age. So the values that a unit's weight is multiplied by are its own
numbers and flags, and sums over its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from icsa.columns import Column, storage_of
from icsa.inspection.unit_rows import Flags, Places, UnitRows
from icsa.matrices import Matrix

__all__ = ["Total", "fitting_totals", "present", "totalled", "totals_of_both", "wanted_totals"]

# Rows or units for each total that is raked to: with fewer, weights would be bent to chance.
_HOLDERS_A_TOTAL = 4


@dataclass(frozen=True, eq=False)
class Total:
    """What the weights of holders are multiplied by, from one column or none.

    Attributes
    ----------
    how : str
        "ones" and "sizes" need no column; "own" is what a holder has itself, "summed" what the rows
        of a unit come to, "by size" what a unit has, times its rows.
    column : Column, optional
        As fitted to the original.
    """

    how: Literal["ones", "sizes", "own", "summed", "by size"]
    column: Column | None = None

    @property
    def name(self) -> str | None:
        """The column whose cells are needed."""
        return None if self.column is None else self.column.name

    @property
    def width(self) -> int:
        """How many totals there are of it."""
        return 1 if self.column is None else _n_indicators(self.column)

    def values(self, cells: pl.Series | None, rows: UnitRows | int) -> Matrix:
        """Return the values of all holders: units with their rows, or so many rows."""
        if isinstance(rows, int):
            if cells is None or self.column is None:
                return np.ones((rows, 1))
            return indicators(self.column, cells)
        if cells is None or self.column is None:
            ones = np.ones((rows.n_units, 1))
            return ones if self.how == "ones" else rows.sizes[:, None].astype(np.float64)
        if self.how == "summed":
            own = indicators(self.column, cells.gather(rows.order))
            return np.asarray(np.add.reduceat(own, rows.starts[:-1], axis=0))
        found = indicators(self.column, cells.gather(rows.firsts))
        return found if self.how == "own" else rows.sizes[:, None].astype(np.float64) * found


def wanted_totals(columns: Mapping[str, Column], of_units: Set[str] | None = None) -> list[Total]:
    """Return what weights are multiplied by, the most wanted first, those with one total before.

    Parameters
    ----------
    columns : mapping of str to Column
        As fitted to the original.
    of_units : set of str, optional
        Columns that belong to units, where they have the weights; None where rows have them.
    """
    named = by_width(columns)
    if of_units is None:
        return [Total("ones"), *(Total("own", column) for _, column in named)]
    of_both = [Total("own" if name in of_units else "summed", column) for name, column in named]
    # The last are people by the columns of their households.
    again = [Total("by size", column) for name, column in named if name in of_units]
    return [Total("ones"), Total("sizes"), *of_both, *again]


def fitting_totals(widths: Sequence[int], n_holders: int) -> list[int]:
    """Return the places of those that are held: as many totals as there are holders for.

    Examples
    --------
    >>> fitting_totals([1, 3, 1], n_holders=8)
    [0, 2]
    """
    kept, width = list[int](), 0
    for place, own in enumerate(widths):
        if kept and width + own > n_holders // _HOLDERS_A_TOTAL:
            continue
        kept.append(place)
        width += own
    return kept


def totals_of_both(
    totals: Sequence[Total],
    before: tuple[pl.DataFrame, UnitRows | int],
    after: tuple[pl.DataFrame, UnitRows | int],
) -> tuple[Matrix, Matrix]:
    """Return what weights are multiplied by, of both tables, as much as there are holders for.

    Parameters
    ----------
    totals : sequence of Total
        That are wanted.
    before, after : pair of polars.DataFrame and UnitRows or int
        The original and the release; the number of rows where these have the weights.
    """
    holders = [rows if isinstance(rows, int) else rows.n_units for _, rows in (before, after)]
    kept = [totals[k] for k in fitting_totals([one.width for one in totals], min(holders))]
    old, new = (np.concatenate(list(totalled(kept, *table)), axis=1) for table in (before, after))
    there = present(new)
    return old[:, there], new[:, there]


def present(values: Matrix) -> Flags:
    """Return which totals of released holders are not 0 in all of them."""
    return np.asarray((np.abs(values) > 0.0).any(axis=0))


def totalled(
    totals: Sequence[Total], frame: pl.DataFrame, rows: UnitRows | int
) -> Iterator[Matrix]:
    """Yield what the weights of a table are multiplied by.

    Parameters
    ----------
    totals : sequence of Total
    frame : polars.DataFrame
    rows : UnitRows or int
        Of the units that have the weights, or how many rows have them.
    """
    for one in totals:
        yield one.values(None if one.name is None else frame[one.name], rows)


def by_width(columns: Mapping[str, Column]) -> list[tuple[str, Column]]:
    """Return the columns that have totals, those with one first."""
    ordered = sorted(columns.items(), key=lambda item: item[1].width)
    return [(name, column) for name, column in ordered if column.width]


def indicators(column: Column, cells: pl.Series) -> Matrix:
    """Return what is summed up of a column: its numbers, or a flag for each level but one.

    Missing cells count as 0.
    """
    numbers = column.numbers(cells)
    if column.levels is None:
        storage = storage_of(cells.dtype)
        values = numbers if storage is not None else column.encode(numbers)[:, 0]
        return np.nan_to_num(values)[:, None]
    levels = _flagged(column)
    return np.asarray(numbers[:, None] == levels, dtype=np.float64)


def _flagged(column: Column) -> Places:
    assert column.levels is not None
    return np.flatnonzero(column.levels.counts)[1:]


def _n_indicators(column: Column) -> int:
    return 1 if column.levels is None else _flagged(column).size
