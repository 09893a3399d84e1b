"""C-steps on long tables, where only the rows near the border are looked at until it settles."""

from __future__ import annotations

import math

import numpy as np

from icsa.matrices import Matrix
from icsa.scatters.mcd_kernels import Rows, distances, nearest
from icsa.scatters.mcd_moments import SubsetMoments

__all__ = ["SWAPS_UP_TO", "columns_of", "nearest_to_plane", "settle"]

# A fall of the log determinant by less than this is rounding.
_SETTLED = 1e-12
# In tables too long for swaps, no exact end is worth another pass.
_NEARLY_SETTLED = 1e-7
# Swaps of single rows are looked for up to this size; beyond it a pass over all rows is too dear.
SWAPS_UP_TO = 20_000


def nearest_to_plane(xt: Matrix, fit: SubsetMoments, h: int) -> Rows:
    """Return the h rows nearest to the hyperplane in which the fit is flat, ascending."""
    scale = np.abs(xt - fit.mean[:, None]).max(axis=1)
    normal = np.linalg.eigh(fit.cross / np.outer(scale, scale))[1][:, 0]
    offsets = np.abs((normal / scale) @ (xt - fit.mean[:, None]))
    return np.sort(np.argpartition(offsets, h - 1)[:h])


def columns_of(xt: Matrix, rows: Rows) -> Matrix:
    """Return some columns of `xt` (p, n) as a table of their own."""
    part = np.empty((xt.shape[0], rows.size))
    for source, target in zip(xt, part, strict=True):
        np.take(source, rows, out=target)
    return part


def settle(
    xt: Matrix, fit: SubsetMoments, h: int, band_share: float, passes: int
) -> tuple[SubsetMoments, Rows]:
    """Take C-steps on all rows until nothing changes; return the last fit and its rows.

    After a pass over all rows only those within a band of ranks around the border can soon change
    places. C-steps on the band alone, the rows well inside taken as they are, lower the objective
    too; the next pass over all rows tells whether that is the end.
    """
    n = xt.shape[1]
    squared, rows = np.empty(n), np.empty(0, dtype=np.int64)
    width = int(band_share * n)
    low, high = max(h - 1 - width, 0), min(h - 1 + width, n - 1)
    tolerance = _SETTLED if n <= SWAPS_UP_TO else _NEARLY_SETTLED
    lowest = math.inf
    for _ in range(passes):
        distances(xt, fit.mean, fit.whitener()[0], squared)
        ordered = np.partition(squared, [low, h - 1, high])
        core_rows = np.flatnonzero(squared < ordered[low])
        band_rows = np.flatnonzero((squared >= ordered[low]) & (squared <= ordered[high]))
        core, band = SubsetMoments.of(xt, core_rows), columns_of(xt, band_rows)
        inside = np.flatnonzero(squared[band_rows] <= ordered[h - 1])[: h - core.size]
        fit = core.joined(SubsetMoments.of(band, inside))
        rows = np.concatenate([core_rows, band_rows[inside]])
        objective = fit.whitener()[1]
        if objective == -math.inf or objective > lowest - tolerance:
            break
        fit, inside = _settle_band(band, core, fit, inside, tolerance)
        lowest = fit.whitener()[1]
        rows = np.concatenate([core_rows, band_rows[inside]])
    return fit, np.sort(rows)


def _settle_band(
    band: Matrix, core: SubsetMoments, fit: SubsetMoments, rows: Rows, tolerance: float
) -> tuple[SubsetMoments, Rows]:
    """Take C-steps among the band's rows, the core always inside, until the objective stays."""
    squared, scratch = np.empty(band.shape[1]), np.empty(band.shape[1])
    w, lowest = fit.whitener()
    while True:
        step_rows = np.empty_like(rows)
        distances(band, fit.mean, w, squared)
        nearest(squared, rows.size, scratch, step_rows)
        step = core.joined(SubsetMoments.of(band, step_rows))
        step_w, objective = step.whitener()
        if objective == -math.inf or objective > lowest - tolerance:
            return fit, rows
        fit, rows, w, lowest = step, step_rows, step_w, objective
