"""What varies and how columns go together, against exact fractions: no processor may disagree."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.correlations import (
    area_under_curve,
    centred_columns,
    deviations,
    mad_scale,
    moments_and_correlations,
    pairwise_correlations,
    tail_scale,
    varies,
)
from icsa.release.calibration import score_correlation, view_correlation


def exact_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Return Pearson's correlation over common rows in exact fractions: a slow truth."""
    both = ~np.isnan(x) & ~np.isnan(y)
    first, second = ([Fraction(float(cell)) for cell in column[both]] for column in (x, y))
    n = len(first)
    if n == 0 or len(set(first)) == 1 or len(set(second)) == 1:
        return math.nan
    middle = sum(first) / n, sum(second) / n
    first, second = [a - middle[0] for a in first], [b - middle[1] for b in second]
    product = sum(a * b for a, b in zip(first, second, strict=True))
    squares = sum(a * a for a in first) * sum(b * b for b in second)
    return math.copysign(math.sqrt(float(product * product / squares)), float(product))


def exact_correlations(x: np.ndarray) -> np.ndarray:
    found = np.empty((x.shape[1], x.shape[1]))
    for j, k in combinations_with_replacement(range(x.shape[1]), 2):
        found[j, k] = found[k, j] = exact_correlation(x[:, j], x[:, k])
    return found


def view_with_indicators(seed: int, n: int, offset: float, step: float) -> np.ndarray:
    """Return measurements with gaps, and for each whether it is missing, as calibration sees them.

    A measurement's own indicator does not vary where the measurement is there, and counted from
    its mean (a share such as 137/300, not a round number) all its cells are the same odd number.
    """
    rng = np.random.default_rng(seed)
    numbers = offset + step * rng.integers(0, 50, size=(n, 4))
    gone = rng.random((n, 4)) < [0.46, 0.31, 0.03, 0.17]
    gone[:, 3] |= gone[:, 1]  # nested: one is there only where the other is
    numbers[gone] = np.nan
    return np.column_stack([numbers, gone])


@pytest.mark.parametrize("n", [30, 301])
@pytest.mark.parametrize(
    ("offset", "step"), [(0.0, 1.0), (0.3, 0.1), (1e6, 1.0), (-1e9, 0.25), (1e15, 1.0)]
)
def test_what_does_not_vary_where_both_are_there_has_no_correlation(n, offset, step):
    for seed in range(2):
        view = view_with_indicators(seed, n, offset, step)
        truth = exact_correlations(view)
        assert np.isnan(truth[:4, 4:]).sum() >= 5  # own indicators, and the nested one
        np.testing.assert_allclose(pairwise_correlations(view), truth, rtol=0, atol=1e-9)
        np.fill_diagonal(truth, 1.0)
        np.testing.assert_allclose(view_correlation(view), truth, rtol=0, atol=1e-9)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e12])
def test_digits_that_cancel_are_taken_from_the_rows_themselves(far):
    # Counted from its mean over all rows, the first column is far away where the second is there,
    # and varies there by little: sums of squares less squares of sums keep no digit of it.
    rng = np.random.default_rng(1)
    x = rng.integers(0, 9, size=(200, 3)).astype(float)
    x[:100, 0] += far
    x[100:, 1] = np.nan
    x[:, 2] += x[:, 0]
    found, truth = pairwise_correlations(x), exact_correlations(x)
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-9)
    assert 0.02 < abs(found[0, 1]) < 0.5  # a number to get wrong


def test_a_constant_that_no_binary_fraction_is_does_not_vary():
    for value in (0.1, 1 / 3, -12345.6789, 1e-7 / 3, 1e12 / 7):
        for n in (30, 99, 1000, 20_001):
            x = np.column_stack([np.full(n, value), np.arange(n)])
            np.testing.assert_array_equal(varies(x), [False, True])
            assert deviations(x)[0] == 0.0
            np.testing.assert_array_equal(centred_columns(x)[:, 0], 0.0)
            np.testing.assert_array_equal(np.isnan(pairwise_correlations(x)), [[1, 1], [1, 0]])
            np.testing.assert_array_equal(score_correlation(x), np.eye(2))


def test_columns_far_from_zero_vary_by_what_their_cells_do():
    steps = np.array([0.0, 1.0, 2.0, 1.0])
    x = np.column_stack([steps + 1e15, steps * 1e-300, steps * 1e300 - 1e300, np.full(4, np.nan)])
    np.testing.assert_array_equal(varies(x), [True, True, True, False])
    np.testing.assert_allclose(pairwise_correlations(x)[:3, :3], 1.0)
    assert not varies(np.empty((0, 3))).any()
    assert np.isnan(pairwise_correlations(np.empty((0, 3)))).all()


def test_the_last_digit_is_no_variation():
    x = np.array([0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2])
    assert x[0] != x[1]
    assert not varies(x)
    assert varies(np.array([0.3, 0.3 * (1 + 1e-14)]))


@given(st.data())
def test_correlations_are_the_exact_ones(data):
    n = data.draw(st.integers(2, 12))
    cell = st.one_of(st.just(math.nan), st.integers(-3, 3))
    columns = [data.draw(st.lists(cell, min_size=n, max_size=n)) for _ in range(3)]
    offsets = data.draw(st.lists(st.sampled_from([0.0, 0.1, 1e5, -1e8]), min_size=3, max_size=3))
    x = np.array(columns, dtype=float).T + offsets
    np.testing.assert_allclose(pairwise_correlations(x), exact_correlations(x), rtol=0, atol=1e-7)


def test_the_area_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(0)
    for n, m in ((1, 3), (7, 4), (20, 20)):
        a, b = rng.integers(0, 6, n) + 0.0, rng.integers(0, 5, m) + 0.0
        pairs = (a[:, None] > b) + 0.5 * (a[:, None] == b)
        assert area_under_curve(a, b) == pytest.approx(pairs.mean())


def test_scales_are_standard_deviations_of_normal_cells_and_of_the_first_quantiles_that_differ():
    normal = np.random.default_rng(0).normal(5.0, 3.0, size=20_001)
    middle = float(np.median(normal))
    assert mad_scale(normal, middle) == pytest.approx(3.0, rel=0.05)
    assert tail_scale(normal, middle) == pytest.approx(3.0, rel=0.05)
    assert tail_scale(normal, middle, n_tails=1) == pytest.approx(3.0, rel=0.05)
    # So many of a thousand cells lie one unit above the others.
    for above, tails in ((300, 1), (150, 2), (30, 3), (10, 0)):
        tied = np.repeat([0.0, 1.0], [1000 - above, above])
        assert mad_scale(tied, 0.0) == 0.0
        found = [tail_scale(tied, 0.0, n_tails=n) for n in (1, 2, 3)]
        assert [scale > 0.0 for scale in found] == [0 < tails <= n for n in (1, 2, 3)]
    rounding = np.array([0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2])
    assert mad_scale(rounding, 0.3) == tail_scale(rounding, 0.3) == 0.0


def test_moments_by_blocks_are_those_of_all_rows():
    x = np.random.default_rng(1).normal(size=(70_000, 3)) * [1.0, 1e6, 1e-6] + 7.0
    means, spread, correlation = moments_and_correlations(x, np.array([0, 2]))
    np.testing.assert_allclose(means, x[:, [0, 2]].mean(axis=0))
    np.testing.assert_allclose(spread, x[:, [0, 2]].std(axis=0))
    np.testing.assert_allclose(correlation, np.corrcoef(x[:, [0, 2]].T), atol=1e-12)
