"""The lasso and its cross-validation by the exact path, from cross-products alone.

With predictors scaled by their population standard deviation (divisor n) and a centred response,
the lasso of n rows is::

    b(lambda) = argmin  |y - X b|^2 / (2 n) + lambda |b|_1,

the scaling of glmnet and of scikit-learn. Rows are read once, for the cross-products of each fold;
a fold's fit needs only those of the other folds, and its error only its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from icsa.errors import ConvergenceError, InputError
from icsa.matrices import Matrix, Vector, as_matrix
from icsa.utility.lasso_fold_kernels import (
    add_fold_products,
    fold_equations,
    path_errors,
    squared_errors,
    standardize,
)
from icsa.utility.lasso_kernels import follow_path, settled

__all__ = [
    "Convention",
    "LassoFit",
    "LassoPath",
    "cross_validated_lasso",
    "lasso_path",
    "random_folds",
]

Convention: TypeAlias = Literal["scikit-learn", "glmnet"]

# A correlation below this is rounding: the response is then unrelated to every predictor.
_NO_CORRELATION = 1e-13
# Ties that make the path go in circles are broken by moving the correlations by this much.
_NUDGES = (0.0, 1e-12, 1e-10, 1e-8)
_GOLDEN = 0.6180339887498949

# Where glmnet ends its path (see `stop_early`): most explained, least gain, fewest lambdas.
_SETTLED = 0.999, 1e-5, 5


@dataclass(frozen=True, eq=False)
class LassoPath:
    """The lasso at a falling sequence of lambdas.

    Attributes
    ----------
    lambdas : ndarray of shape (n_lambdas,)
        From the least lambda at which all coefficients are 0 downwards, evenly in the logarithm.
        All 0 where every lambda has the same fit: a constant response, or constant predictors.
    coefficients : ndarray of shape (n_lambdas, n_columns)
        In the units of the data, not of the scaled predictors.
    intercepts : ndarray of shape (n_lambdas,)
    """

    lambdas: Vector
    coefficients: Matrix
    intercepts: Vector


@dataclass(frozen=True, eq=False)
class LassoFit:
    """The lasso at the lambda of least cross-validated error.

    Attributes
    ----------
    coefficients : ndarray of shape (n_columns,)
        In the units of the data, not of the scaled predictors.
    intercept : float
    lambda_ : float
        The chosen one of `lambdas`; of several with the same error the largest.
    selected : ndarray of bool, of shape (n_columns,)
        Which coefficients are not 0.
    cv_errors : ndarray of shape (n_lambdas,)
        Mean squared error of prediction in the folds that a fit has not seen.
    lambdas : ndarray of shape (n_lambdas,)
    """

    coefficients: Vector
    intercept: float
    lambda_: float
    selected: npt.NDArray[np.bool_]
    cv_errors: Vector
    lambdas: Vector


def random_folds(
    n_rows: int, n_folds: int, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return a random fold 0..n_folds-1 for every row; the folds' sizes differ by at most one.

    Parameters
    ----------
    n_rows : int
    n_folds : int
        From 2 to `n_rows`.
    generator : numpy.random.Generator

    Returns
    -------
    ndarray of int64, of shape (n_rows,)

    Examples
    --------
    >>> folds = random_folds(7, 3, np.random.default_rng(0))
    >>> np.bincount(folds)
    array([3, 2, 2])
    """
    if not 2 <= n_folds <= n_rows:
        raise InputError(
            f"{n_folds} folds of {n_rows} row(s): from 2 folds to one for every row are possible. "
            "Choose fewer folds, or give more rows."
        )
    return generator.permutation(np.arange(n_rows, dtype=np.int64) % n_folds)


def lasso_path(x: object, y: object, *, n_lambdas: int = 100, ratio: float = 1e-4) -> LassoPath:
    """Return the lasso of `y` on the columns of `x` along a sequence of lambdas.

    The path is exact: followed from knot to knot, not iterated to a tolerance. Where predictors
    are linearly dependent and the lasso is not unique, one of its solutions is returned; equal
    columns are represented by one of them. A constant predictor has the coefficient 0.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        Predictors; two rows or more.
    y : array-like of shape (n_rows,)
        Response.
    n_lambdas : int
        Number of lambdas, two or more.
    ratio : float
        The least lambda as a share of the largest, between 0 and 1.

    Returns
    -------
    LassoPath

    Examples
    --------
    The predictor has the standard deviation 1 and the correlation 2 with the response: the
    coefficient at lambda is 2 - lambda.

    >>> path = lasso_path([[-1.0], [1.0]], [3.0, 7.0], n_lambdas=3, ratio=0.01)
    >>> path.lambdas
    array([2.  , 0.2 , 0.02])
    >>> path.coefficients[:, 0], path.intercepts
    (array([0.  , 1.8 , 1.98]), array([5., 5., 5.]))
    """
    data = _standardized(x, y)
    gram, moments = _normal_equations(data.rows.T @ data.rows)
    lambdas = _lambdas(moments, n_lambdas, ratio)
    coefficients = _follow(gram, moments, lambdas).T * data.units
    return LassoPath(lambdas * data.spread, coefficients, data.intercept(coefficients))


