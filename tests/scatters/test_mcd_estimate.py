"""The MCD against R's values, by hand, and on data that mislead its search."""

from __future__ import annotations

import json

import numpy as np
import pytest

from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.linalg import affine_distance, squared_distances
from icsa.scatters.mcd_estimate import mcd
from icsa.scatters.mcd_factors import consistency_factor, small_sample_factor, subset_size
from tests.conftest import REFERENCE, load_reference
from tests.scatters.laws import SETS


@pytest.mark.parametrize("alpha", [0.5, 0.75])
@pytest.mark.parametrize("name", SETS)
def test_reaches_the_best_known_objective_with_nearly_every_seed(name: str, alpha: float) -> None:
    x, reference = load_reference(name)
    best_known = reference[f"MCD{round(100 * alpha)}"]["crit"]
    above = [mcd(x, alpha=alpha, random_state=s).objective - best_known for s in range(20)]
    # A search that stops when a better end is unlikely misses it now and then, by little.
    assert np.mean(np.array(above) <= 1e-9) >= 0.75
    assert max(above) < 0.005


@pytest.mark.parametrize("alpha", [0.5, 0.75])
@pytest.mark.parametrize("name", SETS)
def test_agrees_with_robustbase_to_the_last_digits(name: str, alpha: float) -> None:
    x, reference = load_reference(name)
    expected = reference[f"MCD{round(100 * alpha)}"]
    got = mcd(x, alpha=alpha)
    tolerance = 1e-9 if name.startswith("wdbc") else 1e-10
    assert got.objective == pytest.approx(expected["crit"], abs=1e-9)
    np.testing.assert_array_equal(got.support, np.sort(expected["best_0based"]))
    np.testing.assert_array_equal(got.weights, np.array(expected["raw_weights"], dtype=bool))
    assert affine_distance(np.array(expected["raw_cov"]), got.raw_scatter) < tolerance
    assert affine_distance(np.array(expected["cov"]), got.scatter) < tolerance
    for location, scatter, key in [
        (got.raw_location, got.raw_scatter, "raw_center"),
        (got.location, got.scatter, "center"),
    ]:
        gap = squared_distances(np.array([expected[key]]), location, scatter)[0]
        assert np.sqrt(gap) < tolerance
    np.testing.assert_allclose(
        [got.raw_consistency, got.raw_correction], expected["raw_cnp2"], rtol=1e-12
    )
    np.testing.assert_allclose([got.consistency, got.correction], expected["cnp2"], rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 0.75])
@pytest.mark.parametrize("name", SETS)
def test_agrees_with_robustbase_without_the_small_sample_correction(
    name: str, alpha: float
) -> None:
    x, reference = load_reference(name)
    expected = reference[f"MCD{round(100 * alpha)}"]["no_small_sample_correction"]
    got = mcd(x, alpha=alpha, small_sample_correction=False)
    tolerance = 1e-9 if name.startswith("wdbc") else 1e-10
    assert int(got.weights.sum()) == expected["sum_raw_weights"]
    assert affine_distance(np.array(expected["raw_cov"]), got.raw_scatter) < tolerance
    assert affine_distance(np.array(expected["cov"]), got.scatter) < tolerance
    assert (got.raw_correction, got.correction) == (1.0, 1.0)


def test_factors_agree_with_robustbase_on_its_grid() -> None:
    grid = json.loads((REFERENCE / "mcd_constants.json").read_text(encoding="utf-8"))["constants"]
    for row in grid:
        n, p, alpha = row["n"], row["p"], row["alpha"]
        assert subset_size(n, p, alpha) == row["h"]
        assert consistency_factor(row["h"] / n, p) == pytest.approx(
            row["consistency_raw"], rel=1e-12
        )
        if not row["simulated_table_used_raw"]:  # R's own simulated table, at n = 20, p = 8 only
            assert small_sample_factor(n, p, alpha) == pytest.approx(
                row["small_sample_raw"], rel=1e-12
            )
            assert small_sample_factor(n, p, alpha, "reweighted") == pytest.approx(
                row["small_sample_reweighted"], rel=1e-12
            )


def test_small_sample_factor_stays_positive_and_moderate_at_tiny_n() -> None:
    for p in range(1, 12):
        for n in range(p + 2, 3 * p + 4):
            for alpha in (0.5, 0.51, 0.75, 0.9):
                for estimate in ("raw", "reweighted"):
                    assert 0.5 < small_sample_factor(n, p, alpha, estimate) <= 10.0


