"""The entrance for matrices, factors and distances, and the space that rows span."""

from __future__ import annotations

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa import errors, linalg
from icsa.errors import InputError, NotNumericError
from icsa.matrices import as_matrix, column_names, columns_first, row_blocks
from icsa.subspaces import spanned_subspace


def test_a_ready_matrix_is_not_copied() -> None:
    x = np.ones((3, 2))
    assert as_matrix(x) is x


FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])


@FRAMES
def test_frames_are_read_and_their_names_used(frame: type) -> None:
    table = frame({"age": [1, 2, 3], "bmi": [1.0, 2.0, 4.0]})
    np.testing.assert_array_equal(as_matrix(table), [[1, 1], [2, 2], [3, 4]])
    with pytest.raises(
        InputError, match=r"Column 'bmi': 2 of 3 values are missing .* first in row 2"
    ):
        as_matrix(frame({"age": [1.0, 2.0, 3.0], "bmi": [1.0, np.nan, np.nan]}))
    with pytest.raises(NotNumericError, match="Column 'name': 1 of 2 values are not numbers"):
        as_matrix(frame({"age": ["1", "2"], "name": ["3", "O'Hara"]}))


@FRAMES
def test_names_are_those_of_columns_and_never_cells(frame: type) -> None:
    assert column_names(frame({"age": [71.5, 2.0], "bmi": [1.0, 2.0]})) == ["age", "bmi"]


def test_names_of_other_kinds() -> None:
    assert column_names(np.ones((1, 2))) == ["0", "1"]
    assert column_names(pd.DataFrame([[1.0, 2.0]], columns=[2019, ("a", "b")])) == [
        "2019",
        "('a', 'b')",
    ]
    assert column_names(pd.DataFrame([[1.0, 2.0]], columns=[71.5, 72.5])) == ["0", "1"]


DATES = {
    "moments": [dt.datetime(1971, 2, 3), dt.datetime(1972, 2, 3)],
    "dates": [dt.date(1971, 2, 3), dt.date(1972, 2, 3)],
    "durations": [dt.timedelta(71), dt.timedelta(72)],
}


@FRAMES
@pytest.mark.parametrize("others", [{}, {"bmi": [1.0, 2.0]}])
@pytest.mark.parametrize("case", DATES)
def test_dates_and_times_are_refused(frame: type, others: dict, case: str) -> None:
    with pytest.raises(NotNumericError, match="Column 'born'") as caught:
        as_matrix(frame({**others, "born": DATES[case]}))
    assert "197" not in str(caught.value)


@pytest.mark.parametrize("cell", [np.datetime64("1971-02-03"), np.timedelta64(71, "s")])
@pytest.mark.parametrize("dtype", [None, object])
def test_dates_of_numpy_are_refused(cell: object, dtype: object) -> None:
    with pytest.raises(NotNumericError, match="Column '0' holds dates or times"):
        as_matrix(np.array([[cell], [cell]], dtype=dtype))
    with pytest.raises(NotNumericError, match="Column '1' holds dates or times"):
        as_matrix(np.array([[1.0, cell]], dtype=object))


def test_masked_cells_are_refused() -> None:
    x = np.ma.masked_greater(np.array([[1.0, 2.0], [3.0, 99.0]]), 50.0)
    with pytest.raises(InputError, match="Column '1': 1 of 2 values are masked, first in row 2"):
        as_matrix(x)
    np.testing.assert_array_equal(as_matrix(x[:1]), [[1.0, 2.0]])


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="rows of unequal length"):
        as_matrix([[1.0, 2.0], [3.0]])
    with pytest.raises(InputError, match="collect"):
        as_matrix(pl.DataFrame({"a": [1.0]}).lazy())


@pytest.mark.parametrize("huge", [8.98846567431158e307, -1.1e150, 10**400])
def test_huge_numbers_are_refused(huge: float) -> None:
    with pytest.raises(
        InputError, match=r"Column '1': 2 of 3 values are larger than 1e\+150 .* first in row 2"
    ) as caught:
        as_matrix([[1.0, 2.0], [3.0, huge], [3.0, huge]])
    assert "898" not in str(caught.value)
    assert "Stata" in str(caught.value)
    assert as_matrix([[1e150, -1e150]]).shape == (1, 2)


def test_what_is_missing_is_said_before_what_is_huge() -> None:
    with pytest.raises(InputError, match="Column '1': 1 of 2 values are missing"):
        as_matrix([[1e300, 2.0], [3.0, np.nan]])


