"""The cells of a large release with several rows a person, and the account of both levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.inspection.unit_rows import Places
from icsa.randomness import Key
from icsa.release.accounts import Looks, changes_between, warnings_of
from icsa.release.blocks.block_cells import StoredCells, accounts_of, give_reasons
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import StoredNumbers, read_starts
from icsa.release.blocks.units.tables_of_units import MadeTable
from icsa.release.blocks.units.unit_preparing import PreparedUnits
from icsa.release.units.level_plan import LevelPlan
from icsa.tables import Table

__all__ = ["UnitCells", "made_of_units", "units_of_rows"]


@dataclass(frozen=True, eq=False)
class UnitCells(StoredCells):
    """Where released cells come from, those of units from a table with a row each.

    Attributes
    ----------
    units : StoredCells
        Of that table.
    of_units : set of str
        Which columns come from it.
    """

    units: StoredCells
    of_units: frozenset[str]

    @property
    def starts(self) -> Places:
        """Where units begin."""
        return read_starts(self.scratch)

    def between(self, start: int, stop: int, names: Iterable[str] | None = None) -> pl.DataFrame:
        """Return the cells of some rows, in all columns or some."""
        wanted = list(self.columns if names is None else names)
        above = sorted(self.of_units.intersection(wanted))
        own = self._of_units(slice(start, stop), above) if above else pl.DataFrame()
        numbers = slice(start, stop)
        return pl.DataFrame(
            [own[n] if n in self.of_units else self._column(n, numbers) for n in wanted]
        )

    def _of_units(self, rows: slice, names: Sequence[str]) -> pl.DataFrame:
        """Return the cells that some rows have of their units."""
        starts = self.starts
        units = units_of_rows(starts, rows.start, rows.stop)
        edges = np.clip(starts[units.start : units.stop + 1], rows.start, rows.stop)
        unit = np.repeat(np.arange(edges.size - 1), np.diff(edges))
        return self.units.between(units.start, units.stop, names)[unit]


def units_of_rows(starts: Places, start: int, stop: int) -> slice:
    """Return the units that have some rows, where each begins.

    Examples
    --------
    >>> units_of_rows(np.array([0, 2, 3, 7]), 2, 4), units_of_rows(np.array([0, 2, 3, 7]), 0, 0)
    (slice(1, 3, None), slice(0, 0, None))
    """
    first = int(np.searchsorted(starts, start, side="right")) - 1
    return slice(first, max(int(np.searchsorted(starts, stop, side="left")), first))


def made_of_units(
    passes: Passes,
    prepared: PreparedUnits,
    plan: LevelPlan,
    units: MadeTable,
    moved: Mapping[str, int],
    key: Key,
) -> MadeInBlocks:
    """Return the cells of a release on two levels, and the account of it."""
    made = units.release
    rows, names, table = plan.rows, prepared.stored.names, prepared.stored.table
    extents, reaches = accounts_of(passes, rows, names)
    numbers = StoredNumbers(
        passes.scratch,
        {
            name: ("released", names.index(name))
            for name in names
            if passes.scratch.path("released", names.index(name)).exists()
        },
    )
    cells = _ready_cells(passes, prepared, plan, units.cells, key.child("rows"))
    frame = cells.between(0, 0)
    before = {name: Looks(dtype, 0) for name, dtype in table.dtypes.items()}
    before |= {
        name: Looks(table.dtypes[name], one.extent.missing)
        for name, one in prepared.rows.fitted.items()
    }
    before |= {
        name: Looks(table.dtypes[name], one.missing) for name, one in prepared.rows.others.items()
    }
    after = {name: Looks(dtype, 0) for name, dtype in frame.schema.items()}
    after |= {
        name: Looks(frame.schema[name], extent.missing)
        for name, extent in extents.items()
        if name in frame.columns
    }
    for one in plan.aggregates:
        if one.target in frame.columns:
            gone = int(np.isnan(numbers[one.target]).sum())
            after[one.target] = Looks(frame.schema[one.target], gone)

    def has_its_counts(name: str) -> bool:
        return name not in after or rows.columns[name].has_its_counts(numbers[name])

    changes = {change.name: change for change in made.columns}
    own = changes_between(rows, before, after, reaches, has_its_counts)
    changes |= {change.name: change for change in own}
    warnings = (*made.warnings, *warnings_of(rows, key, extents, reaches, numbers))
    starts = read_starts(passes.scratch)
    return MadeInBlocks(
        cells,
        replace(
            made,
            table=Table(
                frame,
                {n: v for n, v in table.variables.items() if n in frame.columns},
                table.layout,
            ),
            columns=tuple(plan.changes_from(changes, before, after)),
            warnings=tuple(dict.fromkeys(warnings)),
            relations=(*made.relations, *plan.relations_in(numbers)),
            moved_cells={**made.moved_cells, **moved},
            n_components=made.n_components + plan.residuals.n_components,
            units=plan.account(starts),
            written=int(starts[-1]),
        ),
        rows.columns,
    )


def _ready_cells(
    passes: Passes, prepared: PreparedUnits, plan: LevelPlan, units: StoredCells, key: Key
) -> UnitCells:
    """Return where the released cells come from, in the order of the columns."""
    names, schema, rows = prepared.stored.names, prepared.schema, plan.rows
    computed = {one.target: plan.unit_columns[one.target] for one in plan.aggregates}
    if plan.time is not None:
        computed[plan.time.column.name] = plan.time.column
    tasks: list[Task] = []
    makers: dict[str, Column | None] = {}
    fresh = set[str]()
    for place, name in enumerate(names):
        action = schema.columns[name].action
        if action == "drop":
            continue
        if name in computed:
            makers[name] = computed[name]
        elif name in units.columns:
            makers[name] = None
        elif action == "replace":
            makers[name] = prepared.rows.others[name].fresh
            fresh.add(name)
        elif prepared.rows.fitted[name].has_reasons:
            makers[name] = None
            exact, secret = rows.recipe.exact_counts, key.reveal()
            arguments = (prepared.stored, rows.columns[name], place, None, secret, exact)
            tasks.append(Task(give_reasons, arguments))
        else:
            makers[name] = rows.columns[name]
    passes.over("making cells", tasks)
    return UnitCells(
        passes.scratch,
        makers,
        frozenset(fresh),
        {name: names.index(name) for name in makers},
        "released",
        units,
        frozenset(name for name in makers if name in units.columns and name not in computed),
    )
