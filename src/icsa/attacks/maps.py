"""What a map that an attacker found is worth: whether it is the true one, and who is in a release.

A mask that keeps the scores of a coordinate keeps, for the true direction w of the map, the number
w'm of every person m. Who knows w therefore knows whether somebody is in the release.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from icsa.linalg import inverse_root
from icsa.matrices import Matrix, Vector

__all__ = ["Undone", "before_decorrelation", "gaps_to", "same_directions", "scores_present"]

# Directions agree when the sine of the angle between them is below this, columns in units of their
# spread: rounding leaves 1e-10, a direction that was only nearly found more than 1e-4.
_SAME_ANGLE = 1e-6
# Two scores are one number when they differ by less than this share of the scores' spread. Spacings
# of n scores are near 1/n, so that an outsider has one by chance with probability n/10^8.
_SAME_SCORE = 1e-8


def same_directions(
    found: Matrix, true: Matrix, spread: Vector, *, tolerance: float = _SAME_ANGLE
) -> npt.NDArray[np.bool_]:
    """Return for each true direction whether it is, up to its length, among those found.

    Parameters
    ----------
    found : ndarray of shape (n_found, n_columns)
    true : ndarray of shape (n_components, n_columns)
        Rows of the unmixing matrix.
    spread : ndarray of shape (n_columns,)
        The columns' standard deviations, in whose units angles are measured.
    tolerance : float
        The largest sine of an angle that counts as none.

    Examples
    --------
    >>> found = np.array([[-2.0, 0.0], [1.0, 1.1]])
    >>> same_directions(found, np.array([[1.0, 0.0], [1.0, 1.0]]), np.ones(2))
    array([ True, False])
    """
    if not found.size:
        return np.zeros(true.shape[0], dtype=bool)
    ours, theirs = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True)
        for rows in (found * spread, true * spread)
    )
    # The part of a true direction that is orthogonal to the found one: exact for small angles,
    # where 1 - cos would cancel.
    cosines = theirs @ ours.T
    across = theirs[:, None, :] - cosines[:, :, None] * ours[None, :, :]
    return np.asarray(np.linalg.norm(across, axis=2).min(axis=1) < tolerance)


def scores_present(
    people: Matrix, released: Matrix, *, tolerance: float = _SAME_SCORE
) -> npt.NDArray[np.intp]:
    """Return for each person in how many coordinates the release holds the person's score.

    Parameters
    ----------
    people : ndarray of shape (n_people, n_coordinates)
        Their scores under the map that was found.
    released : ndarray of shape (n_rows, n_coordinates)
        Scores of the release.
    tolerance : float
        Scores that differ by less than this share of the released scores' range are the same.

    Examples
    --------
    >>> released = np.array([[1.0, 20.0], [3.0, 10.0]])
    >>> scores_present(np.array([[1.0, 10.0], [3.0, 30.0], [2.0, 30.0]]), released)
    array([2, 1, 0])
    """
    count = np.zeros(people.shape[0], dtype=np.intp)
    for wanted, scores in zip(people.T, np.sort(released, axis=0).T, strict=True):
        count += gaps_to(wanted, scores) < tolerance * float(scores[-1] - scores[0])
    return count


def gaps_to(wanted: Vector, scores: Vector) -> Vector:
    """Return how far each wanted number is from the nearest of the sorted scores."""
    place = np.searchsorted(scores, wanted).clip(1, scores.size - 1)
    gaps = np.minimum(np.abs(wanted - scores[place - 1]), np.abs(scores[place] - wanted))
    return np.asarray(gaps)


class Undone(NamedTuple):
    """The map's directions, a row each, and the masked scores before they were decorrelated."""

    directions: Matrix
    scores: Matrix


def before_decorrelation(released: Matrix, directions: Matrix) -> Undone:
    """Return the map and the scores from the directions in which a release has the scores.

    A decorrelated release is S R^(-1/2) D A' + T', S the standardised masked scores, R their
    correlations, D their standard deviations. Who has directions that give S, up to scale, has R,
    so that the regression of the release on S times R^(1/2) is D A'. Means and deviations are those
    that decorrelation restored.

    Parameters
    ----------
    released : ndarray of shape (n_rows, n_columns)
    directions : ndarray of shape (n_columns, n_columns)

    Examples
    --------
    >>> from icsa.masks import decorrelate
    >>> scores = np.random.default_rng(1).exponential(size=(50, 2))
    >>> mixing = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> released = decorrelate(scores, scores) @ mixing.T
    >>> found = np.linalg.lstsq(released - released.mean(0), scores - scores.mean(0))[0].T
    >>> undone = before_decorrelation(released, found)
    >>> same_directions(undone.directions, np.linalg.inv(mixing), np.ones(2))
    array([ True,  True])
    """
    centred = released - released.mean(axis=0)
    standard = centred @ directions.T
    scale = standard.std(axis=0)
    standard /= scale
    regression = np.linalg.inv(directions.T / scale)
    back = np.linalg.solve(inverse_root(standard.T @ standard / released.shape[0]), regression)
    unmixing = np.linalg.inv(back).T
    mapped = released @ unmixing.T
    return Undone(unmixing, mapped.mean(axis=0) + mapped.std(axis=0) * standard)
