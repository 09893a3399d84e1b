"""The one entrance for numeric matrices: rows are people, columns are variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.errors import InputError, NotNumericError

__all__ = [
    "LARGEST",
    "LEAF_ROWS",
    "Matrix",
    "Vector",
    "as_matrix",
    "column_names",
    "columns_first",
    "row_blocks",
]

Matrix: TypeAlias = npt.NDArray[np.float64]
Vector: TypeAlias = npt.NDArray[np.float64]

# Blocks of this many rows stay in the cache at usual numbers of columns. Sums over rows are added
# block by block: another number would give other last digits.
LEAF_ROWS = 1 << 14
# Squares of larger numbers overflow. Codes for missing values can be that large (Stata's are).
LARGEST = 1e150
# How the types of columns that hold dates or times are called: pandas', polars' and pyarrow's.
_TEMPORAL = ("date", "time", "duration", "period", "month_day")


def as_matrix(x: object, *, minimum_rows: int = 1, check_finite: bool = True) -> Matrix:
    """Return `x` as a float64 matrix without missing, infinite or huge (over 1e150) cells.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        Anything that numpy reads as a table of real numbers, data frames included.
    minimum_rows : int
        Fewer rows than this are an error.
    check_finite : bool
        Whether to look at every cell; a caller that finds out in passing need not.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64
        `x` itself where it already is such a matrix; never written to by this package.

    Examples
    --------
    >>> as_matrix([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    _reject_special(x)
    try:
        table = np.asarray(x)
    except (TypeError, ValueError):
        raise InputError(
            "The data cannot be read as a table: rows of unequal length, or columns that do not go "
            "together. Give as many numbers in every row as there are columns."
        ) from None
    if table.ndim != 2:
        remedy = "Reshape your data: x.reshape(-1, 1) makes one column, x.reshape(1, -1) one row."
        raise InputError(
            f"A table with rows and columns is needed: got {table.ndim} dimension(s). {remedy}"
        )
    if np.iscomplexobj(table):
        raise InputError("Complex data not supported: the columns must hold real numbers.")
    if table.shape[1] == 0:
        raise InputError(
            f"The table has no columns: 0 feature(s) (shape={table.shape}) "
            "while a minimum of 1 is required."
        )
    if table.shape[0] < minimum_rows:
        raise InputError(
            f"The table has {table.shape[0]} row(s), n_samples = {table.shape[0]}; "
            f"a minimum of {minimum_rows} is required."
        )
    matrix = _to_float(table, x)
    if check_finite:
        _reject_unusable(matrix, x)
    return matrix


def column_names(x: object) -> list[str]:
    """Return the names of a data frame's columns, or ``0, 1, ...`` for anything else.

    Examples
    --------
    >>> column_names([[1.0, 2.0]])
    ['0', '1']
    """
    # A pyarrow table has its data in `columns`; what is no name is replaced by its position.
    names: Any = getattr(x, "column_names", None)
    if names is None:
        names = getattr(x, "columns", None)
    if names is None:
        names = range(np.asarray(x).shape[1])
    return [
        str(name if isinstance(name, str | int | tuple) else position)
        for position, name in enumerate(names)
    ]


def columns_first(x: Matrix) -> Matrix:
    """Return the transpose in one piece of writeable memory: that of `x` where it is such.

    Examples
    --------
    >>> columns_first(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 3.],
           [2., 4.]])
    """
    if x.flags.f_contiguous and x.flags.writeable:
        return x.T
    transposed = np.empty((x.shape[1], x.shape[0]))
    for rows in row_blocks(x.shape[0], 1024):  # a plain copy of the transpose misses the cache
        transposed[:, rows] = x[rows].T
    return transposed


def row_blocks(n_rows: int, block: int = LEAF_ROWS) -> Iterator[slice]:
    """Yield slices that cover `n_rows` rows in blocks that stay in the cache.

    Examples
    --------
    >>> list(row_blocks(5, block=2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n_rows, block):
        yield slice(start, min(start + block, n_rows))


def _reject_special(x: object) -> None:
    """Refuse what numpy would read as something else than the numbers that were meant."""
    if type(x) is np.ndarray:
        return
    if hasattr(x, "toarray") and hasattr(x, "nnz"):
        raise InputError("The data are a sparse matrix; dense rows are needed. Use x.toarray().")
    if hasattr(x, "collect") and hasattr(x, "collect_schema"):
        raise InputError("The data are a LazyFrame, which holds no rows yet. Use x.collect().")
    if isinstance(x, np.ma.MaskedArray) and x.ndim == 2 and np.ma.is_masked(x):
        _reject(np.ma.getmaskarray(x), x, "masked", "Remove or fill them.")
    types: Any = getattr(x, "dtypes", None)
    if types is None:
        types = getattr(getattr(x, "schema", None), "types", ())
    if isinstance(types, Iterable):
        for position, kind in enumerate(types):
            if str(kind).lower().startswith(_TEMPORAL):
                raise _dates_error(column_names(x)[position])


def _dates_error(name: str) -> NotNumericError:
    return NotNumericError(
        f"Column {name!r} holds dates or times, not numbers. Convert it, for instance to days "
        "since a fixed day, or leave it out."
    )


def _to_float(table: npt.NDArray[Any], x: object) -> Matrix:
    if table.dtype.kind in "fiub":
        return np.asarray(table, dtype=np.float64)
    if table.dtype.kind in "mM":
        raise _dates_error(column_names(x)[0])
    if table.dtype.kind == "O":
        for name, column in zip(column_names(x), table.T, strict=True):
            if not {np.datetime64, np.timedelta64}.isdisjoint(map(type, column)):
                raise _dates_error(name)
    try:
        return np.asarray(table, dtype=np.float64)
    except OverflowError:
        _reject(np.vectorize(_is_huge, otypes=[bool])(table), x, *_HUGE)
    except (TypeError, ValueError):
        pass
    for position, name in enumerate(column_names(x)):
        bad = [row for row, cell in enumerate(table[:, position]) if not _is_number(cell)]
        if bad:
            raise NotNumericError(
                f"Column {name!r}: {len(bad)} of {table.shape[0]} values are not numbers (first in "
                f"row {bad[0] + 1}): an argument must be a number, or a string that is a number. "
                "Fix them, or leave the column out."
            ) from None
    raise InputError("The data cannot be read as numbers. Convert every column to float first.")


def _is_number(cell: object) -> bool:
    try:
        float(cell)  # type: ignore[arg-type]
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return False
    return True


def _is_huge(cell: Any) -> bool:
    try:
        return abs(float(cell)) > LARGEST
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return False


_HUGE = (
    f"larger than {LARGEST:g} in absolute value",
    "Use other units; if they stand for missing values, as in files of Stata, remove or fill them.",
)


def _reject_unusable(matrix: Matrix, x: object) -> None:
    """Refuse missing, infinite and huge cells, in one pass where there are none."""
    if np.einsum("ij,ij->", matrix, matrix) <= LARGEST**2:
        return
    with np.errstate(invalid="ignore"):
        usable = all(
            matrix[rows].min() >= -LARGEST and matrix[rows].max() <= LARGEST
            for rows in row_blocks(matrix.shape[0])
        )
    if usable:
        return
    finite = np.isfinite(matrix)
    if finite.all():
        _reject(np.abs(matrix) > LARGEST, x, *_HUGE)
    column = matrix[:, int(np.flatnonzero(~finite.all(axis=0))[0])]
    # scikit-learn's checks look for the words NaN and inf.
    only_missing = np.isnan(column[~np.isfinite(column)]).all()
    what = "missing (NaN)" if only_missing else "not finite (NaN or inf)"
    _reject(~finite, x, what, "Remove or fill them.")


def _reject(bad: npt.NDArray[np.bool_], x: object, what: str, remedy: str) -> NoReturn:
    """Raise the error for the first column that has bad cells."""
    position = int(np.flatnonzero(bad.any(axis=0))[0])
    rows = np.flatnonzero(bad[:, position])
    raise InputError(
        f"Column {column_names(x)[position]!r}: {rows.size} of {bad.shape[0]} values are {what}, "
        f"first in row {rows[0] + 1}, counted from 1. {remedy}"
    )
