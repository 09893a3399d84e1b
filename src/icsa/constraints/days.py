"""Dates beside dates with a time: they are compared, and moved, by their days."""

from __future__ import annotations

import math

import polars as pl

__all__ = ["are_compared_by_day", "days_in_step", "days_of", "moved_to"]

_SECONDS = 86_400.0


def are_compared_by_day(one: pl.DataType, other: pl.DataType) -> bool:
    """Return whether one type holds dates and the other dates with a time.

    Examples
    --------
    >>> are_compared_by_day(pl.Date(), pl.Datetime("us")), are_compared_by_day(pl.Date(), pl.Date())
    (True, False)
    """
    return {type(one), type(other)} == {pl.Date, pl.Datetime}


def days_of(cells: pl.Series) -> pl.Series:
    """Return the dates of cells, by the clock on the wall where they have a time.

    Examples
    --------
    >>> from datetime import datetime
    >>> days_of(pl.Series([datetime(2020, 1, 31, 23, 59)])).to_list()
    [datetime.date(2020, 1, 31)]
    """
    return cells.dt.date() if isinstance(cells.dtype, pl.Datetime) else cells


def days_in_step(dtype: pl.DataType, step: float | None) -> float | None:
    """Return the whole days of a column's lattice step, which counts seconds if there is a time.

    Examples
    --------
    >>> days_in_step(pl.Datetime("us"), 60.0), days_in_step(pl.Date(), 7.0)
    (1, 7.0)
    """
    if step is None or not isinstance(dtype, pl.Datetime):
        return step
    return math.ceil(step / _SECONDS)


def moved_to(cells: pl.Series, days: pl.Series) -> pl.Series:
    """Return the cells on other days; those with a time keep it.

    Times that clocks skip on the new day come an hour later.

    Examples
    --------
    >>> from datetime import date, datetime
    >>> moved_to(pl.Series([datetime(2020, 1, 31, 8)]), pl.Series([date(2020, 1, 2)])).to_list()
    [datetime.datetime(2020, 1, 2, 8, 0)]
    """
    dtype = cells.dtype
    if not isinstance(dtype, pl.Datetime):
        return days
    clock = cells.dt.replace_time_zone(None)
    away = days - clock.dt.date()
    moved = clock + away
    if dtype.time_zone is not None:
        found = _in_zone(moved, dtype.time_zone)
        moved = found.zip_with(
            found.is_not_null(), _in_zone(moved.dt.offset_by("1h"), dtype.time_zone)
        )
    stays = (away.dt.total_days() == 0).fill_null(value=True)
    return cells.zip_with(stays, moved.cast(dtype))


def _in_zone(clock: pl.Series, zone: str) -> pl.Series:
    return clock.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
