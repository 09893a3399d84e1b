"""A column of the original beside the same column of the release, as numbers or codes of levels.

Whatever compares two tables reads this one record. The two tables may have different numbers of
rows, and rows need not belong together. Nothing here reads files or knows data frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.errors import InputError, UnknownNameError
from icsa.matrices import Vector

__all__ = [
    "Cells",
    "Codes",
    "ColumnPair",
    "RowNumbers",
    "category_column",
    "named",
    "numeric_column",
    "sampled",
]

Cells: TypeAlias = npt.NDArray[Any]
Codes: TypeAlias = npt.NDArray[np.int32]
RowNumbers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class ColumnPair:
    """One column of both tables, as numbers or as codes of levels.

    Attributes
    ----------
    name : str
    original, released : ndarray
        Numbers (NaN where missing), or positions in `levels` (int32, -1 where missing).
    levels : tuple, optional
        What the codes stand for, of either table; None for numbers.
    grid : float
        Step of the lattice that the original's numbers lie on; 0 where there is none.
    kind : str
        As the schema has it, where there is one.
    unit : str
        What the numbers count: "days since 1970-01-01", ..., or empty.
    note : str
        What had to be done to compare, or empty.
    encode : callable, optional
        From the cells of another release to its numbers or codes.
    """

    name: str
    original: Cells
    released: Cells
    levels: tuple[Any, ...] | None = None
    grid: float = 0.0
    kind: str = ""
    unit: str = ""
    note: str = ""
    encode: Callable[[Any], Cells] | None = None

    @property
    def missing(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which cells are missing in the original and in the release."""
        if self.levels is None:
            return np.isnan(self.original), np.isnan(self.released)
        return self.original < 0, self.released < 0

    def rows(self, original: RowNumbers | None, released: RowNumbers | None) -> ColumnPair:
        """Return these rows of each table only, by position; None for all rows.

        Examples
        --------
        >>> numeric_column("age", [1.0, 2.0], [3.0]).rows(np.array([1]), None)
        <column of numbers, 1 and 1 rows>
        """
        first = self.original if original is None else self.original[original]
        second = self.released if released is None else self.released[released]
        return replace(self, original=first, released=second)

    def __repr__(self) -> str:
        """Show sizes only."""
        what = "numbers" if self.levels is None else f"{len(self.levels)} levels"
        return f"<column of {what}, {self.original.size} and {self.released.size} rows>"


def numeric_column(name: str, original: object, released: object) -> ColumnPair:
    """Return the numbers of one column in both tables, ready to be compared.

    Parameters
    ----------
    name : str
    original, released : array-like of shape (n_rows,)
        Numbers, NaN where missing. Infinite ones are an error.

    Examples
    --------
    >>> numeric_column("age", [31, 40, np.nan], [33, 38])
    <column of numbers, 3 and 2 rows>
    """
    return ColumnPair(
        name, _numbers(original, name, "original"), _numbers(released, name, "release")
    )


def category_column(name: str, original: object, released: object) -> ColumnPair:
    """Return the levels of one column in both tables as codes of one list of levels.

    Parameters
    ----------
    name : str
    original, released : array-like of shape (n_rows,)
        Labels of any kind that can be hashed; None or NaN where missing. In arrays of integers
        nothing is missing.

    Examples
    --------
    >>> column = category_column("ward", ["a", "b", None], ["b", "c"])
    >>> column.levels, column.original.tolist(), column.released.tolist()
    (('a', 'b', 'c'), [0, 1, -1], [1, 2])
    """
    first, second = np.asarray(original), np.asarray(released)
    for labels, table in ((first, "original"), (second, "release")):
        if labels.ndim != 1:
            raise InputError(_not_a_vector(name, table, labels.ndim))
    every = [*first.tolist(), *second.tolist()]
    # NaN is the only label that is not equal to itself.
    seen = dict.fromkeys(label for label in every if label is not None and label == label)
    known = _in_order(seen)
    positions = {label: position for position, label in enumerate(known)}
    codes = np.fromiter((positions.get(label, -1) for label in every), np.int32, len(every))
    return ColumnPair(name, codes[: first.size], codes[first.size :], known)


def named(columns: Sequence[ColumnPair], name: str) -> ColumnPair:
    """Return the column of that name.

    Examples
    --------
    >>> named([numeric_column("age", [1.0], [2.0])], "age")
    <column of numbers, 1 and 1 rows>
    """
    for column in columns:
        if column.name == name:
            return column
    raise UnknownNameError("column", name, [column.name for column in columns])


def sampled(
    columns: Sequence[ColumnPair], max_rows: int, *, seed: int = 0
) -> tuple[ColumnPair, ...]:
    """Return the columns with at most `max_rows` rows of each table, the same in every column.

    Tables of one length lose the same rows, so that a table is still equal to itself. Columns of
    short tables are returned as they are.

    Examples
    --------
    >>> sampled([numeric_column("age", np.arange(9.0), np.arange(5.0))], 4)
    (<column of numbers, 4 and 4 rows>,)
    """
    if not columns:
        return ()
    sizes = {(column.original.size, column.released.size) for column in columns}
    if len(sizes) > 1:
        raise InputError("Columns of one table must have one length: they have several.")
    first, second = (_sampled_rows(size, max_rows, seed) for size in sizes.pop())
    if first is None and second is None:
        return tuple(columns)
    return tuple(column.rows(first, second) for column in columns)


def _sampled_rows(n_rows: int, max_rows: int, seed: int) -> RowNumbers | None:
    """Return the positions of `max_rows` rows drawn at random, in their order; None for all."""
    if n_rows <= max_rows:
        return None
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_rows, size=max_rows, replace=False, shuffle=False))


def _numbers(values: object, name: str, table: str) -> Vector:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"Column {name!r} of the {table} holds something else than numbers. "
            "Compare it as a category, or fix its cells."
        ) from None
    if numbers.ndim != 1:
        raise InputError(_not_a_vector(name, table, numbers.ndim))
    infinite = np.flatnonzero(np.isinf(numbers))
    if infinite.size:
        raise InputError(
            f"Column {name!r} of the {table}: {infinite.size} of {numbers.size} values are "
            f"infinite, first in row {infinite[0] + 1}. Remove them or mark them as missing."
        )
    return numbers


def _not_a_vector(name: str, table: str, dimensions: int) -> str:
    return f"Column {name!r} of the {table} must be one vector: got {dimensions} dimension(s)."


def _in_order(labels: Iterable[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(sorted(labels, key=str))
