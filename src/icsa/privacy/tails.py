"""Tails: how rare a value is that is larger than most, or than all, of those that chance gave."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from icsa.matrices import Vector

__all__ = ["Tail", "fit_tail", "simes"]

# The tail is the largest tenth of the values, but at least so many of them.
_SHARE, _LEAST = 0.1, 20


@dataclass(frozen=True, eq=False)
class Tail:
    """The largest of some values, and how they thin out.

    Beyond `start` the probability falls as (1 + (v - start) / (shape scale))^-shape: exponentially,
    but for a scale that is known from `count` values only.

    Attributes
    ----------
    values : ndarray
        All of them, the smallest first.
    start : float
        The largest value that is not in the tail.
    scale : float
        Mean excess over it.
    count : int
        Number of values in the tail.
    """

    values: Vector
    start: float
    scale: float
    count: int

    @property
    def shape(self) -> float:
        """Half the number of values in the tail: the tail is a little heavier than they show."""
        return 0.5 * self.count

    def beyond(self, values: Vector) -> Vector:
        """Return the probability of a value as large as each, by rank below the tail.

        Examples
        --------
        >>> tail = fit_tail(np.arange(200.0))
        >>> tail.beyond(np.array([0.0, 99.0, 179.0, np.inf])).round(3)
        array([1.   , 0.505, 0.105, 0.   ])
        """
        n = self.values.size
        if not n:
            return np.ones(np.shape(values))
        by_rank = (n - np.searchsorted(self.values, values, "left")) / n
        if self.scale <= 0.0:
            return np.asarray(np.where(np.isinf(values), 0.0, by_rank))
        excess = np.maximum(values - self.start, 0.0) / (self.shape * self.scale)
        return np.where(
            values > self.start, self.count / n * (1.0 + excess) ** -self.shape, by_rank
        )


def fit_tail(values: Vector) -> Tail:
    """Return the tail of what chance gave: the largest tenth of the values, at least 20.

    Examples
    --------
    >>> fit_tail(np.arange(200.0)).start, fit_tail(np.arange(200.0)).scale
    (179.0, 10.5)
    """
    ordered = np.sort(values)
    count = min(max(_LEAST, math.ceil(_SHARE * ordered.size)), ordered.size - 1)
    if count < 1:
        return Tail(ordered, -math.inf, 0.0, 0)
    start = float(ordered[-count - 1])
    return Tail(ordered, start, float(np.mean(ordered[-count:] - start)), count)


def simes(chances: Vector, n: int | None = None) -> float:
    """Return the probability of chances as small as these together, n of them being looked at.

    The smallest over j of n / j times the j-th smallest: many small ones count as much as a single
    tiny one.

    Examples
    --------
    >>> round(simes(np.array([0.01, 0.02, 0.9, 0.9])), 3)  # 4 / 2 times .02
    0.04
    """
    if not chances.size:
        return 1.0
    ordered = np.sort(chances)
    steps = np.arange(1, ordered.size + 1)
    return min(1.0, float(np.min((n or ordered.size) * ordered / steps)))