def cross_validated_lasso(
    x: object,
    y: object,
    *,
    folds: npt.ArrayLike,
    n_lambdas: int = 100,
    ratio: float = 1e-4,
    convention: Convention = "scikit-learn",
    stop_early: bool = False,
) -> LassoFit:
    """Return the lasso of `y` on the columns of `x` at the lambda of least cross-validated error.

    The lambdas are those of `lasso_path` on all rows. Every fold is predicted from fits, one at
    each of them, to the rows of the other folds, centred anew.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        Predictors; two rows or more.
    y : array-like of shape (n_rows,)
        Response.
    folds : array-like of int, of shape (n_rows,)
        The fold 0, 1, ... of every row, as from `random_folds`; no fold may be empty.
    n_lambdas, ratio
        As for `lasso_path`.
    convention : {"scikit-learn", "glmnet"}
        In which two programs differ. ``"scikit-learn"``: predictors are scaled once, by all rows;
        the error is the mean of the folds' mean squared errors (``LassoCV`` on scaled predictors).
        ``"glmnet"``: they are scaled anew for every fit, and a fold's error weighs as much as it
        has rows (``cv.glmnet``).
    stop_early : bool
        Whether the lambdas end, as they do by default in glmnet, once the fit to all rows explains
        99.9% of the variance or the next lambda, from the fifth on, adds less than 1e-5 of what is
        explained. With columns that nearly determine each other this keeps fits sparser.

    Returns
    -------
    LassoFit

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(60, 4)) * [1, 10, 100, 1000]
    >>> y = 5 + 3 * x[:, 0] - 0.02 * x[:, 2] + 0.1 * rng.normal(size=60)
    >>> fit = cross_validated_lasso(x, y, folds=random_folds(60, 10, rng))
    >>> fit.coefficients[[0, 2]].round(2), round(fit.intercept, 1)
    (array([ 2.99, -0.02]), 5.0)
    >>> bool(fit.cv_errors.min() < 0.02)
    True
    """
    if convention not in get_args(Convention):
        known = ", ".join(get_args(Convention))
        raise InputError(f"No convention {convention!r} of cross-validation. Known: {known}.")
    data = _standardized(x, y)
    products = _fold_products(data.rows, _checked_folds(folds, data.rows.shape[0]))
    total = products.sum(axis=0)
    gram, moments = _normal_equations(total)
    lambdas = _lambdas(moments, n_lambdas, ratio)
    path = _follow(gram, moments, lambdas)
    if stop_early:
        lambdas = lambdas[: settled(path, lambdas, moments, *_SETTLED)]
    errors = _fold_errors(products, total, lambdas, rescale=convention == "glmnet")
    sizes = products[:, -1, -1] if convention == "glmnet" else np.ones(errors.shape[0])
    cv_errors = sizes @ errors / sizes.sum()
    best = int(cv_errors.argmin())
    coefficients = path[:, best] * data.units
    return LassoFit(
        coefficients=coefficients,
        intercept=float(data.intercept(coefficients)),
        lambda_=float(lambdas[best] * data.spread),
        selected=coefficients != 0.0,
        cv_errors=cv_errors * data.spread**2,
        lambdas=lambdas * data.spread,
    )


@dataclass(frozen=True, eq=False)
class _Standardized:
    """Rows of predictors and response (mean 0, variance 1) and a 1; and the way back."""

    rows: Matrix
    location: Vector
    centre: float
    spread: float
    units: Vector  # a coefficient in the data's units, for 1 in standardized ones

    def intercept(self, coefficients: Matrix) -> Vector:
        """Return the intercepts that go with (rows of) coefficients in the data's units."""
        return np.asarray(self.centre - coefficients @ self.location)


def _standardized(x: object, y: object) -> _Standardized:
    matrix = as_matrix(x, minimum_rows=2)
    n, p = matrix.shape
    rows = np.empty((n, p + 2))
    rows[:, :p] = matrix
    rows[:, p] = _response(y, n)
    rows[:, p + 1] = 1.0
    location, scale = np.empty(p + 1), np.empty(p + 1)
    standardize(rows, location, scale)
    if not np.isfinite(scale).all():
        raise InputError(
            "The squares of a column's or the response's deviations are too large for floating "
            "point (about 1e308). Use larger units."
        )
    scale[scale == 0.0] = 1.0
    return _Standardized(
        rows=rows,
        location=location[:p],
        centre=float(location[p]),
        spread=float(scale[p]),
        units=scale[p] / scale[:p],
    )


