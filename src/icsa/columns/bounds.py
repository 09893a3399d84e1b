"""Bounds of what is released: declared, natural, and those of the type; never the extremes.

How far a release reaches beyond the original's extremes is counted afterwards.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.columns.declared import ColumnSpec
from icsa.columns.storage import Storage
from icsa.errors import InputError
from icsa.lattice import Lattice
from icsa.matrices import Vector

__all__ = ["Reach", "just_above", "just_below", "reach_beyond", "released_bounds"]

_TOLD_SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)


class Reach(NamedTuple):
    """How many released numbers lie beyond the original's smallest and largest, and how far.

    Attributes
    ----------
    below, above : int
        Released cells.
    share : float
        The farthest, in lengths of the original's range.

    Examples
    --------
    >>> Reach(below=0, above=2, share=0.034).describe()
    '2 cells, by at most 5% of its length'
    """

    below: int
    above: int
    share: float

    @property
    def chance(self) -> float:
        """The chance that as many of as many others lie beyond one end: halved by each of them."""
        return 0.5 ** max(self.below, self.above)

    def describe(self) -> str:
        """Return what to say to who has the original; nothing where none lies beyond.

        Shares are coarse: with a released extreme, a fine one would give the original's away.
        """
        cells = self.below + self.above
        if not cells:
            return ""
        step = next((step for step in _TOLD_SHARES if self.share <= step), None)
        far = "more than its length" if step is None else f"at most {step:.0%} of its length"
        return f"{cells} cell{'s' * (cells > 1)}, by {far}"


def reach_beyond(smallest: float, largest: float, released: Vector) -> Reach:
    """Return how far released numbers reach beyond the original's; NaN is missing.

    Examples
    --------
    >>> reach_beyond(0.0, 100.0, np.array([-20.0, 5.0, np.nan]))
    Reach(below=1, above=0, share=0.2)
    """
    with np.errstate(invalid="ignore"):
        below, above = int((released < smallest).sum()), int((released > largest).sum())
    if not below + above or not largest > smallest:
        return Reach(below, above, 0.0)
    lowest, highest = float(np.nanmin(released)), float(np.nanmax(released))
    return Reach(below, above, max(smallest - lowest, highest - largest) / (largest - smallest))


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
