"""Anderson mixing of the steps of a fixed-point iteration for a location and a scatter.

With estimates t and steps f(t), the next estimate is t + f less the combination of the last
changes of both whose part of the step is largest: the least-squares fit of f on the changes of f
(Anderson 1965).
"""

from __future__ import annotations

import math

import numpy as np

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector

__all__ = ["Mixer"]

_DEPTH = 8  # changes that are combined


class Mixer:
    """Anderson mixing: the combination of the last estimates whose step would be shortest."""

    def __init__(self, location: Vector, factor: Matrix) -> None:
        self.columns = p = location.size
        size = p * (p + 1)
        self.estimate = np.concatenate([location, (factor @ factor.T).ravel()])
        self.step = np.empty(size)
        self.previous = np.empty((2, size))
        self.steps, self.sums = np.zeros((size, _DEPTH)), np.zeros((size, _DEPTH))
        self.gram, self.none = np.eye(_DEPTH), np.zeros(_DEPTH)
        self.seen = 0

    def next(self, factor: Matrix, shift: Vector, change: Matrix) -> tuple[Vector, Matrix]:
        """Return the next location and scatter, given the step in units of `factor`."""
        p, step = self.columns, self.step
        np.dot(factor, shift, out=step[:p])
        np.dot(factor @ change, factor.T, out=step[p:].reshape(p, p))
        slot = self.seen % _DEPTH
        share = self.none
        if self.seen:
            _remember(self.estimate, step, self.previous, self.steps, self.sums, slot)
            share = _shares(step, self.steps, self.gram, slot)
        _advance(self.estimate, step, self.previous, self.sums, share)
        self.seen += 1
        return self.estimate[:p].copy(), self.estimate[p:].reshape(p, p)


@kernel
def _remember(
    estimate: Vector, step: Vector, previous: Matrix, steps: Matrix, sums: Matrix, slot: int
) -> None:
    """Store the change of the step, of length one, in `steps`; plus the estimate's in `sums`."""
    length = 0.0
    for k in range(step.size):
        steps[k, slot] = step[k] - previous[1, k]
        length += steps[k, slot] * steps[k, slot]
    scale = 1.0 / math.sqrt(length) if length > 0.0 else 0.0
    for k in range(step.size):
        steps[k, slot] *= scale
        sums[k, slot] = steps[k, slot] + scale * (estimate[k] - previous[0, k])


@kernel
def _shares(step: Vector, steps: Matrix, gram: Matrix, slot: int) -> Vector:
    """Return the least-squares coefficients of `step` on the columns of `steps`.

    Of `gram`, which holds the products of these columns, row and column `slot` are renewed.
    """
    depth = steps.shape[1]
    share, product = np.zeros(depth), np.zeros(depth)
    for k in range(step.size):
        for row in range(depth):
            share[row] += steps[k, row] * step[k]
            product[row] += steps[k, row] * steps[k, slot]
    for row in range(depth):
        gram[row, slot] = gram[slot, row] = product[row]
    gram[slot, slot] = 1.0
    _solve_in_place(gram.copy(), share)
    return share


@kernel
def _advance(estimate: Vector, step: Vector, previous: Matrix, sums: Matrix, share: Vector) -> None:
    """Move `previous` to (estimate, step), and `estimate` to estimate + step - sums share."""
    for k in range(step.size):
        previous[0, k] = estimate[k]
        previous[1, k] = step[k]
        mixed = estimate[k] + step[k]
        for row in range(share.size):
            mixed -= sums[k, row] * share[row]
        estimate[k] = mixed


@kernel
def _solve_in_place(a: Matrix, b: Vector) -> None:
    """Replace `b` by the solution of A z = b, A a correlation matrix; spoils `a`."""
    for j in range(b.size):
        a[j, j] += 1e-13  # nearly equal columns share their coefficient
        for i in range(j + 1, b.size):
            ratio = a[i, j] / a[j, j]
            b[i] -= ratio * b[j]
            for k in range(j + 1, b.size):
                a[i, k] -= ratio * a[j, k]
    for j in range(b.size - 1, -1, -1):
        for k in range(j + 1, b.size):
            b[j] -= a[j, k] * b[k]
        b[j] /= a[j, j]
