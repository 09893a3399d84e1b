"""Rank swapping: each cell swapped with another whose rank is near."""

from __future__ import annotations

import numpy as np

from icsa.matrices import Vector
from icsa.rivals.base import Cells

__all__ = ["swap_ranks", "swapped"]


def swapped(numbers: Vector, reach: int, generator: np.random.Generator) -> Vector:
    """Return numbers, each swapped with one at most so many ranks above (Moore 1996).

    From the smallest on, a number that is not swapped yet is swapped with a random one of those
    up to `reach` ranks above it that are not swapped yet. Missing cells stay where they are.

    References
    ----------
    R. A. Moore (1996). Controlled data-swapping techniques for masking public use microdata sets.
    U.S. Bureau of the Census.
    """
    out = numbers.copy()
    there = np.flatnonzero(~np.isnan(numbers))
    # Ties in a random order, or equal cells would be swapped for each other in the table's.
    order = there[np.lexsort((generator.random(there.size), numbers[there]))]
    free = np.ones(order.size, dtype=bool)
    for rank in range(order.size):
        if not free[rank]:
            continue
        free[rank] = False
        above = rank + 1 + np.flatnonzero(free[rank + 1 : rank + 1 + reach])
        if above.size:
            other = int(generator.choice(above))
            free[other] = False
            first, second = order[rank], order[other]
            out[first], out[second] = numbers[second], numbers[first]
    return out


def swap_ranks(
    cells: Cells, generator: np.random.Generator, share: float = 0.05
) -> dict[str, Vector]:
    """Return every column with cells swapped within a share of the ranks, each on its own."""
    reach = max(1, round(share * cells.n_rows))
    return {name: swapped(numbers, reach, generator) for name, numbers in cells.numbers.items()}
