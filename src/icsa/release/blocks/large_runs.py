"""A large table from its files to those of its release: scratch, passes, and what is written."""

from __future__ import annotations

import math
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import polars as pl

from icsa.errors import InputError
from icsa.files import UNFINISHED, write_atomically
from icsa.limits import LONG
from icsa.randomness import Key
from icsa.release.blocks.block_cells import Cells
from icsa.release.blocks.block_releasing import release_in_blocks
from icsa.release.blocks.explained_passes import share_of_all
from icsa.release.blocks.ground import Ground, memory_of_a_column, rows_in_memory
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.scratch_runs import Run, opened_scratch
from icsa.release.methods import MethodOptions
from icsa.release.releasing import Release
from icsa.schema import Schema
from icsa.tables.stored import StoredTable

__all__ = ["Resources", "anonymize_stored", "ground_for", "write_file", "write_parts"]

# More memory than this makes no block faster.
_ENOUGH = 1 << 28


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use.

    Attributes
    ----------
    memory : int
        Bytes that data may take at a time, in all processes together.
    scratch : Path
        A folder for files, as much as two and a half tables.
    workers : int
    dask : str, optional
        As `icsa.jobs.run` takes it.
    resume : bool
        Whether to go on with what an interrupted run left.
    """

    memory: int
    scratch: Path
    workers: int = 1
    dask: Any = None
    resume: bool = False


def ground_for(table: StoredTable, resources: Resources) -> Ground:
    """Return the table with blocks that fit.

    Raises
    ------
    InputError
        One column does not fit, or there are so few rows that all of them do.
    """
    share = resources.memory // resources.workers
    needed = memory_of_a_column(table.n_rows)
    if share < needed:
        of_each = " for each worker" if resources.workers > 1 else ""
        fewer = ", or fewer --workers" if resources.workers > 1 else ""
        raise InputError(
            f"A column of {table.n_rows:,} rows takes {needed / 1e9:.2g} GB while it is worked on, "
            f"and {share / 1e9:.2g} GB may be taken{of_each}. Give --memory "
            f"{math.ceil(needed * resources.workers / 1e8) / 10:.1f}GB{fewer}."
        )
    if table.n_rows <= LONG:
        raise InputError(
            f"The table has {table.n_rows:,} rows: up to {LONG:,} are released in memory only. "
            "Leave --memory out."
        )
    rows = rows_in_memory(min(share, _ENOUGH), len(table.names))
    return Ground(table, rows, float(share))


def anonymize_stored(
    table: StoredTable,
    key: Key,
    write: Callable[[Passes, Cells], None],
    resources: Resources,
    run: Run,
    *,
    schema: Schema | None,
    choices: Mapping[str, Any],
    options: MethodOptions,
    told: Callable[[str, float], None],
) -> Release:
    """Return the account of a release that is written on the way.

    Parameters
    ----------
    table : StoredTable
    key : Key
    write : function
        Writes the released cells: `write_file` or `write_parts`.
    resources : Resources
    run : Run
    schema, choices, options
        As `release_in_blocks` takes them.
    told : function
        Called with the name of a pass and the share of all work before it.
    """
    ground = ground_for(table, resources)
    with opened_scratch(resources.scratch, run, resume=resources.resume) as folder:
        passes = Passes(
            Scratch(folder, table.n_rows),
            workers=resources.workers,
            dask=resources.dask,
            told=lambda name, share: told(*share_of_all(name, share)),
        )
        made = release_in_blocks(
            passes, ground, key, schema=schema, choices=choices, options=options
        )
        write(passes, made.cells)
    return made.release


def write_file(cells: Cells, n_rows: int, path: Path, told: Callable[[float], None]) -> None:
    """Write all cells as one Parquet file, as a whole or not at all."""
    from polars.io.plugins import register_io_source

    def blocks(*_: object) -> Iterator[pl.DataFrame]:
        done = 0
        for block in cells.blocks(0, n_rows):
            yield block
            done += block.height
            told(done / n_rows)

    lazy = register_io_source(blocks, schema=cells.between(0, 0).schema)
    write_atomically(path, lambda beside: lazy.sink_parquet(beside))


def write_parts(
    passes: Passes, cells: Cells, table: StoredTable, folder: Path, *, force: bool
) -> None:
    """Write cells as part files named as the original's, with as many rows; all or none."""
    beside = folder.with_name(f"{UNFINISHED}{secrets.token_hex(4)}-{folder.name}")
    beside.mkdir()
    try:
        ends = list(accumulate(table.rows))
        tasks = [
            Task(_write_part, (cells, end - rows, end, beside / f"{part.stem}.parquet"))
            for part, rows, end in zip(table.parts, table.rows, ends, strict=True)
        ]
        passes.over(f"writing {beside.name}", tasks)
        if folder.exists() and force:
            shutil.rmtree(folder)
        beside.replace(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write_part(_: Scratch, cells: Cells, start: int, stop: int, path: Path) -> None:
    if start == stop:
        cells.between(0, 0).write_parquet(path)
        return

    from polars.io.plugins import register_io_source

    def blocks(*_: object) -> Iterator[pl.DataFrame]:
        yield from cells.blocks(start, stop)

    lazy = register_io_source(blocks, schema=cells.between(0, 0).schema)
    write_atomically(path, lambda beside: lazy.sink_parquet(beside))
