"""The rows of units in a stored table: found once, and every column read in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.inspection.design_checks import checked_units
from icsa.inspection.unit_rows import Places, UnitRows
from icsa.release.blocks.scratch import Scratch, read_starts, write_starts
from icsa.release.units.wide_tables import layout_by_time
from icsa.schema import Schema
from icsa.tables import Table
from icsa.tables.stored import StoredTable

__all__ = ["FoundUnits", "StoredTableOfUnits", "StoredUnits", "find_units"]


class FoundUnits(NamedTuple):
    """How many units there are, and at how many times all of them have rows; None for others."""

    n_units: int
    n_places: int | None


@dataclass(frozen=True, eq=False)
class StoredUnits:
    """A stored table whose rows come unit by unit, within them in the order of times.

    Attributes
    ----------
    table : StoredTable
    scratch : Scratch
        Where the order is, and where units begin in it.
    """

    table: StoredTable
    scratch: Scratch

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.table.names

    @property
    def rows(self) -> UnitRows:
        """The order of all rows, and where units begin in it."""
        return UnitRows(self.scratch.column("order", 0, np.int64), self.starts)

    @property
    def starts(self) -> Places:
        """Where units begin, and where the last one ends."""
        return read_starts(self.scratch)

    def column(self, name: str) -> Table:
        """Return a table of one column, all rows of it."""
        return self._gathered(name, self.scratch.column("order", 0, np.int64))

    def firsts(self, name: str) -> Table:
        """Return a table of one column, the first row of each unit."""
        return self._gathered(name, self.rows.firsts)

    def _gathered(self, name: str, rows: Places) -> Table:
        own = self.table.column(name)
        return own.with_frame(own.frame[name].gather(rows).to_frame())

    def without_rows(self) -> Table:
        """Return a table with all columns and no row."""
        return self.table.without_rows()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredTableOfUnits(StoredTable):
    """A stored table with a row a unit, made of one with several as its columns are read.

    Attributes
    ----------
    people : StoredUnits
    below : Scratch
        With numbers of units.
    """

    people: StoredUnits
    below: Scratch

    def whole(self) -> Table:
        """Return all columns."""
        cells = [self.column(name).frame[name] for name in self.names]
        return Table(pl.DataFrame(cells), self.variables, self.layout)

    def text_bytes(self, name: str) -> int:  # noqa: ARG002
        """Return 0: whoever found the units held each column of them."""
        return 0


def find_units(scratch: Scratch, table: StoredTable, schema: Schema) -> FoundUnits:
    """Write the order of rows by unit and time, after all checks of the columns that say it."""
    design = schema.design
    names = list(design.columns.values())
    frame = pl.DataFrame([table.column(name).frame[name] for name in names])
    own = replace(schema, columns={name: schema.columns[name] for name in names})
    named = Table(frame, table.variables, table.layout)
    rows, _ = checked_units(named, own)
    scratch.write("order", 0, rows.order)
    write_starts(scratch, rows.starts)
    layout = None if not design.time else layout_by_time(named, rows, design.time, (), ())
    return FoundUnits(rows.n_units, None if layout is None else layout.shape.n_places)
