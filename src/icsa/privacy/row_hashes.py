"""Rows as 64-bit numbers: equal rows give equal numbers, others differ but for one pair in 2^64."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.comparison.features import FeatureTable

__all__ = ["RowHashes", "row_hashes"]

RowHashes = npt.NDArray[np.uint64]

# The odd number next to 2^64 over the golden ratio, and another with mixed bits.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def row_hashes(table: FeatureTable) -> RowHashes:
    """Return one number for each row; missing equals missing, and -0 equals 0.

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
