"""Firth's likelihood: values by hand, the score equation, and an estimate where there is none."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.measures import NotEstimable
from icsa.utility.firth import FirthFit, firth_logistic
from icsa.utility.models import fit_models


def test_two_groups_by_hand() -> None:
    """A saturated model adds half an event and half a non-event to each group."""
    group = np.repeat([0.0, 1.0], [10, 6])
    ill = np.array([1.0] * 3 + [0.0] * 7 + [1.0] * 6)
    found = firth_logistic(np.column_stack([np.ones(16), group]), ill)
    assert isinstance(found, FirthFit)
    first, second = np.log(3.5 / 7.5), np.log(6.5 / 0.5)
    np.testing.assert_allclose(found.params, [first, second - first], atol=1e-4)


def test_the_score_is_zero_whatever_the_units_and_however_far_out_somebody_is() -> None:
    generator = np.random.default_rng(0)
    design = np.column_stack([np.ones(80), generator.normal(size=(80, 2)) * [1.0, 1e4]])
    design[0, 2] = 1e6
    ill = (generator.random(80) < 0.4).astype(float)
    found = firth_logistic(design, ill)
    assert isinstance(found, FirthFit)
    chance = 1.0 / (1.0 + np.exp(-design @ found.params))
    weighted = design * np.sqrt(chance * (1.0 - chance))[:, None]
    information = weighted.T @ weighted
    leverage = np.einsum("ij,jk,ik->i", weighted, np.linalg.inv(information), weighted)
    score = design.T @ (ill - chance + leverage * (0.5 - chance))
    assert score @ np.linalg.solve(information, score) < 1e-6
    np.testing.assert_allclose(found.bse, np.sqrt(np.diag(np.linalg.inv(information))), rtol=1e-6)


def test_a_separated_release_has_estimates_if_asked() -> None:
    group = [0] * 20 + [1] * 10
    original = pl.DataFrame({"g": group, "ill": [0, 1] * 10 + [0, 1, 1, 1, 1] * 2})
    released = original.with_columns(ill=pl.Series([0, 1] * 10 + [1] * 10))
    plain = fit_models(original, released, "ill ~ g")
    assert isinstance(plain.estimates[1].released, NotEstimable)
    found = fit_models(original, released, "ill ~ g", bias_reduced=True)
    assert found.estimates[1].released.value == pytest.approx(np.log(10.5 / 0.5), abs=1e-3)
