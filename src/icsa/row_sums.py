"""Sums over rows, leaf by leaf: the same digits whatever blocks a long table comes in.

A leaf is a fixed number of rows. What is added up within one is added as linear algebra likes; the
leaves are then added one after the other. Whoever has a table in blocks of whole leaves, on one
machine or on many, hence gets what whoever has it in memory gets.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from icsa.matrices import Matrix, Vector, row_blocks
from icsa.threads import in_threads, threads_for

__all__ = ["added", "mean_and_covariance", "products_of", "total_of"]

Flags = npt.NDArray[np.bool_]


def total_of(leaf: Matrix, weights: Flags) -> Vector:
    """Return the sum of the rows of a leaf that count.

    Examples
    --------
    >>> total_of(np.array([[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]), np.array([True, True, False]))
    array([4., 6.])
    """
    return np.asarray(weights.astype(np.float64) @ leaf)


def products_of(leaf: Matrix, mean: Vector, weights: Flags) -> Matrix:
    """Return the sum of (x - mean)(x - mean)' over the rows x of a leaf that count.

    Examples
    --------
    >>> products_of(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 3.0]), np.ones(2, bool))
    array([[2., 2.],
           [2., 2.]])
    """
    centred = leaf - mean
    centred *= weights[:, None]
    return np.asarray(centred.T @ centred)


def added(parts: Iterable[Matrix], start: Matrix) -> Matrix:
    """Return the sum of what there is and what further leaves have, one after the other.

    Examples
    --------
    >>> added([np.ones(2), np.ones(2)], np.zeros(2))
    array([2., 2.])
    """
    return sum(parts, start=start)


def mean_and_covariance(x: Matrix, weights: Flags | None = None) -> tuple[Vector, Matrix]:
    """Return mean and covariance (divisor n - 1) of the rows that count, by leaves.

    Examples
    --------
    >>> mean_and_covariance(np.array([[0.0], [2.0], [90.0]]), np.array([True, True, False]))
    (array([1.]), array([[2.]]))
    """
    counting = np.ones(x.shape[0], dtype=bool) if weights is None else weights
    count, p = int(counting.sum()), x.shape[1]
    leaves, threads = list(row_blocks(x.shape[0])), threads_for(x.size, None)
    totals = in_threads(lambda rows: total_of(x[rows], counting[rows]), leaves, threads)
    mean = added(totals, np.zeros(p)) / count
    products = in_threads(lambda rows: products_of(x[rows], mean, counting[rows]), leaves, threads)
    return mean, added(products, np.zeros((p, p))) / (count - 1)
