"""Dates, in days since 1970, and datetimes, in seconds since then by the clock on the wall."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from fractions import Fraction
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import polars as pl

from icsa.columns.continuous import Continuous
from icsa.columns.storage import Storage
from icsa.matrices import Vector

__all__ = ["TICKS", "Date", "DateTime"]

# Ticks of a second, by polars' names of units.
TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9}

_DAY = 86_400.0
_FIRST_DAY = (date(1, 1, 1) - date(1970, 1, 1)).days
_LAST_DAY = (date(9999, 12, 31) - date(1970, 1, 1)).days
# Of the years 1 to 9999; a float there holds a tenth of a millisecond.
_FIRST_MOMENT, _LAST_MOMENT = _FIRST_DAY * _DAY, _LAST_DAY * _DAY + 86_399.999
# 64 bits hold nanoseconds from 1677 to 2262, and the least of them stands for none.
_LAST_NANOSECONDS = 9_223_372_036.85


class Date(Continuous):
    """A column of dates; the number is the day, counted from 1970-01-01.

    Encoded and decoded like `Continuous`, in whole days, or weeks if all cells are one weekday.
    There is no natural bound, but for the years 1 to 9999.

    Examples
    --------
    >>> from icsa.schema import ColumnSpec
    >>> cells = pl.Series("born", [date(1970, 1, 2), date(1971, 3, 1), date(1969, 12, 31)])
    >>> column = Date.fit(cells, ColumnSpec(name="born", kind="date"))
    >>> column.numbers(cells)
    array([  1., 424.,  -1.])
    """

    storage: ClassVar[Storage] = Storage(
        holds="dates",
        accepts=lambda dtype: dtype in (pl.Date, pl.Null),
        numbers=lambda cells: cells.to_physical().cast(pl.Float64).to_numpy(),
        to_cells=lambda numbers, _: numbers.round().cast(pl.Int32).cast(pl.Date),
        declared_number=lambda value, _: _day(value),
        natural_range=lambda _: (float(_FIRST_DAY), float(_LAST_DAY)),
        finest_step=lambda _: Fraction(1),
        zero_is_natural=False,
    )


class DateTime(Continuous):
    """A column of datetimes; the number is the seconds since 1970-01-01 by the clock on the wall.

    With a time zone, midnight stays midnight in summer and winter. In the hour that clocks repeat,
    the first time round is taken; times that clocks skip come an hour later.

    Examples
    --------
    >>> from icsa.schema import ColumnSpec
    >>> cells = pl.Series("seen", [datetime(1970, 1, 1, 0, 10), datetime(1970, 1, 2, 0, 45)])
    >>> column = DateTime.fit(cells, ColumnSpec(name="seen", kind="datetime"))
    >>> column.numbers(cells)
    array([  600., 89100.])
    """

    storage: ClassVar[Storage] = Storage(
        holds="datetimes",
        accepts=lambda dtype: dtype in (pl.Datetime, pl.Null),
        numbers=lambda cells: _seconds(cells),
        to_cells=lambda numbers, dtype: _datetimes(numbers, dtype),
        declared_number=lambda value, dtype: _second(value, dtype),
        natural_range=lambda dtype: _range(dtype),
        finest_step=lambda dtype: Fraction(1, TICKS[dtype.time_unit]),  # type: ignore[attr-defined]
        zero_is_natural=False,
    )


def _day(value: Any) -> float:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise TypeError("a date is needed")
    return float((value - date(1970, 1, 1)).days)


def _second(value: Any, dtype: pl.DataType) -> float:
    if not isinstance(value, datetime):
        value = datetime.combine(value, time())
    zone = getattr(dtype, "time_zone", None)
    if value.tzinfo is not None:
        if zone is None:
            raise TypeError("the cells have no time zone")
        value = value.astimezone(ZoneInfo(zone))
    return float((value.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())


def _seconds(cells: pl.Series) -> Vector:
    if not isinstance(cells.dtype, pl.Datetime):
        return cells.cast(pl.Float64).to_numpy()
    ticks = cells.dt.replace_time_zone(None).to_physical().cast(pl.Float64)
    return ticks.to_numpy() / float(TICKS[cells.dtype.time_unit])


def _datetimes(numbers: pl.Series, dtype: pl.DataType) -> pl.Series:
    assert isinstance(dtype, pl.Datetime)
    ticks = (numbers * float(TICKS[dtype.time_unit])).round().cast(pl.Int64)
    on_the_wall = ticks.cast(pl.Datetime(dtype.time_unit))
    zone = dtype.time_zone
    if zone is None:
        return on_the_wall
    zoned = _in_zone(on_the_wall, zone)
    for skipped in ("1h", "24h"):  # a few places have skipped a whole day
        if zoned.null_count() > numbers.null_count():
            zoned = zoned.zip_with(
                zoned.is_not_null(), _in_zone(on_the_wall.dt.offset_by(skipped), zone)
            )
    return zoned


def _in_zone(on_the_wall: pl.Series, zone: str) -> pl.Series:
    return on_the_wall.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")


def _range(dtype: pl.DataType) -> tuple[float, float]:
    lowest, highest = _FIRST_MOMENT, _LAST_MOMENT
    if getattr(dtype, "time_unit", None) == "ns":
        lowest, highest = -_LAST_NANOSECONDS, _LAST_NANOSECONDS
    if getattr(dtype, "time_zone", None) is not None:  # the same moment at Greenwich must be one
        lowest, highest = lowest + _DAY, highest - _DAY
    return lowest, highest
