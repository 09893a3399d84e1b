"""Two tables of people with several rows each, matched: a row a person, and the rows as such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.columns import kind_of
from icsa.comparison.column_pairs import ColumnPair
from icsa.comparison.features import Features, FeatureTable
from icsa.comparison.matching import Comparison, match_tables, with_number
from icsa.comparison.trajectories import Summarised, Visits, summarised
from icsa.comparison.unit_columns import (
    head_of,
    in_order,
    own_in_units,
    pair_of,
    require_differing,
    require_names_of_units,
    require_two_units,
    shown_units,
    varies,
    wanted_of_units,
)
from icsa.inspection.design_checks import checked_units
from icsa.inspection.overview import with_belonging
from icsa.inspection.unit_rows import UnitRows, rows_of_units
from icsa.matrices import Vector
from icsa.schema import Design, Schema
from icsa.tables import Table

__all__ = ["UnitComparison", "UnitSizes", "compared_by", "compared_by_unit", "match_units"]


class UnitSizes(NamedTuple):
    """How many units and rows a table has, and how many rows the largest unit."""

    units: int
    rows: int
    largest: int

    @classmethod
    def of(cls, rows: UnitRows) -> UnitSizes:
        """Return the sizes of a table."""
        return cls(rows.n_units, int(rows.starts[-1]), int(rows.sizes.max()))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class UnitComparison(Comparison):
    """An original and a release with a row a unit, made of tables with several. For internal use.

    What compares people reads it as any other comparison. `encode` takes a table of rows.

    Attributes
    ----------
    by_row : Comparison
        The tables as they were given.
    design : Design
    rows : pair of UnitRows
        Which rows are whose, in the original and in the release.
    belonging : mapping of str to str
        Whether columns belong to units or to rows.
    summaries : tuple of Summarised
        What the columns of `features` are, in their order.
    head : str, optional
        The role that stands in every unit exactly once.
    """

    by_row: Comparison
    design: Design
    rows: tuple[UnitRows, UnitRows]
    belonging: Mapping[str, str]
    summaries: tuple[Summarised, ...]
    head: str | None = None

    @property
    def files(self) -> Comparison:
        """The tables as they were given, row by row."""
        return self.by_row

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that another table must have to be encoded."""
        return str(self.design.unit), *self.by_row.needed

    @property
    def sizes(self) -> tuple[UnitSizes, UnitSizes]:
        """How large both tables are, as they were given."""
        first, second = self.rows
        return UnitSizes.of(first), UnitSizes.of(second)

    @property
    def people_columns(self) -> tuple[Summarised, ...]:
        """What people who stand out are compared by."""
        return self.summaries

    def first_rows(self, units: Sequence[int]) -> tuple[int, ...]:
        """Return the original's first row of some units."""
        return tuple(self.rows[0].firsts[list(units)].tolist())

    @property
    def rows_are_people(self) -> bool:
        """Whether rows are people themselves, as pupils of schools and members of households."""
        return self.design.time is None

    def encode(self, frame: pl.DataFrame) -> FeatureTable:
        """Return another table, of rows, as the privacy measures see its people."""
        table, rows = self._encoded(frame)
        return self._people(table, rows)

    def visits(self, frame: pl.DataFrame) -> Visits:
        """Return the rows of another table by unit."""
        return self._visits(*self._encoded(frame))

    @property
    def both_visits(self) -> tuple[Visits, Visits]:
        """The rows of the original and of the release by unit."""
        features = self.by_row.features
        first, second = self.rows
        return self._visits(features.original, first), self._visits(features.released, second)

    def rows_of(self, units: np.ndarray) -> np.ndarray:
        """Return the original's rows of some units."""
        order, starts = self.rows[0].order, self.rows[0].starts
        parts = [order[starts[unit] : starts[unit + 1]] for unit in units.tolist()]
        return np.sort(np.concatenate(parts)) if parts else order[:0]

    def units_of(self, rows: np.ndarray) -> np.ndarray:
        """Return the units that some of the original's rows belong to."""
        unit = np.empty(self.rows[0].order.size, dtype=np.int64)
        unit[self.rows[0].order] = self.rows[0].unit
        return np.unique(unit[rows])

    def _encoded(self, frame: pl.DataFrame) -> tuple[FeatureTable, UnitRows]:
        table = self.by_row.encode(frame)
        times = _times(table, self.by_row, self.design)
        return table, _in_order(frame, self.design, times, self.head)

    def _people(self, table: FeatureTable, rows: UnitRows) -> FeatureTable:
        times = _times(table, self.by_row, self.design)
        return summarised(table, rows.order, rows.starts, self.summaries, times)

    @property
    def visit_features(self) -> Features:
        """The columns of rows in both tables, the time among them, rows of a unit together."""
        features, columns = self.by_row.features, self.by_row.columns
        kept = [p for p, column in enumerate(columns) if self.belonging[column.name] == "row"]
        tables = [
            _some_columns(table, kept).rows(own.order)
            for table, own in zip((features.original, features.released), self.rows, strict=True)
        ]
        none = np.empty(0)
        bare = (replace(columns[p], original=none, released=none) for p in kept)
        return Features(tables[0], tables[1], tuple(bare))

    def _visits(self, table: FeatureTable, rows: UnitRows) -> Visits:
        numbers, codes = self._places
        some = FeatureTable(table.numbers[numbers], table.codes[codes]).rows(rows.order)
        times = _times(table, self.by_row, self.design)
        return Visits(some, None if times is None else times[rows.order], rows.starts)

    @property
    def _places(self) -> tuple[list[int], list[int]]:
        """Where the columns of rows are among numbers and codes, the time left out."""
        n = self.by_row.features.n_numbers
        of_row = [
            place
            for place, column in enumerate(self.by_row.columns)
            if self.belonging[column.name] == "row" and column.name != self.design.time
        ]
        return [p for p in of_row if p < n], [p - n for p in of_row if p >= n]

    @property
    def visit_columns(self) -> tuple[ColumnPair, ...]:
        """The columns of `visits`, in their order."""
        numbers, codes = self._places
        n, columns = self.by_row.features.n_numbers, self.by_row.columns
        return (*(columns[p] for p in numbers), *(columns[n + p] for p in codes))

    def __repr__(self) -> str:
        """Show sizes only."""
        first, second = self.rows
        return f"<UnitComparison: {first.n_units} and {second.n_units} units>"


