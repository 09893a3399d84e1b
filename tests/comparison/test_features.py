"""One column of both tables, and all of them as two tables: by hand, and where the cells lie."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.comparison.column_pairs import ColumnPair, category_column, numeric_column, sampled
from icsa.comparison.features import Features, FeatureTable, as_features
from icsa.errors import InputError


def three_columns() -> list[ColumnPair]:
    return [
        category_column("ward", ["b", "a", None], ["c", "a"]),
        numeric_column("age", [31.0, np.nan, 40.0], [33.0, 38.0]),
        numeric_column("dose", [1.0, 2.0, 3.0], [2.5, np.nan]),
    ]


def lies_in(cells: np.ndarray, table: FeatureTable) -> bool:
    return any(np.shares_memory(cells, every) for every in (table.numbers, table.codes))


def test_columns_become_two_tables_and_are_views_of_them() -> None:
    given = three_columns()
    both = Features.consuming(given)
    assert given == []
    assert both.names == ("age", "dose", "ward")
    assert (both.n_numbers, both.n_columns) == (2, 3)
    np.testing.assert_array_equal(both.original.numbers, [[31, np.nan, 40], [1, 2, 3]])
    np.testing.assert_array_equal(both.released.codes, [[2, 0]])
    for column in both.columns:
        assert lies_in(column.original, both.original)
        assert lies_in(column.released, both.released)
    assert both.columns[2].levels == ("a", "b", "c")


def test_another_release_has_its_own_cells_and_the_same_original() -> None:
    both = Features.consuming(three_columns())
    other = FeatureTable(np.array([[50.0], [7.0]]), np.array([[1]], dtype=np.int32))
    again = both.with_released(other)
    assert [column.released.tolist() for column in again.columns] == [[50.0], [7.0], [1]]
    assert all(lies_in(column.original, both.original) for column in again.columns)
    with pytest.raises(ValueError, match="argument"):
        both.with_released(FeatureTable(other.numbers[:1], other.codes))


def test_missing_cells_and_rows_of_a_column() -> None:
    ward, age, _ = three_columns()
    assert [cells.tolist() for cells in ward.missing] == [[False, False, True], [False, False]]
    assert [cells.tolist() for cells in age.missing] == [[False, True, False], [False, False]]
    some = ward.rows(np.array([2, 0]), None)
    assert (some.original.tolist(), some.released.tolist()) == ([-1, 1], [2, 0])
    assert (some.name, some.levels) == (ward.name, ward.levels)
    assert repr(some) == "<column of 3 levels, 2 and 2 rows>"


def test_labels_that_cannot_be_sorted_have_an_order_all_the_same() -> None:
    first = np.array(["2", 10, float("nan")], dtype=object)
    column = category_column("mixed", first, np.array([10, True], dtype=object))
    assert column.levels == (10, "2", True)
    assert (column.original.tolist(), column.released.tolist()) == ([1, 0, -1], [0, 2])


def test_samples_are_the_same_rows_of_every_column() -> None:
    x = np.arange(100.0)
    first, second = sampled([numeric_column("a", x, x), numeric_column("b", 2 * x, 2 * x)], 10)
    assert first.original.size == 10
    np.testing.assert_array_equal(first.original, first.released)
    np.testing.assert_array_equal(second.original, 2 * first.original)
    same = [numeric_column("a", x, x)]
    assert sampled(same, 100)[0] is same[0]
    with pytest.raises(InputError, match="one length"):
        sampled([*same, numeric_column("b", x[:5], x)], 10)


def test_codes_of_matrices_have_levels_for_both_tables() -> None:
    both = as_features(
        np.empty((3, 0)),
        np.empty((2, 0)),
        original_codes=[[0], [1], [-1]],
        released_codes=[[3], [0]],
    )
    assert both.columns[0].levels == (0, 1, 2, 3)
    assert both.columns[0].released.tolist() == [3, 0]
    assert both.grids.shape == (0,)
