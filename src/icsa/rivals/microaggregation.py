"""Microaggregation by MDAV: groups of k similar people, everybody the mean of the own group."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.matrices import Matrix, Vector
from icsa.rivals.base import Cells, within_column

__all__ = ["mdav_groups", "microaggregate"]


def mdav_groups(x: Matrix, k: int) -> npt.NDArray[np.int64]:
    """Return the group of each row: k rows in each, up to 2k - 1 in the last.

    While 3k rows or more are left, the row r farthest from their mean and its k - 1 nearest are a
    group, and then the row farthest from r and its k - 1 nearest. With 2k to 3k - 1 left, the
    first is done once more; the rest is a group (Domingo-Ferrer and Torra 2005).

    References
    ----------
    J. Domingo-Ferrer and V. Torra (2005). Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation. Data Mining and Knowledge Discovery 11, 195-212.

    Examples
    --------
    >>> mdav_groups(np.array([[1.0], [2.0], [10.0], [11.0], [3.0]]), 2)
    array([1, 1, 0, 0, 1])
    """
    groups = np.full(x.shape[0], -1, dtype=np.int64)
    left = np.arange(x.shape[0])
    count = 0

    def take(around: Vector) -> None:
        nonlocal left, count
        nearest = np.argsort(((x[left] - around) ** 2).sum(axis=1), kind="stable")[:k]
        groups[left[nearest]] = count
        left, count = np.delete(left, nearest), count + 1

    def farthest_from(point: Vector) -> Vector:
        return np.asarray(x[left[np.argmax(((x[left] - point) ** 2).sum(axis=1))]])

    while left.size >= 3 * k:
        first = farthest_from(x[left].mean(axis=0))
        second = farthest_from(first)
        take(first)
        take(second)
    if left.size >= 2 * k:
        take(farthest_from(x[left].mean(axis=0)))
    groups[left] = count
    return groups


def microaggregate(
    cells: Cells,
    generator: np.random.Generator,  # noqa: ARG001
    k: int = 5,
) -> dict[str, Vector]:
    """Return everybody with the mean of the own group of k, or its most common level.

    Missing cells stay so where most of the group's are missing.
    """
    groups = mdav_groups(cells.space_of_distances(), k)
    people = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    found = {}
    for name, numbers in cells.numbers.items():
        column, merged = cells.columns[name], np.empty(numbers.size)
        for rows in people:
            own = numbers[rows]
            there = own[~np.isnan(own)]
            if 2 * there.size < own.size or not there.size:
                merged[rows] = np.nan
            elif column.levels is None:
                merged[rows] = there.mean()
            else:
                values, counts = np.unique(there, return_counts=True)
                merged[rows] = values[np.argmax(counts)]
        found[name] = within_column(merged, column) if column.levels is None else merged
    return found
