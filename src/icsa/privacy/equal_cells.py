"""In how many cells people agree with one and the same row of a table.

The control is the same against the original without the person: what agrees there does so by
chance, for everybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import PART, FeatureTable
from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector
from icsa.privacy.lenses import Lenses

__all__ = ["Agreement", "most_equal_cells"]

# Numbers agree when they differ by less than this share of their column's robust scale.
_EQUAL = 1e-6
# Rows at a time: their counts stay in the first cache.
_BLOCK = 64
# People who agree with a row in a column, on average, up to which it holds rare values.
_FEW_EQUAL = 2.0
# Cells in which a value's frequency is looked up.
_CELLS_FOR_FREQUENCY = 100_000
# Places a value in the table in which it is looked up: most are empty.
_PLACES = 8
# Sums in another order are wrong by less.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """In how much each person agrees with one and the same row of a table.

    Attributes
    ----------
    cells : ndarray of shape (m,), int
        h: the most cells in common with one row.
    surprise : ndarray of shape (m,)
        The largest sum of -log(f) over the cells in common with one row, f the share of the
        original's rows that have the same cell: rare values weigh more.
    """

    cells: RowNumbers
    surprise: Vector

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Agreement: {self.cells.size} people>"


def most_equal_cells(
    lenses: Lenses, rows: RowNumbers, table: FeatureTable, own: RowNumbers | None, threads: int = 1
) -> Agreement:
    """Return h: the most cells in which each person agrees with one and the same row of a table.

    Columns that do not vary in the original do not count; missing agrees with missing.

    Parameters
    ----------
    lenses : Lenses
        For the people's cells and the columns' scales.
    rows : ndarray of shape (m,)
        The people's row numbers in the original.
    table : FeatureTable
        The release, or the original.
    own : ndarray of shape (m,), optional
        Rows of the table that are the people themselves and are left out.
    threads : int
        How many parts of the table to look through at a time.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    >>> released = np.array([[1.0, 2.0, 9.0], [4.0, 8.0, 3.0]])
    >>> both = as_features(x, released)
    >>> found = most_equal_cells(fit_lenses(both), np.array([0, 1]), both.released, None)
    >>> found.cells, found.surprise.round(3)  # 2 log 3, log 3
    (array([2, 1]), array([2.197, 1.099]))
    """
    original = lenses.features.original
    p = original.numbers.shape[0]
    numeric, categorical = lenses.varying[:p], lenses.varying[p:]
    people = np.ascontiguousarray(original.numbers[:, rows][numeric].T)
    people_codes = np.ascontiguousarray(original.codes[:, rows][categorical].T)
    tolerances = _EQUAL * lenses.scales[numeric]
    weights = _surprises(original, np.flatnonzero(numeric), np.flatnonzero(categorical), rows)
    itself = np.full(rows.size, -1, dtype=np.int64) if own is None else own

    told = _Cells(people, people_codes, tolerances, weights, itself, numeric, categorical)
    parts = [
        found
        for turn in table.turns(threads)
        for found in table.over(_agreement_in, turn, told, threads=threads)
    ]
    most = np.max([part[0] for part in parts], axis=0)
    return Agreement(most.astype(np.int64), np.max([part[1] for part in parts], axis=0))


@dataclass(frozen=True, eq=False, repr=False)
class _Cells:
    """The cells of people, rows first, in the columns that vary, and when they agree."""

    numbers: Matrix
    codes: Codes
    tolerances: Vector
    weights: Matrix
    own: RowNumbers
    numeric: np.ndarray
    categorical: np.ndarray

    @cached_property
    def rare(self) -> np.ndarray:
        """Which columns of numbers hold values that so few rows have that these are looked up."""
        shares = np.exp(-self.weights[:, : self.numbers.shape[1]])
        return np.asarray(shares.sum(axis=0) <= _FEW_EQUAL)


def _agreement_in(table: FeatureTable, part: slice, told: _Cells) -> tuple[Vector, Vector]:
    """Return the most cells in common with one row of a part of a table, and their weight.

    Rows that agree in a column of rare values are few, and looked at one by one; all others agree
    in the other columns only.
    """
    most, surprise = np.zeros(told.own.size), np.zeros(told.own.size)
    rare, common = told.rare, ~told.rare
    kept = np.concatenate([common, np.ones(told.codes.shape[1], dtype=bool)])
    people, tolerances = np.ascontiguousarray(told.numbers[:, common]), told.tolerances[common]
    weights = np.ascontiguousarray(told.weights[:, kept])
    places = _places(told, rare)
    for start in range(part.start, part.stop, PART):
        some = slice(start, min(start + PART, part.stop))
        numbers = np.ascontiguousarray(table.numbers[told.numeric, some])
        codes = np.ascontiguousarray(table.codes[told.categorical, some])
        own = told.own - start
        if kept.any():
            there = np.ascontiguousarray(numbers[common])
            _agree(people, told.codes, tolerances, weights, there, codes, own, most, surprise)
        if rare.any():
            mine = told.numbers, told.codes, told.tolerances, told.weights
            _agree_rarely(*places, *mine, kept, numbers, codes, own, most, surprise)
    return most, surprise


class _Places(NamedTuple):
    """Where people's values of some columns are, to be looked up by a cell.

    Attributes
    ----------
    columns : ndarray of shape (c,)
        Which columns they are.
    values, people : ndarray of shape (c, m)
        The values of each, sorted, and whose they are; missing ones are last.
    steps : ndarray of shape (c,)
        Cells and values that agree are in the same step, or a value is put in two.
    keys : ndarray of shape (c, size)
        The steps that somebody's value is in, by their hash; NaN where there is none.
    ends : ndarray of shape (c, size, 2)
        Which of the sorted values are in it.
    """

    columns: RowNumbers
    values: Matrix
    people: RowNumbers
    steps: Vector
    keys: Matrix
    ends: npt.NDArray[np.int32]


def _places(told: _Cells, rare: np.ndarray) -> _Places:
    """Return where people's values of rare columns are."""
    columns = np.flatnonzero(rare).astype(np.int64)
    values = np.ascontiguousarray(told.numbers[:, columns].T)
    people = np.argsort(values, axis=1, kind="stable").astype(np.int64)
    values = np.take_along_axis(values, people, 1)
    largest = np.nanmax(np.abs(values), axis=1, initial=0.0)
    # A step is as wide as several tolerances, and as the rounding of the largest value.
    steps = np.maximum(4.0 * told.tolerances[columns], 1e-12 * largest) + 1e-300
    size = 1 << int(_PLACES * max(1, values.shape[1]) - 1).bit_length()
    keys = np.full((columns.size, size), np.nan)
    ends = np.zeros((columns.size, size, 2), dtype=np.int32)
    for c, column in enumerate(columns.tolist()):
        _put_in_places(values[c], told.tolerances[column], steps[c], keys[c], ends[c])
    return _Places(columns, values, people, steps, keys, ends)


