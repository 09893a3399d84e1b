"""Dates, in days since 1970, and datetimes, durations and times of day, in seconds."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import polars as pl

from icsa.columns.base import KindRecord, declared_number
from icsa.columns.continuous import Continuous
from icsa.columns.readings import as_dates, as_datetimes, as_durations, as_times
from icsa.columns.storage import Storage
from icsa.matrices import Vector

__all__ = ["DATE", "DATETIME", "DURATION", "TIME", "Date", "DateTime", "Duration", "TimeOfDay"]

# Ticks of a second, by polars' names of units.
_TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9}

_DAY = 86_400.0
_FIRST_DAY = (date(1, 1, 1) - date(1970, 1, 1)).days
_LAST_DAY = (date(9999, 12, 31) - date(1970, 1, 1)).days
# Of the years 1 to 9999; a float there holds a tenth of a millisecond.
_FIRST_MOMENT, _LAST_MOMENT = _FIRST_DAY * _DAY, _LAST_DAY * _DAY + 86_399.999
# 64 bits hold nanoseconds from 1677 to 2262, and the least of them stands for none.
_LAST_NANOSECONDS = 9_223_372_036.85

_NANOSECONDS = 1e9
_LARGEST_TICK = 9.223372036e18
_LONGEST_IN_PYTHON = float(timedelta.max.days * 86_400)
_LONGEST_DECLARED = 1e13


def _physical(cells: pl.Series) -> Vector:
    return cells.to_physical().cast(pl.Float64).to_numpy()


def _ticks(dtype: pl.DataType) -> int:
    """Return the ticks of a second; 1 where all cells are missing and the type has none."""
    return _TICKS.get(getattr(dtype, "time_unit", ""), 1)


def _ticks_of(numbers: pl.Series, a_second: float) -> pl.Series:
    return (numbers * a_second).round().cast(pl.Int64)


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
    if isinstance(cells.dtype, pl.Datetime):
        cells = cells.dt.replace_time_zone(None)
    return _physical(cells) / float(_ticks(cells.dtype))


def _datetimes(numbers: pl.Series, dtype: pl.DataType) -> pl.Series:
    assert isinstance(dtype, pl.Datetime)
    on_the_wall = _ticks_of(numbers, float(_ticks(dtype))).cast(pl.Datetime(dtype.time_unit))
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


def _longest(dtype: pl.DataType) -> float:
    """Return the seconds that 64 bits of ticks hold; at most those of Python's timedelta."""
    return min(_LARGEST_TICK / _ticks(dtype), _LONGEST_IN_PYTHON)


def _second_of_day(value: Any, _: pl.DataType) -> float:
    moment = _time_bound(value)
    return moment.hour * 3600.0 + moment.minute * 60.0 + moment.second + moment.microsecond / 1e6


def _date_bound(value: Any) -> date:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise TypeError("a date is needed")
    return value


