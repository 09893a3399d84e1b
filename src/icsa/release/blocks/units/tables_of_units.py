"""A stored table with a row a unit, released: in memory, or by the passes of any table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from icsa.limits import TABLES_IN_MEMORY
from icsa.matrices import LEAF_ROWS
from icsa.randomness import Key
from icsa.release.blocks.block_cells import StoredCells, write_cells
from icsa.release.blocks.block_preparing import Declared
from icsa.release.blocks.block_releasing import release_with_plan
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.passes import Passes
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.units.stored_units import StoredTableOfUnits
from icsa.release.methods import MethodOptions
from icsa.release.planning import Plan, PlanOnce, plan
from icsa.release.preparing import PreparedOnce, prepare, require_masked
from icsa.release.releasing import Release, release

__all__ = ["Asked", "MadeTable", "bytes_in_memory", "release_table_of_units"]


@dataclass(frozen=True, eq=False)
class Asked:
    """How a table with a row a unit is to be released.

    Attributes
    ----------
    declared : Declared
    options : MethodOptions
    weight : str, optional
        The column of logarithms of weights, with which calibration compares correlations.
    nested : bool
        Whether cells that are missing wherever others are go on to be, as those of absent rows.
    """

    declared: Declared
    options: MethodOptions
    weight: str | None = None
    nested: bool = False


@dataclass(frozen=True, eq=False)
class MadeTable:
    """A released table with a row a unit.

    Attributes
    ----------
    cells : StoredCells
    release : Release
        Its table has columns and no row.
    plan : Plan
        Without anything that has a row a unit.
    """

    cells: StoredCells
    release: Release
    plan: Plan


def bytes_in_memory(n_units: int, n_columns: int) -> float:
    """Return what the release of a table with a row a unit takes, where it is made in memory."""
    return 8.0 * TABLES_IN_MEMORY * n_units * n_columns


def release_table_of_units(
    passes: Passes,
    ground: Ground,
    table: StoredTableOfUnits,
    asked: Asked,
    key: Key,
    *,
    in_blocks: bool,
) -> MadeTable:
    """Return the release of a table with a row a unit.

    Parameters
    ----------
    passes : Passes
        Whose scratch has a number a unit.
    ground : Ground
        The table with several rows a unit.
    table : StoredTableOfUnits
    asked : Asked
    key : Key
    in_blocks : bool
        Whether it goes by passes; cells are the same of units that are many.
    """
    declared = asked.declared
    require_masked(declared.schema, table.without_rows())
    if not in_blocks:
        account, found = passes.once("masking units", _release_whole, table, asked, key)
        names = account.table.frame.columns
        places = {name: place for place, name in enumerate(names)}
        cells = StoredCells(passes.scratch, dict.fromkeys(names), frozenset(), places, "")
        return MadeTable(cells, account, found)
    within = Ground(table, _block_rows(ground, table), ground.memory)
    made, found = release_with_plan(
        passes, within, declared, key, asked.options, weight=asked.weight, nested=asked.nested
    )
    assert isinstance(made.cells, StoredCells)
    return MadeTable(made.cells, made.release, found)


def _block_rows(ground: Ground, table: StoredTableOfUnits) -> int:
    """Return how many units a task takes: as many cells as it would take of rows."""
    cells = ground.block_rows * len(ground.table.names)
    return max(1, cells // len(table.names) // LEAF_ROWS) * LEAF_ROWS


def _release_whole(
    scratch: Scratch, table: StoredTableOfUnits, asked: Asked, key: Key
) -> tuple[Release, Plan]:
    """Write the cells of a released table; return the account, and the plan without rows."""
    declared = asked.declared
    prepared = prepare(table.whole(), schema=declared.schema, recipe=declared.recipe)
    assert isinstance(prepared, PreparedOnce)
    prepared.nested, prepared.weight = asked.nested, asked.weight
    planned = plan(prepared, **asked.options)
    assert isinstance(planned, Plan)
    empty = replace(
        planned,
        scores=planned.scores[:0].copy(),
        spare=planned.spare.with_frame(planned.spare.frame.clear()),
        triangular=None,
        factors=None,
    )
    once = PlanOnce(planned)
    del planned, prepared
    made = release(once, key)
    for place, cells in enumerate(made.table.frame):
        write_cells(scratch, place, cells)
    return replace(made, table=made.table.with_frame(made.table.frame.clear())), empty
