"""A large table from its files to those of its release: scratch, passes, and what is written."""

from __future__ import annotations

import math
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import polars as pl

from icsa.errors import InputError
from icsa.files import UNFINISHED, write_atomically
from icsa.limits import LONG
from icsa.randomness import Key
from icsa.release.blocks.block_cells import Cells
from icsa.release.blocks.block_releasing import MadeInBlocks, release_in_blocks
from icsa.release.blocks.explained_passes import share_of_all
from icsa.release.blocks.ground import Ground, memory_of_a_column, rows_in_memory
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.scratch_runs import Run, opened_scratch
from icsa.release.blocks.text_tables import TextTable
from icsa.release.methods import MethodOptions
from icsa.release.releasing import Release
from icsa.schema import Schema
from icsa.tables import Table, output_kind
from icsa.tables.stored import StoredTable
from icsa.tables.text_files import (
    TEXT_ROWS,
    CellFacts,
    cell_facts,
    columns_to_know,
    text_layout,
    write_text_blocks,
)

__all__ = [
    "Resources",
    "anonymize_stored",
    "ground_for",
    "rows_of_a_block",
    "write_file",
    "write_parts",
    "write_text_file",
]

# More memory than this makes no block faster.
_ENOUGH = 1 << 28
# Rows of a task that looks at released cells before they are written as text.
_LOOKED_AT = 10 * TEXT_ROWS


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


def has_units(schema: Schema | None, choices: Mapping[str, Any]) -> bool:
    """Return whether somebody said that people have several rows."""
    said = choices.get("design", {}).get("unit")
    return bool(schema.design.unit if said is None and schema is not None else said)


def ground_for(table: StoredTable, resources: Resources, *, of_units: bool = False) -> Ground:
    """Return the table with blocks that fit; rows of units need twice the room.

    Raises
    ------
    InputError
        One column does not fit, or there are so few rows that all of them do.
    """
    rows = rows_of_a_block(table.n_rows, len(table.names), resources, of_units=of_units)
    return Ground(table, rows, float(resources.memory // resources.workers))


def rows_of_a_block(
    n_rows: int, n_columns: int, resources: Resources, *, of_units: bool = False
) -> int:
    """Return how many rows of a table a task takes; errors as `ground_for` has them."""
    share = resources.memory // resources.workers
    needed = memory_of_a_column(n_rows) * (2 if of_units else 1)
    if share < needed:
        of_each = " for each worker" if resources.workers > 1 else ""
        fewer = ", or fewer --workers" if resources.workers > 1 else ""
        raise InputError(
            f"A column of {n_rows:,} rows takes {needed / 1e9:.2g} GB while it is worked on, "
            f"and {share / 1e9:.2g} GB may be taken{of_each}. Give --memory "
            f"{math.ceil(needed * resources.workers / 1e8) / 10:.1f}GB{fewer}."
        )
    if n_rows <= LONG:
        raise InputError(
            f"The table has {n_rows:,} rows: up to {LONG:,} are released in memory only. "
            "Leave --memory out."
        )
    return rows_in_memory(min(share, _ENOUGH), n_columns)


def anonymize_stored(
    source: StoredTable | TextTable,
    key: Key,
    write: Callable[[Passes, StoredTable, MadeInBlocks], None],
    resources: Resources,
    run: Run,
    *,
    schema: Schema | Callable[[Table], Schema | None] | None,
    choices: Mapping[str, Any],
    options: MethodOptions,
    told: Callable[[str, float], None],
) -> Release:
    """Return the account of a release that is written on the way.

    Parameters
    ----------
    source : StoredTable or TextTable
        Text is read into scratch first.
    key : Key
    write : function
        Writes the released cells: by `write_file`, `write_text_file` or `write_parts`.
    resources : Resources
    run : Run
    schema, choices, options
        As `release_in_blocks` takes them; the schema also as a function of the table without rows.
    told : function
        Called with the name of a pass and the share of all work before it.
    """
    is_text = isinstance(source, TextTable)
    if not isinstance(source, TextTable) or not source.file.quoted:
        rows_of_a_block(source.n_rows, 1, resources)  # refused before anything is read
    of_units = False
    with opened_scratch(resources.scratch, run, resume=resources.resume) as folder:
        passes = Passes(
            Scratch(folder, 0),
            workers=resources.workers,
            dask=resources.dask,
            told=lambda name, share: told(
                *share_of_all(name, share, is_text=is_text, of_units=of_units)
            ),
        )
        table = source
        if isinstance(table, TextTable):
            table = table.stored(passes, resources.memory)
        passes = replace(passes, scratch=Scratch(folder, table.n_rows))
        given = schema(table.without_rows()) if callable(schema) else schema
        of_units = has_units(given, choices)
        ground = ground_for(table, resources, of_units=of_units)
        made = release_in_blocks(
            passes, ground, key, schema=given, choices=choices, options=options
        )
        write(passes, table, made)
    return made.release


def write_text_file(passes: Passes, made: MadeInBlocks, path: Path) -> None:
    """Write all cells as one text file, with the bytes that `write_table` gives it."""
    cells, table = made.cells, made.release.table
    n_rows = cells.n_rows
    layout = text_layout(table.layout, output_kind(path))
    names = columns_to_know(table, layout)
    starts = range(0, n_rows, _LOOKED_AT)
    tasks = [Task(_know, (cells, table, names, k, min(k + _LOOKED_AT, n_rows))) for k in starts]
    facts = reduce(add, passes.over("looking at cells", tasks))

    def blocks() -> Iterator[pl.DataFrame]:
        for number, block in enumerate(cells.blocks(0, n_rows, TEXT_ROWS)):
            yield block
            passes.told("writing", min((number + 1) * TEXT_ROWS / n_rows, 1.0))

    def write(beside: Path) -> None:
        write_text_blocks(blocks(), table, facts, beside, layout)

    write_atomically(path, write)


def _know(
    _: Scratch, cells: Cells, table: Table, names: list[str], start: int, stop: int
) -> CellFacts:
    """Return what is to be known of some rows before any is written."""
    every, found = table.frame.columns, []
    for first in range(start, stop, TEXT_ROWS):
        block = cells.between(first, min(first + TEXT_ROWS, stop), names)
        found.append(cell_facts(table.with_frame(block), every))
    return reduce(add, found)


def write_file(cells: Cells, path: Path, told: Callable[[float], None]) -> None:
    """Write all cells as one Parquet file, as a whole or not at all."""
    from polars.io.plugins import register_io_source

    def blocks(*_: object) -> Iterator[pl.DataFrame]:
        done, n_rows = 0, cells.n_rows
        for block in cells.blocks(0, n_rows):
            yield block
            done += block.height
            told(done / n_rows)

    lazy = register_io_source(blocks, schema=cells.between(0, 0).schema)
    write_atomically(path, lambda beside: lazy.sink_parquet(beside))


def write_parts(
    passes: Passes, cells: Cells, table: StoredTable, folder: Path, *, force: bool
) -> None:
    """Write cells as part files named as the original's; all or none.

    Each has as many rows as the original's, or as large a share of them in whole units.
    """
    beside = folder.with_name(f"{UNFINISHED}{secrets.token_hex(4)}-{folder.name}")
    beside.mkdir()
    try:
        ends = cells.ends(table.rows)
        tasks = [
            Task(_write_part, (cells, start, end, beside / f"{part.stem}.parquet"))
            for part, start, end in zip(table.parts, [0, *ends], ends, strict=False)
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
