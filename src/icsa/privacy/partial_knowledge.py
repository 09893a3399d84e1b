"""What somebody learns who knows a part of a person: cells that agree, and the all-but-one attack.

Both have a control, the same against the original without the person: what is learnt there is
learnt about everybody, not about this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import PART, FeatureTable
from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.privacy.lenses import Lenses
from icsa.privacy.neighbours import MISMATCH
from icsa.threads import in_threads

__all__ = ["Agreement", "AttackOutcome", "all_but_one_attack", "most_equal_cells"]

# Numbers agree when they differ by less than this share of their column's robust scale.
_EQUAL = 1e-6
# A guess succeeds within a tenth of a robust standard deviation, or of the way from the median.
_TOLERANCE = 0.1
# Rows at a time: the squares of every column stay in the first cache.
_BLOCK = 64
# People who agree with a row in a column, on average, up to which it holds rare values.
_FEW_EQUAL = 2.0
# Steps of a map that tells where people's values are.
_STEPS = 1 << 16
# Cells in which a value's frequency is looked up.
_CELLS_FOR_FREQUENCY = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class AttackOutcome:
    """Shares of right guesses for each person.

    Attributes
    ----------
    success : ndarray of shape (m,)
        Share of the columns guessed right from the release; NaN where the person has no cell.
    control : ndarray of shape (m,)
        The same from the original without the person.
    """

    success: Vector
    control: Vector

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<AttackOutcome: {self.success.size} people>"


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
    rare = told.rare
    common = ~rare
    kept = np.concatenate([common, np.ones(told.codes.shape[1], dtype=bool)])
    people, tolerances = np.ascontiguousarray(told.numbers[:, common]), told.tolerances[common]
    weights = np.ascontiguousarray(told.weights[:, kept])
    for start in range(part.start, part.stop, PART):
        some = slice(start, min(start + PART, part.stop))
        numbers = np.ascontiguousarray(table.numbers[told.numeric, some])
        codes = np.ascontiguousarray(table.codes[told.categorical, some])
        own = told.own - start
        if kept.any():
            there = np.ascontiguousarray(numbers[common])
            _agree(people, told.codes, tolerances, weights, there, codes, own, most, surprise)
        pairs = _rarely_equal(told, rare, numbers)
        _agree_in_pairs(told, numbers, codes, own, pairs, most, surprise)
    return most, surprise


def _rarely_equal(told: _Cells, rare: np.ndarray, numbers: Matrix) -> tuple[RowNumbers, RowNumbers]:
    """Return pairs of a person and a row that may agree in a column of rare values, each once."""
    found = [np.empty(0, dtype=np.int64)]
    n = numbers.shape[1]
    for j in np.flatnonzero(rare).tolist():
        column, own = numbers[j], told.numbers[:, j]
        order = np.argsort(own, kind="stable")
        order = order[: int(np.sum(~np.isnan(own)))].astype(np.int64)
        room = np.empty(2 * n + 16, dtype=np.int64)
        count = _look_up(own[order], order, column, told.tolerances[j], room)
        while count > room.size:
            room = np.empty(count, dtype=np.int64)
            count = _look_up(own[order], order, column, told.tolerances[j], room)
        found.append(room[:count])
        gaps = np.flatnonzero(np.isnan(own))
        if gaps.size:
            found.append((gaps[:, None] * n + np.flatnonzero(np.isnan(column))).ravel())
    pairs = np.unique(np.concatenate(found))
    return pairs // max(1, n), pairs % max(1, n)


def _agree_in_pairs(
    told: _Cells,
    numbers: Matrix,
    codes: Codes,
    own: RowNumbers,
    pairs: tuple[RowNumbers, RowNumbers],
    most: Vector,
    surprise: Vector,
) -> None:
    """Raise most[k] and surprise[k] to the count and weight of cells equal in pairs of k."""
    who, row = pairs[0][own[pairs[0]] != pairs[1]], pairs[1][own[pairs[0]] != pairs[1]]
    counts, sums = np.zeros(who.size), np.zeros(who.size)
    p = numbers.shape[0]
    for j in range(p + codes.shape[0]):
        if j < p:
            x, cell = told.numbers[who, j], numbers[j, row]
            equal = (np.abs(x - cell) <= told.tolerances[j]) | (np.isnan(x) & np.isnan(cell))
        else:
            equal = told.codes[who, j - p] == codes[j - p, row]
        counts += equal
        sums += equal * told.weights[who, j]
    np.maximum.at(most, who, counts)
    np.maximum.at(surprise, who, sums)


@kernel
def _look_up(
    values: Vector, people: RowNumbers, column: Vector, tolerance: float, pairs: RowNumbers
) -> int:
    """Put person * n + row into `pairs` where a cell is near a value; return how many there are.

    The values are sorted. A little more than the tolerance counts: who agrees is looked at again.
    """
    n, m, count = column.size, values.size, 0
    if m == 0:
        return 0
    # Most cells lie where nobody's value is: a map of small steps tells at once.
    margin = 1.01 * tolerance + 1e-11 * max(abs(values[0]), abs(values[m - 1])) + 1e-300
    first, length = values[0] - 2.0 * margin, values[m - 1] - values[0] + 4.0 * margin
    some = np.zeros(_STEPS + 3, dtype=np.bool_)
    for k in range(m):
        low = int((values[k] - margin - first) / length * _STEPS)
        high = int((values[k] + margin - first) / length * _STEPS)
        some[max(0, low - 1) : high + 2] = True
    for row in range(n):
        step = (column[row] - first) / length * _STEPS
        if not (0.0 <= step <= _STEPS) or not some[int(step)]:
            continue
        reach = tolerance + 1e-12 * (abs(column[row]) + tolerance)
        low, high = 0, m
        while low < high:
            middle = (low + high) >> 1
            if values[middle] < column[row] - reach:
                low = middle + 1
            else:
                high = middle
        while low < m and values[low] <= column[row] + reach:
            if count < pairs.size:
                pairs[count] = people[low] * n + row
            count += 1
            low += 1
    return count


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


def all_but_one_attack(lenses: Lenses, rows: RowNumbers, *, threads: int = 1) -> AttackOutcome:
    """Return how often a person's cell is guessed right by who knows all the others.

    For each column the attacker looks for the released row nearest in all other columns (lens E)
    and takes its cell. A number is right within a tenth of the larger of one robust standard
    deviation and its own distance to the median; a category when it is the same.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> x = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [50.0, 60.0]])
    >>> both = as_features(x, x[[4, 0]])  # the last person is in the release
    >>> outcome = all_but_one_attack(fit_lenses(both), np.array([4]))
    >>> outcome.success, outcome.control
    (array([1.]), array([0.]))
    """
    people = lenses.originals("E").rows(rows)
    success = _right_guesses(lenses, rows, people, lenses.releases("E"), None, threads)
    control = _right_guesses(lenses, rows, people, lenses.originals("E"), rows, threads)
    return AttackOutcome(success, control)


def _right_guesses(
    lenses: Lenses,
    rows: RowNumbers,
    people: FeatureTable,
    points: FeatureTable,
    own: RowNumbers | None,
    threads: int,
) -> Vector:
    """Return each person's share of columns guessed right."""
    original = lenses.features.original
    table = original if own is not None else lenses.features.released
    source = _nearest_without_each(people, points, own, threads)
    p = original.numbers.shape[0]
    right = np.full((rows.size, lenses.varying.size), np.nan)
    for j in np.flatnonzero(lenses.varying):
        guess_rows = source[:, j]
        if j < p:
            truth, guess = original.numbers[j, rows], table.numbers[j, guess_rows]
            away = np.abs(truth - lenses.centres[j])
            allowed = _TOLERANCE * np.maximum(away, lenses.scales[j])
            hit, known = np.abs(guess - truth) <= allowed, ~np.isnan(truth)
        else:
            level = original.codes[j - p, rows]
            hit, known = table.codes[j - p, guess_rows] == level, level >= 0
        right[known & (guess_rows >= 0), j] = hit[known & (guess_rows >= 0)]
    counts = np.sum(~np.isnan(right), axis=1)
    return np.where(counts > 0, np.nansum(right, axis=1) / np.maximum(counts, 1), np.nan)


