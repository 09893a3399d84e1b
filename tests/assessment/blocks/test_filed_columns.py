"""Columns in files give what a matrix in memory gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.assessment.blocks.filed_columns import FiledMatrix, Gaps, InFile, InRobustUnits
from icsa.comparison.features import as_features
from icsa.privacy.lenses import dither_seed, fit_lenses

N_ROWS = 5_000


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, list[InFile]]:
    """Return three columns of numbers, and their files."""
    cells = np.random.default_rng(1).normal(size=(3, N_ROWS))
    cells[1] = np.round(cells[1], 1)
    cells[2, ::50] = np.nan
    folder = tmp_path_factory.mktemp("columns")
    files = [
        InFile(_written(folder / str(j), column), column.dtype) for j, column in enumerate(cells)
    ]
    return cells, files


def _written(path: Path, column: np.ndarray) -> Path:
    column.tofile(path)
    return path


ROWS = st.one_of(
    st.builds(
        slice,
        st.integers(0, N_ROWS - 1),
        st.integers(1, N_ROWS),
        st.sampled_from([1, 7]),
    ),
    st.lists(st.integers(0, N_ROWS - 1), max_size=20).map(lambda rows: np.array(rows, dtype=int)),
    st.integers(0, N_ROWS - 30).map(lambda start: np.arange(start, start + 30)),
)
COLUMNS = st.sampled_from(
    [slice(None), 1, [0, 2], [2, 0, 1], np.array([True, False, True]), slice(0, 0), []]
)


@given(columns=COLUMNS, rows=ROWS)
def test_cells_are_those_of_the_matrix(
    numbers: tuple[np.ndarray, list[InFile]], columns: object, rows: object
) -> None:
    cells, files = numbers
    filed = FiledMatrix(tuple(files), N_ROWS)
    places = np.arange(3)[columns]  # type: ignore[call-overload]
    expected = cells[places][..., rows]  # type: ignore[index]
    found = filed[columns, rows]
    assert found.shape == expected.shape
    assert np.array_equal(found, expected, equal_nan=True)


def test_whole_columns_are_read_one_by_one(
    numbers: tuple[np.ndarray, list[InFile]],
) -> None:
    cells, files = numbers
    filed = FiledMatrix(tuple(files), N_ROWS)
    assert filed.shape == cells.shape
    assert np.array_equal(np.array(list(filed)), cells, equal_nan=True)
    assert np.array_equal(filed[1], cells[1])
    some = filed[[0, 2]]
    assert isinstance(some, FiledMatrix)
    assert np.array_equal(some[:, 5:9], cells[[0, 2], 5:9], equal_nan=True)
    assert np.array_equal(Gaps(files[2]).read(slice(0, 100)), np.isnan(cells[2, :100]))


@given(rows=ROWS)
def test_cells_in_robust_units_are_those_of_the_lenses(
    numbers: tuple[np.ndarray, list[InFile]], rows: object
) -> None:
    cells, files = numbers
    lenses = fit_lenses(as_features(cells.T, cells.T, grids=[0.0, 0.1, 0.0]))
    filed = FiledMatrix(
        tuple(
            InRobustUnits(
                file,
                float(lenses.features.grids[j]),
                tuple(dither_seed(0, j)),
                float(lenses.centres[j]),
                float(lenses.scales[j]),
            )
            for j, file in enumerate(files)
        ),
        N_ROWS,
    )
    assert np.array_equal(filed[:, rows], lenses.original[:, rows], equal_nan=True)  # type: ignore[index]


def test_far_rows_have_their_own_draws(tmp_path: Path) -> None:
    n = 3_000_000
    file = InFile(_written(tmp_path / "zeros", np.zeros(n)), np.dtype(np.float64))
    column = InRobustUnits(file, 1.0, (1, 2), 0.0, 1.0)
    draws = np.random.default_rng([1, 2]).random(n) - 0.5
    for rows in (np.array([2_999_999, 0, 7]), np.arange(0, n, 700)):
        assert np.array_equal(column.read(rows), draws[rows])
