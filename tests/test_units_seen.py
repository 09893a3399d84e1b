"""Several rows a person: seen with reasons, said, refused where it contradicts the cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.errors import InputError, UnknownNameError
from icsa.inspection import guess_schema, inspect_table, related_columns
from icsa.inspection.unit_rows import rows_of_units
from icsa.inspection.units_seen import units_seen, weight_seen
from icsa.schema_files import read_schema, schema_text
from icsa.tables import from_frame, read_table

from .people_tables import clusters, households, visits
from .release.tables import clinic

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("frame", "wanted"),
    [
        (visits(), {"unit": "id", "time": "day", "bound": "followed"}),
        (visits().sample(fraction=1.0, shuffle=True, seed=1), {"unit": "id", "time": "day"}),
        (visits().select("id", "day", "crp"), {"unit": "id", "time": "day"}),
        (households(), {"unit": "household", "role": "role"}),
        (clusters(), {"unit": "school"}),
    ],
)
def test_units_are_seen(frame: pl.DataFrame, wanted: dict[str, str]) -> None:
    seen = units_seen(from_frame(frame))
    assert seen is not None
    found = seen.design.columns
    assert {key: found.get(key) for key in wanted} == wanted
    assert set(seen.reasons) == set(found)
    assert seen.n_units == frame[wanted["unit"]].n_unique()


def test_no_units_where_rows_are_people() -> None:
    tables = [*ROOT.glob("examples/*.csv"), *ROOT.glob("tests/golden/tables/*.csv")]
    tables.remove(ROOT / "examples" / "visits.csv")
    assert len(tables) >= 8
    assert [path.name for path in tables if units_seen(read_table(path)) is not None] == []
    assert units_seen(from_frame(clinic(400))) is None


def test_no_units_by_classes_of_a_number_or_a_name_and_its_code() -> None:
    generator = np.random.default_rng(0)
    age = generator.integers(20, 90, 600)
    town = generator.integers(0, 60, 600)
    frame = pl.DataFrame(
        {
            "age": age,
            "age_group": age // 10,
            "retired": age > 65,
            "minor": age < 25,
            "forties": (age >= 40) & (age < 50),
            "town": town,
            "town_name": [f"T{t}" for t in town],
            "weight": generator.normal(70, 9, 600),
        }
    )
    assert units_seen(from_frame(frame)) is None


def test_the_number_of_a_row_is_no_time() -> None:
    frame = visits().select("id", "crp", "sex", "age").with_row_index("x")
    assert frame["id"].is_sorted()
    seen = units_seen(from_frame(frame))
    assert seen is not None
    assert seen.design.unit == "id"
    assert seen.design.time is None
    bare = visits().select("id", "crp")
    alone = units_seen(from_frame(bare))
    assert alone is not None
    assert (alone.design.unit, alone.design.time) == ("id", None)
    assert "stand together" in alone.reasons["unit"]
    assert units_seen(from_frame(bare.sample(fraction=1.0, shuffle=True, seed=2))) is None
    ages = pl.DataFrame({"age": np.sort(np.random.default_rng(3).integers(20, 70, 600))})
    forties = ages.with_row_index("x").with_columns(forties=pl.col("age").is_between(40, 49))
    assert units_seen(from_frame(forties)) is None


def test_what_is_constant_by_chance_or_slips_does_not_count() -> None:
    frame = visits()
    rare = np.zeros(frame.height)
    rare[:3] = 1.0
    flat = frame.select("id", "crp").with_columns(rare=pl.Series(rare), rarer=pl.Series(rare[::-1]))
    assert units_seen(from_frame(flat.rename({"id": "reading"}))) is None


def test_inspection_has_the_design_and_what_belongs_to_whom() -> None:
    table = from_frame(visits())
    found = inspect_table(table)
    belongs = {name: spec.belongs_to for name, spec in found.schema.columns.items()}
    assert belongs["age"] == belongs["followed"] == "unit"
    assert belongs["crp"] == belongs["day"] == "row"
    assert found.as_dict()["units"]["unit"] == "id"
    assert found.as_dict()["units"]["reasons"]["bound"]


def test_an_order_that_the_bound_keeps_needs_no_rule() -> None:
    table = read_table(ROOT / "examples" / "visits.csv")
    related = related_columns(table, unit="patient_id")
    order = "day is never above followed_days"

    def notes(**said: Any) -> tuple[str, ...]:
        found = inspect_table(table, related=related, design=said).columns
        return next(column.notes for column in found if column.name == "followed_days")

    assert f"{order}; kept by the bound" in notes()  # as it was seen
    assert f"{order}; kept by the bound" in notes(
        unit="patient_id", time="day", bound="followed_days"
    )
    assert f"{order}; not kept without a rule" in notes(unit=False)
    assert f"{order}; not kept without a rule" in notes(unit="patient_id", time="day")


def test_bounds_of_people_are_found_from_people() -> None:
    # One person with many visits and the longest follow-up is no edge that ten people share.
    frame = visits()
    longest = int(frame["followed"].max()) + 800  # type: ignore[arg-type]
    most = frame.group_by("id").len().sort("len").item(-1, "id")
    frame = frame.with_columns(
        followed=pl.when(pl.col("id") == most).then(longest).otherwise("followed")
    )
    spec = inspect_table(from_frame(frame)).schema.columns["followed"]
    assert spec.upper is None


def test_a_schema_file_keeps_what_was_found(tmp_path: Path) -> None:
    table = from_frame(visits())
    path = tmp_path / "schema.toml"
    path.write_text(schema_text(inspect_table(table)), encoding="utf-8")
    read = read_schema(path, table)
    assert read.design.columns == {"unit": "id", "time": "day", "bound": "followed"}
    assert read.columns["age"].belongs_to == "unit"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("unit = 3", "unit is no text"),
        ('unit = "idd"', "No column 'idd'"),
        ('strata = "sex"', "strata is no list"),
        ('time = "day"', "time goes with unit"),
        ('raking = "no"', "raking must be true or false"),
    ],
)
def test_errors_in_schema_files(tmp_path: Path, line: str, message: str) -> None:
    table = from_frame(visits())
    text = schema_text(inspect_table(table, guess_schema(table)))
    path = tmp_path / "schema.toml"
    path.write_text(text.replace("version = 1", f"version = 1\n{line}"), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_schema(path, table)


def test_units_that_nobody_speaks_of_stop_a_release() -> None:
    with pytest.raises(InputError, match=r"--unit id --time day --bound followed.*unit = false"):
        icsa.anonymize(visits(), random_state=1)
    released = icsa.anonymize(visits(), unit=False, random_state=1)
    assert released.table.height == visits().height


def _broken(change: dict[str, Any], **said: Any) -> str:
    frame = visits().with_columns(**change)
    with pytest.raises(InputError) as caught:
        icsa.anonymize(frame, random_state=1, **{"unit": "id", **said})
    return str(caught.value)


def test_contradictions_are_told_by_numbers_of_units() -> None:
    first = pl.int_range(pl.len()) < 2
    empty = pl.when(first).then(None).otherwise("id").alias("id")
    assert "2 of" in _broken({"id": empty})
    assert "every unit has one row" in _broken({"id": pl.int_range(pl.len())})
    few = _broken({"id": pl.int_range(pl.len()) % 25})
    assert "names 25 units, and 30 are the fewest" in few
    most = visits().group_by("id").len().sort("len").item(-1, "id")
    at_once = pl.when(pl.col("id") == most).then(0).otherwise("day").alias("day")
    twice = _broken({"day": at_once}, time="day")
    assert "two rows have the same one within 1 of" in twice
    late = _broken({"followed": pl.lit(1)}, time="day", bound="followed")
    assert "exceeds its bound 'followed' within" in late
    assert "is the same in all rows" in _broken({}, time="age")
    assert "not positive" in _broken({"w": pl.lit(0.0)}, weight="w")
    with pytest.raises(UnknownNameError):
        icsa.anonymize(visits(), unit="no such column")


def test_a_column_that_a_release_needs_is_not_dropped_in_words_only() -> None:
    needed = "which the release needs: it cannot be dropped"
    assert f"Column 'id' is the unit, {needed}" in _broken({}, drop="id")
    frame = visits().with_columns(w=pl.lit(2.0))
    with pytest.raises(InputError, match=rf"Column 'w' is the weight, {needed}"):
        icsa.anonymize(frame, unit=False, weight="w", drop="w", random_state=1)
    made = icsa.anonymize(visits(), unit="id", time="day", drop="day", random_state=1)
    assert "day" not in made.table.columns


def test_a_column_of_units_that_varies_is_refused() -> None:
    frame = visits()
    table = from_frame(frame)
    schema = inspect_table(table).schema
    last_of_all = frame.group_by("id").len().filter(pl.col("len") > 1)["id"].max()
    first = (pl.col("id") == last_of_all) & pl.col("id").is_first_distinct()
    wrong = frame.with_columns(age=pl.when(first).then(99).otherwise("age"))
    with pytest.raises(InputError, match=r"'age' belongs to the unit, but varies within 1 of"):
        icsa.anonymize(wrong, schema=schema, random_state=1)


def test_weights_are_known_by_their_names() -> None:
    frame = pl.DataFrame({"weight": [61.0, 70.0], "pw": [1.5, 2.0]})
    assert weight_seen(from_frame(frame)) == (
        "pw",
        "its name is that of weights, and all are positive",
    )
    assert weight_seen(from_frame(frame.select("weight"))) is None
    assert weight_seen(from_frame(frame.select(final_weight="pw"))) is not None


def test_rows_by_hand() -> None:
    rows = rows_of_units(pl.Series("id", ["b", "a", "b", "c"]))
    assert rows.order.tolist() == [0, 2, 1, 3]
    assert rows.sizes.tolist() == [2, 1, 1]
    assert rows.varying(pl.Series([1, 5, None, 3])).tolist() == [True, False, False]
    assert rows.varying(pl.Series([None, 5, None, 3])).tolist() == [False, False, False]
    assert rows.is_rising(np.array([1.0, 2.0, 0.0, 5.0])).tolist() == [True, True, True]
    assert rows.is_rising(np.array([2.0, 2.0, 0.0, 5.0])).tolist() == [False, True, True]
