"""One solver for M-estimates: plain steps far from the solution, Anderson mixing near it.

An M-estimate solves location = weighted mean and scatter = weighted mean of squares, with weights
that depend on the Mahalanobis distances under the solution itself. Far from the solution the
solver substitutes plainly, which for these functionals goes downhill (Kent and Tyler 1991). Near
it, each substitution is stretched by the inverse of its linearisation for spherical data, and the
last steps are combined (Anderson 1965; Walker and Ni 2011). Everything happens in whitened
coordinates and is measured there, so the units of the columns do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from icsa.errors import ConvergenceError
from icsa.matrices import Matrix, Vector
from icsa.scatters.mixing import Mixer
from icsa.scatters.whitening import whitened

__all__ = ["MAX_ITERATIONS", "TOLERANCE", "Evaluate", "Move", "Solution", "UnsolvedError", "solve"]

# Largest departure from the defining equations, in whitened coordinates, that counts as solved.
TOLERANCE = 1e-11
MAX_ITERATIONS = 1000

_NEAR = 0.5  # residual below which steps are accelerated
_PATIENCE = 12  # accelerated steps without a new best before plain ones take over again
_STRAINED = 1e-2  # ratio of pivots at which plain steps end in renewed coordinates
_DISTORTED = 1e-6  # the same in the middle of plain steps
_ROUNDING = 20.0  # multiple of the tolerance that will do when no step gets any closer
_RAISE = 1e-8  # added to a proposal that is singular in floating point
_COLLAPSED = 1e-13  # ratio of pivots, against the start, at which the scatter has become singular


class Move(NamedTuple):
    """What one substitution proposes, in coordinates in which the present estimate is (0, I).

    Attributes
    ----------
    shift : ndarray of shape (p,)
        New location.
    change : ndarray of shape (p, p)
        New scatter minus I.
    residual : float
        How far the defining equations are from holding.
    """

    shift: Vector
    change: Matrix
    residual: float


class Solution(NamedTuple):
    """A location, a lower triangular factor of the scatter, and the substitutions that it took."""

    location: Vector
    factor: Matrix
    iterations: int


class UnsolvedError(ConvergenceError):
    """The equations could not be solved; carries the last location and factor, which show why."""

    def __init__(self, location: Vector, factor: Matrix, iterations: int) -> None:
        super().__init__(f"No solution after {iterations} iterations.")
        self.location = location
        self.factor = factor
        self.iterations = iterations


# Takes base coordinates (p, n), and A and b of the map y -> A y - b into present coordinates.
Evaluate = Callable[[Matrix, Matrix, Vector], Move]


class _Leg(NamedTuple):
    """Where a part of the search that was done in the same coordinates ended."""

    location: Vector
    factor: Matrix
    move: Move
    steps: int
    outcome: Literal["solved", "near", "strained", "stalled"]


def solve(
    rows: Matrix,
    evaluate: Evaluate,
    location: Vector,
    factor: Matrix,
    *,
    gains: tuple[float, float] = (1.0, 1.0),
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> Solution:
    """Return the location and the scatter's factor at which a substitution changes nothing.

    Parameters
    ----------
    rows : ndarray of shape (p, n)
        The table, columns-first.
    evaluate : callable
        ``evaluate(base, a, b) -> Move``: one substitution for the rows ``a @ base - b``.
    location, factor : ndarray
        The start: a location and a lower triangular factor of a scatter.
    gains : (float, float)
        By how much location and scatter steps are stretched near the solution.
    tolerance : float
        Largest residual of a solution; up to twenty times as much where rounding allows no better.
    max_iterations : int
        Substitutions allowed.

    Raises
    ------
    UnsolvedError
        When the scatter becomes singular or `max_iterations` is reached.

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0]])
    >>> def mean_and_variance(base, a, b):
    ...     y = a @ base - b[:, None]
    ...     mean, change = y.mean(axis=1), y @ y.T / 2 - 1
    ...     return Move(mean, change, float(abs(mean[0]) + abs(change[0, 0])))
    >>> solution = solve(rows, mean_and_variance, np.zeros(1), np.eye(1))
    >>> bool(abs(solution.location[0] - 2.0) < 1e-9)
    True
    """
    near, steps, total = _NEAR, 0, np.eye(location.size)
    while steps < max_iterations:
        base = whitened(rows - location[:, None], factor)
        leg = _approach(evaluate, base, max(near, tolerance), max_iterations - steps)
        if leg.outcome == "near":
            leg = _accelerate(evaluate, base, leg, gains, tolerance, max_iterations - steps)
        steps += leg.steps
        location, factor = location + factor @ leg.location, factor @ leg.factor
        if leg.outcome == "solved":
            return Solution(location, factor, steps)
        total = total @ leg.factor
        if not _ratio(total) > _COLLAPSED:
            break
        if leg.outcome == "stalled":
            near = 0.1 * leg.move.residual
    raise UnsolvedError(location, factor, steps)


def _approach(evaluate: Evaluate, base: Matrix, near: float, limit: int) -> _Leg:
    """Substitute plainly until the residual is below `near` or the coordinates have become poor."""
    p = base.shape[0]
    location, factor = np.zeros(p), np.eye(p)
    for step in range(1, limit + 1):
        move = evaluate(base, *_transform(location, factor))
        if move.residual < near:
            strained = _ratio(factor) < _STRAINED
            return _Leg(location, factor, move, step, "strained" if strained else "near")
        if _ratio(factor) < _DISTORTED:
            break
        proposal = np.eye(p) + move.change
        root, failed = dpotrf(proposal, lower=1, clean=1)
        if failed:  # all rows look alike from here: flatten the scatter only so far
            root = dpotrf(proposal + _RAISE * np.eye(p), lower=1, clean=1)[0]
        location, factor = location + factor @ move.shift, factor @ root
    return _Leg(location, factor, move, step, "strained")


def _accelerate(
    evaluate: Evaluate,
    base: Matrix,
    leg: _Leg,
    gains: tuple[float, float],
    tolerance: float,
    limit: int,
) -> _Leg:
    """Stretch and mix substitutions until solved; stall when that makes no progress."""
    entry, mixer = leg.move.residual, Mixer(leg.location, leg.factor)
    location, factor, move = leg.location, leg.factor, leg.move
    best, best_step = leg, leg.steps
    for step in range(leg.steps, limit + 1):
        if move.residual < best.move.residual:
            best, best_step = _Leg(location, factor, move, step, "stalled"), step
        if move.residual <= tolerance:
            root = dpotrf(np.eye(location.size) + move.change, lower=1, clean=1)[0]
            return _Leg(location + factor @ move.shift, factor @ root, move, step, "solved")
        if not move.residual <= 2.0 * entry or step - best_step > _PATIENCE:
            break
        location, scatter = mixer.next(factor, gains[0] * move.shift, gains[1] * move.change)
        factor, failed = dpotrf(scatter, lower=1, clean=1)
        if failed:
            break
        move = evaluate(base, *_transform(location, factor))
    good = best.move.residual <= _ROUNDING * tolerance
    return best._replace(steps=step, outcome="solved" if good else "stalled")


def _transform(location: Vector, factor: Matrix) -> tuple[Matrix, Vector]:
    """Return (A, b) such that A y - b = L^-1 (y - location)."""
    inverse = dtrtri(factor, lower=1)[0]
    return inverse, inverse @ location


def _ratio(factor: Matrix) -> float:
    """Return the smallest over the largest pivot of a triangular factor."""
    pivots = np.abs(np.diagonal(factor))
    return float(pivots.min() / pivots.max())
