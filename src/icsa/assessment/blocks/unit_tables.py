"""Whose rows are whose in two tables in files, and the columns of a table with a row a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.assessment.blocks.coding_columns import Coded
from icsa.assessment.blocks.exact_people import SIDES
from icsa.assessment.blocks.filed_columns import InFile
from icsa.columns.declared import Belonging, ColumnSpec
from icsa.comparison.column_pairs import Cells, ColumnPair
from icsa.comparison.features import FeatureTable
from icsa.comparison.trajectories import Summarised, summarised
from icsa.comparison.unit_columns import head_of, in_order, own_in_units, pair_of, varies
from icsa.comparison.unit_matching import UnitSizes
from icsa.inspection.design_checks import checked_units, require_sense, require_weight
from icsa.inspection.overview import guess_column
from icsa.inspection.unit_rows import Places, UnitRows, rows_of_units
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.schema import Design, Schema
from icsa.tables.stored import StoredTable

__all__ = [
    "FiledUnits",
    "FoundUnits",
    "find_original_units",
    "find_released_units",
    "guessed_column",
    "order_rows",
    "own_values_of_units",
    "summarise_columns",
]


@dataclass(frozen=True)
class FiledUnits:
    """Which rows are whose in both tables: kept in scratch, where the original's are at place 0.

    Attributes
    ----------
    scratches : (Scratch, Scratch)
        With as many rows as the tables.
    """

    scratches: tuple[Scratch, Scratch]

    def rows(self, side: int) -> UnitRows:
        """Return the rows of each unit of one table."""
        scratch = self.scratches[side]
        starts = np.fromfile(scratch.path("starts", side), dtype=np.int64)
        return UnitRows(scratch.column("order", side, np.int64), starts)

    def write(self, side: int, rows: UnitRows) -> None:
        """Keep the rows of each unit of one table."""
        self.scratches[side].write("order", side, rows.order)
        self.scratches[side].write("starts", side, rows.starts)

    def units_of(self, rows: Places) -> Places:
        """Return the units that some of the original's rows belong to."""
        own = self.rows(0)
        unit = np.empty(own.order.size, dtype=np.int64)
        unit[own.order] = own.unit
        return np.unique(unit[rows])


class FoundUnits(NamedTuple):
    """How many units a table has, and the role that stands in every one exactly once."""

    sizes: UnitSizes
    head: str | None = None


def find_original_units(
    _: Scratch,
    units: FiledUnits,
    table: StoredTable,
    said: Mapping[str, ColumnSpec],
    design: Design,
) -> FoundUnits:
    """Keep whose the original's rows are, after all checks of the columns that say it."""
    assert design.unit
    parts = {name: table.column(name) for name in design.columns.values()}
    specs = {name: said.get(name) or guess_column(part, name) for name, part in parts.items()}
    frame = pl.DataFrame([part.frame[name] for name, part in parts.items()])
    named, schema = table.without_rows().with_frame(frame), Schema(columns=specs, design=design)
    require_sense(schema)
    rows, _belonging = checked_units(named, schema)
    if design.weight:
        require_weight(named, schema)
    head = head_of(frame[design.role] if design.role else None, rows)
    units.write(0, rows_of_units(frame[design.unit]))
    return FoundUnits(UnitSizes.of(rows), head)


def find_released_units(_: Scratch, units: FiledUnits, table: StoredTable, name: str) -> FoundUnits:
    """Keep whose the release's rows are."""
    rows = rows_of_units(table.column(name).frame[name])
    units.write(1, rows)
    return FoundUnits(UnitSizes.of(rows))


def guessed_column(_: Scratch, table: StoredTable, name: str) -> ColumnSpec:
    """Return what a column seems to be."""
    return guess_column(table.column(name), name)


def order_rows(
    _: Scratch,
    units: FiledUnits,
    side: int,
    times: InFile | None,
    table: StoredTable,
    role: str | None,
    head: str | None,
) -> None:
    """Put the rows of each unit into their order: by time, the head of a household first.

    Parameters
    ----------
    units : FiledUnits
    side : int
        0 for the original, 1 for the release.
    times : InFile, optional
        The time as a number, where both tables have one.
    table : StoredTable
    role, head : str, optional
    """
    known = None if times is None else times.read(slice(None))
    wanted = known is None and head is not None and role in table.names
    roles = table.column(str(role)).frame[str(role)] if wanted else None
    units.write(side, in_order(units.rows(side), known, roles, head))


