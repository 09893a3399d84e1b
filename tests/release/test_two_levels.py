"""Irregular visits and clusters: what is kept exactly, what nearly, and that nobody is copied."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.errors import InputError
from icsa.inspection import guess_schema, inspect_table
from icsa.randomness import as_key
from icsa.release import plan, prepare, release
from icsa.tables import from_frame
from tests.people_tables import clusters, falls, visits

VISITS = {"unit": "id", "time": "day", "bound": "followed"}
WAYS: list[dict[str, Any]] = [
    {},
    {"method": "sa"},
    {"recipe": "topcode"},
    {"recipe": "paper", "method": "sa"},
    {"mask": "permute"},
    {"mask": "rotate"},
    {"mask": "flip"},
]


def is_rising(frame: pl.DataFrame, unit: str, time: str) -> bool:
    """Return whether times grow from row to row of every unit."""
    steps = frame.group_by(unit, maintain_order=True).agg(pl.col(time).diff().slice(1).min())
    least = steps[time].drop_nulls()
    zero = dt.timedelta(0) if least.dtype == pl.Duration else 0
    return bool((least > zero).all())


def same_within(frame: pl.DataFrame, unit: str, names: list[str]) -> bool:
    """Return whether columns are the same in all rows of every unit."""
    counts = frame.group_by(unit).agg(pl.col(names).n_unique())
    return bool((counts.select(names).to_numpy() == 1).all())


@pytest.mark.parametrize("bound", [None, "followed"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_times_stay_within_their_own_bounds(bound: str | None, weight: str | None) -> None:
    draw = np.random.default_rng(3)
    n_units, longest = 400, 40
    days = [
        np.sort(draw.choice(longest, draw.integers(1, 30), replace=False)) for _ in range(n_units)
    ]
    sizes = [own.size for own in days]
    day = np.concatenate(days)
    frame = pl.DataFrame(
        {
            "id": np.repeat(np.arange(n_units), sizes),
            "day": day + 5,
            "pain": draw.normal(size=day.size),
            "followed": np.repeat([own[-1] + 5 + draw.integers(0, 9) for own in days], sizes),
            "w": np.exp(0.3 * draw.normal(size=day.size)),
        }
    )
    frame = frame if weight else frame.drop("w")
    guessed = guess_schema(from_frame(frame))
    columns = {**guessed.columns}
    columns["day"] = replace(columns["day"], kind="integer", lower=5, upper=longest + 4)
    said = {"unit": "id", "time": "day", "bound": bound, "weight": weight}
    schema = replace(guessed, columns=columns)
    made = icsa.anonymize(frame, schema=schema, random_state=1, method="icsa", **said)
    assert made.units is not None
    assert made.units.way == "two levels"
    assert (made.table["day"].min(), made.table["day"].max()) == (5, longest + 4)
    assert is_rising(made.table, "id", "day")


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_visits_keep_what_is_exact(way: dict[str, Any]) -> None:
    original = visits()
    made = icsa.anonymize(original, random_state=1, **VISITS, **way)
    released = made.table
    assert made.units is not None
    assert made.units.way == "two levels"
    assert made.units.rows_after == released.height
    assert released.schema == original.schema
    assert released["id"].n_unique() == original["id"].n_unique()
    assert not set(released["id"]) & set(original["id"])
    assert same_within(released, "id", ["followed", "age", "sex"])
    assert is_rising(released, "id", "day")
    assert (released["day"] <= released["followed"]).all()
    assert (released.group_by("id").agg(pl.col("day").min())["day"] == 0).all()
    if way.get("recipe") != "paper":  # which looks for no relations
        assert (released["total"] == released["part"] + released["more"]).all()
    sizes = [
        table.group_by("id").len()["len"].sort(descending=True) for table in (original, released)
    ]
    assert sizes[1][0] <= sizes[0][9]
    assert (sizes[0] == 1).sum() == (sizes[1] == 1).sum()
    assert abs(released.height / original.height - 1.0) < 0.15
    counts = [
        table.unique("id", maintain_order=True)["sex"].value_counts(sort=True).rows()
        for table in (original, released)
    ]
    assert counts[0] == counts[1]


def test_no_row_and_no_person_is_copied() -> None:
    original = visits()
    released = icsa.anonymize(original, random_state=2, **VISITS).table
    of_row = ["day", "crp", "pain", "albumin", "part"]
    assert released.select(of_row).join(original.select(of_row), on=of_row).height <= 3
    days = [
        table.group_by("id").agg("day").filter(pl.col("day").list.len() > 3)
        for table in (original, released)
    ]
    trajectories = [set(map(tuple, table["day"].to_list())) for table in days]
    assert not trajectories[0] & trajectories[1]


def test_levels_slopes_and_memory_stay_near() -> None:
    original = visits(250, seed=3)
    releases = [icsa.anonymize(original, random_state=seed, **VISITS).table for seed in range(3)]
    found = np.mean([_trajectories(table) for table in releases], axis=0)
    np.testing.assert_allclose(found, _trajectories(original), atol=0.12)
    rows = icsa.anonymize(original, unit=False, random_state=1).table
    broken = rows.with_columns(id=pl.Series(original["id"])).sort("id", "day")
    assert abs(_trajectories(broken) - _trajectories(original)).max() > 0.4


def _trajectories(frame: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the share of variance between people, the lag-1 correlation, the mean slope a year."""
    table = frame.with_columns(y=pl.col("crp").log(), year=pl.col("day") / 365.0)
    own = table.with_columns(
        mean=pl.col("y").mean().over("id"), before=pl.col("y").shift(1).over("id", order_by="day")
    )
    between = own.select(pl.col("mean").var() / pl.col("y").var()).item()
    lag = own.drop_nulls("before").select(pl.corr("y", "before")).item()
    z, y = pl.col("year") - pl.col("year").mean().over("id"), pl.col("y") - pl.col("mean")
    slope = own.select((z * y).sum() / (z * z).sum()).item()
    return np.array([between, lag, slope])


