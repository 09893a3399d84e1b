"""A row a person: what trajectories come to, beside a slow truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from icsa.comparison.features import FeatureTable
from icsa.comparison.trajectories import Summarised, Visits, summarised
from icsa.comparison.unit_matching import UnitComparison, match_units
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.schema import with_design
from icsa.tables import from_frame
from tests.people_tables import clusters, households, visits


def compared(frame: pl.DataFrame, released: pl.DataFrame, **design: object) -> UnitComparison:
    table = from_frame(frame)
    return match_units(table, from_frame(released), with_design(guess_schema(table), **design))


def test_summaries_are_what_a_loop_gives() -> None:
    frame = visits()
    found = compared(frame, frame.sample(fraction=1.0, shuffle=True, seed=1), unit="id", time="day")
    people = {column.name: column for column in found.columns}
    for unit, rows in enumerate(frame.partition_by("id", maintain_order=True)):
        crp = rows.sort("day")["crp"].to_numpy()
        day = rows.sort("day")["day"].to_numpy()
        several = crp.size > 1
        slope = np.polyfit(day, crp, 1)[0] if several else np.nan
        for how, value in (
            ("mean", crp.mean()),
            ("last", crp[-1] if several else np.nan),
            ("slope", slope),
        ):
            assert_allclose(people[f"crp ({how})"].original[unit], value, rtol=1e-7, atol=1e-12)
        high = (rows["high"] == "yes").mean()
        assert people["high (share)"].original[unit] == pytest.approx(high)
        assert people["number of rows"].original[unit] == rows.height
    assert "age" in people
    assert "id" not in people


def test_the_order_of_rows_does_not_matter() -> None:
    frame = visits()
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=1)
    found = compared(frame, mixed, unit="id", time="day")
    ids = [table["id"].unique(maintain_order=True) for table in (frame, mixed)]
    order = [ids[1].to_list().index(name) for name in ids[0]]
    for column in found.columns:
        assert_allclose(column.original, column.released[order], rtol=1e-9, equal_nan=True)
    again = found.encode(mixed)
    np.testing.assert_array_equal(again.numbers, found.features.released.numbers)


def test_missing_cells_and_frequent_levels() -> None:
    numbers = np.array([[np.nan, 3.0, np.nan, np.nan, 1.0, 2.0]])
    codes = np.array([[1, 1, 0, -1, 2, 0]], dtype=np.int32)
    table = FeatureTable(numbers, codes)
    wanted = (
        Summarised("x", "mean", 0),
        Summarised("x", "spread", 0),
        Summarised("c", "level", 0, True, 1),
        Summarised("c", "most frequent", 0, True),
        Summarised("c", "last", 0, True),
    )
    found = summarised(table, np.arange(6), np.array([0, 3, 4, 6]), wanted, None)
    root = np.sqrt(0.5)
    assert_allclose(found.numbers, [[3.0, np.nan, 1.5], [np.nan, np.nan, root], [2.0, 0.0, 0.0]])
    assert found.codes.tolist() == [[1, -1, 0], [0, -1, 0]]


def test_units_can_be_taken_from_visits() -> None:
    rows = FeatureTable(np.arange(6.0)[None], np.empty((0, 6), dtype=np.int32))
    some = Visits(rows, np.arange(6.0), np.array([0, 1, 4, 6])).units(np.array([2, 0]))
    assert some.table.numbers.tolist() == [[4.0, 5.0, 0.0]]
    assert some.starts.tolist() == [0, 2, 3]


def test_households_have_heads_and_schools_spreads() -> None:
    frame = households()
    names = [c.name for c in compared(frame, frame, unit="household", role="role").columns]
    assert {"schooling (head)", "schooling (mean)", "schooling (spread)", "rooms"} <= set(names)
    assert {"role (level 1)", "role (level 3)"} <= set(names)
    pupils = clusters()
    of_schools = compared(pupils, pupils, unit="school")
    assert of_schools.rows_are_people
    assert {"ses (mean)", "ses (spread)"} <= {column.name for column in of_schools.columns}


def test_old_names_of_units_are_counted_by_unit() -> None:
    frame = visits()
    assert compared(frame, frame, unit="id", time="day").as_they_are["id"] == frame["id"].n_unique()
    fresh = frame.with_columns(pl.col("id") + 100_000)
    assert compared(frame, fresh, unit="id", time="day").as_they_are == {}


def test_a_release_without_the_unit_is_refused() -> None:
    frame = visits()
    with pytest.raises(InputError, match="The release has no column 'id', which tells"):
        compared(frame, frame.drop("id"), unit="id", time="day")
