"""People with several rows as one row each: what their trajectories come to, and the rows as such.

Nothing here reads files or knows data frames: tables are numbers and codes, columns first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Codes
from icsa.comparison.features import FeatureTable
from icsa.matrices import Vector

__all__ = ["NUMBER_OF_ROWS", "How", "Summarised", "Visits", "summarised"]

How: TypeAlias = Literal[
    "", "rows", "mean", "last", "slope", "spread", "share", "most frequent", "head", "level"
]
Places: TypeAlias = npt.NDArray[np.int64]

NUMBER_OF_ROWS = "number of rows"


@dataclass(frozen=True)
class Summarised:
    """A column of people: what of a column of rows it is.

    Attributes
    ----------
    column : str
        Of the table; empty for the number of rows.
    how : str
        "" for a column that is the same in all rows of a unit: the first row's cell. "mean",
        "last" (of two or more), "slope" over time, "spread" (standard deviation), "share" (of the
        second of two levels), "most frequent", "head" (the first row's), "level" (how many rows
        have that level), "rows" (how many there are).
    place : int
        Of the column among the table's numbers or codes.
    codes : bool
        Whether the column has codes.
    level : int
        Which level is counted.
    """

    column: str
    how: How
    place: int = -1
    codes: bool = False
    level: int = -1

    @property
    def name(self) -> str:
        """What the column of people is called.

        Examples
        --------
        >>> Summarised("bili", "slope").name, Summarised("", "rows").name
        ('bili (slope)', 'number of rows')
        """
        if self.how == "rows":
            return NUMBER_OF_ROWS
        more = f" {self.level + 1}" if self.how == "level" else ""
        return f"{self.column} ({self.how}{more})" if self.how else self.column

    @property
    def gives_codes(self) -> bool:
        """Whether people have codes, as the column has."""
        return self.codes and self.how not in ("share", "level")


@dataclass(frozen=True, eq=False, repr=False)
class Visits:
    """The rows of all units, those of one together and in their order.

    Attributes
    ----------
    table : FeatureTable
        Columns of rows only, without the time.
    times : ndarray of shape (n_rows,), optional
    starts : ndarray of shape (n_units + 1,)
    """

    table: FeatureTable
    times: Vector | None
    starts: Places

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.starts.size - 1)

    @property
    def unit(self) -> Places:
        """The unit of each row."""
        return np.repeat(np.arange(self.n_units), np.diff(self.starts))

    def units(self, chosen: Places) -> Visits:
        """Return the rows of some units, in the order given."""
        sizes = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.starts[chosen] - starts[:-1], sizes) + np.arange(int(starts[-1]))
        times = None if self.times is None else self.times[rows]
        return Visits(self.table.rows(rows), times, starts)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Visits: {self.n_units} units, {self.table.n_rows} rows>"


def summarised(
    table: FeatureTable,
    order: Places,
    starts: Places,
    columns: tuple[Summarised, ...],
    times: Vector | None,
) -> FeatureTable:
    """Return a table with a row a unit.

    Parameters
    ----------
    table : FeatureTable
        Of rows.
    order : ndarray of int
        Rows of the table, those of a unit together.
    starts : ndarray of int
        Where each unit's rows begin in `order`, and where the last one's end.
    columns : tuple of Summarised
        Those that give numbers first.
    times : ndarray, optional
        Of all rows of the table; for slopes.

    Examples
    --------
    Two people, one with the values 1 and 3 on days 0 and 4, one with 7:

    >>> rows = FeatureTable(np.array([[7.0, 1.0, 3.0]]), np.empty((0, 3), dtype=np.int32))
    >>> wanted = tuple(Summarised("x", how, 0) for how in ("mean", "last", "slope"))
    >>> order, starts, days = np.array([1, 2, 0]), np.array([0, 2, 3]), np.array([5.0, 0.0, 4.0])
    >>> summarised(rows, order, starts, wanted, days).numbers
    array([[2. , 7. ],
           [3. , nan],
           [0.5, nan]])
    """
    n_units = starts.size - 1
    numbers = [c for c in columns if not c.gives_codes]
    clock = None if times is None else times[order]
    found = FeatureTable(
        np.empty((len(numbers), n_units)),
        np.empty((len(columns) - len(numbers), n_units), dtype=np.int32),
    )
    for row, column in zip(found.numbers, numbers, strict=True):
        row[:] = _number(table, order, starts, column, clock)
    for row, column in zip(found.codes, columns[len(numbers) :], strict=True):
        row[:] = _code(table.codes[column.place][order], starts, column.how)
    return found


def _number(
    table: FeatureTable,
    order: Places,
    starts: Places,
    column: Summarised,
    times: Vector | None,
) -> Vector:
    if column.how == "rows":
        return np.diff(starts).astype(np.float64)
    if column.codes:
        codes = table.codes[column.place][order]
        if column.how == "level":
            return _sums((codes == column.level).astype(np.float64), starts)
        values = np.where(codes < 0, np.nan, codes == 1)
    else:
        values = table.numbers[column.place][order]
    if column.how in ("", "head"):
        return values[starts[:-1]]
    known = ~np.isnan(values)
    counts = _sums(known.astype(np.float64), starts)
    with np.errstate(invalid="ignore", divide="ignore"):
        if column.how in ("mean", "share"):
            return _sums(np.where(known, values, 0.0), starts) / counts
        if column.how == "last":
            return np.where(counts > 1.0, values[_last(known, starts)], np.nan)
        if column.how == "spread":
            away = _centred(values, known, counts, starts)
            return np.sqrt(_sums(away**2, starts) / np.where(counts > 1.0, counts - 1.0, np.nan))
        assert times is not None
        x = _centred(times, known, counts, starts)
        y = _centred(values, known, counts, starts)
        squares = _sums(x * x, starts)
        return _sums(x * y, starts) / np.where(squares > 0.0, squares, np.nan)


def _code(codes: Codes, starts: Places, how: How) -> Codes:
    if how == "most frequent":
        return _most_frequent(codes, starts)
    if how == "last":
        known = codes >= 0
        counts = _sums(known.astype(np.float64), starts)
        return np.where(counts > 1.0, codes[_last(known, starts)], -1).astype(np.int32)
    return codes[starts[:-1]]


def _most_frequent(codes: Codes, starts: Places) -> Codes:
    """Return each unit's most frequent code, the smallest of several; -1 where all are missing."""
    units = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    known = codes >= 0
    width = int(codes.max(initial=0)) + 1
    kinds, counts = np.unique(units[known] * width + codes[known], return_counts=True)
    order = np.lexsort((-(kinds % width), counts, kinds // width))
    found = np.full(starts.size - 1, -1, dtype=np.int32)
    found[kinds[order] // width] = kinds[order] % width  # the last one written is the best
    return found


def _sums(values: Vector, starts: Places) -> Vector:
    return np.add.reduceat(values, starts[:-1])


def _last(known: npt.NDArray[np.bool_], starts: Places) -> Places:
    """Return where each unit's last known row is; its first row where none is."""
    places = np.maximum.reduceat(np.where(known, np.arange(known.size), -1), starts[:-1])
    return np.where(places < 0, starts[:-1], places)


def _centred(
    values: Vector, known: npt.NDArray[np.bool_], counts: Vector, starts: Places
) -> Vector:
    """Return values less their unit's mean over known rows; 0 in other rows."""
    present = known & ~np.isnan(values)
    sums = _sums(np.where(present, values, 0.0), starts)
    means = sums / np.where(counts > 0.0, counts, np.nan)
    return np.where(present, values - np.repeat(means, np.diff(starts)), 0.0)
