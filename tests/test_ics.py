"""Invariant coordinates against R's values, by their laws, and on tables that are short of rank."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa import invariant_coordinates
from icsa.errors import ExactFitError, InputError
from icsa.scatters import LocationScatter, cov, cov4, mcd, resolve
from tests.conftest import REFERENCE, load_reference

SETS = sorted(path.stem for path in REFERENCE.glob("*.csv") if path.stem != "synth_30x60")
NAMES = {
    "cov": "cov",
    "cov4": "cov4",
    "HR": "hr",
    "tyler": "tyler",
    "MCD50": "mcd50",
    "MCD75": "mcd75",
    "MCD50raw": "mcd50_raw",
    "MCD75raw": "mcd75_raw",
}


@pytest.mark.parametrize("name", SETS)
def test_eigenvalues_and_components_as_in_r(name: str) -> None:
    x, reference = load_reference(name)
    for pair, expected in reference["ics"].items():
        first, second = (NAMES[part] for part in pair.split("-"))
        got = invariant_coordinates(x, scatters=(first, second))
        tolerance = 1e-7 if name.startswith("wdbc") else 1e-8
        np.testing.assert_allclose(
            got.eigenvalues, expected["eigenvalues_stable"], rtol=tolerance, err_msg=pair
        )
        wanted = np.array(expected["W_stable"])
        gaps = np.array(expected["relative_gap_per_component"])
        # In the metric of S1: W S1 W' = I, so S1 = A A' with A the mixing matrix.
        ours, theirs = got.unmixing @ got.mixing, wanted @ got.mixing
        signs = np.sign(np.sum(ours * theirs, axis=1))
        errors = np.linalg.norm(ours - signs[:, None] * theirs, axis=1)
        assert np.all((errors < tolerance / gaps) | (gaps < 1e-6)), pair


def test_four_rows_by_hand() -> None:
    # Mean 0, covariance diag(8/3, 2/3). The principal components are the axes themselves, the
    # longer one first.
    x = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    got = invariant_coordinates(x, scatters=("identity", "cov"))
    np.testing.assert_allclose(got.eigenvalues, [8 / 3, 2 / 3])
    np.testing.assert_allclose(got.unmixing, np.eye(2), atol=1e-15)
    np.testing.assert_allclose(got.transform(x), x, atol=1e-15)
    assert got.verbatim_columns == (0, 1)


def _table(seed: int, n: int, p: int, condition: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(p, p)))[0]
    scales = np.geomspace(1.0, condition, p)
    return rng.standard_t(4, size=(n, p)) @ (basis * scales) + rng.normal(size=p) * scales[-1]


@given(
    seed=st.integers(0, 2**32),
    p=st.integers(2, 8),
    condition=st.sampled_from([1.0, 1e3, 1e8]),
    pair=st.sampled_from(
        [("cov", "cov4"), ("mcd50", "mcd75"), ("hr", "tyler"), ("identity", "cov")]
    ),
)
def test_inverse_is_exact(seed: int, p: int, condition: float, pair: tuple[str, str]) -> None:
    x = _table(seed, 60, p, condition)
    got = invariant_coordinates(x, scatters=pair)
    back = got.inverse_transform(got.transform(x))
    assert np.all(np.abs(back - x) < 1e-10 * np.abs(x).max(axis=0))
    assert np.all(np.diff(got.eigenvalues) <= 0)


@given(seed=st.integers(0, 2**32), p=st.integers(2, 6), spread=st.sampled_from([1.0, 1e-8, 1e8]))
@pytest.mark.parametrize(
    "pair", [("cov", "cov4"), ("mcd50", "mcd75"), ("hr", "cov"), ("mcd50", "hr")]
)
def test_scores_do_not_change_with_the_coordinate_system(
    pair: tuple[str, str], seed: int, p: int, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_t(5, size=(80, p)) * np.linspace(1.0, 3.0, p)
    left, right = (np.linalg.qr(rng.normal(size=(p, p)))[0] for _ in range(2))
    a = np.geomspace(1.0, spread, p)[:, None] * (left * np.geomspace(1.0, 100.0, p)) @ right
    first = invariant_coordinates(x, scatters=pair)
    second = invariant_coordinates(x @ a.T + rng.normal(size=p), scatters=pair)
    values = first.eigenvalues
    np.testing.assert_allclose(
        second.eigenvalues / second.eigenvalues[0], values / values[0], rtol=1e-6
    )
    gaps = (
        np.minimum(-np.diff(values, prepend=np.inf), -np.diff(values, append=-np.inf)) / values[0]
    )
    z, w = first.transform(x), second.transform(x @ a.T + 0.0)
    z, w = z - z.mean(axis=0), w - w.mean(axis=0)
    clear = gaps > 1e-3  # components of tied eigenvalues are free to turn
    if not clear.any():
        return
    z, w = z[:, clear], w[:, clear]
    signs = np.sign(np.sum(z * w, axis=0))
    scale = np.linalg.norm(z) / np.linalg.norm(w)  # shapes have no size, so scores have none
    np.testing.assert_allclose(w * signs * scale, z, rtol=0, atol=1e-6 * np.abs(z).max())


@pytest.mark.parametrize(
    "pair", [("cov", "cov4"), ("mcd50", "mcd75"), ("hr", "tyler"), ("mcd75", "hr")]
)
def test_second_scatter_of_the_whitened_rows_or_of_the_table_gives_the_same(
    pair: tuple[str, str],
) -> None:
    x, _ = load_reference("synth_200x5")
    on_whitened = invariant_coordinates(x, scatters=pair)
    on_table = invariant_coordinates(x, scatters=[resolve(name)(x) for name in pair])
    np.testing.assert_allclose(on_table.eigenvalues, on_whitened.eigenvalues, rtol=1e-9)
    np.testing.assert_allclose(on_table.unmixing, on_whitened.unmixing, atol=1e-7)


def test_definition_holds() -> None:
    x = _table(1, 100, 4, 100.0)
    got = invariant_coordinates(x, scatters=("cov", "cov4"))
    w = got.unmixing
    np.testing.assert_allclose(w @ cov(x).scatter @ w.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(w @ cov4(x).scatter @ w.T, np.diag(got.eigenvalues), atol=1e-11)
    np.testing.assert_allclose(w @ got.mixing, np.eye(4), atol=1e-12)


def test_sign_rule() -> None:
    got = invariant_coordinates(_table(2, 90, 5, 50.0), scatters=("mcd50", "mcd75"))
    spread = np.sqrt(np.sum(got.mixing**2, axis=1))  # S1 = A A'
    weights = got.unmixing * spread
    assert np.all(weights[np.arange(5), np.abs(weights).argmax(axis=1)] > 0)


def test_ties_do_not_fail() -> None:
    # On hbk both MCDs keep the same rows: all eigenvalues are equal, any basis is right.
    x, _ = load_reference("hbk")
    got = invariant_coordinates(x, scatters=("mcd50", "mcd75"))
    np.testing.assert_allclose(got.eigenvalues, got.eigenvalues[0], rtol=1e-12)
    np.testing.assert_allclose(got.inverse_transform(got.transform(x)), x, atol=1e-12)
    # The basis is not that of the columns, whose values would be released as they are.
    assert got.verbatim_columns == ()
    shares = np.abs(got.mixing) / np.linalg.norm(got.mixing, axis=1, keepdims=True)
    assert shares.max() < 0.999


@pytest.mark.parametrize(
    "pair", [("cov", "cov4"), ("mcd50", "mcd75"), ("identity", "mcd50"), ("hr", "tyler")]
)
def test_dependent_columns_stay_dependent(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(4)
    free = rng.normal(size=(70, 3)) * [1.0, 1e-5, 1e4]
    total = free @ [1.0, 1.0, 1.0]
    ratio = 2.0 - 3e8 * free[:, 1]
    x = np.column_stack([free[:, 0], total, free[:, 1:], ratio])
    got = invariant_coordinates(x, scatters=pair)
    assert got.eigenvalues.size == 3
    sizes = np.abs(x).max(axis=0)
    # The identity has lengths across columns: its basis mixes them, with the rounding of the
    # largest, some 1e-16 of it in each of a few sums.
    allowed = 1e-14 * sizes.max() if "identity" in pair else 1e-10 * sizes.min()
    np.testing.assert_allclose(got.inverse_transform(got.transform(x)), x, atol=allowed)
    other = got.inverse_transform(rng.normal(size=(20, 3)))
    np.testing.assert_allclose(other[:, 1], other[:, [0, 2, 3]].sum(axis=1), rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(other[:, 4], 2.0 - 3e8 * other[:, 2], rtol=1e-9)


def test_constant_columns_come_back_as_they_are() -> None:
    x = _table(5, 50, 3, 1.0)
    x = np.column_stack([np.full(50, 1 / 3), x, np.full(50, -7.0)])
    got = invariant_coordinates(x)
    assert got.constant_columns == (0, 4)
    back = got.inverse_transform(got.transform(x)[::-1])
    assert set(back[:, 0]) == {1 / 3}
    assert set(back[:, 4]) == {-7.0}


def test_one_column() -> None:
    x = _table(6, 30, 1, 1.0)
    got = invariant_coordinates(x)
    assert got.eigenvalues.shape == (1,)
    assert got.verbatim_columns == (0,)
    np.testing.assert_allclose(got.inverse_transform(got.transform(x)), x, rtol=1e-14)


def test_scatters_of_other_kinds() -> None:
    from sklearn.covariance import EmpiricalCovariance

    x = _table(7, 80, 3, 10.0)

    def halved(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return matrix.mean(axis=0), 0.5 * np.cov(matrix.T)

    by_estimator = invariant_coordinates(x, scatters=(EmpiricalCovariance(), "cov4"))
    by_callable = invariant_coordinates(x, scatters=(halved, "cov4"))
    by_name = invariant_coordinates(x, scatters=("cov", "cov4"))
    np.testing.assert_allclose(by_callable.mixing * np.sqrt(2), by_name.mixing, rtol=1e-9)
    np.testing.assert_allclose(by_estimator.mixing, by_name.mixing * np.sqrt(79 / 80), rtol=1e-9)
    assert by_callable.scatter_names == ("halved", "cov4")


def test_exact_fit_names_the_frame_s_columns() -> None:
    rng = np.random.default_rng(8)
    x = pd.DataFrame(rng.normal(size=(60, 4)), columns=["age", "sbp", "dbp", "pulse"])
    x["constant"] = 1.0
    x.loc[:49, "pulse"] = x.loc[:49, "sbp"] - x.loc[:49, "dbp"]
    with pytest.raises(
        ExactFitError, match="'sbp', 'dbp', 'pulse' satisfy one linear equation in 50"
    ):
        invariant_coordinates(x)
    with pytest.raises(
        ExactFitError, match="'sbp', 'dbp', 'pulse' satisfy one linear equation in 50"
    ):
        invariant_coordinates(x, scatters=("cov", "mcd75"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: invariant_coordinates(x, scatters=("cov", "cvo4")), "Did you mean 'cov4'"),
        (lambda x: invariant_coordinates(x, scatters="cov"), "must be a pair"),
        (lambda x: invariant_coordinates(x, scatters=("cov",)), "must be a pair"),
        (lambda x: invariant_coordinates(x, scatters=("cov", 4)), "must be a name, a callable"),
        (
            lambda x: invariant_coordinates(x, scatters=("cov", lambda m: 3)),
            "must return a LocationScatter",
        ),
        (
            lambda x: invariant_coordinates(x[:3]),
            "needs more rows than columns \\+ 1: got 3 rows, 3",
        ),
        (lambda x: invariant_coordinates(x).transform(x[:, :2]), "Expected 3 columns, got 2"),
        (lambda x: invariant_coordinates(x * 0), "No column varies"),
    ],
)
def test_errors(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(_table(9, 40, 3, 1.0))


def test_given_scatters_are_used_as_they_are() -> None:
    x = _table(10, 60, 3, 1.0)
    s1 = LocationScatter(np.array([1.0, 2.0, 3.0]), np.diag([1.0, 4.0, 9.0]))
    got = invariant_coordinates(x, scatters=(s1, mcd(x)))
    np.testing.assert_array_equal(got.location, s1.location)
    np.testing.assert_allclose(got.mixing @ got.mixing.T, s1.scatter, atol=1e-13)


def test_one_person_far_away_does_not_make_columns_dependent() -> None:
    x = np.random.default_rng(11).normal(size=(200, 4))
    for size in (1e6, 1e9, 1e13, 1e15):
        x[17] = size * np.array([1.0, 1.3, 0.7, 2.0])
        got = invariant_coordinates(x)
        assert got.eigenvalues.size == 4
        back = got.inverse_transform(got.transform(x))
        np.testing.assert_allclose(np.delete(back, 17, 0), np.delete(x, 17, 0), atol=1e-8)


def test_turned_conditioning() -> None:
    # The covariance has condition number 1e8, and no choice of units takes it away.
    rng = np.random.default_rng(12)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    x = (rng.normal(size=(300, 5)) * np.geomspace(1.0, 1e-4, 5)) @ turn.T + 3.0
    for pair in [
        ("cov", "cov4"),
        ("mcd50", "mcd75"),
        ("hr", "tyler"),
        ("identity", "cov"),
        ("s", "cov"),
    ]:
        got = invariant_coordinates(x, scatters=pair)
        np.testing.assert_allclose(got.inverse_transform(got.transform(x)), x, rtol=1e-10)


def test_out_must_fit() -> None:
    x = _table(13, 50, 3, 1.0)
    got = invariant_coordinates(x, scatters=("cov", "cov4"))
    for out in (
        np.empty((10, 3), order="F"),
        np.empty((50, 3), dtype=np.float32),
        np.empty((50, 3)),
    ):
        with pytest.raises(InputError, match="out must be a writeable float64 array"):
            got.transform(x, out=out)
        with pytest.raises(InputError, match="out must be a writeable float64 array"):
            got.inverse_transform(x, out=out)
    room = np.empty((50, 3), order="F")
    assert got.transform(x, out=room) is room


def test_other_rows_must_keep_what_was_constant_or_dependent() -> None:
    x = _table(14, 50, 2, 1.0)
    x = np.column_stack([x, x.sum(axis=1), np.full(50, 7.0)])
    got = invariant_coordinates(x, scatters=("cov", "cov4"))
    got.transform(x[:5])
    other = x.copy()
    other[3, 3] = 8.0
    with pytest.raises(InputError, match="Column\\(s\\) '3': constant, or exactly dependent"):
        got.transform(other)


def test_the_repr_shows_no_data() -> None:
    x = np.column_stack([_table(15, 50, 2, 1.0), np.full(50, 7.123456)])
    shown = repr(invariant_coordinates(x))
    assert shown == "<InvariantCoordinates by mcd50 and mcd75: 3 columns, 2 components>"


def test_signs_do_not_depend_on_rounding() -> None:
    for seed in range(30):
        x = _table(seed, 40, 2, 1.0)
        first = invariant_coordinates(x, scatters=("variances", "cov"))
        second = invariant_coordinates(x * [1e-3, 7.0], scatters=("variances", "cov"))
        np.testing.assert_allclose(first.transform(x), second.transform(x * [1e-3, 7.0]), atol=1e-9)


def test_small_principal_components_are_not_taken_for_tied() -> None:
    # Variances from 1e8 to 1e-8: far apart, though all but the first are small against it.
    x = np.random.default_rng(16).normal(size=(200, 5)) * [1e4, 1.0, 1e-2, 1e-3, 1e-4]
    got = invariant_coordinates(x, scatters=("identity", "cov"))
    off = np.cov(got.transform(x).T) / np.sqrt(np.outer(got.eigenvalues, got.eigenvalues))
    np.testing.assert_allclose(off, np.eye(5), atol=1e-3)
