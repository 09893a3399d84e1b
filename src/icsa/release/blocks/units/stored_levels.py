"""A stored table with a row a unit: its own columns, and what is known of its rows.

Nothing of it is written: a column of the original is read in its first rows, and levels lose what
is in slopes as they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.units.stored_units import StoredTableOfUnits, StoredUnits
from icsa.tables import Table

__all__ = ["Extra", "StoredLevels", "table_of_units"]


class Extra(NamedTuple):
    """Where a number a unit is, and of what other one a multiple is to be taken away."""

    what: str
    place: int
    other: int | None = None
    times: float = 0.0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredLevels(StoredTableOfUnits):
    """A stored table with a row a unit.

    Attributes
    ----------
    extras : mapping of str to Extra
        Columns that the original does not have: pattern of times, levels and slopes of rows.
    """

    extras: Mapping[str, Extra] = field(default_factory=lambda: MappingProxyType({}))

    def column(self, name: str) -> Table:
        """Return a table of one column, a row a unit."""
        if name not in self.extras:
            return self.people.firsts(name)
        one = self.extras[name]
        found = self.below.loaded(one.what, one.place)
        if one.other is not None:
            found -= self.below.loaded(one.what, one.other) * one.times
        cells = pl.Series(name, found, nan_to_null=True)
        return Table(cells.to_frame(), self.variables, self.layout)

    def let_go(self, names: Iterable[str]) -> None:
        """Remove the files of extras that are not asked for any more, if none of them is."""
        if set(self.extras) <= set(names):
            for one in self.extras.values():
                self.below.path(one.what, one.place).unlink(missing_ok=True)


def table_of_units(
    people: StoredUnits,
    names: Sequence[str],
    below: Scratch,
    extras: Mapping[str, Extra] = MappingProxyType({}),
) -> StoredLevels:
    """Return the table with a row a unit, of some columns of the original and of extras."""
    table = people.table
    return StoredLevels(
        parts=table.parts,
        rows=(below.n_rows,),
        dtypes={name: table.dtypes[name] for name in names} | dict.fromkeys(extras, pl.Float64()),
        variables=table.variables,
        layout=table.layout,
        people=people,
        below=below,
        extras=extras,
    )