def test_with_all_rows_it_is_the_covariance() -> None:
    x = np.random.default_rng(0).normal(size=(30, 3))
    got = mcd(x, alpha=1.0, reweighted=False)
    np.testing.assert_allclose(got.scatter, np.cov(x.T), rtol=1e-12)
    assert got.objective == pytest.approx(np.linalg.slogdet(np.cov(x.T))[1], abs=1e-12)


def test_one_column_by_hand() -> None:
    # h = (6 + 1 + 1) // 2 = 4 neighbours: 1, 2, 3, 4 have the least variance, 5/3.
    x = np.array([[100.0], [1.0], [3.0], [2.0], [4.0], [-70.0]])
    got = mcd(x, reweighted=False, small_sample_correction=False)
    np.testing.assert_array_equal(got.support, [1, 2, 3, 4])
    assert got.location[0] == 2.5
    assert got.objective == pytest.approx(np.log(5 / 3))


def test_three_outliers_in_the_plane_by_hand() -> None:
    # Nine rows on the 3 x 3 grid and three far away: h = (12 + 2 + 1) // 2 = 7 rows, none of them
    # far away.
    grid = np.array([[i, j] for i in (-1.0, 0.0, 1.0) for j in (-1.0, 0.0, 1.0)])
    x = np.vstack([grid, [[90.0, 90.0], [91.0, 90.0], [90.0, 91.0]]])
    got = mcd(x)
    assert got.support.size == 7
    assert got.support.max() < 9
    np.testing.assert_array_equal(got.weights, np.arange(12) < 9)
    np.testing.assert_allclose(got.location, 0.0, atol=1e-15)
    # All nine: sums of squares 6 and 6, no cross-product; covariance 6/8 each, then the two
    # factors.
    np.testing.assert_allclose(
        got.scatter, 0.75 * got.consistency * got.correction * np.eye(2), atol=1e-14
    )


def _with_cluster(seed: int, n: int, p: int, spread: float, shift: float):
    """Return a table in which 35% of the rows, anywhere, form a cluster; and which they are."""
    rng = np.random.default_rng(seed)
    x, clustered = rng.normal(size=(n, p)), rng.permutation(n) < int(0.35 * n)
    direction = rng.normal(size=p)
    x[clustered] = spread * x[clustered] + shift * direction / np.linalg.norm(direction)
    return x, clustered


@pytest.mark.parametrize(
    ("spread", "shift"), [(0.5, 500.0), (1.0, 15.0), (1.0, 60.0), (2.0, 200.0)]
)
def test_escapes_a_cluster_of_35_percent(spread: float, shift: float) -> None:
    for seed in range(50):
        x, clustered = _with_cluster(seed, 120, 8, spread, shift)
        got = mcd(x, alpha=0.5)
        assert not got.weights[clustered].any()
        assert got.weights[~clustered].mean() > 0.8


@pytest.mark.parametrize(("n", "p"), [(40, 4), (480, 32), (3000, 10), (5000, 20)])
def test_escapes_a_cluster_at_other_sizes(n: int, p: int) -> None:
    for seed in range(5):
        x, clustered = _with_cluster(seed, n, p, 1.0, 200.0)
        assert not mcd(x, alpha=0.5).weights[clustered].any()


def test_a_tight_cluster_is_inside_because_that_is_the_least_determinant() -> None:
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=(120, 8))
        x[:42] = 0.05 * x[:42] + 12.0
        central = np.argsort(np.linalg.norm(x[42:], axis=1))[:64]
        assert mcd(x).objective < np.linalg.slogdet(np.cov(x[42:][central].T))[1]


