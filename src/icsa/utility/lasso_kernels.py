"""Kernels that follow the lasso's path from knot to knot, from the normal equations alone.

Between two knots the active set A and its signs s stay, and the solution is a line in lambda::

    b_A(lambda) = u - lambda d,             G_AA u = c_A,  G_AA d = s,
    c_j - G_j b(lambda) = w_j + lambda a_j,  w = c - G_A u,  a = G_A d.

Lambda falls to the next knot: an active coefficient reaches 0 and is dropped, or an inactive
column's correlation with the residual reaches the bound lambda and the column joins. Every line is
solved from G and c afresh, so nothing adds up along the path; and what would break the conditions
of Karush, Kuhn and Tucker is a knot, at once if need be, so ties need no rule of their own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.compilation import kernel, summing_kernel
from icsa.matrices import Matrix, Vector

__all__ = [
    "DEPENDENT",
    "back_substitute",
    "drop",
    "emit",
    "extend_factor",
    "fold_equations",
    "follow_path",
    "join",
    "next_join",
    "next_knot",
    "squared_errors",
]

# Of a column's variance, what the active columns must leave unexplained for it to be able to join.
DEPENDENT = 1e-12

# What a column is: `state` holds one of these, or the position of an active column.
_INACTIVE = -1
_BLOCKED = -2

_Places = npt.NDArray[np.int64]


@kernel
def extend_factor(
    gram: Matrix, sides: Matrix, active: _Places, first: int, count: int, lower: Matrix
) -> bool:
    """Set the rows first..count-1 of the Cholesky factor of the active columns' Gram matrix.

    Row i of `lower` has the factor's row in its first p places, then the two right-hand sides
    (`sides`: c and the signs, by column) solved forward. Return whether the last column is
    independent of those before it.
    """
    p = gram.shape[0]
    independent = True
    for i in range(first, count):
        column, row = active[i], lower[i]
        source = gram[column]
        row[p], row[p + 1] = sides[0, column], sides[1, column]
        pivot = source[column]
        for j in range(i):
            other = lower[j]
            value = source[active[j]]
            for k in range(j):
                value -= row[k] * other[k]
            value /= other[j]
            row[j] = value
            pivot -= value * value
            row[p] -= value * other[p]
            row[p + 1] -= value * other[p + 1]
        least = DEPENDENT * source[column]
        independent = pivot > least
        row[i] = np.sqrt(max(pivot, least))
        row[p] /= row[i]
        row[p + 1] /= row[i]
    return independent


@kernel
def back_substitute(lower: Matrix, count: int, u: Vector, d: Vector) -> None:
    """Set u and d, by position in the active set, from the forward solutions in `lower`."""
    p = lower.shape[1] - 2
    for i in range(count):
        u[i], d[i] = lower[i, p], lower[i, p + 1]
    for i in range(count - 1, -1, -1):
        row = lower[i]
        u[i] /= row[i]
        d[i] /= row[i]
        u_i, d_i = u[i], d[i]
        for j in range(i):
            u[j] -= row[j] * u_i
            d[j] -= row[j] * d_i


@kernel
def next_join(
    gram: Matrix, c: Vector, active: _Places, count: int, u: Vector, d: Vector, lines: Matrix
) -> None:
    """Set lines[0] to the knots at which columns reach the bound (0: never), lines[1] to w."""
    p = c.size
    a, w = lines[0], lines[1]
    for j in range(p):
        a[j], w[j] = 0.0, c[j]
    for i in range(count):
        row, u_i, d_i = gram[active[i]], u[i], d[i]
        for j in range(p):
            w[j] -= u_i * row[j]
            a[j] += d_i * row[j]
    for j in range(p):  # the bound of w's own sign is the only one that is met above 0
        room = 1.0 - a[j] if w[j] > 0.0 else 1.0 + a[j]
        a[j] = abs(w[j]) / room if room > 0.0 else 0.0


@kernel
def next_knot(
    lines: Matrix, state: _Places, signs: Vector, u: Vector, d: Vector
) -> tuple[float, int]:
    """Return the largest lambda at which a column joins or is dropped, and that column."""
    knot, event = 0.0, -1
    for j in range(state.size):
        at, i = 0.0, state[j]
        if i == _INACTIVE:
            at = lines[0, j]
        elif i >= 0 and signs[j] * d[i] < 0.0:
            at = u[i] / d[i]
        if at > knot:
            knot, event = at, j
    return knot, event


@kernel
def join(
    gram: Matrix,
    sides: Matrix,
    active: _Places,
    state: _Places,
    count: int,
    column: int,
    sign: float,
    lower: Matrix,
) -> int:
    """Make a column active, or block it where it depends on those; return the new count.

    A blocked column stays on the bound with the columns that it depends on: no condition breaks.
    """
    active[count] = column
    sides[1, column] = sign
    if extend_factor(gram, sides, active, count, count + 1, lower):
        state[column] = count
        return count + 1
    state[column] = _BLOCKED
    return count


@kernel
def drop(
    gram: Matrix,
    sides: Matrix,
    active: _Places,
    state: _Places,
    count: int,
    column: int,
    lower: Matrix,
) -> int:
    """Make an active column inactive, and the blocked ones too; return the new count."""
    first = state[column]
    for i in range(first, count - 1):
        active[i] = active[i + 1]
        state[active[i]] = i
    state[column] = _INACTIVE
    for j in range(state.size):
        if state[j] == _BLOCKED and gram[j, j] > DEPENDENT:
            state[j] = _INACTIVE
    extend_factor(gram, sides, active, first, count - 1, lower)
    return count - 1


@kernel
def emit(
    lambdas: Vector,
    done: int,
    knot: float,
    active: _Places,
    count: int,
    signs: Vector,
    u: Vector,
    d: Vector,
    coefficients: Matrix,
) -> int:
    """Set the rows of all lambdas from the knot upwards that are not done; return how many are."""
    while done < lambdas.size and lambdas[done] >= knot:
        row = coefficients[done]
        for i in range(count):
            value, column = u[i] - lambdas[done] * d[i], active[i]
            if value * signs[column] > 0.0:  # else it is 0, but for rounding
                row[column] = value
        done += 1
    return done


@kernel
def follow_path(
    gram: Matrix, c: Vector, lambdas: Vector, most_knots: int, coefficients: Matrix
) -> int:
    """Set row l of `coefficients` (zeros) to the lasso at lambdas[l], which fall.

    Return the number of rows that `most_knots` steps sufficed for.
    """
    p = c.size
    active, state = np.empty(p, np.int64), np.empty(p, np.int64)
    lower, lines, sides = np.empty((p, p + 2)), np.empty((2, p)), np.zeros((2, p))
    u, d, signs = np.empty(p), np.empty(p), sides[1]
    for j in range(p):
        sides[0, j] = c[j]
        state[j] = _INACTIVE if gram[j, j] > DEPENDENT else _BLOCKED
    # A bare 0 is a type of its own, for which every kernel called would be compiled once more.
    count, done, above = 0 * p, 0 * p, np.inf
    for _ in range(most_knots):
        back_substitute(lower, count, u, d)
        next_join(gram, c, active, count, u, d, lines)
        knot, event = next_knot(lines, state, signs, u, d)
        above = min(knot, above)  # what is due already is due now
        done = emit(lambdas, done, above, active, count, signs, u, d, coefficients)
        if done == lambdas.size:
            break
        if state[event] >= 0:
            count = drop(gram, sides, active, state, count, event, lower)
        else:
            sign = 1.0 if lines[1, event] > 0.0 else -1.0
            count = join(gram, sides, active, state, count, event, sign, lower)
    return done


@kernel
def fold_equations(
    total: Matrix, own: Matrix, rescale: bool, gram: Matrix, moments: Vector, around: Matrix
) -> None:
    """Set what a fold needs, from the cross-products of (x, y, 1) in all rows and in its `own`.

    `gram` and `moments` are the others' covariances of x, and of x with y; `around` the fold's mean
    products of (x, y) about the others' means. With `rescale` x is in units of the others' spread.
    """
    q = total.shape[0] - 1
    n_own, n = own[q, q], total[q, q] - own[q, q]
    mean, own_mean, unit = np.empty(q), np.empty(q), np.ones(q)
    for j in range(q):
        mean[j], own_mean[j] = (total[q, j] - own[q, j]) / n, own[q, j] / n_own
        variance = (total[j, j] - own[j, j]) / n - mean[j] * mean[j]
        # Where only this fold varies, the others' variance is rounding: the unit stays.
        if rescale and j < q - 1 and variance > DEPENDENT:
            unit[j] = 1.0 / np.sqrt(variance)
    for j in range(q):
        for k in range(q):
            units = unit[j] * unit[k]
            value = ((total[j, k] - own[j, k]) / n - mean[j] * mean[k]) * units
            if j < q - 1 and k < q - 1:
                gram[j, k] = value
            elif j < q - 1:
                moments[j] = value
            away = (own_mean[j] - mean[j]) * (own_mean[k] - mean[k])
            around[j, k] = (own[j, k] / n_own - own_mean[j] * own_mean[k] + away) * units


@summing_kernel
def squared_errors(coefficients: Matrix, products: Matrix, errors: Vector) -> None:
    """Set errors[l] to the mean of (y - x'b)^2, b row l, from mean products of (x, y)."""
    p = coefficients.shape[1]
    response = products[p]
    for row in range(errors.size):
        b = coefficients[row]
        half = 0.5 * response[p]
        for j in range(p):
            if b[j] != 0.0:
                source = products[j]
                value = 0.5 * b[j] * source[j] - response[j]
                for k in range(j):
                    value += source[k] * b[k]
                half += b[j] * value
        errors[row] = 2.0 * half if half > 0.0 else 0.0
