"""A stored table with a row a unit: the rows of each side by side, gathered as a column is read.

Nothing is written but which row of the table every unit has in each place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.units.stored_units import StoredTableOfUnits, StoredUnits
from icsa.release.units.wide_tables import WideShape, layout_by_time, role_places
from icsa.schema import Design
from icsa.tables import Table

__all__ = ["StoredWide", "find_places", "stored_wide"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredWide(StoredTableOfUnits):
    """A stored table whose columns of rows come once for each place.

    Attributes
    ----------
    shape : WideShape
        Where the rows in each place are is in `below`.
    """

    shape: WideShape

    def column(self, name: str) -> Table:
        """Return a table of one column, a row a unit."""
        if name not in self.shape.sources:
            return self.people.firsts(name)
        source, place = self.shape.sources[name]
        own = self.people.table.column(source).frame[source]
        return self._gathered(own, place)

    def whole(self) -> Table:
        """Return all columns, each of the original read once."""
        cells = {name: self.people.firsts(name).frame[name] for name in self.shape.of_unit}
        for source in dict.fromkeys(column for column, _ in self.shape.sources.values()):
            own = self.people.table.column(source).frame[source]
            for place in range(self.shape.n_places):
                name = self.shape.name(source, place)
                if name in self.shape.sources:
                    cells[name] = self._gathered(own, place).frame[name]
        return Table(pl.DataFrame([cells[n] for n in self.names]), self.variables, self.layout)

    def _gathered(self, own: pl.Series, place: int) -> Table:
        rows = pl.Series(self.below.column("places", place, np.int64))
        chosen = rows if self.shape.always[place] else rows.replace(-1, None)
        cells = own.gather(chosen).alias(self.shape.name(own.name, place))
        return Table(cells.to_frame(), self.variables, self.layout)

    def let_go(self, names: Iterable[str]) -> None:
        """Say that some columns are not asked for any more: the original's, where no place is."""
        left = set(self.names).difference(names)
        asked = {self.shape.sources.get(name, (name, 0))[0] for name in left}
        self.people.table.let_go(name for name in self.people.names if name not in asked)


def stored_wide(people: StoredUnits, below: Scratch, shape: WideShape) -> StoredWide:
    """Return the wide table of a stored one."""
    table = people.table
    sources = {name: name for name in shape.of_unit}
    sources |= {name: column for name, (column, _) in shape.sources.items()}
    told = {name: table.variables[c] for name, c in sources.items() if c in table.variables}
    return StoredWide(
        parts=table.parts,
        rows=(shape.n_units,),
        dtypes={name: table.dtypes[column] for name, column in sources.items()},
        variables={**table.variables, **told},
        layout=table.layout,
        people=people,
        below=below,
        shape=shape,
    )


def find_places(
    _: Scratch,
    people: StoredUnits,
    below: Scratch,
    design: Design,
    of_unit: Sequence[str],
    of_row: Sequence[str],
) -> WideShape:
    """Write which row every unit has in each place; return how they stand side by side."""
    rows = people.rows
    name = design.role or design.time
    assert name
    own = people.table.column(name)
    if not design.role:
        layout = layout_by_time(own, rows, name, of_unit, of_row)
        assert layout is not None
        for place in range(layout.shape.n_places):
            below.write("places", place, layout.places[:, place])
        return layout.shape
    cells = own.frame[name]
    found = role_places(cells, rows)
    n_places = found.labels.len()
    below.allocate("places", n_places, np.int64)
    for units, places in found.rows_in_places(cells, rows):
        below.write_rows("places", range(n_places), units, places)
    return found.shape(rows, of_unit, of_row)
