"""Moment-based scatters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from icsa.errors import InputError
from icsa.linalg import affine_distance
from icsa.scatters.moments import cov, cov4, cov_axis, cov_w, identity
from tests.conftest import load_reference
from tests.scatters.laws import (
    SETS,
    allowed,
    assert_equivariant,
    assert_order_free,
    tables_and_maps,
    tight,
)

WEIGHTED = [cov4, cov_axis, cov_w]
SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])


def half(x):
    return cov_w(x, alpha=0.5)


@pytest.mark.parametrize(
    ("key", "scatter", "tolerance"),
    [
        ("cov", cov, 1e-12),
        ("covAxis", cov_axis, 1e-11),
        ("covW_alpha1_cf1", cov_w, 1e-11),
        ("covW_alpha0.5_cf1", half, 1e-11),
    ],
)
@pytest.mark.parametrize("name", SETS)
def test_as_in_r(name, key, scatter, tolerance):
    x, reference, _ = tight(name, key)
    assert affine_distance(reference, scatter(x).scatter) < allowed(name, tolerance)


@pytest.mark.parametrize("name", SETS)
def test_cov4_as_in_r(name):
    x, reference, _ = tight(name, "cov4")
    # R's own square root is off here; covW, which is (p + 2) cov4, is held to 1e-11 above.
    tolerance = 1e-8 if name in ("laseri8", "synth_60x10") else 1e-11
    tolerance = 1e-9 if name.startswith("wdbc") else tolerance
    assert affine_distance(reference, cov4(x).scatter) < tolerance


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("scatter", [identity, cov, *WEIGHTED])
def test_location_is_the_mean(name, scatter):
    x, values = load_reference(name)
    np.testing.assert_allclose(scatter(x).location, values["mean"], rtol=1e-12)


def test_worked_by_hand():
    # The corners of a square: covariance 4/3 I, so every squared distance is 2/(4/3) = 3/2.
    eye = np.eye(2)
    assert (identity(SQUARE).scatter == eye).all()
    np.testing.assert_allclose(cov(SQUARE).scatter, 4 / 3 * eye, atol=1e-15)
    np.testing.assert_allclose(cov4(SQUARE).scatter, 1.5 / 4 * eye, atol=1e-15)
    np.testing.assert_allclose(cov_axis(SQUARE).scatter, 2 / 1.5 * eye, atol=1e-15)
    np.testing.assert_allclose(
        cov_w(SQUARE, alpha=2.0, factor=3.0).scatter, 3 * 2.25 * eye, atol=1e-15
    )


def test_special_cases_agree():
    x, _ = load_reference("swiss")
    p = x.shape[1]
    np.testing.assert_allclose(cov4(x).scatter * (p + 2), cov_w(x).scatter, rtol=1e-12)
    np.testing.assert_allclose(cov_axis(x).scatter, p * cov_w(x, alpha=-1.0).scatter, rtol=1e-12)
    n = x.shape[0]
    flat = cov_w(x, alpha=0.0, factor=n / (n - 1)).scatter
    np.testing.assert_allclose(flat, cov(x).scatter, rtol=1e-10)
    assert np.trace(np.linalg.solve(cov(x).scatter, cov_axis(x).scatter)) == pytest.approx(p)


def test_row_at_the_mean_adds_nothing():
    with_centre = np.vstack([SQUARE + 0.1, [[0.1, 0.1]]])
    # Covariance I, squared distances 2 and 0: p/n times four outer products over 2.
    np.testing.assert_allclose(cov_axis(with_centre).scatter, 2 / 5 * 4 / 2 * np.eye(2), atol=1e-15)


@pytest.mark.parametrize("scatter", [cov, *WEIGHTED, half])
@given(drawn=tables_and_maps())
def test_affine_equivariance(scatter, drawn):
    assert_equivariant(scatter, drawn)


@pytest.mark.parametrize("scatter", WEIGHTED)
def test_row_order_does_not_matter(scatter):
    assert_order_free(scatter, load_reference("stackloss")[0])


def test_cov_of_few_rows_is_singular_and_no_error():
    x = np.random.default_rng(0).standard_normal((3, 6))
    assert np.linalg.matrix_rank(cov(x).scatter) == 2
    np.testing.assert_allclose(cov(x).scatter, np.cov(x.T), atol=1e-14)
    assert (identity(x[:1]).scatter == np.eye(6)).all()
    with pytest.raises(InputError, match="minimum of 2"):
        cov(x[:1])


@pytest.mark.parametrize("scatter", WEIGHTED)
def test_degenerate_tables(scatter):
    x = np.random.default_rng(0).standard_normal((12, 3))
    name = scatter.__name__
    with pytest.raises(InputError, match=f"{name} needs more rows than columns: got 3 rows"):
        scatter(x[:3])
    with pytest.raises(InputError, match=f"{name} needs columns that vary: column 1"):
        scatter(x * [1.0, 0.0, 1.0])
    x[:, 2] = x[:, 0] - 2.0 * x[:, 1]
    with pytest.raises(InputError, match=rf"{name} .* column 2 is a linear combination"):
        scatter(x)


@pytest.mark.parametrize("options", [{"alpha": np.nan}, {"factor": 0.0}, {"factor": np.inf}])
def test_options_of_cov_w(options):
    with pytest.raises(InputError, match="cov_w needs a finite alpha and a positive factor"):
        cov_w(SQUARE, **options)
