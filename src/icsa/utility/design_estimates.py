"""Means, shares and regressions of samples with a design: weights, strata, several rows a unit.

Standard errors are of the design: scores of a unit's rows are added up first, and units vary within
strata. The sum of scores s_i has the variance sum over strata of n_h / (n_h - 1) times the sum of
(s_i - mean of s in h)^2.

References
----------
Binder, D. A. (1983). On the variances of asymptotically normal estimators from complex surveys.
International Statistical Review 51, 279-292.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.comparison.column_pairs import ColumnPair
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable
from icsa.utility.estimates import AnalysisComparison, Estimated, Outcome, compare_estimates
from icsa.utility.formulas import library, read_formula
from icsa.utility.model_data import (
    ModelData,
    both_frames,
    column_names,
    model_data,
    with_common_levels,
)
from icsa.utility.models import unusable

__all__ = ["WEIGHTED_MEANS", "SampleDesign", "fit_design_models", "weighted_means"]

WEIGHTED_MEANS = "weighted means"
_NO_FIT = "the fit did not converge; a term may separate the response"
_FAMILIES = {"least squares": "Gaussian", "logistic": "Binomial", "poisson": "Poisson"}
Numbered = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class SampleDesign:
    """How the rows of one table were drawn.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,)
        NaN where a row has none and counts for nothing.
    strata, units : ndarray of int of shape (n_rows,), optional
        Which stratum and which unit each row belongs to.
    """

    weights: Vector
    strata: Numbered | None = None
    units: Numbered | None = None

    def rows(self, rows: npt.NDArray[np.bool_]) -> SampleDesign:
        """Return the design of some rows."""
        parts = (None if part is None else part[rows] for part in (self.strata, self.units))
        return SampleDesign(self.weights[rows], *parts)

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<SampleDesign of {self.weights.size} rows>"


def weighted_means(
    columns: Sequence[ColumnPair], original: SampleDesign, released: SampleDesign
) -> AnalysisComparison:
    """Return the weighted mean of every numeric column, and the shares of levels, of both tables.

    Examples
    --------
    >>> from icsa.comparison.column_pairs import numeric_column
    >>> sample = SampleDesign(np.array([1.0, 3.0]))
    >>> found = weighted_means([numeric_column("kg", [60.0, 80.0], [70.0, 70.0])], sample, sample)
    >>> found.estimates[0].original.value, found.estimates[0].released.value
    (75.0, 70.0)
    """
    both = []
    for which, sample in enumerate((original, released)):
        means: dict[str, Outcome] = {}
        for column in columns:
            cells = column.released if which else column.original
            for name, values in _indicators(column, cells):
                means[name] = _mean(values, sample)
        both.append(means)
    return compare_estimates(
        WEIGHTED_MEANS,
        *both,
        n_original=original.weights.size,
        n_released=released.weights.size,
        method="weighted",
    )


def _indicators(column: ColumnPair, cells: npt.NDArray[Any]) -> list[tuple[str, Vector]]:
    if column.levels is None:
        return [(column.name, cells)]
    return [
        (f"{column.name}[{level}]", np.where(cells < 0, np.nan, cells == code))
        for code, level in enumerate(column.levels[1:], start=1)
    ]


def _mean(values: Vector, sample: SampleDesign) -> Outcome:
    known = ~(np.isnan(values) | np.isnan(sample.weights))
    total = float(sample.weights[known].sum())
    if np.count_nonzero(known) < 2 or total <= 0.0:
        return NotEstimable("fewer than two rows have a value and a weight")
    weights, values = np.where(known, sample.weights, 0.0), np.where(known, values, 0.0)
    mean = float(weights @ values) / total
    scores = weights * (values - mean) / total
    return Estimated.of(mean, float(np.sqrt(_variance(scores[:, None], sample)[0, 0])))


def _variance(scores: Matrix, sample: SampleDesign) -> Matrix:
    """Return the variance of a sum of scores, units being drawn within strata."""
    n_rows = scores.shape[0]
    groups = np.zeros(n_rows, dtype=np.int64) if sample.strata is None else sample.strata
    if sample.units is not None:
        firsts, unit = np.unique(sample.units, return_index=True, return_inverse=True)[1:]
        added = np.zeros((firsts.size, scores.shape[1]))
        np.add.at(added, unit, scores)
        scores, groups = added, groups[firsts]
    n = np.bincount(groups)
    total = np.zeros((scores.shape[1], scores.shape[1]))
    for group in np.flatnonzero(n > 1).tolist():
        own = scores[groups == group]
        away = own - own.mean(axis=0)
        total += n[group] / (n[group] - 1.0) * (away.T @ away)
    return total


def fit_design_models(
    original: Any,
    released: Any,
    formula: str,
    samples: tuple[SampleDesign, SampleDesign],
) -> AnalysisComparison:
    """Return a regression's coefficients on both tables, with the errors of the design.

    As `icsa.utility.models.fit_models`, with a weight for each row, strata and units. Survival
    models cannot be fitted so.

    Parameters
    ----------
    original, released : data frame
        Of pandas, polars or pyarrow.
    formula : str
    samples : pair of SampleDesign
        Of the rows of both.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [0, 0, 1, 1], "y": [1.0, 2.0, 4.0, 8.0]})
    >>> sample = SampleDesign(np.array([1.0, 1.0, 3.0, 1.0]))
    >>> found = fit_design_models(frame, frame, "y ~ x", (sample, sample))
    >>> found.method, round(found.estimates[1].original.value, 6)
    ('weighted least squares', 3.5)
    """
    asked = read_formula(formula, column_names(original, "original"))
    if asked.time:
        raise InputError(
            f"The formula {formula!r}: survival models cannot be weighted by statsmodels. Leave "
            "it out, or assess without weight."
        )
    frames = with_common_levels(*both_frames(original, released, asked.columns))
    data = model_data(*frames, asked, "auto")
    before, after = (
        found
        if isinstance(found, NotEstimable)
        else _fitted(found, sample.rows(frame.notna().all(axis=1).to_numpy()))
        for frame, found, sample in zip(frames, data, samples, strict=True)
    )
    if isinstance(before, NotEstimable):
        raise unusable(asked.text, before)
    assert isinstance(data[0], ModelData)
    even = all(np.unique(sample.weights).size == 1 for sample in samples)
    return compare_estimates(
        asked.text,
        before,
        dict.fromkeys(before, after) if isinstance(after, NotEstimable) else after,
        n_original=data[0].response.size,
        n_released=max(1, len(frames[1].dropna())),
        method=f"{data[0].family}, errors by unit" if even else f"weighted {data[0].family}",
    )


def _fitted(data: ModelData, sample: SampleDesign) -> dict[str, Outcome] | NotEstimable:
    """Return weighted coefficients with the errors of the design; or why there are none."""
    used = np.flatnonzero(np.abs(data.design).max(axis=0, initial=0.0) > 0.0)
    design = data.design[:, used]
    if not used.size or design.shape[0] <= used.size:
        return NotEstimable(f"{used.size} coefficients need more rows: got {design.shape[0]}")
    if np.linalg.matrix_rank(design / np.abs(design).max(axis=0)) < used.size:
        return NotEstimable("the model is singular: terms depend on one another exactly")
    if not (sample.weights > 0.0).all():
        return NotEstimable("a weight is missing or not positive")
    families = library("statsmodels.genmod.families")
    linear = library("statsmodels.genmod.generalized_linear_model")
    family = getattr(families, _FAMILIES[data.family])()
    share = sample.weights / sample.weights.mean()
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            fitted = linear.GLM(data.response, design, family=family, var_weights=share).fit()
        except Exception:  # separation and singular steps have several classes of errors
            return NotEstimable(_NO_FIT)
        means = np.asarray(fitted.fittedvalues)
    if not fitted.converged or any("Separation" in w.category.__name__ for w in caught):
        return NotEstimable(_NO_FIT)
    spread = family.variance(means)
    bread = np.linalg.inv(design.T @ (design * (share * spread)[:, None]))
    scores = design * (share * (data.response - means))[:, None]
    errors = np.sqrt(np.diag(bread @ _variance(scores, sample) @ bread))
    outcomes: dict[str, Outcome] = dict.fromkeys(data.names, NotEstimable("no row has this level"))
    for place, position in enumerate(used):
        value = float(fitted.params[place])
        outcomes[data.names[position]] = Estimated.of(value, float(errors[place]))
    return outcomes
