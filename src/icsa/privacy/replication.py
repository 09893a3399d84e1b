"""The outlier replication error: how far the nearest released row is from a person who stands out.

Distances are sums of squared differences, not the shorter |x|^2 - 2 x'r + |r|^2: a copied row must
come out as exactly zero.
"""

from __future__ import annotations

import math

import numpy as np

from icsa.compilation import kernel
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, as_matrix, columns_first
from icsa.measures import Direction, Estimate, Measure, NotEstimable
from icsa.privacy.neighbour_kernels import add_columns_in_fours
from icsa.privacy.neighbours import chosen_rows

__all__ = [
    "mean_replication_error",
    "outlier_replication_error",
    "replication_errors",
    "replication_measure",
]

# Released rows at a time: a block of all columns stays in the first cache.
_BLOCK = 128


def outlier_replication_error(original: object, released: object, outliers: object) -> Estimate:
    """Return the outlier replication error (ORE): 0 where every outlier is in the release.

    ORE = mean over the outliers k of min_i |x_k - x*_i|^2 / |x_k|^2, with x_k the rows of the
    original, x*_i those of the release and |.| the Euclidean norm [1]_. Higher is safer. The order
    of the released rows and a common factor of both tables do not matter; where zero lies does.

    Parameters
    ----------
    original : array-like of shape (n_rows, n_columns)
    released : array-like of shape (n_released, n_columns)
        Fastest in Fortran order, as `icsa.anonymize_matrix` returns it.
    outliers : array-like
        Row numbers of the original, or a boolean vector of its length.

    Returns
    -------
    float or NotEstimable
        Not estimable without outliers, and when one of them has length zero.

    References
    ----------
    .. [1] Perkonoja and Virta (2026), Data anonymization in the presence of outliers via invariant
       coordinate selection.

    Examples
    --------
    The outlier (3, 4) has length 5; the nearest released row, (3, 3), is at distance 1: 1/25.

    >>> original = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [3.0, 4.0]]
    >>> released = [[1.0, 1.0], [0.0, 0.0], [3.0, 3.0], [0.0, 1.0]]
    >>> outlier_replication_error(original, released, [3])
    0.04
    """
    people, columns = _prepared(original, released, outliers)
    value = mean_replication_error(people, columns)
    return value if math.isfinite(value) else _why_undefined(people, columns)


def replication_errors(
    original: object, released: object, outliers: object
) -> Vector | NotEstimable:
    """Return min_i |x_k - x*_i|^2 / |x_k|^2 for each outlier k, in their order.

    Parameters
    ----------
    original, released, outliers
        As in `outlier_replication_error`, which is the mean of these.

    Returns
    -------
    ndarray of shape (n_outliers,) or NotEstimable
        Not estimable for the whole group when one of them has length zero.

    Examples
    --------
    The row (1, 0) is nearest to (1, 1), at distance 1 of its length 1:

    >>> original = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [3.0, 4.0]]
    >>> released = [[1.0, 1.0], [0.0, 0.0], [3.0, 3.0], [0.0, 1.0]]
    >>> replication_errors(original, released, [True, True, False, True])
    array([1.  , 0.  , 0.04])
    """
    people, columns = _prepared(original, released, outliers)
    errors = np.empty(people.shape[0])
    value = _replication(people, columns, errors)
    return errors if math.isfinite(value) else _why_undefined(people, columns)


def replication_measure(original: object, released: object, outliers: object) -> Measure:
    """Return the outlier replication error as a `Measure`, `n` the number of outliers.

    The interval is that of a mean over people (`Measure.mean_of`); one outlier has none.

    Examples
    --------
    >>> original = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [3.0, 4.0]]
    >>> print(replication_measure(original, [[1.0, 1.0], [3.0, 3.0]], [3]))
    0.0400
    >>> print(replication_measure(original, [[1.0, 1.0], [3.0, 3.0]], [2, 3]))
    not estimable: 1 of 2 outliers has length zero, so distances relative to it are undefined
    """
    errors = replication_errors(original, released, outliers)
    name: str = "outlier replication error"
    direction: Direction = "higher is safer"
    if isinstance(errors, NotEstimable):
        return Measure.of(errors, name=name, direction=direction)
    return Measure.mean_of(errors, name=name, direction=direction)


