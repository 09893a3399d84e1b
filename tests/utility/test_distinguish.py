"""Telling tables apart: pMSE by hand and by statsmodels, and its null expectation by simulation."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from icsa.comparison.column_pairs import ColumnPair, category_column, numeric_column
from icsa.comparison.designs import encoded, location_and_scale
from icsa.errors import InputError
from icsa.utility.distinguish import (
    distinguishability,
    full_rank_scores,
    logistic_coefficients,
    logistic_probabilities,
)


def columns_of(a: np.ndarray, b: np.ndarray) -> list[ColumnPair]:
    return [numeric_column(f"x{j}", a[:, j], b[:, j]) for j in range(a.shape[1])]


def test_a_binary_column_by_hand() -> None:
    # Original 10 of 40 ones, release 30 of 40: p = 3/4 among ones, 1/4 among zeros; (p - 1/2)^2.
    original, released = np.repeat([0.0, 1.0], [30, 10]), np.repeat([0.0, 1.0], [10, 30])
    found = distinguishability([numeric_column("smoker", original, released)])
    assert found.pmse.value == pytest.approx(1 / 16, abs=1e-6)
    # k = 2, c = 1/2, N = 80: (1/2)^2 (1/2) / 80
    assert found.expected == pytest.approx(1 / 640)
    assert found.standardized.value == pytest.approx(40.0, rel=1e-4)
    assert found.n_parameters == 2
    category = category_column("smoker", original > 0, released > 0)
    assert distinguishability([category]).pmse.value == pytest.approx(1 / 16, abs=1e-6)


def test_probabilities_are_those_of_statsmodels() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(150, 3)), rng.normal(0.2, 1.0, size=(90, 3))
    b[:, 2] += b[:, 0]
    x, labels = np.vstack([a, b]), np.repeat([0.0, 1.0], [150, 90])
    fitted = sm.Logit(labels, sm.add_constant(x)).fit(disp=0).predict()
    found = distinguishability(columns_of(a, b))
    share = 90 / 240
    assert found.pmse.value == pytest.approx(((fitted - share) ** 2).mean(), rel=1e-5)
    coefficients = logistic_coefficients(x, labels, ridge=1e-10)
    np.testing.assert_allclose(logistic_probabilities(coefficients, x), fitted, atol=1e-6)


def test_exact_relations_and_constants_do_not_count_as_parameters() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(80, 2)), rng.normal(size=(80, 2))
    plain = distinguishability(columns_of(a, b))
    more = [np.column_stack([x, x[:, 0] + 2 * x[:, 1], np.full(80, 7.0)]) for x in (a, b)]
    found = distinguishability(columns_of(*more))
    assert found.n_parameters == plain.n_parameters == 3
    assert found.pmse.value == pytest.approx(plain.pmse.value, rel=1e-6)
    assert full_rank_scores(more[0]).shape == (80, 2)


@pytest.mark.parametrize("m", [200, 500])
def test_null_expectations(m: int) -> None:
    rng = np.random.default_rng(m)
    of_sample, of_redraw = [], []
    for _ in range(40):
        a = rng.normal(size=(200, 6))
        found = distinguishability(columns_of(a, rng.normal(size=(m, 6))))
        of_sample.append(found.standardized.value)
        redraw = distinguishability(columns_of(a, a[rng.integers(0, 200, size=m)]))
        of_redraw.append(redraw.standardized.value)
    error = found.standardized_of_a_sample * np.sqrt(2 / 6 / 40)
    assert np.mean(of_sample) == pytest.approx(found.standardized_of_a_sample, abs=3 * error)
    assert np.mean(of_redraw) == pytest.approx(1.0, abs=3 * np.sqrt(2 / 6 / 40))


def test_tables_far_apart_are_told_apart_without_error() -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(size=(60, 2))
    found = distinguishability(columns_of(a, a + 100.0))
    assert found.pmse.value == pytest.approx(0.25, abs=1e-3)


def test_missing_cells_tell_tables_apart() -> None:
    x = np.arange(50.0)
    missing = np.where(x % 2 > 0, np.nan, x)
    found = distinguishability([numeric_column("x", x, missing)])
    assert found.standardized.value > 10


def test_features_by_hand() -> None:
    ward = category_column("ward", ["a", "a", "b", "c"], ["b", "b", None, "a"])
    design = encoded([ward])
    # a is the most frequent; then b (p = 1/4 in the original), missing (1/8 of all), c (1/4);
    # sqrt(p (1 - p) 3) for four levels
    assert design.sources == ("ward",) * 3
    scale = 1 / np.sqrt(3 * 3 / 16)
    np.testing.assert_allclose(design.original[:, 0], [0, 0, scale, 0])
    np.testing.assert_allclose(np.sort(design.original[3]), [0, 0, scale])
    assert np.count_nonzero(design.released[2]) == 1
    assert location_and_scale(np.array([0.0, 0.0, 0.0, 0.0, 1.0]), "robust") == (0.0, 0.4)
    assert location_and_scale(np.array([np.nan]), "robust") == (0.0, 0.0)
    many = category_column("id", np.arange(100), np.arange(100))
    assert len(encoded([many]).sources) == 30


def test_reasons_and_refusals() -> None:
    x = np.arange(30.0)
    few = distinguishability([numeric_column("x", x[:5], x)])
    assert "at least 10 rows: got 5 and 30" in few.standardized.reason
    constant = distinguishability([numeric_column("x", x * 0, x * 0)])
    assert constant.pmse.reason == "every column is constant"
    wide = np.random.default_rng(0).normal(size=(10, 10))
    assert "need more than 20 rows" in distinguishability(columns_of(wide, wide)).pmse.reason
    with pytest.raises(InputError, match="max_rows must be at least 10"):
        distinguishability([numeric_column("x", x, x)], max_rows=3)
    with pytest.raises(InputError, match="no column to compare"):
        distinguishability([])
    with pytest.raises(InputError, match="rows of both kinds"):
        logistic_coefficients(x[:, None], np.ones(30))


def test_samples_of_a_copy_are_the_same_rows() -> None:
    x = np.random.default_rng(5).normal(size=(300, 2))
    found = distinguishability(columns_of(x, x), max_rows=50)
    assert found.n_original == found.n_released == 50
    assert found.pmse.value == pytest.approx(0.0, abs=1e-12)
