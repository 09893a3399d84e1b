"""Balanced designs and households: side by side, released, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.errors import InputError
from icsa.inspection import inspect_table
from icsa.release.nested_patterns import _within
from icsa.tables import from_frame
from tests.people_tables import balanced, households

HEADS = {"unit": "household", "role": "role"}
WAVES = {"unit": "subject", "time": "age"}
WAYS: list[dict[str, Any]] = [
    {},
    {"method": "sa"},
    {"recipe": "topcode"},
    {"recipe": "paper", "method": "sa"},
    {"mask": "rotate"},
    {"mask": "flip"},
    {"method": "forest"},
]


def of_ids(frame: pl.DataFrame, unit: str, name: str) -> pl.Series:
    """Return in how many values of a column each unit comes."""
    return frame.group_by(unit).agg(pl.col(name).n_unique())[name]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_balanced_design_stays_one(way: dict[str, Any]) -> None:
    original = balanced()
    made = icsa.anonymize(original, random_state=1, **WAVES, **way)
    released = made.table
    assert made.units is not None
    assert (made.units.way, made.units.n_units) == ("wide", 120)
    assert released.schema == original.schema
    assert released.height == original.height
    assert released["subject"].n_unique() == original["subject"].n_unique()
    assert not set(released["subject"]) & set(original["subject"])
    assert (of_ids(released, "subject", "sex") == 1).all()
    ages = released.group_by("subject", maintain_order=True).agg("age")["age"]
    assert all(found.to_list() == [8, 10, 12, 14] for found in ages)
    for age in (8, 14):  # every level as often as before, at each time
        at = [table.filter(pl.col("age") == age)["brace"].sum() for table in (original, released)]
        assert at[0] == at[1]


def test_what_goes_over_time_is_kept() -> None:
    original = balanced(240)
    released = icsa.anonymize(original, random_state=3, **WAVES).table
    for table_stat in (_lag, _growth):
        assert abs(table_stat(original) - table_stat(released)) < 0.15


def _lag(frame: pl.DataFrame) -> float:
    wide = frame.pivot("age", index="subject", values="mm").select("8", "14").to_numpy()
    return float(np.corrcoef(wide.T)[0, 1])


def _growth(frame: pl.DataFrame) -> float:
    wide = frame.pivot("age", index="subject", values="mm").select("8", "14").to_numpy()
    return float((wide[:, 1] - wide[:, 0]).mean() / 6.0)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_households_have_one_head_and_as_many_partners(way: dict[str, Any]) -> None:
    original = households()
    made = icsa.anonymize(original, random_state=2, **HEADS, **way)
    released = made.table
    assert released["household"].n_unique() == original["household"].n_unique()
    assert not set(released["household"]) & set(original["household"])
    heads = released.filter(pl.col("role") == "head")
    assert heads["household"].n_unique() == heads.height == original["household"].n_unique()
    counts = [table.filter(pl.col("role") == "partner").height for table in (original, released)]
    assert abs(counts[0] - counts[1]) <= 3  # partners of the largest households may be left out
    most = original.group_by("household").len()["len"].sort(descending=True)[9]
    assert released.group_by("household").len()["len"].max() <= most
    for name in ("rooms", "town"):
        assert (of_ids(released, "household", name) == 1).all()
    assert released["age"].null_count() == 0
    # Of people in places that ten households have, every missing cell is one in the release.
    assert abs(released["schooling"].null_count() - original["schooling"].null_count()) <= 2


def test_members_of_a_household_stay_alike() -> None:
    original = households(400)
    released = icsa.anonymize(original, random_state=4, **HEADS).table
    found = []
    for table in (original, released):
        pairs = table.filter(pl.col("role") == "head").join(
            table.filter(pl.col("role") == "partner"), on="household"
        )
        found.append([pairs.select(pl.corr(n, f"{n}_right")).item() for n in ("age", "schooling")])
    np.testing.assert_allclose(found[0], found[1], atol=0.12)


def test_rules_and_computed_columns_hold_in_every_row() -> None:
    generator = np.random.default_rng(5)
    original = balanced().with_columns(
        upper=pl.col("mm") + pl.Series(generator.integers(1, 5, 480) / 2.0),
    )
    original = original.with_columns(total=pl.col("mm") + pl.col("upper"))
    table = from_frame(original)
    schema = inspect_table(table, design=WAVES).schema
    schema = replace(schema, rules=("mm <= upper", "mm >= 12"))
    made = icsa.anonymize(original, schema=schema, random_state=1)
    released = made.table
    assert (released["mm"] <= released["upper"]).all()
    assert (released["total"] == released["mm"] + released["upper"]).all()
    assert set(made.moved_cells) == {"mm <= upper", "mm >= 12"}
    with pytest.raises(InputError, match="A rule is about 'age'"):
        icsa.anonymize(original, schema=replace(schema, rules=("age <= mm",)), random_state=1)


def test_a_seed_gives_the_same_and_a_key_another() -> None:
    first, again, other = (
        icsa.anonymize(households(), random_state=seed, **HEADS).table for seed in (7, 7, 8)
    )
    assert first.equals(again)
    assert not first.equals(other)


def test_identifiers_of_rows_are_fresh_and_unique() -> None:
    original = balanced().with_columns(visit_id=pl.int_range(10_000, 10_000 + pl.len()))
    made = icsa.anonymize(original, random_state=1, **WAVES)
    assert made.table["visit_id"].n_unique() == original.height
    assert not set(made.table["visit_id"]) & set(original["visit_id"])
    change = next(change for change in made.columns if change.name == "visit_id")
    assert change.action == "replaced"


def test_a_column_that_counts_places_is_no_constant() -> None:
    original = balanced()
    number = pl.int_range(pl.len()).over("subject").cast(pl.Int64) + 1
    made = icsa.anonymize(original.with_columns(number=number), random_state=1, **WAVES)
    told = next(change for change in made.columns if change.name == "number")
    assert told.kind != "constant"
    assert told.how == "one value in each place, as it was"


def test_no_role_in_every_household_is_refused() -> None:
    some = households().filter((pl.col("role") != "head") | (pl.col("household") > 2))
    with pytest.raises(InputError, match="none of its values stands in every unit"):
        icsa.anonymize(some, random_state=1, **HEADS)


def test_patterns_within_others_by_hand() -> None:
    rows = np.array([[0, 0, 1, 1], [1, 0, 1, 1], [0, 1, 0, 0]], dtype=bool)
    assert _within([np.packbits(row).tobytes() for row in rows]) == (None, 0, None)


def test_a_rule_to_declare_names_columns_of_the_table() -> None:
    rng = np.random.default_rng(4)
    original = balanced()
    cost = rng.integers(20, 90, original.height)
    more = np.maximum(rng.exponential(6.0, original.height).round(), 0.0)
    frame = original.with_columns(cost=pl.Series(cost), price=pl.Series(cost + more.astype(int)))
    told = " ".join(icsa.anonymize(frame, random_state=1, **WAVES).warnings)
    assert "Declare the rule cost <= price: " in told
