"""t M-estimates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.linalg import affine_distance
from icsa.scatters.moments import cov
from icsa.scatters.t_estimate import tm
from tests.conftest import load_reference
from tests.scatters.laws import (
    SETS,
    allowed,
    assert_equivariant,
    assert_order_free,
    location_error,
    tables_and_maps,
    tight,
    whiten,
)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("df", [1, 2, 5])
def test_as_in_r(name, df):
    x, reference, location = tight(name, f"tM_df{df}")
    result = tm(x, df=df)
    assert affine_distance(reference, result.scatter) < allowed(name, 1e-9)
    assert location_error(result, location, reference) < allowed(name, 1e-9)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("df", [1.0, 3.5])
def test_defining_equations(name, df):
    x, _ = load_reference(name)
    n, p = x.shape
    y = whiten(x, tm(x, df=df))
    w = (df + p) / (df + np.square(y).sum(axis=1))
    assert np.abs(w @ y / n).max() < 1e-9
    assert np.abs((y.T * w) @ y / n - np.eye(p)).max() < 1e-9
    assert w.mean() == pytest.approx(1.0, abs=1e-9)


def test_worked_by_hand():
    # Corners of a square: all distances are equal, so all weights are 1 and S is the mean of
    # squares.
    x = np.array([[3.0, 5.0], [3.0, 1.0], [-1.0, 5.0], [-1.0, 1.0]])
    result = tm(x, df=1.0)
    np.testing.assert_allclose(result.location, [1.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(result.scatter, np.diag([4.0, 4.0]), atol=1e-10)


def test_many_degrees_of_freedom_give_the_covariance():
    x, _ = load_reference("iris")
    n = len(x)
    assert affine_distance(cov(x).scatter * (n - 1) / n, tm(x, df=1e9).scatter) < 1e-7


@pytest.mark.parametrize("df", [1.0, 5.0])
@given(drawn=tables_and_maps())
def test_affine_equivariance(df, drawn):
    assert_equivariant(lambda x: tm(x, df=df), drawn)


def test_row_order_does_not_matter():
    assert_order_free(tm, load_reference("stackloss")[0])


def test_far_outlier_does_not_break_it():
    x = np.random.default_rng(0).standard_normal((100, 4))
    far = x.copy()
    far[0] = 1e6
    result = tm(far)
    assert affine_distance(tm(x).scatter, result.scatter) < 0.5
    y = whiten(far, result)
    w = 5.0 / (1.0 + np.square(y).sum(axis=1))
    assert np.abs((y.T * w) @ y / 100 - np.eye(4)).max() < 1e-9


def test_too_many_rows_on_a_plane():
    # df 1, three columns: a plane may hold less than (1 + 2)/(1 + 3) of the rows.
    x = np.random.default_rng(1).standard_normal((40, 3))
    x[:32, 1] = 2.0 * x[:32, 0] + 7.0
    with pytest.raises(
        ExactFitError, match=r"tm is singular: columns '0', '1' .* 32 of 40 rows, and at most 29"
    ):
        tm(x)
    tm(x, df=5.0)  # (5 + 2)/(5 + 3) = 35 rows may


def test_too_many_tied_rows():
    # df 1, two columns: fewer than a third of the rows may be equal.
    x = np.random.default_rng(2).standard_normal((30, 2))
    x[:14] = x[0]
    with pytest.raises(ExactFitError, match=r"columns '0', '1' .* 14 of 30 rows, and at most 9"):
        tm(x)


def test_degenerate_tables_and_options():
    x = np.random.default_rng(3).standard_normal((9, 3))
    with pytest.raises(InputError, match=r"tm needs more rows than columns \+ 1: got 4 rows"):
        tm(x[:4])
    tm(x[:4], df=2.0)
    with pytest.raises(InputError, match="column 0 is constant"):
        tm(x * [0.0, 1.0, 1.0])
    for df in (0.5, np.inf, np.nan):
        with pytest.raises(InputError, match="finite degrees of freedom of at least 1"):
            tm(x, df=df)
    with pytest.raises(ConvergenceError, match=r"tm did not converge: .* after 2 iterations"):
        tm(load_reference("wood")[0], max_iterations=2)
