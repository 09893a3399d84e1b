"""The Hettmansperger-Randles location and shape."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from icsa.matrices import Matrix, Vector
from icsa.scatters.base import LocationScatter, checked
from icsa.scatters.fixed_point import (
    MAX_ITERATIONS,
    TOLERANCE,
    Move,
    Solution,
    UnsolvedError,
    solve,
)
from icsa.scatters.nonexistence import nonexistence
from icsa.scatters.tyler_shape import unit_factor
from icsa.scatters.weighting import substitution
from icsa.scatters.whitening import centred, factor_of, sum_of_squares, whitened

__all__ = ["hr"]

# Substitutions after which the location is suspected to be a row itself.
_SOON = 100
# Ratio of pivots, against the start, below which a scatter is about to become singular.
_FLATTENED = 1e-4


def hr(
    x: Matrix,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LocationScatter:
    """Return the Hettmansperger-Randles location and shape, with determinant one.

    The location is the spatial median of the rows whitened by the shape, the shape is Tyler's
    around the location, both at once.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; more rows than columns.
    tolerance : float
        Largest departure from the equations below, in whitened coordinates.
    max_iterations : int
        Substitutions allowed.

    Returns
    -------
    LocationScatter
        The m and V with mean(u_i) = 0, p mean(u_i u_i') = I and det V = 1, where u_i = y_i/|y_i|
        and y_i = V^(-1/2) (x_i - m).

    Raises
    ------
    ExactFitError
        When so many rows lie on one plane that V does not exist.
    ConvergenceError
        When the equations do not hold after `max_iterations` substitutions.

    Notes
    -----
    As with any spatial median, the location may be a row itself, or k tied rows; with two columns
    and few rows that is common. Such a row has no direction u. It is then read as a random one
    whose mean v makes the directions balance, which takes |v| <= 1, and whose second moment is
    vv' + (1 - |v|^2) I/p: so the estimate depends continuously on the data.

    References
    ----------
    Hettmansperger, T. P., Randles, R. H. (2002). A practical affine equivariant multivariate
    median. Biometrika 89.

    Examples
    --------
    >>> octagon = [[2, 1], [2, -1], [-2, 1], [-2, -1], [2, 0], [-2, 0], [0, 1], [0, -90]]
    >>> hr(octagon).scatter.round(9) + 0.0
    array([[2. , 0. ],
           [0. , 0.5]])
    """
    matrix = checked(x, "hr")
    p = matrix.shape[1]
    if p == 1:
        return LocationScatter(np.median(matrix, axis=0), np.eye(1))
    mean, rows = centred(matrix)
    start = factor_of(rows, mean, "hr")
    solution = _solve(rows, start, tolerance, max_iterations)
    root = unit_factor(solution.factor)
    return LocationScatter(mean + solution.location, root @ root.T, solution.iterations)


def _solve(rows: Matrix, start: Matrix, tolerance: float, max_iterations: int) -> Solution:
    """Return the solution; one at or very near a row is looked for when none comes soon."""
    p = rows.shape[0]
    step = substitution(float(p), 0.0, location_power=0.5, average=False)
    gains = (p / (p - 1), (p + 2) / p)
    for limit in sorted({min(_SOON, max_iterations), max_iterations}):
        try:
            return solve(
                rows,
                step,
                np.zeros(p),
                start,
                gains=gains,
                tolerance=tolerance,
                max_iterations=limit,
            )
        except UnsolvedError as error:
            unsolved = error
        limits: dict[str, Any] = {"tolerance": tolerance, "max_iterations": limit}
        solution = _solve_at_row(rows, start, unsolved, limits) or _solve_near_row(
            rows, start, unsolved, limits
        )
        if solution is not None:
            return solution
    raise nonexistence("hr", rows, start, unsolved, lambda q: q / p, affine=True)


def _solve_near_row(
    rows: Matrix, start: Matrix, unsolved: UnsolvedError, limits: dict[str, Any]
) -> Solution | None:
    """Return the solution that Newton steps for the location lead to from the last estimate."""
    pivots = np.diagonal(whitened(unsolved.factor, start))
    if pivots.min() < _FLATTENED * pivots.max():
        return None  # rows on a plane: from here only their rounding would be seen
    p = rows.shape[0]
    gains = (1.0, (p + 2) / p)
    try:
        found = solve(rows, _newton_move, unsolved.location, unsolved.factor, gains=gains, **limits)
    except (UnsolvedError, np.linalg.LinAlgError):
        return None
    return found._replace(iterations=unsolved.iterations + found.iterations)


def _newton_move(base: Matrix, a: Matrix, b: Vector) -> Move:
    """Return the substitution with a Newton step for the location, which a near row cannot slow."""
    p, n = base.shape
    y = a @ base - b[:, None]
    r = np.sqrt(np.square(y).sum(axis=0))
    u = y / r
    pull = u.sum(axis=1)
    slope = np.eye(p) * np.sum(1.0 / r) - (u / r) @ u.T
    change = sum_of_squares(u) * (p / n) - np.eye(p)
    sizes = np.sqrt(np.square(change).sum() / p), np.sqrt(pull @ pull) / n
    return Move(np.linalg.solve(slope, pull), change, float(max(sizes)))


def _solve_at_row(
    rows: Matrix, start: Matrix, unsolved: UnsolvedError, limits: dict[str, Any]
) -> Solution | None:
    """Return the solution whose location is one of the rows nearest to the last one, if one is."""
    y = whitened(rows - unsolved.location[:, None], unsolved.factor)
    for row in np.argsort(np.square(y).sum(axis=0), kind="stable")[: rows.shape[0] + 1]:
        centre: Vector = rows[:, row]
        tied = (rows == centre[:, None]).all(axis=0)
        ties = int(tied.sum())
        others = np.ascontiguousarray(rows[:, ~tied] - centre[:, None])
        try:
            solution = solve(
                others, partial(_move_at_row, ties), np.zeros(centre.size), start, **limits
            )
        except UnsolvedError:
            continue
        pull = _directions(whitened(others, solution.factor)).sum(axis=1)
        if np.sqrt(pull @ pull) <= ties:
            return Solution(centre, solution.factor, unsolved.iterations + solution.iterations)
    return None


def _move_at_row(ties: int, base: Matrix, a: Matrix, b: Vector) -> Move:
    """Return the substitution for the shape when `ties` rows are the location itself.

    Their directions average to the v that balances the others, and their squares to
    vv' + (1 - |v|^2) I/p.
    """
    p, n = base.shape
    u = _directions(a @ base - b[:, None])
    balance = -u.sum(axis=1) / ties
    balance /= max(1.0, float(np.sqrt(balance @ balance)))
    own = np.outer(balance, balance) + (1.0 - balance @ balance) / p * np.eye(p)
    change = (sum_of_squares(u) + ties * own) * (p / (n + ties)) - np.eye(p)
    return Move(np.zeros(p), change, float(np.sqrt(np.square(change).sum() / p)))


def _directions(y: Matrix) -> Matrix:
    """Return columns-first rows scaled to length one."""
    unit: Matrix = y / np.sqrt(np.square(y).sum(axis=0))
    return unit
