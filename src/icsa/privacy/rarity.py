"""How rare it is to agree with somebody: cells weighted by how many originals come as near.

For an original and a row, every cell scores -log(C / n), C being the number of originals that agree
with the person as well as the row does (at least 2). Only ranks matter: neither units nor skewness.

- *equal*: only equal cells score; C counts the originals with the same value.
- *near*: numbers score by how near they are; C counts the originals within |y - x| of the person's
  x, and the row itself where its value is new.

A missing cell scores nothing by itself: people who dropped out lack many cells at once. Which cells
are missing is one more column (`with_gaps`). A person's scores are summed over the columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Codes, ColumnPair, RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.privacy.exact_rows import row_hashes
from icsa.threads import in_threads

__all__ = [
    "BEST",
    "Best",
    "best_by_equal_cells",
    "best_by_near_cells",
    "equal_weights",
    "with_gaps",
]

# How many of the best scores are kept.
BEST = 6
# Rows at a time: their sums stay in the first cache.
_BLOCK = 64
# Distances that differ by so little are the same: lattices are sums of rounded numbers.
_SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Best:
    """The rows that each person agrees with most, best first.

    Attributes
    ----------
    scores : ndarray of shape (m, k)
        0 where there are fewer rows.
    rows : ndarray of shape (m, k)
        -1 where there are fewer rows.
    """

    scores: Matrix
    rows: RowNumbers

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Best: {self.rows.shape[1]} rows of {self.rows.shape[0]} people>"


def equal_weights(original: FeatureTable, rows: RowNumbers) -> Matrix:
    """Return what each cell of each person scores where it is equal, shape (m, n_columns).

    Examples
    --------
    >>> table = FeatureTable(np.array([[1.0, 1.0, 1.0, 5.0]]), np.empty((0, 4), dtype=np.int32))
    >>> equal_weights(table, np.array([0, 3])).round(3)  # log(4/3); log(4/2): a count of 2 or more
    array([[0.288],
           [0.693]])
    """
    n = original.n_rows
    weights = np.empty((rows.size, original.numbers.shape[0] + original.codes.shape[0]))
    for j, column in enumerate(original.numbers):
        values, place = np.unique(column[rows], return_inverse=True)
        count = _count_equal(column, values)
        known = ~np.isnan(values)[place]
        weights[:, j] = np.where(known, np.log(n / np.maximum(count[place], 2)), 0.0)
    for j, codes in enumerate(original.codes, start=original.numbers.shape[0]):
        counts = np.bincount(codes + 1)
        weights[:, j] = np.log(n / np.maximum(counts[codes[rows] + 1], 2)) * (codes[rows] >= 0)
    return np.maximum(weights, 0.0)


def _count_equal(column: Vector, values: Vector) -> RowNumbers:
    """Return how many cells equal each of some different values; missing ones equal none."""
    column, values = np.ascontiguousarray(column), np.ascontiguousarray(values)
    shift = 64 - max(4, int(4 * values.size).bit_length())
    places = np.full(1 << (64 - shift), -1, dtype=np.int64)
    count = np.zeros(values.size, dtype=np.int64)
    bits = column.view(np.uint64), values.view(np.uint64)
    _count_in_table(column, bits[0], values, bits[1], np.uint64(shift), places, count)
    return count


@kernel
def _count_in_table(
    column: Vector,
    column_bits: npt.NDArray[np.uint64],
    values: Vector,
    value_bits: npt.NDArray[np.uint64],
    shift: np.uint64,
    places: RowNumbers,
    count: RowNumbers,
) -> None:
    """Put values in a table by their hash, and count cells that are found there."""
    factor, last = np.uint64(0x9E3779B97F4A7C15), places.size - 1
    for k in range(values.size):
        if values[k] == values[k]:
            slot = np.int64((value_bits[k] if values[k] != 0.0 else np.uint64(0)) * factor >> shift)
            while places[slot] >= 0:
                slot = (slot + 1) & last
            places[slot] = k
    for i in range(column.size):
        slot = np.int64((column_bits[i] if column[i] != 0.0 else np.uint64(0)) * factor >> shift)
        while places[slot] >= 0 and values[places[slot]] != column[i]:
            slot = (slot + 1) & last
        if places[slot] >= 0:
            count[places[slot]] += 1


def with_gaps(features: Features) -> Features:
    """Return both tables with one column more that tells which cells are missing, if any are.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> both = with_gaps(as_features([[1.0, 2.0], [np.nan, 3.0]], [[np.nan, 3.0], [5.0, np.nan]]))
    >>> first, second = both.original.codes[0], both.released.codes[0]
    >>> bool(first[1] == second[0]), bool(first[0] in second)
    (True, False)
    """
    tables = (features.original, features.released)
    gaps = [np.vstack([np.isnan(table.numbers), table.codes < 0]) for table in tables]
    if not any(bool(gap.any()) for gap in gaps):
        return features
    hashes = [
        row_hashes(FeatureTable(np.empty((0, gap.shape[1])), gap.astype(np.int32))) for gap in gaps
    ]
    kinds = np.unique(np.concatenate(hashes), return_inverse=True)[1].astype(np.int32)
    first, second = (
        FeatureTable(table.numbers, np.vstack([table.codes, part]))
        for table, part in zip(tables, np.split(kinds, [tables[0].n_rows]), strict=True)
    )
    levels = tuple(range(int(kinds.max()) + 1))
    column = ColumnPair("which cells are missing", np.empty(0), np.empty(0), levels)
    return Features(first, second, (*features.columns, column))


def best_by_equal_cells(
    original: FeatureTable,
    people: RowNumbers,
    table: FeatureTable,
    *,
    own: RowNumbers | None = None,
    weights: Matrix | None = None,
    threads: int = 1,
) -> Best:
    """Return the rows of a table with which each person has the rarest cells in common.

    Parameters
    ----------
    original : FeatureTable
        What is rare.
    people : ndarray of shape (m,)
        Row numbers of the original.
    table : FeatureTable
        The release, or rows of the original.
    own : ndarray of shape (m,), optional
        The people's row numbers in the table, which do not count; -1 where they are not there.
    weights : ndarray of shape (m, n_columns), optional
        Their `equal_weights`, where these are known.
    threads : int
        How many parts of the people to look at at a time.

    Examples
    --------
    >>> table = FeatureTable(np.array([[1.0, 1.0, 2.0, 3.0], [7.0, 8.0, 9.0, 7.0]]),
    ...                      np.empty((0, 4), dtype=np.int32))
    >>> found = best_by_equal_cells(table, np.array([0]), table, own=np.array([0]))
    >>> found.rows[0, :2], found.scores[0, :3].round(3)
    (array([1, 3]), array([0.693, 0.693, 0.   ]))
    """
    scored = equal_weights(original, people) if weights is None else weights

    def work(part: slice) -> Best:
        rows = people[part]
        scores, found = np.zeros((rows.size, BEST)), np.full((rows.size, BEST), -1, dtype=np.int64)
        itself = np.full(rows.size, -1, dtype=np.int64) if own is None else own[part]
        mine, codes = _rows_first(original, rows)
        _best_equal(mine, codes, scored[part], table.numbers, table.codes, itself, scores, found)
        return Best(scores, found)

    return _joined(in_threads(work, _parts(people.size, threads), threads))


def best_by_near_cells(
    original: FeatureTable,
    people: RowNumbers,
    table: FeatureTable,
    *,
    own: RowNumbers | None = None,
    weights: Matrix | None = None,
    threads: int = 1,
) -> Best:
    """Return the rows of a table that come nearest to each person, cell by cell, in ranks.

    Parameters are those of `best_by_equal_cells`.

    Examples
    --------
    From 5, the row with 6 is as near as one of eight others, who has 4; with the row that makes 3
    of eight: log(8/4), the row's own value being new.

    >>> none = np.empty((0, 8), dtype=np.int32)
    >>> table = FeatureTable(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0, 9.0]]), none)
    >>> released = FeatureTable(np.array([[6.0, 40.0]]), none[:, :2])
    >>> best_by_near_cells(table, np.array([4]), released).scores[0, :2].round(3)  # log(8/3), 0
    array([0.981, 0.   ])
    """
    every = [np.sort(column[~np.isnan(column)]) for column in original.numbers]
    order = np.argsort(table.numbers, axis=1).astype(np.int64)  # NaN is last
    theirs = np.take_along_axis(table.numbers, order, axis=1)
    known = np.sum(~np.isnan(theirs), axis=1).astype(np.int64)
    cells = np.concatenate([*every, np.empty(0)])
    starts = np.cumsum([0, *(column.size for column in every)]).astype(np.int64)
    scored = equal_weights(original, people) if weights is None else weights

    def work(part: slice) -> Best:
        rows = people[part]
        scores, found = np.zeros((rows.size, BEST)), np.full((rows.size, BEST), -1, dtype=np.int64)
        itself = np.full(rows.size, -1, dtype=np.int64) if own is None else own[part]
        mine, codes = _rows_first(original, rows)
        _best_near(
            mine,
            codes,
            scored[part],
            cells,
            starts,
            theirs,
            order,
            known,
            table.codes,
            original.n_rows,
            itself,
            scores,
            found,
        )
        return Best(scores, found)

    return _joined(in_threads(work, _parts(people.size, threads), threads))


def _rows_first(table: FeatureTable, rows: RowNumbers) -> tuple[Matrix, Codes]:
    numbers = np.ascontiguousarray(table.numbers[:, rows].T)
    return numbers, np.ascontiguousarray(table.codes[:, rows].T)


def _parts(m: int, threads: int) -> list[slice]:
    return list(row_blocks(m, max(1, -(-m // max(1, threads)))))


def _joined(parts: list[Best]) -> Best:
    if not parts:
        return Best(np.zeros((0, BEST)), np.full((0, BEST), -1, dtype=np.int64))
    return Best(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.rows for part in parts]),
    )


@kernel
def _keep(scores: Vector, rows: RowNumbers, score: float, row: int) -> None:
    """Put a score among the best, in place; of equal ones the first stays first."""
    place = scores.size - 1
    while place > 0 and (score > scores[place - 1] or rows[place - 1] < 0):
        scores[place], rows[place] = scores[place - 1], rows[place - 1]
        place -= 1
    scores[place], rows[place] = score, row


@kernel
def _best_equal(
    people: Matrix,
    people_codes: Codes,
    weights: Matrix,
    numbers: Matrix,
    codes: Codes,
    own: RowNumbers,
    scores: Matrix,
    rows: RowNumbers,
) -> None:
    """Set the best sums of weights of equal cells of each person, and their columns."""
    p, n = numbers.shape
    last = scores.shape[1] - 1
    sums = np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for person in range(people.shape[0]):
            for i in range(size):
                sums[i] = 0.0
            for j in range(p):
                x, weight, column = people[person, j], weights[person, j], numbers[j]
                if x == x:
                    for i in range(size):
                        sums[i] += weight if column[start + i] == x else 0.0
                else:
                    for i in range(size):
                        cell = column[start + i]
                        sums[i] += 0.0 if cell == cell else weight
            for j in range(people_codes.shape[1]):
                level, weight, code = people_codes[person, j], weights[person, p + j], codes[j]
                for i in range(size):
                    sums[i] += weight if code[start + i] == level else 0.0
            place = own[person] - start
            if 0 <= place < size:
                sums[place] = -1.0
            lowest, larger = scores[person, last], 0
            if rows[person, last] < 0:
                lowest = -0.5
            for i in range(size):
                larger += sums[i] > lowest
            if larger:
                for i in range(size):
                    if sums[i] >= 0.0 and (
                        sums[i] > scores[person, last] or rows[person, last] < 0
                    ):
                        _keep(scores[person], rows[person], sums[i], start + i)


@kernel
def _add_near(
    x: float,
    n: int,
    cells: Vector,
    theirs: Vector,
    order: RowNumbers,
    known: int,
    equal: float,
    logs: Vector,
    sums: Vector,
) -> None:
    """Add what each row scores in one column, walking away from x to both sides."""
    first = np.searchsorted(theirs[:known], x)
    low, high = np.searchsorted(cells, x), np.searchsorted(cells, x)
    for j in range(first, known):  # upwards; an interval [2x - y, y]
        y = theirs[j]
        if y == x:
            sums[order[j]] += equal
            continue
        slack = _SAME * (abs(x) + abs(y))
        while high < cells.size and cells[high] <= y + slack:
            high += 1
        while low > 0 and cells[low - 1] >= 2.0 * x - y - slack:
            low -= 1
        count = high - low + (1 if cells[high - 1] < y - slack else 0)
        if count >= n:
            break
        sums[order[j]] += logs[count]
    low, high = np.searchsorted(cells, x), np.searchsorted(cells, x)
    for j in range(first - 1, -1, -1):  # downwards; an interval [y, 2x - y]
        y = theirs[j]
        slack = _SAME * (abs(x) + abs(y))
        while low > 0 and cells[low - 1] >= y - slack:
            low -= 1
        while high < cells.size and cells[high] <= 2.0 * x - y + slack:
            high += 1
        count = high - low + (1 if cells[low] > y + slack else 0)
        if count >= n:
            break
        sums[order[j]] += logs[count]


@kernel
def _best_near(
    people: Matrix,
    people_codes: Codes,
    weights: Matrix,
    cells: Vector,
    starts: RowNumbers,
    theirs: Matrix,
    order: RowNumbers,
    known: RowNumbers,
    codes: Codes,
    n: int,
    own: RowNumbers,
    scores: Matrix,
    rows: RowNumbers,
) -> None:
    """Set the best near scores of each person, and their rows."""
    p, n_table = people.shape[1], codes.shape[1]
    last = scores.shape[1] - 1
    logs = np.zeros(n + 2)
    for count in range(n + 1):
        logs[count] = np.log(n / max(count, 2)) if n > 2 else 0.0
    sums = np.empty(n_table)
    for person in range(people.shape[0]):
        for i in range(n_table):
            sums[i] = 0.0
        for j in range(p):
            x, equal = people[person, j], weights[person, j]
            if x == x:
                column = cells[starts[j] : starts[j + 1]]
                _add_near(x, n, column, theirs[j], order[j], known[j], equal, logs, sums)
            else:
                for i in range(known[j], n_table):
                    sums[order[j, i]] += equal
        for j in range(people_codes.shape[1]):
            level, equal, code = people_codes[person, j], weights[person, p + j], codes[j]
            for i in range(n_table):
                sums[i] += equal if code[i] == level else 0.0
        if own[person] >= 0:
            sums[own[person]] = -1.0
        for i in range(n_table):
            if sums[i] >= 0.0 and (sums[i] > scores[person, last] or rows[person, last] < 0):
                _keep(scores[person], rows[person], sums[i], i)
