"""Two releases of one table: what both have in common is the map and the scores.

`permute` gives both releases the same scores in every coordinate, in another order: for a direction
w of the map the sorted numbers X1 w and X2 w are equal. After `decorrelate` each release has a
direction of its own with that property, and the scores, up to location and scale, are still equal.
`flip` leaves rows where they are: two rows that differ in one sign differ along the mixing matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.attacks.maps import before_decorrelation, same_directions
from icsa.errors import InputError
from icsa.linalg import inverse_root, spectrum, symmetrize
from icsa.matrices import Matrix, Vector, as_matrix

__all__ = ["MapFromReleases", "map_from_flips", "map_from_releases"]

# 1 - correlation of the sorted scores: rounding leaves 1e-15, the best wrong direction of 10,000
# rows more than 1e-5.
_EXACT = 1e-10
_DESCENT_STEPS = 60
_POLISHING_STEPS = 100
# Directions that were only nearly found are different when their cosine is below this.
_NEARLY_PARALLEL = 0.99
# Differences of two rows are parallel when the sine of their angle is below this.
_PARALLEL = 1e-7


@dataclass(frozen=True, eq=False, repr=False)
class MapFromReleases:
    """Coordinates whose scores are the same in both releases, and the map as far as they give it.

    Attributes
    ----------
    first, second : ndarray of shape (n_found, n_columns)
        Directions of the two releases in which the sorted standardised scores are equal.
    directions : ndarray of shape (n_known, n_columns)
        Directions of the map: those that are the same in both releases or, when all coordinates
        were found, those that are the same once decorrelation is undone.
    scores : ndarray of shape (n_rows, n_known)
        Scores of the first release in these directions, decorrelation undone: those of the
        original, in another order.
    nearly : ndarray of shape (n_nearly, n_columns)
        Directions that starts ended at, those with the most equal scores first, at most one a
        column: where releases are rounded, nothing is found exactly.
    gap : float
        The least 1 - correlation of sorted scores that a start ended at: 0 up to rounding where
        something was found.
    """

    first: Matrix
    second: Matrix
    directions: Matrix
    scores: Matrix
    nearly: Matrix
    gap: float

    def __repr__(self) -> str:
        """Show sizes only."""
        found, columns = self.first.shape
        known = self.directions.shape[0]
        return f"<MapFromReleases: {found} of {columns} coordinates, {known} directions of the map>"


def map_from_releases(
    first: object, second: object, *, starts: int = 100, seed: int = 0
) -> MapFromReleases:
    """Return the coordinates that two releases of one table have in common.

    |sort(X1 w) - sort(X2 w)|^2 is made small over directions w from random starts (L-BFGS); then
    the two orders are held and the two directions with the highest correlation between rows in
    these orders are taken (canonical correlations), in turns, until nothing changes.

    Parameters
    ----------
    first, second : array-like of shape (n_rows, n_columns)
        The releases.
    starts : int
        Directions to start from; fewer where all coordinates are found before.
    seed : int
        Of the starts.

    Returns
    -------
    MapFromReleases

    Examples
    --------
    >>> scores = np.random.default_rng(1).normal(size=(40, 2)) ** 3
    >>> mixing = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> other = np.column_stack([scores[::-1, 0], np.roll(scores[:, 1], 5)])
    >>> map_from_releases(scores @ mixing.T, other @ mixing.T)
    <MapFromReleases: 2 of 2 coordinates, 2 directions of the map>
    """
    one, two = as_matrix(first), as_matrix(second)
    if one.shape != two.shape:
        raise InputError(f"Releases of one table are of one shape: got {one.shape}, {two.shape}.")
    p = one.shape[1]
    whiten = inverse_root(np.atleast_2d(np.cov(one.T)))
    x, y = ((rows - one.mean(axis=0)) @ whiten for rows in (one, two))
    generator = np.random.default_rng(seed)
    found: list[tuple[Vector, Vector]] = []
    ended: list[tuple[float, Vector]] = []
    for _ in range(starts):
        gap, here, there = _common_scores(x, y, generator.normal(size=(p,)))
        ended.append((gap, here))
        known = np.array([pair[0] for pair in found]).reshape(-1, p)
        if gap < _EXACT and not same_directions(known, here[None], np.ones(p))[0]:
            found.append((here, there))
            if len(found) == p:
                break
    here_all, there_all = (
        np.array([pair[side] for pair in found]).reshape(-1, p) @ whiten for side in (0, 1)
    )
    directions, scores = _map_directions(one, two, here_all, there_all)
    nearly = _apart(ended, p) @ whiten
    least = min(gap for gap, _ in ended)
    return MapFromReleases(here_all, there_all, directions, scores, nearly, float(least))


def map_from_flips(first: object, second: object) -> Matrix:
    """Return directions of the mixing matrix that two releases with random signs give away.

    A row whose signs differ in one coordinate only moves along this coordinate's column of the
    mixing matrix. Such rows are parallel to each other; other differences are so by accident only.

    Parameters
    ----------
    first, second : array-like of shape (n_rows, n_columns)
        The releases, rows in the same order.

    Returns
    -------
    ndarray of shape (n_found, n_columns)
        Of length 1, those found most often first, at most one a column.

    Examples
    --------
    >>> scores = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    >>> signs = np.array([[1, -1], [1, -1], [-1, 1], [-1, 1]])
    >>> mixing = np.array([[0.6, 0.0], [0.8, 1.0]])
    >>> np.abs(map_from_flips(scores @ mixing.T, (scores * signs) @ mixing.T))
    array([[0. , 1. ],
           [0.6, 0.8]])
    """
    moved = as_matrix(first) - as_matrix(second)
    p = moved.shape[1]
    lengths = np.linalg.norm(moved, axis=1)
    units = moved[lengths > _PARALLEL * lengths.max()]
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    directions: list[Vector] = []
    remaining, counts = units, []
    while remaining.shape[0] > 1:
        cosines = remaining @ remaining[0]
        across = np.linalg.norm(remaining - cosines[:, None] * remaining[0], axis=1)
        alike = across < _PARALLEL
        if np.count_nonzero(alike) > 1:
            directions.append(remaining[0])
            counts.append(np.count_nonzero(alike))
        remaining = remaining[~alike]
    order = np.argsort(-np.array(counts), kind="stable")[:p]
    return np.array([directions[i] for i in order]).reshape(-1, p)


def _apart(ended: list[tuple[float, Vector]], most: int) -> Matrix:
    """Return directions with the smallest gaps that are not nearly parallel to a smaller one's."""
    kept: list[Vector] = []
    for _, direction in sorted(ended, key=lambda pair: pair[0]):
        unit = direction / np.linalg.norm(direction)
        if len(kept) < most and all(abs(unit @ other) < _NEARLY_PARALLEL for other in kept):
            kept.append(unit)
    return np.array(kept)


