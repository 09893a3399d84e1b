"""Kernels that map rows to scores and back, in blocks: the same digits with any threads."""

from __future__ import annotations

import numpy as np

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector

__all__ = ["rows_of", "scores_of"]

# Rows at a time: a block of scores stays in the first cache.
_BLOCK = 64


@kernel
def scores_of(
    x: Matrix, location: Vector, factor: Matrix, rotation: Matrix, scores: Matrix, first: int
) -> None:
    """Set scores[:, first + i] to rotation' factor^-1 (x_i - location) for every row i of x.

    `factor` is lower triangular and solved with, not inverted: the scores keep the digits that
    x has in units of its spread.
    """
    n, p = x.shape
    whitened = np.empty((p, _BLOCK))
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for i in range(size):
            for j in range(p):
                whitened[j, i] = x[start + i, j] - location[j]
        for j in range(p):
            target = whitened[j]
            for k in range(j):
                weight, source = factor[j, k], whitened[k]
                if weight != 0.0:
                    for i in range(size):
                        target[i] -= weight * source[i]
            for i in range(size):
                target[i] /= factor[j, j]
        for j in range(p):
            out = scores[j, first + start : first + start + size]
            for i in range(size):
                out[i] = rotation[0, j] * whitened[0, i]
            for k in range(1, p):
                weight, source = rotation[k, j], whitened[k]
                for i in range(size):
                    out[i] += weight * source[i]


@kernel
def rows_of(scores: Matrix, mixing: Matrix, location: Vector, out: Matrix) -> None:
    """Set out (columns, n) to mixing z_i + location for every column i of scores (p, n).

    `out` may be `scores` where it has as many rows.
    """
    p, n = scores.shape
    block = np.empty((p, _BLOCK))
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for k in range(p):
            for i in range(size):
                block[k, i] = scores[k, start + i]
        for j in range(mixing.shape[0]):
            target = out[j, start : start + size]
            for i in range(size):
                target[i] = location[j]
            for k in range(p):
                weight, source = mixing[j, k], block[k]
                for i in range(size):
                    target[i] += weight * source[i]
