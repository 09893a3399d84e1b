"""Decoding that keeps the count of every level exactly."""

from __future__ import annotations

import numpy as np

from icsa.columns.levels import Counts
from icsa.matrices import Vector

__all__ = ["counts_among", "positions_by_rank"]


def positions_by_rank(scores: Vector, counts: Counts) -> Vector:
    """Return positions of ordered levels: the lowest scores get the first level, and so on.

    Tied scores are taken in the order of the rows.

    Parameters
    ----------
    scores : Vector
        One a row.
    counts : array of int
        Of every level; they add up to the number of rows.

    Examples
    --------
    >>> positions_by_rank(np.array([0.9, -0.2, 0.4, 0.1]), np.array([1, 3]))
    array([1., 0., 1., 1.])
    """
    borders = np.unique(np.cumsum(counts)[:-1])
    borders = borders[(borders > 0) & (borders < scores.size)]
    occupied = np.flatnonzero(counts)
    firsts = np.partition(scores, borders)[borders]
    ranks = np.searchsorted(firsts, scores, side="right")
    positions = occupied[ranks]
    if not np.array_equal(np.bincount(positions, minlength=counts.size), counts):
        # Scores are tied across a border. A sort costs more, and decides by the order of rows.
        positions[np.argsort(scores, kind="stable")] = np.repeat(np.arange(counts.size), counts)
    return positions.astype(np.float64)


def counts_among(counts: Counts, n_rows: int) -> Counts:
    """Return the counts scaled to another number of rows, those with the largest rest rounded up.

    Examples
    --------
    >>> counts_among(np.array([10, 20, 70]), 100), counts_among(np.array([10, 20, 70]), 7)
    (array([10, 20, 70]), array([1, 1, 5]))
    """
    total = int(counts.sum())
    if n_rows == total:
        return counts
    exact = counts * (n_rows / total)
    scaled: Counts = np.floor(exact).astype(np.int64)
    order = np.argsort(scaled - exact, kind="stable")
    scaled[order[: n_rows - int(scaled.sum())]] += 1
    return scaled
