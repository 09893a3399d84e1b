"""Parquet and Arrow (Feather) files to tables and back."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from icsa.errors import InputError
from icsa.tables.names import check_usable
from icsa.tables.table import Layout, Table

__all__ = ["flat", "read_feather", "read_parquet", "write_feather", "write_parquet"]

_NESTED = (pl.List, pl.Array, pl.Struct, pl.Object, pl.Binary)


def read_parquet(path: Path) -> Table:
    """Return the table in a Parquet file; metadata that programs leave in it are not read."""
    try:
        frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise InputError(_damaged(path, "Parquet")) from None
    return Table(flat(str(path), frame), layout=Layout("parquet"))


def read_feather(path: Path) -> Table:
    """Return the table in an Arrow file: Feather version 2, or a stream of Arrow messages."""
    broken = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
    try:
        frame = pl.read_ipc(path)
    except broken:
        try:
            frame = pl.read_ipc_stream(path)
        except broken:
            raise InputError(_damaged(path, "Arrow (Feather version 2)")) from None
    return Table(flat(str(path), frame), layout=Layout("feather"))


def write_parquet(table: Table, path: Path) -> None:
    """Write the cells of a table as Parquet."""
    table.frame.write_parquet(path)


def write_feather(table: Table, path: Path) -> None:
    """Write the cells of a table as an Arrow file that older readers understand too."""
    table.frame.write_ipc(path, compression="lz4", compat_level=pl.CompatLevel.oldest())


def _damaged(path: Path, what: str) -> str:
    return f"{path} is not a whole {what} file. Copy or export it again, or check its suffix."


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
