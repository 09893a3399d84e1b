"""The first passes over a large table with several rows a person: whose rows, and every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from icsa.columns import Column, ColumnSpec
from icsa.columns.declared import Belonging
from icsa.inspection.design_checks import require_constant
from icsa.inspection.overview import guess_column
from icsa.inspection.unit_rows import Places
from icsa.matrices import Vector
from icsa.release.blocks.block_preparing import Declared, Prepared, fit_in_blocks
from icsa.release.blocks.block_weights import logged
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch, StoredNumbers
from icsa.release.blocks.units.stored_levels import table_of_units
from icsa.release.blocks.units.stored_units import FoundUnits, StoredUnits, find_units
from icsa.release.units.effects import Curve, curve_of
from icsa.release.units.level_plan import UnitTime
from icsa.release.units.level_schemas import (
    names_of_rows,
    names_of_units,
    part_of,
    require_none_kept,
)
from icsa.release.units.two_levels import listed_times, timed_rows
from icsa.release.units.visit_times import TimePattern
from icsa.release.ways import is_wide
from icsa.release.weighted_release import weighted_units
from icsa.schema import Schema
from icsa.tables.stored import StoredTable

__all__ = [
    "DeclaredUnits",
    "PreparedUnits",
    "StoredAbove",
    "belonging_in_blocks",
    "declare_units_in_blocks",
    "pattern_kept",
    "prepare_units_in_blocks",
]


class _Belongs(NamedTuple):
    """Whether a column belongs to units or rows, in how many it varies, and what it is then.

    Its missing cells are counted besides.
    """

    where: Belonging
    varying: int
    spec: ColumnSpec
    missing: int


@dataclass(frozen=True, eq=False)
class DeclaredUnits:
    """What the columns of a large table are, and which rows belong to which unit.

    Attributes
    ----------
    declared : Declared
        Whose schema says of every column where it belongs.
    found : FoundUnits
    stored : StoredUnits
    missing : mapping of str to int
        Missing cells of every column.
    """

    declared: Declared
    found: FoundUnits
    stored: StoredUnits
    missing: Mapping[str, int]

    @property
    def schema(self) -> Schema:
        """What is declared of its columns."""
        return self.declared.schema

    @property
    def side_by_side(self) -> bool:
        """Whether rows stand side by side: by their role, or at the same few times in all units."""
        if self.schema.design.role:
            return True
        n_of_unit = len(names_of_units(self.schema))
        n_of_row = len(self.schema.columns) - n_of_unit
        return self.found.n_places is not None and is_wide(
            self.found.n_places, self.found.n_units, n_of_unit, n_of_row
        )

    @property
    def weight(self) -> str | None:
        """The weight that units have; None where there is none, or rows have it."""
        design = self.schema.design
        return design.weight if design.weight and weighted_units(self.schema) is not None else None

    def with_logarithms(self) -> DeclaredUnits:
        """Return the same with the logarithms of weights in their place, where there are some."""
        if not self.schema.design.weight:
            return self
        table, schema = logged(self.stored.table, self.schema)
        stored = replace(self.stored, table=table)
        return replace(self, declared=replace(self.declared, schema=schema), stored=stored)


@dataclass(frozen=True, eq=False)
class StoredAbove:
    """What is known of units before their rows are looked at, as `Above` in memory.

    Attributes
    ----------
    names : list of str
        Columns that belong to units, with the one that names them.
    columns : mapping of str to Column
        Those that are masked.
    numbers : StoredNumbers
        Theirs, a number a unit.
    time : UnitTime, optional
    """

    names: list[str]
    columns: Mapping[str, Column]
    numbers: StoredNumbers
    time: UnitTime | None


class _Timed(NamedTuple):
    """The time of rows, and the curve over it; the pattern is kept apart, as it is long."""

    time: UnitTime | None
    curve: Curve


@dataclass(frozen=True, eq=False)
class PreparedUnits:
    """Both levels of a large table.

    Attributes
    ----------
    schema : Schema
        Which says of every column where it belongs.
    recipe : str
    stored : StoredUnits
    of_units : Scratch
        Columns with a number a unit.
    above : StoredAbove
        Times and their pattern are in scratch.
    timed : bool
    curve : Curve
    rows : Prepared
        The columns of rows; their schema is that of rows alone.
    weight : str, optional
        The column of units with logarithms of weights, with which calibration counts them.
    """

    schema: Schema
    recipe: str
    stored: StoredUnits
    of_units: Scratch
    above: StoredAbove
    timed: bool
    curve: Curve
    rows: Prepared
    weight: str | None = None

    @property
    def starts(self) -> Places:
        """Where units begin."""
        return self.stored.starts


def declare_units_in_blocks(
    passes: Passes, table: StoredTable, declared: Declared
) -> DeclaredUnits:
    """Return whose rows and columns those of a large table are; their order is in scratch."""
    found: FoundUnits = passes.once("finding units", find_units, table, declared.schema)
    stored = StoredUnits(table, passes.scratch)
    schema, missing = belonging_in_blocks(passes, stored, declared, found.n_units)
    return DeclaredUnits(replace(declared, schema=schema), found, stored, missing)


def prepare_units_in_blocks(passes: Passes, people: DeclaredUnits) -> PreparedUnits:
    """Return both levels of a large table, every column fitted, numbers of rows in scratch.

    Weights are their logarithms from here on.
    """
    weight, people = people.weight, people.with_logarithms()
    scratch, stored, declared = passes.scratch, people.stored, people.declared
    schema = people.schema
    of_unit = names_of_units(schema)
    require_none_kept(schema)
    names = names_of_rows(schema, of_unit)
    below = Scratch(scratch.folder / "of units", people.found.n_units)
    below.folder.mkdir(exist_ok=True)
    columns, numbers = _of_units(replace(passes, scratch=below), stored, declared, schema)
    time, curve = passes.once("times of units", _write_times, stored, below, schema, numbers)
    own = replace(declared, schema=part_of(schema, names))
    above = StoredAbove(of_unit, columns, numbers, time)
    return PreparedUnits(
        schema=schema,
        recipe=declared.recipe,
        stored=stored,
        of_units=below,
        above=above,
        timed=time is not None,
        curve=curve,
        rows=fit_in_blocks(passes, stored, own, names),
        weight=weight,
    )


def _keep_pattern(scratch: Scratch, below: Scratch, pattern: TimePattern) -> None:
    """Keep the pattern of times; what units have of it goes to their own columns."""
    for place, column in enumerate(pattern.columns.values()):
        below.write("pattern", place, column)
    none = np.empty(0)
    scratch.keep("pattern of times", replace(pattern, columns=dict.fromkeys(pattern.columns, none)))


def pattern_kept(scratch: Scratch) -> TimePattern:
    """Return the pattern of times, whose deviations are as long as a column.

    It has the names of what units have of it, and not that itself.
    """
    found: TimePattern = scratch.kept("pattern of times")
    return found


def belonging_in_blocks(
    passes: Passes, stored: StoredUnits, declared: Declared, n_units: int
) -> tuple[Schema, dict[str, int]]:
    """Return the schema that says of every column where it belongs, as `with_belonging` does.

    Missing cells of every column come with it.
    """
    schema, guessed = declared.schema, not declared.by_schema
    unit = schema.design.unit
    assert unit
    specs = dict(schema.columns)
    if guessed or specs[unit].action == "mask":
        specs[unit] = replace(specs[unit], kind="identifier", action="replace", levels=())
    tasks = [
        Task(_belongs, (stored, spec, guessed)) for name, spec in specs.items() if name != unit
    ]
    found: list[_Belongs] = passes.over("whose columns are", tasks)
    for one in found:
        require_constant(one.spec.name, one.where, one.varying, n_units)
        specs[one.spec.name] = one.spec
    missing = {unit: 0, **{one.spec.name: one.missing for one in found}}
    return replace(schema, columns=specs), missing


def _belongs(_: Scratch, stored: StoredUnits, spec: ColumnSpec, guessed: bool) -> _Belongs:
    """Return where a column belongs; what was guessed of a unit's is guessed again from units."""
    rows = stored.rows
    cells = stored.table.column(spec.name).frame[spec.name]
    varying, missing = int(np.count_nonzero(rows.varying(cells))), cells.null_count()
    del cells, rows
    where: Belonging = spec.belongs_to or ("row" if varying else "unit")
    found = replace(spec, belongs_to=where)
    if guessed and where == "unit":
        again = guess_column(stored.firsts(spec.name), spec.name)
        action = spec.action if spec.action in ("keep", "drop") else again.action
        found = replace(again, action=action, derive=spec.derive, belongs_to=where)
    return _Belongs(where, varying, found, missing)


