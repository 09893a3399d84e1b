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
    "add_fold_products",
    "back_substitute",
    "drop",
    "emit",
    "extend_factor",
    "fold_equations",
    "follow_path",
    "join",
    "next_join",
    "next_knot",
    "path_errors",
    "settled",
    "squared_errors",
    "standardize",
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


@kernel
def squared_errors(coefficients: Matrix, products: Matrix, errors: Vector) -> None:
    """Set errors[l] to the mean of (y - x'b)^2, b column l, from mean products of (x, y)."""
    p, size = coefficients.shape
    values = np.empty(size)
    for k in range(size):
        errors[k] = products[p, p]
    for j in range(p):
        first = 0
        while first < size and coefficients[j, first] == 0.0:
            first += 1
        # Parts, counted from 0: loops over indices that might be negative are not done in lanes.
        b, value, error = coefficients[j, first:], values[first:], errors[first:]
        source = products[j]
        own, with_response = source[j], 2.0 * source[p]
        for k in range(b.size):
            value[k] = own * b[k] - with_response
        for i in range(j):
            twice, other = 2.0 * source[i], coefficients[i, first:]
            for k in range(b.size):
                value[k] += twice * other[k]
        for k in range(b.size):
            error[k] += b[k] * value[k]
    for k in range(size):
        errors[k] = max(errors[k], 0.0)


@kernel
def path_errors(
    total: Matrix,
    products: Matrix,
    first: int,
    lambdas: Vector,
    rescale: bool,
    most_knots: int,
    errors: Matrix,
) -> int:
    """Set errors[k], from fold `first` on, to those of the fit to the other folds at each lambda.

    Return the first fold whose path has more knots than `most_knots`, or the number of folds.
    """
    p = total.shape[0] - 2
    gram, moments, around = np.empty((p, p)), np.empty(p), np.empty((p + 1, p + 1))
    coefficients = np.empty((p, lambdas.size))
    for fold in range(first, products.shape[0]):
        fold_equations(total, products[fold], rescale, gram, moments, around)
        coefficients[:] = 0.0
        if follow_path(gram, moments, lambdas, most_knots, coefficients) < lambdas.size:
            return fold
        squared_errors(coefficients, around, errors[fold])
    return len(products)


@kernel
def standardize(rows: Matrix, location: Vector, scale: Vector) -> None:
    """Give the columns of `rows` but the last the mean 0 and variance 1; set what these were.

    A constant column becomes exactly 0 and has exactly the scale 0.
    """
    n, p = rows.shape[0], rows.shape[1] - 1
    first, squares = rows[0].copy(), np.zeros(p)
    location[:] = 0.0
    for i in range(n):
        row = rows[i]
        for j in range(p):
            row[j] -= first[j]
            location[j] += row[j]
    for j in range(p):
        location[j] /= n
    for i in range(n):
        row = rows[i]
        for j in range(p):
            row[j] -= location[j]
            squares[j] += row[j] * row[j]
    for j in range(p):
        location[j] += first[j]
        scale[j] = np.sqrt(squares[j] / n)
        squares[j] = 1.0 / scale[j] if scale[j] > 0.0 else 1.0
    for i in range(n):
        row = rows[i]
        for j in range(p):
            row[j] *= squares[j]


@kernel
def add_fold_products(rows: Matrix, folds: _Places, products: Matrix) -> None:
    """Add the cross-products of each row's cells to its fold's matrix in `products`.

    Four rows of a fold go in at a time: a quarter of the way to memory and back.
    """
    n, q = rows.shape
    waiting, n_waiting = np.empty((products.shape[0], 4), np.int64), np.zeros(products.shape[0])
    for i in range(n):
        fold = folds[i]
        place = int(n_waiting[fold])
        waiting[fold, place] = i
        n_waiting[fold] = (place + 1) % 4
        if place == 3:
            a, b = rows[waiting[fold, 0]], rows[waiting[fold, 1]]
            c, d = rows[waiting[fold, 2]], rows[waiting[fold, 3]]
            for j in range(q):
                target = products[fold, j]
                a_j, b_j, c_j, d_j = a[j], b[j], c[j], d[j]
                for k in range(q):
                    target[k] += a_j * a[k] + b_j * b[k] + c_j * c[k] + d_j * d[k]
    for fold in range(products.shape[0]):
        for place in range(int(n_waiting[fold])):
            row = rows[waiting[fold, place]]
            for j in range(q):
                for k in range(q):
                    products[fold, j, k] += row[j] * row[k]


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