def mean_replication_error(people: Matrix, columns: Matrix) -> float:
    """Return the ORE of prepared arrays, unchecked: for loops over many releases.

    Parameters
    ----------
    people : ndarray of shape (n_outliers, n_columns), C order, writeable
        The outliers' rows of the original.
    columns : ndarray of shape (n_columns, n_released), C order, writeable
        The release, columns first: ``released.T`` where that is in Fortran order.

    Returns
    -------
    float
        Not finite when a cell is not finite or the ORE is not estimable: the caller must look, and
        `outlier_replication_error` says why.

    Examples
    --------
    >>> mean_replication_error(np.array([[3.0, 4.0]]), np.array([[1.0, 3.0], [1.0, 3.0]]))
    0.04
    """
    return float(_replication(people, columns, np.empty(people.shape[0])))


@kernel
def _replication(people: Matrix, columns: Matrix, errors: Vector) -> float:
    """Set errors[k] to min_i |x_k - x*_i|^2 / |x_k|^2 and return their mean.

    The mean is not finite when a cell of either is not, or a person has length zero.
    """
    m, p = people.shape
    n = columns.shape[1]
    distances, check = np.empty(_BLOCK), 0.0
    for k in range(m):
        errors[k] = np.inf
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for k in range(m):
            _squared_distances(people[k], columns, start, size, distances)
            nearest = errors[k]
            for i in range(size):
                nearest = min(nearest, distances[i])
            errors[k] = nearest
            if k == 0:  # a cell that is not finite makes its row's distance to anyone so
                for i in range(size):
                    check += distances[i]
    total = 0.0 * check
    for k in range(m):
        length = 0.0
        for j in range(p):
            length += people[k, j] * people[k, j]
        errors[k] /= length
        total += errors[k]
    mean: float = total / m
    return mean


@kernel
def _squared_distances(
    person: Vector, columns: Matrix, start: int, size: int, distances: Vector
) -> None:
    """Set distances[i] to the sum over j of (person[j] - columns[j, start + i])^2, i < size."""
    p = person.size
    for i in range(size):
        distances[i] = 0.0
    j = add_columns_in_fours(person, columns, start, size, distances)
    while j < p:
        x0, c0 = person[j], columns[j, start : start + size]
        for i in range(size):
            d0 = x0 - c0[i]
            distances[i] += d0 * d0
        j += 1


def _prepared(original: object, released: object, outliers: object) -> tuple[Matrix, Matrix]:
    """Return the outliers' rows and the release with columns first, both in C order."""
    rows = as_matrix(original, check_finite=False)
    columns = columns_first(as_matrix(released, check_finite=False))
    if rows.shape[1] != columns.shape[0]:
        raise InputError(
            f"The original has {rows.shape[1]} columns and the release {columns.shape[0]}: "
            "they must have the same ones, in the same order."
        )
    return np.ascontiguousarray(rows[chosen_rows(outliers, rows.shape[0])]), columns


def _why_undefined(people: Matrix, columns: Matrix) -> NotEstimable:
    """Return why the ORE is not finite; cells that are not finite are an error."""
    if people.shape[0] == 0:
        return NotEstimable("no outliers were named")
    as_matrix(people)
    as_matrix(columns.T)
    zero = int(np.count_nonzero(np.einsum("kj,kj->k", people, people) == 0.0))
    if zero:
        return NotEstimable(
            f"{zero} of {people.shape[0]} outliers {'has' if zero == 1 else 'have'} length zero, "
            f"so distances relative to {'it' if zero == 1 else 'them'} are undefined"
        )
    return NotEstimable("squared distances overflow; measure the columns in larger units")
