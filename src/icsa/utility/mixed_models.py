"""Mixed models by formula, as in R: ``log(bili) ~ day + age + (1 + day | id)``, on both tables.

They are statsmodels' linear ones, by restricted maximum likelihood: one grouping, random intercepts
and slopes that may be correlated. Of other mixed models it is said that they cannot be fitted.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from icsa.errors import InputError, UnknownNameError
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable
from icsa.utility.estimates import AnalysisComparison, Estimated, Outcome, compare_estimates
from icsa.utility.formulas import ModelFormula, library, read_formula
from icsa.utility.model_data import (
    ModelData,
    both_frames,
    column_names,
    model_data,
    with_common_levels,
)
from icsa.utility.models import unusable

__all__ = ["fit_mixed_models", "is_mixed"]

_RANDOM = re.compile(r"\+?\s*\(([^()|]*(?:\([^()|]*\)[^()|]*)*)\|([^()|]*)\)")
_FEWEST_GROUPS = 5
_WAYS = ("lbfgs", "bfgs", "powell")
# Standard errors in deviations of the response, all columns being of size 1, that no fit has.
_LARGEST_ERROR = 100.0
# Less is an optimiser's last digit.
_LIKELIER = 1e-3


def is_mixed(formula: str) -> bool:
    """Return whether a formula has a random part.

    Examples
    --------
    >>> is_mixed("bp ~ age + (1 | ward)"), is_mixed("bp ~ age")
    (True, False)
    """
    return "|" in formula


@dataclass(frozen=True)
class _Mixed:
    """A formula with one random part."""

    fixed: ModelFormula
    random: ModelFormula
    group: str
    text: str


def fit_mixed_models(original: Any, released: Any, formula: str) -> AnalysisComparison:
    """Return the coefficients of a mixed model on both tables, and the spreads of its random parts.

    Standard errors of spreads are those of as many independent values as there are groups, or rows:
    somewhat too small, so that differences look larger than they are.

    Parameters
    ----------
    original, released : data frame
        Of pandas, polars or pyarrow.
    formula : str
        With one random part, ``(1 | id)`` or ``(1 + day | id)``.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(1)
    >>> who, x = np.repeat(np.arange(40), 5), np.tile(np.arange(5.0), 40)
    >>> y = 2 * x + np.repeat(rng.normal(size=40), 5) + rng.normal(size=200)
    >>> frame = pd.DataFrame({"who": who, "x": x, "y": y})
    >>> found = fit_mixed_models(frame, frame, "y ~ x + (1 | who)")
    >>> [estimate.name for estimate in found.estimates]
    ['Intercept', 'x', 'sd(Intercept | who)', 'sd(residual)']
    >>> round(found.estimates[1].original.value, 1)
    2.0
    """
    mixed = _read(formula, column_names(original, "original"))
    columns = tuple(dict.fromkeys((*mixed.fixed.columns, *mixed.random.columns, mixed.group)))
    first, second = both_frames(original, released, columns)
    tables = with_common_levels(
        _with_numbered_groups(first, mixed), _with_numbered_groups(second, mixed)
    )
    fixed, random = (
        model_data(*tables, replace(part, columns=columns), "least squares")
        for part in (mixed.fixed, mixed.random)
    )
    groups = [np.asarray(table.dropna()[mixed.group]) for table in tables]
    outcomes = [
        _fitted(first, second, group, mixed)
        for first, second, group in zip(fixed, random, groups, strict=True)
    ]
    if isinstance(outcomes[0], NotEstimable):
        raise unusable(mixed.text, outcomes[0])
    after = outcomes[1]
    return compare_estimates(
        mixed.text,
        outcomes[0],
        dict.fromkeys(outcomes[0], after) if isinstance(after, NotEstimable) else after,
        n_original=len(groups[0]),
        n_released=max(1, len(groups[1])),
        method="mixed model",
    )


def _read(formula: str, columns: list[str]) -> _Mixed:
    left, _, right = formula.partition("~")
    parts = _RANDOM.findall(right)
    rest = _RANDOM.sub("", right).strip().lstrip("+").strip()
    if len(parts) != 1 or "|" in rest:
        raise InputError(
            f"The formula {formula!r} needs one random part such as (1 | id) or (1 + day | id): "
            "several groupings, and || for uncorrelated slopes, cannot be fitted by statsmodels' "
            "mixed models."
        )
    terms, group = parts[0][0].strip(), parts[0][1].strip().strip("`")
    if left.strip().startswith("surv"):
        raise InputError(
            f"The formula {formula!r}: survival models with a random part (frailties) cannot be "
            "fitted by statsmodels. Leave the random part out."
        )
    if group not in columns:
        if re.search(r"[/:*+]", group):
            raise InputError(
                f"The formula {formula!r} groups by more than one column, which statsmodels' mixed "
                "models cannot fit here. Name one column behind the |."
            )
        raise UnknownNameError("column", group, columns)
    fixed = read_formula(f"{left} ~ {rest or '1'}", columns)
    random = read_formula(f"{left} ~ {terms}", columns)
    return _Mixed(fixed, random, group, formula.strip())


def _with_numbered_groups(frame: Any, mixed: _Mixed) -> Any:
    """Return the frame with groups as numbers: how they are called does not matter."""
    codes = library("pandas").factorize(frame[mixed.group])[0].astype(np.float64)
    return frame.assign(**{mixed.group: np.where(codes < 0, np.nan, codes)})


def _fitted(
    fixed: ModelData | NotEstimable,
    random: ModelData | NotEstimable,
    groups: Vector,
    mixed: _Mixed,
) -> dict[str, Outcome] | NotEstimable:
    """Return every coefficient and spread with its error, or why there is none."""
    for data in (fixed, random):
        if isinstance(data, NotEstimable):
            return data
    assert isinstance(fixed, ModelData)
    assert isinstance(random, ModelData)
    if np.unique(fixed.response).size <= 2:
        raise InputError(
            f"The response of {mixed.text!r} has two values: statsmodels fits mixed models of "
            "numbers only. Take another response, or leave the random part out."
        )
    n_groups = np.unique(groups).size
    if n_groups < _FEWEST_GROUPS or n_groups >= groups.size:
        return NotEstimable(f"{n_groups} groups in {groups.size} rows are too few or too many")
    used = np.flatnonzero(np.abs(fixed.design).max(axis=0) > 0.0)
    design, scale = _scaled(fixed.design[:, used])
    effects, effect_scale = _scaled(random.design)
    if np.linalg.matrix_rank(design) < used.size:
        return NotEstimable("the model is singular: terms depend on one another exactly")
    found = _optimum(fixed.response, design, groups, effects)
    if isinstance(found, NotEstimable):
        return found
    outcomes: dict[str, Outcome] = dict.fromkeys(fixed.names, NotEstimable("no row has this level"))
    for place, position in enumerate(used):
        value, error = float(found.fe_params[place]), float(found.bse_fe[place])
        if not np.isfinite(error):
            return NotEstimable("the fit has no finite standard errors")
        unit = float(scale[place])
        outcomes[fixed.names[position]] = Estimated.of(value / unit, error / unit)
    spreads = np.sqrt(np.maximum(np.diag(np.asarray(found.cov_re)), 0.0)) / effect_scale
    for name, spread in zip(random.names, spreads.tolist(), strict=True):
        error = spread / np.sqrt(2.0 * (n_groups - 1.0))
        outcomes[f"sd({name} | {mixed.group})"] = _spread(spread, error)
    residual = float(np.sqrt(found.scale))
    free = max(1.0, groups.size - used.size - n_groups)
    outcomes["sd(residual)"] = _spread(residual, residual / np.sqrt(2.0 * free))
    return outcomes


def _spread(value: float, error: float) -> Outcome:
    if value <= 0.0:
        return NotEstimable("the spread is 0, at the edge of what can be")
    return Estimated.of(value, float(error))


def _scaled(design: Matrix) -> tuple[Matrix, Vector]:
    """Return columns of about the same size: days and logarithms would stop an optimiser early."""
    scale = np.sqrt(np.mean(design**2, axis=0))
    scale = np.where(scale > 0.0, scale, 1.0)
    return design / scale, scale


def _optimum(response: Vector, design: Matrix, groups: Vector, effects: Matrix) -> Any:
    """Return statsmodels' fit; or why there is none.

    An optimiser may stop far off and call that converged: two are asked, and the likelier counts.
    """
    linear = library("statsmodels.regression.mixed_linear_model")
    model = linear.MixedLM(response, design, groups=groups, exog_re=effects)
    most, best = _LARGEST_ERROR * float(response.std()), None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number, way in enumerate(_WAYS):
            if number > 1 and best is not None:
                break
            try:
                found = model.fit(reml=True, method=way, maxiter=300)
            except (np.linalg.LinAlgError, ValueError):
                continue
            usable = found.converged and bool((np.asarray(found.bse_fe) < most).all())
            if usable and (best is None or found.llf > best.llf + _LIKELIER):
                best = found
    return best or NotEstimable("the fit did not converge; leave random slopes out")