def _datetime_bound(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    return datetime.combine(_date_bound(value), time())


def _duration_bound(value: Any) -> timedelta:
    if abs(declared_number(value)) >= _LONGEST_DECLARED:
        raise TypeError("a timedelta is not so long")
    return timedelta(seconds=value)


def _time_bound(value: Any) -> time:
    if not isinstance(value, time):
        raise TypeError("a time of day is needed")
    return value


class _Temporal(Continuous):
    """What columns of dates and times share: there is a first and a last that can be written."""

    @property
    def calendar(self) -> tuple[float, float]:
        """The first and last number that its type can be."""
        return self.storage.natural_range(self.dtype)


class Date(_Temporal):
    """A column of dates; the number is the day, counted from 1970-01-01.

    Encoded and decoded like `Continuous`, in whole days, or weeks if all cells are one weekday.
    There is no natural bound, but for the years 1 to 9999.
    """

    storage: ClassVar[Storage] = Storage(
        holds="dates",
        accepts=lambda dtype: dtype in (pl.Date, pl.Null),
        numbers=_physical,
        to_cells=lambda numbers, _: numbers.round().cast(pl.Int32).cast(pl.Date),
        declared_number=lambda value, _: float((_date_bound(value) - date(1970, 1, 1)).days),
        natural_range=lambda _: (float(_FIRST_DAY), float(_LAST_DAY)),
        finest_step=lambda _: Fraction(1),
        zero_is_natural=False,
    )


class DateTime(_Temporal):
    """A column of datetimes; the number is the seconds since 1970-01-01 by the clock on the wall.

    With a time zone, midnight stays midnight in summer and winter. In the hour that clocks repeat,
    the first time round is taken; times that clocks skip come an hour later.
    """

    storage: ClassVar[Storage] = Storage(
        holds="dates with a time",
        accepts=lambda dtype: dtype in (pl.Datetime, pl.Null),
        numbers=_seconds,
        to_cells=_datetimes,
        declared_number=_second,
        natural_range=_range,
        finest_step=lambda dtype: Fraction(1, _ticks(dtype)),
        zero_is_natural=False,
    )


class Duration(_Temporal):
    """A column of lengths of time, in seconds.

    Encoded and decoded like `Continuous`; durations that are all at least zero stay so.
    """

    storage: ClassVar[Storage] = Storage(
        holds="lengths of time",
        accepts=lambda dtype: dtype in (pl.Duration, pl.Null),
        numbers=_seconds,
        to_cells=lambda numbers, dtype: _ticks_of(numbers, float(_ticks(dtype))).cast(dtype),
        declared_number=lambda value, _: value.total_seconds(),
        natural_range=lambda dtype: (-_longest(dtype), _longest(dtype)),
        finest_step=lambda dtype: Fraction(1, _ticks(dtype)),
        zero_is_natural=True,
    )


class TimeOfDay(_Temporal):
    """A column of times of day, in seconds since midnight.

    Encoded and decoded like `Continuous`, within 0:00 and 23:59:59. The circle is cut at midnight:
    just before and just after it are far apart.
    """

    storage: ClassVar[Storage] = Storage(
        holds="times of day",
        accepts=lambda dtype: dtype in (pl.Time, pl.Null),
        numbers=lambda cells: _physical(cells) / _NANOSECONDS,
        to_cells=lambda numbers, _: _ticks_of(numbers, _NANOSECONDS).cast(pl.Time),
        declared_number=_second_of_day,
        natural_range=lambda _: (0.0, 86_399.999_999_999),
        finest_step=lambda _: Fraction(1, 10**9),
        zero_is_natural=False,
    )


DATE = KindRecord(
    name="date",
    fit=Date.fit,
    promise="masked, other dates",
    compared="numbers",
    reading=as_dates,
    storage=Date.storage,
    quantity="date",
    unit="days since 1970-01-01",
    per_day=1.0,
    bound_of=_date_bound,
    bound_in_words="a date such as 2020-12-31",
)
DATETIME = KindRecord(
    name="datetime",
    fit=DateTime.fit,
    promise="masked, other dates and times",
    compared="numbers",
    reading=as_datetimes,
    storage=DateTime.storage,
    quantity="datetime",
    unit="seconds since 1970-01-01",
    per_day=_DAY,
    bound_of=_datetime_bound,
    bound_in_words="a date with a time such as 2020-12-31T12:00:00",
)
DURATION = KindRecord(
    name="duration",
    fit=Duration.fit,
    promise="masked, other lengths of time",
    compared="numbers",
    reading=as_durations,
    storage=Duration.storage,
    quantity="duration",
    unit="seconds",
    bound_of=_duration_bound,
    bound_in_words="a number of seconds",
)
TIME = KindRecord(
    name="time",
    fit=TimeOfDay.fit,
    promise="masked, other times of day",
    compared="numbers",
    reading=as_times,
    storage=TimeOfDay.storage,
    quantity="time",
    unit="seconds since midnight",
    circular=True,
    bound_of=_time_bound,
    bound_in_words="a time such as 12:00:00",
)
