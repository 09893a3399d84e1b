"""Losses in units of another sample, and people who are planted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.assessment.asked import Asked
from icsa.choice.budget import Size, draw_plan
from icsa.choice.candidates import Candidate
from icsa.choice.losses import _of_model, loss_of, losses_of
from icsa.choice.planting import plant_people, share_found
from icsa.choice.trials import (
    RaceConfig,
    Subject,
    as_arguments,
    plan_of,
    plan_of_rows,
    try_candidate,
)
from icsa.comparison.column_pairs import numeric_column
from icsa.comparison.matching import match_tables
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.schema import with_design
from icsa.tables import Table
from icsa.utility.estimates import Estimated, compare_estimates
from icsa.utility.lost_curves import curve_differences, curves_of
from tests.choice.tables import patients
from tests.people_tables import visits


def compared(original: pl.DataFrame, released: pl.DataFrame, *models: str) -> dict[str, float]:
    table = Table(original)
    comparison = match_tables(table, Table(released), guess_schema(table))
    return losses_of(comparison, Asked(models=models), curves_of(comparison.columns))


def test_a_copy_loses_nothing() -> None:
    frame = patients(200)
    assert compared(frame, frame.reverse(), "pressure ~ weight + height") == {
        "models": pytest.approx(0.0, abs=1e-6),
        "pairs": pytest.approx(0.0, abs=1e-6),
        "columns": 0.0,
        "beyond": 0.0,
    }


def test_another_sample_loses_about_one() -> None:
    """The unit is what it says: means over samples of the same people are 1, but for `beyond`."""
    found = [
        compared(patients(300, seed), patients(300, seed + 100), "pressure ~ weight + height")
        for seed in range(12)
    ]
    for name in ("models", "pairs", "columns"):
        assert np.mean([parts[name] for parts in found]) == pytest.approx(1.0, abs=0.25)
    assert np.mean([parts["beyond"] for parts in found]) < 1.5


def test_shuffled_columns_lose_their_pairs_and_models_and_no_column() -> None:
    frame = patients(300)
    apart = pl.DataFrame([cells.shuffle(seed=k) for k, cells in enumerate(frame)])
    parts = compared(frame, apart, "pressure ~ weight + height")
    assert parts["pairs"] > 2.0
    assert parts["models"] > 3.0
    assert parts["columns"] == 0.0


def test_a_lost_curve_counts_and_a_kept_one_does_not() -> None:
    x, noise = np.random.default_rng(0).normal(size=(2, 400))
    y = x**2 + 0.5 * noise
    kept = [numeric_column("x", x, x[::-1]), numeric_column("y", y, y[::-1])]
    lost = [numeric_column("x", x, x), numeric_column("y", y, y[::-1])]
    curves = curves_of(kept)
    assert [tuple(curve) for curve in curves] == [("y", "x", "x")]
    assert curve_differences(kept, curves) == [pytest.approx(0.0, abs=1e-9)]
    assert curve_differences(lost, curves)[0] > 5.0
    assert curve_differences(lost[:1], curves) == [10.0]


def test_what_was_asked_for_counts_as_much_as_everything_else() -> None:
    assert loss_of({"models": 3.0, "predictions": 1.0, "pairs": 0.5}) == pytest.approx(1.25)


def test_planted_people_are_far_out_alone_and_a_copy_reveals_them() -> None:
    table = Table(patients(150))
    subject = Subject(table, guess_schema(table))
    plan = plan_of(Candidate(name="", method="sa", recipe="mixed"), subject)
    planted = plant_people(table, plan, (1, 0))
    assert planted is not None
    before, after = (t.frame.to_numpy() for t in (table, planted.table))
    scale = np.median(np.abs(before - np.median(before, axis=0)), axis=0) * 1.4826
    far = np.linalg.norm((after[planted.rows] - np.median(before, axis=0)) / scale, axis=1)
    np.testing.assert_allclose(far, 20.0, rtol=0.01)
    others = np.setdiff1d(np.arange(150), planted.rows)
    np.testing.assert_array_equal(after[others], before[others])
    copies = share_found(planted, subject.schema, lambda _: planted.table, 2)
    unaware = share_found(planted, subject.schema, lambda _: table, 2)
    assert (copies, unaware) == ([1.0, 1.0], [0.0, 0.0])


def test_planted_people_are_whole_people() -> None:
    # Nothing follows from the columns that are left: all numbers of people can be moved.
    table = Table(visits(60).drop("part", "more", "total", "high"))
    schema = with_design(guess_schema(table), unit="id", time="day", bound="followed")
    subject = Subject(table, schema)
    planted = plant_people(table, plan_of_rows(subject), (1, 0), design=schema.design)
    assert planted is not None
    before, after = table.frame, planted.table.frame
    moved = after[planted.rows]
    assert moved["id"].n_unique() == 3
    assert before.filter(pl.col("id").is_in(moved["id"].to_list())).height == moved.height
    assert moved.group_by("id").agg(pl.col("crp", "age").n_unique())[["crp", "age"]].max().row(
        0
    ) == (1, 1)
    same = ["id", "day", "followed", "sex"]
    assert after[same].equals(before[same])
    copies = share_found(planted, schema, lambda _: planted.table, 1)
    unaware = share_found(planted, schema, lambda _: table, 1)
    assert (copies, unaware) == ([1.0], [0.0])


def test_no_coefficient_counts_for_more_than_ten_samples() -> None:
    """One of three is 1,000 standard errors off: (10 + 0 + 0) / 3, and not 10."""
    exact = Estimated.of(1.0, 0.1)
    wild = compare_estimates(
        "a model",
        {"a": exact, "b": exact, "c": exact},
        {"a": exact, "b": exact, "c": Estimated.of(101.0, 0.1)},
        n_original=100,
        n_released=100,
    )
    assert _of_model(wild) == pytest.approx(10.0 / 3.0)
    gone = compare_estimates("a model", {"a": exact}, {}, n_original=100, n_released=100)
    assert _of_model(gone) == 10.0


def test_one_empty_cell_does_not_lose_a_whole_logistic_model() -> None:
    generator = np.random.default_rng(4)
    age = generator.normal(50.0, 10.0, 300).round(1)
    ill = generator.random(300) < 1.0 / (1.0 + np.exp(-(age - 50.0) / 10.0))
    rare = np.zeros(300, dtype=bool)
    rare[np.flatnonzero(ill)[:6]] = rare[np.flatnonzero(~ill)[:2]] = True
    frame = pl.DataFrame({"ill": ill.astype(int), "age": age, "rare": rare.astype(int)})
    moved = frame["rare"].to_numpy().copy()
    moved[np.flatnonzero(rare & ~ill)] = 0  # whoever has it is ill: no estimate exists
    released = frame.with_columns(rare=pl.Series(moved))
    parts = compared(frame, released, "ill ~ age + rare")
    assert 0.0 < parts["models"] < 2.0


def test_nobody_is_planted_where_columns_leave_no_room() -> None:
    table = Table(patients(60).select("height", sex=pl.Series(["f", "m"] * 30)))
    subject = Subject(table, guess_schema(table))
    plan = plan_of(Candidate(name="", method="sa", recipe="mixed"), subject)
    assert plant_people(table, plan, (1, 0)) is None


def test_forests_lose_less_where_a_curve_is_asked_for() -> None:
    generator = np.random.default_rng(2)
    x, z, noise = generator.normal(size=(3, 400))
    frame = pl.DataFrame({"x": x, "z": z, "y": x**2 + 0.5 * z + 0.5 * noise}).select(
        pl.all().round(3)
    )
    table = Table(frame)
    config = RaceConfig(
        table_sha256="", seed=1, models=("y ~ x + I(x**2) + z",), classify=(), curves=()
    )
    losses = {}
    for method in ("icsa", "forest"):
        candidate = as_arguments(Candidate(name=method, method=method, recipe="mixed"))
        subject = Subject(table, guess_schema(table))
        found = try_candidate(config, candidate=candidate, draws={"keys": (0, 2)}, subject=subject)
        rows = pl.DataFrame(found).filter(pl.col("measure") == "models")
        losses[method] = rows["value"].mean()
    # The square itself is lost many times over with coordinates, and counts as ten samples then.
    assert losses["forest"] < 0.8 * losses["icsa"]


def test_draws_grow_with_the_budget_and_rows_with_it() -> None:
    size = Size(400, 12, 9, 6)
    small, usual, large = (draw_plan(size, minutes) for minutes in (0.001, 5.0, 60.0))
    assert small.rounds[0].keys == 3
    assert small.rounds[0].keys < usual.rounds[0].keys < large.rounds[0].keys
    assert usual.seconds <= 300.0
    assert small.rows == usual.rows == 400
    long = Size(20_000, 12, 9, 6)
    assert draw_plan(long, 5.0).rows < draw_plan(long, 200.0).rows <= 20_000
    with pytest.raises(InputError, match="more than 0 minutes"):
        draw_plan(size, 0.0)