def test_how_levels_go_with_people_is_kept() -> None:
    original = visits(250, seed=4)
    released = icsa.anonymize(original, random_state=5, **VISITS).table
    found = []
    for table in (original, released):
        people = table.group_by("id").agg(pl.col("age").first(), pl.col("crp").log().mean())
        found.append(people.select(pl.corr("age", "crp")).item())
    assert found[0] > 0.2
    assert abs(found[0] - found[1]) < 0.15


def test_clusters_have_their_means_computed_again() -> None:
    original = clusters()
    made = icsa.anonymize(original, unit="school", random_state=1)
    released = made.table
    means = released.group_by("school").agg(pl.col("ses").mean(), pl.col("mean_ses").first())
    assert (means["ses"] - means["mean_ses"]).abs().max() < 1e-9  # type: ignore[operator]
    assert "mean_ses is the mean of ses in each unit" in made.relations
    assert same_within(released, "school", ["sector", "funds", "mean_ses"])
    change = next(change for change in made.columns if change.name == "mean_ses")
    assert change.action == "recomputed"


def test_a_seed_gives_the_same_bytes_and_one_plan_many_releases() -> None:
    original = visits()
    first, again = (icsa.anonymize(original, random_state=7, **VISITS).table for _ in range(2))
    assert first.write_csv() == again.write_csv()
    made = plan(prepare(from_frame(original), design=VISITS))
    tables = [release(made, as_key(seed)).table.frame for seed in (7, 8, 7)]
    assert tables[0].equals(tables[2])
    assert tables[0].equals(first)
    assert not tables[0].equals(tables[1])


