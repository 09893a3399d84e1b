"""Mixed models by formula: the law is found again, and what cannot be fitted is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError, UnknownNameError
from icsa.utility.estimates import Estimated
from icsa.utility.mixed_models import fit_mixed_models


def table(seed: int, slope: float = 2.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(80), 6)
    day = np.tile(np.arange(6.0), 80) * 365.0
    level = np.repeat(rng.normal(0, 3, 80), 6)
    own = np.repeat(rng.normal(0, 0.5, 80), 6)
    y = 10 + level + (slope + own) * day / 365.0 + rng.normal(0, 1, 480)
    group = np.repeat(rng.choice(["a", "b"], 80), 6)
    return pl.DataFrame({"who": who, "day": day, "y": y, "arm": group, "ill": y > 10})


def test_slopes_and_spreads_are_found_whatever_the_units() -> None:
    found = fit_mixed_models(table(1), table(2, slope=3.0), "y ~ day + arm + (1 + day | who)")
    by_name = {estimate.name: estimate for estimate in found.estimates}
    assert found.method == "mixed model"
    assert found.n_original == 480
    day = by_name["day"]
    assert day.original.value * 365 == pytest.approx(2.0, abs=0.25)
    assert day.released.value * 365 == pytest.approx(3.0, abs=0.25)
    assert by_name["sd(Intercept | who)"].original.value == pytest.approx(3.0, abs=0.6)
    assert by_name["sd(day | who)"].original.value * 365 == pytest.approx(0.5, abs=0.15)
    assert by_name["sd(residual)"].original.value == pytest.approx(1.0, abs=0.1)
    assert "arm[T.b]" in by_name


def test_it_is_statsmodels_own_fit() -> None:
    linear = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    frame = table(1)
    design = np.column_stack([np.ones(480), frame["day"].to_numpy() / 365.0])
    plain = linear.MixedLM(frame["y"].to_numpy(), design, groups=frame["who"].to_numpy()).fit()
    found = fit_mixed_models(frame, frame, "y ~ day + (1 | who)").estimates
    assert found[1].original.value * 365 == pytest.approx(plain.fe_params[1], rel=1e-5)
    assert found[1].original.standard_error * 365 == pytest.approx(plain.bse_fe[1], rel=1e-4)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ day + (1 | who) + (1 | arm)", "needs one random part"),
        ("y ~ day + (day || who)", "needs one random part"),
        ("y ~ day + (1 | who/arm)", "groups by more than one column"),
        ("surv(day, ill) ~ arm + (1 | who)", "frailties"),
        ("ill ~ day + (1 | who)", "two"),
    ],
)
def test_what_cannot_be_fitted_is_said(formula: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit_mixed_models(table(1), table(2), formula)


def test_an_unknown_group_is_named() -> None:
    with pytest.raises(UnknownNameError, match="No column 'whom'"):
        fit_mixed_models(table(1), table(2), "y ~ day + (1 | whom)")


def test_a_release_of_single_rows_cannot_be_fitted_and_says_why() -> None:
    apart = table(2).with_columns(who=pl.int_range(480))
    found = fit_mixed_models(table(1), apart, "y ~ day + (1 | who)")
    assert "480 groups in 480 rows" in found.estimates[1].overlap.reason


def test_a_fit_that_stops_far_off_does_not_count() -> None:
    # Of these visits an optimiser says that it converged, with errors of tens of millions.
    frame = pl.read_csv(Path(__file__).parents[2] / "examples" / "visits.csv")
    formula = "pain ~ log(crp_mg_per_l) + arm + (1 | patient_id)"
    found = fit_mixed_models(frame, frame, formula)
    values = {estimate.name: estimate.original for estimate in found.estimates}
    slope = values["log(crp_mg_per_l)"]
    assert isinstance(slope, Estimated)
    assert abs(slope.value - 0.665) < 0.01
    for name, outcome in values.items():
        assert isinstance(outcome, Estimated), name
        assert outcome.standard_error < 0.2, name
