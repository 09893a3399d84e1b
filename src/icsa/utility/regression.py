"""Least squares with an intercept, and how far its coefficients move.

The centred columns of (X, y) are made orthogonal one after the other by the modified Gram-Schmidt
process, which gives R of their QR factorisation; with y as the last column this is a backward
stable way to the coefficients [1]_. Only angles between columns decide about the rank, so units do
not matter.

References
----------
.. [1] A. Bjorck (1967). Solving linear least squares problems by Gram-Schmidt orthogonalization.
   BIT 7, 1-21.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from icsa.compilation import summing_kernel
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, as_matrix
from icsa.measures import Estimate, NotEstimable

__all__ = ["LeastSquares", "coefficient_distance", "least_squares", "regression_loss"]

# A predictor whose angle to the span of the earlier ones has a smaller sine depends on them.
_LEAST_SINE = 1e-10
# A column whose spread is a smaller part of its mean is constant but for rounding.
_LEAST_SPREAD = 1e-13


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """A least-squares fit.

    Parameters
    ----------
    coefficients : ndarray of shape (n_predictors,)
        The slopes, without the intercept.
    intercept : float
    """

    coefficients: Vector
    intercept: float


def least_squares(x: object, y: object) -> LeastSquares | NotEstimable:
    """Return the coefficients b and the intercept a that minimise sum_i (y_i - a - x_i'b)^2.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_predictors)
    y : array-like of shape (n_rows,)

    Returns
    -------
    LeastSquares or NotEstimable
        Not estimable with n_rows <= n_predictors + 1, with a constant predictor, and when a
        predictor is a linear function of earlier ones.

    Examples
    --------
    The means are 1 and 3; b = sum (x - 1)(y - 3) / sum (x - 1)^2 = 4/2, a = 3 - 2:

    >>> least_squares([[0.0], [1.0], [1.0], [2.0]], [1.0, 3.0, 3.0, 5.0])
    LeastSquares(coefficients=array([2.]), intercept=1.0)
    >>> print(least_squares([[1.0], [2.0]], [1.0, 2.0]))
    not estimable: least squares needs more rows than predictors + 1: got 2 rows, 1 predictor(s)
    """
    predictors, response = as_matrix(x), as_matrix(np.reshape(np.asarray(y), (-1, 1)))
    if predictors.shape[0] != response.shape[0]:
        raise InputError(
            f"Predictors and response must have the same rows: got {predictors.shape[0]} "
            f"and {response.shape[0]}."
        )
    work = np.empty((predictors.shape[1] + 1, predictors.shape[0]))
    work[:-1], work[-1] = predictors.T, response[:, 0]
    means = work.mean(axis=1)
    coefficients = _coefficients(work)
    if isinstance(coefficients, NotEstimable):
        return coefficients
    return LeastSquares(coefficients, float(means[-1] - means[:-1] @ coefficients))


def coefficient_distance(a: object, b: object) -> float:
    """Return |a - b|, the Euclidean distance of two coefficient vectors.

    Examples
    --------
    >>> coefficient_distance([1.0, 2.0], [4.0, 6.0])
    5.0
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(
            f"Coefficients must be two vectors of one length: got {first.shape} and {second.shape}."
        )
    distance = math.dist(first.tolist(), second.tolist())  # does not overflow on the way
    if not math.isfinite(distance):
        raise InputError("The coefficients are not finite.")
    return distance


def regression_loss(coefficients: Vector, released: Matrix) -> Estimate:
    """Return |b - b*|: what least squares on a release loses (the simulation's utility loss).

    b* are the coefficients of the regression of the release's last column on all others, with an
    intercept that is left out of the norm. Lower is better.

    Parameters
    ----------
    coefficients : ndarray of shape (n_columns - 1,)
        The coefficients b to come near: the true ones, or those on the original.
    released : ndarray of shape (n_rows, n_columns), float64
        Predictors and, last, the response. Fastest in Fortran order.

    Returns
    -------
    float or NotEstimable
        Not estimable as in `least_squares`.

    Examples
    --------
    The release has y = 1 + 2x, the truth was a slope of 2.5:

    >>> released = np.array([[0.0, 1.0], [1.0, 3.0], [1.0, 3.0], [2.0, 5.0]])
    >>> regression_loss(np.array([2.5]), released)
    0.5
    """
    if released.ndim != 2 or coefficients.shape != (released.shape[1] - 1,):
        raise InputError(
            f"A release of k columns goes with k - 1 coefficients: got shapes {released.shape} and "
            f"{coefficients.shape}."
        )
    estimate = _coefficients(np.array(released.T, dtype=np.float64, order="C"))
    if isinstance(estimate, NotEstimable):
        as_matrix(released)  # cells that are not finite are an error
        return estimate
    loss = math.dist(estimate.tolist(), coefficients.tolist())
    if not math.isfinite(loss):
        as_matrix(released)
        raise InputError("The coefficients are not finite.")
    return loss


def _coefficients(work: Matrix) -> Vector | NotEstimable:
    """Return the coefficients of the last row of `work` on the others; `work` is overwritten."""
    k, n = work.shape
    if n <= k:
        return NotEstimable(
            f"least squares needs more rows than predictors + 1: got {n} rows, {k - 1} predictor(s)"
        )
    mixing, coefficients = np.empty((k, k)), np.empty(k - 1)
    dependent = _orthogonalize(work, mixing)
    if dependent >= 0:
        return NotEstimable(
            f"predictor {dependent} is constant or depends on earlier predictors exactly"
        )
    _solve(mixing, coefficients)
    return coefficients


@summing_kernel
def _orthogonalize(work: Matrix, mixing: Matrix) -> int:
    """Centre the rows of `work`, and make each but the last orthogonal to those before it.

    Row j then was sum_k mixing[k, j] work[k], mixing[j, j] = 1; of the last row only the mixing is
    needed. Return -1, or the first row that depends on earlier ones (or holds a NaN).
    """
    rows, n = work.shape
    squares = np.empty(rows)
    for j in range(rows):
        target, before, mean = work[j], 0.0, 0.0
        first = target[0]  # as the origin: a constant column is centred to zero exactly
        for i in range(n):
            mean += target[i] - first
        mean = first + mean / n
        for i in range(n):
            target[i] -= mean
            before += target[i] * target[i]
        for k in range(j):
            source, product = work[k], 0.0
            for i in range(n):
                product += source[i] * target[i]
            product /= squares[k]
            mixing[k, j] = product
            for i in range(n):
                target[i] -= product * source[i]
        after = 0.0
        for i in range(n):
            after += target[i] * target[i]
        squares[j] = after
        least = max(_LEAST_SINE**2 * before, _LEAST_SPREAD**2 * mean * mean * n)
        if j < rows - 1 and not after > least:
            return j
    return -1


@summing_kernel
def _solve(mixing: Matrix, coefficients: Vector) -> None:
    """Set b with U b = the last column of `mixing`, U the unit upper triangle before it."""
    p = coefficients.size
    for j in range(p - 1, -1, -1):
        value = mixing[j, p]
        for k in range(j + 1, p):
            value -= mixing[j, k] * coefficients[k]
        coefficients[j] = value
