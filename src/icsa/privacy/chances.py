"""How likely fresh people come as near to somebody as a release does.

If released rows were fresh draws of the same law, the distances to the nearest original and to the
nearest released row would be first points of two Poisson processes of the same local density, and
with rho = d_rel / d_org::

    q = rho^D                       share of neighbours that come as near, in D dimensions
    p = q / (q + n/n*)              chance of so small a rho

Real tables have near twins, columns that follow from others, and people who are far out in one
column only. So D is the smallest of four numbers, and q at least what the table itself shows: the
share of all rows whose nearest neighbour is as near, measured by the second nearest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.matrices import Matrix, Vector
from icsa.privacy.neighbours import MISMATCH, Neighbours, nearest
from icsa.privacy.tails import Tail, fit_tail

__all__ = [
    "NEIGHBOURS",
    "Chances",
    "chances_of",
    "intrinsic_dimension",
    "local_dimensions",
    "ratios",
    "spread_of_gaps",
]

# How many neighbours of a person tell the dimension of their surroundings.
NEIGHBOURS = 6
# Rows on which the dimension of all rows and the tail are estimated.
_ROWS_FOR_DIMENSION = 2_000
# From so many people on, their own neighbourhoods are asked for the dimension too.
_PEOPLE_FOR_DIMENSION = 20
# Fewer rows have no tail to speak of.
_ROWS_FOR_TAIL = 50
# The dimension is at most so many times the number of columns that the gaps are spread over.
_SPREAD = 2.0
# Fixed, and no secret: it chooses the rows for the dimension.
_SEED = 20_004


@dataclass(frozen=True, eq=False, repr=False)
class Chances:
    """What turns a ratio into a chance, under one lens.

    Attributes
    ----------
    dimensions : ndarray of shape (m,)
        D of each person.
    overall : ndarray of shape (m,)
        The same without what a person's own neighbours say.
    tail : Tail
        Of log(r2/r1) of the original's rows, r1 and r2 the distances to the two nearest.
    """

    dimensions: Vector
    overall: Vector
    tail: Tail

    def of(self, rho: Vector, n_rows: int, n_released: int) -> Vector:
        """Return p of each person.

        Examples
        --------
        >>> plain = Chances(np.full(3, 2.0), np.full(3, 2.0), fit_tail(np.empty(0)))
        >>> plain.of(np.array([0.0, 0.5, 1.0]), 100, 100).round(3)
        array([0. , 0.2, 0.5])
        """
        share = np.minimum(rho, 1e6) ** self.dimensions
        if self.tail.count:
            with np.errstate(divide="ignore"):
                seen = self.tail.beyond(-np.log(rho))
            share = np.maximum(share, np.where(rho < 1.0, seen, 0.0))
        return np.asarray(share / (share + n_rows / n_released))

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Chances of {self.dimensions.size} people>"


def chances_of(
    points: FeatureTable,
    rows: RowNumbers,
    near: Neighbours,
    n_columns: int,
    observed: Vector,
    threads: int = 1,
) -> Chances:
    """Return what turns ratios into chances for some people, from the original alone.

    Parameters
    ----------
    points : FeatureTable
        The original's rows under the lens.
    rows : ndarray of shape (m,)
        The people.
    near : Neighbours
        Their nearest neighbours among `points`.
    n_columns : int
        Number of columns that vary.
    observed : ndarray of shape (m,)
        Share of each person's cells that are not missing.
    threads : int
        As in `icsa.privacy.neighbours.nearest`.
    """
    chosen = np.random.default_rng(_SEED).permutation(points.n_rows)[:_ROWS_FOR_DIMENSION]
    sample = points.rows(np.sort(chosen))
    every = nearest(sample, sample, k=2, own=np.arange(chosen.size), threads=threads).distances
    candidates = [float(n_columns), intrinsic_dimension(every)]
    if rows.size >= _PEOPLE_FOR_DIMENSION:
        candidates.append(intrinsic_dimension(near.distances[:, :2]))
    overall = min(candidates) * observed
    local = np.minimum(
        local_dimensions(near.distances), _SPREAD * spread_of_gaps(points, rows, near)
    )
    seen = _log_ratios(every)
    tail = fit_tail(seen if seen.size >= _ROWS_FOR_TAIL else seen[:0])
    return Chances(np.minimum(overall, local), overall, tail)


def intrinsic_dimension(distances: Matrix) -> float:
    """Return the TwoNN dimension (N - 1) / sum ln(r2/r1); infinite where it is not defined.

    Parameters
    ----------
    distances : ndarray of shape (N, 2)
        Distances to the two nearest neighbours. Rows with r1 = 0 are left out.

    References
    ----------
    Facco, d'Errico, Rodriguez and Laio (2017), Estimating the intrinsic dimension of datasets by a
    minimal neighborhood information.

    Examples
    --------
    >>> round(intrinsic_dimension(np.array([[1.0, np.e], [1.0, np.e], [2.0, 2 * np.e]])), 6)
    0.666667
    """
    logs = _log_ratios(distances)
    total = float(logs.sum())
    return (logs.size - 1) / total if logs.size > 1 and total > 0.0 else float("inf")


def local_dimensions(distances: Matrix) -> Vector:
    """Return each person's own dimension (k - 2) / sum ln(r_k/r_j); infinite where undefined.

    Parameters
    ----------
    distances : ndarray of shape (m, k)
        Distances to the k nearest neighbours.

    References
    ----------
    Levina and Bickel (2004), Maximum likelihood estimation of intrinsic dimension.

    Examples
    --------
    >>> local_dimensions(np.array([[1.0, 1.0, np.e], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]]))
    array([0.5, inf, inf])
    """
    m, k = distances.shape
    if k < 3:
        return np.full(m, np.inf)
    usable = (distances[:, 0] > 0.0) & np.isfinite(distances[:, -1])
    kept = np.where(usable[:, None], distances, 1.0)
    total = np.sum(np.log(kept[:, -1:] / kept[:, :-1]), axis=1)
    return np.where(total > 0.0, (k - 2) / np.where(total > 0.0, total, 1.0), np.inf)


def spread_of_gaps(points: FeatureTable, rows: RowNumbers, near: Neighbours) -> Vector:
    """Return over how many columns the gaps between each person and the neighbours are spread.

    (sum g)^2 / sum g^2, g a column's mean squared gap to all neighbours but the last: 1 for who is
    far from everybody in one column only, the number of columns where all gaps are alike.

    Examples
    --------
    >>> rows = FeatureTable(np.array([[0.0, 3.0], [0.0, 3.0]]), np.empty((0, 2), dtype=np.int32))
    >>> found = nearest(rows, rows, own=np.arange(2))
    >>> spread_of_gaps(rows, np.arange(2), found)
    array([2., 2.])
    """
    m, count = rows.size, max(1, near.rows.shape[1] - 1)
    shown, there = near.rows[:, :count], near.rows[:, :count] >= 0
    people, others = points.rows(np.repeat(rows, there.sum(axis=1))), points.rows(shown[there])
    every = slice(0, others.n_rows)
    own, theirs = people.block(every), others.block(every)
    gaps = np.nan_to_num((own - theirs) ** 2, nan=MISMATCH)
    gaps[np.isnan(own) & np.isnan(theirs)] = 0.0
    squares = np.vstack([gaps, MISMATCH * (people.codes != others.codes)])
    ends, spread = np.cumsum(there.sum(axis=1)), np.full(m, np.inf)
    for k in np.flatnonzero(there.any(axis=1)).tolist():
        means = squares[:, ends[k] - int(there[k].sum()) : ends[k]].mean(axis=1)
        total = float(np.sum(means**2))
        spread[k] = float(means.sum()) ** 2 / total if total > 0.0 else np.inf
    return spread


def ratios(d_rel: Vector, d_org: Vector) -> Vector:
    """Return d_rel / d_org; 1 or infinite for who has an exact double, whom nothing singles out."""
    doubled = d_org == 0.0
    found = d_rel / np.where(doubled, 1.0, d_org)
    return np.where(doubled, np.where(d_rel == 0.0, 1.0, np.inf), found)


def _log_ratios(distances: Matrix) -> Vector:
    usable = (distances[:, 0] > 0.0) & np.isfinite(distances[:, 1])
    return np.asarray(np.log(distances[usable, 1] / distances[usable, 0]))
