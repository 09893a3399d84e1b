"""Everybody in large tables: rows that agree are found by hashes, near ones by distances.

Comparing each row with each is too much from some thousand rows on. A released row that repeats a
person in all but two cells repeats one of three blocks of columns entirely: rows are put in buckets
by the hashes of blocks. Who comes near is asked of some people only, and of their nearest rows.
"""

from __future__ import annotations

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.matrices import Matrix, Vector
from icsa.privacy.exact_rows import row_hashes
from icsa.privacy.lenses import Lenses
from icsa.privacy.neighbours import nearest
from icsa.privacy.rarity import BEST, Best, equal_weights

__all__ = ["best_in_buckets", "best_of_the_nearest", "near_scores"]

_BLOCKS = 3
# A block that more rows of a table share says little about anybody.
_MOST_ALIKE = 32
# Pairs of rows whose cells are compared, the rarest blocks first.
_MOST_PAIRS = 4_000_000
# So many people, those with the rarest cells in common, are looked at closely.
_CANDIDATES = 300
# Of so many nearest rows the best count.
_SHORTLIST = 20
# Rows in which a column's variety is looked at.
_ROWS_FOR_VARIETY = 10_000
_SAME = 1e-9


def best_in_buckets(features: Features) -> tuple[RowNumbers, Best]:
    """Return the people with the rarest cells in common with a released row, and that row.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> x, y = np.random.default_rng(1).normal(size=(2, 1_000, 6))
    >>> y[5], y[6, :4] = x[7], x[8, :4]
    >>> people, best = best_in_buckets(as_features(x, y))
    >>> people, best.rows[:, 0]
    (array([7, 8]), array([5, 6]))
    """
    original, released = features.original, features.released
    pairs: list[tuple[RowNumbers, RowNumbers]] = []
    for columns in _blocks(original):
        pairs.append(_same_block(_part(original, columns), _part(released, columns)))
    mine = np.concatenate([first for first, _ in pairs])
    theirs = np.concatenate([second for _, second in pairs])
    scores = _pair_scores(original, released, mine, theirs)
    order = np.lexsort((theirs, -scores, mine))
    first = np.ones(order.size, dtype=bool)
    first[1:] = mine[order][1:] != mine[order][:-1]
    best = order[first]
    best = best[np.argsort(-scores[best], kind="stable")[:_CANDIDATES]]
    best = best[np.argsort(mine[best], kind="stable")]
    return mine[best], Best(scores[best][:, None], theirs[best][:, None])


def best_of_the_nearest(
    lenses: Lenses,
    features: Features,
    people: RowNumbers,
    *,
    of_the_release: bool = False,
    threads: int = 1,
) -> Best:
    """Return the best near scores among the rows nearest to each person under lens E.

    Distances are those of the lens, scores those of the `features`.
    """
    own = None if of_the_release else people
    points = lenses.releases("E") if of_the_release else lenses.originals("E")
    table = features.released if of_the_release else features.original
    found = nearest(
        lenses.originals("E").rows(people), points, k=_SHORTLIST, own=own, threads=threads
    )
    scores = near_scores(features.original, people, table, found.rows)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :BEST]
    return Best(np.take_along_axis(scores, order, 1), np.take_along_axis(found.rows, order, 1))


def near_scores(
    original: FeatureTable, people: RowNumbers, table: FeatureTable, rows: RowNumbers
) -> Matrix:
    """Return the near scores of each person with some rows of a table, shape (m, k).

    Examples
    --------
    >>> none = np.empty((0, 8), dtype=np.int32)
    >>> people = FeatureTable(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0, 9.0]]), none)
    >>> released = FeatureTable(np.array([[6.0, 40.0]]), none[:, :2])
    >>> near_scores(people, np.array([4]), released, np.array([[0, 1]])).round(3)  # log(8/3), 0
    array([[0.981, 0.   ]])
    """
    n, equal = original.n_rows, equal_weights(original, people)
    scores = np.zeros(rows.shape)
    for j, column in enumerate(original.numbers):
        cells = np.sort(column[~np.isnan(column)])
        x, y = column[people][:, None], table.numbers[j][rows]
        slack = _SAME * (np.abs(x) + np.abs(y))
        reach = np.abs(y - x) + slack
        inside = np.searchsorted(cells, x + reach, "right") - np.searchsorted(cells, x - reach)
        there = np.searchsorted(cells, y + slack, "right") > np.searchsorted(cells, y - slack)
        near = np.maximum(0.0, np.log(n / np.maximum(2, inside + ~there)))
        near = np.where(np.isnan(x) | np.isnan(y), 0.0, near)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        scores += np.where(same, equal[:, j : j + 1], near)
    for j, codes in enumerate(original.codes, start=original.numbers.shape[0]):
        same = codes[people][:, None] == table.codes[j - original.numbers.shape[0]][rows]
        scores += np.where(same, equal[:, j : j + 1], 0.0)
    return np.where(rows >= 0, scores, 0.0)


def _blocks(original: FeatureTable) -> list[list[int]]:
    """Return columns dealt to three blocks, those with most variety first."""
    step = max(1, original.n_rows // _ROWS_FOR_VARIETY)
    variety = [_entropy(column[::step]) for column in (*original.numbers, *original.codes)]
    order = np.argsort(-np.array(variety), kind="stable").tolist()
    return [order[start::_BLOCKS] for start in range(min(_BLOCKS, len(order)))]


def _entropy(cells: Vector) -> float:
    counts = np.unique(cells, return_counts=True)[1] / cells.size
    return float(-np.sum(counts * np.log(counts)))


def _part(table: FeatureTable, columns: list[int]) -> FeatureTable:
    p = table.numbers.shape[0]
    numbers = table.numbers[[j for j in columns if j < p]]
    return FeatureTable(numbers, table.codes[[j - p for j in columns if j >= p]])


def _same_block(original: FeatureTable, released: FeatureTable) -> tuple[RowNumbers, RowNumbers]:
    """Return pairs of rows that are equal in a block, where few rows are."""
    mine, theirs = row_hashes(original), row_hashes(released)
    order, ordered = np.argsort(mine, kind="stable"), np.sort(mine)
    low, high = np.searchsorted(ordered, theirs, "left"), np.searchsorted(ordered, theirs, "right")
    counts = high - low
    rows = np.flatnonzero((counts > 0) & (counts <= _MOST_ALIKE))
    rows = rows[np.argsort(counts[rows], kind="stable")]
    rows = rows[np.cumsum(counts[rows]) <= _MOST_PAIRS // _BLOCKS]
    repeats = counts[rows]
    starts = np.repeat(low[rows] - np.cumsum(repeats) + repeats, repeats)
    return (
        order[starts + np.arange(repeats.sum())].astype(np.int64),
        np.repeat(rows, repeats).astype(np.int64),
    )


def _pair_scores(
    original: FeatureTable, released: FeatureTable, mine: RowNumbers, theirs: RowNumbers
) -> Vector:
    """Return the sum of the weights of the equal cells of each pair."""
    people, place = np.unique(mine, return_inverse=True)
    weights = equal_weights(original, people)
    scores = np.zeros(mine.size)
    for j, column in enumerate(original.numbers):
        x, y = column[mine], released.numbers[j][theirs]
        scores += np.where((x == y) | (np.isnan(x) & np.isnan(y)), weights[place, j], 0.0)
    for j, codes in enumerate(original.codes):
        same = codes[mine] == released.codes[j][theirs]
        scores += np.where(same, weights[place, original.numbers.shape[0] + j], 0.0)
    return scores
