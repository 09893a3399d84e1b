"""A large table from its files to those of its release: scratch, passes, and what is written."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from icsa.errors import InputError
from icsa.files import folder_written_atomically, write_atomically
from icsa.limits import LONG
from icsa.randomness import Key
from icsa.release.blocks.block_cells import Cells
from icsa.release.blocks.block_releasing import release_in_blocks
from icsa.release.blocks.explained_passes import HowFar, Ways
from icsa.release.blocks.ground import (
    Ground,
    Resources,
    rows_in_memory,
)
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import OF_A_BLOCK, Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.scratch_runs import Run, opened_scratch
from icsa.release.blocks.text_tables import TextTable
from icsa.release.methods import MethodOptions
from icsa.release.releasing import Release
from icsa.schema import Schema
from icsa.tables import Table, output_kind
from icsa.tables.stored import StoredTable, released_parts
from icsa.tables.table import Origin, require_unchanged
from icsa.tables.text_files import (
    TEXT_ROWS,
    CellFacts,
    cell_facts,
    columns_to_know,
    text_layout,
    write_text_blocks,
)

__all__ = [
    "Choose",
    "anonymize_stored",
    "ground_for",
    "rows_of_a_block",
    "ways_of",
    "write_file",
    "write_parts",
    "write_text_file",
]

# From passes, a table and its schema to the recipe and the options that it is to be released by.
Choose: TypeAlias = Callable[[Passes, Ground, Schema | None], tuple[str, MethodOptions]]

# More memory than this makes no block faster.
_ENOUGH = 1 << 28
# Rows of a task that looks at released cells before they are written as text.
_LOOKED_AT = 10 * TEXT_ROWS


def ways_of(
    schema: Schema | None, choices: Mapping[str, Any], options: MethodOptions | None = None
) -> Ways:
    """Return which way a table goes, by what somebody said of it."""
    unit, role, strata = (_is_said(key, schema, choices) for key in ("unit", "role", "strata"))
    forests = (options or {}).get("method") == "forest"
    return Ways(of_units=unit, side_by_side=role, of_strata=strata, by_forests=forests)


def _is_said(key: str, schema: Schema | None, choices: Mapping[str, Any]) -> bool:
    said = choices.get("design", {}).get(key)
    return bool(getattr(schema.design, key) if said is None and schema is not None else said)


def ground_for(table: StoredTable, resources: Resources, *, of_units: bool = False) -> Ground:
    """Return the table with blocks that fit; rows of units need twice the room.

    Raises
    ------
    InputError
        One column does not fit, or there are so few rows that all of them do.
    """
    rows = rows_of_a_block(table.n_rows, len(table.names), resources, of_units=of_units)
    at_a_time = resources.columns_at_a_time(table.n_rows, of_units=of_units)
    return Ground(table, rows, resources.memory / at_a_time)


def rows_of_a_block(
    n_rows: int, n_columns: int, resources: Resources, *, of_units: bool = False
) -> int:
    """Return how many rows of a table a task takes; errors as `ground_for` has them."""
    resources.columns_at_a_time(n_rows, of_units=of_units)
    if n_rows <= LONG:
        raise InputError(
            f"The table has {n_rows:,} rows: up to {LONG:,} are released in memory only. "
            "Leave --memory out."
        )
    return rows_in_memory(min(resources.memory // resources.workers, _ENOUGH), n_columns)


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
    choose: Choose | None = None,
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
    choose : function, optional
        Called before anything is released; what it returns goes before recipe and options.
    """
    is_text = isinstance(source, TextTable)
    if not isinstance(source, TextTable) or not source.file.quoted:
        rows_of_a_block(source.n_rows, 1, resources)  # refused before anything is read
    how_far = HowFar(told, is_text=is_text)
    origins = [] if is_text else [Origin.of(part) for part in source.parts]
    with opened_scratch(resources.scratch, run, resume=resources.resume) as folder:
        scratch, workers = Scratch(folder, 0), resources.workers
        passes = Passes(scratch, workers=workers, dask=resources.dask, told=how_far.tell)
        table = _stored(source, passes, resources)
        given = schema(table.without_rows()) if callable(schema) else schema
        ways = how_far.ways = ways_of(given, choices, options)
        ground = ground_for(table, resources, of_units=ways.of_units)
        passes = replace(
            passes,
            scratch=Scratch(folder, table.n_rows),
            columns_at_a_time=resources.columns_at_a_time(table.n_rows, of_units=ways.of_units),
        )
        begun = _rows_of_begun_blocks(passes.scratch, ground.block_rows)
        if begun > ground.block_rows:
            passes.scratch.clear()
            table = _stored(source, passes, resources)
            begun = _rows_of_begun_blocks(passes.scratch, ground.block_rows)
        ground = replace(ground, table=table, block_rows=begun)
        if choose is not None:
            recipe, options = choose(passes, ground, given)
            choices = {**choices, "recipe": recipe}
        made = release_in_blocks(
            passes, ground, key, schema=given, choices=choices, options=options
        )
        require_unchanged(origins)
        write(passes, table, made)
    return made.release


def _stored(source: StoredTable | TextTable, passes: Passes, resources: Resources) -> StoredTable:
    if not isinstance(source, TextTable):
        return source
    origin = Origin.of(source.file.path)
    stored = source.stored(passes, resources)
    require_unchanged([origin])
    return stored


def _rows_of_begun_blocks(scratch: Scratch, block_rows: int) -> int:
    """Return the rows of a block in the run that is gone on with, or else of this one.

    What a pass over blocks has kept is of the blocks that it began with, and goes with no others.
    """
    if not scratch.has("rows of a block"):
        scratch.keep("rows of a block", block_rows)
    return int(scratch.kept("rows of a block"))


def write_text_file(passes: Passes, made: MadeInBlocks, path: Path) -> None:
    """Write all cells as one text file, with the bytes that `write_table` gives it."""
    cells, table = made.cells, made.release.table
    n_rows = cells.n_rows
    layout = text_layout(table.layout, output_kind(path))
    names = columns_to_know(table, layout)
    starts = range(0, n_rows, _LOOKED_AT)
    tasks = [Task(_know, (cells, table, names, k, min(k + _LOOKED_AT, n_rows))) for k in starts]
    facts = reduce(add, passes.over("looking at cells", tasks, held=OF_A_BLOCK))

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
    write_atomically(path, partial(lazy.sink_parquet, row_group_size=cells.rows_of_a_group))


def write_parts(
    passes: Passes, cells: Cells, table: StoredTable, folder: Path, *, force: bool
) -> None:
    """Write cells as part files named as the original's; all or none.

    Each has as many rows as the original's, or as large a share of them in whole units.
    """
    with folder_written_atomically(folder, force=force) as beside:
        tasks = [
            Task(_write_part, (cells, rows.start, rows.stop, beside / name))
            for name, rows in released_parts(table.parts, table.rows, cells.starts)
        ]
        passes.over(f"writing {secrets.token_hex(4)}", tasks, held=OF_A_BLOCK)


def _write_part(_: Scratch, cells: Cells, start: int, stop: int, path: Path) -> None:
    if start == stop:
        cells.between(0, 0).write_parquet(path)
        return

    from polars.io.plugins import register_io_source

    def blocks(*_: object) -> Iterator[pl.DataFrame]:
        yield from cells.blocks(start, stop)

    lazy = register_io_source(blocks, schema=cells.between(0, 0).schema)
    write_atomically(path, partial(lazy.sink_parquet, row_group_size=cells.rows_of_a_group))
