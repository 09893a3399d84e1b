"""Logistic regression by Newton's method, as the propensity of a row to be a released one."""

from __future__ import annotations

import numpy as np

from icsa.correlations import varies
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector

__all__ = ["full_rank_scores", "logistic_coefficients", "logistic_probabilities"]

_LEAST_EIGENVALUE = 1e-9
_MOST_STEPS = 60
_TOLERANCE = 1e-10


def full_rank_scores(x: Matrix) -> Matrix:
    """Return the columns' span as uncorrelated scores of mean 0 and variance 1.

    Directions with less than 1e-9 of the largest variance among standardised columns are left out:
    they are exact relations between columns, and rounding.

    Examples
    --------
    The third column is the sum of the others:

    >>> x = np.array([[1.0, 2.0, 3.0], [2.0, 0.0, 2.0], [4.0, 1.0, 5.0], [3.0, 3.0, 6.0]])
    >>> full_rank_scores(x).shape
    (4, 2)
    """
    varying = x[:, varies(x)]
    centred = varying - varying.mean(axis=0)
    scaled = centred / centred.std(axis=0)
    values, vectors = np.linalg.eigh(scaled.T @ scaled / max(x.shape[0], 1))
    kept = values > _LEAST_EIGENVALUE * values.max(initial=0.0)
    scores: Matrix = scaled @ (vectors[:, kept] / np.sqrt(values[kept]))
    return scores


def logistic_coefficients(x: Matrix, labels: Vector, *, ridge: float = 1e-4) -> Vector:
    """Return b0, b1, ... that maximise sum_i log P(labels_i) - ridge |b1, ...|^2 / 2.

    P(1) = 1 / (1 + exp(-b0 - x'b)). The small ridge (x should have about unit variance) keeps the
    coefficients finite where the labels can be told apart without error.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_features)
    labels : ndarray of shape (n_rows,)
        0 or 1, both of them there.
    ridge : float
        Above 0.

    Examples
    --------
    Two groups with odds 1/3 and 3: b0 = -log 3, b1 = 2 log 3 = 2.197.

    >>> x = np.repeat([0.0, 1.0], 4)[:, None]
    >>> logistic_coefficients(x, np.array([0.0, 0, 0, 1, 0, 1, 1, 1]), ridge=1e-9).round(3)
    array([-1.099,  2.197])
    """
    share = float(labels.mean()) if labels.size else 0.0
    if not 0.0 < share < 1.0:
        raise InputError("Logistic regression needs rows of both kinds: there is only one.")
    design = np.column_stack([np.ones(x.shape[0]), x])
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 0.0
    b = np.zeros(design.shape[1])
    b[0] = np.log(share / (1.0 - share))
    height = _likelihood(design @ b, labels) - 0.5 * float(penalty @ b**2)
    for _ in range(_MOST_STEPS):
        probabilities = _sigmoid(design @ b)
        gradient = design.T @ (labels - probabilities) - penalty * b
        weights = np.maximum(probabilities * (1.0 - probabilities), 1e-12)
        step = np.linalg.solve((design.T * weights) @ design + np.diag(penalty), gradient)
        factor, before = 1.0, height
        while True:
            height = _likelihood(design @ (b + factor * step), labels)
            height -= 0.5 * float(penalty @ (b + factor * step) ** 2)
            if height >= before or factor < 1e-6:
                break
            factor *= 0.5
        b = b + factor * step
        if height - before <= _TOLERANCE * labels.size:
            break
    return b


def logistic_probabilities(coefficients: Vector, x: Matrix) -> Vector:
    """Return P(1) of every row for coefficients of `logistic_coefficients`.

    Examples
    --------
    >>> logistic_probabilities(np.array([0.0, 1.0]), np.array([[0.0], [np.log(3.0)]]))
    array([0.5 , 0.75])
    """
    return _sigmoid(coefficients[0] + x @ coefficients[1:])


def _sigmoid(score: Vector) -> Vector:
    return 0.5 * (1.0 + np.tanh(0.5 * score))


def _likelihood(score: Vector, labels: Vector) -> float:
    return float(labels @ score - np.logaddexp(0.0, score).sum())