def _response(y: object, n_rows: int) -> Vector:
    response = np.asarray(y)
    if response.shape != (n_rows,):
        raise InputError(
            f"The response has the shape {response.shape}; one value for each of the {n_rows} rows "
            "is needed. Give one column of the same rows."
        )
    try:
        numbers = response.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("The response does not hold numbers. Convert it to float first.") from None
    bad = n_rows - int(np.isfinite(numbers).sum())
    if bad:
        raise InputError(
            f"The response: {bad} of {n_rows} values are missing or infinite. Leave these rows out."
        )
    return numbers


def _checked_folds(folds: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.int64]:
    labels = np.asarray(folds)
    if labels.shape != (n_rows,) or labels.dtype.kind not in "iu":
        raise InputError(
            f"The folds have the shape {labels.shape} and the type {labels.dtype}; one integer for "
            f"each of the {n_rows} rows is needed. random_folds makes them."
        )
    sizes = np.bincount(labels) if labels.min() >= 0 and labels.max() < n_rows else np.zeros(1)
    if sizes.size < 2 or not sizes.all():
        raise InputError(
            "The folds must be 0, 1, ... k-1 with k of 2 or more, each with a row at least. "
            "Number them anew: np.unique(folds, return_inverse=True)[1]."
        )
    return labels.astype(np.int64)


def _lambdas(moments: Vector, n_lambdas: int, ratio: float) -> Vector:
    """Return the lambdas for a standardized response; all 0 where nothing correlates with it."""
    if n_lambdas < 2:
        raise InputError(
            f"n_lambdas is {n_lambdas}; 2 or more are needed. The usual number is 100."
        )
    if not 0.0 < ratio < 1.0:
        raise InputError(f"ratio is {ratio}; it must lie between 0 and 1. The usual one is 1e-4.")
    largest = float(np.abs(moments).max())
    if largest < _NO_CORRELATION:
        return np.zeros(n_lambdas)
    return largest * _shares_of_the_largest(n_lambdas, ratio)


@cache
def _shares_of_the_largest(n_lambdas: int, ratio: float) -> Vector:
    return np.asarray(ratio ** (np.arange(n_lambdas) / (n_lambdas - 1)))


def _fold_products(rows: Matrix, folds: npt.NDArray[np.int64]) -> Matrix:
    """Return the columns' cross-products in each fold, of shape (folds, columns, columns)."""
    products = np.zeros((int(folds.max()) + 1, rows.shape[1], rows.shape[1]))
    add_fold_products(rows, folds, products)
    return products


def _normal_equations(products: Matrix) -> tuple[Matrix, Vector]:
    """Return the predictors' correlations, with each other and with the response."""
    n_rows = products[-1, -1]
    return products[:-2, :-2] / n_rows, products[:-2, -2] / n_rows


def _follow(gram: Matrix, moments: Vector, lambdas: Vector) -> Matrix:
    """Return the lasso at each of the falling lambdas, a column each."""
    n_lambdas, p = lambdas.size, moments.size
    if lambdas[0] == 0.0:
        return np.zeros((p, n_lambdas))
    for nudge in _NUDGES:
        moved = moments
        if nudge:  # multiples of the golden section, modulo 1, are never very close to each other
            moved = moments * (1.0 - nudge * np.modf(np.arange(1, p + 1) * _GOLDEN)[0])
        coefficients = np.zeros((p, n_lambdas))
        if follow_path(gram, moved, lambdas, _most_knots(p), coefficients) == n_lambdas:
            return coefficients
    raise ConvergenceError(
        f"The lasso's path has more than {_most_knots(p)} knots for {p} column(s). "
        "Leave out columns that others determine, or choose a larger ratio."
    )


def _most_knots(n_columns: int) -> int:
    """Return a number of knots that only a path in circles exceeds: usual are 1 to 5 a column."""
    return 200 + 40 * n_columns


def _fold_errors(products: Matrix, total: Matrix, lambdas: Vector, *, rescale: bool) -> Matrix:
    """Return the mean squared errors in each fold (row) of the others' fit at each lambda."""
    p, n_folds = total.shape[0] - 2, products.shape[0]
    errors = np.zeros((n_folds, lambdas.size))
    if lambdas[0] == 0.0:  # nothing correlates with the response: every fit is 0
        lambdas = np.full_like(lambdas, np.inf)
    follow = partial(path_errors, total, products)
    done = 0
    while (done := follow(done, lambdas, rescale, _most_knots(p), errors)) < n_folds:
        gram, moments, around = np.empty((p, p)), np.empty(p), np.empty((p + 1, p + 1))
        fold_equations(total, products[done], rescale, gram, moments, around)
        squared_errors(_follow(gram, moments, lambdas), around, errors[done])
        done += 1
    return errors
