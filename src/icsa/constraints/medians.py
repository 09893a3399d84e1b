"""The median of a short vector, without what NumPy does for arrays of any kind."""

from __future__ import annotations

import numpy as np

from icsa.matrices import Vector

__all__ = ["median"]


def median(values: Vector) -> float:
    """Return the median of numbers, none of which is missing; there must be one.

    Examples
    --------
    >>> median(np.array([3.0, 1.0, 10.0, 2.0]))
    2.5
    """
    low, high = (values.size - 1) // 2, values.size // 2
    parted = np.partition(values, (low, high))
    return float(0.5 * (parted[low] + parted[high]))
