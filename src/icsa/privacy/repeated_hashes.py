"""Hashes that stand twice or more: most rows of long tables are like no other, and let go early.

Sorting is fast, and looking something up in a large table is not: the hashes of all rows are
sorted, those that stand twice are marked in a small map, and rows are held against the map.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import RowNumbers
from icsa.compilation import kernel

__all__ = ["RepeatedHashes"]

_Hashes = npt.NDArray[np.uint64]

# Places in the map for each hash, and how many there are at least and at most: some megabytes.
_PLACES, _LEAST, _MOST = 16, 1 << 10, 1 << 27


class RepeatedHashes:
    """What tells which rows may have the hash of another one.

    Parameters
    ----------
    hashes : ndarray of uint64
        Of all rows; they are sorted in place.

    Examples
    --------
    >>> found = RepeatedHashes.among(np.array([5, 7, 5, 9], dtype=np.uint64))
    >>> found.rows(np.array([5, 6, 7, 9], dtype=np.uint64))
    array([0])
    """

    def __init__(self, hashes: _Hashes) -> None:
        hashes.sort()
        again = hashes[1:][hashes[1:] == hashes[:-1]]
        wanted = min(max(_PLACES * again.size, _LEAST), _MOST)
        self._map = np.zeros(1 << (wanted - 1).bit_length() - 3, dtype=np.uint8)
        _mark(again, self._map)

    @classmethod
    def among(cls, *hashes: _Hashes) -> RepeatedHashes:
        """Return the same of several tables, whose hashes stay as they are."""
        return cls(np.concatenate(hashes))

    def rows(self, hashes: _Hashes) -> RowNumbers:
        """Return the places of hashes that may stand twice; of the others it is known."""
        return np.flatnonzero(_marked(hashes, self._map)).astype(np.int64)


@kernel
def _mark(hashes: _Hashes, places: npt.NDArray[np.uint8]) -> None:
    mask = np.uint64(8 * places.size - 1)
    for i in range(hashes.size):
        place = hashes[i] & mask
        places[place >> np.uint64(3)] |= np.uint8(1 << (place & np.uint64(7)))


@kernel
def _marked(hashes: _Hashes, places: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    mask = np.uint64(8 * places.size - 1)
    found = np.empty(hashes.size, dtype=np.bool_)
    for i in range(hashes.size):
        place = hashes[i] & mask
        found[i] = (places[place >> np.uint64(3)] >> (place & np.uint64(7))) & np.uint64(1)
    return found
