"""Numbers extremely far from all others: totals at the end of a table, slips of a decimal point."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.correlations import mad_scale
from icsa.inspection.profile import sample_of
from icsa.matrices import Vector

__all__ = ["far_rows", "may_be_far"]

_DEVIATIONS = 100.0
_MOST_FAR = 3
_BEYOND = 2.0
_FEWEST = 10
_SPIKE = 0.4


def far_rows(numbers: Vector) -> npt.NDArray[np.intp]:
    """Return the rows, from 0, of at most three numbers extremely far from all others.

    They are more than a hundred robust deviations from the median, and twice as far as the next.

    Parameters
    ----------
    numbers : Vector
        One a cell; NaN where missing.

    Examples
    --------
    >>> far_rows(np.append(np.arange(30.0), 1e6))
    array([30])
    """
    none = np.empty(0, dtype=np.intp)
    centre, deviation = _of_sample(pl.Series(numbers, nan_to_null=True))
    if not deviation > 0.0:
        return none
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.abs(numbers - centre)
    far = distance > _DEVIATIONS * deviation  # never NaN
    if not 0 < np.count_nonzero(far) <= _MOST_FAR:
        return none
    rest = np.fmax.reduce(distance[~far], initial=0.0)
    return np.flatnonzero(far) if distance[far].min() >= _BEYOND * rest else none


def may_be_far(cells: pl.Series) -> bool:
    """Return whether the smallest or the largest number is far from the others' middle.

    Examples
    --------
    >>> may_be_far(pl.Series(range(30))), may_be_far(pl.Series([*range(30), 10**6]))
    (False, True)
    """
    ends = pl.Series([cells.min(), cells.max()]).cast(pl.Float64).to_numpy()
    centre, deviation = _of_sample(cells)
    return deviation > 0.0 and bool((np.abs(ends - centre) > _DEVIATIONS * deviation).any())


def _of_sample(cells: pl.Series) -> tuple[float, float]:
    drawn = sample_of(cells).cast(pl.Float64).to_numpy()
    return _centre_and_deviation(drawn[np.isfinite(drawn)])


def _centre_and_deviation(numbers: Vector) -> tuple[float, float]:
    """Return median and scaled median distance, of the cells off a value that many cells have."""
    if numbers.size < _FEWEST:
        return 0.0, 0.0
    values, held = np.unique(numbers, return_counts=True)
    if held.max() >= _SPIKE * numbers.size:
        return _centre_and_deviation(numbers[numbers != values[np.argmax(held)]])
    centre = float(np.median(numbers))
    return centre, mad_scale(numbers, centre)
