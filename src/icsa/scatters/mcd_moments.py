"""Moments of a subset of rows, summed in parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.matrices import Matrix, Vector, row_blocks
from icsa.scatters.mcd_kernels import Rows, subset_moments
from icsa.scatters.mcd_kernels import whitener as inverse_factor

__all__ = ["SubsetMoments"]

# Rows whose moments are summed at a time, so that they stay in the cache.
_CHUNK = 4096


@dataclass(frozen=True)
class SubsetMoments:
    """Moments of some rows: how many, their mean and centred cross-products."""

    size: int
    mean: Vector
    cross: Matrix

    @classmethod
    def of(cls, xt: Matrix, rows: Rows) -> SubsetMoments:
        """Return the moments of some columns of `xt` (p, n)."""
        p = xt.shape[0]
        gathered = np.empty((p, min(_CHUNK, rows.size)))
        found = None
        for block in row_blocks(rows.size, _CHUNK):
            size, mean, cross = block.stop - block.start, np.empty(p), np.empty((p, p))
            subset_moments(xt, rows[block], size, gathered, mean, cross)
            part = cls(size, mean, cross)
            found = part if found is None else found.joined(part)
        return found or cls(0, np.zeros(p), np.zeros((p, p)))

    def joined(self, other: SubsetMoments) -> SubsetMoments:
        """Return the moments of both sets of rows together."""
        size = self.size + other.size
        gap = other.mean - self.mean
        cross = self.cross + other.cross + self.size * other.size / size * np.outer(gap, gap)
        return SubsetMoments(size, self.mean + other.size / size * gap, cross)

    def whitener(self) -> tuple[Matrix, float]:
        """Return what whitens the covariance, and its log determinant."""
        w = np.empty_like(self.cross)
        return w, inverse_factor(self.cross, self.size, w)
