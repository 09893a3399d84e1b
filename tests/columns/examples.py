"""Cells of every kind, made up by hypothesis, with missing ones among them."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

import polars as pl
from hypothesis import strategies as st

from icsa.columns import ColumnSpec, Kind

WORDS = ["ja", "nee", "misschien", "onbekend", "Ü", ""]


def _floats() -> st.SearchStrategy[float]:
    # Floats within 30 orders of magnitude: a column that spans 200 is refused.
    within = st.floats(-1e6, 1e6).filter(lambda number: number == 0.0 or abs(number) > 1e-24)
    return within | st.sampled_from([0.0, 0.25, 17.5, 1e6])


def _whole(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


# For every kind: the values, and the types of column that can hold them.
VALUES: dict[Kind, list[tuple[st.SearchStrategy[Any], Any]]] = {
    "continuous": [
        (_floats(), pl.Float64()),
        (st.floats(-1e4, 1e4, width=32, allow_subnormal=False), pl.Float32()),
        (st.decimals(-999, 999, places=2, allow_nan=False), pl.Decimal(8, 2)),
        (_whole(-9, 9).map(lambda k: k / 4), pl.Float64()),
    ],
    "integer": [
        (_whole(-(10**9), 10**9), pl.Int64()),
        (_whole(0, 255), pl.UInt8()),
        (_whole(-128, 127), pl.Int8()),
        (_whole(0, 2**32 - 1), pl.UInt32()),
        (_whole(-50, 50).map(float), pl.Float64()),
    ],
    "zero-inflated": [
        (st.just(0.0) | _floats(), pl.Float64()),
        (st.just(0) | _whole(0, 9), pl.UInt8()),
        (st.just(100) | _whole(0, 100), pl.Int32()),
        (st.just(timedelta()) | _whole(0, 99).map(lambda h: timedelta(hours=h)), pl.Duration()),
    ],
    "binary": [
        (st.booleans(), pl.Boolean()),
        (st.sampled_from(WORDS[:2]), pl.String()),
        (st.sampled_from(WORDS[:2]), pl.Categorical()),
        (st.sampled_from([1, 2]), pl.Int16()),
        (st.sampled_from([date(2020, 1, 1), date(2021, 1, 1)]), pl.Date()),
    ],
    "category": [
        (st.sampled_from(WORDS), pl.String()),
        (st.sampled_from(WORDS), pl.Categorical()),
        (st.sampled_from(WORDS), pl.Enum(WORDS)),
        (_whole(0, 7), pl.Int64()),
        (st.sampled_from([0.5, 1.5, 2.5]), pl.Float64()),
    ],
    "ordinal": [
        (st.sampled_from(WORDS), pl.Enum(WORDS)),
        (_whole(1, 5), pl.UInt8()),
        (st.sampled_from([0.0, 0.5, 1.0]), pl.Float32()),
    ],
    "date": [(st.dates(), pl.Date())],
    "datetime": [
        (st.datetimes(datetime(1850, 1, 1), datetime(2100, 1, 1)), pl.Datetime("us")),
        (
            st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)).map(
                lambda seen: seen.replace(microsecond=0)
            ),
            pl.Datetime("ms"),
        ),
        (st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)), pl.Datetime("us", "UTC")),
        (
            st.dates(date(1990, 1, 1), date(2030, 1, 1)).map(
                lambda day: datetime(day.year, day.month, day.day)
            ),
            pl.Datetime("us", "Europe/Amsterdam"),
        ),
    ],
    "duration": [
        (st.timedeltas(timedelta(-99), timedelta(99)), pl.Duration("us")),
        (_whole(0, 999).map(lambda days: timedelta(days=days)), pl.Duration("ms")),
        (_whole(0, 999).map(lambda minutes: timedelta(minutes=minutes)), pl.Duration("ns")),
    ],
    "time": [
        (st.times(), pl.Time()),
        (st.builds(time, _whole(0, 23), st.sampled_from([0, 15, 30, 45])), pl.Time()),
    ],
    "identifier": [
        (_whole(0, 10**9), pl.Int64()),
        (st.text(max_size=5), pl.String()),
        (st.floats(0, 9), pl.Float64()),
    ],
    "text": [(st.text(max_size=5), pl.String())],
    "constant": [
        (st.just("A"), pl.String()),
        (st.just(7), pl.Int8()),
        (st.just(date(2020, 1, 1)), pl.Date()),
    ],
}


def series_of(values: list[Any], dtype: Any) -> pl.Series:
    """Return a series; datetimes without a zone are taken by the clock of the type's zone."""
    zone = getattr(dtype, "time_zone", None)
    if zone is None:
        return pl.Series("x", values, dtype=dtype)
    return pl.Series("x", values, dtype=pl.Datetime(dtype.time_unit)).dt.replace_time_zone(zone)


@st.composite
def columns_of(draw: st.DrawFn, kind: Kind) -> tuple[pl.Series, ColumnSpec]:
    """Draw cells of a kind, none to forty of them, some missing, and their declaration."""
    values, dtype = draw(st.sampled_from(VALUES[kind]))
    cells = draw(st.lists(values | st.none(), max_size=40))
    return series_of(cells, dtype), ColumnSpec(name="x", kind=kind)
