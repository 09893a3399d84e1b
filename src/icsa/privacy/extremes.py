"""Extremes: largest and smallest values that one person alone has, and that the release shows.

Columns on a lattice have the same largest value in two samples by chance. How often is seen in the
column's other far values: of values that n people have once, fresh people repeat about twice as
many as there are values that two have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features
from icsa.matrices import Vector

__all__ = ["ColumnEnd", "Extremes", "ends_of_column", "together", "verbatim_ends"]

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
    columns = zip(features.original.numbers, features.released.numbers, strict=True)
    return together([ends_of_column(*cells, factor) for cells in columns])


class ColumnEnd(NamedTuple):
    """An end of a column that one person alone has: whose, how likely by chance, and if shown."""

    row: int
    chance: float
    shown: bool


def ends_of_column(original: Vector, released: Vector, factor: float) -> list[ColumnEnd]:
    """Return the ends of a column that one person alone has.

    Parameters
    ----------
    original, released : ndarray
    factor : float
        Released rows for each original.

    Examples
    --------
    >>> ends_of_column(np.array([1.0, 1.0, 4.0, 9.0]), np.array([2.0, 9.0]), 0.5)
    [ColumnEnd(row=3, chance=0.6, shown=True)]
    """
    known = original[~np.isnan(original)]
    if known.size < 2 or known.min() == known.max():
        return []
    count = min(_FAR, known.size)
    found = []
    for far in (
        np.sort(np.partition(known, count - 1)[:count]),
        np.sort(np.partition(known, known.size - count)[known.size - count :])[::-1],
    ):
        if far[1] != far[0]:
            row = int(np.flatnonzero(original == far[0])[0])
            shown = bool(np.any(released == far[0]))
            found.append(ColumnEnd(row, _coincidence(far, factor), shown))
    return found


def together(columns: Sequence[Sequence[ColumnEnd]]) -> Extremes:
    """Return the ends of all columns by the people who hold them."""
    safe: dict[int, float] = {}
    ends = [end for column in columns for end in column]
    for end in ends:
        safe[end.row] = safe.get(end.row, 1.0) * (1.0 - end.chance)
    shown = np.array(sorted({end.row for end in ends if end.shown}), dtype=np.int64)
    chances = 1.0 - np.array(list(safe.values()))
    return Extremes(len(ends), sum(end.shown for end in ends), len(safe), shown, chances)


def _coincidence(far: Vector, factor: float) -> float:
    """Return how likely fresh people repeat a value that one has, judged by far values."""
    counts = np.unique(far, return_counts=True)[1]
    once, twice = int(np.sum(counts == 1)), int(np.sum(counts == 2))
    return min(1.0, 2.0 * factor * (twice + 0.5) / (once + 0.5))