@pytest.mark.parametrize("shape", [(2000, 4), (9000, 6)])
def test_large_tables_settle_where_no_c_step_helps(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(3).standard_t(3, size=shape)
    x[: shape[0] // 3] += 15.0
    got = mcd(x, reweighted=False, small_sample_correction=False)
    distances = squared_distances(x, got.location, got.scatter)
    nearest = np.sort(np.argsort(distances)[: got.support.size])
    np.testing.assert_array_equal(nearest, got.support)
    assert got.support.min() >= shape[0] // 3


def test_result_depends_on_data_and_seed_only() -> None:
    x = np.random.default_rng(5).normal(size=(60, 5))
    np.testing.assert_array_equal(mcd(x).scatter, mcd(x).scatter)
    np.testing.assert_array_equal(
        mcd(x, random_state=4).support,
        mcd(x, random_state=4).support,
    )


@pytest.mark.parametrize("scales", [(1e-8, 1.0, 1e8), (1e8, 1e8, 1e8), (1e-8, 1e-8, 1e-8)])
def test_units_do_not_matter(scales: tuple[float, ...]) -> None:
    x = np.random.default_rng(6).standard_t(4, size=(80, 3))
    plain, scaled = mcd(x), mcd(x * scales)
    np.testing.assert_array_equal(plain.support, scaled.support)
    assert affine_distance(plain.scatter * np.outer(scales, scales), scaled.scatter) < 1e-12


@pytest.mark.parametrize("size", [1e4, 1e8, 1e12])
@pytest.mark.parametrize(
    ("n", "p", "far"), [(120, 2, 10), (120, 3, 20), (500, 4, 100), (3000, 3, 900)]
)
def test_rows_far_away_change_nothing(n: int, p: int, far: int, size: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, p))
    at = rng.permutation(n)[:far]
    x[at] *= 50.0
    near = mcd(x)
    x[at] = size * rng.normal(size=(far, p))
    got = mcd(x)
    assert not got.weights[at].any()
    assert got.objective == pytest.approx(near.objective, abs=0.05)


def test_one_column_with_rows_far_away() -> None:
    rng = np.random.default_rng(1)
    for size in (1e8, 1e10, 1e12):
        x = np.concatenate([rng.normal(size=90), np.full(10, -size)])[:, None]
        got = mcd(x, reweighted=False)
        h = got.support.size
        ordered = np.sort(x[:, 0])
        best = min(np.var(ordered[k : k + h], ddof=1) for k in range(100 - h + 1))
        assert got.objective == pytest.approx(np.log(best), abs=1e-9)


def test_numbers_that_overflow_do_not_crash() -> None:
    for n in (60, 3000):
        x = 1e-3 * np.random.default_rng(2).normal(size=(n, 5))
        x[:7] = 1e140
        assert not mcd(x).weights[:7].any()


def test_sizes_that_differ_without_end_are_refused_or_solved() -> None:
    for seed in range(20):
        x = np.exp(30.0 * np.random.default_rng(seed).normal(size=(60, 3)))
        try:
            got = mcd(x)
        except (ConvergenceError, ExactFitError):
            continue
        assert np.isfinite(got.objective)
        spread = np.sqrt(np.diagonal(got.scatter))
        assert np.linalg.eigvalsh(got.scatter / np.outer(spread, spread))[0] > 0


def test_no_starts_is_refused() -> None:
    with pytest.raises(InputError, match="1 start or more: got 0"):
        mcd(np.random.default_rng(0).normal(size=(30, 3)), n_starts=0)


def test_exact_fit_names_the_columns() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(100, 4))
    x[:70, 3] = x[:70, 0] + 2 * x[:70, 1]
    with pytest.raises(
        ExactFitError, match="columns '0', '1', '3' satisfy one linear equation in 70 of 100 rows"
    ) as caught:
        mcd(x)
    assert caught.value.columns == (0, 1, 3)
    assert caught.value.rows_on_it == 70


def test_exact_fit_of_a_mostly_constant_column() -> None:
    x = np.random.default_rng(8).normal(size=(100, 3))
    x[:80, 1] = 0.0
    with pytest.raises(ExactFitError, match="column '1' has one value in 80 of 100 rows"):
        mcd(x)


@pytest.mark.parametrize("n", [5000, 30_000])
def test_exact_fit_of_a_large_table(n: int) -> None:
    x = np.random.default_rng(8).normal(size=(n, 4))
    on_it = np.random.default_rng(9).permutation(n) < 0.7 * n
    x[on_it, 2] = x[on_it, 0]
    with pytest.raises(ExactFitError, match=f"columns '0', '2' .* in {on_it.sum()} of {n} rows"):
        mcd(x)


@pytest.mark.parametrize("n", [5000, 20_000, 60_000])
def test_exact_fit_of_a_column_that_varies_in_few_rows(n: int) -> None:
    x = np.random.default_rng(8).normal(size=(n, 3))
    x[20:, 2] = 1.0  # one value in all rows of the parts that the search begins in
    with pytest.raises(ExactFitError, match=f"column '2' has one value in {n - 20} of {n} rows"):
        mcd(x)


def test_dependent_columns_are_an_exact_fit() -> None:
    x = np.random.default_rng(9).normal(size=(50, 3))
    x = np.column_stack([x, x[:, 0] - x[:, 2]])
    with pytest.raises(
        ExactFitError, match="'0', '2', '3' satisfy one linear equation in 50 of 50"
    ):
        mcd(x)


def test_too_few_rows() -> None:
    with pytest.raises(
        InputError, match="needs more rows than columns \\+ 1: got 5 rows, 4 columns"
    ):
        mcd(np.eye(5)[:, :4])


def test_alpha_out_of_range() -> None:
    with pytest.raises(InputError, match=r"between 0\.5 and 1"):
        mcd(np.eye(5)[:, :2], alpha=0.3)
