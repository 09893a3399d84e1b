"""Nearest neighbours of some rows among many: m rows against n, never n against n.

Distances are sums of squared differences, not |x|^2 - 2 x'r + |r|^2: a copied row must come out as
exactly zero, and on blocks that stay in the cache this is also the faster way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.compilation import kernel
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.threads import in_threads

__all__ = [
    "MISMATCH",
    "Neighbours",
    "add_columns_in_fours",
    "add_squares",
    "chosen_rows",
    "nearest",
]


# Squared distance of two cells of a category that differ.
MISMATCH = 2.0
# Rows at a time: their columns stay in the first cache.
_BLOCK = 256
# Rows whose coordinates are computed at a time.
_PART = 1 << 15


@dataclass(frozen=True, eq=False, repr=False)
class Neighbours:
    """The k nearest rows of each of m rows, nearest first.

    Attributes
    ----------
    distances : ndarray of shape (m, k)
        Infinite where there are fewer than k rows.
    rows : ndarray of shape (m, k)
        Row numbers; -1 where there are fewer than k rows. Of rows equally far the first counts.
    """

    distances: Matrix
    rows: RowNumbers

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Neighbours: {self.rows.shape[1]} of {self.rows.shape[0]} rows>"


def nearest(
    people: FeatureTable,
    points: FeatureTable,
    *,
    k: int = 1,
    own: RowNumbers | None = None,
    threads: int = 1,
) -> Neighbours:
    """Return the k nearest rows of `points` for each row of `people`.

    Parameters
    ----------
    people, points : FeatureTable
        Rows in the coordinates of one lens. Time grows with the product of their numbers.
    k : int
        How many neighbours.
    own : ndarray of shape (m,), optional
        Row numbers of the people among `points`, which do not count as their neighbours.
    threads : int
        How many parts of `points` to look through at a time. The result is the same.

    Examples
    --------
    >>> none = np.empty((0, 4), dtype=np.int32)
    >>> rows = FeatureTable(np.array([[0.0, 1.0, 5.0, 5.5]]), none)
    >>> found = nearest(rows, rows, own=np.arange(4))
    >>> found.rows[:, 0], found.distances[:, 0]
    (array([1, 0, 3, 2]), array([1. , 1. , 0.5, 0.5]))
    """
    m = people.n_rows
    targets = np.ascontiguousarray(people.block(slice(0, m)).T)
    target_codes = np.ascontiguousarray(people.codes.T)
    itself = np.full(m, -1, dtype=np.int64) if own is None else own.astype(np.int64)
    has_missing = bool(np.isnan(targets).any())

    def work(rows: slice) -> tuple[Matrix, RowNumbers]:
        squares, numbers = np.full((m, k), np.inf), np.full((m, k), -1, dtype=np.int64)
        block = points.block(rows)
        codes = np.ascontiguousarray(points.codes[:, rows])
        missing = has_missing or bool(np.isnan(block).any())
        _update(targets, target_codes, block, codes, missing, itself, rows.start, squares, numbers)
        return squares, numbers

    parts = list(row_blocks(points.n_rows, _PART))
    squares, rows = np.full((m, k), np.inf), np.full((m, k), -1, dtype=np.int64)
    for start in range(0, len(parts), 4 * threads):  # merged as they come, to save room
        found = in_threads(work, parts[start : start + 4 * threads], threads)
        squares, rows = _merged([(squares, rows), *found], k)
    return Neighbours(np.sqrt(_exactly(people, points, squares, rows)), rows)


def chosen_rows(outliers: object, n_rows: int) -> RowNumbers:
    """Return row numbers from row numbers, or from a vector of True and False.

    Examples
    --------
    >>> chosen_rows([False, True, True], 3), chosen_rows([2], 3)
    (array([1, 2]), array([2]))
    """
    chosen = np.asarray(outliers)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "biu"):
        raise InputError("Outliers are a vector of row numbers, or of True and False.")
    if chosen.dtype.kind == "b":
        if chosen.size != n_rows:
            raise InputError(
                f"Outliers as True and False need one for each of {n_rows} rows: got {chosen.size}."
            )
        return np.flatnonzero(chosen)
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < n_rows):
        raise InputError(f"Outliers as row numbers must be from 0 to {n_rows - 1}.")
    return chosen.astype(np.int64)


def _merged(found: list[tuple[Matrix, RowNumbers]], k: int) -> tuple[Matrix, RowNumbers]:
    """Return the k nearest of several lists of them; earlier lists hold earlier rows."""
    squares = np.hstack([part[0] for part in found])
    rows = np.hstack([part[1] for part in found])
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(squares, order, 1), np.take_along_axis(rows, order, 1)


def _exactly(
    people: FeatureTable, points: FeatureTable, squares: Matrix, rows: RowNumbers
) -> Matrix:
    """Return the squared distances from differences taken before a linear change of coordinates.

    The coordinates of equal rows differ by rounding after it, and a copy must be at distance 0.
    """
    if points.change is None or points.change != people.change:
        return squares
    exact = squares.copy()
    targets = np.nan_to_num(people.numbers, nan=0.0)
    for place in range(rows.shape[1]):
        found = np.flatnonzero(rows[:, place] >= 0)
        others = points.rows(rows[found, place])
        difference = targets[:, found] - np.nan_to_num(others.numbers, nan=0.0)
        changed = points.change(difference)
        mismatches = np.sum(people.codes[:, found] != others.codes, axis=0)
        exact[found, place] = np.einsum("ji,ji->i", changed, changed) + MISMATCH * mismatches
    return np.sort(exact, axis=1)


@kernel
def _update(
    targets: Matrix,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    missing: bool,
    own: RowNumbers,
    first: int,
    squares: Matrix,
    rows: RowNumbers,
) -> None:
    """Put the columns of `numbers`, rows `first` and on, where they are among the k nearest."""
    n, k = numbers.shape[1], squares.shape[1]
    distances = np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for person in range(targets.shape[0]):
            add_squares(
                targets[person],
                target_codes[person],
                numbers,
                codes,
                missing,
                start,
                size,
                distances,
            )
            place = own[person] - first - start
            if 0 <= place < size:
                distances[place] = np.inf
            farthest, nearer = squares[person, k - 1], 0
            for i in range(size):
                nearer += distances[i] < farthest
            if nearer:
                _insert(distances, size, first + start, squares[person], rows[person])


@kernel
def _insert(distances: Vector, size: int, first: int, squares: Vector, rows: RowNumbers) -> None:
    """Put the distances that are among the k smallest into their sorted list."""
    k = squares.size
    for i in range(size):
        if distances[i] < squares[k - 1]:
            place = k - 1
            while place > 0 and squares[place - 1] > distances[i]:
                squares[place], rows[place] = squares[place - 1], rows[place - 1]
                place -= 1
            squares[place], rows[place] = distances[i], first + i


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