def match_units(
    original: Table, released: Table, schema: Schema, *, leave_out: Sequence[str] = ()
) -> UnitComparison:
    """Return two tables of people with several rows, matched by name, with a row a unit.

    A unit has its own columns, and of each column of its rows: mean, last and slope over time;
    without a time mean and spread, and in households the head's. Of a category the most frequent
    and the last level, of two levels a share. And the number of its rows.

    Parameters
    ----------
    original, released : Table
    schema : Schema
        Of the original; its design names the unit.
    leave_out : sequence of str
        Columns that are not to be compared.

    Examples
    --------
    >>> from icsa.inspection import guess_schema
    >>> from icsa.schema import with_design
    >>> frame = pl.DataFrame({
    ...     "id": [n // 2 for n in range(80)],
    ...     "day": [n % 2 * 30 for n in range(80)],
    ...     "kg": [60.5 + (n * 37) % 41 for n in range(80)],
    ... })
    >>> table = Table(frame)
    >>> schema = with_design(guess_schema(table), unit="id", time="day")
    >>> found = match_units(table, table, schema)
    >>> found, [column.name for column in found.columns]
    (<UnitComparison: 40 and 40 units>, ['kg (mean)', 'kg (last)', 'kg (slope)'])
    """
    design = schema.design
    assert design.unit
    schema = with_number(with_belonging(original, schema, guessed=False), design.time)
    require_names_of_units(released.frame.columns, design)
    first, belonging = checked_units(original, schema)
    by_row = match_tables(original, released, schema, leave_out=leave_out)
    roles = original.frame[design.role] if design.role else None
    return compared_by_unit(by_row, schema, belonging, head_of(roles, first))


