"""The rows of people who have several: who has which, and what is the same in all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.errors import InputError
from icsa.limits import LONG
from icsa.tables.table import Table

__all__ = [
    "UNIT_LEAF_ROWS",
    "Flags",
    "Places",
    "UnitRows",
    "leaves_of",
    "rows_of_units",
    "some_units",
    "taken",
    "unit_leaves",
]

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# Rows of the units that are worked on at a time. What is computed from whole units is computed in
# these leaves, in memory and from files: another number would give other last digits.
UNIT_LEAF_ROWS = 60_000


@dataclass(frozen=True, eq=False, repr=False)
class UnitRows:
    """Rows by unit: units as they come first in the table, and within them rows in an order.

    Attributes
    ----------
    order : array of int
        Rows of the table, those of the first unit first.
    starts : array of int of shape (n_units + 1,)
        Where each unit's rows begin in `order`, and where the last one's end.
    """

    order: Places
    starts: Places

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.starts.size - 1

    @property
    def sizes(self) -> Places:
        """How many rows each unit has."""
        return np.diff(self.starts)

    @property
    def unit(self) -> Places:
        """The number of the unit that each row of `order` belongs to."""
        return np.repeat(np.arange(self.n_units), self.sizes)

    @property
    def firsts(self) -> Places:
        """The first row of each unit, in the table."""
        return self.order[self.starts[:-1]]

    @property
    def stand_together(self) -> bool:
        """Whether most rows but the first of each unit come right after another one of it."""
        follows = np.diff(self.order, prepend=-2) == 1
        follows[self.starts[:-1]] = False
        return bool(2 * np.sum(follows) >= self.order.size - self.n_units)

    def varying(self, cells: pl.Series) -> Flags:
        """Return the units in which cells are not all the same; a missing cell is a value."""
        ordered = cells.gather(self.order)
        changes = ordered.ne_missing(ordered.shift(1)).to_numpy().copy()
        changes[self.starts[:-1]] = False
        return self.any(changes)

    def any(self, flags: Flags) -> Flags:
        """Return the units with a flag in one of the rows of `order`."""
        return np.bincount(self.unit[flags], minlength=self.n_units) > 0

    def is_rising(self, numbers: npt.NDArray[np.float64]) -> Flags:
        """Return the units in which numbers, in the order of the rows, grow from row to row."""
        with np.errstate(invalid="ignore"):
            steps = np.diff(numbers, prepend=np.nan)
            fine = steps > 0.0
        fine[self.starts[:-1]] = ~np.isnan(numbers[self.starts[:-1]])
        return ~self.any(~fine)

    def sorted_by(self, numbers: npt.NDArray[np.float64]) -> UnitRows:
        """Return the same units with rows in the order of a number that each row of the table has.

        Examples
        --------
        >>> rows = rows_of_units(pl.Series(["a", "b", "a"]))
        >>> rows.sorted_by(np.array([9.0, 1.0, 2.0])).order
        array([2, 0, 1])
        """
        within = np.lexsort((numbers[self.order], self.unit))
        return UnitRows(self.order[within], self.starts)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<UnitRows: {self.n_units} units, {self.order.size} rows>"


def some_units(starts: Places, n_rows: int) -> tuple[Places, Places]:
    """Return units drawn at random, the same each time, with so many rows in all, and their rows.

    Units are ascending, and all of them where the table is short.

    Examples
    --------
    >>> some_units(np.array([0, 2, 3, 7]), 100)
    (array([0, 1, 2]), array([0, 1, 2, 3, 4, 5, 6]))
    """
    n_units = starts.size - 1
    units = np.arange(n_units)
    if starts[-1] > n_rows:
        drawn = np.random.default_rng(n_units).permutation(n_units)
        within = np.cumsum(np.diff(starts)[drawn]) <= n_rows
        units = np.sort(drawn[: max(int(within.sum()), 1)])
    sizes = np.diff(starts)[units]
    first = np.repeat(starts[units] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    return units, first + np.arange(int(sizes.sum()))


def unit_leaves(starts: Places, n_rows: int = UNIT_LEAF_ROWS) -> Iterator[slice]:
    """Yield units in leaves with so many rows at most, or one unit.

    Examples
    --------
    >>> list(unit_leaves(np.array([0, 2, 3, 7, 9]), 5))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    first = 0
    while first < starts.size - 1:
        reached = int(np.searchsorted(starts, starts[first] + n_rows, side="right")) - 1
        last = max(reached, first + 1)
        yield slice(first, last)
        first = last


def leaves_of(starts: Places) -> list[slice]:
    """Return the leaves of units of a long table; all of them as one where it is short.

    Examples
    --------
    >>> leaves_of(np.array([0, 2, 3]))
    [slice(0, 2, None)]
    """
    if starts[-1] <= LONG:
        return [slice(0, starts.size - 1)]
    return list(unit_leaves(starts))


def taken(table: Table, rows: Places, names: Sequence[str] | None = None) -> Table:
    """Return some rows of a table, and some of its columns; None: all.

    Examples
    --------
    >>> taken(Table(pl.DataFrame({"age": [41, 52], "sex": ["f", "m"]})), np.array([1]), ["age"])
    <Table of 1 rows and 1 columns, frame>
    """
    kept = table.frame if names is None else table.frame.select(names)
    letters = {
        name: found[rows] for name, found in table.missing_letters.items() if name in kept.columns
    }
    return table.with_frame(kept[rows], letters)


def rows_of_units(cells: pl.Series) -> UnitRows:
    """Return which rows belong to which unit; an error where a cell is missing.

    Examples
    --------
    >>> rows = rows_of_units(pl.Series("id", ["b", "a", "b"]))
    >>> rows.order, rows.starts
    (array([0, 2, 1]), array([0, 2, 3]))
    """
    if cells.null_count():
        raise InputError(
            f"Column {cells.name!r}: {cells.null_count()} of {cells.len()} rows have no unit. Fill "
            "them, or leave these rows out: whom they are about is not known."
        )
    known = cells.unique(maintain_order=True).to_frame("unit").with_row_index("number")
    coded = cells.to_frame("unit").join(known, on="unit", how="left", maintain_order="left")
    codes = coded["number"].cast(pl.Int64).to_numpy()
    sizes = np.bincount(codes, minlength=known.height)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return UnitRows(np.argsort(codes, kind="stable"), starts)
