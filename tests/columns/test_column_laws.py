"""Every registered kind keeps the laws of the protocol, on cells that hypothesis makes up."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.columns import Column, Kind, fit_column
from icsa.columns.bounds import released_bounds
from icsa.columns.continuous import Continuous
from icsa.columns.zero_inflated import ZeroInflated
from icsa.recipes import SCALES
from icsa.schema import KINDS, ColumnSpec
from tests.columns.examples import VALUES, columns_of

LOSSLESS = [kind for kind in KINDS if kind not in ("identifier", "text")]
SCORES = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def test_every_kind_is_registered_and_has_examples() -> None:
    assert set(KINDS) == set(VALUES)


def filled(column: Column, numbers: np.ndarray) -> np.ndarray:
    """Return the scores of numbers, 0 where they are not defined."""
    return np.nan_to_num(column.encode(numbers[~np.isnan(numbers)]), nan=0.0)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_shapes_and_missing_cells(kind: Kind, data: st.DataObject) -> None:
    cells, spec = data.draw(columns_of(kind))
    column = fit_column(cells, spec)
    numbers = column.numbers(cells)
    assert numbers.dtype == np.float64
    assert numbers.shape == (cells.len(),)
    np.testing.assert_array_equal(np.isnan(numbers), cells.is_null().to_numpy())
    scores, view = column.encode(numbers), column.view(numbers)
    assert scores.shape == view.shape == (cells.len(), column.width)
    assert np.isnan(scores[np.isnan(numbers)]).all()
    np.testing.assert_array_equal(np.isnan(scores), np.isnan(view))
    anchor = column.anchor(numbers)
    if anchor is not None:
        np.testing.assert_array_equal(np.isnan(anchor), np.isnan(numbers))
    assert column.name == spec.name
    assert column.kind in (kind, "constant", "binary")


@pytest.mark.parametrize("kind", LOSSLESS)
@given(data=st.data())
def test_decode_undoes_encode_and_cells_undo_numbers(kind: Kind, data: st.DataObject) -> None:
    cells, spec = data.draw(columns_of(kind))
    column = fit_column(cells, spec, scale=data.draw(st.sampled_from(SCALES[:2])))
    numbers = column.numbers(cells)
    there = numbers[~np.isnan(numbers)]
    decoded = column.decode(filled(column, numbers))
    size = np.abs(there).max(initial=1.0)
    np.testing.assert_allclose(decoded, there, rtol=1e-9, atol=1e-12 * size)
    back = column.cells(numbers)
    assert back.name == "x"
    assert back.dtype == cells.dtype
    if cells.dtype.is_float():
        np.testing.assert_allclose(back.to_numpy(), cells.to_numpy(), rtol=1e-6)
    else:
        assert back.to_list() == cells.to_list()


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), generator=SCORES, spread=st.sampled_from([0.1, 1.0, 1e3, 1e100]))
def test_any_scores_decode_to_cells_of_the_same_type(
    kind: Kind, data: st.DataObject, generator: np.random.Generator, spread: float
) -> None:
    cells, spec = data.draw(columns_of(kind))
    column = fit_column(cells, spec, scale=data.draw(st.sampled_from(SCALES)))
    n_present = cells.len() - cells.null_count()
    scores = spread * generator.normal(size=(n_present, column.width))
    numbers = column.decode(scores)
    assert np.isfinite(numbers).all()
    released = column.cells(numbers)
    assert released.dtype == cells.dtype
    assert released.len() == n_present
    if kind != "text":
        assert released.null_count() == 0
    if kind in ("binary", "category", "ordinal", "constant"):
        assert sorted(released, key=str) == sorted(cells.drop_nulls(), key=str)
    if isinstance(column, ZeroInflated):
        part, original = column.part, column.numbers(cells)
        assert np.sum(numbers == column.spike) == np.sum(original == column.spike)
        check_bounds_and_lattice(part, numbers[numbers != column.spike])
        if np.nanmin(original) == column.spike:
            assert numbers.min() >= column.spike
    if isinstance(column, Continuous):
        check_bounds_and_lattice(column, numbers)
        if column.storage.zero_is_natural and np.nanmin(column.numbers(cells)) >= 0:
            assert numbers.min() >= 0


def check_bounds_and_lattice(column: Continuous, numbers: np.ndarray) -> None:
    assert np.all((numbers >= column.lower) & (numbers <= column.upper))
    lattice = column.lattice
    if lattice is not None:
        near = numbers[np.abs(numbers) < 1e12 * lattice.width]
        steps = (near - float(lattice.offset)) / lattice.width
        np.testing.assert_allclose(steps, np.rint(steps), atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_repr_shows_sizes_only(kind: Kind, data: st.DataObject) -> None:
    cells, spec = data.draw(columns_of(kind))
    column = fit_column(cells, spec)
    n_present = cells.len() - cells.null_count()
    assert repr(column) == f"<{column.kind} column 'x': {n_present} cells, width {column.width}>"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_rows", [0, 1, 5])
def test_columns_without_any_cell_have_no_scores(kind: Kind, n_rows: int) -> None:
    for dtype in {str(dtype): dtype for _, dtype in VALUES[kind]}.values():
        cells = pl.Series("x", [None] * n_rows, dtype=dtype)
        column = fit_column(cells, ColumnSpec(name="x", kind=kind))
        numbers = column.numbers(cells)
        assert column.width == 0
        assert column.encode(numbers).shape == (n_rows, 0)
        assert column.decode(np.empty((0, 0))).shape == (0,)
        assert column.cells(numbers).to_list() == [None] * n_rows
        assert column.cells(numbers).dtype == (pl.String if kind == "identifier" else dtype) or (
            kind == "identifier" and dtype.is_numeric()
        )


@pytest.mark.parametrize("kind", LOSSLESS)
@given(data=st.data(), n_missing=st.integers(0, 2))
def test_one_value_makes_a_constant_column(kind: Kind, data: st.DataObject, n_missing: int) -> None:
    values, dtype = data.draw(st.sampled_from(VALUES[kind]))
    if getattr(dtype, "time_zone", None) is not None:
        dtype = pl.Datetime("us")
    value = data.draw(values)
    cells = pl.Series("x", [value] * 3 + [None] * n_missing, dtype=dtype)
    column = fit_column(cells, ColumnSpec(name="x", kind=kind))
    assert column.kind == "constant"
    assert column.width == 0
    assert column.cells(column.numbers(cells)).to_list() == cells.to_list()
    assert column.cells(column.decode(np.empty((3, 0)))).to_list() == cells.to_list()[:3]


@given(data=st.data(), generator=SCORES)
def test_released_numbers_are_not_held_at_the_extremes(
    data: st.DataObject, generator: np.random.Generator
) -> None:
    cells = pl.Series("x", generator.normal(size=50))
    spec = ColumnSpec(name="x", kind="continuous")
    column = fit_column(cells, spec, scale=data.draw(st.sampled_from(SCALES)))
    numbers = column.decode(np.array([[-30.0], [30.0]]))
    assert numbers[0] < cells.min()
    assert numbers[1] > cells.max()
    ordered = np.sort(cells.to_numpy())
    bounds = released_bounds(ordered, cells.dtype, spec, None, Continuous.storage)
    assert bounds == (-np.finfo(float).max, np.finfo(float).max)
