"""How near a release comes to a person, by one score for members and for people who are not.

For a person x and a row y, S = sum over cells of -log(max(C, 2)/n). For a category, or for missing
equal to missing, C is the number of people with x's value, and cells that differ add nothing. For a
number C is the number of people within |y - x| of x, one more where y is nobody's value. All n
people of the reference, in the table or not, are counted alike. Only ranks matter: units and
skewness do not, one cell adds log(n/2) at most, and common values add little.

A person's score is the largest S among released rows less the 5th largest among other people of the
reference, which is what somebody with so many near ones would have anyway.
"""

from __future__ import annotations

import numpy as np

from icsa.comparison.column_pairs import Codes, RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector

__all__ = ["MemberScores"]

# The neighbour among other people that a released row is held against.
_NEIGHBOUR = 5


class MemberScores:
    """The scores of some people against any release.

    Parameters
    ----------
    reference : FeatureTable
        All people, those in the table and those who are not: nobody is treated otherwise.
    people : ndarray of int
        Rows of the reference to look at.

    Examples
    --------
    Of five people the first is released. The 5th of four others is nobody, whose score is 0.

    >>> codes = np.array([[0, 1, 1, 1, 1]], dtype=np.int32)
    >>> table = FeatureTable(np.array([[0.0, 1.0, 2.0, 3.0, 9.0]]), codes)
    >>> scores = MemberScores(table, np.arange(5))
    >>> scores(table.rows(np.array([0]))).round(3)  # 2 log(5/2), log(5/3), log(5/4), ...
    array([1.833, 0.511, 0.223, 0.223, 0.   ])
    """

    def __init__(self, reference: FeatureTable, people: RowNumbers) -> None:
        n = reference.n_rows
        self.people = people
        self._sorted = np.sort(reference.numbers, axis=1)  # NaN last
        self._there = np.sum(~np.isnan(reference.numbers), axis=1)
        self._counts = _level_counts(reference.codes)
        # -log(max(C, 2)/n) by C; nobody's value can be one more than all.
        self._logs = np.log(n / np.clip(np.arange(n + 2), 2, n))
        self._numbers = np.ascontiguousarray(reference.numbers[:, people])
        self._codes = np.ascontiguousarray(reference.codes[:, people])
        own = people.astype(np.int64)
        self._usual = self._best(reference, own, _NEIGHBOUR)[:, -1]

    def __call__(self, released: FeatureTable) -> Vector:
        """Return the people's scores against a release: large is near."""
        nobody = np.full(self.people.size, -1, dtype=np.int64)
        scores = self._best(released, nobody, 1)[:, 0] - self._usual
        return np.asarray(scores)

    def _best(self, points: FeatureTable, own: RowNumbers, k: int) -> Matrix:
        order = np.argsort(points.numbers, axis=1, kind="stable").astype(np.int64)
        values = np.take_along_axis(points.numbers, order, axis=1)
        there = np.sum(~np.isnan(values), axis=1)
        new = np.zeros(values.shape, dtype=np.bool_)
        for j, column in enumerate(values):
            known = self._sorted[j, : self._there[j]]
            place = np.minimum(np.searchsorted(known, column), max(0, known.size - 1))
            new[j] = known[place] != column if known.size else True
        best = np.zeros((self.people.size, k))
        _largest_scores(
            (self._numbers, self._codes),
            (self._sorted, self._there, self._counts, self._logs),
            (values, order, there, new, np.ascontiguousarray(points.codes)),
            own,
            best,
        )
        return best


def _level_counts(codes: Codes) -> np.ndarray:
    """Return how many have each level, a row a column; missing first."""
    counts = np.zeros((codes.shape[0], int(codes.max(initial=-1)) + 2), dtype=np.int64)
    for row, column in zip(counts, codes, strict=True):
        row[:] = np.bincount(column + 1, minlength=row.size)
    return counts


@kernel
def _largest_scores(
    mine: tuple[Matrix, Codes],
    everybody: tuple[Matrix, np.ndarray, np.ndarray, Vector],
    points: tuple[Matrix, RowNumbers, np.ndarray, np.ndarray, Codes],
    own: RowNumbers,
    best: Matrix,
) -> None:
    """Set best[i] to the largest S of person i among the points, its own row left out.

    In each column points and known values are walked through by their distance from the person,
    both from near to far, so that a cell takes a step and no search.
    """
    people, people_codes = mine
    known, known_sizes, level_counts, logs = everybody
    values, order, sizes, new, codes = points
    p, m = people.shape
    n_points, n_known, k = codes.shape[1], known.shape[1], best.shape[1]
    total = np.empty(n_points)
    for i in range(m):
        total[:] = 0.0
        for j in range(p):
            x = people[j, i]
            if np.isnan(x):
                gain = logs[n_known - known_sizes[j]]
                for t in range(sizes[j], n_points):
                    total[order[j, t]] += gain
                continue
            seen, there = known[j, : known_sizes[j]], values[j, : sizes[j]]
            _add_numbers(x, seen, there, order[j], new[j], logs, total)
        for j in range(people_codes.shape[0]):
            level = people_codes[j, i]
            gain = logs[level_counts[j, level + 1]]
            for t in range(n_points):
                if codes[j, t] == level:
                    total[t] += gain
        for t in range(n_points):
            if t != own[i] and total[t] > best[i, k - 1]:
                place = k - 1
                while place > 0 and best[i, place - 1] < total[t]:
                    best[i, place] = best[i, place - 1]
                    place -= 1
                best[i, place] = total[t]


@kernel
def _add_numbers(
    x: float,
    known: Vector,
    values: Vector,
    order: RowNumbers,
    new: np.ndarray,
    logs: Vector,
    total: Vector,
) -> None:
    """Add a column's part to the total of every point that has a number."""
    right = np.searchsorted(values, x)
    left = right - 1
    known_right = np.searchsorted(known, x)
    known_left = known_right - 1
    for _ in range(values.size):
        if left < 0 or (right < values.size and values[right] - x <= x - values[left]):
            place, distance = right, values[right] - x
            right += 1
        else:
            place, distance = left, x - values[left]
            left -= 1
        while known_right < known.size and known[known_right] - x <= distance:
            known_right += 1
        while known_left >= 0 and x - known[known_left] <= distance:
            known_left -= 1
        total[order[place]] += logs[known_right - known_left - 1 + new[place]]
