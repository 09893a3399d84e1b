"""One substitution of an M-estimate: weighted mean and scatter of whitened rows."""

from __future__ import annotations

import math

import numpy as np

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector, row_blocks
from icsa.scatters.fixed_point import Evaluate, Move

__all__ = ["finish", "substitution"]

# Rows that are weighted at a time: they stay in the cache.
_BLOCK = 1 << 12


def substitution(top: float, bottom: float, *, location_power: float, average: bool) -> Evaluate:
    """Return the substitution of an M-estimate with scatter weights w(d) = top / (bottom + d).

    With y the whitened rows, d their squared lengths and v the `location_power` of w, it proposes
    the location ``sum v(d) y / sum v(d)`` and the scatter ``sum w(d) y y' / n``, with `average`
    divided by ``sum w(d)`` instead of n. Rows with bottom + d = 0 have weight 0.

    Parameters
    ----------
    top, bottom : float
        The scatter weights' constants.
    location_power : {0.0, 0.5, 1.0}
        0 leaves the location where it is; 1/2 gives v = sqrt(w), 1 gives v = w.
    average : bool
        Whether the scatter is a weighted average.

    Returns
    -------
    callable
        ``evaluate(base, a, b) -> Move`` for `icsa.scatters.fixed_point.solve`.

    Examples
    --------
    >>> evaluate = substitution(2.0, 1.0, location_power=1.0, average=True)
    >>> move = evaluate(np.array([[0.0, 1.0]]), np.eye(1), np.zeros(1))
    >>> move.shift.round(4), move.change.round(4)
    (array([0.3333]), array([[-0.6667]]))
    """
    full = location_power == 1.0

    def evaluate(base: Matrix, a: Matrix, b: Vector) -> Move:
        sums, squares, location = np.zeros(3), np.zeros(a.shape), np.zeros(b.size)
        for block in row_blocks(base.shape[1], _BLOCK):
            y = a @ base[:, block]
            pull = _weigh(y, b, top, bottom, full, sums)
            squares += y @ y.T
            if location_power:
                location += y @ pull
        residual = finish(squares, location, sums, average)
        return Move(location, squares, residual)

    return evaluate


@kernel
def _weigh(y: Matrix, b: Vector, top: float, bottom: float, full: bool, sums: Vector) -> Vector:
    """Subtract `b` from the rows of the (p, n) array `y` and multiply by root = sqrt(w), in place.

    Returns v / root for each row, v = w (`full`) or root; adds sum w, sum v and the number of
    rows with w > 0 to `sums`.
    """
    p, n = y.shape
    root, ones = np.zeros(n), np.ones(n)
    for j in range(p):
        for i in range(n):
            y[j, i] -= b[j]
            root[i] += y[j, i] * y[j, i]
    for i in range(n):
        if bottom + root[i] > 0.0:
            root[i] = math.sqrt(top / (bottom + root[i]))
            sums[0] += root[i] * root[i]
            sums[1] += root[i] * root[i] if full else root[i]
            sums[2] += 1.0
    for j in range(p):
        for i in range(n):
            y[j, i] *= root[i]
    return root if full else ones


@kernel
def finish(squares: Matrix, location: Vector, sums: Vector, average: bool) -> float:
    """Turn sums into a proposal, in place: `squares` to its mean minus I, `location` to its mean.

    `sums` holds the sums of w and v and the number of rows; the scatter's mean is over sum w
    (`average`) or the rows. Returns the residual: the larger of the lengths of `squares` over
    sqrt(p) and sum v y over the rows.
    """
    p = location.size
    total = sums[0] if average else sums[2]
    scatter, shift = 0.0, 0.0
    for j in range(p):
        for k in range(p):
            squares[j, k] /= total
        squares[j, j] -= 1.0
        for k in range(p):
            scatter += squares[j, k] * squares[j, k]
        shift += location[j] * location[j]
        location[j] /= sums[1]
    return max(math.sqrt(scatter / p), math.sqrt(shift) / float(sums[2]))
