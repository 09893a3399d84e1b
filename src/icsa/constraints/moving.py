"""Cells moved as little as needed: to the nearest value that keeps a bound and may be there."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

__all__ = ["replaced", "within"]


def within(
    cells: pl.Series,
    rows: pl.Series,
    bounds: pl.Series,
    operator: str,
    step: float | None,
    admits: Callable[[pl.Series], pl.Series],
) -> pl.Series:
    """Return the cells with those in `rows` at the nearest value that keeps each row's bound.

    That is the nearest on the lattice; where the column may not have it, the nearest that the
    column has in another row. Where there is none either, the cell stays.

    Examples
    --------
    >>> dose, limit = pl.Series([20.0, 10.0]), pl.Series([12.5, 12.5])
    >>> rows = pl.Series([True, False])
    >>> within(dose, rows, limit, "<=", None, lambda cells: cells.is_in([10.0, 20.0])).to_list()
    [10.0, 10.0]
    """
    places = rows.arg_true()
    if places.is_empty():
        return cells
    here = bounds.gather(places)
    edges: dict[Any, Any] = {}
    for bound in here:
        if bound not in edges:
            edges[bound] = _edge(cells.dtype, bound, operator, step)
    moved = pl.Series([edges[bound] for bound in here], dtype=cells.dtype, strict=False)
    fits = moved.is_not_null() & admits(moved)
    if not fits.all():
        moved = moved.zip_with(fits, _from_other_rows(cells, here, operator, admits))
    return cells.scatter(places, moved.zip_with(moved.is_not_null(), cells.gather(places)))


def _from_other_rows(
    cells: pl.Series, bounds: pl.Series, operator: str, admits: Callable[[pl.Series], pl.Series]
) -> pl.Series:
    """Return for each bound the nearest of the column's own values that keeps it, or null."""
    values = cells.drop_nulls().unique().sort()
    values = values.filter(admits(values))
    upward = operator in (">", ">=")
    side = "right" if operator in ("<=", ">") else "left"
    found = np.searchsorted(_plain(values), _plain(bounds), side) - (not upward)  # type: ignore[call-overload]
    there = (found >= 0) & (found < values.len())
    rows = pl.Series(np.where(there, found, 0)).cast(pl.UInt32)
    if values.is_empty():
        return pl.Series([None], dtype=cells.dtype).new_from_index(0, bounds.len())
    return values.gather(rows).set(pl.Series(~there), None)


def _plain(cells: pl.Series) -> npt.NDArray[np.generic]:
    """Return numbers in the cells' order."""
    if cells.dtype.is_temporal():
        return cells.to_physical().cast(pl.Int64).to_numpy()
    return cells.cast(pl.Float64).to_numpy()


def replaced(cells: pl.Series, rows: pl.Series, value: Any) -> pl.Series:
    """Return the cells with one value in `rows`; as they are where their type cannot hold it.

    Examples
    --------
    >>> replaced(pl.Series([1, 2]), pl.Series([True, False]), None).to_list()
    [None, 2]
    """
    zone = cells.dtype.time_zone if isinstance(cells.dtype, pl.Datetime) else None
    if zone is not None and value is not None and value.tzinfo is None:
        one = pl.Series([value]).dt.replace_time_zone(zone).cast(cells.dtype)
    else:
        one = pl.Series([value], dtype=cells.dtype, strict=False)
    if value is not None and one.null_count():
        return cells
    return cells.zip_with(~rows, one.new_from_index(0, len(cells)))


def _edge(dtype: pl.DataType, bound: Any, operator: str, step: float | None) -> Any:
    """Return the value on the lattice nearest to a bound that keeps it, as a Python object."""
    strict, upward = operator in ("<", ">"), operator in (">", ">=")
    if dtype.is_temporal():
        return _edge_in_time(dtype, bound, step, strict=strict, upward=upward)
    if dtype.is_float():
        if not step:
            return math.nextafter(bound, math.inf if upward else -math.inf) if strict else bound
        return _on_lattice(float(bound), step, strict=strict, upward=upward)
    if isinstance(dtype, pl.Boolean):
        return upward
    whole = max(1, round(step or 1))
    edge = (-int(-bound // whole) if upward else int(bound // whole)) * whole
    return edge + (whole if upward else -whole) if strict and edge == bound else edge


def _on_lattice(bound: float, step: float, *, strict: bool, upward: bool) -> float:
    """Return the multiple of a step next to a bound, rounded as it would be written."""
    sign = 1 if upward else -1
    count = (math.ceil if upward else math.floor)(bound / step - sign * 1e-9)
    value = float(f"{count * step:.12g}")
    if sign * value < sign * bound or (strict and value == bound):
        value = float(f"{(count + sign) * step:.12g}")
    return value


def _edge_in_time(
    dtype: pl.DataType, bound: Any, step: float | None, *, strict: bool, upward: bool
) -> Any:
    if not strict:
        return bound
    sign = 1 if upward else -1
    if isinstance(dtype, pl.Date):
        return bound + sign * dt.timedelta(days=max(1, round(step or 1)))
    apart = dt.timedelta(seconds=step or 1e-3)
    if not isinstance(dtype, pl.Time):
        return bound + sign * apart
    moved = dt.datetime.combine(dt.date(2000, 1, 2), bound) + sign * apart
    return moved.time() if moved.date() == dt.date(2000, 1, 2) else bound
