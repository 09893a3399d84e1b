"""Columns of pandas to polars and back, without a loss of type."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from icsa.errors import InputError
from icsa.tables.base import has_fractions, require

__all__ = ["from_pandas", "to_pandas"]

pd: Any = require("pandas", "pandas frames")

# What an object column may hold, all cells alike, and the type that it becomes.
_OBJECTS: tuple[tuple[frozenset[type], type[pl.DataType]], ...] = (
    (frozenset({str, np.str_}), pl.String),
    (frozenset({bool, np.bool_}), pl.Boolean),
    (frozenset({int, np.int64}), pl.Int64),
    (frozenset({int, float, np.int64, np.float64}), pl.Float64),
    (frozenset({dt.date}), pl.Date),
    (frozenset({dt.datetime, pd.Timestamp}), pl.Datetime),
    (frozenset({dt.time}), pl.Time),
    (frozenset({dt.timedelta, pd.Timedelta}), pl.Duration),
)
_UNITS = {"s": "ms", "ms": "ms", "us": "us", "ns": "ns"}


def from_pandas(name: str, column: Any) -> tuple[pl.Series, bool | None]:
    """Return a column of pandas, and whether it is an ordered category (None: no category)."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _from_categories(name, column), bool(dtype.ordered)
    if isinstance(dtype, pd.ArrowDtype):
        return pl.Series(name, column.array.__arrow_array__()), None
    if isinstance(dtype, pd.DatetimeTZDtype):
        clock = _from_moments(name, column.dt.tz_convert("UTC").dt.tz_localize(None))
        zone = _zone_name(name, dtype.tz)
        return clock.dt.replace_time_zone("UTC").dt.convert_time_zone(zone), None
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        return _from_moments(name, column), None
    if isinstance(dtype, pd.StringDtype):
        return pl.Series(name, _or_none(column), dtype=pl.String), None
    if dtype == "object":
        return _from_objects(name, column), None
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 8:
        wide = column.astype(np.float32) if dtype == np.float16 else column
        return pl.Series(name, np.ascontiguousarray(wide.to_numpy())), None
    if pd.api.types.is_extension_array_dtype(dtype) and getattr(dtype, "numpy_dtype", None):
        return _from_masked(name, column), None
    raise _unusable(name)


