"""Units whose rows stand side by side in a large table: released as one row each, and laid long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.columns.unmasked import Identifier
from icsa.inspection.unit_rows import Places
from icsa.limits import LONG
from icsa.matrices import LEAF_ROWS
from icsa.randomness import Key
from icsa.release.accounts import Looks
from icsa.release.blocks.block_cells import StoredCells, write_cells
from icsa.release.blocks.block_preparing import Declared
from icsa.release.blocks.block_releasing import release_rows_in_blocks
from icsa.release.blocks.ground import Ground, row_ranges
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch, read_starts, write_starts
from icsa.release.blocks.units.stored_units import StoredUnits
from icsa.release.blocks.units.stored_wide import StoredWide, find_places, stored_wide
from icsa.release.blocks.units.unit_cells import units_of_rows
from icsa.release.blocks.units.unit_preparing import DeclaredUnits
from icsa.release.methods import MethodOptions
from icsa.release.planning import Plan, PlanOnce, plan
from icsa.release.preparing import require_masked
from icsa.release.releasing import Release, release
from icsa.release.units.two_levels import names_of_units
from icsa.release.units.wide_accounts import WideAccount
from icsa.release.units.wide_release import (
    prepared_wide,
    replaced_of_rows,
    said_of_wide,
    telling_of_places,
)
from icsa.release.units.wide_tables import WideShape
from icsa.schema import ColumnSpec
from icsa.schema_files.checks import check_column
from icsa.tables import Table

__all__ = ["LongCells", "release_side_by_side"]

# Tables of memory that the release of a wide table takes, where it is made in memory; measured.
_TABLES_IN_MEMORY = 3.9


@dataclass(frozen=True, eq=False)
class LongCells(StoredCells):
    """Where the released cells of many rows a unit come from: a released table with a row each.

    Attributes
    ----------
    wide : StoredCells
        Of that table; scratch, columns and the rest are those of the rows' own identifiers.
    shape : WideShape
    empty : Table
        With the columns of the original, and no row.
    """

    wide: StoredCells
    shape: WideShape
    empty: Table

    @property
    def starts(self) -> Places:
        """Where units begin."""
        return read_starts(self.scratch)

    def between(self, start: int, stop: int, names: Iterable[str] | None = None) -> pl.DataFrame:
        """Return the cells of some rows, in all columns or some."""
        wanted = list(self.columns if names is None else names)
        starts = self.starts
        units = units_of_rows(starts, start, stop)
        long = self.of_units(units, wanted)
        before = start - int(starts[units.start])
        rows = slice(start, stop)
        return pl.DataFrame(
            [
                self._column(name, rows)
                if name in self.fresh
                else long[name].slice(before, stop - start)
                for name in wanted
            ]
        )

    def of_units(self, units: slice, names: Iterable[str]) -> pl.DataFrame:
        """Return the cells of some units, all rows of them, but for the rows' own identifiers."""
        return self.shape.narrowed(self._beside(units, names), self.empty).frame

    def sizes(self, units: slice) -> Places:
        """Return how many rows some released units have."""
        return self.shape.sizes(self._beside(units, ()).frame)

    def _beside(self, units: slice, names: Iterable[str]) -> Table:
        """Return some units with their rows side by side, and what says who has which."""
        wanted = {*names, self.shape.labels.name}
        own = {
            name
            for name in self.wide.columns
            if self.shape.sources.get(name, (name, 0))[0] in wanted
        }
        # At least one column, which says how many units there are.
        found = [n for n in self.wide.columns if n in own] or [next(iter(self.wide.columns))]
        return Table(self.wide.between(units.start, units.stop, found))


class _Counted(NamedTuple):
    """Rows of some released units, and how many cells of each column are missing in them."""

    sizes: Places
    missing: dict[str, int]


def release_side_by_side(
    passes: Passes, ground: Ground, people: DeclaredUnits, key: Key, options: MethodOptions
) -> MadeInBlocks:
    """Return the release of a stored table by way of one with a row a unit."""
    schema, stored = people.schema, people.stored
    fresh = _look_at_rows(passes, people)
    shape, below = _find_places(passes, people)
    wide = stored_wide(stored, below, shape)
    said = said_of_wide(schema, shape, ground.table.without_rows())
    require_masked(said, wide.without_rows())
    declared = Declared(said, people.declared.recipe, by_schema=False)
    inner = replace(passes, scratch=below)
    with telling_of_places():
        if shape.n_units > LONG:
            within = Ground(wide, _block_rows(ground, wide), ground.memory)
            made = release_rows_in_blocks(inner, within, declared, key, options, nested=True)
        else:
            made = _release_in_memory(inner, ground, wide, declared, key, options)
    return _laid_long(passes, people, made, shape, fresh)


def _look_at_rows(passes: Passes, people: DeclaredUnits) -> dict[str, Identifier]:
    """Return what replaces identifiers of rows, after checks of what a schema says of columns."""
    schema, by_schema = people.schema, people.declared.by_schema
    specs = [
        spec
        for name, spec in schema.columns.items()
        if by_schema or (spec.action == "replace" and name != schema.design.unit)
    ]
    tasks = [Task(_look_at, (people.stored, spec, by_schema)) for spec in specs]
    found = zip(specs, passes.over("side by side", tasks), strict=True)
    return {spec.name: fresh for spec, fresh in found if fresh is not None}


