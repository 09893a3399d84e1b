"""Copies: released rows and extreme values that are an original's own, cell by cell."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from icsa.comparison.features import Features, FeatureTable
from icsa.measures import Measure, NotEstimable
from icsa.privacy.people_findings import share_measure

__all__ = ["copied_row_measures", "row_hashes", "verbatim_extremes"]

RowHashes: TypeAlias = npt.NDArray[np.uint64]

# The odd number next to 2^64 over the golden ratio, and another with mixed bits.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def copied_row_measures(features: Features) -> dict[str, Measure]:
    """Return "verbatim_rows", "identical_match_share" and "replicated_uniques"; 0 is good.

    The number and the share of released rows that equal an original row in every cell (IMS), and
    the share of the original's unique rows that occur in the release. Intervals are those of
    Clopper and Pearson.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> both = as_features([[1.0], [1.0], [2.0], [3.0]], [[3.0], [1.0]])
    >>> {name: measure.value for name, measure in copied_row_measures(both).items()}
    {'verbatim_rows': 2.0, 'identical_match_share': 1.0, 'replicated_uniques': 0.5}
    """
    originals, counts = np.unique(row_hashes(features.original), return_counts=True)
    releases = np.sort(row_hashes(features.released))
    copied, n = _count_of(releases, originals), features.released.n_rows
    return {
        "verbatim_rows": Measure.of(
            float(copied), name="verbatim rows", direction="lower is safer", n=n
        ),
        "identical_match_share": share_measure(copied, n, "identical match share (IMS)"),
        "replicated_uniques": _replicated(originals[counts == 1], releases),
    }


def verbatim_extremes(features: Features) -> Measure:
    """Return how many unique largest or smallest values of a column the release holds; 0 is good.

    `n` is the number of columns' ends that only one person has.

    Examples
    --------
    The largest value 9 is released; the smallest, 1, belongs to two people and counts for nothing.

    >>> from icsa.comparison.features import as_features
    >>> measure = verbatim_extremes(as_features([[1.0], [1.0], [4.0], [9.0]], [[2.0], [9.0]]))
    >>> measure.value, measure.n
    (1.0, 1)
    """
    n_ends, n_released = 0, 0
    columns = zip(features.original.numbers, features.released.numbers, strict=True)
    for column, released in columns:
        cells = column[~np.isnan(column)]
        if not cells.size or cells.min() == cells.max():
            continue
        for end in (cells.min(), cells.max()):
            if int(np.sum(cells == end)) == 1:
                n_ends += 1
                n_released += bool(np.any(released == end))
    value = float(n_released) if n_ends else NotEstimable("no column has an end of one person only")
    return Measure.of(value, name="verbatim extremes", direction="lower is safer", n=n_ends)


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


def _replicated(unique: RowHashes, releases: RowHashes) -> Measure:
    if not unique.size:
        return Measure.of(
            NotEstimable("no row of the original is unique"),
            name="replicated uniques",
            direction="lower is safer",
        )
    return share_measure(_count_of(unique, releases), unique.size, "replicated uniques")


def _count_of(hashes: RowHashes, known: RowHashes) -> int:
    """Return how many of some hashes are among others; both are sorted."""
    places = np.searchsorted(known, hashes)
    places[places == known.size] = 0
    return int(np.count_nonzero(known[places] == hashes))
