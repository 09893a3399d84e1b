"""A column of the original beside the same column of the release, as numbers or as codes of levels.

The utility measures work on these. The two tables may have different numbers of rows, and rows need
not belong together: distributions are compared, not people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from icsa.errors import InputError, UnknownNameError
from icsa.matrices import Vector

__all__ = [
    "CategoryColumn",
    "Codes",
    "ComparedColumn",
    "NumericColumn",
    "category_column",
    "named",
    "numeric_column",
    "sampled",
    "sampled_rows",
    "taken",
]

Codes: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class NumericColumn:
    """Numbers of both tables, NaN where missing. Made by `numeric_column`."""

    name: str
    original: Vector
    released: Vector

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<numeric column, {self.original.size} and {self.released.size} rows>"


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class CategoryColumn:
    """Codes of levels of both tables, -1 where missing. Made by `category_column`.

    Attributes
    ----------
    name : str
    original, released : ndarray of int64
        Positions in `levels`, or -1.
    levels : tuple
        Every level of either table, in their order where they can be sorted.
    """

    name: str
    original: Codes
    released: Codes
    levels: tuple[Any, ...]

    def __repr__(self) -> str:
        """Show sizes only."""
        sizes = f"{self.original.size} and {self.released.size} rows"
        return f"<column of {len(self.levels)} categories, {sizes}>"


ComparedColumn: TypeAlias = NumericColumn | CategoryColumn


def numeric_column(name: str, original: object, released: object) -> NumericColumn:
    """Return the numbers of one column in both tables, ready to be compared.

    Parameters
    ----------
    name : str
    original, released : array-like of shape (n_rows,)
        Numbers, NaN where missing. Infinite ones are an error.

    Examples
    --------
    >>> numeric_column("age", [31, 40, np.nan], [33, 38])
    <numeric column, 3 and 2 rows>
    """
    return NumericColumn(
        name, _numbers(original, name, "original"), _numbers(released, name, "release")
    )


def category_column(name: str, original: object, released: object) -> CategoryColumn:
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
    if first.dtype.kind in "biu" and second.dtype.kind in "biu":
        levels, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
        known: tuple[Any, ...] = tuple(levels.tolist())
        every = codes.astype(np.int64)
    else:
        every, known = _codes([*first.tolist(), *second.tolist()])
    return CategoryColumn(name, every[: first.size], every[first.size :], known)


def named(columns: Sequence[ComparedColumn], name: str) -> ComparedColumn:
    """Return the column of that name.

    Examples
    --------
    >>> named([numeric_column("age", [1.0], [2.0])], "age")
    <numeric column, 1 and 1 rows>
    """
    for column in columns:
        if column.name == name:
            return column
    raise UnknownNameError("column", name, [column.name for column in columns])


def sampled(
    columns: Sequence[ComparedColumn], max_rows: int, *, seed: int = 0
) -> tuple[ComparedColumn, ...]:
    """Return the columns with at most `max_rows` rows of each table, the same in every column.

    Tables of one length lose the same rows, so that a table is still equal to itself.

    Examples
    --------
    >>> sampled([numeric_column("age", np.arange(9.0), np.arange(5.0))], 4)
    (<numeric column, 4 and 4 rows>,)
    """
    if not columns:
        return ()
    sizes = {(column.original.size, column.released.size) for column in columns}
    if len(sizes) > 1:
        raise InputError("Columns of one table must have one length: they have several.")
    n, m = sizes.pop()
    first, second = sampled_rows(n, max_rows, seed=seed), sampled_rows(m, max_rows, seed=seed)
    if first is None and second is None:
        return tuple(columns)
    return tuple(taken(column, first, second) for column in columns)


def sampled_rows(n_rows: int, max_rows: int, *, seed: int = 0) -> Codes | None:
    """Return the positions of `max_rows` rows drawn at random, in their order; None for all rows.

    Examples
    --------
    >>> sampled_rows(3, 3) is None
    True
    """
    if n_rows <= max_rows:
        return None
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_rows, size=max_rows, replace=False, shuffle=False))


@overload
def taken(
    column: NumericColumn, original: Codes | None, released: Codes | None
) -> NumericColumn: ...
@overload
def taken(
    column: ComparedColumn, original: Codes | None, released: Codes | None
) -> ComparedColumn: ...
def taken(column: ComparedColumn, original: Codes | None, released: Codes | None) -> ComparedColumn:
    """Return the column with these rows of each table only, by position; None for all rows.

    Examples
    --------
    >>> taken(numeric_column("age", [1.0, 2.0], [3.0]), np.array([1]), None)
    <numeric column, 1 and 1 rows>
    """
    first = slice(None) if original is None else original
    second = slice(None) if released is None else released
    if isinstance(column, NumericColumn):
        return NumericColumn(column.name, column.original[first], column.released[second])
    cells = column.original[first], column.released[second]
    return CategoryColumn(column.name, *cells, column.levels)


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


def _codes(labels: list[Any]) -> tuple[Codes, tuple[Any, ...]]:
    # NaN is the only label that is not equal to itself.
    seen = dict.fromkeys(label for label in labels if label is not None and label == label)
    known = _in_order(seen)
    positions = {label: position for position, label in enumerate(known)}
    codes = np.fromiter((positions.get(label, -1) for label in labels), np.int64, len(labels))
    return codes, known


def _in_order(labels: Iterable[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(sorted(labels, key=str))
