"""The one entrance for numeric matrices: rows are people, columns are variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.errors import InputError, NotNumericError

__all__ = ["Matrix", "Vector", "as_matrix", "column_names", "columns_first", "row_blocks"]

Matrix: TypeAlias = npt.NDArray[np.float64]
Vector: TypeAlias = npt.NDArray[np.float64]

# Blocks of this many rows stay in the cache at usual numbers of columns.
_BLOCK_ROWS = 1 << 14


def as_matrix(x: object, *, minimum_rows: int = 1, check_finite: bool = True) -> Matrix:
    """Return `x` as a float64 matrix without missing or infinite cells.

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
    if hasattr(x, "toarray") and hasattr(x, "nnz"):
        raise InputError("The data are a sparse matrix; dense rows are needed. Use x.toarray().")
    table = np.asarray(x)
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
        _reject_non_finite(matrix, x)
    return matrix


def column_names(x: object) -> list[str]:
    """Return the names of a data frame's columns, or ``0, 1, ...`` for anything else.

    Examples
    --------
    >>> column_names([[1.0, 2.0]])
    ['0', '1']
    """
    columns: Any = getattr(x, "columns", None)
    if columns is not None:
        return [str(name) for name in columns]
    return [str(position) for position in range(np.asarray(x).shape[1])]


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


def row_blocks(n_rows: int, block: int = _BLOCK_ROWS) -> Iterator[slice]:
    """Yield slices that cover `n_rows` rows in blocks that stay in the cache.

    Examples
    --------
    >>> list(row_blocks(5, block=2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n_rows, block):
        yield slice(start, min(start + block, n_rows))


def _to_float(table: npt.NDArray[Any], x: object) -> Matrix:
    if table.dtype.kind in "fiub":
        return np.asarray(table, dtype=np.float64)
    try:
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    for position, name in enumerate(column_names(x)):
        bad = [row for row, cell in enumerate(table[:, position]) if not _is_number(cell)]
        if bad:
            raise NotNumericError(
                f"Column {name!r}: {len(bad)} of {table.shape[0]} values are not numbers (first in "
                f"row {bad[0]}): an argument must be a number, or a string that is a number. "
                "Fix them, or leave the column out."
            ) from None
    raise InputError("The data cannot be read as numbers. Convert every column to float first.")


def _is_number(cell: object) -> bool:
    try:
        float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _reject_non_finite(matrix: Matrix, x: object) -> None:
    for block in row_blocks(matrix.shape[0]):
        finite = np.isfinite(matrix[block])
        if finite.all():
            continue
        position = int(np.flatnonzero(~finite.all(axis=0))[0])
        column = matrix[:, position]
        bad = np.flatnonzero(~np.isfinite(column))
        # scikit-learn's checks look for the words NaN and inf.
        what = "missing (NaN)" if np.isnan(column[bad]).all() else "not finite (NaN or inf)"
        raise InputError(
            f"Column {column_names(x)[position]!r}: {bad.size} of {column.size} values are {what}, "
            f"first in row {bad[0]}. Remove or fill them."
        )
