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
    sizes: Rows,
    h: int,
    steps: int,
    q: int,
    longest: int,
    objectives: Vector,
    subsets: Rows,
    first: int,
    halts: Vector,
    halted: Rows,
    known: int,
) -> int:
    """Take up to `steps` C-steps from every start; set each one's objective and its h rows.

    Start s, the rows starts[s, :sizes[s]], fills place first + s of `objectives` and `subsets`. A
    C-step takes the h rows nearest to the mean and covariance of the present rows; it stops when
    the objective no longer falls. With q > 0 it then swaps rows at the border, q on each side, and
    goes on from there until no chain of `longest` swaps helps. A singular start is widened by
    further rows of starts[s] until it is regular.

    C-steps halt at few subsets. `halts` holds the objectives of those met before, `known` of them,
    and `halted` who met them: from there on the way is theirs, so their end is copied. The number
    known afterwards is returned.
    """
    p, n = xt.shape
    gathered, mean = np.empty((p, n)), np.empty(p)
    cross, w = np.empty((p, p)), np.empty((p, p))
    squared, scratch = np.empty(n), np.empty(n)
    step, inside = np.empty(h, np.int64), np.empty(n, np.bool_)
    gram, names = np.empty((2 * q, 2 * q)), np.empty(2 * q, np.int64)
    best_names = np.empty(2 * q, np.int64)
    for s in range(starts.shape[0]):
        rows, size, left, place = starts[s], sizes[s], steps, first + s
        lowest, earlier = np.inf, place
        while True:
            subset_moments(xt, rows, size, gathered, mean, cross)
            log_det = whitener(cross, size, w)
            if log_det == -np.inf:
                if lowest < np.inf or size >= starts.shape[1]:
                    break
                size += 1
                continue
            halt = log_det >= lowest
            if not halt:
                if size == h:
                    lowest = log_det
                if left == 0:
                    break
                left -= 1
                distances(xt, mean, w, squared)
                nearest(squared, h, scratch, step)
                halt = size == h
                for i in range(h):
                    halt = halt and rows[i] == step[i]
                    subsets[place, i] = step[i]
                rows, size = subsets[place], h
                if not halt:
                    continue
            if q == 0:
                break
            for t in range(known):
                if halts[t] == log_det:
                    earlier = halted[t]
            if earlier < place:
                break
            if known < halts.shape[0]:
                halts[known], halted[known] = log_det, place
                known += 1
            border(squared, scratch, rows, names)
            inner_products(xt, mean, w, names, 1.0 / (h - 1.0), gathered, gram)
            if not swap_chain(gram, h, names, best_names, longest):
                break
            replace_rows(rows, best_names, inside)
            lowest = np.inf
        if earlier < place:
            objectives[place] = objectives[earlier]
            rows = subsets[earlier]
        else:  # h rows on a hyperplane are a result, fewer are no start at all
            objectives[place] = np.inf if size < h else log_det
        for i in range(min(h, size)):
            subsets[place, i] = rows[i]
    return known
