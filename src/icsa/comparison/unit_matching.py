"""Two tables of people with several rows each, matched: a row a person, and the rows as such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from icsa.columns import kind_of
from icsa.comparison.column_pairs import ColumnPair
from icsa.comparison.features import Features, FeatureTable
from icsa.comparison.matching import Comparison, match_tables, own_cells
from icsa.comparison.trajectories import How, Summarised, Visits, summarised
from icsa.errors import InputError
from icsa.inspection.design_checks import checked_units
from icsa.inspection.overview import with_belonging
from icsa.inspection.unit_rows import UnitRows, rows_of_units
from icsa.matrices import Vector
from icsa.schema import Design, Schema
from icsa.tables import Table

__all__ = ["UnitComparison", "match_units"]

# Digits of a summary in tables of people that are shown.
_DIGITS = 6


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
    schema = _with_numeric_time(with_belonging(original, schema, guessed=False))
    for name in (design.unit, design.time):
        if name and name not in released.frame.columns:
            raise InputError(
                f"The release has no column {name!r}, which tells the rows of people apart. Give "
                "one that has it, or say --unit none (unit=False): every row is then a person."
            )
    first, belonging = checked_units(original, schema)
    by_row = match_tables(original, released, schema, leave_out=leave_out)
    features = by_row.features
    head = _head(original.frame, design, first)
    rows = tuple(
        _in_order(table.frame, design, _times(numbers, by_row, design), head)
        for table, numbers in ((original, features.original), (released, features.released))
    )
    if rows[1].n_units < 2:
        raise InputError(f"The release has {rows[1].n_units} unit(s), and at least 2 are needed.")
    people, wanted = _people_of(by_row, rows, belonging, design)
    frames = [
        _shown(people, which, part.frame, own)
        for which, part, own in zip((0, 1), (original, released), rows, strict=True)
    ]
    units = f"{rows[0].n_units:,} units of {design.unit!r} in {original.frame.height:,} rows"
    note = (
        f"Compared by {design.unit!r}: {units} of the original, {rows[1].n_units:,} in "
        f"{released.frame.height:,} of the release"
    )
    return UnitComparison(
        original=Table(frames[0]),
        released=Table(frames[1]),
        features=people,
        matched=tuple(frames[0].columns),
        only_original=by_row.only_original,
        only_released=by_row.only_released,
        notes=(note, *by_row.notes),
        as_they_are=_own(original, released, schema, rows),
        by_row=by_row,
        design=design,
        rows=(rows[0], rows[1]),
        belonging=belonging,
        summaries=wanted,
        head=head,
    )


def _people_of(
    by_row: Comparison,
    rows: Sequence[UnitRows],
    belonging: Mapping[str, str],
    design: Design,
) -> tuple[Features, tuple[Summarised, ...]]:
    """Return both tables with a row a unit, and what their columns are: those that vary."""
    features = by_row.features
    wanted = sorted(_wanted(by_row, belonging, design), key=lambda c: c.gives_codes)
    tables = [
        summarised(table, own.order, own.starts, tuple(wanted), _times(table, by_row, design))
        for table, own in zip((features.original, features.released), rows, strict=True)
    ]
    kept = [place for place, column in enumerate(_cells(tables[0])) if _varies(column)]
    if not kept:
        raise InputError("The two tables have no column in common by which people differ.")
    chosen = tuple(wanted[place] for place in kept)
    people = Features(
        _some_columns(tables[0], kept),
        _some_columns(tables[1], kept),
        tuple(_pair(column, by_row.columns, features.n_numbers) for column in chosen),
    )
    return people, chosen


def _with_numeric_time(schema: Schema) -> Schema:
    """Return the schema with a time that is a number, however few times there are."""
    time = schema.design.time
    if time is None or kind_of(schema.columns[time].kind).compared == "numbers":
        return schema
    spec = replace(schema.columns[time], kind="continuous", levels=())
    return replace(schema, columns={**schema.columns, time: spec})


def _in_order(
    frame: pl.DataFrame, design: Design, times: Vector | None, head: str | None
) -> UnitRows:
    """Return the rows of each unit: by time, the head of a household first."""
    rows = rows_of_units(frame[str(design.unit)])
    if times is not None:
        return rows.sorted_by(times)
    if head is None or design.role not in frame.columns:
        return rows
    others = frame[design.role].cast(pl.String).ne_missing(head)
    return rows.sorted_by(others.cast(pl.Float64).to_numpy())


def _times(table: FeatureTable, by_row: Comparison, design: Design) -> Vector | None:
    names = [column.name for column in by_row.columns[: by_row.features.n_numbers]]
    return table.numbers[names.index(design.time)] if design.time in names else None


def _head(frame: pl.DataFrame, design: Design, rows: UnitRows) -> str | None:
    """Return the role that stands in every unit exactly once, as a text."""
    if not design.role:
        return None
    roles = frame[design.role].cast(pl.String).gather(rows.order)
    for value in sorted(roles.unique().to_list()):
        if (np.bincount(rows.unit[(roles == value).to_numpy()], minlength=rows.n_units) == 1).all():
            return str(value)
    return None


def _wanted(
    by_row: Comparison, belonging: Mapping[str, str], design: Design
) -> Iterator[Summarised]:
    """Yield what people are compared by."""
    n = by_row.features.n_numbers
    for place, column in enumerate(by_row.columns):
        where = place if place < n else place - n
        codes = column.levels is not None
        if belonging[column.name] == "unit":
            yield Summarised(column.name, "", where, codes)
            continue
        if column.name == design.role and column.levels is not None:
            for level in range(len(column.levels)):
                yield Summarised(column.name, "level", where, codes, level)
            continue
        for how in _hows(column, design):
            if not (column.name == design.time and how == "slope"):
                yield Summarised(column.name, how, where, codes)
    yield Summarised("", "rows")


def _hows(column: ColumnPair, design: Design) -> Iterator[How]:
    if column.levels is None:
        yield "mean"
    else:
        yield "share" if len(column.levels) == 2 else "most frequent"
    if design.time:
        yield "last"
    if design.role:
        yield "head"
    if column.levels is None:
        yield "slope" if design.time else "spread"


def _cells(table: FeatureTable) -> Iterator[np.ndarray]:
    yield from table.numbers
    yield from table.codes


def _varies(column: np.ndarray) -> bool:
    known = column[column >= 0] if column.dtype.kind == "i" else column[~np.isnan(column)]
    return bool(known.size) and known.min() < known.max()


def _some_columns(table: FeatureTable, kept: Sequence[int]) -> FeatureTable:
    n = table.numbers.shape[0]
    return FeatureTable(
        np.ascontiguousarray(table.numbers[[p for p in kept if p < n]]),
        np.ascontiguousarray(table.codes[[p - n for p in kept if p >= n]]),
    )


def _pair(column: Summarised, columns: Sequence[ColumnPair], n_numbers: int) -> ColumnPair:
    """Return a column of people without its cells."""
    none = np.empty(0)
    if column.how in ("rows", "level"):
        return ColumnPair(column.name, none, none, grid=1.0, kind="integer")
    source = columns[column.place + n_numbers * column.codes]
    if column.how in ("mean", "slope", "spread", "share"):
        unit = source.unit if column.how == "mean" else ""
        return ColumnPair(column.name, none, none, kind="continuous", unit=unit)
    return replace(source, name=column.name, original=none, released=none, note="", encode=None)


def _shown(features: Features, which: int, frame: pl.DataFrame, rows: UnitRows) -> pl.DataFrame:
    """Return a table of people as it is shown: own columns as they were, others as numbers."""
    cells = {}
    for column in features.columns:
        values = (column.original, column.released)[which]
        if column.name in frame.columns:
            cells[column.name] = frame[column.name].gather(rows.firsts)
        elif column.levels is None:
            shown = pl.Series(values, nan_to_null=True).round_sig_figs(_DIGITS)
            cells[column.name] = shown
        else:
            levels = [str(level) for level in column.levels]
            known = pl.Series(levels, dtype=pl.String)
            places = pl.Series(values).replace(-1, None)
            cells[column.name] = known.gather(places)
    return pl.DataFrame(cells)


def _own(
    original: Table, released: Table, schema: Schema, rows: Sequence[UnitRows]
) -> dict[str, int]:
    """Return, for what names people or is text, in how many released units an own value stands."""
    found = {}
    for name, spec in schema.columns.items():
        compared = kind_of(spec.kind).compared != "no" and spec.action != "drop"
        if compared or name not in released.frame.columns:
            continue
        first, second = original.frame[name], released.frame[name]
        if spec.belongs_to == "row":
            own = own_cells(first, second).gather(rows[1].order).to_numpy()
            found[name] = int(np.count_nonzero(rows[1].any(own)))
        else:
            parts = (first.gather(rows[0].firsts), second.gather(rows[1].firsts))
            found[name] = int(own_cells(*parts).sum())
    return {name: count for name, count in found.items() if count}