def compared_by_unit(
    by_row: Comparison, schema: Schema, belonging: Mapping[str, str], head: str | None
) -> UnitComparison:
    """Return matched tables of people with several rows as tables with a row a unit.

    Parameters
    ----------
    by_row : Comparison
    schema : Schema
        Which says of every column where it belongs.
    belonging : mapping of str to str
        The same, of the unit too.
    head : str, optional
        The role that stands in every unit exactly once.
    """
    design, tables = schema.design, (by_row.original, by_row.released)
    numbers = by_row.features.original, by_row.features.released
    rows = tuple(
        _in_order(table.frame, design, _times(own, by_row, design), head)
        for table, own in zip(tables, numbers, strict=True)
    )
    require_two_units(rows[1].n_units)
    people, wanted = _people_of(by_row, rows, belonging, design)
    frames = [
        _shown(people, which, table.frame, own)
        for which, table, own in zip((0, 1), tables, rows, strict=True)
    ]
    sizes = [UnitSizes.of(own) for own in rows]
    return UnitComparison(
        original=Table(frames[0]),
        released=Table(frames[1]),
        features=people,
        matched=tuple(frames[0].columns),
        only_original=by_row.only_original,
        only_released=by_row.only_released,
        notes=(compared_by(design, sizes[0], sizes[1]), *by_row.notes),
        as_they_are=_own(*tables, schema, rows),
        by_row=by_row,
        design=design,
        rows=(rows[0], rows[1]),
        belonging=belonging,
        summaries=wanted,
        head=head,
    )


def compared_by(design: Design, original: UnitSizes, released: UnitSizes) -> str:
    """Return the note that says how many units there are."""
    return (
        f"Compared by {design.unit!r}: {original.units:,} units of {design.unit!r} in "
        f"{original.rows:,} rows of the original, {released.units:,} in {released.rows:,} of the "
        "release"
    )


def _people_of(
    by_row: Comparison,
    rows: Sequence[UnitRows],
    belonging: Mapping[str, str],
    design: Design,
) -> tuple[Features, tuple[Summarised, ...]]:
    """Return both tables with a row a unit, and what their columns are: those that vary."""
    features = by_row.features
    wanted = wanted_of_units(by_row.columns, belonging, design)
    tables = [
        summarised(table, own.order, own.starts, wanted, _times(table, by_row, design))
        for table, own in zip((features.original, features.released), rows, strict=True)
    ]
    kept = [place for place, column in enumerate(_cells(tables[0])) if varies(column)]
    require_differing(kept)
    chosen = tuple(wanted[place] for place in kept)
    people = Features(
        _some_columns(tables[0], kept),
        _some_columns(tables[1], kept),
        tuple(pair_of(column, by_row.columns) for column in chosen),
    )
    return people, chosen


def _in_order(
    frame: pl.DataFrame, design: Design, times: Vector | None, head: str | None
) -> UnitRows:
    rows = rows_of_units(frame[str(design.unit)])
    return in_order(rows, times, frame[design.role] if design.role in frame.columns else None, head)


def _times(table: FeatureTable, by_row: Comparison, design: Design) -> Vector | None:
    names = [column.name for column in by_row.columns[: by_row.features.n_numbers]]
    return table.numbers[names.index(design.time)] if design.time in names else None


def _cells(table: FeatureTable) -> Iterator[np.ndarray]:
    yield from table.numbers
    yield from table.codes


def _some_columns(table: FeatureTable, kept: Sequence[int]) -> FeatureTable:
    n = table.numbers.shape[0]
    return FeatureTable(
        np.ascontiguousarray(table.numbers[[p for p in kept if p < n]]),
        np.ascontiguousarray(table.codes[[p - n for p in kept if p >= n]]),
    )


def _shown(features: Features, which: int, frame: pl.DataFrame, rows: UnitRows) -> pl.DataFrame:
    names = [name for name in features.names if name in frame.columns]
    own = {name: frame[name].gather(rows.firsts) for name in names}
    return shown_units(features.columns, which, own)


def _own(
    original: Table, released: Table, schema: Schema, rows: Sequence[UnitRows]
) -> dict[str, int]:
    """Return, for what names people or is text, in how many released units an own value stands."""
    found = {}
    for name, spec in schema.columns.items():
        compared = kind_of(spec.kind).compared != "no" and spec.action != "drop"
        if compared or name not in released.frame.columns:
            continue
        cells = original.frame[name], released.frame[name]
        found[name] = own_in_units(*cells, rows, spec.belongs_to)
    return {name: count for name, count in found.items() if count}
