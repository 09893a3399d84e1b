"""An original and a release as two tables of the same columns, which lie columns first.

A column is then one piece of memory, and the pairs of columns that the utility measures and the
models read are views of it: cells are in memory once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Cells, Codes, ColumnPair
from icsa.errors import InputError
from icsa.lattice import lattice_step
from icsa.matrices import Matrix, Vector, columns_first, row_blocks
from icsa.threads import in_threads

__all__ = ["PART", "FeatureTable", "Features", "Sweep", "as_features"]

_Result = TypeVar("_Result")

# Rows that are looked through at a time.
PART = 1 << 15


class Sweep(Protocol):
    """What looks through a table that does not fit in memory, part by part."""

    def turns(self, n_rows: int) -> Iterator[list[slice]]:
        """Yield what `FeatureTable.turns` yields; parts begin at multiples of `PART`."""
        ...

    def over(
        self,
        table: FeatureTable,
        function: Callable[..., _Result],
        parts: Sequence[slice],
        arguments: Sequence[tuple[object, ...]],
    ) -> list[_Result]:
        """Return what `FeatureTable.over` returns; `arguments` are those of each part."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class FeatureTable:
    """One table: numbers and codes of categories, columns first.

    Attributes
    ----------
    numbers : ndarray of shape (n_numbers, n_rows), float64
        One row for each numeric column; NaN is missing.
    codes : ndarray of shape (n_categories, n_rows), int32
        One row for each categorical column; -1 is missing.
    change : callable, optional
        What turns a block of `numbers` into other coordinates, such as those of a lens.
    sweep : Sweep, optional
        What looks through the rows of a table that does not fit in memory.
    """

    numbers: Matrix
    codes: Codes
    change: Callable[[Matrix], Matrix] | None = None
    sweep: Sweep | None = None

    @classmethod
    def consuming(cls, columns: list[Cells], n_numbers: int, n_rows: int) -> FeatureTable:
        """Return columns as one table, numbers first; each is let go as soon as it is copied."""
        numbers = np.empty((n_numbers, n_rows))
        codes = np.empty((len(columns) - n_numbers, n_rows), dtype=np.int32)
        for place, row in enumerate((*numbers, *codes)):
            row[:] = columns[place]
            columns[place] = row[:0]
        return cls(numbers, codes)

    @property
    def n_rows(self) -> int:
        """Number of people."""
        return int(self.numbers.shape[1])

    def rows(self, rows: npt.NDArray[np.intp]) -> FeatureTable:
        """Return a table of some of the rows, in the order given."""
        numbers = np.ascontiguousarray(self.numbers[:, rows])
        return FeatureTable(numbers, np.ascontiguousarray(self.codes[:, rows]), self.change)

    def block(self, rows: slice) -> Matrix:
        """Return the coordinates of a block of rows."""
        block = np.ascontiguousarray(self.numbers[:, rows])
        return block if self.change is None else self.change(block)

    def code_block(self, rows: slice) -> Codes:
        """Return the codes of a block of rows."""
        return np.ascontiguousarray(self.codes[:, rows])

    def turns(self, threads: int) -> Iterator[list[slice]]:
        """Yield parts of the rows to be looked through at a time; together they are all rows.

        The first are few: what they show may save later ones work.
        """
        if self.sweep is not None:
            yield from self.sweep.turns(self.n_rows)
            return
        parts = list(row_blocks(self.n_rows, PART))
        yield parts[:threads]
        for start in range(threads, len(parts), 4 * threads):
            yield parts[start : start + 4 * threads]

    def over(
        self,
        function: Callable[..., _Result],
        parts: Sequence[slice],
        *arguments: object,
        each: Sequence[object] | None = None,
        threads: int = 1,
    ) -> list[_Result]:
        """Return `function(table, part, *arguments)` of parts of the rows, in their order.

        With `each` there is one argument more, another one for every part. The function is one that
        a module has by its name: tables that do not fit in memory do this in other processes.

        Examples
        --------
        >>> table = FeatureTable(np.arange(3.0)[None, :], np.empty((0, 3), dtype=np.int32))
        >>> table.over(FeatureTable.block, [slice(0, 2), slice(2, 3)])
        [array([[0., 1.]]), array([[2.]])]
        """
        more = [()] * len(parts) if each is None else [(one,) for one in each]
        told = [(*arguments, *one) for one in more]
        if self.sweep is not None:
            return self.sweep.over(self, function, parts, told)

        def work(number: int) -> _Result:
            return function(self, parts[number], *told[number])

        return in_threads(work, range(len(parts)), threads)

    def __repr__(self) -> str:
        """Show sizes only."""
        return (
            f"<FeatureTable: {self.n_rows} rows, {self.numbers.shape[0]} numeric and "
            f"{self.codes.shape[0]} categorical columns>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Features:
    """An original and a release with the same columns.

    Attributes
    ----------
    original, released : FeatureTable
        They may have different numbers of rows.
    columns : tuple of ColumnPair
        The numeric columns, then the categorical ones. Their cells are views of the tables.
    """

    original: FeatureTable
    released: FeatureTable
    columns: tuple[ColumnPair, ...]

    @classmethod
    def consuming(cls, columns: list[ColumnPair]) -> Features:
        """Return columns of both tables as one record; the list is empty afterwards."""
        columns.sort(key=lambda column: column.levels is not None)
        n, m = (columns[0].original.size, columns[0].released.size) if columns else (0, 0)
        n_numbers = sum(column.levels is None for column in columns)
        firsts, seconds = [c.original for c in columns], [c.released for c in columns]
        none = np.empty(0)
        bare = tuple(replace(column, original=none, released=none) for column in columns)
        columns.clear()
        first = FeatureTable.consuming(firsts, n_numbers, n)
        return cls(first, FeatureTable.consuming(seconds, n_numbers, m), bare)

    def __post_init__(self) -> None:
        """Let every column be a view of the tables, so that cells are in memory once."""
        cells = [(*table.numbers, *table.codes) for table in (self.original, self.released)]
        viewed = tuple(
            replace(column, original=first, released=second)
            for column, first, second in zip(self.columns, *cells, strict=True)
        )
        object.__setattr__(self, "columns", viewed)

    @property
    def n_columns(self) -> int:
        """Number of columns, numeric and categorical."""
        return len(self.columns)

    @property
    def n_numbers(self) -> int:
        """Number of numeric columns."""
        return int(self.original.numbers.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numeric columns, then of the categorical ones."""
        return tuple(column.name for column in self.columns)

    @property
    def grids(self) -> Vector:
        """Steps of the lattices that the numeric columns lie on; 0 where there is none."""
        return np.array([column.grid for column in self.columns if column.levels is None], float)

    def with_released(self, released: FeatureTable) -> Features:
        """Return the same original beside another release."""
        return Features(self.original, released, self.columns)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Features: original {self.original!r}, released {self.released!r}>"


def as_features(
    original: object,
    released: object,
    *,
    names: Sequence[str] | None = None,
    grids: Sequence[float] | Vector | None = None,
    original_codes: object = None,
    released_codes: object = None,
    category_names: Sequence[str] | None = None,
) -> Features:
    """Return two tables as `Features`, from plain matrices.

    Parameters
    ----------
    original, released : array-like of shape (n_rows, n_numbers), (n_released, n_numbers)
        Numeric columns; NaN is missing. Matrices in Fortran order are not copied.
    names : sequence of str, optional
        Names of the numeric columns.
    grids : sequence of float, optional
        Lattice steps of the numeric columns, 0 for none; found by `lattice_step` when left out.
    original_codes, released_codes : array-like of int, optional
        Categorical columns, the same code for the same category in both; -1 is missing.
    category_names : sequence of str, optional
        Names of the categorical columns.

    Examples
    --------
    >>> original = [[1.0, 20.5], [1.0, 30.25], [4.0, np.nan], [2.0, 25.5]]
    >>> both = as_features(original, [[1.0, 25.0]], names=["visits", "bmi"])
    >>> both
    <Features: original <FeatureTable: 4 rows, 2 numeric and 0 categorical columns>, \
released <FeatureTable: 1 rows, 2 numeric and 0 categorical columns>>
    >>> both.grids
    array([1., 0.])
    """
    first = _table(original, original_codes, "original")
    second = _table(released, released_codes, "release")
    n_numbers, n_codes = first.numbers.shape[0], first.codes.shape[0]
    if second.numbers.shape[0] != n_numbers or second.codes.shape[0] != n_codes:
        raise InputError(
            f"The original has {n_numbers} numeric and {n_codes} categorical columns, the release "
            f"{second.numbers.shape[0]} and {second.codes.shape[0]}: they must have the same "
            "ones, in the same order."
        )
    if n_numbers + n_codes == 0:
        raise InputError("There are no columns in common: give at least one.")
    none = np.empty(0)
    numeric = zip(
        _names(names, n_numbers, "number", "numeric"), _grids(grids, first.numbers), strict=True
    )
    sizes = np.max([table.codes.max(axis=1, initial=-1) + 1 for table in (first, second)], axis=0)
    categories = zip(
        _names(category_names, n_codes, "category", "categorical"), sizes.tolist(), strict=True
    )
    columns = (
        *(ColumnPair(name, none, none, grid=float(grid)) for name, grid in numeric),
        *(ColumnPair(name, none, none, tuple(range(size))) for name, size in categories),
    )
    return Features(first, second, columns)


def _table(numbers: object, codes: object, which: str) -> FeatureTable:
    """Return one table, columns first, after looking at shapes and cells."""
    matrix = np.asarray(numbers, dtype=np.float64)
    levels = np.asarray(codes if codes is not None else np.empty((matrix.shape[0], 0)))
    if matrix.ndim != 2 or levels.ndim != 2 or matrix.shape[0] != levels.shape[0]:
        raise InputError(
            f"The {which}'s numbers and codes must be two tables with as many rows: got shapes "
            f"{matrix.shape} and {levels.shape}."
        )
    if matrix.shape[0] == 0:
        raise InputError(f"The {which} has no rows.")
    if np.isinf(matrix).any():
        raise InputError(f"The {which} has infinite cells: mark missing ones by NaN.")
    if levels.size and (levels.dtype.kind not in "iu" or levels.min() < -1):
        raise InputError(f"The {which}'s codes must be integers from -1 (missing) up.")
    codes_first = np.ascontiguousarray(levels.T.astype(np.int32))
    if matrix.shape[1] == 0:
        return FeatureTable(np.empty((0, matrix.shape[0])), codes_first)
    return FeatureTable(columns_first(matrix), codes_first)


def _names(names: Sequence[str] | None, count: int, word: str, kind: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{word} {j}" for j in range(count))
    if len(names) != count:
        raise InputError(f"There are {count} {kind} columns and {len(names)} names for them.")
    return tuple(names)


def _grids(grids: Sequence[float] | Vector | None, numbers: Matrix) -> Vector:
    if grids is None:
        return np.array([lattice_step(column) for column in numbers], dtype=np.float64)
    steps = np.asarray(grids, dtype=np.float64)
    if steps.shape != (numbers.shape[0],) or not np.all(np.isfinite(steps) & (steps >= 0)):
        raise InputError(
            f"grids must hold one step, 0 or larger, for each of {numbers.shape[0]} numeric "
            f"columns: got shape {steps.shape}."
        )
    return steps
