"""How many released numbers lie beyond all of the original's, and how far: per column and in all.

Values that no original has may be ones that nobody can have. Another sample has some, too: of m
others, m / (n + 1) lie beyond each end of n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icsa.comparison.column_pairs import ColumnPair
from icsa.matrices import Vector
from icsa.measures import Reach, reach_beyond

__all__ = [
    "BeyondRange",
    "ColumnBeyond",
    "column_beyond",
    "lengths_beyond",
    "of_columns",
    "values_beyond_range",
]

# Chance that any of all columns is told without reason.
_CHANCE = 1e-3


@dataclass(frozen=True)
class BeyondRange:
    """Released numbers beyond the original's smallest and largest.

    Exact counts beside a release tell where the original's extremes lie: not to be handed out.

    Attributes
    ----------
    reaches : mapping of str to Reach
        Of every column of numbers.
    share : float
        Of all released numbers.
    expected : float
        The same for another sample.
    """

    reaches: Mapping[str, Reach]
    share: float
    expected: float

    @property
    def told(self) -> tuple[str, ...]:
        """The columns that leave the range more often than chance explains."""
        least = _CHANCE / max(1, 2 * len(self.reaches))  # each column has two ends
        return tuple(name for name, reach in self.reaches.items() if reach.chance < least)


def values_beyond_range(columns: Sequence[ColumnPair]) -> BeyondRange:
    """Return how many released numbers lie beyond the original's range, and how far.

    Parameters
    ----------
    columns : sequence of ColumnPair
        Those with levels are left out.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> ages = numeric_column("age", np.arange(20.0, 100.0), np.arange(30.0, 110.0))
    >>> found = values_beyond_range([ages])
    >>> found.reaches["age"].describe(), round(found.share, 3), round(found.expected, 3)
    ('10 cells, by at most 25% of its length', 0.125, 0.025)
    >>> found.told
    ()
    """
    numeric = [column for column in columns if column.levels is None]
    return of_columns({column.name: column_beyond(column) for column in numeric})


class ColumnBeyond(NamedTuple):
    """How a column leaves its range: how far, of how many cells, and in how many by chance."""

    reach: Reach
    cells: int
    expected: float


def column_beyond(column: ColumnPair) -> ColumnBeyond | None:
    """Return how a column of numbers leaves the original's range; None without a cell."""
    original = column.original[~np.isnan(column.original)]
    released = column.released[~np.isnan(column.released)]
    if not original.size or not released.size:
        return None
    ends = float(original.min()), float(original.max())
    # Of a column with few values others have the same ones: at most what is there.
    at_ends = sum(int(np.sum(original == end)) == 1 for end in ends)
    expected = at_ends * released.size / (original.size + 1)
    return ColumnBeyond(reach_beyond(*ends, released), released.size, expected)


def of_columns(columns: Mapping[str, ColumnBeyond | None]) -> BeyondRange:
    """Return how all columns leave their ranges, by their names."""
    known = {name: one for name, one in columns.items() if one is not None}
    cells = max(1, sum(one.cells for one in known.values()))
    beyond = sum(one.reach.below + one.reach.above for one in known.values())
    expected = sum(one.expected for one in known.values())
    reaches = {name: one.reach for name, one in known.items()}
    return BeyondRange(reaches, beyond / cells, expected / cells)


def lengths_beyond(original: Vector, released: Vector) -> float:
    """Return how far released numbers lie beyond the original's range, over what chance gives.

    All lengths beyond the smallest and the largest are added up. For the yardstick people are
    halved at random: with x_1 >= x_2 >= ... the larger half of those numbers lies beyond the other
    by sum over i < j of x_i - x_j, where x_j is the largest of the other half, which it is with
    probability 2^-j. The range over the number of people is the least that counts.

    Examples
    --------
    >>> x = np.arange(100.0)
    >>> lengths_beyond(x, x), round(lengths_beyond(x, np.append(x, [101.0, -1.0])), 2)
    (0.0, 0.75)
    """
    known, new = (numbers[~np.isnan(numbers)] for numbers in (original, released))
    if known.size < 2 or not new.size:
        return 0.0
    ordered = np.sort(known)
    low, high = float(ordered[0]), float(ordered[-1])
    beyond = np.maximum(new - high, 0.0).sum() + np.maximum(low - new, 0.0).sum()
    usual = _usual_excess(ordered[::-1]) + _usual_excess(-ordered)
    least = max(usual, (high - low) / known.size)
    return float(beyond / least) if least > 0.0 else 0.0


def _usual_excess(descending: Vector) -> float:
    """Return the mean of how far one random half of numbers lies above the other."""
    top = descending[: min(descending.size, 60)]
    count = np.arange(1, top.size + 1)
    # sum over i < j of x_i - x_j, for every j
    above = np.cumsum(top) - count * top
    return float(np.sum(above * 0.5**count))
