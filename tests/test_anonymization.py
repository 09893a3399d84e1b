"""Releases of matrices: what they keep, what they hide, what they say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa import anonymize_matrix, invariant_coordinates, masked_copy
from icsa.errors import InputError, VerbatimColumnWarning
from icsa.masks import flip, permute, redraw


def _table(seed: int, n: int = 80, p: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p)


def nearest_release(x: np.ndarray, released: np.ndarray, row: int) -> float:
    """Return the relative squared distance of a row to the nearest released one."""
    gaps = np.sum((released - x[row]) ** 2, axis=1)
    return float(gaps.min() / np.sum(x[row] ** 2))


def test_robust_coordinates_hide_the_outlier_that_principal_components_copy() -> None:
    spectral, robust, redrawn = [], [], []
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=(120, 8))
        x[-1] += 100.0
        for pair, mask, found in (
            (("identity", "cov"), "permute", spectral),
            (("mcd50", "mcd75"), "permute", robust),
            (("identity", "cov"), "redraw", redrawn),
        ):
            released = anonymize_matrix(x, scatters=pair, mask=mask, random_state=seed)
            found.append(nearest_release(x, released, -1))
    assert max(spectral) < 0.002
    assert np.median(robust) > 0.1
    # Whatever the map, nothing that far out is drawn.
    assert min(redrawn) > 0.5


def test_the_default_redraws_and_leaves_no_correlation() -> None:
    for seed in range(5):
        x = _table(seed)
        coordinates = invariant_coordinates(x)
        released = anonymize_matrix(x, random_state=seed)
        scores = coordinates.transform(released)
        np.testing.assert_allclose(np.corrcoef(scores.T), np.eye(scores.shape[1]), atol=1e-9)
        masked = redraw(coordinates.transform(x), key=seed)
        np.testing.assert_allclose(scores.mean(axis=0), masked.mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(scores.std(axis=0), masked.std(axis=0), rtol=1e-9)
        named = anonymize_matrix(x, mask="redraw", decorrelate=True, random_state=seed)
        assert np.array_equal(released, named)


def test_only_redraw_decorrelates_by_itself_and_only_with_rows_enough() -> None:
    x = _table(1)
    for mask in ("permute", "rotate"):
        plain = anonymize_matrix(x, mask=mask, random_state=1)
        assert np.array_equal(
            plain, anonymize_matrix(x, mask=mask, decorrelate=False, random_state=1)
        )
    wide = _table(1, n=10, p=30)  # 9 components: one row too few
    assert anonymize_matrix(wide, scatters=("identity", "cov"), random_state=1).shape == (10, 30)


@given(
    seed=st.integers(0, 2**32),
    pair=st.sampled_from([("mcd50", "mcd75"), ("identity", "cov"), ("hr", "tyler")]),
)
def test_permuting_keeps_means_and_component_values(seed: int, pair: tuple[str, str]) -> None:
    x = _table(seed)
    coordinates = invariant_coordinates(x, scatters=pair)
    released = masked_copy(x, coordinates, mask="permute", random_state=seed)
    np.testing.assert_allclose(released.mean(axis=0), x.mean(axis=0), atol=1e-11)
    np.testing.assert_allclose(
        np.sort(coordinates.transform(released), axis=0),
        np.sort(coordinates.transform(x), axis=0),
        atol=1e-9,
    )


@pytest.mark.filterwarnings("ignore:mask=.flip")
@given(seed=st.integers(0, 2**32), mask=st.sampled_from(["permute", "flip", "rotate"]))
def test_decorrelated_spectral_release_has_the_covariance_of_the_original(
    seed: int, mask: str
) -> None:
    x = _table(seed)
    released = anonymize_matrix(
        x, scatters=("identity", "cov"), mask=mask, decorrelate=True, random_state=seed
    )
    np.testing.assert_allclose(
        np.cov(released.T), np.cov(x.T), atol=1e-10 * np.abs(np.cov(x.T)).max()
    )
    np.testing.assert_allclose(released.mean(axis=0), x.mean(axis=0), atol=1e-11)
    # So least squares gives the original's coefficients.
    ours, theirs = (
        np.linalg.lstsq(np.column_stack([np.ones(80), t[:, :3]]), t[:, 3], rcond=None)[0]
        for t in (released, x)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-8)


@pytest.mark.filterwarnings("ignore:mask=.flip")
@given(seed=st.integers(0, 2**32), mask=st.sampled_from(["permute", "flip", "rotate"]))
def test_exact_relations_hold_in_the_release(seed: int, mask: str) -> None:
    parts = _table(seed, p=3)
    x = np.column_stack([parts, parts.sum(axis=1), np.full(80, 3.5)])
    released = anonymize_matrix(x, mask=mask, random_state=seed)
    np.testing.assert_allclose(
        released[:, 3], released[:, :3].sum(axis=1), atol=1e-10 * np.abs(x).max()
    )
    assert set(released[:, 4]) == {3.5}
    assert not np.allclose(released[:, :3], parts)


def test_release_depends_on_data_options_and_key_only() -> None:
    x = np.random.default_rng(0).normal(size=(50_000, 3)) @ np.array(
        [[1, 1, 0], [0, 1, 2], [0, 0, 1.0]]
    )
    coordinates = invariant_coordinates(x, scatters=("cov", "cov4"))
    one = masked_copy(x, coordinates, random_state=4)
    np.testing.assert_array_equal(masked_copy(x, coordinates, random_state=4, threads=3), one)
    np.testing.assert_array_equal(
        masked_copy(np.asfortranarray(x), coordinates, random_state=4), one
    )
    assert not np.array_equal(masked_copy(x, coordinates, random_state=5), one)


def test_the_table_is_not_changed() -> None:
    x = _table(1)
    untouched = x.copy()
    for decorrelate in (False, True):
        anonymize_matrix(x, decorrelate=decorrelate)
    np.testing.assert_array_equal(x, untouched)


def test_scale_of_a_scatter_and_order_of_the_pair_cancel() -> None:
    x = _table(2)

    def doubled(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return matrix.mean(axis=0) + 1.0, 2.0 * np.cov(matrix.T)

    plain = anonymize_matrix(x, scatters=("cov", "cov4"), random_state=1)
    np.testing.assert_allclose(
        anonymize_matrix(x, scatters=(doubled, "cov4"), random_state=1), plain, atol=1e-9
    )


def test_one_column_is_said_to_come_out_verbatim() -> None:
    x = _table(3, p=1)
    with pytest.warns(VerbatimColumnWarning, match="Column\\(s\\) 0: each is one component"):
        released = anonymize_matrix(x, mask="permute", random_state=1)
    np.testing.assert_allclose(np.sort(released[:, 0]), np.sort(x[:, 0]), rtol=1e-13)


def test_the_warning_goes_by_the_mask_itself_and_the_names_of_columns() -> None:
    x = pd.DataFrame({"age": _table(3, p=1)[:, 0]})
    with pytest.warns(VerbatimColumnWarning, match="Column\\(s\\) age: each"):
        anonymize_matrix(x, mask=permute)


@pytest.mark.parametrize(("n", "p", "kept"), [(20, 6, "0.31 of 20"), (300, 7, "2.3 of 300")])
def test_flipping_few_components_is_said_to_leave_rows(n: int, p: int, kept: str) -> None:
    x = _table(6, n=n, p=p)
    for mask in ("flip", flip):
        with pytest.warns(VerbatimColumnWarning, match=f"2\\^-{p}: about {kept} rows"):
            anonymize_matrix(x, scatters=("cov", "cov4"), mask=mask)


def test_flipping_many_components_gets_no_warning() -> None:
    anonymize_matrix(_table(6, n=100, p=7), scatters=("cov", "cov4"), mask="flip")


def test_one_row_alone_is_refused() -> None:
    x = _table(7)
    with pytest.raises(InputError, match="One row alone"):
        masked_copy(x[:1], invariant_coordinates(x))


def test_a_missing_value_is_named_by_its_column() -> None:
    x = pd.DataFrame(_table(8), columns=list("abcd"))
    coordinates = invariant_coordinates(x)
    with pytest.raises(InputError, match="Column 'c': 1 of 80 values are missing"):
        masked_copy(x.assign(c=x["c"].where(x.index != 3)), coordinates)


def test_identity_mask_returns_the_table() -> None:
    x = _table(4)
    released = anonymize_matrix(x, mask=lambda z, *, key: z)
    np.testing.assert_allclose(released, x, atol=1e-12)


def test_decorrelate_needs_rows() -> None:
    with pytest.raises(InputError, match="more rows than components"):
        anonymize_matrix(_table(5, n=5, p=4), scatters=("identity", "cov"), decorrelate=True)


def test_a_table_in_fortran_order_can_be_masked_where_it_is():
    x = np.asfortranarray(np.random.default_rng(3).normal(size=(70_000, 3)))
    coordinates = invariant_coordinates(x, scatters=("cov", "cov4"))
    copied = masked_copy(x, coordinates, random_state=1)
    for threads in (1, 2):
        place = x.copy(order="F")
        masked_copy(place, coordinates, random_state=1, out=place, threads=threads)
        np.testing.assert_array_equal(place, copied)
