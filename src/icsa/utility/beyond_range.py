"""How many released numbers lie beyond all of the original's, and how far: per column and in all.

Values that no original has may be ones that nobody can have. Another sample has some, too: of m
others, m / (n + 1) lie beyond each end of n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from icsa.comparison.column_pairs import ColumnPair
from icsa.measures import Reach, reach_beyond

__all__ = ["BeyondRange", "values_beyond_range"]

# Chance that any of all columns is told without reason.
_CHANCE = 1e-3


@dataclass(frozen=True)
class BeyondRange:
    """Released numbers beyond the original's smallest and largest.

    Whoever compares releases counts `excess` and `farthest` as losses. Exact counts beside a
    release tell where the original's extremes lie: not to be handed out.

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
    def excess(self) -> float:
        """The share beyond what another sample has, 0 or more."""
        return max(0.0, self.share - self.expected)

    @property
    def farthest(self) -> float:
        """How far the farthest number of a column lies beyond, in lengths of its range: the mean.

        Columns none of whose numbers lie beyond count as 0.
        """
        return float(np.mean([reach.share for reach in self.reaches.values()] or [0.0]))

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
    reaches: dict[str, Reach] = {}
    beyond, expected, cells = 0, 0.0, 0
    for column in columns:
        if column.levels is not None:
            continue
        original = column.original[~np.isnan(column.original)]
        released = column.released[~np.isnan(column.released)]
        if not original.size or not released.size:
            continue
        ends = float(original.min()), float(original.max())
        reach = reaches[column.name] = reach_beyond(*ends, released)
        beyond += reach.below + reach.above
        # Of a column with few values others have the same ones: at most what is there.
        at_ends = sum(int(np.sum(original == end)) == 1 for end in ends)
        expected += at_ends * released.size / (original.size + 1)
        cells += released.size
    return BeyondRange(reaches, beyond / max(1, cells), expected / max(1, cells))
