"""The kernel that takes a subset downhill: C-steps, and swaps where they end."""

from __future__ import annotations

import numpy as np

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector
from icsa.scatters.mcd_kernels import Rows, distances, nearest, subset_moments, whitener
from icsa.scatters.mcd_swaps import border, inner_products, replace_rows, swap_chain

__all__ = ["descend"]


@kernel
def descend(
    xt: Matrix,
    starts: Rows,
    start_size: int,
    h: int,
    steps: int,
    q: int,
    objectives: Vector,
    subsets: Rows,
) -> None:
    """Take up to `steps` C-steps from every start; set each one's objective and its h rows.

    A C-step takes the h rows nearest to the mean and covariance of the present rows; it stops when
    the objective no longer falls. With q > 0 it then swaps rows at the border, q on each side, and
    goes on from there until no chain of swaps helps, or where an earlier start has been. A singular
    start is widened by further rows until it is regular.
    """
    p, n = xt.shape
    gathered, mean = np.empty((p, n)), np.empty(p)
    cross, w = np.empty((p, p)), np.empty((p, p))
    squared, scratch, inside = np.empty(n), np.empty(n), np.empty(n, np.bool_)
    gram, names = np.empty((2 * q, 2 * q)), np.empty(2 * q, np.int64)
    pairs = np.empty((min(q, max(8, p // 2)), 2), np.int64)
    reached = np.empty(starts.shape[0])
    for s in range(starts.shape[0]):
        rows, size, left = starts[s], start_size, steps
        lowest, stepped = np.inf, False
        reached[s] = np.nan
        while True:
            subset_moments(xt, rows, size, gathered, mean, cross)
            log_det = whitener(cross, size, w)
            if log_det == -np.inf:
                if stepped or size == starts.shape[1]:
                    break
                size += 1
                continue
            if stepped and log_det >= lowest:
                known = False
                for t in range(s):
                    known |= reached[t] == log_det
                reached[s] = log_det
                if known or q == 0:
                    break
                border(squared, scratch, rows, names)
                inner_products(xt, mean, w, names, 1.0 / (h - 1.0), gathered, gram)
                taken = swap_chain(gram, h, names, pairs)
                if taken == 0:
                    break
                replace_rows(rows, pairs, taken, inside)
                stepped = False
                continue
            if size == h:
                lowest = log_det
            if left == 0:
                break
            left -= 1
            distances(xt, mean, w, squared)
            nearest(squared, h, scratch, subsets[s])
            rows, size, stepped = subsets[s], h, True
        # h rows on a hyperplane are a result, fewer are no start at all.
        objectives[s] = np.inf if size < h else log_det
        for i in range(min(h, size)):
            subsets[s, i] = rows[i]
