"""Matching two tables: names, kinds, types, levels, identifiers."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.columns import ColumnSpec, Kind
from icsa.comparison.coding import code_column
from icsa.comparison.column_pairs import ColumnPair
from icsa.comparison.matching import Comparison, match_tables, own_values, require_columns
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.tables import Table
from tests.assessment.tables import normal_table, people


def coded(original: pl.Series, released: pl.Series, kind: Kind, **options: object) -> ColumnPair:
    spec = ColumnSpec(name="x", kind=kind, **options)  # type: ignore[arg-type]
    found = code_column(original, released, spec)
    assert isinstance(found, ColumnPair), found
    return found


def matched(original: pl.DataFrame, released: pl.DataFrame) -> Comparison:
    table = Table(original)
    return match_tables(table, Table(released), guess_schema(table))


@pytest.mark.parametrize(
    ("original", "released"),
    [
        (pl.Series([1, 2, None]), pl.Series([1.0, 2.5])),
        (pl.Series([1.5, 2.0, None]), pl.Series(["1", " 2.5 "])),
        (pl.Series([1, 2, None], dtype=pl.Int16), pl.Series(["1", "2.5"], dtype=pl.Categorical)),
    ],
)
def test_numbers_are_numbers_in_whatever_type(original: pl.Series, released: pl.Series) -> None:
    column = coded(original, released, "continuous")
    assert column.released.tolist() == [1.0, 2.5]
    assert np.isnan(column.original[2])
    assert column.note


def test_text_that_is_no_number_is_left_out_and_said() -> None:
    spec = ColumnSpec(name="x", kind="continuous")
    why = code_column(pl.Series([1.5, 2.5]), pl.Series(["1", "a secret"]), spec)
    assert isinstance(why, str)
    assert "left out" in why
    assert "secret" not in why


def test_dates_match_datetimes_and_text() -> None:
    days = pl.Series([dt.date(1970, 1, 3), dt.date(1970, 1, 11)])
    for released in (
        pl.Series([dt.datetime(1970, 1, 4, 12)]),
        pl.Series(["1970-01-04"]),
        pl.Series([dt.date(1970, 1, 4)]),
    ):
        column = coded(days, released, "date")
        assert column.original.tolist() == [2.0, 10.0]
        assert column.released.tolist() == [3.0]
    assert coded(pl.Series([dt.datetime(1970, 1, 1, 1)]), days, "datetime").original[0] == 3600.0


def test_missing_codes_are_missing_in_both() -> None:
    column = coded(pl.Series([41, 999]), pl.Series(["999", "40"]), "integer", missing_codes=(999,))
    assert np.isnan(column.original).tolist() == [False, True]
    assert np.isnan(column.released).tolist() == [True, False]


def test_levels_that_only_the_release_has_get_new_codes() -> None:
    column = coded(pl.Series(["b", "a", None]), pl.Series(["c", "a"]), "category")
    assert column.original.tolist() == [1, 0, -1]
    assert column.released.tolist() == [2, 0]
    assert column.encode(pl.Series(["d", "b", None])).tolist() == [3, 1, -1]
    assert "1 level(s) only in the release" in column.note


def test_categories_match_across_types() -> None:
    assert coded(pl.Series([1, 0]), pl.Series(["0", "1.0"]), "binary").released.tolist() == [0, 1]
    assert coded(pl.Series([True, False]), pl.Series(["TRUE"]), "binary").released.tolist() == [1]
    assert coded(pl.Series(["1", "x"]), pl.Series([1.0, 2.0]), "category").released.tolist() == [
        0,
        2,
    ]


def test_ordinal_columns_are_numbers_where_the_order_is_known() -> None:
    pain = pl.Series(["none", "much"], dtype=pl.Enum(["none", "some", "much"]))
    column = coded(pain, pl.Series(["some", None]), "ordinal")
    assert column.original.tolist() == [0.0, 2.0]
    assert column.released[0] == 1.0
    assert column.grid == 1.0
    assert coded(pain, pl.Series(["awful"]), "ordinal").levels == ("much", "none", "awful")
    assert coded(pl.Series([1, 2, 2]), pl.Series([3]), "ordinal").released.tolist() == [3.0]


def test_the_grid_is_the_lattice() -> None:
    rounded = pl.Series(np.random.default_rng(0).integers(0, 40, 200) / 4)
    assert coded(rounded, rounded, "continuous").grid == 0.25
    fine = pl.Series(np.random.default_rng(0).normal(size=200))
    assert coded(fine, fine, "continuous").grid == 0.0
    assert coded(fine, fine, "continuous", step=0.5).grid == 0.5


def test_missing_extra_and_reordered_columns_are_said() -> None:
    original = normal_table()
    released = original.head(100).select("e", "a", "c", z=pl.lit(1))
    found = matched(original, released)
    assert found.matched == ("a", "c", "e")
    assert found.only_original == ("b", "d")
    assert found.only_released == ("z",)
    notes = " ".join(found.notes)
    for said in ("150 rows", "100", "another order", "'b', 'd'", "'z'"):
        assert said in notes
    assert found.features.original.numbers.shape == (3, 150)
    assert found.features.released.numbers.shape == (3, 100)


def test_nothing_in_common_is_no_column_and_can_be_refused() -> None:
    found = matched(normal_table(), normal_table().rename(str.upper))
    assert found.columns == found.matched == ()
    with pytest.raises(InputError, match="no column in common"):
        require_columns(found)


def test_too_few_rows_are_an_error() -> None:
    with pytest.raises(InputError, match="release has 0 rows"):
        matched(normal_table(), normal_table().head(0))


def test_own_values_counts_single_values_and_not_running_numbers() -> None:
    codes = pl.Series(["x7", "x3", "x9", "x9"])
    assert own_values(codes, codes) == 2
    assert own_values(codes, pl.Series(["x1", "x2", "x3"])) == 0
    assert own_values(pl.Series([4, 1, 3]), pl.Series([3, 1, 4])) == 3
    assert own_values(pl.Series([4, 1, 3]), pl.Series([3.0, None, 9.0])) == 1


@pytest.mark.parametrize(
    "respelled",
    [
        lambda ids: ids.str.to_lowercase(),
        lambda ids: ids.str.replace("P-0*", ""),
        lambda ids: pl.select(pl.lit("study/") + ids).to_series(),
        lambda ids: ids.str.replace("-", " "),
    ],
)
def test_names_that_are_spelled_otherwise_are_own_values(respelled: Any) -> None:
    draw = np.random.default_rng(6)
    numbers = draw.choice(100_000, 200, replace=False)
    ids = pl.Series([f"P-{number:06}" for number in numbers[:100]])
    others = pl.Series([f"P-{number:06}" for number in numbers[100:]])
    assert own_values(ids, respelled(ids.shuffle(seed=1))) == 100
    assert own_values(ids, respelled(others)) == 0
    some = pl.concat([ids[:7], others[:60]])
    assert own_values(ids, respelled(some)) == 7


def test_texts_in_capitals_are_own_values_and_ids_from_one_on_are_not() -> None:
    texts = pl.Series([f"Came on day {k * k}, was ill." for k in range(40)])
    assert own_values(texts, texts.str.to_uppercase().str.strip_chars(".")) == 40
    ids = pl.Series([f"P-{k:04}" for k in range(1, 101)])
    fresh = pl.Series([f"id{k}" for k in np.random.default_rng(1).permutation(100)])
    assert own_values(ids, fresh) == 0


def test_names_of_groups_are_nobodys_own() -> None:
    rng = np.random.default_rng(5)
    towns = [f"town {k * k}" for k in range(60)]
    shares = 1.0 / np.arange(1, 61)
    here, there = (pl.Series(rng.choice(towns, 300, p=shares / shares.sum())) for _ in range(2))
    single = here.filter(here.is_unique())
    assert there.is_in(single.implode()).sum() > 0
    assert own_values(here, there) == 0
    # Of names that most have for themselves, each one that is released is somebody's own.
    names = pl.Series([f"name {k}" for k in range(95)] + ["twice", "twice"])
    assert own_values(names, pl.Series(["name 7", "other", "twice", "name 9"])) == 2


def test_columns_are_views_of_the_features_numbers_first() -> None:
    found = matched(people(), people(seed=1).select(pl.all().shuffle(seed=1)))
    names = found.features.names
    for place, column in enumerate(found.columns):
        assert column.name == names[place]
        for cells, table in (
            (column.original, found.features.original),
            (column.released, found.features.released),
        ):
            assert any(np.shares_memory(cells, every) for every in (table.numbers, table.codes))
    assert names[-2:] == ("ward", "sex")
    assert "patient_id" not in names
    again = found.encode(found.released.frame)
    np.testing.assert_array_equal(again.numbers, found.features.released.numbers)
    np.testing.assert_array_equal(again.codes, found.features.released.codes)
