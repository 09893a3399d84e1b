"""Predicates about one or several columns, and how many people meet them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.compilation import kernel
from icsa.matrices import Matrix

__all__ = ["Predicates", "draws_of_nothing", "of_one_column", "of_several_columns"]

_EQUAL, _AT_MOST, _AT_LEAST, _MISSING = 0, 1, 2, 3
# Rows are drawn so many times over until there are predicates enough.
_ROUNDS = 20
_Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Predicates:
    """Conditions on cells; a predicate is a row of them, all of which must hold.

    Attributes
    ----------
    columns : ndarray of shape (n_predicates, n_conditions)
        Places of columns, numeric ones first.
    signs : ndarray of the same shape
        0 equal to, 1 at most, 2 at least, 3 missing.
    values : ndarray of the same shape
        What the cell is compared with: a number, or a code.
    """

    columns: _Places
    signs: _Places
    values: Matrix

    @property
    def size(self) -> int:
        """Number of predicates."""
        return int(self.columns.shape[0])

    def met_by(self, people: FeatureTable) -> tuple[RowNumbers, RowNumbers]:
        """Return how many people meet each (2 stands for more), and the first of them or -1.

        Examples
        --------
        >>> table = FeatureTable(np.array([[1.0, 2.0, 2.0]]), np.empty((0, 3), dtype=np.int32))
        >>> signs, values = np.array([[2], [1]]), np.array([[2.0], [1.0]])
        >>> Predicates(np.array([[0], [0]]), signs, values).met_by(table)
        (array([2, 1]), array([1, 0]))
        """
        counts = np.zeros(self.size, dtype=np.int64)
        first = np.full(self.size, -1, dtype=np.int64)
        _meet(self.columns, self.signs, self.values, people.numbers, people.codes, counts, first)
        return counts, first

    def some(self, chosen: np.ndarray) -> Predicates:
        """Return some of them."""
        return Predicates(self.columns[chosen], self.signs[chosen], self.values[chosen])

    def __repr__(self) -> str:
        """Show sizes only: a predicate may single out somebody."""
        return f"<Predicates: {self.size} of {self.columns.shape[1]} conditions>"


def of_one_column(
    features: Features, places: _Places, most: int, rng: np.random.Generator
) -> Predicates:
    """Return predicates that one released row meets: values that it alone has, ends, a gap.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> features = as_features([[1.0]], [[1.0], [2.0], [2.0], [5.0]])
    >>> of_one_column(features, np.array([0]), 10, np.random.default_rng(1))
    <Predicates: 4 of 1 conditions>
    """
    released, p = features.released, features.n_numbers
    found: list[tuple[int, int, float]] = []
    for place in places.tolist():
        cells = released.numbers[place] if place < p else released.codes[place - p]
        found += _alone(cells, place, place < p)
    chosen = rng.permutation(len(found))[:most]
    columns, signs, numbers = (
        np.array([found[i][k] for i in chosen]).reshape(-1, 1) for k in range(3)
    )
    return Predicates(columns.astype(np.intp), signs.astype(np.intp), numbers.astype(float))


def _alone(cells: np.ndarray, place: int, number: bool) -> list[tuple[int, int, float]]:
    """Return the conditions on a column that one cell alone meets."""
    missing = np.isnan(cells) if number else cells < 0
    found = [(place, _MISSING, 0.0)] if np.count_nonzero(missing) == 1 else []
    values, counts = np.unique(cells[~missing], return_counts=True)
    found += [(place, _EQUAL, value) for value in values[counts == 1].tolist()]
    if number and values.size > 1:
        ends = ((_AT_MOST, 0), (_AT_LEAST, -1))
        found += [(place, sign, float(values[k])) for sign, k in ends if counts[k] == 1]
    return found


def of_several_columns(
    features: Features, places: _Places, width: int, most: int, rng: np.random.Generator
) -> Predicates:
    """Return predicates of some columns each, read off released rows, that one row alone meets.

    A number is at least what it is where that is above the median, and at most that below.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> rows = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]]
    >>> both = as_features(rows, rows)
    >>> of_several_columns(both, np.array([0, 1]), 2, 10, np.random.default_rng(1)).size
    10
    """
    released, p = features.released, features.n_numbers
    medians = np.array([_median(column) for column in released.numbers])
    kept = Predicates(*(np.empty((0, width), dtype=kind) for kind in (np.intp, np.intp, float)))
    for _ in range(_ROUNDS):
        rows = rng.integers(released.n_rows, size=most)
        columns = _random_columns(places, width, most, rng)
        values = _cells(released, p, rows, columns)
        missing = np.isnan(values)
        centre = np.append(medians, 0.0)[np.minimum(columns, p)]
        up = np.where(values == centre, rng.random(values.shape) < 0.5, values > centre)
        signs = np.where(columns < p, np.where(up, _AT_LEAST, _AT_MOST), _EQUAL)
        signs = np.where(missing, _MISSING, signs)
        drawn = Predicates(columns, signs.astype(np.intp), np.where(missing, 0.0, values))
        alone = drawn.some(drawn.met_by(released)[0] == 1)
        kept = Predicates(
            np.vstack([kept.columns, alone.columns])[:most],
            np.vstack([kept.signs, alone.signs])[:most],
            np.vstack([kept.values, alone.values])[:most],
        )
        if kept.size == most:
            break
    return kept


def draws_of_nothing(
    features: Features, places: _Places, width: int, count: int, rng: np.random.Generator
) -> Predicates:
    """Return predicates of somebody who knows the columns' ends and levels and nothing else.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> both = as_features([[1.0], [2.0]], [[1.0], [2.0]])
    >>> draws_of_nothing(both, np.array([0]), 1, 7, np.random.default_rng(1)).size
    7
    """
    released, p = features.released, features.n_numbers
    columns = _random_columns(places, width, count, rng)
    ends = [_ends(column) for column in released.numbers]
    ends += [(0.0, float(max(codes.max(), 0) + 1)) for codes in released.codes]
    low, high = (np.array([pair[side] for pair in ends])[columns] for side in (0, 1))
    values = low + (high - low) * rng.random(columns.shape)
    values = np.where(columns < p, values, np.floor(values))
    signs = np.where(columns < p, rng.integers(_AT_MOST, _MISSING, size=columns.shape), _EQUAL)
    return Predicates(columns, signs.astype(np.intp), values)


def _random_columns(places: _Places, width: int, count: int, rng: np.random.Generator) -> _Places:
    order = np.argsort(rng.random((count, places.size)), axis=1)[:, :width]
    return np.asarray(places[order], dtype=np.intp)


def _cells(table: FeatureTable, p: int, rows: RowNumbers, columns: _Places) -> Matrix:
    """Return cells by rows and columns; NaN where they are missing."""
    values = np.empty(columns.shape)
    for column in np.unique(columns).tolist():
        here, _ = np.nonzero(columns == column)
        if column < p:
            cells = table.numbers[column, rows[here]]
        else:
            codes = table.codes[column - p, rows[here]]
            cells = np.where(codes >= 0, codes, np.nan)
        values[columns == column] = cells
    return values


def _median(column: np.ndarray) -> float:
    cells = column[~np.isnan(column)]
    return float(np.median(cells)) if cells.size else 0.0


def _ends(column: np.ndarray) -> tuple[float, float]:
    cells = column[~np.isnan(column)]
    return (float(cells.min()), float(cells.max())) if cells.size else (0.0, 0.0)


@kernel
def _meet(
    columns: _Places,
    signs: _Places,
    values: Matrix,
    numbers: Matrix,
    codes: Codes,
    counts: RowNumbers,
    first: RowNumbers,
) -> None:
    """Set counts[k] to how many rows meet predicate k, up to 2, and first[k] to the first."""
    p, n = numbers.shape[0], max(numbers.shape[1], codes.shape[1])
    for k in range(columns.shape[0]):
        for i in range(n):
            meets = True
            for c in range(columns.shape[1]):
                j, sign, value = columns[k, c], signs[k, c], values[k, c]
                if j < p:
                    cell = numbers[j, i]
                    missing = cell != cell
                else:
                    cell = float(codes[j - p, i])
                    missing = cell < 0.0
                if sign == _MISSING:
                    meets = missing
                elif missing:
                    meets = False
                elif sign == _EQUAL:
                    meets = cell == value
                elif sign == _AT_MOST:
                    meets = cell <= value
                else:
                    meets = cell >= value
                if not meets:
                    break
            if meets:
                if counts[k] == 0:
                    first[k] = i
                counts[k] += 1
                if counts[k] == 2:
                    break
