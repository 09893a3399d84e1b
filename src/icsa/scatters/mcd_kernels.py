"""Kernels of the minimum covariance determinant: starts, moments, distances, selection.

Tables are stored columns first, (p, n), so that every inner loop runs over rows and vectorises. A
subset is an ascending list of row numbers; all that is computed from a subset is then the same to
the last bit, and its objective identifies it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.compilation import inlined_kernel, kernel, summing_kernel
from icsa.mapping import BLOCK, add_products
from icsa.matrices import Matrix, Vector

__all__ = [
    "Rows",
    "distances",
    "draw_balls",
    "draw_subsets",
    "nearest",
    "select",
    "shared_rows",
    "subset_moments",
    "whitener",
]

Rows = npt.NDArray[np.int64]

# Rows whose products are summed at a time, so that their columns stay in the nearest cache.
_AT_A_TIME = 256
# A pivot this small against its own variance is rounding error, not variance.
_SINGULAR = 1e-13


@kernel
def draw_subsets(n: int, first: int, seed: int, subsets: Rows) -> None:
    """Fill `subsets` (count, size) with random row numbers, distinct within a subset.

    These are the subsets number first, first + 1, ... of the seed's: each depends on the seed and
    its number alone.
    """
    count, size = subsets.shape
    state = np.uint64(seed) + np.uint64(first * size) * np.uint64(0x9E3779B97F4A7C15)
    order, swapped = np.empty(n, np.int64), np.empty(size, np.int64)
    for i in range(n):
        order[i] = i
    for s in range(count):
        for i in range(size):
            # SplitMix64: one addition and two mixing multiplications a word.
            state += np.uint64(0x9E3779B97F4A7C15)
            word = state
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word = word ^ (word >> np.uint64(31))
            j = i + np.int64((word >> np.uint64(11)) % np.uint64(n - i))
            order[i], order[j] = order[j], order[i]
            subsets[s, i], swapped[i] = order[i], j
        for i in range(size - 1, -1, -1):
            j = swapped[i]
            order[i], order[j] = order[j], order[i]


@summing_kernel
def subset_moments(
    xt: Matrix, rows: Rows, count: int, gathered: Matrix, mean: Vector, cross: Matrix
) -> None:
    """Set `mean` and the centred cross-products `cross` of rows[:count]."""
    p = xt.shape[0]
    for j in range(p):
        column, target = xt[j], gathered[j]
        total = 0.0
        for i in range(count):
            target[i] = column[rows[i]]
            total += target[i]
        centre = total / count
        mean[j] = centre
        for i in range(count):
            target[i] -= centre
        for k in range(p):
            cross[j, k] = 0.0
    for start in range(0, count, _AT_A_TIME):
        stop = min(start + _AT_A_TIME, count)
        for j in range(0, p, 2):  # two columns by two: each is loaded once for two products
            a, b = gathered[j, start:stop], gathered[min(j + 1, p - 1), start:stop]
            for k in range(0, j + 1, 2):
                c, d = gathered[k, start:stop], gathered[min(k + 1, p - 1), start:stop]
                ac, ad, bc, bd = 0.0, 0.0, 0.0, 0.0
                for i in range(stop - start):
                    ac += a[i] * c[i]
                    ad += a[i] * d[i]
                    bc += b[i] * c[i]
                    bd += b[i] * d[i]
                cross[j, k] += ac
                if j + 1 < p:
                    cross[j + 1, k] += bc
                    cross[j + 1, k + 1] += bd
                if k < j:
                    cross[j, k + 1] += ad
    for j in range(p):
        for k in range(j):
            cross[k, j] = cross[j, k]


@summing_kernel
def whitener(cross: Matrix, count: int, w: Matrix) -> float:
    """Set `w` to the inverse Cholesky factor of cross/(count - 1); return log det or -inf.

    Rows of the transposed factor are sums of those above, two of which are taken at a time.
    """
    p = cross.shape[0]
    log_det = 0.0
    scale = 1.0 / (count - 1.0)
    upper = np.empty((p, p))
    for j in range(p):
        target, given = upper[j, j:], cross[j, j:]
        for c in range(p - j):
            target[c] = given[c] * scale
        for k in range(0, j - 1, 2):
            s0, s1, a0, a1 = upper[k, j:], upper[k + 1, j:], upper[k, j], upper[k + 1, j]
            for c in range(p - j):
                target[c] -= a0 * s0[c] + a1 * s1[c]
        if j % 2 == 1:
            s0, a0 = upper[j - 1, j:], upper[j - 1, j]
            for c in range(p - j):
                target[c] -= a0 * s0[c]
        if not target[0] > _SINGULAR * cross[j, j] * scale:
            return -np.inf
        log_det += np.log(target[0])
        inverse = 1.0 / np.sqrt(target[0])
        for c in range(p - j):
            target[c] *= inverse
    for j in range(p):
        target, inverse = w[j], 1.0 / upper[j, j]
        for k in range(p):
            target[k] = 0.0
        for m in range(0, j - 1, 2):
            s0, s1, a0, a1 = w[m], w[m + 1], upper[m, j] * inverse, upper[m + 1, j] * inverse
            for k in range(m + 2):
                target[k] -= a0 * s0[k] + a1 * s1[k]
        if j % 2 == 1:
            s0, a0 = w[j - 1], upper[j - 1, j] * inverse
            for k in range(j):
                target[k] -= a0 * s0[k]
        target[j] = inverse
    return log_det


@kernel
def distances(xt: Matrix, mean: Vector, w: Matrix, squared: Vector) -> None:
    """Set `squared` to the squared length of w (x_i - mean) for every row i."""
    p, n = xt.shape
    centred, one, two = np.empty((p, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        block = squared[start : start + size]
        for i in range(size):
            block[i] = 0.0
        for j in range(p):
            column, target = xt[j, start : start + size], centred[j]
            for i in range(size):
                target[i] = column[i] - mean[j]
        for j in range(0, p - 1, 2):
            add_two_squares(w[j], w[j + 1], centred, j, size, one, two, block)
        if p % 2 == 1:
            last = centred[p - 1]
            for i in range(size):
                one[i] = w[p - 1, p - 1] * last[i]
            add_products(w[p - 1], centred, p - 1, size, one)
            for i in range(size):
                block[i] += one[i] * one[i]
        for i in range(size):  # what overflowed is far away, so that every row has a rank
            if not block[i] < np.inf:
                block[i] = np.inf


@inlined_kernel
def add_two_squares(
    w0: Vector,
    w1: Vector,
    centred: Matrix,
    j: int,
    size: int,
    one: Vector,
    two: Vector,
    block: Vector,
) -> None:
    """Add the squares of coordinates j and j + 1, with weights w0 and w1, to the block.

    Two at a time: what they are sums of is loaded once for both.
    """
    s0, s1 = centred[j], centred[j + 1]
    for i in range(size):
        one[i] = w0[j] * s0[i]
        two[i] = w1[j] * s0[i] + w1[j + 1] * s1[i]
    k = 0
    while k + 3 < j:
        s0, s1, s2, s3 = centred[k], centred[k + 1], centred[k + 2], centred[k + 3]
        a0, a1, a2, a3 = w0[k], w0[k + 1], w0[k + 2], w0[k + 3]
        b0, b1, b2, b3 = w1[k], w1[k + 1], w1[k + 2], w1[k + 3]
        for i in range(size):
            one[i] += a0 * s0[i] + a1 * s1[i] + a2 * s2[i] + a3 * s3[i]
            two[i] += b0 * s0[i] + b1 * s1[i] + b2 * s2[i] + b3 * s3[i]
        k += 4
    while k < j:
        s0, a0, b0 = centred[k], w0[k], w1[k]
        for i in range(size):
            one[i] += a0 * s0[i]
            two[i] += b0 * s0[i]
        k += 1
    for i in range(size):
        block[i] += one[i] * one[i] + two[i] * two[i]


@kernel
def select(values: Vector, low: int | np.int64, high: int | np.int64, rank: int) -> None:
    """Reorder values[low..high] so that the one of this rank is in its place (quickselect).

    Values are swapped whether they are small or not, and counted if they are: which ones are is
    unpredictable, and a wrong guess costs more than a swap.
    """
    while low < high:
        first, last = values[low], values[high]
        middle = values[(low + high) // 2]
        pivot = max(min(first, last), min(max(first, last), middle))
        below = low
        for i in range(low, high + 1):
            value = values[i]
            values[i] = values[below]
            values[below] = value
            below += value < pivot
        if rank < below:
            high = below - 1
            continue
        equal = below
        for i in range(below, high + 1):
            value = values[i]
            values[i] = values[equal]
            values[equal] = value
            equal += value == pivot
        if rank < equal:
            return
        low = equal


@inlined_kernel
def nearest(squared: Vector, h: int, scratch: Vector, rows: Rows) -> None:
    """Set rows[:h] to the h nearest rows, ascending; ties go to the lower row number."""
    n = squared.shape[0]
    for i in range(n):
        scratch[i] = squared[i]
    select(scratch, np.int64(0), n - 1, h - 1)
    threshold = scratch[h - 1]
    below = 0
    for i in range(n):
        below += squared[i] < threshold
    ties = h - below
    filled, i = 0, 0
    while filled < h and i < n:  # branch-free but for ties: which rows are near is unpredictable
        rows[filled] = i
        filled += squared[i] < threshold
        if squared[i] == threshold and ties > 0:
            ties -= 1
            filled += 1
        i += 1


@kernel
def shared_rows(first: Rows, second: Rows, n: int, starts: Rows, sizes: Rows) -> None:
    """Set starts[s] to the rows that first[s] and second[s] share, then the others of first[s].

    `sizes` becomes how many they share. All subsets are ascending, and so are both parts.
    """
    inside = np.zeros(n, np.int64)
    for s in range(first.shape[0]):
        h = first.shape[1]
        for i in range(h):
            inside[second[s, i]] = s + 1
        shared = 0
        for i in range(h):
            if inside[first[s, i]] == s + 1:
                starts[s, shared] = first[s, i]
                shared += 1
        sizes[s] = shared
        for i in range(h):
            if inside[first[s, i]] != s + 1:
                starts[s, shared] = first[s, i]
                shared += 1


@kernel
def draw_balls(z: Matrix, centres: Rows, h: int, subsets: Rows) -> None:
    """Set each subsets[s] to the h columns of `z` nearest to column centres[s, 0], ascending."""
    p, n = z.shape
    squared, scratch = np.empty(n), np.empty(n)
    for s in range(centres.shape[0]):
        for i in range(n):
            squared[i] = 0.0
        for j in range(p):
            column, centre = z[j], z[j, centres[s, 0]]
            for i in range(n):
                squared[i] += (column[i] - centre) ** 2
        nearest(squared, h, scratch, subsets[s])