@kernel
def _place_of(key: float, keys: Vector) -> int:
    """Return where a key is in a table, or the empty place where it would be."""
    mask = keys.size - 1
    # The fractional part of a multiple of the golden section spreads whole numbers.
    share = key * 0.6180339887498949
    place = int((share - np.floor(share)) * keys.size) & mask
    while keys[place] == keys[place] and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def _put_in_places(
    values: Vector, tolerance: float, step: float, keys: Vector, ends: npt.NDArray[np.int32]
) -> None:
    """Put sorted values into each step that cells which agree with them may be in."""
    for k in range(values.size):
        if values[k] != values[k]:
            break
        margin = 1.01 * tolerance + 1e-15 * abs(values[k])
        first = np.floor((values[k] - margin) / step)
        last = np.floor((values[k] + margin) / step)
        for key in (first, last):
            place = _place_of(key, keys)
            if keys[place] != keys[place]:
                keys[place], ends[place, 0] = key, k
            ends[place, 1] = k + 1


@kernel
def _agree_rarely(
    columns: RowNumbers,
    values: Matrix,
    whose: RowNumbers,
    steps: Vector,
    keys: Matrix,
    ends: npt.NDArray[np.int32],
    people: Matrix,
    people_codes: Codes,
    tolerances: Vector,
    weights: Matrix,
    kept: np.ndarray,
    numbers: Matrix,
    codes: Codes,
    own: RowNumbers,
    most: Vector,
    surprise: Vector,
) -> None:
    """Raise most[k] and surprise[k] by rows that agree with k in a column of rare values."""
    m = people.shape[0]
    counts, sums = np.zeros(m), np.zeros(m)
    touched = np.empty(m, dtype=np.int64)
    more = 0.0
    for j in range(kept.size):
        more += kept[j]
    heavier = np.zeros(m)  # what columns that are not rare can add
    for k in range(m):
        for j in range(kept.size):
            heavier[k] += kept[j] * weights[k, j]
    for row in range(numbers.shape[1]):
        number = 0
        for c in range(columns.size):
            j = columns[c]
            cell = numbers[j, row]
            low, high = 0, 0
            if cell == cell:
                place = _place_of(np.floor(cell / steps[c]), keys[c])
                if keys[c, place] == keys[c, place]:
                    low, high = ends[c, place, 0], ends[c, place, 1]
            else:
                high = m
                low = m
                while low > 0 and values[c, low - 1] != values[c, low - 1]:
                    low -= 1
            for at in range(low, high):
                if cell != cell or abs(values[c, at] - cell) <= tolerances[j]:
                    k = whose[c, at]
                    if counts[k] == 0.0:
                        touched[number] = k
                        number += 1
                    counts[k] += 1.0
                    sums[k] += weights[k, j]
        for at in range(number):
            k = touched[at]
            if own[k] != row and (
                counts[k] + more > most[k]
                or sums[k] + heavier[k] > surprise[k] - _ROUNDING * (1.0 + surprise[k])
            ):
                _agree_in_pair(
                    people[k],
                    people_codes[k],
                    tolerances,
                    weights[k],
                    numbers,
                    codes,
                    row,
                    k,
                    most,
                    surprise,
                )
            counts[k], sums[k] = 0.0, 0.0


