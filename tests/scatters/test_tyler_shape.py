"""Tyler's shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.linalg import affine_distance
from icsa.scatters.hettmansperger_randles import hr
from icsa.scatters.tyler_shape import tyler
from tests.conftest import load_reference
from tests.scatters.laws import (
    SETS,
    allowed,
    assert_equivariant,
    assert_order_free,
    directions,
    tables_and_maps,
    tight,
    whiten,
)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("key", "location"),
    [("tyler_default_location", "mean"), ("tyler_at_coordinatewise_median", "median")],
)
def test_as_in_r(name, key, location):
    x, reference, _ = tight(name, key)
    result = tyler(x, location=location)
    assert affine_distance(reference, result.scatter) < allowed(name, 1e-9)
    np.testing.assert_allclose(
        result.location, load_reference(name)[1][key]["location_used"], rtol=1e-12
    )


@pytest.mark.parametrize("name", SETS)
def test_defining_equation(name):
    x, _ = load_reference(name)
    p = x.shape[1]
    result = tyler(x)
    assert result.converged
    assert result.iterations > 0
    u = directions(x, result)
    assert np.abs(p * u.T @ u / len(u) - np.eye(p)).max() < 1e-10
    assert np.linalg.slogdet(result.scatter)[1] == pytest.approx(0.0, abs=1e-7)


def test_worked_by_hand():
    # Around zero, whitened by diag(a, 1/a): two rows along each axis and four on the diagonals
    # |y1| = |y2|.
    x = np.array(
        [[7.0, 0], [-1, 0], [0, 3], [0, -5], [4, 1], [-4, 1], [8, 2], [-8, 2]], dtype=float
    )
    np.testing.assert_allclose(tyler(x, location=[0, 0]).scatter, np.diag([4, 0.25]), atol=1e-11)


def test_one_column():
    result = tyler([[1.0], [2.0], [6.0]])
    assert result.location == pytest.approx(3.0)
    assert result.scatter == pytest.approx(1.0)


@given(drawn=tables_and_maps())
def test_affine_equivariance(drawn):
    assert_equivariant(tyler, drawn, shape=True)


@pytest.mark.parametrize("name", ["iris", "wood"])
def test_row_order_does_not_matter(name):
    assert_order_free(tyler, load_reference(name)[0])


@pytest.mark.parametrize("name", ["swiss", "iris", "synth_60x10", "hbk"])
def test_identity_around_the_hr_location_after_whitening(name):
    x, _ = load_reference(name)
    first = hr(x)
    around = tyler(whiten(x, first), location=np.zeros(x.shape[1]))
    assert affine_distance(np.eye(x.shape[1]), around.scatter) < 1e-9
    assert affine_distance(first.scatter, tyler(x).scatter) > 1e-3  # the mean is another matter


def test_far_outlier_does_not_matter():
    x = np.random.default_rng(0).standard_normal((100, 4))
    near, far = x.copy(), x.copy()
    direction = np.array([1.0, 2.0, 3.0, 4.0])
    near[0], far[0] = 1e3 * direction, 1e6 * direction
    a, b = (tyler(table, location=np.zeros(4)).scatter for table in (near, far))
    assert affine_distance(a, b) < 1e-11


def test_rows_at_the_location_are_left_out():
    x = load_reference("stackloss")[0]
    location = np.median(x, axis=0)
    extended = np.vstack([x, location, location])
    with_them = tyler(extended, location=location)
    assert affine_distance(tyler(x, location=location).scatter, with_them.scatter) < 1e-11


def test_too_many_rows_on_a_plane():
    x = np.random.default_rng(1).standard_normal((30, 3)) * [1.0, 1e5, 1e-5]
    x[:21, 2] = 0.0
    with pytest.raises(
        ExactFitError, match=r"tyler is singular: column '2' has .* 21 of 30 rows, .* most 19 may"
    ) as caught:
        tyler(x, location=np.zeros(3))
    assert caught.value.columns == (2,)
    assert caught.value.rows_on_it == 21
    x[19:21, 2] = 1e-5  # 19 of 30 on it: below two thirds, it exists
    u = directions(x, tyler(x, location=np.zeros(3)))
    assert np.abs(3 * u.T @ u / 30 - np.eye(3)).max() < 1e-10


def test_exactly_the_limit_on_a_plane_is_an_error():
    x = np.random.default_rng(2).standard_normal((12, 3))
    x[:8, 1] = x[:8, 0]
    with pytest.raises(ExactFitError, match=r"columns '0', '1' .* 8 of 12 rows, and at most 7"):
        tyler(x, location=np.zeros(3))


def test_degenerate_tables_and_options():
    x = np.random.default_rng(3).standard_normal((9, 3))
    with pytest.raises(InputError, match="tyler needs more rows than columns: got 3 rows"):
        tyler(x[:3])
    with pytest.raises(InputError, match="column 0 is constant"):
        tyler(x * [0.0, 1.0, 1.0])
    with pytest.raises(InputError, match=r"knows the locations 'mean' and 'median'.*'mode'"):
        tyler(x, location="mode")
    with pytest.raises(InputError, match=r"location of 3 finite numbers.*shape \(2,\)"):
        tyler(x, location=[0.0, 0.0])
    x[:7] = x[0]
    with pytest.raises(InputError, match="got 2 such rows, 3 columns"):
        tyler(x, location=x[0])
    with pytest.raises(ConvergenceError, match=r"tyler did not converge: .* after 2 iterations"):
        tyler(load_reference("wood")[0], max_iterations=2)
