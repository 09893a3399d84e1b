"""Who is to be looked at, as people say it: row numbers, a column that marks them, a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.comparison.cells import as_numbers
from icsa.errors import InputError, UnknownNameError
from icsa.tables import Table

__all__ = ["read_outliers"]

_Rows = npt.NDArray[np.int64]


def read_outliers(outliers: Any, table: Table) -> tuple[_Rows | None, str | None]:
    """Return the positions of outliers counted from 0, and the name of the column that marks them.

    Parameters
    ----------
    outliers : None, str, Path or array-like
        None: they are to be found. A name of a column of the original whose cells are true and
        false, or 1 and 0. A file with row numbers. Row numbers, counted from 1 as the rows of data
        in a file. A vector of True and False.
    table : Table
        The original.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"age": [41, 39, 97], "rare": [0, 0, 1]}))
    >>> read_outliers([3], table)
    (array([2]), None)
    >>> read_outliers("rare", table)
    (array([2]), 'rare')
    """
    if outliers is None:
        return None, None
    if isinstance(outliers, str) and outliers in table.frame.columns:
        return _of_column(outliers, table), outliers
    if isinstance(outliers, str | Path):
        path = Path(outliers)
        if not path.is_file():
            if path.suffix:
                raise InputError(f"{path}: there is no such file, nor a column of that name.")
            raise UnknownNameError("column", str(outliers), table.frame.columns)
        return _checked(_of_file(path), table), None
    given = np.asarray(outliers)
    if given.dtype == np.bool_ and given.shape == (table.frame.height,):
        return np.flatnonzero(given).astype(np.int64), None
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InputError(
            "Outliers are row numbers counted from 1, True and False for every row, the name of a "
            "column, or a file."
        )
    return _checked(given.astype(np.int64), table), None


def _of_column(name: str, table: Table) -> _Rows:
    numbers = as_numbers(table.frame[name])
    marks = None if numbers is None else numbers.to_numpy()
    if marks is None or not np.isin(marks, (0.0, 1.0)).all():
        raise InputError(
            f"Column {name!r} cannot mark outliers: its cells must be true and false, or 1 and 0, "
            "and none missing."
        )
    return np.flatnonzero(marks == 1.0).astype(np.int64)


def _of_file(path: Path) -> _Rows:
    try:
        words = re.split(r"[\s,;]+", path.read_text(encoding="utf-8-sig").strip())
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8.") from None
    if words and not words[0].isdecimal():  # a heading
        words = words[1:]
    if not words or not all(word.isdecimal() for word in words):
        raise InputError(f"{path}: row numbers are needed, one a line, counted from 1.")
    return np.array([int(word) for word in words], dtype=np.int64)


def _checked(rows: _Rows, table: Table) -> _Rows:
    n = table.frame.height
    if rows.size and not (rows.min() >= 1 and rows.max() <= n):
        raise InputError(f"Row numbers of outliers must be from 1 to {n}, as rows of data count.")
    return rows - 1
