"""Nearest released rows of people of whom some columns are known, by Gower's distance.

A numeric column adds |x - y| over its range, a category that differs adds 1, missing against a
value adds 1, missing against missing nothing. The ranges are those of the table that is searched:
the attacker has no other.

References
----------
Gower, J. C. (1971), Biometrics 27, 857-871.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.threads import in_threads, threads_for

__all__ = ["nearest_in_columns", "nearest_without_each", "ranges_of"]

# Rows at a time: their distances stay in the first cache.
_BLOCK = 256
_PART = 1 << 15


def ranges_of(table: FeatureTable) -> Vector:
    """Return largest less smallest of each numeric column; 1 for one that does not vary.

    Examples
    --------
    >>> ranges_of(FeatureTable(np.array([[1.0, 5.0], [2.0, 2.0]]), np.empty((0, 2), np.int32)))
    array([4., 1.])
    """
    ranges = np.ones(table.numbers.shape[0])
    for j, column in enumerate(table.numbers):
        cells = column[~np.isnan(column)]
        width = float(cells.max() - cells.min()) if cells.size else 0.0
        if width > 0.0:
            ranges[j] = width
    return ranges


def nearest_in_columns(
    people: FeatureTable,
    points: FeatureTable,
    columns: npt.NDArray[np.intp],
    *,
    ranges: Vector,
    own: RowNumbers | None = None,
) -> RowNumbers:
    """Return for each person the row that is nearest in some columns; the first of equal ones.

    Parameters
    ----------
    people, points : FeatureTable
        Whose neighbours, and among whom.
    columns : ndarray of int
        Places of the columns: numeric ones first, then categories.
    ranges : ndarray of shape (n_numbers,)
        What a difference of numbers is divided by.
    own : ndarray of shape (n_people,), optional
        Rows of `points` that are the people themselves and do not count.

    Examples
    --------
    >>> table = FeatureTable(np.array([[1.0, 2.0, 9.0]]), np.array([[0, 1, 1]], dtype=np.int32))
    >>> person = FeatureTable(np.array([[1.5]]), np.array([[1]], dtype=np.int32))
    >>> nearest_in_columns(person, table, np.array([0, 1]), ranges=ranges_of(table))
    array([1])
    """
    p = people.numbers.shape[0]
    numeric, categorical = columns[columns < p], columns[columns >= p] - p
    targets = np.ascontiguousarray((people.numbers[numeric] / ranges[numeric, None]).T)
    target_codes = np.ascontiguousarray(people.codes[categorical].T)
    itself = np.full(people.n_rows, -1, dtype=np.int64) if own is None else own.astype(np.int64)

    def work(part: slice) -> tuple[Vector, RowNumbers]:
        numbers = np.ascontiguousarray(points.numbers[numeric, part] / ranges[numeric, None])
        codes = np.ascontiguousarray(points.codes[categorical, part])
        best, rows = np.full(people.n_rows, np.inf), np.full(people.n_rows, -1, dtype=np.int64)
        _nearest(targets, target_codes, numbers, codes, itself - part.start, best, rows)
        return best, np.where(rows >= 0, rows + part.start, -1)

    return _merged(work, points, people.n_rows)


def nearest_without_each(
    people: FeatureTable,
    points: FeatureTable,
    *,
    ranges: Vector,
    own: RowNumbers | None = None,
) -> RowNumbers:
    """Return for each person and column the row that is nearest in all other columns.

    Parameters
    ----------
    people, points, ranges, own
        As in `nearest_in_columns`.

    Returns
    -------
    ndarray of shape (n_people, n_columns)

    Examples
    --------
    >>> table = FeatureTable(np.array([[1.0, 2.0, 9.0]]), np.array([[0, 1, 1]], dtype=np.int32))
    >>> person = FeatureTable(np.array([[1.5]]), np.array([[0]], dtype=np.int32))
    >>> nearest_without_each(person, table, ranges=ranges_of(table))
    array([[0, 0]])
    """
    scaled = people.numbers / ranges[:, None]
    targets, target_codes = np.ascontiguousarray(scaled.T), np.ascontiguousarray(people.codes.T)
    itself = np.full(people.n_rows, -1, dtype=np.int64) if own is None else own.astype(np.int64)
    shape = people.n_rows, targets.shape[1] + target_codes.shape[1]

    def work(part: slice) -> tuple[Matrix, RowNumbers]:
        numbers = np.ascontiguousarray(points.numbers[:, part] / ranges[:, None])
        codes = np.ascontiguousarray(points.codes[:, part])
        best, rows = np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64)
        _nearest_without(targets, target_codes, numbers, codes, itself - part.start, best, rows)
        return best, np.where(rows >= 0, rows + part.start, -1)

    return _merged(work, points, shape)


def _merged(
    work: Callable[[slice], tuple[Vector, RowNumbers]],
    points: FeatureTable,
    shape: int | tuple[int, int],
) -> RowNumbers:
    """Return the nearest rows of all parts of a table; of equal ones the first."""
    parts = list(row_blocks(points.n_rows, _PART))
    threads = threads_for(points.numbers.size + points.codes.size, None)
    best, rows = np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64)
    for start in range(0, len(parts), 4 * threads):
        for distances, found in in_threads(work, parts[start : start + 4 * threads], threads):
            nearer = distances < best
            best[nearer], rows[nearer] = distances[nearer], found[nearer]
    return rows


@kernel
def _add_column(x: float, column: Vector, distances: Vector) -> None:
    """Add |x - column| to distances; 1 where one of them is missing."""
    if x == x:
        for i in range(column.size):
            gap = abs(x - column[i])
            distances[i] += gap if gap == gap else 1.0
    else:
        for i in range(column.size):
            distances[i] += 1.0 if column[i] == column[i] else 0.0


@kernel
def _add_codes(level: int, codes: Codes, distances: Vector) -> None:
    """Add 1 to distances where the code is another one."""
    for i in range(codes.size):
        distances[i] += 0.0 if codes[i] == level else 1.0


@kernel
def _nearest(
    targets: Matrix,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    own: RowNumbers,
    best: Vector,
    rows: RowNumbers,
) -> None:
    """Set best[k] and rows[k] to the least distance of a column of the tables, and its place."""
    n = max(numbers.shape[1], codes.shape[1])
    distances = np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for person in range(best.size):
            total = distances[:size]
            total[:] = 0.0
            for j in range(targets.shape[1]):
                _add_column(targets[person, j], numbers[j, start : start + size], total)
            for j in range(target_codes.shape[1]):
                _add_codes(target_codes[person, j], codes[j, start : start + size], total)
            place = own[person] - start
            if 0 <= place < size:
                total[place] = np.inf
            nearer, least = 0, best[person]
            for i in range(size):  # a count vectorises, a minimum does not
                nearer += total[i] < least
            if nearer:
                for i in range(size):
                    if total[i] < best[person]:
                        best[person], rows[person] = total[i], start + i


@kernel
def _nearest_without(
    targets: Matrix,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    own: RowNumbers,
    best: Matrix,
    rows: RowNumbers,
) -> None:
    """Set best[k, j] and rows[k, j] to the least distance without column j, and its place."""
    n, p, width = max(numbers.shape[1], codes.shape[1]), targets.shape[1], best.shape[1]
    parts, distances = np.empty((width, _BLOCK)), np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for person in range(best.shape[0]):
            total = distances[:size]
            total[:] = 0.0
            for j in range(width):
                part = parts[j, :size]
                part[:] = 0.0
                if j < p:
                    _add_column(targets[person, j], numbers[j, start : start + size], part)
                else:
                    _add_codes(
                        target_codes[person, j - p], codes[j - p, start : start + size], part
                    )
                for i in range(size):
                    total[i] += part[i]
            place = own[person] - start
            if 0 <= place < size:
                total[place] = np.inf
            for j in range(width):
                part, nearer, least = parts[j], 0, best[person, j]
                for i in range(size):
                    nearer += total[i] - part[i] < least
                if nearer:
                    for i in range(size):
                        if total[i] - part[i] < best[person, j]:
                            best[person, j], rows[person, j] = total[i] - part[i], start + i
