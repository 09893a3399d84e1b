"""Variance between units, memory and numbers of rows: by hand, by a loop, by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.measures import NotEstimable
from icsa.utility.estimates import Estimated
from icsa.utility.unit_statistics import between_share, lag_one_correlation, rows_a_unit


def test_the_share_between_is_that_of_the_law_and_its_error_too() -> None:
    starts = np.concatenate([[0], np.cumsum(np.tile([2, 5, 8], 40))])
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        level = np.repeat(rng.normal(0, np.sqrt(0.6), 120), np.diff(starts))
        found.append(between_share(level + rng.normal(0, np.sqrt(0.4), level.size), starts))
    values = np.array([one.value for one in found])
    errors = np.array([one.standard_error for one in found])
    assert values.mean() == pytest.approx(0.6, abs=0.02)
    assert errors.mean() == pytest.approx(values.std(ddof=1), rel=0.25)


def test_missing_cells_are_left_out() -> None:
    rng = np.random.default_rng(1)
    values, starts = rng.normal(size=60), np.arange(0, 61, 3)
    holes = values.copy()
    holes[::3] = np.nan
    kept = np.delete(values, np.arange(0, 60, 3))
    assert between_share(holes, starts).value == pytest.approx(
        between_share(kept, np.arange(0, 41, 2)).value
    )


def test_the_jackknife_leaves_out_one_unit_at_a_time() -> None:
    rng = np.random.default_rng(2)
    starts = np.concatenate([[0], np.cumsum(rng.integers(2, 6, 12))])
    values = rng.normal(size=int(starts[-1]))
    found = lag_one_correlation(values, starts)

    def plain(units: list[int]) -> float:
        pairs = [
            (values[k - 1], values[k]) for u in units for k in range(starts[u] + 1, starts[u + 1])
        ]
        return float(np.corrcoef(np.array(pairs).T)[0, 1])

    every = list(range(12))
    without = np.array([plain([u for u in every if u != left]) for left in every])
    assert isinstance(found, Estimated)
    assert found.value == pytest.approx(plain(every))
    expected = np.sqrt(11 / 12 * np.sum((without - without.mean()) ** 2))
    assert found.standard_error == pytest.approx(expected)


def test_what_cannot_be_told_has_a_reason() -> None:
    one_row_each = np.arange(31)
    assert isinstance(between_share(np.arange(30.0), one_row_each), NotEstimable)
    assert isinstance(lag_one_correlation(np.arange(30.0), one_row_each), NotEstimable)
    constant = lag_one_correlation(np.ones(30), np.arange(0, 31, 3))
    assert isinstance(constant, NotEstimable)


def test_rows_a_unit() -> None:
    found = rows_a_unit(np.array([0, 1, 3, 6, 10, 15]))
    assert found["mean"].value == 3.0
    assert found["standard deviation"].value == pytest.approx(np.std([1, 2, 3, 4, 5], ddof=1))
    assert found["mean"].standard_error == pytest.approx(np.std([1, 2, 3, 4, 5], ddof=1) / 5**0.5)