def test_the_order_of_rows_in_the_file_does_not_matter_to_who_is_who() -> None:
    shuffled = visits().sample(fraction=1.0, shuffle=True, seed=2)
    released = icsa.anonymize(shuffled, random_state=1, **VISITS).table
    assert is_rising(released, "id", "day")
    assert same_within(released, "id", ["followed", "age", "sex"])


def test_dates_are_times_too() -> None:
    original = visits()
    start = pl.lit(dt.date(2019, 3, 1)) + pl.duration(days=(pl.col("id") * 37) % 700)
    original = original.with_columns(
        seen=(start + pl.duration(days="day")).cast(pl.Date),
        closed=(start + pl.duration(days="followed")).cast(pl.Date),
    ).drop("day", "followed")
    said = {"unit": "id", "time": "seen", "bound": "closed"}
    released = icsa.anonymize(original, random_state=1, **said).table
    assert released.schema == original.schema
    assert is_rising(released, "id", "seen")
    assert (released["seen"] <= released["closed"]).all()
    assert released["id"].n_unique() == original["id"].n_unique()
    firsts = [
        t.group_by("id").agg(pl.col("seen").min())["seen"].dt.epoch("d").std()
        for t in (original, released)
    ]
    assert abs(firsts[1] / firsts[0] - 1.0) < 0.2  # type: ignore[operator]


def test_few_times_stay_those_that_there_are() -> None:
    months = np.array([0, 1, 3, 6, 12])
    generator = np.random.default_rng(6)
    rows = [
        (person, int(month), round(float(level + 0.1 * month + generator.normal(0, 0.5)), 1))
        for person, level in enumerate(generator.normal(10, 2, 80))
        for month in months[generator.random(5) < 0.8]
    ]
    original = pl.DataFrame(rows, schema=["patient", "month", "score"], orient="row")
    made = icsa.anonymize(original, unit="patient", time="month", random_state=1)
    assert set(made.table["month"]) <= set(months.tolist())
    assert is_rising(made.table, "patient", "month")
    assert made.table["patient"].n_unique() == original["patient"].n_unique()