def test_missing_values_beyond_the_first_block_are_found() -> None:
    x = np.zeros((40_000, 2))
    x[39_999, 1] = np.nan
    with pytest.raises(InputError, match=r"Column '1': 1 of 40000 .* first in row 40000"):
        as_matrix(x)


@given(st.integers(0, 50), st.integers(1, 7))
def test_row_blocks_cover_every_row_once(n: int, block: int) -> None:
    covered = [i for rows in row_blocks(n, block) for i in range(n)[rows]]
    assert covered == list(range(n))


def test_columns_first_copies_only_where_it_must() -> None:
    x = np.arange(6000.0).reshape(3000, 2)
    np.testing.assert_array_equal(columns_first(x), x.T)
    assert columns_first(x).flags.c_contiguous
    assert np.shares_memory(columns_first(np.asfortranarray(x).T.T), columns_first(x)) is False
    stored_by_columns = np.asfortranarray(x)
    assert np.shares_memory(columns_first(stored_by_columns), stored_by_columns)


@given(seed=st.integers(0, 2**32), p=st.integers(1, 6), spread=st.sampled_from([1.0, 1e-8, 1e8]))
def test_factors_at_any_scale(seed: int, p: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    scale = np.geomspace(1.0, spread, p)
    a = np.cov(rng.normal(size=(p + 5, p)).T).reshape(p, p)
    scaled = a * np.outer(scale, scale)
    factor = linalg.cholesky_factor(scaled)
    np.testing.assert_allclose(
        factor / scale[:, None], np.linalg.cholesky(a), rtol=1e-9, atol=1e-12
    )
    assert linalg.log_determinant(scaled) == pytest.approx(
        np.linalg.slogdet(a)[1] + 2 * np.log(scale).sum(), abs=1e-8
    )
    assert linalg.log_determinant(linalg.unit_determinant(scaled)) == pytest.approx(0.0, abs=1e-8)
    assert linalg.affine_distance(scaled, 2.0 * scaled) == pytest.approx(np.log(2.0))
    x = rng.normal(size=(4, p)) * scale
    truth = np.einsum("ij,jk,ik->i", x / scale, np.linalg.inv(a), x / scale)
    np.testing.assert_allclose(linalg.squared_distances(x, np.zeros(p), scaled), truth, rtol=1e-6)


def test_inverse_root() -> None:
    a = np.array([[2.0, 1.0], [1.0, 2.0]])
    root = linalg.inverse_root(a)
    np.testing.assert_allclose(root @ a @ root, np.eye(2), atol=1e-15)
    np.testing.assert_array_equal(root, root.T)


@pytest.mark.parametrize("matrix", [np.diag([1.0, 0.0]), np.ones((2, 2)), np.diag([1.0, np.nan])])
def test_what_is_not_positive_definite_is_refused(matrix: np.ndarray) -> None:
    with pytest.raises(InputError, match="not positive definite"):
        linalg.cholesky_factor(matrix)


def test_the_whole_space_is_none() -> None:
    x = np.random.default_rng(0).normal(size=(20, 3)) * [1e-8, 1.0, 1e8] + 1e3
    assert spanned_subspace(x, find_dependent=True, orthonormal=False) is None


@pytest.mark.parametrize("orthonormal", [False, True])
def test_a_subspace_holds_all_rows(orthonormal: bool) -> None:
    rng = np.random.default_rng(1)
    free = rng.normal(size=(30, 2))
    x = np.column_stack([free[:, 0], free @ [2.0, -1.0] + 4.0, free[:, 1], np.full(30, 9.0)])
    space = spanned_subspace(x, find_dependent=True, orthonormal=orthonormal)
    coordinates = space.reduce(x, space.origin)
    assert coordinates.shape == (30, 2)
    np.testing.assert_allclose(space.origin + coordinates @ space.spread.T, x, atol=1e-13)
    np.testing.assert_allclose(space.project @ space.spread, np.eye(2), atol=1e-14)
    if orthonormal:
        np.testing.assert_allclose(space.spread.T @ space.spread, np.eye(2), atol=1e-14)


def test_a_relation_that_holds_only_nearly_is_none() -> None:
    free = np.random.default_rng(2).normal(size=(200, 2))
    x = np.column_stack([free, (free.sum(axis=1)).round(6)])
    assert spanned_subspace(x, find_dependent=True, orthonormal=False) is None


@pytest.mark.parametrize(
    "error",
    [
        errors.ExactFitError("mcd", [1], ["age"], rows_on_it=5, n_rows=9, allowed=4),
        errors.UnknownNameError("mask", "permut", ["permute"]),
        errors.InputError("text"),
    ],
)
def test_errors_survive_the_way_back_from_another_process(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
