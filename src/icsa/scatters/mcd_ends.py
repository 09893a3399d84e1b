"""The ends of descents: subsets that neither a C-step nor a chain of swaps improves."""

from __future__ import annotations

import numpy as np

from icsa.matrices import Matrix, Vector
from icsa.scatters.mcd_descent import descend
from icsa.scatters.mcd_kernels import Rows, shared_rows
from icsa.scatters.mcd_planes import keep_planes

__all__ = ["SHORT", "Ends"]

# Up to so many rows, a table is short.
SHORT = 1500
# Objectives that differ by less are taken for equal: in short tables they are of one subset, or of
# subsets that are as good; in long ones subsets differ in single rows of thousands, and the
# objective's standard error, sqrt(2 p/h) for normal rows, is far larger.
_EQUAL, _NEARLY_EQUAL = 1e-9, 1e-5
# Rows on each side of the border that may change places, in short and in long tables, where a step
# costs more than the swaps before it.
_BORDER, _WIDE_BORDER = 16, 32
# Swaps of a chain in a short table, at least.
_CHAIN = 8
# Far more C-steps than any descent takes.
_UNTIL_CONVERGED = 10_000
# Descents whose results have room before more is made.
_ROOM = 64


class Ends:
    """All ends that were reached in one table (p, n); a place in the list names one of them."""

    def __init__(self, xt: Matrix, h: int) -> None:
        (p, n), short = xt.shape, xt.shape[1] <= SHORT
        self.xt, self.h, self.size = xt, h, 0
        self.equal = _EQUAL if short else _NEARLY_EQUAL
        self._border = min(_BORDER if short else _WIDE_BORDER, h - 1, n - h)
        self._longest = min(self._border, max(_CHAIN, p // 2) if short else n)
        self._objectives, self._subsets = np.empty(_ROOM), np.empty((_ROOM, h), dtype=np.int64)
        self._halts, self._halted = np.empty(8 * _ROOM), np.empty(8 * _ROOM, dtype=np.int64)
        self._known = 0

    @property
    def objectives(self) -> Vector:
        """The log determinants at all places: infinite where a start came to nothing."""
        return self._objectives[: self.size]

    def rows(self, place: int) -> Rows:
        """Return the subset at a place, ascending."""
        return np.asarray(self._subsets[place])

    def descend(self, starts: Rows, sizes: Rows) -> list[int]:
        """Return the places of the ends that these starts, the first rows of each, lead to."""
        first, self.size = self.size, self.size + sizes.size
        self._make_room()
        self._known = descend(
            self.xt,
            starts,
            sizes,
            self.h,
            _UNTIL_CONVERGED,
            self._border,
            self._longest,
            self._objectives,
            self._subsets,
            first,
            self._halts,
            self._halted,
            self._known,
        )
        keep_planes(self.xt, self._objectives[first : self.size], self._subsets[first : self.size])
        return list(range(first, self.size))

    def cross(self, first: list[int], second: list[int]) -> list[int]:
        """Return the places that one reaches from the rows which pairs of subsets share."""
        p, n = self.xt.shape
        starts = np.empty((len(first), self.h), dtype=np.int64)
        sizes = np.empty(len(first), dtype=np.int64)
        shared_rows(self._subsets[first], self._subsets[second], n, starts, sizes)
        return self.descend(starts, np.maximum(sizes, p + 1))

    def _make_room(self) -> None:
        if self.size > self._objectives.size:
            more = 2 * self.size
            self._objectives = np.resize(self._objectives, more)
            self._subsets = np.resize(self._subsets, (more, self.h))
            self._halts = np.resize(self._halts, 8 * more)
            self._halted = np.resize(self._halted, 8 * more)
