"""Bounds of what is released: declared, natural, and those of the type; never the extremes.

How far a release reaches beyond these is counted afterwards (`icsa.measures.reach_beyond`).
"""

from __future__ import annotations

import math

import polars as pl

from icsa.columns.declared import ColumnSpec
from icsa.columns.storage import Storage
from icsa.errors import InputError
from icsa.lattice import Lattice
from icsa.matrices import Vector

__all__ = ["just_above", "just_below", "released_bounds"]


def released_bounds(
    ordered: Vector,
    dtype: pl.DataType,
    spec: ColumnSpec,
    lattice: Lattice | None,
    storage: Storage,
    spike: float | None = None,
) -> tuple[float, float]:
    """Return the smallest and the largest number that may be released.

    A declared bound holds as it is. Without one, numbers that are all at least 0 stay so, and
    those that are all above 0 stay above (likewise below). What the type can hold bounds all, and
    the side of a spike that all numbers are on is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from icsa.columns.storage import NUMERIC
    >>> spec = ColumnSpec(name="age", kind="integer", upper=120)
    >>> released_bounds(np.array([0.0, 41.0, 90.0]), pl.Int64(), spec, None, NUMERIC)
    (0.0, 120.0)
    """
    lowest, highest = storage.natural_range(dtype)
    lower, upper = lowest, highest
    if storage.zero_is_natural:
        lower, upper = _one_side_of(0.0, ordered, lattice, lower, upper, strict=False)
    if spec.lower is not None:
        lower = max(lowest, storage.declared_number(spec.lower, dtype))
    if spec.upper is not None:
        upper = min(highest, storage.declared_number(spec.upper, dtype))
    if spike is not None:
        lower, upper = _one_side_of(spike, ordered, lattice, lower, upper, strict=True)
    if lattice is None:
        return lower, upper
    points = lattice.at_least(lower), lattice.at_most(upper)
    if points[0] > points[1]:
        raise InputError(
            f"Column {spec.name!r}: no multiple of the step {lattice.width:g} lies between its "
            "bounds. Declare another step or other bounds."
        )
    # Points next to the end of the type's range can be rounded out of it.
    return max(points[0], lowest), min(points[1], highest)


def just_above(number: float, nearest: float, lattice: Lattice | None) -> float:
    """Return the next lattice point above a number; without a lattice, a little above it.

    A little is a power of ten, at most a tenth of the distance to `nearest`: it tells how far the
    nearest cell is away to the order of magnitude only.

    Examples
    --------
    >>> just_above(0.0, 0.037, None)
    0.001
    """
    if lattice is not None:
        return lattice.above(number)
    little = 10.0 ** (math.floor(math.log10(max(nearest - number, 1e-306))) - 1)
    return max(number + little, math.nextafter(number, math.inf))


def just_below(number: float, nearest: float, lattice: Lattice | None) -> float:
    """Return the next lattice point below a number; without a lattice, a little below it."""
    if lattice is not None:
        return lattice.below(number)
    return -just_above(-number, -nearest, None)


def _one_side_of(
    origin: float,
    ordered: Vector,
    lattice: Lattice | None,
    lower: float,
    upper: float,
    *,
    strict: bool,
) -> tuple[float, float]:
    """Return the bounds narrowed so that numbers stay on the side of the origin that all are on."""
    smallest, largest = float(ordered[0]), float(ordered[-1])
    if smallest > origin:
        lower = max(lower, just_above(origin, smallest, lattice))
    elif largest < origin:
        upper = min(upper, just_below(origin, largest, lattice))
    elif not strict:
        lower = max(lower, origin) if smallest == origin else lower
        upper = min(upper, origin) if largest == origin else upper
    return lower, upper
