"""Extremes: largest and smallest values that one person alone has, and that the release shows.

Columns on a lattice have the same largest value in two samples by chance. How often is seen in the
column's other far values: of values that n people have once, fresh people repeat about twice as
many as there are values that two have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features
from icsa.matrices import Vector

__all__ = ["Extremes", "verbatim_ends"]

# The farthest rows of a column's end, by which coincidences are judged.
_FAR = 30


@dataclass(frozen=True, eq=False)
class Extremes:
    """Ends of columns that one person alone has.

    Attributes
    ----------
    ends, released_ends : int
        How many there are, and how many of these values are in the release.
    people : int
        How many people hold them.
    released : ndarray of int
        Row numbers of those whose end is in the release.
    chances : ndarray of shape (people,)
        How likely fresh people would show an end of each.
    """

    ends: int
    released_ends: int
    people: int
    released: RowNumbers
    chances: Vector

    @property
    def expected(self) -> float:
        """How many people's ends fresh people would show."""
        return float(self.chances.sum())

    @property
    def chance(self) -> float:
        """Probability of so many people or more: a sum of independent events.

        Examples
        --------
        >>> Extremes(2, 1, 2, np.array([5]), np.array([0.5, 0.5])).chance
        0.75
        """
        counts = np.ones(1)
        for p in self.chances:
            counts = np.append(counts * (1.0 - p), 0.0) + np.append(0.0, counts * p)
        return min(1.0, float(counts[self.released.size :].sum()))


def verbatim_ends(features: Features) -> Extremes:
    """Return whose largest or smallest value the release shows as it is.

    A person who holds several ends counts once: columns follow from one another.

    Examples
    --------
    The largest value 9 is released; the smallest, 1, belongs to two people and counts for nothing.
    Of the four values two are there once and one twice: 2 (1 + 1/2) / (2 + 1/2), times 2/4 rows.

    >>> from icsa.comparison.features import as_features
    >>> found = verbatim_ends(as_features([[1.0], [1.0], [4.0], [9.0]], [[2.0], [9.0]]))
    >>> found.ends, found.released.tolist(), found.chances.round(3)
    (1, [3], array([0.6]))
    """
    factor = features.released.n_rows / features.original.n_rows
    safe: dict[int, float] = {}
    shown: set[int] = set()
    ends, released_ends = 0, 0
    for column, released in zip(features.original.numbers, features.released.numbers, strict=True):
        order = np.argsort(column, kind="stable")[: int(np.sum(~np.isnan(column)))]
        if order.size < 2 or column[order[0]] == column[order[-1]]:
            continue
        for far in (order[:_FAR], order[::-1][:_FAR]):
            row, value = int(far[0]), column[far[0]]
            if column[far[1]] == value:
                continue
            ends += 1
            safe[row] = safe.get(row, 1.0) * (1.0 - _coincidence(column[far], factor))
            if np.any(released == value):
                released_ends += 1
                shown.add(row)
    rows = np.array(sorted(shown), dtype=np.int64)
    return Extremes(ends, released_ends, len(safe), rows, 1.0 - np.array(list(safe.values())))


def _coincidence(far: Vector, factor: float) -> float:
    """Return how likely fresh people repeat a value that one has, judged by far values."""
    counts = np.unique(far, return_counts=True)[1]
    once, twice = int(np.sum(counts == 1)), int(np.sum(counts == 2))
    return min(1.0, 2.0 * factor * (twice + 0.5) / (once + 0.5))
