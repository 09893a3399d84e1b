"""Data frames of pandas, polars and pyarrow to tables, and tables to frames of the same kind.

What goes out has the columns' types, categories and names as they came in, in the table's order.
It has none of the frame's own metadata (``attrs`` of pandas, schema metadata of Arrow) and none of
its index, which may tell people apart: a pandas release has a fresh ``RangeIndex``. A float NaN is
a missing cell.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

import polars as pl

from icsa.errors import InputError
from icsa.lazily import is_from
from icsa.tables.arrow_files import flat
from icsa.tables.base import has_fractions
from icsa.tables.table import Table, Variable

__all__ = ["from_frame", "is_lazy", "to_frame"]

_Frame = TypeVar("_Frame")


def is_lazy(frame: object) -> bool:
    """Return whether a frame is not in memory: polars' LazyFrame, or Dask's DataFrame."""
    return isinstance(frame, pl.LazyFrame) or is_from("dask.dataframe", frame, "DataFrame")


def from_frame(frame: Any) -> Table:
    """Return the table in a data frame of pandas, polars or pyarrow.

    Names that are not strings are turned into strings; `to_frame` gives them back.

    Examples
    --------
    >>> from_frame(pl.DataFrame({"age": [41, 39], "sex": ["f", "m"]}))
    <Table of 2 rows and 2 columns, frame>
    """
    if isinstance(frame, pl.LazyFrame):
        raise InputError("A LazyFrame has no rows yet. Call its collect() first.")
    if isinstance(frame, pl.DataFrame):
        return _table([(cells, None) for cells in frame.get_columns()])
    if is_from("pandas", frame, "DataFrame"):
        from icsa.tables.pandas_columns import from_pandas

        names = _unique_names(list(frame.columns))
        return _table([from_pandas(name, frame.iloc[:, k]) for k, name in enumerate(names)])
    if is_from("pyarrow", frame, "Table") or is_from("pyarrow", frame, "RecordBatch"):
        from icsa.tables.arrow_columns import from_arrow

        names = _unique_names(frame.schema.names)
        return _table([from_arrow(n, cells) for n, cells in zip(names, frame.columns, strict=True)])
    raise _no_frame("A table", frame)


def to_frame(table: Table, like: _Frame) -> _Frame:
    """Return a table as a frame of the same kind as another, with the types of its columns.

    Columns that `like` does not have, or has in a type that the cells no longer fit, come out in
    the type that the library gives them.

    Parameters
    ----------
    table : Table
    like : DataFrame of pandas or polars, or Table of pyarrow
        The frame that the table was made from.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [41, 39], 2020: [1.5, None]}, index=["Ann", "Bob"])
    >>> to_frame(from_frame(frame), frame)
       age  2020
    0   41   1.5
    1   39   NaN
    """
    frame: Any
    if isinstance(like, pl.DataFrame):
        frame = pl.DataFrame(
            [_fitted(cells, like.schema.get(cells.name)) for cells in table.frame.get_columns()]
        )
    elif is_from("pandas", like, "DataFrame"):
        frame = _to_pandas(table, like)
    elif is_from("pyarrow", like, "Table") or is_from("pyarrow", like, "RecordBatch"):
        frame = _to_arrow(table, like)
    else:
        raise _no_frame("The frame to be like", like)
    result: _Frame = frame
    return result


def _no_frame(what: str, found: object) -> InputError:
    return InputError(
        f"{what} must be a DataFrame of pandas or polars or a Table of pyarrow: "
        f"got {type(found).__module__}.{type(found).__name__}."
    )


def _table(columns: Sequence[tuple[pl.Series, bool | None]]) -> Table:
    """Return the table of columns, each with whether it is an ordered category (None: none)."""
    frame = flat("The frame", pl.DataFrame([cells for cells, _ in columns]))
    frame = pl.DataFrame([_without_nan(cells) for cells in frame.get_columns()])
    variables = {
        cells.name: Variable(measurement="ordinal" if ordered else "nominal")
        for cells, ordered in columns
        if ordered is not None
    }
    return Table(frame, variables)


def _without_nan(cells: pl.Series) -> pl.Series:
    return cells.fill_nan(None) if cells.dtype.is_float() and cells.is_nan().any() else cells


def _unique_names(names: Sequence[object]) -> list[str]:
    texts = [str(name) for name in names]
    twice = [name for name, count in Counter(texts).items() if count > 1]
    if twice:
        listed = ", ".join(repr(name) for name in twice[:5])
        raise InputError(
            f"The frame has columns of the same name: {listed}. Give every column its own name."
        )
    return texts


def _fitted(cells: pl.Series, dtype: pl.DataType | None) -> pl.Series:
    if dtype is None or cells.dtype == dtype:
        return cells
    if dtype.is_integer() and has_fractions(cells):
        return cells  # raked weights: whole ones would give other totals
    try:
        return cells.cast(dtype)
    except pl.exceptions.PolarsError:
        return cells


def _to_pandas(table: Table, like: Any) -> Any:
    from icsa.tables.pandas_columns import to_pandas

    originals = {str(name): position for position, name in enumerate(like.columns)}
    positions = [originals.get(name) for name in table.frame.columns]
    columns = [
        to_pandas(cells, None if position is None else like.iloc[:, position])
        for cells, position in zip(table.frame.get_columns(), positions, strict=True)
    ]
    pd = sys.modules["pandas"]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame()
    frame.columns = _pandas_names(table.frame.columns, positions, like.columns)
    frame.attrs = {}
    return frame


def _pandas_names(names: Sequence[str], positions: Sequence[int | None], like: Any) -> Any:
    """Return names of columns as they were: numbers, tuples, several levels with their names."""
    pd = sys.modules["pandas"]
    if None in positions:
        mixed = [n if p is None else like[p] for n, p in zip(names, positions, strict=True)]
        return pd.Index(mixed, tupleize_cols=False)
    if list(positions) == list(range(len(like))):
        return like
    taken = like.take(positions)
    return taken.remove_unused_levels() if isinstance(like, pd.MultiIndex) else taken


def _to_arrow(table: Table, like: Any) -> Any:
    from icsa.tables.arrow_columns import to_arrow

    pa = sys.modules["pyarrow"]
    arrow = table.frame.to_arrow()
    columns, fields = [], []
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        position = like.schema.get_field_index(name)
        column = column if position < 0 else to_arrow(column, like.column(position))
        columns.append(column)
        fields.append(pa.field(name, column.type))
    result = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    if isinstance(like, pa.RecordBatch):
        return result.combine_chunks().to_batches()[0] if result.num_rows else like.slice(0, 0)
    return result
