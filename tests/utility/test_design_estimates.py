"""Weights, strata and units: by hand, and against statsmodels' errors by cluster."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icsa.comparison.column_pairs import category_column, numeric_column
from icsa.errors import InputError
from icsa.utility.design_estimates import SampleDesign, fit_design_models, weighted_means


def sample(seed: int = 1, n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    frame = pd.DataFrame({"x": x, "w": rng.uniform(1, 9, n), "stratum": rng.integers(0, 3, n)})
    frame["unit"] = np.repeat(np.arange(n // 4), 4)
    frame["y"] = 1 + 2 * x + np.repeat(rng.normal(size=n // 4), 4) + rng.normal(size=n)
    frame["event"] = (frame["y"] + rng.normal(size=n) > 1).astype(int)
    frame["count"] = rng.poisson(np.exp(0.3 * x))
    return frame


def design(frame: pd.DataFrame, *, units: bool = False, strata: bool = False) -> SampleDesign:
    return SampleDesign(
        frame["w"].to_numpy(),
        frame["stratum"].to_numpy() if strata else None,
        frame["unit"].to_numpy() if units else None,
    )


def test_a_stratified_mean_by_hand() -> None:
    values = np.array([1.0, 3.0, 10.0, 14.0])
    own = SampleDesign(np.array([2.0, 2.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    (found,) = weighted_means([numeric_column("x", values, values)], own, own).estimates
    assert found.original.value == pytest.approx(32 / 6)
    # scores (w / 6) (x - mean); within strata they are -+ 2/6 and -+ 2/6
    assert found.original.standard_error == pytest.approx(np.sqrt(2 * 2 * 2 * (2 / 6) ** 2))


def test_shares_of_levels_are_weighted() -> None:
    own = SampleDesign(np.array([1.0, 1.0, 2.0]))
    column = category_column("town", ["a", "b", "b"], ["a", "a", "b"])
    (found,) = weighted_means([column], own, own).estimates
    assert found.name == "town[b]"
    assert (found.original.value, found.released.value) == (0.75, 0.5)


@pytest.mark.parametrize(
    ("formula", "family", "name"),
    [
        ("y ~ x", "Gaussian", "least squares"),
        ("event ~ x", "Binomial", "logistic"),
        ("count ~ x", "Poisson", "poisson"),
    ],
)
def test_errors_by_unit_are_those_of_statsmodels(formula: str, family: str, name: str) -> None:
    api = pytest.importorskip("statsmodels.api")
    frame = sample().assign(w=1.0)
    own = design(frame, units=True)
    found = fit_design_models(frame, frame, formula, (own, own))
    response, exog = frame[formula.split()[0]], api.add_constant(frame["x"])
    model = api.GLM(response, exog, family=getattr(api.families, family)())
    groups = {"groups": frame["unit"], "use_correction": False}
    plain = model.fit(cov_type="cluster", cov_kwds=groups)
    # ours has m / (m - 1), and centres scores that sum to 0 already
    errors = plain.bse * np.sqrt(60 / 59)
    for estimate, value, error in zip(found.estimates, plain.params, errors, strict=True):
        assert estimate.original.value == pytest.approx(value, rel=1e-6)
        assert estimate.original.standard_error == pytest.approx(error, rel=1e-6)
    assert found.method == f"{name}, errors by unit"


def test_weighted_least_squares_has_the_sandwich_of_its_weights() -> None:
    api = pytest.importorskip("statsmodels.api")
    frame = sample()
    found = fit_design_models(frame, frame, "y ~ x", (design(frame), design(frame)))
    exog = api.add_constant(frame["x"])
    plain = api.WLS(frame["y"], exog, weights=frame["w"]).fit(cov_type="HC0")
    errors = plain.bse * np.sqrt(240 / 239)
    for estimate, value, error in zip(found.estimates, plain.params, errors, strict=True):
        assert estimate.original.value == pytest.approx(value, rel=1e-9)
        assert estimate.original.standard_error == pytest.approx(error, rel=1e-9)
    assert found.method == "weighted least squares"


def test_missing_cells_take_their_weights_along() -> None:
    frame = sample()
    frame.loc[::5, "x"] = np.nan
    kept = frame.dropna()
    first, second = (
        fit_design_models(f, f, "y ~ x", (design(f, strata=True),) * 2).estimates[1].original
        for f in (frame, kept)
    )
    assert first == second


def test_what_cannot_be_weighted_is_said() -> None:
    frame = sample()
    with pytest.raises(InputError, match="survival models cannot be weighted"):
        fit_design_models(frame, frame, "surv(y, event) ~ x", (design(frame), design(frame)))
    apart = frame.assign(event=(frame["x"] > 0).astype(int))
    with pytest.raises(InputError, match="did not converge"):
        fit_design_models(apart, apart, "event ~ x", (design(frame), design(frame)))
