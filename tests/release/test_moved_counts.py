"""exact_counts = false: counts, gaps and quantiles are moved by a few people, drawn by the key."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from icsa.columns.continuous import Continuous
from icsa.columns.counts import counts_among
from icsa.inspection import guess_schema
from icsa.randomness import as_key
from icsa.release import anonymize, plan, prepare, release
from icsa.schema import Schema
from icsa.tables import Table, from_frame
from tests.release.tables import clinic

SEEDS = range(12)


def schema_of(table: Table, **choices: object) -> Schema:
    return replace(guess_schema(table), recipe=choices)


@pytest.fixture(scope="module")
def moved_releases() -> list[pl.DataFrame]:
    table = from_frame(clinic(300))
    planned = plan(prepare(table, schema=schema_of(table, exact_counts=False)))
    return [release(planned, as_key(seed)).table.frame for seed in SEEDS]


def counts_of(frame: pl.DataFrame, name: str) -> dict[object, int]:
    return dict(frame[name].value_counts().rows())


@pytest.mark.parametrize("name", ["smokes", "ward", "stage"])
def test_counts_of_levels_are_moved_by_a_few(moved_releases: list[pl.DataFrame], name: str) -> None:
    before = counts_of(clinic(300), name)
    apart = []
    for frame in moved_releases:
        after = counts_of(frame, name)
        assert set(after) <= set(before)
        assert sum(after.values()) == 300
        apart += [abs(after.get(level, 0) - count) for level, count in before.items()]
    # Nobody can tell without the law how far; none is farther than five moves.
    assert 0 < max(apart) <= 5 * max(2, round(0.3 * np.sqrt(300)))
    assert np.mean([distance > 0 for distance in apart]) > 0.5


def test_zeros_and_gaps_are_moved_and_gaps_stay_together(
    moved_releases: list[pl.DataFrame],
) -> None:
    original = clinic(300)
    zeros = {int((frame["cigarettes"] == 0).sum()) for frame in moved_releases}
    gaps = {frame["crp"].null_count() for frame in moved_releases}
    assert len(zeros) > 3
    assert len(gaps) > 2
    assert max(abs(n - int((original["cigarettes"] == 0).sum())) for n in zeros) <= 4
    assert max(abs(n - original["crp"].null_count()) for n in gaps) <= 2
    for frame in moved_releases:
        assert frame["crp"].is_null().equals(frame["weight"].is_null(), check_names=False)


def test_relations_hold_as_before(moved_releases: list[pl.DataFrame]) -> None:
    for frame in moved_releases:
        assert (frame["part_a"] + frame["part_b"]).equals(frame["total"], check_names=False)
        days = (frame["discharged"] - frame["admitted"]).dt.total_days()
        assert (days == frame["stay"]).all()


def test_the_key_decides_and_true_is_the_default() -> None:
    table = from_frame(clinic(120))
    default = anonymize(table, random_state=1)
    exact = anonymize(table, schema=schema_of(table, exact_counts=True), random_state=1)
    assert exact.table.frame.equals(default.table.frame)
    schema = schema_of(table, exact_counts=False)
    one, again, other = (anonymize(table, schema=schema, random_state=key) for key in (1, 1, 2))
    assert one.table.frame.equals(again.table.frame)
    wards = [counts_of(made.table.frame, "ward") for made in (exact, one, other)]
    assert wards[0] == counts_of(table.frame, "ward")
    assert wards[1] != wards[2]
    assert one.recipe.describe() == "mixed with exact_counts false"
    assert {change.name: change.how for change in one.columns}["ward"] == (
        "masked, counts moved by a few"
    )


def test_quantiles_are_moved_by_a_few() -> None:
    table = from_frame(pl.DataFrame({"a": np.random.default_rng(0).normal(size=400)}))
    planned = plan(prepare(table, schema=schema_of(table, exact_counts=False)), method="sa")
    column = planned.columns["a"]
    assert isinstance(column, Continuous)
    moves = []
    for seed in range(200):
        moved = column.with_moved_counts(as_key(seed).stream("a"))
        assert np.all(np.diff(moved.quantiles.levels) > 0)
        np.testing.assert_array_equal(moved.quantiles.scores, column.quantiles.scores)
        moves.append(400 * (moved.quantiles.levels - column.quantiles.levels))
    np.testing.assert_allclose(moves, np.rint(moves), atol=1e-9)
    middle = np.array(moves)[:, column.quantiles.levels.size // 2]
    # A count of people below the median has a standard error of 10.
    assert 1.0 < middle.std() < 5.0
    assert abs(middle.mean()) < 5 * middle.std() / np.sqrt(200)
    # So many people are below the original's quantiles in the release.
    masked = np.random.default_rng(1).normal(size=(400, 1))
    moved = column.with_moved_counts(as_key(3).stream("a"))
    moved.regain_quantiles(masked)
    below = np.searchsorted(np.sort(masked[:, 0]), moved.quantiles.scores)
    np.testing.assert_allclose(below, 400 * moved.quantiles.levels, atol=1.01)


def test_missing_cells_of_a_sum_are_moved_too() -> None:
    table = clinic(300).with_row_index("row")
    table = from_frame(
        table.with_columns(
            total=pl.when(pl.col("row") % 6 == 0).then(None).otherwise(pl.col("total"))
        ).drop("row")
    )
    planned = plan(prepare(table, schema=schema_of(table, exact_counts=False)))
    assert [r.missing for r in planned.derivation.computed if r.target == "total"] == [50]
    gaps = [release(planned, as_key(seed)).table.frame["total"].null_count() for seed in SEEDS]
    assert len(set(gaps)) > 2
    assert max(abs(n - 50) for n in gaps) <= 2


def test_reasons_for_missing_cells_are_moved_by_a_few() -> None:
    generator = np.random.default_rng(0)
    income = generator.integers(20, 90, 300)
    income[:60] = np.repeat([-9, -8], [36, 24])
    table = from_frame(
        pl.DataFrame(
            {
                "income": generator.permutation(income),
                "age": generator.integers(20, 90, 300),
                "kg": generator.normal(70, 9, 300),
            }
        )
    )
    found = []
    for exact in (True, False):
        schema = schema_of(table, exact_counts=exact)
        spec = replace(schema.columns["income"], missing_codes=(-9, -8))
        schema = replace(schema, columns={**schema.columns, "income": spec})
        planned = plan(prepare(table, schema=schema))
        frames = [release(planned, as_key(seed)).table.frame for seed in SEEDS]
        found.append([[int((f["income"] == code).sum()) for code in (-9, -8)] for f in frames])
    exact, moved = np.array(found)
    np.testing.assert_array_equal(exact, np.tile([36, 24], (len(SEEDS), 1)))
    # Not only because more or fewer cells are missing.
    shared = [counts_among(np.array([36, 24]), sum(pair)).tolist() for pair in moved.tolist()]
    assert np.mean(np.any(moved != shared, axis=1)) > 0.3
    assert np.abs(moved - [36, 24]).max() <= 5


def test_a_level_that_one_person_has_may_go_but_none_comes() -> None:
    generator = np.random.default_rng(3)
    ward = np.repeat(["north", "south", "rare"], [150, 149, 1])
    table = from_frame(
        pl.DataFrame(
            {
                "ward": generator.permutation(ward),
                "age": generator.integers(20, 90, 300),
                "kg": generator.normal(70, 9, 300),
            }
        )
    )
    planned = plan(prepare(table, schema=schema_of(table, exact_counts=False)))
    releases = [release(planned, as_key(seed)) for seed in range(24)]
    rare = [counts_of(made.table.frame, "ward").get("rare", 0) for made in releases]
    assert set(rare) == {0, 1, 2}
    told = "ward: 1 level(s) held by fewer than 3 people may be in the release as they are"
    assert all(any(told in w for w in made.warnings) for made in releases)


@pytest.mark.parametrize("halves", [0.3, 0.5])
def test_what_parts_the_people_alike_is_moved_alike(halves: float) -> None:
    # Smokers and their cigarettes; the dead and the day of death. Half of 300: both ways are tied.
    generator = np.random.default_rng(4)
    one = generator.permutation(np.arange(300) < 300 * halves)
    table = from_frame(
        pl.DataFrame(
            {
                "smokes": np.where(one, "yes", "no"),
                "cigarettes": np.where(one, generator.integers(1, 40, 300), 0),
                "alive": np.where(one, 0, 1),
                "lived": pl.Series(np.where(one, generator.normal(50, 9, 300), np.nan)).fill_nan(
                    None
                ),
                "age": generator.integers(20, 90, 300),
                "kg": generator.normal(70, 9, 300),
            }
        )
    )
    kinds = {"cigarettes": "zero-inflated", "smokes": "binary", "alive": "binary"}
    schema = schema_of(table, exact_counts=False)
    columns = {
        name: replace(spec, kind=kinds.get(name, spec.kind))
        for name, spec in schema.columns.items()
    }
    planned = plan(prepare(table, schema=replace(schema, columns=columns)))
    counts = set()
    for seed in SEEDS:
        frame = release(planned, as_key(seed)).table.frame
        yes = int((frame["smokes"] == "yes").sum())
        counts.add(yes)
        assert int((frame["cigarettes"] != 0).sum()) == yes
        assert int((frame["alive"] == 0).sum()) == yes
        assert 300 - frame["lived"].null_count() == yes
    assert len(counts) > 2


@pytest.mark.parametrize("exact", [True, False])
def test_tails_of_two_releases_have_no_cell_in_common(exact: bool) -> None:
    # What a tail is made of to the last digit is a function of all people in it, so that who knows
    # all but one could solve for the last: of unrounded columns no two keys may give the same.
    x = np.random.default_rng(7).normal(size=(240, 4))
    table = from_frame(pl.DataFrame(x @ np.random.default_rng(8).normal(size=(4, 4))))
    planned = plan(prepare(table, schema=schema_of(table, exact_counts=exact)))
    one, two = (
        np.sort(release(planned, as_key(seed)).table.frame.to_numpy(), axis=0) for seed in (1, 2)
    )
    for column in range(4):
        assert not np.isin(one[:, column], two[:, column]).any()