def own_values_of_units(
    _: Scratch,
    units: FiledUnits,
    tables: tuple[StoredTable, StoredTable],
    name: str,
    where: Belonging | None,
) -> int:
    """Return in how many released units an own value of a column stands that is not compared."""
    first, second = (table.column(name).frame[name] for table in tables)
    return own_in_units(first, second, (units.rows(0), units.rows(1)), where)


def summarise_columns(
    passes: Passes,
    units: FiledUnits,
    tables: tuple[FeatureTable, FeatureTable],
    columns: Sequence[ColumnPair],
    wanted: Sequence[Summarised],
    time: int | None,
    targets: tuple[Scratch, Scratch],
) -> list[Coded]:
    """Return what people are compared by, with a number or code for each of them in scratch.

    Parameters
    ----------
    passes : Passes
    units : FiledUnits
    tables : (FeatureTable, FeatureTable)
        Of rows, in files.
    columns : sequence of ColumnPair
        Their columns.
    wanted : sequence of Summarised
        Their numbers in this order are the places of columns in `targets`.
    time : int, optional
        Where the time is among the numbers.
    targets : (Scratch, Scratch)
        With as many rows as there are units.

    Returns
    -------
    list of Coded
        In the order of `wanted`; without a pair where people do not differ.
    """
    numbered = sorted(enumerate(wanted), key=lambda item: (item[1].codes, item[1].place))
    parts = [
        tuple(part)
        for _, part in groupby(numbered, key=lambda item: (item[1].codes, item[1].place))
    ]
    found = passes.over(
        "rows to people",
        [Task(_summarise, (units, tables, part, time, targets)) for part in parts],
    )
    told = {place: one for part in found for place, one in part.items()}
    return [
        Coded(
            column.name,
            pair=pair_of(column, columns) if told[place].differ else None,
            varies=told[place].varies,
            has_gaps=told[place].has_gaps,
        )
        for place, column in enumerate(wanted)
    ]


class _Told(NamedTuple):
    """Of a column of people: whether they differ, whether cells do, missing ones too, and gaps."""

    differ: bool
    varies: bool
    has_gaps: bool


def _summarise(
    _: Scratch,
    units: FiledUnits,
    tables: tuple[FeatureTable, FeatureTable],
    columns: tuple[tuple[int, Summarised], ...],
    time: int | None,
    targets: tuple[Scratch, Scratch],
) -> dict[int, _Told]:
    """Write what units have of one column of rows."""
    found: dict[int, _Told] = {}
    for side, (table, target) in enumerate(zip(tables, targets, strict=True)):
        rows = units.rows(side)
        alone = _in_order(table, columns[0][1], rows.order)
        sloping = any(column.how == "slope" for _, column in columns)
        times = table.numbers[time][rows.order] if sloping else None
        within = np.arange(rows.order.size)
        for place, column in columns:
            one = summarised(alone, within, rows.starts, (replace(column, place=0),), times)
            cells: Cells = one.codes[0] if column.gives_codes else one.numbers[0]
            target.write(SIDES[side], place, cells)
            gaps = bool((cells < 0).any()) if column.gives_codes else False
            if side == 0:
                found[place] = _Told(varies(cells), bool((cells != cells[0]).any()), gaps)
            else:
                found[place] = found[place]._replace(has_gaps=found[place].has_gaps or gaps)
    return found


def _in_order(table: FeatureTable, column: Summarised, order: Places) -> FeatureTable:
    """Return one column of rows, those of a unit together."""
    n = order.size
    numbers, codes = np.empty((0, n)), np.empty((0, n), dtype=np.int32)
    if column.how == "rows":
        return FeatureTable(numbers, codes)
    if column.codes:
        return FeatureTable(numbers, table.codes[column.place][order][None, :])
    return FeatureTable(table.numbers[column.place][order][None, :], codes)
