"""MRCD against R, its definition and its laws."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from icsa.errors import ConvergenceError, ExactFitError, InputError, UnknownNameError
from icsa.linalg import affine_distance, log_determinant, squared_distances
from icsa.scatters.mrcd_estimate import mrcd
from icsa.scatters.univariate import qn_scale
from tests.conftest import load_reference

# The package exports the function under the name of its module.
module = importlib.import_module("icsa.scatters.mrcd_estimate")

SETS = (
    *("bushfire", "hbk", "iris", "laseri8", "stackloss", "starsCYG", "swiss"),
    *("synth_200x5", "synth_60x10", "wdbc30", "wdbc_mean10", "wood"),
)
WIDE = ("rrcov_CovMrcd", "rrcov_CovMrcd_alpha0.75")


@pytest.mark.parametrize("name", SETS)
def test_values_of_r(name):
    x, values = load_reference(name)
    expected = values["rrcov_CovMrcd"]
    found = mrcd(x)
    assert found.rho == pytest.approx(expected["rho"], abs=1e-8)
    assert found.support.tolist() == expected["best_0based"]
    assert found.objective == pytest.approx(expected["crit"], abs=1e-6)
    assert affine_distance(np.array(expected["cov"]), found.scatter) < 1e-6
    np.testing.assert_allclose(found.location, expected["center"], rtol=1e-10)


@pytest.mark.parametrize("key", WIDE)
def test_subset_of_r_with_more_columns_than_rows(key):
    """From R's subset, rho and h: its matrix, and no step that would improve it."""
    x, values = load_reference("synth_30x60")
    expected = values[key]
    subset = np.array(expected["best_0based"])
    scale = qn_scale(x)
    unit = (x - np.median(x, axis=0)) / scale
    factor = module._consistency(subset.size / 30, 60)
    assert factor == pytest.approx(expected["cnp2"][0], rel=1e-12)
    kept, inner, steps = module._concentrate(unit, subset, expected["rho"], factor, 9)
    assert steps == 1
    assert np.array_equal(kept, subset)
    assert affine_distance(np.array(expected["cov"]), np.outer(scale, scale) * inner) < 1e-6


@pytest.mark.parametrize("key", WIDE)
def test_search_is_no_worse_than_r_with_more_columns_than_rows(key):
    """At R's rho the objective is R's or lower.

    R's own rho is not a target here: it is not stable with p > n. Over five permutations of rows
    and columns, rrcov's rho ran from .1027 to .1098 (alpha .5) and from .0928 to .0990 (alpha
    .75), presumably because starts of low rank leave a basis of their null space to rounding.
    """
    x, values = load_reference("synth_30x60")
    expected = values[key]
    given_rho = mrcd(x, alpha=expected["alpha"], rho=expected["rho"])
    assert given_rho.support.size == expected["h"]
    assert given_rho.objective <= expected["crit"] + 1e-9
    assert mrcd(x, alpha=expected["alpha"]).rho == pytest.approx(expected["rho"], abs=0.01)


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_definition(rho):
    x = load_reference("bushfire")[0]
    found = mrcd(x, rho=rho, alpha=0.75)
    inner = x[found.support]
    target = np.diag(qn_scale(x) ** 2)
    factor = module._consistency(found.support.size / len(x), 5)
    expected = rho * target + (1 - rho) * factor * np.cov(inner.T)
    assert found.support.size == math.ceil(0.75 * len(x))
    np.testing.assert_allclose(found.scatter, expected, rtol=1e-9)
    np.testing.assert_allclose(found.location, inner.mean(axis=0))
    assert found.objective == pytest.approx(log_determinant(expected), abs=1e-9)
    distances = squared_distances(x, found.location, found.scatter)
    outside = np.setdiff1d(np.arange(len(x)), found.support)
    assert distances[found.support].max() <= distances[outside].min()


def test_all_rows_and_no_target_give_the_covariance():
    x = load_reference("iris")[0]
    found = mrcd(x, alpha=1.0, rho=0.0)
    np.testing.assert_allclose(found.scatter, np.cov(x.T), rtol=1e-10)


def test_only_the_target():
    x = load_reference("swiss")[0]
    np.testing.assert_allclose(mrcd(x, rho=1.0).scatter, np.diag(qn_scale(x) ** 2), atol=1e-12)


def test_four_rows_by_hand():
    # Three of -1, 0, 1, 50: the mean of the first three is 0, their variance 1.
    found = mrcd(np.array([[-1.0], [0.0], [1.0], [50.0]]), alpha=0.75, rho=0.0)
    assert found.support.tolist() == [0, 1, 2]
    assert found.location[0] == 0.0
    assert found.scatter[0, 0] == pytest.approx(module._consistency(0.75, 1))


