"""Tables with a row a unit: the rows of each side by side, and back.

Every row of a unit has a *place*: the time that all have in common, or the role and how manieth
with that role. A column that belongs to rows becomes one for each place, called ``name #1``,
``name #2`` and so on: names hold no cells. Where a row is absent, all its cells are missing; its
role says so, which is there in all other rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from icsa.constraints import parse_rule
from icsa.constraints.written import renamed
from icsa.errors import InputError
from icsa.inspection.unit_rows import (
    UNIT_LEAF_ROWS,
    Flags,
    Places,
    UnitRows,
    taken,
    unit_leaves,
)
from icsa.release.limits import LIMITS
from icsa.schema import ColumnSpec, Schema
from icsa.tables import Table

__all__ = [
    "RolePlaces",
    "WideLayout",
    "WideShape",
    "layout_by_role",
    "layout_by_time",
    "most_rows_of",
    "role_places",
]

# Rows of the units whose places are found at a time, so that many rows need little room.
_ROWS = 16 * UNIT_LEAF_ROWS


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WideShape:
    """How rows stand side by side, whichever unit they are of: small, however many there are.

    Attributes
    ----------
    labels : polars.Series
        The cell of the time or the role in each place: the same for all units.
    of_unit, of_row : tuple of str
        Columns that belong to units, and to rows without the labels' one.
    always : array of bool
        The places that every unit has.
    most_rows : int
        The most rows that a released unit has: as many as ten units have.
    n_units : int
    n_left_out : int
        Rows of the table that have no place.
    """

    labels: pl.Series
    of_unit: tuple[str, ...]
    of_row: tuple[str, ...]
    always: Flags
    most_rows: int
    n_units: int
    n_left_out: int

    @property
    def n_places(self) -> int:
        """How many rows a unit has at most."""
        return self.labels.len()

    def name(self, column: str, place: int) -> str:
        """Return how a column is called in a place."""
        return f"{column} #{place + 1}"

    @property
    def sources(self) -> dict[str, tuple[str, int]]:
        """For each column of rows in the wide table, which one it is, and in which place."""
        return {
            self.name(column, place): (column, place)
            for place in range(self.n_places)
            for column in (*self.of_row, *(() if self.always[place] else (self.labels.name,)))
        }

    @property
    def presences(self) -> dict[int, str]:
        """The columns of the wide table that say which units have a place, if not all."""
        return {
            place: self.name(self.labels.name, place)
            for place in range(self.n_places)
            if not self.always[place]
        }

    def sizes(self, wide: pl.DataFrame) -> Places:
        """Return how many rows the units of a wide table have once they are laid long."""
        found = np.full(wide.height, np.count_nonzero(self.always), dtype=np.int64)
        for name in self.presences.values():
            found += wide[name].is_not_null().to_numpy()
        return np.minimum(found, self.most_rows)

    def widened_schema(self, schema: Schema, table: Table) -> Schema:
        """Return what the wide table is, every rule in each place."""
        specs: dict[str, ColumnSpec] = {name: schema.columns[name] for name in self.of_unit}
        rules: list[str] = []
        parsed = {text: parse_rule(text, table.frame.columns) for text in schema.rules}
        spoken = {name for rule in parsed.values() for name in rule.columns}
        if self.labels.name in spoken:
            raise InputError(
                f"A rule is about {self.labels.name!r}, which is the same for all units and not "
                "masked. Take the rule out."
            )
        for place in range(self.n_places):
            names = {column: self.name(column, place) for column in self.of_row}
            for column, name in names.items():
                spec = schema.columns[column]
                derive = None if spec.derive is None else renamed(spec.derive, names)
                specs[name] = replace(spec, name=name, derive=derive)
            if not self.always[place]:
                label = self.name(self.labels.name, place)
                specs[label] = ColumnSpec(name=label, kind="constant")
            rules += [
                renamed(text, names)
                for text, rule in parsed.items()
                if place == 0 or not set(self.of_row).isdisjoint(rule.columns)
            ]
        return replace(schema, columns=specs, rules=tuple(dict.fromkeys(rules)))

    def narrowed(self, wide: Table, like: Table) -> Table:
        """Return a wide table with a row for every place that a unit has."""
        kept = [name for name in self.of_unit if name in wide.frame.columns]
        columns = [c for c in self.of_row if self.name(c, 0) in wide.frame.columns]
        parts, letters = [], dict[str, list[pl.Series]]()
        for place in range(self.n_places):
            there = np.arange(wide.frame.height)
            if place in self.presences:
                cells = wide.frame[self.presences[place]]
                there = np.flatnonzero(cells.is_not_null().to_numpy())
            own = [wide.frame[name][there] for name in kept]
            own += [wide.frame[self.name(c, place)][there].alias(c) for c in columns]
            part = pl.DataFrame([*own, self.labels.gather([place] * there.size)])
            parts.append(part.with_columns(icsa_unit=pl.Series(there), icsa_place=place))
            for name in like.missing_letters:
                source = self.name(name, place) if name in columns else name
                if source in wide.missing_letters:
                    letters.setdefault(name, []).append(wide.missing_letters[source][there])
        long = pl.concat(parts)
        number = pl.int_range(pl.len()).over("icsa_unit", order_by="icsa_place")
        order = (
            long.with_row_index("icsa_row")
            .filter(number < self.most_rows)
            .sort("icsa_unit", "icsa_place")["icsa_row"]
        )
        names = [name for name in like.frame.columns if name in long.columns]
        found = {
            name: pl.concat(some)[order]
            for name, some in letters.items()
            if len(some) == self.n_places and name in names
        }
        return replace(like, frame=long[order].select(names), missing_letters=found)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<WideShape: {self.n_units} units, {self.n_places} places>"


@dataclass(frozen=True, eq=False, repr=False)
class WideLayout:
    """Where the rows of every unit stand side by side.

    Attributes
    ----------
    rows : UnitRows
    places : array of int of shape (n_units, n_places)
        The row of the table that each unit has in each place; -1 for none.
    shape : WideShape
    """

    rows: UnitRows
    places: Places
    shape: WideShape

    def widened(self, table: Table) -> Table:
        """Return the table with a row a unit."""
        of_unit = self.shape.of_unit
        wide = taken(table, self.rows.firsts, of_unit)
        cells = dict(zip(of_unit, wide.frame.get_columns(), strict=True))
        letters, variables = dict(wide.missing_letters), dict(table.variables)
        chosen = [pl.Series(column).replace(-1, None) for column in self.places.T]
        for name, (column, place) in self.shape.sources.items():
            cells[name] = table.frame[column].gather(chosen[place]).alias(name)
            if column in table.missing_letters:
                letters[name] = table.missing_letters[column].gather(chosen[place])
            if column in table.variables:
                variables[name] = table.variables[column]
        return replace(
            table, frame=pl.DataFrame(cells), missing_letters=letters, variables=variables
        )

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<WideLayout: {self.shape!r}>"


def most_rows_of(sizes: Places) -> int:
    """Return the most rows that a released unit has: as many as ten units have.

    Examples
    --------
    >>> most_rows_of(np.array([2] * 20 + [5] * 9 + [3]))
    3
    """
    ordered = np.sort(sizes)
    return int(ordered[-min(LIMITS.fewest_in_a_place, ordered.size)])


def layout_by_time(
    table: Table, rows: UnitRows, time: str, of_unit: Sequence[str], of_row: Sequence[str]
) -> WideLayout | None:
    """Return the places by time where all units have rows at the same times; None otherwise."""
    sizes = rows.sizes
    ordered = table.frame[time].gather(rows.order)
    n_places = int(sizes[0])
    if not (sizes == n_places).all():
        return None
    labels = ordered[:n_places]
    repeated = labels.gather(np.tile(np.arange(n_places), rows.n_units))
    if not (ordered == repeated).all():
        return None
    shape = WideShape(
        labels=labels.alias(time),
        of_unit=tuple(of_unit),
        of_row=tuple(name for name in of_row if name != time),
        always=np.ones(n_places, dtype=bool),
        most_rows=n_places,
        n_units=rows.n_units,
        n_left_out=0,
    )
    return WideLayout(rows, rows.order.reshape(rows.n_units, n_places), shape)


def layout_by_role(
    table: Table,
    rows: UnitRows,
    role: str,
    of_unit: Sequence[str],
    of_row: Sequence[str],
) -> WideLayout:
    """Return the places by role and number within it; those that too few units have are left out.

    Errors as `role_places` has them.
    """
    found = role_places(table.frame[role], rows)
    places = np.empty((rows.n_units, found.labels.len()), dtype=np.int64)
    for units, some in found.rows_in_places(table.frame[role], rows):
        places[units] = some
    return WideLayout(rows, places, found.shape(rows, of_unit, of_row))


@dataclass(frozen=True, eq=False)
class RolePlaces:
    """Which places there are by role and number within it.

    Attributes
    ----------
    role : str
        The column.
    known : polars.DataFrame
        Role and number of each place, and how many units have it.
    """

    role: str
    known: pl.DataFrame

    @property
    def labels(self) -> pl.Series:
        """The role in each place."""
        return self.known["role"].alias(self.role)

    def shape(self, rows: UnitRows, of_unit: Sequence[str], of_row: Sequence[str]) -> WideShape:
        """Return how the rows stand side by side that have a place."""
        units = self.known["units"].to_numpy()
        return WideShape(
            labels=self.labels,
            of_unit=tuple(of_unit),
            of_row=tuple(name for name in of_row if name != self.role),
            always=units == rows.n_units,
            most_rows=most_rows_of(rows.sizes),
            n_units=rows.n_units,
            n_left_out=int(rows.order.size - units.sum()),
        )

    def rows_in_places(self, cells: pl.Series, rows: UnitRows) -> Iterator[tuple[slice, Places]]:
        """Yield some units at a time, with the row that each has in each place; -1 for none."""
        known = self.known.select("role", "number").with_row_index("place")
        for units in unit_leaves(rows.starts, _ROWS):
            joined = _numbered(cells, rows, units).join(known, on=["role", "number"], how="inner")
            places = np.full((units.stop - units.start, known.height), -1, dtype=np.int64)
            places[joined["unit"].to_numpy(), joined["place"].to_numpy()] = joined["row"].to_numpy()
            yield units, places


def role_places(cells: pl.Series, rows: UnitRows) -> RolePlaces:
    """Return the places that enough units have, by the cells of the role.

    Roles come in the order of how many units have them, and the first must be in every unit: a unit
    without a row would be nobody.
    """
    counted = [
        _numbered(cells, rows, units)
        .group_by("role", "number")
        .agg(pl.len().alias("units"), pl.col("row").min().alias("first"))
        for units in unit_leaves(rows.starts, _ROWS)
    ]
    held = (
        pl.concat(counted)
        .group_by("role", "number")
        .agg(pl.col("units").sum(), pl.col("first").min())
        .filter(pl.col("units") >= LIMITS.fewest_in_a_place)
        .sort("number", "units", "first", descending=[False, True, False])
    )
    if not held.height or held.item(0, "units") < rows.n_units:
        raise InputError(
            f"Column {cells.name!r} is the role, and none of its values stands in every unit: a "
            "released unit could be without rows. Leave the role out."
        )
    return RolePlaces(cells.name, held)


def _numbered(cells: pl.Series, rows: UnitRows, units: slice) -> pl.DataFrame:
    """Return the rows of some units: whose, in which role, and how manieth with it."""
    starts = rows.starts[units.start : units.stop + 1]
    order = rows.order[starts[0] : starts[-1]]
    unit = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    return pl.DataFrame({"unit": unit, "role": cells.gather(order)}).with_columns(
        number=pl.int_range(pl.len()).over("unit", "role"), row=pl.Series(order)
    )