def _of_units(
    passes: Passes, stored: StoredUnits, declared: Declared, schema: Schema
) -> tuple[dict[str, Column], StoredNumbers]:
    """Return the masked columns of units, and their numbers, as in memory."""
    of_unit = names_of_units(schema)
    if not any(schema.columns[name].action == "mask" for name in of_unit):
        return {}, StoredNumbers(passes.scratch, {})
    said = replace(declared, schema=part_of(schema, of_unit))
    table = table_of_units(stored, of_unit, passes.scratch)
    fitted = fit_in_blocks(passes, table, said, of_unit).fitted
    places = {name: ("numbers", of_unit.index(name)) for name in fitted}
    columns = {name: one.column for name, one in fitted.items()}
    return columns, StoredNumbers(passes.scratch, places)


def _write_times(
    scratch: Scratch,
    stored: StoredUnits,
    below: Scratch,
    schema: Schema,
    units: Mapping[str, Vector],
) -> _Timed:
    """Write times, those since each unit's start, its end, and what it has of their pattern.

    What is small is returned.
    """
    name, starts = schema.design.time, stored.starts
    cells = None if name is None else stored.column(name).frame[name]
    time, pattern, times = timed_rows(schema, cells, starts, units)
    _keep_pattern(scratch, below, pattern)
    if times is None or time is None:
        return _Timed(None, curve_of(None, starts, None))
    del cells
    scratch.write("times", 0, times)
    first = times[starts[:-1]]
    if time.bound is not None:
        below.write("ends", 0, units[time.bound] - first)
    elapsed = times - np.repeat(first, np.diff(starts))
    del times
    scratch.write("elapsed", 0, elapsed)
    return _Timed(time, curve_of(elapsed, starts, listed_times(pattern, elapsed)))
