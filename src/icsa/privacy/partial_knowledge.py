"""What somebody learns who knows all cells of a person but one.

There is a control, the same against the original without the person: what is learnt there is
learnt about everybody, not about this one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import PART, FeatureTable
from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.privacy.lenses import Lenses
from icsa.privacy.neighbours import MISMATCH
from icsa.threads import in_threads

__all__ = ["AttackOutcome", "all_but_one_attack"]

# A guess succeeds within a tenth of a robust standard deviation, or of the way from the median.
_TOLERANCE = 0.1
# Rows at a time: the squares of every column stay in the first cache.
_BLOCK = 64


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