def test_equicorrelation_target_of_r():
    # Off-diagonal correlation of rrcov::CovMrcd(stackloss, rho = 1 - 1e-7, "equicorrelation").
    x = load_reference("stackloss")[0]
    found = mrcd(x, rho=1.0, target="equicorrelation")
    scale = qn_scale(x)
    correlation = found.scatter / np.outer(scale, scale)
    np.testing.assert_allclose(correlation[np.triu_indices(4, 1)], 0.8177516660, rtol=1e-8)
    np.testing.assert_allclose(np.diagonal(correlation), 1.0, rtol=1e-12)
    assert found.target == "equicorrelation"


def test_equicorrelation_stays_positive_definite():
    rng = np.random.default_rng(0)
    one = rng.normal(size=30)
    x = np.column_stack([one, -one + 1e-3 * rng.normal(size=30)])
    assert np.linalg.eigvalsh(mrcd(x, target="equicorrelation", rho=1.0).scatter)[0] > 0


@given(st.integers(0, 2**32), st.sampled_from([(20, 3), (12, 20)]))
def test_shifts_scales_and_row_order_go_through(seed, shape):
    rng = np.random.default_rng(seed)
    x = rng.standard_t(4, size=shape)
    scale = 10.0 ** rng.uniform(-8, 8, shape[1])
    order = rng.permutation(shape[0])
    plain, moved = mrcd(x), mrcd((scale * (x + 3.0))[order])
    assert moved.rho == pytest.approx(plain.rho, rel=1e-6)
    assert np.array_equal(np.sort(order[moved.support]), plain.support)
    assert affine_distance(np.outer(scale, scale) * plain.scatter, moved.scatter) < 1e-6


@given(st.floats(0, 0.05), st.floats(3, 30))
def test_rho_keeps_the_condition_number(low, high):
    rho = module._needed_rho(np.diag([low, high]), 50.0)
    condition = (rho + (1 - rho) * high) / (rho + (1 - rho) * low)
    assert condition < 50 * 1.01
    if rho > 1e-5:
        assert condition > 50 * 0.99


def test_rho_of_a_well_conditioned_subset():
    assert module._needed_rho(np.diag([1.0, 40.0]), 50.0) == 1e-6


def test_rho_has_an_upper_bound():
    assert module._needed_rho(np.diag([0.0, 1e9]), 50.0) == 0.99


@given(st.floats(0.01, 0.95), st.floats(1, 5))
def test_root_is_the_zero(zero, power):
    def function(t):
        return np.sign(zero - t) * abs(zero - t) ** power + (zero - t)

    found = module._root(function, 1e-5, 0.99)
    assert found == pytest.approx(brentq(function, 1e-5, 0.99), abs=1.3e-4)


def test_outliers_are_left_out_with_more_columns_than_rows():
    x = np.random.default_rng(1).normal(size=(30, 50))
    x[:9] += 6.0
    found = mrcd(x)
    assert found.support.min() >= 9
    assert np.all(np.linalg.eigvalsh(found.scatter) > 0)


def test_ties_that_make_qn_zero_are_no_error():
    rng = np.random.default_rng(2)
    x = np.column_stack([rng.normal(size=60), np.repeat([0.0, 1.0, 2.0], [20, 25, 15])])
    found = mrcd(x)
    assert np.all(np.linalg.eigvalsh(found.scatter) > 0)


def test_half_tied_column_is_named():
    x = np.random.default_rng(3).normal(size=(30, 3))
    x[:18, 2] = 1.0
    with pytest.raises(ExactFitError, match="mrcd is singular: column '2' has one value in 18"):
        mrcd(x)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.4}, r"alpha from 0\.5 to 1: got 0\.4"),
        ({"rho": -0.1}, r"rho from 0 to 1: got -0\.1"),
        ({"max_condition": 1.0}, r"max_condition above 1: got 1\.0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        mrcd(load_reference("stackloss")[0], **options)


def test_unknown_target():
    with pytest.raises(
        UnknownNameError, match=r"No MRCD target 'identiy'. Did you mean 'identity'"
    ):
        mrcd(load_reference("stackloss")[0], target="identiy")


def test_too_few_rows():
    with pytest.raises(InputError, match="a minimum of 4 is required"):
        mrcd(np.eye(3))


def test_too_few_steps():
    with pytest.raises(ConvergenceError, match="still changes after 1 concentration steps"):
        mrcd(load_reference("wdbc_mean10")[0], max_iterations=1)
