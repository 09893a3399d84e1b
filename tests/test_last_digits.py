"""What rounding leaves is no variation, and does not choose between things that tie.

The inputs are built so that a test of zero on a computed number goes wrong with every processor's
sums: constants that are no binary fractions, and cells that differ in their last digit only.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.assessment.efficiency import _ratio
from icsa.attacks.differencing import learn_last_score
from icsa.columns.continuous import Continuous
from icsa.columns.unmasked import Constant
from icsa.comparison.column_pairs import numeric_column
from icsa.comparison.designs import location_and_scale
from icsa.errors import InputError
from icsa.inspection.oddities import far_rows
from icsa.linalg import inner_product
from icsa.masks import flip
from icsa.measures import Measure, NotEstimable
from icsa.privacy.lenses import robust_units
from icsa.release.scores import fill_missing_scores, standardize
from icsa.scatters import cov4, mcd, variances
from icsa.scatters.anchored_estimate import weighted_scatter
from icsa.scatters.ogk_estimate import untied_scales
from icsa.schema import ColumnSpec
from icsa.subspaces import spanned_subspace
from icsa.utility.associations import correlation_ratios
from icsa.utility.margins import numeric_margin
from icsa.utility.model_data import ModelData
from icsa.utility.models import fit
from icsa.utility.principal import principal_picture
from icsa.utility.variable_selection import selection_task

# Their means over some number of rows are not the constants themselves, however they are added.
CONSTANTS = (0.1, 0.7, 1 / 3, -12345.6789, 1e7 / 3)


def nearly_constant(n: int) -> np.ndarray:
    """Return cells of one number that was computed in three ways."""
    value = 0.1 + 0.2
    return np.resize([value, np.nextafter(value, 0.0), np.nextafter(value, 1.0)], n)


def test_the_constants_have_means_that_are_others():
    sizes = range(30, 130)
    for value in CONSTANTS:
        assert any(np.full(n, value).std() > 0.0 for n in sizes)
    assert np.unique(nearly_constant(9)).size == 3


@pytest.mark.parametrize("value", CONSTANTS)
def test_gaps_are_not_filled_by_a_level_that_nobody_has_there(value):
    # In the rows where the last column is known the third does not vary; elsewhere it does. Held
    # scores have another mean than 0, so that what rounding left of a constant would explain it.
    for n in range(40, 100, 9):
        rng = np.random.default_rng(n)
        scores = rng.normal(size=(n, 4))
        scores[:, 3] += scores[:, 0]
        scores[-2:, 3] += 60.0
        level = np.where(np.arange(n) < n // 3, rng.integers(1, 3, n), 0)
        scores[: n // 3, 3] = np.nan
        filled = []
        for constant in (0.0, value):
            table = scores.copy()
            table[:, 2] = constant + level
            fill_missing_scores(table)
            filled.append(table[:, 3])
        np.testing.assert_allclose(filled[1], filled[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("value", CONSTANTS)
def test_a_constant_score_is_standardised_to_zero(value):
    for n in range(30, 130, 7):
        scores = np.asfortranarray(np.column_stack([np.full(n, value), np.arange(n)]))
        centre, spread = standardize(scores, 1)
        assert (centre[0], spread[0]) == (value, 1.0)
        assert not scores[:, 0].any()


@pytest.mark.parametrize("value", CONSTANTS)
def test_scatters_see_that_a_column_does_not_vary(value):
    rng = np.random.default_rng(1)
    for n in (40, 61, 99):
        x = np.column_stack([rng.normal(size=(n, 2)), np.full(n, value)])
        assert variances(x).scatter[2, 2] == 0.0
        with pytest.raises(InputError, match="columns that vary"):
            weighted_scatter(x, np.ones(n, dtype=bool), (0, 1))
    x[:, 2] = nearly_constant(n)
    with pytest.raises(InputError, match="column 2 is constant"):
        cov4(x)
    assert spanned_subspace(x, find_dependent=True, orthonormal=False).constant_columns == (2,)


@pytest.mark.parametrize("shift", [0.0, 1 / 3, 1e3, -7.7])
@pytest.mark.parametrize("unit", [1.0, 1 / 7, 3.3])
def test_of_windows_that_tie_the_mcd_of_a_column_keeps_the_first(shift, unit):
    # All windows of so many neighbours on a grid have the same variance.
    x = shift + unit * np.arange(21.0)[:, None]
    found = mcd(x, alpha=0.6)
    assert found.support.tolist() == list(range(found.support.size))


def test_ties_after_a_rotation_are_ties():
    exact = np.repeat([0.3, 0.7, 1.1], 6)[:, None]
    rounded = exact + np.resize([0.0, 1e-16, -1e-16, 2e-16], exact.shape[0])[:, None]
    assert np.unique(rounded).size > 3
    np.testing.assert_allclose(untied_scales(rounded), untied_scales(exact), rtol=1e-9)


def test_a_column_that_differs_in_the_last_digit_is_constant():
    cells = pl.Series("x", nearly_constant(60))
    assert isinstance(Continuous.fit(cells, ColumnSpec(name="x", kind="continuous")), Constant)
    assert location_and_scale(cells.to_numpy(), "robust") == (cells[0], 0.0)
    assert np.isinf(robust_units(cells.to_numpy()[None, :])[1]).all()


def test_nothing_is_far_in_units_of_the_last_digit():
    numbers = np.append(nearly_constant(60), 0.3 + 1e-9)
    assert far_rows(numbers).size == 0


@pytest.mark.parametrize("value", CONSTANTS)
def test_usefulness_sees_that_a_column_does_not_vary(value):
    rng = np.random.default_rng(2)
    for n in (40, 61, 99):
        x, constant = rng.normal(size=(n, 2)), np.full(n, value)
        columns = [numeric_column(name, x[:, j], x[::-1, j]) for j, name in enumerate("ab")]
        task = selection_task([*columns, numeric_column("y", constant, constant)], "y")
        assert task.values["recall"].measure.reason == "the response does not vary"
        margin = numeric_margin(numeric_column("y", constant, constant))
        assert margin.standard_deviation.original.value == 0.0
        data = ModelData(
            "cox", ("a", "y"), np.column_stack([x[:, 0], constant]), 1.0 + rng.random(n), np.ones(n)
        )
        assert fit(data) == NotEstimable("the term 'y' is constant")


def test_ratios_are_of_the_rows_in_which_the_category_is_known():
    # Among these the number lies far from its mean and hardly varies, or does not vary at all.
    rng = np.random.default_rng(3)
    codes = np.where(np.arange(90) < 30, rng.integers(0, 3, 90), -1)[:, None]
    for far in (1e3, 1e6, 1e9):
        digits = rng.integers(0, 9, 90) + 4.0 * codes[:, 0]
        numbers = np.where(np.arange(90) < 30, digits + far, rng.normal(size=90))[:, None]
        found = correlation_ratios(numbers, codes, (3,))
        truth = correlation_ratios(digits[:30, None], codes[:30], (3,))
        np.testing.assert_allclose(found, truth, rtol=1e-6)
        numbers[:30] = far / 7
        assert np.isnan(correlation_ratios(numbers, codes, (3,))).all()


def test_of_loadings_that_tie_the_first_is_positive():
    for seed in range(30):
        x = np.random.default_rng(seed).normal(size=50)
        columns = [numeric_column("a", x, x), numeric_column("b", -3 * x, -3 * x)]
        picture = principal_picture(columns)
        assert not isinstance(picture, NotEstimable)
        assert picture.original[:, 0] @ (x - np.median(x)) > 0.0


@pytest.mark.parametrize("value", CONSTANTS)
def test_nothing_is_learnt_from_scores_that_are_all_equal(value):
    for n in (40, 61, 99):
        with pytest.raises(InputError, match="all equal"):
            learn_last_score(np.full(n, value), np.arange(3.0), flip, key=1)


def test_a_copy_in_another_order_loses_nothing():
    some, rounding = Measure.of(0.2, name="loss"), Measure.of(3e-16, name="loss")
    assert "loses nothing" in str(_ratio((some, some), (rounding, some), root=True))
    copied = Measure.of(1e-31, name="error")
    assert "copies all" in str(_ratio((some, copied), (some, some), root=True))
    assert _ratio((some, some), (some, some), root=True) == pytest.approx(1.0)


def test_inner_products_and_spreads_are_the_same_wherever_columns_lie():
    # With kernels for processors of before 2008 a plain product has other digits in every other
    # column of a matrix with an odd number of rows.
    for seed in range(30):
        column = np.random.default_rng(seed).normal(size=10_001)
        wanted = inner_product(column, column)
        side_by_side = np.array([column, column]).T
        in_rows = np.ascontiguousarray(side_by_side)
        for table in (side_by_side, in_rows):
            assert inner_product(table[:, 0], table[:, 1]) == wanted
        _, spread = standardize(side_by_side, 1)
        assert spread[0] == spread[1]
