"""Nearest neighbours of some rows among many: m rows against n, never n against n.

Rows that cannot be near are passed over: by their lengths first, then by bounds of distances.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import PART, FeatureTable
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.privacy.near_filter import NearFilter, near_filter
from icsa.privacy.neighbour_kernels import (
    BLOCK,
    MISMATCH,
    keep_smallest,
    look_at_all,
    look_where_near,
)
from icsa.privacy.within_reach import Columns, within_reach
from icsa.threads import one_linear_algebra_thread

__all__ = [
    "MISMATCH",
    "Neighbours",
    "chosen_rows",
    "nearest",
    "roughly_kth_distances",
]


# People and rows whose bounds are computed at a time.
_PEOPLE, _TILE = 256, 2_048
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
        here = Columns.of(points.block(some), points.code_block(some), start)
        if is_first:
            gaps_anywhere = np.logical_or(here.gaps, np.isnan(asked.targets).any(axis=0))
            n_rows = part.stop - part.start
            screen = near_filter(asked.targets, asked.codes, n_rows, gaps_anywhere)
            is_first = False
        looked, pairs = 0, 1
        for who, columns in within_reach(asked.targets, squares[:, -1], here):
            near, found = squares[who], rows[who]  # copies, and put back
            looked += _update(asked, who, columns, screen, near, found)
            squares[who], rows[who] = near, found
            pairs += who.size * columns.n_rows
        if looked * BLOCK > _TOO_OFTEN * pairs:
            screen = None  # it costs more than it saves
    squares[rows < 0] = np.inf
    return squares, rows


def _update(
    asked: _Asked,
    who: RowNumbers,
    columns: Columns,
    screen: NearFilter | None,
    squares: Matrix,
    rows: RowNumbers,
) -> int:
    """Put rows where they are among the k nearest of some people; return how many looks it took.

    A look is at one person and a block of rows, which the filter could not pass over.
    """
    targets, codes, own = asked.targets[who], asked.codes[who], asked.own[who]
    missing = asked.has_missing or bool(columns.gaps.any())
    told = targets, codes, columns.numbers, columns.codes, missing, own, columns.numbered
    others = None if screen is None else columns.screened(screen)
    if screen is None or others is None:
        look_at_all(*told, squares, rows)
        return 0
    looked = 0
    for tile in row_blocks(columns.n_rows, _TILE):
        bounds = screen.people[who] @ np.ascontiguousarray(others[:, tile])
        lengths = screen.lengths[who]
        looked += look_where_near(bounds, lengths, *told, tile.start, squares, rows)
    return looked


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
    for tile in row_blocks(points.n_rows, _TILE):
        there = np.ascontiguousarray(others[:, tile])
        for part in row_blocks(people.n_rows, _PEOPLE):
            bounds = screen.people[part] @ there
            keep_smallest(bounds, own[part] - tile.start, smallest[part])
    return np.sqrt(np.maximum(smallest[:, -1] + screen.lengths, 0.0))


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
