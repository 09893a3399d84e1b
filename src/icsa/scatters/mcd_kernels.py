"""Kernels of the minimum covariance determinant: moments, distances, selection, C-steps, exchanges.

Tables are stored columns first, (p, n), so that every inner loop runs over rows and vectorises. A
subset is an ascending list of row numbers; all that is computed from a subset is then the same to
the last bit, and its objective identifies it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.compilation import kernel, summing_kernel
from icsa.mapping import BLOCK, add_products
from icsa.matrices import Matrix, Vector

__all__ = [
    "Rows",
    "best_exchange",
    "border",
    "descend",
    "distances",
    "draw_subsets",
    "exchange",
    "inner_products",
    "nearest",
    "replace_rows",
    "select",
    "subset_moments",
    "swap_chain",
    "whitener",
]

Rows = npt.NDArray[np.int64]

# A pivot this small against its own variance is rounding error, not variance.
_SINGULAR = 1e-13


@kernel
def draw_subsets(n: int, size: int, count: int, seed: int, subsets: Rows) -> None:
    """Fill `subsets` (count, size) with random row numbers, distinct within a subset."""
    state = np.uint64(seed)
    order = np.empty(n, np.int64)
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
            subsets[s, i] = order[i]


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
        k = 0
        while k < j:  # two columns at a time: the target is loaded once for both
            first, second = gathered[k], gathered[k + 1]
            total, other = 0.0, 0.0
            for i in range(count):
                total += target[i] * first[i]
                other += target[i] * second[i]
            cross[j, k], cross[k, j] = total, total
            cross[j, k + 1], cross[k + 1, j] = other, other
            k += 2
        if k == j:
            total = 0.0
            for i in range(count):
                total += target[i] * target[i]
            cross[j, j] = total


@summing_kernel
def whitener(cross: Matrix, count: int, w: Matrix) -> float:
    """Set `w` to the inverse Cholesky factor of cross/(count - 1); return log det or -inf."""
    p = cross.shape[0]
    log_det = 0.0
    scale = 1.0 / (count - 1.0)
    factor = np.empty((p, p))
    for j in range(p):
        for k in range(j + 1):
            total = cross[j, k] * scale
            for m in range(k):
                total -= factor[j, m] * factor[k, m]
            if k < j:
                factor[j, k] = total / factor[k, k]
            else:
                if not total > _SINGULAR * cross[j, j] * scale:
                    return -np.inf
                log_det += np.log(total)
                factor[j, j] = np.sqrt(total)
    for j in range(p):
        target = w[j]
        for k in range(p):
            target[k] = 0.0
        for m in range(j):
            weight, source = factor[j, m], w[m]
            for k in range(m + 1):
                target[k] -= weight * source[k]
        for k in range(j):
            target[k] /= factor[j, j]
        target[j] = 1.0 / factor[j, j]
    return log_det


@kernel
def distances(xt: Matrix, mean: Vector, w: Matrix, squared: Vector) -> None:
    """Set `squared` to the squared length of w (x_i - mean) for every row i."""
    p, n = xt.shape
    centred = np.empty((p, BLOCK))
    coordinate = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        block = squared[start : start + size]
        for i in range(size):
            block[i] = 0.0
        for j in range(p):
            column, target = xt[j, start : start + size], centred[j]
            for i in range(size):
                target[i] = column[i] - mean[j]
                coordinate[i] = w[j, j] * target[i]
            add_products(w[j], centred, j, size, coordinate)
            for i in range(size):
                block[i] += coordinate[i] * coordinate[i]


@kernel
def select(values: Vector, low: int | np.int64, high: int, rank: int) -> None:
    """Reorder values[low..high] so that the one of this rank is in its place (quickselect)."""
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            return


@kernel
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
def border(squared: Vector, scratch: Vector, h: int, names: Rows) -> bool:
    """Set `names` to the q farthest rows inside and the q nearest rows outside.

    `scratch` is what `nearest` left: the h smallest distances first.
    """
    n = squared.shape[0]
    q = names.shape[0] // 2
    select(scratch, np.int64(0), h - 1, h - q)
    select(scratch, h, n - 1, h + q - 1)
    threshold, farthest = scratch[h - 1], scratch[h + q - 1]
    inside, outside = 0, q
    for i in range(n):
        if squared[i] < scratch[h - q] or squared[i] > farthest:
            continue
        if squared[i] <= threshold:
            if inside < q:
                names[inside] = i
                inside += 1
        elif outside < 2 * q:
            names[outside] = i
            outside += 1
    return bool(outside == 2 * q and inside == q)


@summing_kernel
def inner_products(
    xt: Matrix,
    mean: Vector,
    w: Matrix,
    names: Rows,
    scale: float,
    whitened: Matrix,
    gram: Matrix,
) -> None:
    """Set `gram` to scale times the inner products of the whitened rows `names`."""
    p = xt.shape[0]
    size = names.shape[0]
    for j in range(p):
        for c in range(size):
            whitened[j, c] = xt[j, names[c]] - mean[j]
    for j in range(p - 1, -1, -1):  # from the last down, in place: w is lower triangular
        target = whitened[j]
        for c in range(size):
            target[c] *= w[j, j]
        for k in range(j):
            source, weight = whitened[k], w[j, k]
            for c in range(size):
                target[c] += weight * source[c]
    for c in range(size):
        for d in range(size):
            gram[c, d] = 0.0
    for j in range(p):
        row = whitened[j]
        for c in range(size):
            value = scale * row[c]
            for d in range(size):
                gram[c, d] += value * row[d]


@kernel
def best_exchange(gram: Matrix, h: int, locked: npt.NDArray[np.bool_]) -> tuple[float, int, int]:
    """Return the least factor by which a swap of two rows changes the determinant, and the swap.

    With a = u'A^-1 u for the row u that comes in, b = v'A^-1 v for the row v that goes out, c =
    u'A^-1 v, all centred, A the subset's cross-products: 1 + a (1 - 1/h) - b (1 + 1/h) + 2 c/h - a
    b + c^2.
    """
    q = gram.shape[0] // 2
    best, leaving, entering = np.inf, -1, -1
    for v in range(q):
        if locked[v]:
            continue
        b = gram[v, v]
        for u in range(q, 2 * q):
            a, c = gram[u, u], gram[v, u]
            ratio = 1.0 + a * (1.0 - 1.0 / h) - b * (1.0 + 1.0 / h + a) + c * (2.0 / h + c)
            if ratio < best and not locked[u]:
                best, leaving, entering = ratio, v, u
    return best, leaving, entering


@kernel
def exchange(gram: Matrix, h: int, v: int, u: int, names: Rows) -> None:
    """Swap the rows v (inside) and u (outside): `gram` becomes that of the new subset.

    A changes by D C D' with D = (u, v), C = [[1 - 1/h, 1/h], [1/h, -1 - 1/h]] of determinant -1
    (Woodbury), and the mean by (u - v)/h.
    """
    size = gram.shape[0]
    m00 = 1.0 + 1.0 / h + gram[u, u]
    m01 = 1.0 / h + gram[u, v]
    m11 = 1.0 / h - 1.0 + gram[v, v]
    determinant = m00 * m11 - m01 * m01
    k00, k01, k11 = m11 / determinant, -m01 / determinant, m00 / determinant
    by_u, by_v, shift = np.empty(size), np.empty(size), np.empty(size)
    for c in range(size):
        by_u[c], by_v[c] = gram[u, c], gram[v, c]
    for c in range(size):
        f = k00 * by_u[c] + k01 * by_v[c]
        g = k01 * by_u[c] + k11 * by_v[c]
        for d in range(size):
            gram[c, d] -= f * by_u[d] + g * by_v[d]
    for c in range(size):
        shift[c] = (gram[u, c] - gram[v, c]) / h
    own = (shift[u] - shift[v]) / h
    for c in range(size):
        for d in range(size):
            gram[c, d] += own - shift[c] - shift[d]
    for c in range(size):  # the two change places: inside rows stay first
        gram[c, u], gram[c, v] = gram[c, v], gram[c, u]
    for c in range(size):
        gram[u, c], gram[v, c] = gram[v, c], gram[u, c]
    names[u], names[v] = names[v], names[u]


@kernel
def swap_chain(gram: Matrix, h: int, names: Rows, pairs: Rows) -> int:
    """Make a chain of best swaps at the border; return the length of its best prefix.

    As in Kernighan and Lin's heuristic a row moves once at most, and the chain may climb before it
    falls: the best prefix counts. It finds what single swaps miss.
    """
    q = gram.shape[0] // 2
    locked = np.zeros(2 * q, np.bool_)
    product, lowest, taken = 1.0, 1.0 - 1e-10, 0
    for swap in range(pairs.shape[0]):
        ratio, v, u = best_exchange(gram, h, locked)
        product *= ratio
        pairs[swap, 0], pairs[swap, 1] = names[v], names[u]
        if product < lowest:
            lowest, taken = product, swap + 1
        exchange(gram, h, v, u, names)
        locked[v], locked[u] = True, True
    return taken


@kernel
def replace_rows(rows: Rows, pairs: Rows, taken: int, inside: npt.NDArray[np.bool_]) -> None:
    """Replace pairs[:taken, 0] by pairs[:taken, 1] in the ascending `rows`."""
    for i in range(inside.shape[0]):
        inside[i] = False
    for i in range(rows.shape[0]):
        inside[rows[i]] = True
    for i in range(taken):
        inside[pairs[i, 0]], inside[pairs[i, 1]] = False, True
    filled = 0
    for i in range(inside.shape[0]):
        if inside[i]:
            rows[filled] = i
            filled += 1


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
                if known or q == 0 or not border(squared, scratch, h, names):
                    break
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
