"""Kernels that map rows to scores and back, in blocks: the same digits with any threads."""

from __future__ import annotations

import numpy as np

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector

__all__ = ["BLOCK", "add_products", "rows_of", "scores_of"]

# Rows at a time: a block of all columns stays in the first cache.
BLOCK = 64


@kernel
def add_products(weights: Vector, sources: Matrix, count: int, size: int, target: Vector) -> None:
    """Add weights[k] sources[k, :size] to target[:size] for every k below `count`."""
    k = 0
    while k + 3 < count:  # four at a time: fewer loads and stores of the target
        s0, s1, s2, s3 = sources[k], sources[k + 1], sources[k + 2], sources[k + 3]
        w0, w1, w2, w3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for i in range(size):
            target[i] += w0 * s0[i] + w1 * s1[i] + w2 * s2[i] + w3 * s3[i]
        k += 4
    while k < count:
        s0, w0 = sources[k], weights[k]
        for i in range(size):
            target[i] += w0 * s0[i]
        k += 1


@kernel
def scores_of(
    x: Matrix, location: Vector, factor: Matrix, rotation: Matrix, scores: Matrix, first: int
) -> float:
    """Set scores[:, first + i] to rotation factor^-1 (x_i - location) for every row i of x.

    `factor` is lower triangular and solved with, not inverted: the scores keep the digits that
    x has in units of its spread. Return 0, or NaN when a score is not finite.
    """
    n, p = x.shape
    whitened, negative = np.empty((p, BLOCK)), np.empty((p, p))
    for j in range(p):
        for k in range(p):
            negative[j, k] = -factor[j, k]
    check = 0.0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for i in range(size):
            for j in range(p):
                whitened[j, i] = x[start + i, j] - location[j]
        for j in range(p):
            target, inverse = whitened[j], 1.0 / factor[j, j]
            add_products(negative[j], whitened, j, size, target)
            for i in range(size):
                target[i] *= inverse
        for j in range(p):
            out = scores[j, first + start : first + start + size]
            for i in range(size):
                out[i] = 0.0
            add_products(rotation[j], whitened, p, size, out)
        last = scores[p - 1, first + start : first + start + size]
        for i in range(size):  # what is not finite in a row makes all of its scores so
            check += last[i] - last[i]
    return check


@kernel
def rows_of(
    scores: Matrix, mixing: Matrix, location: Vector, out: Matrix, first: int, last: int
) -> None:
    """Set out (columns, n) to mixing z_i + location for the columns first..last-1 of scores.

    `out` may be `scores` where it has as many rows.
    """
    p = scores.shape[0]
    block = np.empty((p, BLOCK))
    for start in range(first, last, BLOCK):
        size = min(BLOCK, last - start)
        for k in range(p):
            for i in range(size):
                block[k, i] = scores[k, start + i]
        for j in range(mixing.shape[0]):
            target = out[j, start : start + size]
            for i in range(size):
                target[i] = location[j]
            add_products(mixing[j], block, p, size, target)
