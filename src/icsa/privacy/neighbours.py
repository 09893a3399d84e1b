"""Nearest neighbours of some rows among many: m rows against n, never n against n.

Distances are sums of squared differences, not |x|^2 - 2 x'r + |r|^2: a copied row must come out as
exactly zero, and on blocks that stay in the cache this is also the faster way.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import PART, FeatureTable
from icsa.compilation import kernel, ordering_kernel
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.privacy.near_filter import NearFilter, near_filter
from icsa.threads import one_linear_algebra_thread

__all__ = [
    "MISMATCH",
    "Neighbours",
    "add_columns_in_fours",
    "add_squares",
    "chosen_rows",
    "nearest",
    "roughly_kth_distances",
]


# Squared distance of two cells of a category that differ.
MISMATCH = 2.0
# Rows at a time: their columns stay in the first cache.
_BLOCK = 256
# People and rows whose bounds are computed at a time.
_PEOPLE, _TILE = 256, 2_048
# Bounds of which the smallest is looked for first.
_LANES = 32
# Where so large a share of the blocks may be near, bounds are not worth their time.
_TOO_OFTEN = 0.5
# Pairs of rows from which on threads of linear algebra would be in the way of ours.
_MANY = 1 << 26


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
    asked = _Asked(targets, target_codes, itself, bool(np.isnan(targets).any()))
    squares, rows = np.full((m, k), np.inf), np.full((m, k), -1, dtype=np.int64)
    with one_linear_algebra_thread() if m * points.n_rows > _MANY else nullcontext():
        for parts in points.turns(threads):  # merged as they come: then it is known what is near
            found = points.over(_nearest_in, parts, asked, squares, threads=threads)
            squares, rows = _merged([(squares, rows), *found], k)
    return Neighbours(np.sqrt(_exactly(people, points, squares, rows)), rows)


@dataclass(frozen=True, eq=False, repr=False)
class _Asked:
    """Rows whose neighbours are wanted, rows first; `own` are their numbers in the other table."""

    targets: Matrix
    codes: Codes
    own: RowNumbers
    has_missing: bool


def _nearest_in(
    points: FeatureTable, part: slice, asked: _Asked, known: Matrix
) -> tuple[Matrix, RowNumbers]:
    """Return the k nearest in a part of a table, of those that are nearer than is known already."""
    squares = known.copy()
    rows = np.full(known.shape, -1, dtype=np.int64)
    screen, is_first = None, True
    for start in range(part.start, part.stop, PART):
        some = slice(start, min(start + PART, part.stop))
        block, codes = points.block(some), points.code_block(some)
        gaps = np.isnan(block).any(axis=1)
        if is_first:
            gaps_anywhere = np.logical_or(gaps, np.isnan(asked.targets).any(axis=0))
            n_rows = part.stop - part.start
            screen = near_filter(asked.targets, asked.codes, n_rows, gaps_anywhere)
            is_first = False
        missing = asked.has_missing or bool(gaps.any())
        others = None if screen is None else screen.rows(block, codes)
        told = asked.targets, asked.codes, block, codes, missing, asked.own, start, squares, rows
        if screen is None or others is None:
            _update(*told)
        elif _update_where_near(screen, others, *told) > _TOO_OFTEN:
            screen = None  # it costs more than it saves
    squares[rows < 0] = np.inf
    return squares, rows


def _update_where_near(
    screen: NearFilter,
    others: npt.NDArray[np.float32],
    targets: Matrix,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    missing: bool,
    own: RowNumbers,
    first: int,
    squares: Matrix,
    rows: RowNumbers,
) -> float:
    """Do what `_update` does where the filter says that rows may be near; return how often."""
    n, looked = numbers.shape[1], 0
    for tile in row_blocks(n, _TILE):
        there = np.ascontiguousarray(others[:, tile])
        for people in row_blocks(targets.shape[0], _PEOPLE):
            looked += _update_tile(
                screen.people[people] @ there,
                screen.lengths[people],
                targets[people],
                target_codes[people],
                numbers,
                codes,
                missing,
                own[people],
                first,
                tile.start,
                squares[people],
                rows[people],
            )
    return float(looked * _BLOCK / (n * targets.shape[0]))


def roughly_kth_distances(
    people: FeatureTable, points: FeatureTable, own: RowNumbers, *, k: int
) -> Vector:
    """Return how far away the k-th nearest row is, or the last, in single precision.

    To rank people by, not to judge them: copies are not at distance 0.

    Parameters
    ----------
    people, points : FeatureTable
    own : ndarray of shape (m,)
        Row numbers of the people among `points`, -1 where they are not there.
    k : int

    Examples
    --------
    >>> rows = FeatureTable(np.arange(2_000.0)[None, :], np.empty((0, 2_000), dtype=np.int32))
    >>> roughly_kth_distances(rows, rows, np.arange(2_000), k=2)[[0, 50]].round(1)
    array([2., 1.])
    """
    k = max(1, min(k, points.n_rows - 1))
    targets = np.ascontiguousarray(people.block(slice(0, people.n_rows)).T)
    codes = np.ascontiguousarray(people.codes.T)
    block = points.block(slice(0, points.n_rows))
    gaps = np.logical_or(np.isnan(block).any(axis=1), np.isnan(targets).any(axis=0))
    screen = near_filter(targets, codes, points.n_rows, gaps)
    others = None if screen is None else screen.rows(block, points.codes)
    if screen is None or others is None:
        return nearest(people, points, k=k, own=own).distances[:, -1]
    smallest = np.full((people.n_rows, k), np.inf, dtype=np.float32)
    with one_linear_algebra_thread():
        for tile in row_blocks(points.n_rows, _TILE):
            there = np.ascontiguousarray(others[:, tile])
            for part in row_blocks(people.n_rows, _PEOPLE):
                bounds = screen.people[part] @ there
                _keep_smallest(bounds, own[part] - tile.start, smallest[part])
    return np.sqrt(np.maximum(smallest[:, -1] + screen.lengths, 0.0))


@kernel
def _keep_smallest(
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
    n = numbers.shape[1]
    distances = np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
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
                first,
                squares[person],
                rows[person],
            )


@kernel
def _update_tile(
    bounds: npt.NDArray[np.float32],
    lengths: Vector,
    targets: Matrix,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    missing: bool,
    own: RowNumbers,
    first: int,
    tile: int,
    squares: Matrix,
    rows: RowNumbers,
) -> int:
    """Look at those blocks of columns, `tile` and on, in which a bound is below what is known."""
    k, looked = squares.shape[1], 0
    distances = np.empty(_BLOCK)
    for person in range(targets.shape[0]):
        for place in range(0, bounds.shape[1], _BLOCK):
            size = min(_BLOCK, bounds.shape[1] - place)
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
                    first,
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
    first: int,
    squares: Vector,
    rows: RowNumbers,
) -> None:
    """Put a block of columns of `numbers` where they are among the k nearest of one person."""
    add_squares(target, target_codes, numbers, codes, missing, start, size, distances)
    place = own - first - start
    if 0 <= place < size:
        distances[place] = np.inf
    farthest, nearer = squares[squares.size - 1], 0
    for i in range(size):
        nearer += distances[i] < farthest
    if nearer:
        _insert(distances, size, first + start, squares, rows)


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
