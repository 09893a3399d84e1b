"""The second step after a mask: no correlations between components."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from icsa.errors import InputError
from icsa.linalg import inverse_root
from icsa.masks.base import scores, source_and_target
from icsa.matrices import Matrix, Vector, as_matrix, row_blocks

__all__ = ["Moments", "decorrelate", "moments"]

# Products with their intermediate results stay in the cache at this many rows.
_PRODUCT_ROWS: Final = 1 << 12


class Moments(NamedTuple):
    """Mean and standard deviation (divisor n) of every column."""

    mean: Vector
    deviation: Vector


def moments(z: Matrix) -> Moments:
    """Return the mean and standard deviation of every column, by blocks of rows.

    Examples
    --------
    >>> moments(np.array([[1.0, 5.0], [3.0, 5.0]]))
    Moments(mean=array([2., 5.]), deviation=array([1., 0.]))
    """
    z = scores(z)
    n_rows = z.shape[0]
    # From the first row, so that a constant is exact; what rounding left is added by the next pass.
    # Sums run down columns in one piece, so that the layout of z does not change the last digits.
    mean = z[0].copy()
    for rows in row_blocks(n_rows):
        mean += np.subtract(z[rows], z[0], order="F").sum(axis=0) / n_rows
    left, squares = np.zeros_like(mean), np.zeros_like(mean)
    for rows in row_blocks(n_rows):
        centred = np.subtract(z[rows], mean, order="F")
        left += centred.sum(axis=0) / n_rows
        squares += np.square(centred).sum(axis=0) / n_rows
    return Moments(mean + left, np.sqrt(np.maximum(squares - left**2, 0.0)))


def decorrelate(
    masked: Matrix, original: Matrix | Moments | None = None, *, out: Matrix | None = None
) -> Matrix:
    """Return masked scores without correlations between components.

    They are standardised, multiplied by R^(-1/2) (the symmetric root; R their correlation matrix),
    and given standard deviations and means. Masks leave chance correlations of size n^(-1/2)
    between components, which cost half of the efficiency; this takes them out.

    Parameters
    ----------
    masked : ndarray of shape (n_rows, n_components)
        Scores after a mask.
    original : ndarray of the same shape, or Moments, optional
        Scores before the mask or, where they were masked in place, their `moments`: these means and
        standard deviations are restored. By default the masked scores keep their own, which is what
        belongs after `redraw`: the original's would give back what somebody far out does to
        them, and to who knows all rows but one the last.
    out : ndarray of shape (n_rows, n_components), optional
        Where to write: float64 in Fortran order. It may be `masked` itself.

    Returns
    -------
    ndarray of shape (n_rows, n_components), in Fortran order
        `out`, or a new array. A component that was constant is that constant.

    Examples
    --------
    >>> z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> masked = np.array([[1.0, 1.4], [1.0, -0.2], [-1.0, 0.2], [-1.0, -1.4]])
    >>> decorrelate(masked, z).round(4)
    array([[ 0.6325,  1.2649],
           [ 1.2649, -0.6325],
           [-1.2649,  0.6325],
           [-0.6325, -1.2649]])
    """
    source, target = source_and_target(masked, out)
    wanted = _wanted_moments(moments(source) if original is None else original, source.shape)
    # One round is exact but for rounding, which the next takes out where R is ill-conditioned.
    for _ in range(3):
        mean, scale, correlation = _standardization(source, wanted)
        smallest = np.linalg.eigvalsh(correlation)[0]
        if smallest < 1e-12:
            raise InputError(
                "decorrelate: masked components depend on each other exactly. "
                "Use more rows or fewer columns, or decorrelate=False."
            )
        back = inverse_root(correlation) * wanted.deviation
        for rows in row_blocks(source.shape[0], _PRODUCT_ROWS):
            target[rows] = ((source[rows] - mean) / scale) @ back + wanted.mean
        if smallest > 0.1:
            break
        source = target
    return target


def _wanted_moments(original: Matrix | Moments, shape: tuple[int, ...]) -> Moments:
    """Return the moments to restore, with a deviation of exactly 0 for constant components."""
    if not isinstance(original, Moments):
        if np.shape(original) != shape:
            raise InputError("decorrelate: masked and original scores must have the same shape.")
        original = moments(original)
    deviation = _real_deviation(original)
    n_rows, n_components = shape[0], np.count_nonzero(deviation)
    if n_components and n_rows <= n_components + 1:
        raise InputError(
            f"decorrelate needs more rows than components + 1: got {n_rows} rows, "
            f"{n_components} components. Use more rows or fewer columns, or decorrelate=False."
        )
    return Moments(original.mean, deviation)


def _standardization(z: Matrix, wanted: Moments) -> tuple[Vector, Vector, Matrix]:
    """Return means, scales and correlations; a constant component has scale 1 and stands apart."""
    found, varies = moments(z), wanted.deviation > 0
    lost = np.flatnonzero(varies & (_real_deviation(found) == 0))
    if lost.size:
        raise InputError(
            f"decorrelate: component {lost[0]} is constant after the mask but was not before. "
            "Use another mask, or decorrelate=False."
        )
    scale = np.where(varies, found.deviation, 1.0)
    correlation = np.zeros((scale.size, scale.size))
    for rows in row_blocks(z.shape[0], _PRODUCT_ROWS):
        standard = (z[rows] - found.mean) / scale
        correlation += standard.T @ standard / z.shape[0]
    correlation *= np.outer(varies, varies)
    np.fill_diagonal(correlation, 1.0)
    if not np.isfinite(correlation).all():
        as_matrix(z)  # says where the scores are not finite
    return found.mean, scale, correlation


def _real_deviation(found: Moments) -> Vector:
    # Rounding in the scores of a constant column is not variation.
    return np.where(found.deviation <= 1e-14 * np.abs(found.mean), 0.0, found.deviation)
