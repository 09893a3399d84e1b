"""Robust locations and scales of single columns or distances: tau, Qn, bisquare."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtr, chdtrc, ndtr, ndtri

from icsa.compilation import kernel
from icsa.correlations import median_mad
from icsa.errors import ExactFitError
from icsa.matrices import Matrix, Vector

__all__ = [
    "average_ranks",
    "bisquare_cutoff",
    "bisquare_radii",
    "bisquare_weights",
    "qn_scale",
    "tau_location_scale",
    "tied_direction_error",
    "truncated_moment",
]

_TAU_LOCATION_CUTOFF = 4.5
_TAU_SCALE_CUTOFF = 3.0

# 1/(sqrt(2) ndtri(5/8)), what makes Qn the standard deviation of a normal distribution; R's digits.
_QN_CONSISTENCY = 2.21914

# Finite-sample factors of Qn for 2, 3, ... 12 rows, measured by calling robustbase::Qn.
_QN_SMALL_SAMPLE = (
    *(0.399356, 0.99365, 0.51321, 0.84401, 0.61220, 0.85877),
    *(0.66993, 0.87344, 0.72014, 0.88906, 0.75743),
)


def tau_location_scale(x: Matrix) -> tuple[Vector, Vector]:
    """Return the tau location and the tau scale of each column.

    With m the median, s the median absolute deviation and W(t) = (1 - (t/4.5)²)² inside ±4.5, ::

        location = sum w_i x_i / sum w_i,            w_i = W((x_i - m)/s)
        scale²   = s²/k mean(min((x_i - location)²/s², 3²))

    where k makes the scale the standard deviation under normality. A column of which more than
    half the cells are equal gets that value and the scale 0.

    References
    ----------
    Maronna, R. A. and Zamar, R. H. (2002). Robust estimates of location and dispersion for
    high-dimensional datasets. Technometrics 44, 307-317.

    Examples
    --------
    >>> column = np.array([[-1.0], [0.0], [1.0], [0.0], [500.0], [-500.0]])
    >>> location, scale = tau_location_scale(column)
    >>> bool(abs(location[0]) < 1e-12), bool(scale[0] < 4)
    (True, True)
    """
    columns = np.ascontiguousarray(x.T)
    median, mad = median_mad(x)
    spread = np.where(mad > 0, mad, 1.0)[:, None]
    weights = (columns - median[:, None]) / (_TAU_LOCATION_CUTOFF * spread)
    weights = np.maximum(1.0 - weights * weights, 0.0) ** 2
    location = np.sum(weights * columns, axis=1) / np.sum(weights, axis=1)
    location = np.where(mad > 0, location, median)
    deviation = (columns - location[:, None]) / spread
    clipped = np.minimum(deviation * deviation, _TAU_SCALE_CUTOFF**2)
    return location, mad * np.sqrt(np.mean(clipped, axis=1) / _tau_consistency())


def qn_scale(x: Matrix) -> Vector:
    """Return the Qn scale of each column of at least two rows.

    Qn is the k-th smallest of the distances |x_i - x_j|, i < j, with k = h(h-1)/2 and h = n//2 + 1,
    times 2.21914 and a factor for small n that make it the standard deviation under normality.

    References
    ----------
    Rousseeuw, P. J. and Croux, C. (1993). Alternatives to the median absolute deviation. Journal
    of the American Statistical Association 88, 1273-1283.

    Examples
    --------
    >>> qn_scale(np.array([[1.0], [2.0], [4.0]])).round(4)  # k = 1: the smallest distance, 1
    array([2.205])
    """
    n_rows = x.shape[0]
    half = n_rows // 2 + 1
    ordered = np.sort(np.ascontiguousarray(x.T), axis=1)
    return _kth_distances(ordered, half * (half - 1) // 2) * (_QN_CONSISTENCY * _qn_factor(n_rows))


def average_ranks(column: Vector) -> Vector:
    """Return the ranks 1, 2, ... of the cells of a column; equal cells share their average rank.

    Examples
    --------
    >>> average_ranks(np.array([5.0, 1.0, 5.0, 9.0]))
    array([2.5, 1. , 2.5, 4. ])
    """
    _, position, counts = np.unique(column, return_inverse=True, return_counts=True)
    ranks: Vector = np.cumsum(counts) - 0.5 * (counts - 1)
    return ranks[position]


def bisquare_weights(squared: Vector, squared_radius: float | Vector) -> Vector:
    """Return (1 - d²/r²)² inside the radius and 0 outside it.

    Examples
    --------
    >>> bisquare_weights(np.array([0.0, 2.0, 9.0]), 4.0)
    array([1.  , 0.25, 0.  ])
    """
    inside: Vector = np.maximum(1.0 - squared / squared_radius, 0.0)
    return inside * inside


def bisquare_radii(
    squared: Matrix, breakdown: float, guess: Vector | None = None, tolerance: float = 1e-14
) -> Vector:
    """Return, for each row of squared distances, the r² with mean(1 - (1 - min(d²/r², 1))³) = b.

    r is the M-scale of the distances times the cut-off. The mean is increasing and concave in
    1/r², so a Newton step from anywhere ends left of the root, and the next ones climb to it.

    Examples
    --------
    >>> radius = bisquare_radii(np.array([[1.0, 1.0, 100.0, 100.0]]), 0.75)
    >>> (1 - (1 - 1 / radius) ** 3).round(12)  # half the rows outside: the others give 0.5
    array([0.5])
    """
    if guess is None:
        first = int(squared.shape[1] * (1.0 - breakdown))
        guess = np.partition(squared, first, axis=1)[:, first]
    inverse = 1.0 / guess
    for _ in range(200):
        inside = np.maximum(1.0 - squared * inverse[:, None], 0.0)
        square = inside * inside
        slope = 3.0 * np.einsum("bi,bi->b", square, squared)
        excess = (1.0 - breakdown) * squared.shape[1] - np.einsum("bi,bi->b", square, inside)
        step = excess / np.where(slope > 0, slope, np.inf)
        following = np.where(slope > 0, np.maximum(inverse - step, 0.125 * inverse), 0.5 * inverse)
        settled = np.abs(following - inverse) <= tolerance * inverse
        inverse = following
        if settled.all():
            break
    return 1.0 / inverse


@cache
def bisquare_cutoff(n_columns: int, breakdown: float) -> float:
    """Return c with E[1 - (1 - min(r/c, 1)²)³] = breakdown, r² being chi-squared.

    Examples
    --------
    >>> round(bisquare_cutoff(1, 0.5), 4)
    1.5476
    """

    def excess(square: float) -> float:
        inner = sum(
            sign * truncated_moment(power, n_columns, square) / square**power
            for power, sign in ((1, 3.0), (2, -3.0), (3, 1.0))
        )
        return inner + float(chdtrc(n_columns, square)) - breakdown

    return math.sqrt(brentq(excess, 1e-3 * n_columns, 10.0 * n_columns / breakdown, xtol=1e-14))


def truncated_moment(power: int, n_columns: int, squared_cutoff: float) -> float:
    """Return E[r^(2 power); r² < squared_cutoff], r² being chi-squared with n_columns degrees.

    Examples
    --------
    >>> round(truncated_moment(1, 3, 1e9), 6)  # the mean of r² itself
    3.0
    """
    factor = math.prod(n_columns + 2 * step for step in range(power))
    return factor * float(chdtr(n_columns + 2 * power, squared_cutoff))


def tied_direction_error(
    name: str, rows: Matrix, coefficients: Vector, *, allowed: int
) -> ExactFitError:
    """Return the error that too many rows tie in the combination with these coefficients.

    Examples
    --------
    >>> rows = np.array([[0.0, 5.0], [0.0, 7.0], [0.0, 1.0], [3.0, 2.0]])
    >>> error = tied_direction_error("ogk", rows, np.array([1.0, 0.0]), allowed=2)
    >>> error.columns, error.rows_on_it
    ((0,), 3)
    """
    parts = np.abs(coefficients) * np.std(rows, axis=0)
    columns = [int(column) for column in np.flatnonzero(parts > 1e-6 * parts.max(initial=0.0))]
    values = rows @ coefficients
    size = np.median(np.abs(rows - np.median(rows, axis=0)) @ np.abs(coefficients))
    return ExactFitError(
        name,
        columns,
        [str(column) for column in columns],
        rows_on_it=int(np.sum(np.abs(values - np.median(values)) <= 1e-7 * size)),
        n_rows=rows.shape[0],
        allowed=allowed,
    )


def _tau_consistency() -> float:
    """Return E min(Z², (3m)²), m = ndtri(3/4) being the MAD of a standard normal Z."""
    cut = _TAU_SCALE_CUTOFF * float(ndtri(0.75))
    density = math.exp(-0.5 * cut * cut) / math.sqrt(2.0 * math.pi)
    tail = 1.0 - float(ndtr(cut))
    return (1.0 - 2.0 * tail - 2.0 * cut * density) + 2.0 * cut * cut * tail


def _qn_factor(n_rows: int) -> float:
    """Return the finite-sample factor of Qn: above 12 rows, 1/n-series fitted to robustbase::Qn."""
    if n_rows <= len(_QN_SMALL_SAMPLE) + 1:
        return _QN_SMALL_SAMPLE[n_rows - 2]
    inverse = 1.0 / n_rows
    if n_rows % 2:
        excess = 1.60188 + inverse * (-2.1284 - 5.172 * inverse)
    else:
        excess = 3.67561 + inverse * (1.9654 + inverse * (6.987 - 77.0 * inverse))
    return 1.0 / (1.0 + excess * inverse)


@kernel
def _kth_distances(ordered: Matrix, k: int) -> Vector:
    """Return, for each sorted row, the k-th smallest distance between two of its cells.

    The range of the answer is halved until it holds neighbouring numbers only, so the result is
    exact: the smallest number that k distances do not exceed.
    """
    result = np.zeros(ordered.shape[0])
    for row in range(ordered.shape[0]):
        low, high = 0.0, ordered[row, -1] - ordered[row, 0]
        if _pairs_within(ordered[row], low) >= k:
            continue
        while True:
            middle = low + 0.5 * (high - low)
            if middle <= low or middle >= high:
                break
            if _pairs_within(ordered[row], middle) >= k:
                high = middle
            else:
                low = middle
        result[row] = high
    return result


@kernel
def _pairs_within(ordered: Vector, distance: float) -> int:
    """Return the number of pairs at most `distance` apart, in one walk over the sorted cells."""
    count, first = 0, 0
    for last in range(ordered.size):
        while ordered[last] - ordered[first] > distance:
            first += 1
        count += last - first
    return count