def to_pandas(cells: pl.Series, like: Any) -> Any:
    """Return the cells as a column of pandas, in the type of another column if they fit it."""
    if like is None:
        return _by_default(cells)
    try:
        return _in_type(cells, like.dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return _by_default(cells)


def _in_type(cells: pl.Series, dtype: Any) -> Any:
    if isinstance(dtype, pd.CategoricalDtype):
        return _in_categories(cells, dtype)
    if isinstance(dtype, pd.DatetimeTZDtype) or (
        isinstance(dtype, np.dtype) and dtype.kind in "mM"
    ):
        return _moments(cells, dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        if dtype.kind != "f" and (cells.null_count() or has_fractions(cells)):
            return _by_default(cells)
        numbers = cells.cast(pl.Float64) if dtype.kind == "f" else cells
        return pd.Series(numbers.to_numpy(writable=True).astype(dtype), name=cells.name)
    if cells.dtype in (pl.Enum, pl.Categorical):
        cells = cells.cast(pl.String)
    return pd.Series(cells.to_list(), name=cells.name, dtype=dtype)


def _in_categories(cells: pl.Series, dtype: Any) -> Any:
    """Return cells as categories; by default where some are none of them."""
    categories = dtype.categories
    texts = cells.dtype in (pl.String, pl.Enum, pl.Categorical)
    places = {_level_name(level) if texts else level: k for k, level in enumerate(categories)}
    codes = [None if cell is None else places.get(cell) for cell in cells.to_list()]
    if codes.count(None) > cells.null_count() or len(places) < len(categories):
        return _by_default(cells)
    filled = [-1 if code is None else code for code in codes]
    return pd.Series(pd.Categorical.from_codes(filled, dtype=dtype), name=cells.name)


def _by_default(cells: pl.Series) -> Any:
    if cells.dtype.is_float():
        return pd.Series(cells.to_numpy(writable=True), name=cells.name)
    if cells.dtype.is_integer():
        return pd.Series(
            cells.to_list(), name=cells.name, dtype="Int64" if cells.null_count() else "int64"
        )
    if isinstance(cells.dtype, (pl.Datetime, pl.Duration)):
        letter = "M" if isinstance(cells.dtype, pl.Datetime) else "m"
        zone = getattr(cells.dtype, "time_zone", None)
        dtype = pd.DatetimeTZDtype("us", zone) if zone else np.dtype(f"{letter}8[us]")
        return _moments(cells, dtype)
    if cells.dtype == pl.Boolean and cells.null_count():
        return pd.Series(cells.to_list(), name=cells.name, dtype="boolean")
    return pd.Series(cells.to_list(), name=cells.name)


def _moments(cells: pl.Series, dtype: Any) -> Any:
    kind = "m" if isinstance(cells.dtype, pl.Duration) else "M"
    if not isinstance(cells.dtype, (pl.Datetime, pl.Duration)):
        cells = cells.cast(pl.Datetime("us"))
    zone = getattr(cells.dtype, "time_zone", None)
    unit = cells.dtype.time_unit  # type: ignore[attr-defined]
    missing = np.iinfo(np.int64).min
    ticks = cells.to_physical().fill_null(missing).to_numpy(writable=True)
    column = pd.Series(ticks.view(f"{kind}8[{unit}]"), name=cells.name)
    if zone is not None:
        wanted = dtype.tz if isinstance(dtype, pd.DatetimeTZDtype) else zone
        column = column.dt.tz_localize("UTC").dt.tz_convert(wanted)
    return column.astype(dtype)


def _from_moments(name: str, column: Any) -> pl.Series:
    values = column.to_numpy()
    unit = _UNITS[np.datetime_data(values.dtype)[0]]
    return pl.Series(name, values.astype(f"{values.dtype.kind}8[{unit}]"))


def _zone_name(name: str, zone: Any) -> str:
    key = getattr(zone, "key", None) or getattr(zone, "zone", None) or str(zone)
    if key in ("UTC", "utc"):
        return "UTC"
    try:
        pl.Series([dt.datetime(2000, 1, 1)]).dt.replace_time_zone(key)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"Column {name!r} has a time zone without a name. Convert it with tz_convert('UTC')."
        ) from None
    return str(key)


def _from_categories(name: str, column: Any) -> pl.Series:
    """Return levels, whatever the categories are: numbers among them count nothing."""
    categories = column.cat.categories
    if len(categories) and all(isinstance(level, bool | np.bool_) for level in categories):
        return _from_objects(name, column.astype(object))
    codes = column.cat.codes.to_numpy()
    levels = pl.Series([_level_name(level) for level in categories], dtype=pl.String)
    if levels.is_duplicated().any():
        raise _unusable(name)
    positions = pl.Series([None if code < 0 else int(code) for code in codes], dtype=pl.UInt32)
    return levels.gather(positions).cast(pl.Enum(levels)).alias(name)


def _level_name(level: Any) -> str:
    """Return a category in words; a day without a time as a day."""
    if isinstance(level, dt.datetime) and level.time() == dt.time(0) and level.tzinfo is None:
        return level.date().isoformat()
    return str(level)


def _or_none(column: Any) -> list[Any]:
    missing = column.isna().to_numpy()
    return [None if gone else cell for cell, gone in zip(column, missing, strict=True)]


def _from_objects(name: str, column: Any) -> pl.Series:
    cells = _or_none(column)
    kinds = {type(cell) for cell in cells} - {type(None)}
    if not kinds:
        return pl.Series(name, cells, dtype=pl.String)
    for allowed, dtype in _OBJECTS:
        if kinds <= allowed:
            make: Callable[..., pl.Series] = pl.Series
            try:
                return make(name, cells, dtype=dtype, strict=True)
            except (TypeError, OverflowError, pl.exceptions.PolarsError):
                break
    raise _unusable(name)


def _from_masked(name: str, column: Any) -> pl.Series:
    missing = column.isna().to_numpy()
    values = column.to_numpy(dtype=column.dtype.numpy_dtype, na_value=False)
    cells = pl.Series(name, values)
    return cells.set(pl.Series(missing), None) if missing.any() else cells


def _unusable(name: str) -> InputError:
    return InputError(
        f"Column {name!r} holds values of several or unusual types, not numbers, texts, dates or "
        "booleans alone. Convert it, or leave it out."
    )
