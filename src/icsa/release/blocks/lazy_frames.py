"""Frames that are not in memory, polars' LazyFrame and Dask's, released as frames of their kind."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from icsa.limits import LONG
from icsa.randomness import Key
from icsa.release.blocks.block_preparing import said_in_blocks
from icsa.release.blocks.ground import Resources, free_memory, memory_of_a_column
from icsa.release.blocks.large_runs import anonymize_stored, write_parts
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import Passes
from icsa.release.blocks.scratch_runs import Run
from icsa.release.methods import MethodOptions
from icsa.release.releasing import Release
from icsa.schema import Schema
from icsa.schema_files import read_schema
from icsa.tables import Table, from_frame, to_frame
from icsa.tables.stored import StoredTable, parquet_parts, stored_parquet

__all__ = ["anonymize_lazily", "stored_frame"]


def anonymize_lazily(
    frame: Any,
    key: Key,
    in_memory: Callable[..., Release],
    *,
    schema: Schema | str | Path | None,
    choices: Mapping[str, Any],
    options: MethodOptions,
    told: Callable[[str, float], None],
) -> Release:
    """Return the release of a frame that is not in memory; its table is a frame of the same kind.

    The frame is computed once, into files that are private and gone when the program ends. So are
    those that the released frame reads: write it somewhere. Tables of up to 200,000 rows are
    released in memory.

    Parameters
    ----------
    frame : polars.LazyFrame or dask.dataframe.DataFrame
    key : Key
    in_memory : function
        Releases a table that fits.
        Its parameters are a table and those that follow here.
    schema : Schema, str or Path, optional
    choices, options : mapping
        Of `icsa.release.prepare` and of `method_of`.
    told : function
    """
    folder = Path(tempfile.mkdtemp(prefix="icsa-"))  # only its owner may read it
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with _removed_on_error(folder):
        frame = _with_known_levels(frame)
        original = folder / "original"
        table = stored_frame(frame, original)
        if table.n_rows <= LONG:
            whole = pl.DataFrame([table.column(name).frame[name] for name in table.names])
            made = in_memory(Table(whole, table.variables), key, schema, choices, options, told)
            shutil.rmtree(folder)
            return replace(made, table=_of_kind(made.table, frame))
        given = _checked(schema, table)
        out = folder / "release"

        def write(passes: Passes, _: StoredTable, made: MadeInBlocks) -> None:
            write_parts(passes, made.cells, table, out, force=False)

        memory = max(2 * memory_of_a_column(table.n_rows), int(free_memory()))
        released = anonymize_stored(
            table,
            key,
            write,
            Resources(memory=memory, scratch=folder),
            Run({"input": "a frame"}, key, resumable=False),
            schema=given,
            choices=said_in_blocks(choices),
            options=options,
            told=told,
        )
        shutil.rmtree(original)
        return replace(released, table=_read(out, frame))


@contextmanager
def _removed_on_error(folder: Path) -> Iterator[None]:
    """Remove a folder after an error, and not only when the program ends, which may be late."""
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def stored_frame(frame: Any, folder: Path) -> StoredTable:
    """Return a frame that is not in memory after it was computed into a folder, which is made."""
    folder.mkdir()
    if isinstance(frame, pl.LazyFrame):
        plain = frame.with_columns(pl.selectors.float().fill_nan(None))  # as frames in memory
        plain.sink_parquet(folder / "part-0.parquet")
        return stored_parquet(parquet_parts(folder))
    import dask

    parts = enumerate(_with_known_levels(frame).to_delayed())
    written = dask.delayed(_write_partition)
    dask.compute(*(written(part, folder / f"part-{k:06}.parquet") for k, part in parts))
    # Parquet does not tell levels that have an order from those that have none.
    variables = from_frame(frame._meta).variables
    return replace(stored_parquet(parquet_parts(folder)), variables=variables)


def _with_known_levels(frame: Any) -> Any:
    """Return a frame; one of Dask with the same levels of categories in all partitions."""
    if isinstance(frame, pl.LazyFrame):
        return frame
    dtypes = frame.dtypes.items()
    unknown = [name for name, dtype in dtypes if dtype == "category" and not frame[name].cat.known]
    return frame.categorize(columns=unknown, index=False) if unknown else frame


def _write_partition(part: Any, path: Path) -> None:
    """Write a partition of pandas without its index, which is not released."""
    from_frame(part).frame.write_parquet(path)


def _checked(schema: Schema | str | Path | None, table: StoredTable) -> Schema | None:
    """Return a schema; the passes hold it against the cells."""
    empty: Table = table.without_rows()
    return read_schema(schema, empty) if isinstance(schema, str | Path) else schema


def _read(folder: Path, like: Any) -> Any:
    if isinstance(like, pl.LazyFrame):
        return pl.scan_parquet(folder / "*.parquet")
    import dask.dataframe

    parts = parquet_parts(folder)
    meta = _read_partition(parts[0], like._meta, 0)
    return dask.dataframe.from_map(_read_partition, parts, like=like._meta, meta=meta)


def _read_partition(path: Path, like: Any, n_rows: int | None = None) -> Any:
    return to_frame(Table(pl.read_parquet(path, n_rows=n_rows)), like)


def _of_kind(table: Table, like: Any) -> Any:
    if isinstance(like, pl.LazyFrame):
        return table.frame.lazy()
    import dask.dataframe

    frame = to_frame(table, like._meta)
    return dask.dataframe.from_pandas(frame, npartitions=like.npartitions)
