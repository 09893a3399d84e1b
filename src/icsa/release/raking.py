"""Weights that give wanted totals, each near to what it was.

Those of a long table are found from sums over leaves of its rows, so that blocks of rows give the
same: `moved_weights` and `round_sums` are functions of a leaf.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from icsa.limits import LONG
from icsa.linalg import inner_product
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.row_sums import added
from icsa.threads import one_linear_algebra_thread

__all__ = [
    "RoundSums",
    "Scaled",
    "moved_weights",
    "raked",
    "raking_note",
    "round_sums",
    "scale_of",
    "slope_of",
    "weighted_totals",
]

# Differences in standard deviations that nobody sees.
_SEEN: Final = 1e-3

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
    with one_linear_algebra_thread():  # with more, sums have other last digits
        if weights.size > LONG:
            return _raked_by_leaves(weights, values, totals)
        return _raked_at_once(weights, values, totals)


def _raked_at_once(weights: Vector, values: Matrix, totals: Vector) -> tuple[Vector, float]:
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


def weighted_totals(weights: Vector, values: Matrix) -> Vector:
    """Return the sum of weights times values of each column.

    Examples
    --------
    >>> weighted_totals(np.array([2.0, 3.0]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([5., 3.])
    """
    with one_linear_algebra_thread():
        if weights.size <= LONG:
            return np.asarray(weights @ values)
        leaves = list(row_blocks(weights.size))
        found = [
            sum(inner_product(weights[leaf], column[leaf]) for leaf in leaves)
            for column in values.T
        ]
        return np.array(found)


def raking_note(n_totals: int, off: float) -> str:
    """Return what to know of raked weights."""
    ending = "" if off < _SEEN else f", but for up to {off:.2g} standard deviations"
    return (
        f"{n_totals} weighted totals are those of the original{ending}, which publishes "
        "them. Use --no-raking (raking = false) if they may not be known."
    )


class Scaled(NamedTuple):
    """How values are scaled: by a unit; which totals they are to have then; the sum of weights."""

    unit: Vector
    wanted: Vector
    total: float


class RoundSums(NamedTuple):
    """Totals of a leaf with moved weights, and how these change with the slope."""

    totals: Vector
    curvature: Matrix


def scale_of(total: float, centre: Vector, squares: Vector, totals: Vector) -> Scaled:
    """Return how values are scaled, from their weighted mean and squares around it."""
    spread = np.sqrt(np.maximum(squares / total, 0.0))
    flat = spread <= 1e-12 * (1.0 + np.abs(centre))
    unit = np.where(flat, np.maximum(np.abs(centre), 1.0), spread)
    return Scaled(unit, totals / unit, total)


def moved_weights(weights: Vector, values: Matrix, scaled: Scaled, slope: Vector) -> Vector:
    """Return the weights of a leaf, each moved by its values."""
    return np.asarray(weights * _factors(values / scaled.unit, slope))


def _factors(values: Matrix, slope: Vector) -> Vector:
    return np.asarray(np.exp(np.clip(values @ slope, np.log(_LEAST), np.log(_MOST))))


def round_sums(weights: Vector, values: Matrix, scaled: Scaled, slope: Vector) -> RoundSums:
    """Return what a round of Newton's method needs of a leaf."""
    own = values / scaled.unit
    factors = _factors(own, slope)
    found = weights * factors
    free = np.where((factors > _LEAST) & (factors < _MOST), found, 0.0)
    return RoundSums(found @ own, (own * free[:, None]).T @ own)


def slope_of(scaled: Scaled, sums: Callable[[Vector], RoundSums]) -> tuple[Vector, float]:
    """Return the slope whose weights give wanted totals best, and how far off they are.

    Parameters
    ----------
    scaled : Scaled
    sums : function
        From a slope to the sums of all leaves.
    """
    slope = best = np.zeros(scaled.wanted.size)
    least = np.inf
    for _ in range(_ROUNDS):
        found = sums(slope)
        off = scaled.wanted - found.totals
        size = float(np.abs(off).max()) / scaled.total
        if size < least:
            best, least = slope, size
        if size < _ENOUGH:
            break
        curvature = found.curvature
        curvature[np.diag_indices_from(curvature)] += 1e-9 * scaled.total
        slope = slope + np.linalg.solve(curvature, off)
    return best, least


def _raked_by_leaves(weights: Vector, values: Matrix, totals: Vector) -> tuple[Vector, float]:
    leaves, p = list(row_blocks(weights.size)), values.shape[1]

    def rows(leaf: slice) -> Matrix:
        return np.ascontiguousarray(values[leaf])

    total = float(weights.sum())
    centre = added((weights[leaf] @ rows(leaf) for leaf in leaves), np.zeros(p)) / total
    around = (weights[leaf] @ (rows(leaf) - centre) ** 2 for leaf in leaves)
    scaled = scale_of(total, centre, added(around, np.zeros(p)), totals)

    def sums(slope: Vector) -> RoundSums:
        found = [round_sums(weights[leaf], rows(leaf), scaled, slope) for leaf in leaves]
        return RoundSums(
            added((one.totals for one in found), np.zeros(p)),
            added((one.curvature for one in found), np.zeros((p, p))),
        )

    slope, off = slope_of(scaled, sums)
    moved = [moved_weights(weights[leaf], rows(leaf), scaled, slope) for leaf in leaves]
    return np.concatenate(moved), off
