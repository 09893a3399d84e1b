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
    text = _stripped(cells)
    found = text.cast(pl.Float64, strict=False).fill_nan(None)
    return found if found.null_count() == text.null_count() else None


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
    """Return the cells as dates, also where they have the hour; None where a cell is none."""
    if cells.dtype == pl.Datetime:
        return cells.dt.replace_time_zone(None).dt.date()
    there = cells.dtype in (pl.Date, pl.Null)
    found = cells if there else _parsed(cells, pl.Date(), pl.Datetime("us"))
    return None if found is None else found.cast(pl.Date)


def as_datetimes(cells: pl.Series) -> pl.Series | None:
    """Return the cells as datetimes without a time zone; None where a cell is none."""
    if cells.dtype == pl.Datetime:
        return cells.dt.replace_time_zone(None).dt.cast_time_unit("us")
    there = cells.dtype in (pl.Date, pl.Null)
    found = cells if there else _parsed(cells, pl.Datetime("us"), pl.Date())
    return None if found is None else found.cast(pl.Datetime("us"))


def as_durations(cells: pl.Series) -> pl.Series | None:
    """Return the cells as lengths of time; None where they are of another type."""
    return cells.cast(pl.Duration("us")) if cells.dtype in (pl.Duration, pl.Null) else None


def as_times(cells: pl.Series) -> pl.Series | None:
    """Return the cells as times of day; None where a cell is none."""
    there = cells.dtype in (pl.Time, pl.Null)
    return cells.cast(pl.Time) if there else _parsed(cells, pl.Time())


def _parsed(cells: pl.Series, *dtypes: pl.DataType) -> pl.Series | None:
    """Return texts in the first of some types that all of them have; None where there is none."""
    if cells.dtype not in _TEXTS:
        return None
    text = _stripped(cells)
    for dtype in dtypes:
        try:
            found = text.str.strptime(dtype, strict=False)  # type: ignore[arg-type]
        except pl.exceptions.PolarsError:  # no pattern fits even the first cell
            continue
        if found.null_count() == text.null_count():
            return found
    return None


def _stripped(cells: pl.Series) -> pl.Series:
    """Return texts without blanks around them, null where nothing is left."""
    text = cells.cast(pl.String).str.strip_chars()
    return text.set(text == "", None)