def test_rules_hold_in_rows_and_leave_what_belongs_to_people() -> None:
    original = visits().with_columns(start_age=pl.col("age") + pl.col("day") // 365)
    original = original.with_columns(worst=pl.col("crp") + (pl.col("pain") + 1))
    table = from_frame(original)
    schema = inspect_table(table, design=VISITS).schema
    rules = ("crp <= worst", "age <= start_age", "age >= 18", 'if high = "yes" then crp >= 1')
    released = icsa.anonymize(original, schema=replace(schema, rules=rules), random_state=1)
    frame = released.table
    assert (frame["crp"] <= frame["worst"]).all()
    assert (frame["age"] <= frame["start_age"]).all()
    assert same_within(frame, "id", ["followed", "age", "sex"])
    assert set(released.moved_cells) == set(rules)


def test_a_rule_with_a_column_of_the_person_moves_the_row_alone() -> None:
    # Of levels and a number of another type, the number would be moved.
    more = ((pl.col("id") * 7919) % 101) / 50.0
    original = visits().with_columns(limit=pl.col("pain").max().over("id") + more)
    schema = inspect_table(from_frame(original), design=VISITS).schema
    rules = ("pain <= limit",)
    made = icsa.anonymize(original, schema=replace(schema, rules=rules), random_state=1)
    assert made.moved_cells["pain <= limit"] > 0
    assert (made.table["pain"] <= made.table["limit"]).all()
    assert same_within(made.table, "id", ["limit"])


def test_missing_codes_and_identifiers_of_rows() -> None:
    original = visits().with_columns(
        grade=pl.when(pl.col("part") == 3).then(99).otherwise(pl.col("pain")),
        sample_id=pl.int_range(5_000, 5_000 + pl.len()),
        remark=pl.format("came by bus {}", pl.int_range(pl.len())),
    )
    schema = inspect_table(from_frame(original), design=VISITS).schema
    columns = dict(schema.columns)
    columns["grade"] = replace(columns["grade"], kind="ordinal", levels=(), missing_codes=(99,))
    made = icsa.anonymize(original, schema=replace(schema, columns=columns), random_state=1)
    shares = [(table["grade"] == 99).mean() for table in (original, made.table)]
    assert abs(shares[0] - shares[1]) < 0.02  # type: ignore[operator]
    assert made.table["sample_id"].n_unique() == made.table.height
    assert not set(made.table["sample_id"]) & set(original["sample_id"])
    assert "remark" not in made.table.columns


def test_somebody_with_many_rows_is_not_seen() -> None:
    original = visits()
    one = original.filter(pl.col("id") == original["id"][0]).head(1)
    many = pl.concat([one.with_columns(day=pl.lit(d, dtype=pl.Int64)) for d in range(0, 144, 3)])
    crowd = pl.concat([original.filter(pl.col("id") != original["id"][0]), many])
    released = icsa.anonymize(crowd, random_state=1, **VISITS).table
    tenth = crowd.group_by("id").len()["len"].sort(descending=True)[9]
    assert released.group_by("id").len()["len"].max() <= tenth < 48  # type: ignore[operator]


def test_far_people_are_not_copied() -> None:
    original = visits(150)
    who = original["id"][0]
    far = original.with_columns(
        crp=pl.when(pl.col("id") == who).then(pl.col("crp") * 1000).otherwise("crp")
    )
    released = icsa.anonymize(far, random_state=1, **VISITS).table
    own = set(far.filter(pl.col("id") == who)["crp"])
    assert not own & set(released["crp"])
    assert released["crp"].max() < far["crp"].max() / 3  # type: ignore[operator]


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(InputError, match="is to be kept"):
        icsa.anonymize(visits(), keep="age", random_state=1, **VISITS)


def test_forests_say_that_they_do_not_do_two_levels() -> None:
    told = "two levels: use --method icsa.*units are many, with rows in the same few places"
    with pytest.raises(InputError, match=told):
        icsa.anonymize(visits(), method="forest", random_state=1, **VISITS)


def test_fewer_units_than_their_columns_have_a_few_factors() -> None:
    wards = pl.concat_str(pl.lit("W"), (pl.col("id") * 7919 + pl.col("day")) % 12)
    few = visits().filter(pl.col("id") < 1000 + 7 * 32).with_columns(ward=wards)
    made = icsa.anonymize(few, random_state=1, **VISITS)
    assert any(note.startswith("MORE COLUMNS THAN ROWS") for note in made.warnings)
    assert made.table["id"].n_unique() == few["id"].n_unique()


def test_units_are_named_anew_whatever_their_column_looks_like() -> None:
    original = visits().with_columns(id=pl.format("Aunt Mary the {}th", "id"))
    released = icsa.anonymize(original, random_state=1, **VISITS).table
    assert released["id"].n_unique() == original["id"].n_unique()
    assert not set(released["id"]) & set(original["id"])


def test_pandas_in_pandas_out() -> None:
    frame = visits().to_pandas()
    made = icsa.anonymize(frame, random_state=1, **VISITS)
    assert list(made.table.dtypes) == list(frame.dtypes)
    assert made.table["id"].nunique() == frame["id"].nunique()


def test_what_comes_before_an_event_is_kept() -> None:
    original = falls()
    made = plan(prepare(from_frame(original), design=VISITS))
    off = [
        _fallen(release(made, as_key(seed)).table.frame) - _fallen(original) for seed in range(5)
    ]
    assert np.abs(off).mean() < 0.025  # without calibration of last values .05


def _fallen(frame: pl.DataFrame) -> float:
    """Return how much lower the last values of those are who died."""
    last = frame.sort("id", "day").group_by("id").last()
    means = last.group_by("died").agg(pl.col("protein").mean()).sort("died")["protein"]
    return float(means[1] - means[0])
