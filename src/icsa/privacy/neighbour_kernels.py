"""Kernels that look for the nearest rows of people in a block of columns.

Distances are sums of squared differences, not |x|^2 - 2 x'r + |r|^2: a copied row must come out as
exactly zero, and on blocks that stay in the cache this is also the faster way.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.compilation import kernel, ordering_kernel
from icsa.matrices import Matrix, Vector

__all__ = [
    "BLOCK",
    "MISMATCH",
    "add_columns_in_fours",
    "keep_smallest",
    "look_at_all",
    "look_where_near",
]

# Squared distance of two cells of a category that differ.
MISMATCH = 2.0
# Rows at a time: their columns stay in the first cache.
BLOCK = 256
# Bounds of which the smallest is looked for first.
_LANES = 32


@kernel
def look_at_all(
    targets: Matrix,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    missing: bool,
    own: RowNumbers,
    numbered: RowNumbers,
    squares: Matrix,
    rows: RowNumbers,
) -> None:
    """Put the columns of `numbers` where they are among the k nearest.

    Parameters
    ----------
    targets, target_codes : ndarray of shape (m, n_numbers), (m, n_codes)
    numbers, codes : ndarray of shape (n_numbers, n), (n_codes, n)
    missing : bool
        Whether any number is missing, on either side.
    own : ndarray of shape (m,)
        The people's own rows, which do not count.
    numbered : ndarray of shape (n,)
        The rows' numbers, ascending.
    squares, rows : ndarray of shape (m, k)
        The k nearest so far, nearest first; changed in place.
    """
    n = numbers.shape[1]
    distances = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for person in range(targets.shape[0]):
            _look(
                targets[person],
                target_codes[person],
                numbers,
                codes,
                missing,
                start,
                size,
                distances,
                own[person],
                numbered,
                squares[person],
                rows[person],
            )


@kernel
def look_where_near(
    bounds: npt.NDArray[np.float32],
    lengths: Vector,
    targets: Matrix,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    missing: bool,
    own: RowNumbers,
    numbered: RowNumbers,
    tile: int,
    squares: Matrix,
    rows: RowNumbers,
) -> int:
    """Look at those blocks of columns, `tile` and on, in which a bound is below what is known.

    Returns how many there are. `bounds` are those of these columns, without the `lengths`.
    """
    k, looked = squares.shape[1], 0
    distances = np.empty(BLOCK)
    for person in range(targets.shape[0]):
        for place in range(0, bounds.shape[1], BLOCK):
            size = min(BLOCK, bounds.shape[1] - place)
            smallest = _smallest(bounds[person, place : place + size])
            # What the bounds may be wrong by is in them already.
            if smallest <= squares[person, k - 1] - lengths[person]:
                looked += 1
                _look(
                    targets[person],
                    target_codes[person],
                    numbers,
                    codes,
                    missing,
                    tile + place,
                    size,
                    distances,
                    own[person],
                    numbered,
                    squares[person],
                    rows[person],
                )
    return looked


@ordering_kernel
def _smallest(values: npt.NDArray[np.float32]) -> float:
    """Return the smallest of values of which none is missing."""
    least = values[0]
    for i in range(values.size):
        least = min(least, values[i])
    return float(least)


@kernel
def _look(
    target: Vector,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    missing: bool,
    start: int,
    size: int,
    distances: Vector,
    own: int,
    numbered: RowNumbers,
    squares: Vector,
    rows: RowNumbers,
) -> None:
    """Put a block of columns of `numbers` where they are among the k nearest of one person."""
    add_squares(target, target_codes, numbers, codes, missing, start, size, distances)
    here = numbered[start : start + size]
    if here[0] <= own <= here[size - 1]:
        for i in range(size):
            if here[i] == own:
                distances[i] = np.inf
    farthest, nearer = squares[squares.size - 1], 0
    for i in range(size):
        nearer += distances[i] < farthest
    if nearer:
        _insert(distances, here, squares, rows)


@kernel
def _insert(distances: Vector, numbered: RowNumbers, squares: Vector, rows: RowNumbers) -> None:
    """Put the distances that are among the k smallest into their sorted list."""
    k = squares.size
    for i in range(numbered.size):
        if distances[i] < squares[k - 1]:
            place = k - 1
            while place > 0 and squares[place - 1] > distances[i]:
                squares[place], rows[place] = squares[place - 1], rows[place - 1]
                place -= 1
            squares[place], rows[place] = distances[i], numbered[i]


@kernel
def add_squares(
    target: Vector,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    missing: bool,
    start: int,
    size: int,
    distances: Vector,
) -> None:
    """Set distances[i] to the squared distance of the target and the column start + i."""
    p = target.size
    for i in range(size):
        distances[i] = 0.0
    j = 0 if missing else add_columns_in_fours(target, numbers, start, size, distances)
    while j < p:
        x0, c0 = target[j], numbers[j, start : start + size]
        if x0 == x0:
            for i in range(size):
                square = (x0 - c0[i]) * (x0 - c0[i])
                distances[i] += square if square == square else MISMATCH
        else:
            for i in range(size):
                distances[i] += MISMATCH if c0[i] == c0[i] else 0.0
        j += 1
    for j in range(target_codes.size):
        code, level = codes[j, start : start + size], target_codes[j]
        for i in range(size):
            distances[i] += 0.0 if code[i] == level else MISMATCH


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


@kernel
def keep_smallest(
    bounds: npt.NDArray[np.float32], own: RowNumbers, smallest: npt.NDArray[np.float32]
) -> None:
    """Put bounds into the sorted lists of the smallest; a person's own does not count."""
    n, k = bounds.shape[1], smallest.shape[1]
    for person in range(bounds.shape[0]):
        if 0 <= own[person] < n:
            bounds[person, own[person]] = np.inf
        for start in range(0, n, _LANES):
            some = bounds[person, start : min(start + _LANES, n)]
            if _smallest(some) >= smallest[person, k - 1]:
                continue
            for i in range(some.size):
                if some[i] < smallest[person, k - 1]:
                    place = k - 1
                    while place > 0 and smallest[person, place - 1] > some[i]:
                        smallest[person, place] = smallest[person, place - 1]
                        place -= 1
                    smallest[person, place] = some[i]
