"""A table that is released from its files, compared: declared from all rows, raced on a sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from icsa.assessment.blocks.large_comparison import gathered_cells
from icsa.choice.compared_rows import ToCompare, compared_rows
from icsa.choice.comparing import Compared, compare_declared
from icsa.choice.race import Engine
from icsa.comparison.column_pairs import RowNumbers
from icsa.release.blocks import Ground, Passes, Scratch
from icsa.release.blocks.block_preparing import declare_in_blocks
from icsa.release.blocks.block_weights import check_weights
from icsa.release.blocks.passes import Task
from icsa.release.blocks.units.unit_preparing import declare_units_in_blocks
from icsa.schema import Schema
from icsa.tables import Table
from icsa.tables.stored import StoredTable

__all__ = ["compare_stored"]


def compare_stored(
    passes: Passes,
    ground: Ground,
    schema: Schema | None,
    choices: Mapping[str, Any],
    file: Path | None,
    *,
    workers: int = 1,
    folder: Path | None = None,
    progress: bool | Callable[[str, float], None] = False,
    **asked: Any,
) -> Compared:
    """Return which release suits a stored table best: what `compare` returns of it in memory.

    What passes find is kept in scratch: a release goes on with it.

    Parameters
    ----------
    passes : Passes
        Whose cluster is also the race's.
    ground : Ground
    schema : Schema, optional
        Read and checked; by default guessed.
    choices : mapping
        As `declare_in_blocks` takes them.
    file : Path, optional
        As it was given.
    workers, folder, progress
        As `compare` takes them.
    **asked
        As `compare_declared` takes it.
    """
    engine = Engine(workers=workers, dask=passes.dask, folder=folder, progress=progress)
    return compare_declared(_to_compare(passes, ground, schema, choices, file), engine, **asked)


def _to_compare(
    passes: Passes,
    ground: Ground,
    schema: Schema | None,
    choices: Mapping[str, Any],
    file: Path | None,
) -> ToCompare:
    """Return a stored table, declared from all rows."""
    table = ground.table
    declared = declare_in_blocks(passes, ground, schema, **choices)
    if declared.schema.design.unit:
        declared = declare_units_in_blocks(passes, table, declared).declared
    if declared.schema.design.weight:
        passes.once("weights", check_weights, table, declared.schema)
    unit = declared.schema.design.unit or None

    def some_rows(count: int) -> Table:
        rows = passes.once("rows to compare", _drawn, table, count, unit)
        tasks = [Task(gathered_cells, (table, name, rows)) for name in table.names]
        cells = passes.over("cells to compare", tasks)
        return Table(pl.DataFrame(cells), table.variables, table.layout)

    return ToCompare(
        schema=declared.schema,
        n_rows=table.n_rows,
        n_columns=len(table.names),
        some_rows=some_rows,
        file=file,
        said={key: value for key, value in choices["design"].items() if key != "raking"},
    )


def _drawn(_: Scratch, table: StoredTable, count: int, unit: str | None) -> RowNumbers:
    units = None if unit is None else table.column(unit).frame[unit]
    return compared_rows(table.n_rows, count, units)
