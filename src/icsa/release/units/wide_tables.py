"""Tables with a row a unit: the rows of each side by side, and back.

Every row of a unit has a *place*: the time that all have in common, or the role and how manieth
with that role. A column that belongs to rows becomes one for each place, called ``name #1``,
``name #2`` and so on: names hold no cells. Where a row is absent, all its cells are missing; its
role says so, which is there in all other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from icsa.constraints import parse_rule
from icsa.constraints.written import renamed
from icsa.errors import InputError
from icsa.inspection.unit_rows import Flags, Places, UnitRows, taken
from icsa.release.limits import LIMITS
from icsa.schema import ColumnSpec, Schema
from icsa.tables import Table

__all__ = ["WideLayout", "layout_by_role", "layout_by_time"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WideLayout:
    """Where the rows of every unit stand side by side.

    Attributes
    ----------
    rows : UnitRows
    places : array of int of shape (n_units, n_places)
        The row of the table that each unit has in each place; -1 for none.
    labels : polars.Series
        The cell of the time or the role in each place: the same for all units.
    of_unit, of_row : tuple of str
        Columns that belong to units, and to rows without the labels' one.
    """

    rows: UnitRows
    places: Places
    labels: pl.Series
    of_unit: tuple[str, ...]
    of_row: tuple[str, ...]

    @property
    def n_places(self) -> int:
        """How many rows a unit has at most."""
        return int(self.places.shape[1])

    @property
    def most_rows(self) -> int:
        """The most rows that a released unit has: as many as ten units have."""
        sizes = np.sort(self.rows.sizes)
        return int(sizes[-min(LIMITS.fewest_in_a_place, sizes.size)])

    @property
    def present(self) -> Flags:
        """Which units have which places."""
        return self.places >= 0

    @property
    def always(self) -> Flags:
        """The places that every unit has."""
        return np.asarray(self.present.all(axis=0))

    def name(self, column: str, place: int) -> str:
        """Return how a column is called in a place."""
        return f"{column} #{place + 1}"

    def widened(self, table: Table) -> Table:
        """Return the table with a row a unit."""
        wide = taken(table, self.rows.firsts, self.of_unit)
        cells = dict(zip(self.of_unit, wide.frame.get_columns(), strict=True))
        letters, variables = dict(wide.missing_letters), dict(table.variables)
        for place in range(self.n_places):
            chosen = pl.Series(self.places[:, place]).replace(-1, None)
            absent = () if self.always[place] else (self.labels.name,)
            for column in (*self.of_row, *absent):
                name = self.name(column, place)
                cells[name] = table.frame[column].gather(chosen).alias(name)
                if column in table.missing_letters:
                    letters[name] = table.missing_letters[column].gather(chosen)
                if column in table.variables:
                    variables[name] = table.variables[column]
        return replace(
            table, frame=pl.DataFrame(cells), missing_letters=letters, variables=variables
        )

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
            if not self.always[place]:
                cells = wide.frame[self.name(self.labels.name, place)]
                there = np.flatnonzero(cells.is_not_null().to_numpy())
            own = {c: wide.frame[self.name(c, place)][there].alias(c) for c in columns}
            label = self.labels.gather([place] * there.size)
            part = wide.frame.select(kept)[there].with_columns(label, *own.values())
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
        return f"<WideLayout: {self.rows.n_units} units, {self.n_places} places>"


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
    return WideLayout(
        rows=rows,
        places=rows.order.reshape(rows.n_units, n_places),
        labels=labels.alias(time),
        of_unit=tuple(of_unit),
        of_row=tuple(name for name in of_row if name != time),
    )


def layout_by_role(
    table: Table,
    rows: UnitRows,
    role: str,
    of_unit: Sequence[str],
    of_row: Sequence[str],
    fewest: int,
) -> WideLayout:
    """Return the places by role and number within it; those that too few units have are left out.

    Roles come in the order of how many units have them, and the first must be in every unit: a unit
    without a row would be nobody.
    """
    cells = table.frame[role].gather(rows.order)
    numbered = pl.DataFrame({"unit": rows.unit, "role": cells}).with_columns(
        number=pl.int_range(pl.len()).over("unit", "role"), row=pl.Series(rows.order)
    )
    held = (
        numbered.group_by("role", "number")
        .agg(pl.len().alias("units"), pl.col("row").min().alias("first"))
        .filter(pl.col("units") >= fewest)
        .sort("number", "units", "first", descending=[False, True, False])
    )
    if not held.height or held.item(0, "units") < rows.n_units:
        raise InputError(
            f"Column {role!r} is the role, and none of its values stands in every unit: a released "
            "unit could be without rows. Leave the role out."
        )
    places = np.full((rows.n_units, held.height), -1, dtype=np.int64)
    known = held.select("role", "number").with_row_index("place")
    joined = numbered.join(known, on=["role", "number"], how="inner")
    places[joined["unit"].to_numpy(), joined["place"].to_numpy()] = joined["row"].to_numpy()
    return WideLayout(
        rows=rows,
        places=places,
        labels=held["role"].alias(role),
        of_unit=tuple(of_unit),
        of_row=tuple(name for name in of_row if name != role),
    )
