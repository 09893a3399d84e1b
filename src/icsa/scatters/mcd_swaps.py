"""Kernels that swap rows at the border of a subset, as long as its determinant falls.

The rows at the border enter only through their inner products under the subset's covariance, and a
swap changes these by a matrix of rank two: once they are known, a swap costs a few hundred
operations, whatever the size of the table.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.compilation import inlined_kernel
from icsa.matrices import Matrix, Vector
from icsa.scatters.mcd_kernels import Rows, select

__all__ = [
    "best_exchange",
    "border",
    "exchange",
    "inner_products",
    "replace_rows",
    "swap_chain",
]

# A chain ends when it is this many h-ths above the best that it has met. Of those that came back
# in normal, tied and heavy-tailed tables, 99% had not climbed so far.
_CLIMB = 5.0


@inlined_kernel
def border(squared: Vector, scratch: Vector, rows: Rows, names: Rows) -> None:
    """Set `names` to the q farthest of the `rows` inside and the q nearest of those outside.

    `scratch` is what `nearest` left: the h smallest distances first. Ties may stand on both sides.
    """
    n, h, q = squared.shape[0], rows.shape[0], names.shape[0] // 2
    select(scratch, np.int64(0), h - 1, h - q)
    select(scratch, h, n - 1, h + q - 1)
    nearest_inside, farthest_outside = scratch[h - q], scratch[h + q - 1]
    passed, inside, outside = 0, 0, q
    for i in range(n):
        if passed < h and rows[passed] == i:
            passed += 1
            if inside < q and squared[i] >= nearest_inside:
                names[inside] = i
                inside += 1
        elif outside < 2 * q and squared[i] <= farthest_outside:
            names[outside] = i
            outside += 1


@inlined_kernel
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
    for j in range(0, p, 4):  # four coordinates at a time: the products are loaded once for them
        r0, r1 = whitened[j], whitened[min(j + 1, p - 1)]
        r2, r3 = whitened[min(j + 2, p - 1)], whitened[min(j + 3, p - 1)]
        s1, s2, s3 = scale * (j + 1 < p), scale * (j + 2 < p), scale * (j + 3 < p)
        for c in range(size):
            v0, v1, v2, v3 = scale * r0[c], s1 * r1[c], s2 * r2[c], s3 * r3[c]
            row = gram[c]
            for d in range(size):
                row[d] += v0 * r0[d] + v1 * r1[d] + v2 * r2[d] + v3 * r3[d]


@inlined_kernel
def best_exchange(gram: Matrix, h: int, locked: npt.NDArray[np.bool_]) -> tuple[float, int, int]:
    """Return the least factor by which a swap of two rows changes the determinant, and the swap.

    With A the subset's cross-products, a = u'A^-1 u for the row u that comes in, b = v'A^-1 v for
    the row v that goes out, and c = u'A^-1 v, all centred, the factor is ::

        1 + a (1 - 1/h) - b (1 + 1/h) + 2 c/h - a b + c^2
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


@inlined_kernel
def exchange(gram: Matrix, h: int, v: int, u: int, names: Rows, work: Matrix) -> None:
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
    by_u, by_v, shift = work[0], work[1], work[2]
    for c in range(size):
        by_u[c], by_v[c] = gram[u, c], gram[v, c]
    # What the update without the move of the mean makes of row u less row v.
    f = k00 * (by_u[u] - by_u[v]) + k01 * (by_v[u] - by_v[v])
    g = k01 * (by_u[u] - by_u[v]) + k11 * (by_v[u] - by_v[v])
    for c in range(size):
        shift[c] = (by_u[c] - by_v[c] - f * by_u[c] - g * by_v[c]) / h
    own = (shift[u] - shift[v]) / h
    for c in range(size):
        f = k00 * by_u[c] + k01 * by_v[c]
        g = k01 * by_u[c] + k11 * by_v[c]
        level, row = own - shift[c], gram[c]
        for d in range(size):
            row[d] += level - shift[d] - f * by_u[d] - g * by_v[d]
    for c in range(size):  # the two change places: inside rows stay first
        gram[c, u], gram[c, v] = gram[c, v], gram[c, u]
    for c in range(size):
        gram[u, c], gram[v, c] = gram[v, c], gram[u, c]
    names[u], names[v] = names[v], names[u]


@inlined_kernel
def swap_chain(gram: Matrix, h: int, names: Rows, best_names: Rows, longest: int) -> bool:
    """Make a chain of best swaps at the border; return whether it helps, and set `best_names`.

    As in Kernighan and Lin's heuristic a row moves once at most, and the chain may climb before it
    falls: the best prefix counts. It finds what single swaps miss. Chains that climb far do not
    come back.
    """
    q = gram.shape[0] // 2
    locked, work = np.zeros(2 * q, np.bool_), np.empty((3, 2 * q))
    product, lowest, helps = 1.0, 1.0 - 1e-10, False
    for _ in range(longest):
        ratio, v, u = best_exchange(gram, h, locked)
        product *= ratio
        exchange(gram, h, v, u, names, work)
        if product < lowest:
            lowest, helps = product, True
            for c in range(2 * q):
                best_names[c] = names[c]
        elif product > lowest * (1.0 + _CLIMB / h):
            break
        locked[v], locked[u] = True, True
    return helps


@inlined_kernel
def replace_rows(rows: Rows, names: Rows, inside: npt.NDArray[np.bool_]) -> None:
    """Put the first half of `names` into the ascending `rows`, the other half out of them."""
    for i in range(inside.shape[0]):
        inside[i] = False
    for i in range(rows.shape[0]):
        inside[rows[i]] = True
    for i in range(names.shape[0]):
        inside[names[i]] = i < names.shape[0] // 2
    filled = 0
    for i in range(inside.shape[0]):
        if inside[i]:
            rows[filled] = i
            filled += 1
