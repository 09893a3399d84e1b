"""Parquet and Arrow (Feather) files to tables and back."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from icsa.errors import InputError
from icsa.tables.base import FileKind, Format, ReadingOptions, check_usable
from icsa.tables.table import Layout, Table

__all__ = [
    "BROKEN",
    "FEATHER",
    "PARQUET",
    "damaged",
    "flat",
    "parquet_schema",
    "read_parquet_columns",
]

BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
_MOST_DIGITS = 38
_NESTED = (pl.List, pl.Array, pl.Struct, pl.Object, pl.Binary)


def _read_parquet(path: Path, _: FileKind, __: ReadingOptions) -> Table:
    """Return the table in a Parquet file; metadata that programs leave in it are not read."""
    try:
        frame = read_parquet_columns(path)
    except BROKEN:
        raise InputError(damaged(path, "Parquet")) from None
    return Table(frame, layout=Layout("parquet"))


def read_parquet_columns(
    path: Path, names: list[str] | None = None, n_rows: int | None = None
) -> pl.DataFrame:
    """Return some columns of a Parquet file, or all, with the levels of categories in order."""
    _require_usual_types(path, parquet_schema(path))
    frame = pl.read_parquet(path, columns=names, n_rows=n_rows, glob=False, hive_partitioning=False)
    return _with_order(flat(str(path), frame), path, _parquet_columns)


def parquet_schema(path: Path) -> Mapping[str, pl.DataType]:
    """Return the types of a Parquet file's columns; brackets in its name stand for themselves."""
    try:
        return pl.scan_parquet(path, glob=False, hive_partitioning=False).collect_schema()
    except pl.exceptions.DuplicateError:
        raise _named_twice(path) from None


def _named_twice(path: Path) -> InputError:
    return InputError(f"{path} has the same name more than once. Give every column its own name.")


def _read_feather(path: Path, _: FileKind, __: ReadingOptions) -> Table:
    """Return the table in an Arrow file: Feather version 2, or a stream of Arrow messages."""
    try:
        _require_usual_types(path, pl.read_ipc_schema(path))
        frame = pl.read_ipc(path)
    except BROKEN:
        try:
            frame = pl.read_ipc_stream(path)
        except BROKEN:
            # polars stumbles over missing cells in categories that pandas wrote.
            frame = _read_with_pyarrow(path)
    frame = _with_order(flat(str(path), frame), path, _feather_columns)
    return Table(frame, layout=Layout("feather"))


def _write_parquet(table: Table, path: Path, _: FileKind) -> None:
    """Write the cells of a table as Parquet."""
    table.frame.write_parquet(path)


def _write_feather(table: Table, path: Path, _: FileKind) -> None:
    """Write the cells of a table as an Arrow file that older readers understand too."""
    table.frame.write_ipc(path, compression="lz4", compat_level=pl.CompatLevel.oldest())


def damaged(path: Path, what: str) -> str:
    """Return what to say of a file that is not what it claims to be."""
    return f"{path} is not a whole {what} file. Copy or export it again, or check its suffix."


def _require_usual_types(path: Path, schema: Mapping[str, pl.DataType]) -> None:
    for name, dtype in schema.items():
        if isinstance(dtype, pl.Decimal) and (dtype.precision or 0) > _MOST_DIGITS:
            raise InputError(
                f"{path}: column {name!r} has decimals of {dtype.precision} digits, and at most "
                f"{_MOST_DIGITS} are supported. Cast it to floating-point numbers, or leave it out."
            )


def _with_order(
    frame: pl.DataFrame, path: Path, read: Callable[[Path, list[str]], dict[str, Any]]
) -> pl.DataFrame:
    """Return the frame with the levels of ordered categories in their order.

    polars passes over that order. Without pyarrow the categories stay as they are.
    """
    names = [name for name, dtype in frame.schema.items() if dtype == pl.Categorical]
    if not names or importlib.util.find_spec("pyarrow") is None:
        return frame
    from icsa.tables.arrow_columns import with_order

    try:
        columns = read(path, names)
    except (OSError, ValueError, NotImplementedError):  # as pyarrow's own errors are
        return frame
    return frame.with_columns(with_order(frame[name], columns[name]) for name in columns)


def _parquet_columns(path: Path, names: list[str]) -> dict[str, Any]:
    """Return the columns of a Parquet file that are ordered categories, as Arrow has them."""
    parquet = importlib.import_module("pyarrow.parquet")
    ordered = _ordered_of(parquet.read_schema(path), names)
    if not ordered:
        return {}
    with parquet.ParquetFile(path) as file:
        table = file.read(columns=ordered)
    return {name: table.column(name) for name in ordered}


def _feather_columns(path: Path, names: list[str]) -> dict[str, Any]:
    """Return the columns of an Arrow file that are ordered categories, as Arrow has them."""
    table = _arrow_table(path)
    return {name: table.column(name) for name in _ordered_of(table.schema, names)}


def _arrow_table(path: Path) -> Any:
    pa = importlib.import_module("pyarrow")
    with pa.OSFile(str(path)) as file:
        try:
            return pa.ipc.open_file(file).read_all()
        except pa.ArrowInvalid:
            file.seek(0)
            return pa.ipc.open_stream(file).read_all()


def _read_with_pyarrow(path: Path) -> pl.DataFrame:
    broken = InputError(damaged(path, "Arrow (Feather version 2)"))
    if importlib.util.find_spec("pyarrow") is None:
        raise broken
    from icsa.tables.arrow_columns import from_arrow

    try:
        table = _arrow_table(path)
    except (OSError, ValueError):
        raise broken from None
    names = table.column_names
    if len(set(names)) < len(names):
        raise _named_twice(path)
    return pl.DataFrame([from_arrow(n, c)[0] for n, c in zip(names, table.columns, strict=True)])


def _ordered_of(schema: Any, names: list[str]) -> list[str]:
    kinds = {name: schema.field(name).type for name in names}
    return [name for name, kind in kinds.items() if getattr(kind, "ordered", False)]


def flat(source: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame if every cell is one value; raise an error that names the columns if not."""
    check_usable(source, frame.columns)
    nested = [name for name, dtype in frame.schema.items() if isinstance(dtype, _NESTED)]
    if nested:
        listed = ", ".join(repr(name) for name in nested[:5])
        raise InputError(
            f"{source}: column {listed} holds lists, records or bytes, not one value a row. "
            "Leave it out or split it into columns."
        )
    return frame


PARQUET = Format(
    name="parquet",
    title="Parquet",
    suffixes=(".parquet", ".pq"),
    read=_read_parquet,
    write=_write_parquet,
)
FEATHER = Format(
    name="feather",
    title="Arrow",
    suffixes=(".feather", ".arrow", ".ipc"),
    read=_read_feather,
    write=_write_feather,
)
