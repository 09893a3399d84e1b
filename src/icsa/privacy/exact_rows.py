"""Exact rows: people whom the release repeats in every cell, against what doubles give.

Few columns of few levels make equal rows by chance. How often they do is seen in the tables
themselves: two people of one table who are the same are as likely as one of each table, so that
common coincidences calibrate the rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.privacy.repeated_hashes import RepeatedHashes

__all__ = ["ExactRows", "RowHashes", "counted", "exact_rows", "row_hashes"]

RowHashes: TypeAlias = npt.NDArray[np.uint64]

# The odd number next to 2^64 over the golden ratio, and another with mixed bits.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True, eq=False)
class ExactRows:
    """How often rows of the two tables are equal, within and between them.

    Attributes
    ----------
    n, n_released : int
        Rows of the original and of the release.
    copied : int
        Released rows that equal an original.
    unique : int
        Originals that are like no other original.
    matched : ndarray of int
        Row numbers of those among them that the release holds.
    doubles : int
        Kinds of rows that the original holds twice, in the release or not.
    split, same : int
        Kinds of rows that both tables together hold twice: one in each, both in the same.
    copies : ndarray of shape (n,)
        How many released rows equal each original.
    """

    n: int
    n_released: int
    copied: int
    unique: int
    matched: RowNumbers
    doubles: int
    split: int
    same: int
    copies: RowNumbers

    @property
    def chance(self) -> float:
        """Probability that fresh people would give so many equal rows, from two binomial tests.

        A pair of equal rows in both tables together is split between them with probability
        2 n n* / (N (N - 1)), N = n + n*. And a unique original is matched at most
        r = 2 n* / (n - 1) times as often as an original has one double. Twice the smaller p counts.
        """
        by_pairs = _at_least(self.split, self.split + self.same, _share_split(self))
        by_uniques = _at_least(
            self.matched.size, self.matched.size + self.doubles, _share_matched(self)
        )
        return min(1.0, 2.0 * by_pairs, 2.0 * by_uniques)

    @property
    def expected(self) -> float:
        """How many unique originals chance would match, judged by the original's doubles."""
        return 2.0 * self.n_released * self.doubles / max(1, self.n - 1)

    @property
    def expected_copied(self) -> float:
        """How many released rows would equal an original by chance, as originals equal others."""
        return self.n_released * (self.n - self.unique) / self.n


def exact_rows(features: Features) -> ExactRows:
    """Return which people the release repeats in every cell, and how many doubles there are.

    Examples
    --------
    The original holds 1 twice; of its unique rows 2 and 3, the release has 3.

    >>> from icsa.comparison.features import as_features
    >>> found = exact_rows(as_features([[1.0], [1.0], [2.0], [3.0]], [[3.0], [1.0], [5.0], [5.0]]))
    >>> found.copied, found.unique, found.matched.tolist(), found.doubles
    (2, 2, [3], 1)

    Of the kinds that are there twice in all, 3 is split and 5 is not; 1 is there three times.

    >>> found.split, found.same
    (1, 1)
    """
    mine, theirs = row_hashes(features.original), row_hashes(features.released)
    repeated = RepeatedHashes.among(mine, theirs)
    rows, shown = repeated.rows(mine), repeated.rows(theirs)
    return counted([(rows, mine[rows], theirs[shown])], mine.size, theirs.size)


def counted(
    parts: Iterable[tuple[RowNumbers, RowHashes, RowHashes]], n: int, n_released: int
) -> ExactRows:
    """Return how often rows are equal, from their hashes.

    Parameters
    ----------
    parts : iterable of (ndarray, ndarray, ndarray)
        Row numbers and hashes of originals, and hashes of released rows. Equal rows of either
        table are all in one part; originals that are in none are like no other row.
    n, n_released : int
        Rows of both tables.

    Examples
    --------
    >>> here, there = np.array([5, 5, 7], dtype=np.uint64), np.array([7, 9], dtype=np.uint64)
    >>> found = counted([(np.arange(3), here, there)], 3, 2)
    >>> found.matched, found.doubles, found.copies
    (array([2]), 1, array([0, 0, 1]))
    """
    totals = np.zeros(5, dtype=np.int64)
    matched = [np.empty(0, dtype=np.int64)]
    copies = np.zeros(n, dtype=np.int64)
    alone = n
    for rows, mine, theirs in parts:
        alone -= rows.size
        kinds, kind = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
        here = np.bincount(kind[: mine.size], minlength=kinds.size)
        there = np.bincount(kind[mine.size :], minlength=kinds.size)
        totals += [
            there[here > 0].sum(),
            np.count_nonzero(here == 1),
            np.count_nonzero(here == 2),
            np.count_nonzero((here == 1) & (there == 1)),
            np.count_nonzero((here + there == 2) & (here != 1)),
        ]
        found = there[kind[: mine.size]]
        matched.append(rows[(found > 0) & (here[kind[: mine.size]] == 1)])
        copies[rows[found > 0]] = found[found > 0]
    copied, unique, doubles, split, same = totals.tolist()
    return ExactRows(
        n=n,
        n_released=n_released,
        copied=copied,
        unique=unique + alone,
        matched=np.sort(np.concatenate(matched)).astype(np.int64),
        doubles=doubles,
        split=split,
        same=same,
        copies=copies,
    )


def row_hashes(table: FeatureTable) -> RowHashes:
    """Return 64 bits for each row: equal rows have equal ones, others but for one pair in 2^64.

    Missing equals missing, and -0 equals 0.

    Examples
    --------
    >>> codes = np.empty((0, 3), dtype=np.int32)
    >>> numbers = row_hashes(FeatureTable(np.array([[1.0, 2.0, 1.0], [0.0, 5.0, -0.0]]), codes))
    >>> bool(numbers[0] == numbers[2]), bool(numbers[0] == numbers[1])
    (True, False)
    """
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    for column in table.numbers:
        cells = column + 0.0  # -0 becomes 0
        cells[np.isnan(cells)] = np.nan  # one bit pattern for all
        _mix(hashes, cells.view(np.uint64))
    for codes in table.codes:
        _mix(hashes, codes.astype(np.uint64))
    return hashes


def _mix(hashes: RowHashes, bits: npt.NDArray[np.uint64]) -> None:
    """Add a column, in place: multiply, and fold the high bits into the low ones."""
    hashes ^= bits
    for factor, shift in ((_FIRST, 29), (_SECOND, 32)):
        hashes *= factor
        hashes ^= hashes >> np.uint64(shift)
    hashes += _FIRST


def _at_least(count: int, trials: int, share: float) -> float:
    """Return the binomial probability of so many or more."""
    return float(bdtrc(count - 1, trials, share)) if count else 1.0


def _share_split(rows: ExactRows) -> float:
    every = rows.n + rows.n_released
    return 2.0 * rows.n * rows.n_released / (every * (every - 1.0))


def _share_matched(rows: ExactRows) -> float:
    return 2.0 * rows.n_released / (2.0 * rows.n_released + rows.n - 1.0)
