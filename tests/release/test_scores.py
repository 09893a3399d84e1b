"""Missing scores get values that fit the rest of the row, with the spread of the others."""

from __future__ import annotations

import numpy as np

from icsa.release.scores import fill_missing_scores


def test_keeps_what_is_there_and_fills_all_else():
    scores = np.random.default_rng(0).normal(size=(60, 3))
    holes = np.random.default_rng(1).random((60, 3)) < 0.2
    filled = np.where(holes, np.nan, scores)
    fill_missing_scores(filled)
    assert np.isfinite(filled).all()
    np.testing.assert_array_equal(filled[~holes], scores[~holes])


def test_correlation_and_spread_survive_half_of_the_cells_missing():
    generator = np.random.default_rng(2)
    x = generator.normal(size=4000)
    y = 0.8 * x + 0.6 * generator.normal(size=4000)
    scores = np.column_stack([x, y])
    scores[generator.random(4000) < 0.5, 1] = np.nan
    fill_missing_scores(scores)
    assert abs(np.corrcoef(scores.T)[0, 1] - 0.8) < 0.03
    assert abs(scores[:, 1].std() - 1.0) < 0.04


def test_the_same_table_is_filled_the_same_way():
    first = np.random.default_rng(3).normal(size=(50, 2))
    first[:9, 0] = np.nan
    second = first.copy()
    fill_missing_scores(first)
    fill_missing_scores(second)
    np.testing.assert_array_equal(first, second)


def test_a_column_without_any_value_is_zero():
    scores = np.column_stack([np.arange(5.0), np.full(5, np.nan)])
    fill_missing_scores(scores)
    np.testing.assert_array_equal(scores[:, 1], 0.0)