def _common_scores(x: Matrix, y: Matrix, start: Vector) -> tuple[float, Vector, Vector]:
    """Return 1 - correlation of the sorted scores at a minimum, and the two directions there."""
    from scipy.optimize import minimize  # takes as long to import as all other attacks

    options = {"maxiter": _DESCENT_STEPS}
    reached = minimize(
        _distance, start, args=(x, y), jac=True, method="L-BFGS-B", options=options
    ).x
    direction = _held_together(x, y, reached / np.linalg.norm(reached))
    return _held_apart(x, y, direction)


def _distance(w: Vector, x: Matrix, y: Matrix) -> tuple[float, Vector]:
    """Return |sort(Xu) - sort(Yu)|^2 for u = w/|w|, and its gradient in w."""
    length = float(np.linalg.norm(w))
    unit = w / length
    gaps = x[np.argsort(x @ unit)] - y[np.argsort(y @ unit)]
    residual = gaps @ unit
    slope = 2.0 * (gaps.T @ residual)
    return float(residual @ residual), (slope - (slope @ unit) * unit) / length


def _held_together(x: Matrix, y: Matrix, direction: Vector) -> Vector:
    """Return the direction with the least distance for its own orders, both releases the same."""
    least = _distance(direction, x, y)[0]
    for _ in range(_POLISHING_STEPS):
        gaps = x[np.argsort(x @ direction)] - y[np.argsort(y @ direction)]
        candidate = spectrum(symmetrize(gaps.T @ gaps))[1][:, 0]
        distance = _distance(candidate, x, y)[0]
        if distance >= least:
            break
        direction, least = candidate, distance
    return direction


def _held_apart(x: Matrix, y: Matrix, direction: Vector) -> tuple[float, Vector, Vector]:
    """Return 1 - correlation and directions of each release that have it, for their own orders."""
    (left, left_factor), (right, right_factor) = (
        np.linalg.qr(rows - rows.mean(axis=0)) for rows in (x, y)
    )
    here, there = left_factor @ direction, right_factor @ direction
    gap = np.inf
    for _ in range(_POLISHING_STEPS):
        crossed = left[np.argsort(left @ here)].T @ right[np.argsort(right @ there)]
        u, values, v = np.linalg.svd(crossed)
        if 1.0 - values[0] >= gap:
            break
        gap, here, there = 1.0 - values[0], u[:, 0], v[0]
    return (
        max(float(gap), 0.0),
        np.linalg.solve(left_factor, here),
        np.linalg.solve(right_factor, there),
    )


def _map_directions(one: Matrix, two: Matrix, here: Matrix, there: Matrix) -> tuple[Matrix, Matrix]:
    """Return directions that are the same in both releases, and the first one's scores there."""
    spread = one.std(axis=0)
    same = _rowwise_same(here, there, spread)
    if same.all() or here.shape[0] < here.shape[1]:
        return here[same], one @ here[same].T
    undone = [before_decorrelation(rows, w) for rows, w in ((one, here), (two, there))]
    same = _rowwise_same(undone[0].directions, undone[1].directions, spread)
    return undone[0].directions[same], undone[0].scores[:, same]


def _rowwise_same(one: Matrix, two: Matrix, spread: Vector) -> npt.NDArray[np.bool_]:
    """Return for each direction whether the other release has the same one in its place."""
    pairs = zip(one, two, strict=True)
    return np.array([same_directions(b[None], a[None], spread)[0] for a, b in pairs], dtype=bool)
