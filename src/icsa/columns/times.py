"""Durations and times of day, in seconds."""

from __future__ import annotations

from datetime import time, timedelta
from fractions import Fraction
from typing import Any, ClassVar

import polars as pl

from icsa.columns.continuous import Continuous
from icsa.columns.dates import TICKS
from icsa.columns.storage import Storage
from icsa.matrices import Vector

__all__ = ["Duration", "TimeOfDay"]

_NANOSECONDS = 1e9
_LARGEST_TICK = 9.223372036e18
_LONGEST_IN_PYTHON = float(timedelta.max.days * 86_400)


class Duration(Continuous):
    """A column of lengths of time, in seconds.

    Encoded and decoded like `Continuous`; durations that are all at least zero stay so.

    Examples
    --------
    >>> from datetime import timedelta
    >>> from icsa.schema import ColumnSpec
    >>> cells = pl.Series("stay", [timedelta(hours=1), timedelta(hours=3), timedelta(days=1)])
    >>> column = Duration.fit(cells, ColumnSpec(name="stay", kind="duration"))
    >>> column.numbers(cells)
    array([ 3600., 10800., 86400.])
    """

    storage: ClassVar[Storage] = Storage(
        holds="durations",
        accepts=lambda dtype: dtype in (pl.Duration, pl.Null),
        numbers=lambda cells: _duration_seconds(cells),
        to_cells=lambda numbers, dtype: _durations(numbers, dtype),
        declared_number=lambda value, _: value.total_seconds(),
        natural_range=lambda dtype: (-_longest(dtype), _longest(dtype)),
        finest_step=lambda dtype: Fraction(1, _ticks(dtype)),
        zero_is_natural=True,
    )


class TimeOfDay(Continuous):
    """A column of times of day, in seconds since midnight.

    Encoded and decoded like `Continuous`, within 0:00 and 23:59:59. The circle is cut at midnight:
    just before and just after it are far apart.

    Examples
    --------
    >>> from icsa.schema import ColumnSpec
    >>> cells = pl.Series("meal", [time(7, 30), time(8, 0), time(12, 15)])
    >>> column = TimeOfDay.fit(cells, ColumnSpec(name="meal", kind="time"))
    >>> column.numbers(cells)
    array([27000., 28800., 44100.])
    """

    storage: ClassVar[Storage] = Storage(
        holds="times of day",
        accepts=lambda dtype: dtype in (pl.Time, pl.Null),
        numbers=lambda cells: cells.to_physical().cast(pl.Float64).to_numpy() / _NANOSECONDS,
        to_cells=lambda numbers, _: _ticks_of(numbers, _NANOSECONDS).cast(pl.Time),
        declared_number=lambda value, _: _second_of_day(value),
        natural_range=lambda _: (0.0, 86_399.999_999_999),
        finest_step=lambda _: Fraction(1, 10**9),
        zero_is_natural=False,
    )


def _ticks(dtype: pl.DataType) -> int:
    return TICKS[dtype.time_unit] if isinstance(dtype, pl.Duration) else 1


def _ticks_of(numbers: pl.Series, a_second: float) -> pl.Series:
    return (numbers * a_second).round().cast(pl.Int64)


def _duration_seconds(cells: pl.Series) -> Vector:
    return cells.to_physical().cast(pl.Float64).to_numpy() / float(_ticks(cells.dtype))


def _durations(numbers: pl.Series, dtype: pl.DataType) -> pl.Series:
    return _ticks_of(numbers, float(_ticks(dtype))).cast(dtype)


def _longest(dtype: pl.DataType) -> float:
    """Return the seconds that 64 bits of ticks hold; at most those of Python's timedelta."""
    return min(_LARGEST_TICK / _ticks(dtype), _LONGEST_IN_PYTHON)


def _second_of_day(value: Any) -> float:
    if not isinstance(value, time):
        raise TypeError("a time of day is needed")
    return value.hour * 3600.0 + value.minute * 60.0 + value.second + value.microsecond / 1e6
