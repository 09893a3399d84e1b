"""OGK against R, against a plain double loop, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtri

from icsa.errors import ExactFitError, InputError
from icsa.linalg import affine_distance, squared_distances
from icsa.scatters.ogk_estimate import deterministic_distances, ogk, orthogonal_axes, untied_scales
from icsa.scatters.univariate import qn_scale, tau_location_scale
from tests.conftest import load_reference

SETS = (
    *("bushfire", "hbk", "iris", "laseri8", "stackloss", "starsCYG", "swiss"),
    *("synth_200x5", "synth_60x10", "wdbc30", "wdbc_mean10", "wood"),
)


def in_metric(location, reference, scatter):
    return np.sqrt(squared_distances(np.atleast_2d(location), np.array(reference), scatter))[0]


@pytest.mark.parametrize("name", SETS)
def test_values_of_r(name):
    x, values = load_reference(name)
    expected = values["rrcov_CovOgk"]
    found = ogk(x)
    assert affine_distance(np.array(expected["raw_cov"]), found.raw_scatter) < 1e-9
    assert affine_distance(np.array(expected["cov"]), found.scatter) < 1e-9
    assert in_metric(found.raw_location, expected["raw_center"], found.raw_scatter) < 1e-9
    assert in_metric(found.location, expected["center"], found.scatter) < 1e-9


def slow_sweep(y):
    """Return the matrix of pairwise covariances of columns of scale 1, pair by pair."""
    p = y.shape[1]
    u = np.eye(p)
    for j in range(p):
        for k in range(p):
            if j != k:
                plus = tau_location_scale((y[:, j] + y[:, k])[:, None])[1][0]
                minus = tau_location_scale((y[:, j] - y[:, k])[:, None])[1][0]
                u[j, k] = (plus**2 - minus**2) / 4
    return u


def test_one_sweep_is_the_slow_one():
    x = np.random.default_rng(0).standard_t(3, size=(40, 4)) * [1.0, 10.0, 1e-3, 1e4]
    scale = tau_location_scale(x)[1]
    values, vectors = np.linalg.eigh(slow_sweep(x / scale))
    axes, scores = orthogonal_axes(x, tau_location_scale, sweeps=1, name="ogk")
    np.testing.assert_allclose(np.abs(axes), np.abs(scale[:, None] * vectors), rtol=1e-9)
    np.testing.assert_allclose(scores @ axes.T, x, rtol=1e-9, atol=1e-9)
    assert np.all(values > 0)


def test_definition_of_raw_scatter_and_weights():
    x = load_reference("hbk")[0]
    found = ogk(x, quantile=0.8)
    distances = squared_distances(x, found.raw_location, found.raw_scatter)
    assert np.median(distances) == pytest.approx(chdtri(3, 0.5), rel=1e-10)
    assert np.array_equal(found.weights, distances < chdtri(3, 0.2))
    np.testing.assert_allclose(found.location, x[found.weights].mean(axis=0))
    np.testing.assert_allclose(found.scatter, np.cov(x[found.weights].T, bias=True), rtol=1e-12)


def test_single_column_is_a_trimmed_variance():
    x = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0], [100.0], [0.5]])
    found = ogk(x)
    assert found.weights.tolist() == [True] * 5 + [False, True]
    assert found.scatter[0, 0] == pytest.approx(np.var([-2, -1, 0, 1, 2, 0.5]))


@given(st.integers(0, 2**32))
def test_shifts_scales_and_row_order_go_through(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_t(3, size=(40, 3))
    scale = 10.0 ** rng.uniform(-8, 8, 3)
    plain = ogk(x)
    order = rng.permutation(40)
    moved = ogk((scale * (x + 3.0))[order])
    assert affine_distance(np.outer(scale, scale) * plain.scatter, moved.scatter) < 1e-9
    assert affine_distance(np.outer(scale, scale) * plain.raw_scatter, moved.raw_scatter) < 1e-9
    np.testing.assert_allclose(moved.location, scale * (plain.location + 3.0), rtol=1e-9)
    assert np.array_equal(moved.weights, plain.weights[order])


def test_outliers_get_no_weight():
    x = np.random.default_rng(1).normal(size=(100, 5))
    x[:30] += 100.0
    found = ogk(x)
    assert not found.weights[:30].any()
    assert np.all(np.linalg.eigvalsh(found.scatter) > 0)


def test_deterministic_starts_see_through_a_third_of_outliers():
    x = np.random.default_rng(2).normal(size=(90, 4))
    x[:30, :] += 20.0
    unit = (x - np.median(x, axis=0)) / qn_scale(x)
    starts = list(deterministic_distances(unit))
    assert len(starts) == 6
    for distances in starts:
        assert distances[:30].min() > np.sort(distances)[44]


def test_deterministic_starts_do_not_depend_on_a_null_space_basis():
    x = np.random.default_rng(3).normal(size=(12, 20))
    order, columns = np.random.default_rng(4).permutation(12), np.arange(20)[::-1]
    for one, other in zip(
        deterministic_distances(x), deterministic_distances(x[order][:, columns]), strict=True
    ):
        np.testing.assert_allclose(other, one[order], rtol=1e-6)


def test_untied_scales_fall_back_to_tau():
    column = np.repeat([0.0, 1.0, 2.0], [4, 6, 2])[:, None]
    assert qn_scale(column)[0] == 0
    assert untied_scales(column)[0] == tau_location_scale(column)[1][0] > 0


def test_tied_column_is_named():
    x = np.random.default_rng(5).normal(size=(30, 3))
    x[:17, 1] = 4.0
    with pytest.raises(ExactFitError, match=r"column '1' has one value in 17 of 30 rows") as caught:
        ogk(x)
    assert caught.value.allowed == 15


def test_tied_difference_is_named():
    x = np.random.default_rng(6).normal(size=(40, 2))
    x[:30, 1] = x[:30, 0]
    with pytest.raises(ExactFitError, match="columns '0', '1' satisfy one linear equation in 30"):
        ogk(x)


def test_dependent_columns_are_an_error():
    x = np.random.default_rng(7).normal(size=(40, 3))
    x[:, 2] = x[:, 0] + 2 * x[:, 1]
    with pytest.raises(
        ExactFitError, match="columns '0', '1', '2' satisfy one linear equation in 40"
    ):
        ogk(x)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sweeps": 0}, "at least one sweep: got sweeps=0"),
        ({"quantile": 1.0}, r"a quantile between 0 and 1: got 1\.0"),
        ({"quantile": 0.05}, "too few for 4 columns"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        ogk(load_reference("stackloss")[0], **options)


def test_too_few_rows():
    with pytest.raises(InputError, match="ogk needs more rows than columns: got 3 rows, 4 columns"):
        ogk(np.random.default_rng(0).normal(size=(3, 4)))
