"""Who stands out: rows far from the centre, and rows with nobody near them.

Distance alone misses people in holes of the data, isolation alone misses small groups: a row counts
when either finds it. The distance to the *nearest* other row chooses nobody: it is what a release
is measured against later, and people chosen by it would make fresh data look copied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import chdtri

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import PART, FeatureTable
from icsa.errors import InputError
from icsa.matrices import Vector, row_blocks
from icsa.privacy.lenses import Lenses
from icsa.privacy.neighbours import chosen_rows, nearest, roughly_kth_distances
from icsa.privacy.robust_fit import robust_distances, robust_distances_in
from icsa.threads import one_linear_algebra_thread

__all__ = ["StandingOut", "Why", "isolated_rows", "named_people", "standing_out"]

Why = Literal["distance", "isolation", "distance and isolation", "given"]

# A row is isolated by the distance to this neighbour.
_NEIGHBOUR = 5
_LEAST_ISOLATED = 5
_ISOLATED_SHARE = 0.01
_LEVEL = 0.05
# Up to so many rows each is compared with each.
_EXACT_ROWS = 20_000
# Beyond: rows are compared with so many others first, and the share that stays goes on.
_SCREENS = ((1_000, 0.05), (20_000, 0.0))
# That share, of ten million rows or more, is so many times the people who are wanted.
_ENOUGH = 500
# Rows that are compared with others at a time.
_CHUNK = 4_096
# Fixed, and no secret: it chooses the rows of the screens.
_SEED = 20_003


@dataclass(frozen=True, eq=False, repr=False)
class StandingOut:
    """The people who stand out.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Row numbers of the original, those who stand out most first.
    why : tuple of str
        Why each was chosen: "distance", "isolation", "distance and isolation" or "given".
    robust_distances : ndarray of shape (m,)
    isolations : ndarray of shape (m,)
        Distance to the 5th neighbour under lens E.
    cutoff : float
        Robust distances above it stand out; infinite where there are none.
    n_beyond : int
        Number of rows beyond the cutoff, also of those that the cap left out.
    n_left_out : int
        Number of rows that stand out but are beyond the cap.
    note : str
        What could not be looked at, and why.
    """

    rows: RowNumbers
    why: tuple[Why, ...]
    robust_distances: Vector
    isolations: Vector
    cutoff: float
    n_beyond: int
    n_left_out: int
    note: str = ""

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<StandingOut: {self.rows.size} people, {self.n_left_out} more left out>"


def standing_out(lenses: Lenses, *, cap: int = 1_000, threads: int = 1) -> StandingOut:
    """Return the rows of the original that stand out, at most `cap` of them.

    A row stands out when its robust distance is above sqrt(chi2_p(1 - .05/n)), or when it is among
    the max(5, 1%) rows with the largest distance to their 5th neighbour. More than `cap` are ranked
    by the better of their two ranks.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> x = np.random.default_rng(1).normal(size=(100, 3))
    >>> x[7] = 30.0
    >>> found = standing_out(fit_lenses(as_features(x, x)))
    >>> int(found.rows[0]), found.why[0], found.rows.size
    (7, 'distance and isolation', 5)
    """
    if cap < 1:
        raise InputError(f"At least one person must be looked at: cap is {cap}.")
    points = lenses.originals("E")
    n = points.n_rows
    distances = np.concatenate(
        [
            found
            for turn in points.turns(threads)
            for found in points.over(robust_distances_in, turn, lenses.fit, threads=threads)
        ]
    )
    cutoff = _cutoff(len(lenses.fit.anchors), n)
    beyond = np.flatnonzero(distances > cutoff)
    beyond = beyond[np.argsort(-distances[beyond], kind="stable")]
    n_isolated = min(max(_LEAST_ISOLATED, math.ceil(_ISOLATED_SHARE * n)), n)
    lonely, lonely_distances = isolated_rows(points, min(n_isolated, cap), threads=threads)
    ranks: dict[int, float] = {}
    for chosen in (beyond[:cap], lonely):
        for rank, row in enumerate(chosen.tolist()):
            ranks[row] = min(rank, ranks.get(row, math.inf))
    rows = np.array(sorted(ranks, key=lambda row: (ranks[row], row))[:cap], dtype=np.int64)
    why = _reasons(rows, set(beyond.tolist()), set(lonely.tolist()))
    n_either = len(set(beyond.tolist()) | set(lonely.tolist())) + (n_isolated - lonely.size)
    return StandingOut(
        rows=rows,
        why=why,
        robust_distances=distances[rows],
        isolations=_isolations(points, rows, lonely, lonely_distances, threads),
        cutoff=cutoff,
        n_beyond=beyond.size,
        n_left_out=n_either - rows.size,
        note=lenses.fit.note,
    )


def named_people(lenses: Lenses, outliers: object, *, threads: int = 1) -> StandingOut:
    """Return the people that were named, as `standing_out` returns those that it finds.

    Parameters
    ----------
    lenses : Lenses
        Of the two tables.
    outliers : array-like
        Row numbers of the original, or a boolean vector of its length.
    threads : int
        As in `icsa.privacy.neighbours.nearest`.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> x = np.random.default_rng(1).normal(size=(100, 3))
    >>> named_people(fit_lenses(as_features(x, x)), [3, 5]).why
    ('given', 'given')
    """
    points = lenses.originals("E")
    n = points.n_rows
    rows = np.array(list(dict.fromkeys(chosen_rows(outliers, n).tolist())), dtype=np.int64)
    distances = robust_distances(lenses.original[:, rows], lenses.fit)
    given: Why = "given"
    return StandingOut(
        rows=rows,
        why=(given,) * rows.size,
        robust_distances=distances,
        isolations=_kth_distances(points, rows, threads),
        cutoff=_cutoff(len(lenses.fit.anchors), n),
        n_beyond=0,
        n_left_out=0,
        note=lenses.fit.note,
    )


def isolated_rows(
    points: FeatureTable, count: int, *, threads: int = 1
) -> tuple[RowNumbers, Vector]:
    """Return the rows farthest from their 5th neighbour, farthest first, and these distances.

    Above 20,000 rows all are compared with 1,000 of them and the farthest 5% (at least twice and at
    most 500 times as many as wanted) with 20,000; those that stay are compared with every row.

    Examples
    --------
    >>> none = np.empty((0, 8), dtype=np.int32)
    >>> line = FeatureTable(np.array([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 40.0]]), none)
    >>> isolated_rows(line, 1)
    (array([7]), array([38.]))
    """
    n = points.n_rows
    rows: RowNumbers | None = None  # all
    if n > _EXACT_ROWS:
        order = np.random.default_rng(_SEED).permutation(n)[: _SCREENS[-1][0]].copy()
        for size, share in _SCREENS:
            near = _screened(points, rows, np.sort(order[:size]), threads)
            stay = max(2 * count, min(math.ceil(share * n), _ENOUGH * count))
            places = _farthest(near, min(near.size, stay))
            rows = places if rows is None else rows[places]
    if rows is None:
        rows = np.arange(n, dtype=np.int64)
    near = _kth_distances(points, rows, threads)
    far = np.argsort(-near, kind="stable")[:count]
    return rows[far], near[far]


def _farthest(distances: Vector, count: int) -> RowNumbers:
    """Return where the largest are, in ascending order; of equal ones the first.

    Sorting places would take several times the room.

    Examples
    --------
    >>> _farthest(np.array([3.0, 1.0, 3.0, 5.0, 3.0]), 3)
    array([0, 2, 3])
    """
    least = np.partition(distances, distances.size - count)[distances.size - count]
    chosen = distances > least
    equal = np.flatnonzero(distances == least)
    chosen[equal[: count - int(np.count_nonzero(chosen))]] = True
    return np.flatnonzero(chosen).astype(np.int64)


def _screened(
    points: FeatureTable, rows: RowNumbers | None, references: RowNumbers, threads: int
) -> Vector:
    """Return roughly how far the 5th neighbour of rows, or of all, is among some of the rows."""
    others = points.rows(references)
    found = []
    for turn in points.turns(threads):
        ends = [] if rows is None else [np.searchsorted(rows, [p.start, p.stop]) for p in turn]
        each = None if rows is None else [rows[low:high] for low, high in ends]
        found += points.over(_screened_in, turn, others, references, each=each, threads=threads)
    return np.concatenate(found)


def _screened_in(
    points: FeatureTable,
    part: slice,
    others: FeatureTable,
    references: RowNumbers,
    rows: RowNumbers | None = None,
) -> Vector:
    """Return the same for those rows that are in a part of the table, by the same chunks always."""
    found = [np.empty(0)]
    chosen = np.arange(part.start, part.stop, dtype=np.int64) if rows is None else rows
    with one_linear_algebra_thread():
        for start in range(part.start, part.stop, PART):
            low, high = np.searchsorted(chosen, [start, min(start + PART, part.stop)])
            for chunk in row_blocks(int(high - low), _CHUNK):
                wanted = chosen[low:high][chunk]
                place = np.minimum(np.searchsorted(references, wanted), references.size - 1)
                own = np.where(references[place] == wanted, place, -1)
                found.append(roughly_kth_distances(points.rows(wanted), others, own, k=_NEIGHBOUR))
    return np.concatenate(found)


def _kth_distances(points: FeatureTable, rows: RowNumbers, threads: int) -> Vector:
    """Return each row's distance to its 5th neighbour, or last, of fewer."""
    k = max(1, min(_NEIGHBOUR, points.n_rows - 1))
    result = np.empty(rows.size)
    for part in row_blocks(rows.size, _CHUNK):
        found = nearest(points.rows(rows[part]), points, k=k, own=rows[part], threads=threads)
        result[part] = found.distances[:, -1]
    return result


def _isolations(
    points: FeatureTable, rows: RowNumbers, known: RowNumbers, distances: Vector, threads: int
) -> Vector:
    """Return the distances to the 5th neighbour, computing those that are not known."""
    found = dict(zip(known.tolist(), distances.tolist(), strict=True))
    missing = np.array([row for row in rows.tolist() if row not in found], dtype=np.int64)
    more = _kth_distances(points, missing, threads).tolist()
    found |= dict(zip(missing.tolist(), more, strict=True))
    return np.array([found[row] for row in rows.tolist()])


def _cutoff(n_columns: int, n_rows: int) -> float:
    return math.sqrt(float(chdtri(n_columns, _LEVEL / n_rows))) if n_columns else math.inf


def _reasons(rows: RowNumbers, beyond: set[int], lonely: set[int]) -> tuple[Why, ...]:
    reasons: list[Why] = []
    for row in rows.tolist():
        if row in beyond:
            reasons.append("distance and isolation" if row in lonely else "distance")
        else:
            reasons.append("isolation")
    return tuple(reasons)
