"""The search for the h rows whose covariance has the least determinant.

Small tables: random elemental starts (p + 1 rows), one C-step each, the best few C-steps more; the
best of those, and the half of the rows nearest the medians, descend to where neither a C-step nor a
chain of swaps helps. Large tables: the same on a random part of the rows, then on ever more of
them, where only the rows near the border are looked at until it settles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from icsa.matrices import Matrix, Vector
from icsa.scatters.mcd_descent import descend
from icsa.scatters.mcd_factors import subset_size
from icsa.scatters.mcd_kernels import Rows, distances, draw_subsets, nearest
from icsa.scatters.mcd_moments import SubsetMoments

__all__ = [
    "FLAT",
    "Effort",
    "default_effort",
    "least_determinant_rows",
    "lies_on_plane",
    "robust_units",
]

# A table is searched as a whole up to so many rows, or so many a column.
_SMALL, _ROWS_A_COLUMN = 1500, 5
# Each round of a large search takes this many times the rows of the one before.
_GROWTH = 10
# Swaps of single rows are looked for up to this size; beyond it a pass over all rows is too dear.
_SWAPS_UP_TO = 20_000
# Rows that spread less than this share of a column's MAD in some direction lie on a plane.
FLAT = 3e-7
# Random starts alone find the majority in as few columns: with 35% of the rows in a cluster,
# one of nine is free of it.
_FEW_COLUMNS = 4
# Rows on each side of the border that may change places.
_BORDER = 16
# Far more C-steps than any descent takes.
_UNTIL_CONVERGED = 10_000
# Share of the rows, on each side of the border, that are looked at between two passes over all; the
# smaller one where the start comes from tens of thousands of rows.
_BAND, _NARROW_BAND = 0.05, 0.02
# A fall of the log determinant by less than this is rounding.
_SETTLED = 1e-12
# In tables too long for swaps, no exact end is worth another pass.
_NEARLY_SETTLED = 1e-7


@dataclass(frozen=True)
class Effort:
    """How wide the search is: starts, how many of them go on, how many are refined by swaps."""

    starts: int
    promising: int
    refined: int


def default_effort(n: int, p: int) -> Effort:
    """Return the effort that found the best-known objective on all reference sets.

    Few columns make starts cheap and local minima many; few rows a column, or many rows, make
    minima many; many columns make starts dear, and swaps do the work.
    """
    if p <= 3:
        return Effort(300, 100, 32)
    if n <= 100:
        return Effort(200, 60, 16) if p > 4 else Effort(100, 30, 10)
    if n > 500:
        return Effort(100, 40, 16)
    return Effort(50, 16, 6) if p > 4 else Effort(100, 30, 8)


def least_determinant_rows(xt: Matrix, alpha: float, seed: int, effort: Effort | None) -> Rows:
    """Return the best h columns of `xt` (p, n) that the search finds, ascending."""
    p, n = xt.shape
    h = subset_size(n, p, alpha)
    if h == n:
        return np.arange(n)
    if p == 1:
        return _shortest_window(xt[0], h)
    if n <= max(_SMALL, _ROWS_A_COLUMN * p):
        subsets = _search_small(xt, h, seed, effort or default_effort(n, p))[1]
        return np.asarray(subsets[0])
    return _search_large(xt, alpha, seed, effort)


def _shortest_window(values: Vector, h: int) -> Rows:
    """Return the h neighbours on the line with the least variance: exact for one column."""
    order = np.argsort(values, kind="stable")
    n, middle = values.size, values.size // 2
    gaps = values[order] - values[order[middle]]
    # A window holds the median. Sums that run outwards from it meet far values last.
    sums, squares = (_outward_sums(part, middle) for part in (gaps, gaps**2))
    starts = np.arange(n - h + 1)
    total = sums[starts] + sums[starts + h]
    spread = squares[starts] + squares[starts + h] - total**2 / h
    start = int(np.argmin(spread))
    return np.sort(order[start : start + h])


def _outward_sums(values: Vector, middle: int) -> Vector:
    """Return the sums from each place to the middle, and from the middle to each place."""
    before = np.cumsum(values[:middle][::-1])[::-1]
    return np.concatenate([before, [0.0], np.cumsum(values[middle:])])


def _search_small(xt: Matrix, h: int, seed: int, effort: Effort) -> tuple[Vector, Rows]:
    """Return the refined objectives, ascending, with their subsets."""
    p, n = xt.shape
    # Further rows stand by for starts that are singular; tied columns may need many of them.
    for width in (min(h, 2 * p + 2), h):
        starts = np.empty((effort.starts, width), dtype=np.int64)
        draw_subsets(n, width, effort.starts, seed, starts)
        objectives, subsets = _best(*_descend(xt, starts, p + 1, h, 1, 0), effort.promising)
        if objectives.size:
            break
    else:
        return np.array([-math.inf]), np.arange(h)[None]  # the columns depend on each other
    objectives, subsets = _descend(xt, subsets, h, h, 2, 0)
    if p > _FEW_COLUMNS:
        central = _descend(xt, _central_half(xt)[None], (n + 1) // 2, h, 3, 0)
        objectives = np.concatenate([objectives, central[0]])
        subsets = np.concatenate([subsets, central[1]])
    _, promising = _best(objectives, subsets, effort.refined)
    border = min(_BORDER, h - 1, n - h)
    found = _best(*_descend(xt, promising, h, h, _UNTIL_CONVERGED, border), effort.refined)
    return found if found[0].size else (np.array([-math.inf]), subsets[:1])


def _central_half(xt: Matrix) -> Rows:
    """Return the half of the rows nearest the medians, columns counted in their MADs.

    It finds the majority where the others form a cluster far away. Random starts of p + 1 rows
    seldom do in many columns: with 35% in the cluster, one in a million is free of it in 32.
    """
    n = xt.shape[1]
    gaps = xt - np.partition(xt, n // 2, axis=1)[:, n // 2, None]
    gaps /= robust_units(xt)[:, None]
    distance = np.einsum("ji,ji->i", gaps, gaps)
    return np.sort(np.argpartition(distance, n // 2)[: (n + 1) // 2])


def _descend(
    xt: Matrix, starts: Rows, start_size: int, h: int, steps: int, border: int
) -> tuple[Vector, Rows]:
    objectives = np.empty(starts.shape[0])
    subsets = np.empty((starts.shape[0], h), dtype=np.int64)
    descend(xt, starts, start_size, h, steps, border, objectives, subsets)
    for flat in np.flatnonzero(objectives == -math.inf):
        if not lies_on_plane(xt, subsets[flat]):
            objectives[flat] = math.inf
    return objectives, subsets


def lies_on_plane(xt: Matrix, rows: Rows) -> bool:
    """Return whether these rows have no spread in some direction, in units of the columns' MADs.

    A few rows far away make the spread of the others look like rounding; that is no plane.
    """
    units = robust_units(xt)
    centred = (xt[:, rows] - xt[:, rows].mean(axis=1, keepdims=True)) / units[:, None]
    smallest = np.linalg.svd(centred, compute_uv=False)[-1] if rows.size > units.size else 0.0
    return bool(smallest < FLAT * math.sqrt(rows.size))


def robust_units(xt: Matrix) -> Vector:
    """Return the MAD of every column, or its mean deviation where that is 0."""
    middle = xt.shape[1] // 2
    gaps = np.abs(xt - np.partition(xt, middle, axis=1)[:, middle, None])
    units = np.partition(gaps, middle, axis=1)[:, middle]
    return np.where(units > 0, units, np.minimum(gaps.mean(axis=1), 1e300))


def _best(objectives: Vector, subsets: Rows, count: int) -> tuple[Vector, Rows]:
    """Return the `count` best of the distinct subsets; equal ones have equal objectives."""
    order = np.argsort(objectives, kind="stable")
    ordered = objectives[order]
    distinct = ordered < math.inf
    distinct[1:] &= ordered[1:] != ordered[:-1]
    best = order[distinct][:count]
    return objectives[best], subsets[best]


def _search_large(xt: Matrix, alpha: float, seed: int, effort: Effort | None) -> Rows:
    """Search among a random part of the rows, settle the best on ten times as many, and so on."""
    p, n = xt.shape
    part = max(min(_SMALL, max(600, 50 * p)), _ROWS_A_COLUMN * p)
    h, sizes = subset_size(n, p, alpha), [part]
    while sizes[-1] * _GROWTH**1.5 < n:
        sizes.append(sizes[-1] * _GROWTH)
    drawn = np.random.default_rng(seed).choice(n, sizes[-1], replace=False)
    table = _columns_of(xt, np.sort(drawn[: sizes[0]]))
    found = _search_small(table, subset_size(sizes[0], p, alpha), seed, effort or Effort(60, 20, 5))
    fit = SubsetMoments.of(table, found[1][0])
    for size in sizes[1:]:
        table = _columns_of(xt, np.sort(drawn[:size]))
        fit = _settle(table, fit, subset_size(size, p, alpha), _BAND, passes=1)[0]
    if fit.whitener()[1] == -math.inf:
        return _nearest_to_plane(xt, fit, h)
    share = _NARROW_BAND if sizes[-1] > _SWAPS_UP_TO else _BAND
    rows = _settle(xt, fit, h, share, passes=_UNTIL_CONVERGED)[1]
    if n <= _SWAPS_UP_TO:
        rows = _descend(xt, rows[None], h, h, _UNTIL_CONVERGED, min(_BORDER, n - h))[1][0]
    return np.asarray(rows)


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
