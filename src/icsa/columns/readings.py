"""Cells of two tables in one type, whatever each file stored them as.

A release by another tool has its numbers as text, its dates as datetimes, its whole numbers as
floats. A *reading* turns cells of any type into one type, or says that it cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import polars as pl

__all__ = [
    "Reading",
    "as_dates",
    "as_datetimes",
    "as_durations",
    "as_numbers",
    "as_text",
    "as_times",
]

Reading: TypeAlias = Callable[[pl.Series], pl.Series | None]

_TEXTS = (pl.String, pl.Categorical, pl.Enum)


def as_numbers(cells: pl.Series) -> pl.Series | None:
    """Return the cells as floats; None where a cell is no number.

    Examples
    --------
    >>> as_numbers(pl.Series(["1.5", " 2", None])).to_list()
    [1.5, 2.0, None]
    >>> as_numbers(pl.Series(["1.5", "two"])) is None
    True
    """
    if cells.dtype.is_numeric() or cells.dtype in (pl.Boolean, pl.Null):
        return cells.cast(pl.Float64).fill_nan(None)
    if cells.dtype not in _TEXTS:
        return None
    text = cells.cast(pl.String).str.strip_chars()
    there = text.set(text == "", None)
    found = there.cast(pl.Float64, strict=False)
    return _unless_lost(there, found.fill_nan(None))


def as_text(cells: pl.Series) -> pl.Series | None:
    """Return the cells as text; None for lists, records and the like.

    Examples
    --------
    >>> as_text(pl.Series([1.0, 2.5])).to_list(), as_text(pl.Series([True])).to_list()
    (['1', '2.5'], ['true'])
    """
    if cells.dtype.is_nested() or cells.dtype in (pl.Object, pl.Binary):
        return None
    if cells.dtype.is_float() and (cells.drop_nulls() % 1 == 0).all():
        cells = cells.cast(pl.Int64, strict=False)  # 1 and not 1.0, as another file may have it
    text = cells.cast(pl.String)
    if cells.dtype.is_float():
        text = text.str.strip_suffix(".0")
    return text


def as_dates(cells: pl.Series) -> pl.Series | None:
    """Return the cells as dates; None where a cell is none."""
    if cells.dtype in (pl.Date, pl.Null):
        return cells.cast(pl.Date)
    if cells.dtype == pl.Datetime:
        return cells.dt.replace_time_zone(None).dt.date()
    if cells.dtype not in _TEXTS:
        return None
    text = cells.cast(pl.String).str.strip_chars()
    found = _parsed(text, pl.Date)
    if found is None:  # dates written with the hour
        moments = _parsed(text, pl.Datetime("us"))
        found = None if moments is None else moments.dt.date()
    return found


def as_datetimes(cells: pl.Series) -> pl.Series | None:
    """Return the cells as datetimes without a time zone; None where a cell is none."""
    if cells.dtype in (pl.Date, pl.Null):
        return cells.cast(pl.Datetime("us"))
    if cells.dtype == pl.Datetime:
        return cells.dt.replace_time_zone(None).dt.cast_time_unit("us")
    if cells.dtype not in _TEXTS:
        return None
    text = cells.cast(pl.String).str.strip_chars()
    found = _parsed(text, pl.Datetime("us"))
    if found is None:
        days = _parsed(text, pl.Date)
        found = None if days is None else days.cast(pl.Datetime("us"))
    return found


def as_durations(cells: pl.Series) -> pl.Series | None:
    """Return the cells as lengths of time; None where they are of another type."""
    return cells.cast(pl.Duration("us")) if cells.dtype in (pl.Duration, pl.Null) else None


def as_times(cells: pl.Series) -> pl.Series | None:
    """Return the cells as times of day; None where a cell is none."""
    if cells.dtype in (pl.Time, pl.Null):
        return cells.cast(pl.Time)
    if cells.dtype not in _TEXTS:
        return None
    return _parsed(cells.cast(pl.String).str.strip_chars(), pl.Time())


def _parsed(text: pl.Series, dtype: pl.DataType | type[pl.Date]) -> pl.Series | None:
    try:
        found = text.str.strptime(dtype, strict=False)  # type: ignore[arg-type]
    except pl.exceptions.PolarsError:  # no pattern fits even the first cell
        return None
    return _unless_lost(text.set(text == "", None), found)


def _unless_lost(before: pl.Series, after: pl.Series) -> pl.Series | None:
    """Return what was read, or None if a cell that was there is gone."""
    return after if after.null_count() == before.null_count() else None
