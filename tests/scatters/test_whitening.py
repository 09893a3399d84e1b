"""Centring and whitening."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.errors import InputError
from icsa.scatters.whitening import at_centre, centred, factor_of, sandwich, whitened


def test_mean_of_columns_far_from_zero_keeps_its_digits():
    rng = np.random.default_rng(0)
    # Multiples of 2^-20 near 2^30: sums of differences are exact, so the mean is known.
    offsets = rng.integers(-1000, 1000, 4096) * 2.0**-20
    x = (2.0**30 + offsets)[:, None]
    mean, rows = centred(x)
    assert mean[0] == 2.0**30 + offsets.mean()
    np.testing.assert_allclose(rows[0], offsets - offsets.mean(), atol=1e-16)


@pytest.mark.parametrize("nearly", [1e-3, 1e-7, 1e-11])
def test_factor_at_any_scale_and_conditioning_whitens(nearly):
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((4, 50))
    rows[3] = rows[0] + nearly * rows[3]
    rows *= np.array([[1e-8], [1.0], [1e8], [1e3]])
    factor = factor_of(rows, np.zeros(len(rows)), "test")
    y = whitened(rows, factor)
    assert np.allclose(np.triu(factor, 1), 0.0)
    np.testing.assert_allclose(y @ y.T / 50, np.eye(4), atol=1e-15 / nearly + 1e-10)


def test_factor_is_the_cholesky_factor():
    rows = np.random.default_rng(2).standard_normal((3, 20))
    np.testing.assert_allclose(
        factor_of(rows, np.zeros(len(rows)), "test"),
        np.linalg.cholesky(rows @ rows.T / 20),
        rtol=1e-12,
        atol=1e-14,
    )


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_dependent_column_is_named(scale):
    rows = np.random.default_rng(3).standard_normal((3, 20))
    rows[1] = scale * (rows[0] + 0.0)
    with pytest.raises(InputError, match=r"test needs columns .* column 1 is a linear combination"):
        factor_of(rows, np.zeros(len(rows)), "test")
    offset = centred(np.round(1e6 + np.random.default_rng(3).standard_normal((20, 3)), 6))
    offset[1][2] = offset[1][0] + offset[1][1] + 1e-11  # a sum that was rounded near a million
    with pytest.raises(InputError, match="column 2 is a linear combination"):
        factor_of(offset[1], offset[0], "test")
    rows[1] = 0.0
    with pytest.raises(InputError, match="column 1 is a linear combination"):
        factor_of(rows, np.zeros(len(rows)), "test")


def test_a_rounded_mean_counts_as_the_centre():
    x = np.array([[0.1, 1e8], [0.2, 2e8], [0.3, 3e8], [0.2, 2e8 + 1.0], [0.2, 2e8 - 1.0]])
    _, rows = centred(x)
    assert at_centre(x, rows).tolist() == [False, True, False, False, False]


def test_sandwich_is_symmetric_to_the_last_bit():
    rng = np.random.default_rng(4)
    factor, inner = np.tril(rng.standard_normal((6, 6))), np.cov(rng.standard_normal((6, 9)))
    product = sandwich(factor, inner)
    assert (product == product.T).all()
    np.testing.assert_allclose(product, factor @ inner @ factor.T, rtol=1e-12, atol=1e-14)
