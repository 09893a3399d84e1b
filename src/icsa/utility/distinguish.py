"""Can a model tell released rows from original ones? The propensity mean-squared error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icsa.comparison.column_pairs import ColumnPair, sampled
from icsa.comparison.designs import encoded
from icsa.correlations import varies
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.measures import Estimate, Measure, NotEstimable

__all__ = [
    "Distinguishability",
    "distinguishability",
    "full_rank_scores",
    "logistic_coefficients",
    "logistic_probabilities",
]

_SEED = 0
_FEWEST_ROWS = 10
_LEAST_EIGENVALUE = 1e-9
_MOST_STEPS = 60
_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinguishability:
    """What `distinguishability` found. Lower is better throughout.

    Attributes
    ----------
    n_original, n_released : int
        Rows that were used.
    n_parameters : int or None
        Of the logistic model, with the intercept: its features without exact relations.
    pmse : Measure
        Mean of (p - c)^2 over all rows, p the probability that a row is a released one, c the
        share of released rows. Between 0 and c (1 - c).
    expected : float or None
        What pmse is on average for a release drawn from the original's own distribution.
    standardized : Measure
        pmse / expected: S_pMSE, about 1 for such a release.
    standardized_of_a_sample : float or None
        What that ratio is on average for a second sample of the same population.
    """

    n_original: int
    n_released: int
    n_parameters: int | None
    pmse: Measure
    expected: float | None
    standardized: Measure
    standardized_of_a_sample: float | None


def distinguishability(
    columns: Sequence[ColumnPair], *, max_rows: int = 20_000
) -> Distinguishability:
    """Return how well a model tells released rows from original ones, with its null expectation.

    The logistic model has the main effects of all columns. With N rows, the share c of released
    ones and k parameters, the pMSE of a release that is drawn from the original's distribution has
    mean (k - 1)(1 - c)^2 c / N [1]_, and S_pMSE is pMSE over that mean [2]_. A second sample of the
    same population also differs by the original's own sampling error: the mean is then 1 / (1 - c)
    times as large.

    Parameters
    ----------
    columns : sequence of ColumnPair
    max_rows : int
        Of longer tables so many rows are drawn. S_pMSE grows with the number of rows, so compare
        only values that rest on as many.

    Returns
    -------
    Distinguishability

    References
    ----------
    .. [1] J. Snoke, G. M. Raab, B. Nowok, C. Dibben, A. Slavkovic (2018). General and specific
       utility measures for synthetic data. Journal of the Royal Statistical Society A 181, 663-688.
    .. [2] G. M. Raab, B. Nowok, C. Dibben (2021). Assessing, visualizing and improving the utility
       of synthetic data. arXiv:2109.12717.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> x = np.arange(100.0)
    >>> same = distinguishability([numeric_column("age", x, x)])
    >>> far = distinguishability([numeric_column("age", x, x + 1000.0)])
    >>> print(same.pmse, same.expected, far.pmse)
    0.00 0.000625 0.250
    """
    if max_rows < _FEWEST_ROWS:
        raise InputError(f"max_rows must be at least {_FEWEST_ROWS}: got {max_rows}.")
    design = encoded(sampled(columns, max_rows, seed=_SEED))
    n, m = design.original.shape[0], design.released.shape[0]
    features = np.vstack([design.original, design.released])
    reason = _why_not(n, m, features)
    if reason is not None:
        return _found(n, m, None, reason, None, None)
    labels = np.repeat([0.0, 1.0], [n, m])
    scores = full_rank_scores(features)
    share, k = float(labels.mean()), scores.shape[1] + 1
    fitted = logistic_probabilities(logistic_coefficients(scores, labels), scores)
    pmse = float(((fitted - share) ** 2).mean())
    expected = (k - 1) * ((1.0 - share) ** 2 * share / (n + m))
    return _found(n, m, k, pmse, expected, 1.0 / (1.0 - share))


def _found(
    n: int, m: int, k: int | None, pmse: Estimate, expected: float | None, of_a_sample: float | None
) -> Distinguishability:
    ratio = pmse if isinstance(pmse, NotEstimable) or expected is None else pmse / expected
    return Distinguishability(
        n_original=n,
        n_released=m,
        n_parameters=k,
        pmse=Measure.of(pmse, name="pMSE", direction="lower is better", n=n + m),
        expected=expected,
        standardized=Measure.of(ratio, name="S_pMSE", direction="lower is better", n=n + m),
        standardized_of_a_sample=of_a_sample,
    )


def _why_not(n: int, m: int, features: Matrix) -> NotEstimable | None:
    if min(n, m) < _FEWEST_ROWS:
        return NotEstimable(f"both tables need at least {_FEWEST_ROWS} rows: got {n} and {m}")
    if not features.shape[1]:
        return NotEstimable("every column is constant")
    if n + m <= 2 * features.shape[1]:
        return NotEstimable(
            f"{features.shape[1]} features need more than {2 * features.shape[1]} rows: got {n + m}"
        )
    return None


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
