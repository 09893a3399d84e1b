"""Squared distances of one row to many, a block of them at a time."""

from __future__ import annotations

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector

__all__ = ["add_columns_in_fours"]


@kernel
def add_columns_in_fours(
    target: Vector, columns: Matrix, start: int, size: int, distances: Vector
) -> int:
    """Add (target[j] - columns[j, start + i])^2 to distances[i], i < size; return the next j.

    Four columns at a time take fewer loads and stores of the distances. What is left of them, up to
    three, is for the caller.
    """
    j = 0
    while j + 3 < target.size:
        x0, x1, x2, x3 = target[j], target[j + 1], target[j + 2], target[j + 3]
        c0 = columns[j, start : start + size]
        c1 = columns[j + 1, start : start + size]
        c2 = columns[j + 2, start : start + size]
        c3 = columns[j + 3, start : start + size]
        for i in range(size):
            d0, d1, d2, d3 = x0 - c0[i], x1 - c1[i], x2 - c2[i], x3 - c3[i]
            distances[i] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
        j += 4
    return j
