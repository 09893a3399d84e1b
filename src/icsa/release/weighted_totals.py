"""The weighted totals of a table, by who has the weights: rows, or units with all their rows.

A weight that units have counts each unit once for its own columns, and for what its rows come to:
households by town, people by age. So the values that a unit's weight is multiplied by are its own
numbers and flags, and sums over its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

import numpy as np
import polars as pl

from icsa.columns import Column, storage_of
from icsa.inspection.unit_rows import UnitRows
from icsa.matrices import Matrix

__all__ = ["by_width", "indicators", "totalled", "totals_of_both"]

# Rows or units for each total that is raked to: with fewer, weights would be bent to chance.
_HOLDERS_A_TOTAL = 4


def totals_of_both(before: Iterator[Matrix], after: Iterator[Matrix]) -> tuple[Matrix, Matrix]:
    """Return what weights are multiplied by, of both tables, as much as there are holders for.

    Parameters
    ----------
    before, after : iterator of ndarray of shape (n_holders, n_totals)
        `totalled` of the original and the release.

    Examples
    --------
    >>> ones = np.ones((8, 1))
    >>> both = totals_of_both(iter([ones, ones, ones]), iter([ones, ones, ones]))
    >>> both[0].shape
    (8, 2)
    """
    parts: tuple[list[Matrix], list[Matrix]] = ([], [])
    width = 0
    for pair in zip(before, after, strict=True):
        room = min(part.shape[0] for part in pair) // _HOLDERS_A_TOTAL
        if parts[0] and width + pair[0].shape[1] > room:
            continue
        width += pair[0].shape[1]
        for own, found in zip(parts, pair, strict=True):
            own.append(found)
    old, new = (np.concatenate(own, axis=1) for own in parts)
    there = (np.abs(new) > 0.0).any(axis=0)
    return old[:, there], new[:, there]


def totalled(
    columns: Mapping[str, Column],
    frame: pl.DataFrame,
    rows: UnitRows | None = None,
    of_units: Set[str] = frozenset(),
) -> Iterator[Matrix]:
    """Yield what weights are multiplied by, the most wanted first, those with one total before.

    Parameters
    ----------
    columns : mapping of str to Column
        As fitted to the original.
    frame : polars.DataFrame
    rows : UnitRows, optional
        Of the units that have the weights; None where rows have them.
    of_units : set of str
        Columns that belong to units.
    """
    named = by_width(columns)
    if rows is None:
        yield np.ones((frame.height, 1))
        for name, column in named:
            yield indicators(column, frame[name])
        return
    sizes = rows.sizes[:, None].astype(np.float64)
    yield np.ones((rows.n_units, 1))
    yield sizes
    for name, column in named:
        if name in of_units:
            yield indicators(column, frame[name].gather(rows.firsts))
        else:
            own = indicators(column, frame[name].gather(rows.order))
            yield np.add.reduceat(own, rows.starts[:-1], axis=0)
    for name, column in named:  # people by the columns of their households
        if name in of_units:
            yield sizes * indicators(column, frame[name].gather(rows.firsts))


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
    levels = np.flatnonzero(column.levels.counts)[1:]
    return np.asarray(numbers[:, None] == levels, dtype=np.float64)
