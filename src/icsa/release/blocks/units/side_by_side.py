"""Units whose rows stand side by side in a large table: released as one row each, and laid long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.columns.unmasked import Identifier
from icsa.inspection.unit_rows import Places
from icsa.limits import LONG
from icsa.matrices import LEAF_ROWS
from icsa.randomness import Key
from icsa.release.accounts import Looks
from icsa.release.blocks.block_cells import StoredCells
from icsa.release.blocks.block_preparing import Declared
from icsa.release.blocks.ground import Ground, row_ranges
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch, read_starts, write_starts
from icsa.release.blocks.units.stored_units import StoredUnits
from icsa.release.blocks.units.stored_wide import StoredWide, find_places, stored_wide
from icsa.release.blocks.units.tables_of_units import (
    Asked,
    MadeTable,
    bytes_in_memory,
    release_table_of_units,
)
from icsa.release.blocks.units.unit_cells import units_of_rows
from icsa.release.blocks.units.unit_preparing import DeclaredUnits
from icsa.release.methods import MethodOptions
from icsa.release.releasing import Release
from icsa.release.units.level_schemas import names_of_units
from icsa.release.units.wide_accounts import WideAccount
from icsa.release.units.wide_release import (
    replaced_of_rows,
    said_of_wide,
    telling_of_places,
)
from icsa.release.units.wide_tables import WideShape
from icsa.schema import ColumnSpec
from icsa.schema_files.checks import check_column
from icsa.tables import Table

__all__ = ["LongCells", "release_side_by_side"]


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
) -> tuple[Passes, MadeInBlocks]:
    """Return the release of a stored table by way of one with a row a unit, and passes over it.

    Weights are their logarithms.
    """
    weight, people = people.weight, people.with_logarithms()
    schema, stored = people.schema, people.stored
    fresh = _look_at_rows(passes, people)
    shape, below = _find_places(passes, people)
    wide = stored_wide(stored, below, shape)
    said = said_of_wide(schema, shape, ground.table.without_rows())
    declared = Declared(said, people.declared.recipe, by_schema=False)
    inner, many = replace(passes, scratch=below), shape.n_units > LONG
    asked = Asked(declared, options, weight=weight, nested=True)
    with telling_of_places():
        if not many:
            _require_room(ground, wide)
        made = release_table_of_units(inner, ground, wide, asked, key, in_blocks=many)
    cells, found = _laid_long(passes, people, made, shape, fresh)
    return replace(passes, scratch=cells.scratch), found


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


def _require_room(ground: Ground, wide: StoredWide) -> None:
    """Refuse few units, which in memory too are a short table, if that takes too much."""
    n_units, width = wide.n_rows, len(wide.names)
    ground.require_bytes(
        bytes_in_memory(n_units, width),
        f"A table of {n_units:,} units and {width} columns",
        "Drop columns, or give --memory more.",
    )


def _laid_long(
    passes: Passes,
    people: DeclaredUnits,
    made: MadeTable,
    shape: WideShape,
    fresh: dict[str, Identifier],
) -> tuple[LongCells, MadeInBlocks]:
    """Return the cells with a row for every row of a released unit, and the account of them."""
    schema, table = people.schema, people.stored.table
    own = {name: fresh[name] for name in replaced_of_rows(schema, shape)}
    kept = [name for name in table.names if schema.columns[name].action != "drop"]
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
    return cells, MadeInBlocks(cells, replace(told, written=n_rows), made.plan.columns)


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
