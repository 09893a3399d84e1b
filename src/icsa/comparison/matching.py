"""Two tables matched by the names of their columns, ready to be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy.special import bdtrc

from icsa.columns import ColumnSpec, kind_of
from icsa.columns.readings import as_text
from icsa.comparison.coding import code_column
from icsa.comparison.column_pairs import Cells, ColumnPair
from icsa.comparison.features import Features, FeatureTable
from icsa.comparison.spelling import respelled_cells
from icsa.errors import InputError
from icsa.schema import Schema
from icsa.tables import Table

__all__ = [
    "Comparison",
    "as_number",
    "differences",
    "has_other_levels",
    "match_tables",
    "names_left_out",
    "own_cells",
    "own_values",
    "require_columns",
    "with_number",
]

_MOST_NAMES = 12
# Where so few rows have a value of their own, it names groups: values in common that fresh people
# would have with a larger probability are nobody's own.
_ALONE, _BY_CHANCE = 0.35, 0.001


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison:
    """An original and a release, column by column. It holds both tables: for internal use.

    Attributes
    ----------
    original, released : Table
    features : Features
        Those columns that can be compared, numbers before codes, each in the original's order.
    matched, only_original, only_released : tuple of str
        Names of columns.
    notes : tuple of str
        What is different about the tables, and what was left out; no cell.
    as_they_are : mapping of str to int
        Identifiers, texts and columns to be dropped that the release has with the original's own
        values: in how many released rows stands a value that only one original row has.
    not_compared : tuple of str
        Columns that hold something else in the release: text instead of numbers, or levels of which
        the original has none.
    """

    original: Table
    released: Table
    features: Features
    matched: tuple[str, ...]
    only_original: tuple[str, ...]
    only_released: tuple[str, ...]
    notes: tuple[str, ...]
    as_they_are: Mapping[str, int]
    not_compared: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[ColumnPair, ...]:
        """The columns of the features."""
        return self.features.columns

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that another table must have to be encoded."""
        return tuple(column.name for column in self.columns)

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Rows and columns of the original and of the release, as they are in their files."""
        return self.files.original.frame.shape, self.files.released.frame.shape

    @property
    def n_released(self) -> int:
        """Released rows, or units."""
        return self.released.frame.height

    def rows_of_sample(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Return row numbers of the original, from those of the rows that are in memory."""
        return tuple(rows)

    def cells_of(self, row: int, released_row: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the cells of a person and of a released row, in the columns compared."""
        names = {column.name for column in self.columns}
        order = [name for name in self.original.frame.columns if name in names]
        return (
            self.original.frame.select(order).row(row, named=True),
            self.released.frame.select(order).row(released_row, named=True),
        )

    @property
    def files(self) -> Comparison:
        """The tables as they were given, row by row."""
        return self

    def encode(self, frame: pl.DataFrame) -> FeatureTable:
        """Return another release of the same original as the privacy measures see it."""
        values: list[Cells] = []
        for column in self.columns:
            assert column.encode is not None
            values.append(column.encode(frame[column.name]))
        return FeatureTable.consuming(values, self.features.n_numbers, frame.height)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Comparison of {len(self.columns)} columns>"


def match_tables(
    original: Table, released: Table, schema: Schema, *, leave_out: Sequence[str] = ()
) -> Comparison:
    """Return two tables matched by name, with notes on everything that is different.

    Identifiers, free text, constant columns and columns to be dropped are not compared. Where the
    release has them, it is counted how many of its cells are an original's own. Two tables may have
    nothing in common: see `require_columns`.

    Parameters
    ----------
    original, released : Table
    schema : Schema
        Of the original.
    leave_out : sequence of str
        Columns that are not to be compared, such as one that marks outliers.

    Examples
    --------
    >>> from icsa.inspection import guess_schema
    >>> original = Table(pl.DataFrame({"kg": [60.5, 71.5, 66.0], "x": [1.25, 2.5, 0.1]}))
    >>> released = Table(pl.DataFrame({"y": [0, 1], "kg": ["60.0", "70.5"]}))
    >>> found = match_tables(original, released, guess_schema(original))
    >>> found.matched, found.only_original, found.only_released
    (('kg',), ('x',), ('y',))
    """
    first, second = original.frame.columns, released.frame.columns
    matched = [name for name in first if name in second]
    _require_rows(original, released)
    coded: list[ColumnPair] = []
    unlike: list[str] = []
    sizes = original.frame.height, released.frame.height
    notes = differences(first, second, *sizes)
    as_they_are: dict[str, int] = {}
    for name in matched:
        spec = schema.columns[name].in_file(original)
        cells = original.frame[name], released.frame[name]
        if name in leave_out:
            notes.append(f"{name!r} marks outliers and is not compared.")
        elif kind_of(spec.kind).compared == "no" or spec.action == "drop":
            as_they_are[name] = own_values(*cells)
        elif kind_of(spec.kind).most_values == 1 or cells[0].drop_nulls().n_unique() < 2:
            if cells[1].drop_nulls().n_unique() > 1:
                notes.append(f"{name!r}: one value in the original, several in the release.")
        else:
            found = code_column(*cells, spec)
            if isinstance(found, str):
                notes.append(found)
                unlike.append(name)
                continue
            if has_other_levels(found):
                unlike.append(name)
            coded.append(found)
            if found.note:
                notes.append(found.note)
    if as_they_are:
        notes.append(names_left_out(as_they_are))
    return Comparison(
        original=original,
        released=released,
        features=Features.consuming(coded),
        matched=tuple(matched),
        only_original=tuple(name for name in first if name not in second),
        only_released=tuple(name for name in second if name not in first),
        notes=tuple(notes),
        as_they_are={name: count for name, count in as_they_are.items() if count},
        not_compared=tuple(unlike),
    )


def require_columns(comparison: Comparison) -> None:
    """Refuse two tables that have no column in common that can be compared.

    Examples
    --------
    >>> from icsa.inspection import guess_schema
    >>> one, two = (Table(pl.DataFrame({name: [1.5, 2.5, 4.0]})) for name in ("kg", "price"))
    >>> require_columns(match_tables(one, two, guess_schema(one)))
    Traceback (most recent call last):
        ...
    icsa.errors.InputError: The two tables have no column in common that can be compared: the \
original has 'kg'; the release has 'price'. Columns are matched by name.
    """
    if comparison.columns:
        return
    first, second = comparison.original.frame.columns, comparison.released.frame.columns
    raise InputError(
        "The two tables have no column in common that can be compared: the original has "
        f"{_listed(first)}; the release has {_listed(second)}. Columns are matched by name."
    )


def as_number(spec: ColumnSpec) -> ColumnSpec:
    """Return what a column is, if it is to be a number, however few values it has.

    Of times and weights a release has others, which would be levels that the original has not.
    """
    if kind_of(spec.kind).compared == "numbers":
        return spec
    return replace(spec, kind="continuous", levels=())


def with_number(schema: Schema, name: str | None) -> Schema:
    """Return a schema in which a column is a number, as `as_number` makes it one."""
    if name is None:
        return schema
    return replace(schema, columns={**schema.columns, name: as_number(schema.columns[name])})


def has_other_levels(column: ColumnPair) -> bool:
    """Return whether a release has levels, but none that the original has."""
    if column.levels is None:
        return False
    there = column.released[column.released >= 0]
    return there.size > 0 and not np.isin(there, column.original).any()


def own_values(original: pl.Series, released: pl.Series) -> int:
    """Return in how many released cells stands a value that only one original row has.

    Running numbers in the order of the released rows say nothing about anyone and do not count:
    rows 1, 2, 3 of a release are called so whatever the original's were called. How a name is
    spelled does not matter (`icsa.comparison.spelling`). Names of groups that fresh people would
    have as often, judged by those that two original rows have, are nobody's own either: the
    smallest of some towns is somebody's alone in one sample, and somebody else's in another.

    Examples
    --------
    >>> own_values(pl.Series(["ab", "cd", "ef", "ef"]), pl.Series(["cd", "ef", "zz"]))
    1
    >>> own_values(pl.Series([2, 1, 3]), pl.Series([1, 2, 3]))
    0
    """
    return int(own_cells(original, released).sum())


def own_cells(original: pl.Series, released: pl.Series) -> pl.Series:
    """Return which released cells hold a value that only one original row has; see `own_values`."""
    first, second = as_text(original), as_text(released)
    none = pl.repeat(False, released.len(), dtype=pl.Boolean, eager=True)
    if first is None or second is None:
        return none
    # The same numbers in the same places are the original's own.
    if _is_running(second) and not first.head(second.len()).equals(second):
        return none
    counts = first.drop_nulls().rename("value").value_counts(name="count")
    single = counts.filter(pl.col("count") == 1)["value"]
    found = second.is_in(single.implode()).fill_null(value=False)
    names_groups = single.len() <= _ALONE * first.len()
    if names_groups:
        return none if _by_chance(counts["count"], second.filter(found)) else found
    return found | respelled_cells(first, second)


def _by_chance(counts: pl.Series, matched: pl.Series) -> bool:
    """Return whether fresh people would have as many values of one original row.

    As for rows that are equal: a value of one row is there at most twice as often as one that two
    rows have might have been one's alone.
    """
    n, doubles = matched.n_unique(), int((counts == 2).sum())
    return n == 0 or float(bdtrc(n - 1, n + doubles, 2 / 3)) > _BY_CHANCE


def _is_running(text: pl.Series) -> bool:
    if text.null_count() or text.len() < 2:
        return False
    number = text.str.extract(r"(\d{1,18})$").cast(pl.Int64, strict=False)
    same = text.str.replace(r"\d{1,18}$", "").n_unique() == 1
    return same and not number.null_count() and bool((number.diff().drop_nulls() == 1).all())


def _require_rows(original: Table, released: Table) -> None:
    for table, which in ((original, "original"), (released, "release")):
        if table.frame.height < 2:
            raise InputError(
                f"The {which} has {table.frame.height} rows, and at least 2 are needed."
            )


def differences(
    first: Sequence[str], second: Sequence[str], n_rows: int, n_released: int
) -> list[str]:
    """Return what is different about two tables, from the names of their columns and their rows.

    Examples
    --------
    >>> differences(["age", "kg"], ["kg"], 10, 9)
    ['The original has 10 rows, the release 9.', "Only in the original: 'age'."]
    """
    notes = []
    if n_rows != n_released:
        notes.append(f"The original has {n_rows} rows, the release {n_released}.")
    missing = [name for name in first if name not in second]
    extra = [name for name in second if name not in first]
    if missing:
        notes.append(f"Only in the original: {_listed(missing)}.")
    if extra:
        notes.append(f"Only in the release, and not assessed: {_listed(extra)}.")
    if [name for name in second if name in first] != [name for name in first if name in second]:
        notes.append("The release has its columns in another order.")
    return notes


def names_left_out(names: Sequence[str] | Mapping[str, int]) -> str:
    """Return that columns were not compared because of what they are."""
    return f"Not compared, because they name people or are text: {_listed(names)}."


def _listed(names: Sequence[str] | Mapping[str, int]) -> str:
    shown = [repr(name) for name in list(names)[:_MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