def _look_at(
    _: Scratch, stored: StoredUnits, spec: ColumnSpec, by_schema: bool
) -> Identifier | None:
    own = stored.table.column(spec.name)
    if by_schema:
        check_column(spec, own)
    return Identifier.fit(own.frame[spec.name], spec) if spec.action == "replace" else None


def _find_places(passes: Passes, people: DeclaredUnits) -> tuple[WideShape, Scratch]:
    """Return how rows stand side by side, and scratch with a number a unit."""
    schema = people.schema
    of_unit = names_of_units(schema)
    of_row = [name for name in schema.columns if name not in of_unit]
    below = Scratch(passes.scratch.folder / "side by side", people.found.n_units)
    below.folder.mkdir(exist_ok=True)
    shape: WideShape = passes.once(
        "places of rows", find_places, people.stored, below, schema.design, of_unit, of_row
    )
    return shape, below


def _block_rows(ground: Ground, wide: StoredWide) -> int:
    """Return how many units a task takes: as many cells as it would take of rows."""
    cells = ground.block_rows * len(ground.table.names)
    return max(1, cells // len(wide.names) // LEAF_ROWS) * LEAF_ROWS


def _release_in_memory(
    passes: Passes,
    ground: Ground,
    wide: StoredWide,
    declared: Declared,
    key: Key,
    options: MethodOptions,
) -> MadeInBlocks:
    """Return the release of few units, which in memory too is one of a short table."""
    n_units, width = wide.n_rows, len(wide.names)
    ground.require_room(
        round(_TABLES_IN_MEMORY * width * n_units / ground.n_rows),
        f"A table of {n_units:,} units and {width} columns",
        "Drop columns, or give --memory more.",
    )
    made: tuple[Release, dict[str, Column]] = passes.once(
        "masking units", _release_whole, wide, declared, options, key
    )
    account, columns = made
    names = account.table.frame.columns
    places = {name: place for place, name in enumerate(names)}
    cells = StoredCells(passes.scratch, dict.fromkeys(names), frozenset(), places, "")
    return MadeInBlocks(cells, account, columns)


def _release_whole(
    scratch: Scratch, wide: StoredWide, declared: Declared, options: MethodOptions, key: Key
) -> tuple[Release, dict[str, Column]]:
    """Write the cells of a released wide table; return the account, and its columns."""
    planned = plan(prepared_wide(wide.whole(), declared.schema, declared.recipe), **options)
    assert isinstance(planned, Plan)
    columns = dict(planned.columns)
    once = PlanOnce(planned)
    del planned
    made = release(once, key)
    for place, cells in enumerate(made.table.frame):
        write_cells(scratch, place, cells)
    return replace(made, table=made.table.with_frame(made.table.frame.clear())), columns


def _laid_long(
    passes: Passes,
    people: DeclaredUnits,
    made: MadeInBlocks,
    shape: WideShape,
    fresh: dict[str, Identifier],
) -> MadeInBlocks:
    """Return the cells with a row for every row of a released unit, and the account of them."""
    schema, table = people.schema, people.stored.table
    own = {name: fresh[name] for name in replaced_of_rows(schema, shape)}
    kept = [name for name in table.names if schema.columns[name].action != "drop"]
    assert isinstance(made.cells, StoredCells)
    cells = LongCells(
        Scratch(passes.scratch.folder / "released rows", 0),
        {name: own.get(name) for name in kept},
        frozenset(own),
        {name: place for place, name in enumerate(kept)},
        "",
        made.cells,
        shape,
        table.without_rows(),
    )
    gone = _with_gaps(made.release, shape)
    gone = [name for name in gone if name in kept]
    tasks = [Task(_count, (cells, units, gone)) for units in _units_at_a_time(shape)]
    counted: list[_Counted] = passes.over("laying long", tasks)
    starts = np.concatenate([[0], np.cumsum(np.concatenate([one.sizes for one in counted]))])
    n_rows = int(starts[-1])
    rows = replace(cells.scratch, n_rows=n_rows)
    rows.folder.mkdir(exist_ok=True)
    write_starts(rows, starts)
    cells = replace(cells, scratch=rows)
    frame = cells.between(0, 0)
    before = {name: Looks(dtype, people.missing[name]) for name, dtype in table.dtypes.items()}
    after = {
        name: Looks(dtype, sum(one.missing.get(name, 0) for one in counted))
        for name, dtype in frame.schema.items()
    }
    account = WideAccount(schema=schema, shape=shape, rows_before=table.n_rows)
    told = account.told(made.release, cells.empty.with_frame(frame), n_rows, before, after)
    return MadeInBlocks(cells, replace(told, written=n_rows), made.columns)


def _with_gaps(made: Release, shape: WideShape) -> list[str]:
    """Return the columns of which some released cell is missing in some place."""
    gone = (change.name for change in made.columns if change.missing_after)
    return list(dict.fromkeys(shape.sources.get(name, (name, 0))[0] for name in gone))


def _units_at_a_time(shape: WideShape) -> list[slice]:
    return list(row_ranges(shape.n_units, 16 * LEAF_ROWS // shape.n_places))


def _count(_: Scratch, cells: LongCells, units: slice, names: list[str]) -> _Counted:
    sizes = cells.sizes(units)
    if not names:
        return _Counted(sizes, {})
    long = cells.of_units(units, names)
    return _Counted(sizes, {name: long[name].null_count() for name in names})