@kernel
def _agree_in_pair(
    person: Vector,
    person_codes: Codes,
    tolerances: Vector,
    weights: Vector,
    numbers: Matrix,
    codes: Codes,
    row: int,
    k: int,
    most: Vector,
    surprise: Vector,
) -> None:
    """Raise most[k] and surprise[k] to the count and weight of the cells equal to one row."""
    count, total, p = 0.0, 0.0, person.size
    for j in range(p):
        x, cell = person[j], numbers[j, row]
        if abs(x - cell) <= tolerances[j] or (x != x and cell != cell):
            count += 1.0
            total += weights[j]
    for j in range(person_codes.size):
        if person_codes[j] == codes[j, row]:
            count += 1.0
            total += weights[p + j]
    most[k], surprise[k] = max(most[k], count), max(surprise[k], total)


def _surprises(
    original: FeatureTable, numeric: np.ndarray, categorical: np.ndarray, rows: RowNumbers
) -> Matrix:
    """Return -log(share of the rows with the same cell) of each person and column."""
    step = max(1, -(-original.n_rows // _CELLS_FOR_FREQUENCY))
    weights = np.empty((rows.size, numeric.size + categorical.size))
    for place, j in enumerate(numeric):
        column = original.numbers[j]
        cells, values = np.sort(column[::step]), column[rows]  # NaN is last, and equal to itself
        count = np.searchsorted(cells, values, "right") - np.searchsorted(cells, values, "left")
        weights[:, place] = np.log(cells.size / np.maximum(count, 1))
    for place, j in enumerate(categorical, start=numeric.size):
        codes = original.codes[j]
        counts = np.bincount(codes + 1)
        weights[:, place] = np.log(codes.size / counts[codes[rows] + 1])
    return weights


@kernel
def _agree(
    people: Matrix,
    people_codes: Codes,
    tolerances: Vector,
    weights: Matrix,
    numbers: Matrix,
    codes: Codes,
    own: RowNumbers,
    most: Vector,
    surprise: Vector,
) -> None:
    """Set most[k] and surprise[k] to the largest count and weight of cells equal to one column."""
    n, p = numbers.shape[1], numbers.shape[0]
    counts, sums = np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for person in range(people.shape[0]):
            for i in range(size):
                counts[i], sums[i] = 0.0, 0.0
            for j in range(p):
                x, tolerance, weight = people[person, j], tolerances[j], weights[person, j]
                column = numbers[j, start : start + size]
                if x == x:
                    for i in range(size):
                        equal = 1.0 if abs(x - column[i]) <= tolerance else 0.0
                        counts[i] += equal
                        sums[i] += equal * weight
                else:
                    for i in range(size):
                        equal = 0.0 if column[i] == column[i] else 1.0
                        counts[i] += equal
                        sums[i] += equal * weight
            for j in range(people_codes.shape[1]):
                level, code = people_codes[person, j], codes[j, start : start + size]
                weight = weights[person, p + j]
                for i in range(size):
                    equal = 1.0 if code[i] == level else 0.0
                    counts[i] += equal
                    sums[i] += equal * weight
            place = own[person] - start
            if 0 <= place < size:
                counts[place], sums[place] = 0.0, 0.0
            larger, count, total = 0, most[person], surprise[person]
            for i in range(size):  # a count vectorises, a maximum does not
                larger += (counts[i] > count) | (sums[i] > total)
            if larger:
                for i in range(size):
                    most[person] = max(most[person], counts[i])
                    surprise[person] = max(surprise[person], sums[i])
