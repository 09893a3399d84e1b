"""Can a model tell released rows from original ones? The propensity mean-squared error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from icsa.comparison.column_pairs import ColumnPair, Rows, sampled
from icsa.comparison.designs import encoded
from icsa.errors import InputError, UnknownNameError
from icsa.matrices import Matrix, Vector
from icsa.measures import Estimate, Measure, NotEstimable
from icsa.utility.associations import midranks
from icsa.utility.chance import LIMIT
from icsa.utility.logistic import full_rank_scores, logistic_coefficients, logistic_probabilities

__all__ = ["Distinguishability", "Propensity", "area_under_curve", "distinguishability"]

Propensity: TypeAlias = Literal["logistic", "cart"]
_Fit: TypeAlias = Callable[[Matrix, Vector, Matrix], Vector]

_SEED = 0
_FOLDS = 5
_PERMUTATIONS = 5
# Trees are fitted (1 + permutations) x folds times.
_MOST_TREE_ROWS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinguishability:
    """What `distinguishability` found. Lower is better throughout.

    Attributes
    ----------
    model : "logistic" or "cart"
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
    deviation : Measure
        (pmse - expected) / standard deviation of pmse; only for the logistic model.
    crossfitted_pmse, crossfitted_expected, crossfitted_standardized
        The same with every p from a model that has not seen the row (5 folds).
    auc : Measure
        Area under the curve of the cross-fitted p: .5 when nothing can be told apart.
    auc_by_chance : tuple of float
        Where it lies in 95 of 100 cases for a second sample of the same population.
    """

    model: Propensity
    n_original: int
    n_released: int
    n_parameters: int | None
    pmse: Measure
    expected: float | None
    standardized: Measure
    standardized_of_a_sample: float | None
    deviation: Measure
    crossfitted_pmse: Measure
    crossfitted_expected: float | None
    crossfitted_standardized: Measure
    auc: Measure
    auc_by_chance: tuple[float, float] | None


def distinguishability(
    columns: Sequence[ColumnPair], *, model: Propensity = "logistic", max_rows: int = 20_000
) -> Distinguishability:
    """Return how well a model tells released rows from original ones, with its null expectation.

    The logistic model has the main effects of all columns. With N rows, the share c of released
    ones and k parameters, the pMSE of a release that is drawn from the original's distribution has
    mean (k - 1)(1 - c)^2 c / N and standard deviation sqrt(2 (k - 1)) (1 - c)^2 c / N [1]_, and
    S_pMSE is pMSE over that mean [2]_. A second sample of the same population also differs by the
    original's own sampling error: the mean is then 1 / (1 - c) times as large. Over f folds a
    cross-fitted model learns from (f - 1)/f of the rows, which divides the mean by that.

    For trees (scikit-learn) there is no formula: the mean comes from 5 random assignments of the
    rows to the two tables, all pMSE are cross-fitted, and 1 is a second sample.

    Parameters
    ----------
    columns : sequence of ColumnPair
    model : "logistic" or "cart"
    max_rows : int
        Of longer tables so many rows are drawn, for trees at most 5,000. S_pMSE grows with the
        number of rows, so compare only values that rest on as many.

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
    >>> print(same.pmse, same.expected, far.pmse, far.auc)
    0.00 0.000625 0.250 1.00
    """
    if model not in get_args(Propensity):
        raise UnknownNameError("propensity model", str(model), get_args(Propensity))
    if max_rows < 2 * _FOLDS:
        raise InputError(f"max_rows must be at least {2 * _FOLDS}: got {max_rows}.")
    most = max_rows if model == "logistic" else min(max_rows, _MOST_TREE_ROWS)
    design = encoded(sampled(columns, most, seed=_SEED))
    n, m = design.original.shape[0], design.released.shape[0]
    features = np.vstack([design.original, design.released])
    labels = np.repeat([0.0, 1.0], [n, m])
    reason = _why_not(n, m, features)
    if reason is not None:
        return _nothing(model, n, m, reason)
    return _logistic(features, labels) if model == "logistic" else _cart(features, labels)


def area_under_curve(scores: Vector, labels: Vector) -> Estimate:
    """Return the probability that a row of label 1 has the higher score; ties count one half.

    Examples
    --------
    Of the four pairs of a 1 and a 0 three are in order:

    >>> area_under_curve(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 1.0, 0.0, 1.0]))
    0.75
    """
    ones = int(labels.sum())
    zeros = labels.size - ones
    if not ones or not zeros:
        return NotEstimable("the curve needs rows of both kinds")
    total = float(midranks(scores[:, None])[labels == 1.0].sum())
    return (total - ones * (ones + 1) / 2) / (ones * zeros)


def _logistic(features: Matrix, labels: Vector) -> Distinguishability:
    scores = full_rank_scores(features)
    share, size, k = float(labels.mean()), labels.size, scores.shape[1] + 1
    fitted = logistic_probabilities(logistic_coefficients(scores, labels), scores)
    unit = (1.0 - share) ** 2 * share / size
    pmse, expected = _pmse(fitted, share), (k - 1) * unit
    held_out = _crossfitted(scores, labels, _logistic_fit, seed=_SEED)
    crossfitted = _pmse(held_out, share)
    crossfitted_expected = expected * _FOLDS / (_FOLDS - 1)
    return Distinguishability(
        model="logistic",
        n_original=size - int(labels.sum()),
        n_released=int(labels.sum()),
        n_parameters=k,
        pmse=_measure("pMSE", pmse, size),
        expected=expected,
        standardized=_measure("S_pMSE", pmse / expected, size),
        standardized_of_a_sample=1.0 / (1.0 - share),
        deviation=_measure(
            "pMSE in standard deviations",
            (pmse - expected) / (math.sqrt(2.0 * (k - 1)) * unit),
            size,
        ),
        crossfitted_pmse=_measure("cross-fitted pMSE", crossfitted, size),
        crossfitted_expected=crossfitted_expected,
        crossfitted_standardized=_measure(
            "cross-fitted S_pMSE", crossfitted / crossfitted_expected, size
        ),
        auc=_measure("area under the curve", area_under_curve(held_out, labels), size),
        auc_by_chance=_auc_by_chance(labels),
    )


def _cart(features: Matrix, labels: Vector) -> Distinguishability:
    from icsa.utility.learners import tree_probabilities

    share, size = float(labels.mean()), labels.size
    held_out = _crossfitted(features, labels, tree_probabilities, seed=_SEED)
    pmse = _pmse(held_out, share)
    rng = np.random.default_rng(_SEED)
    by_chance = []
    for repetition in range(_PERMUTATIONS):
        shuffled = rng.permutation(labels)
        drawn = _crossfitted(features, shuffled, tree_probabilities, seed=repetition)
        by_chance.append(_pmse(drawn, share))
    expected = float(np.mean(by_chance))
    ratio: Estimate = (
        pmse / expected if expected > 0.0 else NotEstimable("trees found no split by chance either")
    )
    no_formula = NotEstimable("trees have no formula for the spread of pMSE")
    return Distinguishability(
        model="cart",
        n_original=size - int(labels.sum()),
        n_released=int(labels.sum()),
        n_parameters=None,
        pmse=_measure("pMSE", pmse, size),
        expected=expected,
        standardized=_measure("S_pMSE", ratio, size),
        standardized_of_a_sample=1.0,
        deviation=_measure("pMSE in standard deviations", no_formula, size),
        crossfitted_pmse=_measure("cross-fitted pMSE", pmse, size),
        crossfitted_expected=expected,
        crossfitted_standardized=_measure("cross-fitted S_pMSE", ratio, size),
        auc=_measure("area under the curve", area_under_curve(held_out, labels), size),
        auc_by_chance=_auc_by_chance(labels),
    )


def _why_not(n: int, m: int, features: Matrix) -> NotEstimable | None:
    if min(n, m) < 2 * _FOLDS:
        return NotEstimable(f"both tables need at least {2 * _FOLDS} rows: got {n} and {m}")
    if not features.shape[1]:
        return NotEstimable("every column is constant")
    if n + m <= 2 * features.shape[1]:
        return NotEstimable(
            f"{features.shape[1]} features need more than {2 * features.shape[1]} rows: got {n + m}"
        )
    return None


def _nothing(model: Propensity, n: int, m: int, reason: NotEstimable) -> Distinguishability:
    pmse, ratio = _measure("pMSE", reason, n + m), _measure("S_pMSE", reason, n + m)
    return Distinguishability(
        model=model,
        n_original=n,
        n_released=m,
        n_parameters=None,
        pmse=pmse,
        expected=None,
        standardized=ratio,
        standardized_of_a_sample=None,
        deviation=_measure("pMSE in standard deviations", reason, n + m),
        crossfitted_pmse=pmse,
        crossfitted_expected=None,
        crossfitted_standardized=ratio,
        auc=_measure("area under the curve", reason, n + m),
        auc_by_chance=None,
    )


def _measure(name: str, estimate: Estimate, n: int) -> Measure:
    return Measure.of(estimate, name=name, direction="lower is better", n=n)


def _pmse(probabilities: Vector, share: float) -> float:
    return float(((probabilities - share) ** 2).mean())


def _logistic_fit(x: Matrix, labels: Vector, new: Matrix) -> Vector:
    return logistic_probabilities(logistic_coefficients(x, labels), new)


def _crossfitted(x: Matrix, labels: Vector, fit: _Fit, *, seed: int) -> Vector:
    """Return every row's probability from a model of the folds that the row is not in."""
    folds = _folds(labels, seed)
    probabilities = np.empty(labels.size)
    for fold in range(_FOLDS):
        inside = folds == fold
        probabilities[inside] = fit(x[~inside], labels[~inside], x[inside])
    return probabilities


def _folds(labels: Vector, seed: int) -> Rows:
    """Return a fold of every row, each with the same share of both labels."""
    rng = np.random.default_rng(seed)
    folds = np.empty(labels.size, dtype=np.int64)
    for label in (0.0, 1.0):
        rows = np.flatnonzero(labels == label)
        folds[rows] = rng.permutation(np.arange(rows.size) % _FOLDS)
    return folds


def _auc_by_chance(labels: Vector) -> tuple[float, float]:
    ones = int(labels.sum())
    zeros = labels.size - ones
    # Mann and Whitney's variance for two samples of one population, twice: the models of different
    # folds share rows, and with 8 to 20 features simulations gave 1.6 to 1.9 times that variance.
    half = LIMIT * math.sqrt(2.0 * (labels.size + 1) / (12.0 * ones * zeros))
    return max(0.0, 0.5 - half), min(1.0, 0.5 + half)
