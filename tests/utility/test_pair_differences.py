"""Pairs of columns: against scipy, by hand, and the yardstick against simulated samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from icsa.comparison.column_pairs import ColumnPair, category_column, numeric_column
from icsa.correlations import midranks, pairwise_correlations
from icsa.errors import InputError
from icsa.measures import NotEstimable
from icsa.utility.associations import associations, correlation_ratios, cramers_v
from icsa.utility.pair_differences import compare_pairs


def drawn(seed: int, n: int = 200, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    x[:, 1] += x[:, 0]
    x[:, 2] = np.round(np.exp(x[:, 2] + 0.5 * x[:, 0]))
    x[rng.random(x.shape) < missing] = np.nan
    return x


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_pearson_of_every_pair_is_scipys(missing: float) -> None:
    x = drawn(1, missing=missing) * [1e-5, 1.0, 1e4] + [3.0, -2.0, 1e5]
    found = pairwise_correlations(x)
    for i in range(3):
        for j in range(3):
            both = ~np.isnan(x[:, i]) & ~np.isnan(x[:, j])
            truth = stats.pearsonr(x[both, i], x[both, j]).statistic
            assert found[i, j] == pytest.approx(truth, abs=1e-9)


def test_spearman_with_ties_is_scipys() -> None:
    x = drawn(2)
    truth = stats.spearmanr(x).statistic
    np.testing.assert_allclose(pairwise_correlations(midranks(x)), truth, atol=1e-12)
    np.testing.assert_array_equal(midranks(x)[:, 2], stats.rankdata(x[:, 2]))


def test_cramers_v_by_hand_and_by_scipy() -> None:
    table = np.array([[20.0, 5.0, 0.0], [10.0, 15.0, 0.0]])
    # phi^2 = chi^2 / 50 of the 2 x 2 table; corrected by 1/49, and 2 levels become 2 - 1/49.
    phi2 = stats.chi2_contingency(table[:, :2], correction=False).statistic / 50
    truth = np.sqrt((phi2 - 1 / 49) / (1 - 1 / 49))
    assert cramers_v(table) == pytest.approx(truth, rel=1e-12)
    assert np.isnan(cramers_v(np.array([[4.0, 5.0]])))
    assert np.isnan(cramers_v(np.zeros((2, 2))))


def test_correlation_ratio_by_hand_and_by_the_f_test() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 4, size=80)
    x = rng.normal(size=80) + 0.5 * codes
    x[:5] = np.nan
    groups = [x[(codes == level) & ~np.isnan(x)] for level in range(4)]
    f = stats.f_oneway(*groups).statistic
    eta2 = 3 * f / (3 * f + 71)
    truth = np.sqrt(1 - (1 - eta2) * 74 / 71)
    found = correlation_ratios(x[:, None], codes[:, None], (4,))
    assert found[0, 0] == pytest.approx(truth, rel=1e-10)


def test_constant_and_empty_columns_have_no_association() -> None:
    x = np.column_stack([np.arange(6.0), np.full(6, 2.5), np.full(6, np.nan)])
    codes = np.array([[0, 0, 0, 1, 1, 1], [-1] * 6, [0] * 6]).T
    found = associations(x, codes, (2, 1, 1))
    assert np.isnan(found.pearson[0, 1:]).all()
    assert np.isnan(found.spearman[0, 1:]).all()
    assert np.isnan(found.cramers_v[0, 1:]).all()
    assert np.isnan(found.correlation_ratio[1:]).all()
    assert found.correlation_ratio[0, 0] > 0.8


def test_huge_and_tiny_numbers_do_not_matter() -> None:
    x = drawn(5)
    truth = pairwise_correlations(x)
    np.testing.assert_allclose(pairwise_correlations(x * [1e300, 1e-300, 1.0]), truth, atol=1e-9)


def columns_of(a: np.ndarray, b: np.ndarray) -> list[ColumnPair]:
    return [
        numeric_column("x", a[:, 0], b[:, 0]),
        category_column("high", a[:, 2] > 1, b[:, 2] > 1),
        numeric_column("y", a[:, 1], b[:, 1]),
    ]


def test_a_broken_pair_is_named() -> None:
    a, b = drawn(6, n=400), drawn(7, n=300)
    b[:, 1] = np.random.default_rng(0).permutation(b[:, 1])
    found = compare_pairs(columns_of(a, b))
    worst = found.worst(2)
    assert {(pair.first, pair.second) for pair in worst} == {("x", "y")}
    assert {pair.association for pair in worst} == {"pearson", "spearman"}
    assert all(pair.difference.beyond_chance for pair in worst)
    assert worst[0].difference.measure.value == pytest.approx(
        worst[0].released - worst[0].original, abs=1e-12
    )
    limits = found.matrix("limit")
    np.testing.assert_array_equal(limits, limits.T)
    assert 0.0 < limits[0, 2] < abs(found.matrix()[0, 2])
    heat = found.matrix("difference", "spearman")
    np.testing.assert_array_equal(heat, heat.T)
    assert np.isnan(np.diag(heat)).all()
    assert heat[0, 2] < -0.5
    assert found.matrix("original")[0, 2] == pytest.approx(np.corrcoef(a[:, 0], a[:, 1])[0, 1])
    assert found.matrix("released")[0, 1] == found.matrix("released")[1, 0] > 0


def test_a_copy_changes_nothing_even_when_sampled() -> None:
    a = drawn(8, n=500, missing=0.1)
    found = compare_pairs(columns_of(a, a), max_rows=100)
    assert found.n_original == 100
    assert {pair.difference.measure.value for pair in found.pairs} == {0.0}
    assert not any(pair.difference.beyond_chance for pair in found.pairs)


def test_the_yardstick_is_the_spread_between_samples() -> None:
    limits, differences = [], []
    for seed in range(50):
        a, b = drawn(2 * seed, n=300), drawn(2 * seed + 1, n=80)
        found = compare_pairs(columns_of(a, b), draws=20)
        limits.append([pair.difference.limit for pair in found.pairs])
        differences.append([pair.difference.measure.value for pair in found.pairs])
    spread = np.std(differences, axis=0)
    np.testing.assert_allclose(np.mean(limits, axis=0) / 1.96, spread, rtol=0.35)


def test_many_levels_count_as_one_beyond_the_most_frequent() -> None:
    rng = np.random.default_rng(1)
    names = rng.integers(0, 200, size=1000)
    found = compare_pairs(
        [category_column("name", names, names), category_column("b", names % 2, names % 2)], draws=2
    )
    assert found.pairs[0].difference.measure.value == 0.0


def test_reasons_and_refusals() -> None:
    x = np.arange(10.0)
    found = compare_pairs([numeric_column("x", x, x), numeric_column("c", x, x * 0 + 1)])
    assert isinstance(found.pairs[0].released, NotEstimable)
    assert "in the release a column is constant" in found.pairs[0].difference.measure.reason
    assert found.worst() == ()
    assert np.isnan(found.matrix("released")).all()
    assert compare_pairs([]).pairs == ()
    with pytest.raises(InputError, match="different names"):
        compare_pairs([numeric_column("x", x, x), numeric_column("x", x, x)])
    with pytest.raises(InputError, match="at least 2 draws: got 1"):
        compare_pairs([numeric_column("x", x, x)], draws=1)
    with pytest.raises(InputError, match="table must be one of"):
        found.matrix("both")  # type: ignore[arg-type]
    assert repr(found) == "<2 associations of 2 columns>"
