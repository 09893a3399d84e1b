"""The search for the h rows whose covariance has the least determinant.

Small tables: populations of random starts that descend to where neither a C-step nor a chain of
swaps helps, until they agree (see `mcd_populations`); the half of the rows nearest the medians
joins them. Large tables: the same on a random part of the rows, then on ever more of them, where
only the rows near the border are looked at until it settles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from icsa.matrices import Matrix, Vector
from icsa.scatters.mcd_ends import Ends
from icsa.scatters.mcd_factors import subset_size
from icsa.scatters.mcd_kernels import Rows, distances, nearest
from icsa.scatters.mcd_moments import SubsetMoments
from icsa.scatters.mcd_populations import Populations

__all__ = ["Found", "least_determinant_rows"]

# A table is searched as a whole up to so many rows, or so many a column.
_SMALL, _ROWS_A_COLUMN = 1500, 5
# Each round of a large search takes this many times the rows of the one before.
_GROWTH = 10
# Swaps of single rows are looked for up to this size; beyond it a pass over all rows is too dear.
_SWAPS_UP_TO = 20_000
# Share of the rows, on each side of the border, that are looked at between two passes over all; the
# smaller one where the start comes from tens of thousands of rows.
_BAND, _NARROW_BAND = 0.05, 0.02
# A fall of the log determinant by less than this is rounding.
_SETTLED = 1e-12
# In tables too long for swaps, no exact end is worth another pass.
_NEARLY_SETTLED = 1e-7
# Far more passes than any descent takes.
_UNTIL_CONVERGED = 10_000


@dataclass(frozen=True)
class Found:
    """The rows that a search found, the starts it took, and how many populations agreed."""

    rows: Rows
    starts: int = 0
    agreeing: int = 0


def least_determinant_rows(xt: Matrix, alpha: float, seed: int, n_starts: int | None) -> Found:
    """Return the best h columns of `xt` (p, n) that the search finds, ascending."""
    p, n = xt.shape
    h = subset_size(n, p, alpha)
    if h == n:
        return Found(np.arange(n))
    if p == 1:
        return Found(_shortest_window(xt[0], h))
    if n <= max(_SMALL, _ROWS_A_COLUMN * p):
        return _search_small(xt, h, seed, n_starts)
    return _search_large(xt, alpha, seed, n_starts)


def _shortest_window(values: Vector, h: int) -> Rows:
    """Return the h neighbours on the line with the least variance: exact for one column."""
    order = np.argsort(values, kind="stable")
    n, middle = values.size, values.size // 2
    gaps = values[order] - values[order[middle]]
    # A window holds the median. Sums that run outwards from it meet far values last.
    sums, squares = (_outward_sums(part, middle) for part in (gaps, gaps**2))
    starts = np.arange(n - h + 1)
    total = sums[starts] + sums[starts + h]
    size = squares[starts] + squares[starts + h]
    spread = size - total**2 / h
    best = int(np.argmin(spread))
    # Of windows that tie, the first: rounding would choose another one in other units. It is that
    # of the cells, in the products with their gaps, and one of the sum for each of h summands.
    length, largest = np.sqrt(h * size[best]), np.abs(values).max()
    allowed = np.finfo(np.float64).eps * (h * size[best] + 4.0 * largest * length)
    start = int(np.argmax(spread <= spread[best] + allowed))
    return np.sort(order[start : start + h])


def _outward_sums(values: Vector, middle: int) -> Vector:
    """Return the sums from each place to the middle, and from the middle to each place."""
    before = np.cumsum(values[:middle][::-1])[::-1]
    return np.concatenate([before, [0.0], np.cumsum(values[middle:])])


def _search_small(xt: Matrix, h: int, seed: int, n_starts: int | None) -> Found:
    """Return the best subset once independent populations agree, or after `n_starts` starts."""
    populations = Populations(xt, h, seed)
    populations.search(n_starts)
    return Found(populations.rows, populations.starts, populations.agreeing)


def _search_large(xt: Matrix, alpha: float, seed: int, n_starts: int | None) -> Found:
    """Search among a random part of the rows, settle the best on ten times as many, and so on."""
    p, n = xt.shape
    part = max(min(_SMALL, max(600, 50 * p)), _ROWS_A_COLUMN * p)
    h, sizes = subset_size(n, p, alpha), [part]
    while sizes[-1] * _GROWTH**1.5 < n:
        sizes.append(sizes[-1] * _GROWTH)
    drawn = np.random.default_rng(seed).choice(n, sizes[-1], replace=False)
    table = _columns_of(xt, np.sort(drawn[: sizes[0]]))
    found = _search_small(table, subset_size(sizes[0], p, alpha), seed, n_starts)
    fit = SubsetMoments.of(table, found.rows)
    for size in sizes[1:]:
        table = _columns_of(xt, np.sort(drawn[:size]))
        fit = _settle(table, fit, subset_size(size, p, alpha), _BAND, passes=1)[0]
    if fit.whitener()[1] == -math.inf:
        return replace(found, rows=_nearest_to_plane(xt, fit, h))
    share = _NARROW_BAND if sizes[-1] > _SWAPS_UP_TO else _BAND
    rows = _settle(xt, fit, h, share, passes=_UNTIL_CONVERGED)[1]
    if n <= _SWAPS_UP_TO:
        ends = Ends(xt, h)
        rows = ends.rows(ends.descend(rows[None], np.array([h]))[0])
    return replace(found, rows=rows)


def _nearest_to_plane(xt: Matrix, fit: SubsetMoments, h: int) -> Rows:
    """Return the h rows nearest to the hyperplane in which the fit is flat, ascending."""
    scale = np.abs(xt - fit.mean[:, None]).max(axis=1)
    normal = np.linalg.eigh(fit.cross / np.outer(scale, scale))[1][:, 0]
    offsets = np.abs((normal / scale) @ (xt - fit.mean[:, None]))
    return np.sort(np.argpartition(offsets, h - 1)[:h])


def _columns_of(xt: Matrix, rows: Rows) -> Matrix:
    part = np.empty((xt.shape[0], rows.size))
    for source, target in zip(xt, part, strict=True):
        np.take(source, rows, out=target)
    return part


def _settle(
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
    tolerance = _SETTLED if n <= _SWAPS_UP_TO else _NEARLY_SETTLED
    lowest = math.inf
    for _ in range(passes):
        distances(xt, fit.mean, fit.whitener()[0], squared)
        ordered = np.partition(squared, [low, h - 1, high])
        core_rows = np.flatnonzero(squared < ordered[low])
        band_rows = np.flatnonzero((squared >= ordered[low]) & (squared <= ordered[high]))
        core, band = SubsetMoments.of(xt, core_rows), _columns_of(xt, band_rows)
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
