"""Calibration: the smallest linear move that gives a decoded release the original's correlations.

A permutation leaves chance correlations between components, decoding weakens those of rare levels,
and bending scales back changes them again. So the masked scores U, standardised, are multiplied by

    M = C^(-1/2) (C^(1/2) T C^(1/2))^(1/2) C^(-1/2),

of all linear maps from scores with correlation C to scores with correlation T the one that moves
them least. T starts at the correlation that is wanted, and what the decoded release lacks of it is
added, round by round. Correlations are of winsorised numbers: with plain ones, people who stand out
would be given back. The best round counts, and no move at all if none is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from icsa.correlations import deviations, pairwise_correlations
from icsa.linalg import symmetrize
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.release.limits import LIMITS
from icsa.threads import in_threads, threads_for

__all__ = ["Move", "calibrating_move", "least_move", "score_correlation", "view_correlation"]

# Rows that one thread moves at a time: products and results stay in the cache.
_MOVED_ROWS = 1 << 12


@dataclass(frozen=True, eq=False)
class Move:
    """An affine map of masked scores: (scores - centre) / spread, times `matrix`, and back."""

    centre: Vector
    spread: Vector
    matrix: Matrix

    def apply(self, scores: Matrix) -> Matrix:
        """Return the moved scores."""
        moved = np.empty(scores.shape, order="F")
        self._fill(scores, moved)
        return moved

    def apply_in_place(self, scores: Matrix) -> None:
        """Move the scores where they are."""
        self._fill(scores, scores)

    def _fill(self, scores: Matrix, out: Matrix) -> None:
        # One matrix for the three steps: x -> centre + (x - centre) K.
        product = self.matrix / self.spread[:, None] * self.spread
        shift = self.centre - self.centre @ product

        def work(rows: slice) -> None:
            out[rows] = scores[rows] @ product + shift

        blocks = list(row_blocks(scores.shape[0], _MOVED_ROWS))
        in_threads(work, blocks, threads_for(scores.size, None))


def calibrating_move(
    scores: Matrix,
    wanted: Matrix,
    correlation_of_decoded: Callable[[Matrix], Matrix],
    rounds: int,
) -> Move:
    """Return the move after which the decoded scores have nearly the wanted correlation.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_columns)
        Masked scores, or a sample of their rows.
    wanted : ndarray of shape (n_columns, n_columns)
        Correlation of the original's view.
    correlation_of_decoded : callable
        From scores to the correlation of the view of what they decode to, NaN where there is none:
        then the scores are left with the wanted one.
    rounds : int
        Number of comparisons, 1 or more.

    Examples
    --------
    >>> scores = np.random.default_rng(0).normal(size=(500, 2))
    >>> wanted = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> move = calibrating_move(scores, wanted, lambda moved: np.corrcoef(moved.T), 3)
    >>> np.corrcoef(move.apply(scores).T).round(3)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """
    best = Move(np.zeros(wanted.shape[0]), np.ones(wanted.shape[0]), np.eye(wanted.shape[0]))

    def lacking_after(move: Move) -> tuple[Matrix, float]:
        moved = move.apply(scores)
        found = correlation_of_decoded(moved)
        unseen = np.isnan(found)
        if unseen.any():
            found = np.where(unseen, score_correlation(moved), found)
        lacking = wanted - found
        return lacking, float(np.sqrt(np.mean(lacking**2)))

    _, least = lacking_after(best)
    centre, spread = _moments(scores)
    root = _power(_held_correlation(scores, centre, spread), 0.5)
    inverse = np.linalg.inv(root)
    target = wanted
    for _ in range(rounds):
        matrix = inverse @ _power(root @ _nearest_correlation(target) @ root, 0.5) @ inverse
        move = Move(centre, spread, matrix)
        lacking, distance = lacking_after(move)
        if distance < least:
            best, least = move, distance
        target = target + lacking
    return best


def least_move(scores: Matrix, target: Matrix) -> Matrix:
    """Return the matrix that gives scores nearly a correlation and moves them least.

    Scores are multiplied by it from the right; their means and spreads are left alone.

    Examples
    --------
    >>> scores = np.random.default_rng(0).normal(size=(500, 2))
    >>> matrix = least_move(scores, np.array([[1.0, 0.6], [0.6, 1.0]]))
    >>> round(float(np.corrcoef((scores @ matrix).T)[0, 1]), 1)
    0.6
    """
    centre, spread = _moments(scores)
    root = _power(_held_correlation(scores, centre, spread), 0.5)
    inverse = np.linalg.inv(root)
    matrix = inverse @ _power(root @ _nearest_correlation(target) @ root, 0.5) @ inverse
    return np.asarray(matrix / spread[:, None] * spread)


def score_correlation(scores: Matrix) -> Matrix:
    """Return the correlations of scores that are nowhere missing, each held within 2.5 deviations.

    A column that does not vary has correlation 0 with the others.

    Examples
    --------
    >>> scores = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> score_correlation(scores).round(6)
    array([[1., 1.],
           [1., 1.]])
    """
    return _held_correlation(scores, *_moments(scores))


def view_correlation(view: Matrix, weights: Vector | None = None) -> Matrix:
    """Return the correlations of a view's columns, each pair over the rows in which both are there.

    A pair that is never there together, or does not vary then, has none: NaN. With weights, rows
    count as many times.

    Examples
    --------
    >>> view_correlation(np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [9.0, np.nan]])).round(6)
    array([[1., 1.],
           [1., 1.]])
    """
    found = pairwise_correlations(view) if weights is None else _weighted(view, weights)
    result = symmetrize(found)
    np.fill_diagonal(result, 1.0)
    return result


def _weighted(view: Matrix, weights: Vector) -> Matrix:
    """Return weighted correlations of pairs, NaN where there are none."""
    there = ~np.isnan(view)
    flags = there.astype(np.float64)
    x = np.where(there, view, 0.0)
    own = weights[:, None] / weights.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        count = (own * flags).T @ flags
        mean = (own * x).T @ flags / count
        square = (own * x**2).T @ flags / count - mean**2
        cross = (own * x).T @ x / count - mean * mean.T
        least = 1e-12 * (1.0 + mean**2)
        varying = np.where(square > least, square, np.nan)
        return np.asarray(cross / np.sqrt(varying * varying.T))


def _moments(scores: Matrix) -> tuple[Vector, Vector]:
    """Return means and standard deviations, 1 where a column does not vary."""
    spread = deviations(scores)
    return scores.mean(axis=0), np.where(spread > 0.0, spread, 1.0)


def _held_correlation(scores: Matrix, centre: Vector, spread: Vector) -> Matrix:
    reach = LIMITS.calibration_reach
    return np.nan_to_num(view_correlation(np.clip((scores - centre) / spread, -reach, reach)))


def _nearest_correlation(matrix: Matrix) -> Matrix:
    """Return the matrix with its eigenvalues floored and its diagonal 1."""
    values, vectors = np.linalg.eigh(symmetrize(matrix))
    floored = (vectors * np.maximum(values, LIMITS.least_eigenvalue)) @ vectors.T
    scale = np.sqrt(np.diagonal(floored))
    return np.asarray(floored / np.outer(scale, scale))


def _power(matrix: Matrix, exponent: float) -> Matrix:
    values, vectors = np.linalg.eigh(symmetrize(matrix))
    floored = np.maximum(values, LIMITS.least_eigenvalue**2)
    return np.asarray((vectors * floored**exponent) @ vectors.T)
