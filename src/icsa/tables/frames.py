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
from icsa.tables.arrow_files import flat
from icsa.tables.table import Table, Variable

__all__ = ["from_frame", "to_frame"]

_Frame = TypeVar("_Frame")


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
        return _table(frame.get_columns(), [None] * frame.width)
    if _is_from("pandas", frame, "DataFrame"):
        from icsa.tables.pandas_columns import from_pandas

        names = _unique_names(list(frame.columns))
        pairs = [from_pandas(name, frame.iloc[:, position]) for position, name in enumerate(names)]
        return _table([cells for cells, _ in pairs], [ordered for _, ordered in pairs])
    if _is_from("pyarrow", frame, "Table") or _is_from("pyarrow", frame, "RecordBatch"):
        return _from_arrow(frame)
    raise InputError(
        "A table must be a DataFrame of pandas or polars or a Table of pyarrow: "
        f"got {type(frame).__module__}.{type(frame).__name__}."
    )


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
    elif _is_from("pandas", like, "DataFrame"):
        frame = _to_pandas(table, like)
    elif _is_from("pyarrow", like, "Table") or _is_from("pyarrow", like, "RecordBatch"):
        frame = _to_arrow(table, like)
    else:
        raise InputError(
            "The frame to be like must be a DataFrame of pandas or polars or a Table of pyarrow: "
            f"got {type(like).__module__}.{type(like).__name__}."
        )
    result: _Frame = frame
    return result


def _is_from(library: str, frame: object, name: str) -> bool:
    """Return whether a frame is of a library's class, without importing the library."""
    module = sys.modules.get(library)
    return module is not None and isinstance(frame, getattr(module, name))


def _table(columns: Sequence[pl.Series], ordered: Sequence[bool | None]) -> Table:
    frame = flat("The frame", pl.DataFrame(columns))
    frame = pl.DataFrame([_without_nan(cells) for cells in frame.get_columns()])
    variables = {
        cells.name: Variable(measurement="ordinal" if order else "nominal")
        for cells, order in zip(columns, ordered, strict=True)
        if order is not None
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
    try:
        return cells.cast(dtype)
    except pl.exceptions.PolarsError:
        return cells


def _to_pandas(table: Table, like: Any) -> Any:
    from icsa.tables.pandas_columns import to_pandas

    originals = {str(name): position for position, name in enumerate(like.columns)}
    columns, names = [], []
    for cells in table.frame.get_columns():
        position = originals.get(cells.name)
        original = None if position is None else like.iloc[:, position]
        columns.append(to_pandas(cells, original))
        names.append(cells.name if position is None else like.columns[position])
    pd = sys.modules["pandas"]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame()
    frame.columns = pd.Index(names, tupleize_cols=False, dtype=_index_dtype(names, like))
    frame.attrs = {}
    return frame


def _index_dtype(names: Sequence[object], like: Any) -> Any:
    return like.columns.dtype if set(names) <= set(like.columns) else None


def _from_arrow(frame: Any) -> Table:
    pa = sys.modules["pyarrow"]
    names = _unique_names(frame.schema.names)
    table = pa.table(frame.columns, names=names)
    # bare of metadata, which may name extension types
    columns = pl.from_arrow(table).get_columns()  # type: ignore[union-attr]
    ordered = [
        bool(field.type.ordered) if pa.types.is_dictionary(field.type) else None
        for field in frame.schema
    ]
    return _table(columns, ordered)


def _to_arrow(table: Table, like: Any) -> Any:
    pa = sys.modules["pyarrow"]
    arrow = table.frame.to_arrow()
    columns, fields = [], []
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        position = like.schema.get_field_index(name)
        wanted = column.type if position < 0 else like.schema.field(position).type
        column = _arrow_column(column, wanted)
        columns.append(column)
        fields.append(pa.field(name, column.type))
    result = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    if isinstance(like, pa.RecordBatch):
        return result.combine_chunks().to_batches()[0] if result.num_rows else like.slice(0, 0)
    return result


def _arrow_column(column: Any, wanted: Any) -> Any:
    pa = sys.modules["pyarrow"]
    if column.type == wanted:
        return column
    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not pa.types.is_dictionary(wanted):
            return column.cast(wanted)
        encoded = column.cast(wanted.value_type).dictionary_encode().combine_chunks()
        pieces = [
            pa.DictionaryArray.from_arrays(
                piece.indices.cast(wanted.index_type), piece.dictionary, ordered=wanted.ordered
            )
            for piece in (encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded])
        ]
        return pa.chunked_array(pieces, type=wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column
