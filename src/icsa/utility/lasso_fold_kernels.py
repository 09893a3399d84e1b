"""Kernels of cross-validation: rows once, for the cross-products of each fold, and no more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector
from icsa.utility.lasso_kernels import DEPENDENT, follow_path

__all__ = [
    "add_fold_products",
    "fold_equations",
    "path_errors",
    "squared_errors",
    "standardize",
]


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
def add_fold_products(rows: Matrix, folds: npt.NDArray[np.int64], products: Matrix) -> None:
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
