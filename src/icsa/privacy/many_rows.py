"""Everybody in large tables: rows that agree are found by hashes, near ones by distances.

Comparing each row with each is too much from some thousand rows on. A released row that repeats a
person in all but two cells repeats one of three blocks of columns entirely: rows are put in buckets
by the hashes of blocks. Who comes near is asked of some people only, and of their nearest rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from icsa.comparison.column_pairs import Cells, RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.matrices import Matrix, Vector
from icsa.privacy.exact_rows import RowHashes, row_hashes
from icsa.privacy.lenses import Lenses
from icsa.privacy.neighbours import nearest
from icsa.privacy.rarity import BEST, Best, equal_weights
from icsa.privacy.repeated_hashes import RepeatedHashes

__all__ = [
    "Bucket",
    "best_in_buckets",
    "best_of_pairs",
    "best_of_the_nearest",
    "column_blocks",
    "near_scores",
    "part_of",
    "rare_pairs",
]

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
    pairs = []
    for columns in column_blocks(original):
        mine, theirs = (row_hashes(part_of(table, columns)) for table in (original, released))
        repeated = RepeatedHashes.among(mine, theirs)
        rows, shown = repeated.rows(mine), repeated.rows(theirs)
        pairs.append(rare_pairs([Bucket(rows, mine[rows], shown, theirs[shown])]))
    return best_of_pairs(features, pairs)


def best_of_pairs(
    features: Features, pairs: Sequence[tuple[RowNumbers, RowNumbers]]
) -> tuple[RowNumbers, Best]:
    """Return the people with the rarest cells in common, of pairs of originals and released rows.

    Parameters
    ----------
    features : Features
    pairs : sequence of (ndarray, ndarray)
        As `rare_pairs` returns them, for each block of columns.
    """
    mine = np.concatenate([first for first, _ in pairs])
    theirs = np.concatenate([second for _, second in pairs])
    scores = _pair_scores(features.original, features.released, mine, theirs)
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


def column_blocks(original: FeatureTable) -> list[list[int]]:
    """Return columns dealt to three blocks, those with most variety first."""
    step = max(1, original.n_rows // _ROWS_FOR_VARIETY)
    variety = [
        _entropy(columns[j, ::step])
        for columns in (original.numbers, original.codes)
        for j in range(columns.shape[0])
    ]
    order = np.argsort(-np.array(variety), kind="stable").tolist()
    return [order[start::_BLOCKS] for start in range(min(_BLOCKS, len(order)))]


def _entropy(cells: Cells) -> float:
    counts = np.unique(cells, return_counts=True)[1] / cells.size
    return float(-np.sum(counts * np.log(counts)))


def part_of(table: FeatureTable, columns: list[int]) -> FeatureTable:
    """Return some columns of a table, by their places among numbers and codes."""
    p = table.numbers.shape[0]
    numbers = table.numbers[[j for j in columns if j < p]]
    return replace(table, numbers=numbers, codes=table.codes[[j - p for j in columns if j >= p]])


class Bucket(NamedTuple):
    """Row numbers and hashes of rows of both tables; equal ones are all in one bucket.

    Rows that are like no other may be left out.
    """

    rows: RowNumbers
    hashes: RowHashes
    released_rows: RowNumbers
    released_hashes: RowHashes


def rare_pairs(buckets: Iterable[Bucket]) -> tuple[RowNumbers, RowNumbers]:
    """Return pairs of an original and a released row that are equal, where few rows are.

    Released rows that fewest originals equal come first, and only so many pairs are kept.

    Examples
    --------
    >>> here, there = np.array([5, 5, 7], dtype=np.uint64), np.array([9, 5, 7], dtype=np.uint64)
    >>> rare_pairs([Bucket(np.arange(3), here, np.arange(3), there)])
    (array([2, 0, 1]), array([2, 1, 1]))
    """
    most = _MOST_PAIRS // _BLOCKS
    none: RowNumbers = np.empty(0, dtype=np.int64)
    counts, rows, mine = none, none, none  # of released rows; mine: of each of their pairs
    for bucket in buckets:
        order = np.argsort(bucket.hashes, kind="stable")
        ordered = bucket.hashes[order]
        low = np.searchsorted(ordered, bucket.released_hashes, "left")
        number = np.searchsorted(ordered, bucket.released_hashes, "right") - low
        few = np.flatnonzero((number > 0) & (number <= _MOST_ALIKE))
        starts = np.repeat(low[few] - np.cumsum(number[few]) + number[few], number[few])
        found = bucket.rows[order[starts + np.arange(number[few].sum())]]
        counts, rows, mine = _rarest(
            np.concatenate([counts, number[few]]),
            np.concatenate([rows, bucket.released_rows[few]]),
            np.concatenate([mine, found]),
            most,
        )
    return mine.astype(np.int64), np.repeat(rows, counts).astype(np.int64)


def _rarest(
    counts: RowNumbers, rows: RowNumbers, mine: RowNumbers, most: int
) -> tuple[RowNumbers, RowNumbers, RowNumbers]:
    """Return the released rows with the fewest pairs, as many as have `most` pairs together."""
    starts = np.cumsum(counts) - counts
    order = np.lexsort((rows, counts))
    order = order[np.cumsum(counts[order]) <= most]
    kept = counts[order]
    places = np.repeat(starts[order] - np.cumsum(kept) + kept, kept) + np.arange(kept.sum())
    return kept, rows[order], mine[places]


def _pair_scores(
    original: FeatureTable, released: FeatureTable, mine: RowNumbers, theirs: RowNumbers
) -> Vector:
    """Return the sum of the weights of the equal cells of each pair."""
    scores = np.zeros(mine.size)
    people, place = np.unique(mine, return_inverse=True)
    if not people.size:
        return scores
    for j in range(original.numbers.shape[0]):
        weights = equal_weights(part_of(original, [j]), people)[place, 0]
        x, y = original.numbers[j, mine], released.numbers[j, theirs]
        scores += np.where((x == y) | (np.isnan(x) & np.isnan(y)), weights, 0.0)
    for j in range(original.codes.shape[0]):
        weights = equal_weights(part_of(original, [original.numbers.shape[0] + j]), people)
        same = original.codes[j, mine] == released.codes[j, theirs]
        scores += np.where(same, weights[place, 0], 0.0)
    return scores
