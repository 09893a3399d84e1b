"""Why an M-estimate was not found: too many rows on one plane, or an iteration without end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from icsa.errors import ConvergenceError, ExactFitError, ICSAError
from icsa.matrices import Matrix
from icsa.scatters.fixed_point import UnsolvedError
from icsa.scatters.whitening import whitened

__all__ = ["nonexistence"]

# A direction in which rows spread this much less than in others is no direction of theirs.
_FLAT = 1e-9


def nonexistence(
    name: str,
    rows: Matrix,
    start: Matrix,
    unsolved: UnsolvedError,
    share: Callable[[int], float],
    *,
    affine: bool,
) -> ICSAError:
    """Return the error that explains why the scatter `name` was not found.

    A scatter exists when every plane of dimension q holds less than ``share(q)`` of the rows
    (Kent and Tyler 1991). Otherwise the iteration flattens the scatter onto such a plane, which
    is how it is found here.

    Parameters
    ----------
    name : str
        The scatter, for the message.
    rows : ndarray of shape (p, n)
        The table, columns-first.
    start : ndarray of shape (p, p)
        A lower triangular factor in whose coordinates the rows are spread evenly.
    unsolved : UnsolvedError
        The last location and factor.
    share : callable
        The limit for each dimension.
    affine : bool
        Whether planes anywhere count, or only those through the location.
    """
    p, n = rows.shape
    y = whitened(rows - unsolved.location[:, None], start)
    flattened = whitened(unsolved.factor, start)
    directions = np.linalg.svd(flattened)[0] if np.isfinite(flattened).all() else np.eye(p)
    for q in range(p - 1, -1 if affine else 0, -1):
        # Any q rows, or q + 1 with a plane anywhere, lie on one plane: more are needed to tell.
        limit = max(math.ceil(share(q) * n - 1e-9), q + 2 if affine else q + 1)
        if limit > n or share(q) <= 0.0:
            continue
        candidates = _nearest(y, directions[:, q:], limit, affine)
        centre = y[:, candidates].mean(axis=1) if affine else np.zeros(p)
        normals, spread = _normals(y[:, candidates] - centre[:, None], q)
        if normals.shape[1] == 0:
            continue
        away = np.abs(normals.T @ (y - centre[:, None])).max(axis=0)
        rows_on_it = int(np.sum(away <= _FLAT * spread))
        columns = _columns(normals, start)
        return ExactFitError(
            name,
            columns,
            [str(column) for column in columns],
            rows_on_it=rows_on_it,
            n_rows=n,
            allowed=limit - 1,
        )
    return ConvergenceError(
        f"{name} did not converge: its equations do not hold after {unsolved.iterations} "
        "iterations. Few rows for so many columns, ties, or rows near one plane can leave them "
        "without a solution. Drop columns, raise max_iterations, or use another scatter."
    )


def _nearest(y: Matrix, normals: Matrix, count: int, affine: bool) -> npt.NDArray[np.intp]:
    """Return the `count` rows nearest to the plane with these normals, in angle unless `affine`."""
    away = np.square(normals.T @ y).sum(axis=0)
    if not affine:
        away /= np.square(y).sum(axis=0)
    return np.argsort(away, kind="stable")[:count]


def _normals(y: Matrix, dimension: int) -> tuple[Matrix, float]:
    """Return the normals of a plane of that dimension through all rows, if any, and its size."""
    axes, spread, _ = np.linalg.svd(np.asarray(np.linalg.qr(y.T, mode="r")).T)
    rank = int(np.sum(spread > _FLAT * max(1.0, spread[0])))
    return axes[:, rank if rank <= dimension else y.shape[0] :], max(1.0, float(spread[0]))


def _columns(normals: Matrix, start: Matrix) -> tuple[int, ...]:
    """Return the columns with a part in the plane's equations, in their standard deviations."""
    equations = np.linalg.solve(start.T, normals) * np.sqrt(np.square(start).sum(axis=1))[:, None]
    part = np.abs(equations).max(axis=1)
    return tuple(int(column) for column in np.flatnonzero(part > 1e-6 * part.max()))
