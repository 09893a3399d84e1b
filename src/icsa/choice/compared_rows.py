"""What is compared: a table, and the rows of a long one, the same in memory and from files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from icsa.comparison.column_pairs import RowNumbers
from icsa.inspection.unit_rows import rows_of_units, taken
from icsa.schema import Design, Schema
from icsa.tables import Table

__all__ = ["ToCompare", "compared_rows", "some_rows"]

# Fixed, and no secret: it chooses the rows.
_SEED = 20_011


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ToCompare:
    """A table of which everything is declared, wherever its rows are.

    Attributes
    ----------
    schema : Schema
        From all rows.
    n_rows, n_columns : int
    some_rows : function
        From a number to a table of so many rows, drawn from all.
    file : Path, optional
        What is named in the command that is advised.
    said : mapping
        Of the rows, besides what the schema says.
    """

    schema: Schema
    n_rows: int
    n_columns: int
    some_rows: Callable[[int], Table]
    file: Path | None
    said: Mapping[str, Any]


def compared_rows(n_rows: int, count: int, units: pl.Series | None = None) -> RowNumbers:
    """Return so many rows of a table, drawn from all, in their order; all of few.

    Parameters
    ----------
    n_rows, count : int
        Of the table, and of those that are wanted.
    units : polars.Series, optional
        Names of people with several rows: all rows of somebody are drawn, or none.

    Examples
    --------
    >>> compared_rows(3, 5), compared_rows(9, 4).size
    (array([0, 1, 2]), 4)
    >>> compared_rows(6, 2, pl.Series(["a", "b", "c", "a", "b", "c"]))
    array([2, 5])
    """
    if count >= n_rows:
        return np.arange(n_rows, dtype=np.int64)
    generator = np.random.default_rng(_SEED)
    if units is None:
        return np.sort(generator.permutation(n_rows)[:count]).astype(np.int64)
    rows = rows_of_units(units)
    order = generator.permutation(rows.n_units)
    sizes = np.diff(rows.starts)[order]
    kept = np.zeros(rows.n_units, dtype=bool)
    kept[order] = np.cumsum(sizes) - sizes < count  # the last one may go a little beyond
    return np.sort(rows.order[kept[rows.unit]])


def some_rows(table: Table, count: int, design: Design) -> Table:
    """Return a table of so many rows, drawn from all; of people with several, all or none."""
    n_rows = table.frame.height
    if count >= n_rows:
        return table
    units = table.frame[design.unit] if design.unit else None
    return taken(table, compared_rows(n_rows, count, units))
