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

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector

__all__ = [
    "DEPENDENT",
    "back_substitute",
    "drop",
    "emit",
    "extend_factor",
    "follow_path",
    "join",
    "next_join",
    "next_knot",
    "settled",
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

    `lower` has a row for each active column: the factor's row in the first p places, with the
    reciprocal of the pivot on the diagonal and, right of it, the factor's column; then the two
    right-hand sides (`sides`: c and the signs, by column) solved forward. Return whether the last
    column is independent of those before it.
    """
    p = gram.shape[0]
    independent = True
    for i in range(first, count):
        column, row = active[i], lower[i]
        source = gram[column]
        for j in range(i):
            row[j] = source[active[j]]
        pivot, c, sign = source[column], sides[0, column], sides[1, column]
        for j in range(i):
            other = lower[j]
            value = row[j] * other[j]
            for k in range(j + 1, i):
                row[k] -= value * other[k]
            row[j] = other[i] = value
            pivot -= value * value
            c -= value * other[p]
            sign -= value * other[p + 1]
        least = DEPENDENT * source[column]
        independent = pivot > least
        row[i] = 1.0 / np.sqrt(max(pivot, least))
        row[p], row[p + 1] = c * row[i], sign * row[i]
    return independent


@kernel
def back_substitute(lower: Matrix, count: int, u: Vector, d: Vector) -> None:
    """Set u and d, by position in the active set, from the forward solutions in `lower`."""
    p = lower.shape[1] - 2
    for i in range(count):
        u[i], d[i] = lower[i, p], lower[i, p + 1]
    for i in range(count - 1, -1, -1):
        row = lower[i]
        u_i, d_i = u[i] * row[i], d[i] * row[i]
        for j in range(i):
            u[j] -= row[j] * u_i
            d[j] -= row[j] * d_i
        u[i], d[i] = u_i, d_i


@kernel
def next_join(
    gram: Matrix, c: Vector, active: _Places, count: int, u: Vector, d: Vector, lines: Matrix
) -> None:
    """Set lines[0] to the knots at which columns reach the bound (0: never), lines[1] to w."""
    p = c.size
    a, w = lines[0], lines[1]
    for j in range(p):
        a[j], w[j] = 0.0, c[j]
    for half in range(count // 2):  # two at a time: half the way to memory and back
        i = 2 * half
        row, u_i, d_i = gram[active[i]], u[i], d[i]
        other, u_o, d_o = gram[active[i + 1]], u[i + 1], d[i + 1]
        for j in range(p):
            w[j] = w[j] - u_i * row[j] - u_o * other[j]
            a[j] = a[j] + d_i * row[j] + d_o * other[j]
    if count % 2:
        row, u_i, d_i = gram[active[count - 1]], u[count - 1], d[count - 1]
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
    """Set the columns of all lambdas from the knot upwards not yet done; return how many are."""
    end = done
    while end < lambdas.size and lambdas[end] >= knot:
        end += 1
    due = lambdas[done:end]
    for i in range(count):
        row, sign = coefficients[active[i], done:end], signs[active[i]]
        for k in range(due.size):
            value = u[i] - due[k] * d[i]
            row[k] = value if value * sign > 0.0 else 0.0  # it is 0, but for rounding
    return end


@kernel
def follow_path(
    gram: Matrix, c: Vector, lambdas: Vector, most_knots: int, coefficients: Matrix
) -> int:
    """Set column l of `coefficients` (zeros) to the lasso at lambdas[l], which fall.

    Return the number of columns that `most_knots` steps sufficed for.
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
def settled(
    coefficients: Matrix, lambdas: Vector, moments: Vector, most: float, least: float, fewest: int
) -> int:
    """Return after how many lambdas the path has settled, or the number of all.

    It has when it explains more than `most` of the variance, or when a lambda, from number `fewest`
    on, adds less than `least` of what is explained. What b explains is 2 b'c - b'Gb, and on the
    path b'(c - Gb) = lambda |b|_1.
    """
    explained = np.zeros(lambdas.size)
    for j in range(moments.size):
        b, c = coefficients[j], moments[j]
        for k in range(lambdas.size):
            explained[k] += c * b[k] + lambdas[k] * abs(b[k])
    for k in range(fewest - 1, lambdas.size):
        gain = explained[k] - explained[k - 1]
        if explained[k] > most or gain < least * explained[k]:
            return k + 1
    return lambdas.size
