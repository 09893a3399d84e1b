"""Scales: strictly increasing maps from a column's numbers to scores, and their inverses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from icsa.correlations import IQR_TO_DEVIATION, MAD_TO_DEVIATION
from icsa.errors import UnknownNameError
from icsa.matrices import Vector
from icsa.recipes import SCALES, Scale

__all__ = [
    "LinearScale",
    "PowerScale",
    "QuantileScale",
    "Transform",
    "fit_linear",
    "fit_scale",
    "quantiles",
    "robust_spread",
]

_CENTRAL_VALUES = 2000
_KNOT_LEVELS = np.arange(1, 20) / 20
_QUANTILE_LIMIT = 5.0


class Transform(Protocol):
    """A strictly increasing map between numbers and scores; scores are encoded within `limit`."""

    @property
    def limit(self) -> float:
        """Encoded scores are clipped at plus and minus this; decoded ones are not."""
        ...

    def forward(self, numbers: Vector) -> Vector:
        """Return the scores of numbers."""
        ...

    def inverse(self, scores: Vector) -> Vector:
        """Return the numbers of scores."""
        ...


@dataclass(frozen=True)
class LinearScale:
    """(x - centre) / spread."""

    centre: float
    spread: float
    limit: float = math.inf

    def forward(self, numbers: Vector) -> Vector:
        """Return (x - centre) / spread."""
        return (numbers - self.centre) / self.spread

    def inverse(self, scores: Vector) -> Vector:
        """Return centre + spread * score."""
        return self.centre + self.spread * scores


@dataclass(frozen=True)
class PowerScale:
    """The Yeo-Johnson power of (x - centre) / spread, linear outside of [low, high].

    With z the standardised number and an exponent e in [0, 2], the score is ((z + 1)^e - 1)/e for
    z >= 0 and -((1 - z)^(2 - e) - 1)/(2 - e) for z < 0, with logarithms at the limits e = 0 and
    e = 2 (Yeo and Johnson, Biometrika 2000). A tangent continues it on either side, without which
    masked scores a little outside of the table's would come back many times too large.

    Examples
    --------
    >>> scale = PowerScale(centre=0.0, spread=1.0, exponent=0.0, low=0.0, high=1.0)
    >>> scale.forward(np.array([0.0, 1.0, 3.0])).round(4)  # log(1 + z), then its tangent at 1
    array([0.    , 0.6931, 1.6931])
    """

    centre: float
    spread: float
    exponent: float
    low: float
    high: float
    limit: float = math.inf

    def forward(self, numbers: Vector) -> Vector:
        """Return the scores of numbers."""
        from icsa.columns.scale_kernels import power_of

        scores = np.empty(numbers.size)
        slopes = _slopes(self.low, self.high, self.exponent)
        ends, line = (self.low, self.high), (self.centre, self.spread)
        power_of(_in_one_piece(numbers), *line, self.exponent, ends, slopes, scores)
        return scores

    def inverse(self, scores: Vector) -> Vector:
        """Return the numbers of scores."""
        from icsa.columns.scale_kernels import power_undone

        numbers = np.empty(scores.size)
        low, high = _yeo_johnson(np.array([self.low, self.high]), self.exponent).tolist()
        slopes = _slopes(self.low, self.high, self.exponent)
        line = (self.centre, self.spread)
        power_undone(_in_one_piece(scores), *line, self.exponent, (low, high), slopes, numbers)
        return numbers


@dataclass(frozen=True, eq=False, repr=False)
class QuantileScale:
    """Linear between knots at quantiles, which get their normal scores; linear tails.

    Attributes
    ----------
    knots, scores : Vector
        Distinct quantiles of the column, and their scores.
    low_slope, high_slope : float
        Of the scores below the first and above the last knot.
    """

    knots: Vector
    scores: Vector
    low_slope: float
    high_slope: float
    limit: float = _QUANTILE_LIMIT

    def forward(self, numbers: Vector) -> Vector:
        """Return the scores of numbers, without the limit."""
        inside = np.clip(numbers, self.knots[0], self.knots[-1])
        slope = np.where(numbers < self.knots[0], self.low_slope, self.high_slope)
        return np.interp(inside, self.knots, self.scores) + slope * (numbers - inside)

    def inverse(self, scores: Vector) -> Vector:
        """Return the numbers of scores."""
        inside = np.clip(scores, self.scores[0], self.scores[-1])
        slope = np.where(scores < self.scores[0], self.low_slope, self.high_slope)
        return np.interp(inside, self.scores, self.knots) + (scores - inside) / slope


def fit_linear(ordered: Vector) -> LinearScale:
    """Return the median and the robust spread of sorted numbers as a scale."""
    return LinearScale(float(quantiles(ordered, 0.5)), robust_spread(ordered))


def fit_scale(ordered: Vector, scale: Scale, linear: LinearScale | None = None) -> Transform:
    """Return the scale of that name fitted to sorted numbers, of which at least two differ.

    Parameters
    ----------
    ordered : Vector
        Sorted, finite. Scores may be infinite where the numbers span more than floats can hold.
    scale : "linear", "power" or "quantile"
    linear : LinearScale, optional
        What `fit_linear` gives, if that is known already.
    """
    if scale not in SCALES:
        raise UnknownNameError("scale", scale, SCALES)
    linear = fit_linear(ordered) if linear is None else linear
    centre, spread = linear.centre, linear.spread
    if scale == "linear":
        return linear
    if scale == "quantile":
        return _fit_quantile_scale(ordered, spread)
    low, high = (quantiles(ordered, np.array([0.01, 0.99])) - centre) / spread
    central = quantiles(ordered, np.linspace(0.025, 0.975, min(ordered.size, _CENTRAL_VALUES)))
    exponent = _likeliest_exponent((central - centre) / spread)
    return PowerScale(centre, spread, exponent, float(low), float(high))


def quantiles(ordered: Vector, levels: float | Vector) -> Vector:
    """Return quantiles of sorted numbers, linear between order statistics."""
    position = np.asarray(levels) * (ordered.size - 1)
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, ordered.size - 1)
    weight = position - below
    tied = ordered[below] == ordered[above]
    between = (1.0 - weight) * ordered[below] + weight * ordered[above]
    found: Vector = np.where(tied, ordered[below], between)
    return found


def robust_spread(ordered: Vector) -> float:
    """Return the MAD of sorted numbers as a standard deviation; IQR or SD where that is zero.

    Zero only where all numbers are equal.
    """
    centre = float(quantiles(ordered, 0.5))
    lower, upper = (ordered.size - 1) // 2, ordered.size // 2
    mad = 0.5 * _deviation(ordered, centre, lower) + 0.5 * _deviation(ordered, centre, upper)
    if mad > 0.0:
        return mad * MAD_TO_DEVIATION
    first, third = quantiles(ordered, np.array([0.25, 0.75]))
    if third > first:
        return float((third - first) * IQR_TO_DEVIATION)
    deviations = np.abs(ordered - centre)
    largest = deviations.max()
    if largest == 0.0 or not np.isfinite(largest):
        return float(largest)
    # Divided by the largest first: squares of 1e-300 are zero.
    return float(largest * np.sqrt(np.mean((deviations / largest) ** 2)))


def _deviation(ordered: Vector, centre: float, rank: int) -> float:
    """Return the distance from the centre that `rank` others are nearer than, of sorted numbers.

    The nearest rank + 1 numbers are neighbours: of all such windows it is the one whose farther end
    is nearest, and moving a window up brings its lower end nearer and its upper end farther.
    """
    first, last = 0, ordered.size - rank - 1
    while first < last:
        middle = (first + last) // 2
        if centre - ordered[middle] > ordered[middle + rank] - centre:
            first = middle + 1
        else:
            last = middle
    ends = [(centre - ordered[i], ordered[i + rank] - centre) for i in (first, max(first - 1, 0))]
    return float(min(max(below, above) for below, above in ends))


def _fit_quantile_scale(ordered: Vector, spread: float) -> QuantileScale:
    normal = np.array([NormalDist().inv_cdf(level) for level in _KNOT_LEVELS])
    values = quantiles(ordered, _KNOT_LEVELS)
    knots, group = np.unique(values, return_inverse=True)
    scores = np.bincount(group, weights=normal) / np.bincount(group)

    def tail_slope(first: int, last: int) -> float:
        width = values[last] - values[first]
        return float((normal[last] - normal[first]) / width) if width > 0.0 else 1.0 / spread

    return QuantileScale(knots, scores, tail_slope(0, 4), tail_slope(14, 18))


def _likeliest_exponent(z: Vector) -> float:
    """Return the exponent in [0, 2] under which the transformed z are most nearly normal."""
    signed_logs = float(np.sum(np.sign(z) * np.log1p(np.abs(z))))

    def log_likelihood(exponent: float) -> float:
        variance = float(np.var(_yeo_johnson(z, exponent)))
        if not 0.0 < variance < math.inf:
            return -math.inf
        return -0.5 * z.size * math.log(variance) + (exponent - 1.0) * signed_logs

    def best(candidates: Vector) -> float:
        values = [log_likelihood(float(e)) for e in candidates]
        return float(candidates[int(np.argmax(values))]) if max(values) > -math.inf else 1.0

    coarse = best(np.linspace(0.0, 2.0, 21))
    return best(np.clip(np.round(coarse + np.linspace(-0.1, 0.1, 21), 2), 0.0, 2.0))


def _yeo_johnson(z: Vector, exponent: float) -> Vector:
    exponents = np.where(z >= 0.0, exponent, 2.0 - exponent)
    logs = np.log1p(np.abs(z))
    # At exponent 0 the limit of (exp(e * log) - 1)/e is the logarithm itself.
    size = np.expm1(exponents * logs) / np.where(exponents == 0.0, 1.0, exponents)
    return np.copysign(np.where(exponents == 0.0, logs, size), z)


def _in_one_piece(numbers: Vector) -> Vector:
    """Return a vector as the one kind of array that kernels are compiled for."""
    return np.require(numbers, dtype=np.float64, requirements=("C", "W"))


def _slopes(low: float, high: float, exponent: float) -> tuple[float, float]:
    """Return the derivatives of the Yeo-Johnson power at two points."""

    def derivative(z: float) -> float:
        power = exponent - 1.0 if z >= 0.0 else 1.0 - exponent
        return float(np.exp(power * np.log1p(abs(z))))

    return derivative(low), derivative(high)
