"""What the guesses and notes look at: one column's cells counted once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.columns.declared import without_codes
from icsa.columns.value_counts import counted_values
from icsa.inspection.limits import LIMITS
from icsa.matrices import Vector
from icsa.schema import ColumnSpec
from icsa.tables.table import Table, Variable

__all__ = ["Counts", "Profile", "cells_there", "profile_of", "sample_of", "telling_profile"]

Counts = npt.NDArray[np.int64]

# What cannot be compared cell by cell, or cannot be masked whatever it holds.
_NESTED = (pl.List, pl.Array, pl.Struct, pl.Object, pl.Binary)


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """One column: its cells that are there, how many, and how many are different.

    Attributes
    ----------
    name : str
    variable : Variable
        What the file says about it.
    cells : polars.Series
        All rows; null where missing, where NaN, and where a missing code stands.
    values : polars.Series
        The different values, missing left out.
    held : array of int
        How many rows hold each of `values`.
    """

    name: str
    variable: Variable
    cells: pl.Series
    values: pl.Series
    held: Counts

    @property
    def dtype(self) -> pl.DataType:
        """Type of the cells."""
        return self.cells.dtype

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.cells.len()

    @property
    def missing(self) -> int:
        """Number of missing cells."""
        return self.cells.null_count()

    @property
    def present(self) -> int:
        """Number of cells that are there."""
        return self.n_rows - self.missing

    @property
    def distinct(self) -> int:
        """Number of different values."""
        return self.values.len()

    @property
    def is_nested(self) -> bool:
        """Whether cells are lists, records, bytes or objects."""
        return isinstance(self.dtype, _NESTED)

    @property
    def is_text(self) -> bool:
        """Whether cells are strings, as categories or not."""
        return isinstance(self.dtype, pl.String | pl.Categorical | pl.Enum)

    @cached_property
    def numbers(self) -> Vector:
        """The finite numbers among `values`, in the order of `values`; none for other types."""
        if not self.dtype.is_numeric():
            return np.empty(0)
        found: Vector = self.values.cast(pl.Float64).to_numpy()
        finite: Vector = found[np.isfinite(found)]
        return finite

    @cached_property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers, whatever their type."""
        if self.dtype.is_integer():
            return True
        whole = self.numbers.size == self.distinct and self.numbers.size > 0
        return whole and bool((self.numbers == np.round(self.numbers)).all()) and self.is_exact

    @cached_property
    def is_exact(self) -> bool:
        """Whether numbers are too small for floats to round them: from 2^53 on all are whole."""
        return bool((np.abs(self.numbers) < 2.0**53).all())

    @property
    def largest_share(self) -> float:
        """Share of the cells that are there which hold the commonest value."""
        return float(self.held.max() / self.present) if self.present else 0.0

    @property
    def commonest(self) -> float:
        """The commonest value of a numeric column; NaN for others."""
        if not self.dtype.is_numeric() or not self.distinct:
            return float("nan")
        return float(self.values[int(np.argmax(self.held))])

    def __repr__(self) -> str:
        """Show sizes only: cells tell about people."""
        return f"<Profile of {self.n_rows} cells, {self.missing} missing, {self.distinct} distinct>"


def profile_of(table: Table, name: str, spec: ColumnSpec | None = None) -> Profile:
    """Return the profile of one column, with the missing codes of its file and its declaration.

    Parameters
    ----------
    table : Table
    name : str
        One of its columns.
    spec : ColumnSpec, optional
        Its declaration, for the missing codes.

    Examples
    --------
    >>> table = Table(pl.DataFrame({"age": [41, 52, 52, 999, None]}))
    >>> spec = ColumnSpec(name="age", kind="integer", missing_codes=(999,))
    >>> profile_of(table, "age", spec)
    <Profile of 5 cells, 2 missing, 2 distinct>
    """
    variable, cells = table.variable(name), cells_there(table, name, spec)
    if isinstance(cells.dtype, _NESTED):
        there = cells.drop_nulls()
        return Profile(name, variable, cells, there, np.ones(there.len(), dtype=np.int64))
    if cells.dtype.is_float():  # many are different, and sorting them is quicker than hashing
        numbers, held = np.unique(cells.drop_nulls().to_numpy(), return_counts=True)
        return Profile(name, variable, cells, pl.Series(numbers), held)
    return Profile(name, variable, cells, *counted_values(cells))


def cells_there(table: Table, name: str, spec: ColumnSpec | None = None) -> pl.Series:
    """Return a column with null for the missing codes of its file and its declaration.

    Examples
    --------
    >>> spec = ColumnSpec(name="age", kind="integer", missing_codes=(999,))
    >>> cells_there(Table(pl.DataFrame({"age": [41, 999]})), "age", spec).to_list()
    [41, None]
    """
    declared = spec or ColumnSpec(name=name, kind="constant")
    return without_codes(table.frame[name], declared.in_file(table))


def sample_of(cells: pl.Series, size: int = LIMITS.quick_sample) -> pl.Series:
    """Return the cells that are there, or so many of them, the same each time.

    Examples
    --------
    >>> sample_of(pl.Series(["a", None, "b"])).to_list()
    ['a', 'b']
    """
    if cells.len() > 2 * size:
        rows = np.random.default_rng(cells.len()).integers(0, cells.len(), 2 * size)
        drawn = cells[np.unique(rows)].drop_nulls()
        if drawn.len() >= size // 2:
            return drawn
    there = cells.drop_nulls()
    if there.len() <= size:
        return there
    rows = np.random.default_rng(there.len()).choice(there.len(), size, replace=False)
    return there[np.sort(rows)]


def telling_profile(table: Table, name: str) -> Profile:
    """Return a profile that the kind of a column can be guessed by.

    Of a long column of numbers with decimals a sample is enough, if many of them differ.
    """
    cells = table.frame[name]
    if cells.dtype.is_float() and cells.len() > 5 * LIMITS.sample:
        rows = np.sort(np.random.default_rng(cells.len()).choice(cells.len(), LIMITS.sample, False))
        sample = profile_of(table.with_frame(cells[rows].to_frame()), name)
        if sample.distinct > LIMITS.sample_differs and not sample.is_whole:
            return sample
    return profile_of(table, name)
