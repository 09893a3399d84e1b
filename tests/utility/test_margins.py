"""Columns on their own: by hand, against scipy, and the yardsticks against simulated samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from icsa.comparison.column_pairs import category_column, named, numeric_column, sampled
from icsa.errors import InputError, UnknownNameError
from icsa.utility.chance import folded_normal, ks_chance, tv_chance
from icsa.utility.margins import QUANTILES, category_margin, compare_margins, numeric_margin

NUMBERS = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-1e300, 1e300), st.just(float("nan"))),
    max_size=30,
)
LABELS = st.lists(st.sampled_from(["a", "b", "ü", None]), max_size=30)


def test_four_rows_by_hand() -> None:
    margin = numeric_margin(numeric_column("x", [1, 2, 3, np.nan], [2, 2, 6]))
    assert margin.mean.original.value == pytest.approx(2.0)
    assert margin.mean.released.value == pytest.approx(10 / 3)
    assert margin.standard_deviation.original.value == pytest.approx(1.0)
    # 1.96 * 1 * sqrt(1/3 + 1/3)
    assert margin.mean.high == pytest.approx(2.0 + 1.959964 * np.sqrt(2 / 3), rel=1e-6)
    assert not margin.mean.beyond_chance
    assert margin.missing.original.value == pytest.approx(0.25)
    assert margin.missing.released.value == 0.0
    # F is 1/3, 2/3, 1 at 1, 2, 3 and G is 2/3 from 2 on: the largest gap is 1/3.
    assert margin.distance.measure.value == pytest.approx(1 / 3)
    assert [side.released.value for side in margin.quantiles] == pytest.approx(
        np.quantile([2, 2, 6], QUANTILES).tolist()
    )


def test_categories_by_hand() -> None:
    column = category_column("ward", ["a", "b", "b", None], ["a", "a", "c", "b"])
    margin = category_margin(column)
    assert column.levels == ("a", "b", "c")
    # 1/3, 2/3, 0 and 1/2, 1/4, 1/4: half of 1/6 + 5/12 + 1/4.
    assert margin.distance.measure.value == pytest.approx(5 / 12)
    assert margin.missing.original.value == 0.25
    assert [side.original.value for side in margin.shares] == pytest.approx([1 / 3, 2 / 3, 0.0])


@pytest.mark.parametrize("ties", [False, True])
def test_distance_is_that_of_scipy(ties: bool) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=70), rng.normal(0.4, 1.3, size=41)
    if ties:
        a, b = np.round(a), np.round(b)
    found = numeric_margin(numeric_column("x", a, b)).distance
    assert found.measure.value == pytest.approx(stats.ks_2samp(a, b).statistic, abs=1e-12)


def test_the_yardstick_of_continuous_samples() -> None:
    # The mean and the 95% point of the limiting distribution, from scipy.
    size = np.sqrt(900 * 1200 / 2100)
    expected, limit = ks_chance(np.full(900, 1 / 900), 900, 1200)
    assert expected * size == pytest.approx(stats.kstwobign.mean(), rel=1e-6)
    assert limit * size == pytest.approx(stats.kstwobign.ppf(0.95), rel=1e-6)


@pytest.mark.parametrize("values", [2, 5, 40])
def test_the_yardstick_of_tied_samples(values: int) -> None:
    rng = np.random.default_rng(5)
    n, m = 200, 120
    shares = rng.dirichlet(np.full(values, 3.0))
    distances = []
    for _ in range(600):
        a, b = (np.cumsum(rng.multinomial(size, shares)) / size for size in (n, m))
        distances.append(np.abs(a - b).max())
    expected, limit = ks_chance(shares, n, m)
    assert expected == pytest.approx(np.mean(distances), rel=0.06)
    assert limit == pytest.approx(np.quantile(distances, 0.95), rel=0.1)
    if values == 2:
        error = np.sqrt(shares[0] * shares[1] * (1 / n + 1 / m))
        assert expected == pytest.approx(folded_normal(error)[0], rel=0.05)


def test_the_yardstick_of_categories() -> None:
    shares = np.array([0.5, 0.3, 0.2])
    expected, limit = tv_chance(shares, 400, 500)
    # E|p - q| of every level is that of a folded normal
    formula = sum(folded_normal(np.sqrt(p * (1 - p) * (1 / 400 + 1 / 500)))[0] for p in shares) / 2
    assert expected == pytest.approx(formula, rel=0.03)
    assert expected < limit < 3 * expected


def test_ranges_hold_for_another_sample() -> None:
    rng = np.random.default_rng(8)
    outside = np.zeros(3)
    for _ in range(200):
        column = numeric_column("x", rng.exponential(size=600), rng.exponential(size=500))
        margin = numeric_margin(column)
        outside += [
            margin.mean.beyond_chance,
            margin.quantiles[2].beyond_chance,
            margin.distance.beyond_chance,
        ]
    # 5% of 200, give or take three standard deviations
    assert np.all(outside <= 20)
    assert np.all(outside >= 1)


def test_a_shift_is_beyond_chance() -> None:
    x = np.random.default_rng(2).normal(size=500)
    margin = numeric_margin(numeric_column("x", x, 1.5 * x + 0.5))
    assert margin.mean.beyond_chance
    assert margin.standard_deviation.beyond_chance
    assert margin.distance.beyond_chance
    ward = category_margin(category_column("ward", x > 0, x > 0.8))
    assert ward.distance.beyond_chance
    assert "by chance" in str(ward.distance)


@given(NUMBERS, NUMBERS)
def test_any_numbers_give_a_margin_or_a_reason(a: list[float], b: list[float]) -> None:
    margin = numeric_margin(numeric_column("x", a, b))
    value = margin.distance.measure.value
    present = [[cell for cell in cells if cell == cell] for cells in (a, b)]
    assert (value is None) == (not present[0] or not present[1])
    if value is not None:
        assert 0.0 <= value <= 1.0
        assert numeric_margin(numeric_column("x", b, a)).distance.measure.value == value


@given(LABELS, LABELS)
def test_any_labels_give_a_margin_or_a_reason(a: list[str | None], b: list[str | None]) -> None:
    margin = category_margin(category_column("x", a, b))
    value = margin.distance.measure.value
    assert (value is None) == (not any(a) or not any(b))
    if value is not None:
        assert 0.0 <= value <= 1.0


def test_an_exact_copy_has_no_distance() -> None:
    x = np.random.default_rng(0).normal(size=50)
    columns = [numeric_column("x", x, x[::-1]), category_column("y", x > 0, x[::-1] > 0)]
    assert [margin.distance.measure.value for margin in compare_margins(columns)] == [0.0, 0.0]


def test_what_is_missing_throughout_has_reasons() -> None:
    margin = numeric_margin(numeric_column("x", [np.nan, np.nan], [1.0, 2.0]))
    assert margin.distance.measure.reason == "every cell of the original is missing"
    assert margin.mean.original.value is None
    assert margin.mean.released.value == 1.5
    margin = category_margin(category_column("x", ["a"], [None]))
    assert margin.distance.measure.reason == "every cell of the release is missing"


def test_columns_refuse_what_they_cannot_hold() -> None:
    with pytest.raises(InputError, match="1 of 2 values are infinite, first in row 2"):
        numeric_column("x", [1.0, 2.0], [1.0, np.inf])
    with pytest.raises(InputError, match="'x' of the original holds something else than numbers"):
        numeric_column("x", ["secret"], [1.0])
    with pytest.raises(InputError, match="must be one vector: got 2"):
        numeric_column("x", [[1.0]], [1.0])
    with pytest.raises(InputError, match="must be one vector: got 2"):
        category_column("x", [["a"]], ["a"])
    columns = [numeric_column("age", [1.0], [1.0]), numeric_column("bmi", [1.0, 2.0], [1.0])]
    with pytest.raises(InputError, match="must have one length"):
        sampled(columns, 10)
    with pytest.raises(UnknownNameError, match="Did you mean 'age'"):
        named(columns, "agee")


def test_samples_keep_rows_together_and_equal_tables_equal() -> None:
    x = np.arange(1000.0)
    first, second = sampled([numeric_column("a", x, x), category_column("b", x > 9, x > 9)], 50)
    assert first.original.size == 50
    np.testing.assert_array_equal(first.original, first.released)
    np.testing.assert_array_equal((first.original > 9) + 0, second.original)


def test_nothing_shows_a_cell() -> None:
    column = category_column("ward", ["secret"], ["secret"])
    assert "secret" not in repr(column)
    assert "1234" not in repr(numeric_column("x", [1234.0], [1234.0]))
