"""Weights that give wanted totals, each near to what it was."""

from __future__ import annotations

from typing import Final

import numpy as np

from icsa.matrices import Matrix, Vector

__all__ = ["raked"]

# How far a weight may be moved, as a ratio.
_LEAST: Final = 0.2
_MOST: Final = 5.0
_ROUNDS: Final = 100
_ENOUGH: Final = 1e-10


def raked(weights: Vector, values: Matrix, totals: Vector) -> tuple[Vector, float]:
    """Return weights near to the given ones that give wanted totals, and how far off they are.

    Each is multiplied by exp(z'a), held between 1/5 and 5, with a found by Newton's method so that
    the sum of weights times values is as wanted: raking, as in survey sampling.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
    values : ndarray of shape (n_rows, n_totals)
    totals : ndarray of shape (n_totals,)

    Returns
    -------
    weights : ndarray of shape (n_rows,)
    off : float
        The largest difference of a total, in standard deviations of a weighted mean's values.

    Examples
    --------
    >>> values = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    >>> found, off = raked(np.ones(4), values, np.array([6.0, 4.0]))
    >>> found.round(6), off < 1e-6
    (array([1., 1., 2., 2.]), True)
    """
    total = float(weights.sum())
    centre = weights @ values / total
    spread = np.sqrt(np.maximum(weights @ (values - centre) ** 2 / total, 0.0))
    unit = np.where(
        spread > 1e-12 * (1.0 + np.abs(centre)), spread, np.maximum(np.abs(centre), 1.0)
    )
    scaled, wanted = values / unit, totals / unit
    found, best, least = weights, weights, np.inf
    slope = np.zeros(values.shape[1])
    for _ in range(_ROUNDS):
        off = wanted - found @ scaled
        size = float(np.abs(off).max()) / total
        if size < least:
            best, least = found, size
        if size < _ENOUGH:
            break
        factor = found / weights
        free = np.where((factor > _LEAST) & (factor < _MOST), found, 0.0)
        curvature = (scaled * free[:, None]).T @ scaled
        curvature[np.diag_indices_from(curvature)] += 1e-9 * total
        slope = slope + np.linalg.solve(curvature, off)
        exponent = np.clip(scaled @ slope, np.log(_LEAST), np.log(_MOST))
        found = weights * np.exp(exponent)
    return best, least
