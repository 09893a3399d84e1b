"""Groups that k-means finds in a release, beside those that it finds in the original.

Needs scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from icsa.comparison.column_pairs import Codes, ColumnPair, sampled
from icsa.comparison.designs import encoded
from icsa.errors import InputError
from icsa.matrices import Matrix
from icsa.measures import Estimate, Measure, NotEstimable

__all__ = ["ClusteringTask", "adjusted_rand", "cluster_centres", "clustering_task"]

_SEED = 0
_REPETITIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteringTask:
    """What `clustering_task` found.

    Attributes
    ----------
    n_clusters : int
    agreement : Measure
        Adjusted Rand index of the original's rows grouped by k-means of the original and of the
        release: 1 the same groups, 0 as by chance.
    of_a_sample : Measure
        The same for resamples of the original in place of the release: the mean, and where 90% lie.
    """

    n_clusters: int
    agreement: Measure
    of_a_sample: Measure


def clustering_task(
    columns: Sequence[ColumnPair], *, n_clusters: int = 3, max_rows: int = 5_000
) -> ClusteringTask:
    """Return how far the groups that k-means finds in a release are those of the original.

    Columns are scaled by the original's median and median absolute deviation. Centres are found in
    the original and in the release, every original row goes to its nearest centre, and the two
    groupings are compared. The yardstick does the same with ten resamples of the original.

    Parameters
    ----------
    columns : sequence of ColumnPair
    n_clusters : int
        At least 2.
    max_rows : int
        Of longer tables so many rows are drawn.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> x = np.array([0.0, 1.0, 2.0, 100.0, 101.0, 102.0, 200.0, 201.0, 202.0])
    >>> print(clustering_task([numeric_column("x", x, x[::-1])], n_clusters=3).agreement)
    1.00
    """
    if n_clusters < 2:
        raise InputError(f"n_clusters must be at least 2: got {n_clusters}.")
    design = encoded(sampled(columns, max_rows, seed=_SEED), scale="robust")
    original, released = design.original, design.released
    n, m = original.shape[0], released.shape[0]
    if not original.shape[1] or min(_distinct(original), _distinct(released)) < n_clusters:
        reason = NotEstimable(f"{n_clusters} groups need as many different rows in both tables")
        return _clustering(n_clusters, reason, [], n)
    groups = _nearest(original, cluster_centres(original, n_clusters))
    rng = np.random.default_rng(_SEED)
    by_chance = []
    for repetition in range(_REPETITIONS):
        drawn = original[rng.integers(0, n, size=m)]
        if _distinct(drawn) >= n_clusters:
            centres = cluster_centres(drawn, n_clusters, seed=repetition)
            by_chance.append(adjusted_rand(groups, _nearest(original, centres)))
    found = _nearest(original, cluster_centres(released, n_clusters))
    return _clustering(n_clusters, adjusted_rand(groups, found), by_chance, n)


def adjusted_rand(first: Codes, second: Codes) -> float:
    """Return the adjusted Rand index of two groupings of the same rows (Hubert and Arabie 1985).

    With the number of pairs in one group in both (a), in the first (b), in the second (c) and of
    all pairs (d): (a - bc/d) / ((b + c)/2 - bc/d). It is 1 for equal groupings whatever the groups
    are called, and 0 on average by chance.

    References
    ----------
    L. Hubert, P. Arabie (1985). Comparing partitions. Journal of Classification 2, 193-218.

    Examples
    --------
    >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    table = np.zeros((int(first.max()) + 1, int(second.max()) + 1))
    np.add.at(table, (first, second), 1.0)
    a, b, c = (
        float((counts * (counts - 1.0) / 2.0).sum())
        for counts in (table, table.sum(axis=1), table.sum(axis=0))
    )
    pairs = first.size * (first.size - 1) / 2
    by_chance = b * c / pairs if pairs else 0.0
    most = (b + c) / 2.0
    return 1.0 if most == by_chance else (a - by_chance) / (most - by_chance)


def cluster_centres(x: Matrix, n_clusters: int, *, seed: int = 0) -> Matrix:
    """Return the centres of k-means, the best of ten starts, shape (n_clusters, n_features).

    Examples
    --------
    >>> sorted(cluster_centres(np.array([[0.0], [2.0], [10.0], [12.0]]), 2)[:, 0].tolist())
    [1.0, 11.0]
    """
    from sklearn.cluster import KMeans

    # one thread: small tables lose more by waiting for each other than they gain
    with threadpool_limits(1):
        fitted = KMeans(n_clusters, n_init=10, random_state=seed).fit(x)
    return np.asarray(fitted.cluster_centers_, dtype=np.float64)


def _clustering(
    n_clusters: int, agreement: Estimate, by_chance: list[float], n: int
) -> ClusteringTask:
    name = "adjusted Rand index"
    estimate: Estimate = NotEstimable("no resample has enough different rows")
    interval = None
    if by_chance:
        low, high = np.quantile(by_chance, [0.05, 0.95])
        estimate, interval = float(np.mean(by_chance)), (float(low), float(high))
    return ClusteringTask(
        n_clusters=n_clusters,
        agreement=Measure.of(agreement, name=name, direction="higher is better", n=n),
        of_a_sample=Measure.of(
            estimate,
            name=name,
            direction="higher is better",
            n=len(by_chance),
            interval=interval,
        ),
    )


def _nearest(rows: Matrix, centres: Matrix) -> Codes:
    distances = [((rows - centre) ** 2).sum(axis=1) for centre in centres]
    return np.asarray(np.argmin(distances, axis=0), dtype=np.int32)


def _distinct(rows: Matrix) -> int:
    return int(np.unique(rows, axis=0).shape[0])
