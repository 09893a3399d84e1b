"""Membership: how well a release tells who is in the table to those who have the true map.

A generous attacker: the map is given. What is left to find out is whether a person's scores are
nearer to released ones than those of somebody who is not in the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.attacks.maps import gaps_to
from icsa.correlations import area_under_curve
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, as_matrix

__all__ = ["Membership", "membership_with_map"]

# The share of the people who are farthest out, members and outsiders alike.
_OUTERMOST = 0.05
# A distance of nothing counts as this share of the spread: a copy is no better than that.
_LEAST_GAP = 1e-12


@dataclass(frozen=True)
class Membership:
    """How well members are told from people who are not in the table: .5 is by chance, 1 always.

    Attributes
    ----------
    nearest : float
        Area under the curve of the summed logarithms of distances to the nearest released score.
    density : float
        The same for the summed logarithms of the density of released scores.
    outermost : float
        That of `nearest` among the 5% of members and of outsiders who are farthest out.
    """

    nearest: float
    density: float
    outermost: float


def membership_with_map(released: object, members: object, outsiders: object) -> Membership:
    """Return how well an attacker who knows the map tells members from outsiders.

    Parameters
    ----------
    released, members, outsiders : array-like of shape (n_rows, n_components)
        Scores under the true map: of the release, of the original, and of people drawn like the
        original's who are not in it. The outsiders are the control: whatever tells them apart from
        the members comes from the release or from the map.

    Returns
    -------
    Membership

    Examples
    --------
    >>> scores = np.random.default_rng(1).normal(size=(200, 3))
    >>> shuffled = np.column_stack([scores[:, 0], scores[::-1, 1], np.roll(scores[:, 2], 9)])
    >>> membership_with_map(shuffled, scores[:100], scores[100:]).nearest
    0.5
    >>> membership_with_map(shuffled[:100], scores[:100], -scores[100:] + 0.01).nearest > 0.6
    True
    """
    rows, inside, outside = (as_matrix(part) for part in (released, members, outsiders))
    if len({part.shape[1] for part in (rows, inside, outside)}) != 1:
        raise InputError("Release, members and outsiders must have scores of the same components.")
    centre, spread = np.median(rows, axis=0), rows.std(axis=0)
    rows, inside, outside = ((part - centre) / spread for part in (rows, inside, outside))
    near = [-_log_gaps(part, rows) for part in (inside, outside)]
    dense = [_log_densities(part, rows) for part in (inside, outside)]
    far = [_outermost(part) for part in (inside, outside)]
    return Membership(
        nearest=area_under_curve(*near),
        density=area_under_curve(*dense),
        outermost=area_under_curve(near[0][far[0]], near[1][far[1]]),
    )


def _log_gaps(people: Matrix, released: Matrix) -> Vector:
    """Return the sum over coordinates of log distances to the nearest released score."""
    total = np.zeros(people.shape[0])
    for wanted, scores in zip(people.T, np.sort(released, axis=0).T, strict=True):
        total += np.log(np.maximum(gaps_to(wanted, scores), _LEAST_GAP))
    return total


def _log_densities(people: Matrix, released: Matrix) -> Vector:
    """Return the sum over coordinates of log densities, by normal kernels.

    They are an eighth as wide as the best estimate of a normal density needs, 1.06 n^(-1/5)
    deviations: what is smoothed away tells members apart.
    """
    total = np.zeros(people.shape[0])
    n = released.shape[0]
    quartiles = np.quantile(released, [0.25, 0.75], axis=0)
    widths = 1.06 * n**-0.2 / 8.0 * (quartiles[1] - quartiles[0]) / 1.349
    for wanted, scores, width in zip(people.T, released.T, widths, strict=True):
        kernels = np.exp(-0.5 * ((wanted[:, None] - scores) / width) ** 2)
        total += np.log(kernels.mean(axis=1) + 1e-300)
    return total


def _outermost(people: Matrix) -> np.ndarray:
    """Return the numbers of the people who are farthest out, at least one."""
    count = max(1, round(_OUTERMOST * people.shape[0]))
    return np.argsort(-np.einsum("ij,ij->i", people, people), kind="stable")[:count]