def _nearest_without_each(
    people: FeatureTable, points: FeatureTable, own: RowNumbers | None, threads: int
) -> RowNumbers:
    """Return, for each person and column, the row nearest in all other columns; -1 for none."""
    m = people.n_rows
    targets = np.ascontiguousarray(people.numbers.T)
    target_codes = np.ascontiguousarray(people.codes.T)
    itself = np.full(m, -1, dtype=np.int64) if own is None else own
    width = targets.shape[1] + target_codes.shape[1]

    def work(part: slice) -> tuple[Matrix, RowNumbers]:
        squares, found = np.full((m, width), np.inf), np.full((m, width), -1, dtype=np.int64)
        codes = np.ascontiguousarray(points.codes[:, part])
        block = np.ascontiguousarray(points.numbers[:, part])
        _update_without_each(
            targets, target_codes, block, codes, itself - part.start, part.start, squares, found
        )
        return squares, found

    best, rows = np.full((m, width), np.inf), np.full((m, width), -1, dtype=np.int64)
    for squares, found in in_threads(work, list(row_blocks(points.n_rows, PART)), threads):
        nearer = squares < best
        best[nearer], rows[nearer] = squares[nearer], found[nearer]
    return rows


@kernel
def _update_without_each(
    targets: Matrix,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    own: RowNumbers,
    first: int,
    squares: Matrix,
    rows: RowNumbers,
) -> None:
    """Set squares[k, j] and rows[k, j] to the nearest column of the block without its entry j."""
    n, width = numbers.shape[1], squares.shape[1]
    parts, total = np.empty((width, _BLOCK)), np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for person in range(targets.shape[0]):
            _squares_of_each(
                targets[person], target_codes[person], numbers, codes, start, size, parts, total
            )
            place = own[person] - start
            if 0 <= place < size:
                total[place] = np.inf
            for j in range(width):
                best, nearer, part = squares[person, j], 0, parts[j]
                for i in range(size):
                    nearer += total[i] - part[i] < best
                if nearer:
                    for i in range(size):
                        if total[i] - part[i] < squares[person, j]:
                            squares[person, j] = total[i] - part[i]
                            rows[person, j] = first + start + i


@kernel
def _squares_of_each(
    target: Vector,
    target_codes: Codes,
    numbers: Matrix,
    codes: Codes,
    start: int,
    size: int,
    parts: Matrix,
    total: Vector,
) -> None:
    """Set parts[j, i] to the squared distance in column j to the row start + i, and their sums."""
    p = target.size
    for i in range(size):
        total[i] = 0.0
    for j in range(p):
        x, column, part = target[j], numbers[j, start : start + size], parts[j]
        if x == x:
            for i in range(size):
                square = (x - column[i]) * (x - column[i])
                part[i] = square if square == square else MISMATCH
                total[i] += part[i]
        else:
            for i in range(size):
                part[i] = MISMATCH if column[i] == column[i] else 0.0
                total[i] += part[i]
    for j in range(target_codes.size):
        level, code, part = target_codes[j], codes[j, start : start + size], parts[p + j]
        for i in range(size):
            part[i] = 0.0 if code[i] == level else MISMATCH
            total[i] += part[i]


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
