"""Yardsticks: what two samples of the same size would give by chance.

A difference between a release and its original means nothing alone: two samples of one population
differ too. Every number here stands beside what they would give.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from icsa.matrices import Vector
from icsa.measures import Direction, Estimate, Measure, NotEstimable

__all__ = ["LIMIT", "AgainstChance", "SideBySide", "folded_normal", "ks_chance", "tv_chance"]

# Two-sided 95% of the normal distribution.
LIMIT = NormalDist().inv_cdf(0.975)
_SEED = 0
# Mean and 95% point of the Kolmogorov distribution, sup |Brownian bridge|: the mean is
# sqrt(pi / 2) ln 2; the point solves 2 sum_k (-1)^(k - 1) exp(-2 k^2 x^2) = .05.
_KOLMOGOROV = (math.sqrt(math.pi / 2.0) * math.log(2.0), 1.3580986)
# With more distinct values than this, ties no longer change the distribution that matters.
_MANY_VALUES = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstChance:
    """A difference, and what two samples of these sizes would give by chance.

    Attributes
    ----------
    measure : Measure
        The difference.
    expected : float or None
        Its mean size between two samples; None where nothing is estimable.
    limit : float or None
        The size that 95% of pairs of samples stay below.
    """

    measure: Measure
    expected: float | None = None
    limit: float | None = None

    @property
    def beyond_chance(self) -> bool:
        """Whether the difference is larger than 95% of those by chance."""
        value, limit = self.measure.value, self.limit
        return value is not None and limit is not None and abs(value) > limit

    @classmethod
    def of(
        cls,
        estimate: Estimate,
        chance: tuple[float, float] | None,
        *,
        name: str,
        n: int,
        direction: Direction = "lower is better",
    ) -> AgainstChance:
        """Return an estimate with its yardstick (expected, limit).

        Examples
        --------
        >>> AgainstChance.of(0.3, (0.1, 0.2), name="KS", n=40).beyond_chance
        True
        """
        measure = Measure.of(estimate, name=name, direction=direction, n=n)
        if isinstance(estimate, NotEstimable) or chance is None:
            return cls(measure=measure)
        return cls(measure=measure, expected=chance[0], limit=chance[1])

    def __str__(self) -> str:
        """Return the value and its yardstick."""
        if self.expected is None or self.limit is None:
            return str(self.measure)
        return f"{self.measure} (by chance {self.expected:.3g}, up to {self.limit:.3g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """One number of both tables, and the range where that of another sample would lie.

    Attributes
    ----------
    original, released : Measure
    low, high : float or None
        Another sample of the original's population, as large as the release, would give a number
        in this range in 95 of 100 cases. None where it is not known.
    """

    original: Measure
    released: Measure
    low: float | None = None
    high: float | None = None

    @property
    def beyond_chance(self) -> bool:
        """Whether the released number lies outside the range."""
        value = self.released.value
        if value is None or self.low is None or self.high is None:
            return False
        return not self.low <= value <= self.high


def folded_normal(standard_error: float) -> tuple[float, float]:
    """Return the mean and the 95% point of |N(0, standard_error^2)|.

    Examples
    --------
    >>> [round(number, 3) for number in folded_normal(1.0)]
    [0.798, 1.96]
    """
    return math.sqrt(2.0 / math.pi) * standard_error, LIMIT * standard_error


def ks_chance(shares: Vector, n: int, m: int) -> tuple[float, float]:
    """Return the mean and 95% point of the Kolmogorov-Smirnov distance of two samples.

    sqrt(nm / (n + m)) D tends to the largest |B(t)| of a Brownian bridge B over the values t of the
    distribution function [1]_. For a continuous distribution that has closed forms; for one with
    ties the bridge is drawn up to 2,000 times at the steps, from a fixed seed.

    Parameters
    ----------
    shares : ndarray of shape (n_values,)
        Share of every distinct value, in the order of the values.
    n, m : int
        Sizes of the two samples.

    References
    ----------
    .. [1] P. Billingsley (1968). Convergence of Probability Measures. Wiley, chapter 16.

    Examples
    --------
    >>> [round(number, 4) for number in ks_chance(np.full(1000, 1e-3), 200, 200)]
    [0.0869, 0.1358]
    """
    size = math.sqrt(n * m / (n + m))
    if shares.size > _MANY_VALUES:
        return _KOLMOGOROV[0] / size, _KOLMOGOROV[1] / size
    rng = np.random.default_rng(_SEED)
    steps = rng.standard_normal((_draws(shares), shares.size)) * np.sqrt(shares)
    walk = np.cumsum(steps, axis=1)
    bridge = walk - np.cumsum(shares) * walk[:, -1:]
    return _mean_and_limit(np.abs(bridge).max(axis=1) / size)


def tv_chance(shares: Vector, n: int, m: int) -> tuple[float, float]:
    """Return the mean and 95% point of the total variation of two samples of categories.

    Both samples are drawn 2,000 times (fewer for many levels), from a fixed seed.

    Parameters
    ----------
    shares : ndarray of shape (n_levels,)
        Share of every level; sums to 1.
    n, m : int
        Sizes of the two samples.

    Examples
    --------
    Two levels of one half: |p - q| has mean sqrt(2 / pi) sqrt(.25 (1/100 + 1/100)) = .056:

    >>> round(tv_chance(np.array([0.5, 0.5]), 100, 100)[0], 2)
    0.06
    """
    rng = np.random.default_rng(_SEED)
    first = rng.multinomial(n, shares, size=_draws(shares)) / n
    second = rng.multinomial(m, shares, size=_draws(shares)) / m
    return _mean_and_limit(0.5 * np.abs(first - second).sum(axis=1))


def _draws(shares: Vector) -> int:
    """Return fewer draws for many values: their largest difference varies less."""
    return max(500, min(2000, 200_000 // max(1, shares.size)))


def _mean_and_limit(values: Vector) -> tuple[float, float]:
    return float(values.mean()), float(np.quantile(values, 0.95))
